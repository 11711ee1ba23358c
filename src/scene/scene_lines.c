// "bands" and "folds" of a cloth: elastic and pressed edges.
#include "scene/scene_data.h"

static const double band_stiffness = 20.0; // N: a waistband of 25 mm, drawn to one and a half of its length by 10 N

typedef struct band_keys
{
    const tree_node* where;
    double rest_scale, stiffness;
} band_keys;

static const field band_fields[] = {
    {"where", FIELD_NODE, offsetof(band_keys, where), ANY_NUMBER},
    {"rest_scale", FIELD_NUMBER, offsetof(band_keys, rest_scale), POSITIVE},
    {"stiffness", FIELD_NUMBER, offsetof(band_keys, stiffness), POSITIVE},
};

typedef struct fold_keys
{
    const tree_node *where, *rest_angle;
} fold_keys;

static const field fold_fields[] = {
    {"where", FIELD_NODE, offsetof(fold_keys, where), ANY_NUMBER},
    {"rest_angle", FIELD_NODE, offsetof(fold_keys, rest_angle), ANY_NUMBER},
};

// Edges have two ends.
static weft_status edges_read(const scene_reader* r, const tree_node* where, const mesh* m, int** out, int* count)
{
    const tree_node* single =
        tree_member(where, "nearest") ? tree_member(where, "nearest") : tree_member(where, "corner");
    TRY(where->kind == TREE_OBJECT && single
            ? read_error_key(r, single,
                             "selects single vertices, and no edge; use \"edge\", \"seam\", \"box\", "
                             "\"object\" or \"vertices\"")
            : WEFT_OK);
    return selection_read(r, where, m, out, count);
}

static weft_status band_read(const scene_reader* r, const tree_node* node, const mesh* m, scene_band* out)
{
    band_keys keys = {.stiffness = band_stiffness};
    TRY(check_where(r, node));
    TRY(read_fields(r, node, band_fields, FIELD_COUNT(band_fields), &keys));
    if (!keys.where || !(keys.rest_scale > 0.0))
    {
        return read_error(r, node,
                          "a band needs \"where\" and \"rest_scale\", its length over that of the edges that it is "
                          "sewn to, for example 0.8");
    }
    out->rest_scale = keys.rest_scale;
    out->stiffness = keys.stiffness;
    return edges_read(r, keys.where, m, &out->vertices, &out->vertex_count);
}

weft_status bands_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    TRY(read_array(r, node));
    cloth->bands = MEM_NEW(int_max(node->child_count, 1), scene_band);
    if (!cloth->bands)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(band_read(r, child, &cloth->mesh, &cloth->bands[cloth->band_count++]));
    }
    return WEFT_OK;
}

static weft_status fold_read(const scene_reader* r, const tree_node* node, const mesh* m, scene_fold* out)
{
    static const field limits = {"", FIELD_NUMBER, 0, -170.0, 170.0, false};
    fold_keys keys = {0};
    TRY(check_where(r, node));
    TRY(read_fields(r, node, fold_fields, FIELD_COUNT(fold_fields), &keys));
    if (!keys.where || !keys.rest_angle)
    {
        return read_error(r, node, "a fold needs \"where\" and \"rest_angle\" in degrees, for example 120");
    }
    TRY(read_number(r, keys.rest_angle, &limits, &out->angle));
    return edges_read(r, keys.where, m, &out->vertices, &out->vertex_count);
}

weft_status folds_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    TRY(read_array(r, node));
    cloth->folds = MEM_NEW(int_max(node->child_count, 1), scene_fold);
    if (!cloth->folds)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(fold_read(r, child, &cloth->mesh, &cloth->folds[cloth->fold_count++]));
    }
    return WEFT_OK;
}
