// The rest shape of each triangle in its own plane: from the given positions, or from the vt map.
#include "mesh/mesh_inside.h"

#define WARP_MIN 0.02 // of the warp's length: what must be left of it in a triangle's plane to give a direction

// The part of a direction that lies across the unit vector n.
static vec3 across(vec3 direction, vec3 n)
{
    return v3_madd(direction, -v3_dot(direction, n), n);
}

// The unit warp in the plane with unit normal n: `warp`, or +z where that is nearly normal, or +x where +z is as well.
static vec3 warp_in_plane(vec3 warp, vec3 n)
{
    vec3 candidates[3] = {v3_normalize(warp), v3(0, 0, 1), v3(1, 0, 0)};
    for (int k = 0; k < 2; k++)
    {
        vec3 projected = across(candidates[k], n);
        if (v3_length(projected) > WARP_MIN)
        {
            return v3_normalize(projected);
        }
    }
    return v3_normalize(across(candidates[2], n));
}

static void rest_from_shape(const mesh* m, vec3 warp, vec2* rest)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        vec3 d1 = v3_sub(m->position[v[1]], m->position[v[0]]);
        vec3 d2 = v3_sub(m->position[v[2]], m->position[v[0]]);
        vec3 n = v3_normalize(v3_cross(d1, d2));
        vec3 u = warp_in_plane(warp, n);
        vec3 w = v3_cross(n, u);
        rest[3 * t] = (vec2){0.0, 0.0};
        rest[3 * t + 1] = (vec2){v3_dot(d1, u), v3_dot(d1, w)};
        rest[3 * t + 2] = (vec2){v3_dot(d2, u), v3_dot(d2, w)};
    }
}

static double sq(double x)
{
    return x * x;
}

// Twice the signed area; *out_flat when it is nothing against the longest side.
static double rest_area(const vec2* r, bool* out_flat)
{
    double area = (r[1].x - r[0].x) * (r[2].y - r[0].y) - (r[1].y - r[0].y) * (r[2].x - r[0].x);
    double longest_sq = 0.0;
    for (int k = 0; k < 3; k++)
    {
        vec2 a = r[k], b = r[(k + 1) % 3];
        longest_sq = fmax(longest_sq, sq(a.x - b.x) + sq(a.y - b.y));
    }
    *out_flat = !(0.5 * fabs(area) > AREA_MIN * longest_sq);
    return area;
}

static weft_status rest_from_uv(const mesh* m, double uv_scale, vec2* rest, weft_error* error)
{
    for (int t = 0; t < m->triangle_count; t++)
    {
        char label[LABEL_SIZE];
        int face = m->triangle_face[t];
        vec2* r = rest + 3 * t;
        for (int k = 0; k < 3; k++)
        {
            int index = m->face_texcoord[m->triangle_corner[3 * t + k]];
            if (index < 0)
            {
                return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                                 "%s has a corner without texture coordinate (vt), which a rest shape from uv needs: "
                                 "unwrap the whole mesh, or take the rest shape from the positions",
                                 mesh_face_label(m, face, label));
            }
            r[k] = (vec2){uv_scale * m->texcoord[index].x, uv_scale * m->texcoord[index].y};
        }
        bool flat = false;
        double area = rest_area(r, &flat);
        if (flat)
        {
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, face),
                             "%s has no area in the vt map, so it has no rest shape: unwrap it again, or take the rest "
                             "shape from the positions (\"rest\": \"shape\")",
                             mesh_face_label(m, face, label));
        }
        for (int k = 0; k < 3 && area < 0.0; k++)
        {
            r[k].x = -r[k].x;
        }
    }
    return WEFT_OK;
}

weft_status mesh_rest(const mesh* m, rest_kind kind, vec3 warp, double uv_scale, vec2* rest, weft_error* error)
{
    WEFT_ASSERT(m && rest);
    if (kind == REST_SHAPE)
    {
        rest_from_shape(m, warp, rest);
        return WEFT_OK;
    }
    if (!m->face_texcoord)
    {
        return error_set(
            error, WEFT_BAD_INPUT, m->file, 0,
            "has no texture coordinates (vt), which a rest shape from uv needs: export the mesh with them, or "
            "take the rest shape from the positions");
    }
    if (!(uv_scale > 0.0 && uv_scale <= COORDINATE_MAX))
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, 0,
                         "the uv scale %g is out of range: give the metres that one unit of the vt map stands for",
                         uv_scale);
    }
    return rest_from_uv(m, uv_scale, rest, error);
}
