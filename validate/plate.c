// Sheets that sag by so little that only their bending counts: plates with nu = 0, whose drops are known. The folds go
// in both directions at once here, and twist, unlike in strips.
//
// `ring`: the specimen of a drape, clamped around a disc and free at its border. With the shear that the load beyond r
// brings, the slope follows
//
//     phi'' + phi' / r - phi / r^2 = -q (b^2 - r^2) / (2 r B),  phi(a) = 0, phi'(b) = 0
//
// `square`: a square sheet whose border is held, and free to turn, drops in its middle by 0.00406235 q L^4 / B
// (Navier's series; Timoshenko, Theory of Plates and Shells, section 30).
#include <math.h>
#include <string.h>

#include "validate/ring_mesh.h"
#include "validate/rig.h"

// How far they drop: a tenth of sqrt(B / k), beyond which stretching counts, too.
static double small_drop(const weft_material* m)
{
    return 0.1 * sqrt(m->bending / m->stretch_warp);
}

// ---- a ring, clamped inside

// The drop at r for q / B = 1.
static double ring_drop(double a, double b, double r)
{
    // phi = f + A r + C / r
    double fa = -(b * b * a * log(a) / 4.0 - a * a * a / 16.0),
           slope_b = -(b * b * (log(b) + 1.0) / 4.0 - 3.0 * b * b / 16.0);
    // A a + C / a = -fa, A - C / b^2 = -slope_b
    double c = (slope_b * a - fa) / (1.0 / a + a / (b * b)), first = c / (b * b) - slope_b;
    double at[2] = {a, r}, whole[2];
    for (int k = 0; k < 2; k++)
    {
        double x = at[k];
        whole[k] = -(b * b / 4.0 * (0.5 * x * x * log(x) - 0.25 * x * x) - x * x * x * x / 64.0) + 0.5 * first * x * x +
                   c * log(x);
    }
    return whole[1] - whole[0];
}

static bool ring_open(rig* r, const trial* t, const ring_mesh* m, double gravity, result* out)
{
    static scene_text s;
    scene_begin(&s, t, 0.1 * rig_pace(t->method), -gravity);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    ring_cloth(&s, t, m);
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

// The mean drop of a ring of vertices, and where it lies.
static void ring_level(const rig* r, const ring_mesh* m, int ring, double* radius, double* drop)
{
    *radius = *drop = 0.0;
    for (int k = ring * m->around; k < (ring + 1) * m->around; k++)
    {
        *radius += hypot(r->start[k].x, r->start[k].z) / m->around;
        *drop -= r->x[k].y / m->around;
    }
}

static void measure_ring(const trial* t, result* out)
{
    ring_mesh m = ring_make(CUSICK_DISC, CUSICK_RIM, false, t->cells);
    double whole = ring_drop(CUSICK_DISC, CUSICK_RIM, CUSICK_RIM), drop = small_drop(&t->material);
    double gravity = drop * t->material.bending / (whole * t->material.density);
    rig r = {0};
    bool good = ring_write(&m, strcmp(t->mesh, "irregular") == 0, out);
    good = good && ring_open(&r, t, &m, gravity, out) && rig_settle(&r, drop);
    for (int ring = 2; ring < m.rings && good; ring++)
    {
        double radius, ours;
        ring_level(&r, &m, ring, &radius, &ours);
        // A dozen of them are a curve.
        if ((m.rings - 1 - ring) % (1 + m.rings / 12) == 0)
        {
            result_add_scaled(out, radius, ours, drop * ring_drop(CUSICK_DISC, CUSICK_RIM, radius) / whole, drop);
        }
    }
    rig_close(&r);
    ring_remove(&m);
}

const experiment experiment_ring = {
    .name = "ring",
    .summary = "a round sheet, clamped around a disc, sags a little: drop over radius",
    .closed_form = "a plate: phi'' + phi' / r - phi / r^2 = -q (b^2 - r^2) / (2 r B)",
    .x_title = "radius, m",
    .y_title = "drop, m",
    .bound = 0.02,
    .cells = {8, 16, 32},
    .grid_only = true,
    .measure = measure_ring,
};

// ---- a square that lies on its border

static void measure_square(const trial* t, result* out)
{
    static scene_text s;
    const double side = 0.2, share = 0.00406235;
    double drop = small_drop(&t->material), room = 1e-6 * side;
    double gravity = drop * t->material.bending / (share * pow(side, 4)) / t->material.density;
    specimen sheet = {.length = side, .width = side, .cells = t->cells};
    rig r;
    scene_begin(&s, t, 0.1 * rig_pace(t->method), -gravity);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    scene_cloth(&s, t, &sheet);
    scene_put(&s, "}]");
    scene_end(&s);
    bool good = rig_open(&r, t, &s, out);
    for (int axis = 0; axis < 3 && good; axis += 2)
    {
        double low = rig_low(&r, axis), high = rig_high(&r, axis);
        good = rig_pin(&r, axis, low, low + room) && rig_pin(&r, axis, high - room, high);
    }
    good = good && rig_settle(&r, drop);
    double deepest = 0.0;
    for (int k = 0; k < r.vertex_count && good; k++)
    {
        deepest = fmax(deepest, -r.x[k].y);
    }
    good ? result_add(out, side, deepest, drop) : (void)0;
    rig_close(&r);
}

const experiment experiment_square = {
    .name = "square",
    .summary = "a square sheet, held at its border, sags a little: the drop of its middle",
    .closed_form = "a plate: 0.00406235 rho g L^4 / B",
    .x_title = "side, m",
    .y_title = "drop, m",
    .bound = 0.02,
    .cells = {12, 24, 48},
    .grid_only = true,
    .measure = measure_square,
};
