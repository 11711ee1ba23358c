#include "bench/contact_run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "weft/cache.h"
#include "weft/inspect.h"

enum
{
    OVERRIDES_MAX = 32,
    CROSSINGS_MAX = 1000000, // of a frame
    CLOTHS_MAX = 16
};

// ---- the inspector beside a simulation

typedef struct watch
{
    int count; // cloths, then obstacles
    weft_inspector* inspector;
    vec3** x; // [count][vertices of the body]
    weft_squeezed_split* split;
    weft_squeezed *pairs, *closed; // of the last step; of any two bodies the first
    int pair_count, pair_capacity, closed_count, closed_capacity;
} watch;

static const mesh* body_mesh(const weft_sim* sim, int k)
{
    return k < sim->body_count ? &sim->bodies[k].rest : &sim->obstacles[k - sim->body_count].mesh;
}

static weft_status watch_open(const weft_sim* sim, int threads, watch* w)
{
    *w = (watch){.count = sim->body_count + sim->obstacle_count};
    w->x = MEM_NEW(w->count, vec3*);
    weft_inspect_body* bodies = MEM_NEW(w->count, weft_inspect_body);
    bool ok = w->x && bodies;
    for (int k = 0; k < w->count && ok; k++)
    {
        const mesh* m = body_mesh(sim, k);
        bodies[k] = (weft_inspect_body){.obstacle = k >= sim->body_count,
                                        .vertex_count = m->vertex_count,
                                        .rest = m->position,
                                        .triangle_count = m->triangle_count,
                                        .triangles = m->triangle};
        w->x[k] = MEM_NEW(m->vertex_count, vec3);
        ok = w->x[k];
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = threads;
    def.pair_limit = CROSSINGS_MAX;
    weft_status status = ok ? weft_inspector_create(&def, bodies, w->count, &w->inspector, NULL) : WEFT_NO_MEMORY;
    status = status == WEFT_OK ? weft_squeezed_split_create(bodies, w->count, &w->split) : status;
    mem_free(bodies);
    return status;
}

static void watch_close(watch* w)
{
    for (int k = 0; k < w->count && w->x; k++)
    {
        mem_free(w->x[k]);
    }
    mem_free(w->x);
    weft_inspector_destroy(w->inspector);
    weft_squeezed_split_destroy(w->split);
    mem_free(w->pairs);
    mem_free(w->closed);
}

static bool watch_knows(const watch* w, const weft_squeezed* pair)
{
    for (int k = 0; k < w->closed_count; k++)
    {
        if (memcmp(w->closed[k].body, pair->body, sizeof(pair->body)) == 0)
        {
            return true;
        }
    }
    return false;
}

// What a step lists as squeezed. A benchmark that inspects nothing has no use for it.
static weft_status watch_step(watch* w, const weft_step_stats* stats)
{
    if (!w->inspector)
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&w->pairs, &w->pair_capacity, stats->squeezed, sizeof(weft_squeezed)))
    {
        return WEFT_NO_MEMORY;
    }
    w->pair_count = stats->squeezed;
    for (int k = 0; k < stats->squeezed; k++)
    {
        w->pairs[k] = stats->squeezed_pairs[k];
        if (watch_knows(w, &w->pairs[k]))
        {
            continue;
        }
        if (!mem_grow((void**)&w->closed, &w->closed_capacity, w->closed_count + 1, sizeof(weft_squeezed)))
        {
            return WEFT_NO_MEMORY;
        }
        w->closed[w->closed_count++] = w->pairs[k];
    }
    return WEFT_OK;
}

// Positions as a cache holds them.
static weft_status watch_look(watch* w, weft_sim* sim, weft_inspection* out)
{
    for (int k = 0; k < w->count; k++)
    {
        if (k < sim->body_count)
        {
            weft_sim_positions(sim, k, w->x[k]);
            for (int i = 0; i < body_mesh(sim, k)->vertex_count; i++)
            {
                w->x[k][i] = v3_round(w->x[k][i]);
            }
            continue;
        }
        TRY(weft_sim_obstacle_positions(sim, k - sim->body_count, weft_sim_time(sim), w->x[k], NULL));
    }
    return weft_inspector_frame(w->inspector, (const weft_vec3* const*)w->x, out, NULL);
}

// ---- the simulation

typedef struct override_list
{
    const char* item[OVERRIDES_MAX];
    char text[OVERRIDES_MAX][CONTACT_TEXT];
    int count;
} override_list;

static void override_add(override_list* o, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void override_add(override_list* o, const char* format, ...)
{
    WEFT_ASSERT(o->count < OVERRIDES_MAX);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(o->text[o->count], CONTACT_TEXT, format, arguments);
    va_end(arguments);
    o->item[o->count] = o->text[o->count];
    o->count++;
}

static int cloth_count(const char* name)
{
    weft_scene* scene = NULL;
    weft_scene_cloth cloth;
    int count = 0;
    if (weft_scene_load(name, NULL, 0, &scene, NULL) == WEFT_OK)
    {
        while (count < CLOTHS_MAX && weft_scene_cloth_at(scene, count, &cloth) == WEFT_OK)
        {
            count++;
        }
    }
    weft_scene_destroy(scene);
    return count;
}

static void overrides_make(const contact_case* c, override_list* o)
{
    o->count = 0;
    for (int k = 0; k < cloth_count(c->scene) && (c->cells > 0 || c->tessellation); k++)
    {
        if (c->cells > 0)
        {
            override_add(o, "cloth.%d.mesh.grid.cells=%d", k, c->cells);
        }
        if (c->tessellation)
        {
            override_add(o, "cloth.%d.mesh.grid.tessellation=%s", k, c->tessellation);
        }
    }
    if (c->solver)
    {
        override_add(o, "solver.name=%s", c->solver);
    }
    if (c->friction >= 0.0)
    {
        override_add(o, "contact.friction=%.17g", c->friction);
    }
    for (int k = 0; k < c->set_count && o->count < OVERRIDES_MAX; k++)
    {
        override_add(o, "%s", c->sets[k]);
    }
}

static weft_status load(const contact_case* c, weft_sim** sim, int* frames, int* steps_per_frame)
{
    override_list overrides;
    weft_error error = {0};
    weft_scene* scene = NULL;
    overrides_make(c, &overrides);
    weft_status status = weft_scene_load(c->scene, overrides.item, overrides.count, &scene, &error);
    if (status == WEFT_OK)
    {
        *frames = c->frames >= 0 ? c->frames : weft_scene_frames(scene);
        *frames = c->seconds > 0.0 ? int_max(1, (int)lround(c->seconds * weft_scene_frame_rate(scene))) : *frames;
        *steps_per_frame = weft_scene_steps_per_frame(scene);
        status = weft_scene_create_sim(scene, c->threads, sim, &error);
    }
    status = status == WEFT_OK ? sim_build(*sim, &error) : status;
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s: %s\n", c->scene, error.message);
    }
    return status;
}

static weft_status jitter(const contact_case* c, weft_sim* sim)
{
    uint64_t draw = 0;
    for (int k = 0; k < sim->body_count && c->start > 0; k++)
    {
        int n = weft_sim_vertex_count(sim, k);
        vec3* x = MEM_NEW(n, vec3);
        if (!x)
        {
            return WEFT_NO_MEMORY;
        }
        for (int i = 0; i < n; i++)
        {
            x[i] = sim->world.state.x[sim->bodies[k].scene_vertex[i]];
            x[i].x += c->jitter * (2.0 * random_unit((uint64_t)c->start, draw++) - 1.0);
            x[i].y += c->jitter * (2.0 * random_unit((uint64_t)c->start, draw++) - 1.0);
            x[i].z += c->jitter * (2.0 * random_unit((uint64_t)c->start, draw++) - 1.0);
        }
        weft_status status = weft_sim_set_state(sim, k, x, NULL);
        mem_free(x);
        TRY(status);
    }
    return WEFT_OK;
}

double contact_seconds(const weft_step_stats* stats)
{
    double sum = 0.0;
    for (int k = 0; k < stats->stage_count; k++)
    {
        sum += bench_has("detect,constrain,respond", stats->stage_name[k]) ? stats->stage_s[k] : 0.0;
    }
    return sum;
}

static void add_step(const weft_sim* sim, const weft_step_stats* s, contact_totals* out)
{
    out->steps++;
    out->squeezed += s->squeezed;
    out->last_resort += s->last_resort;
    out->rejected += s->rejected;
    out->iterations += s->iterations;
    out->full_setups += s->level_count > 0 && sim->world.last_solve.refreshed == 0;
    out->step_s += s->step_s;
    out->solve_s += s->setup_s + s->solve_s;
    out->max_stretch = fmax(out->max_stretch, s->max_stretch);
    out->energy = s->energy;
    out->contact_s += contact_seconds(s);
}

static weft_status inspect_frame(watch* w, weft_sim* sim, contact_totals* out)
{
    weft_inspection found;
    TRY(watch_look(w, sim, &found));
    weft_squeezed_list list = {w->pair_count, w->pairs, w->closed_count, w->closed};
    int64_t squeezed;
    TRY(weft_squeezed_split_frame(w->split, &list, (const weft_vec3* const*)w->x, &found, &squeezed));
    out->squeezed_crossings += squeezed;
    int64_t bad = found.crossings + found.nonfinite;
    out->crossing_frame = bad > 0 && out->crossing_frame < 0 ? out->frames : out->crossing_frame;
    out->crossings += bad;
    return WEFT_OK;
}

static vec3 center_of_mass(const weft_sim* sim)
{
    vec3 sum = v3(0, 0, 0);
    double mass = 0.0;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        sum = v3_madd(sum, sim->model.mass[i], sim->world.state.x[i]);
        mass += sim->model.mass[i];
    }
    return v3_scale(1.0 / mass, sum);
}

typedef struct progress
{
    contact_step* each;
    void* context;
    int frames, steps_per_frame;
} progress;

// Not to the end: a step failed, as out->message says.
static weft_status run_frame(weft_sim* sim, const progress* p, watch* w, contact_totals* out)
{
    for (int k = 0; k < p->steps_per_frame; k++)
    {
        weft_step_stats stats;
        weft_error error = {0};
        if (weft_sim_step(sim, &stats, &error) != WEFT_OK)
        {
            snprintf(out->message, CONTACT_TEXT, "%.*s", CONTACT_TEXT - 1, error.message);
            return WEFT_OK;
        }
        add_step(sim, &stats, out);
        TRY(watch_step(w, &stats));
        if (p->each)
        {
            p->each(p->context, &stats);
        }
    }
    out->frames++;
    return WEFT_OK;
}

static weft_status simulate(const contact_case* c, weft_sim* sim, const progress* p, contact_totals* out)
{
    watch w = {0};
    weft_status status = c->inspect ? watch_open(sim, c->threads, &w) : WEFT_OK;
    status = status == WEFT_OK && c->inspect ? inspect_frame(&w, sim, out) : status;
    while (status == WEFT_OK && out->frames < p->frames)
    {
        status = run_frame(sim, p, &w, out);
        if (status != WEFT_OK || out->message[0])
        {
            break;
        }
        out->half_center = out->frames == p->frames / 2 ? center_of_mass(sim) : out->half_center;
        if (c->checkpoints)
        {
            weft_sim_checkpoint(sim);
        }
        status = c->inspect ? inspect_frame(&w, sim, out) : WEFT_OK;
    }
    out->completed = status == WEFT_OK && out->frames == p->frames;
    watch_close(&w);
    return status;
}

static weft_status copy_end(const contact_case* c, const weft_sim* sim)
{
    *c->end = MEM_NEW(weft_sim_vertex_count(sim, -1), vec3);
    for (int k = 0, first = 0; k < sim->body_count && *c->end; k++)
    {
        weft_sim_positions(sim, k, *c->end + first);
        first += weft_sim_vertex_count(sim, k);
    }
    return *c->end ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status contact_run(const contact_case* c, contact_step* each, void* context, contact_totals* out)
{
    *out = (contact_totals){.crossing_frame = -1};
    progress p = {each, context, 0, 0};
    weft_sim* sim = NULL;
    double begin = timer_now();
    weft_status status = load(c, &sim, &p.frames, &p.steps_per_frame);
    status = status == WEFT_OK ? jitter(c, sim) : status;
    if (status == WEFT_OK)
    {
        out->vertices = sim->model.vertex_count;
        for (int k = 0; k < sim->obstacle_count; k++)
        {
            out->obstacle_triangles += weft_sim_obstacle_triangle_count(sim, k);
        }
        out->start_energy = out->energy = weft_sim_energy(sim);
        out->start_center = center_of_mass(sim);
        status = simulate(c, sim, &p, out);
        out->center = center_of_mass(sim);
        status = status == WEFT_OK && c->end ? copy_end(c, sim) : status;
    }
    weft_sim_destroy(sim);
    out->seconds = timer_now() - begin;
    return status;
}

typedef struct key_text
{
    char* text;
    size_t size, length;
} key_text;

static void key_add(key_text* k, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void key_add(key_text* k, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(k->text + k->length, k->size - k->length, format, arguments);
    va_end(arguments);
    k->length = strlen(k->text);
}

void contact_key(const contact_case* c, char* out, size_t size)
{
    key_text k = {out, size, 0};
    key_add(&k, "%s cells %d frames %d %s %s friction %g start %d threads %d", c->scene, c->cells, c->frames,
            c->tessellation ? c->tessellation : "-", c->solver ? c->solver : "-", c->friction, c->start, c->threads);
    for (int i = 0; i < c->set_count; i++)
    {
        key_add(&k, " %s", c->sets[i]);
    }
}
