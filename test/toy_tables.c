// The tables of methods, models and kinds of bodies with what tests add: a row each. A program that has this file links
// it in place of the library's own, src/step/method_table.c, src/material/model_table.c and src/sim/body_table.c.
#include "material/material.h"
#include "sim/body_kind.h"
#include "step/step.h"

extern const time_method method_implicit_euler, method_newton, method_toy_verlet, method_toy_positions, method_pbd,
    method_hpbd;
extern const time_method method_local_global;
extern const cloth_model model_baraff_witkin, model_toy_springs, model_hooke, model_corotated;
extern const body_kind body_kind_cloth, body_kind_toy_threads, body_kind_toy_blocks;
extern const body_kind body_kind_strands, body_kind_volumes;

const method_row method_table[] = {
    {.method = &method_implicit_euler, .fallback = &method_newton},
    {.method = &method_newton},
    {.method = &method_toy_verlet},
    {.method = &method_toy_positions},
    {.method = &method_local_global},
    {.method = &method_pbd},
    {.method = &method_hpbd},
    {.method = NULL},
};

const cloth_model* const model_table[] = {&model_baraff_witkin, &model_toy_springs, &model_hooke, &model_corotated,
                                          NULL};

const body_kind* const body_table[] = {&body_kind_cloth,   &body_kind_toy_threads, &body_kind_toy_blocks,
                                       &body_kind_strands, &body_kind_volumes,     NULL};
