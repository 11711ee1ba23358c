// Garments as scenes: an OBJ file, refined, on a body that moves.
#ifndef WEFT_BENCH_GARMENT_H
#define WEFT_BENCH_GARMENT_H

#include "weft/types.h"

// Writes BASE.obj, the garment of `file` with edges cut such that it has about so many vertices and is so high (m), and
// BASE.json, a scene in which a capsule inside of it sways and turns, its top pinned to that motion. `file` needs
// triangles alone. Says on stderr what is wrong.
weft_status garment_write(const char* file, const char* base, double height, int vertices);

#endif
