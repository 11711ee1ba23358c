// Dressing: bodies that start thin inside their garments and grow into them, while the cloth steps with contact.
#ifndef WEFT_DRESS_H
#define WEFT_DRESS_H

#include "start/start.h"

// Where each vertex of a body goes when the body gets thin: x + s (core - x) with s from 0 to 1 is the body that
// shrinks to lines and sheets along its middle (dress_core.c). core is [vertex_count]. Vertices may share places;
// holes, double faces and loose parts do not matter.
weft_status core_find(const int* triangle, int triangle_count, const vec3* x, int vertex_count, vec3* core);
weft_status core_weld(const vec3* x, int count, int* place); // the first vertex at the same place, [count]

// A body as a tree of lines (dress_tree.c): nodes, which of them touch, and that of each vertex.
typedef struct body_tree
{
    int node_count, link_count;
    vec3* place;           // [node_count] m
    double *area, *radius; // [node_count] m^2, m: of the body around it
    int* node;             // [vertex_count] -1: no triangle uses it
    int* link;             // [2 * link_count] NULL: none
} body_tree;

weft_status body_tree_create(body_tree* tree, const int* triangle, int triangle_count, const vec3* x, int vertex_count);
void body_tree_finish(body_tree* tree); // zeroed is fine

// What is to be put on.
typedef struct dress_cloth
{
    const mesh* mesh;
    const vec3* x; // [vertex_count] m
} dress_cloth;

// A core as lines that leave the garments by their openings (dress_thread.c): limbs that go through a wall of theirs
// are led from the trunk through the middle of a sleeve. core is [vertex_count]; *threaded: there is such a core.
typedef struct thread_case
{
    const int* triangle; // of the body
    int triangle_count, vertex_count;
    const vec3* x;             // [vertex_count] m
    const dress_cloth* cloths; // [cloth_count]
    int cloth_count;
} thread_case;

weft_status core_thread(const thread_case* all, vec3* core, bool* threaded);

// How a body comes to its place, in steps: it stays thin while what still crosses it is parted, grows to the shape
// `full`, moves on to `last`, and stays there while the cloth comes to rest.
typedef struct dress_plan
{
    double share; // of the way to the core at the start
    int hold, grow, move, rest;
} dress_plan;

// What garments are put on: a body, or a garment that is worn already and moves with a body.
typedef struct dress_hold
{
    const struct dress_form* form; // NULL: it stays where it is
    int vertex[3];
    double weight[3];
} dress_hold;

typedef struct dress_form
{
    const mesh* mesh; // split; its positions do not matter
    vec3* full;       // [vertex_count] m
    vec3* middle;     // [vertex_count] its core
    vec3* core;       // [vertex_count] that for the garments at hand; dress_prepare sets it
    vec3* last;       // [vertex_count]
    dress_hold* hold; // [vertex_count] the point of a body that each goes with; NULL: a body
    bool flat;        // it does not shrink
    dress_plan plan;
} dress_form;

bool dress_form_create(dress_form* form, const mesh* m); // zeroed arrays; false: no memory
void dress_form_destroy(dress_form* form);               // zeroed is fine
void dress_form_follow(dress_form* worn);                // where it is full, and its core, from what holds it
int dress_plan_steps(const dress_plan* plan);
weft_status dress_form_sample(void* form, int step, weft_vec3* out, weft_error* error); // a weft_sample_fn

typedef struct dress_case
{
    const dress_cloth* cloths; // [cloth_count]
    int cloth_count;
    dress_form** forms; // [form_count]
    int form_count;
    int worker_count;
    bool fixed;  // pins hold cloth: it is not moved as a whole
    vec3 offset; // m, by which all cloths are to be moved before they are put on; dress_prepare sets it
} dress_case;

// How thin the forms must be for no cloth to cross them, how far the cloths are moved for that, and the steps that
// are needed from there: the plans of all forms, and the offset. *crossings are pairs that cross when they are full,
// *left those that cross even so.
weft_status dress_prepare(dress_case* all, int* crossings, int* left, weft_error* error);

// Who looks at the progress, and over which part of it.
typedef struct dress_watch
{
    weft_progress_fn* look; // or NULL
    void* user;
    double from, to; // of all the work
} dress_watch;

// Steps a simulation of these cloths and forms to the end of their plans, without what its velocities would do.
weft_status dress_run(weft_sim* sim, const dress_plan* plan, const dress_watch* watch, weft_error* error);

#endif
