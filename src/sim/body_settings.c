// Settings of methods that a body has of its own (weft_cloth_def.settings), and what counts where bodies that differ
// step together: of each setting the largest value of them, and before all of these 0 where that means as many as it
// takes. So a body has what it was given, or more, whoever it meets; away from others exactly that.
#include "sim/sim.h"

weft_status body_take_settings(const weft_cloth_def* def, body* b, weft_error* error)
{
    if (def->setting_count == 0)
    {
        return WEFT_OK;
    }
    b->chosen = MEM_NEW(WEFT_SETTING_MAX, double);
    if (!b->chosen)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < WEFT_SETTING_MAX; k++)
    {
        b->chosen[k] = NAN;
    }
    for (int k = 0; k < def->setting_count; k++)
    {
        const weft_choice* c = &def->settings[k];
        weft_sim_def checked;
        TRY(weft_sim_def_set(&checked, c->method, c->name, c->value, error));
        b->chosen[method_setting_find(c->method, c->name)] = c->value;
    }
    return WEFT_OK;
}

double body_setting(const weft_sim* sim, const body* b, int index)
{
    return b->chosen && !isnan(b->chosen[index]) ? b->chosen[index] : sim->def.settings[index];
}

static double more_of(const method_setting* s, double a, double b)
{
    return s->zero_is_most && (a == 0.0 || b == 0.0) ? 0.0 : fmax(a, b);
}

void sim_settings_of_bodies(const weft_sim* sim, double* out)
{
    const time_method* method;
    const method_setting* s;
    for (int k = 0; (s = method_setting_at(k, &method)) != NULL; k++)
    {
        bool found = false;
        out[k] = sim->def.settings[k];
        for (int i = 0; i < sim->body_count; i++)
        {
            if (!sim->bodies[i].removed)
            {
                double own = body_setting(sim, &sim->bodies[i], k);
                out[k] = found ? more_of(s, out[k], own) : own;
                found = true;
            }
        }
    }
}
