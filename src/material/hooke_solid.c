// The model `hooke` for solids: a spring along each edge of tetrahedra.
//
// Springs of stiffness k_e along edges of length l_e and direction n_e have, under a homogeneous strain, the energy
// 1/2 sum k_e l_e^2 (n_e . strain n_e)^2. Where directions are spread evenly and k l^2 of a tetrahedron's six edges
// comes to 6 E V, this is an isotropic solid of Young's modulus E, with the one Poisson's ratio that springs have, 1/4.
// How a tetrahedron shares 6 E V among its edges decides how even it is: k_e = E V / m^2 for all six, with m^2 the mean
// of its squared edge lengths, makes the lattice of cubes of five tetrahedra nearly isotropic (Young's modulus along
// its axes 1.034 E, shear modulus 0.97 of 2/5 E); the usual E V / l_e^2 (Van Gelder 1998) gives 1.2 E and 0.83. On
// unstructured meshes all such rules come within some 5 %. On lattices of drawn-out cells none does: cells of 1.5 : 1.2
// : 1 have 1.8, 0.9 and 0.5 E. (A least-squares fit in each tetrahedron was tried: 1.5, 1.3, 1.15 there, but 1.25 on
// cubes.) An edge has the sum over its tetrahedra. Nothing holds volume by itself: under large loads tetrahedra can
// turn inside out.
#include <stdlib.h>

#include "material/spring.h"

typedef struct solid_edge
{
    int low, high;    // vertices
    int order;        // 6 t + k, so that sums have one order
    double stiffness; // N/m, of one tetrahedron
    double length;    // m
} solid_edge;

static int edge_compare(const void* left, const void* right)
{
    const solid_edge *a = left, *b = right;
    const int x[] = {a->low, a->high, a->order}, y[] = {b->low, b->high, b->order};
    int k = x[0] != y[0] ? 0 : x[1] != y[1] ? 1 : 2;
    return (x[k] > y[k]) - (x[k] < y[k]);
}

static void take_tetrahedron(const cloth_shape* shape, int t, solid_edge* out)
{
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const int* v = shape->tetrahedron + 4 * (size_t)t;
    const vec3* x = shape->tetrahedron_rest + 4 * (size_t)t;
    double squares = 0.0;
    for (int k = 0; k < 6; k++)
    {
        int a = ends[k][0], b = ends[k][1];
        double length = v3_length(v3_sub(x[b], x[a]));
        out[k] = (solid_edge){int_min(v[a], v[b]), int_max(v[a], v[b]), 6 * t + k, 0.0, length};
        squares += length * length;
    }
    double volume = v3_dot(v3_sub(x[1], x[0]), v3_cross(v3_sub(x[2], x[0]), v3_sub(x[3], x[0]))) / 6.0;
    for (int k = 0; k < 6; k++)
    {
        out[k].stiffness = shape->material.stretch_warp * volume / (squares / 6.0);
    }
}

weft_status hooke_append_solid(element_group* group, const cloth_shape* shape)
{
    if (shape->tetrahedron_count > INT32_MAX / 6)
    {
        return WEFT_NO_MEMORY;
    }
    int count = 6 * shape->tetrahedron_count, edges = 0;
    solid_edge* all = MEM_NEW(count, solid_edge);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    for (int t = 0; t < shape->tetrahedron_count; t++)
    {
        take_tetrahedron(shape, t, all + 6 * (size_t)t);
    }
    qsort(all, (size_t)count, sizeof(solid_edge), edge_compare);
    for (int k = 0; k < count; k++)
    {
        bool same = edges > 0 && all[edges - 1].low == all[k].low && all[edges - 1].high == all[k].high;
        if (same)
        {
            all[edges - 1].stiffness += all[k].stiffness;
            continue;
        }
        all[edges++] = all[k];
    }
    weft_status status = element_group_reserve(group, &kind_spring, group->count + edges);
    for (int e = 0; e < edges && status == WEFT_OK; e++)
    {
        spring_add(group, all[e].low, all[e].high, all[e].stiffness, all[e].length, shape->material.damping,
                   SPRING_STRETCH);
    }
    mem_free(all);
    return status;
}
