// Preconditioned conjugate gradients on the projected problem
//
//     S A x = S b,   (I - S) x = (I - S) z
//
// in the form of Baraff and Witkin (1998) as Boxerman's thesis corrects it (figure 5.2; Ascher and Boxerman 2003):
// started from x = S x0 + (I - S) z and stopped when r^T M^-1 r <= tolerance^2 bhat^T M^-1 bhat with
// bhat = S (b - A (I - S) z).
//
// The original (Baraff and Witkin 1998, section 5.2) starts from x = (I - S) z, whatever guess there is, and stops when
// r^T M^-1 r <= tolerance^2 (S b)^T M^-1 (S b). Its text has P where M^-1 is here, and P_ii = 1 / A_ii: meant alike.
//
// With a block diagonal M an iteration is three passes over the vertices: new direction, product with p.s, update of x
// and r with h = M^-1 r and r.h. The filter is applied inside the passes, chunk by chunk. With a hook the update stops
// at r; the hook makes h, and one more pass the sums.
//
// A hook that rounds to single precision is not the same linear map each time. The flexible variant (Golub and Ye 1999;
// Notay 2000) makes the new direction conjugate to the last one whatever the hook did: with r' = r - alpha s
//
//     beta = h' . (r' - r) / (r . h) = -alpha (h' . s) / (r . h),
//
// which is r' . h' / (r . h) when h' . r = 0, as it is in exact arithmetic with a constant M.
#include "solve/cg/cg.h"

#include <string.h>

enum
{
    ITERATION_LIMIT_BASE = 1000,
    ITERATIONS_A_VERTEX = 30 // rounding makes CG need more than the 3 n of theory when the tolerance is tight
};

// ---- memory

void cg_finish(cg* c)
{
    mem_free(c->r);
    mem_free(c->p);
    mem_free(c->s);
    mem_free(c->h);
    mem_free(c->partial);
    mem_free(c->record_start);
    mem_free(c->images[0]);
    mem_free(c->images[1]);
    mem_free(c->guess_partial);
    *c = (cg){0};
}

// Records are sorted by vertex: each chunk of rows has a range of them.
void cg_constrain(cg* c, const linear_system* system)
{
    int chunk = 0;
    for (int k = 0; k < system->filter_count; k++)
    {
        while (chunk <= system->filter[k].vertex / ROW_GRAIN)
        {
            c->record_start[chunk++] = k;
        }
    }
    while (chunk <= c->row_count / ROW_GRAIN + 1)
    {
        c->record_start[chunk++] = system->filter_count;
    }
}

static weft_status cg_reserve(cg* c, int n)
{
    if (n <= c->capacity)
    {
        return WEFT_OK;
    }
    cg_finish(c);
    c->r = MEM_NEW(n, vec3);
    c->p = MEM_NEW(n, vec3);
    c->s = MEM_NEW(n, vec3);
    c->h = MEM_NEW(n, vec3);
    c->partial = MEM_NEW(n / ROW_GRAIN + 1, double);
    c->record_start = MEM_NEW(n / ROW_GRAIN + 2, int);
    bool good = c->r && c->p && c->s && c->h && c->partial && c->record_start;
    c->capacity = good ? n : 0;
    return good ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status cg_renew(cg* c, const solve_options* options, const linear_system* system)
{
    int n = system->A.pattern->row_count;
    TRY(cg_reserve(c, n));
    *c = (cg){.options = *options,
              .row_count = n,
              .capacity = c->capacity,
              .r = c->r,
              .p = c->p,
              .s = c->s,
              .h = c->h,
              .partial = c->partial,
              .record_start = c->record_start};
    c->iteration_limit =
        options->max_iterations ? options->max_iterations : ITERATION_LIMIT_BASE + (int64_t)ITERATIONS_A_VERTEX * n;
    cg_constrain(c, system);
    return WEFT_OK;
}

weft_status cg_come_near(cg* c)
{
    int n = c->row_count;
    c->images[0] = MEM_NEW(n, vec3);
    c->images[1] = MEM_NEW(n, vec3);
    c->guess_partial = MEM_NEW((n / ROW_GRAIN + 1) * (CG_GUESSES + 1), double);
    c->near = true;
    return c->images[0] && c->images[1] && c->guess_partial ? WEFT_OK : WEFT_NO_MEMORY;
}

void cg_forget(cg* c)
{
    c->known = (cg_memory){0};
    c->reference = 0.0;
    c->again = false;
}

weft_status cg_init(cg* c, const solve_options* options, const linear_system* system)
{
    *c = (cg){0};
    return cg_renew(c, options, system);
}

double cg_bytes(const cg* c)
{
    return (double)c->row_count * (c->near ? 4 + CG_GUESSES - 1 : 4) * sizeof(vec3);
}

// ---- passes

// What the passes of one solve share.
typedef struct pass
{
    const cg* c;
    const linear_system* system;
    const sparse_kernels* kernels;
    vec3* x;
    double alpha, beta;
    double delta; // r . h
    double sq;    // r . r; in iterations only with a hook
    // Of the stopping rule: the reference itself, or a share of the energy of the answer, as far as it is known.
    double reference, ratio;
    double energy; // of x - (I - S) z, by what the start has explained and iterations have found
    bool looked, interrupted;
} pass;

static double sum_of(pass* a, parallel_sum_fn* fn)
{
    return parallel_sum(a->c->options.pool, a->c->row_count, ROW_GRAIN, fn, a);
}

static vec3 inv_apply(const double* m, vec3 r)
{
    return (vec3){m[0] * r.x + m[1] * r.y + m[2] * r.z, m[1] * r.x + m[3] * r.y + m[4] * r.z,
                  m[2] * r.x + m[4] * r.y + m[5] * r.z};
}

static void filter_rows(const pass* a, vec3* v, int begin)
{
    const int* start = a->c->record_start + begin / ROW_GRAIN;
    for (int k = start[0]; k < start[1]; k++)
    {
        const filter_record* record = &a->system->filter[k];
        v[record->vertex] = m3_mul_v(record->S, v[record->vertex]);
    }
}

// p = S (h + beta p); with beta = 0 the old p is not looked at
static void direction_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    for (int i = begin; i < end; i++)
    {
        c->p[i] = a->beta != 0.0 ? v3_madd(c->h[i], a->beta, c->p[i]) : c->h[i];
    }
    filter_rows(a, c->p, begin);
}

// s = S A p, p . s
static double product_pass(void* context, int begin, int end)
{
    pass* a = context;
    double dot = a->kernels->multiply_dot(&a->system->A, a->c->p, a->c->s, begin, end);
    filter_rows(a, a->c->s, begin);
    return dot; // p = S p, so the filter does not change it
}

// x += alpha p, r -= alpha s of one vertex; returns r.
static inline vec3 advance(const pass* a, int i)
{
    const cg* c = a->c;
    a->x[i] = v3_madd(a->x[i], a->alpha, c->p[i]);
    return c->r[i] = v3_madd(c->r[i], -a->alpha, c->s[i]);
}

// x += alpha p, r -= alpha s, h = M^-1 r, r . h
static double update_block_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        vec3 r = advance(a, i);
        vec3 h = inv_apply(c->inv + 6 * (size_t)i, r);
        c->h[i] = h;
        dot += v3_dot(r, h);
    }
    return dot;
}

// x += alpha p, r -= alpha s, r . r
static double update_pass(void* context, int begin, int end)
{
    pass* a = context;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        vec3 r = advance(a, i);
        dot += v3_dot(r, r);
    }
    return dot;
}

// r = S (b - s), r . r with s = A x
static double residual_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        c->r[i] = v3_sub(a->system->b[i], c->s[i]);
    }
    filter_rows(a, c->r, begin);
    for (int i = begin; i < end; i++)
    {
        dot += v3_dot(c->r[i], c->r[i]);
    }
    return dot;
}

// h = M^-1 r, r . h
static double block_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        c->h[i] = inv_apply(c->inv + 6 * (size_t)i, c->r[i]);
        dot += v3_dot(c->r[i], c->h[i]);
    }
    return dot;
}

// r . h
static double dot_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        dot += v3_dot(c->r[i], c->h[i]);
    }
    return dot;
}

// r . r
static double square_pass(void* context, int begin, int end)
{
    const cg* c = ((const pass*)context)->c;
    double dot = 0.0;
    for (int i = begin; i < end; i++)
    {
        dot += v3_dot(c->r[i], c->r[i]);
    }
    return dot;
}

// r . h, and h . s into the chunk's place of partial
static double dots_pass(void* context, int begin, int end)
{
    pass* a = context;
    const cg* c = a->c;
    double dot = 0.0, other = 0.0;
    for (int i = begin; i < end; i++)
    {
        dot += v3_dot(c->r[i], c->h[i]);
        other += v3_dot(c->h[i], c->s[i]);
    }
    c->partial[begin / ROW_GRAIN] = other;
    return dot;
}

// ---- residual and preconditioner

// r = S (b - A y), returns r . r. y is one of the solver's own arrays: wide loads may reach past a caller's.
static double residual_of(pass* a, const vec3* y)
{
    bsr_multiply(a->c->options.pool, a->c->options.cpu, &a->system->A, y, a->c->s);
    return sum_of(a, residual_pass);
}

// r = S b, returns r . r
static double residual_of_zero(pass* a)
{
    memset(a->c->s, 0, (size_t)a->c->row_count * sizeof(vec3));
    return sum_of(a, residual_pass);
}

// Where nothing is prescribed A y is zero: nothing moves, or what is held stands still.
static double residual_of_prescribed(pass* a)
{
    return vector_is_zero(a->c->p, a->c->row_count) ? residual_of_zero(a) : residual_of(a, a->c->p);
}

// p = x
static void copy_pass(void* context, int begin, int end)
{
    pass* a = context;
    memcpy(a->c->p + begin, a->x + begin, (size_t)(end - begin) * sizeof(vec3));
}

static double residual_of_x(pass* a)
{
    parallel_for(a->c->options.pool, a->c->row_count, ROW_GRAIN, copy_pass, a);
    return residual_of(a, a->c->p);
}

// r . h tells a preconditioner that is not definite. Zero beside an r that is not zero tells it of a hook; blocks were
// looked at when they were inverted, so there it is underflow, and the end.
static weft_status judge(const pass* a)
{
    if (!isfinite(a->delta))
    {
        return WEFT_NOT_FINITE;
    }
    bool null = a->c->precondition && a->delta == 0.0 && a->sq > 0.0;
    return a->delta < 0.0 || null ? WEFT_NOT_DEFINITE : WEFT_OK;
}

// h from the hook, given r . r. A zero r, or one that is no number, is not worth the hook's time.
static weft_status apply_hook(pass* a)
{
    const cg* c = a->c;
    a->delta = a->sq;
    if (!isfinite(a->sq))
    {
        return WEFT_NOT_FINITE;
    }
    if (a->sq == 0.0)
    {
        return vector_is_zero(c->r, c->row_count) ? WEFT_OK : WEFT_NOT_FINITE; // squares below the range of double
    }
    a->delta = NAN; // what is known when the hook fails
    return c->precondition(c->context, c->r, c->h);
}

// h = M^-1 r and delta = r . h, given r . r.
static weft_status precondition(pass* a)
{
    if (!a->c->precondition)
    {
        a->delta = sum_of(a, block_pass);
        return judge(a);
    }
    TRY(apply_hook(a));
    a->delta = a->sq > 0.0 ? sum_of(a, dot_pass) : 0.0;
    return judge(a);
}

// ---- iteration

static double sum_of_partial(const cg* c)
{
    double sum = 0.0;
    for (int k = 0; k * ROW_GRAIN < c->row_count; k++)
    {
        sum += c->partial[k];
    }
    return sum;
}

// The update with a hook: x, r, h, delta and beta.
static weft_status update_by_hook(pass* a)
{
    const cg* c = a->c;
    double last = a->delta;
    a->sq = sum_of(a, update_pass);
    if (!c->flexible || a->sq == 0.0)
    {
        TRY(precondition(a));
        a->beta = a->delta / last;
        return WEFT_OK;
    }
    TRY(apply_hook(a));
    a->delta = sum_of(a, dots_pass);
    a->beta = -a->alpha * sum_of_partial(c) / last;
    return judge(a);
}

static weft_status update(pass* a)
{
    if (a->c->precondition)
    {
        return update_by_hook(a);
    }
    double last = a->delta;
    a->delta = sum_of(a, update_block_pass);
    a->beta = a->delta / last;
    return judge(a);
}

static void show(const pass* a, int iteration)
{
    const solve_options* o = &a->c->options;
    if (o->observe)
    {
        o->observe(o->observe_context, iteration, a->delta, a->x, a->c->r);
    }
}

static double reference_of(const pass* a)
{
    return a->reference > 0.0 ? a->reference : a->ratio * a->energy;
}

// Whether the residual has come down to this tolerance.
static bool is_within(const pass* a, double tolerance)
{
    return a->delta <= tolerance * tolerance * reference_of(a);
}

// Whether the caller has seen enough.
static bool look(pass* a)
{
    const solve_look* l = &a->system->look;
    if (a->looked || !(l->at > a->c->options.tolerance) || !is_within(a, l->at))
    {
        return false;
    }
    a->looked = true;
    return a->interrupted = l->is_enough(l->user);
}

// From r, h and delta of the start until they are within the tolerance.
static weft_status iterate(pass* a, weft_solve_stats* stats)
{
    const cg* c = a->c;
    a->beta = 0.0;
    show(a, stats->iterations);
    while (!is_within(a, c->options.tolerance) && !look(a))
    {
        if (stats->iterations >= c->iteration_limit)
        {
            return WEFT_NOT_CONVERGED;
        }
        parallel_for(c->options.pool, c->row_count, ROW_GRAIN, direction_pass, a);
        double curvature = sum_of(a, product_pass);
        if (!(curvature > 0.0))
        {
            return isfinite(curvature) ? WEFT_NOT_DEFINITE : WEFT_NOT_FINITE;
        }
        a->alpha = a->delta / curvature;
        if (!isfinite(a->alpha))
        {
            return WEFT_NOT_FINITE;
        }
        stats->iterations++;
        a->energy += a->alpha * a->delta;
        TRY(update(a));
        show(a, stats->iterations);
    }
    return WEFT_OK;
}

// ---- solve

// x = S x0 + (I - S) z, given (I - S) z in p; true when that is (I - S) z itself, to the bit. From a guess that is
// (I - S) z but for the rounding of S a hook, which costs much, is spared as well.
static bool form_start(const pass* a)
{
    const cg* c = a->c;
    size_t bytes = (size_t)c->row_count * sizeof(vec3);
    if (c->precondition && memcmp(a->x, c->p, bytes) == 0)
    {
        return true;
    }
    filter_apply(a->system, a->x);
    for (int i = 0; i < c->row_count; i++)
    {
        a->x[i] = v3_add(a->x[i], c->p[i]);
    }
    return memcmp(a->x, c->p, bytes) == 0;
}

// Residual of the start x, unless it is that of the reference and already there.
static weft_status start(pass* a)
{
    if (form_start(a))
    {
        return WEFT_OK;
    }
    a->sq = residual_of_x(a);
    return precondition(a);
}

// r of the reference of the stopping rule, returns r . r; (I - S) z is in p. The original's is no measure when S b is
// zero and only z moves anything: then the corrected one counts.
static double reference_residual(pass* a)
{
    double sq = a->c->original ? residual_of_zero(a) : 0.0;
    return sq != 0.0 ? sq : residual_of_prescribed(a);
}

// The start of the original: (I - S) z.
static weft_status start_at_z(pass* a)
{
    filter_prescribed(a->system, a->x);
    a->sq = residual_of_x(a);
    return precondition(a);
}

static void report(pass* a, double reference, double first, double reference_sq, weft_solve_stats* stats)
{
    stats->residual = reference > 0.0 ? sqrt(a->delta / reference) : 0.0;
    if (stats->iterations > 0 && first > 0.0 && a->delta > 0.0)
    {
        stats->rate = pow(a->delta / first, 0.5 / stats->iterations);
    }
    if (a->interrupted || (stats->converged && a->c->options.no_residual2))
    {
        stats->residual2 = NAN;
        return;
    }
    double end_sq = residual_of_x(a);
    stats->residual2 = reference_sq > 0.0 ? sqrt(end_sq / reference_sq) : 0.0;
}

static weft_status finish_solve(pass* a, weft_status status, double first, double reference_sq, weft_solve_stats* stats)
{
    stats->converged = status == WEFT_OK && !a->interrupted;
    report(a, reference_of(a), first, reference_sq, stats);
    return status;
}

// A second solve of a system that has changed a little: the reference is that of the first one.
static weft_status solve_again(pass* a, weft_solve_stats* stats)
{
    filter_prescribed(a->system, a->c->p);
    form_start(a);
    double sq = a->sq = residual_of_x(a);
    a->reference = a->c->reference;
    TRY(precondition(a));
    double first = a->delta;
    return finish_solve(a, iterate(a, stats), first, sq, stats);
}

// ---- starts from earlier answers

enum
{
    RECKONED_MOST = 16, // solves in a row without the reference itself
    WAIT_FIRST = 2,     // solves from nothing before guesses that explained little are looked at again
    WAIT_MOST = 16      // and when they go on to do so
};

bool cg_memory_is_sound(const cg_memory* m)
{
    bool counts = m->reckoned >= 0 && m->reckoned <= RECKONED_MOST && m->pause >= 0 && m->pause <= WAIT_MOST &&
                  m->wait >= 0 && m->wait <= WAIT_MOST;
    return counts && m->ratio >= 0.0 && m->ratio <= 1.0 && m->energy >= 0.0 && isfinite(m->energy);
}

// Whether the start was worth its products; else the next ones are from nothing.
static void judge_guess(cg* c, double explained, double energy)
{
    const double least = 0.8; // of the energy of the answer: half of its norm is left
    bool good = explained >= least * energy;
    c->known.wait = good ? 0 : int_min(int_max(WAIT_FIRST, 2 * c->known.wait), WAIT_MOST);
    c->known.pause = c->known.wait;
    c->known.reckoned++;
}

// Given r of (I - S) z, and its square.
static weft_status solve_near(cg* c, pass* a, double reference_sq, weft_solve_stats* stats)
{
    bool exact = c->known.ratio == 0.0 || c->known.pause > 0 || c->known.reckoned >= RECKONED_MOST;
    c->known.pause = int_max(0, c->known.pause - 1);
    double explained = a->energy = exact ? 0.0 : cg_start_near(c, a->system, a->x);
    exact ? filter_prescribed(a->system, a->x) : (void)0;
    a->sq = exact ? a->sq : sum_of(a, square_pass);
    TRY(precondition(a));
    double first = a->delta;
    a->reference = exact ? first : 0.0;
    a->ratio = c->known.ratio;
    weft_status status = iterate(a, stats);
    if (status == WEFT_OK && !a->interrupted)
    {
        exact ? (void)(c->known.reckoned = 0) : judge_guess(c, explained, a->energy);
        c->known.ratio = exact && a->energy > 0.0 ? fmin(1.0, first / a->energy) : c->known.ratio;
        c->known.energy = a->energy;
    }
    c->reference = reference_of(a);
    return finish_solve(a, status, first, reference_sq, stats);
}

weft_status cg_solve(cg* c, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    WEFT_ASSERT(c->precondition || c->inv);
    pass a = {.c = c, .system = system, .kernels = sparse_kernels_for(c->options.cpu), .x = x};
    stats->iterations = 0;
    stats->converged = 0;
    stats->rate = NAN;
    if (c->again && c->reference > 0.0)
    {
        return solve_again(&a, stats);
    }

    // The reference of the stopping rule, from x = (I - S) z.
    filter_prescribed(system, c->p);
    double reference_sq = a.sq = reference_residual(&a);
    if (c->near && system->earlier[0] && a.sq > 0.0 && isfinite(a.sq))
    {
        return solve_near(c, &a, reference_sq, stats);
    }
    weft_status status = precondition(&a);
    if (status != WEFT_OK)
    {
        // Numbers that are none stay out of x.
        if (status != WEFT_NOT_FINITE)
        {
            form_start(&a);
        }
        return status;
    }
    double reference = a.delta;

    status = c->original ? start_at_z(&a) : start(&a);
    // Nothing to solve: (I - S) z is the answer, whatever the guess was.
    if (reference == 0.0)
    {
        filter_prescribed(system, x);
        a.delta = 0.0;
        status = WEFT_OK;
    }
    double first = a.delta;
    a.reference = c->reference = reference;
    status = status == WEFT_OK ? iterate(&a, stats) : status;
    return finish_solve(&a, status, first, reference_sq, stats);
}
