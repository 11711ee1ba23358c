// Step control: a step that goes wrong is thrown away and tried with half its length, at most ten times; substeps are
// whole numbers of ticks of time_step / 1024, so that they land exactly on the end of the step. What goes wrong: a
// value that is not finite, a solve that does not converge, a thread that grows too fast, or energy from nowhere. A
// single linearly implicit step can raise the energy (rotation alone does it); ten halvings bring most such steps to
// order, and what they leave is handed to the method's fallback, which is to make the best of it; where not even that
// is finite, cloth stands still. A step has so many solves to spend, then what is finite stands; and so much contact,
// then cloth stands still to its end.
// Only a state that is not finite itself ends a run.
//
// Counts and energies decide, never clocks.
#include <string.h>

#include "step/step.h"

// A step may raise the energy by the method's share of kinetic and elastic energy, and by this share of the weight's.
static const double weight_rise_max = 1e-7;

// What brings apart a start that crosses pulls at the cloth as it must: then as much again as there is.
static const double settling_rise_max = 1.0;

enum
{
    CALM_STEPS = 4,             // good substeps before a longer one is tried
    SOLVES_MAX = 2 * STEP_TICKS // of a step: then what is finite stands, and substeps grow
};

static int find_not_finite(const vec3* x, const vec3* v, int count)
{
    for (int i = 0; i < count; i++)
    {
        // Squares, because energies overflow before the numbers themselves do.
        if (!(v3_dot(x[i], x[i]) < far_away_sq) || !isfinite(v3_dot(v[i], v[i])))
        {
            return i;
        }
    }
    return -1;
}

// The vertex to name when a step has failed: the first with a value that is not finite, else the one that moves
// fastest.
static int find_culprit(const world* w)
{
    int n = w->model->vertex_count;
    int found = find_not_finite(w->x_next, w->v_next, n);
    found = found >= 0 ? found : find_not_finite(w->rhs, w->dv, n);
    double fastest = -1.0;
    for (int i = 0; i < n && found < 0; i++)
    {
        fastest = fmax(fastest, v3_dot(w->v_next[i], w->v_next[i]));
    }
    for (int i = 0; i < n && found < 0; i++)
    {
        found = v3_dot(w->v_next[i], w->v_next[i]) == fastest ? i : found;
    }
    return found;
}

double lively_energy(const weft_energy* e)
{
    return e->kinetic + e->stretch + e->shear + e->bend;
}

// Where there is hardly any gravity, a ten thousandth of the earth's: below that, energies are rounding.
double weight_energy(const model* m)
{
    const double least = 1e-3; // m/s^2
    return m->total_mass * fmax(v3_length(m->gravity), least) * m->size;
}

double world_rise(const world* w)
{
    return w->after.energy.total + w->after.forces - w->before.energy.total - w->before.forces - w->work;
}

// What no substep may end with by itself, whatever else fails: more energy from nowhere than all motion, all threads,
// the weight and what pins and bodies did. In cloth stretched as no cloth is there may be hardly any but the weight's,
// which slivers can hold: what is unstable doubles it in each substep, to 1e48 J, or turns threads of metres into
// kilometres where a solve has gone wrong. What crosses at a start, and what is squeezed, is parted by a response whose
// work has no measure, and so is what a response has just parted: a flat triangle, moved by a part of the thickness,
// holds many times what there was until the next solve, however short the substep. A step that has spent its solves
// goes on in longer substeps, which nothing makes shorter any more: a tenth is much for each.
bool world_from_nowhere(const world* w)
{
    const double stretch_max = 10.0, stretched_rise_max = 0.01, parted = 100.0, spent_rise = 0.1, spent_weight = 1e-3;
    bool forced = w->contact && (contact_is_unsettled(w->contact) || w->contact->marks.count > 0);
    bool parts = forced || w->responded;
    double before = lively_energy(&w->before.energy), weight = weight_energy(w->model);
    double all = (parts ? parted : 1.0) * (before + fabs(w->work) + weight);
    all = w->spent && !forced ? spent_rise * before + spent_weight * weight : all;
    bool stretched = w->after.max_stretch > stretch_max;
    return world_rise(w) > (stretched ? stretched_rise_max * before + weight : all);
}

weft_status stage_judge(world* w)
{
    w->after = world_energy(w, w->x_next, w->v_next);
    w->bad_vertex = find_not_finite(w->x_next, w->v_next, w->model->vertex_count);
    if (!isfinite(w->after.energy.total) || w->bad_vertex >= 0)
    {
        return WEFT_NOT_FINITE;
    }
    w->judged = true;
    if (w->after.max_stretch > w->settings.max_stretch * fmax(1.0, w->before.max_stretch))
    {
        return WEFT_NOT_CONVERGED;
    }
    bool settling = w->contact && contact_is_unsettled(w->contact);
    if (w->may_halve && !settling && w->settings.max_strain > 0.0 &&
        w->after.max_stretch > fmax(1.0 + w->settings.max_strain, w->before.max_stretch))
    {
        return WEFT_NOT_CONVERGED;
    }
    double rise_max = w->running->energy_rise_max;
    if (isinf(rise_max))
    {
        return WEFT_OK;
    }
    double rise = world_rise(w);
    if (settling)
    {
        rise_max = fmax(rise_max, settling_rise_max);
    }
    double rounding = 1e-13 * (fabs(w->before.energy.gravity) + fabs(w->before.forces) + fabs(w->work));
    double limit = rise_max * lively_energy(&w->before.energy) + weight_rise_max * weight_energy(w->model) + rounding;
    return rise <= limit && !world_from_nowhere(w) ? WEFT_OK : WEFT_NOT_CONVERGED;
}

weft_status world_look(const world* w, const char* stage)
{
    if (!w->look)
    {
        return WEFT_OK;
    }
    weft_progress now = {.step = w->state.step_count + 1,
                         .done = (double)w->ticks_done / STEP_TICKS,
                         .stage = stage,
                         .substeps = w->stats->substeps,
                         .rejected = w->stats->rejected,
                         .solves = w->stats->solves};
    return w->look(w->look_user, &now) ? WEFT_CANCELLED : WEFT_OK;
}

// Times go by name: the method that a step falls back on has some of the same stages, elsewhere in its table.
static weft_status run_stage(world* w, const stage* stage)
{
    weft_step_stats* stats = w->stats;
    TRY(world_look(w, stage->name));
    double start = timer_now();
    weft_status status = stage->run(w);
    int k = 0;
    while (k < stats->stage_count && strcmp(stats->stage_name[k], stage->name) != 0)
    {
        k++;
    }
    WEFT_VALIDATE(k < WEFT_STAGE_MAX);
    if (k < WEFT_STAGE_MAX)
    {
        stats->stage_name[k] = stage->name;
        stats->stage_s[k] += timer_now() - start;
        stats->stage_count = int_max(stats->stage_count, k + 1);
    }
    return status;
}

static weft_status run_stages(world* w, const method_object* object)
{
    const time_method* method = object->method;
    w->bad_vertex = -1;
    w->judged = w->responded = w->wild = w->restart = false;
    w->cap_mass = NULL;
    w->work = 0.0;
    w->running = method;
    w->data = object->data;
    for (int k = 0; method->stages[k].name; k++)
    {
        TRY(run_stage(w, &method->stages[k]));
    }
    return WEFT_OK;
}

static void accept(world* w)
{
    state* s = &w->state;
    double inv_h = 1.0 / w->h;
    vec3* oldest = s->earlier[1];
    s->earlier[1] = s->earlier[0];
    s->earlier[0] = s->acceleration;
    s->acceleration = oldest;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        s->acceleration[i] = v3_scale(inv_h, v3_sub(w->v_next[i], s->v[i]));
    }
    history_push(s, w->h);
    s->history_filled = w->restart ? 0 : s->history_filled;
    memcpy(s->x, w->x_next, (size_t)w->model->vertex_count * sizeof(vec3));
    memcpy(s->v, w->v_next, (size_t)w->model->vertex_count * sizeof(vec3));
    if (w->contact)
    {
        contact_state last = s->contact;
        s->contact = w->contact->next;
        w->contact->next = last;
    }
    w->before = w->after;
    w->stats->substeps++;
    w->accepted ? w->accepted(w->user) : (void)0;
}

// Where bodies or pins close on the cloth, what they do to it has no measure in energy: shorter substeps than contact
// asks for would not help, and what is finite stands.
static bool is_squeezed(const world* w)
{
    return w->contact && w->contact->marks.count > 0;
}

// What a step may cost is spent. Counts of the step alone: the same on any number of threads, and after --resume.
static bool is_entangled(const world* w)
{
    return w->contact && contact_is_spent(w->contact);
}

static bool is_spent(const world* w)
{
    return w->stats->solves >= SOLVES_MAX || is_entangled(w);
}

static int halvings_max(const world* w)
{
    return is_squeezed(w) ? int_min(w->settings.max_halvings, HALVINGS_FOR_CONTACT) : w->settings.max_halvings;
}

static bool may_stand(const world* w, weft_status status)
{
    bool finite = status == WEFT_NOT_CONVERGED && w->judged && !w->wild;
    return finite && (isinf(w->running->energy_rise_max) || !world_from_nowhere(w));
}

// What was judged wrong stands, once nothing crosses. Longer substeps than contact would like end, too: see respond.c.
static weft_status let_stand(world* w)
{
    static const stage respond = {"respond", stage_respond};
    weft_status status = run_stage(w, &respond);
    w->stats->forced += status == WEFT_OK;
    return status;
}

// Nothing moves but what is prescribed.
static weft_status stand_still(world* w)
{
    method_object still = {&method_stand_still, NULL};
    w->may_halve = false;
    weft_status status = run_stages(w, &still);
    w->stats->forced += status == WEFT_OK;
    return may_stand(w, status) ? let_stand(w) : status;
}

// The shortest substep went wrong too, or the step's work is spent: the fallback takes it, then what is finite stands,
// then nothing moves.
static weft_status last_resort(world* w, weft_status status)
{
    w->may_halve = false;
    if (may_stand(w, status) && (is_squeezed(w) || is_spent(w)))
    {
        status = let_stand(w);
        return w->wild ? stand_still(w) : status;
    }
    w->resort = true;
    w->spent = is_spent(w);
    if (w->fallback.method && !is_entangled(w))
    {
        status = run_stages(w, &w->fallback);
    }
    if (may_stand(w, status))
    {
        status = let_stand(w);
    }
    w->resort = false;
    return is_numeric(status) ? stand_still(w) : status;
}

// At least so many that a substep ends on a multiple of its length and within the part of the step.
static int halvings_within(int halvings, int from, int until)
{
    while (from % (STEP_TICKS >> halvings) != 0 || from + (STEP_TICKS >> halvings) > until)
    {
        halvings++;
    }
    return halvings;
}

static weft_status run_substeps(world* w, int from, int until)
{
    state* s = &w->state;
    w->ticks_done = from;
    w->resort = w->spent = false;
    w->time = time_at(w, from);
    w->h = w->settings.time_step;
    w->contact ? contact_begin(w->contact) : (void)0;
    w->before = world_energy(w, s->x, s->v);
    if (!isfinite(w->before.energy.total))
    {
        w->bad_vertex = find_not_finite(s->x, s->v, w->model->vertex_count);
        return WEFT_NOT_FINITE;
    }
    while (w->ticks_done < until)
    {
        w->halved = halvings_within(s->halvings, w->ticks_done, until);
        int ticks = STEP_TICKS >> w->halved;
        w->time = time_at(w, w->ticks_done);
        w->h = w->settings.time_step * ticks / STEP_TICKS;
        w->spent = is_spent(w);
        w->may_halve = w->halved < halvings_max(w) && !w->spent;
        weft_status status = is_entangled(w) ? stand_still(w) : run_stages(w, &w->method);
        bool retry = is_numeric(status);
        if (retry && w->halved < halvings_max(w) && !is_spent(w))
        {
            s->halvings = w->halved + 1;
            s->calm = 0;
            s->waits = int_min(s->waits + s->tries, WAITS_MAX);
            s->tries = false;
            w->stats->rejected++;
            continue;
        }
        if (retry)
        {
            status = last_resort(w, status);
        }
        TRY(status);
        accept(w);
        w->ticks_done += ticks;
        // Longer again after some good substeps, where the longer one still ends on the grid; where that has failed, twice
        // as many each time. What is tried too often costs a substep each, and one that just passes its judges is poor:
        // rings stretched cloth to 1.5 times its length.
        bool own = s->halvings > 0 && s->halvings == w->halved; // not that of the part
        s->waits = int_max(s->waits - s->tries, 0);
        s->calm += own;
        bool calm = s->calm >= CALM_STEPS << s->waits || is_spent(w);
        s->tries = own && calm && w->ticks_done % (2 * ticks) == 0;
        if (s->tries)
        {
            s->halvings--;
            s->calm = 0;
        }
    }
    w->may_halve = false;
    w->time = time_at(w, until);
    w->stats->energy = w->before.energy;
    w->stats->max_stretch = w->before.max_stretch;
    w->stats->limited = w->limit.count;
    w->stats->overstretched = strain_limit_count_over(w);
    w->stats->contacts = w->contact ? w->contact->contacts : 0;
    w->stats->last_resort = w->contact ? w->contact->last_resort : 0;
    return WEFT_OK;
}

// What the next step goes on with, in a checkpoint.
typedef struct step_control
{
    int64_t step_count;
    int32_t halvings, calm, waits, tries;
} step_control;

static const section_shape control_shape = {"step-control", 2, sizeof(step_control), 1};

void step_control_save(const state* s, section_writer* out)
{
    step_control c = {s->step_count, s->halvings, s->calm, s->waits, s->tries};
    section_put(out, control_shape.name, control_shape.version, sizeof(c), 1, &c);
}

weft_status step_control_load(state* s, int max_halvings, sections* from, weft_error* error)
{
    const int64_t whole_max = (int64_t)1 << 53; // time is a double
    const section* found;
    TRY(sections_take(from, &control_shape, &found, error));
    if (!found)
    {
        return sections_lacks(from, control_shape.name, error);
    }
    step_control c;
    memcpy(&c, found->items, sizeof(c));
    if (c.step_count < 0 || c.step_count > whole_max || c.halvings < 0 || c.halvings > max_halvings || c.calm < 0 ||
        c.calm > STEP_TICKS || c.waits < 0 || c.waits > WAITS_MAX || (c.tries | 1) != 1)
    {
        char what[128];
        snprintf(what, sizeof(what), "step %lld with %d halvings, %d calm substeps and %d waits", (long long)c.step_count,
                 c.halvings, c.calm, c.waits);
        return sections_cannot_be(from, what, error);
    }
    s->step_count = c.step_count;
    s->halvings = c.halvings;
    s->calm = c.calm;
    s->waits = c.waits;
    s->tries = c.tries != 0;
    return WEFT_OK;
}

static weft_status step_save(world* w)
{
    TRY(state_copy(&w->saved, &w->state));
    const double* memory = solver_object_memory(&w->solver);
    if (memory)
    {
        memcpy(w->solver_saved, memory, sizeof(w->solver_saved));
    }
    return WEFT_OK;
}

void step_undo(world* w)
{
    state_swap(&w->state, &w->saved);
    solver_object_drop(&w->solver);
    method_object_forget(&w->method);
    method_object_forget(&w->fallback);
    double* memory = solver_object_memory(&w->solver);
    if (memory)
    {
        memcpy(memory, w->solver_saved, sizeof(w->solver_saved));
    }
}

weft_status step_run(world* w, int from, int until)
{
    TRY(step_save(w));
    counters_begin(w);
    weft_status status = run_substeps(w, from, until);
    if (status != WEFT_OK)
    {
        w->bad_vertex = w->bad_vertex >= 0 ? w->bad_vertex : find_culprit(w);
        step_undo(w);
        return status;
    }
    w->state.step_count += until == STEP_TICKS;
    return WEFT_OK;
}
