// Tearing: a banner tears in its top row when its weight exceeds its strength, whatever the mesh, model and method, and
// never below that; what a tear does to a body; the same bits on any number of threads; what is refused.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_scene.h"
#include "sim/sim.h"
#include "sim/tear_mend.h"
#include "step/pbd.h"
#include "weft/cache.h"

#define BANNER                                                                                                         \
    "{\"time_step\": 0.01, \"method\": \"%s\", \"model\": \"%s\", \"gravity\": [0, 0, 0], \"contact\": {\"enabled\": " \
    "%s}, \"%s\": {\"substeps\": 0, \"iterations\": %d, \"drag\": 10},"                                                \
    " \"cloth\": [{\"name\": \"banner\", \"mesh\": {\"grid\": {\"size\": [0.4, 1], \"cells\": [%d, %d], \"plane\": "   \
    "\"xy\", \"tessellation\": \"%s\"}}, \"tear\": 1.0,"                                                               \
    " \"material\": {\"base\": \"cotton\", \"stretch_warp\": 100, \"stretch_weft\": 100, \"shear\": 10, \"damping\": " \
    "0.02}, \"pins\": [{\"where\": {\"edge\": \"top\"}}]}]}"

static weft_sim* banner(const char* method, const char* model, int cells, int iterations, const char* tessellation,
                        int workers)
{
    char text[2000];
    const char* settings = strcmp(method, "hpbd") == 0 ? "hpbd" : "pbd";
    snprintf(text, sizeof(text), BANNER, method, model, "true", settings, iterations, 2 * cells / 5, cells,
             tessellation);
    return scene_sim_text(text, workers);
}

static void step(weft_sim* sim)
{
    weft_error error = {0};
    if (weft_sim_step(sim, NULL, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
}

// The weight grows until something tears: returns rho g L over the strength then, and the height of the vertex that
// did.
static double weight_that_tears(weft_sim* sim, double* height)
{
    const int steps = 300; // to 1.5 times the strength
    int before = weft_sim_vertex_count(sim, 0);
    for (int k = 1; k <= steps; k++)
    {
        double g = 1.5 / 0.15 * k / steps;
        assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){0, -g, 0}, NULL), WEFT_OK);
        step(sim);
        if (weft_sim_vertex_count(sim, 0) > before)
        {
            *height = sim->bodies[0].rest.position[sim->bodies[0].torn_from[0]].y;
            return 0.15 * g;
        }
    }
    return INFINITY;
}

static void test_tears_at_its_strength(void** unused)
{
    (void)unused;
    static const struct
    {
        const char *method, *model, *mesh;
        int cells, iterations;
    } cases[] = {
        {"implicit-euler", "baraff-witkin", "regular", 20, 1},
        {"implicit-euler", "baraff-witkin", "regular", 40, 1},
        {"implicit-euler", "hooke", "regular", 20, 1},
        {"pbd", "hooke", "regular", 20, 1},
        {"pbd", "hooke", "regular", 20, 4},
        {"pbd", "hooke", "regular", 40, 2},
        {"hpbd", "hooke", "regular", 20, 1},
        {"hpbd", "hooke", "regular", 20, 16},
        {"hpbd", "baraff-witkin", "regular", 20, 2},
        {"implicit-euler", "baraff-witkin", "irregular", 20, 1},
        {"local-global", "hooke", "regular", 20, 1},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
    {
        double height = 0.0;
        weft_sim* sim = banner(cases[k].method, cases[k].model, cases[k].cells, cases[k].iterations, cases[k].mesh, 1);
        double weight = weight_that_tears(sim, &height), top = sim->bodies[0].rest.position[0].y;
        for (int i = 0; i < sim->bodies[0].rest.vertex_count; i++)
        {
            top = fmax(top, sim->bodies[0].rest.position[i].y);
        }
        printf("%s, %s, %s, %d cells, %d iterations: tears at %.3f of its strength, %.3f m below the top\n",
               cases[k].method, cases[k].model, cases[k].mesh, cases[k].cells, cases[k].iterations, weight,
               top - height);
        bool regular = strcmp(cases[k].mesh, "regular") == 0;
        // Below the first row hangs all but half a row of what the strength bears.
        assert_true(fabs(weight - 1.0) < (regular ? 0.05 : 0.25));
        assert_true(top - height < (regular ? 1.01 : 3.0) / cases[k].cells);
        weft_sim_destroy(sim);
    }
}

static void check_never_below(const char* method, const char* model)
{
    weft_sim* sim = banner(method, model, 20, 2, "regular", 1);
    int before = weft_sim_vertex_count(sim, 0);
    for (int k = 0; k < 1000; k++)
    {
        double g = 0.93 / 0.15 * fmin(1.0, k / 200.0);
        assert_int_equal(weft_sim_set_gravity(sim, (weft_vec3){0, -g, 0}, NULL), WEFT_OK);
        step(sim);
    }
    assert_int_equal(weft_sim_vertex_count(sim, 0), before);
    weft_sim_destroy(sim);
}

static void test_never_below_it(void** unused)
{
    (void)unused;
    check_never_below("implicit-euler", "baraff-witkin");
    check_never_below("hpbd", "hooke");
}

// ---- what a tear does

static double mass_of(const weft_sim* sim)
{
    double sum = 0.0;
    for (int i = 0; i < sim->model.vertex_count; i++)
    {
        sum += sim->model.mass[i];
    }
    return sum;
}

// Faces and triangles agree, no vertex is left without a face, copies follow from where they were.
static void check_body(const body* b, int first_count)
{
    const mesh* m = &b->rest;
    uint8_t* used = calloc((size_t)m->vertex_count, 1);
    for (int t = 0; t < m->triangle_count; t++)
    {
        for (int k = 0; k < 3; k++)
        {
            int v = m->triangle[3 * t + k];
            assert_true(v >= 0 && v < m->vertex_count);
            assert_int_equal(m->face_vertex[m->triangle_corner[3 * t + k]], v);
            used[v] = 1;
        }
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        assert_true(used[i]);
        int origin = body_torn_from(b, i, first_count);
        assert_true(origin < first_count);
        assert_memory_equal(&m->position[i], &m->position[origin], sizeof(vec3));
    }
    assert_int_equal(b->output_count, m->vertex_count);
    free(used);
}

// Rips a sheet that is thrown against a bar, on one and on three threads.
#define THROWN                                                                                                         \
    "{\"time_step\": 0.005, \"method\": \"%s\", \"model\": \"hooke\", \"gravity\": [0, 0, 0],"                         \
    " \"cloth\": [{\"name\": \"sheet\", \"tear\": 30, \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 16, "              \
    "\"tessellation\": \"irregular\"}}, \"pins\": [{\"where\": {\"edge\": \"all\"}}]}],"                               \
    " \"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, -0.2, 0], \"radius\": 0.15}}, "    \
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.3, \"offset\": [0, 0.7, 0]}]}}]}"

static void check_thrown(const char* method)
{
    char text[1500];
    snprintf(text, sizeof(text), THROWN, method);
    weft_sim* sims[2] = {scene_sim_text(text, 1), scene_sim_text(text, 3)};
    int before = weft_sim_vertex_count(sims[0], 0);
    double mass = 0.0;
    for (int k = 0; k < 50; k++)
    {
        step(sims[0]);
        step(sims[1]);
        mass = k == 0 ? mass_of(sims[0]) : mass;
    }
    int after = weft_sim_vertex_count(sims[0], 0);
    printf("%s: %d vertices were torn off, topology %d\n", method, after - before, sims[0]->bodies[0].topology);
    assert_true(after > before + 10);
    assert_true(fabs(mass_of(sims[0]) - mass) < 1e-12 * mass);
    check_body(&sims[0]->bodies[0], before);
    assert_int_equal(weft_sim_vertex_count(sims[1], 0), after);
    assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, (size_t)after * sizeof(vec3));
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

// The hierarchy of cloth that has torn a thousand times at random: every particle below its component's coarsest level
// has a parent in its own component, and no link joins what is cut.
static void check_links(const weft_sim* sim)
{
    graph g;
    hierarchy h;
    int *motions = calloc((size_t)sim->model.vertex_count, sizeof(int)), *groups;
    groups = calloc((size_t)sim->model.vertex_count, sizeof(int));
    graph_anchors(&sim->model, motions);
    assert_int_equal(graph_create(&g, &sim->model), WEFT_OK);
    assert_true(graph_groups(&g, motions, groups) >= 0);
    hierarchy_def def = {.levels = LEVELS_MAX, .grids = true, .anchors = groups};
    assert_int_equal(hierarchy_create(&h, &g, &def), WEFT_OK);
    printf("%d vertices in %d pieces, %d coarse levels\n", g.vertex_count, g.component_count, h.level_count);
    int finer = g.vertex_count;
    for (int k = 0; k < h.level_count; k++)
    {
        const level* l = &h.levels[k];
        assert_int_equal(l->vertex_count + l->child_count, finer);
        finer = l->vertex_count;
        for (int c = 0; c < l->child_count; c++)
        {
            assert_true(l->parent_start[c + 1] > l->parent_start[c]);
            for (int r = l->parent_start[c]; r < l->parent_start[c + 1]; r++)
            {
                assert_int_equal(g.component[l->parent[r]], g.component[l->child[c]]);
            }
        }
        for (int e = 0; e < l->limits.count; e++)
        {
            assert_int_equal(g.component[l->limits.a[e]], g.component[l->limits.b[e]]);
            double straight = v3_length(v3_sub(g.rest[l->limits.a[e]], g.rest[l->limits.b[e]]));
            assert_true(l->limits.length[e] > straight - 1e-9);
        }
    }
    hierarchy_finish(&h);
    graph_finish(&g);
    free(motions);
    free(groups);
}

static void test_thousand_random_tears(void** unused)
{
    (void)unused;
    const char text[] = "{\"time_step\": 0.01, \"method\": \"hpbd\", \"model\": \"hooke\", \"cloth\": [{\"mesh\": "
                        "{\"grid\": {\"cells\": 40, \"tessellation\": \"irregular\"}}}]}";
    weft_sim* sim = scene_sim_text(text, 1);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    double mass = mass_of(sim);
    body* b = &sim->bodies[0];
    int first = b->rest.vertex_count;
    for (int k = 0; k < 1000; k++)
    {
        // One face of a vertex that has another one goes its own way.
        int face = 0, vertex = 0, others = 0;
        for (uint64_t try = 0; others < 2; try++)
        {
            int corner = (int)(random_unit(7 + (uint64_t)k, try) * b->rest.face_start[b->rest.face_count]);
            vertex = b->rest.face_vertex[corner];
            others = 0;
            for (int f = 0; f < b->rest.face_count; f++)
            {
                for (int c = b->rest.face_start[f]; c < b->rest.face_start[f + 1]; c++)
                {
                    others += b->rest.face_vertex[c] == vertex;
                    face = c == corner ? f : face;
                }
            }
        }
        tear_list list = {0};
        body before;
        assert_int_equal(tears_add(&list, vertex), WEFT_OK);
        assert_int_equal(tears_take(&list, face), WEFT_OK);
        assert_int_equal(body_tear(b, &list, &before), WEFT_OK);
        body_tear_keep(b, &before);
        tears_finish(&list);
    }
    check_body(b, first);
    sim_unbuild(sim);
    assert_int_equal(sim_build(sim, NULL), WEFT_OK);
    assert_int_equal(sim->model.vertex_count, first + 1000);
    assert_true(fabs(mass_of(sim) - mass) < 1e-12 * mass);
    check_links(sim);
    weft_sim_destroy(sim);
}

static void test_rips_alike_on_threads(void** unused)
{
    (void)unused;
    check_thrown("implicit-euler");
    check_thrown("pbd");
    check_thrown("hpbd");
    check_thrown("local-global");
    check_thrown("newton");
    check_thrown("bdf2");
    check_thrown("aimex");
}

// A box of edges goes through a sheet at 4 m/s. A step of 1/30 s takes it 13 cm, two cells: a cut that went on by one
// vertex a step left cloth drawn out to 8 to 22 times its length, with 238 to 832 J.
#define PUNCHED                                                                                                        \
    "{\"time_step\": 0.033333333333333333, \"method\": \"%s\", \"model\": \"hooke\", \"gravity\": [0, 0, 0],"          \
    " \"cloth\": [{\"name\": \"sheet\", \"tear\": 60, \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 16, "              \
    "\"tessellation\": \"irregular\"}}, \"material\": {\"base\": \"cotton\", \"stretch_warp\": 500, "                  \
    "\"stretch_weft\": 500, \"shear\": 50}, \"pins\": [{\"where\": {\"edge\": \"all\"}}]}],"                           \
    " \"obstacles\": [{\"name\": \"box\", \"shape\": {\"box\": {\"center\": [0, -0.35, 0], \"size\": [0.25, 0.18, "    \
    "0.3], \"rotate\": [30, 20, 45]}}, \"motion\": {\"path\": [{\"time\": 0}, {\"time\": 0.4, \"offset\": [0, 1.6, "   \
    "0]}]}}]}"

static void check_keeps_up(const char* method)
{
    char text[1500];
    snprintf(text, sizeof(text), PUNCHED, method);
    weft_sim* sims[2] = {scene_sim_text(text, 1), scene_sim_text(text, 3)};
    int before = weft_sim_vertex_count(sims[0], 0), substeps = 0;
    double stretch = 0.0, energy = 0.0;
    for (int k = 0; k < 12; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(sims[0], &stats, NULL), WEFT_OK);
        step(sims[1]);
        assert_true(stats.step == k + 1 && fabs(stats.time - (k + 1) / 30.0) < 1e-12);
        stretch = fmax(stretch, stats.max_stretch);
        energy = fmax(energy, stats.energy.total);
        substeps += stats.substeps;
    }
    int after = weft_sim_vertex_count(sims[0], 0);
    printf("%s: %d torn off, stretched to %.2f with %.2f J at most, %d substeps\n", method, after - before, stretch,
           energy, substeps);
    assert_true(after > before + 10 && stretch < 3.0 && energy < 12.0);
    assert_int_equal(weft_sim_vertex_count(sims[1], 0), after);
    assert_memory_equal(sims[0]->world.state.x, sims[1]->world.state.x, (size_t)after * sizeof(vec3));
    weft_sim_destroy(sims[0]);
    weft_sim_destroy(sims[1]);
}

static void test_cuts_keep_up(void** unused)
{
    (void)unused;
    check_keeps_up("pbd");
    check_keeps_up("hpbd");
    check_keeps_up("implicit-euler");
    check_keeps_up("local-global");
}

// A run that ends in the middle of a tear and one that goes on there: the same bits as one that never ended.
static void run_part(const char* text, weft_cache_mode mode, int frames, weft_sim** out)
{
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", scene_path("torn"));
    weft_scene* scene = scene_load_text(text, NULL, 0);
    weft_cache_writer* writer = NULL;
    weft_error error = {0};
    assert_int_equal(weft_scene_build_sim(scene, 1, out, NULL), WEFT_OK);
    if (weft_cache_writer_create(dir, mode, weft_scene_json(scene), 1, *out, &writer, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    for (int k = 0; k < frames; k++)
    {
        weft_step_stats stats;
        assert_int_equal(weft_sim_step(*out, &stats, NULL), WEFT_OK);
        assert_int_equal(weft_cache_writer_step(writer, *out, &stats, NULL), WEFT_OK);
    }
    weft_cache_writer_destroy(writer, NULL);
    weft_scene_destroy(scene);
}

static void check_goes_on(const char* method, const char* scene, int frames, int there)
{
    char text[1500];
    snprintf(text, sizeof(text), scene, method);
    weft_sim *whole, *first, *second;
    run_part(text, WEFT_CACHE_FORCE, frames, &whole);
    run_part(text, WEFT_CACHE_FORCE, there, &first);
    int before = 289, middle = weft_sim_vertex_count(first, 0), after = weft_sim_vertex_count(whole, 0);
    printf("%s: %d vertices, %d in the middle after %d mends, %d at the end\n", method, before, middle,
           first->mends.count, after);
    assert_true(middle > before && after > middle && first->mends.count > 0);
    run_part(text, WEFT_CACHE_RESUME, frames - there, &second);
    assert_int_equal(weft_sim_vertex_count(second, 0), after);
    assert_int_equal(second->bodies[0].topology, whole->bodies[0].topology);
    assert_int_equal(second->mends.count, whole->mends.count);
    assert_memory_equal(whole->world.state.x, second->world.state.x, (size_t)after * sizeof(vec3));
    weft_sim_destroy(whole);
    weft_sim_destroy(first);
    weft_sim_destroy(second);
}

static void test_goes_on_in_the_middle(void** unused)
{
    (void)unused;
    check_goes_on("pbd", THROWN, 50, 25);
    check_goes_on("hpbd", THROWN, 50, 25);
    check_goes_on("implicit-euler", THROWN, 50, 25);
    check_goes_on("local-global", THROWN, 50, 15);
    check_goes_on("bdf2", THROWN, 50, 25);
    check_goes_on("hpbd", PUNCHED, 8, 3);
    check_goes_on("local-global", PUNCHED, 8, 3);
}

// A cut across flat cloth opens; not where something lies within its gap.
static void test_room(void** unused)
{
    (void)unused;
    weft_sim* sim = banner("implicit-euler", "baraff-witkin", 20, 1, "regular", 1);
    step(sim);
    const body* b = &sim->bodies[0];
    const mesh* m = &b->rest;
    vec3* x = sim->world.state.x;
    int vertex = m->vertex_count / 2 + 4, *side = calloc((size_t)m->face_count, sizeof(int)), far = -1;
    vec3 at = x[b->scene_vertex[vertex]];
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        vec3 middle = v3(0, 0, 0);
        for (int k = 0; k < 3; k++)
        {
            middle = v3_madd(middle, 1.0 / 3.0, x[b->scene_vertex[v[k]]]);
        }
        side[m->triangle_face[t]] = middle.y > at.y;
        far = fabs(middle.y - at.y) > 0.3 && fabs(middle.x - at.x) < 0.1 ? t : far;
    }
    assert_true(far >= 0);
    assert_true(tear_has_room(sim, b, vertex, side, 2, 1e-5));
    // Another triangle lies across the way of the upper side, half of the gap away.
    const vec3 across[3] = {{-1e-3, 5e-6, -1e-3}, {1e-3, 5e-6, -1e-3}, {0.0, 5e-6, 1e-3}};
    for (int k = 0; k < 3; k++)
    {
        x[b->scene_vertex[m->triangle[3 * far + k]]] = v3_add(at, across[k]);
    }
    assert_false(tear_has_room(sim, b, vertex, side, 2, 1e-5));
    free(side);
    weft_sim_destroy(sim);
}

// A patch lies before a sheet, nowhere nearer than 9e-9 m and tilted by a hair: rounded to float, as files have them, a
// vertex of the sheet is on its other side.
static void test_room_in_files(void** unused)
{
    (void)unused;
    weft_sim* sim =
        scene_sim_text("{\"gravity\": [0, 0, 0], \"contact\": {\"enabled\": false}, \"cloth\": [{\"tear\": 1, "
                       "\"mesh\": {\"grid\": {\"cells\": 4, \"plane\": \"xy\"}}}, {\"mesh\": {\"grid\": "
                       "{\"size\": 0.4, \"cells\": 1, \"plane\": \"xy\"}}}]}",
                       1);
    step(sim);
    const body *sheet = &sim->bodies[0], *patch = &sim->bodies[1];
    const mesh* m = &sheet->rest;
    vec3* x = sim->world.state.x;
    int vertex = 12, *side = calloc((size_t)m->face_count, sizeof(int)); // the middle
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        side[m->triangle_face[t]] = m->position[v[0]].y + m->position[v[1]].y + m->position[v[2]].y > 0.0;
    }
    for (int i = 0; i < m->vertex_count; i++)
    {
        x[sheet->scene_vertex[i]].z = 1.0 + 5e-8;
    }
    vec3* near = &x[sheet->scene_vertex[vertex + 1]];
    for (int i = 0; i < 4; i++)
    {
        vec3* p = &x[patch->scene_vertex[i]];
        *p = v3(near->x + p->x, near->y + p->y, 1.0 + (p->y < 0.0 ? 5.9e-8 : 1.7e-7));
    }
    assert_true(tear_has_room(sim, sheet, vertex, side, 2, 1e-5));
    near->z = 1.0 + 6.1e-8;
    assert_false(tear_has_room(sim, sheet, vertex, side, 2, 1e-5));
    free(side);
    weft_sim_destroy(sim);
}

// A cut in cloth at rest, its sides 10 um apart where cloth keeps 1 mm: contact leaves them alone, so that nothing
// moves, whatever a run remembers (nothing of cuts is in a checkpoint but the mesh). Without it the sides would fly
// apart.
static void check_fresh_cut(const char* method)
{
    char text[1000];
    snprintf(text, sizeof(text),
             "{\"time_step\": 0.005, \"method\": \"%s\", \"model\": \"hooke\", \"gravity\": [0, 0, 0], \"cloth\": "
             "[{\"tear\": 1e6, \"mesh\": {\"grid\": {\"size\": 1, \"cells\": 16, \"tessellation\": \"irregular\"}}}]}",
             method);
    weft_sim* sim = scene_sim_text(text, 1);
    step(sim);
    body* b = &sim->bodies[0];
    tear_list list = {0};
    const mesh* m = &b->rest;
    int vertex = 8 * 17 + 8, before = m->vertex_count;
    assert_int_equal(tears_add(&list, vertex), WEFT_OK);
    for (int t = 0; t < m->triangle_count; t++)
    {
        const int* v = m->triangle + 3 * t;
        bool around = v[0] == vertex || v[1] == vertex || v[2] == vertex;
        double x = (m->position[v[0]].x + m->position[v[1]].x + m->position[v[2]].x) / 3.0;
        around&& x > m->position[vertex].x ? assert_int_equal(tears_take(&list, m->triangle_face[t]), WEFT_OK)
                                           : (void)0;
    }
    bool done;
    assert_int_equal(sim_mend(sim, b, &list, &done, NULL), WEFT_OK);
    assert_true(done && b->rest.vertex_count == before + 1);
    tear_open(sim, b, vertex);
    tear_open(sim, b, before);
    double energy = 0.0, farthest = 0.0;
    for (int k = 0; k < 20; k++)
    {
        step(sim);
        energy = fmax(energy, weft_sim_energy(sim).kinetic);
    }
    for (int i = 0; i < b->rest.vertex_count; i++)
    {
        vec3 x = sim->world.state.x[b->scene_vertex[i]];
        farthest = fmax(farthest, v3_length(v3_sub(x, b->rest.position[i])));
    }
    printf("%s: a fresh cut has at most %.2g J, and moves by %.2g m\n", method, energy, farthest);
    // The gap alone stretches edges of 6 cm by 10 um: 2e-5 J in all, of which most never moves. Kept 1 mm apart, the
    // sides would have a thousand times that, and be a hundred times as far away.
    assert_true(energy < 1e-6 && farthest < 3e-5);
    tears_finish(&list);
    weft_sim_destroy(sim);
}

static void test_fresh_cut_is_left_alone(void** unused)
{
    (void)unused;
    check_fresh_cut("implicit-euler");
    check_fresh_cut("local-global");
    check_fresh_cut("pbd");
    check_fresh_cut("hpbd");
}

static void test_refused(void** unused)
{
    (void)unused;
    scene_refused("{\"strands\": [{\"mesh\": {\"brush\": {\"length\": 0.1}}, \"tear\": 1}]}", "sheets");
    scene_refused("{" CLOTH ", \"tear\": -1}]}", "tear");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tears_at_its_strength),
        cmocka_unit_test(test_never_below_it),
        cmocka_unit_test(test_thousand_random_tears),
        cmocka_unit_test(test_rips_alike_on_threads),
        cmocka_unit_test(test_cuts_keep_up),
        cmocka_unit_test(test_goes_on_in_the_middle),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_room_in_files),
        cmocka_unit_test(test_fresh_cut_is_left_alone),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
