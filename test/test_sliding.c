// Sliding and sticking on what people have: a plane of two triangles, a plane of many irregular ones, a cylinder along
// its axis and across it, a fixed cloth; friction 0 to 1, steps of 2 ms to 1/30 s. The closed form is
// g (sin - mu cos), and on the cylinder across its axis that of a point on a circle.
#include "common.h"

#include <math.h>
#include <string.h>

#include "core/core.h"
#include "math/vec.h"
#include "sim/sim.h"

static const double gravity = 9.81;
static const double sheet_start = 0.0137; // m, of the sheet's middle, along the slope

typedef enum surface_kind
{
    TWO_TRIANGLES,
    TESSELLATED,
    CYLINDER_ALONG,
    CYLINDER_ACROSS,
    FIXED_CLOTH,
    SURFACES
} surface_kind;

static const char* const surface_names[] = {"two triangles", "tessellated plane", "cylinder along", "cylinder across",
                                            "fixed cloth"};

// ---- a grid of points (u along the slope, w across it) as triangles

enum
{
    POINTS_MAX = 8192
};

typedef struct patch
{
    int rows, columns;
    vec3 x[POINTS_MAX];
    int triangles[6 * POINTS_MAX];
    int triangle_count;
} patch;

static void patch_make(patch* p, double u0, double u1, double w0, double w1, int columns, int rows, double jitter)
{
    uint64_t random = 7;
    p->columns = columns;
    p->rows = rows;
    p->triangle_count = 0;
    for (int k = 0; k < (rows + 1) * (columns + 1); k++)
    {
        int c = k % (columns + 1), r = k / (columns + 1);
        bool border = c == 0 || r == 0 || c == columns || r == rows;
        double du = border ? 0.0 : test_random(&random, -jitter, jitter);
        double dw = border ? 0.0 : test_random(&random, -jitter, jitter);
        p->x[k] = v3(u0 + (u1 - u0) * (c + du) / columns, 0, w0 + (w1 - w0) * (r + dw) / rows);
    }
    for (int k = 0; k < rows * columns; k++)
    {
        int a = k / columns * (columns + 1) + k % columns, b = a + 1, c = a + columns + 1, d = c + 1;
        int* t = p->triangles + 3 * p->triangle_count;
        bool flip = (k / columns + k % columns) % 2;
        const int corners[2][6] = {{a, c, d, a, d, b}, {a, c, b, b, c, d}};
        memcpy(t, corners[flip], sizeof(corners[0]));
        p->triangle_count += 2;
    }
}

// ---- a surface that is inclined, in a frame that is no axis's

typedef struct incline
{
    surface_kind kind;
    double tangent, radius;
    double tolerance;  // of solves; 0: the default
    const char *model, *bending; // NULL: the default
    mat3 frame;
} incline;

static vec3 turn(const incline* s, vec3 x)
{
    return m3_mul_v(s->frame.m, x);
}

// A rotation by the slope's angle, then by a yaw that is nothing nice.
static incline incline_make(surface_kind kind, double tangent)
{
    incline s = {.kind = kind, .tangent = tangent, .radius = kind == CYLINDER_ACROSS ? 5.0 : 0.3};
    double angle = atan(tangent), yaw = 0.63, c = cos(angle), n = sin(angle), a = cos(yaw), b = sin(yaw);
    vec3 down = v3(c * a, -n, c * b), up = v3(n * a, c, n * b), aside = v3_cross(down, up);
    const double m[9] = {down.x, up.x, aside.x, down.y, up.y, aside.y, down.z, up.z, aside.z};
    memcpy(s.frame.m, m, sizeof(m));
    return s;
}

// The point over (u, w) at a height above the surface, in the slope's own frame. Curved ones touch the plane at 0.
static vec3 lift(const incline* s, vec3 p, double height)
{
    if (s->kind == CYLINDER_ALONG)
    {
        double phi = p.z / s->radius, r = s->radius + height;
        return v3(p.x, r * cos(phi) - s->radius, r * sin(phi));
    }
    if (s->kind == CYLINDER_ACROSS)
    {
        double phi = p.x / s->radius, r = s->radius + height;
        return v3(r * sin(phi), r * cos(phi) - s->radius, p.z);
    }
    return v3(p.x, height, p.z);
}

static void surface_add(weft_sim* sim, const incline* s, double mu)
{
    static patch p;
    bool coarse = s->kind == TWO_TRIANGLES, cloth = s->kind == FIXED_CLOTH;
    bool curved = s->kind == CYLINDER_ALONG;
    // Along the curve facets are small: what leaves a facet flies to the next.
    patch_make(&p, -0.6, 3.4, curved ? -0.2 : -0.35, curved ? 0.2 : 0.35, coarse ? 1 : 80, coarse ? 1 : 16,
               s->kind == CYLINDER_ACROSS || curved ? 0.0 : 0.3);
    int count = (p.rows + 1) * (p.columns + 1);
    static int all[POINTS_MAX];
    for (int k = 0; k < count; k++)
    {
        p.x[k] = turn(s, lift(s, p.x[k], 0.0));
        all[k] = k;
    }
    if (cloth)
    {
        weft_pin pin = weft_pin_default();
        pin.vertices = all;
        pin.vertex_count = count;
        weft_cloth_def def = weft_cloth_def_default();
        def.name = "low";
        def.positions = p.x;
        def.vertex_count = count;
        def.face_vertices = p.triangles;
        def.face_count = p.triangle_count;
        def.pins = &pin;
        def.pin_count = 1;
        def.friction = mu;
        assert_int_equal(weft_sim_add_cloth(sim, &def, NULL, NULL), WEFT_OK);
        return;
    }
    weft_obstacle_def def = weft_obstacle_def_default();
    def.name = "low";
    def.positions = p.x;
    def.vertex_count = count;
    def.face_vertices = p.triangles;
    def.face_count = p.triangle_count;
    def.friction = mu;
    assert_int_equal(weft_sim_add_obstacle(sim, &def, NULL, NULL), WEFT_OK);
}

static void sheet_add(weft_sim* sim, const incline* s)
{
    static patch p;
    double width = s->kind == CYLINDER_ALONG ? 0.1 : 0.2;
    patch_make(&p, -0.1, 0.1, -0.5 * width, 0.5 * width, 6, 6, 0.1);
    for (int k = 0; k < 49; k++)
    {
        p.x[k] = turn(s, lift(s, v3(p.x[k].x + sheet_start, 0, p.x[k].z + 0.0071), 1.0e-3));
    }
    weft_cloth_def def = weft_cloth_def_default();
    def.name = "sheet";
    def.model = s->model ? s->model : def.model;
    def.bending = s->bending;
    def.positions = p.x;
    def.vertex_count = 49;
    def.face_vertices = p.triangles;
    def.face_count = p.triangle_count;
    assert_int_equal(weft_sim_add_cloth(sim, &def, NULL, NULL), WEFT_OK);
}

typedef struct slid
{
    double speed, way; // m/s at the end, m
} slid;

static slid slide(const char* method, const incline* s, double mu, double h, double duration)
{
    weft_sim_def def = weft_sim_def_default();
    def.method = method;
    def.time_step = h;
    def.tolerance = s->tolerance > 0.0 ? s->tolerance : def.tolerance;
    weft_sim* sim;
    weft_error error = {0};
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    surface_add(sim, s, mu);
    sheet_add(sim, s);
    int id = s->kind == FIXED_CLOTH ? 1 : 0;
    vec3 before[49], x[49], v[49];
    weft_sim_positions(sim, id, before);
    for (int n = 0; n < (int)(duration / h + 0.5); n++)
    {
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
    weft_sim_positions(sim, id, x);
    weft_sim_velocities(sim, id, v);
    vec3 mean = v3(0, 0, 0), way = v3(0, 0, 0);
    for (int i = 0; i < 49; i++)
    {
        mean = v3_madd(mean, 1.0 / 49, v[i]);
        way = v3_madd(way, 1.0 / 49, v3_sub(x[i], before[i]));
    }
    weft_sim_destroy(sim);
    return (slid){v3_length(mean), v3_length(way)};
}

// The speed after a time from rest.
static double expected_speed(const incline* s, double mu, double duration)
{
    double speed = 0.0, way = sheet_start, h = 1e-5;
    double angle = atan(s->tangent);
    for (int n = 0; n < (int)(duration / h + 0.5); n++)
    {
        bool bends = s->kind == CYLINDER_ACROSS;
        double here = angle + (bends ? way / s->radius : 0.0);
        double normal = gravity * cos(here) - (bends ? speed * speed / s->radius : 0.0);
        speed += h * (gravity * sin(here) - mu * fmax(normal, 0.0));
        way += h * speed;
    }
    return speed;
}

// The same for a point on the circle with steps of h as implicit-euler has them: the normal of the start, the way back
// to the circle within the step, and friction of the last normal force, with what that was wrong by in the next step.
// What this is off by is the integration's; the rest of a sheet's deviation is contact's.
static double stepped_speed(const incline* s, double mu, double h, double duration)
{
    double angle = atan(s->tangent), r = s->radius + 1.0e-3, turned = sheet_start / s->radius, last = 0.0, owed = 0.0;
    vec3 x = v3(r * sin(turned), r * cos(turned), 0), v = v3(0, 0, 0);
    vec3 weight = v3(gravity * sin(angle), -gravity * cos(angle), 0);
    for (int n = 0; n < (int)(duration / h + 0.5); n++)
    {
        vec3 up = v3_normalize(x), along = v3(up.y, -up.x, 0), free = v3_madd(v, h, weight);
        double load = fmax(-(v3_length(x) - r) / h - v3_dot(free, up), 0.0) / h;
        double reckoned = n == 0 ? load : fmax(last + owed, 0.0), speed = v3_dot(free, along);
        v = v3_madd(v3_madd(free, h * load, up), -fmin(h * mu * reckoned, speed), along);
        x = v3_madd(x, h, v);
        owed += load - reckoned;
        last = load;
    }
    return v3_length(v);
}

static void integration_is_not_to_blame(void** state)
{
    (void)state;
    double worst = 0.0;
    for (int k = 0; k < 12; k++)
    {
        static const double steps[] = {0.002, 1.0 / 60.0, 1.0 / 30.0}, frictions[] = {0.0, 0.2, 0.5, 1.0};
        incline s = incline_make(CYLINDER_ACROSS, frictions[k / 3] + 0.5);
        double expected = expected_speed(&s, frictions[k / 3], 0.5);
        worst = fmax(worst, fabs(stepped_speed(&s, frictions[k / 3], steps[k % 3], 0.5) / expected - 1.0));
    }
    print_message("a point on the circle: largest deviation %.2f %%\n", 100 * worst);
    assert_true(worst > 1e-4 && worst < 0.006);
}

// What is allowed: on planes rounding, however they are cut into triangles. On curves and on cloth the contacts change
// all the time, and steps that pass a facet or a cell see them late: docs/methods.md has the figures. Of the cylinder
// along its axis up to 0.9 % are no error: the sheet is bent over it and presses on it by more than its weight, and
// slides off it sideways, too.
static double allowed(surface_kind kind, double h)
{
    bool plane = kind == TWO_TRIANGLES || kind == TESSELLATED, is_long = h > 0.01;
    return plane                     ? 1e-4
           : kind == CYLINDER_ALONG  ? (is_long ? 0.02 : 0.011)
           : kind == CYLINDER_ACROSS ? (is_long ? 0.02 : 0.012)
           : is_long                 ? 0.04
                                     : 0.001;
}

// Cloth that passes cells of cloth at 1/30 s meets them as it happens: of 21 frictions from 0 to 1 the mean deviation is
// 1.4 %, the largest 3.6 (`curvature`: 1.3 and 2.6). With a tolerance of 1e-5, as the default's adds a tenth of that.
static double deviation(const char* method, const incline* s, double mu, double h)
{
    incline judged = *s;
    judged.tolerance = s->kind == FIXED_CLOTH ? 1e-5 : 0.0;
    double expected = expected_speed(s, mu, 0.5), found = slide(method, &judged, mu, h, 0.5).speed,
           off = found / expected - 1;
    if (fabs(off) > allowed(s->kind, h))
    {
        print_message("%s, %s, friction %g, step %.4f s: %.4f m/s instead of %.4f (%+.1f %%)\n", method,
                      surface_names[s->kind], mu, h, found, expected, 100 * off);
    }
    return fabs(off);
}

static void sheets_slide_as_they_should(void** state)
{
    (void)state;
    static const double steps[] = {0.002, 0.005, 1.0 / 60.0, 1.0 / 30.0}, frictions[] = {0.0, 0.2, 0.5, 1.0};
    double worst[2][SURFACES] = {0};
    int wrong = 0;
    for (int k = 0; k < SURFACES * 16; k++)
    {
        double h = steps[k % 4], mu = frictions[k / 4 % 4];
        incline s = incline_make((surface_kind)(k / 16), mu + 0.5);
        double off = deviation("implicit-euler", &s, mu, h);
        worst[h > 0.01][s.kind] = fmax(worst[h > 0.01][s.kind], off);
        wrong += off > allowed(s.kind, h);
    }
    for (int k = 0; k < SURFACES; k++)
    {
        print_message("%s: largest deviation %.2f %% at 2 and 5 ms, %.2f %% at 1/60 and 1/30 s\n", surface_names[k],
                      100 * worst[0][k], 100 * worst[1][k]);
    }
    assert_int_equal(wrong, 0);
}

// Frictions at which cushions of one vertex work against each other, a pull of 1.57 N against a push of 1.58: what
// presses there is their difference. Pulls counted up to 1000 m/s^2, and the sheet lost 64, 31 and 15 % of its speed.
static void what_pulls_does_not_press(void** state)
{
    (void)state;
    static const struct
    {
        const char* bending;
        double mu;
    } cases[] = {{"curvature", 0.18}, {"exact", 0.2}, {"curvature", 0.3}};
    for (int k = 0; k < 3; k++)
    {
        incline s = incline_make(FIXED_CLOTH, cases[k].mu + 0.5);
        s.bending = cases[k].bending;
        double off = deviation("implicit-euler", &s, cases[k].mu, 1.0 / 30.0);
        print_message("friction %g: %.1f %%\n", cases[k].mu, 100 * off);
        assert_true(off < 0.05);
    }
}

// With friction; along a cylinder and on cloth up to 1/60 s: in longer steps minimising to the end with contacts that
// come and go may hold a sheet up there.
static void newton_slides_too(void** state)
{
    (void)state;
    static const double steps[] = {0.005, 1.0 / 60.0, 1.0 / 30.0}, frictions[] = {0.2, 0.5, 1.0};
    int wrong = 0;
    for (int k = 0; k < SURFACES * 9; k++)
    {
        double h = steps[k % 3], mu = frictions[k / 3 % 3];
        incline s = incline_make((surface_kind)(k / 9), mu + 0.5);
        bool everywhere = s.kind != CYLINDER_ALONG && s.kind != FIXED_CLOTH;
        wrong += (everywhere || k % 3 < 2) && deviation("newton", &s, mu, h) > allowed(s.kind, h);
    }
    assert_int_equal(wrong, 0);
}

// Methods for games and the thesis's, on springs, at the steps of games: rounding on planes, 3 % on curves.
static void others_slide_too(void** state)
{
    (void)state;
    static const char* const methods[] = {"pbd", "local-global", "hpbd", "aimex", "bdf2"};
    static const double steps[] = {1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0}, frictions[] = {0.2, 0.5, 1.0};
    int wrong = 0;
    for (int m = 0; m < 5; m++)
    {
        double worst[CYLINDER_ACROSS + 1] = {0};
        for (int k = 0; k < (CYLINDER_ACROSS + 1) * 9; k++)
        {
            double h = steps[k % 3], mu = frictions[k / 3 % 3];
            incline s = incline_make((surface_kind)(k / 9), mu + 0.5);
            s.model = "hooke";
            double off = fabs(slide(methods[m], &s, mu, h, 0.5).speed / expected_speed(&s, mu, 0.5) - 1.0);
            worst[s.kind] = fmax(worst[s.kind], off);
            bool plane = s.kind == TWO_TRIANGLES || s.kind == TESSELLATED;
            wrong += off > (plane ? 1e-4 : 0.03);
        }
        print_message("%s: two triangles %.2f %%, tessellated %.2f %%, along %.2f %%, across %.2f %%\n", methods[m],
                      100 * worst[0], 100 * worst[1], 100 * worst[2], 100 * worst[3]);
    }
    assert_int_equal(wrong, 0);
}

static void sheets_stick_as_they_should(void** state)
{
    (void)state;
    static const double steps[] = {0.002, 1.0 / 60.0, 1.0 / 30.0}, frictions[] = {0.2, 0.5, 1.0};
    double worst = 0.0;
    for (int k = 0; k < SURFACES * 9; k++)
    {
        double h = steps[k % 3], mu = frictions[k / 3 % 3];
        incline s = incline_make((surface_kind)(k / 9), mu - 0.021);
        double way = slide("implicit-euler", &s, mu, h, 1.0).way;
        if (way > 2e-3)
        {
            print_message("%s, friction %g, step %.4f s: moved %.3f mm in a second\n", surface_names[s.kind], mu, h,
                          1e3 * way);
        }
        worst = fmax(worst, way);
    }
    print_message("largest way %.3f mm\n", 1e3 * worst);
    assert_true(worst < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_slide_as_they_should), cmocka_unit_test(integration_is_not_to_blame),
        cmocka_unit_test(what_pulls_does_not_press), cmocka_unit_test(newton_slides_too),           cmocka_unit_test(others_slide_too),
        cmocka_unit_test(sheets_stick_as_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
