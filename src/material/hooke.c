// The model `hooke`: springs along the edges of triangles for stretch and shear, and springs that span two edges for
// bending (Liu et al. 2013, section 5: structural, shear and bend springs).
//
// *Stretch and shear.* A triangle of area a under the strain (e_u, e_v, g) has in the material a/2 (k_u e_u^2 + k_v
// e_v^2
// + k_s g^2). Springs of stiffness c_e along its edges, of length l_e and direction (p_e, q_e), have
// 1/2 sum c_e l_e^2 (p^2 e_u + q^2 e_v + p q g)^2. Each triangle takes the c_e >= 0 with which the two agree for pure
// e_u, pure e_v and pure g, or come nearest. An edge has the sum of both its triangles: half at borders.
// On a grid the diagonal alone carries shear, k_s = c l^2 / 4 for each e_u, e_v, g and all of their products: a cell
// has
//
//     k_u e_u^2 + k_v e_v^2 + k_s (e_u + e_v + g)^2
//
// with threads of k_u and k_v. A sheet that is pulled along v and free otherwise takes g = -e_v: its diagonals keep
// their length and add nothing, the threads alone carry it. So nothing is taken from the threads for what diagonals
// would add to the stretch of cloth that cannot shear (k_s; a tenth of cotton's): those sheets are stiffer by that.
// On other meshes, whose edges are crooked, what diagonals add is counted: imposed stretch agrees within 0.4 %. A sheet
// that hangs is still longer by 14 to 24 % than the material's, as chains straighten, and no springs along edges mend
// both that and shear: docs/springs.md#hookes-springs.
//
// *Bending.* A spring over two edges of length s that fold by theta is shortened by s theta^2 / 4, so its energy is of
// the fourth order where the material's is of the second: no stiffness agrees with B for every fold. Here they agree
// for a fold of half a radian a vertex: softer below, stiffer above. On grids, told by straight threads through every
// inner vertex, springs follow the threads; elsewhere they join the tips of each pair of triangles.
//
// *Dampers.* Along each spring, always: part of the kind `spring`, which every method knows. Others (`damper`) make
// connections of the springs (connection_kernel.c).
//
// Lines and solids: hooke_lines.c, hooke_solid.c.
#include <string.h>

#include "material/connection.h"
#include "material/spring_set.h"

// ---- stretch and shear of a triangle

static bool is_thread(edge_way w)
{
    return fabs(w.p * w.q) < 0.35; // within 22 degrees of warp or weft
}

// Stiffness of the springs along the sides of one triangle, N/m.
// `grid`: oblique edges are diagonals.
static void fit_triangle(const weft_material* m, const vec2* rest, bool grid, double* out)
{
    double area = triangle_rest_area(rest), rows[FIT_MAX][FIT_MAX];
    const double wanted[3] = {m->stretch_warp * area, m->stretch_weft * area, m->shear * area};
    for (int e = 0; e < 3; e++)
    {
        edge_way w = spring_way(rest, e);
        double l2 = w.length * w.length;
        double counted = grid && !is_thread(w) ? 0.0 : l2;
        rows[0][e] = counted * w.p * w.p * w.p * w.p;
        rows[1][e] = counted * w.q * w.q * w.q * w.q;
        rows[2][e] = l2 * w.p * w.p * w.q * w.q;
    }
    spring_fit(rows, wanted, 3, 3, out);
}

static void add_edges(element_group* group, const cloth_shape* shape, const double* stiffness)
{
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        int t = s / 3, h = shape->triangle_hinge[s];
        if (h >= 0 && shape->hinges[h].left != t)
        {
            continue;
        }
        edge_way way = spring_way(shape->rest + 3 * t, s % 3);
        double k = stiffness[s], length = way.length;
        if (h >= 0)
        {
            int other = shape->hinges[h].right, side = spring_side(shape, other, h);
            k += stiffness[3 * other + side];
            length = 0.5 * (length + spring_way(shape->rest + 3 * other, side).length);
        }
        spring_add(group, shape->triangle[3 * t + (s % 3 + 1) % 3], shape->triangle[3 * t + (s % 3 + 2) % 3], k, length,
                   side_material(shape, t, s % 3).damping, is_thread(way) ? SPRING_STRETCH : SPRING_SHEAR);
    }
}

// ---- bending

static void add_threads(element_group* group, const cloth_shape* shape, crossing* all)
{
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        crossing* c = &all[shape->triangle[s]];
        for (int thread = 0; thread < 2; thread++)
        {
            int* next = c->next[thread];
            double* length = c->length[thread];
            if (next[0] >= 0 && next[1] >= 0)
            {
                double width = c->area / (0.5 * (length[0] + length[1]));
                double own = bending_along(&c->material, thread == 0 ? 1.0 : 0.0, thread == 0 ? 0.0 : 1.0);
                spring_add(group, next[1], next[0],
                           spring_bending(own * width, length[0], length[1], 0.0),
                           length[0] + length[1], c->material.damping, SPRING_BEND);
            }
            next[0] = next[1] = -1; // each vertex once
        }
    }
}

// Between the tips of two triangles, unfolded into a plane.
static void add_tips(element_group* group, const cloth_shape* shape)
{
    for (int h = 0; h < shape->hinge_count; h++)
    {
        const hinge* it = &shape->hinges[h];
        double length = 0.0, height[2], foot[2];
        for (int w = 0; w < 2; w++)
        {
            int t = w == 0 ? it->left : it->right, side = spring_side(shape, t, h);
            const vec2 *rest = shape->rest + 3 * t, *a = &rest[(side + 1) % 3], *tip = &rest[side];
            edge_way way = spring_way(rest, side);
            length += 0.5 * way.length;
            height[w] = 2.0 * triangle_rest_area(rest) / way.length;
            foot[w] = (tip->x - a->x) * way.p + (tip->y - a->y) * way.q; // from the first end of this side
            foot[w] = w == 0 ? foot[w] : way.length - foot[w];           // which is the second end of the other's
        }
        weft_material m = hinge_material(shape, it);
        double apart = hypot(height[0] + height[1], foot[0] - foot[1]);
        spring_add(group, it->vertex[2], it->vertex[3],
                   spring_bending(hinge_rigidity(shape, it, &m) * length, height[0], height[1], 0.0), apart, m.damping, SPRING_BEND);
    }
}

static void add_springs(element_group* group, const cloth_shape* shape, crossing* all, double* stiffness)
{
    bool grid = crossings_are_grid(shape, all);
    for (int t = 0; t < shape->triangle_count; t++)
    {
        fit_triangle(triangle_material(shape, t), shape->rest + 3 * t, grid, stiffness + 3 * t);
    }
    add_edges(group, shape, stiffness);
    if (shape_bends(shape))
    {
        grid ? add_threads(group, shape, all) : add_tips(group, shape);
    }
}

static weft_status append_sheet(element_group* group, const cloth_shape* shape)
{
    int sides = 3 * shape->triangle_count, count;
    TRY(element_group_reserve(group, &kind_spring, group->count + 3 * sides));
    double* stiffness = MEM_NEW(sides, double);
    crossing* all = crossings_create(shape, &count);
    bool ok = stiffness && all;
    ok ? add_springs(group, shape, all, stiffness) : (void)0;
    mem_free(stiffness);
    mem_free(all);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- other dampers

// Of the edges, in the order of add_edges: 1, or 1/2 at borders; 1 of all that follows them.
static double next_share(const cloth_shape* shape, int* side)
{
    int s = *side;
    while (s < 3 * shape->triangle_count && shape->triangle_hinge[s] >= 0 &&
           shape->hinges[shape->triangle_hinge[s]].left != s / 3)
    {
        s++;
    }
    *side = s + 1;
    return s < 3 * shape->triangle_count && shape->triangle_hinge[s] < 0 ? 0.5 : 1.0;
}

// Springs from `first` on become connections that do not go slack: these know all dampers.
static weft_status turn_into_connections(element_group* springs, element_group* group, const cloth_shape* shape,
                                         int first)
{
    TRY(element_group_reserve(group, &kind_connection, group->count + springs->count - first));
    for (int e = first, side = 0; e < springs->count; e++)
    {
        const double* rest = springs->rest + SPRING_STRIDE * (size_t)e;
        connection c = {.a = springs->vertices[2 * e],
                        .b = springs->vertices[2 * e + 1],
                        .stiffness = rest[SPRING_STIFFNESS],
                        .length = rest[SPRING_LENGTH],
                        .role = (spring_role)rest[SPRING_ROLE],
                        .damper = shape->connections.damper};
        c.damping = connection_damping(shape, rest[SPRING_DAMPING], &c, next_share(shape, &side));
        connection_add(group, &c);
    }
    springs->count = first;
    return WEFT_OK;
}

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    const connection_options* o = &shape->connections;
    element_group* group = element_groups_find(groups, &kind_spring);
    int first = group->count;
    TRY(append_sheet(group, shape));
    TRY(shape->segment_count > 0 ? hooke_append_lines(group, shape) : WEFT_OK);
    TRY(shape->tetrahedron_count > 0 ? hooke_append_solid(group, shape) : WEFT_OK);
    bool own = o->damper == DAMPER_TWO_SIDED && o->stretch_damping < 0.0 && o->shear_damping < 0.0;
    return own ? WEFT_OK : turn_into_connections(group, element_groups_find(groups, &kind_connection), shape, first);
}

static const element_kind* const kinds[] = {&kind_spring, &kind_connection, NULL};

extern const cloth_model model_hooke;
const cloth_model model_hooke = {
    .name = "hooke",
    .summary = "springs along edges, and over two edges for bending",
    .kinds = kinds,
    .forms = MODEL_OF(MESH_SHEET) | MODEL_OF(MESH_LINES) | MODEL_OF(MESH_SOLID),
    .connections = true,
    .damper = DAMPER_TWO_SIDED,
    .measures = MEASURE_DIRECTIONS,
    .append = append,
};
