// Edits between steps: a hand that pulls vertices by a pin, pins that stay, wind and gravity; and the step itself.
#include <stdlib.h>
#include <string.h>

#include "stage.h"

stage* stage_create(int threads)
{
    stage* s = grab_memory(1, sizeof(stage));
    s->threads = threads;
    return s;
}

void stage_destroy(stage* s)
{
    if (s)
    {
        weft_sim_destroy(s->sim);
        weft_scene_destroy(s->loaded);
        picture_finish(&s->picture);
        free(s);
    }
}

const picture* stage_picture(const stage* s)
{
    return &s->picture;
}

// ---- the hand

static const shape* find_shape(const stage* s, int cloth)
{
    for (int k = 0; k < s->picture.shape_count; k++)
    {
        const shape* at = &s->picture.shapes[k];
        if (at->kind != SHAPE_OBSTACLE && at->cloth == cloth)
        {
            return at;
        }
    }
    return NULL;
}

// The vertices of a solid that are nearest to one: a single one would be drawn out to a thorn.
static int handful(const shape* at, int vertex, int* out)
{
    double reach[HANDFUL];
    int count = 0;
    for (int v = 0; v < at->vertex_count; v++)
    {
        double d = length(sub(at->rest[v], at->rest[vertex]));
        int k = count < HANDFUL ? count++ : d < reach[HANDFUL - 1] ? HANDFUL - 1 : -1;
        for (; k > 0 && reach[k - 1] > d; k--)
        {
            out[k] = out[k - 1], reach[k] = reach[k - 1];
        }
        k >= 0 ? (void)(out[k] = v, reach[k] = d) : (void)0;
    }
    return count;
}

// As fast as a hand: across the scene in half a second.
static double reach_of(const stage* s, const shape* at)
{
    weft_box box = weft_box_empty();
    weft_box_add(&box, at->rest, at->vertex_count);
    return 2.0 * fmax(length(sub(box.max, box.min)), 0.05) * s->picture.time_step;
}

void stage_grab(stage* s, int cloth, int vertex)
{
    const shape* at = find_shape(s, cloth);
    if (!at || vertex < 0 || vertex >= at->vertex_count)
    {
        return;
    }
    stage_drop(s, false);
    int outputs[HANDFUL] = {vertex}, held[HANDFUL];
    s->held_count = at->kind == SHAPE_SOLID ? handful(at, vertex, outputs) : 1;
    int* shown = grab_memory((size_t)at->vertex_count, sizeof(int));
    weft_sim_output_vertices(s->sim, cloth, shown);
    for (int k = 0; k < s->held_count; k++)
    {
        held[k] = shown[outputs[k]];
        s->offset[k] = sub(at->x[outputs[k]], at->x[vertex]);
    }
    free(shown);
    weft_pin pin = weft_pin_default();
    pin.vertices = held, pin.vertex_count = s->held_count;
    s->picture.has_grip = weft_sim_pin(s->sim, cloth, &pin, &s->grip, NULL) == WEFT_OK;
    s->grip = s->picture.has_grip ? s->grip : 0;
    s->picture.grip = s->mouse = at->x[vertex];
    s->reach = reach_of(s, at);
}

void stage_drag(stage* s, weft_vec3 to)
{
    s->mouse = to;
}

void stage_drop(stage* s, bool leave)
{
    picture* p = &s->picture;
    if (s->grip && leave && p->pin_count < PINS_MAX)
    {
        p->pins[p->pin_count] = p->grip;
        s->left[p->pin_count++] = s->grip;
    }
    else if (s->grip)
    {
        (void)weft_sim_unpin(s->sim, s->grip, NULL);
    }
    s->grip = 0;
    p->has_grip = false;
}

void stage_let_all_go(stage* s)
{
    stage_drop(s, false);
    for (int k = 0; k < s->picture.pin_count; k++)
    {
        (void)weft_sim_unpin(s->sim, s->left[k], NULL);
    }
    s->picture.pin_count = 0;
    for (int cloth = 0; cloth < weft_sim_cloth_count(s->sim); cloth++)
    {
        for (int k = 0; k < weft_sim_cloth_pin_count(s->sim, cloth); k++)
        {
            (void)weft_sim_unpin(s->sim, weft_sim_cloth_pin(s->sim, cloth, k), NULL);
        }
    }
}

// The hand follows the mouse before each step, and takes the vertices along.
static void lead(stage* s)
{
    if (!s->grip)
    {
        return;
    }
    weft_vec3 way = sub(s->mouse, s->picture.grip), targets[HANDFUL];
    s->picture.grip = add(s->picture.grip, scaled(fmin(1.0, s->reach / fmax(length(way), 1e-12)), way));
    for (int k = 0; k < s->held_count; k++)
    {
        targets[k] = add(s->picture.grip, s->offset[k]);
    }
    (void)weft_sim_move(s->sim, s->grip, targets, NULL);
}

// ---- wind and gravity

void stage_wind(stage* s, bool on)
{
    weft_air air = s->air;
    air.wind = on ? air.wind : (weft_vec3){0};
    s->picture.windy = on;
    (void)weft_sim_set_wind(s->sim, &air, NULL);
}

void stage_gravity(stage* s, bool on)
{
    s->picture.weightless = !on;
    (void)weft_sim_set_gravity(s->sim, on ? weft_scene_sim_def(s->loaded)->gravity : (weft_vec3){0}, NULL);
}

// ---- the step

bool stage_step(stage* s)
{
    picture* p = &s->picture;
    weft_error error = {0};
    weft_step_stats stats = {0};
    if (!s->sim)
    {
        return false;
    }
    lead(s);
    if (weft_sim_step(s->sim, &stats, &error) != WEFT_OK)
    {
        snprintf(p->message, sizeof(p->message), "%.250s", error.message);
        return false;
    }
    memmove(p->step_ms, p->step_ms + 1, (HISTORY - 1) * sizeof(double));
    p->step_ms[HISTORY - 1] = 1e3 * stats.step_s;
    p->contacts = stats.contacts;
    stage_look_again(s);
    return true;
}
