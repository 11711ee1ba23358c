// Ties from the public interface: which point of one cloth follows which face of the other. All pairs are looked at,
// with boxes first: this is done once.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "sim/sim.h"

// A face is extended by once its size on each side: what lies farther off is beside the cloth.
static const double weight_least = -1.0;

// Nearest feature of the other cloth so far.
typedef struct nearest
{
    double distance;
    int face[3];
    double share; // of the first end, on an edge
} nearest;

static bool shares_vertex(const int* a, int count, const int face[3])
{
    for (int k = 0; k < count; k++)
    {
        if (a[k] == face[0] || a[k] == face[1] || a[k] == face[2])
        {
            return true;
        }
    }
    return false;
}

// Whether the box of the points [1, 4) can hold one nearer than `distance` to the box of x[0] and `end`.
static bool box_is_near(const vec3 x[4], vec3 end, double distance)
{
    for (int axis = 0; axis < 3; axis++)
    {
        const double* p[5] = {&x[0].x, &end.x, &x[1].x, &x[2].x, &x[3].x};
        double low = fmin(p[2][axis], fmin(p[3][axis], p[4][axis]));
        double high = fmax(p[2][axis], fmax(p[3][axis], p[4][axis]));
        if (low - fmax(p[0][axis], p[1][axis]) > distance || fmin(p[0][axis], p[1][axis]) - high > distance)
        {
            return false;
        }
    }
    return true;
}

static void try_face(const body* from, const body* to, const int point[2], const int face[3], nearest* best)
{
    vec3 x[4] = {from->start[point[0]], to->start[face[0]], to->start[face[1]], to->start[face[2]]};
    bool edge = point[1] >= 0;
    vec3 end = edge ? from->start[point[1]] : x[0];
    if ((from == to && shares_vertex(point, edge ? 2 : 1, face)) || !box_is_near(x, end, best->distance))
    {
        return;
    }
    if (!edge)
    {
        closest c = closest_vertex_face(x);
        if (c.distance < best->distance)
        {
            *best = (nearest){c.distance, {face[0], face[1], face[2]}, 1.0};
        }
        return;
    }
    for (int k = 0; k < 3; k++)
    {
        vec3 pair[4] = {x[0], end, x[1 + k], x[1 + (k + 1) % 3]};
        closest c = closest_edge_edge(pair);
        if (c.distance < best->distance)
        {
            *best = (nearest){c.distance, {face[0], face[1], face[2]}, fabs(c.weight[0])};
        }
    }
}

// Positions of the tie's own vertices, the face after the point.
static tie tie_between(const body* from, const body* to, const int point[2], const nearest* n, bool* good)
{
    vec3 x[5] = {from->start[point[0]], point[1] >= 0 ? from->start[point[1]] : v3(0, 0, 0), to->start[n->face[0]],
                 to->start[n->face[1]], to->start[n->face[2]]};
    const int own[2] = {0, point[1] >= 0 ? 1 : -1}, face[3] = {2, 3, 4};
    tie t;
    *good = tie_make(x, own, n->share, face, &t);
    for (int k = 0; k < 3; k++)
    {
        *good = *good && t.weight[k] >= weight_least;
    }
    t.point[0] = point[0];
    t.point[1] = point[1];
    memcpy(t.face, n->face, sizeof(t.face));
    return t;
}

static weft_status add_point(weft_sim* sim, int body_index, int to_index, const int point[2], weft_error* error)
{
    const body *from = &sim->bodies[body_index], *to = &sim->bodies[to_index];
    nearest best = {.distance = INFINITY};
    for (int t = 0; t < to->rest.triangle_count; t++)
    {
        try_face(from, to, point, to->rest.triangle + 3 * (size_t)t, &best);
    }
    bool good = isfinite(best.distance);
    tie t = good ? tie_between(from, to, point, &best, &good) : (tie){0};
    if (!good)
    {
        return error_set(
            error, WEFT_BAD_INPUT, NULL, 0,
            "vertex %d of cloth `%s` lies beside `%s`, %.3g m from its nearest face: a tie needs a face that the "
            "vertex lies on or over; move the cloth or tie other vertices",
            point[0], from->name, to->name, best.distance);
    }
    if (!mem_grow((void**)&sim->seam_points, &sim->seam_point_capacity, sim->seam_point_count + 1, sizeof(seam_point)))
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    sim->seam_points[sim->seam_point_count++] = (seam_point){body_index, to_index, t};
    return WEFT_OK;
}

static int compare_edges(const void* a, const void* b)
{
    const int *p = a, *q = b;
    return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

static int collect_edge(const bool* flags, int i, int j, int* edge)
{
    edge[0] = int_min(i, j);
    edge[1] = int_max(i, j);
    return flags[i] && flags[j];
}

// Edges between two flagged vertices, each once, sorted. edges is [2 * (3 * triangle_count + segment_count)].
static int collect_edges(const body* b, const bool* flags, int* edges)
{
    int count = 0, kept = 0;
    for (int k = 0; k < 3 * b->rest.triangle_count; k++)
    {
        int next = k % 3 < 2 ? k + 1 : k - 2;
        count += collect_edge(flags, b->rest.triangle[k], b->rest.triangle[next], edges + 2 * count);
    }
    for (int k = 0; k < b->rest.segment_count; k++)
    {
        const int* v = b->rest.segment + 2 * k;
        count += collect_edge(flags, v[0], v[1], edges + 2 * count);
    }
    qsort(edges, (size_t)count, 2 * sizeof(int), compare_edges);
    for (int k = 0; k < count; k++)
    {
        if (k == 0 || compare_edges(edges + 2 * k, edges + 2 * kept - 2) != 0)
        {
            memmove(edges + 2 * kept++, edges + 2 * k, 2 * sizeof(int));
        }
    }
    return kept;
}

static weft_status add_edges(weft_sim* sim, int body_index, int to_index, const bool* flags, weft_error* error)
{
    const body* b = &sim->bodies[body_index];
    int* edges = MEM_NEW(6 * (size_t)b->rest.triangle_count + 2 * (size_t)b->rest.segment_count, int);
    if (!edges)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    int count = collect_edges(b, flags, edges);
    weft_status status =
        count > 0 ? WEFT_OK
                  : error_set(error, WEFT_BAD_INPUT, NULL, 0,
                              "a tie by edges selects no edge of `%s`: both of its ends must be selected", b->name);
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        status = add_point(sim, body_index, to_index, edges + 2 * k, error);
    }
    mem_free(edges);
    return status;
}

static weft_status add_points(weft_sim* sim, const weft_tie* def, int body_index, int to_index, weft_error* error)
{
    const body* b = &sim->bodies[body_index];
    int count = def->vertices ? def->vertex_count : b->rest.vertex_count;
    if (!def->edges)
    {
        weft_status status = WEFT_OK;
        for (int k = 0; k < count && status == WEFT_OK; k++)
        {
            const int point[2] = {def->vertices ? def->vertices[k] : k, -1};
            status = add_point(sim, body_index, to_index, point, error);
        }
        return status;
    }
    bool* flags = MEM_NEW(b->rest.vertex_count, bool);
    if (!flags)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    for (int k = 0; k < count; k++)
    {
        flags[def->vertices ? def->vertices[k] : k] = true;
    }
    weft_status status = add_edges(sim, body_index, to_index, flags, error);
    mem_free(flags);
    return status;
}

// Cloths that are sewn together keep no more than half of the distance at which they start (contact/find.c), so that contact
// does not push against ties. Points that lie upon the other cloth have none: contact leaves them alone, with that
// cloth.
static bool is_near(const weft_sim* sim, const seam_point* p)
{
    const double least = 0.02; // of the thickness
    return fabs(p->tie.offset) < 0.5 * least * (sim->bodies[p->body].thickness + sim->bodies[p->to].thickness);
}

static weft_status exclude_near(weft_sim* sim, const weft_tie* def, int first, weft_error* error)
{
    int* vertices = MEM_NEW(2 * (size_t)(sim->seam_point_count - first) + 1, int);
    if (!vertices)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    int count = 0;
    for (int k = first; k < sim->seam_point_count; k++)
    {
        const tie* t = &sim->seam_points[k].tie;
        for (int p = 0; p < 2 && t->point[p] >= 0 && is_near(sim, &sim->seam_points[k]); p++)
        {
            vertices[count++] = t->point[p];
        }
    }
    weft_exclusion exclusion = {def->cloth, def->to, vertices, count};
    weft_status status = count > 0 ? weft_sim_exclude(sim, &exclusion, error) : WEFT_OK;
    mem_free(vertices);
    return status;
}

weft_status weft_sim_tie(weft_sim* sim, const weft_tie* def, weft_error* error)
{
    WEFT_ASSERT(sim && def && def->cloth && def->to && def->vertex_count >= 0 && !sim->built);
    weft_exclusion names = {def->cloth, def->to, def->vertices, def->vertex_count};
    TRY(exclusion_check(sim, &names, error));
    int before = sim->seam_point_count, body_index = sim_find_body(sim, def->cloth);
    int to_index = sim_find_body(sim, def->to);
    if (body_index >= sim->body_count || to_index >= sim->body_count)
    {
        return error_set(
            error, WEFT_BAD_INPUT, NULL, 0,
            "`%s` is an obstacle; ties hold cloth to cloth: use pins with `follow` for what follows a body",
            body_index >= sim->body_count ? def->cloth : def->to);
    }
    if (sim->bodies[to_index].rest.triangle_count == 0)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "`%s` is made of lines, and a tie holds to a face: tie it to the other body instead", def->to);
    }
    if (!mem_grow((void**)&sim->seams, &sim->seam_capacity, sim->seam_count + 1, sizeof(seam)))
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    weft_status status = add_points(sim, def, body_index, to_index, error);
    status = status == WEFT_OK ? exclude_near(sim, def, before, error) : status;
    if (status != WEFT_OK)
    {
        sim->seam_point_count = before;
        return status;
    }
    sim->seams[sim->seam_count++] = (seam){body_index, to_index, before, sim->seam_point_count - before, def->edges};
    return WEFT_OK;
}

static bool is_excluded(const weft_sim* sim, const seam* s, int vertex)
{
    const char *cloth = sim->bodies[s->body].name, *to = sim->bodies[s->to].name;
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        bool forward = strcmp(e->first, cloth) == 0 && strcmp(e->second, to) == 0;
        bool whole = !e->vertices && (forward || (strcmp(e->first, to) == 0 && strcmp(e->second, cloth) == 0));
        for (int i = 0; forward && i < e->vertex_count && !whole; i++)
        {
            whole = e->vertices[i] == vertex;
        }
        if (whole)
        {
            return true;
        }
    }
    return false;
}

// In one cloth neighbours are always near: nothing is loose there.
static int count_loose(const weft_sim* sim, const seam* s, double kept)
{
    const body *from = &sim->bodies[s->body], *to = &sim->bodies[s->to];
    int count = 0;
    for (int i = 0; i < from->rest.vertex_count && from != to; i++)
    {
        const int point[2] = {i, -1};
        nearest best = {.distance = kept};
        for (int t = 0; t < to->rest.triangle_count && best.distance == kept; t++)
        {
            try_face(from, to, point, to->rest.triangle + 3 * (size_t)t, &best);
        }
        count += best.distance < kept && !is_excluded(sim, s, i);
    }
    return count;
}

int weft_sim_tie_count(const weft_sim* sim)
{
    WEFT_ASSERT(sim);
    return sim->seam_count;
}

weft_tied weft_sim_tie_at(const weft_sim* sim, int index)
{
    WEFT_ASSERT(sim && index >= 0 && index < sim->seam_count);
    const seam* s = &sim->seams[index];
    const seam_point* points = sim->seam_points + s->first;
    weft_tied out = {
        .cloth = sim->bodies[s->body].name, .to = sim->bodies[s->to].name, .edges = s->edges, .point_count = s->count};
    for (int k = 0; k < s->count; k++)
    {
        double distance = fabs(points[k].tie.offset);
        out.near_count += is_near(sim, &points[k]);
        out.nearest = k > 0 ? fmin(out.nearest, distance) : distance;
        out.farthest = fmax(out.farthest, distance);
    }
    out.kept = 0.5 * (sim->bodies[s->body].thickness + sim->bodies[s->to].thickness);
    out.loose_count = out.near_count > 0 ? count_loose(sim, s, out.kept) : 0;
    return out;
}

weft_status seams_build(weft_sim* sim)
{
    for (int k = 0; k < sim->seam_point_count; k++)
    {
        const seam_point* s = &sim->seam_points[k];
        const int *own = sim->bodies[s->body].scene_vertex, *other = sim->bodies[s->to].scene_vertex;
        tie t = s->tie;
        t.point[0] = own[t.point[0]];
        t.point[1] = t.point[1] >= 0 ? own[t.point[1]] : -1;
        for (int c = 0; c < 3; c++)
        {
            t.face[c] = other[t.face[c]];
        }
        TRY(tie_set_add(&sim->model.ties, &t));
    }
    return tie_set_collect(&sim->model.ties);
}
