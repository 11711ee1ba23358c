// What follows a solve, whatever the method: no substep ends with a crossing.
//
// Continuous detection over the substep, start to end, and from the end to its rounding to float, so that a cache is as
// clean as the state. Collisions become rows (response_row): along the normal, end positions must be a gap apart, and
// velocities must not approach. Rows are met in four ways, each only for what the one before has left:
//
//   1. impulses: a few rounds of detection and one sweep over its rows, with friction (Bridson et al. 2002,
//   section 7.4);
//   2. zones: rows of all rounds are kept, and sweeps with accumulated impulses go on until all hold. That is the
//   projection
//      of Harmon et al. 2008 in the metric of mass, min 1/2 |dx|_M^2, with inequalities instead of equalities: what has
//      been pushed may leave. Rows that share no vertex do not feel each other: zones need no bookkeeping;
//   3. rigid zones: what still collides moves as one, with the mean motion, or with what holds it; a translation keeps
//   all
//      distances, and a zone that hits more takes that in, until nothing collides. Where zones have ceased to grow and
//      not less collides, bodies hold them that move apart: no more rounds would help;
//   4. a shorter substep.
//
// Sweeps run in the order of detection, which is sorted: the same bits on any number of threads.
#include <stdlib.h>
#include <string.h>

#include "contact/find.h"

enum
{
    IMPULSE_ROUNDS = 4,
    ZONE_ROUNDS = 24,
    BODIES_LET = 4, // in a substep, one after the other
    RIGID_ROUNDS = 40,
    RIGID_STILL = 8, // rounds without a change after which rigid zones are given up
    SWEEPS_MAX = 200 // a round
};

// Collisions keep this many roundings to float apart at least, and this share of the thickness where they started so
// far apart: cushions do the rest in the next substep.
static const double gap_ulps = 8.0, gap_share = 0.25;

// ---- rows

static void row_push(contact* c, const response_row* row, vec3 impulse, vec3* x)
{
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        x[i] = v3_madd(x[i], row->weight[k], contact_yield(c, i, impulse));
        c->awake[i] = 1;
    }
}

// The geometric normal: that of the face, or across both edges; zero when there is none.
static vec3 pair_normal(weft_pair_kind kind, const vec3 x[4])
{
    vec3 a = kind == WEFT_VERTEX_FACE ? v3_sub(x[2], x[1]) : v3_sub(x[1], x[0]);
    vec3 b = kind == WEFT_VERTEX_FACE ? v3_sub(x[3], x[1]) : v3_sub(x[3], x[2]);
    vec3 n = v3_cross(a, b);
    double size = v3_length(n), limit = 1e-8 * v3_length(a) * v3_length(b);
    return size > limit ? v3_scale(1.0 / size, n) : v3(0, 0, 0);
}

// The rounding to float of the largest coordinate of the points: what is far away has no part in it.
static double rounding_of(const contact* c, const int vertex[4])
{
    double largest = 0.0;
    for (int k = 0; k < 4; k++)
    {
        const vec3 *a = &c->start[vertex[k]], *b = &c->end[vertex[k]];
        largest = fmax(largest, fmax(fabs(a->x), fmax(fabs(a->y), fabs(a->z))));
        largest = fmax(largest, fmax(fabs(b->x), fmax(fabs(b->y), fabs(b->z))));
    }
    return ldexp(largest, -24);
}

static response_row row_of(const contact* c, const collision* hit)
{
    response_row row = {0};
    memcpy(row.vertex, hit->vertex, sizeof(row.vertex));
    vec3 x[4];
    double t = hit->time < 0.0 ? 1.0 : hit->time, thickness = 0.0, ulp = rounding_of(c, hit->vertex);
    for (int k = 0; k < 4; k++)
    {
        int i = hit->vertex[k];
        x[k] = v3_madd(c->start[i], t, v3_sub(c->end[i], c->start[i]));
        thickness = fmax(thickness, c->thickness[i]);
    }
    closest at = hit->kind == WEFT_VERTEX_FACE ? closest_vertex_face(x) : closest_edge_edge(x);
    memcpy(row.weight, at.weight, sizeof(row.weight));
    row.friction = contact_friction_at(c, hit->vertex, hit->kind == WEFT_VERTEX_FACE ? 1 : 2, at.weight).rub;
    row.normal = pair_normal(hit->kind, x);
    row.normal = v3_dot(row.normal, row.normal) > 0.0 ? row.normal : at.normal;
    double before = v3_dot(row.normal, weighted(row.weight, row.vertex, c->start));
    double after = v3_dot(row.normal, weighted(row.weight, row.vertex, c->end));
    // The side on which they started; where they touched at the start, that from which they come.
    double side = fabs(before) > 1e-3 * ulp ? before : before - after;
    if (side < 0.0)
    {
        row.normal = v3_scale(-1.0, row.normal);
        before = -before;
    }
    row.gap = fmax(fmin(before, gap_share * thickness), gap_ulps * ulp);
    row.slack = 0.25 * gap_ulps * ulp;
    row.inv_mass = contact_inv_mass(c, row.vertex, row.weight, row.normal);
    return row;
}

static weft_status add_rows(contact* c)
{
    if (!mem_grow((void**)&c->pushes, &c->push_capacity, c->push_count + c->found.count, sizeof(response_row)))
    {
        return WEFT_NO_MEMORY;
    }
    const collision* hits = c->found.item;
    for (int k = 0; k < c->found.count; k++)
    {
        response_row row = row_of(c, &hits[k]);
        for (int v = 0; v < 4; v++)
        {
            c->awake[row.vertex[v]] = 1; // it is looked at again, whatever becomes of it
        }
        if (row.inv_mass > 0.0) // else nothing of it can move
        {
            row.order = c->push_count;
            c->pushes[c->push_count++] = row;
        }
    }
    return WEFT_OK;
}

// ---- islands: rows that share a vertex that can move, directly or by others. What one island needs, sweeps and
// visits, is no other's business: cloths that do not meet do not change each other's bits.

static int compare_islands(const void* a, const void* b)
{
    const response_row *p = a, *q = b;
    return p->island != q->island ? (p->island > q->island) - (p->island < q->island)
                                  : (p->order > q->order) - (p->order < q->order);
}

// A vertex of cloth that the row names; every row has one.
static int row_cloth(const contact* c, const response_row* row)
{
    int k = 0;
    while (row->vertex[k] >= c->cloth_count)
    {
        k++;
    }
    return row->vertex[k];
}

// Sorts the rows by island; within one they stay in the order of detection.
static void islands_find(contact* c)
{
    for (int k = 0; k < 4 * c->push_count; k++)
    {
        int i = c->pushes[k / 4].vertex[k % 4];
        c->island[i] = i;
    }
    for (int k = 0; k < 4 * c->push_count; k++)
    {
        const response_row* row = &c->pushes[k / 4];
        if (row->vertex[k % 4] < c->cloth_count)
        {
            forest_join(c->island, row_cloth(c, row), row->vertex[k % 4]);
        }
    }
    for (int k = 0; k < c->push_count; k++)
    {
        c->pushes[k].island = forest_root(c->island, row_cloth(c, &c->pushes[k]));
    }
    if (c->push_count > 1)
    {
        qsort(c->pushes, (size_t)c->push_count, sizeof(response_row), compare_islands);
    }
}

// ---- impulses and zones

// Along the normal; returns by how much the gap was missed, beyond its slack.
static double row_meet(contact* c, response_row* row)
{
    double missing = row->gap - v3_dot(row->normal, weighted(row->weight, row->vertex, c->end));
    double push = fmax(missing / row->inv_mass, -row->pushed);
    row->pushed += push;
    row_push(c, row, v3_scale(push, row->normal), c->end);
    double approach = -v3_dot(row->normal, weighted(row->weight, row->vertex, c->velocity));
    double slow = fmax(approach / row->inv_mass, -row->slowed);
    row->slowed += slow;
    row_push(c, row, v3_scale(slow, row->normal), c->velocity);
    return missing - row->slack;
}

// Takes up to friction times the normal impulse out of the tangential motion.
static void row_rub(contact* c, const response_row* row, double impulse, const vec3* from, vec3* to)
{
    vec3 motion = weighted(row->weight, row->vertex, to);
    motion = from ? v3_sub(motion, weighted(row->weight, row->vertex, from)) : motion;
    vec3 slide = v3_madd(motion, -v3_dot(motion, row->normal), row->normal);
    double speed = v3_length(slide);
    if (!(speed > 0.0) || !(impulse > 0.0))
    {
        return;
    }
    vec3 along = v3_scale(1.0 / speed, slide);
    double inv_mass = contact_inv_mass(c, row->vertex, row->weight, along);
    double rub = inv_mass > 0.0 ? fmin(row->friction * impulse, speed / inv_mass) : 0.0;
    row_push(c, row, v3_scale(-rub, along), to);
}

static void sweep_impulses(contact* c)
{
    for (int k = 0; k < c->push_count; k++)
    {
        response_row* row = &c->pushes[k];
        row_meet(c, row);
        row_rub(c, row, row->pushed, c->start, c->end);
        row_rub(c, row, row->slowed, NULL, c->velocity);
    }
}

// The rows [first, last) of one island, until all hold; its vertices remember what it has cost in this substep.
static void sweep_island(contact* c, int first, int last)
{
    int visits = 0;
    double worst = INFINITY;
    for (int k = 4 * first; k < 4 * last; k++)
    {
        visits = int_max(visits, c->visits[c->pushes[k / 4].vertex[k % 4]]);
    }
    int before = visits;
    for (int turn = 0; turn < SWEEPS_MAX && visits < VISITS_MAX && worst > 0.0; turn++)
    {
        worst = 0.0;
        visits += last - first;
        for (int k = first; k < last; k++)
        {
            worst = fmax(worst, row_meet(c, &c->pushes[k]));
        }
    }
    c->effort += visits - before;
    for (int k = 4 * first; k < 4 * last; k++)
    {
        int i = c->pushes[k / 4].vertex[k % 4];
        c->visits[i] = i < c->cloth_count ? visits : 0;
    }
}

// Islands with a row from `fresh` on, in the order of detection: the others hold already.
static void sweep_zones(contact* c, int fresh)
{
    islands_find(c);
    for (int first = 0, last; first < c->push_count; first = last)
    {
        for (last = first + 1; last < c->push_count && c->pushes[last].island == c->pushes[first].island; last++)
        {
        }
        if (c->pushes[last - 1].order >= fresh)
        {
            sweep_island(c, first, last);
        }
    }
}

// Whether sweeps have had their turn at all that a collision could move.
static bool is_spent(const contact* c, const collision* hit)
{
    int visits = 0;
    for (int v = 0; v < 4; v++)
    {
        visits = int_max(visits, c->visits[hit->vertex[v]]);
    }
    return visits >= VISITS_MAX;
}

// ---- the whole

static void load(contact* c, vec3* x, const vec3* v)
{
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->end[i] = x[i] = find_flush(x[i]);
        c->velocity[i] = v[i];
    }
    memset(c->visits, 0, (size_t)c->vertex_count * sizeof(int));
    c->all_awake = true;
}

// Collisions whose islands are spent go to rigid zones, the others stay in found.
static weft_status take_spent(contact* c, bool all, int* spent)
{
    collision* hits = c->found.item;
    int kept = 0, count = c->found.count;
    *spent = 0;
    if (!mem_grow((void**)&c->stuck, &c->stuck_capacity, c->stuck_count + count, sizeof(collision)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < count; k++)
    {
        bool now = all || is_spent(c, &hits[k]);
        *(now ? &c->stuck[c->stuck_count + (*spent)++] : &hits[kept++]) = hits[k];
    }
    c->found.count = kept;
    return WEFT_OK;
}

// Impulses, zones and rigid zones, until nothing collides or all have had their turn; *changed: there was something.
static weft_status part(contact* c, bool* changed)
{
    c->push_count = 0;
    zones_clear(c);
    int still = 0, least = INT32_MAX;
    for (int round = 0; round < IMPULSE_ROUNDS + ZONE_ROUNDS + RIGID_ROUNDS && still < RIGID_STILL; round++)
    {
        TRY(find_collisions(c));
        if (c->found.count == 0)
        {
            return WEFT_OK;
        }
        round = contact_is_spent(c) ? int_max(round, IMPULSE_ROUNDS + ZONE_ROUNDS) : round;
        *changed = true;
        c->contacts = int_max(c->contacts, c->found.count);
        int spent;
        bool grown = false;
        TRY(take_spent(c, round >= IMPULSE_ROUNDS + ZONE_ROUNDS, &spent));
        spent > 0 ? zones_take(c, spent, &grown) : (void)0;
        bool lasting = c->found.count == 0 && !grown && spent >= least;
        still = lasting ? still + 1 : 0;
        least = c->found.count == 0 ? int_min(least, spent) : least;
        bool zones = round >= IMPULSE_ROUNDS;
        int fresh = c->push_count = zones ? c->push_count : 0;
        TRY(add_rows(c));
        zones ? sweep_zones(c, fresh) : sweep_impulses(c);
    }
    return find_collisions(c);
}

// The shortest substep, and bodies or pins have closed on the cloth. That is listed, and the run goes on.
static weft_status give_way(contact* c, vec3* x, const vec3* v)
{
    bool passed = true, changed = true;
    for (int body = 0; body < BODIES_LET && c->found.count > 0 && passed; body++)
    {
        TRY(zones_let_through(c, &passed));
        if (passed)
        {
            load(c, x, v);
            TRY(part(c, &changed));
        }
    }
    while (c->found.count > 0)
    {
        TRY(squeeze_give_up(c));
        c->all_awake = true;
        TRY(find_collisions(c));
    }
    return WEFT_OK;
}

weft_status contact_respond(contact* c, vec3* x, vec3* v, bool may_halve, bool* changed)
{
    *changed = false;
    c->now.may_halve = c->now.may_halve && may_halve;
    load(c, x, v);
    TRY(part(c, changed));
    if (c->found.count > 0)
    {
        TRY(may_halve ? WEFT_NOT_CONVERGED : give_way(c, x, v));
    }
    for (int i = 0; i < c->cloth_count && *changed; i++)
    {
        x[i] = c->end[i];
        v[i] = c->velocity[i];
    }
    return WEFT_OK;
}
