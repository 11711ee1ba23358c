// The order is that of the positions along a Hilbert curve, as simulations have it. It is kept while cloth moves on.
//
// By the graph instead, breadth first in patches of a chunk of rows each, rows of one chunk have as much in common, but
// aggregates come out smaller: 18 iterations of sa-ppcg for 16.
#include "solve/renumber.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

// Share of the blocks beside the diagonal whose rows are so near to each other that the vectors between them stay in the
// caches. Rows of a grid have 1, curves through a sheet 0.9, refined garments 0.1 to 0.4. Grids by rows are left alone: the
// curve would cost smooth ones with 300 cells a side and more a tenth, as aggregates come out larger and a refresh copies.
static const double GOOD_SHARE = 0.75;

enum
{
    NEAR_ROWS = 8 * ROW_GRAIN, // or a sixteenth of all, where that is less
    ROWS_LEAST = 4 * ROW_GRAIN // fewer stay in the caches in any order
};

static double share_of_near_rows(const bsr_pattern* p)
{
    int reach = int_min(NEAR_ROWS, p->row_count / 16);
    double within = 0.0, all = 0.0;
    for (int i = 0; i < p->row_count; i++)
    {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        {
            within += p->column[k] != i && abs(p->column[k] - i) <= reach;
            all += p->column[k] != i;
        }
    }
    return all > 0.0 ? within / all : 1.0;
}

void renumbering_decide(renumbering* r, const weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    int n = p->row_count;
    if (r->row_count == n)
    {
        return;
    }
    renumbering_finish(r);
    r->row_count = n;
    if (n < ROWS_LEAST || !system->positions || share_of_near_rows(p) >= GOOD_SHARE)
    {
        return;
    }
    r->old_of_new = MEM_NEW(n, int);
    r->new_of_old = MEM_NEW(n, int);
    r->pattern.row_start = MEM_NEW(n + 1, int);
    r->pattern.diagonal = MEM_NEW(n, int);
    r->b = MEM_NEW(n, vec3);
    r->z = MEM_NEW(n, vec3);
    r->positions = MEM_NEW(n, vec3);
    r->x = MEM_NEW(n, vec3);
    if (!r->old_of_new || !r->new_of_old || !r->pattern.row_start || !r->pattern.diagonal || !r->b || !r->z ||
        !r->positions || !r->x || mesh_order(system->positions, n, r->new_of_old) != WEFT_OK)
    {
        renumbering_finish(r);
        r->row_count = n;
        return;
    }
    r->pattern.row_count = n;
    for (int i = 0; i < n; i++)
    {
        r->old_of_new[r->new_of_old[i]] = i;
    }
}

typedef struct renumber_pass
{
    renumbering* r;
    const weft_system* system;
} renumber_pass;

// The rows of a chunk of the new pattern: where their blocks come from, by increasing columns.
static void pattern_chunk(void* context, int begin, int end)
{
    const renumber_pass* a = context;
    renumbering* r = a->r;
    const bsr_pattern* p = &a->system->pattern;
    for (int i = begin; i < end; i++)
    {
        int first = r->pattern.row_start[i], count = 0;
        for (int k = p->row_start[r->old_of_new[i]]; k < p->row_start[r->old_of_new[i] + 1]; k++)
        {
            int column = r->new_of_old[p->column[k]], at = first + count++;
            for (; at > first && r->pattern.column[at - 1] > column; at--)
            {
                r->pattern.column[at] = r->pattern.column[at - 1];
                r->slot[at] = r->slot[at - 1];
            }
            r->pattern.column[at] = column;
            r->slot[at] = k;
        }
        r->pattern.diagonal[i] = bsr_pattern_find(&r->pattern, i, i);
    }
}

static weft_status renumber_pattern(renumbering* r, workers* pool, const weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    int slot_capacity = r->block_capacity;
    r->pattern.block_count = 0; // until it is whole
    if (!mem_grow((void**)&r->slot, &slot_capacity, p->block_count, sizeof(int)) ||
        !mem_grow((void**)&r->pattern.column, &r->block_capacity, p->block_count, sizeof(int)) ||
        !mem_grow((void**)&r->values, &r->value_capacity, p->block_count, 9 * sizeof(double)))
    {
        r->block_capacity = 0;
        return WEFT_NO_MEMORY;
    }
    r->pattern.block_count = p->block_count;
    for (int i = 0; i < p->row_count; i++)
    {
        int old = r->old_of_new[i];
        r->pattern.row_start[i + 1] = r->pattern.row_start[i] + p->row_start[old + 1] - p->row_start[old];
    }
    renumber_pass a = {r, system};
    parallel_for(pool, p->row_count, ROW_GRAIN, pattern_chunk, &a);
    return WEFT_OK;
}

static void values_chunk(void* context, int begin, int end)
{
    const renumber_pass* a = context;
    renumbering* r = a->r;
    const weft_system* s = a->system;
    for (int k = r->pattern.row_start[begin]; k < r->pattern.row_start[end]; k++)
    {
        memcpy(r->values + 9 * (size_t)k, s->values + 9 * (size_t)r->slot[k], 9 * sizeof(double));
    }
    for (int i = begin; i < end; i++)
    {
        int old = r->old_of_new[i];
        r->b[i] = s->b[old];
        r->z[i] = s->z ? s->z[old] : v3(0.0, 0.0, 0.0);
        r->positions[i] = s->positions ? s->positions[old] : v3(0.0, 0.0, 0.0);
        for (int c = 0; c < s->kernel_count; c++)
        {
            size_t column = 3 * (size_t)r->row_count * (size_t)c;
            memcpy(r->kernel + column + 3 * (size_t)i, s->kernel + column + 3 * (size_t)old, sizeof(vec3));
        }
    }
}

static int compare_record(const void* a, const void* b)
{
    int x = ((const filter_record*)a)->vertex, y = ((const filter_record*)b)->vertex;
    return (x > y) - (x < y);
}

static weft_status renumber_constraints(renumbering* r, const weft_system* s, linear_system* view)
{
    int ties = s->tie_count > 0 ? s->tie_start[s->tie_count] : 0;
    if (!mem_grow((void**)&r->filter, &r->filter_capacity, s->filter_count, sizeof(filter_record)) ||
        !mem_grow((void**)&r->tie_unknown, &r->tie_capacity, ties, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < s->filter_count; k++)
    {
        r->filter[k] = s->filter[k];
        r->filter[k].vertex = r->new_of_old[s->filter[k].vertex];
    }
    s->filter_count > 0 ? qsort(r->filter, (size_t)s->filter_count, sizeof(*r->filter), compare_record) : (void)0;
    for (int k = 0; k < ties; k++)
    {
        r->tie_unknown[k] = 3 * r->new_of_old[s->tie_unknown[k] / 3] + s->tie_unknown[k] % 3;
    }
    view->filter = s->filter ? r->filter : NULL;
    view->ties.unknown = s->tie_unknown ? r->tie_unknown : NULL;
    return WEFT_OK;
}

weft_status renumbering_view(renumbering* r, workers* pool, const weft_system* system, bool same_pattern,
                             linear_system* view)
{
    size_t kernel = 3 * (size_t)r->row_count * (size_t)system->kernel_count;
    if (!mem_grow((void**)&r->kernel, &r->kernel_capacity, (int)kernel, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    TRY(same_pattern && r->pattern.block_count > 0 ? WEFT_OK : renumber_pattern(r, pool, system));
    TRY(renumber_constraints(r, system, view));
    renumber_pass a = {r, system};
    parallel_for(pool, r->row_count, ROW_GRAIN, values_chunk, &a);
    view->A = (bsr_matrix){&r->pattern, r->values};
    view->b = r->b;
    view->z = system->z ? r->z : NULL;
    view->positions = system->positions ? r->positions : NULL;
    view->kernel = system->kernel ? r->kernel : NULL;
    return WEFT_OK;
}

void renumbering_gather(const renumbering* r, const vec3* given, vec3* x)
{
    for (int i = 0; i < r->row_count; i++)
    {
        x[i] = given[r->old_of_new[i]];
    }
}

void renumbering_scatter(const renumbering* r, const vec3* x, vec3* given)
{
    for (int i = 0; i < r->row_count; i++)
    {
        given[r->old_of_new[i]] = x[i];
    }
}

weft_status renumbering_restore(const renumbering* r, int* of_row)
{
    int* copy = r->old_of_new ? MEM_NEW(r->row_count, int) : NULL;
    if (r->old_of_new && !copy)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < r->row_count && copy; i++)
    {
        copy[r->old_of_new[i]] = of_row[i];
    }
    copy ? (void)memcpy(of_row, copy, (size_t)r->row_count * sizeof(int)) : (void)0;
    mem_free(copy);
    return WEFT_OK;
}

void renumbering_finish(renumbering* r)
{
    bsr_pattern_finish(&r->pattern);
    void* owned[] = {r->old_of_new, r->new_of_old, r->slot, r->values,    r->b,          r->z,
                     r->positions,  r->x,          r->kernel, r->filter, r->tie_unknown};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    *r = (renumbering){0};
}
