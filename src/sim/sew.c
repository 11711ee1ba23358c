// Ties from the public interface: which point of one cloth follows which face of the other. All pairs are looked at,
// with boxes first: this is done once. Before the first step cloths are tied where they start, afterwards, as an edit,
// where they are.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "sim/edits.h"
#include "sim/join.h"

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
    vec3 x[4] = {body_sewn(from)[point[0]], body_sewn(to)[face[0]], body_sewn(to)[face[1]], body_sewn(to)[face[2]]};
    bool edge = point[1] >= 0;
    vec3 end = edge ? body_sewn(from)[point[1]] : x[0];
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
    vec3 x[5] = {body_sewn(from)[point[0]], point[1] >= 0 ? body_sewn(from)[point[1]] : v3(0, 0, 0),
                 body_sewn(to)[n->face[0]], body_sewn(to)[n->face[1]], body_sewn(to)[n->face[2]]};
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

// Cloths that are sewn together keep no more than half of the distance at which they start (contact/find.c), so that
// contact does not push against ties. Points that lie upon the other cloth have none: contact leaves them alone, with
// that cloth.
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
    weft_status status = count > 0 ? exclusion_append(sim, &exclusion, error) : WEFT_OK;
    mem_free(vertices);
    return status;
}

void seams_cut(weft_sim* sim, int count)
{
    sim->seam_point_count = count < sim->seam_count ? sim->seams[count].first : sim->seam_point_count;
    sim->seam_count = int_min(sim->seam_count, count);
}

static weft_status find_cloths(const weft_sim* sim, const weft_tie* def, body_ref* from, body_ref* to,
                               weft_error* error)
{
    weft_exclusion names = {def->cloth, def->to, def->vertices, def->vertex_count};
    TRY(exclusion_check(sim, &names, from, to, error));
    if (from->is_obstacle || to->is_obstacle)
    {
        return error_set(
            error, WEFT_BAD_INPUT, NULL, 0,
            "`%s` is an obstacle; ties hold cloth to cloth: use pins with `follow` for what follows a body",
            from->is_obstacle ? def->cloth : def->to);
    }
    if (sim->bodies[to->index].rest.triangle_count == 0)
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "`%s` is made of lines, and a tie holds to a face: tie it to the other body instead", def->to);
    }
    return WEFT_OK;
}

// As the last one. On failure nothing has changed.
static weft_status seam_append(weft_sim* sim, const weft_tie* def, int from, int to, weft_error* error)
{
    if (!mem_grow((void**)&sim->seams, &sim->seam_capacity, sim->seam_count + 1, sizeof(seam)))
    {
        return edit_error(WEFT_NO_MEMORY, error);
    }
    int before = sim->seam_point_count;
    weft_status status = add_points(sim, def, from, to, error);
    status = status == WEFT_OK ? exclude_near(sim, def, before, error) : status;
    if (status != WEFT_OK)
    {
        sim->seam_point_count = before;
        return status;
    }
    sim->seams[sim->seam_count++] = (seam){from, to, before, sim->seam_point_count - before, def->edges};
    return WEFT_OK;
}

// ---- as an edit

void seams_kin(const weft_sim* sim, int* kin)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        kin[k] = k;
    }
    for (int turn = 0; turn < sim->seam_count; turn++) // as far as a chain of them can reach
    {
        for (int k = 0; k < sim->seam_count; k++)
        {
            int *a = &kin[sim->seams[k].body], *b = &kin[sim->seams[k].to];
            *a = *b = int_min(*a, *b);
        }
    }
}

const vec3* body_sewn(const body* b)
{
    return b->sewn ? b->sewn : b->start;
}

// Where the two cloths of a tie and their kin are, or were, tied.
typedef struct sewing
{
    int from, to;
    int* kin;    // [body_count]
    vec3** sewn; // [body_count] of others NULL
} sewing;

static bool is_sewn(const sewing* s, int k)
{
    return s->kin[k] == s->kin[s->from] || s->kin[k] == s->kin[s->to];
}

static void sewing_swap(weft_sim* sim, sewing* s)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        vec3* kept = sim->bodies[k].sewn;
        sim->bodies[k].sewn = is_sewn(s, k) ? s->sewn[k] : kept;
        s->sewn[k] = is_sewn(s, k) ? kept : NULL;
    }
}

static weft_status sewing_begin(const weft_sim* sim, sewing* s)
{
    s->kin = MEM_NEW(sim->body_count, int);
    s->sewn = MEM_NEW(sim->body_count, vec3*);
    TRY(s->kin && s->sewn ? WEFT_OK : WEFT_NO_MEMORY);
    seams_kin(sim, s->kin);
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        s->sewn[k] = is_sewn(s, k) ? MEM_NEW(b->rest.vertex_count, vec3) : NULL;
        TRY(s->sewn[k] || !is_sewn(s, k) ? WEFT_OK : WEFT_NO_MEMORY);
        for (int i = 0; i < b->rest.vertex_count && s->sewn[k]; i++)
        {
            s->sewn[k][i] = sim->world.state.x[b->scene_vertex[i]];
        }
    }
    return WEFT_OK;
}

static void sewing_finish(const weft_sim* sim, sewing* s)
{
    for (int k = 0; k < sim->body_count && s->sewn; k++)
    {
        mem_free(s->sewn[k]);
    }
    mem_free(s->sewn);
    mem_free(s->kin);
}

static bool is_point_of(const seam_point* p, const seam_point* q)
{
    return p->body == q->body && p->to == q->to && memcmp(p->tie.point, q->tie.point, sizeof(p->tie.point)) == 0;
}

// Two ties of one point to one cloth, made at different times, agree but for what the first has drifted: no solver
// could hold both.
static weft_status check_tied_once(const weft_sim* sim, int first, weft_error* error)
{
    for (int k = first; k < sim->seam_point_count; k++)
    {
        const seam_point* p = &sim->seam_points[k];
        for (int other = 0; other < first; other++)
        {
            if (is_point_of(p, &sim->seam_points[other]))
            {
                return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                                 "vertex %d of cloth `%s` is tied to `%s` already: tie other vertices", p->tie.point[0],
                                 sim->bodies[p->body].name, sim->bodies[p->to].name);
            }
        }
    }
    return WEFT_OK;
}

static weft_status tie_now(weft_sim* sim, const weft_tie* def, sewing* s, weft_error* error)
{
    int seams = sim->seam_count, exclusions = sim->exclusion_count, points = sim->seam_point_count;
    TRY(edit_error(sewing_begin(sim, s), error));
    sewing_swap(sim, s);
    weft_status status = seam_append(sim, def, s->from, s->to, error);
    status = status == WEFT_OK ? check_tied_once(sim, points, error) : status;
    status = status == WEFT_OK ? generation_next(sim, true, error) : status;
    if (status != WEFT_OK)
    {
        seams_cut(sim, seams);
        exclusions_cut(sim, exclusions);
        sewing_swap(sim, s);
    }
    return status;
}

static weft_status join_seam(weft_sim* sim, const weft_tie* def, int from, int to, weft_error* error)
{
    TRY(edits_begin(sim, error));
    sewing s = {from, to, NULL, NULL};
    weft_status status = tie_now(sim, def, &s, error);
    sewing_finish(sim, &s);
    sim->edits.begun |= status == WEFT_OK;
    return status;
}

weft_status weft_sim_tie(weft_sim* sim, const weft_tie* def, weft_error* error)
{
    WEFT_ASSERT(sim && def && def->cloth && def->to && def->vertex_count >= 0);
    body_ref from, to;
    TRY(find_cloths(sim, def, &from, &to, error));
    return sim->built ? join_seam(sim, def, from.index, to.index, error)
                      : seam_append(sim, def, from.index, to.index, error);
}

// ---- what was made

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
        count += best.distance < kept && !sim_is_excluded(sim, s->body, i, s->to);
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
    TRY(stitches_build(sim));
    return tie_set_collect(&sim->model.ties);
}
