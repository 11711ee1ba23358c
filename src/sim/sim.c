// The public simulation: create, step, look.
#include <string.h>
#include <unistd.h>

#include "sim/cluster.h"
#include "sim/edits.h"
#include "sim/join.h"
#include "sim/step_parts.h"
#include "sim/tear.h"
#include "solve/sa/sa.h"

enum
{
    SIM_COOKIE = 0x57454654 // "WEFT"
};

weft_sim_def weft_sim_def_default(void)
{
    weft_sim_def def = {
        .gravity = {0, -9.81, 0},
        .time_step = 0.002,
        .method = method_table[0].method->name,
        .solver = "auto",
        .tolerance = 1e-4,
        .sa = sa_default(),
        .max_halvings = HALVINGS_MAX,
        .max_stretch = 1.25,
        .air = {.drag = 1.0, .friction = 0.02, .gust_period = 1.0, .gust_length = 1.0},
        .contact = 1,
        .friction = 0.3,
        .static_friction = -1.0,
        .particle_stiffness = -1.0,
        .particle_damping = -1.0,
        .worker_count = 1,
        .kernels = "auto",
        .cookie = SIM_COOKIE,
    };
    sim_settings_default(&def);
    return def;
}

const char* air_check(const weft_air* a)
{
    bool good = isfinite(a->density) && a->density >= 0 && isfinite(a->drag) && a->drag >= 0 && isfinite(a->friction) &&
                a->friction >= 0 && v3_is_finite(a->wind) && isfinite(a->gust) && a->gust_period > 0 &&
                a->gust_length > 0 && isfinite(a->slip) && a->slip >= 0;
    return good ? NULL : "air: numbers are finite and not negative, gust_period and gust_length above zero";
}

static weft_status check_def(const weft_sim_def* def, weft_error* error)
{
    const char* wrong = NULL;
    wrong = !(def->time_step > 0.0) || !isfinite(def->time_step) ? "time_step is in seconds and above zero" : wrong;
    wrong = !v3_is_finite(def->gravity) ? "gravity is finite" : wrong;
    wrong = !(def->tolerance > 0.0 && def->tolerance < 1.0) ? "tolerance lies between 0 and 1" : wrong;
    wrong = def->max_iterations < 0 ? "max_iterations is not negative" : wrong;
    wrong = def->max_halvings < 0 || def->max_halvings > HALVINGS_MAX ? "max_halvings lies between 0 and 10" : wrong;
    wrong = !(def->max_stretch > 1.0) ? "max_stretch is a factor above 1" : wrong;
    wrong = !(def->max_strain >= 0.0) ? "max_strain is not negative" : wrong;
    friction unsaid;
    wrong = !friction_take(def->friction, def->static_friction, &unsaid) || def->friction < 0.0 ? FRICTION_WRONG
                " nor negative"
                                                                                                : wrong;
    wrong = !(def->particle_distance >= 0.0 && def->particle_distance <= 1.0)
                ? "particle_distance is a share of the spacing, 0 to 1"
                : wrong;
    wrong = !isfinite(def->particle_stiffness) || !isfinite(def->particle_damping)
                ? "particle_stiffness and particle_damping are finite"
                : wrong;
    wrong = air_check(&def->air) ? air_check(&def->air) : wrong;
    TRY(wrong ? error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s", wrong) : sim_settings_check(def, error));
    return sa_check(&def->sa, error);
}

static int core_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (int)n;
}

static weft_status sim_init(weft_sim* sim, const weft_sim_def* def, weft_error* error)
{
    TRY(check_def(def, error));
    sim->def = *def;
    TRY(time_method_find(def->method, &sim->method, error));
    const linear_solver* solver;
    TRY(linear_solver_find(def->solver, &solver, error));
    TRY(solver_settings_check(solver, def->preconditioner, def->solver_variant, error));
    if (!cpu_kind_parse(def->kernels, &sim->cpu))
    {
        return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                         "kernels `%s` are unknown or not for this CPU, which runs up to `%s`; use \"auto\"",
                         def->kernels, cpu_kind_name(cpu_best()));
    }
    sim->solver_name = mem_strdup(def->solver);
    sim->preconditioner = def->preconditioner ? mem_strdup(def->preconditioner) : NULL;
    sim->solver_variant = def->solver_variant ? mem_strdup(def->solver_variant) : NULL;
    if (!sim->solver_name || (def->preconditioner && !sim->preconditioner) ||
        (def->solver_variant && !sim->solver_variant))
    {
        return WEFT_NO_MEMORY;
    }
    return workers_create(def->worker_count > 0 ? def->worker_count : core_count(), &def->tasks, &sim->pool);
}

weft_status weft_sim_create(const weft_sim_def* def, weft_sim** out, weft_error* error)
{
    WEFT_ASSERT(def && out && def->cookie == SIM_COOKIE);
    *out = NULL;
    weft_sim* sim = MEM_NEW(1, weft_sim);
    weft_status status = sim ? sim_init(sim, def, error) : WEFT_NO_MEMORY;
    if (status == WEFT_NO_MEMORY)
    {
        error_set(error, status, NULL, 0, "%s", weft_status_text(status));
    }
    if (status != WEFT_OK)
    {
        weft_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return WEFT_OK;
}

void sim_model_finish(model* m)
{
    element_groups_finish(&m->groups);
    assembler_finish(&m->assembler);
    pin_set_finish(&m->pins);
    tie_set_finish(&m->ties);
    mem_free(m->mass);
    mem_free(m->loose);
    mem_free(m->rigid);
    mem_free(m->external);
    mem_free(m->rest);
    mem_free(m->triangle);
    mem_free(m->triangle_rest);
    mem_free(m->triangle_limit);
    *m = (model){0};
}

void sim_unbuild(weft_sim* sim)
{
    routes_drop(sim);
    world_finish(&sim->world);
    sim_model_finish(&sim->model);
    for (int k = 0; k < sim->body_count; k++)
    {
        mem_free(sim->bodies[k].scene_vertex);
        mem_free(sim->bodies[k].user_vertex);
        sim->bodies[k].scene_vertex = sim->bodies[k].user_vertex = NULL;
    }
    sim->built = false;
}

void weft_sim_destroy(weft_sim* sim)
{
    if (!sim)
    {
        return;
    }
    clusters_finish(&sim->clusters);
    tear_scratch_finish(&sim->tearing);
    mem_free(sim->mends.size);
    sim_unbuild(sim);
    for (int k = 0; k < sim->body_count; k++)
    {
        body_finish(&sim->bodies[k]);
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        obstacle_finish(&sim->obstacles[k]);
    }
    exclusions_cut(sim, 0);
    for (int k = 0; k < sim->edits.pin_count; k++)
    {
        edited_pin_finish(&sim->edits.pins[k]);
    }
    mem_free(sim->edits.pins);
    mem_free(sim->bodies);
    mem_free(sim->squeezed);
    mem_free(sim->obstacles);
    mem_free(sim->exclusions);
    mem_free(sim->seams);
    mem_free(sim->seam_points);
    mem_free(sim->solver_name);
    mem_free(sim->preconditioner);
    mem_free(sim->solver_variant);
    workers_destroy(sim->pool);
    mem_free(sim);
}

static weft_status step_error(const weft_sim* sim, weft_status status, weft_error* error)
{
    long long step = (long long)sim->world.state.step_count + 1;
    const contact* c = sim->world.contact;
    if (c && c->error.status == status && error)
    {
        *error = c->error;
        return status;
    }
    if (status == WEFT_UNSUPPORTED)
    {
        return error_set(error, status, NULL, 0, "the solver `%s` has no preconditioner `%s`; see the scene reference",
                         sim->solver_name, sim->preconditioner ? sim->preconditioner : "");
    }
    if (status == WEFT_CANCELLED)
    {
        return error_set(error, status, NULL, 0, "step %lld: stopped on request", step);
    }
    const body* b = NULL;
    int vertex = -1;
    if (sim->world.bad_vertex >= 0)
    {
        sim_locate(sim, sim->world.bad_vertex, &b, &vertex);
    }
    const char* what = status == WEFT_NOT_FINITE ? "is not finite" : "moves fastest";
    if (b && status != WEFT_NO_MEMORY)
    {
        const time_method* other = sim->world.fallback.method;
        return error_set(
            error, status, NULL, 0, "step %lld: %s; vertex %d of cloth `%s` %s; try a smaller time_step%s%s", step,
            weft_status_text(status), vertex, b->name, what, other ? ", or the method " : "", other ? other->name : "");
    }
    return error_set(error, status, NULL, 0, "step %lld: %s", step, weft_status_text(status));
}

// The vertices of squeezed pairs as the user counts them; the body is one of the simulation or cluster.
static int user_vertex(const weft_sim* sim, int vertex, int* body)
{
    int n = sim->model.vertex_count;
    if (vertex >= n)
    {
        *body = sim->world.contact->body[vertex];
        return vertex - n - sim->obstacles[*body - sim->body_count].first;
    }
    const struct body* b;
    int found;
    sim_locate(sim, vertex, &b, &found);
    *body = (int)(b - sim->bodies);
    return found;
}

static weft_squeezed user_pair(const weft_sim* sim, const weft_sim* from, const int* member, const squeezed_pair* pair)
{
    weft_squeezed to;
    for (int a = 0; a < 5; a++)
    {
        int *place = a < 2 ? &to.edge[a] : &to.face[a - 2], body;
        *place = user_vertex(from, a < 2 ? pair->edge[a] : pair->face[a - 2], &body);
        bool cloth = body < from->body_count;
        to.body[a >= 2] = !cloth ? sim->body_count + body - from->body_count : member ? member[body] : body;
    }
    return to;
}

// By an earlier part of the step.
static bool is_listed(const weft_sim* sim, int earlier, const weft_squeezed* pair)
{
    bool found = false;
    for (int k = 0; k < earlier; k++)
    {
        found = found || memcmp(&sim->squeezed[k], pair, sizeof(*pair)) == 0;
    }
    return found;
}

// Pairs of the simulation, or of a cluster of which these are the members, behind those that are listed: of the start,
// or what is squeezed. The first `earlier` are from before.
static weft_status list_squeezed(weft_sim* sim, const weft_sim* from, const int* member, bool start, int earlier,
                                 int* listed)
{
    const contact* c = from->world.contact;
    int count = c ? c->squeezed_count + c->passed_count : 0;
    if (!mem_grow((void**)&sim->squeezed, &sim->squeezed_capacity, *listed + count, sizeof(weft_squeezed)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < count; k++)
    {
        const squeezed_pair* pair = k < c->squeezed_count ? &c->squeezed[k] : &c->passed[k - c->squeezed_count];
        if ((pair->start != 0) == start)
        {
            weft_squeezed to = user_pair(sim, from, member, pair);
            sim->squeezed[*listed] = to;
            *listed += !is_listed(sim, earlier, &to);
        }
    }
    return WEFT_OK;
}

// Behind those of earlier parts of the step.
static weft_status tell_squeezed(weft_sim* sim, weft_step_stats* stats)
{
    const int earlier = stats->squeezed;
    int count = earlier;
    for (int start = 0; start < 2; start++)
    {
        if (sim->clusters.count == 0)
        {
            TRY(list_squeezed(sim, sim, NULL, start == 1, earlier, &count));
        }
        for (int k = 0; k < sim->clusters.count; k++)
        {
            const cluster* c = sim->clusters.list[k];
            TRY(list_squeezed(sim, &c->sim, c->member, start == 1, earlier, &count));
        }
        stats->squeezed = start == 0 ? count : stats->squeezed;
    }
    stats->unsettled = count - stats->squeezed;
    stats->squeezed_pairs = stats->squeezed > 0 ? sim->squeezed : NULL;
    stats->unsettled_pairs = stats->unsettled > 0 ? sim->squeezed + stats->squeezed : NULL;
    return WEFT_OK;
}

static weft_status step(weft_sim* sim, weft_step_stats* stats, weft_error* error)
{
    const weft_sim* failed;
    weft_status status = clusters_step(sim, stats, &failed, error);
    if (status != WEFT_OK)
    {
        return failed ? step_error(failed, status, error) : status;
    }
    if (tell_squeezed(sim, stats) != WEFT_OK)
    {
        sim->clusters.count == 0 ? step_undo(&sim->world) : (void)0;
        clusters_undo(sim);
        return step_error(sim, WEFT_NO_MEMORY, error);
    }
    sim->clusters.count > 0 ? clusters_collect(sim) : (void)0;
    return WEFT_OK;
}

void weft_sim_watch(weft_sim* sim, weft_progress_fn* look, void* user)
{
    WEFT_ASSERT(sim);
    sim->look = look;
    sim->look_user = user;
}

weft_status weft_sim_step(weft_sim* sim, weft_step_stats* stats, weft_error* error)
{
    WEFT_ASSERT(sim);
    TRY(sim_build(sim, error));
    TRY(sim->mends.stale ? generation_next(sim, false, error) : WEFT_OK);
    weft_step_stats unused;
    stats = stats ? stats : &unused;
    *stats = (weft_step_stats){.rate = NAN, .operator_complexity = NAN, .solver = ""};
    double start = timer_now();
    workers_limit(sim->pool, threads_fed(sim->model.vertex_count + sim->obstacle_vertices));
    TRY(sim_lift(sim, error));
    TRY(sim_join_first(sim, error));
    weft_status status = step_parts(sim, step, stats, error);
    status == WEFT_OK ? sim_wear(sim) : (void)0;
    status = status == WEFT_OK ? sim_join(sim, error) : status;
    stats->step = sim->world.state.step_count;
    stats->time = weft_sim_time(sim);
    stats->step_s = timer_now() - start;
    return status;
}

int weft_sim_cloth_count(const weft_sim* sim)
{
    return sim->body_count;
}

static const body* body_at(const weft_sim* sim, weft_cloth_id cloth)
{
    WEFT_ASSERT(sim && cloth >= 0 && cloth < sim->body_count);
    return &sim->bodies[cloth];
}

int weft_sim_vertex_count(const weft_sim* sim, weft_cloth_id cloth)
{
    if (cloth >= 0)
    {
        return body_at(sim, cloth)->rest.vertex_count;
    }
    int sum = 0;
    for (int k = 0; k < sim->body_count; k++)
    {
        sum += sim->bodies[k].rest.vertex_count;
    }
    return sum;
}

int weft_sim_output_count(const weft_sim* sim, weft_cloth_id cloth)
{
    return body_at(sim, cloth)->output_count;
}

void weft_sim_output_vertices(const weft_sim* sim, weft_cloth_id cloth, int* out)
{
    const body* b = body_at(sim, cloth);
    for (int k = 0; k < b->output_count; k++)
    {
        out[k] = b->outputs ? b->outputs[k] : k;
    }
}

static void copy_ints(const int* from, size_t count, int* out)
{
    if (count > 0)
    {
        memcpy(out, from, count * sizeof(int));
    }
}

int weft_sim_triangle_count(const weft_sim* sim, weft_cloth_id cloth)
{
    return body_at(sim, cloth)->rest.triangle_count;
}

void weft_sim_triangles(const weft_sim* sim, weft_cloth_id cloth, int* out)
{
    const mesh* m = &body_at(sim, cloth)->rest;
    copy_ints(m->triangle, 3 * (size_t)m->triangle_count, out);
}

int weft_sim_segment_count(const weft_sim* sim, weft_cloth_id cloth)
{
    return body_at(sim, cloth)->rest.segment_count;
}

void weft_sim_segments(const weft_sim* sim, weft_cloth_id cloth, int* out)
{
    const mesh* m = &body_at(sim, cloth)->rest;
    copy_ints(m->segment, 2 * (size_t)m->segment_count, out);
}

const char* weft_sim_cloth_name(const weft_sim* sim, weft_cloth_id cloth)
{
    return body_at(sim, cloth)->name;
}

const char* weft_sim_cloth_bending(const weft_sim* sim, weft_cloth_id cloth)
{
    return body_at(sim, cloth)->bending;
}

int64_t weft_sim_step_count(const weft_sim* sim)
{
    return sim->world.state.step_count;
}

double weft_sim_time(const weft_sim* sim)
{
    return sim->def.time_step * (double)sim->world.state.step_count;
}

double weft_sim_time_step(const weft_sim* sim)
{
    return sim->def.time_step;
}

const char* weft_sim_kernels(const weft_sim* sim)
{
    return cpu_kind_name(sim->cpu);
}

weft_energy weft_sim_energy(weft_sim* sim)
{
    if (sim_build(sim, NULL) != WEFT_OK)
    {
        return (weft_energy){0};
    }
    return world_energy(&sim->world, sim->world.state.x, sim->world.state.v).energy;
}

// To the user's order; before the world is built the arrays are in that order already.
static void copy_out(const body* b, const vec3* scene, const vec3* start, vec3* out)
{
    for (int k = 0; k < b->output_count; k++)
    {
        int i = b->outputs ? b->outputs[k] : k;
        out[k] = scene ? scene[b->scene_vertex[i]] : start ? start[i] : v3(0, 0, 0);
    }
}

void weft_sim_positions(const weft_sim* sim, weft_cloth_id cloth, weft_vec3* out)
{
    const body* b = body_at(sim, cloth);
    copy_out(b, sim->built ? sim->world.state.x : NULL, b->start, out);
}

void weft_sim_velocities(const weft_sim* sim, weft_cloth_id cloth, weft_vec3* out)
{
    const body* b = body_at(sim, cloth);
    copy_out(b, sim->built ? sim->world.state.v : NULL, b->velocity, out);
}

weft_status weft_sim_borrow(weft_sim* sim, weft_sim_arrays* out, weft_error* error)
{
    WEFT_ASSERT(sim && out);
    TRY(sim_build(sim, error));
    *out = (weft_sim_arrays){sim->world.state.x, sim->world.state.v, sim->world.model->vertex_count};
    return WEFT_OK;
}

void weft_sim_places(const weft_sim* sim, weft_cloth_id cloth, int* out)
{
    const body* b = body_at(sim, cloth);
    WEFT_ASSERT(sim->built);
    copy_ints(b->scene_vertex, (size_t)b->rest.vertex_count, out);
}

weft_status weft_sim_set_state(weft_sim* sim, weft_cloth_id cloth, const weft_vec3* positions,
                               const weft_vec3* velocities)
{
    TRY(sim_build(sim, NULL));
    const body* b = body_at(sim, cloth);
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        if ((positions && !v3_is_finite(positions[i])) || (velocities && !v3_is_finite(velocities[i])))
        {
            return WEFT_NOT_FINITE;
        }
    }
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        int s = b->scene_vertex[i];
        sim->world.state.x[s] = positions ? positions[i] : sim->world.state.x[s];
        sim->world.state.v[s] = velocities ? velocities[i] : sim->world.state.v[s];
    }
    sim->world.state.history_filled = 0;
    if (cloth < sim->clusters.control_count)
    {
        sim->clusters.control[cloth].history_filled = 0;
    }
    return WEFT_OK;
}

weft_status weft_sim_set_step_count(weft_sim* sim, int64_t step_count)
{
    WEFT_ASSERT(sim && step_count >= 0);
    TRY(sim_build(sim, NULL));
    sim->world.state.step_count = step_count;
    sim->world.state.history_filled = 0;
    for (int k = 0; k < sim->clusters.control_count; k++)
    {
        sim->clusters.control[k].history_filled = 0;
    }
    return WEFT_OK;
}

void weft_sim_checkpoint(weft_sim* sim)
{
    if (sim->built)
    {
        clusters_settle(sim);
    }
}
