// Friction: a sheet on a slope, a ribbon over a cylinder, a sheet that is drawn off another one.
#include <math.h>

#include "validate/rig.h"

static const double earth = 9.81, pi = 3.14159265358979323846;

// ---- slope of 30 degrees

// How fast it gains speed down the slope; NaN: it could not be measured.
static double slope_acceleration(const trial* t, double friction, result* out)
{
    static scene_text s;
    const double degrees = 30.0, c = cos(degrees * pi / 180.0), n = sin(degrees * pi / 180.0), gap = 0.001;
    specimen sheet = {.length = 0.1, .width = 0.1, .cells = t->cells};
    rig r;
    scene_begin(&s, t, 0.005, -earth);
    scene_put(&s, "\"contact\": {\"friction\": %.17g, \"thickness\": %.17g},\n", friction, gap);
    scene_put(&s,
              "\"obstacles\": [{\"name\": \"slope\", \"shape\": {\"box\": {\"center\": [%.17g, %.17g, 0], \"size\": "
              "[6, 0.1, 1], \"rotate\": [0, 0, %.17g]}}}],\n",
              -0.05 * n, -0.05 * c, -degrees);
    scene_cloth(&s, t, &sheet);
    scene_put(&s, ", \"transform\": {\"rotate\": [0, 0, %.17g], \"translate\": [%.17g, %.17g, 0]}}]", -degrees, gap * n,
              gap * c);
    scene_end(&s);
    double speed[2] = {0.0, 0.0};
    bool good = rig_open(&r, t, &s, out);
    for (int k = 0; k < 2 && good; k++)
    {
        while (good && weft_sim_time(r.sim) < (k == 0 ? 0.1 : 0.5) - 1e-9)
        {
            good = rig_step(&r, NULL);
        }
        if (good)
        {
            weft_sim_velocities(r.sim, 0, r.last);
        }
        for (int i = 0; i < r.vertex_count && good; i++)
        {
            speed[k] += (c * r.last[i].x - n * r.last[i].y) / r.vertex_count;
        }
    }
    rig_close(&r);
    return good ? (speed[1] - speed[0]) / 0.4 : NAN;
}

static void measure_slope(const trial* t, result* out)
{
    static const double frictions[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8};
    for (int k = 0; k < 8; k++)
    {
        double ours = slope_acceleration(t, frictions[k], out);
        if (isnan(ours))
        {
            return;
        }
        double closed = fmax(0.0, earth * (0.5 - frictions[k] * sqrt(0.75)));
        result_add_scaled(out, frictions[k], ours, closed, 0.5 * earth);
    }
}

const experiment experiment_slope = {
    .name = "slope",
    .summary = "a sheet slides down 30 degrees, or sticks: its acceleration",
    .closed_form = "g (sin - mu cos), or 0 where mu > tan; deviations are over that without friction",
    .x_title = "friction",
    .y_title = "acceleration, m/s²",
    .bound = 0.03,
    .cells = {4, 8, 16},
    .grid_only = true, // its place on the slope is a transform of the grid
    .measure = measure_slope,
};

// ---- capstan: both ends of a ribbon are drawn down over half a cylinder, one of them harder and harder

static bool ribbon_open(rig* r, const trial* t, double friction, result* out)
{
    static scene_text s;
    const double radius = 0.05, gap = 0.001;
    specimen ribbon = {.length = 0.4, .width = 0.02, .cells = t->cells};
    scene_begin(&s, t, 0.01, 0.0);
    scene_put(&s,
              "\"contact\": {\"friction\": %.17g, \"thickness\": %.17g, \"exclude\": [{\"pair\": [\"specimen\", "
              "\"specimen\"]}]},\n",
              friction, gap);
    scene_put(&s,
              "\"obstacles\": [{\"name\": \"capstan\", \"shape\": {\"cylinder\": {\"from\": [0, 0, -0.1], \"to\": [0, "
              "0, 0.1], \"radius\": %.17g, \"segments\": 192}}}],\n",
              radius);
    scene_cloth(&s, t, &ribbon);
    scene_put(&s, ", \"transform\": {\"translate\": [0, %.17g, 0]}}]", radius + gap);
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

static bool ribbon_pull(rig* r, rig_load* load, double left, double right)
{
    return rig_load_edge(r, load, RIG_LEFT, (weft_vec3){0, -left, 0}) &&
           rig_load_edge(r, load, RIG_RIGHT, (weft_vec3){0, -right, 0}) && rig_load_apply(r, load);
}

// Whether the end that is drawn less rises by more than a millimetre while the pulls are held, for 0.3 s and at least
// 25 steps: what slips passes its load on from column to column, a hundredth too much then moves the ribbon by 5 mm,
// and the cloth's own stretch is a tenth of a millimetre.
static bool ribbon_slips(rig* r, rig_load* load, double left, double right, bool* good)
{
    double end = rig_low(r, 0) + 1e-6, before = rig_mean(r, 1, 0, -INFINITY, end), rise = 0.0;
    double until = weft_sim_time(r->sim) + 0.3;
    *good = ribbon_pull(r, load, left, right);
    for (int k = 0; *good && rise <= 0.001 && (k < 25 || weft_sim_time(r->sim) < until); k++)
    {
        *good = rig_step(r, NULL);
        rise = rig_mean(r, 1, 0, -INFINITY, end) - before;
    }
    return *good && rise > 0.001;
}

// The ratio of both pulls at which it slips; NaN: none up to 1.6 of what is expected.
static double slip_ratio(const trial* t, double friction, result* out)
{
    const double expected = exp(friction * pi), pull = 0.5; // N/m
    rig r;
    rig_load load = {0};
    bool good = ribbon_open(&r, t, friction, out) && ribbon_pull(&r, &load, pull, pull);
    while (good && weft_sim_time(r.sim) < 1.5)
    {
        good = rig_step(&r, NULL); // it wraps
    }
    double ratio = NAN;
    for (int k = 0; k < 75 && good && isnan(ratio); k++)
    {
        double now = expected * (0.85 + 0.01 * k);
        ratio = ribbon_slips(&r, &load, pull, fmax(now, 1.0) * pull, &good) ? now : NAN;
    }
    if (good && isnan(ratio))
    {
        result_fail(out, "with friction %g it does not slip at 1.6 times the ratio at which it should", friction);
    }
    rig_load_free(&load);
    rig_close(&r);
    return ratio;
}

static void measure_capstan(const trial* t, result* out)
{
    static const double frictions[] = {0.1, 0.2, 0.3, 0.4, 0.5};
    for (int k = 0; k < 5; k++)
    {
        double ours = slip_ratio(t, frictions[k], out);
        if (isnan(ours))
        {
            return;
        }
        result_add(out, frictions[k], ours, exp(frictions[k] * pi));
    }
}

const experiment experiment_capstan = {
    .name = "capstan",
    .summary = "a ribbon over half a fixed cylinder slips: the ratio of the pulls at its ends",
    .closed_form = "T2 / T1 = exp(mu phi), phi = pi",
    .x_title = "friction",
    .y_title = "T2 / T1",
    .bound = 0.03,
    .cells = {20, 40, 80},
    .grid_only = true,
    .measure = measure_capstan,
};

// ---- stack: a sheet lies on another, which is held, and is drawn along it by one of its borders

static bool stack_open(rig* r, const trial* t, double friction, result* out)
{
    static scene_text s;
    const double gap = 0.001;
    specimen sheet = {.length = 0.1, .width = 0.1, .cells = t->cells};
    scene_begin(&s, t, 0.005, -earth);
    scene_put(&s, "\"contact\": {\"friction\": %.17g, \"thickness\": %.17g},\n", friction, gap);
    scene_cloth(&s, t, &sheet);
    scene_put(&s, ", \"transform\": {\"translate\": [0, %.17g, 0]}},\n", 0.99 * gap);
    // Other cells than those of the sheet above, so that vertices do not lie on vertices.
    int cells = t->cells + t->cells / 2 + 1;
    scene_put(&s,
              "{\"name\": \"lower\", \"mesh\": {\"grid\": {\"size\": [0.2, 0.16], \"cells\": [%d, %d], \"plane\": "
              "\"xz\", \"tessellation\": \"%s\", \"seed\": 5}}, \"pins\": [{\"where\": {\"box\": {\"min\": [-1, -1, "
              "-1], \"max\": [1, 1, 1]}}}]}]",
              2 * cells, cells, t->mesh);
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

// Whether the border that is not drawn moves by half a millimetre within 0.3 s.
static bool stack_slips(rig* r, rig_load* load, double pull, bool* good)
{
    double end = rig_low(r, 0) + 1e-6, before = rig_mean(r, 0, 0, -INFINITY, end), way = 0.0;
    double until = weft_sim_time(r->sim) + 0.3;
    *good = rig_load_edge(r, load, RIG_RIGHT, (weft_vec3){pull, 0, 0}) && rig_load_apply(r, load);
    for (int k = 0; *good && way <= 0.0005 && (k < 25 || weft_sim_time(r->sim) < until - 1e-9); k++)
    {
        *good = rig_step(r, NULL);
        way = rig_mean(r, 0, 0, -INFINITY, end) - before;
    }
    return *good && way > 0.0005;
}

static double stack_pull(const trial* t, double friction, result* out)
{
    rig r;
    rig_load load = {0};
    double weight = t->material.density * earth * 0.1; // N for a metre of the border
    bool good = stack_open(&r, t, friction, out);
    while (good && weft_sim_time(r.sim) < 0.5)
    {
        good = rig_step(&r, NULL); // it comes to rest
    }
    double found = NAN;
    for (int k = 0; k < 60 && good && isnan(found); k++)
    {
        double now = friction * (0.9 + 0.01 * k);
        found = stack_slips(&r, &load, now * weight, &good) ? now : NAN;
    }
    if (good && isnan(found))
    {
        result_fail(out, "with friction %g it does not slide at 1.5 times the pull at which it should", friction);
    }
    rig_load_free(&load);
    rig_close(&r);
    return found;
}

static void measure_stack(const trial* t, result* out)
{
    static const double frictions[] = {0.1, 0.3, 0.5, 0.8};
    for (int k = 0; k < 4; k++)
    {
        double ours = stack_pull(t, frictions[k], out);
        if (isnan(ours))
        {
            return;
        }
        result_add(out, frictions[k], ours, frictions[k]);
    }
}

const experiment experiment_stack = {
    .name = "stack",
    .summary = "a sheet on another one is drawn along it by a border: the pull at which it slides, over its weight",
    .closed_form = "mu; a pull is raised by 1 % and held for 0.3 s",
    .x_title = "friction",
    .y_title = "pull / weight",
    .bound = 0.03,
    .cells = {4, 8, 12},
    .grid_only = true,
    .measure = measure_stack,
};
