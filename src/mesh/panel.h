// A flat piece of cloth, given by its outline, as triangles of about one size.
#ifndef WEFT_PANEL_H
#define WEFT_PANEL_H

#include "mesh/mesh.h"

// Numbers that are exact: a panel's coordinates are whole multiples of PANEL_UNIT, so that the signs of areas and
// circles are those of integers of 128 bits.
#define PANEL_UNIT 0x1p-26  // m, 15 nm
#define PANEL_SIZE_MAX 16.0 // m

typedef struct panel_mesh
{
    vec2* point; // [point_count] m; those of the outline come first, in its order
    int point_count;
    int* triangle; // [3 * triangle_count] counter-clockwise
    int triangle_count;
} panel_mesh;

// Two sides of an outline that meet where they should not.
typedef struct panel_crossing
{
    int first, second; // -1: none. Side k goes from point k to the next one
} panel_crossing;

// outline is [count], counter-clockwise, at least three points; none of its sides is cut. edge: the length that edges
// are to have, m. BAD_INPUT: the outline crosses or touches itself; *crossing says where. NO_MEMORY.
weft_status panel_triangulate(const vec2* outline, int count, double edge, panel_mesh* out, panel_crossing* crossing);
void panel_mesh_finish(panel_mesh* m); // zeroed is fine

#endif
