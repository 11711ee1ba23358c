// Exports: which formats there are, and what all of them share: chosen bodies and frames, axes, positions of an
// exported frame, the target. A format is one file and one row of the table.
#define _POSIX_C_SOURCE 200809L
#include "export/export.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const export_format formats[] = {
    {.name = "pc2",
     .summary = "a folder with NAME.obj and the point cache NAME.pc2 of each body: Blender, Houdini, Maya",
     .ending = ".pc2",
     .folder = true,
     .binary = true,
     .run = export_pc2,
     .run_file = export_pc2_file},
    {.name = "mdd",
     .summary = "a folder with NAME.obj and the point cache NAME.mdd of each body: Blender, LightWave, Modo",
     .ending = ".mdd",
     .folder = true,
     .binary = true,
     .run = export_mdd,
     .run_file = export_mdd_file},
    {.name = "obj",
     .summary = "a folder with NAME.0000.obj for each body and frame; one frame of one body as a file",
     .ending = ".obj",
     .folder = true,
     .run = export_obj,
     .run_file = export_obj_file,
     .file_is_frame = true},
    {.name = "ply",
     .summary = "a folder with NAME.0000.ply, binary, for each body and frame; one frame of one body as a file",
     .ending = ".ply",
     .folder = true,
     .binary = true,
     .run = export_ply,
     .run_file = export_ply_file,
     .file_is_frame = true},
    {.name = "abc",
     .summary = "Alembic, one file: Houdini, Maya, Blender, Cinema 4D",
     .ending = ".abc",
     .binary = true,
     .run = export_abc},
    {.name = "vtp",
     .summary = "a folder with a VTK file of each body and frame, and run.pvd with their times: ParaView",
     .ending = ".vtp",
     .folder = true,
     .binary = true,
     .run = export_vtp,
     .run_file = export_vtp_file,
     .file_is_frame = true},
    {.name = "gltf",
     .summary = "glTF 2.0, one binary file (.glb) with a morph target a frame: browsers, game engines",
     .ending = ".glb",
     .binary = true,
     .run = export_gltf},
    {.name = "usda",
     .summary = "USD as text, one file with time samples: usdview, Omniverse, Houdini, Blender",
     .ending = ".usda",
     .run = export_usda},
    {.name = "usdc",
     .summary = "USD as a crate, binary, one file: what usda holds, smaller and faster to read",
     .ending = ".usdc",
     .binary = true,
     .run = export_usdc},
    {.name = "usdz",
     .summary = "USD as a package, one file with a crate in it: phones, browsers, Omniverse",
     .ending = ".usdz",
     .binary = true,
     .run = export_usdz},
};

enum
{
    FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]),
    DEF_COOKIE = 0x3e7f0a11,
    PIECE = 8192 // vertices: large writes, and still within the caches
};

// ---- the table

const export_format* export_format_at(int index)
{
    return index >= 0 && index < FORMAT_COUNT ? &formats[index] : NULL;
}

const char* weft_export_format_name(int index)
{
    const export_format* format = export_format_at(index);
    return format ? format->name : NULL;
}

const char* weft_export_format_summary(int index)
{
    const export_format* format = export_format_at(index);
    return format ? format->summary : NULL;
}

const char* weft_export_format_ending(int index)
{
    const export_format* format = export_format_at(index);
    return format ? format->ending : NULL;
}

int weft_export_format_is_folder(int index)
{
    const export_format* format = export_format_at(index);
    return format && format->folder;
}

static weft_status format_find(const char* name, const export_format** out, weft_error* error)
{
    const char* names[FORMAT_COUNT];
    for (int k = 0; k < FORMAT_COUNT; k++)
    {
        names[k] = formats[k].name;
        if (name && strcmp(name, names[k]) == 0)
        {
            *out = &formats[k];
            return WEFT_OK;
        }
    }
    const char* near = name ? suggest_name(name, names, FORMAT_COUNT) : NULL;
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "there is no format `%.80s`%s%s%s; `weft list formats` names them",
                     name ? name : "", near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

// ---- frames and axes

int export_frame(const export_job* job, int k)
{
    WEFT_ASSERT(k >= 0 && k < job->frame_count);
    return job->def->first + k * job->def->every;
}

int export_number(const export_job* job, int k)
{
    const weft_export_def* def = job->def;
    return (def->start >= 0 ? def->start : def->first) + k * def->every;
}

double export_code_rate(const export_job* job)
{
    return job->frame_rate * job->def->every;
}

double export_time(const export_job* job, int k)
{
    return export_number(job, k) / export_code_rate(job);
}

vec3 export_turn(const export_job* job, vec3 x)
{
    return job->def->up == 'z' ? v3(x.x, -x.z, x.y) : x;
}

vec3 export_place(const export_job* job, vec3 x)
{
    return v3_scale(job->def->scale, export_turn(job, x));
}

bool export_vertex_texcoords(const weft_cache_body* body, int* texcoord)
{
    memset(texcoord, -1, (size_t)body->vertex_count * sizeof(int));
    for (int k = 0; k < body->face_start[body->face_count]; k++)
    {
        int v = body->face_vertices[k], t = body->face_texcoords[k];
        if (t < 0 || (texcoord[v] >= 0 && !export_same_place(body, texcoord[v], t)))
        {
            return false;
        }
        texcoord[v] = t;
    }
    return true;
}

void export_progress(export_job* job, int done, int total)
{
    const weft_export_def* def = job->def;
    if (def->progress && !job->cancelled)
    {
        job->cancelled = def->progress(def->progress_context, done, total) != 0;
    }
}

// ---- bodies and their topologies

const char* export_body_name(const export_job* job, int body)
{
    return weft_cache_body_at(job->cache, job->body[body])->name;
}

bool export_is_still(const export_job* job, int body)
{
    return weft_cache_body_at(job->cache, job->body[body])->still != 0;
}

bool export_present(const export_job* job, int body, int k)
{
    return weft_cache_present(job->cache, job->body[body], export_frame(job, k)) != 0;
}

static int topology_index(const export_job* job, int body, int k)
{
    return weft_cache_topology_of(job->cache, job->body[body], export_frame(job, k));
}

const weft_cache_body* export_topology(const export_job* job, int body, int k)
{
    return weft_cache_topology_at(job->cache, job->body[body], topology_index(job, body, k));
}

const weft_cache_body* export_last_topology(const export_job* job, int body)
{
    return export_topology(job, body, job->frame_count - 1);
}

bool export_changes(const export_job* job, int body)
{
    return topology_index(job, body, 0) != topology_index(job, body, job->frame_count - 1);
}

bool export_changes_at(const export_job* job, int body, int k)
{
    return k == 0 || topology_index(job, body, k - 1) != topology_index(job, body, k);
}

// ---- positions

// What is not a number is of no use to any program that would read it.
static weft_status not_finite(const export_job* job, int body, int k, int vertex, weft_error* error)
{
    return error_set(
        error, WEFT_BAD_INPUT, weft_cache_dir(job->cache), 0,
        "vertex %d of `%.100s` is not finite in frame %d; choose other frames with --frames, or run the scene "
        "again with a smaller time_step",
        vertex, export_body_name(job, body), export_frame(job, k));
}

static bool all_finite(const vec3* x, int count)
{
    bool good = true;
    for (int v = 0; v < count; v++)
    {
        good &= isfinite(x[v].x + x[v].y + x[v].z) != 0; // floats: their sum does not overflow a double
    }
    return good;
}

static weft_status read_points(export_job* job, int body, int k, int begin, int count, vec3* out, weft_error* error)
{
    if (job->cancelled)
    {
        return error_set(error, WEFT_CANCELLED, NULL, 0, "stopped on request; nothing was written");
    }
    TRY(weft_cache_read_points(job->cache, job->body[body], export_frame(job, k), begin, count, out, error));
    bool finite = all_finite(out, count);
    for (int v = 0; v < count && !finite; v++)
    {
        if (!all_finite(out + v, 1))
        {
            return not_finite(job, body, k, begin + v, error);
        }
    }
    bool placed = job->def->up == 'z' || job->def->scale != 1.0;
    for (int v = 0; v < count && placed; v++)
    {
        out[v] = export_place(job, out[v]);
    }
    return WEFT_OK;
}

weft_status export_positions(export_job* job, int body, int k, vec3* out, weft_error* error)
{
    return read_points(job, body, k, 0, export_topology(job, body, k)->vertex_count, out, error);
}

weft_status export_positions_last(export_job* job, int body, int k, vec3* out, weft_error* error)
{
    int topology = topology_index(job, body, k), last = topology_index(job, body, job->frame_count - 1);
    if (topology == last)
    {
        return export_positions(job, body, k, out, error);
    }
    TRY(export_positions(job, body, k, job->scratch, error));
    int cache_body = job->body[body], held = export_topology(job, body, k)->vertex_count;
    int count = export_last_topology(job, body)->vertex_count;
    for (int v = 0; v < count; v++)
    {
        // A vertex keeps its number from topology to topology: only copies need to be followed.
        int from = v;
        for (int t = last; t > topology && from >= held; t--)
        {
            from = weft_cache_topology_at(job->cache, cache_body, t)->origin[from];
        }
        out[v] = job->scratch[from];
    }
    return WEFT_OK;
}

weft_status export_pieces(export_job* job, int body, int k, export_piece_fn* put, void* context, weft_error* error)
{
    vec3 piece[PIECE];
    int count = export_topology(job, body, k)->vertex_count;
    for (int begin = 0; begin < count; begin += PIECE)
    {
        int size = int_min(PIECE, count - begin);
        TRY(read_points(job, body, k, begin, size, piece, error));
        put(context, piece, begin, size);
    }
    return WEFT_OK;
}

weft_status export_pieces_last(export_job* job, int body, int k, export_piece_fn* put, void* context, weft_error* error)
{
    if (topology_index(job, body, k) == topology_index(job, body, job->frame_count - 1))
    {
        return export_pieces(job, body, k, put, context, error);
    }
    TRY(export_positions_last(job, body, k, job->positions, error));
    put(context, job->positions, 0, export_last_topology(job, body)->vertex_count);
    return WEFT_OK;
}

// ---- the job

weft_export_def weft_export_def_default(void)
{
    return (weft_export_def){.last = -1, .every = 1, .start = -1, .scale = 1.0, .up = 'y', .cookie = DEF_COOKIE};
}

static weft_status job_choose_frames(export_job* job, weft_export_def* def, weft_error* error)
{
    const char* dir = weft_cache_dir(job->cache);
    int count = weft_cache_frame_count(job->cache);
    if (count < 1)
    {
        return error_set(error, WEFT_BAD_INPUT, dir, 0, "the run has no complete frame yet");
    }
    def->last = def->last < 0 ? count - 1 : def->last;
    if (def->first < 0 || def->first >= count || def->last >= count)
    {
        return error_set(error, WEFT_BAD_INPUT, dir, 0, "there is no frame %d: the run has frames 0 to %d",
                         def->first < 0 || def->first >= count ? def->first : def->last, count - 1);
    }
    if (def->last < def->first || def->every < 1)
    {
        return error_set(
            error, WEFT_BAD_INPUT, NULL, 0,
            "frames from %d to %d, each %d: the first must not be above the last, and the step is at least 1",
            def->first, def->last, def->every);
    }
    job->frame_count = (def->last - def->first) / def->every + 1;
    job->frame_rate = def->frame_rate == 0.0 ? weft_cache_frame_rate(job->cache) / def->every : def->frame_rate;
    if (!(job->frame_rate >= 1e-6 && job->frame_rate <= 1e6))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%g frames a second: take more than 1e-6 and less than 1e6",
                         job->frame_rate);
    }
    return WEFT_OK;
}

static int cache_find(const weft_cache* cache, const char* name)
{
    for (int b = 0; b < weft_cache_body_count(cache); b++)
    {
        if (strcmp(weft_cache_body_at(cache, b)->name, name) == 0)
        {
            return b;
        }
    }
    return -1;
}

static weft_status body_unknown(const weft_cache* cache, const char* name, weft_error* error)
{
    int count = weft_cache_body_count(cache);
    const char** names = MEM_NEW(count, const char*);
    for (int b = 0; b < count && names; b++)
    {
        names[b] = weft_cache_body_at(cache, b)->name;
    }
    const char* near = names ? suggest_name(name, names, count) : NULL;
    weft_status status =
        error_set(error, WEFT_BAD_INPUT, weft_cache_dir(cache), 0, "the run has no body `%.100s`; %s `%.100s`", name,
                  near ? "did you mean" : "the first is", near ? near : weft_cache_body_at(cache, 0)->name);
    mem_free(names);
    return status;
}

static bool in_frames(const export_job* job, int cache_body)
{
    for (int k = 0; k < job->frame_count; k++)
    {
        if (weft_cache_present(job->cache, cache_body, export_frame(job, k)))
        {
            return true;
        }
    }
    return false;
}

static weft_status body_absent(const weft_cache* cache, int b, weft_error* error)
{
    const weft_cache_body* body = weft_cache_body_at(cache, b);
    int last = int_min(body->until, weft_cache_frame_count(cache)) - 1;
    return error_set(error, WEFT_BAD_INPUT, weft_cache_dir(cache), 0,
                     "`%.100s` is in none of these frames: the run has it in frames %d to %d", body->name, body->from,
                     last);
}

// Bodies in the order of the run, each once, that are there in some of the frames.
static weft_status job_choose_bodies(export_job* job, weft_error* error)
{
    const weft_export_def* def = job->def;
    int count = weft_cache_body_count(job->cache);
    unsigned char* chosen = MEM_NEW(count, unsigned char);
    job->body = MEM_NEW(count, int);
    if (!chosen || !job->body)
    {
        mem_free(chosen);
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to export");
    }
    weft_status status = WEFT_OK;
    for (int k = 0; k < def->body_count && def->bodies && status == WEFT_OK; k++)
    {
        int b = cache_find(job->cache, def->bodies[k]);
        status = b < 0                ? body_unknown(job->cache, def->bodies[k], error)
                 : !in_frames(job, b) ? body_absent(job->cache, b, error)
                                      : WEFT_OK;
        chosen[b < 0 ? 0 : b] = 1;
    }
    for (int b = 0; b < count; b++)
    {
        if (def->bodies ? chosen[b] : in_frames(job, b))
        {
            job->body[job->body_count++] = b;
        }
    }
    mem_free(chosen);
    return status;
}

static weft_status job_reserve(export_job* job, weft_error* error)
{
    int most = 1;
    for (int b = 0; b < job->body_count; b++)
    {
        most = int_max(most, export_last_topology(job, b)->vertex_count); // topologies only grow
    }
    job->most = most;
    job->positions = mem_raw((size_t)most, sizeof(vec3));
    job->scratch = mem_raw((size_t)most, sizeof(vec3));
    return job->positions && job->scratch
               ? WEFT_OK
               : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for a frame of %d vertices", most);
}

static void job_finish(export_job* job)
{
    mem_free(job->body);
    mem_free(job->positions);
    mem_free(job->scratch);
}

static weft_status job_start(export_job* job, weft_export_def* def, weft_error* error)
{
    if (def->up != 'y' && def->up != 'z')
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "up is y or z");
    }
    if (!(def->scale >= 1e-9 && def->scale <= 1e9) || def->start < -1 || def->start > 1000000000)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "the scale is from 1e-9 to 1e9, and the number of the first frame from 0 to 1e9");
    }
    TRY(job_choose_frames(job, def, error));
    TRY(job_choose_bodies(job, error));
    return job_reserve(job, error);
}

// ---- the target

static weft_status run_to_file(export_job* job, const export_format* format, export_fn* run, const char* target,
                               weft_export_stats* stats, weft_error* error)
{
    TRY(export_check_file(job, format, target, error));
    TRY(run(job, target, error));
    struct stat info;
    stats->files = 1;
    stats->bytes = stat(target, &info) == 0 ? (int64_t)info.st_size : 0;
    return WEFT_OK;
}

static weft_status run_to_folder(export_job* job, const export_format* format, const char* target,
                                 weft_export_stats* stats, weft_error* error)
{
    char temporary[EXPORT_PATH];
    TRY(export_folder_begin(target, job->def->force != 0, temporary, error));
    weft_status status = format->run(job, temporary, error);
    status = status == WEFT_OK ? export_folder_end(temporary, target, job, stats, error) : status;
    if (status != WEFT_OK)
    {
        export_folder_abandon(temporary);
    }
    return status;
}

static weft_status check_one_file(const export_job* job, const export_format* format, const char* target,
                                  weft_error* error)
{
    bool one_frame = !format->file_is_frame || job->frame_count == 1;
    if (format->run_file && job->body_count == 1 && one_frame)
    {
        return WEFT_OK;
    }
    return error_set(
        error, WEFT_UNSUPPORTED, target, 0,
        !format->run_file ? "this format is several files: give the name of a folder, without %s%s"
        : job->body_count > 1
            ? "a %s file holds one body: choose it with --body, or give the name of a folder, without %s"
            : "a %s file holds one frame: choose it with --frames K:K, or give the name of a folder, without %s",
        format->run_file ? format->ending : "", format->ending);
}

static weft_status job_run(export_job* job, const export_format* format, const char* target, weft_export_stats* stats,
                           weft_error* error)
{
    struct stat info;
    bool is_folder = stat(target, &info) == 0 && S_ISDIR(info.st_mode);
    if (!format->folder || !is_folder)
    {
        TRY(export_check_ending(format, target, error));
    }
    if (!format->folder)
    {
        return run_to_file(job, format, format->run, target, stats, error);
    }
    if (is_folder || !export_has_ending(target, format->ending))
    {
        return run_to_folder(job, format, target, stats, error);
    }
    TRY(check_one_file(job, format, target, error));
    return run_to_file(job, format, format->run_file, target, stats, error);
}

weft_status weft_export(weft_cache* cache, const weft_export_def* def, const char* target, weft_export_stats* stats,
                        weft_error* error)
{
    WEFT_ASSERT(cache && def && target && def->cookie == DEF_COOKIE);
    weft_export_def settled = *def;
    weft_export_stats written = {0};
    export_job job = {.cache = cache, .def = &settled};
    const export_format* format = NULL;
    weft_status status = format_find(def->format, &format, error);
    status = status == WEFT_OK ? job_start(&job, &settled, error) : status;
    status = status == WEFT_OK ? job_run(&job, format, target, &written, error) : status;
    written.bodies = job.body_count;
    written.frames = job.frame_count;
    if (stats)
    {
        *stats = written;
    }
    job_finish(&job);
    return status;
}
