// weft inspect: crossings, distances, strain and energy of every frame of a cache, of Weft or of another program.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/cache.h"
#include "weft/inspect.h"

enum
{
    OBSTACLES_MAX = 256,
    CROSSINGS_MAX = 1000000 // that the inspector counts
};

typedef struct inspect_options
{
    const char* dir;
    int first, last; // frames; -1: all
    int threads;
    int pairs;
    const char* obstacles[OBSTACLES_MAX];
    int obstacle_count;
    bool json;
} inspect_options;

// What is open during an inspection.
typedef struct inspection
{
    const inspect_options* options;
    weft_cache* cache;
    weft_inspector* inspector;
    int body_count;
    weft_vec3** positions; // [body_count]
    int* topology;         // [body_count] that the inspector knows
    double* energies;      // [frame_count]
    weft_cache_squeezed* squeezed;
    weft_squeezed_split* split; // between what is squeezed and what is not
    int first, last;            // frames
    // Sums.
    int64_t crossings, squeezed_pairs, unsettled_pairs;
    int bad_frames, squeezed_frames, unsettled_frames; // with one
    int64_t unsettled_last;                            // of the last frame
    int nonfinite_frames, truncated_frames;
    char first_bad[512]; // the first crossing, in words
} inspection;

// ---- command line

// "7" or "3..8".
static bool parse_frames(const char* text, inspect_options* o)
{
    char head[32];
    const char* dots = strstr(text, "..");
    if (!dots)
    {
        bool good = parse_int(text, 0, 1000000000, &o->first);
        o->last = o->first;
        return good;
    }
    size_t length = (size_t)(dots - text);
    if (length >= sizeof(head))
    {
        return false;
    }
    memcpy(head, text, length);
    head[length] = 0;
    return parse_int(head, 0, 1000000000, &o->first) && parse_int(dots + 2, o->first, 1000000000, &o->last);
}

static bool take_value(inspect_options* o, const char* name, const char* value, bool* known)
{
    *known = true;
    if (strcmp(name, "--frame") == 0)
    {
        return parse_frames(value, o);
    }
    if (strcmp(name, "--threads") == 0)
    {
        return parse_int(value, 0, 256, &o->threads);
    }
    if (strcmp(name, "--pairs") == 0)
    {
        return parse_int(value, 0, 1000000, &o->pairs);
    }
    if (strcmp(name, "--obstacle") == 0)
    {
        bool room = o->obstacle_count < OBSTACLES_MAX;
        o->obstacles[room ? o->obstacle_count++ : 0] = value;
        return room;
    }
    *known = false;
    return false;
}

// What an option that take_value knows takes.
static const char* expected_of(const char* name)
{
    static const char* const options[][2] = {
        {"--frame", "a frame K from 0, or frames A..B with A not above B"},
        {"--threads", "a whole number from 0 (one a core) to 256"},
        {"--pairs", "a whole number from 0 to 1000000"},
    };
    for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++)
    {
        if (strcmp(name, options[k][0]) == 0)
        {
            return options[k][1];
        }
    }
    return "a body's name, at most 256 times";
}

static int read_options(int argc, char** argv, inspect_options* o)
{
    *o = (inspect_options){.first = -1, .last = -1, .pairs = 1000};
    for (int i = 1; i < argc; i++)
    {
        o->json = o->json || strcmp(argv[i], "--json") == 0;
    }
    option_scan scan = {.command = "inspect", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        if (!scan.name && o->dir)
        {
            return report_usage("inspect", o->json, "one folder at a time: `%s` and `%s`", o->dir, scan.value);
        }
        if (!scan.name)
        {
            o->dir = scan.value;
            continue;
        }
        if (option_is(&scan, "--json"))
        {
            continue;
        }
        const char* name = scan.name;
        const char* value = option_value(&scan);
        bool known = false;
        if (!value || !take_value(o, name, value, &known))
        {
            return known ? report_value("inspect", o->json, name, value, expected_of(name))
                         : report_usage("inspect", o->json, "unknown option `%s`, or its value is missing", name);
        }
    }
    return o->dir ? EXIT_DONE
                  : report_usage("inspect", o->json, "which folder? give that of a run, or one with OBJ and PC2 files");
}

// ---- opening

static weft_status fail(weft_error* error, weft_status status, const char* file, const char* message)
{
    error->status = status;
    snprintf(error->file, sizeof(error->file), "%s", file);
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

static bool named_obstacle(const inspect_options* o, const char* name)
{
    for (int k = 0; k < o->obstacle_count; k++)
    {
        if (strcmp(o->obstacles[k], name) == 0)
        {
            return true;
        }
    }
    return false;
}

// Every --obstacle must be a body; cut point caches are refused unless frames were asked for.
static weft_status check_bodies(const inspection* in, weft_error* error)
{
    const inspect_options* o = in->options;
    for (int k = 0; k < o->obstacle_count; k++)
    {
        bool found = false;
        for (int b = 0; b < in->body_count && !found; b++)
        {
            found = strcmp(o->obstacles[k], weft_cache_body_at(in->cache, b)->name) == 0;
        }
        if (!found)
        {
            char message[512];
            snprintf(message, sizeof(message),
                     "there is no body `%.300s` to be an obstacle: give a name NAME of NAME.obj", o->obstacles[k]);
            return fail(error, WEFT_BAD_INPUT, o->dir, message);
        }
    }
    weft_status status = weft_cache_check_bodies(o->dir, in->cache, error);
    bool all_frames = o->first < 0;
    return status == WEFT_OK && all_frames ? weft_cache_check_samples(o->dir, in->cache, error) : status;
}

static weft_status check_frames(inspection* in, weft_error* error)
{
    const inspect_options* o = in->options;
    int count = weft_cache_frame_count(in->cache);
    in->first = o->first < 0 ? 0 : o->first;
    in->last = o->first < 0 ? count - 1 : o->last;
    char message[256];
    if (count < 1)
    {
        return fail(error, WEFT_BAD_INPUT, o->dir,
                    "no body has a whole frame: the PC2 files are empty or cut; write them again");
    }
    if (in->last >= count)
    {
        snprintf(message, sizeof(message), "there is no frame %d: the cache has frames 0..%d", in->last, count - 1);
        return fail(error, WEFT_BAD_INPUT, o->dir, message);
    }
    return WEFT_OK;
}

// Room for the last topology of a body, which is the largest.
static weft_status make_room(inspection* in, weft_error* error)
{
    in->positions = calloc((size_t)in->body_count, sizeof(*in->positions));
    in->topology = calloc((size_t)in->body_count, sizeof(*in->topology));
    in->energies = calloc((size_t)in->last + 1, sizeof(double));
    bool room = in->positions && in->topology && in->energies;
    for (int b = 0; b < in->body_count && room; b++)
    {
        int last = weft_cache_topology_count(in->cache, b) - 1;
        size_t most = (size_t)weft_cache_topology_at(in->cache, b, last)->vertex_count;
        in->positions[b] = malloc((most + 1) * sizeof(weft_vec3));
        room = in->positions[b] != NULL;
    }
    return room ? WEFT_OK : fail(error, WEFT_NO_MEMORY, in->options->dir, "no memory to read the frames");
}

// An inspector of the meshes that the bodies have in a frame; the one at hand while they are the same.
static weft_status make_inspector(inspection* in, int frame, weft_error* error)
{
    const inspect_options* o = in->options;
    bool same = in->inspector != NULL;
    for (int b = 0; b < in->body_count; b++)
    {
        bool present = weft_cache_present(in->cache, b, frame);
        int topology = present ? weft_cache_topology_of(in->cache, b, frame) : -1;
        same = same && topology == in->topology[b];
        in->topology[b] = topology;
    }
    if (same)
    {
        return WEFT_OK;
    }
    weft_inspector_destroy(in->inspector);
    weft_squeezed_split_destroy(in->split);
    in->inspector = NULL;
    in->split = NULL;
    weft_inspect_body* bodies = calloc((size_t)in->body_count, sizeof(*bodies));
    for (int b = 0; b < in->body_count && bodies; b++)
    {
        const weft_cache_body* body = weft_cache_topology_at(in->cache, b, weft_cache_topology_of(in->cache, b, frame));
        bool present = in->topology[b] >= 0; // one that is not there has nothing to cross
        bodies[b] = (weft_inspect_body){.obstacle = body->obstacle || named_obstacle(o, body->name),
                                        .vertex_count = body->vertex_count,
                                        .rest = body->rest,
                                        .triangle_count = present ? body->triangle_count : 0,
                                        .triangles = body->triangles,
                                        .segment_count = present ? body->segment_count : 0,
                                        .segments = body->segments};
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = o->threads;
    const weft_squeezed* closed;
    bool any_squeezed = weft_cache_squeezed_until(in->squeezed, in->last, &closed) > 0;
    def.pair_limit = any_squeezed || weft_cache_settles(in->squeezed) ? CROSSINGS_MAX : o->pairs;
    weft_status status =
        bodies ? weft_inspector_create(&def, bodies, in->body_count, &in->inspector, error) : WEFT_NO_MEMORY;
    status = status == WEFT_OK ? weft_squeezed_split_create(bodies, in->body_count, &in->split) : status;
    free(bodies);
    return status == WEFT_NO_MEMORY ? fail(error, status, o->dir, "no memory to read the frames") : status;
}

// Frame 0 has no step. Where the scene can still be read, its start has an energy; otherwise it is not known.
static double start_energy(const char* dir)
{
    char path[4096];
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    double energy = NAN;
    weft_set_log(NULL, NULL); // the run has said it all
    if (snprintf(path, sizeof(path), "%s/scene.json", dir) < (int)sizeof(path) && access(path, R_OK) == 0 &&
        weft_scene_load(path, NULL, 0, &scene, NULL) == WEFT_OK &&
        weft_scene_create_sim(scene, 1, &sim, NULL) == WEFT_OK)
    {
        energy = weft_sim_energy(sim).total;
    }
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return energy;
}

static weft_status inspection_open(inspection* in, weft_error* error)
{
    const inspect_options* o = in->options;
    weft_status status = weft_cache_open(o->dir, &in->cache, error);
    if (status == WEFT_OK)
    {
        in->body_count = weft_cache_body_count(in->cache);
        status = check_bodies(in, error);
    }
    status = status == WEFT_OK ? check_frames(in, error) : status;
    status = status == WEFT_OK ? weft_cache_squeezed_read(o->dir, in->cache, &in->squeezed, error) : status;
    status = status == WEFT_OK ? make_room(in, error) : status;
    status = status == WEFT_OK ? make_inspector(in, in->first, error) : status;
    if (status == WEFT_OK)
    {
        status = weft_cache_energies(o->dir, in->last + 1, in->energies);
    }
    if (status == WEFT_OK && in->first == 0)
    {
        in->energies[0] = start_energy(o->dir);
    }
    return status;
}

static void inspection_close(inspection* in)
{
    for (int b = 0; b < in->body_count && in->positions; b++)
    {
        free(in->positions[b]);
    }
    free(in->positions);
    free(in->topology);
    free(in->energies);
    weft_squeezed_split_destroy(in->split);
    weft_cache_squeezed_destroy(in->squeezed);
    weft_inspector_destroy(in->inspector);
    weft_cache_close(in->cache);
}

// ---- output

// Crossings of a frame that are counted apart.
typedef struct excused
{
    int64_t squeezed, unsettled;
} excused;

static const char* body_name(const inspection* in, int body)
{
    return weft_cache_body_at(in->cache, body)->name;
}

static void put_json_number(double x)
{
    if (isfinite(x))
    {
        printf("%.17g", x);
    }
    else
    {
        printf("null");
    }
}

static void put_json_pair(const inspection* in, const weft_crossing* c)
{
    printf("{\"bodies\":[");
    put_json_string(body_name(in, c->body[0]));
    putchar(',');
    put_json_string(body_name(in, c->body[1]));
    printf("],\"triangles\":[%d,%d],\"kind\":\"%s\"}", c->triangle[0], c->triangle[1],
           weft_crossing_kind_name(c->kind));
}

static void put_json_frame(const inspection* in, int frame, const weft_inspection* found, const excused* apart)
{
    printf("%s{\"frame\":%d,\"crossings\":%lld,\"squeezed\":%lld,\"unsettled\":%lld,\"pairs\":[",
           frame > in->first ? "," : "", frame, (long long)found->crossings, (long long)apart->squeezed,
           (long long)apart->unsettled);
    for (int k = 0; k < found->pair_count && k < in->options->pairs; k++)
    {
        fputs(k > 0 ? "," : "", stdout);
        put_json_pair(in, &found->pairs[k]);
    }
    printf("],\"min_distance\":");
    put_json_number(found->min_distance);
    printf(",\"max_strain\":");
    put_json_number(found->max_strain);
    printf(",\"energy\":");
    put_json_number(in->energies[frame]);
    printf(",\"nonfinite\":%lld,\"degenerate\":%lld,\"nested\":%lld,\"truncated\":%s}", (long long)found->nonfinite,
           (long long)found->degenerate, (long long)found->nested, found->truncated ? "true" : "false");
}

static void put_cell(double x, const char* unknown)
{
    if (isfinite(x))
    {
        printf("  %13.6g", x);
    }
    else
    {
        printf("  %13s", unknown);
    }
}

static void put_row(const inspection* in, int frame, const weft_inspection* found, const excused* apart)
{
    printf("%6d  %9lld  %8lld", frame, (long long)found->crossings, (long long)apart->squeezed);
    weft_cache_settles(in->squeezed) ? printf("  %9lld", (long long)apart->unsettled) : 0;
    put_cell(found->min_distance, "-");
    put_cell(found->max_strain, "-");
    put_cell(in->energies[frame], "-");
    printf("  %9lld%s\n", (long long)found->nonfinite, found->truncated ? "  truncated" : "");
}

// A name as text shows it: a control character could move the cursor.
static const char* plain(const char* name, char out[152])
{
    size_t k = 0;
    for (; name[k] && k < 150; k++)
    {
        out[k] = name[k];
        if ((unsigned char)name[k] < 32 || name[k] == 127)
        {
            out[k] = '?';
        }
    }
    out[k] = 0;
    return out;
}

static void put_heading(const inspection* in)
{
    printf("%s: %d %s", in->options->dir, in->body_count, in->body_count == 1 ? "body" : "bodies");
    for (int b = 0; b < in->body_count && b < 8; b++)
    {
        const weft_cache_body* body = weft_cache_body_at(in->cache, b);
        bool obstacle = body->obstacle || named_obstacle(in->options, body->name);
        char name[152];
        printf("%s %s (%s, %d %s)", b > 0 ? "," : ":", plain(body->name, name),
               obstacle      ? "obstacle"
               : body->lines ? "lines"
               : body->solid ? "solid"
                             : "cloth",
               body->lines ? body->segment_count : body->triangle_count, body->lines ? "segments" : "triangles");
    }
    printf("%s\n%6s  %9s  %8s%s  %13s  %13s  %13s  %9s\n", in->body_count > 8 ? ", ..." : "", "frame", "crossings",
           "squeezed", weft_cache_settles(in->squeezed) ? "  unsettled" : "", "distance (m)", "strain", "energy (J)",
           "nonfinite");
}

static void put_squeezed(const inspection* in, int frames)
{
    if (in->squeezed_pairs > 0)
    {
        printf("; %lld squeezed pair%s apart in %d of %d frames", (long long)in->squeezed_pairs,
               in->squeezed_pairs == 1 ? "" : "s", in->squeezed_frames, frames);
    }
    if (in->unsettled_pairs > 0)
    {
        printf("; of the start %lld crossing%s apart in %d of %d frames, %lld in the last",
               (long long)in->unsettled_pairs, in->unsettled_pairs == 1 ? "" : "s", in->unsettled_frames, frames,
               (long long)in->unsettled_last);
    }
    putchar('\n');
}

static void put_verdict(const inspection* in)
{
    int frames = in->last - in->first + 1;
    const char* word = frames == 1 ? "frame" : "frames";
    if (in->crossings == 0 && in->nonfinite_frames == 0 && in->truncated_frames == 0)
    {
        printf("clean: no %scrossing in %d %s", in->unsettled_pairs > 0 ? "new " : "", frames, word);
        put_squeezed(in, frames);
        return;
    }
    const char* mark = "";
    printf("not clean: ");
    if (in->crossings > 0)
    {
        printf("%lld crossing%s in %d of %d %s; the first: %s", (long long)in->crossings, in->crossings == 1 ? "" : "s",
               in->bad_frames, frames, word, in->first_bad);
        mark = "; ";
    }
    if (in->nonfinite_frames > 0)
    {
        printf("%svalues that are not finite in %d of %d %s", mark, in->nonfinite_frames, frames, word);
        mark = "; ";
    }
    if (in->truncated_frames > 0)
    {
        printf("%s%d of %d %s not looked through to the end", mark, in->truncated_frames, frames, word);
    }
    put_squeezed(in, frames);
}

static void show_progress(const inspection* in, int frame)
{
    if (!isatty(STDERR_FILENO) || isatty(STDOUT_FILENO)) // the table itself shows how far it is
    {
        return;
    }
    if (frame < in->last)
    {
        fprintf(stderr, "\rframe %d/%d ", frame, in->last);
    }
    else
    {
        fprintf(stderr, "\r%24s\r", "");
    }
    fflush(stderr);
}

// ---- frames

static const char* part_word(const inspection* in, int body)
{
    return weft_cache_body_at(in->cache, body)->lines ? "segment" : "triangle";
}

static void add_up(inspection* in, int frame, const weft_inspection* found, const excused* apart)
{
    in->squeezed_pairs += apart->squeezed;
    in->squeezed_frames += apart->squeezed > 0;
    in->unsettled_pairs += apart->unsettled;
    in->unsettled_frames += apart->unsettled > 0;
    in->unsettled_last = apart->unsettled;
    if (in->crossings == 0 && found->crossings > 0 && found->pair_count > 0)
    {
        const weft_crossing* c = &found->pairs[0];
        char names[2][152];
        snprintf(in->first_bad, sizeof(in->first_bad), "frame %d, %s %d of %s and %s %d of %s (%s)", frame,
                 part_word(in, c->body[0]), c->triangle[0], plain(body_name(in, c->body[0]), names[0]),
                 part_word(in, c->body[1]), c->triangle[1], plain(body_name(in, c->body[1]), names[1]),
                 weft_crossing_kind_name(c->kind));
    }
    else if (in->crossings == 0 && found->crossings > 0)
    {
        snprintf(in->first_bad, sizeof(in->first_bad), "frame %d", frame);
    }
    in->crossings += found->crossings;
    in->bad_frames += found->crossings > 0;
    in->nonfinite_frames += found->nonfinite > 0;
    in->truncated_frames += found->truncated != 0;
}

// What is left of the start: a piece inside a body is while the frame lists a pair of the two.
static weft_status split_unsettled(inspection* in, int frame, weft_inspection* found, int64_t* unsettled)
{
    weft_squeezed_list list = {0};
    list.pair_count = weft_cache_unsettled_at(in->squeezed, frame, &list.pairs);
    if (list.pair_count >= 0)
    {
        list.closed_count = list.pair_count;
        list.closed = list.pairs;
        return weft_squeezed_split_frame(in->split, &list, (const weft_vec3* const*)in->positions, found, unsettled);
    }
    *unsettled = found->crossings;
    found->crossings = found->nested = found->pair_count = 0;
    return WEFT_OK;
}

static weft_status inspect_frame(inspection* in, int frame, weft_inspection* found, excused* apart, weft_error* error)
{
    weft_status made = make_inspector(in, frame, error);
    if (made != WEFT_OK)
    {
        return made;
    }
    for (int b = 0; b < in->body_count; b++)
    {
        weft_status status = weft_cache_read_frame(in->cache, b, frame, in->positions[b], error);
        if (status != WEFT_OK)
        {
            return status;
        }
    }
    weft_status status = weft_inspector_frame(in->inspector, (const weft_vec3* const*)in->positions, found, error);
    if (status != WEFT_OK)
    {
        return status;
    }
    weft_squeezed_list list = {0};
    list.pair_count = weft_cache_squeezed_at(in->squeezed, frame, &list.pairs);
    list.closed_count = weft_cache_squeezed_until(in->squeezed, frame, &list.closed);
    status =
        weft_squeezed_split_frame(in->split, &list, (const weft_vec3* const*)in->positions, found, &apart->squeezed);
    status = status == WEFT_OK ? split_unsettled(in, frame, found, &apart->unsettled) : status;
    return status == WEFT_OK ? status
                             : fail(error, status, in->options->dir, "no memory for the squeezed pairs of a frame");
}

// Text comes out frame by frame. JSON of frames is printed as it is found; should reading fail half way, the object
// ends with the error.
static weft_status inspect_frames(inspection* in, weft_error* error)
{
    weft_status status = WEFT_OK;
    for (int frame = in->first; frame <= in->last && status == WEFT_OK; frame++)
    {
        weft_inspection found;
        excused apart = {0};
        status = inspect_frame(in, frame, &found, &apart, error);
        if (status != WEFT_OK)
        {
            break;
        }
        add_up(in, frame, &found, &apart);
        show_progress(in, frame);
        if (in->options->json)
        {
            put_json_frame(in, frame, &found, &apart);
        }
        else
        {
            put_row(in, frame, &found, &apart);
        }
    }
    return status;
}

// A file that may not be read is the input's fault, not the machine's.
static void judge_permission(weft_error* error)
{
    if (error->status == WEFT_IO && error->file[0] && access(error->file, R_OK) != 0 && errno == EACCES)
    {
        error->status = WEFT_BAD_INPUT;
    }
}

static int end_with_error(const inspect_options* o, bool started, weft_error* error)
{
    judge_permission(error);
    if (!o->json || !started)
    {
        return report_error(error, o->json);
    }
    printf("],\"error\":{\"file\":");
    put_json_string(error->file);
    printf(",\"line\":%d,\"message\":", error->line);
    put_json_string(error->message);
    printf("}}\n");
    return exit_code(error->status);
}

// Where a crossing may be a squeezed pair and the stats cannot tell, that is said once.
static const char* doubt_of(const inspection* in)
{
    return in->crossings > 0 ? weft_cache_squeezed_note(in->squeezed) : NULL;
}

static void end_json(const inspection* in)
{
    printf("],\"crossings\":%lld,\"squeezed\":%lld,\"unsettled\":%lld", (long long)in->crossings,
           (long long)in->squeezed_pairs, (long long)in->unsettled_pairs);
    if (doubt_of(in))
    {
        printf(",\"note\":");
        put_json_string(doubt_of(in));
    }
    printf("}\n");
}

static void end_text(const inspection* in)
{
    put_verdict(in);
    if (doubt_of(in))
    {
        printf("note: %s\n", doubt_of(in));
    }
}

int command_inspect(int argc, char** argv)
{
    static inspect_options o;
    int usage = read_options(argc, argv, &o);
    if (usage != EXIT_DONE)
    {
        return usage;
    }
    weft_error error = {0};
    inspection in = {.options = &o};
    weft_status status = inspection_open(&in, &error);
    bool started = status == WEFT_OK;
    if (started && o.json)
    {
        printf("{\"frames\":[");
    }
    else if (started)
    {
        put_heading(&in);
    }
    status = started ? inspect_frames(&in, &error) : status;
    error.status = status;
    int code = EXIT_DONE;
    if (status != WEFT_OK)
    {
        code = end_with_error(&o, started, &error);
    }
    else
    {
        o.json ? end_json(&in) : end_text(&in);
        code = in.crossings > 0 || in.nonfinite_frames > 0 || in.truncated_frames > 0 ? EXIT_FAILED : EXIT_DONE;
    }
    inspection_close(&in);
    return code;
}
