// Elements of a whole scene with flags: what is inactive counts nowhere, what is explicit has forces and energy but no
// part in the linear system; groups follow the table of models and not the order of cloths.
#include "common.h"
#include "common_batch.h"

#include <stdlib.h>
#include <string.h>

#include "common_sim.h"
#include "sim/sim.h"

enum
{
    CELLS = 5,
    VERTICES = (CELLS + 1) * (CELLS + 1)
};

// A sheet with air, bent and moving at random, built and ready to be assembled.
static weft_sim* sheet(const char* bending, int workers)
{
    weft_sim_def def = weft_sim_def_default();
    def.air.density = 1.2;
    def.air.wind = v3(2, 0.5, 1);
    def.contact = 0;
    def.worker_count = workers;
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.bending = bending;
    cloth.material.bending = 1e-2;
    grid_options grid = {.size_u = 1, .size_v = 1, .cells_u = CELLS, .cells_v = CELLS};
    mesh m = {0};
    weft_sim* sim = test_grid_sim(&def, &grid, &cloth, &m);
    vec3 x[VERTICES], v[VERTICES];
    uint64_t n = 1;
    for (int i = 0; i < VERTICES; i++)
    {
        x[i] = v3_add(m.position[i], test_random_vec(&n, 0.05));
        v[i] = test_random_vec(&n, 1.0);
    }
    assert_int_equal(m.vertex_count, VERTICES);
    assert_int_equal(weft_sim_set_state(sim, 0, x, v), WEFT_OK);
    mesh_finish(&m);
    return sim;
}

static element_motion motion_of(const weft_sim* sim, double h)
{
    return (element_motion){.x = sim->world.state.x, .v = sim->world.state.v, .h = h, .time = h};
}

static void set_flags(world* w)
{
    static const uint8_t values[] = {ELEMENT_IMPLICIT, ELEMENT_INACTIVE, ELEMENT_EXPLICIT,
                                     ELEMENT_INACTIVE | ELEMENT_EXPLICIT};
    assert_int_equal(world_flags_create(w), WEFT_OK);
    for (int g = 0; g < w->model->groups.count; g++)
    {
        for (int e = 0; e < w->model->groups.list[g].count; e++)
        {
            w->flags[g][e] = values[random_bits((uint64_t)g, (uint64_t)e) % 4];
        }
    }
}

// The linear system and energy, element by element, of those whose flags under the mask are `wanted`.
typedef struct dense
{
    double A[3 * VERTICES][3 * VERTICES], b[3 * VERTICES];
    double force[3 * VERTICES], energy;
} dense;

static void dense_add(dense* d, const element_group* group, int e, const element_motion* motion)
{
    element_context context = {group, motion};
    const element_kernels* kernels = element_kernels_for(group->kind, CPU_BASE);
    int elements[BATCH], arity = group->kind->arity;
    for (int lane = 0; lane < BATCH; lane++)
    {
        elements[lane] = e;
    }
    element_batch batch;
    double force[ARITY_MAX][3][BATCH];
    energy_sums sums = {0};
    kernels->evaluate(&context, elements, &batch);
    test_batch_blocks(&group->kind->shape, arity, &batch);
    kernels->force(&context, elements, force);
    kernels->energy(&context, e, e + 1, &sums);
    d->energy += sums.stretch + sums.shear + sums.bend;
    const int* vertex = group->vertices + e * arity;
    for (int p = 0; p < 3 * arity; p++)
    {
        int row = 3 * vertex[p / 3] + p % 3;
        d->b[row] += batch.rhs[p / 3][p % 3][0];
        d->force[row] += force[p / 3][p % 3][0];
        for (int q = 0; q < 3 * arity; q++)
        {
            int a = p / 3, b = q / 3, column = 3 * vertex[b] + q % 3;
            d->A[row][column] += a <= b ? batch.block[pair_index(arity, a, b)][3 * (p % 3) + q % 3][0]
                                        : batch.block[pair_index(arity, b, a)][3 * (q % 3) + p % 3][0];
        }
    }
}

static dense* dense_of(const weft_sim* sim, const element_motion* motion, uint8_t mask, uint8_t wanted)
{
    const world* w = &sim->world;
    dense* d = calloc(1, sizeof(dense));
    for (int i = 0; i < VERTICES; i++)
    {
        d->A[3 * i][3 * i] = d->A[3 * i + 1][3 * i + 1] = d->A[3 * i + 2][3 * i + 2] = w->model->mass[i];
    }
    for (int g = 0; g < w->model->groups.count; g++)
    {
        const element_group* group = &w->model->groups.list[g];
        for (int e = 0; e < group->count; e++)
        {
            if ((w->flags[g][e] & mask) == wanted)
            {
                dense_add(d, group, e, motion);
            }
        }
    }
    return d;
}

static void assert_close(double a, double b, double scale)
{
    assert_true(fabs(a - b) <= 1e-12 * scale);
}

static void test_flags(void** unused)
{
    (void)unused;
    static const char* const bendings[] = {"curvature", "hinge"};
    const uint8_t both = ELEMENT_INACTIVE | ELEMENT_EXPLICIT;
    for (int k = 0; k < 2; k++)
    {
        weft_sim* sim = sheet(bendings[k], 1);
        world* w = &sim->world;
        set_flags(w);
        element_motion motion = motion_of(sim, 0.01);
        dense* implicit = dense_of(sim, &motion, both, ELEMENT_IMPLICIT);
        dense* active = dense_of(sim, &motion, ELEMENT_INACTIVE, 0);
        dense* split = dense_of(sim, &motion, both, ELEMENT_EXPLICIT);
        vec3 zero[VERTICES] = {{0, 0, 0}}, all[VERTICES], some[VERTICES];
        assert_int_equal(world_assemble(w, &motion, zero), WEFT_OK);
        const bsr_pattern* p = w->A.pattern;
        for (int i = 0; i < VERTICES; i++)
        {
            for (int s = p->row_start[i]; s < p->row_start[i + 1]; s++)
            {
                for (int c = 0; c < 9; c++)
                {
                    double expected = implicit->A[3 * i + c / 3][3 * p->column[s] + c % 3];
                    assert_close(w->A.values[9 * s + c], expected, 10.0);
                }
            }
        }
        world_forces(w, &motion, ELEMENT_INACTIVE, 0, zero, all);
        world_forces(w, &motion, both, ELEMENT_EXPLICIT, zero, some);
        double largest = 0.0;
        for (int q = 0; q < 3 * VERTICES; q++)
        {
            assert_close((&w->rhs->x)[q], implicit->b[q], 100.0);
            assert_close((&all->x)[q], active->force[q], 1e4);
            assert_close((&some->x)[q], split->force[q], 1e4);
            largest = fmax(largest, fabs(active->force[q] - split->force[q]));
        }
        assert_true(largest > 1.0);
        weft_energy e = world_energy(w, motion.x, motion.v).energy;
        assert_close(e.stretch + e.shear + e.bend, active->energy, active->energy);
        assert_true(active->energy > 0.0);
        free(implicit);
        free(active);
        free(split);
        weft_sim_destroy(sim);
    }
}

// Without flags, with flags that say nothing, and on more threads: the same bits.
static void test_same_bits(void** unused)
{
    (void)unused;
    weft_sim *plain = sheet("curvature", 1), *flagged = sheet("curvature", 3);
    assert_int_equal(world_flags_create(&flagged->world), WEFT_OK);
    vec3 zero[VERTICES] = {{0, 0, 0}}, forces[2][VERTICES];
    weft_sim* sims[] = {plain, flagged};
    weft_energy energies[2];
    for (int k = 0; k < 2; k++)
    {
        element_motion motion = motion_of(sims[k], 0.01);
        assert_int_equal(world_assemble(&sims[k]->world, &motion, zero), WEFT_OK);
        world_forces(&sims[k]->world, &motion, ELEMENT_INACTIVE, 0, zero, forces[k]);
        energies[k] = world_energy(&sims[k]->world, motion.x, motion.v).energy;
    }
    size_t blocks = (size_t)plain->world.A.pattern->block_count;
    assert_memory_equal(plain->world.A.values, flagged->world.A.values, 9 * blocks * sizeof(double));
    assert_memory_equal(plain->world.rhs, flagged->world.rhs, sizeof(zero));
    assert_memory_equal(forces[0], forces[1], sizeof(zero));
    assert_memory_equal(&energies[0], &energies[1], sizeof(weft_energy));
    weft_sim_destroy(plain);
    weft_sim_destroy(flagged);
}

static void add_triangle(weft_sim* sim, const char* bending, double x)
{
    const weft_vec3 positions[] = {{x, 0, 0}, {x + 1, 0, 0}, {x, 0, -1}, {x + 1, 0, -1}};
    const int faces[] = {0, 1, 2, 1, 3, 2};
    weft_cloth_def cloth = weft_cloth_def_default();
    cloth.positions = positions;
    cloth.vertex_count = 4;
    cloth.face_vertices = faces;
    cloth.face_count = 2;
    cloth.bending = bending;
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
}

// Sums have one order whichever cloth comes first; kinds that no cloth has make no group.
static void test_order_of_groups(void** unused)
{
    (void)unused;
    static const char* const bendings[] = {"hinge", "curvature"};
    const element_kind* const kinds[] = {&kind_membrane, &kind_curvature, &kind_hinge};
    for (int turn = 0; turn < 2; turn++)
    {
        weft_sim_def def = weft_sim_def_default();
        weft_sim* sim = NULL;
        assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
        add_triangle(sim, bendings[turn], 0.0);
        add_triangle(sim, bendings[1 - turn], 5.0);
        assert_int_equal(sim_build(sim, NULL), WEFT_OK);
        assert_int_equal(sim->model.groups.count, 3);
        for (int g = 0; g < 3; g++)
        {
            assert_ptr_equal(sim->model.groups.list[g].kind, kinds[g]);
        }
        assert_null(element_groups_find(&sim->model.groups, &kind_air));
        weft_sim_destroy(sim);
    }
}

static void test_too_many_kinds(void** unused)
{
    (void)unused;
    const int vertices[] = {0, 1};
    element_list lists[GROUP_MAX + 1];
    for (int g = 0; g <= GROUP_MAX; g++)
    {
        lists[g] = (element_list){1, 2, vertices};
    }
    assembler a;
    assert_int_equal(assembler_create(2, lists, GROUP_MAX, &a), WEFT_OK);
    assembler_finish(&a);
    assert_int_equal(assembler_create(2, lists, GROUP_MAX + 1, &a), WEFT_UNSUPPORTED);
    assembler_finish(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_order_of_groups),
        cmocka_unit_test(test_too_many_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
