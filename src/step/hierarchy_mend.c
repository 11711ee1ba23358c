// A hierarchy of cloth that has torn (hierarchy.h). The paper takes away all parents and links of what was split, and
// of its parents, and theirs (section 8), which leaves cloth around a cut weaker than it should be (section 10). Here
// only what crosses the cut changes:
//
//   a copy is on the levels of what it was torn off from;
//   a link whose way along the rest shape passes a split vertex is measured again: it keeps its length where the way is
//   still there, gets that of the way round the cut where this is at most half as long again, and goes otherwise; what
//   becomes of a link is as compliant as its length says, and all of it together as stiff as it was;
//   so does a parent of a child, whose weights are then those of the ways that are left. A child that loses all of them
//   gets the nearest particles of the level that are in its piece; where there are none it has no parent, as its piece
//   ends below that level.
//
// A straight line from a to b is not longer than a way, so that what passes within e of a split vertex has
// |a - v| + |v - b| <= length + 2 e: all else is not looked at.
#include <string.h>

#include "step/hierarchy.h"

static const double same = 1e-9;    // of a length: what differs by less is the same
static const double round_by = 1.5; // of a way: what is longer round the cut goes
static const double good_by = 1.05; // of a way: a line that is no longer is not searched for a shorter one

typedef struct change
{
    int child, first, count; // places of its parents
} change;

typedef struct mender
{
    hierarchy* h;
    const graph* g;
    const int* from;
    int before, count; // vertices that there were, and that were torn off
    vec3 middle;       // of all cuts
    double radius;     // m, of them, with the longest edge
    double edge;       // m, the longest one at a split vertex
    bool flat;         // edges at cuts are as long as in the rest pose
    int level;         // that is mended
    geodesic ways;
    link_def *gone, *come;
    int gone_count, gone_capacity, come_count, come_capacity;
    change* changes; // of children
    int change_count, change_capacity;
    int* parent;
    double* weight;
    int parent_count, parent_capacity, weight_capacity;
} mender;

static vec3 rest_of(const mender* m, int vertex)
{
    return m->g->rest[vertex];
}

static double apart(const mender* m, int a, int b)
{
    return v3_length(v3_sub(rest_of(m, b), rest_of(m, a)));
}

static bool is_split(const mender* m, int vertex)
{
    bool split = false;
    for (int k = 0; k < m->count; k++)
    {
        split = split || m->from[k] == vertex;
    }
    return split;
}

// What a vertex was split into: itself and its copies, from k = 0 on; -1: there are no more.
static int part_of(const mender* m, int vertex, int k)
{
    for (int c = 0; c < m->count && k > 0; c++)
    {
        k -= m->from[c] == vertex;
        if (k == 0)
        {
            return m->before + c;
        }
    }
    return k == 0 ? vertex : -1;
}

// Whether a way of this length from a to b can pass over a cut.
static bool is_near(const mender* m, int a, int b, double length)
{
    vec3 x = rest_of(m, a), y = rest_of(m, b);
    if (v3_length(v3_sub(m->middle, x)) + v3_length(v3_sub(m->middle, y)) > length + 2.0 * m->radius)
    {
        return false;
    }
    bool found = false;
    for (int k = 0; k < m->count && !found; k++)
    {
        vec3 v = rest_of(m, m->from[k]);
        found = v3_length(v3_sub(v, x)) + v3_length(v3_sub(v, y)) <= length + 2.0 * m->edge;
    }
    return found;
}

// How long the way is that was `length`; infinite: there is none, or it is too long.
static weft_status measure(mender* m, int a, int b, double length, double* out)
{
    // A cut makes no way shorter, so that a line which is hardly longer is the way, or as good. One that is shorter
    // says that lengths are not those of the rest pose.
    double line = INFINITY;
    way_kind kind = m->flat ? straight_way(m->g, a, b, round_by * length, &line) : WAY_UNKNOWN;
    line = line >= length * (1.0 - same) ? line : INFINITY;
    if (line <= good_by * length)
    {
        *out = line <= length * (1.0 + same) ? length : line;
        return WEFT_OK;
    }
    // What was straight and is blocked is longer than it was.
    bool longer = kind == WAY_BLOCKED && length <= apart(m, a, b) * (1.0 + same);
    TRY(longer ? WEFT_OK : geodesic_between(&m->ways, a, b, length * (1.0 + same), out));
    if (!longer && *out < INFINITY)
    {
        *out = length;
        return WEFT_OK;
    }
    TRY(geodesic_between(&m->ways, a, b, fmin(line, round_by * length), out));
    *out = line <= round_by * length ? fmin(line, *out) : *out; // a search goes along edges behind corners
    return WEFT_OK;
}

// ---- links

static weft_status link_put(link_def** list, int* count, int* capacity, link_def def)
{
    if (!mem_grow((void**)list, capacity, *count + 1, sizeof(link_def)))
    {
        return WEFT_NO_MEMORY;
    }
    (*list)[(*count)++] = def;
    return WEFT_OK;
}

// A fold is over what lies on the line between its ends: it stays where that is whole, and goes elsewhere.
static bool is_whole(const mender* m, int a, int b)
{
    double line, most = apart(m, a, b) * (1.0 + same);
    return straight_way(m->g, a, b, most, &line) != WAY_UNKNOWN && line <= most;
}

static weft_status mend_link(mender* m, const link_def* was)
{
    bool ends = is_split(m, was->a) || is_split(m, was->b);
    int first = m->come_count;
    for (int p = 0, a; (a = part_of(m, was->a, p)) >= 0; p++)
    {
        for (int q = 0, b; (b = part_of(m, was->b, q)) >= 0; q++)
        {
            link_def def = *was;
            def.a = a;
            def.b = b;
            def.length = was->length;
            TRY(was->is_bend ? WEFT_OK : measure(m, a, b, was->length, &def.length));
            def.length = was->is_bend && !is_whole(m, a, b) ? INFINITY : def.length;
            if (!ends && def.length == was->length)
            {
                return WEFT_OK;
            }
            TRY(def.length < INFINITY ? link_put(&m->come, &m->come_count, &m->come_capacity, def) : WEFT_OK);
        }
    }
    // All together are as stiff as it was, each as stiff as its length says: a split particle has its mass and its
    // cloth in parts, and its speed of waves in all of them.
    for (int k = first; k < m->come_count; k++)
    {
        double longer = m->come[k].length / was->length;
        m->come[k].compliance *= longer * longer * (m->come_count - first);
    }
    return link_put(&m->gone, &m->gone_count, &m->gone_capacity, *was);
}

static weft_status mend_links(mender* m, links* l)
{
    m->gone_count = m->come_count = 0;
    for (int k = 0; k < l->count; k++)
    {
        TRY(is_near(m, l->a[k], l->b[k], l->length[k]) ? mend_link(m, &l->def[k]) : WEFT_OK);
    }
    link_change change = {m->gone, m->come, m->gone_count, m->come_count};
    return links_mend(l, &change, m->g->vertex_count);
}

// ---- parents

static weft_status parent_put(mender* m, int parent, double distance)
{
    int need = m->parent_count + 1;
    if (!mem_grow((void**)&m->parent, &m->parent_capacity, need, sizeof(int)) ||
        !mem_grow((void**)&m->weight, &m->weight_capacity, need, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    m->parent[m->parent_count] = parent;
    m->weight[m->parent_count++] = distance;
    return WEFT_OK;
}

// The nearest two particles of the level in the child's piece.
static weft_status search_parents(mender* m, int child)
{
    int reached = -1, found[PARENTS_LEAST] = {-1, -1};
    for (double radius = 4.0 * m->g->longest; found[0] < 0; radius *= 2.0)
    {
        TRY(geodesic_run(&m->ways, &child, 1, radius));
        for (int k = 0; k < m->ways.reached_count; k++)
        {
            int i = m->ways.reached[k];
            const double* d = m->ways.distance;
            if (i == child || m->h->coarsest[i] < m->level)
            {
                continue;
            }
            bool first = found[0] < 0 || d[i] < d[found[0]] || (d[i] == d[found[0]] && i < found[0]);
            bool second = found[1] < 0 || d[i] < d[found[1]] || (d[i] == d[found[1]] && i < found[1]);
            found[1] = first ? found[0] : second ? i : found[1];
            found[0] = first ? i : found[0];
        }
        if (m->ways.reached_count == reached)
        {
            break; // that is all of its piece
        }
        reached = m->ways.reached_count;
    }
    for (int k = 0; k < PARENTS_LEAST; k++)
    {
        TRY(found[k] >= 0 ? parent_put(m, found[k], m->ways.distance[found[k]]) : WEFT_OK);
    }
    return WEFT_OK;
}

// Parents of a child, from those of the child that it was torn off from, or its own; *touched: they are others now.
static weft_status mend_parents(mender* m, int child, const int* parents, int count, bool* touched)
{
    int first = m->parent_count;
    for (int r = 0; r < count; r++)
    {
        for (int q = 0, p; (p = part_of(m, parents[r], q)) >= 0; q++)
        {
            double straight = apart(m, child, p), distance;
            TRY(measure(m, child, p, straight, &distance));
            TRY(distance < INFINITY ? parent_put(m, p, distance) : WEFT_OK);
            *touched = *touched || distance != straight || q > 0;
        }
    }
    TRY(m->parent_count == first ? search_parents(m, child) : WEFT_OK);
    if (!*touched)
    {
        m->parent_count = first;
        return WEFT_OK;
    }
    if (!mem_grow((void**)&m->changes, &m->change_capacity, m->change_count + 1, sizeof(change)))
    {
        return WEFT_NO_MEMORY;
    }
    parents_weigh(m->weight + first, m->parent_count - first);
    m->changes[m->change_count++] = (change){child, first, m->parent_count - first};
    return WEFT_OK;
}

// A child that is upon its cut, or has a parent beyond one.
static bool child_is_near(const mender* m, int child, const int* parents, int count)
{
    bool near = is_split(m, child);
    for (int r = 0; r < count && !near; r++)
    {
        near = is_near(m, child, parents[r], apart(m, child, parents[r]));
    }
    return near;
}

static weft_status find_changes(mender* m, const level* l)
{
    m->change_count = m->parent_count = 0;
    for (int k = 0; k < l->child_count; k++)
    {
        int child = l->child[k], first = l->parent_start[k], count = l->parent_start[k + 1] - first;
        bool touched = count == 0;
        if (!child_is_near(m, child, l->parent + first, count))
        {
            continue;
        }
        TRY(mend_parents(m, child, l->parent + first, count, &touched));
    }
    for (int k = 0; k < l->child_count; k++)
    {
        int first = l->parent_start[k], count = l->parent_start[k + 1] - first;
        for (int c = 1, copy; is_split(m, l->child[k]) && (copy = part_of(m, l->child[k], c)) >= 0; c++)
        {
            bool touched = true;
            TRY(mend_parents(m, copy, l->parent + first, count, &touched));
        }
    }
    return WEFT_OK;
}

static void child_put(level* l, int child, const int* parent, const double* weight, int count)
{
    int first = l->parent_start[l->child_count];
    memcpy(l->parent + first, parent, (size_t)count * sizeof(int));
    memcpy(l->weight + first, weight, (size_t)count * sizeof(double));
    l->child[l->child_count++] = child;
    l->parent_start[l->child_count] = first + count;
}

static weft_status apply_changes(const mender* m, level* l)
{
    int children = l->child_count + m->change_count, parents = l->parent_start[l->child_count] + m->parent_count,
        at = 0;
    level to = {.child = MEM_NEW(children, int),
                .parent_start = MEM_NEW(children + 1, int),
                .parent = MEM_NEW(parents, int),
                .weight = MEM_NEW(parents, double)};
    bool ok = to.child && to.parent_start && to.parent && to.weight;
    for (int k = 0; k < l->child_count && ok; k++)
    {
        int first = l->parent_start[k], count = l->parent_start[k + 1] - first;
        const change* c = at < m->change_count && m->changes[at].child == l->child[k] ? &m->changes[at++] : NULL;
        c ? child_put(&to, c->child, m->parent + c->first, m->weight + c->first, c->count)
          : child_put(&to, l->child[k], l->parent + first, l->weight + first, count);
    }
    for (; at < m->change_count && ok; at++)
    {
        const change* c = &m->changes[at];
        child_put(&to, c->child, m->parent + c->first, m->weight + c->first, c->count);
    }
    level drop = ok ? *l : to;
    mem_free(drop.child);
    mem_free(drop.parent_start);
    mem_free(drop.parent);
    mem_free(drop.weight);
    mem_free(l->into);
    l->into = NULL;
    if (ok)
    {
        l->child = to.child;
        l->parent_start = to.parent_start;
        l->parent = to.parent;
        l->weight = to.weight;
        l->child_count = to.child_count;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- levels

static weft_status add_copies(mender* m, level* l)
{
    int count = l->vertex_count, *grown = MEM_NEW(count + m->count, int);
    if (!grown)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(grown, l->vertex, (size_t)count * sizeof(int));
    for (int k = 0; k < m->count; k++)
    {
        grown[count] = m->before + k;
        count += m->h->coarsest[m->before + k] >= m->level;
    }
    mem_free(l->vertex);
    l->vertex = grown;
    l->vertex_count = count;
    return WEFT_OK;
}

static weft_status mend_level(mender* m, level* l)
{
    TRY(add_copies(m, l));
    TRY(mend_links(m, &l->limits));
    TRY(find_changes(m, l));
    return m->change_count > 0 ? apply_changes(m, l) : WEFT_OK;
}

static void find_cuts(mender* m)
{
    m->flat = true;
    for (int k = 0; k < m->count; k++)
    {
        const int both[2] = {m->from[k], m->before + k};
        m->middle = v3_madd(m->middle, 1.0 / m->count, rest_of(m, m->from[k]));
        for (int e = 0; e < 2; e++)
        {
            for (int r = m->g->start[both[e]]; r < m->g->start[both[e] + 1]; r++)
            {
                double posed = apart(m, both[e], m->g->other[r]);
                m->edge = fmax(m->edge, m->g->length[r]);
                m->flat = m->flat && fabs(posed - m->g->length[r]) <= 1e-7 * posed;
            }
        }
    }
    for (int k = 0; k < m->count; k++)
    {
        m->radius = fmax(m->radius, v3_length(v3_sub(rest_of(m, m->from[k]), m->middle)) + m->edge);
    }
}

static weft_status mend_all(mender* m)
{
    hierarchy* h = m->h;
    uint8_t* coarsest = MEM_NEW(m->g->vertex_count, uint8_t);
    if (!coarsest)
    {
        return WEFT_NO_MEMORY;
    }
    memcpy(coarsest, h->coarsest, (size_t)m->before);
    for (int k = 0; k < m->count; k++)
    {
        coarsest[m->before + k] = coarsest[m->from[k]];
    }
    mem_free(h->coarsest);
    h->coarsest = coarsest;
    h->vertex_count = m->g->vertex_count;
    TRY(geodesic_create(&m->ways, m->g));
    find_cuts(m);
    for (int k = 0; k < h->level_count; k++)
    {
        m->level = k + 1;
        TRY(mend_level(m, &h->levels[k]));
    }
    return WEFT_OK;
}

weft_status hierarchy_mend(hierarchy* h, const graph* g, int before, const int* from)
{
    mender m = {.h = h, .g = g, .before = before, .from = from, .count = g->vertex_count - before};
    weft_status status = h->coarsest ? mend_all(&m) : WEFT_OK;
    geodesic_finish(&m.ways);
    mem_free(m.gone);
    mem_free(m.come);
    mem_free(m.changes);
    mem_free(m.parent);
    mem_free(m.weight);
    return status;
}
