// A hash of bytes: tells files and scenes apart, and finds damage. Every step is a bijection of the hash, so that two
// texts of one length that differ in one word never have the same. No defence against somebody who looks for
// collisions.
#include <string.h>

#include "core/core.h"

// FNV-1a over 64-bit words, the rest byte by byte.
uint64_t hash_bytes(uint64_t hash, const void* data, size_t size)
{
    const unsigned char* p = data;
    for (; size >= 8; size -= 8, p += 8)
    {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = (hash ^ word) * 0x100000001B3u;
        hash ^= hash >> 29;
    }
    for (; size > 0; size--, p++)
    {
        hash = (hash ^ *p) * 0x100000001B3u;
    }
    return hash;
}
