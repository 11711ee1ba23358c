// Splits elements (split.h). By the criterion an element e is explicit when
//
//     h^2 lambda(M_e^-1 K_e) + 2 h lambda(M_e^-1 D_e) <= 8 c,
//
// M_e its shares of the masses of its vertices, which are divided among the explicit elements there. With four equal
// springs at each vertex that is Boxerman's (4.8), h (k_s h + 2 k_d) / m <= c.
//
// The thesis gives each connection the same share. Here shares go by need, which leaves room for more: with n_e the
// left side for whole masses, e gets n_e / s_i of the mass of vertex i, s_i the sum of needs of the explicit elements
// at i, and the condition becomes
//
//     s_i <= 8 c at every vertex i of e.
//
// So soft elements (bending) are explicit beside stiff implicit ones, and equal ones have equal shares. Which are left
// out where the sum is too large: the largest, by factors of two: limit_i is the largest power of two (times 8 c) up to
// which all needs at i may be taken, and e is explicit when its need is within the limits of all its vertices. One
// pass, no order of visits, hence the same on any number of threads. docs/time.md has the proof that this is stable.
#include "step/split.h"

#include <string.h>

enum
{
    LOADS = 16, // needs in (8 c / 2^(k + 1), 8 c / 2^k]; the last has all below
    BOUND_GRAIN = 512
};

const char* const split_counters[] = {"implicit_elements", "explicit_elements", "inactive_elements", NULL};

weft_status split_create(split* s, const world* w)
{
    const element_groups* groups = &w->model->groups;
    int most = 1;
    s->flags = MEM_NEW(groups->count + 1, uint8_t*);
    s->need = MEM_NEW(groups->count + 1, float*);
    bool ok = s->flags && s->need;
    for (int g = 0; ok && g < groups->count; g++)
    {
        most = int_max(most, groups->list[g].count);
        s->flags[g] = MEM_NEW(groups->list[g].count + 1, uint8_t);
        s->need[g] = MEM_NEW(groups->list[g].count + 1, float);
        ok = s->flags[g] && s->need[g];
    }
    if (ok && s->rule == SPLIT_CRITERION)
    {
        s->bounds = mem_alloc((size_t)most, sizeof(*s->bounds));
        s->load = mem_alloc((size_t)w->model->vertex_count + 1, sizeof(*s->load));
        s->limit = MEM_NEW(w->model->vertex_count + 1, float);
        ok = s->bounds && s->load && s->limit;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static void finish_groups(void** list)
{
    for (int g = 0; list && list[g]; g++)
    {
        mem_free(list[g]);
    }
    mem_free(list);
}

void split_finish(split* s)
{
    finish_groups((void**)s->flags);
    finish_groups((void**)s->need);
    mem_free(s->bounds);
    mem_free(s->load);
    mem_free(s->limit);
    *s = (split){0};
}

// ---- by type

static void decide_all(split* s, const element_groups* groups, uint8_t flag)
{
    for (int g = 0; g < groups->count; g++)
    {
        memset(s->flags[g], flag, (size_t)groups->list[g].count);
    }
}

static void decide_types(split* s, const world* w)
{
    static const char* const names[] = {"stretch", "shear", "bend", "air"};
    uint8_t flag[4];
    for (int k = 0; k < 4; k++)
    {
        flag[k] = world_setting(w, names[k]) > 0.0 ? ELEMENT_IMPLICIT : ELEMENT_EXPLICIT;
    }
    for (int g = 0; g < w->model->groups.count; g++)
    {
        const element_group* group = &w->model->groups.list[g];
        for (int e = 0; e < group->count; e++)
        {
            s->flags[g][e] = flag[role_of_element(group, e)];
        }
    }
}

// ---- by the criterion

typedef struct bound_context
{
    const element_context* element;
    const double* mass;
    double (*out)[2];
    uint8_t* slack;
    float* need;
    double stiff, damped; // what the two bounds count
    bool asked;           // the criterion decides on elements of this group, and they know their bounds
    bool known;           // else they are implicit; what nobody asks about needs nothing
} bound_context;

// Of elements that are not slack.
static void ask_bounds(const bound_context* c, int begin, int end)
{
    const element_kind* kind = c->element->group->kind;
    for (int e = begin; e < end;)
    {
        int last = e;
        while (last < end && !c->slack[last])
        {
            last++;
        }
        last > e ? kind->explicit_criterion(c->element, c->mass, e, last, c->out + e) : (void)0;
        e = last + 1;
    }
}

static void bound_chunk(void* context, int begin, int end)
{
    const bound_context* c = context;
    const element_kind* kind = c->element->group->kind;
    kind->slack ? kind->slack(c->element, begin, end, c->slack + begin) : (void)0;
    c->asked ? ask_bounds(c, begin, end) : (void)0;
    for (int e = begin; e < end; e++)
    {
        double need = c->asked ? c->stiff * c->out[e][0] + c->damped * c->out[e][1] : c->known ? 0.0 : INFINITY;
        c->need[e] = c->slack[e] ? -1.0f : (float)need;
    }
}

// Needs of a group; negative: slack. Without a bound an element stays implicit.
static void need_of(split* s, const world* w, int g, const element_motion* motion, bool chosen)
{
    const element_group* group = &w->model->groups.list[g];
    bool known = group->kind->explicit_criterion && element_kernels_for(group->kind, w->cpu)->force;
    element_context element = {group, motion};
    bound_context c = {.element = &element,
                       .mass = w->model->mass,
                       .out = s->bounds,
                       .slack = s->flags[g],
                       .need = s->need[g],
                       .stiff = w->h * w->h,
                       .damped = s->damping * w->h,
                       .asked = known && !chosen,
                       .known = known};
    memset(s->flags[g], 0, (size_t)group->count);
    parallel_for(w->pool, group->count, BOUND_GRAIN, bound_chunk, &c);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

// The largest k up to LOADS - 1 with need <= whole / 2^k, for 0 <= need <= whole: by exponents and mantissas, exactly.
static int load_of(float need, float whole)
{
    const uint32_t mantissa = 0x7fffff;
    uint32_t a = bits_of(whole), b = bits_of(need);
    int k = (int)(a >> 23) - (int)(b >> 23) - ((b & mantissa) > (a & mantissa));
    return int_max(0, int_min(k, LOADS - 1));
}

// Explicit whatever the criterion says: the thesis's choice.
static bool is_chosen(const element_group* group, int e, bool free_bends)
{
    return free_bends && role_of_element(group, e) == ROLE_BEND;
}

static void add_loads(split* s, const element_group* group, const float* need, float whole, bool free_bends)
{
    int arity = group->kind->arity;
    for (int e = 0; e < group->count; e++)
    {
        if (!(need[e] >= 0.0f && need[e] <= whole) || is_chosen(group, e, free_bends))
        {
            continue;
        }
        int k = load_of(need[e], whole);
        for (int a = 0; a < arity; a++)
        {
            s->load[group->vertices[arity * e + a]][k] += need[e];
        }
    }
}

static bool is_unloaded(const float load[LOADS])
{
    float most = 0.0f;
    for (int k = 0; k < LOADS; k++)
    {
        most += load[k];
    }
    return most == 0.0f;
}

static void find_limits(split* s, int vertex_count, float whole)
{
    for (int i = 0; i < vertex_count; i++)
    {
        float sum = 0.0f;
        int k = is_unloaded(s->load[i]) ? 0 : LOADS;
        while (k > 0 && sum + s->load[i][k - 1] <= whole)
        {
            sum += s->load[i][--k];
        }
        s->limit[i] = k < LOADS && whole > 0.0f ? ldexpf(whole, -k) : -1.0f;
    }
}

static uint8_t flag_of(const split* s, const int* vertex, int arity, float need)
{
    bool fits = true;
    for (int a = 0; a < arity; a++)
    {
        fits = fits && need <= s->limit[vertex[a]];
    }
    return fits ? ELEMENT_EXPLICIT : ELEMENT_IMPLICIT;
}

static void flag_group(split* s, const element_group* group, int g, bool free_bends)
{
    int arity = group->kind->arity;
    for (int e = 0; e < group->count; e++)
    {
        float need = s->need[g][e];
        s->flags[g][e] = need < 0.0f                       ? ELEMENT_INACTIVE
                         : is_chosen(group, e, free_bends) ? ELEMENT_EXPLICIT
                                                           : flag_of(s, group->vertices + arity * e, arity, need);
    }
}

static void decide_criterion(split* s, world* w, const element_motion* motion)
{
    const model* m = w->model;
    float whole = (float)(8.0 * world_setting(w, "criterion"));
    bool free_bends = world_setting(w, "bend_explicit") > 0.0;
    memset(s->load, 0, (size_t)m->vertex_count * sizeof(*s->load));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        bool chosen = free_bends && !group->kind->role_of && group->kind->role == ROLE_BEND;
        need_of(s, w, g, motion, chosen);
        chosen ? (void)0 : add_loads(s, group, s->need[g], whole, free_bends);
    }
    find_limits(s, m->vertex_count, whole);
    for (int g = 0; g < m->groups.count; g++)
    {
        flag_group(s, &m->groups.list[g], g, free_bends);
    }
}

// ----

static void count_flags(split* s, const element_groups* groups)
{
    s->implicit = s->explicit = s->inactive = 0;
    for (int g = 0; g < groups->count; g++)
    {
        for (int e = 0; e < groups->list[g].count; e++)
        {
            s->explicit += s->flags[g][e] == ELEMENT_EXPLICIT;
            s->inactive += s->flags[g][e] == ELEMENT_INACTIVE;
            s->implicit += s->flags[g][e] == ELEMENT_IMPLICIT;
        }
    }
}

bool split_bends_explicitly(const split* s, const world* w)
{
    switch (s->rule)
    {
    case SPLIT_EXPLICIT:
        return true;
    case SPLIT_TYPE:
        return world_setting(w, "bend") == 0.0;
    case SPLIT_CRITERION:
        return world_setting(w, "bend_explicit") > 0.0;
    default:
        return false;
    }
}

// What is slack leaves zeros in the matrix: no need to ask for them.
static void leave_slack_out(split* s, world* w, const element_motion* motion)
{
    for (int g = 0; g < w->model->groups.count; g++)
    {
        const element_group* group = &w->model->groups.list[g];
        element_context context = {group, motion};
        for (int e = 0; e < group->count && group->kind->slack; e++)
        {
            uint8_t slack = 0;
            s->flags[g][e] == ELEMENT_IMPLICIT ? group->kind->slack(&context, e, e + 1, &slack) : (void)0;
            s->flags[g][e] = slack ? ELEMENT_INACTIVE : s->flags[g][e];
        }
    }
}

void split_decide(split* s, world* w, const element_motion* motion)
{
    const element_groups* groups = &w->model->groups;
    switch (s->rule)
    {
    case SPLIT_IMPLICIT:
        decide_all(s, groups, ELEMENT_IMPLICIT);
        break;
    case SPLIT_EXPLICIT:
        decide_all(s, groups, ELEMENT_EXPLICIT);
        break;
    case SPLIT_TYPE:
        decide_types(s, w);
        break;
    case SPLIT_CRITERION:
        decide_criterion(s, w, motion);
        break;
    }
    s->rule != SPLIT_CRITERION ? leave_slack_out(s, w, motion) : (void)0;
    count_flags(s, groups);
}

void split_count(const split* s, world* w)
{
    const int counts[] = {s->implicit, s->explicit, s->inactive};
    for (int k = 0; k < 3; k++)
    {
        world_count(w, split_counters[k], counts[k]);
    }
}

void split_share(const split* s, const model* m, float* out)
{
    // Counts of active ones in the whole, of implicit ones in the fraction: exact in a float up to 4095 at a vertex.
    const float one = 0x1p-12f;
    memset(out, 0, (size_t)m->vertex_count * sizeof(float));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        int arity = group->kind->arity;
        for (int k = 0; k < arity * group->count; k++)
        {
            uint8_t flag = s->flags[g][k / arity];
            out[group->vertices[k]] += flag == ELEMENT_INACTIVE ? 0.0f : flag == ELEMENT_IMPLICIT ? 1.0f + one : 1.0f;
        }
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        float active = floorf(out[i]);
        out[i] = active > 0.0f ? (out[i] - active) / (one * active) : -1.0f;
    }
}
