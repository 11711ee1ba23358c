// Pairs of bodies that contact leaves alone. Users say them by name; the list has places of bodies, as a body that
// comes later may have the name of one that was removed.
#include <string.h>

#include "sim/edits.h"

enum
{
    NAMES_MAX = 64 // of which a suggestion is chosen
};

// ---- bodies by number

int sim_body_number(const weft_sim* sim, body_ref ref)
{
    return ref.is_obstacle ? sim->body_count + ref.index : ref.index;
}

const char* sim_body_name(const weft_sim* sim, int number)
{
    return number < sim->body_count ? sim->bodies[number].name : sim->obstacles[number - sim->body_count].name;
}

static body_ref ref_of(const weft_sim* sim, int number)
{
    bool is_obstacle = number >= sim->body_count;
    return (body_ref){is_obstacle, is_obstacle ? number - sim->body_count : number};
}

static bool is_there(const weft_sim* sim, int number)
{
    body_ref ref = ref_of(sim, number);
    return ref.is_obstacle ? !sim->obstacles[ref.index].removed : !sim->bodies[ref.index].removed;
}

static weft_status find_body(const weft_sim* sim, const char* name, body_ref* out, weft_error* error)
{
    const char* names[NAMES_MAX];
    int count = 0;
    for (int k = 0; k < sim->body_count + sim->obstacle_count; k++)
    {
        if (is_there(sim, k) && strcmp(sim_body_name(sim, k), name) == 0)
        {
            *out = ref_of(sim, k);
            return WEFT_OK;
        }
        names[count] = sim_body_name(sim, k);
        count += is_there(sim, k) && count < NAMES_MAX - 1;
    }
    const char* near = suggest_name(name, names, count);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no cloth or obstacle `%.100s`%s%s%s", name,
                     near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static int vertex_count(const weft_sim* sim, body_ref ref)
{
    return ref.is_obstacle ? sim->obstacles[ref.index].mesh.vertex_count : sim->bodies[ref.index].rest.vertex_count;
}

// ---- the list

weft_status exclusion_check(const weft_sim* sim, const weft_exclusion* e, body_ref* first, body_ref* second,
                            weft_error* error)
{
    TRY(find_body(sim, e->first, first, error));
    TRY(find_body(sim, e->second, second, error));
    if (first->is_obstacle && second->is_obstacle)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "`%s` and `%s` are obstacles, which are never tested against each other: a pair needs a cloth",
                         e->first, e->second);
    }
    for (int k = 0; e->vertices && k < e->vertex_count; k++)
    {
        if (e->vertices[k] < 0 || e->vertices[k] >= vertex_count(sim, *first))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "there is no vertex %d in `%s`; its vertices run from 0 to %d", e->vertices[k], e->first,
                             vertex_count(sim, *first) - 1);
        }
    }
    return WEFT_OK;
}

bool exclusion_put(weft_sim* sim, exclusion e)
{
    const int* given = e.vertices;
    e.vertices = given ? MEM_NEW(int_max(e.vertex_count, 1), int) : NULL;
    if ((given && !e.vertices) ||
        !mem_grow((void**)&sim->exclusions, &sim->exclusion_capacity, sim->exclusion_count + 1, sizeof(exclusion)))
    {
        mem_free(e.vertices);
        return false;
    }
    given ? memcpy(e.vertices, given, (size_t)e.vertex_count * sizeof(int)) : NULL;
    sim->exclusions[sim->exclusion_count++] = e;
    return true;
}

weft_status exclusion_append(weft_sim* sim, const weft_exclusion* e, weft_error* error)
{
    exclusion lent = {.vertices = (int*)e->vertices, .vertex_count = e->vertices ? e->vertex_count : 0};
    TRY(exclusion_check(sim, e, &lent.first, &lent.second, error));
    return exclusion_put(sim, lent) ? WEFT_OK : edit_error(WEFT_NO_MEMORY, error);
}

void exclusions_cut(weft_sim* sim, int count)
{
    while (sim->exclusion_count > count)
    {
        mem_free(sim->exclusions[--sim->exclusion_count].vertices);
    }
}

static bool lists_vertex(const exclusion* e, int vertex)
{
    for (int k = 0; k < e->vertex_count; k++)
    {
        if (e->vertices[k] == vertex)
        {
            return true;
        }
    }
    return false;
}

bool sim_is_excluded(const weft_sim* sim, int body, int vertex, int other)
{
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        int first = sim_body_number(sim, e->first), second = sim_body_number(sim, e->second);
        bool forward = first == body && second == other, backward = first == other && second == body;
        if (e->vertices ? forward && lists_vertex(e, vertex) : forward || backward)
        {
            return true;
        }
    }
    return false;
}

// ---- public

weft_status weft_sim_exclude(weft_sim* sim, const weft_exclusion* e, weft_error* error)
{
    WEFT_ASSERT(sim && e && e->first && e->second && e->vertex_count >= 0);
    if (!sim->built)
    {
        return exclusion_append(sim, e, error);
    }
    TRY(edits_begin(sim, error));
    int before = sim->exclusion_count;
    TRY(exclusion_append(sim, e, error));
    weft_status status = generation_next(sim, true, error);
    status == WEFT_OK ? (void)0 : exclusions_cut(sim, before);
    sim->edits.begun |= status == WEFT_OK;
    return status;
}

int weft_sim_exclusion_count(const weft_sim* sim)
{
    return sim->exclusion_count;
}

weft_exclusion weft_sim_exclusion_at(const weft_sim* sim, int index)
{
    WEFT_ASSERT(sim && index >= 0 && index < sim->exclusion_count);
    const exclusion* e = &sim->exclusions[index];
    return (weft_exclusion){sim_body_name(sim, sim_body_number(sim, e->first)),
                            sim_body_name(sim, sim_body_number(sim, e->second)), e->vertices, e->vertex_count};
}
