// Wind and drag on a triangle: u = wind - mean velocity of the vertices,
//
//     f = area density / 2 (drag |u_n| u_n n + friction |u_t| u_t)
//
// a third for each vertex, with u_n = u . n and u_t the rest of u. df/dv of the normal part is exact; of the tangential
// part |u_t| is kept. Both are semidefinite. The dependence on position (normal, area, place in a gust) is left out of
// A. In `newton` the force is linear in v with normal and factors frozen at the start of the step, so that it has a
// potential. Plain scalar code: few scenes have air, and it is a small part of a step.
#include "material/material.h"

// Gusts: the wind's strength swells and fades along its own direction as it travels.
static vec3 wind_at(const weft_air* air, vec3 x, double time)
{
    double speed = v3_length(air->wind);
    if (air->gust == 0.0 || speed == 0.0)
    {
        return air->wind;
    }
    double along = v3_dot(x, air->wind) / (speed * air->gust_length), t = time / air->gust_period;
    double swell = 0.6 * sin(2 * PI * (t - along)) + 0.4 * sin(2 * PI * (1.7 * t - 2.3 * along) + 1.0);
    double side = 0.7 * sin(2 * PI * (0.8 * t - 1.3 * along) + 2.0) + 0.3 * sin(2 * PI * (2.1 * t - 1.9 * along));
    // Sideways gusts are horizontal and half as strong.
    vec3 across = v3_normalize(v3_cross(v3(0, 1, 0), air->wind));
    return v3_madd(v3_scale(1.0 + air->gust * swell, air->wind), 0.5 * air->gust * speed * side, across);
}

typedef struct panel
{
    vec3 n;
    vec3 force;                // at velocity v0
    double normal, tangential; // -df/dv = normal n n^T + tangential (I - n n^T)
    vec3 v0;
} panel;

static panel panel_of(const element_context* ctx, int e)
{
    const element_motion* m = ctx->motion;
    const int* vertex = ctx->group->vertices + 3 * (size_t)e;
    const weft_air* air = &ctx->group->air;
    const vec3* x = m->x_last ? m->x_last : m->x;
    const vec3* v = m->v_last ? m->v_last : m->v;
    vec3 a = x[vertex[0]], b = x[vertex[1]], c = x[vertex[2]];
    panel p;
    p.n = v3_normalize(v3_cross(v3_sub(b, a), v3_sub(c, a)));
    p.v0 = v3_scale(1.0 / 3.0, v3_add(v[vertex[0]], v3_add(v[vertex[1]], v[vertex[2]])));
    vec3 center = v3_scale(1.0 / 3.0, v3_add(a, v3_add(b, c)));
    vec3 u = v3_sub(wind_at(air, center, m->time), p.v0);
    double un = v3_dot(u, p.n), s = 0.5 * air->density * ctx->group->rest[e];
    vec3 ut = v3_madd(u, -un, p.n);
    p.tangential = s * air->friction * v3_length(ut);
    p.normal = 2.0 * s * air->drag * fabs(un);
    p.force = v3_madd(v3_scale(p.tangential, ut), s * air->drag * fabs(un) * un, p.n);
    return p;
}

static vec3 panel_resist(const panel* p, vec3 dv)
{
    double n = v3_dot(dv, p->n);
    return v3_madd(v3_scale(p->tangential, dv), (p->normal - p->tangential) * n, p->n);
}

static vec3 mean_velocity(const element_context* ctx, int e)
{
    const int* vertex = ctx->group->vertices + 3 * (size_t)e;
    const vec3* v = ctx->motion->v;
    return v3_scale(1.0 / 3.0, v3_add(v[vertex[0]], v3_add(v[vertex[1]], v[vertex[2]])));
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    // The force at present velocities: nothing is frozen.
    const element_context* given = context;
    element_motion motion = *given->motion;
    motion.x_last = motion.v_last = NULL;
    element_context ctx = {given->group, &motion};
    for (int lane = 0; lane < BATCH; lane++)
    {
        panel p = panel_of(&ctx, elements[lane]);
        const double f[3] = {p.force.x, p.force.y, p.force.z};
        for (int k = 0; k < 9; k++)
        {
            out[k / 3][k % 3][lane] = f[k % 3] / 3.0;
        }
    }
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    double h = ctx->motion->h;
    for (int lane = 0; lane < BATCH; lane++)
    {
        panel p = panel_of(ctx, elements[lane]);
        vec3 f = p.force;
        if (ctx->motion->x_last)
        {
            f = v3_sub(f, panel_resist(&p, v3_sub(mean_velocity(ctx, elements[lane]), p.v0)));
        }
        const double n[3] = {p.n.x, p.n.y, p.n.z}, force[3] = {f.x, f.y, f.z};
        for (int r = 0; r < 3; r++)
        {
            for (int a = 0; a < 3; a++)
            {
                out->rhs[a][r][lane] = h / 3.0 * force[r];
            }
            for (int c = 0; c < 3; c++)
            {
                double k = h / 9.0 * ((p.normal - p.tangential) * n[r] * n[c] + (r == c ? p.tangential : 0.0));
                for (int pair = 0; pair < 6; pair++)
                {
                    out->block[pair][3 * r + c][lane] = k;
                }
            }
        }
    }
}

// The potential h (-f0 . v + 1/2 (v - v0) R (v - v0)) of the frozen force.
static void energy(const element_context* context, int begin, int end, energy_sums* sums)
{
    if (!context->motion->x_last)
    {
        return;
    }
    for (int e = begin; e < end; e++)
    {
        panel p = panel_of(context, e);
        vec3 v = mean_velocity(context, e), dv = v3_sub(v, p.v0);
        sums->dissipation += context->motion->h * (0.5 * v3_dot(dv, panel_resist(&p, dv)) - v3_dot(p.force, v));
    }
}

const element_kernels air_kernels = {evaluate, energy, force};

double air_work(const element_group* group, int begin, int end, const element_motion* start, const vec3* v_end)
{
    element_context context = {group, start};
    double work = 0.0;
    for (int e = begin; e < end; e++)
    {
        panel p = panel_of(&context, e);
        const int* vertex = group->vertices + 3 * (size_t)e;
        vec3 v = v3_scale(1.0 / 3.0, v3_add(v_end[vertex[0]], v3_add(v_end[vertex[1]], v_end[vertex[2]])));
        vec3 f = v3_sub(p.force, panel_resist(&p, v3_sub(v, p.v0)));
        work += start->h * v3_dot(f, v);
    }
    return work;
}
