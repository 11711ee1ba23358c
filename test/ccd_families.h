// Continuous collision queries, random and degenerate, in families; shared by test_ccd and weft-oracle.
#ifndef WEFT_TEST_CCD_FAMILIES_H
#define WEFT_TEST_CCD_FAMILIES_H

#include <stdint.h>

#include "weft/collide.h"

typedef struct ccd_case
{
    weft_pair_kind kind;
    int family;
    weft_vec3 start[4], end[4]; // coordinates are 0 or of size 1e-30 to 1e12
} ccd_case;

enum
{
    CCD_FAMILY_MAX = 32
};

int ccd_family_count(void);
const char* ccd_family_name(int family);
// The index-th query of a seed: depends on these two alone. Families and kinds take turns.
ccd_case ccd_case_make(uint64_t seed, uint64_t index);

#endif
