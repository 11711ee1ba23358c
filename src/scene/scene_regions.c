// "regions" of a cloth: faces with a material of their own, by vertices, by an object or group of the OBJ file, or by
// their numbers. What a region's material does not say is the cloth's.
#include <string.h>

#include "scene/scene_data.h"

typedef struct region_keys
{
    const tree_node *where, *object, *faces, *material;
} region_keys;

static const field region_fields[] = {
    {"where", FIELD_NODE, offsetof(region_keys, where), ANY_NUMBER},
    {"object", FIELD_NODE, offsetof(region_keys, object), ANY_NUMBER},
    {"faces", FIELD_NODE, offsetof(region_keys, faces), ANY_NUMBER},
    {"material", FIELD_NODE, offsetof(region_keys, material), ANY_NUMBER},
};

// Faces of which every corner is selected.
static weft_status faces_where(const scene_reader* r, const tree_node* node, const mesh* m, unsigned char* taken)
{
    int *vertices = NULL, count = 0;
    unsigned char* chosen = MEM_NEW(m->vertex_count + 1, unsigned char);
    weft_status status = chosen ? selection_read(r, node, m, &vertices, &count) : read_no_memory(r);
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        chosen[vertices[k]] = 1;
    }
    for (int f = 0; f < m->face_count && status == WEFT_OK; f++)
    {
        taken[f] = 1;
        for (int k = m->face_start[f]; k < m->face_start[f + 1]; k++)
        {
            taken[f] = taken[f] && chosen[m->face_vertex[k]];
        }
    }
    mem_free(vertices);
    mem_free(chosen);
    return status;
}

weft_status mesh_object_find(const scene_reader* r, const tree_node* node, const mesh* m, int* out)
{
    const char* name = "";
    TRY(read_string(r, node, &name));
    for (int k = 0; k < m->object_count && m->face_object; k++)
    {
        if (strcmp(m->object_name[k], name) == 0)
        {
            *out = k;
            return WEFT_OK;
        }
    }
    return m->object_count > 0 ? read_unknown_name(r, node, "object of the mesh", name,
                                                   (const char* const*)m->object_name, m->object_count)
                               : read_error(r, node, "the mesh has no objects or groups; take \"where\"");
}

static weft_status faces_of_object(const scene_reader* r, const tree_node* node, const mesh* m, unsigned char* taken)
{
    int found = 0;
    TRY(mesh_object_find(r, node, m, &found));
    for (int f = 0; f < m->face_count; f++)
    {
        taken[f] = m->face_object[f] == found;
    }
    return WEFT_OK;
}

static weft_status faces_by_number(const scene_reader* r, const tree_node* node, const mesh* m, unsigned char* taken)
{
    TRY(read_array(r, node));
    field limits = {.key = "", .kind = FIELD_INT, .minimum = 0.0, .maximum = m->face_count - 1.0};
    for (const tree_node* child = node->first; child; child = child->next)
    {
        int face = 0;
        TRY(read_int(r, child, &limits, &face));
        taken[face] = 1;
    }
    return WEFT_OK;
}

static weft_status faces_keep(const scene_reader* r, const tree_node* node, const mesh* m, const unsigned char* taken,
                              face_list* out)
{
    out->item = MEM_NEW(int_max(m->face_count, 1), int);
    if (!out->item)
    {
        return read_no_memory(r);
    }
    for (int f = 0; f < m->face_count; f++)
    {
        out->item[out->count] = f;
        out->count += taken[f];
    }
    return out->count > 0
               ? WEFT_OK
               : read_error(r, node, "no face of the mesh has all of its vertices in this region: select more of them");
}

weft_status region_faces_read(const scene_reader* r, const tree_node* node, const mesh* m, face_list* out)
{
    const tree_node *where = tree_member(node, "where"), *object = tree_member(node, "object"),
                    *faces = tree_member(node, "faces");
    if (!!where + !!object + !!faces != 1)
    {
        return read_error(r, node,
                          "a region needs one of \"where\": {...}, \"object\": \"NAME\" of the mesh's file, \"faces\": "
                          "[...]");
    }
    unsigned char* taken = MEM_NEW(m->face_count + 1, unsigned char);
    weft_status status = !taken   ? read_no_memory(r)
                         : where  ? faces_where(r, where, m, taken)
                         : object ? faces_of_object(r, object, m, taken)
                                  : faces_by_number(r, faces, m, taken);
    status = status == WEFT_OK ? faces_keep(r, node, m, taken, out) : status;
    mem_free(taken);
    return status;
}

static weft_status region_read(const scene_reader* r, const tree_node* node, const scene_cloth* cloth,
                               scene_region* out)
{
    region_keys keys = {0};
    face_list faces = {0};
    TRY(check_where(r, node));
    TRY(read_fields(r, node, region_fields, FIELD_COUNT(region_fields), &keys));
    if (!keys.material)
    {
        return read_error(r, node,
                          "a region needs \"material\" and one of \"where\": {...}, \"object\": \"NAME\" of an OBJ "
                          "file, \"faces\": [...]");
    }
    weft_status status = region_faces_read(r, node, &cloth->mesh, &faces);
    out->faces = faces.item;
    out->face_count = faces.count;
    out->material = cloth->material;
    return status == WEFT_OK ? material_read(r, keys.material, cloth->kind, &out->material) : status;
}

weft_status regions_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    TRY(read_array(r, node));
    cloth->regions = MEM_NEW(int_max(node->child_count, 1), scene_region);
    if (!cloth->regions)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(region_read(r, child, cloth, &cloth->regions[cloth->region_count++]));
    }
    return WEFT_OK;
}

void regions_finish(scene_cloth* cloth)
{
    for (int k = 0; k < cloth->region_count; k++)
    {
        mem_free(cloth->regions[k].faces);
    }
    mem_free(cloth->regions);
}
