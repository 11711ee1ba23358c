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
// for some substeps, it sticks. These decisions, and the friction that was exerted, are the state's memory of a vertex.
#include <string.h>

#include "contact/find.h"

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
static const double afar = 2.0;          // of the thickness above the layer

// ---- detection

// Of one vertex, faces that look the same way say nothing new.
static void touch_take(contact* c, const contact_row* row)
{
    int i = row->vertex[0];
    touch t = {.vertex = i,
               .face = row->pair.second,
               .normal = row->normal,
               .depth = row->thickness - row->distance,
               .thickness = row->thickness,
               .near = row->distance <= CONTACT_REACH * row->thickness,
               .friction = row->friction};
    for (int k = 1; k < 4; k++)
    {
        t.velocity = v3_madd(t.velocity, -row->weight[k], c->velocity[row->vertex[k]]);
    }
    for (int k = c->touch_count - 1; k >= 0 && c->touches[k].vertex == i; k--)
    {
        touch* other = &c->touches[k];
        if (v3_dot(other->normal, t.normal) > 0.9)
        {
            *other = t.depth > other->depth ? t : *other;
            return;
        }
    }
    c->touches[c->touch_count++] = t;
}

// Rows are sorted by kind and vertex. Room for cushions and bonds of all rows is made here, too.
weft_status touches_take(contact* c)
{
    const contact_row* rows = c->rows.item;
    int count = c->rows.count;
    if (!mem_grow((void**)&c->touches, &c->touch_capacity, count, sizeof(touch)) ||
        !mem_grow((void**)&c->cushions, &c->cushion_capacity, count, sizeof(cushion)) ||
        !mem_grow((void**)&c->next.bonds, &c->next.bond_capacity, count, sizeof(contact_bond)))
    {
        return WEFT_NO_MEMORY;
    }
    c->touch_count = c->cushion_count = 0;
    for (int k = 0; k < count; k++)
    {
        if (touch_is(c, &rows[k]))
        {
            touch_take(c, &rows[k]);
        }
    }
    return touches_look_ahead(c);
}

// ---- prescriptions

// The speed that moves a vertex out of the layer, the same in a shorter substep. Between two layers the one gives way as
// fast as the other pushes: at once would be any speed, and an armpit that closed on cloth threw single vertices by
// millimetres in a substep of 8 microseconds, so that none was short enough.
static double out_speed(const contact* c, const touch* t)
{
    double most = t->shared ? -out_speed_max : 0.0;
    return fmax(fmin(push_out * t->depth / c->now.time_step, out_speed_max), most);
}

// The normal velocity that a touching vertex must have at least.
static double wanted_normal(const contact* c, const touch* t)
{
    bool moves = t->depth > 0.0 || t->shared;
    return v3_dot(t->velocity, t->normal) + (moves ? out_speed(c, t) : t->depth / c->now.h);
}

// Between two layers that overlap there is no place that both allow: the middle of both, with the motion of both.
// Layers that slide past each other, as an arm along its side, rub the cloth between them either way, and neither takes
// it along: true, for then it has no friction.
static bool share_room(touch* a, touch* b)
{
    const double opposite = -0.7, slides = 0.01; // m/s
    if (v3_dot(a->normal, b->normal) > opposite)
    {
        return false;
    }
    if (a->shared && b->shared) // constrained before in this substep
    {
        return a->slides && b->slides;
    }
    if (a->depth + b->depth <= 0.0)
    {
        return false;
    }
    bool apart = v3_length(across(v3_sub(a->velocity, b->velocity), a->normal)) > slides;
    double depth = 0.5 * (a->depth - b->depth);
    vec3 velocity = v3_scale(0.5, v3_add(a->velocity, b->velocity));
    a->depth = depth;
    b->depth = -depth;
    a->velocity = b->velocity = velocity;
    a->shared = b->shared = true;
    a->slides = a->slides || apart;
    b->slides = b->slides || apart;
    return apart;
}

static bool is_slow(const touch* t, vec3 v)
{
    vec3 slip = v3_sub(v, t->velocity);
    return v3_length(v3_madd(slip, -v3_dot(slip, t->normal), t->normal)) <= CONTACT_CREEP;
}

// Whether what is prescribed already leaves the vertex a way along the normal: a slide on a rail that runs past a body
// would have to go far for the little that it gains.
static bool leaves_room(const prescription* p, vec3 normal)
{
    const double least = 0.3; // the sine between the normal and what is prescribed
    double left = 1.0;
    for (int k = 0; k < p->count; k++)
    {
        double part = v3_dot(normal, p->d[k]);
        left -= part * part;
    }
    return left > least * least;
}

// Directions and changes of velocity of one vertex: along each normal that it approaches or was held by. Where solves
// end early (now.waits) a vertex that comes from afar, and was not carried, is not led to the layer: stiff cloth bends
// away before most of it arrives, and what is held without need is told from what bears by an answer that is exact, or
// not at all. It is caught when an iterate takes it in.
static void prescribe_touch(contact* c, touch* t, prescription* p)
{
    const contact_memory* last = &c->now.last->memory[t->vertex];
    vec3 v = c->now.v[t->vertex];
    vec3 fall = t->near ? v3(0, 0, 0) : touch_fall(c, t->vertex);
    double wanted = wanted_normal(c, t), expected = v3_dot(v3_add(c->velocity[t->vertex], fall), t->normal);
    // What was let go is taken again only when it comes back by more than rounding.
    double least = slack * t->thickness / c->now.h;
    bool from_afar = t->depth < -afar * t->thickness && v3_dot(last->push, last->push) == 0.0;
    bool arrives = expected < wanted - least && !(c->now.waits && from_afar);
    t->held = !t->released && (t->caught || (last->calm > 0.0 && t->near) || arrives) && leaves_room(p, t->normal);
    if (!t->held)
    {
        return;
    }
    prescription_add(p, t->normal, wanted - v3_dot(v, t->normal));
    // The normal force of a new one is what stops it.
    double stop = fmax(0.0, wanted - expected) / (c->inv_mass[t->vertex] * c->now.h);
    t->force = fmax((last->calm > 0.0 ? last->force : stop) + last->owed[0], 0.0);
    t->sticks = t->friction.hold > 0.0 && last->calm >= STICKS && !c->between[t->vertex];
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

// Friction in motion of what is held and does not stick: mu f_N against the relative motion.
static void touch_rub(contact* c)
{
    for (int k = 0; k < c->touch_count; k++)
    {
        touch* t = &c->touches[k];
        t->cushion = -1;
        if (t->held && !t->sticks && t->friction.rub * t->force > 0.0 && !c->between[t->vertex] && is_alone(c, k))
        {
            rub_touch(c, t);
        }
    }
}

// Directions that pins prescribe already, with what they prescribe.
static prescription prescription_of(const filter_record* pin, vec3 z)
{
    prescription p = {0};
    for (int k = 0; k < pin->direction_count; k++)
    {
        prescription_add(&p, pin->direction[k], v3_dot(z, pin->direction[k]));
    }
    return p;
}

// The touches [first, last) of one vertex, after its pins.
static void constrain_vertex(contact* c, int first, int last, prescription* p)
{
    for (int a = first; a < last; a++)
    {
        for (int b = first; b < a; b++)
        {
            c->between[c->touches[a].vertex] |= share_room(&c->touches[b], &c->touches[a]);
        }
    }
    for (int k = first; k < last; k++)
    {
        prescribe_touch(c, &c->touches[k], p);
    }
}

// What is held moves as prescribed: cushions are to know.
static void expect_held(contact* c, const filter_record* held, vec3 z)
{
    vec3 free = v3_sub(c->velocity[held->vertex], v3_add(c->now.v[held->vertex], z));
    c->velocity[held->vertex] = v3_add(v3_add(c->now.v[held->vertex], z), m3_mul_v(held->S, free));
}

// Both are sorted by vertex. Pins have the first word: what they leave free, touches prescribe.
void contact_constrain(contact* c, filter_record* filter, int* filter_count, vec3* z)
{
    int out = 0;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->velocity[i] = v3_madd(c->now.v[i], c->now.h, c->now.expected[i]);
        c->fixed[i] = c->between[i] = false;
    }
    for (int k = 0, pin = 0; k < c->touch_count || pin < c->now.pin_count;)
    {
        const filter_record* held = pin < c->now.pin_count ? &c->now.pins[pin] : NULL;
        int touching = k < c->touch_count ? c->touches[k].vertex : INT32_MAX;
        int vertex = held ? int_min(held->vertex, touching) : touching;
        held = held && held->vertex == vertex ? held : NULL;
        int first = k;
        for (; k < c->touch_count && c->touches[k].vertex == vertex; k++)
        {
        }
        prescription p = held ? prescription_of(held, z[vertex]) : (prescription){0};
        int own = p.count;
        constrain_vertex(c, first, k, &p);
        c->fixed[vertex] = p.count == 3;
        if (held && p.count == own)
        {
            filter[out++] = *held;
        }
        else if (p.count > 0)
        {
            filter[out] = filter_record_make(vertex, p.d, p.count);
            z[vertex] = prescription_value(&p);
            expect_held(c, &filter[out++], z[vertex]);
        }
        pin += held != NULL;
    }
    *filter_count = out;
    cushions_take(c);
    touch_rub(c);
    particles_take(c);
    rub_all(c);
    c->contacts = int_max(c->contacts, c->touch_count + c->cushion_count);
}

// ---- after the solve

// What faces exerted across their normal: the force that held it, or friction in motion.
static vec3 friction_of(const contact* c, const touch* t, vec3 force, const vec3* v)
{
    if (t->sticks)
    {
        return v3_madd(force, -v3_dot(force, t->normal), t->normal);
    }
    const cushion* s = &c->cushions[int_max(t->cushion, 0)];
    return t->cushion >= 0 ? cushion_friction(c, s, cushion_speed(c, s, v)) : v3(0, 0, 0);
}

// The normal force that goes on: without what has stopped a new touch in this substep.
static double lasting_force(const contact* c, const touch* t, double normal, vec3 v)
{
    bool is_new = c->now.last->memory[t->vertex].calm == 0.0;
    double stop = v3_dot(v3_sub(v, c->now.v[t->vertex]), t->normal) / (c->inv_mass[t->vertex] * c->now.h);
    return is_new ? fmax(normal - fmax(stop, 0.0), 0.0) : normal;
}

// m/s^2, what a rough solve has left: nothing holds a vertex that slides along its faces, and a force that shows there
// is none. A pull that is no more may be none either.
static double unsettled(const contact* c, int k, contact_reaction_fn* reaction, const void* user)
{
    const touch* t = &c->touches[k];
    if (!t->held || t->sticks || c->record[t->vertex] >= 0)
    {
        return 0.0;
    }
    prescription held = {0};
    vec3 force = reaction(user, t->vertex);
    while (k > 0 && c->touches[k - 1].vertex == t->vertex)
    {
        k--;
    }
    for (; k < c->touch_count && c->touches[k].vertex == t->vertex; k++)
    {
        c->touches[k].held ? prescription_add(&held, c->touches[k].normal, 0.0) : (void)0;
    }
    for (int d = 0; d < held.count; d++)
    {
        force = across(force, held.d[d]);
    }
    return v3_length(force) * c->inv_mass[t->vertex];
}

// What pulls is let go; what was let go, or not expected, and comes too close is held, and is not let go again.
int touches_release(contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v)
{
    int count = 0;
    for (int k = 0; k < c->touch_count; k++)
    {
        touch* t = &c->touches[k];
        pull_limits limits = contact_pull_limits(c, t->thickness);
        double pull = t->held ? -v3_dot(reaction(user, t->vertex), t->normal) * c->inv_mass[t->vertex] : 0.0;
        double end = t->thickness - t->depth + c->now.h * v3_dot(v3_sub(v[t->vertex], t->velocity), t->normal);
        bool release = t->held && !t->caught && pull > fmax(limits.most, unsettled(c, k, reaction, user));
        bool catch = !t->held && !t->caught && end < fmin(limits.least, t->thickness - t->depth);
        bool turns = !c->early && t->cushion >= 0 && rub_turns(c, &c->cushions[t->cushion], t->thickness, v);
        t->turned = t->turned || turns;
        t->released = t->released ? !catch : release;
        t->caught = t->caught || catch;
        count += release || catch || turns;
    }
    return count;
}

// What slides is owed the friction that the load asked for and that was not exerted: pulls count, as others push by as
// much more. What comes to a stop is owed nothing, but owes what was too much while it moves; what rests does not.
// Without friction, for debts, these are forgotten by halves.
static double still_owed(const contact* c, const touch* t, double load, double exerted, const vec3* v)
{
    const cushion* s = t->cushion >= 0 ? &c->cushions[t->cushion] : NULL;
    if (t->sticks || (t->force > 0.0 && !s) || !(t->friction.rub > 0.0) ||
        (s && rub_rests(c, s, cushion_speed(c, s, v))))
    {
        return 0.0;
    }
    double owed = c->now.last->memory[t->vertex].owed[0] + load - exerted / t->friction.rub;
    return !s ? 0.5 * owed : rub_slides(s) ? owed : fmin(owed, 0.0);
}

// In a long substep cloth that is bent round a body may be left pushing and pulling by a hundred times its weight, when
// solves run out: friction believes what is a few times what it knew.
static double credible(const contact* c, const touch* t, double load)
{
    const double weight = 9.81, times = 4.0; // m/s^2
    double most = times * (c->now.last->memory[t->vertex].force + weight / c->inv_mass[t->vertex]);
    bool is_long = contact_pull_limits(c, t->thickness).least > 0.0;
    return is_long ? fmin(fmax(load, -most), most) : load;
}

static bool touch_is_driven(const contact* c, const touch* t, const vec3* v)
{
    const cushion* s = t->cushion >= 0 ? &c->cushions[t->cushion] : NULL;
    return s && rub_is_driven(c, s, cushion_speed(c, s, v));
}

// Release, stick and slide of the next substep; and what moved a vertex out of the layer leaves its velocity.
void touch_remember(contact* c, contact_reaction_fn* reaction, const void* user, vec3* v)
{
    const double forget = 0.9; // what leaves a facet lands on the next in some substeps
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->next.memory[i] = (contact_memory){.owed = {forget * c->now.last->memory[i].owed[0]}};
    }
    for (int k = 0, shared = -1; k < c->touch_count; k++)
    {
        const touch* t = &c->touches[k];
        if (!t->held)
        {
            continue;
        }
        vec3 force = reaction(user, t->vertex);
        double normal = v3_dot(force, t->normal);
        // Of two layers that share their room one says it for both.
        double moved = out_speed(c, t), out = fmax(moved, 0.0);
        v[t->vertex] = v3_madd(v[t->vertex], t->shared && shared == t->vertex ? 0.0 : -moved, t->normal);
        shared = t->shared ? t->vertex : shared;
        // What moved it out of the layer presses on nothing: it leaves the velocity.
        double load = credible(c, t, normal - out / (c->inv_mass[t->vertex] * c->now.h));
        contact_memory* next = &c->next.memory[t->vertex];
        vec3 friction = friction_of(c, t, force, v);
        next->owed[0] = still_owed(c, t, load, v3_length(friction), v);
        if (!(normal > 0.0))
        {
            next->load += normal; // it has worked against cushions, whose load is what is left
            continue;
        }
        bool keeps = t->sticks ? v3_length(friction) <= t->friction.hold * normal : is_slow(t, v[t->vertex]);
        double last = fmax(c->now.last->memory[t->vertex].calm, SLIDES);
        double calm = keeps ? fmin(last + 1.0, STICKS) : touch_is_driven(c, t, v) ? TOUCH_DRIVEN : SLIDES;
        // Of several touches the strongest force counts, and the one that slides.
        next->force = fmax(next->force, lasting_force(c, t, load, v[t->vertex]));
        next->calm = next->calm > 0.0 ? fmin(next->calm, calm) : calm;
        next->friction = v3_add(next->friction, friction);
        next->push = v3_madd(next->push, load, t->normal);
    }
}
