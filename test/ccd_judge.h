// Answers of weft_ccd_query held against the truth, and totals by family; shared by test_ccd_oracle and weft-oracle.
#ifndef WEFT_TEST_CCD_JUDGE_H
#define WEFT_TEST_CCD_JUDGE_H

#include "ccd_families.h"
#include "ccd_oracle.h"

typedef enum ccd_verdict
{
    CCD_RIGHT,
    CCD_MISSED,    // a collision that was not found
    CCD_MADE_UP,   // one that there is not
    CCD_LATE,      // the time is after the first contact, exactly
    CCD_EARLY,     // the time is more than 1e-6 before it
    CCD_MALFORMED, // no answer at all: a time that is not in [0, 1], or not infinity where nothing collides
    CCD_REFUSED,   // weft_ccd_query failed
    CCD_VERDICT_COUNT
} ccd_verdict;

const char* ccd_verdict_name(ccd_verdict verdict);
// The truth was asked with the answer's time as its claim.
ccd_verdict ccd_judge(const weft_ccd* answer, const ccd_truth* truth);

typedef struct ccd_tally
{
    int64_t queries, collide, exact;
    int64_t verdicts[CCD_VERDICT_COUNT];
    int64_t excused;     // of those made up: the distance is below 1e-10 times the largest coordinate
    int64_t first_wrong; // the index of the first query that is not right; -1: none
} ccd_tally;

void ccd_tally_reset(ccd_tally* t);
void ccd_tally_add(ccd_tally* sum, const ccd_tally* part);
int64_t ccd_tally_wrong(const ccd_tally* t);
// Asks both about a query and counts.
ccd_verdict ccd_tally_ask(ccd_tally* t, ccd_oracle* o, const ccd_case* c, int64_t index);

#endif
