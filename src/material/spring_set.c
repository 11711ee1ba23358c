// What models of springs share; see spring_set.h.
#include "material/spring_set.h"

#include <string.h>

static const double straight_sine = 0.09; // of an edge against a thread: 5 degrees

edge_way spring_way(const vec2* rest, int side)
{
    vec2 a = rest[(side + 1) % 3], b = rest[(side + 2) % 3];
    double length = hypot(b.x - a.x, b.y - a.y);
    return (edge_way){length, (b.x - a.x) / length, (b.y - a.y) / length};
}

int spring_side(const cloth_shape* shape, int t, int h)
{
    int side = 0;
    while (side < 2 && shape->triangle_hinge[3 * t + side] != h)
    {
        side++;
    }
    return side;
}

edge_way spring_crossing_way(const cloth_shape* shape, int t, int side)
{
    int h = shape->triangle_hinge[3 * t + side];
    int other = shape->hinges[h].left == t ? shape->hinges[h].right : shape->hinges[h].left;
    const vec2 *rest = shape->rest + 3 * t, *beyond = shape->rest + 3 * other;
    int far_side = spring_side(shape, other, h);
    edge_way along = spring_way(rest, side), there = spring_way(beyond, far_side);
    // The far triangle runs along the edge the other way round.
    vec2 a = rest[(side + 1) % 3], c = beyond[(far_side + 2) % 3], tip = beyond[far_side];
    double foot = (c.x - tip.x) * there.p + (c.y - tip.y) * there.q;
    double height = 2.0 * triangle_rest_area(beyond) / there.length;
    double u = a.x + foot * along.p + height * along.q - rest[side].x;
    double v = a.y + foot * along.q - height * along.p - rest[side].y, length = hypot(u, v);
    return (edge_way){length, u / length, v / length};
}

// ---- fits

typedef struct fit
{
    const double (*rows)[FIT_MAX];
    const double* wanted;
    int row_count, count;
} fit;

// Solves the square system of the springs in `use` by least squares (normal equations), with
// the others zero. Returns the squared residual, or infinity where a stiffness is negative.
static double fit_some(const fit* f, int use, double* out)
{
    double N[FIT_MAX][FIT_MAX + 1] = {{0}};
    int index[FIT_MAX + 1], n = 0;
    for (int e = 0; e < f->count; e++)
    {
        out[e] = 0.0;
        index[n] = e;
        n += use >> e & 1;
    }
    for (int a = 0; a < n; a++)
    {
        for (int r = 0; r < f->row_count; r++)
        {
            for (int b = 0; b < n; b++)
            {
                N[a][b] += f->rows[r][index[a]] * f->rows[r][index[b]];
            }
            N[a][n] += f->rows[r][index[a]] * f->wanted[r];
        }
    }
    for (int a = 0; a < n; a++) // Gauss without pivoting: N is definite unless edges have one direction
    {
        for (int b = a + 1; b < n; b++)
        {
            double factor = N[b][a] / N[a][a];
            for (int c = a; c <= n; c++)
            {
                N[b][c] -= factor * N[a][c];
            }
        }
    }
    for (int a = n - 1; a >= 0; a--)
    {
        double sum = N[a][n];
        for (int b = a + 1; b < n; b++)
        {
            sum -= N[a][b] * out[index[b]];
        }
        out[index[a]] = sum / N[a][a];
    }
    double residual = 0.0;
    for (int r = 0; r < f->row_count; r++)
    {
        double rest = f->wanted[r];
        for (int e = 0; e < f->count; e++)
        {
            rest -= f->rows[r][e] * out[e];
        }
        residual += rest * rest;
    }
    bool fits = isfinite(residual);
    for (int e = 0; e < f->count; e++)
    {
        fits = fits && out[e] >= 0.0;
    }
    return fits ? residual : INFINITY;
}

void spring_fit(const double rows[FIT_MAX][FIT_MAX], const double* wanted, int row_count, int count, double* out)
{
    const fit f = {rows, wanted, row_count, count};
    double best = INFINITY;
    memset(out, 0, (size_t)count * sizeof(double));
    for (int use = (1 << count) - 1; use > 0; use--)
    {
        double k[FIT_MAX], residual = fit_some(&f, use, k);
        if (residual < best)
        {
            best = residual;
            memcpy(out, k, (size_t)count * sizeof(double));
        }
    }
}

// ---- threads

static void crossing_take(crossing* c, const vec2* rest, int from, int to, int vertex)
{
    double u = rest[to].x - rest[from].x, v = rest[to].y - rest[from].y, length = hypot(u, v);
    int thread = fabs(v) <= fabs(u) ? 0 : 1;
    double along = thread == 0 ? u : v, across = thread == 0 ? v : u;
    // Beyond the end of a cut there are two: the one that was there first goes on.
    int last = c->next[thread][along < 0.0];
    if (fabs(across) <= straight_sine * length && (last < 0 || vertex <= last))
    {
        c->next[thread][along < 0.0] = vertex;
        c->length[thread][along < 0.0] = length;
    }
}

static void crossings_find(const cloth_shape* shape, crossing* all)
{
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        int t = s / 3;
        crossing* c = &all[shape->triangle[s]];
        const vec2* rest = shape->rest + 3 * t;
        c->area += triangle_rest_area(rest) / 3.0;
        if (shape->materials)
        {
            material_add(&c->material, triangle_rest_area(rest) / 3.0, &shape->materials[t]);
        }
        for (int k = 1; k < 3; k++)
        {
            int to = (s % 3 + k) % 3;
            crossing_take(c, rest, s % 3, to, shape->triangle[3 * t + to]);
            c->border = c->border || shape->triangle_hinge[3 * t + to] < 0; // sides to to's right and left
        }
    }
}

const char* const spring_bendings[2] = {"tips", "threads"};

bool crossings_are_grid(const cloth_shape* shape, const crossing* all)
{
    if (shape->bending) // a part of a sheet, of which the whole has decided
    {
        return strcmp(shape->bending, spring_bendings[1]) == 0;
    }
    int inner = 0;
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        const crossing* c = &all[shape->triangle[s]];
        for (int k = 0; k < 4 && !c->border; k++)
        {
            if (c->next[k / 2][k % 2] < 0)
            {
                return false;
            }
        }
        inner += !c->border;
    }
    return inner > 0;
}

crossing* crossings_create(const cloth_shape* shape, int* count)
{
    *count = 0;
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        *count = int_max(*count, shape->triangle[s] + 1);
    }
    crossing* all = MEM_NEW(*count, crossing);
    if (!all)
    {
        return NULL;
    }
    memset(all, 0, (size_t)*count * sizeof(crossing));
    for (int k = 0; k < *count; k++)
    {
        memset(all[k].next, -1, sizeof(all[k].next));
    }
    crossings_find(shape, all);
    for (int k = 0; k < *count; k++)
    {
        weft_material sum = all[k].material;
        all[k].material = shape->materials ? (weft_material){0} : shape->material;
        shape->materials&& all[k].area > 0.0 ? material_add(&all[k].material, 1.0 / all[k].area, &sum) : (void)0;
    }
    return all;
}
