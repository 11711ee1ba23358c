// Scenes of moving triangles, strands and obstacles for the tests of collision, and their pairs by loops over
// everything.
#ifndef WEFT_TEST_COMMON_COLLIDE_H
#define WEFT_TEST_COMMON_COLLIDE_H

#include "common.h"
#include "weft/collide.h"

enum
{
    SCENE_VERTICES = 8192,
    SCENE_FACES = 16384,
    SCENE_EDGES = 4096,
    SCENE_BODIES = 8,
    SCENE_EXCLUDED = 64
};

typedef struct test_scene
{
    weft_collider_def def; // points into the arrays below
    double margin;
    int split; // boxes of start and end apart, as contact has them
    vec3 start[SCENE_VERTICES], end[SCENE_VERTICES];
    int triangles[3 * SCENE_FACES], edges[2 * SCENE_EDGES], body[SCENE_VERTICES];
    uint8_t passive[SCENE_BODIES];
    int excluded_bodies[2 * SCENE_EXCLUDED], excluded_vertices[2 * SCENE_EXCLUDED];
} test_scene;

test_scene* test_scene_create(void); // empty; free() it
int test_scene_vertex(test_scene* s, vec3 start, vec3 end, int body);
void test_scene_triangle(test_scene* s, int a, int b, int c);
void test_scene_edge(test_scene* s, int a, int b);
void test_scene_exclude_bodies(test_scene* s, int a, int b);
void test_scene_exclude_vertex(test_scene* s, int vertex, int body);
// A grid of cells x cells squares with corner o and sides u, v; the end positions are moved by d.
void test_scene_sheet(test_scene* s, int cells, vec3 o, vec3 u, vec3 v, vec3 d, int body);
// Triangles and strands of several bodies, some of them obstacles, with exclusions; many coordinates are equal.
void test_scene_random(test_scene* s, uint64_t seed);

// Two stacks of sheets that interleave like combs, moving through each other
void test_scene_sheets(test_scene* s);
// Cloth over an obstacle, strands through both, and exclusions of both kinds
void test_scene_mixed(test_scene* s);

// All edges, each once, sorted: [2 * count], free() it.
int* test_scene_edges(const test_scene* s, int* count);
// Whether the scene wants the pair: it is not connected and not excluded.
int test_scene_wants(const test_scene* s, const int* a, int a_count, const int* b, int b_count);
// The pairs by the definition in weft/collide.h: [count], free() it.
weft_pair* test_scene_pairs(const test_scene* s, weft_pair_kind kind, int* count);

// ---- a collider held against the loops

// The pairs of a scene by loops.
typedef struct test_brute
{
    weft_pair *vertex_face, *edge_edge;
    int vertex_face_count, edge_edge_count;
} test_brute;

test_brute test_brute_find(const test_scene* s);
int test_brute_finish(test_brute* b); // the number of pairs
void test_assert_pairs(const weft_pair* a, int a_count, const weft_pair* b, int b_count);
weft_collider* test_collider_create(const test_scene* s, int threads, const char* kernels); // must work
void test_check_update(const test_scene* s, weft_collider* c, const test_brute* b);
void test_check_step(const test_scene* s, weft_collider* c); // one update and its pairs

// A strip of `count` triangles along x, each 0.09 m wide, 0.1 m apart, at rest.
void test_scene_strip(test_scene* s, int count);

#endif
