// Cusick's drape (BS 5058, ISO 9073-9): a round specimen of 30 cm lies on a disc of 18 cm, held there by another one,
// and what hangs over falls into folds. The drape coefficient is the share of the ring beyond the disc that its shadow
// covers,
//
//     (shadow - disc) / (specimen - disc)
//
// There is no closed form: what is judged is that the coefficient does not depend on the mesh. Ten starts with heights
// jittered by a tenth of a millimetre make a mean; the first mean of a run is what the others are held against. The
// number of folds, and the coefficient of each start, are shown.
//
// The ring alone is simulated. Two rings of vertices are held, the inner ones of the disc's rim: the fold along the
// last held ring stands for half a cell on either side, so that the rim lies in the middle of the last held cell. Folds
// are not kept apart (contact is off), which matters where the coefficient is below some 30 %.
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/rig.h"

static const double pi = 3.14159265358979323846, disc = 0.09, rim = 0.15, earth = 9.81; // m, m/s^2

enum
{
    STARTS = 10,
    PIXELS = 1000, // across the specimen
    ANGLES = 360
};

// ---- the specimen

typedef struct ring_mesh
{
    int rings, around; // of vertices; two rings are held
    double width;      // m, of a cell
} ring_mesh;

// A number in (-1, 1), the same on every machine.
static double noise(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 8388608.0 - 1.0;
}

static ring_mesh ring_make(int cells)
{
    ring_mesh m = {.rings = cells + 2, .width = (rim - disc) / (cells - 0.5)};
    m.around = (int)(pi * (rim + disc) / m.width + 0.5);
    return m;
}

// Triangles of ever other diagonal; irregular: vertices between the borders are moved by up to a quarter of a cell.
static bool ring_write(const ring_mesh* m, bool irregular, const char* file)
{
    unsigned seed = 7;
    FILE* out = fopen(file, "w");
    for (int k = 0; k < m->rings * m->around && out; k++)
    {
        int j = k / m->around, i = k % m->around;
        double shift = irregular && j > 1 && j < m->rings - 1 ? 0.25 : 0.0,
               r = disc + m->width * (j - 1.5 + shift * noise(&seed));
        double angle = 2.0 * pi * (i + 0.5 * (j % 2) + shift * noise(&seed)) / m->around;
        fprintf(out, "v %.17g 0 %.17g\n", r * cos(angle), r * sin(angle));
    }
    for (int k = 0; k < (m->rings - 1) * m->around && out; k++)
    {
        int j = k / m->around, i = k % m->around, n = m->around, next = (i + 1) % n;
        int a = j * n + i + 1, b = j * n + next + 1, c = (j + 1) * n + i + 1, d = (j + 1) * n + next + 1;
        j % 2 ? fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, d, a, d, c)
              : fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, c, b, d, c);
    }
    return out && fclose(out) == 0;
}

// ---- the shadow

static bool inside(const weft_vec3* a, const weft_vec3* b, const weft_vec3* c, double x, double z)
{
    double u = (b->x - a->x) * (z - a->z) - (b->z - a->z) * (x - a->x);
    double v = (c->x - b->x) * (z - b->z) - (c->z - b->z) * (x - b->x);
    double w = (a->x - c->x) * (z - c->z) - (a->z - c->z) * (x - c->x);
    return (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
}

static double place(int pixel)
{
    return 1.1 * rim * (2.0 * (pixel + 0.5) / PIXELS - 1.0);
}

static int pixel_of(double x)
{
    return (int)fmin(fmax((x / (1.1 * rim) + 1.0) * 0.5 * PIXELS, 0.0), PIXELS - 1.0);
}

static void shade(unsigned char* dark, const weft_vec3* a, const weft_vec3* b, const weft_vec3* c)
{
    int low = pixel_of(fmin(a->x, fmin(b->x, c->x))), high = pixel_of(fmax(a->x, fmax(b->x, c->x)));
    int first = pixel_of(fmin(a->z, fmin(b->z, c->z))), last = pixel_of(fmax(a->z, fmax(b->z, c->z)));
    for (int k = first; k <= last; k++)
    {
        for (int i = low; i <= high; i++)
        {
            dark[k * PIXELS + i] |= inside(a, b, c, place(i), place(k));
        }
    }
}

// The coefficient by counting pixels; NaN: no memory.
static double coefficient(const ring_mesh* m, const weft_vec3* x)
{
    unsigned char* dark = calloc(PIXELS, PIXELS);
    double count = 0.0, held = 0.0, all = 0.0;
    for (int k = 0; k < (m->rings - 1) * m->around && dark; k++)
    {
        int j = k / m->around, i = k % m->around, n = m->around, next = (i + 1) % n;
        const weft_vec3 *a = &x[j * n + i], *b = &x[j * n + next], *c = &x[(j + 1) * n + i],
                        *d = &x[(j + 1) * n + next];
        shade(dark, a, b, j % 2 ? d : c);
        shade(dark, j % 2 ? a : b, d, c);
    }
    for (int k = 0; k < PIXELS * PIXELS && dark; k++)
    {
        double r = hypot(place(k % PIXELS), place(k / PIXELS));
        count += dark[k] || r < disc;
        held += r < disc;
        all += r < rim;
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

static bool drape_open(rig* r, const trial* t, const ring_mesh* m, const char* file, result* out)
{
    static scene_text s;
    const weft_material* w = &t->material;
    scene_begin(&s, t, 0.01 * rig_pace(t->method), -earth);
    scene_put(&s, "\"cloth\": [{\"name\": \"specimen\", \"mesh\": {\"obj\": \"%s\"}, \"warp\": [1, 0, 0],\n", file);
    scene_put(&s,
              " \"material\": {\"density\": %.17g, \"stretch_warp\": %.17g, \"stretch_weft\": %.17g, \"shear\": %.17g, "
              "\"bending\": %.17g, \"damping\": %.17g}, \"pins\": [{\"where\": {\"vertices\": [",
              w->density, w->stretch_warp, w->stretch_weft, w->shear, w->bending, w->damping);
    for (int k = 0; k < 2 * m->around; k++)
    {
        scene_put(&s, "%s%d", k ? "," : "", k);
    }
    scene_put(&s, "]}}]}]");
    scene_end(&s);
    return rig_open(r, t, &s, out);
}

static bool drape_jitter(rig* r, const ring_mesh* m, unsigned start)
{
    unsigned seed = 1000u + start;
    for (int k = 2 * m->around; k < r->vertex_count; k++)
    {
        r->x[k].y += 1e-4 * noise(&seed);
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

// One start: the coefficient, or NaN.
static double drape_once(const trial* t, const ring_mesh* m, const char* file, unsigned start, result* out, int* folds)
{
    rig r;
    bool good = drape_open(&r, t, m, file, out) && drape_jitter(&r, m, start) && rig_settle(&r, 10.0 * rim);
    double share = good ? coefficient(m, r.x) : NAN;
    *folds = good ? folds_of(m, r.x) : 0;
    rig_close(&r);
    return share;
}

static void measure_cusick(const trial* t, result* out)
{
    static double first = NAN; // of this run
    static char whose[64];     // what it is of
    const char* folder = getenv("TMPDIR");
    char file[512], name[64];
    snprintf(file, sizeof(file), "%s/weft-cusick-XXXXXX.obj", folder && folder[0] ? folder : "/tmp");
    ring_mesh m = ring_make(t->cells);
    int handle = mkstemps(file, 4);
    bool good = handle >= 0 && close(handle) == 0 && ring_write(&m, strcmp(t->mesh, "irregular") == 0, file);
    double sum = 0.0, folds = 0.0;
    if (!good)
    {
        result_fail(out, "the specimen's mesh could not be written to `%s`", file);
    }
    for (int k = 0; k < STARTS && good; k++)
    {
        int count;
        double share = drape_once(t, &m, file, (unsigned)k, out, &count);
        good = !isnan(share);
        sum += share;
        folds += count;
        good ? result_show(out, k + 1, 100.0 * share) : (void)0;
    }
    handle >= 0 ? (void)unlink(file) : (void)0;
    if (good)
    {
        double mean = 100.0 * sum / STARTS;
        snprintf(name, sizeof(name), "%.30s %.30s", t->material_name, t->method);
        first = strcmp(name, whose) == 0 ? first : mean;
        memcpy(whose, name, sizeof(name));
        result_show(out, STARTS + 1, folds / STARTS);
        result_add_scaled(out, 0.0, mean, first, 100.0);
    }
}

const experiment experiment_cusick = {
    .name = "cusick",
    .summary = "Cusick's drape coefficient, mean of ten starts; points: each start, then the mean number of folds",
    .closed_form = "none: deviations, in points, are from the first resolution and mesh of the run",
    .x_title = "start (0: mean, 11: number of folds)",
    .y_title = "drape coefficient, %",
    .bound = 0.03,
    .cells = {6, 9, 12},
    .grid_only = true,
    .is_long = true,
    .measure = measure_cusick,
};
