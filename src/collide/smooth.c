// Where a sheet is smooth it cannot meet itself, and no search need go there.
//
// Let u be the places of a sheet's points in the plane in which it lies at rest, x(u) where they are, linear on each
// triangle with gradient F (3 x 2). Let D be a convex part of the plane that the sheet covers once, and R a 3 x 2
// matrix with orthonormal columns. For a, b in D the segment between them crosses triangles, and along it
//
//     (x(a) - x(b)) . R (a - b) = integral of (a - b)^T R^T F (a - b) >= l |a - b|^2,
//
// l being the least eigenvalue of the symmetric part of R^T F over these triangles. So |x(a) - x(b)| >= l |a - b|: with
// l > 0 no two points of D meet, which is a sharper form of the normal cones and contours of Volino and
// Magnenat-Thalmann 1994. And when no F moves by more than d (in the Frobenius norm) within a step, then at all times
// of it |x(a) - x(b)| >= (l - d) |a - b|, along the direction that they have at the start as well. Features that do not
// share a vertex are at rest at least as far apart as the smallest altitude of the triangles around: where l - d times
// that is more than contact's reach they are not near. And where l - d >= 0.6 they stay apart by more than 0.55 of
// their distance at rest, which is all that contact wants of neighbours, whatever the thickness (find.c, rest_limit).
//
// D is a rectangle of cells, two edges wide. A cell has the mean of F of all triangles that have a part of it, and how
// far these are off it at most, until the end of the step; across its plane that counts little for those who look from
// a plane that leans little. Each cell sees a window of those around with R of its own
// mean. Groups of features know the cells in which they are at rest; two groups are no pair where all cells of the
// rectangle around both are smooth as seen from the middle of the first.
//
// That lasts while gradients end near where they were led (SMOOTH_LASTS). Where some do not, all are measured on the
// way to their true ends, and it lasts if what was apart for one cell's window still is: then nothing near is asked
// for, only that nothing meets.
//
// smooth_build.c makes the cells.
#include "collide/smooth.h"

#include "collide/broad.h"

enum
{
    FACE_GRAIN = 2048,
    CELL_GRAIN = 256
};

const uint64_t smooth_rows[SMOOTH_WINDOW + 1] = {
    0, 0x1, 0x101, 0x10101, 0x1010101, 0x101010101, 0x10101010101, 0x1010101010101, 0x101010101010101};

extern const smooth_kernels smooth_kernels_base, smooth_kernels_avx2, smooth_kernels_avx512;

static const smooth_kernels* kernels_for(cpu_kind cpu)
{
#ifdef WEFT_X86_KERNELS
    static const smooth_kernels* const table[CPU_KIND_COUNT] = {&smooth_kernels_base, &smooth_kernels_avx2,
                                                                &smooth_kernels_avx512};
    return table[cpu];
#else
    (void)cpu;
    return &smooth_kernels_base;
#endif
}

typedef struct smooth_context
{
    const weft_collider* c;
    smooth_map* map;
    const smooth_kernels* kernels;
    const vec3* end;
    atomic_bool left; // gradients have gone too far from those of the measure
} smooth_context;

static void measure_faces(void* context, int begin, int end)
{
    smooth_context* s = context;
    s->kernels->faces(s->map, s->c->start, s->end, begin, end);
}

static void measure_cells(void* context, int begin, int end)
{
    smooth_context* s = context;
    s->kernels->cells(s->map, begin, end);
}

static void measure_windows(void* context, int begin, int end)
{
    smooth_context* s = context;
    s->kernels->windows(s->map, begin, end);
}

// What is left of distances at rest, at the least, is more than what positions are rounded by.
static bool is_clear(const smooth_map* m, double rounding)
{
    return m->grid_count > 0 && SMOOTH_KEEPS * m->altitude > 2.0 * rounding;
}

// What eigenvalues must be: so that neighbours stay `near` apart, or, where they are not at rest, by more than they
// are asked to; and so that it lasts.
static double least_for(const smooth_map* m, double near)
{
    const double enough = 0.6, more = 1.05;
    return fmin(enough, fmax(SMOOTH_KEEPS + SMOOTH_LASTS, more * near / m->altitude));
}

static void measure(const weft_collider* c, smooth_map* m, const vec3* end)
{
    smooth_context s = {.c = c, .map = m, .kernels = kernels_for(c->cpu), .end = end};
    parallel_for(c->pool, m->face_count, FACE_GRAIN, measure_faces, &s);
    parallel_for(c->pool, m->live_count, CELL_GRAIN, measure_cells, &s);
    parallel_for(c->pool, m->live_count, CELL_GRAIN, measure_windows, &s);
}

void collider_smooth_measure(weft_collider* c, double near, double rounding)
{
    smooth_map* m = &c->smooth;
    m->valid = is_clear(m, rounding);
    m->measured_again = false;
    m->least = m->valid ? (float)least_for(m, near) : 1.0f;
    m->valid ? measure(c, m, c->end) : (void)0;
}

// Whether a face has a part of a cell that is smooth.
static bool counts(const smooth_map* m, const int* corner)
{
    smooth_rect rect = smooth_rect_of(m, corner, 3);
    const smooth_grid* g = &m->grid[rect.grid];
    bool any = false;
    for (int row = rect.low[1]; row <= rect.high[1]; row++)
    {
        for (int column = rect.low[0]; column <= rect.high[0]; column++)
        {
            any = any || m->spread[smooth_cell(g, column, row)] < INFINITY;
        }
    }
    return any;
}

static void compare_faces(void* context, int begin, int end)
{
    smooth_context* s = context;
    const smooth_map* m = s->map;
    for (int f = begin; f < end; f++)
    {
        const int* v = m->corner + 3 * (size_t)f;
        const double* inverse = m->inverse + 4 * (size_t)f;
        vec3 off[3];
        for (int k = 0; k < 3; k++)
        {
            off[k] = v3_sub(s->end[v[k]], s->c->start[v[k]]);
        }
        vec3 a = v3_sub(off[1], off[0]), b = v3_sub(off[2], off[0]);
        vec3 p = v3_madd(v3_scale(inverse[0], a), inverse[2], b), q = v3_madd(v3_scale(inverse[1], a), inverse[3], b);
        double most = (double)m->drift[f] + SMOOTH_LASTS; // that much was taken off, and may be
        if (!(v3_dot(p, p) + v3_dot(q, q) <= most * most) && counts(m, v))
        {
            atomic_store_explicit(&s->left, true, memory_order_relaxed);
            return;
        }
    }
}

// Whether all that was smooth for a window is on the way to these ends, too, so that nothing meets.
static bool holds_again(weft_collider* c, const vec3* end)
{
    smooth_map now = c->smooth;
    now.window = c->smooth.again;
    now.least = (float)SMOOTH_KEEPS;
    measure(c, &now, end);
    c->smooth.measured_again = true;
    bool holds = true;
    for (int k = 0; k < now.live_count; k++)
    {
        int cell = now.live[k];
        holds = holds && (c->smooth.window[cell] & ~now.window[cell]) == 0;
    }
    return holds;
}

bool collider_smooth_holds(weft_collider* c, const vec3* end, double rounding)
{
    smooth_context s = {.c = c, .map = &c->smooth, .end = end};
    if (!c->smooth.valid || !is_clear(&c->smooth, rounding))
    {
        return !c->smooth.valid;
    }
    if (!c->smooth.measured_again)
    {
        parallel_for(c->pool, c->smooth.face_count, FACE_GRAIN, compare_faces, &s);
        return !s.left || holds_again(c, end);
    }
    return holds_again(c, end);
}
