/// Collision detection alone: continuous queries of two primitives, and all pairs of many moving meshes.
#ifndef WEFT_COLLIDE_H
#define WEFT_COLLIDE_H

#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// ---- two primitives over a step

typedef enum weft_pair_kind
{
    WEFT_VERTEX_FACE, ///< four points: the vertex, then the triangle's corners
    WEFT_EDGE_EDGE    ///< four points: the ends of one edge, then of the other
} weft_pair_kind;

typedef struct weft_ccd
{
    int collides; ///< 1: the closed primitives share a point at some time in [0, 1]; touching counts
    double time;  ///< a lower bound of the first such time, at most 1e-6 below it; infinity when there is none
    int exact;    ///< 1: the floating-point filter could not decide, and exact arithmetic did
} weft_ccd;

/// Every point moves on a straight line from start (t = 0) to end (t = 1). The answer is exact: no collision is missed,
/// none is made up, and degenerate cases (slivers, parallel edges, coplanar motion, equal points) are decided, not
/// perturbed. Takes up to 256 KiB of stack and no other memory. Coordinates are 0 or between 1e-30 and 1e12 in size;
/// BAD_INPUT otherwise (NOT_FINITE for a NaN or an infinity), and out is left alone.
WEFT_API weft_status weft_ccd_query(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4],
                                    weft_ccd* out);

/// ---- all pairs of many moving meshes

/// Triangles and strand edges over one array of vertices: cloths, strands and obstacles together. The edges of triangles
/// are found by the collider, each once. Start from weft_collider_def_default(); every field is then valid. All arrays are copied.
typedef struct weft_collider_def
{
    int vertex_count;
    const int* triangles; ///< [3 * triangle_count] or NULL when there are none; three different vertices of one body each
    int triangle_count;
    const int* edges;     ///< [2 * edge_count] edges of strands, or NULL; one that is a triangle's side too is the same edge
    int edge_count;
    const int* body;      ///< [vertex_count] from 0 to body_count - 1, in any order and mixed at will, or NULL: all of body 0
    int body_count;       ///< 1
    const uint8_t* passive;       ///< [body_count] 1: an obstacle; pairs of two obstacles are not wanted. NULL: none is
    const int* excluded_bodies;   ///< [2 * excluded_body_count] pairs of bodies; one with itself turns self-collision off
    int excluded_body_count;
    const int* excluded_vertices; ///< [2 * excluded_vertex_count] vertex, body: what holds the vertex ignores the body
    int excluded_vertex_count;
    const int* seam;        ///< [vertex_count] or NULL: vertices with the same number, 0 or more, count as one: features that hold them are connected. Negative: by itself
    int pair_limit;         ///< more pairs of one kind are refused; 12 bytes each at most. 100 million
    int worker_count;       ///< 1: no threads are made; 0: one a core
    weft_task_hooks tasks;  ///< zero for the built-in pool
    const char* kernels;    ///< "auto", "base", "avx2", "avx512"
    uint32_t cookie;        ///< proves that the default was used; do not set. Without it the process ends: weft/types.h
} weft_collider_def;

typedef struct weft_collider weft_collider;

WEFT_API weft_collider_def weft_collider_def_default(void);
/// BAD_INPUT names the triangle, edge or vertex that is wrong; out is then NULL.
WEFT_API weft_status weft_collider_create(const weft_collider_def* def, weft_collider** out, weft_error* error);
WEFT_API void weft_collider_destroy(weft_collider* collider); ///< NULL is fine
/// The edges of triangles and strands, sorted by (lower, higher) vertex: [2 * *count], lives as long as the collider. count
/// may not be NULL.
WEFT_API const int* weft_collider_edges(const weft_collider* collider, int* count);

/// Positions at both ends of a step, [vertex_count] each; they are copied, and end may be start. margin, in metres, is
/// what weft_collider_pairs allows between boxes; finite and not negative, BAD_INPUT otherwise, and the last update stays in
/// force. NOT_FINITE names the vertex. After that, and after NO_MEMORY, there are no positions: as before the first update,
/// weft_collider_pairs, _near and _impacts answer BAD_INPUT until an update succeeds. start and end may be NULL only when
/// there are no vertices.
WEFT_API weft_status weft_collider_update(weft_collider* collider, const weft_vec3* start, const weft_vec3* end,
                                          double margin, weft_error* error);

/// A vertex and a triangle, or two edges (first < second; numbers as weft_collider_edges has them).
typedef struct weft_pair
{
    int first, second;
} weft_pair;

/// What weft_collider_pairs, _near and _impacts hand out belongs to the collider. Each of the three has arrays of its own, which
/// last until the next call of that same function, failed or not, or the collider's end: the other two and
/// weft_collider_update leave them alone. After a failure counts are 0 and arrays NULL; arrays without entries may be NULL too.
///
/// Each array is sorted by (first, second).
typedef struct weft_pairs
{
    const weft_pair* vertex_face;
    int vertex_face_count;
    const weft_pair* edge_edge;
    int edge_edge_count;
} weft_pairs;

/// The candidates: pairs of features whose boxes are near. The box of a feature is the closed axis-aligned box of its
/// vertices at both ends of the step. Boxes a and b are near when, evaluated in double along every axis,
/// low_b - high_a <= margin and low_a - high_b <= margin. Exactly these pairs, less the connected ones (the vertex is one of
/// the triangle's; the edges share one), those of two obstacles and the excluded ones. BAD_INPUT: more than pair_limit.
WEFT_API weft_status weft_collider_pairs(weft_collider* collider, weft_pairs* out, weft_error* error);

/// Two features at their closest points. sum of weight[k] * x[vertex[k]] is the vector from the closest point of the second
/// to that of the first, distance * normal.
typedef struct weft_near
{
    weft_pair_kind kind;
    int first, second;  ///< as in weft_pair
    int vertex[4];      ///< the vertex, then the triangle's; or the ends of the first edge, then of the second
    double weight[4];   ///< 1, then -barycentric weights; or 1 - s, s, -(1 - t), -t
    weft_vec3 normal;   ///< unit vector from second to first. At distance zero the normal of the face or of both edges, of
                        ///< either sign; where that is zero too, one perpendicular to the longest edge
    double distance;    ///< m
} weft_near;

/// All vertex-face and edge-edge pairs that are at most `distance` apart at the end positions of the last update, culled as
/// the candidates are; vertex-face pairs first, each kind sorted by (first, second). Strands meet faces through their vertices
/// and everything through their edges. *out is [*count] and lasts until the next weft_collider_near. distance is in metres,
/// finite and not negative. The search goes through the boxes of the whole step: it is fastest after an update with end =
/// start. At most pair_limit candidates of a kind.
WEFT_API weft_status weft_collider_near(weft_collider* collider, double distance, const weft_near** out, int* count,
                                        weft_error* error);

/// A pair that collides within the step: weft_ccd_query says so.
typedef struct weft_impact
{
    weft_pair_kind kind;
    int first, second; ///< as in weft_pair
    int vertex[4];     ///< as in weft_near
    double time;       ///< as in weft_ccd
    int exact;         ///< as in weft_ccd
} weft_impact;

/// All pairs that collide on the way from start to end of the last update, whatever its margin; vertex-face pairs first, each
/// kind sorted by (first, second). *out is [*count] and lasts until the next weft_collider_impacts. At most pair_limit
/// candidates of a kind. BAD_INPUT names a pair with coordinates that weft_ccd_query refuses.
WEFT_API weft_status weft_collider_impacts(weft_collider* collider, const weft_impact** out, int* count,
                                           weft_error* error);

#ifdef __cplusplus
}
#endif
#endif
