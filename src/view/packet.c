// Bytes that grow, and their compression: zlib's format, which browsers unpack by themselves, as base64. The only file
// that touches zlib.
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "view/packing.h"

// ---- bytes

static bool packet_reserve(packet* p, size_t more)
{
    p->failed = p->failed || more > (size_t)(INT_MAX - 1 - p->used) ||
                !mem_grow((void**)&p->bytes, &p->capacity, p->used + (int)more, 1);
    return !p->failed;
}

void packet_bytes(packet* p, const void* bytes, size_t size)
{
    if (size > 0 && packet_reserve(p, size))
    {
        memcpy(p->bytes + p->used, bytes, size);
        p->used += (int)size;
    }
}

void packet_byte(packet* p, uint8_t value)
{
    if (p->used < p->capacity || packet_reserve(p, 1))
    {
        p->bytes[p->used++] = value;
    }
}

void packet_count(packet* p, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
    {
        packet_byte(p, (uint8_t)(value | 0x80));
    }
    packet_byte(p, (uint8_t)value);
}

void packet_difference(packet* p, int value, int before)
{
    int64_t d = (int64_t)value - before;
    packet_count(p, (uint32_t)(d < 0 ? -2 * d - 1 : 2 * d));
}

void packet_float(packet* p, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
    packet_bytes(p, bytes, sizeof(bytes));
}

void packet_finish(packet* p)
{
    mem_free(p->bytes);
    *p = (packet){0};
}

// ---- base64

static void append_base64(packet* text, const uint8_t* bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!packet_reserve(text, (size + 2) / 3 * 4))
    {
        return;
    }
    char* out = (char*)text->bytes + text->used;
    for (size_t k = 0; k < size; k += 3)
    {
        size_t left = size - k;
        uint32_t word =
            (uint32_t)bytes[k] << 16 | (left > 1 ? (uint32_t)bytes[k + 1] << 8 : 0) | (left > 2 ? bytes[k + 2] : 0);
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[word & 63] : '=';
    }
    text->used += (int)((size + 2) / 3 * 4);
}

// ---- compression

// The library's memory hooks serve zlib too. zlib fills what it needs zeroed by itself.
static void* zlib_alloc(void* context, unsigned count, unsigned size)
{
    (void)context;
    return mem_alloc(count, size);
}

static void zlib_free(void* context, void* pointer)
{
    (void)context;
    mem_free(pointer);
}

bool packet_compress(const packet* p, packet* text)
{
    // What prediction leaves is noise with a peak at zero: short matches cost more than they save.
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    if (p->failed || deflateInit2(&stream, 6, Z_DEFLATED, 15, 9, Z_FILTERED) != Z_OK)
    {
        return false;
    }
    size_t bound = deflateBound(&stream, (uLong)p->used);
    uint8_t* squeezed = bound <= UINT_MAX ? mem_alloc(bound, 1) : NULL;
    stream.next_in = p->bytes;
    stream.avail_in = (uInt)p->used;
    stream.next_out = squeezed;
    stream.avail_out = squeezed ? (uInt)bound : 0;
    bool done = squeezed && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (done)
    {
        append_base64(text, squeezed, stream.total_out);
    }
    deflateEnd(&stream);
    mem_free(squeezed);
    return done && !text->failed;
}
