// Strain limits: no thread of a sheet, warp or weft, is longer than its limit at the end of a substep.
//
// With w the vector of a thread (the column of the deformation gradient, sum of b_a x_a over a triangle, 1 long at rest) the end of
// a substep has |w| <= l for all of them. Shear is left free: cloth that cannot be stretched along its threads still shears.
//
// 1. In the solve. Threads that the solution makes too long are held there, along the direction n that they have in it, by an
//    augmented Lagrangian (Hestenes 1969, Powell 1969; for inequalities Rockafellar 1973): to the system come
//
//        A += h^2 k g g^T,    b -= h g (k c_0 + p),    g_a = b_a n,    c_0 = n . w(x + h v) - l,
//
//    it is solved again, n is taken anew, and the pull p becomes max(0, p + k c). Contacts, pins and elastic forces take part
//    as in every solve, and contacts that pull then are let go. A few turns leave a share of the limit; each starts from p = 0,
//    so that nothing has to be kept from substep to substep.
// 2. After the response, which knows nothing of threads: those that it has made too long are drawn in, one after the other in the
//    metric of mass with accumulated pulls (as zones do for collisions, respond.c), and the response looks again, in turns.
// 3. What is still too long then makes the substep shorter, six times at most; then it stands and is counted: pins that go apart,
//    or bodies that spread the cloth between them, leave nothing else.
//
// The solve aims at less than the limit, so that what comes after it has some room. A thread that is near its limit at the start
// of a substep is only kept from getting longer, and what pulls do to the cloth counts as work where its energy is judged: drawn
// in each time, taut cloth gained energy in every substep, however short, and a tight dress took 200 of them a step.
#include "step/strain_limit.h"

#include <math.h>
#include <string.h>

#include "step/step.h"

static const double aimed = 0.9;     // of the limit's strain, in the solve and when threads are drawn in
static const double kept = 0.95;     // likewise, of threads that were beyond `aimed` before: those are kept from getting longer
static const double enough = 0.97;   // likewise: no further turn is needed
static const double certain = 0.998; // likewise, at the end: caches round positions to float
static const double stiffer = 30.0;  // the penalty, in stiffness of the thread
static const double stiffness_least = 100.0; // N/m

enum
{
    DRAW_ROUNDS = 6,   // of drawing in and response
    DRAW_SWEEPS = 200  // a round
};

static double share_of(double limit, double share)
{
    return 1.0 + share * (limit - 1.0);
}

// ---- setting up

static void add_threads(strain_limit* l, const model* m, int t, const double* stiffness)
{
    const vec2* rest = m->triangle_rest + 3 * (size_t)t;
    double b[4], area = triangle_rest_area(rest);
    triangle_rest_inverse(rest, b);
    for (int s = 0; s < 2; s++)
    {
        limited_thread* thread = &l->threads[l->count++];
        memcpy(thread->vertex, m->triangle + 3 * (size_t)t, sizeof(thread->vertex));
        thread->b[1] = b[2 * s];
        thread->b[2] = b[2 * s + 1];
        thread->b[0] = -(b[2 * s] + b[2 * s + 1]);
        thread->limit = m->triangle_limit[3 * (size_t)t];
        thread->stiffness = area * fmax(stiffness[s], stiffness_least);
    }
}

weft_status strain_limit_create(world* w)
{
    const model* m = w->model;
    strain_limit* l = &w->limit;
    int count = 0;
    for (int t = 0; m->triangle_limit && t < m->triangle_count; t++)
    {
        count += isfinite(m->triangle_limit[3 * (size_t)t]) ? 2 : 0;
    }
    if (count == 0)
    {
        return WEFT_OK;
    }
    l->threads = MEM_NEW(count, limited_thread);
    l->n = MEM_NEW(count, vec3);
    l->pull = MEM_NEW(count, double);
    l->aim = MEM_NEW(count, double);
    l->most = MEM_NEW(count, double);
    l->laid_pull = MEM_NEW(count, double);
    l->allowed = MEM_NEW(count, double);
    l->held = MEM_NEW(count, uint8_t);
    l->rhs = MEM_NEW(m->vertex_count, vec3);
    l->record = MEM_NEW(m->vertex_count, int);
    if (!l->threads || !l->n || !l->pull || !l->aim || !l->most || !l->laid_pull || !l->allowed || !l->held || !l->rhs || !l->record)
    {
        return WEFT_NO_MEMORY;
    }
    for (int t = 0; t < m->triangle_count; t++)
    {
        if (isfinite(m->triangle_limit[3 * (size_t)t]))
        {
            add_threads(l, m, t, m->triangle_limit + 3 * (size_t)t + 1);
        }
    }
    return WEFT_OK;
}

void strain_limit_finish(strain_limit* l)
{
    mem_free(l->threads);
    mem_free(l->n);
    mem_free(l->pull);
    mem_free(l->aim);
    mem_free(l->most);
    mem_free(l->laid_pull);
    mem_free(l->allowed);
    mem_free(l->held);
    mem_free(l->values);
    mem_free(l->rhs);
    mem_free(l->record);
    *l = (strain_limit){0};
}

// ---- in the solve

static vec3 thread_vector(const limited_thread* t, const vec3* x)
{
    vec3 w = v3_scale(t->b[0], x[t->vertex[0]]);
    return v3_madd(v3_madd(w, t->b[1], x[t->vertex[1]]), t->b[2], x[t->vertex[2]]);
}

void strain_limit_begin(world* w)
{
    strain_limit* l = &w->limit;
    l->held_count = 0;
    l->laid = false;
    for (int k = 0; k < l->count; k++)
    {
        // A thread that starts too long gets no longer. One that is so by little, as beside vertices of a seam that have
        // become one, is drawn in at once.
        double limit = l->threads[k].limit, length = v3_length(thread_vector(&l->threads[k], w->state.x));
        bool far = length - limit > limit - 1.0;
        l->allowed[k] = fmax(limit, length);
        l->aim[k] = far ? share_of(length, aimed) : fmin(fmax(length, share_of(limit, aimed)), share_of(limit, kept));
        l->most[k] = share_of(far ? length : limit, enough);
        l->held[k] = 0;
        l->pull[k] = 0.0;
    }
}

bool strain_limit_update(world* w)
{
    strain_limit* l = &w->limit;
    bool again = false;
    for (int k = 0; k < l->count; k++)
    {
        const limited_thread* t = &l->threads[k];
        vec3 at = v3_madd(thread_vector(t, w->state.x), w->h, thread_vector(t, w->v_next));
        double length = v3_length(at), over = length - l->aim[k];
        again = again || length > l->most[k];
        if (!l->held[k] && !(over > 0.0))
        {
            continue;
        }
        // The first pull is what the thread itself would need to get as much shorter.
        l->pull[k] = fmax(l->pull[k] + (l->held[k] ? stiffer : 1.0) * t->stiffness * over, 0.0);
        l->held_count += (l->pull[k] > 0.0) - l->held[k];
        l->held[k] = l->pull[k] > 0.0;
        l->n[k] = v3_scale(1.0 / length, at);
    }
    return again;
}

static double* block_of(const bsr_matrix* A, int i, int j)
{
    const bsr_pattern* p = A->pattern;
    for (int s = p->row_start[i]; s < p->row_start[i + 1]; s++)
    {
        if (p->column[s] == j)
        {
            return A->values + 9 * (size_t)s;
        }
    }
    WEFT_ASSERT(!"a triangle is not in the matrix");
    return NULL;
}

static void lay_thread(world* w, int k)
{
    const strain_limit* l = &w->limit;
    const limited_thread* t = &l->threads[k];
    double stiffness = stiffer * t->stiffness;
    vec3 n = l->n[k];
    const double axis[3] = {n.x, n.y, n.z};
    double c0 = v3_dot(n, v3_madd(thread_vector(t, w->state.x), w->h, thread_vector(t, w->state.v))) -
                l->aim[k];
    for (int a = 0; a < 3; a++)
    {
        int i = t->vertex[a];
        w->rhs[i] = v3_madd(w->rhs[i], -w->h * t->b[a] * (stiffness * c0 + l->pull[k]), n);
        for (int b = 0; b < 3; b++)
        {
            double *block = block_of(&w->A, i, t->vertex[b]), weight = w->h * w->h * stiffness * t->b[a] * t->b[b];
            for (int e = 0; e < 9; e++)
            {
                block[e] += weight * axis[e / 3] * axis[e % 3];
            }
        }
    }
}

weft_status strain_limit_lay(world* w)
{
    strain_limit* l = &w->limit;
    int size = 9 * w->A.pattern->block_count;
    if (!mem_grow((void**)&l->values, &l->value_capacity, size, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(l->values, w->A.values, (size_t)size * sizeof(double));
    memcpy(l->rhs, w->rhs, (size_t)w->model->vertex_count * sizeof(vec3));
    for (int k = 0; k < l->count; k++)
    {
        l->laid_pull[k] = l->pull[k];
        if (l->held[k])
        {
            lay_thread(w, k);
        }
    }
    l->laid = true;
    return WEFT_OK;
}

void strain_limit_lift(world* w)
{
    strain_limit* l = &w->limit;
    if (l->laid)
    {
        memcpy(w->A.values, l->values, 9 * (size_t)w->A.pattern->block_count * sizeof(double));
        memcpy(w->rhs, l->rhs, (size_t)w->model->vertex_count * sizeof(vec3));
        l->laid = false;
    }
}

double strain_limit_work(const world* w)
{
    const strain_limit* l = &w->limit;
    double work = 0.0;
    for (int k = 0; k < l->count && l->laid; k++)
    {
        const limited_thread* t = &l->threads[k];
        vec3 way = v3_scale(w->h, thread_vector(t, w->v_next));
        double length = l->laid_pull[k] > 0.0 ? v3_length(v3_add(thread_vector(t, w->state.x), way)) : 0.0;
        double pull = l->laid_pull[k] + stiffer * t->stiffness * (length - l->aim[k]);
        work -= l->laid_pull[k] > 0.0 ? fmax(pull, 0.0) * v3_dot(l->n[k], way) : 0.0;
    }
    return work;
}

// ---- after the response

// What an impulse moves a vertex by; pins take out what they prescribe.
static vec3 yield_of(const world* w, int vertex, vec3 impulse)
{
    int record = w->limit.record[vertex];
    vec3 d = v3_scale(1.0 / w->model->mass[vertex], impulse);
    return record < 0 ? d : m3_mul_v(w->pins[record].S, d);
}

static void find_records(world* w)
{
    for (int i = 0; i < w->model->vertex_count; i++)
    {
        w->limit.record[i] = -1;
    }
    for (int k = 0; k < w->pin_count; k++)
    {
        w->limit.record[w->pins[k].vertex] = k;
    }
}

int strain_limit_count_over(const world* w)
{
    const strain_limit* l = &w->limit;
    int over = 0;
    for (int k = 0; k < l->count; k++)
    {
        over += v3_length(thread_vector(&l->threads[k], w->state.x)) > l->threads[k].limit;
    }
    return over;
}

static bool is_over(const world* w)
{
    const strain_limit* l = &w->limit;
    bool over = false;
    for (int k = 0; k < l->count && !over; k++)
    {
        over = v3_length(thread_vector(&l->threads[k], w->x_next)) > share_of(l->allowed[k], certain);
    }
    return over;
}

// One thread, to the aimed length: pulls add up, and never push.
static bool draw_in(world* w, int k)
{
    strain_limit* l = &w->limit;
    const limited_thread* t = &l->threads[k];
    vec3 at = thread_vector(t, w->x_next);
    double length = v3_length(at), over = length - l->aim[k], sum = 0.0;
    if (!(length > 0.0) || (!(over > 0.0) && l->pull[k] == 0.0))
    {
        return false;
    }
    vec3 n = v3_scale(1.0 / length, at), move[3];
    for (int a = 0; a < 3; a++)
    {
        move[a] = yield_of(w, t->vertex[a], v3_scale(t->b[a], n));
        sum += t->b[a] * v3_dot(n, move[a]);
    }
    if (!(sum > 0.0))
    {
        return false;
    }
    double before = l->pull[k];
    l->pull[k] = fmax(before + over / sum, 0.0);
    for (int a = 0; a < 3; a++)
    {
        double by = -(l->pull[k] - before);
        w->x_next[t->vertex[a]] = v3_madd(w->x_next[t->vertex[a]], by, move[a]);
        w->v_next[t->vertex[a]] = v3_madd(w->v_next[t->vertex[a]], by / w->h, move[a]);
    }
    return length > l->most[k];
}

static void draw_all(world* w)
{
    memset(w->limit.pull, 0, (size_t)w->limit.count * sizeof(double));
    bool again = true;
    for (int sweep = 0; sweep < DRAW_SWEEPS && again; sweep++)
    {
        again = false;
        // Forth and back, so that neither end of the list is always the last.
        for (int k = 0; k < w->limit.count; k++)
        {
            again = draw_in(w, sweep % 2 == 0 ? k : w->limit.count - 1 - k) || again;
        }
    }
}

weft_status strain_limit_settle(world* w, bool may_halve, bool* changed)
{
    if (w->limit.count == 0)
    {
        return WEFT_OK;
    }
    find_records(w);
    bool moved;
    int rounds = w->contact ? DRAW_ROUNDS : 1; // nothing undoes what the first one did
    for (int round = 0; round < rounds && is_over(w); round++)
    {
        draw_all(w);
        *changed = true;
        if (w->contact)
        {
            TRY(contact_respond(w->contact, w->x_next, w->v_next, may_halve, &moved));
        }
    }
    return w->may_halve && w->state.halvings < HALVINGS_FOR_CROWDS && is_over(w) ? WEFT_NOT_CONVERGED : WEFT_OK;
}
