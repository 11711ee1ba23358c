// See sections.h.
#define _POSIX_C_SOURCE 200809L // strnlen
#include "core/sections.h"

#include <string.h>

typedef struct section_head
{
    char name[SECTION_NAME];
    uint32_t version, item_size;
    uint64_t count;
} section_head;

static const char remedy[] = "start over with --force";

// ---- writing

static void put_bytes(section_writer* w, const void* bytes, size_t size)
{
    w->hash = hash_bytes(w->hash, bytes, size);
    whole_file_write(w->file, bytes, size);
}

static size_t padding(size_t size)
{
    return (8 - size % 8) % 8;
}

void sections_begin(section_writer* w, whole_file* file, const void* header, size_t size)
{
    WEFT_ASSERT(size % 8 == 0);
    *w = (section_writer){.file = file};
    put_bytes(w, header, size);
}

void section_put(section_writer* w, const char* name, int version, size_t item_size, size_t count, const void* items)
{
    WEFT_ASSERT(strlen(name) < SECTION_NAME && version > 0 && item_size > 0 && item_size <= UINT32_MAX);
    section_head head = {.version = (uint32_t)version, .item_size = (uint32_t)item_size, .count = count};
    memcpy(head.name, name, strlen(name));
    put_bytes(w, &head, sizeof(head));
    // In words, as the reader hashes all of the file at once.
    const char* bytes = items;
    size_t size = item_size * count, whole = size - size % 8;
    char last[8] = {0};
    put_bytes(w, bytes, whole);
    if (size > whole)
    {
        memcpy(last, bytes + whole, size - whole);
        put_bytes(w, last, sizeof(last));
    }
}

void sections_end(section_writer* w)
{
    section_head end = {0};
    put_bytes(w, &end, sizeof(end));
    whole_file_write(w->file, &w->hash, sizeof(w->hash));
}

// ---- reading

static weft_status damaged(const char* path, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, path, 0, "the checkpoint is cut short or damaged; %s", remedy);
}

static bool name_is_sound(const char* name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    size_t length = strnlen(name, SECTION_NAME);
    for (size_t k = length; k < SECTION_NAME; k++)
    {
        length = name[k] ? SECTION_NAME : length;
    }
    return length > 0 && length < SECTION_NAME && strspn(name, letters) == length;
}

static int find(const sections* s, const char* name)
{
    for (int k = 0; k < s->count; k++)
    {
        if (strcmp(s->list[k].name, name) == 0)
        {
            return k;
        }
    }
    return -1;
}

// Adds the section at `at` and moves behind it; false: it cannot be.
static bool add_section(sections* s, const unsigned char* bytes, size_t size, size_t* at)
{
    section_head head;
    memcpy(&head, bytes + *at, sizeof(head));
    size_t room = size - *at - sizeof(head);
    bool fits = head.item_size > 0 && head.count <= room / head.item_size;
    size_t used = fits ? (size_t)head.item_size * (size_t)head.count : 0;
    if (!fits || padding(used) > room - used || !name_is_sound(head.name) || find(s, head.name) >= 0 ||
        s->count == SECTIONS_MAX || head.version == 0 || head.version > INT32_MAX)
    {
        return false;
    }
    section* out = &s->list[s->count++];
    *out = (section){.version = (int)head.version,
                     .item_size = head.item_size,
                     .count = (size_t)head.count,
                     .items = bytes + *at + sizeof(head)};
    memcpy(out->name, head.name, sizeof(out->name));
    *at += sizeof(head) + used + padding(used);
    return true;
}

static bool is_zero(const unsigned char* bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

weft_status sections_parse(sections* s, const char* path, const void* bytes, size_t size, size_t header_size,
                           weft_error* error)
{
    *s = (sections){.path = path};
    const unsigned char* p = bytes;
    uint64_t stored;
    if (size < header_size + sizeof(section_head) + sizeof(stored) || size % 8 != 0)
    {
        return damaged(path, error);
    }
    size -= sizeof(stored);
    memcpy(&stored, p + size, sizeof(stored));
    if (hash_bytes(0, p, size) != stored)
    {
        return damaged(path, error);
    }
    size_t at = header_size;
    while (size - at >= sizeof(section_head) && !is_zero(p + at, sizeof(section_head)))
    {
        if (!add_section(s, p, size, &at))
        {
            return damaged(path, error);
        }
    }
    return size - at == sizeof(section_head) ? WEFT_OK : damaged(path, error);
}

int sections_version(const sections* s, const char* name)
{
    int found = find(s, name);
    return found >= 0 ? s->list[found].version : 0;
}

static weft_status other_weft(const sections* s, const char* name, bool later, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, s->path, 0,
                     "the checkpoint has a section `%s` that %s Weft wrote, which this one does not read; resume with "
                     "that Weft, or %s",
                     name, later ? "a later" : "an earlier", remedy);
}

weft_status sections_take(sections* s, const section_shape* shape, const section** out, weft_error* error)
{
    int at = find(s, shape->name);
    section* found = at >= 0 ? &s->list[at] : NULL;
    *out = found;
    if (!found)
    {
        return WEFT_OK;
    }
    if (found->version != shape->version)
    {
        return other_weft(s, shape->name, found->version > shape->version, error);
    }
    if (found->item_size != shape->item_size || (shape->count >= 0 && found->count != (uint64_t)shape->count))
    {
        char what[160];
        snprintf(what, sizeof(what), "a section `%s` of %llu items of %llu bytes", shape->name,
                 (unsigned long long)found->count, (unsigned long long)found->item_size);
        return sections_cannot_be(s, what, error);
    }
    found->taken = true;
    return WEFT_OK;
}

weft_status sections_lacks(const sections* s, const char* name, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, s->path, 0, "the checkpoint has no section `%s`; %s", name, remedy);
}

weft_status sections_cannot_be(const sections* s, const char* what, weft_error* error)
{
    return error_set(error, WEFT_BAD_INPUT, s->path, 0, "the checkpoint says %s, which cannot be; %s", what, remedy);
}

weft_status sections_check_taken(const sections* s, weft_error* error)
{
    for (int k = 0; k < s->count; k++)
    {
        if (!s->list[k].taken)
        {
            return other_weft(s, s->list[k].name, true, error);
        }
    }
    return WEFT_OK;
}
