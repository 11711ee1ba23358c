// The table of experiments, in the order in which they run.
#include <string.h>

#include "validate/experiment.h"

extern const experiment experiment_cantilever, experiment_elongation, experiment_elongation_weft, experiment_uniaxial,
    experiment_uniaxial_weft, experiment_shear, experiment_picture_frame, experiment_catenary, experiment_pendulum,
    experiment_terminal_speed, experiment_momentum, experiment_spin, experiment_energy, experiment_d1388,
    experiment_buckling, experiment_slope, experiment_capstan, experiment_stack, experiment_cusick,
    experiment_cantilever_weft, experiment_cantilever_bias, experiment_d1388_weft, experiment_d1388_bias,
    experiment_ring, experiment_square, experiment_square_drape, experiment_hung, experiment_collision,
    experiment_collision_energy;

const experiment* const experiments[] = {
    &experiment_cantilever,
    &experiment_cantilever_weft,
    &experiment_cantilever_bias,
    &experiment_d1388,
    &experiment_d1388_weft,
    &experiment_d1388_bias,
    &experiment_ring,
    &experiment_square,
    &experiment_buckling,
    &experiment_elongation,
    &experiment_elongation_weft,
    &experiment_uniaxial,
    &experiment_uniaxial_weft,
    &experiment_shear,
    &experiment_picture_frame,
    &experiment_catenary,
    &experiment_pendulum,
    &experiment_terminal_speed,
    &experiment_slope,
    &experiment_capstan,
    &experiment_stack,
    &experiment_momentum,
    &experiment_spin,
    &experiment_energy,
    &experiment_collision,
    &experiment_collision_energy,
    &experiment_cusick,
    &experiment_square_drape,
    &experiment_hung,
};
const int experiment_count = sizeof(experiments) / sizeof(experiments[0]);

const experiment* experiment_find(const char* name)
{
    for (int k = 0; k < experiment_count; k++)
    {
        if (strcmp(experiments[k]->name, name) == 0)
        {
            return experiments[k];
        }
    }
    return NULL;
}
