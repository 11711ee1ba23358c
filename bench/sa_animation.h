// Solvers side by side over consecutive steps of an animation. The simulation goes its way with sa-ppcg; the first
// linear system of each sampled step is handed to every entrant in turn, all from (I - S) z. An entrant's solver lives
// through all steps, so that what it keeps from solve to solve acts as in a simulation.
//
// Each measurement is a line of the results log. A killed run goes on: the simulation is replayed, what is in the log
// is not measured again, and solvers with a memory get it back by solving again without being logged.
#ifndef WEFT_BENCH_SA_ANIMATION_H
#define WEFT_BENCH_SA_ANIMATION_H

#include "bench/sa_systems.h"

enum
{
    SA_ENTRANT_MAX = 12
};

// What a solve owes to those before it.
typedef enum sa_memory
{
    SA_MEMORY_NONE,
    SA_MEMORY_ANALYSIS, // that of the pattern: one solve brings it back
    SA_MEMORY_ALL       // all of them
} sa_memory;

typedef struct sa_entrant sa_entrant;
// Measures something else than the time of a solve and adds its line under the key.
typedef weft_status sa_measure(const sa_entrant* e, const sa_system* s, results* log, const char* key);

struct sa_entrant
{
    const char* name;    // for tables; the solver's own or with something added, as "sa-ppcg cold"
    weft_solver_def def; // the key names what is in it
    int samples;         // of the animation's steps, evenly spread, the last among them; 0: takes no part
    sa_memory memory;    // all: it should be called at all steps
    bool cold;           // made anew for each solve
    sa_measure* measure; // NULL: a timed solve
    void* settings;      // of measure
};

typedef struct sa_animation
{
    sa_case c; // its step is the first that is sampled
    int count; // sampled steps, one after the other
    sa_entrant entrants[SA_ENTRANT_MAX];
    int entrant_count;
} sa_animation;

// Measures what the log does not hold yet. A simulation that breaks down is no failure: the steps that it did not reach
// are logged as not simulated.
weft_status sa_animation_run(const sa_animation* a, const sa_options* options, results* log);
bool sa_animation_is_sampled(const sa_animation* a, int entrant, int sample);

// The lines of an animation, read from the log once. They live as long as the log.
typedef struct sa_course
{
    const sa_animation* a;
    const char** lines; // [entrant_count * count], NULL where nothing was measured
} sa_course;

weft_status sa_course_init(sa_course* c, const sa_animation* a, const results* log);
void sa_course_finish(sa_course* c);
// A timed solve's has vertices, blocks, iterations, converged, residual, residual2, setup_s, solve_s, refreshed,
// escalations, levels, operator_complexity, bytes, halvings, rejected, status, took (the name of what ran).
const char* sa_course_line(const sa_course* c, int entrant, int sample);
double sa_line_seconds(const char* line);                 // setup and solve of a solve that converged, else NaN
const char* sa_line_took(const char* line, char out[32]); // "" where the line does not say

// Statistics of a field over the samples from `first` on at which the entrant solved; "seconds" is setup and solve.
typedef struct sa_spread
{
    int count;
    double mean, least, median, p95, most; // NaN without any
} sa_spread;

sa_spread sa_course_spread(const sa_course* c, int entrant, const char* field, int first);
// Mean time of entrant a over that of b, over the samples from `first` on at which both solved.
double sa_course_ratio(const sa_course* c, int a, int b, int first);
int sa_course_failures(const sa_course* c, int entrant); // solves that did not converge, or were not simulated

#endif
