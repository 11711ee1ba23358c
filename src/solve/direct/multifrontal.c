// Numeric Cholesky, multifrontal (Duff and Reid 1983): each supernode gathers its entries of A and what its children
// pass on in a dense front, eliminates its pivots there, and passes the rest to its parent.
//
//     [ L11      ]     L11 L11^T = F11,   L21 = F21 L11^-T,   U = F22 - L21 L21^T
//     [ L21   U  ]
//
// Subtrees run side by side, then the nodes above them one after another with the loops inside each front in parallel.
// Children are added in a fixed order and every tile is summed in one order, so the bits do not depend on the threads.
#include <string.h>

#include "math/wide.h"
#include "solve/direct/cholesky.h"

enum
{
    PANEL = 8,        // tile columns of a panel
    SLAB_GRAIN = 12,  // slabs a chunk of a panel
    UPDATE_GRAIN = 6, // slabs a chunk of U: rows differ in length, so more and smaller chunks
    SOLVE_GRAIN = 16, // slabs or tile columns a chunk of a triangular solve
    BLOCK_SIZE_MAX = 12
};

KERNELS_CHOICE(dense_kernels)

// Nothing is read before it was written, so nothing is cleared: a factor of megabytes would be touched once more. An
// eighth to spare, as contacts grow slowly.
static bool fit(void** array, size_t* room, size_t bytes)
{
    if (*array && bytes <= *room)
    {
        return true;
    }
    mem_free(*array);
    *room = bytes + bytes / 8;
    *array = mem_raw(*room, 1);
    return *array != NULL;
}

weft_status chol_numeric_fit(const chol_symbolic* s, int sides, chol_numeric* out)
{
    out->sides = sides;
    out->inverted = sides > 1;
    bool ok = fit((void**)&out->L, &out->room[0], s->factor_size * sizeof(double)) &&
              fit((void**)&out->U, &out->room[1], s->update_size * sizeof(double)) &&
              fit((void**)&out->x, &out->room[2], (size_t)sides * s->x_size * sizeof(double)) &&
              fit((void**)&out->y, &out->room[3], (size_t)sides * s->y_size * sizeof(double)) &&
              fit((void**)&out->pivot, &out->room[4], (size_t)s->node_count);
    if (!ok)
    {
        chol_numeric_finish(out);
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void chol_numeric_finish(chol_numeric* numeric)
{
    mem_free(numeric->L);
    mem_free(numeric->U);
    mem_free(numeric->x);
    mem_free(numeric->y);
    mem_free(numeric->pivot);
    *numeric = (chol_numeric){0};
}

double chol_numeric_bytes(const chol_symbolic* s)
{
    return (double)(s->factor_size + s->update_size + s->x_size + s->y_size) * sizeof(double) + s->node_count;
}

// All that the loops of one factorisation or solve need.
typedef struct run
{
    const chol_symbolic* s;
    chol_numeric* n;
    const chol_engine* engine;
    const chol_source* source;
} run;

static front run_front(const run* r, const chol_node* node)
{
    return (front){r->n->L + node->L, r->n->U + node->U, node->pivot_tiles, node->row_tiles};
}

// A loop over tiles of one front.
typedef struct front_loop
{
    const dense_kernels* kernels;
    front f;
    int column_begin, column_end; // panel
    int count;                    // slabs of the loop that runs backwards
    const double* child;          // U of the child that is added
    const int* position;
    int row_count;
    dense_sides sides;
    double *x, *y; // of the first right-hand side
} front_loop;

static void loop_clear(void* context, int begin, int end)
{
    const front_loop* l = context;
    int pivots = l->f.pivot_tiles;
    double* first = front_slab(&l->f, begin);
    memset(first, 0, (size_t)(front_slab(&l->f, end) - first) * sizeof(double));
    if (end > pivots)
    {
        int first_row = int_max(begin, pivots) - pivots;
        double* u = front_update_slab(&l->f, first_row);
        memset(u, 0, (size_t)(front_update_slab(&l->f, end - pivots) - u) * sizeof(double));
    }
}

static void loop_extend_add(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->extend_add(&l->f, l->child, l->position, l->row_count, begin, end);
}

static void loop_update_panel(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->update_panel(&l->f, l->column_begin, l->column_end, l->column_begin + begin, l->column_begin + end);
}

static void loop_solve_panel(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->solve_panel(&l->f, l->column_begin, l->column_end, l->column_end + begin, l->column_end + end);
}

// The longest slabs first, so that no thread is left with one at the end.
static void loop_update_trailing(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->update_trailing(&l->f, l->count - end, l->count - begin);
}

static void loop_multiply_rows(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->multiply_rows(&l->f, &l->sides, l->x, l->y, begin, end);
}

static void loop_multiply_rows_transposed(void* context, int begin, int end)
{
    const front_loop* l = context;
    l->kernels->multiply_rows_transposed(&l->f, &l->sides, l->y, l->x, begin, end);
}

// One block of A; of a diagonal block only the lower triangle.
static void front_add_block(const front* f, const chol_entry* entry, const double* block, int size)
{
    for (int i = 0; i < size; i++)
    {
        int row = entry->row + i;
        double* target = front_slab(f, row / TILE) + row % TILE;
        int count = entry->row == entry->col ? i + 1 : size;
        for (int j = 0; j < count; j++)
        {
            target[(size_t)(entry->col + j) * TILE] += block[i * size + j];
        }
    }
}

// F = entries of A, unit pivots where the width is filled up, and the children's U.
static void node_assemble(const run* r, const chol_node* node, front_loop* l)
{
    const chol_symbolic* s = r->s;
    parallel_for(r->engine->pool, l->f.pivot_tiles + l->f.row_tiles, SLAB_GRAIN, loop_clear, l);
    for (int k = node->entry_begin; k < node->entry_end; k++)
    {
        double buffer[BLOCK_SIZE_MAX * BLOCK_SIZE_MAX];
        const chol_entry* entry = &s->entries[k];
        front_add_block(&l->f, entry, r->source->load(r->source->context, entry, buffer), s->block_size);
    }
    for (int j = (node->column_end - node->column_begin) * s->block_size; j < l->f.pivot_tiles * TILE; j++)
    {
        front_slab(&l->f, j / TILE)[(size_t)j * TILE + (size_t)(j % TILE)] = 1.0;
    }
    for (int c = node->first_child; c >= 0; c = s->nodes[c].next_child)
    {
        const chol_node* child = &s->nodes[c];
        l->child = r->n->U + child->U;
        l->position = s->position + (size_t)child->row_begin * (size_t)s->block_size;
        l->row_count = (child->row_end - child->row_begin) * s->block_size;
        parallel_for(r->engine->pool, child->row_tiles, SLAB_GRAIN, loop_extend_add, l);
    }
}

static pivot_result front_eliminate(const run* r, front_loop* l)
{
    workers* pool = r->engine->pool;
    pivot_result result = PIVOT_OK;
    int slab_count = l->f.pivot_tiles + l->f.row_tiles;
    for (int begin = 0; begin < l->f.pivot_tiles; begin += PANEL)
    {
        l->column_begin = begin;
        l->column_end = int_min(begin + PANEL, l->f.pivot_tiles);
        if (begin > 0)
        {
            parallel_for(pool, slab_count - begin, SLAB_GRAIN, loop_update_panel, l);
        }
        pivot_result panel = l->kernels->factor_diagonal(&l->f, l->column_begin, l->column_end);
        result = result == PIVOT_OK ? panel : result;
        parallel_for(pool, slab_count - l->column_end, SLAB_GRAIN, loop_solve_panel, l);
    }
    l->count = l->f.row_tiles;
    parallel_for(pool, l->f.row_tiles, UPDATE_GRAIN, loop_update_trailing, l);
    return result;
}

static void node_factor(const run* r, int k)
{
    const chol_node* node = &r->s->nodes[k];
    front_loop l = {.kernels = r->engine->kernels, .f = run_front(r, node)};
    node_assemble(r, node, &l);
    r->n->pivot[k] = (unsigned char)front_eliminate(r, &l);
    r->n->inverted ? l.kernels->invert_pivots(&l.f) : (void)0;
}

static void tasks_factor(void* context, int begin, int end)
{
    const run* r = context;
    for (int t = begin; t < end; t++)
    {
        for (int k = r->s->tasks[t].begin; k < r->s->tasks[t].end; k++)
        {
            node_factor(r, k);
        }
    }
}

// The first bad pivot in the order of the nodes speaks for all: later ones may follow from it.
static weft_status run_pivot_status(const run* r)
{
    for (int k = 0; k < r->s->node_count; k++)
    {
        if (r->n->pivot[k] != PIVOT_OK)
        {
            return r->n->pivot[k] == PIVOT_NOT_FINITE ? WEFT_NOT_FINITE : WEFT_NOT_DEFINITE;
        }
    }
    return WEFT_OK;
}

weft_status chol_factor(const chol_symbolic* symbolic, chol_numeric* numeric, const chol_source* source,
                        const chol_engine* engine)
{
    WEFT_ASSERT(symbolic->block_size <= BLOCK_SIZE_MAX);
    run r = {symbolic, numeric, engine, source};
    memset(numeric->pivot, PIVOT_OK, (size_t)symbolic->node_count);
    parallel_for(engine->pool, symbolic->task_count, 1, tasks_factor, &r);
    TRY(run_pivot_status(&r));
    for (int t = 0; t < symbolic->top_count; t++)
    {
        node_factor(&r, symbolic->top[t]);
    }
    return run_pivot_status(&r);
}

static front_loop solve_loop(const run* r, const chol_node* node)
{
    return (front_loop){.kernels = r->engine->kernels,
                        .f = run_front(r, node),
                        .sides = {r->n->sides, r->n->inverted, r->s->x_size, r->s->y_size},
                        .x = r->n->x + node->x,
                        .y = r->n->y + node->y};
}

// Loops over vectors are compiled for three right-hand sides and for any number: the sides of an entry lie far apart.
enum
{
    USUAL_SIDES = 3
};

// What a child passes on to its parent's pivots and rows.
WIDE_INLINE void child_add(const run* r, const chol_node* child, const front_loop* l, int sides)
{
    const chol_symbolic* s = r->s;
    size_t x_apart = s->x_size, y_apart = s->y_size;
    const int* position = s->position + (size_t)child->row_begin * (size_t)s->block_size;
    const double* from = r->n->y + child->y;
    int pivots = l->f.pivot_tiles * TILE, i = 0, count = (child->row_end - child->row_begin) * s->block_size;
    for (; i < count && position[i] < pivots; i++)
    {
        double* to = l->x + position[i];
        for (int side = 0; side < sides; side++)
        {
            to[(size_t)side * x_apart] += from[(size_t)side * y_apart + (size_t)i];
        }
    }
    for (; i < count; i++)
    {
        double* to = l->y + (position[i] - pivots);
        for (int side = 0; side < sides; side++)
        {
            to[(size_t)side * y_apart] += from[(size_t)side * y_apart + (size_t)i];
        }
    }
}

// L u = b for one node: y collects what its ancestors must subtract.
static void node_forward(const run* r, int k)
{
    const chol_symbolic* s = r->s;
    const chol_node* node = &s->nodes[k];
    front_loop l = solve_loop(r, node);
    for (int side = 0; side < l.sides.count; side++)
    {
        memset(l.y + (size_t)side * s->y_size, 0, (size_t)l.f.row_tiles * TILE * sizeof(double));
    }
    for (int c = node->first_child; c >= 0; c = s->nodes[c].next_child)
    {
        l.sides.count == USUAL_SIDES ? child_add(r, &s->nodes[c], &l, USUAL_SIDES)
                                     : child_add(r, &s->nodes[c], &l, l.sides.count);
    }
    l.kernels->solve_pivots(&l.f, &l.sides, l.x);
    parallel_for(r->engine->pool, l.f.row_tiles, SOLVE_GRAIN, loop_multiply_rows, &l);
}

// The solution at a node's rows, which its ancestors have.
WIDE_INLINE void rows_take(const run* r, const chol_node* node, double* to, int sides)
{
    const chol_symbolic* s = r->s;
    size_t x_apart = s->x_size, y_apart = s->y_size;
    for (int i = node->row_begin; i < node->row_end; i++)
    {
        const double* from = r->n->x + s->place[s->rows[i]];
        for (const double* end = from + s->block_size; from < end; from++, to++)
        {
            for (int side = 0; side < sides; side++)
            {
                to[(size_t)side * y_apart] = from[(size_t)side * x_apart];
            }
        }
    }
}

// L^T x = u for one node, when all its ancestors are done.
static void node_backward(const run* r, int k)
{
    const chol_node* node = &r->s->nodes[k];
    front_loop l = solve_loop(r, node);
    l.sides.count == USUAL_SIDES ? rows_take(r, node, l.y, USUAL_SIDES) : rows_take(r, node, l.y, l.sides.count);
    parallel_for(r->engine->pool, l.f.pivot_tiles, SOLVE_GRAIN, loop_multiply_rows_transposed, &l);
    l.kernels->solve_pivots_transposed(&l.f, &l.sides, l.x);
}

static void tasks_forward(void* context, int begin, int end)
{
    const run* r = context;
    for (int t = begin; t < end; t++)
    {
        for (int k = r->s->tasks[t].begin; k < r->s->tasks[t].end; k++)
        {
            node_forward(r, k);
        }
    }
}

static void tasks_backward(void* context, int begin, int end)
{
    const run* r = context;
    for (int t = begin; t < end; t++)
    {
        for (int k = r->s->tasks[t].end - 1; k >= r->s->tasks[t].begin; k--)
        {
            node_backward(r, k);
        }
    }
}

// Between [vertex][unknown][side] and the padded vectors of each side.
WIDE_INLINE void take_sides(const chol_symbolic* s, const chol_numeric* n, const double* b, int sides)
{
    size_t apart = s->x_size;
    for (int k = 0; k < s->vertex_count; k++)
    {
        const double* from = b + (size_t)s->order[k] * (size_t)(s->block_size * sides);
        for (double *to = n->x + s->place[k], *end = to + s->block_size; to < end; to++, from += sides)
        {
            for (int side = 0; side < sides; side++)
            {
                to[(size_t)side * apart] = from[side];
            }
        }
    }
}

WIDE_INLINE void give_sides(const chol_symbolic* s, const chol_numeric* n, double* x, int sides)
{
    size_t apart = s->x_size;
    for (int k = 0; k < s->vertex_count; k++)
    {
        double* to = x + (size_t)s->order[k] * (size_t)(s->block_size * sides);
        for (const double *from = n->x + s->place[k], *end = from + s->block_size; from < end; from++, to += sides)
        {
            for (int side = 0; side < sides; side++)
            {
                to[side] = from[(size_t)side * apart];
            }
        }
    }
}

void chol_forward(const chol_symbolic* s, chol_numeric* numeric, const chol_engine* engine, const double* b)
{
    run r = {.s = s, .n = numeric, .engine = engine};
    memset(numeric->x, 0, (size_t)numeric->sides * s->x_size * sizeof(double));
    numeric->sides == USUAL_SIDES ? take_sides(s, numeric, b, USUAL_SIDES) : take_sides(s, numeric, b, numeric->sides);
    parallel_for(engine->pool, s->task_count, 1, tasks_forward, &r);
    for (int t = 0; t < s->top_count; t++)
    {
        node_forward(&r, s->top[t]);
    }
}

void chol_backward(const chol_symbolic* s, chol_numeric* numeric, const chol_engine* engine, double* x)
{
    run r = {.s = s, .n = numeric, .engine = engine};
    for (int t = s->top_count - 1; t >= 0; t--)
    {
        node_backward(&r, s->top[t]);
    }
    parallel_for(engine->pool, s->task_count, 1, tasks_backward, &r);
    numeric->sides == USUAL_SIDES ? give_sides(s, numeric, x, USUAL_SIDES) : give_sides(s, numeric, x, numeric->sides);
}

void chol_solve(const chol_symbolic* s, chol_numeric* numeric, const chol_engine* engine, const double* b, double* x)
{
    chol_forward(s, numeric, engine, b);
    chol_backward(s, numeric, engine, x);
}
