#define _POSIX_C_SOURCE 200809L
#include "bench/thesis_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <time.h>

#include "bench/common.h"
#include "bench/thesis.h"
#include "math/vec.h"

enum
{
    KEY_MAX = 512,
    TEXT_MAX = 2048
};

// ---- options

// The thesis's model and methods, where this build has them.
static const char* listed(weft_list_kind kind, const char* wanted, const char* other)
{
    const char *name, *summary;
    for (int k = 0; weft_list(kind, k, &name, &summary) == WEFT_OK; k++)
    {
        if (strcmp(name, wanted) == 0)
        {
            return wanted;
        }
    }
    return other;
}

void thesis_options_read(int argc, char** argv, bool json, const char* scenes, const char* method, double side,
                         thesis_options* out)
{
    bench_known(argc, argv,
                "--sets= --share= --seed= --seconds= --side= --cells-max= --scenes= --model= --method= --threads= "
                "--rounds= --energy-every= --out= --log= --fresh");
    *out = (thesis_options){
        .scenes = bench_words(argc, argv, "--scenes", scenes, "corners,sphere,table,ground"),
        .model = bench_text(argc, argv, "--model", listed(WEFT_LIST_MODELS, "choi-ko", "hooke")),
        .method = bench_text(argc, argv, "--method", listed(WEFT_LIST_METHODS, method, "implicit-euler")),
        .out = bench_text(argc, argv, "--out", NULL),
        .sets = bench_count(argc, argv, "--sets", 500),
        .seed = bench_option(argc, argv, "--seed", 1),
        .cells_max = bench_count(argc, argv, "--cells-max", 80),
        .threads = bench_count(argc, argv, "--threads", 1),
        .rounds = bench_count(argc, argv, "--rounds", 3),
        .energy_every = bench_count(argc, argv, "--energy-every", 20),
        .share = bench_number(argc, argv, "--share", 0.04),
        .seconds = bench_number(argc, argv, "--seconds", 1.0),
        .side = bench_number(argc, argv, "--side", side),
        .json = json,
    };
    if (!(out->share > 0.0 && out->share <= 1.0))
    {
        bench_refuse(argc, argv, "--share is %g; it must be above 0 and at most 1", out->share);
    }
    if (!(out->seconds > 0.0 && out->seconds <= 100.0) || !(out->side >= 0.01 && out->side <= 20.0))
    {
        bench_refuse(argc, argv, "--seconds must be above 0 and at most 100, --side from 0.01 to 20 m");
    }
}

int thesis_set_count(const thesis_options* o)
{
    int count = (int)lround(o->share * o->sets);
    return count < 1 ? 1 : count;
}

// ---- parameters

static double pick(const thesis_options* o, int number, int column, const double* values, int count)
{
    double u = random_unit((uint64_t)o->seed, (uint64_t)number * 64 + (uint64_t)column);
    int at = (int)(u * count);
    return values[at < count ? at : count - 1];
}

thesis_set thesis_set_draw(const thesis_options* o, int number)
{
    static const double density[] = {0.05, 0.1, 0.2, 0.5}, stiffness[] = {300, 600, 1000, 2000, 3000},
                        bending[] = {1e-6, 1e-5, 1e-4}, damping[] = {0, 0.01, 0.1, 1, 10},
                        time_step[] = {0.005, 0.01, 0.015, 0.02};
    double sizes[16];
    int size_count = 0;
    for (int size = 5; size <= 80 && (size <= o->cells_max || size == 5); size += 5)
    {
        sizes[size_count++] = size;
    }
    int size = (int)pick(o, number, 0, sizes, size_count);
    thesis_set s = {.number = number, .cells = size - 1, .side = o->side};
    s.density = pick(o, number, 1, density, 4);
    s.stretch = pick(o, number, 2, stiffness, 5);
    s.shear = 0.5 * pick(o, number, 3, stiffness, 5);
    s.bending = pick(o, number, 4, bending, 3);
    s.damping = pick(o, number, 5, damping, 5) / s.stretch;
    s.time_step = pick(o, number, 6, time_step, 4);
    double spacing = o->side / size, mass = s.density * spacing * spacing;
    s.kappa = s.time_step / mass * (s.stretch * s.time_step + 2.0 * s.damping * s.stretch);
    return s;
}

// ---- scenes

// The thesis's configurations; sizes that it does not give are Weft's. The sheet starts off the sphere's middle, so
// that friction decides whether it stays. On the ground it starts on its edge, nearly upright.
static const struct
{
    const char *name, *placed, *rest;
} scenes[] = {
    {"corners", "\"pins\":[{\"where\":{\"corner\":[\"top-left\",\"top-right\"]}}]", "\"contact\":{\"enabled\":false}"},
    {"sphere", "\"transform\":{\"rotate\":[0,20,0],\"translate\":[0.08,0.27,0.04]}",
     "\"obstacles\":[{\"name\":\"sphere\",\"shape\":{\"sphere\":{\"radius\":0.25}}}]"},
    {"table", "\"transform\":{\"translate\":[0,0.03,0]}",
     "\"obstacles\":[{\"name\":\"table\",\"shape\":{\"box\":{\"size\":[0.6,0.04,0.6]}}}]"},
    {"ground", "\"transform\":{\"rotate\":[8,0,3],\"translate\":[0,0.17,0]}",
     "\"obstacles\":[{\"name\":\"ground\",\"shape\":{\"box\":{\"center\":[0,-0.1,0],\"size\":[4,0.2,4]}}}]"},
};

static weft_sim* make_sim(const thesis_options* o, const char* name, const thesis_set* s, const thesis_entrant* mover)
{
    char text[TEXT_MAX];
    int at = 0;
    for (int k = 0; k < (int)(sizeof(scenes) / sizeof(scenes[0])); k++)
    {
        at = strcmp(scenes[k].name, name) == 0 ? k : at;
    }
    snprintf(text, sizeof(text),
             "{\"time_step\":%.17g,\"method\":\"%s\",\"model\":\"%s\","
             "\"solver\":{\"name\":\"%s\",\"preconditioner\":\"%s\",\"tolerance\":%.17g},"
             "\"cloth\":[{\"name\":\"sheet\",\"mesh\":{\"grid\":{\"size\":[%.17g,%.17g],\"cells\":%d}},%s,"
             "\"material\":{\"density\":%.17g,\"stretch_warp\":%.17g,\"stretch_weft\":%.17g,\"shear\":%.17g,"
             "\"bending\":%.17g,\"damping\":%.17g}}],%s}",
             s->time_step, o->method, o->model, mover->solver, mover->preconditioner, 0.1 * sqrt(s->time_step), s->side,
             s->side, s->cells, scenes[at].placed, s->density, s->stretch, s->stretch, s->shear, s->bending, s->damping,
             scenes[at].rest);
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_parse(name, text, NULL, 0, &scene, &error);
    status = status == WEFT_OK ? weft_scene_create_sim(scene, o->threads, &sim, &error) : status;
    status = status == WEFT_OK ? sim_build(sim, &error) : status;
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s: %s\n", name, error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

// ---- one system

typedef struct contest
{
    const thesis_options* o;
    const thesis_entrant* list;
    int count, reference;
    solver_object solvers[THESIS_ENTRANTS];
    solver_object tight; // cholesky
    vec3 *guess, *x, *exact, *e, *Ae;
    double size;  // |(I - S) z - exact|_A
    double limit; // of the energy error that is waited for
    int reached;  // iteration that first was below it; -1: none
    const linear_system* system;
    bool has_exact;
} contest;

static double energy_distance(contest* a, const vec3* x)
{
    int n = a->system->A.pattern->row_count;
    for (int i = 0; i < n; i++)
    {
        a->e[i] = v3_sub(x[i], a->exact[i]);
    }
    bsr_multiply(NULL, a->solvers[0].options.cpu, &a->system->A, a->e, a->Ae);
    double sum = 0.0;
    for (int i = 0; i < n; i++)
    {
        sum += v3_dot(a->e[i], a->Ae[i]);
    }
    return sqrt(fmax(sum, 0.0));
}

static weft_status find_exact(contest* a)
{
    TRY(solver_object_solve(&a->tight, a->system, a->exact, NULL));
    filter_prescribed(a->system, a->x);
    a->size = energy_distance(a, a->x);
    a->has_exact = a->size > 0.0;
    return WEFT_OK;
}

static void watch(void* context, int iteration, double delta, const vec3* x, const vec3* r)
{
    (void)delta;
    (void)r;
    contest* a = context;
    if (a->reached < 0 && energy_distance(a, x) <= a->limit)
    {
        a->reached = iteration;
    }
}

// Iterations of an entrant until its energy error is that of the reference. Not of those that are split.
static weft_status count_equal(contest* a, int k, double* out)
{
    solve_options options = a->solvers[k].options;
    options.tolerance *= 1e-3;
    options.observe = watch;
    options.observe_context = a;
    solver_object tighter;
    weft_solve_stats stats = {0};
    weft_status status = solver_object_init(&tighter, a->list[k].solver, &options, NULL);
    a->reached = -1;
    memcpy(a->x, a->guess, (size_t)a->system->A.pattern->row_count * sizeof(vec3));
    status = status == WEFT_OK ? solver_object_solve(&tighter, a->system, a->x, &stats) : status;
    solver_object_finish(&tighter);
    *out += a->reached >= 0 ? a->reached : stats.iterations;
    return status;
}

// Of the processor with one thread, which other processes do not disturb as much; else of the clock on the wall.
static double seconds_now(const contest* a)
{
    struct timespec t;
    clock_gettime(a->o->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// One entrant on one system: counts from any round, time from the best.
static weft_status solve_one(contest* a, int k, double* seconds, thesis_total* total, bool count)
{
    weft_solve_stats stats;
    memcpy(a->x, a->guess, (size_t)a->system->A.pattern->row_count * sizeof(vec3));
    double start = seconds_now(a);
    TRY(solver_object_solve(&a->solvers[k], a->system, a->x, &stats));
    *seconds = fmin(*seconds, seconds_now(a) - start);
    if (!count)
    {
        return WEFT_OK;
    }
    total->systems += 1.0;
    total->vertices = a->system->A.pattern->row_count;
    total->iterations += stats.iterations;
    total->row_products += stats.row_products;
    total->components += stats.components;
    for (int f = 0; f < a->system->filter_count; f++)
    {
        total->held += a->system->filter[f].direction_count == 3;
    }
    if (a->has_exact)
    {
        double error = energy_distance(a, a->x) / a->size;
        total->energy_systems += 1.0;
        total->energy_error += error * error;
        a->limit = k == a->reference ? energy_distance(a, a->x) : a->limit;
    }
    return WEFT_OK;
}

static weft_status solve_all(contest* a, bool equal, thesis_total* out)
{
    double seconds[THESIS_ENTRANTS];
    for (int k = 0; k < a->count; k++)
    {
        seconds[k] = INFINITY;
    }
    for (int round = 0; round < a->o->rounds; round++)
    {
        for (int k = 0; k < a->count; k++)
        {
            // The order turns, so that what the one before leaves in the caches is not always the same.
            int at = (k + round) % a->count;
            TRY(solve_one(a, at, &seconds[at], &out[at], round == 0));
        }
    }
    for (int k = 0; k < a->count; k++)
    {
        out[k].seconds += seconds[k];
        if (equal && a->has_exact && !a->list[k].join && strncmp(a->list[k].solver, "decomposed:", 11) != 0)
        {
            TRY(count_equal(a, k, &out[k].equal));
        }
    }
    return WEFT_OK;
}

// ---- a run

static weft_status contest_create(contest* a, const weft_sim* sim, const thesis_set* set)
{
    size_t n = (size_t)sim->model.vertex_count;
    a->guess = MEM_NEW(n, vec3);
    a->x = MEM_NEW(n, vec3);
    a->exact = MEM_NEW(n, vec3);
    a->e = MEM_NEW(n, vec3);
    a->Ae = MEM_NEW(n, vec3);
    if (!a->guess || !a->x || !a->exact || !a->e || !a->Ae)
    {
        return WEFT_NO_MEMORY;
    }
    solve_options options = {.tolerance = 1e-10, .pool = sim->pool, .cpu = sim->cpu};
    TRY(solver_object_init(&a->tight, "cholesky", &options, NULL));
    options.tolerance = 0.1 * sqrt(set->time_step); // tol^2 = 0.01 k
    for (int k = 0; k < a->count; k++)
    {
        options.preconditioner = a->list[k].preconditioner;
        options.variant = a->list[k].variant;
        options.join = a->list[k].join;
        TRY(solver_object_init(&a->solvers[k], a->list[k].solver, &options, NULL));
    }
    return WEFT_OK;
}

static void contest_finish(contest* a)
{
    for (int k = 0; k < a->count; k++)
    {
        solver_object_finish(&a->solvers[k]);
    }
    solver_object_finish(&a->tight);
    mem_free(a->guess);
    mem_free(a->x);
    mem_free(a->exact);
    mem_free(a->e);
    mem_free(a->Ae);
}

// The system that the next step solves first, and the guess that it starts from.
static weft_status next_system(weft_sim* sim, vec3* guess, linear_system* out)
{
    world* w = &sim->world;
    weft_step_stats stats = {0};
    w->stats = &stats;
    w->h = w->settings.time_step * (STEP_TICKS >> w->state.halvings) / STEP_TICKS;
    w->time = time_at(w, 0);
    weft_status status = world_first_system(w);
    w->stats = NULL;
    *out = world_system(w, w->rhs, w->z);
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        guess[i] = v3_scale(w->h, w->state.acceleration[i]);
    }
    return status;
}

static weft_status run_steps(contest* a, weft_sim* sim, const thesis_set* set, bool equal, thesis_total* out)
{
    int steps = (int)ceil(a->o->seconds / set->time_step - 1e-9);
    for (int step = 0; step < steps; step++)
    {
        linear_system system;
        TRY(next_system(sim, a->guess, &system));
        a->system = &system;
        a->has_exact = false;
        if (step % a->o->energy_every == a->o->energy_every / 2)
        {
            TRY(find_exact(a));
        }
        TRY(solve_all(a, equal, out));
        thesis_clock clock;
        TRY(thesis_step(sim, NULL, NULL, &clock));
        for (int k = 0; k < a->count; k++)
        {
            out[k].rest_s += clock.whole_s - clock.solve_s;
        }
    }
    return WEFT_OK;
}

weft_status thesis_run(const thesis_options* o, const char* scene, const thesis_set* set, const thesis_entrant* list,
                       int count, int reference, bool equal, thesis_total* out)
{
    WEFT_ASSERT(count <= THESIS_ENTRANTS);
    memset(out, 0, (size_t)count * sizeof(*out));
    contest a = {.o = o, .list = list, .count = count, .reference = reference};
    weft_sim* sim = make_sim(o, scene, set, &list[reference]);
    weft_status status = sim ? contest_create(&a, sim, set) : WEFT_BAD_INPUT;
    status = status == WEFT_OK ? run_steps(&a, sim, set, equal, out) : status;
    contest_finish(&a);
    weft_sim_destroy(sim);
    for (int k = 0; k < count; k++)
    {
        out[k].energy_error = out[k].energy_systems > 0.0 ? sqrt(out[k].energy_error / out[k].energy_systems) : NAN;
    }
    return status;
}

// ---- the log

static void key_of(const thesis_options* o, const char* scene, const thesis_set* s, const thesis_entrant* e, char* key)
{
    snprintf(key, KEY_MAX,
             "%s %s seed %d set %d cells %d side %g density %g stretch %g shear %g bending %g damping %g k %g model %s "
             "method %s seconds %g threads %d rounds %d every %d rest",
             scene, e->name, o->seed, s->number, s->cells, s->side, s->density, s->stretch, s->shear, s->bending,
             s->damping, s->time_step, o->model, o->method, o->seconds, o->threads, o->rounds, o->energy_every);
}

static bool read_total(const thesis_options* o, const char* key, thesis_total* t)
{
    const char* line = results_find(&o->log, key);
    *t = (thesis_total){.systems = results_number(line, "systems"),
                        .vertices = results_number(line, "vertices"),
                        .iterations = results_number(line, "iterations"),
                        .row_products = results_number(line, "row_products"),
                        .seconds = results_number(line, "seconds"),
                        .rest_s = results_number(line, "rest_s"),
                        .components = results_number(line, "components"),
                        .held = results_number(line, "held"),
                        .energy_systems = results_number(line, "energy_systems"),
                        .energy_error = results_number(line, "energy_error"),
                        .equal = results_number(line, "equal")};
    return line != NULL;
}

static weft_status write_total(thesis_options* o, const char* key, const thesis_total* t)
{
    char error[32];
    return results_add(
        &o->log, key,
        "\"systems\":%.0f,\"vertices\":%.0f,\"iterations\":%.0f,\"row_products\":%.0f,\"seconds\":%.9g,"
        "\"rest_s\":%.9g,\"components\":%.0f,\"held\":%.0f,\"energy_systems\":%.0f,\"energy_error\":%s,\"equal\":%.0f",
        t->systems, t->vertices, t->iterations, t->row_products, t->seconds, t->rest_s, t->components, t->held,
        t->energy_systems, results_json(t->energy_error, error), t->equal);
}

weft_status thesis_measure(thesis_options* o, const char* scene, const thesis_set* set, const thesis_entrant* list,
                           int count, int reference, bool equal, thesis_total* out)
{
    char key[KEY_MAX];
    bool there = true;
    for (int k = 0; k < count; k++)
    {
        key_of(o, scene, set, &list[k], key);
        there = read_total(o, key, &out[k]) && there;
    }
    if (there)
    {
        return WEFT_OK;
    }
    fprintf(stderr, "%s, set %d: %d x %d, kappa %.3g\n", scene, set->number, set->cells + 1, set->cells + 1,
            set->kappa);
    TRY(thesis_run(o, scene, set, list, count, reference, equal, out));
    for (int k = 0; k < count; k++)
    {
        key_of(o, scene, set, &list[k], key);
        TRY(write_total(o, key, &out[k]));
    }
    return WEFT_OK;
}

// ---- CSV, figures

void thesis_csv_head(FILE* out)
{
    fprintf(out, "seed,share,scene,set,model,method,particles,side_m,density_kg_m2,stretch_N_m,shear_N_m,bending_N_m,"
                 "damping_s,time_step_s,kappa,solver,systems,iterations,row_products,solver_s,components,held,"
                 "energy_error,equal_energy_iterations,energy_systems\n");
}

void thesis_csv_line(const thesis_options* o, const char* scene, const thesis_set* s, const thesis_entrant* entrant,
                     const thesis_total* t, FILE* out)
{
    fprintf(out, "%d,%g,%s,%d,%s,%s,%.0f,%g,%g,%g,%g,%g,%g,%g,%.6g,%s,%.0f,%.0f,%.0f,%.6g,%.6g,%.6g,%.4g,%.0f,%.0f\n",
            o->seed, o->share, scene, s->number, o->model, o->method, t->vertices, s->side, s->density, s->stretch,
            s->shear, s->bending, s->damping, s->time_step, s->kappa, entrant->name, t->systems, t->iterations,
            t->row_products, t->seconds, t->components / t->systems, t->held / t->systems, t->energy_error, t->equal,
            t->energy_systems);
}

double thesis_exponent(const double* x, const double* y, int count)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    int used = 0;
    for (int k = 0; k < count; k++)
    {
        if (x[k] > 0.0 && y[k] > 0.0)
        {
            double a = log(x[k]), b = log(y[k]);
            sx += a;
            sy += b;
            sxx += a * a;
            sxy += a * b;
            used++;
        }
    }
    double spread = used * sxx - sx * sx;
    return used > 1 && spread > 0.0 ? (used * sxy - sx * sy) / spread : NAN;
}

static int compare_double(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double thesis_median(double* values, int count)
{
    qsort(values, (size_t)count, sizeof(double), compare_double);
    return count == 0 ? NAN : count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}
