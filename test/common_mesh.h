// Triangles of a mesh and their topology, for tests of meshes.
#ifndef WEFT_TEST_COMMON_MESH_H
#define WEFT_TEST_COMMON_MESH_H

#include "mesh/mesh.h"

vec3 test_area_vector(const mesh* m, int t); // of a triangle: area times normal
double test_mesh_area(const mesh* m);
// Vertices - edges + faces.
int test_mesh_euler(const mesh* m);

// mesh_from_arrays, then mesh_triangulate. m must be finished whatever comes out.
weft_status test_triangulate(const vec3* x, int vertex_count, const int* start, const int* corner, int faces, mesh* m,
                             weft_error* error);
// The same must end in BAD_INPUT with a message that holds `word`.
void test_expect_refused(const vec3* x, int vertex_count, const int* start, const int* corner, int faces,
                         const char* word);

#endif
