// Short sides and flat triangles beside long ones, as in garments whose meshes were clipped along their seams. A sweep
// ends each of its constraints at the cost of the others: the long sides at such a vertex each move it by their own
// stretch, which is many times what is short there, and only as many sweeps as the square of that ratio would agree.
// So what is short comes last, as upper limits: a side, or the height of a triangle over its longest side, is stretched
// no more than the longest sides around it, and a little.
#ifndef WEFT_SLIVERS_H
#define WEFT_SLIVERS_H

#include "step/step.h"

// From a vertex to a point between two others (or, of a side, to another).
typedef struct sliver
{
    int vertex[3];
    double share;      // of vertex[2] in that point
    double length;     // m, at rest
    int far[3];        // the other ends of the longest sides at the vertices
    double longest[3]; // m
} sliver;

typedef struct slivers
{
    sliver* item; // [count] the longest first
    int count, capacity;
    uint8_t* has; // [vertex_count] whether the vertex is of one; NULL: there are none
} slivers;

weft_status slivers_make(slivers* s, const model* m); // also anew: torn cloth has others, if it had any
void slivers_finish(slivers* s);                      // zeroed is fine
void slivers_project(const slivers* s, const double* inv_mass, vec3* x);

#endif
