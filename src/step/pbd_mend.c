// Position based dynamics of cloth that has torn: links and elements that come and go keep the colours of all others,
// and what holds cloth from afar is mended (pbd_reach.c, hierarchy_mend.c). Pins stay whole, so that what was split is
// held by nothing.
#include <string.h>

#include "material/spring.h"
#include "step/pbd.h"

enum
{
    COLOUR_BITS = 64
};

// ---- elements that are no springs

static void move_element(void* owner, int to, int from)
{
    int* order = owner;
    order[to] = order[from];
}

static weft_status sweep_reserve(element_sweep* s)
{
    int count = s->group->count;
    bool ok = mem_grow((void**)&s->order, &s->capacity, count, sizeof(int)) &&
              mem_grow((void**)&s->lambda, &s->lambda_capacity, s->rows * count, sizeof(double));
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static const int* vertices_of(const element_group* group, int e)
{
    return group->vertices + (size_t)group->kind->arity * (size_t)e;
}

static weft_status add_colour(element_sweep* s, coloured* c)
{
    if (!mem_grow((void**)&s->colour, &s->colour_capacity, c->colour_count + 2, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    c->colour = s->colour;
    c->colour_count++;
    c->colour[c->colour_count] = c->colour[c->colour_count - 1];
    return WEFT_OK;
}

static void take_out(element_sweep* s, coloured* c, const group_change* change, const uint8_t* changed)
{
    for (int k = change->before - 1; k >= 0; k--)
    {
        changed[s->order[k]] ? coloured_remove(c, k) : (void)0;
    }
}

static weft_status take_in(element_sweep* s, coloured* c, const group_change* change, uint64_t* taken)
{
    int arity = s->group->kind->arity;
    for (int k = 0; k < change->count && change->element[k] < s->group->count; k++)
    {
        const int* v = vertices_of(s->group, change->element[k]);
        uint64_t used = 0;
        for (int a = 0; a < arity; a++)
        {
            used |= taken[v[a]];
        }
        int colour = colour_lowest(used);
        TRY(colour == c->colour_count ? add_colour(s, c) : WEFT_OK);
        for (int a = 0; a < arity; a++)
        {
            taken[v[a]] |= (uint64_t)1 << colour;
        }
        s->order[coloured_insert(c, colour)] = change->element[k];
    }
    return WEFT_OK;
}

static void see_colours(const element_sweep* s, const coloured* c, uint64_t* taken)
{
    int arity = s->group->kind->arity;
    for (int colour = 0; colour < c->colour_count; colour++)
    {
        for (int k = c->colour[colour]; k < c->colour[colour + 1]; k++)
        {
            const int* v = vertices_of(s->group, s->order[k]);
            for (int a = 0; a < arity; a++)
            {
                taken[v[a]] |= (uint64_t)1 << colour;
            }
        }
    }
}

weft_status element_sweep_mend(element_sweep* s, const group_change* change, int vertex_count)
{
    if (s->colour_count + change->count >= COLOUR_BITS)
    {
        const element_group* group = s->group;
        element_sweep_finish(s);
        return element_sweep_create(s, group, vertex_count);
    }
    TRY(sweep_reserve(s));
    uint8_t* changed = MEM_NEW(int_max(change->before, s->group->count), uint8_t);
    uint64_t* taken = MEM_NEW(vertex_count, uint64_t);
    weft_status status = changed && taken ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < change->count && status == WEFT_OK; k++)
    {
        changed[change->element[k]] = 1;
    }
    if (status == WEFT_OK)
    {
        coloured c = {s->colour, s->colour_count, move_element, s->order};
        take_out(s, &c, change, changed);
        see_colours(s, &c, taken);
        status = take_in(s, &c, change, taken);
        s->colour_count = c.colour_count;
    }
    mem_free(changed);
    mem_free(taken);
    return status;
}

// ---- springs

static weft_status springs_mend(world* w, pbd_data* d, const element_group* group, const group_change* change)
{
    link_def *gone = MEM_NEW(change->count + 1, link_def), *come = MEM_NEW(change->count + 1, link_def);
    link_change links = {.gone = gone, .come = come};
    weft_status status = gone && come ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < change->count && status == WEFT_OK; k++)
    {
        int e = change->element[k];
        bool was = e < change->before, is = e < group->count;
        links.gone_count += was && pbd_spring_link(w, change->was + 2 * k, change->was_rest + SPRING_STRIDE * (size_t)k,
                                                   &gone[links.gone_count]);
        links.come_count += is && pbd_spring_link(w, vertices_of(group, e), group->rest + SPRING_STRIDE * (size_t)e,
                                                  &come[links.come_count]);
    }
    status = status == WEFT_OK ? links_mend(&d->springs, &links, w->model->vertex_count) : status;
    mem_free(gone);
    mem_free(come);
    return status;
}

static weft_status elements_mend(world* w, pbd_data* d, const mend* m)
{
    const element_groups* groups = &w->model->groups;
    for (int g = 0, s = 0; g < groups->count; g++)
    {
        const element_group* group = &groups->list[g];
        TRY(group->kind == &kind_spring ? springs_mend(w, d, group, &m->groups[g]) : WEFT_OK);
        if (group->kind != &kind_spring && !group->kind->is_load)
        {
            TRY(element_sweep_mend(&d->sweeps[s++], &m->groups[g], w->model->vertex_count));
        }
    }
    return WEFT_OK;
}

static weft_status arrays_grow(pbd_data* d, size_t before, size_t n)
{
    bool ok = array_grow((void**)&d->inv_mass, before, n, sizeof(double)) &&
              array_grow((void**)&d->held, before, n, sizeof(double)) &&
              array_grow((void**)&d->from, before, n, sizeof(vec3)) &&
              array_grow((void**)&d->loads, before, n, sizeof(vec3)) &&
              array_grow((void**)&d->mean, before, n, sizeof(vec3));
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status pbd_settle(world* w, void* data)
{
    return pbd_reach_make(w, data);
}

weft_status pbd_mend(world* w, void* data, const mend* m)
{
    pbd_data* d = data;
    const model* o = w->model;
    TRY(arrays_grow(d, (size_t)m->before, (size_t)o->vertex_count));
    uint8_t* split = MEM_NEW(o->vertex_count, uint8_t);
    if (!split)
    {
        return WEFT_NO_MEMORY;
    }
    bool known = d->inv_mass[0] >= 0.0; // what is held
    for (int k = 0; k < m->count; k++)
    {
        split[m->from[k]] = split[m->before + k] = 1;
        d->inv_mass[m->from[k]] = 1.0 / o->mass[m->from[k]];
        d->inv_mass[m->before + k] = 1.0 / o->mass[m->before + k];
    }
    weft_status status = elements_mend(w, d, m);
    // A split makes no side longer: where there was no sliver there is none now.
    status = status == WEFT_OK && d->slivers.count > 0 ? pbd_slivers_make(w, d) : status;
    if (status == WEFT_OK)
    {
        pbd_fastest(w, d, split);
        known ? links_hold(&d->springs, d->inv_mass) : (void)(d->inv_mass[0] = -1.0);
        status = pbd_reach_mend(w, d, m);
    }
    mem_free(split);
    return status;
}
