// The simulation: bodies as the user gave them, the world as it is simulated, and the map between both.
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "mesh/mesh.h"
#include "step/step.h"
#include "weft/weft.h"

// One cloth. Scene vertices [first, first + count) are its vertices in an order that keeps neighbours near.
typedef struct body
{
    char* name;
    mesh rest; // polygons and triangles in the user's order, positions at rest
    int first;
    int* scene_vertex; // [rest.vertex_count] of the user's vertex
    int output_count;
    int* outputs;   // [output_count] user's vertex, or NULL: all
    bool flat_rest; // the rest shape is a uv map: rest angles are zero
    weft_material material;
    bool hinge_bending;
    double vertex_mass;
    vec3* start;    // [vertex_count] until the world is built
    vec3* velocity; // likewise, or NULL
    vec2* rest_uv;  // [3 * triangle_count] rest shape of each triangle
    weft_pin* pins; // copies, until the world is built
    int pin_count;
    weft_force* forces;
    int force_count;
} body;

struct weft_sim
{
    weft_sim_def def;
    const time_method* method;
    char* solver_name;
    char* preconditioner;
    body* bodies;
    int body_count, body_capacity;
    workers* pool;
    cpu_kind cpu;
    model model;
    world world;
    bool built;
};

// Builds model and world from the bodies; does nothing when that is done.
weft_status sim_build(weft_sim* sim, weft_error* error);
void body_finish(body* b);

// The cloth and the user's index of a scene vertex, for messages.
void sim_locate(const weft_sim* sim, int scene_vertex, const body** out_body, int* out_vertex);

#endif
