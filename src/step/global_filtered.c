// Conjugate gradients of global steps; see global_filtered.h.
#include "step/global_filtered.h"

#include <string.h>

weft_status global_filtered_create(global_filtered* c, const global_step* g)
{
    int vertex_count = g->symbolic.vertex_count;
    TRY(global_touches_create(&c->touches, g));
    c->r = MEM_NEW(vertex_count, vec3);
    TRY(directions_create(&c->kept, vertex_count));
    c->s = MEM_NEW(vertex_count, vec3);
    c->z = MEM_NEW(vertex_count, vec3);
    c->record_start = MEM_NEW(vertex_count / ROW_GRAIN + 2, int);
    return c->r && c->s && c->z && c->record_start ? WEFT_OK : WEFT_NO_MEMORY;
}

void global_filtered_finish(global_filtered* c)
{
    mem_free(c->r);
    mem_free(c->s);
    mem_free(c->z);
    mem_free(c->record_start);
    directions_finish(&c->kept);
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

// r = S b
static void begin_pass(void* context, int begin, int end)
{
    const pass* a = context;
    memcpy(a->c->r + begin, a->b + begin, (size_t)(end - begin) * sizeof(vec3));
    filter_rows(a, a->c->r, begin);
}

// r . z
static double residual_pass(void* context, int begin, int end)
{
    const pass* a = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += v3_dot(a->c->r[i], a->c->z[i]);
    }
    return sum;
}

// z = S z, s = A z but for what S takes: with z = P^-1 r, A z is r where nothing is prescribed. Only vertices that P
// does not know move by what S takes of them, and so what they pull at.
static void image_of(const pass* a)
{
    const global_filtered* c = a->c;
    const bsr_pattern* pattern = &a->w->model->assembler.pattern;
    memcpy(c->s, c->r, (size_t)a->w->model->vertex_count * sizeof(vec3));
    for (int k = 0; k < a->w->filter_count; k++)
    {
        const filter_record* record = &a->w->filter[k];
        int i = record->vertex;
        vec3 free = m3_mul_v(record->S, c->z[i]), taken = v3_sub(c->z[i], free);
        c->z[i] = free;
        if (a->g->held[i] || global_touches_knows(&c->touches, i))
        {
            continue;
        }
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            vec3* to = &c->s[pattern->column[slot]];
            *to = v3_madd(*to, -a->g->values[slot], taken);
        }
    }
}

// s = S s
static void image_pass(void* context, int begin, int end)
{
    const pass* a = context;
    (void)end;
    filter_rows(a, a->c->s, begin);
}

void global_filtered_take(global_filtered* c, global_step* g, const world* w)
{
    global_touches_take(&c->touches, g, w);
    directions_clear(&c->kept);
}

int global_filtered_solve(global_filtered* c, global_step* g, const world* w, const vec3* b, int most, double share,
                          vec3* x)
{
    pass a = {.c = c, .g = g, .w = w, .b = b};
    int n = w->model->vertex_count;
    global_step_fill(g, w);
    find_records(&a);
    parallel_for(w->pool, n, ROW_GRAIN, begin_pass, &a);
    double gained = directions_begin(&c->kept, w->pool, w->cpu, c->r, x), first = 0.0;
    for (int k = 0; k < most; k++)
    {
        global_touches_solve(&c->touches, g, w, c->r, c->z);
        double now = parallel_sum(w->pool, n, ROW_GRAIN, residual_pass, &a);
        first = k == 0 ? gained + now : first;
        if (!(now > 0.0) || (k > 0 && !(now > share * share * first)))
        {
            return k + 1;
        }
        image_of(&a);
        w->contact ? cushions_multiply(w->contact, c->z, c->s) : (void)0;
        parallel_for(w->pool, n, ROW_GRAIN, image_pass, &a);
        double gain = directions_advance(&c->kept, w->pool, w->cpu, c->z, c->s, c->r, x);
        gained += gain;
        // As P is at most S (A + B) S, what is left is at most now less what this iteration has gained: that need not
        // be asked of another solve.
        if (!(gain > 0.0 && now - gain > share * share * gained))
        {
            return k + 1;
        }
    }
    return most;
}
