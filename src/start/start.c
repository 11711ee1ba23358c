// A simulation with contact must start without crossings: the inspector says so before the first step. What crosses is
// refused with the pairs, or untangled where that is asked for. Pairs of bodies that are excluded may cross. What
// touches without crossing is parted (touching.c).
#include <string.h>

#include "start/start.h"

enum
{
    NAMED_MAX = 4,           // pairs that the sentence lists
    CROSSINGS_MAX = 1000000, // that are looked at
};

// ---- the bodies

static weft_status look_fill(start_look* look, weft_inspect_body* bodies, weft_error* error)
{
    weft_sim* sim = look->sim;
    for (int k = 0; k < look->body_count; k++)
    {
        const mesh* m = look->meshes[k];
        bodies[k] = (weft_inspect_body){.obstacle = k >= sim->body_count,
                                        .vertex_count = m->vertex_count,
                                        .triangle_count = m->triangle_count,
                                        .triangles = m->triangle,
                                        .segment_count = m->segment_count,
                                        .segments = m->segment};
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = sim->def.worker_count;
    def.tasks = sim->def.tasks;
    def.pair_limit = CROSSINGS_MAX;
    def.crossing_limit = CROSSINGS_MAX;
    def.crossings_only = 1;
    return weft_inspector_create(&def, bodies, look->body_count, &look->inspector, error);
}

// Where there is none. It is as large as ten meshes, so that it goes when nothing crosses (look_blink).
static weft_status look_sharpen(start_look* look, weft_error* error)
{
    if (look->inspector)
    {
        return WEFT_OK;
    }
    weft_inspect_body* bodies = MEM_NEW(look->body_count, weft_inspect_body);
    weft_status status = bodies ? look_fill(look, bodies, error) : WEFT_NO_MEMORY;
    mem_free(bodies);
    return status;
}

static void look_blink(start_look* look)
{
    weft_inspector_destroy(look->inspector);
    look->inspector = NULL;
}

static weft_status look_take(start_look* look, weft_error* error)
{
    weft_sim* sim = look->sim;
    for (int k = 0; k < look->body_count; k++)
    {
        look->meshes[k] = k < sim->body_count ? &sim->bodies[k].rest : &sim->obstacles[k - sim->body_count].mesh;
        look->first_vertex[k + 1] = look->first_vertex[k] + look->meshes[k]->vertex_count;
    }
    TRY(weft_sim_collider_positions(sim, look->x, error));
    for (int i = 0; i < look->vertex_count; i++)
    {
        look->x[i] = v3_round(look->x[i]);
    }
    return WEFT_OK;
}

weft_status start_look_open(start_look* look, weft_sim* sim, weft_error* error)
{
    *look = (start_look){.sim = sim, .body_count = sim->body_count + sim->obstacle_count};
    look->vertex_count = weft_sim_collider_vertex_count(sim);
    look->first_vertex = MEM_NEW(look->body_count + 1, int);
    look->meshes = MEM_NEW(look->body_count, const mesh*);
    look->positions = MEM_NEW(look->body_count, const vec3*);
    look->x = MEM_NEW(look->vertex_count, vec3);
    bool room = look->first_vertex && look->meshes && look->positions && look->x;
    return room ? look_take(look, error) : WEFT_NO_MEMORY;
}

void start_look_close(start_look* look)
{
    weft_inspector_destroy(look->inspector);
    mem_free(look->first_vertex);
    mem_free(look->meshes);
    mem_free(look->positions);
    mem_free(look->x);
    mem_free(look->pairs);
    *look = (start_look){0};
}

// ---- exclusions

bool start_is_excluded(const start_look* look, int body, int vertex, int other)
{
    return sim_is_excluded(look->sim, body, vertex, other);
}

bool start_is_segment(const start_look* look, const weft_crossing* c, int side)
{
    return c->triangle[side] >= look->meshes[c->body[side]]->triangle_count;
}

// A triangle or segment with one excluded vertex is left alone as a whole.
static bool pair_is_excluded(const start_look* look, const weft_crossing* c)
{
    for (int side = 0; side < 2 && look->sim->exclusion_count > 0; side++)
    {
        const mesh* m = look->meshes[c->body[side]];
        bool strand = start_is_segment(look, c, side);
        const int* corner = strand ? m->segment + 2 * (size_t)(c->triangle[side] - m->triangle_count)
                                   : m->triangle + 3 * (size_t)c->triangle[side];
        for (int k = 0; k < (strand ? 2 : 3); k++)
        {
            if (start_is_excluded(look, c->body[side], corner[k], c->body[1 - side]))
            {
                return true;
            }
        }
    }
    return false;
}

weft_status start_look_inspect(start_look* look, const vec3* x, weft_error* error)
{
    weft_inspection found;
    TRY(look_sharpen(look, error));
    for (int k = 0; k < look->body_count; k++)
    {
        look->positions[k] = x + look->first_vertex[k];
    }
    TRY(weft_inspector_frame(look->inspector, look->positions, &found, error));
    void* pairs = look->pairs;
    if (!mem_grow(&pairs, &look->pair_capacity, found.pair_count, sizeof(weft_crossing)))
    {
        return WEFT_NO_MEMORY;
    }
    look->pairs = pairs;
    look->pair_count = 0;
    for (int k = 0; k < found.pair_count; k++)
    {
        if (!pair_is_excluded(look, &found.pairs[k]))
        {
            look->pairs[look->pair_count++] = found.pairs[k];
        }
    }
    return WEFT_OK;
}

void start_hold(const start_look* look, unsigned char* held)
{
    const weft_sim* sim = look->sim;
    for (int b = 0; b < sim->body_count; b++)
    {
        for (int p = 0; p < sim->bodies[b].pin_count; p++)
        {
            const weft_pin* pin = &sim->bodies[b].pins[p];
            for (int k = 0; k < pin->vertex_count && pin->release > weft_sim_time(sim); k++)
            {
                bool held_fast = !pin->weights || pin->weights[k] >= 1.0;
                held[look->first_vertex[b] + pin->vertices[k]] |= held_fast;
            }
        }
    }
    int cloth_count = look->first_vertex[sim->body_count];
    memset(held + cloth_count, 1, (size_t)(look->vertex_count - cloth_count));
}

// ---- the verdict

weft_status start_refuse(const start_look* look, const char* what, const char* remedy, weft_error* error)
{
    char text[640];
    size_t used = 0;
    for (int k = 0; k < look->pair_count && k < NAMED_MAX; k++)
    {
        const weft_crossing* c = &look->pairs[k];
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s %s %d of `%.48s` %s %s%d of `%.48s`", k > 0 ? "," : "",
            start_is_segment(look, c, 0) ? "segment" : "triangle", c->triangle[0], sim_body_name(look->sim, c->body[0]),
            c->kind == WEFT_CROSSING_NESTED ? "inside" : "with", start_is_segment(look, c, 1) ? "segment " : "",
            c->triangle[1], sim_body_name(look->sim, c->body[1]));
    }
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s:%s%s (%d pair%s in all); %s", what, text,
                     look->pair_count > NAMED_MAX ? ", ..." : "", look->pair_count, look->pair_count == 1 ? "" : "s",
                     remedy);
}

static weft_status look_untangle(start_look* look, weft_untangling* out, weft_error* error)
{
    bool others = false; // which untangling could push sheets into, and does not move as it should
    for (int k = 0; k < look->body_count; k++)
    {
        others = others || look->meshes[k]->form != MESH_SHEET;
    }
    return others ? start_refuse(look,
                                 "the scene starts with crossings, and one with bodies that are no sheets is not "
                                 "untangled yet",
                                 "move the bodies apart, let \"initial_contact\": \"settle\" part them while the "
                                 "scene runs, or leave a pair alone with contact.exclude",
                                 error)
                  : untangle(look, out, error);
}

static weft_status look_judge(start_look* look, start_way way, start_layers layers, weft_untangling* out,
                              weft_error* error)
{
    TRY(start_look_inspect(look, look->x, error));
    out->crossings = look->pair_count;
    out->settles = way == START_SETTLE;
    if (way == START_SETTLE && look->pair_count > 0)
    {
        // What touches exactly has no side either, and what is to the wrong one would be called new.
        TRY(start_part(look, true, error));
        TRY(look_take(look, error));
        TRY(start_look_inspect(look, look->x, error));
        out->crossings = look->pair_count;
    }
    if (way == START_SETTLE)
    {
        return look->pair_count > 0 || layers.count > 1 ? start_settle(look, layers, error) : WEFT_OK;
    }
    if (look->pair_count == 0)
    {
        return WEFT_OK;
    }
    return way == START_RESOLVE
               ? look_untangle(look, out, error)
               : start_refuse(look, "the scene starts with crossings",
                              "move the bodies apart, let \"initial_contact\": \"resolve\" untangle them or "
                              "\"settle\" part them while the scene runs, or leave a pair alone with contact.exclude",
                              error);
}

weft_status start_judge(weft_sim* sim, start_way way, start_layers layers, weft_untangling* out, weft_error* error)
{
    weft_untangling unused;
    start_look look;
    out = out ? out : &unused;
    *out = (weft_untangling){.body = -1, .vertex = -1};
    weft_status status = start_look_open(&look, sim, error);
    status = status == WEFT_OK ? look_judge(&look, way, layers, out, error) : status;
    bool parts = status == WEFT_OK && (way != START_SETTLE || out->crossings == 0);
    parts ? look_blink(&look) : (void)0;
    status = parts ? start_part(&look, false, error) : status;
    start_look_close(&look);
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}

weft_status weft_sim_untangle(weft_sim* sim, weft_untangling* out, weft_error* error)
{
    WEFT_ASSERT(sim);
    return start_judge(sim, START_RESOLVE, (start_layers){0}, out, error);
}

weft_status weft_sim_settle(weft_sim* sim, const int* layers, int layer_count, weft_untangling* out, weft_error* error)
{
    WEFT_ASSERT(sim && layer_count >= 0 && (layers || layer_count == 0));
    for (int k = 0; k < layer_count; k++)
    {
        WEFT_ASSERT(layers[k] >= 0 && layers[k] < sim->body_count + sim->obstacle_count);
    }
    return start_judge(sim, START_SETTLE, (start_layers){layers, layer_count}, out, error);
}
