// Contours of open surfaces that cross, and the pieces into which they cut cloth.
#ifndef WEFT_UNTANGLE_SHEETS_H
#define WEFT_UNTANGLE_SHEETS_H

#include "start/untangle.h"

// Two triangles that cross; slot k of the contour's curves is triangle[k ^ flip].
typedef struct crossing
{
    int triangle[2];
    int contour; // -1: not reached yet
    int flip;
    int pierced; // piercings
} crossing;

typedef struct piercing
{
    int edge[2]; // vertices, ascending
    int side;    // slot of the edge in its triangle
    int face;
    int pair;     // crossing
    int slot;     // of the face in it, before any flip
    double along; // from edge[0] to edge[1]
    double weight[3];
    vec3 at;
} piercing;

typedef struct sheets
{
    tangle* t;
    crossing* pairs; // [pair_count]
    int pair_count;
    piercing* piercings; // [piercing_count] sorted by (edge, face, pair)
    int piercing_count;
    int* start; // [pair_count + 1] into list
    int* list;  // [piercing_count] piercings of each pair
    int* queue; // [max(pair_count, vertex_count)]
    int contour_count;
    int* by_contour;        // [piercing_count] piercings sorted by contour
    int* contour_start;     // [contour_count + 1]
    unsigned char* settled; // [contour_count] a piece has moved for it
    unsigned char* cut;     // [3 * cloth_triangles] sides of triangles over which pieces do not hang together
    int piece_count;
    int* piece;        // [cloth_count] of a vertex
    int* piece_start;  // [piece_count + 1]
    int* piece_vertex; // [cloth_count]
    double* area;      // [piece_count]; infinity: it has pins
    int* spoiled;      // [2 * piece_count] contour on whose curve 0 or 1 the piece lies on both sides, plus 1
    int* ring;         // [cloth_count] 0, or whose surface is nearer: 1 the piece's own, 2 the other
    uint64_t* done;    // [done_count] piece and body that have been pushed
    int done_count, done_capacity;
} sheets;

weft_status sheets_create(sheets* s, tangle* t); // from the crossings of the last inspection
void sheets_finish(sheets* s);
void sheets_find(sheets* s);  // piercings, contours and pieces
void sheets_flood(sheets* s); // pieces anew, after more was cut
// From where a border pierces cloth: the cut goes on in the plane of the border's triangle, to a border or another cut.
void sheets_prolong(sheets* s, const piercing* p);
int piercing_curve(const sheets* s, const piercing* p); // of the contour, on which the pierced edge lies
// The other end of the contour's way through the pair; NULL: it has none, or several.
const piercing* piercing_other(const sheets* s, const piercing* p);

#endif
