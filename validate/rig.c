// The testing machine. Rest is judged by steps, never by a clock: the largest way of a vertex in the last four steps,
// over that of the four before, says how fast what is left shrinks; its geometric sum is what is left.
#include "validate/rig.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    SUBSTEPS_MAX = 50000,
    FAR = 10000 // specimens from its start: nothing that is measured goes there
};

double component(weft_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

void result_fail(result* r, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!r->failure[0])
    {
        vsnprintf(r->failure, sizeof(r->failure), format, arguments);
    }
    va_end(arguments);
}

void result_add_scaled(result* r, double x, double ours, double closed, double scale)
{
    if (r->count < POINT_MAX)
    {
        r->points[r->count++] = (point){x, ours, closed, (ours - closed) / scale};
    }
}

void result_add(result* r, double x, double ours, double closed)
{
    result_add_scaled(r, x, ours, closed, closed);
}

void result_show(result* r, double x, double ours)
{
    if (r->count < POINT_MAX)
    {
        r->points[r->count++] = (point){x, ours, NAN, 0.0};
    }
}

const point* result_worst(const result* r)
{
    const point* worst = NULL;
    for (int k = 0; k < r->count; k++)
    {
        // Written so that NaN is the worst of all.
        if (!isnan(r->points[k].closed) && (!worst || !(fabs(r->points[k].deviation) <= fabs(worst->deviation))))
        {
            worst = &r->points[k];
        }
    }
    return worst;
}

bool result_is_inside(const result* r)
{
    return r->published[1] > 0.0 && r->mean >= r->published[0] && r->mean <= r->published[1];
}

double rig_pace(const char* method)
{
    // Sweeps carry a correction some cells a step: steps of games. What is explicit is stable in short steps alone.
    static const struct
    {
        const char* method;
        double pace;
    } paces[] = {{"pbd", 0.1}, {"hpbd", 0.1}, {"explicit", 0.005}, {"imex", 0.05}, {"imex2", 0.05}, {"aimex2", 0.2}};
    for (size_t k = 0; k < sizeof(paces) / sizeof(paces[0]); k++)
    {
        if (strcmp(paces[k].method, method) == 0)
        {
            return paces[k].pace;
        }
    }
    return 1.0;
}

bool rig_open(rig* r, const trial* t, const scene_text* s, result* out)
{
    *r = (rig){.trial = t, .out = out};
    weft_error error = {0};
    if (s->full)
    {
        result_fail(out, "the scene's text is too long");
        return false;
    }
    weft_status status = weft_scene_parse("validate", s->text, t->overrides, t->override_count, &r->scene, &error);
    status = status == WEFT_OK ? weft_scene_create_sim(r->scene, t->threads, &r->sim, &error) : status;
    if (status != WEFT_OK)
    {
        result_fail(out, "%s", error.message[0] ? error.message : weft_status_text(status));
        out->refused = status == WEFT_BAD_INPUT || status == WEFT_UNSUPPORTED;
        return false;
    }
    r->vertex_count = weft_sim_vertex_count(r->sim, 0);
    size_t size = (size_t)r->vertex_count * sizeof(weft_vec3);
    r->start = malloc(size);
    r->x = malloc(size);
    r->last = malloc(size);
    if (!r->start || !r->x || !r->last)
    {
        result_fail(out, "no memory");
        return false;
    }
    weft_sim_positions(r->sim, 0, r->start);
    memcpy(r->x, r->start, size);
    memcpy(r->last, r->start, size);
    for (int axis = 0; axis < 3; axis++)
    {
        r->size = fmax(r->size, rig_high(r, axis) - rig_low(r, axis));
    }
    return true;
}

void rig_close(rig* r)
{
    free(r->start);
    free(r->x);
    free(r->last);
    weft_sim_destroy(r->sim);
    weft_scene_destroy(r->scene);
    *r = (rig){0};
}

// Whether a vertex has gone where no specimen goes.
static bool is_far(const rig* r)
{
    double farthest = 0.0;
    for (int k = 0; k < r->vertex_count; k++)
    {
        double dx = r->x[k].x - r->start[k].x, dy = r->x[k].y - r->start[k].y, dz = r->x[k].z - r->start[k].z;
        farthest = fmax(farthest, fmax(fabs(dx), fmax(fabs(dy), fabs(dz))));
    }
    return farthest > FAR * r->size;
}

bool rig_step(rig* r, weft_step_stats* stats)
{
    weft_step_stats own = {0};
    weft_error error = {0};
    stats = stats ? stats : &own;
    weft_vec3* swap = r->last;
    r->last = r->x;
    r->x = swap;
    weft_status status = weft_sim_step(r->sim, stats, &error);
    if (status != WEFT_OK)
    {
        result_fail(r->out, "step %d: %s", r->out->steps + 1,
                    error.message[0] ? error.message : weft_status_text(status));
        return false;
    }
    weft_sim_positions(r->sim, 0, r->x);
    r->out->steps++;
    r->out->substeps += stats->substeps + stats->rejected;
    r->out->forced += stats->forced;
    r->out->taken_over +=
        strcmp(r->trial->method, "newton") != 0 && weft_step_counter(stats, "newton_iterations") > 0.0;
    if (r->trial->progress)
    {
        r->trial->progress(r->trial->user, r->out->steps);
    }
    if (is_far(r))
    {
        result_fail(r->out, "it flies apart: by step %d a vertex is more than %d specimens away", r->out->steps, FAR);
        return false;
    }
    if (r->out->substeps > SUBSTEPS_MAX)
    {
        result_fail(r->out, "it takes more than %d substeps: stable steps are near %.2g s", SUBSTEPS_MAX,
                    weft_sim_time(r->sim) / r->out->substeps);
        return false;
    }
    return true;
}

// The longest way of a vertex in the last step.
static double way(const rig* r)
{
    double longest = 0.0;
    for (int k = 0; k < r->vertex_count; k++)
    {
        double dx = r->x[k].x - r->last[k].x, dy = r->x[k].y - r->last[k].y, dz = r->x[k].z - r->last[k].z;
        longest = fmax(longest, dx * dx + dy * dy + dz * dz);
    }
    return sqrt(longest);
}

bool rig_settle(rig* r, double size)
{
    enum
    {
        WINDOW = 4,
        STEPS_MAX = 2500
    };
    double ways[2 * WINDOW] = {0};
    int limit = (int)fmin(6000.0, STEPS_MAX / rig_pace(r->trial->method));
    for (int k = 0; k < limit; k++)
    {
        if (!rig_step(r, NULL))
        {
            return false;
        }
        memmove(ways + 1, ways, sizeof(ways) - sizeof(ways[0]));
        ways[0] = way(r);
        double recent = 0.0, older = 0.0;
        for (int i = 0; i < WINDOW; i++)
        {
            recent = fmax(recent, ways[i]);
            older = fmax(older, ways[i + WINDOW]);
        }
        double pace = older > 0.0 ? recent / older : 0.0;
        if (k >= 2 * WINDOW &&
            (recent < 1e-9 * size || (pace < 1.0 && WINDOW * recent * pace / (1.0 - pace) < 1e-5 * size)))
        {
            return true;
        }
    }
    result_fail(r->out, "not at rest after %d steps: a vertex still moves by %.2g of the specimen a step", limit,
                way(r) / size);
    return false;
}

bool rig_gravity(rig* r, double x, double y, double z)
{
    weft_error error = {0};
    if (weft_sim_set_gravity(r->sim, (weft_vec3){x, y, z}, &error) != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message);
        return false;
    }
    return true;
}

bool rig_pin(rig* r, int axis, double low, double high)
{
    weft_pin_id pin = 0;
    return rig_pin_again(r, axis, low, high, &pin);
}

bool rig_pin_again(rig* r, int axis, double low, double high, weft_pin_id* held)
{
    int* list = malloc((size_t)r->vertex_count * sizeof(int));
    weft_error error = {0};
    weft_pin pin = weft_pin_default();
    for (int k = 0; k < r->vertex_count && list; k++)
    {
        double at = component(r->start[k], axis);
        if (at >= low && at <= high)
        {
            list[pin.vertex_count++] = k;
        }
    }
    pin.vertices = list;
    weft_status status = list ? WEFT_OK : WEFT_NO_MEMORY;
    status = status == WEFT_OK && *held ? weft_sim_unpin(r->sim, *held, &error) : status;
    status = status == WEFT_OK ? weft_sim_pin(r->sim, 0, &pin, held, &error) : status;
    if (status != WEFT_OK)
    {
        result_fail(r->out, "%s", error.message[0] ? error.message : weft_status_text(status));
    }
    free(list);
    return status == WEFT_OK;
}

double rig_mean(const rig* r, int coordinate, int axis, double low, double high)
{
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < r->vertex_count; k++)
    {
        double at = component(r->start[k], axis);
        if (at >= low && at <= high)
        {
            sum += component(r->x[k], coordinate);
            count++;
        }
    }
    return sum / count;
}
