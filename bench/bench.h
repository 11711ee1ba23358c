// Benchmarks that ship: `weft bench NAME`. Ratios within one run are what counts; absolute times are printed beside
// them.
#ifndef WEFT_BENCH_H
#define WEFT_BENCH_H

#include <stdbool.h>

typedef struct benchmark
{
    const char *name, *summary;
    int (*run)(int argc, char** argv, bool json); // argv[0] is the benchmark's name; returns the exit status
} benchmark;

extern const benchmark bench_kernels, bench_direct, bench_two_corners, bench_broad_phase;
extern const benchmark bench_sa_convergence, bench_sa_box, bench_sa_speed, bench_sa_choices, bench_sa_phases;
extern const benchmark bench_sa_table1, bench_sa_map, bench_wrinkled;
extern const benchmark bench_ccd_pairs;
extern const benchmark bench_contact_scenes, bench_contact, bench_drop;
extern const benchmark bench_thesis_guess, bench_thesis_preconditioner, bench_thesis_decomposition;
extern const benchmark bench_export, bench_tolerance, bench_local_global, bench_hpbd;
extern const benchmark bench_thesis_stability, bench_thesis_damping, bench_thesis_aimex, bench_thesis_total;

#endif
