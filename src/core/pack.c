// Plain data as bytes; every item begins at a multiple of 8.
#include "core/pack.h"

#include <string.h>

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

packer pack_reader(const void* bytes, size_t size)
{
    return (packer){.reads = true, .bytes = (unsigned char*)bytes, .size = size};
}

void pack_finish(packer* p)
{
    if (!p->reads)
    {
        mem_free(p->bytes);
    }
    *p = (packer){0};
}

// Where the next bytes are, and behind them; NULL: there are none.
static unsigned char* pack_room(packer* p, size_t size)
{
    if (p->failed || size > INT32_MAX / 2)
    {
        p->failed = true;
        return NULL;
    }
    if (p->reads)
    {
        p->failed = p->size - p->at < padded(size);
        unsigned char* here = p->bytes + p->at;
        p->at += p->failed ? 0 : padded(size);
        return p->failed ? NULL : here;
    }
    size_t needed = p->size + padded(size);
    if (needed > INT32_MAX / 2 || !mem_grow((void**)&p->bytes, &p->capacity, (int)needed, 1))
    {
        p->failed = p->no_memory = true;
        return NULL;
    }
    unsigned char* here = p->bytes + p->size;
    memset(here, 0, padded(size));
    p->size = needed;
    return here;
}

void pack_value(packer* p, void* value, size_t size)
{
    unsigned char* here = pack_room(p, size);
    if (p->reads)
    {
        here ? memcpy(value, here, size) : memset(value, 0, size);
    }
    else if (here)
    {
        memcpy(here, value, size);
    }
}

void pack_array(packer* p, const void** items, int* count, size_t item_size)
{
    int64_t length = *items ? *count : 0;
    PACK(p, length);
    bool good = length >= 0 && length <= (INT32_MAX / 2) / (int64_t)item_size;
    p->failed = p->failed || !good;
    unsigned char* here = p->failed || length == 0 ? NULL : pack_room(p, (size_t)length * item_size);
    if (p->reads)
    {
        *items = here;
        *count = here ? (int)length : 0;
    }
    else if (here)
    {
        memcpy(here, *items, (size_t)length * item_size);
    }
}

void pack_string(packer* p, const char** text)
{
    int length = *text ? (int)strlen(*text) + 1 : 0;
    PACK_ARRAY(p, text, &length);
    p->failed = p->failed || (length > 0 && (*text)[length - 1] != '\0');
    *text = p->reads && p->failed ? NULL : *text;
}
