// What a loaded scene holds, for those who show it to people.
#ifndef WEFT_SCENE_INFO_H
#define WEFT_SCENE_INFO_H

#include "weft/scene.h"

/// One cloth of a scene, as it starts. Strings are the scene's.
typedef struct weft_scene_cloth
{
    const char* name;
    const char* obj; ///< the file, as the scene names it; NULL: a grid
    int vertex_count, face_count, triangle_count;
    int pin_count;    ///< entries of "pins"
    int pinned_count; ///< different vertices that some pin holds
    int force_count;  ///< entries of "forces"
    weft_material material;
    const char* model;
    const char* bending;
} weft_scene_cloth;

/// The index-th cloth; NOT_FOUND past the end.
WEFT_API weft_status weft_scene_cloth_at(const weft_scene* scene, int index, weft_scene_cloth* out);
/// The settings that the simulation is made with, without workers.
WEFT_API const weft_sim_def* weft_scene_sim_def(const weft_scene* scene);

#endif
