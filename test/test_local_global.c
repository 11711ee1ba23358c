// local-global on springs: how many there are and what they stand for, that a turn is the paper's local and global step
// and lowers g, that turns end where Newton does, and that pins, contact, threads and resume are as with other methods.
#include "common.h"

#include <string.h>

#include "common_scene.h"
#include "material/spring.h"
#include "sim/sim.h"
#include "step/global_filtered.h"
#include "step/global_step.h"

// A sheet of 1 m in steps of 1/30 s; more settings of the scene, and of the cloth.
static weft_sim* curtain(int cells, const char* settings, const char* cloth)
{
    char text[1500];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.0333333333333, \"model\": \"hooke\", \"solver\": {\"name\": \"cholesky\"}, %s,"
             " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": %d}}%s}]}",
             settings, cells, cloth);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

#define PLAIN "\"method\": \"local-global\""
#define TURNS "\"method\": \"local-global\", \"local-global\": {\"iterations\": %d, \"acceleration\": %d}"
// h^2 k / m is 20 for a thread between two vertices of 20 cells.
#define SOFT                                                                                                           \
    ", \"material\": {\"base\": \"cotton\", \"stretch_warp\": 6.75, \"stretch_weft\": 6.75, \"shear\": 1, "            \
    "\"damping\": %g}"                                                                                                 \
    ", \"pins\": [{\"where\": {\"vertices\": [0, 20]}}]"

#define ON_A_BALL                                                                                                      \
    "{\"time_step\": 0.0166666666666667, \"model\": \"hooke\", \"method\": \"local-global\", \"frames\": 1,"           \
    " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 0.6, \"cells\": 16}},"                         \
    " \"transform\": {\"translate\": [0.02, 0.16, 0.01]}}],"                                                           \
    " \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"radius\": 0.15}}}]}"

static weft_sim* soft_curtain(int turns, int acceleration, double damping)
{
    char settings[200], cloth[400];
    snprintf(settings, sizeof(settings), TURNS, turns, acceleration);
    snprintf(cloth, sizeof(cloth), SOFT, damping);
    return curtain(20, settings, cloth);
}

static void take_steps(weft_sim* sim, int count)
{
    weft_error error = {0};
    for (int k = 0; k < count; k++)
    {
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
    }
}

static double farthest(const vec3* a, const vec3* b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++)
    {
        most = fmax(most, v3_length(v3_sub(a[i], b[i])));
    }
    return most;
}

// ---- springs

static const element_group* springs_of(const weft_sim* sim)
{
    const element_group* group = element_groups_find(&sim->model.groups, &kind_spring);
    assert_non_null(group);
    return group;
}

static void test_curtain_has_the_papers_springs(void** unused)
{
    (void)unused;
    weft_sim* sim = curtain(80, PLAIN, "");
    const element_group* group = springs_of(sim);
    int count[3] = {0};
    for (int e = 0; e < group->count; e++)
    {
        count[(int)group->rest[SPRING_STRIDE * e + SPRING_ROLE]]++;
    }
    assert_int_equal(count[SPRING_STRETCH], 12960);
    assert_int_equal(count[SPRING_SHEAR], 6400);
    assert_int_equal(count[SPRING_BEND], 12798);
    weft_sim_destroy(sim);
}

// Elastic energy of a sheet under a homogeneous deformation, over that of the material.
static double energy_share(const char* more, vec3 du, vec3 dv, double wanted)
{
    weft_sim* sim = curtain(10, PLAIN, more);
    vec3 x[121];
    assert_int_equal(weft_sim_vertex_count(sim, 0), 121);
    weft_sim_positions(sim, 0, x);
    vec3 origin = x[0];
    for (int i = 0; i < 121; i++)
    {
        vec3 d = v3_sub(x[i], origin); // the grid lies in x and z
        x[i] = v3_add(x[i], v3_add(v3_scale(d.x, du), v3_scale(d.z, dv)));
    }
    assert_int_equal(weft_sim_set_state(sim, 0, x, NULL), WEFT_OK);
    weft_energy e = weft_sim_energy(sim);
    weft_sim_destroy(sim);
    return (e.stretch + e.shear) / wanted;
}

// Pure strains of a small amount cost what the material says, to rounding of the strain.
static void test_springs_stand_for_the_material(void** unused)
{
    (void)unused;
    const char* material =
        ", \"material\": {\"stretch_warp\": 1000, \"stretch_weft\": 700, \"shear\": 50, \"bending\": 0}";
    const double s = 1e-4;
    vec3 none = v3(0, 0, 0);
    // Cloth that cannot shear is stiffer by what the diagonals add.
    assert_true(fabs(energy_share(material, v3(s, 0, 0), none, 525 * s * s) - 1.0) < 1e-3);
    assert_true(fabs(energy_share(material, none, v3(0, 0, s), 375 * s * s) - 1.0) < 1e-3);
    assert_true(fabs(energy_share(material, v3(0, 0, s), none, 25 * s * s) - 1.0) < 1e-3);
}

// ---- g, by code of its own

typedef struct objective
{
    const weft_sim* sim;
    double h;
    vec3 y[1000];
} objective;

static objective objective_of(const weft_sim* sim, double h)
{
    objective o = {.sim = sim, .h = h};
    const state* s = &sim->world.state;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        o.y[i] = v3_madd(s->x[i], h, s->v[i]);
    }
    return o;
}

static double value_of(const objective* o, const vec3* x)
{
    const model* m = &o->sim->model;
    const element_group* group = springs_of(o->sim);
    double sum = 0.0;
    for (int i = 0; i < m->vertex_count; i++)
    {
        vec3 d = v3_sub(x[i], o->y[i]);
        sum += 0.5 * m->mass[i] * v3_dot(d, d) - o->h * o->h * v3_dot(m->external[i], x[i]);
    }
    for (int e = 0; e < group->count; e++)
    {
        const double* rest = group->rest + SPRING_STRIDE * e;
        const int* v = group->vertices + 2 * e;
        double longer = v3_length(v3_sub(x[v[1]], x[v[0]])) - rest[SPRING_LENGTH];
        sum += 0.5 * o->h * o->h * rest[SPRING_STIFFNESS] * longer * longer;
    }
    return sum;
}

// More turns of the same step, each no higher than the one before, also where a turn is mixed.
static void test_turns_never_raise_g(void** unused)
{
    (void)unused;
    for (int acceleration = 0; acceleration < 4; acceleration++)
    {
        double last = INFINITY;
        for (int turns = 1; turns <= 30; turns++)
        {
            weft_sim* sim = soft_curtain(turns, acceleration, 0.0);
            objective o = objective_of(sim, 0.0333333333333);
            take_steps(sim, 1);
            double value = value_of(&o, sim->world.state.x);
            assert_true(value <= last + 1e-13 * fabs(last));
            last = value;
            weft_sim_destroy(sim);
        }
    }
}

// A turn is the best direction of every spring, then the best positions for these: here by dense elimination.
static void test_turn_is_the_papers(void** unused)
{
    (void)unused;
    weft_sim* sim = curtain(4, "\"method\": \"local-global\", \"local-global\": {\"iterations\": 1}",
                            ", \"material\": {\"base\": \"cotton\", \"damping\": 0}");
    enum
    {
        N = 25
    };
    double h = 0.0333333333333, A[N][N + 3] = {{0}};
    vec3 v[N];
    uint64_t n = 5;
    for (int i = 0; i < N; i++)
    {
        v[i] = test_random_vec(&n, 3.0);
    }
    assert_int_equal(weft_sim_set_state(sim, 0, NULL, v), WEFT_OK);
    const model* m = &sim->model;
    const element_group* group = springs_of(sim);
    objective o = objective_of(sim, h);
    for (int i = 0; i < N; i++)
    {
        vec3 right = v3_madd(v3_scale(m->mass[i], o.y[i]), h * h, m->external[i]);
        A[i][i] += m->mass[i];
        A[i][N] = right.x;
        A[i][N + 1] = right.y;
        A[i][N + 2] = right.z;
    }
    for (int e = 0; e < group->count; e++)
    {
        const double* rest = group->rest + SPRING_STRIDE * e;
        int a = group->vertices[2 * e], b = group->vertices[2 * e + 1];
        vec3 p = v3_sub(o.y[b], o.y[a]), d = v3_scale(rest[SPRING_LENGTH] / v3_length(p), p);
        double k = h * h * rest[SPRING_STIFFNESS];
        const double row[3] = {d.x, d.y, d.z};
        A[a][a] += k;
        A[b][b] += k;
        A[a][b] -= k;
        A[b][a] -= k;
        for (int axis = 0; axis < 3; axis++)
        {
            A[a][N + axis] -= k * row[axis];
            A[b][N + axis] += k * row[axis];
        }
    }
    for (int i = 0; i < N; i++)
    {
        for (int j = 0; j < N; j++)
        {
            double factor = A[j][i] / A[i][i];
            for (int c = i; c < N + 3 && j != i; c++)
            {
                A[j][c] -= factor * A[i][c];
            }
        }
    }
    take_steps(sim, 1);
    for (int i = 0; i < N; i++)
    {
        vec3 wanted = v3(A[i][N] / A[i][i], A[i][N + 1] / A[i][i], A[i][N + 2] / A[i][i]);
        assert_true(v3_length(v3_sub(sim->world.state.x[i], wanted)) < 1e-10);
    }
    weft_sim_destroy(sim);
}

// ---- where turns end

static void newton_curtain(double damping, int steps, vec3* x)
{
    char cloth[400];
    snprintf(cloth, sizeof(cloth), SOFT, damping);
    weft_sim* sim = curtain(20, "\"method\": \"newton\", \"newton\": {\"tolerance\": 1e-7}", cloth);
    take_steps(sim, steps);
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
}

// Plain turns in plenty, or a tenth of them with Anderson's mixing; with and without dampers.
static void test_turns_end_at_newton(void** unused)
{
    (void)unused;
    vec3 wanted[441], x[441], start[441];
    for (int k = 0; k < 3; k++)
    {
        double damping = k == 1 ? 0.01 : 0.0;
        newton_curtain(damping, 4, wanted);
        weft_sim* sim = k < 2 ? soft_curtain(2000, 0, damping) : soft_curtain(200, 2, damping);
        weft_sim_positions(sim, 0, start);
        take_steps(sim, 4);
        weft_sim_positions(sim, 0, x);
        assert_true(farthest(x, start, 441) > 0.05);
        assert_true(farthest(x, wanted, 441) < 1e-5);
        weft_sim_destroy(sim);
    }
}

// A few turns and then Newton: where Newton alone ends, with the gradient gone, and in fewer iterations.
static void test_turns_lead_newton(void** unused)
{
    (void)unused;
    vec3 wanted[441], x[441];
    char cloth[400];
    newton_curtain(0.0, 4, wanted);
    snprintf(cloth, sizeof(cloth), SOFT, 0.0);
    weft_sim* sim =
        curtain(20, "\"method\": \"local-global\", \"local-global\": {\"iterations\": 10, \"newton\": 30}", cloth);
    for (int k = 0; k < 4; k++)
    {
        weft_step_stats stats = {0};
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_true(weft_step_counter(&stats, "newton_iterations") <= 20);
    }
    weft_sim_positions(sim, 0, x);
    assert_true(farthest(x, wanted, 441) < 1e-6);
    // What is left of the gradient at free vertices, N.
    const world* w = &sim->world;
    double most = 0.0;
    for (int i = 0; i < 441; i++)
    {
        bool held = false;
        for (int k = 0; k < w->filter_count; k++)
        {
            held = held || w->filter[k].vertex == i;
        }
        most = held ? most : fmax(most, v3_length(w->rhs[i]) / w->h);
    }
    assert_true(most < 1e-8);
    weft_sim_destroy(sim);
}

// With air, contact and ties of nothing: the same as other runs with contact.
static void test_newton_ends_in_contact(void** unused)
{
    (void)unused;
    char text[900];
    snprintf(text, sizeof(text), "{\"local-global\": {\"newton\": 2}, \"air\": {}, %s", &ON_A_BALL[1]);
    weft_sim* sim = scene_sim_text(text, 2);
    for (int step = 0; step < 40; step++)
    {
        weft_step_stats stats = {0};
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_true(stats.squeezed == 0 && stats.max_stretch < 1.06);
    }
    weft_sim_destroy(sim);
}

// A step of a sheet that falls, to rounding. Returns the iterations of all steps.
static double newton_iterations(int hessian, vec3* x)
{
    char settings[200], cloth[400];
    snprintf(settings, sizeof(settings),
             "\"method\": \"newton\", \"newton\": {\"tolerance\": 1e-12, \"iterations\": 2000, \"hessian\": %d}",
             hessian);
    snprintf(cloth, sizeof(cloth), ", \"pins\": [{\"where\": {\"vertices\": [0, 20]}}]");
    weft_sim* sim = curtain(20, settings, cloth);
    double sum = 0.0;
    for (int k = 0; k < 8; k++)
    {
        weft_step_stats stats = {0};
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal(stats.rejected, 0);
        sum += weft_step_counter(&stats, "newton_iterations");
    }
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
    return sum;
}

// Newton ends when rounding leaves nothing to gain, whatever the tolerance; the exact Hessian gets there sooner.
static void test_newton_sees_its_end(void** unused)
{
    (void)unused;
    vec3 clamped[441], exact[441];
    double slow = newton_iterations(0, clamped), fast = newton_iterations(1, exact);
    assert_true(slow < 8 * 100);
    assert_true(fast < 0.6 * slow);
    assert_true(farthest(clamped, exact, 441) < 1e-5);
}

// ---- pins, contact, threads

static void test_factors_are_kept(void** unused)
{
    (void)unused;
    weft_sim* sim = curtain(10, PLAIN, ", \"pins\": [{\"where\": {\"vertices\": [0, 10]}}]");
    weft_step_stats stats = {0};
    const int made[6] = {1, 0, 0, 0, 0, 0}, updates[6] = {0, 0, 1, 0, 0, 0};
    weft_pin_id pin = 0;
    for (int k = 0; k < 6; k++)
    {
        int vertex = 60;
        weft_pin def = weft_pin_default();
        def.vertices = &vertex;
        def.vertex_count = 1;
        if (k == 2)
        {
            assert_int_equal(weft_sim_pin(sim, 0, &def, &pin, NULL), WEFT_OK);
        }
        if (k == 4)
        {
            assert_int_equal(weft_sim_unpin(sim, pin, NULL), WEFT_OK);
        }
        assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
        assert_int_equal((int)weft_step_counter(&stats, "factorizations"), made[k]);
        assert_int_equal((int)weft_step_counter(&stats, "pin_updates"), updates[k]);
        assert_int_equal((int)weft_step_counter(&stats, "local_global_iterations"), 10);
    }
    weft_sim_destroy(sim);
}

// Whether the factor of g was made anew for these held vertices; the solution is that of a new factor.
static bool holds_as_a_new_factor(global_step* g, world* w, const int* held, int count)
{
    filter_record records[64];
    vec3 b[441], x[441], wanted[441];
    uint64_t n = 7;
    bool made, unused;
    int updates;
    memset(records, 0, sizeof(records));
    for (int k = 0; k < count; k++)
    {
        records[k].vertex = held[k];
        records[k].direction_count = 3;
    }
    for (int i = 0; i < 441; i++)
    {
        b[i] = test_random_vec(&n, 1.0);
    }
    global_step fresh = {0};
    assert_int_equal(global_step_create(&fresh, w->model), WEFT_OK);
    global_step_hold(g, records, count);
    global_step_hold(&fresh, records, count);
    assert_int_equal(global_step_factor(g, w, &made, &updates), WEFT_OK);
    assert_int_equal(global_step_factor(&fresh, w, &unused, &updates), WEFT_OK);
    assert_true(unused && updates == 0);
    global_step_solve(g, w, b, x);
    global_step_solve(&fresh, w, b, wanted);
    double largest = 0.0;
    for (int i = 0; i < 441; i++)
    {
        largest = fmax(largest, v3_length(wanted[i]));
    }
    assert_true(farthest(x, wanted, 441) <= 1e-12 * largest);
    global_step_finish(&fresh);
    return made;
}

// Vertices that come and go, neighbours among them, up to sixteen; then there is a new factor.
static void test_pins_come_and_go(void** unused)
{
    (void)unused;
    weft_sim* sim = curtain(20, PLAIN, "");
    world* w = &sim->world;
    w->h = 0.0333333333333;
    global_step g = {0};
    assert_int_equal(global_step_create(&g, w->model), WEFT_OK);
    int held[20];
    for (int k = 0; k < 20; k++)
    {
        held[k] = k < 10 ? k : 20 * k; // the first ones are neighbours
    }
    assert_true(holds_as_a_new_factor(&g, w, held, 4));
    assert_false(holds_as_a_new_factor(&g, w, held, 5));
    assert_false(holds_as_a_new_factor(&g, w, held, 20));
    assert_false(holds_as_a_new_factor(&g, w, held + 2, 13));
    assert_false(holds_as_a_new_factor(&g, w, held + 3, 1));
    assert_false(holds_as_a_new_factor(&g, w, held, 0));
    assert_false(holds_as_a_new_factor(&g, w, held + 4, 12));
    assert_true(holds_as_a_new_factor(&g, w, held + 3, 17)); // 17 came, and 4 went
    assert_false(holds_as_a_new_factor(&g, w, held + 4, 16));
    global_step_finish(&g);
    weft_sim_destroy(sim);
}

static void pin_one(weft_sim* sim, int vertex)
{
    weft_pin def = weft_pin_default();
    def.vertices = &vertex;
    def.vertex_count = 1;
    assert_int_equal(weft_sim_pin(sim, 0, &def, NULL, NULL), WEFT_OK);
}

// At a checkpoint a factor that was put right gives way to a new one: a run that resumes there has no other.
static void test_checkpoint_drops_what_was_put_right(void** unused)
{
    (void)unused;
    vec3 x[121], v[121], on[121], anew[121];
    weft_sim* sim = curtain(10, PLAIN, ", \"pins\": [{\"where\": {\"vertices\": [0, 10]}}]");
    take_steps(sim, 2);
    pin_one(sim, 60);
    take_steps(sim, 2);
    weft_sim_checkpoint(sim);
    weft_sim_positions(sim, 0, x);
    weft_sim_velocities(sim, 0, v);
    take_steps(sim, 1);
    weft_sim_positions(sim, 0, on);
    weft_sim_destroy(sim);
    sim = curtain(10, PLAIN, ", \"pins\": [{\"where\": {\"vertices\": [0, 10]}}]");
    assert_int_equal(weft_sim_set_state(sim, 0, x, v), WEFT_OK);
    pin_one(sim, 60);
    take_steps(sim, 1);
    weft_sim_positions(sim, 0, anew);
    weft_sim_destroy(sim);
    assert_memory_equal(on, anew, sizeof(on));
}

// A sheet over a ball at 1/60 s: not stretched, nothing squeezed, and the same bits on any number of threads.
static void test_drapes_alike_on_threads(void** unused)
{
    (void)unused;
    vec3 x[3][289];
    for (int k = 0; k < 3; k++)
    {
        static const int workers[] = {1, 2, 5};
        weft_sim* sim = scene_sim_text(ON_A_BALL, workers[k]);
        weft_step_stats stats = {0};
        for (int step = 0; step < 40; step++)
        {
            assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
            assert_true(stats.squeezed == 0 && stats.max_stretch < 1.06);
        }
        assert_true(stats.contacts > 0);
        weft_sim_positions(sim, 0, x[k]);
        weft_sim_destroy(sim);
        assert_memory_equal(x[k], x[0], sizeof(x[0]));
    }
    double lowest = INFINITY;
    for (int i = 0; i < 289; i++)
    {
        lowest = fmin(lowest, x[0][i].y);
    }
    assert_true(lowest < 0.05); // it hangs down beside the ball
}

// The largest part of S (b - (A + B) x) beside S b, with A and the cushions' B put together block by block.
static double left_by_blocks(global_step* g, world* w, const vec3* b, const vec3* x)
{
    vec3 *padded = MEM_NEW(290, vec3), *y = MEM_NEW(290, vec3); // wide loads reach past the end
    memcpy(padded, x, 289 * sizeof(vec3));
    global_step_blocks(g, w);
    assert_int_equal(cushions_structure(w->contact, &w->model->assembler.pattern), WEFT_OK);
    assert_int_equal(cushions_couple(w->contact, &w->A, NULL), WEFT_OK);
    bsr_multiply(NULL, w->cpu, &w->A, padded, y);
    double most = 0.0, scale = 0.0;
    for (int i = 0, k = 0; i < 289; i++)
    {
        bool held = k < w->filter_count && w->filter[k].vertex == i;
        vec3 left = v3_sub(b[i], y[i]);
        left = held ? m3_mul_v(w->filter[k].S, left) : left;
        vec3 given = held ? m3_mul_v(w->filter[k].S, b[i]) : b[i];
        k += held;
        most = fmax(most, v3_length(left));
        scale = fmax(scale, v3_length(given));
    }
    mem_free(padded);
    mem_free(y);
    return most / scale;
}

// A global step with touches and cushions, without their blocks, is that with them; and one iteration lowers the form.
static void test_contact_without_blocks(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(ON_A_BALL, 1);
    take_steps(sim, 1);
    world* w = &sim->world;
    for (int more = 0;
         more < 80 && (w->contact->cushion_count < 10 || w->contact->touch_count == 0 || w->filter_count == 0); more++)
    {
        take_steps(sim, 1);
    }
    assert_true(w->contact->touch_count > 0 && w->contact->cushion_count > 0 && w->filter_count > 0);
    global_step g = {0};
    global_filtered f = {0};
    vec3 b[289], x[289];
    uint64_t n = 3;
    bool made;
    int updates;
    for (int i = 0; i < 289; i++)
    {
        b[i] = test_random_vec(&n, 1.0);
    }
    assert_int_equal(global_step_create(&g, w->model), WEFT_OK);
    assert_int_equal(global_filtered_create(&f, &g), WEFT_OK);
    global_step_hold(&g, w->filter, 0);
    assert_int_equal(global_step_factor(&g, w, &made, &updates), WEFT_OK);
    int solves[2];
    for (int k = 0; k < 2; k++)
    {
        k == 1 ? global_filtered_take(&f, &g, w) : (void)0; // at first it does not know what is held
        solves[k] = global_filtered_solve(&f, &g, w, b, 2000, 1e-11, x);
        assert_true(solves[k] > 3 && solves[k] < 2000);
        assert_true(left_by_blocks(&g, w, b, x) < 1e-7);
    }
    assert_true(solves[1] < solves[0]);
    // Without cushions one solve is all.
    int cushions = w->contact->cushion_count;
    w->contact->cushion_count = 0;
    global_filtered_take(&f, &g, w);
    assert_int_equal(global_filtered_solve(&f, &g, w, b, 2000, 1e-6, x), 1);
    assert_true(left_by_blocks(&g, w, b, x) < 1e-9);
    w->contact->cushion_count = cushions;
    global_filtered_take(&f, &g, w);
    assert_int_equal(global_filtered_solve(&f, &g, w, b, 1, 1e-11, x), 1);
    double gain = 0.0;
    for (int i = 0; i < 289; i++)
    {
        gain += v3_dot(b[i], x[i]);
    }
    assert_true(gain > 0.0);
    global_filtered_finish(&f);
    global_step_finish(&g);
    weft_sim_destroy(sim);
}

// Solves of one iteration each go on where the last one ended: ten of them, each for what the others have left, leave
// what ten iterations of one leave.
static void test_solves_go_on(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(ON_A_BALL, 1);
    world* w = &sim->world;
    for (int more = 0; more < 80 && (!w->contact || w->contact->cushion_count < 10 || w->filter_count == 0); more++)
    {
        take_steps(sim, 1);
    }
    assert_true(w->contact->cushion_count > 0 && w->filter_count > 0);
    global_step g = {0};
    global_filtered f = {0};
    vec3 b[289], x[289], whole[289], sum[289] = {0}, left[289], image[290];
    uint64_t n = 5;
    bool made;
    int updates;
    for (int i = 0; i < 289; i++)
    {
        left[i] = b[i] = test_random_vec(&n, 1.0);
    }
    assert_int_equal(global_step_create(&g, w->model), WEFT_OK);
    assert_int_equal(global_filtered_create(&f, &g), WEFT_OK);
    global_step_hold(&g, w->filter, 0);
    assert_int_equal(global_step_factor(&g, w, &made, &updates), WEFT_OK);
    global_filtered_take(&f, &g, w);
    global_filtered_solve(&f, &g, w, b, 10, 0.0, whole);
    global_filtered_take(&f, &g, w);
    global_step_blocks(&g, w);
    assert_int_equal(cushions_structure(w->contact, &w->model->assembler.pattern), WEFT_OK);
    assert_int_equal(cushions_couple(w->contact, &w->A, NULL), WEFT_OK);
    for (int k = 0; k < 10; k++)
    {
        global_filtered_solve(&f, &g, w, left, 1, 0.0, x);
        vec3 padded[290] = {0}; // wide loads reach past the end
        for (int i = 0; i < 289; i++)
        {
            padded[i] = sum[i] = v3_add(sum[i], x[i]);
        }
        bsr_multiply(NULL, w->cpu, &w->A, padded, image);
        for (int i = 0; i < 289; i++)
        {
            left[i] = v3_sub(b[i], image[i]);
        }
    }
    double most = 0.0, scale = 0.0;
    for (int i = 0; i < 289; i++)
    {
        most = fmax(most, v3_length(v3_sub(sum[i], whole[i])));
        scale = fmax(scale, v3_length(whole[i]));
    }
    assert_true(most < 1e-9 * scale);
    global_filtered_finish(&f);
    global_step_finish(&g);
    weft_sim_destroy(sim);
}

// The paper's collisions: one solve a turn and no other but where they would crumple the cloth, and nothing crosses: a
// sheet over a ball, which hugs it, and
// one that comes to rest on a floor. The same bits on any number of threads.
static void test_collisions_after_the_global_step(void** unused)
{
    (void)unused;
    vec3 x[4][289];
    for (int k = 0; k < 4; k++)
    {
        char text[900];
        const char* under = k < 2 ? "sphere\": {\"radius\": 0.15}" : "plane\": {\"size\": 2}";
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.0166666666666667, \"model\": \"hooke\", \"method\": \"local-global\","
                 " \"local-global\": {\"collision\": 1, \"iterations\": 20}, \"cloth\": [{\"name\": \"sheet\","
                 " \"mesh\": {\"grid\": {\"size\": 0.6, \"cells\": 16}},"
                 " \"transform\": {\"translate\": [0.02, 0.16, 0.01]}}],"
                 " \"obstacles\": [{\"name\": \"under\", \"shape\": {\"%s}}]}",
                 under);
        weft_sim* sim = scene_sim_text(text, k % 2 ? 4 : 1);
        weft_step_stats stats = {0};
        int plain = 0; // steps that touch, and that are not taken again with contact in the global step
        for (int step = 0; step < 40; step++)
        {
            assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
            assert_true(stats.squeezed == 0 && stats.max_stretch < 1.3);
            bool again = weft_step_counter(&stats, "rounds_again") > 0.0;
            double most = 20.0 * (stats.substeps + stats.rejected);
            assert_true(again ? k < 2 : weft_step_counter(&stats, "global_solves") == most);
            plain += !again && stats.contacts > 0;
        }
        assert_true(stats.contacts > 0 && plain > (k < 2 ? 0 : 20));
        weft_sim_positions(sim, 0, x[k]);
        weft_sim_destroy(sim);
        k % 2 ? assert_memory_equal(x[k], x[k - 1], sizeof(x[0])) : (void)0;
    }
    for (int i = 0; i < 289; i++)
    {
        assert_true(v3_length(x[0][i]) > 0.149);
        assert_true(x[2][i].y > 0.0 && x[2][i].y < 0.002);
    }
}

// A sheet whose top edge slides on a rail: pins that hold two directions of three are kept to rounding.
static void test_rail(void** unused)
{
    (void)unused;
    weft_sim* sim =
        curtain(10, PLAIN, ", \"pins\": [{\"where\": {\"edge\": \"top\"}, \"fix\": {\"line\": [1, 0, 0]}}]");
    vec3 start[121], x[121];
    weft_sim_positions(sim, 0, start);
    take_steps(sim, 10);
    weft_sim_positions(sim, 0, x);
    int held = 0;
    for (int i = 0; i < 121; i++)
    {
        bool on_rail = fabs(x[i].y - start[i].y) < 1e-12 && fabs(x[i].z - start[i].z) < 1e-12;
        held += on_rail;
    }
    assert_int_equal(held, 11);
    assert_true(farthest(x, start, 121) > 0.1);
    weft_sim_destroy(sim);
}

// More vertices than a chunk has, a pin that comes, each acceleration: the same bits on any number of threads.
static void test_turns_alike_on_threads(void** unused)
{
    (void)unused;
    static vec3 x[2][961];
    for (int k = 0; k < 12; k++)
    {
        static const int workers[] = {1, 2, 5};
        char text[600];
        snprintf(text, sizeof(text),
                 "{\"time_step\": 0.0333, \"model\": \"hooke\", \"method\": \"local-global\", \"frames\": 1,"
                 " \"local-global\": {\"acceleration\": %d}, \"contact\": {\"enabled\": false},"
                 " \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 30}},"
                 " \"pins\": [{\"where\": {\"vertices\": [0, 30]}}]}]}",
                 k / 3);
        weft_sim* sim = scene_sim_text(text, workers[k % 3]);
        take_steps(sim, 3);
        pin_one(sim, 500);
        take_steps(sim, 3);
        weft_sim_positions(sim, 0, x[k % 3 > 0]);
        weft_sim_destroy(sim);
        k % 3 > 0 ? assert_memory_equal(x[1], x[0], sizeof(x[0])) : (void)0;
    }
}

// Stiffness over four decades at 1/30 s, springs and triangles, each acceleration: 1,000 steps, each with a random
// kick, and in every third a pin that jumps by up to a metre, comes or goes. Finite, always.
static void test_nothing_is_ever_not_finite(void** unused)
{
    (void)unused;
    uint64_t n = 11;
    for (int run = 0; run < 10; run++)
    {
        char cloth[400], settings[300];
        double k = 10.0 * pow(10.0, run % 5);
        snprintf(
            settings, sizeof(settings),
            "\"method\": \"local-global\", \"contact\": {\"enabled\": false}, \"local-global\": {\"acceleration\": %d}",
            run % 4);
        snprintf(cloth, sizeof(cloth),
                 ", \"model\": \"%s\", \"material\": {\"base\": \"cotton\", \"stretch_warp\": %g, \"stretch_weft\": %g,"
                 " \"shear\": %g}, \"pins\": [{\"where\": {\"vertices\": [0]}}]",
                 run < 5 ? "hooke" : "corotated", k, k, 0.1 * k);
        weft_sim* sim = curtain(8, settings, cloth);
        weft_pin_id pin = 0;
        for (int step = 0; step < 100; step++)
        {
            vec3 v[81], x[81];
            weft_sim_velocities(sim, 0, v);
            int i = (int)test_random(&n, 1, 80);
            v[i] = v3_add(v[i], test_random_vec(&n, 200.0));
            assert_int_equal(weft_sim_set_state(sim, 0, NULL, v), WEFT_OK);
            weft_sim_positions(sim, 0, x);
            weft_pin def = weft_pin_default();
            def.vertices = &i;
            def.vertex_count = 1;
            if (step % 9 == 0)
            {
                assert_int_equal(weft_sim_pin(sim, 0, &def, &pin, NULL), WEFT_OK);
            }
            if (step % 9 == 3)
            {
                vec3 target = test_random_vec(&n, 1.0);
                assert_int_equal(weft_sim_move(sim, pin, &target, NULL), WEFT_OK);
            }
            if (step % 9 == 6)
            {
                assert_int_equal(weft_sim_unpin(sim, pin, NULL), WEFT_OK);
            }
            assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
            weft_sim_positions(sim, 0, x);
            for (int j = 0; j < 81; j++)
            {
                assert_true(v3_is_finite(x[j]));
            }
        }
        weft_sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curtain_has_the_papers_springs),
        cmocka_unit_test(test_springs_stand_for_the_material),
        cmocka_unit_test(test_turns_never_raise_g),
        cmocka_unit_test(test_turn_is_the_papers),
        cmocka_unit_test(test_turns_end_at_newton),
        cmocka_unit_test(test_turns_lead_newton),
        cmocka_unit_test(test_newton_ends_in_contact),
        cmocka_unit_test(test_newton_sees_its_end),
        cmocka_unit_test(test_factors_are_kept),
        cmocka_unit_test(test_pins_come_and_go),
        cmocka_unit_test(test_checkpoint_drops_what_was_put_right),
        cmocka_unit_test(test_drapes_alike_on_threads),
        cmocka_unit_test(test_contact_without_blocks),
        cmocka_unit_test(test_solves_go_on),
        cmocka_unit_test(test_collisions_after_the_global_step),
        cmocka_unit_test(test_turns_alike_on_threads),
        cmocka_unit_test(test_nothing_is_ever_not_finite),
        cmocka_unit_test(test_rail),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
