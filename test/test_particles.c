// Springs between particles of cloth (contact/particles.c): the voxels find every pair, forces are the gradient of the
// pairs' energy and their blocks what is left of its second derivative, a sheet that is folded on itself stays apart on
// any number of threads and with every split, and springs know exclusions and clusters.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common_scene.h"
#include "contact/find.h"
#include "core/core.h"
#include "sim/sim.h"

// A sheet that lies on the floor, and whose edge is laid over it.
#define FOLD(cells, more)                                                                                              \
    "{\"time_step\": 0.005, \"steps_per_frame\": 10, \"frames\": 30, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "     \
    "{\"grid\": {\"size\": 0.5, \"cells\": " #cells ", \"tessellation\": \"irregular\"}}, \"transform\": "             \
    "{\"translate\": [0, 0.0015, 0]}, \"pins\": [{\"where\": {\"edge\": \"top\"}, \"path\": [{\"time\": 0}, "          \
    "{\"time\": "                                                                                                      \
    "0.3, \"offset\": [0, 0.2, 0.2]}, {\"time\": 0.6, \"offset\": [0, 0.02, 0.4]}], \"release\": 0.7}]}], "            \
    "\"obstacles\": [{\"name\": \"floor\", \"shape\": {\"plane\": {}}}], \"contact\": {" more "}}"

#define ON "\"particles\": {}"

static weft_sim* built(const char* text, int threads)
{
    weft_sim* sim = scene_sim_text(text, threads);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

// The contact of a sheet at these positions and at rest, as far as its pairs.
static contact* find_at(weft_sim* sim, const vec3* x, vec3* still)
{
    contact* c = sim->world.contact;
    memcpy(sim->world.state.x, x, (size_t)c->cloth_count * sizeof(vec3));
    contact_substep now = {.h = 0.005,
                           .time_step = 0.005,
                           .x = sim->world.state.x,
                           .v = still,
                           .expected = still,
                           .last = &sim->world.state.contact};
    assert_int_equal(contact_find(c, &now), WEFT_OK);
    c->cushion_count = 0;
    particles_take(c);
    return c;
}

enum
{
    POINTS = 17 * 17
};

// Crushed into a third of its size: pairs of all kinds.
static void crush(const contact* c, uint64_t* random, vec3* x)
{
    for (int i = 0; i < c->cloth_count; i++)
    {
        vec3 r = c->rest[i];
        x[i] = v3_add(v3(0.3 * r.x, 1.0 + 0.02 * sin(90.0 * r.x), 0.3 * r.z), test_random_vec(random, 0.004));
    }
}

// The distance that a pair keeps, with no word of particles.c: grid of spacing s.
static double kept(const contact* c, int i, int j)
{
    double s = 0.5 * (c->particles.spacing[i] + c->particles.spacing[j]);
    return 0.6 * fmin(s, v3_length(v3_sub(c->rest[i], c->rest[j])));
}

static double energy_of(const contact* c, const vec3* x)
{
    double sum = 0.0;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        double l = v3_length(v3_sub(x[s->vertex[0]], x[s->vertex[1]]));
        double left = kept(c, s->vertex[0], s->vertex[1]) - l;
        sum += 0.5 * s->stiffness * left * left;
    }
    return sum;
}

static void voxels_find_every_pair(void** state)
{
    (void)state;
    static vec3 x[POINTS], still[POINTS];
    uint64_t random = 3;
    weft_sim* sim = built(FOLD(16, ON), 1);
    for (int turn = 0; turn < 5; turn++)
    {
        crush(sim->world.contact, &random, x);
        const contact* c = find_at(sim, x, still);
        int count = 0;
        for (int i = 0; i < POINTS; i++)
        {
            for (int j = i + 1; j < POINTS; j++)
            {
                count += v3_length(v3_sub(x[i], x[j])) < kept(c, i, j);
            }
        }
        assert_true(count > 300);
        assert_int_equal(c->particles.pair_count, count);
        assert_int_equal(c->cushion_count, count);
    }
    // Flat cloth has none, however irregular; on a grid the spacing is the length of its cells.
    const contact* c = find_at(sim, sim->world.contact->rest, still);
    assert_int_equal(c->particles.pair_count, 0);
    weft_sim_destroy(sim);
    sim = built("{\"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": 0.5, \"cells\": 10}}}], \"contact\": "
                "{\"particles\": {}}}",
                1);
    for (int i = 0; i < 121; i++)
    {
        assert_true(fabs(sim->world.contact->particles.spacing[i] - 0.05) < 1e-12);
    }
    weft_sim_destroy(sim);
}

// k (d - l) n, at rest.
static vec3 pair_force(const cushion* s, double d, vec3 way)
{
    double l = v3_length(way);
    return v3_scale(s->stiffness * (d - l) / l, way);
}

static void forces_are_gradients(void** state)
{
    (void)state;
    static vec3 x[POINTS], still[POINTS], rhs[POINTS];
    uint64_t random = 7;
    weft_sim* sim = built(FOLD(16, ON), 1);
    crush(sim->world.contact, &random, x);
    const contact* c = find_at(sim, x, still);
    memset(rhs, 0, sizeof(rhs));
    cushions_push(c, still, rhs);
    double worst = 0.0, largest = 0.0;
    for (int part = 0; part < 3 * POINTS; part++)
    {
        double *changed = &x[part / 3].x + part % 3, keep = *changed, step = 1e-7;
        *changed = keep + step;
        double up = energy_of(c, x);
        *changed = keep - step;
        double down = energy_of(c, x);
        *changed = keep;
        double force = (&rhs[part / 3].x)[part % 3] / c->now.h;
        worst = fmax(worst, fabs(force + (up - down) / (2.0 * step)));
        largest = fmax(largest, fabs(force));
    }
    print_message("forces up to %.3g N are gradients within %.1e\n", largest, worst / largest);
    assert_true(worst < 1e-6 * largest);
    // The Jacobian, before the part that makes it indefinite is dropped; and the block without it.
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 way = v3_sub(x[s->vertex[0]], x[s->vertex[1]]);
        double d = kept(c, s->vertex[0], s->vertex[1]), l = v3_length(way), step = 1e-6 * l;
        coupling block = cushion_coupling(c, s);
        for (int e = 0; e < 9; e++)
        {
            int row = e / 3, axis = e % 3;
            vec3 by = v3(axis == 0 ? step : 0.0, axis == 1 ? step : 0.0, axis == 2 ? step : 0.0);
            vec3 change = v3_sub(pair_force(s, d, v3_add(way, by)), pair_force(s, d, v3_sub(way, by)));
            double nn = (&s->normal.x)[row] * (&s->normal.x)[axis], one = row == axis;
            double exact = s->stiffness * (nn - (d / l - 1.0) * (one - nn));
            assert_true(fabs(-(&change.x)[row] / (2.0 * step) - exact) < 1e-4 * s->stiffness * d / l);
            double h = c->now.h, wanted = h * h * s->stiffness * nn + h * s->slip * one;
            assert_true(fabs(block.K[e] - wanted) < 1e-9 * h * h * s->stiffness); // plain damping is of all motion
        }
    }
    weft_sim_destroy(sim);
}

// ---- a fold

static weft_sim* folded(const char* text, int threads, int steps)
{
    weft_sim* sim = scene_sim_text(text, threads);
    weft_error error = {0};
    weft_step_stats stats;
    for (int n = 0; n < steps; n++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        assert_true(isfinite(stats.energy.total));
        assert_int_equal(stats.squeezed, 0);
    }
    return sim;
}

// The height of the layer that was laid over, in the mean, m.
static double layer_height(const weft_sim* sim)
{
    const vec3* x = sim->world.state.x;
    const contact* c = sim->world.contact;
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        bool over = c->rest[i].z < -0.12; // behind the fold
        sum += over ? x[i].y : 0.0;
        count += over;
    }
    return sum / count;
}

static double layer_height_without(bool aimex)
{
    weft_sim* sim = folded(aimex ? FOLD(12, "}, \"method\": \"aimex\", \"air\": {") : FOLD(12, ""), 1, 200);
    double height = layer_height(sim);
    weft_sim_destroy(sim);
    return height;
}

static void folded_sheet_keeps_apart(void** state)
{
    (void)state;
    static const char* const texts[] = {FOLD(12, ON), FOLD(12, ON ", \"thickness\": 0.001}, \"method\": \"aimex\", "
                                                                  "\"model\": {\"name\": \"baraff-witkin\"")};
    for (int k = 0; k < 2; k++)
    {
        weft_sim *sim = folded(texts[k], 1, 200), *threads = folded(texts[k], 8, 200);
        size_t bytes = (size_t)sim->model.vertex_count * sizeof(vec3);
        assert_memory_equal(sim->world.state.x, threads->world.state.x, bytes);
        double height = layer_height(sim), without = layer_height_without(k == 1);
        print_message("%s: the upper layer is %.1f mm high, without springs %.1f\n", sim->def.method, 1e3 * height,
                      1e3 * without);
        assert_true(height > without + 0.005);
        assert_true(height > 0.5 * 0.6 * 0.5 / 12); // 25 mm are kept between particles that face each other
        weft_sim_destroy(sim);
        weft_sim_destroy(threads);
    }
    weft_sim* sim = folded("{\"time_step\": 0.005, \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"size\": 0.4, "
                           "\"cells\": 8}}, \"pins\": [{\"where\": {\"edge\": \"top\"}}, {\"where\": {\"edge\": "
                           "\"bottom\"}}]}, {\"name\": \"b\", \"mesh\": {\"grid\": {\"size\": 0.2, \"cells\": 4}}, "
                           "\"transform\": {\"translate\": [0, 0.06, 0]}}], \"contact\": {\"particles\": "
                           "{\"stiffness\": 200, \"damping\": 0.1}}}",
                           1, 100);
    const vec3* x = sim->world.state.x;
    const body *a = &sim->bodies[0], *b = &sim->bodies[1];
    double gap = x[b->scene_vertex[12]].y - x[a->scene_vertex[40]].y;
    print_message("a sheet lies on another at %.1f mm of 30\n", 1e3 * gap);
    assert_true(gap > 0.02 && gap < 0.03); // found although its cluster was another one
    weft_sim_destroy(sim);
}

// Contact springs far beyond what an explicit step bears, between elements that are all explicit.
static void springs_are_implicit_in_aimex(void** state)
{
    (void)state;
    static const char text[] =
        FOLD(12, "\"particles\": {\"stiffness\": 1e5, \"damping\": 1}}, \"method\": \"aimex\", \"model\": "
                 "{\"name\": \"choi-ko\"");
    weft_sim* sim = folded(text, 1, 120);
    assert_true(sim->world.contact->particles.pair_count > 0);
    assert_true(layer_height(sim) < 0.3);
    weft_sim_destroy(sim);
}

static void exclusions_count(void** state)
{
    (void)state;
    static vec3 x[POINTS], still[POINTS];
    uint64_t random = 3;
    weft_sim* sim = built(FOLD(16, ON ", \"exclude\": [{\"pair\": [\"sheet\", \"sheet\"]}]"), 1);
    crush(sim->world.contact, &random, x);
    assert_int_equal(find_at(sim, x, still)->particles.pair_count, 0);
    weft_sim_destroy(sim);
    sim = built(FOLD(16, ON ", \"enabled\": true"), 1);
    assert_true(find_at(sim, x, still)->particles.pair_count > 300);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voxels_find_every_pair),   cmocka_unit_test(forces_are_gradients),
        cmocka_unit_test(folded_sheet_keeps_apart), cmocka_unit_test(springs_are_implicit_in_aimex),
        cmocka_unit_test(exclusions_count),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
