// Springs as their vertices see them: each vertex has a list of its springs, so that it sums its own force and nothing
// is scattered. Every spring is evaluated at both ends, which costs less than to gather and to add: vertices go eight
// abreast, a lane each, and forces, exactly opposite, need no colours and no borders.
//
// Over a substep of h from a last state spring and damper are one spring,
//
//     k (1 + beta / h) (l - L'),    L' = (h L + beta l_last) / (h + beta)
//
// whose energy is that of both up to a constant.
#ifndef WEFT_SPRING_NET_H
#define WEFT_SPRING_NET_H

#include "material/material.h"

enum
{
    SLICE = 8 // vertices abreast
};

typedef struct spring_net
{
    const element_group* group;
    int vertex_count, slice_count;
    int* start;        // [slice_count + 1] ranks of each slice: springs of the vertex that has most
    int* other;        // [SLICE * ranks] the vertex at the other end; the lane's own: there is none
    int* spring;       // [SLICE * ranks] -1: none
    double* stiffness; // [SLICE * ranks] N/m, of spring and damper; 0: none
    double* length;    // [SLICE * ranks] m, likewise of rest
    double h;          // s, of stiffness; 0: none yet
    bool is_damped;    // lengths change with the last state
} spring_net;

weft_status spring_net_create(spring_net* net, const element_group* group, int vertex_count);
void spring_net_finish(spring_net* net); // zeroed or half-built is fine
// Takes the last state and the length of substep of the motion; flags is [springs] or NULL: all are active.
void spring_net_begin(spring_net* net, const uint8_t* flags, workers* pool, const element_motion* motion);

// Compiled for each CPU kind.
typedef struct spring_net_kernels
{
    // out += forces on vertices [begin, end), begin a multiple of SLICE. x comes from mem_alloc: 8 bytes past its end
    // are read. Ends that coincide have the direction of x_last. Returns the energy of springs and dampers, of each
    // the half that is this end's, J, up to a constant.
    double (*pull)(const spring_net* net, const vec3* x, const vec3* x_last, vec3* out, int begin, int end);
} spring_net_kernels;

const spring_net_kernels* spring_net_kernels_for(cpu_kind cpu);

#endif
