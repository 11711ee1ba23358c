// Sheets that hang: between two supports, and swinging from one.
#include <math.h>
#include <string.h>

#include "validate/elastica.h"
#include "validate/rig.h"

static const double earth = 9.81;

static bool hang_open(rig* r, const trial* t, double length, double time_step, result* out)
{
    static scene_text s;
    specimen sheet = {.length = length, .width = 0.1 * length, .cells = t->cells};
    scene_begin(&s, t, time_step, -earth);
    scene_put(&s, "\"contact\": {\"enabled\": false},\n");
    scene_cloth(&s, t, &sheet);
    scene_put(&s, "}]");
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

// ---- catenary

enum
{
    ENDS_MAX = 4096
};

static bool ends_pin(rig* r, weft_pin_id* id, int* list, int* count)
{
    weft_error error = {0};
    weft_pin pin = weft_pin_default();
    double low = rig_low(r, 0), high = rig_high(r, 0), room = 1e-6 * (high - low);
    for (int k = 0; k < r->vertex_count && pin.vertex_count < ENDS_MAX; k++)
    {
        if (r->start[k].x - low < room || high - r->start[k].x < room)
        {
            list[pin.vertex_count++] = k;
        }
    }
    pin.vertices = list;
    *count = pin.vertex_count;
    if (weft_sim_pin(r->sim, 0, &pin, id, &error) != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message);
        return false;
    }
    return true;
}

// Both ends go to where they are `to` of the length apart, in some steps.
static bool ends_move(rig* r, weft_pin_id id, const int* list, int count, double from, double to)
{
    enum
    {
        STEPS = 5
    };
    weft_error error = {0};
    for (int step = 1; step <= STEPS; step++)
    {
        double span = from + (to - from) * step / STEPS;
        for (int k = 0; k < count; k++)
        {
            weft_vec3 p = r->start[list[k]];
            r->last[k] = (weft_vec3){p.x * span, p.y, p.z};
        }
        if (weft_sim_move(r->sim, id, r->last, &error) != WEFT_OK)
        {
            result_fail(r->out, "%s", error.message);
            return false;
        }
        if (!rig_step(r, NULL))
        {
            return false;
        }
    }
    return true;
}

static void measure_catenary(const trial* t, result* out)
{
    static const double spans[] = {0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
    static int list[ENDS_MAX];
    rig r;
    weft_pin_id id;
    int count;
    // Fifty times what the cloth stands up by itself, so that it hangs as a chain: 0.95 m of cotton.
    double length = 50.0 * cbrt(t->material.bending / (t->material.density * earth));
    bool good = hang_open(&r, t, length, 0.2 * rig_pace(t->method), out) && ends_pin(&r, &id, list, &count);
    double load = t->material.density * earth * length / t->material.stretch_warp;
    for (int k = 0; k < 7 && good; k++)
    {
        good = ends_move(&r, id, list, count, k ? spans[k - 1] : 1.0, spans[k]) && rig_settle(&r, length);
        double lowest = 0.0;
        for (int i = 0; i < r.vertex_count && good; i++)
        {
            lowest = fmin(lowest, r.x[i].y);
        }
        if (good)
        {
            result_add(out, spans[k], -lowest / length, catenary_sag(spans[k], load));
        }
    }
    rig_close(&r);
}

const experiment experiment_catenary = {
    .name = "catenary",
    .summary = "a strip hangs between two supports: its sag",
    .closed_form = "Irvine's elastic catenary",
    .x_title = "span / length",
    .y_title = "sag / length",
    .bound = 0.005,
    .cells = {20, 40, 80},
    .measure = measure_catenary,
};

// ---- pendulum: gravity along the strip, which swings across its plane

static const double metre = 1.0; // its length

// The first mode of a hanging chain, J0(2.4048 sqrt(s / L)) at s above its free end.
static double mode(double x)
{
    double s = fmax(0.0, 0.5 - x / metre);
    return bessel_j0(2.404825557695773 * sqrt(s));
}

static bool swing_start(rig* r)
{
    for (int k = 0; k < r->vertex_count; k++)
    {
        r->x[k] = r->start[k];
        r->x[k].y = 0.01 * metre * mode(r->start[k].x);
    }
    double low = rig_low(r, 0);
    return weft_sim_set_state(r->sim, 0, r->x, NULL) == WEFT_OK && rig_pin(r, 0, low, low + 1e-6 * metre) &&
           rig_gravity(r, earth, 0, 0);
}

// How much of the first mode there is: others are orthogonal to it and do not show.
static double swing(const rig* r)
{
    double sum = 0.0;
    for (int k = 0; k < r->vertex_count; k++)
    {
        sum += mode(r->start[k].x) * r->x[k].y;
    }
    return sum;
}

// Periods between every other time at which it passes upright.
static void measure_pendulum(const trial* t, result* out)
{
    enum
    {
        PASSES = 5,
        STEPS = 1000
    };
    double passes[PASSES], last = 0.0, h = 0.005;
    int count = 0;
    rig r;
    bool good = hang_open(&r, t, metre, h, out) && swing_start(&r);
    h = good ? weft_sim_time_step(r.sim) : h;
    for (int k = 0; k < STEPS && good && count < PASSES; k++)
    {
        double before = last;
        good = rig_step(&r, NULL);
        last = good ? swing(&r) : 0.0;
        if (k > 0 && good && (before > 0.0) != (last > 0.0))
        {
            passes[count++] = h * (k + before / (before - last));
        }
    }
    double closed = 4.0 * 3.14159265358979323846 / 2.404825557695773 * sqrt(metre / earth);
    for (int k = 2; k < count; k++)
    {
        result_add(out, k - 1, passes[k] - passes[k - 2], closed);
    }
    if (good && count < PASSES)
    {
        result_fail(out, "it passed upright %d times in %g s, not %d", count, STEPS * h, PASSES);
    }
    rig_close(&r);
}

const experiment experiment_pendulum = {
    .name = "pendulum",
    .summary = "a strip of 1 m hung by one border swings: its period",
    .closed_form = "4 pi / 2.4048 sqrt(L / g), a hanging chain",
    .x_title = "swing",
    .y_title = "period, s",
    .bound = 0.005,
    .cells = {20, 40, 80},
    .measure = measure_pendulum,
};
