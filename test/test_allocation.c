// Memory: a steady scene allocates nothing after its second step, everything goes back, and no allocation that fails
// brings the library down.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sim.h"

static weft_status run_steps(const char* method, const char* solver, int steps, int* made_after_two, test_ledger* l)
{
    const weft_vec3 positions[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 0, -1}, {1, 0, -1}, {2, 0, -1}};
    const int faces[] = {0, 1, 3, 1, 4, 3, 1, 2, 4, 2, 5, 4}, pinned[] = {0, 3};
    weft_pin pin = {.vertices = pinned, .vertex_count = 2, .release = INFINITY};
    weft_sim_def def = weft_sim_def_default();
    def.method = method;
    def.solver = solver;
    def.air.density = 1.2;
    weft_cloth_def cloth = weft_cloth_def_default();
    bool springs = strcmp(method, "local-global") == 0 || strcmp(method, "pbd") == 0;
    cloth.model = springs ? "hooke" : cloth.model;
    cloth.positions = positions;
    cloth.vertex_count = 6;
    cloth.face_vertices = faces;
    cloth.face_count = 4;
    cloth.pins = &pin;
    cloth.pin_count = 1;
    weft_sim* sim = NULL;
    weft_status status = weft_sim_create(&def, &sim, NULL);
    if (status == WEFT_OK)
    {
        status = weft_sim_add_cloth(sim, &cloth, NULL, NULL);
    }
    int made = 0;
    for (int k = 0; k < steps && status == WEFT_OK; k++)
    {
        made = k == 2 ? l->made : made;
        status = weft_sim_step(sim, NULL, NULL);
    }
    *made_after_two = l->made - made;
    weft_sim_destroy(sim);
    return status;
}

static const char* const methods[] = {"implicit-euler", "newton", "local-global", "pbd"};
static const char* const solvers[] = {"auto",    "mpcg",   "diag-pcg", "diag-ppcg",
                                      "sa-ppcg", "sa-pcg", "cholesky", "decomposed:diag-ppcg"};

enum
{
    METHOD_COUNT = sizeof(methods) / sizeof(methods[0]),
    SOLVER_COUNT = sizeof(solvers) / sizeof(solvers[0])
};

static void test_steady_scene(void** unused)
{
    (void)unused;
    for (int k = 0; k < METHOD_COUNT * SOLVER_COUNT; k++)
    {
        test_ledger l = {0};
        test_ledger_open(&l);
        int made;
        weft_status status = run_steps(methods[k / SOLVER_COUNT], solvers[k % SOLVER_COUNT], 20, &made, &l);
        test_ledger_close();
        assert_int_equal(status, WEFT_OK);
        assert_int_equal(made, 0);
        assert_int_equal(l.live, 0);
        assert_true(l.made > 0);
    }
}

static void test_failing_allocation(void** unused)
{
    (void)unused;
    int tried = 0;
    for (int k = 0; k < METHOD_COUNT * SOLVER_COUNT; k++)
    {
        weft_status status = WEFT_NO_MEMORY;
        for (int fail_at = 1; status != WEFT_OK; fail_at++)
        {
            test_ledger l = {.fail_at = fail_at};
            test_ledger_open(&l);
            int made;
            status = run_steps(methods[k / SOLVER_COUNT], solvers[k % SOLVER_COUNT], 3, &made, &l);
            test_ledger_close();
            assert_true(status == WEFT_OK || status == WEFT_NO_MEMORY);
            assert_int_equal(l.live, 0);
            tried++;
        }
    }
    print_message("%d failing allocations, none brought it down\n", tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_scene),
        cmocka_unit_test(test_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
