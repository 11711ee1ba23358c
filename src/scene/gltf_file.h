// Bodies from glTF 2.0 files: parsing (gltf_file.c), numbers of accessors (gltf_accessor.c), what a body is made of
// (gltf_body.c, gltf_part.c), animations (gltf_motion.c), where its vertices are at a time (gltf_pose.c).
#ifndef WEFT_GLTF_FILE_H
#define WEFT_GLTF_FILE_H

#include "math/vec.h"
#include "mesh/mesh.h"
#include "scene/tree.h"

// ---- the file

typedef struct gltf_bytes
{
    unsigned char* owned; // NULL: those of the GLB's chunk
    const unsigned char* data;
    size_t size;
    bool loaded;
} gltf_bytes;

// One of the lists at the top of a file.
typedef struct gltf_list
{
    const tree_node** item; // [count]
    int count;
} gltf_list;

// While it is read. Everything in it is untrusted.
typedef struct gltf_file
{
    const char* path;
    weft_error* error;
    tree tree;
    const tree_node* root;
    unsigned char* raw; // all bytes of a GLB; NULL: a .gltf
    const unsigned char* chunk;
    size_t chunk_size; // of its binary chunk
    gltf_list nodes, meshes, accessors, views, buffer_list, skins, animations, scenes;
    gltf_bytes* buffers; // [buffer_list.count], each read when it is first needed
    double values_left;  // numbers that may still be read: what bounds time and memory, whatever the file says
} gltf_file;

weft_status gltf_open(const char* path, gltf_file* out, weft_error* error);
void gltf_close(gltf_file* f); // zeroed is fine

// A sentence with the file, the line (of a .gltf) and the path of the value.
weft_status gltf_wrong(const gltf_file* f, const tree_node* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
weft_status gltf_no_memory(const gltf_file* f);
// A member; *out is NULL where there is none, another kind is an error.
weft_status gltf_get(const gltf_file* f, const tree_node* owner, const char* key, tree_kind kind,
                     const tree_node** out);
// A whole number from 0 to below `count` ("what" is for messages); node may be NULL: an error, too.
weft_status gltf_index_of(const gltf_file* f, const tree_node* node, const char* what, int count, int* out);
// Likewise of a member; -1 where there is none.
weft_status gltf_index(const gltf_file* f, const tree_node* owner, const char* key, int count, int* out);
// A list of `count` numbers; *found is false where there is none.
weft_status gltf_numbers(const gltf_file* f, const tree_node* owner, const char* key, int count, double* out,
                         bool* found);
const char* gltf_name(const tree_node* node); // its "name", or NULL
// The bytes of a buffer.
weft_status gltf_buffer(gltf_file* f, int index, const gltf_bytes** out);

// ---- accessors

// All numbers of an accessor, normalised where it says so, sparse ones put in. value is mem_free'd by the caller.
typedef struct gltf_values
{
    double* value; // [count * width]
    int count, width;
    bool is_float;
} gltf_values;

weft_status gltf_accessor(gltf_file* f, const tree_node* named, int width, gltf_values* out);

// ---- the body

// 3 x 4, row by row; the fourth row is 0 0 0 1.
typedef struct affine
{
    double m[12];
} affine;

typedef struct gltf_node
{
    int parent; // -1: none
    bool has_matrix;
    affine matrix;         // where has_matrix
    double translation[3]; // else these
    double rotation[4];    // x, y, z, w
    double scale[3];
} gltf_node;

typedef struct gltf_skin
{
    int* joint;    // [joint_count] nodes
    affine* bind;  // [joint_count] inverse bind matrices
    affine* world; // [joint_count] scratch of a pose
    int joint_count;
} gltf_skin;

// A node with a mesh. Vertices that are equal in all that moves them are one.
typedef struct gltf_part
{
    int node, skin; // skin -1: none
    int vertex_count;
    int target_count;
    int influence_count; // of a vertex, most; 0: not skinned
    double* row;         // [vertex_count * row_width] position, deltas of targets, then joint and weight pairs
    int row_width;
    double* weight;      // [target_count] of the file
    double* pose_weight; // [target_count] scratch of a pose
    int* triangle;       // [3 * triangle_count]
    int triangle_count;
    char* name;
} gltf_part;

typedef enum gltf_path
{
    GLTF_TRANSLATION,
    GLTF_ROTATION,
    GLTF_SCALE,
    GLTF_WEIGHTS,
    GLTF_PATH_COUNT
} gltf_path;

typedef enum gltf_interpolation
{
    GLTF_LINEAR,
    GLTF_STEP,
    GLTF_CUBIC
} gltf_interpolation;

typedef struct gltf_channel
{
    int node;
    gltf_path path;
    gltf_interpolation interpolation;
    int key_count, width; // width: numbers of a value
    double* time;         // [key_count] s, ascending
    double* value;        // [key_count * width], cubic ones [key_count * 3 * width]: in-tangent, value, out-tangent
} gltf_channel;

// What was met on the way and users should know of.
typedef struct gltf_notes
{
    int uneven_count;    // vertices whose weights had another sum than 1
    double uneven_worst; // the sum farthest from 1
    int other_modes;     // primitives of points or lines
    int dropped;         // triangles with a corner twice
    int welded;          // vertices that went into others
    int animation_count; // of the file
    int other_channels;  // of the animation, of what is not known here
} gltf_notes;

typedef struct gltf_body
{
    gltf_node* node; // [node_count]
    int* order;      // [node_count] parents first
    int node_count;
    affine* world; // [node_count] scratch of a pose
    gltf_node* posed;
    gltf_skin* skin; // [skin_count]
    int skin_count;
    gltf_part* part; // [part_count]
    int part_count;
    int vertex_count;      // of all parts
    gltf_channel* channel; // [channel_count] of the chosen animation
    int channel_count;
    double begin, end; // s, of its first and last key; 0 without
    double key_step;   // s, smallest distance of a channel's first two keys; 0 without
    vec3* other;       // [vertex_count] scratch of a pose between the last and the first
    gltf_notes notes;
} gltf_body;

typedef struct gltf_options
{
    const char* object;    // only nodes of this name, or with a mesh of this name; NULL: all
    const char* animation; // by its name; NULL: by number
    int animation_number;  // -1: none
} gltf_options;

// *out is destroyed by the caller. Errors name file, line and path.
weft_status gltf_body_read(const char* path, const gltf_options* options, gltf_body** out, weft_error* error);
void gltf_body_destroy(gltf_body* b); // NULL is fine

// Where all vertices are at a time of the animation (held before its first and after its last key), or, without one,
// as the file's nodes stand. out is [vertex_count], in the file's world: metres, y up.
void gltf_pose(gltf_body* b, double time, vec3* out);
// Likewise of a motion that repeats: from the last key to the first again it takes `gap` seconds, along straight lines.
void gltf_pose_loop(gltf_body* b, double time, double gap, vec3* out);
// Its triangles as a mesh, posed at that time. Each part is an object by its node's name.
weft_status gltf_mesh(gltf_body* b, const char* path, double time, mesh* out, weft_error* error);

// ---- parts of the reader
weft_status gltf_part_read(gltf_file* f, const tree_node* mesh, gltf_body* b, gltf_part* part);
weft_status gltf_motion_read(gltf_file* f, const gltf_options* options, gltf_body* b);
weft_status gltf_weld(gltf_part* part, int* welded); // NO_MEMORY
void gltf_nodes_pose(gltf_body* b, double time);     // world matrices of nodes and joints, weights of targets
static inline vec3 affine_apply(const affine* a, vec3 x)
{
    const double* m = a->m;
    return v3(m[0] * x.x + m[1] * x.y + m[2] * x.z + m[3], m[4] * x.x + m[5] * x.y + m[6] * x.z + m[7],
              m[8] * x.x + m[9] * x.y + m[10] * x.z + m[11]);
}

affine affine_mul(const affine* a, const affine* b);

#endif
