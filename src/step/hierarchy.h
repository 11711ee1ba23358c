// A hierarchy of particle systems (Mueller 2008, section 6). Level l has a part of the vertices of level l - 1 and
// upper limits of distance between them; level 0 is the cloth itself. Every vertex of a level that the next coarser one
// has not is a child there: it follows its parents by weights.
//
// Two ways to make it: hierarchy_grid.c for flat rectangular grids, where coarse levels are coarser grids, and
// hierarchy_mesh.c for everything else, by collapsing edges. Both fill the same parts.
#ifndef WEFT_HIERARCHY_H
#define WEFT_HIERARCHY_H

#include "step/graph.h"
#include "step/links.h"

enum
{
    LEVELS_MAX = 16,  // level 0 among them
    PARENTS_LEAST = 2 // of a child in general meshes: the paper's k
};

// How long a limit over a collapsed edge is.
typedef enum rest_rule
{
    REST_GEODESIC, // the shortest way along the surface
    REST_PATH,     // the sum of both edges' (the paper's first)
    REST_POSE      // the distance in the rest pose (the paper's second), which bridges cuts
} rest_rule;

typedef struct level
{
    links limits;
    int* vertex; // [vertex_count] sorted
    int vertex_count;
    int* child; // [child_count] vertices of the next finer level that are not here
    int child_count;
    int* parent_start; // [child_count + 1]
    int* parent;       // [parent_start[child_count]]
    double* weight;    // [parent_start[child_count]] of a child sum 1
    int* into;         // [child_count] the vertex of the level that a child is collapsed into; NULL after a mend
} level;

typedef struct hierarchy
{
    int vertex_count, level_count; // coarse levels
    level* levels;                 // [level_count] level 1 first
    uint8_t* coarsest;             // [vertex_count] the coarsest level that a vertex is in
} hierarchy;

typedef struct hierarchy_def
{
    int levels; // at most, level 0 among them
    rest_rule rule;
    bool grids;         // flat rectangular grids have coarser grids
    bool bends;         // coarse levels have links over two of theirs, too: is_bend
    const int* anchors; // of graph_groups
} hierarchy_def;

weft_status hierarchy_create(hierarchy* h, const graph* g, const hierarchy_def* def);
void hierarchy_finish(hierarchy* h); // zeroed or half-built is fine
// After vertices were torn off, and graph_mend: what crosses the cut goes or gets the way round it, all else stays
// (hierarchy_mend.c). On failure it is in between, and to be finished.
weft_status hierarchy_mend(hierarchy* h, const graph* g, int before, const int* from);
void parents_weigh(double* distances, int count); // m, of the parents of a child: become their weights (6)
void hierarchy_hold(hierarchy* h, const double* inv_mass);
// x of the level's children += sum of weights (x - q) of their parents (7); what is held (inv_mass 0) stays.
void hierarchy_prolong(const level* l, workers* pool, const double* inv_mass, const vec3* q, vec3* x);

// ---- for display (lod.c)

// Of a mesh the vertex that each is collapsed into on a coarse level, from 1: out is [vertex_count]. *levels: how many
// of them there are; where they are fewer, out is that of the last. Triangles whose corners differ are the coarser mesh.
weft_status lod_collapse(const mesh* m, int level, int* out, int* levels);

// ---- how it is made

typedef struct parent_def
{
    int child, parent;
    double distance; // m
} parent_def;

// A level as both makers add to it.
typedef struct level_parts
{
    link_def* links;
    int link_count, link_capacity;
    parent_def* parents; // those of a child one after the other
    int parent_count, parent_capacity;
    int* into; // of each child, in the order of the parents
    int into_count, into_capacity;
    int* vertices;
    int vertex_count, vertex_capacity;
} level_parts;

weft_status parts_vertex(level_parts* p, int vertex);
weft_status parts_link(level_parts* p, int a, int b, double length);
// One that keeps two ends of links, over what lies between them, apart as at rest, with the compliance of a fold of cloth
// of bending 1: `width` across, N m of sheets; 0: lines, N m^2.
weft_status parts_bend(level_parts* p, int a, int b, double length, double width);
weft_status parts_parent(level_parts* p, int child, int parent, double distance);
weft_status parts_into(level_parts* p, int target); // of the child whose parents come next

// Of the vertices whose `kept` is not zero; parts is [LEVELS_MAX], of coarse levels.
weft_status hierarchy_mesh(const graph* g, const hierarchy_def* def, const uint8_t* kept, level_parts* parts);
// Of component c, where it is a grid: *is_grid.
weft_status hierarchy_grid(const graph* g, const hierarchy_def* def, int c, level_parts* parts, bool* is_grid);

#endif
