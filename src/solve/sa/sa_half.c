// Half of a symmetric matrix for the products of a cycle, which are what an iteration reads: of two blocks A_ij and
// A_ji = A_ij^T whose rows are in one chunk of a loop only the upper one is kept, and read once for both rows,
//
//     y_i += A_ij x_j,   y_j += A_ij^T x_i.
//
// No two threads write to one row, as both rows belong to the chunk, and sums have one order on any number of them.
// Blocks between chunks are there twice. Vertices lie along a space-filling curve, so that 0.57 of the blocks of a sheet
// are left. Skipping the others where they lie, in the whole
// matrix, is no gain: what is fetched ahead brings them all the same. Smooth sheets do without: a copy is too much memory
// for their few cycles.
#include "solve/sa/sa.h"

weft_status sa_half_make(sa_hierarchy* h, sa_level* l)
{
    sa_half* half = &l->half;
    const bsr_pattern* p = &l->pattern;
    size_t bytes = h->bytes;
    if (!h->folded)
    {
        return WEFT_OK;
    }
    half->start = sa_ints_new(h, (size_t)l->rows + 1);
    half->before = sa_ints_new(h, (size_t)l->rows);
    half->behind = sa_ints_new(h, (size_t)l->rows);
    if (!half->start || !half->before || !half->behind)
    {
        return WEFT_NO_MEMORY;
    }
    int blocks = 0;
    for (int i = 0; i < l->rows; i++)
    {
        int begin = i / ROW_GRAIN * ROW_GRAIN, first = p->row_start[i], last = p->row_start[i + 1];
        while (p->column[first] < begin)
        {
            first++;
        }
        while (p->column[last - 1] >= begin + ROW_GRAIN)
        {
            last--;
        }
        half->start[i] = blocks;
        half->before[i] = first;
        half->behind[i] = last;
        blocks += first - p->row_start[i] + p->row_start[i + 1] - p->diagonal[i];
    }
    half->start[l->rows] = blocks;
    half->A = sa_real_new(h, 9 * (size_t)blocks);
    half->bytes = h->bytes - bytes;
    return half->A ? WEFT_OK : WEFT_NO_MEMORY;
}

void sa_half_finish(sa_hierarchy* h, sa_half* half)
{
    mem_free(half->start);
    mem_free(half->before);
    mem_free(half->behind);
    mem_free(half->A);
    h->bytes -= half->bytes;
    *half = (sa_half){0};
}
