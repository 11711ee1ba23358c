// The stage before the solve: what is near, as constraints and as springs, and their part of the system.
#include "step/sweep.h"

weft_status stage_detect(world* w)
{
    contact* c = w->contact;
    if (!c)
    {
        return WEFT_OK;
    }
    TRY(sweep_load(w));
    TRY(sweep_search(c));
    TRY(sweep_near(c));
    const near_pair* near = c->near.item;
    int count = c->near.count;
    if (!mem_grow((void**)&c->touches, &c->touch_capacity, count, sizeof(touch)) ||
        !mem_grow((void**)&c->springs, &c->spring_capacity, count, sizeof(spring)))
    {
        return WEFT_NO_MEMORY;
    }
    c->touch_count = c->spring_count = 0;
    for (int k = 0; k < count; k++)
    {
        if (!touch_take(c, &near[k]))
        {
            spring_take(w, &near[k]);
        }
    }
    springs_rub(w);
    w->stats->contacts = int_max(w->stats->contacts, c->touch_count + c->spring_count);
    return WEFT_OK;
}

weft_status contact_constrain(world* w)
{
    TRY(touch_constrain(w));
    return w->contact->spring_count > 0 ? springs_couple(w) : WEFT_OK;
}

weft_status contact_couple(world* w)
{
    contact* c = w->contact;
    return c->spring_count > 0 ? coupled_values(&c->coupled, &w->A, c->couplings, w->pool) : WEFT_OK;
}
