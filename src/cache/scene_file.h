// What a run's scene.json says about its files.
#ifndef WEFT_SCENE_FILE_H
#define WEFT_SCENE_FILE_H

#include "core/core.h"

typedef struct scene_file
{
    char** names;      // [name_count] of bodies kind by kind, then obstacles, in the scene's order
    bool* moves;       // [name_count] has a NAME.pc2: cloth, or an obstacle with keys or samples
    double* thickness; // [name_count] m; 0: not said
    bool* solid;       // [name_count] has a NAME.ele
    int name_count;
    int cloth_count;   // of those names, the first: bodies that are simulated
    double frame_rate; // frames a second; 0 when the file does not say
    bool settles;      // "initial_contact": "settle"
    bool damaged;      // it is there and is no scene
} scene_file;

// A file that is not there, or cannot be read, says nothing: all is zero.
scene_file scene_file_read(const char* path);
void scene_file_finish(scene_file* file);
int scene_file_find(const scene_file* file, const char* name); // index, -1: not named

#endif
