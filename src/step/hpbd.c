// Hierarchical position based dynamics (Mueller 2008): pbd.c with a cycle over coarse levels (pbd_reach.c) before the
// sweeps of each substep, so that what is held far away is felt at once.
#include "step/pbd.h"

static weft_status prepare(world* w, void* data)
{
    ((pbd_data*)data)->has_levels = true;
    return pbd_prepare(w, data);
}

static void level_values(const world* w, const void* data, float* out)
{
    const hierarchy* h = &((const pbd_data*)data)->reach.levels;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        out[i] = h->coarsest ? (float)h->coarsest[i] : 0.0f;
    }
}

static const method_field fields[] = {
    {.info = {.name = "level", .categories = 1}, .values = level_values},
    {.info = {.name = NULL}},
};

static const method_setting settings[] = {
    {.name = "iterations", .summary = "Sweeps in a substep", .value = 2, .minimum = 1, .maximum = 1e6, .whole = true},
    {.name = "substeps",
     .summary = "In a time step; 0: as many as the material's stiffness wants",
     .value = 1,
     .minimum = 0,
     .maximum = 1e6,
     .whole = true},
    {.name = "levels",
     .summary = "Of the hierarchy, the cloth itself among them; 0: as many as it has",
     .value = 0,
     .minimum = 0,
     .maximum = LEVELS_MAX,
     .whole = true},
    {.name = "hierarchy",
     .summary = "0: corrections of all levels reach the cloth, 1: paper, they are lost beyond the next finer level",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "coarse_iterations",
     .summary = "Sweeps on each coarse level",
     .value = 1,
     .minimum = 1,
     .maximum = 1e6,
     .whole = true},
    {.name = "rest",
     .summary = "Of coarse links: 0: ways along the surface, 1: along collapsed edges, 2: distances in the rest pose",
     .value = 0,
     .maximum = 2,
     .whole = true},
    {.name = "meshes",
     .summary = "1: grids have the hierarchy of other meshes, too, 0: coarser grids",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "limits",
     .summary = "1: no vertex is farther from a pinned one than the way along the cloth at rest",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "slack",
     .summary = "1: springs along edges are upper limits of length, 0: they hold both ways",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "legacy",
     .summary = "1: stiffness is k and k_bend, and grows with iterations; 0: it is the material's",
     .value = 0,
     .maximum = 1,
     .whole = true},
    {.name = "k",
     .summary = "With legacy: the share of a stretch or shear that one projection takes",
     .value = 1,
     .maximum = 1},
    {.name = "k_bend",
     .summary = "With legacy: the share of a fold that one projection takes",
     .value = 0.1,
     .maximum = 1},
    {.name = "drag",
     .summary = "Velocities fade by exp(-drag t)",
     .unit = "1/s",
     .value = 0,
     .minimum = 0,
     .maximum = HUGE_VAL},
    {.name = NULL},
};

static const stage stages[] = {
    {"detect", stage_detect},
    {"predict", pbd_stage_predict},
    {"iterate", pbd_stage_iterate},
    {"advance", pbd_stage_advance},
    {"judge", stage_judge},
    {"respond", stage_respond},
    {NULL, NULL},
};

extern const time_method method_hpbd;
const time_method method_hpbd = {
    .name = "hpbd",
    .summary = "position based dynamics with a hierarchy of coarser particle systems: stiff with few iterations",
    .stages = stages,
    .needs = NEEDS_FORCE | NEEDS_CONSTRAINT,
    .data_size = sizeof(pbd_data),
    .prepare = prepare,
    .finish = pbd_finish,
    .settle = pbd_settle,
    .mend = pbd_mend,
    .energy_rise_max = INFINITY,
    .counters = pbd_counters,
    .fields = fields,
    .settings = settings,
};
