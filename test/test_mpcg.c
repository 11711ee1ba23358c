// Constrained solves against a direct solve (common_problem.c) that shares nothing with them. Errors are measured in
// the energy norm, relative to the part that was solved for. Then the manners of the iteration: stopping rule, first
// guess, exact constraints, statuses, figures.
#define _GNU_SOURCE
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common_problem.h"
#include "solve/system.h"
#include "weft/weft.h"

static const double agreement = 1e-9;
static const double tight = 1e-13;

// ---- the solver under test

typedef struct attempt
{
    const char *solver, *preconditioner;
    double tolerance;
    int max_iterations;
} attempt;

static weft_status attempt_solve(const attempt* a, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    solve_options options = {.preconditioner = a->preconditioner,
                             .tolerance = a->tolerance,
                             .max_iterations = a->max_iterations,
                             .cpu = cpu_best()};
    solver_object object;
    assert_int_equal(solver_object_init(&object, a->solver, &options, NULL), WEFT_OK);
    weft_status status = solver_object_solve(&object, system, x, stats);
    solver_object_finish(&object);
    return status;
}

// Given directions, as they were given, must see exactly what z prescribes.
static void check_constraints(const problem* p, const vec3* x)
{
    for (int i = 0; i < p->n; i++)
    {
        double scale = v3_length(p->z[i]) + v3_length(x[i]);
        for (int k = 0; k < p->given_count[i]; k++)
        {
            vec3 d = p->given[3 * i + k];
            assert_true(fabs(v3_dot(d, x[i]) - v3_dot(d, p->z[i])) <= 1e-13 * scale * v3_length(d));
        }
        if (p->given_count[i] == 3)
        {
            assert_memory_equal(&x[i], &p->z[i], sizeof(vec3));
        }
    }
}

static double largest_error;

// The residual that a direct solve leaves grows with the condition: it may miss a.tolerance, but not direct_tolerance.
static void check_attempt(const problem* p, const attempt* a, double direct_tolerance, const vec3* reference,
                          const vec3* held)
{
    linear_system system = problem_system(p);
    vec3* x = MEM_NEW(p->n, vec3);
    weft_solve_stats stats;
    double tolerance = a->tolerance;
    weft_status status = attempt_solve(a, &system, x, &stats);
    if (status == WEFT_NOT_CONVERGED && stats.iterations == 0)
    {
        tolerance = direct_tolerance;
        status = attempt_solve(&(attempt){a->solver, a->preconditioner, tolerance, 0}, &system, x, &stats);
    }
    double error = problem_energy_norm(p, x, reference) / problem_energy_norm(p, reference, held);
    largest_error = fmax(largest_error, error);
    if (!(error <= agreement) || status != WEFT_OK)
    {
        fail_msg("%s %s: status %d, error %g, %d iterations, residual %g", a->solver,
                 a->preconditioner ? a->preconditioner : "", status, error, stats.iterations, stats.residual);
    }
    assert_true(stats.converged);
    assert_true(stats.residual <= tolerance);
    check_constraints(p, x);
    mem_free(x);
}

static const char* const preconditioners[] = {"none", "diagonal", "block", "constrained", "ssor", "ic"};

// MPCG with every preconditioner, and every solver of the build with its own.
static void check_all(const problem* p, double direct_tolerance)
{
    vec3* reference = MEM_NEW(p->n, vec3);
    vec3* held = MEM_NEW(p->n, vec3);
    problem_reference(p, reference, held);
    for (int k = 0; k < 6; k++)
    {
        check_attempt(p, &(attempt){"mpcg", preconditioners[k], tight, 0}, tight, reference, held);
    }
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count; k++)
    {
        check_attempt(p, &(attempt){solvers[k]->name, NULL, tight, 0}, direct_tolerance, reference, held);
    }
    mem_free(reference);
    mem_free(held);
}

// ---- agreement

static void test_random_systems(void** unused)
{
    (void)unused;
    uint64_t random = 0;
    for (int turn = 0; turn < 40; turn++)
    {
        double condition = pow(10.0, 2.0 * (turn % 4));
        problem p;
        problem_random(&p, 5 + turn % 12, condition, &random);
        check_all(&p, fmax(1e-12, 1e-15 * condition));
        problem_finish(&p);
    }
    print_message("          random systems: largest error %.2g in the energy norm\n", largest_error);
}

// The construction itself: the spectrum is what it says.
static void test_spectrum(void** unused)
{
    (void)unused;
    enum
    {
        N = 8,
        SIZE = 3 * N
    };
    uint64_t random = 77;
    problem p;
    problem_random(&p, N, 1e6, &random);
    double A[SIZE * SIZE], values[SIZE], low = INFINITY, high = 0.0;
    for (int i = 0; i < SIZE * SIZE; i++)
    {
        int row = i / SIZE, column = i % SIZE;
        A[i] = p.values[9 * bsr_pattern_find(&p.pattern, row / 3, column / 3) + 3 * (row % 3) + column % 3];
    }
    test_eigenvalues(A, SIZE, values);
    for (int i = 0; i < SIZE; i++)
    {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    assert_true(fabs(high - 1.0) < 1e-12);
    assert_true(fabs(low / 1e-6 - 1.0) < 1e-6);
    problem_finish(&p);
}

// More vertices than a chunk of the loops holds, constrained all along.
static void test_long_chains(void** unused)
{
    (void)unused;
    uint64_t random = 5000000;
    const int sizes[] = {511, 512, 513, 1700};
    largest_error = 0.0;
    for (int k = 0; k < 4; k++)
    {
        problem p;
        problem_chain(&p, sizes[k], k == 1 ? 1e-5 : 1e-2, &random);
        check_all(&p, 1e-10);
        problem_finish(&p);
    }
    print_message("          chains: largest error %.2g in the energy norm\n", largest_error);
}

// ---- real steps

enum
{
    SIDE = 14 // vertices
};

// A sheet with a moving pinned corner, a corner on a moving line, one on a moving plane, and one corner with two planes
// that are not orthogonal to each other.
static weft_sim* make_sheet(const char* bending)
{
    vec3 positions[SIDE * SIDE];
    int faces[6 * (SIDE - 1) * (SIDE - 1)], at = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
    {
        positions[i] = v3((double)(i % SIDE) / (SIDE - 1), 0.0, (double)(i / SIDE) / (SIDE - 1));
    }
    for (int j = 0; j + 1 < SIDE; j++)
    {
        for (int i = 0; i + 1 < SIDE; i++)
        {
            int v = j * SIDE + i;
            const int cell[6] = {v, v + 1, v + SIDE + 1, v, v + SIDE + 1, v + SIDE};
            memcpy(faces + at, cell, sizeof(cell));
            at += 6;
        }
    }
    const int corners[] = {0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1};
    const weft_pin_key keys[] = {{0.0, {0, 0, 0}, 0.0}, {0.02, {0.02, 0.01, -0.01}, 0.3}, {0.05, {0, 0.02, 0}, 0.1}};
    weft_pin pins[5];
    for (int k = 0; k < 5; k++)
    {
        pins[k] = (weft_pin){.vertices = &corners[k < 4 ? k : 3],
                             .vertex_count = 1,
                             .direction = {1.0, 2.0 - k, 0.5},
                             .keys = keys,
                             .key_count = 3,
                             .axis = {0, 1, 0.2},
                             .release = INFINITY};
    }
    pins[0].fix = WEFT_FIX_POINT;
    pins[1].fix = WEFT_FIX_LINE;
    pins[2].fix = pins[3].fix = pins[4].fix = WEFT_FIX_PLANE;
    weft_sim_def def = weft_sim_def_default();
    def.tolerance = 1e-8;
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = positions;
    cloth.vertex_count = SIDE * SIDE;
    cloth.face_vertices = faces;
    cloth.face_count = at / 3;
    cloth.bending = bending;
    cloth.pins = pins;
    cloth.pin_count = 5;
    weft_sim* sim;
    weft_cloth_id id;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, &id, NULL), WEFT_OK);
    return sim;
}

// The arrays of a weft_system with a free basis beside them.
static void problem_from_system(problem* p, const weft_system* system)
{
    int n = system->pattern.row_count, pair_count = 0;
    int* pairs = calloc(2 * (size_t)system->pattern.block_count, sizeof(int));
    for (int i = 0; i < n; i++)
    {
        for (int s = system->pattern.row_start[i]; s < system->pattern.row_start[i + 1]; s++)
        {
            pairs[2 * pair_count] = i;
            pairs[2 * pair_count++ + 1] = system->pattern.column[s];
        }
    }
    problem_alloc(p, n, pairs, pair_count);
    free(pairs);
    assert_int_equal(p->pattern.block_count, system->pattern.block_count);
    memcpy(p->values, system->values, 9 * (size_t)p->pattern.block_count * sizeof(double));
    memcpy(p->b, system->b, (size_t)n * sizeof(vec3));
    memcpy(p->z, system->z, (size_t)n * sizeof(vec3));
    p->filter_count = system->filter_count;
    memcpy(p->filter, system->filter, (size_t)p->filter_count * sizeof(filter_record));
    for (int k = 0; k < p->filter_count; k++)
    {
        const filter_record* record = &p->filter[k];
        memcpy(p->given + 3 * record->vertex, record->direction, sizeof(record->direction));
        p->given_count[record->vertex] = record->direction_count;
    }
    for (int i = 0; i < n; i++)
    {
        p->basis_count[i] = problem_free_basis(p->given + 3 * i, p->given_count[i], p->basis + 3 * i);
    }
}

static void test_real_steps(void** unused)
{
    (void)unused;
    largest_error = 0.0;
    for (int turn = 0; turn < 2; turn++)
    {
        weft_sim* sim = make_sheet(turn == 0 ? "curvature" : "hinge");
        for (int step = 0; step < 12; step++)
        {
            weft_system* system;
            assert_int_equal(weft_sim_system(sim, &system, NULL), WEFT_OK);
            problem p;
            problem_from_system(&p, system);
            int counts[4] = {0};
            double prescribed = 0.0;
            for (int i = 0; i < p.n; i++)
            {
                counts[p.given_count[i]]++;
                prescribed += v3_length(problem_prescribed(&p, i));
            }
            assert_true(counts[1] == 1 && counts[2] == 2 && counts[3] == 1 && prescribed > 0.0);
            check_all(&p, 1e-10);
            problem_finish(&p);
            weft_system_destroy(system);
            assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        }
        weft_sim_destroy(sim);
    }
    print_message("          real steps: largest error %.2g in the energy norm\n", largest_error);
}

// ---- stopping rule and figures

typedef struct residual_norms
{
    double preconditioned, two;
} residual_norms;

// Norms of S (b - A x): with the inverse of the preconditioner, and the 2-norm.
static residual_norms residual_of(const problem* p, const char* preconditioner, const vec3* x)
{
    vec3* Ax = malloc((size_t)p->n * sizeof(vec3));
    problem_multiply(p, x, Ax);
    double sum = 0.0, sum2 = 0.0;
    for (int i = 0; i < p->n; i++)
    {
        vec3 full = v3_sub(p->b[i], Ax[i]), r = v3(0, 0, 0), h;
        for (int k = 0; k < p->basis_count[i]; k++)
        {
            r = v3_madd(r, v3_dot(p->basis[3 * i + k], full), p->basis[3 * i + k]);
        }
        // h = P^-1 r by Cramer's rule.
        mat3 P = m3_diagonal(1.0);
        const double* a = p->values + 9 * (size_t)p->pattern.diagonal[i];
        for (int k = 0; k < 9 && strcmp(preconditioner, "none") != 0; k++)
        {
            P.m[k] = strcmp(preconditioner, "block") == 0 || k % 4 == 0 ? a[k] : 0.0;
        }
        vec3 c0 = v3(P.m[0], P.m[3], P.m[6]), c1 = v3(P.m[1], P.m[4], P.m[7]), c2 = v3(P.m[2], P.m[5], P.m[8]);
        double determinant = v3_dot(c0, v3_cross(c1, c2));
        h = v3(v3_dot(r, v3_cross(c1, c2)) / determinant, v3_dot(c0, v3_cross(r, c2)) / determinant,
               v3_dot(c0, v3_cross(c1, r)) / determinant);
        sum += v3_dot(r, h);
        sum2 += v3_dot(r, r);
    }
    free(Ax);
    return (residual_norms){sqrt(sum), sqrt(sum2)};
}

// Relative, but for what a residual of 1 leaves as rounding.
static void assert_close(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b) + 1e-14))
    {
        fail_msg("%.17g is not %.17g to %g", a, b, relative);
    }
}

// The first iterate whose residual falls to tolerance times that of (I - S) z is the answer, from any first guess.
static void test_stopping_rule(void** unused)
{
    (void)unused;
    uint64_t random = 900000;
    for (int turn = 0; turn < 30; turn++)
    {
        problem p;
        problem_random(&p, 6 + turn % 9, 1e4, &random);
        linear_system system = problem_system(&p);
        const char* preconditioner = preconditioners[turn % 3];
        const double tolerances[] = {1e-1, 1e-3, 1e-5, 1e-8};
        vec3* guess = MEM_NEW(p.n, vec3);
        vec3* held = MEM_NEW(p.n, vec3);
        vec3* x = MEM_NEW(p.n, vec3);
        for (int i = 0; i < p.n; i++)
        {
            guess[i] = turn % 2 ? test_random_vec(&random, 3.0) : v3(0, 0, 0);
            held[i] = problem_prescribed(&p, i);
        }
        residual_norms reference = residual_of(&p, preconditioner, held);
        for (int k = 0; k < 4; k++)
        {
            attempt a = {"mpcg", preconditioner, tolerances[k], 0};
            weft_solve_stats stats;
            memcpy(x, guess, (size_t)p.n * sizeof(vec3));
            assert_int_equal(attempt_solve(&a, &system, x, &stats), WEFT_OK);
            residual_norms end = residual_of(&p, preconditioner, x);
            assert_true(end.preconditioned <= tolerances[k] * reference.preconditioned * (1 + 1e-6));
            assert_close(stats.residual, end.preconditioned / reference.preconditioned, 1e-4);
            assert_close(stats.residual2, end.two / reference.two, 1e-4);

            // One iteration earlier it was not yet there; that iterate comes back with NOT_CONVERGED.
            int last = stats.iterations;
            assert_true(last > 1);
            a.max_iterations = last - 1;
            memcpy(x, guess, (size_t)p.n * sizeof(vec3));
            assert_int_equal(attempt_solve(&a, &system, x, &stats), WEFT_NOT_CONVERGED);
            assert_int_equal(stats.iterations, last - 1);
            assert_false(stats.converged);
            end = residual_of(&p, preconditioner, x);
            assert_true(end.preconditioned > tolerances[k] * reference.preconditioned * (1 - 1e-6));
            assert_close(stats.residual, end.preconditioned / reference.preconditioned, 1e-4);
        }
        mem_free(guess);
        mem_free(held);
        mem_free(x);
        problem_finish(&p);
    }
}

// The rate is the geometric mean of |r_i| / |r_(i-1)|, each taken here from solves that stop after i iterations.
static void test_rate(void** unused)
{
    (void)unused;
    uint64_t random = 1200000;
    for (int turn = 0; turn < 6; turn++)
    {
        problem p;
        problem_random(&p, 8, 1e3, &random);
        linear_system system = problem_system(&p);
        const char* preconditioner = preconditioners[turn % 3];
        vec3* x = MEM_NEW(p.n, vec3);
        weft_solve_stats stats;
        assert_int_equal(attempt_solve(&(attempt){"mpcg", preconditioner, 1e-6, 0}, &system, x, &stats), WEFT_OK);
        int iterations = stats.iterations;
        double rate = stats.rate, product = 1.0, last = 1.0;
        for (int i = 1; i <= iterations; i++)
        {
            memset(x, 0, (size_t)p.n * sizeof(vec3));
            weft_solve_stats at;
            attempt_solve(&(attempt){"mpcg", preconditioner, 1e-6, i}, &system, x, &at);
            assert_int_equal(at.iterations, i);
            product *= at.residual / last;
            last = at.residual;
        }
        assert_close(rate, pow(product, 1.0 / iterations), 1e-10);
        mem_free(x);
        problem_finish(&p);
    }
}

// ---- first guess

static void test_first_guess(void** unused)
{
    (void)unused;
    uint64_t random = 1500000;
    for (int turn = 0; turn < 12; turn++)
    {
        problem p;
        problem_random(&p, 10, 1e4, &random);
        linear_system system = problem_system(&p);
        const char* preconditioner = preconditioners[turn % 3];
        vec3* x = MEM_NEW(p.n, vec3);
        vec3* reference = MEM_NEW(p.n, vec3);
        vec3* held = MEM_NEW(p.n, vec3);
        weft_solve_stats cold, warm;
        problem_reference(&p, reference, held);

        // With a tolerance that any start meets, x is S x0 + (I - S) z.
        vec3* guess = MEM_NEW(p.n, vec3);
        for (int i = 0; i < p.n; i++)
        {
            guess[i] = x[i] = test_random_vec(&random, 1.0);
        }
        assert_int_equal(attempt_solve(&(attempt){"mpcg", preconditioner, 1e9, 0}, &system, x, &cold), WEFT_OK);
        assert_int_equal(cold.iterations, 0);
        assert_true(isnan(cold.rate));
        for (int i = 0; i < p.n; i++)
        {
            vec3 expected = held[i];
            for (int k = 0; k < p.basis_count[i]; k++)
            {
                expected = v3_madd(expected, v3_dot(p.basis[3 * i + k], guess[i]), p.basis[3 * i + k]);
            }
            assert_true(v3_length(v3_sub(x[i], expected)) <= 1e-14);
        }
        check_constraints(&p, x);

        // From the solution there is nothing to do, whatever the guess says in constrained directions.
        for (int i = 0; i < p.n; i++)
        {
            vec3 astray = test_random_vec(&random, 9.0);
            for (int k = 0; k < p.basis_count[i]; k++)
            {
                astray = v3_madd(astray, -v3_dot(p.basis[3 * i + k], astray), p.basis[3 * i + k]);
            }
            x[i] = v3_add(reference[i], astray);
        }
        assert_int_equal(attempt_solve(&(attempt){"mpcg", preconditioner, 1e-8, 0}, &system, x, &warm), WEFT_OK);
        assert_int_equal(warm.iterations, 0);
        assert_true(problem_energy_norm(&p, x, reference) <= 1e-8 * problem_energy_norm(&p, reference, held));
        check_constraints(&p, x);

        mem_free(x);
        mem_free(guess);
        mem_free(reference);
        mem_free(held);
        problem_finish(&p);
    }
}

// From near the solution there is less to do.
static void test_near_guess(void** unused)
{
    (void)unused;
    uint64_t random = 1600000;
    problem p;
    problem_chain(&p, 300, 1e-3, &random);
    linear_system system = problem_system(&p);
    vec3* x = MEM_NEW(p.n, vec3);
    vec3* reference = MEM_NEW(p.n, vec3);
    vec3* held = MEM_NEW(p.n, vec3);
    problem_reference(&p, reference, held);
    for (int k = 0; k < 3; k++)
    {
        weft_solve_stats cold, warm;
        attempt a = {"mpcg", preconditioners[k], 1e-8, 0};
        memset(x, 0, (size_t)p.n * sizeof(vec3));
        assert_int_equal(attempt_solve(&a, &system, x, &cold), WEFT_OK);
        for (int i = 0; i < p.n; i++)
        {
            x[i] = v3_add(reference[i], test_random_vec(&random, 1e-5));
        }
        assert_int_equal(attempt_solve(&a, &system, x, &warm), WEFT_OK);
        assert_true(warm.iterations > 0 && warm.iterations < 0.7 * cold.iterations);
    }
    mem_free(x);
    mem_free(reference);
    mem_free(held);
    problem_finish(&p);
}

// ---- nothing to solve

// b = A (I - S) z in small whole numbers, so that bhat is exactly zero: the answer is (I - S) z at once.
static void test_nothing_to_solve(void** unused)
{
    (void)unused;
    const int pairs[] = {0, 1, 1, 2, 2, 3};
    problem p;
    problem_alloc(&p, 4, pairs, 3);
    for (int i = 0; i < 4; i++)
    {
        for (int s = p.pattern.row_start[i]; s < p.pattern.row_start[i + 1]; s++)
        {
            for (int k = 0; k < 3; k++)
            {
                p.values[9 * s + 4 * k] = p.pattern.column[s] == i ? 4.0 : -1.0;
            }
        }
        p.z[i] = v3(1 + i, 2 - i, 3 * i);
    }
    const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    p.filter[0] = filter_record_make(1, axes, 3);
    p.filter[1] = filter_record_make(2, axes + 1, 1);
    p.filter[2] = filter_record_make(3, axes + 1, 2);
    p.filter_count = 3;
    const vec3 held[4] = {{0, 0, 0}, p.z[1], {0, p.z[2].y, 0}, {0, p.z[3].y, p.z[3].z}};
    problem_multiply(&p, held, p.b);
    linear_system system = problem_system(&p);
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count; k++)
    {
        for (int guess = 0; guess < 2; guess++)
        {
            vec3* x = MEM_NEW(4, vec3);
            for (int i = 0; i < 4 && guess; i++)
            {
                x[i] = v3(0.3, -0.7, 1.1); // a guess may be wrong
            }
            weft_solve_stats stats;
            assert_int_equal(attempt_solve(&(attempt){solvers[k]->name, NULL, 1e-5, 0}, &system, x, &stats), WEFT_OK);
            assert_int_equal(stats.iterations, 0);
            assert_true(stats.converged && isnan(stats.rate) && stats.residual == 0.0);
            for (int i = 0; i < 4; i++)
            {
                assert_true(v3_length(v3_sub(x[i], held[i])) == 0.0);
            }
            mem_free(x);
        }
    }
    problem_finish(&p);
}

// Every vertex held in all directions.
static void test_everything_prescribed(void** unused)
{
    (void)unused;
    uint64_t random = 1800000;
    problem p;
    problem_random(&p, 7, 1e3, &random);
    const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < p.n; i++)
    {
        p.filter[i] = filter_record_make(i, axes, 3);
    }
    p.filter_count = p.n;
    linear_system system = problem_system(&p);
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count; k++)
    {
        vec3* x = MEM_NEW(p.n, vec3);
        x[0] = v3(1, 2, 3);
        weft_solve_stats stats;
        assert_int_equal(attempt_solve(&(attempt){solvers[k]->name, NULL, 1e-5, 0}, &system, x, &stats), WEFT_OK);
        assert_int_equal(stats.iterations, 0);
        assert_memory_equal(x, p.z, (size_t)p.n * sizeof(vec3));
        mem_free(x);
    }
    problem_finish(&p);
}

// ---- what cannot be solved

// Diagonal blocks are fine, but coupling is stronger than they are.
static void test_indefinite(void** unused)
{
    (void)unused;
    const int pairs[] = {0, 1, 1, 2};
    problem p;
    problem_alloc(&p, 3, pairs, 2);
    for (int i = 0; i < 3; i++)
    {
        for (int s = p.pattern.row_start[i]; s < p.pattern.row_start[i + 1]; s++)
        {
            for (int k = 0; k < 3; k++)
            {
                p.values[9 * s + 4 * k] = p.pattern.column[s] == i ? 1.0 : 2.0;
            }
        }
        p.b[i] = v3(1 - i, 0.5, i * i);
    }
    linear_system system = problem_system(&p);
    for (int k = 0; k < 3; k++)
    {
        vec3* x = MEM_NEW(3, vec3);
        weft_solve_stats stats;
        weft_status status = attempt_solve(&(attempt){"mpcg", preconditioners[k], 1e-10, 0}, &system, x, &stats);
        assert_int_equal(status, WEFT_NOT_DEFINITE);
        assert_false(stats.converged);
        assert_true(v3_is_finite(x[0]) && v3_is_finite(x[1]) && v3_is_finite(x[2]));
        mem_free(x);
    }
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count; k++)
    {
        vec3* x = MEM_NEW(3, vec3);
        weft_solve_stats stats;
        attempt a = {solvers[k]->name, NULL, 1e-10, 0};
        assert_int_equal(attempt_solve(&a, &system, x, &stats), WEFT_NOT_DEFINITE);
        mem_free(x);
    }
    // A diagonal block that is not positive.
    p.values[9 * p.pattern.diagonal[1]] = -1.0;
    for (int k = 1; k < 3; k++)
    {
        vec3* x = MEM_NEW(3, vec3);
        weft_solve_stats stats;
        attempt a = {"mpcg", preconditioners[k], 1e-10, 0};
        assert_int_equal(attempt_solve(&a, &system, x, &stats), WEFT_NOT_DEFINITE);
        mem_free(x);
    }
    problem_finish(&p);
}

static void test_not_finite(void** unused)
{
    (void)unused;
    uint64_t random = 2100000;
    enum
    {
        IN_MATRIX,
        IN_B,
        IN_Z,
        IN_GUESS,
        PLACES
    };
    for (int place = 0; place < PLACES; place++)
    {
        for (int turn = 0; turn < 6; turn++)
        {
            double bad = turn % 2 ? INFINITY : NAN;
            problem p;
            problem_random(&p, 6, 1e2, &random);
            vec3* x = MEM_NEW(p.n, vec3);
            int slot = bsr_pattern_find(&p.pattern, 0, 4), mirror = bsr_pattern_find(&p.pattern, 4, 0);
            p.values[9 * slot + 1] = place == IN_MATRIX ? bad : p.values[9 * slot + 1];
            p.values[9 * mirror + 3] = place == IN_MATRIX ? bad : p.values[9 * mirror + 3];
            p.b[0].y = place == IN_B ? bad : p.b[0].y;
            p.z[3].x = place == IN_Z ? bad : p.z[3].x; // vertex 3 is held in all directions
            x[0].z = place == IN_GUESS ? bad : 0.0;
            linear_system system = problem_system(&p);
            weft_solve_stats stats;
            attempt a = {"mpcg", preconditioners[turn / 2], 1e-8, 0};
            weft_status status = attempt_solve(&a, &system, x, &stats);
            if (status != WEFT_NOT_FINITE)
            {
                fail_msg("place %d, preconditioner %s: status %d", place, a.preconditioner, status);
            }
            assert_false(stats.converged);
            mem_free(x);
            problem_finish(&p);
        }
    }
}

// More iterations, less error, to the very limit that was set.
static void test_best_iterate(void** unused)
{
    (void)unused;
    uint64_t random = 2400000;
    problem p;
    problem_random(&p, 12, 1e4, &random);
    linear_system system = problem_system(&p);
    vec3* x = MEM_NEW(p.n, vec3);
    vec3* reference = MEM_NEW(p.n, vec3);
    vec3* held = MEM_NEW(p.n, vec3);
    problem_reference(&p, reference, held);
    double last = problem_energy_norm(&p, held, reference);
    for (int limit = 1; limit <= 12; limit++)
    {
        memset(x, 0, (size_t)p.n * sizeof(vec3));
        weft_solve_stats stats;
        assert_int_equal(attempt_solve(&(attempt){"mpcg", "block", 1e-12, limit}, &system, x, &stats),
                         WEFT_NOT_CONVERGED);
        assert_int_equal(stats.iterations, limit);
        double error = problem_energy_norm(&p, x, reference);
        assert_true(error < last);
        last = error;
        check_constraints(&p, x);
    }
    mem_free(x);
    mem_free(reference);
    mem_free(held);
    problem_finish(&p);
}

static void test_preconditioner_names(void** unused)
{
    (void)unused;
    uint64_t random = 2700000;
    problem p;
    problem_random(&p, 5, 10, &random);
    linear_system system = problem_system(&p);
    vec3* x = MEM_NEW(p.n, vec3);
    weft_solve_stats stats;
    solver_object object;
    solve_options unknown = {.preconditioner = "blocks", .tolerance = 1e-5, .cpu = cpu_best()};
    weft_error error;
    assert_int_equal(solver_object_init(&object, "mpcg", &unknown, &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "did you mean `block`?"));
    solver_object_finish(&object);
    unknown = (solve_options){.variant = "original", .tolerance = 1e-5, .cpu = cpu_best()};
    assert_int_equal(solver_object_init(&object, "diag-ppcg", &unknown, &error), WEFT_UNSUPPORTED);
    solver_object_finish(&object);
    assert_int_equal(attempt_solve(&(attempt){"diag-pcg", "none", 1e-5, 0}, &system, x, &stats), WEFT_UNSUPPORTED);
    mem_free(x);
    problem_finish(&p);
}

// ---- strangers

// The public solver may neither read nor write outside the arrays it was given: x ends where the page does.
static void test_foreign_array(void** unused)
{
    (void)unused;
    uint64_t random = 3000000;
    problem p;
    problem_random(&p, 9, 1e3, &random);
    double* S = calloc(9 * (size_t)p.n, sizeof(double));
    for (int i = 0; i < p.n; i++)
    {
        mat3 identity = m3_diagonal(1.0);
        memcpy(S + 9 * i, identity.m, sizeof(identity.m));
    }
    for (int k = 0; k < p.filter_count; k++)
    {
        memcpy(S + 9 * p.filter[k].vertex, p.filter[k].S, sizeof(p.filter[k].S));
    }
    weft_system_def def = {.vertex_count = p.n,
                           .row_start = p.pattern.row_start,
                           .column = p.pattern.column,
                           .values = p.values,
                           .b = p.b,
                           .z = p.z,
                           .filter = S};
    weft_system* system;
    assert_int_equal(weft_system_create(&def, &system, NULL), WEFT_OK);
    vec3* reference = MEM_NEW(p.n, vec3);
    vec3* held = MEM_NEW(p.n, vec3);
    problem_reference(&p, reference, held);

    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    vec3* x = (vec3*)(memory + page) - p.n;
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    for (int k = 0; k < count * ((int)cpu_best() + 1); k++)
    {
        weft_solver_def options = weft_solver_def_default();
        options.solver = solvers[k % count]->name;
        options.kernels = cpu_kind_name((cpu_kind)(k / count));
        options.tolerance = 1e-11;
        weft_solver* solver;
        assert_int_equal(weft_solver_create(&options, &solver, NULL), WEFT_OK);
        weft_solve_stats stats;
        assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
        assert_true(problem_energy_norm(&p, x, reference) <= agreement * problem_energy_norm(&p, reference, held));
        weft_solver_destroy(solver);
    }
    munmap(memory, 2 * page);
    weft_system_destroy(system);
    free(S);
    mem_free(reference);
    mem_free(held);
    problem_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spectrum),         cmocka_unit_test(test_random_systems),
        cmocka_unit_test(test_long_chains),      cmocka_unit_test(test_real_steps),
        cmocka_unit_test(test_stopping_rule),    cmocka_unit_test(test_rate),
        cmocka_unit_test(test_first_guess),      cmocka_unit_test(test_near_guess),
        cmocka_unit_test(test_nothing_to_solve), cmocka_unit_test(test_everything_prescribed),
        cmocka_unit_test(test_indefinite),       cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_best_iterate),     cmocka_unit_test(test_preconditioner_names),
        cmocka_unit_test(test_foreign_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
