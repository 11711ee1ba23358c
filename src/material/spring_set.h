// What models of springs share: directions of edges, stiffnesses that fit a material, threads of grids.
#ifndef WEFT_SPRING_SET_H
#define WEFT_SPRING_SET_H

#include "material/material.h"

typedef struct edge_way
{
    double length, p, q; // m, and its direction
} edge_way;

edge_way spring_way(const vec2* rest /* [3] */, int side);               // of the side opposite to that corner
edge_way spring_crossing_way(const cloth_shape* shape, int t, int side); // from that corner to the tip beyond, unfolded
int spring_side(const cloth_shape* shape, int t, int hinge);             // of triangle t on a hinge

enum
{
    FIT_MAX = 4 // springs, and conditions
};

// Stiffnesses >= 0 with which sum_e rows[r][e] out[e] = wanted[r], or comes nearest.
void spring_fit(const double rows[FIT_MAX][FIT_MAX], const double* wanted, int row_count, int count, double* out);

// What leaves a vertex along a thread: forth and back, in warp and weft.
typedef struct crossing
{
    int next[2][2];         // [thread][forth or back] vertex, -1: none
    double length[2][2];    // m
    double area;            // m^2, of the vertex
    weft_material material; // around it
    bool border;
} crossing;

// [*count] of the scene's vertices up to the last of this cloth; with mem_free. NULL: no memory.
crossing* crossings_create(const cloth_shape* shape, int* count);
bool crossings_are_grid(const cloth_shape* shape, const crossing* all); // straight threads through every inner vertex
// What a part of a sheet says as its `bending`, where its model has no choice: as the whole has decided.
extern const char* const spring_bendings[2]; // it is no grid, it is one

#endif
