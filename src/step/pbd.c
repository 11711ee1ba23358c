// Position based dynamics (Mueller, Heidelberger, Hennix and Ratcliff 2006; Mueller 2008) with stiffness by compliance
// (Macklin, Mueller and Chentanez 2016). A step is cut into substeps of h, and each of them is
//
//     v <- v + h f / m,   p <- x + h v,   p is moved until constraints hold,   v <- (p - x) / h,   x <- p
//
// f is weight, forces from outside and air. Constraints are projected one by one, by colour: springs as links
// (links.h), other elements by their constraint form (pbd_elements.c), each with the compliance of its energy over h^2,
// so that stiffness is the material's however many sweeps there are, once they are enough. Sweeps go forth and back by
// turns. A sweep ends with what is held in part, with ties, and with the rows of contact as inequalities
// (contact_project_sweep).
//
// Enough is h^2 k / (m sweeps) <= 0.03 for the stiffest spring: with `substeps` = 0 as many are taken. Fewer make cloth
// softer than its material and no step unstable; that is the way of games, and of the paper, whose k (the share of what
// is missing that a projection takes) is there for the asking: `legacy`.
#include "step/pbd.h"

#include <string.h>

#include "material/spring.h"

const char* const pbd_counters[] = {"pbd_substeps", "projections", NULL};

// Also while a topology is prepared, when no stage runs.
static double pbd_setting(const world* w, const char* name)
{
    return w->settings.method[method_setting_find(w->method.method->name, name)];
}

static const double enough = 0.03; // h^2 k / (m sweeps)

// ---- what a topology has

static bool is_swept(const element_group* group)
{
    return group->kind != &kind_spring && !group->kind->is_load;
}

bool pbd_spring_link(const world* w, const int* vertex, const double* rest, link_def* out)
{
    bool bend = (int)rest[SPRING_ROLE] == SPRING_BEND;
    *out = (link_def){.a = vertex[0],
                      .b = vertex[1],
                      .length = rest[SPRING_LENGTH],
                      .compliance = 1.0 / rest[SPRING_STIFFNESS],
                      .damping = rest[SPRING_DAMPING],
                      .is_limit = !bend && pbd_setting(w, "slack") != 0.0,
                      .is_bend = bend};
    return rest[SPRING_STIFFNESS] > 0.0;
}

static weft_status springs_prepare(world* w, pbd_data* d)
{
    const element_group* group = element_groups_find(&w->model->groups, &kind_spring);
    int count = group ? group->count : 0, kept = 0;
    link_def* defs = MEM_NEW(count, link_def);
    if (!defs)
    {
        return WEFT_NO_MEMORY;
    }
    for (int e = 0; e < count; e++)
    {
        kept += pbd_spring_link(w, group->vertices + 2 * e, group->rest + SPRING_STRIDE * (size_t)e, &defs[kept]);
    }
    weft_status status = links_create(&d->springs, defs, kept, w->model->vertex_count);
    mem_free(defs);
    return status;
}

// The largest of C's curvature against the lightest mass that feels it, of one batch.
static double stiffest_of(const model* m, const element_group* group, const constraint_batch* row, int e, int lane)
{
    double most = 0.0;
    for (int a = 0; a < group->kind->arity; a++)
    {
        int i = group->vertices[(size_t)group->kind->arity * (size_t)e + (size_t)a];
        double x = row->gradient[a][0][lane], y = row->gradient[a][1][lane], z = row->gradient[a][2][lane];
        most = fmax(most, (x * x + y * y + z * z) / (row->compliance[lane] * m->mass[i]));
    }
    return most;
}

static bool is_among(const element_group* group, int e, const uint8_t* among)
{
    bool found = !among;
    for (int a = 0; a < group->kind->arity && !found; a++)
    {
        found = among[group->vertices[(size_t)group->kind->arity * (size_t)e + (size_t)a]];
    }
    return found;
}

// k / m of elements: the largest, and the sum of what their periods are without 2 pi.
typedef struct stiffness_sum
{
    double most, periods;
    int count;
} stiffness_sum;

static void add_stiffness(stiffness_sum* sum, double stiffness)
{
    sum->most = fmax(sum->most, stiffness);
    sum->periods += stiffness > 0.0 ? 1.0 / sqrt(stiffness) : 0.0;
    sum->count += stiffness > 0.0;
}

// At the positions of the start. Folds are left out: what they miss is no stretch.
static stiffness_sum sum_stiffness(const world* w, const pbd_data* d, const uint8_t* among)
{
    const model* m = w->model;
    stiffness_sum sum = {0};
    for (int k = 0; k < d->springs.count; k++)
    {
        const link_def* l = &d->springs.def[k];
        bool left_out = l->is_bend || (among && !among[l->a] && !among[l->b]);
        left_out ? (void)0 : add_stiffness(&sum, 1.0 / (l->compliance * fmin(m->mass[l->a], m->mass[l->b])));
    }
    for (int s = 0; s < d->sweep_count; s++)
    {
        const element_group* group = d->sweeps[s].group;
        element_motion motion = {.x = w->state.x, .v = w->state.v, .h = w->settings.time_step};
        element_context context = {group, &motion};
        constraint_batch out[CONSTRAINT_ROWS_MAX];
        for (int e = 0; e < group->count && group->kind->arity < 4; e++)
        {
            if (!is_among(group, e, among))
            {
                continue;
            }
            const int elements[BATCH] = {e, e, e, e, e, e, e, e};
            group->kind->constraint(&context, elements, out);
            double most = 0.0;
            for (int r = 0; r < d->sweeps[s].rows; r++)
            {
                most = fmax(most, stiffest_of(m, group, &out[r], e, 0));
            }
            add_stiffness(&sum, most);
        }
    }
    return sum;
}

// A scrap of a triangle is as small as an accident made it: a few in a scan had a step of 5 ms cut into 93,000 substeps,
// to be as stiff as their material. So far beyond the mean elements may be softer; meshes that are graded, with sides
// that differ by thirty, have what they ask for.
void pbd_fastest(const world* w, pbd_data* d, const uint8_t* among)
{
    const double beyond = 1e3, near = 0.25;
    stiffness_sum sum = sum_stiffness(w, d, among);
    d->fastest = among ? fmax(d->fastest, sum.most) : sum.most;
    if (among && d->fastest <= near * d->fastest_max)
    {
        return; // the mean is hardly another
    }
    sum = among ? sum_stiffness(w, d, NULL) : sum;
    double mean = sum.count > 0 ? sum.periods / sum.count : 0.0;
    d->fastest_max = mean > 0.0 ? beyond / (mean * mean) : INFINITY;
}

weft_status pbd_slivers_make(world* w, pbd_data* d)
{
    TRY(slivers_make(&d->slivers, w->model));
    for (int s = 0; s < d->sweep_count; s++)
    {
        d->sweeps[s].slender = d->slivers.has;
    }
    return WEFT_OK;
}

weft_status pbd_prepare(world* w, void* data)
{
    pbd_data* d = data;
    int n = w->model->vertex_count;
    d->inv_mass = MEM_NEW(n, double);
    d->held = MEM_NEW(n, double);
    d->from = MEM_NEW(n, vec3);
    d->loads = MEM_NEW(n, vec3);
    d->mean = MEM_NEW(n, vec3);
    if (!d->inv_mass || !d->held || !d->from || !d->loads || !d->mean)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < n; i++)
    {
        d->inv_mass[i] = -1.0; // unlike any: what is held is yet to be seen
    }
    TRY(springs_prepare(w, d));
    for (int g = 0; g < w->model->groups.count; g++)
    {
        const element_group* group = &w->model->groups.list[g];
        TRY(is_swept(group) ? element_sweep_create(&d->sweeps[d->sweep_count++], group, n) : WEFT_OK);
    }
    pbd_fastest(w, d, NULL);
    return pbd_slivers_make(w, d);
}

void pbd_finish(void* data)
{
    pbd_data* d = data;
    links_finish(&d->springs);
    for (int s = 0; s < d->sweep_count; s++)
    {
        element_sweep_finish(&d->sweeps[s]);
    }
    slivers_finish(&d->slivers);
    mem_free(d->inv_mass);
    mem_free(d->held);
    mem_free(d->from);
    mem_free(d->loads);
    mem_free(d->mean);
    pbd_reach_finish(&d->reach);
}

// ---- the start of a step

// What pins hold in all directions does not move by constraints.
static void hold(world* w, pbd_data* d)
{
    const model* m = w->model;
    for (int i = 0; i < m->vertex_count; i++)
    {
        d->held[i] = 1.0 / m->mass[i];
    }
    d->has_partly = m->ties.count > 0;
    for (int k = 0; k < w->filter_count; k++)
    {
        bool whole = w->filter[k].direction_count == 3;
        d->held[w->filter[k].vertex] = whole ? 0.0 : d->held[w->filter[k].vertex];
        d->has_partly = d->has_partly || !whole;
    }
    if (memcmp(d->held, d->inv_mass, (size_t)m->vertex_count * sizeof(double)) != 0)
    {
        memcpy(d->inv_mass, d->held, (size_t)m->vertex_count * sizeof(double));
        links_hold(&d->springs, d->inv_mass);
        pbd_reach_hold(w, d);
    }
}

weft_status pbd_stage_predict(world* w)
{
    pbd_data* d = w->data;
    w->contact ? contact_leave_rows(w->contact) : (void)0;
    TRY(world_hold(w));
    TRY(pbd_reach_make(w, d));
    hold(w, d);
    TRY(pbd_wrap(w, d));
    size_t size = (size_t)w->model->vertex_count * sizeof(vec3);
    memcpy(w->x_next, w->state.x, size);
    memcpy(w->v_next, w->state.v, size);
    d->rule = (link_rule){
        .legacy = world_setting(w, "legacy") == 1.0, .k = world_setting(w, "k"), .k_bend = world_setting(w, "k_bend")};
    return WEFT_OK;
}

// ---- a substep

static bool is_load(const element_kind* kind)
{
    return kind->is_load;
}

typedef struct move
{
    world* w;
    const pbd_data* d;
    double h, left, inv; // s; of velocities; 1 over the time since the start of the step, 1/s
} move;

static void fall_chunk(void* context, int begin, int end)
{
    const move* m = context;
    world* w = m->w;
    for (int i = begin; i < end; i++)
    {
        vec3 v = v3_scale(m->left, w->v_next[i]);
        v = v3_madd(v, m->h / w->model->mass[i], m->d->loads[i]);
        m->d->from[i] = w->x_next[i];
        w->x_next[i] = v3_madd(w->x_next[i], m->h, v);
    }
}

static void velocity_chunk(void* context, int begin, int end)
{
    const move* m = context;
    for (int i = begin; i < end; i++)
    {
        m->w->v_next[i] = v3_scale(m->inv, v3_sub(m->w->x_next[i], m->d->from[i]));
    }
}

static void mean_chunk(void* context, int begin, int end)
{
    const move* m = context;
    for (int i = begin; i < end; i++)
    {
        m->d->mean[i] = v3_scale(m->inv, v3_sub(m->w->x_next[i], m->w->state.x[i]));
    }
}

static void place(world* w, const pbd_data* d, int i, double since)
{
    w->x_next[i] = v3_madd(w->state.x[i], since, d->mean[i]);
}

// Pins and ties prescribe the mean velocity since the start of the step: on their straight way within it they are at
// their share of it.
static void prescribe(world* w, pbd_data* d, double share)
{
    move m = {.w = w, .d = d, .inv = 1.0 / (share * w->h)};
    if (w->filter_count + w->model->ties.count == 0)
    {
        return;
    }
    parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, mean_chunk, &m);
    world_prescribe(w, d->mean);
    for (int k = 0; k < w->filter_count; k++)
    {
        place(w, d, w->filter[k].vertex, share * w->h);
    }
    for (int k = 0; k < w->model->ties.member_count; k++)
    {
        place(w, d, w->model->ties.members[k], share * w->h);
    }
}

static void fall(world* w, pbd_data* d, const pbd_moment* now)
{
    element_motion motion = {.x = w->x_next, .v = w->v_next, .h = now->h, .time = w->time + now->begin * w->h + now->h};
    world_forces_of(w, &motion, is_load, w->model->external, d->loads);
    move m = {.w = w, .d = d, .h = now->h, .left = exp(-world_setting(w, "drag") * now->h)};
    parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, fall_chunk, &m);
    prescribe(w, d, now->end);
}

static weft_status sweep(world* w, pbd_data* d, const pbd_moment* now)
{
    link_sweep how = {.pool = w->pool,
                      .cpu = w->cpu,
                      .backward = now->iteration % 2 == 1,
                      .remember = !d->rule.legacy && now->iterations > 1};
    if (w->contact)
    {
        contact_draw_apart(w->contact, w->x_next);
    }
    // What limits move is stretched beside them, and what springs move is beyond them: both before and after.
    limits_project(&d->reach.limits, w->pool, d->inv_mass, &(limit_turn){.meet = true}, w->x_next);
    links_sweep(&d->springs, &how, w->x_next);
    for (int s = 0; s < d->sweep_count; s++)
    {
        element_sweep_run(&d->sweeps[s], &how, &d->rule, d->inv_mass, w->x_next);
    }
    slivers_project(&d->slivers, d->inv_mass, w->x_next);
    limits_project(&d->reach.limits, w->pool, d->inv_mass, &(limit_turn){0}, w->x_next);
    grips_project(w, now->end, now->h, d->inv_mass, w->x_next);
    d->has_partly ? prescribe(w, d, now->end) : (void)0;
    if (w->contact)
    {
        contact_project_sweep(w->contact, w->x_next);
    }
    return WEFT_OK;
}

// What springs and elements damp, once the velocities are known. The paper's k knows no dampers.
static void damp(world* w, pbd_data* d)
{
    link_sweep how = {.pool = w->pool, .cpu = w->cpu};
    if (d->rule.legacy)
    {
        return;
    }
    links_damp(&d->springs, &how, w->x_next, w->v_next);
    for (int s = 0; s < d->sweep_count; s++)
    {
        element_sweep_damp(&d->sweeps[s], &how, &d->rule, d->inv_mass, w->x_next, w->v_next);
    }
}

static weft_status substep(world* w, pbd_data* d, pbd_moment* now)
{
    fall(w, d, now);
    d->rule.h = now->h;
    grips_project_begin(w);
    links_begin(&d->springs, w->pool, &d->rule);
    for (int s = 0; s < d->sweep_count; s++)
    {
        element_sweep_begin(&d->sweeps[s]);
    }
    if (w->contact)
    {
        contact_moment moment = {.from = d->from, .begin = now->begin, .end = now->end};
        TRY(contact_project_begin(w->contact, &moment));
    }
    limits_widen(&d->reach.limits, w->pool, d->inv_mass, &(limit_start){d->from, now->h}, w->x_next);
    now->projections += pbd_reach_cycle(w, d, now);
    for (now->iteration = 0; now->iteration < now->iterations; now->iteration++)
    {
        TRY(sweep(w, d, now));
    }
    move m = {.w = w, .d = d, .inv = 1.0 / now->h};
    parallel_for(w->pool, w->model->vertex_count, ROW_GRAIN, velocity_chunk, &m);
    grips_damp(w, now->h, d->inv_mass, w->v_next);
    damp(w, d);
    return WEFT_OK;
}

static int substeps_of(const world* w, const pbd_data* d, int iterations)
{
    const double most = 1e6;
    double chosen = world_setting(w, "substeps");
    double wanted = ceil(w->h * sqrt(fmin(d->fastest, d->fastest_max) / (enough * iterations)));
    return (int)fmax(1.0, fmin(chosen > 0.0 ? chosen : wanted, most));
}

weft_status pbd_stage_iterate(world* w)
{
    pbd_data* d = w->data;
    pbd_moment now = {.iterations = (int)world_setting(w, "iterations")};
    int count = substeps_of(w, d, now.iterations);
    now.h = w->h / count;
    for (int s = 0; s < count; s++)
    {
        now.begin = (double)s / count;
        now.end = (double)(s + 1) / count;
        TRY(substep(w, d, &now));
    }
    double projected = d->springs.count + d->reach.limits.total;
    for (int s = 0; s < d->sweep_count; s++)
    {
        projected += d->sweeps[s].group->count;
    }
    world_count(w, pbd_counters[0], count);
    world_count(w, pbd_counters[1], now.projections + projected * count * now.iterations);
    return WEFT_OK;
}

// What moved a vertex beside the loads.
static vec3 reaction(const world* w, int i)
{
    const pbd_data* d = w->data;
    vec3 change = v3_scale(w->model->mass[i] / w->h, v3_sub(w->v_next[i], w->state.v[i]));
    return v3_sub(change, d->loads[i]);
}

weft_status pbd_stage_advance(world* w)
{
    // Its energy is not judged, so that nobody asks for the work of air and pins.
    w->contact ? world_remember(w, reaction) : (void)0;
    return WEFT_OK;
}

// ---- the method

static const method_setting settings[] = {PBD_SETTINGS(1, 10), {.name = NULL}};

const stage pbd_stages[] = {
    {"detect", stage_detect},
    {"predict", pbd_stage_predict},
    {"iterate", pbd_stage_iterate},
    {"advance", pbd_stage_advance},
    {"judge", stage_judge},
    {"respond", stage_respond},
    {NULL, NULL},
};

extern const time_method method_pbd;
const time_method method_pbd = {
    .name = "pbd",
    .summary = "position based dynamics with compliance: substeps of projected constraints, no linear system",
    .stages = pbd_stages,
    .needs = NEEDS_FORCE | NEEDS_CONSTRAINT,
    .data_size = sizeof(pbd_data),
    .prepare = pbd_prepare,
    .finish = pbd_finish,
    .settle = pbd_settle,
    .mend = pbd_mend,
    .energy_rise_max = INFINITY,
    .counters = pbd_counters,
    .settings = settings,
};
