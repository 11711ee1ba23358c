// Elements of cloth: energies, forces, clamped Jacobians, damping, air. Evaluates physics, never advances time.
//
// Every kind contributes to the linear system of one implicit step of length h,
//
//     A = M + h D + h^2 K,    b = h (f + f_damping - h K v)
//
// K is the elastic Hessian made positive semidefinite element by element (the same K stands in A and in b), D the
// damping matrix. Damping acts on the rate of each condition C (thread stretch, shear, hinge angle): force
// -k_d (dC/dx) (dC/dt) with k_d = damping * stiffness, hence D = k_d (dC/dx) (dC/dx)^T exactly. Dropped from A: the
// derivative of damping forces by position, of air forces by position, and of pressure by gust phase.
//
// The method `newton` minimises a potential instead; there the rate of a condition is (C(x) - C(x_last)) / h, which
// makes damping the gradient of k_d / (2 h) (C(x) - C(x_last))^2, and b = h (f + f_damping).
#ifndef WEFT_MATERIAL_H
#define WEFT_MATERIAL_H

#include "core/core.h"
#include "math/vec.h"
#include "mesh/mesh.h"
#include "sparse/sparse.h"
#include "weft/weft.h"

// Where elements are evaluated.
typedef struct element_motion
{
    const vec3* x;          // [vertices] positions
    const vec3* v;          // [vertices] velocities
    const vec3* x_last;     // [vertices] newton: positions at the start of the step; else NULL
    const vec3* v_last;     // [vertices] newton: velocities at the start of the step; else NULL
    double h;               // s
    double time;            // s, for gusts
    bool exact;             // K is not clamped, of kinds that can: springs, membranes
    bool ahead;             // slack springs that x + h v makes taut are linearised as taut ones (connection_kernel.c)
    const double* cap_mass; // [vertices] kg, where bending is explicit: linear starts of arcs are capped; else NULL
} element_motion;

typedef struct energy_sums
{
    double stretch, shear, bend; // J
    double dissipation;          // J, incremental potential of damping and air; 0 unless x_last is given
    double max_stretch;          // largest |w_u|, |w_v|
} energy_sums;

typedef struct element_kind element_kind;
typedef struct directors directors;
typedef struct crease_list crease_list;

// What an element does in a step, a byte each, beside the group: the model is constant, and methods decide anew.
enum
{
    ELEMENT_IMPLICIT = 0, // it takes part in the linear system
    ELEMENT_INACTIVE = 1, // nothing of it counts: slack or torn
    ELEMENT_EXPLICIT = 2  // its force counts, its blocks do not
};

// Elements of one kind over the whole scene.
typedef struct element_group
{
    const element_kind* kind;
    int count, capacity;
    int* vertices;        // [count * arity]
    double* rest;         // [count * rest_stride], laid out by the kind
    weft_air air;         // kind air only
    directors* directors; // kind exact only: directors.h
    const double*
        shift; // [3 * count] kind exact: what the directors at the motion's positions add to rest folds; else NULL
    crease_list* creases; // of elements that keep folds: creases.h; NULL: none does
} element_group;

// Groups by kind; the order is that of assembly, hence of sums.
typedef struct element_groups
{
    element_group* list; // [count]
    int count, capacity;
} element_groups;

weft_status element_groups_add(element_groups* groups, const element_kind* kind);           // nothing when it is there
element_group* element_groups_find(const element_groups* groups, const element_kind* kind); // NULL: none
void element_groups_drop_empty(element_groups* groups);
void element_groups_finish(element_groups* groups); // zeroed is fine

typedef struct element_context
{
    const element_group* group;
    const element_motion* motion;
} element_context;

// Compiled for each CPU kind. Contexts are element_contexts. What is NULL the kind does not have.
typedef struct element_kernels
{
    element_evaluate_fn* evaluate;                                                         // part of the linear system
    void (*energy)(const element_context* context, int begin, int end, energy_sums* sums); // adds
    // N, elastic and damping, at positions and velocities; kinds with a projection take the rate of damping from the
    // last state where there is one
    element_force_fn* force;
    // Work done on the cloth in a step that ends with velocities v_end, J. NULL: none beside its energy.
    double (*work)(const element_context* start, int begin, int end, const vec3* v_end);
} element_kernels;

// Projective form, for methods with a constant matrix: over a step of h the elastic energy and the potential of
// damping, times h^2, are the least over d, in a set that the kind knows, of 1/2 sum over rows r of weight_r |sum over
// vertices a of S_ra x_a - d_r|^2, up to what the last state alone decides. Its gradient is -h^2 times the force that
// the kernels give with a last state, so that d is never wanted by itself: x - A^-1 grad is what the local and the
// global step give together. What |d|^2 adds is no constant but for springs, so that g is taken from the kernels'
// energies and never from the quadratic form.
typedef struct element_projection
{
    int row_count; // ROWS_MAX at most
    void (*rows)(const element_group* group, int e, double h, double* weight /* [row_count] */,
                 double* S /* [row_count][arity] */);
} element_projection;

enum
{
    ROWS_MAX = 9
};

// Constraint form, for methods that move positions: the energy is the sum over rows of C^2 / (2 compliance).
typedef struct constraint_batch
{
    double value[BATCH];                  // C at the motion's positions
    double gradient[ARITY_MAX][3][BATCH]; // dC/dx of each vertex
    double compliance[BATCH];
} constraint_batch;

typedef void element_constraint_fn(const void* context, const int* elements /* [BATCH] */,
                                   constraint_batch* out /* [constraint_rows], one where that is 0 */);

enum
{
    CONSTRAINT_ROWS_MAX = 3
};

// Bounds of an element's eigenvalues against its vertices' shares of mass: out[e - begin] gets K of M_e^-1 K_e in 1/s^2
// and D of M_e^-1 D_e in 1/s. A method takes an element explicitly where h^2 K + 2 h D is small. Nobody asks for those of
// slack elements, which leave nothing.
typedef void element_criterion_fn(const element_context* context, const double* mass_share /* [vertices] kg */,
                                  int begin, int end, double (*out)[2]);

// out[e - begin]: 1 where an element has neither force nor blocks at the motion's positions, whatever the velocities;
// with `ahead`, by those too.
typedef void element_slack_fn(const element_context* context, int begin, int end, uint8_t* out);

// What an element is in words of methods that split by type.
typedef enum element_role
{
    ROLE_STRETCH, // stretch, and shear where one element has both
    ROLE_SHEAR,
    ROLE_BEND,
    ROLE_LOAD // air
} element_role;

typedef element_role element_role_fn(const element_group* group, int e);

// What elements of a kind share at a motion's positions, found before any of them is evaluated there.
typedef void element_prepare_fn(const element_group* group, const element_motion* motion, workers* pool);

struct element_kind
{
    const char* name;
    int arity;
    int rest_stride;     // doubles an element
    element_shape shape; // of what evaluate fills
    bool is_load;        // acts from outside: methods that project or constrain take its force
    const element_kernels* kernels[CPU_KIND_COUNT];
    // The exact elastic force and Jacobian of one element, before clamping: force[3 arity], jacobian
    // [3 arity][3 arity] = d force / d x. NULL: not elastic.
    void (*exact)(const double* rest, const vec3* x, double* force, double* jacobian);
    const element_projection* projection; // NULL: it has none, as the rest
    element_constraint_fn* constraint;
    int constraint_rows;    // CONSTRAINT_ROWS_MAX at most; 0: one
    int constraint_damping; // where the damping (s) lies in its rest data; 0: it has none
    element_criterion_fn* explicit_criterion;
    element_slack_fn* slack; // NULL: its elements never are
    element_role role;
    element_prepare_fn* prepare; // NULL: elements share nothing
    element_role_fn* role_of;    // NULL: every element has that one
};

static inline element_role role_of_element(const element_group* group, int e)
{
    const element_kind* kind = group->kind;
    return kind->role_of ? kind->role_of(group, e) : kind->role;
}

extern const element_kind kind_membrane, kind_taut, kind_hinge, kind_curvature, kind_beyond, kind_exact, kind_air;

const element_kernels* element_kernels_for(const element_kind* kind, cpu_kind cpu);

weft_status element_group_reserve(element_group* group, const element_kind* kind, int count);
void element_group_finish(element_group* group);

// Energies of a group's active elements, summed in a fixed order; flags is [count] or NULL: all are active. `partial`
// is scratch for element_energy_chunks(group) sums.
int element_energy_chunks(const element_group* group);
void element_group_energy(const element_group* group, const uint8_t* flags, workers* pool, cpu_kind cpu,
                          const element_motion* motion, energy_sums* partial, energy_sums* total);
// Work of a group's active elements (see element_kernels), J.
double element_group_work(const element_group* group, const uint8_t* flags, cpu_kind cpu, const element_motion* start,
                          const vec3* v_end);

// How the connections of particle models are damped (connection_kernel.c).
typedef enum damper_form
{
    DAMPER_PROJECTED, // along the connection while it lengthens
    DAMPER_TWO_SIDED, // along the connection
    DAMPER_PLAIN,     // all relative motion of its ends
    DAMPER_NONE
} damper_form;

extern const char* const damper_names[]; // by form; ends with NULL

typedef struct connection_options
{
    damper_form damper;
    double stretch_damping, shear_damping; // N s/m a connection, half at borders; negative: the material's
    double bend_start;                     // N/m; negative: from the material
} connection_options;

// ---- setting up: one body's triangles or segments in scene vertices
typedef struct cloth_shape
{
    int triangle_count;
    const int* triangle;       // [3 * triangle_count]
    const vec2* rest;          // [3 * triangle_count] rest shape of each triangle in its plane
    const vec3* rest_position; // [scene vertices] rest positions for rest angles, or NULL: flat
    const double* folds;       // [hinge_count] rest angles that a scene gives, NAN: it does not; NULL: it gives none
    int hinge_count;
    const hinge* hinges;
    const int* triangle_hinge;    // [3 * triangle_count]
    int segment_count;            // of lines; what is of triangles is then empty
    const int* segment;           // [2 * segment_count]
    const double* segment_rest;   // [segment_count] length, m
    int tetrahedron_count;        // of solids; likewise
    const int* tetrahedron;       // [4 * tetrahedron_count]
    const vec3* tetrahedron_rest; // [4 * tetrahedron_count] rest positions of its vertices
    double typical_area; // m^2, the mean of the body's triangles; 0: not known, and none counts as a sliver
    weft_material material;
    const weft_material* materials; // [triangle_count] where sheets have regions; NULL: all triangles have `material`
    struct crease* crease; // of the body's triangles, what they have kept, which outlives the shape; NULL: nothing creases
    const int* source;     // [triangle_count] the body's number of each
    const char* bending;            // one of the model's words; NULL: it has no choice
    connection_options connections; // of models that have them
} cloth_shape;

// Where sheets have regions (region.c); without them all are the body's.
const weft_material* triangle_material(const cloth_shape* shape, int t);
weft_material hinge_material(const cloth_shape* shape, const hinge* it);
weft_material side_material(const cloth_shape* shape, int t, int side); // of an edge, which may be a border
void material_add(weft_material* sum, double share, const weft_material* m);
bool shape_bends(const cloth_shape* shape); // somewhere

// ---- a sheet as it is measured (rigidity.c)
enum
{
    MATERIAL_BASIC = 6, // numbers of weft_material that every body has; what follows them is of sheets, 0: not given
    MATERIAL_NUMBERS = sizeof(weft_material) / sizeof(double)
};

typedef struct rigidity
{
    double warp, weft; // N m: D11, D22
    double twist;      // N m: 2 D66, what warp and weft are too where all directions are alike
} rigidity;

void bending_complete(weft_material* m); // weft and bias where they are not given
rigidity bending_rigidity(const weft_material* m);
double bending_along(const weft_material* m, double p, double q); // N m, of a plate bent along (p, q), a unit vector
// A sentence on what is wrong with the numbers of a sheet beside those that every body has; NULL: nothing is.
const char* material_measure_wrong(const weft_material* m, char* out, size_t size);
bool material_has_directions(const weft_material* m); // bending depends on the direction

// What a sheet may be beside linear and alike in all directions; models take some of it.
enum
{
    MEASURE_DIRECTIONS = 1, // bending along warp and weft
    MEASURE_BIAS = 2,       // and at 45 degrees
    MEASURE_BEYOND = 4,     // bending that changes at a curvature
    MEASURE_KNEE = 8,       // stretch that does at a strain
    MEASURE_LIMIT = 16,
    MEASURE_CREASE = 32
};

unsigned material_measures(const weft_material* m); // that it asks for

// A model: which elements stand for a mesh and a material.
typedef struct cloth_model
{
    const char* name;            // what scene files say
    const char* summary;         // one line for `weft list`
    const char* const* bendings; // what "bending" may be, the first is the default; ends with NULL. NULL: no choice
    const char* const* automatic; // what its word "auto" stands for: the first that method and cloth can have; ends with NULL
    const element_kind* const* kinds; // that it may fill, in the order of assembly; ends with NULL
    unsigned forms;                   // of meshes that it makes elements of: MODEL_OF(form), joined; 0: sheets
    bool connections;                 // its elements are connections, with dampers
    damper_form damper;               // its default
    unsigned measures;                // MEASURE_...: what it takes of a sheet as it is measured
    weft_status (*append)(element_groups* groups, const cloth_shape* shape); // groups has all of its kinds
} cloth_model;

#define MODEL_OF(form) (1u << (form))

static inline bool cloth_model_serves(const cloth_model* model, mesh_form form)
{
    return ((model->forms ? model->forms : MODEL_OF(MESH_SHEET)) & MODEL_OF(form)) != 0;
}

extern const cloth_model* const model_table[]; // ends with NULL; the first is the default

const cloth_model* cloth_model_find(const char* name); // NULL: there is none
// The model's own word for a choice of bending, its default for NULL. False: the model has no such choice.
bool cloth_model_bending(const cloth_model* m, const char* word, const char** out);
// The words that a word of the model stands for, to be tried in their order; ends with NULL. NULL: for itself.
const char* const* cloth_model_stands_for(const cloth_model* m, const char* word);
// What the model makes of choices; false: it has no such damper, or no connections to choose for.
bool cloth_model_connections(const cloth_model* m, const weft_connections* choice, connection_options* out);

// Each appends one element a triangle (or hinge).
weft_status membrane_append(element_group* group, const cloth_shape* shape);
weft_status taut_append(element_group* group, const cloth_shape* shape); // of triangles with a knee alone
weft_status hinge_append(element_group* group, const cloth_shape* shape);
weft_status curvature_append(element_group* group, const cloth_shape* shape);
weft_status air_append(element_group* group, const cloth_shape* shape);

double triangle_rest_area(const vec2* rest /* [3] */);
double triangle_sliver_share(const cloth_shape* shape, int t); // of its stiffness that a triangle has (cloth_elements.c)
// b1u, b2u, b1v, b2v with which the deformation gradient is w_u = b1u (x1 - x0) + b2u (x2 - x0), and w_v likewise.
void triangle_rest_inverse(const vec2* rest /* [3] */, double* out /* [4] */);

// Signed dihedral angle of a hinge: 0 when flat, positive when both wings lean towards their normals.
double hinge_angle(const vec3* x /* [4] */);
double hinge_rigidity(const cloth_shape* shape, const hinge* h, const weft_material* m); // N m, across its edge
double hinge_rest_angle(const cloth_shape* shape, const hinge* h); // of one of its hinges
// Lower Cholesky factor of a semidefinite matrix, row by row; a vanishing pivot gives a zero column.
void semidefinite_factor3(double Q[3][3], double* L /* [6] */);

#endif
