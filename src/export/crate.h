// A USD layer in the crate encoding, as a container: tokens, fields, paths and specs, which are written behind the
// values. Version 0.8.0, which every OpenUSD since 2019 reads.
#ifndef WEFT_EXPORT_CRATE_H
#define WEFT_EXPORT_CRATE_H

#include "export/export.h"

// Numbers of the format.
typedef enum crate_type
{
    CRATE_BOOL = 1,
    CRATE_INT = 3,
    CRATE_FLOAT = 8,
    CRATE_DOUBLE = 9,
    CRATE_STRING = 10,
    CRATE_TOKEN = 11,
    CRATE_MATRIX4D = 15,
    CRATE_VEC2F = 20,
    CRATE_VEC3F = 24,
    CRATE_DICTIONARY = 31,
    CRATE_TOKEN_LIST = 32,
    CRATE_PATH_LIST = 34,
    CRATE_TOKEN_VECTOR = 41,
    CRATE_SPECIFIER = 42,
    CRATE_VARIABILITY = 44,
    CRATE_TIME_SAMPLES = 46,
    CRATE_DOUBLE_VECTOR = 48
} crate_type;

typedef enum crate_spec_type
{
    CRATE_ATTRIBUTE = 1,
    CRATE_PRIM = 6,
    CRATE_ROOT = 7,
    CRATE_RELATIONSHIP = 8
} crate_spec_type;

// A list of ints that grows.
typedef struct crate_list
{
    int* at; // [count]
    int count, capacity;
} crate_list;

// A prim or a property of one, in a tree. -1: none.
typedef struct crate_path
{
    int token, child, last_child, next;
    bool property;
} crate_path;

typedef struct crate
{
    whole_file* file;
    int64_t start; // of the layer in the file
    int64_t size;  // of what is written of it
    bool no_memory;
    char* words; // the tokens, each with its zero
    int words_size, words_capacity;
    crate_list token; // where each begins in `words`
    crate_list slot;  // [2^n] token + 1, or 0: open addressing
    crate_list string, field, set,
        spec;        // tokens; tokens of fields; fields, -1 behind each set; path, set, type of each
    uint64_t* value; // [field.count]
    int value_capacity;
    crate_path* path;
    int path_count, path_capacity;
} crate;

// `start` is where the file stands. Errors of the file show when it is closed; want of memory is in crate_end.
void crate_begin(crate* c, whole_file* file, int64_t start);
weft_status crate_end(crate* c, const char* target, weft_error* error); // sections, then the head
void crate_finish(crate* c);

void crate_push(crate* c, crate_list* list, int value);
void crate_list_finish(crate_list* list);
int crate_token(crate* c, const char* words);
int crate_string(crate* c, const char* words); // what is no UTF-8 becomes question marks

void crate_put(crate* c, const void* bytes, size_t size);
void crate_put_ints(crate* c, const int* values, int64_t count);
void crate_put_floats(crate* c, const double* values, int64_t count);
void crate_put_words(crate* c, const uint64_t* values, int64_t count);
void crate_put_doubles(crate* c, const double* values, int64_t count);
void crate_align(crate* c); // to 8 bytes

// A value: what it is and where, or itself where it fits.
static inline uint64_t crate_inline(crate_type type, uint32_t value)
{
    return (uint64_t)1 << 62 | (uint64_t)type << 48 | value;
}
static inline uint64_t crate_value(crate_type type, int64_t where)
{
    return (uint64_t)type << 48 | (uint64_t)where;
}
static inline uint64_t crate_array(crate_type type, int64_t where)
{
    return (uint64_t)1 << 63 | crate_value(type, where);
}

// Fields of the spec that comes next, then the spec.
void crate_field(crate* c, const char* name, uint64_t value);
void crate_spec(crate* c, int path, crate_spec_type type);
// The child of that name, made where there is none. The root is 0.
int crate_child(crate* c, int parent, const char* name, bool property);

// ---- crate_pack.c: how the sections are packed; the result is mem_free'd by the caller, NULL: no memory
unsigned char* crate_pack_bytes(const void* bytes, size_t size, size_t* packed);
unsigned char* crate_pack_ints(const int* values, int count, size_t* packed);

#endif
