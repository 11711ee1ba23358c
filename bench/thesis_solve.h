// What the benchmarks of chapters 5 and 6 of Boxerman's thesis share: its parameter sets, its scenes, and solvers that
// are held against each other on the systems of one simulation, all from the same first guess.
#ifndef WEFT_BENCH_THESIS_SOLVE_H
#define WEFT_BENCH_THESIS_SOLVE_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/results.h"
#include "solve/solve.h"

enum
{
    THESIS_ENTRANTS = 6
};

// One of the thesis's sets (section 5.3.1), drawn by seed and number alone. Stiffness of shear and bending are those of
// Weft's material: a diagonal spring of ks2 is ks2 / 2 of shear. The thesis's unit of bending does not fit its formula,
// so bending is from 1e-6 to 1e-4 N m, as cloth has it; it hardly matters here. Damping is one time for all
// stiffnesses, kd1 / ks1. Air damping is left out.
typedef struct thesis_set
{
    int number, cells;
    double side;                             // m, of the sheet
    double density, stretch, shear, bending; // kg/m^2, N/m, N/m, N m
    double damping;                          // s
    double time_step;                        // s
    double kappa;                            // (4.8)
} thesis_set;

typedef struct thesis_options
{
    const char *scenes, *model, *method, *out; // names, a folder or NULL
    int sets, seed, cells_max, threads, rounds, energy_every;
    double share, seconds, side;
    bool json;
    results log;
} thesis_options;

// A solver under test.
typedef struct thesis_entrant
{
    const char *name, *solver, *preconditioner, *variant;
    bool join; // see solve_options
} thesis_entrant;

// Sums over the systems of a run, one a step.
typedef struct thesis_total
{
    double systems, vertices;
    double iterations, row_products;
    double seconds;                      // of setup and solve, the best of the rounds
    double rest_s;                       // of the simulation's steps, processor seconds but for their solves
    double components, held;             // held: rows that are held in all directions
    double energy_systems, energy_error; // root of the mean square, relative to the start (I - S) z
    double equal;                        // iterations to the energy error that the reference entrant ends with
} thesis_total;

// Options that all three have; `known` are those of results.h and these. Refuses what is unknown.
void thesis_options_read(int argc, char** argv, bool json, const char* scenes, const char* method, double side,
                         thesis_options* out);
int thesis_set_count(const thesis_options* o); // sets that are to run: the first `share` of them
thesis_set thesis_set_draw(const thesis_options* o, int number);

// Runs a set in a scene; entrant `reference` moves the cloth. With `equal` the iterations to its energy error are
// counted, too.
weft_status thesis_run(const thesis_options* o, const char* scene, const thesis_set* set, const thesis_entrant* list,
                       int count, int reference, bool equal, thesis_total* out);

// The same through the log: one line for each entrant. Prints a line of progress on standard error.
weft_status thesis_measure(thesis_options* o, const char* scene, const thesis_set* set, const thesis_entrant* list,
                           int count, int reference, bool equal, thesis_total* out);

// The head of the CSV and a line of it: seed, share and all parameters first.
void thesis_csv_head(FILE* out);
void thesis_csv_line(const thesis_options* o, const char* scene, const thesis_set* set, const thesis_entrant* entrant,
                     const thesis_total* total, FILE* out);

// All sets in all scenes.
typedef struct thesis_table
{
    thesis_options o;
    const thesis_entrant* list;
    int count, reference;
    char scene[4][16];
    int scene_count, set_count;
    thesis_set* sets;     // [set_count]
    thesis_total* totals; // [scene_count * set_count * count]
} thesis_table;

// Reads options, opens the log and measures. Clean up with thesis_close also on failure.
weft_status thesis_collect(thesis_table* t, const char* name, bool equal, int argc, char** argv);
const thesis_total* thesis_at(const thesis_table* t, int scene, int set, int entrant);
// A sum over all sets of a scene of a field, given by its offset.
double thesis_sum(const thesis_table* t, int scene, int entrant, size_t field);
// NAME.csv, and NAME-SCENE.svg of `field` a system over the number of particles and over kappa, one colour an entrant.
weft_status thesis_write(const thesis_table* t, const char* name, const char* title, size_t field);
void thesis_close(thesis_table* t);

// Slope of the straight line through (log x, log y); NaN with fewer than two points.
double thesis_exponent(const double* x, const double* y, int count);
double thesis_median(double* values, int count); // sorts them

#endif
