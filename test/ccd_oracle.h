// The exact truth of a continuous collision query, in whole numbers of any size. Shares nothing with the library's own
// detection: tests and weft-oracle compare the two.
#ifndef WEFT_TEST_CCD_ORACLE_H
#define WEFT_TEST_CCD_ORACLE_H

#include <stdbool.h>

#include "weft/collide.h"

typedef struct ccd_oracle ccd_oracle; // scratch of one thread

typedef struct ccd_truth
{
    bool collides;    // the closed primitives share a point at some time in [0, 1]
    double low, high; // enclose the first such time, at most 1e-12 apart; infinity when there is none
    bool late;        // the first such time is below `claim`, exactly
} ccd_truth;

ccd_oracle* ccd_oracle_create(void); // NULL: no memory
void ccd_oracle_destroy(ccd_oracle* o);
// Coordinates are finite. claim: a time to compare with the truth; not finite: none.
ccd_truth ccd_oracle_ask(ccd_oracle* o, weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4],
                         double claim);

// The smallest distance of the primitives over the step, enclosed numerically (long double, branch and bound).
typedef struct ccd_gap
{
    double low, high;
} ccd_gap;

ccd_gap ccd_smallest_distance(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4]);
// At one time.
double ccd_distance_at(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], double time);

#endif
