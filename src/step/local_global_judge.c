// Whether turns of local-global left what a step may not end with: energy from nowhere.
#include "step/local_global.h"

// A rise of energy by more than these shares of kinetic and elastic energy, and of the weight's, is from nowhere.
static const double rise_share = 0.1, rise_weight = 1e-5, crumple_share = 0.05;

// Turns that end early leave some where much has changed, as a landing does.
bool local_global_rises(world* w)
{
    w->after = world_energy(w, w->x_next, w->v_next);
    w->work = world_work(w, local_global_reaction);
    double rise = world_rise(w);
    w->work = 0.0;
    return rise > rise_share * lively_energy(&w->before.energy) + rise_weight * weight_energy(w->model);
}

// Moving out is no descent of g, and what it stretches in turn after turn stays, as friction holds it. What bodies do
// to cloth that they carry is motion first.
bool local_global_crumples(world* w)
{
    weft_energy before = w->before.energy, now = world_energy(w, w->x_next, w->v_next).energy;
    double rise = now.stretch + now.shear - before.stretch - before.shear;
    return rise > crumple_share * lively_energy(&before) + rise_weight * weight_energy(w->model);
}
