// Garments are put on by growing the body: it starts as thin as it must for the cloth to be outside of it, and comes
// back to its size in steps of a simulation whose contact lets nothing through. There is neither weight nor friction,
// and velocities are dropped after each step, so that the cloth is drawn by its own elasticity alone and does not
// swing.
//
// A limb that crosses its sleeve is led through it (dress_thread.c). Left out: what lies beside a limb without crossing
// it stays beside it.
#include <string.h>

#include "collide/broad.h"

#include "start/dress.h"

enum
{
    LEVELS = 24, // of thinness that are looked at
    HOLD = 60,   // steps that are given to what crosses the thin body
    REST = 20,
    PROBES = 400, // places of a core
    PLACES = 3,   // that a garment is moved to at most, each way
    CUBE = 2 * PLACES + 1
};

static const double thinnest = 0.97;      // of the way to the core: what is left has a surface still
static const double threaded = 0.99;      // likewise, to one that is led through sleeves
static const double inside_least = 0.95;  // of these places, that stay inside of the garment
static const double place_spacing = 0.02; // m, between places of garments that are tried
static const double felt = 0.6;           // likewise, where cloth crosses the body all the same
static const double way_a_step = 0.004;   // m, of a vertex of the body

// ---- forms

bool dress_form_create(dress_form* form, const mesh* m)
{
    *form = (dress_form){.mesh = m};
    form->full = MEM_NEW(m->vertex_count, vec3);
    form->middle = MEM_NEW(m->vertex_count, vec3);
    form->core = MEM_NEW(m->vertex_count, vec3);
    form->last = MEM_NEW(m->vertex_count, vec3);
    return form->full && form->middle && form->core && form->last;
}

void dress_form_destroy(dress_form* form)
{
    mem_free(form->full);
    mem_free(form->middle);
    mem_free(form->core);
    mem_free(form->last);
    mem_free(form->hold);
    *form = (dress_form){0};
}

// All the way to the core of the body.
void dress_form_follow(dress_form* worn)
{
    for (int i = 0; i < worn->mesh->vertex_count; i++)
    {
        const dress_hold* h = &worn->hold[i];
        vec3 p = worn->last[i];
        worn->full[i] = worn->core[i] = p;
        for (int k = 0; k < 3 && h->form; k++)
        {
            int v = h->vertex[k];
            worn->full[i] = v3_madd(worn->full[i], h->weight[k], v3_sub(h->form->full[v], h->form->last[v]));
            worn->core[i] = v3_madd(worn->core[i], h->weight[k], v3_sub(h->form->core[v], p));
        }
    }
}

int dress_plan_steps(const dress_plan* plan)
{
    return plan->hold + plan->grow + plan->move + plan->rest;
}

// Slow at both ends, so that nothing is hit.
static double smooth_share(int step, int count)
{
    double s = count > 0 ? fmin(fmax((double)step / count, 0.0), 1.0) : 1.0;
    return s * s * (3.0 - 2.0 * s);
}

weft_status dress_form_sample(void* user, int step, weft_vec3* out, weft_error* error)
{
    const dress_form* form = user;
    const dress_plan* p = &form->plan;
    int after = step - p->hold;
    double thin = p->share * (1.0 - fmin(fmax(after, 0) / fmax(p->grow, 1), 1.0));
    after -= p->grow;
    double moved = after >= 0 ? smooth_share(after, p->move) : 0.0;
    (void)error;
    for (int i = 0; i < form->mesh->vertex_count; i++)
    {
        vec3 x = v3_madd(form->full[i], thin, v3_sub(form->core[i], form->full[i]));
        out[i] = v3_madd(x, moved, v3_sub(form->last[i], form->full[i]));
    }
    return WEFT_OK;
}

// ---- how thin

// Whether garments are around a body: winding numbers of each at places of the cores.
typedef struct surround
{
    winding_tree* trees; // [cloth_count]
    vec3* places;        // [count]
    int count;
} surround;

static void surround_finish(surround* s, int cloth_count)
{
    for (int k = 0; k < cloth_count && s->trees; k++)
    {
        winding_finish(&s->trees[k]);
    }
    mem_free(s->trees);
    mem_free(s->places);
}

static weft_status surround_create(surround* s, const dress_case* all)
{
    *s =
        (surround){.trees = MEM_NEW(all->cloth_count, winding_tree), .places = MEM_NEW(PROBES * all->form_count, vec3)};
    TRY(s->trees && s->places ? WEFT_OK : WEFT_NO_MEMORY);
    for (int k = 0; k < all->cloth_count; k++)
    {
        const mesh* m = all->cloths[k].mesh;
        TRY(winding_create(&s->trees[k], m->triangle, m->triangle_count, all->cloths[k].x));
        winding_update(&s->trees[k], all->cloths[k].x);
    }
    for (int k = 0; k < all->form_count; k++)
    {
        const dress_form* f = all->forms[k];
        int n = f->flat ? 0 : int_min(PROBES, f->mesh->vertex_count);
        for (int j = 0; j < n; j++)
        {
            s->places[s->count++] = f->core[(int64_t)j * f->mesh->vertex_count / n];
        }
    }
    return WEFT_OK;
}

// How many of the places are inside of a garment that is moved by an offset.
static int surround_count(surround* s, int cloth_count, vec3 offset)
{
    int inside = 0;
    for (int k = 0; k < s->count; k++)
    {
        bool in = false;
        for (int c = 0; c < cloth_count && !in; c++)
        {
            in = winding_exceeds(&s->trees[c], v3_sub(s->places[k], offset), 0.5);
        }
        inside += in;
    }
    return inside;
}

typedef struct thinning
{
    const dress_case* all;
    weft_inspector* inspector;
    const vec3** positions; // [cloth_count + form_count]
    vec3** thin;            // [form_count]
} thinning;

static void thinning_finish(thinning* t)
{
    for (int k = 0; k < t->all->form_count && t->thin; k++)
    {
        mem_free(t->thin[k]);
    }
    mem_free(t->thin);
    mem_free(t->positions);
    weft_inspector_destroy(t->inspector);
}

static weft_status thinning_create(thinning* t, const dress_case* all, weft_error* error)
{
    int count = all->cloth_count + all->form_count;
    *t = (thinning){.all = all};
    t->positions = MEM_NEW(count, const vec3*);
    t->thin = MEM_NEW(all->form_count, vec3*);
    weft_inspect_body* bodies = MEM_NEW(count, weft_inspect_body);
    weft_status status = t->positions && t->thin && bodies ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        bool cloth = k < all->cloth_count;
        const mesh* m = cloth ? all->cloths[k].mesh : all->forms[k - all->cloth_count]->mesh;
        vec3* thin = cloth ? NULL : MEM_NEW(m->vertex_count, vec3);
        status = cloth || thin ? WEFT_OK : WEFT_NO_MEMORY;
        t->positions[k] = cloth ? all->cloths[k].x : thin;
        cloth ? (void)0 : (void)(t->thin[k - all->cloth_count] = thin);
        bodies[k] = (weft_inspect_body){.obstacle = !cloth,
                                        .vertex_count = m->vertex_count,
                                        .triangle_count = m->triangle_count,
                                        .triangles = m->triangle};
    }
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = all->worker_count;
    def.crossings_only = 1;
    def.pair_limit = INT32_MAX / 64;
    status = status == WEFT_OK ? weft_inspector_create(&def, bodies, count, &t->inspector, error) : status;
    mem_free(bodies);
    return status;
}

// Pairs of cloth and forms that cross at that share; cloth with cloth is another matter.
static weft_status thinning_count(thinning* t, double share, int* out, weft_error* error)
{
    weft_inspection found;
    for (int k = 0; k < t->all->form_count; k++)
    {
        dress_form form = *t->all->forms[k];
        form.plan = (dress_plan){.share = share, .hold = 1};
        TRY(dress_form_sample(&form, 0, t->thin[k], error));
        for (int i = 0; i < form.mesh->vertex_count; i++)
        {
            t->thin[k][i] = v3_round(v3_sub(t->thin[k][i], t->all->offset));
        }
    }
    TRY(weft_inspector_frame(t->inspector, t->positions, &found, error));
    *out = 0;
    for (int k = 0; k < found.pair_count; k++)
    {
        *out += found.pairs[k].body[1] >= t->all->cloth_count;
    }
    return WEFT_OK;
}

// The longest way of a vertex: from the core to its place, or from there to the last.
static double longest_way(const dress_case* all, bool last)
{
    double most = 0.0;
    for (int k = 0; k < all->form_count; k++)
    {
        const dress_form* f = all->forms[k];
        for (int i = 0; i < f->mesh->vertex_count; i++)
        {
            most = fmax(most, v3_length(v3_sub(last ? f->last[i] : f->core[i], f->full[i])));
        }
    }
    return most;
}

// A state of the forms is tried: is it the best so far?
static weft_status consider(thinning* t, double share, dress_plan* plan, int* fewest, weft_error* error)
{
    int count = 0;
    TRY(thinning_count(t, share, &count, error));
    if (count < *fewest)
    {
        plan->share = share;
        *fewest = count;
    }
    return WEFT_OK;
}

// Moves the cloths as a whole to the nearest place where the thinnest body does not cross them and is as much inside of
// them as before, or to that where it crosses least: places of a grid around the given one, shell by shell.
static weft_status search_places(thinning* t, dress_case* all, surround* s, int* left, weft_error* error)
{
    vec3 best = v3(0, 0, 0);
    int inside = surround_count(s, all->cloth_count, best);
    TRY(thinning_count(t, thinnest, left, error));
    for (int shell = 1; shell <= PLACES * PLACES && *left > 0; shell++)
    {
        for (int k = 0; k<CUBE * CUBE * CUBE&& * left> 0; k++)
        {
            int a = k % CUBE - PLACES, b = k / CUBE % CUBE - PLACES, c = k / (CUBE * CUBE) - PLACES, count = 0;
            vec3 place = v3(place_spacing * a, place_spacing * b, place_spacing * c);
            if (a * a + b * b + c * c != shell || surround_count(s, all->cloth_count, place) < inside_least * inside)
            {
                continue;
            }
            all->offset = place;
            TRY(thinning_count(t, thinnest, &count, error));
            best = count < *left ? place : best;
            *left = int_min(*left, count);
        }
    }
    all->offset = best;
    return WEFT_OK;
}

static weft_status find_place(thinning* t, dress_case* all, int* left, weft_error* error)
{
    surround s;
    weft_status status = surround_create(&s, all);
    status = status == WEFT_OK ? search_places(t, all, &s, left, error) : status;
    surround_finish(&s, all->cloth_count);
    return status;
}

static weft_status try_levels(thinning* t, double most, dress_plan* plan, int* left, weft_error* error)
{
    for (int k = 1; k <= LEVELS && *left > 0; k++)
    {
        TRY(consider(t, most * k / LEVELS, plan, left, error));
    }
    return WEFT_OK;
}

// Bodies get cores, and what is worn follows: their middle, or lines through the openings of the garments.
static weft_status set_cores(const dress_case* all, bool threaded)
{
    for (int k = 0; k < all->form_count; k++)
    {
        dress_form* f = all->forms[k];
        const mesh* m = f->mesh;
        thread_case body = {m->triangle, m->triangle_count, m->vertex_count, f->full, all->cloths, all->cloth_count};
        bool found;
        f->hold ? (void)0 : (void)memcpy(f->core, f->middle, (size_t)m->vertex_count * sizeof(vec3));
        TRY(threaded && !f->hold && !f->flat ? core_thread(&body, f->core, &found) : WEFT_OK);
    }
    for (int k = 0; k < all->form_count; k++)
    {
        all->forms[k]->hold ? dress_form_follow(all->forms[k]) : (void)0;
    }
    return WEFT_OK;
}

// First thinner and thinner, then with limbs that are led through sleeves, then from another place.
static weft_status find_room(thinning* t, dress_case* all, dress_plan* plan, int* left, weft_error* error)
{
    TRY(try_levels(t, thinnest, plan, left, error));
    if (*left > 0)
    {
        TRY(set_cores(all, true));
        TRY(try_levels(t, threaded, plan, left, error));
        TRY(*left > 0 ? set_cores(all, false) : WEFT_OK);
    }
    // What no place helps is left to the forces that part what crosses, from the place where it is least: a limb that
    // is not too thin for the cloth to feel it.
    TRY(*left > 0 && !all->fixed ? find_place(t, all, left, error) : WEFT_OK);
    plan->share = *left > 0 ? felt : plan->share;
    return WEFT_OK;
}

weft_status dress_prepare(dress_case* all, int* crossings, int* left, weft_error* error)
{
    thinning t;
    dress_plan plan = {.rest = REST};
    *crossings = 0;
    TRY(set_cores(all, false));
    weft_status status = thinning_create(&t, all, error);
    status = status == WEFT_OK ? thinning_count(&t, 0.0, crossings, error) : status;
    *left = *crossings;
    status = status == WEFT_OK ? find_room(&t, all, &plan, left, error) : status;
    thinning_finish(&t);
    plan.hold = *left > 0 ? HOLD : 0;
    plan.grow = (int)ceil(plan.share * longest_way(all, false) / way_a_step);
    plan.move = (int)ceil(1.5 * longest_way(all, true) / way_a_step);
    for (int k = 0; k < all->form_count; k++)
    {
        all->forms[k]->plan = plan;
    }
    return status;
}

// ---- the steps

static weft_status stand_still(weft_sim* sim, const vec3* zero)
{
    for (int k = 0; k < weft_sim_cloth_count(sim); k++)
    {
        TRY(weft_sim_set_state(sim, k, NULL, zero));
    }
    return WEFT_OK;
}

static weft_status tell(const dress_watch* watch, double done, const weft_step_stats* stats, weft_error* error)
{
    weft_progress now = {.done = watch->from + (watch->to - watch->from) * done,
                         .stage = "dress",
                         .rounds = (int)stats->step,
                         .crossings = stats->unsettled};
    bool stop = watch->look && watch->look(watch->user, &now) != 0;
    return stop ? error_set(error, WEFT_CANCELLED, NULL, 0, "dressing was stopped after %d steps", now.rounds)
                : WEFT_OK;
}

weft_status dress_run(weft_sim* sim, const dress_plan* plan, const dress_watch* watch, weft_error* error)
{
    int steps = dress_plan_steps(plan);
    vec3* zero = MEM_NEW(int_max(weft_sim_vertex_count(sim, -1), 1), vec3);
    weft_status status = zero ? WEFT_OK : WEFT_NO_MEMORY;
    weft_step_stats stats = {0};
    while (weft_sim_step_count(sim) < steps && status == WEFT_OK)
    {
        status = weft_sim_step(sim, &stats, error);
        status = status == WEFT_OK ? stand_still(sim, zero) : status;
        status = status == WEFT_OK ? tell(watch, (double)stats.step / steps, &stats, error) : status;
        // What is apart early need not wait.
        bool early = stats.unsettled == 0 && stats.step < plan->hold;
        status = status == WEFT_OK && early ? weft_sim_set_step_count(sim, plan->hold) : status;
    }
    mem_free(zero);
    return status;
}
