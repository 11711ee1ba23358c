// Lateral buckling: a strip clamped with its plane upright leaves that plane under its own weight. For nu = 0 a narrow
// strip of width w has EI = B w and GJ = 2 B w, and Timoshenko's q L^3 = 12.85 sqrt(EI GJ) is Gamma = 18.18.
//
// Southwell's way instead of a bisection: a weak steady push aside moves the tip by d / (1 - (Gamma / Gamma_c)^2), so
// that 1 over that way, against Gamma^2, is a line that meets zero at buckling. It is measured below it, where strips
// come to rest quickly. Widths of 0.2, 0.1 and 0.05 of the length are extrapolated to none.
#include <math.h>

#include "validate/rig.h"

static const double earth = 9.81, critical = 18.18;

static bool upright_open(rig* r, const trial* t, double length, double width, result* out)
{
    static scene_text s;
    double cell = length / (t->cells + 0.5);
    int cells = t->cells + 2;
    specimen sheet = {
        .length = cells * cell, .width = width * length, .cells = cells, .across = t->cells / 4, .upright = true};
    scene_begin(&s, t, rig_pace(t->method) * 20.0 * sqrt(length / earth), -earth);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    scene_cloth(&s, t, &sheet);
    scene_put(&s, "}]");
    scene_end(&s);
    double low;
    // Clamped as a cantilever is: the length runs from the middle of the second cell.
    return rig_open(r, t, &s, out) && (low = rig_low(r, 0), rig_pin(r, 0, low, low + 2.49 * cell));
}

// 1 over the way of the tip under this share of the critical weight, with the push; NaN: it could not be measured.
static double inverse_way(rig* r, double length, double load)
{
    // The push would move the tip by a thousandth of the length: rho g_z L^4 / (8 B).
    double push = 0.008 * earth / critical, room = 1e-6 * length;
    if (!rig_gravity(r, 0, -load * earth, push) || !rig_settle(r, 0.03 * length))
    {
        return NAN;
    }
    return length / rig_mean(r, 2, 0, rig_high(r, 0) - room, INFINITY);
}

// Where the line through two points meets zero, as a load.
static double line_zero(double a, double at_a, double b, double at_b)
{
    return sqrt(a * a + (b * b - a * a) * at_a / (at_a - at_b));
}

// Gamma at which a strip of this width (over its length) buckles; NaN: it could not be measured. Loads close below it
// have little of other modes, and take the longer to come to rest the closer they are.
static double buckling_gamma(const trial* t, double width, result* out)
{
    const double first = 0.92, second = 0.98;
    double length = cbrt(critical * t->material.bending / (t->material.density * earth)), load = NAN;
    rig r;
    if (upright_open(&r, t, length, width, out))
    {
        double a = inverse_way(&r, length, first), b = inverse_way(&r, length, second);
        load = line_zero(first, a, second, b);
    }
    rig_close(&r);
    return critical * load;
}

static void measure_buckling(const trial* t, result* out)
{
    static const double widths[] = {0.2, 0.1, 0.05};
    double gamma[3];
    for (int k = 0; k < 3; k++)
    {
        gamma[k] = buckling_gamma(t, widths[k], out);
        if (!isfinite(gamma[k]))
        {
            result_fail(out, "at width %g of the length it does not lean as a strip below buckling does", widths[k]);
            return;
        }
        result_show(out, widths[k], gamma[k]);
    }
    // The parabola through the three, at width 0 (Lagrange).
    double narrow = 0.0;
    for (int i = 0; i < 3; i++)
    {
        double weight = 1.0;
        for (int k = 0; k < 3; k++)
        {
            weight *= k == i ? 1.0 : widths[k] / (widths[k] - widths[i]);
        }
        narrow += weight * gamma[i];
    }
    result_add(out, 0.0, narrow, critical);
}

const experiment experiment_buckling = {
    .name = "buckling",
    .summary = "a strip clamped with its plane upright leaves it: Gamma at which it does",
    .closed_form = "Gamma = 12.85 sqrt(2) = 18.18 for a narrow strip",
    .x_title = "width / length",
    .y_title = "Gamma at buckling",
    .bound = 0.03,
    .cells = {20, 40, 80},
    .grid_only = true,
    .measure = measure_buckling,
};
