// The nearest point of a surface: that of all triangles asked one by one, and of those that share it the one with the
// lowest number, from a tree that was made where the surface was before as from a new one. A run that is resumed has a
// new one, and must go on to the same bits.
#include "common.h"

#include <math.h>
#include <string.h>

#include "collide/triangle_tree.h"
#include "core/core.h"
#include "math/vec.h"

enum
{
    SIDES = 60,  // of a cone
    LOOKS = 2000 // points
};

// A cone around the y axis whose rim is turned and wavy; corners of triangle k at the rim are k and k + 1.
static void make_cone(double turn, double wave, vec3* x, int* corner)
{
    x[SIDES] = v3(0, 0.3, 0);
    for (int k = 0; k < SIDES; k++)
    {
        double angle = 2.0 * 3.14159265358979 * k / SIDES + turn;
        x[k] = v3(cos(angle), wave * sin(5.0 * angle), sin(angle));
        const int made[3] = {SIDES, k, (k + 1) % SIDES};
        memcpy(corner + 3 * k, made, sizeof(made));
    }
}

static vec3 look(int k)
{
    double a = 2.399963 * k, r = 1.6 * sqrt((k + 0.5) / LOOKS);
    return v3(r * cos(a), 0.1 + 0.9 * ((k * 7) % 13) / 13.0, r * sin(a));
}

static void answers_do_not_depend_on_the_tree(void** unused)
{
    (void)unused;
    vec3 before[SIDES + 1], x[SIDES + 1];
    int corner[3 * SIDES], items[SIDES], same[SIDES];
    make_cone(2.0, 0.4, before, corner);
    make_cone(0.0, 0.05, x, corner);
    for (int k = 0; k < SIDES; k++)
    {
        items[k] = SIDES - 1 - k;
        same[k] = k;
    }
    triangle_tree followed = {0}, fresh = {0};
    assert_int_equal(triangle_tree_create(&followed, corner, items, SIDES, before), WEFT_OK);
    triangle_tree_refit(&followed, x);
    assert_int_equal(triangle_tree_create(&fresh, corner, same, SIDES, x), WEFT_OK);
    int shared = 0;
    for (int k = 0; k < LOOKS; k++)
    {
        vec3 p = look(k);
        surface_point a = triangle_tree_nearest(&followed, x, p, INFINITY);
        surface_point b = triangle_tree_nearest(&fresh, x, p, INFINITY);
        surface_point wanted = {.triangle = -1, .distance = INFINITY};
        for (int t = 0; t < SIDES; t++)
        {
            triangle_tree one = {0};
            assert_int_equal(triangle_tree_create(&one, corner, &t, 1, x), WEFT_OK);
            surface_point found = triangle_tree_nearest(&one, x, p, INFINITY);
            shared += found.distance == wanted.distance;
            wanted = found.distance < wanted.distance ? found : wanted;
            triangle_tree_finish(&one);
        }
        assert_int_equal(a.triangle, wanted.triangle);
        assert_int_equal(b.triangle, wanted.triangle);
        assert_true(a.distance == wanted.distance && b.distance == wanted.distance);
    }
    print_message("%d times two triangles share the nearest point\n", shared);
    assert_true(shared > 100);
    triangle_tree_finish(&followed);
    triangle_tree_finish(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_do_not_depend_on_the_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
