// One level: the finest matrix, constraints, inverse diagonals and radius, interpolation, the coarse matrix, the last
// level's factor.
#include <math.h>
#include <string.h>

#include "solve/prefilter.h"
#include "solve/sa/sa.h"

// ---- the finest level

typedef struct largest_pass
{
    const linear_system* system;
    double* most; // [chunks]
} largest_pass;

static void largest_rows(void* context, int begin, int end)
{
    const largest_pass* c = context;
    double most = 0.0;
    for (int i = begin; i < end; i++)
    {
        const double* a = c->system->A.values + 9 * (size_t)c->system->A.pattern->diagonal[i];
        most = fmax(most, fmax(a[0], fmax(a[4], a[8])));
    }
    c->most[begin / ROW_GRAIN] = most;
}

weft_status sa_load_values(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    bool filtered = h->prefilter && system->filter_count > 0;
    if (filtered && !h->index)
    {
        h->index = sa_ints_new(h, (size_t)l->rows);
    }
    int chunks = l->rows / ROW_GRAIN + 1;
    h->partial = h->partial ? h->partial : MEM_NEW(chunks, double);
    if (h->settings.reuse && !h->mark)
    {
        h->mark = MEM_NEW(l->rows, unsigned char);
        h->bytes += (size_t)l->rows;
    }
    if ((filtered && !h->index) || !h->partial || (h->settings.reuse && !h->mark))
    {
        return WEFT_NO_MEMORY;
    }
    largest_pass pass = {system, h->partial};
    parallel_for(h->pool, l->rows, ROW_GRAIN, largest_rows, &pass);
    double most = 0.0;
    for (int k = 0; k < chunks; k++)
    {
        most = fmax(most, h->partial[k]);
    }
    h->matrix_scale = 1.0 / sa_power_of_two(most);
    return sa_load_scaled(h, system);
}

weft_status sa_load_scaled(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    double clock = sa_clock(h);
    bool filtered = h->prefilter && system->filter_count > 0;
    filtered ? prefilter_index(system, h->index) : (void)0;
    h->source = (sa_load){system, filtered ? h->index : NULL, l, h->matrix_scale, NULL};
    l->source = &h->source;
    double bad = 0.0;
    if (h->packed)
    {
        bad = parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_strength_kernels_for(h->cpu)->scales, l);
        bad = bad > 0.0 ? bad : parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_passes_for(h, l)->pack, &h->source);
    }
    else
    {
        parallel_for(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->load, &h->source);
    }
    sa_lap(h, l, SA_LOAD, &clock);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

// The finest matrix, float, double or packed.
weft_status sa_alloc_finest(sa_hierarchy* h)
{
    sa_level* l = &h->levels[0];
    size_t count = 9 * (size_t)l->pattern.block_count;
    if (!h->packed)
    {
        l->A = sa_real_new(h, count);
        return l->A ? sa_half_make(h, l) : WEFT_NO_MEMORY;
    }
    l->packed = sa_places_new(h, count + SA_PAD);
    if (l->packed)
    {
        memset(l->packed + count, 0, SA_PAD * sizeof(int16_t));
    }
    l->root = l->root ? l->root : sa_real_new(h, 9 * (size_t)l->rows);
    l->unroot = l->unroot ? l->unroot : sa_real_new(h, 9 * (size_t)l->rows);
    return l->packed && l->root && l->unroot ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status sa_load_finest(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    h->level_count = 1;
    h->element_vertices = system->element_vertices;
    *l = (sa_level){.rows = system->A.pattern->row_count, .block = 3, .pattern = *system->A.pattern};
    TRY(sa_alloc_finest(h));
    return sa_load_values(h, system);
}

// ---- vectors, inverse, radius: what every level has

weft_status sa_invert_diagonal(const sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    double bad = parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->invert, l);
    sa_lap(h, l, SA_INVERT, &clock);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

weft_status sa_alloc_level(sa_hierarchy* h, sa_level* l)
{
    size_t unknowns = (size_t)l->rows * (size_t)l->block;
    l->inverse = sa_real_new(h, unknowns * (size_t)l->block);
    void** vectors[] = {&l->x, &l->y, &l->b, &l->r, &l->d, &l->top};
    for (int k = 0; k < 6; k++)
    {
        *vectors[k] = sa_real_new(h, unknowns);
        if (!*vectors[k])
        {
            return WEFT_NO_MEMORY;
        }
    }
    return l->inverse ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status sa_prepare_level(sa_hierarchy* h, sa_level* l)
{
    TRY(sa_alloc_level(h, l));
    return sa_invert_diagonal(h, l);
}

weft_status sa_level_radius(sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    sa_find_radius(h, l);
    sa_lap(h, l, SA_RADIUS, &clock);
    return isfinite(l->radius) && l->radius > 0.0 ? WEFT_OK : WEFT_NOT_FINITE;
}

// ---- the coarse matrix

// Of a column's own diagonal, and of the largest of its node: less is rounding.
static const double LOST_SHARE = 1e-5, LOST_LEAST = 1e-10;

typedef struct dropped_pass
{
    const sa_hierarchy* h;
    sa_level* coarse;
} dropped_pass;

// A dropped column leaves a row and a column of zeros: its diagonal becomes the mean of the others of its node.
static void fill_dropped(void* context, int begin, int end)
{
    const sa_hierarchy* h = ((dropped_pass*)context)->h;
    sa_level* coarse = ((dropped_pass*)context)->coarse;
    int K = coarse->block;
    for (int I = begin; I < end; I++)
    {
        const unsigned char* dropped = coarse->dropped + (size_t)K * (size_t)I;
        size_t at = (size_t)(K * K) * (size_t)coarse->pattern.diagonal[I];
        double sum = 0.0;
        int kept = 0;
        for (int k = 0; k < K; k++)
        {
            size_t place = at + (size_t)(k * (K + 1));
            sum += h->precision == 32 ? (double)((float*)coarse->A)[place] : ((double*)coarse->A)[place];
            kept += !dropped[k];
        }
        double mean = sum > 0.0 && kept > 0 ? sum / kept : 1.0;
        for (int k = 0; k < K; k++)
        {
            size_t place = at + (size_t)(k * (K + 1));
            if (dropped[k])
            {
                h->precision == 32 ? (void)(((float*)coarse->A)[place] = (float)mean)
                                   : (void)(((double*)coarse->A)[place] = mean);
            }
        }
    }
}

// Constraints of today in the interpolation of yesterday: columns of a node that hold or depend on each other now leave
// a block without an inverse. Their pivots become the largest diagonal of the node, which only weakens the correction.
static void lift_lost(void* context, int begin, int end)
{
    const sa_hierarchy* h = ((dropped_pass*)context)->h;
    sa_level* coarse = ((dropped_pass*)context)->coarse;
    int K = coarse->block;
    for (int I = begin; I < end; I++)
    {
        size_t at = (size_t)(K * K) * (size_t)coarse->pattern.diagonal[I];
        double L[SA_KERNEL_MAX * SA_KERNEL_MAX], largest = 0.0;
        for (int k = 0; k < K * K; k++)
        {
            size_t place = at + (size_t)k;
            L[k] = h->precision == 32 ? (double)((float*)coarse->A)[place] : ((double*)coarse->A)[place];
            largest = k % (K + 1) == 0 ? fmax(largest, L[k]) : largest;
        }
        for (int j = 0; j < K; j++)
        {
            double own = L[j * K + j], pivot = own;
            for (int k = 0; k < j; k++)
            {
                pivot -= L[j * K + k] * L[j * K + k];
            }
            if (!(pivot > LOST_SHARE * own && pivot > LOST_LEAST * largest))
            {
                double lifted = own + (largest > 0.0 ? largest : 1.0);
                size_t place = at + (size_t)(j * (K + 1));
                h->precision == 32 ? (void)(((float*)coarse->A)[place] = (float)lifted)
                                   : (void)(((double*)coarse->A)[place] = lifted);
                pivot = fmax(pivot, 0.0) + lifted - own;
            }
            L[j * K + j] = sqrt(pivot);
            for (int i = j + 1; i < K; i++)
            {
                double sum = L[i * K + j];
                for (int k = 0; k < j; k++)
                {
                    sum -= L[i * K + k] * L[j * K + k];
                }
                L[i * K + j] = sum / L[j * K + j];
            }
        }
    }
}

typedef struct copy_pass
{
    const sa_level* level;
    size_t size; // bytes of a block of P
} copy_pass;

static void copy_rows(void* context, int begin, int end)
{
    const sa_level* l = ((copy_pass*)context)->level;
    size_t size = ((copy_pass*)context)->size;
    for (int k = l->R_start[begin]; k < l->R_start[end]; k++)
    {
        memcpy((char*)l->R + (size_t)k * size, (const char*)l->P + (size_t)l->R_slot[k] * size, size);
    }
}

// Smooth sheets do without: their cycles are few, and the copy is a tenth of the hierarchy.
void sa_copy_P(const sa_hierarchy* h, const sa_level* l)
{
    copy_pass pass = {l, (size_t)(l->block * l->coarse_block) * sa_real_size(h)};
    l->R ? parallel_for(h->pool, l->coarse_rows, ROW_GRAIN / 8, copy_rows, &pass) : (void)0;
}

void sa_smooth_P(const sa_hierarchy* h, sa_level* l, const sa_filter* filter)
{
    double clock = sa_clock(h);
    sa_smoothing smoothing = {l, *filter, 4.0 / 3.0 / l->radius};
    parallel_for(h->pool, l->rows, ROW_GRAIN / 2, sa_kernels_for(h->cpu, h->precision)->smooth, &smoothing);
    sa_copy_P(h, l);
    sa_lap(h, l, SA_P_VALUES, &clock);
}

weft_status sa_alloc_P(sa_hierarchy* h, sa_level* l)
{
    size_t count = (size_t)l->P_start[l->rows] * (size_t)(l->block * l->coarse_block);
    l->P = sa_real_new(h, count);
    l->R = h->folded ? sa_real_new(h, count) : NULL;
    return l->P && (l->R || !h->folded) ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status sa_interpolation(sa_hierarchy* h, sa_level* l, const sa_filter* filter)
{
    double clock = sa_clock(h);
    TRY(sa_structure_P(h, l, filter));
    sa_lap(h, l, SA_P_STRUCTURE, &clock);
    TRY(sa_alloc_P(h, l));
    sa_smooth_P(h, l, filter);
    return WEFT_OK;
}

// Blocks of a row of scratch lie in whole vectors (STRIDE of sa_numeric.h).
static size_t padded(int K)
{
    return K == 6 ? 8 : K == 3 ? 4 : (size_t)K;
}

// Memory for the tasks of a level's Galerkin product: a row of A P and the upper blocks of a chunk each. Made once, so
// that a refresh allocates nothing.
static weft_status galerkin_scratch(sa_hierarchy* h, const sa_level* l, sa_product* out)
{
    const bsr_pattern* p = &out->coarse->pattern;
    size_t row = 0, sum = 0, K = (size_t)l->coarse_block;
    for (int i = 0; i < l->rows; i++)
    {
        size_t blocks = (size_t)(l->AP_start[i + 1] - l->AP_start[i]);
        row = blocks > row ? blocks : row;
    }
    for (int chunk = 0; chunk < sa_chunks(l); chunk++)
    {
        size_t total = 0;
        for (int I = chunk * l->chunk_size; I < int_min((chunk + 1) * l->chunk_size, l->coarse_rows); I++)
        {
            total += (size_t)(p->row_start[I + 1] - p->diagonal[I]);
        }
        sum = total > sum ? total : sum;
    }
    out->row_room = row * (size_t)l->block * padded(l->coarse_block);
    out->stride = out->row_room + sum * K * padded(l->coarse_block);
    size_t needed = out->stride * (size_t)int_min(SA_TASKS, sa_chunks(l));
    if (needed > h->scratch_size)
    {
        mem_free(h->scratch);
        h->bytes -= h->scratch_size * sa_real_size(h);
        h->scratch = sa_real_new(h, needed);
        h->scratch_size = h->scratch ? needed : 0;
    }
    out->scratch = h->scratch;
    return h->scratch ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status sa_galerkin_values(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    double clock = sa_clock(h);
    sa_product product = {.level = l, .coarse = coarse};
    TRY(galerkin_scratch(h, l, &product));
    parallel_for(h->pool, int_min(SA_TASKS, sa_chunks(l)), 1, kernels->galerkin, &product);
    parallel_for(h->pool, coarse->rows, ROW_GRAIN / 4, kernels->mirror, coarse);
    dropped_pass dropped = {h, coarse};
    parallel_for(h->pool, coarse->rows, ROW_GRAIN, fill_dropped, &dropped);
    h->kept ? parallel_for(h->pool, coarse->rows, ROW_GRAIN, lift_lost, &dropped) : (void)0;
    sa_lap(h, l, SA_GALERKIN, &clock);
    return WEFT_OK;
}

weft_status sa_galerkin(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    double clock = sa_clock(h);
    TRY(sa_structure_coarse(h, l, coarse));
    sa_lap(h, l, SA_COARSE_STRUCTURE, &clock);
    size_t K = (size_t)l->coarse_block;
    coarse->A = sa_real_new(h, (size_t)coarse->pattern.block_count * K * K);
    sa_note_scratch(h, sa_scratch_of(h, l));
    return coarse->A ? sa_galerkin_values(h, l, coarse) : WEFT_NO_MEMORY;
}

// ---- constraints

// Rows of P as the setup made them.
static void stash_restore(sa_hierarchy* h)
{
    sa_level* l = &h->levels[0];
    size_t block = (size_t)(3 * l->coarse_block) * sa_real_size(h), at = 0;
    for (int k = 0; k < h->stash.count; k++)
    {
        int i = h->stash.vertex[k];
        size_t size = (size_t)(l->P_start[i + 1] - l->P_start[i]) * block;
        memcpy((char*)l->P + (size_t)l->P_start[i] * block, h->stash.values + at, size);
        at += size;
    }
    h->stash.count = h->stash.size = 0;
}

static weft_status stash_row(sa_hierarchy* h, int i)
{
    sa_level* l = &h->levels[0];
    sa_stash* stash = &h->stash;
    size_t block = (size_t)(3 * l->coarse_block) * sa_real_size(h);
    size_t size = (size_t)(l->P_start[i + 1] - l->P_start[i]) * block;
    if (size > (size_t)(INT32_MAX - stash->size) ||
        !mem_grow((void**)&stash->vertex, &stash->capacity, stash->count + 1, sizeof(int)) ||
        !mem_grow((void**)&stash->values, &stash->values_capacity, stash->size + (int)size, 1))
    {
        return WEFT_NO_MEMORY;
    }
    stash->vertex[stash->count++] = i;
    memcpy(stash->values + stash->size, (const char*)l->P + (size_t)l->P_start[i] * block, size);
    stash->size += (int)size;
    return WEFT_OK;
}

// The interpolation of a constrained vertex stays in the directions that are free now: P_i = S_i P_i. A vertex that was
// held in all directions during the setup has no row, and one that is released is left to the smoother; what that costs
// is counted by the solver.
weft_status sa_constrain_P(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    bool changed = h->stash.count > 0;
    stash_restore(h);
    for (int f = 0; f < system->filter_count && h->prefilter && l->P; f++)
    {
        const filter_record* record = &system->filter[f];
        int begin = l->P_start[record->vertex], end = l->P_start[record->vertex + 1], K = l->coarse_block;
        if (begin == end)
        {
            continue;
        }
        TRY(stash_row(h, record->vertex));
        for (int k = 0; k < (end - begin) * K; k++)
        {
            size_t at = (size_t)(3 * K) * (size_t)(begin + k / K) + (size_t)(k % K);
            vec3 v =
                h->precision == 32
                    ? v3(((float*)l->P)[at], ((float*)l->P)[at + (size_t)K], ((float*)l->P)[at + 2 * (size_t)K])
                    : v3(((double*)l->P)[at], ((double*)l->P)[at + (size_t)K], ((double*)l->P)[at + 2 * (size_t)K]);
            v = m3_mul_v(record->S, v);
            const double part[3] = {v.x, v.y, v.z};
            for (int r = 0; r < 3; r++)
            {
                size_t to = at + (size_t)(r * K);
                h->precision == 32 ? (void)(((float*)l->P)[to] = (float)part[r])
                                   : (void)(((double*)l->P)[to] = part[r]);
            }
        }
    }
    changed || h->stash.count > 0 ? sa_copy_P(h, l) : (void)0;
    return WEFT_OK;
}

// ---- the last level

typedef struct direct_source
{
    const sa_hierarchy* h;
    const sa_level* level;
} direct_source;

static const double* direct_load(const void* context, const chol_entry* entry, double* buffer)
{
    const direct_source* s = context;
    int size = s->level->block * s->level->block;
    size_t at = (size_t)size * (size_t)entry->slot;
    if (s->h->precision == 64)
    {
        return (const double*)s->level->A + at;
    }
    for (int k = 0; k < size; k++)
    {
        buffer[k] = (double)((const float*)s->level->A)[at + (size_t)k];
    }
    return buffer;
}

weft_status sa_factor_values(sa_hierarchy* h)
{
    direct_source context = {h, &h->levels[h->level_count - 1]};
    chol_source source = {direct_load, &context};
    chol_engine engine = {h->pool, dense_kernels_for(h->cpu)};
    double clock = sa_clock(h);
    weft_status status = chol_factor(&h->symbolic, &h->numeric, &source, &engine);
    sa_lap(h, context.level, SA_FACTOR, &clock);
    return status;
}

weft_status sa_factor_last(sa_hierarchy* h)
{
    sa_level* l = &h->levels[h->level_count - 1];
    double clock = sa_clock(h);
    h->direct_x = MEM_NEW((size_t)l->rows * (size_t)l->block, double);
    if (!h->direct_x)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(chol_symbolic_create(&l->pattern, l->block, NULL, &h->symbolic));
    TRY(chol_numeric_fit(&h->symbolic, 1, &h->numeric));
    h->bytes += (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic));
    h->direct = true;
    sa_lap(h, l, SA_FACTOR, &clock);
    return sa_factor_values(h);
}
