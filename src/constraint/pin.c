// Pins: still, moving along keys and samples, or following a face of an obstacle; released at a time; several pins on
// one vertex add up their directions.
#include <stdlib.h>
#include <string.h>

#include "constraint/constraint.h"

weft_status pin_set_add_motion(pin_set* set, const weft_pin* def, int* out)
{
    if (!mem_grow((void**)&set->motions, &set->motion_capacity, set->motion_count + 1, sizeof(pin_motion)))
    {
        return WEFT_NO_MEMORY;
    }
    pin_motion* motion = &set->motions[set->motion_count];
    *motion = (pin_motion){.fix = def->fix,
                           .direction = v3_normalize(def->direction),
                           .release = def->release,
                           .samples = def->sample_count > 0 ? def->samples : NULL,
                           .sample_count = def->sample_count,
                           .vertex_count = def->vertex_count,
                           .sample_rate = def->sample_rate,
                           .sample_start = def->sample_start,
                           .stiffness = def->stiffness};
    TRY(motion_init(&motion->motion, def->keys, def->key_count, def->axis, def->center));
    *out = set->motion_count++;
    return WEFT_OK;
}

weft_status pin_set_add(pin_set* set, const pin* p)
{
    if (!(p->weight > 0.0))
    {
        return WEFT_OK;
    }
    bool soft = p->weight < 1.0;
    pin** list = soft ? &set->soft : &set->pins;
    int* count = soft ? &set->soft_count : &set->count;
    if (!mem_grow((void**)list, soft ? &set->soft_capacity : &set->capacity, *count + 1, sizeof(pin)))
    {
        return WEFT_NO_MEMORY;
    }
    (*list)[(*count)++] = *p;
    set->soft_follow = set->soft_follow || (soft && set->motions[p->motion].follow);
    return WEFT_OK;
}

static int compare_pins(const void* a, const void* b)
{
    const pin *p = a, *q = b;
    return p->vertex != q->vertex ? (p->vertex > q->vertex) - (p->vertex < q->vertex)
                                  : (p->motion > q->motion) - (p->motion < q->motion);
}

void pin_set_sort(pin_set* set)
{
    if (set->count > 1)
    {
        qsort(set->pins, (size_t)set->count, sizeof(pin), compare_pins);
    }
    if (set->soft_count > 1)
    {
        qsort(set->soft, (size_t)set->soft_count, sizeof(pin), compare_pins);
    }
}

void pin_set_finish(pin_set* set)
{
    for (int k = 0; k < set->motion_count; k++)
    {
        motion_finish(&set->motions[k].motion);
        mem_free(set->motions[k].follow);
    }
    mem_free(set->motions);
    mem_free(set->pins);
    mem_free(set->soft);
    *set = (pin_set){0};
}

// Linear between samples, held before and after.
static vec3 sample_at(const pin_motion* m, int place, double time)
{
    double at = fmin(fmax((time - m->sample_start) * m->sample_rate, 0.0), m->sample_count - 1.0);
    int k = int_min((int)at, int_max(m->sample_count - 2, 0));
    double f = at - k;
    const vec3* a = m->samples + (size_t)k * (size_t)m->vertex_count + place;
    return f > 0.0 ? v3_add(v3_scale(1.0 - f, *a), v3_scale(f, a[m->vertex_count])) : *a;
}

// A tie's point is where nothing is missing.
static vec3 follow_at(const pin_follow* f, const vec3* bodies)
{
    const vec3 x[4] = {bodies[f->face[0]], bodies[f->face[0]], bodies[f->face[1]], bodies[f->face[2]]};
    tie t = {.point = {0, -1}, .share = {1.0, 0.0}, .face = {1, 2, 3}, .offset = f->offset};
    memcpy(t.weight, f->weight, sizeof(t.weight));
    return v3_sub(x[0], tie_error(&t, x));
}

vec3 pin_target(const pin_motion* motion, const pin* p, const vec3* bodies, double time)
{
    placement at = motion_at(&motion->motion, time);
    vec3 start = motion->follow    ? follow_at(&motion->follow[p->place], bodies)
                 : motion->samples ? sample_at(motion, p->place, time)
                                   : p->start;
    return placement_apply(&at, start);
}

// The directions in which a pin prescribes the motion.
static int pin_directions(const pin_motion* motion, vec3* d)
{
    if (motion->fix == WEFT_FIX_PLANE)
    {
        d[0] = motion->direction;
        return 1;
    }
    if (motion->fix == WEFT_FIX_LINE)
    {
        vec3 n = motion->direction;
        vec3 other = fabs(n.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0);
        d[0] = v3_normalize(v3_cross(n, other));
        d[1] = v3_cross(n, d[0]);
        return 2;
    }
    d[0] = v3(1, 0, 0);
    d[1] = v3(0, 1, 0);
    d[2] = v3(0, 0, 1);
    return 3;
}

void prescription_add(prescription* p, vec3 d, double value)
{
    if (p->count == 3)
    {
        return;
    }
    for (int turn = 0; turn < 2; turn++)
    {
        for (int k = 0; k < p->count; k++)
        {
            double s = v3_dot(d, p->d[k]);
            d = v3_madd(d, -s, p->d[k]);
            value -= s * p->value[k];
        }
    }
    double length = v3_length(d);
    if (length > 1e-6) // else the direction is prescribed already
    {
        p->d[p->count] = v3_scale(1.0 / length, d);
        p->value[p->count++] = value / length;
    }
}

vec3 prescription_value(const prescription* p)
{
    vec3 sum = v3(0, 0, 0);
    for (int c = 0; c < p->count; c++)
    {
        sum = v3_madd(sum, p->value[c], p->d[c]);
    }
    return sum;
}

int pin_set_constrain(const pin_set* set, const pin_moment* now, filter_record* records, vec3* z)
{
    int record_count = 0;
    for (int k = 0; k < set->count;)
    {
        int i = set->pins[k].vertex;
        prescription p = {0};
        for (; k < set->count && set->pins[k].vertex == i; k++)
        {
            const pin_motion* motion = &set->motions[set->pins[k].motion];
            if (now->time > motion->release)
            {
                continue;
            }
            vec3 target = pin_target(motion, &set->pins[k], now->bodies, now->time);
            vec3 wanted = v3_scale(1.0 / now->h, v3_sub(target, now->x[i]));
            vec3 d[3];
            int count = pin_directions(motion, d);
            for (int c = 0; c < count; c++)
            {
                prescription_add(&p, d[c], v3_dot(v3_sub(wanted, now->v[i]), d[c]));
            }
        }
        if (p.count > 0)
        {
            records[record_count++] = filter_record_make(i, p.d, p.count);
            z[i] = prescription_value(&p);
        }
    }
    return record_count;
}
