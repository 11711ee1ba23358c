/// Inspection of positions: which triangles cross, how near the others come, how far cloth is stretched. The answers
/// about crossings are exact for the coordinates as given, and the code shares nothing with the collision detection of
/// the simulation. docs/inspect.md states the rules.
///
///     weft_inspect_def def = weft_inspect_def_default();
///     weft_inspect_body sheet = {.vertex_count = ..., .triangles = ..., .triangle_count = ...};
///     weft_inspector* inspector;
///     if (weft_inspector_create(&def, &sheet, 1, &inspector, &error) == WEFT_OK) ...
///     const weft_vec3* positions[1] = {...};
///     weft_inspection found;
///     weft_inspector_frame(inspector, positions, &found, &error);
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from weft_inspect_def_default(). A number out of its range is a broken contract: weft/types.h.
typedef struct weft_inspect_def
{
    int worker_count;       ///< 1: no threads are made; 0: one a core; more than 256 are 256. The answers are the same
    weft_task_hooks tasks;  ///< zero for the built-in pool
    int pair_limit;         ///< crossings that are listed, at most; 0 or more; 1000
    int64_t crossing_limit; ///< counting stops there; 1 or more; 1,000,000
    int64_t test_limit;     ///< pairs with overlapping boxes that are looked at; 0 or more; 0: 50 million and 50 a triangle
    int crossings_only;     ///< 1: neither distance nor strain is looked for: min_distance is infinity, max_strain NaN; 0
    uint32_t cookie;        ///< proves that the default was used; do not set. Without it the process ends: weft/types.h
} weft_inspect_def;

WEFT_API weft_inspect_def weft_inspect_def_default(void);

/// One body: what stays the same from frame to frame. The arrays are copied. All zero is a cloth without triangles.
typedef struct weft_inspect_body
{
    int obstacle;          ///< 1: an obstacle. Pairs of obstacles are not looked at
    int vertex_count;
    const weft_vec3* rest; ///< [vertex_count] rest shape for the strain of cloth, or NULL: no strain
    int triangle_count;
    const int* triangles;  ///< [3 * triangle_count] vertices of this body; one with a corner twice has no area and is fine
    int segment_count;
    const int* segments;   ///< [2 * segment_count] of strands: looked at as triangles without area, behind the triangles
} weft_inspect_body;

typedef enum weft_crossing_kind
{
    WEFT_CROSSING_THROUGH,    ///< the triangles lie in different planes
    WEFT_CROSSING_OVERLAP,    ///< they lie in one plane and share an area
    WEFT_CROSSING_EDGE,       ///< one passes, with its neighbour, through the other exactly along their common edge
    WEFT_CROSSING_DEGENERATE, ///< one of them has no area
    WEFT_CROSSING_NESTED      ///< a piece of body[0] lies inside body[1]; triangle[] are the first of the two pieces
} weft_crossing_kind;

WEFT_API const char* weft_crossing_kind_name(weft_crossing_kind kind); ///< "through", "overlap", "edge", ...

typedef struct weft_crossing
{
    int body[2], triangle[2]; ///< the first is cloth; triangles are counted in their bodies, segments from triangle_count on
    weft_crossing_kind kind;
} weft_crossing;

/// What a frame shows. Triangles with a coordinate that is not finite are left out of everything but `nonfinite`.
typedef struct weft_inspection
{
    int64_t crossings;   ///< pairs of triangles that cross, and nested bodies
    int64_t nested;      ///< the nested ones among them
    int truncated;       ///< 1: a limit was reached; there may be more crossings, and nested bodies were not looked for
    double min_distance; ///< m, between a triangle of cloth and one with no common vertex; infinity: there are none
    double max_strain;   ///< largest principal stretch of a triangle of cloth, less 1; NaN: there are none
    int64_t nonfinite;   ///< coordinates that are not finite or beyond 1e100 in size
    int64_t degenerate;  ///< triangles without area, and segments without length
    int pair_count;
    const weft_crossing* pairs; ///< [pair_count] sorted by the first, then the second triangle, the nested ones last;
                                ///< valid until the next frame or the end
} weft_inspection;

typedef struct weft_inspector weft_inspector;

/// BAD_INPUT when a triangle names a vertex that is not there; out is then NULL. body_count may be 0.
WEFT_API weft_status weft_inspector_create(const weft_inspect_def* def, const weft_inspect_body* bodies, int body_count,
                                           weft_inspector** out, weft_error* error);
/// positions[k] is [vertex_count] of body k, or NULL when it has no vertices.
WEFT_API weft_status weft_inspector_frame(weft_inspector* inspector, const weft_vec3* const* positions,
                                          weft_inspection* out, weft_error* error);
WEFT_API void weft_inspector_destroy(weft_inspector* inspector); ///< NULL is fine

#ifdef __cplusplus
}
#endif
#endif
