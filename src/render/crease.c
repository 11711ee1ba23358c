// Normals of obstacles: smooth where the surface bends gently, sharp at creases. Each triangle gets corners of its own;
// the normal of a corner is the sum of the normals, weighted by area, of those triangles around its vertex that turn by
// less than the crease angle from it.
#include <string.h>

#include "render/picture.h"

enum
{
    AROUND_MAX = 64 // triangles around a vertex that are compared with each other; beyond, corners are flat
};

static const double crease_cosine = 0.7660444431; // 40 degrees

// Triangles around each vertex.
typedef struct fans
{
    int* start;    // [vertex_count + 2]
    int* triangle; // [3 * triangle_count]
    vec3* normal;  // [triangle_count] area times two
} fans;

static void fans_finish(fans* f)
{
    mem_free(f->start);
    mem_free(f->triangle);
    mem_free(f->normal);
}

static vec3 corner_position(const surface* s, uint32_t vertex)
{
    const float* p = s->vertices[vertex].position;
    return v3(p[0], p[1], p[2]);
}

static bool fans_build(fans* f, const surface* s)
{
    size_t corners = 3 * (size_t)s->triangle_count;
    *f = (fans){.start = MEM_NEW((size_t)s->vertex_count + 2, int),
                .triangle = MEM_NEW(corners, int),
                .normal = MEM_NEW(s->triangle_count, vec3)};
    if (!f->start || !f->triangle || !f->normal)
    {
        return false;
    }
    for (size_t k = 0; k < corners; k++)
    {
        f->start[s->triangles[k] + 2]++;
    }
    for (int v = 0; v < s->vertex_count; v++)
    {
        f->start[v + 1] += f->start[v];
    }
    f->start[s->vertex_count + 1] += f->start[s->vertex_count];
    for (size_t k = 0; k < corners; k++)
    {
        f->triangle[f->start[s->triangles[k] + 1]++] = (int)(k / 3);
    }
    for (int t = 0; t < s->triangle_count; t++)
    {
        const uint32_t* v = s->triangles + 3 * (size_t)t;
        vec3 a = corner_position(s, v[0]);
        f->normal[t] = v3_cross(v3_sub(corner_position(s, v[1]), a), v3_sub(corner_position(s, v[2]), a));
    }
    return true;
}

static vec3 corner_normal(const fans* f, uint32_t vertex, int triangle)
{
    vec3 own = v3_normalize(f->normal[triangle]), sum = f->normal[triangle];
    int begin = f->start[vertex], end = f->start[vertex + 1];
    for (int k = begin; k < end && end - begin <= AROUND_MAX; k++)
    {
        vec3 other = f->normal[f->triangle[k]];
        if (f->triangle[k] != triangle && v3_dot(own, v3_normalize(other)) > crease_cosine)
        {
            sum = v3_add(sum, other);
        }
    }
    return v3_normalize(sum);
}

weft_status surface_split_creases(surface* s)
{
    fans f;
    bool ready = fans_build(&f, s);
    surface_vertex* corners = s->vertices + s->vertex_count;
    for (int t = 0; t < s->triangle_count && ready; t++)
    {
        uint32_t* triangle = s->triangles + 3 * (size_t)t;
        for (int k = 0; k < 3; k++)
        {
            size_t corner = 3 * (size_t)t + (size_t)k;
            vec3 n = corner_normal(&f, triangle[k], t);
            corners[corner] = s->vertices[triangle[k]];
            memcpy(corners[corner].normal, (float[3]){(float)n.x, (float)n.y, (float)n.z}, sizeof(float[3]));
        }
    }
    // After all normals: they look vertices up in the triangles.
    for (int k = 0; k < 3 * s->triangle_count && ready; k++)
    {
        s->triangles[k] = (uint32_t)s->vertex_count + (uint32_t)k;
    }
    s->corner_count = ready ? 3 * s->triangle_count : 0;
    fans_finish(&f);
    return ready ? WEFT_OK : WEFT_NO_MEMORY;
}
