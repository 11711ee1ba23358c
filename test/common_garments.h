// Garments and bodies that are made of tubes and panels, for tests.
#ifndef WEFT_TEST_COMMON_GARMENTS_H
#define WEFT_TEST_COMMON_GARMENTS_H

#include <stdbool.h>

#include "common.h"

// A mesh that grows by triangles; vertices are numbered as they come.
typedef struct maker
{
    vec3 x[20000];
    int triangle[3 * 40000];
    int vertex_count, triangle_count;
} maker;

maker* maker_create(void);
int maker_vertex(maker* m, vec3 x);
void maker_triangle(maker* m, int a, int b, int c);
// A tube from one end to the other; capped, a spindle with points at its ends.
void maker_tube(maker* m, vec3 from, vec3 to, double radius, int around, int along, bool capped);
void maker_shirt(maker* m, vec3 middle, double scale, double depth); // a T of two panels
void maker_write(maker* m, const char* name);                        // as an OBJ file in the folder of scenes; frees it
void write_body(const char* name, double degrees); // a trunk with two arms that hang by so many degrees
void write_shirt(const char* name, vec3 middle, double scale, double depth);

#endif
