// Links that come and go where cloth has torn (links.h). Items are sorted by colour, so that one that goes leaves a
// hole which the last of each colour after it moves to, and one that comes takes the place of the first of each: as
// many moves as there are colours. What comes gets the smallest colour that nothing at its vertices has.
#include <string.h>

#include "step/links.h"

enum
{
    COLOUR_BITS = 64
};

// ---- colours

int colour_lowest(uint64_t taken)
{
    return ~taken ? __builtin_ctzll(~taken) : COLOUR_BITS;
}

int coloured_of(const coloured* c, int at)
{
    int colour = 0;
    while (c->colour[colour + 1] <= at)
    {
        colour++;
    }
    return colour;
}

void coloured_remove(coloured* c, int at)
{
    int colour = coloured_of(c, at), hole = at;
    for (int k = colour; k < c->colour_count; k++)
    {
        int last = c->colour[k + 1] - 1;
        if (last >= c->colour[k] && last != hole)
        {
            c->move(c->owner, hole, last);
        }
        hole = last >= c->colour[k] ? last : hole;
        c->colour[k] -= k > colour;
    }
    c->colour[c->colour_count]--;
}

int coloured_insert(coloured* c, int colour)
{
    int hole = c->colour[c->colour_count]++;
    for (int k = c->colour_count - 1; k > colour; k--)
    {
        int first = c->colour[k]++;
        if (first != hole)
        {
            c->move(c->owner, hole, first);
            hole = first;
        }
    }
    return hole;
}

// ---- links

static void move_link(void* owner, int to, int from)
{
    links* l = owner;
    double* arrays[] = {l->length, l->soft, l->soft_rate, l->inv_a, l->inv_b, l->most, l->lambda};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        arrays[k][to] = arrays[k][from];
    }
    l->a[to] = l->a[from];
    l->b[to] = l->b[from];
    l->def[to] = l->def[from];
}

static weft_status reserve(links* l, int count)
{
    double** arrays[] = {&l->length, &l->soft, &l->soft_rate, &l->inv_a, &l->inv_b, &l->most, &l->lambda};
    int **ints[] = {&l->a, &l->b}, capacity = l->capacity;
    bool ok = true;
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]) && count > l->capacity; k++)
    {
        capacity = l->capacity;
        ok = mem_grow((void**)arrays[k], &capacity, count, sizeof(double)) && ok;
    }
    for (size_t k = 0; k < 2 && count > l->capacity; k++)
    {
        capacity = l->capacity;
        ok = mem_grow((void**)ints[k], &capacity, count, sizeof(int)) && ok;
    }
    if (count > l->capacity)
    {
        capacity = l->capacity;
        ok = mem_grow((void**)&l->def, &capacity, count, sizeof(link_def)) && ok;
    }
    l->capacity = ok ? capacity : l->capacity;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static bool is_same(const link_def* a, const link_def* b)
{
    return a->a == b->a && a->b == b->b && a->length == b->length && a->compliance == b->compliance &&
           a->is_bend == b->is_bend;
}

static weft_status take_out(links* l, coloured* c, const link_change* change, const uint8_t* marked)
{
    int *place = MEM_NEW(change->gone_count + 1, int), found = 0;
    if (!place)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < l->count && found < change->gone_count; k++)
    {
        bool goes = false;
        for (int g = 0; g < change->gone_count && marked[l->a[k]] && marked[l->b[k]]; g++)
        {
            goes = goes || is_same(&l->def[k], &change->gone[g]);
        }
        place[found] = k;
        found += goes;
    }
    WEFT_VALIDATE(found == change->gone_count);
    while (found > 0)
    {
        coloured_remove(c, place[--found]);
        l->count--;
    }
    mem_free(place);
    return WEFT_OK;
}

static weft_status add_colour(links* l, coloured* c)
{
    if (!mem_grow((void**)&l->colour, &l->colour_capacity, c->colour_count + 2, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    c->colour = l->colour;
    c->colour_count++;
    c->colour[c->colour_count] = c->colour[c->colour_count - 1];
    return WEFT_OK;
}

static weft_status take_in(links* l, coloured* c, const link_def* def, uint64_t* taken)
{
    int colour = colour_lowest(taken[def->a] | taken[def->b]);
    TRY(colour == c->colour_count ? add_colour(l, c) : WEFT_OK);
    taken[def->a] |= (uint64_t)1 << colour;
    taken[def->b] |= (uint64_t)1 << colour;
    int k = coloured_insert(c, colour);
    l->count++;
    l->def[k] = *def;
    l->a[k] = def->a;
    l->b[k] = def->b;
    l->length[k] = def->length;
    l->most[k] = def->is_limit ? 0.0 : INFINITY;
    l->is_damped = l->is_damped || def->damping > 0.0;
    return WEFT_OK;
}

static void mark_ends(const link_def* defs, int count, uint8_t* marked)
{
    for (int k = 0; k < count; k++)
    {
        marked[defs[k].a] = marked[defs[k].b] = 1;
    }
}

static weft_status mend(links* l, const link_change* change, uint8_t* marked, uint64_t* taken)
{
    coloured c = {l->colour, l->colour_count, move_link, l};
    mark_ends(change->gone, change->gone_count, marked);
    TRY(take_out(l, &c, change, marked));
    mark_ends(change->come, change->come_count, marked);
    for (int colour = 0; colour < c.colour_count; colour++)
    {
        for (int k = c.colour[colour]; k < c.colour[colour + 1]; k++)
        {
            if (marked[l->a[k]] || marked[l->b[k]])
            {
                taken[l->a[k]] |= (uint64_t)1 << colour;
                taken[l->b[k]] |= (uint64_t)1 << colour;
            }
        }
    }
    for (int k = 0; k < change->come_count; k++)
    {
        TRY(take_in(l, &c, &change->come[k], taken));
    }
    l->colour_count = c.colour_count;
    l->h = 0.0;
    return WEFT_OK;
}

// Beyond what a word has bits for colours are given anew.
static weft_status make_anew(links* l, const link_change* change, int vertex_count)
{
    link_def* defs = MEM_NEW(l->count + change->come_count, link_def);
    int count = 0;
    for (int k = 0; k < l->count && defs; k++)
    {
        bool goes = false;
        for (int g = 0; g < change->gone_count; g++)
        {
            goes = goes || is_same(&l->def[k], &change->gone[g]);
        }
        defs[count] = l->def[k];
        count += !goes;
    }
    weft_status status = defs ? WEFT_OK : WEFT_NO_MEMORY;
    if (defs)
    {
        change->come_count > 0 ? memcpy(defs + count, change->come, (size_t)change->come_count * sizeof(link_def))
                               : NULL;
        links_finish(l);
        status = links_create(l, defs, count + change->come_count, vertex_count);
    }
    mem_free(defs);
    return status;
}

weft_status links_mend(links* l, const link_change* change, int vertex_count)
{
    if (change->gone_count + change->come_count == 0)
    {
        return WEFT_OK;
    }
    if (l->colour_count + change->come_count >= COLOUR_BITS)
    {
        return make_anew(l, change, vertex_count);
    }
    uint8_t* marked = MEM_NEW(vertex_count, uint8_t);
    uint64_t* taken = MEM_NEW(vertex_count, uint64_t);
    weft_status status = marked && taken ? reserve(l, l->count + change->come_count) : WEFT_NO_MEMORY;
    status = status == WEFT_OK ? mend(l, change, marked, taken) : status;
    mem_free(marked);
    mem_free(taken);
    return status;
}
