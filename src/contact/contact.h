// Contact: all bodies of the scene in one collider, and what a substep does with what is near and with what collides.
// Contact is data before it is force. A file each, to be read in this order:
//
//     find.c      near pairs of features, once a substep, as rows: vertices, weights, normal, distance, frictions
//     fall.c      rows of what slides off the faces that carried it
//     ahead.c     the facet that a vertex will be on
//     fan.c       what lies around a feature: rows on the border of a face count only inside its normal cone
//   consumers of rows, for methods with a matrix:
//     touch.c     cloth on faces of obstacles: prescribed directions of the filter
//     cushion.c   everything else: damped cushions whose Jacobians are blocks of A
//     particles.c springs between near vertices of sheets, found by voxels, beside these: an option
//     rub.c       the friction of both
//   for methods without one:
//     project.c   rows as inequalities on positions, with Coulomb's cone
//     draw_apart.c  before them, what brings apart a start that crosses
//   after any method:
//     respond.c   no substep ends with a crossing
//     squeeze.c   keeps book of what nothing can part
//     unsettled.c brings apart what crossed at the start
//
// Contact sees no method, model or world: a substep lends it what it needs.
#ifndef WEFT_CONTACT_H
#define WEFT_CONTACT_H

#include "collide/broad.h"
#include "collide/triangle_tree.h"
#include "constraint/constraint.h"
#include "core/core.h"
#include "core/sections.h"
#include "math/vec.h"
#include "sparse/sparse.h"
#include "weft/collide.h"

#define CONTACT_CREEP 1e-6     // m/s: what slides slower sticks
#define UNSETTLED_THROUGH 0.15 // m, that cloth is drawn through a body which has pierced it, at most
#define CONTACT_SLOW 1e-4      // m/s: what clings to an obstacle and gives way slower goes on clinging
#define CONTACT_REACH 1.1      // of the thickness: what is farther does not touch

enum
{
    // Times that a substep is solved again because contacts pulled. In long substeps four are too few: what still pulls
    // holds cloth that slides over bumps, and at 1/30 s it comes to rest where it should not. More than seven change
    // nothing there, and on cloth that is held a sheet then slides 2.6 % too slowly instead of 2.0.
    RELEASES_MAX = 7,
    RELEASES_ROUGH = 4 // where solves end early
};

// Positions of all obstacles at a time, one after the other.
typedef weft_status obstacles_fn(void* user, double time, vec3* out, weft_error* error);
// Whether contact has a body, by number, thinner at a time than it is.
typedef bool grows_fn(const void* user, int body, double time);

// Coefficients of Coulomb's friction: at rest and in motion. Negative in a body: what it touches decides.
typedef struct friction
{
    double hold, rub;
} friction;

// Two features that are, or will soon be, closer than their thickness, at the start of a substep. The weighted sum of
// the vertices is distance times normal, which points to the first feature.
typedef struct contact_row
{
    weft_pair_kind kind;
    weft_pair pair; // features of the collider
    int vertex[4];
    double weight[4];
    vec3 normal;
    double distance, thickness; // m
    friction friction;
    bool coupled;          // in this substep it was a cushion
    bool released, caught; // in this substep it pulled, or came too close without its cushion, which then stays
    bool turned;           // friction in motion turned it round, in this substep
    bool settles;          // it brings apart what crossed at the start: distance may be negative
    bool curve;            // likewise, by making a curve of intersection shorter
} contact_row;

// ---- memory: what the state keeps from one substep to the next

// Of a vertex of cloth.
typedef struct contact_memory
{
    double force;   // N, normal: of faces of obstacles that it touches the strongest
    double load;    // N, normal: of its cushions all together
    double owed[2]; // N, normal: by which friction at faces, and at cushions, was too little so far, over mu
    vec3 friction;  // N, what faces of obstacles exerted across their normals
    vec3 push;      // N, what these pushed with: without them it would have been accelerated by that less
    double calm; // 0: it touches no face of an obstacle; TOUCH_DRIVEN; from 1 on the substeps in which it hardly moved
} contact_memory;

typedef enum bond_state
{
    BOND_SLIDES, // or it has no friction
    BOND_CLINGS, // friction at rest holds it
    BOND_GIVES   // friction at rest was to hold it and could not: it slides, against friction in motion
} bond_state;

// Of a pair of features that a cushion keeps apart.
typedef struct contact_bond
{
    int kind, first, second; // weft_pair_kind and pair; bonds are sorted by them
    int clings;              // a bond_state
    vec3 drawn;              // m, how far friction at rest is drawn
    vec3 force;              // N, friction on the first feature in the last substep
    vec3 push;               // N, what kept it apart then
    int vertex[4];
    double weight[4]; // of its vertices
} contact_bond;

// Why a vertex is marked, and how what crossed at the start is brought apart (unsettled.c).
typedef enum mark_kind
{
    MARK_SQUEEZED, // bodies or pins have closed on it
    MARK_BEHIND,   // of the start: through an obstacle that has pierced the cloth, to its far side
    MARK_INSIDE,   // of the start: out of an obstacle that has an inside
    MARK_SIDED,    // of the start: to one side of the body
    MARK_FREE,     // of the start: nobody knows the side; the curve of intersection is shortened
    MARK_KINDS
} mark_kind;

// A body that squeezes a vertex of cloth, or that it crossed at the start. Collisions of edges and faces at the vertex
// with that body do not count, and where the vertex itself was let through a face, neither do its own.
typedef struct squeeze_mark
{
    int vertex, body;
    int through; // 1: the vertex itself, too
    int kind;    // mark_kind
    int side;  // MARK_SIDED: of the body's normals, 1 or -1. Of obstacles, squeezed or with an inside: of the cloth's own
               // that look out, 0: unknown
    int stays; // scratch: it stays although nothing around the vertex crosses
    double lift; // m, that it is to be farther away than its thickness: grows while its triangles cross
} squeeze_mark;

typedef struct mark_list
{
    squeeze_mark* item; // [count] sorted by vertex and body, each pair once
    int count, capacity;
} mark_list;

weft_status marks_add(mark_list* list, squeeze_mark mark); // at its end: sort before anything is looked up
void marks_sort(mark_list* list);
squeeze_mark* marks_find(const mark_list* list, int vertex, int body); // NULL: there is none
int marks_first(const mark_list* list, int vertex);                    // the first of this vertex, or where it would be
weft_status marks_copy(mark_list* to, const mark_list* from);
void marks_swap(mark_list* a, mark_list* b);
void marks_finish(mark_list* list); // zeroed is fine

typedef struct contact_state
{
    int vertex_count;
    contact_memory* memory; // [vertex_count]
    mark_list marks;        // bodies that squeeze a vertex
    contact_bond* bonds;    // [bond_count] sorted
    int bond_count, bond_capacity;
} contact_state;

weft_status contact_state_create(contact_state* s, int vertex_count);
weft_status contact_state_copy(const contact_state* from, contact_state* to);
void contact_state_save(const contact_state* s, section_writer* out);
weft_status contact_state_load(contact_state* s, sections* from, weft_error* error);
void contact_state_finish(contact_state* s); // zeroed is fine

// ---- a substep, as the method lends it
typedef struct contact_substep
{
    double h, time;       // s; time is that of its start
    double time_step;     // s, of the whole step
    vec3* x;              // [cloth_count] m, at its start; coordinates below 1e-30 are set to zero
    const vec3* v;        // [cloth_count] m/s
    const vec3* expected; // [cloth_count] m/s^2, the acceleration if nothing new happens
    const contact_state* last;
    const double* yielding;    // [cloth_count] share of its push that what settles has at a vertex; NULL: all of it
    const filter_record* pins; // [pin_count] prescribed directions of vertices, sorted
    int pin_count;
    bool may_halve; // one that is too long may be refused: NOT_CONVERGED
    bool waits;     // for what is expected to arrive, until it does
} contact_substep;

// A vertex of cloth that touches a face of an obstacle.
typedef struct touch
{
    int vertex, face; // of the collider
    vec3 normal;      // towards the cloth
    double depth;     // m, in the layer; negative: above it, or what it lacks to the middle of two that overlap
    double thickness; // m
    bool near;        // within reach; else it is only about to come
    bool shared;      // with a layer opposite that overlaps this one
    bool slides;      // and these move past each other
    vec3 velocity;    // m/s, of the obstacle there
    friction friction;
    bool held, sticks; // in this substep
    bool released;     // it pulled, in this substep
    bool caught;       // it came too close without being held, and stays held
    bool turned;       // friction in motion turned it round
    double force;      // N, along the normal: the last one, or what stops a new touch
    int cushion;       // of its friction in motion, -1: none
} touch;

// A damped spring that pushes two features apart, with friction. With u the weighted sum of velocities its force on the
// first is
//
//     n (k (overlap - h n . u) - c n . u) + rub - cling (drawn + h t) - slip (t - along along . t),   t = u - n n . u
typedef struct cushion
{
    int row; // -1: friction of a touch, or a spring of particles
    int vertex[4];
    double weight[4];
    vec3 normal;
    double overlap;            // m, thickness less distance at the start
    double stiffness, damping; // k in N/m, c in N s/m
    double cling;              // N/m, friction at rest
    vec3 drawn;                // m
    vec3 rub, along;           // N, friction in motion, and its axis; zero: what moves so slowly has none
    double slip;               // N s/m, across that axis
    vec3 drift;                // m/s, the obstacle's part of u
    double inv_mass;           // 1/kg, of the pair along the normal
    double inv_mass_aside;     // 1/kg, of the pair across it
    friction friction;
    double pressed, stopped; // N, what presses now and what stops an approach
    double limit;            // N, of its friction
    vec3 rubbed;             // N s, what friction is expected to take
    bool turned;             // its friction is viscous, whatever is expected
    bool driven;             // its friction is Coulomb's while it moves, whatever is expected
} cushion;

// What the cushions of a vertex say together.
typedef struct cushion_load
{
    double borne;         // N, all
    double stopped, most; // N, all, and the largest
    double had, owed;     // N, what it bore and was owed, and what those around it that bear nothing any more did
    bool counted;         // what it was owed
    // At the end of the substep, by the side on which cushions push it, `up` being that of the first:
    vec3 up, held[2]; // held: N, friction
    double bears[2];  // N, pushes
} cushion_load;

// Springs between vertices of sheets (particles.c).
typedef struct particle_options
{
    double distance;  // of the spacing of the mesh; 0: there are none
    double stiffness; // N/m a pair; negative: by masses
    double damping;   // N s/m a pair; negative: by stiffness and masses
} particle_options;

// Two vertices of sheets that are too near at the start of the substep.
typedef struct particle_pair
{
    int vertex[2];
    vec3 normal;         // towards the first
    double length, kept; // m, how far they are apart and are to be
} particle_pair;

typedef struct particles
{
    particle_options options;
    double* spacing;  // [cloth_count] m, of the mesh around a vertex of a sheet; 0: of another body. NULL: no springs
    int64_t* cell;    // [3 * cloth_count] the voxel of a vertex
    int* bucket;      // [cloth_count] of its voxel, -1: it has none
    int bucket_count; // a power of two
    int *bucket_start, *item; // item[bucket_start[b] .. bucket_start[b + 1]): vertices, ascending
    particle_pair* pairs;     // [pair_count] by the first vertex
    int pair_count, pair_capacity;
} particles;

// A row while positions are projected on it.
typedef struct projected_row
{
    const contact_row* row;
    double wanted;                   // m, distance at the end
    double inv_mass, inv_mass_aside; // 1/kg, along the normal and across it
    double pushed;                   // kg m so far
    vec3 rubbed;                     // kg m so far
} projected_row;

// A part of a substep.
typedef struct contact_moment
{
    const vec3* from;  // [cloth_count] m, at its start
    double begin, end; // shares of the substep
} contact_moment;

// One collision as a condition on displacements and velocities of its vertices: along the unit normal n the weighted
// sum of end positions must reach `gap`, and that of velocities must not be negative.
typedef struct response_row
{
    int vertex[4];
    double weight[4];
    vec3 normal;
    double gap;            // m
    double slack;          // m, that may be missing of it
    double inv_mass;       // 1/kg, of the pair along the normal
    double pushed, slowed; // kg m and kg m/s so far
    double friction;
    int island, order; // first vertex that can move of all that rows connect it with; order of detection
} response_row;

// What squeezing asks of the topology, made when the first mark is.
typedef struct squeeze_lists
{
    int* first_edge; // [vertex_count] of the collider, at the vertex; -1: none
    int* line_start; // [vertex_count + 2] places in line_edge of vertices without faces, which lines have
    int* line_edge;  // edges at these
    int body_count;
    int* body_face;         // [body_count + 1] the first face of each body
    winding_tree* solid;    // [body_count] zero until asked for
    triangle_tree* surface; // [body_count] likewise
    uint8_t* fresh;         // [body_count] SOLID_FRESH, SURFACE_FRESH: made of the positions at hand
} squeeze_lists;

// An edge that passes through a face at the end of a substep, or passed it whole on the way; or through a segment of
// lines, which is a face whose last two vertices are the same.
typedef struct squeezed_pair
{
    int edge[2], face[3];
    int start; // 1: it is left of the start
} squeezed_pair;

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
    int* body;          // [vertex_count] cloths, then obstacles
    double* inv_mass;   // [vertex_count] 1/kg; 0: obstacles
    friction* friction; // [bodies]
    friction* skin;     // [obstacle vertices] where it differs within an obstacle, else NULL
    friction unsaid;    // of a pair in which no body says
    double* thickness;  // [vertex_count] m, of the vertex's body
    double* girth;      // [body_count] m, thickness of a body of lines, which is round; 0: of any other
    vec3* rest;         // [cloth_count] m
    int* kin;           // [bodies] cloths that ties join, directly or by others, have the same; NULL: there are no ties
    vec3* sewn;         // [cloth_count] where they started; NULL without ties
    double* room;       // [cloth_count] m, least height of the triangles around each at rest; NULL: nothing is sewn
    int* seam;          // [cloth_count] vertices that are drawn together have the same; -1: not; NULL: none is
    const feature_star* fan; // faces around each vertex: the collider's, once it has learned where all is at rest
    double reach;            // m: what counts as near features, at most
    double margin;           // m: what the last search looked for around them
    double edge;             // m, of the cloth at rest, in the mean
    particles particles;     // zero without the option
    obstacles_fn* obstacles_at;
    obstacles_fn* whole_at; // likewise, where they are when they have grown (grown.c)
    grows_fn* grows;
    void* grower; // of the last two
    void* user;
    weft_error error; // of a sample that could not be read

    // the substep under way
    contact_substep now;
    int* record;       // [cloth_count] its pin among now.pins, -1: none
    vec3 *start, *end; // [vertex_count + 1]
    vec3* velocity;    // [vertex_count] expected at its end; in the response as the method has it
    vec3 frame;        // m, the way that the search takes off all ends
    double swing;      // m: features come closer by no more
    bool sifted;       // candidates of the last search were
    bool strayed;      // in the last substep a vertex ended too far from where it was led for what is sifted
    vec3* framed;      // [vertex_count] ends without it
    int* strays;       // [cloth_count] vertices that end too far from where the search had them
    double ulp;        // m, largest rounding of a coordinate to float in this substep
    narrow_list rows;  // contact_row, sorted by pair
    int releases;      // times that a solve of this substep was looked at for pulls, see contact_pull_limits
    bool early;        // that solve is not done yet
    touch* touches;    // [touch_count] sorted by vertex
    int touch_count, touch_capacity;
    int left_touches, left_cushions, left_couplings; // counts before contact_leave_rows
    cushion* cushions;                               // [cushion_count]
    int cushion_count, cushion_capacity;
    coupling* couplings; // [coupling_count] of cushions, then of what was let go
    int coupling_count, coupling_capacity;
    cushion_load* load;     // [cloth_count]
    vec3* lost;             // [cloth_count] N, of cushions of the last substep whose pairs are near no more
    bool* fixed;            // [cloth_count] whether pins and touches prescribe all of its motion
    bool* between;          // [cloth_count] whether it lies between layers of obstacles that slide past each other
    vec3* glide;            // [cloth_count] m/s, expected at its end, without friction and then with it
    coupled_matrix coupled; // mesh and cushions
    contact_state next;     // the state's next memory

    projected_row* projected; // [projected_count]
    int projected_count, projected_capacity;
    contact_moment moment; // of the projection
    vec3* drawn;           // [cloth_count] m, by what brings apart a start that crosses; scratch
    int drawn_capacity;

    // the response
    uint8_t* awake;       // [vertex_count] has moved since it was tested
    bool all_awake;       // nothing was tested yet
    narrow_list found;    // collisions of the last detection
    response_row* pushes; // [push_count]
    int push_count, push_capacity;
    int* island;      // [vertex_count] parent in the forest of islands
    int* visits;      // [vertex_count] of rows of its island in this substep
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
    const vec3* looked;      // [vertex_count] positions in which crossings are listed
    squeeze_lists lists;     // zero until something is marked
    squeezed_pair* squeezed; // [squeezed_count] what crosses at the end
    int squeezed_count, squeezed_capacity;
    bool unsettled;         // some marks are of the start
    bool draws;             // or are inside of a body, and brought out
    squeezed_pair* pierced; // [pierced_capacity] scratch
    int pierced_capacity;
    squeezed_pair* passed; // [passed_count] let pass in this step, and nothing around it crosses any more
    int passed_count, passed_capacity;
    long long squeeze_tests; // of boxes, faces and nodes, so far: for tests

    double effort; // pairs of boxes looked at, and rows visited, in this step
    bool crowded;  // the last search has found more of them than a substep is worth

    // counts of the step, for its stats
    int contacts;    // touches and cushions of a substep, or collisions after it if more; the most of all substeps
    int last_resort; // vertices that only a rigid zone could keep from crossing
} contact;

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count, int body_count);
void contact_finish(contact* c); // zeroed is fine
// Cloth has torn: the collider and all that is by vertex grow, and nothing is known of the last substep. NOT_FOUND: as
// collider_tear has it. Masses and spacings are due.
weft_status contact_tear(contact* c, const torn_vertices* torn);
void contact_forget(contact* c); // at a checkpoint: what only saves time
void squeeze_forget(contact* c); // after a tear: what follows from the topology
weft_status particles_create(contact* c, const particle_options* options); // then spacings are due
void particles_finish(contact* c);

// The friction of two bodies (contact.c has the rule).
friction contact_friction(const contact* c, int body, int other);
// Of two features that touch where the weights say: over an obstacle what its vertices have, linear between them.
// first: of the second feature's vertices.
friction contact_friction_at(const contact* c, const int vertex[4], int first, const double weight[4]);

// ---- the parts of a step
void contact_begin(contact* c);          // a step: nothing is counted or listed yet
bool contact_is_spent(const contact* c); // what a step may cost is: nothing should move any more
weft_status contact_find(contact* c, const contact_substep* now); // fills rows

typedef vec3 contact_reaction_fn(const void* user, int vertex); // N, that the touches of a vertex have exerted

// For methods with a matrix, in this order.
// Rows become touches and cushions: the filter is that of pins and touches, z holds what pins prescribe and gets what
// touches do.
void contact_constrain(contact* c, filter_record* filter, int* filter_count, vec3* z);
weft_status cushions_structure(contact* c, const bsr_pattern* base);
weft_status cushions_couple(contact* c, bsr_matrix* A, workers* pool);                   // adds their blocks
void cushions_change(const contact* c, const bsr_matrix* A, double sign, workers* pool); // to A, or with -1 from it
void cushions_push(const contact* c, const vec3* v, vec3* rhs);     // rhs += h f at these velocities
double cushions_potential(const contact* c, const vec3* v);         // whose gradient by velocity is minus that
void cushions_multiply(const contact* c, const vec3* v, vec3* out); // out += their blocks times v, without the blocks
double cushions_work(const contact* c, const vec3* v);              // J, in a substep that ends with these
// J, that obstacles do by moving in that substep; what their layers do to what is too deep in them is not counted.
double contact_drive(const contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v);
uint64_t contact_pattern(const contact* c); // of the cushions; 0: the mesh has them all
// Lets go, for this substep, what pulls: constraints and cushions act both ways, and contact does not. Returns how many
// there were: then constrain and solve again.
// `early`: by a rough answer, only what pulls hard in a short substep; where that is nothing it was no look.
int contact_release(contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v, bool early);
// What the next substep must know; and what moved a vertex out of a layer leaves its velocity.
void contact_remember(contact* c, contact_reaction_fn* reaction, const void* user, vec3* v);

// For methods without: nothing of the rows is prescribed or cushioned in this substep.
void contact_leave_rows(contact* c);
void contact_return_rows(contact* c); // as they were before that
// Moves x, the end of the substep, so that rows hold; *missing: m, the most that the last sweep
// found.
weft_status contact_project(contact* c, vec3* x, int sweeps, double* missing);
// The same in parts, for methods that cut a substep: begin a part, then as many sweeps as are wanted; a sweep returns
// what was missing.
weft_status contact_project_begin(contact* c, const contact_moment* now);
void contact_draw_apart(contact* c, vec3* x);      // what crossed at the start (draw_apart.c), before a sweep
double contact_project_sweep(contact* c, vec3* x); // all else

// What a coarse level has pressed against faces of obstacles since q comes out again: no deeper than it was, so that
// what loads press is left to the sweeps, which have friction for it.
typedef struct contact_coarse
{
    const uint8_t* coarsest; // [cloth_count] level of a vertex
    int level;
    const vec3* q; // [cloth_count] m, before the level
} contact_coarse;
void contact_project_coarse(contact* c, const contact_coarse* to, vec3* x);

// After any method: moves x and v, the end of the substep, so that nothing crosses. *changed: something did. What may
// be halved and cannot be parted is NOT_CONVERGED; else it is squeezed.
weft_status contact_respond(contact* c, vec3* x, vec3* v, bool may_halve, bool* changed);
// Whether something is left of a start that crosses: then energies say nothing.
static inline bool contact_is_unsettled(const contact* c)
{
    return c->unsettled;
}
weft_status contact_settle(contact* c); // lists what is squeezed, once the end of the substep stands

// ---- shared by the consumers
static inline vec3 weighted(const double weight[4], const int vertex[4], const vec3* x)
{
    vec3 sum = v3_scale(weight[0], x[vertex[0]]);
    for (int k = 1; k < 4; k++)
    {
        sum = v3_madd(sum, weight[k], x[vertex[k]]);
    }
    return sum;
}

// What an impulse does to a vertex: pins take out what they prescribe.
vec3 contact_yield(const contact* c, int vertex, vec3 impulse);
// 1 over the mass of a weighted pair along a unit vector; 0 where what can move has so little part in it that it would
// have to go twenty times as far.
double contact_inv_mass(const contact* c, const int vertex[4], const double weight[4], vec3 direction);
double contact_inv_mass_aside(const contact* c, const contact_row* row); // the mean over directions across the normal

#endif
