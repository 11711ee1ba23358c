// Who factors which supernode, and where the parts of fronts that wait for their parents lie. Both follow from the
// matrix alone, never from the number of threads.
#include <stdlib.h>

#include "solve/direct/cholesky.h"

static int task_compare(const void* a, const void* b)
{
    const chol_task *x = a, *y = b;
    if (x->flops != y->flops)
    {
        return x->flops > y->flops ? -1 : 1;
    }
    return x->begin - y->begin;
}

// Subtrees of at most 1/TASK_SHARE of the work become tasks: an amount that depends on the matrix alone.
static weft_status tasks_create(chol_symbolic* s)
{
    const double TASK_SHARE = 64.0;
    double* below = MEM_NEW(s->node_count, double); // work of the subtree
    int* first = MEM_NEW(s->node_count, int);       // its first node
    s->tasks = MEM_NEW(s->node_count, chol_task);
    s->top = MEM_NEW(s->node_count, int);
    weft_status status = WEFT_NO_MEMORY;
    if (below && first && s->tasks && s->top)
    {
        for (int k = 0; k < s->node_count; k++)
        {
            first[k] = k;
            below[k] = s->nodes[k].flops;
            for (int c = s->nodes[k].first_child; c >= 0; c = s->nodes[c].next_child)
            {
                first[k] = int_min(first[k], first[c]);
                below[k] += below[c];
            }
        }
        double limit = s->flops / TASK_SHARE;
        for (int k = 0; k < s->node_count; k++)
        {
            int parent = s->nodes[k].parent;
            if (below[k] > limit)
            {
                s->top[s->top_count++] = k;
            }
            else if (parent < 0 || below[parent] > limit)
            {
                s->tasks[s->task_count++] = (chol_task){first[k], k + 1, below[k]};
            }
        }
        qsort(s->tasks, (size_t)s->task_count, sizeof(chol_task), task_compare);
        status = WEFT_OK;
    }
    mem_free(below);
    mem_free(first);
    return status;
}

// Two stacks that take turns with the depth in the tree: when a node is done, its children's U are on top of one stack
// and its own goes onto the other, next to its siblings'. Nothing is ever moved.
typedef struct update_stacks
{
    size_t base, used[2], most[2];
} update_stacks;

static size_t node_update_size(const chol_node* node)
{
    return slab_triangle(node->row_tiles);
}

// Gives one node its place, counted from the bottom of its stack, and drops its children that lie on these stacks.
static void stacks_push(update_stacks* stacks, chol_symbolic* s, int k, const int* depth, const int* region)
{
    chol_node* node = &s->nodes[k];
    int own = depth[k] & 1;
    node->U = stacks->used[own];
    stacks->used[own] += node_update_size(node);
    stacks->most[own] = stacks->used[own] > stacks->most[own] ? stacks->used[own] : stacks->most[own];
    for (int c = node->first_child; c >= 0; c = s->nodes[c].next_child)
    {
        if (region[c] == region[k])
        {
            stacks->used[1 - own] -= node_update_size(&s->nodes[c]);
        }
    }
}

// All tasks have stacks of their own; the nodes above share one pair.
static weft_status updates_place(chol_symbolic* s)
{
    int region_count = s->task_count + 1;
    int* depth = MEM_NEW(s->node_count, int);
    int* region = MEM_NEW(s->node_count, int);
    update_stacks* stacks = MEM_NEW(region_count, update_stacks);
    weft_status status = WEFT_NO_MEMORY;
    if (depth && region && stacks)
    {
        for (int t = 0; t < s->task_count; t++)
        {
            for (int k = s->tasks[t].begin; k < s->tasks[t].end; k++)
            {
                region[k] = t + 1;
            }
        }
        for (int k = s->node_count - 1; k >= 0; k--)
        {
            depth[k] = s->nodes[k].parent >= 0 ? depth[s->nodes[k].parent] + 1 : 0;
        }
        for (int k = 0; k < s->node_count; k++)
        {
            stacks_push(&stacks[region[k]], s, k, depth, region);
        }
        for (int r = 0; r < region_count; r++)
        {
            stacks[r].base = s->update_size;
            s->update_size += stacks[r].most[0] + stacks[r].most[1];
        }
        for (int k = 0; k < s->node_count; k++)
        {
            const update_stacks* own = &stacks[region[k]];
            s->nodes[k].U += own->base + (depth[k] & 1 ? own->most[0] : 0);
        }
        status = WEFT_OK;
    }
    mem_free(depth);
    mem_free(region);
    mem_free(stacks);
    return status;
}

weft_status chol_plan(chol_symbolic* symbolic)
{
    TRY(tasks_create(symbolic));
    return updates_place(symbolic);
}
