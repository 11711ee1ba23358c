// Which elements a method takes implicitly, which explicitly, and which are slack: decided anew in every substep, from
// its start and its length alone, so that a run that resumes decides the same.
#ifndef WEFT_SPLIT_H
#define WEFT_SPLIT_H

#include "step/step.h"

// How a method decides.
typedef enum split_rule
{
    SPLIT_IMPLICIT, // everything is implicit
    SPLIT_EXPLICIT, // everything is explicit
    SPLIT_TYPE,     // by type of connection: settings `stretch`, `shear`, `bend`, `air`
    SPLIT_CRITERION // where h^2 lambda(M_e^-1 K_e) + damping h lambda(M_e^-1 D_e) <= 8 `criterion`
} split_rule;

typedef struct split
{
    split_rule rule;
    double damping;         // of the criterion: 2, or what the method's explicit half asks for
    uint8_t** flags;        // [groups][elements] ELEMENT_...
    double (*bounds)[2];    // [elements of the largest group] what kinds say
    float** need;           // [groups][elements] h^2 lambda_K + damping h lambda_D, with whole masses
    float (*load)[16];      // [vertex_count] needs at a vertex by size: see split.c
    float* limit;           // [vertex_count] the largest need that may be explicit there
    int implicit, explicit; // elements
    int inactive;
} split;

weft_status split_create(split* s, const world* w);
void split_finish(split* s);                                 // zeroed or half-built is fine
bool split_bends_explicitly(const split* s, const world* w); // whatever the substep
// Flags of a substep of length h, seen from these positions and velocities.
void split_decide(split* s, world* w, const element_motion* motion);

extern const char* const split_counters[]; // what split_count counts
void split_count(const split* s, world* w);
// The share of implicit ones among the active connections at each vertex, -1 where there is none.
void split_share(const split* s, const model* m, float* out);

#endif
