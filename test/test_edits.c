// Edits of a running simulation.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_scene.h"
#include "sim/edits.h"

static const char plain[] = "{\"contact\": {\"enabled\": false}, " CLOTH ", \"pins\": [{\"where\": {\"edge\": "
                            "\"top\"}}]}]}";

static void run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("step: %s", error.message);
        }
    }
}

static void assert_same(const weft_sim* a, const weft_sim* b)
{
    const state *s = &a->world.state, *t = &b->world.state;
    assert_int_equal(s->vertex_count, t->vertex_count);
    size_t n = (size_t)s->vertex_count;
    assert_memory_equal(s->x, t->x, n * sizeof(vec3));
    assert_memory_equal(s->v, t->v, n * sizeof(vec3));
    assert_memory_equal(s->acceleration, t->acceleration, n * sizeof(vec3));
    assert_memory_equal(s->contact.memory, t->contact.memory, n * sizeof(contact_memory));
}

// A simulation of the same scene, made anew, that goes on from where this one is.
static weft_sim* made_anew(weft_sim* sim, const char* text, int workers)
{
    weft_sim* other = scene_sim_text(text, workers);
    weft_error error = {0};
    weft_sim_checkpoint(sim);
    const char* path = scene_path("edits.weft");
    weft_status status = checkpoint_write(path, sim, 1, &error);
    status = status == WEFT_OK ? sim_build(other, &error) : status;
    status = status == WEFT_OK ? checkpoint_read(path, other, 1, &error) : status;
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return other;
}

static void test_gravity(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    run(sim, 3);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){2, 0, NAN}, NULL), WEFT_BAD_INPUT);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){2, 0, 0}, NULL), WEFT_OK);
    double total = 0.0;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        total += sim->model.external[i].x;
    }
    assert_true(fabs(total - 2 * sim->model.total_mass) < 1e-12);
    run(sim, 2);
    weft_sim* other = made_anew(sim, plain, 1);
    assert_same(sim, other);
    run(sim, 3);
    run(other, 3);
    assert_same(sim, other);
    weft_sim_destroy(other);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravity),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
