// Setup of the hierarchy, level by level (algorithm 3 of the paper). What decides about a level has files of its own:
// sa_radius.c, sa_tentative.c, sa_aggregate.c, sa_structure.c.
#include <math.h>
#include <string.h>

#include "solve/prefilter.h"
#include "solve/sa.h"

static const double STALL = 0.75; // a level that keeps more than this share of the unknowns is the last

size_t sa_real_size(const sa_hierarchy* h)
{
    return h->precision == 64 ? sizeof(double) : sizeof(float);
}

void* sa_real_new(sa_hierarchy* h, size_t count)
{
    size_t size = sa_real_size(h);
    h->bytes += (count + SA_PAD) * size;
    char* reals = mem_raw(count + SA_PAD, size);
    if (reals)
    {
        memset(reals + count * size, 0, SA_PAD * size);
    }
    return reals;
}

void* sa_ints_new(sa_hierarchy* h, size_t count)
{
    h->bytes += count * sizeof(int);
    return mem_raw(count, sizeof(int));
}

void* sa_places_new(sa_hierarchy* h, size_t count)
{
    h->bytes += count * sizeof(uint16_t);
    return mem_raw(count, sizeof(uint16_t));
}

void sa_note_scratch(sa_hierarchy* h, size_t bytes)
{
    h->bytes_most = h->bytes + bytes > h->bytes_most ? h->bytes + bytes : h->bytes_most;
}

double sa_clock(const sa_hierarchy* h)
{
    return h->profile ? timer_now() : 0.0;
}

void sa_lap(const sa_hierarchy* h, const sa_level* l, sa_phase phase, double* since)
{
    if (h->profile)
    {
        double now = timer_now();
        h->profile->seconds[l - h->levels][phase] += now - *since;
        h->profile->calls[l - h->levels][phase]++;
        *since = now;
    }
}

// Scratch of a level that is there when its coarse matrix is made: kernel, Q, graph, strengths.
static size_t scratch_of(const sa_hierarchy* h, const sa_level* l)
{
    size_t entries = (size_t)l->rows * (size_t)(l->block * l->coarse_block);
    return entries * (sizeof(double) + sa_real_size(h)) + (size_t)l->pattern.block_count * 5 * sizeof(int);
}

// Counted bytes that level_trim frees.
static size_t setup_bytes(const sa_level* l)
{
    size_t ints = (l->AP_column ? (size_t)l->rows + 1 + (size_t)l->AP_start[l->rows] : 0) +
                  (l->chunk_row ? (size_t)sa_chunks(l) + 1 + (size_t)l->chunk_start[sa_chunks(l)] : 0) +
                  (l->out_place ? 2 * ((size_t)l->rows + 1) : 0);
    size_t places = l->out_place ? (size_t)l->in_start[l->rows] + (size_t)l->out_start[l->rows] : 0;
    return ints * sizeof(int) + places * sizeof(uint16_t);
}

// What only a full setup needs.
static void level_trim_kernel(sa_hierarchy* h, sa_level* l)
{
    mem_free(l->kernel);
    mem_free(l->Q);
    l->kernel = NULL;
    l->Q = NULL;
    if (l->packed && l->inverse)
    {
        h->bytes -= ((size_t)l->rows * 9 + SA_PAD) * sa_real_size(h);
        mem_free(l->inverse);
        l->inverse = NULL;
    }
}

// The structure of the product with P.
static void level_trim_product(sa_level* l)
{
    mem_free(l->AP_start);
    mem_free(l->AP_column);
    mem_free(l->chunk_start);
    mem_free(l->chunk_row);
    mem_free(l->in_start);
    mem_free(l->out_start);
    mem_free(l->in_place);
    mem_free(l->out_place);
    l->AP_start = l->AP_column = l->chunk_start = l->chunk_row = l->in_start = l->out_start = NULL;
    l->in_place = l->out_place = NULL;
}

// All that a cycle does without.
static void level_trim(sa_hierarchy* h, sa_level* l)
{
    level_trim_kernel(h, l);
    level_trim_product(l);
    mem_free(l->dropped);
    l->dropped = NULL;
}

static void level_finish(sa_hierarchy* h, sa_level* l, bool finest)
{
    level_trim(h, l);
    if (!finest)
    {
        bsr_pattern_finish(&l->pattern);
    }
    void* owned[] = {l->A,       l->inverse, l->aggregate, l->P_start, l->P_column, l->P,
                     l->R_start, l->R_row,   l->R_slot,    l->x,       l->y,        l->b,
                     l->r,       l->d,       l->packed,    l->root,    l->unroot};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    *l = (sa_level){0};
}

void sa_finish(sa_hierarchy* h)
{
    for (int k = 0; k < h->level_count; k++)
    {
        level_finish(h, &h->levels[k], k == 0);
    }
    chol_symbolic_finish(&h->symbolic);
    chol_numeric_finish(&h->numeric);
    mem_free(h->direct_x);
    mem_free(h->index);
    mem_free(h->scratch);
    mem_free(h->partial);
    h->partial = NULL;
    mem_free(h->stash.vertex);
    mem_free(h->stash.values);
    h->stash = (sa_stash){0};
    h->scratch = NULL;
    h->scratch_size = 0;
    h->direct_x = NULL;
    h->index = NULL;
    h->level_count = 0;
    h->direct = false;
    h->bytes = h->bytes_most = 0;
}

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

static weft_status load_values(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    double clock = sa_clock(h);
    bool filtered = h->prefilter && system->filter_count > 0;
    if (filtered && !h->index)
    {
        h->index = sa_ints_new(h, (size_t)l->rows);
    }
    int chunks = l->rows / ROW_GRAIN + 1;
    h->partial = h->partial ? h->partial : MEM_NEW(chunks, double);
    if ((filtered && !h->index) || !h->partial)
    {
        return WEFT_NO_MEMORY;
    }
    if (filtered)
    {
        prefilter_index(system, h->index);
    }
    largest_pass pass = {system, h->partial};
    parallel_for(h->pool, l->rows, ROW_GRAIN, largest_rows, &pass);
    double most = 0.0;
    for (int k = 0; k < chunks; k++)
    {
        most = fmax(most, h->partial[k]);
    }
    h->matrix_scale = 1.0 / sa_power_of_two(most);
    h->source = (sa_load){system, filtered ? h->index : NULL, l, h->matrix_scale};
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
static weft_status alloc_finest(sa_hierarchy* h)
{
    sa_level* l = &h->levels[0];
    size_t count = 9 * (size_t)l->pattern.block_count;
    if (!h->packed)
    {
        l->A = sa_real_new(h, count);
        return l->A ? WEFT_OK : WEFT_NO_MEMORY;
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

static weft_status load_finest(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    h->level_count = 1;
    h->element_vertices = system->element_vertices;
    *l = (sa_level){.rows = system->A.pattern->row_count, .block = 3, .pattern = *system->A.pattern};
    TRY(alloc_finest(h));
    return load_values(h, system);
}

// ---- vectors, inverse, radius: what every level has

static weft_status invert_diagonal(const sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    double bad = parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->invert, l);
    sa_lap(h, l, SA_INVERT, &clock);
    return bad > 0.0 ? WEFT_NOT_DEFINITE : WEFT_OK;
}

static weft_status prepare_level(sa_hierarchy* h, sa_level* l)
{
    size_t unknowns = (size_t)l->rows * (size_t)l->block;
    l->inverse = sa_real_new(h, unknowns * (size_t)l->block);
    void** vectors[] = {&l->x, &l->y, &l->b, &l->r, &l->d};
    for (int k = 0; k < 5; k++)
    {
        *vectors[k] = sa_real_new(h, unknowns);
        if (!*vectors[k])
        {
            return WEFT_NO_MEMORY;
        }
    }
    if (!l->inverse)
    {
        return WEFT_NO_MEMORY;
    }
    return invert_diagonal(h, l);
}

static weft_status find_radius(sa_hierarchy* h, sa_level* l)
{
    double clock = sa_clock(h);
    sa_find_radius(h, l);
    sa_lap(h, l, SA_RADIUS, &clock);
    return isfinite(l->radius) && l->radius > 0.0 ? WEFT_OK : WEFT_NOT_FINITE;
}

// ---- the coarse matrix

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

static weft_status interpolation(sa_hierarchy* h, sa_level* l, const sa_filter* filter)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    double clock = sa_clock(h);
    TRY(sa_structure_P(h, l, filter));
    sa_lap(h, l, SA_P_STRUCTURE, &clock);
    l->P = sa_real_new(h, (size_t)l->P_start[l->rows] * (size_t)(l->block * l->coarse_block));
    if (!l->P)
    {
        return WEFT_NO_MEMORY;
    }
    sa_smoothing smoothing = {l, *filter, 4.0 / 3.0 / l->radius};
    parallel_for(h->pool, l->rows, ROW_GRAIN / 2, kernels->smooth, &smoothing);
    sa_lap(h, l, SA_P_VALUES, &clock);
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

static weft_status galerkin_values(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    double clock = sa_clock(h);
    sa_product product = {.level = l, .coarse = coarse};
    TRY(galerkin_scratch(h, l, &product));
    parallel_for(h->pool, int_min(SA_TASKS, sa_chunks(l)), 1, kernels->galerkin, &product);
    parallel_for(h->pool, coarse->rows, ROW_GRAIN / 4, kernels->mirror, coarse);
    dropped_pass dropped = {h, coarse};
    parallel_for(h->pool, coarse->rows, ROW_GRAIN, fill_dropped, &dropped);
    sa_lap(h, l, SA_GALERKIN, &clock);
    return WEFT_OK;
}

static weft_status galerkin(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    double clock = sa_clock(h);
    TRY(sa_structure_coarse(h, l, coarse));
    sa_lap(h, l, SA_COARSE_STRUCTURE, &clock);
    size_t K = (size_t)l->coarse_block;
    coarse->A = sa_real_new(h, (size_t)coarse->pattern.block_count * K * K);
    sa_note_scratch(h, scratch_of(h, l));
    return coarse->A ? galerkin_values(h, l, coarse) : WEFT_NO_MEMORY;
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
static weft_status constrain_P(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
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

static weft_status factor_values(sa_hierarchy* h)
{
    direct_source context = {h, &h->levels[h->level_count - 1]};
    chol_source source = {direct_load, &context};
    chol_engine engine = {h->pool, dense_kernels_for(h->cpu)};
    double clock = sa_clock(h);
    weft_status status = chol_factor(&h->symbolic, &h->numeric, &source, &engine);
    sa_lap(h, context.level, SA_FACTOR, &clock);
    return status;
}

static weft_status factor_last(sa_hierarchy* h)
{
    sa_level* l = &h->levels[h->level_count - 1];
    double clock = sa_clock(h);
    h->direct_x = MEM_NEW((size_t)l->rows * (size_t)l->block, double);
    if (!h->direct_x)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(chol_symbolic_create(&l->pattern, l->block, &h->symbolic));
    TRY(chol_numeric_create(&h->symbolic, &h->numeric));
    h->bytes += (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic));
    h->direct = true;
    sa_lap(h, l, SA_FACTOR, &clock);
    return factor_values(h);
}

// ---- all of it

// What decides about a level's aggregates and interpolation.
typedef struct connections
{
    float *rho, *limit;
    unsigned char* special;
    sa_graph strong; // above theta
    sa_filter filter;
} connections;

static weft_status connect(const sa_hierarchy* h, const sa_level* l, connections* c)
{
    c->rho = mem_raw((size_t)l->pattern.block_count, sizeof(float));
    c->limit = MEM_NEW(l->rows, float);
    c->special = MEM_NEW(l->rows, unsigned char);
    if (!c->rho || !c->limit || !c->special)
    {
        return WEFT_NO_MEMORY;
    }
    double clock = sa_clock(h);
    TRY(sa_strength(h, l, c->rho));
    sa_lap(h, l, SA_STRENGTH, &clock);
    // On the finest level only: there the translations of neighbours are alike, so that leaving out keeps them.
    if (h->settings.filter > 0.0 && l == h->levels)
    {
        sa_limits(h, l, c->rho, h->settings.filter, c->limit, c->special);
        c->filter = (sa_filter){c->rho, c->limit};
    }
    weft_status status = sa_strong_graph(h, l, c->rho, h->settings.theta, &c->strong, c->special);
    sa_lap(h, l, SA_GRAPH, &clock);
    return status;
}

static void connections_finish(connections* c)
{
    mem_free(c->rho);
    mem_free(c->limit);
    mem_free(c->special);
    sa_graph_finish(&c->strong);
}

static weft_status add_level(sa_hierarchy* h, const linear_system* system, sa_level* l, const connections* c,
                             bool* last)
{
    sa_level* coarse = l + 1;
    int distance = l == h->levels ? h->settings.distance : 1;
    double clock = sa_clock(h);
    int aggregates = sa_aggregate(h->pool, &c->strong, l->rows, c->special, distance, SA_TILE, l->aggregate);
    if (aggregates < 0)
    {
        return WEFT_NO_MEMORY;
    }
    l->coarse_rows = aggregates;
    sa_lap(h, l, SA_AGGREGATE, &clock);
    double unknowns = (double)l->rows * l->block, coarse_unknowns = (double)l->coarse_rows * l->coarse_block;
    *last = l->coarse_rows == 0 || coarse_unknowns > STALL * unknowns;
    if (*last)
    {
        return WEFT_OK;
    }
    *coarse = (sa_level){.rows = l->coarse_rows, .block = l->coarse_block, .coarse_block = l->coarse_block};
    h->level_count++;
    TRY(sa_tentative(h, l, coarse));
    sa_lap(h, l, SA_TENTATIVE, &clock);
    sa_note_scratch(h, scratch_of(h, l));
    TRY(interpolation(h, l, &c->filter));
    TRY(l == h->levels ? constrain_P(h, system) : WEFT_OK);
    return galerkin(h, l, coarse);
}

// Adds the level below `l`; *last when there is none to add.
static weft_status coarsen(sa_hierarchy* h, const linear_system* system, sa_level* l, bool* last)
{
    connections c = {0};
    l->aggregate = sa_ints_new(h, (size_t)l->rows);
    weft_status status = l->aggregate ? connect(h, l, &c) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = add_level(h, system, l, &c, last);
    }
    connections_finish(&c);
    return status;
}

// A level with nothing but special nodes needs no direct solve.
static bool only_special(const sa_level* l)
{
    return l->aggregate && l->coarse_rows == 0;
}

static weft_status build(sa_hierarchy* h, const linear_system* system)
{
    TRY(load_finest(h, system));
    double clock = sa_clock(h);
    TRY(sa_fill_kernel(h, system, h->prefilter));
    sa_lap(h, h->levels, SA_KERNEL, &clock);
    for (bool last = false; !last;)
    {
        sa_level* l = &h->levels[h->level_count - 1];
        TRY(prepare_level(h, l));
        last = l->rows * l->block <= h->settings.coarsest || h->level_count == WEFT_LEVEL_MAX;
        if (!last)
        {
            TRY(find_radius(h, l));
            clock = sa_clock(h);
            TRY(sa_relax_kernel(h, l));
            sa_lap(h, l, SA_KERNEL, &clock);
            TRY(coarsen(h, system, l, &last));
        }
        if (!h->keep && h->settings.reuse)
        {
            level_trim_kernel(h, l);
        }
        else if (!h->keep)
        {
            h->bytes -= setup_bytes(l);
            level_trim(h, l);
        }
    }
    if (only_special(&h->levels[h->level_count - 1]))
    {
        return WEFT_OK;
    }
    return h->level_count == 1 && h->packed ? WEFT_NOT_DEFINITE : factor_last(h); // the caller tries without
}

weft_status sa_build(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    if (system->kernel_count > SA_KERNEL_MAX)
    {
        return WEFT_UNSUPPORTED;
    }
    sa_finish(h);
    const bsr_pattern* p = system->A.pattern;
    int bits = h->settings.precision ? h->settings.precision : p->block_count >= SA_PACK_BLOCKS ? 16 : 32;
    h->packed = bits == 16 && 3 * (int64_t)p->row_count > h->settings.coarsest; // not where it is solved directly
    h->precision = bits == 64 ? 64 : 32;
    h->prefilter = prefilter;
    h->vector_scale = 1.0;
    weft_status status = build(h, system);
    if ((status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE) && h->packed)
    {
        sa_finish(h);
        h->packed = false;
        status = build(h, system);
    }
    // Single precision may lose a matrix that double still holds.
    if ((status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE) && h->precision == 32)
    {
        sa_finish(h);
        h->precision = 64;
        status = build(h, system);
    }
    if (status != WEFT_OK)
    {
        sa_finish(h);
    }
    return status;
}

// ---- new values in what is there

// Other constraints leave the finest radius where it is or make it smaller (the same quotient over fewer vectors), but
// that of coarse matrices may grow.
weft_status sa_refresh(sa_hierarchy* h, const linear_system* system, bool constraints)
{
    h->levels[0].pattern = *system->A.pattern; // the same, but maybe elsewhere
    TRY(load_values(h, system));
    TRY(constrain_P(h, system));
    for (int k = 0; k < h->level_count; k++)
    {
        sa_level* l = &h->levels[k];
        TRY(l->packed ? WEFT_OK : invert_diagonal(h, l));
        if (k > 0 && k + 1 < h->level_count && constraints)
        {
            TRY(find_radius(h, l));
        }
        if (k + 1 < h->level_count)
        {
            TRY(galerkin_values(h, l, l + 1));
        }
    }
    return h->direct ? factor_values(h) : WEFT_OK;
}

// The matrix of a level and, on coarse ones, its pattern.
static void drop_matrix(sa_hierarchy* h, sa_level* l)
{
    const bsr_pattern* p = &l->pattern;
    size_t count = (size_t)p->block_count * (size_t)(l->block * l->block) + SA_PAD;
    h->bytes -= count * (l->packed ? sizeof(int16_t) : sa_real_size(h));
    mem_free(l->A);
    mem_free(l->packed);
    l->A = NULL;
    l->packed = NULL;
    if (l != h->levels)
    {
        h->bytes -= (2 * (size_t)p->row_count + 1 + (size_t)p->block_count) * sizeof(int);
        bsr_pattern_finish(&l->pattern);
        l->pattern = (bsr_pattern){0};
    }
}

static weft_status restructure_level(sa_hierarchy* h, sa_level* l)
{
    TRY(find_radius(h, l));
    h->bytes -= setup_bytes(l);
    level_trim_product(l);
    drop_matrix(h, l + 1);
    return galerkin(h, l, l + 1);
}

weft_status sa_restructure(sa_hierarchy* h, const linear_system* system)
{
    sa_level* finest = &h->levels[0];
    drop_matrix(h, finest);
    finest->pattern = *system->A.pattern;
    TRY(alloc_finest(h));
    TRY(load_values(h, system));
    TRY(constrain_P(h, system));
    for (int k = 0; k < h->level_count; k++)
    {
        TRY(h->levels[k].packed ? WEFT_OK : invert_diagonal(h, &h->levels[k]));
        if (k + 1 < h->level_count)
        {
            TRY(restructure_level(h, &h->levels[k]));
        }
    }
    if (!h->direct)
    {
        return WEFT_OK;
    }
    h->bytes -= (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic));
    chol_symbolic_finish(&h->symbolic);
    chol_numeric_finish(&h->numeric);
    mem_free(h->direct_x);
    h->direct_x = NULL;
    return factor_last(h);
}

void sa_stats(const sa_hierarchy* h, weft_solve_stats* stats)
{
    double all = 0.0, finest = 1.0;
    stats->level_count = h->level_count;
    for (int k = 0; k < h->level_count; k++)
    {
        const sa_level* l = &h->levels[k];
        double size = (double)l->pattern.block_count * l->block * l->block;
        stats->levels[k] = (weft_level_stats){l->rows, l->block, l->pattern.block_count};
        finest = k == 0 ? size : finest;
        all += size;
    }
    stats->operator_complexity = all / finest;
}

int sa_aggregates(const sa_hierarchy* h, int level, int* aggregate)
{
    if (level < 0 || level >= h->level_count - 1)
    {
        return -1;
    }
    for (int i = 0; i < h->levels[0].rows; i++)
    {
        int at = i;
        for (int k = 0; k <= level && at >= 0; k++)
        {
            at = h->levels[k].aggregate[at];
        }
        aggregate[i] = at;
    }
    return h->levels[level].coarse_rows;
}
