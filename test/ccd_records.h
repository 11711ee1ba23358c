// The public continuous collision queries with their truth: vf.bin and ee.bin of the test data.
#ifndef WEFT_TEST_CCD_RECORDS_H
#define WEFT_TEST_CCD_RECORDS_H

#include "weft/collide.h"

typedef struct ccd_record
{
    weft_vec3 start[4], end[4];
    double truth;     // 1: collides
    double low, high; // bounds of the first time of contact
    double distance;  // smallest over the step, numerical
} ccd_record;

// The path of a file of the set, vf.bin or ee.bin; NULL, with a message, when it is not there.
const char* ccd_record_path(weft_pair_kind kind, char* path /* [2048] */);
// Calls visit for every record of both files; how many there were, 0 when the data is not there.
int ccd_each_record(void (*visit)(void* context, weft_pair_kind kind, const ccd_record* r, int number), void* context);

#endif
