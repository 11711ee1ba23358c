// A tree of boxes whose features a tear has changed. Its order stays, at the cost of a few passes over numbers: what is
// new goes into the group of a feature beside it. A group that becomes too full is shared out over two, which moves the
// groups behind it up by one; free places in the middle then take what later tears bring.
#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"

typedef struct mender
{
    bvh* tree;
    const cull_rules* rules;
    const feature_change* change;
    int groups; // before
    int* place; // [change->before] where a feature is
    int* group; // [group_count] those that change, ascending
    int* size;  // [group_count] features that they will have
    int group_count;
    int* added; // [2 * added_count] place beside which it goes, number; ascending
    int* list;  // features of one group
} mender;

// ---- room

static int nodes_of(int groups)
{
    bvh levels = {0};
    bvh_set_levels(&levels, groups * BVH_WIDTH);
    return levels.node_count;
}

// Boxes are filled anew by the next refit.
static bool boxes_grow(box8** node, int count)
{
    if (mem_has_room(*node, (size_t)count, sizeof(box8)))
    {
        return true;
    }
    mem_free(*node);
    *node = MEM_NEW(count + count / 8, box8);
    return *node;
}

static weft_status reserve(bvh* tree, int before, int groups)
{
    size_t nodes = (size_t)nodes_of(groups), had = (size_t)int_min(tree->node_capacity, (int)nodes);
    size_t places = (size_t)groups * BVH_WIDTH, had_places = (size_t)int_min(before, groups) * BVH_WIDTH;
    size_t arity = (size_t)tree->arity;
    bool ok = boxes_grow(&tree->node, (int)nodes) && (!tree->node_end || boxes_grow(&tree->node_end, (int)nodes));
    ok = ok && array_grow((void**)&tree->id, had_places, places, sizeof(int)) &&
         array_grow((void**)&tree->vertex, arity * had_places, arity * places, sizeof(int)) &&
         array_grow((void**)&tree->last_id, (size_t)int_min(before, groups), (size_t)groups, sizeof(int));
    ok = ok && (!tree->body || array_grow((void**)&tree->body, BVH_WIDTH * had, BVH_WIDTH * nodes, sizeof(int)));
    ok = ok && (!tree->rect || array_grow((void**)&tree->rect, had, nodes, sizeof(smooth_rect)));
    tree->node_capacity = ok ? (int)nodes : tree->node_capacity;
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static int groups_for(int count)
{
    return (count + BVH_WIDTH - 1) / BVH_WIDTH;
}

weft_status bvh_extend(bvh* tree, const int* corner, int count)
{
    size_t before = (size_t)tree->count;
    TRY(reserve(tree, tree->level_count > 0 ? tree->level_size[0] : 0, groups_for(count)));
    if (tree->chosen && !array_grow((void**)&tree->chosen, before, (size_t)count, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    tree->corner = corner;
    tree->count = count;
    return WEFT_OK;
}

// ---- what changes

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static int compare_added(const void* a, const void* b)
{
    int order = compare_ints(a, b);
    return order ? order : compare_ints((const int*)a + 1, (const int*)b + 1);
}

static void list_groups(mender* m)
{
    const feature_change* f = m->change;
    int count = 0;
    for (int k = 0; k < f->added_count; k++)
    {
        m->added[2 * k] = m->place[f->added[2 * k + 1]];
        m->added[2 * k + 1] = f->added[2 * k];
        m->group[count++] = m->added[2 * k] / BVH_WIDTH;
    }
    qsort(m->added, (size_t)f->added_count, 2 * sizeof(int), compare_added);
    for (int k = 0; k < f->changed_count; k++)
    {
        m->group[count++] = m->place[f->changed[k]] / BVH_WIDTH;
    }
    qsort(m->group, (size_t)count, sizeof(int), compare_ints);
    for (int k = 0; k < count; k++)
    {
        if (m->group_count == 0 || m->group[m->group_count - 1] != m->group[k])
        {
            m->group[m->group_count++] = m->group[k];
        }
    }
}

// Numbers as they are now; the features of a group that changes are its own and those that are added beside them.
static void renumber(const mender* m)
{
    bvh* tree = m->tree;
    const feature_change* f = m->change;
    for (int k = 0; f->now && k < m->groups * BVH_WIDTH; k++)
    {
        tree->id[k] = tree->id[k] < 0 ? -1 : f->now[tree->id[k]];
    }
    for (int k = 0; f->shift > 0 && k < m->groups * BVH_WIDTH * tree->arity; k++)
    {
        tree->vertex[k] += tree->vertex[k] >= f->shift_from ? f->shift : 0;
    }
}

// Returns how many.
static int list_features(const mender* m, int group, int* out)
{
    int count = 0, at = 0, all = m->change->added_count;
    for (int k = group * BVH_WIDTH; k < (group + 1) * BVH_WIDTH; k++)
    {
        if (m->tree->id[k] >= 0)
        {
            out[count++] = m->tree->id[k];
        }
        while (at < all && m->added[2 * at] < k)
        {
            at++;
        }
        for (; at < all && m->added[2 * at] == k; at++)
        {
            out[count++] = m->added[2 * at + 1];
        }
    }
    return count;
}

// ---- groups

static void move_groups(const mender* m, int from, int to, int count)
{
    bvh* tree = m->tree;
    size_t a = (size_t)from, b = (size_t)to, n = (size_t)count, wide = BVH_WIDTH * (size_t)tree->arity;
    if (from == to || count == 0)
    {
        return;
    }
    memmove(tree->id + b * BVH_WIDTH, tree->id + a * BVH_WIDTH, n * BVH_WIDTH * sizeof(int));
    memmove(tree->vertex + b * wide, tree->vertex + a * wide, n * wide * sizeof(int));
    tree->rect ? memmove(tree->rect + b, tree->rect + a, n * sizeof(smooth_rect)) : NULL;
    tree->body ? memmove(tree->body + b * BVH_WIDTH, tree->body + a * BVH_WIDTH, n * BVH_WIDTH * sizeof(int)) : NULL;
}

// Evenly over `parts` groups.
static void put_features(const mender* m, int group, int parts, const int* list, int count)
{
    for (int part = 0, at = 0; part < parts; part++)
    {
        int own = count / parts + (part < count % parts);
        for (int lane = 0; lane < BVH_WIDTH; lane++)
        {
            m->tree->id[(group + part) * BVH_WIDTH + lane] = lane < own ? list[at++] : -1;
        }
    }
}

static int parts_of(int size)
{
    return int_max(1, groups_for(size));
}

// From the last one on, as groups move towards the end. Returns how many came before the groups of obstacles.
static int spread_groups(const mender* m, int more)
{
    int end = m->groups, left = more, moving = 0;
    for (int k = m->group_count - 1; k >= 0; k--)
    {
        int group = m->group[k], parts = parts_of(m->size[k]);
        list_features(m, group, m->list);
        move_groups(m, group + 1, group + 1 + left, end - group - 1);
        left -= parts - 1;
        put_features(m, group + left, parts, m->list, m->size[k]);
        moving += group < m->tree->moving_groups ? parts - 1 : 0;
        end = group;
    }
    return moving;
}

static void fill_changed(const mender* m)
{
    for (int k = 0, more = 0; k < m->group_count; k++)
    {
        int parts = parts_of(m->size[k]);
        for (int part = 0; part < parts; part++)
        {
            bvh_fill_group(m->tree, m->rules, m->group[k] + more + part);
        }
        more += parts - 1;
    }
}

static void find_last(bvh* tree)
{
    for (int g = 0; g < tree->level_size[0]; g++)
    {
        const int* id = tree->id + g * BVH_WIDTH;
        int last = id[0];
        for (int lane = 1; lane < BVH_WIDTH; lane++)
        {
            last = id[lane] > last ? id[lane] : last;
        }
        tree->last_id[g] = last;
    }
}

static weft_status mend(mender* m)
{
    bvh* tree = m->tree;
    for (int k = 0; k < m->groups * BVH_WIDTH; k++)
    {
        tree->id[k] >= 0 ? (void)(m->place[tree->id[k]] = k) : (void)0;
    }
    list_groups(m);
    renumber(m);
    int more = 0;
    for (int k = 0; k < m->group_count; k++)
    {
        m->size[k] = list_features(m, m->group[k], m->list);
        more += parts_of(m->size[k]) - 1;
    }
    TRY(reserve(tree, m->groups, m->groups + more));
    bool only_moving = tree->asking_groups == tree->moving_groups;
    int moving = tree->moving_groups + spread_groups(m, more);
    bvh_set_levels(tree, (m->groups + more) * BVH_WIDTH);
    tree->moving_groups = moving;
    tree->asking_groups = only_moving ? moving : m->groups + more;
    fill_changed(m);
    find_last(tree);
    bvh_fill_inner(tree, m->rules);
    return WEFT_OK;
}

weft_status bvh_mend(bvh* tree, const cull_rules* rules, const int* corner, int count, const feature_change* change)
{
    int changes = change->added_count + change->changed_count;
    tree->corner = corner;
    tree->count = count;
    mender m = {.tree = tree, .rules = rules, .change = change, .groups = tree->level_size[0]};
    m.place = mem_raw((size_t)change->before, sizeof(int));
    m.group = MEM_NEW(changes + 1, int);
    m.size = MEM_NEW(changes + 1, int);
    m.added = MEM_NEW(2 * change->added_count + 1, int);
    m.list = MEM_NEW(change->added_count + BVH_WIDTH, int);
    bool ok = m.place && m.group && m.size && m.added && m.list;
    weft_status status = ok ? mend(&m) : WEFT_NO_MEMORY;
    mem_free(m.place);
    mem_free(m.group);
    mem_free(m.size);
    mem_free(m.added);
    mem_free(m.list);
    return status;
}
