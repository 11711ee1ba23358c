// The testing machine: a scene as text, made into a simulation, stepped, brought to rest.
#ifndef WEFT_RIG_H
#define WEFT_RIG_H

#include "validate/experiment.h"

// ---- scenes as text

enum
{
    SCENE_SIZE = 1 << 16
};

typedef struct scene_text
{
    char text[SCENE_SIZE];
    int length;
    bool full; // it did not fit
} scene_text;

void scene_put(scene_text* s, const char* format, ...) __attribute__((format(printf, 2, 3)));
// A rectangle in which u runs along the specimen's length. With an OBJ file the width is the file's.
typedef struct specimen
{
    double length, width; // m
    int cells;            // along the length
    int across;           // of a grid; 0: cells as wide as long
    bool upright;         // in the plane xy; else xz
    double warp_degrees;  // of the warp to the length
} specimen;

// The head of a scene and its one cloth, open for what follows: pins, forces. Contact is off.
void scene_begin(scene_text* s, const trial* t, double time_step, double gravity);
void scene_material(scene_text* s, const trial* t); // "material": {...}
void scene_cloth(scene_text* s, const trial* t, const specimen* sheet);
void scene_end(scene_text* s);

// ---- the machine

typedef struct rig
{
    weft_scene* scene;
    weft_sim* sim;
    int vertex_count;
    weft_vec3 *start, *x, *last; // [vertex_count] at the start, now, a step before
    double size;                 // longest side of the box around the start, m
    result* out;                 // failures go there
    const trial* trial;
} rig;

// False: the reason is in out.
bool rig_open(rig* r, const trial* t, const scene_text* s, result* out);
void rig_close(rig* r);
bool rig_step(rig* r, weft_step_stats* stats); // stats may be NULL
// Steps until what is left of the way is below 1e-5 of size, by the pace at which steps become smaller.
bool rig_settle(rig* r, double size);
bool rig_gravity(rig* r, double x, double y, double z);
// Pins vertices that lie, at the start, between low and high along an axis (0 to 2).
bool rig_pin(rig* r, int axis, double low, double high);
// The same, and lets go of the pin that was there before (0: none).
bool rig_pin_again(rig* r, int axis, double low, double high, weft_pin_id* pin);
// Mean of a coordinate over vertices that lie, at the start, between low and high along an axis.
double rig_mean(const rig* r, int coordinate, int axis, double low, double high);
// Forces on vertices that lie, at the start, on a border of the specimen.
typedef struct rig_load
{
    weft_vec3* force; // [vertex_count] N
} rig_load;

typedef enum rig_edge
{
    RIG_LEFT,  // least x at the start
    RIG_RIGHT, // largest x
    RIG_BACK,  // least z
    RIG_FRONT  // largest z
} rig_edge;

// Adds a force a metre to the border of a specimen that lies in the plane xz; each vertex has half of the edges beside
// it.
bool rig_load_edge(const rig* r, rig_load* load, rig_edge edge, weft_vec3 force);
bool rig_load_apply(rig* r, rig_load* load); // in place of all earlier forces; clears the load
void rig_load_free(rig_load* load);
// Least and largest coordinate at the start.
double rig_low(const rig* r, int axis);
double rig_high(const rig* r, int axis);
// How long steps to rest may be with this method, as a share of what implicit ones take.
double rig_pace(const char* method);
double component(weft_vec3 v, int axis);

#endif
