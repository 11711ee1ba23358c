// Parts of `weft bench sa-table1`: what is asked for, what is measured, and the rows of the table.
#ifndef WEFT_BENCH_SA_TABLE1_H
#define WEFT_BENCH_SA_TABLE1_H

#include "bench/page.h"
#include "bench/sa_animation.h"

enum
{
    TABLE1_SIZE_MAX = 16,
    TABLE1_SCENES = 4,
    TABLE1_ROWS_MAX = TABLE1_SIZE_MAX * TABLE1_SCENES * 2
};

// Entrants, in the order in which a step's system goes through them.
typedef enum table1_entrant
{
    ENTRANT_SA,
    ENTRANT_COLD, // sa-ppcg from nothing
    ENTRANT_TRIAD,
    ENTRANT_DIAG, // right after the triad that its floor is taken from
    ENTRANT_DIAG_PPCG,
    ENTRANT_SA_PCG,
    ENTRANT_CHOLESKY,
    ENTRANT_CHOLMOD,
    ENTRANT_AUTO,
    ENTRANT_TRACE,
    ENTRANT_COUNT
} table1_entrant;

extern const char* const table1_names[ENTRANT_COUNT];
extern const char* const table1_scenes[TABLE1_SCENES];

// Three ways to say that a solve is done: tolerance times the start in the solver's own norm of the residual, in its
// 2-norm, and in the energy norm of the error.
typedef enum table1_measure
{
    MEASURE_OWN,
    MEASURE_TWO,
    MEASURE_ENERGY,
    MEASURE_COUNT
} table1_measure;

typedef struct table1_row
{
    sa_animation a;
    sa_course course;
    bool whole; // all steps of the scene

    // What follows is made from the lines.
    int vertices;
    sa_spread seconds[ENTRANT_COUNT];
    double setup[ENTRANT_COUNT], solve[ENTRANT_COUNT], iterations[ENTRANT_COUNT]; // means
    double later[ENTRANT_COUNT];     // mean seconds without the first solve where there are more: no analysis in it
    double full, numeric, kept;      // shares of sa-ppcg's setups
    double restructured;             // of those that are numeric: coarse matrices got another structure
    double floor;                    // median of a diag-pcg iteration's time over that of its bytes
    double bandwidth;                // bytes a second, best of the triads
    double factor[2][MEASURE_COUNT]; // iterations to a measure over those to the solver's own: sa-ppcg, diag-pcg
    // diag-pcg's time over sa-ppcg's: means over all steps of each; over the steps of both; the lower of these
    double speed_all, speed_common, speed_up;
    double speed_median; // of the medians of each: what a noisy machine would say when it is quiet
    double speed_cold, speed_two, speed_energy;
    double over_cholesky, over_cholmod;
    double auto_ratio; // time of the best solver over auto's
    char auto_took[64], auto_best[32];
    double paper_diag, paper_direct, bar, aim, bar_cholmod; // NaN: none
} table1_row;

typedef struct table1
{
    sa_options options;
    results log;
    const char *scenes, *tessellations, *solvers, *out;
    int cells[TABLE1_SIZE_MAX], size_count;
    int steps, from, full_max;                // steps 0: by size
    int diag_every, direct_every, cold_every; // 0: by size
    int direct_max, plane_max, trace, trace_max;
    int scene_steps; // of the whole animation
    triad bandwidth;
    workers* pool;
    table1_row* rows; // [row_count] scene by scene, tessellation by tessellation, growing
    int row_count;
} table1;

// sa_table1_measure.c: what an animation of this size is made of, and the entrants that are no solves.
void table1_animation(table1* t, const char* scene, int cells, bool irregular, table1_row* out);

// sa_table1_rows.c: all of a row that is made from the lines.
void table1_row_fill(table1_row* row);
const char* table1_verdict(double value, double bar, double aim);
bool table1_same_table(const table1_row* a, const table1_row* b); // scene and tessellation

// sa_table1_text.c
void table1_print(const table1* t);
void table1_print_json(const table1* t);

enum
{
    TABLE1_GRIDS = 3
};
// Grid number `which` of the rows [first, last).
void table1_grid(const table1* t, int which, int first, int last, text_grid* out);
// What the figures are and how they were sampled: a sentence each.
typedef void table1_sentence(void* context, const char* sentence);
void table1_notes(const table1* t, table1_sentence* say, void* context);
void table1_sampling(const table1_row* row, char* out, size_t size); // "diag-pcg at 2 of 20 steps, ..."

// sa_table1_page.c: table1.csv, figure-*.svg and index.html.
weft_status table1_write(const table1* t);

#endif
