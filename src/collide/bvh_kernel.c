// Boxes of vertices, features and nodes, and the walk that finds pairs, for one CPU kind.
//
// The walk takes nodes of the query tree depth first. Each carries the list of target nodes of its own level that its
// box reaches; a child's list is made from the children of its parent's list. So the upper levels are walked once for
// many queries, not once for each, and at the bottom eight queries share a list of groups. Each query then meets the
// boxes of each group of its list, eight at once.
//
// What a float box cannot decide is decided by the definition in double: see box8.h for the bounds, thresholds_inner
// for the side that needs no such look.
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

WIDE_INLINE void leaf_boxes_of(const bvh* tree, const vertex_box* boxes, box8* node, int begin, int end, int arity)
{
    const float8 nothing = float8_set(-INFINITY);
    for (int g = begin; g < end; g++)
    {
        const int* vertex = tree->vertex + (size_t)g * (size_t)(arity * BVH_WIDTH);
        int lanes = int_min(BVH_WIDTH, tree->held - g * BVH_WIDTH);
        float8 row[8] = {nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing};
        for (int k = 0; k < lanes; k++)
        {
            if (vertex[k] < 0)
            {
                continue;
            }
            row[k] = float8_load(boxes[vertex[k]].side);
            for (int corner = 1; corner < arity; corner++)
            {
                row[k] = float8_max(row[k], float8_load(boxes[vertex[corner * BVH_WIDTH + k]].side));
            }
        }
        transpose_boxes(row, &node[g]);
    }
}

static void leaf_boxes(const bvh* tree, const vertex_box* boxes, box8* node, int begin, int end)
{
    switch (tree->arity)
    {
    case 1:
        leaf_boxes_of(tree, boxes, node, begin, end, 1);
        break;
    case 2:
        leaf_boxes_of(tree, boxes, node, begin, end, 2);
        break;
    default:
        leaf_boxes_of(tree, boxes, node, begin, end, 3);
    }
}

static void inner_boxes(const bvh* tree, box8* node, int level, int begin, int end)
{
    const box8* below = node + tree->level_start[level - 1];
    for (int n = begin; n < end; n++)
    {
        box8* here = &node[tree->level_start[level] + n];
        int lanes = int_min(BVH_WIDTH, tree->level_size[level - 1] - n * BVH_WIDTH);
        for (int k = 0; k < 6; k++)
        {
            for (int lane = 0; lane < BVH_WIDTH; lane++)
            {
                const box8* child = &below[n * BVH_WIDTH + lane];
                here->side[k][lane] = lane < lanes ? float8_largest(float8_load(child->side[k])) : -INFINITY;
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

// Of eight boxes a at once: what the sides of a target must reach so that its box may be near. Never -infinity, which
// an empty box would reach.
WIDE_INLINE void thresholds_outer(const float (*a)[8], float margin_up, float (*out)[8])
{
    for (int k = 0; k < 6; k++)
    {
        float8 sum = float8_load(a[k < 3 ? k + 3 : k - 3]) + float8_set(margin_up);
        float8 t = -(sum + (float8_abs(sum) * BOX_ROUND + BOX_TINY));
        t = float8_max(t, float8_set(-3.3e38f));
        memcpy(out[k], &t, sizeof(t));
    }
}

// What they must reach so that it certainly is. With c <= M_a + margin, a target side m_b has M_b >= m_b - 2^-20 |m_b|
// - 2 TINY, which rises with m_b; at the threshold, -c + 2^-18 |c| + 8 TINY, it is above -c.
WIDE_INLINE void thresholds_inner(const float (*a)[8], float margin_down, float (*out)[8])
{
    for (int k = 0; k < 6; k++)
    {
        float8 m = float8_load(a[k < 3 ? k + 3 : k - 3]);
        float8 c = (m - float8_abs(m) * 0x1p-20f - 8 * BOX_TINY) + margin_down;
        float8 t = float8_abs(c) * 0x1p-18f - c + 8 * BOX_TINY;
        // Sides that were put to -BOX_MAX lie below both.
        t = float8_max(t, float8_set(-2.9e38f));
        t = float8_select(m > float8_set(-2.9e38f), t, float8_set(INFINITY));
        memcpy(out[k], &t, sizeof(t));
    }
}

WIDE_INLINE void thresholds_of_lane(const float (*t)[8], int lane, float8 out[6])
{
    for (int k = 0; k < 6; k++)
    {
        out[k] = float8_set(t[k][lane]);
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
    bool failed;          // what it found is of no use
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
    int vertex[2];               // its vertices; the second is the first again where there is one
    float8 outer[12], inner[12]; // of the start, of the end
    bool rules;                  // there are rules to be asked
    size_t plain; // where groups of targets have their bodies, if the query's has one: then bodies were seen to
    bool has_box; // whether `box` is set: few queries need it
    double_box box[2];
} query;

// Lanes of the boxes at `node` that reach six thresholds; with boxes of the end as well, one of the two on every side.
WIDE_INLINE unsigned node_reach(const broad_walk* w, size_t node, const float8* threshold)
{
    const bvh* targets = w->targets;
    return w->apart ? box8_reach_one(targets->node[node].side, targets->node_end[node].side, threshold)
                    : box8_reach(targets->node[node].side, threshold);
}

// The boxes of a feature: swept, or of the start and of the end.
static void query_boxes(const broad_walk* w, const int* vertex, int count, double_box out[2])
{
    bool apart = w->apart;
    out[0] = feature_box(w->start, apart ? w->start : w->end, vertex, count);
    out[1] = apart ? feature_box(w->end, w->end, vertex, count) : out[0];
}

// Removes what the definition in double does not want: `doubtful` lanes whose boxes are not near, and what the rules
// exclude.
static unsigned look_closer(const walker* s, query* q, int group, unsigned hits, unsigned doubtful, bool rules)
{
    const broad_walk* w = s->w;
    const bvh* targets = w->targets;
    const int* a = w->queries->corner + (size_t)q->id * (size_t)w->queries->arity;
    if (doubtful && !q->has_box)
    {
        query_boxes(w, a, w->queries->arity, q->box);
        q->has_box = true;
    }
    for (unsigned left = rules ? hits : doubtful; left; left &= left - 1)
    {
        int lane = __builtin_ctz(left);
        const int* b = targets->corner + (size_t)targets->id[group * BVH_WIDTH + lane] * (size_t)targets->arity;
        bool wanted = true;
        if (doubtful >> lane & 1)
        {
            double_box box[2];
            query_boxes(w, b, targets->arity, box);
            wanted = w->apart ? boxes_near_apart(q->box, box, w->margin) : boxes_near(q->box, box, w->margin);
        }
        wanted = wanted && (!rules || cull_features_wanted(w->rules, a, w->queries->arity, b, targets->arity));
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

// One group of targets whose box the query's box reaches.
WIDE_INLINE void query_meets_group(walker* s, query* q, int group)
{
    const broad_walk* w = s->w;
    // Whether there are hits at all cannot be guessed: going on without costs less than asking.
    unsigned hits = node_reach(w, (size_t)group, q->outer) & ~unwanted(s, q, group);
    unsigned doubtful = hits & ~node_reach(w, (size_t)group, q->inner);
    bool rules = q->rules && !(q->plain && w->targets->body[q->plain + (size_t)group] >= 0);
    if (doubtful || rules)
    {
        hits = look_closer(s, q, group, hits, doubtful, rules);
    }
    if (s->room < BVH_WIDTH && !page_next(s))
    {
        return;
    }
    int found = int8_pack(w->targets->id + group * BVH_WIDTH, hits, s->out);
    s->out += found;
    s->room -= found;
    s->found += found;
}

// Eight groups of a list with their boxes, so that a query need not visit each.
typedef struct group_block
{
    box8 box, end;
    int group[BVH_WIDTH];
    int last_id[BVH_WIDTH];
} group_block;

// Blocks of the list at s->list, or NULL when there is no room for them and the numbers of all groups behind. Groups in
// which no target comes after `first_id` are left out.
static group_block* make_blocks(walker* s, const int* groups, int group_count, int first_id, int* block_count)
{
    const bvh* targets = s->w->targets;
    uintptr_t at = ((uintptr_t)s->list + 63) / 64 * 64;
    group_block* blocks = (group_block*)at;
    if ((uintptr_t)s->list_end < at || ((uintptr_t)s->list_end - at) / (sizeof(group_block) + BVH_WIDTH * sizeof(int)) <
                                           (size_t)group_count / BVH_WIDTH + 2)
    {
        s->chunk->crowded = s->failed = true;
        return NULL;
    }
    bool top = targets->level_count == 1;
    int count = 0;
    for (int k = 0; k < group_count; k++)
    {
        int g = groups[k], lane = count % BVH_WIDTH;
        if (targets->last_id[g] <= first_id)
        {
            continue;
        }
        size_t above = top ? 0 : (size_t)(targets->level_start[1] + g / BVH_WIDTH);
        const box8 *parent = &targets->node[above], *end = s->w->apart ? &targets->node_end[above] : parent;
        group_block* block = &blocks[count / BVH_WIDTH];
        for (int j = 0; j < 6; j++)
        {
            block->box.side[j][lane] = top ? INFINITY : parent->side[j][g % BVH_WIDTH];
            block->end.side[j][lane] = top ? INFINITY : end->side[j][g % BVH_WIDTH];
        }
        block->group[lane] = g;
        block->last_id[lane] = targets->last_id[g];
        count++;
    }
    *block_count = (count + BVH_WIDTH - 1) / BVH_WIDTH;
    for (; count % BVH_WIDTH; count++)
    {
        for (int j = 0; j < 6; j++)
        {
            blocks[count / BVH_WIDTH].box.side[j][count % BVH_WIDTH] = -INFINITY;
            blocks[count / BVH_WIDTH].end.side[j][count % BVH_WIDTH] = -INFINITY;
        }
    }
    return blocks;
}

// First the groups that the query's box reaches, then each of them: survivors is room for all groups, and eight more.
WIDE_INLINE void query_meets_blocks(walker* s, query* q, const group_block* blocks, int block_count, int* survivors)
{
    int count = 0;
    for (int k = 0; k < block_count; k++)
    {
        unsigned hits = s->w->apart ? box8_reach_one(blocks[k].box.side, blocks[k].end.side, q->outer)
                                    : box8_reach(blocks[k].box.side, q->outer);
        if (s->w->ascending)
        {
            hits &= int8_greater(blocks[k].last_id, q->id);
        }
        count += int8_pack(blocks[k].group, hits, survivors + count);
    }
    for (int k = 0; k < count; k++)
    {
        query_meets_group(s, q, survivors[k]);
    }
    s->tests += block_count + count;
}

static int node_body(const bvh* tree, int level, int node)
{
    bool top = level + 1 == tree->level_count;
    return top ? BODY_MIXED : tree->body[(size_t)tree->level_start[level + 1] * BVH_WIDTH + (size_t)node];
}

// Where the bodies of groups of targets start, if refine has asked all rules for this group of queries; 0: it has not.
static size_t plain_bodies(const broad_walk* w, int group)
{
    bool asked = w->rules && !w->rules->vertex_start && !w->rules->seam && w->queries->level_count > 1 &&
                 w->targets->level_count > 1 &&
                 node_body(w->queries, 0, group) >= 0; // of several obstacles one may be excluded
    return asked ? (size_t)w->targets->level_start[1] * BVH_WIDTH : 0;
}

// The eight queries of a group.
static void walk_group(walker* s, int group, const int* groups, int group_count)
{
    const bvh* queries = s->w->queries;
    const int *id = queries->id + group * BVH_WIDTH,
              *vertex = queries->vertex + (size_t)group * (size_t)(queries->arity * BVH_WIDTH);
    int lanes = int_min(BVH_WIDTH, queries->held - group * BVH_WIDTH), first_id = INT32_MAX, block_count = 0;
    for (int lane = 0; lane < lanes; lane++)
    {
        if (id[lane] >= 0)
        {
            s->w->found[id[lane]] = 0;
            first_id = int_min(first_id, id[lane]);
        }
    }
    if (group_count == 0)
    {
        return;
    }
    const group_block* blocks = make_blocks(s, groups, group_count, s->w->ascending ? first_id : -1, &block_count);
    float outer[12][8], inner[12][8];
    thresholds_outer(queries->node[group].side, s->w->margin_up, outer);
    thresholds_inner(queries->node[group].side, s->w->margin_down, inner);
    if (s->w->apart)
    {
        thresholds_outer(queries->node_end[group].side, s->w->margin_up, outer + 6);
        thresholds_inner(queries->node_end[group].side, s->w->margin_down, inner + 6);
    }
    size_t plain = plain_bodies(s->w, group);
    for (int lane = 0; lane < lanes && !s->failed; lane++)
    {
        if (id[lane] < 0)
        {
            continue;
        }
        query q; // large: what is not used is not written
        q.id = id[lane];
        q.rules = s->w->rules;
        q.plain = plain;
        q.has_box = false;
        q.vertex[0] = vertex[lane];
        q.vertex[1] = vertex[lane + (queries->arity == 2 ? BVH_WIDTH : 0)];
        thresholds_of_lane(outer, lane, q.outer);
        thresholds_of_lane(inner, lane, q.inner);
        if (s->w->apart)
        {
            thresholds_of_lane(outer + 6, lane, q.outer + 6);
            thresholds_of_lane(inner + 6, lane, q.inner + 6);
        }
        int before = s->found;
        query_meets_blocks(s, &q, blocks, block_count, (int*)(blocks + block_count));
        s->w->found[q.id] = s->found - before;
    }
}

// Outer thresholds of a query node, from its parent's boxes where it has one.
static void node_thresholds(const broad_walk* w, const box8* boxes, int level, int node, float8 out[6])
{
    const bvh* tree = w->queries;
    bool top = level + 1 == tree->level_count;
    const box8* from = &boxes[top ? tree->level_start[level] : tree->level_start[level + 1] + node / BVH_WIDTH];
    box8 all;
    for (int k = 0; top && k < 6; k++)
    {
        float8 side = float8_set(float8_largest(float8_load(from->side[k])));
        memcpy(all.side[k], &side, sizeof(side));
    }
    float outer[6][8];
    thresholds_outer(top ? all.side : from->side, w->margin_up, outer);
    thresholds_of_lane(outer, node % BVH_WIDTH, out);
}

// Children of the nodes in `list` (of `level` of the targets) that the query node's box reaches. They are put at
// s->list; returns how many, or -1 when there is no room.
static int refine(walker* s, int query_level, int query_node, int level, const int* list, int count)
{
    static const int lane_number[BVH_WIDTH] = {0, 1, 2, 3, 4, 5, 6, 7};
    const broad_walk* w = s->w;
    const bvh* targets = w->targets;
    float8 threshold[12];
    node_thresholds(w, w->queries->node, query_level, query_node, threshold);
    if (w->apart)
    {
        node_thresholds(w, w->queries->node_end, query_level, query_node, threshold + 6);
    }
    int body = w->rules ? node_body(w->queries, query_level, query_node) : BODY_MIXED;
    const smooth_rect* own = w->smooth ? &w->queries->rect[w->queries->level_start[query_level] + query_node] : NULL;
    own = own && own->grid >= 0 ? own : NULL;
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
        unsigned hits = node_reach(w, at, threshold);
        for (unsigned left = body != BODY_MIXED ? hits : 0; left; left &= left - 1)
        {
            int lane = __builtin_ctz(left);
            bool wanted = cull_bodies_wanted(w->rules, body, targets->body[at * BVH_WIDTH + (size_t)lane]);
            hits &= ~((unsigned)!wanted << lane);
        }
        for (unsigned left = own ? hits : 0; left; left &= left - 1)
        {
            int lane = __builtin_ctz(left);
            const smooth_rect* other = &targets->rect[targets->level_start[level - 1] + node * BVH_WIDTH + lane];
            hits &= ~((unsigned)smooth_apart(w->smooth, own, other) << lane);
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

// Whether queries of a node can find anything.
static bool node_asks(const broad_walk* w, int level, int node)
{
    return !w->ascending || (int64_t)node << 3 * level < w->queries->asking_groups;
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
        int child_count = node_asks(s->w, level - 1, child) ? refine(s, level - 1, child, level, list, count) : 0;
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
    *chunk = (walk_chunk){.first_page = -1, .walked = true};
    // From the top of the targets down to the level of chunks, with the boxes of the chunk's own ancestors.
    int* at = s.list;
    int count = node_asks(w, w->level, node), top = w->targets->level_count - 1;
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

// ---- ranks

// As wide as the CPU kind has them: wider ones are taken apart lane by lane.
#if defined(__AVX512F__)
enum
{
    RANK_LANES = 16
};
#elif defined(__AVX2__)
enum
{
    RANK_LANES = 8
};
#else
enum
{
    RANK_LANES = 4
};
#endif
typedef int32_t rank_vector __attribute__((vector_size(4 * RANK_LANES)));

// The place of each number is how many are smaller: no branch depends on them. `vectors` of them from `begin` on.
WIDE_INLINE void rank_some(const int* second, int count, int begin, int vectors, int* place)
{
    rank_vector value[4], rank[4];
    for (int k = 0; k < vectors; k++)
    {
        memcpy(&value[k], second + begin + RANK_LANES * k, sizeof(rank_vector));
        rank[k] = (rank_vector){0};
    }
    for (int j = 0; j < count; j++)
    {
        rank_vector all = (rank_vector){0} + second[j];
        for (int k = 0; k < vectors; k++)
        {
            rank[k] -= all < value[k];
        }
    }
    for (int k = 0; k < vectors; k++)
    {
        memcpy(place + begin + RANK_LANES * k, &rank[k], sizeof(rank_vector));
    }
}

static void rank(const int* second, int count, int first, weft_pair* out)
{
    int place[RANK_MAX];
    int begin = 0;
    for (; count - begin > 2 * RANK_LANES; begin += 4 * RANK_LANES)
    {
        rank_some(second, count, begin, 4, place);
    }
    if (count - begin > RANK_LANES)
    {
        rank_some(second, count, begin, 2, place);
    }
    else if (count - begin > 0)
    {
        rank_some(second, count, begin, 1, place);
    }
    for (int j = 0; j < count; j++)
    {
        out[place[j]] = (weft_pair){first, second[j]};
    }
}

extern const broad_kernels KERNEL_NAME(broad_kernels);
const broad_kernels KERNEL_NAME(broad_kernels) = {vertex_boxes, leaf_boxes, inner_boxes, half_perimeters, walk, rank};
