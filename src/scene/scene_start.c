// A scene with contact must start without crossings: the inspector says so before the first step. Pairs of bodies that
// the scene excludes may cross.
#include <string.h>

#include "scene/scene_data.h"
#include "sim/sim.h"
#include "weft/inspect.h"

enum
{
    NAMED_MAX = 3 // pairs that the sentence lists
};

typedef struct start_look
{
    weft_sim* sim;
    int body_count;
    weft_inspect_body* bodies; // [body_count]
    vec3** x;                  // [body_count]
} start_look;

static const char* name_of(const weft_sim* sim, int body)
{
    return body < sim->body_count ? sim->bodies[body].name : sim->obstacles[body - sim->body_count].name;
}

static weft_status look_open(start_look* look, weft_error* error)
{
    weft_sim* sim = look->sim;
    look->body_count = sim->body_count + sim->obstacle_count;
    look->bodies = MEM_NEW(look->body_count, weft_inspect_body);
    look->x = MEM_NEW(look->body_count, vec3*);
    for (int k = 0; k < look->body_count; k++)
    {
        bool cloth = k < sim->body_count;
        const mesh* m = cloth ? &sim->bodies[k].rest : &sim->obstacles[k - sim->body_count].mesh;
        if (!look->bodies || !look->x || !(look->x[k] = MEM_NEW(m->vertex_count, vec3)))
        {
            return WEFT_NO_MEMORY;
        }
        look->bodies[k] = (weft_inspect_body){.obstacle = !cloth,
                                              .vertex_count = m->vertex_count,
                                              .triangle_count = m->triangle_count,
                                              .triangles = m->triangle};
        TRY(cloth ? WEFT_OK : obstacle_positions(&sim->obstacles[k - sim->body_count], 0.0, look->x[k], error));
        for (int i = 0; i < m->vertex_count && cloth; i++)
        {
            look->x[k][i] = v3_round(sim->bodies[k].start[i]);
        }
    }
    return WEFT_OK;
}

static void look_close(start_look* look)
{
    for (int k = 0; k < look->body_count && look->x; k++)
    {
        mem_free(look->x[k]);
    }
    mem_free(look->x);
    mem_free(look->bodies);
}

static bool is_excluded(const weft_sim* sim, const char* a, const char* b)
{
    for (int k = 0; k < sim->exclusion_count; k++)
    {
        const exclusion* e = &sim->exclusions[k];
        if ((strcmp(e->first, a) == 0 && strcmp(e->second, b) == 0) ||
            (strcmp(e->first, b) == 0 && strcmp(e->second, a) == 0))
        {
            return true;
        }
    }
    return false;
}

// The first pairs, in words; returns how many there are that the scene does not exclude.
static int list_crossings(const weft_sim* sim, const weft_inspection* found, char* text, size_t size)
{
    int count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < found->pair_count; k++)
    {
        const weft_crossing* c = &found->pairs[k];
        const char *a = name_of(sim, c->body[0]), *b = name_of(sim, c->body[1]);
        if (is_excluded(sim, a, b))
        {
            continue;
        }
        if (count++ < NAMED_MAX)
        {
            used += (size_t)snprintf(text + used, size - used, "%s triangle %d of `%.60s` with %d of `%.60s`",
                                     count > 1 ? "," : "", c->triangle[0], a, c->triangle[1], b);
        }
    }
    return count;
}

static weft_status look_judge(const start_look* look, weft_inspector* inspector, weft_error* error)
{
    weft_inspection found;
    TRY(weft_inspector_frame(inspector, (const weft_vec3* const*)look->x, &found, error));
    char text[512];
    int count = list_crossings(look->sim, &found, text, sizeof(text));
    if (count == 0)
    {
        return WEFT_OK;
    }
    return error_set(
        error, WEFT_BAD_INPUT, NULL, 0,
        "the scene starts with crossings:%s%s (%d listed by the inspector); move the bodies apart, or leave "
        "the pair alone with contact.exclude",
        text, count > NAMED_MAX ? ", ..." : "", count);
}

weft_status scene_check_start(weft_sim* sim, weft_error* error)
{
    if (sim->obstacle_count == 0)
    {
        return WEFT_OK;
    }
    start_look look = {.sim = sim};
    weft_inspector* inspector = NULL;
    weft_status status = look_open(&look, error);
    if (status == WEFT_OK)
    {
        weft_inspect_def def = weft_inspect_def_default();
        def.worker_count = sim->def.worker_count;
        def.tasks = sim->def.tasks;
        status = weft_inspector_create(&def, look.bodies, look.body_count, &inspector, error);
    }
    status = status == WEFT_OK ? look_judge(&look, inspector, error) : status;
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    weft_inspector_destroy(inspector);
    look_close(&look);
    return status;
}
