// Linear systems for tests of solvers: from scenes, made up, joined, constrained; and what an iterate is worth.
#ifndef WEFT_TEST_COMMON_SYSTEM_H
#define WEFT_TEST_COMMON_SYSTEM_H

#include "solve/system.h"

// The system of a scene after some steps; pins stay.
weft_system* test_scene_system(const char* scene, const char* const* overrides, int override_count, int steps);
// Edges of a sheet of side x side vertices to the right, up and along both diagonals: at most 4 a vertex. Returns their
// number; pairs is [8 * side * side].
int test_sheet_pairs(int side, int* pairs);
// A sheet of side x side vertices with springs to all neighbours, `stretch` times as stiff as the bed it lies in;
// positions lie askew to the axes.
weft_system* test_sheet_system(int side, double stretch);
// A cloth of one triangle.
weft_system* test_triangle_system(void);
// Vertices without neighbours, each with a full diagonal block.
weft_system* test_lonely_system(int count, uint64_t* random);
// All of them in one matrix; the parts are destroyed.
weft_system* test_join_systems(weft_system** parts, int count);

// Random b, z and constraints instead of those that are there: a share of the vertices is held in `directions` random
// directions, 0: in 1, 2 or 3.
void test_constrain(weft_system* system, double share, int directions, uint64_t* random);

// S A S + trace(A_ii) / 3 (I - S) and S (b - A (I - S) z) as a system without a filter: its solution lies in the range
// of S.
weft_system* test_prefiltered_system(const weft_system* system);

// y = A x by plain loops.
void test_multiply(const weft_system* system, const vec3* x, vec3* y);
// sqrt(e . A e), e = x - y.
double test_energy_distance(const weft_system* system, const vec3* x, const vec3* y);
// The solution by elimination in long double, which shares no code with the library. For some 100 vertices.
void test_dense_solution(const weft_system* system, vec3* x);
// A as a dense matrix [3n * 3n]; prefiltered: S A S + trace(A_ii) / 3 (I - S).
void test_dense_matrix(const weft_system* system, bool prefiltered, double* a);

#endif
