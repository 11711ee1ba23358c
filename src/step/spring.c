// Cloth against cloth inside the implicit solve, and cloth against edges and corners of obstacles: pairs of features
// that are closer than their thickness, or will be within the substep, push each other apart by damped springs. The
// springs' Jacobians are blocks of A that come and go (Baraff and Witkin 1998, section 6; Bridson et al. 2002,
// section 7.2, in the solve).
//
// Stiffness follows the mass of the pair, so that it neither depends on the mesh nor spoils the matrix: a
// spring accelerates it by 1000 m/s^2 (1 - s) / s^2 at a share s of the thickness. A sheet then rests on another at
// 0.99 of the thickness, and five at 0.95. Damping is critical, so that what was pressed does not bounce, and never
// pulls.
//
// Friction opposes the tangential motion with mu times the normal force that the pair would have alone, as a viscous
// force of that size at the present speed; so it is linear in the new velocity, never turns the motion round, and
// sticks up to a creep of 0.1 mm/s.
#include <string.h>

#include "step/sweep.h"

static const double push_acceleration = 1000.0; // m/s^2
static const double share_min = 0.02;           // of the thickness: closer is not looked at

// 1 over the mass of a pair along any direction.
static double pair_inv_mass(const contact* c, const near_pair* near)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
    {
        sum += near->weight[k] * near->weight[k] * c->inv_mass[near->vertex[k]];
    }
    return sum;
}

static double across(vec3 u, vec3 normal)
{
    return v3_length(v3_madd(u, -v3_dot(u, normal), normal));
}

// A viscous force of this size at the tangential speed that the end of the substep will have: that of u, and what the
// last acceleration adds, as far as it can be trusted.
static double slip_of(const world* w, double force, vec3 u, vec3 acceleration, vec3 normal)
{
    double speed = across(u, normal), next = across(v3_madd(u, w->h, acceleration), normal);
    next = fmin(fmax(next, 0.5 * speed), 2.0 * speed);
    return force / fmax(next, CONTACT_CREEP);
}

static spring spring_make(const world* w, const near_pair* near)
{
    const contact* c = w->contact;
    spring s = {.normal = near->normal, .overlap = near->thickness - near->distance};
    memcpy(s.vertex, near->vertex, sizeof(s.vertex));
    memcpy(s.weight, near->weight, sizeof(s.weight));
    double inv_mass = pair_inv_mass(c, near), h = w->h;
    double share = fmin(fmax(near->distance / near->thickness, share_min), 1.0);
    // The force at this distance, and its tangent: with a softer one what is pressed hard would come and go each
    // substep (a step from d leads to d + way (1 - load / force), which is Newton's with this way alone).
    double push = push_acceleration * (1.0 - share) / (share * share); // m/s^2
    double way = near->thickness * share * (1.0 - share) / (2.0 - share);
    double rate_sq = share < 1.0 ? push / way : push_acceleration / near->thickness; // 1/s^2
    s.overlap = share < 1.0 ? way : s.overlap;
    s.stiffness = rate_sq / inv_mass;
    for (int k = 0; k < 4; k++)
    {
        s.drift = s.vertex[k] < c->cloth_count ? s.drift : v3_madd(s.drift, s.weight[k], c->velocity[s.vertex[k]]);
    }
    vec3 u = weighted(s.weight, s.vertex, c->velocity);
    double approach = -v3_dot(u, s.normal);
    // Critical, and for what parts no more than the spring pushes: it must not pull.
    double damping = 2.0 * sqrt(rate_sq) / inv_mass;
    bool damped = s.overlap > 0.0 && -approach * (h * s.stiffness + damping) < s.stiffness * s.overlap;
    s.damping = damped ? damping : 0.0;
    // What presses the pair together now, and what stops it, as if it were alone.
    double stop = s.stiffness * (fmin(s.overlap, 0.0) + h * approach) + s.damping * approach;
    s.stopped = fmax(stop / (1.0 + inv_mass * (h * h * s.stiffness + h * s.damping)), 0.0);
    s.pressed = s.stiffness * fmax(s.overlap, 0.0);
    s.friction = contact_friction(c, near->kind, near->vertex);
    return s;
}

// The normal forces of friction. What presses now says too much where springs of one vertex work against each other, so
// all of them together get no more than what they had at the end of the last substep, which the state remembers for
// each vertex.
void springs_rub(world* w)
{
    contact* c = w->contact;
    memset(c->load, 0, (size_t)c->cloth_count * sizeof(double));
    for (int k = 0; k < 4 * c->spring_count; k++)
    {
        const spring* s = &c->springs[k / 4];
        if (s->vertex[k % 4] < c->cloth_count)
        {
            c->load[s->vertex[k % 4]] += fabs(s->weight[k % 4]) * s->pressed;
        }
    }
    for (int k = 0; k < c->spring_count; k++)
    {
        spring* s = &c->springs[k];
        double share = 1.0;
        vec3 acceleration = v3(0, 0, 0);
        for (int a = 0; a < 4; a++)
        {
            int i = s->vertex[a];
            if (i < c->cloth_count)
            {
                acceleration = v3_madd(acceleration, s->weight[a], w->state.acceleration[i]);
                share = c->load[i] > 0.0 ? fmin(share, w->state.grip[i].x / c->load[i]) : share;
            }
        }
        vec3 u = weighted(s->weight, s->vertex, c->velocity);
        s->slip = slip_of(w, s->friction * (share * s->pressed + s->stopped), u, acceleration, s->normal);
    }
}

spring spring_rub(const world* w, const touch* t)
{
    int i = t->vertex;
    spring s = {.vertex = {i, i, i, i}, .weight = {1, 0, 0, 0}, .normal = t->normal};
    s.drift = v3_scale(-1.0, t->velocity);
    s.slip = slip_of(w, t->friction * t->force, v3_add(w->state.v[i], s.drift), w->state.acceleration[i], t->normal);
    return s;
}

void spring_take(world* w, const near_pair* near)
{
    contact* c = w->contact;
    double end = near->distance + w->h * v3_dot(near->normal, weighted(near->weight, near->vertex, c->velocity));
    if (fmin(near->distance, end) < near->thickness)
    {
        c->springs[c->spring_count++] = spring_make(w, near);
    }
}

// ---- in the system

// Sum of weights and velocities of the cloth's vertices, with the obstacle's part.
static vec3 spring_speed(const contact* c, const spring* s, const vec3* v)
{
    vec3 u = s->drift;
    for (int k = 0; k < 4; k++)
    {
        u = s->vertex[k] < c->cloth_count ? v3_madd(u, s->weight[k], v[s->vertex[k]]) : u;
    }
    return u;
}

static vec3 spring_force(const world* w, const spring* s, vec3 u)
{
    double normal = v3_dot(u, s->normal);
    double push = s->stiffness * (s->overlap - w->h * normal) - s->damping * normal;
    vec3 slide = v3_madd(u, -normal, s->normal);
    return v3_madd(v3_scale(push, s->normal), -s->slip, slide);
}

coupling spring_coupling(const world* w, const spring* s)
{
    coupling out;
    for (int k = 0; k < 4; k++)
    {
        out.row[k] = s->vertex[k] < w->contact->cloth_count && s->weight[k] != 0.0 ? s->vertex[k] : -1;
        out.weight[k] = s->weight[k];
    }
    double along = w->h * (w->h * s->stiffness + s->damping), aside = w->h * s->slip;
    mat3 nn = m3_outer(s->normal, s->normal);
    for (int k = 0; k < 9; k++)
    {
        out.K[k] = (along - aside) * nn.m[k] + (k % 4 == 0 ? aside : 0.0);
    }
    return out;
}

weft_status springs_couple(world* w)
{
    contact* c = w->contact;
    if (!mem_grow((void**)&c->couplings, &c->coupling_capacity, c->spring_count, sizeof(coupling)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->spring_count; k++)
    {
        c->couplings[k] = spring_coupling(w, &c->springs[k]);
    }
    return coupled_structure(&c->coupled, &w->model->assembler.pattern, c->couplings, c->spring_count);
}

void springs_push(const world* w, const vec3* v, vec3* rhs)
{
    const contact* c = w->contact;
    for (int k = 0; k < c->spring_count; k++)
    {
        const spring* s = &c->springs[k];
        vec3 impulse = v3_scale(w->h, spring_force(w, s, spring_speed(c, s, v)));
        for (int a = 0; a < 4; a++)
        {
            if (s->vertex[a] < c->cloth_count)
            {
                rhs[s->vertex[a]] = v3_madd(rhs[s->vertex[a]], s->weight[a], impulse);
            }
        }
    }
}

double springs_potential(const world* w, const vec3* v)
{
    const contact* c = w->contact;
    double sum = 0.0;
    for (int k = 0; k < c->spring_count; k++)
    {
        const spring* s = &c->springs[k];
        vec3 u = spring_speed(c, s, v);
        double normal = v3_dot(u, s->normal), left = s->overlap - w->h * normal;
        vec3 slide = v3_madd(u, -normal, s->normal);
        sum += 0.5 * s->stiffness * left * left +
               0.5 * w->h * (s->damping * normal * normal + s->slip * v3_dot(slide, slide));
    }
    return sum;
}

// The forces at the end of the substep, for the friction of the next.
void springs_remember(world* w)
{
    contact* c = w->contact;
    for (int k = 0; k < c->spring_count; k++)
    {
        const spring* s = &c->springs[k];
        double push = v3_dot(spring_force(w, s, spring_speed(c, s, w->v_next)), s->normal);
        for (int a = 0; a < 4 && push > 0.0; a++)
        {
            int i = s->vertex[a];
            if (i < c->cloth_count && c->grip[i].y == 0.0)
            {
                c->grip[i].x += fabs(s->weight[a]) * push;
            }
        }
    }
}

double springs_work(const world* w, const vec3* v)
{
    const contact* c = w->contact;
    double work = 0.0;
    for (int k = 0; k < c->spring_count; k++)
    {
        const spring* s = &c->springs[k];
        vec3 u = spring_speed(c, s, v);
        work += w->h * v3_dot(spring_force(w, s, u), v3_sub(u, s->drift));
    }
    return work;
}
