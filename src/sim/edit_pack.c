// Pins, forces and bodies as bytes: each function names the fields of a def, for packing and unpacking alike. What is
// read may be forged: lengths of arrays have to agree; what the numbers say is checked by whoever takes the def in.
#include "sim/edits.h"

// An array that is there with that length, or not there.
static void check_length(packer* p, const void* items, int count, int64_t expected)
{
    p->failed = p->failed || (items && count != expected);
}

#define PACK_EXACTLY(p, items, expected)                                                                               \
    do                                                                                                                 \
    {                                                                                                                  \
        int64_t wanted_ = (expected);                                                                                  \
        int count_ = (int)wanted_;                                                                                     \
        p->failed = p->failed || wanted_ != count_;                                                                    \
        PACK_ARRAY(p, items, &count_);                                                                                 \
        check_length(p, *(items), count_, wanted_);                                                                    \
    } while (0)

static void pack_keys(packer* p, const weft_pin_key** keys, int* count, weft_vec3* axis, weft_vec3* center)
{
    PACK_ARRAY(p, keys, count);
    PACK(p, *axis);
    PACK(p, *center);
}

// Samples of so many vertices.
static void pack_samples(packer* p, const weft_vec3** samples, int* count, int vertex_count)
{
    PACK(p, *count);
    p->failed = p->failed || *count < 0;
    PACK_EXACTLY(p, samples, (int64_t)*count * vertex_count);
    p->failed = p->failed || (*count > 0 && !*samples);
}

void pack_pin(packer* p, weft_pin* pin)
{
    int fix = (int)pin->fix;
    PACK_ARRAY(p, &pin->vertices, &pin->vertex_count);
    PACK(p, fix);
    pin->fix = (weft_fix)fix;
    PACK(p, pin->direction);
    pack_keys(p, &pin->keys, &pin->key_count, &pin->axis, &pin->center);
    PACK(p, pin->release);
    PACK(p, pin->sample_rate);
    PACK(p, pin->sample_start);
    pack_samples(p, &pin->samples, &pin->sample_count, pin->vertex_count);
    pack_string(p, &pin->follow);
    PACK_EXACTLY(p, &pin->weights, pin->vertex_count);
    PACK(p, pin->stiffness);
}

void pack_force(packer* p, weft_force* force)
{
    PACK_ARRAY(p, &force->vertices, &force->vertex_count);
    PACK(p, force->force);
}

// Room for as many pins or forces as the bytes may have; they take 8 each at least.
static void* pack_room_for(packer* p, int* count, size_t item_size)
{
    p->failed = p->failed || *count < 0 || (size_t)*count > (p->size - p->at) / 8;
    void* room = p->failed ? NULL : mem_alloc((size_t)*count, item_size);
    p->no_memory = p->no_memory || (!p->failed && !room);
    p->failed = p->failed || !room;
    *count = p->failed ? 0 : *count;
    return room;
}

static void pack_pins(packer* p, weft_cloth_def* def)
{
    PACK(p, def->pin_count);
    def->pins = p->reads ? pack_room_for(p, &def->pin_count, sizeof(weft_pin)) : def->pins;
    for (int k = 0; k < def->pin_count; k++)
    {
        weft_pin pin = def->pins[k];
        pack_pin(p, &pin);
        if (p->reads)
        {
            ((weft_pin*)def->pins)[k] = pin;
        }
    }
}

static void pack_forces(packer* p, weft_cloth_def* def)
{
    PACK(p, def->force_count);
    def->forces = p->reads ? pack_room_for(p, &def->force_count, sizeof(weft_force)) : def->forces;
    for (int k = 0; k < def->force_count; k++)
    {
        weft_force force = def->forces[k];
        pack_force(p, &force);
        if (p->reads)
        {
            ((weft_force*)def->forces)[k] = force;
        }
    }
}

// The six numbers that every material has; the others follow where there are some, and the sign of the density says so.
void pack_material(packer* p, weft_material* m)
{
    double* all = &m->density;
    bool more = false;
    for (int k = MATERIAL_BASIC; k < MATERIAL_NUMBERS && !p->reads; k++)
    {
        more = more || all[k] != 0.0;
    }
    double first = more ? -m->density : m->density;
    PACK(p, first);
    for (int k = 1; k < MATERIAL_BASIC; k++)
    {
        PACK(p, all[k]);
    }
    more = p->reads ? signbit(first) != 0 : more;
    for (int k = MATERIAL_BASIC; k < MATERIAL_NUMBERS; k++)
    {
        all[k] = p->reads ? 0.0 : all[k];
        if (more)
        {
            PACK(p, all[k]);
        }
    }
    m->density = p->reads ? fabs(first) : m->density;
}

static void pack_bands(packer* p, weft_cloth_def* def)
{
    PACK(p, def->band_count);
    def->bands = p->reads ? pack_room_for(p, &def->band_count, sizeof(weft_band)) : def->bands;
    for (int k = 0; k < def->band_count; k++)
    {
        weft_band band = def->bands[k];
        PACK_ARRAY(p, &band.vertices, &band.vertex_count);
        PACK(p, band.rest_scale);
        PACK(p, band.stiffness);
        if (p->reads)
        {
            ((weft_band*)def->bands)[k] = band;
        }
    }
}

static void pack_folds(packer* p, weft_cloth_def* def)
{
    PACK(p, def->fold_count);
    def->folds = p->reads ? pack_room_for(p, &def->fold_count, sizeof(weft_fold)) : def->folds;
    for (int k = 0; k < def->fold_count; k++)
    {
        weft_fold fold = def->folds[k];
        PACK_ARRAY(p, &fold.vertices, &fold.vertex_count);
        PACK(p, fold.angle);
        if (p->reads)
        {
            ((weft_fold*)def->folds)[k] = fold;
        }
    }
}

static void pack_regions(packer* p, weft_cloth_def* def)
{
    PACK(p, def->region_count);
    def->regions = p->reads ? pack_room_for(p, &def->region_count, sizeof(weft_region)) : def->regions;
    for (int k = 0; k < def->region_count; k++)
    {
        weft_region region = def->regions[k];
        PACK_ARRAY(p, &region.faces, &region.face_count);
        pack_material(p, &region.material);
        if (p->reads)
        {
            ((weft_region*)def->regions)[k] = region;
        }
    }
}

static void pack_stitches(packer* p, weft_cloth_def* def)
{
    int count = 2 * def->stitch_count;
    PACK_ARRAY(p, &def->stitches, &count);
    p->failed = p->failed || count < 0 || count % 2 != 0;
    def->stitch_count = p->failed ? 0 : count / 2;
    PACK_ARRAY(p, &def->threads, &def->thread_count);
    PACK(p, def->stitch_start);
    PACK(p, def->stitch_close);
}

static void pack_choices(packer* p, weft_cloth_def* def)
{
    PACK(p, def->setting_count);
    def->settings = p->reads ? pack_room_for(p, &def->setting_count, sizeof(weft_choice)) : def->settings;
    for (int k = 0; k < def->setting_count; k++)
    {
        weft_choice choice = def->settings[k];
        pack_string(p, &choice.method);
        pack_string(p, &choice.name);
        PACK(p, choice.value);
        p->failed = p->failed || !choice.method || !choice.name;
        if (p->reads)
        {
            ((weft_choice*)def->settings)[k] = choice;
        }
    }
}

// A mesh as both defs have it.
typedef struct faces
{
    const weft_vec3** positions;
    int* vertex_count;
    const int **start, **vertices;
    int* count;
} faces;

static int64_t corner_count(const faces* f)
{
    return *f->start ? (*f->start)[*f->count] : 3 * (int64_t)*f->count;
}

static void pack_faces(packer* p, const faces* f)
{
    PACK_ARRAY(p, f->positions, f->vertex_count);
    PACK(p, *f->count);
    p->failed = p->failed || *f->count < 0 || *f->count > INT32_MAX / 4;
    PACK_EXACTLY(p, f->start, (int64_t)*f->count + 1);
    for (int k = 0; !p->failed && *f->start && k < *f->count; k++)
    {
        p->failed = (*f->start)[0] != 0 || (*f->start)[k + 1] < (*f->start)[k];
    }
    if (!p->failed)
    {
        PACK_EXACTLY(p, f->vertices, corner_count(f));
        p->failed = p->failed || !*f->positions;
    }
}

static void pack_names(packer* p, const char* const** names, int* count)
{
    PACK(p, *count);
    const char** list = p->reads ? pack_room_for(p, count, sizeof(char*)) : NULL;
    *names = p->reads ? list : *names;
    for (int k = 0; k < *count; k++)
    {
        const char* name = p->reads ? NULL : (*names)[k];
        pack_string(p, &name);
        p->failed = p->failed || !name;
        list ? list[k] = name : 0;
    }
}

static void pack_face_names(packer* p, weft_names* names, int face_count)
{
    pack_names(p, &names->names, &names->count);
    PACK_EXACTLY(p, &names->faces, face_count);
}

// They are the last: bytes of an earlier Weft end before them.
static void pack_labels(packer* p, weft_labels* labels, const faces* f)
{
    if (p->reads && p->at == p->size)
    {
        return;
    }
    int64_t corners = p->failed ? 0 : corner_count(f);
    pack_face_names(p, &labels->objects, *f->count);
    pack_face_names(p, &labels->groups, *f->count);
    pack_face_names(p, &labels->materials, *f->count);
    pack_names(p, &labels->libraries, &labels->library_count);
    PACK_ARRAY(p, &labels->texcoords, &labels->texcoord_count);
    PACK_EXACTLY(p, &labels->face_texcoords, corners);
    PACK_EXACTLY(p, &labels->face_outputs, corners);
}

static void labels_finish(weft_labels* labels)
{
    mem_free((void*)labels->objects.names);
    mem_free((void*)labels->groups.names);
    mem_free((void*)labels->materials.names);
    mem_free((void*)labels->libraries);
}

void pack_cloth(packer* p, weft_cloth_def* def)
{
    faces f = {&def->positions, &def->vertex_count, &def->face_start, &def->face_vertices, &def->face_count};
    pack_string(p, &def->name);
    pack_string(p, &def->kind);
    pack_string(p, &def->model);
    pack_string(p, &def->bending);
    pack_string(p, &def->connections.damper);
    PACK(p, def->connections.damper_stretch);
    PACK(p, def->connections.damper_shear);
    PACK(p, def->connections.bend_start);
    pack_faces(p, &f);
    PACK(p, def->tetrahedron_count);
    p->failed = p->failed || def->tetrahedron_count < 0 || def->tetrahedron_count > INT32_MAX / 4;
    if (!p->failed)
    {
        PACK_EXACTLY(p, &def->tetrahedra, 4 * (int64_t)def->tetrahedron_count);
        p->failed = p->failed || (!def->face_vertices && !def->tetrahedra);
    }
    if (!p->failed)
    {
        PACK_EXACTLY(p, &def->rest_positions, def->vertex_count);
        PACK_EXACTLY(p, &def->rest_uv, corner_count(&f));
        PACK_EXACTLY(p, &def->velocities, def->vertex_count);
    }
    PACK_ARRAY(p, &def->outputs, &def->output_count);
    PACK(p, def->warp);
    pack_material(p, &def->material);
    PACK(p, def->vertex_mass);
    PACK(p, def->tear);
    PACK(p, def->friction);
    PACK(p, def->static_friction);
    PACK(p, def->thickness);
    pack_pins(p, def);
    pack_forces(p, def);
    pack_regions(p, def);
    pack_bands(p, def);
    pack_folds(p, def);
    pack_stitches(p, def);
    pack_choices(p, def);
    pack_labels(p, &def->labels, &f);
    p->failed = p->failed || !def->name || !def->model;
}

void pack_cloth_finish(weft_cloth_def* def)
{
    mem_free((void*)def->pins);
    mem_free((void*)def->forces);
    mem_free((void*)def->regions);
    mem_free((void*)def->bands);
    mem_free((void*)def->folds);
    mem_free((void*)def->settings);
    labels_finish(&def->labels);
    *def = (weft_cloth_def){0};
}

static void pack_outputs(packer* p, weft_obstacle_def* def)
{
    PACK_ARRAY(p, &def->outputs, &def->output_count);
}

void pack_obstacle(packer* p, weft_obstacle_def* def)
{
    faces f = {&def->positions, &def->vertex_count, &def->face_start, &def->face_vertices, &def->face_count};
    pack_string(p, &def->name);
    pack_faces(p, &f);
    PACK(p, def->friction);
    PACK(p, def->static_friction);
    PACK(p, def->thickness);
    PACK_EXACTLY(p, &def->vertex_thickness, def->vertex_count);
    PACK_EXACTLY(p, &def->vertex_friction, def->vertex_count);
    PACK_EXACTLY(p, &def->vertex_static_friction, def->vertex_count);
    pack_keys(p, &def->keys, &def->key_count, &def->axis, &def->center);
    PACK(p, def->sample_rate);
    PACK(p, def->sample_start);
    PACK(p, def->sample_offset);
    PACK(p, def->sample_loop);
    pack_samples(p, &def->samples, &def->sample_count, def->vertex_count);
    pack_labels(p, &def->labels, &f);
    p->reads && p->at == p->size ? (void)0 : pack_outputs(p, def);
    p->failed = p->failed || !def->name || !def->face_vertices;
}

void pack_obstacle_finish(weft_obstacle_def* def)
{
    labels_finish(&def->labels);
    *def = (weft_obstacle_def){0};
}
