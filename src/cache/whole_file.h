// Files that are written whole or not at all: to a temporary name beside the target, then renamed.
#ifndef WEFT_WHOLE_FILE_H
#define WEFT_WHOLE_FILE_H

#include <stdio.h>

#include "core/core.h"

typedef struct whole_file
{
    FILE* stream; // write to it; errors may be looked at only at the end
    char path[4096];
    char temporary[4100];
} whole_file;

weft_status whole_file_open(whole_file* file, const char* path, weft_error* error);
// Flushes, syncs and renames; on any failure the temporary file is removed and an older target stays.
weft_status whole_file_close(whole_file* file, weft_error* error);
void whole_file_abandon(whole_file* file);

// The status and sentence of errno for a path: DISK_FULL, NO_MEMORY or IO.
weft_status file_error(weft_error* error, const char* path, const char* action);

#endif
