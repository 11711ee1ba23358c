// Edits of a running simulation: each does what it says, and a thousand random ones between steps give the same bits on
// any number of threads and through checkpoints.
#include "common.h"

#include <string.h>

#include "cache/checkpoint.h"
#include "common_edits.h"
#include "common_scene.h"
#include "sim/edits.h"
#include "weft/cache.h"

static const char plain[] = "{\"contact\": {\"enabled\": false}, " CLOTH ", \"pins\": [{\"where\": {\"edge\": "
                            "\"top\"}}]}]}";

static const char large[] = EDITS_BUSY("24");

// ---- what each edit does

static void test_gravity(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    edits_run(sim, 3);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){2, 0, 0}, NULL), WEFT_OK);
    double total = 0.0;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        total += sim->model.external[i].x;
    }
    assert_true(fabs(total - 2 * sim->model.total_mass) < 1e-12);
    edits_run(sim, 2);
    edits_assert_resumes(sim, plain);
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
    edits_run(sim, 2);
    assert_true(edits_vertex(sim, 0, 7).y > edits_vertex(sim, 0, 12).y + 1e-7);
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
    double before = edits_vertex(sim, 0, 0).y;
    edits_run(sim, 5);
    assert_true(edits_vertex(sim, 0, 0).y > before);
    air.wind.y = -5;
    assert_int_equal(weft_sim_set_wind(sim, &air, NULL), WEFT_OK);
    assert_int_equal(weft_sim_generation(sim), 2);
    edits_assert_resumes(sim, free_cloth);
    air.density = 0;
    assert_int_equal(weft_sim_set_wind(sim, &air, NULL), WEFT_OK);
    edits_assert_resumes(sim, free_cloth);
    weft_sim_destroy(sim);
}

// A cloth twice as heavy: what holds it up pulls twice as hard.
static void test_material(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    edits_run(sim, 3);
    weft_material material = sim->bodies[0].material;
    double mass = sim->model.total_mass;
    uint64_t state_before = edits_hash_items(0, sim->world.state.x, 25, sizeof(vec3));
    material.density *= 2.0;
    assert_int_equal(weft_sim_set_material(sim, 0, &material, NULL), WEFT_OK);
    assert_true(fabs(sim->model.total_mass - 2.0 * mass) < 1e-12);
    assert_true(state_before == edits_hash_items(0, sim->world.state.x, 25, sizeof(vec3)));
    edits_assert_resumes(sim, plain);
    weft_sim_destroy(sim);
}

// A pin takes a vertex along a line of moves, halved steps or not, and lets go.
static void test_pins(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    edits_run(sim, 2);
    const int vertices[] = {0, 3};
    weft_pin pin = weft_pin_default();
    pin.vertices = vertices, pin.vertex_count = 2;
    weft_pin_id first = 0, second = 0;
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &first, NULL), WEFT_OK);
    vec3 held = edits_vertex(sim, 0, 3), target[2];
    edits_run(sim, 3);
    assert_true(v3_length(v3_sub(edits_vertex(sim, 0, 3), held)) < 1e-12);
    for (int k = 1; k <= 4; k++)
    {
        target[0] = edits_vertex(sim, 0, 0);
        target[1] = v3_add(held, v3(0, 0.001 * k, 0));
        assert_int_equal(weft_sim_move(sim, first, target, NULL), WEFT_OK);
        k == 2 ? edits_assert_resumes(sim, plain) : edits_run(sim, 1);
        assert_true(v3_length(v3_sub(edits_vertex(sim, 0, 3), target[1])) < 1e-12);
    }
    assert_int_equal(weft_sim_unpin(sim, first, NULL), WEFT_OK);
    assert_int_equal(weft_sim_unpin(sim, first, NULL), WEFT_NOT_FOUND);
    edits_run(sim, 3);
    assert_true(v3_length(v3_sub(edits_vertex(sim, 0, 3), target[1])) > 1e-5);
    assert_int_equal(weft_sim_pin(sim, 0, &pin, &second, NULL), WEFT_OK);
    assert_true(second > first);
    weft_sim_destroy(sim);
}

// A square with two pins of its own, the second of two vertices.
static weft_cloth_id add_pinned_square(weft_sim* sim)
{
    vec3 x[4];
    const int first = 0, others[] = {1, 2};
    weft_pin pins[] = {weft_pin_default(), weft_pin_default()};
    weft_cloth_def def = weft_cloth_def_default();
    weft_cloth_id out = -1;
    edits_square_at(v3(0, 0.6, 0), 0.1, x);
    pins[0].vertices = &first, pins[0].vertex_count = 1;
    pins[1].vertices = others, pins[1].vertex_count = 2;
    def.positions = x, def.vertex_count = 4;
    def.face_vertices = edits_square_faces, def.face_count = 2;
    def.pins = pins, def.pin_count = 2;
    assert_int_equal(weft_sim_add_cloth(sim, &def, &out, NULL), WEFT_OK);
    return out;
}

// Pins that a cloth came with are found by their place in its list, moved and let go, through checkpoints.
static void test_pins_of_the_scene(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    assert_int_equal(weft_sim_cloth_pin_count(sim, 0), 1);
    assert_int_equal(weft_sim_cloth_pin_count(sim, 1), 0);
    weft_pin_id pin = weft_sim_cloth_pin(sim, 0, 0);
    const int* vertices = NULL;
    weft_cloth_id cloth = -1;
    assert_int_equal(weft_sim_pin_vertices(sim, pin, &cloth, &vertices), 1);
    assert_int_equal(cloth, 0);
    int corner = vertices[0];
    edits_run(sim, 1);
    vec3 target = v3_add(edits_vertex(sim, 0, corner), v3(0.001, 0.002, 0));
    assert_int_equal(weft_sim_move(sim, pin, &(vec3){NAN, 0, 0}, NULL), WEFT_BAD_INPUT);
    assert_int_equal(weft_sim_move(sim, pin, &target, NULL), WEFT_OK);
    assert_int_equal(weft_sim_pin_vertices(sim, pin, &cloth, &vertices), 1);
    assert_int_equal(vertices[0], corner);
    edits_run(sim, 3);
    assert_true(v3_length(v3_sub(edits_vertex(sim, 0, corner), target)) < 1e-12);
    edits_assert_resumes(sim, edits_busy);
    assert_int_equal(weft_sim_unpin(sim, pin, NULL), WEFT_OK);
    assert_false(weft_sim_has_pin(sim, pin));
    assert_int_equal(weft_sim_unpin(sim, pin, NULL), WEFT_NOT_FOUND);
    assert_int_equal(weft_sim_pin_vertices(sim, pin, &cloth, &vertices), 0);
    edits_run(sim, 10);
    assert_true(edits_vertex(sim, 0, corner).y < target.y - 1e-4);
    edits_assert_resumes(sim, edits_busy);
    weft_sim_destroy(sim);
}

// Ids stay with the pins of cloth that came later, whatever went before it.
static void test_pins_of_added_cloth(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    edits_run(sim, 1);
    weft_cloth_id first = add_pinned_square(sim);
    assert_int_equal(weft_sim_cloth_pin(sim, first, 1), 3);
    assert_int_equal(weft_sim_remove_cloth(sim, first, NULL), WEFT_OK);
    assert_int_equal(weft_sim_cloth_pin_count(sim, first), 0);
    weft_cloth_id second = add_pinned_square(sim);
    weft_pin_id pin = weft_sim_cloth_pin(sim, second, 1);
    assert_int_equal(pin, 5);
    edits_run(sim, 2);
    weft_pin_id own = weft_sim_cloth_pin(sim, second, 0);
    assert_int_equal(weft_sim_unpin(sim, own, NULL), WEFT_OK); // before it, without having been moved
    weft_sim_checkpoint(sim);
    weft_sim* other = edits_made_anew(sim, edits_busy, 1);
    assert_int_equal(weft_sim_cloth_pin(other, second, 1), pin);
    assert_true(weft_sim_has_pin(other, pin) && !weft_sim_has_pin(other, own));
    vec3 to[] = {v3_add(edits_vertex(sim, second, 1), v3(0, 0.001, 0)), edits_vertex(sim, second, 2)};
    assert_int_equal(weft_sim_move(sim, pin, to, NULL), WEFT_OK);
    assert_int_equal(weft_sim_move(other, pin, to, NULL), WEFT_OK);
    edits_run(sim, 2);
    edits_run(other, 2);
    assert_true(edits_hash(sim) == edits_hash(other));
    assert_true(v3_length(v3_sub(edits_vertex(sim, second, 1), to[0])) < 1e-12);
    weft_sim_destroy(other);
    edits_assert_resumes(sim, edits_busy);
    weft_sim_destroy(sim);
}

// Samples: linear between, held before and after; keys move what they give.
static void test_pin_samples(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(plain, 1);
    edits_run(sim, 1);
    const int vertices[] = {4, 0};
    vec3 a = edits_vertex(sim, 0, 4), b = edits_vertex(sim, 0, 0), up = v3(0, 0.002, 0);
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
        edits_run(sim, 1);
        vec3 wanted_a = v3_add(v3_madd(a, rise_a[k], up), key.offset);
        vec3 wanted_b = v3_add(v3_madd(b, rise_b[k], up), key.offset);
        assert_true(v3_length(v3_sub(edits_vertex(sim, 0, 4), wanted_a)) < 1e-12);
        assert_true(v3_length(v3_sub(edits_vertex(sim, 0, 0), wanted_b)) < 1e-12);
    }
    edits_assert_resumes(sim, plain);
    weft_sim_destroy(sim);
}

// Bodies come and go; ids and states of others stay, and the collider knows.
static void test_bodies(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    edits_run(sim, 4);
    vec3 x = edits_vertex(sim, 1, 2);
    weft_cloth_id cloth = -1;
    weft_obstacle_id floor = -1;
    assert_int_equal(edits_add_square(sim, NULL, v3(0, 0.1, 0), &cloth, NULL), WEFT_OK);
    assert_int_equal(edits_add_floor(sim, NULL, v3(0, -0.3, 0), &floor, NULL), WEFT_OK);
    assert_true(cloth == 2 && floor == 1);
    assert_memory_equal(&x, (vec3[]){edits_vertex(sim, 1, 2)}, sizeof(x));
    assert_int_equal(weft_sim_step_count(sim), 4);
    edits_run(sim, 3);
    edits_assert_resumes(sim, edits_busy);
    x = edits_vertex(sim, 2, 2);
    assert_int_equal(weft_sim_remove_cloth(sim, 0, NULL), WEFT_OK);
    assert_int_equal(weft_sim_remove_obstacle(sim, 0, NULL), WEFT_OK);
    assert_memory_equal(&x, (vec3[]){edits_vertex(sim, 2, 2)}, sizeof(x));
    assert_true(!weft_sim_has_cloth(sim, 0) && weft_sim_has_cloth(sim, 1) && !weft_sim_has_obstacle(sim, 0));
    assert_int_equal(weft_sim_cloth_count(sim), 3);
    assert_int_equal(weft_sim_vertex_count(sim, 0), 0);
    assert_int_equal(weft_sim_collider_vertex_count(sim), 9 + 4 + 4);
    edits_run(sim, 3);
    edits_assert_resumes(sim, edits_busy);
    assert_int_equal(weft_sim_remove_cloth(sim, 2, NULL), WEFT_OK);
    edits_assert_resumes(sim, edits_busy);
    assert_int_equal(weft_sim_remove_cloth(sim, 1, NULL), WEFT_BAD_INPUT);
    weft_sim_destroy(sim);
}

// All that the state knows of a cloth's vertices.
static uint64_t hash_cloth(const weft_sim* sim, int cloth)
{
    const state* s = &sim->world.state;
    const body* b = &sim->bodies[cloth];
    int n = b->rest.vertex_count;
    uint64_t hash = edits_hash_items(1, s->x + b->first, n, sizeof(vec3));
    hash = edits_hash_items(hash, s->v + b->first, n, sizeof(vec3));
    hash = edits_hash_items(hash, s->acceleration + b->first, n, sizeof(vec3));
    return edits_hash_items(hash, s->contact.memory + b->first, n, sizeof(contact_memory));
}

// What is remembered of vertices goes along when they and the bodies around them get other numbers.
static void test_memory_is_carried(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    edits_run(sim, 12);
    const contact_memory* memory = sim->world.state.contact.memory;
    bool any = false;
    for (int i = 0; i < 9; i++)
    {
        any = any || memory[sim->bodies[1].first + i].load != 0.0 || memory[sim->bodies[1].first + i].force != 0.0;
    }
    assert_true(any);
    uint64_t patch = hash_cloth(sim, 1);
    int halvings = sim->world.state.halvings, calm = sim->world.state.calm;
    assert_int_equal(edits_add_square(sim, NULL, v3(0, 0.3, 0), NULL, NULL), WEFT_OK);
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
        edits_run(sim, 1);
    }
    assert_true(marks->count > 0);
    squeeze_mark before[64];
    int count = int_min(marks->count, 64), cloths = sim->body_count, gone = 0;
    memcpy(before, marks->item, (size_t)count * sizeof(squeeze_mark));
    assert_int_equal(edits_add_square(sim, NULL, v3(0, 9, 0), NULL, NULL), WEFT_OK);
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

// A run's folder takes edits and resumes with those of the last frame; test_run_bodies.c has bodies that come and go.
static void test_run_folder(void** unused)
{
    (void)unused;
    weft_sim* sim = scene_sim_text(edits_busy, 1);
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("run"));
    weft_cache_writer* writer;
    weft_step_stats stats;
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_NEW, edits_busy, 1, sim, &writer, NULL), WEFT_OK);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){1, 2, 3}, NULL), WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, NULL), WEFT_OK);
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, NULL), WEFT_OK);
    uint64_t at_checkpoint = edits_hash(sim);
    assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){3, 2, 1}, NULL), WEFT_OK); // in no frame
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_sim_destroy(sim);
    sim = scene_sim_text(edits_busy, 1);
    assert_int_equal(weft_cache_writer_create(dir, WEFT_CACHE_RESUME, edits_busy, 1, sim, &writer, NULL), WEFT_OK);
    assert_true(edits_hash(sim) == at_checkpoint);
    assert_int_equal(weft_cache_writer_destroy(writer, NULL), WEFT_OK);
    weft_sim_destroy(sim);
}

// ---- a thousand random edits

enum
{
    ROUNDS = 32,
    LARGE = 2,    // rounds of the large scene
    EDITS = 50,   // in a round
    BETWEEN = 10, // edits from checkpoint to checkpoint
    CLOTHS_MAX = 4,
    OBSTACLES_MAX = 3,
    TIES_MAX = 3
};

typedef struct player
{
    weft_sim* sim;
    uint64_t random;
    weft_pin_id pins[EDITS + 1]; // some of them gone; the first is the scene's
    int pin_count;
} player;

static int choose(player* p, int count)
{
    return (int)test_random(&p->random, 0, count);
}

// The first cloth that is there, from k on and around.
static int live_from(const weft_sim* sim, int k)
{
    k %= sim->body_count;
    while (!weft_sim_has_cloth(sim, k))
    {
        k = (k + 1) % sim->body_count;
    }
    return k;
}

static int live_cloth(player* p)
{
    return live_from(p->sim, choose(p, p->sim->body_count));
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
    vec3 targets[2] = {{0, 0, 0}, {0, 0, 0}};
    const int* vertices;
    weft_cloth_id cloth;
    int count = k >= 0 ? weft_sim_pin_vertices(p->sim, p->pins[k], &cloth, &vertices) : 0;
    for (int i = 0; i < count; i++)
    {
        targets[i] = v3_add(edits_vertex(p->sim, cloth, vertices[i]), test_random_vec(&p->random, 0.002));
    }
    return weft_sim_move(p->sim, k >= 0 ? p->pins[k] : 1 << 20, targets, NULL);
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
        return edits_add_square(p->sim, "ball", place, NULL, NULL);
    }
    return cloth ? edits_add_square(p->sim, NULL, v3_add(place, v3(0, 0.4, 0)), NULL, NULL)
                 : edits_add_floor(p->sim, NULL, v3_add(place, v3(0, -0.5, 0)), NULL, NULL);
}

static weft_status edit_remove(player* p)
{
    bool cloth = choose(p, 2);
    return cloth ? weft_sim_remove_cloth(p->sim, live_cloth(p), NULL)
                 : weft_sim_remove_obstacle(p->sim, choose(p, p->sim->obstacle_count + 1), NULL);
}

// Cloth that is tied stays, so that the walk has a few ties only; many points lie beside the other cloth.
static weft_status edit_tie(player* p)
{
    int cloth = live_cloth(p), to = live_from(p->sim, cloth + 1);
    int vertex = choose(p, weft_sim_vertex_count(p->sim, cloth));
    weft_tie tie = {weft_sim_cloth_name(p->sim, cloth), weft_sim_cloth_name(p->sim, to), &vertex, 1, 0};
    bool few = cloth != to && p->sim->seam_count < TIES_MAX;
    return few ? weft_sim_tie(p->sim, &tie, NULL) : WEFT_BAD_INPUT;
}

static weft_status edit_exclude(player* p)
{
    int cloth = live_cloth(p), other = choose(p, p->sim->body_count + p->sim->obstacle_count);
    const int vertex = choose(p, weft_sim_vertex_count(p->sim, cloth));
    weft_exclusion e = {weft_sim_cloth_name(p->sim, cloth), sim_body_name(p->sim, other), &vertex, 1};
    e.vertices = choose(p, 4) == 0 ? NULL : e.vertices;
    return weft_sim_exclude(p->sim, &e, NULL);
}

static weft_status (*const random_edits[])(player*) = {edit_pin,      edit_move,    edit_move, edit_unpin, edit_force,
                                                       edit_material, edit_gravity, edit_wind, edit_add,   edit_remove,
                                                       edit_tie,      edit_exclude, edit_tie};

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
    const char* text = round < LARGE ? large : edits_busy;
    player p = {.sim = scene_sim_text(text, workers), .random = (uint64_t)round << 32};
    p.pins[p.pin_count++] = weft_sim_cloth_pin(p.sim, 0, 0);
    edits_run(p.sim, 1); // what is added before belongs to the scene
    for (int k = 0; k < EDITS; k++)
    {
        int kind = choose(&p, EDIT_KINDS);
        uint64_t before = edits_hash(p.sim);
        weft_status status = random_edits[kind](&p);
        if (status != WEFT_OK)
        {
            assert_true(before == edits_hash(p.sim));
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
            weft_sim* next = anew ? edits_made_anew(p.sim, text, workers) : p.sim;
            anew ? weft_sim_destroy(p.sim) : (void)0;
            p.sim = next;
        }
        out->hashes[round][k] = edits_hash(p.sim);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gravity),           cmocka_unit_test(test_forces_and_wind),
        cmocka_unit_test(test_material),          cmocka_unit_test(test_pins),
        cmocka_unit_test(test_pins_of_the_scene), cmocka_unit_test(test_pins_of_added_cloth),
        cmocka_unit_test(test_pin_samples),       cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_memory_is_carried), cmocka_unit_test(test_marks_are_carried),
        cmocka_unit_test(test_run_folder),        cmocka_unit_test(test_thousand_edits),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
