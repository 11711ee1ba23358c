// PNG files through libpng, written whole or not at all: encoded in memory, written beside the target, renamed onto it.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"
#include "weft/render.h"

static weft_status png_failed(const char* path, weft_error* error)
{
    int code = errno;
    bool full = code == ENOSPC || code == EDQUOT;
    return error_set(error, full ? WEFT_DISK_FULL : WEFT_IO, path, 0, "the picture cannot be written: %s",
                     strerror(code));
}

static bool write_bytes(int file, const unsigned char* bytes, size_t size)
{
    while (size > 0)
    {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno == EINTR)
        {
            continue;
        }
        if (done <= 0)
        {
            return false;
        }
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

static weft_status write_and_rename(const char* path, const char* temporary, const unsigned char* bytes, size_t size,
                                    weft_error* error)
{
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
    {
        return png_failed(path, error);
    }
    bool done = write_bytes(file, bytes, size);
    int code = errno;
    if (close(file) != 0 && done)
    {
        done = false;
        code = errno;
    }
    if (done && rename(temporary, path) != 0)
    {
        done = false;
        code = errno;
    }
    if (done)
    {
        return WEFT_OK;
    }
    unlink(temporary);
    errno = code;
    return png_failed(path, error);
}

// A name beside the target that no other living process uses.
static weft_status write_whole(const char* path, const unsigned char* bytes, size_t size, weft_error* error)
{
    size_t length = strlen(path) + 32;
    char* temporary = mem_alloc(length, 1);
    if (!temporary)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to write the picture");
    }
    snprintf(temporary, length, "%s.tmp%ld", path, (long)getpid());
    weft_status status = write_and_rename(path, temporary, bytes, size, error);
    mem_free(temporary);
    return status;
}

weft_status weft_png_write(const char* path, const uint8_t* rgb, int width, int height, weft_error* error)
{
    WEFT_ASSERT(path && rgb && width > 0 && height > 0);
    png_image image;
    memset(&image, 0, sizeof(image));
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = PNG_FORMAT_RGB;

    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    unsigned char* bytes = mem_alloc(size, 1);
    if (!bytes)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to encode the picture");
    }
    weft_status status;
    if (png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL))
    {
        status = write_whole(path, bytes, size, error);
    }
    else
    {
        status = error_set(error, WEFT_NO_MEMORY, path, 0, "the picture cannot be encoded: %s", image.message);
    }
    mem_free(bytes);
    return status;
}
