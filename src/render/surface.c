// From a mesh as plain arrays to the buffers that are drawn: float vertices with smooth normals, triangles that are
// finite, each of them and each polygon edge once.
#include <stdlib.h>
#include <string.h>

#include "render/picture.h"

weft_render_mesh weft_render_mesh_default(void)
{
    weft_render_mesh mesh = {.role = WEFT_MESH_CLOTH};
    weft_render_mesh_palette(&mesh, 0);
    return mesh;
}

void weft_render_mesh_palette(weft_render_mesh* mesh, int index)
{
    static const weft_color pairs[][2] = {
        {{0.70f, 0.22f, 0.20f}, {0.78f, 0.42f, 0.35f}}, // madder
        {{0.17f, 0.37f, 0.55f}, {0.36f, 0.52f, 0.66f}}, // indigo
        {{0.86f, 0.66f, 0.27f}, {0.90f, 0.77f, 0.50f}}, // weld
        {{0.30f, 0.48f, 0.34f}, {0.48f, 0.61f, 0.47f}}, // woad over weld
        {{0.45f, 0.30f, 0.47f}, {0.60f, 0.47f, 0.60f}}, // orchil
        {{0.86f, 0.82f, 0.75f}, {0.78f, 0.74f, 0.67f}}, // linen
    };
    static const weft_color stones[] = {
        {0.66f, 0.67f, 0.68f}, {0.70f, 0.66f, 0.60f}, {0.58f, 0.62f, 0.66f}, {0.62f, 0.64f, 0.59f}};
    WEFT_ASSERT(mesh && index >= 0);
    if (mesh->role == WEFT_MESH_OBSTACLE)
    {
        mesh->front = mesh->back = stones[(size_t)index % (sizeof(stones) / sizeof(stones[0]))];
        return;
    }
    const weft_color* pair = pairs[(size_t)index % (sizeof(pairs) / sizeof(pairs[0]))];
    mesh->front = pair[0];
    mesh->back = pair[1];
}

static bool triangle_is_valid(const weft_render_mesh* mesh, const int* corners)
{
    for (int k = 0; k < 3; k++)
    {
        WEFT_ASSERT(corners[k] >= 0 && corners[k] < mesh->vertex_count);
        if (!v3_is_finite(mesh->positions[corners[k]]))
        {
            return false;
        }
    }
    return true;
}

// Triangles that can be drawn.
static weft_status surface_add_triangles(surface* s, const weft_render_mesh* mesh)
{
    s->triangles = MEM_NEW(3 * (size_t)mesh->triangle_count, uint32_t);
    if (!s->triangles)
    {
        return WEFT_NO_MEMORY;
    }
    for (int t = 0; t < mesh->triangle_count; t++)
    {
        const int* c = mesh->triangles + 3 * (size_t)t;
        if (!triangle_is_valid(mesh, c))
        {
            continue;
        }
        uint32_t* corner = s->triangles + 3 * (size_t)s->triangle_count;
        for (int k = 0; k < 3; k++)
        {
            corner[k] = (uint32_t)c[k];
        }
        s->triangle_count++;
    }
    return surface_drop_repeats(s, mesh->positions);
}

// At each vertex the sum of the normals of its triangles, weighted by area.
static void surface_sum_normals(const surface* s, const weft_render_mesh* mesh, vec3* normals)
{
    for (int t = 0; t < s->triangle_count; t++)
    {
        const uint32_t* c = s->triangles + 3 * (size_t)t;
        vec3 a = mesh->positions[c[0]];
        vec3 n = v3_cross(v3_sub(mesh->positions[c[1]], a), v3_sub(mesh->positions[c[2]], a));
        for (int k = 0; k < 3; k++)
        {
            normals[c[k]] = v3_add(normals[c[k]], n);
        }
    }
}

static void surface_add_vertices(surface* s, const weft_render_mesh* mesh, const vec3* normals, vec3 origin,
                                 double scalar_min, double scalar_max)
{
    double scale = scalar_max > scalar_min ? 1.0 / (scalar_max - scalar_min) : 0.0;
    for (int v = 0; v < mesh->vertex_count; v++)
    {
        surface_vertex* out = &s->vertices[v];
        vec3 p = v3_sub(mesh->positions[v], origin);
        vec3 n = v3_normalize(normals[v]);
        if (!v3_is_finite(p) || !v3_is_finite(n))
        {
            continue; // stays zero; no triangle uses it
        }
        memcpy(out->position, (float[3]){(float)p.x, (float)p.y, (float)p.z}, sizeof(out->position));
        memcpy(out->normal, (float[3]){(float)n.x, (float)n.y, (float)n.z}, sizeof(out->normal));
        double t = mesh->scalars ? (mesh->scalars[v] - scalar_min) * scale : 0.0;
        out->scalar = (float)fmin(1.0, fmax(0.0, t));
    }
}

// ---- colours

static uint32_t color_pack(weft_color c)
{
    const float channels[3] = {c.r, c.g, c.b};
    uint32_t packed = 0;
    for (int k = 0; k < 3; k++)
    {
        float channel = channels[k] > 0.0f ? fminf(channels[k], 1.0f) : 0.0f; // a NaN becomes 0
        packed |= (uint32_t)(255.0f * channel + 0.5f) << 8 * k;
    }
    return packed;
}

// Every triangle gets corners of its own, each with the colours of all three, behind the vertices that edges use.
static weft_status surface_split_corners(surface* s, const weft_render_mesh* mesh)
{
    s->corner_colors = MEM_NEW(9 * (size_t)s->triangle_count, uint32_t);
    if (!s->corner_colors)
    {
        return WEFT_NO_MEMORY;
    }
    s->corner_count = 3 * s->triangle_count;
    surface_vertex* corners = s->vertices + s->vertex_count;
    for (int t = 0; t < s->triangle_count; t++)
    {
        uint32_t* triangle = s->triangles + 3 * (size_t)t;
        const uint32_t colors[3] = {color_pack(mesh->colors[triangle[0]]), color_pack(mesh->colors[triangle[1]]),
                                    color_pack(mesh->colors[triangle[2]])};
        for (int k = 0; k < 3; k++)
        {
            size_t corner = 3 * (size_t)t + (size_t)k;
            corners[corner] = s->vertices[triangle[k]];
            memcpy(s->corner_colors + 3 * corner, colors, sizeof(colors));
            triangle[k] = (uint32_t)((size_t)s->vertex_count + corner);
        }
    }
    return WEFT_OK;
}

// ---- edges

static int face_begin(const weft_render_mesh* mesh, int face)
{
    return mesh->face_start ? mesh->face_start[face] : 3 * face;
}

typedef void edge_fn(void* context, int low, int high);

// Calls fn for each side of each polygon, smaller vertex first.
static void edges_visit(const weft_render_mesh* mesh, edge_fn* fn, void* context)
{
    for (int f = 0; f < mesh->face_count; f++)
    {
        int begin = face_begin(mesh, f), end = face_begin(mesh, f + 1);
        for (int k = begin; k < end; k++)
        {
            int a = mesh->face_vertices[k], b = mesh->face_vertices[k + 1 < end ? k + 1 : begin];
            WEFT_ASSERT(a >= 0 && a < mesh->vertex_count && b >= 0 && b < mesh->vertex_count);
            if (a != b && v3_is_finite(mesh->positions[a]) && v3_is_finite(mesh->positions[b]))
            {
                fn(context, int_min(a, b), int_max(a, b));
            }
        }
    }
}

typedef struct edge_buckets
{
    int* start; // [vertex_count + 1] counts, then the place of the next one
    int* high;  // the larger vertex of each edge, by the smaller one
} edge_buckets;

static void edge_count_one(void* context, int low, int high)
{
    (void)high;
    ((edge_buckets*)context)->start[low + 1]++;
}

static void edge_place_one(void* context, int low, int high)
{
    edge_buckets* buckets = context;
    buckets->high[buckets->start[low]++] = high;
}

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// The edges of one smaller vertex, each once.
static void surface_add_bucket(surface* s, int low, int* high, int count)
{
    qsort(high, (size_t)count, sizeof(int), compare_ints);
    for (int k = 0; k < count; k++)
    {
        if (k == 0 || high[k] != high[k - 1])
        {
            s->edges[2 * (size_t)s->edge_count] = (uint32_t)low;
            s->edges[2 * (size_t)s->edge_count + 1] = (uint32_t)high[k];
            s->edge_count++;
        }
    }
}

static void surface_measure_edges(surface* s, const weft_render_mesh* mesh)
{
    double sum = 0.0;
    for (int e = 0; e < s->edge_count; e++)
    {
        const uint32_t* v = s->edges + 2 * (size_t)e;
        sum += v3_length(v3_sub(mesh->positions[v[1]], mesh->positions[v[0]]));
    }
    s->edge_length = s->edge_count > 0 ? sum / s->edge_count : 0.0;
}

static weft_status surface_add_edges(surface* s, const weft_render_mesh* mesh)
{
    int side_count = face_begin(mesh, mesh->face_count);
    edge_buckets buckets = {.start = MEM_NEW((size_t)mesh->vertex_count + 2, int), .high = MEM_NEW(side_count, int)};
    s->edges = MEM_NEW(2 * (size_t)side_count, uint32_t);
    bool ready = buckets.start && buckets.high && s->edges;
    if (ready)
    {
        // Shifted by one, so that placing moves each bucket's start onto its end, which is the next one's start.
        edges_visit(mesh, edge_count_one, &buckets);
        for (int v = 0; v < mesh->vertex_count; v++)
        {
            buckets.start[v + 1] += buckets.start[v];
        }
        edges_visit(mesh, edge_place_one, &buckets);
        for (int v = 0, begin = 0; v < mesh->vertex_count; begin = buckets.start[v], v++)
        {
            surface_add_bucket(s, v, buckets.high + begin, buckets.start[v] - begin);
        }
        surface_measure_edges(s, mesh);
    }
    mem_free(buckets.start);
    mem_free(buckets.high);
    return ready ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- the whole

weft_status surface_build(const weft_render_mesh* mesh, vec3 origin, double scalar_min, double scalar_max, surface* out)
{
    WEFT_ASSERT(mesh->vertex_count >= 0 && mesh->triangle_count >= 0);
    WEFT_ASSERT((mesh->positions || mesh->vertex_count == 0) && (mesh->triangles || mesh->triangle_count == 0));
    memset(out, 0, sizeof(*out));
    out->vertex_count = mesh->vertex_count;
    bool creased = mesh->role == WEFT_MESH_OBSTACLE && !mesh->colors;
    size_t corners = mesh->colors || creased ? 3 * (size_t)mesh->triangle_count : 0;
    out->vertices = MEM_NEW((size_t)mesh->vertex_count + corners, surface_vertex);
    vec3* normals = MEM_NEW(mesh->vertex_count, vec3);
    weft_status status = out->vertices && normals ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        status = surface_add_triangles(out, mesh);
    }
    if (status == WEFT_OK)
    {
        surface_sum_normals(out, mesh, normals);
        surface_add_vertices(out, mesh, normals, origin, scalar_min, scalar_max);
        status = mesh->face_vertices && mesh->face_count > 0 ? surface_add_edges(out, mesh) : WEFT_OK;
    }
    if (status == WEFT_OK && mesh->colors)
    {
        status = surface_split_corners(out, mesh);
    }
    if (status == WEFT_OK && creased)
    {
        status = surface_split_creases(out);
    }
    mem_free(normals);
    return status;
}

void surface_finish(surface* s)
{
    mem_free(s->vertices);
    mem_free(s->triangles);
    mem_free(s->edges);
    mem_free(s->corner_colors);
    memset(s, 0, sizeof(*s));
}
