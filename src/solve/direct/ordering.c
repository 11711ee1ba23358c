// Fill-reducing order of a graph: nested dissection by METIS. Small separators are eliminated last, so that the parts
// between them are independent. Nothing else in Weft touches METIS.
#include <metis.h>
#include <pthread.h>
#include <string.h>

#include "solve/direct/cholesky.h"

enum
{
    SEED = 7,
    GRAPH_MINIMUM = 128 // below it any order will do: the coarsest level of multigrid, small cloths
};

// METIS draws from the random numbers of the C library, one sequence a process: two that run at once would disturb each
// other's, and orders, hence bits, would depend on threads.
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void ordering_natural(int count, int* order)
{
    for (int k = 0; k < count; k++)
    {
        order[k] = k;
    }
}

// Neighbours without the vertex itself, as METIS wants them.
static void ordering_fill_graph(const bsr_pattern* pattern, idx_t* start, idx_t* neighbor)
{
    idx_t count = 0;
    for (int i = 0; i < pattern->row_count; i++)
    {
        start[i] = count;
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            if (pattern->column[slot] != i)
            {
                neighbor[count++] = pattern->column[slot];
            }
        }
    }
    start[pattern->row_count] = count;
}

// The library's answer is used only when it is a permutation.
static bool ordering_is_permutation(int count, const idx_t* order, idx_t* seen)
{
    memset(seen, 0, (size_t)count * sizeof(*seen));
    for (int k = 0; k < count; k++)
    {
        if (order[k] < 0 || order[k] >= count || seen[order[k]]++)
        {
            return false;
        }
    }
    return true;
}

weft_status ordering_dissect(const bsr_pattern* pattern, int* order)
{
    int count = pattern->row_count;
    ordering_natural(count, order);
    if (count < GRAPH_MINIMUM || pattern->block_count <= count)
    {
        return WEFT_OK;
    }
    idx_t* start = MEM_NEW(count + 1, idx_t);
    idx_t* neighbor = MEM_NEW(pattern->block_count, idx_t);
    idx_t* to_vertex = MEM_NEW(count, idx_t);
    idx_t* to_rank = MEM_NEW(count, idx_t);
    weft_status status = WEFT_NO_MEMORY;
    if (start && neighbor && to_vertex && to_rank)
    {
        ordering_fill_graph(pattern, start, neighbor);
        idx_t options[METIS_NOPTIONS] = {0};
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = SEED;
        idx_t vertex_count = count;
        pthread_mutex_lock(&one_at_a_time);
        int answer = METIS_NodeND(&vertex_count, start, neighbor, NULL, options, to_vertex, to_rank);
        pthread_mutex_unlock(&one_at_a_time);
        if (answer == METIS_OK && ordering_is_permutation(count, to_vertex, to_rank))
        {
            for (int k = 0; k < count; k++)
            {
                order[k] = (int)to_vertex[k];
            }
        }
        status = WEFT_OK;
    }
    mem_free(start);
    mem_free(neighbor);
    mem_free(to_vertex);
    mem_free(to_rank);
    return status;
}
