// The methods of Boxerman's thesis "Speeding up cloth simulation" (2003), chapter 4, as rows of one scheme (march.c):
//
//     explicit    forward-backward Euler (4.5): v += h M^-1 f(x, v), x += h v
//     bdf2        second order, implicit
//     imex        (4.13): backward Euler for connections that are chosen by type, forward-backward for the others; or
//                 backward for the damping of connections alone (`terms`)
//     imex2       (4.15), which is unstable without damping in the explicit half
//     aimex       imex, decided for each connection in each substep by its stability (section 4.4)
//     aimex2      the thesis's future work: likewise of second order, implicit midpoint and leapfrog, whose explicit
//                 half needs no damping
#include "step/march.h"

extern const time_method method_explicit, method_bdf2, method_imex, method_imex2, method_aimex, method_aimex2;

// What gains more than it has within one substep is no longer an oscillation of the explicit half.
#define RISE_WITH_EXPLICIT 1.0

#define TYPE_SETTINGS                                                                                                  \
    {.name = "stretch", .summary = "Stretch: 1 implicit, 0 explicit", .value = 1, .maximum = 1, .whole = true},        \
        {.name = "shear", .summary = "Shear: 1 implicit, 0 explicit", .value = 0, .maximum = 1, .whole = true},        \
        {.name = "bend", .summary = "Bending: 1 implicit, 0 explicit", .value = 0, .maximum = 1, .whole = true},       \
        {.name = "air", .summary = "Air: 1 implicit, 0 explicit", .value = 1, .maximum = 1, .whole = true},            \
    {                                                                                                                  \
        .name = "terms", .summary = "Of implicit connections 0: all, 1: damping alone is", .value = 0, .maximum = 1,   \
        .whole = true                                                                                                  \
    }

#define CRITERION_SETTINGS                                                                                             \
    {.name = "criterion",                                                                                              \
     .summary = "How stiff a connection may be in a substep and still be explicit; 0: none, above 1/2 is unstable",    \
     .value = 0.2,                                                                                                     \
     .maximum = 0.5},                                                                                                  \
        {.name = "bend_explicit",                                                                                      \
         .summary = "Bending is explicit, 0: by the criterion, 1: always",                                             \
         .value = 0,                                                                                                   \
         .maximum = 1,                                                                                                 \
         .whole = true},                                                                                               \
    {                                                                                                                  \
        .name = "compact", .summary = "1: blocks of zeros are taken out of the matrix before it is solved",            \
        .value = 0, .maximum = 1, .whole = true                                                                        \
    }

// ---- explicit

static const march_scheme scheme_explicit = {.form = MARCH_EULER, .rule = SPLIT_EXPLICIT};

static weft_status prepare_explicit(world* w, void* data)
{
    return march_prepare(w, data, &scheme_explicit);
}

const time_method method_explicit = {
    .name = "explicit",
    .summary = "forward-backward Euler: explicit but for contact, for steps that are short enough",
    .stages = march_stages,
    .needs = NEEDS_FORCE,
    .data_size = sizeof(march_data),
    .prepare = prepare_explicit,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = RISE_WITH_EXPLICIT,
    .counters = split_counters,
};

// ---- bdf2

static const march_scheme scheme_bdf2 = {.form = MARCH_BDF2, .rule = SPLIT_IMPLICIT};

static weft_status prepare_bdf2(world* w, void* data)
{
    return march_prepare(w, data, &scheme_bdf2);
}

const time_method method_bdf2 = {
    .name = "bdf2",
    .summary = "backward differences of second order, one Newton step",
    .stages = march_stages,
    .needs = NEEDS_MATRIX | NEEDS_FORCE,
    .history = 1,
    .data_size = sizeof(march_data),
    .prepare = prepare_bdf2,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = 0.1,
    .counters = split_counters,
};

// ---- imex, imex2

static const method_setting type_settings[] = {TYPE_SETTINGS, {.name = NULL}};

static const march_scheme scheme_imex = {.form = MARCH_EULER, .rule = SPLIT_TYPE, .terms = true};
static const march_scheme scheme_imex2 = {.form = MARCH_BDF2, .rule = SPLIT_TYPE, .terms = true};

static weft_status prepare_imex(world* w, void* data)
{
    return march_prepare(w, data, &scheme_imex);
}

static weft_status prepare_imex2(world* w, void* data)
{
    return march_prepare(w, data, &scheme_imex2);
}

const time_method method_imex = {
    .name = "imex",
    .summary = "some types of connections by backward Euler, the others explicit",
    .stages = march_stages,
    .needs = NEEDS_MATRIX | NEEDS_FORCE,
    .data_size = sizeof(march_data),
    .prepare = prepare_imex,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = RISE_WITH_EXPLICIT,
    .counters = split_counters,
    .fields = march_fields,
    .split = march_split,
    .settings = type_settings,
};

const time_method method_imex2 = {
    .name = "imex2",
    .summary = "likewise of second order; what is explicit must be damped",
    .stages = march_stages,
    .needs = NEEDS_MATRIX | NEEDS_FORCE,
    .history = 1,
    .data_size = sizeof(march_data),
    .prepare = prepare_imex2,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = RISE_WITH_EXPLICIT,
    .counters = split_counters,
    .fields = march_fields,
    .split = march_split,
    .settings = type_settings,
    .warning = "the explicit half of method `imex2` is unstable for connections without damping, however short the "
               "step; `aimex2` is not",
};

// ---- aimex, aimex2

static const method_setting criterion_settings[] = {CRITERION_SETTINGS, {.name = NULL}};

static const march_scheme scheme_aimex = {
    .form = MARCH_EULER, .rule = SPLIT_CRITERION, .damping = 2.0, .compact = true};
// Damping at extrapolated velocities may have half the size: docs/time.md.
static const march_scheme scheme_aimex2 = {
    .form = MARCH_MIDPOINT, .rule = SPLIT_CRITERION, .damping = 4.0, .compact = true};

static weft_status prepare_aimex(world* w, void* data)
{
    return march_prepare(w, data, &scheme_aimex);
}

static weft_status prepare_aimex2(world* w, void* data)
{
    return march_prepare(w, data, &scheme_aimex2);
}

const time_method method_aimex = {
    .name = "aimex",
    .summary = "each connection implicit or explicit, as its stability allows in each substep",
    .stages = march_stages,
    .needs = NEEDS_MATRIX | NEEDS_FORCE,
    .data_size = sizeof(march_data),
    .prepare = prepare_aimex,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = RISE_WITH_EXPLICIT,
    .counters = split_counters,
    .fields = march_fields,
    .split = march_split,
    .settings = criterion_settings,
};

const time_method method_aimex2 = {
    .name = "aimex2",
    .summary = "likewise of second order: implicit midpoint and leapfrog",
    .stages = march_stages,
    .needs = NEEDS_MATRIX | NEEDS_FORCE,
    .history = 1,
    .data_size = sizeof(march_data),
    .prepare = prepare_aimex2,
    .finish = march_finish,
    .first_system = march_first_system,
    .energy_rise_max = RISE_WITH_EXPLICIT,
    .counters = split_counters,
    .fields = march_fields,
    .split = march_split,
    .settings = criterion_settings,
};
