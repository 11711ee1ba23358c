// Links: colours, what a substep makes of them, sweeps (links.h). Colours are given greedily in the order of elements,
// which keeps neighbours in space near in each colour.
#include "step/links.h"

#include <string.h>

KERNELS_CHOICE(link_kernels)

enum
{
    COLOUR_BITS = 64,
    LINK_GRAIN = 512 // links a chunk; a multiple of the lanes
};

// ---- colours

// The smallest colour that no vertex of the element has; COLOUR_BITS: all are taken.
static int colour_free(const int* vertex, int arity, const uint64_t* taken)
{
    uint64_t used = 0;
    for (int k = 0; k < arity; k++)
    {
        used |= taken[vertex[k]];
    }
    return ~used ? __builtin_ctzll(~used) : COLOUR_BITS;
}

int colour_elements(const int* vertices, int arity, int count, int vertex_count, int* colour)
{
    uint64_t* taken = MEM_NEW(vertex_count, uint64_t);
    int colours = 0, left = count;
    for (int e = 0; e < count; e++)
    {
        colour[e] = -1;
    }
    // A vertex of many elements wants more colours than a word has bits: what is left starts anew above them.
    for (int base = 0; taken && left > 0; base = colours)
    {
        memset(taken, 0, (size_t)vertex_count * sizeof(uint64_t));
        for (int e = 0; e < count; e++)
        {
            const int* vertex = vertices + (size_t)e * (size_t)arity;
            int found = colour[e] < 0 ? colour_free(vertex, arity, taken) : COLOUR_BITS;
            if (found == COLOUR_BITS)
            {
                continue;
            }
            for (int k = 0; k < arity; k++)
            {
                taken[vertex[k]] |= (uint64_t)1 << found;
            }
            colour[e] = base + found;
            colours = int_max(colours, base + found + 1);
            left--;
        }
    }
    mem_free(taken);
    return left == 0 ? colours : -1;
}

void colour_sort(const int* colour, int count, int colour_count, int* order, int* start)
{
    memset(start, 0, ((size_t)colour_count + 1) * sizeof(int));
    for (int e = 0; e < count; e++)
    {
        start[colour[e] + 1]++;
    }
    for (int c = 0; c < colour_count; c++)
    {
        start[c + 1] += start[c];
    }
    for (int e = 0; e < count; e++)
    {
        order[start[colour[e]]++] = e;
    }
    for (int c = colour_count; c > 0; c--)
    {
        start[c] = start[c - 1];
    }
    start[0] = 0;
}

// ---- links

static bool links_allocate(links* l, int count)
{
    double** arrays[] = {&l->length, &l->soft, &l->soft_rate, &l->inv_a, &l->inv_b, &l->most, &l->lambda};
    bool ok = true;
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        *arrays[k] = MEM_NEW(count, double);
        ok = ok && *arrays[k];
    }
    l->a = MEM_NEW(count, int);
    l->b = MEM_NEW(count, int);
    l->def = MEM_NEW(count, link_def);
    return ok && l->a && l->b && l->def;
}

static void links_fill(links* l, const link_def* defs, const int* order)
{
    for (int k = 0; k < l->count; k++)
    {
        l->def[k] = defs[order[k]];
        l->a[k] = l->def[k].a;
        l->b[k] = l->def[k].b;
        l->length[k] = l->def[k].length;
        l->most[k] = l->def[k].is_limit ? 0.0 : INFINITY;
        l->is_damped = l->is_damped || l->def[k].damping > 0.0;
    }
}

weft_status links_create(links* l, const link_def* defs, int count, int vertex_count)
{
    *l = (links){.count = count, .capacity = count};
    int *pair = MEM_NEW(2 * (size_t)count, int), *colour = MEM_NEW(count, int), *order = MEM_NEW(count, int);
    bool ok = links_allocate(l, count) && pair && colour && order;
    for (int k = 0; k < count && ok; k++)
    {
        pair[2 * k] = defs[k].a;
        pair[2 * k + 1] = defs[k].b;
    }
    l->colour_count = ok ? colour_elements(pair, 2, count, vertex_count, colour) : -1;
    l->colour = l->colour_count >= 0 ? MEM_NEW(l->colour_count + 1, int) : NULL;
    l->colour_capacity = l->colour_count + 1;
    if (l->colour)
    {
        colour_sort(colour, count, l->colour_count, order, l->colour);
        links_fill(l, defs, order);
    }
    mem_free(pair);
    mem_free(colour);
    mem_free(order);
    return l->colour ? WEFT_OK : WEFT_NO_MEMORY;
}

void links_finish(links* l)
{
    void* arrays[] = {l->colour, l->a,     l->b,    l->length, l->soft, l->soft_rate,
                      l->inv_a,  l->inv_b, l->most, l->lambda, l->def};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    *l = (links){0};
}

void links_hold(links* l, const double* inv_mass)
{
    for (int k = 0; k < l->count; k++)
    {
        l->inv_a[k] = inv_mass[l->a[k]];
        l->inv_b[k] = inv_mass[l->b[k]];
    }
    l->h = 0.0;
}

// ---- a substep

typedef struct begin_context
{
    links* l;
    const link_rule* rule;
} begin_context;

// The paper's k: a projection takes the share k of what is missing, which is that of s = (w_a + w_b) (1 / k - 1).
static double legacy_soft(const links* l, const link_rule* rule, int k)
{
    double share = l->def[k].is_bend ? rule->k_bend : rule->k;
    return (l->inv_a[k] + l->inv_b[k]) * (1.0 / share - 1.0);
}

static void begin_chunk(void* context, int begin, int end)
{
    const begin_context* c = context;
    links* l = c->l;
    double h = c->rule->h;
    for (int k = begin; k < end; k++)
    {
        const link_def* d = &l->def[k];
        l->soft[k] = c->rule->legacy ? legacy_soft(l, c->rule, k) : d->compliance / (h * h);
        l->soft_rate[k] = d->damping > 0.0 ? d->compliance / (h * d->damping) : INFINITY;
    }
}

void links_begin(links* l, workers* pool, const link_rule* rule)
{
    begin_context c = {l, rule};
    memset(l->lambda, 0, (size_t)l->count * sizeof(double));
    if (l->h != rule->h)
    {
        parallel_for(pool, l->count, LINK_GRAIN, begin_chunk, &c);
        l->h = rule->h;
    }
}

typedef struct sweep_context
{
    const links* l;
    const link_kernels* kernels;
    bool remember;
    vec3 *x, *v;
    int first;
} sweep_context;

static void sweep_chunk(void* context, int begin, int end)
{
    const sweep_context* c = context;
    c->kernels->project(c->l, c->remember, c->x, c->first + begin, c->first + end);
}

static void damp_chunk(void* context, int begin, int end)
{
    const sweep_context* c = context;
    c->kernels->damp(c->l, c->x, c->v, c->first + begin, c->first + end);
}

static void by_colour(const links* l, const link_sweep* s, parallel_fn* fn, sweep_context* c)
{
    for (int k = 0; k < l->colour_count; k++)
    {
        int colour = s->backward ? l->colour_count - 1 - k : k;
        c->first = l->colour[colour];
        parallel_for(s->pool, l->colour[colour + 1] - c->first, LINK_GRAIN, fn, c);
    }
}

void links_sweep(const links* l, const link_sweep* s, vec3* x)
{
    sweep_context c = {l, link_kernels_for(s->cpu), s->remember, x, NULL, 0};
    by_colour(l, s, sweep_chunk, &c);
}

void links_damp(const links* l, const link_sweep* s, const vec3* x, vec3* v)
{
    sweep_context c = {l, link_kernels_for(s->cpu), false, (vec3*)x, v, 0};
    l->is_damped ? by_colour(l, s, damp_chunk, &c) : (void)0;
}
