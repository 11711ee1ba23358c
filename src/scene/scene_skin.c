// "regions" of an obstacle: faces with friction or thickness of their own, a smooth sleeve of skin, a belt that holds.
// Vertices of these faces have what the last region of them says, other vertices what the obstacle says; between
// vertices it is linear, so that nothing jumps at a border.
#include "scene/scene_data.h"

typedef struct skin_keys
{
    const tree_node *where, *object, *faces, *friction;
    double thickness;
} skin_keys;

static const field skin_fields[] = {
    {"where", FIELD_NODE, offsetof(skin_keys, where), ANY_NUMBER},
    {"object", FIELD_NODE, offsetof(skin_keys, object), ANY_NUMBER},
    {"faces", FIELD_NODE, offsetof(skin_keys, faces), ANY_NUMBER},
    {"friction", FIELD_NODE, offsetof(skin_keys, friction), ANY_NUMBER},
    {"thickness", FIELD_NUMBER, offsetof(skin_keys, thickness), POSITIVE},
};

static weft_status skin_read(const scene_reader* r, const tree_node* node, const mesh* m, scene_skin* out)
{
    skin_keys keys = {.thickness = -1.0};
    face_list faces = {0};
    TRY(check_where(r, node));
    TRY(read_fields(r, node, skin_fields, FIELD_COUNT(skin_fields), &keys));
    if (!keys.friction && keys.thickness < 0.0)
    {
        return read_error(r, node, "a region of an obstacle needs \"friction\" or \"thickness\", or both");
    }
    TRY(friction_read(r, keys.friction, &out->friction));
    out->rubs = keys.friction != NULL;
    out->thickness = keys.thickness;
    weft_status status = region_faces_read(r, node, m, &faces);
    out->faces = faces.item;
    out->face_count = faces.count;
    return status;
}

weft_status skins_read(const scene_reader* r, const tree_node* node, scene_obstacle* o)
{
    TRY(read_array(r, node));
    o->regions = MEM_NEW(int_max(node->child_count, 1), scene_skin);
    if (!o->regions)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(skin_read(r, child, &o->mesh, &o->regions[o->region_count++]));
    }
    return WEFT_OK;
}

void skins_finish(scene_obstacle* o)
{
    for (int k = 0; k < o->region_count; k++)
    {
        mem_free(o->regions[k].faces);
    }
    mem_free(o->regions);
}

void skin_maps_finish(skin_maps* maps)
{
    mem_free(maps->thickness);
    mem_free(maps->friction);
    mem_free(maps->resting);
    *maps = (skin_maps){0};
}

static void skin_apply(const scene_skin* skin, const mesh* m, skin_maps* out)
{
    for (int f = 0; f < skin->face_count; f++)
    {
        for (int k = m->face_start[skin->faces[f]]; k < m->face_start[skin->faces[f] + 1]; k++)
        {
            int v = m->face_vertex[k];
            if (skin->thickness > 0.0)
            {
                out->thickness[v] = skin->thickness;
            }
            if (skin->rubs)
            {
                out->friction[v] = skin->friction.kinetic;
                out->resting[v] = skin->friction.resting;
            }
        }
    }
}

bool skins_map(const scene_obstacle* o, skin_maps* out)
{
    int n = o->mesh.vertex_count;
    bool thick = false, rubs = false;
    for (int k = 0; k < o->region_count; k++)
    {
        thick = thick || o->regions[k].thickness > 0.0;
        rubs = rubs || o->regions[k].rubs;
    }
    *out = (skin_maps){thick ? MEM_NEW(n, double) : NULL, rubs ? MEM_NEW(n, double) : NULL,
                       rubs ? MEM_NEW(n, double) : NULL};
    if ((thick && !out->thickness) || (rubs && (!out->friction || !out->resting)))
    {
        skin_maps_finish(out);
        return false;
    }
    for (int v = 0; v < n && thick; v++)
    {
        out->thickness[v] = o->thickness;
    }
    for (int v = 0; v < n && rubs; v++)
    {
        out->friction[v] = o->friction.kinetic;
        out->resting[v] = o->friction.resting;
    }
    for (int k = 0; k < o->region_count; k++)
    {
        skin_apply(&o->regions[k], &o->mesh, out);
    }
    return true;
}
