// Springs by vertex give the forces and energies of springs one by one: with dampers, ends that coincide, springs that
// are switched off, and any number of vertices.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "material/spring.h"
#include "material/spring_net.h"
#include "sim/sim.h"

static weft_sim* sheet(int cells, double damping)
{
    char text[700];
    snprintf(
        text, sizeof(text),
        "{\"time_step\": 0.02, \"model\": \"hooke\", \"method\": \"newton\", \"cloth\": [{\"name\": \"sheet\","
        " \"material\": {\"base\": \"cotton\", \"damping\": %g}, \"mesh\": {\"grid\": {\"size\": 1, \"cells\": %d}}}]}",
        damping, cells);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

typedef struct pulled
{
    vec3* force; // [vertex_count]
    double energy;
} pulled;

static pulled pull_net(const world* w, const element_motion* m, const uint8_t* flags, cpu_kind cpu)
{
    int n = w->model->vertex_count;
    spring_net net;
    pulled p = {MEM_NEW(n, vec3), 0.0};
    assert_int_equal(spring_net_create(&net, element_groups_find(&w->model->groups, &kind_spring), n), WEFT_OK);
    spring_net_begin(&net, flags, NULL, m);
    for (int begin = 0; begin < n; begin += 64)
    {
        p.energy += spring_net_kernels_for(cpu)->pull(&net, m->x, m->x_last, p.force, begin, int_min(begin + 64, n));
    }
    spring_net_finish(&net);
    return p;
}

static double energy_of(world* w, const element_motion* m)
{
    energy_sums sums = world_elements(w, m);
    return sums.stretch + sums.shear + sums.bend + sums.dissipation;
}

// Forces at two places, and the difference of energies between them, against the kernels of elements.
static void check(int cells, double damping, bool flagged)
{
    weft_sim* sim = sheet(cells, damping);
    world* w = &sim->world;
    int n = w->model->vertex_count;
    vec3 *x = MEM_NEW(n, vec3), *v = MEM_NEW(n, vec3), *zero = MEM_NEW(n, vec3), *wanted = MEM_NEW(n, vec3);
    uint64_t seed = 3;
    double net_energy[2], energy[2];
    if (flagged)
    {
        assert_int_equal(world_flags_create(w), WEFT_OK);
        w->flags[0][5] = w->flags[0][11] = ELEMENT_INACTIVE;
    }
    for (int k = 0; k < 2; k++)
    {
        for (int i = 0; i < n; i++)
        {
            x[i] = v3_add(w->state.x[i], test_random_vec(&seed, 0.02));
        }
        x[1] = x[0]; // a spring without length
        element_motion m = {.x = x, .v = v, .x_last = w->state.x, .v_last = v, .h = 0.02};
        world_forces(w, &m, ELEMENT_INACTIVE, 0, zero, wanted);
        pulled p = pull_net(w, &m, flagged ? w->flags[0] : NULL, w->cpu),
               base = pull_net(w, &m, flagged ? w->flags[0] : NULL, CPU_BASE);
        assert_memory_equal(p.force, base.force, (size_t)n * sizeof(vec3));
        assert_true(p.energy == base.energy);
        double largest = 0.0;
        for (int i = 0; i < n; i++)
        {
            largest = fmax(largest, v3_length(wanted[i]));
        }
        for (int i = 0; i < n; i++)
        {
            assert_true(v3_length(v3_sub(p.force[i], wanted[i])) <= 1e-12 * largest);
        }
        net_energy[k] = p.energy;
        energy[k] = energy_of(w, &m);
        mem_free(p.force);
        mem_free(base.force);
    }
    assert_true(fabs(energy[1] - energy[0]) > 1e-3 * energy[0]);
    assert_true(fabs((net_energy[1] - net_energy[0]) - (energy[1] - energy[0])) <= 1e-12 * energy[0]);
    mem_free(x);
    mem_free(v);
    mem_free(zero);
    mem_free(wanted);
    weft_sim_destroy(sim);
}

static void test_net_is_the_springs(void** unused)
{
    (void)unused;
    for (int cells = 1; cells <= 12; cells++) // 4 to 169 vertices
    {
        check(cells, 0.0, false);
        check(cells, 0.01, false);
    }
    check(10, 0.01, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_net_is_the_springs)};
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
