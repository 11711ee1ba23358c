// The demands on an answer: the same verdict as the truth, and a time in [truth - 1e-6, truth].
#include "ccd_judge.h"

#include <math.h>

const char* ccd_verdict_name(ccd_verdict verdict)
{
    static const char* const names[] = {"right", "missed", "made up", "late", "early", "malformed", "refused"};
    return names[verdict];
}

static int is_malformed(const weft_ccd* a)
{
    int flags = (a->collides == 0 || a->collides == 1) && (a->exact == 0 || a->exact == 1);
    int time = a->collides ? a->time >= 0.0 && a->time <= 1.0 : a->time == INFINITY;
    return !flags || !time;
}

ccd_verdict ccd_judge(const weft_ccd* answer, const ccd_truth* truth)
{
    if (is_malformed(answer))
    {
        return CCD_MALFORMED;
    }
    if (answer->collides != truth->collides)
    {
        return truth->collides ? CCD_MISSED : CCD_MADE_UP;
    }
    if (!truth->collides)
    {
        return CCD_RIGHT;
    }
    return truth->late ? CCD_LATE : answer->time < truth->low - 1e-6 ? CCD_EARLY : CCD_RIGHT;
}

void ccd_tally_reset(ccd_tally* t)
{
    *t = (ccd_tally){.first_wrong = -1};
}

void ccd_tally_add(ccd_tally* sum, const ccd_tally* part)
{
    sum->queries += part->queries;
    sum->collide += part->collide;
    sum->exact += part->exact;
    sum->excused += part->excused;
    for (int k = 0; k < CCD_VERDICT_COUNT; k++)
    {
        sum->verdicts[k] += part->verdicts[k];
    }
    if (part->first_wrong >= 0 && (sum->first_wrong < 0 || part->first_wrong < sum->first_wrong))
    {
        sum->first_wrong = part->first_wrong;
    }
}

int64_t ccd_tally_wrong(const ccd_tally* t)
{
    return t->queries - t->verdicts[CCD_RIGHT] - t->excused;
}

static double largest_coordinate(const ccd_case* c)
{
    double largest = 0.0;
    for (int i = 0; i < 8; i++)
    {
        const weft_vec3* p = i < 4 ? &c->start[i] : &c->end[i - 4];
        largest = fmax(largest, fmax(fabs(p->x), fmax(fabs(p->y), fabs(p->z))));
    }
    return largest;
}

ccd_verdict ccd_tally_ask(ccd_tally* t, ccd_oracle* o, const ccd_case* c, int64_t index)
{
    weft_ccd answer = {.time = NAN};
    weft_status status = weft_ccd_query(c->kind, c->start, c->end, &answer);
    ccd_truth truth = ccd_oracle_ask(o, c->kind, c->start, c->end, answer.time);
    ccd_verdict verdict = status == WEFT_OK ? ccd_judge(&answer, &truth) : CCD_REFUSED;
    bool excused =
        verdict == CCD_MADE_UP && ccd_smallest_distance(c->kind, c->start, c->end).high < 1e-10 * largest_coordinate(c);
    t->queries++;
    t->collide += truth.collides;
    t->exact += status == WEFT_OK && answer.exact;
    t->verdicts[verdict]++;
    t->excused += excused;
    if (verdict != CCD_RIGHT && !excused && (t->first_wrong < 0 || index < t->first_wrong))
    {
        t->first_wrong = index;
    }
    return excused ? CCD_RIGHT : verdict;
}
