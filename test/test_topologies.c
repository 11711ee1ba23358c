// Folders of runs whose cloth tears: what the reader gives for each frame, what it says of folders that are damaged,
// cut or not whole, and what the commands make of them. Fields beside the positions.
#define _GNU_SOURCE
#include "common.h"
#include "common_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft/cache.h"

static char folder[256], run[512];

static int make_folder(void** state)
{
    (void)state;
    test_folder(folder);
    snprintf(run, sizeof(run), "%s/run", folder);
    test_run_write(run, true);
    return 0;
}

static int remove_folder(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static weft_cache* open_well(void)
{
    weft_cache* cache = NULL;
    weft_error error = {0};
    if (weft_cache_open(run, &cache, &error) != WEFT_OK)
    {
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    }
    return cache;
}

static void drop(const char* name)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", run, name);
    assert_int_equal(remove(path), 0);
}

// ---- reading

static void each_frame_has_its_topology(void** state)
{
    (void)state;
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 2);
    assert_int_equal(weft_cache_frame_count(cache), TORN_FRAMES);
    assert_string_equal(weft_cache_body_at(cache, 0)->name, "sheet");
    assert_int_equal(weft_cache_topology_count(cache, 0), 3);
    assert_int_equal(weft_cache_topology_count(cache, 1), 1);
    const int topology[TORN_FRAMES] = {0, 0, 1, 2, 2};
    for (int frame = 0; frame < TORN_FRAMES; frame++)
    {
        weft_vec3 x[16];
        int count = test_run_vertices(frame, true);
        assert_int_equal(weft_cache_topology_of(cache, 0, frame), topology[frame]);
        assert_int_equal(weft_cache_topology_at(cache, 0, topology[frame])->vertex_count, count);
        assert_int_equal(weft_cache_read_frame(cache, 0, frame, x, NULL), WEFT_OK);
        for (int v = 0; v < count; v++)
        {
            weft_vec3 wanted = test_run_point(frame, v);
            assert_true(fabs(x[v].x - wanted.x) + fabs(x[v].y - wanted.y) + fabs(x[v].z - wanted.z) < 1e-6);
        }
    }
    weft_cache_close(cache);
}

static void topologies_keep_faces_maps_and_origins(void** state)
{
    (void)state;
    weft_cache* cache = open_well();
    const weft_cache_body* first = weft_cache_topology_at(cache, 0, 0);
    assert_null(first->origin);
    assert_int_equal(first->face_count, 2);
    assert_int_equal(first->face_start[1], 4);
    assert_int_equal(first->texcoord_count, 8);
    assert_int_equal(first->face_texcoords[4], 4);
    assert_true(first->texcoords[2 * 6] == 1.0 && first->texcoords[2 * 6 + 1] == 1.0);
    assert_null(weft_cache_body_at(cache, 1)->face_texcoords);
    const weft_cache_body *second = weft_cache_topology_at(cache, 0, 1), *third = weft_cache_topology_at(cache, 0, 2);
    const int origin[9] = {0, 1, 2, 3, 4, 5, 1, 4};
    assert_memory_equal(second->origin, origin, 8 * sizeof(int));
    // The second face is cut as before the tear, although its lowest vertex is at the other diagonal now.
    const int cut[] = {1, 2, 5, 1, 5, 4}, still_cut[] = {6, 2, 5, 6, 5, 7};
    assert_memory_equal(first->triangles + 6, cut, sizeof(cut));
    assert_memory_equal(second->triangles + 6, still_cut, sizeof(still_cut));
    assert_int_equal(third->origin[7], 7);
    assert_int_equal(third->origin[8], 6);
    assert_int_equal(third->face_count, 3);
    assert_string_equal(third->name, "sheet");
    assert_int_equal(weft_cache_topology_start(cache, 0, 2), TORN_SECOND);
    weft_cache_close(cache);
}

// ---- damage

typedef struct damage
{
    const char *file, *text; // written; NULL text: the file is removed
    const char* named;       // the file that the error names
    int line;
    const char* says;
} damage;

#define LINE_ONE "{\"frame\": 2, \"body\": \"sheet\", \"topology\": 1, \"copies\": [1, 4]}\n"
#define LINE_TWO "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [6]}\n"

#define GONE(body, frame) "{\"frame\": " frame ", \"body\": \"" body "\", \"gone\": true}\n"
#define COMES(body, frame)                                                                                             \
    "{\"frame\": " frame ", \"body\": \"" body                                                                         \
    "\", \"topology\": 0, \"list\": \"cloth\", \"id\": 0, \"thickness\": 0.001}\n"

static const damage damages[] = {
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sheet\"\n", "frames.jsonl", 2, "no line like"},
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2}\n", "frames.jsonl", 2,
     "no line like"},
    {"frames.jsonl", LINE_ONE "[1, 2]\n", "frames.jsonl", 2, "no line like"},
    {"frames.jsonl", "\n", "frames.jsonl", 1, "no line like"},
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [-1]}\n",
     "frames.jsonl", 2, "no line like"},
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [8]}\n", "frames.jsonl",
     2, "copy of vertex 8"},
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [6, 6]}\n",
     "frames.jsonl", 2, "make no 9"},
    {"frames.jsonl", LINE_ONE LINE_TWO "{\"frame\": 4, \"body\": \"sheet\", \"topology\": 4, \"copies\": [6]}\n",
     "frames.jsonl", 3, "topology 4"},
    {"frames.jsonl", LINE_ONE "{\"frame\": 2, \"body\": \"sheet\", \"topology\": 2, \"copies\": [6]}\n", "frames.jsonl",
     2, "must grow"},
    {"frames.jsonl", LINE_ONE LINE_TWO "{\"frame\": 3, \"body\": \"shirt\", \"topology\": 1, \"copies\": [6]}\n",
     "frames.jsonl", 3, "no body `shirt`"},
    {"frames.jsonl", LINE_ONE LINE_TWO "{\"frame\": 3, \"body\": \"ball\", \"topology\": 1, \"copies\": [6]}\n",
     "frames.jsonl", 3, "stands still"},
    {"frames.jsonl", LINE_ONE LINE_TWO "{\"frame\": 4, \"body\": \"sheet\", \"gone\": 1}\n", "frames.jsonl", 3,
     "no line like"},
    {"frames.jsonl", LINE_ONE LINE_TWO "{\"frame\": 4, \"body\": \"../x\", \"gone\": true}\n", "frames.jsonl", 3,
     "no line like"},
    {"frames.jsonl", LINE_ONE LINE_TWO GONE("sheet", "4") GONE("sheet", "5"), "frames.jsonl", 4, "goes at frame 5"},
    {"frames.jsonl", GONE("sheet", "0") LINE_ONE LINE_TWO, "frames.jsonl", 1, "goes at frame 0"},
    {"frames.jsonl", LINE_ONE COMES("sheet", "2") LINE_TWO, "frames.jsonl", 2, "comes at frame 2"},
    {"frames.jsonl", LINE_ONE LINE_TWO COMES("shirt", "2"), "frames.jsonl", 3, "no body `shirt`"},
    {"frames.jsonl", LINE_ONE LINE_TWO GONE("shirt", "2"), "frames.jsonl", 3, "no body `shirt`"},
    {"frames.jsonl",
     LINE_ONE LINE_TWO "{\"frame\": 4, \"body\": \"ball\", \"topology\": 0, \"list\": \"cloth\", \"id\": 0}\n",
     "frames.jsonl", 3, "no line like"},
    // Half a line is that of a run that was killed, but here its frames are there.
    {"frames.jsonl", LINE_ONE "{\"frame\": 3, \"body\": \"sh", "sheet.2.pc2", 0, "does not list"},
    {"frames.jsonl", NULL, "sheet.", 0, "does not list"},
    {"sheet.1.pc2", NULL, "frames.jsonl", 1, "lacks sheet.1.obj or sheet.1.pc2"},
    {"sheet.2.obj", NULL, "frames.jsonl", 2, "lacks sheet.2.obj"},
    {"sheet.2.obj", "v 0 0 0\nv 1 0 0\nv 1 1 x\n", "sheet.2.obj", 3, ""},
    {"sheet.2.pc2", "POINTCACHE", "sheet.2.pc2", 0, "not a PC2 file"},
};

static void damage_is_named_with_file_and_line(void** state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(damages) / sizeof(damages[0]); k++)
    {
        const damage* d = &damages[k];
        test_run_write(run, true);
        d->text ? test_text_write(run, d->file, d->text) : drop(d->file);
        weft_cache* cache = NULL;
        weft_error error = {0};
        weft_status status = weft_cache_open(run, &cache, &error);
        if (status != WEFT_BAD_INPUT || !strstr(error.file, d->named) || error.line != d->line ||
            !strstr(error.message, d->says))
        {
            fail_msg("damage %d: status %d, %s:%d: %s", (int)k, status, error.file, error.line, error.message);
        }
    }
}

static void points_and_start_must_fit(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    weft_error error = {0};
    test_pc2_write(run, "sheet.1.pc2", 7, (float)TORN_FIRST, 1);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "7 points"));
    test_pc2_write(run, "sheet.1.pc2", 8, 0.0f, 1);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "starts at frame 0"));
    test_run_write(run, true);
    drop("frames.jsonl");
    char path[600];
    snprintf(path, sizeof(path), "%s/frames.jsonl", run);
    mkdir(path, 0777);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    rmdir(path);
}

// A file that holds less than its topology lasts ends the frames there; an inspection or export is told.
static void cut_caches_end_the_frames(void** state)
{
    (void)state;
    const struct
    {
        const char* file;
        int points, frames;
    } cuts[] = {{"sheet.pc2", 6, 1}, {"sheet.1.pc2", 8, 2}, {"sheet.2.pc2", 9, 4}};
    for (int k = 0; k < 3; k++)
    {
        test_run_write(run, true);
        weft_cache* cache = open_well();
        assert_int_equal(weft_cache_check_samples(run, cache, NULL), WEFT_OK);
        weft_cache_close(cache);
        test_file_cut(run, cuts[k].file, 5);
        cache = open_well();
        weft_error error = {0};
        assert_int_equal(weft_cache_frame_count(cache), cuts[k].frames);
        assert_int_equal(weft_cache_check_samples(run, cache, &error), WEFT_BAD_INPUT);
        assert_non_null(strstr(error.file, cuts[k].file));
        weft_cache_close(cache);
    }
    // Whole, but with too few samples.
    test_run_write(run, true);
    test_pc2_write(run, "sheet.pc2", 6, 0.0f, 1);
    weft_cache* cache = open_well();
    weft_error error = {0};
    assert_int_equal(weft_cache_frame_count(cache), 1);
    assert_int_equal(weft_cache_check_samples(run, cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "sheet.pc2 ends before frame 2"));
    weft_cache_close(cache);
}

// A run that was killed between the files of a topology and its first sample has lost nothing.
static void killed_between_topologies(void** state)
{
    (void)state;
    test_text_write(run, "sheet.3.obj", "v 0 0 0\n");
    test_pc2_write(run, "sheet.3.pc2", 10, 5.0f, 0);
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 2);
    assert_int_equal(weft_cache_topology_count(cache, 0), 3);
    weft_cache_close(cache);
    drop("sheet.3.obj");
    drop("sheet.3.pc2");
    test_pc2_write(run, "sheet.2.pc2", 9, (float)TORN_SECOND, 0);
    cache = open_well();
    assert_int_equal(weft_cache_topology_count(cache, 0), 3);
    assert_int_equal(weft_cache_frame_count(cache), TORN_SECOND);
    assert_int_equal(weft_cache_check_samples(run, cache, NULL), WEFT_OK);
    weft_cache_close(cache);
}

// A body with samples that come later, and no line: the list is missing or cut.
static void later_bodies_have_a_line(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    weft_error error = {0};
    test_text_write(run, "scene.json", "{\"cloth\": [{\"name\": \"sheet\"}], \"obstacles\": [{\"name\": \"ball\"}]}");
    assert_int_equal(test_shell(run, "cp sheet.obj late.obj"), 0);
    test_pc2_write(run, "late.pc2", 6, 2.0f, 3);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "does not list"));
    test_pc2_write(run, "late.pc2", 6, 2.0f, 0);
    cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 2);
    weft_cache_close(cache);
    test_pc2_write(run, "late.pc2", 6, 2.0f, 3);
    test_text_write(run, "frames.jsonl", LINE_ONE LINE_TWO COMES("late", "2"));
    cache = open_well();
    assert_int_equal(weft_cache_body_count(cache), 3);
    assert_int_equal(weft_cache_frame_count(cache), TORN_FRAMES);
    weft_cache_close(cache);
}

static void memory_may_end_anywhere(void** state)
{
    (void)state;
    test_ledger ledger = {0};
    weft_status status = WEFT_NO_MEMORY;
    float values[6] = {0};
    assert_int_equal(weft_cache_field_write(run, "sheet", "level", 1, 6, 1, values, NULL), WEFT_OK);
    for (int at = 1; status == WEFT_NO_MEMORY; at++)
    {
        ledger = (test_ledger){.fail_at = at, .fail_on = 1};
        test_ledger_open(&ledger);
        weft_cache* cache = NULL;
        status = weft_cache_open(run, &cache, NULL);
        weft_cache_close(status == WEFT_OK ? cache : NULL);
        test_ledger_close();
        assert_int_equal(ledger.live, 0);
        assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
    }
    assert_true(ledger.made > 20);
    drop("sheet.level.field");
}

// ---- fields

static void fields_come_back(void** state)
{
    (void)state;
    float amounts[6 * TORN_FRAMES], classes[6] = {3, 1, 4, 1, 5, 9}, out[16];
    for (int k = 0; k < 6 * TORN_FRAMES; k++)
    {
        amounts[k] = 0.5f * (float)k;
    }
    assert_int_equal(weft_cache_field_write(run, "sheet", "speed", 0, 6, TORN_FRAMES, amounts, NULL), WEFT_OK);
    assert_int_equal(weft_cache_field_write(run, "sheet", "aggregate", 1, 6, 1, classes, NULL), WEFT_OK);
    test_text_write(run, "other.level.field", "of no body");
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_field_count(cache, 0), 2);
    assert_int_equal(weft_cache_field_count(cache, 1), 0);
    const weft_cache_field *aggregate = weft_cache_field_at(cache, 0, 0), *speed = weft_cache_field_at(cache, 0, 1);
    assert_string_equal(aggregate->name, "aggregate");
    assert_true(aggregate->categories == 1 && aggregate->constant == 1);
    assert_string_equal(speed->name, "speed");
    assert_true(speed->categories == 0 && speed->constant == 0);
    assert_int_equal(weft_cache_read_field(cache, 0, 1, 1, out, NULL), WEFT_OK);
    assert_memory_equal(out, amounts + 6, 6 * sizeof(float));
    // After the second tear 8 follows 6, which follows 1; 7 follows 4.
    assert_int_equal(weft_cache_read_field(cache, 0, 0, 4, out, NULL), WEFT_OK);
    assert_memory_equal(out, classes, sizeof(classes));
    assert_true(out[6] == 1 && out[7] == 5 && out[8] == 1);
    weft_cache_close(cache);
}

static void damaged_fields_are_refused(void** state)
{
    (void)state;
    float values[12] = {0};
    weft_cache* cache = NULL;
    weft_error error = {0};
    assert_int_equal(weft_cache_field_write(run, "sheet", "a.b", 0, 6, 2, values, &error), WEFT_BAD_INPUT);
    assert_int_equal(weft_cache_field_write(run, "sheet", "", 0, 6, 2, values, &error), WEFT_BAD_INPUT);
    assert_int_equal(weft_cache_field_write(run, "sheet", "level", 0, 6, 2, values, &error), WEFT_OK);
    cache = open_well();
    float out[16];
    assert_int_equal(weft_cache_read_field(cache, 0, 0, 2, out, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "no values for frame 2"));
    weft_cache_close(cache);
    test_file_cut(run, "sheet.level.field", 4);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "states 2 samples and holds 1"));
    assert_int_equal(weft_cache_field_write(run, "sheet", "level", 0, 4, 2, values, &error), WEFT_OK);
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "4 vertices"));
    test_text_write(run, "sheet.level.field", "WEFTFIELD2");
    assert_int_equal(weft_cache_open(run, &cache, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.file, "sheet.level.field"));
}

// ---- commands

static int weft(const char* words)
{
    char line[1200];
    snprintf(line, sizeof(line), "\"$WEFT\" %s > .out 2> .err", words);
    return test_shell(folder, line);
}

static bool answer_has(const char* file, const char* words)
{
    char path[600];
    size_t size;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    char* text = test_file_read(path, &size);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static void commands_follow_the_topology(void** state)
{
    (void)state;
    assert_int_equal(weft("inspect run --json"), 0);
    assert_true(answer_has(".out", "\"frame\":4,\"crossings\":0"));
    assert_int_equal(weft("render run --show strain --edges -o k4.png --size 64x64"), 0);
    assert_int_equal(weft("render run --frame 0 -o k0.png --size 64x64"), 0);
    assert_int_equal(weft("render run --frame 9 -o k9.png"), 2);
}

// A run that replaces another leaves nothing of it that would not fit; files of the user stay.
static void force_removes_topologies_and_fields(void** state)
{
    (void)state;
    float values[4] = {0};
    assert_int_equal(weft("run hang --set cells=3 --frames 1 -o anew"), 0);
    snprintf(run, sizeof(run), "%s/anew", folder);
    char path[600];
    assert_int_equal(test_shell(run, "cp sheet.obj sheet.1.obj"), 0);
    test_pc2_write(run, "sheet.1.pc2", 16, 1.0f, 1);
    test_text_write(run, "frames.jsonl", "{\"frame\": 1, \"body\": \"sheet\", \"topology\": 1, \"copies\": []}\n");
    // The scene knows the matrix of the cloth before it tears, and no other.
    assert_int_equal(weft("render anew --show strength -o s.png"), 2);
    assert_true(answer_has(".err", "tears at frame 1"));
    assert_int_equal(weft("render anew --frame 0 --show strength -o s.png"), 0);
    test_text_write(run, "sheet.7.obj", "mine");
    assert_int_equal(weft_cache_field_write(run, "sheet", "level", 1, 4, 1, values, NULL), WEFT_OK);
    assert_int_equal(weft("run hang --set cells=3 --frames 1 -o anew --force"), 0);
    weft_cache* cache = open_well();
    assert_int_equal(weft_cache_topology_count(cache, 0), 1);
    assert_int_equal(weft_cache_field_count(cache, 0), 0);
    weft_cache_close(cache);
    drop("sheet.7.obj");
    snprintf(path, sizeof(path), "%s/sheet.1.pc2", run);
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_frame_has_its_topology, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(topologies_keep_faces_maps_and_origins, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damage_is_named_with_file_and_line, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(points_and_start_must_fit, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(cut_caches_end_the_frames, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(killed_between_topologies, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(later_bodies_have_a_line, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(memory_may_end_anywhere, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(fields_come_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damaged_fields_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(commands_follow_the_topology, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(force_removes_topologies_and_fields, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
