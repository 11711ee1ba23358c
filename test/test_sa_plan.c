// What multigrid keeps over a checkpoint: a solver that is told what the file says goes on as the one that wrote it, to
// the bit, without a full setup; and a file that says what cannot be is refused.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "common_run.h"
#include "common_scene.h"
#include "common_system.h"
#include "core/sections.h"
#include "solve/sa/sa.h"
#include "solve/system.h"

enum
{
    SYSTEMS = 4 // of consecutive steps
};

static const char header[8] = "plan";

static void object_open(solver_object* object, const char* name, int smoother, int precision)
{
    solve_options options = {.tolerance = 1e-6, .sa = sa_default(), .cpu = cpu_best()};
    options.sa.coarsest = 60;
    options.sa.smoother = smoother;
    options.sa.precision = precision;
    assert_int_equal(solver_object_init(object, name, &options, NULL), WEFT_OK);
}

static int solve(solver_object* object, const weft_system* system, int version, vec3* x, weft_solve_stats* stats)
{
    linear_system view = system_view(system, (uint64_t)version);
    int count = weft_system_vertex_count(system);
    assert_int_equal(system_start(&view, x), WEFT_OK);
    assert_int_equal(solver_object_solve(object, &view, x, stats), WEFT_OK);
    return count;
}

static void save(const solver_object* object)
{
    whole_file file;
    section_writer out;
    assert_int_equal(whole_file_open(&file, scene_path("plan"), NULL), WEFT_OK);
    sections_begin(&out, &file, header, sizeof(header));
    assert_int_equal(solver_object_save(object, true, &out), WEFT_OK);
    sections_end(&out);
    assert_int_equal(whole_file_close(&file, NULL), WEFT_OK);
}

static void load(solver_object* object)
{
    void* bytes;
    size_t size;
    sections from;
    solver_saved saved = {0};
    assert_int_equal(file_read(scene_path("plan"), &bytes, &size, NULL), WEFT_OK);
    assert_int_equal(sections_parse(&from, "plan", bytes, size, sizeof(header), NULL), WEFT_OK);
    assert_int_equal(solver_object_load(&saved, &from, NULL), WEFT_OK);
    assert_int_equal(sections_check_taken(&from, NULL), WEFT_OK);
    assert_non_null(saved.plan);
    solver_object_take(object, &saved);
    mem_free(bytes);
}

// ---- the solver

typedef struct plan_case
{
    const char *scene, *override, *solver;
    int steps, smoother, precision;
} plan_case;

// With an incomplete factor and contacts that come and go, with Chebyshev, with 16 bits, through `auto`.
static const plan_case cases[] = {{"twist", "cells=60", "sa-ppcg", 100, 2, 0},
                                  {"sphere", "cells=30", "sa-ppcg", 60, 0, 0},
                                  {"re-entrant", "cells=30", "sa-pcg", 20, 1, 0},
                                  {"re-entrant", "cells=30", "sa-ppcg", 20, 1, 16},
                                  {"pinned", "cells=90", "auto", 10, 0, 0}};

// After two solves a file is written; one solver goes on, one is resumed. Both refresh, and their answers are the same.
static void test_goes_on(void** unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
    {
        const plan_case* c = &cases[k];
        const char* overrides[] = {c->override};
        solver_object first = {0}, second = {0};
        object_open(&first, c->solver, c->smoother, c->precision);
        object_open(&second, c->solver, c->smoother, c->precision);
        int full = 0, most = 0;
        for (int n = 0; n < SYSTEMS; n++)
        {
            weft_system* system = test_scene_system(c->scene, overrides, 1, c->steps + n);
            size_t count = (size_t)weft_system_vertex_count(system);
            vec3 *x = calloc(count + 1, sizeof(vec3)), *y = calloc(count + 1, sizeof(vec3));
            weft_solve_stats stats, other;
            solve(&first, system, 1 + n, x, &stats);
            most = int_max(most, stats.iterations);
            full = n == 0 ? stats.iterations : full;
            assert_int_equal(stats.refreshed == 0, n == 0);
            if (n >= SYSTEMS / 2)
            {
                solve(&second, system, 7 + n, y, &other);
                assert_int_equal(other.refreshed, stats.refreshed);
                assert_int_equal(other.iterations, stats.iterations);
                assert_memory_equal(x, y, count * sizeof(vec3));
            }
            if (n + 1 == SYSTEMS / 2)
            {
                solver_object_settle(&first);
                save(&first);
                load(&second);
                save(&second); // and what is not used yet is saved again
                load(&second);
            }
            free(x);
            free(y);
            weft_system_destroy(system);
        }
        print_message("          %s, %s: %d iterations, then at most %d\n", c->scene, c->solver, full, most);
        assert_true(most <= full + 4);
        solver_object_finish(&first);
        solver_object_finish(&second);
    }
}

// ---- what cannot be

typedef struct forgery
{
    const char* section;
    size_t at; // item; bytes of the head
    int32_t value;
} forgery;

static weft_status load_forged(const unsigned char* good, size_t size, const forgery* f)
{
    unsigned char* bytes = mem_raw(size, 1);
    weft_error error = {0};
    sections from;
    memcpy(bytes, good, size);
    assert_int_equal(sections_parse(&from, "plan", bytes, size, sizeof(header), NULL), WEFT_OK);
    for (int k = 0; k < from.count; k++)
    {
        if (strcmp(from.list[k].name, f->section) == 0)
        {
            size_t item = f->at == SIZE_MAX ? from.list[k].count - 1 : f->at;
            memcpy((char*)(uintptr_t)from.list[k].items + item * sizeof(int32_t), &f->value, sizeof(f->value));
        }
    }
    solver_saved saved = {0};
    weft_status status = solver_object_load(&saved, &from, &error);
    assert_true(status == WEFT_OK || strstr(error.message, "--force"));
    solver_saved_finish(&saved);
    mem_free(bytes);
    return status;
}

static void test_forged(void** unused)
{
    (void)unused;
    const char* overrides[] = {"cells=40"};
    weft_system* system = test_scene_system("twist", overrides, 1, 100);
    int rows = weft_system_vertex_count(system);
    vec3* x = calloc((size_t)rows + 1, sizeof(vec3));
    weft_solve_stats stats;
    solver_object object = {0};
    object_open(&object, "sa-ppcg", 2, 0);
    solve(&object, system, 1, x, &stats);
    save(&object);
    void* good;
    size_t size;
    assert_int_equal(file_read(scene_path("plan"), &good, &size, NULL), WEFT_OK);
    const size_t head = sizeof(int32_t), integers = offsetof(sa_plan_head, level_count) / head;
    const forgery forgeries[] = {
        {"multigrid", integers, 1},                                       // levels
        {"multigrid", integers, WEFT_LEVEL_MAX + 1},                      //
        {"multigrid", integers + 1, 7},                                   // vectors
        {"multigrid", integers + 2, 2},                                   // a flag
        {"multigrid", offsetof(sa_plan_head, lost) / head, -1},           //
        {"multigrid", offsetof(sa_plan_head, rows) / head, rows + 1},     //
        {"multigrid", offsetof(sa_plan_head, rows) / head, 0},            //
        {"multigrid", offsetof(sa_plan_head, rows) / head + 1, 1},        // fewer aggregates than there are
        {"multigrid", offsetof(sa_plan_head, rows) / head + 1, rows + 1}, // and more
        {"multigrid", 1, 0x7ff00000},                                     // an infinite radius
        {"multigrid-lists", 0, rows},                                     // an aggregate
        {"multigrid-lists", 0, -2},                                       //
        {"multigrid-lists", (size_t)rows, 1},                             // the first row of the interpolation
        {"multigrid-lists", (size_t)rows + 1, 1 << 30},                   // its length
        {"multigrid-lists", 2 * (size_t)rows + 1, rows},                  // a column
        {"multigrid-lists", SIZE_MAX, rows},                              // fill
        {"multigrid-lists", SIZE_MAX, -1},                                //
        {"multigrid-reals", 0, 0x7fc00000},                               // what Lanczos found
        {"multigrid-reals", SIZE_MAX, 0},                                 // a shift
    };
    for (size_t k = 0; k < sizeof(forgeries) / sizeof(*forgeries); k++)
    {
        if (load_forged(good, size, &forgeries[k]) != WEFT_BAD_INPUT)
        {
            fail_msg("forgery %zu of `%s` was believed", k, forgeries[k].section);
        }
    }
    assert_int_equal(load_forged(good, size, &(forgery){"none", 0, 0}), WEFT_OK);
    mem_free(good);
    free(x);
    solver_object_finish(&object);
    weft_system_destroy(system);
}

// ---- a run

// A sheet with pins that buckles on a sphere: contacts, folds, an irregular mesh. Through a file and into a new
// simulation at every second frame, on other numbers of threads.
static const char drape[] =
    "{\"time_step\": 0.005, \"steps_per_frame\": 5, \"solver\": {\"name\": \"auto\", \"sa\": {\"coarsest\": 100}}, "
    "\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 50, \"size\": 1, \"tessellation\": \"irregular\"}}, "
    "\"transform\": {\"translate\": [0, 0.26, 0]}}], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": "
    "{\"radius\": 0.25}}}]}";

static void test_run(void** unused)
{
    (void)unused;
    enum
    {
        FRAME = 5,
        STEPS = 40
    };
    weft_sim *first = scene_sim_text(drape, 1), *sim = scene_sim_text(drape, 2);
    int plans = 0;
    for (int n = 1; n <= STEPS; n++)
    {
        assert_int_equal(weft_sim_step(first, NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        if (n % FRAME > 0)
        {
            continue;
        }
        weft_sim_checkpoint(first);
        weft_sim_checkpoint(sim);
        if (n / FRAME % 2 == 0)
        {
            assert_int_equal(checkpoint_write(scene_path("c.weft"), sim, FRAME, NULL), WEFT_OK);
            weft_sim_destroy(sim);
            sim = scene_sim_text(drape, 1 + n / FRAME % 3);
            assert_int_equal(weft_sim_set_step_count(sim, 0), WEFT_OK);
            assert_int_equal(checkpoint_read(scene_path("c.weft"), sim, FRAME, NULL), WEFT_OK);
            size_t size;
            char* bytes = test_file_read(scene_path("c.weft"), &size);
            for (size_t at = 0; at + 16 < size; at++)
            {
                plans += memcmp(bytes + at, "multigrid-lists", 16) == 0;
            }
            free(bytes);
        }
    }
    assert_true(plans > 0);
    assert_memory_equal(sim->world.state.x, first->world.state.x, (size_t)first->model.vertex_count * sizeof(vec3));
    assert_memory_equal(sim->world.state.v, first->world.state.v, (size_t)first->model.vertex_count * sizeof(vec3));
    weft_sim_destroy(first);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_run),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
