// Quasi-Newton acceleration; see quasi_newton.h.
#include "step/quasi_newton.h"

#include <string.h>

enum
{
    QUASI_GRAIN = 1536 // numbers
};

static const double CURVATURE_MIN = 1e-10;         // of a pair, in shares of A's
static const double SHORTEST = 0.1, LONGEST = 0.5; // shares of a way that was too long

KERNELS_CHOICE(quasi_newton_kernels)

static int chunks_of(const quasi_newton* q)
{
    return (3 * q->count + QUASI_GRAIN - 1) / QUASI_GRAIN;
}

weft_status quasi_newton_create(quasi_newton* q, int count)
{
    *q =
        (quasi_newton){.count = count, .v = MEM_NEW(count, vec3), .F = MEM_NEW(count, vec3), .r = MEM_NEW(count, vec3)};
    q->partial = MEM_NEW(chunks_of(q), quasi_sums);
    bool ok = q->v && q->F && q->r && q->partial;
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        q->s[k] = MEM_NEW(count, vec3);
        q->z[k] = MEM_NEW(count, vec3);
        ok = ok && q->s[k] && q->z[k];
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void quasi_newton_finish(quasi_newton* q)
{
    mem_free(q->v);
    mem_free(q->F);
    mem_free(q->r);
    mem_free(q->partial);
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        mem_free(q->s[k]);
        mem_free(q->z[k]);
    }
    *q = (quasi_newton){0};
}

void quasi_newton_clear(quasi_newton* q)
{
    q->started = q->mixed = q->is_short = false;
    memset(q->usable, 0, sizeof(q->usable));
    q->newest = 0; // sums go by place: where the ring begins is in the bits, and no checkpoint has it
    q->scale = 1.0;
}

typedef struct pass
{
    const quasi_newton* q;
    const quasi_newton_kernels* kernels;
    const double *r, *F;
    const quasi_mix* mix;
    double* v;
} pass;

static void remember_chunk(void* context, int begin, int end)
{
    const pass* p = context;
    p->kernels->remember(p->q, p->r, p->F, p->v, begin, end, &p->q->partial[begin / QUASI_GRAIN]);
}

static void combine_chunk(void* context, int begin, int end)
{
    const pass* p = context;
    p->kernels->combine(p->q, p->mix, p->v, begin, end);
}

static double along_chunk(void* context, int begin, int end)
{
    const pass* p = context;
    return p->kernels->along(p->q, p->r, p->v, begin, end);
}

// Sums of chunks, in their order.
static quasi_sums take_sums(const quasi_newton* q)
{
    quasi_sums sums = {.Fr = 0.0};
    for (int c = 0; c < chunks_of(q); c++)
    {
        const quasi_sums* part = &q->partial[c];
        for (int k = 0; k < QUASI_WINDOW; k++)
        {
            sums.sr[k] += part->sr[k];
            sums.zr[k] += part->zr[k];
            sums.sy[k] += part->sy[k];
            sums.zy[k] += part->zy[k];
        }
        sums.Fr += part->Fr;
    }
    return sums;
}

// The newest pair's products; one along which g does not curve upwards is left out.
static void take_pair(quasi_newton* q, const quasi_sums* sums)
{
    int at = q->newest;
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        q->sy[k][at] = sums->sy[k];
        q->yz[k][at] = q->yz[at][k] = sums->zy[k];
    }
    double curvature = sums->sy[at], full = sums->zy[at];
    q->usable[at] = q->started && curvature > CURVATURE_MIN * full && full > 0.0;
    q->scale = q->usable[at] ? curvature / full : q->scale;
}

// Both loops of L-BFGS in coefficients: from the newest pair to the oldest, and back.
static quasi_mix find_mix(const quasi_newton* q, const quasi_sums* sums)
{
    double alpha[QUASI_WINDOW];
    int place[QUASI_WINDOW], count = 0;
    for (int age = 0; age < QUASI_WINDOW; age++)
    {
        int k = (q->newest + QUASI_WINDOW - age) % QUASI_WINDOW;
        if (q->usable[k])
        {
            place[count++] = k;
        }
    }
    for (int a = 0; a < count; a++)
    {
        int i = place[a];
        double along = sums->sr[i];
        for (int b = 0; b < a; b++)
        {
            along -= alpha[b] * q->sy[i][place[b]];
        }
        alpha[a] = along / q->sy[i][i];
    }
    quasi_mix mix = {.F = count > 0 ? q->scale : 1.0};
    for (int a = count - 1; a >= 0; a--)
    {
        int i = place[a];
        double back = mix.F * sums->zr[i];
        for (int b = 0; b < count; b++)
        {
            back -= mix.F * alpha[b] * q->yz[i][place[b]];
            back += b > a ? mix.s[place[b]] * q->sy[place[b]][i] : 0.0;
        }
        mix.z[i] = -mix.F * alpha[a];
        mix.s[i] = alpha[a] - back / q->sy[i][i];
    }
    return mix;
}

static double slope_of(const quasi_newton* q, const quasi_mix* mix, const quasi_sums* sums)
{
    double sum = mix->F * sums->Fr;
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        sum += q->usable[k] ? mix->s[k] * sums->sr[k] + mix->z[k] * sums->zr[k] : 0.0;
    }
    return -sum;
}

void quasi_newton_mix(quasi_newton* q, workers* pool, cpu_kind cpu, const vec3* r, const vec3* F, vec3* v)
{
    pass p = {.q = q, .kernels = quasi_newton_kernels_for(cpu), .r = &r->x, .F = &F->x, .v = &v->x};
    q->newest = (q->newest + 1) % QUASI_WINDOW;
    parallel_for(pool, 3 * q->count, QUASI_GRAIN, remember_chunk, &p);
    quasi_sums sums = take_sums(q);
    take_pair(q, &sums);
    quasi_mix mix = find_mix(q, &sums);
    q->slope = slope_of(q, &mix, &sums);
    if (!(q->slope < 0.0))
    {
        quasi_newton_clear(q);
        mix = (quasi_mix){.F = 1.0};
    }
    q->mixed = false;
    for (int k = 0; k < QUASI_WINDOW; k++)
    {
        q->mixed = q->mixed || q->usable[k];
    }
    q->started = true;
    q->is_short = false;
    p.mix = &mix;
    parallel_for(pool, 3 * q->count, QUASI_GRAIN, combine_chunk, &p);
}

// The share of the way at which the slopes at its ends meet zero.
static double shorter(double begin, double end)
{
    double share = begin / (begin - end);
    return share > SHORTEST && share < LONGEST ? share : share >= LONGEST ? LONGEST : SHORTEST;
}

void quasi_newton_retreat(quasi_newton* q, workers* pool, cpu_kind cpu, const vec3* r, vec3* v)
{
    if (q->is_short)
    {
        for (int i = 0; i < q->count; i++)
        {
            v[i] = v3_add(q->v[i], q->F[i]);
        }
        quasi_newton_clear(q);
        q->started = true; // that way is a pair as any other
        return;
    }
    pass p = {.q = q, .kernels = quasi_newton_kernels_for(cpu), .r = &r->x, .v = &v->x};
    double share = shorter(q->slope, -parallel_sum(pool, 3 * q->count, QUASI_GRAIN, along_chunk, &p));
    for (int i = 0; i < q->count; i++)
    {
        v[i] = v3_madd(q->v[i], share, v3_sub(v[i], q->v[i]));
    }
    q->is_short = true;
}
