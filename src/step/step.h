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
#include "step/strain_limit.h"
#include "weft/weft.h"

enum
{
    HISTORY_MAX = 8,          // earlier states that a method looks back on
    HALVINGS_FOR_CONTACT = 4, // of a substep, before what cannot be parted is left
    HALVINGS_FOR_CROWDS = 6,  // likewise, before all pairs of boxes are looked at, however many
    HALVINGS_MAX = 10,
    WAITS_MAX = 3, // of a longer substep: at most 8 times as many good ones before it is tried
    STEP_TICKS = 1 << HALVINGS_MAX // a time step in the smallest substeps
};

typedef struct model
{
    int generation; // counted from 1: edits that change elements or bodies make the next one
    int vertex_count;
    double* mass;   // [vertex_count] kg
    uint8_t* loose; // [vertex_count] no face, line or tetrahedron has it: it stays where it is
    double* rigid;  // [vertex_count] N m of sheets, N m^2 of lines: the material's bending
    vec3* external; // [vertex_count] N: weight and constant forces
    vec3 gravity;   // m/s^2
    double total_mass;
    double size;           // m, diagonal of the bounding box at the start
    element_groups groups; // none is empty
    assembler assembler;   // one assembly group for each
    int element_vertices;  // most of any element kind in use: bounds the spectral radius of D^-1 A
    pin_set pins;
    tie_set ties;
    vec3* rest;          // [vertex_count] m, positions of the meshes at rest
    int* triangle;       // [3 * triangle_count] of sheets
    vec2* triangle_rest; // [3 * triangle_count] m, rest shape of each in its plane
    int triangle_count;
    int triangle_capacity;
    double* triangle_limit; // [3 * triangle_count] most that warp and weft may be long, INFINITY: no limit, and how stiff they are,
                            // N/m. NULL: none has a limit
    int limit_capacity;
} model;

// The end of an earlier substep.
typedef struct past_state
{
    vec3 *x, *v; // [vertex_count] m, m/s
    double h;    // s, of the substep that led on from it
} past_state;

typedef struct state
{
    int vertex_count;
    vec3* x;            // [vertex_count] m
    vec3* v;            // [vertex_count] m/s
    vec3* acceleration; // [vertex_count] m/s^2 of the last substep: the next first guess
    vec3* earlier[2];   // [vertex_count] likewise, of the two before it: directions of that guess
    contact_state contact;
    int64_t step_count;
    int halvings;                      // the current substep is time_step / 2^halvings
    int calm;                          // accepted substeps since the last change of halvings
    int waits;                         // how often a longer one has failed: the next is tried later
    bool tries;                        // the current substep is longer than the last one
    past_state* history;               // [history_count] the latest first; as many as the methods ask for
    int history_count, history_filled; // there is room for; there are since the start or the last change from outside
} state;

// Settings with names resolved.
typedef struct step_settings
{
    double time_step;
    double method[WEFT_SETTING_MAX]; // by method_setting_at
    int max_halvings;
    double max_stretch;
    double max_strain; // 0: none
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
    uint8_t* slack;       // [ties] 1: of a thread that waits in this substep
    int slack_count;
    // after the solve: see binding_pull
    vec3 *force, *pull; // [ties], [vertices] N
    double* whole;      // [vertices]
    uint8_t* touched;   // [vertices]
    null_space space;
} binding;

typedef struct world world;
typedef struct time_method time_method;
typedef struct mend mend; // mend.h

// A method and what it keeps.
typedef struct method_object
{
    const time_method* method; // NULL: none
    void* data;                // [data_size]
} method_object;

struct world
{
    const model* model;
    state state;
    step_settings settings;
    workers* pool;
    cpu_kind cpu;
    solver_object solver;
    contact* contact;               // NULL: nothing can touch
    method_object method, fallback; // the latter takes over when the shortest substep goes wrong

    // scratch, made once
    double* values; // of the mesh's part of A
    bsr_matrix A;   // of the substep: that, or with the cushions of contact
    const vec3* at; // positions at which A was assembled
    vec3 *rhs, *rhs_start, *z, *dv;
    vec3 *x_next, *v_next;              // the candidate end of the substep
    vec3* expected;                     // [vertex_count] m/s^2, for contact
    obstacles_fn* obstacles_at;         // for pins that follow them
    weft_status (*detects)(void* user); // NULL, or told before contact looks for what is near
    void (*accepted)(void* user);       // NULL, or told after each substep that stands
    void* user;                         // for these
    vec3* followed;                     // [followed_capacity] m, all obstacles at the end of the substep
    int followed_capacity;
    double* yielding; // [yielding_capacity] shares, and scratch; only while a start settles (yielding.c)
    int yielding_capacity;
    vec3* followed_before; // [followed_before_capacity] m, at its start; only where a pin that holds in part follows
    int followed_before_capacity;
    grip* grips; // [grip_count] pins that hold in part
    int grip_count, grip_capacity;
    vec3* grip_pull; // [grip_count] N s^2, scratch of grips_project
    int grip_pull_capacity;
    double grip_share;   // of the way of their places, where forces are taken
    filter_record* pins; // [pin_count] the records of pins alone
    int pin_count;
    state saved;                        // before the step, for one that fails
    double solver_saved[SOLVER_MEMORY]; // likewise
    filter_record* filter;
    int filter_count;
    binding binding; // all zero without ties
    strain_limit limit; // all zero where nothing has one
    int* held;       // [held_count] vertices with a filter record or in a tie, sorted
    int held_count;
    uint64_t filter_hash; // of the constrained vertices
    uint64_t pattern_version;
    energy_sums* partial;
    uint8_t** flags; // [groups][count] ELEMENT_...; NULL: every element is active and implicit

    // the substep under way
    double h, time; // s; time is that of its start
    energy_report before, after;
    const time_method* running; // whose stages run
    void* data;                 // of that method
    double work;                // J done by moving pins and air
    bool judged;                // the candidate's energies are finite and known
    bool responded;             // the response has moved the candidate
    bool wild;                  // it has left the cloth as no substep may
    const double* cap_mass;     // [vertex_count] where the method has bending explicit, see element_motion; else NULL
    bool restart;               // a kink: methods of several steps start anew after this substep
    bool may_halve;             // what goes wrong is tried again with half the length
    bool resort;                // the last one: what is best stands, converged or not
    bool spent;                 // likewise, and soon: the step has cost what it may
    int ticks_done;             // of STEP_TICKS
    int halved;                 // how often its length was: those of step control, more within a part of a step
    int bad_vertex;             // that a failed step names; -1: none
    weft_solve_stats last_solve;
    weft_step_stats* stats;
    weft_progress_fn* look; // NULL, or told what begins
    void* look_user;
};

weft_status world_create(world* w, const model* m);
void world_finish(world* w);

typedef struct stage
{
    const char* name;
    weft_status (*run)(world* w);
} stage;

// What a method wants of each element kind in use.
enum
{
    NEEDS_FORCE = 1,
    NEEDS_MATRIX = 2, // force, energy and blocks of the linear system
    NEEDS_PROJECT = 4,
    NEEDS_CONSTRAINT = 8
};

// A number for each vertex that a method shows in pictures.
typedef struct method_field
{
    weft_sim_field info;                                          // a NULL name ends the list
    void (*values)(const world* w, const void* data, float* out); // [vertex_count] in scene order
} method_field;

// A number that scenes choose for a method, by both their names.
typedef struct method_setting
{
    const char* name;        // NULL ends the list
    const char* summary;     // as the schema has it, without a full stop
    const char* unit;        // NULL: none
    double value;            // the default
    double minimum, maximum; // HUGE_VAL: there is none
    bool above;              // the minimum itself is excluded
    bool whole;              // an integer
    bool zero_is_most;       // 0 stands for as many as it takes
} method_setting;

// A time method. What it keeps from step to step is its own: `data` holds what only saves time and is made from the
// topology, `state` holds what a checkpoint must have. Functions and lists that are NULL are not there.
struct time_method
{
    const char* name;    // what scene files and the command line say
    const char* summary; // one line for `weft list`
    const stage* stages; // ends with a NULL name
    unsigned needs;      // NEEDS_...: a model whose kinds lack one of them is refused with the reason
    const char* model;   // of sheets where a scene names none; NULL: the first of the table
    int history;         // earlier states that `state` keeps for it
    size_t data_size;
    weft_status (*prepare)(world* w, void* data); // a topology begins; data is zeroed
    void (*forget)(void* data);                   // a checkpoint: drops what would make the next step differ from that
                                                  // of a run that resumes there
    void (*finish)(void* data);                   // prepare may have failed half-way
    weft_status (*settle)(world* w, void* data);  // makes all that it makes of the topology, which is about to change
    weft_status (*mend)(world* w, void* data, const mend* m); // the model has torn: data is mended, and as good as
                                                              // prepared anew; without it, it is
    weft_status (*first_system)(world* w); // filter, z, values and rhs of what a substep solves first
    bool ends_early;             // its iterations are as many as the scene says, and leave what they leave
    double energy_rise_max;      // a substep may raise the energy by this share of kinetic and elastic energy;
                                 // INFINITY: it is not judged by that
    const char* const* counters; // names of what world_count counts, ends with NULL
    const method_field* fields;
    uint8_t* const* (*split)(const void* data); // [groups][elements] ELEMENT_... of the last substep; NULL: it does not
                                                // split, and takes all that is not slack implicitly
    const method_setting* settings;             // world_setting gives their values
    const char* warning;                        // what `weft check` says of it
    bool holds_strain;                          // it holds strain limits in its solve
};

// The table of methods, which ends with a NULL method. The fallback takes over when the shortest substep goes wrong.
typedef struct method_row
{
    const time_method* method;
    const time_method* fallback; // NULL: the step fails
} method_row;

extern const method_row method_table[];
extern const time_method method_stand_still; // what is left when nothing else is finite; in no table

weft_status time_method_find(const char* name, const method_row** out, weft_error* error);
// What the method needs of each element and this kind has not, for messages: "a constraint". NULL: it has all.
const char* time_method_lacks(const time_method* method, const element_kind* kind);

weft_status method_object_begin(method_object* o, const time_method* method, world* w); // a topology begins
void method_object_forget(method_object* o);
void method_object_finish(method_object* o);                    // zeroed is fine
weft_status world_take_method(world* w, const method_row* row); // a topology begins; model and state are there
weft_status world_first_system(world* w);                       // of the method, which has one

// Of all methods, in the order of the table; NULL: there are no more.
const method_setting* method_setting_at(int index, const time_method** method);
int method_setting_find(const char* method, const char* name); // its index; name NULL: the method's first. -1: none
int method_setting_count(const time_method* method);           // of one method, which may be NULL
bool method_setting_takes(const method_setting* s, double value);
double world_setting(const world* w, const char* name); // of the method whose stages run

void counters_begin(world* w); // enters the counters of method and fallback into the step's stats
// Adds to a counter of the step, which is one of those that the methods name.
void world_count(world* w, const char* counter, double amount);

// ---- earlier states; state_finish, state_copy, state_save and state_load take them along
weft_status history_create(state* s, int count);
void history_finish(state* s);                   // zeroed is fine
void history_push(state* s, double h);           // x and v are about to be replaced
void history_copy(state* to, const state* from); // of as many states
void history_save(const state* s, section_writer* out);
weft_status history_load(state* s, sections* from, weft_error* error);

weft_status state_create(state* s, int vertex_count); // all zero; on failure state_finish is due
void state_finish(state* s);                          // zeroed is fine
weft_status state_copy(state* to, const state* from); // of as many vertices
void state_swap(state* a, state* b);                  // what puts a state back must not fail
extern const double far_away_sq;                      // m^2: where positions are lost
// Sections of a checkpoint. Loading fills a state of the right size that nobody uses yet: on failure it is in between.
void state_save(const state* s, section_writer* out); // its arrays
weft_status state_load(state* s, sections* from, weft_error* error);
void step_control_save(const state* s, section_writer* out); // its numbers
weft_status step_control_load(state* s, int max_halvings, sections* from, weft_error* error);

// One time step of the world, or the part of it between two ticks, with halving; fills w->stats but for step, time and
// step_s. What fails is undone.
weft_status step_run(world* w, int from, int until);
// The world is again as before the last step_run. What only saves time is dropped, as at a checkpoint.
void step_undo(world* w);

// ---- shared by methods
weft_status stage_constrain(world* w); // filter and z for the end of the substep
weft_status world_hold(world* w);      // its end: of a filter and z that stand; without contact all of it
// ---- pins that hold in part (grips.c)
weft_status grips_begin(world* w, const pin_moment* end);
void grips_assemble(world* w, const element_motion* motion); // into values and rhs
// out += factor times the force where vertices will be in `ahead` seconds, with their velocities
void grips_push(const world* w, const element_motion* motion, double factor, double ahead, vec3* out);
double grips_potential(const world* w, const element_motion* motion); // J, of methods that minimise
double grips_work(const world* w);                                    // J, done on the candidate
void grips_solve_diagonal(const world* w, double k, vec3* dv);        // their rows of (M + k D + k^2 K) dv = rhs
vec3 grips_resist(const world* w, double k, int vertex, vec3 dv);     // N s: (k D + k^2 K) dv
uint64_t grips_hash(const world* w);                                  // of what they add to a matrix
// As constraints of position based methods. share: of the way of their places at the end of a substep of h.
void grips_project_begin(world* w);
void grips_project(const world* w, double share, double h, const double* inv_mass, vec3* x);
void grips_damp(const world* w, double h, const double* inv_mass, vec3* v);

weft_status binding_create(binding* b, const tie_set* set, int vertex_count);
void binding_finish(binding* b);
weft_status binding_constrain(world* w); // rows of ties, and z such that they hold
// v = S v + what pins, contacts and ties prescribe, at the vertices of ties; scratch is [vertex_count].
void binding_prescribe(const world* w, vec3* v, vec3* scratch);
void world_prescribe(world* w, vec3* v); // v = S v + what is prescribed, of all constraints; after stage_constrain
tie_rows world_ties(const world* w);
void world_collect_held(world* w);
weft_status world_look(const world* w, const char* stage); // CANCELLED: whoever watches gives the step up
// Whether other ways may be tried after a failure: it is the numbers', not the machine's.
static inline bool is_numeric(weft_status status)
{
    return status == WEFT_NOT_CONVERGED || status == WEFT_NOT_FINITE || status == WEFT_NOT_DEFINITE;
}
weft_status stage_detect(world* w);                   // pins; what touches, and what is about to
typedef vec3 reaction_fn(const world* w, int vertex); // N, that the constraints of a vertex have exerted
// Whether something pulled that must not, at these velocities: then constrain and solve again without it.
// Of each vertex, the share of its push that what settles has there (yielding.c); *out NULL: nothing is marked.
weft_status world_find_yielding(world* w, const double** out);
int world_release(world* w, reaction_fn* reaction, const vec3* v, bool early);
void world_remember(world* w, reaction_fn* reaction); // for the contact of the next substep
// The velocities stand: work of what holds, of air and of contact, and what the next contact must know.
void world_conclude(world* w, reaction_fn* reaction);
void binding_pull(world* w, reaction_fn* reaction); // what ties exert on the vertices that they name, into pull
weft_status stage_respond(world* w); // moves the candidate so that nothing crosses; NOT_CONVERGED: try a smaller step
weft_status stage_judge(world* w);   // energies of the candidate; NOT_FINITE, or NOT_CONVERGED: try a smaller step
weft_status world_flags_create(world* w); // for methods that set them; all are zero
weft_status world_assemble(world* w, const element_motion* motion, const vec3* rhs_start); // of implicit elements
// Likewise, of damping alone: A = M + h D.
weft_status world_assemble_damping(world* w, const element_motion* motion, const vec3* rhs_start, double* scratch);
typedef bool kind_choice(const element_kind* kind);
weft_status world_assemble_of(world* w, const element_motion* motion, kind_choice* wanted, const vec3* rhs_start);
// out = start + forces (N) of the elements whose flags under the mask are as wanted; start may be out.
void world_forces(world* w, const element_motion* motion, uint8_t mask, uint8_t wanted, const vec3* start, vec3* out);
// Likewise of the active elements of some kinds.
void world_forces_of(world* w, const element_motion* motion, kind_choice* wanted, const vec3* start, vec3* out);
double world_element_work(const world* w, const element_motion* start, const vec3* v_end); // of air, J
linear_system world_system(const world* w, const vec3* b, const vec3* z);
// changed > 0: the system is that of the last solve but for so many contacts, and x its solution; 0: another one
weft_status world_solve(world* w, const linear_system* system, vec3* x, int changed);
weft_status world_solve_once(world* w, const linear_system* system, vec3* x); // what the solver gives up stays so
energy_report world_energy(world* w, const vec3* x, const vec3* v);
energy_sums world_elements(world* w, const element_motion* motion);
energy_sums world_elements_of(world* w, const element_motion* motion, kind_choice* wanted); // of some kinds
double lively_energy(const weft_energy* e);                                                 // kinetic and elastic
double weight_energy(const model* m); // total mass times gravity times size of the scene
bool world_from_nowhere(const world* w); // what no substep may leave by itself; w->after is known
double world_rise(const world* w);    // of the energy over a substep, less the work of pins, air and contact
// J, of what holds vertices: forces times displacements. Those of ties add up to nothing where both sides move
// together.
double held_work(const world* w, reaction_fn* reaction);
double world_work(world* w, reaction_fn* reaction); // J, of what holds, drives and blows, on the candidate
double time_at(const world* w, int ticks); // s, of the current step

#endif
