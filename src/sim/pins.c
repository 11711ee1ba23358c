// The pins of the model, from bodies and edits, and what they follow. A pin that follows an obstacle keeps each of its
// vertices where it is relative to the nearest face at the time when it was made: weights of the face's corners and a
// distance along its normal, as ties have them (constraint/tie.c).
#include <string.h>

#include "collide/broad.h"
#include "sim/sim.h"

static weft_status find_followed(const weft_sim* sim, const char* name, obstacle** out, weft_error* error)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        *out = &sim->obstacles[k];
        if (strcmp((*out)->name, name) == 0 && !(*out)->removed)
        {
            return WEFT_OK;
        }
    }
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "a pin follows `%.100s`, and there is no such obstacle", name);
}

// The place of a point over the nearest face that has an area; false: there is none.
static bool follow_make(const obstacle* o, const vec3* x, vec3 point, pin_follow* out)
{
    double least = INFINITY;
    for (int t = 0; t < o->mesh.triangle_count; t++)
    {
        const int* face = o->mesh.triangle + 3 * (size_t)t;
        const int own[2] = {0, -1}, corners[3] = {1, 2, 3};
        vec3 at[4] = {point, x[face[0]], x[face[1]], x[face[2]]};
        double distance = closest_vertex_face(at).distance;
        tie found;
        if (distance < least && tie_make(at, own, 1.0, corners, &found))
        {
            least = distance;
            *out = (pin_follow){.offset = found.offset};
            for (int k = 0; k < 3; k++)
            {
                out->face[k] = o->first + face[k];
                out->weight[k] = found.weight[k];
            }
        }
    }
    return isfinite(least);
}

// A pin, and where its vertices and what it follows were when it was made.
typedef struct pin_source
{
    const body* body;
    const weft_pin* def;
    const vec3* starts; // [vertex_count] of the pin's vertices, or NULL: where the cloth started
    double time;        // s
} pin_source;

static vec3 start_of(const pin_source* s, int k)
{
    return s->starts ? s->starts[k] : s->body->start[s->def->vertices[k]];
}

static weft_status add_follow(const weft_sim* sim, const pin_source* s, pin_motion* out, weft_error* error)
{
    obstacle* o = NULL;
    TRY(find_followed(sim, s->def->follow, &o, error));
    out->follow = MEM_NEW(s->def->vertex_count, pin_follow);
    vec3* x = MEM_NEW(o->mesh.vertex_count, vec3);
    weft_status status = out->follow && x ? obstacle_positions(o, s->time, x, error) : WEFT_NO_MEMORY;
    for (int k = 0; k < s->def->vertex_count && status == WEFT_OK; k++)
    {
        bool good = follow_make(o, x, start_of(s, k), &out->follow[k]);
        status = good ? WEFT_OK
                      : error_set(error, WEFT_BAD_INPUT, NULL, 0,
                                  "a pin of cloth `%s` follows `%s`, which has no face with an area", s->body->name,
                                  o->name);
    }
    mem_free(x);
    return status;
}

static weft_status add_pin(const weft_sim* sim, const pin_source* s, pin_set* out, weft_error* error)
{
    int motion;
    TRY(pin_set_add_motion(out, s->def, &motion));
    if (s->def->follow)
    {
        TRY(add_follow(sim, s, &out->motions[motion], error));
        out->body_vertices = sim->obstacle_vertices;
    }
    for (int k = 0; k < s->def->vertex_count; k++)
    {
        double weight = s->def->weights ? s->def->weights[k] : 1.0;
        pin p = {s->body->scene_vertex[s->def->vertices[k]], motion, k, start_of(s, k), weight};
        TRY(pin_set_add(out, &p));
    }
    return WEFT_OK;
}

weft_status sim_build_pins(const weft_sim* sim, pin_set* out, weft_error* error)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int p = 0; p < b->pin_count; p++)
        {
            pin_source source = {b, &b->pins[p], NULL, b->added};
            TRY(b->pins_taken[p] ? WEFT_OK : add_pin(sim, &source, out, error));
        }
    }
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        const edited_pin* e = &sim->edits.pins[k];
        pin_source source = {&sim->bodies[e->body], &e->pin, e->start, e->pinned};
        TRY(source.body->removed ? WEFT_OK : add_pin(sim, &source, out, error));
    }
    pin_set_sort(out);
    return WEFT_OK;
}

const char* sim_follower(const weft_sim* sim, const char* obstacle)
{
    for (int k = 0; k < sim->body_count; k++)
    {
        const body* b = &sim->bodies[k];
        for (int p = 0; p < b->pin_count; p++)
        {
            if (!b->pins_taken[p] && b->pins[p].follow && strcmp(b->pins[p].follow, obstacle) == 0)
            {
                return b->name;
            }
        }
    }
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        const edited_pin* e = &sim->edits.pins[k];
        if (e->pin.follow && strcmp(e->pin.follow, obstacle) == 0)
        {
            return sim->bodies[e->body].name;
        }
    }
    return NULL;
}
