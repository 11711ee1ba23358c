// Obstacles: taking them in, and where they are at a time.
//
//   x(t) = round(M(t) s(t)),  s(t) = (1 - f) s_k + f s_(k+1),  k + f = (max(t - start, 0) + offset) rate
//
// held after the last sample, or with the first one after it where they loop,
//
// with M the motion along keys, s_k the samples of a deforming body (without any, s is the mesh) and rounding to float.
// x depends on t alone, so a checkpoint needs nothing of it. Samples are read when they are needed; two are kept.
#include <string.h>

#include "sim/sim.h"

// Samples up to this size are all read and checked when the obstacle is added; of more, an even choice of that size.
static const double survey_bytes = 256.0 * 1024.0 * 1024.0;
static const double coordinate_max = 1e12; // m, as for meshes

weft_obstacle_def weft_obstacle_def_default(void)
{
    return (weft_obstacle_def){.friction = -1.0, .static_friction = -1.0, .thickness = 1e-3, .sample_rate = 25.0};
}

void obstacle_finish(obstacle* o)
{
    if (o->release)
    {
        o->release(o->user);
    }
    mesh_finish(&o->mesh);
    motion_finish(&o->motion);
    mem_free(o->name);
    mem_free(o->vertex_thickness);
    mem_free(o->vertex_friction);
    mem_free(o->samples);
    mem_free(o->held[0]);
    mem_free(o->held[1]);
    growth_finish(&o->growth);
    mem_free(o->given);
    *o = (obstacle){0};
}

static weft_status wrong(weft_error* error, const obstacle* o, const char* what)
{
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "obstacle `%s`: %s", o->name, what);
}

// ---- where it is

bool obstacle_is_still(const obstacle* o)
{
    return o->motion.key_count == 0 && o->sample_count == 0;
}

// Beyond, floats would overflow.
static bool is_within_reach(vec3 v)
{
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z))) <= coordinate_max;
}

static weft_status check_sample(const obstacle* o, int sample, const vec3* x, weft_error* error)
{
    for (int v = 0; v < o->mesh.vertex_count; v++)
    {
        if (!v3_is_finite(x[v]) || !is_within_reach(x[v]))
        {
            return error_set(
                error, WEFT_BAD_INPUT, NULL, 0,
                "obstacle `%s`: sample %d (counted from 0) puts vertex %d at (%g, %g, %g); coordinates must be "
                "finite and below %g m",
                o->name, sample, v, x[v].x, x[v].y, x[v].z, coordinate_max);
        }
    }
    return WEFT_OK;
}

weft_status obstacle_sample(obstacle* o, int sample, vec3* out, weft_error* error)
{
    int n = o->mesh.vertex_count;
    if (o->samples)
    {
        const float* x = o->samples + 3 * (size_t)n * (size_t)sample;
        for (int v = 0; v < n; v++, x += 3)
        {
            out[v] = v3(x[0], x[1], x[2]);
        }
        return WEFT_OK;
    }
    TRY(o->read_sample(o->user, sample, out, error));
    for (int v = 0; v < n; v++)
    {
        out[v] = v3_round(out[v]);
    }
    return check_sample(o, sample, out, error);
}

// The slot that holds a sample, reading it into the one that `keep` does not name when none does.
static weft_status hold_sample(obstacle* o, int sample, int keep, int* out, weft_error* error)
{
    for (int k = 0; k < 2; k++)
    {
        if (o->held_sample[k] == sample)
        {
            *out = k;
            return WEFT_OK;
        }
    }
    // Time goes forwards: the older of the two is the one to lose.
    int slot = keep >= 0 ? 1 - keep : o->held_sample[0] <= o->held_sample[1] ? 0 : 1;
    o->held_sample[slot] = -1;
    TRY(obstacle_sample(o, sample, o->held[slot], error));
    o->held_sample[slot] = sample;
    *out = slot;
    return WEFT_OK;
}

static weft_status deformed(obstacle* o, double time, vec3* out, weft_error* error)
{
    double at = (fmax(time - o->sample_start, 0.0) + o->sample_offset) * o->sample_rate;
    at = o->sample_loop ? fmod(at, o->sample_count) : fmin(at, o->sample_count - 1.0);
    int k = (int)at, n = o->mesh.vertex_count, slot, next;
    double f = at - k;
    TRY(hold_sample(o, k, -1, &slot, error));
    if (f == 0.0)
    {
        memcpy(out, o->held[slot], (size_t)n * sizeof(vec3));
        return WEFT_OK;
    }
    TRY(hold_sample(o, (k + 1) % o->sample_count, slot, &next, error));
    const vec3 *a = o->held[slot], *b = o->held[next];
    for (int v = 0; v < n; v++)
    {
        out[v] = v3_add(v3_scale(1.0 - f, a[v]), v3_scale(f, b[v]));
    }
    return WEFT_OK;
}

weft_status obstacle_positions(obstacle* o, double time, vec3* out, weft_error* error)
{
    int n = o->mesh.vertex_count;
    if (o->sample_count > 0)
    {
        TRY(deformed(o, time, out, error));
    }
    else if (n > 0) // none: removed
    {
        memcpy(out, o->mesh.position, (size_t)n * sizeof(vec3));
    }
    placement p = motion_at(&o->motion, time);
    for (int v = 0; v < n && o->motion.key_count > 0; v++)
    {
        out[v] = placement_apply(&p, out[v]);
    }
    for (int v = 0; v < n && !obstacle_is_still(o); v++)
    {
        out[v] = v3_round(out[v]);
    }
    return WEFT_OK;
}

weft_status obstacles_at(weft_sim* sim, double time, vec3* out, weft_error* error)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        TRY(obstacle_positions(&sim->obstacles[k], time, out + sim->obstacles[k].first, error));
    }
    return WEFT_OK;
}

// ---- taking one in

// What only files show.
static weft_status take_files(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    mesh* m = &o->mesh;
    if (def->outputs && def->output_count > 0)
    {
        m->weld = MEM_NEW(def->output_count, int);
        if (!m->weld)
        {
            return WEFT_NO_MEMORY;
        }
        m->given_count = def->output_count;
        for (int k = 0; k < m->given_count; k++)
        {
            m->weld[k] = def->outputs[k];
            if (m->weld[k] < 0 || m->weld[k] >= m->vertex_count || m->weld[k] > k)
            {
                return wrong(error, o, "each output shows the vertex of its number or a lower one");
            }
        }
        if (m->given_count < m->vertex_count)
        {
            return wrong(error, o, "there are fewer outputs than vertices");
        }
    }
    weft_error reason = {0};
    weft_status status = mesh_take_labels(m, &def->labels, NULL, m->given_count, &reason);
    return status == WEFT_BAD_INPUT ? wrong(error, o, reason.message) : status;
}

static weft_status take_mesh(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    TRY(mesh_from_arrays(def->positions, def->vertex_count, def->face_start, def->face_vertices, def->face_count,
                         &o->mesh, error));
    mesh_round(&o->mesh);
    TRY(mesh_split(&o->mesh, error));
    return take_files(def, o, error);
}

static weft_status check_reach(const weft_obstacle_def* def, const obstacle* o, weft_error* error)
{
    bool good = is_within_reach(def->center);
    for (int k = 0; k < def->key_count; k++)
    {
        good = good && is_within_reach(def->keys[k].offset);
    }
    return good ? WEFT_OK : wrong(error, o, "offsets and center of its motion must be below 1e12 m");
}

static weft_status take_numbers(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    if (!friction_take(def->friction, def->static_friction, &o->friction) || !isfinite(def->thickness) ||
        def->thickness <= 0.0)
    {
        return wrong(error, o, FRICTION_WRONG "; thickness (m) is finite and above zero");
    }
    const char* mistake = motion_check(def->keys, def->key_count, def->axis, def->center);
    if (mistake)
    {
        return wrong(error, o, mistake);
    }
    TRY(check_reach(def, o, error));
    o->thickness = def->thickness;
    return motion_init(&o->motion, def->keys, def->key_count, def->axis, def->center);
}

// What differs from vertex to vertex.
static weft_status take_maps(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    int n = o->mesh.vertex_count;
    o->vertex_thickness = def->vertex_thickness ? MEM_NEW(n, double) : NULL;
    o->vertex_friction = def->vertex_friction ? MEM_NEW(n, friction) : NULL;
    if ((def->vertex_thickness && !o->vertex_thickness) || (def->vertex_friction && !o->vertex_friction))
    {
        return WEFT_NO_MEMORY;
    }
    for (int v = 0; v < n && o->vertex_thickness; v++)
    {
        o->vertex_thickness[v] = def->vertex_thickness[v];
        if (!isfinite(def->vertex_thickness[v]) || def->vertex_thickness[v] <= 0.0)
        {
            return wrong(error, o, "vertex_thickness (m) is finite and above zero");
        }
    }
    for (int v = 0; v < n && o->vertex_friction; v++)
    {
        double rest = def->vertex_static_friction ? def->vertex_static_friction[v] : -1.0;
        if (!friction_take(def->vertex_friction[v], rest, &o->vertex_friction[v]))
        {
            return wrong(error, o, FRICTION_WRONG);
        }
    }
    return WEFT_OK;
}

static weft_status copy_samples(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    size_t n = (size_t)o->mesh.vertex_count;
    o->samples = mem_raw(3 * n * (size_t)def->sample_count, sizeof(float));
    if (!o->samples)
    {
        return WEFT_NO_MEMORY;
    }
    float* to = o->samples;
    for (int k = 0; k < def->sample_count; k++)
    {
        const vec3* from = def->samples + n * (size_t)k;
        TRY(check_sample(o, k, from, error));
        for (size_t v = 0; v < n; v++, to += 3)
        {
            to[0] = (float)from[v].x;
            to[1] = (float)from[v].y;
            to[2] = (float)from[v].z;
        }
    }
    return WEFT_OK;
}

// Reads all samples once, or evenly spread ones with the first and the last: what is wrong shows before the run starts,
// and another file of the same length gives another fingerprint.
static weft_status survey_samples(obstacle* o, weft_error* error)
{
    double fit = fmax(2.0, floor(survey_bytes / (3.0 * sizeof(float) * o->mesh.vertex_count)));
    int count = (int)fmin(fit, o->sample_count);
    for (int k = 0; k < count; k++)
    {
        int sample = count > 1 ? (int)((int64_t)k * (o->sample_count - 1) / (count - 1)) : 0;
        TRY(obstacle_sample(o, sample, o->held[0], error));
        o->fingerprint = hash_bytes(o->fingerprint, o->held[0], (size_t)o->mesh.vertex_count * sizeof(vec3));
    }
    return WEFT_OK;
}

static weft_status take_samples(const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    if (def->sample_count == 0)
    {
        return WEFT_OK;
    }
    if (!(def->sample_rate > 0.0) || !isfinite(def->sample_rate) || !isfinite(def->sample_start) ||
        !(def->sample_offset >= 0.0) || !isfinite(def->sample_offset))
    {
        return wrong(error, o,
                     "sample_rate (samples a second) is above zero, sample_start (s) is finite, sample_offset (s) from "
                     "zero on");
    }
    o->sample_count = def->sample_count;
    o->sample_rate = def->sample_rate;
    o->sample_start = def->sample_start;
    o->sample_offset = def->sample_offset;
    o->sample_loop = def->sample_loop != 0;
    o->read_sample = def->read_sample;
    o->held[0] = MEM_NEW(o->mesh.vertex_count, vec3);
    o->held[1] = MEM_NEW(o->mesh.vertex_count, vec3);
    o->held_sample[0] = o->held_sample[1] = -1;
    if (!o->held[0] || !o->held[1])
    {
        return WEFT_NO_MEMORY;
    }
    if (def->samples)
    {
        TRY(copy_samples(def, o, error));
    }
    return survey_samples(o, error);
}

static weft_status take_all(const weft_sim* sim, const weft_obstacle_def* def, obstacle* o, weft_error* error)
{
    TRY(name_take(sim, def->name, "obstacle", &o->name, error));
    TRY(take_mesh(def, o, error));
    TRY(take_numbers(def, o, error));
    TRY(take_maps(def, o, error));
    return take_samples(def, o, error);
}

weft_status obstacle_append(weft_sim* sim, const weft_obstacle_def* def, weft_error* error)
{
    obstacle o = {.user = def->user, .release = def->release};
    weft_status status = take_all(sim, def, &o, error);
    if (status == WEFT_OK &&
        !mem_grow((void**)&sim->obstacles, &sim->obstacle_capacity, sim->obstacle_count + 1, sizeof(obstacle)))
    {
        status = WEFT_NO_MEMORY;
    }
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    if (status != WEFT_OK)
    {
        obstacle_finish(&o);
        return status;
    }
    sim->obstacles[sim->obstacle_count++] = o;
    obstacles_number(sim);
    return WEFT_OK;
}

void obstacles_number(weft_sim* sim)
{
    sim->obstacle_vertices = 0;
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        sim->obstacles[k].first = sim->obstacle_vertices;
        sim->obstacle_vertices += sim->obstacles[k].mesh.vertex_count;
    }
}

// ---- looking

int weft_sim_obstacle_count(const weft_sim* sim)
{
    return sim->obstacle_count;
}

static obstacle* obstacle_at(const weft_sim* sim, weft_obstacle_id id)
{
    WEFT_ASSERT(sim && id >= 0 && id < sim->obstacle_count);
    return &sim->obstacles[id];
}

const char* weft_sim_obstacle_name(const weft_sim* sim, weft_obstacle_id id)
{
    return obstacle_at(sim, id)->name;
}

int weft_sim_obstacle_vertex_count(const weft_sim* sim, weft_obstacle_id id)
{
    return obstacle_at(sim, id)->mesh.vertex_count;
}

int weft_sim_obstacle_triangle_count(const weft_sim* sim, weft_obstacle_id id)
{
    return obstacle_at(sim, id)->mesh.triangle_count;
}

void weft_sim_obstacle_triangles(const weft_sim* sim, weft_obstacle_id id, int* out)
{
    const obstacle* o = obstacle_at(sim, id);
    if (o->mesh.triangle_count > 0)
    {
        memcpy(out, o->mesh.triangle, 3 * (size_t)o->mesh.triangle_count * sizeof(int));
    }
}

int weft_sim_obstacle_is_still(const weft_sim* sim, weft_obstacle_id id)
{
    return obstacle_is_still(obstacle_at(sim, id));
}

weft_status weft_sim_obstacle_positions(weft_sim* sim, weft_obstacle_id id, double time, weft_vec3* out,
                                        weft_error* error)
{
    WEFT_ASSERT(out && isfinite(time));
    return obstacle_positions(obstacle_at(sim, id), time, out, error);
}
