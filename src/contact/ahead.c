// The facet on which a vertex that slides over a round body will be at the end of the substep.
//
// Backward Euler takes forces at the end of the substep, and the normal along which a body pushes belongs there too.
// With that of the start what is drawn over a curve of radius R by v h is held back by v h / R of the normal force, as
// if by friction: forces have turned by so much, and the normal has not. It also ends above the curve, longer than it
// is, so that stiff cloth is held back by several times that. At 0.4 m/s, 5 ms and 3 cm that is more than 0.07.
//
// So where velocities lead a vertex across an edge that stands out, the plane of the face behind it is the one that
// it touches: it starts below that plane, and is moved out of the layer as from any other.
#include "contact/find.h"

static const double turned_least = 0.8; // cosine between both normals: sharper edges are met as they are
static const double raised_most = 1.0;  // of the thickness, by which a vertex starts lower than it would

// Vertex and corners of a face at the end, the vertex where velocities lead it.
static void points_at_end(const contact* c, int vertex, int face, vec3 x[4])
{
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
    x[0] = c->end[vertex];
    for (int k = 0; k < 3; k++)
    {
        x[k + 1] = c->end[corner[k]];
    }
}

static bool is_over(const closest* at)
{
    return at->weight[1] != 0.0 && at->weight[2] != 0.0 && at->weight[3] != 0.0;
}

static vec3 face_normal(const vec3 x[4], vec3 like)
{
    vec3 n = v3_cross(v3_sub(x[2], x[1]), v3_sub(x[3], x[1]));
    double size = v3_length(n);
    n = size > 0.0 ? v3_scale(1.0 / size, n) : like;
    return v3_dot(n, like) < 0.0 ? v3_scale(-1.0, n) : n;
}

// The face of the same body that is nearest to the end; -1: there is none around.
static weft_status nearest_face(contact* c, const touch* t, int* out)
{
    vec3 end = v3_sub(c->end[t->vertex], c->frame);
    const int own = 0;
    double_box box = feature_box(&end, &end, &own, 1);
    TRY(collider_around(c->collider, FEATURE_FACE, &box, 2.0 * t->thickness, &c->around));
    int body = c->body[c->collider->corner[FEATURE_FACE][3 * (size_t)t->face]];
    double nearest = INFINITY;
    *out = -1;
    for (int k = 0; k < c->around.count; k++)
    {
        int face = c->around.feature[k];
        vec3 x[4];
        if (c->body[c->collider->corner[FEATURE_FACE][3 * (size_t)face]] != body)
        {
            continue;
        }
        points_at_end(c, t->vertex, face, x);
        double distance = closest_vertex_face(x).distance;
        if (distance < nearest || (distance == nearest && face < *out))
        {
            nearest = distance;
            *out = face;
        }
    }
    return WEFT_OK;
}

static void take_plane(contact* c, touch* t, int face)
{
    const int* corner = c->collider->corner[FEATURE_FACE] + 3 * (size_t)face;
    vec3 x[4];
    points_at_end(c, t->vertex, face, x);
    closest at = closest_vertex_face(x);
    vec3 normal = is_over(&at) ? face_normal(x, t->normal) : at.normal;
    vec3 foot = v3(0, 0, 0), velocity = v3(0, 0, 0); // where it is at the start
    for (int k = 1; k < 4; k++)
    {
        foot = v3_madd(foot, -at.weight[k], c->start[corner[k - 1]]);
        velocity = v3_madd(velocity, -at.weight[k], c->velocity[corner[k - 1]]);
    }
    double depth = t->thickness - v3_dot(v3_sub(c->start[t->vertex], foot), normal), raised = depth - t->depth;
    if (v3_dot(normal, t->normal) > turned_least && raised > 0.0 && raised < raised_most * t->thickness)
    {
        t->normal = normal;
        t->depth = depth;
        t->velocity = velocity;
    }
}

static bool stays_over(const contact* c, const touch* t)
{
    vec3 x[4];
    points_at_end(c, t->vertex, t->face, x);
    closest at = closest_vertex_face(x);
    return is_over(&at);
}

weft_status touches_look_ahead(contact* c)
{
    for (int k = 0; k < c->touch_count; k++)
    {
        touch* t = &c->touches[k];
        int face;
        if (!t->near || stays_over(c, t))
        {
            continue;
        }
        TRY(nearest_face(c, t, &face));
        if (face >= 0)
        {
            take_plane(c, t, face);
        }
    }
    return WEFT_OK;
}
