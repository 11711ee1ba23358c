// weft view: pages are read back by a reader of their own and held against the cache; the same runs give the same
// bytes; what is missing, cut, unwritable or full is answered with a sentence and leaves nothing behind.
#define _GNU_SOURCE
#include "common.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "common_run.h"
#include "view/packing.h"
#include "weft/cache.h"
#include "weft/view.h"

enum
{
    NONE = 65535
};

static char folder[256];

static int make_folder(void** state)
{
    (void)state;
    return test_folder(folder) ? chdir(folder) : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return chdir("/");
}

static weft_status write_page(const char* const* dirs, int count, const char* path, weft_error* error)
{
    weft_view_page page = weft_view_page_default();
    page.dirs = dirs;
    page.dir_count = count;
    return weft_view_write(&page, path, error);
}

static void write_good_page(const char* dir, const char* path)
{
    weft_error error = {0};
    weft_status status = write_page(&dir, 1, path, &error);
    if (status != WEFT_OK)
    {
        fail_msg("%s: %s", error.file, error.message);
    }
}

// ---- a reader of its own

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

// The content of an element, from its id; NULL: there is none.
static char* element_text(const char* page, const char* id)
{
    char head[128];
    snprintf(head, sizeof(head), "id=\"%s\">", id);
    const char* begin = strstr(page, head);
    if (!begin)
    {
        return NULL;
    }
    begin += strlen(head);
    return strndup(begin, (size_t)(strstr(begin, "</script>") - begin));
}

static uint8_t* packet_of(const char* page, int run, const char* name, size_t* size)
{
    char id[64];
    snprintf(id, sizeof(id), "weft-%d-%s", run, name);
    char* text = element_text(page, id);
    assert_non_null(text);
    size_t length = strlen(text), count = 0;
    uint8_t* bytes = malloc(length + 1);
    assert_int_equal(length % 4, 0);
    for (size_t k = 0; k < length; k += 4)
    {
        int d[4];
        for (int i = 0; i < 4; i++)
        {
            d[i] = digit_of(text[k + i]);
        }
        uint32_t word = (uint32_t)(d[0] << 18 | d[1] << 12 | (d[2] < 0 ? 0 : d[2]) << 6 | (d[3] < 0 ? 0 : d[3]));
        bytes[count++] = (uint8_t)(word >> 16);
        count += d[2] >= 0 ? (bytes[count] = (uint8_t)(word >> 8), 1) : 0;
        count += d[3] >= 0 ? (bytes[count] = (uint8_t)word, 1) : 0;
    }
    uLongf room = 64 << 20;
    uint8_t* out = malloc(room);
    assert_int_equal(uncompress(out, &room, bytes, count), Z_OK);
    *size = room;
    free(bytes);
    free(text);
    return out;
}

typedef struct cursor
{
    const uint8_t *at, *end;
} cursor;

static uint8_t take(cursor* c)
{
    assert_true(c->at < c->end);
    return *c->at++;
}

static uint32_t take_count(cursor* c)
{
    uint32_t value = 0;
    for (int shift = 0;; shift += 7)
    {
        uint8_t byte = take(c);
        value |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
        {
            return value;
        }
    }
}

static int take_difference(cursor* c, int before)
{
    uint32_t d = take_count(c);
    return before + (d % 2 ? -(int)((d + 1) / 2) : (int)(d / 2));
}

// A channel by the words of docs/view.md. values, before, before2 are by vertex.
static void take_channel(cursor* c, const mesh_order* order, uint16_t* values, const uint16_t* before,
                         const uint16_t* before2)
{
    int head = take(c), mode = head & 15, n = order->count;
    const uint8_t* low = c->at;
    c->at += n;
    const uint8_t* high = head & 16 ? NULL : c->at;
    c->at += high ? n : 0;
    assert_true(c->at <= c->end);
    assert_true(mode < 9);
    for (int k = 0; k < n; k++)
    {
        int folded = low[k] | (high ? high[k] << 8 : 0);
        int value = folded % 2 ? -(folded + 1) / 2 : folded / 2;
        const int* p = order->parents + 3 * (size_t)k;
        value += mode >= 3 && p[0] >= 0 ? values[p[0]] : 0;
        value += mode >= 6 && p[0] >= 0 ? values[p[1]] - values[p[2]] : 0;
        values[order->vertex[k]] = (uint16_t)value;
    }
    for (int v = 0; v < n; v++)
    {
        int guess = mode % 3 == 0 ? 0 : mode % 3 == 1 ? before[v] : 2 * before[v] - before2[v];
        values[v] = (uint16_t)(values[v] + guess);
    }
}

// ---- a page against its cache

enum
{
    POINTS_MAX = 20000,
    CHANNELS_MAX = 12
};

typedef struct read_body
{
    uint16_t values[CHANNELS_MAX][3][POINTS_MAX]; // this frame, before, before2
    mesh_order order;
    int topology;
} read_body;

static json_t* page_meta(const char* page)
{
    char* text = element_text(page, "weft-runs");
    assert_non_null(text);
    json_t* meta = json_loads(text, 0, NULL);
    assert_non_null(meta);
    free(text);
    return meta;
}

static double number_of(const json_t* object, const char* key)
{
    return json_number_value(json_object_get(object, key));
}

static void follow(read_body* b, const int* origin, int count)
{
    uint16_t old[POINTS_MAX];
    for (int c = 0; c < CHANNELS_MAX; c++)
    {
        for (int past = 1; past < 3; past++)
        {
            memcpy(old, b->values[c][past], sizeof(old));
            for (int v = 0; v < count; v++)
            {
                b->values[c][past][v] = old[origin[v]];
            }
        }
    }
}

static void read_channel(cursor* c, read_body* b, int channel)
{
    uint16_t(*v)[POINTS_MAX] = b->values[channel];
    take_channel(c, &b->order, v[0], v[1], v[2]);
    memcpy(v[2], v[1], sizeof(v[2]));
    memcpy(v[1], v[0], sizeof(v[1]));
}

// Metres, by vertex; channel values of this frame are values[c][0].
static vec3 point_of(const json_t* body, const read_body* b, int v)
{
    const json_t* corner = json_object_get(body, "corner");
    double quantum = number_of(body, "quantum"), at[3];
    for (int axis = 0; axis < 3; axis++)
    {
        at[axis] = json_number_value(json_array_get(corner, (size_t)axis)) + quantum * b->values[axis][0][v];
    }
    return v3(at[0], at[1], at[2]);
}

typedef void frame_check(weft_cache* cache, int body, int frame, const json_t* meta, const read_body* b);

static void check_points(weft_cache* cache, int body, int frame, const json_t* meta, const read_body* b)
{
    vec3 x[POINTS_MAX];
    assert_int_equal(weft_cache_read_frame(cache, body, frame, x, NULL), WEFT_OK);
    double size = 65534.0 * number_of(meta, "quantum");
    for (int v = 0; v < b->order.count; v++)
    {
        if (!isfinite(x[v].x) || !isfinite(x[v].y) || !isfinite(x[v].z))
        {
            assert_int_equal(b->values[0][0][v], NONE);
            continue;
        }
        double error = v3_length(v3_sub(point_of(meta, b, v), x[v]));
        if (error > 2e-5 * size)
        {
            fail_msg("body %d, frame %d, vertex %d: %g m of %g", body, frame, v, error, size);
        }
    }
}

static void read_frame(cursor* c, weft_cache* cache, int body, int frame, const json_t* meta, read_body* b)
{
    int topology = weft_cache_topology_of(cache, body, frame);
    const weft_cache_body* shape = weft_cache_topology_at(cache, body, topology);
    assert_true(shape->vertex_count <= POINTS_MAX);
    bool torn = frame > 0 && topology != b->topology;
    if (torn)
    {
        follow(b, shape->origin, shape->vertex_count);
    }
    if (frame == 0 || torn)
    {
        mesh_order_finish(&b->order);
        mesh_order_make(shape->vertex_count, shape->triangles, shape->triangle_count, &b->order);
        b->topology = topology;
    }
    for (int channel = 0; channel < (shape->obstacle ? 3 : 5); channel++)
    {
        read_channel(c, b, channel);
    }
    json_t* fields = json_object_get(meta, "fields");
    for (size_t f = 0; f < json_array_size(fields); f++)
    {
        json_t* field = json_array_get(fields, f);
        bool packed = !json_is_true(json_object_get(field, "constant")) || frame == 0 || torn;
        for (int half = 0; packed && half < (json_is_true(json_object_get(field, "categories")) ? 2 : 1); half++)
        {
            read_channel(c, b, 5 + 2 * (int)f + half);
        }
    }
}

static void check_page(const char* page, int run, const char* dir, frame_check* check)
{
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(dir, &cache, NULL), WEFT_OK);
    json_t* meta = page_meta(page);
    json_t* bodies = json_object_get(json_array_get(json_object_get(meta, "runs"), (size_t)run), "bodies");
    int body_count = weft_cache_body_count(cache);
    assert_int_equal(json_array_size(bodies), body_count);
    read_body* read = calloc((size_t)body_count, sizeof(read_body));
    for (int frame = 0; frame < weft_cache_frame_count(cache); frame++)
    {
        char name[24];
        snprintf(name, sizeof(name), "%d", frame);
        size_t size = 0;
        uint8_t* bytes = packet_of(page, run, name, &size);
        cursor c = {bytes, bytes + size};
        for (int b = 0; b < body_count; b++)
        {
            if (frame == 0 || !weft_cache_body_at(cache, b)->still)
            {
                read_frame(&c, cache, b, frame, json_array_get(bodies, (size_t)b), &read[b]);
                check(cache, b, frame, json_array_get(bodies, (size_t)b), &read[b]);
            }
        }
        assert_ptr_equal(c.at, c.end);
        free(bytes);
    }
    for (int b = 0; b < body_count; b++)
    {
        mesh_order_finish(&read[b].order);
    }
    free(read);
    json_decref(meta);
    weft_cache_close(cache);
}

// ---- runs

static int weft(const char* line)
{
    char command[2048];
    snprintf(command, sizeof(command), "\"$WEFT\" %s >.out 2>.err", line);
    return test_shell(NULL, command);
}

static void assert_says(const char* path, const char* words)
{
    size_t size = 0;
    char* text = test_file_read(path, &size);
    if (!strstr(text, words))
    {
        fail_msg("`%s` is not in: %s", words, text);
    }
    free(text);
}

static void test_real_run(void** state)
{
    (void)state;
    assert_int_equal(weft("run sphere --set cells=20 --frames 6 -o run"), 0);
    write_good_page("run", "page.html");
    size_t size = 0;
    char* page = test_file_read("page.html", &size);
    check_page(page, 0, "run", check_points);

    // All of it is inside: nothing is asked of a network, or of other files.
    assert_null(strstr(page, "<script src"));
    assert_null(strstr(page, "<link rel=\"stylesheet\""));
    assert_null(strstr(page, "<!--weft-runs-->"));
    json_t* meta = page_meta(page);
    json_t* run = json_array_get(json_object_get(meta, "runs"), 0);
    assert_int_equal(number_of(run, "frames"), 7);
    assert_int_equal(number_of(run, "steps"), 48);
    json_decref(meta);
    free(page);
}

static void test_meshes_come_back(void** state)
{
    (void)state;
    test_run_write("torn", true);
    write_good_page("torn", "torn.html");
    size_t size = 0, bytes_size = 0;
    char* page = test_file_read("torn.html", &size);
    uint8_t* bytes = packet_of(page, 0, "meshes", &bytes_size);
    cursor c = {bytes, bytes + bytes_size};
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open("torn", &cache, NULL), WEFT_OK);
    for (int b = 0; b < weft_cache_body_count(cache); b++)
    {
        for (int t = 0; t < weft_cache_topology_count(cache, b); t++)
        {
            const weft_cache_body* body = weft_cache_topology_at(cache, b, t);
            assert_int_equal(take_count(&c), body->vertex_count);
            assert_int_equal(take_count(&c), body->triangle_count);
            int before = 0;
            for (int k = 0; k < 3 * body->triangle_count; k++)
            {
                before = take_difference(&c, before);
                assert_int_equal(before, body->triangles[k]);
            }
            if (!take(&c))
            {
                assert_int_equal(take_count(&c), body->face_count);
                for (int f = 0; f < body->face_count; f++)
                {
                    assert_int_equal(take_count(&c), body->face_start[f + 1] - body->face_start[f]);
                }
                before = 0;
                for (int k = 0; k < body->face_start[body->face_count]; k++)
                {
                    before = take_difference(&c, before);
                    assert_int_equal(before, body->face_vertices[k]);
                }
            }
            int has_origin = take(&c);
            assert_int_equal(has_origin, t > 0);
            for (int v = 0; has_origin && v < body->vertex_count; v++)
            {
                assert_int_equal(take_difference(&c, v), body->origin[v]);
            }
        }
    }
    assert_ptr_equal(c.at, c.end);
    weft_cache_close(cache);
    free(bytes);
    free(page);
}

static void test_torn_cloth(void** state)
{
    (void)state;
    test_run_write("torn2", true);
    write_good_page("torn2", "torn2.html");
    size_t size = 0;
    char* page = test_file_read("torn2.html", &size);
    check_page(page, 0, "torn2", check_points);
    free(page);
}

// ---- fields

static void check_fields(weft_cache* cache, int body, int frame, const json_t* meta, const read_body* b)
{
    json_t* fields = json_object_get(meta, "fields");
    for (int f = 0; f < weft_cache_field_count(cache, body); f++)
    {
        float values[POINTS_MAX];
        json_t* field = json_array_get(fields, (size_t)f);
        const weft_cache_field* info = weft_cache_field_at(cache, body, f);
        assert_int_equal(weft_cache_read_field(cache, body, f, frame, values, NULL), WEFT_OK);
        const uint16_t *low = b->values[5 + 2 * f][0], *high = b->values[6 + 2 * f][0];
        double least = number_of(field, "low"), span = number_of(field, "high") - least;
        for (int v = 0; v < b->order.count; v++)
        {
            if (info->categories)
            {
                assert_int_equal((int32_t)(low[v] | (uint32_t)high[v] << 16), (int32_t)values[v]);
            }
            else
            {
                assert_float_equal(least + span * low[v] / 65534.0, values[v], 1e-5 * span);
            }
        }
    }
}

static void test_fields(void** state)
{
    (void)state;
    enum
    {
        VERTICES = 25,
        FRAMES = 4
    };
    assert_int_equal(weft("run pinned --set cells=4 --frames 3 -o fields"), 0);
    float level[VERTICES], heat[FRAMES * VERTICES];
    for (int v = 0; v < VERTICES; v++)
    {
        level[v] = (float)(v * 7919 % 100000 - 1);
    }
    for (int k = 0; k < FRAMES * VERTICES; k++)
    {
        heat[k] = 0.37f * (float)k - 3.0f;
    }
    weft_error error = {0};
    assert_int_equal(weft_cache_field_write("fields", "sheet", "aggregate", 1, VERTICES, 1, level, &error), WEFT_OK);
    assert_int_equal(weft_cache_field_write("fields", "sheet", "heat", 0, VERTICES, FRAMES, heat, &error), WEFT_OK);
    write_good_page("fields", "fields.html");
    size_t size = 0;
    char* page = test_file_read("fields.html", &size);
    json_t* meta = page_meta(page);
    json_t* run = json_array_get(json_object_get(meta, "runs"), 0);
    json_t* fields = json_object_get(json_array_get(json_object_get(run, "bodies"), 0), "fields");
    assert_int_equal(json_array_size(fields), 2);
    json_decref(meta);
    check_page(page, 0, "fields", check_fields);
    free(page);
}

// ---- contact and strain

static void check_contact(weft_cache* cache, int body, int frame, const json_t* meta, const read_body* b)
{
    (void)meta;
    const weft_cache_body* shape = weft_cache_body_at(cache, body);
    int touching = 0, stretched = 0;
    for (int v = 0; !shape->obstacle && v < b->order.count; v++)
    {
        touching += b->values[4][0][v];
        stretched += b->values[3][0][v] > 8; // positions in float leave a little
        assert_true(b->values[4][0][v] <= 1 && b->values[3][0][v] <= 255);
    }
    if (!shape->obstacle && frame == 0)
    {
        assert_int_equal(touching, 0); // it starts in the air
        assert_int_equal(stretched, 0);
    }
    if (!shape->obstacle && frame == 14)
    {
        assert_true(touching > 10 && touching < b->order.count / 2); // it lies on the sphere, and hangs down around it
        assert_true(stretched > b->order.count / 4);
    }
}

static void test_contact_is_marked(void** state)
{
    (void)state;
    assert_int_equal(weft("run sphere --set cells=24 --frames 14 -o drape"), 0);
    write_good_page("drape", "drape.html");
    size_t size = 0;
    char* page = test_file_read("drape.html", &size);
    check_page(page, 0, "drape", check_contact);
    free(page);
}

// ---- same bytes, several runs

static void test_same_bytes(void** state)
{
    (void)state;
    test_run_write("same", true);
    const char* dirs[] = {"same", "./same"};
    weft_error error = {0};
    for (int workers = 1; workers <= 3; workers += 2)
    {
        weft_view_page page = weft_view_page_default();
        page.dirs = dirs;
        page.dir_count = 2;
        page.worker_count = workers;
        assert_int_equal(weft_view_write(&page, workers == 1 ? "a.html" : "b.html", &error), WEFT_OK);
    }
    size_t size[2];
    char *a = test_file_read("a.html", &size[0]), *b = test_file_read("b.html", &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(a, b, size[0]);
    check_page(a, 1, "same", check_points);
    free(a);
    free(b);
}

// ---- values that are not finite

static void test_not_finite(void** state)
{
    (void)state;
    test_run_write("nan", false);
    size_t size = 0;
    char* bytes = test_file_read("nan/sheet.pc2", &size);
    float bad = NAN;
    memcpy(bytes + 32 + 6 * 12 * 2, &bad, sizeof(bad)); // frame 2, vertex 0
    test_file_write("nan", "sheet.pc2", bytes, size);
    free(bytes);
    write_good_page("nan", "nan.html");
    char* page = test_file_read("nan.html", &size);
    check_page(page, 0, "nan", check_points);
    free(page);
}

// ---- names that would break out of their element

static void test_names_stay_inside(void** state)
{
    (void)state;
    assert_int_equal(mkdir("<x", 0777), 0);
    test_run_write("<x", false);
    const char* dir = "<x";
    write_good_page(dir, "names.html");
    size_t size = 0;
    char* page = test_file_read("names.html", &size);
    assert_non_null(strstr(page, "\"name\": \"\\u003cx\""));
    json_t* meta = page_meta(page);
    json_t* run = json_array_get(json_object_get(meta, "runs"), 0);
    assert_string_equal(json_string_value(json_object_get(run, "name")), "<x");
    json_decref(meta);
    free(page);
}

// ---- what goes wrong

static bool exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static void test_missing_run(void** state)
{
    (void)state;
    assert_int_equal(weft("view"), 2);
    assert_says(".err", "which run?");
    assert_int_equal(weft("view no-such-run -o x.html"), 2);
    assert_says(".err", "weft run SCENE");
    assert_false(exists("x.html"));
    assert_int_equal(weft("view no-such-run -q"), 2);
    assert_says(".err", "unknown option `-q`");
}

static void test_cut_cache(void** state)
{
    (void)state;
    test_run_write("cut", false);
    test_file_cut("cut", "sheet.pc2", 5);
    assert_int_equal(weft("view cut -o cut.html"), 2);
    assert_says(".err", "cut/sheet.pc2");
    assert_says(".err", "weft export --frames");
    assert_false(exists("cut.html") || exists("cut.html.tmp"));
}

static void test_targets(void** state)
{
    (void)state;
    test_run_write("target", false);
    assert_int_equal(weft("view target -o no-such-folder/x.html"), 3);
    assert_says(".err", "no-such-folder/x.html");
    test_text_write(".", "notes.txt", "mine");
    static const char* const others[] = {"target/sheet.pc2", "notes.txt", "target", "a.html/b", ".html"};
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
    {
        char words[64];
        snprintf(words, sizeof(words), "view target -o %s", others[k]);
        assert_int_equal(weft(words), 2);
        assert_says(".err", "ends in .html");
    }
    assert_says("notes.txt", "mine");
    assert_int_equal(weft("view target -o PAGE.HTM"), 0);
    assert_int_equal(mkdir("folder.html", 0777), 0);
    assert_int_equal(weft("view target -o folder.html"), 3);
    assert_says(".err", "this is a folder");

    // By default the page lies in the folder of the first run.
    assert_int_equal(weft("view target"), 0);
    assert_says(".out", "target/view.html");
    assert_true(exists("target/view.html"));
    // That of several does not replace the page of the first alone.
    test_text_write("target", "view.html", "alone");
    assert_int_equal(weft("view target target"), 0);
    assert_says(".out", "target/compare.html");
    assert_true(exists("target/compare.html"));
    assert_says("target/view.html", "alone");
}

// A page that does not fit leaves the one that was there.
static void test_full_disk(void** state)
{
    (void)state;
    test_run_write("full", false);
    test_text_write(".", "old.html", "old");
    pid_t pid = fork();
    if (pid == 0)
    {
        struct rlimit limit = {100000, 100000};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(weft("view full -o old.html"));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_says(".err", "free some space");
    assert_says("old.html", "old");
    assert_false(exists("old.html.tmp"));
}

// Whichever allocation fails, nothing is left and nothing is lost. The answer is NO_MEMORY, or BAD_INPUT where opening
// takes a scene.json for which there was no memory as damaged.
static void test_no_memory(void** state)
{
    (void)state;
    test_run_write("memory", true);
    test_text_write("memory", "stats.jsonl", "{\"step\": 1, \"energy\": {\"total\": 2}}\nnonsense\n");
    const char* dir = "memory";
    int no_memory = 0;
    for (int at = 1;; at += 1 + at / 12)
    {
        test_ledger ledger = {.fail_at = at};
        test_ledger_open(&ledger);
        weft_error error = {0};
        weft_view_page page = weft_view_page_default();
        page.dirs = &dir;
        page.dir_count = 1;
        page.worker_count = 1;
        weft_status status = weft_view_write(&page, "memory.html", &error);
        int live = ledger.live, made = ledger.made;
        test_ledger_close();
        assert_int_equal(live, 0);
        if (made < at)
        {
            assert_int_equal(status, WEFT_OK);
            break;
        }
        assert_true(status == WEFT_NO_MEMORY || status == WEFT_BAD_INPUT || status == WEFT_OK);
        no_memory += status == WEFT_NO_MEMORY;
        assert_false(status != WEFT_OK && exists("memory.html"));
        remove("memory.html");
    }
    assert_true(no_memory > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_run),   cmocka_unit_test(test_meshes_come_back),  cmocka_unit_test(test_torn_cloth),
        cmocka_unit_test(test_fields),     cmocka_unit_test(test_contact_is_marked), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_names_stay_inside), cmocka_unit_test(test_missing_run),
        cmocka_unit_test(test_cut_cache),  cmocka_unit_test(test_targets),           cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
