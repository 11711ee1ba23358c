// What the files that read a run's folder share.
#ifndef WEFT_READER_H
#define WEFT_READER_H

#include "cache/changes.h"
#include "mesh/mesh.h"
#include "mesh/pc2_file.h"
#include "weft/cache.h"

// A body's mesh from one frame on.
typedef struct topology
{
    int start; // frame
    mesh mesh;
    int sample_count; // complete ones in its PC2 file
    int* origin;      // [mesh.vertex_count] in the topology before; NULL: the first
    weft_cache_body view;
} topology;

// A sheet at a coarser level of detail (coarse_view.c).
typedef struct coarse_view
{
    int vertex_count, triangle_count;
    int* vertex;                 // [vertex_count] of the last topology, ascending
    vec3* rest;                  // [vertex_count]
    int *face_start, *triangle;  // [triangle_count + 1], [3 * triangle_count]
    int* texcoord;               // [3 * triangle_count]; NULL: none
    int* name[3];                // [triangle_count] object, group, material; NULL: none
    vec3* fine;                  // [vertices of the last topology] of a frame, scratch
    weft_cache_body view;
} coarse_view;

typedef struct field
{
    char* name;
    int sample_count;
    weft_cache_field view;
} field;

typedef struct body
{
    char* name;
    int rank; // place in scene.json; bodies that it does not name come last
    bool obstacle, still, solid;
    double thickness;     // m, as scene.json says; 0: it does not
    topology* topologies; // [topology_count]
    int topology_count;
    coarse_view* coarse; // what is shown instead; NULL: the topologies
    pc2*
        samples; // of the topology that was read last; a cloth may have more of them than files can be open. NULL: none
    int open;    // that topology
    int from, until; // frames [from, until) in which it is there; until INT32_MAX: to the end
    int frame_count; // whole ones; INT32_MAX: it goes, and has all until then
    field* fields;   // [field_count] by name
    int field_count, field_capacity;
    weft_cache_elements elements;
    int* element_vertices;       // [3 * elements.count]
    unsigned char* element_turn; // [elements.count]
    int element_samples;
} body;

struct weft_cache
{
    char* dir;
    body* bodies; // [body_count]
    int body_count, body_capacity;
    int frame_count;
    double frame_rate;
};

weft_status reader_no_memory(const char* dir, weft_error* error);

// Meshes and sample counts of a body, with the changes that frames.jsonl lists.
weft_status topologies_load(body* b, const char* dir, const topology_changes* changes, weft_error* error);
// Vertices [first, first + count); count -1: all from there on. Where the body is not there, those of the nearest
// frame.
weft_status topologies_read(body* b, const char* dir, int frame, int first, int count, vec3* out, weft_error* error);
void topologies_finish(body* b);
int body_clamp(const body* b, int frame); // the nearest frame in which it is there

int topology_of(const body* b, int frame);

// Vertices [first, first + count) of a coarse view; count -1: all from there on.
typedef struct coarse_range
{
    int first, count;
    vec3* out;
} coarse_range;

weft_status coarse_view_read(body* b, const char* dir, int frame, const coarse_range* range, weft_error* error);
void coarse_view_drop(body* b);

// All NAME.FIELD.field of the folder; files of other names are none.
weft_status fields_load(weft_cache* cache, weft_error* error);
void fields_finish(body* b);
// NAME.connections.elements of bodies that have one.
weft_status elements_load(weft_cache* cache, weft_error* error);
void elements_finish(body* b);

#endif
