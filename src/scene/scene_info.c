// What a loaded scene holds, for those who show it to people.
#include "scene/scene_data.h"

// Different vertices that some pin holds; -1: no memory.
static int pinned_vertices(const scene_cloth* cloth)
{
    unsigned char* flags = MEM_NEW(cloth->mesh.vertex_count, unsigned char);
    if (!flags)
    {
        return -1;
    }
    int count = 0;
    for (int k = 0; k < cloth->pin_count; k++)
    {
        const scene_pin* pin = &cloth->pins[k];
        for (int i = 0; i < pin->vertex_count; i++)
        {
            count += !flags[pin->vertices[i]];
            flags[pin->vertices[i]] = 1;
        }
    }
    mem_free(flags);
    return count;
}

weft_status weft_scene_cloth_at(const weft_scene* scene, int index, weft_scene_cloth* out)
{
    WEFT_ASSERT(scene && out);
    if (index < 0 || index >= scene->cloth_count)
    {
        return WEFT_NOT_FOUND;
    }
    const scene_cloth* cloth = &scene->cloths[index];
    *out = (weft_scene_cloth){
        .name = cloth->name,
        .kind = cloth->kind->name,
        .obj = cloth->obj.file,
        .source = cloth->source,
        .has_radius = cloth->kind->has_radius,
        .vertex_count = cloth->mesh.vertex_count,
        .face_count = cloth->mesh.face_count,
        .triangle_count = cloth->mesh.triangle_count,
        .segment_count = cloth->mesh.segment_count,
        .tetrahedron_count = cloth->mesh.tetrahedron_count,
        .pin_count = cloth->pin_count,
        .pinned_count = pinned_vertices(cloth),
        .force_count = cloth->force_count,
        .material = cloth->material,
        .density_unit = cloth->kind->density,
        .model = cloth->model,
        .bending = cloth->bending,
        .friction = cloth->friction.kinetic,
        .static_friction = cloth->friction.resting,
        .thickness = cloth->thickness,
        .settings = cloth->settings,
        .setting_count = cloth->setting_count,
    };
    for (const material_key* k = cloth->kind->material_keys; k && k->key; k++)
    {
        WEFT_ASSERT(out->value_count < (int)(sizeof(out->values) / sizeof(out->values[0])));
        double value = *(const double*)((const char*)&cloth->material + k->offset);
        out->values[out->value_count++] = (weft_scene_value){k->key, k->unit, value};
    }
    return out->pinned_count >= 0 ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status weft_scene_obstacle_at(const weft_scene* scene, int index, weft_scene_obstacle* out)
{
    WEFT_ASSERT(scene && out);
    if (index < 0 || index >= scene->obstacle_count)
    {
        return WEFT_NOT_FOUND;
    }
    const scene_obstacle* o = &scene->obstacles[index];
    *out = (weft_scene_obstacle){
        .name = o->name,
        .shape = o->is_shape ? shape_name(o->shape.kind) : NULL,
        .obj = o->obj.file,
        .vertex_count = o->mesh.vertex_count,
        .face_count = o->mesh.face_count,
        .triangle_count = o->mesh.triangle_count,
        .is_closed = defects_are_closed(&o->defects),
        .deviation = o->is_shape ? shape_deviation(&o->shape) : 0.0,
        .friction = o->friction.kinetic,
        .static_friction = o->friction.resting,
        .thickness = o->thickness,
        .key_count = o->motion.key_count,
        .sample_count = o->deform.sample_count,
        .deform = o->deform.pc2        ? o->deform.pc2
                  : o->deform.sequence ? o->deform.sequence
                  : o->deform.abc      ? o->deform.abc
                  : o->deform.animates ? o->obj.file
                                       : NULL,
        .deform_rate = o->deform.rate,
        .deform_loop = o->deform.loop,
        .deform_error = o->deform.animates ? o->deform.error : -1.0,
    };
    return WEFT_OK;
}

const weft_sim_def* weft_scene_sim_def(const weft_scene* scene)
{
    WEFT_ASSERT(scene);
    return &scene->def;
}
