// Meshes that are neither sheets nor OBJ files: files of tetrahedra, boxes, bars and balls of them, brushes of strands.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    CELLS_MAX = 100000,
    SOLID_VERTICES_MAX = 16000000
};

static const field size_limits = {"", FIELD_NUMBER, 0, POSITIVE};
static const field cells_limits = {"", FIELD_INT, 0, 1.0, CELLS_MAX, false};
static const field count_limits = {"", FIELD_INT, 0, 1.0, 1e6, false};

// A list of numbers, which all have the same limits.
static weft_status read_list(const scene_reader* r, const tree_node* node, const field* limits, int count, double* out)
{
    if (node->kind != TREE_ARRAY || node->child_count != count)
    {
        return read_error(r, node, "expected a list of %d numbers", count);
    }
    const tree_node* child = node->first;
    for (int k = 0; k < count; k++, child = child->next)
    {
        int whole = 0;
        TRY(limits->kind == FIELD_INT ? read_int(r, child, limits, &whole) : read_number(r, child, limits, &out[k]));
        out[k] = limits->kind == FIELD_INT ? whole : out[k];
    }
    return WEFT_OK;
}

static weft_status made(const scene_reader* r, const tree_node* node, weft_status status, const weft_error* reason)
{
    return status == WEFT_OK ? WEFT_OK : mesh_error(r, node, status, reason);
}

static weft_status check_vertices(const scene_reader* r, const tree_node* node, double vertices)
{
    return vertices <= SOLID_VERTICES_MAX
               ? WEFT_OK
               : read_error(r, node, "would have %.0f vertices; at most %d are allowed", vertices, SOLID_VERTICES_MAX);
}

// ---- boxes, bars and balls

typedef struct solid_keys
{
    const tree_node *size, *cells;
    double radius;
    int layers;
} solid_keys;

static const field box_fields[] = {
    {"size", FIELD_NODE, offsetof(solid_keys, size), ANY_NUMBER},
    {"cells", FIELD_NODE, offsetof(solid_keys, cells), ANY_NUMBER},
};

static const field ball_fields[] = {
    {"radius", FIELD_NUMBER, offsetof(solid_keys, radius), POSITIVE},
    {"cells", FIELD_INT, offsetof(solid_keys, layers), 1.0, CELLS_MAX, false},
};

// numbers: of a box three, of a bar two, the length and the width; one number for all.
static weft_status read_sizes(const scene_reader* r, const tree_node* node, int numbers, vec3* out)
{
    double size[3] = {0};
    if (node->kind == TREE_NUMBER && numbers == 3)
    {
        TRY(read_number(r, node, &size_limits, &size[0]));
        size[1] = size[2] = size[0];
    }
    else
    {
        TRY(read_list(r, node, &size_limits, numbers, size));
    }
    *out = v3(size[0], size[1], size[numbers - 1]);
    return WEFT_OK;
}

// One number is along x, and the other ways get cells of about that length.
static weft_status read_cells(const scene_reader* r, const tree_node* node, int numbers, vec3 sizes, int* out)
{
    const double size[3] = {sizes.x, sizes.y, sizes.z};
    double cells[3];
    if (node && node->kind == TREE_ARRAY)
    {
        TRY(read_list(r, node, &cells_limits, numbers, cells));
        cells[2] = cells[numbers - 1];
    }
    else
    {
        int along = 10;
        TRY(node ? read_int(r, node, &cells_limits, &along) : WEFT_OK);
        for (int k = 0; k < 3; k++)
        {
            cells[k] = fmin(fmax(1.0, round(along * (size[k] / size[0]))), CELLS_MAX);
        }
    }
    for (int k = 0; k < 3; k++)
    {
        out[k] = (int)cells[k];
    }
    return WEFT_OK;
}

static weft_status box_mesh(const scene_reader* r, const tree_node* node, int numbers, mesh* out)
{
    solid_keys keys = {0};
    vec3 size;
    int cells[3];
    TRY(read_fields(r, node, box_fields, FIELD_COUNT(box_fields), &keys));
    if (!keys.size)
    {
        return read_error(r, node, "a %s needs a \"size\" in metres, for example %s", node->key,
                          numbers == 3 ? "[0.2, 0.1, 0.1]" : "[1, 0.1] for length and width");
    }
    TRY(read_sizes(r, keys.size, numbers, &size));
    TRY(read_cells(r, keys.cells, numbers, size, cells));
    TRY(check_vertices(r, node, (cells[0] + 1.0) * (cells[1] + 1.0) * (cells[2] + 1.0)));
    weft_error reason = {0};
    return made(r, node, mesh_from_box(size, cells, out, &reason), &reason);
}

static weft_status ball_mesh(const scene_reader* r, const tree_node* node, mesh* out)
{
    solid_keys keys = {.layers = 6};
    TRY(read_fields(r, node, ball_fields, FIELD_COUNT(ball_fields), &keys));
    if (!(keys.radius > 0.0))
    {
        return read_error(r, node, "a ball needs a \"radius\", for example {\"radius\": 0.1} (m)");
    }
    double n = keys.layers;
    TRY(check_vertices(r, node, (2.0 * n + 1.0) * (2.0 * n * n + 2.0 * n + 3.0) / 3.0));
    weft_error reason = {0};
    return made(r, node, mesh_from_ball(keys.radius, keys.layers, out, &reason), &reason);
}

weft_status solid_mesh(const scene_reader* r, const tree_node* node, mesh* out)
{
    typedef struct one_of
    {
        const tree_node *box, *bar, *ball;
    } one_of;
    static const field fields[] = {
        {"box", FIELD_NODE, offsetof(one_of, box), ANY_NUMBER},
        {"bar", FIELD_NODE, offsetof(one_of, bar), ANY_NUMBER},
        {"ball", FIELD_NODE, offsetof(one_of, ball), ANY_NUMBER},
    };
    one_of keys = {0};
    TRY(read_fields(r, node, fields, FIELD_COUNT(fields), &keys));
    if (node->child_count != 1)
    {
        return read_error(r, node, "expected exactly one of box, bar, ball; found %d", node->child_count);
    }
    return keys.ball ? ball_mesh(r, keys.ball, out)
                     : box_mesh(r, keys.box ? keys.box : keys.bar, keys.box ? 3 : 2, out);
}

// ---- brushes

typedef struct brush_keys
{
    const tree_node *size, *count;
    int vertices;
    double length, spread;
} brush_keys;

static const field brush_fields[] = {
    {"size", FIELD_NODE, offsetof(brush_keys, size), ANY_NUMBER},
    {"count", FIELD_NODE, offsetof(brush_keys, count), ANY_NUMBER},
    {"vertices", FIELD_INT, offsetof(brush_keys, vertices), 2.0, 1e6, false},
    {"length", FIELD_NUMBER, offsetof(brush_keys, length), POSITIVE},
    {"spread", FIELD_NUMBER, offsetof(brush_keys, spread), NOT_NEGATIVE},
};

weft_status brush_mesh(const scene_reader* r, const tree_node* node, mesh* out)
{
    brush_keys keys = {.vertices = 20, .length = 0.1};
    double size[2] = {0.05, 0.05}, count[2] = {10, 10};
    TRY(read_fields(r, node, brush_fields, FIELD_COUNT(brush_fields), &keys));
    TRY(keys.size ? read_list(r, keys.size, &size_limits, 2, size) : WEFT_OK);
    TRY(keys.count ? read_list(r, keys.count, &count_limits, 2, count) : WEFT_OK);
    TRY(check_vertices(r, node, count[0] * count[1] * keys.vertices));
    brush_options options = {size[0], size[1], (int)count[0], (int)count[1], keys.vertices, keys.length, keys.spread};
    weft_error reason = {0};
    return made(r, node, mesh_from_brush(&options, out, &reason), &reason);
}
