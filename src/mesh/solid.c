// Solids and strands that are made here: boxes of tetrahedra, brushes of straight bristles.
//
// A cell of a box is split in five tetrahedra: one over four corners of the cube, no two of which share an edge of it,
// and four corners cut off. The next cell is its mirror image, so that diagonals agree: edges along the axes, one
// diagonal a square, none through a cell.
#include "mesh/mesh_inside.h"

static int solid_vertex(const int* cells, int x, int y, int z)
{
    return x + (cells[0] + 1) * (y + (cells[1] + 1) * z);
}

static void solid_positions(vec3 size, const int* cells, vec3* out)
{
    for (int z = 0; z <= cells[2]; z++)
    {
        for (int y = 0; y <= cells[1]; y++)
        {
            for (int x = 0; x <= cells[0]; x++)
            {
                // From -1/2 to 1/2, the same numbers on both sides.
                out[solid_vertex(cells, x, y, z)] =
                    v3(size.x * (2 * x - cells[0]) / (2 * cells[0]), size.y * (2 * y - cells[1]) / (2 * cells[1]),
                       size.z * (2 * z - cells[2]) / (2 * cells[2]));
            }
        }
    }
}

// Corners of a cell are bits x, y, z. In mirrored cells x counts backwards, and two vertices change places.
static void split_cell(const int* cells, const int* at, int* out)
{
    static const int parts[5][4] = {{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 6, 0, 3}, {4, 5, 0, 6}, {7, 6, 3, 5}};
    int mirrored = (at[0] + at[1] + at[2]) % 2;
    for (int k = 0; k < 20; k++)
    {
        int corner = parts[k / 4][mirrored && k % 4 >= 2 ? 5 - k % 4 : k % 4];
        out[k] = solid_vertex(cells, at[0] + ((corner & 1) ^ mirrored), at[1] + (corner >> 1 & 1),
                              at[2] + (corner >> 2 & 1));
    }
}

weft_status mesh_from_box(vec3 size, const int* cells, mesh* out, weft_error* error)
{
    *out = (mesh){.form = MESH_SOLID};
    double vertices = ((double)cells[0] + 1.0) * ((double)cells[1] + 1.0) * ((double)cells[2] + 1.0);
    if (vertices > COUNT_MAX / 24)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the solid would have %.0f vertices; at most %d are allowed",
                         vertices, COUNT_MAX / 24);
    }
    out->vertex_count = (int)vertices;
    out->tetrahedron_count = 5 * cells[0] * cells[1] * cells[2];
    out->position = MEM_NEW(out->vertex_count, vec3);
    out->tetrahedron = MEM_NEW(4 * (size_t)out->tetrahedron_count, int);
    if (!out->position || !out->tetrahedron)
    {
        mesh_finish(out);
        return mesh_no_memory(out, error);
    }
    solid_positions(size, cells, out->position);
    for (int c = 0; c < cells[0] * cells[1] * cells[2]; c++)
    {
        const int at[3] = {c % cells[0], c / cells[0] % cells[1], c / cells[0] / cells[1]};
        split_cell(cells, at, out->tetrahedron + 20 * (size_t)c);
    }
    return WEFT_OK;
}

// ---- strands

// From -1/2 to 1/2; one alone is in the middle.
static double place_of(int index, int count)
{
    return count > 1 ? (double)(2 * index - (count - 1)) / (2 * (count - 1)) : 0.0;
}

weft_status mesh_from_brush(const brush_options* o, mesh* out, weft_error* error)
{
    double total = (double)o->count_x * o->count_z * o->vertices;
    if (total > COUNT_MAX)
    {
        *out = (mesh){0};
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "the strands would have %.0f vertices; at most %d are allowed",
                         total, COUNT_MAX);
    }
    int strands = o->count_x * o->count_z, count = strands * o->vertices;
    vec3* position = MEM_NEW(count, vec3);
    int *start = MEM_NEW(strands + 1, int), *vertex = MEM_NEW(count, int);
    for (int k = 0; k < count && position && start && vertex; k++)
    {
        int strand = k / o->vertices;
        double along = (double)(k % o->vertices) / (o->vertices - 1), wide = 1.0 + o->spread * along;
        position[k] = v3(wide * o->size_x * place_of(strand % o->count_x, o->count_x), -along * o->length,
                         wide * o->size_z * place_of(strand / o->count_x, o->count_z));
        start[strand + 1] = k + 1;
        vertex[k] = k;
    }
    *out = (mesh){0};
    weft_status status = position && start && vertex
                             ? mesh_lines_from_arrays(position, count, start, vertex, strands, out, error)
                             : mesh_no_memory(out, error);
    mem_free(position);
    mem_free(start);
    mem_free(vertex);
    return status;
}
