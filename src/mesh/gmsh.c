// Gmsh's .msh, versions 2.2 and 4.1, as text: sections between $Name and $EndName, of which $MeshFormat, $Nodes and
// $Elements are read. Vertices have tags, in any order; of elements those of type 4, tetrahedra of four vertices.
#include <stdlib.h>
#include <string.h>

#include "mesh/tet_reader.h"

enum
{
    TETRAHEDRON = 4,
    TETRAHEDRON_10 = 11,
    TAGS_MAX = 1000
};

static weft_status read_format(tet_reader* r, bool* blocks)
{
    char* word;
    TRY(tet_word(r, &word));
    if (!word)
    {
        return tet_ends(r, "the version of the format");
    }
    *blocks = strcmp(word, "4.1") == 0;
    if (!*blocks && strcmp(word, "2.2") != 0)
    {
        return tet_refuse(r, "is of another version than 2.2 and 4.1: export it as one of these (gmsh -format msh41)");
    }
    int64_t binary;
    TRY(tet_whole(r, 0, 1, "the kind of file", &binary));
    return binary
               ? tet_refuse(r, "is a binary file, and text is read: export it as text (gmsh -setnumber Mesh.Binary 0)")
               : tet_skip_line(r);
}

static weft_status read_tagged_point(tet_reader* r)
{
    vec3 x;
    TRY(tet_point(r, &x));
    TRY(tet_skip_line(r));
    return tet_add_vertex(r, x);
}

// 2.2: TAG X Y Z.
static weft_status read_nodes(tet_reader* r)
{
    int64_t count, tag;
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of vertices", &count));
    for (int64_t k = 0; k < count; k++)
    {
        TRY(tet_whole(r, INT64_MIN, INT64_MAX, "a vertex's number", &tag));
        TRY(tet_tag_vertex(r, tag));
        TRY(read_tagged_point(r));
    }
    return tet_sort_tags(r);
}

// 4.1: blocks of DIMENSION ENTITY PARAMETRIC COUNT, then all tags, then all coordinates.
static weft_status read_node_blocks(tet_reader* r)
{
    int64_t blocks, total, count, tag;
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of blocks", &blocks));
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of vertices", &total));
    TRY(tet_skip_line(r));
    for (int64_t b = 0; b < blocks; b++)
    {
        int64_t unused;
        TRY(tet_whole(r, 0, 3, "the dimension of a block", &unused));
        TRY(tet_whole(r, INT64_MIN, INT64_MAX, "the number of an entity", &unused));
        TRY(tet_whole(r, 0, 1, "0, or 1 for parameters", &unused));
        TRY(tet_whole(r, 0, COUNT_MAX, "the number of vertices of a block", &count));
        int first = r->m->vertex_count;
        for (int64_t k = 0; k < count; k++) // tags come before positions
        {
            TRY(tet_whole(r, INT64_MIN, INT64_MAX, "a vertex's number", &tag));
            TRY(tet_tag_vertex(r, tag));
            TRY(tet_add_vertex(r, v3(0, 0, 0)));
        }
        for (int64_t k = 0; k < count; k++)
        {
            TRY(tet_point(r, &r->m->position[first + k]));
            TRY(tet_skip_line(r));
        }
    }
    return tet_sort_tags(r);
}

static weft_status read_tetrahedron(tet_reader* r)
{
    int64_t vertex[4], tag;
    for (int k = 0; k < 4; k++)
    {
        TRY(tet_whole(r, INT64_MIN, INT64_MAX, "a vertex of a tetrahedron", &tag));
        TRY(tet_find_tag(r, tag, &vertex[k]));
    }
    TRY(tet_add(r, vertex, r->lines.line_number));
    return tet_skip_line(r);
}

static weft_status check_type(const tet_reader* r, int64_t type)
{
    return type == TETRAHEDRON_10
               ? tet_refuse(r, "has tetrahedra of ten vertices: export the mesh with elements of first order")
               : WEFT_OK;
}

// 2.2: NUMBER TYPE TAG_COUNT TAGS VERTICES.
static weft_status read_elements(tet_reader* r)
{
    int64_t count, type, tags, unused;
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of elements", &count));
    for (int64_t k = 0; k < count; k++)
    {
        TRY(tet_whole(r, INT64_MIN, INT64_MAX, "an element's number", &unused));
        TRY(tet_whole(r, 1, INT32_MAX, "the type of an element", &type));
        TRY(check_type(r, type));
        TRY(tet_whole(r, 0, TAGS_MAX, "the number of an element's tags", &tags));
        for (int64_t t = 0; t < tags && type == TETRAHEDRON; t++)
        {
            TRY(tet_whole(r, INT64_MIN, INT64_MAX, "a tag", &unused));
        }
        TRY(type == TETRAHEDRON ? read_tetrahedron(r) : tet_skip_line(r));
    }
    return WEFT_OK;
}

// 4.1: blocks of DIMENSION ENTITY TYPE COUNT, then NUMBER VERTICES for each.
static weft_status read_element_blocks(tet_reader* r)
{
    int64_t blocks, type, count, unused;
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of blocks", &blocks));
    TRY(tet_skip_line(r));
    for (int64_t b = 0; b < blocks; b++)
    {
        TRY(tet_whole(r, 0, 3, "the dimension of a block", &unused));
        TRY(tet_whole(r, INT64_MIN, INT64_MAX, "the number of an entity", &unused));
        TRY(tet_whole(r, 1, INT32_MAX, "the type of elements", &type));
        TRY(check_type(r, type));
        TRY(tet_whole(r, 0, COUNT_MAX, "the number of elements of a block", &count));
        for (int64_t k = 0; k < count; k++)
        {
            TRY(tet_whole(r, INT64_MIN, INT64_MAX, "an element's number", &unused));
            TRY(type == TETRAHEDRON ? read_tetrahedron(r) : tet_skip_line(r));
        }
    }
    return WEFT_OK;
}

static weft_status skip_section(tet_reader* r)
{
    char* word;
    do
    {
        TRY(tet_word(r, &word));
    } while (word && strncmp(word, "$End", 4) != 0);
    return WEFT_OK;
}

weft_status gmsh_read(tet_reader* r)
{
    bool blocks = false, has_format = false, has_nodes = false, has_elements = false;
    while (!has_elements)
    {
        char* word;
        TRY(tet_word(r, &word));
        if (!word)
        {
            return tet_ends(r, has_nodes ? "$Elements" : has_format ? "$Nodes" : "$MeshFormat");
        }
        if (strcmp(word, "$MeshFormat") == 0)
        {
            TRY(read_format(r, &blocks));
            has_format = true;
        }
        else if (!has_format)
        {
            return tet_refuse(r, "a file of Gmsh starts with $MeshFormat");
        }
        else if (strcmp(word, "$Nodes") == 0 && !has_nodes)
        {
            TRY(blocks ? read_node_blocks(r) : read_nodes(r));
            has_nodes = true;
        }
        else if (strcmp(word, "$Elements") == 0 && has_nodes)
        {
            TRY(blocks ? read_element_blocks(r) : read_elements(r));
            has_elements = true;
            continue;
        }
        TRY(skip_section(r));
    }
    return WEFT_OK;
}
