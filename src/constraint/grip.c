// Grips: vertices that pins hold in part. One of weight w between 0 and 1 is drawn to where its pin would put it by a
// critically damped spring,
//
//     f = -k P (x - t) - c P (v - dt/dt),    k = a m w / (1 - w),    c = 2 m sqrt(a w / (1 - w))
//
// with m its mass, t its place at the end of the substep, a the pin's stiffness (1/s^2), and P the directions that
// the pin holds: all, those across a line, or a plane's normal. As w goes to 1 the spring becomes a pin, as it goes to
// 0 nothing is left of it; and since k goes with the mass, a finer mesh of the same cloth moves alike. Both are linear
// in x and v: every method takes them implicitly, as they are.
#include "constraint/constraint.h"

int pin_set_grip(const pin_set* set, const pin_moment* now, const vec3* before, const double* mass, grip* out)
{
    int count = 0;
    for (int k = 0; k < set->soft_count; k++)
    {
        const pin* p = &set->soft[k];
        const pin_motion* m = &set->motions[p->motion];
        if (now->time > m->release)
        {
            continue;
        }
        vec3 target = pin_target(m, p, now->bodies, now->time);
        double rate = m->stiffness * p->weight / (1.0 - p->weight); // 1/s^2
        out[count++] = (grip){.vertex = p->vertex,
                              .fix = m->fix,
                              .direction = m->direction,
                              .target = target,
                              .moved = v3_sub(target, pin_target(m, p, before, now->time - now->h)),
                              .stiffness = rate * mass[p->vertex],
                              .damping = 2.0 * sqrt(rate) * mass[p->vertex]};
    }
    return count;
}

vec3 grip_held(const grip* g, vec3 d)
{
    vec3 along = v3_scale(v3_dot(d, g->direction), g->direction);
    return g->fix == WEFT_FIX_POINT ? d : g->fix == WEFT_FIX_PLANE ? along : v3_sub(d, along);
}

vec3 grip_force(const grip* g, vec3 x, vec3 v, double share, double h)
{
    vec3 apart = v3_madd(v3_sub(x, g->target), 1.0 - share, g->moved);
    vec3 rate = v3_madd(v, -1.0 / h, g->moved);
    return grip_held(g, v3_madd(v3_scale(-g->stiffness, apart), -g->damping, rate));
}

void grip_block(const grip* g, double factor, double* block)
{
    const double n[3] = {g->direction.x, g->direction.y, g->direction.z};
    double whole = g->fix == WEFT_FIX_PLANE ? 0.0 : factor;
    double along = g->fix == WEFT_FIX_POINT ? 0.0 : g->fix == WEFT_FIX_PLANE ? factor : -factor;
    for (int k = 0; k < 9; k++)
    {
        block[k] += along * n[k / 3] * n[k % 3] + (k % 4 == 0 ? whole : 0.0);
    }
}
