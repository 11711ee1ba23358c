// The same bits for 1, 2, 3 and 8 threads, for a host's own threads in any order, for two runs, and for every CPU kind that
// this machine runs: all doubles of positions and velocities, and what the stats count.
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "sparse/sparse.h"
#include "weft/scene.h"

typedef struct experiment
{
    const char *scene, *cells, *velocity, *method, *solver;
    int steps;
} experiment;

// More than four chunks of rows on irregular meshes: a sheet that drops from flat, one that is pushed out of its plane, a
// flag in the wind.
#define DROP "two-corners", "cells=45", "cloth.0.velocity=[0,0,0]"
#define PUSH "hang", "cells=45", "cloth.0.velocity=[0.2,0,0.5]"
#define FLAG "flag", "cells=60", "cloth.0.velocity=[0,0,0]"

static const experiment experiments[] = {
    {DROP, "implicit-euler", "mpcg", 2}, {DROP, "implicit-euler", "diag-pcg", 4}, {DROP, "implicit-euler", "cholesky", 4},
    {PUSH, "newton", "mpcg", 1},         {PUSH, "newton", "diag-pcg", 1},         {PUSH, "newton", "cholesky", 1},
    {FLAG, "implicit-euler", "diag-pcg", 2}, {DROP, "implicit-euler", "diag-ppcg", 2},
};

enum
{
    EXPERIMENT_COUNT = sizeof(experiments) / sizeof(experiments[0])
};

typedef struct outcome
{
    int n;
    vec3 *x, *v;
    long long iterations, newton_iterations, substeps;
} outcome;

static weft_scene* load_scene(const experiment* e, const char* kernels)
{
    char method[64], solver[64], kind[64];
    snprintf(method, sizeof(method), "method=%s", e->method);
    snprintf(solver, sizeof(solver), "solver.name=%s", e->solver);
    snprintf(kind, sizeof(kind), "kernels=%s", kernels);
    const char* overrides[] = {e->cells, "tessellation=irregular", e->velocity, method, solver, kind};
    weft_scene* scene;
    weft_error error;
    if (weft_scene_load(e->scene, overrides, 6, &scene, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return scene;
}

static outcome run_experiment(const experiment* e, int threads, const char* kernels)
{
    weft_scene* scene = load_scene(e, kernels);
    weft_sim* sim;
    weft_error error;
    if (weft_scene_create_sim(scene, threads, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    outcome o = {.n = weft_sim_vertex_count(sim, 0)};
    assert_true(o.n > 3 * ROW_GRAIN);
    for (int step = 0; step < e->steps; step++)
    {
        weft_step_stats stats;
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        o.iterations += stats.iterations;
        o.newton_iterations += (int)weft_step_counter(&stats, "newton_iterations");
        o.substeps += stats.substeps;
    }
    o.x = malloc((size_t)o.n * sizeof(vec3));
    o.v = malloc((size_t)o.n * sizeof(vec3));
    weft_sim_positions(sim, 0, o.x);
    weft_sim_velocities(sim, 0, o.v);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return o;
}

static void outcome_finish(outcome* o)
{
    free(o->x);
    free(o->v);
}

static void assert_same(const outcome* a, const outcome* b, const char* what)
{
    size_t bytes = (size_t)a->n * sizeof(vec3);
    bool same = a->n == b->n && memcmp(a->x, b->x, bytes) == 0 && memcmp(a->v, b->v, bytes) == 0 &&
                a->iterations == b->iterations && a->newton_iterations == b->newton_iterations && a->substeps == b->substeps;
    if (!same)
    {
        int i = 0;
        while (i < a->n && memcmp(&a->x[i], &b->x[i], sizeof(vec3)) == 0 && memcmp(&a->v[i], &b->v[i], sizeof(vec3)) == 0)
        {
            i++;
        }
        fail_msg("%s: vertex %d of %d differs; %lld and %lld iterations", what, i, a->n, a->iterations, b->iterations);
    }
}

// Something must have moved, or equality says little.
static void assert_moved(const outcome* o)
{
    int moving = 0;
    for (int i = 0; i < o->n; i++)
    {
        assert_true(v3_is_finite(o->x[i]) && v3_is_finite(o->v[i]));
        moving += v3_length(o->v[i]) > 1e-6;
    }
    assert_true(moving > o->n / 2);
}

static void test_numbers_of_threads(void** unused)
{
    (void)unused;
    const int threads[] = {1, 2, 3, 8, 16};
    for (int e = 0; e < EXPERIMENT_COUNT; e++)
    {
        char what[128];
        outcome one = run_experiment(&experiments[e], 1, "auto");
        assert_moved(&one);
        for (int k = 0; k < 5; k++)
        {
            outcome other = run_experiment(&experiments[e], threads[k], "auto");
            snprintf(what, sizeof(what), "%s %s %s, %d threads", experiments[e].scene, experiments[e].method,
                     experiments[e].solver, threads[k]);
            assert_same(&one, &other, what);
            outcome_finish(&other);
        }
        outcome_finish(&one);
    }
}

// Scatter, product, elements and CG do the same operations in the same order for every kind; cholesky does not promise it.
static void test_cpu_kinds(void** unused)
{
    (void)unused;
    for (int e = 0; e < EXPERIMENT_COUNT; e++)
    {
        if (strcmp(experiments[e].solver, "diag-pcg") != 0)
        {
            continue;
        }
        outcome base = run_experiment(&experiments[e], 2, "base");
        for (int kind = CPU_AVX2; kind <= (int)cpu_best(); kind++)
        {
            outcome other = run_experiment(&experiments[e], 2, cpu_kind_name((cpu_kind)kind));
            assert_same(&base, &other, cpu_kind_name((cpu_kind)kind));
            outcome_finish(&other);
        }
        outcome_finish(&base);
    }
}

// Within one kind, threads change nothing either.
static void test_threads_of_each_kind(void** unused)
{
    (void)unused;
    const experiment e = {DROP, "implicit-euler", "cholesky", 2};
    for (int kind = CPU_BASE; kind <= (int)cpu_best(); kind++)
    {
        outcome one = run_experiment(&e, 1, cpu_kind_name((cpu_kind)kind));
        outcome three = run_experiment(&e, 3, cpu_kind_name((cpu_kind)kind));
        assert_same(&one, &three, cpu_kind_name((cpu_kind)kind));
        outcome_finish(&one);
        outcome_finish(&three);
    }
}

// ---- a host's own threads

typedef struct host
{
    bool backwards;
    int calls;
} host;

static void host_run(int count, void (*fn)(void* context, int index), void* context, void* user)
{
    host* h = user;
    h->calls++;
    for (int k = 0; k < count; k++)
    {
        fn(context, h->backwards ? count - 1 - k : k);
    }
}

static void solve_with(const weft_system* system, const weft_solver_def* def, vec3* x, weft_solve_stats* stats)
{
    weft_solver* solver;
    assert_int_equal(weft_solver_create(def, &solver, NULL), WEFT_OK);
    assert_int_equal(weft_solver_solve(solver, system, x, stats), WEFT_OK);
    weft_solver_destroy(solver);
}

// The order in which a host runs the chunks must not matter.
static void test_host_hooks(void** unused)
{
    (void)unused;
    const experiment e = {DROP, "implicit-euler", "auto", 0};
    weft_scene* scene = load_scene(&e, "auto");
    weft_sim* sim;
    weft_system* system;
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    for (int step = 0; step < 3; step++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
    assert_int_equal(weft_sim_system(sim, &system, NULL), WEFT_OK);
    int n = weft_system_vertex_count(system);
    size_t bytes = (size_t)n * sizeof(vec3);
    vec3 *x = malloc(bytes), *y = malloc(bytes);
    const char *name, *summary;
    for (int k = 0; weft_list(WEFT_LIST_SOLVERS, k, &name, &summary) == WEFT_OK; k++)
    {
        weft_solver_def def = weft_solver_def_default();
        weft_solve_stats serial, hosted;
        def.solver = name;
        solve_with(system, &def, x, &serial);
        for (int backwards = 0; backwards < 2; backwards++)
        {
            host h = {.backwards = backwards};
            def.worker_count = 4;
            def.tasks = (weft_task_hooks){host_run, &h};
            solve_with(system, &def, y, &hosted);
            assert_true(h.calls > 0);
            assert_int_equal(serial.iterations, hosted.iterations);
            assert_memory_equal(x, y, bytes);
        }
    }
    free(x);
    free(y);
    weft_system_destroy(system);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// Which threads took part in a loop.
typedef struct attendance
{
    pthread_mutex_t mutex;
    pthread_t seen[16];
    int count;
} attendance;

static void attend(void* context, int begin, int end)
{
    attendance* a = context;
    (void)end;
    pthread_mutex_lock(&a->mutex);
    int k = 0;
    while (k < a->count && !pthread_equal(a->seen[k], pthread_self()))
    {
        k++;
    }
    a->seen[k] = pthread_self();
    a->count = int_max(a->count, k + 1);
    pthread_mutex_unlock(&a->mutex);
    struct timespec nap = {0, begin % 7 == 0 ? 50000 : 0}; // so that others come, too
    nanosleep(&nap, NULL);
}

static double halves(void* context, int begin, int end)
{
    (void)context;
    return 1.0 / (begin + end);
}

// Threads beyond the limit sit out, whatever it was before; sums stay as they are.
static void test_limit(void** unused)
{
    (void)unused;
    static const int limits[] = {8, 3, 1, 2, 20, 5, 0, 8};
    workers* pool = NULL;
    assert_int_equal(workers_create(8, NULL, &pool), WEFT_OK);
    double sum = parallel_sum(NULL, 5000, 10, halves, NULL);
    int most = 0;
    for (int round = 0; round < 24; round++)
    {
        int limit = limits[round % 8], bound = int_max(1, int_min(8, limit));
        workers_limit(pool, limit);
        attendance a = {.count = 0};
        pthread_mutex_init(&a.mutex, NULL);
        parallel_for(pool, 400, 2, attend, &a);
        pthread_mutex_destroy(&a.mutex);
        most = int_max(most, a.count);
        // One that was on its way when the limit fell may still come to the first loop.
        a.count = 0;
        pthread_mutex_init(&a.mutex, NULL);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        parallel_for(pool, 400, 2, attend, &a);
        pthread_mutex_destroy(&a.mutex);
        assert_in_range(a.count, 1, bound);
        assert_true(parallel_sum(pool, 5000, 10, halves, NULL) == sum);
    }
    assert_true(most > 3);
    workers_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_threads),
        cmocka_unit_test(test_cpu_kinds),
        cmocka_unit_test(test_threads_of_each_kind),
        cmocka_unit_test(test_host_hooks),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
