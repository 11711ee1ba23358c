// Anderson acceleration; see anderson.h.
#include "step/anderson.h"

#include <string.h>

enum
{
    MIX_GRAIN = 1536 // numbers
};

KERNELS_CHOICE(anderson_kernels)

static int chunks_of(const anderson* a)
{
    return (3 * a->count + MIX_GRAIN - 1) / MIX_GRAIN;
}

weft_status anderson_create(anderson* a, int count, const double* mass)
{
    *a = (anderson){.count = count,
                    .newest = -1,
                    .weight = MEM_NEW(3 * (size_t)count, double),
                    .F = MEM_NEW(count, vec3),
                    .G = MEM_NEW(count, vec3)};
    a->partial = mem_alloc((size_t)chunks_of(a), sizeof(*a->partial));
    bool ok = a->weight && a->F && a->G && a->partial;
    for (int k = 0; k < ANDERSON_WINDOW; k++)
    {
        a->dF[k] = MEM_NEW(count, vec3);
        a->dG[k] = MEM_NEW(count, vec3);
        ok = ok && a->dF[k] && a->dG[k];
    }
    for (int k = 0; k < 3 * count && ok; k++)
    {
        a->weight[k] = mass[k / 3];
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void anderson_finish(anderson* a)
{
    mem_free(a->weight);
    mem_free(a->F);
    mem_free(a->G);
    mem_free(a->partial);
    for (int k = 0; k < ANDERSON_WINDOW; k++)
    {
        mem_free(a->dF[k]);
        mem_free(a->dG[k]);
    }
    *a = (anderson){0};
}

void anderson_clear(anderson* a)
{
    a->started = false;
    a->filled = 0;
    a->newest = -1;
}

typedef struct pass
{
    const anderson* a;
    const anderson_kernels* kernels;
    const double *F, *theta;
    double* v;
} pass;

static void remember_chunk(void* context, int begin, int end)
{
    const pass* p = context;
    p->kernels->remember(p->a, p->F, p->v, begin, end, p->a->partial[begin / MIX_GRAIN]);
}

static void combine_chunk(void* context, int begin, int end)
{
    const pass* p = context;
    p->kernels->combine(p->a, p->theta, p->v, begin, end);
}

// Sums of chunks, in their order: the newest row of the Gram matrix, and the right-hand side.
static void take_sums(anderson* a, double* theta)
{
    double gram[ANDERSON_WINDOW] = {0};
    memset(theta, 0, ANDERSON_WINDOW * sizeof(double));
    for (int c = 0; c < chunks_of(a); c++)
    {
        for (int k = 0; k < ANDERSON_WINDOW; k++)
        {
            gram[k] += a->partial[c][0][k];
            theta[k] += a->partial[c][1][k];
        }
    }
    for (int k = 0; k < a->filled; k++)
    {
        a->gram[a->newest][k] = a->gram[k][a->newest] = gram[k];
    }
}

// theta = gram^-1 right by Cholesky; a direction that depends on earlier ones gets none.
static void solve_small(const anderson* a, double* right)
{
    double L[ANDERSON_WINDOW][ANDERSON_WINDOW] = {{0}};
    int n = a->filled;
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j <= i; j++)
        {
            double sum = a->gram[i][j];
            for (int k = 0; k < j; k++)
            {
                sum -= L[i][k] * L[j][k];
            }
            bool lost = i == j && !(sum > 1e-12 * a->gram[i][i]);
            L[i][j] = lost ? 0.0 : i == j ? sqrt(sum) : L[j][j] > 0.0 ? sum / L[j][j] : 0.0;
        }
    }
    for (int i = 0; i < n; i++)
    {
        for (int k = 0; k < i; k++)
        {
            right[i] -= L[i][k] * right[k];
        }
        right[i] = L[i][i] > 0.0 ? right[i] / L[i][i] : 0.0;
    }
    for (int i = n - 1; i >= 0; i--)
    {
        for (int k = i + 1; k < n; k++)
        {
            right[i] -= L[k][i] * right[k];
        }
        right[i] = L[i][i] > 0.0 ? right[i] / L[i][i] : 0.0;
    }
}

void anderson_mix(anderson* a, workers* pool, cpu_kind cpu, const vec3* F, vec3* v)
{
    double theta[ANDERSON_WINDOW];
    if (a->started)
    {
        a->newest = (a->newest + 1) % ANDERSON_WINDOW;
        a->filled = int_min(a->filled + 1, ANDERSON_WINDOW);
    }
    pass p = {a, anderson_kernels_for(cpu), &F->x, theta, &v->x};
    parallel_for(pool, 3 * a->count, MIX_GRAIN, remember_chunk, &p);
    a->started = true;
    take_sums(a, theta);
    solve_small(a, theta);
    parallel_for(pool, 3 * a->count, MIX_GRAIN, combine_chunk, &p);
}
