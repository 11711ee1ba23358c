// The model `corotated`: triangles, folds and tetrahedra whose energies are squared distances from the shapes that cost
// nothing, turned as they are. Methods with a constant matrix can take them (projective dynamics, Bouaziz et al. 2014),
// and so can all others.
//
// A sheet has the material's energy for small strains, k_u e_u^2 + k_v e_v^2 + k_s g^2: the distance from rotations
// stands for shear, and what it adds to stretch is taken from the threads. Where the shear stiffness is more than half
// of a thread's, half of the lesser thread's counts. Bending is that of the hinge model for small angles.
//
// A solid has Young's modulus, and Poisson's ratio is 0.
#include "material/corotated.h"

#include <string.h>

#include "material/criterion.h"

KERNELS_DECLARE(element_kernels, strain_kernels);
KERNELS_DECLARE(element_kernels, fold_kernels);
KERNELS_DECLARE(element_kernels, block_kernels);

// ---- triangles

// The columns w_u and w_v, once against the threads and once against the rotation.
static void strain_rows(const element_group* group, int e, double h, double* weight, double* S)
{
    const double* rest = group->rest + STRAIN_STRIDE * (size_t)e;
    double step = h * h + rest[7] * h;
    for (int r = 0; r < 4; r++)
    {
        const double* b = rest + 2 * (r % 2);
        weight[r] = step * (r < 2 ? rest[4 + r] : rest[6]);
        S[3 * r] = -(b[0] + b[1]);
        S[3 * r + 1] = b[0];
        S[3 * r + 2] = b[1];
    }
}

static const element_projection strain_projection = {4, strain_rows};

const element_kind kind_strain = {
    .name = "strain",
    .arity = 3,
    .rest_stride = STRAIN_STRIDE,
    .kernels = KERNELS_OF(strain_kernels),
    .projection = &strain_projection,
};

static weft_status strain_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_strain, group->count + shape->triangle_count));
    for (int t = 0; t < shape->triangle_count; t++)
    {
        int e = group->count++;
        const vec2* p = shape->rest + 3 * t;
        const weft_material* m = triangle_material(shape, t);
        double all = 2.0 * fmin(m->shear, 0.5 * fmin(m->stretch_warp, m->stretch_weft));
        double area = triangle_rest_area(p), *rest = group->rest + (size_t)STRAIN_STRIDE * (size_t)e;
        memcpy(group->vertices + 3 * e, shape->triangle + 3 * t, 3 * sizeof(int));
        triangle_rest_inverse(p, rest);
        rest[4] = area * (m->stretch_warp - all);
        rest[5] = area * (m->stretch_weft - all);
        rest[6] = area * all;
        rest[7] = m->damping;
    }
    return WEFT_OK;
}

// ---- folds

static void fold_rows(const element_group* group, int e, double h, double* weight, double* S)
{
    const double* rest = group->rest + FOLD_STRIDE * (size_t)e;
    weight[0] = rest[FOLD_STIFFNESS] * (h * h + rest[FOLD_DAMPING] * h);
    memcpy(S, rest + FOLD_ROW, 4 * sizeof(double));
}

static const element_projection fold_projection = {1, fold_rows};

const element_kind kind_fold = {
    .name = "fold",
    .arity = 4,
    .rest_stride = FOLD_STRIDE,
    .kernels = KERNELS_OF(fold_kernels),
    .projection = &fold_projection,
    .explicit_criterion = fold_criterion,
    .role = ROLE_BEND,
};

// Where the tip of triangle t lies over the edge from a to b, both vertices: its foot as a share of the edge, and its
// height.
static void tip_of(const cloth_shape* shape, int t, int a, int b, double* foot, double* height)
{
    const vec2* p = shape->rest + 3 * t;
    int ka = 0, kb = 0;
    for (int k = 0; k < 3; k++)
    {
        ka = shape->triangle[3 * t + k] == a ? k : ka;
        kb = shape->triangle[3 * t + k] == b ? k : kb;
    }
    vec2 tip = p[3 - ka - kb];
    double ex = p[kb].x - p[ka].x, ey = p[kb].y - p[ka].y, rx = tip.x - p[ka].x, ry = tip.y - p[ka].y;
    *foot = (rx * ex + ry * ey) / (ex * ex + ey * ey);
    *height = fabs(ex * ry - ey * rx) / hypot(ex, ey);
}

static weft_status fold_append(element_group* group, const cloth_shape* shape)
{
    element_group hinges = {0};
    weft_status status = hinge_append(&hinges, shape); // for their stiffness and rest angles
    status = status == WEFT_OK ? element_group_reserve(group, &kind_fold, group->count + shape->hinge_count) : status;
    for (int k = 0; k < shape->hinge_count && status == WEFT_OK; k++)
    {
        const hinge* it = &shape->hinges[k];
        const double* from = hinges.rest + (size_t)kind_hinge.rest_stride * (size_t)k;
        int e = group->count++;
        double* rest = group->rest + (size_t)FOLD_STRIDE * (size_t)e;
        memcpy(group->vertices + 4 * e, it->vertex, 4 * sizeof(int));
        for (int side = 0; side < 2; side++)
        {
            double foot, height;
            tip_of(shape, side == 0 ? it->left : it->right, it->vertex[0], it->vertex[1], &foot, &height);
            rest[0] = (side == 0 ? 0.0 : rest[0]) - (1.0 - foot) / height;
            rest[1] = (side == 0 ? 0.0 : rest[1]) - foot / height;
            rest[2 + side] = 1.0 / height;
        }
        rest[FOLD_STIFFNESS] = from[0];
        rest[FOLD_LENGTH] = fabs(2.0 * sin(0.5 * from[1]));
        rest[FOLD_DAMPING] = from[2];
    }
    element_group_finish(&hinges);
    return status;
}

// ---- tetrahedra

static void block_rows(const element_group* group, int e, double h, double* weight, double* S)
{
    const double* rest = group->rest + BLOCK_STRIDE * (size_t)e;
    for (int r = 0; r < 3; r++)
    {
        weight[r] = rest[BLOCK_STIFFNESS] * (h * h + rest[BLOCK_DAMPING] * h);
        S[4 * r] = 0.0;
        for (int a = 1; a < 4; a++)
        {
            S[4 * r + a] = rest[BLOCK_INVERSE + 3 * (a - 1) + r];
            S[4 * r] -= S[4 * r + a];
        }
    }
}

static const element_projection block_projection = {3, block_rows};

const element_kind kind_block = {
    .name = "block",
    .arity = 4,
    .rest_stride = BLOCK_STRIDE,
    .kernels = KERNELS_OF(block_kernels),
    .projection = &block_projection,
};

// Rows are the gradients of the shape functions of vertices 1, 2 and 3.
static weft_status block_append(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_block, group->count + shape->tetrahedron_count));
    for (int t = 0; t < shape->tetrahedron_count; t++)
    {
        int e = group->count++;
        const vec3* x = shape->tetrahedron_rest + 4 * (size_t)t;
        vec3 d[3] = {v3_sub(x[1], x[0]), v3_sub(x[2], x[0]), v3_sub(x[3], x[0])};
        double six = v3_dot(d[0], v3_cross(d[1], d[2])), *rest = group->rest + (size_t)BLOCK_STRIDE * (size_t)e;
        memcpy(group->vertices + 4 * (size_t)e, shape->tetrahedron + 4 * (size_t)t, 4 * sizeof(int));
        for (int k = 0; k < 3; k++)
        {
            vec3 row = v3_scale(1.0 / six, v3_cross(d[(k + 1) % 3], d[(k + 2) % 3]));
            memcpy(rest + BLOCK_INVERSE + 3 * k, &row, sizeof(row));
        }
        rest[BLOCK_STIFFNESS] = shape->material.stretch_warp * six / 6.0;
        rest[BLOCK_DAMPING] = shape->material.damping;
    }
    return WEFT_OK;
}

// ---- the model

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    TRY(strain_append(element_groups_find(groups, &kind_strain), shape));
    if (shape_bends(shape))
    {
        TRY(fold_append(element_groups_find(groups, &kind_fold), shape));
    }
    return block_append(element_groups_find(groups, &kind_block), shape);
}

static const element_kind* const kinds[] = {&kind_strain, &kind_fold, &kind_block, NULL};

extern const cloth_model model_corotated;
const cloth_model model_corotated = {
    .name = "corotated",
    .summary = "distances from turned rest shapes: triangles, folds, tetrahedra",
    .kinds = kinds,
    .forms = MODEL_OF(MESH_SHEET) | MODEL_OF(MESH_SOLID),
    .measures = MEASURE_DIRECTIONS | MEASURE_BIAS,
    .append = append,
};
