// A body from a glTF file: the nodes of its scene with their meshes and skins, one animation, and its triangles.
#include <string.h>

#include "scene/gltf_file.h"

enum
{
    BODY_VERTICES_MAX = 16000000,
    NAMES_MAX = 64 // that an error looks through
};

// ---- nodes

static weft_status node_read(const gltf_file* f, const tree_node* from, gltf_node* out)
{
    double matrix[16];
    bool found;
    *out = (gltf_node){.parent = -1, .rotation = {0.0, 0.0, 0.0, 1.0}, .scale = {1.0, 1.0, 1.0}};
    TRY(gltf_numbers(f, from, "matrix", 16, matrix, &out->has_matrix));
    for (int k = 0; k < 12 && out->has_matrix; k++) // the file has columns
    {
        out->matrix.m[k] = matrix[4 * (k % 4) + k / 4];
    }
    TRY(gltf_numbers(f, from, "translation", 3, out->translation, &found));
    TRY(gltf_numbers(f, from, "rotation", 4, out->rotation, &found));
    return gltf_numbers(f, from, "scale", 3, out->scale, &found);
}

static weft_status children_read(const gltf_file* f, int parent, gltf_body* b)
{
    const tree_node* children;
    TRY(gltf_get(f, f->nodes.item[parent], "children", TREE_ARRAY, &children));
    for (const tree_node* child = children ? children->first : NULL; child; child = child->next)
    {
        int index;
        TRY(gltf_index_of(f, child, "nodes", b->node_count, &index));
        if (b->node[index].parent >= 0)
        {
            return gltf_wrong(f, child, "node %d has two parents; export the file again", index);
        }
        b->node[index].parent = parent;
    }
    return WEFT_OK;
}

// Parents first. What no root leads to goes round in a circle.
static weft_status nodes_order(const gltf_file* f, gltf_body* b)
{
    int count = 0;
    for (int k = 0; k < b->node_count; k++)
    {
        if (b->node[k].parent < 0)
        {
            b->order[count++] = k;
        }
    }
    for (int at = 0; at < count; at++)
    {
        const tree_node* children = tree_member(f->nodes.item[b->order[at]], "children");
        for (const tree_node* child = children ? children->first : NULL; child; child = child->next)
        {
            b->order[count++] = (int)child->number;
        }
    }
    return count == b->node_count ? WEFT_OK
                                  : gltf_wrong(f, tree_member(f->root, "nodes"),
                                               "some nodes are their own ancestors; export the file again");
}

static weft_status nodes_read(const gltf_file* f, gltf_body* b)
{
    b->node_count = f->nodes.count;
    size_t count = (size_t)int_max(b->node_count, 1);
    b->node = MEM_NEW(count, gltf_node);
    b->posed = MEM_NEW(count, gltf_node);
    b->world = MEM_NEW(count, affine);
    b->order = MEM_NEW(count, int);
    if (!b->node || !b->posed || !b->world || !b->order)
    {
        return gltf_no_memory(f);
    }
    for (int k = 0; k < b->node_count; k++)
    {
        TRY(node_read(f, f->nodes.item[k], &b->node[k]));
    }
    for (int k = 0; k < b->node_count; k++)
    {
        TRY(children_read(f, k, b));
    }
    return nodes_order(f, b);
}

// ---- skins

static weft_status binds_read(gltf_file* f, const tree_node* from, gltf_skin* skin)
{
    const tree_node* named = tree_member(from, "inverseBindMatrices");
    gltf_values matrices = {0};
    TRY(named ? gltf_accessor(f, named, 16, &matrices) : WEFT_OK);
    weft_status status = !named || matrices.count >= skin->joint_count
                             ? WEFT_OK
                             : gltf_wrong(f, named, "%d inverse bind matrices for %d joints; export the file again",
                                          matrices.count, skin->joint_count);
    for (int j = 0; j < skin->joint_count && status == WEFT_OK; j++)
    {
        for (int k = 0; k < 12; k++)
        {
            skin->bind[j].m[k] = named ? matrices.value[16 * j + 4 * (k % 4) + k / 4] : k % 5 == 0;
        }
    }
    mem_free(matrices.value);
    return status;
}

static weft_status skin_read(gltf_file* f, const tree_node* from, const gltf_body* b, gltf_skin* skin)
{
    const tree_node* joints;
    TRY(gltf_get(f, from, "joints", TREE_ARRAY, &joints));
    if (!joints || joints->child_count == 0)
    {
        return gltf_wrong(f, from, "the skin has no joints; export the file again");
    }
    skin->joint = MEM_NEW(joints->child_count, int);
    skin->bind = MEM_NEW(joints->child_count, affine);
    skin->world = MEM_NEW(joints->child_count, affine);
    if (!skin->joint || !skin->bind || !skin->world)
    {
        return gltf_no_memory(f);
    }
    for (const tree_node* child = joints->first; child; child = child->next)
    {
        TRY(gltf_index_of(f, child, "nodes", b->node_count, &skin->joint[skin->joint_count]));
        skin->joint_count++;
    }
    return binds_read(f, from, skin);
}

static weft_status skins_read(gltf_file* f, gltf_body* b)
{
    b->skin = MEM_NEW(int_max(f->skins.count, 1), gltf_skin);
    if (!b->skin)
    {
        return gltf_no_memory(f);
    }
    for (int k = 0; k < f->skins.count; k++)
    {
        b->skin_count++;
        TRY(skin_read(f, f->skins.item[k], b, &b->skin[k]));
    }
    return WEFT_OK;
}

// ---- parts

// Nodes of the file's scene, and what hangs below them; without a scene, all.
static weft_status scene_mark(const gltf_file* f, const gltf_body* b, unsigned char* shown)
{
    int index;
    TRY(gltf_index(f, f->root, "scene", f->scenes.count, &index));
    const tree_node *scene = f->scenes.count > 0 ? f->scenes.item[int_max(index, 0)] : NULL, *roots = NULL;
    TRY(scene ? gltf_get(f, scene, "nodes", TREE_ARRAY, &roots) : WEFT_OK);
    for (const tree_node* root = roots ? roots->first : NULL; root; root = root->next)
    {
        TRY(gltf_index_of(f, root, "nodes", b->node_count, &index));
        shown[index] = 1;
    }
    for (int k = 0; k < b->node_count; k++)
    {
        int node = b->order[k], parent = b->node[node].parent;
        shown[node] |= !scene || (parent >= 0 && shown[parent]);
    }
    return WEFT_OK;
}

static bool is_wanted(const gltf_file* f, int node, int mesh, const char* object)
{
    const char *own = gltf_name(f->nodes.item[node]), *of_mesh = gltf_name(f->meshes.item[mesh]);
    return !object || (own && strcmp(own, object) == 0) || (of_mesh && strcmp(of_mesh, object) == 0);
}

static weft_status part_add(gltf_file* f, int node, int mesh, gltf_body* b)
{
    gltf_part* part = &b->part[b->part_count++];
    const tree_node* from = f->nodes.item[node];
    const char* name = gltf_name(from) ? gltf_name(from) : gltf_name(f->meshes.item[mesh]);
    char number[32];
    snprintf(number, sizeof(number), "node%d", node);
    *part = (gltf_part){.node = node, .name = mem_strdup(name ? name : number)};
    TRY(part->name ? gltf_index(f, from, "skin", b->skin_count, &part->skin) : gltf_no_memory(f));
    TRY(gltf_part_read(f, f->meshes.item[mesh], b, part));
    b->vertex_count += part->vertex_count;
    return b->vertex_count <= BODY_VERTICES_MAX
               ? WEFT_OK
               : gltf_wrong(f, from, "the body has more than %d vertices; choose a part of it by \"object\"",
                            BODY_VERTICES_MAX);
}

// No such object: those that there are.
static weft_status object_missing(const gltf_file* f, const unsigned char* shown, const char* object)
{
    const char* names[NAMES_MAX];
    int count = 0;
    for (int k = 0; k < f->nodes.count && count < NAMES_MAX; k++)
    {
        const char* name = tree_member(f->nodes.item[k], "mesh") && shown[k] ? gltf_name(f->nodes.item[k]) : NULL;
        count += name ? (names[count] = name, 1) : 0;
    }
    const char* near = suggest_name(object, names, count);
    error_set(f->error, WEFT_NOT_FOUND, f->path, 0,
              "there is no node with a mesh, and no mesh, named `%.60s` in the file%s%.60s%s", object,
              near    ? "; did you mean `"
              : count ? "; there is `"
                      : "",
              near    ? near
              : count ? names[0]
                      : "",
              near    ? "`?"
              : count ? "`"
                      : "");
    return WEFT_NOT_FOUND;
}

static weft_status parts_choose(gltf_file* f, const char* object, gltf_body* b, unsigned char* shown)
{
    TRY(scene_mark(f, b, shown));
    for (int k = 0; k < b->node_count; k++)
    {
        int mesh;
        TRY(gltf_index(f, f->nodes.item[k], "mesh", f->meshes.count, &mesh));
        if (mesh >= 0 && shown[k] && is_wanted(f, k, mesh, object))
        {
            TRY(part_add(f, k, mesh, b));
        }
    }
    if (object && b->part_count == 0)
    {
        return object_missing(f, shown, object);
    }
    int triangles = 0;
    for (int k = 0; k < b->part_count; k++)
    {
        triangles += b->part[k].triangle_count;
    }
    return triangles > 0
               ? WEFT_OK
               : gltf_wrong(f, tree_member(f->root, "meshes"),
                            "the file has no triangle in its scene, so there is nothing that cloth could touch; "
                            "export the body's mesh, with faces");
}

static weft_status parts_read(gltf_file* f, const char* object, gltf_body* b)
{
    unsigned char* shown = MEM_NEW(int_max(b->node_count, 1), unsigned char);
    b->part = MEM_NEW(int_max(b->node_count, 1), gltf_part);
    weft_status status = shown && b->part ? parts_choose(f, object, b, shown) : gltf_no_memory(f);
    mem_free(shown);
    return status;
}

// ---- the whole

void gltf_body_destroy(gltf_body* b)
{
    if (!b)
    {
        return;
    }
    for (int k = 0; k < b->skin_count; k++)
    {
        mem_free(b->skin[k].joint);
        mem_free(b->skin[k].bind);
        mem_free(b->skin[k].world);
    }
    for (int k = 0; k < b->part_count; k++)
    {
        gltf_part* part = &b->part[k];
        void* const all[] = {part->row, part->weight, part->pose_weight, part->triangle, part->name};
        for (int i = 0; i < 5; i++)
        {
            mem_free(all[i]);
        }
    }
    for (int k = 0; k < b->channel_count; k++)
    {
        mem_free(b->channel[k].time);
        mem_free(b->channel[k].value);
    }
    void* const all[] = {b->node, b->posed, b->world, b->order, b->skin, b->part, b->channel, b->other};
    for (int i = 0; i < 8; i++)
    {
        mem_free(all[i]);
    }
    mem_free(b);
}

weft_status gltf_body_read(const char* path, const gltf_options* options, gltf_body** out, weft_error* error)
{
    gltf_file f;
    gltf_body* b = MEM_NEW(1, gltf_body);
    *out = NULL;
    weft_status status = gltf_open(path, &f, error);
    status = status == WEFT_OK && !b ? gltf_no_memory(&f) : status;
    status = status == WEFT_OK ? nodes_read(&f, b) : status;
    status = status == WEFT_OK ? skins_read(&f, b) : status;
    status = status == WEFT_OK ? parts_read(&f, options->object, b) : status;
    status = status == WEFT_OK ? gltf_motion_read(&f, options, b) : status;
    if (status == WEFT_OK)
    {
        b->other = MEM_NEW(b->vertex_count, vec3);
        status = b->other ? WEFT_OK : gltf_no_memory(&f);
    }
    gltf_close(&f);
    if (status != WEFT_OK)
    {
        gltf_body_destroy(b);
        return status;
    }
    *out = b;
    return WEFT_OK;
}

// ---- as a mesh

static double determinant(const affine* a)
{
    const double* m = a->m;
    const double linear[] = {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
    return m3_determinant(linear);
}

// Whether what moves the part turns it inside out: its node, or, of a skin, what moves its first vertex.
static bool is_mirrored(const gltf_body* b, const gltf_part* part)
{
    if (part->skin < 0)
    {
        return determinant(&b->world[part->node]) < 0.0;
    }
    const double* pair = part->row + 3 + 3 * part->target_count;
    affine sum = {{0}};
    for (int k = 0; k < part->influence_count; k++, pair += 2)
    {
        for (int i = 0; i < 12; i++)
        {
            sum.m[i] += pair[1] * b->skin[part->skin].world[(int)pair[0]].m[i];
        }
    }
    return determinant(&sum) < 0.0;
}

static void part_faces(const gltf_body* b, int index, int first, mesh* m)
{
    const gltf_part* part = &b->part[index];
    bool mirrored = part->vertex_count > 0 && is_mirrored(b, part);
    for (int t = 0; t < part->triangle_count; t++)
    {
        const int* from = part->triangle + 3 * t;
        if (from[0] == from[1] || from[1] == from[2] || from[2] == from[0])
        {
            continue; // welding closed it
        }
        int* to = m->face_vertex + 3 * m->face_count;
        to[0] = first + from[0];
        to[1] = first + from[mirrored ? 2 : 1];
        to[2] = first + from[mirrored ? 1 : 2];
        m->face_object[m->face_count++] = index;
    }
    for (int k = m->object_count; k <= index; k++, m->object_count++)
    {
        m->object_name[k] = mem_strdup(part->name);
    }
}

weft_status gltf_mesh(gltf_body* b, const char* path, double time, mesh* out, weft_error* error)
{
    int triangles = 0;
    for (int k = 0; k < b->part_count; k++)
    {
        triangles += b->part[k].triangle_count;
    }
    *out = (mesh){.form = MESH_SHEET, .vertex_count = b->vertex_count, .file = mem_strdup(path)};
    out->position = MEM_NEW(b->vertex_count, vec3);
    out->face_start = MEM_NEW(triangles + 1, int);
    out->face_vertex = MEM_NEW(3 * (size_t)triangles, int);
    out->face_object = MEM_NEW(triangles, int);
    out->object_name = MEM_NEW(b->part_count, char*);
    bool good =
        out->file && out->position && out->face_start && out->face_vertex && out->face_object && out->object_name;
    if (good)
    {
        gltf_pose(b, time, out->position);
        int first = 0;
        for (int k = 0; k < b->part_count; k++)
        {
            part_faces(b, k, first, out);
            good = good && out->object_name[k];
            first += b->part[k].vertex_count;
        }
        for (int k = 0; k <= out->face_count; k++)
        {
            out->face_start[k] = 3 * k;
        }
    }
    if (!good)
    {
        mesh_finish(out);
        return error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory for its mesh");
    }
    return WEFT_OK;
}
