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
    w->stats->contacts = int_max(w->stats->contacts, c->touch_count + c->spring_count);
    return c->spring_count > 0 ? springs_couple(w) : WEFT_OK;
}

weft_status contact_couple(world* w)
{
    contact* c = w->contact;
    if (c->spring_count == 0)
    {
        return WEFT_OK;
    }
    TRY(coupled_values(&c->coupled, &w->A, c->couplings, w->pool));
    w->A = (bsr_matrix){&c->coupled.pattern, c->coupled.values};
    return WEFT_OK;
}

void contact_push(const world* w, const vec3* v, vec3* rhs)
{
    const contact* c = w->contact;
    for (int k = 0; k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        rhs[t->vertex] = v3_madd(rhs[t->vertex], w->h, t->rub);
    }
    springs_push(w, v, rhs);
}

double contact_potential(const world* w, const vec3* v)
{
    const contact* c = w->contact;
    double sum = springs_potential(w, v);
    for (int k = 0; k < c->touch_count; k++)
    {
        sum -= w->h * v3_dot(c->touches[k].rub, v[c->touches[k].vertex]);
    }
    return sum;
}

double contact_work(const world* w)
{
    const contact* c = w->contact;
    double work = springs_work(w, w->v_next);
    for (int k = 0; k < c->touch_count; k++)
    {
        work += w->h * v3_dot(c->touches[k].rub, w->v_next[c->touches[k].vertex]);
    }
    return work;
}
