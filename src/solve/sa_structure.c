// Which blocks P, P^T, A P and the coarse matrix have: symbolic products, before any number is looked at.
#include <string.h>

#include "solve/sa.h"

// A set of integers that is filled and emptied in time linear in what it holds. The first SET_SMALL are in the list
// only, the others in the slots too.
enum
{
    SET_SMALL = 24
};

typedef struct int_set
{
    int* slot; // [slots] value + 1, 0: empty; at most half full
    int slots; // a power of two
    int* list; // [capacity] what is in it
    int count, capacity;
    bool failed;
} int_set;

static int* int_set_place(const int_set* set, int value)
{
    unsigned mask = (unsigned)set->slots - 1, at = (unsigned)value * 2654435761u >> 8 & mask;
    while (set->slot[at] != 0 && set->slot[at] != value + 1)
    {
        at = (at + 1) & mask;
    }
    return &set->slot[at];
}

static void int_set_grow(int_set* set)
{
    int_set next = {.slots = set->slots > 0 ? 2 * set->slots : 256};
    next.slot = MEM_NEW(next.slots, int);
    set->failed =
        set->failed || !next.slot || !mem_grow((void**)&set->list, &set->capacity, next.slots / 2, sizeof(int));
    if (set->failed)
    {
        mem_free(next.slot);
        return;
    }
    for (int k = SET_SMALL; k < set->count; k++)
    {
        *int_set_place(&next, set->list[k]) = set->list[k] + 1;
    }
    mem_free(set->slot);
    set->slot = next.slot;
    set->slots = next.slots;
}

static void int_set_add(int_set* set, int value)
{
    // Most sets stay small: looking through the list is quicker than hashing.
    int small = int_min(set->count, SET_SMALL);
    for (int k = 0; k < small; k++)
    {
        if (set->list[k] == value)
        {
            return;
        }
    }
    if (2 * set->count >= set->slots && !set->failed)
    {
        int_set_grow(set);
    }
    if (set->failed)
    {
        return;
    }
    if (set->count >= SET_SMALL)
    {
        int* place = int_set_place(set, value);
        if (*place != 0)
        {
            return;
        }
        *place = value + 1;
    }
    set->list[set->count++] = value;
}

static void int_set_clear(int_set* set)
{
    if (set->count > SET_SMALL)
    {
        memset(set->slot, 0, (size_t)set->slots * sizeof(int));
    }
    set->count = 0;
}

static void int_set_finish(int_set* set)
{
    mem_free(set->slot);
    mem_free(set->list);
}

static void sort_ints(int* list, int count)
{
    for (int gap = count / 2 > 0 ? count / 2 : 1; gap > 0; gap /= 2)
    {
        for (int k = gap; k < count; k++)
        {
            int value = list[k], at = k;
            for (; at >= gap && list[at - gap] > value; at -= gap)
            {
                list[at] = list[at - gap];
            }
            list[at] = value;
        }
    }
}

// Rows of a structure: each chunk of rows is collected into a list of its own, and the lists are put together.
typedef struct row_builder
{
    const sa_level* level;
    const sa_graph* strong; // P only: NULL takes all connections
    void (*collect)(const struct row_builder* b, int row, int_set* set);
    int* start;
    int* column;
    int** list;    // [chunks]
    int* capacity; // [chunks]
} row_builder;

static double collect_chunk(void* context, int begin, int end)
{
    row_builder* b = context;
    int_set set = {0};
    int **list = &b->list[begin / ROW_GRAIN], *capacity = &b->capacity[begin / ROW_GRAIN], count = 0;
    for (int i = begin; i < end && !set.failed; i++)
    {
        b->collect(b, i, &set);
        b->start[i + 1] = set.count;
        set.failed = set.failed || !mem_grow((void**)list, capacity, count + set.count, sizeof(int));
        if (set.count > 0 && !set.failed)
        {
            sort_ints(set.list, set.count);
            memcpy(*list + count, set.list, (size_t)set.count * sizeof(int));
        }
        count += set.count;
        int_set_clear(&set);
    }
    int_set_finish(&set);
    return set.failed ? 1.0 : 0.0;
}

static void join_chunk(void* context, int begin, int end)
{
    row_builder* b = context;
    int count = b->start[end] - b->start[begin];
    if (count > 0)
    {
        memcpy(b->column + b->start[begin], b->list[begin / ROW_GRAIN], (size_t)count * sizeof(int));
    }
}

static bool sum_starts(int* start, int rows)
{
    int64_t total = 0;
    for (int i = 0; i < rows && total <= INT32_MAX; i++)
    {
        total += start[i + 1];
        start[i + 1] = (int)total;
    }
    return total <= INT32_MAX;
}

static weft_status build_rows(sa_hierarchy* h, row_builder* b, int rows, int** start, int** column)
{
    int chunks = rows / ROW_GRAIN + 1;
    *start = b->start = sa_ints_new(h, (size_t)rows + 1);
    b->list = MEM_NEW(chunks, int*);
    b->capacity = MEM_NEW(chunks, int);
    bool done = b->start && b->list && b->capacity && parallel_sum(h->pool, rows, ROW_GRAIN, collect_chunk, b) == 0.0 &&
                sum_starts(b->start, rows);
    if (done)
    {
        *column = b->column = sa_ints_new(h, (size_t)b->start[rows]);
        done = b->column != NULL;
    }
    if (done)
    {
        parallel_for(h->pool, rows, ROW_GRAIN, join_chunk, b);
    }
    for (int k = 0; k < chunks && b->list; k++)
    {
        mem_free(b->list[k]);
    }
    mem_free(b->list);
    mem_free(b->capacity);
    return done ? WEFT_OK : WEFT_NO_MEMORY;
}

static void collect_P(const row_builder* b, int i, int_set* set)
{
    const sa_level* l = b->level;
    if (l->aggregate[i] < 0)
    {
        return; // a special node: its row stays empty
    }
    int own = l->aggregate[i];
    int_set_add(set, own);
    const int* start = b->strong ? b->strong->row_start : l->pattern.row_start;
    const int* column = b->strong ? b->strong->column : l->pattern.column;
    for (int k = start[i]; k < start[i + 1]; k++)
    {
        if (l->aggregate[column[k]] >= 0)
        {
            int_set_add(set, l->aggregate[column[k]]);
        }
    }
    // A vertex with very many neighbours would couple all of their aggregates with each other.
    if (set->count > SA_P_ROW_MAX)
    {
        int_set_clear(set);
        int_set_add(set, own);
    }
}

static void collect_AP(const row_builder* b, int i, int_set* set)
{
    const sa_level* l = b->level;
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1] && l->aggregate[i] >= 0; slot++)
    {
        int j = l->pattern.column[slot];
        for (int s = l->P_start[j]; s < l->P_start[j + 1]; s++)
        {
            int_set_add(set, l->P_column[s]);
        }
    }
}

static void collect_coarse(const row_builder* b, int I, int_set* set)
{
    const sa_level* l = b->level;
    for (int k = l->R_start[I]; k < l->R_start[I + 1]; k++)
    {
        int i = l->R_row[k];
        for (int s = l->AP_start[i]; s < l->AP_start[i + 1]; s++)
        {
            int_set_add(set, l->AP_column[s]);
        }
    }
}

static weft_status transpose_P(sa_hierarchy* h, sa_level* l)
{
    int count = l->P_start[l->rows];
    l->R_start = sa_ints_new(h, (size_t)l->coarse_rows + 2);
    l->R_row = sa_ints_new(h, (size_t)count);
    l->R_slot = sa_ints_new(h, (size_t)count);
    if (!l->R_start || !l->R_row || !l->R_slot)
    {
        return WEFT_NO_MEMORY;
    }
    for (int s = 0; s < count; s++)
    {
        l->R_start[l->P_column[s] + 2]++;
    }
    for (int I = 0; I < l->coarse_rows; I++)
    {
        l->R_start[I + 2] += l->R_start[I + 1];
    }
    for (int i = 0; i < l->rows; i++)
    {
        for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
        {
            int at = l->R_start[l->P_column[s] + 1]++;
            l->R_row[at] = i;
            l->R_slot[at] = s;
        }
    }
    return WEFT_OK;
}

// For each chunk of coarse rows the fine rows that reach one of them.
static weft_status list_chunks(sa_hierarchy* h, sa_level* l)
{
    int chunks = (l->coarse_rows + SA_CHUNK - 1) / SA_CHUNK;
    l->chunk_start = sa_ints_new(h, (size_t)chunks + 2);
    if (!l->chunk_start)
    {
        return WEFT_NO_MEMORY;
    }
    for (int pass = 0; pass < 2; pass++)
    {
        for (int i = 0; i < l->rows; i++)
        {
            int last = -1;
            for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
            {
                int chunk = l->P_column[s] / SA_CHUNK;
                if (chunk != last && pass == 0)
                {
                    l->chunk_start[chunk + 2]++;
                }
                else if (chunk != last)
                {
                    l->chunk_row[l->chunk_start[chunk + 1]++] = i;
                }
                last = chunk;
            }
        }
        for (int c = 0; c < chunks && pass == 0; c++)
        {
            l->chunk_start[c + 2] += l->chunk_start[c + 1];
        }
        if (pass == 0)
        {
            l->chunk_row = sa_ints_new(h, (size_t)l->chunk_start[chunks + 1]);
            if (!l->chunk_row)
            {
                return WEFT_NO_MEMORY;
            }
        }
    }
    return WEFT_OK;
}

static weft_status coarse_pattern(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    row_builder rows = {.level = l, .collect = collect_coarse};
    bsr_pattern* p = &coarse->pattern;
    p->row_count = l->coarse_rows;
    TRY(build_rows(h, &rows, l->coarse_rows, &p->row_start, &p->column));
    p->block_count = p->row_start[p->row_count];
    p->diagonal = sa_ints_new(h, (size_t)p->row_count);
    if (!p->diagonal)
    {
        return WEFT_NO_MEMORY;
    }
    for (int I = 0; I < p->row_count; I++)
    {
        p->diagonal[I] = bsr_pattern_find(p, I, I);
    }
    return WEFT_OK;
}

weft_status sa_structure_P(sa_hierarchy* h, sa_level* l, const sa_graph* smoothing)
{
    row_builder rows = {.level = l, .strong = smoothing, .collect = collect_P};
    TRY(build_rows(h, &rows, l->rows, &l->P_start, &l->P_column));
    return transpose_P(h, l);
}

weft_status sa_structure_coarse(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    row_builder rows = {.level = l, .collect = collect_AP};
    TRY(build_rows(h, &rows, l->rows, &l->AP_start, &l->AP_column));
    TRY(list_chunks(h, l));
    return coarse_pattern(h, l, coarse);
}
