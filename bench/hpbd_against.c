// weft bench hpbd --parts against: how position based dynamics, with and without a hierarchy, and local-global come to
// the solution of implicit Euler as their iterations grow. A curtain of 40 x 40 cells falls from two corners for ten
// steps of 1/30 s, one substep each, from the same start with each number of iterations; what is printed is the root
// mean square distance of its vertices from where local-global with 4,000 iterations has them, in cells. --plot
// FILE.svg draws it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/hpbd.h"
#include "bench/plot.h"

enum
{
    STEPS = 10,
    CELLS = 40,
    COUNTS = 9 // 1 to 256
};

static const char* const ways[] = {"local-global", "pbd", "hpbd"};

// Positions after the steps into x, which is [(CELLS + 1)^2], and the processor's time of a step.
static weft_status fall(const bench_place* at, const char* method, int iterations, weft_vec3* x, double* seconds)
{
    char name[40], cells[40], count[60];
    snprintf(name, sizeof(name), "method=%s", method);
    snprintf(cells, sizeof(cells), "cells=%d", CELLS);
    snprintf(count, sizeof(count), "%s.iterations=%d", method, iterations);
    const char* overrides[] = {
        name, cells, count, "contact.enabled=false", "step_control.max_halvings=0", "pbd.substeps=1"};
    weft_sim* sim = bench_sim("curtain", overrides, 6, at->threads);
    weft_status status = sim ? WEFT_OK : WEFT_BAD_INPUT;
    clock_t start = clock();
    for (int k = 0; k < STEPS && status == WEFT_OK; k++)
    {
        start = k == 1 ? clock() : start; // the first one prepares
        status = weft_sim_step(sim, NULL, NULL);
    }
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC / (STEPS - 1);
    status == WEFT_OK ? weft_sim_positions(sim, 0, x) : (void)0;
    weft_sim_destroy(sim);
    return status;
}

// In cells.
static double apart(const weft_vec3* a, const weft_vec3* b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        double x = a[i].x - b[i].x, y = a[i].y - b[i].y, z = a[i].z - b[i].z;
        sum += x * x + y * y + z * z;
    }
    return CELLS * sqrt(sum / count);
}

static void draw(const char* path, const double* x, double y[][COUNTS])
{
    FILE* out = fopen(path, "w");
    plot p = {.title = "A curtain of 40 x 40 cells after ten steps of 1/30 s",
              .x_title = "iterations",
              .y_title = "distance from implicit Euler, cells",
              .log_x = true,
              .log_y = true,
              .y_guide = NAN};
    for (int m = 0; m < 3; m++)
    {
        plot_add(&p, (plot_line){.x = x, .y = y[m], .count = COUNTS, .colour = m, .marker = m});
        plot_add_key(&p, (plot_key){.name = ways[m], .colour = m, .marker = m, .line = true});
    }
    if (!out)
    {
        fprintf(stderr, "weft bench hpbd: cannot write %s\n", path);
        return;
    }
    plot_write(&p, out);
    fclose(out);
}

weft_status bench_hpbd_against(const bench_place* at)
{
    int n = (CELLS + 1) * (CELLS + 1);
    weft_vec3 *exact = malloc((size_t)n * sizeof(weft_vec3)), *x = malloc((size_t)n * sizeof(weft_vec3));
    double seconds, iterations[COUNTS], error[3][COUNTS];
    weft_status status = exact && x ? fall(at, "local-global", 4000, exact, &seconds) : WEFT_NO_MEMORY;
    at->json || status != WEFT_OK ? 0 : printf("curtain, distance from implicit Euler in cells, and ms a step\n");
    for (int m = 0; m < 3; m++)
    {
        for (int k = 0; k < COUNTS && status == WEFT_OK; k++)
        {
            status = fall(at, ways[m], 1 << k, x, &seconds);
            iterations[k] = 1 << k;
            error[m][k] = apart(x, exact, n);
            at->json ? printf("%s{\"what\":\"against\",\"method\":\"%s\",\"iterations\":%d,\"cells_apart\":%.4g,"
                              "\"ms\":%.4g}",
                              comma(at), ways[m], 1 << k, error[m][k], 1e3 * seconds)
                     : printf("%-12s %3d iterations: %9.4f  %8.2f\n", ways[m], 1 << k, error[m][k], 1e3 * seconds);
        }
    }
    status == WEFT_OK && at->plot ? draw(at->plot, iterations, error) : (void)0;
    free(exact);
    free(x);
    return status;
}
