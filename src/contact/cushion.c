// Cloth against cloth inside the implicit solve, and cloth against edges and corners of obstacles: pairs of features
// that are closer than their thickness, or will be within the substep, push each other apart like damped cushions. The
// Jacobians are blocks of A that come and go (Baraff and Witkin 1998, section 6; Bridson et al. 2002, section 7.2, in
// the solve).
//
// Stiffness follows the mass of the pair, so that it neither depends on the mesh nor spoils the matrix: a cushion
// accelerates it by 1000 m/s^2 (1 - s) / s^2 at a share s of the thickness. A sheet then rests on another at
// 0.99 of the thickness, and five at 0.95. Damping is critical, so that what was pressed does not bounce, and never
// pulls.
//
// Friction in motion is Coulomb's, linear around the motion that the end of the substep is expected to have: a constant
// force mu N against it, and across it the viscous force that turns it along. The expected motion: with u the present
// one, a the last acceleration and f the friction in it, the pair would go on by u + h (a - f / m), and friction takes
// h mu N / m off its size. Where nothing is left of it the pair is about to stop, and friction is viscous: mu N at the
// present speed, so that it never turns the motion round and does not exceed mu N while others draw the pair along.
// Friction at rest is a damped spring across the normal: what it is drawn by is the state's memory of the pair (bonds),
// so that a stack on a slope does not creep. It holds up to the coefficient at rest, slips when that is exceeded, and
// clings again when the pair has come to a stop, drawn by what friction exerted then.
#include <string.h>

#include "contact/find.h"

static const double push_acceleration = 1000.0; // m/s^2
static const double share_min = 0.02;           // of the thickness: closer is not looked at

static vec3 across(vec3 u, vec3 normal)
{
    return v3_madd(u, -v3_dot(u, normal), normal);
}

// Coulomb's friction of size `limit` for the motion u now and the acceleration without friction.
static void rub_set(cushion* s, double h, double limit, double inv_mass, vec3 u, vec3 acceleration)
{
    vec3 free = v3_madd(u, h, acceleration);
    double size = v3_length(free), end = size - h * limit * inv_mass;
    if (!(end > CONTACT_CREEP))
    {
        s->slip = limit / fmax(v3_length(u), CONTACT_CREEP);
        return;
    }
    s->along = v3_scale(1.0 / size, free);
    s->rub = v3_scale(-limit, s->along);
    s->slip = limit / end;
}

static vec3 drift_of(const contact* c, const contact_row* row)
{
    vec3 drift = v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        drift = i < c->cloth_count ? drift : v3_madd(drift, row->weight[k], c->velocity[i]);
    }
    return drift;
}

static cushion cushion_make(const contact* c, int index, double inv_mass)
{
    const contact_row* row = (const contact_row*)c->rows.item + index;
    cushion s = {.row = index,
                 .normal = row->normal,
                 .overlap = row->thickness - row->distance,
                 .inv_mass = inv_mass,
                 .inv_mass_aside = contact_inv_mass_aside(c, row),
                 .drift = drift_of(c, row),
                 .friction = row->friction};
    memcpy(s.vertex, row->vertex, sizeof(s.vertex));
    memcpy(s.weight, row->weight, sizeof(s.weight));
    double h = c->now.h, share = fmin(fmax(row->distance / row->thickness, share_min), 1.0);
    // The force at this distance, and its tangent: with a softer one what is pressed hard would come and go each
    // substep (a step from d leads to d + way (1 - load / force), which is Newton's with this way alone).
    double push = push_acceleration * (1.0 - share) / (share * share); // m/s^2
    double way = row->thickness * share * (1.0 - share) / (2.0 - share);
    double rate_sq = share < 1.0 ? push / way : push_acceleration / row->thickness; // 1/s^2
    s.overlap = share < 1.0 ? way : s.overlap;
    s.stiffness = rate_sq / inv_mass;
    double approach = -v3_dot(weighted(s.weight, s.vertex, c->velocity), s.normal);
    // Critical, and for what parts no more than the cushion pushes: it must not pull.
    double damping = 2.0 * sqrt(rate_sq) / inv_mass;
    bool damped = s.overlap > 0.0 && -approach * (h * s.stiffness + damping) < s.stiffness * s.overlap;
    s.damping = damped ? damping : 0.0;
    // What presses the pair together now, and what stops it, as if it were alone.
    double stop = s.stiffness * (fmin(s.overlap, 0.0) + h * approach) + s.damping * approach;
    s.stopped = fmax(stop / (1.0 + inv_mass * (h * h * s.stiffness + h * s.damping)), 0.0);
    s.pressed = s.stiffness * fmax(s.overlap, 0.0);
    return s;
}

// How far the pair would be apart at the end of the substep without what has kept it apart in the last one: what rests
// on a cushion would fall if that were not there again.
static double end_without(const contact* c, const contact_row* row)
{
    double h = c->now.h, speed = v3_dot(row->normal, weighted(row->weight, row->vertex, c->velocity));
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        if (i < c->cloth_count)
        {
            double support =
                v3_dot(row->normal, contact_yield(c, i, row->normal)) * fmax(c->now.last->memory[i].load, 0.0);
            speed -= h * fabs(row->weight[k]) * support;
        }
    }
    return row->distance + h * speed;
}

// ---- friction

// What bears a pair, and a little, so that what slides over the edges of its cushions keeps its load.
static double borne_by(const cushion* s)
{
    return s->pressed + s->stopped + 1e-6 * push_acceleration / s->inv_mass;
}

static void sum_loads(contact* c)
{
    memset(c->load, 0, (size_t)c->cloth_count * sizeof(cushion_load));
    for (int k = 0; k < 4 * c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k / 4];
        double part = fabs(s->weight[k % 4]);
        if (s->vertex[k % 4] < c->cloth_count)
        {
            cushion_load* load = &c->load[s->vertex[k % 4]];
            load->borne += part * borne_by(s);
            load->stopped += part * s->stopped;
            load->most = fmax(load->most, part * s->stopped);
        }
    }
}

// The normal force of friction. What bears now says too much where cushions of one vertex work against each other, and
// too little where what slides has just found new ones: all of them together get what they had at the end of the last
// substep, which the state remembers. The side that remembers more counts, as what slides comes to places that remember
// nothing, and of two sides that one which can move. Where there was nothing it is what stops an approach, shared by
// those that stop it. What turned out to be too little or too much is made up for in the next substep: over some of
// them friction is mu times the normal force, however that jumps.
static double normal_force(const contact* c, const cushion* s)
{
    double force[2] = {0.0, 0.0}, load[2] = {0.0, 0.0}, stopped = 1.0;
    bool moves[2] = {false, false};
    for (int a = 0; a < 4; a++)
    {
        int i = s->vertex[a], side = s->weight[a] < 0.0;
        if (i < c->cloth_count && s->weight[a] != 0.0)
        {
            const cushion_load* all = &c->load[i];
            const contact_memory* last = &c->now.last->memory[i];
            force[side] += fabs(s->weight[a]) * fmax(last->load + last->owed[1], 0.0);
            load[side] += fabs(s->weight[a]) * all->borne;
            stopped = all->stopped > 0.0 ? fmin(stopped, all->most / all->stopped) : stopped;
            moves[side] = moves[side] || c->record[i] < 0;
        }
    }
    double first = load[0] > 0.0 && (moves[0] || !moves[1]) ? force[0] / load[0] : 0.0;
    double second = load[1] > 0.0 && (moves[1] || !moves[0]) ? force[1] / load[1] : 0.0;
    double share = fmax(first, second);
    return share > 0.0 ? share * borne_by(s) : stopped * s->stopped;
}

static int compare_bond(const contact_bond* bond, const contact_row* row)
{
    int kind = bond->kind - (int)row->kind, first = bond->first < row->pair.first ? -1 : bond->first > row->pair.first;
    int second = bond->second < row->pair.second ? -1 : bond->second > row->pair.second;
    return kind != 0 ? kind : first != 0 ? first : second;
}

// Motion and acceleration of the cloth's part against the obstacle's, across the normal.
static void motion_aside(const contact* c, const cushion* s, vec3* motion, vec3* acceleration)
{
    vec3 u = s->drift, a = v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
    {
        int i = s->vertex[k];
        if (i < c->cloth_count)
        {
            u = v3_madd(u, s->weight[k], c->now.v[i]);
            a = v3_madd(a, s->weight[k], c->now.expected[i]);
        }
    }
    *motion = across(u, s->normal);
    *acceleration = across(a, s->normal);
}

// Friction at rest is as stiff as a cushion at its thickness, and critically damped.
static void cushion_cling(const contact* c, cushion* s, vec3 drawn)
{
    const contact_row* row = (const contact_row*)c->rows.item + s->row;
    double rate_sq = push_acceleration / row->thickness;
    s->cling = rate_sq / s->inv_mass_aside;
    s->slip = 2.0 * sqrt(rate_sq) / s->inv_mass_aside;
    s->drawn = across(drawn, s->normal);
}

static void cushion_rub(contact* c, cushion* s, const contact_bond* bond)
{
    if (!(s->friction.rub > 0.0) || !(s->inv_mass_aside > 0.0))
    {
        return;
    }
    if (bond && bond->clings)
    {
        cushion_cling(c, s, bond->drawn);
        return;
    }
    vec3 u, a;
    motion_aside(c, s, &u, &a);
    a = bond ? v3_madd(a, -s->inv_mass_aside, across(bond->force, s->normal)) : a;
    s->reckoned = normal_force(c, s);
    rub_set(s, c->now.h, s->friction.rub * s->reckoned, s->inv_mass_aside, u, a);
}

// Cushions are in the order of rows, as bonds are.
static void cushions_rub(contact* c)
{
    const contact_state* last = c->now.last;
    sum_loads(c);
    for (int k = 0, b = 0; k < c->cushion_count; k++)
    {
        const contact_row* row = (const contact_row*)c->rows.item + c->cushions[k].row;
        while (b < last->bond_count && compare_bond(&last->bonds[b], row) < 0)
        {
            b++;
        }
        bool same = b < last->bond_count && compare_bond(&last->bonds[b], row) == 0;
        cushion_rub(c, &c->cushions[k], same ? &last->bonds[b] : NULL);
    }
}

void cushion_add_rub(contact* c, touch* t)
{
    int i = t->vertex;
    cushion s = {.row = -1, .vertex = {i, i, i, i}, .weight = {1, 0, 0, 0}, .normal = t->normal};
    s.drift = v3_scale(-1.0, t->velocity);
    vec3 u, a;
    motion_aside(c, &s, &u, &a);
    a = v3_madd(a, -c->inv_mass[i], across(c->now.last->memory[i].friction, t->normal));
    rub_set(&s, c->now.h, t->friction.rub * t->force, c->inv_mass[i], u, a);
    t->cushion = c->cushion_count;
    c->cushions[c->cushion_count++] = s;
}

// ---- in the system

// Sum of weights and velocities of the cloth's vertices, with the obstacle's part.
vec3 cushion_speed(const contact* c, const cushion* s, const vec3* v)
{
    vec3 u = s->drift;
    for (int k = 0; k < 4; k++)
    {
        u = s->vertex[k] < c->cloth_count ? v3_madd(u, s->weight[k], v[s->vertex[k]]) : u;
    }
    return u;
}

vec3 cushion_friction(const contact* c, const cushion* s, vec3 u)
{
    vec3 slide = across(u, s->normal), drawn = v3_madd(s->drawn, c->now.h, slide);
    return v3_madd(v3_madd(s->rub, -s->cling, drawn), -s->slip, across(slide, s->along));
}

static double normal_push(const contact* c, const cushion* s, vec3 u)
{
    double normal = v3_dot(u, s->normal);
    return s->stiffness * (s->overlap - c->now.h * normal) - s->damping * normal;
}

static vec3 cushion_force(const contact* c, const cushion* s, vec3 u)
{
    return v3_madd(cushion_friction(c, s, u), normal_push(c, s, u), s->normal);
}

coupling cushion_coupling(const contact* c, const cushion* s)
{
    coupling out;
    for (int k = 0; k < 4; k++)
    {
        out.row[k] = s->vertex[k] < c->cloth_count && s->weight[k] != 0.0 ? s->vertex[k] : -1;
        out.weight[k] = s->weight[k];
    }
    double h = c->now.h;
    double along = h * (h * s->stiffness + s->damping), aside = h * (h * s->cling + s->slip);
    mat3 nn = m3_outer(s->normal, s->normal), tt = m3_outer(s->along, s->along);
    for (int k = 0; k < 9; k++)
    {
        out.K[k] = (along - aside) * nn.m[k] + (k % 4 == 0 ? aside : 0.0) - h * s->slip * tt.m[k];
    }
    return out;
}

weft_status cushions_structure(contact* c, const bsr_pattern* base)
{
    if (!mem_grow((void**)&c->couplings, &c->coupling_capacity, c->cushion_count, sizeof(coupling)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->cushion_count; k++)
    {
        c->couplings[k] = cushion_coupling(c, &c->cushions[k]);
    }
    return c->cushion_count > 0 ? coupled_structure(&c->coupled, base, c->couplings, c->cushion_count) : WEFT_OK;
}

weft_status cushions_couple(contact* c, bsr_matrix* A, workers* pool)
{
    return c->cushion_count > 0 ? coupled_values(&c->coupled, A, c->couplings, pool) : WEFT_OK;
}

void cushions_push(const contact* c, const vec3* v, vec3* rhs)
{
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 impulse = v3_scale(c->now.h, cushion_force(c, s, cushion_speed(c, s, v)));
        for (int a = 0; a < 4; a++)
        {
            if (s->vertex[a] < c->cloth_count)
            {
                rhs[s->vertex[a]] = v3_madd(rhs[s->vertex[a]], s->weight[a], impulse);
            }
        }
    }
}

double cushions_potential(const contact* c, const vec3* v)
{
    double sum = 0.0, h = c->now.h;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = cushion_speed(c, s, v), slide = across(u, s->normal), drawn = v3_madd(s->drawn, h, slide);
        vec3 turn = across(slide, s->along);
        double normal = v3_dot(u, s->normal), left = s->overlap - h * normal;
        sum += 0.5 * (s->stiffness * left * left + s->cling * v3_dot(drawn, drawn)) - h * v3_dot(s->rub, slide) +
               0.5 * h * (s->damping * normal * normal + s->slip * v3_dot(turn, turn));
    }
    return sum;
}

double cushions_work(const contact* c, const vec3* v)
{
    double work = 0.0;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = cushion_speed(c, s, v);
        work += c->now.h * v3_dot(cushion_force(c, s, u), v3_sub(u, s->drift));
    }
    return work;
}

// ---- taking and letting go

static void cushion_take(contact* c, int index)
{
    const contact_row* row = (const contact_row*)c->rows.item + index;
    double inv_mass = contact_inv_mass(c, row->vertex, row->weight, row->normal);
    if (fmin(row->distance, end_without(c, row)) < row->thickness && inv_mass > 0.0)
    {
        c->cushions[c->cushion_count++] = cushion_make(c, index, inv_mass);
    }
}

void cushions_take(contact* c)
{
    const contact_row* rows = c->rows.item;
    c->cushion_count = 0;
    for (int k = 0; k < c->rows.count; k++)
    {
        if (!rows[k].released && !touch_is(c, &rows[k]))
        {
            cushion_take(c, k);
        }
    }
    cushions_rub(c);
}

// What would draw a pair together by more than this share of its thickness is let go.
int cushions_release(contact* c, const vec3* v, double share)
{
    contact_row* rows = c->rows.item;
    int count = 0;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        double push = s->row >= 0 ? normal_push(c, s, cushion_speed(c, s, v)) : 0.0;
        if (-push * s->inv_mass * c->now.h * c->now.h > share * (s->row >= 0 ? rows[s->row].thickness : 1.0))
        {
            rows[s->row].released = true;
            count++;
        }
    }
    return count;
}

// ---- after the solve

// What the pair does next: goes on to cling up to the coefficient at rest, or clings when it has come to a stop.
static contact_bond next_bond(const contact* c, const cushion* s, double push, vec3 u)
{
    const contact_row* row = (const contact_row*)c->rows.item + s->row;
    contact_bond next = {.kind = (int)row->kind, .first = row->pair.first, .second = row->pair.second};
    vec3 slide = across(u, s->normal);
    next.force = cushion_friction(c, s, u);
    double size = v3_length(next.force);
    if (s->cling > 0.0)
    {
        next.clings = size <= s->friction.hold * push;
        next.drawn = v3_madd(s->drawn, c->now.h, slide);
        return next;
    }
    cushion held = *s;
    cushion_cling(c, &held, v3(0, 0, 0));
    next.clings = v3_length(slide) <= CONTACT_CREEP;
    next.drawn = v3_scale(-1.0 / held.cling, next.force);
    return next;
}

// What the friction of a pair that slides has missed of the true normal force is owed to its vertices. Where nothing
// slides any more nothing is, and what has left its cushions forgets it by halves.
static void owe(contact* c, const cushion* s, double push)
{
    bool slides = v3_dot(s->rub, s->rub) > 0.0;
    for (int a = 0; a < 4; a++)
    {
        int i = s->vertex[a];
        if (i < c->cloth_count && s->weight[a] != 0.0)
        {
            contact_memory* next = &c->next.memory[i];
            double had = c->load[i].counted ? 0.0 : c->now.last->memory[i].owed[1];
            c->load[i].counted = true;
            next->owed[1] += slides ? had + fabs(s->weight[a]) * (fmax(push, 0.0) - s->reckoned) : 0.0;
        }
    }
}

// The forces at the end of the substep. The list of bonds has room: contact_take saw to that.
void cushions_remember(contact* c, const vec3* v)
{
    c->next.bond_count = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->next.memory[i].owed[1] = c->load[i].borne > 0.0 ? 0.0 : 0.5 * c->now.last->memory[i].owed[1];
    }
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = cushion_speed(c, s, v);
        double push = normal_push(c, s, u);
        s->row >= 0 ? owe(c, s, push) : (void)0;
        for (int a = 0; a < 4 && push > 0.0; a++)
        {
            int i = s->vertex[a];
            if (i < c->cloth_count)
            {
                c->next.memory[i].load += fabs(s->weight[a]) * push;
            }
        }
        if (s->row >= 0 && push > 0.0 && s->friction.rub > 0.0 && s->inv_mass_aside > 0.0)
        {
            c->next.bonds[c->next.bond_count++] = next_bond(c, s, push, u);
        }
    }
}
