// What the two files of the glTF writer share: gltf.c has vertices and data, gltf_json.c the JSON.
#ifndef WEFT_GLTF_H
#define WEFT_GLTF_H

#include "export/export.h"

typedef struct range
{
    vec3 low, high;
} range;

typedef struct gltf_mesh
{
    const weft_cache_body* body;
    int vertex_count;
    int* source;        // [vertex_count] the user's vertex; NULL: the same
    int* texcoord;      // [vertex_count] -1: none; NULL: no vertex has one
    int* corner;        // [corners of all faces] glTF vertex; NULL: the user's
    export_sets sets;   // of faces with the same names: a primitive each
    export_faces faces; // of each set, where there are several
    int* set_indices;   // [sets.count + 1] where the indices of each begin, counted in indices
    int* material;      // [names of materials + 1] index of each in the file, -1: no face has it; last: faces without
    int target_count;   // morph targets
    bool normals;       // it has some, in the targets too
    export_pose* pose;  // [frame_count] of one that does not change its shape: its node moves; else NULL
    range* ranges;      // [1 + target_count] of the positions of the first frame, and of the targets
    uint64_t offset;    // of its data
    int view, accessor; // its first ones
} gltf_mesh;

typedef struct gltf
{
    export_job* job;
    whole_file* file;
    export_text* text;
    gltf_mesh* mesh; // [body_count]
    int frame_count;
    int view_count, accessor_count; // of all meshes; those of the animation follow
    int material_count;
    uint64_t animation, size;       // offset of the animation's data, and bytes of all data
    bool moves, morphs;             // there is an animation, of morph targets
    float* first;                   // [3 * glTF vertices of the largest mesh that moves] positions in the first frame
    vec3* normals;                  // [vertices of the largest body]
} gltf;

// ---- bytes of the data of a mesh: indices, texture coordinates, positions of the first frame and the
// targets, normals likewise

// Corners of triangles, or ends of segments.
static inline int64_t gltf_index_count(const gltf_mesh* m)
{
    return m->body->lines ? 2 * (int64_t)m->body->segment_count : 3 * (int64_t)m->body->triangle_count;
}

static inline uint64_t gltf_index_bytes(const gltf_mesh* m)
{
    return 4 * (uint64_t)gltf_index_count(m);
}

static inline uint64_t gltf_texcoord_bytes(const gltf_mesh* m)
{
    return m->texcoord ? 8 * (uint64_t)m->vertex_count : 0;
}

static inline uint64_t gltf_frame_bytes(const gltf_mesh* m)
{
    return 12 * (uint64_t)m->vertex_count;
}

// Positions, or normals, of the first frame and of all targets.
static inline uint64_t gltf_frames_bytes(const gltf_mesh* m)
{
    return (1 + (uint64_t)m->target_count) * gltf_frame_bytes(m);
}

// First accessors of positions and normals; those of the targets follow.
static inline int gltf_positions(const gltf_mesh* m)
{
    return m->accessor + m->sets.count + (m->texcoord ? 1 : 0);
}

static inline int gltf_normals(const gltf_mesh* m)
{
    return gltf_positions(m) + 1 + m->target_count;
}

// ---- JSON
// The part that changes when the data are written, the bounds: it comes first, and is as long whatever they are.
void gltf_put_accessors(const gltf* g);
void gltf_put_rest(const gltf* g);

#endif
