// The multigrid solvers as strangers use them: their answers against direct solves, constraints of every kind, plane
// contact, bad input, failing memory. test_sa_parts.c looks inside the hierarchy.
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common_system.h"

static const char* const names[] = {"sa-ppcg", "sa-pcg", "sa-cycle", "mpcg", "diag-pcg", "diag-ppcg"};

enum
{
    SA_COUNT = 3, // the first of the names
    NAME_COUNT = 6,
    DENSE_LIMIT = 60 // vertices up to which the reference is the dense one
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Few unknowns on the coarsest level, so that small systems have several.
static weft_solver_def small_def(const char* name, double tolerance)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = name;
    def.tolerance = tolerance;
    def.sa.coarsest = 60;
    return def;
}

static weft_status solve(const weft_solver_def* def, const weft_system* system, vec3* x, weft_solve_stats* stats)
{
    weft_solver* solver = NULL;
    weft_solve_stats own;
    assert_int_equal(weft_solver_create(def, &solver, NULL), WEFT_OK);
    weft_status status = weft_solver_solve(solver, system, x, stats ? stats : &own);
    weft_solver_destroy(solver);
    return status;
}

static vec3* new_vector(const weft_system* system)
{
    return calloc((size_t)system->pattern.row_count, sizeof(vec3));
}

static vec3* prescribed(const weft_system* system)
{
    vec3* x = new_vector(system);
    linear_system view = system_view(system, 0);
    filter_prescribed(&view, x);
    return x;
}

// ---- against direct solves

// The largest error of each kind: sa and others, loose and tight.
typedef struct worst
{
    double sa[2], other[2];
    int solves, most_levels;
} worst;

static const double tolerances[2] = {1e-5, 1e-12};

// One solver object for each name and tolerance, kept through all systems: their sizes, patterns and constraints
// change.
typedef struct solver_set
{
    weft_solver* solver[NAME_COUNT][2];
} solver_set;

static void set_create(solver_set* set)
{
    for (int k = 0; k < 2 * NAME_COUNT; k++)
    {
        weft_solver_def def = small_def(names[k / 2], tolerances[k % 2]);
        assert_int_equal(weft_solver_create(&def, &set->solver[k / 2][k % 2], NULL), WEFT_OK);
    }
}

static void set_destroy(solver_set* set)
{
    for (int k = 0; k < 2 * NAME_COUNT; k++)
    {
        weft_solver_destroy(set->solver[k / 2][k % 2]);
    }
}

static vec3* reference(const weft_system* system)
{
    vec3* x = new_vector(system);
    if (system->pattern.row_count <= DENSE_LIMIT)
    {
        test_dense_solution(system, x);
        return x;
    }
    weft_solver_def def = small_def("cholesky", 1e-10);
    assert_int_equal(solve(&def, system, x, NULL), WEFT_OK);
    return x;
}

// Rounding is that of the largest motion: what moves far passes by while the solve goes on.
static void check_constraints(const weft_system* system, const vec3* x)
{
    double largest = 1.0;
    for (int i = 0; i < system->pattern.row_count; i++)
    {
        largest = fmax(largest, v3_length(x[i]));
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* r = &system->filter[k];
        for (int d = 0; d < r->direction_count; d++)
        {
            vec3 z = system->z ? system->z[r->vertex] : v3(0, 0, 0);
            double off = v3_dot(r->direction[d], v3_sub(x[r->vertex], z));
            assert_true(fabs(off) <= 1e-12 * largest);
        }
    }
}

// All solvers at both tolerances; destroys the system.
static void check_system(solver_set* set, weft_system* system, worst* w)
{
    vec3 *expected = reference(system), *x = new_vector(system), *x0 = prescribed(system);
    double start = test_energy_distance(system, x0, expected);
    for (int k = 0; k < 2 * NAME_COUNT; k++)
    {
        int name = k / 2, tight = k % 2;
        weft_solve_stats stats;
        weft_status status = weft_solver_solve(set->solver[name][tight], system, x, &stats);
        double error = start > 0.0 ? test_energy_distance(system, x, expected) / start : 0.0;
        if (status != WEFT_OK || !(error < (tight ? 1e-8 : name < SA_COUNT ? 1e-4 : 1e-3)))
        {
            fail_msg("%s at %g, %d vertices, %d held: %s, error %g after %d iterations", names[name], tolerances[tight],
                     system->pattern.row_count, system->filter_count, weft_status_text(status), error,
                     stats.iterations);
        }
        double* place = name < SA_COUNT ? &w->sa[tight] : &w->other[tight];
        *place = fmax(*place, error);
        w->most_levels = stats.level_count > w->most_levels ? stats.level_count : w->most_levels;
        w->solves++;
        check_constraints(system, x);
    }
    free(x);
    free(x0);
    free(expected);
    weft_system_destroy(system);
}

static void report_worst(const char* what, const worst* w)
{
    print_message("          %s: %d solves, up to %d levels; largest energy error at 1e-5: sa %.2g, others %.2g; at "
                  "1e-12: sa %.2g, others %.2g\n",
                  what, w->solves, w->most_levels, w->sa[0], w->other[0], w->sa[1], w->other[1]);
}

static weft_system* scene_system(int which)
{
    static const char* const scenes[] = {"pinned", "drooping", "re-entrant", "drooping", "pinned"};
    const char* overrides[] = {"cells=20", which % 2 ? "tessellation=irregular" : "tessellation=regular"};
    return test_scene_system(scenes[which], overrides, 2, which < 3 ? 3 : 30);
}

enum
{
    SCENES = 5
};

// Real steps with the pins of their scenes, then 0 to 60 % of the vertices held in 1, 2 or 3 random directions instead.
static void test_scenes(void** unused)
{
    (void)unused;
    uint64_t random = 0;
    worst w = {0};
    solver_set set;
    set_create(&set);
    for (int scene = 0; scene < SCENES; scene++)
    {
        check_system(&set, scene_system(scene), &w);
        for (int turn = 0; turn < 8; turn++)
        {
            weft_system* system = scene_system(scene);
            test_constrain(system, 0.6 * turn / 7, (turn + scene) % 4, &random);
            check_system(&set, system, &w);
        }
    }
    report_worst("scenes", &w);
    assert_true(w.most_levels >= 3);
    set_destroy(&set);
}

// Several cloths in one matrix, with vertices that have no neighbours and a cloth of one triangle.
static void test_many_cloths(void** unused)
{
    (void)unused;
    uint64_t random = 100000;
    worst w = {0};
    solver_set set;
    set_create(&set);
    for (int turn = 0; turn < 8; turn++)
    {
        weft_system* parts[] = {scene_system(turn % SCENES),
                                test_triangle_system(),
                                test_lonely_system(1 + 20 * turn, &random),
                                test_sheet_system(5 + turn, 1e3),
                                scene_system((turn + 1) % SCENES),
                                test_triangle_system()};
        weft_system* system = test_join_systems(parts, 6);
        test_constrain(system, 0.1 * (turn % 7), turn % 4, &random);
        check_system(&set, system, &w);
    }
    report_worst("several cloths in one matrix", &w);
    set_destroy(&set);
}

// Small ones, against elimination in long double: one triangle, lonely vertices, sheets.
static void test_small(void** unused)
{
    (void)unused;
    uint64_t random = 200000;
    worst w = {0};
    solver_set set;
    set_create(&set);
    for (int turn = 0; turn < 28; turn++)
    {
        int kind = turn % 4;
        weft_system* system = kind == 0   ? test_triangle_system()
                              : kind == 1 ? test_lonely_system(1 + turn, &random)
                                          : test_sheet_system(kind == 2 ? 7 : 1 + turn / 4, 1e3);
        test_constrain(system, 0.1 * (turn / 4), turn % 4, &random);
        check_system(&set, system, &w);
    }
    // The reference of the large ones is itself good.
    weft_system* system = test_sheet_system(10, 1e3);
    test_constrain(system, 0.3, 0, &random);
    vec3 *dense = new_vector(system), *direct = reference(system), *x0 = prescribed(system);
    test_dense_solution(system, dense);
    double error = test_energy_distance(system, dense, direct) / test_energy_distance(system, x0, dense);
    assert_true(error < 1e-12);
    report_worst("small, against long double", &w);
    free(dense);
    free(direct);
    free(x0);
    weft_system_destroy(system);
    set_destroy(&set);
}

// One object through systems of changing size gives the bits of a fresh one.
static void test_changing_size(void** unused)
{
    (void)unused;
    uint64_t random = 300000;
    const int sides[] = {12, 20, 4, 20, 1, 15, 16};
    for (int name = 0; name < SA_COUNT; name++)
    {
        weft_solver_def def = small_def(names[name], 1e-8);
        weft_solver* kept = NULL;
        assert_int_equal(weft_solver_create(&def, &kept, NULL), WEFT_OK);
        for (size_t k = 0; k < sizeof(sides) / sizeof(sides[0]); k++)
        {
            weft_system* system = test_sheet_system(sides[k], 1e3);
            test_constrain(system, 0.1 * (double)k, 1 + (int)k % 3, &random);
            vec3 *x = new_vector(system), *fresh = new_vector(system);
            assert_int_equal(weft_solver_solve(kept, system, x, NULL), WEFT_OK);
            assert_int_equal(solve(&def, system, fresh, NULL), WEFT_OK);
            assert_memory_equal(x, fresh, (size_t)system->pattern.row_count * sizeof(vec3));
            free(x);
            free(fresh);
            weft_system_destroy(system);
        }
        weft_solver_destroy(kept);
    }
}

// Threads change no bit; other kinds of kernels none that matters.
static void test_threads_and_kernels(void** unused)
{
    (void)unused;
    uint64_t random = 350000;
    weft_system* system = test_sheet_system(40, 1e3);
    test_constrain(system, 0.2, 0, &random);
    const char* const kernels[] = {"base", "avx2", "avx512"};
    vec3 *one = new_vector(system), *x = new_vector(system), *x0 = prescribed(system);
    for (int k = 0; k < 9; k++)
    {
        weft_solver_def def = small_def("sa-ppcg", 1e-8);
        weft_solver* solver = NULL;
        def.sa.precision = 16 << k % 3;
        assert_int_equal(solve(&def, system, one, NULL), WEFT_OK);
        def.worker_count = 3;
        assert_int_equal(solve(&def, system, x, NULL), WEFT_OK);
        assert_memory_equal(x, one, (size_t)system->pattern.row_count * sizeof(vec3));
        def.kernels = kernels[k / 3];
        if (weft_solver_create(&def, &solver, NULL) == WEFT_OK) // this CPU may not have them
        {
            assert_int_equal(weft_solver_solve(solver, system, x, NULL), WEFT_OK);
            assert_true(test_energy_distance(system, x, one) < 1e-7 * test_energy_distance(system, x0, one));
        }
        weft_solver_destroy(solver);
    }
    free(one);
    free(x);
    free(x0);
    weft_system_destroy(system);
}

// More special nodes than the coarsest level may have: nothing but the block diagonal is left, which solves them.
static void test_only_special(void** unused)
{
    (void)unused;
    uint64_t random = 400000;
    for (int turn = 0; turn < 12; turn++)
    {
        weft_system* system = test_lonely_system(300, &random);
        test_constrain(system, 0.2 * (turn / 3), 0, &random);
        weft_solver_def def = small_def(names[turn % 3], 1e-5);
        def.sa.precision = 64;
        vec3* x = new_vector(system);
        weft_solve_stats stats;
        assert_int_equal(solve(&def, system, x, &stats), WEFT_OK);
        assert_true(stats.level_count == 1 && stats.levels[0].rows == 300);
        // The hierarchy of sa-pcg knows nothing of the constraints: only free vertices are one iteration's work.
        assert_true(stats.iterations == 1 || (strcmp(names[turn % 3], "sa-pcg") == 0 && turn >= 3));
        free(x);
        weft_system_destroy(system);
    }
}

// ---- plane contact

// Holds half of the vertices, and no others, in one direction: of the normal, or without one each in its own.
static void put_on_planes(weft_system* system, const vec3* normal, uint64_t* random)
{
    test_constrain(system, 0.5, 1, random);
    for (int k = 0; k < system->filter_count && normal; k++)
    {
        system->filter[k] = filter_record_make(system->filter[k].vertex, normal, 1);
    }
}

static int iterations(const weft_system* system, int relax)
{
    weft_solver_def def = small_def("sa-ppcg", 1e-10);
    weft_solve_stats stats;
    def.sa.relax = relax;
    vec3* x = new_vector(system);
    assert_int_equal(solve(&def, system, x, &stats), WEFT_OK);
    free(x);
    return stats.iterations;
}

// What multiplying the near kernel by S and relaxing it bring where half of a sheet lies on a tilted plane, or on a
// rough ground where each vertex has a plane of its own. A kernel that is not multiplied by S comes from handing over
// the prefiltered matrix without a filter: the hierarchy is then the same but for the kernel.
static void test_plane_contact(void** unused)
{
    (void)unused;
    uint64_t random = 500000;
    const char* overrides[] = {"cells=60", "tessellation=irregular", "time_step=0.02"};
    const vec3 tilted = {0, 1, 0.5};
    for (int rough = 0; rough < 2; rough++)
    {
        weft_system* system = test_scene_system("drooping", overrides, 3, 0);
        put_on_planes(system, rough ? NULL : &tilted, &random);
        weft_system* unfiltered = test_prefiltered_system(system);
        int raw = iterations(unfiltered, 0), filtered = iterations(system, 0), relaxed = iterations(system, 1);
        print_message("          half on %s: %d iterations; without relaxing %d; without S and relaxing %d\n",
                      rough ? "planes of their own" : "one tilted plane", relaxed, filtered, raw);
        assert_true(relaxed < filtered && filtered < raw);
        assert_true(raw >= (rough ? 1.5 : 1.1) * relaxed);
        weft_system_destroy(unfiltered);
        weft_system_destroy(system);
    }
}

// ---- bad input

// A sheet with one entry of the matrix changed, on both sides of the diagonal.
static weft_system* spoiled_sheet(double diagonal)
{
    weft_system* system = test_sheet_system(12, 1e3);
    system->values[9 * (size_t)system->pattern.diagonal[70]] = diagonal;
    return system;
}

static double matrix_scale(weft_system* system, double scale)
{
    for (int k = 0; k < 9 * system->pattern.block_count; k++)
    {
        system->values[k] *= scale;
    }
    return scale;
}

// Ends soon, with one of the failures that fit, and leaves numbers in x.
static void check_refused(weft_system* system, const char* what)
{
    vec3* x = new_vector(system);
    for (int name = 0; name < SA_COUNT; name++)
    {
        for (int precision = 16; precision <= 64; precision *= 2)
        {
            weft_solver_def def = small_def(names[name], 1e-5);
            def.sa.precision = precision;
            weft_solve_stats stats;
            double start = seconds();
            weft_status status = solve(&def, system, x, &stats);
            if (status != WEFT_NOT_DEFINITE && status != WEFT_NOT_CONVERGED && status != WEFT_NOT_FINITE)
            {
                fail_msg("%s, %s: %s", what, names[name], weft_status_text(status));
            }
            assert_false(stats.converged);
            assert_true(seconds() - start < 20.0);
            for (int i = 0; i < system->pattern.row_count; i++)
            {
                assert_true(v3_is_finite(x[i]));
            }
        }
    }
    free(x);
    weft_system_destroy(system);
}

// Indefinite with a positive diagonal: in a block, between vertices, on the whole. Singular: a sheet that floats.
static void test_not_definite(void** unused)
{
    (void)unused;
    check_refused(spoiled_sheet(1e-3), "a small diagonal");
    check_refused(spoiled_sheet(1.0), "a diagonal that is a little too small");

    weft_system* strong = test_sheet_system(12, 1e3);
    int pair[2] = {bsr_pattern_find(&strong->pattern, 40, 41), bsr_pattern_find(&strong->pattern, 41, 40)};
    for (int k = 0; k < 18; k++)
    {
        strong->values[9 * pair[k / 9] + k % 9] *= 30.0;
    }
    check_refused(strong, "one strong connection");

    weft_system* shifted = test_sheet_system(12, 1e3); // lowest eigenvalues below zero, blocks still definite
    for (int i = 0; i < shifted->pattern.row_count; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            shifted->values[9 * shifted->pattern.diagonal[i] + 4 * k] -= 0.8;
        }
    }
    check_refused(shifted, "a shifted spectrum");

    weft_system* floating = test_sheet_system(12, 1e3); // no mass, and b pushes it
    for (int i = 0; i < floating->pattern.row_count; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            floating->values[9 * floating->pattern.diagonal[i] + 4 * k] -= 0.1;
        }
    }
    check_refused(floating, "a floating sheet");
}

// Powers far outside of single precision, which the hierarchy is in.
static void test_scales(void** unused)
{
    (void)unused;
    const double scales[] = {1e-200, 1e-100, 1e-30, 1e30, 1e100, 1e200};
    uint64_t random = 600000;
    for (int turn = 0; turn < 36; turn++)
    {
        weft_system* system = test_sheet_system(12, 1e3);
        test_constrain(system, 0.2, 0, &random);
        // Of A alone: x is large or small. Of A and b: x stays, and so does the answer.
        double scale = scales[turn / 6];
        bool both = turn % 2;
        vec3* expected = reference(system);
        matrix_scale(system, scale);
        for (int i = 0; i < system->pattern.row_count; i++)
        {
            system->b[i] = v3_scale(both ? scale : 1.0, system->b[i]);
            system->z[i] = v3_scale(both ? 1.0 : 1.0 / scale, system->z[i]);
            expected[i] = v3_scale(both ? 1.0 : 1.0 / scale, expected[i]);
        }
        vec3 *x = new_vector(system), *x0 = prescribed(system);
        weft_solver_def def = small_def(names[turn / 2 % 3], 1e-8);
        weft_status status = solve(&def, system, x, NULL);
        if (status != WEFT_OK)
        {
            // Energies beyond what double holds may be refused, but not answered wrongly.
            assert_true(status == WEFT_NOT_FINITE || status == WEFT_NOT_DEFINITE);
            print_message("          %s refuses A times %g, b times %g\n", def.solver, scale, both ? scale : 1.0);
        }
        double size = 0.0, error = 0.0;
        for (int i = 0; i < system->pattern.row_count; i++)
        {
            size = fmax(size, v3_length(v3_scale(both ? 1.0 : scale, expected[i])));
            error = fmax(error, v3_length(v3_scale(both ? 1.0 : scale, v3_sub(x[i], expected[i]))));
        }
        assert_true(status != WEFT_OK || error < 1e-6 * size);
        free(x);
        free(x0);
        free(expected);
        weft_system_destroy(system);
    }
}

// Through files and the command line: a sentence and status 2 for what is no system, 1 for what has no solution.
static int command_status(const char* solver, const char* folder)
{
    char line[256];
    snprintf(line, sizeof(line), "timeout 20 \"$WEFT\" solve s --solver %s --set sa.coarsest=60 >/dev/null 2>err",
             solver);
    return test_shell(folder, line);
}

static bool error_says(const char* folder, const char* word)
{
    char path[300], text[1000] = {0};
    snprintf(path, sizeof(path), "%s/err", folder);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    fclose(f);
    return strstr(text, word) != NULL;
}

static void check_command(weft_system* system, const char* folder, int expected, const char* word)
{
    char prefix[300];
    snprintf(prefix, sizeof(prefix), "%s/s", folder);
    assert_int_equal(weft_system_write(system, prefix, 0, NULL), WEFT_OK);
    weft_system_destroy(system);
    for (int name = 0; name < SA_COUNT; name++)
    {
        assert_int_equal(command_status(names[name], folder), expected);
        assert_true(expected == 0 || error_says(folder, word));
    }
}

static void cut_file(const char* path)
{
    FILE* f = fopen(path, "rb");
    assert_non_null(f);
    char* text = malloc(1 << 20);
    size_t size = fread(text, 1, 1 << 20, f);
    fclose(f);
    f = fopen(path, "wb");
    assert_int_equal(fwrite(text, 1, size / 2, f), size / 2);
    fclose(f);
    free(text);
}

static void test_command(void** unused)
{
    (void)unused;
    char folder[256], path[300];
    check_command(test_sheet_system(12, 1e3), test_folder(folder), 0, "");
    snprintf(path, sizeof(path), "%s/s.mtx", folder);
    cut_file(path);
    assert_true(command_status("sa-ppcg", folder) == 2 && error_says(folder, "s.mtx"));
    check_command(spoiled_sheet(0.0), folder, 2, "diagonal");
    check_command(spoiled_sheet(-1.0), folder, 2, "diagonal");
    check_command(spoiled_sheet(1e-3), folder, 1, "definite");
    weft_system* skew = test_sheet_system(12, 1e3);
    skew->values[9 * skew->pattern.diagonal[70] + 1] += 1.0;
    check_command(skew, folder, 2, "symmetric");
    weft_system* nan = test_sheet_system(12, 1e3);
    nan->values[9 * nan->pattern.diagonal[70] + 4] = NAN;
    check_command(nan, folder, 2, "s.mtx");
    test_folder_remove(folder);
}

// A kernel of the caller's own, of every width from too few to too many.
static void test_own_kernel(void** unused)
{
    (void)unused;
    uint64_t random = 700000;
    for (int count = 1; count <= 20; count++)
    {
        weft_system* system = test_sheet_system(15, 1e3);
        test_constrain(system, 0.2, 0, &random);
        size_t size = 3 * (size_t)system->pattern.row_count;
        system->kernel_count = count;
        system->kernel = MEM_NEW(size * (size_t)count, double);
        for (size_t k = 0; k < size * (size_t)count; k++)
        {
            bool translation = k / size < 3;
            system->kernel[k] = translation ? k % 3 == k / size : test_random(&random, -1, 1);
        }
        vec3 *x = new_vector(system), *expected = reference(system), *x0 = prescribed(system);
        weft_solver_def def = small_def("sa-ppcg", 1e-8);
        weft_status status = solve(&def, system, x, NULL);
        // More than a hierarchy can hold may be refused.
        assert_true(status == WEFT_OK || (count > 12 && status == WEFT_UNSUPPORTED));
        double start = test_energy_distance(system, x0, expected);
        assert_true(status != WEFT_OK || test_energy_distance(system, x, expected) < 1e-6 * start);
        free(x0);
        free(x);
        free(expected);
        weft_system_destroy(system);
    }
}

// A pattern that is not symmetric, as a file with a zero on one side of the diagonal only gives it: the values are.
static void test_lopsided_pattern(void** unused)
{
    (void)unused;
    weft_system* sheet = test_sheet_system(20, 1e3);
    int n = sheet->pattern.row_count, count = 0;
    int *row_start = calloc((size_t)n + 1, sizeof(int)),
        *column = calloc((size_t)(sheet->pattern.block_count + n), sizeof(int));
    double* values = calloc(9 * (size_t)(sheet->pattern.block_count + n), sizeof(double));
    for (int i = 0; i < n; i++)
    {
        for (int slot = sheet->pattern.row_start[i]; slot < sheet->pattern.row_start[i + 1]; slot++)
        {
            memcpy(values + 9 * count, sheet->values + 9 * slot, 9 * sizeof(double));
            column[count++] = sheet->pattern.column[slot];
        }
        if (i > n / 2 && i % 3 == 0)
        {
            column[count++] = i % 7; // far away, from below the diagonal only
        }
        row_start[i + 1] = count;
    }
    weft_system_def def = {
        .vertex_count = n, .row_start = row_start, .column = column, .values = values, .positions = sheet->positions};
    weft_system* system = NULL;
    if (weft_system_create(&def, &system, NULL) == WEFT_OK)
    {
        vec3 *x = new_vector(system), *expected = reference(sheet);
        for (int name = 0; name < 2 * SA_COUNT; name++)
        {
            weft_solver_def solver = small_def(names[name % SA_COUNT], 1e-8);
            solver.sa.distance = 1 + name / SA_COUNT;
            assert_int_equal(solve(&solver, system, x, NULL), WEFT_OK);
            assert_true(test_energy_distance(system, x, expected) < 1e-5);
        }
        free(x);
        free(expected);
    }
    weft_system_destroy(system);
    weft_system_destroy(sheet);
    free(row_start);
    free(column);
    free(values);
}

// ---- memory

// Each allocation of a solve fails once: a status, nothing leaks, and the object serves the next solve.
static void test_failing_allocation(void** unused)
{
    (void)unused;
    uint64_t random = 800000;
    int tried = 0;
    for (int name = 0; name < SA_COUNT; name++)
    {
        weft_system* system = test_sheet_system(14, 1e3);
        test_constrain(system, 0.2, 0, &random);
        vec3 *x = new_vector(system), *expected = new_vector(system);
        weft_solver_def def = small_def(names[name], 1e-5);
        def.sa.filter = name == 1 ? 0.48 : 0.0;
        assert_int_equal(solve(&def, system, expected, NULL), WEFT_OK);
        test_ledger l = {0};
        for (int fail_at = 1; l.made >= fail_at - 1; fail_at++, tried++)
        {
            l = (test_ledger){.fail_at = fail_at};
            test_ledger_open(&l);
            weft_solver* solver = NULL;
            weft_status status = weft_solver_create(&def, &solver, NULL);
            status = status == WEFT_OK ? weft_solver_solve(solver, system, x, NULL) : status;
            assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
            if (solver)
            {
                l.fail_at = 0;
                assert_int_equal(weft_solver_solve(solver, system, x, NULL), WEFT_OK);
                assert_memory_equal(x, expected, (size_t)system->pattern.row_count * sizeof(vec3));
            }
            weft_solver_destroy(solver);
            test_ledger_close();
            assert_int_equal(l.live, 0);
        }
        free(x);
        free(expected);
        weft_system_destroy(system);
    }
    print_message("          %d failing allocations\n", tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_many_cloths),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_changing_size),
        cmocka_unit_test(test_threads_and_kernels),
        cmocka_unit_test(test_only_special),
        cmocka_unit_test(test_plane_contact),
        cmocka_unit_test(test_not_definite),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_own_kernel),
        cmocka_unit_test(test_lopsided_pattern),
        cmocka_unit_test(test_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
