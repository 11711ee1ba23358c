// See scene_file.h. With squeezed.c and changes.c the only file of this room that touches jansson.
#define _POSIX_C_SOURCE 200809L
#include "cache/scene_file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/body_kind.h"

static bool item_moves(const json_t* item, bool cloth)
{
    const json_t* path = json_object_get(json_object_get(item, "motion"), "path");
    return cloth || json_array_size(path) > 0 || json_is_object(json_object_get(item, "deform"));
}

static double item_thickness(const json_t* item)
{
    const json_t* radius = json_object_get(item, "radius"); // of strands
    double value = radius ? 2.0 * json_number_value(radius) : json_number_value(json_object_get(item, "thickness"));
    return value > 0.0 && isfinite(value) ? value : 0.0;
}

// capacity is that of each array: one may have grown where there was no memory for another. kind NULL: obstacles.
static void add_names(scene_file* file, const json_t* list, const body_kind* kind, int capacity[4])
{
    size_t index;
    json_t* item;
    json_array_foreach(list, index, item)
    {
        const char* name = json_string_value(json_object_get(item, "name"));
        char* copy = name ? mem_strdup(name) : NULL;
        if (copy && mem_grow((void**)&file->names, &capacity[0], file->name_count + 1, sizeof(char*)) &&
            mem_grow((void**)&file->moves, &capacity[1], file->name_count + 1, sizeof(bool)) &&
            mem_grow((void**)&file->thickness, &capacity[2], file->name_count + 1, sizeof(double)) &&
            mem_grow((void**)&file->solid, &capacity[3], file->name_count + 1, sizeof(bool)))
        {
            file->solid[file->name_count] = kind && kind->form == MESH_SOLID;
            file->thickness[file->name_count] = item_thickness(item);
            file->moves[file->name_count] = item_moves(item, kind != NULL);
            file->names[file->name_count++] = copy;
        }
        else
        {
            mem_free(copy);
        }
    }
}

scene_file scene_file_read(const char* path)
{
    scene_file file = {0};
    struct stat info;
    bool there = stat(path, &info) == 0;
    json_t* scene = there && S_ISREG(info.st_mode) ? json_load_file(path, 0, NULL) : NULL;
    int capacity[4] = {0};
    for (const body_kind* const* kind = body_table; *kind; kind++)
    {
        add_names(&file, json_object_get(scene, (*kind)->name), *kind, capacity);
    }
    file.cloth_count = file.name_count;
    add_names(&file, json_object_get(scene, "obstacles"), NULL, capacity);
    file.damaged = there && file.cloth_count == 0;
    double time_step = json_number_value(json_object_get(scene, "time_step"));
    double steps = json_number_value(json_object_get(scene, "steps_per_frame"));
    double rate = 1.0 / (time_step * steps);
    file.frame_rate = time_step > 0.0 && steps >= 1.0 && isfinite(rate) ? rate : 0.0;
    const char* start = json_string_value(json_object_get(scene, "initial_contact"));
    file.settles = start && strcmp(start, "settle") == 0;
    json_decref(scene);
    return file;
}

void scene_file_finish(scene_file* file)
{
    for (int k = 0; k < file->name_count; k++)
    {
        mem_free(file->names[k]);
    }
    mem_free(file->names);
    mem_free(file->moves);
    mem_free(file->thickness);
    mem_free(file->solid);
    *file = (scene_file){0};
}

int scene_file_find(const scene_file* file, const char* name)
{
    for (int k = 0; k < file->name_count; k++)
    {
        if (strcmp(file->names[k], name) == 0)
        {
            return k;
        }
    }
    return -1;
}
