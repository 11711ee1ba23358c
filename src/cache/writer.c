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
#include "cache/element_files.h"
#include "cache/field_files.h"
#include "cache/run_bodies.h"
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
    run_bodies bodies;
    bool fields;   // whether the simulation's fields are written, too
    bool elements; // likewise what the method does with elements
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
    w->lock = file_open(path_in(w, "run.lock", "", path), FILE_TO_CHANGE);
    if (w->lock < 0 && errno == ENOENT)
    {
        w->lock = file_open(path, FILE_TO_MAKE);
    }
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

// What an earlier run has made bodies of.
typedef struct earlier_run
{
    scene_file scene;
    topology_changes changes;
} earlier_run;

static earlier_run earlier_read(const weft_cache_writer* w)
{
    char path[PATH_MAX_BYTES];
    earlier_run earlier = {.scene = scene_file_read(path_in(w, "scene.json", "", path))};
    topology_changes_read(w->dir, &earlier.changes, NULL);
    return earlier;
}

static void earlier_finish(earlier_run* earlier)
{
    topology_changes_finish(&earlier->changes);
    scene_file_finish(&earlier->scene);
}

static bool earlier_has(const earlier_run* earlier, const char* name)
{
    return scene_file_find(&earlier->scene, name) >= 0 || topology_changes_coming(&earlier->changes, name);
}

// A run writes scene.json, stats.jsonl, NAME.obj, NAME.pc2, NAME.ele of solids and NAME.motion.pc2. Files of these
// names that no run made are the user's: they stay, and the run is refused.
static weft_status check_files(const weft_cache_writer* w, const weft_sim* sim, bool was_run, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    earlier_run earlier = was_run ? earlier_read(w) : (earlier_run){0};
    const char* foreign = NULL;
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
        foreign = there && !earlier_has(&earlier, name) ? path : NULL;
    }
    earlier_finish(&earlier);
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
           (strcmp(part + strcspn(part, "."), ".field") == 0 || strcmp(part, "connections.elements") == 0);
}

// NAME.G.obj, NAME.G.pc2 or NAME.G.ele of a topology that frames.jsonl lists: other files of such a name are the
// user's.
static bool is_topology_file(const topology_changes* changes, const char* file)
{
    char name[512];
    size_t length = strlen(file);
    bool ending = length > 4 && length < sizeof(name) &&
                  (strcmp(file + length - 4, ".obj") == 0 || strcmp(file + length - 4, ".pc2") == 0 ||
                   strcmp(file + length - 4, ".ele") == 0);
    snprintf(name, sizeof(name), "%.*s", ending ? (int)length - 4 : 0, file);
    return ending && topology_changes_name(changes, name);
}

static bool is_made(const earlier_run* earlier, const char* file)
{
    bool made = is_topology_file(&earlier->changes, file);
    for (int k = 0; k < earlier->scene.name_count && !made; k++)
    {
        made = is_field_of(earlier->scene.names[k], file);
    }
    for (int k = 0; k < earlier->changes.count && !made; k++)
    {
        made = earlier->changes.items[k].kind == CHANGE_COMES && is_field_of(earlier->changes.items[k].body, file);
    }
    return made;
}

// What a run makes as it goes: topologies and fields.
static void remove_made(const weft_cache_writer* w, const earlier_run* earlier)
{
    char path[PATH_MAX_BYTES];
    DIR* folder = opendir(w->dir);
    for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
    {
        if (is_made(earlier, entry->d_name))
        {
            remove(path_in(w, entry->d_name, "", path));
        }
    }
    if (folder)
    {
        closedir(folder);
    }
}

// A name with a slash would leave the folder: no run of ours has one.
static void remove_body(const weft_cache_writer* w, const char* name, bool solid)
{
    char path[PATH_MAX_BYTES];
    if (strlen(name) <= 128 && !strchr(name, '/'))
    {
        remove(path_in(w, name, ".obj", path));
        remove(path_in(w, name, ".pc2", path));
        remove(path_in(w, name, ".start.obj", path));
        solid ? (void)remove(path_in(w, name, ".ele", path)) : (void)0;
    }
}

// Removes what an earlier run left: the caches of the bodies that its scene.json and frames.jsonl name, and its own
// files.
static void remove_run(const weft_cache_writer* w, const weft_sim* sim)
{
    char path[PATH_MAX_BYTES];
    earlier_run earlier = earlier_read(w);
    for (int k = 0; k < earlier.scene.name_count; k++)
    {
        const char* name = earlier.scene.names[k];
        remove_body(w, name, earlier.scene.solid[k]);
        if (strlen(name) <= 100 && !strchr(name, '/') && !has_motion_file(sim, name))
        {
            remove(path_in(w, name, ".motion.pc2", path));
            remove(path_in(w, name, ".motion.pc2.tmp", path));
        }
    }
    for (int k = 0; k < earlier.changes.count; k++)
    {
        const topology_change* change = &earlier.changes.items[k];
        const body_kind* kind = change->kind == CHANGE_COMES ? body_kind_find(change->list) : NULL;
        change->kind == CHANGE_COMES ? remove_body(w, change->body, kind && kind->form == MESH_SOLID) : (void)0;
    }
    remove_made(w, &earlier);
    earlier_finish(&earlier);
    for (int k = 0; k < RUN_FILE_COUNT; k++)
    {
        remove(path_in(w, run_files[k], "", path));
    }
}

// ---- bodies and texts

// Of the scene's obstacles alone: for the others the checkpoint has what it needs.
static weft_status write_motions(const weft_cache_writer* w, weft_sim* sim, bool anew, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    int count = sim->edits.begun ? sim->edits.obstacle_count : sim->obstacle_count;
    for (int k = 0; k < count; k++)
    {
        obstacle* o = &sim->obstacles[k];
        if (o->sample_count > 0 && (anew || !exists(path_in(w, o->name, ".motion.pc2", path))))
        {
            TRY(motion_file_write(path_in(w, o->name, ".motion.pc2", path), o, error));
        }
    }
    return WEFT_OK;
}

// Where cloths of the scene start that rest elsewhere.
static weft_status write_starts(const weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(body_starts_apart(sim, k)
                ? body_start_write(path_in(w, sim->bodies[k].name, ".start.obj", path), sim, k, error)
                : WEFT_OK);
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

static int frame_of(const weft_cache_writer* w, const weft_sim* sim)
{
    return (int)(weft_sim_step_count(sim) / w->steps_per_frame);
}

// The first frame makes the file. Numbers of vertices go where positions will: a float is smaller than a vec3. Vertices
// are those of topology 0, which all later ones begin with.
static weft_status write_field(const weft_cache_writer* w, const weft_sim* sim, const run_body* b, int field,
                               weft_error* error)
{
    const weft_sim_field* f = weft_sim_field_at(sim, field);
    int sample = frame_of(w, sim) - b->from;
    float* values = (float*)w->bodies.sample;
    if (weft_sim_field_values(sim, b->id, field, values) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    return sample > 0
               ? field_append(w->dir, b->name, f->name, sample, b->first_points, values, error)
               : weft_cache_field_write(w->dir, b->name, f->name, f->categories, b->first_points, 1, values, error);
}

static weft_status write_fields(const weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < w->bodies.count && w->fields; k++)
    {
        const run_body* b = &w->bodies.items[k];
        for (int field = 0; field < weft_sim_field_count(sim) && !b->obstacle && !b->gone; field++)
        {
            TRY(write_field(w, sim, b, field, error));
        }
    }
    for (int k = 0; k < w->bodies.count && w->elements; k++)
    {
        const run_body* b = &w->bodies.items[k];
        TRY(b->obstacle || b->gone ? WEFT_OK : elements_write(w->dir, sim, b, frame_of(w, sim) - b->from, error));
    }
    return WEFT_OK;
}

static weft_status write_frame(weft_cache_writer* w, weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    TRY(write_fields(w, sim, error)); // first: a reader of a run that goes on meets them for every frame
    TRY(run_bodies_sample(&w->bodies, sim, error));
    weft_sim_checkpoint(sim);
    return checkpoint_write(path_in(w, "checkpoint.weft", "", path), sim, w->steps_per_frame, error);
}

static void put_number(FILE* f, const char* key, double value)
{
    if (isfinite(value))
    {
        print_to(f, "\"%s\":%.17g", key, value);
    }
    else
    {
        fprintf(f, "\"%s\":null", key);
    }
}

static void put_seconds(FILE* f, const char* key, double value)
{
    print_to(f, "\"%s\":%.6g", key, value);
}

// Names are file names: letters, digits, '-', '_' and '.'. A body that has come since the last frame has no files yet,
// and may never have: its pairs are listed from the step on that ends the frame.
static void put_pairs(const weft_cache_writer* w, const weft_sim* sim, int64_t step, const weft_squeezed* pairs,
                      int count)
{
    const char* comma = "";
    for (int k = 0; k < count; k++)
    {
        const weft_squeezed* q = &pairs[k];
        const char* names[] = {run_bodies_name(&w->bodies, sim, q->body[0]),
                               run_bodies_name(&w->bodies, sim, q->body[1])};
        if (names[0] && names[1])
        {
            const int* v[] = {&q->edge[0], &q->edge[1], &q->face[0], &q->face[1], &q->face[2]};
            int shown[5];
            for (int i = 0; i < 5; i++)
            {
                shown[i] = body_shown_by(sim, q->body[i < 2 ? 0 : 1], *v[i]);
            }
            fprintf(w->stats, "%s{\"step\":%lld,\"bodies\":[\"%s\",\"%s\"],\"edge\":[%d,%d],\"face\":[%d,%d,%d]}",
                    comma, (long long)step, names[0], names[1], shown[0], shown[1], shown[2], shown[3], shown[4]);
            comma = ",";
        }
    }
}

// `unsettled` is there only while something of the start is.
static void put_squeezed(const weft_cache_writer* w, const weft_sim* sim, const weft_step_stats* s)
{
    FILE* f = w->stats;
    fputs(",\"squeezed\":[", f);
    put_pairs(w, sim, s->step, s->squeezed_pairs, s->squeezed_pairs ? s->squeezed : 0);
    if (s->unsettled > 0 && s->unsettled_pairs)
    {
        fputs("],\"unsettled\":[", f);
        put_pairs(w, sim, s->step, s->unsettled_pairs, s->unsettled);
    }
    fputs("]}\n", f);
}

static void put_stats(const weft_cache_writer* w, const weft_sim* sim, const weft_step_stats* s)
{
    FILE* f = w->stats;
    int steps_per_frame = w->steps_per_frame;
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
    fprintf(f, "\"substeps\":%d,\"rejected\":%d,\"forced\":%d,", s->substeps, s->rejected, s->forced);
    if (s->limited > 0)
    {
        fprintf(f, "\"overstretched\":%d,", s->overstretched);
    }
    put_number(f, "residual", s->residual);
    fputc(',', f);
    put_number(f, "rate", s->rate);
    fprintf(f, ",\"levels\":%d,", s->level_count);
    put_number(f, "operator_complexity", s->operator_complexity);
    fprintf(f, ",\"components\":%d,", s->components);
    put_number(f, "row_products", s->row_products);
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
    put_squeezed(w, sim, s);
}

// ---- starting

static weft_status start_new(weft_cache_writer* w, const char* scene_json, weft_sim* sim, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    TRY(write_text(w, "scene.json", scene_json, error));
    TRY(run_bodies_start(&w->bodies, sim, error));
    w->stats = file_stream(path_in(w, "stats.jsonl", "", path), FILE_TO_MAKE);
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
    w->stats = file_stream(path, FILE_TO_CHANGE);
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
    TRY(run_bodies_resume(&w->bodies, sim, frame_of(w, sim), error));
    w->fields =
        weft_sim_field_count(sim) > 0 && field_exists(w->dir, w->bodies.items[0].name, weft_sim_field_at(sim, 0)->name);
    w->elements = elements_vary(sim) && elements_exist(w->dir, w->bodies.items[0].name);
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
    // A folder that is not a run's is looked through before anything is written to it.
    if (!was_run)
    {
        TRY(check_files(w, sim, was_run, error));
    }
    TRY(take_lock(w, error));
    // A run that was killed before its first checkpoint starts over.
    if (mode == WEFT_CACHE_RESUME && exists(path_in(w, "checkpoint.weft", "", path)))
    {
        return resume(w, scene_json, sim, error);
    }
    TRY(check_files(w, sim, was_run, error));
    TRY(write_motions(w, sim, true, error));
    remove_run(w, sim);
    TRY(write_starts(w, sim, error));
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
    w->bodies.dir = w->dir;
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

weft_status weft_cache_load_checkpoint(const char* dir, int steps_per_frame, weft_sim* sim, weft_error* error)
{
    WEFT_ASSERT(dir && steps_per_frame > 0 && sim);
    char path[PATH_MAX_BYTES];
    if (snprintf(path, sizeof(path), "%s/checkpoint.weft", dir) >= (int)sizeof(path))
    {
        return error_set(error, WEFT_IO, dir, 0, "the folder's path is too long");
    }
    if (!exists(path))
    {
        return error_set(error, WEFT_NOT_FOUND, dir, 0,
                         "there is no checkpoint.weft here: give the folder of a run that has finished a frame");
    }
    TRY(sim_build(sim, error));
    return checkpoint_read(path, sim, steps_per_frame, error);
}

weft_status weft_cache_writer_fields(weft_cache_writer* w, const weft_sim* sim, weft_error* error)
{
    WEFT_ASSERT(w && sim);
    if ((weft_sim_field_count(sim) == 0 && !elements_vary(sim)) || w->fields || w->elements)
    {
        return WEFT_OK;
    }
    if (weft_sim_step_count(sim) > 0)
    {
        return error_set(error, WEFT_BAD_INPUT, w->dir, 0,
                         "the run was started without --fields, and its first frames lack them; go on without, or "
                         "start over with --force");
    }
    w->fields = weft_sim_field_count(sim) > 0;
    w->elements = elements_vary(sim);
    return write_fields(w, sim, error);
}

int weft_cache_writer_has_fields(const weft_cache_writer* w)
{
    WEFT_ASSERT(w);
    return w->fields || w->elements;
}

weft_status weft_cache_writer_step(weft_cache_writer* w, weft_sim* sim, const weft_step_stats* stats, weft_error* error)
{
    char path[PATH_MAX_BYTES];
    bool frame_ends = stats->step % w->steps_per_frame == 0;
    TRY(frame_ends ? run_bodies_follow(&w->bodies, sim, frame_of(w, sim), error) : WEFT_OK);
    put_stats(w, sim, stats);
    bool flushed = fflush(w->stats) == 0;
    if (!flushed || ferror(w->stats))
    {
        errno = flushed ? ENOSPC : errno; // a write inside of a long line has failed, and its reason is lost
        return file_error(error, path_in(w, "stats.jsonl", "", path), "cannot write");
    }
    return frame_ends ? write_frame(w, sim, error) : WEFT_OK;
}

weft_status weft_cache_writer_destroy(weft_cache_writer* w, weft_error* error)
{
    weft_status status = WEFT_OK;
    if (!w)
    {
        return status;
    }
    status = run_bodies_finish(&w->bodies, error);
    if (w->stats && fclose(w->stats) != 0 && status == WEFT_OK)
    {
        status = file_error(error, w->dir, "cannot finish the stats");
    }
    if (w->lock >= 0)
    {
        close(w->lock);
    }
    mem_free(w);
    return status;
}
