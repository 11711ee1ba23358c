// weft bench hpbd --parts hang,banner: whether position based dynamics is as stiff and as strong as the material says,
// whatever the mesh and the number of sweeps.
//
//     hang     elongation of a sheet of k = 200 N/m that hangs from its edge, over rho g L^2 / (2 k): with as many
//              substeps as the rule wants, and with far too few; springs on grids and irregular meshes, and triangles
//              (baraff-witkin) on the latter
//     banner   the weight that is added over 2 s until the cloth tears, over its strength, and where it tears
//     holds    whether 0.95 of it, added over 2 s and left there until 1,000 steps are done, tears nothing
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/hpbd.h"

typedef struct strength_case
{
    const char *method, *mesh, *model;
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
    put(&o, "model=%s", c->model);
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
                          "\"substeps\":%d,\"model\":\"%s\",\"elongation\":%.5g}",
                          comma(at), c->method, c->mesh, c->cells, c->iterations, substeps,
                          c->model, share)
                 : printf("%-5s %-13s %-9s %3d cells, %2d iterations, %3d substeps of 10 ms%s: %8.4f\n", c->method, c->model, c->mesh,
                          c->cells, c->iterations, substeps, c->substeps == 0 ? " (the rule)" : "", share);
        fflush(stdout);
    }
    weft_sim_destroy(sim);
    return status;
}

static bool is_wanted(const bench_place* at, const char* method, int cells, int sweeps)
{
    bool named = !at->method || strcmp(at->method, method) == 0;
    return named && cells >= at->from && (sweeps == 0 || at->sweeps == 0 || at->sweeps == sweeps);
}

weft_status bench_hpbd_hang(const bench_place* at)
{
    static const strength_case rows[] = {{.method = "pbd", .mesh = "regular", .model = "hooke"},
                                         {.method = "hpbd", .mesh = "regular", .model = "hooke"},
                                         {.method = "hpbd", .mesh = "irregular", .model = "hooke"},
                                         {.method = "pbd", .mesh = "irregular", .model = "baraff-witkin"},
                                         {.method = "hpbd", .mesh = "irregular", .model = "baraff-witkin"}};
    static const int few[] = {0, 1, 4, 16};
    at->json ? 0 : printf("hang, k = 200 N/m: elongation over rho g L^2 / (2 k)\n");
    weft_status status = WEFT_OK;
    for (size_t m = 0; m < sizeof(rows) / sizeof(rows[0]); m++)
    {
        for (int s = 0; s < 4; s++)
        {
            for (int cells = 10; cells <= (at->cells > 0 ? at->cells : 80); cells *= 2)
            {
                for (int iterations = 1; iterations <= 16 && status == WEFT_OK; iterations *= 4)
                {
                    bool wanted = is_wanted(at, rows[m].method, cells, iterations);
                    strength_case one = rows[m];
                    one.cells = cells;
                    one.iterations = iterations;
                    one.substeps = few[s];
                    status = wanted ? hang_row(at, &one) : WEFT_OK;
                }
            }
        }
    }
    return status;
}

// ---- banner

static const double full = 1.25, below_it = 0.95; // of the strength

typedef struct outcome
{
    double weight; // over the strength, when it tears; infinite: it does not
    double below;  // m, under the top
    int steps;     // that were done
} outcome;

// Weight grows by as much a step until it is `most`, and stays.
static weft_status tear(weft_sim* sim, double most, int steps, outcome* out)
{
    const double strength = 60.0, density = 7.0;
    const int ramp = 200; // 2 s, to 1.25 times the strength
    int before = weft_sim_vertex_count(sim, 0);
    const mesh* m = &sim->bodies[0].rest;
    double top = -INFINITY;
    *out = (outcome){INFINITY, INFINITY, 0};
    for (int i = 0; i < before; i++)
    {
        top = fmax(top, m->position[i].y);
    }
    for (int k = 1; k <= steps; k++)
    {
        double share = fmin(most, full * k / ramp);
        weft_status status = weft_sim_set_gravity(sim, (weft_vec3){0, -share * strength / density, 0}, NULL);
        status = status == WEFT_OK ? weft_sim_step(sim, NULL, NULL) : status;
        if (status != WEFT_OK)
        {
            return status;
        }
        out->steps = k;
        if (weft_sim_vertex_count(sim, 0) > before)
        {
            out->weight = share;
            out->below = top - sim->bodies[0].rest.position[sim->bodies[0].torn_from[0]].y;
            return WEFT_OK;
        }
    }
    return WEFT_OK;
}

static void print_banner(const bench_place* at, const strength_case* c, bool holds, const outcome* o)
{
    const char* what = holds ? "holds" : "banner";
    bool torn = o->weight < INFINITY;
    char found[80];
    torn ? snprintf(found, sizeof(found), "tears at %.3f of its strength, %.2f rows below the top", o->weight,
                    o->below * c->cells)
         : snprintf(found, sizeof(found), "tears nowhere in %d steps", o->steps);
    if (at->json)
    {
        printf("%s{\"what\":\"%s\",\"method\":\"%s\",\"mesh\":\"%s\",\"cells\":%d,\"iterations\":%d,\"steps\":%d,"
               "\"torn\":%s",
               comma(at), what, c->method, c->mesh, c->cells, c->iterations, o->steps, torn ? "true" : "false");
        torn ? printf(",\"weight\":%.4g,\"rows_below_top\":%.3g}", o->weight, o->below * c->cells) : printf("}");
    }
    else
    {
        printf("%-14s %-9s %2d cells, %2d iterations: %s\n", c->method, c->mesh, c->cells, c->iterations, found);
    }
    fflush(stdout);
}

static weft_status banner_row(const bench_place* at, const strength_case* c, bool holds)
{
    weft_sim* sim = sim_of("banner", at, c);
    outcome o;
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    status = status == WEFT_OK ? tear(sim, holds ? below_it : full, holds ? 1000 : 200, &o) : status;
    status == WEFT_OK ? print_banner(at, c, holds, &o) : (void)0;
    weft_sim_destroy(sim);
    return status;
}

weft_status bench_hpbd_banner(const bench_place* at, bool holds)
{
    at->json ? 0
    : holds  ? printf("banner of 60 N/m with 0.95 of the weight that tears it\n")
             : printf("banner of 60 N/m, its weight added over 2 s\n");
    weft_status status = WEFT_OK;
    for (int cells = 20; cells <= (at->cells > 0 ? at->cells : 80); cells *= 2)
    {
        for (int sweeps = 0; sweeps <= 16 && status == WEFT_OK; sweeps = sweeps == 0 ? 1 : 4 * sweeps)
        {
            // Springs along diagonals pull cloth together sideways, and its upper corners bear more than their share.
            const strength_case one = {sweeps > 0 ? "hpbd" : "implicit-euler", "regular", "baraff-witkin", cells, sweeps,
                                       0};
            status = is_wanted(at, one.method, cells, sweeps) ? banner_row(at, &one, holds) : WEFT_OK;
        }
    }
    return status;
}
