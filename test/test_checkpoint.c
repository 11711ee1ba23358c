// checkpoint.weft: what is saved comes back; files that are cut, damaged or forged are refused with a sentence and
// leave the simulation as it was; sections of a later Weft are refused by name, those that have a default may be
// missing.
#define _POSIX_C_SOURCE 200809L // mkfifo
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/checkpoint.h"
#include "common_run.h"
#include "common_scene.h"
#include "core/sections.h"

enum
{
    BYTES_MAX = 4096,
    HEADER = 64, // magic, format, fingerprint, kernels, version
    HEAD = 40,   // of a section: name [24], version, item size, count
    VERSION_AT = 24,
    ITEM_SIZE_AT = 28,
    COUNT_AT = 32,
    FRAME = 2 // steps
};

static const char scene[] = "{\"steps_per_frame\": 2, \"step_control\": {\"max_halvings\": 1}, \"cloth\": [{\"mesh\": "
                            "{\"grid\": {\"cells\": 1, \"size\": 0.2}}, \"transform\": "
                            "{\"translate\": [0, 0.0005, 0]}}], \"obstacles\": [{\"shape\": {\"plane\": {}}}]}";

static weft_sim* sim; // that reads
static state before;  // its state
static _Alignas(8) unsigned char good[BYTES_MAX], bytes[BYTES_MAX];
static size_t good_size, size;

static const char* path(void)
{
    return scene_path("c.weft");
}

static weft_sim* stepped(int steps)
{
    weft_sim* s = scene_sim_text(scene, 1);
    for (int k = 0; k < steps; k++)
    {
        assert_int_equal(weft_sim_step(s, NULL, NULL), WEFT_OK);
    }
    return s;
}

static void assert_same_state(const state* a, const state* b)
{
    size_t n = (size_t)a->vertex_count * sizeof(vec3);
    assert_memory_equal(a->x, b->x, n);
    assert_memory_equal(a->v, b->v, n);
    assert_memory_equal(a->acceleration, b->acceleration, n);
    assert_memory_equal(a->contact.memory, b->contact.memory, (size_t)a->vertex_count * sizeof(contact_memory));
    assert_int_equal(a->contact.bond_count, b->contact.bond_count);
    assert_true(a->step_count == b->step_count && a->halvings == b->halvings && a->calm == b->calm &&
                a->waits == b->waits && a->tries == b->tries);
}

// A checkpoint at step 4 as bytes, and a simulation at step 2 to read it.
static int make_file(void** unused)
{
    if (scene_folder_make(unused) != 0)
    {
        return -1;
    }
    weft_sim* writer = stepped(2 * FRAME);
    assert_int_equal(checkpoint_write(path(), writer, FRAME, NULL), WEFT_OK);
    weft_sim_destroy(writer);
    char* read = test_file_read(path(), &good_size);
    assert_true(good_size <= BYTES_MAX);
    memcpy(good, read, good_size);
    free(read);
    sim = stepped(FRAME);
    assert_int_equal(state_create(&before, sim->model.vertex_count), WEFT_OK);
    assert_int_equal(state_copy(&before, &sim->world.state), WEFT_OK);
    return 0;
}

static int remove_file(void** unused)
{
    weft_sim_destroy(sim);
    state_finish(&before);
    return scene_folder_remove(unused);
}

static void begin(void)
{
    memcpy(bytes, good, good_size);
    size = good_size;
}

static void fix_hash(void)
{
    uint64_t hash = hash_bytes(0, bytes, size - 8);
    memcpy(bytes + size - 8, &hash, 8);
}

static weft_status read_back(weft_error* error)
{
    *error = (weft_error){0};
    return checkpoint_parse(bytes, size, "c.weft", sim, FRAME, error);
}

static void assert_refused(const char* word)
{
    weft_error error;
    weft_status status = read_back(&error);
    if (status != WEFT_BAD_INPUT || !strstr(error.message, word) || !strstr(error.message, "--force"))
    {
        fail_msg("status %d, `%s` instead of `%s`", status, error.message, word);
    }
    assert_same_state(&sim->world.state, &before);
}

// Where a section begins, by this test's own reading of the format.
static unsigned char* section_at(const char* name)
{
    for (size_t at = HEADER; bytes[at];)
    {
        uint32_t item_size;
        uint64_t count;
        memcpy(&item_size, bytes + at + ITEM_SIZE_AT, 4);
        memcpy(&count, bytes + at + COUNT_AT, 8);
        if (strcmp((char*)bytes + at, name) == 0)
        {
            return bytes + at;
        }
        at += HEAD + (size_t)((item_size * count + 7) / 8 * 8);
    }
    fail_msg("the file has no section `%s`", name);
    return NULL;
}

static void cut_out(const char* name)
{
    unsigned char* at = section_at(name);
    uint32_t item_size;
    uint64_t count;
    memcpy(&item_size, at + ITEM_SIZE_AT, 4);
    memcpy(&count, at + COUNT_AT, 8);
    size_t length = HEAD + (size_t)((item_size * count + 7) / 8 * 8), rest = size - (size_t)(at - bytes) - length;
    memmove(at, at + length, rest);
    size -= length;
}

// ---- tests

static void test_round_trip(void** unused)
{
    (void)unused;
    weft_sim *first = stepped(2 * FRAME), *second = stepped(0);
    assert_int_equal(checkpoint_write(path(), first, FRAME, NULL), WEFT_OK);
    assert_int_equal(sim_build(second, NULL), WEFT_OK);
    assert_int_equal(checkpoint_read(path(), second, FRAME, NULL), WEFT_OK);
    assert_same_state(&first->world.state, &second->world.state);
    assert_true(second->world.state.contact.memory[0].force > 0.0); // it lies on the floor
    weft_sim_checkpoint(first);
    for (int k = 0; k < 5; k++)
    {
        assert_int_equal(weft_sim_step(first, NULL, NULL), WEFT_OK);
        assert_int_equal(weft_sim_step(second, NULL, NULL), WEFT_OK);
    }
    assert_same_state(&first->world.state, &second->world.state);
    weft_sim_destroy(first);
    weft_sim_destroy(second);
}

static void test_cut_at_every_byte(void** unused)
{
    (void)unused;
    for (size_t length = 0; length < good_size; length++)
    {
        begin();
        size = length;
        assert_refused("checkpoint");
        if (length >= HEADER + 8 && length % 8 == 0) // with a sound hash behind the cut
        {
            fix_hash();
            assert_refused("checkpoint");
        }
    }
    begin();
    memset(bytes + size, 0, 8);
    size += 8; // and with too much
    assert_refused("damaged");
}

static void test_every_byte_flipped(void** unused)
{
    (void)unused;
    int accepted = 0;
    for (size_t at = 0; at < good_size; at++)
    {
        for (int bit = 0; bit < 8; bit++)
        {
            begin();
            bytes[at] ^= (unsigned char)(1 << bit);
            assert_refused("checkpoint");
            if (at >= good_size - 8)
            {
                continue;
            }
            // With its hash made good: refused, or a state from which a step may fail but no more.
            fix_hash();
            weft_error error;
            weft_status status = read_back(&error);
            assert_true(status == WEFT_OK || status == WEFT_BAD_INPUT);
            if (status == WEFT_OK)
            {
                accepted++;
                bit == 7 || bit == 4 ? (void)weft_sim_step(sim, NULL, NULL) : (void)0;
                assert_int_equal(state_copy(&sim->world.state, &before), WEFT_OK);
            }
            assert_same_state(&sim->world.state, &before);
        }
    }
    print_message("%d of %d forged files were read\n", accepted, (int)good_size * 8);
    assert_true(accepted > 0);
}

static void forge(const char* name, size_t offset, const void* value, size_t length, const char* word)
{
    begin();
    memcpy(section_at(name) + offset, value, length);
    fix_hash();
    assert_refused(word);
}

static void test_impossible_numbers(void** unused)
{
    (void)unused;
    const int64_t steps[] = {-100, -1, 3, 42949672960, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 6; k++)
    {
        forge("step-control", HEAD, &steps[k], 8, "cannot be");
    }
    const int32_t halvings[] = {-1, 2, INT32_MAX, INT32_MIN}, calm[] = {-1, INT32_MAX},
                  frames[] = {0, -1, 3, INT32_MIN};
    for (int k = 0; k < 4; k++)
    {
        forge("step-control", HEAD + 8, &halvings[k], 4, "cannot be");
        forge("frames", HEAD, &frames[k], 4, "steps a frame");
    }
    forge("step-control", HEAD + 12, &calm[0], 4, "cannot be");
    forge("step-control", HEAD + 12, &calm[1], 4, "cannot be");
    forge("step-control", HEAD + 16, &calm[0], 4, "cannot be");
    forge("step-control", HEAD + 16, &calm[1], 4, "cannot be");
    forge("step-control", HEAD + 20, &calm[0], 4, "cannot be");
    forge("step-control", HEAD + 20, &calm[1], 4, "cannot be");
    const double wild[] = {NAN, INFINITY, -INFINITY};
    static const char* const names[] = {"positions", "velocities", "acceleration", "contact", "solver"};
    for (int k = 0; k < 15; k++)
    {
        forge(names[k / 3], HEAD + 8, &wild[k % 3], 8, "cannot be");
    }
    const double far = 1e300, still[] = {-1.0, NAN, 1e300};
    forge("positions", HEAD, &far, 8, "cannot be");
    for (int k = 0; k < 3; k++)
    {
        forge("contact", HEAD + offsetof(contact_memory, calm), &still[k], 8, "cannot be");
    }
}

static void test_impossible_sizes(void** unused)
{
    (void)unused;
    const uint64_t counts[] = {0, 3, 5, UINT64_MAX, (uint64_t)1 << 61, UINT64_MAX / 24 + 2};
    for (int k = 0; k < 6; k++)
    {
        forge("positions", COUNT_AT, &counts[k], 8, "checkpoint");
    }
    const uint32_t item_sizes[] = {0, 1, 8, 23, 48, UINT32_MAX};
    for (int k = 0; k < 6; k++)
    {
        forge("velocities", ITEM_SIZE_AT, &item_sizes[k], 4, "checkpoint");
    }
    forge("velocities", 0, "positions\0\0", 11, "damaged"); // twice
    forge("velocities", 0, "Velocities", 10, "damaged");
    forge("velocities", 12, "x", 1, "damaged"); // behind the end of the name
    forge("velocities", 0, "velocities-without-an-end", SECTION_NAME, "damaged");
}

// A file of very many sections is refused at once.
static void test_many_sections(void** unused)
{
    (void)unused;
    begin();
    uint32_t one = 1;
    for (size_t at = HEADER; at + HEAD + 8 <= BYTES_MAX; at += HEAD)
    {
        memset(bytes + at, 0, HEAD);
        snprintf((char*)bytes + at, SECTION_NAME, "s%d", (int)at);
        memcpy(bytes + at + VERSION_AT, &one, 4);
        memcpy(bytes + at + ITEM_SIZE_AT, &one, 4);
        size = at + HEAD + 8;
    }
    fix_hash();
    assert_refused("damaged");
}

static void test_other_versions(void** unused)
{
    (void)unused;
    const uint32_t zero = 0, one = 1, two = 2, three = 3, format_3 = 3, format_5 = 5;
    forge("positions", VERSION_AT, &two, 4, "`positions` that a later Weft wrote");
    forge("solver", VERSION_AT, &three, 4, "`solver` that a later Weft wrote");
    forge("solver", VERSION_AT, &one, 4, "`solver` that an earlier Weft wrote");
    forge("positions", VERSION_AT, &zero, 4, "damaged");
    forge("contact", 0, "tearing", 8, "`tearing` that a later Weft wrote");

    // The header's own version is looked at first: what follows may lie elsewhere.
    begin();
    memcpy(bytes + 8, &format_3, 4);
    assert_refused("an earlier Weft");
    memcpy(bytes + 8, &format_5, 4);
    assert_refused("a later Weft (" WEFT_VERSION_STRING ")");
    bytes[0] = 'x';
    assert_refused("no checkpoint");

    // Missing: what has a default, and what has none.
    static const char* const required[] = {"positions", "velocities", "acceleration", "step-control", "frames"};
    for (int k = 0; k < 5; k++)
    {
        begin();
        cut_out(required[k]);
        fix_hash();
        char word[64];
        snprintf(word, sizeof(word), "no section `%s`", required[k]);
        assert_refused(word);
    }
    begin();
    cut_out("contact");
    cut_out("solver");
    fix_hash();
    weft_error error;
    assert_int_equal(read_back(&error), WEFT_OK);
    assert_true(sim->world.state.contact.memory[0].force == 0.0);
    assert_int_equal(state_copy(&sim->world.state, &before), WEFT_OK);
}

static void test_no_plain_file(void** unused)
{
    (void)unused;
    weft_error error;
    remove(path());
    assert_int_equal(checkpoint_read(path(), sim, FRAME, &error), WEFT_NOT_FOUND);
    assert_int_equal(mkfifo(path(), 0600), 0);
    assert_int_equal(checkpoint_read(path(), sim, FRAME, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "plain file"));
    remove(path());
    assert_int_equal(checkpoint_read(scene_folder, sim, FRAME, &error), WEFT_BAD_INPUT);
    assert_same_state(&sim->world.state, &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),         cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_byte_flipped), cmocka_unit_test(test_impossible_numbers),
        cmocka_unit_test(test_impossible_sizes),   cmocka_unit_test(test_many_sections),
        cmocka_unit_test(test_other_versions),     cmocka_unit_test(test_no_plain_file),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
