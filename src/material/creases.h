// What triangles of a sheet keep of their folds (creases.c).
#ifndef WEFT_CREASES_H
#define WEFT_CREASES_H

#include "material/material.h"

// Of a triangle. It belongs to the body: elements come and go with topologies.
typedef struct crease
{
    double fold[3]; // across the edges opposite to its corners, beside those at rest
    double worn;    // 1/m, that it has been bent beyond what it bears, in all
} crease;

bool crease_is_sound(const crease* c); // of a file

// Of an element which stands for the triangle t of the shape and so much of its area, once its rest data are there;
// nothing where the material does not crease. After all of a shape creases_close gives the group its shift.
weft_status crease_append(element_group* group, const cloth_shape* shape, int t, double area);
weft_status creases_close(element_group* group);
double crease_shift(const element_group* group, int e, int k); // of fold k: 0 where it keeps none

void creases_lay(const element_groups* groups); // elements rest where their triangles say
void creases_wear(const element_groups* groups, const vec3* x, workers* pool); // what is bent too far at x is kept
void creases_finish(crease_list* list);                                       // NULL is fine

#endif
