// Contact after a tear, mended, beside one that is made anew from the same torn cloth: the same edges, trees that have
// every feature once, the same pairs to the bit, and cells of smooth cloth that end at the cuts. Then torn runs with
// contact, mended and made anew in each step, with the same positions to the bit.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "collide/broad.h"
#include "common_scene.h"
#include "sim/tear_mend.h"

static const char scene[] =
    "{\"time_step\": 0.01, \"method\": \"pbd\", \"model\": \"hooke\", \"cloth\": [{\"tear\": 1e9, \"pins\": [{\"where\": "
    "{\"edge\": \"top\"}}], \"mesh\": {\"grid\": {\"cells\": [%d, %d], \"plane\": \"xy\", \"tessellation\": \"%s\"}}}], "
    "\"obstacles\": [%s]}";
static const char box[] = "{\"shape\": {\"box\": {\"center\": [0.1, -0.3, 0.22], \"size\": [0.3, 0.3, 0.3]}}}";
// More vertices than the cloth has: trees hold what is near.
static const char ball[] = "{\"shape\": {\"sphere\": {\"center\": [0.1, -0.3, 0.22], \"radius\": 0.2, \"segments\": 48}}}";

static weft_sim* make_sim(int cells, const char* mesh, const char* obstacle)
{
    char text[1000];
    snprintf(text, sizeof(text), scene, cells, cells + 3, mesh, obstacle);
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    return sim;
}

// Faces of one vertex that are on one side of a line through it; false: all or none are, one is in the list, or it is
// held.
static bool choose_one(const weft_sim* sim, uint64_t* counter, tear_list* list, uint8_t* used)
{
    const mesh* m = &sim->bodies[0].rest;
    int vertex = (int)test_random(counter, 0, m->vertex_count), taken = 0, around = 0;
    bool blocked = false;
    vec3 across = test_random_vec(counter, 1.0);
    for (int k = 0; k < sim->model.pins.count; k++)
    {
        if (sim->model.pins.pins[k].vertex == sim->bodies[0].scene_vertex[vertex])
        {
            return false;
        }
    }
    int face[40];
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        vec3 middle = v3_scale(1.0 / 3.0, v3_add(m->position[v[0]], v3_add(m->position[v[1]], m->position[v[2]])));
        if (v[0] == vertex || v[1] == vertex || v[2] == vertex)
        {
            bool up = v3_dot(v3_sub(middle, m->position[vertex]), across) > 0.0;
            around++;
            face[taken] = m->triangle_face[t];
            taken += up && taken < 39;
            blocked = blocked || used[m->triangle_face[t]];
        }
    }
    if (blocked || taken == 0 || taken == around)
    {
        return false;
    }
    assert_int_equal(tears_add(list, vertex), WEFT_OK);
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * (size_t)t;
        used[m->triangle_face[t]] |= v[0] == vertex || v[1] == vertex || v[2] == vertex;
    }
    for (int k = 0; k < taken; k++)
    {
        assert_int_equal(tears_take(list, face[k]), WEFT_OK);
    }
    return true;
}

// Up to so many vertices, as a step tears them: no face is at two of them.
static bool choose(const weft_sim* sim, uint64_t* counter, tear_list* list, int most)
{
    uint8_t* used = calloc((size_t)sim->bodies[0].rest.face_count + 1, 1);
    list->count = list->face_count = 0;
    for (int k = 0; k < most; k++)
    {
        choose_one(sim, counter, list, used);
    }
    free(used);
    return list->count > 0;
}

static void check_tree(const bvh* tree)
{
    uint8_t* seen = calloc((size_t)tree->count + 1, 1);
    int found = 0;
    for (int k = 0; k < tree->level_size[0] * BVH_WIDTH; k++)
    {
        int id = tree->id[k], group = k / BVH_WIDTH;
        assert_in_range(id + 1, 0, tree->count);
        for (int c = 0; c < tree->arity; c++)
        {
            int vertex = tree->vertex[(group * tree->arity + c) * BVH_WIDTH + k % BVH_WIDTH];
            assert_int_equal(vertex, id < 0 ? -1 : tree->corner[id * tree->arity + c]);
        }
        assert_true(id <= tree->last_id[group]);
        id < 0 ? (void)0 : assert_int_equal(seen[id]++, 0);
        found += id >= 0;
    }
    assert_int_equal(found, tree->count);
    free(seen);
}

// Cells lie along a border, and a new map may take that of a cut; but in either no edge that one face has, inside of the
// rectangle around the cloth, goes through a cell that is sound.
static int sound_at(const smooth_map* m, vec2 p)
{
    const smooth_grid* g = &m->grid[0];
    int column = int_max(0, int_min(g->count[0] - 1, (int)(p.x / g->size[0] * g->count[0])));
    int row = int_max(0, int_min(g->count[1] - 1, (int)(p.y / g->size[1] * g->count[1])));
    return m->sound[smooth_cell(g, column, row)];
}

static bool is_outside(const smooth_grid* g, vec2 p)
{
    return p.x < 1e-6 || p.y < 1e-6 || p.x > g->size[0] - 1e-6 || p.y > g->size[1] - 1e-6;
}

static void check_cells(const weft_collider* c)
{
    const smooth_map* m = &c->smooth;
    const int *edge = c->corner[FEATURE_EDGE], *face = c->corner[FEATURE_FACE];
    int borders = 0, sound = 0;
    assert_int_equal(m->grid_count, 1);
    assert_int_equal(m->valid, false);
    for (int e = 0; e < c->tree[FEATURE_EDGE].count; e++)
    {
        int a = edge[2 * e], b = edge[2 * e + 1], faces = 0;
        for (int f = 0; f < c->tree[FEATURE_FACE].count && m->grid_of[a] == 0; f++)
        {
            const int* v = face + 3 * f;
            faces += (v[0] == a || v[1] == a || v[2] == a) && (v[0] == b || v[1] == b || v[2] == b);
        }
        vec2 p = m->at[a], q = m->at[b];
        if (faces != 1 || is_outside(&m->grid[0], (vec2){0.5 * (p.x + q.x), 0.5 * (p.y + q.y)}))
        {
            continue;
        }
        for (int k = 0; k <= 20; k++)
        {
            assert_int_equal(sound_at(m, (vec2){p.x + k / 20.0 * (q.x - p.x), p.y + k / 20.0 * (q.y - p.y)}), 0);
        }
        borders++;
    }
    for (int k = 0; k < m->cell_count; k++)
    {
        sound += m->sound[k];
        assert_true(m->sound[k] || isinf(m->spread[k]));
    }
    assert_true(borders >= 2 && sound > 0);
}

static weft_pair* pairs_of(const weft_sim* sim, weft_collider* c, int* count)
{
    const world* w = &sim->world;
    int n = w->model->vertex_count;
    vec3* x = calloc((size_t)c->vertex_count, sizeof(vec3));
    memcpy(x, w->state.x, (size_t)n * sizeof(vec3));
    assert_int_equal(w->contact->obstacles_at(w->contact->user, 0.0, x + n, NULL), WEFT_OK);
    weft_pairs found;
    assert_int_equal(weft_collider_update(c, x, x, 0.03, NULL), WEFT_OK);
    assert_int_equal(weft_collider_pairs(c, &found, NULL), WEFT_OK);
    *count = found.vertex_face_count + found.edge_edge_count;
    weft_pair* pairs = malloc((size_t)*count * sizeof(weft_pair) + 1);
    memcpy(pairs, found.vertex_face, (size_t)found.vertex_face_count * sizeof(weft_pair));
    memcpy(pairs + found.vertex_face_count, found.edge_edge, (size_t)found.edge_edge_count * sizeof(weft_pair));
    free(x);
    return pairs;
}

// The mended collider is taken aside while another one is made.
static void check_against_new(weft_sim* sim, bool trees)
{
    contact* mended = sim->world.contact;
    sim->world.contact = NULL;
    assert_int_equal(sim_build_contact(sim, NULL), WEFT_OK);
    weft_collider *a = mended->collider, *b = sim->world.contact->collider;
    assert_int_equal(a->build_count, trees);
    assert_int_equal(b->build_count, 0);
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        assert_int_equal(a->tree[kind].count, b->tree[kind].count);
        assert_memory_equal(a->corner[kind], b->corner[kind],
                            (size_t)(kind + 1) * (size_t)a->tree[kind].count * sizeof(int));
        trees ? check_tree(&a->tree[kind]) : (void)0;
    }
    assert_memory_equal(a->smooth.corner, b->smooth.corner, 3 * (size_t)a->smooth.face_count * sizeof(int));
    assert_memory_equal(a->smooth.grid_of, b->smooth.grid_of, (size_t)a->vertex_count * sizeof(int));
    trees ? check_cells(a) : (void)0; // of a mesh that is fine enough beside the obstacle
    int p, q;
    weft_pair *x = pairs_of(sim, a, &p), *y = pairs_of(sim, b, &q);
    assert_int_equal(a->build_count, 1); // its order was good
    assert_int_equal(p, q);
    assert_true(p > 500);
    assert_memory_equal(x, y, (size_t)p * sizeof(weft_pair));
    free(x);
    free(y);
    contact* fresh = sim->world.contact;
    sim->world.contact = mended;
    contact_finish(fresh);
    mem_free(fresh);
}

static void check_mesh(const char* mesh, const char* obstacle, int most, int turns)
{
    weft_sim* sim = make_sim(16, mesh, obstacle);
    uint64_t counter = 11;
    tear_list list = {0};
    int torn = 0;
    for (int turn = 0; turn < turns; turn++)
    {
        bool mended = false;
        turn % 5 == 0 ? assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK) : (void)0;
        if (sim->world.contact->collider->build_count == 0 || !choose(sim, &counter, &list, most))
        {
            continue;
        }
        assert_int_equal(sim_mend(sim, &sim->bodies[0], &list, &mended, NULL), WEFT_OK);
        if (mended)
        {
            tear_open(sim, &sim->bodies[0], sim->bodies[0].rest.vertex_count - 1);
            check_against_new(sim, obstacle != ball);
            torn += list.count;
        }
    }
    printf("%s: %d tears mended\n", mesh, torn);
    assert_true(torn > 15);
    tears_finish(&list);
    weft_sim_destroy(sim);
}

static void test_against_new(void** unused)
{
    (void)unused;
    check_mesh("regular", box, 1, 30);
    check_mesh("irregular", box, 1, 30);
    check_mesh("irregular", box, 12, 8);
    check_mesh("irregular", "", 6, 8);
    check_mesh("irregular", ball, 4, 12);
}

static void check_bits(const char* obstacle, int most)
{
    weft_sim* sims[2] = {make_sim(14, "irregular", obstacle), make_sim(14, "irregular", obstacle)};
    uint64_t counter = 3;
    tear_list list = {0};
    for (int turn = 0; turn < 26; turn++)
    {
        bool wanted = turn % 2 == 1 && choose(sims[0], &counter, &list, most);
        for (int k = 0; k < 2; k++)
        {
            bool mended = false;
            wanted ? assert_int_equal(sim_mend(sims[k], &sims[k]->bodies[0], &list, &mended, NULL), WEFT_OK) : (void)0;
            if (mended)
            {
                tear_open(sims[k], &sims[k]->bodies[0], sims[k]->bodies[0].rest.vertex_count - 1);
            }
            if (k == 1)
            {
                sim_drop_contact(sims[k]);
                assert_int_equal(sim_build_contact(sims[k], NULL), WEFT_OK);
            }
            assert_int_equal(weft_sim_step(sims[k], NULL, NULL), WEFT_OK);
        }
        int n = sims[0]->model.vertex_count;
        assert_int_equal(n, sims[1]->model.vertex_count);
        assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, (size_t)n * sizeof(vec3));
    }
    assert_true(sims[0]->bodies[0].torn_count > 10);
    tears_finish(&list);
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void test_same_bits(void** unused)
{
    (void)unused;
    check_bits(box, 1);
    check_bits("", 4);
    check_bits(ball, 4);
}

// Wherever memory ends in a tear, the simulation goes on once there is some again, and loses none of it.
static void test_no_memory(void** unused)
{
    (void)unused;
    const char* const obstacles[] = {box, ball};
    for (int k = 0; k < 2; k++)
    {
        test_ledger l = {0};
        test_ledger_open(&l);
        weft_sim* sim = make_sim(4, "irregular", obstacles[k]);
        uint64_t counter = 5;
        tear_list list = {0};
        assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
        int failed = 0, mends = 0;
        for (int nth = 1; mends == 0; nth++)
        {
            while (!choose(sim, &counter, &list, 2))
            {
            }
            bool mended = false;
            l.fail_at = l.made + nth;
            weft_status status = sim_mend(sim, &sim->bodies[0], &list, &mended, NULL);
            mends += l.made < l.fail_at;
            l.fail_at = 0;
            failed += status == WEFT_NO_MEMORY;
            assert_true(status == WEFT_NO_MEMORY || (status == WEFT_OK && mended));
            if (nth % 4 == 0 || status == WEFT_OK)
            {
                assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
            }
            else
            {
                weft_sim_destroy(sim);
                sim = make_sim(4, "irregular", obstacles[k]);
                assert_int_equal(weft_sim_step(sim, NULL, NULL), WEFT_OK);
            }
        }
        assert_true(failed > 50);
        tears_finish(&list);
        weft_sim_destroy(sim);
        test_ledger_close();
        assert_int_equal(l.bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_new),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
