// Conjugate gradients of global steps; see global_filtered.h.
#include "step/global_filtered.h"

#include <string.h>

weft_status global_filtered_create(global_filtered* c, const global_step* g)
{
    int vertex_count = g->symbolic.vertex_count;
    TRY(global_touches_create(&c->touches, g));
    c->r = MEM_NEW(vertex_count, vec3);
    c->p = MEM_NEW(vertex_count, vec3);
    c->s = MEM_NEW(vertex_count, vec3);
    c->z = MEM_NEW(vertex_count, vec3);
    c->record_start = MEM_NEW(vertex_count / ROW_GRAIN + 2, int);
    return c->r && c->p && c->s && c->z && c->record_start ? WEFT_OK : WEFT_NO_MEMORY;
}

void global_filtered_finish(global_filtered* c)
{
    mem_free(c->r);
    mem_free(c->p);
    mem_free(c->s);
    mem_free(c->z);
    mem_free(c->record_start);
    global_touches_finish(&c->touches);
    *c = (global_filtered){0};
}

// What the passes of one solve share.
typedef struct pass
{
    const global_filtered* c;
    const global_step* g;
    const world* w;
    const vec3* b;
    vec3* x;
    double alpha, beta;
} pass;

// Records are sorted by vertex: each chunk of rows has a range of them.
static void find_records(const pass* a)
{
    int chunk = 0, chunks = a->w->model->vertex_count / ROW_GRAIN + 1;
    for (int k = 0; k < a->w->filter_count; k++)
    {
        while (chunk <= a->w->filter[k].vertex / ROW_GRAIN)
        {
            a->c->record_start[chunk++] = k;
        }
    }
    while (chunk <= chunks)
    {
        a->c->record_start[chunk++] = a->w->filter_count;
    }
}

static void filter_rows(const pass* a, vec3* v, int begin)
{
    const int* start = a->c->record_start + begin / ROW_GRAIN;
    for (int k = start[0]; k < start[1]; k++)
    {
        const filter_record* record = &a->w->filter[k];
        v[record->vertex] = m3_mul_v(record->S, v[record->vertex]);
    }
}

// r = S b, x = 0
static void begin_pass(void* context, int begin, int end)
{
    pass* a = context;
    size_t bytes = (size_t)(end - begin) * sizeof(vec3);
    memcpy(a->c->r + begin, a->b + begin, bytes);
    memset(a->x + begin, 0, bytes);
    filter_rows(a, a->c->r, begin);
}

// r . z
static double dot_pass(void* context, int begin, int end)
{
    const pass* a = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += v3_dot(a->c->r[i], a->c->z[i]);
    }
    return sum;
}

// p = S (z + beta p); with beta = 0 the old p is not looked at
static void direction_pass(void* context, int begin, int end)
{
    pass* a = context;
    const global_filtered* c = a->c;
    for (int i = begin; i < end; i++)
    {
        c->p[i] = a->beta != 0.0 ? v3_madd(c->z[i], a->beta, c->p[i]) : c->z[i];
    }
    filter_rows(a, c->p, begin);
}

// s = A p
static void product_pass(void* context, int begin, int end)
{
    const pass* a = context;
    const bsr_pattern* pattern = &a->w->model->assembler.pattern;
    const double* values = a->g->values;
    const vec3* p = a->c->p;
    for (int i = begin; i < end; i++)
    {
        vec3 sum = v3(0, 0, 0);
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            sum = v3_madd(sum, values[slot], p[pattern->column[slot]]);
        }
        a->c->s[i] = sum;
    }
}

// s = S s, p . s
static double curvature_pass(void* context, int begin, int end)
{
    const pass* a = context;
    double sum = 0.0;
    filter_rows(a, a->c->s, begin);
    for (int i = begin; i < end; i++)
    {
        sum += v3_dot(a->c->p[i], a->c->s[i]);
    }
    return sum;
}

// x += alpha p, r -= alpha s
static void advance_pass(void* context, int begin, int end)
{
    const pass* a = context;
    for (int i = begin; i < end; i++)
    {
        a->x[i] = v3_madd(a->x[i], a->alpha, a->c->p[i]);
        a->c->r[i] = v3_madd(a->c->r[i], -a->alpha, a->c->s[i]);
    }
}

void global_filtered_take(global_filtered* c, global_step* g, const world* w)
{
    global_touches_take(&c->touches, g, w);
}

int global_filtered_solve(global_filtered* c, global_step* g, const world* w, const vec3* b, int most, double share,
                          vec3* x)
{
    pass a = {.c = c, .g = g, .w = w, .b = b, .x = x};
    int n = w->model->vertex_count, k;
    double first = 0.0, last = 1.0, gained = 0.0;
    global_step_fill(g, w);
    find_records(&a);
    parallel_for(w->pool, n, ROW_GRAIN, begin_pass, &a);
    for (k = 0; k < most; k++)
    {
        global_touches_solve(&c->touches, g, w, c->r, c->z);
        double now = parallel_sum(w->pool, n, ROW_GRAIN, dot_pass, &a);
        first = k == 0 ? now : first;
        if (!(now > share * share * first))
        {
            return k + 1;
        }
        a.beta = k == 0 ? 0.0 : now / last;
        last = now;
        parallel_for(w->pool, n, ROW_GRAIN, direction_pass, &a);
        parallel_for(w->pool, n, ROW_GRAIN, product_pass, &a);
        w->contact ? cushions_multiply(w->contact, c->p, c->s) : (void)0;
        double curvature = parallel_sum(w->pool, n, ROW_GRAIN, curvature_pass, &a);
        if (!(curvature > 0.0))
        {
            return k + 1;
        }
        a.alpha = now / curvature;
        gained += a.alpha * now;
        parallel_for(w->pool, n, ROW_GRAIN, advance_pass, &a);
        // As P is at most S (A + B) S, what is left is at most now less what this iteration has gained: that need not
        // be asked of another solve.
        if (!(now * (1.0 - a.alpha) > share * share * gained))
        {
            return k + 1;
        }
    }
    return k;
}
