// Held vertices that came and went since the factor was made. Its matrix B has rows of the identity for those that were
// held then. With E the unit columns of vertices that are held now, C and D the columns of A at those that are free
// again, lambda the forces of pins and z the positions of the free ones,
//
//     B x = b - G (z, lambda),    G^T x + diag(D, 0) (z, lambda) = (b_free, 0),    G = (C, E)
//
// so that with W = B^-1 G the solution is B^-1 b less W times that of a system of their number,
//
//     (G^T W - diag(D, 0)) (z, lambda) = G^T B^-1 b - (b_free, 0).
//
// A column costs a third of a solve, when its vertex comes or goes.
#include <string.h>

#include "step/global_step.h"

weft_status global_pins_create(global_pins* p, int vertex_count)
{
    p->scratch = MEM_NEW(vertex_count, vec3);
    bool ok = p->scratch != NULL;
    for (int k = 0; k < PINS_MAX; k++)
    {
        p->list[k].W = MEM_NEW(vertex_count, double);
        ok = ok && p->list[k].W;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void global_pins_finish(global_pins* p)
{
    mem_free(p->scratch);
    for (int k = 0; k < PINS_MAX; k++)
    {
        mem_free(p->list[k].W);
    }
    *p = (global_pins){0};
}

// The column of a vertex, if it is known: it leaves the old list.
static void claim(global_pins* old, pin_change* change)
{
    for (int k = 0; k < old->count; k++)
    {
        pin_change* known = &old->list[k];
        if (known->known && known->vertex == change->vertex && known->added == change->added)
        {
            *change = *known;
            known->W = NULL;
            known->known = false;
            return;
        }
    }
}

bool global_pins_list(global_step* g)
{
    pin_change next[PINS_MAX] = {{0}};
    int count = 0;
    for (int i = 0; i < g->symbolic.vertex_count; i++)
    {
        if (g->held[i] != g->factored[i])
        {
            if (count == PINS_MAX)
            {
                return false;
            }
            next[count++] = (pin_change){.vertex = i, .added = g->held[i] != 0};
        }
    }
    for (int k = 0; k < count; k++)
    {
        claim(&g->pins, &next[k]);
    }
    // Arrays that are left go to those without.
    for (int k = 0, left = 0; k < PINS_MAX; k++)
    {
        while (!next[k].W && !g->pins.list[left].W)
        {
            left++;
        }
        next[k].W = next[k].W ? next[k].W : g->pins.list[left++].W;
    }
    memcpy(g->pins.list, next, sizeof(next));
    g->pins.count = count;
    return true;
}

// ---- columns

// G^T of one vertex and a column.
static double row_product(const global_step* g, const pin_change* change, const double* column)
{
    if (change->added)
    {
        return column[change->vertex];
    }
    const bsr_pattern* p = &g->symbolic.pattern;
    double sum = 0.0;
    for (int slot = p->row_start[change->vertex]; slot < p->row_start[change->vertex + 1]; slot++)
    {
        sum += g->factored[p->column[slot]] ? 0.0 : g->values[slot] * column[p->column[slot]];
    }
    return sum;
}

// The column of G as one of three right-hand sides.
static void put_column(const global_step* g, const pin_change* change, double* out)
{
    const bsr_pattern* p = &g->symbolic.pattern;
    if (change->added)
    {
        out[3 * change->vertex] = 1.0;
        return;
    }
    for (int slot = p->row_start[change->vertex]; slot < p->row_start[change->vertex + 1]; slot++)
    {
        out[3 * p->column[slot]] = g->factored[p->column[slot]] ? 0.0 : g->values[slot];
    }
}

static void make_columns(global_step* g, const world* w, pin_change** which, int count)
{
    int n = g->symbolic.vertex_count;
    double* sides = &g->pins.scratch->x;
    memset(g->pins.scratch, 0, (size_t)n * sizeof(vec3));
    for (int k = 0; k < count; k++)
    {
        put_column(g, which[k], sides + k);
    }
    global_step_backsolve(g, w, g->pins.scratch, g->pins.scratch);
    for (int k = 0; k < count; k++)
    {
        for (int i = 0; i < n; i++)
        {
            which[k]->W[i] = sides[3 * i + k];
        }
        which[k]->known = true;
    }
}

// Gauss and Jordan with pivots: M is not definite where vertices have come and gone.
static void invert(int n, double* M, double* inverse)
{
    for (int k = 0; k < n * n; k++)
    {
        inverse[k] = k / n == k % n ? 1.0 : 0.0;
    }
    for (int c = 0; c < n; c++)
    {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
        {
            pivot = fabs(M[r * n + c]) > fabs(M[pivot * n + c]) ? r : pivot;
        }
        for (int j = 0; j < n; j++)
        {
            double a = M[c * n + j], b = inverse[c * n + j];
            M[c * n + j] = M[pivot * n + j];
            M[pivot * n + j] = a;
            inverse[c * n + j] = inverse[pivot * n + j];
            inverse[pivot * n + j] = b;
        }
        double scale = 1.0 / M[c * n + c];
        for (int j = 0; j < n; j++)
        {
            M[c * n + j] *= scale;
            inverse[c * n + j] *= scale;
        }
        for (int r = 0; r < n; r++)
        {
            double factor = r == c ? 0.0 : M[r * n + c];
            for (int j = 0; j < n; j++)
            {
                M[r * n + j] -= factor * M[c * n + j];
                inverse[r * n + j] -= factor * inverse[c * n + j];
            }
        }
    }
}

static void make_complement(global_step* g)
{
    global_pins* p = &g->pins;
    double M[PINS_MAX * PINS_MAX];
    for (int k = 0; k < p->count * p->count; k++)
    {
        const pin_change *row = &p->list[k / p->count], *column = &p->list[k % p->count];
        M[k] = row_product(g, row, column->W);
        int slot =
            row->added || column->added ? -1 : bsr_pattern_find(&g->symbolic.pattern, row->vertex, column->vertex);
        M[k] -= slot >= 0 ? g->values[slot] : 0.0;
    }
    invert(p->count, M, p->inverse);
}

int global_pins_update(global_step* g, const world* w)
{
    global_pins* p = &g->pins;
    pin_change* wanted[PINS_MAX];
    int made = 0;
    for (int k = 0; k < p->count; k++)
    {
        p->list[k].known = p->list[k].known && p->h == w->h;
        wanted[made] = &p->list[k];
        made += !p->list[k].known;
    }
    p->h = w->h;
    for (int k = 0; k < made; k += 3)
    {
        make_columns(g, w, wanted + k, int_min(3, made - k));
    }
    make_complement(g);
    return made;
}

// ---- the solve

typedef struct correction
{
    const global_pins* pins;
    vec3 y[PINS_MAX];
    vec3* x;
} correction;

static void correct_chunk(void* context, int begin, int end)
{
    const correction* c = context;
    for (int k = 0; k < c->pins->count; k++)
    {
        const double* W = c->pins->list[k].W;
        for (int i = begin; i < end; i++)
        {
            c->x[i] = v3_madd(c->x[i], -W[i], c->y[k]);
        }
    }
}

// G^T x of one vertex, three sides.
static vec3 row_product3(const global_step* g, const pin_change* change, const vec3* x)
{
    if (change->added)
    {
        return x[change->vertex];
    }
    const bsr_pattern* p = &g->symbolic.pattern;
    vec3 sum = v3(0, 0, 0);
    for (int slot = p->row_start[change->vertex]; slot < p->row_start[change->vertex + 1]; slot++)
    {
        int i = p->column[slot];
        sum = g->factored[i] ? sum : v3_madd(sum, g->values[slot], x[i]);
    }
    return sum;
}

void global_pins_correct(const global_step* g, const world* w, const vec3* loads, vec3* x)
{
    const global_pins* p = &g->pins;
    correction c = {.pins = p, .x = x};
    vec3 right[PINS_MAX];
    for (int k = 0; k < p->count; k++)
    {
        right[k] = row_product3(g, &p->list[k], x);
        right[k] = p->list[k].added ? right[k] : v3_sub(right[k], loads[k]);
    }
    for (int k = 0; k < p->count * p->count; k++)
    {
        vec3* y = &c.y[k / p->count];
        *y = v3_madd(*y, p->inverse[k], right[k % p->count]);
    }
    parallel_for(w->pool, g->symbolic.vertex_count, ROW_GRAIN, correct_chunk, &c);
    for (int k = 0; k < p->count; k++)
    {
        x[p->list[k].vertex] = p->list[k].added ? v3(0, 0, 0) : c.y[k];
    }
}
