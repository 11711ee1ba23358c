/// Pictures of meshes, without display or GPU: from plain arrays to RGB pixels, and from those to a PNG file.
///
///     weft_renderer* renderer;
///     if (weft_renderer_create(1280, 720, 2, &renderer, &error) == WEFT_OK) ...
///     weft_box box = weft_box_empty();
///     weft_box_add(&box, positions, vertex_count);
///     weft_view view = weft_view_default();
///     weft_view_frame(&view, &box, 1280.0 / 720.0);
///     weft_render_mesh mesh = weft_render_mesh_default();
///     mesh.positions = ...; mesh.triangles = ...;
///     weft_renderer_draw(renderer, &view, &mesh, 1, rgb, &error);
///     weft_png_write("cloth.png", rgb, 1280, 720, &error);
///
/// A renderer belongs to one thread at a time; several may live side by side.
#ifndef WEFT_RENDER_H
#define WEFT_RENDER_H

#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// sRGB, each in [0, 1], as a colour picker shows it.
typedef struct weft_color
{
    float r, g, b;
} weft_color;

/// ---- what is drawn

typedef enum weft_mesh_role
{
    WEFT_MESH_CLOTH,   ///< two-sided, lets some light through, with a fabric's sheen
    WEFT_MESH_OBSTACLE ///< plain matt; has no back colour
} weft_mesh_role;

/// Start from weft_render_mesh_default(). Arrays are read during the call only. Triangles with a vertex that is not
/// finite are left out; of those with the same three points as corners the first is drawn.
typedef struct weft_render_mesh
{
    const weft_vec3* positions; ///< [vertex_count] m
    int vertex_count;
    const int* triangles;       ///< [3 * triangle_count], counter-clockwise seen from the front
    int triangle_count;
    const int* face_start;      ///< [face_count + 1], or NULL: the faces are triangles of face_vertices
    const int* face_vertices;   ///< polygons whose edges are drawn over the surface, or NULL: none are
    int face_count;
    const double* scalars;      ///< [vertex_count] shown by the colour map instead of the colours, or NULL
    const weft_color* colors;   ///< [vertex_count] instead of front, back and scalars, or NULL. Each triangle shows at
                                ///< every point that of its nearest corner, so that borders are crisp
    weft_color front, back;
    weft_mesh_role role;
} weft_render_mesh;

WEFT_API weft_render_mesh weft_render_mesh_default(void);
/// Pleasant front and back colours for the index-th cloth of a picture; they repeat.
WEFT_API void weft_render_mesh_palette(weft_render_mesh* mesh, int index);

/// ---- from where

typedef struct weft_box
{
    weft_vec3 min, max; ///< empty while min.x > max.x
} weft_box;

WEFT_API weft_box weft_box_empty(void);
/// Points that are not finite are skipped.
WEFT_API void weft_box_add(weft_box* box, const weft_vec3* points, int count);
/// Only the points that triangles [3 * triangle_count] have: what a mesh shows, without vertices that lie around somewhere.
WEFT_API void weft_box_add_triangles(weft_box* box, const weft_vec3* points, const int* triangles, int triangle_count);

/// Start from weft_view_default(). y is up.
typedef struct weft_view
{
    weft_vec3 eye, target, up; ///< camera, m
    double fov;                ///< vertical angle of view, rad
    weft_vec3 light;           ///< towards the key light, any length; zero: over the camera's left shoulder
    int ground;                ///< 0: none. It shows shadows and a faint grid, and is unseen from below
    double ground_height;      ///< m
    weft_color background_top, background_bottom;
    double scalar_min, scalar_max; ///< ends of the colour map
    const char* legend;        ///< title of the colour map's legend (letters, digits, some signs), or NULL: none
    double legend_scale;       ///< the legend's numbers are scalars times this; 100 for percent
} weft_view;

WEFT_API weft_view weft_view_default(void);
/// Aims the camera so that the whole box is in the picture, and puts the ground a little below it. `aspect` is width /
/// height. A film gives the box of all its frames, so that the camera stands still. An empty box frames the unit cube.
WEFT_API void weft_view_frame(weft_view* view, const weft_box* box, double aspect);
/// The same for points [count], of which those that are not finite are skipped: closer, where their box has empty corners.
WEFT_API void weft_view_frame_points(weft_view* view, const weft_vec3* points, int count, double aspect);

/// ---- drawing

typedef struct weft_renderer weft_renderer;

/// Size in pixels, 1..16384. supersample: 1 (four samples a pixel, for films) or 2 (sixteen, for pictures; those of
/// more than 4 million pixels get 1). UNSUPPORTED, with the packages to install, where no OpenGL ES 3 driver is found.
WEFT_API weft_status weft_renderer_create(int width, int height, int supersample, weft_renderer** out,
                                          weft_error* error);
WEFT_API void weft_renderer_destroy(weft_renderer* renderer); ///< NULL is fine
/// rgb is [3 * width * height], top row first. No meshes (mesh_count 0, meshes may be NULL) gives the background.
WEFT_API weft_status weft_renderer_draw(weft_renderer* renderer, const weft_view* view, const weft_render_mesh* meshes,
                                        int mesh_count, uint8_t* rgb, weft_error* error);

/// Writes the picture whole or not at all: an older file of that name stays when it fails. rgb as above.
WEFT_API weft_status weft_png_write(const char* path, const uint8_t* rgb, int width, int height, weft_error* error);

/// ---- flat drawings: onto pixels as weft_renderer_draw leaves them, or a plain ground

/// rgb is [3 * width * height], top row first. Points are in pixels, x to the right, y down, (0, 0) the picture's corner.
/// What lies outside is cut off.
typedef struct weft_canvas
{
    uint8_t* rgb;
    int width, height;
} weft_canvas;

WEFT_API void weft_canvas_fill(const weft_canvas* canvas, weft_color color);
/// Soft borders and round ends; width in pixels, and a width below 1 fades. A point that is not finite: nothing.
WEFT_API void weft_canvas_line(const weft_canvas* canvas, weft_vec2 from, weft_vec2 to, double width, weft_color color);
/// Letters (both cases look like capitals), digits, some signs; others leave a gap. `at` is the left end of the baseline,
/// height that of a capital in pixels.
WEFT_API void weft_canvas_text(const weft_canvas* canvas, const char* text, weft_vec2 at, double height,
                               weft_color color);
WEFT_API double weft_canvas_text_width(const char* text, double height); ///< pixels

/// ---- helpers

/// Stretch against the rest shape, for `scalars`: each triangle's largest principal stretch minus 1, averaged over the
/// triangles of a vertex; 0 at rest and for a vertex without triangles. rest, positions and out are [vertex_count].
WEFT_API weft_status weft_render_strain(const weft_vec3* rest, const weft_vec3* positions, int vertex_count,
                                        const int* triangles, int triangle_count, double* out);
/// Strands as a surface: a tube around each segment. vertices is [WEFT_TUBE_VERTICES * segment_count], triangles
/// [3 * WEFT_TUBE_TRIANGLES * segment_count] or NULL: they are the same for all positions. A segment that is not finite makes
/// vertices that are not.
enum
{
    WEFT_TUBE_VERTICES = 14,
    WEFT_TUBE_TRIANGLES = 24
};
WEFT_API void weft_render_tubes(const weft_vec3* positions, const int* segments, int segment_count, double radius,
                                weft_vec3* vertices, int* triangles);
/// The colour map at t in [0, 1] (clamped): dark to light in even perceptual steps.
WEFT_API weft_color weft_color_map(double t);

#ifdef __cplusplus
}
#endif
#endif
