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
    put_accessor(g, m->view, 0, TYPE_UINT, "SCALAR", gltf_index_count(m));
    put(g, "},\n");
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
        put(g, t < m->target_count ? "},\n" : "}");
    }
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
        put_accessor(g, g->view_count, 0, TYPE_FLOAT, "SCALAR", g->frame_count);
        put(g, ",\"min\":[0],\"max\":[");
        put_bound(g, (float)export_time(g->job, g->frame_count - 1));
        put(g, "]},\n");
        put_accessor(g, g->view_count, 4 * (uint64_t)g->frame_count, TYPE_FLOAT, "SCALAR",
                     (int64_t)g->frame_count * (g->frame_count - 1));
        put(g, "}\n");
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
        put_view(g, positions, (1 + (uint64_t)m->target_count) * gltf_frame_bytes(m), VIEW_VERTEX, 12);
        put(g, body + 1 < g->job->body_count || g->moves ? ",\n" : "\n");
    }
    if (g->moves)
    {
        put_view(g, g->animation, g->size - g->animation, 0, 0);
        put(g, "\n");
    }
    put(g, "]");
}

static void put_targets(const gltf* g, const gltf_mesh* m, int positions)
{
    if (m->target_count == 0)
    {
        return;
    }
    put(g, ",\"targets\":[");
    for (int t = 1; t <= m->target_count; t++)
    {
        put_int(g, t > 1 ? ",{\"POSITION\":" : "{\"POSITION\":", positions + t);
        put(g, "}");
    }
    put(g, "]");
}

// 0,1,2 and so on: a number in decimal digits is counted up, which is much quicker than to make each.
static void put_row(const gltf* g, int count)
{
    export_text* text = g->text;
    char number[16] = ",0";
    int length = 2;
    for (int k = 0; k < count; k++)
    {
        if (text->used + (int)sizeof(number) > (int)sizeof(text->buffer))
        {
            export_text_flush(text);
        }
        int skip = k == 0; // no comma before the first
        memcpy(text->buffer + text->used, number + skip, sizeof(number) - 1);
        text->used += length - skip;
        int digit = length - 1;
        for (; number[digit] == '9'; digit--)
        {
            number[digit] = '0';
        }
        if (digit == 0) // all were nines
        {
            number[length++] = '0';
            number[++digit] = '0';
        }
        number[digit]++;
    }
}

static void put_extras(const gltf* g, const gltf_mesh* m)
{
    put(g, ",\n\"extras\":{\"weft_index\":[");
    put_row(g, m->body->vertex_count); // copies are behind them
    for (int v = m->body->vertex_count; v < m->vertex_count; v++)
    {
        put(g, ",");
        export_text_int(g->text, m->source[v]);
    }
    put(g, "]");
    if (m->target_count > 0)
    {
        put(g, ",\"targetNames\":[");
        for (int t = 1; t <= m->target_count; t++)
        {
            put_int(g, t > 1 ? ",\"frame " : "\"frame ", export_frame(g->job, t));
            put(g, "\"");
        }
        put(g, "]");
    }
    put(g, "}");
}

static void put_mesh(const gltf* g, int body)
{
    const gltf_mesh* m = &g->mesh[body];
    int positions = m->accessor + (m->texcoord ? 2 : 1);
    put(g, "{\"name\":");
    export_text_quoted(g->text, export_body_name(g->job, body));
    put_int(g, ",\"primitives\":[{\"mode\":", m->body->lines ? MODE_LINES : MODE_TRIANGLES);
    put_int(g, ",\"material\":0,\"indices\":", m->accessor);
    put_int(g, ",\"attributes\":{\"POSITION\":", positions);
    if (m->texcoord)
    {
        put_int(g, ",\"TEXCOORD_0\":", m->accessor + 1);
    }
    put(g, "}");
    put_targets(g, m, positions);
    put(g, "}]");
    put_extras(g, m);
    put(g, "}");
}

static void put_animation(const gltf* g)
{
    put_int(g, ",\n\"animations\":[{\"name\":\"run\",\"samplers\":[{\"interpolation\":\"LINEAR\",\"input\":",
            g->accessor_count);
    put_int(g, ",\"output\":", g->accessor_count + 1);
    put(g, "}],\"channels\":[");
    const char* comma = "";
    for (int body = 0; body < g->job->body_count; body++)
    {
        if (g->mesh[body].target_count > 0)
        {
            put(g, comma);
            put_int(g, "{\"sampler\":0,\"target\":{\"path\":\"weights\",\"node\":", body);
            put(g, "}}");
            comma = ",";
        }
    }
    put(g, "]}]");
}

static void put_scene(const gltf* g)
{
    // Cloth has two sides.
    put(g,
        ",\n\"materials\":[{\"name\":\"cloth\",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0}}]"
        ",\n\"meshes\":[\n");
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
