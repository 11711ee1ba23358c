// See join.h. While gaps close, threads are ties of the model. Pairs that have come together become one at their mean
// by mass, where nothing is in the way: continuous detection from where they are to there, in which only features that
// will share a vertex are let alone. Two triangles that share one cross only where the side opposite to it goes through
// the other, and that is detected: so a surface without crossings stays so. What something is in the way of waits, and
// is asked again.
#include <string.h>

#include "collide/broad.h"
#include "sim/edits.h"
#include "sim/join.h"
#include "sim/tear.h"

static const double drawn_to = 0.6;    // of what counts as closed: the length to which threads are drawn in
static const double held_at = 1.25;    // of the thickness: the length of threads that stay, which contact leaves them
static const int every = 4, late = 16; // steps between tries: while threads are drawn in, and long after that
static const double patience = 0.5;    // s after the last thread is drawn in

// ---- while they close

static vec3 end_at(const body* b, const int vertex[2], double ratio)
{
    vec3 x = b->start[vertex[0]];
    return vertex[1] < 0 ? x : v3_madd(v3_scale(1.0 - ratio, x), ratio, b->start[vertex[1]]);
}

static tie thread_of(const body* b, const weft_thread* t, double least)
{
    stitch_ends ends = {.share = {1.0 - t->ratio[0], 1.0 - t->ratio[1]}};
    for (int k = 0; k < 2; k++)
    {
        ends.point[k] = t->vertex[0][k] < 0 ? -1 : b->scene_vertex[t->vertex[0][k]];
        ends.to[k] = t->vertex[1][k] < 0 ? -1 : b->scene_vertex[t->vertex[1][k]];
    }
    stitch_path path = {b->added + b->stitch_start, b->stitch_close, least};
    vec3 from = end_at(b, t->vertex[0], t->ratio[0]), to = end_at(b, t->vertex[1], t->ratio[1]);
    tie out = tie_of_stitch(&ends, v3_length(v3_sub(from, to)), &path);
    out.start[0] = from;
    out.start[1] = to;
    out.added = b->added;
    return out;
}

static weft_status stitches_add(const body* b, tie_set* out)
{
    double held = held_at * b->thickness, open = drawn_to * body_closes_at(b);
    for (int s = 0; s < b->stitch_count; s++)
    {
        weft_thread pair = {{{b->stitch[2 * s], -1}, {b->stitch[2 * s + 1], -1}}, {0.0, 0.0}};
        tie t = thread_of(b, &pair, b->sewing[s] == STITCH_HELD ? held : open);
        TRY(b->sewing[s] != STITCH_CLOSED ? tie_set_add(out, &t) : WEFT_OK);
    }
    for (int k = 0; k < b->thread_count; k++)
    {
        tie t = thread_of(b, &b->thread[k], held);
        TRY(tie_set_add(out, &t));
    }
    return WEFT_OK;
}

weft_status stitches_build(weft_sim* sim)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        TRY(sim->bodies[k].removed ? WEFT_OK : stitches_add(&sim->bodies[k], &sim->model.ties));
    }
    return WEFT_OK;
}

static double sewing_end(const body* b)
{
    return b->added + b->stitch_start + b->stitch_close;
}

static bool should_lift(const weft_sim* sim, const body* b)
{
    bool sewn = b->stitch && weft_sim_time(sim) < sewing_end(b) - 0.5 * sim->def.time_step;
    return !b->removed && (sewn || growth_lifts(sim, (int)(b - sim->bodies)));
}

static void rub_anew(weft_sim* sim)
{
    for (int k = 0; k < sim->body_count && sim->world.contact; k++)
    {
        sim->world.contact->friction[k] = body_friction(&sim->bodies[k]);
    }
}

// A checkpoint knows the scene by what it was before that: cloth that is to be sewn comes without weight, and that in
// which a body grows with it.
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

// ---- which have come together

typedef struct joiner
{
    weft_sim* sim;
    body* b;
    uint8_t* sewing;   // [stitch_count] as it is to be
    int* one;          // [vertex_count] of the user: likewise
    vec3 *x, *v;       // [vertex_count] where each goes, and how fast
    double* mass;      // [vertex_count] scratch
    vec3 *start, *end; // of all vertices of the collider
    weft_collider* collider;
    int64_t bias;     // 0: to the mean, -1: to the smallest vertex of a seam, 1: to the others
    int count, first; // vertices of the collider, and the first of the body among them
} joiner;

static void joiner_finish(joiner* j)
{
    weft_collider_destroy(j->collider);
    void* const arrays[] = {j->sewing, j->one, j->x, j->v, j->mass, j->start, j->end};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

static weft_status joiner_create(joiner* j)
{
    size_t n = (size_t)j->b->rest.vertex_count;
    j->count = weft_sim_collider_vertex_count(j->sim);
    j->sewing = MEM_NEW(j->b->stitch_count, uint8_t);
    j->one = MEM_NEW(n, int);
    j->x = MEM_NEW(n, vec3);
    j->v = MEM_NEW(n, vec3);
    j->mass = MEM_NEW(n, double);
    j->start = MEM_NEW(j->count, vec3);
    j->end = MEM_NEW(j->count, vec3);
    for (const body* b = j->sim->bodies; b != j->b; b++)
    {
        j->first += b->rest.vertex_count;
    }
    return j->sewing && j->one && j->x && j->v && j->mass && j->start && j->end ? WEFT_OK : WEFT_NO_MEMORY;
}

static bool is_together(const weft_sim* sim, const body* b, int s, double most)
{
    vec3 a = sim->world.state.x[b->scene_vertex[b->stitch[2 * s]]];
    vec3 c = sim->world.state.x[b->scene_vertex[b->stitch[2 * s + 1]]];
    return b->sewing[s] == STITCH_OPEN && v3_length(v3_sub(a, c)) <= most;
}

static int count_together(const weft_sim* sim, const body* b, double most)
{
    int count = 0;
    for (int s = 0; s < b->stitch_count; s++)
    {
        count += is_together(sim, b, s, most);
    }
    return count;
}

// ---- where they go

// Means by mass for all vertices of each seam: momentum stays, but where one of them takes all (`bias`). What becomes
// one with nothing new keeps its bits.
static void find_means(joiner* j)
{
    const body* b = j->b;
    const state* s = &j->sim->world.state;
    int n = b->rest.vertex_count;
    seams_unite(b, j->sewing, j->one);
    memset(j->mass, 0, (size_t)n * sizeof(double));
    memset(j->x, 0, (size_t)n * sizeof(vec3));
    memset(j->v, 0, (size_t)n * sizeof(vec3));
    for (int u = 0; u < n; u++)
    {
        int i = b->scene_vertex[u], seam = j->one[u];
        double m = b->one[u] == u ? j->sim->model.mass[i] : 0.0; // each vertex of the scene once
        m *= j->bias == 0 || (j->bias < 0) == (seam == u) ? 1.0 : 1e-9;
        j->mass[seam] += m;
        j->x[seam] = v3_madd(j->x[seam], m, s->x[i]);
        j->v[seam] = v3_madd(j->v[seam], m, s->v[i]);
    }
    for (int u = 0; u < n; u++)
    {
        double inv = j->one[u] == u ? 1.0 / j->mass[u] : 0.0;
        j->x[u] = j->one[u] == u ? v3_round(v3_scale(inv, j->x[u])) : j->x[j->one[u]];
        j->v[u] = j->one[u] == u ? v3_scale(inv, j->v[u]) : j->v[j->one[u]];
        j->mass[u] = 0.0;
    }
    for (int u = 0; u < n; u++)
    {
        j->mass[j->one[u]] = b->one[u] != j->one[u] ? 1.0 : j->mass[j->one[u]];
    }
    for (int u = 0; u < n; u++)
    {
        bool moves = j->mass[j->one[u]] > 0.0;
        j->x[u] = moves ? j->x[u] : s->x[b->scene_vertex[u]];
        j->v[u] = moves ? j->v[u] : s->v[b->scene_vertex[u]];
    }
}

static bool moves(const joiner* j, int vertex)
{
    int u = vertex - j->first;
    return u >= 0 && u < j->b->rest.vertex_count && j->mass[j->one[u]] > 0.0;
}

// The seams that a vertex of the collider would close stay open.
static void leave_open(joiner* j, int vertex)
{
    const body* b = j->b;
    for (int s = 0; s < b->stitch_count; s++)
    {
        if (j->one[b->stitch[2 * s]] == j->one[vertex - j->first])
        {
            j->sewing[s] = b->sewing[s];
        }
    }
}

// Takes out what hits something on its way. What hits elsewhere was let go before, and is not ours.
static weft_status find_hits(joiner* j, bool* any, weft_error* error)
{
    const weft_impact* impacts;
    int hits;
    TRY(weft_collider_update(j->collider, j->start, j->end, 0.0, error));
    TRY(weft_collider_impacts(j->collider, &impacts, &hits, error));
    for (int k = 0; k < 4 * hits; k++)
    {
        int vertex = impacts[k / 4].vertex[k % 4];
        if (moves(j, vertex))
        {
            leave_open(j, vertex);
            *any = true;
        }
    }
    return WEFT_OK;
}

static void see_seams(joiner* j)
{
    int* seam = j->collider->rules.seam;
    for (int u = 0; u < j->b->rest.vertex_count; u++)
    {
        seam[j->first + u] = -1;
    }
    for (int u = 0; u < j->b->rest.vertex_count; u++)
    {
        int other = j->one[u] != u ? j->one[u] : j->b->upon[u];
        if (other != u)
        {
            seam[j->first + u] = seam[j->first + other] = j->first + other;
        }
    }
}

// From where things are to the means, and from there to the nearest floats, which is what files have.
static weft_status find_room(joiner* j, bool* room, weft_error* error)
{
    bool hits = false;
    see_seams(j);
    TRY(weft_sim_collider_positions(j->sim, j->start, error));
    memcpy(j->end, j->start, (size_t)j->count * sizeof(vec3));
    memcpy(j->end + j->first, j->x, (size_t)j->b->rest.vertex_count * sizeof(vec3));
    TRY(find_hits(j, &hits, error));
    if (!hits)
    {
        memcpy(j->start, j->end, (size_t)j->count * sizeof(vec3));
        for (int i = 0; i < j->count; i++)
        {
            j->end[i] = v3_round(j->end[i]);
        }
        TRY(find_hits(j, &hits, error));
    }
    *room = !hits;
    return WEFT_OK;
}

// ---- one vertex for each

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
    TRY(edit_error(body_join(b, j->sewing, j->x, &before), error));
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

// As many of those that are chosen as there is room for; *any: there was one.
static weft_status try_chosen(joiner* j, bool* any, weft_error* error)
{
    bool room = !j->sim->def.contact;
    find_means(j);
    while (!room)
    {
        TRY(find_room(j, &room, error));
        room ? (void)0 : find_means(j);
    }
    *any = memcmp(j->sewing, j->b->sewing, (size_t)j->b->stitch_count) != 0;
    return WEFT_OK;
}

// One of those that are together, from try to try another, and to the one, the other, or the place between them.
static void choose_one(joiner* j, double most, int64_t turn)
{
    const body* b = j->b;
    int64_t count = count_together(j->sim, b, most), pick = turn % count;
    j->bias = (turn / count) % 3 - 1;
    for (int s = 0; s < b->stitch_count; s++)
    {
        bool now = is_together(j->sim, b, s, most) && pick-- == 0;
        j->sewing[s] = now ? STITCH_CLOSED : b->sewing[s];
    }
}

static weft_status join_some(joiner* j, double most, weft_error* error)
{
    const body* b = j->b;
    bool any = false;
    TRY(edit_error(joiner_create(j), error));
    TRY(j->sim->def.contact ? weft_sim_create_collider(j->sim, &j->collider, error) : WEFT_OK);
    for (int s = 0; s < b->stitch_count; s++)
    {
        j->sewing[s] = is_together(j->sim, b, s, most) ? STITCH_CLOSED : b->sewing[s];
    }
    TRY(try_chosen(j, &any, error));
    if (!any)
    {
        choose_one(j, most, j->sim->world.state.step_count / every);
        TRY(try_chosen(j, &any, error));
    }
    return any ? next_generation(j, error) : WEFT_OK;
}

static weft_status join_body(weft_sim* sim, body* b, double most, weft_error* error)
{
    joiner j = {.sim = sim, .b = b};
    weft_status status = join_some(&j, most, error);
    joiner_finish(&j);
    return status;
}

weft_status sim_join_first(weft_sim* sim, weft_error* error)
{
    const double upon = 1e-6; // m
    for (int k = 0; k < sim->body_count && sim->world.state.step_count == 0; k++)
    {
        body* b = &sim->bodies[k];
        TRY(!b->removed && count_together(sim, b, upon) > 0 ? join_body(sim, b, upon, error) : WEFT_OK);
    }
    return WEFT_OK;
}

// Whether it is time to try, by the count of steps: a generation for each pair would be dear.
static bool is_due(const weft_sim* sim, const body* b)
{
    double time = weft_sim_time(sim);
    int64_t pause = time < sewing_end(b) + patience ? every : late;
    return b->stitch_count > b->joined && !b->removed && time >= b->added + b->stitch_start &&
           sim->world.state.step_count % pause == 0;
}

// Without weight nothing would ever come to rest, and panels would be flung over each other: they move as in oil.
static void slow_down(weft_sim* sim)
{
    const double time = 0.1; // s, in which what is left to itself keeps 1/e of its speed
    double kept = exp(-sim->def.time_step / time);
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int i = b->first; i < b->first + b->scene_count && b->lifted && !b->removed; i++)
        {
            sim->world.state.v[i] = v3_scale(kept, sim->world.state.v[i]);
        }
    }
}

weft_status sim_join(weft_sim* sim, weft_error* error)
{
    slow_down(sim);
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        double most = body_closes_at(b);
        TRY(is_due(sim, b) && count_together(sim, b, most) > 0 ? join_body(sim, b, most, error) : WEFT_OK);
    }
    return WEFT_OK;
}
