// The mesh of a node in glTF: its primitives together, triangles, strips and fans, with what moves each vertex.
//
// Files split vertices where their texture coordinates or normals change. Here vertices with the same position, the
// same displacements in all morph targets and the same joints with the same weights are one, so that a surface that was
// cut for a texture is closed again. Nothing else is welded: sides that only lie upon each other stay two.
#include <stdlib.h>
#include <string.h>

#include "scene/gltf_file.h"

enum
{
    MODE_TRIANGLES = 4,
    MODE_STRIP = 5,
    MODE_FAN = 6,
    SETS_MAX = 4, // of four joints a vertex
    TARGETS_MAX = 10000,
    VERTICES_MAX = 16000000,
    TRIANGLES_MAX = 50000000
};

static const double rows_max = 134217728.0; // numbers of all rows of a part
static const double uneven = 0.01;          // sums of weights farther from 1 get a note: bytes are off by less

// ---- welding

static uint64_t row_hash(const double* row, int width)
{
    return hash_bytes(14695981039346656037u, row, (size_t)width * sizeof(double));
}

// Keeps the first of equal rows; triangles follow.
weft_status gltf_weld(gltf_part* part, int* welded)
{
    int slots = 16, kept = 0, width = part->row_width;
    while (slots < 2 * part->vertex_count)
    {
        slots *= 2;
    }
    int* slot = MEM_NEW(slots, int); // kept vertex + 1
    int* became = MEM_NEW(int_max(part->vertex_count, 1), int);
    if (!slot || !became)
    {
        mem_free(slot);
        mem_free(became);
        return WEFT_NO_MEMORY;
    }
    size_t bytes = (size_t)width * sizeof(double);
    for (int v = 0; v < part->vertex_count; v++)
    {
        const double* row = part->row + (size_t)v * (size_t)width;
        int at = (int)(row_hash(row, width) & (uint64_t)(slots - 1));
        while (slot[at] && memcmp(part->row + (size_t)(slot[at] - 1) * (size_t)width, row, bytes) != 0)
        {
            at = (at + 1) & (slots - 1);
        }
        if (!slot[at])
        {
            memmove(part->row + (size_t)kept * (size_t)width, row, bytes);
            slot[at] = ++kept;
        }
        became[v] = slot[at] - 1;
    }
    for (int k = 0; k < 3 * part->triangle_count; k++)
    {
        part->triangle[k] = became[part->triangle[k]];
    }
    *welded += part->vertex_count - kept;
    part->vertex_count = kept;
    mem_free(slot);
    mem_free(became);
    return WEFT_OK;
}

// ---- joints and weights

typedef struct influence
{
    double joint, weight;
} influence;

// Few: by insertion.
static void influences_sort(influence* list, int count)
{
    for (int k = 1; k < count; k++)
    {
        influence moved = list[k];
        int at = k;
        for (; at > 0 && list[at - 1].joint > moved.joint; at--)
        {
            list[at] = list[at - 1];
        }
        list[at] = moved;
    }
}

// Zero weights go, joints that come twice are added up, in order of the joints; the sum becomes 1. Returns the sum.
static double influences_clean(influence* list, int count)
{
    int used = 0;
    double sum = 0.0;
    influences_sort(list, count);
    for (int k = 0; k < count; k++)
    {
        influence next = list[k];
        sum += next.weight;
        if (next.weight > 0.0 && used > 0 && list[used - 1].joint == next.joint)
        {
            list[used - 1].weight += next.weight;
        }
        else if (next.weight > 0.0)
        {
            list[used++] = next;
        }
    }
    for (int k = 0; k < count; k++)
    {
        list[k] = k < used ? (influence){list[k].joint, list[k].weight / sum} : (influence){0};
    }
    return sum;
}

// One set of four, JOINTS_n and WEIGHTS_n, to place 4 n of each row.
static weft_status set_read(gltf_file* f, const tree_node* attributes, int set, const gltf_body* b, gltf_part* part,
                            int first)
{
    char joints_key[24], weights_key[24];
    snprintf(joints_key, sizeof(joints_key), "JOINTS_%d", set);
    snprintf(weights_key, sizeof(weights_key), "WEIGHTS_%d", set);
    const tree_node *joints_node = tree_member(attributes, joints_key),
                    *weights_node = tree_member(attributes, weights_key);
    if (!joints_node != !weights_node || (set == 0 && !joints_node))
    {
        return gltf_wrong(f, attributes, "the mesh is skinned and lacks %s; export it with weights",
                          joints_node ? weights_key : joints_key);
    }
    if (!joints_node)
    {
        return WEFT_OK;
    }
    gltf_values joints = {0}, weights = {0};
    weft_status status = gltf_accessor(f, joints_node, 4, &joints);
    status = status == WEFT_OK ? gltf_accessor(f, weights_node, 4, &weights) : status;
    int count = part->vertex_count - first, joint_count = b->skin[part->skin].joint_count;
    if (status == WEFT_OK && (joints.count != count || weights.count != count))
    {
        status = gltf_wrong(f, attributes, "%d positions, %d joints, %d weights: expected as many of each", count,
                            joints.count, weights.count);
    }
    for (int k = 0; k < 4 * count && status == WEFT_OK; k++)
    {
        double weight = weights.value[k], joint = joints.value[k];
        if (weight < 0.0 || (weight > 0.0 && !(joint >= 0.0 && joint < joint_count)))
        {
            status =
                gltf_wrong(f, weights_node,
                           "vertex %d (counted from 0) hangs on joint %g of %d by the weight %g; export the file again",
                           k / 4, joint, joint_count, weight);
        }
        double* row = part->row + (size_t)(first + k / 4) * (size_t)part->row_width;
        influence* list = (influence*)(row + 3 + 3 * part->target_count);
        list[4 * set + k % 4] = weight > 0.0 ? (influence){joint, weight} : (influence){0};
    }
    mem_free(joints.value);
    mem_free(weights.value);
    return status;
}

static weft_status skinning_read(gltf_file* f, const tree_node* attributes, gltf_body* b, gltf_part* part, int first)
{
    for (int set = 0; 4 * set < part->influence_count; set++)
    {
        TRY(set_read(f, attributes, set, b, part, first));
    }
    for (int v = first; v < part->vertex_count; v++)
    {
        influence* list = (influence*)(part->row + (size_t)v * (size_t)part->row_width + 3 + 3 * part->target_count);
        double sum = influences_clean(list, part->influence_count);
        if (!(sum > 1e-6))
        {
            return gltf_wrong(f, attributes,
                              "the weights of vertex %d (counted from 0) add up to %g: it hangs on no joint; give it "
                              "weights and export the file again",
                              v - first, sum);
        }
        if (fabs(sum - 1.0) > uneven)
        {
            b->notes.uneven_worst = fabs(sum - 1.0) > fabs(b->notes.uneven_worst - 1.0) || b->notes.uneven_count == 0
                                        ? sum
                                        : b->notes.uneven_worst;
            b->notes.uneven_count++;
        }
    }
    return WEFT_OK;
}

// ---- positions and targets

// An accessor of positions or displacements, to place `column` of the rows from `first` on.
static weft_status vectors_read(gltf_file* f, const tree_node* named, gltf_part* part, int first, int column)
{
    gltf_values x;
    TRY(gltf_accessor(f, named, 3, &x));
    weft_status status = x.count == part->vertex_count - first
                             ? WEFT_OK
                             : gltf_wrong(f, named, "%d displacements of %d positions; export the file again", x.count,
                                          part->vertex_count - first);
    for (int v = 0; v < x.count && status == WEFT_OK; v++)
    {
        double* to = part->row + (size_t)(first + v) * (size_t)part->row_width + column;
        for (int k = 0; k < 3; k++)
        {
            to[k] = x.value[3 * v + k] + 0.0; // -0 and 0 are one place
        }
    }
    mem_free(x.value);
    return status;
}

static weft_status vertices_read(gltf_file* f, const tree_node* primitive, gltf_body* b, gltf_part* part, int first)
{
    const tree_node *attributes, *targets;
    TRY(gltf_get(f, primitive, "attributes", TREE_OBJECT, &attributes));
    TRY(gltf_get(f, primitive, "targets", TREE_ARRAY, &targets));
    TRY(vectors_read(f, tree_member(attributes, "POSITION"), part, first, 0));
    int column = 3;
    for (const tree_node* target = targets ? targets->first : NULL; target; target = target->next, column += 3)
    {
        const tree_node* moved = target->kind == TREE_OBJECT ? tree_member(target, "POSITION") : NULL;
        TRY(moved ? vectors_read(f, moved, part, first, column) : WEFT_OK);
    }
    return part->influence_count > 0 ? skinning_read(f, attributes, b, part, first) : WEFT_OK;
}

// ---- triangles

static weft_status triangle_add(const gltf_file* f, gltf_part* part, int* capacity, const int* corner,
                                gltf_notes* notes)
{
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
    {
        notes->dropped++; // strips turn by them
        return WEFT_OK;
    }
    void* list = part->triangle;
    if (part->triangle_count >= TRIANGLES_MAX || !mem_grow(&list, capacity, 3 * part->triangle_count + 3, sizeof(int)))
    {
        return gltf_no_memory(f);
    }
    part->triangle = list;
    memcpy(part->triangle + 3 * part->triangle_count++, corner, 3 * sizeof(int));
    return WEFT_OK;
}

// Corner numbers of triangle k among the primitive's indices.
static void corners_of(int mode, int k, int* out)
{
    out[0] = mode == MODE_TRIANGLES ? 3 * k : mode == MODE_FAN ? 0 : k;
    out[1] = mode == MODE_TRIANGLES ? 3 * k + 1 : mode == MODE_FAN ? k + 1 : k + 1 + k % 2;
    out[2] = mode == MODE_TRIANGLES ? 3 * k + 2 : mode == MODE_FAN ? k + 2 : k + 2 - k % 2;
}

static weft_status triangles_read(gltf_file* f, const tree_node* primitive, gltf_body* b, gltf_part* part, int first,
                                  int* capacity)
{
    const tree_node *mode_node, *named = tree_member(primitive, "indices");
    TRY(gltf_get(f, primitive, "mode", TREE_NUMBER, &mode_node));
    int mode = mode_node && mode_node->number <= MODE_FAN ? (int)mode_node->number : MODE_TRIANGLES;
    int vertices = part->vertex_count - first;
    gltf_values indices = {.count = vertices};
    TRY(named ? gltf_accessor(f, named, 1, &indices) : WEFT_OK);
    int count = mode == MODE_TRIANGLES ? indices.count / 3 : int_max(indices.count - 2, 0);
    weft_status status = WEFT_OK;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        int corner[3];
        corners_of(mode, k, corner);
        for (int c = 0; c < 3 && status == WEFT_OK; c++)
        {
            double vertex = named ? indices.value[corner[c]] : corner[c];
            status = vertex >= 0.0 && vertex < vertices
                         ? WEFT_OK
                         : gltf_wrong(f, named, "index %d names vertex %g of %d; export the file again", corner[c],
                                      vertex, vertices);
            corner[c] = status == WEFT_OK ? first + (int)vertex : 0;
        }
        status = status == WEFT_OK ? triangle_add(f, part, capacity, corner, &b->notes) : status;
    }
    mem_free(indices.value);
    return status;
}

// ---- the part

static bool has_triangles(const tree_node* primitive)
{
    const tree_node* mode = tree_member(primitive, "mode");
    return !mode || mode->kind != TREE_NUMBER || mode->number >= MODE_TRIANGLES;
}

// How many positions a primitive has, without reading them, and that all of them have the same targets.
static weft_status primitive_survey(gltf_file* f, const tree_node* primitive, gltf_part* part, bool is_first,
                                    double* vertices)
{
    const tree_node *attributes, *targets, *count;
    int index;
    if (primitive->kind != TREE_OBJECT)
    {
        return gltf_wrong(f, primitive, "expected an object, found %s", tree_kind_text(primitive->kind));
    }
    TRY(gltf_get(f, primitive, "attributes", TREE_OBJECT, &attributes));
    TRY(gltf_get(f, primitive, "targets", TREE_ARRAY, &targets));
    const tree_node* position = attributes ? tree_member(attributes, "POSITION") : NULL;
    if (!position)
    {
        return gltf_wrong(f, primitive, "the primitive has no POSITION; export the file again");
    }
    TRY(gltf_index_of(f, position, "accessors", f->accessors.count, &index));
    TRY(gltf_get(f, f->accessors.item[index], "count", TREE_NUMBER, &count));
    int target_count = targets ? targets->child_count : 0;
    if (target_count > TARGETS_MAX || (!is_first && target_count != part->target_count))
    {
        return gltf_wrong(f, primitive,
                          "%d morph targets where the mesh's first primitive has %d (at most %d are read)",
                          target_count, part->target_count, TARGETS_MAX);
    }
    part->target_count = target_count;
    for (int set = 0; set < SETS_MAX && part->skin >= 0; set++)
    {
        char key[24];
        snprintf(key, sizeof(key), "JOINTS_%d", set);
        part->influence_count = tree_member(attributes, key) ? int_max(part->influence_count, 4 * set + 4)
                                                             : int_max(part->influence_count, 4);
    }
    *vertices += count && count->number >= 0.0 && count->number <= VERTICES_MAX ? count->number : 2.0 * VERTICES_MAX;
    return *vertices <= VERTICES_MAX
               ? WEFT_OK
               : gltf_wrong(f, primitive, "the mesh has more than %d vertices; make it coarser", VERTICES_MAX);
}

// Weights of the targets: the node's, or else the mesh's, or none.
static weft_status weights_read(const gltf_file* f, const tree_node* mesh, gltf_part* part)
{
    bool found = false;
    part->weight = MEM_NEW(int_max(part->target_count, 1), double);
    part->pose_weight = MEM_NEW(int_max(part->target_count, 1), double);
    if (!part->weight || !part->pose_weight)
    {
        return gltf_no_memory(f);
    }
    TRY(gltf_numbers(f, f->nodes.item[part->node], "weights", part->target_count, part->weight, &found));
    return found ? WEFT_OK : gltf_numbers(f, mesh, "weights", part->target_count, part->weight, &found);
}

weft_status gltf_part_read(gltf_file* f, const tree_node* mesh, gltf_body* b, gltf_part* part)
{
    const tree_node* primitives;
    double vertices = 0.0;
    bool is_first = true;
    TRY(gltf_get(f, mesh, "primitives", TREE_ARRAY, &primitives));
    for (const tree_node* p = primitives ? primitives->first : NULL; p; p = p->next)
    {
        TRY(primitive_survey(f, p, part, is_first, &vertices));
        is_first = false;
    }
    part->row_width = 3 + 3 * part->target_count + 2 * part->influence_count;
    if (vertices * part->row_width > rows_max)
    {
        return gltf_wrong(f, mesh, "%.0f vertices with %d morph targets are more than fit; make the mesh coarser",
                          vertices, part->target_count);
    }
    part->row = mem_alloc((size_t)vertices * (size_t)part->row_width + 1, sizeof(double));
    TRY(part->row ? weights_read(f, mesh, part) : gltf_no_memory(f));
    int capacity = 0;
    for (const tree_node* p = primitives ? primitives->first : NULL; p; p = p->next)
    {
        if (!has_triangles(p))
        {
            b->notes.other_modes++;
            continue;
        }
        // The survey has the accessor's own count, which reading checks again.
        int first = part->vertex_count, index = 0;
        TRY(gltf_index_of(f, tree_member(tree_member(p, "attributes"), "POSITION"), "accessors", f->accessors.count,
                          &index));
        part->vertex_count += (int)tree_member(f->accessors.item[index], "count")->number;
        TRY(vertices_read(f, p, b, part, first));
        TRY(triangles_read(f, p, b, part, first, &capacity));
    }
    return gltf_weld(part, &b->notes.welded) == WEFT_OK ? WEFT_OK : gltf_no_memory(f);
}
