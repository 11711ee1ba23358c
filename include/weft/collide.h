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

#ifdef __cplusplus
}
#endif
#endif
