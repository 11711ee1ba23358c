// Clusters: cloth goes the same way, to the bit, with and without another one far off; what comes near is stepped
// together in time, and apart again later; nothing crosses, however fast; the same bits on any number of threads and
// through checkpoints, whether joined or not; edits reach the cluster that they concern.
#include "common.h"

#include <stdio.h>
#include <string.h>

#include "cache/checkpoint.h"
#include "common_edits.h"
#include "common_scene.h"
#include "core/core.h"
#include "sim/cluster.h"
#include "start/start.h"

enum
{
    TEXT_MAX = 4096,
    VERTICES_MAX = 256
};

// ---- a cloth far off

// A sheet over a ball with a patch upon it, and one 40 m away whose edge falls on a plate and of which a corner is torn
// away: steps halve.
#define HERE                                                                                                           \
    "{\"name\": \"here\", \"mesh\": {\"grid\": {\"cells\": 8, \"size\": 0.4}}, \"transform\": {\"translate\": "        \
    "[0.03, 0.21, 0.02]}}"
#define PATCH                                                                                                          \
    "{\"name\": \"patch\", \"mesh\": {\"grid\": {\"cells\": 4, \"size\": 0.1}}, \"transform\": {\"translate\": "       \
    "[0.02, 0.215, 0.01]}}"
#define THERE                                                                                                          \
    "{\"name\": \"there\", \"material\": \"silk\", \"mesh\": {\"grid\": {\"cells\": 9, \"size\": 0.5}}, "              \
    "\"transform\": {\"rotate\": [85, 5, 0], \"translate\": [40, 0.262, 3]}, \"velocity\": [0, -4, 0], \"pins\": "     \
    "[{\"where\": {\"corner\": \"top-left\"}, \"path\": [{\"time\": 0.1}, {\"time\": 0.15, \"offset\": [1, 1, 1]}]}]}"
#define BALL "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, 0, 0], \"radius\": 0.2, \"segments\": 3}}}"
#define PLATE "{\"name\": \"plate\", \"shape\": {\"box\": {\"center\": [40, -0.05, 3], \"size\": [1, 0.1, 1]}}}"

static const char* far_scene(char text[TEXT_MAX], const char* method, const char* solver, const char* cloths,
                             const char* obstacles)
{
    snprintf(text, TEXT_MAX,
             "{\"time_step\": 0.01, \"method\": \"%s\", \"solver\": \"%s\", \"cloth\": [%s], \"obstacles\": [%s]}",
             method, solver, cloths, obstacles);
    return text;
}

static int find_cloth(const weft_sim* sim, const char* name)
{
    int k = 0;
    while (k < sim->body_count && strcmp(sim->bodies[k].name, name) != 0)
    {
        k++;
    }
    assert_true(k < sim->body_count);
    return k;
}

static void assert_same_cloth(const weft_sim* a, const weft_sim* b, const char* name)
{
    static vec3 x[2][VERTICES_MAX], v[2][VERTICES_MAX];
    const weft_sim* sims[2] = {a, b};
    int count = 0;
    for (int k = 0; k < 2; k++)
    {
        int cloth = find_cloth(sims[k], name);
        count = weft_sim_output_count(sims[k], cloth);
        assert_true(count <= VERTICES_MAX);
        weft_sim_positions(sims[k], cloth, x[k]);
        weft_sim_velocities(sims[k], cloth, v[k]);
    }
    assert_memory_equal(x[0], x[1], (size_t)count * sizeof(vec3));
    assert_memory_equal(v[0], v[1], (size_t)count * sizeof(vec3));
}

// With the other cloth before it in the file or behind, and the other's obstacle, too. Every tenth step is a
// checkpoint.
static void far_cloths_do_not_know_of_each_other(const char* method, const char* solver)
{
    char text[TEXT_MAX];
    weft_sim* sims[3] = {
        scene_sim_text(far_scene(text, method, solver, HERE ", " PATCH, BALL), 1),
        scene_sim_text(far_scene(text, method, solver, HERE ", " THERE ", " PATCH, BALL ", " PLATE), 1),
        scene_sim_text(far_scene(text, method, solver, THERE ", " HERE ", " PATCH, PLATE ", " BALL), 1)};
    int rejected = 0, touched = 0;
    for (int n = 0; n < 30; n++)
    {
        for (int k = 0; k < 3; k++)
        {
            weft_step_stats stats;
            assert_int_equal(weft_sim_step(sims[k], &stats, NULL), WEFT_OK);
            n % 10 == 9 ? weft_sim_checkpoint(sims[k]) : (void)0;
            rejected += k == 1 ? cluster_of(sims[k], find_cloth(sims[k], "there"))->stats.rejected : 0;
            touched += k == 0 ? stats.contacts : 0;
        }
        assert_same_cloth(sims[0], sims[1], "here");
        assert_same_cloth(sims[0], sims[2], "here");
        assert_same_cloth(sims[0], sims[1], "patch");
        assert_same_cloth(sims[0], sims[2], "patch");
        assert_int_equal(sims[1]->clusters.count, 2);
    }
    print_message("          %s with %s: %d substeps rejected, %d contacts\n", method, solver, rejected, touched);
    assert_true(touched > 0 && rejected > 0 && sims[0]->world.state.contact.bond_count > 0);
    for (int k = 0; k < 3; k++)
    {
        weft_sim_destroy(sims[k]);
    }
}

static void far_cloths_with_implicit_euler(void** state)
{
    (void)state;
    far_cloths_do_not_know_of_each_other("implicit-euler", "auto");
    far_cloths_do_not_know_of_each_other("implicit-euler", "sa-ppcg");
    far_cloths_do_not_know_of_each_other("implicit-euler", "cholesky");
}

static void far_cloths_with_newton(void** state)
{
    (void)state;
    far_cloths_do_not_know_of_each_other("newton", "auto");
    far_cloths_do_not_know_of_each_other("newton", "sa-ppcg");
}

// ---- cloths that meet

// One falls on another that lies on a ball, both on a slope without hold: they meet, and part when one is off.
static const char meeting[] =
    "{\"time_step\": 0.005, \"cloth\": [{\"name\": \"low\", \"mesh\": {\"grid\": {\"cells\": 6, \"size\": 0.3}}, "
    "\"pins\": [{\"where\": {\"edge\": \"top\"}}, {\"where\": {\"edge\": \"bottom\"}}]}, "
    "{\"name\": \"high\", \"mesh\": {\"grid\": {\"cells\": 5, \"size\": 0.15}}, \"transform\": "
    "{\"translate\": [0.01, 0.12, 0.02]}, \"velocity\": [0.7, 0, 0]}], \"contact\": {\"friction\": 0}}";

static weft_sim* through_file(weft_sim* sim, const char* text, int workers)
{
    weft_sim_checkpoint(sim);
    weft_sim* other = edits_made_anew(sim, text, workers);
    weft_sim_destroy(sim);
    return other;
}

static int64_t crossings(weft_sim* sim)
{
    start_look look;
    assert_int_equal(start_look_open(&look, sim, NULL), WEFT_OK);
    vec3* x = MEM_NEW(look.vertex_count, vec3);
    assert_int_equal(weft_sim_collider_positions(sim, x, NULL), WEFT_OK);
    for (int i = 0; i < look.vertex_count; i++)
    {
        x[i] = v3_round(x[i]);
    }
    assert_int_equal(start_look_inspect(&look, x, NULL), WEFT_OK);
    int64_t count = look.pair_count;
    mem_free(x);
    start_look_close(&look);
    return count;
}

static void cloths_meet_and_part(void** state)
{
    (void)state;
    weft_sim* sim = scene_sim_text(meeting, 1);
    int changes = 0, count = 2, touched = 0;
    for (int n = 0; n < 120; n++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(crossings(sim), 0);
        int now = sim->clusters.count > 0 ? sim->clusters.count : 1;
        changes += now != count;
        count = now;
        touched += stats.contacts;
        assert_int_equal(stats.substeps >= 1, 1);
    }
    print_message("          %d contacts, %d changes\n", touched, changes);
    assert_int_equal(changes, 2); // joined once, and parted once
    assert_int_equal(count, 2);
    assert_true(touched > 0);
    weft_sim_destroy(sim);
}

static void bits_do_not_depend_on_threads_or_checkpoints(void** state)
{
    (void)state;
    static const int workers[] = {2, 3, 8, 1};
    for (int k = 0; k < 4; k++)
    {
        weft_sim* first = scene_sim_text(meeting, 1);
        weft_sim* sim = scene_sim_text(meeting, workers[k]);
        int saved[2] = {0, 0};
        for (int n = 0; n < 120; n++)
        {
            edits_run(first, 1);
            edits_run(sim, 1);
            assert_true(edits_hash(first) == edits_hash(sim));
            if (n % 9 == 8)
            {
                saved[sim->clusters.count > 0]++;
                weft_sim_checkpoint(first);
                sim = through_file(sim, meeting, workers[k]);
            }
        }
        assert_true(saved[0] > 0 && saved[1] > 0);
        weft_sim_destroy(first);
        weft_sim_destroy(sim);
    }
}

// 20 m/s in steps of 1/30 s, 0.67 m each: what is 0.5 m off is hit in the first one. The guess is put out of action by
// a cloth that seems to stand still: its velocity comes from a pin alone.
static const char fast[] =
    "{\"time_step\": 0.0333333, \"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"hit\", \"mesh\": {\"grid\": "
    "{\"cells\": 5, \"size\": 0.3}}}, {\"name\": \"fast\", \"mesh\": {\"grid\": {\"cells\": 5, \"size\": 0.2}}, "
    "\"transform\": {\"translate\": [0, 0.5, 0]}%s}]}";

static void fast_cloth_does_not_pass(void** state)
{
    (void)state;
    static const char* const ways[] = {
        ", \"velocity\": [0, -20, 0]",
        ", \"pins\": [{\"where\": {\"edge\": \"all\"}, \"path\": [{\"time\": 0}, {\"time\": "
        "0.1, \"offset\": [0, -2, 0]}]}]"};
    for (int k = 0; k < 2; k++)
    {
        char text[TEXT_MAX];
        snprintf(text, sizeof(text), fast, ways[k]);
        weft_sim* sim = scene_sim_text(text, 1);
        weft_step_stats stats;
        for (int n = 0; n < 3; n++)
        {
            assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
            assert_int_equal(sim->clusters.count, 0);
            assert_int_equal(crossings(sim), 0);
            assert_int_equal(stats.squeezed, 0);
        }
        // It is still above, or what it hit is.
        vec3 above = edits_vertex(sim, 1, 14), below = edits_vertex(sim, 0, 14);
        assert_true(above.y > below.y);
        weft_sim_destroy(sim);
    }
}

// Cloths that come closer than the guess are together, and stay so until they are clearly apart.
static void what_is_together_does_not_part_at_once(void** state)
{
    (void)state;
    weft_sim* sim = scene_sim_text("{\"gravity\": [0, 0, 0], \"cloth\": [{\"name\": \"low\", \"mesh\": {\"grid\": "
                                   "{\"cells\": 1}}}, {\"name\": \"high\", \"mesh\": {\"grid\": {\"cells\": 1}}, "
                                   "\"transform\": {\"translate\": [0, 1, 0]}}]}",
                                   1);
    // Distances in thicknesses: guesses meet below 4.4, and part above 8.8.
    static const double distances[] = {20, 6, 5, 4, 5, 6, 8, 9, 8, 5, 4, 20};
    static const bool joined[] = {false, false, false, true, true, true, true, false, false, false, true, false};
    vec3 x[4], still[4] = {0};
    for (int k = 0; k < 12; k++)
    {
        weft_sim_positions(sim, 1, x);
        for (int i = 0; i < 4; i++)
        {
            x[i].y = 1e-3 * distances[k];
        }
        assert_int_equal(weft_sim_set_state(sim, 1, x, still), WEFT_OK);
        edits_run(sim, 1);
        assert_int_equal(sim->clusters.count, joined[k] ? 0 : 2);
    }
    weft_sim_destroy(sim);
}

// A patch that is sewn to a sheet from afar, and a pair that contact leaves alone.
static void ties_join_and_exclusions_part(void** state)
{
    (void)state;
    static const char sewn[] =
        "{\"time_step\": 0.005, \"cloth\": [%s{\"name\": \"here\", \"mesh\": {\"grid\": {\"cells\": 6, \"size\": "
        "0.3}}, "
        "\"pins\": [{\"where\": {\"edge\": \"top\"}}]}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"cells\": 2, "
        "\"size\": 0.1}}, \"transform\": {\"translate\": [0, 0.1, 0]}}], \"ties\": [{\"cloth\": \"patch\", \"to\": "
        "\"here\"}%s]%s}";
    char text[2][TEXT_MAX];
    snprintf(text[0], TEXT_MAX, sewn, "", "", "");
    snprintf(text[1], TEXT_MAX, sewn, THERE ", {\"name\": \"ghost\", \"mesh\": {\"grid\": {\"cells\": 2}}}, ", "",
             ", \"contact\": {\"exclude\": [{\"pair\": [\"ghost\", \"here\"]}, {\"pair\": [\"patch\", \"ghost\"]}]}");
    weft_sim* sims[2] = {scene_sim_text(text[0], 1), scene_sim_text(text[1], 1)};
    for (int n = 0; n < 20; n++)
    {
        edits_run(sims[0], 1);
        edits_run(sims[1], 1);
        assert_same_cloth(sims[0], sims[1], "here");
        assert_same_cloth(sims[0], sims[1], "patch");
        assert_int_equal(sims[0]->clusters.count, 0);
        assert_int_equal(sims[1]->clusters.count, 3);
    }
    edits_assert_resumes(sims[1], text[1]);
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

// ---- edits

#define FAR_APART(cells)                                                                                               \
    "{\"time_step\": 0.005, \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"cells\": " cells                 \
    ", \"size\": 0.3}}, \"transform\": {\"translate\": [0, 0.003, 0]}, \"pins\": [{\"where\": {\"corner\": "           \
    "\"top-left\"}}]}, {\"name\": \"other\", \"mesh\": {\"grid\": {\"cells\": 3, \"size\": 0.1}}, \"transform\": "     \
    "{\"translate\": [5, 0.01, 0]}}], \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": "      \
    "[0, -0.1, 0], \"radius\": 0.1, \"segments\": 2}}}]}"

// What is done to one cloth leaves the other as it is without it; each edit goes on alike through a checkpoint.
static void edits_concern_one_cluster(void** state)
{
    (void)state;
    static const char text[] = FAR_APART("4");
    weft_sim* plain = scene_sim_text(text, 1);
    weft_sim* sim = scene_sim_text(text, 1);
    edits_run(plain, 4);
    edits_run(sim, 4);
    int other = find_cloth(sim, "other"), vertices[] = {0, 3};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    weft_pin_id id;
    assert_int_equal(weft_sim_pin(sim, other, &pin, &id, NULL), WEFT_OK);
    vec3 held = edits_vertex(sim, other, 3);
    weft_force force = {.vertices = vertices + 1, .vertex_count = 1, .force = v3(0, 0, 0.01)};
    assert_int_equal(weft_sim_set_force(sim, other, &force, 1, NULL), WEFT_OK);
    edits_run(plain, 5);
    edits_run(sim, 5);
    assert_same_cloth(plain, sim, "sheet");
    assert_true(v3_length(v3_sub(held, edits_vertex(sim, other, 3))) < 1e-9);
    vec3 targets[2] = {edits_vertex(sim, other, 0), v3_add(held, v3(0, 0.01, 0))};
    assert_int_equal(weft_sim_move(sim, id, targets, NULL), WEFT_OK);
    edits_run(plain, 1);
    edits_run(sim, 1);
    assert_same_cloth(plain, sim, "sheet");
    assert_true(v3_length(v3_sub(targets[1], edits_vertex(sim, other, 3))) < 1e-9);
    assert_int_equal(sim->clusters.count, 2);
    edits_assert_resumes(sim, text);
    assert_int_equal(weft_sim_unpin(sim, id, NULL), WEFT_OK);
    assert_int_equal(weft_sim_set_gravity(sim, v3(0.5, -9, 0), NULL), WEFT_OK);
    edits_assert_resumes(sim, text);
    assert_true(v3_length(v3_sub(targets[1], edits_vertex(sim, other, 3))) > 1e-5);
    weft_sim_destroy(plain);
    weft_sim_destroy(sim);
}

static void bodies_come_and_go_among_clusters(void** state)
{
    (void)state;
    static const char text[] = FAR_APART("4");
    weft_sim* sim = scene_sim_text(text, 1);
    edits_run(sim, 3);
    weft_cloth_id square;
    assert_int_equal(edits_add_square(sim, "square", v3(5, 0.08, 0), &square, NULL), WEFT_OK);
    edits_run(sim, 1);
    assert_int_equal(sim->clusters.count, 3);
    edits_assert_resumes(sim, text);
    assert_int_equal(edits_add_floor(sim, "floor", v3(5, -0.05, 0), NULL, NULL), WEFT_OK);
    edits_run(sim, 20);
    assert_int_equal(crossings(sim), 0);
    edits_assert_resumes(sim, text);
    weft_material stiff;
    assert_int_equal(weft_material_find("denim", &stiff, NULL), WEFT_OK);
    assert_int_equal(weft_sim_set_material(sim, find_cloth(sim, "other"), &stiff, NULL), WEFT_OK);
    edits_assert_resumes(sim, text);
    assert_int_equal(weft_sim_remove_cloth(sim, find_cloth(sim, "other"), NULL), WEFT_OK);
    edits_assert_resumes(sim, text);
    assert_int_equal(sim->clusters.count, 2);
    assert_int_equal(weft_sim_remove_cloth(sim, square, NULL), WEFT_OK);
    edits_run(sim, 1);
    assert_int_equal(sim->clusters.count, 0);
    weft_sim_destroy(sim);
}

// ---- what is read

// Of cloths far apart: energies and counts add up, the system has a block for each.
static void stats_and_systems_are_of_all(void** state)
{
    (void)state;
    static const char text[] = FAR_APART("4");
    weft_sim* sim = scene_sim_text(text, 1);
    weft_step_stats stats = {0};
    for (int n = 0; n < 6; n++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    }
    assert_int_equal(sim->clusters.count, 2);
    weft_energy energy = weft_sim_energy(sim);
    assert_true(fabs(energy.total - stats.energy.total) <= 1e-12 * fabs(energy.total));
    assert_true(fabs(energy.kinetic - stats.energy.kinetic) <= 1e-12 * energy.kinetic);
    const weft_step_stats *a = &sim->clusters.list[0]->stats, *b = &sim->clusters.list[1]->stats;
    assert_int_equal(stats.solves, a->solves + b->solves);
    assert_int_equal(stats.iterations, a->iterations + b->iterations);
    assert_int_equal(stats.contacts, a->contacts + b->contacts);
    assert_int_equal(stats.substeps, int_max(a->substeps, b->substeps));
    weft_system* system;
    assert_int_equal(weft_sim_system(sim, &system, NULL), WEFT_OK);
    assert_int_equal(weft_system_vertex_count(system), 25 + 16);
    weft_system_destroy(system);
    weft_sim_destroy(sim);
}

// ---- checkpoints

// The checkpoint of a simulation, with other items in `clusters`; count 0: without them.
static void checkpoint_with(const weft_sim* sim, const body_control* items, size_t count)
{
    enum
    {
        HEADER = 64
    };
    weft_error error = {0};
    void* bytes;
    size_t size;
    sections from;
    assert_int_equal(checkpoint_write(scene_path("c.weft"), sim, 1, &error), WEFT_OK);
    assert_int_equal(file_read(scene_path("c.weft"), &bytes, &size, &error), WEFT_OK);
    assert_int_equal(sections_parse(&from, "c.weft", bytes, size, HEADER, &error), WEFT_OK);
    whole_file file;
    section_writer out;
    assert_int_equal(whole_file_open(&file, scene_path("c.weft"), &error), WEFT_OK);
    sections_begin(&out, &file, bytes, HEADER);
    for (int k = 0; k < from.count; k++)
    {
        const section* s = &from.list[k];
        bool clusters = strcmp(s->name, "clusters") == 0;
        clusters&& count == 0 ? (void)0
                              : section_put(&out, s->name, s->version, s->item_size, clusters ? count : s->count,
                                            clusters ? items : s->items);
    }
    sections_end(&out);
    assert_int_equal(whole_file_close(&file, &error), WEFT_OK);
    mem_free(bytes);
}

// Of a Weft without clusters: all bodies were in one. Forged ones are refused and change nothing.
static void checkpoints_of_others_are_read_or_refused(void** state)
{
    (void)state;
    static const char text[] = FAR_APART("4");
    weft_sim *sim = scene_sim_text(text, 1), *other = scene_sim_text(text, 1);
    edits_run(sim, 4);
    edits_run(other, 2);
    checkpoint_with(sim, NULL, 0);
    assert_int_equal(checkpoint_read(scene_path("c.weft"), other, 1, NULL), WEFT_OK);
    assert_true(edits_hash(sim) == edits_hash(other));
    assert_false(other->clusters.apart);
    assert_int_equal(other->clusters.control[1].cluster, 0);
    edits_run(other, 1);
    assert_int_equal(other->clusters.count, 2);
    uint64_t hash = edits_hash(other);
    const body_control forged[] = {{.cluster = -1}, {.cluster = 2},        {.halvings = 11},
                                   {.calm = -1},    {.history_filled = 1}, {.solver = {NAN}},
                                   {.waits = 4},    {.tries = 2}};
    for (int k = 0; k < 9; k++)
    {
        body_control items[3] = {{0}, forged[k % 8], {0}};
        checkpoint_with(sim, items, k < 8 ? 2 : 3);
        weft_error error = {0};
        assert_int_equal(checkpoint_read(scene_path("c.weft"), other, 1, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.message, "`clusters`"));
        assert_true(edits_hash(other) == hash);
    }
    edits_run(other, 1);
    remove(scene_path("c.weft"));
    weft_sim_destroy(sim);
    weft_sim_destroy(other);
}

// In a steady scene nothing is allocated.
static void steps_of_clusters_allocate_nothing(void** state)
{
    (void)state;
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_sim* sim = scene_sim_text(FAR_APART("4"), 1);
    edits_run(sim, 12);
    int made = ledger.made;
    edits_run(sim, 4);
    assert_int_equal(ledger.made, made);
    weft_sim_destroy(sim);
    assert_int_equal(ledger.live, 0);
    test_ledger_close();
}

// A step that fails in one cluster changes nothing in the other: each allocation fails in turn.
static void a_step_without_memory_changes_nothing(void** state)
{
    (void)state;
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_sim* sim = scene_sim_text(meeting, 1);
    weft_sim* plain = scene_sim_text(meeting, 1);
    edits_run(plain, 1);
    int failed = 0;
    ledger.fail_at = ledger.made + 1;
    while (weft_sim_step(sim, NULL, NULL) != WEFT_OK)
    {
        failed++;
        assert_int_equal(weft_sim_step_count(sim), 0);
        ledger.fail_at = ledger.made + 1 + failed;
    }
    ledger.fail_at = 0;
    assert_true(failed > 100);
    assert_true(edits_hash(sim) == edits_hash(plain));
    weft_sim_destroy(plain);
    weft_sim_destroy(sim);
    assert_int_equal(ledger.live, 0);
    test_ledger_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_cloths_with_implicit_euler),
        cmocka_unit_test(far_cloths_with_newton),
        cmocka_unit_test(cloths_meet_and_part),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_checkpoints),
        cmocka_unit_test(fast_cloth_does_not_pass),
        cmocka_unit_test(what_is_together_does_not_part_at_once),
        cmocka_unit_test(ties_join_and_exclusions_part),
        cmocka_unit_test(edits_concern_one_cluster),
        cmocka_unit_test(bodies_come_and_go_among_clusters),
        cmocka_unit_test(stats_and_systems_are_of_all),
        cmocka_unit_test(checkpoints_of_others_are_read_or_refused),
        cmocka_unit_test(steps_of_clusters_allocate_nothing),
        cmocka_unit_test(a_step_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
