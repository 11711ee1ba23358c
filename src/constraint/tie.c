// Ties: a vertex, or a point of an edge, that follows a point over a face (Tamstorf et al. 2015, section 8: face-vertex
// and edge-edge constraints). The offset turns with the face, because its direction is the face's normal n. With the
// normal's rate of change
//
//     dn/dt = -sum g_i (n . v_i),   g_i the gradient of the i-th barycentric coordinate,
//
// J = dC/dx has the blocks share I for the point and -(weight I - offset g n^T) for the face's corners. Forces along
// its rows neither push nor turn the two together.
#include <stdlib.h>
#include <string.h>

#include "constraint/constraint.h"

weft_status tie_set_add(tie_set* set, const tie* t)
{
    if (!mem_grow((void**)&set->ties, &set->capacity, set->count + 1, sizeof(tie)))
    {
        return WEFT_NO_MEMORY;
    }
    set->ties[set->count++] = *t;
    return WEFT_OK;
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

weft_status tie_set_collect(tie_set* set)
{
    mem_free(set->members);
    set->members = MEM_NEW(5 * (size_t)set->count + 1, int);
    set->member_count = 0;
    if (!set->members)
    {
        return WEFT_NO_MEMORY;
    }
    int count = 0;
    for (int k = 0; k < set->count; k++)
    {
        const tie* t = &set->ties[k];
        set->members[count++] = t->point[0];
        if (t->point[1] >= 0)
        {
            set->members[count++] = t->point[1];
        }
        memcpy(set->members + count, t->face, sizeof(t->face));
        count += 3;
    }
    qsort(set->members, (size_t)count, sizeof(int), compare_int);
    for (int k = 0; k < count; k++)
    {
        if (k == 0 || set->members[k] != set->members[k - 1])
        {
            set->members[set->member_count++] = set->members[k];
        }
    }
    return WEFT_OK;
}

void tie_set_finish(tie_set* set)
{
    mem_free(set->ties);
    mem_free(set->members);
    *set = (tie_set){0};
}

// The unit normal of a face and the gradients of its barycentric coordinates; all zero for a face without area.
static vec3 face_frame(const vec3* x, const int face[3], vec3 gradient[3])
{
    vec3 a = x[face[0]], b = x[face[1]], c = x[face[2]];
    vec3 normal = v3_cross(v3_sub(b, a), v3_sub(c, a));
    double area = v3_length(normal), inv = area > 0.0 ? 1.0 / area : 0.0;
    normal = v3_scale(inv, normal);
    gradient[0] = v3_scale(inv, v3_cross(normal, v3_sub(c, b)));
    gradient[1] = v3_scale(inv, v3_cross(normal, v3_sub(a, c)));
    gradient[2] = v3_scale(inv, v3_cross(normal, v3_sub(b, a)));
    return normal;
}

vec3 tie_point(const tie* t, const vec3* x)
{
    vec3 p = v3_scale(t->share[0], x[t->point[0]]);
    return t->point[1] >= 0 ? v3_madd(p, t->share[1], x[t->point[1]]) : p;
}

bool tie_make(const vec3* x, const int point[2], double share, const int face[3], tie* out)
{
    *out = (tie){.point = {point[0], point[1]}, .share = {share, 1.0 - share}};
    memcpy(out->face, face, sizeof(out->face));
    vec3 gradient[3], normal = face_frame(x, face, gradient);
    vec3 from = v3_sub(tie_point(out, x), x[face[0]]);
    out->weight[1] = v3_dot(gradient[1], from);
    out->weight[2] = v3_dot(gradient[2], from);
    out->weight[0] = 1.0 - out->weight[1] - out->weight[2];
    out->offset = v3_dot(normal, from);
    return v3_dot(normal, normal) > 0.0;
}

vec3 tie_error(const tie* t, const vec3* x)
{
    vec3 gradient[3], normal = face_frame(x, t->face, gradient);
    // Differences from a corner, so that distance from the origin costs no digits.
    vec3 at = x[t->face[0]], sum = v3_scale(t->share[0], v3_sub(x[t->point[0]], at));
    if (t->point[1] >= 0)
    {
        sum = v3_madd(sum, t->share[1], v3_sub(x[t->point[1]], at));
    }
    sum = v3_madd(sum, -t->weight[1], v3_sub(x[t->face[1]], at));
    sum = v3_madd(sum, -t->weight[2], v3_sub(x[t->face[2]], at));
    return v3_madd(sum, -t->offset, normal);
}

static double component(vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

// One row along the thread, three along the axes, or none.
static int stitch_rows(const tie* t, const tie_moment* now, int* ends, int* unknown, double* value)
{
    const int vertex[4] = {t->point[0], t->point[1], t->face[0], t->face[1]};
    const double weight[4] = {t->share[0], t->point[1] >= 0 ? t->share[1] : 0.0, t->weight[0], t->weight[1]};
    vec3 along[2];
    double speed;
    int count = 0;
    thread_state state = stitch_look(t, now, along, &speed);
    int rows = state == THREAD_STIFF ? 3 : state == THREAD_DRAWN ? 1 : 0;
    for (int row = 0; row < 3; row++)
    {
        for (int k = 0; k < 12 && row < rows; k++)
        {
            double axis = k % 3 == row ? (k < 6 ? 1.0 : -1.0) : 0.0;
            double share = rows == 1 ? component(along[k / 6], k % 3) : axis;
            if (weight[k / 3] * share != 0.0)
            {
                unknown[count] = 3 * vertex[k / 3] + k % 3;
                value[count++] = weight[k / 3] * share;
            }
        }
        ends[row] = count;
    }
    return count;
}

static int face_rows(const tie* t, const vec3* x, int* ends, int* unknown, double* value)
{
    int count = 0;
    vec3 gradient[3], normal = face_frame(x, t->face, gradient);
    for (int axis = 0; axis < 3; axis++)
    {
        for (int p = 0; p < 2 && t->point[p] >= 0; p++)
        {
            unknown[count] = 3 * t->point[p] + axis;
            value[count++] = t->share[p];
        }
        for (int e = 0; e < 9; e++)
        {
            int corner = e / 3, other = e % 3;
            double entry = t->offset * component(gradient[corner], axis) * component(normal, other);
            entry -= other == axis ? t->weight[corner] : 0.0;
            if (entry != 0.0)
            {
                unknown[count] = 3 * t->face[corner] + other;
                value[count++] = entry;
            }
        }
        ends[axis] = count;
    }
    return count;
}

void tie_set_rows(const tie_set* set, const tie_moment* now, int* start, int* unknown, double* value)
{
    int count = 0;
    start[0] = 0;
    for (int k = 0; k < set->count; k++)
    {
        const tie* t = &set->ties[k];
        int ends[3] = {0, 0, 0};
        int more = now->slack && now->slack[k] ? 0
                   : t->close > 0.0            ? stitch_rows(t, now, ends, unknown + count, value + count)
                                               : face_rows(t, now->x, ends, unknown + count, value + count);
        for (int axis = 0; axis < 3; axis++)
        {
            start[3 * k + axis + 1] = count + ends[axis];
        }
        count += more;
    }
}
