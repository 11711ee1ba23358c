// The model `choi-ko` (Choi and Ko 2002; Boxerman 2003, chapter 3): stretch and shear connections, slack in
// compression, and arcs for bending.
//
// *Connections*, on grids. Every edge of a triangle is one, and so is what crosses the most oblique of its edges, from
// its tip to the tip beyond: the threads and both diagonals (figure 3.4), so that shear of either sign has a connection
// that lengthens. Each triangle of area a takes the stiffnesses c >= 0 with which, or nearest to which,
//
//     strain e_u, e_v:       sum over all of c l^2 p^4, c l^2 q^4 (oblique ones: 0.3 of it) = k_u a, k_v a
//     shear of either sign:  sum over those that lengthen of c l^2 p^2 q^2                  = k_s a
//
// (length l, direction (p, q); the others are slack). On square cells threads have k_u - 0.6 k_s and diagonals 2 k_s.
// An edge has the sum of both its triangles: half at borders.
//
// Why 0.3: where the width of a sheet is held, diagonals add all of theirs to its stretch, 2 k_s; where it is free,
// nothing, since the threads across go slack and let it shrink by as much as it lengthens. A square sheet of
// cotton that hangs from one edge has 0.3 of it, to which the number is fitted (within 1.2 % at 10 to 80 cells); wide
// sheets come out 3 % too stiff, strips 4 % too soft.
//
// *Triangles* that follow no threads have strains in the directions of the material instead (weave_kernel.c).
//
// *Arcs* (arc_kernel.c) span two edges. One that folds by phi a vertex, with lengths a and b, is shortened by
// phi^2 a b / (2 (a + b)) where a circular arc of its length would be by 3/4 (a = b) of that for the same curvature. So
// its rigidity is k = R (a + b) / (3 a b), for R = B times the area that it stands for times its share. On grids arcs
// follow threads and diagonals through each vertex, with the shares that give B for a cylinder about any axis;
// elsewhere they join the tips of each pair of triangles, with share 8/3
// (the inverse of the mean of cos^4) of its area, which is B for directions that are distributed evenly.
//
// The linear start c_b of an arc is a number of the model; else it is what ends it at a fifth of the curvature to which
// weight bends the cloth, (rho g / B)^(1/3) / 5: 11/m for cotton. A constant one would let bending vanish as the mesh
// is refined; a stiffer one holds the width of a hanging sheet, on fine meshes only.
//
// Where the rest shape is not flat, the length of arcs is the distance of their ends at rest.
#include "material/spring_set.h"
#include "material/weave.h"

// The linear start of arcs ends at this share of the curvature to which the cloth's own weight bends it.
static const double start_share = 0.2;
static const double held_share = 0.3; // of diagonals in the stretch of cloth
static const double oblique = 0.35;   // |p q| of what is shear: above 22 degrees from warp and weft

// ---- stretch and shear

// Of the sides of a triangle and of what crosses one of them.
typedef struct triangle_fit
{
    double k[4]; // N/m
    int crossed; // side, -1: none
} triangle_fit;

static int most_oblique(const cloth_shape* shape, int t)
{
    int best = -1;
    double most = 0.0;
    for (int side = 0; side < 3; side++)
    {
        edge_way w = spring_way(shape->rest + 3 * t, side);
        if (shape->triangle_hinge[3 * t + side] >= 0 && fabs(w.p * w.q) > most)
        {
            most = fabs(w.p * w.q);
            best = side;
        }
    }
    return best;
}

// Each condition counts relative to what it wants; one that wants nothing has no row.
static triangle_fit fit_triangle(const cloth_shape* shape, int t)
{
    const weft_material* m = triangle_material(shape, t);
    const double wanted[4] = {m->stretch_warp, m->stretch_weft, m->shear, m->shear};
    double area = triangle_rest_area(shape->rest + 3 * t), rows[FIT_MAX][FIT_MAX] = {{0}};
    double ones[4] = {1.0, 1.0, 1.0, 1.0};
    triangle_fit fit = {.crossed = most_oblique(shape, t)};
    int count = fit.crossed < 0 ? 3 : 4, row_count = 0;
    for (int r = 0; r < 4; r++)
    {
        for (int e = 0; e < count && wanted[r] > 0.0; e++)
        {
            edge_way w = e < 3 ? spring_way(shape->rest + 3 * t, e) : spring_crossing_way(shape, t, fit.crossed);
            double pq = w.p * w.q, of_strain = r == 0 ? w.p * w.p : w.q * w.q;
            double part = r < 2                    ? of_strain * of_strain * (fabs(pq) > oblique ? held_share : 1.0)
                          : (r == 2) == (pq > 0.0) ? pq * pq
                                                   : 0.0;
            rows[row_count][e] = w.length * w.length * part / (area * wanted[r]);
        }
        row_count += wanted[r] > 0.0;
    }
    spring_fit(rows, ones, row_count, count, fit.k);
    return fit;
}

// What a connection is made of. `whole`: 1, or 1/2 at borders.
typedef struct connection_part
{
    double k, damping, whole; // N/m, s
} connection_part;

static void add_connection(element_group* group, const cloth_shape* shape, const int* ends, edge_way way,
                           connection_part part)
{
    connection c = {.a = ends[0],
                    .b = ends[1],
                    .stiffness = part.k,
                    .length = way.length,
                    .role = fabs(way.p * way.q) < oblique ? SPRING_STRETCH : SPRING_SHEAR,
                    .damper = shape->connections.damper,
                    .slack = true};
    c.damping = connection_damping(shape, part.damping, &c, part.whole);
    if (part.k > 0.0 || c.damping > 0.0)
    {
        connection_add(group, &c);
    }
}

static void add_edges(element_group* group, const cloth_shape* shape, const triangle_fit* fits)
{
    for (int s = 0; s < 3 * shape->triangle_count; s++)
    {
        int t = s / 3, h = shape->triangle_hinge[s];
        if (h >= 0 && shape->hinges[h].left != t)
        {
            continue;
        }
        edge_way way = spring_way(shape->rest + 3 * t, s % 3);
        double k = fits[t].k[s % 3];
        if (h >= 0)
        {
            int other = shape->hinges[h].right, side = spring_side(shape, other, h);
            k += fits[other].k[side];
            way.length = 0.5 * (way.length + spring_way(shape->rest + 3 * other, side).length);
        }
        const int ends[2] = {shape->triangle[3 * t + (s % 3 + 1) % 3], shape->triangle[3 * t + (s % 3 + 2) % 3]};
        connection_part part = {k, side_material(shape, t, s % 3).damping, h >= 0 ? 1.0 : 0.5};
        add_connection(group, shape, ends, way, part);
    }
}

static void add_crossings(element_group* group, const cloth_shape* shape, const triangle_fit* fits)
{
    for (int h = 0; h < shape->hinge_count; h++)
    {
        const hinge* it = &shape->hinges[h];
        double k = 0.0, whole = 0.0;
        for (int w = 0; w < 2; w++)
        {
            int t = w == 0 ? it->left : it->right;
            bool crossed = fits[t].crossed == spring_side(shape, t, h);
            k += crossed ? fits[t].k[3] : 0.0;
            whole += crossed ? 0.5 : 0.0;
        }
        if (whole > 0.0)
        {
            edge_way way = spring_crossing_way(shape, it->left, spring_side(shape, it->left, h));
            connection_part part = {k, hinge_material(shape, it).damping, whole};
            add_connection(group, shape, it->vertex + 2, way, part);
        }
    }
}

static weft_status add_connections(element_group* group, const cloth_shape* shape)
{
    TRY(element_group_reserve(group, &kind_connection, group->count + 3 * shape->triangle_count + shape->hinge_count));
    triangle_fit* fits = MEM_NEW(shape->triangle_count, triangle_fit);
    if (!fits)
    {
        return WEFT_NO_MEMORY;
    }
    for (int t = 0; t < shape->triangle_count; t++)
    {
        fits[t] = fit_triangle(shape, t);
    }
    add_edges(group, shape, fits);
    add_crossings(group, shape, fits);
    mem_free(fits);
    return WEFT_OK;
}

// ---- bending

// An arc over lengths a and b that stands for the rigidity times area `share` (N m^3) of the material.
static void add_arc(element_group* group, const cloth_shape* shape, const weft_material* m, const int* ends,
                    const double* parts, double share)
{
    double a = parts[0], b = parts[1], L = a + b, curvature = start_share * cbrt(m->density * 9.81 / m->bending);
    arc it = {.a = ends[0],
              .b = ends[1],
              .rigidity = share * L / (3.0 * a * b),
              .length = L,
              .start = 32.0 * share / (L * L * a * a * b * b * curvature * curvature),
              .damping = m->damping,
              .damper = shape->connections.damper};
    it.start = shape->connections.bend_start >= 0.0 ? shape->connections.bend_start : it.start;
    if (shape->rest_position)
    {
        it.length = v3_length(v3_sub(shape->rest_position[ends[1]], shape->rest_position[ends[0]]));
    }
    if (share > 0.0 && it.length > 1e-3 * L)
    {
        arc_add(group, &it);
    }
}

// The diagonal neighbour, forth or back in warp and weft; -1: none.
static int diagonal_of(const crossing* all, const crossing* c, int u, int v)
{
    int across = c->next[0][u], up = c->next[1][v];
    int found = across >= 0 ? all[across].next[1][v] : -1;
    return found >= 0 ? found : up >= 0 ? all[up].next[0][u] : -1;
}

static void add_cross(element_group* group, const cloth_shape* shape, const crossing* all, const crossing* c)
{
    const double(*l)[2] = c->length;
    // Missing lengths are zero, so that widths and areas are halved at borders.
    double hu = 0.5 * (l[0][0] + l[0][1]), hv = 0.5 * (l[1][0] + l[1][1]), whole = c->material.bending * hu * hv;
    rigidity own = bending_rigidity(&c->material);
    double weft = own.weft / own.warp, twist = own.twist / own.warp; // 1 where all directions are alike
    int diagonal[2][2];
    bool all_there = true;
    for (int k = 0; k < 4; k++)
    {
        diagonal[k / 2][k % 2] = diagonal_of(all, c, k / 2, k % 2);
        all_there = all_there && diagonal[k / 2][k % 2] >= 0 && c->next[k / 2][k % 2] >= 0;
    }
    // Shares of diagonals, and what is left for threads: R_u c^4 + R_v s^4 + R_d ((pc + qs)^4 + (pc - qs)^4) is what a
    // plate has along (c, s), whole (c^4 + 2 twist c^2 s^2 + weft s^4).
    double p2 = hu * hu / (hu * hu + hv * hv), q2 = 1.0 - p2;
    double shared = all_there ? fmin(twist / (6.0 * p2 * q2), fmin(0.5 / (p2 * p2), weft * 0.5 / (q2 * q2))) : 0.0;
    const double left[2] = {1.0 - 2.0 * shared * p2 * p2, weft - 2.0 * shared * q2 * q2};
    for (int thread = 0; thread < 2; thread++)
    {
        if (c->next[thread][0] >= 0 && c->next[thread][1] >= 0)
        {
            add_arc(group, shape, &c->material, c->next[thread], l[thread], whole * left[thread]);
        }
    }
    for (int way = 0; way < 2 && all_there; way++)
    {
        const int ends[2] = {diagonal[0][way], diagonal[1][1 - way]};
        const double parts[2] = {hypot(l[0][0], l[1][way]), hypot(l[0][1], l[1][1 - way])};
        add_arc(group, shape, &c->material, ends, parts, whole * shared);
    }
}

// A triangle's area belongs to its inner edges in equal parts.
static double area_of_hinge(const cloth_shape* shape, int t)
{
    int inner = 0;
    for (int side = 0; side < 3; side++)
    {
        inner += shape->triangle_hinge[3 * t + side] >= 0;
    }
    return triangle_rest_area(shape->rest + 3 * t) / inner;
}

static void add_tips(element_group* group, const cloth_shape* shape)
{
    static const double lopsided = 0.2; // the shorter part's share, at least: slivers must not turn stiff
    for (int h = 0; h < shape->hinge_count; h++)
    {
        const hinge* it = &shape->hinges[h];
        double height[2], area = 0.0;
        for (int w = 0; w < 2; w++)
        {
            int t = w == 0 ? it->left : it->right;
            const vec2* rest = shape->rest + 3 * t;
            height[w] = 2.0 * triangle_rest_area(rest) / spring_way(rest, spring_side(shape, t, h)).length;
            area += area_of_hinge(shape, t);
        }
        double length = spring_crossing_way(shape, it->left, spring_side(shape, it->left, h)).length;
        double part = fmin(fmax(height[0] / (height[0] + height[1]), lopsided), 1.0 - lopsided);
        const double parts[2] = {part * length, (1.0 - part) * length};
        weft_material m = hinge_material(shape, it);
        add_arc(group, shape, &m, it->vertex + 2, parts, 8.0 / 3.0 * hinge_rigidity(shape, it, &m) * area);
    }
}

static weft_status append_grid(element_groups* groups, const cloth_shape* shape, const crossing* all, int count)
{
    element_group* arcs = element_groups_find(groups, &kind_arc);
    TRY(add_connections(element_groups_find(groups, &kind_connection), shape));
    TRY(element_group_reserve(arcs, &kind_arc, arcs->count + 4 * count));
    bool bends = shape_bends(shape);
    for (int i = 0; i < count && bends; i++)
    {
        add_cross(arcs, shape, all, &all[i]);
    }
    return WEFT_OK;
}

static weft_status append_triangles(element_groups* groups, const cloth_shape* shape)
{
    element_group* arcs = element_groups_find(groups, &kind_arc);
    TRY(weave_append(groups, shape));
    TRY(element_group_reserve(arcs, &kind_arc, arcs->count + shape->hinge_count));
    shape_bends(shape) ? add_tips(arcs, shape) : (void)0;
    return WEFT_OK;
}

static weft_status append(element_groups* groups, const cloth_shape* shape)
{
    int count;
    crossing* all = crossings_create(shape, &count);
    if (!all)
    {
        return WEFT_NO_MEMORY;
    }
    weft_status status =
        crossings_are_grid(shape, all) ? append_grid(groups, shape, all, count) : append_triangles(groups, shape);
    mem_free(all);
    return status;
}

static const element_kind* const kinds[] = {&kind_connection, &kind_thread, &kind_skew, &kind_arc, NULL};

extern const cloth_model model_choi_ko;
const cloth_model model_choi_ko = {
    .name = "choi-ko",
    .summary = "connections that go slack for stretch and shear, and arcs over two edges for bending",
    .kinds = kinds,
    .connections = true,
    .damper = DAMPER_PROJECTED,
    .measures = MEASURE_DIRECTIONS | MEASURE_BIAS,
    .append = append,
};
