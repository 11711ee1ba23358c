// What is drawn of a body: its vertices, split where the surface has a crease, with normals; strands as tubes.
#include <stdlib.h>
#include <string.h>

#include "playground.h"

static const double crease = 0.75; // cosine of the angle between faces above which they shade as one

static weft_vec3 face_normal(const weft_vec3* x, const int* c)
{
    return cross(sub(x[c[1]], x[c[0]]), sub(x[c[2]], x[c[0]]));
}

// The split vertex of a corner: one of the same vertex whose first face has about the same normal, or a new one. `next`
// chains those of a vertex from `first`.
static int split(skin* k, const shape* s, int* first, int* next, weft_vec3* normal, const int corner[2])
{
    int vertex = s->triangles[corner[0]];
    weft_vec3 n = unit(face_normal(s->rest, s->triangles + 3 * (size_t)corner[1]));
    for (int at = first[vertex]; at >= 0; at = next[at])
    {
        if (s->kind == SHAPE_SHEET || dot(normal[at], n) > crease)
        {
            return at;
        }
    }
    int made = k->vertex_count++;
    k->source[made] = vertex;
    normal[made] = n;
    next[made] = first[vertex];
    first[vertex] = made;
    return made;
}

static void init_surface(skin* k, const shape* s)
{
    size_t corners = 3 * (size_t)s->triangle_count;
    int* first = grab_memory((size_t)s->vertex_count, sizeof(int));
    int* next = grab_memory(corners, sizeof(int));
    weft_vec3* normal = grab_memory(corners, sizeof(weft_vec3));
    memset(first, 0xff, (size_t)s->vertex_count * sizeof(int));
    k->source = grab_memory(corners, sizeof(int));
    k->triangles = grab_memory(corners, sizeof(int));
    k->triangle_count = s->triangle_count;
    for (int c = 0; c < 3 * s->triangle_count; c++)
    {
        const int corner[2] = {c, c / 3};
        k->triangles[c] = split(k, s, first, next, normal, corner);
    }
    free(first);
    free(next);
    free(normal);
}

static void init_tubes(skin* k, const shape* s)
{
    k->vertex_count = WEFT_TUBE_VERTICES * s->segment_count;
    k->triangle_count = WEFT_TUBE_TRIANGLES * s->segment_count;
    k->source = grab_memory((size_t)k->vertex_count, sizeof(int));
    k->triangles = grab_memory(3 * (size_t)k->triangle_count, sizeof(int));
    k->tubes = grab_memory((size_t)k->vertex_count, sizeof(weft_vec3));
    for (int v = 0; v < k->vertex_count; v++)
    {
        k->source[v] = s->segments[2 * (v / WEFT_TUBE_VERTICES)];
    }
    weft_render_tubes(s->x, s->segments, s->segment_count, s->radius, k->tubes, k->triangles);
}

void skin_init(skin* k, const shape* s)
{
    *k = (skin){0};
    s->kind == SHAPE_STRANDS ? init_tubes(k, s) : init_surface(k, s);
    k->attributes = grab_memory(9 * (size_t)k->vertex_count, sizeof(float));
    skin_update(k, s);
}

void skin_finish(skin* k)
{
    free(k->source);
    free(k->triangles);
    free(k->attributes);
    free(k->tubes);
    *k = (skin){0};
}

static void put(float* out, weft_vec3 a)
{
    out[0] = (float)a.x, out[1] = (float)a.y, out[2] = (float)a.z;
}

static weft_vec3 place(const skin* k, const shape* s, int v)
{
    return k->tubes ? k->tubes[v] : s->x[k->source[v]];
}

// Normals are sums of those of faces, by area; the shader makes them unit vectors.
void skin_update(skin* k, const shape* s)
{
    if (k->tubes)
    {
        weft_render_tubes(s->x, s->segments, s->segment_count, s->radius, k->tubes, NULL);
    }
    for (int v = 0; v < k->vertex_count; v++)
    {
        put(k->attributes + 9 * (size_t)v, place(k, s, v));
        put(k->attributes + 9 * (size_t)v + 3, (weft_vec3){0});
        put(k->attributes + 9 * (size_t)v + 6, s->rest[k->source[v]]);
    }
    for (int t = 0; t < k->triangle_count; t++)
    {
        const int* c = k->triangles + 3 * (size_t)t;
        weft_vec3 a = place(k, s, c[0]), n = cross(sub(place(k, s, c[1]), a), sub(place(k, s, c[2]), a));
        for (int i = 0; i < 3; i++)
        {
            float* to = k->attributes + 9 * (size_t)c[i] + 3;
            to[0] += (float)n.x, to[1] += (float)n.y, to[2] += (float)n.z;
        }
    }
}
