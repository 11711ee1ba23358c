// Cloth against cloth inside the implicit solve, and cloth against edges and corners of obstacles: pairs of features
// that are closer than their thickness, or will be within the substep, push each other apart like damped cushions. The
// Jacobians are blocks of A that come and go (Baraff and Witkin 1998, section 6; Bridson et al. 2002, section 7.2, in
// the solve).
//
// Stiffness follows the mass of the pair, so that it neither depends on the mesh nor spoils the matrix: a cushion
// accelerates it by 1000 m/s^2 (1 - s) / s^2 at a share s of the thickness. A sheet then rests on another at
// 0.99 of the thickness, and five at 0.95. Damping is critical, so that what was pressed does not bounce, and never
// pulls.
// Friction is in rub.c.
#include <string.h>

#include "contact/find.h"

static const double share_min = 0.02; // of the thickness: closer is not looked at

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

static bool is_between(const contact* c, const contact_row* row)
{
    bool found = false;
    for (int k = 0; k < 4 && !found; k++)
    {
        found = row->vertex[k] < c->cloth_count && c->between[row->vertex[k]];
    }
    return found;
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
                 .friction = is_between(c, row) ? (friction){0} : row->friction,
                 .turned = row->turned};
    memcpy(s.vertex, row->vertex, sizeof(s.vertex));
    memcpy(s.weight, row->weight, sizeof(s.weight));
    if (row->settles)
    {
        unsettled_push(c, row, &s);
        return s;
    }
    double h = c->now.h, share = fmin(fmax(row->distance / row->thickness, share_min), 1.0);
    // The force at this distance, and its tangent: with a softer one what is pressed hard would come and go each
    // substep (a step from d leads to d + way (1 - load / force), which is Newton's with this way alone).
    double push = CUSHION_ACCELERATION * (1.0 - share) / (share * share); // m/s^2
    double way = row->thickness * share * (1.0 - share) / (2.0 - share);
    double rate_sq = share < 1.0 ? push / way : CUSHION_ACCELERATION / row->thickness; // 1/s^2
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

// How far the pair would be apart at the end of the substep without its cushion: the last acceleration goes on, less
// what that has exerted and less what the cushions of its vertices have whose pairs are near no more. What rests would
// fall if its cushion were not there again; but what others carry is not to be taken, or it is drawn to them.
static double end_without(const contact* c, const contact_row* row, const contact_bond* bond)
{
    double h = c->now.h, speed = v3_dot(row->normal, weighted(row->weight, row->vertex, c->velocity));
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        if (i < c->cloth_count)
        {
            vec3 own = bond ? v3_scale(bond->weight[k], bond->push) : v3(0, 0, 0);
            vec3 fall = contact_yield(c, i, v3_add(own, c->lost[i]));
            speed -= h * row->weight[k] * v3_dot(row->normal, fall);
        }
    }
    return row->distance + h * speed;
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

double cushion_normal(const contact* c, const cushion* s, vec3 u)
{
    double normal = v3_dot(u, s->normal);
    return s->stiffness * (s->overlap - c->now.h * normal) - s->damping * normal;
}

static vec3 cushion_force(const contact* c, const cushion* s, vec3 u)
{
    return v3_madd(cushion_friction(c, s, u), cushion_normal(c, s, u), s->normal);
}

static void couple_rows(const contact* c, const int vertex[4], const double weight[4], coupling* out)
{
    for (int k = 0; k < 4; k++)
    {
        out->row[k] = vertex[k] < c->cloth_count && weight[k] != 0.0 ? vertex[k] : -1;
        out->weight[k] = weight[k];
    }
}

coupling cushion_coupling(const contact* c, const cushion* s)
{
    coupling out;
    couple_rows(c, s->vertex, s->weight, &out);
    double h = c->now.h;
    double along = h * (h * s->stiffness + s->damping), aside = h * (h * s->cling + s->slip);
    mat3 nn = m3_outer(s->normal, s->normal), tt = m3_outer(s->along, s->along);
    for (int k = 0; k < 9; k++)
    {
        out.K[k] = (along - aside) * nn.m[k] + (k % 4 == 0 ? aside : 0.0) - h * s->slip * tt.m[k];
    }
    return out;
}

// What was let go in this substep keeps its place, with zeros: as long as the pattern stays, what solvers have made of
// it does.
static int couple_released(const contact* c, coupling* out)
{
    const contact_row* rows = c->rows.item;
    int count = 0;
    for (int k = 0, next = 0; k < c->rows.count; k++)
    {
        bool here = next < c->cushion_count && c->cushions[next].row == k;
        next += here;
        if (rows[k].coupled && !here)
        {
            out[count] = (coupling){0};
            couple_rows(c, rows[k].vertex, rows[k].weight, &out[count++]);
        }
    }
    return count;
}

weft_status cushions_structure(contact* c, const bsr_pattern* base)
{
    if (!mem_grow((void**)&c->couplings, &c->coupling_capacity, c->cushion_count + c->rows.count, sizeof(coupling)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->cushion_count; k++)
    {
        c->couplings[k] = cushion_coupling(c, &c->cushions[k]);
    }
    c->coupling_count = c->cushion_count + couple_released(c, c->couplings + c->cushion_count);
    return c->coupling_count > 0 ? coupled_structure(&c->coupled, base, c->couplings, c->coupling_count) : WEFT_OK;
}

weft_status cushions_couple(contact* c, bsr_matrix* A, workers* pool)
{
    return c->coupling_count > 0 ? coupled_values(&c->coupled, A, c->couplings, pool) : WEFT_OK;
}

void cushions_change(const contact* c, const bsr_matrix* A, double sign, workers* pool)
{
    if (c->coupling_count > 0)
    {
        coupled_add(&c->coupled, A, c->couplings, sign, pool);
    }
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

void cushions_multiply(const contact* c, const vec3* v, vec3* out)
{
    double h = c->now.h;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = v3(0, 0, 0);
        for (int a = 0; a < 4; a++)
        {
            u = s->vertex[a] < c->cloth_count ? v3_madd(u, s->weight[a], v[s->vertex[a]]) : u;
        }
        double along = h * (h * s->stiffness + s->damping), aside = h * (h * s->cling + s->slip);
        vec3 f = v3_madd(v3_scale(aside, u), (along - aside) * v3_dot(u, s->normal), s->normal);
        f = v3_madd(f, -h * s->slip * v3_dot(u, s->along), s->along);
        for (int a = 0; a < 4; a++)
        {
            if (s->vertex[a] < c->cloth_count)
            {
                out[s->vertex[a]] = v3_madd(out[s->vertex[a]], s->weight[a], f);
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

double contact_drive(const contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v)
{
    double work = 0.0;
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        work -= c->now.h * v3_dot(cushion_force(c, s, cushion_speed(c, s, v)), s->drift);
    }
    for (int k = 0; k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        bool first = k == 0 || c->touches[k - 1].vertex != t->vertex;
        if (first && c->record[t->vertex] < 0)
        {
            work += c->now.h * v3_dot(reaction(user, t->vertex), t->velocity);
        }
    }
    return work;
}

// ---- taking and letting go

static void cushion_take(contact* c, int index, const contact_bond* bond)
{
    const contact_row* row = (const contact_row*)c->rows.item + index;
    double inv_mass = contact_inv_mass(c, row->vertex, row->weight, row->normal);
    if (inv_mass > 0.0 && (row->caught || fmin(row->distance, end_without(c, row, bond)) < row->thickness))
    {
        ((contact_row*)c->rows.item)[index].coupled = true;
        c->cushions[c->cushion_count++] = cushion_make(c, index, inv_mass);
    }
}

// What the vertices will miss: bonds and rows have one order.
static void sum_lost(contact* c)
{
    const contact_row* rows = c->rows.item;
    const contact_state* last = c->now.last;
    memset(c->lost, 0, (size_t)c->cloth_count * sizeof(vec3));
    for (int b = 0, k = 0; b < last->bond_count; b++)
    {
        const contact_bond* bond = &last->bonds[b];
        while (k < c->rows.count && bond_compare(bond, &rows[k]) > 0)
        {
            k++;
        }
        if (k == c->rows.count || bond_compare(bond, &rows[k]) != 0)
        {
            bond_add(c, bond, bond->push, c->lost);
        }
    }
}

void cushions_take(contact* c)
{
    const contact_row* rows = c->rows.item;
    c->cushion_count = 0;
    sum_lost(c);
    for (int k = 0, bond = 0; k < c->rows.count; k++)
    {
        if (!rows[k].released && !touch_is(c, &rows[k]))
        {
            cushion_take(c, k, bond_of(c->now.last, &rows[k], &bond));
        }
    }
}

// How far a pair is apart at the end of a substep with these velocities.
static double end_with(const contact* c, const contact_row* row, const vec3* v)
{
    double speed = 0.0;
    for (int k = 0; k < 4; k++)
    {
        int i = row->vertex[k];
        speed += row->weight[k] * v3_dot(row->normal, i < c->cloth_count ? v[i] : c->velocity[i]);
    }
    return row->distance + c->now.h * speed;
}

// What pulls is let go; what was let go, or not expected, and comes too close is taken, and is not let go again.
int cushions_release(contact* c, const vec3* v)
{
    contact_row* rows = c->rows.item;
    int count = 0;
    for (int k = 0, next = 0; k < c->rows.count; k++)
    {
        contact_row* row = &rows[k];
        const cushion* s = next < c->cushion_count && c->cushions[next].row == k ? &c->cushions[next++] : NULL;
        if (s && !c->early && rub_turns(c, s, row->thickness, v))
        {
            row->turned = true;
            count++;
        }
        if (touch_is(c, row) || row->caught)
        {
            continue;
        }
        pull_limits limits = contact_pull_limits(c, row->thickness);
        double pull = s ? -cushion_normal(c, s, cushion_speed(c, s, v)) * s->inv_mass : 0.0;
        bool release = s && pull > limits.most, catch = !s && end_with(c, row, v) < fmin(limits.least, row->distance);
        row->released = row->released ? !catch : release;
        row->caught = catch;
        count += release || catch;
    }
    return count;
}

// ---- after the solve

// The forces at the end of the substep. What pulls and was borne with makes others push more than they must: friction is
// to know what is left of both, however much each is. The list of bonds has room: contact_take saw to that.
void cushions_remember(contact* c, const vec3* v)
{
    c->next.bond_count = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->next.memory[i].owed[1] = c->load[i].borne > 0.0 ? 0.0 : 0.5 * c->load[i].owed;
    }
    for (int k = 0; k < c->cushion_count && c->cushions[k].row >= 0; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = cushion_speed(c, s, v);
        rub_bear(c, s, cushion_normal(c, s, u), u);
    }
    for (int k = 0; k < c->cushion_count; k++)
    {
        const cushion* s = &c->cushions[k];
        vec3 u = cushion_speed(c, s, v);
        double push = cushion_normal(c, s, u);
        s->row >= 0 ? rub_owe(c, s, push, u) : (void)0;
        for (int a = 0; a < 4 && s->row >= 0; a++)
        {
            int i = s->vertex[a];
            if (i < c->cloth_count)
            {
                c->next.memory[i].load += fabs(s->weight[a]) * push;
            }
        }
        if (s->row >= 0 && push > 0.0)
        {
            c->next.bonds[c->next.bond_count++] = rub_bond(c, s, push, u);
        }
    }
}
