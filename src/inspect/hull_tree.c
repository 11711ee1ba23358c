// A tree of boxes over triangles: they are sorted along a Morton curve through the middles of their boxes, and a
// balanced binary tree is laid over that order. Built anew for each frame in a few passes; its shape follows from the
// count alone, so that there is nothing to keep in balance. Poorer than a tree by surface area, and fast enough: the
// pairs that are near decide the time.
#include "inspect/frame.h"

#include <string.h>

weft_status hull_tree_create(int capacity, hull_tree* out)
{
    *out = (hull_tree){.leaf_count = 1};
    while ((int64_t)out->leaf_count * HULL_LEAF < capacity)
    {
        out->leaf_count *= 2;
    }
    out->item = MEM_NEW(capacity, int);
    out->node = MEM_NEW(2 * (size_t)out->leaf_count, box);
    out->code = MEM_NEW(2 * (size_t)capacity, uint64_t);
    out->scratch = MEM_NEW(capacity, int);
    return out->item && out->node && out->code && out->scratch ? WEFT_OK : WEFT_NO_MEMORY;
}

void hull_tree_finish(hull_tree* tree)
{
    mem_free(tree->item);
    mem_free(tree->node);
    mem_free(tree->code);
    mem_free(tree->scratch);
    *tree = (hull_tree){0};
}

// ---- the curve

// 21 bits to every third of 63.
static uint64_t spread_bits(uint64_t x)
{
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t grid_of(double x, double low, double high)
{
    double unit = high > low ? (x - low) / (high - low) : 0.0;
    return (uint64_t)(fmin(fmax(unit, 0.0), 1.0) * 2097151.0);
}

static uint64_t morton_code(const box* all, const box* b)
{
    uint64_t x = grid_of(0.5 * b->min.x + 0.5 * b->max.x, all->min.x, all->max.x);
    uint64_t y = grid_of(0.5 * b->min.y + 0.5 * b->max.y, all->min.y, all->max.y);
    uint64_t z = grid_of(0.5 * b->min.z + 0.5 * b->max.z, all->min.z, all->max.z);
    return spread_bits(x) | spread_bits(y) << 1 | spread_bits(z) << 2;
}

// One stable pass by 11 bits from `shift` on; false when all codes have the same ones and nothing was moved.
static bool sort_pass(int count, int shift, const uint64_t* code, const int* item, uint64_t* code_out, int* item_out)
{
    enum
    {
        DIGITS = 2048
    };
    int start[DIGITS] = {0};
    for (int k = 0; k < count; k++)
    {
        start[code[k] >> shift & (DIGITS - 1)]++;
    }
    if (start[code[0] >> shift & (DIGITS - 1)] == count)
    {
        return false;
    }
    for (int d = 0, sum = 0; d < DIGITS; d++)
    {
        int here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (int k = 0; k < count; k++)
    {
        int at = start[code[k] >> shift & (DIGITS - 1)]++;
        code_out[at] = code[k];
        item_out[at] = item[k];
    }
    return true;
}

static void sort_by_code(hull_tree* tree)
{
    uint64_t *code = tree->code, *other = tree->code + tree->count;
    for (int shift = 0; shift < 63 && tree->count > 0; shift += 11)
    {
        if (sort_pass(tree->count, shift, code, tree->item, other, tree->scratch))
        {
            uint64_t* swap = code;
            code = other;
            other = swap;
            int* items = tree->item;
            tree->item = tree->scratch;
            tree->scratch = items;
        }
    }
}

// ---- the boxes

typedef struct leaf_context
{
    hull_tree* tree;
    const box* hull;
} leaf_context;

static void build_leaves(void* context, int begin, int end)
{
    leaf_context* c = context;
    for (int leaf = begin; leaf < end; leaf++)
    {
        box b = box_empty();
        int last = hull_tree_leaf_begin(c->tree, leaf + 1);
        for (int k = hull_tree_leaf_begin(c->tree, leaf); k < last; k++)
        {
            b = box_join(&b, &c->hull[c->tree->item[k]]);
        }
        c->tree->node[c->tree->leaf_count + leaf] = b;
    }
}

void hull_tree_build(hull_tree* tree, const box* hull, const unsigned char* left_out, int count, workers* pool)
{
    box all = box_empty();
    tree->count = 0;
    for (int t = 0; t < count; t++)
    {
        if (!left_out[t])
        {
            tree->item[tree->count++] = t;
            all = box_join(&all, &hull[t]);
        }
    }
    for (int k = 0; k < tree->count; k++)
    {
        tree->code[k] = morton_code(&all, &hull[tree->item[k]]);
    }
    sort_by_code(tree);
    leaf_context context = {tree, hull};
    parallel_for(pool, tree->leaf_count, 256, build_leaves, &context);
    for (int k = tree->leaf_count - 1; k > 0; k--)
    {
        tree->node[k] = box_join(&tree->node[2 * k], &tree->node[2 * k + 1]);
    }
}
