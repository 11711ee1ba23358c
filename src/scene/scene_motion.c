// What pins and obstacles share: motion along a path of keys, and a hint where a selection is misplaced.
#include "scene/scene_data.h"

// {"corner": ...} where {"where": {"corner": ...}} was meant.
weft_status check_where(const scene_reader* r, const tree_node* node)
{
    static const char* const words[] = {"vertices", "box", "edge", "corner", "nearest"};
    for (int k = 0; k < (int)(sizeof(words) / sizeof(words[0])); k++)
    {
        const tree_node* child = tree_member(node, words[k]);
        if (child)
        {
            return read_error_key(r, child, "put it into \"where\": {\"where\": {\"%s\": ...}}", words[k]);
        }
    }
    return WEFT_OK;
}

static const field key_fields[] = {
    {"time", FIELD_NUMBER, offsetof(scene_key, time), NOT_NEGATIVE},
    {"offset", FIELD_VEC3, offsetof(scene_key, offset), ANY_NUMBER},
    {"angle", FIELD_NUMBER, offsetof(scene_key, angle), ANY_NUMBER},
};

static weft_status motion_read_key(const scene_reader* r, const tree_node* node, scene_motion* out)
{
    scene_key* key = &out->keys[out->key_count];
    TRY(read_fields(r, node, key_fields, FIELD_COUNT(key_fields), key));
    if (!tree_member(node, "time"))
    {
        return read_error(r, node, "a key of a path needs its \"time\" in seconds");
    }
    if (out->key_count > 0 && !(key->time > key[-1].time))
    {
        return read_error(r, tree_member(node, "time"), "times of a path must increase: %g comes after %g", key->time,
                          key[-1].time);
    }
    out->key_count++;
    return WEFT_OK;
}

static weft_status motion_read_path(const scene_reader* r, const tree_node* node, scene_motion* out)
{
    TRY(read_array(r, node));
    if (node->child_count == 0)
    {
        return WEFT_OK;
    }
    out->keys = MEM_NEW(node->child_count, scene_key);
    if (!out->keys)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(motion_read_key(r, child, out));
    }
    return WEFT_OK;
}

static weft_status motion_check_turn(const scene_reader* r, const tree_node* node, const scene_motion* m)
{
    bool has_axis = m->axis.x != 0.0 || m->axis.y != 0.0 || m->axis.z != 0.0;
    for (int k = 0; k < m->key_count; k++)
    {
        if (m->keys[k].angle != 0.0 && !has_axis)
        {
            return read_error(r, node, "its path turns by an angle, which needs an \"axis\": [x, y, z]");
        }
    }
    return WEFT_OK;
}

weft_status motion_read(const scene_reader* r, const tree_node* path, const tree_node* axis, const tree_node* center,
                        const tree_node* owner, scene_motion* out)
{
    if (path)
    {
        TRY(motion_read_path(r, path, out));
    }
    if (axis)
    {
        TRY(read_vec3(r, axis, &out->axis));
    }
    if (center)
    {
        TRY(read_vec3(r, center, &out->center));
    }
    return motion_check_turn(r, path ? path : owner, out);
}
