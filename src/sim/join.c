// See join.h. Vertices become one at their mean by mass, where nothing is in between on the way there: the collider
// says so. What is held apart by contact stays tied, and is asked again after the next step.
#include "sim/join.h"

#include <string.h>

#include "collide/broad.h"
#include "sim/edits.h"
#include "sim/tear.h"

static const double closed = 0.1;  // of the thickness: gaps below it may become one
static const double nearly = 4.0;  // likewise: gaps below it are no business of contact
static const double slower = 0.02; // m/s, by which that grows when it is late: what contact still holds apart is let go

// ---- what is sewn

static weft_status wrong(weft_error* error, const body* b, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s", b->kind->name, b->name, what);
}

static weft_status check_stitches(const weft_cloth_def* def, const body* b, weft_error* error)
{
    if (b->kind->form != MESH_SHEET)
    {
        return wrong(error, b, "only sheets are sewn; leave `stitches` out");
    }
    if (b->tear > 0.0 || b->outputs)
    {
        return wrong(error, b, "sewn cloth does not tear, and has no welded vertices: leave `tear` and `weld` out");
    }
    if (!isfinite(def->stitch_start) || !isfinite(def->stitch_close) || !(def->stitch_close > 0.0))
    {
        return wrong(error, b, "the time that stitches take to close (s) is above zero, and when they begin is finite");
    }
    for (int k = 0; k < def->stitch_count; k++)
    {
        const int* v = def->stitches + 2 * k;
        int bad = v[0] < 0 || v[0] >= b->rest.vertex_count ? v[0] : v[1];
        if (bad < 0 || bad >= b->rest.vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "cloth `%s`: stitch %d names vertex %d; its vertices run from 0 to %d", b->name, k, bad,
                             b->rest.vertex_count - 1);
        }
        if (v[0] == v[1])
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "cloth `%s`: stitch %d sews vertex %d to itself", b->name,
                             k, v[0]);
        }
    }
    return WEFT_OK;
}

static int root(const int* seam, int v)
{
    while (seam[v] != v)
    {
        v = seam[v];
    }
    return v;
}

// Stitches that close a ring of others are dropped: where four panels meet in a corner three pairs of it say all, and a
// fourth along the same line would only differ from them by roundings.
static void find_seams(body* b)
{
    int kept = 0;
    for (int v = 0; v < b->rest.vertex_count; v++)
    {
        b->seam[v] = v;
    }
    for (int k = 0; k < b->stitch_count; k++)
    {
        int i = root(b->seam, b->stitch[2 * k]), j = root(b->seam, b->stitch[2 * k + 1]);
        b->seam[int_max(i, j)] = int_min(i, j);
        memmove(b->stitch + 2 * kept, b->stitch + 2 * k, 2 * sizeof(int));
        kept += i != j;
    }
    b->stitch_count = kept;
    for (int v = 0; v < b->rest.vertex_count; v++)
    {
        b->seam[v] = root(b->seam, v);
    }
}

// Triangles of the joined surface; false: one would have a corner twice.
static bool join_triangles(const body* b, int* out)
{
    bool good = true;
    for (int t = 0; t < b->rest.triangle_count; t++)
    {
        int* v = out + 3 * t;
        for (int c = 0; c < 3; c++)
        {
            v[c] = b->seam[b->rest.triangle[3 * t + c]];
        }
        good = good && v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
    }
    return good;
}

// Whether the seams make one surface: every edge of at most two triangles, in opposite directions. Others stay tied.
static weft_status find_joinable(body* b)
{
    int* triangle = MEM_NEW(3 * (size_t)b->rest.triangle_count, int);
    hinge* hinges = NULL;
    int count = 0;
    weft_status status = triangle ? WEFT_OK : WEFT_NO_MEMORY;
    bool good = status == WEFT_OK && join_triangles(b, triangle);
    if (good)
    {
        status = mesh_hinges(triangle, b->rest.triangle_count, b->rest.vertex_count, &hinges, &count, NULL);
    }
    b->joinable = good && status == WEFT_OK;
    mem_free(hinges);
    mem_free(triangle);
    return status == WEFT_BAD_INPUT ? WEFT_OK : status;
}

weft_status body_take_stitches(const weft_cloth_def* def, body* b, weft_error* error)
{
    if (def->stitch_count == 0)
    {
        return WEFT_OK;
    }
    TRY(check_stitches(def, b, error));
    b->stitch = MEM_NEW(2 * (size_t)def->stitch_count, int);
    b->seam = MEM_NEW(b->rest.vertex_count, int);
    if (!b->stitch || !b->seam)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(b->stitch, def->stitches, 2 * (size_t)def->stitch_count * sizeof(int));
    b->stitch_count = def->stitch_count;
    b->stitch_start = def->stitch_start;
    b->stitch_close = def->stitch_close;
    b->flat_rest = true; // pieces are cut from flat cloth, and a seam has no angle of its own
    b->lifted = true;
    find_seams(b);
    return find_joinable(b);
}

// ---- while they close

weft_status stitches_build(weft_sim* sim)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int s = 0; s < b->stitch_count && !b->joined && !b->removed; s++)
        {
            const int* v = b->stitch + 2 * s;
            tie t = tie_of_stitch(b->start, v[0], v[1], b->added + b->stitch_start, b->stitch_close);
            t.point[0] = b->scene_vertex[v[0]];
            t.face[0] = t.face[1] = t.face[2] = b->scene_vertex[v[1]];
            TRY(tie_set_add(&sim->model.ties, &t));
        }
    }
    return WEFT_OK;
}

static bool should_lift(const weft_sim* sim, const body* b)
{
    double end = b->added + b->stitch_start + b->stitch_close - 0.5 * sim->def.time_step;
    return b->stitch_count > 0 && !b->removed && weft_sim_time(sim) < end;
}

static void rub_anew(weft_sim* sim)
{
    for (int k = 0; k < sim->body_count && sim->world.contact; k++)
    {
        sim->world.contact->friction[k] = body_friction(&sim->bodies[k]);
    }
}

// Vertices that are nearly together, and have no thread left to part again, count as one for contact, which would hold
// them apart; others must not pass through each other. From where they are and the time alone, so that a run that is
// resumed sees the same. seam is in scene vertices.
static void see_seams(const weft_sim* sim, const body* b, int* seam)
{
    for (int i = b->first; i < b->first + b->scene_count; i++)
    {
        seam[i] = -1;
    }
    for (int s = 0; s < b->stitch_count; s++)
    {
        int v = b->scene_vertex[b->stitch[2 * s]], w = b->scene_vertex[b->stitch[2 * s + 1]];
        tie t = tie_of_stitch(b->start, b->stitch[2 * s], b->stitch[2 * s + 1], b->added + b->stitch_start,
                              b->stitch_close);
        double apart = v3_length(v3_sub(sim->world.state.x[v], sim->world.state.x[w]));
        double late = fmax(0.0, sim->world.time - t.begin - t.close);
        if (fmax(apart, stitch_gap(&t, sim->world.time)) < nearly * b->thickness + slower * late)
        {
            seam[v] = seam[w] = b->scene_vertex[b->seam[b->stitch[2 * s]]];
        }
    }
}

void sim_see_seams(void* user)
{
    const weft_sim* sim = user;
    int* seam = sim->world.contact ? sim->world.contact->collider->rules.seam : NULL;
    for (int k = 0; k < sim->body_count && seam; k++)
    {
        const body* b = &sim->bodies[k];
        b->stitch_count > 0 && !b->joined && !b->removed ? see_seams(sim, b, seam) : (void)0;
    }
}

// A checkpoint knows the scene by what it was before that: cloth that is to be sewn comes without weight.
weft_status sim_lift(weft_sim* sim, weft_error* error)
{
    bool changed = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        changed = changed || should_lift(sim, &sim->bodies[k]) != sim->bodies[k].lifted;
    }
    if (!changed)
    {
        return WEFT_OK;
    }
    TRY(edits_begin(sim, error));
    sim->edits.begun = true;
    for (int k = 0; k < sim->body_count; k++)
    {
        sim->bodies[k].lifted = should_lift(sim, &sim->bodies[k]);
    }
    clusters_weigh(sim);
    rub_anew(sim);
    for (int k = 0; k < sim->clusters.count; k++)
    {
        rub_anew(&sim->clusters.list[k]->sim);
    }
    return WEFT_OK;
}

// ---- when they are closed

weft_status body_join(body* b, const vec3* at, body* before)
{
    *before = *b;
    int* triangle = MEM_NEW(3 * (size_t)b->rest.triangle_count, int);
    vec3* rest = MEM_NEW(b->rest.vertex_count, vec3);
    if (!triangle || !rest)
    {
        mem_free(triangle);
        mem_free(rest);
        return WEFT_NO_MEMORY;
    }
    join_triangles(b, triangle);
    memcpy(rest, at, (size_t)b->rest.vertex_count * sizeof(vec3));
    b->rest.triangle = triangle;
    b->rest.position = rest;
    b->joined = true;
    return WEFT_OK;
}

typedef struct joiner
{
    weft_sim* sim;
    body* b;
    vec3 *x, *v;  // [vertex_count] of the user: where each goes, and how fast
    double* mass; // [vertex_count] of seams
} joiner;

static bool gaps_are_closed(const weft_sim* sim, const body* b)
{
    const vec3* x = sim->world.state.x;
    bool due = !b->lifted;
    for (int s = 0; s < b->stitch_count && due; s++)
    {
        vec3 gap = v3_sub(x[b->scene_vertex[b->stitch[2 * s]]], x[b->scene_vertex[b->stitch[2 * s + 1]]]);
        due = v3_length(gap) < closed * b->thickness;
    }
    return due;
}

// Means by mass of each seam, for all of its vertices: momentum stays.
static weft_status find_means(joiner* j)
{
    int n = j->b->rest.vertex_count;
    const state* s = &j->sim->world.state;
    j->x = MEM_NEW(n, vec3);
    j->v = MEM_NEW(n, vec3);
    j->mass = MEM_NEW(n, double);
    if (!j->x || !j->v || !j->mass)
    {
        return WEFT_NO_MEMORY;
    }
    for (int u = 0; u < n; u++)
    {
        int i = j->b->scene_vertex[u], seam = j->b->seam[u];
        double m = j->sim->model.mass[i];
        j->mass[seam] += m;
        j->x[seam] = v3_madd(j->x[seam], m, s->x[i]);
        j->v[seam] = v3_madd(j->v[seam], m, s->v[i]);
    }
    for (int u = 0; u < n; u++)
    {
        int seam = j->b->seam[u];
        double inv = seam == u ? 1.0 / j->mass[u] : 0.0;
        j->x[u] = seam == u ? v3_scale(inv, j->x[u]) : j->x[seam];
        j->v[u] = seam == u ? v3_scale(inv, j->v[u]) : j->v[seam];
    }
    // What is not sewn keeps its bits.
    for (int k = 0; k < j->b->stitch_count; k++)
    {
        j->mass[j->b->seam[j->b->stitch[2 * k]]] = -1.0;
    }
    for (int u = 0; u < n; u++)
    {
        bool sewn = j->mass[j->b->seam[u]] < 0.0;
        j->x[u] = sewn ? j->x[u] : s->x[j->b->scene_vertex[u]];
        j->v[u] = sewn ? j->v[u] : s->v[j->b->scene_vertex[u]];
    }
    return WEFT_OK;
}

// Whether nothing is in between on the way to the means.
static weft_status find_room(joiner* j, bool* room, weft_error* error)
{
    *room = true;
    if (!j->sim->def.contact)
    {
        return WEFT_OK;
    }
    int count = weft_sim_collider_vertex_count(j->sim), first = 0;
    vec3 *start = MEM_NEW(count, vec3), *end = MEM_NEW(count, vec3);
    weft_collider* collider = NULL;
    weft_status status = start && end ? WEFT_OK : edit_error(WEFT_NO_MEMORY, error);
    status = status == WEFT_OK ? weft_sim_create_collider(j->sim, &collider, error) : status;
    status = status == WEFT_OK ? weft_sim_collider_positions(j->sim, start, error) : status;
    for (const body* b = j->sim->bodies; b != j->b; b++)
    {
        first += b->rest.vertex_count;
    }
    if (status == WEFT_OK)
    {
        const weft_impact* impacts;
        int hits = 0;
        memcpy(end, start, (size_t)count * sizeof(vec3));
        memcpy(end + first, j->x, (size_t)j->b->rest.vertex_count * sizeof(vec3));
        status = weft_collider_update(collider, start, end, 0.0, error);
        status = status == WEFT_OK ? weft_collider_impacts(collider, &impacts, &hits, error) : status;
        *room = hits == 0;
    }
    weft_collider_destroy(collider);
    mem_free(start);
    mem_free(end);
    return status;
}

static void put_means(const joiner* j)
{
    for (int u = 0; u < j->b->rest.vertex_count; u++)
    {
        j->sim->world.state.x[j->b->scene_vertex[u]] = j->x[u];
        j->sim->world.state.v[j->b->scene_vertex[u]] = j->v[u];
    }
}

static weft_status next_generation(joiner* j, weft_error* error)
{
    body before, *b = j->b;
    TRY(edits_begin(j->sim, error));
    TRY(edit_error(body_join(b, j->x, &before), error));
    put_means(j); // the next generation takes them over
    weft_status status = generation_next(j->sim, false, error);
    if (status != WEFT_OK)
    {
        before.first = b->first;
        before.scene_vertex = b->scene_vertex;
        before.user_vertex = b->user_vertex;
        body_tear_undo(b, &before);
        return status;
    }
    body_tear_keep(b, &before);
    j->sim->edits.begun = true;
    return WEFT_OK;
}

static weft_status join_one(weft_sim* sim, body* b, weft_error* error)
{
    joiner j = {.sim = sim, .b = b};
    bool room = false;
    weft_status status = edit_error(find_means(&j), error);
    status = status == WEFT_OK ? find_room(&j, &room, error) : status;
    status = status == WEFT_OK && room ? next_generation(&j, error) : status;
    mem_free(j.x);
    mem_free(j.v);
    mem_free(j.mass);
    return status;
}

weft_status sim_join(weft_sim* sim, weft_error* error)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        if (b->joinable && !b->joined && !b->removed && gaps_are_closed(sim, b))
        {
            TRY(join_one(sim, b, error));
        }
    }
    return WEFT_OK;
}
