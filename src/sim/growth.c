// Obstacles that grow: cloth that crosses a body at the start is outside of it when the body is thin enough. So contact
// has the body that thin at first, and lets it grow to where it is:
//
//   felt(t) = round(x(t) + (1 - s) thin),  s = smooth((t - from) / time)
//
// Everything else, pins and files too, sees x(t). Cloth is pushed by what grows as by any body that moves, and never
// pulled through. It weighs nothing meanwhile, slides, and moves as in oil, as cloth that is sewn: it would fall off
// shoulders that are not there yet. Which obstacles do, and how (start/start_grow.c), is in checkpoints, the section
// `growth`.
#include "core/pack.h"
#include "sim/edits.h"

static const section_shape growth_shape = {"growth", 2, 1, -1};

static double left_at(const obstacle* o, double time)
{
    const obstacle_growth* g = &o->growth;
    double s = g->thin ? fmin(fmax((time - g->from) / g->time, 0.0), 1.0) : 1.0;
    return 1.0 - s * s * (3.0 - 2.0 * s);
}

void growth_finish(obstacle_growth* g)
{
    mem_free(g->thin);
    mem_free(g->lifts);
    *g = (obstacle_growth){0};
}

void obstacle_grow(obstacle* o, obstacle_growth how)
{
    growth_finish(&o->growth);
    o->growth = how;
}

weft_status sim_grown_at(void* user, double time, vec3* out, weft_error* error)
{
    weft_sim* sim = user;
    TRY(obstacles_at(sim, time, out, error));
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        double left = left_at(o, time);
        for (int i = 0; i < o->mesh.vertex_count && left > 0.0; i++)
        {
            out[o->first + i] = v3_round(v3_madd(out[o->first + i], left, o->growth.thin[i]));
        }
    }
    return WEFT_OK;
}

bool sim_grows(const void* user, int number, double time)
{
    const weft_sim* sim = user;
    int index = number - sim->body_count;
    return index >= 0 && index < sim->obstacle_count && left_at(&sim->obstacles[index], time) > 0.0;
}

bool growth_lifts(const weft_sim* sim, int index)
{
    bool found = false;
    for (int k = 0; k < sim->obstacle_count && !found; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        for (int j = 0; j < o->growth.lift_count && !found; j++)
        {
            found = o->growth.lifts[j] == index && left_at(o, weft_sim_time(sim)) > 0.0;
        }
    }
    return found;
}

// ---- checkpoints

weft_status growth_save(const weft_sim* sim, section_writer* out, weft_error* error)
{
    packer p = {0};
    bool any = false;
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        const obstacle* o = &sim->obstacles[k];
        bool grows = left_at(o, weft_sim_time(sim)) > 0.0;
        const vec3* thin = o->growth.thin;
        const double times[2] = {o->growth.from, o->growth.time}, *at = times;
        const int* lifts = o->growth.lifts;
        int count = grows ? o->mesh.vertex_count : 0, two = grows ? 2 : 0, lifted = grows ? o->growth.lift_count : 0;
        any = any || grows;
        PACK_ARRAY(&p, &thin, &count);
        PACK_ARRAY(&p, &at, &two);
        PACK_ARRAY(&p, &lifts, &lifted);
    }
    weft_status status = p.failed ? edit_error(WEFT_NO_MEMORY, error) : WEFT_OK;
    if (any && status == WEFT_OK)
    {
        section_put(out, growth_shape.name, growth_shape.version, 1, p.size, p.bytes);
    }
    pack_finish(&p);
    return status;
}

// The file is untrusted: every number is looked at.
static bool is_sound(const obstacle* o, const vec3* thin, int count, const double* times, int two)
{
    bool good = !o->removed && count == o->mesh.vertex_count && two == 2 && isfinite(times[0]) && isfinite(times[1]) &&
                times[1] > 0.0;
    for (int i = 0; i < count && good; i++)
    {
        good = v3_is_finite(thin[i]) && v3_length(thin[i]) < 1e12;
    }
    return good;
}

static bool are_bodies(const weft_sim* sim, const int* list, int count)
{
    bool good = count >= 0 && count <= sim->body_count;
    for (int k = 0; k < count && good; k++)
    {
        good = list[k] >= 0 && list[k] < sim->body_count;
    }
    return good;
}

static weft_status load_one(const weft_sim* sim, const obstacle* o, packer* p, obstacle_growth* out, bool* good)
{
    const vec3* thin = NULL;
    const double* times = NULL;
    const int* lifts = NULL;
    int count = 0, two = 0, lifted = 0;
    PACK_ARRAY(p, &thin, &count);
    PACK_ARRAY(p, &times, &two);
    PACK_ARRAY(p, &lifts, &lifted);
    bool any = !p->failed && thin && times && count + two > 0;
    *good = !p->failed && (!any || (is_sound(o, thin, count, times, two) && are_bodies(sim, lifts, lifted)));
    if (!any || !*good)
    {
        return WEFT_OK;
    }
    *out = (obstacle_growth){.thin = MEM_NEW(count, vec3),
                             .from = times[0],
                             .time = times[1],
                             .lifts = MEM_NEW(int_max(lifted, 1), int),
                             .lift_count = lifted};
    for (int i = 0; i < count && out->thin; i++)
    {
        out->thin[i] = thin[i];
    }
    for (int k = 0; k < lifted && out->lifts; k++)
    {
        out->lifts[k] = lifts[k];
    }
    return out->thin && out->lifts ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status growth_load(const weft_sim* sim, obstacle_growth** out, sections* from, weft_error* error)
{
    const section* found;
    *out = MEM_NEW(int_max(sim->obstacle_count, 1), obstacle_growth);
    TRY(*out ? WEFT_OK : edit_error(WEFT_NO_MEMORY, error));
    TRY(sections_take(from, &growth_shape, &found, error));
    if (!found)
    {
        return WEFT_OK;
    }
    packer p = pack_reader(found->items, found->count);
    bool good = true;
    for (int k = 0; k < sim->obstacle_count && good; k++)
    {
        weft_status status = load_one(sim, &sim->obstacles[k], &p, &(*out)[k], &good);
        TRY(status == WEFT_OK ? WEFT_OK : edit_error(status, error));
    }
    return good && p.at == p.size ? WEFT_OK : sections_cannot_be(from, "`growth` that is none of a run", error);
}

void growth_take(weft_sim* sim, obstacle_growth* list)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        obstacle_grow(&sim->obstacles[k], list[k]);
    }
    mem_free(list);
}

void growth_free(const weft_sim* sim, obstacle_growth* list)
{
    for (int k = 0; k < sim->obstacle_count && list; k++)
    {
        growth_finish(&list[k]);
    }
    mem_free(list);
}
