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

static weft_status thread_add(const scene_reader* r, const weft_thread* t, scene_stitches* out)
{
    if (!mem_grow((void**)&out->thread, &out->thread_capacity, out->thread_count + 1, sizeof(weft_thread)))
    {
        return read_no_memory(r);
    }
    out->thread[out->thread_count++] = *t;
    return WEFT_OK;
}

static weft_status vertex_read(const scene_reader* r, const tree_node* node, const mesh* m, int* out)
{
    field limits = {"", FIELD_INT, 0, 0.0, INT32_MAX, false};
    int given = m->weld ? m->given_count : m->vertex_count;
    TRY(read_int(r, node, &limits, out));
    if (*out >= given)
    {
        return read_error(r, node, "there is no vertex %d to sew; vertices run from 0 to %d", *out, given - 1);
    }
    *out = m->weld ? m->weld[*out] : *out;
    return WEFT_OK;
}

// An end: a vertex, or [a, b, ratio].
static weft_status end_read(const scene_reader* r, const tree_node* node, const mesh* m, int end, weft_thread* out)
{
    out->vertex[end][1] = -1;
    out->ratio[end] = 0.0;
    if (node->kind != TREE_ARRAY)
    {
        return vertex_read(r, node, m, &out->vertex[end][0]);
    }
    if (node->child_count != 3)
    {
        return read_error(r, node, "a point of an edge is [a, b, ratio]; found %d values", node->child_count);
    }
    field limits = {"", FIELD_NUMBER, 0, 0.0, 1.0, false};
    TRY(vertex_read(r, node->first, m, &out->vertex[end][0]));
    TRY(vertex_read(r, node->first->next, m, &out->vertex[end][1]));
    return read_number(r, node->last, &limits, &out->ratio[end]);
}

// Points at the ends of edges are vertices.
static void end_simplify(int* v, double* ratio)
{
    v[0] = *ratio == 1.0 ? v[1] : v[0];
    v[1] = *ratio == 0.0 || *ratio == 1.0 ? -1 : v[1];
    *ratio = v[1] < 0 ? 0.0 : *ratio;
}

static weft_status pair_read(const scene_reader* r, const tree_node* node, const mesh* m, scene_stitches* out)
{
    TRY(read_array(r, node));
    if (node->child_count != 2)
    {
        return read_error(r, node, "a stitch is a pair of vertices, [a, b]; found %d values", node->child_count);
    }
    weft_thread t;
    TRY(end_read(r, node->first, m, 0, &t));
    TRY(end_read(r, node->last, m, 1, &t));
    end_simplify(t.vertex[0], &t.ratio[0]);
    end_simplify(t.vertex[1], &t.ratio[1]);
    const int *a = t.vertex[0], *b = t.vertex[1];
    bool same = a[0] == b[0] || a[0] == b[1] || (a[1] >= 0 && (a[1] == b[0] || a[1] == b[1]));
    if (same || a[0] == a[1] || b[0] == b[1])
    {
        return read_error(r, node, "vertex %d is sewn to itself; remove the pair", a[0]);
    }
    const int pair[2] = {a[0], b[0]};
    return a[1] < 0 && b[1] < 0 ? pair_add(r, pair, &out->pairs) : thread_add(r, &t, out);
}

weft_status stitches_read(const scene_reader* r, const tree_node* node, scene_cloth* cloth)
{
    stitch_keys keys = {.close = 1.0};
    scene_stitches* out = &cloth->stitches;
    if (node && node->kind != TREE_NULL)
    {
        TRY(read_fields(r, node, stitch_fields, FIELD_COUNT(stitch_fields), &keys));
    }
    for (int k = 0; k < cloth->mesh.stitch_count; k++)
    {
        TRY(pair_add(r, cloth->mesh.stitch + 2 * k, &out->pairs));
    }
    for (int k = 0; k < cloth->mesh.thread_count; k++)
    {
        TRY(thread_add(r, &cloth->mesh.thread[k], out));
    }
    out->start = keys.start;
    out->close = keys.close;
    TRY(keys.pairs ? read_array(r, keys.pairs) : WEFT_OK);
    for (const tree_node* child = keys.pairs ? keys.pairs->first : NULL; child; child = child->next)
    {
        TRY(pair_read(r, child, &cloth->mesh, out));
    }
    if (node && node->kind != TREE_NULL && out->pairs.count + out->thread_count == 0)
    {
        return read_error(r, node,
                          "nothing is sewn: the mesh has no stitches of its own; give \"pairs\": [[a, b], ...]");
    }
    return WEFT_OK;
}
