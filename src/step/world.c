// Scratch of a world, and what methods share: assembly, constraints, solve, energies.
#include <string.h>

#include "step/step.h"

enum
{
    VECTOR_COUNT = 7
};

static void vectors_of(world* w, vec3** out[VECTOR_COUNT])
{
    vec3** all[VECTOR_COUNT] = {&w->rhs, &w->rhs_start, &w->z, &w->dv, &w->x_next, &w->v_next, &w->expected};
    memcpy(out, all, sizeof(all));
}

weft_status world_create(world* w, const model* m)
{
    w->model = m;
    size_t n = (size_t)m->vertex_count;
    vec3** vectors[VECTOR_COUNT];
    vectors_of(w, vectors);
    bool ok = state_create(&w->saved, m->vertex_count) == WEFT_OK;
    for (int k = 0; k < VECTOR_COUNT; k++)
    {
        *vectors[k] = MEM_NEW(n, vec3);
        ok = ok && *vectors[k];
    }
    w->values = MEM_NEW(9 * (size_t)m->assembler.pattern.block_count, double);
    w->filter = MEM_NEW(m->vertex_count + 1, filter_record);
    w->pins = MEM_NEW(m->vertex_count + 1, filter_record);
    w->held = MEM_NEW(m->vertex_count + 1, int);
    ok = ok && w->held && binding_create(&w->binding, &m->ties, m->vertex_count) == WEFT_OK;
    int chunks = 1;
    for (int g = 0; g < m->groups.count; g++)
    {
        chunks = int_max(chunks, element_energy_chunks(&m->groups.list[g]));
    }
    w->partial = MEM_NEW(chunks, energy_sums);
    ok = ok && strain_limit_create(w) == WEFT_OK;
    w->pattern_version = 1;
    w->bad_vertex = -1;
    return ok && w->values && w->filter && w->pins && w->partial ? WEFT_OK : WEFT_NO_MEMORY;
}

void world_finish(world* w)
{
    vec3** vectors[VECTOR_COUNT];
    vectors_of(w, vectors);
    for (int k = 0; k < VECTOR_COUNT; k++)
    {
        mem_free(*vectors[k]);
        *vectors[k] = NULL;
    }
    for (int g = 0; w->flags && g < w->model->groups.count; g++)
    {
        mem_free(w->flags[g]);
    }
    mem_free(w->flags);
    mem_free(w->values);
    mem_free(w->filter);
    mem_free(w->pins);
    mem_free(w->held);
    mem_free(w->followed);
    mem_free(w->yielding);
    mem_free(w->followed_before);
    mem_free(w->grips);
    mem_free(w->grip_pull);
    binding_finish(&w->binding);
    strain_limit_finish(&w->limit);
    mem_free(w->partial);
    method_object_finish(&w->method);
    method_object_finish(&w->fallback);
    state_finish(&w->state);
    state_finish(&w->saved);
    solver_object_finish(&w->solver);
    if (w->contact)
    {
        contact_finish(w->contact);
        mem_free(w->contact);
    }
    *w = (world){0};
}

double time_at(const world* w, int ticks)
{
    return w->settings.time_step * ((double)w->state.step_count + (double)ticks / STEP_TICKS);
}

weft_status world_flags_create(world* w)
{
    const element_groups* groups = &w->model->groups;
    w->flags = w->flags ? w->flags : MEM_NEW(groups->count + 1, uint8_t*);
    bool ok = w->flags != NULL;
    for (int g = 0; ok && g < groups->count; g++)
    {
        w->flags[g] = w->flags[g] ? w->flags[g] : MEM_NEW(groups->list[g].count, uint8_t);
        ok = w->flags[g] != NULL;
    }
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

static const uint8_t* flags_of(const world* w, int group)
{
    return w->flags ? w->flags[group] : NULL;
}

// Evaluators of all groups, for elements whose flags under the mask are as wanted.
static void evaluators_of(const world* w, const element_motion* motion, uint8_t mask, uint8_t wanted,
                          element_context* contexts, element_evaluator* out)
{
    const element_groups* groups = &w->model->groups;
    for (int g = 0; g < groups->count; g++)
    {
        const element_group* group = &groups->list[g];
        const element_kernels* kernels = element_kernels_for(group->kind, w->cpu);
        contexts[g] = (element_context){group, motion};
        if (group->kind->prepare)
        {
            group->kind->prepare(group, motion, w->pool);
        }
        out[g] = (element_evaluator){.evaluate = kernels->evaluate,
                                     .force = kernels->force,
                                     .context = &contexts[g],
                                     .choice = {flags_of(w, g), mask, wanted},
                                     .shape = group->kind->shape};
    }
}

static bool is_any(const element_kind* kind)
{
    (void)kind;
    return true;
}

// The mesh's part.
static void assemble_mesh(world* w, const element_motion* motion, kind_choice* wanted, const vec3* rhs_start)
{
    const model* m = w->model;
    element_context contexts[GROUP_MAX];
    element_evaluator evaluators[GROUP_MAX];
    evaluators_of(w, motion, ELEMENT_INACTIVE | ELEMENT_EXPLICIT, ELEMENT_IMPLICIT, contexts, evaluators);
    for (int g = 0; g < m->groups.count; g++)
    {
        evaluators[g].evaluate = wanted(m->groups.list[g].kind) ? evaluators[g].evaluate : NULL;
    }
    assembly_target target = {w->values, w->rhs, m->mass, rhs_start};
    assembler_run(&m->assembler, evaluators, w->pool, w->cpu, &target);
    grips_assemble(w, motion);
    w->at = motion->x;
    w->A = (bsr_matrix){&m->assembler.pattern, w->values};
}

weft_status world_assemble_of(world* w, const element_motion* motion, kind_choice* wanted, const vec3* rhs_start)
{
    assemble_mesh(w, motion, wanted, rhs_start);
    return w->contact ? cushions_couple(w->contact, &w->A, w->pool) : WEFT_OK;
}

weft_status world_assemble(world* w, const element_motion* motion, const vec3* rhs_start)
{
    return world_assemble_of(w, motion, is_any, rhs_start);
}

// A is M + h D + h^2 K in every kind: of two lengths h and 2 h, D alone is what 4 A(h) - A(2 h) leaves of both.
weft_status world_assemble_damping(world* w, const element_motion* motion, const vec3* rhs_start, double* scratch)
{
    const model* m = w->model;
    const bsr_pattern* pattern = &m->assembler.pattern;
    size_t count = 9 * (size_t)pattern->block_count;
    element_motion twice = *motion;
    twice.h = 2.0 * motion->h;
    assemble_mesh(w, &twice, is_any, rhs_start);
    memcpy(scratch, w->values, count * sizeof(double));
    assemble_mesh(w, motion, is_any, rhs_start);
    for (size_t k = 0; k < count; k++)
    {
        w->values[k] = 0.5 * (4.0 * w->values[k] - scratch[k]);
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        double* diagonal = w->values + 9 * (size_t)pattern->diagonal[i];
        for (int axis = 0; axis < 3; axis++)
        {
            diagonal[4 * axis] -= 0.5 * m->mass[i];
        }
    }
    return w->contact ? cushions_couple(w->contact, &w->A, w->pool) : WEFT_OK;
}

void world_forces(world* w, const element_motion* motion, uint8_t mask, uint8_t wanted, const vec3* start, vec3* out)
{
    element_context contexts[GROUP_MAX];
    element_evaluator evaluators[GROUP_MAX];
    evaluators_of(w, motion, mask, wanted, contexts, evaluators);
    assembler_gather(&w->model->assembler, evaluators, w->pool, start, out);
    if (wanted == ELEMENT_IMPLICIT)
    {
        grips_push(w, motion, 1.0, 0.0, out);
    }
}

void world_forces_of(world* w, const element_motion* motion, kind_choice* wanted, const vec3* start, vec3* out)
{
    element_context contexts[GROUP_MAX];
    element_evaluator evaluators[GROUP_MAX];
    evaluators_of(w, motion, ELEMENT_INACTIVE, 0, contexts, evaluators);
    for (int g = 0; g < w->model->groups.count; g++)
    {
        evaluators[g].force = wanted(w->model->groups.list[g].kind) ? evaluators[g].force : NULL;
    }
    assembler_gather(&w->model->assembler, evaluators, w->pool, start, out);
}

double world_element_work(const world* w, const element_motion* start, const vec3* v_end)
{
    double work = 0.0;
    for (int g = 0; g < w->model->groups.count; g++)
    {
        work += element_group_work(&w->model->groups.list[g], flags_of(w, g), w->cpu, start, v_end);
    }
    return work;
}

weft_status stage_constrain(world* w)
{
    if (w->contact)
    {
        contact_constrain(w->contact, w->filter, &w->filter_count, w->z);
        TRY(cushions_structure(w->contact, &w->model->assembler.pattern));
    }
    return world_hold(w);
}

weft_status world_hold(world* w)
{
    if (w->model->ties.count > 0)
    {
        TRY(binding_constrain(w));
    }
    world_collect_held(w);
    // A solver prepares anew when the set of constraints changes.
    uint64_t hash = (uint64_t)w->filter_count;
    for (int k = 0; k < w->filter_count; k++)
    {
        hash = random_bits(hash, (uint64_t)w->filter[k].vertex * 4 + (uint64_t)w->filter[k].direction_count);
    }
    hash = random_bits(hash, w->contact ? contact_pattern(w->contact) : 0);
    if (hash != w->filter_hash)
    {
        w->filter_hash = hash;
        w->pattern_version++;
    }
    w->stats->constraints = w->filter_count + w->model->ties.count;
    return WEFT_OK;
}

void world_prescribe(world* w, vec3* v)
{
    for (int k = 0; k < w->filter_count; k++)
    {
        const filter_record* record = &w->filter[k];
        int i = record->vertex;
        vec3 wanted = v3_add(w->state.v[i], w->z[i]);
        v[i] = v3_add(wanted, m3_mul_v(record->S, v3_sub(v[i], wanted)));
    }
    if (w->model->ties.count > 0)
    {
        binding_prescribe(w, v, w->dv);
    }
}

linear_system world_system(const world* w, const vec3* b, const vec3* z)
{
    int arity = w->contact && w->contact->coupling_count > 0 ? COUPLING_ROWS : 0;
    return (linear_system){.A = w->A,
                           .b = b,
                           .z = z,
                           .filter = w->filter,
                           .filter_count = w->filter_count,
                           .ties = world_ties(w),
                           .positions = w->at,
                           .element_vertices = int_max(w->model->element_vertices, arity),
                           .mirrored = true,
                           .pattern_version = w->pattern_version};
}

static void solve_counted(world* w)
{
    const weft_solve_stats* stats = &w->last_solve;
    w->stats->iterations += stats->iterations;
    w->stats->solves++;
    w->stats->solver = stats->solver;
    w->stats->setup_s += stats->setup_s;
    w->stats->solve_s += stats->solve_s;
    w->stats->residual = stats->residual;
    w->stats->rate = stats->rate;
    w->stats->level_count = stats->level_count;
    w->stats->operator_complexity = stats->operator_complexity;
    w->stats->components = stats->components;
    w->stats->row_products += stats->row_products;
}

weft_status world_solve_once(world* w, const linear_system* system, vec3* x)
{
    weft_status status = solver_object_solve(&w->solver, system, x, &w->last_solve);
    solve_counted(w);
    return status;
}

weft_status world_solve(world* w, const linear_system* system, vec3* x, int changed)
{
    weft_solve_stats* stats = &w->last_solve;
    TRY(world_look(w, "solve"));
    weft_status status = changed > 0 ? solver_object_solve_again(&w->solver, system, changed, x, stats)
                                     : solver_object_solve(&w->solver, system, x, stats);
    if (status == WEFT_NOT_CONVERGED || status == WEFT_NOT_DEFINITE)
    {
        weft_status rescued = solver_object_rescue(&w->solver, system, x, stats);
        w->stats->rescued += rescued == WEFT_OK;
        status = rescued == WEFT_OK ? WEFT_OK : status;
    }
    solve_counted(w);
    return status;
}

// A fallback that elements here do not serve is none.
static const time_method* fallback_of(const world* w, const method_row* row)
{
    const time_method* fallback = row->fallback;
    for (int g = 0; fallback && g < w->model->groups.count; g++)
    {
        fallback = time_method_lacks(fallback, w->model->groups.list[g].kind) ? NULL : fallback;
    }
    return fallback;
}

weft_status world_take_method(world* w, const method_row* row)
{
    const time_method* fallback = fallback_of(w, row);
    int history = int_max(row->method->history, fallback ? fallback->history : 0);
    TRY(history_create(&w->state, history));
    TRY(history_create(&w->saved, history));
    TRY(method_object_begin(&w->method, row->method, w));
    return method_object_begin(&w->fallback, fallback, w);
}

double held_work(const world* w, reaction_fn* reaction)
{
    double work = 0.0;
    for (int k = 0; k < w->held_count; k++)
    {
        int i = w->held[k];
        work += v3_dot(reaction(w, i), v3_sub(w->x_next[i], w->state.x[i]));
    }
    return work;
}

energy_sums world_elements_of(world* w, const element_motion* motion, kind_choice* wanted)
{
    energy_sums total = {0};
    for (int g = 0; g < w->model->groups.count; g++)
    {
        const element_group* group = &w->model->groups.list[g];
        if (wanted(group->kind))
        {
            element_group_energy(group, flags_of(w, g), w->pool, w->cpu, motion, w->partial, &total);
        }
    }
    return total;
}

energy_sums world_elements(world* w, const element_motion* motion)
{
    return world_elements_of(w, motion, is_any);
}

typedef struct sum_context
{
    const model* m;
    const vec3 *x, *v;
} sum_context;

static double kinetic_chunk(void* context, int begin, int end)
{
    sum_context* s = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum += 0.5 * s->m->mass[i] * v3_dot(s->v[i], s->v[i]);
    }
    return sum;
}

static double weight_chunk(void* context, int begin, int end)
{
    sum_context* s = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum -= s->m->mass[i] * v3_dot(s->m->gravity, s->x[i]);
    }
    return sum;
}

static double external_chunk(void* context, int begin, int end)
{
    sum_context* s = context;
    double sum = 0.0;
    for (int i = begin; i < end; i++)
    {
        sum -= v3_dot(s->m->external[i], s->x[i]);
    }
    return sum;
}

energy_report world_energy(world* w, const vec3* x, const vec3* v)
{
    int n = w->model->vertex_count;
    element_motion motion = {.x = x, .v = v, .h = w->h, .time = w->time, .cap_mass = w->cap_mass};
    energy_sums sums = world_elements(w, &motion);
    sum_context s = {w->model, x, v};
    energy_report r = {.max_stretch = sums.max_stretch};
    r.energy = (weft_energy){.kinetic = parallel_sum(w->pool, n, ROW_GRAIN, kinetic_chunk, &s),
                             .stretch = sums.stretch,
                             .shear = sums.shear,
                             .bend = sums.bend,
                             .gravity = parallel_sum(w->pool, n, ROW_GRAIN, weight_chunk, &s)};
    r.energy.total = r.energy.kinetic + r.energy.stretch + r.energy.shear + r.energy.bend + r.energy.gravity;
    r.forces = parallel_sum(w->pool, n, ROW_GRAIN, external_chunk, &s) - r.energy.gravity;
    return r;
}
