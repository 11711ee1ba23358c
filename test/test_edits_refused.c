// Edits that are wrong, that find no memory, or that a forged checkpoint holds: they are refused and change nothing.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_edits.h"
#include "common_scene.h"
#include "sim/edits.h"
#include "weft/cache.h"

static const char tied[] = "{\"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 3}}}, {\"name\": \"b\", "
                           "\"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.2}}, \"transform\": {\"translate\": [0, "
                           "0.01, 0]}}], \"ties\": [{\"cloth\": \"b\", \"to\": \"a\"}]}";

// ---- wrong edits

static weft_status wrong_pin(weft_sim* sim, int cloth, int vertex, const weft_pin* with, weft_error* error)
{
    weft_pin pin = *with;
    pin.vertices = &vertex, pin.vertex_count = 1;
    return weft_sim_pin(sim, cloth, &pin, NULL, error);
}

static weft_status wrong_material(weft_sim* sim, int cloth, double bending, double density, weft_error* error)
{
    weft_material material;
    assert_int_equal(weft_material_find("cotton", &material, NULL), WEFT_OK);
    material.bending = bending;
    material.density = density;
    return weft_sim_set_material(sim, cloth, &material, error);
}

static weft_status wrong_force(weft_sim* sim, int cloth, int vertex, double y, weft_error* error)
{
    weft_force forces[] = {{&vertex, 1, {0, 1, 0}}, {&vertex, 1, {0, y, 0}}};
    return weft_sim_set_force(sim, cloth, forces, 2, error);
}

static weft_status wrong_tie(weft_sim* sim, const char* cloth, const char* to, int vertex, weft_error* error)
{
    const weft_tie tie = {cloth, to, &vertex, 1, 0}, edges = {cloth, to, &vertex, 1, 1};
    return weft_sim_tie(sim, vertex == 0 ? &edges : &tie, error);
}

static weft_status wrong_exclusion(weft_sim* sim, const char* first, const char* second, int vertex, weft_error* error)
{
    const weft_exclusion e = {first, second, &vertex, 1};
    return weft_sim_exclude(sim, &e, error);
}

// The index-th wrong edit; NOT_FOUND and no sentence behind the last.
static weft_status wrong_edit(weft_sim* sim, int index, weft_pin_id pin, weft_error* error)
{
    const weft_vec3 nowhere[] = {{0, 0, 0}, {0, NAN, 0}};
    const weft_pin_key keys[] = {{1, {0, 0, 0}, 0}, {1, {0, 0, 0}, 0}};
    weft_pin point = weft_pin_default(), line = point, late = point, odd = point, keyed = point, sampled = point;
    weft_pin follows = point, both = point;
    follows.follow = "patch"; // a cloth
    both.follow = "ball", both.samples = nowhere, both.sample_count = 1;
    weft_air air = weft_sim_def_default().air;
    line.fix = WEFT_FIX_LINE, line.direction = v3(0, 0, 0);
    late.release = NAN, odd.fix = (weft_fix)7;
    keyed.keys = keys, keyed.key_count = 2;
    sampled.samples = nowhere, sampled.sample_count = 2;
    air.drag = -1;
    switch (index)
    {
    case 0:
        return wrong_pin(sim, 0, 16, &point, error);
    case 1:
        return wrong_pin(sim, 0, -1, &point, error);
    case 2:
        return wrong_pin(sim, 7, 0, &point, error);
    case 3:
        return wrong_pin(sim, -1, 0, &point, error);
    case 4:
        return wrong_pin(sim, 2, 0, &point, error); // was removed
    case 5:
        return wrong_pin(sim, 0, 0, &line, error);
    case 6:
        return wrong_pin(sim, 0, 0, &late, error);
    case 7:
        return wrong_pin(sim, 0, 0, &odd, error);
    case 8:
        return wrong_pin(sim, 0, 0, &keyed, error);
    case 9:
        return wrong_pin(sim, 0, 0, &sampled, error);
    case 10:
        return weft_sim_pin(sim, 0, &point, NULL, error);
    case 11:
        return weft_sim_move(sim, pin, nowhere, error);
    case 12:
        return weft_sim_move(sim, pin + 1, nowhere, error);
    case 13:
        return weft_sim_unpin(sim, 0, error);
    case 14:
        return weft_sim_unpin(sim, pin + 1, error);
    case 15:
        return wrong_material(sim, 0, -1e-6, 0.1, error);
    case 16:
        return wrong_material(sim, 0, NAN, 0.1, error);
    case 17:
        return wrong_material(sim, 0, 1e-6, 0.0, error);
    case 18:
        return wrong_material(sim, 2, 1e-6, 0.1, error);
    case 19:
        return weft_sim_set_gravity(sim, (weft_vec3){0, INFINITY, 0}, error);
    case 20:
        return weft_sim_set_wind(sim, &air, error);
    case 21:
        return wrong_force(sim, 0, 99, 0, error);
    case 22:
        return wrong_force(sim, 0, 0, NAN, error);
    case 23:
        return wrong_force(sim, 3, 0, 0, error);
    case 24:
        return edits_add_square(sim, "sheet", v3(0, 1, 0), NULL, error);
    case 25:
        return edits_add_floor(sim, "sheet", v3(0, 1, 0), NULL, error);
    case 26:
        return edits_add_square(sim, NULL, v3(0, NAN, 0), NULL, error);
    case 27:
        return edits_add_floor(sim, "ball", v3(0, -1, 0), NULL, error);
    case 28:
        return edits_add_floor(sim, "a/b", v3(0, -1, 0), NULL, error);
    case 29:
        return weft_sim_remove_cloth(sim, 2, error);
    case 30:
        return weft_sim_remove_cloth(sim, -5, error);
    case 31:
        return weft_sim_remove_obstacle(sim, 1, error);
    case 32:
        return wrong_pin(sim, 0, 0, &follows, error);
    case 33:
        return wrong_pin(sim, 0, 0, &both, error);
    case 34:
        return wrong_tie(sim, "patch", "shed", 1, error);
    case 35:
        return wrong_tie(sim, "patch", "ball", 1, error);
    case 36:
        return wrong_tie(sim, "ball", "patch", 1, error);
    case 37:
        return wrong_tie(sim, "patch", "sheet", 9, error);
    case 38:
        return wrong_tie(sim, "cloth3", "sheet", 1, error); // was removed
    case 39:
        return wrong_tie(sim, "sheet", "patch", 1, error); // lies beside it
    case 40:
        return wrong_tie(sim, "patch", "sheet", 0, error); // no edge has but one end
    case 41:
        return wrong_exclusion(sim, "patch", "shed", 1, error);
    case 42:
        return wrong_exclusion(sim, "ball", "ball", 1, error);
    case 43:
        return wrong_exclusion(sim, "patch", "ball", -1, error);
    case 44:
        return wrong_exclusion(sim, "patch", "cloth3", 1, error); // was removed
    default:
        return WEFT_NOT_FOUND;
    }
}

static void test_wrong_edits(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    edits_run(sim, 2);
    const int vertices[] = {1, 2};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    weft_pin_id id;
    assert_int_equal(edits_add_square(sim, NULL, v3(0, 1, 0), NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sim_remove_cloth(sim, 2, NULL), WEFT_OK);
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &id, NULL), WEFT_OK);
    uint64_t before = edits_hash(sim);
    int count = 0;
    for (weft_error error = {0};; error = (weft_error){0}, count++)
    {
        weft_status status = wrong_edit(sim, count, id, &error);
        if (status == WEFT_NOT_FOUND && !error.message[0])
        {
            break;
        }
        if (status == WEFT_OK || !error.message[0] || error.status != status || edits_hash(sim) != before)
        {
            fail_msg("wrong edit %d: status %d, `%s`, %s", count, status, error.message,
                     edits_hash(sim) == before ? "nothing changed" : "something changed");
        }
    }
    assert_int_equal(count, 45);
    weft_sim_destroy(sim);
    sim = scene_sim_text(tied, 1);
    weft_error error;
    assert_int_equal(weft_sim_remove_cloth(sim, 0, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "tied"));
    // Nothing was edited: what is added is part of the scene.
    assert_false(sim->built);
    assert_int_equal(edits_add_square(sim, NULL, v3(0, 1, 0), NULL, NULL), WEFT_OK);
    assert_false(sim->built);
    weft_sim_destroy(sim);
}

// ---- no memory

enum
{
    GOOD_EDITS = 12
};

static weft_status good_edit(weft_sim* sim, int index, weft_pin_id pin)
{
    const int vertices[] = {4, 5};
    weft_pin two = weft_pin_default();
    two.vertices = vertices, two.vertex_count = 2;
    weft_force force = {vertices, 2, {0, 0.01, 0}};
    weft_air air = weft_sim_def_default().air;
    weft_material material = sim->bodies[0].material;
    const weft_vec3 target[] = {edits_vertex(sim, 0, 1)};
    air.density = 1.2;
    material.density *= 1.5;
    const int corner = 3;
    const char* to = weft_sim_cloth_name(sim, weft_sim_has_cloth(sim, 1) ? 1 : 2);
    const weft_tie tie = {to, "sheet", &corner, 1, 0};
    const weft_exclusion exclusion = {"sheet", to, vertices, 2};
    switch (index)
    {
    case 0:
        return weft_sim_pin(sim, 0, &two, NULL, NULL);
    case 1:
        return weft_sim_move(sim, pin, target, NULL);
    case 2:
        return weft_sim_unpin(sim, pin, NULL);
    case 3:
        return weft_sim_set_force(sim, 0, &force, 1, NULL);
    case 4:
        return weft_sim_set_wind(sim, &air, NULL);
    case 5:
        return weft_sim_set_material(sim, 0, &material, NULL);
    case 6:
        return edits_add_square(sim, NULL, v3(0, 0.3, 0), NULL, NULL);
    case 7:
        return edits_add_floor(sim, NULL, v3(0, -0.3, 0), NULL, NULL);
    case 8:
        return weft_sim_remove_cloth(sim, 1, NULL);
    case 9:
        return weft_sim_remove_obstacle(sim, 0, NULL);
    case 10:
        return weft_sim_tie(sim, &tie, NULL);
    case 11:
        return weft_sim_exclude(sim, &exclusion, NULL);
    default:
        return WEFT_NOT_FOUND;
    }
}

// A simulation with contacts, some of them remembered, and a pin on vertex 1.
static weft_sim* at_work(weft_pin_id* pin)
{
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    edits_run(sim, 3);
    const int vertex = 1;
    weft_pin one = weft_pin_default();
    one.vertices = &vertex, one.vertex_count = 1;
    assert_int_equal(weft_sim_pin(sim, 0, &one, pin, NULL), WEFT_OK);
    edits_run(sim, 3);
    return sim;
}

// Every allocation of an edit fails once; the edit that is then made gives the same bits as if it had never failed.
static void test_no_memory(void** unused)
{
    (void)unused;
    test_ledger l = {0};
    test_ledger_open(&l);
    int failed = 0;
    weft_pin_id pin;
    for (int index = 0; index < GOOD_EDITS; index++)
    {
        weft_sim* sim = at_work(&pin);
        weft_sim* expected = at_work(&pin);
        uint64_t before = edits_hash(sim);
        int nth = 0;
        weft_status status;
        do
        {
            l.fail_at = l.made + ++nth;
            status = good_edit(sim, index, pin);
            l.fail_at = 0;
            failed += status != WEFT_OK;
            if (status != WEFT_OK && (status != WEFT_NO_MEMORY || edits_hash(sim) != before))
            {
                fail_msg("edit %d, allocation %d: status %d", index, nth, status);
            }
        } while (status != WEFT_OK);
        assert_int_equal(good_edit(expected, index, pin), WEFT_OK);
        assert_true(edits_hash(sim) == edits_hash(expected));
        edits_run(sim, 2);
        edits_run(expected, 2);
        assert_true(edits_hash(sim) == edits_hash(expected));
        weft_sim_destroy(sim);
        weft_sim_destroy(expected);
    }
    test_ledger_close();
    assert_int_equal(l.live, 0);
    print_message("%d edits failed for want of memory\n", failed);
    assert_true(failed > 100);
}

// Nor does reading a checkpoint with edits, whichever allocation fails, or whichever byte of them is another.
static void test_checkpoint_undone(void** unused)
{
    (void)unused;
    test_ledger l = {0};
    test_ledger_open(&l);
    weft_pin_id pin;
    weft_sim* sim = at_work(&pin);
    for (int index = 0; index < GOOD_EDITS; index++)
    {
        index == 2 ? (void)0 : assert_int_equal(good_edit(sim, index, pin), WEFT_OK);
    }
    edits_run(sim, 2);
    weft_sim* other = scene_sim_text(edits_busy, 1);
    edits_run(other, 1);
    const char* path = scene_path("undone.weft");
    assert_int_equal(checkpoint_write(path, sim, 1, NULL), WEFT_OK);
    uint64_t before = edits_hash(other);
    int nth = 0;
    weft_status status;
    do
    {
        l.fail_at = l.made + ++nth;
        status = checkpoint_read(path, other, 1, NULL);
        l.fail_at = 0;
        if (status != WEFT_OK && (status != WEFT_NO_MEMORY || edits_hash(other) != before))
        {
            fail_msg("allocation %d: status %d, %s", nth, status,
                     edits_hash(other) == before ? "nothing changed" : "something changed");
        }
    } while (status != WEFT_OK);
    assert_true(nth > 100 && edits_hash(other) == edits_hash(sim));
    weft_sim_destroy(other);
    weft_sim_destroy(sim);
    test_ledger_close();
    assert_int_equal(l.live, 0);
}

// Where the items of the section begin, and how many bytes they are.
static unsigned char* section_in(unsigned char* bytes, size_t size, const char* name, size_t* count)
{
    for (size_t k = 0; k + 40 < size; k += 8)
    {
        if (strncmp((const char*)bytes + k, name, 24) == 0)
        {
            uint64_t items;
            memcpy(&items, bytes + k + 32, sizeof(items));
            *count = (size_t)items;
            return bytes + k + 40;
        }
    }
    fail_msg("the checkpoint has no section %s", name);
    return NULL;
}

// A forged word anywhere in the section is refused with a sentence, or says something that can be.
static void assert_forged(unsigned char* bytes, size_t size, const char* name)
{
    size_t count = 0;
    unsigned char* items = section_in(bytes, size, name, &count);
    int refused = 0;
    static const uint64_t words[] = {0, 1, UINT64_MAX, 0x7FF8000000000000u, (uint64_t)1 << 40};
    for (size_t k = 0; k < 5 * (count / 8); k++)
    {
        uint64_t kept, hash;
        unsigned char* at = items + 8 * (k / 5);
        memcpy(&kept, at, 8);
        memcpy(at, &words[k % 5], 8);
        hash = hash_bytes(0, bytes, size - 8);
        memcpy(bytes + size - 8, &hash, 8);
        weft_sim* other = scene_sim_text(edits_busy, 1);
        weft_error error = {0};
        assert_int_equal(sim_build(other, NULL), WEFT_OK);
        uint64_t before = edits_hash(other);
        weft_status status = checkpoint_parse(bytes, size, "forged.weft", other, 1, &error);
        refused += status != WEFT_OK;
        assert_true(status == WEFT_OK || (error.message[0] && edits_hash(other) == before));
        weft_sim_destroy(other);
        memcpy(at, &kept, 8);
    }
    print_message("%s: %d of %d forged words refused\n", name, refused, (int)(5 * (count / 8)));
    assert_true(refused > (int)(count / 8));
}

static void test_forged_edits(void** unused)
{
    (void)unused;
    weft_pin_id pin;
    weft_sim* sim = at_work(&pin);
    for (int index = 0; index < GOOD_EDITS; index++)
    {
        index == 2 ? (void)0 : assert_int_equal(good_edit(sim, index, pin), WEFT_OK);
    }
    const char* path = scene_path("forged.weft");
    assert_int_equal(checkpoint_write(path, sim, 1, NULL), WEFT_OK);
    void* bytes;
    size_t size;
    assert_int_equal(file_read(path, &bytes, &size, NULL), WEFT_OK);
    assert_forged(bytes, size, "edits");
    assert_forged(bytes, size, "edit-ties");
    mem_free(bytes);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_edits),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_checkpoint_undone),
        cmocka_unit_test(test_forged_edits),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
