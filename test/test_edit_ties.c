// Ties and exclusions as edits of a running simulation: they hold from the next step on, through checkpoints and a
// run's folder, and join or part clusters. The random walk of test_edits.c makes them, too; test_edits_refused.c has
// wrong ones.
#include "common.h"

#include <string.h>

#include "common_edits.h"
#include "common_scene.h"
#include "sim/edits.h"
#include "weft/cache.h"

// A sheet that hangs by two corners, a patch that falls over it, with or without contact.
#define TWO(contact, height)                                                                                           \
    "{\"time_step\": 0.005, \"contact\": {\"enabled\": " contact "}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "     \
    "{\"grid\": {\"cells\": 6, \"size\": 0.3}}, \"pins\": [{\"where\": {\"edge\": \"top\"}}, {\"where\": {\"edge\": "  \
    "\"bottom\"}}]}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.1}}, \"transform\": "       \
    "{\"translate\": [0, " height ", 0]}}]}"

static const char near_text[] = TWO("true", "0.06");
static const char bare_text[] = TWO("false", "0.06");
static const char far_text[] = TWO("true", "0.5");

static const weft_tie whole_tie = {.cloth = "patch", .to = "sheet"};
static const weft_exclusion whole_pair = {.first = "patch", .second = "sheet"};

static double worst_tie(const weft_sim* sim)
{
    double worst = 0.0;
    for (int k = 0; k < sim->model.ties.count; k++)
    {
        worst = fmax(worst, v3_length(tie_error(&sim->model.ties.ties[k], sim->world.state.x)));
    }
    return worst;
}

// The patch falls, is tied where it then is, and from there on goes with the sheet at that distance.
static void assert_ties(const char* text)
{
    weft_sim* sim = scene_sim_text(text, 1);
    edits_run(sim, 18);
    vec3 before = edits_vertex(sim, 1, 4);
    assert_true(before.y < 0.03);
    assert_int_equal(weft_sim_tie(sim, &whole_tie, NULL), WEFT_OK);
    vec3 after = edits_vertex(sim, 1, 4);
    assert_memory_equal(&before, &after, sizeof(vec3));
    assert_int_equal(weft_sim_generation(sim), 2);
    assert_int_equal(weft_sim_tie_count(sim), 1);
    weft_tied tied = weft_sim_tie_at(sim, 0);
    assert_int_equal(tied.point_count, 9);
    assert_true(tied.farthest < 0.05 && worst_tie(sim) < 1e-15);
    edits_run(sim, 20);
    assert_true(worst_tie(sim) < 1e-4);
    assert_true(edits_vertex(sim, 1, 4).y > edits_vertex(sim, 0, 24).y + 0.5 * tied.nearest);
    edits_assert_resumes(sim, text);
    assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_BAD_INPUT);
    uint64_t hash = edits_hash(sim);
    weft_error error;
    assert_int_equal(weft_sim_tie(sim, &whole_tie, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "already"));
    assert_true(edits_hash(sim) == hash);
    weft_sim_destroy(sim);
}

static void test_tie(void** unused)
{
    (void)unused;
    assert_ties(near_text);
    assert_ties(bare_text);
}

// Cloths that are sewn keep half of the distance that they had when they were: of a second tie, when that came.
static void test_kin_is_sewn_anew(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(near_text, 1);
    edits_run(sim, 18);
    assert_null(sim->bodies[0].sewn);
    assert_int_equal(weft_sim_tie(sim, &whole_tie, NULL), WEFT_OK);
    double gap = sim->bodies[1].sewn[4].y - sim->bodies[0].sewn[24].y;
    assert_true(gap > 0.01 && gap < 0.05);
    weft_cloth_id third = -1;
    assert_int_equal(edits_add_square(sim, "third", v3(0, 0.1, 0), &third, NULL), WEFT_OK);
    edits_run(sim, 2);
    vec3 x = edits_vertex(sim, 0, 24);
    const weft_tie tie = {.cloth = "third", .to = "patch"};
    assert_int_equal(weft_sim_tie(sim, &tie, NULL), WEFT_OK);
    assert_memory_equal(&sim->bodies[0].sewn[24], &x, sizeof(vec3)); // kin of the patch
    edits_run(sim, 1);
    const contact* c = sim->world.contact;
    assert_true(c->kin[0] == c->kin[1] && c->kin[1] == c->kin[third]);
    assert_memory_equal(&c->sewn[sim->bodies[0].scene_vertex[24]], &x, sizeof(vec3));
    edits_assert_resumes(sim, near_text);
    weft_sim_destroy(sim);
}

// Cloths apart are stepped in clusters of their own until a tie joins them.
static void test_tie_joins_clusters(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(far_text, 1);
    edits_run(sim, 2);
    assert_int_equal(sim->clusters.count, 2);
    const int corner = 0;
    const weft_tie one = {"patch", "sheet", &corner, 1, 0};
    assert_int_equal(weft_sim_tie(sim, &one, NULL), WEFT_OK);
    edits_run(sim, 2);
    assert_int_equal(sim->clusters.count, 0);
    assert_true(worst_tie(sim) < 1e-3);
    edits_assert_resumes(sim, far_text);
    weft_sim_destroy(sim);
}

// What lies on the sheet falls through it, is in no list of what is squeezed, and steps apart.
static void test_exclusion(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(near_text, 1);
    weft_step_stats stats = {0};
    for (int k = 0; k < 30; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    }
    assert_true(stats.contacts > 0 && edits_vertex(sim, 1, 4).y > edits_vertex(sim, 0, 24).y);
    assert_int_equal(weft_sim_exclude(sim, &whole_pair, NULL), WEFT_OK);
    assert_int_equal(weft_sim_exclusion_count(sim), 1);
    assert_string_equal(weft_sim_exclusion_at(sim, 0).second, "sheet");
    for (int k = 0; k < 40; k++)
    {
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(stats.squeezed, 0);
        assert_int_equal(sim->clusters.count, 2);
    }
    assert_true(edits_vertex(sim, 1, 4).y < edits_vertex(sim, 0, 24).y - 0.05);
    edits_assert_resumes(sim, near_text);
    weft_sim_destroy(sim);
}

// An exclusion is of a body, not of its name, and goes with it.
static void test_exclusion_of_a_name(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(near_text, 1);
    edits_run(sim, 1);
    assert_int_equal(weft_sim_exclude(sim, &whole_pair, NULL), WEFT_OK);
    assert_true(sim_is_excluded(sim, 0, -1, 1));
    assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_OK);
    weft_cloth_id other = -1;
    assert_int_equal(edits_add_square(sim, "patch", v3(0, 0.02, 0), &other, NULL), WEFT_OK);
    assert_false(sim_is_excluded(sim, 0, -1, other));
    edits_run(sim, 40);
    assert_true(edits_vertex(sim, other, 0).y > -0.05); // it lies there
    edits_assert_resumes(sim, near_text);
    const int corners[] = {0, 1, 2, 3};
    const weft_exclusion few = {"patch", "sheet", corners, 2};
    assert_int_equal(weft_sim_exclude(sim, &few, NULL), WEFT_OK);
    assert_true(sim_is_excluded(sim, other, 1, 0) && !sim_is_excluded(sim, other, 2, 0));
    edits_assert_resumes(sim, near_text);
    weft_sim_destroy(sim);
}

static uint64_t hash_on_threads(int workers)
{
    weft_sim* sim = scene_sim_text(near_text, workers);
    const int corners[] = {0, 2};
    const weft_tie tie = {"patch", "sheet", corners, 2, 0};
    const weft_exclusion few = {"patch", "sheet", corners, 2};
    edits_run(sim, 6);
    assert_int_equal(weft_sim_tie(sim, &tie, NULL), WEFT_OK);
    edits_run(sim, 6);
    assert_int_equal(weft_sim_exclude(sim, &few, NULL), WEFT_OK);
    edits_run(sim, 6);
    uint64_t hash = edits_hash(sim);
    weft_sim_destroy(sim);
    return hash;
}

static void test_same_bits_on_threads(void** unused)
{
    (void)unused;
    uint64_t one = hash_on_threads(1);
    assert_true(one == hash_on_threads(2) && one == hash_on_threads(8));
}

// A run's folder: the frame after a tie has it, and a run that resumes from there goes on alike.
static void test_run_folder(void** unused)
{
    (void)unused;
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("run"));
    uint64_t whole[2] = {0, 0};
    for (int resumed = 0; resumed < 2; resumed++)
    {
        weft_sim* sim = scene_sim_text(near_text, 1);
        weft_cache_writer* writer;
        weft_step_stats stats;
        weft_cache_mode mode = resumed ? WEFT_CACHE_RESUME : WEFT_CACHE_NEW;
        assert_int_equal(weft_cache_writer_create(dir, mode, near_text, 1, sim, &writer, NULL), WEFT_OK);
        for (int k = 0; k < 3 && !resumed; k++)
        {
            k == 1 ? assert_int_equal(weft_sim_tie(sim, &whole_tie, NULL), WEFT_OK) : (void)0;
            k == 2 ? assert_int_equal(weft_sim_exclude(sim, &whole_pair, NULL), WEFT_OK) : (void)0;
            assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
            assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
        }
        assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
        assert_int_equal(weft_sim_generation(sim), 3);
        edits_run(sim, 3);
        whole[resumed] = edits_hash(sim);
        weft_sim_destroy(sim);
    }
    assert_true(whole[0] == whole[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tie),
        cmocka_unit_test(test_kin_is_sewn_anew),
        cmocka_unit_test(test_tie_joins_clusters),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_of_a_name),
        cmocka_unit_test(test_same_bits_on_threads),
        cmocka_unit_test(test_run_folder),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
