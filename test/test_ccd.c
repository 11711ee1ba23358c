// Continuous collision queries: the public degenerate set, symmetries, what is refused. test_ccd_oracle.c holds fresh
// ones against an exact oracle.
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ccd_draw.h"
#include "ccd_records.h"

// ---- the public set

typedef struct record_totals
{
    int collide, exact;
    int missed, made_up, excused, late, early;
} record_totals;

static double largest_coordinate(const ccd_record* r)
{
    double largest = 0.0;
    for (int i = 0; i < 4; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            vec3 a = r->start[i], b = r->end[i];
            largest = fmax(largest, fmax(fabs(*case_coordinate(&a, k)), fabs(*case_coordinate(&b, k))));
        }
    }
    return largest;
}

static void judge_record(const ccd_record* r, const weft_ccd* answer, record_totals* t)
{
    bool truth = r->truth != 0.0;
    bool near = r->distance < 1e-10 * largest_coordinate(r);
    t->collide += answer->collides;
    t->exact += answer->exact;
    t->missed += truth && !answer->collides;
    t->made_up += !truth && answer->collides && !near;
    t->excused += !truth && answer->collides && near;
    t->late += truth && answer->collides && !(answer->time <= r->high);
    t->early += truth && answer->collides && !(answer->time >= r->low - 1e-6);
}

static void ask_record(void* context, weft_pair_kind kind, const ccd_record* r, int number)
{
    weft_ccd answer;
    if (weft_ccd_query(kind, r->start, r->end, &answer) != WEFT_OK)
    {
        fail_msg("record %d is refused", number);
    }
    judge_record(r, &answer, context);
}

static void public_set_is_answered(void** state)
{
    (void)state;
    record_totals t = {0};
    int count = ccd_each_record(ask_record, &t);
    if (count == 0)
    {
        skip();
    }
    print_message("%d records, %d collide, %d by exact arithmetic, %d made up within the tolerance\n", count, t.collide,
                  t.exact, t.excused);
    assert_int_equal(t.missed, 0);
    assert_int_equal(t.made_up, 0);
    assert_int_equal(t.excused, 0); // the header promises that none is made up at all
    assert_int_equal(t.late, 0);
    assert_int_equal(t.early, 0);
}

// The judge above can fail.
static void wrong_records_are_seen(void** state)
{
    (void)state;
    ccd_record hit = {.start = {{1, 0, 0}}, .truth = 1.0, .low = 0.5, .high = 0.5, .distance = 0.0};
    ccd_record miss = {.start = {{1, 0, 0}}, .low = INFINITY, .high = INFINITY, .distance = 1e-3};
    record_totals t = {0};
    judge_record(&hit, &(weft_ccd){.time = INFINITY}, &t);
    judge_record(&hit, &(weft_ccd){.collides = 1, .time = 0.5 + 1e-12}, &t);
    judge_record(&hit, &(weft_ccd){.collides = 1, .time = 0.5 - 2e-6}, &t);
    judge_record(&miss, &(weft_ccd){.collides = 1, .time = 0.5}, &t);
    miss.distance = 1e-11;
    judge_record(&miss, &(weft_ccd){.collides = 1, .time = 0.5}, &t);
    assert_int_equal(t.missed, 1);
    assert_int_equal(t.late, 1);
    assert_int_equal(t.early, 1);
    assert_int_equal(t.made_up, 1);
    assert_int_equal(t.excused, 1);
}

// ---- symmetries

static void exchange(ccd_case* c, int i, int j)
{
    vec3 start = c->start[i], end = c->end[i];
    c->start[i] = c->start[j];
    c->end[i] = c->end[j];
    c->start[j] = start;
    c->end[j] = end;
}

static void turn(ccd_case* c)
{
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = v3(c->start[i].y, c->start[i].z, c->start[i].x);
        c->end[i] = v3(c->end[i].y, c->end[i].z, c->end[i].x);
    }
}

static void mirror(ccd_case* c)
{
    for (int i = 0; i < 4; i++)
    {
        c->start[i].y = -c->start[i].y;
        c->end[i].y = -c->end[i].y;
    }
}

static void swap_axes(ccd_case* c)
{
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = v3(c->start[i].z, c->start[i].y, c->start[i].x);
        c->end[i] = v3(c->end[i].z, c->end[i].y, c->end[i].x);
    }
}

// The last corners or ends change places.
static void swap_last(ccd_case* c)
{
    exchange(c, 2, 3);
}

// A face's corners go round; the two edges change places.
static void go_round(ccd_case* c)
{
    exchange(c, 1, c->kind == WEFT_VERTEX_FACE ? 2 : 3);
    exchange(c, c->kind == WEFT_VERTEX_FACE ? 2 : 0, c->kind == WEFT_VERTEX_FACE ? 3 : 2);
}

static void swap_first(ccd_case* c)
{
    exchange(c, c->kind == WEFT_VERTEX_FACE ? 1 : 0, c->kind == WEFT_VERTEX_FACE ? 3 : 1);
}

static void symmetric_queries_have_one_answer(void** state)
{
    (void)state;
    void (*const changes[])(ccd_case*) = {turn, mirror, swap_axes, swap_last, go_round, swap_first, turn, go_round};
    for (uint64_t k = 0; k < 10000; k++)
    {
        ccd_case c = ccd_case_make(3, k);
        weft_ccd first, answer;
        assert_int_equal(weft_ccd_query(c.kind, c.start, c.end, &first), WEFT_OK);
        // Changes add up, so that combinations of them are tried as well.
        for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        {
            changes[i](&c);
            assert_int_equal(weft_ccd_query(c.kind, c.start, c.end, &answer), WEFT_OK);
            if (answer.collides != first.collides || (first.collides && fabs(answer.time - first.time) > 1e-6))
            {
                fail_msg("query %llu of seed 3 (%s), change %zu: %d at %.17g was %d at %.17g", (unsigned long long)k,
                         ccd_family_name(c.family), i, answer.collides, answer.time, first.collides, first.time);
            }
        }
    }
}

// Asking again gives the same bits.
static void answers_repeat(void** state)
{
    (void)state;
    for (uint64_t k = 0; k < 2000; k++)
    {
        ccd_case c = ccd_case_make(4, k);
        weft_ccd a, b;
        memset(&a, 0, sizeof(a));
        memset(&b, 255, sizeof(b));
        assert_int_equal(weft_ccd_query(c.kind, c.start, c.end, &a), WEFT_OK);
        assert_int_equal(weft_ccd_query(c.kind, c.start, c.end, &b), WEFT_OK);
        assert_true(a.collides == b.collides && a.exact == b.exact && memcmp(&a.time, &b.time, sizeof(double)) == 0);
    }
}

// ---- what is refused

static void assert_refused(double bad, weft_status expected)
{
    for (int kind = WEFT_VERTEX_FACE; kind <= WEFT_EDGE_EDGE; kind++)
    {
        for (int place = 0; place < 24; place++)
        {
            ccd_case c = ccd_case_make(5, 0);
            *case_coordinate(place < 12 ? &c.start[place / 3] : &c.end[place / 3 - 4], place % 3) = bad;
            weft_ccd out, before;
            memset(&out, 0x5a, sizeof(out));
            memcpy(&before, &out, sizeof(out));
            assert_int_equal(weft_ccd_query(kind, c.start, c.end, &out), expected);
            assert_memory_equal(&out, &before, sizeof(out));
        }
    }
}

static void bad_coordinates_are_refused(void** state)
{
    (void)state;
    assert_refused(NAN, WEFT_NOT_FINITE);
    assert_refused(INFINITY, WEFT_NOT_FINITE);
    assert_refused(2e12, WEFT_BAD_INPUT);
    assert_refused(-nextafter(1e12, INFINITY), WEFT_BAD_INPUT);
    assert_refused(1e-31, WEFT_BAD_INPUT);
    assert_refused(-nextafter(1e-30, 0.0), WEFT_BAD_INPUT);
    assert_refused(5e-324, WEFT_BAD_INPUT);
    assert_refused(1e300, WEFT_BAD_INPUT);
}

static void ends_of_the_range_are_taken(void** state)
{
    (void)state;
    const double ends[] = {1e12, -1e12, 1e-30, -1e-30, 0.0, -0.0};
    for (int k = 0; k < 6; k++)
    {
        vec3 same[4] = {{ends[k], 0, 0}, {ends[k], 0, 0}, {1, 1, 1}, {2, 1, 1}};
        weft_ccd answer;
        assert_int_equal(weft_ccd_query(WEFT_VERTEX_FACE, same, same, &answer), WEFT_OK);
        assert_true(answer.collides && answer.time == 0.0);
    }
}

// -0 is 0: a vertex that falls on a corner, an edge that falls across another, with zeros of both signs.
static void negative_zero_is_zero(void** state)
{
    (void)state;
    vec3 start[4] = {{-0.0, 1, -0.0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    vec3 end[4] = {{-0.0, -0.0, -0.0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    weft_ccd answer;
    assert_int_equal(weft_ccd_query(WEFT_VERTEX_FACE, start, end, &answer), WEFT_OK);
    assert_true(answer.collides && answer.time <= 1.0 && answer.time >= 1.0 - 1e-6);
    vec3 above[4] = {{-0.0, 1, -1}, {-0.0, 1, 1}, {-1, 0, 0}, {1, 0, 0}};
    vec3 across[4] = {{-0.0, -0.0, -1}, {-0.0, -0.0, 1}, {-1, 0, 0}, {1, 0, 0}};
    assert_int_equal(weft_ccd_query(WEFT_EDGE_EDGE, above, across, &answer), WEFT_OK);
    assert_true(answer.collides && answer.time <= 1.0 && answer.time >= 1.0 - 1e-6);
    assert_int_equal(weft_ccd_query(WEFT_EDGE_EDGE, across, above, &answer), WEFT_OK);
    assert_true(answer.collides && answer.time == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_set_is_answered),
        cmocka_unit_test(wrong_records_are_seen),
        cmocka_unit_test(answers_repeat),
        cmocka_unit_test(symmetric_queries_have_one_answer),
        cmocka_unit_test(bad_coordinates_are_refused),
        cmocka_unit_test(ends_of_the_range_are_taken),
        cmocka_unit_test(negative_zero_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
