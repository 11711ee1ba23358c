// From the user's polylines to the segments that are simulated, and the checks of them.
#include <stdlib.h>

#include "mesh/mesh_inside.h"

weft_status mesh_make_segments(mesh* m, weft_error* error)
{
    m->segment_count = m->face_start[m->face_count] - m->face_count;
    if (m->segment_count < 1)
    {
        return error_set(error, WEFT_BAD_INPUT, m->file, 0,
                         "the mesh has no segment: a line joins two vertices or more");
    }
    mem_free(m->segment);
    m->segment = MEM_NEW(2 * (size_t)m->segment_count, int);
    if (!m->segment)
    {
        return mesh_no_memory(m, error);
    }
    int* to = m->segment;
    for (int line = 0; line < m->face_count; line++)
    {
        for (int k = m->face_start[line] + 1; k < m->face_start[line + 1]; k++)
        {
            *to++ = m->face_vertex[k - 1];
            *to++ = m->face_vertex[k];
        }
    }
    return WEFT_OK;
}

// A segment by its ends, and the line that it belongs to.
typedef struct ends
{
    int low, high, line;
} ends;

static int compare_ends(const void* left, const void* right)
{
    const ends *a = left, *b = right;
    const int x[] = {a->low, a->high, a->line}, y[] = {b->low, b->high, b->line};
    int k = x[0] != y[0] ? 0 : x[1] != y[1] ? 1 : 2;
    return (x[k] > y[k]) - (x[k] < y[k]);
}

static void list_ends(const mesh* m, ends* out)
{
    const int* v = m->segment;
    for (int line = 0; line < m->face_count; line++)
    {
        for (int k = m->face_start[line] + 1; k < m->face_start[line + 1]; k++, v += 2)
        {
            *out++ = (ends){int_min(v[0], v[1]), int_max(v[0], v[1]), line};
        }
    }
}

static weft_status check_ends(const mesh* m, const ends* list, weft_error* error)
{
    char label[LABEL_SIZE];
    int base = m->file ? 1 : 0;
    for (int k = 0; k < m->segment_count; k++)
    {
        const ends* e = &list[k];
        if (!(v3_length(v3_sub(m->position[e->high], m->position[e->low])) > 0.0))
        {
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, e->line),
                             "%s has a segment without length, from vertex %d to vertex %d: remove one of them",
                             mesh_face_label(m, e->line, label), e->low + base, e->high + base);
        }
        if (k > 0 && e->low == e[-1].low && e->high == e[-1].high)
        {
            return error_set(error, WEFT_BAD_INPUT, m->file, mesh_face_line(m, e->line),
                             "%s joins vertices %d and %d, which are joined already: remove one of the two segments",
                             mesh_face_label(m, e->line, label), e->low + base, e->high + base);
        }
    }
    return WEFT_OK;
}

weft_status mesh_segment(mesh* m, weft_error* error)
{
    WEFT_ASSERT(m && m->form == MESH_LINES);
    TRY(mesh_check_positions(m, error));
    TRY(mesh_make_segments(m, error));
    ends* list = MEM_NEW(m->segment_count, ends);
    if (!list)
    {
        return mesh_no_memory(m, error);
    }
    list_ends(m, list);
    qsort(list, (size_t)m->segment_count, sizeof(ends), compare_ends);
    weft_status status = check_ends(m, list, error);
    mem_free(list);
    return status;
}
