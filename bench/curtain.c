// The curtain of Liu et al. 2013 and single steps of it; see curtain.h.
#define _POSIX_C_SOURCE 200809L
#include "bench/curtain.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/common.h"
#include "material/spring.h"

extern const time_method method_newton;

enum
{
    REST = 30 // turns of the steps in between
};

double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- a curtain

void curtain_finish(curtain* c)
{
    solver_object_finish(&c->pcg);
    solver_object_finish(&c->cholesky);
    weft_sim_destroy(c->sim);
    *c = (curtain){0};
}

static weft_status curtain_methods(curtain* c)
{
    solve_options options = {.tolerance = 1e-4, .pool = c->w->pool, .cpu = c->w->cpu};
    TRY(solver_object_init(&c->pcg, "diag-pcg", &options, NULL));
    options.tolerance = 1e-10;
    TRY(solver_object_init(&c->cholesky, "cholesky", &options, NULL));
    return method_object_begin(&c->w->fallback, &method_newton, c->w);
}

weft_status curtain_create(curtain* c, int cells, double k, double h)
{
    char cells_text[32], step_text[48];
    snprintf(cells_text, sizeof(cells_text), "cells=%d", cells);
    snprintf(step_text, sizeof(step_text), "time_step=%.17g", h);
    const char* overrides[] = {cells_text,
                               step_text,
                               "method=local-global",
                               "cloth.0.model=hooke",
                               "contact.enabled=false",
                               "cloth.0.material={\"density\":1,\"damping\":0}",
                               "local-global={\"iterations\":30}",
                               "step_control={\"max_halvings\":0,\"max_stretch\":1e6}"};
    *c = (curtain){.sim = bench_sim("two-corners", overrides, sizeof(overrides) / sizeof(overrides[0]), 1), .h = h};
    if (!c->sim)
    {
        return WEFT_BAD_INPUT;
    }
    c->w = &c->sim->world;
    element_group* springs = element_groups_find(&c->w->model->groups, &kind_spring);
    for (int e = 0; e < springs->count; e++)
    {
        springs->rest[SPRING_STRIDE * (size_t)e + SPRING_STIFFNESS] = k;
    }
    return curtain_methods(c);
}

weft_status curtain_advance(curtain* c, int frames)
{
    weft_status status = WEFT_OK;
    for (int n = 0; n < frames && status == WEFT_OK; n++)
    {
        status = weft_sim_step(c->sim, NULL, NULL);
    }
    return status;
}

// g / h^2 at the candidate, less that of its elements at rest.
static double value_of(const curtain* c)
{
    const world* w = c->w;
    const element_group* springs = element_groups_find(&w->model->groups, &kind_spring);
    double sum = 0.0;
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        vec3 change = v3_sub(w->v_next[i], w->state.v[i]);
        sum += 0.5 * w->model->mass[i] * v3_dot(change, change) -
               v3_dot(w->model->external[i], v3_scale(c->h, w->v_next[i]));
    }
    for (int e = 0; e < springs->count; e++)
    {
        const double* rest = springs->rest + SPRING_STRIDE * (size_t)e;
        const int* v = springs->vertices + 2 * (size_t)e;
        double longer = v3_length(v3_sub(w->x_next[v[1]], w->x_next[v[0]])) - rest[SPRING_LENGTH];
        sum += 0.5 * rest[SPRING_STIFFNESS] * longer * longer;
    }
    return sum;
}

// ---- one step, so far

static void choose(world* w, const char* method, const char* name, double value)
{
    w->settings.method[method_setting_find(method, name)] = value;
}

// The stages of one way up to its iterations, which are timed. The state stays. Newton not being done is no failure.
weft_status curtain_attempt(curtain* c, int way, int turns, double* seconds)
{
    world* w = c->w;
    bool newton = way >= NEWTON_PCG;
    const method_object* o = newton ? &w->fallback : &w->method;
    solver_object own = w->solver;
    c->stats = (weft_step_stats){0};
    w->stats = &c->stats;
    w->h = c->h;
    w->running = o->method;
    w->data = o->data;
    counters_begin(w);
    w->before = world_energy(w, w->state.x, w->state.v);
    choose(w, "newton", "iterations", turns);
    choose(w, "newton", "tolerance", 1e-12);
    choose(w, "newton", "hessian", 1);
    choose(w, "local-global", "iterations", turns);
    choose(w, "local-global", "acceleration", newton ? QUASI_NEWTON : way);
    w->solver = way == NEWTON_PCG ? c->pcg : way == NEWTON_CHOLESKY ? c->cholesky : own;
    weft_status status = WEFT_OK;
    for (const stage* s = o->method->stages; strcmp(s->name, "judge") != 0 && status == WEFT_OK; s++)
    {
        double begin = processor_seconds();
        status = s->run(w);
        *seconds = strcmp(s->name, newton ? "minimise" : "iterate") == 0 ? processor_seconds() - begin : *seconds;
    }
    c->pcg = way == NEWTON_PCG ? w->solver : c->pcg;
    c->cholesky = way == NEWTON_CHOLESKY ? w->solver : c->cholesky;
    w->solver = own;
    choose(w, "local-global", "iterations", REST);
    choose(w, "local-global", "acceleration", QUASI_NEWTON);
    return status == WEFT_NOT_CONVERGED ? WEFT_OK : status;
}

// g at y, and the least. After it errors of attempts at this step are known.
weft_status curtain_reference(curtain* c)
{
    world* w = c->w;
    double unused;
    TRY(curtain_attempt(c, QUASI_NEWTON, 2000, &unused));
    double turned = value_of(c);
    TRY(curtain_attempt(c, NEWTON_CHOLESKY, 500, &unused));
    c->least = fmin(turned, value_of(c));
    memcpy(w->v_next, w->state.v, (size_t)w->model->vertex_count * sizeof(vec3));
    world_prescribe(w, w->v_next);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->x_next[i] = v3_madd(w->state.x[i], c->h, w->v_next[i]);
    }
    c->start = value_of(c);
    c->elsewhere = turned - c->least > 1e-4 * (c->start - c->least);
    return WEFT_OK;
}

// Error and the best time of some rounds.
weft_status curtain_measure(curtain* c, int way, int turns, int rounds, double* error, double* seconds)
{
    *seconds = INFINITY;
    for (int k = 0; k < rounds; k++)
    {
        double took = 0.0;
        TRY(curtain_attempt(c, way, turns, &took));
        *seconds = fmin(*seconds, took);
    }
    *error = (value_of(c) - c->least) / (c->start - c->least);
    return WEFT_OK;
}

weft_status curtain_error(curtain* c, int way, int turns, double* error)
{
    double unused;
    return curtain_measure(c, way, turns, 1, error, &unused);
}

// Turns to an error, to a tenth: g never rises. TURNS_MOST: not within these.
weft_status curtain_turns_to(curtain* c, int way, double wanted, int* turns)
{
    double error = INFINITY;
    int low = 0, high = 1;
    for (; high < TURNS_MOST; low = high, high *= 2)
    {
        TRY(curtain_error(c, way, high, &error));
        if (error <= wanted)
        {
            break;
        }
    }
    while (high < TURNS_MOST && high - low > 1 && high - low > high / 10)
    {
        int middle = low + (high - low) / 2;
        TRY(curtain_error(c, way, middle, &error));
        *(error <= wanted ? &high : &low) = middle;
    }
    *turns = high;
    return WEFT_OK;
}
