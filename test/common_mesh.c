#include "common_mesh.h"

#include <string.h>

#include "common.h"

vec3 test_area_vector(const mesh* m, int t)
{
    const int* v = m->triangle + 3 * t;
    vec3 a = v3_sub(m->position[v[1]], m->position[v[0]]), b = v3_sub(m->position[v[2]], m->position[v[0]]);
    return v3_scale(0.5, v3_cross(a, b));
}

double test_mesh_area(const mesh* m)
{
    double area = 0.0;
    for (int t = 0; t < m->triangle_count; t++)
    {
        area += v3_length(test_area_vector(m, t));
    }
    return area;
}

// Every interior edge is a hinge, so edges = 3 triangles - hinges.
int test_mesh_euler(const mesh* m)
{
    hinge* hinges;
    int count;
    assert_int_equal(mesh_hinges(m->triangle, m->triangle_count, m->vertex_count, &hinges, &count, NULL), WEFT_OK);
    mem_free(hinges);
    return m->vertex_count - (3 * m->triangle_count - count) + m->triangle_count;
}

weft_status test_triangulate(const vec3* x, int vertex_count, const int* start, const int* corner, int faces,
                                      mesh* m, weft_error* error)
{
    *error = (weft_error){0};
    weft_status status = mesh_from_arrays(x, vertex_count, start, corner, faces, m, error);
    return status == WEFT_OK ? mesh_triangulate(m, error) : status;
}

void test_expect_refused(const vec3* x, int vertex_count, const int* start, const int* corner, int faces,
                           const char* word)
{
    mesh m;
    weft_error error;
    assert_int_equal(test_triangulate(x, vertex_count, start, corner, faces, &m, &error), WEFT_BAD_INPUT);
    if (!strstr(error.message, word))
    {
        fail_msg("'%s' does not say '%s'", error.message, word);
    }
    mesh_finish(&m);
}
