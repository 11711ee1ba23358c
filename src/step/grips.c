// What pins that hold in part (constraint/grip.c) do in a substep: springs to places that move, in the linear system,
// among forces, in potentials, and as constraints. They act from outside: their energy is none of the cloth's, and what
// they do to it counts as work.
#include "step/step.h"

static weft_status place_before(world* w)
{
    int count = w->model->pins.body_vertices;
    if (!mem_grow((void**)&w->followed_before, &w->followed_before_capacity, count, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    return w->obstacles_at(w->user, w->time, w->followed_before, w->contact ? &w->contact->error : NULL);
}

weft_status grips_begin(world* w, const pin_moment* end)
{
    const pin_set* pins = &w->model->pins;
    w->grip_count = 0;
    w->grip_share = 1.0;
    if (pins->soft_count == 0)
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&w->grips, &w->grip_capacity, pins->soft_count, sizeof(grip)) ||
        !mem_grow((void**)&w->grip_pull, &w->grip_pull_capacity, pins->soft_count, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    TRY(pins->soft_follow ? place_before(w) : WEFT_OK);
    w->grip_count = pin_set_grip(pins, end, pins->soft_follow ? w->followed_before : NULL, w->model->mass, w->grips);
    return WEFT_OK;
}

static vec3 force_on(const world* w, const grip* g, const element_motion* motion)
{
    return grip_force(g, motion->x[g->vertex], motion->v[g->vertex], w->grip_share, w->h);
}

// A = M + h D + h^2 K; b = h (f - h K v), or h f about a last state, as elements have them.
void grips_assemble(world* w, const element_motion* motion)
{
    const bsr_pattern* pattern = &w->model->assembler.pattern;
    double h = motion->h;
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        grip_block(g, h * g->damping + h * h * g->stiffness, w->values + 9 * (size_t)pattern->diagonal[g->vertex]);
        vec3 force = force_on(w, g, motion);
        vec3 ahead = motion->x_last ? v3(0, 0, 0) : grip_held(g, v3_scale(h * g->stiffness, motion->v[g->vertex]));
        w->rhs[g->vertex] = v3_madd(w->rhs[g->vertex], h, v3_sub(force, ahead));
    }
}

void grips_push(const world* w, const element_motion* motion, double factor, double ahead, vec3* out)
{
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        vec3 v = motion->v[g->vertex], x = v3_madd(motion->x[g->vertex], ahead, v);
        out[g->vertex] = v3_madd(out[g->vertex], factor, grip_force(g, x, v, w->grip_share, w->h));
    }
}

// Springs, and what dampers take from them in the substep: their gradient by positions is minus the force.
double grips_potential(const world* w, const element_motion* motion)
{
    double sum = 0.0;
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        vec3 apart = grip_held(g, v3_sub(motion->x[g->vertex], g->target));
        vec3 rate = grip_held(g, v3_madd(motion->v[g->vertex], -1.0 / w->h, g->moved));
        sum += 0.5 * g->stiffness * v3_dot(apart, apart) + 0.5 * w->h * g->damping * v3_dot(rate, rate);
    }
    return sum;
}

double grips_work(const world* w)
{
    double sum = 0.0;
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        vec3 mean = v3_scale(1.0 / w->h, v3_sub(w->x_next[g->vertex], w->state.x[g->vertex]));
        vec3 force = grip_force(g, w->x_next[g->vertex], mean, 1.0, w->h);
        sum += w->h * v3_dot(force, mean);
    }
    return sum;
}

void grips_solve_diagonal(const world* w, double k, vec3* dv)
{
    for (int n = 0; n < w->grip_count;)
    {
        int i = w->grips[n].vertex;
        double block[9] = {w->model->mass[i], 0, 0, 0, w->model->mass[i], 0, 0, 0, w->model->mass[i]};
        for (; n < w->grip_count && w->grips[n].vertex == i; n++)
        {
            grip_block(&w->grips[n], k * w->grips[n].damping + k * k * w->grips[n].stiffness, block);
        }
        double inverse[9];
        dv[i] = m3_invert_spd(block, inverse) ? m3_mul_v(inverse, w->rhs[i]) : dv[i];
    }
}

vec3 grips_resist(const world* w, double k, int vertex, vec3 dv)
{
    double block[9] = {0};
    for (int n = 0; n < w->grip_count; n++)
    {
        const grip* g = &w->grips[n];
        g->vertex == vertex ? grip_block(g, k * g->damping + k * k * g->stiffness, block) : (void)0;
    }
    return m3_mul_v(block, dv);
}

uint64_t grips_hash(const world* w)
{
    uint64_t hash = (uint64_t)w->grip_count;
    for (int k = 0; k < w->grip_count; k++)
    {
        hash = hash_bytes(hash, &w->grips[k].stiffness, sizeof(double));
        hash = hash_bytes(hash, &w->grips[k].vertex, sizeof(int));
    }
    return hash;
}

void grips_project_begin(world* w)
{
    for (int k = 0; k < w->grip_count; k++)
    {
        w->grip_pull[k] = v3(0, 0, 0);
    }
}

// One sweep of constraints with compliance: rows P (x - t) = 0, whose multipliers grip_pull remembers.
void grips_project(const world* w, double share, double h, const double* inv_mass, vec3* x)
{
    vec3* pulled = w->grip_pull;
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        double softness = 1.0 / (g->stiffness * h * h), light = inv_mass[g->vertex];
        vec3 apart = grip_held(g, v3_madd(v3_sub(x[g->vertex], g->target), 1.0 - share, g->moved));
        vec3 push = v3_scale(-1.0 / (light + softness), v3_madd(apart, softness, pulled[k]));
        pulled[k] = v3_add(pulled[k], push);
        x[g->vertex] = v3_madd(x[g->vertex], light, push);
    }
}

void grips_damp(const world* w, double h, const double* inv_mass, vec3* v)
{
    for (int k = 0; k < w->grip_count; k++)
    {
        const grip* g = &w->grips[k];
        double taken = h * g->damping * inv_mass[g->vertex];
        vec3 rate = grip_held(g, v3_madd(v[g->vertex], -1.0 / w->h, g->moved));
        v[g->vertex] = v3_madd(v[g->vertex], -taken / (1.0 + taken), rate);
    }
}
