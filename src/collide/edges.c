// The edges of triangles and strands, each once, sorted by (lower, higher) vertex.
//
// Sides are put in one bin for each lower vertex and sorted within it; bins are short.
#include <stdlib.h>

#include "collide/broad.h"

enum
{
    BIN_SHORT = 32 // a fan of many triangles may have a long one
};

// Calls out the k-th side of the scene: triangles' first, then strands'.
static void side_at(const weft_collider_def* def, int k, int* low, int* high)
{
    int a, b;
    if (k < 3 * def->triangle_count)
    {
        a = def->triangles[k];
        b = def->triangles[k % 3 == 2 ? k - 2 : k + 1];
    }
    else
    {
        a = def->edges[2 * (k - 3 * def->triangle_count)];
        b = def->edges[2 * (k - 3 * def->triangle_count) + 1];
    }
    *low = int_min(a, b);
    *high = int_max(a, b);
}

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static void sort_bin(int* bin, int size)
{
    for (int k = 1; k < size; k++)
    {
        int value = bin[k], at = k;
        for (; at > 0 && bin[at - 1] > value; at--)
        {
            bin[at] = bin[at - 1];
        }
        bin[at] = value;
    }
}

// Bins of the higher vertices, by the lower. start is [vertex_count + 2], zero; then bin v is [start[v], start[v + 1]).
static void fill_bins(const weft_collider_def* def, int side_count, int* start, int* high_of)
{
    int low, high;
    for (int k = 0; k < side_count; k++)
    {
        side_at(def, k, &low, &high);
        start[low + 2]++;
    }
    for (int v = 0; v < def->vertex_count; v++)
    {
        start[v + 2] += start[v + 1];
    }
    for (int k = 0; k < side_count; k++)
    {
        side_at(def, k, &low, &high);
        high_of[start[low + 1]++] = high;
    }
}

// Sorts each bin and drops what is there twice; returns the number of edges left, packed at the front of the bins.
static int unique_bins(int vertex_count, int* start, int* high_of, int* bin_size)
{
    int total = 0;
    for (int v = 0; v < vertex_count; v++)
    {
        int* bin = high_of + start[v];
        int size = start[v + 1] - start[v], kept = 0;
        size <= BIN_SHORT ? sort_bin(bin, size) : qsort(bin, (size_t)size, sizeof(int), compare_ints);
        for (int k = 0; k < size; k++)
        {
            if (k == 0 || bin[k] != bin[kept - 1])
            {
                bin[kept++] = bin[k];
            }
        }
        bin_size[v] = kept;
        total += kept;
    }
    return total;
}

weft_status edges_build(const weft_collider_def* def, int** out, int* out_count)
{
    int side_count = 3 * def->triangle_count + def->edge_count;
    int* start = MEM_NEW(def->vertex_count + 2, int);
    int* bin_size = MEM_NEW(def->vertex_count, int);
    int* high_of = MEM_NEW(side_count, int);
    *out = NULL;
    if (start && bin_size && high_of)
    {
        fill_bins(def, side_count, start, high_of);
        *out_count = unique_bins(def->vertex_count, start, high_of, bin_size);
        *out = MEM_NEW(2 * (size_t)*out_count, int);
    }
    for (int v = 0, used = 0; *out && v < def->vertex_count; v++)
    {
        for (int k = 0; k < bin_size[v]; k++, used++)
        {
            (*out)[2 * used] = v;
            (*out)[2 * used + 1] = high_of[start[v] + k];
        }
    }
    mem_free(start);
    mem_free(bin_size);
    mem_free(high_of);
    return *out ? WEFT_OK : WEFT_NO_MEMORY;
}
