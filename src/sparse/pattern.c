// The pattern of a matrix in which the vertices of each element are coupled.
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse.h"

// For each vertex the elements that hold it, all lists in one array: entry = element * list_count + list.
typedef struct incidence
{
    int* start; // [row_count + 1]
    int64_t* entry;
} incidence;

static void incidence_finish(incidence* inc)
{
    mem_free(inc->start);
    mem_free(inc->entry);
}

static weft_status incidence_create(int row_count, const element_list* lists, int list_count, incidence* out)
{
    *out = (incidence){MEM_NEW(row_count + 1, int), NULL};
    if (!out->start)
    {
        return WEFT_NO_MEMORY;
    }
    int64_t total = 0;
    for (int l = 0; l < list_count; l++)
    {
        for (int k = 0; k < lists[l].count * lists[l].arity; k++)
        {
            WEFT_ASSERT(lists[l].vertices[k] >= 0 && lists[l].vertices[k] < row_count);
            out->start[lists[l].vertices[k] + 1]++;
            total++;
        }
    }
    if (total > INT32_MAX)
    {
        return WEFT_NO_MEMORY;
    }
    out->entry = MEM_NEW(total, int64_t);
    int* next = MEM_NEW(row_count, int);
    if (!out->entry || !next)
    {
        mem_free(next);
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < row_count; i++)
    {
        out->start[i + 1] += out->start[i];
        next[i] = out->start[i];
    }
    for (int l = 0; l < list_count; l++)
    {
        for (int k = 0; k < lists[l].count * lists[l].arity; k++)
        {
            out->entry[next[lists[l].vertices[k]]++] = (int64_t)(k / lists[l].arity) * list_count + l;
        }
    }
    mem_free(next);
    return WEFT_OK;
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Neighbours of row i, itself included, sorted, into row (grown when needed). mark[j] == i says that j is in.
static bool row_collect(int i, const incidence* inc, const element_list* lists, int list_count, int* mark, int** row,
                        int* capacity, int* count)
{
    int n = 0;
    for (int k = inc->start[i] - 1; k < inc->start[i + 1]; k++)
    {
        // The first turn adds the diagonal, so that isolated vertices have a row too.
        int self = i;
        const int* vertices = &self;
        int arity = 1;
        if (k >= inc->start[i])
        {
            const element_list* list = &lists[inc->entry[k] % list_count];
            arity = list->arity;
            vertices = list->vertices + inc->entry[k] / list_count * arity;
        }
        for (int a = 0; a < arity; a++)
        {
            if (mark[vertices[a]] == i + 1)
            {
                continue;
            }
            mark[vertices[a]] = i + 1;
            if (!mem_grow((void**)row, capacity, n + 1, sizeof(int)))
            {
                return false;
            }
            (*row)[n++] = vertices[a];
        }
    }
    qsort(*row, (size_t)n, sizeof(int), compare_int);
    *count = n;
    return true;
}

static weft_status pattern_fill(const incidence* inc, const element_list* lists, int list_count, int* mark,
                                bsr_pattern* out)
{
    int capacity = 0, row_capacity = 0, row_length = 0;
    int* row = NULL;
    weft_status status = WEFT_OK;
    for (int i = 0; i < out->row_count && status == WEFT_OK; i++)
    {
        if (!row_collect(i, inc, lists, list_count, mark, &row, &row_capacity, &row_length) ||
            row_length > INT32_MAX - out->block_count ||
            !mem_grow((void**)&out->column, &capacity, out->block_count + row_length, sizeof(int)))
        {
            status = WEFT_NO_MEMORY;
            break;
        }
        memcpy(out->column + out->block_count, row, (size_t)row_length * sizeof(int));
        out->block_count += row_length;
        out->row_start[i + 1] = out->block_count;
        out->diagonal[i] = bsr_pattern_find(out, i, i);
    }
    mem_free(row);
    return status;
}

weft_status bsr_pattern_create(int row_count, const element_list* lists, int list_count, bsr_pattern* out)
{
    *out = (bsr_pattern){.row_count = row_count};
    incidence inc = {0};
    int* mark = MEM_NEW(row_count, int);
    out->row_start = MEM_NEW(row_count + 1, int);
    out->diagonal = MEM_NEW(row_count, int);
    weft_status status = mark && out->row_start && out->diagonal ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = incidence_create(row_count, lists, list_count, &inc);
    }
    if (status == WEFT_OK)
    {
        status = pattern_fill(&inc, lists, list_count, mark, out);
    }
    if (status != WEFT_OK)
    {
        bsr_pattern_finish(out);
    }
    incidence_finish(&inc);
    mem_free(mark);
    return status;
}

void bsr_pattern_finish(bsr_pattern* pattern)
{
    mem_free(pattern->row_start);
    mem_free(pattern->column);
    mem_free(pattern->diagonal);
    *pattern = (bsr_pattern){0};
}

int bsr_pattern_find(const bsr_pattern* pattern, int row, int column)
{
    int low = pattern->row_start[row], high = pattern->row_start[row + 1] - 1;
    while (low <= high)
    {
        int middle = (low + high) / 2;
        if (pattern->column[middle] == column)
        {
            return middle;
        }
        if (pattern->column[middle] < column)
        {
            low = middle + 1;
        }
        else
        {
            high = middle - 1;
        }
    }
    return -1;
}

static uint64_t mix(uint64_t hash, const int* numbers, size_t count)
{
    for (size_t k = 0; k < count; k++)
    {
        hash = (hash ^ (uint32_t)numbers[k]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

uint64_t bsr_pattern_fingerprint(const bsr_pattern* pattern)
{
    uint64_t hash = mix(0x57454654, pattern->row_start, (size_t)pattern->row_count + 1);
    return mix(hash, pattern->column, (size_t)pattern->block_count);
}
