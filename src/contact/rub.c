// Friction of touches and cushions inside the implicit solve.
//
// In motion it is Coulomb's, linear around the motion that the end of the substep is expected to have: a constant force
// mu N against it, and across it the viscous force that turns it along. The expected motion comes from a few sweeps
// over all contacts: with a the last acceleration and f the last friction of a vertex it would go on by v + h (a - f /
// m), and each contact takes from the motion of its pair what mu N can, as long as there is motion. One by one would
// not do: several contacts of a vertex, or of three layers, would together turn round what each of them only slows.
// Where nothing is left of the motion friction is viscous: mu N at the present speed, so that it never turns the motion
// round and does not exceed mu N while others draw the pair along.
//
// Friction at rest of cushions is a damped spring across the normal: what it is drawn by is the state's memory of the
// pair (bonds), so that a stack on a slope does not creep. It holds up to the coefficient at rest. Where it was to hold
// more (of all cushions of its vertices on that side together) the pair gives way: from the next substep on it slides
// against mu N, with the spring drawn along as far as mu N draws it (the return of plasticity: Cundall and Strack 1979
// have it for grains), until friction can stop it; then the spring stops it from where it is drawn, and so it clings
// again when it was drawn back. On edges of obstacles it slips when it is exceeded, and clings again when the pair has
// come to a stop, drawn by what friction exerted then. That of touches is prescribed (touch.c).
#include <string.h>

#include "contact/find.h"

enum
{
    SWEEPS = 4
};

// ---- bonds

int bond_compare(const contact_bond* bond, const contact_row* row)
{
    int kind = bond->kind - (int)row->kind, first = bond->first < row->pair.first ? -1 : bond->first > row->pair.first;
    int second = bond->second < row->pair.second ? -1 : bond->second > row->pair.second;
    return kind != 0 ? kind : first != 0 ? first : second;
}

const contact_bond* bond_of(const contact_state* last, const contact_row* row, int* next)
{
    while (*next < last->bond_count && bond_compare(&last->bonds[*next], row) < 0)
    {
        (*next)++;
    }
    bool same = *next < last->bond_count && bond_compare(&last->bonds[*next], row) == 0;
    return same ? &last->bonds[*next] : NULL;
}

void bond_add(const contact* c, const contact_bond* bond, vec3 force, vec3* sum)
{
    for (int k = 0; k < 4; k++)
    {
        if (bond->vertex[k] < c->cloth_count)
        {
            sum[bond->vertex[k]] = v3_madd(sum[bond->vertex[k]], bond->weight[k], force);
        }
    }
}

// ---- the normal force

// What bears a pair, and a little, so that what slides over the edges of its cushions keeps its load.
static double borne_by(const cushion* s)
{
    return s->pressed + s->stopped + 1e-6 * CUSHION_ACCELERATION / s->inv_mass;
}

static void sum_loads(contact* c)
{
    memset(c->load, 0, (size_t)c->cloth_count * sizeof(cushion_load));
    for (int k = 0; k < 4 * c->cushion_count && c->cushions[k / 4].row >= 0; k++)
    {
        const cushion* s = &c->cushions[k / 4];
        double part = fabs(s->weight[k % 4]);
        if (s->vertex[k % 4] < c->cloth_count)
        {
            cushion_load* load = &c->load[s->vertex[k % 4]];
            load->borne += part * borne_by(s);
            load->stopped += part * s->stopped;
            load->most = fmax(load->most, part * s->stopped);
        }
    }
}

// What a vertex remembers that has no cushion now: those around it that have one bear it. In long steps cushions come
// and go, and half of the load would be with vertices that were let go.
static void pass_on(contact* c, int vertex)
{
    cushion_load* from = &c->load[vertex];
    const int *corner = c->collider->corner[FEATURE_FACE], begin = 3 * c->fan->start[vertex];
    int end = 3 * c->fan->start[vertex + 1], count = 0;
    for (int k = begin; k < end; k++)
    {
        count += c->load[corner[3 * c->fan->feature[k / 3] + k % 3]].borne > 0.0;
    }
    for (int k = begin; k < end && count > 0; k++)
    {
        cushion_load* to = &c->load[corner[3 * c->fan->feature[k / 3] + k % 3]];
        to->had += to->borne > 0.0 ? from->had / count : 0.0;
        to->owed += to->borne > 0.0 ? from->owed / count : 0.0;
    }
    if (count > 0)
    {
        from->had = from->owed = 0.0;
    }
}

static void recall_loads(contact* c)
{
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->load[i].had = c->now.last->memory[i].load;
        c->load[i].owed = c->now.last->memory[i].owed[1];
    }
    for (int i = 0; i < c->cloth_count; i++)
    {
        if (c->load[i].borne == 0.0 && (c->load[i].had != 0.0 || c->load[i].owed != 0.0))
        {
            pass_on(c, i);
        }
    }
}

// The normal force of friction. What bears now says too much where cushions of one vertex work against each other, and
// too little where what slides has just found new ones: all of them together get what they had at the end of the last
// substep, which the state remembers, in the shares in which cushions bear each vertex, so that nothing is lost. The
// side that remembers more counts, as what slides comes to places that remember nothing, and of two sides that one
// which can move. Where there was nothing it is what stops an approach, shared by those that stop it. What turned out
// to be too little or too much is made up for in the next substep: over some of them friction is mu times the normal
// force, however that jumps.
static double normal_force(const contact* c, const cushion* s)
{
    double share[2] = {0.0, 0.0}, stopped = 1.0;
    bool moves[2] = {false, false};
    for (int a = 0; a < 4; a++)
    {
        int i = s->vertex[a], side = s->weight[a] < 0.0;
        if (i < c->cloth_count && s->weight[a] != 0.0)
        {
            const cushion_load* all = &c->load[i];
            share[side] += fabs(s->weight[a]) * fmax(all->had + all->owed, 0.0) / all->borne;
            stopped = all->stopped > 0.0 ? fmin(stopped, all->most / all->stopped) : stopped;
            moves[side] = moves[side] || c->record[i] < 0;
        }
    }
    double first = moves[0] || !moves[1] ? share[0] : 0.0, second = moves[1] || !moves[0] ? share[1] : 0.0;
    double most = fmax(first, second);
    return most > 0.0 ? most * borne_by(s) : stopped * s->stopped;
}

// ---- the expected motion

// A cushion of a touch has no row; its friction is that of its vertex alone.
static double give_aside(const contact* c, const cushion* s)
{
    return s->row >= 0 ? s->inv_mass_aside : c->inv_mass[s->vertex[0]];
}

// What is prescribed wholly does not yield.
static vec3 yield_aside(const contact* c, int i, vec3 impulse)
{
    return c->fixed[i] ? v3(0, 0, 0) : contact_yield(c, i, impulse);
}

// Where vertices go without friction: the expected velocity less what the last friction has in it.
static void glide_free(contact* c)
{
    const contact_state* last = c->now.last;
    for (int i = 0; i < c->cloth_count; i++)
    {
        c->glide[i] = last->memory[i].friction;
    }
    for (int b = 0; b < last->bond_count; b++)
    {
        bond_add(c, &last->bonds[b], last->bonds[b].force, c->glide);
    }
    for (int i = 0; i < c->cloth_count; i++)
    {
        vec3 change = v3_scale(c->now.h, yield_aside(c, i, c->glide[i]));
        c->glide[i] = v3_sub(c->velocity[i], change);
    }
}

// Friction takes what is left of the pair's motion, up to its limit in all.
static void glide_rub(contact* c, cushion* s)
{
    double most = c->now.h * s->limit;
    vec3 u = across(cushion_speed(c, s, c->glide), s->normal);
    vec3 rubbed = v3_madd(s->rubbed, -1.0 / give_aside(c, s), u);
    double size = v3_length(rubbed);
    rubbed = size > most ? v3_scale(most / size, rubbed) : rubbed;
    vec3 change = v3_sub(rubbed, s->rubbed);
    s->rubbed = rubbed;
    for (int k = 0; k < 4; k++)
    {
        int i = s->vertex[k];
        if (i < c->cloth_count && s->weight[k] != 0.0)
        {
            c->glide[i] = v3_madd(c->glide[i], s->weight[k], yield_aside(c, i, change));
        }
    }
}

static void glide(contact* c)
{
    glide_free(c);
    for (int k = 0; k < SWEEPS * c->cushion_count; k++)
    {
        cushion* s = &c->cushions[k % c->cushion_count];
        if (s->limit > 0.0)
        {
            glide_rub(c, s);
        }
    }
}

// ---- in the system

// Between cloths, or of one with itself. Edges of obstacles keep the older rule: with that of cloths a sheet that is held
// on all sides and pressed by a ball does not come to rest.
static bool of_cloths(const contact* c, const cushion* s)
{
    bool cloth = s->row >= 0;
    for (int a = 0; a < 4; a++)
    {
        cloth = cloth && (s->vertex[a] < c->cloth_count || s->weight[a] == 0.0);
    }
    return cloth;
}

// Friction at rest is as stiff as a cushion at its thickness, and critically damped.
static void rub_cling(const contact* c, cushion* s, vec3 drawn)
{
    const contact_row* row = (const contact_row*)c->rows.item + s->row;
    double rate_sq = CUSHION_ACCELERATION / row->thickness;
    s->cling = rate_sq / s->inv_mass_aside;
    s->slip = 2.0 * sqrt(rate_sq) / s->inv_mass_aside;
    s->drawn = across(drawn, s->normal);
}

static bool has_friction(const cushion* s)
{
    return s->friction.rub > 0.0 && s->inv_mass_aside > 0.0;
}

// What it may exert, and what goes on clinging.
static void rub_begin(contact* c, cushion* s, const contact_bond* bond)
{
    if (!has_friction(s))
    {
        return;
    }
    double force = normal_force(c, s);
    s->driven = bond && bond->clings == BOND_GIVES;
    if (bond && bond->clings != BOND_SLIDES)
    {
        rub_cling(c, s, bond->drawn);
        s->limit = (s->driven ? s->friction.rub : s->friction.hold) * force;
        return;
    }
    s->limit = s->friction.rub * force;
}

// What gave way goes on to, with mu N, where the expected motion is more than friction can stop. Its direction is that
// of the spring as it would be drawn now: of the motion where that is fast, of what held it where it hardly moves. One
// that follows the motion alone would let sheets creep down by sideways trembling.
static void rub_give(const contact* c, cushion* s)
{
    vec3 end = across(cushion_speed(c, s, c->glide), s->normal);
    bool spent = v3_length(s->rubbed) > 0.999 * c->now.h * s->limit && v3_dot(end, s->rubbed) < 0.0;
    vec3 now = across(cushion_speed(c, s, c->now.v), s->normal), t = v3_madd(now, 1.0 / c->now.h, s->drawn);
    double size = v3_length(t);
    if (s->turned || !spent || !(size > 0.0))
    {
        return; // the spring stops it
    }
    s->cling = 0.0;
    s->along = v3_scale(1.0 / size, t);
    s->rub = v3_scale(-s->limit, s->along);
    s->slip = s->limit / size;
}

// Coulomb's friction around the motion that is expected. Across it no more than at the present speed: elastic forces
// lead elsewhere than inertia does, and would be held by any multiple of mu N.
static void rub_set(const contact* c, cushion* s)
{
    const double halt = 0.5; // of its speed: with all of it many pairs at a vertex hardly come to rest
    vec3 end = across(cushion_speed(c, s, c->glide), s->normal);
    vec3 now = across(cushion_speed(c, s, c->now.v), s->normal);
    double size = v3_length(end), speed = v3_length(now);
    bool spent = v3_length(s->rubbed) > 0.999 * c->now.h * s->limit;
    if (!s->turned && size > CONTACT_CREEP && spent && v3_dot(end, s->rubbed) < 0.0)
    {
        s->along = v3_scale(1.0 / size, end);
        s->rub = v3_scale(-s->limit, s->along);
        s->slip = s->limit / (of_cloths(c, s) ? fmax(size, speed) : size);
        return;
    }
    if (s->driven && !s->turned && speed > CONTACT_CREEP)
    {
        s->along = v3_scale(1.0 / speed, now);
        s->rub = v3_scale(-s->limit, s->along);
        s->slip = s->limit / speed;
        return;
    }
    bool slow = s->row >= 0 || speed < 0.1 * c->now.h * s->limit * give_aside(c, s);
    s->slip = s->limit / fmax((slow ? halt : 1.0) * speed, CONTACT_CREEP);
}

// Cushions are in the order of rows, as bonds are; those of touches and springs of particles are behind them.
void rub_all(contact* c)
{
    sum_loads(c);
    recall_loads(c);
    for (int k = 0, bond = 0; k < c->cushion_count && c->cushions[k].row >= 0; k++)
    {
        const contact_row* row = (const contact_row*)c->rows.item + c->cushions[k].row;
        rub_begin(c, &c->cushions[k], bond_of(c->now.last, row, &bond));
    }
    glide(c);
    for (int k = 0; k < c->cushion_count; k++)
    {
        cushion* s = &c->cushions[k];
        if (s->limit > 0.0 && s->cling == 0.0)
        {
            rub_set(c, s);
        }
        else if (s->limit > 0.0 && s->driven)
        {
            rub_give(c, s);
        }
    }
}

void rub_touch(contact* c, touch* t)
{
    int i = t->vertex;
    cushion s = {.row = -1, .vertex = {i, i, i, i}, .weight = {1, 0, 0, 0}, .normal = t->normal};
    s.drift = v3_scale(-1.0, t->velocity);
    s.limit = t->friction.rub * t->force;
    s.turned = t->turned;
    s.driven = c->now.last->memory[i].calm == TOUCH_DRIVEN;
    t->cushion = c->cushion_count;
    c->cushions[c->cushion_count++] = s;
}

vec3 cushion_friction(const contact* c, const cushion* s, vec3 u)
{
    vec3 slide = across(u, s->normal), drawn = v3_madd(s->drawn, c->now.h, slide);
    return v3_madd(v3_madd(s->rub, -s->cling, drawn), -s->slip, across(slide, s->along));
}

// ---- after the solve

// What was expected may be far off: where others hold the pair (ties, say) a constant force against motion that does
// not come would set it in motion, and do work. What then goes the wrong way, faster than it went before and by more
// than a tenth of the thickness, is solved again with friction that cannot.
bool rub_turns(const contact* c, const cushion* s, double thickness, const vec3* v)
{
    const double share = 0.1;
    vec3 slide = across(cushion_speed(c, s, v), s->normal), before = across(cushion_speed(c, s, c->now.v), s->normal);
    double faster = v3_length(slide) - v3_length(before);
    return v3_dot(s->rub, slide) > 0.0 && c->now.h * faster > share * thickness;
}

// Elastic forces are often far above the inertia of a vertex: friction was to stop it and they draw it on, or it slides
// on by them. Then friction is mu N against the motion, whatever inertia says. Of cushions that is known of those alone
// that clung and were drawn by more than friction at rest can bear (rub_bond): many share the load of a vertex, and
// what viscous friction of one exceeds others lack.
bool rub_is_driven(const contact* c, const cushion* s, vec3 u)
{
    vec3 slide = across(u, s->normal);
    if (rub_slides(s))
    {
        return s->limit > 0.0 && s->driven && v3_dot(s->rub, slide) < 0.0;
    }
    return s->row < 0 && v3_length(cushion_friction(c, s, u)) > s->limit;
}

// Sides of a vertex: what lies between two layers is held by one and draws the other.
static int side_of(const cushion_load* load, const cushion* s, int a)
{
    return v3_dot(load->up, s->normal) * s->weight[a] < 0.0;
}

void rub_bear(const contact* c, const cushion* s, double push, vec3 u)
{
    vec3 force = cushion_friction(c, s, u);
    for (int a = 0; a < 4; a++)
    {
        if (s->vertex[a] < c->cloth_count && s->weight[a] != 0.0)
        {
            cushion_load* load = &c->load[s->vertex[a]];
            load->up = v3_dot(load->up, load->up) > 0.0 ? load->up : v3_scale(s->weight[a] < 0.0 ? -1.0 : 1.0, s->normal);
            int side = side_of(load, s, a);
            load->held[side] = v3_madd(load->held[side], s->weight[a], force);
            load->bears[side] += fabs(s->weight[a]) * fmax(push, 0.0);
        }
    }
}

// Whether friction at rest of the pair's vertices all together is more than it can be: pushes pass from cushion to
// cushion of a vertex all the time, and one of them alone says nothing.
static bool gives(const contact* c, const cushion* s)
{
    double held = 0.0, bears = 0.0;
    for (int a = 0; a < 4; a++)
    {
        int i = s->vertex[a];
        if (i < c->cloth_count && s->weight[a] != 0.0 && !c->fixed[i])
        {
            const cushion_load* load = &c->load[i];
            int side = side_of(load, s, a);
            held += fabs(s->weight[a]) * v3_length(load->held[side]);
            bears += fabs(s->weight[a]) * load->bears[side];
        }
    }
    return held > s->friction.hold * bears;
}

// What the pair does next: goes on to cling up to the coefficient at rest, or clings when it has come to a stop.
contact_bond rub_bond(const contact* c, const cushion* s, double push, vec3 u)
{
    const contact_row* row = (const contact_row*)c->rows.item + s->row;
    contact_bond next = {.kind = (int)row->kind, .first = row->pair.first, .second = row->pair.second};
    vec3 slide = across(u, s->normal);
    next.force = cushion_friction(c, s, u);
    next.push = v3_scale(push, s->normal);
    memcpy(next.vertex, s->vertex, sizeof(next.vertex));
    memcpy(next.weight, s->weight, sizeof(next.weight));
    double size = v3_length(next.force);
    if (!has_friction(s))
    {
        return next;
    }
    if (s->cling > 0.0)
    {
        bool holds = size <= s->friction.hold * push;
        bool given = of_cloths(c, s) ? gives(c, s) : v3_length(slide) > CONTACT_SLOW;
        next.clings = holds || !given ? BOND_CLINGS : of_cloths(c, s) ? BOND_GIVES : BOND_SLIDES;
        next.drawn = holds ? v3_madd(s->drawn, c->now.h, slide)
                           : v3_scale(-s->friction.rub * push / (size * s->cling), next.force);
        return next;
    }
    cushion held = *s;
    rub_cling(c, &held, v3(0, 0, 0));
    if (s->driven)
    {
        vec3 drawn = v3_madd(s->drawn, c->now.h, slide);
        double share = s->limit / fmax(held.cling * v3_length(drawn), s->limit);
        next.clings = share < 1.0 ? BOND_GIVES : BOND_CLINGS;
        next.drawn = v3_scale(share, drawn);
        return next;
    }
    bool on = of_cloths(c, s) && !rub_slides(s) && size > s->limit && gives(c, s);
    next.clings = on ? BOND_GIVES : v3_length(slide) <= CONTACT_CREEP ? BOND_CLINGS : BOND_SLIDES;
    next.drawn = v3_scale(-(on ? s->limit / size : 1.0) / held.cling, next.force);
    return next;
}

bool rub_slides(const cushion* s)
{
    return s->limit == 0.0 || v3_dot(s->rub, s->rub) > 0.0;
}

// Whether viscous friction has brought it to a stop, nearly: what is left of its motion is a fifth of what friction can
// stop in a substep.
bool rub_rests(const contact* c, const cushion* s, vec3 u)
{
    const double share = 0.2;
    double speed = v3_length(across(u, s->normal));
    return !rub_slides(s) && speed <= share * c->now.h * s->limit * give_aside(c, s);
}

// What the friction of a pair has missed is owed to its vertices, as a normal force. Where nothing slides any more
// nothing is. A debt that is more than the load, so that there is no friction, is forgotten by halves, as is what has
// left its cushions: a pull of a landing must not make cloth smooth for long.
void rub_owe(contact* c, const cushion* s, double push, vec3 u)
{
    bool rests = !has_friction(s) || s->cling > 0.0 || !rub_slides(s);
    double missed = rests ? 0.0 : push - v3_length(cushion_friction(c, s, u)) / s->friction.rub;
    for (int a = 0; a < 4; a++)
    {
        int i = s->vertex[a];
        if (i < c->cloth_count && s->weight[a] != 0.0)
        {
            double had = c->load[i].counted || rests ? 0.0 : c->load[i].owed;
            c->load[i].counted = c->load[i].counted || !rests;
            c->next.memory[i].owed[1] += (s->limit > 0.0 ? 1.0 : 0.5) * (had + fabs(s->weight[a]) * missed);
        }
    }
}
