// What an export may write to: a name whose ending fits the format, and nothing that a run would miss.
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

// ---- endings

// The format whose files end so, or NULL.
static const export_format* format_of(const char* target)
{
    int k = 0;
    while (export_format_at(k) && !export_has_ending(target, export_format_at(k)->ending))
    {
        k++;
    }
    return export_format_at(k);
}

weft_status export_check_ending(const export_format* format, const char* target, weft_error* error)
{
    // Kin of the formats, and what else Weft reads and writes. `.usd` may be text or a crate: it is a good name for usda
    // and usdc.
    static const char* const others[] = {".gltf", ".pvd",   ".vtk",  ".json", ".jsonl", ".weft",
                                         ".lock", ".field", ".html", ".htm",  ".png",   ".mp4",  NULL};
    const export_format* other = format_of(target);
    if (other == format || (!other && !has_one_of(target, others)))
    {
        return WEFT_OK;
    }
    const char* ending = strrchr(target, '.');
    char remedy[64] = "";
    if (other)
    {
        snprintf(remedy, sizeof(remedy), ", or --to %s", other->name);
    }
    return format->folder ? error_set(error, WEFT_BAD_INPUT, target, 0,
                                      "the format `%s` writes a folder: give the name of one, without %.20s%s",
                                      format->name, ending, remedy)
                          : error_set(error, WEFT_BAD_INPUT, target, 0,
                                      "a file of the format `%s` ends in %s, not in %.20s: give another name%s",
                                      format->name, format->ending, ending, remedy);
}
