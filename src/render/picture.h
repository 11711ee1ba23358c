// What the files of the render room share: matrices, vertex buffers, colours, shader texts.
#ifndef WEFT_PICTURE_H
#define WEFT_PICTURE_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/render.h"

// ---- matrices, column-major as OpenGL takes them
typedef struct mat4
{
    float m[16];
} mat4;

mat4 mat4_mul(const mat4* a, const mat4* b); // a b
mat4 mat4_look(vec3 eye, vec3 target, vec3 up);
mat4 mat4_perspective(double fov, double aspect, double near_z, double far_z);
// Orthographic: a sphere around the origin, seen against `direction`, fills the unit cube [0, 1]^3 but for `margin`.
mat4 mat4_sphere(vec3 direction, double radius, double margin);

// ---- camera
// Towards the key light: the view's own, or over the camera's left shoulder.
vec3 view_light(const weft_view* view);

// ---- a shot: everything about one picture but the meshes themselves
enum
{
    KEY_LIGHTS = 16, // points of the key light's disc, each with a shadow map; also in the shaders
    SKY_LIGHTS = 32, // directions of the sky, each with a shadow map; also in the shaders
    KEY_MAP_SIZE = 1024,
    SKY_MAP_SIZE = 320
};

typedef struct shot
{
    vec3 origin;         // of the floats: the middle of all meshes but backdrops
    double radius;       // of a sphere around those meshes
    double reach;        // of one around all meshes, about the same origin
    vec3 eye, light;     // camera, relative to origin; direction towards the key light
    mat4 camera;
    float rays[9];       // columns: right and up to the picture's border, forward; takes a pixel to its ray
    double edge_bias;    // clip depth that edges are lifted by
    int key_count, sky_count;
    mat4 key[KEY_LIGHTS], sky[SKY_LIGHTS]; // from relative positions to the unit cube of each shadow map
    float sky_direction[4 * SKY_LIGHTS];   // towards, and its share of the half sphere
    float disc[2 * KEY_LIGHTS];            // even points of the unit disc, for blurs
    float patch[4];      // of the ground, where the sky's shade is known: corner x, z; side; height
    float spread;        // of lookups in the key light's maps from the ground, in the unit cube
    float grid[4];       // on the ground: spacing; offset x, z of a line; distance from the eye that is looked at
} shot;

void shot_set(const weft_view* view, const weft_render_mesh* meshes, int mesh_count, double aspect, shot* out);

// ---- an OpenGL ES 3 context. It borrows the calling thread between enter and leave, and gives back what was current.
typedef struct context
{
    void* display; // EGLDisplay
    void* handle;  // EGLContext; NULL: none
} context;

typedef struct borrowed
{
    void *display, *own_display, *draw, *read, *context; // of EGL, current before; NULL: none
    unsigned api;
} borrowed;

bool context_create(context* out);
void context_destroy(const context* c); // one without handle is fine
bool context_enter(const context* c, borrowed* before);
void context_leave(const borrowed* before);

// ---- surfaces
// One vertex as the GPU takes it; positions are relative to an origin near the scene, so that floats suffice.
typedef struct surface_vertex
{
    float position[3];
    float normal[3]; // area-weighted mean of the triangles around, unit length
    float scalar;    // 0..1 along the colour map
} surface_vertex;

typedef struct surface
{
    surface_vertex* vertices; // [vertex_count + corner_count]: the mesh's, then, with colours or creases, each triangle's corners
    int vertex_count;
    uint32_t* corner_colors;  // [3 * corner_count] those of its triangle's corners, 8 bits a channel, or NULL
    int corner_count;         // 0, or 3 * triangle_count; then the triangles are of corners
    uint32_t* triangles;      // [3 * triangle_count] without those that are not finite and repeats
    int triangle_count;
    uint32_t* edges;          // [2 * edge_count] each polygon edge once
    int edge_count;
    double edge_length;       // mean, m
} surface;

weft_status surface_build(const weft_render_mesh* mesh, vec3 origin, double scalar_min, double scalar_max,
                          surface* out);
// Of triangles with the same three points as corners, in any order, the first stays.
weft_status surface_drop_repeats(surface* s, const vec3* positions);
// Corners with normals of their own, sharp at creases, for a surface whose vertices have room for them.
weft_status surface_split_creases(surface* s);
void surface_finish(surface* s); // zeroed or half-built is fine

// ---- flat drawings
void canvas_blend(const weft_canvas* c, int x, int y, weft_color color, double alpha); // outside: nothing

// ---- legend, drawn onto finished pixels [3 * width * height]
void legend_draw(const weft_view* view, uint8_t* rgb, int width, int height);

// ---- shaders. Each text follows shader_head and shader_key; fragment texts also follow shader_fragment.
extern const char shader_head[], shader_key[];
extern const char shader_fragment[];
extern const char shader_depth_vertex[], shader_depth_fragment[];
extern const char shader_screen_vertex[], shader_background_fragment[];
extern const char shader_sky_fragment[];
extern const char shader_ground_fragment[]; // with the screen's vertices
extern const char shader_light_vertex[]; // with the depth fragment
extern const char shader_surface_vertex[], shader_surface_fragment[];
extern const char shader_edge_vertex[], shader_edge_fragment[];

#endif
