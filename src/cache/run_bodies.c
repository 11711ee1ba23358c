// See run_bodies.h. A body is found again by the simulation's id, which is never given twice; its files by a name that
// no other body of the run has had. On a body's files: a PC2 file without samples, and an OBJ file that says whose it
// is, are what a run that was killed has left of a topology that it never listed; any other file that is in the way is
// the user's.
#define _POSIX_C_SOURCE 200809L
#include "cache/run_bodies.h"

#include <string.h>
#include <sys/stat.h>

#include "cache/body_files.h"

static weft_status no_memory(weft_error* error)
{
    return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
}

// ---- bodies of the simulation

int run_body_index(const weft_sim* sim, const run_body* b)
{
    return b->obstacle ? sim->body_count + b->id : b->id;
}

static bool is_removed(const weft_sim* sim, int index)
{
    const obstacle* o = obstacle_of(sim, index);
    return o ? o->removed : sim->bodies[index].removed;
}

// Whether the scene as given has it; others came by edits.
static bool is_of_scene(const weft_sim* sim, const run_body* b)
{
    int count = b->obstacle ? sim->edits.obstacle_count : sim->edits.body_count;
    return !sim->edits.begun || b->id < count;
}

static int changes_of(const weft_sim* sim, int index)
{
    return obstacle_of(sim, index) ? 0 : sim->bodies[index].topology;
}

static run_body body_at(const weft_sim* sim, int index)
{
    bool obstacle = index >= sim->body_count;
    return (run_body){.obstacle = obstacle, .id = obstacle ? index - sim->body_count : index};
}

// ---- the list

static run_body* find(const run_bodies* list, const run_body* wanted)
{
    for (int k = 0; k < list->count; k++)
    {
        run_body* b = &list->items[k];
        if (b->obstacle == wanted->obstacle && b->id == wanted->id)
        {
            return b;
        }
    }
    return NULL;
}

static bool name_is_used(const run_bodies* list, const char* name)
{
    for (int k = 0; k < list->count; k++)
    {
        if (strcmp(list->items[k].name, name) == 0)
        {
            return true;
        }
    }
    return false;
}

// The body's own name, or NAME-2, NAME-3 and so on.
static char* free_name(const run_bodies* list, const char* own)
{
    char name[128];
    snprintf(name, sizeof(name), "%.100s", own);
    for (int k = 2; name_is_used(list, name); k++)
    {
        snprintf(name, sizeof(name), "%.100s-%d", own, k);
    }
    return mem_strdup(name);
}

static weft_status list_add(run_bodies* list, const weft_sim* sim, run_body entry, char* name, run_body** out,
                            weft_error* error)
{
    int index = run_body_index(sim, &entry), points = is_removed(sim, index) ? 0 : body_points(sim, index);
    entry.name = name;
    if (!name || !mem_grow((void**)&list->items, &list->capacity, list->count + 1, sizeof(run_body)) ||
        !mem_grow((void**)&list->sample, &list->sample_capacity, points, sizeof(vec3)))
    {
        mem_free(name);
        return no_memory(error);
    }
    entry.points = entry.first_points = points;
    entry.changes = changes_of(sim, index);
    *out = &list->items[list->count++];
    **out = entry;
    return WEFT_OK;
}

const char* run_bodies_name(const run_bodies* list, const weft_sim* sim, int index)
{
    run_body wanted = body_at(sim, index);
    const run_body* b = find(list, &wanted);
    return b ? b->name : NULL;
}

// ---- files

static bool exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static bool is_empty_cache(const char* path)
{
    pc2* samples = NULL;
    bool empty = pc2_open(path, &samples, NULL) == WEFT_OK && pc2_sample_count(samples) == 0;
    pc2_close(samples, NULL);
    return empty;
}

static bool is_own_obj(const char* path, const char* name)
{
    char line[256] = "", cloth[160], body[160];
    FILE* file = file_stream(path, FILE_TO_READ);
    bool read = file && fgets(line, sizeof(line), file);
    file ? (void)fclose(file) : (void)0;
    int length = snprintf(cloth, sizeof(cloth), "# rest shape of %s,", name);
    int other = snprintf(body, sizeof(body), "# obstacle of %s,", name);
    return read && (strncmp(line, cloth, (size_t)length) == 0 || strncmp(line, body, (size_t)other) == 0);
}

// The OBJ file and an empty cache for the topology that is about to begin.
static weft_status write_files(const run_bodies* list, const weft_sim* sim, run_body* b, bool anew, weft_error* error)
{
    int index = run_body_index(sim, b);
    char* obj = topology_path(list->dir, b->name, b->topology, ".obj");
    char* points = topology_path(list->dir, b->name, b->topology, ".pc2");
    char* ele = topology_path(list->dir, b->name, b->topology, ".ele");
    weft_status status = obj && points && ele ? WEFT_OK : no_memory(error);
    const char* foreign = status != WEFT_OK || anew                                ? NULL
                          : exists(points) && !is_empty_cache(points)              ? points
                          : exists(obj) && !is_own_obj(obj, body_name(sim, index)) ? obj
                                                                                   : NULL;
    if (foreign)
    {
        status = error_set(error, WEFT_EXISTS, foreign, 0,
                           "the run would write this file, and no run made it; move it away, and go on with --resume");
    }
    status = status == WEFT_OK ? body_obj_write(obj, sim, index, error) : status;
    status = status == WEFT_OK && body_is_solid(sim, index) ? body_ele_write(ele, sim, index, error) : status;
    if (status == WEFT_OK && body_moves(sim, index))
    {
        status = pc2_create(points, b->points, (float)b->start, &b->samples, error);
    }
    mem_free(obj);
    mem_free(points);
    mem_free(ele);
    return status;
}

// ---- changes

static weft_status add_line(const run_bodies* list, const run_body* b, topology_change change, weft_error* error)
{
    change.body = b->name;
    return topology_changes_append(list->dir, &change, error);
}

static weft_status comes(run_bodies* list, const weft_sim* sim, int index, int frame, weft_error* error)
{
    run_body entry = body_at(sim, index), *b;
    entry.from = entry.start = frame;
    TRY(list_add(list, sim, entry, free_name(list, body_name(sim, index)), &b, error));
    bool scene = is_of_scene(sim, b);
    TRY(write_files(list, sim, b, scene, error));
    const obstacle* o = obstacle_of(sim, index);
    topology_change change = {.kind = CHANGE_COMES, .frame = frame, .id = b->id};
    change.list = (char*)(o ? change_obstacles : sim->bodies[index].kind->name);
    change.thickness = o ? o->thickness : sim->bodies[index].thickness;
    return scene ? WEFT_OK : add_line(list, b, change, error);
}

static weft_status goes(run_bodies* list, run_body* b, int frame, weft_error* error)
{
    b->gone = true;
    TRY(add_line(list, b, (topology_change){.kind = CHANGE_GOES, .frame = frame}, error));
    weft_status status = pc2_close(b->samples, error);
    b->samples = NULL;
    return status;
}

// The first output that shows a vertex.
static int output_of(const body* cloth, int vertex)
{
    if (vertex >= cloth->came_with)
    {
        return cloth->output_count - cloth->torn_count + vertex - cloth->came_with;
    }
    int k = 0;
    while (cloth->outputs && cloth->outputs[k] != vertex)
    {
        k++;
    }
    return cloth->outputs ? k : vertex;
}

// What the new vertices were torn off from, in the topology that the files have: several tears may lie between frames.
static int* copies_since(const body* cloth, int count)
{
    int* copies = MEM_NEW((size_t)count + 1, int);
    int before = cloth->came_with + cloth->torn_count - count; // vertices of that topology
    for (int k = 0; k < count && copies; k++)
    {
        int from = before + k;
        while (from >= before)
        {
            from = cloth->torn_from[from - cloth->came_with];
        }
        copies[k] = output_of(cloth, from);
    }
    return copies;
}

static weft_status tears(run_bodies* list, const weft_sim* sim, run_body* b, int frame, weft_error* error)
{
    const body* cloth = &sim->bodies[b->id];
    int before = b->points, count = cloth->output_count - before;
    int* copies = copies_since(cloth, count);
    if (!copies || !mem_grow((void**)&list->sample, &list->sample_capacity, cloth->output_count, sizeof(vec3)))
    {
        mem_free(copies);
        return no_memory(error);
    }
    weft_status status = pc2_close(b->samples, error);
    b->samples = NULL;
    b->topology++;
    b->start = frame;
    b->points = cloth->output_count;
    b->changes = cloth->topology;
    status = status == WEFT_OK ? write_files(list, sim, b, false, error) : status;
    topology_change change = {CHANGE_TEARS, .frame = frame, .topology = b->topology, .copies = copies};
    change.copy_count = count;
    status = status == WEFT_OK ? add_line(list, b, change, error) : status;
    mem_free(copies);
    return status;
}

weft_status run_bodies_follow(run_bodies* list, const weft_sim* sim, int frame, weft_error* error)
{
    for (int k = 0; k < list->count; k++)
    {
        run_body* b = &list->items[k];
        int index = run_body_index(sim, b);
        if (!b->gone && is_removed(sim, index))
        {
            TRY(goes(list, b, frame, error));
        }
        else if (!b->gone && b->changes != changes_of(sim, index))
        {
            TRY(tears(list, sim, b, frame, error));
        }
    }
    for (int k = 0; k < body_total(sim); k++)
    {
        run_body wanted = body_at(sim, k);
        if (!is_removed(sim, k) && !find(list, &wanted))
        {
            TRY(comes(list, sim, k, frame, error));
        }
    }
    return WEFT_OK;
}

weft_status run_bodies_start(run_bodies* list, const weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < body_total(sim); k++)
    {
        run_body entry = body_at(sim, k), *b;
        if (is_removed(sim, k) && is_of_scene(sim, &entry))
        {
            TRY(list_add(list, sim, entry, free_name(list, body_name(sim, k)), &b, error));
            TRY(goes(list, b, 0, error));
        }
        else if (!is_removed(sim, k))
        {
            TRY(comes(list, sim, k, 0, error));
        }
    }
    return WEFT_OK;
}

// Obstacles first: a sample that cannot be read ends the run before the cloth is written.
weft_status run_bodies_sample(run_bodies* list, weft_sim* sim, weft_error* error)
{
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = list->count - 1; k >= 0; k--)
        {
            run_body* b = &list->items[k];
            if (!b->samples || b->obstacle != (pass == 0))
            {
                continue;
            }
            b->obstacle ? (void)0 : weft_sim_positions(sim, b->id, list->sample);
            TRY(b->obstacle ? obstacle_positions(&sim->obstacles[b->id], weft_sim_time(sim), list->sample, error)
                            : WEFT_OK);
            b->obstacle ? body_show(&sim->obstacles[b->id].mesh, list->sample) : (void)0;
            TRY(pc2_append(b->samples, list->sample, error));
        }
    }
    return WEFT_OK;
}

// ---- resuming

static weft_status disagree(const run_bodies* list, const char* name, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, list->dir, 0,
                     "the checkpoint and frames.jsonl do not agree on the body `%.100s`: they are not of one run; "
                     "start over with --force",
                     name);
}

// Bodies as the lines up to a frame have them.
static weft_status take_lines(run_bodies* list, const weft_sim* sim, const topology_changes* changes, int frame,
                              weft_error* error)
{
    for (int k = 0; k < changes->count && changes->items[k].frame <= frame; k++)
    {
        const topology_change* change = &changes->items[k];
        if (change->kind == CHANGE_COMES)
        {
            run_body entry = {.obstacle = strcmp(change->list, change_obstacles) == 0, .id = change->id};
            entry.from = entry.start = change->frame;
            bool known = change->id < (entry.obstacle ? sim->obstacle_count : sim->body_count);
            TRY(known && !find(list, &entry) && !name_is_used(list, change->body)
                    ? WEFT_OK
                    : disagree(list, change->body, error));
            run_body* added;
            TRY(list_add(list, sim, entry, mem_strdup(change->body), &added, error));
            continue;
        }
        run_body* b = list->items;
        while (b < list->items + list->count && strcmp(b->name, change->body) != 0)
        {
            b++;
        }
        TRY(b < list->items + list->count ? WEFT_OK : disagree(list, change->body, error));
        b->gone = b->gone || change->kind == CHANGE_GOES;
        if (change->kind == CHANGE_TEARS)
        {
            b->topology = change->topology;
            b->start = change->frame;
            b->first_points -= change->copy_count;
        }
    }
    return WEFT_OK;
}

static weft_status check_agrees(const run_bodies* list, const weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < body_total(sim); k++)
    {
        run_body wanted = body_at(sim, k);
        const run_body* b = find(list, &wanted);
        TRY(is_removed(sim, k) == (!b || b->gone) ? WEFT_OK : disagree(list, body_name(sim, k), error));
    }
    return WEFT_OK;
}

static weft_status open_cache(const run_bodies* list, const weft_sim* sim, run_body* b, int frame, weft_error* error)
{
    if (b->gone || !body_moves(sim, run_body_index(sim, b)))
    {
        return WEFT_OK;
    }
    char* path = topology_path(list->dir, b->name, b->topology, ".pc2");
    weft_status status = path ? pc2_open_append(path, b->points, &b->samples, error) : no_memory(error);
    int count = frame - b->start + 1;
    if (status == WEFT_OK && pc2_sample_count(b->samples) < count)
    {
        status = error_set(error, WEFT_BAD_INPUT, path, 0,
                           "the cache is shorter than the checkpoint says; start over with --force");
    }
    status = status == WEFT_OK ? pc2_cut(b->samples, count, error) : status;
    mem_free(path);
    return status;
}

// Empties what came after a frame, so that the lines can go, or removes it when they are gone. Names without a file, or
// of one that is no cache, are nothing to empty.
static weft_status drop_later(const run_bodies* list, const topology_changes* changes, int frame, bool files,
                              weft_error* error)
{
    static const char* const endings[] = {".pc2", ".obj", ".ele"};
    weft_status status = WEFT_OK;
    for (int k = 0; k < changes->count && status == WEFT_OK; k++)
    {
        const topology_change* change = &changes->items[k];
        bool later = change->frame > frame && change->kind != CHANGE_GOES;
        for (int e = 0; e < (files ? 3 : 1) && later && status == WEFT_OK; e++)
        {
            char* path = topology_path(list->dir, change->body, change->topology, endings[e]);
            pc2* samples = NULL;
            status = path ? WEFT_OK : no_memory(error);
            if (path && files)
            {
                remove(path);
            }
            else if (path && pc2_open(path, &samples, NULL) == WEFT_OK)
            {
                int points = pc2_point_count(samples);
                pc2_close(samples, NULL);
                samples = NULL;
                status = pc2_open_append(path, points, &samples, error);
                status = status == WEFT_OK ? pc2_cut(samples, 0, error) : status;
            }
            pc2_close(samples, NULL);
            mem_free(path);
        }
    }
    return status;
}

static weft_status resume_with(run_bodies* list, const weft_sim* sim, const topology_changes* changes, int frame,
                               weft_error* error)
{
    for (int k = 0; k < body_total(sim); k++)
    {
        run_body entry = body_at(sim, k), *b;
        char* name = is_of_scene(sim, &entry) ? free_name(list, body_name(sim, k)) : NULL;
        TRY(is_of_scene(sim, &entry) ? list_add(list, sim, entry, name, &b, error) : WEFT_OK);
    }
    TRY(take_lines(list, sim, changes, frame, error));
    TRY(check_agrees(list, sim, error));
    for (int k = 0; k < list->count; k++)
    {
        TRY(open_cache(list, sim, &list->items[k], frame, error));
    }
    // Samples without a line are refused by readers, lines without files too: in this order a kill leaves neither.
    TRY(drop_later(list, changes, frame, false, error));
    TRY(topology_changes_cut(changes, frame, error));
    return drop_later(list, changes, frame, true, error);
}

weft_status run_bodies_resume(run_bodies* list, const weft_sim* sim, int frame, weft_error* error)
{
    topology_changes changes;
    TRY(topology_changes_read(list->dir, &changes, error));
    weft_status status = resume_with(list, sim, &changes, frame, error);
    topology_changes_finish(&changes);
    return status;
}

weft_status run_bodies_finish(run_bodies* list, weft_error* error)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < list->count; k++)
    {
        weft_status closed = pc2_close(list->items[k].samples, status == WEFT_OK ? error : NULL);
        status = status == WEFT_OK ? closed : status;
        mem_free(list->items[k].name);
    }
    mem_free(list->items);
    mem_free(list->sample);
    *list = (run_bodies){0};
    return status;
}
