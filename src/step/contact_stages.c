// Contact in a step of a method: what a substep lends to it, its part of the linear system, and the response.
#include <string.h>

#include "step/step.h"

// A response that multiplies the largest stretch by more asks for a shorter substep.
static const double response_stretch = 1.05;

// So does one that ends with more energy than the substep began with, by these shares of kinetic and elastic energy and
// of the weight's: at 0.1 the shipped ring still stretches to 1.43 (35 cells), at 0.3 to 2.4; at 0.03 to 1.16, here to
// 1.09, for as much time.
static const double response_rise = 0.01, response_weight = 1e-5;
// Of methods whose iterations end early, which leave more than that themselves.
static const double response_rise_rough = 0.1;
// And one that stretches threads as no solve may, by this one, as long as there is a shorter one.
static const double wild_rise = 0.1;

// The acceleration that each vertex will have if nothing new happens: the last one, as far as it is no mere shaking, or
// in the very first substep that of its weight.
static void expect(world* w)
{
    const model* m = w->model;
    const state* s = &w->state;
    bool first = s->step_count == 0 && w->time == 0.0;
    for (int i = 0; i < m->vertex_count; i++)
    {
        vec3 weight = v3_scale(1.0 / m->mass[i], m->external[i]);
        vec3 a = first ? weight : s->acceleration[i];
        double size = v3_length(a), most = v3_length(s->v[i]) / w->h + 2.0 * v3_length(weight);
        w->expected[i] = size > most ? v3_scale(most / size, a) : a;
    }
    for (int k = 0; k < w->pin_count; k++)
    {
        const filter_record* pin = &w->pins[k];
        vec3 prescribed = v3_scale(1.0 / w->h, w->z[pin->vertex]);
        w->expected[pin->vertex] = v3_add(prescribed, m3_mul_v(pin->S, w->expected[pin->vertex]));
    }
}

// Where obstacles are at the end of the substep, if pins follow them.
static weft_status place_followed(world* w)
{
    int count = w->model->pins.body_vertices;
    if (count == 0)
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&w->followed, &w->followed_capacity, count, sizeof(vec3)))
    {
        return WEFT_NO_MEMORY;
    }
    return w->obstacles_at(w->user, w->time + w->h, w->followed, w->contact ? &w->contact->error : NULL);
}

// Pins for the end of the substep, and rows of what is near.
weft_status stage_detect(world* w)
{
    const state* s = &w->state;
    TRY(w->detects ? w->detects(w->user) : WEFT_OK);
    TRY(place_followed(w));
    pin_moment end = {w->time + w->h, w->h, s->x, s->v, w->followed};
    w->filter_count = pin_set_constrain(&w->model->pins, &end, w->filter, w->z);
    w->pin_count = w->filter_count;
    TRY(grips_begin(w, &end));
    if (!w->contact)
    {
        return WEFT_OK;
    }
    memcpy(w->pins, w->filter, (size_t)w->pin_count * sizeof(filter_record));
    expect(w);
    const double* yielding;
    TRY(world_find_yielding(w, &yielding));
    contact_substep now = {.h = w->h,
                           .time = w->time,
                           .time_step = w->settings.time_step,
                           .x = w->state.x,
                           .v = w->state.v,
                           .expected = w->expected,
                           .last = &w->state.contact,
                           .yielding = yielding,
                           .pins = w->pins,
                           .pin_count = w->pin_count,
                           .may_halve = w->may_halve && s->halvings < HALVINGS_FOR_CROWDS,
                           .waits = w->running->ends_early};
    return contact_find(w->contact, &now);
}

// ---- after the solve

typedef struct pulled
{
    const world* w;
    reaction_fn* reaction;
} pulled;

// The force of touches alone: ties may pull at the same vertex.
static vec3 touch_reaction(const void* user, int vertex)
{
    const pulled* p = user;
    vec3 force = p->reaction(p->w, vertex);
    return p->w->model->ties.count > 0 ? v3_sub(force, p->w->binding.pull[vertex]) : force;
}

static void pull_ties(world* w, reaction_fn* reaction)
{
    if (w->model->ties.count > 0 && w->contact->touch_count > 0)
    {
        binding_pull(w, reaction);
    }
}

int world_release(world* w, reaction_fn* reaction, const vec3* v, bool early)
{
    if (!w->contact)
    {
        return 0;
    }
    pull_ties(w, reaction);
    pulled p = {w, reaction};
    return contact_release(w->contact, touch_reaction, &p, v, early);
}

void world_remember(world* w, reaction_fn* reaction)
{
    pull_ties(w, reaction);
    pulled p = {w, reaction};
    contact_remember(w->contact, touch_reaction, &p, w->v_next);
}

// What a rough answer leaves at vertices that obstacles hold is no force of theirs, and times the way out of their
// layers it would be work that allows for any rise: they do what their own motion does, or less.
static double driven_work(world* w, reaction_fn* reaction)
{
    const contact* c = w->contact;
    double work = 0.0;
    for (int k = 0, t = 0; k < w->held_count; k++)
    {
        int i = w->held[k];
        while (t < c->touch_count && c->touches[t].vertex < i)
        {
            t++;
        }
        bool touched = t < c->touch_count && c->touches[t].vertex == i && c->record[i] < 0;
        work += touched ? 0.0 : v3_dot(reaction(w, i), v3_sub(w->x_next[i], w->state.x[i]));
    }
    pull_ties(w, reaction);
    pulled p = {w, reaction};
    return work + contact_drive(c, touch_reaction, &p, w->v_next);
}

double world_work(world* w, reaction_fn* reaction)
{
    element_motion start = {.x = w->state.x, .v = w->state.v, .h = w->h, .time = w->time + w->h};
    double work = world_element_work(w, &start, w->v_next) + grips_work(w);
    if (w->contact && w->running->ends_early)
    {
        return work + fmin(driven_work(w, reaction), held_work(w, reaction) + cushions_work(w->contact, w->v_next));
    }
    return work + held_work(w, reaction) + (w->contact ? cushions_work(w->contact, w->v_next) : 0.0);
}

void world_conclude(world* w, reaction_fn* reaction)
{
    w->work = world_work(w, reaction);
    if (w->contact)
    {
        world_remember(w, reaction);
    }
}

static double elastic_energy(const weft_energy* e)
{
    return e->stretch + e->shear + e->bend;
}

// What no substep may leave, however short: threads that the response has stretched further than any solve may, and
// that hold more for it than all motion, all threads and the weight did; while it can be shorter, a share of motion and
// threads. It moves flat triangles by a part of the
// thickness, which may be many times their height, and the next solve throws the cloth about with what that left. Where
// a start settles or cloth is squeezed it may have no other way: there only what can be shorter is to be.
static bool is_wild(const world* w)
{
    bool judged = w->running->ends_early || !isinf(w->running->energy_rise_max);
    bool forced = contact_is_unsettled(w->contact) || w->contact->marks.count > 0;
    if (!judged || (forced && !w->may_halve))
    {
        return false;
    }
    const weft_energy *before = &w->before.energy, *after = &w->after.energy;
    double most = w->may_halve ? wild_rise * lively_energy(before)
                               : lively_energy(before) + after->kinetic + weight_energy(w->model);
    return w->after.max_stretch > w->settings.max_stretch * fmax(1.0, w->before.max_stretch) &&
           elastic_energy(after) - elastic_energy(before) > most;
}

// What the response does to the cloth is no work of its elastic forces. Where it had to stretch or fold the cloth far,
// a body has gone too far in one substep, and elastic forces want to take part: the substep is taken in halves. What a
// response leaves behind otherwise drives the next one, and cloth that is drawn through a ring jams (2.4 times its
// length, where it now is 1.1). Not where cloth is squeezed or a start settles: there it has no other way.
static weft_status judge_response(world* w, bool may_halve)
{
    w->after = world_energy(w, w->x_next, w->v_next);
    w->wild = is_wild(w) || (!isinf(w->running->energy_rise_max) && world_from_nowhere(w));
    if (w->wild)
    {
        return WEFT_NOT_CONVERGED;
    }
    if (!may_halve || contact_is_unsettled(w->contact))
    {
        return WEFT_OK;
    }
    bool far = w->after.max_stretch > response_stretch * fmax(1.0, w->before.max_stretch);
    bool rough = w->running->ends_early, judged = rough || !isinf(w->running->energy_rise_max);
    judged = judged && w->contact->marks.count == 0;
    double share = rough ? response_rise_rough : response_rise;
    double limit = share * lively_energy(&w->before.energy) + response_weight * weight_energy(w->model);
    return far || (judged && world_rise(w) > limit) ? WEFT_NOT_CONVERGED : WEFT_OK;
}

weft_status stage_respond(world* w)
{
    contact* c = w->contact;
    bool drawn = false;
    if (!c)
    {
        TRY(strain_limit_settle(w, false, &drawn));
        w->after = drawn ? world_energy(w, w->x_next, w->v_next) : w->after;
        return WEFT_OK;
    }
    int most = int_min(w->settings.max_halvings, HALVINGS_FOR_CONTACT);
    bool may_halve = w->may_halve && w->state.halvings < most, changed;
    TRY(contact_respond(c, w->x_next, w->v_next, may_halve, &changed));
    TRY(strain_limit_settle(w, may_halve, &drawn));
    changed = changed || drawn;
    w->responded = changed;
    TRY(changed ? judge_response(w, may_halve) : WEFT_OK);
    return contact_settle(c);
}
