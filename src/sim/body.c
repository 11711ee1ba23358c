// Taking in a body, a cloth or another kind: checks and copies everything of a weft_cloth_def.
#include <string.h>

#include "sim/sim.h"

weft_cloth_def weft_cloth_def_default(void)
{
    weft_cloth_def def = {.warp = {1, 0, 0},
                          .model = model_table[0]->name,
                          .friction = -1.0,
                          .static_friction = -1.0,
                          .thickness = 1e-3,
                          .connections = {.damper_stretch = -1.0, .damper_shear = -1.0, .bend_start = -1.0}};
    weft_material_find("cotton", &def.material, NULL);
    return def;
}

weft_pin weft_pin_default(void)
{
    return (weft_pin){.fix = WEFT_FIX_POINT, .release = INFINITY, .sample_rate = 25.0, .stiffness = 1e4};
}

void pin_finish(weft_pin* pin)
{
    mem_free((void*)pin->vertices);
    mem_free((void*)pin->keys);
    mem_free((void*)pin->samples);
    mem_free((void*)pin->follow);
    mem_free((void*)pin->weights);
    *pin = (weft_pin){0};
}

static void pins_free(weft_pin* pins, int count)
{
    for (int k = 0; k < count && pins; k++)
    {
        pin_finish(&pins[k]);
    }
    mem_free(pins);
}

void forces_free(weft_force* forces, int count)
{
    for (int k = 0; k < count && forces; k++)
    {
        mem_free((void*)forces[k].vertices);
    }
    mem_free(forces);
}

void body_finish(body* b)
{
    mesh_finish(&b->rest);
    pins_free(b->pins, b->pin_count);
    forces_free(b->forces, b->force_count);
    body_lines_finish(b);
    mem_free(b->name);
    mem_free(b->scene_vertex);
    mem_free(b->user_vertex);
    mem_free(b->pins_taken);
    mem_free(b->outputs);
    mem_free(b->torn_from);
    mem_free(b->torn_face_start);
    mem_free(b->torn_face);
    mem_free(b->start);
    mem_free(b->sewn);
    mem_free(b->velocity);
    mem_free(b->rest_uv);
    mem_free(b->regions);
    mem_free(b->chosen);
    mem_free(b->triangle_region);
    mem_free(b->crease);
    mem_free(b->given);
    mem_free(b->stitch);
    mem_free(b->thread);
    mem_free(b->seam);
    mem_free(b->one);
    mem_free(b->upon);
    mem_free(b->sewing);
    *b = (body){0};
}

static weft_status wrong(weft_error* error, const body* b, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s", b->kind->name, b->name ? b->name : "?", what);
}

// Copies count items; an empty array stays NULL.
static bool copy_array(const void* source, int count, size_t size, void* out)
{
    void* copy = NULL;
    if (count > 0)
    {
        copy = mem_alloc((size_t)count, size);
        if (!copy)
        {
            return false;
        }
        memcpy(copy, source, (size_t)count * size);
    }
    memcpy(out, &copy, sizeof(copy));
    return true;
}

static bool all_finite(const vec3* v, int count)
{
    for (int k = 0; k < count; k++)
    {
        if (!v3_is_finite(v[k]))
        {
            return false;
        }
    }
    return true;
}

static weft_status check_vertices(const body* b, const int* vertices, int count, const char* what, weft_error* error)
{
    for (int k = 0; k < count; k++)
    {
        if (vertices[k] < 0 || vertices[k] >= b->rest.vertex_count)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: a %s names vertex %d; vertices run from 0 to %d",
                             b->kind->name, b->name, what, vertices[k], b->rest.vertex_count - 1);
        }
    }
    return WEFT_OK;
}

weft_status material_check(const body* b, const weft_material* m, double vertex_mass, weft_error* error)
{
    const double* values = &m->density;
    for (int k = 0; k < MATERIAL_NUMBERS; k++)
    {
        if (!isfinite(values[k]) || values[k] < 0.0)
        {
            return wrong(error, b, "a material's numbers are zero or positive");
        }
    }
    char text[320];
    const char* found = material_measure_wrong(m, text, sizeof(text));
    if (found)
    {
        return wrong(error, b, found);
    }
    if (material_measures(m) && b->kind->form != MESH_SHEET)
    {
        return wrong(error, b, "bending by direction, knees, strain limits and creases are of sheets alone");
    }
    if (!(m->density > 0.0) && !(vertex_mass > 0.0))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: %s has weight: give a density (%s) above zero",
                         b->kind->name, b->name, b->kind->name, b->kind->density);
    }
    return WEFT_OK;
}

static weft_status take_material(const weft_cloth_def* def, body* b, weft_error* error)
{
    TRY(material_check(b, &def->material, def->vertex_mass, error));
    if (!isfinite(def->vertex_mass) || def->vertex_mass < 0.0)
    {
        return wrong(error, b, "vertex_mass is in kg and not negative");
    }
    if (!friction_take(def->friction, def->static_friction, &b->friction) || !isfinite(def->thickness) ||
        def->thickness <= 0.0)
    {
        return wrong(error, b, FRICTION_WRONG "; thickness (m) is finite and above zero");
    }
    b->material = def->material;
    if (!isfinite(def->tear) || def->tear < 0.0 || (def->tear > 0.0 && b->kind->form != MESH_SHEET))
    {
        return wrong(error, b, "tear is in N/m, finite and not negative, and of sheets alone");
    }
    b->tear = def->tear;
    b->vertex_mass = def->vertex_mass;
    b->thickness = def->thickness;
    return WEFT_OK;
}

static weft_status take_kind(const weft_cloth_def* def, body* b, weft_error* error)
{
    b->kind = body_kind_find(def->kind);
    if (!b->kind)
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no kind of bodies `%s`; see `weft list bodies`",
                         def->kind);
    }
    bool sheet = b->kind->form == MESH_SHEET;
    return sheet || !def->rest_uv
               ? WEFT_OK
               : error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: only sheets have a rest shape in uv; leave it out",
                           b->kind->name, def->name ? def->name : "?");
}

static weft_status take_mesh(const weft_cloth_def* def, body* b, weft_error* error)
{
    const vec3* rest = def->rest_positions ? def->rest_positions : def->positions;
    if (b->kind->form == MESH_LINES)
    {
        TRY(mesh_lines_from_arrays(rest, def->vertex_count, def->face_start, def->face_vertices, def->face_count,
                                   &b->rest, error));
        return b->kind->prepare(&b->rest, error);
    }
    if (b->kind->form == MESH_SOLID)
    {
        TRY(mesh_solid_from_arrays(rest, def->vertex_count, def->tetrahedra, def->tetrahedron_count, &b->rest, error));
        return b->kind->prepare(&b->rest, error);
    }
    TRY(mesh_from_arrays(rest, def->vertex_count, def->face_start, def->face_vertices, def->face_count, &b->rest,
                         error));
    // Numbers that follow the corners of faces that are turned over.
    int corners = b->rest.face_start[def->face_count];
    b->rest.face_texcoord = MEM_NEW(int_max(corners, 1), int);
    if (!b->rest.face_texcoord)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < corners; k++)
    {
        b->rest.face_texcoord[k] = k;
    }
    if (def->rest_uv)
    {
        b->rest.texcoord_count = corners;
        TRY(copy_array(def->rest_uv, corners, sizeof(vec2), &b->rest.texcoord) ? WEFT_OK : WEFT_NO_MEMORY);
        b->flat_rest = true;
    }
    TRY(b->kind->prepare(&b->rest, error));
    b->rest_uv = MEM_NEW(3 * (size_t)b->rest.triangle_count, vec2);
    if (!b->rest_uv)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(mesh_rest(&b->rest, def->rest_uv ? REST_UV : REST_SHAPE, def->warp, 1.0, b->rest_uv, error));
    for (int t = 0; t < b->rest.triangle_count; t++)
    {
        b->typical_area += triangle_rest_area(b->rest_uv + 3 * (size_t)t) / b->rest.triangle_count;
    }
    return WEFT_OK;
}

// Of solids and lines corners are what they were. A flat rest shape stands for texture coordinates where there are
// none.
static weft_status take_labels(const weft_cloth_def* def, body* b, weft_error* error)
{
    mesh* m = &b->rest;
    if (b->kind->form == MESH_SOLID)
    {
        return WEFT_OK;
    }
    bool own = def->labels.texcoords && def->labels.face_texcoords;
    int* corner = m->face_texcoord;
    vec2* flat = m->texcoord;
    int flat_count = m->texcoord_count;
    m->face_texcoord = NULL;
    m->texcoord = NULL;
    m->texcoord_count = 0;
    weft_error reason = {0};
    weft_status status = mesh_take_labels(m, &def->labels, corner, def->outputs ? def->output_count : 0, &reason);
    if (!own && def->rest_uv)
    {
        m->face_texcoord = corner;
        m->texcoord = flat;
        m->texcoord_count = flat_count;
        corner = NULL;
        flat = NULL;
    }
    mem_free(corner);
    mem_free(flat);
    return status == WEFT_BAD_INPUT ? wrong(error, b, reason.message) : status;
}

// What is torn off is named by the output of what it was torn off from.
static weft_status check_all_shown(const body* b, weft_error* error)
{
    uint8_t* shown = MEM_NEW(b->rest.vertex_count, uint8_t);
    int hidden = -1;
    for (int k = 0; k < b->output_count && shown; k++)
    {
        shown[b->outputs[k]] = 1;
    }
    for (int i = b->rest.vertex_count - 1; i >= 0 && shown; i--)
    {
        hidden = shown[i] ? hidden : i;
    }
    weft_status status = !shown ? WEFT_NO_MEMORY : WEFT_OK;
    mem_free(shown);
    return hidden < 0 ? status
                      : error_set(error, WEFT_BAD_INPUT, NULL, 0,
                                  "%s `%s`: no output shows vertex %d, and cloth that tears shows all of them; add it "
                                  "to the outputs, or leave `tear` out",
                                  b->kind->name, b->name, hidden);
}

static weft_status take_state(const weft_cloth_def* def, body* b, weft_error* error)
{
    int n = def->vertex_count;
    if (!all_finite(def->positions, n) || (def->velocities && !all_finite(def->velocities, n)))
    {
        return wrong(error, b, "a position or velocity is not finite");
    }
    if (!copy_array(def->positions, n, sizeof(vec3), &b->start) ||
        !copy_array(def->velocities, def->velocities ? n : 0, sizeof(vec3), &b->velocity) ||
        !copy_array(def->outputs, def->outputs ? def->output_count : 0, sizeof(int), &b->outputs))
    {
        return WEFT_NO_MEMORY;
    }
    b->output_count = def->outputs ? def->output_count : n;
    b->came_with = n;
    TRY(check_vertices(b, b->outputs, b->outputs ? b->output_count : 0, "output", error));
    return b->tear > 0.0 && b->outputs ? check_all_shown(b, error) : WEFT_OK;
}

static weft_status check_samples(const body* b, const weft_pin* pin, weft_error* error)
{
    static const double coordinate_max = 1e12; // m, as for meshes
    if (!(pin->sample_rate > 0.0) || !isfinite(pin->sample_rate) || !isfinite(pin->sample_start))
    {
        return wrong(error, b, "a pin's sample_rate (samples a second) is above zero, its sample_start (s) is finite");
    }
    if (pin->vertex_count > 0 && pin->sample_count > INT32_MAX / pin->vertex_count)
    {
        return wrong(error, b, "a pin has more than 2^31 samples of vertices");
    }
    for (int k = 0; k < pin->sample_count * pin->vertex_count; k++)
    {
        vec3 x = pin->samples[k];
        if (!v3_is_finite(x) || fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) > coordinate_max)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "cloth `%s`: sample %d (counted from 0) of a pin puts vertex %d at (%g, %g, %g); "
                             "coordinates must be finite and below %g m",
                             b->name, k / pin->vertex_count, pin->vertices[k % pin->vertex_count], x.x, x.y, x.z,
                             coordinate_max);
        }
    }
    return WEFT_OK;
}

static weft_status check_weights(const body* b, const weft_pin* pin, weft_error* error)
{
    if (!(pin->stiffness > 0.0) || !isfinite(pin->stiffness))
    {
        return wrong(error, b, "a pin with weights has a stiffness (1/s^2) above zero; start from weft_pin_default()");
    }
    for (int k = 0; k < pin->vertex_count; k++)
    {
        if (!(pin->weights[k] >= 0.0 && pin->weights[k] <= 1.0))
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                             "cloth `%s`: a pin gives vertex %d the weight %g; weights go from 0, free, to 1, held",
                             b->name, pin->vertices[k], pin->weights[k]);
        }
    }
    return WEFT_OK;
}

static weft_status check_pin(const body* b, const weft_pin* pin, weft_error* error)
{
    TRY(check_vertices(b, pin->vertices, pin->vertex_count, "pin", error));
    if (!v3_is_finite(pin->direction) || isnan(pin->release))
    {
        return wrong(error, b, "a pin's numbers are finite");
    }
    if (pin->fix != WEFT_FIX_POINT && pin->fix != WEFT_FIX_LINE && pin->fix != WEFT_FIX_PLANE)
    {
        return wrong(error, b, "a pin holds a point, along a line or in a plane");
    }
    if (pin->fix != WEFT_FIX_POINT && !(v3_length(pin->direction) > 0.0))
    {
        return wrong(error, b, "a pin to a line or plane needs a direction that is not zero");
    }
    const char* mistake = motion_check(pin->keys, pin->key_count, pin->axis, pin->center);
    TRY(mistake ? wrong(error, b, mistake) : WEFT_OK);
    if (pin->follow && pin->sample_count > 0)
    {
        return wrong(error, b, "a pin follows a body or samples, not both");
    }
    TRY(pin->weights ? check_weights(b, pin, error) : WEFT_OK);
    return pin->sample_count > 0 ? check_samples(b, pin, error) : WEFT_OK;
}

weft_status pin_copy(const body* b, const weft_pin* from, weft_pin* to, weft_error* error)
{
    // The copy owns its arrays: clear first, so that a failure frees only what was copied.
    *to = *from;
    to->vertices = NULL;
    to->keys = NULL;
    to->samples = NULL;
    to->follow = NULL;
    to->weights = NULL;
    TRY(check_pin(b, from, error));
    bool ok = copy_array(from->vertices, from->vertex_count, sizeof(int), &to->vertices) &&
              copy_array(from->keys, from->key_count, sizeof(weft_pin_key), &to->keys) &&
              copy_array(from->samples, from->sample_count * from->vertex_count, sizeof(vec3), &to->samples) &&
              copy_array(from->weights, from->weights ? from->vertex_count : 0, sizeof(double), &to->weights);
    to->follow = from->follow ? mem_strdup(from->follow) : NULL;
    ok = ok && (to->follow || !from->follow);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static weft_status take_pins(const weft_cloth_def* def, body* b, weft_error* error)
{
    b->pins = MEM_NEW(def->pin_count, weft_pin);
    b->pins_taken = MEM_NEW(def->pin_count, unsigned char);
    if (!b->pins || !b->pins_taken)
    {
        return WEFT_NO_MEMORY;
    }
    while (b->pin_count < def->pin_count)
    {
        int k = b->pin_count++;
        TRY(pin_copy(b, &def->pins[k], &b->pins[k], error));
    }
    return WEFT_OK;
}

static weft_status force_copy(const body* b, const weft_force* from, weft_force* to, weft_error* error)
{
    *to = (weft_force){.vertex_count = from->vertex_count, .force = from->force};
    TRY(check_vertices(b, from->vertices, from->vertex_count, "force", error));
    if (!v3_is_finite(from->force))
    {
        return wrong(error, b, "a force is finite");
    }
    return copy_array(from->vertices, from->vertex_count, sizeof(int), &to->vertices) ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status forces_copy(const body* b, const weft_force* from, int count, weft_force** out, weft_error* error)
{
    *out = MEM_NEW(count, weft_force);
    weft_status status = *out ? WEFT_OK : WEFT_NO_MEMORY;
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        status = force_copy(b, &from[k], &(*out)[k], error);
    }
    if (status != WEFT_OK)
    {
        forces_free(*out, count);
        *out = NULL;
    }
    return status;
}

static weft_status take_forces(const weft_cloth_def* def, body* b, weft_error* error)
{
    TRY(forces_copy(b, def->forces, def->force_count, &b->forces, error));
    b->force_count = def->force_count;
    return WEFT_OK;
}

static weft_status take_all(const weft_sim* sim, const weft_cloth_def* def, body* b, weft_error* error)
{
    TRY(take_kind(def, b, error));
    TRY(name_take(sim, def->name, b->kind->name, &b->name, error));
    TRY(take_material(def, b, error));
    TRY(body_take_settings(def, b, error));
    TRY(take_mesh(def, b, error));
    TRY(regions_take(def, b, error));
    TRY(body_take_model(sim, def, b, error));
    TRY(crease_take(b));
    TRY(take_state(def, b, error));
    TRY(take_pins(def, b, error));
    TRY(take_forces(def, b, error));
    TRY(body_lines_take(def, b, error));
    TRY(take_labels(def, b, error));
    return body_take_stitches(def, b, error);
}

weft_status body_append(weft_sim* sim, const weft_cloth_def* def, weft_error* error)
{
    body b = {0};
    weft_status status = take_all(sim, def, &b, error);
    if (status == WEFT_OK && !mem_grow((void**)&sim->bodies, &sim->body_capacity, sim->body_count + 1, sizeof(body)))
    {
        status = WEFT_NO_MEMORY;
    }
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    if (status != WEFT_OK)
    {
        body_finish(&b);
        return status;
    }
    b.added = weft_sim_time(sim);
    b.first_pin = sim->edits.pin_ids + 1;
    sim->edits.pin_ids += b.pin_count;
    sim->bodies[sim->body_count++] = b;
    return WEFT_OK;
}
