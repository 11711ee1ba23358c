// Files that are written whole or not at all: to a temporary name beside the target, then renamed onto it. And files
// that are read whole.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"

weft_status file_error(weft_error* error, const char* path, const char* action)
{
    int code = errno;
    bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    bool folder = code == ENOENT || code == ENOTDIR || code == EACCES || code == EROFS;
    weft_status status = full ? WEFT_DISK_FULL : code == ENOMEM ? WEFT_NO_MEMORY : WEFT_IO;
    return error_set(error, status, path, 0, "%s: %s%s", action, file_reason(code),
                     full     ? "; free some space, then try again (a run goes on with --resume)"
                     : folder ? "; check that the folder exists and may be written to"
                              : "");
}

// Renaming would put a file in the place of a device, and cannot put one in the place of a folder. What a link leads to
// counts.
static weft_status check_target(const char* path, weft_error* error)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
    {
        return WEFT_OK;
    }
    return error_set(error, WEFT_IO, path, 0, "cannot write: this is %s; give the name of a file",
                     S_ISDIR(info.st_mode)    ? "a folder"
                     : S_ISFIFO(info.st_mode) ? "a pipe"
                     : S_ISSOCK(info.st_mode) ? "a socket"
                                              : "a device");
}

weft_status whole_file_open(whole_file* file, const char* path, weft_error* error)
{
    *file = (whole_file){0};
    int length = snprintf(file->path, sizeof(file->path), "%s", path);
    if (length < 0 || length >= (int)sizeof(file->path))
    {
        return error_set(error, WEFT_IO, path, 0, "the path is too long");
    }
    TRY(check_target(file->path, error));
    snprintf(file->temporary, sizeof(file->temporary), "%s.tmp", file->path);
    file->stream = file_stream(file->temporary, FILE_TO_REPLACE);
    return file->stream ? WEFT_OK : file_error(error, path, "cannot write");
}

void whole_file_write(whole_file* file, const void* bytes, size_t size)
{
    if (size > 0)
    {
        fwrite(bytes, 1, size, file->stream);
    }
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
    // A write that failed earlier has lost its code by now; a full disk is what makes writes to open files fail.
    int code = ferror(file->stream) ? ENOSPC : 0;
    if (fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0)
    {
        code = errno;
    }
    if (fclose(file->stream) != 0 && code == 0)
    {
        code = errno;
    }
    file->stream = NULL;
    if (code == 0 && rename(file->temporary, file->path) != 0)
    {
        code = errno;
    }
    if (code == 0)
    {
        return WEFT_OK;
    }
    remove(file->temporary);
    errno = code;
    return file_error(error, file->path, "cannot write");
}

static weft_status read_all(int descriptor, const char* path, void** out, size_t* size, weft_error* error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
    {
        return file_error(error, path, "cannot look at it");
    }
    unsigned char* bytes = mem_raw((size_t)info.st_size, 1);
    *out = bytes;
    if (!bytes)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory to read the file");
    }
    for (*size = 0; *size < (size_t)info.st_size;)
    {
        ssize_t got = read(descriptor, bytes + *size, (size_t)info.st_size - *size);
        if (got < 0 && errno != EINTR)
        {
            return file_error(error, path, "cannot read");
        }
        if (got == 0)
        {
            break; // it became shorter meanwhile
        }
        *size += got > 0 ? (size_t)got : 0;
    }
    return WEFT_OK;
}

weft_status file_read(const char* path, void** out, size_t* size, weft_error* error)
{
    *out = NULL;
    *size = 0;
    int descriptor = file_open(path, FILE_TO_READ);
    if (descriptor < 0)
    {
        return file_read_error(error, path, "cannot read");
    }
    weft_status status = read_all(descriptor, path, out, size, error);
    close(descriptor);
    if (status != WEFT_OK)
    {
        mem_free(*out);
        *out = NULL;
    }
    return status;
}
