// Writes a run's folder. Order at the end of a frame: samples, stats, then the checkpoint, so that whatever was
// finished before the last checkpoint is there, and --resume cuts back what came after it.
#define _DEFAULT_SOURCE // flock
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/body_files.h"
#include "cache/changes.h"
#include "cache/checkpoint.h"
#include "cache/field_files.h"
#include "mesh/pc2_file.h"
#include "cache/scene_file.h"
#include "weft/cache.h"

enum
{
    PATH_MAX_BYTES = 4096
};

struct weft_cache_writer
{
    char dir[PATH_MAX_BYTES - 512];
    int steps_per_frame;
    int body_count; // cloths and obstacles, in this order
    pc2** samples;  // [body_count]; NULL: an obstacle that stands still
    vec3* sample;   // room for the largest body
    bool fields;    // whether the simulation's fields are written, too
    FILE* stats;
    int lock; // descriptor of run.lock, -1: none
};

static const char* const run_files[] = {"scene.json", "stats.jsonl", "checkpoint.weft", "frames.jsonl"};

enum
{
    RUN_FILE_COUNT = sizeof(run_files) / sizeof(run_files[0])
};

static const char* path_in(const weft_cache_writer* w, const char* name, const char* ending, char* path)
{
    snprintf(path, PATH_MAX_BYTES, "%s/%s%s", w->dir, name, ending);
    return path;
}

// ---- the folder

static bool exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// run.lock is the first file that a run makes: a folder without it and without a checkpoint is not a run's, whatever
// else lies in it.
static bool holds_run(const weft_cache_writer* w)
{
    char path[PATH_MAX_BYTES];
    return exists(path_in(w, "run.lock", "", path)) || exists(path_in(w, "checkpoint.weft", "", path));
}

// One writer a folder. The system drops the lock when the process ends, however it ends.
static weft_status take_lock(weft_cache_writer* w, weft_error* error)
{
    char path[PATH_MAX_BYTES], process[32] = "";
    w->lock = open(path_in(w, "run.lock", "", path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (w->lock < 0)
    {
        return file_error(error, path, "cannot write");
    }
    if (flock(w->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    {
        ssize_t length = read(w->lock, process, sizeof(process) - 1);
        process[length > 0 ? length : 0] = 0;
        return error_set(
            error, WEFT_EXISTS, w->dir, 0,
            "a run is going on in this folder (process %d); wait for it, stop it, or choose another with -o",
            atoi(process));
    }
    int length = snprintf(process, sizeof(process), "%ld\n", (long)getpid());
    if (ftruncate(w->lock, 0) != 0 || write(w->lock, process, (size_t)length) != length)
    {
        return file_error(error, path, "cannot write");
    }
    return WEFT_OK;
}

// mkdir -p
static weft_status make_folder(const char* dir, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof(path), "%s", dir);
    for (char* c = path + 1;; c++)
    {
        if (*c != '/' && *c != 0)
        {
            continue;
        }
        char kept = *c;
        *c = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
        {
            return file_error(error, path, "cannot make the folder");
        }
        *c = kept;
        if (!kept)
        {
            break;
        }
    }
    struct stat info;
    if (stat(dir, &info) != 0 || !S_ISDIR(info.st_mode))
    {
        return error_set(error, WEFT_IO, dir, 0, "this is not a folder; choose another with -o");
    }
    return WEFT_OK;
}

// A run writes scene.json, stats.jsonl, NAME.obj, NAME.pc2, NAME.ele of solids and NAME.motion.pc2. Files of these
// names that no run made are the user's: they stay, and the run is refused.
static weft_status check_files(const weft_cache_writer* w, const weft_sim* sim, bool was_run, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    scene_file earlier = {0};
    const char* foreign = NULL;
    if (was_run)
    {
        earlier = scene_file_read(path_in(w, "scene.json", "", path));
    }
    for (int k = 0; k < RUN_FILE_COUNT && !was_run && !foreign; k++)
    {
        foreign = exists(path_in(w, run_files[k], "", path)) ? path : NULL;
    }
    for (int k = 0; k < body_total(sim) && !foreign; k++)
    {
        const char* name = body_name(sim, k);
        bool there = exists(path_in(w, name, ".motion.pc2", path)) || exists(path_in(w, name, ".pc2", path)) ||
                     (body_is_solid(sim, k) && exists(path_in(w, name, ".ele", path))) ||
                     exists(path_in(w, name, ".obj", path));
        foreign = there && scene_file_find(&earlier, name) < 0 ? path : NULL;
    }
    scene_file_finish(&earlier);
    return !foreign ? WEFT_OK
                    : error_set(error, WEFT_EXISTS, foreign, 0,
                                "the run would write this file, and no run made it; choose another folder with -o");
}

// Whether this run has just written NAME.motion.pc2.
static bool has_motion_file(const weft_sim* sim, const char* name)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        if (sim->obstacles[k].sample_count > 0 && strcmp(sim->obstacles[k].name, name) == 0)
        {
            return true;
        }
    }
    return false;
}

static bool is_field_of(const char* name, const char* file)
{
    size_t length = strlen(name);
    const char* part = file + length + 1;
    return strncmp(file, name, length) == 0 && file[length] == '.' && part[0] && part[0] != '.' &&
           strcmp(part + strcspn(part, "."), ".field") == 0;
}

// NAME.G.obj or NAME.G.pc2 of a topology that frames.jsonl lists: other files of such a name are the user's.
static bool is_topology_file(const topology_changes* changes, const char* file)
{
    char name[512];
    size_t length = strlen(file);
    bool ending = length > 4 && length < sizeof(name) &&
                  (strcmp(file + length - 4, ".obj") == 0 || strcmp(file + length - 4, ".pc2") == 0);
    snprintf(name, sizeof(name), "%.*s", ending ? (int)length - 4 : 0, file);
    return ending && topology_changes_name(changes, name);
}

// What a run makes as it goes: topologies and fields.
static void remove_made(const weft_cache_writer* w, const scene_file* earlier)
{
    char path[PATH_MAX_BYTES];
    topology_changes changes = {0};
    topology_changes_read(w->dir, &changes, NULL);
    DIR* folder = opendir(w->dir);
    for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
    {
        bool made = is_topology_file(&changes, entry->d_name);
        for (int k = 0; k < earlier->name_count && !made; k++)
        {
            made = is_field_of(earlier->names[k], entry->d_name);
        }
        if (made)
        {
            remove(path_in(w, entry->d_name, "", path));
        }
    }
    if (folder)
    {
        closedir(folder);
    }
    topology_changes_finish(&changes);
}

// Removes what an earlier run left: the caches of the bodies that its scene.json names, and its own files.
static void remove_run(const weft_cache_writer* w, const weft_sim* sim)
{
    char path[PATH_MAX_BYTES];
    scene_file earlier = scene_file_read(path_in(w, "scene.json", "", path));
    for (int k = 0; k < earlier.name_count; k++)
    {
        // A name with a slash would leave the folder: no run of ours has one.
        if (strlen(earlier.names[k]) <= 100 && !strchr(earlier.names[k], '/'))
        {
            remove(path_in(w, earlier.names[k], ".obj", path));
            remove(path_in(w, earlier.names[k], ".pc2", path));
            earlier.solid[k] ? (void)remove(path_in(w, earlier.names[k], ".ele", path)) : (void)0;
            if (!has_motion_file(sim, earlier.names[k]))
            {
                remove(path_in(w, earlier.names[k], ".motion.pc2", path));
                remove(path_in(w, earlier.names[k], ".motion.pc2.tmp", path));
            }
        }
    }
    remove_made(w, &earlier);
    scene_file_finish(&earlier);
    for (int k = 0; k < RUN_FILE_COUNT; k++)
    {
        remove(path_in(w, run_files[k], "", path));
    }
}

// ---- bodies and texts

static weft_status write_motions(const weft_cache_writer* w, weft_sim* sim, bool anew, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        obstacle* o = &sim->obstacles[k];
        if (o->sample_count > 0 && (anew || !exists(path_in(w, o->name, ".motion.pc2", path))))
        {
            TRY(motion_file_write(path_in(w, o->name, ".motion.pc2", path), o, w->sample, error));
        }
    }
    return WEFT_OK;
}

static weft_status write_text(const weft_cache_writer* w, const char* name, const char* text, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    whole_file file;
    TRY(whole_file_open(&file, path_in(w, name, "", path), error));
    fputs(text, file.stream);
    return whole_file_close(&file, error);
}

// ---- frames

// Frame 0 makes the file. Numbers of vertices go where positions will: a float is smaller than a vec3.
// Files of a run have the same bodies in every frame.
static weft_status check_bodies(const weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    bool removed = false;
    for (int k = 0; k < body_total(sim); k++)
    {
        const obstacle* o = obstacle_of(sim, k);
        removed = removed || (o ? o->removed : sim->bodies[k].removed);
    }
    bool added = sim->edits.begun &&
                 (sim->body_count != sim->edits.body_count || sim->obstacle_count != sim->edits.obstacle_count);
    return added || removed
               ? error_set(error, WEFT_UNSUPPORTED, w->dir, 0,
                           "bodies were %s while the simulation ran, and a run's folder holds those of the "
                           "scene alone; take positions by weft_sim_positions instead",
                           removed ? "removed" : "added")
               : WEFT_OK;
}

static weft_status write_field(const weft_cache_writer* w, const weft_sim* sim, int cloth, int field, weft_error* error)
{
    const weft_sim_field* f = weft_sim_field_at(sim, field);
    const char* name = body_name(sim, cloth);
    int frame = (int)(weft_sim_step_count(sim) / w->steps_per_frame), count = body_points(sim, cloth);
    float* values = (float*)w->sample;
    if (weft_sim_field_values(sim, cloth, field, values) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    return frame > 0 ? field_append(w->dir, name, f->name, frame, count, values, error)
                     : weft_cache_field_write(w->dir, name, f->name, f->categories, count, 1, values, error);
}

static weft_status write_fields(const weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < weft_sim_cloth_count(sim) && w->fields; k++)
    {
        for (int field = 0; field < weft_sim_field_count(sim); field++)
        {
            TRY(write_field(w, sim, k, field, error));
        }
    }
    return WEFT_OK;
}

static weft_status write_frame(weft_cache_writer* w, weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    TRY(check_bodies(w, sim, error));
    TRY(write_fields(w, sim, error)); // first: a reader of a run that goes on meets them for every frame
    // Obstacles first: a sample that cannot be read ends the run before the cloth is written.
    for (int k = w->body_count - 1; k >= 0; k--)
    {
        obstacle* o = obstacle_of(sim, k);
        if (!w->samples[k])
        {
            continue;
        }
        if (o)
        {
            TRY(obstacle_positions(o, weft_sim_time(sim), w->sample, error));
        }
        else
        {
            weft_sim_positions(sim, k, w->sample);
        }
        TRY(pc2_append(w->samples[k], w->sample, error));
    }
    weft_sim_checkpoint(sim);
    return checkpoint_write(path_in(w, "checkpoint.weft", "", path), sim, w->steps_per_frame, error);
}

static void put_number(FILE* f, const char* key, double value)
{
    if (isfinite(value))
    {
        fprintf(f, "\"%s\":%.17g", key, value);
    }
    else
    {
        fprintf(f, "\"%s\":null", key);
    }
}

static void put_seconds(FILE* f, const char* key, double value)
{
    fprintf(f, "\"%s\":%.6g", key, value);
}

// Names are file names: letters, digits, '-', '_' and '.'.
static void put_squeezed(FILE* f, const weft_sim* sim, const weft_step_stats* s)
{
    fputs(",\"squeezed\":[", f);
    for (int k = 0; k < s->squeezed && s->squeezed_pairs; k++)
    {
        const weft_squeezed* q = &s->squeezed_pairs[k];
        fprintf(f, "%s{\"step\":%lld,\"bodies\":[\"%s\",\"%s\"],\"edge\":[%d,%d],\"face\":[%d,%d,%d]}",
                k > 0 ? "," : "", (long long)s->step, body_name(sim, q->body[0]), body_name(sim, q->body[1]),
                q->edge[0], q->edge[1], q->face[0], q->face[1], q->face[2]);
    }
    fputs("]}\n", f);
}

static void put_stats(FILE* f, const weft_sim* sim, const weft_step_stats* s, int steps_per_frame)
{
    fprintf(f, "{\"step\":%lld,\"frame\":%lld,", (long long)s->step,
            (long long)((s->step + steps_per_frame - 1) / steps_per_frame));
    put_number(f, "time", s->time);
    fprintf(f, ",\"solver\":\"%s\",\"iterations\":%d,\"solves\":%d,\"rescued\":%d,", s->solver, s->iterations,
            s->solves, s->rescued);
    for (int k = 0; k < s->counter_count; k++)
    {
        put_number(f, s->counters[k].name, s->counters[k].value);
        fputc(',', f);
    }
    fprintf(f, "\"substeps\":%d,\"rejected\":%d,", s->substeps, s->rejected);
    put_number(f, "residual", s->residual);
    fputc(',', f);
    put_number(f, "rate", s->rate);
    fprintf(f, ",\"levels\":%d,", s->level_count);
    put_number(f, "operator_complexity", s->operator_complexity);
    fputc(',', f);
    put_seconds(f, "setup_s", s->setup_s);
    fputc(',', f);
    put_seconds(f, "solve_s", s->solve_s);
    fputc(',', f);
    put_seconds(f, "step_s", s->step_s);
    fputs(",\"stages\":{", f);
    for (int k = 0; k < s->stage_count; k++)
    {
        put_seconds(f, s->stage_name[k], s->stage_s[k]);
        fputs(k + 1 < s->stage_count ? "," : "", f);
    }
    const weft_energy* e = &s->energy;
    const char* names[] = {"kinetic", "stretch", "shear", "bend", "gravity", "total"};
    const double values[] = {e->kinetic, e->stretch, e->shear, e->bend, e->gravity, e->total};
    fputs("},\"energy\":{", f);
    for (int k = 0; k < 6; k++)
    {
        put_number(f, names[k], values[k]);
        fputs(k < 5 ? "," : "},", f);
    }
    put_number(f, "max_stretch", s->max_stretch);
    fprintf(f, ",\"constraints\":%d,\"contacts\":%d,\"last_resort\":%d", s->constraints, s->contacts, s->last_resort);
    put_squeezed(f, sim, s);
}

// ---- starting

static weft_status start_new(weft_cache_writer* w, const char* scene_json, weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    TRY(write_text(w, "scene.json", scene_json, error));
    for (int k = 0; k < w->body_count; k++)
    {
        TRY(body_obj_write(path_in(w, body_name(sim, k), ".obj", path), sim, k, error));
        if (body_is_solid(sim, k))
        {
            TRY(body_ele_write(path_in(w, body_name(sim, k), ".ele", path), sim, k, error));
        }
        if (body_moves(sim, k))
        {
            path_in(w, body_name(sim, k), ".pc2", path);
            TRY(pc2_create(path, body_points(sim, k), &w->samples[k], error));
        }
    }
    w->stats = fopen(path_in(w, "stats.jsonl", "", path), "wb");
    if (!w->stats)
    {
        return file_error(error, path, "cannot write");
    }
    return write_frame(w, sim, error);
}

// Keeps the first `lines` lines of the stats.
static weft_status cut_stats(weft_cache_writer* w, int64_t lines, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    path_in(w, "stats.jsonl", "", path);
    w->stats = fopen(path, "r+b");
    if (!w->stats)
    {
        return file_error(error, path, "cannot go on writing");
    }
    for (int c; lines > 0 && (c = fgetc(w->stats)) != EOF;)
    {
        lines -= c == '\n';
    }
    long end = ftell(w->stats);
    if (lines > 0)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the stats are shorter than the checkpoint says; start over with --force");
    }
    if (end < 0 || ftruncate(fileno(w->stats), end) != 0 || fseek(w->stats, end, SEEK_SET) != 0)
    {
        return file_error(error, path, "cannot cut back");
    }
    return WEFT_OK;
}

static weft_status resume(weft_cache_writer* w, const char* scene_json, weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    TRY(checkpoint_read(path_in(w, "checkpoint.weft", "", path), sim, w->steps_per_frame, error));
    int frame = (int)(weft_sim_step_count(sim) / w->steps_per_frame);
    for (int k = 0; k < w->body_count; k++)
    {
        if (!body_moves(sim, k))
        {
            continue;
        }
        path_in(w, body_name(sim, k), ".pc2", path);
        TRY(pc2_open_append(path, body_points(sim, k), &w->samples[k], error));
        if (pc2_sample_count(w->samples[k]) < frame + 1)
        {
            return error_set(error, WEFT_BAD_INPUT, path, 0,
                             "the cache is shorter than the checkpoint says; start over with --force");
        }
        TRY(pc2_cut(w->samples[k], frame + 1, error));
    }
    w->fields =
        weft_sim_field_count(sim) > 0 && field_exists(w->dir, body_name(sim, 0), weft_sim_field_at(sim, 0)->name);
    TRY(cut_stats(w, weft_sim_step_count(sim), error));
    TRY(write_motions(w, sim, false, error));
    return write_text(w, "scene.json", scene_json, error);
}

static weft_status writer_start(weft_cache_writer* w, weft_cache_mode mode, const char* scene_json, weft_sim* sim,
                                weft_error* error)
{
    char path[PATH_MAX_BYTES];
    if (mode == WEFT_CACHE_NEW && holds_run(w))
    {
        return error_set(
            error, WEFT_EXISTS, w->dir, 0,
            "the folder holds a run already: --resume goes on with it, --force replaces it, -o takes another");
    }
    if (mode == WEFT_CACHE_RESUME && !holds_run(w))
    {
        return error_set(error, WEFT_NOT_FOUND, w->dir, 0, "there is no run to resume here; start it without --resume");
    }
    bool was_run = holds_run(w);
    TRY(make_folder(w->dir, error));
    TRY(sim_build(sim, error));
    TRY(check_bodies(w, sim, error));
    // A folder that is not a run's is looked through before anything is written to it.
    if (!was_run)
    {
        TRY(check_files(w, sim, was_run, error));
    }
    TRY(take_lock(w, error));
    w->body_count = body_total(sim);
    int largest = 0;
    for (int k = 0; k < w->body_count; k++)
    {
        largest = int_max(largest, body_points(sim, k));
    }
    w->samples = MEM_NEW(w->body_count, pc2*);
    w->sample = MEM_NEW(largest, vec3);
    if (!w->samples || !w->sample)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    // A run that was killed before its first checkpoint starts over.
    if (mode == WEFT_CACHE_RESUME && exists(path_in(w, "checkpoint.weft", "", path)))
    {
        return resume(w, scene_json, sim, error);
    }
    TRY(check_files(w, sim, was_run, error));
    TRY(write_motions(w, sim, true, error));
    remove_run(w, sim);
    return start_new(w, scene_json, sim, error);
}

weft_status weft_cache_writer_create(const char* dir, weft_cache_mode mode, const char* scene_json, int steps_per_frame,
                                     weft_sim* sim, weft_cache_writer** out, weft_error* error)
{
    WEFT_ASSERT(dir && scene_json && steps_per_frame > 0 && sim && out);
    *out = NULL;
    weft_cache_writer* w = MEM_NEW(1, weft_cache_writer);
    if (!w)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    w->steps_per_frame = steps_per_frame;
    w->lock = -1;
    int length = snprintf(w->dir, sizeof(w->dir), "%s", dir);
    weft_status status = length >= (int)sizeof(w->dir) || length == 0
                             ? error_set(error, WEFT_IO, dir, 0, "the folder's path is empty or too long")
                             : writer_start(w, mode, scene_json, sim, error);
    if (status != WEFT_OK)
    {
        weft_cache_writer_destroy(w, NULL);
        return status;
    }
    *out = w;
    return WEFT_OK;
}

int weft_cache_has_checkpoint(const char* dir)
{
    char path[PATH_MAX_BYTES];
    return snprintf(path, sizeof(path), "%s/checkpoint.weft", dir) < (int)sizeof(path) && exists(path);
}

weft_status weft_cache_writer_fields(weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    WEFT_ASSERT(w && sim);
    if (weft_sim_field_count(sim) == 0 || w->fields)
    {
        return WEFT_OK;
    }
    if (weft_sim_step_count(sim) > 0)
    {
        return error_set(error, WEFT_BAD_INPUT, w->dir, 0,
                         "the run was started without --fields, and its first frames lack them; go on without, or "
                         "start over with --force");
    }
    w->fields = true;
    return write_fields(w, sim, error);
}

weft_status weft_cache_writer_step(weft_cache_writer* w, weft_sim* sim, const weft_step_stats* stats, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    put_stats(w->stats, sim, stats, w->steps_per_frame);
    if (fflush(w->stats) != 0)
    {
        return file_error(error, path_in(w, "stats.jsonl", "", path), "cannot write");
    }
    return stats->step % w->steps_per_frame == 0 ? write_frame(w, sim, error) : WEFT_OK;
}

weft_status weft_cache_writer_destroy(weft_cache_writer* w, weft_error* error)
{
    weft_status status = WEFT_OK;
    if (!w)
    {
        return status;
    }
    for (int k = 0; k < w->body_count && w->samples; k++)
    {
        weft_status closed = pc2_close(w->samples[k], error);
        status = status == WEFT_OK ? closed : status;
    }
    if (w->stats && fclose(w->stats) != 0 && status == WEFT_OK)
    {
        status = file_error(error, w->dir, "cannot finish the stats");
    }
    if (w->lock >= 0)
    {
        close(w->lock);
    }
    mem_free(w->samples);
    mem_free(w->sample);
    mem_free(w);
    return status;
}
