// Which vertices a "where" means: a list, a box, an edge or a corner of a grid, the nearest to a point, or those of an
// object or group.
#include <string.h>

#include "scene/scene_data.h"

typedef struct selection_keys
{
    const tree_node *vertices, *box, *edge, *corner, *nearest, *object, *seam;
} selection_keys;

static const field selection_fields[] = {
    {"vertices", FIELD_NODE, offsetof(selection_keys, vertices), ANY_NUMBER},
    {"box", FIELD_NODE, offsetof(selection_keys, box), ANY_NUMBER},
    {"edge", FIELD_NODE, offsetof(selection_keys, edge), ANY_NUMBER},
    {"corner", FIELD_NODE, offsetof(selection_keys, corner), ANY_NUMBER},
    {"nearest", FIELD_NODE, offsetof(selection_keys, nearest), ANY_NUMBER},
    {"object", FIELD_NODE, offsetof(selection_keys, object), ANY_NUMBER},
    {"seam", FIELD_NODE, offsetof(selection_keys, seam), ANY_NUMBER},
};

typedef struct box_keys
{
    const tree_node *min, *max;
} box_keys;

static const field box_fields[] = {
    {"min", FIELD_NODE, offsetof(box_keys, min), ANY_NUMBER},
    {"max", FIELD_NODE, offsetof(box_keys, max), ANY_NUMBER},
};

// What is being selected: flags is [m->vertex_count].
typedef struct selection
{
    const scene_reader* r;
    const mesh* m;
    unsigned char* flags;
} selection;

// Indices are those of the user's file; welding may have made one vertex of several.
static weft_status select_vertices(const selection* s, const tree_node* node)
{
    TRY(read_array(s->r, node));
    int given = s->m->weld ? s->m->given_count : s->m->vertex_count;
    static const field checked_here = {.key = ""};
    for (const tree_node* child = node->first; child; child = child->next)
    {
        if (child->kind == TREE_NUMBER && (child->number < 0.0 || child->number >= given))
        {
            return read_error(s->r, child, "the mesh has %d vertices, counted from 0; there is no vertex %.17g", given,
                              child->number);
        }
        int vertex = 0;
        TRY(read_int(s->r, child, &checked_here, &vertex));
        s->flags[s->m->weld ? s->m->weld[vertex] : vertex] = 1;
    }
    return WEFT_OK;
}

static double mesh_extent(const mesh* m)
{
    double extent = 0.0;
    for (int k = 0; k < m->vertex_count; k++)
    {
        vec3 d = v3_sub(m->position[k], m->position[0]);
        extent = fmax(extent, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
    }
    return extent;
}

static weft_status select_box(const selection* s, const tree_node* node)
{
    box_keys keys = {0};
    TRY(read_fields(s->r, node, box_fields, FIELD_COUNT(box_fields), &keys));
    if (!keys.min || !keys.max)
    {
        return read_error(s->r, node, "a box needs \"min\": [x, y, z] and \"max\": [x, y, z]");
    }
    vec3 low, high;
    TRY(read_vec3(s->r, keys.min, &low));
    TRY(read_vec3(s->r, keys.max, &high));
    if (low.x > high.x || low.y > high.y || low.z > high.z)
    {
        return read_error(s->r, node, "\"min\" is above \"max\" in some direction; swap the numbers");
    }
    // A vertex that stands on the box's face is inside, whatever its last bits.
    double slack = 1e-9 * mesh_extent(s->m);
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        vec3 p = s->m->position[k];
        s->flags[k] |= p.x >= low.x - slack && p.x <= high.x + slack && p.y >= low.y - slack && p.y <= high.y + slack &&
                       p.z >= low.z - slack && p.z <= high.z + slack;
    }
    return WEFT_OK;
}

static weft_status select_boundary(const selection* s)
{
    unsigned char* boundary = MEM_NEW(s->m->vertex_count, unsigned char);
    if (!boundary || mesh_boundary(s->m, boundary) != WEFT_OK)
    {
        mem_free(boundary);
        return read_no_memory(s->r);
    }
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        s->flags[k] |= boundary[k];
    }
    mem_free(boundary);
    return WEFT_OK;
}

static weft_status need_grid(const selection* s, const tree_node* node)
{
    return s->m->edge_mask ? WEFT_OK
                           : read_error(s->r, node,
                                        "only grids have named edges and corners; for an OBJ mesh use \"edge\": "
                                        "\"all\", \"box\", \"nearest\" or \"vertices\"");
}

// Vertices that lie on all the edges of the mask.
static void select_mask(const selection* s, int mask)
{
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        s->flags[k] |= (s->m->edge_mask[k] & mask) == mask;
    }
}

static weft_status select_edge(const selection* s, const tree_node* node)
{
    static const char* const words[] = {"all", "left", "right", "bottom", "top", "cutout"};
    static const int masks[] = {0, EDGE_LEFT, EDGE_RIGHT, EDGE_BOTTOM, EDGE_TOP, EDGE_CUTOUT};
    int index;
    TRY(read_choice(s->r, node, words, 6, &index));
    if (index == 0)
    {
        return select_boundary(s);
    }
    TRY(need_grid(s, node));
    select_mask(s, masks[index]);
    return WEFT_OK;
}

static weft_status select_corner(const selection* s, const tree_node* node)
{
    static const char* const words[] = {"bottom-left", "bottom-right", "top-left", "top-right"};
    static const int masks[] = {EDGE_BOTTOM | EDGE_LEFT, EDGE_BOTTOM | EDGE_RIGHT, EDGE_TOP | EDGE_LEFT,
                                EDGE_TOP | EDGE_RIGHT};
    int index;
    TRY(read_choice(s->r, node, words, 4, &index));
    TRY(need_grid(s, node));
    select_mask(s, masks[index]);
    return WEFT_OK;
}

// One word, or a list of them.
static weft_status select_words(const selection* s, const tree_node* node,
                                weft_status (*select)(const selection*, const tree_node*))
{
    if (node->kind != TREE_ARRAY)
    {
        return select(s, node);
    }
    for (const tree_node* child = node->first; child; child = child->next)
    {
        TRY(select(s, child));
    }
    return WEFT_OK;
}

static weft_status select_nearest(const selection* s, const tree_node* node)
{
    vec3 point;
    TRY(read_vec3(s->r, node, &point));
    int best = 0;
    double best_distance = HUGE_VAL;
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        double distance = v3_length(v3_sub(s->m->position[k], point));
        if (distance < best_distance)
        {
            best = k;
            best_distance = distance;
        }
    }
    s->flags[best] = 1;
    return WEFT_OK;
}

// Corners of the faces of an object of the mesh's file.
static weft_status select_object(const selection* s, const tree_node* node)
{
    const mesh* m = s->m;
    int found = 0;
    TRY(mesh_object_find(s->r, node, m, &found));
    for (int f = 0; f < m->face_count; f++)
    {
        for (int k = m->face_start[f]; k < m->face_start[f + 1] && m->face_object[f] == found; k++)
        {
            s->flags[m->face_vertex[k]] = 1;
        }
    }
    return WEFT_OK;
}

static void select_side(const selection* s, int side)
{
    for (int k = s->m->side_start[side]; k < s->m->side_start[side + 1]; k++)
    {
        s->flags[s->m->side_vertex[k]] = 1;
    }
}

// A stitch of a pattern by its number, both sides of it; or an edge of a panel, ["NAME", number].
static weft_status select_seam(const selection* s, const tree_node* node)
{
    const mesh* m = s->m;
    int number = 0, panel = 0;
    if (m->side_count == 0)
    {
        return read_error(s->r, node, "only sewing patterns have seams; for other meshes use \"box\" or \"vertices\"");
    }
    if (node->kind == TREE_NUMBER)
    {
        field limits = {.key = "", .kind = FIELD_INT, .minimum = 0.0, .maximum = m->seam_count - 1.0};
        TRY(read_int(s->r, node, &limits, &number));
        select_side(s, m->seam_side[2 * number]);
        select_side(s, m->seam_side[2 * number + 1]);
        return WEFT_OK;
    }
    if (node->kind != TREE_ARRAY || node->child_count != 2)
    {
        return read_wrong_kind(s->r, node, "the number of a stitch, or [\"PANEL\", number of its edge]");
    }
    TRY(mesh_object_find(s->r, node->first, m, &panel));
    int first = m->side_first[panel], count = m->side_first[panel + 1] - first;
    field limits = {.key = "", .kind = FIELD_INT, .minimum = 0.0, .maximum = count - 1.0};
    TRY(read_int(s->r, node->first->next, &limits, &number));
    select_side(s, first + number);
    return WEFT_OK;
}

static weft_status select_where(const selection* s, const tree_node* node)
{
    selection_keys keys = {0};
    TRY(read_fields(s->r, node, selection_fields, FIELD_COUNT(selection_fields), &keys));
    if (node->child_count != 1)
    {
        return read_error(s->r, node, "expected exactly one of vertices, box, edge, corner, nearest, object, seam; found %d",
                          node->child_count);
    }
    if (keys.vertices)
    {
        return select_vertices(s, keys.vertices);
    }
    if (keys.box)
    {
        return select_box(s, keys.box);
    }
    if (keys.edge)
    {
        return select_words(s, keys.edge, select_edge);
    }
    if (keys.seam)
    {
        return select_seam(s, keys.seam);
    }
    if (keys.object)
    {
        return select_words(s, keys.object, select_object);
    }
    return keys.corner ? select_words(s, keys.corner, select_corner) : select_nearest(s, keys.nearest);
}

static weft_status select_nothing(const selection* s, const tree_node* node)
{
    vec3 low, high;
    mesh_bounds(s->m, &low, &high);
    return read_error(
        s->r, node, "selects no vertex; the mesh at its start spans [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g]%s", low.x,
        low.y, low.z, high.x, high.y, high.z, s->m->edge_mask ? ", and an edge or corner must exist in its shape" : "");
}

static weft_status selection_collect(const selection* s, const tree_node* node, int** out, int* out_count)
{
    int count = 0;
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        count += s->flags[k];
    }
    if (count == 0)
    {
        return select_nothing(s, node);
    }
    *out = MEM_NEW(count, int);
    if (!*out)
    {
        return read_no_memory(s->r);
    }
    *out_count = 0;
    for (int k = 0; k < s->m->vertex_count; k++)
    {
        if (s->flags[k])
        {
            (*out)[(*out_count)++] = k;
        }
    }
    return WEFT_OK;
}

weft_status selection_read(const scene_reader* r, const tree_node* node, const mesh* m, int** out, int* out_count)
{
    selection s = {r, m, MEM_NEW(m->vertex_count, unsigned char)};
    if (!s.flags)
    {
        return read_no_memory(r);
    }
    weft_status status = select_where(&s, node);
    if (status == WEFT_OK)
    {
        status = selection_collect(&s, node, out, out_count);
    }
    mem_free(s.flags);
    return status;
}
