// What the methods of Boxerman's thesis (chapter 4) have in common: one linear system a substep, of the elements that
// are taken implicitly, with contact, pins and ties; the force of the others; and the state at the end. See march.c.
#ifndef WEFT_MARCH_H
#define WEFT_MARCH_H

#include "step/compact.h"
#include "step/split.h"
#include "step/step.h"

// How a substep is taken.
typedef enum march_form
{
    MARCH_EULER,   // (4.5), (4.11), (4.13): backward Euler, forward-backward Euler, both
    MARCH_BDF2,    // (4.15), without explicit elements BDF2
    MARCH_MIDPOINT // implicit midpoint, with leapfrog for explicit elements
} march_form;

typedef struct march_scheme
{
    march_form form; // where nothing touches and there is a past; else MARCH_EULER
    split_rule rule;
    double damping; // of the criterion, see split.h
    bool terms;     // it has the setting `terms`
    bool compact;   // likewise `compact`
} march_scheme;

typedef struct march_data
{
    const march_scheme* scheme;
    split split;
    march_form form;        // of the substep
    bool touched;           // something touches, or did in this substep
    bool diagonal;          // the system is M alone
    bool by_term;           // of implicit elements damping alone is implicit
    double k;               // s: A = M + k D + k^2 K
    vec3 *x_at, *v_at;      // [vertex_count] about which is linearised
    vec3 *force, *other;    // [vertex_count] N; scratch
    vec3* z;                // [vertex_count] z of the substep, for the velocities v_at
    double* values;         // [9 blocks] scratch, once by_term
    compact_matrix compact; // with the setting `compact`
    bsr_matrix whole;       // A with its blocks of zeros
} march_data;

// For time_methods whose data is a march_data. `prepare` of each names its scheme.
weft_status march_prepare(world* w, march_data* d, const march_scheme* scheme);
void march_finish(void* data);
weft_status march_first_system(world* w);
extern const stage march_stages[];
extern const method_field march_fields[];
uint8_t* const* march_split(const void* data); // flags of the last substep

#endif
