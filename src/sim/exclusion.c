// Pairs of bodies that contact leaves alone, by name.
#include <string.h>

#include "sim/sim.h"

enum
{
    NAMES_MAX = 64 // of which a suggestion is chosen
};

void exclusion_finish(exclusion* e)
{
    mem_free(e->first);
    mem_free(e->second);
    mem_free(e->vertices);
    *e = (exclusion){0};
}

// Cloths, then obstacles.
static const char* body_name(const weft_sim* sim, int index)
{
    return index < sim->body_count ? sim->bodies[index].name : sim->obstacles[index - sim->body_count].name;
}

// Bodies that came later may have the name of one that was removed.
static bool is_of_scene(const weft_sim* sim, int index)
{
    const edits* e = &sim->edits;
    bool edited = e->begun || e->loading;
    return !edited || (index < sim->body_count ? index < e->body_count : index - sim->body_count < e->obstacle_count);
}

int sim_find_body(const weft_sim* sim, const char* name)
{
    for (int k = 0; k < sim->body_count + sim->obstacle_count; k++)
    {
        if (is_of_scene(sim, k) && strcmp(body_name(sim, k), name) == 0)
        {
            return k;
        }
    }
    return -1;
}

static weft_status find_body(const weft_sim* sim, const char* name, int* out, weft_error* error)
{
    *out = sim_find_body(sim, name);
    if (*out >= 0)
    {
        return WEFT_OK;
    }
    const char* names[NAMES_MAX];
    int count = sim->body_count + sim->obstacle_count;
    for (int k = 0; k < count; k++)
    {
        names[int_min(k, NAMES_MAX - 1)] = body_name(sim, k);
    }
    const char* near = suggest_name(name, names, int_min(count, NAMES_MAX));
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no cloth or obstacle `%.100s`%s%s%s", name,
                     near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int vertex_count(const weft_sim* sim, int index)
{
    return index < sim->body_count ? sim->bodies[index].rest.vertex_count
                                   : sim->obstacles[index - sim->body_count].mesh.vertex_count;
}

weft_status exclusion_check(const weft_sim* sim, const weft_exclusion* e, weft_error* error)
{
    int first, second;
    TRY(find_body(sim, e->first, &first, error));
    TRY(find_body(sim, e->second, &second, error));
    if (first >= sim->body_count && second >= sim->body_count)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "`%s` and `%s` are obstacles, which are never tested against each other: a pair needs a cloth",
                         e->first, e->second);
    }
    for (int k = 0; e->vertices && k < e->vertex_count; k++)
    {
        if (e->vertices[k] < 0 || e->vertices[k] >= vertex_count(sim, first))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "there is no vertex %d in `%s`; its vertices run from 0 to %d", e->vertices[k], e->first,
                             vertex_count(sim, first) - 1);
        }
    }
    return WEFT_OK;
}

static bool copy_exclusion(const weft_exclusion* from, exclusion* to)
{
    *to = (exclusion){.first = mem_strdup(from->first), .second = mem_strdup(from->second)};
    if (from->vertices)
    {
        to->vertex_count = from->vertex_count;
        to->vertices = MEM_NEW(int_max(from->vertex_count, 1), int);
        if (to->vertices)
        {
            memcpy(to->vertices, from->vertices, (size_t)from->vertex_count * sizeof(int));
        }
    }
    return to->first && to->second && (to->vertices || !from->vertices);
}

weft_status weft_sim_exclude(weft_sim* sim, const weft_exclusion* e, weft_error* error)
{
    WEFT_ASSERT(sim && e && e->first && e->second && e->vertex_count >= 0 && !sim->built);
    TRY(exclusion_check(sim, e, error));
    exclusion copy;
    if (!copy_exclusion(e, &copy) ||
        !mem_grow((void**)&sim->exclusions, &sim->exclusion_capacity, sim->exclusion_count + 1, sizeof(exclusion)))
    {
        exclusion_finish(&copy);
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    sim->exclusions[sim->exclusion_count++] = copy;
    return WEFT_OK;
}

int weft_sim_exclusion_count(const weft_sim* sim)
{
    return sim->exclusion_count;
}

weft_exclusion weft_sim_exclusion_at(const weft_sim* sim, int index)
{
    WEFT_ASSERT(sim && index >= 0 && index < sim->exclusion_count);
    const exclusion* e = &sim->exclusions[index];
    return (weft_exclusion){e->first, e->second, e->vertices, e->vertex_count};
}
