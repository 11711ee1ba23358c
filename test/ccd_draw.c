// Random numbers by counter, and four points that touch. An expression draws once at most: compilers choose the order
// in which arguments are evaluated, and the queries must not depend on it.
#include "ccd_draw.h"

#include <math.h>

// ---- draws

static uint64_t draw_bits(stream* s)
{
    return random_bits(s->key, s->at++);
}

double draw(stream* s, double low, double high)
{
    return low + (high - low) * ((double)(draw_bits(s) >> 11) * 0x1p-53);
}

// In [low, high].
int draw_whole(stream* s, int low, int high)
{
    return low + (int)(draw_bits(s) % (uint64_t)(high - low + 1));
}

int draw_chance(stream* s, int one_in)
{
    return draw_whole(s, 1, one_in) == 1;
}

vec3 draw_vec(stream* s, double size)
{
    double x = draw(s, -size, size), y = draw(s, -size, size);
    return v3(x, y, draw(s, -size, size));
}

vec3 draw_whole_vec(stream* s, int size)
{
    int x = draw_whole(s, -size, size), y = draw_whole(s, -size, size);
    return v3(x, y, draw_whole(s, -size, size));
}

// Any size between two powers of ten, either sign.
double draw_size(stream* s, double low, double high)
{
    double size = pow(10.0, draw(s, low, high));
    return draw_chance(s, 2) ? size : -size;
}

double* case_coordinate(vec3* p, int axis)
{
    return axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z;
}

vec3 case_combine(double a, vec3 u, double b, vec3 v)
{
    return v3_add(v3_scale(a, u), v3_scale(b, v));
}

// ---- four points that touch

// Quarters that add up to 1, of the kind asked for.
static void draw_weights(stream* s, place where, double w[3])
{
    static const double table[4][2][3] = {
        {{1, 1, 2}, {1, 2, 1}}, {{1, 3, 0}, {2, 2, 0}}, {{4, 0, 0}, {4, 0, 0}}, {{-1, 2, 3}, {5, 0, -1}}};
    int row = draw_whole(s, 0, 1), turn = draw_whole(s, 0, 2);
    for (int i = 0; i < 3; i++)
    {
        w[i] = 0.25 * table[where][row][(i + turn) % 3];
    }
}

static double draw_fraction(stream* s, place where)
{
    double inside = 0.25 * draw_whole(s, 1, 3);
    double end = draw_whole(s, 0, 1);
    return where == INSIDE ? inside : where == OUTSIDE ? 1.5 * end - 0.25 : end;
}

// Moves the first primitive so that the place on it meets the other; `at` holds the shapes. Exact when coordinates are
// multiples of 4.
void case_bring_together(stream* s, weft_pair_kind kind, place where, vec3 at[4])
{
    where = where == ANYWHERE ? (place)draw_whole(s, INSIDE, OUTSIDE) : where;
    if (kind == WEFT_VERTEX_FACE)
    {
        double w[3];
        draw_weights(s, where, w);
        at[0] = v3_add(case_combine(w[0], at[1], w[1], at[2]), v3_scale(w[2], at[3]));
        return;
    }
    double a = draw_fraction(s, where), b = draw_fraction(s, where == ON_BORDER ? INSIDE : where);
    vec3 on_first = case_combine(1.0 - a, at[0], a, at[1]), on_second = case_combine(1.0 - b, at[2], b, at[3]);
    vec3 shift = v3_sub(on_second, on_first);
    at[0] = v3_add(at[0], shift);
    at[1] = v3_add(at[1], shift);
}

// Straight motion with `at` at time j / 8 and velocity 8 v a point.
void case_pass_through(ccd_case* c, const vec3 at[4], const vec3 v[4], int j)
{
    for (int i = 0; i < 4; i++)
    {
        c->start[i] = v3_add(at[i], v3_scale(-j, v[i]));
        c->end[i] = v3_add(at[i], v3_scale(8 - j, v[i]));
    }
}

void draw_whole_contact(stream* s, ccd_case* c, place where, int j)
{
    vec3 at[4], v[4];
    int size = draw_whole(s, 1, 5), speed = draw_whole(s, 0, 4);
    for (int i = 0; i < 4; i++)
    {
        at[i] = v3_scale(4.0, draw_whole_vec(s, size));
        v[i] = draw_whole_vec(s, speed);
    }
    case_bring_together(s, c->kind, where, at);
    case_pass_through(c, at, v, j);
}

// The same in rounded numbers, at any time.
void draw_rounded_contact(stream* s, ccd_case* c, place where, double size)
{
    vec3 at[4];
    double t = draw(s, 0.0, 1.0), speed = size * draw(s, 0.0, 2.0);
    for (int i = 0; i < 4; i++)
    {
        at[i] = draw_vec(s, size);
    }
    case_bring_together(s, c->kind, where, at);
    for (int i = 0; i < 4; i++)
    {
        vec3 v = draw_vec(s, speed);
        c->start[i] = v3_add(at[i], v3_scale(-t, v));
        c->end[i] = v3_add(at[i], v3_scale(1.0 - t, v));
    }
}

// Moves some coordinates to a neighbouring double.
void case_nudge(stream* s, ccd_case* c)
{
    for (int count = draw_whole(s, 1, 3); count > 0; count--)
    {
        vec3* points = draw_chance(s, 2) ? c->start : c->end;
        int point = draw_whole(s, 0, 3), axis = draw_whole(s, 0, 2);
        double* x = case_coordinate(&points[point], axis);
        *x = *x == 0.0 ? draw_size(s, -30, -10) : nextafter(*x, draw_chance(s, 2) ? INFINITY : -INFINITY);
    }
}
