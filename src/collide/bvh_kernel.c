// Boxes of vertices, features and nodes, and the walk that finds pairs, for one CPU kind.
//
// The walk takes nodes of the query tree depth first. Each carries the list of target nodes of its own level that its
// box reaches; a child's list is made from the children of its parent's list. So the upper levels are walked once for many
// queries, not once for each, and at the bottom eight queries share a list of groups. Each query then meets the boxes of
// each group of its list, eight at once.
//
// What a float box cannot decide is decided by the definition in double: see box8.h for the bounds, thresholds_inner for
// the side that needs no such look.
#include <math.h>

#include "collide/box8.h"
#include "collide/broad.h"

// ---- boxes

WIDE_INLINE float side_up(double m)
{
    m = m < BOX_MAX ? m : BOX_MAX;
    m = m > -BOX_MAX ? m : -BOX_MAX;
    float f = (float)m;
    return f + (fabsf(f) * BOX_ROUND + BOX_TINY);
}

static int vertex_boxes(const vec3* from, const vec3* to, vec3 origin, vertex_box* out, int begin, int end)
{
    int bad = -1;
    for (int v = end - 1; v >= begin; v--)
    {
        vec3 a = from[v], b = to[v];
        vertex_box* box = &out[v];
        // Zero for all that is finite.
        double rest = (a.x - a.x) + (a.y - a.y) + (a.z - a.z) + (b.x - b.x) + (b.y - b.y) + (b.z - b.z);
        bad = rest == 0.0 ? bad : v;
        box->side[0] = side_up(origin.x - (a.x < b.x ? a.x : b.x));
        box->side[1] = side_up(origin.y - (a.y < b.y ? a.y : b.y));
        box->side[2] = side_up(origin.z - (a.z < b.z ? a.z : b.z));
        box->side[3] = side_up((a.x > b.x ? a.x : b.x) - origin.x);
        box->side[4] = side_up((a.y > b.y ? a.y : b.y) - origin.y);
        box->side[5] = side_up((a.z > b.z ? a.z : b.z) - origin.z);
        box->side[6] = box->side[7] = 0.0f;
    }
    return bad;
}

// The first six columns of eight rows.
WIDE_INLINE void transpose_boxes(const float8 r[8], box8* out)
{
    float8 t[8], u[8];
    for (int k = 0; k < 8; k += 2)
    {
        t[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int k = 0; k < 8; k += 4)
    {
        for (int j = 0; j < 2; j++)
        {
            u[k + j] = __builtin_shufflevector(t[k + j], t[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            u[k + j + 2] = __builtin_shufflevector(t[k + j], t[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int k = 0; k < 4; k++)
    {
        float8 low = __builtin_shufflevector(u[k], u[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        memcpy(out->side[k], &low, sizeof(low));
    }
    for (int k = 0; k < 2; k++)
    {
        float8 high = __builtin_shufflevector(u[k], u[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        memcpy(out->side[k + 4], &high, sizeof(high));
    }
}

WIDE_INLINE void leaf_boxes_of(const bvh* tree, const vertex_box* boxes, int begin, int end, int arity)
{
    const float8 nothing = float8_set(-INFINITY);
    for (int g = begin; g < end; g++)
    {
        const int* vertex = tree->vertex + (size_t)g * (size_t)(arity * BVH_WIDTH);
        int lanes = int_min(BVH_WIDTH, tree->count - g * BVH_WIDTH);
        float8 row[8] = {nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing};
        for (int k = 0; k < lanes; k++)
        {
            row[k] = float8_load(boxes[vertex[k]].side);
            for (int corner = 1; corner < arity; corner++)
            {
                row[k] = float8_max(row[k], float8_load(boxes[vertex[corner * BVH_WIDTH + k]].side));
            }
        }
        transpose_boxes(row, &tree->node[g]);
    }
}

static void leaf_boxes(const bvh* tree, const vertex_box* boxes, int begin, int end)
{
    switch (tree->arity)
    {
    case 1:
        leaf_boxes_of(tree, boxes, begin, end, 1);
        break;
    case 2:
        leaf_boxes_of(tree, boxes, begin, end, 2);
        break;
    default:
        leaf_boxes_of(tree, boxes, begin, end, 3);
    }
}

static void inner_boxes(const bvh* tree, int level, int begin, int end)
{
    const box8* below = tree->node + tree->level_start[level - 1];
    for (int n = begin; n < end; n++)
    {
        box8* node = &tree->node[tree->level_start[level] + n];
        int lanes = int_min(BVH_WIDTH, tree->level_size[level - 1] - n * BVH_WIDTH);
        for (int k = 0; k < 6; k++)
        {
            for (int lane = 0; lane < BVH_WIDTH; lane++)
            {
                const box8* child = &below[n * BVH_WIDTH + lane];
                node->side[k][lane] = lane < lanes ? float8_largest(float8_load(child->side[k])) : -INFINITY;
            }
        }
    }
}

static double half_perimeters(const bvh* tree, int level, int begin, int end)
{
    double sum = 0.0;
    for (int n = begin; n < end; n++)
    {
        const box8* node = &tree->node[tree->level_start[level] + n];
        for (int lane = 0; lane < BVH_WIDTH; lane++)
        {
            double p = 0.0;
            for (int k = 0; k < 6; k++)
            {
                p += (double)node->side[k][lane];
            }
            sum += p > 0.0 ? p : 0.0; // an empty box has none
        }
    }
    return sum;
}

// ---- thresholds

// What the sides of a target must reach so that its box may be near the box `a`. Never -infinity, which an empty box would reach.
WIDE_INLINE void thresholds_outer(const float a[6], float margin_up, float out[6])
{
    for (int k = 0; k < 6; k++)
    {
        float sum = a[k < 3 ? k + 3 : k - 3] + margin_up;
        float t = -(sum + (fabsf(sum) * BOX_ROUND + BOX_TINY));
        out[k] = t > -3.3e38f ? t : -3.3e38f;
    }
}

// What they must reach so that it certainly is. With c <= M_a + margin, a target side m_b has M_b >= m_b - 2^-20 |m_b| - 2 TINY,
// which rises with m_b; at the threshold, -c + 2^-19 |c| + TINY', it is above -c.
WIDE_INLINE void thresholds_inner(const float a[6], float margin_down, float out[6])
{
    for (int k = 0; k < 6; k++)
    {
        float m = a[k < 3 ? k + 3 : k - 3];
        float sum = (m - fabsf(m) * 0x1p-20f - 8 * BOX_TINY) + margin_down;
        float t = -sum + fabsf(sum) * 0x1p-18f + 8 * BOX_TINY;
        t = t > -2.9e38f ? t : -2.9e38f; // below lie sides that were put to -BOX_MAX
        out[k] = m > -2.9e38f ? t : INFINITY;
    }
}

WIDE_INLINE void thresholds_set(const float t[6], float8 out[6])
{
    for (int k = 0; k < 6; k++)
    {
        out[k] = float8_set(t[k]);
    }
}

// ---- the walk

typedef struct walker
{
    const broad_walk* w;
    walk_chunk* chunk;
    int* out;  // where the next find goes
    int room;  // ints from there to the end of the page
    int page;  // -1: none yet
    int found; // so far
    long long tests;
    bool failed;
    int *list, *list_end; // free scratch
} walker;

static void page_close(walker* s)
{
    if (s->page >= 0)
    {
        s->w->pool->used[s->page] = PAGE_SIZE - s->room;
    }
}

static bool page_next(walker* s)
{
    page_pool* pool = s->w->pool;
    int page = atomic_fetch_add_explicit(&pool->claimed, 1, memory_order_relaxed);
    if (page >= pool->page_count)
    {
        atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
        s->failed = true;
        return false;
    }
    page_close(s);
    *(s->page < 0 ? &s->chunk->first_page : &pool->next[s->page]) = page;
    pool->next[page] = -1;
    s->page = page;
    s->out = pool->items + (size_t)page * PAGE_SIZE;
    s->room = PAGE_SIZE;
    return true;
}

// One query feature, as the innermost loop wants it.
typedef struct query
{
    int id;
    int vertex[2]; // its vertices; the second is the first again where there is one
    float side[6];
    float8 outer[6];
} query;

// Removes what the definition in double does not want: `doubtful` lanes whose boxes are not near, and what the rules exclude.
static unsigned look_closer(const walker* s, const query* q, int group, unsigned hits, unsigned doubtful)
{
    const broad_walk* w = s->w;
    const bvh* targets = w->targets;
    const int* a = w->queries->corner + (size_t)q->id * (size_t)w->queries->arity;
    for (unsigned left = w->rules ? hits : doubtful; left; left &= left - 1)
    {
        int lane = __builtin_ctz(left);
        const int* b = targets->corner + (size_t)targets->id[group * BVH_WIDTH + lane] * (size_t)targets->arity;
        bool wanted = !(doubtful >> lane & 1) || pair_boxes_near(w, a, b);
        wanted = wanted && (!w->rules || cull_features_wanted(w->rules, a, w->queries->arity, b, targets->arity));
        hits &= ~((unsigned)!wanted << lane);
    }
    return hits;
}

// Lanes of a group that share a vertex with the query, or that do not come after it.
WIDE_INLINE unsigned unwanted(const walker* s, const query* q, int group)
{
    const bvh* targets = s->w->targets;
    unsigned bits = 0;
    if (s->w->ascending)
    {
        const int* vertex = targets->vertex + (size_t)group * (2 * BVH_WIDTH);
        bits = ~int8_greater(targets->id + group * BVH_WIDTH, q->id);
        bits |= int8_equal(vertex, q->vertex[0]) | int8_equal(vertex, q->vertex[1]);
        return bits | int8_equal(vertex + 8, q->vertex[0]) | int8_equal(vertex + 8, q->vertex[1]);
    }
    const int* vertex = targets->vertex + (size_t)group * (3 * BVH_WIDTH);
    bits = int8_equal(vertex, q->vertex[0]) | int8_equal(vertex + 8, q->vertex[0]);
    return bits | int8_equal(vertex + 16, q->vertex[0]);
}

static void query_meets_groups(walker* s, const query* q, const int* groups, int group_count)
{
    const broad_walk* w = s->w;
    float inner[6];
    float8 sure[6];
    thresholds_inner(q->side, w->margin_down, inner);
    thresholds_set(inner, sure);
    for (int k = 0; k < group_count; k++)
    {
        int g = groups[k];
        unsigned hits = box8_reach(w->targets->node[g].side, q->outer);
        if (!hits)
        {
            continue;
        }
        hits &= ~unwanted(s, q, g);
        if (!hits)
        {
            continue;
        }
        unsigned doubtful = hits & ~box8_reach(w->targets->node[g].side, sure);
        if (doubtful || w->rules)
        {
            hits = look_closer(s, q, g, hits, doubtful);
        }
        if (s->room < BVH_WIDTH && !page_next(s))
        {
            return;
        }
        int found = int8_pack(w->targets->id + g * BVH_WIDTH, hits, s->out);
        s->out += found;
        s->room -= found;
        s->found += found;
    }
}

// The eight queries of a group.
static void walk_group(walker* s, int group, const int* groups, int group_count)
{
    const bvh* queries = s->w->queries;
    int lanes = int_min(BVH_WIDTH, queries->count - group * BVH_WIDTH);
    const int* vertex = queries->vertex + (size_t)group * (size_t)(queries->arity * BVH_WIDTH);
    for (int lane = 0; lane < lanes && !s->failed; lane++)
    {
        query q = {.id = queries->id[group * BVH_WIDTH + lane]};
        q.vertex[0] = vertex[lane];
        q.vertex[1] = queries->arity == 2 ? vertex[BVH_WIDTH + lane] : vertex[lane];
        float outer[6];
        for (int k = 0; k < 6; k++)
        {
            q.side[k] = queries->node[group].side[k][lane];
        }
        thresholds_outer(q.side, s->w->margin_up, outer);
        thresholds_set(outer, q.outer);
        int before = s->found;
        query_meets_groups(s, &q, groups, group_count);
        s->w->found[q.id] = s->found - before;
    }
    s->tests += (long long)lanes * group_count;
}

// The box of a node, from its parent where it has one.
WIDE_INLINE void node_box(const bvh* tree, int level, int node, float side[6])
{
    bool top = level + 1 == tree->level_count;
    const box8* from = &tree->node[top ? tree->level_start[level] + node
                                       : tree->level_start[level + 1] + node / BVH_WIDTH];
    for (int k = 0; k < 6; k++)
    {
        side[k] = top ? float8_largest(float8_load(from->side[k])) : from->side[k][node % BVH_WIDTH];
    }
}

static int node_body(const bvh* tree, int level, int node)
{
    bool top = level + 1 == tree->level_count;
    return top ? BODY_MIXED : tree->body[(size_t)tree->level_start[level + 1] * BVH_WIDTH + (size_t)node];
}

// Children of the nodes in `list` (of `level` of the targets) that the query node's box reaches. They are put at s->list; returns
// how many, or -1 when there is no room.
static int refine(walker* s, int query_level, int query_node, int level, const int* list, int count)
{
    static const int lane_number[BVH_WIDTH] = {0, 1, 2, 3, 4, 5, 6, 7};
    const broad_walk* w = s->w;
    const bvh* targets = w->targets;
    float side[6], outer[6];
    float8 threshold[6];
    node_box(w->queries, query_level, query_node, side);
    thresholds_outer(side, w->margin_up, outer);
    thresholds_set(outer, threshold);
    int body = w->rules ? node_body(w->queries, query_level, query_node) : BODY_MIXED;
    int* out = s->list;
    for (int k = 0; k < count; k++)
    {
        if (s->list_end - out < BVH_WIDTH)
        {
            s->chunk->crowded = s->failed = true;
            return -1;
        }
        int node = list[k];
        size_t at = (size_t)(targets->level_start[level] + node);
        unsigned hits = box8_reach(targets->node[at].side, threshold);
        for (unsigned left = body != BODY_MIXED ? hits : 0; left; left &= left - 1)
        {
            int lane = __builtin_ctz(left);
            bool wanted = cull_bodies_wanted(w->rules, body, targets->body[at * BVH_WIDTH + (size_t)lane]);
            hits &= ~((unsigned)!wanted << lane);
        }
        int found = int8_pack(lane_number, hits, out);
        for (int j = 0; j < found; j++)
        {
            out[j] += node * BVH_WIDTH;
        }
        out += found;
    }
    s->tests += count;
    return (int)(out - s->list);
}

static bool too_much(walker* s)
{
    page_pool* pool = s->w->pool;
    long long before = atomic_fetch_add_explicit(&pool->tests, s->tests, memory_order_relaxed);
    bool over = before + s->tests > pool->test_limit;
    s->tests = 0;
    if (over)
    {
        atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
    }
    return over || atomic_load_explicit(&pool->stop, memory_order_relaxed);
}

// A query node with the list of target nodes of its level, or of the targets' last level where that is lower.
static void walk_node(walker* s, int level, int node, const int* list, int count)
{
    if (level == 0)
    {
        walk_group(s, node, list, count);
        return;
    }
    const bvh* queries = s->w->queries;
    int last = int_min(queries->level_size[level - 1], (node + 1) * BVH_WIDTH);
    int target_level = int_min(level, s->w->targets->level_count - 1);
    for (int child = node * BVH_WIDTH; child < last && !s->failed; child++)
    {
        if (target_level < level)
        {
            walk_node(s, level - 1, child, list, count);
            continue;
        }
        int* free_list = s->list;
        int child_count = refine(s, level - 1, child, level, list, count);
        if (child_count >= 0)
        {
            s->list += child_count;
            walk_node(s, level - 1, child, free_list, child_count);
        }
        s->list = free_list;
    }
    s->failed = s->failed || (level <= 2 && too_much(s));
}

static void walk(const broad_walk* w, int node, walk_chunk* chunk, int* list, int list_size)
{
    walker s = {.w = w, .chunk = chunk, .page = -1, .list = list, .list_end = list + list_size};
    *chunk = (walk_chunk){.first_page = -1};
    // From the top of the targets down to the level of chunks, with the boxes of the chunk's own ancestors.
    int* at = s.list;
    int count = 1, top = w->targets->level_count - 1;
    *s.list++ = 0;
    for (int level = top; level > w->level && count >= 0; level--)
    {
        int query_level = int_min(level - 1, w->queries->level_count - 1);
        int ancestor = node >> 3 * (query_level - w->level);
        int* next = s.list;
        count = refine(&s, query_level, ancestor, level, at, count);
        s.list += count > 0 ? count : 0;
        at = next;
    }
    if (count >= 0)
    {
        walk_node(&s, w->level, node, at, count);
    }
    page_close(&s);
}

extern const broad_kernels KERNEL_NAME(broad_kernels);
const broad_kernels KERNEL_NAME(broad_kernels) = {vertex_boxes, leaf_boxes, inner_boxes, half_perimeters, walk};
