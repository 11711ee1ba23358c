// What the tests of `weft export` share: a folder with a torn run in it, and the command.
#ifndef WEFT_COMMON_EXPORT_H
#define WEFT_COMMON_EXPORT_H

#include <stdbool.h>

#include "weft/types.h"

extern char export_folder[256], export_run[512]; // where each test works, and the run in it

int export_folder_make(void** state);
int export_folder_remove(void** state);
int export_with(const char* before, const char* words); // `before weft export words`, outputs in .out and .err
void export_well(const char* words);
void refused(int code, const char* words, const char* says);
bool said(const char* file, const char* words);
bool exists(const char* path);

// ---- readers of their own

enum
{
    POINTS_MAX = 16
};

typedef struct shape
{
    int points, faces, maps;
    double x[POINTS_MAX][3], st[POINTS_MAX][2];
    int corners[POINTS_MAX], face[POINTS_MAX][4], map[POINTS_MAX][4]; // map: 1-based, 0: none
    char objects[128];                                                // names of `o` lines with blanks behind
} shape;

typedef struct choice
{
    int first, every, frames; // of the run, of the export
    bool up_z;
} choice;

extern const choice export_all; // every frame

shape read_obj(const char* path);
shape read_ply(const char* path);
void same_point(const double x[3], weft_vec3 wanted, bool up_z);
void same_frame(const shape* s, int frame, bool up_z);
void same_pc2(const char* path, choice c);
void same_mdd(const char* path, choice c, double rate);

#endif
