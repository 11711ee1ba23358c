// How crate files pack their sections: bytes as one chunk of LZ4 blocks, ints as differences of 8, 16 or 32 bits with
// two bits each for which, then as bytes. LZ4 is here a run of literals, which is a block like any other: sections are
// small beside the values, which are not packed.
#include <string.h>

#include "export/crate.h"

enum
{
    LITERALS_IN_TOKEN = 15 // more are counted in bytes behind it
};

unsigned char* crate_pack_bytes(const void* bytes, size_t size, size_t* packed)
{
    unsigned char* out = mem_raw(size + size / 255 + 16, 1);
    if (!out)
    {
        return NULL;
    }
    size_t used = 0;
    out[used++] = 0; // not cut into several chunks
    out[used++] = (unsigned char)((size < LITERALS_IN_TOKEN ? size : LITERALS_IN_TOKEN) << 4);
    if (size >= LITERALS_IN_TOKEN)
    {
        size_t rest = size - LITERALS_IN_TOKEN;
        for (; rest >= 255; rest -= 255)
        {
            out[used++] = 255;
        }
        out[used++] = (unsigned char)rest;
    }
    size > 0 ? (void)memcpy(out + used, bytes, size) : (void)0;
    *packed = used + size;
    return out;
}

// Little endian.
static size_t put_difference(unsigned char* out, int difference, int size)
{
    for (int k = 0; k < size; k++)
    {
        out[k] = (unsigned char)((uint32_t)difference >> 8 * k);
    }
    return (size_t)size;
}

// The difference that has no bytes of its own is 1, as numbers often follow each other.
unsigned char* crate_pack_ints(const int* values, int count, size_t* packed)
{
    static const int bytes_of[4] = {0, 1, 2, 4};
    size_t codes = ((size_t)count + 3) / 4;
    unsigned char* coded = MEM_NEW(4 + codes + 4 * (size_t)count, unsigned char);
    if (!coded)
    {
        return NULL;
    }
    size_t used = 4 + codes;
    put_difference(coded, 1, 4);
    int before = 0;
    for (int k = 0; k < count; k++)
    {
        int d = (int)((uint32_t)values[k] - (uint32_t)before);
        int code = d == 1 ? 0 : d >= INT8_MIN && d <= INT8_MAX ? 1 : d >= INT16_MIN && d <= INT16_MAX ? 2 : 3;
        coded[4 + k / 4] |= (unsigned char)(code << 2 * (k % 4));
        used += put_difference(coded + used, d, bytes_of[code]);
        before = values[k];
    }
    unsigned char* out = crate_pack_bytes(coded, used, packed);
    mem_free(coded);
    return out;
}
