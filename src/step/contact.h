// Contact of a world: all bodies of the scene in one collider, and what a substep does with the collisions that it
// finds.
#ifndef WEFT_CONTACT_H
#define WEFT_CONTACT_H

#include "collide/broad.h"
#include "constraint/constraint.h"
#include "core/core.h"
#include "math/vec.h"
#include "weft/collide.h"

// Positions of all obstacles at a time, one after the other.
typedef weft_status obstacles_fn(void* user, double time, vec3* out, weft_error* error);

// One collision as a condition on displacements and velocities of its vertices: along the unit normal n the weighted
// sum of end positions must reach `gap`, and that of velocities must not be negative.
typedef struct contact_row
{
    int vertex[4];
    double weight[4];
    vec3 normal;
    double gap;            // m
    double inv_mass;       // 1/kg, of the pair along the normal
    double pushed, slowed; // kg m and kg m/s so far
    double friction;
} contact_row;

// A vertex of cloth that touches an obstacle.
typedef struct touch
{
    int vertex;
    vec3 normal;   // towards the cloth
    double depth;  // m, in the layer; negative: above it
    vec3 velocity; // m/s, of the obstacle there
    double friction;
    bool held, sticks; // in this substep
} touch;

typedef struct collision
{
    weft_pair_kind kind;
    int vertex[4];
    double time; // in the substep, or -1: the end positions collide when they are rounded
} collision;

// Vertices of the cloths in scene order, then of the obstacles.
typedef struct contact
{
    weft_collider* collider;
    int cloth_count, vertex_count;
    vec3 *start, *end; // [vertex_count] of the substep
    vec3* velocity;    // [vertex_count] at its end
    double* inv_mass;  // [vertex_count] 1/kg; 0: obstacles
    int* record;       // [cloth_count] filter record of a vertex that is held in some direction, -1: none
    double* friction;  // [vertex_count] coefficient of the vertex's body
    contact_row* rows; // [row_count]
    int row_count, row_capacity;
    narrow_list found; // collisions of the last detection
    collision* stuck;  // [stuck_count] those that rigid zones hold
    int stuck_count, stuck_capacity;
    int* zone;         // [vertex_count] parent in the forest of zones
    vec3* zone_motion; // [vertex_count] kg m, of the zone's root
    double* zone_mass; // [vertex_count] kg, of the zone's root
    double* layer;     // [vertex_count] m, thickness of the vertex's obstacle
    double layer_most; // m
    touch* touches;    // [touch_count] sorted by vertex
    int touch_count, touch_capacity;
    vec3* grip;                 // [cloth_count] the state's next memory of contact
    filter_record* pin_records; // [pin_count] of the substep
    int pin_count;
    obstacles_fn* obstacles_at;
    void* user;
    weft_error error; // of a sample that could not be read
    double thickness; // m, between cloths
    double ulp;       // m, largest rounding of a coordinate to float in this substep
} contact;

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count);
void contact_finish(contact* c); // zeroed is fine

#endif
