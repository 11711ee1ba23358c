// Ties in a step: J dv = -J v - 0.9 C / T at the state that the substep starts from, so that tied points move together
// and what they have drifted apart (by curved motion, or pushed by contact) goes back by 0.9 in a whole step, T. Not in a
// substep: one that was halved ten times would throw them together, a thousand times as fast. Stitches that
// are open are drawn in at a speed of their own (constraint/stitch.c). Pins and contacts have the first word: where
// they contradict a tie, they stand.
#include <string.h>

#include "step/step.h"

static const double pull_back = 0.9; // share of the drift, in a step

weft_status binding_create(binding* b, const tie_set* set, int vertex_count)
{
    if (set->count == 0)
    {
        return WEFT_OK;
    }
    b->start = MEM_NEW(3 * (size_t)set->count + 1, int);
    b->unknown = MEM_NEW((size_t)TIE_ENTRIES * (size_t)set->count, int);
    b->value = MEM_NEW((size_t)TIE_ENTRIES * (size_t)set->count, double);
    b->rhs = MEM_NEW(3 * (size_t)set->count, double);
    b->force = MEM_NEW(set->count, vec3);
    b->pull = MEM_NEW(vertex_count, vec3);
    b->whole = MEM_NEW(vertex_count, double);
    b->touched = MEM_NEW(vertex_count, uint8_t);
    b->slack = MEM_NEW(set->count, uint8_t);
    bool ok = b->start && b->unknown && b->value && b->rhs && b->force && b->pull && b->whole && b->touched && b->slack;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

void binding_finish(binding* b)
{
    mem_free(b->start);
    mem_free(b->unknown);
    mem_free(b->value);
    mem_free(b->rhs);
    mem_free(b->force);
    mem_free(b->pull);
    mem_free(b->whole);
    mem_free(b->touched);
    mem_free(b->slack);
    null_space_finish(&b->space);
    *b = (binding){0};
}

tie_rows world_ties(const world* w)
{
    const binding* b = &w->binding;
    return (tie_rows){3 * w->model->ties.count, b->start, b->unknown, b->value};
}

static tie_moment tie_now(const world* w)
{
    return (tie_moment){.x = w->state.x, .v = w->state.v, .time = w->time, .h = w->h};
}

// What J v is to be at the end, for each row of a tie.
static vec3 tie_goal(const world* w, const tie* t)
{
    const tie_moment now = tie_now(w);
    vec3 along[2];
    double speed;
    if (t->close > 0.0)
    {
        thread_state state = stitch_look(t, &now, along, &speed);
        return state == THREAD_STIFF ? v3_scale(speed, along[0]) : v3(speed, 0.0, 0.0);
    }
    return v3_scale(-pull_back / w->settings.time_step, tie_error(t, w->state.x));
}

// The goal less J v.
static void binding_want(world* w)
{
    binding* b = &w->binding;
    const tie_set* set = &w->model->ties;
    for (int k = 0; k < set->count; k++)
    {
        vec3 goal = tie_goal(w, &set->ties[k]);
        for (int axis = 0; axis < 3; axis++)
        {
            double sum = (&goal.x)[axis];
            for (int e = b->start[3 * k + axis]; e < b->start[3 * k + axis + 1]; e++)
            {
                const vec3* v = &w->state.v[b->unknown[e] / 3];
                sum -= b->value[e] * (&v->x)[b->unknown[e] % 3];
            }
            b->rhs[3 * k + axis] = sum;
        }
    }
}

// What no filter prescribes starts from zero; z of the members before ties act is kept in `pull`.
static void binding_clear(world* w)
{
    const tie_set* set = &w->model->ties;
    for (int m = 0, k = 0; m < set->member_count; m++)
    {
        int i = set->members[m];
        while (k < w->filter_count && w->filter[k].vertex < i)
        {
            k++;
        }
        bool free = k == w->filter_count || w->filter[k].vertex != i;
        w->z[i] = w->binding.slack_count > 0 ? w->binding.pull[i] : free ? v3(0, 0, 0) : w->z[i];
        w->binding.pull[i] = w->z[i];
    }
}

// Where contact leaves a thread's end hardly any way along it, that would have to be gone at any speed. Such threads
// wait: they have no rows in this substep. How many there were.
static int binding_loosen(world* w)
{
    const double most = 4.0, least = 0.1; // of the largest speed that is asked for; m/s
    binding* b = &w->binding;
    const tie_set* set = &w->model->ties;
    double largest = 0.0;
    int count = 0;
    for (int k = 0; k < 3 * set->count; k++)
    {
        bool asked = set->ties[k / 3].close > 0.0 && b->start[k + 1] > b->start[k];
        largest = asked ? fmax(largest, fabs(b->rhs[k])) : largest;
    }
    for (int k = 0; k < set->count; k++)
    {
        const tie* t = &set->ties[k];
        const int ends[4] = {t->point[0], t->point[1], t->face[0], t->face[1]};
        bool fast = false;
        for (int e = 0; e < 4 && t->close > 0.0 && !b->slack[k]; e++)
        {
            fast =
                fast || (ends[e] >= 0 && v3_length(v3_sub(w->z[ends[e]], b->pull[ends[e]])) > most * largest + least);
        }
        b->slack[k] = b->slack[k] || fast;
        count += fast;
    }
    return count;
}

static weft_status binding_solve(world* w)
{
    const tie_set* set = &w->model->ties;
    binding* b = &w->binding;
    tie_moment now = tie_now(w);
    now.slack = b->slack;
    tie_set_rows(set, &now, b->start, b->unknown, b->value);
    binding_want(w);
    binding_clear(w);
    linear_system system = {.A = {.pattern = &w->model->assembler.pattern},
                            .z = w->z,
                            .filter = w->filter,
                            .filter_count = w->filter_count,
                            .ties = world_ties(w)};
    TRY(null_space_build(&b->space, &system, b->rhs));
    null_space_satisfy(&b->space, &system, w->z);
    return WEFT_OK;
}

weft_status binding_constrain(world* w)
{
    const int rounds = 3;
    binding* b = &w->binding;
    memset(b->slack, 0, (size_t)w->model->ties.count);
    b->slack_count = 0;
    for (int round = 0, more = 1; round < rounds && more > 0; round++)
    {
        TRY(binding_solve(w));
        more = round + 1 < rounds ? binding_loosen(w) : 0;
        b->slack_count += more;
    }
    return WEFT_OK;
}

void binding_prescribe(const world* w, vec3* v, vec3* scratch)
{
    const tie_set* set = &w->model->ties;
    memset(scratch, 0, (size_t)w->model->vertex_count * sizeof(vec3));
    for (int m = 0; m < set->member_count; m++)
    {
        int i = set->members[m];
        scratch[i] = v3_sub(v[i], v3_add(w->state.v[i], w->z[i]));
    }
    null_space_project_masses(&w->binding.space, w->model->mass, scratch);
    for (int m = 0; m < set->member_count; m++)
    {
        int i = set->members[m];
        v[i] = v3_add(v3_add(w->state.v[i], w->z[i]), scratch[i]);
    }
}

// Both are sorted by vertex.
void world_collect_held(world* w)
{
    const tie_set* set = &w->model->ties;
    w->held_count = 0;
    for (int k = 0, m = 0; k < w->filter_count || m < set->member_count;)
    {
        int a = k < w->filter_count ? w->filter[k].vertex : INT32_MAX;
        int b = m < set->member_count ? set->members[m] : INT32_MAX;
        w->held[w->held_count++] = int_min(a, b);
        k += a <= b;
        m += b <= a;
    }
}

// ---- forces
//
// The solve gives the force of all constraints on a vertex together. Contact must know its own part: what rests on a
// patch that touches the ground presses the patch down by the ties. The force of a tie shows where nothing else holds a
// vertex of it: at its point, or at the corners of its face. A vertex of several ties gives each a part by its weight,
// so that the parts add up to all of its force. The turning part of ties over a distance is left out.

// Vertices of a tie, and how they enter its three rows.
static int tie_vertices(const tie* t, int vertex[5], double weight[5])
{
    int count = t->point[1] >= 0 ? 2 : 1;
    memcpy(vertex, t->point, (size_t)count * sizeof(int));
    memcpy(weight, t->share, (size_t)count * sizeof(double));
    for (int k = 0; k < 3; k++)
    {
        vertex[count + k] = t->face[k];
        weight[count + k] = -t->weight[k];
    }
    return count + 3;
}

static bool point_is_free(const binding* b, const tie* t)
{
    return !b->touched[t->point[0]] || (t->point[1] >= 0 && !b->touched[t->point[1]]);
}

// How much of each vertex's force the ties with a free point, or the others, have to share.
static void binding_weigh(binding* b, const tie_set* set, bool free)
{
    for (int m = 0; m < set->member_count; m++)
    {
        b->whole[set->members[m]] = 0.0;
    }
    for (int k = 0; k < set->count; k++)
    {
        int vertex[5], count;
        double weight[5];
        count = tie_vertices(&set->ties[k], vertex, weight);
        int first = free ? 0 : count - 3, last = free ? count - 3 : count;
        for (int a = first; a < last && point_is_free(b, &set->ties[k]) == free; a++)
        {
            b->whole[vertex[a]] += fabs(weight[a]);
        }
    }
}

// The force of a tie from its free points, or from the corners of its face less what is known to pull there.
static vec3 tie_force(const world* w, const tie* t, bool free, reaction_fn* reaction)
{
    const binding* b = &w->binding;
    int vertex[5], count;
    double weight[5], sum = 0.0;
    vec3 force = v3(0, 0, 0);
    count = tie_vertices(t, vertex, weight);
    for (int a = free ? 0 : count - 3; a < (free ? count - 3 : count); a++)
    {
        if (!b->touched[vertex[a]] && b->whole[vertex[a]] > 0.0)
        {
            vec3 seen = v3_sub(reaction(w, vertex[a]), b->pull[vertex[a]]);
            force = v3_madd(force, fabs(weight[a]) / b->whole[vertex[a]], seen);
            sum += weight[a];
        }
    }
    return fabs(sum) > 1e-3 ? v3_scale(1.0 / sum, force) : v3(0, 0, 0);
}

static void binding_add(binding* b, const tie_set* set, bool free)
{
    for (int k = 0; k < set->count; k++)
    {
        int vertex[5], count;
        double weight[5];
        count = tie_vertices(&set->ties[k], vertex, weight);
        for (int a = 0; a < count && point_is_free(b, &set->ties[k]) == free; a++)
        {
            b->pull[vertex[a]] = v3_madd(b->pull[vertex[a]], weight[a], b->force[k]);
        }
    }
}

void binding_pull(world* w, reaction_fn* reaction)
{
    binding* b = &w->binding;
    const tie_set* set = &w->model->ties;
    for (int m = 0; m < set->member_count; m++)
    {
        b->touched[set->members[m]] = 0;
        b->pull[set->members[m]] = v3(0, 0, 0);
    }
    for (int k = 0; k < w->filter_count; k++)
    {
        b->touched[w->filter[k].vertex] = 1;
    }
    for (int pass = 0; pass < 2; pass++)
    {
        bool free = pass == 0;
        binding_weigh(b, set, free);
        for (int k = 0; k < set->count; k++)
        {
            bool now = point_is_free(b, &set->ties[k]) == free;
            b->force[k] = now ? tie_force(w, &set->ties[k], free, reaction) : b->force[k];
        }
        binding_add(b, set, free);
    }
    for (int k = 0; k < w->filter_count; k++)
    {
        b->touched[w->filter[k].vertex] = 0;
    }
}
