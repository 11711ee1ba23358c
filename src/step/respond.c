// What follows a solve, whatever the method: no substep ends with a crossing.
//
// Continuous detection over the substep, start to end, and from the end to its rounding to float, so that a cache is as
// clean as the state. Collisions become rows (contact.h): along the normal, end positions must be a gap apart, and
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
#include <string.h>

#include "step/sweep.h"

enum
{
    IMPULSE_ROUNDS = 4,
    ZONE_ROUNDS = 24,
    BODIES_LET = 4, // in a substep, one after the other
    RIGID_ROUNDS = 40,
    RIGID_STILL = 8, // rounds without a change after which rigid zones are given up
    SWEEPS_MAX = 200,
    VISITS_MAX = 1000000,    // of rows in zones of one substep: what that does not part, rigid zones do
    HALVINGS_FOR_CONTACT = 4 // of a substep, before what cannot be parted is left
};

// Collisions keep this many roundings to float apart at least, and this share of the thickness where they started so
// far apart: springs do the rest in the next substep.
static const double gap_ulps = 8.0, gap_share = 0.25;

// A response that multiplies the largest stretch by more asks for a shorter substep.
static const double response_stretch = 1.05;

// ---- rows

// W a: what an impulse a does to a vertex.
static vec3 yield_to(const world* w, int vertex, vec3 a)
{
    const contact* c = w->contact;
    vec3 d = v3_scale(c->inv_mass[vertex], a);
    int record = vertex < c->cloth_count ? c->record[vertex] : -1;
    return record < 0 ? d : m3_mul_v(c->pin_records[record].S, d);
}

static double row_inv_mass(const world* w, const contact_row* row, vec3 direction)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
    {
        vec3 d = yield_to(w, row->vertex[k], direction);
        sum += row->weight[k] * row->weight[k] * v3_dot(direction, d);
    }
    return sum;
}

static void row_push(const world* w, const contact_row* row, vec3 impulse, vec3* x)
{
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        x[i] = v3_madd(x[i], row->weight[k], yield_to(w, i, impulse));
        w->contact->awake[i] = 1;
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

static contact_row row_of(const world* w, const collision* hit)
{
    const contact* c = w->contact;
    contact_row row = {0};
    memcpy(row.vertex, hit->vertex, sizeof(row.vertex));
    vec3 x[4];
    double t = hit->time < 0.0 ? 1.0 : hit->time, thickness = 0.0;
    row.friction = contact_friction(c, hit->kind, hit->vertex);
    for (int k = 0; k < 4; k++)
    {
        int i = hit->vertex[k];
        x[k] = v3_madd(c->start[i], t, v3_sub(c->end[i], c->start[i]));
        thickness = fmax(thickness, c->thickness[i]);
    }
    closest at = hit->kind == WEFT_VERTEX_FACE ? closest_vertex_face(x) : closest_edge_edge(x);
    memcpy(row.weight, at.weight, sizeof(row.weight));
    row.normal = pair_normal(hit->kind, x);
    row.normal = v3_dot(row.normal, row.normal) > 0.0 ? row.normal : at.normal;
    double before = v3_dot(row.normal, weighted(row.weight, row.vertex, c->start));
    double after = v3_dot(row.normal, weighted(row.weight, row.vertex, c->end));
    // The side on which they started; where they touched at the start, that from which they come.
    double side = fabs(before) > 1e-3 * c->ulp ? before : before - after;
    if (side < 0.0)
    {
        row.normal = v3_scale(-1.0, row.normal);
        before = -before;
    }
    row.gap = fmax(fmin(before, gap_share * thickness), gap_ulps * c->ulp);
    row.inv_mass = row_inv_mass(w, &row, row.normal);
    return row;
}

static weft_status add_rows(world* w, const narrow_list* found)
{
    contact* c = w->contact;
    if (!mem_grow((void**)&c->rows, &c->row_capacity, c->row_count + found->count, sizeof(contact_row)))
    {
        return WEFT_NO_MEMORY;
    }
    const collision* hits = found->item;
    for (int k = 0; k < found->count; k++)
    {
        contact_row row = row_of(w, &hits[k]);
        for (int v = 0; v < 4; v++)
        {
            c->awake[row.vertex[v]] = 1; // it is looked at again, whatever becomes of it
        }
        if (row.inv_mass > 0.0) // else nothing of it can move
        {
            c->rows[c->row_count++] = row;
        }
    }
    return WEFT_OK;
}

// ---- impulses and zones

// Along the normal; returns by how much the gap was missed.
static double row_meet(const world* w, contact_row* row)
{
    contact* c = w->contact;
    double missing = row->gap - v3_dot(row->normal, weighted(row->weight, row->vertex, c->end));
    double push = fmax(missing / row->inv_mass, -row->pushed);
    row->pushed += push;
    row_push(w, row, v3_scale(push, row->normal), c->end);
    double approach = -v3_dot(row->normal, weighted(row->weight, row->vertex, c->velocity));
    double slow = fmax(approach / row->inv_mass, -row->slowed);
    row->slowed += slow;
    row_push(w, row, v3_scale(slow, row->normal), c->velocity);
    return missing;
}

// Takes up to friction times the normal impulse out of the tangential motion.
static void row_rub(const world* w, const contact_row* row, double impulse, const vec3* from, vec3* to)
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
    double inv_mass = row_inv_mass(w, row, along);
    double rub = inv_mass > 0.0 ? fmin(row->friction * impulse, speed / inv_mass) : 0.0;
    row_push(w, row, v3_scale(-rub, along), to);
}

static void sweep_impulses(world* w)
{
    contact* c = w->contact;
    for (int k = 0; k < c->row_count; k++)
    {
        row_meet(w, &c->rows[k]);
        row_rub(w, &c->rows[k], c->rows[k].pushed, c->start, c->end);
        row_rub(w, &c->rows[k], c->rows[k].slowed, NULL, c->velocity);
    }
}

static void sweep_zones(world* w, int* visits)
{
    contact* c = w->contact;
    double worst = INFINITY;
    for (int turn = 0; turn < SWEEPS_MAX && *visits < VISITS_MAX && worst > 0.25 * gap_ulps * c->ulp; turn++)
    {
        worst = 0.0;
        *visits += c->row_count;
        for (int k = 0; k < c->row_count; k++)
        {
            worst = fmax(worst, row_meet(w, &c->rows[k]));
        }
    }
}

// ---- rigid zones

// Obstacles and vertices that pins hold wholly.
static bool is_fixed(const contact* c, int i)
{
    int record = i < c->cloth_count ? c->record[i] : -1;
    return c->inv_mass[i] == 0.0 || (record >= 0 && c->pin_records[record].direction_count == 3);
}

static int zone_root(contact* c, int i)
{
    while (c->zone[i] != i)
    {
        i = c->zone[i] = c->zone[c->zone[i]];
    }
    return i;
}

// False: they were one already.
static bool zone_join(contact* c, int i, int k)
{
    int a = zone_root(c, i), b = zone_root(c, k);
    c->zone[int_max(a, b)] = int_min(a, b); // zones are called by their smallest vertex
    return a != b;
}

// Every vertex of a collision that can move belongs to one zone with the others of it. False: they all did already.
static bool zones_join(contact* c, const collision* hit, int count)
{
    bool grown = false;
    for (int k = 0; k < count; k++)
    {
        int first = -1;
        for (int v = 0; v < 4; v++)
        {
            int i = hit[k].vertex[v];
            if (!is_fixed(c, i) && first >= 0)
            {
                grown = zone_join(c, first, i) || grown;
            }
            first = !is_fixed(c, i) ? i : first;
        }
    }
    return grown;
}

// Zones stand still. Only vertices of stuck collisions have ever been moved, joined or weighed.
static void zones_rest(contact* c)
{
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        c->zone_motion[i] = v3(0, 0, 0);
        c->zone_mass[i] = 0.0;
    }
}

// Nothing is stuck: every vertex is a zone by itself again.
static void zones_clear(contact* c)
{
    zones_rest(c);
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        c->zone[i] = i;
    }
    c->stuck_count = 0;
}

// The motion of each zone: the mean of what cannot move and holds it, else of its own mass. Vertices of one zone are
// counted once for each collision that names them, which is as good a weight as any.
static void zones_move(contact* c)
{
    for (int anchored = 1; anchored >= 0; anchored--)
    {
        for (int k = 0; k < 4 * c->stuck_count; k++)
        {
            const collision* hit = &c->stuck[k / 4];
            int i = hit->vertex[k % 4], root = -1;
            for (int v = 0; v < 4 && root < 0; v++)
            {
                root = !is_fixed(c, hit->vertex[v]) ? zone_root(c, hit->vertex[v]) : -1;
            }
            bool held = is_fixed(c, i);
            if (root < 0 || held != (anchored == 1) || (!anchored && c->zone_mass[root] < 0.0))
            {
                continue;
            }
            double mass = held ? 1.0 : 1.0 / c->inv_mass[i];
            c->zone_motion[root] = v3_madd(c->zone_motion[root], mass, v3_sub(c->end[i], c->start[i]));
            c->zone_mass[root] += held ? -mass : mass; // negative: held
        }
    }
}

static void zones_apply(contact* c, double h)
{
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4], root = zone_root(c, i);
        if (!is_fixed(c, i) && c->zone_mass[root] != 0.0)
        {
            vec3 motion = v3_scale(1.0 / fabs(c->zone_mass[root]), c->zone_motion[root]);
            c->end[i] = v3_add(c->start[i], motion);
            c->velocity[i] = v3_scale(1.0 / h, motion);
        }
    }
}

static weft_status add_stuck(contact* c, const narrow_list* found, bool* grown)
{
    if (!mem_grow((void**)&c->stuck, &c->stuck_capacity, c->stuck_count + found->count, sizeof(collision)))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(c->stuck + c->stuck_count, found->item, (size_t)found->count * sizeof(collision));
    *grown = zones_join(c, found->item, found->count);
    c->stuck_count += found->count;
    zones_rest(c);
    return WEFT_OK;
}

// *grown: a zone has taken something in.
static weft_status make_rigid(world* w, const narrow_list* found, bool* grown)
{
    contact* c = w->contact;
    TRY(add_stuck(c, found, grown));
    zones_move(c);
    zones_apply(c, w->h);
    // They are looked at again, whatever became of them.
    int count = 0;
    for (int k = 0; k < 4 * c->stuck_count; k++)
    {
        int i = c->stuck[k / 4].vertex[k % 4];
        count += !c->awake[i] && !is_fixed(c, i);
        c->awake[i] = 1;
    }
    w->stats->last_resort = int_max(w->stats->last_resort, count);
    return WEFT_OK;
}

// ---- bodies that close on the cloth

static int collision_root(contact* c, const collision* hit)
{
    int root = -1;
    for (int v = 0; v < 4 && root < 0; v++)
    {
        root = !is_fixed(c, hit->vertex[v]) ? zone_root(c, hit->vertex[v]) : -1;
    }
    return root;
}

// The obstacle that takes part; -1: none does.
static int collision_obstacle(const contact* c, const collision* hit, double* way)
{
    int body = -1;
    *way = 0.0;
    for (int v = 0; v < 4; v++)
    {
        int i = hit->vertex[v];
        if (i >= c->cloth_count)
        {
            body = c->body[i];
            *way = fmax(*way, v3_length(v3_sub(c->end[i], c->start[i])));
        }
    }
    return body;
}

// Of the bodies that hold the zones of what cannot be parted, the one that moves most goes through the cloth: it will
// leave again, and the others keep the cloth on its side of them. *out is false when none moves.
static weft_status let_through(contact* c, bool* out)
{
    double most = 0.0, way;
    int fastest = -1;
    bool grown;
    *out = false;
    TRY(add_stuck(c, &c->found, &grown));
    for (int k = 0; k < c->found.count; k++)
    {
        int root = collision_root(c, (const collision*)c->found.item + k);
        root >= 0 ? (void)(c->zone_mass[root] = 1.0) : (void)0;
    }
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = 0; k < c->stuck_count; k++)
        {
            const collision* hit = &c->stuck[k];
            int root = collision_root(c, hit), body = collision_obstacle(c, hit, &way);
            if (root < 0 || c->zone_mass[root] == 0.0 || body < 0)
            {
                continue;
            }
            if (pass == 0 && way > most)
            {
                most = way;
                fastest = body;
            }
            else if (pass == 1 && body == fastest)
            {
                TRY(squeeze_let(c, hit));
                *out = true;
            }
        }
    }
    squeeze_settle(c);
    return WEFT_OK;
}

// ---- the stage

static weft_status load(world* w)
{
    contact* c = w->contact;
    double largest = 0.0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->end[i] = w->x_next[i] = sweep_flush(w->x_next[i]);
        c->velocity[i] = w->v_next[i];
        c->record[i] = -1;
        largest = fmax(largest, fmax(fabs(c->end[i].x), fmax(fabs(c->end[i].y), fabs(c->end[i].z))));
    }
    for (int k = 0; k < c->pin_count; k++)
    {
        c->record[c->pin_records[k].vertex] = k;
    }
    c->ulp = fmax(c->ulp, ldexp(largest, -24));
    c->all_awake = true;
    return largest < 1e11 ? WEFT_OK : WEFT_NOT_FINITE;
}

static bool may_halve(const world* w)
{
    return w->state.halvings < int_min(w->settings.max_halvings, HALVINGS_FOR_CONTACT);
}

// What the response has changed has other energies; they are the next substep's, and are not judged. But where it had
// to stretch the cloth, a body has gone too far in one substep: elastic forces want to take part.
static weft_status store(world* w)
{
    const contact* c = w->contact;
    for (int i = 0; i < c->cloth_count; i++)
    {
        w->x_next[i] = c->end[i];
        w->v_next[i] = c->velocity[i];
    }
    w->after = world_energy(w, w->x_next, w->v_next);
    bool far = w->after.max_stretch > response_stretch * fmax(1.0, w->before.max_stretch);
    return far && may_halve(w) ? WEFT_NOT_CONVERGED : WEFT_OK;
}

// Impulses, zones and rigid zones, until nothing collides or all have had their turn; *changed: there was something.
static weft_status part(world* w, bool* changed)
{
    contact* c = w->contact;
    c->row_count = 0;
    zones_clear(c);
    int visits = 0, still = 0, least = INT32_MAX;
    for (int round = 0; round < IMPULSE_ROUNDS + ZONE_ROUNDS + RIGID_ROUNDS && still < RIGID_STILL; round++)
    {
        TRY(sweep_collisions(c));
        if (c->found.count == 0)
        {
            return WEFT_OK;
        }
        *changed = true;
        w->stats->contacts = int_max(w->stats->contacts, c->found.count);
        if (round >= IMPULSE_ROUNDS + ZONE_ROUNDS || visits >= VISITS_MAX)
        {
            bool grown;
            TRY(make_rigid(w, &c->found, &grown));
            still = grown || c->found.count < least ? 0 : still + 1;
            least = int_min(least, c->found.count);
            continue;
        }
        bool zones = round >= IMPULSE_ROUNDS;
        c->row_count = zones ? c->row_count : 0;
        TRY(add_rows(w, &c->found));
        zones ? sweep_zones(w, &visits) : sweep_impulses(w);
    }
    return sweep_collisions(c);
}

// The shortest substep, and bodies or pins have closed on the cloth. That is listed, and the run goes on.
static weft_status give_way(world* w)
{
    contact* c = w->contact;
    bool passed = true, changed = true;
    for (int body = 0; body < BODIES_LET && c->found.count > 0 && passed; body++)
    {
        TRY(let_through(c, &passed));
        TRY(passed ? load(w) : WEFT_OK);
        TRY(passed ? part(w, &changed) : WEFT_OK);
    }
    while (c->found.count > 0)
    {
        TRY(squeeze_give_up(c));
        c->all_awake = true;
        TRY(sweep_collisions(c));
    }
    return WEFT_OK;
}

weft_status stage_respond(world* w)
{
    contact* c = w->contact;
    if (!c)
    {
        return WEFT_OK;
    }
    bool changed = false;
    TRY(load(w));
    TRY(part(w, &changed));
    if (c->found.count > 0)
    {
        TRY(may_halve(w) ? WEFT_NOT_CONVERGED : give_way(w));
    }
    TRY(changed ? store(w) : WEFT_OK);
    return squeeze_list(c);
}
