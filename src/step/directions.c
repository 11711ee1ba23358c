// Kept directions of conjugate gradients; see directions.h.
#include "step/directions.h"

#include <string.h>

enum
{
    DIRECTIONS_GRAIN = 1536 // numbers
};

KERNELS_CHOICE(directions_kernels)

static int chunks_of(const directions* d)
{
    return (3 * d->count + DIRECTIONS_GRAIN - 1) / DIRECTIONS_GRAIN;
}

weft_status directions_create(directions* d, int count)
{
    *d = (directions){.count = count};
    d->partial = MEM_NEW((size_t)chunks_of(d) * DIRECTIONS_KEPT, double);
    bool ok = d->partial != NULL;
    for (int k = 0; k < DIRECTIONS_KEPT; k++)
    {
        d->p[k] = MEM_NEW(count, vec3);
        d->q[k] = MEM_NEW(count, vec3);
        ok = ok && d->p[k] && d->q[k];
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void directions_finish(directions* d)
{
    for (int k = 0; k < DIRECTIONS_KEPT; k++)
    {
        mem_free(d->p[k]);
        mem_free(d->q[k]);
    }
    mem_free(d->partial);
    *d = (directions){0};
}

void directions_clear(directions* d)
{
    d->kept = d->next = 0;
}

typedef struct pass
{
    const directions* d;
    const directions_kernels* kernels;
    vec3* const* each;
    const double *share, *from;
    double* to;
    double far;
} pass;

static void dots_chunk(void* context, int begin, int end)
{
    const pass* a = context;
    a->kernels->dots(a->each, a->d->kept, a->from, begin, end,
                     a->d->partial + begin / DIRECTIONS_GRAIN * DIRECTIONS_KEPT);
}

static void without_chunk(void* context, int begin, int end)
{
    const pass* a = context;
    a->kernels->without(a->each, a->d->kept, a->share, a->from, a->to, begin, end);
}

static double dot_chunk(void* context, int begin, int end)
{
    const pass* a = context;
    return a->kernels->dot(a->from, a->to, begin, end);
}

static void add_chunk(void* context, int begin, int end)
{
    const pass* a = context;
    a->kernels->add(a->far, a->from, a->to, begin, end);
}

// v . each of them, summed by chunks in their order.
static void take_dots(pass* a, workers* pool, vec3* const* each, const vec3* v, double* sums)
{
    a->each = each;
    a->from = &v->x;
    parallel_for(pool, 3 * a->d->count, DIRECTIONS_GRAIN, dots_chunk, a);
    memset(sums, 0, DIRECTIONS_KEPT * sizeof(double));
    for (int c = 0; c < chunks_of(a->d); c++)
    {
        for (int k = 0; k < a->d->kept; k++)
        {
            sums[k] += a->d->partial[c * DIRECTIONS_KEPT + k];
        }
    }
}

static void take_without(pass* a, workers* pool, vec3* const* each, const double* share, const vec3* from, vec3* to)
{
    a->each = each;
    a->share = share;
    a->from = &from->x;
    a->to = &to->x;
    parallel_for(pool, 3 * a->d->count, DIRECTIONS_GRAIN, without_chunk, a);
}

static double take_dot(pass* a, workers* pool, const vec3* u, vec3* v)
{
    a->from = &u->x;
    a->to = &v->x;
    return parallel_sum(pool, 3 * a->d->count, DIRECTIONS_GRAIN, dot_chunk, a);
}

static void add_to(pass* a, workers* pool, double far, const vec3* from, vec3* to)
{
    a->far = far;
    a->from = &from->x;
    a->to = &to->x;
    parallel_for(pool, 3 * a->d->count, DIRECTIONS_GRAIN, add_chunk, a);
}

double directions_begin(const directions* d, workers* pool, cpu_kind cpu, vec3* r, vec3* x)
{
    pass a = {.d = d, .kernels = directions_kernels_for(cpu)};
    double far[DIRECTIONS_KEPT], back[DIRECTIONS_KEPT], gained = 0.0;
    memset(x, 0, (size_t)d->count * sizeof(vec3));
    if (d->kept == 0)
    {
        return 0.0;
    }
    take_dots(&a, pool, d->p, r, far);
    for (int k = 0; k < d->kept; k++)
    {
        double along = far[k];
        far[k] /= d->curvature[k];
        back[k] = -far[k];
        gained += far[k] * along;
    }
    take_without(&a, pool, d->p, back, x, x);
    take_without(&a, pool, d->q, far, r, r);
    return gained;
}

double directions_advance(directions* d, workers* pool, cpu_kind cpu, const vec3* z, const vec3* s, vec3* r, vec3* x)
{
    pass a = {.d = d, .kernels = directions_kernels_for(cpu)};
    double share[DIRECTIONS_KEPT];
    int at = d->next;
    take_dots(&a, pool, d->q, z, share);
    for (int k = 0; k < d->kept; k++)
    {
        share[k] /= d->curvature[k];
    }
    take_without(&a, pool, d->p, share, z, d->p[at]);
    take_without(&a, pool, d->q, share, s, d->q[at]);
    double curvature = take_dot(&a, pool, d->p[at], d->q[at]), along = take_dot(&a, pool, d->p[at], r);
    if (!(curvature > 0.0))
    {
        directions_clear(d); // its place may have had another one
        return 0.0;
    }
    d->curvature[at] = curvature;
    d->next = (at + 1) % DIRECTIONS_KEPT;
    d->kept = int_min(d->kept + 1, DIRECTIONS_KEPT);
    add_to(&a, pool, along / curvature, d->p[at], x);
    add_to(&a, pool, -along / curvature, d->q[at], r);
    return along * along / curvature;
}
