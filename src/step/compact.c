// See compact.h. Rows are counted, then filled, each by itself: the same on any number of threads.
#include "step/compact.h"

#include <string.h>

typedef struct compact_context
{
    compact_matrix* to;
    const bsr_matrix* from;
} compact_context;

// All of them 0 or -0: bits without signs, which needs no branch.
static bool is_zero(const double* block)
{
    uint64_t b[9];
    memcpy(b, block, sizeof(b));
    uint64_t any = (b[0] | b[1]) | (b[2] | b[3]) | (b[4] | b[5]) | (b[6] | b[7]) | b[8];
    return any << 1 == 0;
}

static void count_chunk(void* context, int begin, int end)
{
    const compact_context* c = context;
    const bsr_pattern* p = c->from->pattern;
    uint8_t* kept = c->to->kept;
    for (int i = begin; i < end; i++)
    {
        int count = 0;
        for (int s = p->row_start[i]; s < p->row_start[i + 1]; s++)
        {
            kept[s] = p->column[s] == i || !is_zero(c->from->values + 9 * (size_t)s);
            count += kept[s];
        }
        c->to->pattern.row_start[i + 1] = count;
    }
}

static void fill_chunk(void* context, int begin, int end)
{
    const compact_context* c = context;
    const bsr_pattern* p = c->from->pattern;
    bsr_pattern* q = &c->to->pattern;
    for (int i = begin; i < end; i++)
    {
        int at = q->row_start[i];
        for (int s = p->row_start[i]; s < p->row_start[i + 1]; s++)
        {
            if (c->to->kept[s])
            {
                q->column[at] = p->column[s];
                q->diagonal[i] = p->column[s] == i ? at : q->diagonal[i];
                memcpy(c->to->values + 9 * (size_t)at, c->from->values + 9 * (size_t)s, 9 * sizeof(double));
                at++;
            }
        }
    }
}

static bool grow(compact_matrix* c, const bsr_pattern* p)
{
    int rows = c->row_capacity, values = c->block_capacity, kept = c->block_capacity;
    bool ok = mem_grow((void**)&c->pattern.row_start, &c->row_capacity, p->row_count + 1, sizeof(int)) &&
              mem_grow((void**)&c->pattern.diagonal, &rows, p->row_count + 1, sizeof(int)) &&
              mem_grow((void**)&c->kept, &kept, p->block_count, sizeof(uint8_t)) &&
              mem_grow((void**)&c->pattern.column, &c->block_capacity, p->block_count, sizeof(int)) &&
              mem_grow((void**)&c->values, &values, p->block_count, 9 * sizeof(double));
    return ok;
}

weft_status compact_run(compact_matrix* c, bsr_matrix* A, workers* pool, bool* changed)
{
    const bsr_pattern* p = A->pattern;
    if (!grow(c, p))
    {
        return WEFT_NO_MEMORY;
    }
    bsr_pattern* q = &c->pattern;
    compact_context context = {c, A};
    q->row_count = p->row_count;
    q->row_start[0] = 0;
    parallel_for(pool, p->row_count, ROW_GRAIN, count_chunk, &context);
    for (int i = 0; i < p->row_count; i++)
    {
        q->row_start[i + 1] += q->row_start[i];
    }
    q->block_count = q->row_start[p->row_count];
    parallel_for(pool, p->row_count, ROW_GRAIN, fill_chunk, &context);
    uint64_t fingerprint = bsr_pattern_fingerprint(q);
    *changed = fingerprint != c->fingerprint;
    c->fingerprint = fingerprint;
    *A = (bsr_matrix){q, c->values};
    return WEFT_OK;
}

void compact_finish(compact_matrix* c)
{
    bsr_pattern_finish(&c->pattern);
    mem_free(c->values);
    mem_free(c->kept);
    *c = (compact_matrix){0};
}
