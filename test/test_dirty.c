// Scenes that nobody would ask for: slivers, rest shapes of another unit, masses over four decades, stiffness out of
// measure, pins that jump, bodies like bullets. Every run goes on, finite and without crossings, and a step's work is
// bounded by counts. And who watches a step can stop it.
#include "common.h"

#include <math.h>
#include <string.h>

#include "core/core.h"
#include "math/vec.h"
#include "sim/sim.h"
#include "weft/inspect.h"
#include "weft/scene.h"

enum
{
    CELLS = 6,
    SIDE = CELLS + 1,
    VERTICES = SIDE * SIDE,
    TRIANGLES = 2 * CELLS * CELLS
};

typedef struct sheet
{
    vec3 x[VERTICES];
    int triangles[3 * TRIANGLES];
} sheet;

static sheet sheet_make(double size, double height)
{
    sheet s;
    for (int k = 0; k < VERTICES; k++)
    {
        s.x[k] = v3(size * (k % SIDE) / CELLS, height, size * (k / SIDE) / CELLS);
    }
    for (int k = 0; k < CELLS * CELLS; k++)
    {
        int a = k / CELLS * SIDE + k % CELLS, b = a + 1, c = a + SIDE, d = c + 1;
        const int two[6] = {a, c, b, b, c, d};
        memcpy(s.triangles + 6 * k, two, sizeof(two));
    }
    return s;
}

// ---- the cases

typedef struct dirty
{
    const char* name;
    double rest;      // the rest shape over the start
    double stretch;   // N/m; 0: cotton's
    double density;   // kg/m^2; 0: cotton's
    double time_step; // s
    double jump;      // m, of two pins, there and back in every step; 0: no pins
    double bullet;    // m/s, upwards, of a ball below; 0: it stands
    double sliver;    // share of a cell that every second column keeps; 0: all
    const char* method;
} dirty;

static const dirty cases[] = {
    {.name = "slivers", .sliver = 1e-6, .time_step = 0.01},
    {.name = "slivers on pins", .sliver = 1e-6, .time_step = 0.01, .jump = 1e-3},
    {.name = "a rest shape 18 times as large", .rest = 18.0, .time_step = 0.01},
    {.name = "a rest shape 100 times as large", .rest = 100.0, .time_step = 0.01, .jump = 1e-3},
    {.name = "a rest shape of a hundredth", .rest = 0.01, .time_step = 0.01, .jump = 1e-3},
    {.name = "very stiff", .stretch = 1e6, .time_step = 1.0 / 30.0, .jump = 0.1},
    {.name = "very soft", .stretch = 0.1, .time_step = 1.0 / 30.0, .jump = 0.1},
    {.name = "very light", .density = 1e-4, .time_step = 1.0 / 30.0, .jump = 0.1},
    {.name = "pins that jump by a metre", .time_step = 0.01, .jump = 1.0},
    {.name = "pins that jump by a metre, newton", .time_step = 0.01, .jump = 1.0, .method = "newton"},
    {.name = "a ball of 10 m/s", .time_step = 1.0 / 30.0, .bullet = 10.0},
    {.name = "a ball of 100 m/s on pins", .time_step = 0.01, .bullet = 100.0, .jump = 1e-3},
};

static void add_sheet(weft_sim* sim, const dirty* d)
{
    sheet s = sheet_make(0.5, 0.3), rest = s;
    for (int k = 0; k < VERTICES; k++)
    {
        bool narrow = d->sliver > 0.0 && k % SIDE % 2 == 1;
        s.x[k].x -= narrow ? 0.5 / CELLS * (1.0 - d->sliver) : 0.0;
        rest.x[k] = v3_scale(d->rest > 0.0 ? d->rest : 1.0, s.x[k]);
    }
    weft_pin_key keys[] = {{.time = 0.0}, {.time = d->time_step, .offset = {0, 0.3 * d->jump, d->jump}},
                           {.time = 2 * d->time_step}, {.time = 3 * d->time_step, .offset = {d->jump, 0, 0}}};
    static const int corners[] = {0, CELLS};
    weft_pin pin = weft_pin_default();
    pin.vertices = corners;
    pin.vertex_count = 2;
    pin.keys = keys;
    pin.key_count = 4;
    weft_cloth_def def = weft_cloth_def_default();
    def.positions = s.x;
    def.vertex_count = VERTICES;
    def.face_vertices = s.triangles;
    def.face_count = TRIANGLES;
    def.rest_positions = rest.x;
    def.pins = &pin;
    def.pin_count = d->jump > 0.0;
    def.material.stretch_warp = def.material.stretch_weft = d->stretch > 0.0 ? d->stretch : def.material.stretch_warp;
    def.material.density = d->density > 0.0 ? d->density : def.material.density;
    weft_error error = {0};
    if (weft_sim_add_cloth(sim, &def, NULL, &error) != WEFT_OK)
    {
        fail_msg("%s: %s", d->name, error.message);
    }
}

static const int ball_faces[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};

static void add_ball(weft_sim* sim, const dirty* d)
{
    const double r = 0.15;
    const vec3 x[6] = {{0.25 + r, 0.1, 0.25}, {0.25 - r, 0.1, 0.25}, {0.25, 0.1, 0.25 + r},
                       {0.25, 0.1, 0.25 - r}, {0.25, 0.1 + r, 0.25}, {0.25, 0.1 - r, 0.25}};
    weft_pin_key keys[] = {{.time = 0.0}, {.time = 1.0, .offset = {0, d->bullet, 0.1 * d->bullet}}};
    weft_obstacle_def def = weft_obstacle_def_default();
    def.positions = x;
    def.vertex_count = 6;
    def.face_vertices = ball_faces;
    def.face_count = 8;
    def.keys = keys;
    def.key_count = 2;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, NULL), WEFT_OK);
}

static weft_sim* start(const dirty* d)
{
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim;
    def.time_step = d->time_step;
    def.method = d->method ? d->method : def.method;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    add_sheet(sim, d);
    add_ball(sim, d);
    return sim;
}

// ---- what must hold

static int64_t crossings(weft_sim* sim)
{
    sheet s = sheet_make(1.0, 0.0);
    vec3 ball[6];
    const weft_inspect_body bodies[] = {
        {.vertex_count = VERTICES, .triangle_count = TRIANGLES, .triangles = s.triangles},
        {.obstacle = 1, .vertex_count = 6, .triangle_count = 8, .triangles = ball_faces}};
    const weft_vec3* positions[] = {s.x, ball};
    weft_inspect_def def = weft_inspect_def_default();
    weft_inspector* inspector;
    weft_inspection found;
    def.crossings_only = 1;
    weft_sim_positions(sim, 0, s.x);
    assert_int_equal(weft_sim_obstacle_positions(sim, 0, weft_sim_time(sim), ball, NULL), WEFT_OK);
    assert_int_equal(weft_inspector_create(&def, bodies, 2, &inspector, NULL), WEFT_OK);
    assert_int_equal(weft_inspector_frame(inspector, positions, &found, NULL), WEFT_OK);
    weft_inspector_destroy(inspector);
    return found.crossings + found.nonfinite;
}

static void run_goes_on(const dirty* d, int steps)
{
    weft_sim* sim = start(d);
    int solves = 0, forced = 0, squeezed = 0;
    for (int k = 0; k < steps; k++)
    {
        weft_step_stats stats;
        weft_error error = {0};
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("%s: %s", d->name, error.message);
        }
        solves = int_max(solves, stats.solves);
        forced += stats.forced;
        squeezed += stats.squeezed;
        assert_true(isfinite(stats.energy.total));
        // What bodies or pins have closed on is their business.
        if (squeezed == 0 && crossings(sim) > 0)
        {
            fail_msg("%s: a crossing after step %d", d->name, k + 1);
        }
    }
    print_message("          %s: at most %d solves a step, %d substeps forced, %d squeezed\n", d->name, solves, forced,
                  squeezed);
    assert_true(solves < 2 * STEP_TICKS + 1000);
    weft_sim_destroy(sim);
}

static void test_every_run_goes_on(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        run_goes_on(&cases[k], 4);
    }
}

// ---- crowds

// Vertices that fly about at 100 m/s, each its own way: in a whole step every feature would be looked at with every
// other. Half as long steps are cheaper, and what contact costs in a step is bounded.
static void test_a_crowd_is_halved(void** state)
{
    (void)state;
    enum
    {
        MANY = 21 * 21
    };
    static const char* const sets[] = {"cells=20", "time_step=0.01", "cloth.0.pins=[]"};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    vec3 x[MANY], v[MANY];
    uint64_t random = 11;
    assert_int_equal(weft_scene_load("two-corners", sets, 3, &scene, NULL), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, NULL), WEFT_OK);
    weft_sim_positions(sim, 0, x);
    for (int k = 0; k < MANY; k++)
    {
        v[k].x = test_random(&random, -100, 100);
        v[k].y = test_random(&random, -100, 100);
        v[k].z = test_random(&random, -100, 100);
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, v), WEFT_OK);
    weft_step_stats stats;
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    double effort = sim->world.contact->effort / MANY;
    print_message("          %d substeps, %d rejected, %d forced; %.0f pairs and rows a vertex\n", stats.substeps,
                  stats.rejected, stats.forced, effort);
    assert_true(stats.rejected >= 2 && effort < 2e3 && isfinite(stats.energy.total));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

// ---- who watches

typedef struct watcher
{
    int looks, stop_at; // calls so far; the one that stops, 0: none
    double done;
} watcher;

static int look(void* user, const weft_progress* p)
{
    watcher* w = user;
    assert_true(p->step >= 1 && p->done >= 0.0 && p->done < 1.0 && p->stage[0] && p->substeps >= 0);
    w->done = p->done;
    return ++w->looks == w->stop_at;
}

// A step that is stopped has not been: the rest goes the same way, to the bit, as from a checkpoint there.
static void test_a_step_can_be_stopped(void** state)
{
    (void)state;
    static const dirty plain = {.name = "plain", .time_step = 0.01, .jump = 0.05};
    weft_sim *sim = start(&plain), *other = start(&plain);
    vec3 x[VERTICES], y[VERTICES];
    watcher w = {.stop_at = 10};
    weft_error error = {0};
    weft_sim_watch(sim, look, &w);
    weft_status status = WEFT_OK;
    for (int k = 0; k < 6 && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, NULL, &error);
    }
    assert_int_equal(status, WEFT_CANCELLED);
    assert_non_null(strstr(error.message, "stopped on request"));
    assert_int_equal(w.looks, 10);
    int64_t there = weft_sim_step_count(sim);
    while (weft_sim_step_count(sim) < 6)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
    while (weft_sim_step_count(other) < 6)
    {
        weft_sim_step_count(other) == there ? weft_sim_checkpoint(other) : (void)0;
        assert_int_equal(weft_sim_step(other, NULL, NULL), WEFT_OK);
    }
    weft_sim_positions(sim, 0, x);
    weft_sim_positions(other, 0, y);
    assert_memory_equal(x, y, sizeof(x));
    assert_true(w.looks > 20);
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_run_goes_on),
        cmocka_unit_test(test_a_crowd_is_halved),
        cmocka_unit_test(test_a_step_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
