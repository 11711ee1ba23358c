// Squeezed pairs from stats.jsonl, and those that are left of the start: those of the last step of each frame, with
// bodies as the cache counts them. The file
// may be cut, written by hand or not be there: a line that is not as Weft writes it lists nothing, and a note says so.
// Of all steps the first pair of any two bodies is kept: it says since when one may lie in the other.
// With scene_file.c and changes.c the only file of this room that touches jansson.
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/scene_file.h"
#include "core/core.h"
#include "weft/cache.h"

enum
{
    LINE_MAX_BYTES = 1 << 28,
    READ_BYTES = 1 << 16
};

typedef struct first_pair
{
    int frame;
    weft_squeezed pair;
} first_pair;

// Pairs of every frame.
typedef struct pair_store
{
    int* first; // [frame_count] place in pairs
    int* count; // [frame_count]
    weft_squeezed* pairs;
    int pair_count, pair_capacity;
} pair_store;

struct weft_cache_squeezed
{
    int frame_count;
    pair_store squeezed, unsettled;
    bool settles;          // frame 0 is a start whose crossings the steps part
    first_pair* firsts;    // [closed_count] of any two bodies, by frame
    weft_squeezed* closed; // [closed_count] their pairs
    int closed_count, closed_capacity;
    char note[256]; // empty: all was read
};

// ---- one line

static bool int_of(const json_t* value, int64_t most, int* out)
{
    bool good = json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= most;
    *out = good ? (int)json_integer_value(value) : -1;
    return good;
}

// A list of `count` different vertices of a body; the last two of a face may be the same: it is a segment of lines.
static bool vertices_of(const json_t* list, int count, int vertex_count, int* out)
{
    bool good = json_array_size(list) == (size_t)count;
    for (int k = 0; k < count && good; k++)
    {
        good = int_of(json_array_get(list, (size_t)k), vertex_count - 1, &out[k]);
        for (int j = 0; j < k && good; j++)
        {
            good = out[j] != out[k] || (j == 1 && k == 2);
        }
    }
    return good;
}

static int find_body(const weft_cache* cache, const json_t* name)
{
    const char* text = json_string_value(name);
    for (int b = 0; text && b < weft_cache_body_count(cache); b++)
    {
        if (strcmp(weft_cache_body_at(cache, b)->name, text) == 0)
        {
            return b;
        }
    }
    return -1;
}

static int vertices_in(const weft_cache* cache, int body, int frame)
{
    return weft_cache_topology_at(cache, body, weft_cache_topology_of(cache, body, frame))->vertex_count;
}

static bool pair_of(const weft_cache* cache, const json_t* item, int frame, json_int_t step, weft_squeezed* out)
{
    const json_t* bodies = json_object_get(item, "bodies");
    const json_t* own_step = json_object_get(item, "step");
    if (json_array_size(bodies) != 2 || !json_is_integer(own_step) || json_integer_value(own_step) != step)
    {
        return false;
    }
    for (int k = 0; k < 2; k++)
    {
        out->body[k] = find_body(cache, json_array_get(bodies, (size_t)k));
        if (out->body[k] < 0)
        {
            return false;
        }
    }
    return vertices_of(json_object_get(item, "edge"), 2, vertices_in(cache, out->body[0], frame), out->edge) &&
           vertices_of(json_object_get(item, "face"), 3, vertices_in(cache, out->body[1], frame), out->face);
}

static bool same_bodies(const weft_squeezed* a, const weft_squeezed* b)
{
    return (a->body[0] == b->body[0] && a->body[1] == b->body[1]) ||
           (a->body[0] == b->body[1] && a->body[1] == b->body[0]);
}

static weft_status take_first(weft_cache_squeezed* s, int frame, const weft_squeezed* pair)
{
    for (int k = 0; k < s->closed_count; k++)
    {
        first_pair* f = &s->firsts[k];
        if (same_bodies(&f->pair, pair))
        {
            *f = frame < f->frame ? (first_pair){frame, *pair} : *f;
            return WEFT_OK;
        }
    }
    void* firsts = s->firsts;
    if (!mem_grow(&firsts, &s->closed_capacity, s->closed_count + 1, sizeof(first_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    s->firsts = firsts;
    s->firsts[s->closed_count++] = (first_pair){frame, *pair};
    return WEFT_OK;
}

static int compare_firsts(const void* left, const void* right)
{
    const first_pair *a = left, *b = right;
    const int x[] = {a->frame, a->pair.body[0], a->pair.body[1]}, y[] = {b->frame, b->pair.body[0], b->pair.body[1]};
    for (int k = 0; k < 3; k++)
    {
        if (x[k] != y[k])
        {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

static weft_status sort_firsts(weft_cache_squeezed* s)
{
    s->closed = MEM_NEW(s->closed_count + 1, weft_squeezed);
    if (s->closed_count > 1)
    {
        qsort(s->firsts, (size_t)s->closed_count, sizeof(first_pair), compare_firsts);
    }
    for (int k = 0; k < s->closed_count && s->closed; k++)
    {
        s->closed[k] = s->firsts[k].pair;
    }
    return s->closed ? WEFT_OK : WEFT_NO_MEMORY;
}

// A list of pairs replaces that of an earlier step of its frame.
static weft_status take_list(pair_store* s, const weft_cache* cache, const json_t* list, int frame, json_int_t step,
                             bool* good)
{
    // Lines are in the order of steps, as a rule: what the frame had is the end of the list, and its room is used
    // again.
    bool last = s->first[frame] + s->count[frame] == s->pair_count;
    s->pair_count = last ? s->first[frame] : s->pair_count;
    s->count[frame] = 0;
    size_t most = json_array_size(list);
    void* pairs = s->pairs;
    if (most > INT32_MAX / 2 - (size_t)s->pair_count ||
        !mem_grow(&pairs, &s->pair_capacity, s->pair_count + (int)most, sizeof(weft_squeezed)))
    {
        return WEFT_NO_MEMORY;
    }
    s->pairs = pairs;
    for (size_t k = 0; k < most && *good; k++)
    {
        *good = pair_of(cache, json_array_get(list, k), frame, step, &s->pairs[s->pair_count + (int)k]);
    }
    s->first[frame] = s->pair_count;
    s->count[frame] = *good ? (int)most : 0;
    s->pair_count += s->count[frame];
    return WEFT_OK;
}

// `unsettled` is missing in most lines.
static weft_status take_pairs(weft_cache_squeezed* s, const weft_cache* cache, const json_t* line, bool* good)
{
    const json_t *step = json_object_get(line, "step"), *list = json_object_get(line, "squeezed"),
                 *left = json_object_get(line, "unsettled");
    int frame;
    *good = json_is_integer(step) && int_of(json_object_get(line, "frame"), INT32_MAX, &frame) && json_is_array(list) &&
            (!left || json_is_array(left));
    if (!*good || frame >= s->frame_count)
    {
        return WEFT_OK;
    }
    TRY(take_list(&s->squeezed, cache, list, frame, json_integer_value(step), good));
    TRY(take_list(&s->unsettled, cache, left, frame, json_integer_value(step), good));
    for (int k = 0; k < s->squeezed.count[frame]; k++)
    {
        TRY(take_first(s, frame, &s->squeezed.pairs[s->squeezed.first[frame] + k]));
    }
    return WEFT_OK;
}

static weft_status take_line(weft_cache_squeezed* s, const weft_cache* cache, const char* text, size_t length,
                             int64_t number)
{
    json_t* line = json_loadb(text, length, 0, NULL);
    bool good = false;
    weft_status status = line ? take_pairs(s, cache, line, &good) : WEFT_OK;
    json_decref(line);
    if (!good && !s->note[0])
    {
        snprintf(s->note, sizeof(s->note),
                 "line %lld of stats.jsonl is not one that Weft writes: it explains no crossing as squeezed",
                 (long long)number);
    }
    return status;
}

// ---- the file

// Lines that are whole: a last one without an end is half written.
static weft_status take_file(weft_cache_squeezed* s, const weft_cache* cache, FILE* file)
{
    char* text = NULL;
    int capacity = 0, length = 0, searched = 0;
    int64_t number = 1;
    weft_status status = WEFT_OK;
    for (size_t got = 1; got > 0 && status == WEFT_OK && length < LINE_MAX_BYTES;)
    {
        void* grown = text;
        if (!mem_grow(&grown, &capacity, length + READ_BYTES, 1))
        {
            status = WEFT_NO_MEMORY;
            break;
        }
        text = grown;
        got = fread(text + length, 1, READ_BYTES, file);
        length += (int)got;
        int begin = 0;
        for (char* end; status == WEFT_OK && (end = memchr(text + searched, '\n', (size_t)(length - searched)));
             number++)
        {
            status = take_line(s, cache, text + begin, (size_t)(end - (text + begin)), number);
            begin = searched = (int)(end - text) + 1;
        }
        memmove(text, text + begin, (size_t)(length - begin));
        length -= begin;
        searched = length;
    }
    if (length >= LINE_MAX_BYTES && !s->note[0])
    {
        snprintf(s->note, sizeof(s->note), "line %lld of stats.jsonl is too long: it explains no crossing as squeezed",
                 (long long)number);
    }
    mem_free(text);
    return status;
}

static weft_status store_create(pair_store* s, int frame_count)
{
    s->first = MEM_NEW(frame_count, int);
    s->count = MEM_NEW(frame_count, int);
    return s->first && s->count ? WEFT_OK : WEFT_NO_MEMORY;
}

static void store_finish(pair_store* s)
{
    mem_free(s->first);
    mem_free(s->count);
    mem_free(s->pairs);
}

static bool run_settles(const char* dir)
{
    char path[4096];
    scene_file file = {0};
    if (snprintf(path, sizeof(path), "%s/scene.json", dir) < (int)sizeof(path))
    {
        file = scene_file_read(path);
    }
    bool settles = file.settles;
    scene_file_finish(&file);
    return settles;
}

weft_status weft_cache_squeezed_read(const char* dir, const weft_cache* cache, weft_cache_squeezed** out,
                                     weft_error* error)
{
    WEFT_ASSERT(dir && cache && out);
    *out = NULL;
    weft_cache_squeezed* s = MEM_NEW(1, weft_cache_squeezed);
    char path[4096];
    struct stat info;
    weft_status status = s ? WEFT_OK : WEFT_NO_MEMORY;
    if (s)
    {
        s->frame_count = weft_cache_frame_count(cache);
        status = store_create(&s->squeezed, s->frame_count);
        status = status == WEFT_OK ? store_create(&s->unsettled, s->frame_count) : status;
        s->settles = run_settles(dir);
    }
    bool there = snprintf(path, sizeof(path), "%s/stats.jsonl", dir) < (int)sizeof(path) && stat(path, &info) == 0;
    FILE* file = there ? file_stream(path, FILE_TO_READ) : NULL;
    if (status == WEFT_OK && !file)
    {
        snprintf(s->note, sizeof(s->note), "stats.jsonl is %s: no crossing is explained as squeezed",
                 there ? "not readable" : "missing");
    }
    status = status == WEFT_OK && file ? take_file(s, cache, file) : status;
    status = status == WEFT_OK ? sort_firsts(s) : status;
    if (file)
    {
        fclose(file);
    }
    if (status != WEFT_OK)
    {
        weft_cache_squeezed_destroy(s);
        return error_set(error, status, NULL, 0, "no memory to read stats.jsonl");
    }
    *out = s;
    return WEFT_OK;
}

int weft_cache_squeezed_at(const weft_cache_squeezed* s, int frame, const weft_squeezed** pairs)
{
    WEFT_ASSERT(s && pairs && frame >= 0 && frame < s->frame_count);
    *pairs = s->squeezed.pairs + s->squeezed.first[frame];
    return s->squeezed.count[frame];
}

int weft_cache_unsettled_at(const weft_cache_squeezed* s, int frame, const weft_squeezed** pairs)
{
    WEFT_ASSERT(s && pairs && frame >= 0 && frame < s->frame_count);
    *pairs = s->unsettled.pairs + s->unsettled.first[frame];
    return frame == 0 && s->settles ? -1 : s->unsettled.count[frame];
}

int weft_cache_settles(const weft_cache_squeezed* s)
{
    return s->settles || s->unsettled.pair_count > 0;
}

int weft_cache_squeezed_until(const weft_cache_squeezed* s, int frame, const weft_squeezed** pairs)
{
    WEFT_ASSERT(s && pairs && frame >= 0 && frame < s->frame_count);
    int count = 0;
    while (count < s->closed_count && s->firsts[count].frame <= frame)
    {
        count++;
    }
    *pairs = s->closed;
    return count;
}

const char* weft_cache_squeezed_note(const weft_cache_squeezed* s)
{
    return s->note[0] ? s->note : NULL;
}

void weft_cache_squeezed_destroy(weft_cache_squeezed* s)
{
    if (s)
    {
        store_finish(&s->squeezed);
        store_finish(&s->unsettled);
        mem_free(s->firsts);
        mem_free(s->closed);
        mem_free(s);
    }
}
