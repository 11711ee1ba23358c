// Meshes: from grids and OBJ files to checked triangles with a rest shape, edges and an order that keeps neighbours
// near.
#ifndef WEFT_MESH_H
#define WEFT_MESH_H

#include "core/core.h"
#include "math/vec.h"

// What the faces of a mesh are, and what is simulated of them.
typedef enum mesh_form
{
    MESH_SHEET, // polygons; triangles are made from them
    MESH_LINES, // open polylines of two vertices or more, a strand each; segments are made from them
    MESH_SOLID, // the surface of tetrahedra, and triangles
    MESH_FORM_COUNT
} mesh_form;

// Names that faces have beside their object.
typedef struct mesh_names
{
    char** name; // [count]
    int count;
    int* face; // [face_count] index into the names, -1: none; NULL: none has one
} mesh_names;

// A mesh as the user gave it: faces, in the user's vertex order. Triangles are made from them by mesh_triangulate,
// segments by mesh_segment.
typedef struct mesh
{
    mesh_form form;
    int vertex_count;
    vec3* position; // [vertex_count] metres, after scale and transform

    int face_count;
    int* face_start;  // [face_count + 1]
    int* face_vertex; // [face_start[face_count]]
    int* face_line;   // [face_count] line in the file, or NULL
    int* face_object; // [face_count] index into object names, or NULL

    int texcoord_count;
    vec2* texcoord;     // [texcoord_count] or NULL
    int* face_texcoord; // [face_start[face_count]], -1 where a corner has none; NULL when no corner has one

    int object_count;
    char** object_name;         // [object_count]
    bool objects_are_groups;    // of a file without o lines: they are its g lines
    mesh_names group, material; // g lines beside o lines, usemtl
    char** library;             // [library_count] mtllib
    int library_count;

    int triangle_count;
    int* triangle;        // [3 * triangle_count]
    int* triangle_face;   // [triangle_count]
    int* triangle_corner; // [3 * triangle_count] index into face_vertex / face_texcoord

    int segment_count;
    int* segment; // [2 * segment_count] in the order of the lines

    int tetrahedron_count;
    int* tetrahedron;       // [4 * tetrahedron_count] the fourth on the side that the first three turn to
    int* tetrahedron_line;  // [tetrahedron_count] in tetrahedron_file, or NULL
    char* tetrahedron_file; // or NULL

    unsigned char* edge_mask; // [vertex_count] EDGE_ bits of grids; NULL for other meshes
    int stitch_count;         // pairs that are sewn to each other
    int* stitch;              // [2 * stitch_count] vertices; NULL: none
    int thread_count;         // points of edges that are sewn
    weft_thread* thread;      // [thread_count] NULL: none
    int side_count;           // edges of all panels of a pattern, one panel after the other; 0: it is none
    int* side_first;          // [object_count + 1] of each panel
    int* side_start;          // [side_count + 1] places in side_vertex
    int* side_vertex;         // along each
    int seam_count;           // stitches of the pattern
    int* seam_side;           // [2 * seam_count] sides that each sews to each other
    int* weld;                // [given_count] vertex that each given vertex became; NULL: none were welded
    int given_count;          // vertices before welding (of the file, or of the object taken from it); 0: weld is NULL
    int* face_given;          // [face_start[face_count]] the given vertex of each corner; NULL: none were welded
    int* same;                // [vertex_count] the first vertex that each is one with (obj_options.keep_given), or NULL

    char* file; // where it came from, for messages; NULL when built from arrays
} mesh;

// Named edges of a grid, in its (u, v) rectangle.
enum
{
    EDGE_LEFT = 1,   // u = 0
    EDGE_RIGHT = 2,  // u = size
    EDGE_BOTTOM = 4, // v = 0
    EDGE_TOP = 8,    // v = size
    EDGE_CUTOUT = 16 // the two edges of the L's cut-out
};

void mesh_finish(mesh* m); // zeroed or half-built is fine

// ---- sources
// A rectangle with u in [0, size_u] (warp) and v in [0, size_v] (weft), centred on the origin. Flat ("xz", the
// default): position (u - su/2, 0, sv/2 - v), normal +y. Upright ("xy"): (u - su/2, v - sv/2, 0), normal +z.
// A tube bulges to the side of that normal and has its axis through the origin.
// Faces run counter-clockwise in (u, v). Vertices are numbered row by row, u fastest.
typedef struct grid_options
{
    double size_u, size_v; // m
    int cells_u, cells_v;
    bool upright;   // in the xy plane instead of xz
    bool irregular; // jittered interior vertices and random diagonals, by seed
    bool quads;     // faces are quads (simulated as triangles)
    bool l_shape;   // the quarter u > su/2, v > sv/2 is cut out; cells must be even
    bool tube;      // rolled up around an axis along v, the seam closed: size_u is the circumference; no l_shape
    double flare;   // m, by which a tube is wider around at v = 0 than at v = size_v, where it has size_u
    uint64_t seed;
} grid_options;

weft_status mesh_from_grid(const grid_options* options, mesh* out, weft_error* error);

typedef struct obj_options
{
    const char* object; // take only faces of this object and the vertices that they use, in order; NULL: all
    double weld;        // vertices closer than this become one, in the file's unit (before mesh_transform); 0: none
    mesh_form form;     // which statements are its faces: f, or l; solids have tetrahedra in FILE.ele beside FILE.obj
    bool any_form;      // lines where the file has no f; form does not matter
    bool keep_given;    // vertices that the file says are one, as files of runs do, stay, and `same` says so
} obj_options;

// Reads triangles, quads, polygons, polylines, several objects (o lines; g lines where there is no o), v/vt/vn indices
// of either sign. Unknown lines are warnings. options may be NULL: polygons of all objects, nothing welded.
weft_status mesh_from_obj(const char* path, const obj_options* options, mesh* out, weft_error* error);

// Tetrahedra and their vertices from a file of another mesher, by the end of its name: FILE.node or FILE.ele (TetGen,
// both are read), FILE.msh (Gmsh 2.2 and 4.1, text), FILE.vtk (legacy unstructured grids, text). What else is in the
// file, such as triangles of the surface, is not looked at. Where every tetrahedron is inside out all are turned.
weft_status mesh_from_tets(const char* path, mesh* out, weft_error* error);

// ---- solids and strands that are made here
// A box around the origin, cells of five tetrahedra, mirrored from cell to cell: edges are those of the cells and one
// diagonal a square. Vertices are numbered along x first, then y, then z.
weft_status mesh_from_box(vec3 size, const int* cells /* [3] */, mesh* out, weft_error* error);
// A ball around the origin: 8 layers^3 tetrahedra. layers: some hundreds at most.
weft_status mesh_from_ball(double radius, int layers, mesh* out, weft_error* error);

// Bristles: straight strands down (-y) from a rectangle in the plane y = 0, row by row along x.
typedef struct brush_options
{
    double size_x, size_z; // m, between the outermost, around the origin
    int count_x, count_z;  // strands
    int vertices;          // of a strand, at least 2
    double length;         // m
    double spread;         // how much farther apart the lower ends are: 0: parallel, 1: twice as far
} brush_options;

weft_status mesh_from_brush(const brush_options* options, mesh* out, weft_error* error);

// ---- shapes, as triangles: docs/scene-reference.md states the tessellation
typedef enum shape_kind
{
    SHAPE_PLANE,
    SHAPE_SPHERE,
    SHAPE_BOX,
    SHAPE_CYLINDER,
    SHAPE_CAPSULE,
    SHAPE_TORUS,
    SHAPE_KIND_COUNT
} shape_kind;

typedef struct shape_options
{
    shape_kind kind;
    vec3 center;        // sphere, box, torus; of the plane its middle
    vec3 axis;          // of the torus; of the plane its normal; any length but zero
    vec3 from, to;      // of cylinder and capsule: ends of the axis, not equal
    vec3 size;          // of the box, along its own axes; of the plane size.x is the side of the square, m
    double hole;        // of the box: side of a square hole along its y, below size.x and size.z; 0: none
    bool is_turned;     // the box is turned about its center
    double rotation[9]; // of the box, row-major, when is_turned
    double radius;      // m
    double tube;        // of the torus, below radius, m
    int segments;       // at least shape_segments_min
} shape_options;

shape_options shape_default(shape_kind kind); // without what has no default: radius, tube, from, to
const char* shape_name(shape_kind kind);      // "plane", ...: as scenes say it
int shape_segments_min(shape_kind kind);
double shape_triangle_count(const shape_options* options); // as mesh_from_shape makes
// Largest distance between the shape's surface and its triangles, from above, m.
double shape_deviation(const shape_options* options);
// Watertight, outward and rounded to float; the plane is an open square. BAD_INPUT: too many triangles, or vertices
// that rounding moves too far.
weft_status mesh_from_shape(const shape_options* options, mesh* out, weft_error* error);

// From caller's arrays; face_start NULL: all faces are triangles.
weft_status mesh_from_arrays(const vec3* position, int vertex_count, const int* face_start, const int* face_vertex,
                             int face_count, mesh* out, weft_error* error);

// Likewise polylines: strands.
weft_status mesh_lines_from_arrays(const vec3* position, int vertex_count, const int* line_start,
                                   const int* line_vertex, int line_count, mesh* out, weft_error* error);

weft_status mesh_solid_from_arrays(const vec3* position, int vertex_count, const int* tetrahedron,
                                   int tetrahedron_count, mesh* out, weft_error* error);

// ---- labels: what other programs want of a mesh
weft_labels mesh_labels(const mesh* m); // lent
// Copies of them into a mesh whose faces are there. corner: [face_start[face_count]] the corner that each was when the
// labels were given (faces may have been turned over); output_count: 0 where the mesh has no outputs. BAD_INPUT: an
// index is out of range.
weft_status mesh_take_labels(mesh* m, const weft_labels* labels, const int* corner, int output_count,
                             weft_error* error);
void mesh_drop_labels(mesh* m); // all but texture coordinates and objects

// ---- preparation
// x becomes scale * rotation * x + translation.
void mesh_transform(mesh* m, const double* rotation /* [9] row-major, NULL: none */, double scale, vec3 translation);
// Splits polygons (quads by their shorter diagonal, others by ear clipping) and checks what simulation needs: finite
// coordinates, at least one triangle, no degenerate (zero-area) or repeated triangle, every edge in at most two
// triangles and run through in opposite directions. The error names file, line and face, and says what to do.
// Faces that run against their neighbours are turned over with a warning (a one-sided surface is an error). Sheets
// that touch in a vertex only are fine.
weft_status mesh_triangulate(mesh* m, weft_error* error);
// The segments of polylines, and checks what simulation needs: finite coordinates, at least one segment, none without
// length, none twice.
weft_status mesh_segment(mesh* m, weft_error* error);
// The surface of tetrahedra becomes the faces, and checks what simulation needs: finite coordinates, tetrahedra with a
// positive volume, no side of more than two.
weft_status mesh_surface(mesh* m, weft_error* error);
// Splits faces of any form likewise and asks only for finite coordinates and one triangle or segment: for obstacles
// and for bodies that others simulated. A polygon that crosses itself becomes a fan.
weft_status mesh_split(mesh* m, weft_error* error);
// The corners of the box around the vertices of faces (all of them where there is no face), of which there is at least one:
// a vertex that lies around somewhere is no part of what the mesh shows.
void mesh_bounds(const mesh* m, vec3* low, vec3* high);
// Coordinates become what a float holds.
void mesh_round(mesh* m);

// What cloth must not have and obstacles may; counts.
typedef struct mesh_defects
{
    int flat;                      // triangles without area
    int repeated;                  // triangles that cover the same three vertices as another
    int open_edges;                // edges of one triangle
    int crowded;                   // edges of more than two
    int disagreeing;               // edges of two that both run through them in the same direction
    int first_flat, first_crowded; // faces, -1: none
} mesh_defects;

weft_status mesh_find_defects(const mesh* m, mesh_defects* out); // of a mesh that is split; NO_MEMORY

// Closed: every edge has exactly two triangles, which run through it in opposite directions.
static inline bool defects_are_closed(const mesh_defects* d)
{
    return d->open_edges == 0 && d->crowded == 0 && d->disagreeing == 0;
}

// Warns of vertices that no face uses. Apart from mesh_triangulate, so that a mesh that was read from a file and then
// handed on as arrays is warned of once, with the file's numbers.
weft_status mesh_warn_unused(const mesh* m, weft_error* error);

// The rest shape of each triangle in its own plane: rest[3 * t + k] is corner k in (u, v), metres, positive area.
typedef enum rest_kind
{
    REST_SHAPE, // the given positions; u follows `warp` projected into the triangle, or +z where warp is nearly normal
                // to it
    REST_UV     // the vt map times uv_scale; mirrored charts are allowed (flipped to positive area)
} rest_kind;

weft_status mesh_rest(const mesh* m, rest_kind kind, vec3 warp, double uv_scale, vec2* rest, weft_error* error);

// Interior edges of triangles: hinge h joins the triangles `left` and `right` along vertex[0] - vertex[1];
// vertex[2] is opposite in left, vertex[3] in right. Left runs vertex[0] -> vertex[1].
typedef struct hinge
{
    int vertex[4];
    int left, right;
} hinge;

// Hinges sorted by (min vertex, max vertex). *out is mem_free'd by the caller. triangle_hinge (may be NULL) is
// [3 * triangle_count]: the hinge of the edge opposite to corner k, -1 on the boundary. vertex[0] < vertex[1].
// BAD_INPUT: an edge has more than two triangles or two that run through it alike; mesh_triangulate rules that out.
weft_status mesh_hinges(const int* triangle, int triangle_count, int vertex_count, hinge** out, int* out_count,
                        int* triangle_hinge);

// A locality-preserving order: Hilbert curve over the positions, ties by index. new_of_old is [count].
weft_status mesh_order(const vec3* position, int count, int* new_of_old);

// The same for whoever does so often: with memory that stays.
typedef struct order_item order_item;
typedef struct order_scratch
{
    order_item* item[2]; // [capacity]
    int capacity;
} order_scratch;

bool order_reserve(order_scratch* s, int count); // false: there is no memory
void order_finish(order_scratch* s);             // zeroed is fine
void order_along_curve(const vec3* position, int count, order_scratch* s, int* new_of_old);

// flags is [vertex_count], set to 1 for vertices on an edge with one triangle and for ends of lines, else 0.
weft_status mesh_boundary(const mesh* m, unsigned char* flags);

#endif
