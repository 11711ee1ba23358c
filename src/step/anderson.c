// Anderson acceleration; see anderson.h.
#include "step/anderson.h"

#include <string.h>

enum
{
    MIX_GRAIN = 512
};

weft_status anderson_create(anderson* a, int count)
{
    a->count = count;
    a->F = MEM_NEW(count, vec3);
    a->G = MEM_NEW(count, vec3);
    bool ok = a->F && a->G;
    for (int k = 0; k < ANDERSON_WINDOW; k++)
    {
        a->dF[k] = MEM_NEW(count, vec3);
        a->dG[k] = MEM_NEW(count, vec3);
        ok = ok && a->dF[k] && a->dG[k];
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void anderson_finish(anderson* a)
{
    mem_free(a->F);
    mem_free(a->G);
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

typedef struct product
{
    const double* weight;
    const vec3 *a, *b;
} product;

static double product_chunk(void* context, int begin, int end)
{
    const product* p = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += p->weight[i] * v3_dot(p->a[i], p->b[i]);
    }
    return sum;
}

static double dot(const anderson* a, workers* pool, const double* weight, const vec3* x, const vec3* y)
{
    product p = {weight, x, y};
    return parallel_sum(pool, a->count, MIX_GRAIN, product_chunk, &p);
}

// Differences to the last residual and image take the place of the oldest ones.
static void remember(anderson* a, workers* pool, const double* weight, const vec3* F, const vec3* G)
{
    int at = a->newest = (a->newest + 1) % ANDERSON_WINDOW;
    for (int i = 0; i < a->count; i++)
    {
        a->dF[at][i] = v3_sub(F[i], a->F[i]);
        a->dG[at][i] = v3_sub(G[i], a->G[i]);
    }
    a->filled = int_min(a->filled + 1, ANDERSON_WINDOW);
    for (int k = 0; k < a->filled; k++)
    {
        a->gram[at][k] = a->gram[k][at] = dot(a, pool, weight, a->dF[at], a->dF[k]);
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

void anderson_mix(anderson* a, workers* pool, const double* weight, const vec3* F, vec3* v)
{
    for (int i = 0; i < a->count; i++)
    {
        v[i] = v3_add(v[i], F[i]); // the image
    }
    if (a->started)
    {
        remember(a, pool, weight, F, v);
    }
    a->started = true;
    memcpy(a->F, F, (size_t)a->count * sizeof(vec3));
    memcpy(a->G, v, (size_t)a->count * sizeof(vec3));
    double theta[ANDERSON_WINDOW];
    for (int k = 0; k < a->filled; k++)
    {
        theta[k] = dot(a, pool, weight, a->dF[k], F);
    }
    solve_small(a, theta);
    for (int k = 0; k < a->filled; k++)
    {
        for (int i = 0; i < a->count; i++)
        {
            v[i] = v3_madd(v[i], -theta[k], a->dG[k][i]);
        }
    }
}
