// A core that is outside of garments although the body goes through their walls: the lines of the body's tree
// (dress_tree.c), seen from the trunk. A limb that meets cloth, other than through an opening wide enough for it, is
// led from where it branches off through the inside to the opening that it ends nearest to, along the middle of the
// sleeve (dress_way.c), and on from there where nothing is in the way; or it is drawn back to where it branches off,
// when that is outside. Places keep their distance along the limb. A body that grows from there has its arms in the
// sleeves, as it would by being put on.
//
// The trunk is the widest node that is inside of the most garments; garments that it is not in are walls alone.
#include <string.h>

#include "core/way_heap.h"
#include "start/dress_walls.h"

enum
{
    TURNS = 12 // tries to bring a node into sight
};

static const double others = 0.5;       // of a limb's area: where as much else branches off it ends
static const double most_within = 0.85; // of a limb's length: a hand that has to find its way out would be caught
// Of the way along the limb: how far an opening may be from there at most.
static const double most_turn = 1.0;

typedef struct threading
{
    body_tree tree;
    walls walls;
    int root;
    int *near_start, *near;  // [node_count + 1], [2 * link_count]
    int *order, order_count; // [node_count] nodes from the root on
    int* parent;             // [node_count] -1: root, or not reached
    double *way, *area;      // [node_count] m from the root; m^2 of what hangs on it
    double* link;            // [node_count] m, to the parent; scratch
    way_heap heap;
    unsigned char* moved;  // [node_count] of the limb under way or one before
    vec3* place;           // [node_count]
    unsigned char* inside; // [garment_count] the trunk is
    unsigned char* stay;   // [garment_count] the way has to
    unsigned char* taken;  // [opening_count] another limb goes through it
    int* led;              // [opening_count] the first node of a limb that was led to it; -1: none
} threading;

static bool allocate(threading* t)
{
    size_t n = (size_t)t->tree.node_count, g = (size_t)t->walls.garment_count;
    t->near_start = MEM_NEW(n + 1, int);
    t->near = MEM_NEW(2 * (size_t)t->tree.link_count + 1, int);
    t->order = MEM_NEW(n, int);
    t->parent = MEM_NEW(n, int);
    t->way = MEM_NEW(n, double);
    t->area = MEM_NEW(n, double);
    t->link = MEM_NEW(n, double);
    t->moved = MEM_NEW(n, unsigned char);
    t->place = MEM_NEW(n, vec3);
    t->inside = MEM_NEW(g, unsigned char);
    t->stay = MEM_NEW(g, unsigned char);
    t->taken = MEM_NEW(t->walls.opening_count + 1, unsigned char);
    t->led = MEM_NEW(t->walls.opening_count + 1, int);
    return t->near_start && t->near && t->order && t->parent && t->way && t->area && t->link && t->moved && t->place &&
           t->inside && t->stay && t->taken && t->led;
}

static void finish(threading* t)
{
    void* const arrays[] = {t->near_start, t->near,  t->order,  t->parent, t->way,   t->area, t->link,
                            t->moved,      t->place, t->inside, t->stay,   t->taken, t->led};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
    way_heap_finish(&t->heap);
    body_tree_finish(&t->tree);
    walls_finish(&t->walls);
}

// ---- the tree from the trunk

static void choose_root(threading* t)
{
    int most = 0;
    t->root = -1;
    for (int n = 0; n < t->tree.node_count; n++)
    {
        int count = 0;
        for (int g = 0; g < t->walls.garment_count; g++)
        {
            count += walls_hold(&t->walls, g, t->tree.place[n]);
        }
        bool better = count > most || (count == most && t->root >= 0 && t->tree.radius[n] > t->tree.radius[t->root]);
        t->root = better ? n : t->root;
        most = better ? count : most;
    }
    for (int g = 0; g < t->walls.garment_count && t->root >= 0; g++)
    {
        t->inside[g] = walls_hold(&t->walls, g, t->tree.place[t->root]);
    }
}

static void list_near(threading* t)
{
    const body_tree* tree = &t->tree;
    for (int k = 0; k < 2 * tree->link_count; k++)
    {
        t->near_start[tree->link[k] + 1]++;
    }
    for (int n = 0; n < tree->node_count; n++)
    {
        t->near_start[n + 1] += t->near_start[n];
        t->order[n] = t->near_start[n]; // scratch
    }
    for (int k = 0; k < 2 * tree->link_count; k++)
    {
        t->near[t->order[tree->link[k]]++] = tree->link[k ^ 1];
    }
}

// Nodes by the shortest links (Prim's tree): what lies beside a limb hangs on it, and not on the trunk far away.
static weft_status walk_tree(threading* t)
{
    const body_tree* tree = &t->tree;
    for (int n = 0; n < tree->node_count; n++)
    {
        t->parent[n] = -1;
        t->area[n] = tree->area[n];
        t->link[n] = INFINITY;
    }
    t->link[t->root] = -1.0; // it is in
    TRY(way_heap_push(&t->heap, (way){0.0, t->root}));
    while (t->heap.count > 0)
    {
        int n = way_heap_pop(&t->heap).vertex;
        if (n != t->root && t->link[n] < 0.0)
        {
            continue;
        }
        t->way[n] = n == t->root ? 0.0 : t->way[t->parent[n]] + t->link[n];
        t->link[n] = -1.0;
        t->order[t->order_count++] = n;
        for (int j = t->near_start[n]; j < t->near_start[n + 1]; j++)
        {
            int next = t->near[j];
            double length = v3_length(v3_sub(tree->place[next], tree->place[n]));
            if (length < t->link[next])
            {
                t->parent[next] = n;
                t->link[next] = length;
                TRY(way_heap_push(&t->heap, (way){length, next}));
            }
        }
    }
    for (int k = t->order_count - 1; k > 0; k--)
    {
        t->area[t->parent[t->order[k]]] += t->area[t->order[k]];
    }
    return WEFT_OK;
}

// ---- a limb

// The first node of the limb that a node is of.
static int limb_of(const threading* t, int node)
{
    for (int up = t->parent[node]; up != t->root; up = t->parent[node])
    {
        if (t->area[up] - t->tree.area[up] - t->area[node] > others * t->area[node])
        {
            break;
        }
        node = up;
    }
    return node;
}

// Marks what hangs on the first node of a limb; returns its length from where it branches off.
static double mark_limb(threading* t, int first, unsigned char* of)
{
    double from = t->way[t->parent[first]], longest = 0.0;
    memset(of, 0, (size_t)t->tree.node_count);
    of[first] = 1;
    for (int k = 0; k < t->order_count; k++)
    {
        int n = t->order[k];
        of[n] = of[n] || (t->parent[n] >= 0 && of[t->parent[n]]);
        longest = of[n] ? fmax(longest, t->way[n] - from) : longest;
    }
    return longest;
}

// Openings that other parts of the body go through where they are, and those to which other limbs were led.
static void list_taken(threading* t, const unsigned char* of)
{
    for (int k = 0; k < t->walls.opening_count; k++)
    {
        t->taken[k] = t->led[k] >= 0 && !of[t->led[k]];
    }
    for (int k = 1; k < t->order_count; k++)
    {
        int n = t->order[k];
        bool other = !of[n] && !t->moved[n];
        int through = other ? walls_opening(&t->walls, t->tree.place[t->parent[n]], t->tree.place[n]) : -1;
        through >= 0 ? (void)(t->taken[through] = 1) : (void)0;
    }
}

// Where the limb leaves a garment: the opening, wide enough for it, that it would have to turn least for; those that
// are free count twice. *at: where along the limb that is.
static int find_exit(const threading* t, int garment, const unsigned char* of, double from, double* at)
{
    int best = -1;
    double least = most_turn;
    for (int k = 0; k < t->walls.opening_count; k++)
    {
        const opening* o = &t->walls.openings[k];
        for (int n = 0; n < t->tree.node_count && o->garment == garment; n++)
        {
            double off = v3_length(v3_sub(t->tree.place[n], o->middle));
            double turn = (t->taken[k] ? 2.0 : 1.0) * off / (t->way[n] - from);
            bool better = of[n] && turn < least && opening_admits(o, t->tree.radius[n]);
            best = better ? k : best;
            *at = better ? t->way[n] : *at;
            least = better ? turn : least;
        }
    }
    return best;
}

// The way through the openings of all garments that the limb leaves, one after the other.
static weft_status find_way(threading* t, const unsigned char* of, int from, thread_way* way, int* last)
{
    int garments = t->walls.garment_count;
    TRY(thread_add(way, t->place[from]));
    list_taken(t, of);
    *last = -1;
    memcpy(t->stay, t->inside, (size_t)garments);
    for (int turn = 0; turn < garments; turn++)
    {
        int next = -1;
        double first = INFINITY, at;
        for (int g = 0; g < garments; g++)
        {
            int k = t->stay[g] ? find_exit(t, g, of, t->way[from], &at) : -1;
            next = k >= 0 && at < first ? k : next;
            first = k >= 0 ? fmin(first, at) : first;
        }
        bool found = false;
        TRY(next >= 0 ? walls_find_way(&t->walls, &t->walls.openings[next], t->stay, way, &found) : WEFT_OK);
        if (!found)
        {
            *last = next >= 0 ? -1 : *last; // one that it cannot reach
            return WEFT_OK;
        }
        *last = next;
        t->stay[t->walls.openings[next].garment] = 0;
    }
    return WEFT_OK;
}

static double length_of(const thread_way* way)
{
    double sum = 0.0;
    for (int k = 1; k < way->count; k++)
    {
        sum += v3_length(v3_sub(way->point[k], way->point[k - 1]));
    }
    return sum;
}

// Beyond the last opening: straight out, or to where the limb ends, as far as nothing is in the way.
static weft_status lead_on(threading* t, const opening* o, vec3 end, double rest, thread_way* way)
{
    vec3 to_end = v3_normalize(v3_sub(end, o->middle));
    const vec3 ways[3] = {v3_normalize(v3_add(o->out, to_end)), o->out, to_end};
    for (double share = 1.0; share > 0.01; share *= 0.5)
    {
        for (int k = 0; k < 3; k++)
        {
            vec3 to = v3_madd(o->middle, share * rest, ways[k]);
            if (v3_dot(ways[k], o->out) > 0.2 && !walls_hit(&t->walls, o->middle, to))
            {
                return thread_add(way, to);
            }
        }
    }
    return WEFT_OK;
}

static vec3 point_at(const thread_way* way, double at)
{
    for (int k = 1; k < way->count; k++)
    {
        vec3 step = v3_sub(way->point[k], way->point[k - 1]);
        double length = v3_length(step);
        if (at <= length && length > 0.0)
        {
            return v3_madd(way->point[k - 1], at / length, step);
        }
        at -= length;
    }
    return way->point[way->count - 1];
}

// Where along the way a node goes that is so far along the limb. Up to `begin` the limb hangs together with the rest,
// and keeps to the first stretch; from there it takes what is left of the way to the opening; beyond that it may have
// less room than it is long, and is drawn together there.
typedef struct laying
{
    double begin, within, length; // m along the limb: see above, where it leaves the opening, all of it
    double stretch, inner, whole; // m along the way: likewise
} laying;

static double lay_at(const laying* l, double at)
{
    double rest = fmin(1.0, (l->whole - l->inner) / fmax(l->length - l->within, 1e-300));
    return at <= l->begin   ? at / fmax(l->begin, 1e-300) * l->stretch
           : at > l->within ? l->inner + (at - l->within) * rest
                            : l->stretch + (at - l->begin) * (l->inner - l->stretch) / (l->within - l->begin);
}

// Nodes one after the other: what links them is a straight line, so each is in sight of those that it touches.
static void lay(threading* t, const unsigned char* of, int from, const thread_way* way, const laying* l)
{
    t->link[from] = 0.0; // here: where along the way
    for (int k = 0; k < t->order_count; k++)
    {
        int n = t->order[k];
        if (!of[n])
        {
            continue;
        }
        double least = t->link[t->parent[n]], most = lay_at(l, t->way[n] - t->way[from]), at = most;
        for (int turn = 0; turn < TURNS; turn++)
        {
            t->place[n] = point_at(way, at);
            if (!walls_hit(&t->walls, t->place[t->parent[n]], t->place[n]))
            {
                break;
            }
            at = fmin(at, least) + 0.7 * fabs(at - least);
        }
        t->link[n] = at;
    }
}

// Whether links of the limb with the rest of the body are out of sight: they become straight lines.
static bool is_cut_off(threading* t, const unsigned char* of)
{
    bool cut = false;
    for (int k = 0; k < t->tree.link_count && !cut; k++)
    {
        int a = t->tree.link[2 * k], b = t->tree.link[2 * k + 1];
        cut = of[a] != of[b] && walls_hit(&t->walls, t->place[a], t->place[b]);
    }
    return cut;
}

static void lay_along(threading* t, int first, const unsigned char* of, const thread_way* way, double inner,
                      double length)
{
    int from = t->parent[first];
    laying l = {.within = fmin(inner, most_within * length), .inner = inner, .whole = length_of(way), .length = length};
    for (int k = 0; k < 2 * t->tree.link_count; k++)
    {
        int n = t->tree.link[k];
        l.begin = of[n] && !of[t->tree.link[k ^ 1]] ? fmax(l.begin, t->way[n] - t->way[from]) : l.begin;
    }
    l.begin = fmin(l.begin, 0.9 * l.within);
    l.stretch = fmin(l.begin, 0.9 * inner);
    for (lay(t, of, from, way, &l); l.stretch > 0.01 * l.begin && is_cut_off(t, of); lay(t, of, from, way, &l))
    {
        l.stretch *= 0.8;
    }
    for (int n = 0; n < t->tree.node_count; n++)
    {
        t->moved[n] = t->moved[n] || of[n];
    }
}

static vec3 end_of(const threading* t, const unsigned char* of)
{
    int last = t->root;
    for (int n = 0; n < t->tree.node_count; n++)
    {
        last = of[n] && (last == t->root || t->way[n] > t->way[last]) ? n : last;
    }
    return t->tree.place[last];
}

static weft_status move_limb(threading* t, int first, unsigned char* of)
{
    int from = t->parent[first], last = -1;
    double length = mark_limb(t, first, of);
    bool inside = false;
    for (int g = 0; g < t->walls.garment_count; g++)
    {
        inside = inside || (t->inside[g] && walls_hold(&t->walls, g, t->tree.place[from]));
    }
    thread_way way = {0};
    weft_status status = inside ? find_way(t, of, from, &way, &last) : thread_add(&way, t->place[from]);
    double inner = length_of(&way);
    if (status == WEFT_OK && last >= 0)
    {
        double rest = length - fmin(inner, most_within * length);
        status = lead_on(t, &t->walls.openings[last], end_of(t, of), rest, &way);
    }
    last >= 0 ? (void)(t->led[last] = first) : (void)0;
    way.count = last < 0 ? int_min(way.count, 1) : way.count; // no opening: it is drawn back
    inner = last < 0 ? 0.0 : inner;
    status == WEFT_OK ? lay_along(t, first, of, &way, inner, length) : (void)0;
    mem_free(way.point);
    return status;
}

// ---- all of them

static weft_status move_limbs(threading* t)
{
    unsigned char* of = MEM_NEW(t->tree.node_count, unsigned char);
    weft_status status = of ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 1; k < t->order_count && status == WEFT_OK; k++)
    {
        int n = t->order[k];
        vec3 a = t->tree.place[t->parent[n]], b = t->tree.place[n];
        bool barred = !t->moved[n] && walls_bar(&t->walls, a, b, fmin(t->tree.radius[n], t->tree.radius[t->parent[n]]));
        status = barred ? move_limb(t, limb_of(t, n), of) : WEFT_OK;
    }
    mem_free(of);
    return status;
}

static weft_status run(threading* t, const thread_case* all, vec3* core, bool* threaded)
{
    TRY(body_tree_create(&t->tree, all->triangle, all->triangle_count, all->x, all->vertex_count));
    TRY(walls_create(&t->walls, all->cloths, all->cloth_count));
    TRY(t->tree.node_count == 0 || allocate(t) ? WEFT_OK : WEFT_NO_MEMORY);
    t->tree.node_count > 0 ? choose_root(t) : (void)(t->root = -1);
    if (t->root < 0)
    {
        return WEFT_OK;
    }
    for (int k = 0; k < t->walls.opening_count; k++)
    {
        t->led[k] = -1;
    }
    list_near(t);
    TRY(walk_tree(t));
    memcpy(t->place, t->tree.place, (size_t)t->tree.node_count * sizeof(vec3));
    TRY(move_limbs(t));
    for (int i = 0; i < all->vertex_count; i++)
    {
        core[i] = t->tree.node[i] >= 0 ? t->place[t->tree.node[i]] : all->x[i];
    }
    *threaded = true;
    return WEFT_OK;
}

weft_status core_thread(const thread_case* all, vec3* core, bool* threaded)
{
    threading t = {0};
    *threaded = false;
    weft_status status = run(&t, all, core, threaded);
    finish(&t);
    return status;
}
