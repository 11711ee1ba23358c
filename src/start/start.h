// How a scene starts: which triangles cross before the first step, and untangling them.
#ifndef WEFT_START_H
#define WEFT_START_H

#include "sim/sim.h"
#include "weft/inspect.h"
#include "weft/scene.h"

// All bodies of a simulation before an inspector: cloths in the user's order, then obstacles, one after the other.
typedef struct start_look
{
    weft_sim* sim;
    int body_count, vertex_count;
    int* first_vertex;      // [body_count + 1]
    const mesh** meshes;    // [body_count]
    vec3* x;                // [vertex_count] present positions, rounded to float
    const vec3** positions; // [body_count] scratch of the inspector
    weft_inspector* inspector;
    weft_crossing* pairs; // [pair_count] of the last inspection, less those that the scene excludes
    int pair_count, pair_capacity;
} start_look;

weft_status start_look_open(start_look* look, weft_sim* sim, weft_error* error);
// Whether that side of a crossing is a segment of lines; its number follows those of triangles.
bool start_is_segment(const start_look* look, const weft_crossing* c, int side);
weft_status start_look_inspect(start_look* look, const vec3* x, weft_error* error); // fills pairs
void start_look_close(start_look* look);                                            // zeroed is fine
bool start_is_excluded(const start_look* look, int body, int vertex, int other);    // contact leaves them alone
void start_hold(const start_look* look, unsigned char* held); // sets those that no start may move: pins and obstacles
// BAD_INPUT with what crosses, in words.
weft_status start_refuse(const start_look* look, const char* what, const char* remedy, weft_error* error);

// What becomes of crossings.
typedef enum start_way
{
    START_REFUSE,
    START_RESOLVE, // untangled before the first step
    START_SETTLE   // brought apart by the steps
} start_way;

// Bodies from the skin outwards: cloths, then obstacles. None: nobody knows.
typedef struct start_layers
{
    const int* body; // [count]
    int count;
} start_layers;

// Looks at the start: crossings are refused, untangled or marked. out may be NULL.
weft_status start_judge(weft_sim* sim, start_way way, start_layers layers, weft_untangling* out, weft_error* error);

// Parts by a few roundings what touches and does not cross, in touching.c; `crosses`: also where something crosses then.
// look->pairs are overwritten.
weft_status start_part(start_look* look, bool crosses, weft_error* error);

// Moves cloth so that nothing crosses; look->pairs are the crossings. BAD_INPUT: it cannot be done.
weft_status untangle(start_look* look, weft_untangling* out, weft_error* error);

// Obstacles that no cloth crosses when they are thin get that thin, and grow while the simulation runs (start_grow.c).
// solid, grows: [body_count]; only what is solid may.
weft_status start_grow(start_look* look, const unsigned char* solid, unsigned char* grows, weft_error* error);

// Marks what crosses, and what is on the wrong side, for contact to bring apart (start_settle.c); look->pairs as above.
weft_status start_settle(start_look* look, start_layers layers, weft_error* error);

#endif
