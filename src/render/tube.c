// Lines as surfaces: a tube around each segment, six sides, with a point at each end a radius beyond it, so that the
// tubes of a bent line have no gap between them.
#include "render/picture.h"

enum
{
    SIDES = 6,
    RING = SIDES, // vertices of one end: those of the first, of the second, then the two points
};

static_assert(WEFT_TUBE_VERTICES == 2 * SIDES + 2 && WEFT_TUBE_TRIANGLES == 4 * SIDES, "the header says so");

static void put_points(vec3 a, vec3 b, double radius, vec3* out)
{
    vec3 along = v3_normalize(v3_sub(b, a));
    vec3 aside = fabs(along.y) < 0.9 ? v3(0, 1, 0) : v3(1, 0, 0);
    vec3 u = v3_normalize(v3_cross(aside, along)), v = v3_cross(along, u);
    for (int k = 0; k < SIDES; k++)
    {
        double angle = 2.0 * PI * k / SIDES;
        vec3 d = v3_madd(v3_scale(radius * cos(angle), u), radius * sin(angle), v);
        out[k] = v3_add(a, d);
        out[RING + k] = v3_add(b, d);
    }
    out[2 * RING] = v3_madd(a, -radius, along);
    out[2 * RING + 1] = v3_madd(b, radius, along);
}

static void put_triangles(int first, int* out)
{
    for (int k = 0; k < SIDES; k++)
    {
        int a = first + k, b = first + (k + 1) % SIDES, from = first + 2 * RING, to = from + 1;
        const int corners[] = {a, b, b + RING, a, b + RING, a + RING, b, a, from, a + RING, b + RING, to};
        for (int c = 0; c < 12; c++)
        {
            *out++ = corners[c];
        }
    }
}

void weft_render_tubes(const weft_vec3* positions, const int* segments, int segment_count, double radius,
                       weft_vec3* vertices, int* triangles)
{
    WEFT_ASSERT(positions && (segments || segment_count == 0) && vertices && segment_count >= 0);
    for (int s = 0; s < segment_count; s++)
    {
        const int* v = segments + 2 * (size_t)s;
        put_points(positions[v[0]], positions[v[1]], radius, vertices + WEFT_TUBE_VERTICES * (size_t)s);
        if (triangles)
        {
            put_triangles(WEFT_TUBE_VERTICES * s, triangles + 3 * WEFT_TUBE_TRIANGLES * (size_t)s);
        }
    }
}
