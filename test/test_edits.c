// Edits of a running simulation: each does what it says; a thousand random ones between steps give the same bits on any
// number of threads and through checkpoints; wrong ones, and those that find no memory, change nothing.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_scene.h"
#include "sim/edits.h"
#include "weft/cache.h"

static const char plain[] = "{\"contact\": {\"enabled\": false}, " CLOTH ", \"pins\": [{\"where\": {\"edge\": "
                            "\"top\"}}]}]}";

// A sheet over a ball, a patch upon it. The large one is cut into chunks for threads.
#define BUSY(cells)                                                                                                    \
    "{\"time_step\": 0.005, \"step_control\": {\"max_halvings\": 2}, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "     \
    "{\"grid\": {\"cells\": " cells ", \"size\": 0.3}}, \"transform\": {\"translate\": [0, 0.003, 0]}, \"pins\": "     \
    "[{\"where\": {\"corner\": \"top-left\"}}]}, {\"name\": \"patch\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": " \
    "0.1}}, \"transform\": {\"translate\": [0, 0.01, 0]}}], \"obstacles\": [{\"name\": \"ball\", \"shape\": "          \
    "{\"sphere\": {\"center\": [0, -0.1, 0], \"radius\": 0.1, \"segments\": 2}}}]}"

static const char busy[] = BUSY("3"), large[] = BUSY("24");

static const char tied[] = "{\"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 3}}}, {\"name\": \"b\", "
                           "\"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.2}}, \"transform\": {\"translate\": [0, "
                           "0.01, 0]}}], \"ties\": [{\"cloth\": \"b\", \"to\": \"a\"}]}";

// ---- what tests share

static void run(weft_sim* sim, int steps)
{
    for (int k = 0; k < steps; k++)
    {
        weft_error error = {0};
        if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
        {
            fail_msg("step: %s", error.message);
        }
    }
}

static uint64_t hash_items(uint64_t hash, const void* items, int count, size_t size)
{
    return items ? hash_bytes(hash, items, (size_t)count * size) : hash;
}

// Of all that a step depends on.
static uint64_t hash_of(const weft_sim* sim)
{
    const state* s = &sim->world.state;
    const model* m = &sim->model;
    int n = s->vertex_count;
    const int64_t numbers[] = {n,
                               s->step_count,
                               s->halvings,
                               s->calm,
                               m->generation,
                               sim->body_count,
                               sim->obstacle_count,
                               sim->edits.pin_count,
                               sim->edits.pin_ids,
                               sim->edits.begun};
    uint64_t hash = hash_bytes(1, numbers, sizeof(numbers));
    hash = hash_items(hash, s->x, n, sizeof(vec3));
    hash = hash_items(hash, s->v, n, sizeof(vec3));
    hash = hash_items(hash, s->acceleration, n, sizeof(vec3));
    hash = hash_items(hash, s->contact.memory, n, sizeof(contact_memory));
    hash = hash_items(hash, s->contact.bonds, s->contact.bond_count, sizeof(contact_bond));
    hash = hash_items(hash, s->contact.marks.item, s->contact.marks.count, sizeof(squeeze_mark));
    hash = hash_items(hash, m->mass, n, sizeof(double));
    hash = hash_items(hash, m->external, n, sizeof(vec3));
    for (int g = 0; g < m->groups.count; g++)
    {
        const element_group* group = &m->groups.list[g];
        hash = hash_items(hash, group->rest, group->count, (size_t)group->kind->rest_stride * sizeof(double));
        hash = group->kind == &kind_air ? hash_bytes(hash, &group->air, sizeof(group->air)) : hash;
    }
    for (int k = 0; k < m->pins.count; k++)
    {
        const pin* p = &m->pins.pins[k];
        const pin_motion* motion = &m->pins.motions[p->motion];
        vec3 target = motion->follow ? v3(motion->follow[p->place].weight[0], motion->follow[p->place].weight[1],
                                          motion->follow[p->place].offset)
                                     : pin_target(motion, p, NULL, weft_sim_time(sim) + 0.003);
        hash = hash_bytes(hash_bytes(hash, &p->vertex, sizeof(int)), &target, sizeof(target));
    }
    return hash;
}

// A simulation of the same scene, made anew, that goes on from where this one is.
static weft_sim* made_anew(weft_sim* sim, const char* text, int workers)
{
    weft_sim* other = scene_sim_text(text, workers);
    weft_error error = {0};
    const char* path = scene_path("edits.weft");
    weft_status status = checkpoint_write(path, sim, 1, &error);
    status = status == WEFT_OK ? sim_build(other, &error) : status;
    status = status == WEFT_OK ? checkpoint_read(path, other, 1, &error) : status;
    if (status != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    return other;
}

// It and one that reads its checkpoint go on alike.
static void assert_resumes(weft_sim* sim, const char* text)
{
    weft_sim_checkpoint(sim);
    weft_sim* other = made_anew(sim, text, 1);
    assert_true(hash_of(sim) == hash_of(other));
    run(sim, 3);
    run(other, 3);
    assert_true(hash_of(sim) == hash_of(other));
    weft_sim_destroy(other);
}

static vec3 vertex_of(const weft_sim* sim, int cloth, int vertex)
{
    static vec3 x[1024];
    assert_true(weft_sim_output_count(sim, cloth) <= 1024);
    weft_sim_positions(sim, cloth, x);
    return x[vertex];
}

// A square of two triangles at a place.
static const int square_faces[] = {0, 1, 2, 1, 3, 2};

static void square_at(vec3 center, double size, vec3 out[4])
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = v3_add(center, v3((k & 1 ? 0.5 : -0.5) * size, 0, (k & 2 ? 0.5 : -0.5) * size));
    }
}

static weft_status add_square(weft_sim* sim, const char* name, vec3 center, weft_cloth_id* out, weft_error* error)
{
    vec3 x[4];
    square_at(center, 0.1, x);
    weft_cloth_def def = weft_cloth_def_default();
    def.name = name;
    def.positions = x, def.vertex_count = 4;
    def.face_vertices = square_faces, def.face_count = 2;
    return weft_sim_add_cloth(sim, &def, out, error);
}

static weft_status add_floor(weft_sim* sim, const char* name, vec3 center, weft_obstacle_id* out, weft_error* error)
{
    vec3 x[4];
    square_at(center, 0.2, x);
    const weft_pin_key keys[] = {{0, {0, 0, 0}, 0}, {10, {0, 0.1, 0}, 0}};
    weft_obstacle_def def = weft_obstacle_def_default();
    def.name = name;
    def.positions = x, def.vertex_count = 4;
    def.face_vertices = square_faces, def.face_count = 2;
    def.keys = keys, def.key_count = 2;
    return weft_sim_add_obstacle(sim, &def, out, error);
}

// ---- what each edit does

static void test_gravity(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    run(sim, 3);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){2, 0, 0}, NULL), WEFT_OK);
    double total = 0.0;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        total += sim->model.external[i].x;
    }
    assert_true(fabs(total - 2 * sim->model.total_mass) < 1e-12);
    run(sim, 2);
    assert_resumes(sim, plain);
    weft_sim_destroy(sim);
}

// Free fall of the whole cloth, unpinned, before the first step too.
static void test_forces_and_wind(void** unused)
{
    (void)unused;
    static const char free_cloth[] = "{\"contact\": {\"enabled\": false}, \"gravity\": [0, 0, 0], " CLOTH "}]}";
    weft_sim* sim = scene_sim_text(free_cloth, 1);
    const int vertex = 7;
    const weft_force pull = {&vertex, 1, {0, 0.5, 0}};
    assert_int_equal(weft_sim_set_force(sim, 0, &pull, 1, NULL), WEFT_OK);
    run(sim, 2);
    assert_true(vertex_of(sim, 0, 7).y > vertex_of(sim, 0, 12).y + 1e-7);
    assert_int_equal(weft_sim_set_force(sim, 0, NULL, 0, NULL), WEFT_OK);
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        assert_true(v3_length(sim->model.external[i]) == 0.0);
    }
    assert_int_equal(weft_sim_generation(sim), 1);
    weft_air air = weft_sim_def_default().air;
    air.density = 1.2, air.wind = (weft_vec3){0, 5, 0};
    assert_int_equal(weft_sim_set_wind(sim, &air, NULL), WEFT_OK);
    assert_int_equal(weft_sim_generation(sim), 2);
    double before = vertex_of(sim, 0, 0).y;
    run(sim, 5);
    assert_true(vertex_of(sim, 0, 0).y > before);
    air.wind.y = -5;
    assert_int_equal(weft_sim_set_wind(sim, &air, NULL), WEFT_OK);
    assert_int_equal(weft_sim_generation(sim), 2);
    assert_resumes(sim, free_cloth);
    air.density = 0;
    assert_int_equal(weft_sim_set_wind(sim, &air, NULL), WEFT_OK);
    assert_resumes(sim, free_cloth);
    weft_sim_destroy(sim);
}

// A cloth twice as heavy: what holds it up pulls twice as hard.
static void test_material(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    run(sim, 3);
    weft_material material = sim->bodies[0].material;
    double mass = sim->model.total_mass;
    uint64_t state_before = hash_items(0, sim->world.state.x, 25, sizeof(vec3));
    material.density *= 2.0;
    assert_int_equal(weft_sim_set_material(sim, 0, &material, NULL), WEFT_OK);
    assert_true(fabs(sim->model.total_mass - 2.0 * mass) < 1e-12);
    assert_true(state_before == hash_items(0, sim->world.state.x, 25, sizeof(vec3)));
    assert_resumes(sim, plain);
    weft_sim_destroy(sim);
}

// A pin takes a vertex along a line of moves, halved steps or not, and lets go.
static void test_pins(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    run(sim, 2);
    const int vertices[] = {0, 3};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    weft_pin_id first = 0, second = 0;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &first, NULL), WEFT_OK);
    vec3 held = vertex_of(sim, 0, 3), target[2];
    run(sim, 3);
    assert_true(v3_length(v3_sub(vertex_of(sim, 0, 3), held)) < 1e-12);
    for (int k = 1; k <= 4; k++)
    {
        target[0] = vertex_of(sim, 0, 0);
        target[1] = v3_add(held, v3(0, 0.001 * k, 0));
        assert_int_equal(weft_sim_move(sim, first, target, NULL), WEFT_OK);
        k == 2 ? assert_resumes(sim, plain) : run(sim, 1);
        assert_true(v3_length(v3_sub(vertex_of(sim, 0, 3), target[1])) < 1e-12);
    }
    assert_int_equal(weft_sim_unpin(sim, first, NULL), WEFT_OK);
    assert_int_equal(weft_sim_unpin(sim, first, NULL), WEFT_NOT_FOUND);
    run(sim, 3);
    assert_true(v3_length(v3_sub(vertex_of(sim, 0, 3), target[1])) > 1e-5);
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &second, NULL), WEFT_OK);
    assert_true(second > first);
    weft_sim_destroy(sim);
}

// Samples: linear between, held before and after; keys move what they give.
static void test_pin_samples(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    run(sim, 1);
    const int vertices[] = {4, 0};
    vec3 a = vertex_of(sim, 0, 4), b = vertex_of(sim, 0, 0), up = v3(0, 0.002, 0);
    const weft_vec3 samples[] = {a, b, v3_add(a, up), b, a, v3_add(b, up)};
    const weft_pin_key key = {0, {0, 0, 0.001}, 0};
    double h = weft_sim_time_step(sim);
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    pin.samples = samples, pin.sample_count = 3;
    pin.sample_rate = 0.5 / h, pin.sample_start = 2 * h;
    pin.keys = &key, pin.key_count = 1;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, NULL, NULL), WEFT_OK);
    const double rise_a[] = {0, 0.5, 1, 0.5, 0, 0}, rise_b[] = {0, 0, 0, 0.5, 1, 1};
    for (int k = 0; k < 6; k++)
    {
        run(sim, 1);
        vec3 wanted_a = v3_add(v3_madd(a, rise_a[k], up), key.offset);
        vec3 wanted_b = v3_add(v3_madd(b, rise_b[k], up), key.offset);
        assert_true(v3_length(v3_sub(vertex_of(sim, 0, 4), wanted_a)) < 1e-12);
        assert_true(v3_length(v3_sub(vertex_of(sim, 0, 0), wanted_b)) < 1e-12);
    }
    assert_resumes(sim, plain);
    weft_sim_destroy(sim);
}

// Bodies come and go; ids and states of others stay, and the collider knows.
static void test_bodies(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(busy, 1);
    run(sim, 4);
    vec3 x = vertex_of(sim, 1, 2);
    weft_cloth_id cloth = -1;
    weft_obstacle_id floor = -1;
    assert_int_equal(add_square(sim, NULL, v3(0, 0.1, 0), &cloth, NULL), WEFT_OK);
    assert_int_equal(add_floor(sim, NULL, v3(0, -0.3, 0), &floor, NULL), WEFT_OK);
    assert_true(cloth == 2 && floor == 1);
    assert_memory_equal(&x, (vec3[]){vertex_of(sim, 1, 2)}, sizeof(x));
    assert_int_equal(weft_sim_step_count(sim), 4);
    run(sim, 3);
    assert_resumes(sim, busy);
    x = vertex_of(sim, 2, 2);
    assert_int_equal(weft_sim_remove_cloth(sim, 0, NULL), WEFT_OK);
    assert_int_equal(weft_sim_remove_obstacle(sim, 0, NULL), WEFT_OK);
    assert_memory_equal(&x, (vec3[]){vertex_of(sim, 2, 2)}, sizeof(x));
    assert_true(!weft_sim_has_cloth(sim, 0) && weft_sim_has_cloth(sim, 1) && !weft_sim_has_obstacle(sim, 0));
    assert_int_equal(weft_sim_cloth_count(sim), 3);
    assert_int_equal(weft_sim_vertex_count(sim, 0), 0);
    assert_int_equal(weft_sim_collider_vertex_count(sim), 9 + 4 + 4);
    run(sim, 3);
    assert_resumes(sim, busy);
    assert_int_equal(weft_sim_remove_cloth(sim, 2, NULL), WEFT_OK);
    assert_resumes(sim, busy);
    assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_BAD_INPUT);
    weft_sim_destroy(sim);
}

// All that the state knows of a cloth's vertices.
static uint64_t hash_cloth(const weft_sim* sim, int cloth)
{
    const state* s = &sim->world.state;
    const body* b = &sim->bodies[cloth];
    int n = b->rest.vertex_count;
    uint64_t hash = hash_items(1, s->x + b->first, n, sizeof(vec3));
    hash = hash_items(hash, s->v + b->first, n, sizeof(vec3));
    hash = hash_items(hash, s->acceleration + b->first, n, sizeof(vec3));
    return hash_items(hash, s->contact.memory + b->first, n, sizeof(contact_memory));
}

// What is remembered of vertices goes along when they and the bodies around them get other numbers.
static void test_memory_is_carried(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(busy, 1);
    run(sim, 12);
    const contact_memory* memory = sim->world.state.contact.memory;
    bool any = false;
    for (int i = 0; i < 9; i++)
    {
        any = any || memory[sim->bodies[1].first + i].load != 0.0 || memory[sim->bodies[1].first + i].force != 0.0;
    }
    assert_true(any);
    uint64_t patch = hash_cloth(sim, 1);
    int halvings = sim->world.state.halvings, calm = sim->world.state.calm;
    assert_int_equal(add_square(sim, NULL, v3(0, 0.3, 0), NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sim_remove_cloth(sim, 0, NULL), WEFT_OK);
    assert_int_equal(sim->bodies[1].first, 0);
    assert_true(hash_cloth(sim, 1) == patch);
    assert_true(sim->world.state.halvings == halvings && sim->world.state.calm == calm);
    weft_sim_destroy(sim);
}

// Likewise marks of what is squeezed; those of a body that goes are gone.
static void test_marks_are_carried(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(scene_press, 1);
    const mark_list* marks = &sim->world.state.contact.marks;
    for (int k = 0; k < 40 && marks->count == 0; k++)
    {
        run(sim, 1);
    }
    assert_true(marks->count > 0);
    squeeze_mark before[64];
    int count = int_min(marks->count, 64), cloths = sim->body_count, gone = 0;
    memcpy(before, marks->item, (size_t)count * sizeof(squeeze_mark));
    assert_int_equal(add_square(sim, NULL, v3(0, 9, 0), NULL, NULL), WEFT_OK);
    assert_int_equal(marks->count, count);
    for (int k = 0; k < count; k++)
    {
        assert_int_equal(marks->item[k].vertex, before[k].vertex);
        assert_int_equal(marks->item[k].through, before[k].through);
        assert_int_equal(marks->item[k].body, before[k].body + (before[k].body >= cloths));
        gone += marks->item[k].body == before[0].body + (before[0].body >= cloths);
    }
    assert_true(before[0].body >= cloths);
    assert_int_equal(weft_sim_remove_obstacle(sim, before[0].body - cloths, NULL), WEFT_OK);
    assert_int_equal(marks->count, count - gone);
    weft_sim_destroy(sim);
}

// A run's folder takes edits that leave its bodies alone, and resumes with them; other bodies are refused.
static void test_run_folder(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(busy, 1);
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("run"));
    weft_cache_writer* writer;
    weft_step_stats stats;
    weft_error error = {0};
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_NEW, busy, 1, sim, &writer, NULL), WEFT_OK);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){1, 2, 3}, NULL), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    uint64_t at_checkpoint = hash_of(sim);
    assert_int_equal(add_square(sim, NULL, v3(0, 0.1, 0), NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, &error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error.message, "added"));
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_sim_destroy(sim);
    sim = scene_sim_text(busy, 1);
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_RESUME, busy, 1, sim, &writer, NULL), WEFT_OK);
    assert_true(hash_of(sim) == at_checkpoint);
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_sim_destroy(sim);
}

// ---- a thousand random edits

enum
{
    ROUNDS = 28,
    LARGE = 2,    // rounds of the large scene
    EDITS = 50,   // in a round
    BETWEEN = 10, // edits from checkpoint to checkpoint
    CLOTHS_MAX = 4,
    OBSTACLES_MAX = 3
};

typedef struct player
{
    weft_sim* sim;
    uint64_t random;
    weft_pin_id pins[EDITS]; // some of them gone
    int pin_count;
} player;

static int choose(player* p, int count)
{
    return (int)test_random(&p->random, 0, count);
}

static int live_cloth(player* p)
{
    int k = choose(p, p->sim->body_count);
    while (!weft_sim_has_cloth(p->sim, k))
    {
        k = (k + 1) % p->sim->body_count;
    }
    return k;
}

static int live_count(const weft_sim* sim, bool cloths)
{
    int count = 0;
    for (int k = 0; k < (cloths ? sim->body_count : sim->obstacle_count); k++)
    {
        count += cloths ? weft_sim_has_cloth(sim, k) : weft_sim_has_obstacle(sim, k);
    }
    return count;
}

// The first obstacle that is there; NULL: none.
static const char* something_to_follow(const weft_sim* sim)
{
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        if (weft_sim_has_obstacle(sim, k))
        {
            return weft_sim_obstacle_name(sim, k);
        }
    }
    return NULL;
}

static weft_status edit_pin(player* p)
{
    int cloth = live_cloth(p), n = weft_sim_vertex_count(p->sim, cloth);
    const int vertices[] = {choose(p, n), choose(p, n)};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 1 + choose(p, 2);
    pin.fix = (weft_fix)choose(p, 3);
    pin.direction = test_random_vec(&p->random, 1.0);
    pin.follow = choose(p, 3) == 0 ? something_to_follow(p->sim) : NULL;
    weft_status status = weft_sim_pin(p->sim, cloth, &pin, &p->pins[p->pin_count], NULL);
    p->pin_count += status == WEFT_OK;
    return status;
}

static weft_status edit_move(player* p)
{
    int k = p->pin_count > 0 ? choose(p, p->pin_count) : -1;
    vec3 targets[2];
    for (int e = 0; k >= 0 && e < p->sim->edits.pin_count; e++)
    {
        const edited_pin* pin = &p->sim->edits.pins[e];
        for (int i = 0; pin->id == p->pins[k] && i < pin->pin.vertex_count; i++)
        {
            targets[i] = v3_add(vertex_of(p->sim, pin->body, pin->pin.vertices[i]), test_random_vec(&p->random, 0.002));
        }
        if (pin->id == p->pins[k])
        {
            return weft_sim_move(p->sim, p->pins[k], targets, NULL);
        }
    }
    return weft_sim_move(p->sim, 1 << 20, (vec3[2]){{0, 0, 0}, {0, 0, 0}}, NULL);
}

static weft_status edit_unpin(player* p)
{
    return weft_sim_unpin(p->sim, p->pin_count > 0 ? p->pins[choose(p, p->pin_count)] : 0, NULL);
}

static weft_status edit_material(player* p)
{
    static const char* const names[] = {"cotton", "silk", "denim"};
    weft_material material;
    assert_int_equal(weft_material_find(names[choose(p, 3)], &material, NULL), WEFT_OK);
    return weft_sim_set_material(p->sim, live_cloth(p), &material, NULL);
}

static weft_status edit_gravity(player* p)
{
    return weft_sim_set_gravity(p->sim, v3_add(v3(0, -9.81, 0), test_random_vec(&p->random, 5.0)), NULL);
}

static weft_status edit_wind(player* p)
{
    weft_air air = weft_sim_def_default().air;
    air.density = choose(p, 3) > 0 ? 1.2 : 0.0;
    air.wind = test_random_vec(&p->random, 3.0);
    return weft_sim_set_wind(p->sim, &air, NULL);
}

static weft_status edit_force(player* p)
{
    int cloth = live_cloth(p), vertex = choose(p, weft_sim_vertex_count(p->sim, cloth));
    weft_force force = {&vertex, 1, test_random_vec(&p->random, 0.02)};
    return weft_sim_set_force(p->sim, cloth, &force, choose(p, 2), NULL);
}

// Cloth comes from above, floors from below, where nothing is.
static weft_status edit_add(player* p)
{
    bool cloth = choose(p, 2);
    vec3 place = test_random_vec(&p->random, 0.1);
    if (live_count(p->sim, cloth) >= (cloth ? CLOTHS_MAX : OBSTACLES_MAX))
    {
        return add_square(p->sim, "ball", place, NULL, NULL);
    }
    return cloth ? add_square(p->sim, NULL, v3_add(place, v3(0, 0.4, 0)), NULL, NULL)
                 : add_floor(p->sim, NULL, v3_add(place, v3(0, -0.5, 0)), NULL, NULL);
}

static weft_status edit_remove(player* p)
{
    bool cloth = choose(p, 2);
    return cloth ? weft_sim_remove_cloth(p->sim, live_cloth(p), NULL)
                 : weft_sim_remove_obstacle(p->sim, choose(p, p->sim->obstacle_count + 1), NULL);
}

static weft_status (*const random_edits[])(player*) = {edit_pin,      edit_move,    edit_move, edit_unpin, edit_force,
                                                       edit_material, edit_gravity, edit_wind, edit_add,   edit_remove};

enum
{
    EDIT_KINDS = sizeof(random_edits) / sizeof(random_edits[0])
};

typedef struct tally
{
    uint64_t hashes[ROUNDS][EDITS];
    int made[EDIT_KINDS], refused, failed_steps, contacts;
} tally;

static void play_round(int round, int workers, bool anew, tally* out)
{
    const char* text = round < LARGE ? large : busy;
    player p = {.sim = scene_sim_text(text, workers), .random = (uint64_t)round << 32};
    run(p.sim, 1); // what is added before belongs to the scene
    for (int k = 0; k < EDITS; k++)
    {
        int kind = choose(&p, EDIT_KINDS);
        uint64_t before = hash_of(p.sim);
        weft_status status = random_edits[kind](&p);
        if (status != WEFT_OK)
        {
            assert_true(before == hash_of(p.sim));
        }
        out->made[kind] += status == WEFT_OK;
        out->refused += status != WEFT_OK;
        weft_step_stats stats;
        int steps = choose(&p, 3);
        for (int s = 0; s < steps; s++)
        {
            weft_status stepped = weft_sim_step(p.sim, &stats, NULL);
            assert_true(stepped != WEFT_NO_MEMORY);
            out->failed_steps += stepped != WEFT_OK;
            out->contacts += stats.contacts;
        }
        if (k % BETWEEN == BETWEEN - 1)
        {
            weft_sim_checkpoint(p.sim);
            weft_sim* next = anew ? made_anew(p.sim, text, workers) : p.sim;
            anew ? weft_sim_destroy(p.sim) : (void)0;
            p.sim = next;
        }
        out->hashes[round][k] = hash_of(p.sim);
    }
    weft_sim_destroy(p.sim);
}

static void test_thousand_edits(void** unused)
{
    (void)unused;
    static const struct
    {
        int workers;
        bool anew;
    } ways[] = {{1, false}, {2, false}, {3, false}, {8, false}, {1, true}, {8, true}};
    static tally first, other;
    for (int way = 0; way < (int)(sizeof(ways) / sizeof(ways[0])); way++)
    {
        tally* now = way == 0 ? &first : &other;
        *now = (tally){0};
        for (int round = 0; round < ROUNDS; round++)
        {
            play_round(round, ways[way].workers, ways[way].anew, now);
        }
        for (int k = 0; k < ROUNDS * EDITS; k++)
        {
            if (now->hashes[k / EDITS][k % EDITS] != first.hashes[k / EDITS][k % EDITS])
            {
                fail_msg("%d threads%s: other bits after edit %d of round %d", ways[way].workers,
                         ways[way].anew ? ", through checkpoints" : "", k % EDITS + 1, k / EDITS + 1);
            }
        }
    }
    for (int kind = 0; kind < EDIT_KINDS; kind++)
    {
        assert_true(first.made[kind] > 30);
    }
    print_message("%d of %d edits refused, %d steps failed, %d contacts\n", first.refused, ROUNDS * EDITS,
                  first.failed_steps, first.contacts);
    assert_true(first.contacts > 100 && first.refused > 10 && ROUNDS * EDITS - first.refused >= 1000);
}

// ---- wrong edits

static weft_status wrong_pin(weft_sim* sim, int cloth, int vertex, const weft_pin* with, weft_error* error)
{
    weft_pin pin = *with;
    pin.vertices = &vertex, pin.vertex_count = 1;
    return weft_sim_pin(sim, cloth, &pin, NULL, error);
}

static weft_status wrong_material(weft_sim* sim, int cloth, double bending, double density, weft_error* error)
{
    weft_material material;
    assert_int_equal(weft_material_find("cotton", &material, NULL), WEFT_OK);
    material.bending = bending;
    material.density = density;
    return weft_sim_set_material(sim, cloth, &material, error);
}

static weft_status wrong_force(weft_sim* sim, int cloth, int vertex, double y, weft_error* error)
{
    weft_force forces[] = {{&vertex, 1, {0, 1, 0}}, {&vertex, 1, {0, y, 0}}};
    return weft_sim_set_force(sim, cloth, forces, 2, error);
}

// The index-th wrong edit; NOT_FOUND and no sentence behind the last.
static weft_status wrong_edit(weft_sim* sim, int index, weft_pin_id pin, weft_error* error)
{
    const weft_vec3 nowhere[] = {{0, 0, 0}, {0, NAN, 0}};
    const weft_pin_key keys[] = {{1, {0, 0, 0}, 0}, {1, {0, 0, 0}, 0}};
    weft_pin point = weft_pin_default(), line = point, late = point, odd = point, keyed = point, sampled = point;
    weft_pin follows = point, both = point;
    follows.follow = "patch"; // a cloth
    both.follow = "ball", both.samples = nowhere, both.sample_count = 1;
    weft_air air = weft_sim_def_default().air;
    line.fix = WEFT_FIX_LINE, line.direction = v3(0, 0, 0);
    late.release = NAN, odd.fix = (weft_fix)7;
    keyed.keys = keys, keyed.key_count = 2;
    sampled.samples = nowhere, sampled.sample_count = 2;
    air.drag = -1;
    switch (index)
    {
    case 0:
        return wrong_pin(sim, 0, 16, &point, error);
    case 1:
        return wrong_pin(sim, 0, -1, &point, error);
    case 2:
        return wrong_pin(sim, 7, 0, &point, error);
    case 3:
        return wrong_pin(sim, -1, 0, &point, error);
    case 4:
        return wrong_pin(sim, 2, 0, &point, error); // was removed
    case 5:
        return wrong_pin(sim, 0, 0, &line, error);
    case 6:
        return wrong_pin(sim, 0, 0, &late, error);
    case 7:
        return wrong_pin(sim, 0, 0, &odd, error);
    case 8:
        return wrong_pin(sim, 0, 0, &keyed, error);
    case 9:
        return wrong_pin(sim, 0, 0, &sampled, error);
    case 10:
        return weft_sim_pin(sim, 0, &point, NULL, error);
    case 11:
        return weft_sim_move(sim, pin, nowhere, error);
    case 12:
        return weft_sim_move(sim, pin + 1, nowhere, error);
    case 13:
        return weft_sim_unpin(sim, 0, error);
    case 14:
        return weft_sim_unpin(sim, pin + 1, error);
    case 15:
        return wrong_material(sim, 0, -1e-6, 0.1, error);
    case 16:
        return wrong_material(sim, 0, NAN, 0.1, error);
    case 17:
        return wrong_material(sim, 0, 1e-6, 0.0, error);
    case 18:
        return wrong_material(sim, 2, 1e-6, 0.1, error);
    case 19:
        return weft_sim_set_gravity(sim, (weft_vec3){0, INFINITY, 0}, error);
    case 20:
        return weft_sim_set_wind(sim, &air, error);
    case 21:
        return wrong_force(sim, 0, 99, 0, error);
    case 22:
        return wrong_force(sim, 0, 0, NAN, error);
    case 23:
        return wrong_force(sim, 3, 0, 0, error);
    case 24:
        return add_square(sim, "sheet", v3(0, 1, 0), NULL, error);
    case 25:
        return add_square(sim, "cloth3", v3(0, 1, 0), NULL, error); // a name stays taken
    case 26:
        return add_square(sim, NULL, v3(0, NAN, 0), NULL, error);
    case 27:
        return add_floor(sim, "ball", v3(0, -1, 0), NULL, error);
    case 28:
        return add_floor(sim, "a/b", v3(0, -1, 0), NULL, error);
    case 29:
        return weft_sim_remove_cloth(sim, 2, error);
    case 30:
        return weft_sim_remove_cloth(sim, -5, error);
    case 31:
        return weft_sim_remove_obstacle(sim, 1, error);
    case 32:
        return wrong_pin(sim, 0, 0, &follows, error);
    case 33:
        return wrong_pin(sim, 0, 0, &both, error);
    default:
        return WEFT_NOT_FOUND;
    }
}

static void test_wrong_edits(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(busy, 1);
    run(sim, 2);
    const int vertices[] = {1, 2};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    weft_pin_id id;
    assert_int_equal(add_square(sim, NULL, v3(0, 1, 0), NULL, NULL), WEFT_OK);
    assert_int_equal(weft_sim_remove_cloth(sim, 2, NULL), WEFT_OK);
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &id, NULL), WEFT_OK);
    uint64_t before = hash_of(sim);
    int count = 0;
    for (weft_error error = {0};; error = (weft_error){0}, count++)
    {
        weft_status status = wrong_edit(sim, count, id, &error);
        if (status == WEFT_NOT_FOUND && !error.message[0])
        {
            break;
        }
        if (status == WEFT_OK || !error.message[0] || error.status != status || hash_of(sim) != before)
        {
            fail_msg("wrong edit %d: status %d, `%s`, %s", count, status, error.message,
                     hash_of(sim) == before ? "nothing changed" : "something changed");
        }
    }
    assert_int_equal(count, 34);
    weft_sim_destroy(sim);
    sim = scene_sim_text(tied, 1);
    weft_error error;
    assert_int_equal(weft_sim_remove_cloth(sim, 0, &error), WEFT_BAD_INPUT);
    assert_non_null(strstr(error.message, "tied"));
    // Nothing was edited: what is added is part of the scene.
    assert_false(sim->built);
    assert_int_equal(add_square(sim, NULL, v3(0, 1, 0), NULL, NULL), WEFT_OK);
    assert_false(sim->built);
    weft_sim_destroy(sim);
}

// ---- no memory

static weft_status good_edit(weft_sim* sim, int index, weft_pin_id pin)
{
    const int vertices[] = {4, 5};
    weft_pin two = weft_pin_default();
    two.vertices = vertices, two.vertex_count = 2;
    weft_force force = {vertices, 2, {0, 0.01, 0}};
    weft_air air = weft_sim_def_default().air;
    weft_material material = sim->bodies[0].material;
    const weft_vec3 target[] = {vertex_of(sim, 0, 1)};
    air.density = 1.2;
    material.density *= 1.5;
    switch (index)
    {
    case 0:
        return weft_sim_pin(sim, 0, &two, NULL, NULL);
    case 1:
        return weft_sim_move(sim, pin, target, NULL);
    case 2:
        return weft_sim_unpin(sim, pin, NULL);
    case 3:
        return weft_sim_set_force(sim, 0, &force, 1, NULL);
    case 4:
        return weft_sim_set_wind(sim, &air, NULL);
    case 5:
        return weft_sim_set_material(sim, 0, &material, NULL);
    case 6:
        return add_square(sim, NULL, v3(0, 0.3, 0), NULL, NULL);
    case 7:
        return add_floor(sim, NULL, v3(0, -0.3, 0), NULL, NULL);
    case 8:
        return weft_sim_remove_cloth(sim, 1, NULL);
    case 9:
        return weft_sim_remove_obstacle(sim, 0, NULL);
    default:
        return WEFT_NOT_FOUND;
    }
}

// A simulation with contacts, some of them remembered, and a pin on vertex 1.
static weft_sim* at_work(weft_pin_id* pin)
{
    weft_sim* sim = scene_sim_text(busy, 1);
    run(sim, 3);
    const int vertex = 1;
    weft_pin one = weft_pin_default();
    one.vertices = &vertex, one.vertex_count = 1;
    assert_int_equal(weft_sim_pin(sim, 0, &one, pin, NULL), WEFT_OK);
    run(sim, 3);
    return sim;
}

// Every allocation of an edit fails once; the edit that is then made gives the same bits as if it had never failed.
static void test_no_memory(void** unused)
{
    (void)unused;
    test_ledger l = {0};
    test_ledger_open(&l);
    int failed = 0;
    weft_pin_id pin;
    for (int index = 0; index < 10; index++)
    {
        weft_sim* sim = at_work(&pin);
        weft_sim* expected = at_work(&pin);
        uint64_t before = hash_of(sim);
        int nth = 0;
        weft_status status;
        do
        {
            l.fail_at = l.made + ++nth;
            status = good_edit(sim, index, pin);
            l.fail_at = 0;
            failed += status != WEFT_OK;
            if (status != WEFT_OK && (status != WEFT_NO_MEMORY || hash_of(sim) != before))
            {
                fail_msg("edit %d, allocation %d: status %d", index, nth, status);
            }
        } while (status != WEFT_OK);
        assert_int_equal(good_edit(expected, index, pin), WEFT_OK);
        assert_true(hash_of(sim) == hash_of(expected));
        run(sim, 2);
        run(expected, 2);
        assert_true(hash_of(sim) == hash_of(expected));
        weft_sim_destroy(sim);
        weft_sim_destroy(expected);
    }
    test_ledger_close();
    assert_int_equal(l.live, 0);
    print_message("%d edits failed for want of memory\n", failed);
    assert_true(failed > 100);
}

// Nor does reading a checkpoint with edits, whichever allocation fails, or whichever byte of them is another.
static void test_checkpoint_undone(void** unused)
{
    (void)unused;
    test_ledger l = {0};
    test_ledger_open(&l);
    weft_pin_id pin;
    weft_sim* sim = at_work(&pin);
    for (int index = 0; index < 10; index++)
    {
        index == 2 ? (void)0 : assert_int_equal(good_edit(sim, index, pin), WEFT_OK);
    }
    run(sim, 2);
    weft_sim* other = scene_sim_text(busy, 1);
    run(other, 1);
    const char* path = scene_path("undone.weft");
    assert_int_equal(checkpoint_write(path, sim, 1, NULL), WEFT_OK);
    uint64_t before = hash_of(other);
    int nth = 0;
    weft_status status;
    do
    {
        l.fail_at = l.made + ++nth;
        status = checkpoint_read(path, other, 1, NULL);
        l.fail_at = 0;
        if (status != WEFT_OK && (status != WEFT_NO_MEMORY || hash_of(other) != before))
        {
            fail_msg("allocation %d: status %d, %s", nth, status,
                     hash_of(other) == before ? "nothing changed" : "something changed");
        }
    } while (status != WEFT_OK);
    assert_true(nth > 100 && hash_of(other) == hash_of(sim));
    weft_sim_destroy(other);
    weft_sim_destroy(sim);
    test_ledger_close();
    assert_int_equal(l.live, 0);
}

// Where the items of the section begin, and how many bytes they are.
static unsigned char* edits_in(unsigned char* bytes, size_t size, size_t* count)
{
    for (size_t k = 0; k + 40 < size; k += 8)
    {
        if (memcmp(bytes + k, "edits\0\0\0", 8) == 0)
        {
            uint64_t items;
            memcpy(&items, bytes + k + 32, sizeof(items));
            *count = (size_t)items;
            return bytes + k + 40;
        }
    }
    fail_msg("the checkpoint has no edits");
    return NULL;
}

// A forged word anywhere in the edits is refused with a sentence, or says something that can be.
static void test_forged_edits(void** unused)
{
    (void)unused;
    weft_pin_id pin;
    weft_sim* sim = at_work(&pin);
    for (int index = 0; index < 10; index++)
    {
        index == 2 ? (void)0 : assert_int_equal(good_edit(sim, index, pin), WEFT_OK);
    }
    const char* path = scene_path("forged.weft");
    assert_int_equal(checkpoint_write(path, sim, 1, NULL), WEFT_OK);
    void* bytes;
    size_t size, count = 0;
    assert_int_equal(file_read(path, &bytes, &size, NULL), WEFT_OK);
    unsigned char* items = edits_in(bytes, size, &count);
    int refused = 0;
    static const uint64_t words[] = {0, 1, UINT64_MAX, 0x7FF8000000000000u, (uint64_t)1 << 40};
    for (size_t k = 0; k < 5 * (count / 8); k++)
    {
        uint64_t kept, hash;
        unsigned char* at = items + 8 * (k / 5);
        memcpy(&kept, at, 8);
        memcpy(at, &words[k % 5], 8);
        hash = hash_bytes(0, bytes, size - 8);
        memcpy((unsigned char*)bytes + size - 8, &hash, 8);
        weft_sim* other = scene_sim_text(busy, 1);
        weft_error error = {0};
        assert_int_equal(sim_build(other, NULL), WEFT_OK);
        uint64_t before = hash_of(other);
        weft_status status = checkpoint_parse(bytes, size, "forged.weft", other, 1, &error);
        refused += status != WEFT_OK;
        assert_true(status == WEFT_OK || (error.message[0] && hash_of(other) == before));
        weft_sim_destroy(other);
        memcpy(at, &kept, 8);
    }
    print_message("%d of %d forged words refused\n", refused, (int)(5 * (count / 8)));
    assert_true(refused > (int)(count / 8));
    mem_free(bytes);
    weft_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravity),           cmocka_unit_test(test_forces_and_wind),
        cmocka_unit_test(test_material),          cmocka_unit_test(test_pins),
        cmocka_unit_test(test_pin_samples),       cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_memory_is_carried), cmocka_unit_test(test_marks_are_carried),
        cmocka_unit_test(test_run_folder),        cmocka_unit_test(test_thousand_edits),
        cmocka_unit_test(test_wrong_edits),       cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_checkpoint_undone), cmocka_unit_test(test_forged_edits),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
