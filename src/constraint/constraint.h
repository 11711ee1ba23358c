// Constraints: pins, which prescribe directions of vertices, and ties, which hold points of cloth together; and what
// they are to do in a step.
#ifndef WEFT_CONSTRAINT_H
#define WEFT_CONSTRAINT_H

#include "constraint/motion.h"
#include "solve/solve.h"
#include "weft/weft.h"

// A place over a face of an obstacle, which vertices of pins keep.
typedef struct pin_follow
{
    int face[3]; // vertices among those of all obstacles
    double weight[3];
    double offset; // m, along the face's normal
} pin_follow;

// A pin's motion, shared by its vertices.
typedef struct pin_motion
{
    weft_fix fix;
    vec3 direction;
    motion motion;
    double release;      // s
    const vec3* samples; // [sample_count * vertex_count] m, lent; NULL: vertices stay at their start
    int sample_count, vertex_count;
    double sample_rate, sample_start; // 1/s, s
    pin_follow* follow;               // [vertex_count] or NULL: it follows nothing
    double stiffness;                 // 1/s^2, of vertices that it holds in part
} pin_motion;

// One pinned vertex.
typedef struct pin
{
    int vertex;
    int motion;    // index into motions
    int place;     // among the vertices of its pin
    vec3 start;    // position before the motion
    double weight; // 1: held
} pin;

typedef struct pin_set
{
    pin_motion* motions; // [motion_count]
    int motion_count, motion_capacity;
    pin* pins; // [count] sorted by (vertex, motion) after pin_set_sort
    int count, capacity;
    pin* soft; // [soft_count] likewise: those of a weight between 0 and 1, which are springs (grip.c)
    int soft_count, soft_capacity;
    int body_vertices; // of all obstacles, where a pin follows one; else 0
    bool soft_follow;  // one of the springs does
} pin_set;

// A substep, for pins.
typedef struct pin_moment
{
    double time, h;     // s; time is that of its end
    const vec3 *x, *v;  // [vertices] at its start
    const vec3* bodies; // [body_vertices] m, vertices of all obstacles at its end; NULL where no pin follows one
} pin_moment;

weft_status pin_set_add_motion(pin_set* set, const weft_pin* def,
                               int* out);            // samples are lent as long as the set lasts
weft_status pin_set_add(pin_set* set, const pin* p); // by its weight: to pins, to soft, or nowhere
void pin_set_sort(pin_set* set);
void pin_set_finish(pin_set* set);

// Where a pinned vertex is to be at `time`, when obstacles are there.
vec3 pin_target(const pin_motion* motion, const pin* p, const vec3* bodies, double time);

// Filter records for a substep, and z, the change of velocity that takes each constrained direction to its target: (v +
// z) . d = (target - x) . d / h. records has room for set->count; z is [vertices], written at constrained vertices
// only. Returns the number of records.
int pin_set_constrain(const pin_set* set, const pin_moment* now, filter_record* records, vec3* z);

// ---- grips: pins that hold in part (grip.c)
typedef struct grip
{
    int vertex;
    weft_fix fix;
    vec3 direction;   // unit, of a line or a plane's normal
    vec3 target;      // m, at the end of the substep
    vec3 moved;       // m, how far the target has come in it
    double stiffness; // N/m
    double damping;   // N s/m
} grip;

// Those that act in a substep, sorted by vertex; out has room for set->soft_count. before: obstacles at its start, NULL
// where no spring follows one. Returns their number.
int pin_set_grip(const pin_set* set, const pin_moment* now, const vec3* before, const double* mass, grip* out);
vec3 grip_held(const grip* g, vec3 d); // the part of a vector that it acts on: P d
// On a vertex at x with velocity v; share: how much of the way of the target is done, which takes h in all.
vec3 grip_force(const grip* g, vec3 x, vec3 v, double share, double h);
void grip_block(const grip* g, double factor, double* block /* [9] */); // block += factor P

// ---- prescribed directions of one vertex, from pins and contacts
typedef struct prescription
{
    int count;
    vec3 d[3];       // orthonormal
    double value[3]; // change of velocity along each
} prescription;

void prescription_add(prescription* p, vec3 direction, double value); // what is prescribed already stays
vec3 prescription_value(const prescription* p);

// ---- ties: a point of cloth that follows a point over a face

// The point is a vertex, or lies on an edge. It stays at the place over the face that weights and offset name:
//
//     C(x) = sum share x_point - (sum weight x_face + offset n) = 0,   n the face's unit normal.
typedef struct tie
{
    int point[2]; // the second is -1 for a vertex
    double share[2];
    int face[3];
    double weight[3];    // sum 1; outside of 0 to 1 beside the face
    double offset;       // m
    double gap, least;   // m: of a stitch, how far apart its points were at first, and are to be; from `begin` on
    double begin, close; // s; close 0: this is no stitch
    vec3 start[2];       // m, where the ends of a stitch were at first
    double added;        // s, when that was
    bool bent;           // a stitch whose thread goes over `way`, m: something is in its straight way
    vec3 way;
    int way_face;         // triangle of the obstacles over which that is, -1: nothing was in its way at first
    double way_weight[3]; // of its corners
    double way_side;      // 1: that to which it turns, else -1
} tie;

enum
{
    TIE_ENTRIES = 3 * (2 + 9) // of J, at most, for the three rows of a tie
};

typedef struct tie_set
{
    tie* ties; // [count]
    int count, capacity;
    int* members; // [member_count] vertices that a tie names, sorted; after tie_set_collect
    int member_count;
} tie_set;

weft_status tie_set_add(tie_set* set, const tie* t);
weft_status tie_set_collect(tie_set* set);
void tie_set_finish(tie_set* set);

// The tie that holds a point where it is: shares of one or two vertices over a face that none of them belongs to. False
// when the face has no area.
bool tie_make(const vec3* x, const int point[2], double share, const int face[3], tie* out);
vec3 tie_error(const tie* t, const vec3* x); // C, m

// ---- stitches: ties of two points that start apart, as a thread between them that is drawn in
//
//     |p - q| <= gap(t),   p, q vertices or points of edges,
//
// free to turn and to hang loose.
typedef struct stitch_ends
{
    int point[2], to[2]; // of an end the second is -1 for a vertex
    double share[2];     // of the first vertex of each end; 1 for a vertex
} stitch_ends;

typedef struct stitch_path
{
    double begin, close; // s
    double least;        // m, what is left of the gap
} stitch_path;

// A substep, for ties.
typedef struct tie_moment
{
    const vec3 *x, *v;    // [vertices] at its start
    double time, h;       // s; time is that of its start
    const uint8_t* slack; // [ties] 1: it has no rows now; NULL: all have
} tie_moment;

tie tie_of_stitch(const stitch_ends* ends, double gap, const stitch_path* path);
double stitch_gap(const tie* t, double time); // m, what the thread's length is
typedef enum thread_state
{
    THREAD_LOOSE,
    THREAD_DRAWN, // along itself
    THREAD_STIFF  // and nothing is to move across
} thread_state;

vec3 tie_point(const tie* t, const vec3* x); // where a tie's point is
vec3 stitch_to(const tie* t, const vec3* x); // and the other end of a stitch
// along: away from the thread, a unit vector for each end; *speed: how fast it is to grow.
thread_state stitch_look(const tie* t, const tie_moment* now, vec3 along[2], double* speed);

// J = dC/dx at x, three rows a tie, of which those of stitches may be empty: start is [3 * count + 1], the others
// [TIE_ENTRIES * count].
void tie_set_rows(const tie_set* set, const tie_moment* now, int* start, int* unknown, double* value);

#endif
