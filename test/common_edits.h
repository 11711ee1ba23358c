// What tests of edits share: a busy scene, a hash of all that a step depends on, small bodies to add.
#ifndef WEFT_TEST_COMMON_EDITS_H
#define WEFT_TEST_COMMON_EDITS_H

#include "sim/sim.h"

// A sheet over a ball, a patch upon it. The large one is cut into chunks for threads.
#define EDITS_BUSY(cells)                                                                                              \
    "{\"time_step\": 0.005, \"step_control\": {\"max_halvings\": 2}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "     \
    "{\"grid\": {\"cells\": " cells ", \"size\": 0.3}}, \"transform\": {\"translate\": [0, 0.003, 0]}, \"pins\": "     \
    "[{\"where\": {\"corner\": \"top-left\"}}]}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": " \
    "0.1}}, \"transform\": {\"translate\": [0, 0.01, 0]}}], \"obstacles\": [{\"name\": \"ball\", \"shape\": "          \
    "{\"sphere\": {\"center\": [0, -0.1, 0], \"radius\": 0.1, \"segments\": 2}}}]}"

extern const char edits_busy[];

void edits_run(weft_sim* sim, int steps);                                            // fails the test when a step does
uint64_t edits_hash(const weft_sim* sim);                                            // of all that a step depends on
uint64_t edits_hash_items(uint64_t hash, const void* items, int count, size_t size); // items may be NULL
// A simulation of the same scene, made anew, that goes on from where this one is.
weft_sim* edits_made_anew(weft_sim* sim, const char* text, int workers);
void edits_assert_resumes(weft_sim* sim, const char* text); // it and one that reads its checkpoint go on alike
vec3 edits_vertex(const weft_sim* sim, int cloth, int vertex);

// A square of two triangles at a place.
extern const int edits_square_faces[6];
void edits_square_at(vec3 center, double size, vec3 out[4]);
weft_status edits_add_square(weft_sim* sim, const char* name, vec3 center, weft_cloth_id* out, weft_error* error);
weft_status edits_add_floor(weft_sim* sim, const char* name, vec3 center, weft_obstacle_id* out, weft_error* error);

#endif
