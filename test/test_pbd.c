// pbd: the constraint forms of elements have their energies and forces, colours part elements that share a vertex,
// cloth hangs as long as its material says however many sweeps there are, the paper's k is a share, and pins, contact,
// threads and checkpoints are as with other methods.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "material/corotated.h"
#include "material/spring.h"
#include "sim/sim.h"
#include "step/pbd.h"

static weft_sim* sim_of(const char* format, ...)
{
    char text[3000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

static void take_steps(weft_sim* sim, int count)
{
    weft_error error = {0};
    for (int k = 0; k < count; k++)
    {
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
}

// ---- constraint forms

// Force of one element by its constraint rows against its exact force, in a crumpled state; returns the largest
// difference relative to the largest force.
static double force_error(const element_group* group, int e, const vec3* all, double* energy)
{
    const element_kind* kind = group->kind;
    element_motion motion = {.x = all};
    element_context context = {group, &motion};
    const int elements[BATCH] = {e, e, e, e, e, e, e, e};
    constraint_batch out[CONSTRAINT_ROWS_MAX];
    double exact[3 * ARITY_MAX], jacobian[9 * ARITY_MAX * ARITY_MAX], worst = 0.0, largest = 1e-30;
    vec3 x[ARITY_MAX];
    for (int a = 0; a < kind->arity; a++)
    {
        x[a] = all[group->vertices[kind->arity * e + a]];
    }
    kind->constraint(&context, elements, out);
    kind->exact(group->rest + (size_t)kind->rest_stride * (size_t)e, x, exact, jacobian);
    int rows = kind->constraint_rows > 0 ? kind->constraint_rows : 1;
    for (int r = 0; r < rows && isfinite(out[r].compliance[3]); r++)
    {
        *energy += 0.5 * out[r].value[3] * out[r].value[3] / out[r].compliance[3];
    }
    for (int c = 0; c < 3 * kind->arity; c++)
    {
        double force = 0.0;
        for (int r = 0; r < rows; r++)
        {
            force -= out[r].value[3] / out[r].compliance[3] * out[r].gradient[c / 3][c % 3][3];
        }
        worst = fmax(worst, fabs(force - exact[c]));
        largest = fmax(largest, fabs(exact[c]));
    }
    return worst / largest;
}

static void check_forms(const char* model, const char* bending)
{
    weft_sim* sim = sim_of("{\"time_step\": 0.01, \"method\": \"pbd\", \"model\": {\"name\": \"%s\"%s}, \"cloth\": "
                           "[{\"mesh\": {\"grid\": {\"cells\": 5, \"tessellation\": \"irregular\"}}}]}",
                           model, bending);
    vec3* x = sim->world.state.x;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        x[i] = v3_add(x[i], v3(0.05 * random_unit(1, 3 * (uint64_t)i), 0.05 * random_unit(2, 3 * (uint64_t)i),
                               0.05 * random_unit(3, 3 * (uint64_t)i)));
    }
    double energy = 0.0;
    for (int g = 0; g < sim->model.groups.count; g++)
    {
        const element_group* group = &sim->model.groups.list[g];
        assert_non_null(group->kind->constraint);
        for (int e = 0; e < group->count; e++)
        {
            double error = force_error(group, e, x, &energy);
            if (!(error < 1e-9))
            {
                fail_msg("%s: element %d has another force by %g", group->kind->name, e, error);
            }
        }
    }
    sim->world.h = 0.01;
    energy_report report = world_energy(&sim->world, x, sim->world.state.v);
    double elastic = report.energy.stretch + report.energy.shear + report.energy.bend;
    assert_true(fabs(energy - elastic) < 1e-9 * elastic);
    weft_sim_destroy(sim);
}

static void test_rows_are_energies_and_forces(void** unused)
{
    (void)unused;
    check_forms("hooke", "");
    check_forms("baraff-witkin", "");
    check_forms("baraff-witkin", ", \"bending\": \"hinge\"");
}

// ---- colours

// A fan of 200 triangles wants more colours than a word has bits.
static void test_colours_part_what_shares_a_vertex(void** unused)
{
    (void)unused;
    enum
    {
        TIPS = 200
    };
    int vertices[2 * TIPS], colour[TIPS], order[TIPS], start[TIPS + 1];
    for (int k = 0; k < TIPS; k++)
    {
        vertices[2 * k] = 0;
        vertices[2 * k + 1] = 1 + k;
    }
    int count = colour_elements(vertices, 2, TIPS, TIPS + 1, colour);
    assert_int_equal(count, TIPS);
    colour_sort(colour, TIPS, count, order, start);
    for (int c = 0; c < count; c++)
    {
        assert_int_equal(start[c + 1] - start[c], 1);
    }
    weft_sim* sim = sim_of("{\"time_step\": 0.01, \"method\": \"pbd\", \"model\": \"hooke\", \"cloth\": "
                           "[{\"mesh\": {\"grid\": {\"cells\": 13, \"tessellation\": \"irregular\"}}}]}");
    const links* l = &((const pbd_data*)sim->world.method.data)->springs;
    int* seen = calloc((size_t)sim->model.vertex_count, sizeof(int));
    for (int c = 0; c < l->colour_count; c++)
    {
        for (int k = l->colour[c]; k < l->colour[c + 1]; k++)
        {
            assert_true(seen[l->a[k]] <= c && seen[l->b[k]] <= c);
            seen[l->a[k]] = seen[l->b[k]] = c + 1;
        }
    }
    assert_int_equal(l->colour[l->colour_count], l->count);
    free(seen);
    weft_sim_destroy(sim);
}

// ---- stiffness

// Elongation of a sheet of 1 m that hangs from its top edge, over that of its material, rho g L^2 / (2 k).
static double elongation(const char* method, const char* model, int cells, int iterations, int* substeps)
{
    weft_sim* sim =
        sim_of("{\"time_step\": 0.01, \"method\": \"%s\", \"model\": \"%s\", \"contact\": {\"enabled\": false},"
               " \"%s\": {\"substeps\": %d, \"iterations\": %d, \"drag\": 12},"
               " \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [0.4, 1], \"cells\": [%d, %d], \"plane\": \"xy\"}},"
               " \"material\": {\"base\": \"cotton\", \"stretch_warp\": 200, \"stretch_weft\": 200, \"shear\": 1, "
               "\"bending\": 0},"
               " \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}",
               method, model, method, *substeps, iterations, 2 * cells / 5, cells);
    weft_step_stats stats;
    for (int k = 0; k < 120; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    }
    double sum = 0.0;
    for (int k = 0; k <= 2 * cells / 5; k++) // the bottom row is the first of a grid
    {
        sum += sim->world.state.x[sim->bodies[0].scene_vertex[k]].y - sim->bodies[0].start[k].y;
    }
    double drop = 0.15 * 9.81 / (2.0 * 200.0);
    *substeps = (int)weft_step_counter(&stats, "pbd_substeps");
    weft_sim_destroy(sim);
    return -sum / (2 * cells / 5 + 1) / drop;
}

static double worst_elongation(const char* method)
{
    double worst = 0.0;
    for (int cells = 10; cells <= 20; cells *= 2)
    {
        for (int iterations = 1; iterations <= 16; iterations *= 4)
        {
            int substeps = 0;
            double share = elongation(method, "hooke", cells, iterations, &substeps);
            printf("%s, hang, %d cells, %d iterations, %d substeps of a step of 10 ms: %.4f of the elongation\n",
                   method, cells, iterations, substeps, share);
            worst = fmax(worst, fabs(share - 1.0));
        }
    }
    int substeps = 0;
    return fmax(worst, fabs(elongation(method, "baraff-witkin", 10, 2, &substeps) - 1.0));
}

static void test_hangs_as_long_as_the_material_says(void** unused)
{
    (void)unused;
    assert_true(worst_elongation("pbd") < 0.03);
    assert_true(worst_elongation("hpbd") < 0.03);
}

// Coarse levels bear what too few sweeps miss, and no more: the elongation is the material's to a part where sweeps
// alone are off by many times it, on springs and on membranes.
static void test_levels_bear_what_sweeps_miss(void** unused)
{
    (void)unused;
    for (int substeps = 1; substeps <= 16; substeps *= 4)
    {
        int same = substeps;
        double plain = elongation("pbd", "hooke", 20, 2, &same), levels = elongation("hpbd", "hooke", 20, 2, &same);
        double membrane = elongation("hpbd", "baraff-witkin", 20, 2, &same);
        printf("hang, 20 cells, 2 iterations, %d substeps: %.3f of the elongation, with levels %.3f, membranes %.3f\n",
               substeps, plain, levels, membrane);
        assert_true(levels > 0.5 && levels < 1.3 && membrane > 0.5 && membrane < 1.3);
        assert_true(fabs(levels - 1.0) < fabs(plain - 1.0));
    }
}

// The paper's k: one projection of two links takes its share of what is missing, both ends alike; a limit holds only
// what is longer.
static void test_k_is_a_share(void** unused)
{
    (void)unused;
    const link_def defs[] = {{.a = 0, .b = 1, .length = 1.0},
                             {.a = 2, .b = 3, .length = 1.0, .is_limit = true},
                             {.a = 4, .b = 5, .length = 1.0, .is_limit = true}};
    const double inv_mass[6] = {1.0, 1.0, 1.0, 1.0, 0.0, 2.0};
    vec3* x = MEM_NEW(6, vec3);
    links l;
    assert_int_equal(links_create(&l, defs, 3, 6), WEFT_OK);
    links_hold(&l, inv_mass);
    const double far[3] = {1.4, 0.5, 2.0};
    for (int k = 0; k < 3; k++)
    {
        x[2 * k + 1] = v3(far[k], 0, 0);
    }
    link_rule rule = {.h = 0.01, .legacy = true, .k = 0.25, .k_bend = 1.0};
    links_begin(&l, NULL, &rule);
    link_sweep how = {.cpu = CPU_BASE};
    links_sweep(&l, &how, x);
    assert_true(fabs(x[1].x - x[0].x - 1.3) < 1e-12 && fabs(x[0].x - 0.05) < 1e-12);
    assert_true(x[3].x == 0.5 && x[2].x == 0.0);
    assert_true(fabs(x[5].x - 1.75) < 1e-12 && x[4].x == 0.0);
    links_finish(&l);
    mem_free(x);
}

// ---- pins, contact, threads

#define DRAPE                                                                                                          \
    "{\"time_step\": 0.0166666666666667, \"model\": \"%s\", \"method\": \"pbd\", \"frames\": 1, \"air\": {},"          \
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.6, \"cells\": 22, \"tessellation\": "        \
    "\"irregular\"}},"                                                                                                 \
    " \"pins\": [{\"where\": {\"vertices\": [0]}, \"fix\": {\"line\": [0, 1, 0]}}],"                                   \
    " \"transform\": {\"translate\": [0.02, 0.16, 0.01]}}],"                                                           \
    " \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.15}},"                               \
    " \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0.1, 0, 0]}]}}]}"

// Over a ball that moves, with a pin that lets go of one direction: the pin holds, nothing stretches much, and the bits
// are those of one thread.
static void check_drape(const char* model)
{
    weft_sim* sims[2];
    char text[1500];
    snprintf(text, sizeof(text), DRAPE, model);
    for (int k = 0; k < 2; k++)
    {
        sims[k] = scene_sim_text(text, k == 0 ? 1 : 3);
    }
    vec3 start = {0};
    double stretch = 0.0;
    for (int step = 0; step < 40; step++)
    {
        take_steps(sims[0], 1);
        take_steps(sims[1], 1);
        int i = sims[0]->bodies[0].scene_vertex[0];
        start = step == 0 ? sims[0]->world.state.x[i] : start;
        vec3 now = sims[0]->world.state.x[i];
        assert_true(fabs(now.x - start.x) < 1e-12 && fabs(now.z - start.z) < 1e-12);
        stretch += step < 20 ? 0.0 : sims[0]->world.before.max_stretch / 20.0;
    }
    size_t size = (size_t)sims[0]->model.vertex_count * sizeof(vec3);
    assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, size);
    assert_true(stretch < 1.2); // single steps reach 1.38
    assert_int_equal(sims[0]->world.contact->squeezed_count, 0);
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void test_drapes_alike_on_threads(void** unused)
{
    (void)unused;
    check_drape("hooke");
    check_drape("baraff-witkin");
}

// In the second half of the run nothing is allocated; and a checkpoint changes nothing.
static void test_checkpoint_changes_nothing(void** unused)
{
    (void)unused;
    weft_sim* sims[2];
    for (int k = 0; k < 2; k++)
    {
        sims[k] = sim_of(DRAPE, "hooke");
        take_steps(sims[k], 10);
        k == 1 ? weft_sim_checkpoint(sims[k]) : (void)0;
        take_steps(sims[k], 10);
    }
    size_t size = (size_t)sims[0]->model.vertex_count * sizeof(vec3);
    assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, size);
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void test_says_what_it_cannot_move(void** unused)
{
    (void)unused;
    weft_scene* scene =
        scene_load_text("{\"time_step\": 0.01, \"method\": \"pbd\", \"model\": \"corotated\", " CLOTH "}]}", NULL, 0);
    weft_sim* sim = NULL;
    weft_error error = {0};
    assert_int_not_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    assert_non_null(strstr(error.message, "a constraint"));
    weft_scene_destroy(scene);
}

// Triangles and folds of a strip held along its middle, two sweeps at 1/60 s: far too few, so that it stretches, but
// nothing is thrown apart (vertices were 1e6 to 1e16 m away).
static void test_no_step_blows_up(void** unused)
{
    (void)unused;
    static const double bending[] = {0.0, 1e-5, 5e-3};
    for (int k = 0; k < 6; k++)
    {
        char text[1000];
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.0166666666666667, \"method\": \"hpbd\", \"model\": \"baraff-witkin\", "
                 "\"contact\": {\"enabled\": false}, \"step_control\": {\"max_halvings\": 0}, \"hpbd\": "
                 "{\"iterations\": 2, \"drag\": 4, \"levels\": %d}, \"cloth\": [{\"mesh\": {\"grid\": {\"size\": "
                 "[0.3, 0.1], \"cells\": [48, 16]}}, \"material\": {\"base\": \"cotton\", \"bending\": %g}, "
                 "\"pins\": [{\"where\": {\"box\": {\"min\": [-0.001, -1, -1], \"max\": [0.001, 1, 1]}}}]}]}",
                 k % 2, bending[k / 2]);
        weft_sim* sim = scene_sim_text(text, 1);
        double farthest = 0.0;
        for (int s = 0; s < 60; s++)
        {
            assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
            for (int i = 0; i < sim->model.vertex_count; i++)
            {
                farthest = fmax(farthest, v3_length(sim->world.state.x[i]));
            }
        }
        printf("bending %g, %s: no vertex farther than %.2f m\n", bending[k / 2], k % 2 ? "no hierarchy" : "all levels",
               farthest);
        assert_true(farthest < (k % 2 ? 5.0 : 0.2));
        weft_sim_destroy(sim);
    }
}

// A scrap of a triangle at a corner, as cuts leave them: the whole step was cut into thousands of substeps for it.
static void test_a_scrap_cuts_no_step_to_pieces(void** unused)
{
    (void)unused;
    int count[2];
    for (int scrap = 0; scrap < 2; scrap++)
    {
        char text[600];
        FILE* out = fopen(scene_path("scrap.obj"), "w");
        assert_non_null(out);
        for (int k = 0; k < 36; k++)
        {
            fprintf(out, "v %.9g 0 %.9g\n", 0.1 * (k % 6), 0.1 * (k / 6));
        }
        for (int k = 0; k < 25; k++)
        {
            int a = k / 5 * 6 + k % 5 + 1;
            fprintf(out, "f %d %d %d\nf %d %d %d\n", a, a + 6, a + 7, a, a + 7, a + 1);
        }
        scrap ? fprintf(out, "v -1e-5 0 0\nv -1e-5 0 -1e-5\nf 1 37 38\n") : 0;
        fclose(out);
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.005, \"method\": \"pbd\", \"model\": \"baraff-witkin\", "
                 "\"pbd\": {\"substeps\": 0, \"iterations\": 1}, "
                 "\"cloth\": [{\"mesh\": {\"obj\": \"%s\"}}]}",
                 scene_path("scrap.obj"));
        weft_sim* sim = scene_sim_text(text, 1);
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        count[scrap] = (int)weft_step_counter(&stats, "pbd_substeps");
        weft_sim_destroy(sim);
    }
    printf("%d substeps, with a scrap %d\n", count[0], count[1]);
    assert_true(count[0] > 5 && count[1] > 4 * count[0] && count[1] < 40 * count[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_step_blows_up),
        cmocka_unit_test(test_rows_are_energies_and_forces),
        cmocka_unit_test(test_colours_part_what_shares_a_vertex),
        cmocka_unit_test(test_hangs_as_long_as_the_material_says),
        cmocka_unit_test(test_levels_bear_what_sweeps_miss),
        cmocka_unit_test(test_k_is_a_share),
        cmocka_unit_test(test_drapes_alike_on_threads),
        cmocka_unit_test(test_checkpoint_changes_nothing),
        cmocka_unit_test(test_says_what_it_cannot_move),
        cmocka_unit_test(test_a_scrap_cuts_no_step_to_pieces),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
