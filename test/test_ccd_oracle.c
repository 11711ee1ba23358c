// Continuous collision queries against an exact oracle in whole numbers of any size: 100,000 fresh ones a run, random
// and degenerate. And the oracle itself: against the truth of the public records, against distances computed in another
// way, and against answers that are wrong on purpose.
//
// WEFT_CCD_SEED in the environment draws other queries; a failure prints seed and index.
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WEFT_GMP

#include "ccd_judge.h"
#include "ccd_records.h"
#include "ccd_static.h"

enum
{
    QUERIES = 100000
};

static uint64_t chosen_seed(void)
{
    const char* text = getenv("WEFT_CCD_SEED");
    return text ? strtoull(text, NULL, 10) : 20261115;
}

static void print_case(const ccd_case* c)
{
    for (int i = 0; i < 4; i++)
    {
        const weft_vec3 *a = &c->start[i], *b = &c->end[i];
        print_error("  (%a, %a, %a) -> (%a, %a, %a)\n", a->x, a->y, a->z, b->x, b->y, b->z);
    }
}

static void explain(const ccd_case* c, ccd_verdict verdict, ccd_oracle* o, uint64_t seed, int64_t index)
{
    weft_ccd answer = {0};
    weft_ccd_query(c->kind, c->start, c->end, &answer);
    ccd_truth truth = ccd_oracle_ask(o, c->kind, c->start, c->end, NAN);
    print_error("seed %llu, query %lld (%s, %s): %s; answer %d at %.17g, truth %d in [%.17g, %.17g]\n",
                (unsigned long long)seed, (long long)index, ccd_family_name(c->family),
                c->kind == WEFT_VERTEX_FACE ? "vf" : "ee", ccd_verdict_name(verdict), answer.collides, answer.time,
                truth.collides, truth.low, truth.high);
    print_case(c);
}

static void print_family(const char* name, const ccd_tally* t)
{
    print_message("%-14s %6lld queries, %6lld collide, %6lld by exact arithmetic, %lld wrong\n", name,
                  (long long)t->queries, (long long)t->collide, (long long)t->exact, (long long)ccd_tally_wrong(t));
}

static void fresh_queries_agree(void** state)
{
    ccd_oracle* o = *state;
    uint64_t seed = chosen_seed();
    ccd_tally tallies[CCD_FAMILY_MAX], all;
    ccd_tally_reset(&all);
    for (int f = 0; f < ccd_family_count(); f++)
    {
        ccd_tally_reset(&tallies[f]);
    }
    print_message("seed %llu\n", (unsigned long long)seed);
    int told = 0;
    for (int64_t k = 0; k < QUERIES; k++)
    {
        ccd_case c = ccd_case_make(seed, (uint64_t)k);
        ccd_verdict verdict = ccd_tally_ask(&tallies[c.family], o, &c, k);
        if (verdict != CCD_RIGHT && told++ < 5)
        {
            explain(&c, verdict, o, seed, k);
        }
    }
    for (int f = 0; f < ccd_family_count(); f++)
    {
        print_family(ccd_family_name(f), &tallies[f]);
        ccd_tally_add(&all, &tallies[f]);
    }
    print_family("all", &all);
    print_message("made up but within 1e-10 of the largest coordinate: %lld\n", (long long)all.excused);
    assert_int_equal(ccd_tally_wrong(&all), 0);
    // The header promises more than the tolerance: none is made up at all.
    assert_int_equal(all.excused, 0);
    // The set must stay a test: each family has both answers, and about half collide.
    assert_true(all.collide > QUERIES / 3 && all.collide < 2 * QUERIES / 3);
    for (int f = 0; f < ccd_family_count(); f++)
    {
        assert_true(tallies[f].collide > 0 && tallies[f].collide < tallies[f].queries);
    }
}

// ---- the oracle itself

static void check_record(void* context, weft_pair_kind kind, const ccd_record* r, int number)
{
    ccd_truth t = ccd_oracle_ask(context, kind, r->start, r->end, NAN);
    bool agrees = t.collides == (r->truth != 0.0);
    if (!agrees || (t.collides && (t.high < r->low || t.low > r->high || t.high - t.low > 1e-12)))
    {
        fail_msg("record %d: oracle %d in [%.17g, %.17g], recorded %g in [%.17g, %.17g]", number, t.collides, t.low,
                 t.high, r->truth, r->low, r->high);
    }
}

static void oracle_agrees_with_records(void** state)
{
    int count = ccd_each_record(check_record, *state);
    if (count == 0)
    {
        skip();
    }
    print_message("%d records\n", count);
}

// A linear program in fractions knows nothing of polynomials either, and is exact: no contact at a 24th of the step
// that comes before the first one, and contact at the first one where that is such a time.
static void oracle_agrees_with_linear_programs(void** state)
{
    enum
    {
        PARTS = 24
    };
    int before = 0, at_first = 0, touching = 0;
    for (uint64_t k = 0; k < 2000; k++)
    {
        ccd_case c = ccd_case_make(99, k);
        ccd_truth t = ccd_oracle_ask(*state, c.kind, c.start, c.end, NAN);
        double eighths = 8.0 * t.low;
        for (int i = (int)(k % 3); i <= PARTS; i += 3)
        {
            bool touches = ccd_touches_at(c.kind, c.start, c.end, i, PARTS);
            bool expected_none = !t.collides || i < PARTS * t.low;
            assert_false(touches && expected_none);
            before += expected_none;
            touching += touches;
        }
        if (t.collides && t.low == t.high && eighths == floor(eighths))
        {
            assert_true(ccd_touches_at(c.kind, c.start, c.end, (long)eighths, 8));
            at_first++;
        }
    }
    assert_true(before > 5000 && at_first > 500 && touching > 1000);
}

// Distances in long double know nothing of polynomials. At the first contact they are rounding alone; before it, and
// where nothing collides, no exact-looking zero may show in the families of small numbers.
static void oracle_agrees_with_distances(void** state)
{
    enum
    {
        SAMPLES = 17
    };
    int checked = 0;
    for (uint64_t k = 0; k < 20000; k++)
    {
        ccd_case c = ccd_case_make(7, k);
        ccd_truth t = ccd_oracle_ask(*state, c.kind, c.start, c.end, NAN);
        if (t.collides)
        {
            double largest = 0.0;
            for (int i = 0; i < 4; i++)
            {
                largest = fmax(largest, fmax(v3_length(c.start[i]), v3_length(c.end[i])));
            }
            assert_true(t.low >= 0.0 && t.high <= 1.0 && t.low <= t.high && t.high - t.low <= 1e-12);
            assert_true(ccd_distance_at(c.kind, c.start, c.end, t.high) <= 1e-9 * largest); // slivers magnify rounding
        }
        const char* name = ccd_family_name(c.family);
        bool small = strcmp(name, "whole") == 0 || strcmp(name, "dyadic") == 0 || strncmp(name, "touch", 5) == 0 ||
                     strcmp(name, "tilted plane") == 0 || strcmp(name, "turning plane") == 0 ||
                     strcmp(name, "line") == 0;
        for (int i = 0; small && i < SAMPLES; i++)
        {
            double time = i / (SAMPLES - 1.0);
            if (!t.collides || time < t.low)
            {
                assert_true(ccd_distance_at(c.kind, c.start, c.end, time) > 0.0);
                checked++;
            }
        }
    }
    assert_true(checked > 10000);
}

// A vertex that falls on a face: contact at 1/2 exactly, and one ulp more is late.
static void oracle_compares_times_exactly(void** state)
{
    vec3 start[4] = {{0.25, 1, 0.25}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    vec3 end[4] = {{0.25, -1, 0.25}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    assert_false(ccd_oracle_ask(*state, WEFT_VERTEX_FACE, start, end, 0.5).late);
    assert_true(ccd_oracle_ask(*state, WEFT_VERTEX_FACE, start, end, nextafter(0.5, 1.0)).late);
    // At 1/3, which no double is.
    start[0].y = 1.0;
    end[0].y = -2.0;
    double third = 1.0 / 3.0; // below 1/3
    assert_false(ccd_oracle_ask(*state, WEFT_VERTEX_FACE, start, end, third).late);
    assert_true(ccd_oracle_ask(*state, WEFT_VERTEX_FACE, start, end, nextafter(third, 1.0)).late);
}

// Wrong answers are seen as such.
static ccd_verdict judge_answer(ccd_oracle* o, const ccd_case* c, int collides, double time)
{
    weft_ccd answer = {.collides = collides, .time = time};
    ccd_truth truth = ccd_oracle_ask(o, c->kind, c->start, c->end, time);
    return ccd_judge(&answer, &truth);
}

static void wrong_answers_are_seen(void** state)
{
    int hits = 0, misses = 0;
    for (uint64_t k = 0; k < 2000; k++)
    {
        ccd_case c = ccd_case_make(11, k);
        ccd_truth t = ccd_oracle_ask(*state, c.kind, c.start, c.end, NAN);
        if (!t.collides)
        {
            assert_int_equal(judge_answer(*state, &c, 0, INFINITY), CCD_RIGHT);
            assert_int_equal(judge_answer(*state, &c, 1, 0.5), CCD_MADE_UP);
            assert_int_equal(judge_answer(*state, &c, 0, 0.5), CCD_MALFORMED);
            misses++;
            continue;
        }
        assert_int_equal(judge_answer(*state, &c, 1, t.low), CCD_RIGHT);
        assert_int_equal(judge_answer(*state, &c, 1, fmax(0.0, t.low - 0.9e-6)), CCD_RIGHT);
        assert_int_equal(judge_answer(*state, &c, 0, INFINITY), CCD_MISSED);
        assert_int_equal(judge_answer(*state, &c, 1, NAN), CCD_MALFORMED);
        if (t.high < 0.9)
        {
            assert_int_equal(judge_answer(*state, &c, 1, t.high + 1e-13), CCD_LATE);
            assert_int_equal(judge_answer(*state, &c, 1, t.high + 2e-6), CCD_LATE);
        }
        if (t.low > 0.1)
        {
            assert_int_equal(judge_answer(*state, &c, 1, t.low - 2e-6), CCD_EARLY);
        }
        hits++;
    }
    assert_true(hits > 500 && misses > 500);
}

static int make_oracle(void** state)
{
    return (*state = ccd_oracle_create()) ? 0 : -1;
}

static int destroy_oracle(void** state)
{
    ccd_oracle_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_records),   cmocka_unit_test(oracle_agrees_with_linear_programs),
        cmocka_unit_test(oracle_agrees_with_distances), cmocka_unit_test(oracle_compares_times_exactly),
        cmocka_unit_test(wrong_answers_are_seen),       cmocka_unit_test(fresh_queries_agree),
    };
    return cmocka_run_group_tests(tests, make_oracle, destroy_oracle);
}

#else

static void fresh_queries_agree(void** state)
{
    (void)state;
    print_message("skipped: GMP was not found when the tests were built; script/setup test installs it\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fresh_queries_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
