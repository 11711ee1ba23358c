// Global steps that know what touches; see global_touches.h.
#include "step/global_touches.h"

#include <string.h>

enum
{
    PANEL = 8,  // tile columns
    TURNS = 256 // shares of the vertices that may be taken
};

weft_status global_touches_create(global_touches* t, const global_step* g)
{
    TRY(chol_paths_create(&t->paths, &g->symbolic));
    t->columns = MEM_NEW((size_t)TOUCH_COLUMNS * (size_t)t->paths.longest, double);
    t->inverse = MEM_NEW((size_t)TOUCH_COLUMNS * TOUCH_COLUMNS, double);
    t->column_of = MEM_NEW(g->symbolic.vertex_count, int);
    t->stretches = MEM_NEW((size_t)TOUCH_COLUMNS * (size_t)t->paths.deepest, chol_stretch);
    t->stretch_count = MEM_NEW(TOUCH_COLUMNS, int);
    t->D = MEM_NEW(slab_triangle(TOUCH_ROWS / TILE), double);
    bool ok = t->columns && t->inverse && t->column_of && t->stretches && t->stretch_count && t->D;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void global_touches_finish(global_touches* t)
{
    chol_paths_finish(&t->paths);
    mem_free(t->columns);
    mem_free(t->inverse);
    mem_free(t->column_of);
    mem_free(t->stretches);
    mem_free(t->stretch_count);
    mem_free(t->D);
    *t = (global_touches){0};
}

// ---- columns

static void forget_columns(global_touches* t, int vertex_count)
{
    for (int k = 0; k < TOUCH_COLUMNS; k++)
    {
        t->vertex[k] = -1;
        t->used[k] = 0;
    }
    for (int i = 0; i < vertex_count; i++)
    {
        t->column_of[i] = -1;
    }
}

static int oldest_column(const global_touches* t)
{
    int oldest = 0;
    for (int k = 1; k < TOUCH_COLUMNS; k++)
    {
        oldest = t->used[k] < t->used[oldest] ? k : oldest;
    }
    return oldest;
}

static chol_numeric* numeric_of(global_step* g, const world* w)
{
    return &g->factors[w->halved].numeric;
}

static double* column_at(const global_touches* t, int column)
{
    return t->columns + (size_t)column * (size_t)t->paths.longest;
}

static chol_stretch* stretches_at(const global_touches* t, int column)
{
    return t->stretches + (size_t)column * (size_t)t->paths.deepest;
}

// In the place of the one that was not wanted for longest. Entries with all others come with it, so that they do not
// depend on which were wanted together.
static void make_column(global_touches* t, global_step* g, const world* w, int vertex)
{
    int slot = oldest_column(t);
    t->vertex[slot] >= 0 ? (void)(t->column_of[t->vertex[slot]] = -1) : (void)0;
    t->vertex[slot] = vertex;
    t->column_of[vertex] = slot;
    chol_engine engine = {w->pool, dense_kernels_for(w->cpu)};
    const chol_column_kernels* kernels = chol_column_kernels_for(w->cpu);
    double* column = column_at(t, slot);
    t->stretch_count[slot] = chol_stretches(&t->paths, &g->symbolic, vertex, stretches_at(t, slot));
    chol_column(&t->paths, &g->symbolic, numeric_of(g, w), &engine, vertex, column);
    for (int k = 0; k < TOUCH_COLUMNS; k++)
    {
        int shared = t->vertex[k] >= 0 ? chol_columns_shared(&t->paths, &g->symbolic, vertex, t->vertex[k]) : 0;
        double entry = kernels->product(column, column_at(t, k), shared);
        t->inverse[slot * TOUCH_COLUMNS + k] = t->inverse[k * TOUCH_COLUMNS + slot] = entry;
    }
}

// ---- rows

// The lowest bits of a vertex's number in reverse: those below any bound lie evenly along the order of vertices, which
// is a curve through the cloth, and those below a lower one are among them.
static int turn_of(int vertex)
{
    unsigned bits = (unsigned)vertex % TURNS;
    bits = (bits & 0x0f) << 4 | (bits & 0xf0) >> 4;
    bits = (bits & 0x33) << 2 | (bits & 0xcc) >> 2;
    return (int)((bits & 0x55) << 1 | (bits & 0xaa) >> 1);
}

// Vertices whose turn is below this one have no more rows together than there is room for.
static int choose_turn(const global_step* g, const world* w)
{
    int rows[TURNS] = {0}, turn = 0, count = 0;
    for (int k = 0; k < w->filter_count; k++)
    {
        const filter_record* record = &w->filter[k];
        rows[turn_of(record->vertex)] += g->held[record->vertex] ? 0 : record->direction_count;
    }
    while (turn < TURNS && count + rows[turn] <= TOUCH_ROWS)
    {
        count += rows[turn++];
    }
    return turn;
}

static void take_rows(global_touches* t, global_step* g, const world* w)
{
    int turn = choose_turn(g, w);
    t->row_count = 0;
    t->turn = turn;
    t->now++;
    for (int look = 0; look < 2; look++) // what is there is not to go for what is not
    {
        for (int k = 0; k < w->filter_count; k++)
        {
            const filter_record* record = &w->filter[k];
            if (g->held[record->vertex] || turn_of(record->vertex) >= turn)
            {
                continue;
            }
            look == 1 && t->column_of[record->vertex] < 0 ? make_column(t, g, w, record->vertex) : (void)0;
            int column = t->column_of[record->vertex];
            column >= 0 ? (void)(t->used[column] = t->now) : (void)0;
            for (int d = 0; d < record->direction_count && look == 1; d++)
            {
                t->rows[t->row_count++] = (touch_row){column, record->direction[d]};
            }
        }
    }
}

// ---- the system of D

static front front_of(const global_touches* t)
{
    return (front){.L = t->D, .pivot_tiles = (t->row_count + TILE - 1) / TILE};
}

static void fill_system(const global_touches* t, const front* f)
{
    for (int i = 0; i < t->row_count; i++)
    {
        double* to = front_slab(f, i / TILE) + i % TILE;
        const double* entry = t->inverse + (size_t)t->rows[i].column * TOUCH_COLUMNS;
        vec3 d = t->rows[i].direction;
        for (int j = 0; j <= i; j++)
        {
            to[j * TILE] = entry[t->rows[j].column] * v3_dot(d, t->rows[j].direction);
        }
    }
    for (int i = t->row_count; i < f->pivot_tiles * TILE; i++)
    {
        double* to = front_slab(f, i / TILE) + i % TILE;
        for (int j = 0; j <= i; j++)
        {
            to[j * TILE] = i == j ? 1.0 : 0.0;
        }
    }
}

static bool factor_system(const global_touches* t, const dense_kernels* kernels)
{
    front f = front_of(t);
    fill_system(t, &f);
    for (int begin = 0; begin < f.pivot_tiles; begin += PANEL)
    {
        int end = int_min(begin + PANEL, f.pivot_tiles);
        kernels->update_panel(&f, begin, end, begin, f.pivot_tiles);
        if (kernels->factor_diagonal(&f, begin, end) != PIVOT_OK)
        {
            return false;
        }
        kernels->solve_panel(&f, begin, end, end, f.pivot_tiles);
    }
    kernels->invert_pivots(&f);
    return true;
}

void global_touches_take(global_touches* t, global_step* g, const world* w)
{
    uint64_t factor = g->factors[w->halved].made;
    if (t->factor != factor)
    {
        forget_columns(t, g->symbolic.vertex_count);
        t->factor = factor;
    }
    t->row_count = t->turn = 0;
    if (g->pins.count > 0)
    {
        return; // the factor is not that of A
    }
    take_rows(t, g, w);
    if (!factor_system(t, dense_kernels_for(w->cpu)))
    {
        t->row_count = t->turn = 0;
    }
}

bool global_touches_knows(const global_touches* t, int vertex)
{
    return turn_of(vertex) < t->turn;
}

// ---- the solve

// Of all rows of a vertex, which follow each other, the part of what is prescribed.
static int rows_take(global_touches* t, int first, const double* at)
{
    int k = first;
    for (; k < t->row_count && t->rows[k].column == t->rows[first].column; k++)
    {
        vec3 d = t->rows[k].direction;
        t->right[k] = d.x * at[0] + d.y * at[1] + d.z * at[2];
    }
    return k;
}

static int rows_give(const global_touches* t, int first, double* share)
{
    int k = first;
    vec3 sum = v3(0, 0, 0);
    for (; k < t->row_count && t->rows[k].column == t->rows[first].column; k++)
    {
        sum = v3_madd(sum, -t->right[k], t->rows[k].direction);
    }
    share[0] = sum.x;
    share[1] = sum.y;
    share[2] = sum.z;
    return k;
}

// Between the halves of a solve: u = u - L^-1 N^T D^-1 N L^-T u.
static void hold_rows(global_touches* t, global_step* g, const world* w)
{
    const chol_column_kernels* kernels = chol_column_kernels_for(w->cpu);
    const dense_kernels* dense = dense_kernels_for(w->cpu);
    double *x = numeric_of(g, w)->x, three[3];
    size_t apart = g->symbolic.x_size;
    for (int k = 0; k < t->row_count; k = rows_take(t, k, three))
    {
        int column = t->rows[k].column;
        kernels->take(column_at(t, column), stretches_at(t, column), t->stretch_count[column], x, apart, three);
    }
    front f = front_of(t);
    dense_sides one = {.count = 1, .inverted = true};
    memset(t->right + t->row_count, 0, (size_t)(f.pivot_tiles * TILE - t->row_count) * sizeof(double));
    dense->solve_pivots(&f, &one, t->right);
    dense->solve_pivots_transposed(&f, &one, t->right);
    for (int k = 0; k < t->row_count;)
    {
        int column = t->rows[k].column;
        k = rows_give(t, k, three);
        kernels->add(column_at(t, column), stretches_at(t, column), t->stretch_count[column], three, x, apart);
    }
}

void global_touches_solve(global_touches* t, global_step* g, const world* w, const vec3* b, vec3* x)
{
    if (t->row_count == 0)
    {
        global_step_solve(g, w, b, x);
        return;
    }
    chol_engine engine = {w->pool, dense_kernels_for(w->cpu)};
    chol_numeric* numeric = numeric_of(g, w);
    chol_forward(&g->symbolic, numeric, &engine, &b->x);
    hold_rows(t, g, w);
    chol_backward(&g->symbolic, numeric, &engine, &x->x);
    global_step_clear_held(g, x);
}
