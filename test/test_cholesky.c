// The direct solvers against elimination in long double on S A + (I - S); then what they promise besides: the same bits
// on any number of threads, no allocation after the analysis, a status for bad matrices.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_dense.h"
#include "solve/solve.h"
#include "solve/system.h"

// ---- systems

typedef struct problem
{
    int n;
    bsr_pattern pattern;
    double* values;
    vec3 *b, *z;
    filter_record* filter;
    int filter_count;
    linear_system system;
} problem;

static double random_signed(uint64_t seed, uint64_t index)
{
    return 2.0 * random_unit(seed, index) - 1.0;
}

static vec3 random_vec3(uint64_t seed, uint64_t index)
{
    return v3(random_signed(seed, 3 * index), random_signed(seed, 3 * index + 1), random_signed(seed, 3 * index + 2));
}

static void add_block(problem* p, int row, int column, double s, const double* block)
{
    int slot = bsr_pattern_find(&p->pattern, row, column);
    assert_true(slot >= 0);
    for (int k = 0; k < 9; k++)
    {
        p->values[9 * slot + k] += s * block[k];
    }
}

// Each edge adds [B -B; -B B] with a random semidefinite B, each vertex a small multiple of the identity, so that the
// condition is about 1 / softness.
static problem* problem_create(int n, const int* edges, int edge_count, double softness, uint64_t seed)
{
    problem* p = calloc(1, sizeof(problem));
    p->n = n;
    element_list list = {edge_count, 2, edges};
    assert_int_equal(bsr_pattern_create(n, &list, edge_count > 0 ? 1 : 0, &p->pattern), WEFT_OK);
    p->values = calloc(9 * (size_t)p->pattern.block_count, sizeof(double));
    p->b = calloc((size_t)n, sizeof(vec3));
    p->z = calloc((size_t)n, sizeof(vec3));
    p->filter = calloc((size_t)n, sizeof(filter_record));
    for (int i = 0; i < n; i++)
    {
        mat3 mass = m3_diagonal(softness * (1.0 + random_unit(seed, (uint64_t)i)));
        add_block(p, i, i, 1.0, mass.m);
        p->b[i] = random_vec3(seed + 1, (uint64_t)i);
        p->z[i] = random_vec3(seed + 2, (uint64_t)i);
    }
    for (int e = 0; e < edge_count; e++)
    {
        int i = edges[2 * e], j = edges[2 * e + 1];
        vec3 u = random_vec3(seed + 3, (uint64_t)e), v = random_vec3(seed + 4, (uint64_t)e);
        mat3 B = m3_outer(u, u), C = m3_outer(v, v);
        for (int k = 0; k < 9; k++)
        {
            B.m[k] += C.m[k] + (k % 4 == 0 ? 0.01 : 0.0);
        }
        add_block(p, i, i, 1.0, B.m);
        add_block(p, j, j, 1.0, B.m);
        add_block(p, i, j, -1.0, B.m);
        add_block(p, j, i, -1.0, B.m);
    }
    p->system =
        (linear_system){.A = {&p->pattern, p->values}, .b = p->b, .z = p->z, .filter = p->filter, .pattern_version = 1};
    return p;
}

static void problem_finish(problem* p)
{
    bsr_pattern_finish(&p->pattern);
    free(p->values);
    free(p->b);
    free(p->z);
    free(p->filter);
    free(p);
}

// Every `stride`-th vertex loses 1, 2 or 3 directions in turn.
static void problem_constrain(problem* p, int stride, uint64_t seed)
{
    p->filter_count = 0;
    for (int i = 0; i < p->n; i += stride)
    {
        vec3 d[3] = {random_vec3(seed, (uint64_t)(3 * i)), random_vec3(seed, (uint64_t)(3 * i + 1)),
                     random_vec3(seed, (uint64_t)(3 * i + 2))};
        p->filter[p->filter_count] = filter_record_make(i, d, 1 + p->filter_count % 3);
        p->filter_count++;
    }
    p->system.filter_count = p->filter_count;
}

static problem* random_problem(int n, int edge_count, double softness, uint64_t seed)
{
    int* edges = calloc(2 * (size_t)edge_count + 2, sizeof(int));
    int count = 0;
    for (int e = 0; e < edge_count; e++)
    {
        int i = (int)(random_bits(seed, (uint64_t)(2 * e)) % (uint64_t)n);
        int j = (int)(random_bits(seed, (uint64_t)(2 * e + 1)) % (uint64_t)n);
        if (i != j)
        {
            edges[2 * count] = i;
            edges[2 * count++ + 1] = j;
        }
    }
    problem* p = problem_create(n, edges, count, softness, seed);
    free(edges);
    return p;
}

// A grid with the couplings of cloth: neighbours, diagonals and every second vertex.
static problem* grid_problem(int side, double softness)
{
    const int steps[][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}, {2, 0}, {0, 2}};
    int* edges = calloc(12 * (size_t)side * (size_t)side, sizeof(int));
    int count = 0;
    for (int k = 0; k < 6 * side * side; k++)
    {
        int i = k / 6 % side, j = k / 6 / side;
        int i2 = i + steps[k % 6][0], j2 = j + steps[k % 6][1];
        if (i2 >= 0 && i2 < side && j2 < side)
        {
            edges[2 * count] = j * side + i;
            edges[2 * count++ + 1] = j2 * side + i2;
        }
    }
    problem* p = problem_create(side * side, edges, count, softness, 77);
    free(edges);
    return p;
}

// ---- truth

typedef long double real;

// Rows of S A x + (I - S) x = S b + (I - S) z, with S from the directions and not from the record's matrix.
static void truth_solve(const problem* p, real* x)
{
    int n = 3 * p->n;
    real* A = calloc((size_t)n * (size_t)n, sizeof(real));
    real* K = calloc((size_t)n * (size_t)n, sizeof(real));
    real* S = calloc((size_t)n * 3, sizeof(real));
    for (int i = 0; i < p->n; i++)
    {
        S[9 * i] = S[9 * i + 4] = S[9 * i + 8] = 1;
        for (int slot = p->pattern.row_start[i]; slot < p->pattern.row_start[i + 1]; slot++)
        {
            for (int k = 0; k < 9; k++)
            {
                A[(3 * i + k / 3) * n + 3 * p->pattern.column[slot] + k % 3] = p->values[9 * slot + k];
            }
        }
    }
    for (int f = 0; f < p->filter_count; f++)
    {
        for (int d = 0; d < p->filter[f].direction_count; d++)
        {
            const double* u = &p->filter[f].direction[d].x;
            for (int k = 0; k < 9; k++)
            {
                S[9 * p->filter[f].vertex + k] -= (real)u[k / 3] * u[k % 3];
            }
        }
    }
    for (int r = 0; r < n; r++)
    {
        x[r] = 0;
        for (int k = 0; k < 3; k++)
        {
            int other = r / 3 * 3 + k;
            real s = S[3 * r + k], t = (r % 3 == k) - s;
            for (int c = 0; c < n; c++)
            {
                K[r * n + c] += s * A[other * n + c];
            }
            K[r * n + other] += t;
            x[r] += s * (&p->b[other / 3].x)[k] + t * (&p->z[other / 3].x)[k];
        }
    }
    test_dense_solve(K, x, n);
    free(A);
    free(K);
    free(S);
}

// ---- running

static workers* make_pool(int count)
{
    workers* pool;
    assert_int_equal(workers_create(count, NULL, &pool), WEFT_OK);
    return pool;
}

static weft_status run_solver(const char* name, const problem* p, workers* pool, cpu_kind cpu, vec3* x,
                              weft_solve_stats* stats)
{
    solve_options options = {.tolerance = 1e-5, .pool = pool, .cpu = cpu};
    solver_object object;
    assert_int_equal(solver_object_init(&object, name, &options, NULL), WEFT_OK);
    weft_status status = solver_object_solve(&object, &p->system, x, stats);
    solver_object_finish(&object);
    return status;
}

static void check_against_truth(const problem* p, double slack)
{
    real* truth = calloc(3 * (size_t)p->n, sizeof(real));
    vec3* x = MEM_NEW(p->n, vec3);
    truth_solve(p, truth);
    real most = 0;
    for (int k = 0; k < 3 * p->n; k++)
    {
        most = fabsl(truth[k]) > most ? fabsl(truth[k]) : most;
    }
    const char* names[] = {"cholesky", "cholmod"};
    for (int s = 0; s < 2; s++)
    {
        const linear_solver* found;
        for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
        {
            if (linear_solver_find(names[s], &found, NULL) != WEFT_OK)
            {
                continue;
            }
            weft_solve_stats stats;
            assert_int_equal(run_solver(names[s], p, NULL, (cpu_kind)cpu, x, &stats), WEFT_OK);
            assert_true(stats.converged && stats.iterations == 0 && isnan(stats.rate) && stats.bytes > 0.0);
            assert_true(stats.residual2 >= 0.0 && stats.residual2 < 1e-9);
            for (int k = 0; k < 3 * p->n; k++)
            {
                double error = (double)fabsl(truth[k] - (&x->x)[k]);
                if (!(error <= slack * (double)most))
                {
                    fail_msg("%s on %s: x[%d] is %g off, of %g", names[s], cpu_kind_name((cpu_kind)cpu), k, error,
                             (double)most);
                }
            }
        }
    }
    free(truth);
    mem_free(x);
}

static void test_random_systems(void** state)
{
    (void)state;
    for (int trial = 0; trial < 40; trial++)
    {
        int n = 1 + trial * 3 / 2;
        problem* p = random_problem(n, n * (1 + trial % 4), 0.1, (uint64_t)trial);
        for (int stride = 0; stride < 4; stride++)
        {
            if (stride > 0)
            {
                problem_constrain(p, stride, (uint64_t)(100 + trial));
            }
            check_against_truth(p, 1e-11);
        }
        problem_finish(p);
    }
}

// All couplings: one front of several panels.
static void test_dense_graph(void** state)
{
    (void)state;
    problem* p = random_problem(60, 6000, 0.1, 5);
    problem_constrain(p, 7, 9);
    check_against_truth(p, 1e-11);
    problem_finish(p);
}

static void test_ill_conditioned(void** state)
{
    (void)state;
    for (int trial = 0; trial < 6; trial++)
    {
        problem* p = random_problem(50, 150, 1e-6, (uint64_t)(200 + trial));
        problem_constrain(p, 50, 3);
        check_against_truth(p, 1e-8);
        problem_finish(p);
    }
}

// Three components of different kinds and vertices without any neighbour.
static void test_disconnected(void** state)
{
    (void)state;
    int edges[200], count = 0;
    for (int i = 0; i < 20; i++)
    {
        edges[2 * count] = i;
        edges[2 * count++ + 1] = (i + 1) % 20; // a ring
    }
    for (int i = 25; i < 40; i++)
    {
        edges[2 * count] = 25;
        edges[2 * count++ + 1] = i + 1; // a star
    }
    for (int i = 45; i < 60; i++)
    {
        edges[2 * count] = i;
        edges[2 * count++ + 1] = i + 1; // a path
    }
    problem* p = problem_create(70, edges, count, 0.05, 12);
    problem_constrain(p, 6, 1);
    check_against_truth(p, 1e-11);
    problem_finish(p);
}

static void test_no_couplings(void** state)
{
    (void)state;
    for (int n = 1; n < 100; n += 33)
    {
        problem* p = problem_create(n, NULL, 0, 2.0, 8);
        check_against_truth(p, 1e-14);
        problem_constrain(p, 1, 4);
        check_against_truth(p, 1e-14);
        problem_finish(p);
    }
}

// All vertices fixed: the answer is z to the bit.
static void test_all_fixed(void** state)
{
    (void)state;
    problem* p = grid_problem(8, 0.1);
    for (int i = 0; i < p->n; i++)
    {
        vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        p->filter[i] = filter_record_make(i, axes, 3);
    }
    p->system.filter_count = p->filter_count = p->n;
    vec3 x[65];
    weft_solve_stats stats;
    assert_int_equal(run_solver("cholesky", p, NULL, CPU_BASE, x, &stats), WEFT_OK);
    assert_memory_equal(x, p->z, 64 * sizeof(vec3));
    assert_true(stats.converged && stats.residual2 == 0.0);
    problem_finish(p);
}

// A larger grid, where tasks, several levels and wide fronts all occur: the residual in long double.
static void test_grid_residual(void** state)
{
    (void)state;
    problem* p = grid_problem(70, 1e-3);
    problem_constrain(p, 97, 2);
    vec3* x = MEM_NEW(p->n, vec3);
    workers* pool = make_pool(2);
    for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
    {
        weft_solve_stats stats;
        assert_int_equal(run_solver("cholesky", p, pool, (cpu_kind)cpu, x, &stats), WEFT_OK);
        real residual = 0, right = 0;
        for (int i = 0; i < p->n; i++)
        {
            bool constrained = i % 97 == 0; // only free vertices: their rows have S = I
            for (int a = 0; a < 3 && !constrained; a++)
            {
                real r = (&p->b[i].x)[a];
                right += r * r;
                for (int slot = p->pattern.row_start[i]; slot < p->pattern.row_start[i + 1]; slot++)
                {
                    const double* other = &x[p->pattern.column[slot]].x;
                    for (int b = 0; b < 3; b++)
                    {
                        r -= (real)p->values[9 * slot + 3 * a + b] * other[b];
                    }
                }
                residual += r * r;
            }
        }
        assert_true(sqrtl(residual / right) < 1e-11);
        assert_true(stats.residual2 < 1e-11);
    }
    workers_destroy(pool);
    mem_free(x);
    problem_finish(p);
}

static void test_same_bits_on_any_number_of_threads(void** state)
{
    (void)state;
    problem* p = grid_problem(80, 0.01);
    problem_constrain(p, 61, 2);
    size_t bytes = (size_t)p->n * sizeof(vec3);
    vec3 *first = MEM_NEW(p->n, vec3), *x = MEM_NEW(p->n, vec3);
    weft_solve_stats first_stats, stats;
    assert_int_equal(run_solver("cholesky", p, NULL, cpu_best(), first, &first_stats), WEFT_OK);
    const int counts[] = {1, 2, 3, 8};
    for (int c = 0; c < 4; c++)
    {
        workers* pool = make_pool(counts[c]);
        solve_options options = {.tolerance = 1e-5, .pool = pool, .cpu = cpu_best()};
        solver_object object;
        assert_int_equal(solver_object_init(&object, "cholesky", &options, NULL), WEFT_OK);
        for (int repeat = 0; repeat < 3; repeat++)
        {
            memset(x, 0xff, bytes);
            p->system.pattern_version = (uint64_t)(repeat / 2); // the last one analyses again
            assert_int_equal(solver_object_solve(&object, &p->system, x, &stats), WEFT_OK);
            assert_memory_equal(x, first, bytes);
            assert_true(stats.residual2 == first_stats.residual2);
        }
        solver_object_drop(&object);
        assert_int_equal(solver_object_solve(&object, &p->system, x, NULL), WEFT_OK);
        assert_memory_equal(x, first, bytes);
        solver_object_finish(&object);
        workers_destroy(pool);
    }
    mem_free(first);
    mem_free(x);
    problem_finish(p);
}

// New values, a new filter or a new pattern in a used object: the same as in a fresh one.
static void test_reuse(void** state)
{
    (void)state;
    problem *a = grid_problem(12, 0.1), *b = random_problem(144, 500, 0.1, 3);
    solve_options options = {.tolerance = 1e-5, .cpu = cpu_best()};
    solver_object object;
    assert_int_equal(solver_object_init(&object, "cholesky", &options, NULL), WEFT_OK);
    vec3 x[145], fresh[145]; // one more, for wide loads
    for (int step = 0; step < 6; step++)
    {
        problem* p = step == 3 ? b : a;
        for (int i = 0; i < p->n; i++)
        {
            p->values[9 * p->pattern.diagonal[i]] += 0.1 * random_unit((uint64_t)step, (uint64_t)i);
        }
        if (step >= 2)
        {
            problem_constrain(p, step, 5);
        }
        p->system.pattern_version = (uint64_t)step / 2 + (step == 3 ? 100 : 0);
        assert_int_equal(solver_object_solve(&object, &p->system, x, NULL), WEFT_OK);
        assert_int_equal(run_solver("cholesky", p, NULL, cpu_best(), fresh, NULL), WEFT_OK);
        assert_memory_equal(x, fresh, 144 * sizeof(vec3));
    }
    solver_object_finish(&object);
    problem_finish(a);
    problem_finish(b);
}

// A solver that only counts how often it is asked for what.
static struct
{
    int analyzed, factored, solved, finished;
} asked;

static weft_status fake_analyze(void* state, const solve_options* options, const linear_system* system)
{
    (void)state, (void)options, (void)system;
    asked.analyzed++;
    return system->pattern_version == 13 ? WEFT_UNSUPPORTED : WEFT_OK;
}

static weft_status fake_factor(void* state, const linear_system* system)
{
    (void)state, (void)system;
    asked.factored++;
    return WEFT_OK;
}

static weft_status fake_solve(void* state, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    (void)state, (void)system, (void)x, (void)stats;
    asked.solved++;
    return WEFT_OK;
}

static void fake_finish(void* state)
{
    (void)state;
    asked.finished++;
}

static void test_object_asks_only_for_what_it_needs(void** state)
{
    (void)state;
    const linear_solver fake = {.name = "fake",
                                .summary = "",
                                .state_size = 1,
                                .analyze = fake_analyze,
                                .factor = fake_factor,
                                .solve = fake_solve,
                                .finish = fake_finish};
    solver_object object = {.solver = &fake, .state = mem_alloc(1, 1)};
    const struct
    {
        uint64_t version;
        int analyzed, factored; // so far
        weft_status status;
    } steps[] = {{5, 1, 1, WEFT_OK},           {5, 1, 2, WEFT_OK},           {6, 2, 3, WEFT_OK},
                 {13, 3, 3, WEFT_UNSUPPORTED}, {13, 4, 3, WEFT_UNSUPPORTED}, {6, 5, 4, WEFT_OK}};
    memset(&asked, 0, sizeof(asked));
    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
    {
        linear_system system = {.pattern_version = steps[k].version};
        weft_solve_stats stats;
        assert_int_equal(solver_object_solve(&object, &system, NULL, &stats), steps[k].status);
        assert_int_equal(asked.analyzed, steps[k].analyzed);
        assert_int_equal(asked.factored, steps[k].factored);
        assert_int_equal(asked.solved, steps[k].factored);
        assert_string_equal(stats.solver, "fake");
        assert_true(stats.setup_s >= 0.0 && stats.solve_s >= 0.0);
    }
    solver_object_drop(&object);
    linear_system system = {.pattern_version = 6};
    assert_int_equal(solver_object_solve(&object, &system, NULL, NULL), WEFT_OK);
    assert_int_equal(asked.analyzed, 6);
    assert_int_equal(asked.finished, 1);
    solver_object_finish(&object);
    assert_int_equal(asked.finished, 2);
}

// ---- what must fail

static void check_status(const problem* p, weft_status expected)
{
    workers* pool = make_pool(2);
    vec3* x = MEM_NEW(p->n, vec3);
    const char* names[] = {"cholesky", "cholmod"};
    for (int s = 0; s < 2; s++)
    {
        const linear_solver* found;
        if (linear_solver_find(names[s], &found, NULL) == WEFT_OK)
        {
            weft_solve_stats stats;
            assert_int_equal(run_solver(names[s], p, pool, cpu_best(), x, &stats), expected);
            assert_false(stats.converged);
        }
    }
    mem_free(x);
    workers_destroy(pool);
}

static void test_indefinite(void** state)
{
    (void)state;
    for (int side = 1; side <= 41; side += 20)
    {
        for (int where = 0; where < 3; where++)
        {
            problem* p = grid_problem(side, 0.1);
            int i = where * (p->n - 1) / 2;
            p->values[9 * p->pattern.diagonal[i] + 4] = where == 1 ? 0.0 : -1.0;
            check_status(p, WEFT_NOT_DEFINITE);
            problem_finish(p);
        }
    }
}

// Positive diagonals throughout: the coupling alone makes the matrix indefinite.
static void test_indefinite_by_coupling(void** state)
{
    (void)state;
    problem* p = grid_problem(20, 0.1);
    for (int slot = p->pattern.row_start[210]; slot < p->pattern.row_start[211]; slot++)
    {
        int j = p->pattern.column[slot];
        if (j != 210)
        {
            p->values[9 * slot] -= 20.0;
            p->values[9 * bsr_pattern_find(&p->pattern, j, 210)] -= 20.0;
        }
    }
    check_status(p, WEFT_NOT_DEFINITE);
    problem_finish(p);
}

static void test_not_finite(void** state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int trial = 0; trial < 30; trial++)
    {
        problem* p = grid_problem(12, 0.1);
        int slot = (int)(random_bits(3, (uint64_t)trial) % (uint64_t)p->pattern.block_count);
        int row = 0;
        while (p->pattern.row_start[row + 1] <= slot)
        {
            row++;
        }
        int image = bsr_pattern_find(&p->pattern, p->pattern.column[slot], row);
        int k = trial % 9;
        p->values[9 * slot + k] = p->values[9 * image + k % 3 * 3 + k / 3] = bad[trial % 3];
        check_status(p, WEFT_NOT_FINITE);
        problem_finish(p);
    }
    problem* p = grid_problem(12, 0.1);
    p->b[77].y = NAN;
    check_status(p, WEFT_NOT_FINITE);
    problem_finish(p);
}

// A tolerance beyond double arithmetic is answered honestly, with a good solution all the same.
static void test_tolerance_out_of_reach(void** state)
{
    (void)state;
    problem* p = grid_problem(12, 0.1);
    solve_options options = {.tolerance = 1e-30, .cpu = cpu_best()};
    solver_object object;
    vec3 x[145];
    weft_solve_stats stats;
    assert_int_equal(solver_object_init(&object, "cholesky", &options, NULL), WEFT_OK);
    assert_int_equal(solver_object_solve(&object, &p->system, x, &stats), WEFT_NOT_CONVERGED);
    assert_false(stats.converged);
    assert_true(stats.residual2 < 1e-12);
    solver_object_finish(&object);
    options.preconditioner = "block";
    assert_int_equal(solver_object_init(&object, "cholesky", &options, NULL), WEFT_OK);
    assert_int_equal(solver_object_solve(&object, &p->system, x, &stats), WEFT_UNSUPPORTED);
    solver_object_finish(&object);
    problem_finish(p);
}

// ---- memory

static void test_no_allocation_after_analysis(void** state)
{
    (void)state;
    problem* p = grid_problem(30, 0.1);
    problem_constrain(p, 11, 5);
    workers* pool = make_pool(2);
    vec3* x = MEM_NEW(p->n, vec3);
    solve_options options = {.tolerance = 1e-5, .pool = pool, .cpu = cpu_best()};
    solver_object object;
    assert_int_equal(solver_object_init(&object, "cholesky", &options, NULL), WEFT_OK);
    assert_int_equal(solver_object_solve(&object, &p->system, x, NULL), WEFT_OK); // the pool's sums, too, are made here
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    for (int repeat = 0; repeat < 3; repeat++)
    {
        assert_int_equal(solver_object_solve(&object, &p->system, x, NULL), WEFT_OK);
    }
    assert_int_equal(ledger.made, 0);
    p->system.pattern_version++; // the same pattern under another number is recognised
    assert_int_equal(solver_object_solve(&object, &p->system, x, NULL), WEFT_OK);
    assert_int_equal(ledger.made, 0);
    test_ledger_close();
    solver_object_finish(&object);
    workers_destroy(pool);
    mem_free(x);
    problem_finish(p);
}

static void test_every_allocation_may_fail(void** state)
{
    (void)state;
    problem* p = grid_problem(12, 0.1);
    vec3 x[145];
    weft_status status = WEFT_NO_MEMORY;
    for (int fail_at = 1; status != WEFT_OK; fail_at++)
    {
        assert_true(fail_at < 1000);
        test_ledger ledger = {.fail_at = fail_at};
        test_ledger_open(&ledger);
        solve_options options = {.tolerance = 1e-5, .cpu = CPU_BASE};
        solver_object object;
        status = solver_object_init(&object, "cholesky", &options, NULL);
        if (status == WEFT_OK)
        {
            status = solver_object_solve(&object, &p->system, x, NULL);
        }
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
        solver_object_finish(&object);
        test_ledger_close();
        assert_int_equal(ledger.live, 0);
    }
    problem_finish(p);
}

// ---- the public way in

static void test_public_solver(void** state)
{
    (void)state;
    problem* p = grid_problem(9, 0.1);
    problem_constrain(p, 5, 6);
    double S[9 * 81];
    for (int i = 0; i < p->n; i++)
    {
        mat3 identity = m3_diagonal(1.0);
        memcpy(S + 9 * i, identity.m, sizeof(identity.m));
    }
    for (int k = 0; k < p->filter_count; k++)
    {
        memcpy(S + 9 * p->filter[k].vertex, p->filter[k].S, 9 * sizeof(double));
    }
    weft_system_def def = {.vertex_count = p->n,
                           .row_start = p->pattern.row_start,
                           .column = p->pattern.column,
                           .values = p->values,
                           .b = p->b,
                           .z = p->z,
                           .filter = S};
    weft_system *system, *again;
    assert_int_equal(weft_system_create(&def, &system, NULL), WEFT_OK);
    assert_int_equal(weft_system_create(&def, &again, NULL), WEFT_OK);
    assert_int_equal(weft_system_vertex_count(system), 81);
    weft_solver_def solver_def = weft_solver_def_default();
    solver_def.solver = "cholesky";
    solver_def.worker_count = 2;
    weft_solver* solver;
    assert_int_equal(weft_solver_create(&solver_def, &solver, NULL), WEFT_OK);
    weft_vec3 x[81], y[81];
    weft_solve_stats stats;
    assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
    assert_string_equal(stats.solver, "cholesky");
    real truth[243];
    truth_solve(p, truth);
    for (int k = 0; k < 243; k++)
    {
        assert_true(fabsl(truth[k] - (&x->x)[k]) < 1e-10);
    }

    // Another object with the same pattern is not analysed again: nothing is allocated.
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    assert_int_equal(weft_solver_solve(solver, again, y, &stats), WEFT_OK);
    assert_int_equal(ledger.made, 0);
    test_ledger_close();
    assert_memory_equal(x, y, sizeof(x));
    weft_solver_drop(solver);
    assert_int_equal(weft_solver_solve(solver, again, y, &stats), WEFT_OK);
    assert_memory_equal(x, y, sizeof(x));

    // A matrix that fails leaves the start behind.
    ((double*)again->values)[9 * again->pattern.diagonal[41]] = -5.0;
    assert_int_equal(weft_solver_solve(solver, again, y, &stats), WEFT_NOT_DEFINITE);
    for (int i = 0; i < 81; i++)
    {
        assert_true(v3_is_finite(y[i]));
    }
    weft_solver_destroy(solver);
    weft_system_destroy(system);
    weft_system_destroy(again);
    problem_finish(p);
}

static void test_public_mistakes(void** state)
{
    (void)state;
    weft_error error;
    weft_solver* solver;
    weft_solver_def def = weft_solver_def_default();
    def.solver = "choleski";
    assert_int_equal(weft_solver_create(&def, &solver, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "cholesky"));
    def = weft_solver_def_default();
    def.kernels = "mmx";
    assert_int_equal(weft_solver_create(&def, &solver, &error), WEFT_BAD_INPUT);
    def = weft_solver_def_default();
    def.tolerance = NAN;
    assert_int_equal(weft_solver_create(&def, &solver, &error), WEFT_BAD_INPUT);
    weft_solver_destroy(NULL);
    weft_system_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_systems),
        cmocka_unit_test(test_dense_graph),
        cmocka_unit_test(test_ill_conditioned),
        cmocka_unit_test(test_disconnected),
        cmocka_unit_test(test_no_couplings),
        cmocka_unit_test(test_all_fixed),
        cmocka_unit_test(test_grid_residual),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_object_asks_only_for_what_it_needs),
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_indefinite_by_coupling),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_tolerance_out_of_reach),
        cmocka_unit_test(test_no_allocation_after_analysis),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_public_solver),
        cmocka_unit_test(test_public_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
