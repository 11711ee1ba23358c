// The features around a box, one box at a time: for the few questions that are not of all features against all.
//
// A walk down the tree: a node's eight boxes are compared with the box, and where one is near its children are looked
// at. Sides of nodes are rounded up (box8.h), so that nothing is missed. The cost is the depth of the tree for each
// feature that is found. Where the trees do not hold all obstacles (window.c), a box that is not among what moves is
// compared with all features.
#include "collide/broad.h"

typedef struct around_walk
{
    const bvh* tree;
    const box8* node;
    float least[6]; // what sides of nodes must be to be near: the box's own and the margin, with the other sign
    around_list* out;
} around_walk;

// A bit for each of a node's boxes that is near.
static unsigned boxes_around(const around_walk* w, const box8* node)
{
    unsigned near = 0;
    int meets[BVH_WIDTH] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int k = 0; k < 6; k++)
    {
        for (int lane = 0; lane < BVH_WIDTH; lane++)
        {
            meets[lane] &= -(node->side[k][lane] >= w->least[k]);
        }
    }
    for (int lane = 0; lane < BVH_WIDTH; lane++)
    {
        near |= (unsigned)(meets[lane] & 1) << lane;
    }
    w->out->tests += BVH_WIDTH;
    return near;
}

// The least float that is not below x.
static float float_above(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static weft_status list_add(around_list* out, int feature)
{
    if (!mem_grow((void**)&out->feature, &out->capacity, out->count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    out->feature[out->count++] = feature;
    return WEFT_OK;
}

static weft_status walk_node(const around_walk* w, int level, int node)
{
    unsigned near = boxes_around(w, &w->node[w->tree->level_start[level] + node]);
    for (int lane = 0; lane < BVH_WIDTH; lane++)
    {
        int below = node * BVH_WIDTH + lane;
        if (!(near >> lane & 1))
        {
            continue;
        }
        if (level > 0)
        {
            TRY(walk_node(w, level - 1, below)); // as deep as the tree: twelve levels at most
            continue;
        }
        TRY(list_add(w->out, w->tree->id[below]));
    }
    return WEFT_OK;
}

static weft_status look_at_all(const weft_collider* c, feature_kind kind, const double_box* box, double margin,
                               around_list* out)
{
    const bvh* tree = &c->tree[kind];
    for (int f = 0; f < tree->count; f++)
    {
        const int* corner = tree->corner + (size_t)f * (size_t)tree->arity;
        double_box own = feature_box(c->apart ? c->end : c->start, c->end, corner, tree->arity);
        TRY(boxes_near(box, &own, margin) ? list_add(out, f) : WEFT_OK);
    }
    out->tests += tree->count;
    return WEFT_OK;
}

weft_status collider_around(const weft_collider* c, feature_kind kind, const double_box* box, double margin,
                            around_list* out)
{
    const bvh* tree = &c->tree[kind];
    around_walk w = {.tree = tree, .node = c->apart ? tree->node_end : tree->node, .out = out};
    const double origin[3] = {c->origin.x, c->origin.y, c->origin.z};
    for (int k = 0; k < 3; k++)
    {
        w.least[k + 3] = float_above(-(origin[k] - box->low[k] + margin));
        w.least[k] = float_above(-(box->high[k] - origin[k] + margin));
    }
    out->count = 0;
    if (c->ready && c->window.used && !window_covers(&c->window, box, margin))
    {
        return look_at_all(c, kind, box, margin, out);
    }
    return c->ready && tree->level_count > 0 ? walk_node(&w, tree->level_count - 1, 0) : WEFT_OK;
}
