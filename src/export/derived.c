// What formats say beside positions: normals, velocities, fields, and the motion of bodies that do not change shape.
//
// Normals of vertices: the sum of the area vectors of their triangles, as a direction. Velocities: (x_(f+1) - x_(f-1))
// / 2 dt over the run's frames, also those that are not exported, so that parts of a run agree; at its ends, and where
// the topology changes, from one side. Rigid: a rotation and a translation of the rest shape, by least squares (Horn
// 1987, "Closed-form solution of absolute orientation using unit quaternions": the eigenvector of the largest
// eigenvalue of a symmetric 4 x 4 matrix), that puts every vertex of every frame of the run to within the rounding of
// floats.
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "weft/render.h"

static const double rigid_tolerance = 1e-6; // of the largest coordinate

// ---- normals

void export_normals(const export_job* job, const weft_cache_body* body, const vec3* x, vec3* out)
{
    memset(out, 0, (size_t)body->vertex_count * sizeof(vec3));
    for (int t = 0; t < body->triangle_count; t++)
    {
        const int* c = body->triangles + 3 * (size_t)t;
        vec3 area = v3_cross(v3_sub(x[c[1]], x[c[0]]), v3_sub(x[c[2]], x[c[0]]));
        for (int k = 0; k < 3; k++)
        {
            out[c[k]] = v3_add(out[c[k]], area);
        }
    }
    vec3 up = job->def->up == 'z' ? v3(0, 0, 1) : v3(0, 1, 0);
    for (int v = body->vertex_count - 1; v >= 0; v--)
    {
        // Of vertices that are one the first has the sum, and a lower number.
        vec3 sum = out[body->same ? body->same[v] : v];
        double length = v3_length(sum);
        out[v] = length > 1e-200 && isfinite(length) ? v3_scale(1.0 / length, sum) : up;
    }
}

// ---- velocities

// Whether a frame of the run has the body in the topology of another.
static bool is_like(const export_job* job, int body, int frame, int other)
{
    int b = job->body[body];
    return other >= 0 && other < weft_cache_frame_count(job->cache) && weft_cache_present(job->cache, b, other) &&
           weft_cache_topology_of(job->cache, b, other) == weft_cache_topology_of(job->cache, b, frame);
}

weft_status export_velocities(export_job* job, int body, int k, vec3* out, weft_error* error)
{
    int frame = export_frame(job, k), b = job->body[body], count = export_topology(job, body, k)->vertex_count;
    int low = is_like(job, body, frame, frame - 1) ? frame - 1 : frame;
    int high = is_like(job, body, frame, frame + 1) ? frame + 1 : frame;
    memset(out, 0, (size_t)count * sizeof(vec3));
    if (low == high || !export_present(job, body, k))
    {
        return WEFT_OK;
    }
    double rate = export_code_rate(job) / (high - low);
    TRY(weft_cache_read_frame(job->cache, b, low, job->scratch, error));
    TRY(weft_cache_read_frame(job->cache, b, high, out, error));
    for (int v = 0; v < count; v++)
    {
        vec3 u = v3_scale(rate, v3_sub(out[v], job->scratch[v]));
        out[v] = v3_is_finite(u) ? export_place(job, u) : v3(0, 0, 0);
    }
    return WEFT_OK;
}

// ---- fields: `stretch` of sheets, then what the run has

static const char stretch_name[] = "stretch";

static bool has_stretch(const export_job* job, int body)
{
    const weft_cache_body* b = export_topology(job, body, 0);
    return !b->obstacle && !b->lines && !b->solid;
}

int export_field_count(const export_job* job, int body)
{
    // A coarser level has no values of its own.
    bool coarse = export_topology(job, body, 0)->triangle_corners == NULL && !export_topology(job, body, 0)->lines;
    return job->def->plain || coarse
               ? 0
               : has_stretch(job, body) + weft_cache_field_count(job->cache, job->body[body]);
}

const char* export_field_name(const export_job* job, int body, int field)
{
    int own = field - has_stretch(job, body);
    return own < 0 ? stretch_name : weft_cache_field_at(job->cache, job->body[body], own)->name;
}

const char* export_field_word(const export_job* job, int body, int field, char word[FIELD_NAME])
{
    snprintf(word, FIELD_NAME, "%s", export_field_name(job, body, field));
    for (char* c = word; *c; c++)
    {
        bool good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9' && c > word);
        *c = good ? *c : '_';
    }
    return word;
}

weft_status export_field(export_job* job, int body, int k, int field, const vec3* positions, double* out,
                         weft_error* error)
{
    const weft_cache_body* shape = export_topology(job, body, k);
    int own = field - has_stretch(job, body);
    if (own >= 0)
    {
        // Floats in the room of doubles: widened from the last on.
        float* narrow = (float*)out;
        TRY(weft_cache_read_field(job->cache, job->body[body], own, export_frame(job, k), narrow, error));
        for (int v = shape->vertex_count - 1; v >= 0; v--)
        {
            float value = narrow[v];
            memcpy(&out[v], &(double){(double)value}, sizeof(double));
        }
    }
    else
    {
        for (int v = 0; v < shape->vertex_count; v++)
        {
            job->scratch[v] = export_place(job, shape->rest[v]);
        }
        TRY(weft_render_strain(job->scratch, positions, shape->vertex_count, shape->triangles, shape->triangle_count,
                               out));
    }
    for (int v = 0; v < shape->vertex_count; v++)
    {
        int first = own < 0 && shape->same ? shape->same[v] : v;
        out[v] = isfinite(out[first]) ? out[first] : 0.0;
    }
    return WEFT_OK;
}

// ---- colours

void export_color(const export_job* job, int body, float out[3])
{
    weft_render_mesh mesh = weft_render_mesh_default();
    bool obstacle = weft_cache_body_at(job->cache, job->body[body])->obstacle != 0;
    int index = 0;
    for (int b = 0; b < job->body[body]; b++)
    {
        index += (weft_cache_body_at(job->cache, b)->obstacle != 0) == obstacle;
    }
    mesh.role = obstacle ? WEFT_MESH_OBSTACLE : WEFT_MESH_CLOTH;
    weft_render_mesh_palette(&mesh, index);
    memcpy(out, &mesh.front, 3 * sizeof(float));
}

// ---- rigid bodies

// The eigenvector of the largest eigenvalue, by Jacobi's rotations.
static void largest_eigenvector(double m[4][4], double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 40; sweep++)
    {
        for (int p = 0; p < 3; p++)
        {
            for (int q = p + 1; q < 4; q++)
            {
                if (m[p][q] == 0.0)
                {
                    continue;
                }
                double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 4; k++)
                {
                    double a = m[k][p], b = m[k][q];
                    m[k][p] = c * a - s * b, m[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 4; k++)
                {
                    double a = m[p][k], b = m[q][k];
                    m[p][k] = c * a - s * b, m[q][k] = s * a + c * b;
                    a = v[k][p], b = v[k][q];
                    v[k][p] = c * a - s * b, v[k][q] = s * a + c * b;
                }
            }
        }
    }
    int best = 0;
    for (int k = 1; k < 4; k++)
    {
        best = m[k][k] > m[best][best] ? k : best;
    }
    for (int k = 0; k < 4; k++)
    {
        out[k] = v[k][best];
    }
}

vec3 export_pose_apply(const export_pose* pose, vec3 x)
{
    vec3 u = v3(pose->q[1], pose->q[2], pose->q[3]);
    vec3 across = v3_scale(2.0, v3_cross(u, x));
    return v3_add(v3_add(x, pose->t), v3_add(v3_scale(pose->q[0], across), v3_cross(u, across)));
}

static vec3 middle_of(const vec3* x, int count)
{
    vec3 sum = {0};
    for (int v = 0; v < count; v++)
    {
        sum = v3_add(sum, x[v]);
    }
    return v3_scale(1.0 / count, sum);
}

static export_pose pose_fit(const vec3* rest, const vec3* x, int count)
{
    vec3 from = middle_of(rest, count), to = middle_of(x, count);
    double s[3][3] = {{0}};
    for (int v = 0; v < count; v++)
    {
        vec3 a = v3_sub(rest[v], from), b = v3_sub(x[v], to);
        const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
        for (int k = 0; k < 9; k++)
        {
            s[k / 3][k % 3] += p[k / 3] * q[k % 3];
        }
    }
    double n[4][4] = {
        {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
        {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
        {s[2][0] - s[0][2], s[0][1] + s[1][0], -s[0][0] + s[1][1] - s[2][2], s[1][2] + s[2][1]},
        {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], -s[0][0] - s[1][1] + s[2][2]}};
    export_pose pose = {.q = {1.0, 0.0, 0.0, 0.0}};
    largest_eigenvector(n, pose.q);
    pose.t = v3_sub(to, export_pose_apply(&pose, from));
    return pose;
}

static bool pose_holds(const export_pose* pose, const vec3* rest, const vec3* x, int count)
{
    double most = 0.0, apart = 0.0;
    for (int v = 0; v < count; v++)
    {
        vec3 d = v3_sub(export_pose_apply(pose, rest[v]), x[v]);
        apart = fmax(apart, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
        most = fmax(most, fmax(fmax(fabs(x[v].x), fabs(rest[v].x)),
                               fmax(fmax(fabs(x[v].y), fabs(rest[v].y)), fmax(fabs(x[v].z), fabs(rest[v].z)))));
    }
    return apart <= rigid_tolerance * most;
}

// Of both signs the one that is near to the last: between frames quaternions run straight.
static void pose_follow(export_pose* pose, const export_pose* before)
{
    double same = 0.0;
    for (int k = 0; k < 4; k++)
    {
        same += pose->q[k] * before->q[k];
    }
    for (int k = 0; k < 4 && same < 0.0; k++)
    {
        pose->q[k] = -pose->q[k];
    }
}

// All frames of the run are looked at, so that parts of it are like the whole. False: it changes its shape, or *status.
static bool find_poses(export_job* job, int body, const vec3* rest, export_pose* poses, weft_status* status,
                       weft_error* error)
{
    int b = job->body[body], count = export_last_topology(job, body)->vertex_count;
    export_pose before = {.q = {1.0, 0.0, 0.0, 0.0}};
    for (int frame = 0, k = 0; frame < weft_cache_frame_count(job->cache); frame++)
    {
        *status = job->cancelled ? error_set(error, WEFT_CANCELLED, NULL, 0, "stopped on request; nothing was written")
                                 : weft_cache_read_frame(job->cache, b, frame, job->positions, error);
        bool finite = *status == WEFT_OK;
        for (int v = 0; v < count && finite; v++)
        {
            job->positions[v] = export_place(job, job->positions[v]);
            finite = v3_is_finite(job->positions[v]);
        }
        export_pose pose = finite ? pose_fit(rest, job->positions, count) : before;
        if (!finite || !pose_holds(&pose, rest, job->positions, count))
        {
            return false;
        }
        pose_follow(&pose, &before);
        before = pose;
        if (k < job->frame_count && export_frame(job, k) == frame)
        {
            poses[k++] = pose;
        }
    }
    return true;
}

weft_status export_rigid(export_job* job, int body, export_pose** out, weft_error* error)
{
    const weft_cache_body* shape = export_last_topology(job, body);
    *out = NULL;
    if (!shape->obstacle || shape->lines || shape->vertex_count == 0 || export_is_still(job, body) ||
        weft_cache_topology_count(job->cache, job->body[body]) > 1)
    {
        return WEFT_OK;
    }
    export_pose* poses = MEM_NEW(job->frame_count, export_pose);
    vec3* rest = MEM_NEW(shape->vertex_count, vec3);
    weft_status status = poses && rest ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to export");
    for (int v = 0; v < shape->vertex_count && status == WEFT_OK; v++)
    {
        rest[v] = export_place(job, shape->rest[v]);
    }
    if (status == WEFT_OK && find_poses(job, body, rest, poses, &status, error))
    {
        *out = poses;
        poses = NULL;
    }
    mem_free(poses);
    mem_free(rest);
    return status;
}
