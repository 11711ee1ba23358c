// Alembic archives in an Ogawa container, for reading: the tree of objects and properties and their samples
// (abc_file.c), and the polygon meshes among them with where their points are (abc_body.c).
#ifndef WEFT_ABC_FILE_H
#define WEFT_ABC_FILE_H

#include "mesh/mesh.h"

// ---- the container

typedef struct abc_times
{
    double cycle; // s
    double* time; // [count] s, within a cycle
    int count;
} abc_times;

// A property that has samples. Those before the first change and behind the last are not repeated in the file.
typedef struct abc_property
{
    bool is_array;
    int pod, extent; // kind of number; numbers of an item
    int count;       // samples
    int first, last; // that change; both 0: none does
    int sampling;    // time sampling
    uint64_t place;  // of its group
} abc_property;

typedef struct abc_file abc_file;

weft_status abc_open(const char* path, abc_file** out, weft_error* error);
void abc_close(abc_file* f);                     // NULL is fine
void abc_report(abc_file* f, weft_error* error); // where what follows says what is wrong

// What an object or a compound property holds: called for each. Where it is an object, kind is its schema's name.
typedef struct abc_item
{
    char name[256];
    char schema[64];       // of an object: "AbcGeom_PolyMesh_v1", ...; else empty
    bool is_compound;      // of a property
    abc_property property; // where it is no compound
    uint64_t place;        // of its group
} abc_item;
typedef weft_status abc_visit_fn(void* context, const abc_item* item);

uint64_t abc_top(const abc_file* f);
weft_status abc_each_object(abc_file* f, uint64_t object, abc_visit_fn* visit, void* context);
weft_status abc_each_property(abc_file* f, uint64_t object, abc_visit_fn* visit, void* context); // of an object
weft_status abc_each_member(abc_file* f, uint64_t compound, abc_visit_fn* visit, void* context); // of a compound
weft_status abc_wrong(const abc_file* f, const char* format, ...) __attribute__((format(printf, 2, 3)));
weft_status abc_no_memory(const abc_file* f);
// All numbers of a sample; *out is mem_free'd by the caller.
weft_status abc_numbers(abc_file* f, const abc_property* p, int sample, double** out, int* count);
double abc_time(const abc_file* f, const abc_property* p, int sample); // s
bool abc_is_even(const abc_file* f, const abc_property* p);            // its samples are as far apart as each other

// ---- polygon meshes

typedef struct abc_body abc_body;

// All meshes of the file, or those whose object, or the one above it, has this name. Paths and numbers are in the
// error.
weft_status abc_body_open(const char* path, const char* object, abc_body** out, weft_error* error);
void abc_body_destroy(abc_body* b); // NULL is fine
int abc_body_vertex_count(const abc_body* b);
int abc_body_sample_count(const abc_body* b);
double abc_body_rate(const abc_body* b);   // samples a second; 0: their times are uneven
double abc_body_length(const abc_body* b); // s, from the first sample to the last
// Where all points are `time` seconds after the first sample, linear between samples; out is [vertex_count].
weft_status abc_body_pose(abc_body* b, double time, vec3* out, weft_error* error);
// At the first sample; Alembic's faces run clockwise and are turned round.
weft_status abc_body_mesh(abc_body* b, const char* path, mesh* out, weft_error* error);

#endif
