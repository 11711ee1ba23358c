// Sewing patterns: flat panels with curved edges, placed in space, and which edges are sewn to which.
#ifndef WEFT_SEWING_PATTERN_H
#define WEFT_SEWING_PATTERN_H

#include "mesh/mesh.h"

typedef enum curve_kind
{
    CURVE_LINE,
    CURVE_QUADRATIC,
    CURVE_CUBIC,
    CURVE_ARC
} curve_kind;

// An edge of a panel, from one corner to another, m.
typedef struct pattern_edge
{
    curve_kind kind;
    int from, to;    // corners
    vec2 control[2]; // of Bezier curves
    double radius;   // of an arc, m
    bool large;      // the longer of two arcs
    bool left;       // it turns to the left
    int line;        // in the file
} pattern_edge;

typedef struct pattern_panel
{
    char* name;
    vec2* corner; // [corner_count] m
    int corner_count;
    pattern_edge* edge; // [edge_count] a closed loop, in order
    int edge_count;
    double rotation[9]; // row-major
    vec3 translation;   // m
    int line;
} pattern_panel;

// One side of a stitch.
typedef struct pattern_side
{
    int panel, edge;
} pattern_side;

// The start of one edge is sewn to the end of the other, as neighbours of a surface run; `alike`: to its start.
typedef struct pattern_stitch
{
    pattern_side side[2];
    bool alike;
    int line;
} pattern_stitch;

typedef struct sewing_pattern
{
    char* file; // for messages
    pattern_panel* panel;
    int panel_count;
    pattern_stitch* stitch;
    int stitch_count;
} sewing_pattern;

void pattern_finish(sewing_pattern* p); // zeroed is fine

// Pairs of vertices that are sewn to each other.
typedef struct stitch_pairs
{
    int* vertex; // [2 * count]
    int count, capacity;
} stitch_pairs;

// Panels as triangles with edges of about the length `edge` (m), each an object of the mesh by its name, in place.
// Texture coordinates are those of the panels in metres, one panel beside the other. Edges that are sewn have as many
// points; where they lie upon each other at the start they are one, else a pair each. Errors name file and line.
weft_status mesh_from_pattern(const sewing_pattern* p, double edge, mesh* out, stitch_pairs* stitches,
                              weft_error* error);

#endif
