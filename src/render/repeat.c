// Triangles whose corners lie at the same three points as those of an earlier one. A drawn pixel keeps the first of
// equal depths, so they are never seen, but a software rasteriser fills each of them in every shadow map: a heap of a
// thousand took ten seconds. One hash table over the corners' coordinates finds them, in time linear in the triangles.
//
// Left out: triangles that overlap without being equal. What they cost is up to the rasteriser.
#include <string.h>

#include "render/picture.h"

static int point_compare(vec3 a, vec3 b)
{
    int x = (a.x > b.x) - (a.x < b.x), y = (a.y > b.y) - (a.y < b.y), z = (a.z > b.z) - (a.z < b.z);
    return x != 0 ? x : y != 0 ? y : z;
}

// The corners in the order of their coordinates, so that neither the first corner nor the direction matters.
static void corners_sort(const vec3* positions, const uint32_t* triangle, vec3* out)
{
    for (int k = 0; k < 3; k++)
    {
        vec3 p = positions[triangle[k]];
        int at = k;
        for (; at > 0 && point_compare(out[at - 1], p) > 0; at--)
        {
            out[at] = out[at - 1];
        }
        out[at] = p;
    }
}

static uint64_t corners_hash(const vec3* corners)
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++)
    {
        const double values[3] = {corners[k].x + 0.0, corners[k].y + 0.0, corners[k].z + 0.0}; // -0 becomes 0
        uint64_t bits[3];
        memcpy(bits, values, sizeof(bits));
        for (int i = 0; i < 3; i++)
        {
            hash = (hash ^ bits[i]) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
    }
    return hash;
}

static bool corners_equal(const vec3* a, const vec3* b)
{
    return point_compare(a[0], b[0]) == 0 && point_compare(a[1], b[1]) == 0 && point_compare(a[2], b[2]) == 0;
}

// The slot of the triangle that has these corners, or the empty one where it belongs.
static size_t slot_find(const surface* s, const vec3* positions, const int* slots, size_t mask, const vec3* corners)
{
    size_t at = (size_t)corners_hash(corners) & mask;
    for (; slots[at] != 0; at = (at + 1) & mask)
    {
        vec3 other[3];
        corners_sort(positions, s->triangles + 3 * (size_t)(slots[at] - 1), other);
        if (corners_equal(corners, other))
        {
            break;
        }
    }
    return at;
}

weft_status surface_drop_repeats(surface* s, const vec3* positions)
{
    size_t size = 2;
    while (size < 2 * (size_t)s->triangle_count)
    {
        size *= 2;
    }
    int* slots = MEM_NEW(size, int); // a kept triangle plus 1; 0: empty
    if (!slots)
    {
        return WEFT_NO_MEMORY;
    }
    int kept = 0;
    for (int t = 0; t < s->triangle_count; t++)
    {
        const uint32_t* triangle = s->triangles + 3 * (size_t)t;
        vec3 corners[3];
        corners_sort(positions, triangle, corners);
        size_t at = slot_find(s, positions, slots, size - 1, corners);
        if (slots[at] == 0)
        {
            memmove(s->triangles + 3 * (size_t)kept, triangle, 3 * sizeof(uint32_t));
            slots[at] = ++kept;
        }
    }
    s->triangle_count = kept;
    mem_free(slots);
    return WEFT_OK;
}
