// Starts from earlier answers, and solves that are looked at before they are done: conjugate gradients with multigrid,
// as steps ask for them.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"

enum
{
    COUNT = 3
};

typedef struct fixture
{
    weft_system* system;
    linear_system view;
    solver_object solver;
    workers* pool;
    int n;
    vec3* answer;           // [n]
    vec3* direction[COUNT]; // [n]
    vec3* x;                // [n]
} fixture;

static weft_solve_stats solve_from(fixture* f, vec3* x)
{
    weft_solve_stats stats;
    assert_int_equal(solver_object_solve(&f->solver, &f->view, x, &stats), WEFT_OK);
    return stats;
}

// The answer is a sum of three directions, none of which is near it.
static void setup(fixture* f)
{
    const char* overrides[] = {"cells=40", "tessellation=irregular"};
    *f = (fixture){.system = test_scene_system("drooping", overrides, 2, 10)};
    f->n = weft_system_vertex_count(f->system);
    f->view = system_view(f->system, 1);
    solve_options options = {.tolerance = 1e-6};
    assert_int_equal(workers_create(2, NULL, &f->pool), WEFT_OK);
    options.pool = f->pool;
    assert_true(cpu_kind_parse("auto", &options.cpu));
    assert_int_equal(solver_object_init(&f->solver, "sa-ppcg", &options, NULL), WEFT_OK);
    size_t n = (size_t)f->n + 1;
    f->answer = calloc(n, sizeof(vec3));
    f->x = calloc(n, sizeof(vec3));
    linear_system plain = f->view;
    weft_solve_stats stats;
    assert_int_equal(solver_object_solve(&f->solver, &plain, f->answer, &stats), WEFT_OK);
    for (int k = 0; k < COUNT; k++)
    {
        f->direction[k] = calloc(n, sizeof(vec3));
    }
    const double small = 1e-3; // smooth, and stiff all the same
    for (int i = 0; i < f->n; i++)
    {
        vec3 at = f->view.positions[i], a = f->answer[i];
        vec3 b = v3_scale(small * sin(3.0 * at.x), v3(at.y, at.z, at.x)), c = v3_scale(small, v3(at.z, at.x, at.y));
        f->direction[0][i] = v3_add(a, b);
        f->direction[1][i] = v3_sub(b, c);
        f->direction[2][i] = v3_add(v3_scale(-0.5, a), v3_scale(2.0, c));
    }
    solver_object_drop(&f->solver);
    f->view.earlier[0] = f->direction[1];
    f->view.earlier[1] = f->direction[2];
}

static void teardown(fixture* f)
{
    solver_object_finish(&f->solver);
    workers_destroy(f->pool);
    weft_system_destroy(f->system);
    for (int k = 0; k < COUNT; k++)
    {
        free(f->direction[k]);
    }
    free(f->answer);
    free(f->x);
}

static void start_from(fixture* f)
{
    memcpy(f->x, f->direction[0], (size_t)f->n * sizeof(vec3));
}

static double error_of(const fixture* f)
{
    double out = -1.0;
    assert_int_equal(weft_system_energy_error(f->system, f->x, &out, NULL), WEFT_OK);
    return out;
}

// The first solve starts from nothing and has the reference; the second one finds the answer among its directions.
static void test_span(void** unused)
{
    (void)unused;
    fixture f;
    setup(&f);
    start_from(&f);
    weft_solve_stats first = solve_from(&f, f.x);
    assert_true(error_of(&f) < 3e-6);
    start_from(&f);
    weft_solve_stats second = solve_from(&f, f.x);
    print_message("          %d iterations from nothing, %d from three directions\n", first.iterations,
                  second.iterations);
    assert_true(first.iterations >= 6 && second.iterations <= 1);
    assert_true(error_of(&f) < 3e-6);
    teardown(&f);
}

// Directions that hold nothing of the answer are left alone after one trial, and no answer is worse for them.
static void test_useless(void** unused)
{
    (void)unused;
    fixture f;
    setup(&f);
    f.view.earlier[1] = NULL;
    int most = 0, first = 0;
    for (int turn = 0; turn < 8; turn++)
    {
        start_from(&f);
        weft_solve_stats stats = solve_from(&f, f.x);
        assert_true(error_of(&f) < 3e-6);
        most = int_max(most, stats.iterations);
        first = turn == 0 ? stats.iterations : first;
    }
    assert_true(most <= first + 1);
    teardown(&f);
}

typedef struct watcher
{
    fixture* f;
    int calls;
    double error;
    bool stops;
} watcher;

static bool see(void* user)
{
    watcher* w = user;
    w->calls++;
    w->error = error_of(w->f);
    return w->stops;
}

// A look comes once, with a rough answer; stopped there, a second solve goes on from it to the tolerance.
static void test_look(void** unused)
{
    (void)unused;
    fixture f;
    setup(&f);
    watcher w = {.f = &f};
    linear_system quiet = f.view;
    f.view.look = (solve_look){1e-2, see, &w};
    start_from(&f);
    weft_solve_stats whole = solve_from(&f, f.x);
    assert_true(w.calls == 1 && w.error > 1e-4 && w.error < 5e-2 && whole.converged && error_of(&f) < 3e-6);
    solver_object_drop(&f.solver);
    w.stops = true;
    start_from(&f);
    weft_solve_stats part = solve_from(&f, f.x), rest;
    assert_true(w.calls == 2 && !part.converged && part.iterations < whole.iterations);
    assert_true(part.residual <= 1e-2 && error_of(&f) > 1e-4);
    assert_int_equal(solver_object_solve_again(&f.solver, &quiet, 1, f.x, &rest), WEFT_OK);
    print_message("          %d iterations, or %d and %d\n", whole.iterations, part.iterations, rest.iterations);
    assert_true(rest.converged && error_of(&f) < 3e-6 && part.iterations + rest.iterations <= whole.iterations + 3);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span),
        cmocka_unit_test(test_useless),
        cmocka_unit_test(test_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
