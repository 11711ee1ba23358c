// What lies around a feature, and which closest points count.
//
// A vertex that slides along a tessellated plane is near the face below it, and near the borders of the faces beside
// that one, in directions that lean. Such a lean is no contact: a point of the neighbour is nearer. A closest point on
// the border of a face counts only when no face around it comes nearer, that is when the direction to the other feature
// lies in the normal cone of the edge or corner. Likewise two edges: where the surface beside an edge rises
// towards the other one, that surface is what is met. On flat and hollow places edges and corners have no cone, and
// faces say it all.
//
// Edges and corners of obstacles must stand out by themselves to be met by edges and faces of cloth, for else its
// vertices meet the faces of the obstacle. Cloth is not as exact: an edge of cloth that lies over a rim bends a little
// to either side, and what is over the rim must not be lost for it. Edges of cloth may lean.
//
// A border belongs to several faces, which all say the same: the first of them counts.
#include "contact/find.h"

// Sines of the angle by which what is beside a feature may rise towards the other.
static const double level = 1e-4, lean = 0.25, standing_out = -1e-3;

weft_status fan_build(contact* c)
{
    const int* corner = c->collider->corner[FEATURE_FACE];
    int faces = c->collider->tree[FEATURE_FACE].count;
    c->fan_start = MEM_NEW(c->vertex_count + 2, int);
    c->fan = MEM_NEW(3 * (size_t)faces + 1, int);
    if (!c->fan_start || !c->fan)
    {
        return WEFT_NO_MEMORY;
    }
    // Counts, then offsets one place on, so that filling moves each to its start.
    for (int k = 0; k < 3 * faces; k++)
    {
        c->fan_start[corner[k] + 2]++;
    }
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->fan_start[i + 2] += c->fan_start[i + 1];
    }
    for (int k = 0; k < 3 * faces; k++)
    {
        c->fan[c->fan_start[corner[k] + 1]++] = k / 3;
    }
    return WEFT_OK;
}

static const int* face_at(const contact* c, int face)
{
    return c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
}

// The corner of a face that is neither a nor b; -1: it does not hold both.
static int third_corner(const int* face, int a, int b)
{
    int third = -1, held = 0;
    for (int k = 0; k < 3; k++)
    {
        bool own = face[k] == a || face[k] == b;
        held += own;
        third = own ? third : face[k];
    }
    return held == 2 ? third : -1;
}

// Whether a face beside the edge a b rises towards the direction n, a unit vector; and the first face of the edge.
static bool edge_is_met_beside(const contact* c, int a, int b, vec3 n, double sine, int* first)
{
    vec3 along = v3_sub(c->start[b], c->start[a]);
    double length_sq = v3_dot(along, along);
    *first = -1;
    for (int k = c->fan_start[a]; k < c->fan_start[a + 1]; k++)
    {
        int third = third_corner(face_at(c, c->fan[k]), a, b);
        if (third < 0)
        {
            continue;
        }
        *first = *first < 0 ? c->fan[k] : *first;
        vec3 aside = v3_sub(c->start[third], c->start[a]);
        aside = length_sq > 0.0 ? v3_madd(aside, -v3_dot(aside, along) / length_sq, along) : aside;
        if (v3_dot(n, aside) > sine * v3_length(aside))
        {
            return true;
        }
    }
    return false;
}

// Likewise of the corner a: whether an edge from it does.
static bool corner_is_met_beside(const contact* c, int a, vec3 n, double sine)
{
    for (int k = c->fan_start[a]; k < c->fan_start[a + 1]; k++)
    {
        const int* face = face_at(c, c->fan[k]);
        for (int v = 0; v < 3; v++)
        {
            vec3 edge = v3_sub(c->start[face[v]], c->start[a]);
            if (face[v] != a && v3_dot(n, edge) > sine * v3_length(edge))
            {
                return true;
            }
        }
    }
    return false;
}

static bool vertex_face_counts(const contact* c, int face, const int vertex[4], const closest* at)
{
    int border[3], count = 0, first;
    vec3 back = v3_scale(-1.0, at->normal);
    if (vertex[0] >= c->cloth_count && corner_is_met_beside(c, vertex[0], back, standing_out))
    {
        return false;
    }
    for (int k = 1; k < 4; k++)
    {
        if (at->weight[k] != 0.0)
        {
            border[count++] = vertex[k];
        }
    }
    if (count == 3)
    {
        return true;
    }
    if (count == 1)
    {
        first = c->fan[c->fan_start[border[0]]];
        return first == face && !corner_is_met_beside(c, border[0], at->normal, level);
    }
    return !edge_is_met_beside(c, border[0], border[1], at->normal, level, &first) && first == face;
}

static bool edges_count(const contact* c, const int vertex[4], const closest* at)
{
    vec3 back = v3_scale(-1.0, at->normal);
    int first;
    return !edge_is_met_beside(c, vertex[0], vertex[1], back, vertex[0] < c->cloth_count ? lean : standing_out,
                               &first) &&
           !edge_is_met_beside(c, vertex[2], vertex[3], at->normal, vertex[2] < c->cloth_count ? lean : standing_out,
                               &first);
}

bool fan_counts(const contact* c, weft_pair_kind kind, weft_pair pair, const int vertex[4], const closest* at)
{
    return kind == WEFT_VERTEX_FACE ? vertex_face_counts(c, pair.second, vertex, at) : edges_count(c, vertex, at);
}
