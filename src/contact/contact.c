// Arrays of contact, and what its parts share.
#include "contact/contact.h"

#include <string.h>

#include "contact/find.h"

// ---- arrays

weft_status contact_create(contact* c, weft_collider* collider, int cloth_count, int vertex_count, int body_count)
{
    size_t n = (size_t)vertex_count;
    *c = (contact){.collider = collider, .cloth_count = cloth_count, .vertex_count = vertex_count};
    c->body = MEM_NEW(n, int);
    c->inv_mass = MEM_NEW(n, double);
    c->friction = MEM_NEW(body_count, friction);
    c->thickness = MEM_NEW(n, double);
    c->girth = MEM_NEW(body_count, double);
    c->rest = MEM_NEW(cloth_count, vec3);
    c->start = MEM_NEW(n + 1, vec3);
    c->end = MEM_NEW(n + 1, vec3);
    c->velocity = MEM_NEW(n, vec3);
    c->framed = MEM_NEW(n, vec3);
    c->strays = MEM_NEW(cloth_count, int);
    c->load = MEM_NEW(cloth_count, cushion_load);
    c->lost = MEM_NEW(cloth_count, vec3);
    c->glide = MEM_NEW(cloth_count, vec3);
    c->fixed = MEM_NEW(cloth_count, bool);
    c->between = MEM_NEW(cloth_count, bool);
    c->record = MEM_NEW(cloth_count, int);
    c->awake = MEM_NEW(n, uint8_t);
    c->island = MEM_NEW(n, int);
    c->visits = MEM_NEW(n, int);
    c->marked = MEM_NEW(n, uint8_t);
    c->zone = MEM_NEW(n, int);
    c->zone_motion = MEM_NEW(n, vec3);
    c->zone_mass = MEM_NEW(n, double);
    bool ok = c->body && c->inv_mass && c->friction && c->thickness && c->girth && c->rest && c->start && c->end &&
              c->velocity && c->framed && c->strays && c->load && c->lost && c->glide && c->fixed && c->between &&
              c->record && c->awake && c->island && c->visits && c->marked && c->zone && c->zone_motion && c->zone_mass;
    TRY(ok ? WEFT_OK : WEFT_NO_MEMORY);
    for (int i = 0; i < vertex_count; i++)
    {
        c->zone[i] = i;
    }
    TRY(contact_state_create(&c->next, cloth_count));
    c->fan = &collider->extender.star[1];
    return WEFT_OK;
}

void contact_finish(contact* c)
{
    weft_collider_destroy(c->collider);
    void* const arrays[] = {
        c->skin,    c->body,       c->inv_mass, c->friction,  c->thickness,   c->girth,     c->rest,      c->kin,
        c->sewn,    c->start,      c->end,      c->velocity,  c->framed,      c->rows.item,
        c->touches, c->cushions,   c->load,     c->couplings, c->record,      c->awake,     c->island,    c->visits,
        c->pushes,  c->found.item, c->stuck,    c->zone,      c->zone_motion, c->zone_mass, c->projected, c->lost,
        c->glide,   c->fixed,      c->between,  c->strays,    c->seam,        c->room,      c->drawn};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    squeeze_finish(c);
    particles_finish(c);
    coupled_finish(&c->coupled);
    contact_state_finish(&c->next);
    *c = (contact){0};
}

static bool arrays_tear(contact* c, size_t first, size_t more)
{
    struct
    {
        void** array;
        size_t count, size;
    } const all[] = {
        {(void**)&c->body, (size_t)c->vertex_count, sizeof(int)},
        {(void**)&c->inv_mass, (size_t)c->vertex_count, sizeof(double)},
        {(void**)&c->thickness, (size_t)c->vertex_count, sizeof(double)},
        {(void**)&c->start, (size_t)c->vertex_count + 1, sizeof(vec3)},
        {(void**)&c->end, (size_t)c->vertex_count + 1, sizeof(vec3)},
        {(void**)&c->velocity, (size_t)c->vertex_count, sizeof(vec3)},
        {(void**)&c->framed, (size_t)c->vertex_count, sizeof(vec3)},
        {(void**)&c->awake, (size_t)c->vertex_count, sizeof(uint8_t)},
        {(void**)&c->island, (size_t)c->vertex_count, sizeof(int)},
        {(void**)&c->visits, (size_t)c->vertex_count, sizeof(int)},
        {(void**)&c->marked, (size_t)c->vertex_count, sizeof(uint8_t)},
        {(void**)&c->zone, (size_t)c->vertex_count, sizeof(int)},
        {(void**)&c->zone_motion, (size_t)c->vertex_count, sizeof(vec3)},
        {(void**)&c->zone_mass, (size_t)c->vertex_count, sizeof(double)},
        {(void**)&c->rest, (size_t)c->cloth_count, sizeof(vec3)},
        {(void**)&c->strays, (size_t)c->cloth_count, sizeof(int)},
        {(void**)&c->load, (size_t)c->cloth_count, sizeof(cushion_load)},
        {(void**)&c->lost, (size_t)c->cloth_count, sizeof(vec3)},
        {(void**)&c->glide, (size_t)c->cloth_count, sizeof(vec3)},
        {(void**)&c->fixed, (size_t)c->cloth_count, sizeof(bool)},
        {(void**)&c->between, (size_t)c->cloth_count, sizeof(bool)},
        {(void**)&c->record, (size_t)c->cloth_count, sizeof(int)},
        {(void**)&c->next.memory, (size_t)c->cloth_count, sizeof(contact_memory)},
    };
    bool ok = true;
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]) && ok; k++)
    {
        ok = array_insert(all[k].array, first, more, all[k].count, all[k].size);
    }
    return ok;
}

// As in a new one; arrays stay.
static void forget_substep(contact* c)
{
    c->rows.count = c->found.count = 0;
    c->touch_count = c->cushion_count = c->coupling_count = c->projected_count = c->push_count = c->stuck_count = 0;
    c->marks.count = c->crossed.count = c->squeezed_count = c->passed_count = 0;
    c->next.marks.count = c->next.bond_count = 0;
    c->contacts = c->last_resort = c->releases = 0;
    c->sifted = c->strayed = c->unsettled = c->draws = c->crowded = c->early = false;
    c->effort = 0.0;
    coupled_finish(&c->coupled);
    squeeze_forget(c);
}

weft_status contact_tear(contact* c, const torn_vertices* torn)
{
    if (c->room || c->seam || c->kin || torn->first != c->cloth_count)
    {
        return WEFT_NOT_FOUND;
    }
    TRY(collider_tear(c->collider, torn));
    TRY(arrays_tear(c, (size_t)torn->first, (size_t)torn->count) ? WEFT_OK : WEFT_NO_MEMORY);
    for (int k = 0; k < torn->count; k++)
    {
        int i = torn->first + k;
        c->body[i] = c->body[torn->from[k]];
        c->thickness[i] = c->thickness[torn->from[k]];
        c->rest[i] = c->rest[torn->from[k]];
    }
    c->cloth_count += torn->count;
    c->vertex_count += torn->count;
    c->next.vertex_count = c->cloth_count;
    for (int i = 0; i < c->vertex_count; i++)
    {
        c->zone[i] = i;
    }
    forget_substep(c);
    return WEFT_OK;
}

// ---- the rule of friction

// Both sides count: the geometric mean of what they say, so that equal ones give the same and a smooth one makes the
// pair smooth. A body that says nothing takes what the other says; where none does, what the scene says.
static friction friction_of(const contact* c, friction a, friction b, bool one)
{
    if (a.rub < 0.0 || b.rub < 0.0)
    {
        return a.rub >= 0.0 ? a : b.rub >= 0.0 ? b : c->unsaid;
    }
    return one ? a : (friction){sqrt(a.hold * b.hold), sqrt(a.rub * b.rub)};
}

friction contact_friction(const contact* c, int body, int other)
{
    return friction_of(c, c->friction[body], c->friction[other], body == other);
}

friction contact_friction_at(const contact* c, const int vertex[4], int first, const double weight[4])
{
    int a = vertex[0], b = vertex[first], n = c->cloth_count;
    if (!c->skin || (a < n && b < n))
    {
        return contact_friction(c, c->body[a], c->body[b]);
    }
    friction cloth = c->friction[c->body[a < n ? a : b]], sum = {0};
    double all = 0.0;
    for (int k = a < n ? first : 0; k < (a < n ? 4 : first); k++)
    {
        friction both = friction_of(c, cloth, c->skin[vertex[k] - n], false);
        double share = fabs(weight[k]);
        sum.hold += share * both.hold;
        sum.rub += share * both.rub;
        all += share;
    }
    return all > 0.0 ? (friction){sum.hold / all, sum.rub / all} : friction_of(c, cloth, c->skin[b - n], false);
}

// ---- masses

vec3 contact_yield(const contact* c, int vertex, vec3 impulse)
{
    vec3 d = v3_scale(c->inv_mass[vertex], impulse);
    int record = vertex < c->cloth_count ? c->record[vertex] : -1;
    return record < 0 ? d : m3_mul_v(c->now.pins[record].S, d);
}

double contact_inv_mass(const contact* c, const int vertex[4], const double weight[4], vec3 direction)
{
    const double least = 0.0025; // (1/20)^2
    double sum = 0.0, lightest = 0.0;
    for (int k = 0; k < 4; k++)
    {
        sum += weight[k] * weight[k] * v3_dot(direction, contact_yield(c, vertex[k], direction));
        lightest = fmax(lightest, c->inv_mass[vertex[k]]);
    }
    return sum >= least * lightest ? sum : 0.0;
}

double contact_inv_mass_aside(const contact* c, const contact_row* row)
{
    vec3 other = fabs(row->normal.x) < 0.6 ? v3(1, 0, 0) : v3(0, 1, 0);
    vec3 a = v3_normalize(v3_cross(row->normal, other)), b = v3_cross(row->normal, a);
    return 0.5 * (contact_inv_mass(c, row->vertex, row->weight, a) + contact_inv_mass(c, row->vertex, row->weight, b));
}

// ---- the parts of a step

void contact_begin(contact* c)
{
    c->squeezed_count = c->passed_count = 0;
    c->contacts = c->last_resort = 0;
    c->effort = 0.0;
}

// Layers that are thick beside their edges have more neighbours; and cloth of few vertices over a fine body meets all
// of its features, however still both are.
double contact_size(const contact* c)
{
    const double thick_max = 16.0, body_share = 0.3;
    double thick = 1.0 + c->reach / c->edge;
    double each = c->edge > 0.0 ? fmin(thick * thick, thick_max) : thick_max;
    return each * c->cloth_count + body_share * (c->vertex_count - c->cloth_count);
}

bool contact_is_spent(const contact* c)
{
    const double most = 30e3; // steps with many substeps and folds take some thousands
    return c->effort > most * contact_size(c);
}

// In a short substep, in which weight takes cloth through less than half of its layer, what pulls may do so once: it is
// not taken in the next one, and friction counts what is left of pushes and pulls. In a long one it would have gone far
// by then. But what pulls hard, in an impact, is let go at once, and what does so twice as hard after each solve:
// letting go makes neighbours pull that did not, and ever less (on a sphere of 40,401 vertices a second solve moves
// what it lets go by a tenth to a half of the thickness, third and fourth ones by a twentieth to a fifth). Before the
// last solve nothing is let go, only taken: nobody would look whether it falls.
pull_limits contact_pull_limits(const contact* c, double thickness)
{
    const double weight = 9.81; // m/s^2
    const double share = 0.1;   // of the thickness, that something is moved the wrong way
    double h_sq = c->now.h * c->now.h;
    bool is_short = weight * h_sq < 0.5 * thickness;
    bool is_last = c->releases >= (c->now.waits ? RELEASES_ROUGH : RELEASES_MAX);
    double hard = ldexp(CUSHION_ACCELERATION, c->releases - 1);
    double most = is_short ? hard : is_last || c->early ? INFINITY : share * thickness / h_sq;
    return (pull_limits){most, is_short || c->early ? -INFINITY : (1.0 - share) * thickness};
}

int contact_release(contact* c, contact_reaction_fn* reaction, const void* user, const vec3* v, bool early)
{
    c->releases++;
    c->early = early;
    int count = touches_release(c, reaction, user, v) + cushions_release(c, v);
    c->early = false;
    c->releases -= early && count == 0;
    return count;
}

uint64_t contact_pattern(const contact* c)
{
    bool adds = c->coupling_count > 0 && c->coupled.extra_start[c->cloth_count] > 0;
    return adds ? c->coupled.version : 0;
}

void contact_remember(contact* c, contact_reaction_fn* reaction, const void* user, vec3* v)
{
    touch_remember(c, reaction, user, v);
    project_remember(c);
    cushions_remember(c, v);
}
