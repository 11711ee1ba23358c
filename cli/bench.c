// weft bench: the table of benchmarks.
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/cli.h"

static const benchmark* const benchmarks[] = {&bench_kernels,
                                              &bench_direct,
                                              &bench_two_corners,
                                              &bench_sa_convergence,
                                              &bench_sa_box,
                                              &bench_sa_speed,
                                              &bench_sa_choices,
                                              &bench_sa_phases,
                                              &bench_sa_table1,
                                              &bench_sa_map,
                                              &bench_broad_phase,
                                              &bench_ccd_pairs,
                                              &bench_contact_scenes,
                                              &bench_contact,
                                              &bench_drop,
                                              &bench_export,
                                              &bench_tolerance,
                                              &bench_wrinkled,
                                              &bench_local_global,
                                              &bench_hpbd,
                                              &bench_thesis_stability,
                                              &bench_thesis_damping,
                                              &bench_thesis_aimex,
                                              &bench_thesis_guess,
                                              &bench_thesis_preconditioner,
                                              &bench_thesis_decomposition,
                                              &bench_thesis_total};

enum
{
    BENCHMARK_COUNT = sizeof(benchmarks) / sizeof(benchmarks[0])
};

int command_bench(int argc, char** argv)
{
    bool json = false, list = argc < 2;
    for (int k = 1; k < argc; k++)
    {
        json = json || strcmp(argv[k], "--json") == 0;
        list = list || strcmp(argv[k], "--list") == 0;
    }
    for (int k = 0; k < BENCHMARK_COUNT && list; k++)
    {
        printf("%s\t%s\n", benchmarks[k]->name, benchmarks[k]->summary);
    }
    if (list)
    {
        return EXIT_DONE;
    }
    for (int k = 0; k < BENCHMARK_COUNT; k++)
    {
        if (strcmp(argv[1], benchmarks[k]->name) == 0)
        {
            return benchmarks[k]->run(argc - 1, argv + 1, json);
        }
    }
    return report_usage("bench", json, "there is no benchmark `%s`; `weft bench --list` names them", argv[1]);
}
