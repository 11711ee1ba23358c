// What slides over an edge of a round body leaves the facet that carried it. The last acceleration knows nothing of
// that: the vertex seems to float over the next facet, and no row is made of both. In a long substep it then falls
// through its layer, and what stops it there is no touch, with a normal force for friction and a memory, but the
// response. On a cylinder whose facets are as long as a step a third of a sheet is without friction by that.
//
// So such a vertex is looked at again: without the faces that have carried it it is accelerated by as much less as they
// pushed. All faces around its way to where that leads are tested, whatever the margin of the search was.
#include <stdlib.h>

#include "contact/find.h"

// m/s. No facet that it comes to lies lower than it goes along, but for what weight adds: what pinches a vertex, or stopped
// it in a very short substep, pushes as if it were to fall by decimetres, and faces there that are not parallel would
// together throw it farther still.
vec3 touch_fall(const contact* c, int vertex)
{
    const double weight = 9.81, times = 4.0; // m/s^2
    vec3 fall = v3_scale(-c->now.h, contact_yield(c, vertex, c->now.last->memory[vertex].push));
    double size = v3_length(fall), most = v3_length(c->now.v[vertex]) + times * weight * c->now.h;
    return size > most ? v3_scale(most / size, fall) : fall;
}

static int compare_rows(const void* a, const void* b)
{
    const contact_row *p = a, *q = b;
    if (p->kind != q->kind)
    {
        return p->kind < q->kind ? -1 : 1;
    }
    int first = (p->pair.first > q->pair.first) - (p->pair.first < q->pair.first);
    return first != 0 ? first : (p->pair.second > q->pair.second) - (p->pair.second < q->pair.second);
}

// Whether the trees' rules let both meet.
static bool may_meet(const contact* c, int vertex, int face)
{
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
    const cull_rules* rules = &c->collider->rules;
    return corner[0] >= c->cloth_count && (!rules->body || cull_features_wanted(rules, &vertex, 1, corner, 3));
}

static weft_status look_below(contact* c, int vertex)
{
    vec3 end = v3_madd(c->end[vertex], c->now.h, touch_fall(c, vertex));
    vec3 framed = v3_sub(end, c->frame);
    const int own = 0;
    double_box box = feature_box(c->collider->apart ? &framed : &c->start[vertex], &framed, &own, 1);
    TRY(collider_around(c->collider, FEATURE_FACE, &box, c->reach, &c->around));
    if (!mem_grow(&c->rows.item, &c->rows.capacity, c->rows.count + c->around.count, sizeof(contact_row)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->around.count; k++)
    {
        weft_pair pair = {vertex, c->around.feature[k]};
        contact_row* row = (contact_row*)c->rows.item + c->rows.count;
        c->rows.count += may_meet(c, vertex, pair.second) && find_row(c, pair, end, row);
    }
    return WEFT_OK;
}

weft_status find_fallen(contact* c)
{
    int count = c->rows.count;
    for (int i = 0, k = 0; i < c->cloth_count; i++)
    {
        const contact_row* rows = c->rows.item;
        bool touches = false;
        for (; k < count && rows[k].kind == WEFT_VERTEX_FACE && rows[k].pair.first <= i; k++)
        {
            touches = touches || (rows[k].pair.first == i && touch_is(c, &rows[k]));
        }
        vec3 push = c->now.last->memory[i].push;
        TRY(!touches && v3_dot(push, push) > 0.0 ? look_below(c, i) : WEFT_OK);
    }
    if (c->rows.count > count)
    {
        qsort(c->rows.item, (size_t)c->rows.count, sizeof(contact_row), compare_rows);
    }
    return WEFT_OK;
}
