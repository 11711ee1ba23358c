// The files of a run's bodies. Bodies are cloths, then obstacles, by one index.
#ifndef WEFT_BODY_FILES_H
#define WEFT_BODY_FILES_H

#include "sim/sim.h"

int body_total(const weft_sim* sim);
obstacle* obstacle_of(const weft_sim* sim, int index); // NULL: a cloth
const char* body_name(const weft_sim* sim, int index);
int body_points(const weft_sim* sim, int index); // of a sample
bool body_moves(const weft_sim* sim, int index); // false: an obstacle that stands still

// The first vertex of its files that shows a vertex of the body.
int body_shown_by(const weft_sim* sim, int index, int vertex);
// Points of an obstacle become those of its files; room for them is there.
void body_show(const mesh* m, vec3* points);

// Topology and rest shape, whole or not at all.
weft_status body_obj_write(const char* path, const weft_sim* sim, int index, weft_error* error);
// Whether a cloth, before its first step, starts elsewhere than where it rests; and that start, whole or not at all.
bool body_starts_apart(const weft_sim* sim, int index);
weft_status body_start_write(const char* path, const weft_sim* sim, int index, weft_error* error);
bool body_is_solid(const weft_sim* sim, int index);
// The tetrahedra of a solid, in the numbers of the OBJ file, which count from 1; whole or not at all.
weft_status body_ele_write(const char* path, const weft_sim* sim, int index, weft_error* error);
// All samples of a deforming obstacle as a PC2 file, whole or not at all.
weft_status motion_file_write(const char* path, obstacle* o, weft_error* error);

#endif
