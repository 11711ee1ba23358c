// Names and bytes of exported files: arrays are packed piece by piece and written in large blocks.
#include <string.h>

#include "export/export.h"

enum
{
    PIECE = 16384 // numbers
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
        snprintf(path, EXPORT_PATH, "%s/%s.%04d%s", folder, export_body_name(job, body), export_frame(job, k), ending);
    return length < EXPORT_PATH ? WEFT_OK : error_set(error, WEFT_IO, folder, 0, "the path is too long");
}

static void put_u32(unsigned char* out, uint32_t value)
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = (unsigned char)(value >> (8 * k));
    }
}

static void put_u32_big(unsigned char* out, uint32_t value)
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = (unsigned char)(value >> (24 - 8 * k));
    }
}

static uint32_t float_bits(double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof(bits));
    return bits;
}

void export_put_ints(whole_file* file, const int* values, int count)
{
    unsigned char piece[4 * PIECE];
    for (int begin = 0; begin < count; begin += PIECE)
    {
        int size = int_min(PIECE, count - begin);
        for (int k = 0; k < size; k++)
        {
            put_u32(piece + 4 * k, (uint32_t)values[begin + k]);
        }
        whole_file_write(file, piece, 4 * (size_t)size);
    }
}

void export_put_floats(whole_file* file, const double* values, int64_t count)
{
    unsigned char piece[4 * PIECE];
    for (int64_t begin = 0; begin < count; begin += PIECE)
    {
        int size = count - begin < PIECE ? (int)(count - begin) : PIECE;
        for (int k = 0; k < size; k++)
        {
            put_u32(piece + 4 * k, float_bits(values[begin + k]));
        }
        whole_file_write(file, piece, 4 * (size_t)size);
    }
}

void export_put_floats_big(whole_file* file, const double* values, int64_t count)
{
    unsigned char piece[4 * PIECE];
    for (int64_t begin = 0; begin < count; begin += PIECE)
    {
        int size = count - begin < PIECE ? (int)(count - begin) : PIECE;
        for (int k = 0; k < size; k++)
        {
            put_u32_big(piece + 4 * k, float_bits(values[begin + k]));
        }
        whole_file_write(file, piece, 4 * (size_t)size);
    }
}
