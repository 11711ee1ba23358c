// A JSON document as a tree of plain nodes that remember where in the file they stand, and where an override put them.
// Only jansson.c knows the library that parses.
#ifndef WEFT_SCENE_TREE_H
#define WEFT_SCENE_TREE_H

#include "core/core.h"

typedef enum tree_kind
{
    TREE_NULL,
    TREE_BOOL,
    TREE_NUMBER,
    TREE_STRING,
    TREE_ARRAY,
    TREE_OBJECT
} tree_kind;

typedef struct tree_node tree_node;

struct tree_node
{
    tree_kind kind;
    int line, column;         // of the value, 1-based; 0 when an override made it
    int key_line, key_column; // of the key, in objects
    int child_count;
    tree_node* parent; // NULL at the root
    tree_node* first;  // children of arrays and objects, in the order of the file
    tree_node* last;
    tree_node* next;
    const char* key;    // NULL in arrays
    const char* origin; // the override that made this node; NULL: the file
    union
    {
        double number;
        bool truth;
        const char* string;
    };
};

// Owner of nodes and strings: all live until tree_finish.
typedef struct tree
{
    arena memory;
    tree_node* slab; // nodes are cut from slabs, as the arena's smallest piece is a cache line
    int slab_left;
} tree;

void tree_finish(tree* t);

// Parses a whole file: an object, with comments. Blanks the comments out of `text` (size bytes and a zero after them),
// so that positions stay what they are.
weft_status tree_parse(tree* t, const char* file, char* text, size_t size, tree_node** out, weft_error* error);
// Parses one value of any kind. BAD_INPUT when the text is not JSON.
weft_status tree_parse_value(tree* t, const char* text, tree_node** out);

tree_node* tree_new(tree* t, tree_kind kind); // NULL: no memory
char* tree_strdup(tree* t, const char* text); // NULL: no memory
void tree_append(tree_node* parent, tree_node* child);
// Gives node the content of value, which is used up; place and key stay.
void tree_assign(tree_node* node, const tree_node* value);
tree_node* tree_member(const tree_node* object, const char* key); // NULL: none
tree_node* tree_at(const tree_node* array, int index);            // NULL: out of range
const char* tree_kind_text(tree_kind kind);                       // "a number", "an object", ...
// The dotted path of a node, as overrides write it. Cut when it does not fit.
void tree_path(const tree_node* node, char* out, size_t size);

// ---- text before it is parsed
// Reads a regular file of at most SCENE_BYTES_MAX bytes; *out is mem_free'd by the caller and ends with a zero.
weft_status text_read(const char* path, char** out, size_t* out_size, weft_error* error);
// Turns // and /* */ comments and a byte order mark into spaces. Counts values, roughly, from above.
weft_status text_blank(const char* file, char* text, size_t size, int64_t* value_count, weft_error* error);
void text_position(const char* text, size_t offset, int* line, int* column);

enum
{
    SCENE_BYTES_MAX = 64 << 20, // of a scene file
    SCENE_VALUES_MAX = 4000000  // values in it: what a tree of them takes stays below half a gigabyte
};

#endif
