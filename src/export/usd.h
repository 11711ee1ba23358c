// A USD layer as it is written, from the top down, by an encoding: text (usda.c) or crate (usdc.c). What it says is in
// usd.c, of faces that have names in usd_names.c.
#ifndef WEFT_EXPORT_USD_H
#define WEFT_EXPORT_USD_H

#include "export/export.h"

typedef enum usd_kind
{
    USD_BOOL,    // int
    USD_TOKEN,   // const char*
    USD_TOKENS,  // const char*: arrays from here on, of `count`
    USD_INTS,    // int
    USD_FLOATS,  // double, as all below
    USD_FLOAT2S, // two each
    USD_FLOAT3S, // three each
    USD_MATRIX   // sixteen, row by row; rows are what points are multiplied with, the last one moves
} usd_kind;

typedef struct usd_value
{
    usd_kind kind;
    int count;
    const void* of;
} usd_value;

typedef struct usd_attribute
{
    const char *type, *name;   // "point3f[]", "points"
    const char* interpolation; // NULL: none is said. Else there is a value beside the samples
    bool uniform;
} usd_attribute;

typedef struct usd_prim
{
    const char *type, *name;
    const char* told;   // customData.name; NULL: none
    const char* schema; // that is applied; NULL: none
} usd_prim;

typedef struct usd_head
{
    const char *doc, *prim, *up; // prim: the default one
    double rate, meters;         // time codes a second; metres a unit
    int first, last;             // time codes
} usd_head;

// Attributes come before the prims inside of a prim. Names and values are borrowed for the call; what an attribute says
// stays until its end.
typedef struct usd_encoding
{
    void (*head)(void* to, const usd_head* head);
    void (*prim)(void* to, const usd_prim* prim);
    void (*prim_end)(void* to);
    void (*attribute)(void* to, const usd_attribute* attribute);
    void (*value)(void* to, const usd_value* value); // before samples
    void (*sample)(void* to, int code, const usd_value* value);
    void (*attribute_end)(void* to);
    void (*relation)(void* to, const char* name, const char* looks, const char* look); // to /run/LOOKS/LOOK
} usd_encoding;

// Writes the stage of a job.
weft_status usd_write(export_job* job, const usd_encoding* encoding, void* to, weft_error* error);
// As crate, from the place on where the file stands.
weft_status usdc_write(export_job* job, whole_file* file, int64_t start, const char* target, weft_error* error);

// ---- usd_names.c
// Identifiers for names that are words of people: letters, digits and lines, none like `others`. mem_free'd by the
// caller.
char* usd_identifier(char* const* others, int count, const char* words);

// The materials of all bodies, each name once, as prims of /run/Looks.
typedef struct usd_looks
{
    const char** material; // [count]
    char** prim;           // [count]
    int count;
} usd_looks;
bool usd_looks_find(const export_job* job, usd_looks* out); // false: no memory
void usd_looks_finish(usd_looks* looks);
void usd_put_looks(const usd_looks* looks, const usd_encoding* encoding, void* to);
// Objects, groups and materials of a body's faces as GeomSubsets.
weft_status usd_put_subsets(const export_job* job, int body, const usd_looks* looks, const usd_encoding* encoding,
                            void* to, weft_error* error);

#endif
