// Ogawa, the container of Alembic files: a tree of groups, whose children are groups or runs of bytes.
#ifndef WEFT_OGAWA_H
#define WEFT_OGAWA_H

#include "core/core.h"

// 128 bits that name a content: Alembic keeps one with every sample, and readers take samples of one key for the same.
typedef struct ogawa_key
{
    unsigned char bytes[16];
} ogawa_key;

typedef struct ogawa
{
    whole_file* file;
    uint64_t position; // bytes written
} ogawa;

// What a group says of a child: where it starts, and in the highest bit whether it is data.
typedef uint64_t ogawa_child;
#define OGAWA_NO_GROUP ((ogawa_child)0)
#define OGAWA_NO_DATA ((ogawa_child)1 << 63)

// A list of children that grows.
typedef struct ogawa_list
{
    ogawa_child* child; // [count]
    int count, capacity;
    bool failed; // there was no memory for one
} ogawa_list;

void ogawa_list_add(ogawa_list* list, ogawa_child child);
void ogawa_list_finish(ogawa_list* list);

ogawa_key ogawa_key_of(const void* bytes, size_t size);
// The key of a and then b.
ogawa_key ogawa_key_join(ogawa_key a, ogawa_key b);

void ogawa_begin(ogawa* archive, whole_file* file);
ogawa_child ogawa_data(ogawa* archive, const void* bytes, size_t size); // size 0: OGAWA_NO_DATA
ogawa_child ogawa_sample(ogawa* archive, const void* bytes, size_t size,
                         ogawa_key* key); // data with their key in front
ogawa_child ogawa_group(ogawa* archive, const ogawa_child* children, int count);
// Puts the root in the header and marks the file as whole.
weft_status ogawa_end(ogawa* archive, ogawa_child root, weft_error* error);

// Little endian.
static inline void ogawa_put32(unsigned char* out, uint32_t value)
{
    out[0] = (unsigned char)value;
    out[1] = (unsigned char)(value >> 8);
    out[2] = (unsigned char)(value >> 16);
    out[3] = (unsigned char)(value >> 24);
}

static inline void ogawa_put64(unsigned char* out, uint64_t value)
{
    ogawa_put32(out, (uint32_t)value);
    ogawa_put32(out + 4, (uint32_t)(value >> 32));
}

#endif
