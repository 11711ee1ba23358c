// Plain data as bytes, and back by the same calls: a function that names the fields of a thing packs and unpacks it.
// Bytes that are read are untrusted: nothing is read behind their end, and from the first that is missing on all values
// are zero.
#ifndef WEFT_PACK_H
#define WEFT_PACK_H

#include "core/core.h"

typedef struct packer
{
    bool reads;
    bool failed; // the bytes end too soon or say what cannot be, or:
    bool no_memory;
    unsigned char* bytes; // [size], aligned to 8; of the packer when it writes, else lent
    size_t size, at;      // at: how far they are read
    int capacity;         // of bytes when it writes
} packer;

packer pack_reader(const void* bytes, size_t size);
void pack_finish(packer* p); // of one that writes; zeroed is fine

void pack_value(packer* p, void* value, size_t size);
#define PACK(p, value) pack_value((p), &(value), sizeof(value))
// *items is [*count]. Reading it points into the bytes, and is NULL where there are none.
void pack_array(packer* p, const void** items, int* count, size_t item_size);
// The same for each kind of array: PACK_ARRAY(p, &pin.keys, &pin.key_count)
#define PACK_ARRAY(p, items, count)                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        const void* pack_items_ = *(items);                                                                            \
        pack_array((p), &pack_items_, (count), sizeof(**(items)));                                                     \
        *(items) = pack_items_;                                                                                        \
    } while (0)
void pack_string(packer* p, const char** text); // NULL is fine

#endif
