// CG on the prefiltered matrix, `diag-ppcg`, and the loop of conjugate gradients with a hook for its preconditioner.
//
// Solutions are held against the saddle-point system of the same problem,
//
//     (A C^T) (x)   (b  )
//     (C  0 ) (l) = (C z),   C the given directions,
//
// solved densely with pivots in long double: it knows neither filters nor sigma. The sheet is a lattice of stiff
// springs in a soft bed, tilted against the axes, held in random directions: there a vertex's stiff and soft directions
// lie askew to those in which it is free, which is where prefiltering matters.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_dense.h"
#include "common_system.h"
#include "solve/cg/cg.h"
#include "solve/solve.h"

// ---- the sheet

enum
{
    SIDE = 9
};

typedef struct sheet
{
    int n;
    bsr_pattern pattern;
    double* values;
    vec3 *b, *z;
    vec3* given;           // [3 * n] directions as given
    int* given_count;      // [n]
    filter_record* filter; // [n], filter_count of them used
    int filter_count;
} sheet;

static vec3 sheet_position(int side, int vertex)
{
    vec3 u = v3_normalize(v3(2, 1, -1)), v = v3_normalize(v3_cross(u, v3(0.3, 1, 0.7)));
    return v3_add(v3_scale(vertex % side, u), v3_scale((double)(vertex / side), v));
}

static void sheet_stiffness(sheet* s, int side, const int* pairs, int pair_count)
{
    const double mass = 0.1, stretch = 1e3, bed = 1.0;
    for (int i = 0; i < s->n; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            s->values[9 * s->pattern.diagonal[i] + 4 * k] = mass;
        }
    }
    for (int pair = 0; pair < pair_count; pair++)
    {
        int i = pairs[2 * pair], j = pairs[2 * pair + 1];
        vec3 d = v3_normalize(v3_sub(sheet_position(side, j), sheet_position(side, i)));
        mat3 outer = m3_outer(d, d);
        for (int k = 0; k < 9; k++)
        {
            double value = stretch * outer.m[k] + (k % 4 == 0 ? bed : 0.0);
            s->values[9 * s->pattern.diagonal[i] + k] += value;
            s->values[9 * s->pattern.diagonal[j] + k] += value;
            s->values[9 * bsr_pattern_find(&s->pattern, i, j) + k] -= value;
            s->values[9 * bsr_pattern_find(&s->pattern, j, i) + k] -= value;
        }
    }
}

// Holds a share of the vertices in `directions` random directions that are not nearly dependent.
static void sheet_constrain(sheet* s, double share, int directions, uint64_t* random)
{
    s->filter_count = 0;
    for (int i = 0; i < s->n; i++)
    {
        s->given_count[i] = test_random(random, 0, 1) < share ? directions : 0;
        vec3* d = s->given + 3 * i;
        do
        {
            for (int k = 0; k < 3; k++)
            {
                d[k] = v3_normalize(test_random_vec(random, 1.0));
            }
        } while (fabs(v3_dot(d[0], v3_cross(d[1], d[2]))) < 0.1);
        if (s->given_count[i] > 0)
        {
            s->filter[s->filter_count++] = filter_record_make(i, d, s->given_count[i]);
        }
    }
}

static void sheet_init(sheet* s, int side, double share, int directions, uint64_t* random)
{
    int n = side * side;
    int* pairs = calloc(8 * (size_t)n, sizeof(int));
    int pair_count = test_sheet_pairs(side, pairs);
    *s = (sheet){.n = n};
    element_list list = {pair_count, 2, pairs};
    assert_int_equal(bsr_pattern_create(n, &list, 1, &s->pattern), WEFT_OK);
    s->values = MEM_NEW(9 * (size_t)s->pattern.block_count, double);
    s->b = MEM_NEW(n, vec3);
    s->z = MEM_NEW(n, vec3);
    s->given = MEM_NEW(3 * (size_t)n, vec3);
    s->given_count = MEM_NEW(n, int);
    s->filter = MEM_NEW(n, filter_record);
    assert_true(s->values && s->b && s->z && s->given && s->given_count && s->filter);
    sheet_stiffness(s, side, pairs, pair_count);
    free(pairs);
    sheet_constrain(s, share, directions, random);
    for (int i = 0; i < n; i++)
    {
        s->b[i] = test_random_vec(random, 1.0);
        s->z[i] = test_random_vec(random, 0.1);
    }
}

static void sheet_finish(sheet* s)
{
    bsr_pattern_finish(&s->pattern);
    mem_free(s->values);
    mem_free(s->b);
    mem_free(s->z);
    mem_free(s->given);
    mem_free(s->given_count);
    mem_free(s->filter);
}

static linear_system sheet_system(const sheet* s)
{
    return (linear_system){.A = {&s->pattern, s->values},
                           .b = s->b,
                           .z = s->z,
                           .filter = s->filter,
                           .filter_count = s->filter_count,
                           .pattern_version = 1};
}

// ---- the dense solve

static double component(vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

// One row and one column a given direction, behind those of A.
static void fill_constraints(const sheet* s, long double* a, long double* y, int size)
{
    int row = 3 * s->n;
    for (int i = 0; i < s->n; i++)
    {
        for (int g = 0; g < s->given_count[i]; g++, row++)
        {
            vec3 d = s->given[3 * i + g];
            for (int k = 0; k < 3; k++)
            {
                a[row * size + 3 * i + k] = a[(3 * i + k) * size + row] = component(d, k);
            }
            y[row] = (long double)d.x * s->z[i].x + (long double)d.y * s->z[i].y + (long double)d.z * s->z[i].z;
        }
    }
}

static void saddle_solve(const sheet* s, vec3* x)
{
    int size = 3 * s->n;
    for (int i = 0; i < s->n; i++)
    {
        size += s->given_count[i];
    }
    long double* a = MEM_NEW((size_t)size * (size_t)size, long double);
    long double* y = MEM_NEW(size, long double);
    for (int i = 0; i < s->n; i++)
    {
        for (int slot = s->pattern.row_start[i]; slot < s->pattern.row_start[i + 1]; slot++)
        {
            for (int k = 0; k < 9; k++)
            {
                a[(3 * i + k / 3) * size + 3 * s->pattern.column[slot] + k % 3] = s->values[9 * slot + k];
            }
        }
        for (int k = 0; k < 3; k++)
        {
            y[3 * i + k] = component(s->b[i], k);
        }
    }
    fill_constraints(s, a, y, size);
    test_dense_solve(a, y, size);
    for (int i = 0; i < s->n; i++)
    {
        x[i] = v3((double)y[3 * i], (double)y[3 * i + 1], (double)y[3 * i + 2]);
    }
    mem_free(a);
    mem_free(y);
}

static double distance(int n, const vec3* a, const vec3* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
    {
        vec3 d = b ? v3_sub(a[i], b[i]) : a[i];
        sum += v3_dot(d, d);
    }
    return sqrt(sum);
}

static void check_constraints(const sheet* s, const vec3* x)
{
    for (int i = 0; i < s->n; i++)
    {
        for (int k = 0; k < s->given_count[i]; k++)
        {
            double off = v3_dot(s->given[3 * i + k], v3_sub(x[i], s->z[i]));
            assert_true(fabs(off) <= 1e-13 * (v3_length(x[i]) + v3_length(s->z[i])));
        }
    }
}

// ---- diag-ppcg

static weft_status solve_with(const char* name, double tolerance, const sheet* s, vec3* x, weft_solve_stats* stats)
{
    solve_options options = {.tolerance = tolerance, .cpu = cpu_best()};
    linear_system system = sheet_system(s);
    solver_object object;
    assert_int_equal(solver_object_init(&object, name, &options, NULL), WEFT_OK);
    weft_status status = solver_object_solve(&object, &system, x, stats);
    solver_object_finish(&object);
    return status;
}

// Nothing to 60 % of the vertices held in 1, 2 or 3 directions that move.
static void test_against_saddle_point(void** unused)
{
    (void)unused;
    uint64_t random = 0;
    double largest = 0.0;
    for (int turn = 0; turn < 12; turn++)
    {
        sheet s;
        sheet_init(&s, SIDE, 0.2 * (turn % 4), 1 + turn / 4, &random);
        vec3* x = MEM_NEW(s.n, vec3);
        vec3* expected = MEM_NEW(s.n, vec3);
        weft_solve_stats stats;
        saddle_solve(&s, expected);
        assert_int_equal(solve_with("diag-ppcg", 1e-13, &s, x, &stats), WEFT_OK);
        assert_true(stats.converged && stats.iterations > 0 && stats.residual <= 1e-13);
        double error = distance(s.n, x, expected) / distance(s.n, expected, NULL);
        largest = fmax(largest, error);
        assert_true(error <= 1e-10);
        check_constraints(&s, x);
        mem_free(x);
        mem_free(expected);
        sheet_finish(&s);
    }
    print_message("          largest error %.2g\n", largest);
}

// r . M_ii^-1 r of a vertex from its saddle-point system: (M_ii C^T; C 0) (h; l) = (r; 0) has h in the free directions,
// where M is S A S, whatever sigma is.
static double vertex_norm_sq(const sheet* s, int i, vec3 r)
{
    int size = 3 + s->given_count[i];
    long double a[36] = {0}, y[6] = {r.x, r.y, r.z};
    for (int k = 0; k < 9; k++)
    {
        a[k / 3 * size + k % 3] = s->values[9 * s->pattern.diagonal[i] + k];
    }
    for (int g = 0; g < s->given_count[i]; g++)
    {
        for (int k = 0; k < 3; k++)
        {
            a[(3 + g) * size + k] = a[k * size + 3 + g] = component(s->given[3 * i + g], k);
        }
    }
    test_dense_solve(a, y, size);
    // r . h = h . A_ii h, since C h = 0; thus without what holds the constraints, beside which r is small.
    long double sum = 0.0L;
    for (int k = 0; k < 9; k++)
    {
        sum += y[k / 3] * s->values[9 * s->pattern.diagonal[i] + k] * y[k % 3];
    }
    return (double)sum;
}

static double residual_norm(const sheet* s, const vec3* x)
{
    vec3* Ax = MEM_NEW(s->n, vec3);
    bsr_matrix A = {&s->pattern, s->values};
    bsr_multiply(NULL, cpu_best(), &A, x, Ax);
    double sum = 0.0;
    for (int i = 0; i < s->n; i++)
    {
        sum += vertex_norm_sq(s, i, v3_sub(s->b[i], Ax[i]));
    }
    mem_free(Ax);
    return sqrt(sum);
}

// The norm of the stopping rule is that of the prefiltered blocks.
static void test_norm(void** unused)
{
    (void)unused;
    uint64_t random = 100000;
    for (int turn = 0; turn < 6; turn++)
    {
        sheet s;
        sheet_init(&s, SIDE, 0.4, 1 + turn % 3, &random);
        linear_system system = sheet_system(&s);
        vec3* x = MEM_NEW(s.n, vec3);
        vec3* held = MEM_NEW(s.n, vec3);
        weft_solve_stats stats;
        filter_prescribed(&system, held);
        assert_int_equal(solve_with("diag-ppcg", turn < 3 ? 1e-2 : 1e-6, &s, x, &stats), WEFT_OK);
        double expected = residual_norm(&s, x) / residual_norm(&s, held);
        assert_true(fabs(stats.residual - expected) <= 1e-6 * expected);
        mem_free(x);
        mem_free(held);
        sheet_finish(&s);
    }
}

// Planes askew to the sheet: the block of A, inverted and then filtered, is a poor guess of the filtered block's
// inverse. Both are stopped on their own norm, so the error is compared as well.
static void test_iterations(void** unused)
{
    (void)unused;
    uint64_t random = 200000;
    for (int turn = 0; turn <= 6; turn++)
    {
        sheet s;
        sheet_init(&s, 24, 0.1 * turn, 1, &random);
        vec3* x = MEM_NEW(s.n, vec3);
        weft_solve_stats plain, prefiltered;
        assert_int_equal(solve_with("diag-pcg", 1e-8, &s, x, &plain), WEFT_OK);
        memset(x, 0, (size_t)s.n * sizeof(vec3));
        assert_int_equal(solve_with("diag-ppcg", 1e-8, &s, x, &prefiltered), WEFT_OK);
        print_message(
            "          %2d %% on planes: diag-pcg %d iterations to %.1e in the 2-norm, diag-ppcg %d to %.1e\n",
            10 * turn, plain.iterations, plain.residual2, prefiltered.iterations, prefiltered.residual2);
        assert_true(prefiltered.iterations <= plain.iterations);
        assert_true(turn == 0 || prefiltered.iterations <= 0.8 * plain.iterations);
        assert_true(turn > 0 || prefiltered.iterations == plain.iterations);
        mem_free(x);
        sheet_finish(&s);
    }
}

static void test_preconditioner_names(void** unused)
{
    (void)unused;
    uint64_t random = 300000;
    sheet s;
    sheet_init(&s, 3, 0.5, 1, &random);
    linear_system system = sheet_system(&s);
    const char* names[] = {"none", "diagonal", "block"};
    for (int k = 0; k < 3; k++)
    {
        solve_options options = {.preconditioner = names[k], .tolerance = 1e-5, .cpu = cpu_best()};
        solver_object object;
        vec3* x = MEM_NEW(s.n, vec3);
        assert_int_equal(solver_object_init(&object, "diag-ppcg", &options, NULL), WEFT_OK);
        assert_int_equal(solver_object_solve(&object, &system, x, NULL), k == 2 ? WEFT_OK : WEFT_UNSUPPORTED);
        solver_object_finish(&object);
        mem_free(x);
    }
    sheet_finish(&s);
}

// ---- the hook

typedef enum flaw
{
    FLAWLESS,
    NEGATIVE, // from call flaw_at on
    ZERO,
    FAILING
} flaw;

typedef struct hook
{
    const sheet* s;
    double* inv; // [9 * n] inverses of the diagonal blocks of A
    flaw flaw;
    int flaw_at;
    int calls;
} hook;

static void hook_init(hook* k, const sheet* s)
{
    *k = (hook){.s = s, .inv = MEM_NEW(9 * (size_t)s->n, double)};
    for (int i = 0; i < s->n; i++)
    {
        assert_true(m3_invert_spd(s->values + 9 * (size_t)s->pattern.diagonal[i], k->inv + 9 * (size_t)i));
    }
}

static weft_status hook_apply(void* context, const vec3* r, vec3* h)
{
    hook* k = context;
    flaw now = ++k->calls >= k->flaw_at ? k->flaw : FLAWLESS;
    for (int i = 0; i < k->s->n; i++)
    {
        h[i] = m3_mul_v(k->inv + 9 * (size_t)i, r[i]);
        double scale = now == NEGATIVE ? -1.0 : now == ZERO ? 0.0 : 1.0;
        h[i] = v3_scale(scale, h[i]);
    }
    return now == FAILING ? WEFT_NO_MEMORY : WEFT_OK;
}

typedef struct trial
{
    hook* hook;
    double tolerance;
    int limit; // 0: the default
    bool flexible;
} trial;

static weft_status trial_solve(const trial* t, vec3* x, weft_solve_stats* stats)
{
    solve_options options = {.tolerance = t->tolerance, .cpu = cpu_best()};
    linear_system system = sheet_system(t->hook->s);
    cg c;
    assert_int_equal(cg_init(&c, &options, &system), WEFT_OK);
    c.precondition = hook_apply;
    c.context = t->hook;
    c.flexible = t->flexible;
    c.iteration_limit = t->limit ? t->limit : c.iteration_limit;
    *stats = (weft_solve_stats){0};
    t->hook->calls = 0;
    weft_status status = cg_solve(&c, &system, x, stats);
    cg_finish(&c);
    return status;
}

// With the blocks of diag-pcg the hook gives its iterates; the flexible variant, too.
static void test_hook_is_fused(void** unused)
{
    (void)unused;
    uint64_t random = 400000;
    sheet s;
    hook k;
    sheet_init(&s, 24, 0.3, 1, &random); // more than one chunk
    hook_init(&k, &s);
    linear_system system = sheet_system(&s);
    vec3* x = MEM_NEW(s.n, vec3);
    vec3* y = MEM_NEW(s.n, vec3);
    for (int limit = 1; limit <= 40; limit++)
    {
        solve_options options = {.tolerance = 1e-14, .max_iterations = limit, .cpu = cpu_best()};
        weft_solve_stats fused, hooked;
        solver_object object;
        memset(x, 0, (size_t)s.n * sizeof(vec3));
        memset(y, 0, (size_t)s.n * sizeof(vec3));
        assert_int_equal(solver_object_init(&object, "diag-pcg", &options, NULL), WEFT_OK);
        assert_int_equal(solver_object_solve(&object, &system, x, &fused), WEFT_NOT_CONVERGED);
        trial t = {&k, 1e-14, limit, limit % 2};
        assert_int_equal(trial_solve(&t, y, &hooked), WEFT_NOT_CONVERGED);
        assert_int_equal(hooked.iterations, limit);
        assert_false(hooked.converged);
        assert_true(distance(s.n, x, y) <= 1e-12 * distance(s.n, x, NULL));
        assert_true(fabs(hooked.residual - fused.residual) <= 1e-12 * fused.residual);
        assert_true(fabs(hooked.residual2 - fused.residual2) <= 1e-12 * fused.residual2);
        assert_true(fabs(hooked.rate - fused.rate) <= 1e-12);
        solver_object_finish(&object);
    }
    mem_free(x);
    mem_free(y);
    mem_free(k.inv);
    sheet_finish(&s);
}

// An application a residual, and none for a residual that is there already.
static void test_hook_calls(void** unused)
{
    (void)unused;
    uint64_t random = 500000;
    sheet s;
    hook k;
    sheet_init(&s, SIDE, 0.3, 2, &random);
    hook_init(&k, &s);
    linear_system system = sheet_system(&s);
    vec3* x = MEM_NEW(s.n, vec3);
    weft_solve_stats stats;
    trial t = {.hook = &k, .tolerance = 1e-6};
    assert_int_equal(trial_solve(&t, x, &stats), WEFT_OK); // from zero
    assert_int_equal(k.calls, 1 + stats.iterations);
    filter_prescribed(&system, x);
    assert_int_equal(trial_solve(&t, x, &stats), WEFT_OK); // from (I - S) z
    assert_int_equal(k.calls, 1 + stats.iterations);
    check_constraints(&s, x);
    for (int i = 0; i < s.n; i++)
    {
        x[i] = test_random_vec(&random, 1.0);
    }
    assert_int_equal(trial_solve(&t, x, &stats), WEFT_OK); // from a guess
    assert_int_equal(k.calls, 2 + stats.iterations);
    check_constraints(&s, x);

    // Nothing to solve: no application at all.
    bsr_matrix A = {&s.pattern, s.values};
    memset(s.z, 0, (size_t)s.n * sizeof(vec3));
    memset(s.b, 0, (size_t)s.n * sizeof(vec3));
    bsr_multiply(NULL, cpu_best(), &A, s.z, s.b);
    memset(x, 0, (size_t)s.n * sizeof(vec3));
    assert_int_equal(trial_solve(&t, x, &stats), WEFT_OK);
    assert_int_equal(k.calls, 0);
    assert_true(stats.converged && stats.iterations == 0 && stats.residual == 0.0 && isnan(stats.rate));
    mem_free(x);
    mem_free(k.inv);
    sheet_finish(&s);
}

// h from a solve that stops early, rounded to float: a good preconditioner that is another one each time.
typedef struct inner
{
    linear_system system; // homogeneous; b is the residual
    solver_object object;
} inner;

static weft_status inner_apply(void* context, const vec3* r, vec3* h)
{
    inner* k = context;
    int n = k->system.A.pattern->row_count;
    k->system.b = r;
    memset(h, 0, (size_t)n * sizeof(vec3));
    TRY(solver_object_solve(&k->object, &k->system, h, NULL));
    for (int i = 0; i < n; i++)
    {
        h[i] = v3((float)h[i].x, (float)h[i].y, (float)h[i].z);
    }
    return WEFT_OK;
}

static weft_status outer_solve(const sheet* s, double rough, bool flexible, vec3* x, weft_solve_stats* stats)
{
    solve_options loose = {.tolerance = rough, .cpu = cpu_best()}, tight = {.tolerance = 1e-12, .cpu = cpu_best()};
    inner k = {.system = sheet_system(s)};
    cg c;
    k.system.z = NULL;
    assert_int_equal(solver_object_init(&k.object, "diag-ppcg", &loose, NULL), WEFT_OK);
    assert_int_equal(cg_init(&c, &tight, &k.system), WEFT_OK);
    c.precondition = inner_apply;
    c.context = &k;
    c.flexible = flexible;
    linear_system system = sheet_system(s);
    memset(x, 0, (size_t)s->n * sizeof(vec3));
    *stats = (weft_solve_stats){0};
    weft_status status = cg_solve(&c, &system, x, stats);
    cg_finish(&c);
    solver_object_finish(&k.object);
    return status;
}

// The flexible variant bears what the plain one does not.
static void test_flexible(void** unused)
{
    (void)unused;
    uint64_t random = 600000;
    const double roughs[] = {0.3, 0.1, 0.01, 1e-6};
    for (int turn = 0; turn < 16; turn++)
    {
        sheet s;
        sheet_init(&s, SIDE, 0.2 * (turn % 4), 1 + turn % 3, &random);
        vec3* x = MEM_NEW(s.n, vec3);
        vec3* expected = MEM_NEW(s.n, vec3);
        weft_solve_stats plain, flexible;
        double rough = roughs[turn / 4];
        saddle_solve(&s, expected);
        outer_solve(&s, rough, false, x, &plain);
        assert_int_equal(outer_solve(&s, rough, true, x, &flexible), WEFT_OK);
        assert_true(distance(s.n, x, expected) <= 1e-10 * distance(s.n, expected, NULL));
        print_message("          rough by %g: %d iterations plain, %d flexible\n", rough, plain.iterations,
                      flexible.iterations);
        assert_true(flexible.iterations <= plain.iterations && flexible.iterations <= 40);
        assert_true(rough < 0.3 || flexible.iterations < 0.7 * plain.iterations);
        mem_free(x);
        mem_free(expected);
        sheet_finish(&s);
    }
}

// A hook that is not definite or fails: a status, and in x the last iterate.
static void test_bad_hooks(void** unused)
{
    (void)unused;
    uint64_t random = 700000;
    sheet s;
    hook k;
    sheet_init(&s, SIDE, 0.3, 1, &random);
    hook_init(&k, &s);
    vec3* x = MEM_NEW(s.n, vec3);
    vec3* y = MEM_NEW(s.n, vec3);
    const flaw flaws[] = {NEGATIVE, ZERO, FAILING};
    const int at[] = {1, 2, 7};
    for (int turn = 0; turn < 18; turn++)
    {
        weft_solve_stats stats;
        k.flaw = flaws[turn % 3];
        k.flaw_at = at[turn / 3 % 3];
        trial t = {.hook = &k, .tolerance = 1e-8, .flexible = turn >= 9};
        memset(x, 0, (size_t)s.n * sizeof(vec3));
        weft_status expected = k.flaw == FAILING ? WEFT_NO_MEMORY : WEFT_NOT_DEFINITE;
        assert_int_equal(trial_solve(&t, x, &stats), expected);
        assert_false(stats.converged);
        assert_int_equal(stats.iterations, k.flaw_at - 1);
        check_constraints(&s, x);
        if (stats.iterations > 0)
        {
            k.flaw = FLAWLESS;
            t.limit = stats.iterations;
            memset(y, 0, (size_t)s.n * sizeof(vec3));
            assert_int_equal(trial_solve(&t, y, &stats), WEFT_NOT_CONVERGED);
            assert_memory_equal(x, y, (size_t)s.n * sizeof(vec3));
        }
    }
    mem_free(x);
    mem_free(y);
    mem_free(k.inv);
    sheet_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_saddle_point),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_preconditioner_names),
        cmocka_unit_test(test_hook_is_fused),
        cmocka_unit_test(test_hook_calls),
        cmocka_unit_test(test_flexible),
        cmocka_unit_test(test_bad_hooks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
