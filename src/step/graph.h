// What is connected with what in a model, and how far it is along the surface: for limits of distance (limits.h) and
// coarser particle systems (hierarchy.h).
//
// Edges are those of triangles, with the lengths of their rest shapes, and springs along lines and through solids.
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include "core/way_heap.h"
#include "step/step.h"

typedef struct graph
{
    int vertex_count;
    int* start;         // [vertex_count + 1]
    int* other;         // [start[vertex_count]] neighbours of each vertex, sorted
    double* length;     // [start[vertex_count]] m, likewise
    int triangle_count; // of sheets
    const int* triangle;
    int *fan_start, *fan; // triangles around each vertex: fan[fan_start[i] .. fan_start[i + 1])
    uint8_t* border;      // [vertex_count] 1: on the border of a sheet
    int* component;       // [vertex_count] from 0, by the smallest vertex
    int component_count;
    const vec3* rest; // [vertex_count] m
    double longest;   // m, of all edges
} graph;

weft_status graph_create(graph* g, const model* m);
void graph_finish(graph* g); // zeroed or half-built is fine
// After vertices were torn off: those from `before` on, each from one of those before it. Rows around them are made
// anew; components are not. Of models of sheets alone. On failure the graph is as it was.
weft_status graph_mend(graph* g, const model* m, int before, const int* from);
weft_status graph_components(graph* g); // numbers them anew
double graph_length(const graph* g, int a, int b); // m, of the edge; negative: there is none
// Of the pin that holds each vertex in all directions its motion, -1: none holds it; out is [vertex_count].
void graph_anchors(const model* m, int* out);
// Anchors of one motion that edges join are one group: out[i] from 0, -1: no anchor. Returns how many there are, -1: no
// memory.
int graph_groups(const graph* g, const int* anchors, int* out);

// Shortest ways along the surface from sources, over triangles unfolded into a plane: exact in flat cloth, whatever its
// triangles are, where the straight way stays inside.
typedef struct geodesic
{
    const graph* g;
    double* distance; // [vertex_count] m; infinite: not reached
    int* source;      // [vertex_count] the source that it is measured from
    int* reached;     // [reached_count] vertices
    int reached_count;
    way_heap heap;
    int target; // -1: none; what is farther from it than the rest of the way is not looked at
} geodesic;

weft_status geodesic_create(geodesic* d, const graph* g);
void geodesic_finish(geodesic* d);                                                   // zeroed or half-built is fine
weft_status geodesic_run(geodesic* d, const int* sources, int count, double radius); // what is farther is not reached
// From a to b, if it is at most `most`, m; else infinite. Only what can be on such a way is looked at.
weft_status geodesic_between(geodesic* d, int a, int b, double most, double* out);

typedef enum way_kind
{
    WAY_UNKNOWN, // the surface is not flat there
    WAY_BLOCKED, // a border is in between
    WAY_STRAIGHT
} way_kind;

// How far it is from a to b over flat cloth (straight.c), m: straight, or where a border is in between the shorter one of
// the ways round it with one bend; infinite: there is none of at most `most`, or it is not flat there.
way_kind straight_way(const graph* g, int a, int b, double most, double* out);

#endif
