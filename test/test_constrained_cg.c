// Chapter 5 of Boxerman's thesis: the original MPCG beside the corrected one; the constrained preconditioner against
// figure 5.2 written out in plain loops, and against diag-ppcg; SSOR and incomplete Cholesky against their definitions.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_problem.h"
#include "common_system.h"
#include "solve/cg/sweeps.h"
#include "solve/prefilter.h"

// ---- iterates

enum
{
    SEEN_MAX = 400
};

// What a solve shows of itself.
typedef struct trace
{
    int count, rows;
    double delta[SEEN_MAX];
    vec3* x; // [SEEN_MAX * rows]
} trace;

static void see(void* context, int iteration, double delta, const vec3* x, const vec3* r)
{
    (void)r;
    trace* t = context;
    if (iteration < SEEN_MAX)
    {
        t->count = iteration + 1;
        t->delta[iteration] = delta;
        memcpy(t->x + (size_t)iteration * (size_t)t->rows, x, (size_t)t->rows * sizeof(vec3));
    }
}

static trace trace_new(int rows)
{
    return (trace){.rows = rows, .x = MEM_NEW((size_t)SEEN_MAX * (size_t)rows, vec3)};
}

typedef struct settings
{
    const char *solver, *preconditioner, *variant;
    double tolerance;
} settings;

static weft_solve_stats solve(const settings* s, const linear_system* system, vec3* x, trace* t)
{
    solve_options options = {.preconditioner = s->preconditioner,
                             .variant = s->variant,
                             .tolerance = s->tolerance,
                             .cpu = cpu_best(),
                             .observe = t ? see : NULL,
                             .observe_context = t};
    solver_object object;
    weft_solve_stats stats;
    assert_int_equal(solver_object_init(&object, s->solver, &options, NULL), WEFT_OK);
    assert_int_equal(solver_object_solve(&object, system, x, &stats), WEFT_OK);
    solver_object_finish(&object);
    return stats;
}

static double length_sq(const vec3* a, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(a[i], a[i]);
    }
    return sum;
}

// ---- the original

// It starts at (I - S) z whatever the guess, and stops at the first r . r <= tolerance^2 |S b|^2.
static void test_original(void** unused)
{
    (void)unused;
    uint64_t random = 51;
    for (int turn = 0; turn < 10; turn++)
    {
        problem p;
        problem_chain(&p, 30 + turn, 0.01, &random);
        linear_system system = problem_system(&p);
        const settings original = {"mpcg", "none", "original", 1e-4};
        trace t = trace_new(p.n), cold = trace_new(p.n);
        vec3 *x = MEM_NEW(p.n, vec3), *y = MEM_NEW(p.n, vec3), *b = MEM_NEW(p.n, vec3);
        for (int i = 0; i < p.n; i++)
        {
            x[i] = test_random_vec(&random, 3.0);
        }
        solve(&original, &system, x, &t);
        solve(&original, &system, y, &cold);
        assert_memory_equal(x, y, (size_t)p.n * sizeof(vec3));
        for (int i = 0; i < p.n; i++)
        {
            vec3 held = problem_prescribed(&p, i);
            assert_true(v3_length(v3_sub(t.x[i], held)) <= 1e-14 * (1.0 + v3_length(held)));
        }
        memcpy(b, p.b, (size_t)p.n * sizeof(vec3));
        filter_apply(&system, b);
        double limit = original.tolerance * original.tolerance * length_sq(b, p.n);
        assert_true(t.count > 2 && t.delta[t.count - 1] <= limit && t.delta[t.count - 2] > limit);
        // The corrected one measures by the residual of (I - S) z, which is what the first iterate has here.
        const settings corrected = {"mpcg", "none", NULL, 1e-4};
        memset(x, 0, (size_t)p.n * sizeof(vec3));
        solve(&corrected, &system, x, &cold);
        double other = corrected.tolerance * corrected.tolerance * t.delta[0];
        assert_true(cold.delta[cold.count - 1] <= other && cold.delta[cold.count - 2] > other);
        mem_free(t.x);
        mem_free(cold.x);
        mem_free(x);
        mem_free(y);
        mem_free(b);
        problem_finish(&p);
    }
}

// Only z moves anything: S b is no measure, and the corrected rule takes over.
static void test_original_without_force(void** unused)
{
    (void)unused;
    uint64_t random = 52;
    problem p;
    problem_chain(&p, 40, 0.01, &random);
    memset(p.b, 0, (size_t)p.n * sizeof(vec3));
    linear_system system = problem_system(&p);
    vec3 *x = MEM_NEW(p.n, vec3), *y = MEM_NEW(p.n, vec3);
    solve(&(settings){"mpcg", "block", "original", 1e-6}, &system, x, NULL);
    solve(&(settings){"mpcg", "block", "corrected", 1e-6}, &system, y, NULL);
    assert_memory_equal(x, y, (size_t)p.n * sizeof(vec3));
    mem_free(x);
    mem_free(y);
    problem_finish(&p);
}

// ---- the constrained preconditioner

// P = S C S + (I - S) of a vertex, as the thesis has it but for the second S; h = P^-1 r by Cramer's rule.
static vec3 apply_cp(const linear_system* system, int vertex, vec3 r)
{
    const double* C = system->A.values + 9 * (size_t)system->A.pattern->diagonal[vertex];
    mat3 S = m3_diagonal(1.0);
    for (int k = 0; k < system->filter_count; k++)
    {
        if (system->filter[k].vertex == vertex)
        {
            memcpy(S.m, system->filter[k].S, sizeof(S.m));
        }
    }
    mat3 SC = m3_mul(S.m, C), P = m3_mul(SC.m, S.m), I = m3_diagonal(1.0);
    for (int k = 0; k < 9; k++)
    {
        P.m[k] += I.m[k] - S.m[k];
    }
    double whole = m3_determinant(P.m), out[3];
    for (int column = 0; column < 3; column++)
    {
        mat3 other = P;
        other.m[column] = r.x;
        other.m[3 + column] = r.y;
        other.m[6 + column] = r.z;
        out[column] = m3_determinant(other.m) / whole;
    }
    return v3(out[0], out[1], out[2]);
}

// Figure 5.2 in plain loops, iterate after iterate into t.
static void reference_cp(const problem* p, const linear_system* system, int iterations, trace* t)
{
    size_t bytes = (size_t)p->n * sizeof(vec3);
    vec3 *x = MEM_NEW(p->n, vec3), *r = MEM_NEW(p->n, vec3), *d = MEM_NEW(p->n, vec3), *s = MEM_NEW(p->n, vec3);
    filter_prescribed(system, x);
    problem_multiply(p, x, s);
    double delta = 0.0;
    for (int i = 0; i < p->n; i++)
    {
        r[i] = v3_sub(p->b[i], s[i]);
    }
    filter_apply(system, r);
    for (int i = 0; i < p->n; i++)
    {
        d[i] = apply_cp(system, i, r[i]);
        delta += v3_dot(r[i], d[i]);
    }
    filter_apply(system, d);
    for (int k = 0; k < iterations; k++)
    {
        t->delta[k] = delta;
        memcpy(t->x + (size_t)k * (size_t)p->n, x, bytes);
        problem_multiply(p, d, s);
        filter_apply(system, s);
        double curvature = 0.0, last = delta;
        for (int i = 0; i < p->n; i++)
        {
            curvature += v3_dot(d[i], s[i]);
        }
        delta = 0.0;
        for (int i = 0; i < p->n; i++)
        {
            x[i] = v3_madd(x[i], last / curvature, d[i]);
            r[i] = v3_madd(r[i], -last / curvature, s[i]);
            delta += v3_dot(r[i], apply_cp(system, i, r[i]));
        }
        for (int i = 0; i < p->n; i++)
        {
            d[i] = v3_madd(apply_cp(system, i, r[i]), delta / last, d[i]);
        }
        filter_apply(system, d);
    }
    mem_free(x);
    mem_free(r);
    mem_free(d);
    mem_free(s);
}

static void test_constrained(void** unused)
{
    (void)unused;
    uint64_t random = 53;
    for (int turn = 0; turn < 10; turn++)
    {
        problem p;
        problem_chain(&p, 40 + turn, 0.1, &random);
        linear_system system = problem_system(&p);
        trace ours = trace_new(p.n), prefiltered = trace_new(p.n), plain = trace_new(p.n);
        vec3* x = MEM_NEW(p.n, vec3);
        solve(&(settings){"mpcg", "constrained", NULL, 1e-6}, &system, x, &ours);
        memset(x, 0, (size_t)p.n * sizeof(vec3));
        solve(&(settings){"diag-ppcg", NULL, NULL, 1e-6}, &system, x, &prefiltered);
        assert_int_equal(ours.count, prefiltered.count);
        assert_memory_equal(ours.delta, prefiltered.delta, (size_t)ours.count * sizeof(double));
        assert_memory_equal(ours.x, prefiltered.x, (size_t)ours.count * (size_t)p.n * sizeof(vec3));
        // CG forgets in some 20 iterations which rounding it has had.
        int count = int_min(ours.count, 12);
        reference_cp(&p, &system, count, &plain);
        for (int k = 0; k < count; k++)
        {
            assert_true(fabs(plain.delta[k] - ours.delta[k]) <= 1e-8 * ours.delta[0]);
            for (int i = 0; i < p.n; i++)
            {
                vec3 a = plain.x[(size_t)k * (size_t)p.n + (size_t)i], b = ours.x[(size_t)k * (size_t)p.n + (size_t)i];
                assert_true(v3_length(v3_sub(a, b)) <= 1e-8 * (1.0 + v3_length(b)));
            }
        }
        mem_free(ours.x);
        mem_free(prefiltered.x);
        mem_free(plain.x);
        mem_free(x);
        problem_finish(&p);
    }
}

// ---- sweeps

static double dense_entry(const linear_system* system, const int* index, int slot, int row, int k)
{
    double buffer[9];
    return prefilter_block(system, index, slot, row, buffer)[k];
}

// y = (D + L) x or its transpose, D and L blocks of M in the order of the sweeps.
static void multiply_lower(const sweeps* s, const linear_system* system, const int* index, bool transposed,
                           const vec3* x, vec3* y)
{
    const bsr_pattern* p = system->A.pattern;
    memset(y, 0, (size_t)p->row_count * sizeof(vec3));
    for (int i = 0; i < p->row_count; i++)
    {
        for (int at = s->lower_start[i] - 1; at < s->lower_start[i + 1]; at++)
        {
            int slot = at < s->lower_start[i] ? p->diagonal[i] : s->lower_slot[at], j = p->column[slot];
            mat3 m;
            for (int k = 0; k < 9; k++)
            {
                m.m[k] = dense_entry(system, index, slot, i, k);
            }
            mat3 turned = m3_transpose(m.m);
            int to = transposed ? j : i, from = transposed ? i : j;
            y[to] = v3_add(y[to], m3_mul_v(transposed ? turned.m : m.m, x[from]));
        }
    }
}

static weft_system* sheet(int side, uint64_t* random)
{
    weft_system* s = test_sheet_system(side, 30.0);
    test_constrain(s, 0.2, 0, random);
    return s;
}

// (D + L) D^-1 (D + L)^T h = r, with L in an order in which no two chunks of one colour touch.
static void test_ssor(void** unused)
{
    (void)unused;
    uint64_t random = 54;
    weft_system* owned = sheet(37, &random);
    linear_system system = system_view(owned, 1);
    int n = system.A.pattern->row_count;
    int* index = MEM_NEW(n, int);
    prefilter_index(&system, index);
    sweeps s = {0};
    solve_options options = {.cpu = cpu_best()};
    assert_int_equal(sweeps_analyze(&s, &system), WEFT_OK);
    assert_int_equal(sweeps_factor_ssor(&s, &options, &system, index), WEFT_OK);
    assert_true(s.chunk_count > 3 && s.colour_count > 1 && s.colour_count < s.chunk_count);
    for (int i = 0; i < n; i++)
    {
        for (int k = system.A.pattern->row_start[i]; k < system.A.pattern->row_start[i + 1]; k++)
        {
            int a = i / SWEEP_CHUNK, b = system.A.pattern->column[k] / SWEEP_CHUNK;
            assert_true(a == b || s.colour[a] != s.colour[b]);
        }
    }
    vec3 *r = MEM_NEW(n, vec3), *h = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3), *back = MEM_NEW(n, vec3);
    for (int i = 0; i < n; i++)
    {
        r[i] = test_random_vec(&random, 1.0);
    }
    sweeps_apply(&s, NULL, cpu_best(), r, h);
    multiply_lower(&s, &system, index, true, h, y);
    for (int i = 0; i < n; i++)
    {
        double block[9], inverse[9] = {0};
        for (int k = 0; k < 9; k++)
        {
            block[k] = dense_entry(&system, index, system.A.pattern->diagonal[i], i, k);
        }
        assert_true(m3_invert_spd(block, inverse));
        y[i] = m3_mul_v(inverse, y[i]);
    }
    multiply_lower(&s, &system, index, false, y, back);
    for (int i = 0; i < n; i++)
    {
        assert_true(v3_length(v3_sub(back[i], r[i])) <= 1e-10);
    }
    sweeps_finish(&s);
    mem_free(index);
    mem_free(r);
    mem_free(h);
    mem_free(y);
    mem_free(back);
    weft_system_destroy(owned);
}

// A chain in which each vertex knows the next two has no fill: the factor is exact, and one iteration is enough.
static void test_ic_is_exact_without_fill(void** unused)
{
    (void)unused;
    uint64_t random = 55;
    problem p;
    problem_chain(&p, 200, 0.001, &random);
    linear_system system = problem_system(&p);
    vec3* x = MEM_NEW(p.n, vec3);
    weft_solve_stats stats = solve(&(settings){"mpcg", "ic", NULL, 1e-9}, &system, x, NULL);
    assert_int_equal(stats.iterations, 1);
    memset(x, 0, (size_t)p.n * sizeof(vec3));
    stats = solve(&(settings){"mpcg", "block", NULL, 1e-9}, &system, x, NULL);
    assert_true(stats.iterations > 20);
    mem_free(x);
    problem_finish(&p);
}

// Kershaw's matrix: definite, and its incomplete factor has a negative pivot.
static void test_ic_breakdown(void** unused)
{
    (void)unused;
    const int pairs[] = {0, 1, 1, 2, 2, 3, 0, 3};
    const double a[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
    problem p;
    problem_alloc(&p, 4, pairs, 4);
    for (int i = 0; i < 4; i++)
    {
        for (int s = p.pattern.row_start[i]; s < p.pattern.row_start[i + 1]; s++)
        {
            for (int k = 0; k < 3; k++)
            {
                p.values[9 * s + 4 * k] = a[i][p.pattern.column[s]];
            }
        }
        p.b[i] = v3(i, 1, -i);
    }
    linear_system system = problem_system(&p);
    int index[4] = {-1, -1, -1, -1};
    sweeps s = {0};
    solve_options options = {.cpu = cpu_best()};
    assert_int_equal(sweeps_analyze(&s, &system), WEFT_OK);
    assert_int_equal(sweeps_factor_ic(&s, &options, &system, index), WEFT_OK);
    assert_true(s.breakdowns > 0 && s.shift > 0.0 && s.shift < 1.0);
    assert_int_equal(sweeps_factor_ic(&s, &options, &system, index), WEFT_OK);
    assert_int_equal(s.breakdowns, 0); // the shift is remembered
    sweeps_finish(&s);
    vec3* x = MEM_NEW(4, vec3);
    weft_solve_stats stats = solve(&(settings){"mpcg", "ic", NULL, 1e-10}, &system, x, NULL);
    assert_true(stats.converged && stats.iterations <= 12);
    mem_free(x);
    problem_finish(&p);
}

// Fewer iterations than a block diagonal, and the same bits on any number of threads and kind of kernels.
static void test_sweeps_on_cloth(void** unused)
{
    (void)unused;
    uint64_t random = 56;
    weft_system* system = sheet(50, &random);
    int n = weft_system_vertex_count(system), iterations[3];
    const char* const names[] = {"constrained", "ssor", "ic"};
    vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
    for (int k = 0; k < 3; k++)
    {
        for (int run = 0; run < 3; run++)
        {
            weft_solver_def def = weft_solver_def_default();
            def.solver = "mpcg";
            def.preconditioner = names[k];
            def.worker_count = run == 0 ? 1 : run == 1 ? 2 : 8;
            def.kernels = run == 2 ? "base" : "auto";
            weft_solver* solver;
            weft_solve_stats stats;
            assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
            assert_int_equal(weft_solver_solve(solver, system, run == 0 ? x : y, &stats), WEFT_OK);
            iterations[k] = stats.iterations;
            if (run > 0)
            {
                assert_memory_equal(x, y, (size_t)n * sizeof(vec3));
            }
            weft_solver_destroy(solver);
        }
    }
    print_message("          iterations: %s %d, %s %d, %s %d\n", names[0], iterations[0], names[1], iterations[1],
                  names[2], iterations[2]);
    assert_true(2 * iterations[1] < iterations[0] + 10 && iterations[2] <= iterations[1]);
    mem_free(x);
    mem_free(y);
    weft_system_destroy(system);
}

// Another pattern of as many rows, and the same again, allocate nothing.
static void test_sweeps_allocate_nothing(void** unused)
{
    (void)unused;
    uint64_t random = 57;
    weft_system* owned = sheet(20, &random);
    const char* const names[] = {"constrained", "ssor", "ic"};
    for (int k = 0; k < 3; k++)
    {
        test_ledger ledger = {0};
        test_ledger_open(&ledger);
        solve_options options = {.preconditioner = names[k], .tolerance = 1e-6, .cpu = cpu_best()};
        solver_object object;
        vec3* x = MEM_NEW(400, vec3);
        int made = 0;
        assert_int_equal(solver_object_init(&object, "mpcg", &options, NULL), WEFT_OK);
        for (int turn = 0; turn < 4; turn++)
        {
            linear_system system = system_view(owned, (uint64_t)turn);
            made = turn == 1 ? ledger.made : made;
            assert_int_equal(solver_object_solve(&object, &system, x, NULL), WEFT_OK);
        }
        assert_int_equal(ledger.made, made);
        solver_object_finish(&object);
        mem_free(x);
        assert_int_equal(ledger.live, 0);
        test_ledger_close();
    }
    weft_system_destroy(owned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_original),
        cmocka_unit_test(test_original_without_force),
        cmocka_unit_test(test_constrained),
        cmocka_unit_test(test_ssor),
        cmocka_unit_test(test_ic_is_exact_without_fill),
        cmocka_unit_test(test_ic_breakdown),
        cmocka_unit_test(test_sweeps_on_cloth),
        cmocka_unit_test(test_sweeps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
