// Rest data of the element kinds from a cloth's triangles, hinges and material.
#include <string.h>

#include "material/bending.h"
#include "material/creases.h"
#include "material/material.h"
#include "material/membrane.h"
#include "math/eigen3.h"

double triangle_rest_area(const vec2* rest)
{
    return 0.5 *
           ((rest[1].x - rest[0].x) * (rest[2].y - rest[0].y) - (rest[2].x - rest[0].x) * (rest[1].y - rest[0].y));
}

// Of the 2 x 2 matrix of rest edges.
void triangle_rest_inverse(const vec2* p, double* out)
{
    double s = 0.5 / triangle_rest_area(p);
    double u1 = p[1].x - p[0].x, v1 = p[1].y - p[0].y, u2 = p[2].x - p[0].x, v2 = p[2].y - p[0].y;
    out[0] = s * v2;
    out[1] = -s * v1;
    out[2] = -s * u2;
    out[3] = s * u1;
}

// The share of its stiffness that a triangle has: 1, but for a sliver among others, which is flatter than a hundredth of
// its longest side and smaller than a hundredth of the mean. Against its apex it is as much stiffer than those around it
// as it is flatter, for an area that adds nothing: contact moves the apex by a part of the thickness, many times the
// height, no step however short follows what bends there, and sheets gained 20 J of 0.04. It is as stiff as one of
// that height, which gives way at most by a hundredth of what is around it.
double triangle_sliver_share(const cloth_shape* shape, int t)
{
    static const double least = 0.01;
    const vec2* p = shape->rest + 3 * t;
    double longest_sq = 0.0, area = triangle_rest_area(p);
    for (int k = 0; k < 3; k++)
    {
        double x = p[(k + 1) % 3].x - p[k].x, y = p[(k + 1) % 3].y - p[k].y;
        longest_sq = fmax(longest_sq, x * x + y * y);
    }
    double flat = 2.0 * area / longest_sq, small = area / shape->typical_area;
    return shape->typical_area > 0.0 ? fmin(1.0, fmax(flat, small) / least) : 1.0;
}

weft_status membrane_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_membrane, group->count + shape->triangle_count));
    for (int t = 0; t < shape->triangle_count; t++)
    {
        int e = group->count++;
        const vec2* p = shape->rest + 3 * t;
        memcpy(group->vertices + 3 * e, shape->triangle + 3 * t, 3 * sizeof(int));
        double area = triangle_sliver_share(shape, t) * triangle_rest_area(p);
        double* rest = group->rest + (size_t)MEMBRANE_STRIDE * (size_t)e;
        const weft_material* m = triangle_material(shape, t);
        triangle_rest_inverse(p, rest);
        rest[4] = area * m->stretch_warp;
        rest[5] = area * m->stretch_weft;
        rest[6] = area * m->shear;
        rest[7] = m->damping;
    }
    return WEFT_OK;
}

weft_status taut_append(element_group* group, const cloth_shape* shape)
{
    for (int t = 0; t < shape->triangle_count; t++)
    {
        const weft_material* m = triangle_material(shape, t);
        if (!(m->knee_warp > 0.0) && !(m->knee_weft > 0.0))
        {
            continue;
        }
        TRY(element_group_reserve(group, &kind_taut, group->count + 1));
        int e = group->count++;
        const vec2* p = shape->rest + 3 * t;
        double area = triangle_sliver_share(shape, t) * triangle_rest_area(p);
        double* rest = group->rest + (size_t)TAUT_STRIDE * (size_t)e;
        memcpy(group->vertices + 3 * e, shape->triangle + 3 * t, 3 * sizeof(int));
        triangle_rest_inverse(p, rest);
        rest[4] = 1.0 + m->knee_warp;
        rest[5] = 1.0 + m->knee_weft;
        rest[6] = m->knee_warp > 0.0 ? area * (m->stiff_warp - m->stretch_warp) : 0.0;
        rest[7] = m->knee_weft > 0.0 ? area * (m->stiff_weft - m->stretch_weft) : 0.0;
        rest[8] = m->damping;
    }
    return WEFT_OK;
}

double hinge_angle(const vec3* x)
{
    vec3 e = v3_sub(x[1], x[0]);
    vec3 n1 = v3_cross(e, v3_sub(x[2], x[0])), n2 = v3_cross(v3_sub(x[3], x[0]), e);
    return atan2(v3_dot(v3_cross(n2, n1), e), v3_dot(n1, n2) * v3_length(e));
}

double hinge_rest_angle(const cloth_shape* shape, const hinge* h)
{
    if (shape->folds && !isnan(shape->folds[h - shape->hinges]))
    {
        return shape->folds[h - shape->hinges];
    }
    if (!shape->rest_position)
    {
        return 0.0;
    }
    vec3 x[4];
    for (int a = 0; a < 4; a++)
    {
        x[a] = shape->rest_position[h->vertex[a]];
    }
    return hinge_angle(x);
}

static int corner_of(const cloth_shape* shape, int triangle, int vertex)
{
    for (int k = 0; k < 3; k++)
    {
        if (shape->triangle[3 * triangle + k] == vertex)
        {
            return k;
        }
    }
    WEFT_ASSERT(!"vertex is not in the triangle");
    return 0;
}

static double rest_edge_length(const cloth_shape* shape, int triangle, int a, int b)
{
    vec2 p = shape->rest[3 * triangle + corner_of(shape, triangle, a)];
    vec2 q = shape->rest[3 * triangle + corner_of(shape, triangle, b)];
    return hypot(q.x - p.x, q.y - p.y);
}

double hinge_rigidity(const cloth_shape* shape, const hinge* h, const weft_material* m)
{
    const vec2* p = shape->rest + 3 * h->left;
    vec2 a = p[corner_of(shape, h->left, h->vertex[0])], b = p[corner_of(shape, h->left, h->vertex[1])];
    double length = hypot(b.x - a.x, b.y - a.y);
    return bending_along(m, (b.y - a.y) / length, (a.x - b.x) / length);
}

weft_status hinge_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_hinge, group->count + shape->hinge_count));
    for (int k = 0; k < shape->hinge_count; k++)
    {
        const hinge* h = &shape->hinges[k];
        int e = group->count++;
        memcpy(group->vertices + 4 * e, h->vertex, 4 * sizeof(int));
        // Across a seam of a uv map the two triangles may disagree on the edge's length: the mean counts.
        double length = 0.5 * (rest_edge_length(shape, h->left, h->vertex[0], h->vertex[1]) +
                               rest_edge_length(shape, h->right, h->vertex[0], h->vertex[1]));
        double area = triangle_rest_area(shape->rest + 3 * h->left) + triangle_rest_area(shape->rest + 3 * h->right);
        double* rest = group->rest + (size_t)HINGE_STRIDE * (size_t)e;
        weft_material m = hinge_material(shape, h);
        rest[0] = 3.0 * hinge_rigidity(shape, h, &m) * length * length / area;
        rest[1] = hinge_rest_angle(shape, h);
        rest[2] = m.damping;
    }
    return WEFT_OK;
}

// ---- curvature

// Where the apex of the triangle across the edge opposite to corner k lies, in the chart of triangle t: at
// foot * (b - a) along the edge a -> b and `height` beyond it.
typedef struct wing
{
    double foot, height;
} wing;

static wing wing_of(const cloth_shape* shape, int triangle, int a, int b)
{
    int ka = corner_of(shape, triangle, a), kb = corner_of(shape, triangle, b);
    const vec2* p = shape->rest + 3 * triangle;
    vec2 apex = p[3 - ka - kb];
    double ex = p[kb].x - p[ka].x, ey = p[kb].y - p[ka].y, rx = apex.x - p[ka].x, ry = apex.y - p[ka].y;
    double length_sq = ex * ex + ey * ey;
    return (wing){(rx * ex + ry * ey) / length_sq, fabs(ex * ry - ey * rx) / sqrt(length_sq)};
}

static int wing_bits(const cloth_shape* shape, int t)
{
    int bits = 0;
    for (int k = 0; k < 3; k++)
    {
        bits |= (shape->triangle_hinge[3 * t + k] >= 0) << k;
    }
    return bits;
}

// Row k of T: the angle at the edge opposite to corner k that heights of the quadratic
// 1/2 (kuu u^2 + 2 kuv u v + kvv v^2) show. An angle is the sum of the slopes of both wings away from the edge.
static void angle_row(const cloth_shape* shape, int t, int k, double* row)
{
    const int* v = shape->triangle + 3 * t;
    const vec2* p = shape->rest + 3 * t;
    const hinge* h = &shape->hinges[shape->triangle_hinge[3 * t + k]];
    int a = v[(k + 1) % 3], b = v[(k + 2) % 3];
    wing sides[2] = {wing_of(shape, t, a, b), wing_of(shape, h->left == t ? h->right : h->left, a, b)};
    vec2 pa = p[(k + 1) % 3], pb = p[(k + 2) % 3];
    double ex = pb.x - pa.x, ey = pb.y - pa.y, length = hypot(ex, ey);
    memset(row, 0, 3 * sizeof(double));
    for (int s = 0; s < 2; s++)
    {
        double out = s == 0 ? -sides[s].height : sides[s].height; // the outer side of a -> b is to its right
        double u = pa.x + sides[s].foot * ex + out * ey / length, w = pa.y + sides[s].foot * ey - out * ex / length;
        double f = sides[s].foot, inv = 1.0 / sides[s].height;
        row[0] += inv * 0.5 * (u * u - (1 - f) * pa.x * pa.x - f * pb.x * pb.x);
        row[1] += inv * (u * w - (1 - f) * pa.x * pa.y - f * pb.x * pb.y);
        row[2] += inv * 0.5 * (w * w - (1 - f) * pa.y * pa.y - f * pb.y * pb.y);
    }
}

// The three curvatures of a triangle, each times the root of its weight in B/2 (kuu^2 + 2 kuv^2 + kvv^2), as linear
// functions R of the three angles.
//
// The first form is exact for quadratics: R = (T W^-1/2)^+. In its singular directions, a curvature that the angles
// show not at all is left out (a missing wing), and one that they show weakly (the six points near a conic) is taken as
// seen ten times weaker than the best at most, so that slivers do not turn stiff.
static void curvature_exact_for_quadratics(double T[3][3], double R[3][3])
{
    static const double inv_root[3] = {1.0, 0.70710678118654752440, 1.0};
    double G[3][3] = {{0}}, V[3][3], B[3][3];
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            B[i][j] = T[i][j] * inv_root[j];
        }
    }
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            G[i][j] = B[i][0] * B[j][0] + B[i][1] * B[j][1] + B[i][2] * B[j][2];
        }
    }
    // R = B^T G^-1
    eigen3(G, V);
    double largest = fmax(G[0][0], fmax(G[1][1], G[2][2]));
    memset(R, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++)
    {
        if (!(G[k][k] > 1e-12 * largest))
        {
            continue;
        }
        double weight = 1.0 / fmax(G[k][k], 0.01 * largest);
        for (int i = 0; i < 3; i++)
        {
            double along = B[0][i] * V[0][k] + B[1][i] * V[1][k] + B[2][i] * V[2][k];
            for (int j = 0; j < 3; j++)
            {
                R[i][j] += weight * along * V[j][k];
            }
        }
    }
}

// The second form gives each triangle half of the angle at each edge, theta l / (2 area) m m^T with m normal to the
// edge (Grinspun et al. 2006): its sum over triangles is the exact integral of the curvature, so that a constant moment
// is in equilibrium on any mesh.
static void curvature_in_equilibrium(const cloth_shape* shape, int t, double R[3][3])
{
    const vec2* p = shape->rest + 3 * t;
    double area = triangle_rest_area(p);
    for (int k = 0; k < 3; k++)
    {
        vec2 a = p[(k + 1) % 3], b = p[(k + 2) % 3];
        double ex = b.x - a.x, ey = b.y - a.y, weight = 0.5 / (area * hypot(ex, ey));
        R[0][k] = weight * ey * ey;
        R[1][k] = weight * -ex * ey * 1.41421356237309504880;
        R[2][k] = weight * ex * ex;
    }
}

// On regular grids both forms agree. On irregular ones no local form is exact for quadratics and in equilibrium too.
// Measured on jittered grids: with the first alone a cantilever is 22, 15, 12 % too soft at 40, 80, 160 cells, with the
// second 2, 6, 9 % too stiff and a rolled sheet 14 % too stiff. A third of the second was chosen among 0, 1/4, 1/2,
// 3/4, 1 by these two measurements: the rolled sheet is at most 4.8 % too stiff, the cantilever 14, 8, 6 % too soft,
// and by its trend does not come below some 3 %. So on irregular meshes bending depends on the mesh by a few percent.
static const double equilibrium_share = 1.0 / 3.0;

// Q = area R^T diag(D11, 2 D66, D22) R
static void stiffness_of(const cloth_shape* shape, int t, double T[3][3], double area, double Q[3][3])
{
    rigidity own = bending_rigidity(triangle_material(shape, t));
    const double weight[3] = {area * own.warp, area * own.twist, area * own.weft};
    double R[3][3], E[3][3];
    curvature_exact_for_quadratics(T, R);
    curvature_in_equilibrium(shape, t, E);
    double share = wing_bits(shape, t) == 7 ? equilibrium_share : 0.0;
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            R[i][j] = (1.0 - share) * R[i][j] + share * E[i][j];
        }
    }
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            // All directions alike: the sum first, as sums have always been rounded.
            Q[i][j] = weight[0] == weight[1] && weight[0] == weight[2]
                          ? weight[0] * (R[0][i] * R[0][j] + R[1][i] * R[1][j] + R[2][i] * R[2][j])
                          : weight[0] * R[0][i] * R[0][j] + weight[1] * R[1][i] * R[1][j] + weight[2] * R[2][i] * R[2][j];
        }
    }
}

void semidefinite_factor3(double Q[3][3], double* L)
{
    double tiny = 1e-14 * (Q[0][0] + Q[1][1] + Q[2][2]);
    double l00 = Q[0][0] > tiny ? sqrt(Q[0][0]) : 0.0;
    double l10 = l00 > 0 ? Q[1][0] / l00 : 0.0, l20 = l00 > 0 ? Q[2][0] / l00 : 0.0;
    double d1 = Q[1][1] - l10 * l10, l11 = d1 > tiny ? sqrt(d1) : 0.0;
    double l21 = l11 > 0 ? (Q[2][1] - l20 * l10) / l11 : 0.0;
    double d2 = Q[2][2] - l20 * l20 - l21 * l21;
    L[0] = l00;
    L[1] = l10;
    L[2] = l11;
    L[3] = l20;
    L[4] = l21;
    L[5] = d2 > tiny ? sqrt(d2) : 0.0;
}

static int neighbour_of(const cloth_shape* shape, int t, int k)
{
    int h = shape->triangle_hinge[3 * t + k];
    return h < 0 ? -1 : shape->hinges[h].left == t ? shape->hinges[h].right : shape->hinges[h].left;
}

// A triangle on the boundary sees too few angles for a whole shape operator: its area goes to the complete
// neighbours in equal parts. Only one without such a neighbour stands for itself.
static void curvature_areas(const cloth_shape* shape, double* area)
{
    for (int t = 0; t < shape->triangle_count; t++)
    {
        double own = triangle_rest_area(shape->rest + 3 * t);
        int complete = 0;
        for (int k = 0; k < 3 && wing_bits(shape, t) != 7; k++)
        {
            int n = neighbour_of(shape, t, k);
            complete += n >= 0 && wing_bits(shape, n) == 7;
        }
        if (complete == 0)
        {
            area[t] += own;
            continue;
        }
        for (int k = 0; k < 3; k++)
        {
            int n = neighbour_of(shape, t, k);
            if (n >= 0 && wing_bits(shape, n) == 7)
            {
                area[n] += own / complete;
            }
        }
    }
}

static void curvature_add(element_group* group, const cloth_shape* shape, int t, double area)
{
    int e = group->count++, bits = wing_bits(shape, t), stride = group->kind->rest_stride;
    const weft_material* m = triangle_material(shape, t);
    const int* v = shape->triangle + 3 * t;
    int* vertices = group->vertices + 6 * e;
    double* rest = group->rest + (size_t)stride * (size_t)e;
    double T[3][3] = {{0}}, Q[3][3];
    memcpy(vertices, v, 3 * sizeof(int));
    for (int k = 0; k < 3; k++)
    {
        vertices[3 + k] = v[k];
        if (bits >> k & 1)
        {
            const hinge* h = &shape->hinges[shape->triangle_hinge[3 * t + k]];
            vertices[3 + k] = h->left == t ? h->vertex[3] : h->vertex[2];
            angle_row(shape, t, k, T[k]);
            double angle = hinge_rest_angle(shape, h);
            rest[6 + k] = fold_of_angle(angle);
        }
    }
    stiffness_of(shape, t, T, triangle_sliver_share(shape, t) * area, Q);
    semidefinite_factor3(Q, rest);
    rest[9] = m->damping;
    rest[10] = bits;
    if (stride == BEYOND_STRIDE)
    {
        // Sheets with regions: a part that is linear changes by nothing.
        rest[11] = sqrt(area * m->bending) * m->bending_curvature;
        rest[12] = m->bending_curvature > 0.0 ? m->bending_beyond : 1.0;
    }
}

weft_status curvature_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, group->kind, group->count + shape->triangle_count));
    double* area = MEM_NEW(shape->triangle_count, double);
    if (!area)
    {
        return WEFT_NO_MEMORY;
    }
    weft_status status = WEFT_OK;
    curvature_areas(shape, area);
    for (int t = 0; t < shape->triangle_count && status == WEFT_OK; t++)
    {
        if (area[t] > 0.0 && wing_bits(shape, t) != 0)
        {
            curvature_add(group, shape, t, area[t]);
            status = crease_append(group, shape, t, area[t]);
        }
    }
    mem_free(area);
    return status == WEFT_OK ? creases_close(group) : status;
}

weft_status air_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_air, group->count + shape->triangle_count));
    for (int t = 0; t < shape->triangle_count; t++)
    {
        int e = group->count++;
        memcpy(group->vertices + 3 * e, shape->triangle + 3 * t, 3 * sizeof(int));
        group->rest[e] = triangle_rest_area(shape->rest + 3 * t);
    }
    return WEFT_OK;
}
