// A ball of tetrahedra: the whole points of the octahedron |x| + |y| + |z| <= n, drawn to the sphere so that layers of
// the octahedron become spheres.
//
// An octant is split like this: with a = x, b = x + y, c = x + y + z it is 0 <= a <= b <= c <= n, and that is a union
// of the tetrahedra into which unit cubes of (a, b, c) fall, six each, along paths from one corner to the opposite one
// (Kuhn). On the planes between octants they agree with their mirror images. No tetrahedron has four vertices on the
// sphere, so none is flat: by the measure that is 1 for a regular one the worst has 0.47. (A cube drawn to the sphere
// was tried: along its edges tetrahedra are flat, and the ball dents there for good.)
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_inside.h"

typedef struct ball_grid
{
    int layers;
    int* index; // [(2 layers + 1)^3] vertex of each point that is inside
} ball_grid;

static size_t ball_slot(const ball_grid* g, int x, int y, int z)
{
    size_t side = 2 * (size_t)g->layers + 1;
    return (size_t)(x + g->layers) + side * ((size_t)(y + g->layers) + side * (size_t)(z + g->layers));
}

static void ball_positions(const ball_grid* g, double radius, mesh* out)
{
    int n = g->layers;
    for (int z = -n; z <= n; z++)
    {
        for (int y = -n; y <= n; y++)
        {
            for (int x = -n; x <= n; x++)
            {
                int layer = abs(x) + abs(y) + abs(z);
                double length = sqrt((double)x * x + (double)y * y + (double)z * z);
                if (layer <= n)
                {
                    double scale = layer > 0 ? radius * layer / (n * length) : 0.0;
                    g->index[ball_slot(g, x, y, z)] = out->vertex_count;
                    out->position[out->vertex_count++] = v3(scale * x, scale * y, scale * z);
                }
            }
        }
    }
}

// The tetrahedron of a cube whose path takes the axes in this order, in all octants; nothing where it is outside.
static void ball_split(const ball_grid* g, const int* cube, const int* order, mesh* out)
{
    int corner[4][3], at[3] = {cube[0], cube[1], cube[2]};
    for (int k = 0; k < 4; k++)
    {
        at[k > 0 ? order[k - 1] : 0] += k > 0;
        if (at[0] > at[1] || at[1] > at[2] || at[2] > g->layers)
        {
            return;
        }
        const int point[3] = {at[0], at[1] - at[0], at[2] - at[1]};
        memcpy(corner[k], point, sizeof(point));
    }
    bool even = (order[1] - order[0] + 3) % 3 == 1; // the path turns like the axes
    for (int octant = 0; octant < 8; octant++)
    {
        int sign[3] = {octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1};
        bool turned = even == (sign[0] * sign[1] * sign[2] < 0);
        int* v = out->tetrahedron + 4 * (size_t)out->tetrahedron_count++;
        for (int k = 0; k < 4; k++)
        {
            const int* c = corner[turned && k >= 2 ? 5 - k : k];
            v[k] = g->index[ball_slot(g, sign[0] * c[0], sign[1] * c[1], sign[2] * c[2])];
        }
    }
}

weft_status mesh_from_ball(double radius, int layers, mesh* out, weft_error* error)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    size_t n = (size_t)layers, side = 2 * n + 1;
    ball_grid g = {layers, MEM_NEW(side * side * side, int)};
    *out = (mesh){.form = MESH_SOLID};
    out->position = MEM_NEW(side * (2 * n * n + 2 * n + 3) / 3, vec3);
    out->tetrahedron = MEM_NEW(4 * 8 * n * n * n, int);
    if (!g.index || !out->position || !out->tetrahedron)
    {
        mem_free(g.index);
        mesh_finish(out);
        return mesh_no_memory(out, error);
    }
    ball_positions(&g, radius, out);
    for (int a = 0; a < layers; a++)
    {
        for (int b = a; b < layers; b++)
        {
            for (int c = b; c < layers; c++)
            {
                for (int k = 0; k < 6; k++)
                {
                    ball_split(&g, (const int[]){a, b, c}, orders[k], out);
                }
            }
        }
    }
    mem_free(g.index);
    return WEFT_OK;
}
