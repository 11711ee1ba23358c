// Trees of boxes: layout, order along a curve, refit, and a measure of how good the order still is.
//
// Features are sorted along a Hilbert curve of the middles of their boxes, obstacles behind the rest, and taken eight
// by eight; so are the groups, level by level. Nothing but the order of features is stored: children follow from
// numbers. A refit fills the boxes from the bottom up; the order stays until the collider asks for a new one.
#include <string.h>

#include "collide/broad.h"

extern const broad_kernels broad_kernels_base, broad_kernels_avx2, broad_kernels_avx512;

const broad_kernels* broad_kernels_for(cpu_kind cpu)
{
#ifdef WEFT_X86_KERNELS
    static const broad_kernels* const table[CPU_KIND_COUNT] = {&broad_kernels_base, &broad_kernels_avx2,
                                                               &broad_kernels_avx512};
    return table[cpu];
#else
    (void)cpu;
    return &broad_kernels_base;
#endif
}

void bvh_set_levels(bvh* tree, int count)
{
    tree->held = count;
    tree->level_count = tree->node_count = tree->moving_groups = tree->asking_groups = 0;
    for (int size = count; size > 0 && (tree->level_count == 0 || size > 1);)
    {
        size = (size - 1) / BVH_WIDTH + 1;
        tree->level_start[tree->level_count] = tree->node_count;
        tree->level_size[tree->level_count++] = size;
        tree->node_count += size;
    }
}

weft_status bvh_init(bvh* tree, const int* corner, int arity, int count, const cull_rules* rules)
{
    *tree = (bvh){.arity = arity, .count = count, .corner = corner};
    bvh_set_levels(tree, count);
    tree->node_capacity = tree->node_count;
    size_t places = tree->level_count ? (size_t)tree->level_size[0] * BVH_WIDTH : 0;
    tree->node = MEM_NEW(tree->node_count, box8);
    tree->body = rules->body ? MEM_NEW((size_t)tree->node_count * BVH_WIDTH, int) : NULL;
    tree->id = MEM_NEW(places, int);
    tree->vertex = MEM_NEW(places * (size_t)arity, int);
    tree->last_id = MEM_NEW(places / BVH_WIDTH, int);
    bool room = tree->node && tree->id && tree->vertex && tree->last_id && (tree->body || !rules->body);
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

void bvh_finish(bvh* tree)
{
    mem_free(tree->node);
    mem_free(tree->node_end);
    mem_free(tree->body);
    mem_free(tree->id);
    mem_free(tree->vertex);
    mem_free(tree->last_id);
    mem_free(tree->chosen);
    mem_free(tree->rect);
    *tree = (bvh){0};
}

// ---- order

static int chosen_at(const bvh* tree, int k)
{
    return tree->chosen ? tree->chosen[k] : k;
}

// Of a flat body, twice, as boxes of floats have it.
static vec3 rest_middle(const smooth_map* m, const int* corner, int arity)
{
    vec2 sum = {0};
    for (int c = 0; c < arity; c++)
    {
        sum = (vec2){sum.x + m->at[corner[c]].x, sum.y + m->at[corner[c]].y};
    }
    return v3(2.0 / arity * sum.x, 2.0 / arity * sum.y, 0.0);
}

static void box_middles(const bvh* tree, const vertex_box* boxes, int count, vec3* out)
{
    for (int f = 0; f < count; f++)
    {
        const int* corner = tree->corner + (size_t)chosen_at(tree, f) * (size_t)tree->arity;
        float side[6];
        memcpy(side, boxes[corner[0]].side, sizeof(side));
        for (int c = 1; c < tree->arity; c++)
        {
            for (int k = 0; k < 6; k++)
            {
                side[k] = fmaxf(side[k], boxes[corner[c]].side[k]);
            }
        }
        out[f] =
            v3((double)side[3] - (double)side[0], (double)side[4] - (double)side[1], (double)side[5] - (double)side[2]);
        if (tree->smooth && tree->smooth->grid_of[corner[0]] >= 0)
        {
            out[f] = rest_middle(tree->smooth, corner, tree->arity);
        }
    }
}

static bool feature_passive(const bvh* tree, const cull_rules* rules, int f)
{
    return rules->body && rules->passive[rules->body[tree->corner[(size_t)f * (size_t)tree->arity]]];
}

// Flat bodies come first, one after the other.
static int feature_class(const bvh* tree, const cull_rules* rules, int f)
{
    int grids = tree->smooth ? tree->smooth->grid_count : 0;
    int grid = grids > 0 ? tree->smooth->grid_of[tree->corner[(size_t)f * (size_t)tree->arity]] : -1;
    return feature_passive(tree, rules, f) ? grids + 1 : grid >= 0 ? grid : grids;
}

// A pair of one set is found by the smaller id: with those of obstacles all behind, by what moves.
static void find_asking(bvh* tree, int moving_count)
{
    int last_moving = -1, first_still = INT32_MAX, still = tree->moving_groups * BVH_WIDTH;
    for (int k = 0; k < moving_count; k++)
    {
        last_moving = int_max(last_moving, tree->id[k]);
    }
    for (int k = still; k < tree->held; k++)
    {
        first_still = int_min(first_still, tree->id[k]);
    }
    tree->asking_groups = last_moving < first_still ? tree->moving_groups : tree->level_size[0];
}

// Places of classes, for a stable sort.
static void sort_classes(bvh* tree, const cull_rules* rules, const int* at_place, int* start)
{
    int classes = (tree->smooth ? tree->smooth->grid_count : 0) + 2;
    memset(start, 0, (size_t)(classes + 1) * sizeof(int));
    for (int k = 0; k < tree->held; k++)
    {
        start[feature_class(tree, rules, at_place[k]) + 1]++;
    }
    for (int k = 0; k < classes; k++)
    {
        start[k + 1] += start[k];
    }
    int moving_count = start[classes - 1];
    tree->moving_groups = (moving_count + BVH_WIDTH - 1) / BVH_WIDTH;
    for (int k = 0; k < tree->held; k++)
    {
        tree->id[start[feature_class(tree, rules, at_place[k])]++] = at_place[k];
    }
    find_asking(tree, moving_count);
}

// Features in this order, obstacles behind the rest.
static void put_in_order(bvh* tree, const cull_rules* rules, const int* at_place)
{
    int two[3];
    sort_classes(tree, rules, at_place, tree->smooth ? tree->smooth->class_at : two);
    for (int k = tree->held; k < tree->level_size[0] * BVH_WIDTH; k++)
    {
        tree->id[k] = -1;
    }
}

// The body of features of two bodies together; a free place (BODY_FREE) takes on the other's.
enum
{
    BODY_FREE = -3
};

static int join_bodies(const cull_rules* rules, int a, int b)
{
    if (a == b || b == BODY_FREE)
    {
        return a;
    }
    if (a == BODY_FREE)
    {
        return b;
    }
    bool passive =
        (a == BODY_PASSIVE || (a >= 0 && rules->passive[a])) && (b == BODY_PASSIVE || (b >= 0 && rules->passive[b]));
    return passive ? BODY_PASSIVE : BODY_MIXED;
}

// Beside the boxes: vertices, the greatest id, where its features are at rest, whose they are.
void bvh_fill_group(bvh* tree, const cull_rules* rules, int g)
{
    bool first = true;
    tree->last_id[g] = -1;
    for (int k = g * BVH_WIDTH; k < (g + 1) * BVH_WIDTH; k++)
    {
        int id = tree->id[k];
        const int* corner = id < 0 ? NULL : tree->corner + (size_t)id * (size_t)tree->arity;
        int* vertex = tree->vertex + (size_t)g * (size_t)(tree->arity * BVH_WIDTH) + k % BVH_WIDTH;
        for (int c = 0; c < tree->arity; c++)
        {
            vertex[c * BVH_WIDTH] = corner ? corner[c] : -1;
        }
        tree->last_id[g] = int_max(tree->last_id[g], id);
        if (rules->body)
        {
            tree->body[k] = corner ? rules->body[corner[0]] : BODY_FREE;
        }
        if (tree->smooth && corner)
        {
            smooth_rect rect = smooth_rect_of(tree->smooth, corner, tree->arity), *group = &tree->rect[g];
            first ? (void)(*group = rect) : smooth_rect_join(group, &rect);
            first = false;
        }
    }
}

static void fill_inner_rects(bvh* tree)
{
    for (int level = 1; level < tree->level_count; level++)
    {
        const smooth_rect* below = tree->rect + tree->level_start[level - 1];
        smooth_rect* here = tree->rect + tree->level_start[level];
        for (int k = 0; k < tree->level_size[level - 1]; k++)
        {
            smooth_rect* node = &here[k / BVH_WIDTH];
            k % BVH_WIDTH == 0 ? (void)(*node = below[k]) : smooth_rect_join(node, &below[k]);
        }
    }
}

static void fill_inner_bodies(bvh* tree, const cull_rules* rules)
{
    for (int level = 1; level < tree->level_count; level++)
    {
        const int* below = tree->body + (size_t)tree->level_start[level - 1] * BVH_WIDTH;
        int* here = tree->body + (size_t)tree->level_start[level] * BVH_WIDTH;
        for (int k = 0; k < tree->level_size[level] * BVH_WIDTH; k++)
        {
            here[k] = BODY_FREE;
            for (int lane = 0; lane < BVH_WIDTH && k < tree->level_size[level - 1]; lane++)
            {
                here[k] = join_bodies(rules, here[k], below[k * BVH_WIDTH + lane]);
            }
        }
    }
}

void bvh_fill_inner(bvh* tree, const cull_rules* rules)
{
    tree->smooth ? fill_inner_rects(tree) : (void)0;
    rules->body ? fill_inner_bodies(tree, rules) : (void)0;
}

void build_scratch_finish(build_scratch* s)
{
    mem_free(s->middle);
    mem_free(s->place_of);
    mem_free(s->at_place);
    order_finish(&s->order);
    *s = (build_scratch){0};
}

static bool scratch_reserve(build_scratch* s, int count)
{
    build_scratch_finish(s);
    s->middle = mem_raw((size_t)count, sizeof(vec3));
    s->place_of = mem_raw((size_t)count, sizeof(int));
    s->at_place = mem_raw((size_t)count, sizeof(int));
    bool room = s->middle && s->place_of && s->at_place && order_reserve(&s->order, count);
    s->capacity = room ? count : 0;
    return room;
}

static void fill_all(bvh* tree, const cull_rules* rules, const int* at_place)
{
    if (tree->held == 0)
    {
        return;
    }
    put_in_order(tree, rules, at_place);
    for (int g = 0; g < tree->level_size[0]; g++)
    {
        bvh_fill_group(tree, rules, g);
    }
    bvh_fill_inner(tree, rules);
}

weft_status bvh_build(bvh* tree, const vertex_box* boxes, const cull_rules* rules, build_scratch* scratch)
{
    int count = tree->chosen ? tree->chosen_count : tree->count;
    if (count > scratch->capacity)
    {
        int spare = tree->chosen ? int_min(tree->count - count, count) : 0; // the next choice may be larger
        TRY(scratch_reserve(scratch, count + spare) ? WEFT_OK : WEFT_NO_MEMORY);
    }
    box_middles(tree, boxes, count, scratch->middle);
    order_along_curve(scratch->middle, count, &scratch->order, scratch->place_of);
    for (int k = 0; k < count; k++)
    {
        scratch->at_place[scratch->place_of[k]] = chosen_at(tree, k);
    }
    bvh_set_levels(tree, count);
    fill_all(tree, rules, scratch->at_place);
    return WEFT_OK;
}

// ---- refit

typedef struct refit_context
{
    const bvh* tree;
    box8* node;
    const broad_kernels* kernels;
    const vertex_box* boxes;
    int level;
} refit_context;

static void refit_leaves(void* context, int begin, int end)
{
    refit_context* r = context;
    r->kernels->leaf_boxes(r->tree, r->boxes, r->node, begin, end);
}

static void refit_nodes(void* context, int begin, int end)
{
    refit_context* r = context;
    r->kernels->inner_boxes(r->tree, r->node, r->level, begin, end);
}

void bvh_refit(const bvh* tree, const broad_kernels* kernels, workers* pool, const vertex_box* boxes, box8* node,
               bool still_obstacles)
{
    refit_context r = {.tree = tree, .kernels = kernels, .boxes = boxes, .node = node};
    if (tree->level_count > 0)
    {
        int groups = still_obstacles ? tree->moving_groups : tree->level_size[0];
        parallel_for(pool, groups, BVH_GRAIN, refit_leaves, &r);
    }
    for (r.level = 1; r.level < tree->level_count; r.level++)
    {
        parallel_for(pool, tree->level_size[r.level], BVH_GRAIN / BVH_WIDTH, refit_nodes, &r);
    }
}

static double measure_nodes(void* context, int begin, int end)
{
    refit_context* r = context;
    return r->kernels->half_perimeters(r->tree, r->level, begin, end);
}

void bvh_measure(const bvh* tree, const broad_kernels* kernels, workers* pool, double* nodes, double* features)
{
    refit_context r = {.tree = tree, .kernels = kernels};
    *nodes = *features = 0.0;
    for (r.level = 0; r.level < tree->level_count; r.level++)
    {
        double sum = parallel_sum(pool, tree->level_size[r.level], BVH_GRAIN, measure_nodes, &r);
        *(r.level == 0 ? features : nodes) += sum;
    }
}

bool bvh_bounds(const bvh* tree, float side[6])
{
    if (tree->level_count == 0)
    {
        return false;
    }
    const box8* top = &tree->node[tree->node_count - 1];
    for (int k = 0; k < 6; k++)
    {
        side[k] = top->side[k][0];
        for (int lane = 1; lane < BVH_WIDTH; lane++)
        {
            side[k] = fmaxf(side[k], top->side[k][lane]);
        }
    }
    return true;
}
