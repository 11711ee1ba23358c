// Writes Ogawa. A file is a header of 16 bytes - "Ogawa", a byte that is 255 once the file is whole, two bytes of
// version, 0 1, and the place of the root group - and then groups and data in any order. Data: a 64-bit count of bytes,
// the bytes. A group: a 64-bit count of children, then 64 bits for each. All little endian. Children are written before
// their group, so that nothing is kept but the places of what has no group yet.
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "export/ogawa.h"

static const uint64_t data_bit = (uint64_t)1 << 63;

// ---- lists of children

void ogawa_list_add(ogawa_list* list, ogawa_child child)
{
    if (!mem_grow((void**)&list->child, &list->capacity, list->count + 1, sizeof(ogawa_child)))
    {
        list->failed = true;
        return;
    }
    list->child[list->count++] = child;
}

void ogawa_list_finish(ogawa_list* list)
{
    mem_free(list->child);
    *list = (ogawa_list){0};
}

// ---- keys: MurmurHash3 for 128 bits on 64-bit machines (Appleby, public domain), from seed 0, as Alembic has them

static uint64_t turn_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static uint64_t read64(const unsigned char* bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
           (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static uint64_t mix_first(uint64_t x)
{
    return turn_left(x * 0x87c37b91114253d5u, 31) * 0x4cf5ad432745937fu;
}

static uint64_t mix_second(uint64_t x)
{
    return turn_left(x * 0x4cf5ad432745937fu, 33) * 0x87c37b91114253d5u;
}

static uint64_t mix_last(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

ogawa_key ogawa_key_of(const void* bytes, size_t size)
{
    const unsigned char* at = bytes;
    uint64_t a = 0, b = 0;
    for (size_t left = size; left >= 16; left -= 16, at += 16)
    {
        a = turn_left(a ^ mix_first(read64(at)), 27) + b;
        a = a * 5 + 0x52dce729u;
        b = turn_left(b ^ mix_second(read64(at + 8)), 31) + a;
        b = b * 5 + 0x38495ab5u;
    }
    unsigned char tail[16] = {0};
    if (size % 16 > 0)
    {
        memcpy(tail, at, size % 16);
    }
    a ^= mix_first(read64(tail)); // zeros change nothing
    b ^= mix_second(read64(tail + 8));
    a ^= size;
    b ^= size;
    a += b;
    b += a;
    a = mix_last(a);
    b = mix_last(b);
    a += b;
    b += a;
    ogawa_key key;
    ogawa_put64(key.bytes, a);
    ogawa_put64(key.bytes + 8, b);
    return key;
}

ogawa_key ogawa_key_join(ogawa_key a, ogawa_key b)
{
    unsigned char both[32];
    memcpy(both, a.bytes, 16);
    memcpy(both + 16, b.bytes, 16);
    return ogawa_key_of(both, sizeof(both));
}

// ---- the file

static void put(ogawa* archive, const void* bytes, size_t size)
{
    whole_file_write(archive->file, bytes, size);
    archive->position += size;
}

static void put_number(ogawa* archive, uint64_t value)
{
    unsigned char bytes[8];
    ogawa_put64(bytes, value);
    put(archive, bytes, sizeof(bytes));
}

static void put_header(ogawa* archive, unsigned char whole, uint64_t root)
{
    const unsigned char head[8] = {'O', 'g', 'a', 'w', 'a', whole, 0, 1};
    put(archive, head, sizeof(head));
    put_number(archive, root);
}

void ogawa_begin(ogawa* archive, whole_file* file)
{
    *archive = (ogawa){.file = file};
    put_header(archive, 0, 0);
}

ogawa_child ogawa_data(ogawa* archive, const void* bytes, size_t size)
{
    if (size == 0)
    {
        return OGAWA_NO_DATA;
    }
    uint64_t start = archive->position;
    put_number(archive, size);
    put(archive, bytes, size);
    return start | data_bit;
}

ogawa_child ogawa_sample(ogawa* archive, const void* bytes, size_t size, ogawa_key* key)
{
    uint64_t start = archive->position;
    *key = ogawa_key_of(bytes, size);
    put_number(archive, sizeof(key->bytes) + size);
    put(archive, key->bytes, sizeof(key->bytes));
    put(archive, bytes, size);
    return start | data_bit;
}

ogawa_child ogawa_group(ogawa* archive, const ogawa_child* children, int count)
{
    if (count == 0)
    {
        return OGAWA_NO_GROUP;
    }
    uint64_t start = archive->position;
    put_number(archive, (uint64_t)count);
    for (int k = 0; k < count; k++)
    {
        put_number(archive, children[k]);
    }
    return start;
}

weft_status ogawa_end(ogawa* archive, ogawa_child root, weft_error* error)
{
    if (fseeko(archive->file->stream, 0, SEEK_SET) != 0)
    {
        return file_error(error, archive->file->path, "cannot write");
    }
    put_header(archive, 255, root);
    return WEFT_OK;
}
