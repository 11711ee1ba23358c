// Long-range limits (limits.h).
#include "step/limits.h"

#include <string.h>

enum
{
    GROUPS_MAX = 64,
    LIMIT_GRAIN = 512
};

// Limits stay sorted, the nearest first; past LIMITS_MAX the farthest is dropped.
static void limits_add(limits* l, int vertex, int anchor, double most)
{
    int first = LIMITS_MAX * vertex, k = l->count[vertex];
    if (k == LIMITS_MAX && !(most < l->most[first + k - 1]))
    {
        return;
    }
    k = int_min(k, LIMITS_MAX - 1);
    for (; k > 0 && most < l->most[first + k - 1]; k--)
    {
        l->most[first + k] = l->most[first + k - 1];
        l->anchor[first + k] = l->anchor[first + k - 1];
    }
    l->most[first + k] = most;
    l->anchor[first + k] = anchor;
    l->count[vertex] = int_min(l->count[vertex] + 1, LIMITS_MAX);
}

static weft_status groups_reach(limits* l, const graph* g, const int* group, int groups, int* list)
{
    geodesic d = {0};
    weft_status status = geodesic_create(&d, g);
    for (int k = 0; k < groups && status == WEFT_OK; k++)
    {
        int count = 0;
        for (int i = 0; i < g->vertex_count; i++)
        {
            list[count] = i;
            count += group[i] == k || (groups == 1 && group[i] >= 0);
        }
        status = geodesic_run(&d, list, count, INFINITY);
        for (int r = 0; r < d.reached_count && status == WEFT_OK; r++)
        {
            int i = d.reached[r];
            group[i] < 0 ? limits_add(l, i, d.source[i], d.distance[i]) : (void)0;
        }
    }
    geodesic_finish(&d);
    return status;
}

weft_status limits_create(limits* l, const graph* g, const int* group)
{
    int n = g->vertex_count, groups = 0, *list = MEM_NEW(n + 1, int);
    *l = (limits){.vertex_count = n};
    l->count = MEM_NEW(n, int);
    l->anchor = MEM_NEW(LIMITS_MAX * (size_t)n, int);
    l->most = MEM_NEW(LIMITS_MAX * (size_t)n, double);
    l->wide = MEM_NEW(n, double);
    weft_status status = list && l->count && l->anchor && l->most && l->wide ? WEFT_OK : WEFT_NO_MEMORY;
    for (int i = 0; i < n; i++)
    {
        groups = int_max(groups, group[i] + 1);
    }
    status = status == WEFT_OK ? groups_reach(l, g, group, groups > GROUPS_MAX ? 1 : groups, list) : status;
    for (int i = 0; i < n && status == WEFT_OK; i++)
    {
        l->total += l->count[i];
    }
    mem_free(list);
    return status;
}

void limits_finish(limits* l)
{
    mem_free(l->count);
    mem_free(l->anchor);
    mem_free(l->most);
    mem_free(l->wide);
    *l = (limits){0};
}

// ---- pins that are too far apart

typedef struct widen_context
{
    limits* l;
    const double* inv_mass;
    const vec3 *from, *x;
    double back; // of a limit's length: what the substep takes back of what is beyond
} widen_context;

static const double back_rate = 30.0; // 1/s

static void widen_chunk(void* context, int begin, int end)
{
    const widen_context* c = context;
    for (int i = begin; i < end; i++)
    {
        const int *anchor = c->l->anchor + (size_t)LIMITS_MAX * (size_t)i, count = c->l->count[i];
        const double* most = c->l->most + (size_t)LIMITS_MAX * (size_t)i;
        double wide_sq = 1.0, left = 0.0;
        for (int r = 0; r < count; r++)
        {
            vec3 way = v3_sub(c->from[i], c->from[anchor[r]]);
            double most_sq = most[r] * most[r], far_sq = v3_dot(way, way);
            bool far = far_sq > (1.0 + c->back) * (1.0 + c->back) * most_sq && c->inv_mass[anchor[r]] == 0.0;
            left = far ? fmax(left, sqrt(far_sq / most_sq) - c->back) : left;
            for (int q = 0; q < r; q++)
            {
                vec3 d = v3_sub(c->x[anchor[r]], c->x[anchor[q]]);
                double both = most[r] + most[q], apart_sq = v3_dot(d, d);
                bool hold = c->inv_mass[anchor[r]] == 0.0 && c->inv_mass[anchor[q]] == 0.0;
                wide_sq = hold && apart_sq > wide_sq * both * both ? apart_sq / (both * both) : wide_sq;
            }
        }
        c->l->wide[i] = fmax(wide_sq > 1.0 ? sqrt(wide_sq) : 1.0, left);
    }
}

void limits_widen(limits* l, workers* pool, const double* inv_mass, const limit_start* start, const vec3* x)
{
    widen_context c = {l, inv_mass, start->x, x, back_rate * start->h};
    l->total > 0 ? parallel_for(pool, l->vertex_count, LIMIT_GRAIN, widen_chunk, &c) : (void)0;
}

// ---- projection

typedef struct project_context
{
    const limits* l;
    const double* inv_mass;
    const int* list;
    bool meet;
    vec3* x;
} project_context;

static double most_at(const project_context* c, int r)
{
    return c->l->wide ? c->l->wide[r / LIMITS_MAX] * c->l->most[r] : c->l->most[r];
}

// How far the vertex is beyond a limit, as squares; not positive: it holds, or its anchor was let go.
static double beyond(const project_context* c, int r, vec3 x)
{
    int anchor = c->l->anchor[r];
    vec3 d = v3_sub(x, c->x[anchor]);
    double most = most_at(c, r);
    return c->inv_mass[anchor] == 0.0 ? v3_dot(d, d) - most * most : 0.0;
}

static vec3 to_ball(const project_context* c, int r, vec3 x)
{
    vec3 anchor = c->x[c->l->anchor[r]], d = v3_sub(x, anchor);
    return v3_madd(anchor, most_at(c, r) / v3_length(d), d);
}

// The nearest place that is at both limits: on the circle in which their balls meet. Cloth between two pins that is
// drawn straight has balls that hardly meet: from one to the other and back one would go for ever.
static vec3 to_circle(const project_context* c, int r, int q, vec3 x)
{
    vec3 a = c->x[c->l->anchor[r]], axis = v3_sub(c->x[c->l->anchor[q]], a), d = v3_sub(x, a);
    double length_sq = v3_dot(axis, axis), r_sq = most_at(c, r) * most_at(c, r), q_sq = most_at(c, q) * most_at(c, q);
    if (!(length_sq > 0.0))
    {
        return x;
    }
    double along = 0.5 * ((r_sq - q_sq) / length_sq + 1.0), radius_sq = r_sq - along * along * length_sq;
    vec3 aside = v3_madd(d, -v3_dot(d, axis) / length_sq, axis);
    double off = v3_length(aside), radius = sqrt(fmax(0.0, radius_sq));
    return v3_madd(v3_madd(a, along, axis), off > 0.0 ? radius / off : 0.0, aside);
}

static void project_chunk(void* context, int begin, int end)
{
    const project_context* c = context;
    for (int k = begin; k < end; k++)
    {
        int i = c->list ? c->list[k] : k, first = LIMITS_MAX * i;
        vec3 x = c->x[i];
        for (int r = first; r < first + c->l->count[i] && c->inv_mass[i] > 0.0; r++)
        {
            if (!(beyond(c, r, x) > 0.0))
            {
                continue;
            }
            x = to_ball(c, r, x);
            for (int q = first; q < r && c->meet; q++)
            {
                x = beyond(c, q, x) > 0.0 ? to_circle(c, r, q, x) : x;
            }
        }
        c->x[i] = x;
    }
}

void limits_project(const limits* l, workers* pool, const double* inv_mass, const limit_turn* turn, vec3* x)
{
    project_context c = {l, inv_mass, turn->list, turn->meet, x};
    l->total > 0 ? parallel_for(pool, turn->list ? turn->count : l->vertex_count, LIMIT_GRAIN, project_chunk, &c) : (void)0;
}
