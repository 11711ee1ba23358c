// What a hierarchy consists of: its memory, the time of its phases, what it tells of itself.
#include <string.h>

#include "solve/sa/sa.h"

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
size_t sa_scratch_of(const sa_hierarchy* h, const sa_level* l)
{
    size_t entries = (size_t)l->rows * (size_t)(l->block * l->coarse_block);
    return entries * (sizeof(double) + sa_real_size(h)) + (size_t)l->pattern.block_count * 5 * sizeof(int);
}

// Counted bytes that level_trim frees.
size_t sa_setup_bytes(const sa_level* l)
{
    size_t ints = (l->AP_column ? (size_t)l->rows + 1 + (size_t)l->AP_start[l->rows] : 0) +
                  (l->chunk_row ? (size_t)sa_chunks(l) + 1 + (size_t)l->chunk_start[sa_chunks(l)] : 0) +
                  (l->out_place ? 2 * ((size_t)l->rows + 1) : 0);
    size_t places = l->out_place ? (size_t)l->in_start[l->rows] + (size_t)l->out_start[l->rows] : 0;
    return ints * sizeof(int) + places * sizeof(uint16_t) + (l->out_place ? (size_t)l->AP_start[l->rows] : 0);
}

// What only a full setup needs.
void sa_trim_kernel(sa_hierarchy* h, sa_level* l)
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
void sa_trim_product(sa_level* l)
{
    mem_free(l->AP_start);
    mem_free(l->AP_column);
    mem_free(l->chunk_start);
    mem_free(l->chunk_row);
    mem_free(l->in_start);
    mem_free(l->out_start);
    mem_free(l->in_more);
    mem_free(l->in_pair);
    mem_free(l->out_place);
    l->AP_start = l->AP_column = l->chunk_start = l->chunk_row = l->in_start = l->out_start = NULL;
    l->in_pair = l->out_place = NULL;
    l->in_more = NULL;
}

// All that a cycle does without.
void sa_trim(sa_hierarchy* h, sa_level* l)
{
    sa_trim_kernel(h, l);
    sa_trim_product(l);
    mem_free(l->dropped);
    l->dropped = NULL;
}

static void level_finish(sa_hierarchy* h, sa_level* l, bool finest)
{
    sa_trim(h, l);
    sa_incomplete_finish(l->incomplete);
    sa_half_finish(h, &l->half);
    if (!finest)
    {
        bsr_pattern_finish(&l->pattern);
    }
    void* owned[] = {l->A,      l->inverse, l->aggregate, l->P_start, l->P_column, l->P, l->R_start,
                     l->R_row,  l->R_slot,  l->x,         l->y,       l->b,        l->r, l->d,
                     l->packed, l->root,    l->unroot,    l->top,     l->R};
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
    mem_free(h->mark);
    h->partial = NULL;
    h->mark = NULL;
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
