// Contact of a world: all bodies of the scene in one collider, and what a substep does with what is near and what
// collides. A file each: sweep.c finds pairs, touch.c holds cloth on obstacles inside the solve, spring.c keeps cloths
// apart inside the solve, respond.c parts what the solve has let collide, squeeze.c keeps book of what nothing can
// part.
#ifndef WEFT_CONTACT_H
#define WEFT_CONTACT_H

#include "collide/broad.h"
#include "constraint/constraint.h"
#include "core/core.h"
#include "math/vec.h"
#include "sparse/sparse.h"
#include "weft/collide.h"

#define CONTACT_CREEP 1e-4 // m/s: what slides slower sticks
#define CONTACT_REACH 1.1  // of the thickness: what is farther does not touch

// Positions of all obstacles at a time, one after the other.
typedef weft_status obstacles_fn(void* user, double time, vec3* out, weft_error* error);

// Two features that are, or will soon be, closer than their thickness, at the start of a substep.
typedef struct near_pair
{
    weft_pair_kind kind;
    int vertex[4];
    double weight[4]; // as in weft_near
    vec3 normal;
    double distance, thickness; // m
} near_pair;

// A vertex of cloth that touches an obstacle.
typedef struct touch
{
    int vertex;
    vec3 normal;      // towards the cloth
    double depth;     // m, in the layer; negative: above it
    double thickness; // m
    bool near;        // within reach; else it is only about to come
    vec3 velocity;    // m/s, of the obstacle there
    double friction;
    bool held, sticks; // in this substep
    double force;      // N, along the normal: the last one, or what stops a new touch
} touch;

// A damped spring that pushes two features apart. With u the weighted sum of velocities its force on the first is
//
//     n (k (overlap - h n . u) - c n . u) - slip (u - n n . u)
typedef struct spring
{
    int vertex[4];
    double weight[4];
    vec3 normal;
    double overlap;                    // m, thickness less distance at the start
    double stiffness, damping;         // k in N/m, c in N s/m
    double slip;                       // N s/m, friction
    vec3 drift;                        // m/s, the obstacle's part of u
    double friction, pressed, stopped; // coefficient; N, what slip is made of
} spring;

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

// An edge that passes through a face at the end of a substep, or passed it whole on the way.
typedef struct squeezed_pair
{
    int edge[2], face[3];
} squeezed_pair;

// A body that squeezes a vertex of cloth. Collisions of edges and faces at the vertex with that body do not count, and
// where the vertex itself was let through a face, neither do its own.
typedef struct squeeze_mark
{
    int vertex, body;
    int through; // 1: the vertex itself, too
} squeeze_mark;

typedef struct mark_list
{
    squeeze_mark* item; // [count] sorted by vertex and body, each pair once
    int count, capacity;
} mark_list;

weft_status marks_add(mark_list* list, squeeze_mark mark); // at its end: sort before anything is looked up
void marks_sort(mark_list* list);
squeeze_mark* marks_find(const mark_list* list, int vertex, int body); // NULL: there is none
weft_status marks_copy(mark_list* to, const mark_list* from);
void marks_swap(mark_list* a, mark_list* b);
void marks_finish(mark_list* list); // zeroed is fine

// What squeezing asks of the topology, made when the first mark is.
typedef struct squeeze_lists
{
    int* first_edge;        // [vertex_count] of the collider, at the vertex; -1: none
    int *face_start, *face; // [vertex_count + 1] into face: the faces at each vertex, in order
    int body_count;
    int* body_face;      // [body_count + 1] the first face of each body
    winding_tree* solid; // [body_count] zero until asked for
} squeeze_lists;

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
    int* body;         // [vertex_count] cloths, then obstacles
    double* inv_mass;  // [vertex_count] 1/kg; 0: obstacles
    double* friction;  // [vertex_count] coefficient of the vertex's body
    double* thickness; // [vertex_count] m, of the vertex's body
    vec3* rest;        // [cloth_count] m
    int* kin;          // [bodies] cloths that ties join, directly or by others, have the same; NULL: there are no ties
    vec3* sewn;        // [cloth_count] where they started; NULL without ties
    double reach;      // m: what is searched for around features
    double edge;       // m, of the cloth at rest, in the mean
    obstacles_fn* obstacles_at;
    void* user;
    weft_error error; // of a sample that could not be read

    // the substep under way
    vec3 *start, *end; // [vertex_count]
    vec3* velocity;    // [vertex_count] at its end
    vec3 frame;        // m, the way that the search takes off all ends
    double swing;      // m: features come closer by no more
    vec3* framed;      // [vertex_count] ends without it
    narrow_list near;  // near_pair
    touch* touches;    // [touch_count] sorted by vertex
    int touch_count, touch_capacity;
    spring* springs; // [spring_count]
    int spring_count, spring_capacity;
    coupling* couplings; // [spring_count]
    int coupling_capacity;
    double* load;               // [cloth_count] N, of the springs of each vertex
    coupled_matrix coupled;     // mesh and springs
    vec3* grip;                 // [cloth_count] the state's next memory of contact
    filter_record* pin_records; // [pin_count]
    int pin_count;

    // the response
    int* record;       // [cloth_count] filter record of a vertex that is held in some direction, -1: none
    uint8_t* awake;    // [vertex_count] has moved since it was tested
    bool all_awake;    // nothing was tested yet
    narrow_list found; // collisions of the last detection
    contact_row* rows; // [row_count]
    int row_count, row_capacity;
    collision* stuck; // [stuck_count] those that rigid zones hold
    int stuck_count, stuck_capacity;
    int* zone;         // [vertex_count] parent in the forest of zones
    vec3* zone_motion; // [vertex_count] kg m, of the zone's root
    double* zone_mass; // [vertex_count] kg, of the zone's root

    // what is squeezed
    mark_list marks;         // of the substep; at its end the state's next ones
    mark_list crossed;       // scratch: the marks of what crosses at the end
    uint8_t* marked;         // [vertex_count] whether the vertex has a mark
    around_list around;      // scratch
    squeeze_lists lists;     // zero until something is marked
    squeezed_pair* squeezed; // [squeezed_count] what crosses at the end
    int squeezed_count, squeezed_capacity;
    squeezed_pair* passed; // [passed_count] let pass in this step, and nothing around it crosses any more
    int passed_count, passed_capacity;
    long long squeeze_tests; // of boxes, faces and nodes, so far: for tests
    double ulp;              // m, largest rounding of a coordinate to float in this substep
} contact;

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count);
void contact_finish(contact* c); // zeroed is fine

uint64_t contact_pattern(const contact* c); // of the springs' couplings; 0: the mesh has them all
// The friction of a pair: an obstacle's own, or the mean of two cloths.
double contact_friction(const contact* c, weft_pair_kind kind, const int vertex[4]);
static inline vec3 weighted(const double weight[4], const int vertex[4], const vec3* x)
{
    vec3 sum = v3_scale(weight[0], x[vertex[0]]);
    for (int k = 1; k < 4; k++)
    {
        sum = v3_madd(sum, weight[k], x[vertex[k]]);
    }
    return sum;
}

#endif
