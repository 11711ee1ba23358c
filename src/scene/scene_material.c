// Materials in scene files: by name, by a name with some fields changed, by value, or as an isotropic sheet of bulk
// material, whose conversion is told to the user.
#include <string.h>

#include "scene/scene_data.h"

typedef struct material_keys
{
    const tree_node *base, *young, *poisson, *thickness, *volume_density;
    const tree_node *density, *stretch_warp, *stretch_weft, *shear, *bending, *damping, *strain_limit, *crease;
} material_keys;

static const field material_fields[] = {
    {"base", FIELD_NODE, offsetof(material_keys, base), ANY_NUMBER},
    {"young_modulus", FIELD_NODE, offsetof(material_keys, young), ANY_NUMBER},
    {"poisson_ratio", FIELD_NODE, offsetof(material_keys, poisson), ANY_NUMBER},
    {"thickness", FIELD_NODE, offsetof(material_keys, thickness), ANY_NUMBER},
    {"volume_density", FIELD_NODE, offsetof(material_keys, volume_density), ANY_NUMBER},
    {"density", FIELD_NODE, offsetof(material_keys, density), ANY_NUMBER},
    {"stretch_warp", FIELD_NODE, offsetof(material_keys, stretch_warp), ANY_NUMBER},
    {"stretch_weft", FIELD_NODE, offsetof(material_keys, stretch_weft), ANY_NUMBER},
    {"shear", FIELD_NODE, offsetof(material_keys, shear), ANY_NUMBER},
    {"bending", FIELD_NODE, offsetof(material_keys, bending), ANY_NUMBER},
    {"damping", FIELD_NODE, offsetof(material_keys, damping), ANY_NUMBER},
    {"strain_limit", FIELD_NODE, offsetof(material_keys, strain_limit), ANY_NUMBER},
    {"crease", FIELD_NODE, offsetof(material_keys, crease), ANY_NUMBER},
};

// Numbers of a sheet as it is measured, as objects in place of one number.
static const field bending_fields[] = {
    {"warp", FIELD_NUMBER, offsetof(weft_material, bending), POSITIVE},
    {"weft", FIELD_NUMBER, offsetof(weft_material, bending_weft), POSITIVE},
    {"bias", FIELD_NUMBER, offsetof(weft_material, bending_bias), POSITIVE},
    {"curvature", FIELD_NUMBER, offsetof(weft_material, bending_curvature), POSITIVE},
    {"beyond", FIELD_NUMBER, offsetof(weft_material, bending_beyond), POSITIVE},
};
static const field warp_fields[] = {
    {"soft", FIELD_NUMBER, offsetof(weft_material, stretch_warp), POSITIVE},
    {"knee", FIELD_NUMBER, offsetof(weft_material, knee_warp), POSITIVE},
    {"stiff", FIELD_NUMBER, offsetof(weft_material, stiff_warp), POSITIVE},
};
static const field weft_fields[] = {
    {"soft", FIELD_NUMBER, offsetof(weft_material, stretch_weft), POSITIVE},
    {"knee", FIELD_NUMBER, offsetof(weft_material, knee_weft), POSITIVE},
    {"stiff", FIELD_NUMBER, offsetof(weft_material, stiff_weft), POSITIVE},
};
static const field crease_fields[] = {
    {"curvature", FIELD_NUMBER, offsetof(weft_material, crease_curvature), POSITIVE},
    {"share", FIELD_NUMBER, offsetof(weft_material, crease_share), 0.0, 1.0, true},
};

static const field positive = {"", FIELD_NUMBER, 0, POSITIVE};
static const field not_negative = {"", FIELD_NUMBER, 0, NOT_NEGATIVE};
static const field poisson_limits = {"", FIELD_NUMBER, 0, -1.0, 0.5, true};

static weft_status material_by_name(const scene_reader* r, const tree_node* node, weft_material* out)
{
    const char* name;
    TRY(read_string(r, node, &name));
    weft_error reason = {0};
    weft_status status = weft_material_find(name, out, &reason);
    return status == WEFT_OK ? WEFT_OK : read_error(r, node, "%s", reason.message);
}

static weft_status read_optional(const scene_reader* r, const tree_node* node, const field* limits, double* out)
{
    return node ? read_number(r, node, limits, out) : WEFT_OK;
}

static weft_status material_from_bulk(const scene_reader* r, const tree_node* node, const material_keys* keys,
                                      weft_material* out)
{
    if (!keys->young || !keys->poisson || !keys->thickness || !(keys->volume_density || keys->density))
    {
        return read_error(r, node,
                          "a bulk material needs young_modulus (Pa), poisson_ratio, thickness (m) and volume_density "
                          "(kg/m^3), or density (kg/m^2) in place of the last");
    }
    double young, poisson, thickness, volume_density = 1.0;
    TRY(read_number(r, keys->young, &positive, &young));
    TRY(read_number(r, keys->poisson, &poisson_limits, &poisson));
    TRY(read_number(r, keys->thickness, &positive, &thickness));
    TRY(read_optional(r, keys->volume_density, &positive, &volume_density));
    weft_error reason = {0};
    weft_status status = weft_material_from_bulk(young, poisson, thickness, volume_density, out, &reason);
    return status == WEFT_OK ? WEFT_OK : read_error(r, node, "%s", reason.message);
}

static weft_status material_judge(const scene_reader* r, const tree_node* node, const weft_material* m)
{
    char text[320];
    const char* wrong = material_measure_wrong(m, text, sizeof(text));
    return wrong ? read_error(r, node, "%s", wrong) : WEFT_OK;
}

// A number takes the place of all that an object could say.
static weft_status read_stretch(const scene_reader* r, const tree_node* node, bool warp, weft_material* out)
{
    if (!node)
    {
        return WEFT_OK;
    }
    *(warp ? &out->knee_warp : &out->knee_weft) = 0.0;
    *(warp ? &out->stiff_warp : &out->stiff_weft) = 0.0;
    if (node->kind != TREE_OBJECT)
    {
        return read_number(r, node, &not_negative, warp ? &out->stretch_warp : &out->stretch_weft);
    }
    TRY(read_fields(r, node, warp ? warp_fields : weft_fields, FIELD_COUNT(warp_fields), out));
    if (!((warp ? out->knee_warp : out->knee_weft) > 0.0))
    {
        return read_error(r, node, "stretch with a knee has \"knee\", the strain at which \"soft\" (N/m) ends, and \"stiff\" (N/m)");
    }
    return material_judge(r, node, out);
}

static weft_status read_bending(const scene_reader* r, const tree_node* node, weft_material* out)
{
    if (!node)
    {
        return WEFT_OK;
    }
    out->bending_weft = out->bending_bias = out->bending_curvature = out->bending_beyond = 0.0;
    if (node->kind != TREE_OBJECT)
    {
        return read_number(r, node, &not_negative, &out->bending);
    }
    TRY(read_fields(r, node, bending_fields, FIELD_COUNT(bending_fields), out));
    return material_judge(r, node, out);
}

static weft_status read_crease(const scene_reader* r, const tree_node* node, weft_material* out)
{
    if (!node)
    {
        return WEFT_OK;
    }
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "a crease {\"curvature\": 1/m, \"share\": 0 to 1}");
    }
    out->crease_curvature = 0.0;
    out->crease_share = 1.0;
    TRY(read_fields(r, node, crease_fields, FIELD_COUNT(crease_fields), out));
    return material_judge(r, node, out);
}

static weft_status material_read_values(const scene_reader* r, const material_keys* keys, weft_material* out)
{
    TRY(read_optional(r, keys->density, &positive, &out->density));
    TRY(read_stretch(r, keys->stretch_warp, true, out));
    TRY(read_stretch(r, keys->stretch_weft, false, out));
    TRY(read_optional(r, keys->shear, &not_negative, &out->shear));
    TRY(read_bending(r, keys->bending, out));
    TRY(read_optional(r, keys->strain_limit, &positive, &out->strain_limit));
    TRY(read_crease(r, keys->crease, out));
    return read_optional(r, keys->damping, &not_negative, &out->damping);
}

static weft_status material_tell(const scene_reader* r, const tree_node* node, const weft_material* m)
{
    char path[128];
    tree_path(node, path, sizeof(path));
    return scene_warn(r->scene,
                      "%s converted: density %.6g kg/m^2, stretch %.6g N/m warp and %.6g N/m weft, shear %.6g N/m, "
                      "bending %.6g N m",
                      path, m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending);
}

// ---- kinds with keys of their own

enum
{
    KIND_KEYS_MAX = 8
};

static weft_status material_no_key(const scene_reader* r, const tree_node* child, const body_kind* kind)
{
    char known[200];
    size_t used = 0;
    for (const material_key* k = kind->material_keys; k->key && used < sizeof(known); k++)
    {
        used +=
            (size_t)snprintf(known + used, sizeof(known) - used, "%s%s (%s)", used > 0 ? ", " : "", k->key, k->unit);
    }
    return read_error_key(r, child, "%s have no `%.60s`; their material has %s", kind->name, child->key, known);
}

static weft_status material_read_kind(const scene_reader* r, const tree_node* node, const body_kind* kind,
                                      weft_material* out)
{
    field fields[KIND_KEYS_MAX];
    int count = 0;
    for (const material_key* k = kind->material_keys; k->key; k++)
    {
        WEFT_ASSERT(count < KIND_KEYS_MAX);
        fields[count++] = (field){k->key, FIELD_NUMBER, k->offset, 0.0, HUGE_VAL, k->above};
    }
    for (const tree_node* child = node->kind == TREE_OBJECT ? node->first : NULL; child; child = child->next)
    {
        bool known = false;
        for (int k = 0; k < count; k++)
        {
            known = known || strcmp(child->key, fields[k].key) == 0;
        }
        TRY(known ? WEFT_OK : material_no_key(r, child, kind));
    }
    return node->kind == TREE_STRING
               ? read_error(r, node, "fabrics are for cloth; %s have {\"%s\": NUMBER, ...}", kind->name, fields[0].key)
               : read_fields(r, node, fields, count, out);
}

weft_status material_read(const scene_reader* r, const tree_node* node, const body_kind* kind, weft_material* out)
{
    if (kind->material_keys)
    {
        return material_read_kind(r, node, kind, out);
    }
    if (node->kind == TREE_STRING)
    {
        return material_by_name(r, node, out);
    }
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "a material's name or an object {\"base\": ..., ...}");
    }
    material_keys keys = {0};
    TRY(read_fields(r, node, material_fields, FIELD_COUNT(material_fields), &keys));
    if (keys.base)
    {
        TRY(material_by_name(r, keys.base, out));
    }
    // Single values come last, so that they win over what a conversion gives.
    bool bulk = keys.young || keys.poisson || keys.thickness || keys.volume_density;
    if (bulk)
    {
        TRY(material_from_bulk(r, node, &keys, out));
    }
    TRY(material_read_values(r, &keys, out));
    return !bulk || material_tell(r, node, out) == WEFT_OK ? WEFT_OK : read_no_memory(r);
}
