// What lies around a feature, and which closest points count.
//
// A vertex that slides along a tessellated plane is near the face below it, and near the borders of the faces beside
// that one, in directions that lean. Such a lean is no contact: a point of the neighbour is nearer. A closest point on
// the border of a face counts only when no face around it comes nearer, that is when the direction to the other feature
// lies in the normal cone of the edge or corner. Likewise two edges: where the surface beside an edge rises
// towards the other one, that surface is what is met. On flat and hollow places edges and corners have no cone, and
// faces say it all.
//
// Edges and corners of obstacles must stand out by themselves to be met by edges and faces of cloth: what lies around
// them falls away from the other feature, in the mean. Else its vertices meet the faces of the obstacle, and there is
// nothing to add. How the cloth leans over them matters little, as it bends and turns on them: what is over a rim or a
// tip must not be lost for that. On cloth, edges may lean by little.
//
// A border belongs to several faces, which all say the same: the first of them counts.
#include "contact/find.h"

// Sines of the angle by which what is beside a feature may rise towards the other; and in the mean, for what stands
// out.
static const double level = 1e-4, lean = 0.25, lean_on_cloth = 0.03, standing_out = -0.01;

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

// What lies beside a feature, seen along the direction n, a unit vector, to the other one.
typedef struct beside
{
    double most; // the largest sine of the angle by which something rises
    double sum;  // of all
    int count;
    int first; // face, -1: none
} beside;

static void beside_add(beside* b, vec3 n, vec3 way)
{
    double length = v3_length(way), sine = length > 0.0 ? v3_dot(n, way) / length : 0.0;
    b->most = fmax(b->most, sine);
    b->sum += sine;
    b->count++;
}

static bool stands_out(const beside* b)
{
    return b->sum < standing_out * b->count && b->most < lean;
}

// The faces at the edge a b.
static beside beside_edge(const contact* c, int a, int b, vec3 n)
{
    beside out = {.most = -1.0, .first = -1};
    vec3 along = v3_sub(c->start[b], c->start[a]);
    double length_sq = v3_dot(along, along);
    for (int k = c->fan->start[a]; k < c->fan->start[a + 1]; k++)
    {
        int third = third_corner(face_at(c, c->fan->feature[k]), a, b);
        if (third < 0)
        {
            continue;
        }
        out.first = out.first < 0 ? c->fan->feature[k] : out.first;
        vec3 aside = v3_sub(c->start[third], c->start[a]);
        beside_add(&out, n, length_sq > 0.0 ? v3_madd(aside, -v3_dot(aside, along) / length_sq, along) : aside);
    }
    return out;
}

// The edges at the corner a, those within a surface twice.
static beside beside_corner(const contact* c, int a, vec3 n)
{
    beside out = {.most = -1.0, .first = c->fan->start[a] < c->fan->start[a + 1] ? c->fan->feature[c->fan->start[a]] : -1};
    for (int k = 3 * c->fan->start[a]; k < 3 * c->fan->start[a + 1]; k++)
    {
        int other = face_at(c, c->fan->feature[k / 3])[k % 3];
        if (other != a)
        {
            beside_add(&out, n, v3_sub(c->start[other], c->start[a]));
        }
    }
    return out;
}

static bool vertex_face_counts(const contact* c, int face, const int vertex[4], const closest* at)
{
    int border[3], count = 0;
    if (vertex[0] >= c->cloth_count)
    {
        beside own = beside_corner(c, vertex[0], v3_scale(-1.0, at->normal));
        if (!stands_out(&own))
        {
            return false;
        }
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
    beside b = count == 1 ? beside_corner(c, border[0], at->normal) : beside_edge(c, border[0], border[1], at->normal);
    return b.first == face && b.most <= level;
}

static bool edge_counts(const contact* c, int a, int b, int other, vec3 n)
{
    beside found = beside_edge(c, a, b, n);
    if (a >= c->cloth_count)
    {
        return stands_out(&found);
    }
    return found.most <= (other >= c->cloth_count ? lean : lean_on_cloth);
}

static bool edges_count(const contact* c, const int vertex[4], const closest* at)
{
    return edge_counts(c, vertex[0], vertex[1], vertex[2], v3_scale(-1.0, at->normal)) &&
           edge_counts(c, vertex[2], vertex[3], vertex[0], at->normal);
}

bool fan_counts(const contact* c, weft_pair_kind kind, weft_pair pair, const int vertex[4], const closest* at)
{
    return kind == WEFT_VERTEX_FACE ? vertex_face_counts(c, pair.second, vertex, at) : edges_count(c, vertex, at);
}
