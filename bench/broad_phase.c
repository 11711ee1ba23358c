// weft bench broad-phase: CPU time a triangle of a refit and of the search for all sorted pairs on a crumpled sheet,
// one thread. Options: --cells LIST (30,100,200,400,600), --margin M (1e-3), --speed V (1), --rounds N (5; small sheets
// take more), --kernels NAME.
//
// The sheet is 1 m by 1 m, a regular grid, folded along FOLDS random planes that close in on the origin: what lies
// beyond a plane is mirrored by it. Each fold keeps all lengths, so this is a sheet crumpled to a ball of some 0.3 m,
// some tens of layers deep, of the same shape at every resolution. A step is 2 ms of a turn and a squeeze, at --speed
// m/s at 0.2 m from the origin. Margin and motion stay while the mesh gets finer, so the pairs a triangle grow: they
// are printed beside the time.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "collide/broad.h"
#include "mesh/mesh.h"

enum
{
    FOLDS = 24,
    CELLS_MAX = 2000,
    ROUND_TRIANGLES = 1000000,
    SIZES_MAX = 16
};

#define TIME_STEP 0.002

typedef struct step_times
{
    double refit, walk, sort; // s of CPU, each the least of all rounds
    double total;             // s of CPU, the least of all rounds
    double build;             // s of CPU, of the first update
    int vertex_face, edge_edge, triangles, vertices;
} step_times;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static vec3 crumple(vec3 p)
{
    double distance = 0.55;
    for (int k = 0; k < FOLDS; k++, distance *= 0.94)
    {
        double z = 2.0 * random_unit(5, 2 * (uint64_t)k) - 1.0, angle = 2.0 * PI * random_unit(5, 2 * (uint64_t)k + 1);
        double r = sqrt(1.0 - z * z);
        vec3 n = v3(r * cos(angle), r * sin(angle), z);
        double beyond = v3_dot(n, p) - distance;
        p = beyond > 0.0 ? v3_madd(p, -2.0 * beyond, n) : p;
    }
    return p;
}

static vec3 moved(vec3 p, double speed)
{
    vec3 velocity = v3(-2.5 * p.x + 4.0 * p.z, -2.5 * p.y, -2.5 * p.z - 4.0 * p.x);
    return v3_madd(p, speed * TIME_STEP, velocity);
}

// Positions of three moments.
static weft_status make_sheet(int cells, double speed, mesh* out, vec3* x[3])
{
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = cells, .cells_v = cells};
    TRY(mesh_from_grid(&grid, out, NULL));
    TRY(mesh_triangulate(out, NULL));
    for (int k = 0; k < 3; k++)
    {
        x[k] = MEM_NEW(out->vertex_count, vec3);
        if (!x[k])
        {
            return WEFT_NO_MEMORY;
        }
        for (int v = 0; v < out->vertex_count; v++)
        {
            x[k][v] = k == 0 ? crumple(out->position[v]) : moved(x[k - 1][v], speed);
        }
    }
    return WEFT_OK;
}

static weft_status search(weft_collider* c, weft_pair_kind kind, double margin, pair_list* out, step_times* now)
{
    double begin = cpu_now();
    pair_search s = collider_search(c, kind, margin);
    TRY(pairs_walk(&c->finder, &s, NULL));
    double middle = cpu_now();
    TRY(pairs_sort(&c->finder, &s, out, NULL));
    now->walk += middle - begin;
    now->sort += cpu_now() - middle;
    return WEFT_OK;
}

static weft_status measure_rounds(weft_collider* c, vec3* const x[3], double margin, int rounds, step_times* best)
{
    double begin = cpu_now();
    TRY(weft_collider_update(c, x[0], x[1], margin, NULL));
    *best = (step_times){1e9, 1e9, 1e9, .total = 1e9, .build = cpu_now() - begin};
    for (int round = 0; round < rounds + 2; round++)
    {
        step_times now = {0};
        int k = (round + 1) % 2;
        begin = cpu_now();
        TRY(weft_collider_update(c, x[k], x[k + 1], margin, NULL));
        now.refit = cpu_now() - begin;
        TRY(search(c, WEFT_VERTEX_FACE, margin, &c->vertex_face, &now));
        TRY(search(c, WEFT_EDGE_EDGE, margin, &c->edge_edge, &now));
        if (round >= 2) // by then all scratch has its size
        {
            best->refit = fmin(best->refit, now.refit);
            best->walk = fmin(best->walk, now.walk);
            best->sort = fmin(best->sort, now.sort);
            best->total = fmin(best->total, now.refit + now.walk + now.sort);
        }
    }
    best->vertex_face = c->vertex_face.count;
    best->edge_edge = c->edge_edge.count;
    return WEFT_OK;
}

typedef struct settings
{
    double margin, speed; // m, m/s
    int rounds;
    const char* kernels;
} settings;

static weft_status measure(int cells, const settings* set, step_times* out)
{
    mesh sheet = {0};
    vec3* x[3] = {0};
    weft_collider* c = NULL;
    weft_status status = make_sheet(cells, set->speed, &sheet, x);
    if (status == WEFT_OK)
    {
        weft_collider_def def = weft_collider_def_default();
        def.vertex_count = sheet.vertex_count;
        def.triangles = sheet.triangle;
        def.triangle_count = sheet.triangle_count;
        def.kernels = set->kernels;
        status = weft_collider_create(&def, &c, NULL);
    }
    if (status == WEFT_OK)
    {
        int more = ROUND_TRIANGLES / sheet.triangle_count; // small sheets: until noise has had its chances
        status = measure_rounds(c, x, set->margin, int_max(set->rounds, more), out);
        out->triangles = sheet.triangle_count;
        out->vertices = sheet.vertex_count;
    }
    weft_collider_destroy(c);
    for (int k = 0; k < 3; k++)
    {
        mem_free(x[k]);
    }
    mesh_finish(&sheet);
    return status;
}

// Growth against the first row: time over n log n of vertices.
static double growth(const step_times* t, const step_times* first)
{
    double here = t->vertices * log(t->vertices), there = first->vertices * log(first->vertices);
    return t->total / here / (first->total / there);
}

static void print_row(const step_times* t, const step_times* first, bool json, bool last)
{
    double us = 1e6 / t->triangles;
    if (json)
    {
        printf(
            "{\"vertices\":%d,\"triangles\":%d,\"refit_us\":%.4g,\"walk_us\":%.4g,\"sort_us\":%.4g,\"total_us\":%.4g,"
            "\"build_us\":%.4g,\"vertex_face\":%d,\"edge_edge\":%d,\"growth\":%.4g}%s\n",
            t->vertices, t->triangles, us * t->refit, us * t->walk, us * t->sort, us * t->total, us * t->build,
            t->vertex_face, t->edge_edge, growth(t, first), last ? "" : ",");
        return;
    }
    printf("%8d %9d %7.3f %7.3f %7.3f %7.3f %7.3f %11.2f %11.2f %8.2f\n", t->vertices, t->triangles, us * t->refit,
           us * t->walk, us * t->sort, us * t->total, us * t->build, (double)t->vertex_face / t->triangles,
           (double)t->edge_edge / t->triangles, growth(t, first));
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--cells= --margin= --speed= --rounds= --kernels=");
    int cells[SIZES_MAX], size_count = bench_numbers(argc, argv, "--cells", "30,100,200,400,600", cells, SIZES_MAX);
    settings set = {bench_number(argc, argv, "--margin", 1e-3), bench_number(argc, argv, "--speed", 1.0),
                    bench_count(argc, argv, "--rounds", 5), bench_text(argc, argv, "--kernels", "auto")};
    cpu_kind cpu;
    if (!cpu_kind_parse(set.kernels, &cpu))
    {
        bench_refuse(argc, argv, "--kernels `%s`: it takes auto, base, avx2 or avx512, up to %s here", set.kernels,
                     cpu_kind_name(cpu_best()));
    }
    if (!(set.margin >= 0.0))
    {
        bench_refuse(argc, argv, "--margin %g: it is in metres and not negative", set.margin);
    }
    for (int k = 0; k < size_count; k++)
    {
        if (cells[k] < 1 || cells[k] > CELLS_MAX)
        {
            bench_refuse(argc, argv, "--cells %d: it takes numbers from 1 to %d", cells[k], CELLS_MAX);
        }
    }
    if (json)
    {
        printf("{\"benchmark\":\"broad-phase\",\"kernels\":\"%s\",\"margin\":%g,\"speed\":%g,\"rows\":[\n",
               cpu_kind_name(cpu), set.margin, set.speed);
    }
    else
    {
        printf("broad phase of a crumpled sheet, 1 thread, `%s` kernels, margin %g m, 2 ms at %g m/s, best of %d "
               "rounds or more\n"
               "                       microseconds of CPU a triangle               pairs a triangle     over\n"
               "vertices triangles   refit    walk    sort     all   build vertex-face   edge-edge  n log n\n",
               cpu_kind_name(cpu), set.margin, set.speed, set.rounds);
    }
    step_times first = {0};
    for (int k = 0; k < size_count; k++)
    {
        step_times t;
        weft_status status = measure(cells[k], &set, &t);
        if (status != WEFT_OK)
        {
            return bench_failed("broad-phase", status);
        }
        first = k == 0 ? t : first;
        print_row(&t, &first, json, k == size_count - 1);
        fflush(stdout);
    }
    if (json)
    {
        printf("]}\n");
    }
    return 0;
}

const benchmark bench_broad_phase = {"broad-phase", "refit of the trees and search for all pairs on a crumpled sheet",
                                     run};
