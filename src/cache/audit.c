// What an inspection asks of a run's folder beside the bodies: energies from stats.jsonl, and whether all is there:
// what scene.json names, samples as many as headers count, as many for each body. Reads Weft's own stats by the keys in
// the order in which Weft writes them, which is all that stats.jsonl can be; a line that is not so is passed over.
#include <math.h>
#include <string.h>

#include "cache/changes.h"
#include "cache/scene_file.h"
#include "core/core.h"
#include "weft/cache.h"

enum
{
    LINE_BYTES = 1 << 16, // a line of stats has some 800 before its list of squeezed pairs
    PC2_HEADER = 32
};

// ---- energies

// The number behind `key`; *cursor moves there. False when the key is not there or has no number (null).
static bool number_after(const char** cursor, const char* key, double* out)
{
    const char* at = strstr(*cursor, key);
    *cursor = at ? at + strlen(key) : *cursor;
    return at && decimal_parse(cursor, out);
}

static void read_energy_line(const char* line, int frame_count, double* energies)
{
    const char* cursor = line;
    double frame, total;
    if (!number_after(&cursor, "\"frame\":", &frame) || !(frame >= 0.0 && frame < frame_count))
    {
        return;
    }
    cursor = strstr(cursor, "\"energy\":{");
    energies[(int)frame] = cursor && number_after(&cursor, "\"total\":", &total) ? total : NAN;
}

static FILE* open_in(const char* dir, const char* name, const char* ending, char path[4096])
{
    int length = snprintf(path, 4096, "%s/%s%s", dir, name, ending);
    return length > 0 && length < 4096 ? file_stream(path, FILE_TO_READ) : NULL;
}

weft_status weft_cache_energies(const char* dir, int frame_count, double* energies)
{
    WEFT_ASSERT(dir && frame_count >= 0 && (energies || frame_count == 0));
    for (int k = 0; k < frame_count; k++)
    {
        energies[k] = NAN;
    }
    char path[4096], *line = mem_alloc(LINE_BYTES, 1);
    FILE* file = line ? open_in(dir, "stats", ".jsonl", path) : NULL;
    bool whole = true; // the line before ended
    while (file && fgets(line, LINE_BYTES, file))
    {
        bool ends = strchr(line, '\n') != NULL;
        // What is asked for stands before the list that makes a line long; a last line without an end is half written.
        if (whole && (ends || strlen(line) == LINE_BYTES - 1))
        {
            read_energy_line(line, frame_count, energies);
        }
        whole = ends;
    }
    if (file)
    {
        fclose(file);
    }
    mem_free(line);
    return line ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- point caches that were cut

static int64_t little_endian(const unsigned char* bytes)
{
    return (int64_t)bytes[0] | (int64_t)bytes[1] << 8 | (int64_t)bytes[2] << 16 | (int64_t)bytes[3] << 24;
}

// Samples that the header counts, 0 without a file; BAD_INPUT when they are not all there.
static weft_status check_file(const char* dir, const char* name, int64_t* stated, weft_error* error)
{
    char path[4096];
    unsigned char header[PC2_HEADER] = {0};
    FILE* file = open_in(dir, name, ".pc2", path);
    bool read = file && fread(header, 1, PC2_HEADER, file) == PC2_HEADER && fseek(file, 0, SEEK_END) == 0;
    int64_t size = read ? (int64_t)ftell(file) : 0;
    if (file)
    {
        fclose(file);
    }
    int64_t points = little_endian(header + 16);
    *stated = little_endian(header + 28);
    int64_t held = points > 0 && size > PC2_HEADER ? (size - PC2_HEADER) / (12 * points) : 0;
    if (!read || held >= *stated)
    {
        return WEFT_OK; // a body without samples, or one that opening the folder has judged
    }
    return error_set(error, WEFT_BAD_INPUT, path, 0,
                     "the file is cut: its header counts %lld samples, and it holds %lld whole ones; copy or write it "
                     "again, or take those with `weft inspect --frame` or `weft export --frames`",
                     (long long)*stated, (long long)held);
}

// The frames of a body, over all of its topologies.
static weft_status check_body(const char* dir, const weft_cache* cache, int b, int64_t* frames, weft_error* error)
{
    const char* name = weft_cache_body_at(cache, b)->name;
    int last = weft_cache_topology_count(cache, b) - 1;
    for (int g = 0; g <= last; g++)
    {
        char stem[600];
        int64_t stated = 0, start = weft_cache_topology_start(cache, b, g);
        snprintf(stem, sizeof(stem), g > 0 ? "%.500s.%d" : "%.500s", name, g);
        TRY(check_file(dir, stem, &stated, error));
        *frames = start + stated;
        if (g < last && *frames < weft_cache_topology_start(cache, b, g + 1))
        {
            return error_set(
                error, WEFT_BAD_INPUT, dir, 0,
                "%s.pc2 ends before frame %d, where frames.jsonl starts the next topology: %lld samples; copy or "
                "write it again, or take those with `weft inspect --frame` or `weft export --frames`",
                stem, weft_cache_topology_start(cache, b, g + 1), (long long)stated);
        }
    }
    return WEFT_OK;
}

// The body with the fewest samples and the one with the most.
static weft_status check_counts(const char* dir, const weft_cache* cache, int apart, weft_error* error)
{
    const char *shortest = NULL, *longest = NULL;
    int64_t fewest = 0, most = 0;
    for (int b = 0; b < weft_cache_body_count(cache); b++)
    {
        const weft_cache_body* body = weft_cache_body_at(cache, b);
        int64_t count = 0;
        TRY(body->still ? WEFT_OK : check_body(dir, cache, b, &count, error));
        if (body->still || count >= body->until) // which has all until it goes
        {
            continue;
        }
        if (!shortest || count < fewest)
        {
            shortest = body->name;
            fewest = count;
        }
        if (!longest || count > most)
        {
            longest = body->name;
            most = count;
        }
    }
    if (most - fewest <= apart)
    {
        return WEFT_OK;
    }
    return error_set(
        error, WEFT_BAD_INPUT, dir, 0,
        "%s.pc2 has %lld samples and %s.pc2 has %lld: write both for the same frames, or look at those that "
        "both have with `weft inspect --frame` or `weft export --frames`",
        shortest, (long long)fewest, longest, (long long)most);
}

static bool cache_has(const weft_cache* cache, const char* name, bool moves)
{
    for (int b = 0; b < weft_cache_body_count(cache); b++)
    {
        const weft_cache_body* body = weft_cache_body_at(cache, b);
        if (strcmp(body->name, name) == 0)
        {
            return !(moves && body->still);
        }
    }
    return false;
}

// Bodies that the scene has and the folder lacks, but for those that went before the first frame.
static weft_status check_named(const char* dir, const weft_cache* cache, const scene_file* scene, const char* path,
                               weft_error* error)
{
    topology_changes changes;
    TRY(topology_changes_read(dir, &changes, error));
    weft_status status = WEFT_OK;
    for (int k = 0; k < scene->name_count && status == WEFT_OK; k++)
    {
        if (!cache_has(cache, scene->names[k], scene->moves[k]) && !topology_changes_never(&changes, scene->names[k]))
        {
            status = error_set(error, WEFT_BAD_INPUT, path, 0,
                               "the scene has `%.200s`, and the folder lacks its %s: copy the whole folder, or run the "
                               "scene again",
                               scene->names[k], scene->moves[k] ? "NAME.obj or NAME.pc2" : "NAME.obj");
        }
    }
    topology_changes_finish(&changes);
    return status;
}

static scene_file scene_of(const char* dir, char path[4096])
{
    int length = snprintf(path, 4096, "%s/scene.json", dir);
    return length > 0 && length < 4096 ? scene_file_read(path) : (scene_file){0};
}

weft_status weft_cache_check_bodies(const char* dir, const weft_cache* cache, weft_error* error)
{
    WEFT_ASSERT(dir && cache);
    char path[4096];
    scene_file scene = scene_of(dir, path);
    weft_status status = WEFT_OK;
    if (scene.damaged)
    {
        status =
            error_set(error, WEFT_BAD_INPUT, path, 0,
                      "this is no scene of a run: cloth cannot be told from obstacles; put the right file back, or "
                      "move it away to take every NAME.pc2 for cloth");
    }
    status = status == WEFT_OK ? check_named(dir, cache, &scene, path, error) : status;
    scene_file_finish(&scene);
    return status;
}

weft_status weft_cache_check_samples(const char* dir, const weft_cache* cache, weft_error* error)
{
    WEFT_ASSERT(dir && cache);
    char path[4096];
    scene_file scene = scene_of(dir, path);
    int apart = scene.name_count > 0 ? 1 : 0;
    scene_file_finish(&scene);
    return check_counts(dir, cache, apart, error);
}
