// Cusick's drape (BS 5058, ISO 9073-9): a round specimen of 30 cm lies on a disc of 18 cm, held there by another one,
// and what hangs over falls into folds. The drape coefficient is the share of the ring beyond the disc that its shadow
// covers,
//
//     (shadow - disc) / (specimen - disc)
//
// There is no closed form: what is judged is that the coefficient does not depend on the mesh. Ten starts with heights
// jittered by tenths of a millimetre make a mean; the first mean of a run is what the others are held against. The
// number of folds, and the coefficient of each start, are shown, and where fabrics of the name have been measured,
// whether the mean lies among them.
//
// What hangs over has many shapes at rest, and which one is found must not depend on the mesh either. So the heights of
// a start are waves around the axis, the same on every mesh, and the specimen is let down as in the instrument, where a
// plate is lowered: its weight grows over twelve seconds. Let go at once, waves of the length that grows fastest win,
// half as many folds again, and coefficients of one mesh lie as far apart as those of fabrics.
//
// What lies beyond the disc alone is simulated (ring_mesh.h). Folds are kept apart by contact.
//
// The same is done with a square of the same width, and with a round sheet that hangs from its middle, a button of 4
// cm; both have no standard, and are judged by their meshes alone.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/ring_mesh.h"
#include "validate/rig.h"

static const double pi = 3.14159265358979323846, earth = 9.81, jitter = 1e-4, long_step = 0.1; // m/s^2, m, s

enum
{
    STARTS = 10,
    WAVES = 16, // of the jitter, around

    PIXELS = 1000, // across the specimen
    LOADS = 120    // steps of implicit methods in which the weight grows
};

// ---- the shadow

static bool inside(const weft_vec3* a, const weft_vec3* b, const weft_vec3* c, double x, double z)
{
    double u = (b->x - a->x) * (z - a->z) - (b->z - a->z) * (x - a->x);
    double v = (c->x - b->x) * (z - b->z) - (c->z - b->z) * (x - b->x);
    double w = (a->x - c->x) * (z - c->z) - (a->z - c->z) * (x - c->x);
    return (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
}

// Of a square picture that goes to `reach` on either side of the axis.
static double place(double reach, int pixel)
{
    return reach * (2.0 * (pixel + 0.5) / PIXELS - 1.0);
}

static int pixel_of(double reach, double x)
{
    return (int)fmin(fmax((x / reach + 1.0) * 0.5 * PIXELS, 0.0), PIXELS - 1.0);
}

static void shade(unsigned char* dark, double reach, const weft_vec3* a, const weft_vec3* b, const weft_vec3* c)
{
    int low = pixel_of(reach, fmin(a->x, fmin(b->x, c->x))), high = pixel_of(reach, fmax(a->x, fmax(b->x, c->x)));
    int first = pixel_of(reach, fmin(a->z, fmin(b->z, c->z))), last = pixel_of(reach, fmax(a->z, fmax(b->z, c->z)));
    for (int k = first; k <= last; k++)
    {
        for (int i = low; i <= high; i++)
        {
            dark[k * PIXELS + i] |= inside(a, b, c, place(reach, i), place(reach, k));
        }
    }
}

// The coefficient by counting pixels; NaN: no memory.
static double coefficient(const ring_mesh* m, const weft_vec3* x)
{
    unsigned char* dark = calloc(PIXELS, PIXELS);
    double count = 0.0, held = 0.0, all = 0.0, reach = 1.1 * m->outer * (m->square ? sqrt(2.0) : 1.0);
    for (int k = 0; k < (m->rings - 1) * m->around && dark; k++)
    {
        int j = k / m->around, i = k % m->around, n = m->around, next = (i + 1) % n;
        const weft_vec3 *a = &x[j * n + i], *b = &x[j * n + next], *c = &x[(j + 1) * n + i],
                        *d = &x[(j + 1) * n + next];
        shade(dark, reach, a, b, j % 2 ? d : c);
        shade(dark, reach, j % 2 ? a : b, d, c);
    }
    for (int k = 0; k < PIXELS * PIXELS && dark; k++)
    {
        double x = place(reach, k % PIXELS), z = place(reach, k / PIXELS), r = hypot(x, z);
        count += dark[k] || r < m->inner;
        held += r < m->inner;
        all += (m->square ? fmax(fabs(x), fabs(z)) : r) < m->outer;
    }
    double share = dark ? (count - held) / (all - held) : NAN;
    free(dark);
    return share;
}

// Maxima of the border's distance from the axis that stand out by more than 2 mm from what is between them.
static int folds_of(const ring_mesh* m, const weft_vec3* x)
{
    const weft_vec3* border = x + (size_t)(m->rings - 1) * (size_t)m->around;
    const double least = 0.002;
    int start = 0, folds = 0;
    for (int k = 0; k < m->around; k++)
    {
        start = hypot(border[k].x, border[k].z) < hypot(border[start].x, border[start].z) ? k : start;
    }
    double low = hypot(border[start].x, border[start].z), high = 0.0;
    bool rising = true; // from the lowest place on
    for (int k = 0; k <= m->around; k++)
    {
        const weft_vec3* p = &border[(start + k) % m->around];
        double r = hypot(p->x, p->z);
        high = rising ? fmax(high, r) : high;
        low = rising ? low : fmin(low, r);
        if (rising && r < high - least && high > low + least)
        {
            folds++;
            rising = false;
            low = r;
        }
        else if (!rising && r > low + least)
        {
            rising = true;
            high = r;
        }
    }
    return folds;
}

// ---- measuring

static bool drape_open(rig* r, const trial* t, const ring_mesh* m, result* out)
{
    static scene_text s;
    scene_begin(&s, t, long_step * rig_pace(t->method), -earth);
    ring_cloth(&s, t, m);
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

static bool drape_jitter(rig* r, const ring_mesh* m, unsigned start)
{
    unsigned seed = 1000u + start;
    double size[WAVES], phase[WAVES];
    for (int n = 0; n < WAVES; n++)
    {
        size[n] = jitter * noise(&seed);
        phase[n] = pi * noise(&seed);
    }
    for (int k = 2 * m->around; k < r->vertex_count; k++)
    {
        double angle = atan2(r->x[k].z, r->x[k].x),
               out = (hypot(r->x[k].x, r->x[k].z) - m->inner) / (m->outer - m->inner);
        for (int n = 0; n < WAVES; n++)
        {
            r->x[k].y += out * size[n] * cos((n + 1) * angle + phase[n]);
        }
    }
    memset(r->last, 0, (size_t)r->vertex_count * sizeof(weft_vec3));
    weft_status status = weft_sim_set_state(r->sim, 0, r->x, r->last);
    if (status != WEFT_OK)
    {
        result_fail(r->out, "%s", weft_status_text(status));
        return false;
    }
    return true;
}

// The weight grows to all of it.
static bool drape_lower(rig* r)
{
    int loads = (int)(LOADS / rig_pace(r->trial->method) + 0.5);
    bool good = true;
    for (int k = 1; k <= loads && good; k++)
    {
        good = rig_gravity(r, 0.0, -earth * k / loads, 0.0) && rig_step(r, NULL);
    }
    return good;
}

// The border from above, the last point the first again.
static void drape_outline(const ring_mesh* m, const weft_vec3* x, result* out)
{
    const weft_vec3* border = x + (size_t)(m->rings - 1) * (size_t)m->around;
    out->outline_count = m->around < OUTLINE_MAX ? m->around + 1 : OUTLINE_MAX;
    for (int k = 0; k < out->outline_count; k++)
    {
        const weft_vec3* p = &border[(int)((double)k * m->around / (out->outline_count - 1)) % m->around];
        out->outline[k][0] = (float)p->x;
        out->outline[k][1] = (float)p->z;
    }
}

// One start: the coefficient, or NaN.
static double drape_once(const trial* t, const ring_mesh* m, unsigned start, result* out, int* folds)
{
    rig r;
    bool good =
        drape_open(&r, t, m, out) && drape_jitter(&r, m, start) && drape_lower(&r) && rig_settle(&r, 10.0 * m->outer);
    double share = good ? coefficient(m, r.x) : NAN;
    *folds = good ? folds_of(m, r.x) : 0;
    good&& start == 0 ? drape_outline(m, r.x, out) : (void)0;
    rig_close(&r);
    return share;
}

typedef struct drape_sums
{
    double sum, squares, least, most, folds; // of coefficients in percent
} drape_sums;

static drape_sums drape_starts(const trial* t, const ring_mesh* m, result* out)
{
    drape_sums s = {.least = INFINITY, .most = -INFINITY};
    for (int k = 0; k < STARTS && !out->failure[0]; k++)
    {
        int folds;
        double percent = 100.0 * drape_once(t, m, (unsigned)k, out, &folds);
        if (isnan(percent))
        {
            result_fail(out, "no memory for the shadow");
            break;
        }
        s.sum += percent;
        s.squares += percent * percent;
        s.least = fmin(s.least, percent);
        s.most = fmax(s.most, percent);
        s.folds += folds;
        result_show(out, k + 1, percent);
    }
    return s;
}

// The mean, how far starts lie apart, and what fabrics of that name have.
static void drape_report(const trial* t, const ring_mesh* m, const drape_sums* s, result* out)
{
    weft_material_sources sources;
    double mean = s->sum / STARTS, apart = sqrt(fmax(0.0, s->squares / STARTS - mean * mean));
    int length = snprintf(out->note, sizeof(out->note),
                          "mean %.1f %%, starts from %.1f to %.1f (standard deviation %.1f), %.1f folds", mean,
                          s->least, s->most, apart, s->folds / STARTS);
    out->mean = mean;
    if (m->square || m->inner != CUSICK_DISC)
    {
        result_add_scaled(out, STARTS + 1, mean, mean, 100.0);
        return;
    }
    if (weft_material_find_sources(t->material_name, &sources, NULL) == WEFT_OK && sources.drape_high > 0.0)
    {
        out->published[0] = sources.drape_low;
        out->published[1] = sources.drape_high;
        snprintf(out->note + length, sizeof(out->note) - (size_t)length, "; published for %s: %g to %g %%, %s",
                 sources.drape_of, sources.drape_low, sources.drape_high, result_is_inside(out) ? "inside" : "OUTSIDE");
    }
    else
    {
        snprintf(out->note + length, sizeof(out->note) - (size_t)length, "; no published band is known for %.40s",
                 t->material_name);
    }
    result_add_scaled(out, STARTS + 1, mean, mean, 100.0);
}

static void measure_drape(const trial* t, ring_mesh m, result* out)
{
    drape_sums s = {0};
    if (ring_write(&m, strcmp(t->mesh, "irregular") == 0, out))
    {
        s = drape_starts(t, &m, out);
        ring_remove(&m);
    }
    if (!out->failure[0])
    {
        drape_report(t, &m, &s, out);
    }
}

static void measure_cusick(const trial* t, result* out)
{
    measure_drape(t, ring_make(CUSICK_DISC, CUSICK_RIM, false, t->cells), out);
}

static void measure_square_drape(const trial* t, result* out)
{
    measure_drape(t, ring_make(CUSICK_DISC, CUSICK_RIM, true, t->cells), out);
}

// m, the button's radius.
#define HUNG_BUTTON 0.02

static void measure_hung(const trial* t, result* out)
{
    measure_drape(t, ring_make(HUNG_BUTTON, CUSICK_RIM, false, t->cells), out);
}

#define DRAPE                                                                                                          \
    .closed_form = "none: deviations, in points, are from the first resolution and mesh of the run",                   \
    .x_title = "start (11: the mean of ten)", .y_title = "drape coefficient, %", .bound = 0.03, .grid_only = true,     \
    .is_long = true

const experiment experiment_cusick = {
    .name = "cusick",
    .summary = "Cusick's drape coefficient of ten starts, and their mean",
    .cells = {6, 9, 12},
    .measure = measure_cusick,
    .disc = CUSICK_DISC,
    .rim = CUSICK_RIM,
    DRAPE,
};
const experiment experiment_square_drape = {
    .name = "square-drape",
    .summary = "the same of a square specimen as wide as the round one",
    .cells = {6, 9, 12},
    .measure = measure_square_drape,
    .disc = CUSICK_DISC,
    .rim = CUSICK_RIM,
    .is_square = true,
    DRAPE,
};
const experiment experiment_hung = {
    .name = "hung",
    .summary = "the same of a round sheet that hangs from its middle",
    .cells = {12, 16, 22},
    .measure = measure_hung,
    .disc = HUNG_BUTTON,
    .rim = CUSICK_RIM,
    DRAPE,
};
