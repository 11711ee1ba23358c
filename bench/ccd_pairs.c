// weft bench ccd-pairs: continuous collision queries on the pairs that a falling, folding sheet brings up. A shipped
// scene runs (without contact: it passes through itself, so that there are collisions to find); every few steps the
// broad phase lists the pairs whose swept boxes meet, and all of them are asked, on one thread. Options: --scene NAME
// (towel), --cells N (100), --steps N (400), --every N (10), --threads N (2, of the simulation).
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "collide/ccd.h"
#include "weft/collide.h"

enum
{
    SETS_MAX = 16
};

typedef struct totals
{
    int64_t queries, collide, exact;
    double seconds; // of CPU
} totals;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The sheet at one end of a step.
static weft_status collider_of(const body* b, weft_collider** out)
{
    weft_collider_def def = weft_collider_def_default();
    def.vertex_count = b->rest.vertex_count;
    def.triangles = b->rest.triangle;
    def.triangle_count = b->rest.triangle_count;
    return weft_collider_create(&def, out, NULL);
}

static void ask_all(weft_collider* c, weft_pair_kind kind, const weft_pair* pairs, int count, const int* triangles,
                    const vec3* x[2], totals* sum)
{
    int edge_count;
    const int* edges = weft_collider_edges(c, &edge_count);
    double begin = cpu_now();
    for (int k = 0; k < count; k++)
    {
        int first = pairs[k].first, second = pairs[k].second;
        const int* t = triangles + 3 * (size_t)second;
        const int *a = edges + 2 * (size_t)first, *b = edges + 2 * (size_t)second;
        int of_face[4] = {first, t[0], t[1], t[2]};
        int v[4] = {a[0], a[1], b[0], b[1]};
        if (kind == WEFT_VERTEX_FACE)
        {
            memcpy(v, of_face, sizeof(v));
        }
        vec3 start[4], end[4];
        for (int i = 0; i < 4; i++)
        {
            start[i] = x[0][v[i]];
            end[i] = x[1][v[i]];
        }
        weft_ccd answer = ccd_decide(kind, start, end);
        sum->collide += answer.collides;
        sum->exact += answer.exact;
    }
    sum->seconds += cpu_now() - begin;
    sum->queries += count;
}

static weft_status measure(weft_sim* sim, int steps, int every, totals sums[2])
{
    const body* b = &sim->bodies[0];
    size_t n = (size_t)b->rest.vertex_count;
    weft_collider* c = NULL;
    vec3 *start = MEM_NEW(n, vec3), *end = MEM_NEW(n, vec3);
    weft_status status = start && end ? collider_of(b, &c) : WEFT_NO_MEMORY;
    for (int step = 1; step <= steps && status == WEFT_OK; step++)
    {
        weft_sim_positions(sim, 0, start);
        status = weft_sim_step(sim, NULL, NULL);
        if (status != WEFT_OK || step % every != 0)
        {
            continue;
        }
        weft_sim_positions(sim, 0, end);
        const vec3* x[2] = {start, end};
        weft_pairs pairs;
        status = weft_collider_update(c, start, end, 0.0, NULL);
        status = status == WEFT_OK ? weft_collider_pairs(c, &pairs, NULL) : status;
        if (status == WEFT_OK)
        {
            ask_all(c, WEFT_VERTEX_FACE, pairs.vertex_face, pairs.vertex_face_count, b->rest.triangle, x, &sums[0]);
            ask_all(c, WEFT_EDGE_EDGE, pairs.edge_edge, pairs.edge_edge_count, b->rest.triangle, x, &sums[1]);
        }
    }
    weft_collider_destroy(c);
    mem_free(start);
    mem_free(end);
    return status;
}

static void print_totals(const char* name, const totals* t, bool json)
{
    double queries = t->queries > 0 ? (double)t->queries : 1.0;
    if (json)
    {
        printf("\"%s\":{\"queries\":%lld,\"collide\":%lld,\"exact\":%lld,\"mean_us\":%.4g}", name,
               (long long)t->queries, (long long)t->collide, (long long)t->exact, 1e6 * t->seconds / queries);
        return;
    }
    printf("%-12s %10lld %9lld %8lld %10.4f %% %9.3f\n", name, (long long)t->queries, (long long)t->collide,
           (long long)t->exact, 100.0 * (double)t->exact / queries, 1e6 * t->seconds / queries);
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--scene= --cells= --set= --steps= --every= --threads=");
    const char* scene = bench_text(argc, argv, "--scene", "towel");
    int cells = bench_count(argc, argv, "--cells", 100), steps = bench_count(argc, argv, "--steps", 400);
    int every = bench_count(argc, argv, "--every", 10), threads = bench_count(argc, argv, "--threads", 2);
    char set[32];
    snprintf(set, sizeof(set), "cells=%d", cells);
    const char* overrides[SETS_MAX + 2] = {set, "contact.enabled=false"};
    int set_count = bench_texts(argc, argv, "--set", overrides + 2, SETS_MAX);
    if (set_count == 0 && strcmp(scene, "towel") == 0)
    {
        overrides[2 + set_count++] = "cloth.0.pins.1.path.1.offset=[-0.98,0,0]";
    }
    weft_sim* sim = bench_sim(scene, overrides, set_count + 2, threads);
    if (!sim)
    {
        return 2;
    }
    totals sums[2] = {{0}, {0}};
    int vertices = sim->model.vertex_count;
    weft_status status = measure(sim, steps, every, sums);
    weft_sim_destroy(sim);
    if (status != WEFT_OK)
    {
        return bench_failed("ccd-pairs", status);
    }
    totals all = {sums[0].queries + sums[1].queries, sums[0].collide + sums[1].collide, sums[0].exact + sums[1].exact,
                  sums[0].seconds + sums[1].seconds};
    const char* names[3] = {"vertex_face", "edge_edge", "all"};
    const totals* rows[3] = {&sums[0], &sums[1], &all};
    if (json)
    {
        printf("{\"benchmark\":\"ccd-pairs\",\"scene\":\"%s\",\"vertices\":%d,\"steps\":%d,\"every\":%d", scene,
               vertices, steps, every);
    }
    else
    {
        printf("queries of scene %s, %d vertices, every %d of %d steps, one thread\n"
               "                queries   collide    exact   of queries    us each\n",
               scene, vertices, every, steps);
    }
    for (int k = 0; k < 3; k++)
    {
        printf("%s", json ? "," : "");
        print_totals(names[k], rows[k], json);
    }
    printf("%s", json ? "}\n" : "");
    return 0;
}

const benchmark bench_ccd_pairs = {"ccd-pairs", "continuous collision queries on the pairs of a falling, folding sheet",
                                   run};
