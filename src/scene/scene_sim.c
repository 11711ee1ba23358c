// From a checked scene to a simulation, through the public interface: what a file can say, arrays can say too. Only a
// warning that the loader gave is kept from coming twice.
#include "scene/scene_data.h"

// Arrays that live while one cloth is handed over.
typedef struct cloth_arrays
{
    weft_pin* pins;        // [pin_count]
    weft_force* forces;    // [force_count]
    weft_region* regions;  // [region_count]
    weft_band* bands;      // [band_count]
    weft_fold* folds;      // [fold_count]
    weft_pin_key* keys;    // of all pins, one after the other
    weft_vec3* velocities; // [vertex_count] or NULL
} cloth_arrays;

static void cloth_arrays_finish(cloth_arrays* arrays)
{
    mem_free(arrays->pins);
    mem_free(arrays->forces);
    mem_free(arrays->regions);
    mem_free(arrays->bands);
    mem_free(arrays->folds);
    mem_free(arrays->keys);
    mem_free(arrays->velocities);
}

static bool cloth_arrays_init(const scene_cloth* cloth, cloth_arrays* arrays)
{
    int key_count = 0;
    for (int k = 0; k < cloth->pin_count; k++)
    {
        key_count += cloth->pins[k].motion.key_count;
    }
    arrays->pins = MEM_NEW(int_max(cloth->pin_count, 1), weft_pin);
    arrays->forces = MEM_NEW(int_max(cloth->force_count, 1), weft_force);
    arrays->regions = MEM_NEW(int_max(cloth->region_count, 1), weft_region);
    arrays->bands = MEM_NEW(int_max(cloth->band_count, 1), weft_band);
    arrays->folds = MEM_NEW(int_max(cloth->fold_count, 1), weft_fold);
    arrays->keys = MEM_NEW(int_max(key_count, 1), weft_pin_key);
    bool moves = cloth->velocity.x != 0.0 || cloth->velocity.y != 0.0 || cloth->velocity.z != 0.0;
    arrays->velocities = moves ? MEM_NEW(cloth->mesh.vertex_count, weft_vec3) : NULL;
    return arrays->pins && arrays->forces && arrays->regions && arrays->bands && arrays->folds && arrays->keys &&
           (arrays->velocities || !moves);
}

static void keys_from_scene(const scene_motion* motion, weft_pin_key* out)
{
    for (int k = 0; k < motion->key_count; k++)
    {
        const scene_key* key = &motion->keys[k];
        out[k] = (weft_pin_key){key->time, key->offset, key->angle * (PI / 180.0)};
    }
}

static weft_pin pin_from_scene(const scene_pin* pin, weft_pin_key* keys)
{
    keys_from_scene(&pin->motion, keys);
    return (weft_pin){
        .vertices = pin->vertices,
        .vertex_count = pin->vertex_count,
        .fix = pin->fix,
        .direction = pin->direction,
        .keys = pin->motion.key_count > 0 ? keys : NULL,
        .key_count = pin->motion.key_count,
        .axis = pin->motion.axis,
        .center = pin->motion.center,
        .release = pin->release,
        .samples = pin->samples,
        .sample_count = pin->sample_count,
        .sample_rate = pin->sample_rate,
        .sample_start = pin->sample_start,
        .follow = pin->follow,
        .weights = pin->weights,
        .stiffness = pin->stiffness,
    };
}

static void cloth_arrays_fill(const scene_cloth* cloth, cloth_arrays* arrays)
{
    weft_pin_key* keys = arrays->keys;
    for (int k = 0; k < cloth->pin_count; k++)
    {
        arrays->pins[k] = pin_from_scene(&cloth->pins[k], keys);
        keys += cloth->pins[k].motion.key_count;
    }
    for (int k = 0; k < cloth->force_count; k++)
    {
        const scene_force* force = &cloth->forces[k];
        arrays->forces[k] = (weft_force){force->vertices, force->vertex_count, force->force};
    }
    for (int k = 0; k < cloth->region_count; k++)
    {
        const scene_region* region = &cloth->regions[k];
        arrays->regions[k] = (weft_region){region->faces, region->face_count, region->material};
    }
    for (int k = 0; k < cloth->band_count; k++)
    {
        const scene_band* band = &cloth->bands[k];
        arrays->bands[k] = (weft_band){band->vertices, band->vertex_count, band->rest_scale, band->stiffness};
    }
    for (int k = 0; k < cloth->fold_count; k++)
    {
        const scene_fold* fold = &cloth->folds[k];
        arrays->folds[k] = (weft_fold){fold->vertices, fold->vertex_count, fold->angle * (PI / 180.0)};
    }
    for (int k = 0; arrays->velocities && k < cloth->mesh.vertex_count; k++)
    {
        arrays->velocities[k] = cloth->velocity;
    }
}

static weft_cloth_def cloth_def_from_scene(const scene_cloth* cloth, const cloth_arrays* arrays)
{
    weft_cloth_def def = weft_cloth_def_default();
    def.name = cloth->name;
    def.kind = cloth->kind->name;
    def.positions = cloth->mesh.position;
    def.vertex_count = cloth->mesh.vertex_count;
    def.face_start = cloth->mesh.face_start;
    def.face_vertices = cloth->mesh.face_vertex;
    def.face_count = cloth->mesh.face_count;
    def.tetrahedra = cloth->mesh.tetrahedron;
    def.tetrahedron_count = cloth->mesh.tetrahedron_count;
    def.rest_positions = cloth->rest_position;
    def.rest_uv = cloth->rest_uv;
    def.warp = cloth->world_warp;
    def.velocities = arrays->velocities;
    def.material = cloth->material;
    def.model = cloth->model;
    def.bending = cloth->bending;
    def.connections = cloth->connections;
    def.vertex_mass = cloth->vertex_mass;
    def.tear = cloth->tear;
    def.friction = cloth->friction.kinetic;
    def.static_friction = cloth->friction.resting;
    def.thickness = cloth->thickness;
    def.pins = arrays->pins;
    def.pin_count = cloth->pin_count;
    def.forces = arrays->forces;
    def.force_count = cloth->force_count;
    def.regions = arrays->regions;
    def.region_count = cloth->region_count;
    def.bands = arrays->bands;
    def.band_count = cloth->band_count;
    def.folds = arrays->folds;
    def.fold_count = cloth->fold_count;
    def.stitches = cloth->stitches.pairs.vertex;
    def.stitch_count = cloth->stitches.pairs.count;
    def.threads = cloth->stitches.thread;
    def.thread_count = cloth->stitches.thread_count;
    def.stitch_start = cloth->stitches.start;
    def.stitch_close = cloth->stitches.close;
    def.settings = cloth->settings;
    def.setting_count = cloth->setting_count;
    def.outputs = cloth->mesh.weld;
    def.output_count = cloth->mesh.given_count;
    def.labels = mesh_labels(&cloth->mesh);
    return def;
}

void scene_error_place(const weft_scene* scene, const tree_node* node, weft_error* error)
{
    if (!error || error->file[0] != '\0')
    {
        return;
    }
    snprintf(error->file, sizeof(error->file), "%s", scene->file);
    if (error->line == 0 && node)
    {
        error->line = node->line;
        error->column = node->column;
    }
}

// Nothing that moves by itself.
static void cloth_def_strip(weft_cloth_def* def, weft_pin* pins)
{
    def->velocities = NULL;
    def->force_count = 0;
    def->tear = 0.0;
    def->outputs = NULL;
    def->output_count = 0;
    def->labels = (weft_labels){0};
    for (int k = 0; k < def->pin_count; k++)
    {
        pins[k].key_count = pins[k].sample_count = 0;
        pins[k].keys = NULL;
        pins[k].samples = NULL;
        pins[k].follow = NULL;
    }
}

weft_status scene_cloth_add(const weft_scene* scene, const scene_cloth* cloth, bool bare, weft_sim* sim,
                            weft_error* error)
{
    cloth_arrays arrays = {0};
    if (!cloth_arrays_init(cloth, &arrays))
    {
        cloth_arrays_finish(&arrays);
        return error_set(error, WEFT_NO_MEMORY, scene->file, 0, "there is no memory for cloth `%s`", cloth->name);
    }
    cloth_arrays_fill(cloth, &arrays);
    weft_cloth_def def = cloth_def_from_scene(cloth, &arrays);
    bare ? cloth_def_strip(&def, arrays.pins) : (void)0;
    weft_cloth_id id;
    weft_status status = weft_sim_add_cloth(sim, &def, &id, error);
    cloth_arrays_finish(&arrays);
    if (status != WEFT_OK)
    {
        scene_error_place(scene, cloth->node, error);
    }
    return status;
}

// ---- obstacles

static weft_obstacle_def obstacle_def_from_scene(const scene_obstacle* o, const weft_pin_key* keys)
{
    weft_obstacle_def def = weft_obstacle_def_default();
    def.name = o->name;
    def.positions = o->mesh.position;
    def.vertex_count = o->mesh.vertex_count;
    def.face_start = o->mesh.face_start;
    def.face_vertices = o->mesh.face_vertex;
    def.face_count = o->mesh.face_count;
    def.outputs = o->mesh.weld;
    def.output_count = o->mesh.given_count;
    def.labels = mesh_labels(&o->mesh);
    def.friction = o->friction.kinetic;
    def.static_friction = o->friction.resting;
    def.thickness = o->thickness;
    def.keys = keys;
    def.key_count = o->motion.key_count;
    def.axis = o->motion.axis;
    def.center = o->motion.center;
    return def;
}

weft_status scene_obstacle_add(const weft_scene* scene, const scene_obstacle* o, weft_sim* sim, weft_error* error)
{
    weft_pin_key* keys = MEM_NEW(int_max(o->motion.key_count, 1), weft_pin_key);
    skin_maps maps = {0};
    if (!keys || !skins_map(o, &maps))
    {
        mem_free(keys);
        return error_set(error, WEFT_NO_MEMORY, scene->file, 0, "there is no memory for obstacle `%s`", o->name);
    }
    keys_from_scene(&o->motion, keys);
    weft_obstacle_def def = obstacle_def_from_scene(o, keys);
    def.vertex_thickness = maps.thickness;
    def.vertex_friction = maps.friction;
    def.vertex_static_friction = maps.resting;
    weft_status status = WEFT_OK;
    if (o->deform.sample_count > 0)
    {
        deform_source* source = NULL;
        status = deform_source_create(scene, o, &source, error);
        def.sample_count = o->deform.sample_count;
        def.sample_rate = o->deform.rate;
        def.sample_start = o->deform.start;
        def.sample_offset = o->deform.offset / o->deform.speed;
        def.sample_loop = o->deform.loop;
        def.read_sample = deform_source_read;
        def.user = source;
        def.release = deform_source_destroy;
    }
    status = status == WEFT_OK ? weft_sim_add_obstacle(sim, &def, NULL, error) : status;
    mem_free(keys);
    skin_maps_finish(&maps);
    if (status != WEFT_OK)
    {
        scene_error_place(scene, o->deform_node ? o->deform_node : o->node, error);
    }
    return status;
}

static weft_status exclusion_add(const weft_scene* scene, const scene_exclusion* e, weft_sim* sim, weft_error* error)
{
    weft_exclusion exclusion = {e->first, e->second, e->vertices, e->vertex_count};
    weft_status status = weft_sim_exclude(sim, &exclusion, error);
    if (status != WEFT_OK)
    {
        scene_error_place(scene, e->node, error);
    }
    return status;
}

static weft_status tie_add(const weft_scene* scene, const scene_tie* t, weft_sim* sim, weft_error* error)
{
    weft_tie tie = {t->cloth, t->to, t->vertices, t->vertex_count, t->edges};
    weft_status status = weft_sim_tie(sim, &tie, error);
    if (status != WEFT_OK)
    {
        scene_error_place(scene, t->node, error);
    }
    return status;
}

weft_status weft_scene_build_sim(const weft_scene* scene, int worker_count, weft_sim** out, weft_error* error)
{
    WEFT_ASSERT(scene && out && worker_count >= 0);
    *out = NULL;
    if (error)
    {
        *error = (weft_error){0};
    }
    weft_sim_def def = scene->def;
    def.worker_count = worker_count;
    weft_sim* sim = NULL;
    weft_status status = weft_sim_create(&def, &sim, error);
    if (status != WEFT_OK)
    {
        scene_error_place(scene, scene->solver_node, error);
        return status;
    }
    for (int k = 0; k < scene->cloth_count && status == WEFT_OK; k++)
    {
        status = scene_cloth_add(scene, &scene->cloths[k], false, sim, error);
    }
    for (int k = 0; k < scene->obstacle_count && status == WEFT_OK; k++)
    {
        status = scene_obstacle_add(scene, &scene->obstacles[k], sim, error);
    }
    for (int k = 0; k < scene->exclusion_count && status == WEFT_OK; k++)
    {
        status = exclusion_add(scene, &scene->exclusions[k], sim, error);
    }
    for (int k = 0; k < scene->tie_count && status == WEFT_OK; k++)
    {
        status = tie_add(scene, &scene->ties[k], sim, error);
    }
    if (status != WEFT_OK)
    {
        weft_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return WEFT_OK;
}

weft_status weft_scene_create_sim(const weft_scene* scene, int worker_count, weft_sim** out, weft_error* error)
{
    TRY(weft_scene_build_sim(scene, worker_count, out, error));
    weft_status status = weft_scene_start(scene, *out, NULL, error);
    if (status != WEFT_OK)
    {
        weft_sim_destroy(*out);
        *out = NULL;
    }
    return status;
}
