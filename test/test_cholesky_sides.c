// A factor for three right-hand sides keeps inverses in its diagonal tiles: what it solves is checked against the
// matrix, and against a factor for one side, which substitutes. Columns of L^-1 are checked against entries of A^-1.
#include "common.h"

#include <stdlib.h>

#include "solve/direct/chol_columns.h"

enum
{
    SIDE = 37, // a grid with diagonals; no multiple of a tile
    COUNT = SIDE * SIDE
};

typedef struct grid
{
    bsr_pattern pattern;
    double* values;
} grid;

// Springs of stiffness over six decades, and small masses.
static grid grid_create(void)
{
    static int edges[8 * COUNT];
    int count = 0;
    uint64_t n = 3;
    for (int i = 0; i < COUNT; i++)
    {
        int right = i % SIDE + 1 < SIDE, down = i + SIDE < COUNT;
        const int other[] = {right ? i + 1 : -1, down ? i + SIDE : -1, right && down ? i + SIDE + 1 : -1};
        for (int k = 0; k < 3; k++)
        {
            if (other[k] >= 0)
            {
                edges[2 * count] = i;
                edges[2 * count++ + 1] = other[k];
            }
        }
    }
    grid g = {0};
    element_list list = {count, 2, edges};
    assert_int_equal(bsr_pattern_create(COUNT, &list, 1, &g.pattern), WEFT_OK);
    g.values = calloc((size_t)g.pattern.block_count, sizeof(double));
    for (int i = 0; i < COUNT; i++)
    {
        g.values[g.pattern.diagonal[i]] = 0.01;
    }
    for (int e = 0; e < count; e++)
    {
        int a = edges[2 * e], b = edges[2 * e + 1];
        double k = pow(10.0, test_random(&n, -3.0, 3.0));
        g.values[g.pattern.diagonal[a]] += k;
        g.values[g.pattern.diagonal[b]] += k;
        g.values[bsr_pattern_find(&g.pattern, a, b)] -= k;
        g.values[bsr_pattern_find(&g.pattern, b, a)] -= k;
    }
    return g;
}

static const double* load(const void* context, const chol_entry* entry, double* buffer)
{
    *buffer = ((const grid*)context)->values[entry->slot];
    return buffer;
}

static void solve(const grid* g, int sides, const chol_engine* engine, const double* b, double* x)
{
    chol_symbolic symbolic;
    chol_numeric numeric = {0};
    chol_source source = {load, g};
    assert_int_equal(chol_symbolic_create(&g->pattern, 1, NULL, &symbolic), WEFT_OK);
    assert_int_equal(chol_numeric_fit(&symbolic, sides, &numeric), WEFT_OK);
    assert_int_equal(chol_factor(&symbolic, &numeric, &source, engine), WEFT_OK);
    chol_solve(&symbolic, &numeric, engine, b, x);
    chol_numeric_finish(&numeric);
    chol_symbolic_finish(&symbolic);
}

// The largest of |b - A x| over that of |A| |x| + |b|, which no condition number enters.
static double backward_error(const grid* g, int sides, const double* b, const double* x)
{
    double worst = 0.0;
    for (int i = 0; i < COUNT * sides; i++)
    {
        int row = i / sides, side = i % sides;
        double rest = b[i], size = fabs(b[i]);
        for (int slot = g->pattern.row_start[row]; slot < g->pattern.row_start[row + 1]; slot++)
        {
            double term = g->values[slot] * x[g->pattern.column[slot] * sides + side];
            rest -= term;
            size += fabs(term);
        }
        worst = fmax(worst, fabs(rest) / size);
    }
    return worst;
}

// On every CPU kind, for one, two, three and four sides.
static void test_sides(void** unused)
{
    (void)unused;
    static double b[4 * COUNT], x[4 * COUNT], one[COUNT], single[COUNT];
    grid g = grid_create();
    uint64_t n = 8;
    for (int k = 0; k < 4 * COUNT; k++)
    {
        b[k] = test_random(&n, -1.0, 1.0);
    }
    for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
    {
        chol_engine engine = {NULL, dense_kernels_for((cpu_kind)cpu)};
        for (int sides = 1; sides <= 4; sides++)
        {
            solve(&g, sides, &engine, b, x);
            assert_true(backward_error(&g, sides, b, x) < 1e-14 * SIDE);
        }
        solve(&g, 3, &engine, b, x);
        double off = 0.0, size = 0.0;
        for (int k = 0; k < COUNT; k++)
        {
            single[k] = b[3 * k + 1];
        }
        solve(&g, 1, &engine, single, one);
        for (int k = 0; k < COUNT; k++)
        {
            off = fmax(off, fabs(x[3 * k + 1] - one[k]));
            size = fmax(size, fabs(one[k]));
        }
        assert_true(off < 1e-10 * size); // the condition is some 1e5
        assert_true(off > 0.0);          // they are not the same way
    }
    bsr_pattern_finish(&g.pattern);
    free(g.values);
}

// The same bits on any number of threads.
static void test_threads(void** unused)
{
    (void)unused;
    static double b[3 * COUNT], x[2][3 * COUNT];
    grid g = grid_create();
    uint64_t n = 9;
    for (int k = 0; k < 3 * COUNT; k++)
    {
        b[k] = test_random(&n, -1.0, 1.0);
    }
    for (int count = 1; count <= 3; count++)
    {
        workers* pool;
        assert_int_equal(workers_create(count, NULL, &pool), WEFT_OK);
        chol_engine engine = {pool, dense_kernels_for(cpu_best())};
        solve(&g, 3, &engine, b, x[count > 1]);
        workers_destroy(pool);
        count > 1 ? assert_memory_equal(x[1], x[0], sizeof(x[0])) : (void)0;
    }
    bsr_pattern_finish(&g.pattern);
    free(g.values);
}

typedef struct factored
{
    chol_symbolic symbolic;
    chol_numeric numeric;
    chol_paths paths;
} factored;

static factored factored_create(const grid* g, const chol_engine* engine)
{
    factored f = {0};
    chol_source source = {load, g};
    assert_int_equal(chol_symbolic_create(&g->pattern, 1, NULL, &f.symbolic), WEFT_OK);
    assert_int_equal(chol_numeric_fit(&f.symbolic, 3, &f.numeric), WEFT_OK);
    assert_int_equal(chol_factor(&f.symbolic, &f.numeric, &source, engine), WEFT_OK);
    assert_int_equal(chol_paths_create(&f.paths, &f.symbolic), WEFT_OK);
    return f;
}

static void factored_finish(factored* f)
{
    chol_paths_finish(&f->paths);
    chol_numeric_finish(&f->numeric);
    chol_symbolic_finish(&f->symbolic);
}

// Products of columns of L^-1 are entries of A^-1, and with what the forward half of a solve leaves those of A^-1 b.
static void columns_are_right(const grid* g, cpu_kind cpu)
{
    static const int vertex[] = {0, 17, 18, COUNT / 2, COUNT - 1};
    static double b[3 * COUNT], x[3 * COUNT];
    chol_engine engine = {NULL, dense_kernels_for(cpu)};
    const chol_column_kernels* kernels = chol_column_kernels_for(cpu);
    factored f = factored_create(g, &engine);
    double* column[5];
    chol_stretch* list = calloc((size_t)f.paths.deepest, sizeof(chol_stretch));
    uint64_t n = 4;
    for (int k = 0; k < 3 * COUNT; k++)
    {
        b[k] = test_random(&n, -1.0, 1.0);
    }
    for (int a = 0; a < 5; a++)
    {
        column[a] = calloc((size_t)f.paths.longest, sizeof(double));
        chol_column(&f.paths, &f.symbolic, &f.numeric, &engine, vertex[a], column[a]);
    }
    chol_solve(&f.symbolic, &f.numeric, &engine, b, x);
    for (int a = 0; a < 5; a++)
    {
        double three[3], unit[3 * COUNT] = {0};
        int count = chol_stretches(&f.paths, &f.symbolic, vertex[a], list);
        chol_forward(&f.symbolic, &f.numeric, &engine, b);
        kernels->take(column[a], list, count, f.numeric.x, f.symbolic.x_size, three);
        for (int side = 0; side < 3; side++)
        {
            assert_true(fabs(three[side] - x[3 * vertex[a] + side]) < 1e-9 * (fabs(three[side]) + 1.0));
        }
        // A unit load that is added between the halves is one that was there before.
        kernels->add(column[a], list, count, (const double[3]){-1.0, 0.0, 2.0}, f.numeric.x, f.symbolic.x_size);
        chol_backward(&f.symbolic, &f.numeric, &engine, x);
        b[3 * vertex[a]] -= 1.0;
        b[3 * vertex[a] + 2] += 2.0;
        assert_true(backward_error(g, 3, b, x) < 1e-14 * SIDE);
        unit[3 * vertex[a]] = 1.0;
        chol_solve(&f.symbolic, &f.numeric, &engine, unit, unit);
        for (int c = 0; c < 5; c++)
        {
            int shared = chol_columns_shared(&f.paths, &f.symbolic, vertex[a], vertex[c]);
            double entry = kernels->product(column[a], column[c], shared);
            assert_true(fabs(entry - unit[3 * vertex[c]]) < 1e-9 * fabs(unit[3 * vertex[a]]));
            assert_true(entry == kernels->product(column[c], column[a], shared));
        }
        chol_solve(&f.symbolic, &f.numeric, &engine, b, x);
    }
    for (int a = 0; a < 5; a++)
    {
        free(column[a]);
    }
    free(list);
    factored_finish(&f);
}

static void test_columns(void** unused)
{
    (void)unused;
    grid g = grid_create();
    for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
    {
        columns_are_right(&g, (cpu_kind)cpu);
    }
    bsr_pattern_finish(&g.pattern);
    free(g.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
