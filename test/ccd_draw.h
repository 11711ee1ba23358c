// What the families of collision queries are drawn with.
#ifndef WEFT_TEST_CCD_DRAW_H
#define WEFT_TEST_CCD_DRAW_H

#include "ccd_families.h"
#include "math/vec.h"

// Numbers that depend on the key alone.
typedef struct stream
{
    uint64_t key, at;
} stream;

double draw(stream* s, double low, double high);
int draw_whole(stream* s, int low, int high); // both ends included
int draw_chance(stream* s, int one_in);
vec3 draw_vec(stream* s, double size);
vec3 draw_whole_vec(stream* s, int size);
// Any size between two powers of ten, either sign.
double draw_size(stream* s, double low, double high);
double* case_coordinate(vec3* p, int axis);
vec3 case_combine(double a, vec3 u, double b, vec3 v); // a u + b v

// Where two primitives meet.
typedef enum place
{
    INSIDE,
    ON_BORDER, // of a face's edge, an edge's end
    ON_CORNER, // a face's corner, ends of both edges
    OUTSIDE,
    ANYWHERE // one of these
} place;

// Moves the first primitive so that the place on it meets the other; `at` holds the shapes. Exact when coordinates are
// multiples of 4.
void case_bring_together(stream* s, weft_pair_kind kind, place where, vec3 at[4]);
// Straight motion with `at` at time j / 8 and velocity 8 v a point.
void case_pass_through(ccd_case* c, const vec3 at[4], const vec3 v[4], int j);
// A contact in small whole numbers at time j / 8.
void draw_whole_contact(stream* s, ccd_case* c, place where, int j);
// The same in rounded numbers, at any time.
void draw_rounded_contact(stream* s, ccd_case* c, place where, double size);
// Moves some coordinates to a neighbouring double.
void case_nudge(stream* s, ccd_case* c);

#endif
