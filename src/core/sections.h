// Named sections of arrays in one file: what a checkpoint is made of. Whoever owns data saves it as sections and loads
// it from them; the file knows only names, versions and sizes. It begins with a header of its owner's, then
//
//     section   name [24], version u32, item size u32, count u64, the items, zeros up to a multiple of 8 bytes
//     ...
//     the end   a section without name and items
//     hash      u64, of all before it
//
// with numbers as the machine has them. Files are untrusted: whatever is read is checked against the file's size, and
// what does not fit is refused with a sentence.
#ifndef WEFT_SECTIONS_H
#define WEFT_SECTIONS_H

#include "core/core.h"

enum
{
    SECTION_NAME = 24, // bytes, the last one zero
    SECTIONS_MAX = 64
};

// ---- writing: errors are looked at when the file is closed
typedef struct section_writer
{
    whole_file* file;
    uint64_t hash;
} section_writer;

void sections_begin(section_writer* w, whole_file* file, const void* header, size_t size); // a multiple of 8
void section_put(section_writer* w, const char* name, int version, size_t item_size, size_t count, const void* items);
void sections_end(section_writer* w);

// ---- reading
typedef struct section
{
    char name[SECTION_NAME];
    int version;
    size_t item_size, count;
    const void* items; // aligned to 8 bytes
    bool taken;
} section;

typedef struct sections
{
    const char* path; // of the file, for messages
    section list[SECTIONS_MAX];
    int count;
} sections;

// What an owner expects of a section.
typedef struct section_shape
{
    const char* name;
    int version; // exactly; an owner that reads several asks sections_version first
    size_t item_size;
    int64_t count; // -1: any
} section_shape;

// The whole file in `bytes`, aligned to 8 and kept by the caller as long as the sections are used; its first
// header_size bytes are the owner's. BAD_INPUT: cut short, damaged or no such file.
weft_status sections_parse(sections* s, const char* path, const void* bytes, size_t size, size_t header_size,
                           weft_error* error);
int sections_version(const sections* s, const char* name); // 0: there is none
// *out is NULL where there is no such section: the owner then has a default, or calls sections_lacks.
weft_status sections_take(sections* s, const section_shape* shape, const section** out, weft_error* error);
weft_status sections_lacks(const sections* s, const char* name, weft_error* error); // BAD_INPUT and a sentence
weft_status sections_cannot_be(const sections* s, const char* what,
                               weft_error* error); // likewise: a value is impossible
// After all owners: a section that nobody took is of a later Weft, and what it says would be lost.
weft_status sections_check_taken(const sections* s, weft_error* error);

#endif
