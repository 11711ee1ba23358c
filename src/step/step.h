// Time integrators. A world is a model (never written while a topology lasts), a state (all that a checkpoint needs)
// and scratch. A method is a table of stages that take the state over one substep into `next`; step control accepts or
// halves.
#ifndef WEFT_STEP_H
#define WEFT_STEP_H

#include "constraint/constraint.h"
#include "contact/contact.h"
#include "core/core.h"
#include "core/sections.h"
#include "material/material.h"
#include "math/vec.h"
#include "solve/ties/null_space.h"
#include "solve/solve.h"
#include "sparse/sparse.h"
#include "weft/weft.h"

enum
{
    GROUP_MEMBRANE,
    GROUP_CURVATURE,
    GROUP_HINGE,
    GROUP_AIR,
    GROUP_COUNT,

    RELEASES_MAX = 3, // times that a substep is solved again because contacts pulled
    HALVINGS_MAX = 10,
    STEP_TICKS = 1 << HALVINGS_MAX // a time step in the smallest substeps
};

typedef struct model
{
    int vertex_count;
    double* mass;   // [vertex_count] kg
    vec3* external; // [vertex_count] N: weight and constant forces
    vec3 gravity;   // m/s^2
    double total_mass;
    double size; // m, diagonal of the bounding box at the start
    element_group groups[GROUP_COUNT];
    assembler assembler;          // one assembly group for each element group that is not empty
    int element_vertices;         // most of any element kind in use: bounds the spectral radius of D^-1 A
    int assembly_of[GROUP_COUNT]; // -1: empty
    pin_set pins;
    tie_set ties;
} model;

typedef struct state
{
    int vertex_count;
    vec3* x;            // [vertex_count] m
    vec3* v;            // [vertex_count] m/s
    vec3* acceleration; // [vertex_count] m/s^2 of the last substep: the next first guess
    contact_state contact;
    int64_t step_count;
    int halvings; // the current substep is time_step / 2^halvings
    int calm;     // accepted substeps since the last change of halvings
} state;

// Settings with names resolved.
typedef struct step_settings
{
    double time_step;
    double newton_tolerance;
    int newton_iterations;
    int max_halvings;
    double max_stretch;
} step_settings;

// What is known of a configuration.
typedef struct energy_report
{
    weft_energy energy;
    double forces; // potential of constant forces other than weight, J
    double max_stretch;
} energy_report;

// Ties of the substep: rows of J, the values that J dv is to have, and what they leave free.
typedef struct binding
{
    int *start, *unknown; // [3 * ties + 1], [TIE_ENTRIES * ties]
    double *value, *rhs;  // [TIE_ENTRIES * ties], [3 * ties]
    // after the solve: see binding_pull
    vec3 *force, *pull; // [ties], [vertices] N
    double* whole;      // [vertices]
    uint8_t* touched;   // [vertices]
    null_space space;
} binding;

typedef struct world
{
    const model* model;
    state state;
    step_settings settings;
    workers* pool;
    cpu_kind cpu;
    solver_object solver;
    contact* contact; // NULL: nothing can touch

    // scratch, made once
    double* values; // of the mesh's part of A
    bsr_matrix A;   // of the substep: that, or with the springs of contact
    const vec3* at; // positions at which A was assembled
    vec3 *rhs, *rhs_start, *z, *dv;
    vec3 *x_next, *v_next; // the candidate end of the substep
    vec3 *x_try, *v_try;   // newton's line search
    vec3* expected;        // [vertex_count] m/s^2, for contact
    filter_record* pins;   // [pin_count] the records of pins alone
    int pin_count;
    state saved;                        // before the step, for one that fails
    double solver_saved[SOLVER_MEMORY]; // likewise
    filter_record* filter;
    int filter_count;
    binding binding; // all zero without ties
    int* held;       // [held_count] vertices with a filter record or in a tie, sorted
    int held_count;
    uint64_t filter_hash; // of the constrained vertices
    uint64_t pattern_version;
    energy_sums* partial;

    // the substep under way
    double h, time; // s; time is that of its start
    energy_report before, after;
    double work;            // J done by moving pins and air
    bool judged;            // the candidate's energies are finite and known
    int bad_vertex;         // that a failed step names; -1: none
    double energy_rise_max; // of the method
    weft_solve_stats last_solve;
    weft_step_stats* stats;
} world;

weft_status world_create(world* w, const model* m);
void world_finish(world* w);

typedef struct stage
{
    const char* name;
    weft_status (*run)(world* w);
} stage;

typedef struct time_method
{
    const char* name;
    const char* summary;
    const stage* stages;                   // ends with a NULL name
    weft_status (*first_system)(world* w); // filter, z, values and rhs of what a substep solves first
    double energy_rise_max;                // a substep may raise the energy by this share of kinetic and elastic energy
} time_method;

extern const time_method method_implicit_euler, method_newton;

const time_method* const* time_methods(int* count);
weft_status time_method_find(const char* name, const time_method** out, weft_error* error);

weft_status state_create(state* s, int vertex_count); // all zero; on failure state_finish is due
void state_finish(state* s);                          // zeroed is fine
weft_status state_copy(state* to, const state* from); // of as many vertices
void state_swap(state* a, state* b);                  // what puts a state back must not fail
extern const double far_away_sq; // m^2: where positions are lost
// Sections of a checkpoint. Loading fills a state of the right size that nobody uses yet: on failure it is in between.
void state_save(const state* s, section_writer* out); // its arrays
weft_status state_load(state* s, sections* from, weft_error* error);
void step_control_save(const state* s, section_writer* out); // its numbers
weft_status step_control_load(state* s, int max_halvings, sections* from, weft_error* error);

// One time step of the world, with halving; fills w->stats but for step, time and step_s. One that fails is undone.
weft_status step_run(world* w, const time_method* method);
// The world is again as before the last step_run. What only saves time is dropped, as at a checkpoint.
void step_undo(world* w);

// ---- shared by methods
weft_status stage_constrain(world* w); // filter and z for the end of the substep
weft_status binding_create(binding* b, const tie_set* set, int vertex_count);
void binding_finish(binding* b);
weft_status binding_constrain(world* w); // rows of ties, and z such that they hold
// v = S v + what pins, contacts and ties prescribe, at the vertices of ties; scratch is [vertex_count].
void binding_prescribe(const world* w, vec3* v, vec3* scratch);
tie_rows world_ties(const world* w);
void world_collect_held(world* w);
weft_status stage_detect(world* w);                   // pins; what touches, and what is about to
typedef vec3 reaction_fn(const world* w, int vertex); // N, that the constraints of a vertex have exerted
// Whether something pulled that must not, at these velocities: then constrain and solve again without it.
bool world_release(world* w, reaction_fn* reaction, const vec3* v);
void world_remember(world* w, reaction_fn* reaction); // for the contact of the next substep
void binding_pull(world* w, reaction_fn* reaction);   // what ties exert on the vertices that they name, into pull
weft_status stage_respond(world* w); // moves the candidate so that nothing crosses; NOT_CONVERGED: try a smaller step
weft_status stage_judge(world* w);   // energies of the candidate; NOT_FINITE, or NOT_CONVERGED: try a smaller step
weft_status world_assemble(world* w, const element_motion* motion, const vec3* rhs_start);
linear_system world_system(const world* w, const vec3* b, const vec3* z);
weft_status world_solve(world* w, const linear_system* system, vec3* x);
energy_report world_energy(world* w, const vec3* x, const vec3* v);
energy_sums world_elements(world* w, const element_motion* motion);
double lively_energy(const weft_energy* e); // kinetic and elastic
double weight_energy(const model* m);       // total mass times gravity times size of the scene
double time_at(const world* w, int ticks);  // s, of the current step

#endif
