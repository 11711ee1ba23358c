// The global step of local/global methods: the constant matrix
//
//     A = M + sum over rows of elements of weight S^T S
//
// one number for each pair of vertices, the same for x, y and z, factored once for each length of substep, and solved
// for three right-hand sides.
//
// Held vertices are rows of the identity in the factor. Where few have come and gone since it was made, it stays, and
// solves are put right by a Schur complement (global_pins.c); where many have, there is a new one.
#ifndef WEFT_GLOBAL_STEP_H
#define WEFT_GLOBAL_STEP_H

#include "solve/direct/cholesky.h"
#include "step/step.h"

// One for each length of substep that came up.
typedef struct global_factor
{
    double h;      // s; 0: none
    uint64_t made; // counts factors of all lengths
    chol_numeric numeric;
} global_factor;

enum
{
    PINS_MAX = 16 // held vertices that come and go without a new factor
};

// A vertex that is held but not in the factor, or the other way round.
typedef struct pin_change
{
    int vertex;
    bool added;
    double* W; // [vertex_count] its column: A^-1 of a unit load there, or of its row of A
    bool known;
} pin_change;

typedef struct global_pins
{
    pin_change list[PINS_MAX]; // [count] by vertex; the rest keep their arrays
    int count;
    double h;                            // s: the length of substep of W
    double inverse[PINS_MAX * PINS_MAX]; // [count][count] of the Schur complement
    vec3* scratch;                       // [vertex_count]
} global_pins;

typedef struct global_step
{
    chol_symbolic symbolic;
    double dissected;                        // flops of a factor, when the matrix was last dissected
    double* values;                          // [blocks of the pattern]
    double filled;                           // s: the length of substep of values, 0: none
    global_factor factors[HALVINGS_MAX + 1]; // by the number of halvings
    uint8_t* held;                           // [vertex_count] 1: it is held
    uint8_t* factored;                       // [vertex_count] 1: its row in the factors is that of the identity
    uint64_t made;                           // factors so far
    bool has_base;                           // factors may have been made with `factored`
    bool is_saved;                           // a checkpoint was written, and nothing was held since then
    uint64_t gripped;                        // grips_hash of values and factors
    global_pins pins;
} global_step;

weft_status global_step_create(global_step* g, const model* m);
// After a tear: in the order of another one (global_step_order), which took so many flops when it was dissected.
weft_status global_step_create_after(global_step* g, const model* m, const int* order, double flops);
// Its order with vertices more, each behind the one that it was torn off from; mem_free'd by the caller. NULL: no memory.
int* global_step_order(const global_step* g, int count, const int* from);
void global_step_finish(global_step* g); // zeroed or half-built is fine
void global_step_forget(global_step* g); // factors are made anew when they are wanted, with what is then held
// At a checkpoint: a run that goes on from there makes its factors with what is held then. Those that are not put right
// stay here, too, unless what is held changes with the next substep.
void global_step_save(global_step* g);

// Takes the vertices that are held wholly from the filter.
void global_step_hold(global_step* g, const filter_record* filter, int count);
void global_step_rebase(global_step* g); // the next factors hold what is held now, and nothing puts them right
// The factor for this substep, and what puts it right; *made: it was not there. Returns in *updates how many columns of
// pins were made.
weft_status global_step_factor(global_step* g, const world* w, bool* made, int* updates);
void global_step_grip(global_step* g, const world* w); // takes what pins hold in part; others than before: all is new
void global_step_fill(global_step* g, const world* w); // the values of A for this length of substep
// A as a matrix of 3 x 3 blocks into w->values, for what adds to it.
void global_step_blocks(global_step* g, world* w);
// x = A^-1 b, with zero at held vertices; both may be the same.
void global_step_solve(global_step* g, const world* w, const vec3* b, vec3* x);

void global_step_clear_held(const global_step* g, vec3* x); // zero at held vertices

// ---- of global_pins.c
weft_status global_pins_create(global_pins* p, int vertex_count);
void global_pins_finish(global_pins* p); // zeroed or half-built is fine
// What is held and not factored, or factored and not held. False: that is too much.
bool global_pins_list(global_step* g);
// Columns for this substep, whose factor and values are there. Returns how many were made.
int global_pins_update(global_step* g, const world* w);
// x is B^-1 b of the factor's own matrix and becomes A^-1 b; loads are b at the vertices of the list.
void global_pins_correct(const global_step* g, const world* w, const vec3* loads, vec3* x);
void global_step_backsolve(global_step* g, const world* w, const vec3* b, vec3* x); // with the factor as it is

#endif
