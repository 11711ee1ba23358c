// Continuous collision detection of two primitives: see ccd.c for the mathematics that both parts share.
#ifndef WEFT_CCD_H
#define WEFT_CCD_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/collide.h"

// The corners of the polygon that must not reach the origin, at both ends of the step: corner k of a vertex-face pair
// is face corner k minus the vertex; of an edge-edge pair the four differences of end points, in the order in which
// they go round their parallelogram.
enum
{
    CCD_CORNERS = 4
};

// The points whose difference corner k is: start[of[k][0]] - start[of[k][1]].
typedef struct ccd_corners
{
    int count; // 3 or 4
    int of[CCD_CORNERS][2];
} ccd_corners;

extern const ccd_corners ccd_corners_of[2]; // by weft_pair_kind

typedef enum ccd_verdict
{
    CCD_NO,
    CCD_YES,
    CCD_UNSURE
} ccd_verdict;

// Floating point with proved bounds. YES: *time is a lower bound of the first collision, less than 1e-6 below it.
ccd_verdict ccd_filter(weft_pair_kind kind, const vec3 start[4], const vec3 end[4], double* time);
// Exact. *time as above.
bool ccd_exact(weft_pair_kind kind, const vec3 start[4], const vec3 end[4], double* time);

// Both, for callers that have checked the range of their coordinates (ccd_in_range).
weft_ccd ccd_decide(weft_pair_kind kind, const vec3 start[4], const vec3 end[4]);
// Whether an edge and a face that do not move share a point: one that goes along the edge meets the face.
bool ccd_pierces(vec3 from, vec3 to, const vec3 face[3]);
bool ccd_in_range(double coordinate); // 0, or between 1e-30 and 1e12 in size

#endif
