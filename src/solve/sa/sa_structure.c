// Which blocks P, P^T, A P and the coarse matrix have: symbolic products, before any number is looked at.
#include <string.h>

#include "solve/sa/int_set.h"
#include "solve/sa/sa.h"

// Rows of a structure: each chunk of rows is collected into a list of its own, and the lists are put together.
typedef struct row_builder
{
    const sa_level* level;
    const sa_filter* filter; // P only
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
    if (b->start)
    {
        b->start[0] = 0;
    }
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
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
    {
        int j = l->pattern.column[slot];
        if (l->aggregate[j] >= 0 && sa_smooths(b->filter, slot, i, j))
        {
            int_set_add(set, l->aggregate[j]);
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

// ---- lists the other way round

enum
{
    RANGES_MAX = 16,
    RANGE_ROWS = 8192
};

typedef struct list_inverter
{
    const sa_lists* in;
    int keys, range_rows;
    int* place; // [ranges * keys] counts, then places
    int *row, *item;
} list_inverter;

// Goes through the keys of a range of rows; what is counted and what is written have the same order.
static void invert_range(const list_inverter* c, int range, bool write)
{
    const sa_lists* in = c->in;
    int* place = c->place + (size_t)range * (size_t)c->keys;
    int begin = range * c->range_rows, end = int_min(begin + c->range_rows, in->rows);
    for (int i = begin; i < end; i++)
    {
        int last = -1, stop = in->start ? in->start[i + 1] : i + 1;
        for (int k = in->start ? in->start[i] : i; k < stop; k++)
        {
            int key = in->key[k] < 0 ? -1 : in->key[k] / in->divisor;
            if (key < 0 || (in->divisor > 1 && key == last))
            {
                continue;
            }
            last = key;
            int at = place[key]++;
            if (write)
            {
                c->row[at] = i;
                if (c->item)
                {
                    c->item[at] = k;
                }
            }
        }
    }
}

static void count_range(void* context, int begin, int end)
{
    for (int range = begin; range < end; range++)
    {
        invert_range(context, range, false);
    }
}

static void write_range(void* context, int begin, int end)
{
    for (int range = begin; range < end; range++)
    {
        invert_range(context, range, true);
    }
}

// Ranges follow from the sizes alone: an order that no thread can change.
weft_status sa_invert_lists(sa_hierarchy* h, const sa_lists* in, int keys, int** start, int** row, int** item)
{
    int ranges = int_max(1, int_min(RANGES_MAX, in->rows / RANGE_ROWS));
    list_inverter c = {.in = in, .keys = keys, .range_rows = (in->rows + ranges - 1) / ranges};
    c.place = MEM_NEW((size_t)ranges * (size_t)keys, int);
    *start = sa_ints_new(h, (size_t)keys + 1);
    bool done = c.place && *start;
    if (done)
    {
        parallel_for(h->pool, ranges, 1, count_range, &c);
        int total = 0;
        for (int key = 0; key < keys; key++)
        {
            (*start)[key] = total;
            for (int range = 0; range < ranges; range++)
            {
                int* place = &c.place[(size_t)range * (size_t)keys + (size_t)key];
                int count = *place;
                *place = total;
                total += count;
            }
        }
        (*start)[keys] = total;
        *row = c.row = sa_ints_new(h, (size_t)total);
        if (item)
        {
            *item = c.item = sa_ints_new(h, (size_t)total);
        }
        done = c.row && (!item || c.item);
    }
    if (done)
    {
        parallel_for(h->pool, ranges, 1, write_range, &c);
    }
    mem_free(c.place);
    return done ? WEFT_OK : WEFT_NO_MEMORY;
}

static void find_diagonals(void* context, int begin, int end)
{
    bsr_pattern* p = context;
    for (int I = begin; I < end; I++)
    {
        p->diagonal[I] = bsr_pattern_find(p, I, I);
    }
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
    parallel_for(h->pool, p->row_count, ROW_GRAIN, find_diagonals, p);
    return WEFT_OK;
}

// ---- where products go
//
// A refresh multiplies along the same paths again and again, so that they are looked up once: for each block of A P the
// products that it sums up, in the order of slots, and for those of the coarse matrix the place of each product.

typedef struct place_pass
{
    sa_level* l;
    const bsr_pattern* coarse;
} place_pass;

static int find_place(const int* list, int count, int value)
{
    int low = 0;
    while (count > 1)
    {
        int half = count / 2;
        low += list[low + half] <= value ? half : 0;
        count -= half;
    }
    return low;
}

// Where a value that is there stands from `at` on: short lists are walked.
static int next_place(const int* list, int count, int value, int at)
{
    if (count > 24)
    {
        return at + find_place(list + at, count - at, value);
    }
    while (list[at] < value)
    {
        at++;
    }
    return at;
}

// The numbers of products that row i of A P takes, and that it gives to coarse rows.
static void count_places(void* context, int begin, int end)
{
    const place_pass* c = context;
    sa_level* l = c->l;
    for (int i = begin; i < end; i++)
    {
        const int* list = l->AP_column + l->AP_start[i];
        int count = l->AP_start[i + 1] - l->AP_start[i], in = 0, out = 0;
        for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1] && count > 0; slot++)
        {
            int j = l->pattern.column[slot];
            in += l->P_start[j + 1] - l->P_start[j];
        }
        for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
        {
            out += count - find_place(list, count, l->P_column[s]);
        }
        l->in_start[i + 1] = in;
        l->out_start[i + 1] = out;
    }
}

// The products of row i of A P, sorted by the block that they go to.
static void list_products(sa_level* l, int i)
{
    const bsr_pattern* p = &l->pattern;
    const int* list = l->AP_column + l->AP_start[i];
    int count = l->AP_start[i + 1] - l->AP_start[i], products = l->in_start[i + 1] - l->in_start[i];
    uint16_t place[SA_PRODUCTS_MAX], next[SA_PRODUCTS_MAX + 1], *pairs = l->in_pair + l->in_start[i];
    if (products == 0 || !sa_is_listed(p->row_start[i + 1] - p->row_start[i], products))
    {
        return;
    }
    memset(next, 0, ((size_t)count + 1) * sizeof(*next));
    for (int slot = p->row_start[i], n = 0; slot < p->row_start[i + 1]; slot++)
    {
        int at = 0;
        for (int s = l->P_start[p->column[slot]]; s < l->P_start[p->column[slot] + 1]; s++)
        {
            at = next_place(list, count, l->P_column[s], at);
            place[n] = (uint16_t)at;
            next[place[n++] + 1]++;
        }
    }
    for (int at = 0; at < count; at++)
    {
        l->in_more[l->AP_start[i] + at] = (uint8_t)(next[at + 1] - 1);
        next[at + 1] = (uint16_t)(next[at + 1] + next[at]);
    }
    for (int slot = p->row_start[i], n = 0; slot < p->row_start[i + 1]; slot++)
    {
        int blocks = l->P_start[p->column[slot] + 1] - l->P_start[p->column[slot]];
        for (int s = 0; s < blocks; s++)
        {
            pairs[next[place[n++]]++] = (uint16_t)((slot - p->row_start[i]) << 8 | s);
        }
    }
}

static void fill_places(void* context, int begin, int end)
{
    const place_pass* c = context;
    sa_level* l = c->l;
    for (int i = begin; i < end; i++)
    {
        const int* list = l->AP_column + l->AP_start[i];
        int count = l->AP_start[i + 1] - l->AP_start[i];
        uint16_t* out = l->out_place + l->out_start[i];
        list_products(l, i);
        for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
        {
            int I = l->P_column[s], first = c->coarse->diagonal[I], width = c->coarse->row_start[I + 1] - first;
            for (int at = find_place(list, count, I), place = 0; at < count; at++)
            {
                const int* column = c->coarse->column + first;
                while (place + 1 < width && column[place] < list[at])
                {
                    place++;
                }
                *out++ = (uint16_t)place;
            }
        }
    }
}

static weft_status list_places(sa_hierarchy* h, sa_level* l, const bsr_pattern* coarse)
{
    place_pass c = {l, coarse};
    l->in_start = sa_ints_new(h, (size_t)l->rows + 1);
    l->out_start = sa_ints_new(h, (size_t)l->rows + 1);
    if (!l->in_start || !l->out_start)
    {
        return WEFT_NO_MEMORY;
    }
    l->in_start[0] = l->out_start[0] = 0;
    parallel_for(h->pool, l->rows, ROW_GRAIN, count_places, &c);
    if (!sum_starts(l->in_start, l->rows) || !sum_starts(l->out_start, l->rows))
    {
        return WEFT_NO_MEMORY;
    }
    l->in_more = mem_raw((size_t)l->AP_start[l->rows] + 1, 1);
    h->bytes += (size_t)l->AP_start[l->rows];
    l->in_pair = sa_places_new(h, (size_t)l->in_start[l->rows]);
    l->out_place = sa_places_new(h, (size_t)l->out_start[l->rows]);
    if (!l->in_more || !l->in_pair || !l->out_place)
    {
        return WEFT_NO_MEMORY;
    }
    parallel_for(h->pool, l->rows, ROW_GRAIN, fill_places, &c);
    return WEFT_OK;
}

weft_status sa_structure_P(sa_hierarchy* h, sa_level* l, const sa_filter* filter)
{
    row_builder rows = {.level = l, .filter = filter, .collect = collect_P};
    TRY(build_rows(h, &rows, l->rows, &l->P_start, &l->P_column));
    return sa_transpose_P(h, l);
}

weft_status sa_transpose_P(sa_hierarchy* h, sa_level* l)
{
    sa_lists lists = {l->rows, l->P_start, l->P_column, 1};
    return sa_invert_lists(h, &lists, l->coarse_rows, &l->R_start, &l->R_row, &l->R_slot);
}

weft_status sa_structure_coarse(sa_hierarchy* h, sa_level* l, sa_level* coarse)
{
    row_builder rows = {.level = l, .collect = collect_AP};
    TRY(build_rows(h, &rows, l->rows, &l->AP_start, &l->AP_column));
    l->chunk_size = int_max(SA_CHUNK_MIN, int_min(l->coarse_rows / SA_TASKS + 1, SA_CHUNK_MAX));
    sa_lists lists = {l->rows, l->P_start, l->P_column, l->chunk_size};
    TRY(sa_invert_lists(h, &lists, sa_chunks(l), &l->chunk_start, &l->chunk_row, NULL));
    TRY(coarse_pattern(h, l, coarse));
    return list_places(h, l, &coarse->pattern);
}
