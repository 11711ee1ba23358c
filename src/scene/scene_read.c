// From a tree to a checked scene: the keys at the top and those of a cloth, which other kinds of bodies share.
// docs/scene-reference.md and scenes/schema.json say the same to people and to editors; the tests hold the three
// together.
#include <string.h>

#include "material/material.h"
#include "scene/scene_data.h"
#include "step/step.h"

enum
{
    NAMES_MAX = 64,     // of one weft_list
    MULTIGRID_MAX = 32, // settings of multigrid
    FRAMES_MAX = 10000000,
    STEPS_MAX = 1000000
};

// Beyond this a note asks whether the unit is right.
#define TIME_STEP_MAX 0.05 // s

// ---- names from tables

static int list_names(weft_list_kind kind, const char** names)
{
    const char* summary;
    int count = 0;
    while (count < NAMES_MAX - 2 && weft_list(kind, count, &names[count], &summary) == WEFT_OK)
    {
        count++;
    }
    return count;
}

static int add_name(const char** names, int count, const char* name)
{
    for (int k = 0; k < count; k++)
    {
        if (strcmp(names[k], name) == 0)
        {
            return count;
        }
    }
    names[count] = name;
    return count + 1;
}

static weft_status read_name(const scene_reader* r, const tree_node* node, weft_list_kind kind, const char** out)
{
    const char* names[NAMES_MAX];
    int count = list_names(kind, names), index;
    if (kind == WEFT_LIST_SOLVERS)
    {
        // `auto` chooses among the table's rows; a build without `cholmod` knows the name and says which build has it.
        count = add_name(names, count, "auto");
        count = add_name(names, count, "cholmod");
    }
    TRY(read_choice(r, node, names, count, &index));
    *out = names[index];
    return WEFT_OK;
}

// ---- blocks of settings

typedef struct solver_keys
{
    const tree_node* name;
    const tree_node* preconditioner;
    const tree_node* variant;
    const tree_node* sa;
    double tolerance;
    int max_iterations;
} solver_keys;

static const field solver_fields[] = {
    {"name", FIELD_NODE, offsetof(solver_keys, name), ANY_NUMBER},
    {"preconditioner", FIELD_NODE, offsetof(solver_keys, preconditioner), ANY_NUMBER},
    {"variant", FIELD_NODE, offsetof(solver_keys, variant), ANY_NUMBER},
    {"tolerance", FIELD_NUMBER, offsetof(solver_keys, tolerance), 0.0, 0.99, true},
    {"max_iterations", FIELD_INT, offsetof(solver_keys, max_iterations), 0.0, 1e9, false},
    {"sa", FIELD_NODE, offsetof(solver_keys, sa), ANY_NUMBER},
};

// Settings of multigrid: names and ranges are the solver's own.
static weft_status multigrid_read(const scene_reader* r, const tree_node* node, weft_sa_def* sa)
{
    field fields[MULTIGRID_MAX];
    const tree_node* values[MULTIGRID_MAX] = {0};
    const char* name;
    double value;
    int count = 0;
    while (weft_sa_get(sa, count, &name, &value) == WEFT_OK)
    {
        WEFT_ASSERT(count < MULTIGRID_MAX);
        fields[count] = (field){name, FIELD_NODE, (size_t)count * sizeof(values[0]), ANY_NUMBER};
        count++;
    }
    TRY(read_fields(r, node, fields, count, values));
    for (int k = 0; k < count; k++)
    {
        weft_error error;
        if (values[k] && values[k]->kind != TREE_NUMBER)
        {
            return read_wrong_kind(r, values[k], "a number");
        }
        if (values[k] && weft_sa_set(sa, fields[k].key, values[k]->number, &error) != WEFT_OK)
        {
            return read_error(r, values[k], "%s", error.message);
        }
    }
    return WEFT_OK;
}

static weft_status solver_read(const scene_reader* r, const tree_node* node)
{
    weft_sim_def* def = &r->scene->def;
    r->scene->solver_node = node;
    if (node->kind == TREE_STRING)
    {
        return read_name(r, node, WEFT_LIST_SOLVERS, &def->solver);
    }
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "a name or an object {\"name\": ...}");
    }
    solver_keys keys = {.tolerance = def->tolerance, .max_iterations = def->max_iterations};
    TRY(read_fields(r, node, solver_fields, FIELD_COUNT(solver_fields), &keys));
    if (keys.name)
    {
        TRY(read_name(r, keys.name, WEFT_LIST_SOLVERS, &def->solver));
    }
    if (keys.preconditioner && keys.preconditioner->kind != TREE_NULL)
    {
        TRY(read_name(r, keys.preconditioner, WEFT_LIST_PRECONDITIONERS, &def->preconditioner));
    }
    if (keys.variant && keys.variant->kind != TREE_NULL)
    {
        static const char* const variants[] = {"corrected", "original"};
        int index;
        TRY(read_choice(r, keys.variant, variants, 2, &index));
        def->solver_variant = variants[index];
    }
    if (keys.sa)
    {
        TRY(multigrid_read(r, keys.sa, &def->sa));
    }
    def->tolerance = keys.tolerance;
    def->max_iterations = keys.max_iterations;
    return WEFT_OK;
}

static const field step_control_fields[] = {
    {"max_halvings", FIELD_INT, offsetof(weft_sim_def, max_halvings), 0.0, 10.0, false},
    {"max_stretch", FIELD_NUMBER, offsetof(weft_sim_def, max_stretch), 1.0, HUGE_VAL, true},
    {"max_strain", FIELD_NUMBER, offsetof(weft_sim_def, max_strain), NOT_NEGATIVE},
};

static const field air_fields[] = {
    {"density", FIELD_NUMBER, offsetof(weft_air, density), NOT_NEGATIVE},
    {"drag", FIELD_NUMBER, offsetof(weft_air, drag), NOT_NEGATIVE},
    {"friction", FIELD_NUMBER, offsetof(weft_air, friction), NOT_NEGATIVE},
    {"wind", FIELD_VEC3, offsetof(weft_air, wind), ANY_NUMBER},
    {"gust", FIELD_NUMBER, offsetof(weft_air, gust), NOT_NEGATIVE},
    {"gust_period", FIELD_NUMBER, offsetof(weft_air, gust_period), POSITIVE},
    {"gust_length", FIELD_NUMBER, offsetof(weft_air, gust_length), POSITIVE},
    {"slip", FIELD_NUMBER, offsetof(weft_air, slip), NOT_NEGATIVE},
};

// Who writes an air block wants air: without a density it is that of air at 15 degrees C.
static weft_status air_read(const scene_reader* r, const tree_node* node)
{
    weft_air* air = &r->scene->def.air;
    air->density = 1.225;
    return read_fields(r, node, air_fields, FIELD_COUNT(air_fields), air);
}

typedef struct model_keys
{
    const tree_node* name;
    const tree_node* bending;
    const tree_node* damper;
    weft_connections connections;
} model_keys;

// Where a model and what is chosen for it go.
typedef struct model_place
{
    const char **model, **bending;
    weft_connections* connections;
} model_place;

static const field model_fields[] = {
    {"name", FIELD_NODE, offsetof(model_keys, name), ANY_NUMBER},
    {"bending", FIELD_NODE, offsetof(model_keys, bending), ANY_NUMBER},
    {"damper", FIELD_NODE, offsetof(model_keys, damper), ANY_NUMBER},
    {"damper_stretch", FIELD_NUMBER, offsetof(model_keys, connections.damper_stretch), NOT_NEGATIVE},
    {"damper_shear", FIELD_NUMBER, offsetof(model_keys, connections.damper_shear), NOT_NEGATIVE},
    {"bend_start", FIELD_NUMBER, offsetof(model_keys, connections.bend_start), NOT_NEGATIVE},
};

static const weft_connections no_connections = {NULL, -1.0, -1.0, -1.0};

// What was chosen before stays chosen with another model that knows the word.
static weft_status model_take(const scene_reader* r, const tree_node* node, const model_place* out)
{
    TRY(read_name(r, node, WEFT_LIST_MODELS, out->model));
    const cloth_model* m = cloth_model_find(*out->model);
    if (!cloth_model_bending(m, *out->bending, out->bending))
    {
        cloth_model_bending(m, NULL, out->bending);
    }
    *out->connections = m->connections ? *out->connections : no_connections;
    return WEFT_OK;
}

static weft_status connections_read(const scene_reader* r, const tree_node* node, const model_keys* keys,
                                    const model_place* out)
{
    *out->connections = keys->connections;
    if (keys->damper)
    {
        int form = 0;
        TRY(read_choice(r, keys->damper, damper_names, DAMPER_NONE + 1, &form));
        out->connections->damper = damper_names[form];
    }
    connection_options unused;
    if (!cloth_model_connections(cloth_model_find(*out->model), out->connections, &unused))
    {
        return read_error(r, node,
                          "the model `%s` has no connections to choose a damper or a start of bending for; try the "
                          "model `choi-ko`, or leave the keys out",
                          *out->model);
    }
    return WEFT_OK;
}

static weft_status bending_read(const scene_reader* r, const tree_node* node, const model_place* out)
{
    const char* const* words = cloth_model_find(*out->model)->bendings;
    int count = 0, index = 0;
    for (; words && words[count]; count++)
    {
    }
    if (count == 0)
    {
        return read_error(r, node, "the model `%s` has no choice of bending; leave the key out", *out->model);
    }
    TRY(read_choice(r, node, words, count, &index));
    *out->bending = words[index];
    return WEFT_OK;
}

static weft_status model_read(const scene_reader* r, const tree_node* node, const model_place* out)
{
    if (node->kind == TREE_STRING)
    {
        return model_take(r, node, out);
    }
    if (node->kind != TREE_OBJECT)
    {
        return read_wrong_kind(r, node, "a name or an object {\"name\": ..., \"bending\": ...}");
    }
    model_keys keys = {.connections = no_connections};
    TRY(read_fields(r, node, model_fields, FIELD_COUNT(model_fields), &keys));
    if (keys.name)
    {
        TRY(model_take(r, keys.name, out));
    }
    // What the object does not say stays as it was.
    weft_connections* own = &keys.connections;
    own->damper = out->connections->damper;
    own->damper_stretch = own->damper_stretch >= 0.0 ? own->damper_stretch : out->connections->damper_stretch;
    own->damper_shear = own->damper_shear >= 0.0 ? own->damper_shear : out->connections->damper_shear;
    own->bend_start = own->bend_start >= 0.0 ? own->bend_start : out->connections->bend_start;
    TRY(connections_read(r, node, &keys, out));
    return keys.bending ? bending_read(r, keys.bending, out) : WEFT_OK;
}

static weft_status kernels_read(const scene_reader* r, const tree_node* node)
{
    static const char* const words[] = {"auto", "base", "avx2", "avx512"};
    int index;
    TRY(read_choice(r, node, words, 4, &index));
    cpu_kind kind;
    if (!cpu_kind_parse(words[index], &kind))
    {
        return read_error(r, node, "this CPU cannot run the kernels `%s`; the best it can is `%s`", words[index],
                          cpu_kind_name(cpu_best()));
    }
    r->scene->def.kernels = cpu_kind_name(kind);
    return WEFT_OK;
}

// ---- cloth

typedef struct cloth_keys
{
    const tree_node *name, *mesh, *rest, *warp, *material, *model, *transform, *pins, *forces, *regions, *stitch,
        *settings, *start, *bands, *folds;
    const tree_node* friction;
    double uv_scale, vertex_mass, thickness, radius, tear;
    vec3 velocity;
} cloth_keys;

static const field cloth_fields[] = {
    {"name", FIELD_NODE, offsetof(cloth_keys, name), ANY_NUMBER},
    {"mesh", FIELD_NODE, offsetof(cloth_keys, mesh), ANY_NUMBER},
    {"rest", FIELD_NODE, offsetof(cloth_keys, rest), ANY_NUMBER},
    {"uv_scale", FIELD_NUMBER, offsetof(cloth_keys, uv_scale), POSITIVE},
    {"warp", FIELD_NODE, offsetof(cloth_keys, warp), ANY_NUMBER},
    {"material", FIELD_NODE, offsetof(cloth_keys, material), ANY_NUMBER},
    {"model", FIELD_NODE, offsetof(cloth_keys, model), ANY_NUMBER},
    {"transform", FIELD_NODE, offsetof(cloth_keys, transform), ANY_NUMBER},
    {"velocity", FIELD_VEC3, offsetof(cloth_keys, velocity), ANY_NUMBER},
    {"vertex_mass", FIELD_NUMBER, offsetof(cloth_keys, vertex_mass), NOT_NEGATIVE},
    {"tear", FIELD_NUMBER, offsetof(cloth_keys, tear), NOT_NEGATIVE},
    {"friction", FIELD_NODE, offsetof(cloth_keys, friction), ANY_NUMBER},
    {"thickness", FIELD_NUMBER, offsetof(cloth_keys, thickness), POSITIVE},
    {"radius", FIELD_NUMBER, offsetof(cloth_keys, radius), POSITIVE},
    {"pins", FIELD_NODE, offsetof(cloth_keys, pins), ANY_NUMBER},
    {"forces", FIELD_NODE, offsetof(cloth_keys, forces), ANY_NUMBER},
    {"regions", FIELD_NODE, offsetof(cloth_keys, regions), ANY_NUMBER},
    {"bands", FIELD_NODE, offsetof(cloth_keys, bands), ANY_NUMBER},
    {"folds", FIELD_NODE, offsetof(cloth_keys, folds), ANY_NUMBER},
    {"stitch", FIELD_NODE, offsetof(cloth_keys, stitch), ANY_NUMBER},
    {"settings", FIELD_NODE, offsetof(cloth_keys, settings), ANY_NUMBER},
    {"start", FIELD_NODE, offsetof(cloth_keys, start), ANY_NUMBER},
};

static weft_status cloth_read_rest(const scene_reader* r, const tree_node* node, rest_kind* out)
{
    static const char* const words[] = {"shape", "uv"};
    int index;
    TRY(read_choice(r, node, words, 2, &index));
    *out = index == 0 ? REST_SHAPE : REST_UV;
    return WEFT_OK;
}

// Keys that only some kinds of bodies have.
static weft_status cloth_check_keys(const scene_reader* r, const tree_node* node, const body_kind* kind)
{
    static const char* const of_sheets[] = {"rest", "uv_scale", "warp", "tear", "regions", "stitch", "start",
                                            "bands", "folds"};
    for (int k = 0; k < FIELD_COUNT(of_sheets) && kind->form != MESH_SHEET; k++)
    {
        const tree_node* found = tree_member(node, of_sheets[k]);
        TRY(found ? read_error_key(r, found, "only sheets have this key, not %s; remove it", kind->name) : WEFT_OK);
    }
    const tree_node* found = tree_member(node, kind->has_radius ? "thickness" : "radius");
    if (!found)
    {
        return WEFT_OK;
    }
    return kind->has_radius
               ? read_error_key(r, found, "%s have a \"radius\" instead, half of the thickness", kind->name)
               : read_error_key(r, found, "only strands have a radius; give the \"thickness\"");
}

// Everything but the mesh and what selects vertices of it.
static weft_status cloth_read_values(const scene_reader* r, const cloth_keys* keys, scene_cloth* cloth)
{
    cloth->uv_scale = keys->uv_scale;
    cloth->vertex_mass = keys->vertex_mass;
    cloth->tear = keys->tear;
    TRY(friction_read(r, keys->friction, &cloth->friction));
    cloth->thickness = keys->radius > 0.0 ? 2.0 * keys->radius : keys->thickness;
    cloth->velocity = keys->velocity;
    if (keys->rest)
    {
        TRY(cloth_read_rest(r, keys->rest, &cloth->rest));
    }
    if (keys->warp)
    {
        TRY(read_direction(r, keys->warp, &cloth->warp));
    }
    if (keys->material)
    {
        TRY(material_read(r, keys->material, cloth->kind, &cloth->material));
    }
    if (keys->model)
    {
        const model_place place = {&cloth->model, &cloth->bending, &cloth->connections};
        TRY(model_read(r, keys->model, &place));
    }
    if (keys->transform)
    {
        TRY(transform_read(r, keys->transform, &cloth->transform));
    }
    return keys->settings ? scene_choices_read(r, keys->settings, cloth) : WEFT_OK;
}

// What a sheet is made of where nobody says and the method cannot move the default model; NULL: the default.
static const cloth_model* method_model(const weft_scene* scene, const scene_cloth* cloth)
{
    const method_row* row;
    bool found = cloth->kind->form == MESH_SHEET && !scene->model_named &&
                 time_method_find(scene->def.method, &row, NULL) == WEFT_OK;
    return found && row->method->model ? cloth_model_find(row->method->model) : NULL;
}

// The scene's model, or the first that makes elements of what the body is made of.
static void cloth_default_model(const weft_scene* scene, scene_cloth* cloth)
{
    const cloth_model *own = cloth_model_find(scene->model), *other = method_model(scene, cloth);
    cloth->model = scene->model;
    cloth->bending = scene->bending;
    cloth->connections = scene->connections;
    if (!other && !cloth_model_serves(own, cloth->kind->form))
    {
        other = model_for_form(cloth->kind->form);
    }
    if (other)
    {
        cloth->model = other->name;
        cloth_model_bending(other, NULL, &cloth->bending);
        cloth->connections = no_connections;
    }
}

static weft_status cloth_read(const scene_reader* r, const tree_node* node, const body_kind* kind)
{
    weft_cloth_def defaults = weft_cloth_def_default();
    scene_cloth* cloth = &r->scene->cloths[r->scene->cloth_count++];
    cloth->node = node;
    cloth->kind = kind;
    cloth->warp = defaults.warp;
    cloth->material = kind->material_keys ? kind->material : defaults.material;
    cloth_default_model(r->scene, cloth);
    cloth->transform.scale = 1.0;
    cloth_keys keys = {.uv_scale = 1.0, .thickness = r->scene->thickness};
    TRY(read_fields(r, node, cloth_fields, FIELD_COUNT(cloth_fields), &keys));
    TRY(cloth_check_keys(r, node, kind));
    TRY(name_read(r, keys.name, node, kind->name, &cloth->name));
    TRY(cloth_read_values(r, &keys, cloth));
    if (!keys.mesh)
    {
        return read_error(r, node, "%s needs a \"mesh\", for example %s",
                          kind == body_table[0] ? "a cloth" : kind->name,
                          kind->form == MESH_SHEET ? "{\"grid\": {\"cells\": 20}}" : "{\"obj\": \"lines.obj\"}");
    }
    TRY(scene_mesh_build(r, cloth, keys.mesh));
    TRY(keys.start && keys.start->kind != TREE_NULL ? start_read(r, keys.start, cloth) : WEFT_OK);
    TRY(stitches_read(r, keys.stitch, cloth));
    if (scene_cloth_doubt(r->scene, cloth) != WEFT_OK)
    {
        return read_no_memory(r);
    }
    if (keys.pins)
    {
        TRY(pins_read(r, keys.pins, cloth));
    }
    TRY(keys.regions ? regions_read(r, keys.regions, cloth) : WEFT_OK);
    TRY(keys.bands ? bands_read(r, keys.bands, cloth) : WEFT_OK);
    TRY(keys.folds ? folds_read(r, keys.folds, cloth) : WEFT_OK);
    return keys.forces ? forces_read(r, keys.forces, cloth) : WEFT_OK;
}

// lists is [kinds] of the table, NULL where the scene has none of a kind.
static weft_status bodies_read(const scene_reader* r, const tree_node* root, const tree_node* const* lists)
{
    int count = 0;
    const tree_node* empty = NULL;
    for (int k = 0; body_table[k]; k++)
    {
        TRY(lists[k] ? read_array(r, lists[k]) : WEFT_OK);
        count += lists[k] ? lists[k]->child_count : 0;
        empty = empty ? empty : lists[k];
    }
    if (count == 0 && empty)
    {
        return read_error(r, empty, "the list is empty; a scene needs at least one cloth");
    }
    if (count == 0)
    {
        return read_error(r, root, "a scene needs \"cloth\", for example [{\"mesh\": {\"grid\": {\"cells\": 20}}}]");
    }
    r->scene->cloths = MEM_NEW(count, scene_cloth);
    if (!r->scene->cloths)
    {
        return read_no_memory(r);
    }
    for (int k = 0; body_table[k]; k++)
    {
        for (const tree_node* child = lists[k] ? lists[k]->first : NULL; child; child = child->next)
        {
            TRY(cloth_read(r, child, body_table[k]));
        }
    }
    return WEFT_OK;
}

// ---- the top

typedef struct scene_keys
{
    const char *schema, *description;
    double time_step;
    int steps_per_frame, frames;
    vec3 gravity;
    const tree_node *method, *solver, *step_control, *air, *model, *kernels, *obstacles, *ties, *contact,
        *initial_contact, *layers;
    const tree_node* bodies[BODY_KINDS_MAX]; // lists of each kind
    const tree_node* settings[METHODS_MAX];  // of each method that has some
} scene_keys;

static const field scene_fields[] = {
    {"$schema", FIELD_STRING, offsetof(scene_keys, schema), ANY_NUMBER},
    {"description", FIELD_STRING, offsetof(scene_keys, description), ANY_NUMBER},
    {"time_step", FIELD_NUMBER, offsetof(scene_keys, time_step), POSITIVE},
    {"steps_per_frame", FIELD_INT, offsetof(scene_keys, steps_per_frame), 1.0, STEPS_MAX, false},
    {"frames", FIELD_INT, offsetof(scene_keys, frames), 0.0, FRAMES_MAX, false},
    {"gravity", FIELD_VEC3, offsetof(scene_keys, gravity), ANY_NUMBER},
    {"method", FIELD_NODE, offsetof(scene_keys, method), ANY_NUMBER},
    {"solver", FIELD_NODE, offsetof(scene_keys, solver), ANY_NUMBER},
    {"step_control", FIELD_NODE, offsetof(scene_keys, step_control), ANY_NUMBER},
    {"air", FIELD_NODE, offsetof(scene_keys, air), ANY_NUMBER},
    {"model", FIELD_NODE, offsetof(scene_keys, model), ANY_NUMBER},
    {"kernels", FIELD_NODE, offsetof(scene_keys, kernels), ANY_NUMBER},
    {"obstacles", FIELD_NODE, offsetof(scene_keys, obstacles), ANY_NUMBER},
    {"ties", FIELD_NODE, offsetof(scene_keys, ties), ANY_NUMBER},
    {"contact", FIELD_NODE, offsetof(scene_keys, contact), ANY_NUMBER},
    {"initial_contact", FIELD_NODE, offsetof(scene_keys, initial_contact), ANY_NUMBER},
    {"layers", FIELD_NODE, offsetof(scene_keys, layers), ANY_NUMBER},
};

// The keys above, and one for each kind of bodies and each method with settings.
static weft_status scene_read_keys(const scene_reader* r, const tree_node* root, scene_keys* keys)
{
    field fields[FIELD_COUNT(scene_fields) + BODY_KINDS_MAX + METHODS_MAX];
    int count = FIELD_COUNT(scene_fields);
    memcpy(fields, scene_fields, sizeof(scene_fields));
    WEFT_ASSERT(body_kind_count() <= BODY_KINDS_MAX);
    for (int k = 0; body_table[k]; k++)
    {
        size_t offset = offsetof(scene_keys, bodies) + (size_t)k * sizeof(keys->bodies[0]);
        fields[count++] = (field){body_table[k]->name, FIELD_NODE, offset, ANY_NUMBER};
    }
    for (int k = 0; scene_method_at(k); k++)
    {
        WEFT_ASSERT(k < METHODS_MAX);
        size_t offset = offsetof(scene_keys, settings) + (size_t)k * sizeof(keys->settings[0]);
        fields[count++] = (field){scene_method_at(k)->name, FIELD_NODE, offset, ANY_NUMBER};
    }
    return read_fields(r, root, fields, count, keys);
}

static weft_status settings_read(const scene_reader* r, const scene_keys* keys)
{
    weft_sim_def* def = &r->scene->def;
    if (keys->method)
    {
        TRY(read_name(r, keys->method, WEFT_LIST_METHODS, &def->method));
    }
    if (keys->solver)
    {
        TRY(solver_read(r, keys->solver));
    }
    for (int k = 0; scene_method_at(k); k++)
    {
        TRY(keys->settings[k] ? scene_method_read(r, keys->settings[k], scene_method_at(k)) : WEFT_OK);
    }
    if (keys->step_control)
    {
        TRY(read_fields(r, keys->step_control, step_control_fields, FIELD_COUNT(step_control_fields), def));
    }
    if (keys->air)
    {
        TRY(air_read(r, keys->air));
    }
    if (keys->model)
    {
        const model_place place = {&r->scene->model, &r->scene->bending, &r->scene->connections};
        TRY(model_read(r, keys->model, &place));
        r->scene->model_named = true;
    }
    if (keys->initial_contact)
    {
        static const char* const words[] = {"refuse", "resolve", "settle"}; // in the order of start_way
        TRY(read_choice(r, keys->initial_contact, words, 3, &r->scene->start));
        r->scene->start_node = keys->initial_contact;
    }
    return keys->kernels ? kernels_read(r, keys->kernels) : WEFT_OK;
}

// What the method itself is in doubt of.
static weft_status method_doubt(const scene_reader* r)
{
    const method_row* row;
    bool found = time_method_find(r->scene->def.method, &row, NULL) == WEFT_OK;
    return found && row->method->warning ? scene_warn(r->scene, "%s", row->method->warning) : WEFT_OK;
}

weft_status scene_read(const scene_reader* r, const tree_node* root)
{
    weft_scene* scene = r->scene;
    weft_cloth_def cloth = weft_cloth_def_default();
    scene->def = weft_sim_def_default();
    scene->def.kernels = cpu_kind_name(cpu_best());
    scene->model = cloth.model;
    scene->connections = cloth.connections;
    cloth_model_bending(cloth_model_find(cloth.model), cloth.bending, &scene->bending);
    scene->thickness = cloth.thickness;
    scene_keys keys = {
        .time_step = scene->def.time_step, .steps_per_frame = 20, .frames = 10, .gravity = scene->def.gravity};
    TRY(scene_read_keys(r, root, &keys));
    scene->description = keys.description;
    scene->def.time_step = keys.time_step;
    scene->def.gravity = keys.gravity;
    scene->steps_per_frame = keys.steps_per_frame;
    scene->frames = keys.frames;
    if (!isfinite(weft_scene_frame_rate(scene)))
    {
        return read_error(r, tree_member(root, "time_step"), "is too small for a frame rate that is a number");
    }
    if (keys.time_step > TIME_STEP_MAX &&
        scene_warn(scene, "time_step is %.4g s: is this in seconds? Steps of cloth are milliseconds", keys.time_step) !=
            WEFT_OK)
    {
        return read_no_memory(r);
    }
    TRY(settings_read(r, &keys));
    if (keys.contact)
    {
        TRY(contact_read_settings(r, keys.contact));
    }
    TRY(bodies_read(r, root, keys.bodies));
    if (keys.obstacles)
    {
        TRY(obstacles_read(r, keys.obstacles));
    }
    TRY(pins_check(r));
    if (keys.ties)
    {
        TRY(ties_read(r, keys.ties));
    }
    if (keys.contact)
    {
        TRY(contact_read_exclusions(r, keys.contact));
    }
    TRY(keys.layers ? layers_read(r, keys.layers) : WEFT_OK);
    TRY(method_doubt(r));
    TRY(scene_parts_doubt(r->scene) == WEFT_OK ? WEFT_OK : read_no_memory(r));
    return contact_doubt(r);
}
