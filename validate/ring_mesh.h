// A sheet around a disc that holds it: rings of vertices from the disc's rim to the border, round or square.
#ifndef WEFT_RING_MESH_H
#define WEFT_RING_MESH_H

#include <stdbool.h>

#include "validate/rig.h"

// Cusick's specimen and the disc that holds it: radii, m.
#define CUSICK_DISC 0.09
#define CUSICK_RIM 0.15

typedef struct ring_mesh
{
    int rings, around; // of vertices; two rings are held
    double inner;      // m, the disc's radius: in the middle of the cell between the two
    double outer;      // m, of the border, or half of a square's side
    double width;      // m, of a cell towards the middles of the sides
    bool square;
    char file[512]; // where it is written
} ring_mesh;

ring_mesh ring_make(double inner, double outer, bool square, int cells);
// Into a temporary file, irregular with vertices that are moved by up to a quarter of a cell. False: out says why.
bool ring_write(ring_mesh* m, bool irregular, result* out);
void ring_remove(const ring_mesh* m);                               // the file
void ring_cloth(scene_text* s, const trial* t, const ring_mesh* m); // "cloth", with its rings that are held
double noise(unsigned* seed);                                       // in (-1, 1), the same on every machine
// The border's distance from the axis at an angle.
double ring_border(const ring_mesh* m, double angle);

#endif
