// Cloth against obstacles inside the implicit solve (Baraff and Witkin 1998, section 6; Boxerman 2003, section 3.4.2).
//
// A vertex of cloth within reach of an obstacle's face, or about to come there, touches it. Along the normal its motion
// is prescribed: it follows the obstacle, may come closer only down to the thickness, and is moved out of the layer by
// 0.9 of its depth each substep; that part moves it but does not stay in its velocity, so that it does not bounce.
// Tangentially it sticks (prescribed too) or slides, with a force of friction times the last normal force against the
// relative motion.
//
// The constraint force is (A dv - b) / h with the unfiltered A. Where it pulls, the vertex is let go; where its
// tangential part exceeds friction times the normal part, it slides from the next substep on; where it has been slow
// for some substeps, it sticks. These decisions are the state's memory of contact (`grip`).
#include <string.h>

#include "step/sweep.h"

// What a vertex that touches remembers: from SLIDES on it counts the substeps in which it has hardly moved, and with
// enough of them it sticks. At once would not do: a vertex that its sticking neighbours hold back is slow too, and
// sheets would hang on slopes by vertices that take turns.
enum
{
    SLIDES = 1,
    STICKS = 9
};

static const double out_speed_max = 0.5; // m/s, out of thick layers
static const double push_out = 0.9;      // share of the depth
static const double slack = 1e-3;        // of the thickness, that a new touch comes closer in the substep

// ---- detection

// A vertex of cloth and a face of an obstacle. Of one vertex, faces that look the same way say nothing new.
bool touch_take(contact* c, const near_pair* near)
{
    int i = near->vertex[0], o = near->vertex[1];
    if (near->kind != WEFT_VERTEX_FACE || i >= c->cloth_count || o < c->cloth_count)
    {
        return false;
    }
    touch t = {.vertex = i,
               .normal = near->normal,
               .depth = near->thickness - near->distance,
               .thickness = near->thickness,
               .near = near->distance <= CONTACT_REACH * near->thickness,
               .friction = c->friction[o]};
    for (int k = 1; k < 4; k++)
    {
        t.velocity = v3_madd(t.velocity, -near->weight[k], c->velocity[near->vertex[k]]);
    }
    int first = c->touch_count;
    while (first > 0 && c->touches[first - 1].vertex == i)
    {
        first--;
    }
    for (int k = first; k < c->touch_count; k++)
    {
        touch* other = &c->touches[k];
        if (v3_dot(other->normal, t.normal) > 0.9)
        {
            *other = t.depth > other->depth ? t : *other;
            return true;
        }
    }
    c->touches[c->touch_count++] = t;
    return true;
}

// ---- prescriptions

// The speed that moves a vertex out of the layer, the same in a shorter substep.
static double out_speed(const world* w, const touch* t)
{
    return fmin(push_out * t->depth / w->settings.time_step, out_speed_max);
}

// The normal velocity that a touching vertex must have at least.
static double wanted_normal(const world* w, const touch* t)
{
    return v3_dot(t->velocity, t->normal) + (t->depth > 0.0 ? out_speed(w, t) : t->depth / w->h);
}

// Between two layers that overlap there is no place that both allow: the middle of both, with the motion of both.
static void share_room(touch* a, touch* b)
{
    const double opposite = -0.7;
    if (v3_dot(a->normal, b->normal) > opposite || a->depth + b->depth <= 0.0)
    {
        return;
    }
    double depth = 0.5 * (a->depth - b->depth);
    vec3 velocity = v3_scale(0.5, v3_add(a->velocity, b->velocity));
    a->depth = depth;
    b->depth = -depth;
    a->velocity = b->velocity = velocity;
}

static bool is_slow(const touch* t, vec3 v)
{
    vec3 slip = v3_sub(v, t->velocity);
    return v3_length(v3_madd(slip, -v3_dot(slip, t->normal), t->normal)) <= CONTACT_CREEP;
}

// Directions and changes of velocity of one vertex: along each normal that it approaches or was held by.
static void prescribe_touch(world* w, touch* t, prescription* p)
{
    vec3 v = w->state.v[t->vertex];
    double wanted = wanted_normal(w, t), own = v3_dot(v, t->normal);
    // What was let go is taken again only when it comes back by more than rounding.
    double least = slack * t->thickness / w->h;
    t->held = (w->state.grip[t->vertex].y > 0.0 && t->near) || own < wanted - least;
    if (!t->held)
    {
        return;
    }
    prescription_add(p, t->normal, wanted - own);
    // The normal force of a new one is what stops it.
    vec3 grip = w->state.grip[t->vertex];
    t->force = grip.y > 0.0 ? grip.x : fmax(0.0, wanted - own) * w->model->mass[t->vertex] / w->h;
    t->sticks = t->friction > 0.0 && grip.y >= STICKS;
    if (t->sticks)
    {
        vec3 other = fabs(t->normal.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0);
        vec3 a = v3_normalize(v3_cross(t->normal, other)), b = v3_cross(t->normal, a);
        vec3 slip = v3_sub(t->velocity, v);
        prescription_add(p, a, v3_dot(slip, a));
        prescription_add(p, b, v3_dot(slip, b));
    }
}

// In a corner of two layers the friction of each would press on the other, whose friction would press back.
static bool is_alone(const contact* c, int k)
{
    const touch* t = c->touches;
    bool before = k > 0 && t[k - 1].vertex == t[k].vertex && t[k - 1].held;
    bool after = k + 1 < c->touch_count && t[k + 1].vertex == t[k].vertex && t[k + 1].held;
    return !before && !after;
}

// Kinetic friction of sliding vertices: mu f_N against the relative motion.
static weft_status touch_rub(world* w)
{
    contact* c = w->contact;
    if (!mem_grow((void**)&c->springs, &c->spring_capacity, c->spring_count + c->touch_count, sizeof(spring)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        if (t->held && !t->sticks && t->friction * t->force > 0.0 && is_alone(c, k))
        {
            c->springs[c->spring_count++] = spring_rub(w, t);
        }
    }
    return WEFT_OK;
}

// Adds the records of touching vertices to those of pins; both are sorted by vertex.
weft_status touch_constrain(world* w)
{
    contact* c = w->contact;
    int pins = w->filter_count, out = 0, pin = 0;
    c->pin_count = pins;
    memcpy(c->pin_records, w->filter, (size_t)pins * sizeof(filter_record));
    for (int k = 0; k < c->touch_count || pin < pins;)
    {
        int touching = k < c->touch_count ? c->touches[k].vertex : INT32_MAX;
        if (pin < pins && c->pin_records[pin].vertex <= touching)
        {
            for (; k < c->touch_count && c->touches[k].vertex == c->pin_records[pin].vertex; k++)
            {
                c->touches[k].held = false; // pins have the first word
            }
            w->filter[out++] = c->pin_records[pin++];
            continue;
        }
        prescription p = {0};
        for (int a = k; a < c->touch_count && c->touches[a].vertex == touching; a++)
        {
            for (int b = k; b < a; b++)
            {
                share_room(&c->touches[b], &c->touches[a]);
            }
        }
        for (; k < c->touch_count && c->touches[k].vertex == touching; k++)
        {
            prescribe_touch(w, &c->touches[k], &p);
        }
        if (p.count > 0)
        {
            w->filter[out++] = filter_record_make(touching, p.d, p.count);
            w->z[touching] = prescription_value(&p);
        }
    }
    w->filter_count = out;
    return touch_rub(w);
}

// ---- after the solve

// Release, stick and slide of the next substep; and what moved a vertex out of the layer leaves its velocity.
void touch_remember(world* w, reaction_fn* reaction)
{
    contact* c = w->contact;
    memset(c->grip, 0, (size_t)c->cloth_count * sizeof(vec3));
    bool tied = w->model->ties.count > 0 && c->touch_count > 0;
    tied ? binding_pull(w, reaction) : (void)0;
    for (int k = 0; k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        if (!t->held)
        {
            continue;
        }
        vec3 force = reaction(w, t->vertex);
        force = tied ? v3_sub(force, w->binding.pull[t->vertex]) : force;
        double normal = v3_dot(force, t->normal);
        double out = t->depth > 0.0 ? out_speed(w, t) : 0.0;
        w->v_next[t->vertex] = v3_madd(w->v_next[t->vertex], -out, t->normal);
        if (!(normal > 0.0))
        {
            continue;
        }
        double tangential = v3_length(v3_madd(force, -normal, t->normal));
        bool keeps = t->sticks ? tangential <= t->friction * normal : is_slow(t, w->v_next[t->vertex]);
        double last = fmax(w->state.grip[t->vertex].y, SLIDES);
        double next = keeps ? fmin(last + 1.0, STICKS) : SLIDES;
        // Of several touches the strongest force counts, and the one that slides.
        vec3* grip = &c->grip[t->vertex];
        *grip = v3(fmax(grip->x, normal), grip->y > 0.0 ? fmin(grip->y, next) : next, 0.0);
    }
    springs_remember(w);
}
