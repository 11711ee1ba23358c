// A garment is read, each of its triangles cut into s x s, and written again, beside a scene that moves a body in it.
#include "bench/garment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "math/vec.h"

typedef struct garment
{
    vec3* position;
    int count, capacity;
    int* corner; // [3 * triangles]
    int corner_count, corner_capacity;
} garment;

typedef struct edge
{
    int low, high, triangle, side; // vertices; where it comes from
    int first;                     // the number of its first inner vertex
} edge;

static void garment_finish(garment* g)
{
    mem_free(g->position);
    mem_free(g->corner);
}

// "f 3/1/2 4/2/2 5": the numbers before the slashes.
static bool read_face(garment* g, const char* text)
{
    int corners = 0;
    for (char* end; corners < 4; corners++, text = end + strcspn(end, " \t\r\n"))
    {
        long index = strtol(text, &end, 10);
        if (end == text)
        {
            break;
        }
        if (index < 1 || index > g->count ||
            !mem_grow((void**)&g->corner, &g->corner_capacity, g->corner_count + 1, sizeof(int)))
        {
            return false;
        }
        g->corner[g->corner_count++] = (int)index - 1;
    }
    return corners == 3;
}

static bool read_vertex(garment* g, const char* text)
{
    vec3 p;
    if (sscanf(text, "%lf %lf %lf", &p.x, &p.y, &p.z) != 3 ||
        !mem_grow((void**)&g->position, &g->capacity, g->count + 1, sizeof(vec3)))
    {
        return false;
    }
    g->position[g->count++] = p;
    return true;
}

static weft_status garment_read(const char* file, garment* g)
{
    char line[512];
    FILE* in = fopen(file, "r");
    bool fine = in != NULL;
    while (fine && fgets(line, sizeof(line), in))
    {
        fine = strncmp(line, "v ", 2) == 0   ? read_vertex(g, line + 2)
               : strncmp(line, "f ", 2) == 0 ? read_face(g, line + 2)
                                             : true;
    }
    in ? (void)fclose(in) : (void)0;
    fine = fine && g->corner_count > 0;
    fine ? 0 : fprintf(stderr, "weft bench: `%s` is no OBJ file of triangles, or cannot be read\n", file);
    return fine ? WEFT_OK : WEFT_BAD_INPUT;
}

// ---- refining

static int edge_compare(const void* a, const void* b)
{
    const edge *x = a, *y = b;
    return x->low != y->low ? x->low - y->low : x->high != y->high ? x->high - y->high : x->triangle - y->triangle;
}

// All sides of triangles, sorted; `first` counts edges in units of s - 1 vertices. Returns the number of edges.
static int list_edges(const garment* g, edge* edges)
{
    int sides = g->corner_count, count = 0;
    for (int k = 0; k < sides; k++)
    {
        int a = g->corner[k], b = g->corner[k / 3 * 3 + (k + 1) % 3];
        edges[k] = (edge){int_min(a, b), int_max(a, b), k / 3, k % 3, 0};
    }
    qsort(edges, (size_t)sides, sizeof(edge), edge_compare);
    for (int k = 0; k < sides; k++)
    {
        bool same = k > 0 && edges[k].low == edges[k - 1].low && edges[k].high == edges[k - 1].high;
        count += !same;
        edges[k].first = count - 1;
    }
    return count;
}

static int refined_count(const garment* g, int edges, int s)
{
    return g->count + edges * (s - 1) + g->corner_count / 3 * ((s - 1) * (s - 2) / 2);
}

// How many parts of an edge bring the garment nearest to so many vertices, by their ratio.
static int parts_for(const garment* g, int edges, int vertices)
{
    int s = 1;
    while (fabs(log((double)refined_count(g, edges, s + 1) / vertices)) <
           fabs(log((double)refined_count(g, edges, s) / vertices)))
    {
        s++;
    }
    return s;
}

// The number of the vertex at (i, j) of a triangle cut into s x s: i parts from corner 0 towards 1, j towards 2.
// side[k] is the first inner vertex of the side from corner k, which counts from the lower of its ends.
static int vertex_at(const garment* g, int triangle, const int side[3], int inner, int s, int i, int j)
{
    const int *c = g->corner + 3 * (size_t)triangle, k = s - i - j;
    if (k == s || i == s || j == s)
    {
        return k == s ? c[0] : i == s ? c[1] : c[2];
    }
    if (j == 0)
    {
        return side[0] + (c[0] < c[1] ? i : s - i) - 1;
    }
    if (k == 0)
    {
        return side[1] + (c[1] < c[2] ? j : s - j) - 1;
    }
    if (i == 0)
    {
        return side[2] + (c[2] < c[0] ? k : s - k) - 1;
    }
    return inner + (j - 1) * (s - 1) - j * (j - 1) / 2 + i - 1;
}

static void write_point(FILE* out, vec3 p)
{
    fprintf(out, "v %.9g %.9g %.9g\n", p.x, p.y, p.z);
}

static vec3 blend(vec3 a, vec3 b, double t)
{
    return v3_madd(v3_scale(1.0 - t, a), t, b);
}

static void write_vertices(FILE* out, const garment* g, const edge* edges, int s)
{
    for (int i = 0; i < g->count; i++)
    {
        write_point(out, g->position[i]);
    }
    for (int k = 0; k < g->corner_count; k++)
    {
        for (int i = 1; i < s && (k == 0 || edges[k].first != edges[k - 1].first); i++)
        {
            write_point(out, blend(g->position[edges[k].low], g->position[edges[k].high], (double)i / s));
        }
    }
    for (int t = 0; t < g->corner_count / 3; t++)
    {
        const int* c = g->corner + 3 * (size_t)t;
        for (int j = 1; j < s; j++)
        {
            for (int i = 1; i + j < s; i++)
            {
                vec3 left = blend(g->position[c[0]], g->position[c[2]], (double)j / s);
                vec3 way = v3_sub(g->position[c[1]], g->position[c[0]]);
                write_point(out, v3_madd(left, (double)i / s, way));
            }
        }
    }
}

static void write_triangles(FILE* out, const garment* g, const int* side, int inner, int s)
{
    for (int t = 0; t < g->corner_count / 3; t++)
    {
        int first = inner + t * ((s - 1) * (s - 2) / 2);
        const int* sides = side + 3 * (size_t)t;
        for (int j = 0; j < s; j++)
        {
            for (int i = 0; i + j < s; i++)
            {
                int a = vertex_at(g, t, sides, first, s, i, j) + 1, b = vertex_at(g, t, sides, first, s, i + 1, j) + 1;
                int c = vertex_at(g, t, sides, first, s, i, j + 1) + 1;
                fprintf(out, "f %d %d %d\n", a, b, c);
                if (i + j + 1 < s)
                {
                    fprintf(out, "f %d %d %d\n", b, vertex_at(g, t, sides, first, s, i + 1, j + 1) + 1, c);
                }
            }
        }
    }
}

static weft_status write_refined(const garment* g, const char* base, int vertices)
{
    char path[600];
    snprintf(path, sizeof(path), "%s.obj", base);
    edge* edges = MEM_NEW(g->corner_count, edge);
    int* side = MEM_NEW(g->corner_count, int);
    FILE* out = edges && side ? fopen(path, "w") : NULL;
    if (out)
    {
        int count = list_edges(g, edges), s = parts_for(g, count, vertices);
        for (int k = 0; k < g->corner_count; k++)
        {
            side[3 * edges[k].triangle + edges[k].side] = g->count + edges[k].first * (s - 1);
        }
        write_vertices(out, g, edges, s);
        write_triangles(out, g, side, g->count + count * (s - 1), s);
    }
    bool fine = out && !ferror(out);
    fine = out && fclose(out) == 0 && fine;
    fine ? 0 : fprintf(stderr, "weft bench: cannot write `%s`\n", path);
    mem_free(edges);
    mem_free(side);
    return fine ? WEFT_OK : WEFT_BAD_INPUT;
}

// ---- the scene

typedef struct extent
{
    double low, high; // of y
    vec3 middle;
} extent;

static extent extent_of(const garment* g)
{
    extent e = {.low = INFINITY, .high = -INFINITY};
    for (int i = 0; i < g->count; i++)
    {
        e.low = fmin(e.low, g->position[i].y);
        e.high = fmax(e.high, g->position[i].y);
        e.middle = v3_madd(e.middle, 1.0 / g->count, g->position[i]);
    }
    return e;
}

// In metres, its hem at 0, its middle over the origin.
static void fit(garment* g, double height)
{
    extent e = extent_of(g);
    for (int i = 0; i < g->count; i++)
    {
        vec3 p = v3_sub(g->position[i], v3(e.middle.x, e.low, e.middle.z));
        g->position[i] = v3_scale(height / (e.high - e.low), p);
    }
}

static const char motion[] =
    "\"path\": [{\"time\": 0.1}, {\"time\": 0.5, \"angle\": 50, \"offset\": [0.06, 0.02, 0]}, "
    "{\"time\": 1, \"angle\": -40, \"offset\": [-0.06, 0, 0.04]}, {\"time\": 1.5, \"angle\": 50, \"offset\": "
    "[0.06, 0.02, 0]}, {\"time\": 2}], \"axis\": [0, 1, 0]";

// A capsule on the axis through the middle, as wide as the narrowest place of the garment leaves room for.
static weft_status write_scene(const garment* g, const char* base, double height)
{
    double top = 0.8 * height, radius = INFINITY;
    for (int i = 0; i < g->count; i++)
    {
        double wide = hypot(g->position[i].x, g->position[i].z);
        radius = g->position[i].y < top ? fmin(radius, 0.8 * wide) : radius;
    }
    char path[600];
    const char* name = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
    snprintf(path, sizeof(path), "%s.json", base);
    FILE* out = fopen(path, "w");
    bool fine =
        out &&
        fprintf(
            out,
            "{\"description\": \"%s on a body that sways and turns\", \"time_step\": 0.005, \"steps_per_frame\": 8,\n"
            "\"frames\": 50, \"solver\": \"auto\", \"air\": {}, \"initial_contact\": \"settle\",\n"
            "\"cloth\": [{\"name\": \"garment\", \"mesh\": {\"obj\": \"%s.obj\"}, \"material\": \"cotton\",\n"
            "\"pins\": [{\"where\": {\"box\": {\"min\": [-9, %g, -9], \"max\": [9, 9, 9]}}, %s}]}],\n"
            "\"obstacles\": [{\"name\": \"body\", \"shape\": {\"capsule\": {\"from\": [0, 0, 0], \"to\": [0, %g, 0],\n"
            "\"radius\": %g}}, \"motion\": {%s}}]}\n",
            name, name, 0.96 * height, motion, top - radius, radius, motion) > 0;
    fine = out && fclose(out) == 0 && fine;
    fine ? 0 : fprintf(stderr, "weft bench: cannot write `%s`\n", path);
    return fine ? WEFT_OK : WEFT_BAD_INPUT;
}

weft_status garment_write(const char* file, const char* base, double height, int vertices)
{
    garment g = {0};
    weft_status status = garment_read(file, &g);
    if (status == WEFT_OK)
    {
        fit(&g, height);
        status = write_refined(&g, base, vertices);
    }
    status = status == WEFT_OK ? write_scene(&g, base, height) : status;
    garment_finish(&g);
    return status;
}
