// Interior edges with the two triangles that they join, and the vertices of the outline.
#include <string.h>

#include "mesh/mesh_inside.h"

// The two sides of an interior edge; false when both triangles run through it in the same direction.
static bool hinge_make(const int* triangle, const side* pair, hinge* out)
{
    bool first_up = side_runs_up(triangle, pair[0]);
    if (first_up == side_runs_up(triangle, pair[1]))
    {
        return false;
    }
    int left = pair[first_up ? 0 : 1].slot, right = pair[first_up ? 1 : 0].slot;
    *out = (hinge){{pair[0].low, pair[0].high, triangle[left], triangle[right]}, left / 3, right / 3};
    return true;
}

// Edges with two triangles; -1 when one has more.
static int hinge_count(const side* sides, int slot_count)
{
    int hinges = 0;
    for (int k = 0, count; k < slot_count; k += count)
    {
        count = sides_on_edge(sides, k, slot_count);
        if (count > 2)
        {
            return -1;
        }
        hinges += count == 2;
    }
    return hinges;
}

static weft_status hinge_fill(const int* triangle, const side* sides, int slot_count, hinge* out, int* triangle_hinge)
{
    int hinges = 0;
    for (int k = 0, count; k < slot_count; k += count)
    {
        count = sides_on_edge(sides, k, slot_count);
        if (count == 2 && !hinge_make(triangle, sides + k, &out[hinges]))
        {
            return WEFT_BAD_INPUT;
        }
        for (int i = k; i < k + count && triangle_hinge; i++)
        {
            triangle_hinge[sides[i].slot] = count == 2 ? hinges : -1;
        }
        hinges += count == 2;
    }
    return WEFT_OK;
}

weft_status mesh_hinges(const int* triangle, int triangle_count, int vertex_count, hinge** out, int* out_count,
                        int* triangle_hinge)
{
    *out = NULL;
    *out_count = 0;
    side* sides = NULL;
    TRY(sides_build(triangle, triangle_count, vertex_count, &sides));
    int slot_count = 3 * triangle_count;
    int hinges = hinge_count(sides, slot_count);
    weft_status status = hinges < 0 ? WEFT_BAD_INPUT : WEFT_OK;
    if (status == WEFT_OK)
    {
        *out = MEM_NEW(hinges, hinge);
        status = *out ? hinge_fill(triangle, sides, slot_count, *out, triangle_hinge) : WEFT_NO_MEMORY;
    }
    mem_free(sides);
    if (status != WEFT_OK)
    {
        mem_free(*out);
        *out = NULL;
        return status;
    }
    *out_count = hinges;
    return WEFT_OK;
}

// Ends of lines: vertices of one segment.
static void lines_boundary(const mesh* m, unsigned char* flags)
{
    for (int k = 0; k < 2 * m->segment_count; k++)
    {
        flags[m->segment[k]] += flags[m->segment[k]] < 2;
    }
    for (int v = 0; v < m->vertex_count; v++)
    {
        flags[v] = flags[v] == 1;
    }
}

weft_status mesh_boundary(const mesh* m, unsigned char* flags)
{
    if (m->form == MESH_LINES)
    {
        memset(flags, 0, (size_t)m->vertex_count);
        lines_boundary(m, flags);
        return WEFT_OK;
    }
    side* sides = NULL;
    TRY(sides_build(m->triangle, m->triangle_count, m->vertex_count, &sides));
    for (int v = 0; v < m->vertex_count; v++)
    {
        flags[v] = 0;
    }
    int slot_count = 3 * m->triangle_count;
    for (int k = 0, count; k < slot_count; k += count)
    {
        count = sides_on_edge(sides, k, slot_count);
        if (count == 1)
        {
            flags[sides[k].low] = flags[sides[k].high] = 1;
        }
    }
    mem_free(sides);
    return WEFT_OK;
}
