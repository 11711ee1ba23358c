// Bodies that may be as they are and seldom are: of another unit, far away, in pieces. A note each, and no error.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene_data.h"

// Beyond these a note asks whether the unit is right.
#define CLOTH_SIZE_MIN 0.01 // m
#define CLOTH_SIZE_MAX 20.0 // m
#define DENSITY_MAX 5.0     // kg/m^2
// Of the thickness: what single precision may take from places.
#define ROUNDING_MAX 0.1

// Sizes and weights that cloth seldom has: more likely another unit.
static weft_status doubt_units(weft_scene* scene, const scene_cloth* cloth, vec3 low, vec3 high)
{
    double size = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
    if (size > CLOTH_SIZE_MAX || size < CLOTH_SIZE_MIN)
    {
        TRY(scene_warn(scene, "%s `%s` is %.4g m long: is this in metres? %s changes it", cloth->kind->name,
                       cloth->name, size, cloth->is_grid ? "\"size\" of the grid" : "\"scale\" of the mesh"));
    }
    double density_max = cloth->kind->density_max > 0.0 ? cloth->kind->density_max : DENSITY_MAX;
    if (cloth->material.density > density_max && cloth->vertex_mass == 0.0)
    {
        TRY(scene_warn(scene, "%s `%s` weighs %.4g %s: is this in kilograms and metres?", cloth->kind->name,
                       cloth->name, cloth->material.density, cloth->kind->density));
    }
    return WEFT_OK;
}

// Contact and the files of runs have single precision: of a place in a map's coordinates they keep centimetres.
static weft_status doubt_place(weft_scene* scene, const scene_cloth* cloth, vec3 low, vec3 high)
{
    double far = 0.0;
    for (int k = 0; k < 3; k++)
    {
        far = fmax(far, fmax(fabs((&low.x)[k]), fabs((&high.x)[k])));
    }
    double rounding = ldexp(far, -24);
    return rounding <= ROUNDING_MAX * cloth->thickness || cloth->thickness <= 0.0
               ? WEFT_OK
               : scene_warn(scene,
                            "%s `%s` lies %.3g m from the origin, where contact and files, of single precision, are "
                            "off by %.2g m: move all bodies nearer with \"transform\": {\"translate\": [%.6g, %.6g, "
                            "%.6g]}",
                            cloth->kind->name, cloth->name, far, rounding, -0.5 * (low.x + high.x),
                            -0.5 * (low.y + high.y), -0.5 * (low.z + high.z));
}

static int compare_places(const void* a, const void* b)
{
    const double *p = a, *q = b;
    for (int k = 0; k < 3; k++)
    {
        if (p[k] != q[k])
        {
            return p[k] < q[k] ? -1 : 1;
        }
    }
    return 0;
}

// Corners of faces that lie exactly where other vertices do. -1: no memory.
static int coinciding(const mesh* m)
{
    vec3* places = MEM_NEW(m->vertex_count, vec3);
    unsigned char* used = MEM_NEW(m->vertex_count, unsigned char);
    int count = 0, found = 0;
    for (int k = 0; k < m->face_start[m->face_count] && used; k++)
    {
        used[m->face_vertex[k]] = 1;
    }
    for (int v = 0; v < m->vertex_count && used && places; v++)
    {
        if (used[v])
        {
            places[count++] = m->position[v];
        }
    }
    if (places && used)
    {
        qsort(places, (size_t)count, sizeof(*places), compare_places);
    }
    for (int k = 0; k < count; k++)
    {
        bool before = k > 0 && compare_places(&places[k - 1], &places[k]) == 0;
        bool behind = k + 1 < count && compare_places(&places[k + 1], &places[k]) == 0;
        found += before || behind;
    }
    found = places && used ? found : -1;
    mem_free(places);
    mem_free(used);
    return found;
}

// In pieces on purpose, or not of a file.
static bool pieces_are_meant(const scene_cloth* cloth)
{
    const mesh* m = &cloth->mesh;
    bool sewn = cloth->stitches.pairs.count > 0 || cloth->stitches.thread_count > 0 || m->stitch_count > 0 ||
                m->thread_count > 0;
    return cloth->kind->form != MESH_SHEET || cloth->is_grid || cloth->rest_position || sewn;
}

// Exporters write a vertex once for each normal or texture coordinate that it has; the cloth comes apart there.
static weft_status doubt_pieces(weft_scene* scene, const scene_cloth* cloth)
{
    const mesh* m = &cloth->mesh;
    if (pieces_are_meant(cloth))
    {
        return WEFT_OK;
    }
    int count = coinciding(m);
    return count < 0    ? WEFT_NO_MEMORY
           : count == 0 ? WEFT_OK
                        : scene_warn(scene,
                                     "%s `%s`: %d of its %d vertices lie exactly upon others of it and are not one "
                                     "with them: it comes apart there; \"weld\": 1e-5 of its mesh makes them one",
                                     cloth->kind->name, cloth->name, count, m->vertex_count);
}

weft_status scene_cloth_doubt(weft_scene* scene, const scene_cloth* cloth)
{
    vec3 low, high;
    mesh_bounds(&cloth->mesh, &low, &high);
    TRY(doubt_units(scene, cloth, low, high));
    TRY(doubt_place(scene, cloth, low, high));
    return doubt_pieces(scene, cloth);
}

// ---- one garment in several cloths

typedef struct corner_place
{
    vec3 x;
    int cloth;
} corner_place;

static int compare_corners(const void* a, const void* b)
{
    const corner_place *p = a, *q = b;
    int order = compare_places(&p->x, &q->x);
    return order != 0 ? order : (p->cloth > q->cloth) - (p->cloth < q->cloth);
}

// Corners of faces of all cloths that may be in pieces by mistake, sorted; -1: no memory.
static int64_t collect_corners(const weft_scene* scene, corner_place** out)
{
    int64_t room = 0, count = 0;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        const mesh* m = &scene->cloths[k].mesh;
        room += pieces_are_meant(&scene->cloths[k]) ? 0 : m->face_start[m->face_count];
    }
    *out = MEM_NEW(room + 1, corner_place);
    for (int k = 0; k < scene->cloth_count && *out; k++)
    {
        const mesh* m = &scene->cloths[k].mesh;
        for (int c = 0; !pieces_are_meant(&scene->cloths[k]) && c < m->face_start[m->face_count]; c++)
        {
            (*out)[count++] = (corner_place){m->position[m->face_vertex[c]], k};
        }
    }
    *out ? qsort(*out, (size_t)count, sizeof(**out), compare_corners) : (void)0;
    return *out ? count : -1;
}

// Places where cloth k and one before it both have a vertex, and the first such cloth.
static int shared_places(const corner_place* corner, int64_t count, int k, int* other)
{
    int shared = 0;
    for (int64_t begin = 0, end; begin < count; begin = end)
    {
        bool has = false;
        for (end = begin; end < count && compare_places(&corner[begin].x, &corner[end].x) == 0; end++)
        {
            has |= corner[end].cloth == k;
        }
        if (has && corner[begin].cloth < k)
        {
            *other = shared++ == 0 ? corner[begin].cloth : *other;
        }
    }
    return shared;
}

weft_status scene_parts_doubt(weft_scene* scene)
{
    if (scene->cloth_count < 2 || scene->tie_count > 0)
    {
        return WEFT_OK;
    }
    corner_place* corner;
    int64_t count = collect_corners(scene, &corner);
    weft_status status = count < 0 ? WEFT_NO_MEMORY : WEFT_OK;
    for (int k = 1; k < scene->cloth_count && status == WEFT_OK; k++)
    {
        int other = -1, shared = shared_places(corner, count, k, &other);
        if (shared > 1)
        {
            status = scene_warn(scene,
                                "cloth `%s` has %d vertices exactly where cloth `%s` has some and is not one with it: they come "
                                "apart there; to be one garment they have to be one mesh (one file without \"object\", or "
                                "joined) with \"weld\": 1e-5, or \"ties\"",
                                scene->cloths[k].name, shared, scene->cloths[other].name);
        }
    }
    mem_free(corner);
    return status;
}
