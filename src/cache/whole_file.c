// See whole_file.h.
#define _POSIX_C_SOURCE 200809L
#include "cache/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

weft_status file_error(weft_error* error, const char* path, const char* action)
{
    int code = errno;
    bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    weft_status status = full ? WEFT_DISK_FULL : code == ENOMEM ? WEFT_NO_MEMORY : WEFT_IO;
    return error_set(error, status, path, 0, "%s: %s%s", action, strerror(code),
                     full ? "; free some space and go on with --resume" : "");
}

weft_status whole_file_open(whole_file* file, const char* path, weft_error* error)
{
    *file = (whole_file){0};
    int length = snprintf(file->path, sizeof(file->path), "%s", path);
    if (length >= (int)sizeof(file->path))
    {
        return error_set(error, WEFT_IO, path, 0, "the path is too long");
    }
    snprintf(file->temporary, sizeof(file->temporary), "%s.tmp", file->path);
    file->stream = fopen(file->temporary, "wb");
    return file->stream ? WEFT_OK : file_error(error, path, "cannot write");
}

void whole_file_abandon(whole_file* file)
{
    if (file->stream)
    {
        fclose(file->stream);
        file->stream = NULL;
        remove(file->temporary);
    }
}

weft_status whole_file_close(whole_file* file, weft_error* error)
{
    bool good = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;
    int code = errno;
    good = fclose(file->stream) == 0 && good;
    code = good ? 0 : code ? code : errno;
    file->stream = NULL;
    if (good && rename(file->temporary, file->path) == 0)
    {
        return WEFT_OK;
    }
    errno = code ? code : errno;
    weft_status status = file_error(error, file->path, "cannot write");
    remove(file->temporary);
    return status;
}
