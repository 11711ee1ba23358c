// What crossed at the start is brought apart before anything else is projected, so that the cloth has the last word.
//
// In a matrix a row that settles is a spring that follows the mass of its pair, far softer than the cloth around it: it
// moves a whole patch or hardly anything. A projection is rigid, whatever its mass: it tears a vertex away from what
// is around it, a triangle that is finer than the way by many times its length, and the few sweeps of a step do not
// bring it back. So what rows ask for is a field of displacements over the vertices, none of which weighs more than
// another, and along each edge these may differ by a small share of its length only: what is fine goes along with what
// draws it, and where rows around it want this way and that, nothing goes far.
#include "contact/find.h"

#include <string.h>

enum
{
    DRAW_TURNS = 8
};

static const double stretch_share = 0.1; // of an edge, in a whole substep

// What pins leave free of a direction.
static vec3 free_part(const contact* c, int vertex, vec3 d)
{
    int record = vertex < c->cloth_count ? c->record[vertex] : -1;
    bool moves = vertex < c->cloth_count && c->inv_mass[vertex] > 0.0;
    return !moves ? v3(0, 0, 0) : record < 0 ? d : m3_mul_v(c->now.pins[record].S, d);
}

static void draw_row(contact* c, const projected_row* p, double missing)
{
    vec3 n = p->row->normal;
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
    {
        int i = p->row->vertex[k];
        missing -= i < c->cloth_count ? p->row->weight[k] * v3_dot(n, c->drawn[i]) : 0.0;
        sum += p->row->weight[k] * p->row->weight[k] * v3_dot(n, free_part(c, i, n));
    }
    for (int k = 0; k < 4 && missing > 0.0 && sum > 0.0; k++)
    {
        int i = p->row->vertex[k];
        vec3 d = free_part(c, i, v3_scale(p->row->weight[k] * missing / sum, n));
        i < c->cloth_count ? (void)(c->drawn[i] = v3_add(c->drawn[i], d)) : (void)0;
    }
}

static void even_out(contact* c, const int* edge, double share)
{
    int a = edge[0], b = edge[1];
    if (a >= c->cloth_count || b >= c->cloth_count)
    {
        return;
    }
    vec3 d = v3_sub(c->drawn[a], c->drawn[b]), along = v3_sub(c->start[a], c->start[b]);
    double size_sq = v3_dot(d, d), most_sq = share * share * v3_dot(along, along);
    if (size_sq <= most_sq)
    {
        return;
    }
    vec3 half = v3_scale(0.5 * (1.0 - sqrt(most_sq / size_sq)), d);
    c->drawn[a] = v3_sub(c->drawn[a], free_part(c, a, half));
    c->drawn[b] = v3_add(c->drawn[b], free_part(c, b, half));
}

static void even_edges(contact* c, bool backward)
{
    const int* edge = c->collider->corner[FEATURE_EDGE];
    int count = c->collider->tree[FEATURE_EDGE].count;
    double share = stretch_share * (c->moment.end - c->moment.begin);
    for (int k = 0; k < count; k++)
    {
        even_out(c, edge + 2 * (size_t)(backward ? count - 1 - k : k), share);
    }
}

void contact_draw_apart(contact* c, vec3* x)
{
    if (!c->draws)
    {
        return;
    }
    memset(c->drawn, 0, (size_t)c->cloth_count * sizeof(vec3));
    for (int turn = 0; turn < DRAW_TURNS; turn++)
    {
        for (int k = 0; k < c->projected_count; k++)
        {
            const projected_row* p = &c->projected[k];
            p->row->settles ? draw_row(c, p, unsettled_share(c, p->row) * project_missing(c, p, x)) : (void)0;
        }
        even_edges(c, turn % 2 == 1);
    }
    for (int i = 0; i < c->cloth_count; i++)
    {
        x[i] = v3_add(x[i], c->drawn[i]);
    }
}
