// weft bench hpbd --parts tears: what one split vertex costs, where the model is mended (sim_mend): sheets of 11,592
// irregular triangles, the processor's time of the best of 40 mends and their median, without and with contact; and
// the first step after it, which makes anew what a mend only drops, beside the one after that.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/hpbd.h"
#include "sim/tear_mend.h"

enum
{
    MENDS = 40
};

typedef struct tear_case
{
    const char *method, *model;
    bool contact;
} tear_case;

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static int cells_of(const bench_place* at)
{
    return at->cells > 0 ? at->cells : 46;
}

static weft_sim* sheet_of(const bench_place* at, const tear_case* c)
{
    char method[40], model[40], contact[40], cells[40];
    snprintf(method, sizeof(method), "method=%s", c->method);
    snprintf(model, sizeof(model), "model=%s", c->model);
    snprintf(contact, sizeof(contact), "contact.enabled=%s", c->contact ? "true" : "false");
    snprintf(cells, sizeof(cells), "cells=%d", cells_of(at));
    const char* overrides[] = {method,          model,           contact, "tessellation=irregular",
                               "hpbd.limits=0", "cloth.0.tear=1e6", cells};
    return bench_sim("canvas", overrides, 7, at->threads);
}

// Faces above a level line through the vertex go with the new one; false: there are none, or no others.
static bool split(const body* b, int vertex, tear_list* list)
{
    const mesh* m = &b->rest;
    int above = 0, around = 0;
    list->count = list->face_count = 0;
    tears_add(list, vertex);
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        double middle = (m->position[v[0]].y + m->position[v[1]].y + m->position[v[2]].y) / 3.0;
        if (v[0] != vertex && v[1] != vertex && v[2] != vertex)
        {
            continue;
        }
        around++;
        if (middle > m->position[vertex].y)
        {
            above++;
            tears_take(list, m->triangle_face[t]);
        }
    }
    return above > 0 && above < around;
}

static int compare(const void* a, const void* b)
{
    double p = *(const double*)a, q = *(const double*)b;
    return (p > q) - (p < q);
}

// Cuts of one vertex each all over the sheet, two thirds of the way down at least from the pins.
static weft_status cut(weft_sim* sim, int most, double* mend, double* step, double* plain, int* mended)
{
    tear_list list = {0};
    weft_status status = WEFT_OK;
    body* b = &sim->bodies[0];
    int count = b->rest.vertex_count;
    for (int k = 0; *mended < most && k < 4 * MENDS && status == WEFT_OK; k++)
    {
        int vertex = (int)((unsigned)k * 2654435761u % (unsigned)count);
        bool done = false;
        if (!split(b, vertex, &list))
        {
            continue;
        }
        double start = seconds();
        status = sim_mend(sim, b, &list, &done, NULL);
        mend[*mended] = seconds() - start;
        done && status == WEFT_OK ? tear_open(sim, b, b->rest.vertex_count - 1) : (void)0;
        done && status == WEFT_OK ? tear_open(sim, b, vertex) : (void)0;
        start = seconds();
        status = status == WEFT_OK ? weft_sim_step(sim, NULL, NULL) : status;
        step[*mended] = seconds() - start;
        start = seconds();
        status = status == WEFT_OK ? weft_sim_step(sim, NULL, NULL) : status;
        plain[*mended] = seconds() - start;
        *mended += done;
    }
    tears_finish(&list);
    return status;
}

static weft_status tear_row(const bench_place* at, const tear_case* c)
{
    weft_sim* sim = sheet_of(at, c);
    double mend[MENDS], step[MENDS], plain[MENDS];
    int mended = 0;
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    for (int k = 0; k < 4 && status == WEFT_OK; k++)
    {
        status = weft_sim_step(sim, NULL, NULL);
    }
    status = status == WEFT_OK ? cut(sim, int_min(at->steps, MENDS), mend, step, plain, &mended) : status;
    weft_sim_destroy(sim);
    if (status != WEFT_OK || mended == 0)
    {
        return status;
    }
    qsort(mend, (size_t)mended, sizeof(double), compare);
    qsort(step, (size_t)mended, sizeof(double), compare);
    qsort(plain, (size_t)mended, sizeof(double), compare);
    double best = 1e3 * mend[0], median = 1e3 * mend[mended / 2];
    double before = plain[mended / 2], more = 1e3 * (step[mended / 2] - before);
    at->json
        ? printf("%s{\"what\":\"tear\",\"method\":\"%s\",\"model\":\"%s\",\"contact\":%d,\"mends\":%d,\"best_ms\":"
                 "%.4g,\"median_ms\":%.4g,\"step_ms\":%.4g,\"more_ms\":%.4g}",
                 comma(at), c->method, c->model, c->contact, mended, best, median, 1e3 * before, more)
        : printf("%-14s %-13s %-8s %d mends: best %6.2f ms, median %6.2f ms; a step %6.2f ms, after a mend %+.2f\n",
                 c->method, c->model, c->contact ? "contact" : "", mended, best, median, 1e3 * before, more);
    fflush(stdout);
    return WEFT_OK;
}

weft_status bench_hpbd_tears(const bench_place* at)
{
    static const tear_case cases[] = {
        {"pbd", "hooke", false},
        {"hpbd", "hooke", false},
        {"implicit-euler", "baraff-witkin", false},
        {"local-global", "hooke", false},
        {"local-global", "corotated", false},
        {"pbd", "hooke", true},
        {"hpbd", "hooke", true},
        {"implicit-euler", "baraff-witkin", true},
        {"local-global", "hooke", true},
    };
    at->json ? 0 : printf("one split vertex of a sheet of 46 x 126 irregular cells, 11,592 triangles, or as --cells says\n");
    weft_status status = WEFT_OK;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]) && status == WEFT_OK; k++)
    {
        bool wanted = !at->method || strcmp(at->method, cases[k].method) == 0;
        status = wanted ? tear_row(at, &cases[k]) : WEFT_OK;
    }
    return status;
}
