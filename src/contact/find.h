// What the files of contact share among themselves.
#ifndef WEFT_FIND_H
#define WEFT_FIND_H

#include "contact/contact.h"

#define TOUCH_DRIVEN 0.5            // of contact_memory.calm: it slides, and friction that was to stop it could not
#define CUSHION_ACCELERATION 1000.0 // m/s^2, scale of what cushions push with

double contact_size(const contact* c); // vertices, as far as they make work
vec3 find_flush(vec3 x);
weft_status find_search(contact* c);     // candidates around start and end
weft_status find_measure(contact* c);    // the largest rounding; NOT_FINITE: positions have left the world
weft_status find_collisions(contact* c); // fills found, for what is awake
// The row of a vertex, that would end there, and a face; false: it is none.
bool find_row(const contact* c, weft_pair pair, vec3 end, contact_row* row);
weft_status find_fallen(contact* c); // adds rows of what faces carried that it has left

// ---- fans
// Whether a closest point lies inside the normal cones of its features, and no other feature says the same.
bool fan_counts(const contact* c, weft_pair_kind kind, weft_pair pair, const int vertex[4], const closest* at);

// ---- touches and cushions
static inline bool touch_of(const contact* c, weft_pair_kind kind, const int vertex[4])
{
    return kind == WEFT_VERTEX_FACE && vertex[0] < c->cloth_count && vertex[1] >= c->cloth_count;
}
static inline bool touch_is(const contact* c, const contact_row* row) // of a vertex of cloth and an obstacle's face
{
    return !row->settles && touch_of(c, row->kind, row->vertex);
}
void project_remember(contact* c);
double project_missing(const contact* c, const projected_row* p, const vec3* x); // m, along its normal at x
vec3 touch_fall(const contact* c, int vertex); // m/s, that the substep adds where the faces are gone that carried it
weft_status touches_take(contact* c);
weft_status touches_look_ahead(contact* c);
int touches_release(contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v);
void touch_remember(contact* c, contact_reaction_fn* reaction, const void* user, vec3* v);
void cushions_take(contact* c);
int cushions_release(contact* c, const vec3* v);
typedef struct pull_limits
{
    double most;  // m/s^2: what pulls more is let go in the substep
    double least; // m: what ends closer is taken
} pull_limits;
pull_limits contact_pull_limits(const contact* c, double thickness);
coupling cushion_coupling(const contact* c, const cushion* s);
void cushions_remember(contact* c, const vec3* v);
vec3 cushion_speed(const contact* c, const cushion* s, const vec3* v); // u
double cushion_normal(const contact* c, const cushion* s, vec3 u);     // N, what pushes; negative: it pulls
static inline vec3 across(vec3 u, vec3 normal)
{
    return v3_madd(u, -v3_dot(u, normal), normal);
}

// ---- springs of particles
weft_status particles_find(contact* c); // pairs, and room for them among cushions
void particles_take(contact* c);        // behind the cushions of rows and touches

// ---- friction
void rub_touch(contact* c, touch* t); // friction in motion of a vertex that slides: a cushion without a row
void rub_all(contact* c);             // of all cushions
bool rub_turns(const contact* c, const cushion* s, double thickness, const vec3* v); // whether it turned a pair round
void rub_bear(const contact* c, const cushion* s, double push, vec3 u); // adds to what vertices bear on each side
contact_bond rub_bond(const contact* c, const cushion* s, double push, vec3 u); // the pair's next memory
bool rub_is_driven(const contact* c, const cushion* s, vec3 u);
bool rub_slides(const cushion* s);                                 // friction in motion, or none
bool rub_rests(const contact* c, const cushion* s, vec3 u);        // a stop, nearly
void rub_owe(contact* c, const cushion* s, double push, vec3 u);   // what its vertices remember of a wrong normal force
vec3 cushion_friction(const contact* c, const cushion* s, vec3 u); // N, on the first feature
int bond_compare(const contact_bond* bond, const contact_row* row); // by their order
// The bond of a row, *next being the first that may be its; rows come in their order. NULL: it had no cushion.
const contact_bond* bond_of(const contact_state* last, const contact_row* row, int* next);
void bond_add(const contact* c, const contact_bond* bond, vec3 force, vec3* sum); // to those of its vertices

// ---- islands and zones as forests: trees are called by their smallest vertex
static inline int forest_root(int* parent, int i)
{
    while (parent[i] != i)
    {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

// False: they were one already.
static inline bool forest_join(int* parent, int i, int k)
{
    int a = forest_root(parent, i), b = forest_root(parent, k);
    parent[int_max(a, b)] = int_min(a, b);
    return a != b;
}

enum
{
    VISITS_MAX = 1000000 // of rows of one island in a substep: what that does not part, rigid zones do
};

void zones_clear(contact* c);                        // nothing is stuck
void zones_take(contact* c, int fresh, bool* grown); // so many collisions behind those of stuck
weft_status zones_let_through(contact* c, bool* out);

// ---- squeezed
weft_status squeeze_load(contact* c, const mark_list* marks); // those of the state
// A pair of a vertex and a body that squeezes it.
bool squeeze_ignores(const contact* c, const int vertex[4], int first);
// Whether one of these vertices is squeezed by the body: itself, or edges and faces at it.
bool squeeze_holds(const contact* c, const int* vertex, int count, int body, bool itself);
weft_status squeeze_let(contact* c, const collision* hit); // marks what takes part: then squeeze_settle
void squeeze_settle(contact* c);
weft_status squeeze_give_up(contact* c); // all that still collides
weft_status squeeze_prepare(contact* c); // lists of the topology
weft_status squeezed_pairs_add(squeezed_pair** list, int* count, int* capacity, const squeezed_pair* pair);
weft_status squeeze_list_crossings(contact* c, const vec3* x); // of what is marked, with the candidates of the search
void squeeze_finish(contact* c);

// ---- what crossed at the start
weft_status squeeze_list_faces(contact* c, int face, int other); // adds their crossings, where c->looked says
void squeeze_drop_copies(squeezed_pair* pairs, int* count);
weft_status grown_list(contact* c); // adds, to what crosses at the end, what a body still has to grow into
bool unsettled_holds(const contact* c, const squeezed_pair* pair); // whether a crossing is left of the start
bool squeeze_is_obstacle(const contact* c, int body);              // which has an inside, and not a cloth
weft_status unsettled_rows(contact* c);                            // adds what brings it, and what is squeezed, apart, after near pairs
void unsettled_push(const contact* c, const contact_row* row, cushion* s); // the force of such a row
int unsettled_side(const contact* c, const int v[4]); // of the normals of the cloth at v[0] that look out of the face v + 1
double unsettled_share(const contact* c, const contact_row* row);          // of it, that stretched cloth leaves
weft_status
unsettled_keep(contact* c); // once crossings of the end are marked: which of the state's marks stay, and how

#endif
