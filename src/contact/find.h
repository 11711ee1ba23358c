// What the files of contact share among themselves.
#ifndef WEFT_FIND_H
#define WEFT_FIND_H

#include "contact/contact.h"

vec3 find_flush(vec3 x);
weft_status find_measure(contact* c);    // the largest rounding; NOT_FINITE: positions have left the world
weft_status find_collisions(contact* c); // fills found, for what is awake

// ---- fans
weft_status fan_build(contact* c); // after bodies are known
// Whether a closest point lies inside the normal cones of its features, and no other feature says the same.
bool fan_counts(const contact* c, weft_pair_kind kind, weft_pair pair, const int vertex[4], const closest* at);

// ---- touches and cushions
static inline bool touch_is(const contact* c, const contact_row* row) // of a vertex of cloth and an obstacle's face
{
    return row->kind == WEFT_VERTEX_FACE && row->vertex[0] < c->cloth_count && row->vertex[1] >= c->cloth_count;
}
weft_status touches_take(contact* c);
int touches_release(contact* c, contact_reaction_fn* reaction, const void* user, double share);
void touch_remember(contact* c, contact_reaction_fn* reaction, const void* user, vec3* v);
void cushions_take(contact* c);
int cushions_release(contact* c, const vec3* v, double share);
void cushion_add_rub(contact* c, touch* t); // kinetic friction of a vertex that slides
coupling cushion_coupling(const contact* c, const cushion* s);
void cushions_remember(contact* c, const vec3* v);
vec3 cushion_speed(const contact* c, const cushion* s, const vec3* v);       // u
vec3 cushion_friction(const contact* c, const cushion* s, vec3 u);           // N, on the first feature

// ---- squeezed
void squeeze_load(contact* c); // marks of the state
// A pair of a vertex and a body that squeezes it.
bool squeeze_ignores(const contact* c, const int vertex[4], int first);
weft_status squeeze_let(contact* c, const collision* hit); // marks what takes part
weft_status squeeze_give_up(contact* c);                   // all that still collides
weft_status squeeze_list(contact* c);                      // what crosses at the end; marks of the next state

#endif
