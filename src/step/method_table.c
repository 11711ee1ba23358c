// The table of time methods: what scene files, the command line, tests and benchmarks loop over. The first is the
// default.
#include "step/step.h"

extern const time_method method_implicit_euler, method_newton, method_local_global, method_pbd, method_hpbd;
extern const time_method method_explicit, method_bdf2, method_imex, method_imex2, method_aimex, method_aimex2;

const method_row method_table[] = {
    {.method = &method_implicit_euler, .fallback = &method_newton},
    {.method = &method_newton, .fallback = &method_newton}, // which then takes what it has reached
    {.method = &method_local_global},
    {.method = &method_pbd},
    {.method = &method_hpbd},
    {.method = &method_explicit, .fallback = &method_newton},
    {.method = &method_bdf2, .fallback = &method_newton},
    {.method = &method_imex, .fallback = &method_newton},
    {.method = &method_imex2, .fallback = &method_newton},
    {.method = &method_aimex, .fallback = &method_newton},
    {.method = &method_aimex2, .fallback = &method_newton},
    {.method = NULL},
};
