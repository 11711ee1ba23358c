// VTK's legacy .vtk with an unstructured grid, as text: POINTS, CELLS and CELL_TYPES are read, words between them are
// passed over. Cells are lists with their lengths, or since version 5.1 OFFSETS and CONNECTIVITY. Of cells those of
// type 10, tetrahedra of four vertices.
#include <string.h>

#include "mesh/tet_reader.h"

enum
{
    TETRAHEDRON = 10,
    TETRAHEDRON_10 = 24
};

typedef struct vtk_cells
{
    int_list start;        // [cells + 1] in vertex
    int_list vertex, line; // of all cells
    bool has_types;
} vtk_cells;

static weft_status push(tet_reader* r, int_list* list, int64_t value)
{
    return int_list_push(list, (int)value) ? WEFT_OK : mesh_no_memory(r->m, r->error);
}

static weft_status read_header(tet_reader* r)
{
    char* word;
    TRY(tet_word(r, &word));
    if (!word || strcmp(word, "#") != 0)
    {
        return tet_refuse(r, "a legacy file of VTK starts with `# vtk DataFile Version`");
    }
    TRY(tet_skip_line(r));
    r->at = NULL;
    TRY(tet_skip_line(r)); // the title, which may be empty
    r->at = r->at ? r->at + strlen(r->at) : NULL;
    TRY(tet_word(r, &word));
    if (!word || strcmp(word, "ASCII") != 0)
    {
        return tet_refuse(r, word && strcmp(word, "BINARY") == 0
                                 ? "is a binary file, and text is read: export it as ASCII"
                                 : "the third line says ASCII or BINARY in a legacy file of VTK");
    }
    TRY(tet_word(r, &word));
    TRY(word && strcmp(word, "DATASET") == 0 ? tet_word(r, &word) : tet_refuse(r, "`DATASET` was expected here"));
    return word && strcmp(word, "UNSTRUCTURED_GRID") == 0
               ? WEFT_OK
               : tet_refuse(r, "holds no UNSTRUCTURED_GRID: tetrahedra come as one");
}

static weft_status read_points(tet_reader* r)
{
    int64_t count;
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of points", &count));
    TRY(tet_skip_line(r)); // their type
    for (int64_t k = 0; k < count; k++)
    {
        vec3 x;
        TRY(tet_point(r, &x));
        TRY(tet_add_vertex(r, x));
    }
    return WEFT_OK;
}

static weft_status read_vertices(tet_reader* r, int64_t count, vtk_cells* c)
{
    int64_t vertex;
    for (int64_t k = 0; k < count; k++)
    {
        TRY(tet_whole(r, 0, COUNT_MAX, "a vertex of a cell", &vertex));
        TRY(push(r, &c->vertex, vertex));
        TRY(push(r, &c->line, r->lines.line_number));
    }
    return WEFT_OK;
}

static weft_status read_lists(tet_reader* r, int64_t count, vtk_cells* c)
{
    int64_t length;
    for (int64_t k = 0; k < count; k++)
    {
        TRY(tet_whole(r, 0, COUNT_MAX, "the number of a cell's vertices", &length));
        TRY(read_vertices(r, length, c));
        TRY(push(r, &c->start, c->vertex.count));
    }
    return WEFT_OK;
}

// count is the number of offsets, the first of which is 0.
static weft_status read_offsets(tet_reader* r, int64_t count, int64_t total, vtk_cells* c)
{
    int64_t offset, last = 0;
    TRY(tet_skip_line(r)); // OFFSETS has a type behind it
    for (int64_t k = 0; k < count; k++)
    {
        TRY(tet_whole(r, k == 0 ? 0 : last, k == 0 ? 0 : total, "the offset of a cell", &offset));
        TRY(k > 0 ? push(r, &c->start, offset) : WEFT_OK);
        last = offset;
    }
    char* word;
    TRY(tet_word(r, &word));
    TRY(word && strcmp(word, "CONNECTIVITY") == 0 ? tet_skip_line(r)
                                                  : tet_refuse(r, "`CONNECTIVITY` was expected here"));
    return read_vertices(r, total, c);
}

static weft_status read_cells(tet_reader* r, vtk_cells* c)
{
    int64_t count, total;
    TRY(c->start.count == 0 ? WEFT_OK : tet_refuse(r, "has CELLS twice"));
    TRY(push(r, &c->start, 0));
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of cells", &count));
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of their entries", &total));
    // The next word tells the versions apart; put back, it is a number of the first cell.
    char *word, *before;
    TRY(tet_skip_line(r));
    do
    {
        r->at = NULL;
        TRY(tet_skip_line(r));
        before = r->at;
    } while (before && before[strspn(before, " \t\r")] == 0);
    if (before && strncmp(before + strspn(before, " \t\r"), "OFFSETS", 7) == 0)
    {
        TRY(tet_word(r, &word));
        return read_offsets(r, count, total, c);
    }
    return read_lists(r, count, c);
}

static weft_status read_types(tet_reader* r, vtk_cells* c)
{
    int64_t count, type, vertex[4];
    TRY(tet_whole(r, 0, COUNT_MAX, "the number of cells", &count));
    if (count != int_max(c->start.count - 1, 0))
    {
        return tet_refuse(r, "CELL_TYPES has another number of cells than CELLS before it");
    }
    for (int k = 0; k < (int)count; k++)
    {
        TRY(tet_whole(r, 0, INT32_MAX, "the type of a cell", &type));
        if (type == TETRAHEDRON_10)
        {
            return tet_refuse(r, "has tetrahedra of ten vertices: export the mesh with elements of first order");
        }
        int begin = c->start.item[k], end = c->start.item[k + 1];
        if (type != TETRAHEDRON)
        {
            continue;
        }
        if (end - begin != 4)
        {
            return tet_refuse(r, "a tetrahedron (type 10) has another number of vertices than 4");
        }
        for (int v = 0; v < 4; v++)
        {
            vertex[v] = c->vertex.item[begin + v];
        }
        TRY(tet_add(r, vertex, c->line.item[begin]));
    }
    c->has_types = true;
    return WEFT_OK;
}

static weft_status read_parts(tet_reader* r, vtk_cells* c)
{
    TRY(read_header(r));
    while (!c->has_types)
    {
        char* word;
        TRY(tet_word(r, &word));
        if (!word)
        {
            return tet_ends(r, c->start.count > 0 ? "CELL_TYPES" : r->m->vertex_count > 0 ? "CELLS" : "POINTS");
        }
        TRY(strcmp(word, "POINTS") == 0       ? read_points(r)
            : strcmp(word, "CELLS") == 0      ? read_cells(r, c)
            : strcmp(word, "CELL_TYPES") == 0 ? read_types(r, c)
                                              : WEFT_OK);
    }
    return WEFT_OK;
}

weft_status vtk_read(tet_reader* r)
{
    vtk_cells c = {0};
    weft_status status = read_parts(r, &c);
    mem_free(c.start.item);
    mem_free(c.vertex.item);
    mem_free(c.line.item);
    return status;
}
