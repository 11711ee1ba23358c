// Whether faces look outward, decided exactly: solids so thin and so far away that the volume in doubles is lost in its
// rounding, against the sign that their orientation has.
#include "common.h"

#include "inspect/predicates.h"
#include "math/vec.h"

// A tetrahedron of a height of some roundings, at a place where coordinates have few bits left.
static int sign_of(vec3 at, double height, bool inward)
{
    static const int outward_faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    const vec3 x[4] = {v3_add(at, v3(0, 0, 0)), v3_add(at, v3(1, 0, 0)), v3_add(at, v3(0, 1, 0)),
                       v3_add(at, v3(0.25, 0.25, height))};
    int faces[12];
    const int chosen[4] = {2, 0, 3, 1};
    for (int k = 0; k < 12; k++)
    {
        faces[k] = outward_faces[inward ? 3 * (k / 3) + (3 - k % 3) % 3 : k];
    }
    return sign_enclosed(x, faces, chosen, 4);
}

static void thin_solids_far_away(void** unused)
{
    (void)unused;
    const double places[] = {0.0, 1.0, 1e3, 1e6, 1e9, 1e12};
    for (int k = 0; k < 6; k++)
    {
        vec3 at = v3(places[k], -0.7 * places[k], 1.3 * places[k]);
        at = v3_round(at);
        double height = places[k] > 0.0 ? places[k] * 0x1p-40 : 0x1p-60;
        bool stands = at.z + height > at.z;
        assert_int_equal(sign_of(at, height, false), stands ? 1 : 0);
        assert_int_equal(sign_of(at, height, true), stands ? -1 : 0);
        assert_int_equal(sign_of(at, 0.0, false), 0);
        assert_int_equal(sign_of(at, -height, false), stands ? -1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thin_solids_far_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
