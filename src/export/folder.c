// Targets that are folders: made as TARGET.weft-tmp beside the target and renamed when all is there, so that a folder
// of the final name is whole. A list of the files that were written goes with it, so that a later export knows what it
// may replace. Folders are flat.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"

static const char list_name[] = "weft-export.txt";

// ---- names in a folder

typedef struct names
{
    char** items; // [count] sorted
    int count, capacity;
} names;

static void names_finish(names* n)
{
    for (int k = 0; k < n->count; k++)
    {
        mem_free(n->items[k]);
    }
    mem_free(n->items);
}

static bool names_add(names* n, const char* name)
{
    char* copy = mem_strdup(name);
    if (!copy || !mem_grow((void**)&n->items, &n->capacity, n->count + 1, sizeof(char*)))
    {
        mem_free(copy);
        return false;
    }
    n->items[n->count++] = copy;
    return true;
}

static int compare_names(const void* a, const void* b)
{
    return strcmp(*(char* const*)a, *(char* const*)b);
}

static bool names_have(const names* n, const char* name)
{
    return bsearch(&name, n->items, (size_t)n->count, sizeof(char*), compare_names) != NULL;
}

static void names_sort(names* n)
{
    if (n->count > 1)
    {
        qsort(n->items, (size_t)n->count, sizeof(char*), compare_names);
    }
}

static weft_status no_memory(const char* path, weft_error* error)
{
    return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to list the folder");
}

// What is in a folder, sorted.
static weft_status names_of_folder(const char* path, names* out, weft_error* error)
{
    DIR* folder = opendir(path);
    if (!folder)
    {
        return file_error(error, path, "the folder cannot be read");
    }
    bool room = true;
    for (struct dirent* entry = readdir(folder); entry && room; entry = readdir(folder))
    {
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        room = dots || names_add(out, entry->d_name);
    }
    closedir(folder);
    names_sort(out);
    return room ? WEFT_OK : no_memory(path, error);
}

// What an export has listed, a name a line behind the first line; nothing where there is no list.
static weft_status names_of_list(const char* path, names* out, weft_error* error)
{
    FILE* file = file_stream(path, FILE_TO_READ);
    char line[1024];
    bool room = true, heading = true;
    while (file && room && fgets(line, sizeof(line), file))
    {
        line[strcspn(line, "\n")] = 0;
        room = heading || names_add(out, line);
        heading = false;
    }
    if (file)
    {
        fclose(file);
    }
    names_sort(out);
    return room ? WEFT_OK : no_memory(path, error);
}

// ---- removing

// Files of a flat folder and the folder. False: something else is in it.
static bool remove_flat(const char* path)
{
    names inside = {0};
    char file[EXPORT_PATH];
    bool gone = names_of_folder(path, &inside, NULL) == WEFT_OK;
    for (int k = 0; k < inside.count && gone; k++)
    {
        gone = export_path(path, inside.items[k], "", file, NULL) == WEFT_OK && unlink(file) == 0;
    }
    names_finish(&inside);
    return gone && rmdir(path) == 0;
}

void export_folder_abandon(const char* temporary)
{
    remove_flat(temporary);
}

// ---- the target

static weft_status check_listed(const char* target, const names* inside, weft_error* error)
{
    names listed = {0};
    char path[EXPORT_PATH];
    weft_status status = export_path(target, list_name, "", path, error);
    status = status == WEFT_OK ? names_of_list(path, &listed, error) : status;
    for (int k = 0; k < inside->count && status == WEFT_OK; k++)
    {
        const char* name = inside->items[k];
        if (strcmp(name, list_name) != 0 && !names_have(&listed, name))
        {
            status =
                error_set(error, WEFT_EXISTS, target, 0,
                          "the folder holds `%.100s`, which no export made: move it away, or give another name", name);
        }
    }
    names_finish(&listed);
    return status;
}

static weft_status check_target(const char* target, bool force, weft_error* error)
{
    struct stat info;
    if (lstat(target, &info) != 0)
    {
        return WEFT_OK;
    }
    if (!S_ISDIR(info.st_mode))
    {
        return error_set(error, WEFT_EXISTS, target, 0,
                         "this is there and is no folder: the format writes several files; give the name of a folder");
    }
    if (export_holds_run(target))
    {
        return error_set(error, WEFT_EXISTS, target, 0,
                         "this is the folder of a run, which an export does not replace: give another name");
    }
    names inside = {0};
    weft_status status = names_of_folder(target, &inside, error);
    if (status == WEFT_OK && inside.count > 0)
    {
        status = force
                     ? check_listed(target, &inside, error)
                     : error_set(error, WEFT_EXISTS, target, 0,
                                 "the folder is not empty: give another name, or --force to replace an earlier export");
    }
    names_finish(&inside);
    return status;
}

// Without slashes at the end, so that another name stands beside it.
static weft_status beside(const char* target, const char* ending, char path[EXPORT_PATH], weft_error* error)
{
    size_t length = strlen(target);
    while (length > 1 && target[length - 1] == '/')
    {
        length--;
    }
    int size = snprintf(path, EXPORT_PATH, "%.*s%s", (int)int_min((int)length, EXPORT_PATH), target, ending);
    return size < EXPORT_PATH ? WEFT_OK : error_set(error, WEFT_IO, target, 0, "the path is too long");
}

weft_status export_folder_begin(const char* target, bool force, char temporary[EXPORT_PATH], weft_error* error)
{
    TRY(check_target(target, force, error));
    TRY(beside(target, ".weft-tmp", temporary, error));
    if (mkdir(temporary, 0777) == 0)
    {
        return WEFT_OK;
    }
    // What a killed export has left is in the way.
    if (errno == EEXIST && remove_flat(temporary) && mkdir(temporary, 0777) == 0)
    {
        return WEFT_OK;
    }
    return file_error(error, target, "the folder cannot be made");
}

// ---- the end

static weft_status write_list(const char* folder, const names* inside, const export_job* job, weft_error* error)
{
    char path[EXPORT_PATH];
    whole_file file;
    TRY(export_path(folder, list_name, "", path, error));
    TRY(whole_file_open(&file, path, error));
    print_to(file.stream,
             "Made by weft export %s: format %s, %d frames, %.9g a second, up %c. --force replaces these files:\n",
             weft_version(), job->def->format, job->frame_count, job->frame_rate, job->def->up);
    for (int k = 0; k < inside->count; k++)
    {
        fprintf(file.stream, "%s\n", inside->items[k]);
    }
    return whole_file_close(&file, error);
}

static weft_status count_files(const char* folder, const names* inside, weft_export_stats* stats, weft_error* error)
{
    for (int k = 0; k < inside->count; k++)
    {
        char path[EXPORT_PATH];
        struct stat info;
        TRY(export_path(folder, inside->items[k], "", path, error));
        stats->files++;
        stats->bytes += stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
    }
    return WEFT_OK;
}

// An earlier folder steps aside first: it is gone only when the new one is in place.
static weft_status put_in_place(const char* temporary, const char* target, weft_error* error)
{
    char place[EXPORT_PATH], old[EXPORT_PATH];
    TRY(beside(target, "", place, error));
    if (rename(temporary, place) == 0) // there is none, or an empty one
    {
        return WEFT_OK;
    }
    TRY(beside(target, ".weft-old", old, error));
    if ((errno != ENOTEMPTY && errno != EEXIST) || rename(place, old) != 0)
    {
        return file_error(error, target, "the folder cannot be put in place");
    }
    if (rename(temporary, place) != 0)
    {
        weft_status status = file_error(error, target, "the folder cannot be put in place");
        rename(old, place);
        return status;
    }
    remove_flat(old);
    return WEFT_OK;
}

weft_status export_folder_end(const char* temporary, const char* target, const export_job* job,
                              weft_export_stats* stats, weft_error* error)
{
    names inside = {0};
    weft_status status = names_of_folder(temporary, &inside, error);
    status = status == WEFT_OK ? count_files(temporary, &inside, stats, error) : status;
    status = status == WEFT_OK ? write_list(temporary, &inside, job, error) : status;
    names_finish(&inside);
    return status == WEFT_OK ? put_in_place(temporary, target, error) : status;
}
