// The mesh of a body or of an obstacle: a grid, a file or another source, put in place by the transform, checked, with
// its flat rest shape when the scene says "rest": "uv".
#include <stdlib.h>
#include <string.h>

#include "math/metric.h"
#include "scene/pattern_read.h"
#include "scene/scene_data.h"

enum
{
    GRID_CELLS_MAX = 1000000,
    GRID_VERTICES_MAX = 16000000
};

static const double uv_size_max = 1.5;    // start over rest shape, half of the edges: more is likely another unit
static const double uv_stretch_max = 3.0; // of a triangle at the start: seams are drawn together by less

// ---- grids

typedef struct grid_keys
{
    const tree_node *size, *cells, *tessellation, *faces, *plane, *shape;
    double flare, seed;
} grid_keys;

static const field grid_fields[] = {
    {"size", FIELD_NODE, offsetof(grid_keys, size), ANY_NUMBER},
    {"cells", FIELD_NODE, offsetof(grid_keys, cells), ANY_NUMBER},
    {"tessellation", FIELD_NODE, offsetof(grid_keys, tessellation), ANY_NUMBER},
    {"faces", FIELD_NODE, offsetof(grid_keys, faces), ANY_NUMBER},
    {"plane", FIELD_NODE, offsetof(grid_keys, plane), ANY_NUMBER},
    {"shape", FIELD_NODE, offsetof(grid_keys, shape), ANY_NUMBER},
    {"flare", FIELD_NUMBER, offsetof(grid_keys, flare), 0.0, HUGE_VAL, false},
    {"seed", FIELD_NUMBER, offsetof(grid_keys, seed), 0.0, 9007199254740991.0, false},
};

static const field size_limits = {"", FIELD_NUMBER, 0, POSITIVE};
static const field edge_limits = {"", FIELD_NUMBER, 0, 1e-4, 10.0, false};
static const field cells_limits = {"", FIELD_INT, 0, 1.0, GRID_CELLS_MAX, false};

static weft_status check_pair(const scene_reader* r, const tree_node* node)
{
    if (node->kind != TREE_ARRAY)
    {
        return read_wrong_kind(r, node, "a number or a list of two");
    }
    return node->child_count == 2 ? WEFT_OK
                                  : read_error(r, node, "expected one number or two, found %d", node->child_count);
}

static weft_status grid_read_size(const scene_reader* r, const tree_node* node, grid_options* out)
{
    if (node->kind == TREE_NUMBER)
    {
        TRY(read_number(r, node, &size_limits, &out->size_u));
        out->size_v = out->size_u;
        return WEFT_OK;
    }
    TRY(check_pair(r, node));
    TRY(read_number(r, node->first, &size_limits, &out->size_u));
    return read_number(r, node->last, &size_limits, &out->size_v);
}

// From one number of cells along u: cells of the L come in pairs, others need only be near squares.
static int grid_cells_v(const grid_options* grid)
{
    double unit = grid->l_shape ? 2.0 : 1.0;
    double cells = unit * round(grid->cells_u * (grid->size_v / grid->size_u) / unit);
    return (int)fmin(fmax(cells, unit), (double)GRID_CELLS_MAX);
}

static weft_status grid_read_cells(const scene_reader* r, const tree_node* node, grid_options* out)
{
    if (node && node->kind == TREE_ARRAY)
    {
        TRY(check_pair(r, node));
        TRY(read_int(r, node->first, &cells_limits, &out->cells_u));
        return read_int(r, node->last, &cells_limits, &out->cells_v);
    }
    if (node)
    {
        TRY(read_int(r, node, &cells_limits, &out->cells_u));
    }
    out->cells_v = grid_cells_v(out);
    return WEFT_OK;
}

// Optional choice between two words; *out is true for the second.
static weft_status read_either(const scene_reader* r, const tree_node* node, const char* first, const char* second,
                               bool* out)
{
    if (!node)
    {
        return WEFT_OK;
    }
    const char* const words[] = {first, second};
    int index;
    TRY(read_choice(r, node, words, 2, &index));
    *out = index == 1;
    return WEFT_OK;
}

static weft_status grid_read_shape(const scene_reader* r, const tree_node* node, grid_options* out)
{
    static const char* const words[] = {"rectangle", "l", "tube"};
    int index = 0;
    if (node)
    {
        TRY(read_choice(r, node, words, 3, &index));
    }
    out->l_shape = index == 1;
    out->tube = index == 2;
    return WEFT_OK;
}

static weft_status grid_check(const scene_reader* r, const tree_node* node, const grid_options* grid)
{
    double vertices = ((double)grid->cells_u + 1.0) * ((double)grid->cells_v + 1.0);
    if (vertices > GRID_VERTICES_MAX)
    {
        return read_error(r, node, "the grid would have %.0f vertices; at most %d are allowed, so take fewer cells",
                          vertices, GRID_VERTICES_MAX);
    }
    if (grid->l_shape && (grid->cells_u % 2 != 0 || grid->cells_v % 2 != 0))
    {
        return read_error(r, node, "the L shape needs an even number of cells each way, not %d x %d", grid->cells_u,
                          grid->cells_v);
    }
    return WEFT_OK;
}

weft_status grid_read(const scene_reader* r, const tree_node* node, grid_options* out)
{
    *out = (grid_options){.size_u = 1.0, .size_v = 1.0, .cells_u = 50, .cells_v = 50};
    grid_keys keys = {.seed = 1.0};
    TRY(read_fields(r, node, grid_fields, FIELD_COUNT(grid_fields), &keys));
    TRY(read_either(r, keys.tessellation, "regular", "irregular", &out->irregular));
    TRY(read_either(r, keys.faces, "triangles", "quads", &out->quads));
    TRY(read_either(r, keys.plane, "xz", "xy", &out->upright));
    TRY(grid_read_shape(r, keys.shape, out));
    if (keys.size)
    {
        TRY(grid_read_size(r, keys.size, out));
    }
    TRY(grid_read_cells(r, keys.cells, out));
    if (keys.seed != floor(keys.seed))
    {
        return read_error(r, tree_member(node, "seed"), "must be a whole number, not %g", keys.seed);
    }
    if (keys.flare > 0.0 && !out->tube)
    {
        return read_error(r, tree_member(node, "flare"), "widens tubes; the grid's shape is no tube");
    }
    out->flare = keys.flare;
    out->seed = (uint64_t)keys.seed;
    return grid_check(r, keys.cells ? keys.cells : node, out);
}

// ---- any mesh

typedef struct mesh_keys
{
    const tree_node *grid, *obj, *gltf, *abc, *pattern, *tets, *solid, *brush, *object, *scale, *weld, *edge;
} mesh_keys;

static const field mesh_fields[] = {
    {"grid", FIELD_NODE, offsetof(mesh_keys, grid), ANY_NUMBER},
    {"obj", FIELD_NODE, offsetof(mesh_keys, obj), ANY_NUMBER},
    {"gltf", FIELD_NODE, offsetof(mesh_keys, gltf), ANY_NUMBER},
    {"abc", FIELD_NODE, offsetof(mesh_keys, abc), ANY_NUMBER},
    {"pattern", FIELD_NODE, offsetof(mesh_keys, pattern), ANY_NUMBER},
    {"edge", FIELD_NODE, offsetof(mesh_keys, edge), ANY_NUMBER},
    {"tets", FIELD_NODE, offsetof(mesh_keys, tets), ANY_NUMBER},
    {"solid", FIELD_NODE, offsetof(mesh_keys, solid), ANY_NUMBER},
    {"brush", FIELD_NODE, offsetof(mesh_keys, brush), ANY_NUMBER},
    {"object", FIELD_NODE, offsetof(mesh_keys, object), ANY_NUMBER},
    {"scale", FIELD_NODE, offsetof(mesh_keys, scale), ANY_NUMBER},
    {"weld", FIELD_NODE, offsetof(mesh_keys, weld), ANY_NUMBER},
};

weft_status mesh_error(const scene_reader* r, const tree_node* node, weft_status status, const weft_error* reason)
{
    if (reason->file[0] == '\0')
    {
        read_error(r, node, "%s", reason->message[0] ? reason->message : weft_status_text(status));
        if (r->error)
        {
            r->error->status = status;
        }
    }
    else if (r->error)
    {
        *r->error = *reason;
    }
    return status;
}

// Keys that only meshes from files have.
static weft_status check_made(const scene_reader* r, const mesh_keys* keys)
{
    if (keys->edge && !keys->pattern)
    {
        return read_error_key(r, keys->edge, "only sewing patterns have this key; remove it");
    }
    const tree_node* misplaced = keys->object ? keys->object
                                 : keys->weld ? keys->weld
                                 : keys->tets ? NULL
                                              : keys->scale;
    return misplaced ? read_error_key(r, misplaced, "only meshes from OBJ files have this key; remove it") : WEFT_OK;
}

static weft_status mesh_from_grid_keys(const scene_reader* r, scene_cloth* cloth, const mesh_keys* keys)
{
    TRY(check_made(r, keys));
    cloth->source = "grid";
    cloth->is_grid = true;
    TRY(grid_read(r, keys->grid, &cloth->grid));
    weft_error reason = {0};
    weft_status status = mesh_from_grid(&cloth->grid, &cloth->mesh, &reason);
    return status == WEFT_OK ? WEFT_OK : mesh_error(r, keys->grid, status, &reason);
}

char* scene_file_path(const weft_scene* scene, const char* file)
{
    const char* folder = file[0] == '/' ? "" : scene->folder;
    size_t size = strlen(folder) + strlen(file) + 1;
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s%s", folder, file);
    }
    return path;
}

// What is wrong inside the file stands there; a file or an object that is not there was named by the scene.
static weft_status mesh_file_error(const scene_reader* r, const tree_node* file, const tree_node* object,
                                   weft_status status, weft_error* reason)
{
    if (status == WEFT_NOT_FOUND && reason->line == 0)
    {
        bool has_file = strncmp(reason->message, "cannot be opened", 16) != 0;
        char message[sizeof(reason->message)];
        snprintf(message, sizeof(message), "%.400s: %.500s%s", reason->file, reason->message,
                 has_file ? "" : "; paths are relative to the scene file");
        *reason = (weft_error){.status = status};
        snprintf(reason->message, sizeof(reason->message), "%s", message);
        return mesh_error(r, has_file && object ? object : file, status, reason);
    }
    return mesh_error(r, file, status, reason);
}

// scale: all of it, from the file's unit to metres.
static weft_status obj_load(const scene_reader* r, const scene_obj* obj, mesh_form form, double scale,
                            const mesh_keys* keys, mesh* out)
{
    char* path = scene_file_path(r->scene, obj->file);
    if (!path)
    {
        return read_no_memory(r);
    }
    // The file is in its own units; the distance of welding is in metres.
    obj_options options = {.object = obj->object, .weld = obj->weld / scale, .form = form};
    weft_error reason = {0};
    weft_status status = mesh_from_obj(path, &options, out, &reason);
    mem_free(path);
    return status == WEFT_OK ? WEFT_OK : mesh_file_error(r, keys->obj, keys->object, status, &reason);
}

static weft_status mesh_from_obj_keys(const scene_reader* r, const mesh_keys* keys, mesh_form form,
                                      double transform_scale, scene_obj* obj, mesh* out)
{
    static const field weld_limits = {"", FIELD_NUMBER, 0, NOT_NEGATIVE};
    obj->scale = 1.0;
    TRY(keys->edge ? read_error_key(r, keys->edge, "only sewing patterns have this key; remove it") : WEFT_OK);
    TRY(read_string(r, keys->obj, &obj->file));
    if (obj->file[0] == '\0')
    {
        return read_error(r, keys->obj, "expected the name of an OBJ file, relative to the scene file");
    }
    if (keys->object && keys->object->kind != TREE_NULL)
    {
        TRY(read_string(r, keys->object, &obj->object));
    }
    if (keys->scale)
    {
        TRY(read_number(r, keys->scale, &size_limits, &obj->scale));
    }
    if (keys->weld)
    {
        TRY(read_number(r, keys->weld, &weld_limits, &obj->weld));
    }
    return obj_load(r, obj, form, obj->scale * transform_scale, keys, out);
}

// ---- sewing patterns

static weft_status mesh_from_pattern_keys(const scene_reader* r, scene_cloth* cloth, const mesh_keys* keys)
{
    double edge = 0.02;
    TRY(check_made(r, keys));
    TRY(read_string(r, keys->pattern, &cloth->source));
    TRY(keys->edge ? read_number(r, keys->edge, &edge_limits, &edge) : WEFT_OK);
    char* path = scene_file_path(r->scene, cloth->source);
    if (!path)
    {
        return read_no_memory(r);
    }
    weft_error reason = {0};
    sewing_pattern p = {0};
    weft_status status = pattern_read(path, &p, &reason);
    status = status == WEFT_OK ? mesh_from_pattern(&p, edge, &cloth->mesh, &cloth->stitches.pairs, &reason) : status;
    pattern_finish(&p);
    mem_free(path);
    cloth->rest = REST_UV; // panels are the rest shape
    return status == WEFT_OK ? WEFT_OK : mesh_file_error(r, keys->pattern, NULL, status, &reason);
}

// ---- solids and strands

static weft_status mesh_from_tet_keys(const scene_reader* r, scene_cloth* cloth, const mesh_keys* keys)
{
    TRY(check_made(r, keys));
    TRY(read_string(r, keys->tets, &cloth->source));
    if (keys->scale)
    {
        TRY(read_number(r, keys->scale, &size_limits, &cloth->obj.scale));
    }
    char* path = scene_file_path(r->scene, cloth->source);
    if (!path)
    {
        return read_no_memory(r);
    }
    weft_error reason = {0};
    weft_status status = mesh_from_tets(path, &cloth->mesh, &reason);
    mem_free(path);
    return status == WEFT_OK ? WEFT_OK : mesh_file_error(r, keys->tets, NULL, status, &reason);
}

static weft_status mesh_from_made_keys(const scene_reader* r, scene_cloth* cloth, const mesh_keys* keys)
{
    TRY(check_made(r, keys));
    if (keys->brush)
    {
        cloth->source = "brush";
        return brush_mesh(r, keys->brush, &cloth->mesh);
    }
    TRY(solid_mesh(r, keys->solid, &cloth->mesh));
    cloth->source = keys->solid->first->key;
    return WEFT_OK;
}

// A source of another form than the body's: what it can be made of instead.
static weft_status check_form(const scene_reader* r, const body_kind* kind, const mesh_keys* keys)
{
    static const char* const words[MESH_FORM_COUNT] = {
        [MESH_SHEET] = "sheets: their mesh is {\"grid\": {...}}, an OBJ file, {\"obj\": \"FILE.obj\"}, or a sewing "
                       "pattern, {\"pattern\": \"FILE.json\"}",
        [MESH_LINES] = "lines: their mesh is {\"brush\": {...}} or an OBJ file with l lines, {\"obj\": \"FILE.obj\"}",
        [MESH_SOLID] = "solids: their mesh is {\"solid\": {...}}, a file of tetrahedra, {\"tets\": \"FILE.node\"}, or "
                       "an OBJ file with FILE.ele beside it, {\"obj\": \"FILE.obj\"}"};
    mesh_form form = kind->form;
    const tree_node* wrong = form != MESH_SHEET && keys->grid      ? keys->grid
                             : form != MESH_SHEET && keys->pattern ? keys->pattern
                             : form != MESH_LINES && keys->brush   ? keys->brush
                             : form != MESH_SOLID && keys->tets    ? keys->tets
                             : form != MESH_SOLID                  ? keys->solid
                                                                   : NULL;
    return wrong ? read_error(r, wrong, "%s %s %s", kind->name, form == MESH_SHEET ? "is made of" : "are", words[form])
                 : WEFT_OK;
}

// ---- placing

// Multiples of 90 degrees are exact, so that an upright sheet is upright to the last bit.
static void turn(double degrees, double* c, double* s)
{
    double turned = fmod(degrees, 360.0);
    if (fmod(turned, 90.0) == 0.0)
    {
        static const double cosines[] = {1.0, 0.0, -1.0, 0.0}, sines[] = {0.0, 1.0, 0.0, -1.0};
        int quarter = ((int)(turned / 90.0) + 4) % 4;
        *c = cosines[quarter];
        *s = sines[quarter];
        return;
    }
    *c = cos(turned * (PI / 180.0));
    *s = sin(turned * (PI / 180.0));
}

// R = Rz Ry Rx: about the fixed axes x, then y, then z.
mat3 rotation_from_degrees(vec3 degrees)
{
    double cx, sx, cy, sy, cz, sz;
    turn(degrees.x, &cx, &sx);
    turn(degrees.y, &cy, &sy);
    turn(degrees.z, &cz, &sz);
    mat3 x = {{1, 0, 0, 0, cx, -sx, 0, sx, cx}};
    mat3 y = {{cy, 0, sy, 0, 1, 0, -sy, 0, cy}};
    mat3 z = {{cz, -sz, 0, sz, cz, 0, 0, 0, 1}};
    mat3 yx = m3_mul(y.m, x.m);
    return m3_mul(z.m, yx.m);
}

static const field transform_fields[] = {
    {"translate", FIELD_VEC3, offsetof(scene_transform, translate), ANY_NUMBER},
    {"rotate", FIELD_VEC3, offsetof(scene_transform, rotate), ANY_NUMBER},
    {"scale", FIELD_NUMBER, offsetof(scene_transform, scale), POSITIVE},
};

weft_status transform_read(const scene_reader* r, const tree_node* node, scene_transform* out)
{
    return read_fields(r, node, transform_fields, FIELD_COUNT(transform_fields), out);
}

scene_place place_make(const scene_transform* t, double obj_scale)
{
    scene_place place = {.scale = obj_scale * t->scale, .translate = t->translate};
    bool moves = t->translate.x != 0.0 || t->translate.y != 0.0 || t->translate.z != 0.0;
    place.turns = t->rotate.x != 0.0 || t->rotate.y != 0.0 || t->rotate.z != 0.0;
    place.rotation = rotation_from_degrees(t->rotate);
    place.changes = place.turns || moves || place.scale != 1.0;
    return place;
}

void place_mesh(const scene_place* place, mesh* m)
{
    if (place->changes)
    {
        mesh_transform(m, place->turns ? place->rotation.m : NULL, place->scale, place->translate);
    }
}

static void cloth_place(scene_cloth* cloth)
{
    scene_place place = place_make(&cloth->transform, cloth->is_grid ? 1.0 : cloth->obj.scale);
    cloth->world_warp = place.turns ? m3_mul_v(place.rotation.m, cloth->warp) : cloth->warp;
    place_mesh(&place, &cloth->mesh);
}

// ---- the flat rest shape

static weft_status rest_uv_missing(const scene_reader* r, const scene_cloth* cloth, const tree_node* node, int face)
{
    const mesh* m = &cloth->mesh;
    if (!m->face_texcoord || !m->file || !m->face_line)
    {
        return read_error(r, node, "\"rest\": \"uv\" needs a mesh with vt coordinates; this one has none");
    }
    return error_set(r->error, WEFT_BAD_INPUT, m->file, m->face_line[face],
                     "face %d has a corner without vt, which \"rest\": \"uv\" needs; write it as v/vt", face + 1);
}

static int ratio_compare(const void* a, const void* b)
{
    double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

// Start over rest shape: the median length of edges, and the triangle that is stretched most.
static double uv_median(const mesh* m, const vec2* rest, double* ratios, double* most, int* worst)
{
    *most = 0.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        vec3 x[3], u[3];
        for (int k = 0; k < 3; k++)
        {
            x[k] = m->position[m->triangle[3 * t + k]];
            u[k] = v3(rest[3 * t + k].x, rest[3 * t + k].y, 0.0);
        }
        for (int k = 0; k < 3; k++)
        {
            int next = (k + 1) % 3;
            ratios[3 * t + k] = v3_length(v3_sub(x[next], x[k])) / v3_length(v3_sub(u[next], u[k]));
        }
        double stretch = metric_stretch(metric_of(v3_sub(u[1], u[0]), v3_sub(u[2], u[0])),
                                        metric_of(v3_sub(x[1], x[0]), v3_sub(x[2], x[0])));
        *worst = stretch > *most ? t : *worst;
        *most = fmax(*most, stretch);
    }
    qsort(ratios, 3 * (size_t)m->triangle_count, sizeof(double), ratio_compare);
    return ratios[3 * m->triangle_count / 2];
}

// A map in centimetres, or one that was made for pictures, is no pattern: such cloth snaps to another size.
static weft_status rest_uv_doubt(const scene_reader* r, const scene_cloth* cloth, const vec2* rest)
{
    const mesh* m = &cloth->mesh;
    double* ratios = MEM_NEW(3 * (size_t)m->triangle_count, double);
    if (!ratios)
    {
        return read_no_memory(r);
    }
    double most = 0.0;
    int worst = 0;
    double median = m->triangle_count > 0 ? uv_median(m, rest, ratios, &most, &worst) : 1.0;
    mem_free(ratios);
    if (median > uv_size_max || median < 1.0 / uv_size_max)
    {
        return scene_warn(
            r->scene,
            "cloth `%s` starts %.3g times as long as its rest shape, half of its edges more and half less, "
            "and will snap to it: \"uv_scale\": %.3g fits the start",
            cloth->name, median, median * cloth->uv_scale);
    }
    if (m->triangle_count > 0 && most > uv_stretch_max)
    {
        int face = m->triangle_face ? m->triangle_face[worst] : worst;
        return scene_warn(r->scene, "cloth `%s` starts stretched %.3g times against its vt in face %d (line %d of %s)",
                          cloth->name, most, face + 1, m->face_line ? m->face_line[face] : 0,
                          m->file ? m->file : "the mesh");
    }
    return WEFT_OK;
}

// Here, where the faces still know their lines: a face without area in the map has no rest shape.
static weft_status rest_uv_check(const scene_reader* r, const scene_cloth* cloth, const tree_node* node)
{
    const mesh* m = &cloth->mesh;
    vec2* rest = MEM_NEW(3 * (size_t)m->triangle_count, vec2);
    if (!rest)
    {
        return read_no_memory(r);
    }
    weft_error reason = {0};
    weft_status status = mesh_rest(m, REST_UV, cloth->world_warp, cloth->uv_scale, rest, &reason);
    status = status == WEFT_OK ? rest_uv_doubt(r, cloth, rest) : mesh_error(r, node, status, &reason);
    mem_free(rest);
    return status;
}

static weft_status rest_uv_build(const scene_reader* r, scene_cloth* cloth, const tree_node* node)
{
    const mesh* m = &cloth->mesh;
    if (!m->face_texcoord)
    {
        return rest_uv_missing(r, cloth, node, 0);
    }
    cloth->rest_uv = MEM_NEW(m->face_start[m->face_count], vec2);
    if (!cloth->rest_uv)
    {
        return read_no_memory(r);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            if (m->face_texcoord[k] < 0)
            {
                return rest_uv_missing(r, cloth, node, face);
            }
            vec2 uv = m->texcoord[m->face_texcoord[k]];
            cloth->rest_uv[k] = (vec2){cloth->uv_scale * uv.x, cloth->uv_scale * uv.y};
        }
    }
    return rest_uv_check(r, cloth, node);
}

weft_status scene_mesh_build(const scene_reader* r, scene_cloth* cloth, const tree_node* node)
{
    mesh_keys keys = {0};
    mesh_form form = cloth->kind->form;
    TRY(read_fields(r, node, mesh_fields, FIELD_COUNT(mesh_fields), &keys));
    TRY(check_form(r, cloth->kind, &keys));
    if (keys.gltf || keys.abc)
    {
        return read_error_key(r, keys.gltf ? keys.gltf : keys.abc,
                              "only an obstacle's mesh is a glTF file or an Alembic archive; export %s as OBJ",
                              cloth->kind->name);
    }
    int sources = !!keys.grid + !!keys.obj + !!keys.pattern + !!keys.tets + !!keys.solid + !!keys.brush;
    if (sources != 1)
    {
        return form == MESH_SHEET ? read_error(r, node, "expected either \"grid\" or \"obj\" or \"pattern\" here%s",
                                               sources > 1 ? ", not both" : "")
                                  : read_error(r, node, "expected exactly one of obj, %s here, found %d",
                                               form == MESH_LINES ? "brush" : "tets, solid", sources);
    }
    cloth->obj.scale = 1.0;
    TRY(keys.grid      ? mesh_from_grid_keys(r, cloth, &keys)
        : keys.obj     ? mesh_from_obj_keys(r, &keys, form, cloth->transform.scale, &cloth->obj, &cloth->mesh)
        : keys.pattern ? mesh_from_pattern_keys(r, cloth, &keys)
        : keys.tets    ? mesh_from_tet_keys(r, cloth, &keys)
                       : mesh_from_made_keys(r, cloth, &keys));
    cloth->source = keys.obj ? cloth->obj.file : cloth->source;
    cloth_place(cloth);
    weft_error reason = {0};
    weft_status status = cloth->kind->prepare(&cloth->mesh, &reason);
    status = status == WEFT_OK && form != MESH_SOLID ? mesh_warn_unused(&cloth->mesh, &reason) : status;
    if (status != WEFT_OK)
    {
        return mesh_error(r, node, status, &reason);
    }
    return cloth->rest == REST_UV ? rest_uv_build(r, cloth, node) : WEFT_OK;
}

// Bodies from glTF files and Alembic archives.
static weft_status mesh_from_body_keys(const scene_reader* r, const mesh_keys* keys, scene_obstacle* o,
                                       struct gltf_body** body)
{
    const tree_node* file = keys->gltf ? keys->gltf : keys->abc;
    gltf_nodes nodes = {file, keys->object, o->deform_node ? tree_member(o->deform_node, "animation") : NULL};
    if (keys->weld)
    {
        return read_error_key(r, keys->weld, "%s; remove this key",
                              keys->gltf ? "vertices of a glTF file that nothing tells apart are one anyway"
                                         : "points of an Alembic archive are what they are");
    }
    o->is_gltf = keys->gltf != NULL;
    o->is_abc = keys->abc != NULL;
    o->obj.scale = 1.0;
    TRY(read_string(r, file, &o->obj.file));
    if (keys->object && keys->object->kind != TREE_NULL)
    {
        TRY(read_string(r, keys->object, &o->obj.object));
    }
    TRY(keys->scale ? read_number(r, keys->scale, &size_limits, &o->obj.scale) : WEFT_OK);
    return o->is_gltf ? gltf_obstacle_read(r, &nodes, o, body) : abc_obstacle_read(r, &nodes, o);
}

weft_status obstacle_mesh_read(const scene_reader* r, const tree_node* node, scene_obstacle* o, struct gltf_body** body)
{
    mesh_keys keys = {0};
    TRY(read_fields(r, node, mesh_fields, FIELD_COUNT(mesh_fields), &keys));
    const tree_node* made = keys.grid      ? keys.grid
                            : keys.pattern ? keys.pattern
                            : keys.tets    ? keys.tets
                            : keys.solid   ? keys.solid
                                           : keys.brush;
    if (made)
    {
        return read_error_key(
            r, made, "an obstacle's mesh is an OBJ file or a glTF file; for a sheet take {\"shape\": {\"plane\": {}}}");
    }
    if (!!keys.obj + !!keys.gltf + !!keys.abc != 1)
    {
        return read_error(
            r, node,
            "expected \"obj\": the name of an OBJ file, or \"gltf\": that of a glTF file, or \"abc\": that of an "
            "Alembic archive%s",
            keys.obj || keys.gltf || keys.abc ? ", not both" : "");
    }
    if (!keys.obj)
    {
        return mesh_from_body_keys(r, &keys, o, body);
    }
    TRY(mesh_from_obj_keys(r, &keys, MESH_SHEET, o->transform.scale, &o->obj, &o->mesh));
    scene_place place = place_make(&o->transform, o->obj.scale);
    place_mesh(&place, &o->mesh);
    return WEFT_OK;
}
