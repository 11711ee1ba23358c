// Systems that fall apart (chapter 6 of Boxerman's thesis): what counts as a component, that each gets the bits which
// the inner solver gives it alone, that held vertices part, and that ties and vertices held in part keep together; then
// threads, memory, checkpoints, failures.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"
#include "common_ties.h"
#include "weft/scene.h"

static const char* const inner[] = {"auto", "mpcg", "diag-ppcg", "sa-ppcg", "cholesky"};

enum
{
    INNER_COUNT = sizeof(inner) / sizeof(inner[0])
};

static const char* decomposed(const char* name)
{
    static char text[64];
    snprintf(text, sizeof(text), "decomposed:%s", name);
    return text;
}

// Solves, and where `component` is not NULL asks for it.
static weft_solve_stats solve(const weft_system* system, const char* name, int workers, vec3* x, int* component)
{
    weft_solver_def def = weft_solver_def_default();
    def.solver = name;
    def.tolerance = 1e-8;
    def.worker_count = workers;
    weft_solver* solver;
    weft_solve_stats stats;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    assert_int_equal(weft_solver_solve(solver, system, x, &stats), WEFT_OK);
    if (component)
    {
        int count;
        assert_int_equal(weft_solver_components(solver, component, &count), WEFT_OK);
        assert_int_equal(count, stats.components);
    }
    weft_solver_destroy(solver);
    return stats;
}

static weft_system* sheet(int side, double share, int directions, uint64_t* random)
{
    weft_system* s = test_sheet_system(side, 20.0);
    test_constrain(s, share, directions, random);
    return s;
}

static void hold(weft_system* s, const int* vertices, int count, int directions)
{
    const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mem_free(s->filter);
    s->filter = MEM_NEW(count, filter_record);
    s->filter_count = count;
    for (int k = 0; k < count; k++)
    {
        s->filter[k] = filter_record_make(vertices[k], axes, directions);
    }
}

// ---- what each component gets

// Sheets side by side and lonely vertices: the bits of each solved alone.
static void test_parts_alone(void** unused)
{
    (void)unused;
    for (int k = 0; k < INNER_COUNT; k++)
    {
        uint64_t random = 61;
        weft_system *parts[4], *alone[3];
        const int sides[3] = {9, 23, 14};
        for (int p = 0; p < 3; p++)
        {
            uint64_t again = random;
            parts[p] = sheet(sides[p], 0.1, 2, &random);
            alone[p] = sheet(sides[p], 0.1, 2, &again);
        }
        parts[3] = test_lonely_system(5, &random);
        weft_system* all = test_join_systems(parts, 4);
        int n = weft_system_vertex_count(all), first = 0;
        vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
        int* component = MEM_NEW(n, int);
        weft_solve_stats stats = solve(all, decomposed(inner[k]), 1, x, component);
        assert_int_equal(stats.components, 3 + 5);
        assert_true(stats.residual <= 1e-8 && stats.converged);
        assert_string_equal(stats.solver, decomposed(inner[k]));
        double products = 5.0;
        for (int p = 0; p < 3; p++)
        {
            weft_solve_stats own = solve(alone[p], inner[k], 1, y, NULL);
            int count = weft_system_vertex_count(alone[p]);
            assert_memory_equal(x + first, y, (size_t)count * sizeof(vec3));
            for (int i = 0; i < count; i++)
            {
                assert_int_equal(component[first + i], p);
            }
            products += (double)own.iterations * count;
            first += count;
            weft_system_destroy(alone[p]);
        }
        assert_true(stats.row_products == products);
        // Lonely ones against a solver that knows nothing of components.
        solve(all, "cholesky", 1, y, NULL);
        assert_true(test_energy_distance(all, x, y) <= 1e-6 * test_energy_distance(all, y, MEM_NEW(n, vec3)));
        mem_free(x);
        mem_free(y);
        mem_free(component);
        weft_system_destroy(all);
    }
}

// ---- what counts as connected

// Slots of the blocks between columns `column` and `column + 1` of a sheet.
static void cut_sheet(weft_system* s, int side, int column, double left_over)
{
    for (int i = 0; i < side * side; i++)
    {
        for (int slot = s->pattern.row_start[i]; slot < s->pattern.row_start[i + 1]; slot++)
        {
            int j = s->pattern.column[slot];
            if ((i % side <= column) != (j % side <= column))
            {
                memset(s->values + 9 * (size_t)slot, 0, 9 * sizeof(double));
                // One connection stays, and of that one triangle alone.
                s->values[9 * (size_t)slot + 5] = i == column && j == column + 1 ? left_over : 0.0;
            }
        }
    }
}

static void test_zero_blocks(void** unused)
{
    (void)unused;
    uint64_t random = 62;
    const int side = 12;
    weft_system* s = sheet(side, 0.1, 1, &random);
    vec3* x = MEM_NEW(side * side, vec3);
    int component[144];
    assert_int_equal(solve(s, "decomposed:mpcg", 1, x, NULL).components, 1);
    cut_sheet(s, side, 4, 0.0);
    assert_int_equal(solve(s, "decomposed:mpcg", 1, x, component).components, 2);
    for (int i = 0; i < side * side; i++)
    {
        assert_int_equal(component[i], i % side > 4);
    }
    // What is not symmetric to the last bit hangs together by either triangle, whichever is looked at first.
    cut_sheet(s, side, 4, 1e-12);
    assert_int_equal(solve(s, "decomposed:cholesky", 1, x, NULL).components, 1);
    mem_free(x);
    weft_system_destroy(s);
}

// A column of held vertices is a wall, on both sides of which its motion counts. Held in part it is none.
static void test_walls(void** unused)
{
    (void)unused;
    uint64_t random = 63;
    const int side = 9;
    int wall[9];
    for (int k = 0; k < side; k++)
    {
        wall[k] = side * k + 3;
    }
    for (int directions = 2; directions <= 3; directions++)
    {
        weft_system* s = sheet(side, 0.1, 1, &random); // random b and z
        hold(s, wall, side, directions);
        vec3 truth[81], x[81 + 1], zero[81] = {{0, 0, 0}};
        int component[81];
        test_dense_solution(s, truth);
        for (int k = 0; k < INNER_COUNT; k++)
        {
            weft_solve_stats stats = solve(s, decomposed(inner[k]), 1, x, component);
            assert_int_equal(stats.components, directions - 1);
            assert_true(test_energy_distance(s, x, truth) <= 1e-7 * test_energy_distance(s, truth, zero));
            for (int i = 0; i < side * side && directions == 3; i++)
            {
                assert_int_equal(component[i], i % side == 3 ? -1 : i % side > 3);
            }
            for (int i = 0; i < side && directions == 3; i++)
            {
                assert_memory_equal(&x[wall[i]], &s->z[wall[i]], sizeof(vec3));
            }
        }
        weft_system_destroy(s);
    }
}

static void test_ties_hold_together(void** unused)
{
    (void)unused;
    uint64_t random = 64;
    weft_system* parts[2] = {sheet(5, 0.1, 1, &random), sheet(4, 0.1, 1, &random)};
    weft_system* s = test_join_systems(parts, 2);
    vec3 x[42], truth[42], start[42];
    assert_int_equal(solve(s, "decomposed:mpcg", 1, x, NULL).components, 2);
    tie_table* ties = calloc(1, sizeof(tie_table));
    const int vertices[4] = {30, 6, 7, 11};
    const double weights[4] = {1.0, -0.25, -0.5, -0.25};
    tie_table_tie(ties, vertices, weights, 4);
    tie_table_set(s, ties);
    tie_truth t = tie_truth_of(s);
    tie_truth_solve(&t, s, truth, start);
    for (int k = 0; k < INNER_COUNT; k++)
    {
        assert_int_equal(solve(s, decomposed(inner[k]), 1, x, NULL).components, 1);
        assert_true(test_energy_distance(s, x, truth) <= 1e-7 * test_energy_distance(s, truth, start));
    }
    free(t.S);
    free(ties);
    weft_system_destroy(s);
}

// One component gets what the inner solver gives it, to the bit.
static void test_whole(void** unused)
{
    (void)unused;
    uint64_t random = 65;
    weft_system* s = sheet(25, 0.02, 0, &random);
    vec3 *x = MEM_NEW(625, vec3), *y = MEM_NEW(625, vec3);
    for (int k = 0; k < INNER_COUNT; k++)
    {
        weft_solve_stats a = solve(s, inner[k], 1, x, NULL), b = solve(s, decomposed(inner[k]), 1, y, NULL);
        assert_memory_equal(x, y, 625 * sizeof(vec3));
        assert_int_equal(a.iterations, b.iterations);
        assert_int_equal(b.components, 1);
        assert_int_equal(a.components, 0);
    }
    mem_free(x);
    mem_free(y);
    weft_system_destroy(s);
}

// ---- manners

// Twice as many sheets as solvers, of odd sizes, among them one that outweighs all others.
static weft_system* many(uint64_t* random)
{
    enum
    {
        COUNT = 96
    };
    weft_system* parts[COUNT];
    for (int k = 0; k < COUNT; k++)
    {
        parts[k] = k == 50      ? sheet(40, 0.1, 0, random)
                   : k % 7 == 0 ? test_lonely_system(1 + k % 3, random)
                                : sheet(2 + k % 4, 0.1, 0, random);
    }
    return test_join_systems(parts, COUNT);
}

static void test_threads(void** unused)
{
    (void)unused;
    uint64_t random = 66;
    weft_system* s = many(&random);
    int n = weft_system_vertex_count(s);
    vec3 *x = MEM_NEW(n, vec3), *y = MEM_NEW(n, vec3);
    for (int k = 0; k < INNER_COUNT; k++)
    {
        weft_solve_stats one = solve(s, decomposed(inner[k]), 1, x, NULL);
        assert_true(one.components > 90 && one.converged);
        for (int workers = 2; workers <= 8; workers *= 2)
        {
            weft_solve_stats more = solve(s, decomposed(inner[k]), workers, y, NULL);
            assert_memory_equal(x, y, (size_t)n * sizeof(vec3));
            assert_true(one.row_products == more.row_products);
        }
    }
    mem_free(x);
    mem_free(y);
    weft_system_destroy(s);
}

// The same components again, and after a turn as one, allocate nothing; solvers share only small ones here.
static void test_nothing_allocated(void** unused)
{
    (void)unused;
    uint64_t random = 67;
    weft_system* s = many(&random);
    int n = weft_system_vertex_count(s);
    for (int k = 1; k < 3; k++)
    {
        test_ledger ledger = {0};
        test_ledger_open(&ledger);
        solve_options options = {.tolerance = 1e-6, .cpu = cpu_best()};
        solver_object object;
        vec3* x = MEM_NEW(n, vec3);
        int made = 0;
        assert_int_equal(solver_object_init(&object, decomposed(inner[k]), &options, NULL), WEFT_OK);
        for (int turn = 0; turn < 4; turn++)
        {
            linear_system system = system_view(s, (uint64_t)turn);
            made = turn == 2 ? ledger.made : made;
            assert_int_equal(solver_object_solve(&object, &system, x, NULL), WEFT_OK);
        }
        assert_int_equal(ledger.made, made);
        solver_object_finish(&object);
        mem_free(x);
        assert_int_equal(ledger.live, 0);
        test_ledger_close();
    }
    weft_system_destroy(s);
}

// One component that is not definite fails the whole, and leaves finite numbers.
static void test_failure(void** unused)
{
    (void)unused;
    uint64_t random = 68;
    weft_system* parts[3] = {sheet(6, 0.0, 1, &random), sheet(7, 0.0, 1, &random), test_lonely_system(2, &random)};
    weft_system* s = test_join_systems(parts, 3);
    int n = weft_system_vertex_count(s);
    vec3* x = MEM_NEW(n, vec3);
    for (int where = 0; where < 3; where++)
    {
        int vertex = where == 0 ? 3 : where == 1 ? 40 : n - 1;
        double* block = s->values + 9 * (size_t)s->pattern.diagonal[vertex];
        double kept = block[0];
        block[0] = -1.0;
        for (int k = 0; k < INNER_COUNT; k++)
        {
            weft_solver_def def = weft_solver_def_default();
            def.solver = decomposed(inner[k]);
            weft_solver* solver;
            assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
            assert_int_equal(weft_solver_solve(solver, s, x, NULL), WEFT_NOT_DEFINITE);
            for (int i = 0; i < n; i++)
            {
                assert_true(v3_is_finite(x[i]));
            }
            weft_solver_destroy(solver);
        }
        block[0] = kept;
    }
    mem_free(x);
    weft_system_destroy(s);
}

// ---- in a simulation

// A sheet that held vertices, three columns wide as bending reaches far, cut into three, one of them moving: the same
// bits on any number of threads, and across what a checkpoint forgets.
static const char strips[] =
    "{\"time_step\": 0.01, \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [1, 1], \"cells\": 15}},"
    " \"pins\": [{\"where\": {\"vertices\": ["
    "5, 6, 7, 21, 22, 23, 37, 38, 39, 53, 54, 55, 69, 70, 71, 85, 86, 87, 101, 102, 103, 117, 118, 119, 133, 134, "
    "135, 149, 150, 151, 165, 166, 167, 181, 182, 183, 197, 198, 199, 213, 214, 215, 229, 230, 231, 245, 246, 247 "
    "]}}, {\"where\": {\"vertices\": ["
    "11, 12, 13, 27, 28, 29, 43, 44, 45, 59, 60, 61, 75, 76, 77, 91, 92, 93, 107, 108, 109, 123, 124, 125, 139, "
    "140, 141, 155, 156, 157, 171, 172, 173, 187, 188, 189, 203, 204, 205, 219, 220, 221, 235, 236, 237, 251, 252, "
    "253 "
    "]}, \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 0.2, 0]}]}]}]}";

static weft_sim* strips_sim(const char* solver, int workers)
{
    weft_scene* scene;
    weft_sim* sim = NULL;
    weft_error error = {0};
    char override[80];
    snprintf(override, sizeof(override), "solver=%s", solver);
    const char* const overrides[] = {override};
    if (weft_scene_parse("strips", strips, overrides, 1, &scene, &error) != WEFT_OK ||
        weft_scene_create_sim(scene, workers, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_scene_destroy(scene);
    return sim;
}

static void test_simulation(void** unused)
{
    (void)unused;
    for (int k = 0; k < INNER_COUNT; k++)
    {
        vec3 x[2][256];
        for (int run = 0; run < 2; run++)
        {
            weft_sim* sim = strips_sim(decomposed(inner[k]), run == 0 ? 1 : 8);
            weft_step_stats stats;
            for (int step = 0; step < 12; step++)
            {
                assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
                assert_int_equal(stats.components, 3);
            }
            weft_sim_positions(sim, 0, x[run]);
            int field = 0;
            while (strcmp(weft_sim_field_at(sim, field)->name, "component") != 0)
            {
                field++;
            }
            float value[256];
            assert_int_equal(weft_sim_field_values(sim, 0, field, value), WEFT_OK);
            int held = 0;
            for (int i = 0; i < 256; i++)
            {
                held += value[i] == -1.0f;
                assert_true(value[i] >= -1.0f && value[i] <= 2.0f);
            }
            assert_int_equal(held, 96);
            weft_sim_destroy(sim);
        }
        assert_memory_equal(x[0], x[1], sizeof(x[0]));
    }
}

// ---- together with aimex

// Components of the graph of elements that the last substep took implicitly, by the simulation's own list; `held` is a
// dead end.
static int implicit_components(const weft_sim* sim, int vertex_count, int held)
{
    int count = weft_sim_elements(sim, NULL, 0), components = vertex_count - 1;
    weft_element* all = calloc((size_t)count, sizeof(*all));
    int* root = calloc((size_t)vertex_count, sizeof(int));
    weft_sim_elements(sim, all, count);
    for (int i = 0; i < vertex_count; i++)
    {
        root[i] = i;
    }
    for (int k = 0; k < count; k++)
    {
        int a = all[k].vertices[0], b = all[k].vertices[1];
        if (all[k].state != WEFT_ELEMENT_IMPLICIT || a == held || b == held)
        {
            continue;
        }
        for (; root[a] != a; a = root[a])
        {
        }
        for (; root[b] != b; b = root[b])
        {
        }
        components -= a != b;
        root[a] = b;
    }
    free(all);
    free(root);
    return components;
}

// A sheet held in its middle that begins to fall (figure 6.5): shear is explicit and leaves the graph, so that the four
// quarters and the threads between them are solved each by itself.
static void test_aimex(void** unused)
{
    (void)unused;
    static const char text[] =
        "{\"time_step\": 0.002, \"model\": \"choi-ko\", \"method\": \"aimex\", \"aimex\": {\"bend_explicit\": 1},"
        " \"solver\": {\"name\": \"decomposed:mpcg\", \"preconditioner\": \"constrained\", \"tolerance\": 1e-8},"
        " \"contact\": {\"enabled\": false}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1,"
        " \"cells\": 30}}, \"pins\": [{\"where\": {\"vertices\": [480]}}], \"material\": {\"density\": 0.3,"
        " \"stretch_warp\": 300, \"stretch_weft\": 300, \"shear\": 8, \"bending\": 1e-5, \"damping\": 0}}]}";
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    assert_int_equal(weft_scene_parse("middle", text, NULL, 0, &scene, &error), WEFT_OK);
    assert_int_equal(weft_scene_create_sim(scene, 1, &sim, &error), WEFT_OK);
    int eight = 0, most = 0;
    for (int k = 0; k < 60; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
        assert_true(weft_step_counter(&stats, "explicit_elements") > 1000);
        if (stats.substeps == 1)
        {
            assert_int_equal(stats.components, implicit_components(sim, 961, 480));
            eight += stats.components == 8;
            most = stats.components > most ? stats.components : most;
        }
    }
    print_message("aimex, held in its middle: 8 components in %d steps of 60, at most %d\n", eight, most);
    assert_true(eight > 10 && most > 8);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_alone),
        cmocka_unit_test(test_zero_blocks),
        cmocka_unit_test(test_walls),
        cmocka_unit_test(test_ties_hold_together),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nothing_allocated),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_simulation),
        cmocka_unit_test(test_aimex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
