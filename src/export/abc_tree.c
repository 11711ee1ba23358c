// Properties and objects of an Alembic archive as groups and headers: see abc.c and docs/export-alembic.md.
#include <string.h>

#include "export/abc_tree.h"

const char* const abc_meta_text[META_COUNT] = {
    [META_XFORM_OBJECT] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform",
    [META_XFORM] = "schema=AbcGeom_Xform_v3",
    [META_MESH_OBJECT] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;"
                         "schemaObjTitle=AbcGeom_PolyMesh_v1:.geom",
    [META_MESH] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1",
    [META_BOX] = "interpretation=box",
    [META_POINT] = "geoScope=vtx;interpretation=point",
    [META_UV] = "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t",
    [META_CURVES_OBJECT] = "schema=AbcGeom_Curve_v2;schemaBaseType=AbcGeom_GeomBase_v1;"
                           "schemaObjTitle=AbcGeom_Curve_v2:.geom",
    [META_CURVES] = "schema=AbcGeom_Curve_v2;schemaBaseType=AbcGeom_GeomBase_v1",
    [META_FACE_SET_OBJECT] = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1;"
                             "schemaObjTitle=AbcGeom_FaceSet_v1:.faceset",
    [META_FACE_SET] = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1",
    [META_STRING_UNIFORM] = "arrayExtent=1;geoScope=uni;isGeomParam=true;podExtent=1;podName=string",
    [META_NORMAL] = "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t",
    [META_VELOCITY] = "geoScope=vtx;interpretation=vector",
    [META_FLOAT_VERTEX] = "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=float32_t",
    [META_COLOR] = "arrayExtent=1;geoScope=con;interpretation=rgb;isGeomParam=true;podExtent=3;podName=float32_t",
    [META_WIDTH] = "arrayExtent=1;geoScope=con;isGeomParam=true;podExtent=1;podName=float32_t",
};

// ---- bytes

void bytes_add(bytes* b, const void* data, int size)
{
    if (size == 0)
    {
        return;
    }
    if (!mem_grow((void**)&b->data, &b->capacity, b->count + size, 1))
    {
        b->failed = true;
        return;
    }
    memcpy(b->data + b->count, data, (size_t)size);
    b->count += size;
}

void bytes_add_number(bytes* b, uint32_t value, int size)
{
    unsigned char four[4];
    ogawa_put32(four, value);
    bytes_add(b, four, size);
}

void bytes_add_double(bytes* b, double value)
{
    unsigned char eight[8];
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    ogawa_put64(eight, bits);
    bytes_add(b, eight, 8);
}

void bytes_add_text(bytes* b, const char* text)
{
    bytes_add(b, text, (int)strlen(text));
}

ogawa_child tree_put_bytes(abc_tree* tree, bytes* b)
{
    ogawa_child child = ogawa_data(&tree->archive, b->data, (size_t)b->count);
    tree->failed = tree->failed || b->failed;
    b->count = 0;
    return child;
}

// ---- properties

void property_store_sized(property* p, ogawa_child sample, ogawa_child dimensions, ogawa_key key)
{
    ogawa_list_add(&p->stored, sample);
    if (p->kind == ARRAY)
    {
        ogawa_list_add(&p->stored, dimensions);
    }
    p->key = ogawa_key_join(p->key, key);
}

void property_store(property* p, ogawa_child sample, ogawa_key key)
{
    property_store_sized(p, sample, OGAWA_NO_DATA, key); // the size says them
}

void property_count(property* p, int64_t items)
{
    p->varies = p->varies || (p->items >= 0 && p->items != items);
    p->single = (p->items < 0 || p->single) && items == 1;
    p->items = items;
}

// One, two or four bytes for each number, as the largest needs.
static int number_size(const property* p)
{
    size_t largest = strlen(p->name);
    if (p->meta != META_NONE && strlen(abc_meta_text[p->meta]) > largest)
    {
        largest = strlen(abc_meta_text[p->meta]);
    }
    if ((size_t)p->sample_count > largest)
    {
        largest = (size_t)p->sample_count;
    }
    return largest < 256 ? 1 : largest < 65536 ? 2 : 4;
}

static void add_property_header(bytes* b, const property* p)
{
    int size = number_size(p);
    bool constant = p->first == 0 && p->last == 0;
    bool each = p->first == 1 && p->last == p->sample_count - 1;
    uint32_t info = (uint32_t)p->kind | (size == 1 ? 0u : size == 2 ? 1u : 2u) << 2 | (uint32_t)p->meta << 20;
    if (p->kind != COMPOUND)
    {
        info |= p->single ? 1u : 0u;
        info |= (uint32_t)p->pod << 4 | (uint32_t)p->extent << 12;
        info |= p->sampling != 0 ? 0x100u : 0u;
        info |= !constant && !each ? 0x200u : 0u;
        info |= p->varies ? 0u : 0x400u;
        info |= constant ? 0x800u : 0u;
    }
    bytes_add_number(b, info, 4);
    if (p->kind != COMPOUND)
    {
        bytes_add_number(b, (uint32_t)p->sample_count, size);
        if (!constant && !each)
        {
            bytes_add_number(b, (uint32_t)p->first, size);
            bytes_add_number(b, (uint32_t)p->last, size);
        }
        if (p->sampling != 0)
        {
            bytes_add_number(b, (uint32_t)p->sampling, size);
        }
    }
    bytes_add_number(b, (uint32_t)strlen(p->name), size);
    bytes_add_text(b, p->name);
}

// The group of a property that has all its samples.
static ogawa_child put_property(abc_tree* tree, property* p)
{
    tree->failed = tree->failed || p->stored.failed;
    return ogawa_group(&tree->archive, p->stored.child, p->stored.count);
}

void tree_put_members(abc_tree* tree, property* compound, property* const* member, int count)
{
    for (int k = 0; k < count; k++)
    {
        ogawa_list_add(&compound->stored, put_property(tree, member[k]));
        add_property_header(&tree->header, member[k]);
        compound->key = ogawa_key_join(compound->key, member[k]->key);
    }
    compound->key = ogawa_key_join(compound->key, ogawa_key_of(tree->header.data, (size_t)tree->header.count));
    ogawa_list_add(&compound->stored, tree_put_bytes(tree, &tree->header));
}

// ---- objects

void object_add(object* parent, const object* child, ogawa_child group)
{
    size_t length = strlen(child->name) + strlen(child->ending);
    ogawa_list_add(&parent->group, group);
    bytes_add_number(&parent->headers, (uint32_t)length, 4);
    int begin = parent->headers.count;
    bytes_add_text(&parent->headers, child->name);
    bytes_add_text(&parent->headers, child->ending);
    for (int k = begin; k < parent->headers.count; k++)
    {
        unsigned char* c = &parent->headers.data[k];
        *c = *c == '/' ? '_' : *c; // it parts the names of a path
    }
    bytes_add_number(&parent->headers, (uint32_t)child->meta, 1);
    parent->children = ogawa_key_join(parent->children, ogawa_key_join(child->properties, child->children));
}

ogawa_child tree_put_object(abc_tree* tree, object* o)
{
    bytes_add(&o->headers, o->properties.bytes, 16);
    bytes_add(&o->headers, o->children.bytes, 16);
    ogawa_list_add(&o->group, tree_put_bytes(tree, &o->headers));
    tree->failed = tree->failed || o->group.failed;
    return ogawa_group(&tree->archive, o->group.child, o->group.count);
}

void object_finish(object* o)
{
    ogawa_list_finish(&o->group);
    mem_free(o->headers.data);
    o->headers = (bytes){0};
}

ogawa_child tree_put_properties(abc_tree* tree, object* o, property* one)
{
    property all = {.name = "", .kind = COMPOUND};
    tree_put_members(tree, &all, &one, 1);
    ogawa_child group = put_property(tree, &all);
    o->properties = all.key;
    ogawa_list_finish(&all.stored);
    return group;
}

void tree_set_schema(abc_tree* tree, object* o, property* schema)
{
    ogawa_list_add(&o->group, tree_put_properties(tree, o, schema));
}
