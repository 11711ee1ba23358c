// Where the vertices of a glTF body are at a time of its animation:
//
//   x = sum_j w_j J_j B_j (p + sum_t a_t d_t)     skinned: J the world matrices of joints, B inverse bind matrices; the
//                                                 node's own place does not count
//   x = W (p + sum_t a_t d_t)                     otherwise: W the world matrix of the node
//
// with p the position, d_t the displacements of morph targets and a_t their weights. Keys are held before the first and
// after the last; between two, with s from 0 to 1 and T the time between them:
//
//   STEP a;  LINEAR (1 - s) a + s b, rotations along the shorter arc at constant speed;
//   CUBICSPLINE (2 s^3 - 3 s^2 + 1) a + T (s^3 - 2 s^2 + s) out_a + (3 s^2 - 2 s^3) b + T (s^3 - s^2) in_b
//
// (glTF 2.0, appendix C). Rotations are normalised.
#include <string.h>

#include "scene/gltf_file.h"

affine affine_mul(const affine* a, const affine* b)
{
    affine out;
    for (int r = 0; r < 3; r++)
    {
        for (int c = 0; c < 4; c++)
        {
            const double* row = a->m + 4 * r;
            out.m[4 * r + c] = row[0] * b->m[c] + row[1] * b->m[4 + c] + row[2] * b->m[8 + c] + (c == 3 ? row[3] : 0.0);
        }
    }
    return out;
}

// ---- keys

// The last key at or before a time, from 0 to key_count - 1; -1: before the first.
static int key_before(const gltf_channel* c, double time)
{
    int low = -1, high = c->key_count;
    while (high - low > 1)
    {
        int middle = low + (high - low) / 2;
        low = c->time[middle] <= time ? middle : low;
        high = c->time[middle] <= time ? high : middle;
    }
    return low;
}

static void normalize(double* q)
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++)
    {
        q[k] = length > 0.0 ? q[k] / length : k == 3;
    }
}

static void slerp(const double* a, const double* b, double s, double* out)
{
    double from[4], to[4];
    memcpy(from, a, sizeof(from));
    memcpy(to, b, sizeof(to));
    normalize(from);
    normalize(to);
    double cosine = from[0] * to[0] + from[1] * to[1] + from[2] * to[2] + from[3] * to[3];
    double sign = cosine < 0.0 ? -1.0 : 1.0, angle = acos(fmin(fabs(cosine), 1.0));
    // Nearly the same: the chord is the arc, and the sine of the angle has no digits left.
    bool straight = angle < 1e-6;
    double left = straight ? 1.0 - s : sin((1.0 - s) * angle) / sin(angle);
    double right = straight ? s : sin(s * angle) / sin(angle);
    for (int k = 0; k < 4; k++)
    {
        out[k] = left * from[k] + sign * right * to[k];
    }
    normalize(out);
}

static void spline(const gltf_channel* c, int key, double s, double* out)
{
    double s2 = s * s, s3 = s2 * s, span = c->time[key + 1] - c->time[key];
    const double* at = c->value + 3 * (size_t)key * (size_t)c->width;
    const double *a = at + c->width, *out_a = at + 2 * c->width, *in_b = at + 3 * c->width, *b = at + 4 * c->width;
    for (int k = 0; k < c->width; k++)
    {
        out[k] = (2.0 * s3 - 3.0 * s2 + 1.0) * a[k] + span * (s3 - 2.0 * s2 + s) * out_a[k] +
                 (3.0 * s2 - 2.0 * s3) * b[k] + span * (s3 - s2) * in_b[k];
    }
}

static void channel_at(const gltf_channel* c, double time, double* out)
{
    bool cubic = c->interpolation == GLTF_CUBIC;
    size_t width = (size_t)c->width, stride = cubic ? 3 * width : width, skip = cubic ? width : 0;
    int key = key_before(c, time);
    const double* a = c->value + (size_t)int_max(key, 0) * stride + skip;
    if (key < 0 || key == c->key_count - 1 || c->interpolation == GLTF_STEP)
    {
        memcpy(out, a, width * sizeof(double));
    }
    else
    {
        double s = (time - c->time[key]) / (c->time[key + 1] - c->time[key]);
        const double* b = a + stride;
        if (cubic)
        {
            spline(c, key, s, out);
        }
        else if (c->path == GLTF_ROTATION)
        {
            slerp(a, b, s, out);
        }
        for (int k = 0; k < c->width && !cubic && c->path != GLTF_ROTATION; k++)
        {
            out[k] = (1.0 - s) * a[k] + s * b[k];
        }
    }
}

// ---- nodes

// T R S.
static affine node_matrix(const gltf_node* n)
{
    if (n->has_matrix)
    {
        return n->matrix;
    }
    double q[4];
    memcpy(q, n->rotation, sizeof(q));
    normalize(q);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double* s = n->scale;
    const double* t = n->translation;
    return (affine){{(1.0 - 2.0 * (y * y + z * z)) * s[0], 2.0 * (x * y - z * w) * s[1], 2.0 * (x * z + y * w) * s[2],
                     t[0], 2.0 * (x * y + z * w) * s[0], (1.0 - 2.0 * (x * x + z * z)) * s[1],
                     2.0 * (y * z - x * w) * s[2], t[1], 2.0 * (x * z - y * w) * s[0], 2.0 * (y * z + x * w) * s[1],
                     (1.0 - 2.0 * (x * x + y * y)) * s[2], t[2]}};
}

static void channels_apply(gltf_body* b, double time)
{
    for (int k = 0; k < b->channel_count; k++)
    {
        const gltf_channel* c = &b->channel[k];
        gltf_node* n = &b->posed[c->node];
        if (c->path != GLTF_WEIGHTS)
        {
            channel_at(c, time,
                       c->path == GLTF_TRANSLATION ? n->translation
                       : c->path == GLTF_ROTATION  ? n->rotation
                                                   : n->scale);
        }
        for (int i = 0; i < b->part_count && c->path == GLTF_WEIGHTS; i++)
        {
            if (b->part[i].node == c->node)
            {
                channel_at(c, time, b->part[i].pose_weight);
            }
        }
    }
}

void gltf_nodes_pose(gltf_body* b, double time)
{
    memcpy(b->posed, b->node, (size_t)b->node_count * sizeof(gltf_node));
    for (int k = 0; k < b->part_count; k++)
    {
        memcpy(b->part[k].pose_weight, b->part[k].weight, (size_t)b->part[k].target_count * sizeof(double));
    }
    channels_apply(b, time);
    for (int k = 0; k < b->node_count; k++)
    {
        int node = b->order[k], parent = b->node[node].parent;
        affine own = node_matrix(&b->posed[node]);
        b->world[node] = parent >= 0 ? affine_mul(&b->world[parent], &own) : own;
    }
    for (int k = 0; k < b->skin_count; k++)
    {
        gltf_skin* skin = &b->skin[k];
        for (int j = 0; j < skin->joint_count; j++)
        {
            skin->world[j] = affine_mul(&b->world[skin->joint[j]], &skin->bind[j]);
        }
    }
}

// ---- vertices

static vec3 morphed(const gltf_part* part, const double* row)
{
    vec3 x = v3(row[0], row[1], row[2]);
    const double* delta = row + 3;
    for (int t = 0; t < part->target_count; t++, delta += 3)
    {
        x = v3_madd(x, part->pose_weight[t], v3(delta[0], delta[1], delta[2]));
    }
    return x;
}

static vec3 skinned(const gltf_part* part, const gltf_skin* skin, const double* row, vec3 x)
{
    const double* pair = row + 3 + 3 * part->target_count;
    vec3 sum = {0};
    for (int k = 0; k < part->influence_count && pair[1] > 0.0; k++, pair += 2)
    {
        sum = v3_madd(sum, pair[1], affine_apply(&skin->world[(int)pair[0]], x));
    }
    return sum;
}

void gltf_pose(gltf_body* b, double time, vec3* out)
{
    gltf_nodes_pose(b, time);
    for (int k = 0; k < b->part_count; k++)
    {
        const gltf_part* part = &b->part[k];
        const double* row = part->row;
        for (int v = 0; v < part->vertex_count; v++, row += part->row_width)
        {
            vec3 x = morphed(part, row);
            *out++ =
                part->skin >= 0 ? skinned(part, &b->skin[part->skin], row, x) : affine_apply(&b->world[part->node], x);
        }
    }
}

void gltf_pose_loop(gltf_body* b, double time, double gap, vec3* out)
{
    gltf_pose(b, fmin(time, b->end), out);
    if (time > b->end && gap > 0.0)
    {
        double s = fmin((time - b->end) / gap, 1.0);
        gltf_pose(b, b->begin, b->other);
        for (int v = 0; v < b->vertex_count; v++)
        {
            out[v] = v3_add(v3_scale(1.0 - s, out[v]), v3_scale(s, b->other[v]));
        }
    }
}
