// A small run's folder, written by hand: a sheet of two quads with a seam in its vt map, which tears twice, and a ball
// that stands still. Nothing of the library writes it.
#ifndef WEFT_TEST_COMMON_RUN_H
#define WEFT_TEST_COMMON_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/types.h"

enum
{
    TORN_FRAMES = 5,
    TORN_FIRST = 2, // frame of topology 1
    TORN_SECOND = 3 // frame of topology 2
};

// 20 frames a second.
void test_run_write(const char* dir, bool torn);
int test_run_vertices(int frame, bool torn); // of the sheet: 6, then 8, then 9
weft_vec3 test_run_point(int frame, int vertex);
int test_run_origin(int vertex, int frame); // vertex of that frame's topology which a later one follows

void test_file_write(const char* dir, const char* name, const void* bytes, size_t size);
void test_text_write(const char* dir, const char* name, const char* text);
void test_pc2_write(const char* dir, const char* name, int points, float start, int samples);
void test_file_cut(const char* dir, const char* name, long less); // this many bytes less
char* test_file_read(const char* path, size_t* size);             // free(); fails the test when it is not there

#endif
