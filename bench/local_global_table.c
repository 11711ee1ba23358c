// Table 1 of Liu et al. 2013; see local_global_table.h. Each object is a scene that ships, by size the paper's; a turn
// is a plain one without contact, from steps that differ by 20 turns; the floor is to read the factor twice at the
// speed of a triad loop. Times are of the processor, on one thread.
#include "bench/local_global_table.h"

#include <stdio.h>

#include "bench/common.h"
#include "bench/curtain.h"
#include "material/spring.h"

typedef struct object
{
    const char* scene;
    double ratio;     // times the floor that a turn may take; 0: none is said
    const char* name; // the paper's
    int m, s;
    double h_ms, turn_ms, factor_ms;
    int turns;
} object;

static const object objects[] = {
    {"curtain", 2.0, "curtain", 6561, 32158, 33, 5, 113, 10}, {"sponge", 2.5, "hippo", 2387, 13135, 33, 1, 18, 20},
    {"jelly", 2.5, "frog", 6834, 35261, 33, 3.1, 54, 20},     {"bar", 3.5, "dog", 28390, 148047, 33, 20.3, 442, 20},
    {"dress", 0.0, "dress", 3505, 6811, 8.3, 0.61, 11, 20},   {"brush", 0.0, "brush", 1995, 6405, 33, 0.68, 9.8, 20},
};

typedef struct measured
{
    int vertices, springs, factors, steps;
    double h, nonzeros, bytes, turn, factor; // s, -, -, s, s
} measured;

double factor_nonzeros(const chol_symbolic* s)
{
    double sum = 0.0;
    for (int k = 0; k < s->node_count; k++)
    {
        double width = s->nodes[k].column_end - s->nodes[k].column_begin;
        sum += 0.5 * width * (width + 1.0) + width * (s->nodes[k].row_end - s->nodes[k].row_begin);
    }
    return sum;
}

weft_status stream_speed(workers* pool, int rounds, double* out)
{
    triad t = {0};
    weft_status status = triad_init(&t);
    double best = INFINITY;
    for (int k = 0; k < rounds && status == WEFT_OK; k++)
    {
        double begin = processor_seconds();
        triad_seconds(&t, pool);
        best = fmin(best, processor_seconds() - begin);
    }
    *out = triad_bytes(&t) / best;
    triad_finish(&t);
    return status;
}

// The best time of a step with so many turns.
static weft_status step_seconds(weft_sim* sim, int turns, int rounds, measured* out, double* seconds)
{
    sim->world.settings.method[method_setting_find("local-global", "iterations")] = turns;
    *seconds = INFINITY;
    for (int k = 0; k < rounds; k++)
    {
        weft_step_stats stats = {0};
        double begin = processor_seconds();
        TRY(weft_sim_step(sim, &stats, NULL));
        *seconds = fmin(*seconds, processor_seconds() - begin);
        out->factors += (int)weft_step_counter(&stats, "factorizations");
        out->steps++;
    }
    return WEFT_OK;
}

// A factor that is made anew, with what the last step held.
static weft_status factor_measure(const world* w, int rounds, measured* out)
{
    global_step g = {0};
    weft_status status = global_step_create(&g, w->model);
    out->factor = INFINITY;
    for (int k = 0; k < rounds && status == WEFT_OK; k++)
    {
        bool made;
        int updates;
        double begin = processor_seconds();
        global_step_forget(&g);
        global_step_hold(&g, w->filter, w->pin_count);
        status = global_step_factor(&g, w, &made, &updates);
        out->factor = fmin(out->factor, processor_seconds() - begin);
    }
    out->nonzeros = factor_nonzeros(&g.symbolic);
    out->bytes = 8.0 * (double)g.symbolic.factor_size;
    global_step_finish(&g);
    return status;
}

static weft_status measure(const object* o, int rounds, measured* out)
{
    static const char* const overrides[] = {"contact.enabled=false", "local-global.acceleration=0",
                                            "step_control={\"max_halvings\":0,\"max_stretch\":1e6}"};
    weft_sim* sim = bench_sim(o->scene, overrides, 3, 1);
    if (!sim)
    {
        return WEFT_BAD_INPUT;
    }
    const element_group* springs = element_groups_find(&sim->model.groups, &kind_spring);
    *out = (measured){.vertices = sim->model.vertex_count, .springs = springs->count};
    double few, many;
    weft_status status = step_seconds(sim, 10, 2, out, &few); // the first ones touch memory for the first time
    status = status == WEFT_OK ? step_seconds(sim, 10, rounds, out, &few) : status;
    status = status == WEFT_OK ? step_seconds(sim, 30, rounds, out, &many) : status;
    if (status == WEFT_OK)
    {
        out->turn = (many - few) / 20.0;
        out->h = sim->world.h;
        status = factor_measure(&sim->world, rounds, out);
    }
    weft_sim_destroy(sim);
    return status;
}

static void print_row(const object* o, const measured* m, double floor, bool json, bool first)
{
    if (json)
    {
        printf("%s{\"part\":\"table\",\"scene\":\"%s\",\"vertices\":%d,\"springs\":%d,\"h\":%.6g,\"nnz\":%.0f,"
               "\"bytes\":%.0f,\"factor_ms\":%.4g,\"factors\":%d,\"steps\":%d,\"turn_ms\":%.4g,\"ratio\":%.4g}",
               first ? "" : ",\n", o->scene, m->vertices, m->springs, m->h, m->nonzeros, m->bytes, 1e3 * m->factor,
               m->factors, m->steps, 1e3 * m->turn, m->turn / floor);
        return;
    }
    char bound[32] = "";
    o->ratio > 0.0 ? (void)snprintf(bound, sizeof(bound), " (%g)", o->ratio) : (void)0;
    printf("%-8s %6d %7d %5.1f %9.0f %7.2f %8.2f %3d of %-3d %8.3f %6.2f%-6s | %-8s %6d %7d %5.1f %6g %7g\n", o->scene,
           m->vertices, m->springs, 1e3 * m->h, m->nonzeros, 1e-6 * m->bytes, 1e3 * m->factor, m->factors, m->steps,
           1e3 * m->turn, m->turn / floor, bound, o->name, o->m, o->s, o->h_ms, o->factor_ms, o->turn_ms);
}

weft_status local_global_table(int rounds, bool json, int* rows)
{
    double stream;
    TRY(stream_speed(NULL, rounds, &stream));
    if (!json)
    {
        printf("\ntriad %.1f GB/s; times is a turn over reading L twice at that speed, in brackets what is wanted\n"
               "scene       m       s h, ms    nnz(L)   L, MB   factor   factors  turn, ms  times       | paper        "
               " m  "
               "     s h, ms factor    turn\n",
               1e-9 * stream);
    }
    for (size_t k = 0; k < sizeof(objects) / sizeof(objects[0]); k++)
    {
        measured m = {0};
        TRY(measure(&objects[k], rounds, &m));
        print_row(&objects[k], &m, 2.0 * m.bytes / stream, json, *rows == 0);
        (*rows)++;
        fflush(stdout);
    }
    return WEFT_OK;
}
