// The writer of Alembic archives: what abc.c (objects and the archive), abc_mesh.c (samples of meshes) and abc_names.c
// (names, fields and colours) share.
#ifndef WEFT_EXPORT_ABC_H
#define WEFT_EXPORT_ABC_H

#include "export/abc_tree.h"
#include "export/export.h"

enum
{
    ABC_SAMPLING = 1,    // the time sampling of all meshes; 0 is the default one
    ABC_PIECE = 1 << 14, // numbers that are written at once
};

typedef struct abc
{
    export_job* job;
    abc_tree tree;
    vec3* more;                         // [vertices of the largest body] normals, velocities, fields
    vec3* bounds;                       // [2 * frame_count] of all bodies, smallest and largest
    int used;                           // numbers in the piece
    unsigned char piece[4 * ABC_PIECE]; // of the sample that is being written
} abc;
enum
{
    FACE_INDICES,
    FACE_COUNTS,
    UV_VALUES,
    UV_INDICES,
    TOPOLOGY_COUNT
};

typedef struct abc_mesh
{
    property bounds, positions, uv;
    property topology[TOPOLOGY_COUNT];
    property basis, width; // of lines
    property normals, velocities;
    property* fields; // [field_count]
    int field_count;
    export_pose* pose; // [frame_count] of one that does not change its shape, else NULL
    vec3* box;         // [2 * frame_count] of its places
    bool has_uv, lines, rich;
} abc_mesh;

property abc_property(const char* name, property_kind kind, pod pod, int extent, int meta, int samples);
property abc_constant(const char* name, property_kind kind, pod pod, int meta); // says the same at all times

// ---- abc_mesh.c
void abc_store_value(abc* a, property* p, const unsigned char* value, size_t size); // a sample that is small and whole
void abc_store_float(abc* a, property* p, double value);
void abc_store_bounds(abc* a, property* p, vec3 low, vec3 high);
void abc_store_vectors(abc* a, property* p, const vec3* x, int count);
void abc_store_ints(abc* a, property* p, const int* values, int count, int missing); // negative ones are `missing`
weft_status abc_mesh_start(abc_mesh* m, export_job* job, int body, weft_error* error);
weft_status abc_mesh_put_frames(abc* a, abc_mesh* m, int body, weft_error* error);
void abc_mesh_finish(abc_mesh* m);

// ---- abc_names.c: of faces; colour and fields
weft_status abc_put_parameters(abc* a, property* all, abc_mesh* m, int body, const weft_cache_body* names,
                               weft_error* error);
weft_status abc_put_face_sets(abc* a, object* mesh, const weft_cache_body* body, weft_error* error);

#endif
