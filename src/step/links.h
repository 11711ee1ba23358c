// Distance constraints between pairs of vertices, for methods that move positions (pbd.h). A link has
//
//     C = |x_b - x_a| - L,    dlambda = (-C - s lambda) / (w_a + w_b + s),    s = compliance / h^2
//
// and moves its ends by w dlambda along their line (Macklin, Mueller and Chentanez 2016); as an upper limit its lambda
// may pull and never push. Dampers act on velocities, by impulses along the line of the ends,
//
//     dp = -u / (w_a + w_b + s),    u = n . (v_b - v_a),    s = compliance / (h damping)
//
// so that they have no part in where cloth comes to rest: a damper as a part of C makes one sweep of stiff links far
// too soft. Links are sorted by colour: no two of a colour share a vertex, so that the links of a colour go eight
// abreast and in parallel, with the same bits on any number of threads.
#ifndef WEFT_LINKS_H
#define WEFT_LINKS_H

#include "core/core.h"
#include "math/vec.h"

// What a link is made from.
typedef struct link_def
{
    int a, b;
    double length;     // m
    double compliance; // m/N; 0: it does not give way
    double damping;    // s, times the stiffness
    bool is_limit;     // it holds only what is longer
    bool is_bend;      // for what treats it otherwise than stretch
} link_def;

typedef struct links
{
    int count, colour_count;
    int* colour;       // [colour_count + 1] the first link of each
    int *a, *b;        // [count]
    double* length;    // [count] m, of rest
    double* soft;      // [count] 1/kg: s
    double* soft_rate; // [count] 1/kg: that of the damper; infinite: it has none
    double* inv_a;     // [count] 1/kg, of the ends; 0: held
    double* inv_b;
    double* most;   // [count] of lambda: 0 for limits, else infinite
    double* lambda; // [count] kg m, of the substep
    link_def* def;  // [count] in this order
    double h;       // s, of soft; 0: none yet
    bool is_damped;
    int capacity, colour_capacity; // that there is room for
} links;

// How stiff links are in a substep.
typedef struct link_rule
{
    double h;         // s
    bool legacy;      // each projection takes the shares k of what is missing, whatever h is
    double k, k_bend; // of stretch and shear, of bending
} link_rule;

weft_status links_create(links* l, const link_def* defs, int count, int vertex_count); // copies the defs
void links_finish(links* l);                                                           // zeroed or half-built is fine
void links_hold(links* l, const double* inv_mass /* [vertices] 1/kg */);
// Takes links out and others in, in place: all others keep their colours. What is held is to be said anew. On failure
// the links are in between, and to be finished.
typedef struct link_change
{
    const link_def* gone; // [gone_count] of which there is one each
    const link_def* come; // [come_count]
    int gone_count, come_count;
} link_change;
weft_status links_mend(links* l, const link_change* change, int vertex_count);
void links_begin(links* l, workers* pool, const link_rule* rule); // a substep: nothing is remembered of the last one

typedef struct link_sweep
{
    workers* pool;
    cpu_kind cpu;
    bool backward; // colours and links in the opposite order
    bool remember; // lambda adds up over the sweeps of a substep; else each is as the first
} link_sweep;

void links_sweep(const links* l, const link_sweep* s, vec3* x); // x is from mem_alloc: 8 bytes past its end are read

void links_damp(const links* l, const link_sweep* s, const vec3* x, vec3* v); // nothing without dampers

// Compiled for each CPU kind, of the links [begin, end) of one colour.
typedef struct link_kernels
{
    void (*project)(const links* l, bool remember, vec3* x, int begin, int end);
    void (*damp)(const links* l, const vec3* x, vec3* v, int begin, int end);
} link_kernels;

const link_kernels* link_kernels_for(cpu_kind cpu);

// What is sorted by colour, while items come and go: [colour_count + 1] first places, and who moves an item.
typedef struct coloured
{
    int* colour;
    int colour_count;
    void (*move)(void* owner, int to, int from);
    void* owner;
} coloured;

void coloured_remove(coloured* c, int at);    // places of those before it stay
int coloured_insert(coloured* c, int colour); // there is room; returns its place, which is empty
int coloured_of(const coloured* c, int at);   // the colour of a place
int colour_lowest(uint64_t taken);            // the smallest that is free; 64: none is

// Colours of elements such that no two of a colour share a vertex: colour[e], from 0. Returns how many there are, -1:
// no memory.
int colour_elements(const int* vertices /* [count * arity] */, int arity, int count, int vertex_count, int* colour);
// The elements by colour, in their order within each: order is [count], start [colour_count + 1].
void colour_sort(const int* colour, int count, int colour_count, int* order, int* start);

#endif
