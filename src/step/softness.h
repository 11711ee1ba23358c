// How coarse links give way (hierarchy.h): the stiffness of the material, as far as sweeps on finer levels miss it.
//
// *Stiffness of a link.* Around a vertex of mass m the energy of a stretch e along the unit vector d is 1/2 S(d) e^2,
// with S a form of fourth degree that elements make (the sum of (d . G d)^2 / compliance over their rows, G the virial
// of the gradient), so that S / m is the square of the speed of waves. Coarse particles have the mass and the forms of
// what follows them. A link of length L between particles with n links each is the stretch of a part of their mass,
//
//     k = f / L^2 (m_a / n_a + m_b / n_b) (S_a / m_a + S_b / m_b) / 2
//
// with f, of a level and a piece of cloth, such that the form of all links is nearest to that of all elements: about 1
// for lines, 8/3 for sheets, 5 for solids. So the links of a level together are as stiff as the material, whatever the
// mesh.
//
// *Its share.* One sweep of links of N = h^2 k / m bears 1 / (1 + a N) of the stiffness for long waves, s sweeps miss
// (a N / (1 + a N))^s of it. Each level is as stiff as what all finer ones miss: nothing is counted twice, and sweeps
// that suffice leave nothing to the hierarchy. Links that do not give way are the limit of h^2 k / m without bound.
//
// *Folds* (hierarchy_def.bends) go the same way: each has the stiffness of a spring of the material's bending over its
// length (spring_bending) and width, and each level as much of it as finer ones miss of theirs.
#ifndef WEFT_SOFTNESS_H
#define WEFT_SOFTNESS_H

#include "step/hierarchy.h"

typedef struct softness
{
    double* rate[LEVELS_MAX + 1]; // [vertex_count] 1/s^2: k / m on each level, of its vertices; level 0 first
    double* fold[LEVELS_MAX + 1]; // likewise of folds; NULL: coarse levels have none
    double* unfolded;             // [vertex_count] share of folds, scratch; NULL likewise
    double* moving;               // [vertex_count] kg, scratch
    double* inverse;              // [vertex_count] 1/kg, scratch
    double* missing;              // [vertex_count] share, scratch
    double h;                     // s, of what links have; 0: none yet
} softness;

// Gives the links of all levels their compliances.
weft_status softness_create(softness* s, hierarchy* h, const graph* g, const model* m);
// After hierarchy_mend, which has mended compliances: vertices from `before` on have the rates of those that they were
// torn off from.
weft_status softness_mend(softness* s, const hierarchy* h, int before, const int* from);
void softness_finish(softness* s); // zeroed or half-built is fine
// What is held has changed: coarse particles weigh what moves with them.
void softness_hold(softness* s, hierarchy* h, const model* m, const double* inv_mass);

typedef struct softness_step
{
    double h;                  // s
    int sweeps, coarse_sweeps; // on level 0, on each coarse one
} softness_step;

void softness_begin(softness* s, hierarchy* h, const softness_step* step); // nothing where h is that of the last one

#endif
