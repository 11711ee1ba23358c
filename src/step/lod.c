// Coarser meshes for display: levels of a hierarchy (hierarchy.h) of a mesh alone, without pins. What is collapsed into
// one vertex is one vertex, and triangles of which two corners are one are gone: under the link condition the rest is a
// mesh again, and on grids a coarser grid.
#include "step/hierarchy.h"

// The plane of each triangle, as models have rest shapes.
static void flatten(const mesh* m, vec2* rest)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        vec3 u = v3_sub(m->position[v[1]], m->position[v[0]]), w = v3_sub(m->position[v[2]], m->position[v[0]]);
        double length = v3_length(u), along = length > 0.0 ? v3_dot(u, w) / length : 0.0;
        rest[3 * t] = (vec2){0.0, 0.0};
        rest[3 * t + 1] = (vec2){length, 0.0};
        rest[3 * t + 2] = (vec2){along, sqrt(fmax(v3_dot(w, w) - along * along, 0.0))};
    }
}

// Coarse levels first: a target that is itself a child of a coarser level then knows where it ends.
static void follow(const hierarchy* h, int level, int* out)
{
    for (int i = 0; i < h->vertex_count; i++)
    {
        out[i] = i;
    }
    for (int k = int_min(level, h->level_count) - 1; k >= 0; k--)
    {
        const struct level* l = &h->levels[k];
        for (int c = 0; c < l->child_count; c++)
        {
            out[l->child[c]] = out[l->into[c]];
        }
    }
}

weft_status lod_collapse(const mesh* m, int level, int* out, int* levels)
{
    model shape = {.vertex_count = m->vertex_count,
                   .triangle = m->triangle,
                   .triangle_count = m->triangle_count,
                   .rest = m->position};
    graph g = {0};
    hierarchy h = {0};
    int* free_all = MEM_NEW(m->vertex_count, int);
    shape.triangle_rest = MEM_NEW(3 * (size_t)m->triangle_count, vec2);
    weft_status status = free_all && shape.triangle_rest ? WEFT_OK : WEFT_NO_MEMORY;
    for (int i = 0; i < m->vertex_count && free_all; i++)
    {
        free_all[i] = -1; // nothing is held
    }
    status == WEFT_OK ? flatten(m, shape.triangle_rest) : (void)0;
    status = status == WEFT_OK ? graph_create(&g, &shape) : status;
    const hierarchy_def def = {.levels = LEVELS_MAX, .rule = REST_PATH, .grids = true, .anchors = free_all};
    status = status == WEFT_OK ? hierarchy_create(&h, &g, &def) : status;
    status == WEFT_OK ? follow(&h, level, out) : (void)0;
    *levels = h.level_count;
    hierarchy_finish(&h);
    graph_finish(&g);
    mem_free(free_all);
    mem_free(shape.triangle_rest);
    return status;
}
