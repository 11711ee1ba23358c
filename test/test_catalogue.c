// The catalogue of fabrics and the conversion of bulk figures.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "material/catalogue.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
    {
        fail_msg("%.17g is not %.17g", value, expected);
    }
}

static void test_cotton_is_the_reference(void** state)
{
    (void)state;
    weft_material cotton;
    assert_int_equal(weft_material_find("cotton", &cotton, NULL), WEFT_OK);
    assert_true(cotton.density == 0.15 && cotton.stretch_warp == 5000.0 && cotton.stretch_weft == 5000.0);
    assert_true(cotton.shear == 500.0 && cotton.bending == 1e-5 && cotton.damping == 1e-3);
}

static void test_rows_are_sound(void** state)
{
    (void)state;
    int count;
    const catalogue_row* rows = catalogue_rows(&count);
    assert_true(count >= 10);
    assert_string_equal(rows[0].name, "cotton");
    for (int k = 0; k < count; k++)
    {
        const weft_material* m = &rows[k].material;
        assert_true(m->density >= 0.05 && m->density <= 1.0);
        assert_true(m->stretch_warp > 0.0 && m->stretch_weft > 0.0 && m->shear > 0.0 && m->bending > 0.0);
        assert_true(m->damping == 1e-3);
        assert_true(strlen(rows[k].summary) > 10 && strlen(rows[k].summary) < 140);
        for (int other = 0; other < k; other++)
        {
            assert_string_not_equal(rows[k].name, rows[other].name);
        }
        weft_material found;
        assert_int_equal(weft_material_find(rows[k].name, &found, NULL), WEFT_OK);
        assert_memory_equal(&found, m, sizeof(found));
    }
}

// A number is somebody's, or it was chosen, and the words say which.
static void test_every_number_has_its_source(void** state)
{
    (void)state;
    int count;
    const catalogue_row* rows = catalogue_rows(&count);
    for (int k = 0; k < count; k++)
    {
        weft_material_sources s;
        assert_int_equal(weft_material_find_sources(rows[k].name, &s, NULL), WEFT_OK);
        const char* words[] = {s.density, s.stretch, s.shear, s.bending, s.damping};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        {
            static const char* const origins[] = {"chosen: ", "literature: ", "Li et al. 2021: ", "Wang et al. 2011: "};
            bool known = false;
            for (size_t o = 0; o < sizeof(origins) / sizeof(origins[0]) && words[i]; o++)
            {
                known = known || (strncmp(words[i], origins[o], strlen(origins[o])) == 0 &&
                                  strlen(words[i]) > strlen(origins[o]) + 4);
            }
            if (!known)
            {
                fail_msg("number %zu of %s has no source: %s", i, rows[k].name, words[i] ? words[i] : "nothing");
            }
        }
        assert_true(s.drape_of ? 0.0 < s.drape_low && s.drape_low < s.drape_high && s.drape_high < 100.0
                               : s.drape_low == 0.0 && s.drape_high == 0.0);
    }
    weft_material_sources s = {.drape_low = 7.0};
    weft_error error = {0};
    assert_int_equal(weft_material_find_sources("denin", &s, &error), WEFT_NOT_FOUND);
    assert_true(s.drape_low == 7.0 && strstr(error.message, "did you mean `denim`?"));
}

static void test_published_figures(void** state)
{
    (void)state;
    weft_material m;
    assert_int_equal(weft_material_find("wool", &m, NULL), WEFT_OK);
    assert_near(m.stretch_warp, 96.56); // 0.170 MPa times 0.568 mm
    assert_near(m.shear, 96.56 / (2.0 * 1.277));
    assert_int_equal(weft_material_find("cotton-soft", &m, NULL), WEFT_OK);
    assert_near(m.stretch_weft, 261.078);
    assert_int_equal(weft_material_find("denim", &m, NULL), WEFT_OK);
    assert_true(m.density == 0.324 && m.bending == 1.7e-4);
    assert_int_equal(weft_material_find("interlock", &m, NULL), WEFT_OK);
    assert_true(m.density == 0.187 && m.bending == 1.9e-5);
}

static void test_unknown_name_is_suggested(void** state)
{
    (void)state;
    weft_material m;
    weft_error error = {0};
    assert_int_equal(weft_material_find("denin", &m, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean `denim`?"));
    assert_int_equal(weft_material_find("", &m, &error), WEFT_NOT_FOUND);
    assert_int_equal(weft_material_find("unobtainium", &m, &error), WEFT_NOT_FOUND);
    assert_non_null(strstr(error.message, "weft list materials"));
}

static void test_bulk(void** state)
{
    (void)state;
    weft_material m = {.damping = 0.25};
    assert_int_equal(weft_material_from_bulk(2e6, 0.25, 5e-4, 400.0, &m, NULL), WEFT_OK);
    assert_near(m.density, 0.2);
    assert_near(m.stretch_warp, 1000.0);
    assert_near(m.stretch_weft, 1000.0);
    assert_near(m.shear, 400.0);
    assert_near(m.bending, 2e6 * 1.25e-10 / (12.0 * 0.9375));
    assert_true(m.damping == 0.25);
}

static void test_bad_bulk_changes_nothing(void** state)
{
    (void)state;
    static const double cases[][4] = {
        {0, 0.3, 1e-3, 400},    {-1, 0.3, 1e-3, 400},       {1e6, 0.3, 0, 400},     {1e6, 0.3, 1e-3, 0},
        {1e6, 0.51, 1e-3, 400}, {1e6, -1.0, 1e-3, 400},     {NAN, 0.3, 1e-3, 400},  {1e6, NAN, 1e-3, 400},
        {1e300, 0.3, 1e30, 1},  {1e6, 0.3, 1e-3, INFINITY}, {1e6, 0.3, 1e200, 1.0},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        weft_material m = {.density = 7.0};
        weft_error error = {0};
        assert_int_equal(weft_material_from_bulk(cases[k][0], cases[k][1], cases[k][2], cases[k][3], &m, &error),
                         WEFT_BAD_INPUT);
        assert_true(m.density == 7.0 && error.message[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cotton_is_the_reference),     cmocka_unit_test(test_rows_are_sound),
        cmocka_unit_test(test_every_number_has_its_source), cmocka_unit_test(test_published_figures),
        cmocka_unit_test(test_unknown_name_is_suggested),   cmocka_unit_test(test_bulk),
        cmocka_unit_test(test_bad_bulk_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
