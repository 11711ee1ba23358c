// The tree of an Alembic archive: objects, their properties, and the headers that describe them. abc.c fills it.
#ifndef WEFT_ABC_TREE_H
#define WEFT_ABC_TREE_H

#include "export/ogawa.h"

// Metadata by index, from 1; 0 is none.
enum
{
    META_NONE,
    META_XFORM_OBJECT,
    META_XFORM,
    META_MESH_OBJECT,
    META_MESH,
    META_BOX,
    META_POINT,
    META_UV,
    META_CURVES_OBJECT,
    META_CURVES,
    META_WIDTH,
    META_FACE_SET_OBJECT,
    META_FACE_SET,
    META_STRING_UNIFORM,
    META_NORMAL,
    META_VELOCITY,
    META_FLOAT_VERTEX,
    META_COLOR,
    META_COUNT
};

typedef enum property_kind
{
    COMPOUND = 0,
    SCALAR = 1,
    ARRAY = 2
} property_kind;

typedef enum pod
{
    POD_BOOL = 0,
    POD_UINT8 = 1,
    POD_UINT32 = 5,
    POD_INT32 = 6,
    POD_FLOAT = 10,
    POD_DOUBLE = 11,
    POD_STRING = 12
} pod;

typedef struct property
{
    const char* name;
    property_kind kind;
    pod pod;
    int extent; // numbers of an item
    int meta;
    int sampling;

    int sample_count; // that readers see
    int first, last;  // samples that differ from the one before: the first of them and the last; 0 0: none
    ogawa_list stored;
    ogawa_key key;       // of all that is stored
    int64_t items;       // of the last sample; -1: none yet
    bool single, varies; // every sample has one item; the number of items changes
} property;

// Bytes that grow.
typedef struct bytes
{
    unsigned char* data;
    int count, capacity;
    bool failed;
} bytes;

extern const char* const abc_meta_text[META_COUNT];

typedef struct object
{
    const char *name, *ending; // the name is both; a slash in it becomes a line
    int meta;
    ogawa_list group;     // properties, then children
    ogawa_key properties; // keys
    ogawa_key children;
    bytes headers; // of the children
} object;

typedef struct abc_tree
{
    ogawa archive;
    bytes header; // of what is being written
    bool failed;  // no memory
} abc_tree;

void bytes_add(bytes* b, const void* data, int size);
void bytes_add_number(bytes* b, uint32_t value, int size);
void bytes_add_double(bytes* b, double value);
void bytes_add_text(bytes* b, const char* text);
// Writes the bytes and empties them.
ogawa_child tree_put_bytes(abc_tree* tree, bytes* b);

void property_store(property* p, ogawa_child sample, ogawa_key key);
// Likewise with dimensions, which strings have.
void property_store_sized(property* p, ogawa_child sample, ogawa_child dimensions, ogawa_key key);
void property_count(property* p, int64_t items); // of the next sample
// The members' groups and headers; the key of all goes into the compound's.
void tree_put_members(abc_tree* tree, property* compound, property* const* member, int count);

// The group of an object's properties, of which there is one; its key goes into the object.
ogawa_child tree_put_properties(abc_tree* tree, object* o, property* one);
// An object's properties are one compound: its schema.
void tree_set_schema(abc_tree* tree, object* o, property* schema);
void object_add(object* parent, const object* child, ogawa_child group);
ogawa_child tree_put_object(abc_tree* tree, object* o);
void object_finish(object* o);

#endif
