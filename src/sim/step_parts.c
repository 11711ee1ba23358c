// A step in parts. Cloth is looked at for tears after a step, and a cut that runs takes the load off what is around it
// only once that has moved: so a cut goes on by one vertex a look. In a step of 1/30 s a rail goes ten cells, and cloth
// would be drawn out to ten times its length around a cut that may not follow. Where cloth that can split is overloaded
// when a step begins, it is therefore stepped in parts, each followed by a look. The shortest takes as long as a wave
// takes over an edge,
//
//   edge / sqrt(stiffness / density),
//
// as no cut runs faster, but not less than h / 32; after parts in which nothing tore they are twice as long. That
// follows from positions alone, so that a run that was resumed does the same. What a part does is done: a step that
// fails later goes on from there when it is tried again.
#include "sim/step_parts.h"

#include <string.h>

#include "sim/cluster.h"
#include "sim/tear.h"

enum
{
    PARTS_MAX = 32,
    PARTS_BUILT_MAX = 8 // where a tear is a new model
};

static bool can_tear(const weft_sim* sim)
{
    bool any = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        any = any || (sim->bodies[k].tear > 0.0 && !sim->bodies[k].removed);
    }
    return any;
}

// s: how long a wave takes over an edge of the mean area, whose mass is that of a vertex.
static double edge_time(const weft_sim* sim, const body* b)
{
    double mass = 0.0;
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        mass += sim->model.mass[b->scene_vertex[i]];
    }
    weft_material m = body_material_fullest(b);
    return sqrt(mass / b->rest.vertex_count / fmax(m.stretch_warp, m.stretch_weft));
}

// Ticks of the shortest part of the step that begins.
static weft_status shortest_part(weft_sim* sim, int* ticks, weft_error* error)
{
    *ticks = STEP_TICKS;
    for (int k = 0; k < sim->body_count; k++)
    {
        body* b = &sim->bodies[k];
        bool due = false;
        TRY(b->tear > 0.0 && !b->removed ? tear_is_due(sim, b, &due, error) : WEFT_OK);
        double least = due ? STEP_TICKS * edge_time(sim, b) / sim->def.time_step : STEP_TICKS;
        int most = sim_live_count(sim) > 1 || sim->model.ties.count > 0 ? PARTS_BUILT_MAX : PARTS_MAX;
        while (*ticks > STEP_TICKS / most && *ticks > least)
        {
            *ticks /= 2;
        }
    }
    return WEFT_OK;
}

// What is counted and timed adds up; all else is the last part's.
static void follow(weft_step_stats* all, const weft_step_stats* part)
{
    weft_step_stats sum = *part;
    stats_add_counts(&sum, all);
    sum.substeps += all->substeps;
    sum.last_resort += all->last_resort;
    *all = sum;
}

weft_status step_parts(weft_sim* sim, part_step* step, weft_step_stats* stats, weft_error* error)
{
    int shortest = STEP_TICKS, torn;
    bool tears = can_tear(sim);
    TRY(tears ? shortest_part(sim, &shortest, error) : WEFT_OK);
    for (int ticks = shortest; sim->part_from < STEP_TICKS;)
    {
        weft_step_stats part = {.rate = NAN, .operator_complexity = NAN, .solver = "", .squeezed = stats->squeezed};
        sim->part_until = int_min(sim->part_from + ticks, STEP_TICKS);
        weft_status status = step(sim, &part, error);
        follow(stats, &part);
        TRY(status);
        sim->part_from = sim->part_until;
        TRY(tears ? sim_tear(sim, stats, &torn, error) : WEFT_OK);
        bool rests = !tears || torn == 0;
        ticks = !rests ? shortest : sim->part_from % (2 * ticks) == 0 ? 2 * ticks : ticks;
        ticks = part.forced > 0 ? STEP_TICKS : ticks; // shorter ones would be no better
    }
    sim->part_from = 0;
    return WEFT_OK;
}
