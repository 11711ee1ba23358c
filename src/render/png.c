// PNG files through libpng, encoded in memory, so that a file can be written whole or not at all.
#include <png.h>
#include <string.h>

#include "core/core.h"
#include "weft/render.h"

static weft_status write_whole(const char* path, const unsigned char* bytes, size_t size, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    whole_file_write(&file, bytes, size);
    return whole_file_close(&file, error);
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
