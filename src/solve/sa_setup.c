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
    h->bytes += (count + SA_PAD) * sa_real_size(h);
    return mem_alloc(count + SA_PAD, sa_real_size(h));
}

void* sa_ints_new(sa_hierarchy* h, size_t count)
{
    h->bytes += count * sizeof(int);
    return mem_alloc(count, sizeof(int));
}

void sa_note_scratch(sa_hierarchy* h, size_t bytes)
{
    h->bytes_most = h->bytes + bytes > h->bytes_most ? h->bytes + bytes : h->bytes_most;
}

// Scratch of a level that is there when its coarse matrix is made: kernel, Q, two graphs with their strengths.
static size_t scratch_of(const sa_hierarchy* h, const sa_level* l)
{
    size_t entries = (size_t)l->rows * (size_t)(l->block * l->coarse_block);
    return entries * (sizeof(double) + sa_real_size(h)) + (size_t)l->pattern.block_count * 5 * sizeof(int);
}

// Counted integers that level_trim frees.
static size_t setup_ints(const sa_level* l)
{
    size_t chunks = (size_t)(l->coarse_rows + SA_CHUNK - 1) / SA_CHUNK;
    return (l->AP_column ? (size_t)l->rows + 1 + (size_t)l->AP_start[l->rows] : 0) +
           (l->chunk_row ? chunks + 2 + (size_t)l->chunk_start[chunks] : 0);
}

// What only a full setup needs.
static void level_trim_kernel(sa_level* l)
{
    mem_free(l->kernel);
    mem_free(l->Q);
    l->kernel = NULL;
    l->Q = NULL;
}

// And what a refresh needs too.
static void level_trim(sa_level* l)
{
    level_trim_kernel(l);
    mem_free(l->dropped);
    mem_free(l->AP_start);
    mem_free(l->AP_column);
    mem_free(l->chunk_start);
    mem_free(l->chunk_row);
    l->dropped = NULL;
    l->AP_start = l->AP_column = l->chunk_start = l->chunk_row = NULL;
}

static void level_finish(sa_level* l, bool finest)
{
    level_trim(l);
    if (!finest)
    {
        bsr_pattern_finish(&l->pattern);
    }
    void* owned[] = {l->A,     l->inverse, l->aggregate, l->P_start, l->P_column, l->P, l->R_start,
                     l->R_row, l->R_slot,  l->x,         l->y,       l->b,        l->r, l->d};
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
        level_finish(&h->levels[k], k == 0);
    }
    chol_symbolic_finish(&h->symbolic);
    chol_numeric_finish(&h->numeric);
    mem_free(h->direct_x);
    mem_free(h->index);
    h->direct_x = NULL;
    h->index = NULL;
    h->level_count = 0;
    h->direct = false;
    h->bytes = h->bytes_most = 0;
}

// ---- the finest level

static void load_values(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    if (h->index)
    {
        prefilter_index(system, h->index);
    }
    double most = 0.0;
    for (int i = 0; i < l->rows; i++)
    {
        const double* a = system->A.values + 9 * (size_t)l->pattern.diagonal[i];
        most = fmax(most, fmax(a[0], fmax(a[4], a[8])));
    }
    h->matrix_scale = 1.0 / sa_power_of_two(most);
    sa_load load = {system, h->index, l, h->matrix_scale};
    parallel_for(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->load, &load);
}

static weft_status load_finest(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    sa_level* l = &h->levels[0];
    int rows = system->A.pattern->row_count;
    bool filtered = prefilter && system->filter_count > 0;
    h->level_count = 1;
    h->element_vertices = system->element_vertices;
    *l = (sa_level){.rows = rows, .block = 3, .pattern = *system->A.pattern};
    l->A = sa_real_new(h, 9 * (size_t)l->pattern.block_count);
    h->index = filtered ? sa_ints_new(h, (size_t)rows) : NULL;
    if (!l->A || (filtered && !h->index))
    {
        return WEFT_NO_MEMORY;
    }
    load_values(h, system);
    return WEFT_OK;
}

// ---- vectors, inverse, radius: what every level has

static weft_status invert_diagonal(const sa_hierarchy* h, sa_level* l)
{
    double bad = parallel_sum(h->pool, l->rows, ROW_GRAIN, sa_kernels_for(h->cpu, h->precision)->invert, l);
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

// ---- the coarse matrix

// A dropped column leaves a row and a column of zeros: its diagonal becomes the mean of the others of its node.
static void fill_dropped(const sa_hierarchy* h, sa_level* coarse)
{
    int K = coarse->block;
    for (int I = 0; I < coarse->rows; I++)
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

static weft_status interpolation(sa_hierarchy* h, sa_level* l, const sa_graph* smoothing_graph)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    TRY(sa_structure_P(h, l, smoothing_graph));
    l->P = sa_real_new(h, (size_t)l->P_start[l->rows] * (size_t)(l->block * l->coarse_block));
    if (!l->P)
    {
        return WEFT_NO_MEMORY;
    }
    sa_smoothing smoothing = {l, smoothing_graph, 4.0 / 3.0 / l->radius};
    parallel_for(h->pool, l->rows, ROW_GRAIN / 2, kernels->smooth, &smoothing);
    return WEFT_OK;
}

static weft_status galerkin_values(const sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    sa_product product = {l, coarse};
    int chunks = (l->coarse_rows + SA_CHUNK - 1) / SA_CHUNK;
    if (parallel_sum(h->pool, chunks, 1, kernels->galerkin, &product) > 0.0)
    {
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, coarse->rows, ROW_GRAIN / 4, kernels->mirror, coarse);
    fill_dropped(h, coarse);
    return WEFT_OK;
}

static weft_status galerkin(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    TRY(sa_structure_coarse(h, l, coarse));
    size_t K = (size_t)l->coarse_block;
    coarse->A = sa_real_new(h, (size_t)coarse->pattern.block_count * K * K);
    sa_note_scratch(h, scratch_of(h, l));
    return coarse->A ? galerkin_values(h, l, coarse) : WEFT_NO_MEMORY;
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
    return chol_factor(&h->symbolic, &h->numeric, &source, &engine);
}

static weft_status factor_last(sa_hierarchy* h)
{
    sa_level* l = &h->levels[h->level_count - 1];
    h->direct_x = MEM_NEW((size_t)l->rows * (size_t)l->block, double);
    if (!h->direct_x)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(chol_symbolic_create(&l->pattern, l->block, &h->symbolic));
    TRY(chol_numeric_create(&h->symbolic, &h->numeric));
    h->bytes += (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic));
    h->direct = true;
    return factor_values(h);
}

// ---- all of it

// What decides about a level's aggregates and interpolation.
typedef struct connections
{
    float* rho;
    unsigned char *special, *unused;
    sa_graph strong, smoothing; // above theta; above filter, empty: all smooth
} connections;

static weft_status connect(const sa_hierarchy* h, const sa_level* l, connections* c)
{
    c->rho = MEM_NEW(l->pattern.block_count, float);
    c->special = MEM_NEW(l->rows, unsigned char);
    c->unused = MEM_NEW(l->rows, unsigned char);
    if (!c->rho || !c->special || !c->unused)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(sa_strength(h, l, c->rho));
    TRY(sa_strong_graph(l, c->rho, h->settings.theta, &c->strong, c->special));
    // On the finest level only: there the translations of neighbours are alike, so that leaving out keeps them.
    bool filter = h->settings.filter > 0.0 && l == h->levels;
    return filter ? sa_strong_graph(l, c->rho, h->settings.filter, &c->smoothing, c->unused) : WEFT_OK;
}

static void connections_finish(connections* c)
{
    mem_free(c->rho);
    mem_free(c->special);
    mem_free(c->unused);
    sa_graph_finish(&c->strong);
    sa_graph_finish(&c->smoothing);
}

static weft_status add_level(sa_hierarchy* h, sa_level* l, const connections* c, bool* last)
{
    sa_level* coarse = l + 1;
    int distance = l == h->levels ? h->settings.distance : 1;
    l->coarse_rows = sa_aggregate(&c->strong, l->rows, c->special, distance, l->aggregate);
    double unknowns = (double)l->rows * l->block, coarse_unknowns = (double)l->coarse_rows * l->coarse_block;
    *last = l->coarse_rows == 0 || coarse_unknowns > STALL * unknowns;
    if (*last)
    {
        return WEFT_OK;
    }
    *coarse = (sa_level){.rows = l->coarse_rows, .block = l->coarse_block, .coarse_block = l->coarse_block};
    h->level_count++;
    TRY(sa_tentative(h, l, coarse));
    sa_note_scratch(h, scratch_of(h, l));
    TRY(interpolation(h, l, c->smoothing.row_start ? &c->smoothing : NULL));
    return galerkin(h, l, coarse);
}

// Adds the level below `l`; *last when there is none to add.
static weft_status coarsen(sa_hierarchy* h, sa_level* l, bool* last)
{
    connections c = {0};
    l->aggregate = sa_ints_new(h, (size_t)l->rows);
    weft_status status = l->aggregate ? connect(h, l, &c) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = add_level(h, l, &c, last);
    }
    connections_finish(&c);
    return status;
}

// A level with nothing but special nodes needs no direct solve.
static bool only_special(const sa_level* l)
{
    return l->aggregate && l->coarse_rows == 0;
}

static weft_status build(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    TRY(load_finest(h, system, prefilter));
    TRY(sa_fill_kernel(h, system, prefilter));
    for (bool last = false; !last;)
    {
        sa_level* l = &h->levels[h->level_count - 1];
        TRY(prepare_level(h, l));
        last = l->rows * l->block <= h->settings.coarsest || h->level_count == WEFT_LEVEL_MAX;
        if (!last)
        {
            sa_find_radius(h, l);
            if (!isfinite(l->radius) || !(l->radius > 0.0))
            {
                return WEFT_NOT_FINITE;
            }
            TRY(sa_relax_kernel(h, l));
            TRY(coarsen(h, l, &last));
        }
        if (!h->keep && h->settings.reuse)
        {
            level_trim_kernel(l);
        }
        else if (!h->keep)
        {
            h->bytes -= setup_ints(l) * sizeof(int);
            level_trim(l);
        }
    }
    return only_special(&h->levels[h->level_count - 1]) ? WEFT_OK : factor_last(h);
}

weft_status sa_build(sa_hierarchy* h, const linear_system* system, bool prefilter)
{
    if (system->kernel_count > SA_KERNEL_MAX)
    {
        return WEFT_UNSUPPORTED;
    }
    sa_finish(h);
    h->precision = h->settings.precision;
    h->vector_scale = 1.0;
    weft_status status = build(h, system, prefilter);
    // Single precision may lose a matrix that double still holds.
    if ((status == WEFT_NOT_DEFINITE || status == WEFT_NOT_FINITE) && h->precision == 32)
    {
        sa_finish(h);
        h->precision = 64;
        status = build(h, system, prefilter);
    }
    if (status != WEFT_OK)
    {
        sa_finish(h);
    }
    return status;
}

weft_status sa_refresh(sa_hierarchy* h, const linear_system* system)
{
    h->levels[0].pattern = *system->A.pattern; // the same, but maybe elsewhere
    load_values(h, system);
    for (int k = 0; k < h->level_count; k++)
    {
        sa_level* l = &h->levels[k];
        TRY(invert_diagonal(h, l));
        if (k + 1 < h->level_count)
        {
            TRY(galerkin_values(h, l, l + 1));
        }
    }
    return h->direct ? factor_values(h) : WEFT_OK;
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
