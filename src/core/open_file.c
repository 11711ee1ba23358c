// How files are opened. A run's folder may come from a stranger: what is written is never written through a link, what
// is read or written is a plain file, and no pipe makes anybody wait.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"

static const struct
{
    int flags;
    const char* mode; // of its stream
} uses[] = {
    [FILE_TO_READ] = {O_RDONLY, "rb"},
    [FILE_TO_MAKE] = {O_RDWR | O_CREAT | O_NOFOLLOW, "w+b"},
    [FILE_TO_REPLACE] = {O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, "w+b"},
    [FILE_TO_CHANGE] = {O_RDWR | O_NOFOLLOW, "r+b"},
    [FILE_TO_EXTEND] = {O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, "ab"},
};

static int check_opened(int descriptor, file_use use)
{
    struct stat info;
    int code = fstat(descriptor, &info) != 0          ? errno
               : S_ISDIR(info.st_mode)                ? EISDIR
               : !S_ISREG(info.st_mode)               ? ENOTSUP
               : use != FILE_TO_MAKE                  ? 0
               : ftruncate(descriptor, (off_t)0) != 0 ? errno
                                                      : 0;
    if (code == 0)
    {
        return descriptor;
    }
    close(descriptor);
    errno = code;
    return -1;
}

int file_open(const char* path, file_use use)
{
    struct stat info;
    bool is_left = use == FILE_TO_REPLACE && lstat(path, &info) == 0 && !S_ISDIR(info.st_mode);
    if (is_left && unlink(path) != 0)
    {
        return -1;
    }
    int descriptor;
    do
    {
        // Without O_NONBLOCK, opening a pipe waits for its other end; plain files do not know it.
        descriptor = open(path, uses[use].flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0 && errno == ENXIO) // a socket, or a pipe without a reader
    {
        errno = ENOTSUP;
    }
    return descriptor < 0 ? -1 : check_opened(descriptor, use);
}

FILE* file_stream(const char* path, file_use use)
{
    int descriptor = file_open(path, use);
    FILE* stream = descriptor < 0 ? NULL : fdopen(descriptor, uses[use].mode);
    if (!stream && descriptor >= 0)
    {
        int code = errno;
        close(descriptor);
        errno = code;
    }
    return stream;
}

weft_status file_read_error(weft_error* error, const char* path, const char* action)
{
    int code = errno;
    weft_status status = code == ENOENT || code == ENOTDIR   ? WEFT_NOT_FOUND
                         : code == ENOTSUP || code == EISDIR ? WEFT_BAD_INPUT
                                                             : WEFT_IO;
    return error_set(error, status, path, 0, "%s: %s", action, file_reason(code));
}

const char* file_reason(int code)
{
    return code == ELOOP     ? "this is a symbolic link, and nothing is written through links; remove it, or choose "
                               "another folder"
           : code == ENOTSUP ? "this is no plain file but a pipe, a socket or a device; move it away"
                             : strerror(code);
}
