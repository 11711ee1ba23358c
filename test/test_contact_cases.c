// Scenes that broke an earlier Weft, and their kind: pins that hold only some directions with bodies that sweep through
// them, stacks on a slope, frictions of both sides.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "core/core.h"
#include "sim/sim.h"
#include "weft/cache.h"
#include "weft/inspect.h"

// ---- partial pins

// Of the state: largest distance of a pinned vertex from what its pin leaves it, in the directions that are held.
static double off_pins(const weft_sim* sim)
{
    const world* w = &sim->world;
    const pin_set* set = &sim->model.pins;
    double time = weft_sim_time(sim), worst = 0.0;
    for (int k = 0; k < set->count; k++)
    {
        const pin_motion* m = &set->motions[set->pins[k].motion];
        vec3 d = v3_sub(w->state.x[set->pins[k].vertex], pin_target(m, &set->pins[k], NULL, time));
        double along = v3_dot(d, m->direction);
        double off = m->fix == WEFT_FIX_PLANE  ? fabs(along)
                     : m->fix == WEFT_FIX_LINE ? v3_length(v3_madd(d, -along, m->direction))
                                               : v3_length(d);
        worst = fmax(worst, off);
    }
    return worst;
}

// The inspector beside a sheet and one body.
enum
{
    WATCHED = 2000 // vertices, and triangles, of a body
};

typedef struct watch
{
    weft_inspector* inspector;
    weft_squeezed_split* split;
    weft_inspect_body bodies[2];
    int triangles[2][3 * WATCHED];
    vec3 x[2][WATCHED];
    weft_squeezed closed; // the first pair that a step has listed
    int closed_count;
} watch;

static void watch_open(watch* w, const weft_sim* sim)
{
    const mesh* meshes[2] = {&sim->bodies[0].rest, &sim->obstacles[0].mesh};
    assert_int_equal(sim->body_count + sim->obstacle_count, 2);
    w->closed_count = 0;
    for (int k = 0; k < 2; k++)
    {
        assert_true(meshes[k]->vertex_count <= WATCHED && meshes[k]->triangle_count <= WATCHED);
        memcpy(w->triangles[k], meshes[k]->triangle, (size_t)meshes[k]->triangle_count * 3 * sizeof(int));
        w->bodies[k] = (weft_inspect_body){.obstacle = k,
                                           .vertex_count = meshes[k]->vertex_count,
                                           .triangle_count = meshes[k]->triangle_count,
                                           .triangles = w->triangles[k]};
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.crossings_only = 1;
    def.pair_limit = 100000;
    assert_int_equal(weft_inspector_create(&def, w->bodies, 2, &w->inspector, NULL), WEFT_OK);
    assert_int_equal(weft_squeezed_split_create(w->bodies, 2, &w->split), WEFT_OK);
}

// Crossings at the end of a step that it does not list as squeezed; *listed: those that it does.
static int64_t watch_step(watch* w, weft_sim* sim, const weft_step_stats* stats, int64_t* listed)
{
    weft_inspection found;
    const weft_vec3* positions[2] = {w->x[0], w->x[1]};
    weft_sim_positions(sim, 0, w->x[0]);
    assert_int_equal(weft_sim_obstacle_positions(sim, 0, weft_sim_time(sim), w->x[1], NULL), WEFT_OK);
    for (int i = 0; i < w->bodies[0].vertex_count + w->bodies[1].vertex_count; i++)
    {
        int body = i >= w->bodies[0].vertex_count;
        vec3* x = &w->x[body][i - body * w->bodies[0].vertex_count];
        *x = v3_round(*x); // as run folders have them
    }
    assert_int_equal(weft_inspector_frame(w->inspector, positions, &found, NULL), WEFT_OK);
    assert_false(found.truncated);
    if (w->closed_count == 0 && stats->squeezed > 0)
    {
        w->closed = stats->squeezed_pairs[0];
        w->closed_count = 1;
    }
    weft_squeezed_list list = {stats->squeezed, stats->squeezed_pairs, w->closed_count, &w->closed};
    assert_int_equal(weft_squeezed_split_frame(w->split, &list, positions, &found, listed), WEFT_OK);
    return found.crossings;
}

static void watch_close(watch* w)
{
    weft_inspector_destroy(w->inspector);
    weft_squeezed_split_destroy(w->split);
}

typedef struct swept
{
    int squeezed;                // steps that list pairs
    int substeps;                // the most of a step, with those thrown away
    int solves;                  // likewise
    int64_t crossings, expected; // at the ends of steps: that no list explains, and that one does
    double off;                  // m
    double energy;               // J, the most
} swept;

static swept sweep(const char* text, int steps)
{
    weft_sim* sim = scene_sim_text(text, 1);
    weft_error error = {0};
    weft_step_stats stats;
    swept out = {0};
    static watch w;
    watch_open(&w, sim);
    for (int n = 0; n < steps; n++)
    {
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            fail_msg("step %d: %s\n%s", n + 1, error.message, text);
        }
        out.squeezed += stats.squeezed > 0;
        out.substeps = int_max(out.substeps, stats.substeps + stats.rejected);
        out.off = fmax(out.off, off_pins(sim));
        out.energy = fmax(out.energy, stats.energy.kinetic);
        out.solves = int_max(out.solves, stats.solves);
        int64_t listed;
        out.crossings += watch_step(&w, sim, &stats, &listed);
        out.expected += listed;
    }
    watch_close(&w);
    weft_sim_destroy(sim);
    return out;
}

#define BALL_THROUGH(center, radius, time, way)                                                                        \
    "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": " center ", \"radius\": " radius        \
    ", \"segments\": 8}}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": " time ", \"offset\": " way "}]}}]"
#define SHEET_OF(plane, turn, pins)                                                                                    \
    "\"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [0.2, 0.2], \"cells\": 6, \"plane\": \"" plane  \
    "\"}}, \"transform\": {\"rotate\": " turn "}, \"pins\": [" pins "]}]"

// A curtain on a rail with a ball through the rail, askew and straight, and a sheet in a plane that a ball goes
// through: once an abort, a failure, and 30 s a step with the sheet carried off its plane.
static const char* const held_in_part[] = {
    "{\"time_step\": 0.005, " SHEET_OF(
        "xy", "[0, 20, 30]",
        "{\"where\": {\"edge\": \"top\"}, \"fix\": {\"line\": [0.8137976813493738, 0.46984631039295416, "
        "-0.3420201433256687]}}") ", " BALL_THROUGH("[-0.032228112036438564, 0.09686314467821394, "
                                                    "0.0563815572471545]",
                                                    "0.03", "0.12",
                                                    "[-0.0592396265452, -0.03420201433, -0.18793852415]") "}",
    "{\"time_step\": 0.005, " SHEET_OF(
        "xy", "[0, 0, 0]",
        "{\"where\": {\"edge\": \"top\"}, \"fix\": {\"line\": [1, 0, 0]}}") ", " BALL_THROUGH("[0, 0.1, 0.06]", "0.03",
                                                                                              "0.12",
                                                                                              "[0, 0, -0.2]") "}",
    "{\"time_step\": 0.005, \"gravity\": [0, 0, 0], " SHEET_OF("xz", "[0, 0, 0]",
                                                               "{\"where\": {\"box\": {\"min\": [-1, -1, -1], "
                                                               "\"max\": [1, 1, 1]}}, \"fix\": {\"plane\": [0, 1, "
                                                               "0]}}") ", " BALL_THROUGH("[0, 0.08, 0]", "0.05", "0.1",
                                                                                         "[0, -0.2, 0]") "}",
};

static void bodies_sweep_through_rails(void** state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
    {
        swept s = sweep(held_in_part[k], 24);
        print_message("case %d: squeezed in %d of 24 steps, at most %d substeps, %.2g m off the pins, %.2g J\n", k,
                      s.squeezed, s.substeps, s.off, s.energy);
        assert_true(s.squeezed > 2);
        assert_true(s.off < 1e-9 && s.substeps <= 64 && s.energy < 0.1);
        assert_true(s.crossings == 0 && s.expected > 0);
    }
}

static double draw(uint64_t* random, double low, double high)
{
    return test_random(random, low, high);
}

// Lines, planes and points at edges or everywhere, still or moving, in any direction; balls and boxes that sweep
// through, slow and fast.
static void random_scene(uint64_t* random, char* text, size_t size)
{
    vec3 d = v3_normalize(test_random_vec(random, 1.0)), askew = test_random_vec(random, 1.0);
    static const char* const places[] = {"{\"edge\": \"top\"}", "{\"edge\": \"left\"}",
                                         "{\"box\": {\"min\": [-1, -1, -1], \"max\": [1, 1, 1]}}",
                                         "{\"corner\": [\"top-left\", \"top-right\"]}"};
    char fix[160], path[200] = "", shape[200];
    int kind = (int)draw(random, 0, 3);
    kind == 0   ? (void)snprintf(fix, sizeof(fix), "\"point\"")
    : kind == 1 ? (void)snprintf(fix, sizeof(fix), "{\"line\": [%.6f, %.6f, %.6f]}", d.x, d.y, d.z)
                : (void)snprintf(fix, sizeof(fix), "{\"plane\": [%.6f, %.6f, %.6f]}", d.x, d.y, d.z);
    if (draw(random, 0, 1) < 0.5)
    {
        vec3 move = test_random_vec(random, 0.05);
        snprintf(path, sizeof(path), ", \"path\": [{\"time\": 0}, {\"time\": 0.1, \"offset\": [%.4f, %.4f, %.4f]}]",
                 move.x, move.y, move.z);
    }
    // Its way leads through a point of the pinned part: the top edge, the left one, anywhere, a corner.
    int place = (int)draw(random, 0, 4);
    bool upright = draw(random, 0, 1) < 0.5;
    double side = draw(random, -0.08, 0.08);
    const double across[4][2] = {{side, 0.1}, {-0.1, side}, {side, draw(random, -0.08, 0.08)}, {-0.1, 0.1}};
    vec3 through = upright ? v3(across[place][0], across[place][1], 0) : v3(across[place][0], 0, -across[place][1]);
    double sign = draw(random, 0, 1) < 0.5 ? 1 : -1;
    vec3 way = v3_scale(0.25, v3_normalize(v3_add(askew, upright ? v3(0, 0, sign) : v3(0, sign, 0))));
    vec3 from = v3_sub(through, v3_scale(0.5, way));
    double r = draw(random, 0.015, 0.05);
    draw(random, 0, 1) < 0.5
        ? (void)snprintf(shape, sizeof(shape),
                         "{\"sphere\": {\"center\": [%.4f, %.4f, %.4f], \"radius\": %.3f, \"segments\": 6}}", from.x,
                         from.y, from.z, r)
        : (void)snprintf(shape, sizeof(shape),
                         "{\"box\": {\"center\": [%.4f, %.4f, %.4f], \"size\": [%.3f, %.3f, %.3f]}}", from.x, from.y,
                         from.z, r, 2 * r, 0.7 * r);
    snprintf(
        text, size,
        "{\"time_step\": %.4f, \"initial_contact\": \"refuse\", \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": "
        "{\"size\": [0.2, 0.2], \"cells\": 6, \"plane\": \"%s\"}}, \"pins\": [{\"where\": %s, \"fix\": %s%s}]}], "
        "\"obstacles\": [{\"name\": \"body\", \"shape\": %s, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": %.3f, "
        "\"offset\": [%.4f, %.4f, %.4f]}]}}]}",
        draw(random, 0, 1) < 0.3 ? 1.0 / 60.0 : 0.005, upright ? "xy" : "xz", places[place], fix, path, shape,
        draw(random, 0.05, 0.3), 2 * way.x, 2 * way.y, 2 * way.z);
}

static void random_pins_and_bodies(void** state)
{
    (void)state;
    uint64_t random = 2026;
    int squeezed = 0, substeps = 0, solves = 0, done = 0;
    int64_t crossings = 0, expected = 0;
    double off = 0.0;
    while (done < 30)
    {
        char text[2000];
        random_scene(&random, text, sizeof(text));
        weft_scene* scene = scene_load_text(text, NULL, 0);
        weft_sim* sim = NULL;
        bool clean = weft_scene_create_sim(scene, 1, &sim, NULL) == WEFT_OK;
        weft_sim_destroy(sim);
        weft_scene_destroy(scene);
        if (!clean)
        {
            continue; // it starts with a crossing
        }
        swept s = sweep(text, 40);
        squeezed += s.squeezed > 0;
        substeps = int_max(substeps, s.substeps);
        off = fmax(off, s.off);
        solves = int_max(solves, s.solves);
        crossings += s.crossings;
        expected += s.expected;
        if (s.off > 1e-6 || s.substeps > 40 || s.crossings > 0)
        {
            print_message("scene %d: %.3g m off its pins, %d substeps, %d crossings\n%s\n", done, s.off, s.substeps,
                          (int)s.crossings, text);
        }
        done++;
    }
    print_message(
        "%d of 30 scenes squeeze; at most %d substeps and %d solves a step, %.2g m off the pins; %d crossings "
        "that are listed, %d that are not\n",
        squeezed, substeps, solves, off, (int)expected, (int)crossings);
    // Of this size a solve takes less than 2 ms wherever Weft runs: no step is above 2 s.
    assert_true(off < 1e-6 && substeps <= 40 && solves <= 100);
    assert_true(crossings == 0 && expected > 0);
    assert_true(squeezed >= 6);
}

// ---- stacks

// Three towels on a board whose tangent is below what they and the board have: after they have come to rest nothing
// moves, and above it they slide.
static double stack_way(double tangent, double mu, double rest, double from, double to, double h)
{
    const double g = 9.81, cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    char text[2400], friction[80];
    snprintf(friction, sizeof(friction), "{\"static\": %g, \"kinetic\": %g}", rest, mu);
    int used = snprintf(text, sizeof(text), "{\"time_step\": %.17g, \"gravity\": [%.17g, %.17g, 0], \"cloth\": [", h,
                        g * tangent * cosine, -g * cosine);
    for (int k = 0; k < 3; k++)
    {
        used += snprintf(
            text + used, sizeof(text) - (size_t)used,
            "%s{\"name\": \"towel%d\", \"friction\": %s, \"mesh\": {\"grid\": {\"size\": [0.2, 0.2], \"cells\": "
            "%d}}, \"transform\": {\"rotate\": [0, %d, 0], \"translate\": [0, %g, 0]}}",
            k ? ", " : "", k, friction, 5 + k, 7 * k, 0.0012 + 0.0011 * k);
    }
    snprintf(text + used, sizeof(text) - (size_t)used,
             "], \"obstacles\": [{\"name\": \"board\", \"friction\": %s, \"shape\": {\"plane\": {}}}]}", friction);
    weft_sim* sim = scene_sim_text(text, 1);
    double way = 0.0;
    for (int k = 0; k < 2; k++)
    {
        double start = k ? from : 0.0, end = k ? to : from;
        for (int n = (int)(start / h + 0.5); n < (int)(end / h + 0.5); n++)
        {
            weft_error error = {0};
            if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
            {
                fail_msg("%s", error.message);
            }
        }
        vec3 x[64];
        weft_sim_positions(sim, 2, x);
        double mean = 0.0;
        for (int i = 0; i < 64; i++)
        {
            mean += x[i].x / 64;
        }
        way = mean - way;
    }
    weft_sim_destroy(sim);
    return way;
}

static void stacks_hold_and_slide(void** state)
{
    (void)state;
    static const double steps[] = {0.002, 0.005, 1.0 / 60.0, 1.0 / 30.0};
    // From 0.2 to 0.6 s by g (sin - mu cos); what falls in its first step has no friction in it.
    const double expected = 0.5 * 9.81 * (0.9 - 0.5) / sqrt(1.81) * (0.36 - 0.04);
    for (int k = 0; k < 4; k++)
    {
        double crept = stack_way(0.48, 0.5, 0.5, 1.0, 3.0, steps[k]);
        double slid = stack_way(0.9, 0.5, 0.5, 0.2, 0.6, steps[k]);
        print_message("step %.4f s: the top of a stack creeps %.3g mm in two seconds; slides %.3f m\n", steps[k],
                      1e3 * crept, slid);
        assert_true(fabs(crept) < (k < 2 ? 1e-6 : 1e-5));
        assert_true(fabs(slid / expected - 1.0) < 0.08);
    }
}

// ---- frictions of both sides

static double slide_with(const char* cloth, const char* plane, const char* scene)
{
    char text[1200];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.005, \"gravity\": [6.9367, -6.9367, 0], \"contact\": {%s}, \"cloth\": [{\"name\": "
             "\"sheet\", "
             "%s\"mesh\": {\"grid\": {\"size\": [0.2, 0.2], \"cells\": 4}}, \"transform\": {\"translate\": [0, 0.001, "
             "0]}}], "
             "\"obstacles\": [{\"name\": \"plane\", %s\"shape\": {\"plane\": {}}}]}",
             scene, cloth, plane);
    weft_sim* sim = scene_sim_text(text, 1);
    for (int n = 0; n < 60; n++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
    }
    vec3 v[25];
    weft_sim_velocities(sim, 0, v);
    weft_sim_destroy(sim);
    return 1.0 - v[0].x / (6.9367 * 0.3); // the coefficient
}

static void both_sides_count(void** state)
{
    (void)state;
    static const struct
    {
        const char *cloth, *plane, *scene;
        double mu;
    } rows[] = {
        {"", "", "", 0.3},
        {"", "", "\"friction\": 0.1", 0.1},
        {"\"friction\": 0.4, ", "", "", 0.4},
        {"", "\"friction\": 0.2, ", "", 0.2},
        {"\"friction\": 0.4, ", "\"friction\": 0.1, ", "", 0.2},
        {"\"friction\": 0.5, ", "\"friction\": 0, ", "", 0.0},
        {"\"friction\": null, ", "\"friction\": {\"static\": 0.6, \"kinetic\": 0.25}, ", "", 0.25},
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
    {
        double mu = slide_with(rows[k].cloth, rows[k].plane, rows[k].scene);
        if (fabs(mu - rows[k].mu) > 0.01)
        {
            fail_msg("cloth {%s} on plane {%s}: %.3f instead of %.3f", rows[k].cloth, rows[k].plane, mu, rows[k].mu);
        }
    }
}

// Two sheets of different meshes, one upon the other over a ball: after three of ten seconds neither drifts nor jitters.
// Kinetic energy stays below that of 0.1 mm/s, vertices below a micrometre.
static void layers_come_to_rest(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(
        "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"cloth\": ["
        "{\"name\": \"lower\", \"mesh\": {\"grid\": {\"cells\": 9, \"size\": 0.4}}, \"transform\": {\"translate\": [0, "
        "0.2015, 0]}}, "
        "{\"name\": \"upper\", \"mesh\": {\"grid\": {\"cells\": 8, \"size\": 0.42, \"tessellation\": \"irregular\"}}, "
        "\"transform\": {\"translate\": [0, 0.2035, 0]}}], "
        "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.2, \"segments\": 6}}}]}",
        1);
    enum
    {
        LOWER = 100,
        UPPER = 81,
        CALM = 300,
        STEPS = 1000
    };
    const double mass = 0.15 * (0.4 * 0.4 + 0.42 * 0.42), speed = 1e-4;
    static vec3 at_rest[LOWER + UPPER], x[LOWER + UPPER];
    double most = 0.0, way = 0.0;
    for (int k = 0; k < STEPS; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        weft_sim_positions(sim, 0, k < CALM ? at_rest : x);
        weft_sim_positions(sim, 1, (k < CALM ? at_rest : x) + LOWER);
        most = k < CALM ? 0.0 : fmax(most, stats.energy.kinetic);
        for (int i = 0; k >= CALM && i < LOWER + UPPER; i++)
        {
            way = fmax(way, v3_length(v3_sub(x[i], at_rest[i])));
        }
    }
    print_message("at rest: %.3g mm/s, drift %.3g m\n", 1e3 * sqrt(2.0 * most / mass), way);
    assert_true(most < 0.5 * mass * speed * speed);
    assert_true(way < 1e-6);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_sweep_through_rails), cmocka_unit_test(random_pins_and_bodies),
        cmocka_unit_test(stacks_hold_and_slide),      cmocka_unit_test(both_sides_count),
        cmocka_unit_test(layers_come_to_rest),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
