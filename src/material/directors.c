// Bending `exact`: constant curvature in each triangle, of three angles against directors that stand on its edges.
//
// The normal of the surface at the middle of an edge, its director, may turn about the edge: it divides the fold theta
// of the edge into theta/2 + d for the triangle on its left and theta/2 - d for the one on its right. From the three
// angles alpha_k of a triangle, with m_k across edge k in its plane and l_k the edge's length, follows its curvature,
//
//     kappa = 1/A sum over k of alpha_k l_k m_k m_k^T,     E = B A / 2 |kappa|^2,
//
// the element of Morley (1968) for plates, in the angles of Grinspun et al. (2006). With d = 0 it is their midpoint
// form, too stiff on irregular meshes by a share that refinement does not take away. Directors that minimise E make it
// converge on every mesh. At the border a director is free, and a triangle stands for its own area alone.
//
// E is quadratic in folds and directors, with matrices Q of the rest shape: with phi = 2 alpha = theta + s D (s = 1
// left, -1 right, D = 2 d) and Q_jk = B/(4 A) l_j l_k (m_j . m_k)^2 the directors solve
//
//     sum over both triangles of s Q (theta + s D) = 0,
//
// one scalar an edge, sparse, definite, and as well conditioned as the triangles' shapes (right ones: 6). It is solved
// anew for each set of positions, by conjugate gradients from zero, whose sums have one order, so that D depends on
// nothing else: neither on threads nor on what was before. An edge meets four others in its two triangles, so the
// matrix is five numbers an edge, scaled to a unit diagonal: summed from the triangles' Q each time it took twice as
// long. At the minimum the force is the partial derivative with D held, and the
// Hessian with D held is an upper bound of the true one: kernels are those of `curvature`, which take s D as a shift of
// the rest folds, and an implicit step stays stable. The rate of D has no part in damping.
#include "material/directors.h"

#include <string.h>

#include "material/bending.h"
#include "material/creases.h"

enum
{
    ITERATIONS_MAX = 40,
    GRAIN = 4096, // edges
    OTHERS = 4     // edges that share a triangle with one
};

static const double tolerance =
    1e-5; // of the residual, in the norm of the inverse diagonal: the energy is off by its square

typedef struct director_edge
{
    int element[2]; // left, right
    int slot[2];    // which of the element's edges
    double rest;    // fold at rest
} director_edge;

struct directors
{
    director_edge* edges; // [edge_count]
    int edge_count, edge_capacity;
    int* slots; // [3 * element_count] edge of each slot from 1 on, negative on its right; 0: border
    int slot_capacity;
    double* shift; // [3 * element_count] as element_group.shift
    int shift_capacity;
    double* values; // [VALUES * edge_count], below
    int value_capacity;
    double* share; // [OTHERS * edge_count] the matrix off its diagonal, which is one
    int* other;    // [OTHERS * edge_count] the edges of these; the edge itself where there is none
    int share_capacity, other_capacity;
    vec3* solved_at; // [vertex_count] positions for which shift holds, where is_solved
    int vertex_count, vertex_capacity;
    bool is_solved;
};

// Scratch and solution, each [edge_count]. Turns and residuals are those of the scaled matrix.
enum
{
    FOLD, // theta - rest
    TURN, // D
    RESIDUAL,
    DIRECTION,
    PRODUCT,
    SCALE, // 1 over the root of the diagonal; set up once
    VALUES
};

static double* values_of(const directors* d, int which)
{
    return d->values + (size_t)which * (size_t)d->edge_count;
}

void directors_finish(directors* d)
{
    if (d)
    {
        mem_free(d->edges);
        mem_free(d->slots);
        mem_free(d->shift);
        mem_free(d->values);
        mem_free(d->share);
        mem_free(d->other);
        mem_free(d->solved_at);
        mem_free(d);
    }
}

// ---- setting up

// Q of a triangle for phi, with the directors of its borders at their minimum: they leave what the others see.
static void stiffness_of(const cloth_shape* shape, int t, double Q[3][3])
{
    const vec2* p = shape->rest + 3 * t;
    const weft_material* m = triangle_material(shape, t);
    rigidity own = bending_rigidity(m);
    bool alike = !material_has_directions(m);
    double scale = 0.25 * own.warp * triangle_sliver_share(shape, t) / triangle_rest_area(p), ex[3], ey[3];
    for (int k = 0; k < 3; k++)
    {
        ex[k] = p[(k + 2) % 3].x - p[(k + 1) % 3].x;
        ey[k] = p[(k + 2) % 3].y - p[(k + 1) % 3].y;
    }
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            // B (m_i . m_j)^2, or by direction D11 mu^2 mu^2 + 4 D66 mu mv mu mv + D22 mv^2 mv^2, with m across the edges
            double dot = ex[i] * ex[j] + ey[i] * ey[j], weight = scale * dot * dot;
            if (!alike)
            {
                weight = ey[i] * ey[i] * ey[j] * ey[j] + 2.0 * own.twist / own.warp * ex[i] * ey[i] * ex[j] * ey[j] +
                         own.weft / own.warp * ex[i] * ex[i] * ex[j] * ex[j];
                weight *= scale;
            }
            Q[i][j] = weight / (hypot(ex[i], ey[i]) * hypot(ex[j], ey[j]));
        }
    }
    for (int b = 0; b < 3; b++)
    {
        double pivot = Q[b][b];
        if (shape->triangle_hinge[3 * t + b] >= 0)
        {
            continue;
        }
        double row[3] = {Q[b][0], Q[b][1], Q[b][2]};
        for (int i = 0; i < 3; i++)
        {
            for (int j = 0; j < 3; j++)
            {
                Q[i][j] = i == b || j == b ? 0.0 : Q[i][j] - (pivot > 0.0 ? row[i] * row[j] / pivot : 0.0);
            }
        }
    }
}

static int slot_of(const cloth_shape* shape, int triangle, int h)
{
    const int* hinges = shape->triangle_hinge + 3 * triangle;
    return hinges[0] == h ? 0 : hinges[1] == h ? 1 : 2;
}

static void element_add(element_group* group, const cloth_shape* shape, int t)
{
    int e = group->count++, bits = 0;
    const int* v = shape->triangle + 3 * t;
    int* vertices = group->vertices + 6 * e;
    double* rest = group->rest + (size_t)CURVATURE_STRIDE * (size_t)e;
    double Q[3][3];
    memcpy(vertices, v, 3 * sizeof(int));
    for (int k = 0; k < 3; k++)
    {
        int at = shape->triangle_hinge[3 * t + k];
        vertices[3 + k] = v[k];
        rest[6 + k] = 0.0;
        if (at >= 0)
        {
            const hinge* h = &shape->hinges[at];
            bits |= 1 << k;
            vertices[3 + k] = h->left == t ? h->vertex[3] : h->vertex[2];
            rest[6 + k] = fold_of_angle(hinge_rest_angle(shape, h));
        }
    }
    stiffness_of(shape, t, Q);
    semidefinite_factor3(Q, rest);
    rest[9] = triangle_material(shape, t)->damping;
    rest[10] = bits;
}

static bool is_bent(const cloth_shape* shape, int t)
{
    const int* h = shape->triangle_hinge + 3 * t;
    return h[0] >= 0 || h[1] >= 0 || h[2] >= 0;
}

static bool reserve(element_group* group, const cloth_shape* shape)
{
    group->directors = group->directors ? group->directors : MEM_NEW(1, directors);
    directors* d = group->directors;
    int elements = group->count + shape->triangle_count, edges = d ? d->edge_count + shape->hinge_count : 0;
    bool room = d && mem_grow((void**)&d->edges, &d->edge_capacity, edges, sizeof(director_edge)) &&
                mem_grow((void**)&d->slots, &d->slot_capacity, 3 * elements, sizeof(int)) &&
                mem_grow((void**)&d->shift, &d->shift_capacity, 3 * elements, sizeof(double)) &&
                mem_grow((void**)&d->values, &d->value_capacity, VALUES * edges, sizeof(double)) &&
                mem_grow((void**)&d->share, &d->share_capacity, OTHERS * edges, sizeof(double)) &&
                mem_grow((void**)&d->other, &d->other_capacity, OTHERS * edges, sizeof(int));
    int vertices = d ? d->vertex_count : 0;
    for (int k = 0; k < 3 * shape->triangle_count && room; k++)
    {
        vertices = int_max(vertices, shape->triangle[k] + 1);
    }
    room = room && mem_grow((void**)&d->solved_at, &d->vertex_capacity, vertices, sizeof(vec3));
    if (room)
    {
        d->vertex_count = vertices;
        group->shift = d->shift;
    }
    return room;
}

// y = Q x of an element: L (L^T x).
static void stiffness_apply(const double* L, const double* x, double* y)
{
    double a = L[0] * x[0] + L[1] * x[1] + L[3] * x[2], b = L[2] * x[1] + L[4] * x[2], c = L[5] * x[2];
    y[0] = L[0] * a;
    y[1] = L[1] * a + L[2] * b;
    y[2] = L[3] * a + L[4] * b + L[5] * c;
}

// The edge of an element's slot, and whether it is on its left (1) or right (-1); -1 at the border.
static int edge_of(const directors* d, int e, int k, double* side)
{
    int slot = d->slots[3 * e + k];
    *side = slot < 0 ? -1.0 : 1.0;
    return (slot < 0 ? -slot : slot) - 1;
}

static void find_diagonal(const element_group* group)
{
    directors* d = group->directors;
    double* scale = values_of(d, SCALE);
    for (int i = 0; i < d->edge_count; i++)
    {
        double sum = 0.0;
        for (int side = 0; side < 2; side++)
        {
            double x[3] = {0.0, 0.0, 0.0}, y[3];
            x[d->edges[i].slot[side]] = 1.0;
            stiffness_apply(group->rest + (size_t)CURVATURE_STRIDE * (size_t)d->edges[i].element[side], x, y);
            sum += y[d->edges[i].slot[side]];
        }
        scale[i] = sum > 0.0 ? 1.0 / sqrt(sum) : 0.0;
    }
}

static void find_matrix(const element_group* group)
{
    directors* d = group->directors;
    find_diagonal(group);
    const double* scale = values_of(d, SCALE);
    for (int i = 0; i < d->edge_count; i++)
    {
        for (int n = 0; n < OTHERS; n++)
        {
            const director_edge* edge = &d->edges[i];
            int e = edge->element[n / 2], k = edge->slot[n / 2];
            double x[3] = {0.0, 0.0, 0.0}, y[3], own, its;
            edge_of(d, e, k, &own);
            int at = (k + 1 + n % 2) % 3, j = edge_of(d, e, at, &its);
            x[at] = 1.0;
            stiffness_apply(group->rest + (size_t)CURVATURE_STRIDE * (size_t)e, x, y);
            d->other[OTHERS * i + n] = j < 0 ? i : j;
            d->share[OTHERS * i + n] = j < 0 ? 0.0 : own * its * y[k] * scale[i] * scale[j];
        }
    }
}

weft_status exact_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_exact, group->count + shape->triangle_count));
    int* place = MEM_NEW(shape->triangle_count, int);
    if (!place || !reserve(group, shape))
    {
        mem_free(place);
        return WEFT_NO_MEMORY;
    }
    directors* d = group->directors;
    weft_status status = WEFT_OK;
    for (int t = 0; t < shape->triangle_count && status == WEFT_OK; t++)
    {
        if (is_bent(shape, t))
        {
            place[t] = group->count;
            memset(d->slots + 3 * group->count, 0, 3 * sizeof(int));
            memset(d->shift + 3 * group->count, 0, 3 * sizeof(double));
            element_add(group, shape, t);
            status = crease_append(group, shape, t, triangle_rest_area(shape->rest + 3 * t));
        }
    }
    status = status == WEFT_OK ? creases_close(group) : status;
    if (status != WEFT_OK)
    {
        mem_free(place);
        return status;
    }
    for (int h = 0; h < shape->hinge_count; h++)
    {
        const hinge* at = &shape->hinges[h];
        director_edge edge = {{place[at->left], place[at->right]},
                              {slot_of(shape, at->left, h), slot_of(shape, at->right, h)},
                              fold_of_angle(hinge_rest_angle(shape, at))};
        d->edges[d->edge_count++] = edge;
        d->slots[3 * edge.element[0] + edge.slot[0]] = d->edge_count;
        d->slots[3 * edge.element[1] + edge.slot[1]] = -d->edge_count;
    }
    find_matrix(group);
    d->is_solved = false;
    mem_free(place);
    return WEFT_OK;
}

void directors_forget(directors* d)
{
    d ? (void)(d->is_solved = false) : (void)0;
}

// ---- where they stand

typedef struct turning
{
    const element_group* group;
    const vec3* x;
    double *fold, *turn, *residual, *direction, *product, *scale; // [edge_count]
    double step;
} turning;

static void folds_find(void* context, int begin, int end)
{
    const turning* c = context;
    const directors* d = c->group->directors;
    for (int i = begin; i < end; i++)
    {
        int k = d->edges[i].slot[0];
        const int* v = c->group->vertices + 6 * d->edges[i].element[0];
        const vec3 at[4] = {c->x[v[(k + 1) % 3]], c->x[v[(k + 2) % 3]], c->x[v[k]], c->x[v[3 + k]]};
        c->fold[i] = fold_of_angle(hinge_angle(at)) - d->edges[i].rest;
    }
}

// What the folds, less what elements keep of them, draw an edge's director by.
static double drawn_by_folds(const turning* c, int i)
{
    const directors* d = c->group->directors;
    double sum = 0.0;
    for (int side = 0; side < 2; side++)
    {
        int e = d->edges[i].element[side], k = d->edges[i].slot[side];
        double x[3], y[3], turned;
        for (int n = 0; n < 3; n++)
        {
            int j = edge_of(d, e, n, &turned);
            x[n] = j < 0 ? 0.0 : c->fold[j] - crease_shift(c->group, e, n);
        }
        stiffness_apply(c->group->rest + (size_t)CURVATURE_STRIDE * (size_t)e, x, y);
        sum += side == 0 ? y[k] : -y[k];
    }
    return sum;
}

static double turns_begin(void* context, int begin, int end)
{
    const turning* c = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        c->turn[i] = 0.0;
        c->direction[i] = c->residual[i] = -c->scale[i] * drawn_by_folds(c, i);
        sum += c->residual[i] * c->residual[i];
    }
    return sum;
}

static double turns_multiply(void* context, int begin, int end)
{
    const turning* c = context;
    const directors* d = c->group->directors;
    const double* p = c->direction;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        const double* share = d->share + OTHERS * (size_t)i;
        const int* other = d->other + OTHERS * (size_t)i;
        double q = p[i] + (share[0] * p[other[0]] + share[1] * p[other[1]]) +
                   (share[2] * p[other[2]] + share[3] * p[other[3]]);
        c->product[i] = q;
        sum += p[i] * q;
    }
    return sum;
}

static double turns_move(void* context, int begin, int end)
{
    const turning* c = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        c->turn[i] += c->step * c->direction[i];
        c->residual[i] -= c->step * c->product[i];
        sum += c->residual[i] * c->residual[i];
    }
    return sum;
}

static void turns_direct(void* context, int begin, int end)
{
    const turning* c = context;
    for (int i = begin; i < end; i++)
    {
        c->direction[i] = c->residual[i] + c->step * c->direction[i];
    }
}

// Conjugate gradients from zero; the same bits on any number of threads.
static void turns_solve(turning* c, workers* pool)
{
    int n = c->group->directors->edge_count;
    double rho = parallel_sum(pool, n, GRAIN, turns_begin, c), target = tolerance * tolerance * rho;
    for (int k = 0; k < ITERATIONS_MAX && rho > target; k++)
    {
        double curvature = parallel_sum(pool, n, GRAIN, turns_multiply, c);
        if (!(curvature > 0.0))
        {
            return;
        }
        c->step = rho / curvature;
        double next = parallel_sum(pool, n, GRAIN, turns_move, c);
        c->step = next / rho;
        rho = next;
        parallel_for(pool, n, GRAIN, turns_direct, c);
    }
}

static void turns_hand_out(void* context, int begin, int end)
{
    const turning* c = context;
    directors* d = c->group->directors;
    for (int k = 3 * begin; k < 3 * end; k++)
    {
        // Kernels subtract rest and shift from the fold.
        double side;
        int i = edge_of(d, k / 3, k % 3, &side);
        d->shift[k] = i < 0 ? 0.0 : -side * c->scale[i] * c->turn[i];
        d->shift[k] += crease_shift(c->group, k / 3, k % 3);
    }
}

void directors_prepare(const element_group* group, const element_motion* motion, workers* pool)
{
    directors* d = group->directors;
    size_t size = (size_t)d->vertex_count * sizeof(vec3);
    if (d->is_solved && memcmp(d->solved_at, motion->x, size) == 0)
    {
        return;
    }
    turning context = {.group = group,
                       .x = motion->x,
                       .fold = values_of(d, FOLD),
                       .turn = values_of(d, TURN),
                       .residual = values_of(d, RESIDUAL),
                       .direction = values_of(d, DIRECTION),
                       .product = values_of(d, PRODUCT),
                       .scale = values_of(d, SCALE)};
    parallel_for(pool, d->edge_count, GRAIN, folds_find, &context);
    turns_solve(&context, pool);
    parallel_for(pool, group->count, GRAIN, turns_hand_out, &context);
    memcpy(d->solved_at, motion->x, size);
    d->is_solved = true;
}
