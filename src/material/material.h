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
    const vec3* x;      // [vertices] positions
    const vec3* v;      // [vertices] velocities
    const vec3* x_last; // [vertices] newton: positions at the start of the step; else NULL
    const vec3* v_last; // [vertices] newton: velocities at the start of the step; else NULL
    double h;           // s
    double time;        // s, for gusts
} element_motion;

typedef struct energy_sums
{
    double stretch, shear, bend; // J
    double dissipation;          // J, incremental potential of damping and air; 0 unless x_last is given
    double max_stretch;          // largest |w_u|, |w_v|
} energy_sums;

typedef struct element_kind element_kind;

// Elements of one kind over the whole scene.
typedef struct element_group
{
    const element_kind* kind;
    int count, capacity;
    int* vertices; // [count * arity]
    double* rest;  // [count * rest_stride], laid out by the kind
    weft_air air;  // kind air only
} element_group;

typedef struct element_context
{
    const element_group* group;
    const element_motion* motion;
} element_context;

// Compiled for each CPU kind.
typedef struct element_kernels
{
    element_evaluate_fn* evaluate; // context is an element_context
    void (*energy)(const element_context* context, int begin, int end, energy_sums* sums); // adds
} element_kernels;

struct element_kind
{
    const char* name;
    int arity;
    int rest_stride; // doubles an element
    const element_kernels* kernels[CPU_KIND_COUNT];
    // The exact elastic force and Jacobian of one element, before clamping: force[3 arity], jacobian
    // [3 arity][3 arity] = d force / d x. NULL: not elastic.
    void (*exact)(const double* rest, const vec3* x, double* force, double* jacobian);
};

extern const element_kind kind_membrane, kind_hinge, kind_curvature, kind_air;

const element_kernels* element_kernels_for(const element_kind* kind, cpu_kind cpu);

weft_status element_group_reserve(element_group* group, const element_kind* kind, int count);
void element_group_finish(element_group* group);

// Energies of a group, summed in a fixed order. `partial` is scratch for element_energy_chunks(group) sums.
int element_energy_chunks(const element_group* group);
void element_group_energy(const element_group* group, workers* pool, cpu_kind cpu, const element_motion* motion,
                          energy_sums* partial, energy_sums* total);

// ---- setting up: one cloth's triangles in scene vertices
typedef struct cloth_shape
{
    int triangle_count;
    const int* triangle;       // [3 * triangle_count]
    const vec2* rest;          // [3 * triangle_count] rest shape of each triangle in its plane
    const vec3* rest_position; // [scene vertices] rest positions for rest angles, or NULL: flat
    int hinge_count;
    const hinge* hinges;
    const int* triangle_hinge; // [3 * triangle_count]
    weft_material material;
} cloth_shape;

// Each appends one element a triangle (or hinge).
weft_status membrane_append(element_group* group, const cloth_shape* shape);
weft_status hinge_append(element_group* group, const cloth_shape* shape);
weft_status curvature_append(element_group* group, const cloth_shape* shape);
weft_status air_append(element_group* group, const cloth_shape* shape);

extern const element_kernels air_kernels;

// Work that air does in a step that ends with velocities v_end, J.
double air_work(const element_group* group, const element_motion* start, const vec3* v_end);

double triangle_rest_area(const vec2* rest /* [3] */);

// Signed dihedral angle of a hinge: 0 when flat, positive when both wings lean towards their normals.
double hinge_angle(const vec3* x /* [4] */);

#endif
