// A model that a test adds, by this file and a row in toy_tables.c: a damped spring along every edge of triangles,
// every segment of lines and every edge of tetrahedra (as often as it is one),
//
//     E = k/2 (|x1 - x0| - L)^2,   force on vertex 0: (k (|d| - L) + c d|d|/dt) n with d = x1 - x0, n = d / |d|
//
// as an element kind of two vertices with force, energy, blocks and a constraint. No shear but what edges make of it,
// and no bending.
#include <string.h>

#include "material/material.h"

enum
{
    STIFFNESS, // N/m
    LENGTH,    // m
    DAMPING,   // s, times the stiffness
    STRIDE
};

typedef struct spring
{
    const double* rest;
    double length, last_length;
    vec3 n;
    double rate; // m/s
} spring;

static spring spring_of(const element_context* context, int e)
{
    const element_motion* m = context->motion;
    const int* v = context->group->vertices + 2 * e;
    spring s = {.rest = context->group->rest + STRIDE * e};
    vec3 d = v3_sub(m->x[v[1]], m->x[v[0]]);
    s.length = v3_length(d);
    s.n = v3_scale(1.0 / s.length, d);
    s.rate = v3_dot(s.n, v3_sub(m->v[v[1]], m->v[v[0]]));
    s.last_length = m->x_last ? v3_length(v3_sub(m->x_last[v[1]], m->x_last[v[0]])) : s.length;
    return s;
}

static double tension(const spring* s, double rate)
{
    return s->rest[STIFFNESS] * (s->length - s->rest[LENGTH] + s->rest[DAMPING] * rate);
}

static void put_pair(double (*out)[3][BATCH], int lane, double pull, vec3 n)
{
    const double f[3] = {pull * n.x, pull * n.y, pull * n.z};
    for (int r = 0; r < 3; r++)
    {
        out[0][r][lane] = f[r];
        out[1][r][lane] = -f[r];
    }
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    for (int lane = 0; lane < BATCH; lane++)
    {
        spring s = spring_of(context, elements[lane]);
        put_pair(out, lane, tension(&s, s.rate), s.n);
    }
}

// K = k (n n^T + max(0, 1 - L / |d|) (I - n n^T)); h f - h^2 K v with velocities, h f alone with a last state.
static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_motion* m = ((const element_context*)context)->motion;
    const int* vertices = ((const element_context*)context)->group->vertices;
    for (int lane = 0; lane < BATCH; lane++)
    {
        spring s = spring_of(context, elements[lane]);
        const int* v = vertices + 2 * elements[lane];
        double k = s.rest[STIFFNESS], across = k * fmax(0.0, 1.0 - s.rest[LENGTH] / s.length);
        double along = m->h * m->h * (k - across) + m->h * k * s.rest[DAMPING];
        double rate = m->x_last ? (s.length - s.last_length) / m->h : s.rate;
        vec3 dv = v3_sub(m->v[v[1]], m->v[v[0]]), stiff = v3(0, 0, 0);
        if (!m->x_last)
        {
            stiff = v3_madd(v3_scale(across, dv), (k - across) * s.rate, s.n);
        }
        put_pair(out->rhs, lane, m->h * tension(&s, rate), s.n);
        const double n[3] = {s.n.x, s.n.y, s.n.z}, Kv[3] = {stiff.x, stiff.y, stiff.z};
        for (int r = 0; r < 3; r++)
        {
            out->rhs[0][r][lane] += m->h * m->h * Kv[r];
            out->rhs[1][r][lane] -= m->h * m->h * Kv[r];
            for (int c = 0; c < 3; c++)
            {
                double value = along * n[r] * n[c] + (r == c ? m->h * m->h * across : 0.0);
                out->block[pair_index(2, 0, 0)][3 * r + c][lane] = value;
                out->block[pair_index(2, 0, 1)][3 * r + c][lane] = -value;
                out->block[pair_index(2, 1, 1)][3 * r + c][lane] = value;
            }
        }
    }
}

static void energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    for (int e = begin; e < end; e++)
    {
        spring s = spring_of(context, e);
        double k = s.rest[STIFFNESS], extension = s.length - s.rest[LENGTH], moved = s.length - s.last_length;
        sums->stretch += 0.5 * k * extension * extension;
        sums->max_stretch = fmax(sums->max_stretch, s.length / s.rest[LENGTH]);
        sums->dissipation +=
            context->motion->x_last ? 0.5 / context->motion->h * s.rest[DAMPING] * k * moved * moved : 0.0;
    }
}

static void constraint(const void* context, const int* elements, constraint_batch* out)
{
    for (int lane = 0; lane < BATCH; lane++)
    {
        spring s = spring_of(context, elements[lane]);
        out->value[lane] = s.length - s.rest[LENGTH];
        out->compliance[lane] = 1.0 / s.rest[STIFFNESS];
        put_pair(out->gradient, lane, -1.0, s.n);
    }
}

static const element_kernels kernels = {evaluate, energy, force, NULL};

static const element_kind kind = {
    .name = "toy-spring",
    .arity = 2,
    .rest_stride = STRIDE,
    .kernels = {&kernels, &kernels, &kernels},
    .constraint = constraint,
};

static const element_kind* const kinds[] = {&kind, NULL};

static void add_spring(element_group* group, const weft_material* material, int a, int b, double length)
{
    int e = group->count++;
    double* rest = group->rest + STRIDE * e;
    group->vertices[2 * e] = a;
    group->vertices[2 * e + 1] = b;
    rest[STIFFNESS] = material->stretch_warp;
    rest[LENGTH] = length;
    rest[DAMPING] = material->damping;
}

// Every edge once: of the triangle on its left, or of the only one.
static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    element_group* group = element_groups_find(groups, &kind);
    TRY(element_group_reserve(
        group, &kind, group->count + 3 * shape->triangle_count + shape->segment_count + 6 * shape->tetrahedron_count));
    for (int side = 0; side < 3 * shape->triangle_count; side++)
    {
        int t = side / 3, a = (side % 3 + 1) % 3, b = (side % 3 + 2) % 3, h = shape->triangle_hinge[side];
        if (h >= 0 && shape->hinges[h].left != t)
        {
            continue;
        }
        vec2 p = shape->rest[3 * t + a], q = shape->rest[3 * t + b];
        add_spring(group, &shape->material, shape->triangle[3 * t + a], shape->triangle[3 * t + b],
                   hypot(q.x - p.x, q.y - p.y));
    }
    for (int s = 0; s < shape->segment_count; s++)
    {
        const int* v = shape->segment + 2 * s;
        add_spring(group, &shape->material, v[0], v[1], shape->segment_rest[s]);
    }
    for (int k = 0; k < 6 * shape->tetrahedron_count; k++)
    {
        static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
        int a = 4 * (k / 6) + ends[k % 6][0], b = 4 * (k / 6) + ends[k % 6][1];
        add_spring(group, &shape->material, shape->tetrahedron[a], shape->tetrahedron[b],
                   v3_length(v3_sub(shape->tetrahedron_rest[b], shape->tetrahedron_rest[a])));
    }
    return WEFT_OK;
}

extern const cloth_model model_toy_springs;
const cloth_model model_toy_springs = {
    .name = "toy-springs",
    .summary = "a spring along every edge",
    .kinds = kinds,
    .forms = MODEL_OF(MESH_SHEET) | MODEL_OF(MESH_LINES) | MODEL_OF(MESH_SOLID),
    .append = append,
};
