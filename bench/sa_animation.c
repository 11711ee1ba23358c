#include "bench/sa_animation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/system.h"

// ---- keys

// Steps are spread evenly and end with the last: sample s is one of N among `count` where s N / count passes a whole
// number.
bool sa_animation_is_sampled(const sa_animation* a, int entrant, int sample)
{
    int64_t samples = int_min(a->entrants[entrant].samples, a->count);
    return (sample + 1) * samples / a->count > sample * samples / a->count;
}

// What a solver that remembers all did before depends on where the animation began for it.
static void key_of(const sa_animation* a, int entrant, int sample, char out[SA_KEY_SIZE])
{
    const sa_entrant* e = &a->entrants[entrant];
    sa_case c = a->c;
    c.step += sample;
    sa_solve_key(&c, &e->def, out);
    size_t length = strlen(out);
    snprintf(out + length, SA_KEY_SIZE - length, " as %s", e->name);
    if (e->memory == SA_MEMORY_ALL)
    {
        length = strlen(out);
        snprintf(out + length, SA_KEY_SIZE - length, " from=%d", a->c.step);
    }
}

// ---- lines

// The log's lines of this scene and size alone: a log of many cases is long, and is searched for each key.
static weft_status narrow(const sa_animation* a, const results* log, results* out)
{
    char start[128];
    snprintf(start, sizeof(start), "{\"key\":\"%s %s cells=%d step=", a->c.scene,
             a->c.irregular ? "irregular" : "regular", a->c.cells);
    *out = (results){.lines = MEM_NEW(log->count + 1, char*)};
    for (int k = 0; k < log->count && out->lines; k++)
    {
        if (strncmp(log->lines[k], start, strlen(start)) == 0)
        {
            out->lines[out->count++] = log->lines[k];
        }
    }
    return out->lines ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status sa_course_init(sa_course* c, const sa_animation* a, const results* log)
{
    results own;
    *c = (sa_course){.a = a, .lines = MEM_NEW(a->entrant_count * a->count + 1, const char*)};
    weft_status status = c->lines ? narrow(a, log, &own) : WEFT_NO_MEMORY;
    if (status != WEFT_OK)
    {
        sa_course_finish(c);
        return status;
    }
    for (int k = 0; k < a->entrant_count * a->count; k++)
    {
        char key[SA_KEY_SIZE];
        key_of(a, k / a->count, k % a->count, key);
        bool sampled = sa_animation_is_sampled(a, k / a->count, k % a->count);
        c->lines[k] = sampled ? results_find(&own, key) : NULL;
    }
    mem_free(own.lines);
    return WEFT_OK;
}

void sa_course_finish(sa_course* c)
{
    mem_free(c->lines);
    *c = (sa_course){0};
}

const char* sa_course_line(const sa_course* c, int entrant, int sample)
{
    return c->lines[entrant * c->a->count + sample];
}

static bool is_missing(const sa_course* c, int entrant, int sample)
{
    return sa_animation_is_sampled(c->a, entrant, sample) && !sa_course_line(c, entrant, sample);
}

// The last sample at which anything is missing, -1: none.
static int last_missing(const sa_course* c)
{
    int last = -1;
    for (int k = 0; k < c->a->entrant_count * c->a->count; k++)
    {
        if (is_missing(c, k / c->a->count, k % c->a->count))
        {
            last = int_max(last, k % c->a->count);
        }
    }
    return last;
}

// ---- running

typedef struct stage_hand
{
    const sa_animation* a;
    sa_course before; // the log as it was
    results* log;
    weft_solver* solvers[SA_ENTRANT_MAX];
    sa_system now;
    int rejected;
    weft_vec3* x;
} stage_hand;

static weft_status solver_of(stage_hand* r, int entrant, weft_solver** out)
{
    weft_error error = {0};
    const sa_entrant* e = &r->a->entrants[entrant];
    if (!r->solvers[entrant])
    {
        weft_status status = weft_solver_create(&e->def, &r->solvers[entrant], &error);
        if (status != WEFT_OK)
        {
            fprintf(stderr, "weft bench: %s: %s\n", e->def.solver, error.message);
            return status;
        }
    }
    *out = r->solvers[entrant];
    return WEFT_OK;
}

// That a solve fails is a result; that there is no memory for it is not.
static weft_status solve(stage_hand* r, int entrant, weft_solve_stats* stats, weft_status* solved)
{
    weft_solver* solver;
    TRY(solver_of(r, entrant, &solver));
    *solved = weft_solver_solve(solver, r->now.system, r->x, stats);
    if (r->a->entrants[entrant].cold)
    {
        weft_solver_destroy(solver);
        r->solvers[entrant] = NULL;
    }
    return *solved == WEFT_NO_MEMORY ? WEFT_NO_MEMORY : WEFT_OK;
}

static weft_status log_solve(stage_hand* r, const char* key, const weft_solve_stats* stats, weft_status solved)
{
    char t[3][32];
    return results_add(
        r->log, key,
        "\"vertices\":%d,\"blocks\":%d,\"iterations\":%d,\"converged\":%d,\"residual\":%s,\"residual2\":%s,"
        "\"setup_s\":%.6g,\"solve_s\":%.6g,\"refreshed\":%d,\"escalations\":%d,\"levels\":%d,"
        "\"operator_complexity\":%s,\"bytes\":%.0f,\"halvings\":%d,\"rejected\":%d,\"status\":%d,\"took\":\"%s\"",
        r->now.system->pattern.row_count, r->now.system->pattern.block_count, stats->iterations, stats->converged,
        results_json(stats->residual, t[0]), results_json(stats->residual2, t[1]), stats->setup_s, stats->solve_s,
        stats->refreshed, stats->escalations, stats->level_count, results_json(stats->operator_complexity, t[2]),
        stats->bytes, r->now.halvings, r->rejected, (int)solved, stats->solver);
}

static weft_status time_solve(stage_hand* r, int entrant, int sample, const char* key)
{
    const sa_entrant* e = &r->a->entrants[entrant];
    weft_solve_stats stats = {0};
    weft_status solved;
    // Earlier steps are in the log, so this process has not solved them: bring the analysis back.
    bool resumed = e->memory == SA_MEMORY_ANALYSIS && !r->solvers[entrant];
    bool late = false;
    for (int k = 0; k < sample && resumed; k++)
    {
        late = late || sa_course_line(&r->before, entrant, k);
    }
    if (late)
    {
        TRY(solve(r, entrant, &stats, &solved));
    }
    TRY(solve(r, entrant, &stats, &solved));
    fprintf(stderr, ", %s %.3g ms (%d)%s", e->name, 1e3 * (stats.setup_s + stats.solve_s), stats.iterations,
            solved == WEFT_OK ? "" : " FAILED");
    return log_solve(r, key, &stats, solved);
}

static weft_status measure_one(stage_hand* r, int entrant, int sample)
{
    const sa_entrant* e = &r->a->entrants[entrant];
    bool sampled = sa_animation_is_sampled(r->a, entrant, sample);
    if (is_missing(&r->before, entrant, sample))
    {
        char key[SA_KEY_SIZE];
        key_of(r->a, entrant, sample, key);
        return e->measure ? e->measure(e, &r->now, r->log, key) : time_solve(r, entrant, sample, key);
    }
    weft_solve_stats stats;
    weft_status solved;
    return sampled && e->memory == SA_MEMORY_ALL ? solve(r, entrant, &stats, &solved) : WEFT_OK;
}

static weft_status measure_step(stage_hand* r, weft_sim* sim, int sample)
{
    TRY(sa_system_take(&r->a->c, sim, &r->now));
    weft_status status = WEFT_OK;
    if (!r->x)
    {
        r->x = MEM_NEW(weft_system_vertex_count(r->now.system), weft_vec3);
        status = r->x ? WEFT_OK : WEFT_NO_MEMORY;
    }
    // What is going on, a line a step: times, and iterations in brackets.
    const sa_case* c = &r->a->c;
    fprintf(stderr, "%s %s cells=%d step %d", c->scene, c->irregular ? "irregular" : "regular", c->cells,
            c->step + sample);
    for (int entrant = 0; entrant < r->a->entrant_count && status == WEFT_OK; entrant++)
    {
        status = measure_one(r, entrant, sample);
    }
    fprintf(stderr, "\n");
    sa_system_finish(&r->now);
    return status;
}

static bool is_breakdown(weft_status status)
{
    return status == WEFT_NOT_CONVERGED || status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE;
}

static weft_status log_breakdown(stage_hand* r, int first, weft_status broken)
{
    weft_status status = WEFT_OK;
    for (int k = 0; k < r->a->entrant_count * r->a->count && status == WEFT_OK; k++)
    {
        int entrant = k / r->a->count, sample = k % r->a->count;
        char key[SA_KEY_SIZE];
        key_of(r->a, entrant, sample, key);
        if (sample >= first && is_missing(&r->before, entrant, sample))
        {
            status = results_add(r->log, key, "\"iterations\":null,\"converged\":0,\"simulated\":0,\"status\":%d",
                                 (int)broken);
        }
    }
    return status;
}

static weft_status run_steps(stage_hand* r, weft_sim* sim, int last)
{
    for (int step = 1; step <= r->a->c.step + last; step++)
    {
        int sample = step - r->a->c.step;
        if (sample >= 0)
        {
            TRY(measure_step(r, sim, sample));
        }
        weft_error error = {0};
        weft_step_stats stats = {0};
        weft_status status = sample < last ? weft_sim_step(sim, &stats, &error) : WEFT_OK;
        if (is_breakdown(status))
        {
            fprintf(stderr, "weft bench: %s, step %d: %s\n", r->a->c.scene, step, error.message);
            return log_breakdown(r, int_max(0, sample + 1), status);
        }
        TRY(status);
        r->rejected += stats.rejected;
    }
    return WEFT_OK;
}

weft_status sa_animation_run(const sa_animation* a, const sa_options* options, results* log)
{
    stage_hand r = {.a = a, .log = log};
    TRY(sa_course_init(&r.before, a, log));
    int last = last_missing(&r.before);
    weft_status status = WEFT_OK;
    if (last >= 0)
    {
        weft_sim* sim = sa_case_sim(&a->c, options->threads);
        status = sim ? run_steps(&r, sim, last) : WEFT_BAD_INPUT;
        weft_sim_destroy(sim);
    }
    for (int k = 0; k < a->entrant_count; k++)
    {
        weft_solver_destroy(r.solvers[k]);
    }
    mem_free(r.x);
    sa_course_finish(&r.before);
    return status;
}

// ---- statistics

double sa_line_seconds(const char* line)
{
    bool converged = results_number(line, "converged") > 0.0;
    return converged ? results_number(line, "setup_s") + results_number(line, "solve_s") : NAN;
}

const char* sa_line_took(const char* line, char out[32])
{
    const char* at = line ? strstr(line, ",\"took\":\"") : NULL;
    int length = at ? (int)strcspn(at + 9, "\"") : 0;
    snprintf(out, 32, "%.*s", length, at ? at + 9 : "");
    return out;
}

static int compare_numbers(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

sa_spread sa_course_spread(const sa_course* c, int entrant, const char* field, int first)
{
    sa_spread s = {0, NAN, NAN, NAN, NAN, NAN};
    double* values = MEM_NEW(c->a->count + 1, double);
    double sum = 0.0;
    bool seconds = strcmp(field, "seconds") == 0;
    for (int k = first; k < c->a->count && values; k++)
    {
        const char* line = sa_course_line(c, entrant, k);
        double value = isnan(sa_line_seconds(line)) || seconds ? sa_line_seconds(line) : results_number(line, field);
        if (!isnan(value))
        {
            values[s.count++] = value;
            sum += value;
        }
    }
    if (s.count > 0)
    {
        qsort(values, (size_t)s.count, sizeof(double), compare_numbers);
        s.mean = sum / s.count;
        s.least = values[0];
        s.median = 0.5 * (values[(s.count - 1) / 2] + values[s.count / 2]);
        s.p95 = values[(int)(0.95 * (s.count - 1) + 0.5)];
        s.most = values[s.count - 1];
    }
    mem_free(values);
    return s;
}

double sa_course_ratio(const sa_course* c, int a, int b, int first)
{
    double above = 0.0, below = 0.0;
    for (int k = first; k < c->a->count; k++)
    {
        double x = sa_line_seconds(sa_course_line(c, a, k)), y = sa_line_seconds(sa_course_line(c, b, k));
        bool both = !isnan(x) && !isnan(y);
        above += both ? x : 0.0;
        below += both ? y : 0.0;
    }
    return below > 0.0 ? above / below : NAN;
}

int sa_course_failures(const sa_course* c, int entrant)
{
    int failures = 0;
    for (int k = 0; k < c->a->count; k++)
    {
        const char* line = sa_course_line(c, entrant, k);
        failures += line && !(results_number(line, "converged") > 0.0);
    }
    return failures;
}
