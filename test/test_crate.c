// USD's crate and package, read back by a small reader of its own: the packing of ints and bytes, the sections, the
// tree of paths, the samples of points; that a package holds the very crate, at a multiple of 64 and with a right check
// sum. OpenUSD itself reads the same files in integrations/check.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_run.h"
#include "export/crate.h"
#include "weft/export.h"

static char folder[256], run[300], target[300];

static int set_up(void** unused)
{
    (void)unused;
    snprintf(run, sizeof(run), "%s/run", test_folder(folder));
    snprintf(target, sizeof(target), "%s/out", folder);
    return 0;
}

static int tear_down(void** unused)
{
    (void)unused;
    test_folder_remove(folder);
    return 0;
}

static char* export_bytes(const char* format, bool torn, size_t* size)
{
    weft_cache* cache = NULL;
    weft_export_def def = weft_export_def_default();
    def.format = format;
    test_run_write(run, torn);
    assert_int_equal(weft_cache_open(run, &cache, NULL), WEFT_OK);
    assert_int_equal(weft_export(cache, &def, target, NULL, NULL), WEFT_OK);
    weft_cache_close(cache);
    return test_file_read(target, size);
}

// ---- the packing, undone

static uint64_t read64(const char* at)
{
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

// The literals of one chunk; their count.
static size_t unpack_bytes(const unsigned char* packed, size_t size, const unsigned char** out)
{
    assert_int_equal(packed[0], 0); // one chunk
    assert_int_equal(packed[1] & 15, 0);
    size_t count = packed[1] >> 4, at = 2;
    if (count == 15)
    {
        for (; packed[at] == 255; at++)
        {
            count += 255;
        }
        count += packed[at++];
    }
    assert_int_equal(at + count, size);
    *out = packed + at;
    return count;
}

static void unpack_ints(const unsigned char* packed, size_t size, int count, int* out)
{
    const unsigned char* coded;
    size_t coded_size = unpack_bytes(packed, size, &coded), at = 4 + ((size_t)count + 3) / 4;
    int32_t common, value = 0;
    memcpy(&common, coded, 4);
    for (int k = 0; k < count; k++)
    {
        int8_t narrow;
        int16_t middle;
        int32_t wide;
        switch (coded[4 + k / 4] >> 2 * (k % 4) & 3)
        {
        case 0:
            value = (int32_t)((uint32_t)value + (uint32_t)common);
            break;
        case 1:
            memcpy(&narrow, coded + at, 1), at += 1, value += narrow;
            break;
        case 2:
            memcpy(&middle, coded + at, 2), at += 2, value += middle;
            break;
        default:
            memcpy(&wide, coded + at, 4), at += 4, value = (int32_t)((uint32_t)value + (uint32_t)wide);
        }
        out[k] = value;
    }
    assert_int_equal(at, coded_size);
}

static void test_packing(void** unused)
{
    (void)unused;
    enum
    {
        COUNT = 600
    };
    int values[COUNT] = {0, 1, 2, -1, 127, 0, 128, -300, 32767, -32768, INT32_MAX, INT32_MIN, INT32_MAX, -1},
        back[COUNT];
    for (int k = 14; k < COUNT; k++)
    {
        values[k] = k % 7 == 0 ? -k * k * 1000 : values[k - 1] + 1;
    }
    static const int counts[] = {0, 1, 3, 4, 5, 14, COUNT};
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
    {
        size_t size;
        unsigned char* packed = crate_pack_ints(values, counts[k], &size);
        unpack_ints(packed, size, counts[k], back);
        assert_memory_equal(back, values, (size_t)counts[k] * sizeof(int));
        mem_free(packed);
    }
    char words[1000];
    memset(words, 'w', sizeof(words));
    static const size_t sizes[] = {0, 1, 14, 15, 16, 269, 270, 271, 524, 525, 1000};
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
    {
        size_t size;
        const unsigned char* literals;
        unsigned char* packed = crate_pack_bytes(words, sizes[k], &size);
        assert_int_equal(unpack_bytes(packed, size, &literals), sizes[k]);
        assert_memory_equal(literals, words, sizes[k]);
        mem_free(packed);
    }
}

// ---- the reader

enum
{
    MOST = 400
};

typedef struct reader
{
    const char* file;
    const char* token[MOST];
    int tokens, fields, sets, paths, specs;
    int field[MOST], set[MOST], spec[3][MOST];
    uint64_t value[MOST];
    char path[MOST][120];
} reader;

// The section of that name; *size its bytes.
static const char* section(const reader* r, const char* name, size_t* size)
{
    const char* contents = r->file + read64(r->file + 16);
    for (uint64_t k = 0; k < read64(contents); k++)
    {
        const char* entry = contents + 8 + 32 * k;
        if (strcmp(entry, name) == 0)
        {
            *size = read64(entry + 24);
            return r->file + read64(entry + 16);
        }
    }
    fail_msg("no section %s", name);
    return NULL;
}

// Packed ints behind their size; where they end.
static const char* read_ints(const char* at, int count, int* out)
{
    uint64_t size = read64(at);
    assert_true(count <= MOST);
    unpack_ints((const unsigned char*)at + 8, size, count, out);
    return at + 8 + size;
}

// The tree, depth first, as in USD's own reader.
static int read_paths(reader* r, const int* index, const int* token, const int* jump, int at, const char* parent)
{
    for (bool more = true; more;)
    {
        int here = at++;
        char* path = r->path[index[here]];
        int length = snprintf(path, sizeof(r->path[0]), "%s%s%s", parent,
                              here == 0         ? ""
                              : token[here] < 0 ? "."
                                                : "/",
                              r->token[abs(token[here])]);
        assert_true(length < (int)sizeof(r->path[0]));
        bool child = jump[here] > 0 || jump[here] == -1;
        more = jump[here] >= 0;
        if (child)
        {
            at = read_paths(r, index, token, jump, at, path);
            assert_true(jump[here] == -1 || at == here + jump[here]);
        }
    }
    return at;
}

static void read_crate(reader* r, const char* file)
{
    static const unsigned char mark[16] = "PXR-USDC\0\x08";
    size_t size;
    *r = (reader){.file = file};
    assert_memory_equal(file, mark, sizeof(mark));
    const char* at = section(r, "TOKENS", &size);
    const unsigned char* words;
    r->tokens = (int)read64(at);
    assert_int_equal(unpack_bytes((const unsigned char*)at + 24, read64(at + 16), &words), read64(at + 8));
    for (int k = 0; k < r->tokens; k++)
    {
        r->token[k] = (const char*)words;
        words += strlen(r->token[k]) + 1;
    }
    at = section(r, "FIELDS", &size);
    r->fields = (int)read64(at);
    at = read_ints(at + 8, r->fields, r->field);
    assert_int_equal(unpack_bytes((const unsigned char*)at + 8, read64(at), &words), 8 * r->fields);
    memcpy(r->value, words, 8 * (size_t)r->fields);
    at = section(r, "FIELDSETS", &size);
    r->sets = (int)read64(at);
    read_ints(at + 8, r->sets, r->set);
    at = section(r, "PATHS", &size);
    int index[MOST], token[MOST], jump[MOST];
    r->paths = (int)read64(at);
    assert_int_equal(read64(at + 8), r->paths);
    read_ints(read_ints(read_ints(at + 16, r->paths, index), r->paths, token), r->paths, jump);
    assert_int_equal(read_paths(r, index, token, jump, 0, ""), r->paths);
    at = section(r, "SPECS", &size) + 8;
    r->specs = (int)read64(at - 8);
    for (int k = 0; k < 3; k++)
    {
        at = read_ints(at, r->specs, r->spec[k]);
    }
}

// The value of a field of the spec at a path; 0: there is none.
static uint64_t field_of(const reader* r, const char* path, const char* field)
{
    for (int s = 0; s < r->specs; s++)
    {
        for (int k = r->spec[1][s]; strcmp(r->path[r->spec[0][s]], path) == 0 && r->set[k] >= 0; k++)
        {
            if (strcmp(r->token[r->field[r->set[k]]], field) == 0)
            {
                return r->value[r->set[k]];
            }
        }
    }
    return 0;
}

static const char* place(const reader* r, uint64_t value, crate_type type, bool array)
{
    assert_int_equal(value >> 48 & 255, type);
    assert_int_equal(value >> 63, array);
    return r->file + (value & 0xffffffffffff);
}

// The word that an inlined token is.
static const char* word_of(const reader* r, const char* path, const char* field)
{
    uint64_t value = field_of(r, path, field);
    assert_int_equal(value >> 48, 0x4000 | CRATE_TOKEN);
    return r->token[value & 0xffffffff];
}

// The samples' values; codes are 0, 1, ...
static const char* samples_of(const reader* r, const char* path, int count)
{
    const char* at = place(r, field_of(r, path, "timeSamples"), CRATE_TIME_SAMPLES, false);
    const char* times = place(r, read64(at + read64(at)), CRATE_DOUBLE_VECTOR, false);
    assert_int_equal(read64(times), count);
    for (int k = 0; k < count; k++)
    {
        double code;
        memcpy(&code, times + 8 + 8 * k, 8);
        assert_true(code == k);
    }
    at += 16;
    at += read64(at);
    assert_int_equal(read64(at), count);
    return at + 8;
}

static void check_points(const reader* r, bool torn)
{
    const char* values = samples_of(r, "/run/sheet.points", TORN_FRAMES);
    for (int k = 0; k < TORN_FRAMES; k++)
    {
        const char* at = place(r, read64(values + 8 * k), CRATE_VEC3F, true);
        int count = test_run_vertices(k, torn);
        assert_int_equal(read64(at), count);
        for (int v = 0; v < count; v++)
        {
            float x[3];
            memcpy(x, at + 8 + 12 * v, sizeof(x));
            weft_vec3 wanted = test_run_point(k, v);
            assert_true(fabs((double)x[0] - wanted.x) + fabs((double)x[1] - wanted.y) + fabs((double)x[2] - wanted.z) <
                        1e-6);
        }
    }
}

static void test_layer(void** unused)
{
    (void)unused;
    for (int torn = 0; torn < 2; torn++)
    {
        size_t size;
        char* file = export_bytes("usdc", torn, &size);
        reader* r = malloc(sizeof(reader));
        read_crate(r, file);
        check_points(r, torn);
        assert_string_equal(word_of(r, "", "defaultPrim"), "run");
        assert_string_equal(word_of(r, "", "upAxis"), "Y");
        assert_string_equal(word_of(r, "/run", "typeName"), "Xform");
        assert_string_equal(word_of(r, "/run/sheet", "typeName"), "Mesh");
        assert_string_equal(word_of(r, "/run/sheet.points", "typeName"), "point3f[]");
        assert_string_equal(word_of(r, "/run/sheet.normals", "interpolation"), "vertex");
        assert_string_equal(word_of(r, "/run/sheet.subdivisionScheme", "default"), "none");
        double rate;
        memcpy(&rate, place(r, field_of(r, "", "timeCodesPerSecond"), CRATE_DOUBLE, false), 8);
        assert_true(rate == 20.0);
        const int whole[8] = {0, 1, 4, 3, 1, 2, 5, 4};
        uint64_t faces = field_of(r, "/run/sheet.faceVertexIndices", "default");
        assert_int_equal(faces == 0, torn);
        if (!torn)
        {
            const char* at = place(r, faces, CRATE_INT, true);
            assert_int_equal(read64(at), 8);
            assert_memory_equal(at + 8, whole, sizeof(whole));
        }
        free(r);
        free(file);
    }
}

// ---- the package

static uint32_t check_sum(const unsigned char* bytes, size_t size)
{
    uint32_t check = 0xffffffff;
    for (size_t k = 0; k < size; k++)
    {
        check ^= bytes[k];
        for (int bit = 0; bit < 8; bit++)
        {
            check = check >> 1 ^ (0xedb88320 & -(check & 1));
        }
    }
    return ~check;
}

static void test_package(void** unused)
{
    (void)unused;
    size_t layer_size, size;
    char* layer = export_bytes("usdc", true, &layer_size);
    char* package = export_bytes("usdz", true, &size);
    assert_memory_equal(package, "PK\3\4", 4);
    uint16_t method, name, extra;
    uint32_t check, packed, whole, start;
    memcpy(&method, package + 8, 2);
    memcpy(&check, package + 14, 4);
    memcpy(&packed, package + 18, 4);
    memcpy(&whole, package + 22, 4);
    memcpy(&name, package + 26, 2);
    memcpy(&extra, package + 28, 2);
    assert_int_equal(method, 0);
    assert_int_equal(packed, layer_size);
    assert_int_equal(whole, layer_size);
    assert_int_equal((30 + name + extra) % 64, 0);
    assert_memory_equal(package + 30, "run.usdc", name);
    assert_memory_equal(package + 30 + name + extra, layer, layer_size);
    assert_int_equal(check, check_sum((const unsigned char*)layer, layer_size));
    memcpy(&start, package + size - 6, 4); // of the directory
    assert_int_equal(start, 64 + layer_size);
    assert_memory_equal(package + start, "PK\1\2", 4);
    free(layer);
    free(package);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packing),
        cmocka_unit_test_setup_teardown(test_layer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_package, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
