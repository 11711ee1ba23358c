// A run at a coarser level of detail: sheets are shown by the vertices that a level of their hierarchy has
// (step/hierarchy.h, lod_collapse) and by the triangles that are left between these. Positions are those of the run.
//
// Cloth that tears has one coarse mesh, that of its last topology: before the split a copy is where its origin is, as
// in files of one topology. Texture coordinates of a corner are those of the vertex that it was collapsed into, of
// several the nearest to its own, so that seams stay. Fields, which are of all vertices, are not shown.
#include <string.h>

#include "cache/reader.h"
#include "step/hierarchy.h"

static void coarse_destroy(coarse_view* c)
{
    if (c)
    {
        mem_free(c->vertex);
        mem_free(c->rest);
        mem_free(c->face_start);
        mem_free(c->triangle);
        mem_free(c->texcoord);
        for (int k = 0; k < 3; k++)
        {
            mem_free(c->name[k]);
        }
        mem_free(c->fine);
        mem_free(c);
    }
}

void coarse_view_drop(body* b)
{
    coarse_destroy(b->coarse);
    b->coarse = NULL;
}

// ---- which vertices and triangles

// place[v] of vertices that triangles have, in their order; -1: none has it.
static void number_vertices(coarse_view* c, const mesh* m, int* place)
{
    memset(place, -1, (size_t)m->vertex_count * sizeof(int));
    for (int k = 0; k < 3 * c->triangle_count; k++)
    {
        place[c->triangle[k]] = 0;
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        if (place[i] == 0)
        {
            c->vertex[c->vertex_count] = i;
            c->rest[c->vertex_count] = m->position[i];
            place[i] = c->vertex_count++;
        }
    }
    for (int k = 0; k < 3 * c->triangle_count; k++)
    {
        c->triangle[k] = place[c->triangle[k]];
    }
}

// Of the texture coordinates of a vertex the nearest to those of a corner that was collapsed into it.
static int nearest_texcoord(const mesh* m, const int* head, const int* next, int vertex, int own)
{
    double best = INFINITY;
    int found = -1;
    for (int c = head[vertex]; c >= 0; c = next[c])
    {
        int t = m->face_texcoord[c];
        if (t < 0)
        {
            continue;
        }
        double x = own < 0 ? 0.0 : m->texcoord[t].x - m->texcoord[own].x;
        double y = own < 0 ? 0.0 : m->texcoord[t].y - m->texcoord[own].y;
        if (x * x + y * y < best)
        {
            best = x * x + y * y;
            found = t;
        }
    }
    return found;
}

static void list_corners(const mesh* m, int* head, int* next)
{
    memset(head, -1, (size_t)m->vertex_count * sizeof(int));
    for (int c = m->face_start[m->face_count] - 1; c >= 0; c--)
    {
        int v = m->same ? m->same[m->face_vertex[c]] : m->face_vertex[c];
        next[c] = head[v];
        head[v] = c;
    }
}

// Objects, groups and materials.
static weft_names* names_of(weft_cache_body* view, int layer)
{
    return layer == 0 ? &view->objects : layer == 1 ? &view->groups : &view->materials;
}

static void take_triangles(coarse_view* c, const mesh* m, const int* into, const int* head, const int* next)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        int v[3], *out = c->triangle + 3 * (size_t)c->triangle_count;
        for (int k = 0; k < 3; k++)
        {
            v[k] = into[m->triangle[3 * t + k]];
        }
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
        {
            continue;
        }
        memcpy(out, v, sizeof(v));
        for (int k = 0; k < 3 && c->texcoord; k++)
        {
            int own = m->face_texcoord[m->triangle_corner[3 * t + k]];
            c->texcoord[3 * c->triangle_count + k] = nearest_texcoord(m, head, next, v[k], own);
        }
        for (int k = 0; k < 3; k++)
        {
            const int* faces = names_of(&c->view, k)->faces;
            c->name[k] ? c->name[k][c->triangle_count] = faces[m->triangle_face[t]] : 0;
        }
        c->face_start[c->triangle_count + 1] = 3 * (c->triangle_count + 1);
        c->triangle_count++;
    }
}

static void make_view(coarse_view* c)
{
    c->view.vertex_count = c->vertex_count;
    c->view.rest = c->rest;
    c->view.face_count = c->view.triangle_count = c->triangle_count;
    c->view.face_start = c->face_start;
    c->view.face_vertices = c->view.triangles = c->triangle;
    c->view.face_texcoords = c->texcoord;
    for (int k = 0; k < 3; k++)
    {
        names_of(&c->view, k)->faces = c->name[k];
    }
    c->view.origin = c->view.same = c->view.triangle_corners = NULL;
}

static weft_status coarse_fill(coarse_view* c, const body* b, const int* into)
{
    const mesh* m = &b->topologies[b->topology_count - 1].mesh;
    size_t n = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
    c->vertex = MEM_NEW(n, int);
    c->rest = MEM_NEW(n, vec3);
    c->face_start = MEM_NEW(triangles + 1, int);
    c->triangle = MEM_NEW(3 * triangles, int);
    c->texcoord = m->face_texcoord ? MEM_NEW(3 * triangles, int) : NULL;
    c->view = b->topologies[b->topology_count - 1].view;
    bool named = true;
    for (int k = 0; k < 3; k++)
    {
        bool has = names_of(&c->view, k)->faces != NULL;
        c->name[k] = has ? MEM_NEW(triangles, int) : NULL;
        named = named && (c->name[k] || !has);
    }
    c->fine = MEM_NEW(n, vec3);
    int *head = MEM_NEW(n, int), *next = MEM_NEW(m->face_start[m->face_count] + 1, int);
    bool ok = c->vertex && c->rest && c->face_start && c->triangle && (c->texcoord || !m->face_texcoord) &&
              named && c->fine && head && next;
    if (ok)
    {
        list_corners(m, head, next);
        take_triangles(c, m, into, head, next);
        number_vertices(c, m, head);
        make_view(c);
    }
    mem_free(head);
    mem_free(next);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status coarsen_body(body* b, int level, int* levels)
{
    const mesh* m = &b->topologies[b->topology_count - 1].mesh;
    int* into = MEM_NEW(m->vertex_count, int);
    coarse_view* c = MEM_NEW(1, coarse_view);
    weft_status status = into && c ? lod_collapse(m, level, into, levels) : WEFT_NO_MEMORY;
    status = status == WEFT_OK && level > 0 ? coarse_fill(c, b, into) : status;
    mem_free(into);
    if (status != WEFT_OK || level == 0)
    {
        coarse_destroy(c);
        return status;
    }
    b->coarse = c;
    return WEFT_OK;
}

weft_status weft_cache_coarsen(weft_cache* cache, int level, int* levels, weft_error* error)
{
    WEFT_ASSERT(cache && level >= 0);
    int most = 0;
    for (int k = 0; k < cache->body_count; k++)
    {
        body* b = &cache->bodies[k];
        int own = 0;
        coarse_view_drop(b);
        bool sheet = !b->obstacle && !b->solid && b->topologies[0].mesh.form == MESH_SHEET;
        if (sheet && coarsen_body(b, level, &own) != WEFT_OK)
        {
            return reader_no_memory(cache->dir, error);
        }
        most = int_max(most, own);
    }
    levels ? * levels = most : 0;
    if (level <= most)
    {
        return WEFT_OK;
    }
    for (int k = 0; k < cache->body_count; k++)
    {
        coarse_view_drop(&cache->bodies[k]);
    }
    return error_set(error, WEFT_BAD_INPUT, cache->dir, 0,
                     most > 0 ? "there is no level %d: the cloths of this run have coarse levels 1 to %d"
                              : "there is no level %d: no cloth of this run has coarse levels",
                     level, most);
}

// ---- positions

weft_status coarse_view_read(body* b, const char* dir, int frame, const coarse_range* range, weft_error* error)
{
    coarse_view* c = b->coarse;
    int topology = topology_of(b, body_clamp(b, frame)), held = b->topologies[topology].mesh.vertex_count;
    int count = range->count < 0 ? c->vertex_count - range->first : range->count;
    TRY(topologies_read(b, dir, frame, 0, -1, c->fine, error));
    for (int k = 0; k < count; k++)
    {
        int from = c->vertex[range->first + k];
        for (int t = b->topology_count - 1; t > topology && from >= held; t--)
        {
            from = b->topologies[t].origin[from];
        }
        range->out[k] = c->fine[from];
    }
    return WEFT_OK;
}
