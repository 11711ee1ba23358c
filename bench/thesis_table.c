// All sets of the thesis in all scenes: measured through the log, then as sums, as CSV and as plots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/page.h"
#include "bench/plot.h"
#include "bench/thesis_solve.h"

static double field_of(const thesis_total* t, size_t field)
{
    double value;
    memcpy(&value, (const char*)t + field, sizeof(value));
    return value;
}

const thesis_total* thesis_at(const thesis_table* t, int scene, int set, int entrant)
{
    return &t->totals[(scene * t->set_count + set) * t->count + entrant];
}

double thesis_sum(const thesis_table* t, int scene, int entrant, size_t field)
{
    double sum = 0.0;
    for (int k = 0; k < t->set_count; k++)
    {
        double value = field_of(thesis_at(t, scene, k, entrant), field);
        sum += isfinite(value) ? value : 0.0;
    }
    return sum;
}

static void list_scenes(thesis_table* t)
{
    const char* at = t->o.scenes;
    while (*at && t->scene_count < 4)
    {
        size_t length = strcspn(at, ",");
        snprintf(t->scene[t->scene_count++], sizeof(t->scene[0]), "%.*s", (int)length, at);
        at += length + (at[length] == ',');
    }
}

weft_status thesis_collect(thesis_table* t, const char* name, bool equal, int argc, char** argv)
{
    list_scenes(t);
    t->set_count = thesis_set_count(&t->o);
    t->sets = calloc((size_t)t->set_count, sizeof(thesis_set));
    t->totals = calloc((size_t)t->scene_count * (size_t)t->set_count * (size_t)t->count, sizeof(thesis_total));
    if (!t->sets || !t->totals)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(results_open(&t->o.log, name, argc, argv));
    for (int k = 0; k < t->set_count; k++)
    {
        t->sets[k] = thesis_set_draw(&t->o, k);
        for (int scene = 0; scene < t->scene_count; scene++)
        {
            thesis_total* out = &t->totals[(scene * t->set_count + k) * t->count];
            TRY(thesis_measure(&t->o, t->scene[scene], &t->sets[k], t->list, t->count, t->reference, equal, out));
        }
    }
    return WEFT_OK;
}

void thesis_close(thesis_table* t)
{
    results_close(&t->o.log);
    free(t->sets);
    free(t->totals);
}

static void write_csv(const void* context, FILE* out)
{
    const thesis_table* t = context;
    thesis_csv_head(out);
    for (int scene = 0; scene < t->scene_count; scene++)
    {
        for (int k = 0; k < t->set_count * t->count; k++)
        {
            int set = k / t->count, entrant = k % t->count;
            thesis_csv_line(&t->o, t->scene[scene], &t->sets[set], &t->list[entrant], thesis_at(t, scene, set, entrant),
                            out);
        }
    }
}

typedef struct plot_job
{
    const thesis_table* t;
    const char* title;
    int scene;
    size_t field;
    bool kappa;
} plot_job;

// Points of one entrant, as the thesis's figures 5.3, 5.5, 5.7, 5.9 and 6.9 have them.
static int points_of(const plot_job* job, int entrant, double* x, double* y)
{
    const thesis_table* t = job->t;
    for (int k = 0; k < t->set_count; k++)
    {
        const thesis_total* total = thesis_at(t, job->scene, k, entrant);
        x[k] = job->kappa ? t->sets[k].kappa : total->vertices;
        y[k] = field_of(total, job->field) / total->systems;
    }
    return t->set_count;
}

static int compare_points(const void* a, const void* b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static void sort_points(double* x, double* y, int count, double (*pairs)[2])
{
    for (int k = 0; k < count; k++)
    {
        pairs[k][0] = x[k];
        pairs[k][1] = y[k];
    }
    qsort(pairs, (size_t)count, sizeof(pairs[0]), compare_points);
    for (int k = 0; k < count; k++)
    {
        x[k] = pairs[k][0];
        y[k] = pairs[k][1];
    }
}

static void write_plot(const void* context, FILE* out)
{
    const plot_job* job = context;
    const thesis_table* t = job->t;
    char title[160];
    snprintf(title, sizeof(title), "%s, %s (seed %d, share %g)", job->title, t->scene[job->scene], t->o.seed,
             t->o.share);
    plot p = {.title = title,
              .x_title = job->kappa ? "kappa" : "particles",
              .y_title = job->title,
              .log_x = true,
              .log_y = true,
              .y_guide = NAN};
    size_t room = (size_t)t->set_count;
    double* values = calloc(4 * room * (size_t)t->count + 1, sizeof(double));
    for (int k = 0; values && k < t->count; k++)
    {
        double *x = values + 4 * room * (size_t)k, *y = x + room;
        int count = points_of(job, k, x, y);
        sort_points(x, y, count, (double(*)[2])(y + room));
        plot_add(&p, (plot_line){.x = x, .y = y, .count = count, .colour = k, .marker = k % PLOT_MARKERS});
        plot_add_key(&p, (plot_key){.name = t->list[k].name, .colour = k, .marker = k % PLOT_MARKERS, .line = true});
    }
    plot_write(&p, out);
    free(values);
}

weft_status thesis_write(const thesis_table* t, const char* name, const char* title, size_t field)
{
    char file[128];
    if (!t->o.out)
    {
        return WEFT_OK;
    }
    snprintf(file, sizeof(file), "%s.csv", name);
    TRY(page_file(t->o.out, file, write_csv, t));
    for (int k = 0; k < 2 * t->scene_count; k++)
    {
        plot_job job = {t, title, k / 2, field, k % 2};
        snprintf(file, sizeof(file), "%s-%s%s.svg", name, t->scene[k / 2], k % 2 ? "-kappa" : "");
        TRY(page_file(t->o.out, file, write_plot, &job));
    }
    return WEFT_OK;
}
