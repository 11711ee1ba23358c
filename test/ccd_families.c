// Most families build four points that touch (or just do not) in small whole numbers, then move them so that this is
// their state at a time j / 8: every coordinate and every contact is then exact in doubles. Others do the same in
// rounded numbers, where the truth falls to one side by an ulp, or draw coordinates of all sizes. Mirrored and permuted
// axes, relabelled points, powers of two and offsets are laid over all of them.
#include "ccd_families.h"

#include <math.h>

#include "ccd_draw.h"

// ---- families

static void make_random(stream* s, ccd_case* c)
{
    double size = fabs(draw_size(s, -4, 4));
    draw_rounded_contact(s, c, draw_chance(s, 2) ? OUTSIDE : INSIDE, size);
}

static void make_large_motion(stream* s, ccd_case* c)
{
    double size = fabs(draw_size(s, -4, 4));
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = draw_vec(s, size);
        c->end[i] = draw_vec(s, size);
    }
}

// Corners almost on a line, edges almost parallel.
static void make_sliver(stream* s, ccd_case* c)
{
    vec3 at[4], v[4], along = draw_vec(s, 1.0), from = draw_vec(s, 1.0);
    double thin = fabs(draw_size(s, -17, -3));
    for (int i = 0; i < 4; i++)
    {
        vec3 on_line = v3_add(from, v3_scale(draw(s, -1.0, 1.0), along));
        at[i] = v3_add(on_line, draw_vec(s, thin));
        v[i] = draw_vec(s, draw_chance(s, 2) ? 0.1 : thin);
    }
    case_bring_together(s, c->kind, ANYWHERE, at);
    case_pass_through(c, at, v, draw_whole(s, 0, 8));
}

// Edges parallel at all times; a vertex that moves parallel to the face.
static void make_parallel(stream* s, ccd_case* c)
{
    vec3 at[4], v[4], u = draw_whole_vec(s, 4), w = draw_whole_vec(s, 4);
    for (int i = 0; i < 4; i++)
    {
        at[i] = c->kind == WEFT_EDGE_EDGE ? v3_scale(4 * draw_whole(s, -2, 2), u) : v3_scale(4.0, draw_whole_vec(s, 4));
        v[i] = case_combine(draw_whole(s, -2, 2), u, i < 2 ? 1.0 : 0.0, w);
    }
    if (c->kind == WEFT_VERTEX_FACE)
    {
        vec3 a = v3_sub(at[2], at[1]), b = v3_sub(at[3], at[1]);
        int along_a = draw_whole(s, -2, 2), along_b = draw_whole(s, -2, 2);
        v[0] = case_combine(0.25 * along_a, a, 0.25 * along_b, b);
        v[1] = v[2] = v[3] = v3(0, 0, 0);
    }
    case_bring_together(s, c->kind, ANYWHERE, at);
    case_pass_through(c, at, v, draw_whole(s, 0, 8));
    if (draw_chance(s, 4))
    {
        // Beside each other instead of on one line or plane.
        c->start[0].x += 1.0;
        c->end[0].x += 1.0;
    }
}

// All in one plane across an axis, in whole or rounded numbers.
static void make_flat(stream* s, ccd_case* c)
{
    double level = draw_chance(s, 2) ? draw_whole(s, -3, 3) : draw(s, -1.0, 1.0);
    if (draw_chance(s, 2))
    {
        draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 0, 8));
    }
    else
    {
        draw_rounded_contact(s, c, ANYWHERE, 2.0);
    }
    for (int i = 0; i < 4; i++)
    {
        c->start[i].z = c->end[i].z = level;
    }
}

// All in one tilted plane: whole multiples of two whole directions.
static void make_tilted(stream* s, ccd_case* c)
{
    vec3 from = draw_whole_vec(s, 4), u = draw_whole_vec(s, 3), w = draw_whole_vec(s, 3);
    for (int i = 0; i < 4; i++)
    {
        double a = draw_whole(s, -4, 4), b = draw_whole(s, -4, 4);
        c->start[i] = v3_add(from, case_combine(a, u, b, w));
        a = draw_whole(s, -4, 4);
        b = draw_whole(s, -4, 4);
        c->end[i] = v3_add(from, case_combine(a, u, b, w));
    }
}

// Coplanar at all times in a plane that turns about a fixed direction u.
static void make_turning(stream* s, ccd_case* c)
{
    vec3 from = draw_whole_vec(s, 4), to = draw_whole_vec(s, 4), u = draw_whole_vec(s, 3);
    vec3 before = draw_whole_vec(s, 3), after = draw_whole_vec(s, 3);
    for (int i = 0; i < 4; i++)
    {
        double b = draw_whole(s, -4, 4);
        c->start[i] = v3_add(from, case_combine(draw_whole(s, -4, 4), u, b, before));
        c->end[i] = v3_add(to, case_combine(draw_whole(s, -4, 4), u, b, after));
    }
}

// All on one line, which may move, or may turn while the points keep their places on it.
static void make_line(stream* s, ccd_case* c)
{
    vec3 from = draw_whole_vec(s, 4), to = draw_whole_vec(s, 4), u = draw_whole_vec(s, 3);
    int turns = draw_chance(s, 3);
    vec3 after = turns ? draw_whole_vec(s, 3) : u;
    for (int i = 0; i < 4; i++)
    {
        int a = draw_whole(s, -6, 6), b = turns ? a : draw_whole(s, -6, 6);
        c->start[i] = v3_add(from, v3_scale(a, u));
        c->end[i] = v3_add(to, v3_scale(b, after));
    }
}

static void make_still(stream* s, ccd_case* c)
{
    if (draw_chance(s, 2))
    {
        draw_whole_contact(s, c, ANYWHERE, 0);
    }
    else
    {
        draw_rounded_contact(s, c, ANYWHERE, 1.0);
    }
    for (int i = 0; i < 4; i++)
    {
        c->end[i] = c->start[i];
    }
}

static void make_touch_start(stream* s, ccd_case* c)
{
    draw_whole_contact(s, c, ANYWHERE, 0);
}

static void make_touch_end(stream* s, ccd_case* c)
{
    draw_whole_contact(s, c, ANYWHERE, 8);
}

static void make_touch_between(stream* s, ccd_case* c)
{
    draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 1, 7));
}

// A plane z = (t - p) x that turns about the y axis, and a point at x = -m (t - q) with
// z = m ((p + q - 2 r) t + r^2 - p q): its height over the plane is m (t - r)^2, so that it touches at r and turns
// back.
static void make_tangent(stream* s, ccd_case* c)
{
    double p = 0.125 * draw_whole(s, -8, 16), q = 0.125 * draw_whole(s, -8, 16), r = 0.125 * draw_whole(s, 0, 8);
    double m = draw_chance(s, 2) ? 1.0 : -0.5;
    // A face around the origin; an edge along x, which the other crosses along y.
    static const vec3 wide[4] = {{0, -2, 0}, {4, -5, 0}, {-5, -4, 0}, {0, 6, 0}},
                      across[4] = {{0, -2, 0}, {0, 2, 0}, {-4, 0, 0}, {4, 0, 0}};
    vec3 places[4];
    for (int i = 0; i < 4; i++)
    {
        places[i] = c->kind == WEFT_VERTEX_FACE ? v3_add(wide[i], draw_whole_vec(s, 2)) : across[i];
        places[i].x += i >= 2 ? draw_whole(s, -1, 3) : 0;
    }
    int moving = c->kind == WEFT_VERTEX_FACE ? 1 : 2;
    for (int end = 0; end < 2; end++)
    {
        vec3* points = end ? c->end : c->start;
        for (int i = 0; i < 4; i++)
        {
            points[i] = v3(places[i].x, places[i].y, (end - p) * places[i].x);
        }
        for (int i = 0; i < moving; i++)
        {
            points[i] = v3(-m * (end - q), places[i].y, m * ((p + q - 2.0 * r) * end + r * r - p * q));
        }
    }
    if (draw_chance(s, 3))
    {
        case_nudge(s, c);
    }
}

// Points of the two primitives are equal at the start, at the end, or both.
static void make_equal(stream* s, ccd_case* c)
{
    draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 0, 8));
    int first = c->kind == WEFT_VERTEX_FACE ? 0 : draw_whole(s, 0, 1);
    int second = draw_whole(s, c->kind == WEFT_VERTEX_FACE ? 1 : 2, 3), when = draw_whole(s, 0, 3);
    if (when != 1)
    {
        c->start[first] = c->start[second];
    }
    if (when != 0)
    {
        c->end[first] = c->end[second];
    }
    if (when == 3)
    {
        case_nudge(s, c);
    }
}

// Faces that are segments or points, edges that are points, before or after or always.
static void make_shrunk(stream* s, ccd_case* c)
{
    vec3 at[4], v[4];
    int when = draw_whole(s, 0, 2);
    for (int i = 0; i < 4; i++)
    {
        at[i] = v3_scale(4.0, draw_whole_vec(s, 2));
        v[i] = draw_whole_vec(s, 2);
    }
    for (int i = 2; i < 4; i++)
    {
        int same = c->kind == WEFT_VERTEX_FACE ? (draw_chance(s, 2) ? i : 1) : 2;
        at[i] = at[same];
        v[i] = v[same];
    }
    if (draw_chance(s, 3))
    {
        at[1] = at[0];
        v[1] = v[0];
    }
    case_bring_together(s, c->kind, ANYWHERE, at);
    case_pass_through(c, at, v, draw_whole(s, 0, 8));
    if (when > 0)
    {
        vec3* points = when == 1 ? c->start : c->end;
        points[3] = v3_add(points[3], draw_whole_vec(s, 2));
    }
}

// Coordinates of 1e-9 to 1e9 in one query.
static void make_wide(stream* s, ccd_case* c)
{
    int keep = draw_chance(s, 2);
    draw_rounded_contact(s, c, ANYWHERE, 1.0);
    for (int i = 0; i < 4; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            // Where the contact is kept, every axis and some velocities have a size of their own.
            double* x = case_coordinate(&c->start[i], k);
            double* y = case_coordinate(&c->end[i], k);
            *x = keep ? *x * pow(10.0, 6 * k - 6) : draw_size(s, -9, 9);
            *y = keep ? *y * pow(10.0, 6 * k - 6) : draw_chance(s, 2) ? -*x : draw_size(s, -9, 9);
        }
    }
}

static void make_offset(stream* s, ccd_case* c)
{
    double x = draw_size(s, 5, 5), y = draw_size(s, 5, 5), z = draw_size(s, 5, 5);
    vec3 offset = v3(x, y, z);
    if (draw_chance(s, 2))
    {
        draw_rounded_contact(s, c, ANYWHERE, fabs(draw_size(s, -6, 2)));
    }
    else
    {
        draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 0, 8));
    }
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = v3_add(c->start[i], offset);
        c->end[i] = v3_add(c->end[i], offset);
    }
}

// Ends equal to the last bit, or an ulp away, of contacts in rounded numbers.
static void make_ulp(stream* s, ccd_case* c)
{
    vec3 at[4];
    double size = fabs(draw_size(s, -3, 3));
    for (int i = 0; i < 4; i++)
    {
        at[i] = draw_vec(s, size);
    }
    case_bring_together(s, c->kind, draw_chance(s, 4) ? ON_CORNER : ON_BORDER, at);
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = c->end[i] = at[i];
    }
    case_nudge(s, c);
    if (draw_chance(s, 2))
    {
        vec3* points = draw_chance(s, 2) ? c->start : c->end;
        int point = draw_whole(s, 0, 3);
        points[point] = draw_vec(s, size);
    }
}

// The ends of the range: 1e-30 and 1e12, alone and together.
static void make_extreme(stream* s, ccd_case* c)
{
    static const double values[] = {0.0, 1e-30, 1e12, 1.0, 1e-30, 1e12, 2e-30, 5e11, 0x1p-99, 0x1p39};
    int mode = draw_whole(s, 0, 2);
    double scale = mode == 1 ? 0x1p-96 : 0x1p32;
    draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 0, 8));
    for (int i = 0; i < 4; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            double* x = case_coordinate(&c->start[i], k);
            double* y = case_coordinate(&c->end[i], k);
            double a = values[draw_whole(s, 0, 9)], b = values[draw_whole(s, 0, 9)];
            *x = mode == 0 ? (draw_chance(s, 2) ? a : -a) : *x * scale;
            *y = mode == 0 ? (draw_chance(s, 2) ? b : -b) : *y * scale;
        }
    }
}

// A face that is a segment or a point at a time j / 8 alone; edges that shrink to points.
static void make_collapse(stream* s, ccd_case* c)
{
    vec3 at[4], v[4], along = draw_whole_vec(s, 2);
    at[0] = v3_scale(4.0, draw_whole_vec(s, 2));
    int to_point = draw_chance(s, 2);
    for (int i = 0; i < 4; i++)
    {
        at[i] = to_point ? at[0] : v3_add(at[0], v3_scale(4 * draw_whole(s, -2, 2), along));
        v[i] = draw_whole_vec(s, 3);
    }
    if (c->kind == WEFT_EDGE_EDGE && draw_chance(s, 2))
    {
        at[1] = v3_add(at[0], v3_scale(4.0, draw_whole_vec(s, 2)));
    }
    case_bring_together(s, c->kind, ANYWHERE, at);
    case_pass_through(c, at, v, draw_whole(s, 1, 7));
    if (draw_chance(s, 4))
    {
        case_nudge(s, c);
    }
}

// Through ends, corners and edges, exactly or rounded.
static void make_ends(stream* s, ccd_case* c)
{
    place where = draw_chance(s, 2) ? ON_BORDER : ON_CORNER;
    if (draw_chance(s, 2))
    {
        draw_whole_contact(s, c, where, draw_whole(s, 0, 8));
    }
    else
    {
        draw_rounded_contact(s, c, where, 1.0);
    }
}

static void make_whole(stream* s, ccd_case* c)
{
    int size = draw_whole(s, 1, 3);
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = draw_whole_vec(s, size);
        c->end[i] = draw_whole_vec(s, size);
    }
}

static void make_dyadic(stream* s, ccd_case* c)
{
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = v3_scale(0.125, draw_whole_vec(s, 12));
        c->end[i] = v3_add(c->start[i], v3_scale(0.125, draw_whole_vec(s, 12)));
    }
}

// Coplanar but for an ulp.
static void make_nearly_flat(stream* s, ccd_case* c)
{
    void (*const kinds[])(stream*, ccd_case*) = {make_flat, make_tilted, make_turning, make_parallel, make_line};
    kinds[draw_whole(s, 0, 4)](s, c);
    case_nudge(s, c);
}

// Points that change places: several contacts in one step.
static void make_swap(stream* s, ccd_case* c)
{
    int whole = draw_chance(s, 2), turn = draw_whole(s, 1, 3);
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = whole ? draw_whole_vec(s, 3) : draw_vec(s, 1.0);
    }
    for (int i = 0; i < 4; i++)
    {
        c->end[i] = c->start[(i + turn) % 4];
    }
}

// An exact contact far from the origin, with a power of two for each axis.
static void make_stretched(stream* s, ccd_case* c)
{
    vec3 offset = draw_whole_vec(s, 1 << 20);
    int shift[3];
    for (int k = 0; k < 3; k++)
    {
        shift[k] = draw_whole(s, -30, 10);
    }
    draw_whole_contact(s, c, ANYWHERE, draw_whole(s, 0, 8));
    for (int i = 0; i < 4; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            double add = *case_coordinate(&offset, k);
            *case_coordinate(&c->start[i], k) = ldexp(*case_coordinate(&c->start[i], k) + add, shift[k]);
            *case_coordinate(&c->end[i], k) = ldexp(*case_coordinate(&c->end[i], k) + add, shift[k]);
        }
    }
}

// Contacts on borders and at the ends of the step but for a part of 1e-18 to 1e-8: where filters change their minds.
// Some move slowly, some are far from the origin.
static void make_near(stream* s, ccd_case* c)
{
    vec3 at[4], far = v3(0, 0, 0);
    double size = fabs(draw_size(s, -3, 3)), tiny = draw_size(s, -18, -8), speed = size * fabs(draw_size(s, -12, 1));
    const double times[] = {tiny, 1.0 + tiny, draw(s, 0.0, 1.0), 0.5};
    double t = times[draw_whole(s, 0, 3)];
    if (draw_chance(s, 3))
    {
        far = draw_vec(s, size * fabs(draw_size(s, 0, 6)));
    }
    for (int i = 0; i < 4; i++)
    {
        at[i] = v3_add(far, draw_vec(s, size));
    }
    case_bring_together(s, c->kind, (place)draw_whole(s, INSIDE, ON_CORNER), at);
    for (int i = 0; i < 4; i++)
    {
        vec3 v = draw_vec(s, speed), off = draw_vec(s, size * tiny);
        c->start[i] = v3_add(v3_add(at[i], v3_scale(-t, v)), off);
        c->end[i] = v3_add(v3_add(at[i], v3_scale(1.0 - t, v)), off);
    }
}

static const struct
{
    const char* name;
    void (*make)(stream*, ccd_case*);
} families[] = {
    {"random", make_random},
    {"large motion", make_large_motion},
    {"sliver", make_sliver},
    {"parallel", make_parallel},
    {"flat", make_flat},
    {"tilted plane", make_tilted},
    {"turning plane", make_turning},
    {"line", make_line},
    {"still", make_still},
    {"touch at 0", make_touch_start},
    {"touch at 1", make_touch_end},
    {"touch between", make_touch_between},
    {"tangent", make_tangent},
    {"equal points", make_equal},
    {"shrunk", make_shrunk},
    {"1e-9 to 1e9", make_wide},
    {"offset 1e5", make_offset},
    {"ulp", make_ulp},
    {"extreme", make_extreme},
    {"collapse", make_collapse},
    {"through ends", make_ends},
    {"whole", make_whole},
    {"dyadic", make_dyadic},
    {"nearly flat", make_nearly_flat},
    {"swap", make_swap},
    {"stretched", make_stretched},
    {"near", make_near},
};

int ccd_family_count(void)
{
    return (int)(sizeof(families) / sizeof(families[0]));
}

const char* ccd_family_name(int family)
{
    return families[family].name;
}

// ---- what is laid over all families

static void exchange(ccd_case* c, int i, int j)
{
    vec3 at = c->start[i];
    c->start[i] = c->start[j];
    c->start[j] = at;
    at = c->end[i];
    c->end[i] = c->end[j];
    c->end[j] = at;
}

static void relabel(stream* s, ccd_case* c)
{
    if (c->kind == WEFT_VERTEX_FACE)
    {
        exchange(c, 1, draw_whole(s, 1, 3));
        exchange(c, 2, draw_whole(s, 2, 3));
        return;
    }
    if (draw_chance(s, 2))
    {
        exchange(c, 0, 2);
        exchange(c, 1, 3);
    }
    exchange(c, 0, draw_whole(s, 0, 1));
    exchange(c, 2, draw_whole(s, 2, 3));
}

static void turn_axes(stream* s, ccd_case* c)
{
    int turn = draw_whole(s, 0, 2), odd = draw_whole(s, 0, 1), mirror = draw_whole(s, 0, 7);
    for (int i = 0; i < 8; i++)
    {
        vec3* p = i < 4 ? &c->start[i] : &c->end[i - 4];
        double x[3] = {p->x, odd ? p->z : p->y, odd ? p->y : p->z};
        for (int k = 0; k < 3; k++)
        {
            double value = x[(k + turn) % 3];
            *case_coordinate(p, k) = mirror >> k & 1 ? -value : value;
        }
    }
}

// What is too small becomes 0, what is too large the largest.
static void keep_in_range(ccd_case* c)
{
    for (int i = 0; i < 24; i++)
    {
        double* x = case_coordinate(i < 12 ? &c->start[i / 3] : &c->end[i / 3 - 4], i % 3);
        *x = fabs(*x) < 1e-30 ? 0.0 : fmax(-1e12, fmin(1e12, *x));
    }
}

ccd_case ccd_case_make(uint64_t seed, uint64_t index)
{
    uint64_t count = (uint64_t)ccd_family_count();
    ccd_case c = {.family = (int)(index % count), .kind = index / count % 2 ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE};
    stream s = {.key = random_bits(seed, index)};
    families[c.family].make(&s, &c);
    relabel(&s, &c);
    turn_axes(&s, &c);
    keep_in_range(&c);
    return c;
}
