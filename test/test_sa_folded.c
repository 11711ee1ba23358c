// Folded cloth: what tells it from smooth cloth, the incomplete factor that smooths it, and what it is worth.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sa.h"
#include "common_system.h"

// A strip that has been wound up: some 1,200 vertices, of which many touch.
static weft_system* twisted_system(int steps)
{
    const char* overrides[] = {"cells=60"};
    return test_scene_system("twist", overrides, 1, steps);
}

static weft_solver_def folded_def(int smoother)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = "sa-ppcg";
    def.sa.coarsest = 60;
    def.sa.smoother = smoother;
    return def;
}

// A hierarchy with the incomplete factor.
static sa_hierarchy* new_hierarchy(const weft_system* system, workers* pool)
{
    sa_hierarchy* h = calloc(1, sizeof(sa_hierarchy));
    h->settings = sa_default();
    h->settings.coarsest = 60;
    h->settings.smoother = 2;
    h->cpu = cpu_best();
    h->pool = pool;
    linear_system view = system_view(system, 1);
    assert_int_equal(sa_build(h, &view, true), WEFT_OK);
    assert_non_null(h->levels[0].incomplete);
    return h;
}

static void hierarchy_destroy(sa_hierarchy* h)
{
    sa_finish(h);
    free(h);
}

// out = M^-1 b; both are float [3 * rows + SA_PAD].
static void apply(const sa_hierarchy* h, const float* b, float* out)
{
    sa_sweep sweep = {.level = &h->levels[0], .b = b, .to = out, .omega = 1.0};
    sa_incomplete_sweep(h, &sweep);
}

static float* random_vector(int rows, uint64_t seed)
{
    float* v = calloc((size_t)(3 * rows + SA_PAD), sizeof(float));
    for (int k = 0; k < 3 * rows; k++)
    {
        v[k] = (float)(random_unit(seed, (uint64_t)k) - 0.5);
    }
    return v;
}

static double dot(const float* a, const float* b, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        sum += (double)a[k] * (double)b[k];
    }
    return sum;
}

// ---- the factor

enum
{
    CHAIN = 512 // two clusters, so that blocks between them count
};

// A chain of vertices: a level with nothing but a matrix, symmetric and dominant on its diagonal.
typedef struct chain
{
    int start[CHAIN + 1], column[3 * CHAIN], diagonal[CHAIN];
    float A[27 * CHAIN + SA_PAD];
} chain;

static double chain_entry(int i, int j, int e)
{
    int transposed = e % 3 * 3 + e / 3;
    if (i == j)
    {
        double sum = random_unit(5, (uint64_t)(18 * i + e)) + random_unit(5, (uint64_t)(18 * i + transposed));
        return 0.25 * sum + (e == 4 ? 6.0 : e % 4 == 0 ? 2.0 : 0.0);
    }
    return 0.5 * (random_unit(5, (uint64_t)(18 * int_min(i, j) + 9 + (i < j ? e : transposed))) - 0.5);
}

static chain* new_chain(void)
{
    chain* c = calloc(1, sizeof(chain));
    int at = 0;
    for (int i = 0; i < CHAIN; i++)
    {
        for (int j = int_max(0, i - 1); j <= int_min(CHAIN - 1, i + 1); j++, at++)
        {
            c->column[at] = j;
            c->diagonal[i] = i == j ? at : c->diagonal[i];
            for (int e = 0; e < 9; e++)
            {
                c->A[9 * at + e] = (float)chain_entry(i, j, e);
            }
        }
        c->start[i + 1] = at;
    }
    return c;
}

// y = (A + shift on its diagonal blocks) x.
static void chain_multiply(const chain* c, const float* shift, const float* x, float* y)
{
    for (int row = 0; row < 3 * CHAIN; row++)
    {
        double sum = 0.0;
        int i = row / 3;
        for (int k = 3 * c->start[i]; k < 3 * c->start[i + 1]; k++)
        {
            double more = k / 3 == c->diagonal[i] ? 1.0 + (double)shift[i] : 1.0;
            sum += more * (double)c->A[9 * (k / 3) + row % 3 * 3 + k % 3] * (double)x[3 * c->column[k / 3] + k % 3];
        }
        y[row] = (float)sum;
    }
}

// A chain has no fill: M is A with its shift, to the rounding of L to 16 bits (2^-11 of its numbers, which are small
// here; in floats it was 1e-6).
static void test_exact_on_chain(void** unused)
{
    (void)unused;
    chain* c = new_chain();
    sa_hierarchy* h = calloc(1, sizeof(sa_hierarchy));
    h->settings = sa_default();
    h->cpu = cpu_best();
    h->precision = 32;
    sa_level* l = &h->levels[0];
    *l = (sa_level){.rows = CHAIN, .block = 3, .A = c->A};
    l->pattern = (bsr_pattern){CHAIN, c->start[CHAIN], c->start, c->column, c->diagonal};
    assert_int_equal(sa_incomplete_build(h, l), WEFT_OK);
    assert_int_equal(l->incomplete->cluster_count, 2);
    assert_int_equal(l->incomplete->colour_count, 2);
    float *x = random_vector(CHAIN, 7), *y = random_vector(CHAIN, 8), *back = random_vector(CHAIN, 9);
    chain_multiply(c, l->incomplete->shift, x, y);
    apply(h, y, back);
    double worst = 0.0;
    for (int k = 0; k < 3 * CHAIN; k++)
    {
        worst = fmax(worst, fabs((double)back[k] - (double)x[k]));
    }
    print_message("          off by %.2g\n", worst);
    assert_true(worst < 1e-4);
    sa_incomplete_finish(l->incomplete);
    free(h);
    free(c);
    free(x);
    free(y);
    free(back);
}

enum
{
    STAR = 150 // the last vertex is connected to all others
};

// A row of L with more blocks than there is room for keeps those that are eliminated last.
static void test_wide_row(void** unused)
{
    (void)unused;
    int start[STAR + 1] = {0}, column[3 * STAR], diagonal[STAR] = {0}, at = 0;
    float A[27 * STAR + SA_PAD] = {0};
    for (int i = 0; i < STAR; i++)
    {
        for (int j = 0; j < STAR; j++)
        {
            if (j != i && j != STAR - 1 && i != STAR - 1)
            {
                continue;
            }
            column[at] = j;
            diagonal[i] = i == j ? at : diagonal[i];
            for (int c = 0; c < 3; c++)
            {
                A[9 * at + 4 * c] = i != j ? -0.01F : i == STAR - 1 ? 2.0F : 1.0F;
            }
            at++;
        }
        start[i + 1] = at;
    }
    sa_hierarchy* h = calloc(1, sizeof(sa_hierarchy));
    h->settings = sa_default();
    h->cpu = cpu_best();
    h->precision = 32;
    sa_level* l = &h->levels[0];
    *l = (sa_level){.rows = STAR, .block = 3, .A = A};
    l->pattern = (bsr_pattern){STAR, at, start, column, diagonal};
    assert_int_equal(sa_incomplete_build(h, l), WEFT_OK);
    const sa_incomplete* f = l->incomplete;
    assert_int_equal(f->lower_start[STAR] - f->lower_start[STAR - 1], SA_LOWER_MAX);
    for (int k = 0; k < SA_LOWER_MAX; k++)
    {
        assert_int_equal(f->lower_column[f->lower_start[STAR - 1] + k], STAR - 1 - SA_LOWER_MAX + k);
        assert_int_equal(column[f->lower_slot[f->lower_start[STAR - 1] + k]], STAR - 1 - SA_LOWER_MAX + k);
    }
    sa_incomplete_finish(l->incomplete);
    free(h);
}

// Products by half of the finest matrix are those of the whole, chunk by chunk and over several chunks at once.
static void test_half(void** unused)
{
    (void)unused;
    weft_system* system = twisted_system(120);
    int n = weft_system_vertex_count(system);
    sa_hierarchy* h = new_hierarchy(system, NULL);
    const sa_level* l = &h->levels[0];
    assert_true(n > 2 * ROW_GRAIN && n % ROW_GRAIN != 0 && l->half.A);
    assert_true(l->half.start[n] < 0.8 * l->pattern.block_count);
    float *x = random_vector(n, 3), *b = random_vector(n, 4), *y = random_vector(n, 5);
    sa_pass pass = {.level = l, .x = x, .b = b, .y = y};
    sa_kernels_for(h->cpu, 32)->residual(&pass, 0, n);
    for (int k = 0; k < 3 * n; k++)
    {
        int i = k / 3;
        double sum = b[k], size = fabs(sum);
        for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
        {
            for (int c = 0; c < 3; c++)
            {
                double product = (double)((const float*)l->A)[9 * (size_t)slot + (size_t)(3 * (k % 3) + c)] *
                                 x[3 * (size_t)l->pattern.column[slot] + (size_t)c];
                sum -= product;
                size += fabs(product);
            }
        }
        assert_true(fabs(y[k] - sum) <= 2e-6 * size);
    }
    hierarchy_destroy(h);
    free(x);
    free(b);
    free(y);
    weft_system_destroy(system);
}

// u . M^-1 v = v . M^-1 u, v . M^-1 v > 0, and no quotient of A over M is above the radius.
static void test_factor(void** unused)
{
    (void)unused;
    weft_system* system = twisted_system(120);
    int n = weft_system_vertex_count(system);
    sa_hierarchy* h = new_hierarchy(system, NULL);
    const sa_level* l = &h->levels[0];
    float *Mu = random_vector(n, 1), *Mv = random_vector(n, 1), *w = random_vector(n, 1);
    double apart = 0.0, most = 0.0;
    for (uint64_t seed = 2; seed < 12; seed++)
    {
        float *u = random_vector(n, seed), *v = random_vector(n, seed + 100);
        apply(h, u, Mu);
        for (int round = 0; round < 8; round++) // towards the largest quotient
        {
            apply(h, v, Mv);
            double own = dot(v, Mv, 3 * n), mixed = dot(u, Mv, 3 * n), mirrored = dot(v, Mu, 3 * n);
            assert_true(own > 0.0);
            apart = fmax(apart, fabs(mixed - mirrored) / sqrt(own * dot(u, Mu, 3 * n)));
            memset(w, 0, (size_t)(3 * n) * sizeof(float));
            sa_pass pass = {.level = l, .x = Mv, .b = w, .y = v};
            sa_kernels_for(h->cpu, 32)->residual(&pass, 0, n); // v = -A M^-1 v
            most = fmax(most, -dot(Mv, v, 3 * n) / own);
        }
        free(u);
        free(v);
    }
    print_message("          asymmetry %.2g, largest quotient %.3f, radius %.3f\n", apart, most, l->incomplete_radius);
    assert_true(apart < 1e-5 && most <= 1.02 * l->incomplete_radius && most > 0.7 * l->incomplete_radius);
    hierarchy_destroy(h);
    free(Mu);
    free(Mv);
    free(w);
    weft_system_destroy(system);
}

static bool has(const int* list, int begin, int end, int value)
{
    for (int k = begin; k < end; k++)
    {
        if (list[k] == value)
        {
            return true;
        }
    }
    return false;
}

// Fill is known at both ends, is none of the pattern's, and stands in L once, without a slot of A.
static void test_fill(void** unused)
{
    (void)unused;
    weft_system* system = twisted_system(120);
    int n = weft_system_vertex_count(system), slotless = 0;
    sa_hierarchy* h = new_hierarchy(system, NULL);
    const sa_incomplete* f = h->levels[0].incomplete;
    const bsr_pattern* p = &h->levels[0].pattern;
    for (int i = 0; i < n; i++)
    {
        for (int k = f->fill_start[i]; k < f->fill_start[i + 1]; k++)
        {
            int j = f->fill[k];
            assert_true(j != i && has(f->fill, f->fill_start[j], f->fill_start[j + 1], i));
            assert_false(has(p->column, p->row_start[i], p->row_start[i + 1], j));
        }
        for (int k = f->lower_start[i]; k < f->lower_start[i + 1]; k++)
        {
            assert_true(f->lower_column[k] < i &&
                        (k == f->lower_start[i] || f->lower_column[k - 1] < f->lower_column[k]));
            slotless += f->lower_slot[k] < 0;
        }
    }
    print_message("          %.2f blocks of fill a row\n", (double)slotless / n);
    assert_int_equal(2 * slotless, f->fill_start[n]);
    assert_true(slotless > n / 4 && slotless < 2 * n);
    hierarchy_destroy(h);
    weft_system_destroy(system);
}

// A matrix on which pivots fail without more shift: biharmonic, as a flat fine sheet is. It must still be definite.
static void test_weak_pivots(void** unused)
{
    (void)unused;
    const char* overrides[] = {"cells=80", "cloth.0.material.bending=1e-2"};
    weft_system* system = test_scene_system("pinned", overrides, 2, 5);
    sa_hierarchy* h = new_hierarchy(system, NULL);
    const sa_incomplete* f = h->levels[0].incomplete;
    int n = weft_system_vertex_count(system), raised = 0;
    for (int i = 0; i < n; i++)
    {
        raised += f->shift[i] > 0.006F;
    }
    float *v = random_vector(n, 3), *Mv = random_vector(n, 4);
    for (int round = 0; round < 4; round++)
    {
        apply(h, v, Mv);
        assert_true(dot(v, Mv, 3 * n) > 0.0);
        memcpy(v, Mv, (size_t)(3 * n) * sizeof(float));
    }
    print_message("          more shift for %d of %d, radius %.2f\n", raised, n, h->levels[0].incomplete_radius);
    assert_true(raised > 0 && isfinite(h->levels[0].incomplete_radius));
    hierarchy_destroy(h);
    free(v);
    free(Mv);
    weft_system_destroy(system);
}

// Contacts of a few vertices spoil the factor there: shift is raised there alone. Simulated by a solver that none of
// this can change.
static void test_radius_mended_locally(void** unused)
{
    (void)unused;
    const char* overrides[] = {"cells=16", "solver.name=cholesky"};
    weft_system* system = test_scene_system("stack", overrides, 2, 80);
    sa_hierarchy* h = new_hierarchy(system, NULL);
    int n = weft_system_vertex_count(system), raised = 0;
    for (int i = 0; i < n; i++)
    {
        raised += h->levels[0].incomplete->shift[i] > 0.006F;
    }
    print_message("          more shift for %d of %d, radius %.2f\n", raised, n, h->levels[0].incomplete_radius);
    assert_true(raised > 0 && raised < n / 2 && h->levels[0].incomplete_radius < 3.0);
    hierarchy_destroy(h);
    weft_system_destroy(system);
}

// ---- what it is for

static void check_folded(weft_system* system, bool folded)
{
    sa_hierarchy h = {0};
    linear_system view = system_view(system, 1);
    assert_int_equal(sa_is_folded(&h, &view), folded);
    view.positions = NULL;
    assert_false(sa_is_folded(&h, &view));
    weft_system_destroy(system);
}

static void test_tells_folded(void** unused)
{
    (void)unused;
    static const char* const smooth[] = {"pinned", "drooping", "re-entrant", "hang", "flag", "patch"};
    const char* overrides[] = {"cells=40"};
    for (size_t k = 0; k < sizeof(smooth) / sizeof(smooth[0]); k++)
    {
        check_folded(test_scene_system(smooth[k], overrides, 1, 30), false);
    }
    const char* bent[] = {"cells=120", "cloth.0.material.bending=1e-3"}; // stiff against bending, but not bent
    check_folded(test_scene_system("pinned", bent, 2, 3), false);
    check_folded(twisted_system(10), false);
    check_folded(twisted_system(120), true);
}

static int iterations(const weft_system* system, int smoother, vec3* x)
{
    weft_solver_def def = folded_def(smoother);
    weft_solver* solver = NULL;
    weft_solve_stats stats;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
    weft_solver_destroy(solver);
    return stats.iterations;
}

static void test_iterations(void** unused)
{
    (void)unused;
    weft_system* system = twisted_system(120);
    vec3* x = calloc((size_t)weft_system_vertex_count(system), sizeof(vec3));
    int before = iterations(system, 1, x), now = iterations(system, 2, x), chosen = iterations(system, 0, x);
    double error = 1.0;
    assert_int_equal(weft_system_energy_error(system, x, &error, NULL), WEFT_OK);
    print_message("          %d iterations with Chebyshev, %d with the factor, error %.2g\n", before, now, error);
    assert_true(5 * now <= 2 * before && error < 1e-4); // without fill it needs 16 of 34
    assert_int_equal(chosen, now);
    free(x);
    weft_system_destroy(system);
}

// Cloth that does not look folded, here because it has no positions, and is slow all the same: the next full setup
// tries the factor and keeps it. All of that is forgotten with the hierarchy.
static void test_tried_by_counts(void** unused)
{
    (void)unused;
    weft_system* system = twisted_system(120);
    mem_free(system->positions);
    system->positions = NULL;
    vec3* x = calloc((size_t)weft_system_vertex_count(system), sizeof(vec3));
    weft_solver_def def = folded_def(0);
    weft_solver* solver = NULL;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    int count[6];
    static const int refreshed[6] = {0, 0, 1, 0, 0, 1};
    for (int k = 0; k < 6; k++)
    {
        weft_solve_stats stats;
        memset(x, 0, (size_t)weft_system_vertex_count(system) * sizeof(vec3));
        k == 3 ? weft_solver_drop(solver) : (void)0;
        assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
        assert_int_equal(stats.refreshed, refreshed[k]);
        count[k] = stats.iterations;
    }
    print_message("          %d iterations, then %d and %d\n", count[0], count[1], count[2]);
    assert_true(count[0] >= 24 && 4 * count[1] <= 3 * count[0] && count[2] <= count[1] + 2);
    assert_memory_equal(count, count + 3, 3 * sizeof(int));
    weft_solver_destroy(solver);
    free(x);
    weft_system_destroy(system);
}

// Steps with contacts that come and go: refreshed, with the bits of one thread and of one kind of kernels.
static void test_steps_threads_kernels(void** unused)
{
    (void)unused;
    static const char* const kernels[] = {"auto", "auto", "base", "avx2", "avx512"};
    enum
    {
        STEPS = 3
    };
    weft_system* systems[STEPS];
    vec3* first[STEPS] = {0};
    for (int step = 0; step < STEPS; step++)
    {
        systems[step] = twisted_system(119 + step);
    }
    size_t n = (size_t)weft_system_vertex_count(systems[0]);
    vec3* x = calloc(n, sizeof(vec3));
    for (int run = 0; run < 5; run++)
    {
        weft_solver_def def = folded_def(0);
        weft_solver* solver = NULL;
        def.worker_count = run == 1 ? 3 : 1;
        def.kernels = kernels[run];
        bool there = weft_solver_create(&def, &solver, NULL) == WEFT_OK; // this CPU may not have them
        for (int step = 0; step < STEPS && there; step++)
        {
            weft_solve_stats stats;
            assert_int_equal(weft_solver_solve(solver, systems[step], x, &stats), WEFT_OK);
            assert_true((stats.refreshed > 0) == (step > 0));
            first[step] = first[step] ? first[step] : memcpy(malloc(n * sizeof(vec3)), x, n * sizeof(vec3));
            double apart = test_energy_distance(systems[step], x, first[step]), all;
            memset(x, 0, n * sizeof(vec3));
            all = test_energy_distance(systems[step], x, first[step]);
            assert_true(run > 1 ? apart < 1e-4 * all : apart == 0.0);
        }
        weft_solver_destroy(solver);
    }
    for (int step = 0; step < STEPS; step++)
    {
        free(first[step]);
        weft_system_destroy(systems[step]);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_on_chain),
        cmocka_unit_test(test_wide_row),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_tried_by_counts),
        cmocka_unit_test(test_weak_pivots),
        cmocka_unit_test(test_radius_mended_locally),
        cmocka_unit_test(test_tells_folded),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_steps_threads_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
