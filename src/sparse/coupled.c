// A matrix plus couplings that come and go: see sparse.h.
#include <string.h>

#include "sparse/sparse.h"

void coupled_finish(coupled_matrix* m)
{
    bsr_pattern_finish(&m->pattern);
    mem_free(m->values);
    mem_free(m->entry_start);
    mem_free(m->entry);
    mem_free(m->extra_start);
    mem_free(m->extra);
    *m = (coupled_matrix){0};
}

// Room for as many; what was there is lost. An eighth to spare, because contacts grow slowly.
static bool make_room(void** array, int* capacity, int needed, size_t item_size)
{
    if (needed <= *capacity)
    {
        return true;
    }
    mem_free(*array);
    *capacity = int_min(needed, INT32_MAX - needed / 8) + needed / 8;
    *array = mem_raw((size_t)*capacity, item_size);
    *capacity = *array ? *capacity : 0;
    return *array != NULL;
}

// ---- structure

// Which couplings touch each row: counted, then filled in order.
static weft_status find_entries(coupled_matrix* m, const coupling* list, int count, int rows)
{
    if (!make_room((void**)&m->entry, &m->entry_capacity, COUPLING_ROWS * count, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    int* start = m->entry_start;
    memset(start, 0, ((size_t)rows + 2) * sizeof(int));
    for (int k = 0; k < COUPLING_ROWS * count; k++)
    {
        int row = list[k / COUPLING_ROWS].row[k % COUPLING_ROWS];
        if (row >= 0)
        {
            start[row + 2]++;
        }
    }
    for (int i = 0; i < rows; i++)
    {
        start[i + 2] += start[i + 1];
    }
    // start[i + 1] is where row i goes on; when all is filled it is where row i + 1 begins.
    for (int k = 0; k < COUPLING_ROWS * count; k++)
    {
        int row = list[k / COUPLING_ROWS].row[k % COUPLING_ROWS];
        if (row >= 0)
        {
            m->entry[start[row + 1]++] = k;
        }
    }
    return WEFT_OK;
}

// Adds a column to the sorted ones of the last row, where it is not in yet.
static int insert_column(int* columns, int count, int column)
{
    int place = count;
    while (place > 0 && columns[place - 1] > column)
    {
        place--;
    }
    if (place > 0 && columns[place - 1] == column)
    {
        return count;
    }
    memmove(columns + place + 1, columns + place, (size_t)(count - place) * sizeof(int));
    columns[place] = column;
    return count + 1;
}

static weft_status find_extra(coupled_matrix* m, const bsr_pattern* base, const coupling* list)
{
    int rows = base->row_count;
    int most = (COUPLING_ROWS - 1) * m->entry_start[rows];
    if (!make_room((void**)&m->extra, &m->extra_capacity, most, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    int total = 0;
    uint64_t hash = (uint64_t)base->block_count;
    for (int i = 0; i < rows; i++)
    {
        m->extra_start[i] = total;
        int* columns = m->extra + total;
        int count = 0;
        for (int e = m->entry_start[i]; e < m->entry_start[i + 1]; e++)
        {
            const coupling* c = &list[m->entry[e] / COUPLING_ROWS];
            for (int b = 0; b < COUPLING_ROWS; b++)
            {
                bool known = c->row[b] < 0 || c->row[b] == i || bsr_pattern_find(base, i, c->row[b]) >= 0;
                count = known ? count : insert_column(columns, count, c->row[b]);
            }
        }
        for (int k = 0; k < count; k++)
        {
            hash = random_bits(hash, ((uint64_t)(uint32_t)i << 32) | (uint32_t)columns[k]);
        }
        total += count;
    }
    m->extra_start[rows] = total;
    m->version += hash != m->extra_hash;
    m->extra_hash = hash;
    return WEFT_OK;
}

// Both are sorted and have nothing in common.
static void merge_columns(coupled_matrix* m, const bsr_pattern* base)
{
    bsr_pattern* p = &m->pattern;
    int out = 0;
    for (int i = 0; i < base->row_count; i++)
    {
        int k = base->row_start[i], last = base->row_start[i + 1];
        int e = m->extra_start[i], extra_last = m->extra_start[i + 1];
        p->row_start[i] = out;
        while (k < last || e < extra_last)
        {
            bool from_base = e == extra_last || (k < last && base->column[k] < m->extra[e]);
            int column = from_base ? base->column[k++] : m->extra[e++];
            p->diagonal[i] = column == i ? out : p->diagonal[i];
            p->column[out++] = column;
        }
    }
    p->row_start[base->row_count] = out;
    p->block_count = out;
}

// Made once; where one was refused, the next call tries that again.
static weft_status make_rows(coupled_matrix* m, int row_count)
{
    int** arrays[] = {&m->pattern.row_start, &m->pattern.diagonal, &m->extra_start, &m->entry_start};
    bool ok = true;
    for (int k = 0; k < 4; k++)
    {
        *arrays[k] = *arrays[k] ? *arrays[k] : MEM_NEW(row_count + 2, int);
        ok = ok && *arrays[k];
    }
    m->pattern.row_count = row_count;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status coupled_structure(coupled_matrix* m, const bsr_pattern* base, const coupling* list, int count)
{
    TRY(make_rows(m, base->row_count));
    TRY(find_entries(m, list, count, base->row_count));
    uint64_t before = m->version;
    TRY(find_extra(m, base, list));
    if (m->version == before && m->pattern.block_count > 0)
    {
        return WEFT_OK;
    }
    int blocks = base->block_count + m->extra_start[base->row_count];
    m->pattern.block_count = 0; // without memory it is made by the next call
    if (!make_room((void**)&m->pattern.column, &m->column_capacity, blocks, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    merge_columns(m, base);
    return WEFT_OK;
}

// ---- values

typedef struct values_context
{
    const coupled_matrix* m;
    const bsr_matrix* base;
    const coupling* list;
    bsr_matrix out; // the base itself when nothing is added to its pattern
    double sign;
} values_context;

static void copy_row(const values_context* c, int i)
{
    const bsr_pattern *from = c->base->pattern, *to = c->out.pattern;
    double* out = c->out.values + 9 * (size_t)to->row_start[i];
    int slot = from->row_start[i];
    for (int k = to->row_start[i]; k < to->row_start[i + 1]; k++, out += 9)
    {
        bool there = slot < from->row_start[i + 1] && from->column[slot] == to->column[k];
        there ? memcpy(out, c->base->values + 9 * (size_t)slot, 9 * sizeof(double))
              : memset(out, 0, 9 * sizeof(double));
        slot += there;
    }
}

static void add_row(const values_context* c, int i)
{
    const coupled_matrix* m = c->m;
    for (int e = m->entry_start[i]; e < m->entry_start[i + 1]; e++)
    {
        const coupling* q = &c->list[m->entry[e] / COUPLING_ROWS];
        double own = c->sign * q->weight[m->entry[e] % COUPLING_ROWS];
        for (int b = 0; b < COUPLING_ROWS; b++)
        {
            if (q->row[b] < 0)
            {
                continue;
            }
            double* block = c->out.values + 9 * (size_t)bsr_pattern_find(c->out.pattern, i, q->row[b]);
            double weight = own * q->weight[b];
            for (int k = 0; k < 9; k++)
            {
                block[k] += weight * q->K[k];
            }
        }
    }
}

static void values_chunk(void* context, int begin, int end)
{
    const values_context* c = context;
    const bsr_pattern *from = c->base->pattern, *to = c->out.pattern;
    for (int i = begin; i < end; i++)
    {
        if (c->m->extra_start[i] != c->m->extra_start[i + 1])
        {
            copy_row(c, i);
        }
        else if (from != to)
        {
            size_t blocks = (size_t)(from->row_start[i + 1] - from->row_start[i]);
            memcpy(c->out.values + 9 * (size_t)to->row_start[i], c->base->values + 9 * (size_t)from->row_start[i],
                   9 * blocks * sizeof(double));
        }
        add_row(c, i);
    }
}

weft_status coupled_values(coupled_matrix* m, bsr_matrix* A, const coupling* list, workers* pool)
{
    values_context c = {m, A, list, *A, 1.0};
    if (m->extra_start[A->pattern->row_count] > 0)
    {
        if (!make_room((void**)&m->values, &m->value_capacity, m->pattern.block_count, 9 * sizeof(double)))
        {
            return WEFT_NO_MEMORY;
        }
        c.out = (bsr_matrix){&m->pattern, m->values};
    }
    parallel_for(pool, A->pattern->row_count, ROW_GRAIN, values_chunk, &c);
    *A = c.out;
    return WEFT_OK;
}

static void add_chunk(void* context, int begin, int end)
{
    for (int i = begin; i < end; i++)
    {
        add_row(context, i);
    }
}

void coupled_add(const coupled_matrix* m, const bsr_matrix* A, const coupling* list, double sign, workers* pool)
{
    values_context c = {m, A, list, *A, sign};
    parallel_for(pool, A->pattern->row_count, ROW_GRAIN, add_chunk, &c);
}
