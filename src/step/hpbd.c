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
    PBD_SETTINGS(2, 1),
    {.name = "levels",
     .summary = "Of the hierarchy, the cloth itself among them; 0: as many as it has",
     .maximum = LEVELS_MAX,
     .whole = true,
     .zero_is_most = true},
    PBD_SWITCH("hierarchy",
               "0: corrections of all levels reach the cloth, 1: paper, they are lost beyond the next finer level"),
    PBD_SWITCH("hard", "1: coarse links do not give way, as in the paper, 0: as the material does, "
                       "by what sweeps on finer levels miss"),
    PBD_SWITCH("bending",
               "1: coarse levels resist folds, too, by what sweeps on finer ones miss of the material's bending; "
               "not with hard, legacy or hierarchy 1"),
    PBD_SWITCH("cycle", "0: levels from the coarsest to the first, 1: before that from the first to the coarsest, a V"),
    PBD_COUNT("coarse_iterations", "Sweeps on each coarse level", 1, 1),
    {.name = "rest",
     .summary = "Of coarse links: 0: ways along the surface, 1: along collapsed edges, 2: distances in the rest pose",
     .maximum = 2,
     .whole = true},
    PBD_SWITCH("meshes", "1: grids have the hierarchy of other meshes, too, 0: coarser grids"),
    {.name = NULL},
};

extern const time_method method_hpbd;
const time_method method_hpbd = {
    .name = "hpbd",
    .summary = "position based dynamics with a hierarchy of coarser particle systems: stiff with few iterations",
    .stages = pbd_stages,
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
