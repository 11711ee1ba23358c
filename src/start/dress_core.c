// The core of a body: for each vertex a place in the body's middle, so that all of them together are its limbs, trunk
// and head as lines and narrow sheets. A body that shrinks to it, or grows from it, changes along straight ways.
//
// Offsets along normals turn a surface inside out where it is thinner than they are long. So the way of a vertex is
// half of the body's thickness there: the median of some rays inwards around the normal, as the shape diameter of
// Shapira, Shamir and Cohen-Or 2008. What these places lack in smoothness a diffusion on the surface gives them, with a
// length of diffusion that is the radius:
//
//   (M / (t r^2) + L) c' = M / (t r^2) c
//
// with the masses M (a third of the triangles' areas) and the cotangents L, negative ones left out. Across a limb this
// takes what is left of its width, along it only some radii. Ends of limbs so stay where they are, but for a radius
// or two; the contraction of Au, Tai, Chu, Cohen-Or and Lee 2008 would need constraints for that.
//
// Vertices at one place are one here: files split them along seams of their maps. Serial, so one order of sums.
#include <stdlib.h>
#include <string.h>

#include "collide/triangle_tree.h"
#include "start/dress.h"

enum
{
    RAYS = 7, // one along the normal, the others around it
    ITERATIONS = 400,
    PASSES = 2 // of the diffusion
};

static const double tilt = 0.45;      // rad, of the rays around
static const double thickest = 0.25;  // of the body's size: no ray counts as longer
static const double diffusion = 0.5;  // t
static const double tolerance = 1e-5; // of the residual, relative
static const double cot_least = 1e-3, cot_most = 20.0;

typedef struct core
{
    const int* triangle;
    int triangle_count, vertex_count;
    const vec3* x;
    int* place;                   // [vertex_count] the first vertex at the same place
    int* welded;                  // [3 * triangle_count]
    vec3* normal;                 // [vertex_count] unit, outwards as the faces say
    double* mass;                 // [vertex_count] m^2; 0: no triangle uses it
    double* radius;               // [vertex_count] m, half of the thickness
    double* cot;                  // [3 * triangle_count] of the edge opposite to a corner
    double* inertia;              // [vertex_count] M / (t r^2)
    double* diagonal;             // [vertex_count]
    vec3 *residual, *way, *image; // [vertex_count] of the conjugate gradients
} core;

static bool core_allocate(core* c)
{
    int n = c->vertex_count;
    size_t corners = 3 * (size_t)c->triangle_count;
    c->place = MEM_NEW(n, int);
    c->welded = MEM_NEW(corners, int);
    c->normal = MEM_NEW(n, vec3);
    c->mass = MEM_NEW(n, double);
    c->radius = MEM_NEW(n, double);
    c->cot = MEM_NEW(corners, double);
    c->inertia = MEM_NEW(n, double);
    c->diagonal = MEM_NEW(n, double);
    c->residual = MEM_NEW(n, vec3);
    c->way = MEM_NEW(n, vec3);
    c->image = MEM_NEW(n, vec3);
    return c->place && c->welded && c->normal && c->mass && c->radius && c->cot && c->inertia && c->diagonal &&
           c->residual && c->way && c->image;
}

static void core_finish(core* c)
{
    void* const arrays[] = {c->place,   c->welded,   c->normal,   c->mass, c->radius, c->cot,
                            c->inertia, c->diagonal, c->residual, c->way,  c->image};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

// ---- one vertex a place

typedef struct placed
{
    vec3 x;
    int vertex;
} placed;

static int place_compare(const void* a, const void* b)
{
    const placed *p = a, *q = b;
    double first[] = {p->x.x, p->x.y, p->x.z}, second[] = {q->x.x, q->x.y, q->x.z};
    for (int k = 0; k < 3; k++)
    {
        if (first[k] != second[k])
        {
            return first[k] < second[k] ? -1 : 1;
        }
    }
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

weft_status core_weld(const vec3* x, int count, int* place)
{
    placed* list = MEM_NEW(count, placed);
    if (!list)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < count; i++)
    {
        list[i] = (placed){x[i], i};
    }
    qsort(list, (size_t)count, sizeof(placed), place_compare);
    for (int k = 0, first = 0; k < count; k++)
    {
        bool same = list[k].x.x == list[first].x.x && list[k].x.y == list[first].x.y && list[k].x.z == list[first].x.z;
        first = same ? first : k;
        place[list[k].vertex] = list[first].vertex;
    }
    mem_free(list);
    return WEFT_OK;
}

// ---- measures

static void core_measure(core* c)
{
    for (int t = 0; t < c->triangle_count; t++)
    {
        const int* v = c->welded + 3 * (size_t)t;
        vec3 n = v3_cross(v3_sub(c->x[v[1]], c->x[v[0]]), v3_sub(c->x[v[2]], c->x[v[0]]));
        double area = 0.5 * v3_length(n);
        for (int k = 0; k < 3; k++)
        {
            c->normal[v[k]] = v3_add(c->normal[v[k]], n);
            c->mass[v[k]] += area / 3.0;
            vec3 a = v3_sub(c->x[v[(k + 1) % 3]], c->x[v[k]]), b = v3_sub(c->x[v[(k + 2) % 3]], c->x[v[k]]);
            double cot = area > 0.0 ? v3_dot(a, b) / (2.0 * area) : 0.0;
            c->cot[3 * (size_t)t + (size_t)k] = 0.5 * fmin(fmax(cot, cot_least), cot_most);
        }
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->normal[i] = v3_normalize(c->normal[i]);
    }
}

static int number_compare(const void* a, const void* b)
{
    double first = *(const double*)a, second = *(const double*)b;
    return (first > second) - (first < second);
}

// The way through the body from a vertex, inwards: the median of rays; 0: none leaves it.
static double thickness_at(const core* c, const triangle_tree* tree, int vertex, double size)
{
    vec3 n = c->normal[vertex], side = fabs(n.x) < 0.5 ? v3(1, 0, 0) : v3(0, 1, 0);
    vec3 u = v3_normalize(v3_cross(n, side)), w = v3_cross(n, u), from = v3_madd(c->x[vertex], -1e-5 * size, n);
    double lengths[RAYS];
    int count = 0;
    for (int k = 0; k < RAYS; k++)
    {
        double angle = 2.0 * PI * k / (RAYS - 1), lean = k > 0 ? tilt : 0.0;
        vec3 d = v3_scale(-cos(lean), n);
        d = v3_madd(v3_madd(d, sin(lean) * cos(angle), u), sin(lean) * sin(angle), w);
        double way = triangle_tree_exit(tree, c->x, from, d);
        if (isfinite(way) && way > 0.0)
        {
            lengths[count++] = fmin(way, thickest * size);
        }
    }
    qsort(lengths, (size_t)count, sizeof(double), number_compare);
    return count > 0 ? lengths[count / 2] : 0.0;
}

static double core_size(const core* c)
{
    vec3 low = c->x[0], high = c->x[0];
    for (int i = 1; i < c->vertex_count; i++)
    {
        low = v3(fmin(low.x, c->x[i].x), fmin(low.y, c->x[i].y), fmin(low.z, c->x[i].z));
        high = v3(fmax(high.x, c->x[i].x), fmax(high.y, c->x[i].y), fmax(high.z, c->x[i].z));
    }
    return v3_length(v3_sub(high, low));
}

static weft_status core_radii(core* c)
{
    int* items = MEM_NEW(c->triangle_count, int);
    for (int t = 0; t < c->triangle_count && items; t++)
    {
        items[t] = t;
    }
    triangle_tree tree = {0};
    weft_status status =
        items ? triangle_tree_create(&tree, c->triangle, items, c->triangle_count, c->x) : WEFT_NO_MEMORY;
    mem_free(items);
    double size = core_size(c);
    for (int i = 0; i < c->vertex_count && status == WEFT_OK; i++)
    {
        bool used = c->place[i] == i && c->mass[i] > 0.0;
        c->radius[i] = used ? 0.5 * thickness_at(c, &tree, i, size) : 0.0;
    }
    triangle_tree_finish(&tree);
    return status;
}

// ---- diffusion

// image = (inertia + L) way
static void core_apply(const core* c, const vec3* from, vec3* to)
{
    for (int i = 0; i < c->vertex_count; i++)
    {
        to[i] = v3_scale(c->inertia[i], from[i]);
    }
    for (int k = 0; k < 3 * c->triangle_count; k++)
    {
        const int* v = c->welded + k - k % 3;
        int i = v[(k + 1) % 3], j = v[(k + 2) % 3];
        vec3 flow = v3_scale(c->cot[k], v3_sub(from[i], from[j]));
        to[i] = v3_add(to[i], flow);
        to[j] = v3_sub(to[j], flow);
    }
}

static double core_dot(const core* c, const vec3* a, const vec3* b, const double* inv)
{
    double sum = 0.0;
    for (int i = 0; i < c->vertex_count; i++)
    {
        sum += v3_dot(a[i], b[i]) / (inv ? inv[i] : 1.0);
    }
    return sum;
}

static void core_weigh(core* c, double t)
{
    double least = INFINITY;
    for (int i = 0; i < c->vertex_count; i++)
    {
        least = c->radius[i] > 0.0 ? fmin(least, c->radius[i]) : least;
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        double r = c->radius[i] > 0.0 ? c->radius[i] : isfinite(least) ? least : 1.0;
        c->inertia[i] = c->mass[i] > 0.0 ? c->mass[i] / (t * r * r) : 1.0;
        c->diagonal[i] = c->inertia[i];
    }
    for (int k = 0; k < 3 * c->triangle_count; k++)
    {
        const int* v = c->welded + k - k % 3;
        c->diagonal[v[(k + 1) % 3]] += c->cot[k];
        c->diagonal[v[(k + 2) % 3]] += c->cot[k];
    }
}

// Conjugate gradients with the diagonal, all three coordinates as one vector, from what is there.
static void core_diffuse(core* c, vec3* value)
{
    core_apply(c, value, c->image);
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->residual[i] = v3_sub(v3_scale(c->inertia[i], value[i]), c->image[i]);
        c->way[i] = v3_scale(1.0 / c->diagonal[i], c->residual[i]);
    }
    double now = core_dot(c, c->residual, c->residual, c->diagonal), first = now;
    for (int turn = 0; turn < ITERATIONS && now > tolerance * tolerance * first; turn++)
    {
        core_apply(c, c->way, c->image);
        double step = now / core_dot(c, c->way, c->image, NULL), before = now;
        for (int i = 0; i < c->vertex_count; i++)
        {
            value[i] = v3_madd(value[i], step, c->way[i]);
            c->residual[i] = v3_madd(c->residual[i], -step, c->image[i]);
        }
        now = core_dot(c, c->residual, c->residual, c->diagonal);
        for (int i = 0; i < c->vertex_count; i++)
        {
            c->way[i] = v3_madd(v3_scale(1.0 / c->diagonal[i], c->residual[i]), now / before, c->way[i]);
        }
    }
}

// Radii where rays said nothing come from around, and all of them become as smooth as places are to be.
static void core_smooth_radii(core* c, vec3* scratch)
{
    core_weigh(c, diffusion);
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->inertia[i] = c->radius[i] > 0.0 || c->mass[i] == 0.0 ? c->inertia[i] : 0.0;
        scratch[i] = v3(c->radius[i], 0, 0);
    }
    core_diffuse(c, scratch);
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->radius[i] = c->mass[i] > 0.0 ? fmax(scratch[i].x, 0.0) : 0.0;
    }
}

static weft_status core_run(core* c, vec3* out)
{
    TRY(core_weld(c->x, c->vertex_count, c->place));
    for (int k = 0; k < 3 * c->triangle_count; k++)
    {
        c->welded[k] = c->place[c->triangle[k]];
    }
    core_measure(c);
    TRY(core_radii(c));
    for (int i = 0; i < c->vertex_count; i++)
    {
        out[i] = c->x[i];
    }
    core_smooth_radii(c, out);
    for (int i = 0; i < c->vertex_count; i++)
    {
        out[i] = v3_madd(c->x[i], -c->radius[i], c->normal[i]);
    }
    core_weigh(c, diffusion);
    for (int pass = 0; pass < PASSES; pass++)
    {
        core_diffuse(c, out);
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        out[i] = c->mass[c->place[i]] > 0.0 ? out[c->place[i]] : c->x[i];
    }
    return WEFT_OK;
}

// ---- the whole

weft_status core_find(const int* triangle, int triangle_count, const vec3* x, int vertex_count, vec3* out)
{
    core c = {.triangle = triangle, .triangle_count = triangle_count, .vertex_count = vertex_count, .x = x};
    weft_status status = core_allocate(&c) ? core_run(&c, out) : WEFT_NO_MEMORY;
    core_finish(&c);
    return status;
}
