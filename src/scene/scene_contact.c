// "contact": whether there is any, thickness and friction of bodies that do not say, and pairs of bodies, or of parts
// of them, that are not tested against each other. Thicknesses that the meshes are too fine for get a note.
#include <string.h>

#include "scene/scene_data.h"

enum
{
    NAMES_MAX = 64 // that an error looks through
};

typedef struct contact_keys
{
    const tree_node* friction;
    double thickness;
    const tree_node *enabled, *exclude, *particles;
} contact_keys;

static const field contact_fields[] = {
    {"enabled", FIELD_NODE, offsetof(contact_keys, enabled), ANY_NUMBER},
    {"friction", FIELD_NODE, offsetof(contact_keys, friction), ANY_NUMBER},
    {"thickness", FIELD_NUMBER, offsetof(contact_keys, thickness), POSITIVE},
    {"exclude", FIELD_NODE, offsetof(contact_keys, exclude), ANY_NUMBER},
    {"particles", FIELD_NODE, offsetof(contact_keys, particles), ANY_NUMBER},
};

typedef struct exclude_keys
{
    const tree_node *pair, *where;
} exclude_keys;

static const field exclude_fields[] = {
    {"pair", FIELD_NODE, offsetof(exclude_keys, pair), ANY_NUMBER},
    {"where", FIELD_NODE, offsetof(exclude_keys, where), ANY_NUMBER},
};

typedef struct body
{
    const char* name;
    const mesh* mesh;
    bool is_cloth;
} body;

static body body_at(const weft_scene* scene, int index)
{
    if (index < scene->cloth_count)
    {
        return (body){scene->cloths[index].name, &scene->cloths[index].mesh, true};
    }
    const scene_obstacle* o = &scene->obstacles[index - scene->cloth_count];
    return (body){o->name, &o->mesh, false};
}

static weft_status body_find(const scene_reader* r, const tree_node* node, body* out)
{
    const char* names[NAMES_MAX];
    const char* name = "";
    int count = r->scene->cloth_count + r->scene->obstacle_count;
    TRY(read_string(r, node, &name));
    for (int k = 0; k < count; k++)
    {
        *out = body_at(r->scene, k);
        if (strcmp(out->name, name) == 0)
        {
            return WEFT_OK;
        }
        names[int_min(k, NAMES_MAX - 1)] = out->name;
    }
    return read_unknown_name(r, node, "cloth or obstacle", name, names, int_min(count, NAMES_MAX));
}

static weft_status exclusion_read(const scene_reader* r, const tree_node* node, scene_exclusion* out)
{
    exclude_keys keys = {0};
    out->node = node;
    TRY(check_where(r, node));
    TRY(read_fields(r, node, exclude_fields, FIELD_COUNT(exclude_fields), &keys));
    if (!keys.pair || keys.pair->kind != TREE_ARRAY || keys.pair->child_count != 2)
    {
        return read_error(
            r, keys.pair ? keys.pair : node,
            "an exclusion needs \"pair\": [\"NAME\", \"NAME\"], two cloths or obstacles; the same twice: a "
            "cloth with itself");
    }
    body first, second;
    TRY(body_find(r, keys.pair->first, &first));
    TRY(body_find(r, keys.pair->last, &second));
    if (!first.is_cloth && !second.is_cloth)
    {
        return read_error(r, keys.pair, "obstacles are never tested against each other: a pair needs a cloth");
    }
    out->first = first.name;
    out->second = second.name;
    return keys.where ? selection_read(r, keys.where, first.mesh, &out->vertices, &out->vertex_count) : WEFT_OK;
}

// ---- friction

typedef struct friction_keys
{
    double kinetic, resting;
} friction_keys;

static const field friction_fields[] = {
    {"kinetic", FIELD_NUMBER, offsetof(friction_keys, kinetic), NOT_NEGATIVE},
    {"static", FIELD_NUMBER, offsetof(friction_keys, resting), NOT_NEGATIVE},
};

// A number, or {"static": , "kinetic": }; null and nothing: what it touches says.
weft_status friction_read(const scene_reader* r, const tree_node* node, scene_friction* out)
{
    static const field number = {"friction", FIELD_NUMBER, 0, NOT_NEGATIVE};
    *out = (scene_friction){-1.0, -1.0};
    if (!node || node->kind == TREE_NULL)
    {
        return WEFT_OK;
    }
    if (node->kind != TREE_OBJECT)
    {
        return node->kind == TREE_NUMBER ? read_number(r, node, &number, &out->kinetic)
                                         : read_wrong_kind(r, node, "a number or an object");
    }
    friction_keys keys = {-1.0, -1.0};
    TRY(read_fields(r, node, friction_fields, FIELD_COUNT(friction_fields), &keys));
    if (keys.kinetic < 0.0 || keys.resting < keys.kinetic)
    {
        return read_error(r, node, "needs \"static\" and \"kinetic\", and static is not less than kinetic");
    }
    *out = (scene_friction){keys.kinetic, keys.resting};
    return WEFT_OK;
}

// ---- springs between particles

static const field particle_fields[] = {
    {"distance", FIELD_NUMBER, offsetof(weft_sim_def, particle_distance), 0.0, 1.0, false},
    {"stiffness", FIELD_NUMBER, offsetof(weft_sim_def, particle_stiffness), NOT_NEGATIVE},
    {"damping", FIELD_NUMBER, offsetof(weft_sim_def, particle_damping), NOT_NEGATIVE},
};

static weft_status particles_read(const scene_reader* r, const tree_node* node)
{
    if (!node || node->kind == TREE_NULL)
    {
        return WEFT_OK;
    }
    r->scene->def.particle_distance = 0.6; // the thesis's
    return read_fields(r, node, particle_fields, FIELD_COUNT(particle_fields), &r->scene->def);
}

weft_status contact_read_settings(const scene_reader* r, const tree_node* node)
{
    contact_keys keys = {.thickness = r->scene->thickness};
    scene_friction friction;
    TRY(read_fields(r, node, contact_fields, FIELD_COUNT(contact_fields), &keys));
    TRY(friction_read(r, keys.friction, &friction));
    if (friction.kinetic >= 0.0)
    {
        r->scene->def.friction = friction.kinetic;
        r->scene->def.static_friction = friction.resting;
    }
    r->scene->thickness = keys.thickness;
    TRY(particles_read(r, keys.particles));
    return keys.enabled ? read_truth(r, keys.enabled, &r->scene->def.contact) : WEFT_OK;
}

weft_status contact_read_exclusions(const scene_reader* r, const tree_node* node)
{
    contact_keys keys = {0};
    TRY(read_fields(r, node, contact_fields, FIELD_COUNT(contact_fields), &keys));
    if (!keys.exclude)
    {
        return WEFT_OK;
    }
    TRY(read_array(r, keys.exclude));
    r->scene->exclusions = MEM_NEW(int_max(keys.exclude->child_count, 1), scene_exclusion);
    if (!r->scene->exclusions)
    {
        return read_no_memory(r);
    }
    for (const tree_node* child = keys.exclude->first; child; child = child->next)
    {
        TRY(exclusion_read(r, child, &r->scene->exclusions[r->scene->exclusion_count++]));
    }
    return WEFT_OK;
}

// ---- doubts

// Of the sides of its triangles, or of its segments, m.
static double mean_edge(const mesh* m)
{
    double sum = 0.0;
    for (int k = 0; k < 3 * m->triangle_count; k++)
    {
        int next = k % 3 == 2 ? k - 2 : k + 1;
        sum += v3_length(v3_sub(m->position[m->triangle[next]], m->position[m->triangle[k]]));
    }
    for (int k = 0; k < m->segment_count; k++)
    {
        const int* v = m->segment + 2 * (size_t)k;
        sum += v3_length(v3_sub(m->position[v[1]], m->position[v[0]]));
    }
    int count = 3 * m->triangle_count + m->segment_count;
    return count > 0 ? sum / count : INFINITY;
}

weft_status contact_doubt(const scene_reader* r)
{
    weft_scene* scene = r->scene;
    weft_status status = WEFT_OK;
    double finest = INFINITY;
    const char* finest_name = "";
    for (int k = 0; k < scene->cloth_count && scene->def.contact && status == WEFT_OK; k++)
    {
        const scene_cloth* cloth = &scene->cloths[k];
        double edge = mean_edge(&cloth->mesh);
        finest_name = edge < finest ? cloth->name : finest_name;
        finest = fmin(finest, edge);
        status =
            cloth->thickness <= edge
                ? WEFT_OK
                : scene_warn(scene,
                             "%s `%s` keeps a distance of %.4g m, more than the mean edge of its mesh, %.4g m: it "
                             "cannot fold as finely as its mesh; state a \"thickness\" below that, or a coarser mesh",
                             cloth->kind->name, cloth->name, cloth->thickness, edge);
    }
    for (int k = 0; k < scene->obstacle_count && scene->def.contact && status == WEFT_OK; k++)
    {
        const scene_obstacle* o = &scene->obstacles[k];
        status =
            o->thickness <= finest
                ? WEFT_OK
                : scene_warn(scene,
                             "obstacle `%s` keeps a distance of %.4g m, more than the mean edge of cloth `%s`, %.4g m: "
                             "the cloth cannot follow its shape as finely as its mesh; state a \"thickness\" below "
                             "that, or a coarser mesh",
                             o->name, o->thickness, finest_name, finest);
    }
    return status == WEFT_OK ? WEFT_OK : read_no_memory(r);
}
