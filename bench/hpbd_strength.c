// weft bench hpbd --parts hang,banner: whether position based dynamics is as stiff and as strong as the material says,
// whatever the mesh and the number of sweeps.
//
//     hang     elongation of a sheet of k = 200 N/m that hangs from its edge, over rho g L^2 / (2 k): with as many
//              substeps as the rule wants, and with far too few
//     banner   the weight that is added over 2 s until the cloth tears, over its strength, and where it tears
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/hpbd.h"

typedef struct strength_case
{
    const char *method, *mesh;
    int cells, iterations, substeps;
} strength_case;

enum
{
    TEXT = 160,
    OVERRIDES_MAX = 16
};

typedef struct override_list
{
    char text[OVERRIDES_MAX][TEXT];
    const char* list[OVERRIDES_MAX];
    int count;
} override_list;

__attribute__((format(printf, 2, 3))) static void put(override_list* o, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(o->text[o->count], TEXT, format, arguments);
    va_end(arguments);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

static weft_sim* sim_of(const char* scene, const bench_place* at, const strength_case* c)
{
    override_list o = {.count = 0};
    put(&o, "method=%s", c->method);
    // Springs along diagonals pull cloth together sideways, and its upper corners bear more than their share.
    put(&o, "model=%s", strcmp(scene, "hang") == 0 ? "hooke" : "baraff-witkin");
    put(&o, "time_step=0.01");
    put(&o, "contact.enabled=false");
    put(&o, "step_control.max_halvings=0");
    put(&o, "tessellation=%s", c->mesh);
    int columns = c->cells < 40 ? 2 * c->cells / 5 : 16; // of cells that are squares
    put(&o, "cloth.0.mesh.grid.size=[%.6g, 1]", (double)columns / c->cells);
    put(&o, "cloth.0.mesh.grid.cells=[%d, %d]", columns, c->cells);
    if (c->iterations > 0)
    {
        put(&o, "%s.iterations=%d", c->method, c->iterations);
        put(&o, "%s.substeps=%d", c->method, c->substeps);
        put(&o, "%s.drag=12", c->method);
    }
    if (strcmp(scene, "hang") == 0)
    {
        put(&o, "cloth.0.material={\"base\": \"cotton\", \"stretch_warp\": 200, \"stretch_weft\": 200, "
                "\"shear\": 1, \"bending\": 0}");
    }
    return bench_sim(scene, o.list, o.count, at->threads);
}

// Mean height of the lowest row of the rest shape, m.
static double hem(const weft_sim* sim, int count)
{
    const mesh* m = &sim->bodies[0].rest;
    double lowest = INFINITY, sum = 0.0;
    int found = 0;
    for (int i = 0; i < count; i++)
    {
        lowest = fmin(lowest, m->position[i].y);
    }
    for (int i = 0; i < count; i++)
    {
        if (m->position[i].y < lowest + 1e-6)
        {
            sum += sim->world.state.x[sim->bodies[0].scene_vertex[i]].y;
            found++;
        }
    }
    return sum / found;
}

static weft_status hang_row(const bench_place* at, const strength_case* c)
{
    weft_sim* sim = sim_of("hang", at, c);
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    weft_step_stats stats = {0};
    double before = sim ? hem(sim, weft_sim_vertex_count(sim, 0)) : 0.0;
    for (int k = 0; k < 120 && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, &stats, NULL);
    }
    if (status == WEFT_OK)
    {
        double share = (before - hem(sim, weft_sim_vertex_count(sim, 0))) / (0.15 * 9.81 / 400.0);
        int substeps = (int)weft_step_counter(&stats, "pbd_substeps");
        at->json ? printf("%s{\"what\":\"hang\",\"method\":\"%s\",\"mesh\":\"%s\",\"cells\":%d,\"iterations\":%d,"
                          "\"substeps\":%d,\"elongation\":%.5g}",
                          comma(at), c->method, c->mesh, c->cells, c->iterations, substeps, share)
                 : printf("%-5s %-9s %3d cells, %2d iterations, %3d substeps of 10 ms%s: %8.4f\n", c->method, c->mesh,
                          c->cells, c->iterations, substeps, c->substeps == 0 ? " (the rule)" : "", share);
        fflush(stdout);
    }
    weft_sim_destroy(sim);
    return status;
}

static bool is_wanted(const bench_place* at, int cells, int sweeps)
{
    return cells >= at->from && (at->sweeps == 0 || at->sweeps == sweeps);
}

weft_status bench_hpbd_hang(const bench_place* at)
{
    static const char* const methods[] = {"pbd", "hpbd", "hpbd"};
    static const char* const meshes[] = {"regular", "regular", "irregular"};
    static const int few[] = {0, 1, 4, 16};
    at->json ? 0 : printf("hang, k = 200 N/m: elongation over rho g L^2 / (2 k)\n");
    weft_status status = WEFT_OK;
    for (int m = 0; m < 3; m++)
    {
        for (int s = 0; s < 4; s++)
        {
            for (int cells = 10; cells <= (at->cells > 0 ? at->cells : 80); cells *= 2)
            {
                for (int iterations = 1; iterations <= 16 && status == WEFT_OK; iterations *= 4)
                {
                    bool wanted = is_wanted(at, cells, iterations);
                    const strength_case one = {methods[m], meshes[m], cells, iterations, few[s]};
                    status = wanted ? hang_row(at, &one) : WEFT_OK;
                }
            }
        }
    }
    return status;
}

// ---- banner

// Steps until the cloth tears: rho g L over its strength then, and how far below the top; infinite: it does not.
static weft_status tear(weft_sim* sim, double* weight, double* below)
{
    const double strength = 60.0, density = 7.0;
    const int steps = 200; // 2 s, to 1.25 times the strength
    int before = weft_sim_vertex_count(sim, 0);
    const mesh* m = &sim->bodies[0].rest;
    double top = -INFINITY;
    *weight = *below = INFINITY;
    for (int i = 0; i < before; i++)
    {
        top = fmax(top, m->position[i].y);
    }
    for (int k = 1; k <= steps; k++)
    {
        double share = 1.25 * k / steps;
        weft_status status = weft_sim_set_gravity(sim, (weft_vec3){0, -share * strength / density, 0}, NULL);
        status = status == WEFT_OK ? weft_sim_step(sim, NULL, NULL) : status;
        if (status != WEFT_OK)
        {
            return status;
        }
        if (weft_sim_vertex_count(sim, 0) > before)
        {
            *weight = share;
            *below = top - sim->bodies[0].rest.position[sim->bodies[0].torn_from[0]].y;
            return WEFT_OK;
        }
    }
    return WEFT_OK;
}

static weft_status banner_row(const bench_place* at, const strength_case* c)
{
    weft_sim* sim = sim_of("banner", at, c);
    double weight = 0.0, below = 0.0;
    weft_status status = sim ? tear(sim, &weight, &below) : WEFT_BAD_INPUT;
    if (status == WEFT_OK)
    {
        at->json
            ? printf("%s{\"what\":\"banner\",\"method\":\"%s\",\"mesh\":\"%s\",\"cells\":%d,\"iterations\":%d,"
                     "\"weight\":%.4g,\"rows_below_top\":%.3g}",
                     comma(at), c->method, c->mesh, c->cells, c->iterations, weight, below * c->cells)
            : printf("%-14s %-9s %2d cells, %2d iterations: tears at %.3f of its strength, %.2f rows below the top\n",
                     c->method, c->mesh, c->cells, c->iterations, weight, below * c->cells);
        fflush(stdout);
    }
    weft_sim_destroy(sim);
    return status;
}

weft_status bench_hpbd_banner(const bench_place* at)
{
    at->json ? 0 : printf("banner of 60 N/m, its weight added over 2 s\n");
    weft_status status = WEFT_OK;
    for (int cells = 20; cells <= (at->cells > 0 ? at->cells : 80); cells *= 2)
    {
        for (int iterations = 1; iterations <= 16 && status == WEFT_OK; iterations *= 4)
        {
            const strength_case one = {"hpbd", "regular", cells, iterations, 0};
            status = is_wanted(at, cells, iterations) ? banner_row(at, &one) : WEFT_OK;
        }
        const strength_case euler = {"implicit-euler", "regular", cells, 0, 0};
        bool wanted = cells >= at->from;
        status = status == WEFT_OK && wanted ? banner_row(at, &euler) : status;
    }
    return status;
}
