// The public calls that read and write linear systems, and files that are written whole or not at all.
#define _POSIX_C_SOURCE 200809L
#include "cache/system_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

weft_status system_path(const char* prefix, const char* ending, char path[PATH_LIMIT], weft_error* error)
{
    int length = snprintf(path, PATH_LIMIT, "%s%s", prefix, ending);
    if (length < 0 || length >= PATH_LIMIT - 8)
    {
        return error_set(error, WEFT_BAD_INPUT, prefix, 0, "the path is too long; use a shorter prefix");
    }
    return WEFT_OK;
}

static weft_status file_sink_fail(const file_sink* sink, int code)
{
    if (code == ENOSPC || code == EDQUOT)
    {
        return error_set(sink->error, WEFT_DISK_FULL, sink->path, 0,
                         "the disk is full; nothing was written under this name: free some space and write again");
    }
    return error_set(sink->error, WEFT_IO, sink->path, 0,
                     "cannot write: %s; check that the folder exists and may be written to", strerror(code));
}

weft_status file_sink_open(file_sink* sink, const char* path, weft_error* error)
{
    *sink = (file_sink){.error = error};
    TRY(system_path(path, "", sink->path, error));
    TRY(system_path(path, ".part", sink->temporary, error));
    sink->stream = fopen(sink->temporary, "wb");
    return sink->stream ? WEFT_OK : file_sink_fail(sink, errno);
}

void file_sink_write(file_sink* sink, const void* bytes, size_t size)
{
    if (size > 0)
    {
        fwrite(bytes, 1, size, sink->stream);
    }
}

weft_status file_sink_close(file_sink* sink)
{
    errno = 0;
    bool failed = ferror(sink->stream) != 0;
    failed = fflush(sink->stream) != 0 || failed;
    failed = fsync(fileno(sink->stream)) != 0 || failed;
    int code = failed ? errno : 0;
    if (fclose(sink->stream) != 0 && !failed)
    {
        failed = true;
        code = errno;
    }
    if (!failed && rename(sink->temporary, sink->path) != 0)
    {
        failed = true;
        code = errno;
    }
    sink->stream = NULL;
    if (!failed)
    {
        return WEFT_OK;
    }
    remove(sink->temporary);
    // A write that failed earlier has lost its code by now; a full disk is what makes writes of open files fail.
    return file_sink_fail(sink, code != 0 ? code : ENOSPC);
}

static weft_status system_read_any(const char* prefix, weft_system* out, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".weftsys", path, error));
    weft_status status = weftsys_read(path, out, error);
    if (status != WEFT_NOT_FOUND)
    {
        return status;
    }
    status = matrix_market_read(prefix, out, error);
    if (status == WEFT_NOT_FOUND)
    {
        return error_set(error, status, prefix, 0,
                         "there is neither %s.weftsys nor %s.mtx; give the path without its ending", prefix, prefix);
    }
    return status;
}

weft_status weft_system_read(const char* prefix, weft_system** out, weft_error* error)
{
    WEFT_ASSERT(prefix && out);
    *out = NULL;
    weft_system* system = MEM_NEW(1, weft_system);
    if (!system)
    {
        return error_set(error, WEFT_NO_MEMORY, prefix, 0, "no memory");
    }
    weft_status status = system_read_any(prefix, system, error);
    if (status != WEFT_OK)
    {
        weft_system_destroy(system);
        return status;
    }
    *out = system;
    return WEFT_OK;
}

weft_status weft_system_write(const weft_system* system, const char* prefix, int binary, weft_error* error)
{
    WEFT_ASSERT(system && prefix);
    if (!binary)
    {
        return matrix_market_write(system, prefix, error);
    }
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".weftsys", path, error));
    return weftsys_write(system, path, error);
}
