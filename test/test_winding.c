// Winding numbers: inside and outside of a bumpy ball against its radius, shares of a ball with a hole against the
// hole's angle, and that neither the order of faces nor where the tree was made matters.
#include "common.h"

#include <math.h>
#include <stdlib.h>

#include "collide/broad.h"

enum
{
    RINGS = 60,
    SECTORS = 90,
    FACES = 2 * RINGS * SECTORS
};

static const double pi = 3.14159265358979323846;

typedef struct ball
{
    vec3 x[(RINGS + 1) * SECTORS];
    int corner[3 * FACES], count;
} ball;

// Rings from the angle `hole` at the upper pole to the lower pole, whose triangles have no area.
static ball* ball_make(double hole, double bump)
{
    ball* b = calloc(1, sizeof(ball));
    for (int k = 0; k < (RINGS + 1) * SECTORS; k++)
    {
        double polar = hole + (pi - hole) * (k / SECTORS) / RINGS, turn = 2.0 * pi * (k % SECTORS) / SECTORS;
        double r = 1.0 + bump * sin(5.0 * polar) * cos(3.0 * turn);
        b->x[k] = v3(r * sin(polar) * cos(turn), r * cos(polar), -r * sin(polar) * sin(turn));
    }
    for (int k = 0; k < RINGS * SECTORS; k++)
    {
        int next = k % SECTORS == SECTORS - 1 ? k + 1 - SECTORS : k + 1;
        const int v[6] = {k, k + SECTORS, next, next, k + SECTORS, next + SECTORS};
        for (int a = 0; a < 6; a++)
        {
            b->corner[6 * k + a] = v[a];
        }
    }
    b->count = FACES;
    return b;
}

// Swaps faces at random.
static void ball_shuffle(ball* b, uint64_t* random)
{
    for (int k = b->count - 1; k > 0; k--)
    {
        int other = (int)test_random(random, 0, k + 1);
        for (int a = 0; a < 3; a++)
        {
            int v = b->corner[3 * k + a];
            b->corner[3 * k + a] = b->corner[3 * other + a];
            b->corner[3 * other + a] = v;
        }
    }
}

static void inside_is_inside(void** state)
{
    (void)state;
    uint64_t random = 1;
    ball *b = ball_make(0.0, 0.1), *flat = ball_make(0.0, 0.0);
    ball_shuffle(b, &random);
    winding_tree made_here = {0}, made_there = {0};
    assert_int_equal(winding_create(&made_here, b->corner, b->count, b->x), WEFT_OK);
    assert_int_equal(winding_create(&made_there, b->corner, b->count, flat->x), WEFT_OK);
    winding_update(&made_here, b->x);
    winding_update(&made_there, b->x);
    int counts[2] = {0};
    for (int k = 0; k < 2000; k++)
    {
        vec3 p = test_random_vec(&random, 1.3);
        double r = v3_length(p), polar = acos(p.y / r), turn = atan2(-p.z, p.x);
        double surface = 1.0 + 0.1 * sin(5.0 * polar) * cos(3.0 * turn);
        if (fabs(r - surface) < 0.01)
        {
            continue; // facets are so far from the surface
        }
        counts[r < surface]++;
        assert_int_equal(winding_exceeds(&made_here, p, 0.75), r < surface);
        assert_int_equal(winding_exceeds(&made_there, p, 0.75), r < surface);
    }
    assert_true(counts[0] > 300 && counts[1] > 300);
    double each = (double)made_here.tests / (counts[0] + counts[1]);
    print_message("%.0f tests a point for %d faces\n", each, b->count);
    assert_true(each < 0.2 * b->count);
    winding_finish(&made_here);
    winding_finish(&made_there);
    free(b);
    free(flat);
}

// From its middle a ball with a hole covers (1 + cos hole) / 2 of the sky, to what the facets of its border take.
// Limits close by ask for more than groups can tell.
static void open_surfaces_cover_a_share(void** state)
{
    (void)state;
    for (int k = 1; k < 8; k++)
    {
        double hole = 0.35 * k, share = 0.5 * (1.0 + cos(hole));
        ball* b = ball_make(hole, 0.0);
        winding_tree t = {0};
        assert_int_equal(winding_create(&t, b->corner, b->count, b->x), WEFT_OK);
        winding_update(&t, b->x);
        for (double off = 0.2; off > 2e-3; off /= 2.0)
        {
            assert_true(winding_exceeds(&t, v3(0, 0, 0), share - off));
            assert_false(winding_exceeds(&t, v3(0, 0, 0), share + off));
        }
        winding_finish(&t);
        free(b);
    }
}

static void nothing_has_no_inside(void** state)
{
    (void)state;
    const vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const int corner[3] = {0, 1, 2};
    for (int count = 0; count < 2; count++)
    {
        winding_tree t = {0};
        assert_int_equal(winding_create(&t, corner, count, x), WEFT_OK);
        winding_update(&t, x);
        assert_false(winding_exceeds(&t, v3(0.2, 0.2, 0.1), 0.75));
        assert_false(winding_exceeds(&t, v3(0, 0, 0), 0.75));
        winding_finish(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inside_is_inside),
        cmocka_unit_test(open_surfaces_cover_a_share),
        cmocka_unit_test(nothing_has_no_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
