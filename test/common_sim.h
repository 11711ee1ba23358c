// A grid cloth as a simulation, for tests of physics.
#ifndef WEFT_TEST_COMMON_SIM_H
#define WEFT_TEST_COMMON_SIM_H

#include "mesh/mesh.h"
#include "weft/weft.h"

// Adds a grid to a new simulation; `cloth` brings material, pins and so on, positions come from the grid unless given.
weft_sim* test_grid_sim(const weft_sim_def* def, const grid_options* grid, const weft_cloth_def* cloth, mesh* out_mesh);

// Vertices of a grid whose edge mask has one of the bits; returns the count. list has room for all.
int test_edge_vertices(const mesh* m, int bits, int* list);

// Settings with which `newton` goes to rest in a few steps: a very long time step.
weft_sim_def test_statics_def(void);

#endif
