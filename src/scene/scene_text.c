// The text of a scene file before it is parsed: reading it from disk, and blanking comments out of it.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scene/tree.h"

// A file that is not there or may not be read is the caller's to mend; the rest is the machine's failure.
static weft_status text_system_error(const char* path, const char* what, int code, weft_error* error)
{
    char reason[128] = "";
    if (strerror_r(code, reason, sizeof(reason)) != 0)
    {
        snprintf(reason, sizeof(reason), "error %d", code);
    }
    bool machine = code == EIO || code == EMFILE || code == ENFILE || code == ENOMEM;
    weft_status status = code == ENOENT || code == ENOTDIR ? WEFT_NOT_FOUND : machine ? WEFT_IO : WEFT_BAD_INPUT;
    return error_set(error, status, path, 0, "cannot %s this scene file: %s", what, reason);
}

// Only plain files are read: a folder has no text, and a pipe or a device might never end.
static weft_status text_check_kind(const char* path, const struct stat* info, weft_error* error)
{
    if (S_ISDIR(info->st_mode))
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "this is a folder, not a scene file; for a run's folder name the scene.json inside it");
    }
    if (!S_ISREG(info->st_mode))
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "this is a pipe or a device, not a scene file; save the scene to a file first");
    }
    return WEFT_OK;
}

// The size that a file says it has is a hint only: some grow while they are read.
static weft_status text_read_all(int descriptor, const char* path, char** out, size_t* out_size, weft_error* error)
{
    int capacity = 0;
    size_t used = 0;
    for (;;)
    {
        if (used > SCENE_BYTES_MAX)
        {
            return error_set(error, WEFT_BAD_INPUT, path, 0,
                             "the file is larger than %d MiB; a scene names its meshes as OBJ files instead",
                             SCENE_BYTES_MAX >> 20);
        }
        if (!mem_grow((void**)out, &capacity, (int)used + (1 << 16) + 1, 1))
        {
            return error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory to read the file");
        }
        ssize_t got = read(descriptor, *out + used, (size_t)capacity - used - 1);
        if (got < 0 && errno == EINTR)
        {
            continue;
        }
        if (got < 0)
        {
            return text_system_error(path, "read", errno, error);
        }
        if (got == 0)
        {
            (*out)[used] = '\0';
            *out_size = used;
            return WEFT_OK;
        }
        used += (size_t)got;
    }
}

weft_status text_read(const char* path, char** out, size_t* out_size, weft_error* error)
{
    *out = NULL;
    // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
    {
        return text_system_error(path, "open", errno, error);
    }
    struct stat info;
    weft_status status = fstat(descriptor, &info) == 0 ? text_check_kind(path, &info, error)
                                                       : text_system_error(path, "look at", errno, error);
    if (status == WEFT_OK)
    {
        status = text_read_all(descriptor, path, out, out_size, error);
    }
    close(descriptor);
    if (status != WEFT_OK)
    {
        mem_free(*out);
        *out = NULL;
    }
    return status;
}

void text_position(const char* text, size_t offset, int* line, int* column)
{
    *line = 1;
    *column = 1;
    for (size_t k = 0; k < offset; k++)
    {
        if (text[k] == '\n')
        {
            ++*line;
            *column = 1;
        }
        else if (((unsigned char)text[k] & 0xC0) != 0x80) // UTF-8: count characters, not bytes
        {
            ++*column;
        }
    }
}

// The offset after the string that starts at `begin`, or size when it does not end.
static size_t text_skip_string(const char* text, size_t begin, size_t size)
{
    size_t k = begin + 1;
    while (k < size && text[k] != '"' && text[k] != '\n')
    {
        k += text[k] == '\\' && k + 1 < size ? 2 : 1;
    }
    return k < size ? k + 1 : size;
}

// The offset after the comment that starts at `begin`; 0 when it does not end.
static size_t text_comment_end(const char* text, size_t begin, size_t size)
{
    bool block = text[begin + 1] == '*';
    for (size_t k = begin + 2; k < size; k++)
    {
        if (!block && text[k] == '\n')
        {
            return k;
        }
        if (block && text[k] == '*' && k + 1 < size && text[k + 1] == '/')
        {
            return k + 2;
        }
    }
    return block ? 0 : size;
}

static void text_fill_blank(char* text, size_t begin, size_t end)
{
    for (size_t k = begin; k < end; k++)
    {
        if (text[k] != '\n')
        {
            text[k] = ' ';
        }
    }
}

weft_status text_blank(const char* file, char* text, size_t size, int64_t* value_count, weft_error* error)
{
    *value_count = 1;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
    {
        text_fill_blank(text, 0, 3);
    }
    size_t k = 0;
    while (k < size)
    {
        if (text[k] == '"')
        {
            k = text_skip_string(text, k, size);
        }
        else if (text[k] == '/' && k + 1 < size && (text[k + 1] == '/' || text[k + 1] == '*'))
        {
            size_t end = text_comment_end(text, k, size);
            if (end == 0)
            {
                int line, column;
                text_position(text, k, &line, &column);
                error_set(error, WEFT_BAD_INPUT, file, line, "this comment does not end; close it with */");
                if (error)
                {
                    error->column = column;
                }
                return WEFT_BAD_INPUT;
            }
            text_fill_blank(text, k, end);
            k = end;
        }
        else
        {
            *value_count += text[k] == ',' || text[k] == '[' || text[k] == '{';
            k++;
        }
    }
    return WEFT_OK;
}
