// A second solve of a substep: contacts were let go or caught, and a few rows of the finest matrix are others. Those
// rows, their inverse diagonals and the rows of the incomplete factor that they reach are made anew; everything else
// stays: interpolation, coarse matrices, radii. Without it a vertex that was let go is one that the hierarchy believes
// held, an eigenvalue far from all others for each of its directions: 12 to 40 iterations for one to eight contacts on
// a sphere of 40,401 vertices, and mended 2 to 9 (docs/multigrid.md).
//
// The factor M = E (I + L) D (I + L)^T E^T stays symmetric and definite whatever rows of it are newer than others; that
// they do not quite fit together costs less than what they mend. The next refresh makes all of it anew.
#include <math.h>
#include <string.h>

#include "solve/prefilter.h"
#include "solve/sa/sa.h"

enum
{
    CHANGED = 1,   // a row has other numbers
    REACHED = 2,   // or is connected to one that has
    MOST_SHARE = 8 // a refresh mends more than an eighth of the rows as well
};

// Rows of the factor that take part in what a changed row stands for: its neighbours in A and in the fill.
static void reach(const sa_level* l, int i, unsigned char* mark)
{
    const bsr_pattern* p = &l->pattern;
    const sa_incomplete* f = l->incomplete;
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
    {
        mark[p->column[k]] |= REACHED;
    }
    for (int k = f ? f->fill_start[i] : 0; f && k < f->fill_start[i + 1]; k++)
    {
        mark[f->fill[k]] |= REACHED;
    }
}

// Marks what changed reaches; returns how many rows changed.
static int spread(const sa_level* l, unsigned char* mark)
{
    int count = 0;
    for (int i = 0; i < l->rows; i++)
    {
        if (mark[i] & CHANGED)
        {
            count++;
            reach(l, i, mark);
        }
    }
    return count;
}

static bool mend_factor(const sa_hierarchy* h, sa_level* l, const unsigned char* mark)
{
    const sa_incomplete* f = l->incomplete;
    const sa_incomplete_kernels* kernels = sa_incomplete_kernels_for(h->cpu);
    double bad = 0.0;
    for (int k = 0; k < l->rows; k++)
    {
        bad += mark[f->order[k]] & CHANGED ? kernels->scale(l, k, k + 1) : 0.0;
    }
    for (int k = 0; k < l->rows && bad == 0.0; k++)
    {
        mark[f->order[k]] ? kernels->factor_again(l, k, k + 1) : (void)0;
    }
    parallel_for(h->pool, l->rows, ROW_GRAIN, kernels->mirror, l->incomplete);
    return bad == 0.0;
}

bool sa_mend(sa_hierarchy* h, const linear_system* system)
{
    sa_level* l = &h->levels[0];
    const bsr_pattern* p = system->A.pattern;
    bool filtered = h->prefilter && system->filter_count > 0;
    // A hierarchy of one level is a direct solve.
    if (!h->mark || !l->P || (filtered && !h->index) || p->block_count != l->pattern.block_count)
    {
        return false;
    }
    double clock = sa_clock(h);
    l->pattern = *p; // the same, but maybe elsewhere
    if (h->packed)   // rows that change have other scales, which their neighbours see
    {
        return sa_load_scaled(h, system) == WEFT_OK;
    }
    filtered ? prefilter_index(system, h->index) : (void)0;
    memset(h->mark, 0, (size_t)l->rows);
    h->source = (sa_load){system, filtered ? h->index : NULL, l, h->matrix_scale, h->mark};
    const sa_kernels* kernels = sa_kernels_for(h->cpu, h->precision);
    parallel_for(h->pool, l->rows, ROW_GRAIN, kernels->reload, &h->source);
    if (spread(l, h->mark) > l->rows / MOST_SHARE)
    {
        return false;
    }
    double bad = 0.0;
    for (int i = 0; i < l->rows; i++)
    {
        bad += h->mark[i] & CHANGED ? kernels->invert(l, i, i + 1) : 0.0;
    }
    bool fine = bad == 0.0 && (!l->incomplete || mend_factor(h, l, h->mark));
    sa_lap(h, l, SA_LOAD, &clock);
    return fine;
}
