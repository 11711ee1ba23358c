// Stretch from load and extension. One number k, the least squares of f = k e over all points, where that is within 2 %
// of the largest load; else two, soft up to a knee and stiff beyond it:
//
//     f = soft min(e, knee) + stiff max(e - knee, 0)
//
// with the knee of a fine scan that leaves the least squares least. A sheet of KES has one point of the curve, EMT at
// 500 gf/cm, and its linearity LT = 2 WT / (f e). Two straight lines have LT = 1 + a - x with their knee at shares x of
// the extension and a of the load, and of all of these that one is taken whose knee lies across the chord's middle, x +
// a = 1.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

static const double straight = 0.02; // of the largest load: what is nearer to a line is one

enum
{
    POINTS_MAX = 1000,
    KNEES = 400
};

typedef struct load_point
{
    double strain, load;
    int line, count;
} load_point;

static int compare_loads(const void* left, const void* right)
{
    const load_point *a = left, *b = right;
    return a->load < b->load ? -1 : a->load > b->load ? 1 : a->line - b->line;
}

// Points of a direction by load; those of one load are its mean.
static weft_status collect(const fit_sheet* sheet, fit_direction direction, load_point* points, int* count,
                           weft_error* error)
{
    int taken = 0;
    *count = 0;
    for (int k = 0; k < sheet->count; k++)
    {
        const fit_row* row = &sheet->rows[k];
        if (row->quantity == FIT_EXTENSION && (row->direction == direction || row->direction == FIT_BOTH))
        {
            if (taken == POINTS_MAX)
            {
                return fit_fail(error, sheet, row->line, "more than %d points of a load curve", POINTS_MAX);
            }
            points[taken++] = (load_point){row->value, row->load, row->line, 1};
        }
    }
    qsort(points, (size_t)taken, sizeof(load_point), compare_loads);
    for (int k = 0; k < taken; k++)
    {
        load_point* last = *count > 0 ? &points[*count - 1] : NULL;
        if (last && points[k].load <= last->load * (1.0 + 1e-9))
        {
            last->strain = (last->strain * last->count + points[k].strain) / (last->count + 1);
            last->line = points[k].line;
            last->count++;
            continue;
        }
        points[(*count)++] = points[k];
    }
    for (int k = 1; k < *count; k++)
    {
        if (!(points[k].strain > points[k - 1].strain))
        {
            return fit_fail(error, sheet, points[k].line,
                            "the load curve turns back: %.4g %% at %.4g N/m, but %.4g %% at %.4g N/m (line %d); more "
                            "load must give more extension: leave out what was measured after the specimen slipped or "
                            "tore, or while it was let go",
                            100 * points[k].strain, points[k].load, 100 * points[k - 1].strain, points[k - 1].load,
                            points[k - 1].line);
        }
    }
    return WEFT_OK;
}

static double load_of(const fit_stretch* s, double strain)
{
    double soft = s->knee > 0.0 ? fmin(strain, s->knee) : strain;
    return s->soft * soft + s->stiff * (strain - soft);
}

static double square_sum(const fit_stretch* s, const load_point* points, int count, double* largest)
{
    double sum = 0.0;
    *largest = 0.0;
    for (int k = 0; k < count; k++)
    {
        double off = load_of(s, points[k].strain) - points[k].load;
        sum += off * off;
        *largest = fmax(*largest, fabs(off) / points[count - 1].load);
    }
    return sum;
}

static fit_stretch fit_line(const load_point* points, int count)
{
    double fe = 0.0, ee = 0.0;
    for (int k = 0; k < count; k++)
    {
        fe += points[k].load * points[k].strain;
        ee += points[k].strain * points[k].strain;
    }
    fit_stretch s = {.soft = fe / ee, .points = count};
    square_sum(&s, points, count, &s.misfit);
    return s;
}

// Least squares with that knee; false: the curve does not get stiffer there.
static bool fit_knee(const load_point* points, int count, double knee, fit_stretch* out)
{
    double aa = 0.0, ab = 0.0, bb = 0.0, fa = 0.0, fb = 0.0;
    for (int k = 0; k < count; k++)
    {
        double a = fmin(points[k].strain, knee), b = points[k].strain - a, f = points[k].load;
        aa += a * a;
        ab += a * b;
        bb += b * b;
        fa += f * a;
        fb += f * b;
    }
    double det = aa * bb - ab * ab;
    if (!(det > 1e-12 * aa * bb))
    {
        return false;
    }
    *out = (fit_stretch){(fa * bb - fb * ab) / det, knee, (fb * aa - fa * ab) / det, 0.0, count};
    return out->soft > 0.0 && out->stiff > out->soft;
}

static fit_stretch fit_points(const load_point* points, int count)
{
    fit_stretch best = fit_line(points, count), s;
    if (best.misfit <= straight || count < 2)
    {
        return best;
    }
    double least = square_sum(&best, points, count, &best.misfit), low = points[0].strain;
    double high = points[count - 2].strain;
    for (int k = 0; k <= KNEES; k++)
    {
        double largest;
        bool good = fit_knee(points, count, low + (high - low) * k / KNEES, &s);
        double sum = good ? square_sum(&s, points, count, &largest) : INFINITY;
        if (sum < least)
        {
            least = sum;
            best = s;
            best.misfit = largest;
        }
    }
    return best;
}

// The linearity of a direction, from LT or from WT and the one point; 0: it was not measured.
static double linearity_of(const fit_sheet* sheet, fit_direction direction, const load_point* end)
{
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < sheet->count; k++)
    {
        const fit_row* row = &sheet->rows[k];
        if (row->direction == direction || row->direction == FIT_BOTH)
        {
            bool given = row->quantity == FIT_LINEARITY, work = row->quantity == FIT_WORK;
            sum += given ? row->value : work ? 2.0 * row->value / (end->strain * end->load) : 0.0;
            count += given || work;
        }
    }
    return count > 0 ? sum / count : 0.0;
}

weft_status fit_stretch_of(const fit_sheet* sheet, fit_direction direction, fit_stretch* out, weft_error* error)
{
    static load_point points[POINTS_MAX];
    int count;
    *out = (fit_stretch){0};
    weft_status status = collect(sheet, direction, points, &count, error);
    if (status != WEFT_OK || count == 0)
    {
        return status;
    }
    *out = fit_points(points, count);
    double linear = count == 1 ? linearity_of(sheet, direction, &points[0]) : 0.0;
    if (linear > 0.0 && linear < 1.0 - straight)
    {
        double x = 1.0 - 0.5 * linear, k = points[0].load / points[0].strain;
        *out = (fit_stretch){k * (1.0 - x) / x, x * points[0].strain, k * x / (1.0 - x), 0.0, 1};
    }
    return WEFT_OK;
}
