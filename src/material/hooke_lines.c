// The model `hooke` for lines: a spring along each segment and, where two segments meet, one over both.
//
// A segment of length L has the stiffness EA / L of a rod under tension (weft_material.stretch_warp is EA, N). The
// spring over two segments of lengths s1, s2 that fold by theta is shortened by s1 s2 / (2 (s1 + s2)) theta^2, so its
// energy is of the fourth order where EI / (s1 + s2) theta^2 of a rod is of the second: they agree where the fold is
// half a radian more than at rest (spring_bending). Lines that are bent at rest keep that shape: the spring's length is
// that between its ends. Twist is not resisted, and where three segments or more meet there is a joint.
#include "material/spring.h"

// The segments that meet in a vertex, as far as two.
typedef struct joint
{
    int count;
    int segment[2];
} joint;

static void joints_take(const cloth_shape* shape, int first, joint* joints)
{
    for (int k = 0; k < 2 * shape->segment_count; k++)
    {
        joint* j = &joints[shape->segment[k] - first];
        if (j->count < 2)
        {
            j->segment[j->count] = k / 2;
        }
        j->count++;
    }
}

// The end of a segment that is not `vertex`.
static int far_end(const cloth_shape* shape, int segment, int vertex)
{
    const int* v = shape->segment + 2 * segment;
    return v[0] == vertex ? v[1] : v[0];
}

static void add_bend(element_group* group, const cloth_shape* shape, int vertex, const joint* j)
{
    int a = far_end(shape, j->segment[0], vertex), b = far_end(shape, j->segment[1], vertex);
    if (a == b)
    {
        return; // two segments over the same vertices are refused with the mesh
    }
    const vec3* x = shape->rest_position;
    vec3 in = v3_sub(x[vertex], x[a]), out = v3_sub(x[b], x[vertex]);
    double s1 = shape->segment_rest[j->segment[0]], s2 = shape->segment_rest[j->segment[1]];
    double fold = atan2(v3_length(v3_cross(in, out)), v3_dot(in, out));
    spring_add(group, a, b, spring_bending(shape->material.bending, s1, s2, fold), v3_length(v3_sub(x[b], x[a])),
               shape->material.damping, SPRING_BEND);
}

weft_status hooke_append_lines(element_group* group, const cloth_shape* shape)
{
    int first = INT32_MAX, last = 0;
    for (int k = 0; k < 2 * shape->segment_count; k++)
    {
        first = int_min(first, shape->segment[k]);
        last = int_max(last, shape->segment[k]);
    }
    int count = last - first + 1;
    TRY(element_group_reserve(group, &kind_spring, group->count + shape->segment_count + count));
    for (int s = 0; s < shape->segment_count; s++)
    {
        double length = shape->segment_rest[s];
        spring_add(group, shape->segment[2 * s], shape->segment[2 * s + 1], shape->material.stretch_warp / length,
                   length, shape->material.damping, SPRING_STRETCH);
    }
    joint* joints = MEM_NEW(count, joint);
    if (!joints)
    {
        return WEFT_NO_MEMORY;
    }
    joints_take(shape, first, joints);
    for (int k = 0; k < count && shape->material.bending > 0.0; k++)
    {
        if (joints[k].count == 2)
        {
            add_bend(group, shape, first + k, &joints[k]);
        }
    }
    mem_free(joints);
    return WEFT_OK;
}
