// See thesis.h. A scene makes the mesh, the connections and the pins; then the numbers of the connections are put in.
#define _POSIX_C_SOURCE 200809L
#include "bench/thesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "material/connection.h"

// ---- scenes

static const char corners_text[] =
    "{\"time_step\": %.17g, \"model\": \"choi-ko\", \"method\": \"%s\", \"solver\": {\"name\": \"%s\", \"tolerance\": "
    "%g},"
    " \"step_control\": {\"max_halvings\": 0, \"max_stretch\": 1e9}, \"contact\": {\"enabled\": %s, \"thickness\": %g,"
    " \"exclude\": [{\"pair\": [\"sheet\", \"sheet\"]}]},"
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": %.17g, \"cells\": %d}},"
    " \"transform\": {\"translate\": [0, %.17g, 0]},"
    " \"material\": {\"density\": %.17g, \"stretch_warp\": 100, \"stretch_weft\": 100, \"shear\": 10,"
    " \"bending\": %g, \"damping\": 0}%s}]%s}";

static const char corner_pins[] = ", \"pins\": [{\"where\": {\"corner\": [\"top-left\", \"top-right\"]}}]";

// Obstacles in proportion to the sheet.
static void obstacles_of(const thesis_case* c, double size, char* out, size_t room)
{
    if (c->scene == THESIS_TABLE)
    {
        snprintf(
            out, room,
            ", \"obstacles\": [{\"name\": \"top\", \"shape\": {\"box\": {\"center\": [0, %.9g, 0], \"size\": [%.9g, "
            "%.9g, %.9g]}}}]",
            -0.02 * size, 0.5 * size, 0.04 * size, 0.5 * size);
    }
    else if (c->scene == THESIS_SPHERE)
    {
        snprintf(
            out, room,
            ", \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, %.9g, 0], \"radius\": "
            "%.9g}}}]",
            -0.25 * size, 0.25 * size);
    }
    else
    {
        out[0] = 0;
    }
}

static weft_scene* scene_of(const thesis_case* c, weft_error* error)
{
    char text[2048], obstacles[256];
    double size = c->spacing * (c->side - 1), thickness = 0.05 * c->spacing;
    bool held = c->scene == THESIS_CORNERS;
    obstacles_of(c, size, obstacles, sizeof(obstacles));
    snprintf(text, sizeof(text), corners_text, c->step, c->method, c->solver ? c->solver : "diag-ppcg",
             c->tolerance > 0.0 ? c->tolerance : 1e-4, held ? "false" : "true", thickness, size, c->side - 1,
             held ? 0.0 : 2.0 * thickness, c->density, c->bend > 0.0 ? 1e-5 : 0.0, held ? corner_pins : "", obstacles);
    weft_scene* scene = NULL;
    return weft_scene_parse("thesis", text, NULL, 0, &scene, error) == WEFT_OK ? scene : NULL;
}

// ---- numbers of connections

// Halves at borders are the model's.
static void put_connections(element_group* group, const thesis_case* c)
{
    double most[3] = {0};
    for (int e = 0; e < group->count; e++)
    {
        const double* rest = group->rest + CONNECTION_STRIDE * (size_t)e;
        int role = (int)rest[CONNECTION_ROLE];
        most[role] = fmax(most[role], rest[CONNECTION_STIFFNESS]);
    }
    for (int e = 0; e < group->count; e++)
    {
        double* rest = group->rest + CONNECTION_STRIDE * (size_t)e;
        int role = (int)rest[CONNECTION_ROLE];
        double share = rest[CONNECTION_STIFFNESS] > 0.75 * most[role] ? 1.0 : 0.5;
        rest[CONNECTION_STIFFNESS] = share * (role == SPRING_SHEAR ? c->shear : c->stretch);
        rest[CONNECTION_DAMPING] = share * (role == SPRING_SHEAR ? c->shear_damping : c->stretch_damping);
        rest[CONNECTION_FORM] = c->plain ? DAMPER_PLAIN : DAMPER_PROJECTED;
    }
}

// The linear start is like stretch, but no more than what an explicit step bears: then implicit and explicit bending
// are one model.
static void put_arcs(element_group* group, const thesis_case* c, const double* mass)
{
    for (int e = 0; e < group->count; e++)
    {
        double* rest = group->rest + ARC_STRIDE * (size_t)e;
        const int* v = group->vertices + 2 * (size_t)e;
        double cap = 0.1 * fmin(mass[v[0]], mass[v[1]]) / (c->step * c->step);
        rest[ARC_FORCE] = c->bend;
        rest[ARC_START] = fmin(c->stretch, cap);
        rest[ARC_TURN] = arc_turn(rest[ARC_FORCE], rest[ARC_LENGTH], rest[ARC_START]);
        rest[ARC_FORM] = DAMPER_NONE;
    }
}

weft_sim* thesis_sim(const thesis_case* c)
{
    weft_error error = {0};
    weft_sim* sim = NULL;
    weft_scene* scene = scene_of(c, &error);
    weft_status status = scene ? weft_scene_create_sim(scene, 1, &sim, &error) : error.status;
    weft_scene_destroy(scene);
    if (status == WEFT_OK)
    {
        weft_sim_def* def = &sim->def;
        weft_sim_def_set(def, "aimex", "criterion", c->criterion, NULL);
        weft_sim_def_set(def, "aimex", "bend_explicit", c->bend_explicit, NULL);
        weft_sim_def_set(def, "aimex", "compact", c->compact, NULL);
        status = sim_build(sim, &error);
    }
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s\n", error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    method_object_finish(&sim->world.fallback); // what the method itself does is measured: nothing else takes over
    element_group* connections = element_groups_find(&sim->model.groups, &kind_connection);
    element_group* arcs = element_groups_find(&sim->model.groups, &kind_arc);
    connections ? put_connections(connections, c) : (void)0;
    arcs ? put_arcs(arcs, c, sim->model.mass) : (void)0;
    return sim;
}

// ---- time

static void clock_turn(thesis_clock* c, const char* stage)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    c->whole_s += c->since > 0.0 ? now - c->since : 0.0;
    c->contact_s += c->contact ? now - c->since : 0.0;
    c->solve_s += c->solve ? now - c->since : 0.0;
    c->contact = strcmp(stage, "detect") == 0 || strcmp(stage, "respond") == 0;
    c->solve = strcmp(stage, "solve") == 0;
    c->since = now;
}

static int clock_look(void* user, const weft_progress* progress)
{
    clock_turn(user, progress->stage);
    return 0;
}

weft_status thesis_step(weft_sim* sim, weft_step_stats* stats, weft_error* error, thesis_clock* clock)
{
    *clock = (thesis_clock){0};
    weft_sim_watch(sim, clock_look, clock);
    clock_turn(clock, "");
    weft_status status = weft_sim_step(sim, stats, error);
    clock_turn(clock, "");
    weft_sim_watch(sim, NULL, NULL);
    return status;
}

// ---- numbers

double thesis_kappa(const thesis_case* c, double step)
{
    double m = c->density * c->spacing * c->spacing;
    double stretch = step / m * (c->stretch * step + 2.0 * c->stretch_damping);
    double shear = step / m * (c->shear * step + 2.0 * c->shear_damping);
    return fmax(stretch, shear);
}

double thesis_choose(thesis_draw* d, const double* values, int count)
{
    return values[random_bits(d->seed, d->next++) % (uint64_t)count];
}

static int compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void thesis_sort(double* values, int count)
{
    qsort(values, (size_t)count, sizeof(double), compare);
}

double thesis_quantile(const double* sorted, int count, double p)
{
    return count > 0 ? sorted[int_min((int)(p * count), count - 1)] : NAN;
}
