// See scene_file.h. The only file of this room that touches jansson.
#define _POSIX_C_SOURCE 200809L
#include "cache/scene_file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static void add_names(scene_file* file, const json_t* list, int* capacity)
{
    size_t index;
    json_t* item;
    json_array_foreach(list, index, item)
    {
        const char* name = json_string_value(json_object_get(item, "name"));
        char* copy = name ? mem_strdup(name) : NULL;
        if (copy && mem_grow((void**)&file->names, capacity, file->name_count + 1, sizeof(char*)))
        {
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
    json_t* scene = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? json_load_file(path, 0, NULL) : NULL;
    int capacity = 0;
    add_names(&file, json_object_get(scene, "cloth"), &capacity);
    file.cloth_count = file.name_count;
    add_names(&file, json_object_get(scene, "obstacles"), &capacity);
    double time_step = json_number_value(json_object_get(scene, "time_step"));
    double steps = json_number_value(json_object_get(scene, "steps_per_frame"));
    double rate = 1.0 / (time_step * steps);
    file.frame_rate = time_step > 0.0 && steps >= 1.0 && isfinite(rate) ? rate : 0.0;
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
