// "stitch" of a cloth: what is sewn to what, and how long that takes. Patterns and OBJ files bring stitches of their
// own; the scene adds pairs to them.
#include "scene/scene_data.h"

typedef struct stitch_keys
{
    double start, close;
    const tree_node* pairs;
} stitch_keys;

static const field stitch_fields[] = {
    {"start", FIELD_NUMBER, offsetof(stitch_keys, start), NOT_NEGATIVE},
    {"close", FIELD_NUMBER, offsetof(stitch_keys, close), POSITIVE},
    {"pairs", FIELD_NODE, offsetof(stitch_keys, pairs), ANY_NUMBER},
};

static weft_status pair_add(const scene_reader* r, const int v[2], stitch_pairs* out)
{
    int ints = 2 * out->capacity;
    if (!mem_grow((void**)&out->vertex, &ints, 2 * out->count + 2, sizeof(int)))
    {
        return read_no_memory(r);
    }
    out->capacity = ints / 2;
    out->vertex[2 * out->count] = v[0];
    out->vertex[2 * out->count++ + 1] = v[1];
    return WEFT_OK;
}

static weft_status pair_read(const scene_reader* r, const tree_node* node, const mesh* m, stitch_pairs* out)
{
    field limits = {"", FIELD_INT, 0, 0.0, INT32_MAX, false};
    TRY(read_array(r, node));
    if (node->child_count != 2)
    {
        return read_error(r, node, "a stitch is a pair of vertices, [a, b]; found %d values", node->child_count);
    }
    int v[2], given = m->weld ? m->given_count : m->vertex_count;
    for (int k = 0; k < 2; k++)
    {
        const tree_node* value = k == 0 ? node->first : node->last;
        TRY(read_int(r, value, &limits, &v[k]));
        if (v[k] >= given)
        {
            return read_error(r, value, "there is no vertex %d to sew; vertices run from 0 to %d", v[k], given - 1);
        }
        v[k] = m->weld ? m->weld[v[k]] : v[k];
    }
    if (v[0] == v[1])
    {
        return read_error(r, node, "vertex %d is sewn to itself; remove the pair", v[0]);
    }
    return pair_add(r, v, out);
}

weft_status stitches_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    stitch_keys keys = {.close = 1.0};
    if (node && node->kind != TREE_NULL)
    {
        TRY(read_fields(r, node, stitch_fields, FIELD_COUNT(stitch_fields), &keys));
    }
    for (int k = 0; k < cloth->mesh.stitch_count; k++)
    {
        TRY(pair_add(r, cloth->mesh.stitch + 2 * k, &cloth->stitches.pairs));
    }
    cloth->stitches.start = keys.start;
    cloth->stitches.close = keys.close;
    TRY(keys.pairs ? read_array(r, keys.pairs) : WEFT_OK);
    for (const tree_node* child = keys.pairs ? keys.pairs->first : NULL; child; child = child->next)
    {
        TRY(pair_read(r, child, &cloth->mesh, &cloth->stitches.pairs));
    }
    if (node && node->kind != TREE_NULL && cloth->stitches.pairs.count == 0)
    {
        return read_error(r, node,
                          "nothing is sewn: the mesh has no stitches of its own; give \"pairs\": [[a, b], ...]");
    }
    return WEFT_OK;
}
