// Coarser levels of any mesh (hierarchy.h), as Mueller 2008 has them.
//
// *Particles* (6.2). All are coarse. In the order of vertices, one is made fine when it has at least k = 2 coarse
// neighbours and every fine neighbour keeps more than k: each fine one then has k parents. A pinned one is made fine
// only beside another one of the same pin, which then stays.
//
// *Constraints* (6.3). Each fine particle is collapsed into one of its coarse neighbours: the one nearest to the mean
// of all of them at rest that keeps the mesh a mesh. That is the link condition: inside the two have exactly two
// neighbours in common, along the border one; where none does, the particle stays coarse. What the fine one was linked
// with is linked with the coarse one, if it was not.
//
// It ends when a level has fewer than LEAST particles, or more than nine tenths of the last.
#include <string.h>

#include "step/hierarchy.h"

enum
{
    LEAST = 12
};

// A straight line to what is near passes over sides with ends that are farther.
static const double around = 1.5;

typedef struct near
{
    int vertex;
    double length; // m
} near;

typedef struct ring
{
    near* item;
    int count, capacity;
} ring;

typedef struct maker
{
    const graph* g;
    const hierarchy_def* def;
    ring* rings;     // [vertex_count] neighbours on the level so far
    uint8_t* coarse; // [vertex_count] 1: in the level that is made
    uint8_t* keeper; // [vertex_count] 1: a pin that stays
    int* rank;       // [vertex_count] coarse neighbours
    int* present;    // [present_count] vertices of the level before
    int present_count;
    near* saved; // neighbours of fine particles before the collapse
    int saved_count, saved_capacity;
    int* saved_start; // [vertex_count] -1: none
    int* into;        // [vertex_count] of fine particles: what they are collapsed into
    geodesic ways;
} maker;

// ---- rings

static near* ring_find(const ring* r, int vertex)
{
    for (int k = 0; k < r->count; k++)
    {
        if (r->item[k].vertex == vertex)
        {
            return &r->item[k];
        }
    }
    return NULL;
}

static weft_status ring_add(ring* r, int vertex, double length)
{
    if (!mem_grow((void**)&r->item, &r->capacity, r->count + 1, sizeof(near)))
    {
        return WEFT_NO_MEMORY;
    }
    r->item[r->count++] = (near){vertex, length};
    return WEFT_OK;
}

static void ring_remove(ring* r, int vertex)
{
    near* found = ring_find(r, vertex);
    if (found)
    {
        *found = r->item[--r->count];
    }
}

// ---- particles

static void count_coarse(maker* m)
{
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k];
        m->coarse[i] = 1;
        m->keeper[i] = 0;
        m->rank[i] = m->rings[i].count;
    }
}

// The neighbour of the same pin that stays in place of a pinned one; -1: none.
static int stand_in(const maker* m, int i)
{
    const ring* r = &m->rings[i];
    for (int k = 0; k < r->count; k++)
    {
        int j = r->item[k].vertex;
        if (m->coarse[j] && m->def->anchors[j] == m->def->anchors[i])
        {
            return j;
        }
    }
    return -1;
}

static bool may_be_fine(const maker* m, int i)
{
    const ring* r = &m->rings[i];
    bool may = m->rank[i] >= PARENTS_LEAST && !m->keeper[i];
    for (int k = 0; k < r->count && may; k++)
    {
        int j = r->item[k].vertex;
        may = m->coarse[j] || m->rank[j] > PARENTS_LEAST;
    }
    return may;
}

static void choose_fine(maker* m)
{
    count_coarse(m);
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k], other = -1;
        if (!may_be_fine(m, i))
        {
            continue;
        }
        if (m->def->anchors[i] >= 0)
        {
            other = stand_in(m, i);
            if (other < 0)
            {
                continue;
            }
            m->keeper[other] = 1;
        }
        m->coarse[i] = 0;
        for (int r = 0; r < m->rings[i].count; r++)
        {
            m->rank[m->rings[i].item[r].vertex]--;
        }
    }
}

// ---- collapse

static int in_common(const maker* m, int i, int j)
{
    int count = 0;
    for (int k = 0; k < m->rings[i].count; k++)
    {
        count += ring_find(&m->rings[j], m->rings[i].item[k].vertex) != NULL;
    }
    return count;
}

static bool is_of_sheet(const graph* g, int i)
{
    return g->fan_start[i] < g->fan_start[i + 1];
}

// Whether the mesh stays one when i goes into j. Lines and solids have no such condition.
static bool keeps_mesh(const maker* m, int i, int j)
{
    const graph* g = m->g;
    if (!is_of_sheet(g, i))
    {
        return true;
    }
    int common = in_common(m, i, j);
    return g->border[i] ? g->border[j] && common == 1 : common == 2;
}

static vec3 mean_of_coarse(const maker* m, int i)
{
    vec3 sum = v3(0, 0, 0);
    int count = 0;
    for (int k = 0; k < m->rings[i].count; k++)
    {
        int j = m->rings[i].item[k].vertex;
        if (m->coarse[j])
        {
            sum = v3_add(sum, m->g->rest[j]);
            count++;
        }
    }
    return v3_scale(1.0 / int_max(count, 1), sum);
}

// -1: none will do.
static int choose_target(const maker* m, int i)
{
    vec3 mean = mean_of_coarse(m, i);
    double nearest = INFINITY;
    int best = -1;
    for (int k = 0; k < m->rings[i].count; k++)
    {
        int j = m->rings[i].item[k].vertex;
        double distance = v3_length(v3_sub(m->g->rest[j], mean));
        bool nearer = distance < nearest || (distance == nearest && j < best);
        if (m->coarse[j] && nearer && keeps_mesh(m, i, j))
        {
            nearest = distance;
            best = j;
        }
    }
    return best;
}

static weft_status collapse(maker* m, int i, int j)
{
    ring* from = &m->rings[i];
    double across = ring_find(from, j)->length;
    ring_remove(&m->rings[j], i);
    for (int k = 0; k < from->count; k++)
    {
        near other = from->item[k];
        if (other.vertex == j)
        {
            continue;
        }
        near* linked = ring_find(&m->rings[other.vertex], j);
        if (linked)
        {
            ring_remove(&m->rings[other.vertex], i);
            continue;
        }
        *ring_find(&m->rings[other.vertex], i) = (near){j, other.length + across};
        TRY(ring_add(&m->rings[j], other.vertex, other.length + across));
    }
    from->count = 0;
    return WEFT_OK;
}

// What a fine particle's neighbours are, for its parents: who of them stays coarse is known afterwards.
static weft_status save_ring(maker* m, int i)
{
    const ring* r = &m->rings[i];
    if (!mem_grow((void**)&m->saved, &m->saved_capacity, m->saved_count + r->count + 1, sizeof(near)))
    {
        return WEFT_NO_MEMORY;
    }
    m->saved_start[i] = m->saved_count;
    m->saved[m->saved_count++] = (near){r->count, 0.0};
    memcpy(m->saved + m->saved_count, r->item, (size_t)r->count * sizeof(near));
    m->saved_count += r->count;
    return WEFT_OK;
}

static weft_status collapse_all(maker* m)
{
    m->saved_count = 0;
    for (int k = 0; k < m->present_count; k++)
    {
        TRY(m->coarse[m->present[k]] ? WEFT_OK : save_ring(m, m->present[k]));
    }
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k], j = m->coarse[i] ? -1 : choose_target(m, i);
        m->coarse[i] = m->coarse[i] || j < 0;
        m->into[i] = j;
        TRY(j >= 0 ? collapse(m, i, j) : WEFT_OK);
    }
    return WEFT_OK;
}

// ---- lengths

static weft_status measure_ways(maker* m)
{
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k];
        ring* r = &m->rings[i];
        double farthest = 0.0;
        for (int e = 0; e < r->count; e++)
        {
            farthest = fmax(farthest, r->item[e].length);
        }
        TRY(geodesic_run(&m->ways, &i, 1, around * farthest));
        for (int e = 0; e < r->count; e++)
        {
            int j = r->item[e].vertex;
            if (j > i)
            {
                r->item[e].length = fmin(r->item[e].length, m->ways.distance[j]);
                ring_find(&m->rings[j], i)->length = r->item[e].length;
            }
        }
    }
    return WEFT_OK;
}

static double length_of(const maker* m, int i, const near* to)
{
    bool pose = m->def->rule == REST_POSE;
    return pose ? v3_length(v3_sub(m->g->rest[to->vertex], m->g->rest[i])) : to->length;
}

// ---- folds

// The two that both ends of an edge are linked with, where they are two and not linked with each other.
static bool tips_of(const maker* m, int i, int j, int tip[2])
{
    int count = 0;
    for (int k = 0; k < m->rings[i].count; k++)
    {
        int other = m->rings[i].item[k].vertex;
        if (ring_find(&m->rings[j], other))
        {
            tip[count < 2 ? count : 0] = other;
            count++;
        }
    }
    return count == 2 && !ring_find(&m->rings[tip[0]], tip[1]);
}

// Whether another edge, of smaller numbers, is between the same tips.
static bool is_repeated(const maker* m, int i, int j, const int tip[2])
{
    const ring* r = &m->rings[tip[0]];
    for (int k = 0; k < r->count; k++)
    {
        int p = r->item[k].vertex;
        for (int e = 0; e < m->rings[p].count && ring_find(&m->rings[tip[1]], p); e++)
        {
            int q = m->rings[p].item[e].vertex;
            bool between = p < q && ring_find(r, q) && ring_find(&m->rings[tip[1]], q);
            if (between && (p < i || (p == i && q < j)))
            {
                return true;
            }
        }
    }
    return false;
}

// Over each edge of a sheet between the tips of its two triangles; along lines over each particle with two neighbours.
// Lengths are those of the rest pose, so that what is bent at rest stays so.
static weft_status add_folds(const maker* m, level_parts* p)
{
    const vec3* rest = m->g->rest;
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k];
        const ring* r = &m->rings[i];
        if (!is_of_sheet(m->g, i) && r->count == 2 && !ring_find(&m->rings[r->item[0].vertex], r->item[1].vertex))
        {
            int a = r->item[0].vertex, b = r->item[1].vertex;
            TRY(parts_bend(p, a, b, v3_length(v3_sub(rest[b], rest[a])), 0.0));
        }
        for (int e = 0; e < r->count && is_of_sheet(m->g, i); e++)
        {
            int j = r->item[e].vertex, tip[2];
            if (j > i && tips_of(m, i, j, tip) && !is_repeated(m, i, j, tip))
            {
                double length = v3_length(v3_sub(rest[tip[1]], rest[tip[0]]));
                TRY(length > 0.0 ? parts_bend(p, tip[0], tip[1], length, r->item[e].length) : WEFT_OK);
            }
        }
    }
    return WEFT_OK;
}

// ---- levels

static weft_status add_parents(const maker* m, level_parts* p, int i)
{
    const near* saved = m->saved + m->saved_start[i];
    for (int k = 1; k <= saved[0].vertex; k++)
    {
        int j = saved[k].vertex;
        TRY(m->coarse[j] ? parts_parent(p, i, j, saved[k].length) : WEFT_OK);
    }
    return WEFT_OK;
}

static weft_status add_level(maker* m, level_parts* p)
{
    int left = 0;
    for (int k = 0; k < m->present_count; k++)
    {
        int i = m->present[k];
        if (!m->coarse[i])
        {
            TRY(parts_into(p, m->into[i]));
            TRY(add_parents(m, p, i));
            continue;
        }
        TRY(parts_vertex(p, i));
        m->present[left++] = i;
    }
    m->present_count = left;
    TRY(m->def->rule == REST_GEODESIC ? measure_ways(m) : WEFT_OK);
    for (int k = 0; k < left; k++)
    {
        int i = m->present[k];
        for (int e = 0; e < m->rings[i].count; e++)
        {
            const near* to = &m->rings[i].item[e];
            TRY(to->vertex > i ? parts_link(p, i, to->vertex, length_of(m, i, to)) : WEFT_OK);
        }
    }
    return m->def->bends ? add_folds(m, p) : WEFT_OK;
}

static int coarse_count(const maker* m)
{
    int count = 0;
    for (int k = 0; k < m->present_count; k++)
    {
        count += m->coarse[m->present[k]];
    }
    return count;
}

static weft_status make_levels(maker* m, level_parts* parts)
{
    for (int l = 1; l < m->def->levels && m->present_count >= LEAST; l++)
    {
        int before = m->present_count;
        choose_fine(m);
        TRY(collapse_all(m));
        if (10 * coarse_count(m) > 9 * before)
        {
            break;
        }
        TRY(add_level(m, &parts[l - 1]));
    }
    return WEFT_OK;
}

static weft_status maker_begin(maker* m, const uint8_t* kept)
{
    const graph* g = m->g;
    size_t n = (size_t)g->vertex_count;
    m->rings = MEM_NEW(n, ring);
    m->coarse = MEM_NEW(n, uint8_t);
    m->keeper = MEM_NEW(n, uint8_t);
    m->rank = MEM_NEW(n, int);
    m->present = MEM_NEW(n, int);
    m->saved_start = MEM_NEW(n, int);
    m->into = MEM_NEW(n, int);
    TRY(geodesic_create(&m->ways, g));
    if (!m->rings || !m->coarse || !m->keeper || !m->rank || !m->present || !m->saved_start || !m->into)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < g->vertex_count; i++)
    {
        if (!kept[i])
        {
            continue;
        }
        m->present[m->present_count++] = i;
        for (int k = g->start[i]; k < g->start[i + 1]; k++)
        {
            TRY(ring_add(&m->rings[i], g->other[k], g->length[k]));
        }
    }
    return WEFT_OK;
}

static void maker_finish(maker* m)
{
    for (int i = 0; i < m->g->vertex_count && m->rings; i++)
    {
        mem_free(m->rings[i].item);
    }
    mem_free(m->rings);
    mem_free(m->coarse);
    mem_free(m->keeper);
    mem_free(m->rank);
    mem_free(m->present);
    mem_free(m->saved);
    mem_free(m->saved_start);
    mem_free(m->into);
    geodesic_finish(&m->ways);
}

weft_status hierarchy_mesh(const graph* g, const hierarchy_def* def, const uint8_t* kept, level_parts* parts)
{
    maker m = {.g = g, .def = def};
    weft_status status = maker_begin(&m, kept);
    status = status == WEFT_OK ? make_levels(&m, parts) : status;
    maker_finish(&m);
    return status;
}
