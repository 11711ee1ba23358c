// Motion along keys: turned about an axis through a center, then moved; linear between keys, held before and after.
// Pins and obstacles move by it.
#include "constraint/motion.h"

#include <string.h>

weft_status motion_init(motion* m, const weft_pin_key* keys, int key_count, vec3 axis, vec3 center)
{
    *m = (motion){.key_count = key_count, .axis = v3_normalize(axis), .center = center};
    if (key_count > 0)
    {
        m->keys = MEM_NEW(key_count, weft_pin_key);
        if (!m->keys)
        {
            return WEFT_NO_MEMORY;
        }
        memcpy(m->keys, keys, (size_t)key_count * sizeof(weft_pin_key));
    }
    return WEFT_OK;
}

void motion_finish(motion* m)
{
    mem_free(m->keys);
    *m = (motion){0};
}

const char* motion_check(const weft_pin_key* keys, int key_count, vec3 axis, vec3 center)
{
    if (!v3_is_finite(axis) || !v3_is_finite(center))
    {
        return "axis and center are finite";
    }
    for (int k = 0; k < key_count; k++)
    {
        const weft_pin_key* key = &keys[k];
        if (!isfinite(key->time) || !v3_is_finite(key->offset) || !isfinite(key->angle) ||
            (k > 0 && !(key->time > key[-1].time)))
        {
            return "the keys of a path are finite and their times increase";
        }
        if (key->angle != 0.0 && !(v3_length(axis) > 0.0))
        {
            return "what turns needs an axis";
        }
    }
    return NULL;
}

static weft_pin_key key_at(const motion* m, double time)
{
    const weft_pin_key* keys = m->keys;
    int n = m->key_count;
    if (n == 0)
    {
        return (weft_pin_key){0};
    }
    if (time <= keys[0].time)
    {
        return keys[0];
    }
    for (int k = 1; k < n; k++)
    {
        if (time < keys[k].time)
        {
            double s = (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time);
            return (weft_pin_key){time, v3_add(v3_scale(1.0 - s, keys[k - 1].offset), v3_scale(s, keys[k].offset)),
                                  (1.0 - s) * keys[k - 1].angle + s * keys[k].angle};
        }
    }
    return keys[n - 1];
}

placement motion_at(const motion* m, double time)
{
    weft_pin_key key = key_at(m, time);
    return (placement){.turns = key.angle != 0.0,
                       .cosine = cos(key.angle),
                       .sine = sin(key.angle),
                       .axis = m->axis,
                       .center = m->center,
                       .offset = key.offset};
}

vec3 placement_apply(const placement* p, vec3 start)
{
    vec3 x = start;
    if (p->turns)
    {
        // Rodrigues' rotation about the axis through the center.
        vec3 r = v3_sub(start, p->center);
        vec3 turned = v3_madd(v3_scale(p->cosine, r), p->sine, v3_cross(p->axis, r));
        turned = v3_madd(turned, (1.0 - p->cosine) * v3_dot(p->axis, r), p->axis);
        x = v3_add(p->center, turned);
    }
    return v3_add(x, p->offset);
}
