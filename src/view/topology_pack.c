// A mesh as counts: triangles as simulated, faces as given where they are not those triangles, origins of torn copies.
// Of lines there are no triangles, and each segment is a face of two corners.
#include <string.h>

#include "view/packing.h"

static bool faces_are_triangles(const weft_cache_body* body)
{
    if (body->face_count != body->triangle_count)
    {
        return false;
    }
    for (int f = 0; f <= body->face_count; f++)
    {
        if (body->face_start[f] != 3 * f)
        {
            return false;
        }
    }
    return memcmp(body->face_vertices, body->triangles, 3 * (size_t)body->triangle_count * sizeof(int)) == 0;
}

static void pack_indices(const int* values, int count, packet* out)
{
    int before = 0;
    for (int k = 0; k < count; k++)
    {
        packet_difference(out, values[k], before);
        before = values[k];
    }
}

void topology_pack(const weft_cache_body* body, packet* out)
{
    packet_count(out, (uint32_t)body->vertex_count);
    packet_count(out, (uint32_t)body->triangle_count);
    pack_indices(body->triangles, 3 * body->triangle_count, out);
    bool plain = !body->lines && faces_are_triangles(body);
    packet_byte(out, plain);
    if (body->lines)
    {
        packet_count(out, (uint32_t)body->segment_count);
        for (int s = 0; s < body->segment_count; s++)
        {
            packet_count(out, 2);
        }
        pack_indices(body->segments, 2 * body->segment_count, out);
    }
    else if (!plain)
    {
        packet_count(out, (uint32_t)body->face_count);
        for (int f = 0; f < body->face_count; f++)
        {
            packet_count(out, (uint32_t)(body->face_start[f + 1] - body->face_start[f]));
        }
        pack_indices(body->face_vertices, body->face_start[body->face_count], out);
    }
    packet_byte(out, body->origin != NULL);
    for (int v = 0; body->origin && v < body->vertex_count; v++)
    {
        packet_difference(out, body->origin[v], v);
    }
}

// Of each its corners, one more than two for a triangle, and its turn, as one byte, then the corners as differences.
void elements_pack(const weft_cache_elements* elements, packet* out)
{
    int before = 0;
    for (int e = 0; e < elements->count; e++)
    {
        const int* v = elements->vertices + 3 * (size_t)e;
        int corners = v[2] < 0 ? 2 : 3;
        packet_byte(out, (uint8_t)(4 * elements->turns[e] + corners));
        for (int a = 0; a < corners; a++)
        {
            packet_difference(out, v[a], before);
            before = v[a];
        }
    }
}
