// What an export may write to: nothing that a run would miss.
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "export/export.h"

bool export_has_ending(const char* target, const char* ending)
{
    size_t length = strlen(target), end = strlen(ending);
    return length > end && strcasecmp(target + length - end, ending) == 0;
}

static bool has_one_of(const char* target, const char* const* endings)
{
    while (*endings && !export_has_ending(target, *endings))
    {
        endings++;
    }
    return *endings != NULL;
}

// ---- files of runs

bool export_holds_run(const char* folder)
{
    static const char* const marks[] = {"run.lock", "checkpoint.weft", "frames.jsonl", "stats.jsonl"};
    bool found = false;
    for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]) && !found; k++)
    {
        char path[EXPORT_PATH];
        struct stat info;
        found = export_path(folder, marks[k], "", path, NULL) == WEFT_OK && stat(path, &info) == 0;
    }
    return found;
}

static bool same_folder(const char* a, const char* b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

weft_status export_check_file(const export_job* job, const export_format* format, const char* target, weft_error* error)
{
    static const char* const of_runs[] = {".obj", ".pc2", ".field", ".json", ".jsonl", ".weft", ".lock", NULL};
    char folder[EXPORT_PATH];
    struct stat there;
    bool earlier_export = export_has_ending(target, format->ending) && !has_one_of(target, of_runs);
    if (earlier_export || strlen(target) + 2 > sizeof(folder) || stat(target, &there) != 0)
    {
        return WEFT_OK;
    }
    strcpy(folder, target);
    char* slash = strrchr(folder, '/');
    strcpy(slash ? slash + 1 : folder, ".");
    return same_folder(folder, weft_cache_dir(job->cache)) || export_holds_run(folder)
               ? error_set(error, WEFT_EXISTS, target, 0,
                           "this is a file in the folder of a run, which an export does not replace; choose another "
                           "name or another folder")
               : WEFT_OK;
}
