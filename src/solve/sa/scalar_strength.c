// Strong connections within one unknown: the picture behind aggregation. For the n x n matrix that A's entries of one
// unknown (x, y or z) form, with a_ij scaled by the diagonal as s_ij = a_ij / sqrt(a_ii a_jj),
//
//     i and j are strong  when  |s_ij| > theta max_k |s_ik|  or  |s_ij| > theta max_k |s_jk|,   k off the diagonal.
//
// Tamstorf, Jones and McCormick 2015, figure 2. Couplings between different unknowns are left out, and so is the
// filter.
#include <math.h>

#include "solve/system.h"

static double entry(const weft_system* system, int slot, int unknown)
{
    return system->values[9 * (size_t)slot + 4 * (size_t)unknown];
}

static double scaled_entry(const weft_system* system, int row, int slot, int unknown)
{
    const bsr_pattern* p = &system->pattern;
    double own = entry(system, p->diagonal[row], unknown);
    double other = entry(system, p->diagonal[p->column[slot]], unknown);
    return entry(system, slot, unknown) / (sqrt(own) * sqrt(other));
}

// The largest |s_ij| of each row off the diagonal.
static void rows_find_largest(const weft_system* system, int unknown, double* largest)
{
    const bsr_pattern* p = &system->pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        largest[i] = 0.0;
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            if (p->column[slot] != i)
            {
                largest[i] = fmax(largest[i], fabs(scaled_entry(system, i, slot, unknown)));
            }
        }
    }
}

weft_status weft_system_strength(const weft_system* system, int unknown, double theta, weft_connection* out,
                                 int capacity, int* count)
{
    WEFT_ASSERT(system && unknown >= 0 && unknown < 3 && theta >= 0.0 && theta < 1.0);
    WEFT_ASSERT(count && capacity >= 0 && (out || capacity == 0));
    const bsr_pattern* p = &system->pattern;
    *count = 0;
    double* largest = MEM_NEW(p->row_count, double);
    if (!largest)
    {
        return WEFT_NO_MEMORY;
    }
    rows_find_largest(system, unknown, largest);
    for (int i = 0; i < p->row_count; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            int j = p->column[slot];
            double s = j > i ? scaled_entry(system, i, slot, unknown) : 0.0;
            if (fabs(s) <= theta * fmin(largest[i], largest[j]))
            {
                continue; // weak from both sides, or the pair's other half
            }
            if (*count < capacity)
            {
                out[*count] = (weft_connection){i, j, s};
            }
            ++*count;
        }
    }
    mem_free(largest);
    return WEFT_OK;
}
