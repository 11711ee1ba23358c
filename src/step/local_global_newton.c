// The end of a step of local-global by Newton: turns are fast far from the solution, and Newton near it (Liu et al.
// 2013, section 5). Iterations on the same g with its clamped Hessian, the scene's solver, and a line search.
#include <string.h>

#include "step/local_global.h"

enum
{
    LINE_SEARCH_MAX = 40
};

// Less than this share of the energies at hand is rounding.
static const double gain_lost = 1e-15;

static bool is_inner(const element_kind* kind)
{
    return !kind->is_load;
}

// dv of the clamped Hessian at the iterate, whose rhs stands. Returns in *slope what it gains to first order.
static weft_status newton_direction(world* w, vec3* scratch, double* slope)
{
    int n = w->model->vertex_count;
    element_motion motion = local_global_motion(w);
    memcpy(scratch, w->rhs, (size_t)n * sizeof(vec3));
    TRY(world_assemble_of(w, &motion, is_inner, w->rhs_start));
    memcpy(w->rhs, scratch, (size_t)n * sizeof(vec3));
    memset(w->dv, 0, (size_t)n * sizeof(vec3));
    linear_system system = world_system(w, w->rhs, NULL);
    TRY(world_solve(w, &system, w->dv, 0));
    *slope = 0.0;
    for (int i = 0; i < n; i++)
    {
        *slope += v3_dot(w->rhs[i], w->dv[i]);
    }
    return WEFT_OK;
}

// Halves dv until g falls; where it does not, nothing is left to gain.
static bool newton_search(world* w, const vec3* from, double slope, double* value)
{
    double alpha = 1.0;
    for (int turn = 0; turn < LINE_SEARCH_MAX; turn++, alpha *= 0.5)
    {
        for (int i = 0; i < w->model->vertex_count; i++)
        {
            w->v_next[i] = v3_madd(from[i], alpha, w->dv[i]);
        }
        double now = local_global_descend(w);
        if (now <= *value - 1e-4 * alpha * slope)
        {
            *value = now;
            return true;
        }
    }
    return false;
}

// At most so many iterations.
static weft_status newton_run(world* w, double value, int most)
{
    local_global_data* d = w->data;
    size_t bytes = (size_t)w->model->vertex_count * sizeof(vec3);
    for (int k = 0; k < most; k++)
    {
        double slope;
        TRY(newton_direction(w, d->before, &slope));
        world_count(w, "newton_iterations", 1.0);
        memcpy(d->before, w->v_next, bytes);
        double scale = lively_energy(&w->before.energy) + fabs(value);
        if (!(slope > gain_lost * scale) || !newton_search(w, d->before, slope, &value))
        {
            memcpy(w->v_next, d->before, bytes);
            local_global_descend(w);
            break;
        }
    }
    return WEFT_OK;
}

// What pulls at the end is let go, and what is then to be gained is gained.
weft_status local_global_newton(world* w, double value)
{
    int most = local_global_projects(w) ? 0 : (int)world_setting(w, "newton");
    TRY(newton_run(w, value, most));
    for (int turn = 0; most > 0 && turn < RELEASES_ROUGH && world_release(w, local_global_reaction, w->v_next, false);
         turn++)
    {
        TRY(local_global_constrain(w));
        TRY(newton_run(w, local_global_descend(w), most));
    }
    return WEFT_OK;
}
