// Edits between steps: what a user may change while a simulation runs. What is wrong is refused before anything
// changes.
#include "sim/edits.h"

weft_status weft_sim_set_gravity(weft_sim* sim, weft_vec3 gravity, weft_error* error)
{
    WEFT_ASSERT(sim);
    if (!v3_is_finite(gravity))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "gravity is finite");
    }
    TRY(edits_begin(sim, error));
    sim->def.gravity = gravity;
    sim_weigh(sim);
    return WEFT_OK;
}
