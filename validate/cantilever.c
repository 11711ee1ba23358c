// Strips that bend under their own weight. The number that decides is gamma = rho g L^3 / B; the length is that at
// which gamma is 10 on Earth, and gravity, raised from rest to rest, goes through the range as a longer strip would.
//
// Three columns of vertices are held. The fold along the last of them stands for the curvature of half a cell on either
// side, as every other fold does, so the strip bends from the middle of the last held cell on: its length runs from
// there. Read from the last column instead, the tip of a limp strip would be off by the half cell over its reach.
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

// Holds what lies in the first `held` cells. *clamp is where the overhang begins: half a cell before the mean of the
// held vertices that have a neighbour which is not, on grids the last held column.
static bool strip_clamp(rig* r, double length, int held, weft_pin_id* pin, double* clamp)
{
    double low = rig_low(r, 0), cell = strip_cell(r->trial, length), end = low + (held + 0.49) * cell, sum = 0.0;
    int triangle_count = weft_sim_triangle_count(r->sim, 0), count = 0;
    int* corners = malloc(3 * (size_t)triangle_count * sizeof(int));
    char* seen = calloc((size_t)r->vertex_count, 1);
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
    if (count == 0)
    {
        result_fail(r->out, "no memory, or the specimen has no overhang");
        return false;
    }
    *clamp = sum / count - 0.5 * cell;
    return rig_pin_again(r, 0, low, end, pin);
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
        good = strip_clamp(&r, length, held, &pin, &clamp) && rig_settle(&r, length);
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
