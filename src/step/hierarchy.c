// Hierarchies (hierarchy.h): levels from their parts, weights, prolongation.
#include "step/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "material/spring.h"

enum
{
    CHILD_GRAIN = 512,
    GRIDS_MAX = 64
};

// (6): 1 / (d / max d + epsilon); a child upon its parent follows that one alone.
static const double weight_epsilon = 1e-3;

weft_status parts_vertex(level_parts* p, int vertex)
{
    if (!mem_grow((void**)&p->vertices, &p->vertex_capacity, p->vertex_count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    p->vertices[p->vertex_count++] = vertex;
    return WEFT_OK;
}

weft_status parts_link(level_parts* p, int a, int b, double length)
{
    if (!mem_grow((void**)&p->links, &p->link_capacity, p->link_count + 1, sizeof(link_def)))
    {
        return WEFT_NO_MEMORY;
    }
    p->links[p->link_count++] = (link_def){.a = a, .b = b, .length = length, .is_limit = true};
    return WEFT_OK;
}

weft_status parts_bend(level_parts* p, int a, int b, double length, double width)
{
    TRY(parts_link(p, a, b, length));
    link_def* def = &p->links[p->link_count - 1];
    def->is_limit = false;
    def->is_bend = true;
    def->compliance = 1.0 / spring_bending(width > 0.0 ? width : 1.0, 0.5 * length, 0.5 * length, 0.0);
    return WEFT_OK;
}

weft_status parts_parent(level_parts* p, int child, int parent, double distance)
{
    if (!mem_grow((void**)&p->parents, &p->parent_capacity, p->parent_count + 1, sizeof(parent_def)))
    {
        return WEFT_NO_MEMORY;
    }
    p->parents[p->parent_count++] = (parent_def){child, parent, distance};
    return WEFT_OK;
}

weft_status parts_into(level_parts* p, int target)
{
    if (!mem_grow((void**)&p->into, &p->into_capacity, p->into_count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    p->into[p->into_count++] = target;
    return WEFT_OK;
}

static void parts_finish(level_parts* p)
{
    mem_free(p->into);
    mem_free(p->links);
    mem_free(p->parents);
    mem_free(p->vertices);
}

// ---- levels

static int compare_ints(const void* a, const void* b)
{
    int p = *(const int*)a, q = *(const int*)b;
    return (p > q) - (p < q);
}

void parents_weigh(double* distances, int count)
{
    double farthest = 0.0, sum = 0.0;
    for (int k = 0; k < count; k++)
    {
        farthest = fmax(farthest, distances[k]);
    }
    for (int k = 0; k < count; k++)
    {
        distances[k] = 1.0 / ((farthest > 0.0 ? distances[k] / farthest : 0.0) + weight_epsilon);
        sum += distances[k];
    }
    for (int k = 0; k < count; k++)
    {
        distances[k] /= sum;
    }
}

static void take_weights(level* l, const parent_def* parents, int first, int end)
{
    for (int k = first; k < end; k++)
    {
        l->parent[k] = parents[k].parent;
        l->weight[k] = parents[k].distance;
    }
    parents_weigh(l->weight + first, end - first);
}

static weft_status level_create(level* l, const level_parts* p, int vertex_count)
{
    l->vertex = MEM_NEW(p->vertex_count, int);
    l->child = MEM_NEW(p->parent_count, int);
    l->parent_start = MEM_NEW(p->parent_count + 1, int);
    l->parent = MEM_NEW(p->parent_count, int);
    l->weight = MEM_NEW(p->parent_count, double);
    l->into = MEM_NEW(p->into_count, int);
    if (!l->vertex || !l->child || !l->parent_start || !l->parent || !l->weight || !l->into)
    {
        return WEFT_NO_MEMORY;
    }
    l->vertex_count = p->vertex_count;
    memcpy(l->vertex, p->vertices, (size_t)p->vertex_count * sizeof(int));
    qsort(l->vertex, (size_t)p->vertex_count, sizeof(int), compare_ints);
    for (int k = 0; k < p->parent_count;)
    {
        int end = k;
        while (end < p->parent_count && p->parents[end].child == p->parents[k].child)
        {
            end++;
        }
        take_weights(l, p->parents, k, end);
        l->child[l->child_count++] = p->parents[k].child;
        l->parent_start[l->child_count] = end;
        k = end;
    }
    WEFT_VALIDATE(p->into_count == l->child_count);
    p->into_count > 0 ? memcpy(l->into, p->into, (size_t)p->into_count * sizeof(int)) : NULL;
    return links_create(&l->limits, p->links, p->link_count, vertex_count);
}

static weft_status fill(hierarchy* h, const level_parts* parts)
{
    while (h->level_count < LEVELS_MAX && parts[h->level_count].vertex_count > 0)
    {
        h->level_count++;
    }
    h->levels = MEM_NEW(h->level_count, level);
    h->coarsest = MEM_NEW(h->vertex_count, uint8_t);
    if (!h->levels || !h->coarsest)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < h->level_count; k++)
    {
        TRY(level_create(&h->levels[k], &parts[k], h->vertex_count));
        for (int v = 0; v < h->levels[k].vertex_count; v++)
        {
            h->coarsest[h->levels[k].vertex[v]] = (uint8_t)(k + 1);
        }
    }
    return WEFT_OK;
}

static weft_status make(const graph* g, const hierarchy_def* def, level_parts* parts)
{
    uint8_t *left = MEM_NEW(g->vertex_count, uint8_t), *grid = MEM_NEW(g->component_count, uint8_t);
    weft_status status = left && grid ? WEFT_OK : WEFT_NO_MEMORY;
    bool few = g->component_count <= GRIDS_MAX; // a look at each costs the vertices of all
    for (int c = 0; c < g->component_count && def->grids && few && status == WEFT_OK; c++)
    {
        bool is_grid;
        status = hierarchy_grid(g, def, c, parts, &is_grid);
        grid[c] = status == WEFT_OK && is_grid;
    }
    for (int i = 0; i < g->vertex_count && status == WEFT_OK; i++)
    {
        left[i] = !grid[g->component[i]];
    }
    status = status == WEFT_OK ? hierarchy_mesh(g, def, left, parts) : status;
    mem_free(left);
    mem_free(grid);
    return status;
}

weft_status hierarchy_create(hierarchy* h, const graph* g, const hierarchy_def* def)
{
    *h = (hierarchy){.vertex_count = g->vertex_count};
    level_parts parts[LEVELS_MAX] = {{0}};
    weft_status status = make(g, def, parts);
    status = status == WEFT_OK ? fill(h, parts) : status;
    for (int k = 0; k < LEVELS_MAX; k++)
    {
        parts_finish(&parts[k]);
    }
    return status;
}

void hierarchy_finish(hierarchy* h)
{
    for (int k = 0; k < h->level_count && h->levels; k++)
    {
        level* l = &h->levels[k];
        links_finish(&l->limits);
        mem_free(l->vertex);
        mem_free(l->child);
        mem_free(l->parent_start);
        mem_free(l->parent);
        mem_free(l->weight);
        mem_free(l->into);
    }
    mem_free(h->levels);
    mem_free(h->coarsest);
    *h = (hierarchy){0};
}

void hierarchy_hold(hierarchy* h, const double* inv_mass)
{
    const link_rule hard = {.h = 1.0};
    for (int k = 0; k < h->level_count; k++)
    {
        links_hold(&h->levels[k].limits, inv_mass);
        links_begin(&h->levels[k].limits, NULL, &hard);
    }
}

// ---- prolongation

typedef struct prolong_context
{
    const level* l;
    const double* inv_mass;
    const vec3* q;
    vec3* x;
} prolong_context;

static void prolong_chunk(void* context, int begin, int end)
{
    const prolong_context* c = context;
    for (int k = begin; k < end; k++)
    {
        vec3 move = v3(0, 0, 0);
        for (int r = c->l->parent_start[k]; r < c->l->parent_start[k + 1]; r++)
        {
            int j = c->l->parent[r];
            move = v3_madd(move, c->l->weight[r], v3_sub(c->x[j], c->q[j]));
        }
        int i = c->l->child[k];
        c->x[i] = c->inv_mass[i] > 0.0 ? v3_add(c->x[i], move) : c->x[i];
    }
}

void hierarchy_prolong(const level* l, workers* pool, const double* inv_mass, const vec3* q, vec3* x)
{
    prolong_context c = {l, inv_mass, q, x};
    parallel_for(pool, l->child_count, CHILD_GRAIN, prolong_chunk, &c);
}
