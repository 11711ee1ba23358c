// Dressing the cloths of a scene: one layer after the other is put on what is worn already. For each layer a simulation
// of its own holds the layer as cloth, and the bodies and the layers below as forms that start thin and grow
// (start/dress.c). What is worn moves with the skin below it when that gets thin: each of its vertices goes to the core
// of the nearest point of the bodies. In the end the scene itself is looked at by the inspector.
#include <string.h>

#include "collide/triangle_tree.h"
#include "scene/scene_data.h"
#include "sim/sim.h"
#include "start/dress.h"

enum
{
    COOKIE = 0x64726573
};

static const double time_step = 0.004; // s: a body's vertex goes a metre a second at most

typedef struct dressing
{
    weft_scene* scene;
    const weft_dress_def* def;
    weft_dressing* out;
    weft_sim* whole; // the scene's own simulation
    vec3** x;        // [cloth_count] where each cloth is by now
    int* layer;      // [cloth_count] in which it is put on
    int layer_count;
    dress_form* forms; // [obstacle_count + cloth_count] bodies, then what is worn
    vec3 offset;       // m, of the cloths of the layer at hand
} dressing;

weft_dress_def weft_dress_def_default(void)
{
    return (weft_dress_def){.cookie = COOKIE};
}

// ---- what is there

static weft_status refuse(const weft_scene* scene, const tree_node* node, const char* what, weft_error* error)
{
    error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s", what);
    scene_error_place(scene, node, error);
    return WEFT_BAD_INPUT;
}

static weft_status check_scene(const weft_scene* scene, weft_error* error)
{
    for (int k = 0; k < scene->cloth_count; k++)
    {
        const scene_cloth* c = &scene->cloths[k];
        if (c->kind->form != MESH_SHEET)
        {
            return refuse(scene, c->node, "only cloth is put on bodies, neither strands nor volumes: leave them out",
                          error);
        }
        if (c->stitches.pairs.count > 0)
        {
            return refuse(scene, c->node,
                          "a garment in pieces is not put on: sew it first by a run, and take what comes out", error);
        }
    }
    return scene->obstacle_count == 0 ? refuse(scene, NULL, "there is no body: the scene has no obstacles", error)
                                      : WEFT_OK;
}

// Cloths that `layers` names, in that order; then all others as one.
static void find_layers(dressing* d)
{
    const weft_scene* scene = d->scene;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        d->layer[k] = -1;
    }
    for (int k = 0; k < scene->layer_count; k++)
    {
        if (scene->layers[k] < scene->cloth_count)
        {
            d->layer[scene->layers[k]] = d->layer_count++;
        }
    }
    int others = 0;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        others += d->layer[k] < 0;
        d->layer[k] = d->layer[k] < 0 ? d->layer_count : d->layer[k];
    }
    d->layer_count += others > 0;
}

// ---- bodies

static weft_status read_pose(const dressing* d, const scene_obstacle* o, vec3* out, weft_error* error)
{
    mesh m = {0};
    weft_status status = mesh_from_obj(d->def->pose, NULL, &m, error);
    if (status == WEFT_OK && m.vertex_count != o->mesh.vertex_count)
    {
        status = error_set(error, WEFT_BAD_INPUT, d->def->pose, 0,
                           "the pose has %d vertices, and the body `%s` %d: they must be the same, in the same order",
                           m.vertex_count, o->name, o->mesh.vertex_count);
    }
    if (status == WEFT_OK)
    {
        scene_place place = place_make(&o->transform, o->obj.scale);
        place_mesh(&place, &m);
        memcpy(out, m.position, (size_t)m.vertex_count * sizeof(vec3));
    }
    mesh_finish(&m);
    return status;
}

// Whether a body has a middle to shrink to: a floor has none.
static bool is_flat(const mesh* m, const vec3* x)
{
    double area = 0.0;
    vec3 sum = v3(0, 0, 0);
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        vec3 n = v3_cross(v3_sub(x[v[1]], x[v[0]]), v3_sub(x[v[2]], x[v[0]]));
        area += v3_length(n);
        sum = v3_add(sum, n);
    }
    return v3_length(sum) > 0.9 * area;
}

static weft_status take_body(dressing* d, int index, weft_error* error)
{
    const scene_obstacle* o = &d->scene->obstacles[index];
    const mesh* m = &d->whole->obstacles[index].mesh;
    dress_form* form = &d->forms[index];
    TRY(dress_form_create(form, m) ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(obstacle_positions(&d->whole->obstacles[index], 0.0, form->last, error));
    memcpy(form->full, form->last, (size_t)m->vertex_count * sizeof(vec3));
    if (index == 0 && d->def->pose)
    {
        TRY(read_pose(d, o, form->full, error));
    }
    form->flat = is_flat(m, form->full);
    if (form->flat)
    {
        memcpy(form->middle, form->full, (size_t)m->vertex_count * sizeof(vec3));
        return WEFT_OK;
    }
    return core_find(m->triangle, m->triangle_count, form->full, m->vertex_count, form->middle);
}

// ---- what is worn

typedef struct skin
{
    triangle_tree tree;
    const dress_form* form;
} skin;

static weft_status skin_create(skin* s, const dress_form* form)
{
    int count = form->mesh->triangle_count;
    int* items = MEM_NEW(int_max(count, 1), int);
    for (int t = 0; t < count && items; t++)
    {
        items[t] = t;
    }
    s->form = form;
    weft_status status =
        items ? triangle_tree_create(&s->tree, form->mesh->triangle, items, count, form->last) : WEFT_NO_MEMORY;
    mem_free(items);
    return status;
}

// A vertex that is worn goes with the point of the skin that is nearest.
static void follow_skin(const skin* skins, int count, dress_form* worn, int vertex)
{
    surface_point best = {.triangle = -1, .distance = INFINITY};
    dress_hold* hold = &worn->hold[vertex];
    for (int k = 0; k < count; k++)
    {
        surface_point at =
            triangle_tree_nearest(&skins[k].tree, skins[k].form->last, worn->last[vertex], best.distance);
        hold->form = at.triangle >= 0 ? skins[k].form : hold->form;
        best = at.triangle >= 0 ? at : best;
    }
    for (int k = 0; k < 3 && hold->form; k++)
    {
        hold->vertex[k] = hold->form->mesh->triangle[3 * (size_t)best.triangle + (size_t)k];
        hold->weight[k] = best.weight[k];
    }
}

static weft_status take_worn(dressing* d, int cloth)
{
    int bodies = d->scene->obstacle_count;
    dress_form* form = &d->forms[bodies + cloth];
    const mesh* m = &d->scene->cloths[cloth].mesh;
    TRY(dress_form_create(form, m) ? WEFT_OK : WEFT_NO_MEMORY);
    form->hold = MEM_NEW(int_max(m->vertex_count, 1), dress_hold);
    TRY(form->hold ? WEFT_OK : WEFT_NO_MEMORY);
    skin* skins = MEM_NEW(bodies, skin);
    weft_status status = skins ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < bodies && status == WEFT_OK; k++)
    {
        status = skin_create(&skins[k], &d->forms[k]);
    }
    for (int i = 0; i < m->vertex_count && status == WEFT_OK; i++)
    {
        form->last[i] = d->x[cloth][i];
        follow_skin(skins, bodies, form, i);
    }
    status == WEFT_OK ? dress_form_follow(form) : (void)0;
    for (int k = 0; k < bodies && skins; k++)
    {
        triangle_tree_finish(&skins[k].tree);
    }
    mem_free(skins);
    return status;
}

// ---- a layer

static weft_status add_form(const dressing* d, int index, weft_sim* sim, weft_error* error)
{
    const weft_scene* scene = d->scene;
    dress_form* form = &d->forms[index];
    bool body = index < scene->obstacle_count;
    weft_obstacle_def def = weft_obstacle_def_default();
    def.name = body ? scene->obstacles[index].name : scene->cloths[index - scene->obstacle_count].name;
    def.thickness = body ? scene->obstacles[index].thickness : scene->cloths[index - scene->obstacle_count].thickness;
    def.positions = form->full;
    def.vertex_count = form->mesh->vertex_count;
    def.face_vertices = form->mesh->triangle;
    def.face_count = form->mesh->triangle_count;
    def.friction = 0.0;
    def.sample_count = dress_plan_steps(&form->plan) + 1;
    def.sample_rate = 1.0 / time_step;
    def.read_sample = dress_form_sample;
    def.user = form;
    return weft_sim_add_obstacle(sim, &def, NULL, error);
}

static weft_status build_layer(const dressing* d, int layer, weft_sim** out, weft_error* error)
{
    const weft_scene* scene = d->scene;
    weft_sim_def def = scene->def;
    def.worker_count = d->def->worker_count;
    def.time_step = time_step;
    def.method = "implicit-euler";
    def.gravity = v3(0, 0, 0);
    def.air = weft_sim_def_default().air;
    def.contact = 1;
    def.friction = 0.0;
    def.static_friction = -1.0;
    TRY(weft_sim_create(&def, out, error));
    for (int k = 0; k < scene->cloth_count; k++)
    {
        TRY(d->layer[k] == layer ? scene_cloth_add(scene, &scene->cloths[k], true, *out, error) : WEFT_OK);
    }
    for (int k = 0; k < scene->obstacle_count + scene->cloth_count; k++)
    {
        TRY(d->forms[k].mesh ? add_form(d, k, *out, error) : WEFT_OK);
    }
    return WEFT_OK;
}

// How the forms that there are come to the cloths of a layer.
static weft_status prepare_layer(dressing* d, int layer, weft_error* error)
{
    const weft_scene* scene = d->scene;
    int all = scene->obstacle_count + scene->cloth_count, crossings = 0, left = 0;
    dress_cloth* cloths = MEM_NEW(scene->cloth_count, dress_cloth);
    dress_form** forms = MEM_NEW(all, dress_form*);
    weft_status status = cloths && forms ? WEFT_OK : WEFT_NO_MEMORY;
    dress_case now = {.cloths = cloths, .forms = forms, .worker_count = d->def->worker_count};
    for (int k = 0; k < scene->cloth_count && status == WEFT_OK; k++)
    {
        cloths[now.cloth_count] = (dress_cloth){&scene->cloths[k].mesh, scene->cloths[k].mesh.position};
        now.cloth_count += d->layer[k] == layer;
        now.fixed = now.fixed || (d->layer[k] == layer && scene->cloths[k].pin_count > 0);
    }
    for (int k = 0; k < all && status == WEFT_OK; k++)
    {
        forms[now.form_count] = &d->forms[k];
        now.form_count += d->forms[k].mesh != NULL;
    }
    status = status == WEFT_OK ? dress_prepare(&now, &crossings, &left, error) : status;
    d->offset = now.offset;
    d->out->crossings += crossings;
    d->out->thinned = fmax(d->out->thinned, d->forms[0].plan.share);
    mem_free(cloths);
    mem_free(forms);
    return status;
}

// Cloths begin where they find room.
static weft_status move_layer(dressing* d, int layer, weft_sim* sim)
{
    for (int k = 0, next = 0; k < d->scene->cloth_count; k++)
    {
        const mesh* m = &d->scene->cloths[k].mesh;
        for (int i = 0; i < m->vertex_count && d->layer[k] == layer; i++)
        {
            d->x[k][i] = v3_add(m->position[i], d->offset);
        }
        TRY(d->layer[k] == layer ? weft_sim_set_state(sim, next++, d->x[k], NULL) : WEFT_OK);
    }
    return WEFT_OK;
}

static weft_status run_layer(dressing* d, int layer, weft_sim* sim, weft_error* error)
{
    const weft_scene* scene = d->scene;
    dress_watch watch = {.look = d->def->look,
                         .user = d->def->user,
                         .from = (double)layer / d->layer_count,
                         .to = (layer + 1.0) / d->layer_count};
    bool moves = d->offset.x != 0.0 || d->offset.y != 0.0 || d->offset.z != 0.0;
    TRY(moves ? move_layer(d, layer, sim) : WEFT_OK);
    TRY(weft_sim_settle(sim, NULL, 0, NULL, error));
    TRY(dress_run(sim, &d->forms[0].plan, &watch, error));
    d->out->steps += (int)weft_sim_step_count(sim);
    for (int k = 0, next = 0; k < scene->cloth_count; k++)
    {
        if (d->layer[k] == layer)
        {
            weft_sim_positions(sim, next++, d->x[k]);
        }
    }
    return WEFT_OK;
}

static weft_status dress_layer(dressing* d, int layer, weft_error* error)
{
    weft_sim* sim = NULL;
    TRY(prepare_layer(d, layer, error));
    weft_status status = build_layer(d, layer, &sim, error);
    status = status == WEFT_OK ? run_layer(d, layer, sim, error) : status;
    weft_sim_destroy(sim);
    for (int k = 0; k < d->scene->cloth_count && status == WEFT_OK; k++)
    {
        status = d->layer[k] == layer && layer + 1 < d->layer_count ? take_worn(d, k) : WEFT_OK;
    }
    return status;
}

// ---- the whole

static double side_strain(const scene_cloth* c, const vec3* x)
{
    const mesh* m = &c->mesh;
    const vec3* rest = c->rest_position ? c->rest_position : m->position;
    double most = 0.0;
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        int i = m->triangle[k], j = m->triangle[k - k % 3 + (k + 1) % 3];
        double length = v3_length(v3_sub(rest[i], rest[j]));
        most = length > 0.0 ? fmax(most, v3_length(v3_sub(x[i], x[j])) / length - 1.0) : most;
    }
    return most;
}

// All bodies as they are at the start of the scene, by the inspector.
static weft_status judge(dressing* d, weft_error* error)
{
    start_look look = {0};
    weft_status status = start_look_open(&look, d->whole, error);
    for (int k = 0; k < d->scene->cloth_count && status == WEFT_OK; k++)
    {
        for (int i = 0; i < d->scene->cloths[k].mesh.vertex_count; i++)
        {
            look.x[look.first_vertex[k] + i] = d->x[k][i] = v3_round(d->x[k][i]);
        }
        d->out->max_strain = fmax(d->out->max_strain, side_strain(&d->scene->cloths[k], d->x[k]));
    }
    status = status == WEFT_OK ? start_look_inspect(&look, look.x, error) : status;
    d->out->left = look.pair_count;
    if (status == WEFT_OK && look.pair_count > 0)
    {
        start_refuse(&look, "the garments could not be put on without crossings",
                     "move or scale the garment so that the body's limbs are inside of it, give a pose that it fits "
                     "with --pose, or let \"initial_contact\": \"settle\" part what is left",
                     error);
        status = WEFT_NOT_CONVERGED;
        error ? (void)(error->status = status) : (void)0;
    }
    start_look_close(&look);
    return status;
}

static weft_status dress_all(dressing* d, weft_error* error)
{
    weft_scene* scene = d->scene;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        d->x[k] = MEM_NEW(scene->cloths[k].mesh.vertex_count, vec3);
        TRY(d->x[k] ? WEFT_OK : WEFT_NO_MEMORY);
    }
    TRY(weft_scene_build_sim(scene, d->def->worker_count, &d->whole, error));
    find_layers(d);
    for (int k = 0; k < scene->obstacle_count; k++)
    {
        TRY(take_body(d, k, error));
    }
    for (int k = 0; k < d->layer_count; k++)
    {
        TRY(dress_layer(d, k, error));
    }
    return judge(d, error);
}

static weft_status take_over(dressing* d)
{
    weft_scene* scene = d->scene;
    for (int k = 0; k < scene->cloth_count; k++)
    {
        TRY(scene_cloth_start(&scene->cloths[k], d->x[k]) ? WEFT_OK : WEFT_NO_MEMORY);
    }
    char* json = scene_write(scene);
    TRY(json ? WEFT_OK : WEFT_NO_MEMORY);
    mem_free(scene->json);
    scene->json = json;
    return WEFT_OK;
}

weft_status weft_scene_dress(weft_scene* scene, const weft_dress_def* def, weft_dressing* out, weft_error* error)
{
    WEFT_ASSERT(scene && def && def->cookie == COOKIE && def->worker_count >= 0);
    weft_dressing unused;
    dressing d = {.scene = scene, .def = def, .out = out ? out : &unused};
    *d.out = (weft_dressing){0};
    TRY(check_scene(scene, error));
    d.x = MEM_NEW(scene->cloth_count, vec3*);
    d.layer = MEM_NEW(scene->cloth_count, int);
    d.forms = MEM_NEW(scene->obstacle_count + scene->cloth_count, dress_form);
    weft_status status = d.x && d.layer && d.forms ? dress_all(&d, error) : WEFT_NO_MEMORY;
    if (status == WEFT_OK || status == WEFT_NOT_CONVERGED)
    {
        weft_status taken = take_over(&d);
        status = taken == WEFT_OK ? status : taken;
    }
    for (int k = 0; k < scene->obstacle_count + scene->cloth_count && d.forms; k++)
    {
        dress_form_destroy(&d.forms[k]);
    }
    for (int k = 0; k < scene->cloth_count && d.x; k++)
    {
        mem_free(d.x[k]);
    }
    mem_free(d.x);
    mem_free(d.layer);
    mem_free(d.forms);
    weft_sim_destroy(d.whole);
    return status == WEFT_NO_MEMORY ? error_set(error, status, NULL, 0, "%s", weft_status_text(status)) : status;
}
