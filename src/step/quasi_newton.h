// Quasi-Newton acceleration of the turns v <- v + F(v), F = A^-1 r, r = -grad g (Liu, Bouaziz and Kavan 2017): L-BFGS
// (Nocedal 1980) whose first guess of the inverse Hessian is the constant A^-1, scaled by what the last pair says.
//
// Pairs are s, the way from one iterate to the next, and y, the change of the gradient on it. The turns' own solves
// give z = A^-1 y as the change of F, so that the direction is a sum of s, z and F,
//
//     p = c (F - sum alpha_k z_k) + sum beta_k s_k,
//
// and its coefficients follow from products of vectors that one pass gathers: there is no further solve.
#ifndef WEFT_QUASI_NEWTON_H
#define WEFT_QUASI_NEWTON_H

#include "core/core.h"
#include "math/vec.h"

enum
{
    QUASI_WINDOW = 4 // pairs; more save hardly a turn
};

// Products of the newest r and y with all pairs, by place in the window.
typedef struct quasi_sums
{
    double sr[QUASI_WINDOW], zr[QUASI_WINDOW], sy[QUASI_WINDOW], zy[QUASI_WINDOW];
    double Fr;
} quasi_sums;

// The direction, by place in the window.
typedef struct quasi_mix
{
    double F, z[QUASI_WINDOW], s[QUASI_WINDOW];
} quasi_mix;

typedef struct quasi_newton
{
    int count;                               // of unknowns, three numbers each
    int newest;                              // place of the newest pair
    bool started;                            // there is an iterate before
    bool mixed;                              // the direction is not F
    bool is_short;                           // the step has been shortened
    bool usable[QUASI_WINDOW];               // the pair is there, and g curves upwards along it
    vec3 *s[QUASI_WINDOW], *z[QUASI_WINDOW]; // pairs
    double sy[QUASI_WINDOW][QUASI_WINDOW];   // [i][j] s_i . y_j, of j not older than i
    double yz[QUASI_WINDOW][QUASI_WINDOW];   // y_i . A^-1 y_j
    vec3 *v, *F, *r;                         // of the last iterate
    double slope;                            // of g along the direction
    double scale;                            // of A^-1
    quasi_sums* partial;                     // [chunks]
} quasi_newton;

weft_status quasi_newton_create(quasi_newton* q, int count);
void quasi_newton_finish(quasi_newton* q); // zeroed or half-built is fine
void quasi_newton_clear(quasi_newton* q);  // nothing came before
// v is the iterate, r and F its own: v becomes the next one.
void quasi_newton_mix(quasi_newton* q, workers* pool, cpu_kind cpu, const vec3* r, const vec3* F, vec3* v);
// g has risen to v, where r was found: v goes back, the first time by part of the way, where the slopes at both ends
// meet zero; then to where F alone leads, and nothing is remembered.
void quasi_newton_retreat(quasi_newton* q, workers* pool, cpu_kind cpu, const vec3* r, vec3* v);

// Compiled for each CPU kind; ranges are of numbers, three a vertex. Each pass reads what it needs once.
typedef struct quasi_newton_kernels
{
    // The pair from the last iterate to this one takes the place `newest`, this one that of the last.
    void (*remember)(const quasi_newton* q, const double* r, const double* F, const double* v, int begin, int end,
                     quasi_sums* sums);
    // v += the mix
    void (*combine)(const quasi_newton* q, const quasi_mix* mix, double* v, int begin, int end);
    // r . (v - the last iterate)
    double (*along)(const quasi_newton* q, const double* r, const double* v, int begin, int end);
} quasi_newton_kernels;

const quasi_newton_kernels* quasi_newton_kernels_for(cpu_kind cpu);

#endif
