// The scene's state, dealt out to clusters and collected again. A body's vertices, edges and faces are ranges of the
// scene's and of its cluster's, in the same order; bodies are in the same order, too. So a body's features change
// numbers by one offset, and lists that are sorted stay so when they are dealt out.
#include <stdlib.h>
#include <limits.h>
#include <string.h>

#include "collide/broad.h"
#include "sim/cluster.h"

// ---- what a cluster has one value of

weft_status controls_reserve(weft_sim* sim)
{
    clusters* all = &sim->clusters;
    if (!mem_grow((void**)&all->control, &all->control_capacity, sim->body_count, sizeof(body_control)) ||
        !mem_grow((void**)&all->before, &all->before_capacity, sim->body_count, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    all->control_count = int_min(all->control_count, sim->body_count);
    while (all->control_count < sim->body_count)
    {
        int k = all->control_count++;
        all->control[k] = (body_control){.cluster = k};
    }
    return WEFT_OK;
}

body_control control_of(const world* w)
{
    const state* s = &w->state;
    body_control c = {.halvings = s->halvings,
                      .calm = s->calm,
                      .waits = s->waits,
                      .tries = s->tries,
                      .history_filled = s->history_filled};
    for (int k = 0; k < s->history_filled; k++)
    {
        c.past_h[k] = s->history[k].h;
    }
    const double* memory = solver_object_memory(&w->solver);
    if (memory)
    {
        memcpy(c.solver, memory, sizeof(c.solver));
    }
    return c;
}

void control_put(world* w, const body_control* c)
{
    state* s = &w->state;
    s->halvings = c->halvings;
    s->calm = c->calm;
    s->waits = c->waits;
    s->tries = c->tries != 0;
    s->history_filled = int_min(c->history_filled, s->history_count);
    for (int k = 0; k < s->history_filled; k++)
    {
        s->history[k].h = c->past_h[k];
    }
    double* memory = solver_object_memory(&w->solver);
    if (memory)
    {
        memcpy(memory, c->solver, sizeof(c->solver));
    }
}

static bool has_learnt(const body_control* c)
{
    bool any = false;
    for (int k = 0; k < SOLVER_MEMORY; k++)
    {
        any = any || c->solver[k] != 0.0;
    }
    return any;
}

// Bodies that come together go on with the shortest substep of them, with the past that they have in common, if they
// have the same one, and with what was learnt at the largest of them.
body_control control_join(const weft_sim* sim, const int* member, int count)
{
    body_control sum = {0};
    int most = -1, joined = 0;
    for (int m = 0; m < count; m++)
    {
        int k = member ? member[m] : m;
        const body_control* c = &sim->clusters.control[k];
        if (sim->bodies[k].removed)
        {
            continue;
        }
        bool careful = joined == 0 || c->halvings > sum.halvings;
        bool same = joined == 0 ||
                    (c->history_filled == sum.history_filled && memcmp(c->past_h, sum.past_h, sizeof(c->past_h)) == 0);
        bool alike = !careful && c->halvings == sum.halvings;
        sum.calm = careful ? c->calm : alike ? int_min(sum.calm, c->calm) : sum.calm;
        sum.waits = careful ? c->waits : alike ? int_max(sum.waits, c->waits) : sum.waits;
        sum.tries = careful ? c->tries : alike ? sum.tries && c->tries : sum.tries;
        sum.halvings = careful ? c->halvings : sum.halvings;
        sum.history_filled = same ? c->history_filled : 0;
        joined++ == 0 ? (void)memcpy(sum.past_h, c->past_h, sizeof(sum.past_h)) : (void)0;
        if (has_learnt(c) && sim->bodies[k].rest.vertex_count > most)
        {
            most = sim->bodies[k].rest.vertex_count;
            memcpy(sum.solver, c->solver, sizeof(sum.solver));
        }
    }
    return sum;
}

// ---- features: feature_first[kind][k] is the first vertex, edge or face of body k, cloths and then obstacles

static weft_status starts_reserve(int* first[3], int bodies)
{
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        mem_free(first[kind]);
        first[kind] = MEM_NEW(bodies + 1, int);
        TRY(first[kind] ? WEFT_OK : WEFT_NO_MEMORY);
    }
    return WEFT_OK;
}

// From counts, each behind its place, to sums.
static void starts_sum(int* first[3], int bodies)
{
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        for (int k = 0; k < bodies; k++)
        {
            first[kind][k + 1] += first[kind][k];
        }
    }
}

weft_status features_count(cluster* c)
{
    int bodies = c->sim.body_count + c->sim.obstacle_count;
    const contact* contact = c->sim.world.contact;
    TRY(starts_reserve(c->feature_first, bodies));
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        const int* corner = contact->collider->corner[kind];
        for (int f = 0; f < contact->collider->tree[kind].count; f++)
        {
            c->feature_first[kind][contact->body[corner[(size_t)(kind + 1) * (size_t)f]] + 1]++;
        }
    }
    starts_sum(c->feature_first, bodies);
    return WEFT_OK;
}

static int whole_body(const weft_sim* sim, const cluster* c, int body)
{
    return body < c->sim.body_count ? c->member[body] : sim->body_count + body - c->sim.body_count;
}

weft_status clusters_place(weft_sim* sim)
{
    clusters* all = &sim->clusters;
    int bodies = sim->body_count + sim->obstacle_count;
    TRY(starts_reserve(all->feature_first, bodies));
    memset(all->where, -1, 2 * (size_t)sim->body_count * sizeof(int));
    for (int n = 0; n < all->count; n++)
    {
        const cluster* c = all->list[n];
        for (int k = 0; k < c->sim.body_count; k++)
        {
            all->where[2 * c->member[k]] = n;
            all->where[2 * c->member[k] + 1] = k;
        }
        int own = c->sim.body_count + c->sim.obstacle_count;
        for (int k = 0; k < own * FEATURE_KINDS && c->feature_first[0]; k++)
        {
            const int* first = c->feature_first[k / own] + k % own;
            all->feature_first[k / own][whole_body(sim, c, k % own) + 1] = first[1] - first[0];
        }
    }
    starts_sum(all->feature_first, bodies);
    return WEFT_OK;
}

// The body of a feature; -1: there is no such feature.
static int body_of(const int* first, int bodies, int feature)
{
    int low = 0, high = bodies; // first[low] <= feature < first[high]
    if (feature < 0 || feature >= first[bodies])
    {
        return -1;
    }
    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        first[middle] <= feature ? (low = middle) : (high = middle);
    }
    return low;
}

// ---- the way there

// Where a body of the scene is.
typedef struct place
{
    cluster* cluster; // NULL: it is an obstacle, which is in all of them
    int body;         // of the cluster, cloths and then obstacles
} place;

static place place_of(const weft_sim* sim, int body)
{
    if (body >= sim->body_count)
    {
        return (place){NULL, body - sim->body_count};
    }
    const int* where = sim->clusters.where + 2 * (size_t)body;
    return (place){where[0] >= 0 ? sim->clusters.list[where[0]] : NULL, where[1]};
}

static int body_in(const place* p, const cluster* c)
{
    return p->cluster ? p->body : c->sim.body_count + p->body;
}

// A pair is of the cluster of one of its bodies; those of two clusters are apart, and nothing is to be remembered.
static cluster* cluster_of_pair(const place* a, const place* b)
{
    bool apart = a->cluster && b->cluster && a->cluster != b->cluster;
    return apart ? NULL : a->cluster ? a->cluster : b->cluster;
}

// Kinds of the two features of a pair.
static void kinds_of(int pair_kind, int kind[2])
{
    kind[0] = pair_kind == WEFT_VERTEX_FACE ? FEATURE_VERTEX : FEATURE_EDGE;
    kind[1] = pair_kind == WEFT_VERTEX_FACE ? FEATURE_FACE : FEATURE_EDGE;
}

// The cluster's number of a vertex of the scene, cloths and then obstacles; one that nobody has where it is of neither.
static int vertex_there(const weft_sim* sim, const cluster* c, int vertex)
{
    const int* first = sim->clusters.feature_first[FEATURE_VERTEX];
    int body = body_of(first, sim->body_count + sim->obstacle_count, vertex);
    place at = body >= 0 ? place_of(sim, body) : (place){NULL, -1};
    bool known = at.body >= 0 && (!at.cluster || at.cluster == c);
    return known ? vertex - first[body] + c->feature_first[FEATURE_VERTEX][body_in(&at, c)] : INT_MAX;
}

static weft_status deal_bond(const weft_sim* sim, const contact_bond* from)
{
    int kind[2], bodies = sim->body_count + sim->obstacle_count, feature[2] = {from->first, from->second};
    int* const* first = sim->clusters.feature_first;
    place at[2];
    kinds_of(from->kind, kind);
    for (int a = 0; a < 2; a++)
    {
        int body = body_of(first[kind[a]], bodies, feature[a]);
        if (body < 0)
        {
            return WEFT_OK; // of a file that says so
        }
        feature[a] -= first[kind[a]][body];
        at[a] = place_of(sim, body);
    }
    cluster* c = cluster_of_pair(&at[0], &at[1]);
    if (!c || c->stepped)
    {
        return WEFT_OK;
    }
    contact_state* to = &c->sim.world.state.contact;
    if (!mem_grow((void**)&to->bonds, &to->bond_capacity, to->bond_count + 1, sizeof(contact_bond)))
    {
        return WEFT_NO_MEMORY;
    }
    contact_bond bond = *from;
    bond.first = feature[0] + c->feature_first[kind[0]][body_in(&at[0], c)];
    bond.second = feature[1] + c->feature_first[kind[1]][body_in(&at[1], c)];
    for (int k = 0; k < 4; k++)
    {
        bond.vertex[k] = vertex_there(sim, c, bond.vertex[k]);
    }
    to->bonds[to->bond_count++] = bond;
    return WEFT_OK;
}

static weft_status deal_mark(const weft_sim* sim, squeeze_mark mark)
{
    int bodies = sim->body_count + sim->obstacle_count;
    const int* first = sim->clusters.feature_first[FEATURE_VERTEX];
    int body = body_of(first, bodies, mark.vertex);
    if (body < 0 || body >= sim->body_count || mark.body >= bodies)
    {
        return WEFT_OK;
    }
    place of = place_of(sim, body), by = place_of(sim, mark.body);
    cluster* c = cluster_of_pair(&of, &by);
    if (!c || c->stepped || by.body < 0) // -1: it was removed
    {
        return WEFT_OK;
    }
    mark.vertex += c->feature_first[FEATURE_VERTEX][of.body] - first[body];
    mark.body = body_in(&by, c);
    return marks_add(&c->sim.world.state.contact.marks, mark);
}

// What a body has of the scene's arrays, there or back.
static void copy_body(const state* from, int first, state* to, int to_first, int count)
{
    size_t n = (size_t)count;
    memcpy(to->x + to_first, from->x + first, n * sizeof(vec3));
    memcpy(to->v + to_first, from->v + first, n * sizeof(vec3));
    memcpy(to->acceleration + to_first, from->acceleration + first, n * sizeof(vec3));
    memcpy(to->earlier[0] + to_first, from->earlier[0] + first, n * sizeof(vec3));
    memcpy(to->earlier[1] + to_first, from->earlier[1] + first, n * sizeof(vec3));
    memcpy(to->contact.memory + to_first, from->contact.memory + first, n * sizeof(contact_memory));
    for (int k = 0; k < int_min(from->history_count, to->history_count); k++)
    {
        memcpy(to->history[k].x + to_first, from->history[k].x + first, n * sizeof(vec3));
        memcpy(to->history[k].v + to_first, from->history[k].v + first, n * sizeof(vec3));
    }
}

static void deal_arrays(const weft_sim* sim, cluster* c)
{
    state* to = &c->sim.world.state;
    for (int k = 0; k < c->sim.body_count; k++)
    {
        const body *from = &sim->bodies[c->member[k]], *own = &c->sim.bodies[k];
        copy_body(&sim->world.state, from->first, to, own->first, own->scene_count);
    }
    to->step_count = sim->world.state.step_count;
    to->contact.marks.count = to->contact.bond_count = 0;
    body_control joined = control_join(sim, c->member, c->sim.body_count);
    control_put(&c->sim.world, &joined);
}

weft_status clusters_deal(weft_sim* sim)
{
    const contact_state* from = &sim->world.state.contact;
    for (int n = 0; n < sim->clusters.count; n++)
    {
        cluster* c = sim->clusters.list[n];
        c->stepped ? (void)0 : deal_arrays(sim, c);
    }
    for (int k = 0; k < from->marks.count && sim->def.contact; k++)
    {
        TRY(deal_mark(sim, from->marks.item[k]));
    }
    for (int k = 0; k < from->bond_count && sim->def.contact; k++)
    {
        TRY(deal_bond(sim, &from->bonds[k]));
    }
    return WEFT_OK;
}

// ---- and back

weft_status clusters_reserve_collect(weft_sim* sim)
{
    contact_state* to = &sim->world.state.contact;
    int bonds = 0, marks = 0;
    for (int n = 0; n < sim->clusters.count; n++)
    {
        const contact_state* from = &sim->clusters.list[n]->sim.world.state.contact;
        bonds += from->bond_count;
        marks += from->marks.count;
    }
    bool room = mem_grow((void**)&to->bonds, &to->bond_capacity, bonds, sizeof(contact_bond)) &&
                mem_grow((void**)&to->marks.item, &to->marks.capacity, marks, sizeof(squeeze_mark));
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

// The scene's number of a cluster's feature.
static int feature_back(const weft_sim* sim, const cluster* c, int kind, int feature)
{
    int body = body_of(c->feature_first[kind], c->sim.body_count + c->sim.obstacle_count, feature);
    return feature - c->feature_first[kind][body] + sim->clusters.feature_first[kind][whole_body(sim, c, body)];
}

static void collect_contact(weft_sim* sim, const cluster* c)
{
    const contact_state* from = &c->sim.world.state.contact;
    contact_state* to = &sim->world.state.contact;
    for (int k = 0; k < from->bond_count; k++)
    {
        int kind[2];
        contact_bond bond = from->bonds[k];
        kinds_of(bond.kind, kind);
        bond.first = feature_back(sim, c, kind[0], bond.first);
        bond.second = feature_back(sim, c, kind[1], bond.second);
        for (int a = 0; a < 4; a++)
        {
            bond.vertex[a] = bond.vertex[a] < INT_MAX ? feature_back(sim, c, FEATURE_VERTEX, bond.vertex[a]) : INT_MAX;
        }
        to->bonds[to->bond_count++] = bond;
    }
    for (int k = 0; k < from->marks.count; k++)
    {
        squeeze_mark mark = from->marks.item[k];
        mark.vertex = feature_back(sim, c, FEATURE_VERTEX, mark.vertex);
        mark.body = whole_body(sim, c, mark.body);
        to->marks.item[to->marks.count++] = mark;
    }
}

static int compare_bonds(const void* a, const void* b)
{
    const contact_bond *p = a, *q = b;
    int kind = (p->kind > q->kind) - (p->kind < q->kind), first = (p->first > q->first) - (p->first < q->first);
    return kind != 0 ? kind : first != 0 ? first : (p->second > q->second) - (p->second < q->second);
}

// For whoever looks at the simulation's own world, and for the checkpoint, which must have the past of all bodies.
static body_control control_longest(const weft_sim* sim)
{
    body_control sum = control_join(sim, NULL, sim->body_count);
    for (int k = 0; k < sim->body_count; k++)
    {
        const body_control* c = &sim->clusters.control[k];
        if (!sim->bodies[k].removed && c->history_filled > sum.history_filled)
        {
            sum.history_filled = c->history_filled;
            memcpy(sum.past_h, c->past_h, sizeof(sum.past_h));
        }
    }
    return sum;
}

void clusters_collect(weft_sim* sim)
{
    state* to = &sim->world.state;
    int most = 0; // vertices of a cluster
    to->contact.bond_count = to->contact.marks.count = 0;
    for (int n = 0; n < sim->clusters.count; n++)
    {
        const cluster* c = sim->clusters.list[n];
        const state* from = &c->sim.world.state;
        body_control control = control_of(&c->sim.world);
        for (int k = 0; k < c->sim.body_count; k++)
        {
            const body *own = &c->sim.bodies[k], *b = &sim->bodies[c->member[k]];
            copy_body(from, own->first, to, b->first, own->scene_count);
            control.cluster = c->member[0];
            sim->clusters.control[c->member[k]] = control;
        }
        collect_contact(sim, c);
        to->step_count = from->step_count;
        sim->world.time = c->sim.world.time;
        sim->world.h = c->sim.world.h;
        sim->world.last_solve = from->vertex_count > most ? c->sim.world.last_solve : sim->world.last_solve;
        most = int_max(most, from->vertex_count);
    }
    to->contact.bond_count > 1
        ? qsort(to->contact.bonds, (size_t)to->contact.bond_count, sizeof(contact_bond), compare_bonds)
        : (void)0;
    marks_sort(&to->contact.marks);
    body_control joined = control_longest(sim);
    control_put(&sim->world, &joined);
}
