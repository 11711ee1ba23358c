// The JSON of a glTF file: accessors, views, meshes, nodes, animation.
#include <string.h>

#include "export/gltf.h"

enum
{
    NUMBER_WIDTH = 16,   // characters of a bound; nine digits, sign, point and exponent fit
    VIEW_VERTEX = 34962, // ARRAY_BUFFER
    VIEW_INDEX = 34963,  // ELEMENT_ARRAY_BUFFER
    TYPE_UINT = 5125,
    TYPE_FLOAT = 5126,
    MODE_LINES = 1,
    MODE_TRIANGLES = 4
};

static void put(const gltf* g, const char* words)
{
    export_text_put(g->text, words);
}

static void put_int(const gltf* g, const char* words, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%lld", (long long)value);
    export_text_put(g->text, words);
    export_text_put(g->text, digits);
}

// Always as wide, so that another value can take its place.
static void put_bound(const gltf* g, double value)
{
    if (g->text->used + 2 * NUMBER_WIDTH > (int)sizeof(g->text->buffer))
    {
        export_text_flush(g->text);
    }
    int begin = g->text->used;
    export_text_number(g->text, value);
    while (g->text->used < begin + NUMBER_WIDTH)
    {
        put(g, " ");
    }
}

static void put_bounds(const gltf* g, const char* name, vec3 x)
{
    put(g, name);
    put_bound(g, x.x);
    put(g, ",");
    put_bound(g, x.y);
    put(g, ",");
    put_bound(g, x.z);
    put(g, "]");
}

static void put_accessor(const gltf* g, int view, uint64_t offset, int type, const char* shape, int64_t count)
{
    put_int(g, "{\"bufferView\":", view);
    put_int(g, ",\"byteOffset\":", (int64_t)offset);
    put_int(g, ",\"componentType\":", type);
    put_int(g, ",\"count\":", count);
    put(g, ",\"type\":\"");
    put(g, shape);
    put(g, "\"");
}

static void put_mesh_accessors(const gltf* g, const gltf_mesh* m)
{
    for (int set = 0; set < m->sets.count; set++)
    {
        int first = m->set_indices[set];
        put_accessor(g, m->view, 4 * (uint64_t)first, TYPE_UINT, "SCALAR", m->set_indices[set + 1] - first);
        put(g, "},\n");
    }
    if (m->texcoord)
    {
        put_accessor(g, m->view + 1, 0, TYPE_FLOAT, "VEC2", m->vertex_count);
        put(g, "},\n");
    }
    int view = m->view + (m->texcoord ? 2 : 1);
    for (int t = 0; t <= m->target_count; t++)
    {
        put_accessor(g, view, (uint64_t)t * gltf_frame_bytes(m), TYPE_FLOAT, "VEC3", m->vertex_count);
        put_bounds(g, ",\"min\":[", m->ranges[t].low);
        put_bounds(g, ",\"max\":[", m->ranges[t].high);
        put(g, t < m->target_count || m->normals ? "},\n" : "}");
    }
    for (int t = 0; t <= m->target_count && m->normals; t++)
    {
        put_accessor(g, view + 1, (uint64_t)t * gltf_frame_bytes(m), TYPE_FLOAT, "VEC3", m->vertex_count);
        put(g, t < m->target_count ? "},\n" : "}");
    }
}

// Times, weights of targets, and of each body that is moved its places and turns.
static void put_animation_accessors(const gltf* g)
{
    uint64_t frames = (uint64_t)g->frame_count, offset = 4 * frames;
    put_accessor(g, g->view_count, 0, TYPE_FLOAT, "SCALAR", g->frame_count);
    put(g, ",\"min\":[");
    put_bound(g, (float)export_time(g->job, 0));
    put(g, "],\"max\":[");
    put_bound(g, (float)export_time(g->job, g->frame_count - 1));
    put(g, "]}");
    if (g->morphs)
    {
        put(g, ",\n");
        put_accessor(g, g->view_count, offset, TYPE_FLOAT, "SCALAR", (int64_t)(frames * (frames - 1)));
        put(g, "}");
        offset += 4 * frames * (frames - 1);
    }
    for (int body = 0; body < g->job->body_count; body++)
    {
        if (g->mesh[body].pose)
        {
            put(g, ",\n");
            put_accessor(g, g->view_count, offset, TYPE_FLOAT, "VEC3", g->frame_count);
            put(g, "},\n");
            put_accessor(g, g->view_count, offset + 12 * frames, TYPE_FLOAT, "VEC4", g->frame_count);
            put(g, "}");
            offset += (12 + 16) * frames;
        }
    }
    put(g, "\n");
}

void gltf_put_accessors(const gltf* g)
{
    put(g, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Weft ");
    put(g, weft_version());
    put(g, "\"},\n\"accessors\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_mesh_accessors(g, &g->mesh[body]);
        put(g, body + 1 < g->job->body_count || g->moves ? ",\n" : "\n");
    }
    if (g->moves)
    {
        put_animation_accessors(g);
    }
    put(g, "]");
}

static void put_view(const gltf* g, uint64_t offset, uint64_t size, int target, int stride)
{
    put_int(g, "{\"buffer\":0,\"byteOffset\":", (int64_t)offset);
    put_int(g, ",\"byteLength\":", (int64_t)size);
    if (target)
    {
        put_int(g, ",\"target\":", target);
    }
    if (stride)
    {
        put_int(g, ",\"byteStride\":", stride);
    }
    put(g, "}");
}

static void put_views(const gltf* g)
{
    put_int(g, ",\n\"buffers\":[{\"byteLength\":", (int64_t)g->size);
    put(g, "}],\n\"bufferViews\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        const gltf_mesh* m = &g->mesh[body];
        uint64_t texcoords = m->offset + gltf_index_bytes(m), positions = texcoords + gltf_texcoord_bytes(m);
        put_view(g, m->offset, gltf_index_bytes(m), VIEW_INDEX, 0);
        put(g, ",\n");
        if (m->texcoord)
        {
            put_view(g, texcoords, gltf_texcoord_bytes(m), VIEW_VERTEX, 0);
            put(g, ",\n");
        }
        put_view(g, positions, gltf_frames_bytes(m), VIEW_VERTEX, 12);
        if (m->normals)
        {
            put(g, ",\n");
            put_view(g, positions + gltf_frames_bytes(m), gltf_frames_bytes(m), VIEW_VERTEX, 12);
        }
        put(g, body + 1 < g->job->body_count || g->moves ? ",\n" : "\n");
    }
    if (g->moves)
    {
        put_view(g, g->animation, g->size - g->animation, 0, 0);
        put(g, "\n");
    }
    put(g, "]");
}

static void put_targets(const gltf* g, const gltf_mesh* m)
{
    if (m->target_count == 0)
    {
        return;
    }
    put(g, ",\"targets\":[");
    for (int t = 1; t <= m->target_count; t++)
    {
        put_int(g, t > 1 ? ",{\"POSITION\":" : "{\"POSITION\":", gltf_positions(m) + t);
        m->normals ? put_int(g, ",\"NORMAL\":", gltf_normals(m) + t) : (void)0;
        put(g, "}");
    }
    put(g, "]");
}

// The user's vertices of those behind the user's own: nothing where there are none.
static void put_copies(const gltf* g, const gltf_mesh* m)
{
    put(g, "\"weft_copies\":[");
    for (int v = m->body->vertex_count; v < m->vertex_count; v++)
    {
        put(g, v > m->body->vertex_count ? "," : "");
        export_text_int(g->text, m->source[v]);
    }
    put(g, "]");
}

static void put_extras(const gltf* g, const gltf_mesh* m)
{
    bool copies = m->vertex_count > m->body->vertex_count;
    if (!copies && m->target_count == 0)
    {
        return;
    }
    put(g, ",\n\"extras\":{");
    copies ? put_copies(g, m) : (void)0;
    if (m->target_count > 0)
    {
        put(g, copies ? ",\"targetNames\":[" : "\"targetNames\":[");
        for (int t = 1; t <= m->target_count; t++)
        {
            put_int(g, t > 1 ? ",\"frame " : "\"frame ", export_number(g->job, t));
            put(g, "\"");
        }
        put(g, "]");
    }
    put(g, "}");
}

// Names of the faces of a primitive; its material has its own.
static void put_set_names(const gltf* g, const gltf_mesh* m, const export_set* set)
{
    const char* comma = ",\"extras\":{\"";
    for (int layer = LAYER_OBJECT; layer <= LAYER_GROUP; layer++)
    {
        if (set->name[layer] >= 0)
        {
            put(g, comma);
            put(g, export_layer_word[layer]);
            put(g, "\":");
            export_text_quoted(g->text, export_layer(m->body, layer)->names[set->name[layer]]);
            comma = ",\"";
        }
    }
    put(g, comma[1] == '"' && comma[2] == 0 ? "}" : "");
}

static void put_primitive(const gltf* g, const gltf_mesh* m, int index)
{
    const export_set* set = &m->sets.set[index];
    int material = set->name[LAYER_MATERIAL] >= 0 ? set->name[LAYER_MATERIAL] : m->body->materials.count;
    put_int(g, index > 0 ? ",\n{\"mode\":" : "{\"mode\":", m->body->lines ? MODE_LINES : MODE_TRIANGLES);
    put_int(g, ",\"material\":", m->material[material]);
    put_int(g, ",\"indices\":", m->accessor + index);
    put_int(g, ",\"attributes\":{\"POSITION\":", gltf_positions(m));
    m->normals ? put_int(g, ",\"NORMAL\":", gltf_normals(m)) : (void)0;
    m->texcoord ? put_int(g, ",\"TEXCOORD_0\":", m->accessor + m->sets.count) : (void)0;
    put(g, "}");
    put_targets(g, m);
    put_set_names(g, m, set);
    put(g, "}");
}

static void put_mesh(const gltf* g, int body)
{
    const gltf_mesh* m = &g->mesh[body];
    put(g, "{\"name\":");
    export_text_quoted(g->text, export_body_name(g->job, body));
    put(g, ",\"primitives\":[");
    for (int set = 0; set < m->sets.count; set++)
    {
        put_primitive(g, m, set);
    }
    put(g, "]");
    put_extras(g, m);
    put(g, "}");
}

static void put_sampler(const gltf* g, const char* comma, int output)
{
    put(g, comma);
    put_int(g, "{\"interpolation\":\"LINEAR\",\"input\":", g->accessor_count);
    put_int(g, ",\"output\":", output);
    put(g, "}");
}

static void put_channel(const gltf* g, const char** comma, int sampler, const char* path, int node)
{
    put(g, *comma);
    put_int(g, "{\"sampler\":", sampler);
    put(g, ",\"target\":{\"path\":\"");
    put(g, path);
    put_int(g, "\",\"node\":", node);
    put(g, "}}");
    *comma = ",";
}

// A sampler for all morph targets, then two for each body that is moved; accessors in the same order.
static void put_animation(const gltf* g)
{
    int samplers = g->morphs ? 1 : 0;
    const char* comma = "";
    put(g, ",\n\"animations\":[{\"name\":\"run\",\"samplers\":[");
    g->morphs ? put_sampler(g, "", g->accessor_count + 1) : (void)0;
    for (int body = 0; body < g->job->body_count; body++)
    {
        for (int k = 0; k < 2 && g->mesh[body].pose; k++, samplers++)
        {
            put_sampler(g, samplers > 0 ? "," : "", g->accessor_count + 1 + samplers);
        }
    }
    put(g, "],\"channels\":[");
    samplers = g->morphs ? 1 : 0;
    for (int body = 0; body < g->job->body_count; body++)
    {
        g->mesh[body].target_count > 0 ? put_channel(g, &comma, 0, "weights", body) : (void)0;
        if (g->mesh[body].pose)
        {
            put_channel(g, &comma, samplers++, "translation", body);
            put_channel(g, &comma, samplers++, "rotation", body);
        }
    }
    put(g, "]}]");
}

// One for each name that faces have, in the order of the indices; of the body's name for faces without. Cloth has two
// sides.
static void put_materials(const gltf* g, int body, const char** comma)
{
    const gltf_mesh* m = &g->mesh[body];
    const weft_names* names = &m->body->materials;
    float color[3];
    export_color(g->job, body, color);
    for (int set = 0, next = -1; set < m->sets.count; set++)
    {
        int name = m->sets.set[set].name[LAYER_MATERIAL], index = m->material[name >= 0 ? name : names->count];
        if (index <= next)
        {
            continue;
        }
        next = index;
        put(g, *comma);
        put(g, "{\"name\":");
        export_text_quoted(g->text, name >= 0 ? names->names[name] : export_body_name(g->job, body));
        put(g, ",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":[");
        for (int k = 0; k < 3; k++)
        {
            export_text_number(g->text, (double)color[k]);
            put(g, ",");
        }
        put(g, "1],\"metallicFactor\":0}}");
        *comma = ",\n";
    }
}

static void put_scene(const gltf* g)
{
    const char* comma = ",\n\"materials\":[\n";
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_materials(g, body, &comma);
    }
    put(g, "],\n\"meshes\":[\n");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put(g, body > 0 ? ",\n" : "");
        put_mesh(g, body);
    }
    put(g, "],\n\"nodes\":[");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_int(g, body > 0 ? ",{\"mesh\":" : "{\"mesh\":", body);
        put(g, ",\"name\":");
        export_text_quoted(g->text, export_body_name(g->job, body));
        put(g, "}");
    }
    put(g, "],\n\"scene\":0,\"scenes\":[{\"name\":\"run\",\"nodes\":[");
    for (int body = 0; body < g->job->body_count; body++)
    {
        put_int(g, body > 0 ? "," : "", body);
    }
    put(g, "]}]");
}

void gltf_put_rest(const gltf* g)
{
    put_views(g);
    put_scene(g);
    if (g->moves)
    {
        put_animation(g);
    }
    put(g, "}");
}
