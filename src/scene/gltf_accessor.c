// Accessors of glTF: typed numbers in a view of a buffer, with a stride, normalised or not, and sparse ones over them.
// All kinds of components, scalars, vectors and matrices of 4 x 4 (of floats, so that columns need no padding).
#include <string.h>

#include "scene/gltf_file.h"

typedef struct component
{
    int size;
    bool is_signed, is_float;
    double most; // what becomes 1 when it is normalised
} component;

static const component components[] = {
    {1, true, false, 127.0},    {1, false, false, 255.0},       {2, true, false, 32767.0},
    {2, false, false, 65535.0}, {4, true, false, 2147483647.0}, {4, false, false, 4294967295.0},
    {4, true, true, 1.0},
};

enum
{
    COMPONENT_FIRST = 5120, // BYTE
    COMPONENT_LAST = 5126,  // FLOAT
    ACCESSOR_MAX = 100000000
};

// Where the numbers of an accessor stand.
typedef struct place
{
    const unsigned char* data;
    size_t stride;
} place;

static double number_at(const unsigned char* at, const component* c)
{
    uint32_t bits = 0;
    for (int k = 0; k < c->size; k++)
    {
        bits |= (uint32_t)at[k] << 8 * k;
    }
    if (c->is_float)
    {
        float value;
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    return !c->is_signed  ? (double)bits
           : c->size == 1 ? (double)(int8_t)bits
           : c->size == 2 ? (double)(int16_t)bits
                          : (double)(int32_t)bits;
}

static weft_status whole_number(const gltf_file* f, const tree_node* owner, const char* key, double* out)
{
    const tree_node* node;
    TRY(gltf_get(f, owner, key, TREE_NUMBER, &node));
    *out = node ? node->number : 0.0;
    return *out >= 0.0 && *out <= 9007199254740991.0 && *out == floor(*out)
               ? WEFT_OK
               : gltf_wrong(f, node, "expected a whole number from 0 on, not %g", *out);
}

// `count` elements of `size` bytes from a view, all of them inside it, and it inside its buffer.
static weft_status view_place(gltf_file* f, const tree_node* owner, double count, double size, place* out)
{
    int view_index, buffer_index;
    double offset, view_offset, view_length, stride;
    TRY(gltf_index_of(f, tree_member(owner, "bufferView"), "bufferViews", f->views.count, &view_index));
    const tree_node* view = f->views.item[view_index];
    TRY(gltf_index_of(f, tree_member(view, "buffer"), "buffers", f->buffer_list.count, &buffer_index));
    TRY(whole_number(f, owner, "byteOffset", &offset));
    TRY(whole_number(f, view, "byteOffset", &view_offset));
    TRY(whole_number(f, view, "byteLength", &view_length));
    TRY(whole_number(f, view, "byteStride", &stride));
    const gltf_bytes* bytes;
    TRY(gltf_buffer(f, buffer_index, &bytes));
    if (view_offset + view_length > (double)bytes->size)
    {
        return gltf_wrong(f, view, "the view ends at byte %.0f of a buffer of %zu; export the file again",
                          view_offset + view_length, bytes->size);
    }
    stride = stride == 0.0 ? size : stride;
    double end = offset + (count > 0.0 ? stride * (count - 1.0) + size : 0.0);
    if (stride < size || end > view_length)
    {
        return gltf_wrong(f, owner,
                          "%.0f elements of %.0f bytes every %.0f end at byte %.0f of a view of %.0f; export "
                          "the file again",
                          count, size, stride, end, view_length);
    }
    *out = (place){bytes->data + (size_t)view_offset + (size_t)offset, (size_t)stride};
    return WEFT_OK;
}

static weft_status component_read(const gltf_file* f, const tree_node* owner, const component** out)
{
    const tree_node* type;
    TRY(gltf_get(f, owner, "componentType", TREE_NUMBER, &type));
    int number = type && type->number >= COMPONENT_FIRST && type->number <= COMPONENT_LAST ? (int)type->number : 0;
    if (!number || (double)number != type->number)
    {
        return gltf_wrong(f, type ? type : owner, "\"componentType\" is a number from %d to %d", COMPONENT_FIRST,
                          COMPONENT_LAST);
    }
    *out = &components[number - COMPONENT_FIRST];
    return WEFT_OK;
}

static weft_status width_read(const gltf_file* f, const tree_node* owner, int* out)
{
    static const char* const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"};
    static const int widths[] = {1, 2, 3, 4, 16};
    const tree_node* type;
    TRY(gltf_get(f, owner, "type", TREE_STRING, &type));
    for (int k = 0; k < 5 && type; k++)
    {
        if (strcmp(type->string, names[k]) == 0)
        {
            *out = widths[k];
            return WEFT_OK;
        }
    }
    return gltf_wrong(f, type ? type : owner, "\"type\" is one of SCALAR, VEC2, VEC3, VEC4 and MAT4 here");
}

static void fill(gltf_values* v, int element, const unsigned char* from, const component* c, bool normalized)
{
    for (int k = 0; k < v->width; k++)
    {
        double value = number_at(from + (size_t)k * (size_t)c->size, c);
        v->value[(size_t)element * (size_t)v->width + (size_t)k] = normalized ? fmax(value / c->most, -1.0) : value;
    }
}

// Numbers of elements, ascending, and their values over those of the view.
static weft_status sparse_read(gltf_file* f, const tree_node* sparse, const component* c, bool normalized,
                               gltf_values* out)
{
    const tree_node *indices, *values;
    double count;
    place index_place, value_place;
    const component* index_component;
    TRY(whole_number(f, sparse, "count", &count));
    TRY(gltf_get(f, sparse, "indices", TREE_OBJECT, &indices));
    TRY(gltf_get(f, sparse, "values", TREE_OBJECT, &values));
    if (!indices || !values || count > out->count)
    {
        return gltf_wrong(f, sparse,
                          "a sparse accessor has \"indices\", \"values\" and at most as many as the accessor");
    }
    TRY(component_read(f, indices, &index_component));
    TRY(view_place(f, indices, count, index_component->size, &index_place));
    TRY(view_place(f, values, count, (double)c->size * out->width, &value_place));
    for (size_t k = 0; k < (size_t)count; k++)
    {
        double element = number_at(index_place.data + k * index_place.stride, index_component);
        if (!(element >= 0.0 && element < out->count))
        {
            return gltf_wrong(f, indices, "there is no element %g in an accessor of %d; export the file again", element,
                              out->count);
        }
        fill(out, (int)element, value_place.data + k * value_place.stride, c, normalized);
    }
    return WEFT_OK;
}

static weft_status check_finite(const gltf_file* f, const tree_node* owner, const gltf_values* v)
{
    for (size_t k = 0; k < (size_t)v->count * (size_t)v->width; k++)
    {
        if (!isfinite(v->value[k]))
        {
            return gltf_wrong(f, owner, "element %zu (counted from 0) is not finite; export the file again",
                              k / (size_t)v->width);
        }
    }
    return WEFT_OK;
}

static weft_status elements_read(gltf_file* f, const tree_node* owner, const component* c, gltf_values* out)
{
    const tree_node *normalized, *sparse;
    TRY(gltf_get(f, owner, "normalized", TREE_BOOL, &normalized));
    TRY(gltf_get(f, owner, "sparse", TREE_OBJECT, &sparse));
    bool normal = normalized && normalized->truth && !c->is_float;
    if (tree_member(owner, "bufferView"))
    {
        place at;
        TRY(view_place(f, owner, out->count, (double)c->size * out->width, &at));
        for (int k = 0; k < out->count; k++)
        {
            fill(out, k, at.data + (size_t)k * at.stride, c, normal);
        }
    }
    TRY(sparse ? sparse_read(f, sparse, c, normal, out) : WEFT_OK);
    return check_finite(f, owner, out);
}

weft_status gltf_accessor(gltf_file* f, const tree_node* named, int width, gltf_values* out)
{
    int index;
    double count;
    const component* c;
    *out = (gltf_values){0};
    TRY(gltf_index_of(f, named, "accessors", f->accessors.count, &index));
    const tree_node* owner = f->accessors.item[index];
    TRY(component_read(f, owner, &c));
    TRY(width_read(f, owner, &out->width));
    TRY(whole_number(f, owner, "count", &count));
    out->is_float = c->is_float;
    if (out->width != width || (width == 16 && !c->is_float))
    {
        return gltf_wrong(f, owner, "expected %d numbers an element here, found %d; export the file again", width,
                          out->width);
    }
    f->values_left -= count * width;
    if (count > ACCESSOR_MAX || f->values_left < 0.0)
    {
        return gltf_wrong(f, owner, "the file holds more numbers than a body may have; export only the body");
    }
    out->count = (int)count;
    out->value = mem_alloc((size_t)out->count * (size_t)width + 1, sizeof(double));
    weft_status status = out->value ? elements_read(f, owner, c, out) : gltf_no_memory(f);
    if (status != WEFT_OK)
    {
        mem_free(out->value);
        *out = (gltf_values){0};
    }
    return status;
}
