// Strips that bend under their own weight. The number that decides is gamma = rho g L^3 / B; the length is that at
// which gamma is 10 on Earth, and gravity, raised from rest to rest, goes through the range as a longer strip would.
//
// Two cells are held, and where the strip bends from is somewhere between their vertices: half a cell before the last
// held column of a grid by `curvature`, 0.6 by `exact`, and 0.26 to 0.38 before the last held vertices of even
// triangles in no rows. A tenth of a cell is 1.6 % of a limp tip's drop over its reach at 80 cells. So it is read off
// the shape under a weight that bends the strip by a hundredth, as a beam: w = q / (24 B) s^2 (s^2 - 4 L s + 6 L^2)
// with s from there. The fit gives B as well, which is not used: what is too soft stays so.
#include <math.h>
#include <stdlib.h>

#include "validate/elastica.h"
#include "validate/rig.h"

static const double earth = 9.81;
enum
{
    HELD = 2 // cells
};

// The overhang of this gamma on Earth.
static double strip_length(const weft_material* m, double gamma)
{
    return cbrt(gamma * m->bending / (m->density * earth));
}

// Of `cells` columns the first half of one more belongs to the overhang.
static double strip_cell(const trial* t, double length)
{
    return length / (t->cells + 0.5);
}

static bool strip_open(rig* r, const trial* t, double length, double degrees, result* out)
{
    static scene_text s;
    double cell = strip_cell(t, length);
    int cells = t->cells + HELD;
    specimen sheet = {.length = cells * cell, .width = 0.25 * length, .cells = cells, .warp_degrees = degrees};
    // Steps of some half a swing: backward Euler takes most of what is left of it in each.
    scene_begin(&s, t, rig_pace(t->method) * 0.5 * sqrt(length / earth), -earth);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    scene_cloth(&s, t, &sheet);
    scene_put(&s, "}]");
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

// Mean place of the held vertices that have a neighbour which is not; NaN: there are none, or no memory.
static double strip_last_held(const rig* r, double end)
{
    int triangle_count = weft_sim_triangle_count(r->sim, 0), count = 0;
    int* corners = malloc(3 * (size_t)triangle_count * sizeof(int));
    char* seen = calloc((size_t)r->vertex_count, 1);
    double sum = 0.0;
    if (corners && seen)
    {
        weft_sim_triangles(r->sim, 0, corners);
    }
    for (int k = 0; k < 3 * triangle_count && corners && seen; k++)
    {
        int a = corners[k], b = corners[k % 3 == 2 ? k - 2 : k + 1];
        for (int turn = 0; turn < 2; turn++)
        {
            int from = turn ? b : a, to = turn ? a : b;
            if (r->start[from].x <= end && r->start[to].x > end && !seen[from])
            {
                seen[from] = 1;
                sum += r->start[from].x;
                count++;
            }
        }
    }
    free(corners);
    free(seen);
    return count > 0 ? sum / count : NAN;
}

// What a beam that is clamped there leaves of the drops beyond `from`: 1 - (w . y)^2 / (w . w), of those a share.
static double beam_misfit(const rig* r, double clamp, double from)
{
    double length = rig_high(r, 0) - clamp, wy = 0.0, ww = 0.0, yy = 0.0;
    for (int k = 0; k < r->vertex_count; k++)
    {
        double s = r->start[k].x - clamp, w = s * s * (s * s - 4.0 * length * s + 6.0 * length * length);
        if (r->start[k].x > from)
        {
            wy -= w * r->x[k].y;
            ww += w * w;
            yy += r->x[k].y * r->x[k].y;
        }
    }
    return yy - wy * wy / ww;
}

// Lets the strip, held up to `last`, come to rest under little weight, and reads where it bends from. Cells beside the
// clamp are left out, as the beam knows nothing of them.
static bool strip_begin(rig* r, double length, double last, double* clamp)
{
    const double small = 0.01, golden = 0.61803398874989485; // gamma 0.1: the tip drops by 0.0125 of the length
    double cell = strip_cell(r->trial, length), low = last - 3.0 * cell, high = last + 2.0 * cell;
    if (!rig_gravity(r, 0, -small * earth, 0) || !rig_settle(r, small * length))
    {
        return false;
    }
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = beam_misfit(r, a, last + 3.0 * cell), at_b = beam_misfit(r, b, last + 3.0 * cell);
    for (int k = 0; k < 40; k++)
    {
        bool left = at_a < at_b;
        *(left ? &high : &low) = left ? b : a;
        *(left ? &b : &a) = left ? a : b;
        *(left ? &at_b : &at_a) = left ? at_a : at_b;
        *(left ? &a : &b) = left ? high - golden * (high - low) : low + golden * (high - low);
        *(left ? &at_a : &at_b) = beam_misfit(r, left ? a : b, last + 3.0 * cell);
    }
    *clamp = 0.5 * (low + high);
    bool found = *clamp > last - 2.9 * cell && *clamp < last + 1.9 * cell;
    if (!found)
    {
        result_fail(r->out, "under little weight it does not hang as a beam does that is clamped near its held cells");
    }
    return found;
}

// Holds what lies in the first `held` cells; *clamp is where the overhang begins.
static bool strip_clamp(rig* r, double length, int held, weft_pin_id* pin, double* clamp)
{
    double end = rig_low(r, 0) + (held + 0.49) * strip_cell(r->trial, length), last = strip_last_held(r, end);
    if (isnan(last))
    {
        result_fail(r->out, "no memory, or the specimen has no overhang");
        return false;
    }
    return rig_pin_again(r, 0, -INFINITY, end, pin) && strip_begin(r, length, last, clamp);
}

// Drop over reach of the tip.
static double strip_tip(const rig* r, double clamp)
{
    double tip = rig_high(r, 0) - 1e-6;
    return -rig_mean(r, 1, 0, tip, INFINITY) / (rig_mean(r, 0, 0, tip, INFINITY) - clamp);
}

static void cantilever_along(const trial* t, double degrees, result* out)
{
    static const double gammas[] = {0.1, 0.3, 1, 3, 10, 30, 100, 300};
    double length = strip_length(&t->material, 10.0), clamp;
    rig r;
    weft_pin_id pin = 0;
    bool good = strip_open(&r, t, length, degrees, out) && strip_clamp(&r, length, HELD, &pin, &clamp);
    double unit = good ? 0.1 * earth * pow(length / (rig_high(&r, 0) - clamp), 3) : 0.0; // gravity of gamma 1
    for (int k = 0; k < 8 && good; k++)
    {
        elastica closed = elastica_solve(gammas[k]);
        good = rig_gravity(&r, 0, -gammas[k] * unit, 0) && rig_settle(&r, length);
        if (good)
        {
            result_add(out, gammas[k], strip_tip(&r, clamp), closed.drop / closed.reach);
        }
    }
    rig_close(&r);
}

static void measure_cantilever(const trial* t, result* out)
{
    cantilever_along(t, 0.0, out);
}

static void measure_cantilever_weft(const trial* t, result* out)
{
    cantilever_along(t, 90.0, out);
}

static void measure_cantilever_bias(const trial* t, result* out)
{
    cantilever_along(t, 45.0, out);
}

#define CANTILEVER                                                                                                     \
    .closed_form = "theta'' = -Gamma (1 - s) cos theta, Gamma = rho g L^3 / B", .x_title = "Gamma = rho g L³ / B",     \
    .y_title = "drop / reach", .log_x = true, .log_y = true, .bound = 0.02, .cells = {20, 40, 80}

const experiment experiment_cantilever = {
    .name = "cantilever",
    .summary = "a strip clamped level bends under its weight: drop over reach of its tip",
    .measure = measure_cantilever,
    CANTILEVER,
};
const experiment experiment_cantilever_weft = {
    .name = "cantilever-weft",
    .summary = "the same of a strip cut along the weft",
    .measure = measure_cantilever_weft,
    CANTILEVER,
};
const experiment experiment_cantilever_bias = {
    .name = "cantilever-bias",
    .summary = "the same of a strip cut at 45 degrees",
    .measure = measure_cantilever_bias,
    CANTILEVER,
};

// ---- ASTM D1388, as a user runs it: the strip is slid over the edge until its tip is seen at 41.5 degrees, and half
// of the overhang is the bending length c; B = rho g c^3.

static void d1388_along(const trial* t, double degrees, result* out)
{
    const double sight = tan(41.5 * 3.14159265358979323846 / 180.0);
    double length = strip_length(&t->material, 11.0), last = 0.0, last_overhang = 0.0;
    rig r;
    weft_pin_id pin = 0;
    bool good = strip_open(&r, t, length, degrees, out);
    // From 0.8 of the overhang on, cell by cell.
    for (int held = HELD + t->cells / 5; held >= HELD && good; held--)
    {
        double clamp = 0.0;
        good = strip_clamp(&r, length, held, &pin, &clamp) && rig_gravity(&r, 0, -earth, 0) && rig_settle(&r, length);
        double overhang = rig_high(&r, 0) - clamp;
        double tangent = good ? strip_tip(&r, clamp) : 0.0;
        if (good && tangent >= sight && last > 0.0)
        {
            double c = 0.5 * (last_overhang + (overhang - last_overhang) * (sight - last) / (tangent - last));
            result_add(out, 2.0 * c, t->material.density * earth * c * c * c, t->material.bending);
            break;
        }
        last = tangent;
        last_overhang = overhang;
    }
    if (good && out->count == 0)
    {
        result_fail(out, "no overhang between %.3g and %.3g m is seen at 41.5 degrees", 0.8 * length, length);
    }
    rig_close(&r);
}

static void measure_d1388(const trial* t, result* out)
{
    d1388_along(t, 0.0, out);
}

static void measure_d1388_weft(const trial* t, result* out)
{
    d1388_along(t, 90.0, out);
}

static void measure_d1388_bias(const trial* t, result* out)
{
    d1388_along(t, 45.0, out);
}

#define D1388                                                                                                          \
    .closed_form = "B = rho g (overhang / 2)^3", .x_title = "overhang, m", .y_title = "bending stiffness, N m",        \
    .bound = 0.02, .cells = {20, 40, 80}

const experiment experiment_d1388 = {
    .name = "d1388",
    .summary = "ASTM D1388: the overhang whose tip is seen at 41.5 degrees gives the bending stiffness back",
    .measure = measure_d1388,
    D1388,
};
const experiment experiment_d1388_weft = {
    .name = "d1388-weft",
    .summary = "the same of a strip cut along the weft",
    .measure = measure_d1388_weft,
    D1388,
};
const experiment experiment_d1388_bias = {
    .name = "d1388-bias",
    .summary = "the same of a strip cut at 45 degrees",
    .measure = measure_d1388_bias,
    D1388,
};
