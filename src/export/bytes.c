// Names and bytes of exported files: arrays are packed piece by piece and written in large blocks.
#include <string.h>

#include "export/export.h"

enum
{
    PIECE = 24576 // numbers
};

weft_status export_path(const char* folder, const char* name, const char* ending, char path[EXPORT_PATH],
                        weft_error* error)
{
    int length = snprintf(path, EXPORT_PATH, "%s/%s%s", folder, name, ending);
    return length < EXPORT_PATH ? WEFT_OK : error_set(error, WEFT_IO, folder, 0, "the path is too long");
}

weft_status export_frame_path(const export_job* job, const char* folder, int body, int k, const char* ending,
                              char path[EXPORT_PATH], weft_error* error)
{
    int length =
        snprintf(path, EXPORT_PATH, "%s/%s.%04d%s", folder, export_body_name(job, body), export_number(job, k), ending);
    return length < EXPORT_PATH ? WEFT_OK : error_set(error, WEFT_IO, folder, 0, "the path is too long");
}

static bool host_is_big(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

static void put_words(whole_file* file, uint32_t* words, int count, bool big)
{
    if (big != host_is_big())
    {
        for (int k = 0; k < count; k++)
        {
            words[k] = __builtin_bswap32(words[k]);
        }
    }
    whole_file_write(file, words, sizeof(uint32_t) * (size_t)count);
}

static void put_ints(whole_file* file, const int* values, int64_t count, bool big)
{
    uint32_t words[PIECE];
    for (int64_t begin = 0; begin < count; begin += PIECE)
    {
        int size = count - begin < PIECE ? (int)(count - begin) : PIECE;
        memcpy(words, values + begin, sizeof(uint32_t) * (size_t)size);
        put_words(file, words, size, big);
    }
}

static void put_floats(whole_file* file, const double* values, int64_t count, bool big)
{
    union
    {
        float floats[PIECE];
        uint32_t words[PIECE];
    } piece;
    for (int64_t begin = 0; begin < count; begin += PIECE)
    {
        int size = count - begin < PIECE ? (int)(count - begin) : PIECE;
        for (int k = 0; k < size; k++)
        {
            piece.floats[k] = (float)values[begin + k];
        }
        put_words(file, piece.words, size, big);
    }
}

void export_put_ints(whole_file* file, const int* values, int64_t count)
{
    put_ints(file, values, count, false);
}

void export_put_ints_big(whole_file* file, const int* values, int64_t count)
{
    put_ints(file, values, count, true);
}

void export_put_floats(whole_file* file, const double* values, int64_t count)
{
    put_floats(file, values, count, false);
}

void export_put_floats_big(whole_file* file, const double* values, int64_t count)
{
    put_floats(file, values, count, true);
}
