// Setup of the hierarchy, level by level (algorithm 3 of the paper), and new values in what is there. What decides
// about a level has files of its own: sa_radius.c, sa_graph.c, sa_aggregate.c, sa_tentative.c, sa_structure.c; what
// makes its numbers is in sa_level.c.
#include <math.h>

#include "solve/sa/sa.h"

static const double STALL = 0.75; // a level that keeps more than this share of the unknowns is the last
static const double FOLDED_THETA = 0.25;
// Vertices an aggregate of folded cloth at most: grids have 14 to 19, irregular meshes of garments 26, which is too
// much.
static const int FOLDED_SIZE = 22;

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
    // A strong smoother makes do with larger aggregates.
    double theta = h->folded ? fmin(FOLDED_THETA, h->settings.theta) : h->settings.theta;
    weft_status status = sa_strong_graph(h, l, c->rho, theta, &c->strong, c->special);
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

// The number of aggregates, -1 without memory.
static int find_aggregates(const sa_hierarchy* h, const sa_level* l, const connections* c)
{
    int distance = l == h->levels ? h->settings.distance : 1;
    int count = sa_aggregate(h->pool, &c->strong, l->rows, c->special, distance, SA_TILE, l->aggregate);
    bool large = h->folded && distance > 1 && count > 0 && l->rows / FOLDED_SIZE > count;
    return large ? sa_aggregate(h->pool, &c->strong, l->rows, c->special, 1, SA_TILE, l->aggregate) : count;
}

static weft_status add_level(sa_hierarchy* h, const linear_system* system, sa_level* l, const connections* c,
                             bool* last)
{
    sa_level* coarse = l + 1;
    double clock = sa_clock(h);
    int aggregates = find_aggregates(h, l, c);
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
    sa_note_scratch(h, sa_scratch_of(h, l));
    TRY(sa_interpolation(h, l, &c->filter));
    TRY(l == h->levels ? sa_constrain_P(h, system) : WEFT_OK);
    return sa_galerkin(h, l, coarse);
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

static weft_status build_factor(sa_hierarchy* h, sa_level* l)
{
    TRY(sa_incomplete_build(h, l));
    return sa_settle_factor(h, l, 0);
}

static weft_status build(sa_hierarchy* h, const linear_system* system)
{
    TRY(sa_load_finest(h, system));
    double clock = sa_clock(h);
    TRY(sa_fill_kernel(h, system, h->prefilter));
    sa_lap(h, h->levels, SA_KERNEL, &clock);
    for (bool last = false; !last;)
    {
        sa_level* l = &h->levels[h->level_count - 1];
        TRY(sa_prepare_level(h, l));
        last = l->rows * l->block <= h->settings.coarsest || h->level_count == WEFT_LEVEL_MAX;
        if (!last)
        {
            TRY(sa_level_radius(h, l));
            TRY(l == h->levels && h->folded && h->precision == 32 ? build_factor(h, l) : WEFT_OK);
            clock = sa_clock(h);
            TRY(sa_relax_kernel(h, l));
            sa_lap(h, l, SA_KERNEL, &clock);
            TRY(coarsen(h, system, l, &last));
        }
        if (!h->keep && h->settings.reuse)
        {
            sa_trim_kernel(h, l);
        }
        else if (!h->keep)
        {
            h->bytes -= sa_setup_bytes(l);
            sa_trim(h, l);
        }
    }
    if (only_special(&h->levels[h->level_count - 1]))
    {
        return WEFT_OK;
    }
    return h->level_count == 1 && h->packed ? WEFT_NOT_DEFINITE : sa_factor_last(h); // the caller tries without
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
    h->folded = h->settings.smoother == 2 || (h->settings.smoother == 0 && (h->insist || sa_is_folded(h, system)));
    // Not where it is solved directly, nor with an incomplete factor, which is made from 32 bits.
    h->packed = bits == 16 && 3 * (int64_t)p->row_count > h->settings.coarsest && !h->folded;
    h->precision = bits == 64 ? 64 : 32;
    h->prefilter = prefilter;
    h->kept = false;
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

// Other values may make radii larger. Other constraints alone leave the finest one where it is or make it smaller (the
// same quotient over fewer vectors), but that of coarse matrices may grow.
static weft_status refresh_smoother(sa_hierarchy* h, sa_level* l, bool constraints)
{
    if (l->incomplete)
    {
        TRY(sa_incomplete_refresh(h, l));
        return sa_settle_factor(h, l, SA_RENEWED);
    }
    return l != h->levels && constraints ? sa_level_radius(h, l) : sa_renew_radius(h, l);
}

// The matrix of a level and, on coarse ones, its pattern.
static void drop_matrix(sa_hierarchy* h, sa_level* l)
{
    const bsr_pattern* p = &l->pattern;
    size_t count = (size_t)p->block_count * (size_t)(l->block * l->block) + SA_PAD;
    if (!l->A && !l->packed) // of a plan
    {
        return;
    }
    h->bytes -= count * (l->packed ? sizeof(int16_t) : sa_real_size(h));
    mem_free(l->A);
    mem_free(l->packed);
    sa_half_finish(h, &l->half);
    l->A = NULL;
    l->packed = NULL;
    if (l != h->levels)
    {
        h->bytes -= (2 * (size_t)p->row_count + 1 + (size_t)p->block_count) * sizeof(int);
        bsr_pattern_finish(&l->pattern);
        l->pattern = (bsr_pattern){0};
    }
}

// The interpolation of cloth that has moved on: another near kernel, another matrix, in the structure that is there.
static weft_status renew_P(sa_hierarchy* h, const linear_system* system, sa_level* l)
{
    sa_level* coarse = l + 1;
    double clock = sa_clock(h);
    if (l == h->levels)
    {
        TRY(sa_fill_kernel(h, system, h->prefilter));
        h->stash.count = h->stash.size = 0;
    }
    if (!l->inverse) // a packed level does without it in its cycles
    {
        l->inverse = sa_real_new(h, 9 * (size_t)l->rows);
        TRY(l->inverse ? sa_invert_diagonal(h, l) : WEFT_NO_MEMORY);
    }
    TRY(sa_relax_kernel(h, l));
    sa_lap(h, l, SA_KERNEL, &clock);
    mem_free(coarse->dropped);
    TRY(sa_tentative(h, l, coarse));
    sa_note_scratch(h, sa_scratch_of(h, l));
    sa_lap(h, l, SA_TENTATIVE, &clock);
    sa_smooth_P(h, l, &(sa_filter){0});
    TRY(l == h->levels ? sa_constrain_P(h, system) : WEFT_OK);
    sa_trim_kernel(h, l);
    return WEFT_OK;
}

// Another pattern: the factor, the coarse matrix and the product that makes it have other structures.
static weft_status restructure_level(sa_hierarchy* h, sa_level* l)
{
    h->bytes -= sa_setup_bytes(l);
    sa_trim_product(l);
    drop_matrix(h, l + 1);
    return sa_galerkin(h, l, l + 1);
}

// The structure of a factor or a product that a plan has left to be made, of the pattern that there was.
static weft_status complete_smoother(sa_hierarchy* h, sa_level* l, bool constraints)
{
    TRY(l->incomplete && !l->incomplete->lower_column ? sa_incomplete_structure(h, l) : WEFT_OK);
    return refresh_smoother(h, l, constraints);
}

static weft_status restructure_smoother(sa_hierarchy* h, sa_level* l)
{
    TRY(l->incomplete ? sa_incomplete_restructure(h, l) : WEFT_OK);
    return l->incomplete ? sa_settle_factor(h, l, SA_RENEWED_CONTACTS) : sa_level_radius(h, l);
}

static weft_status refresh_level(sa_hierarchy* h, const linear_system* system, const sa_update* u, sa_level* l)
{
    TRY(u->pattern ? restructure_smoother(h, l) : complete_smoother(h, l, u->constraints));
    TRY(u->renew ? renew_P(h, system, l) : WEFT_OK);
    return u->pattern || !l->AP_column ? restructure_level(h, l) : sa_galerkin_values(h, l, l + 1);
}

static weft_status refresh_last(sa_hierarchy* h, const sa_update* u)
{
    sa_trim_kernel(h, &h->levels[h->level_count - 1]);
    bool there = h->direct_x != NULL; // not of a plan
    if (!h->direct || (!u->pattern && there))
    {
        return h->direct ? sa_factor_values(h) : WEFT_OK;
    }
    h->bytes -= there ? (size_t)(chol_symbolic_bytes(&h->symbolic) + chol_numeric_bytes(&h->symbolic)) : 0;
    chol_symbolic_finish(&h->symbolic);
    mem_free(h->direct_x);
    h->direct_x = NULL;
    return sa_factor_last(h);
}

weft_status sa_refresh(sa_hierarchy* h, const linear_system* system, const sa_update* update)
{
    if (update->renew && sa_kernel_block(h, system) != h->levels[0].coarse_block)
    {
        return WEFT_UNSUPPORTED;
    }
    h->kept = true;
    h->element_vertices = system->element_vertices;
    bool there = h->levels[0].A || h->levels[0].packed; // not of a plan
    update->pattern ? drop_matrix(h, &h->levels[0]) : (void)0;
    h->levels[0].pattern = *system->A.pattern;
    TRY(update->pattern || !there ? sa_alloc_finest(h) : WEFT_OK);
    TRY(sa_load_values(h, system));
    TRY(update->renew ? WEFT_OK : sa_constrain_P(h, system));
    for (int k = 0; k < h->level_count; k++)
    {
        sa_level* l = &h->levels[k];
        TRY(l->packed ? WEFT_OK : sa_invert_diagonal(h, l));
        TRY(k + 1 < h->level_count ? refresh_level(h, system, update, l) : WEFT_OK);
    }
    return refresh_last(h, update);
}
