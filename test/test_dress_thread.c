// Limbs that leave their garment through a wall are led through the sleeve while the body is thin: the tree of a body
// has its limbs as lines that meet, its core crosses no cloth then, and a run that settles, or `weft dress`, ends with
// arms in sleeves.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common_garments.h"
#include "common_scene.h"
#include "start/dress_walls.h"
#include "weft/inspect.h"

enum
{
    ARMS = 40 // degrees, by which arms hang; sleeves are level
};

static int shell(const char* line)
{
    return test_shell(scene_folder, line);
}

// ---- the tree of a body

// Trunk and arms are pieces that cross each other, and yet one tree: from any node to any other, along the axes.
static void limbs_are_lines_that_meet(void** state)
{
    (void)state;
    maker* m = maker_create();
    maker_tube(m, v3(0, -0.3, 0), v3(0, 0.3, 0), 0.1, 24, 30, true);
    maker_tube(m, v3(0.05, 0.2, 0), v3(0.6, 0.2, 0), 0.03, 12, 40, true);
    body_tree tree;
    assert_int_equal(body_tree_create(&tree, m->triangle, m->triangle_count, m->x, m->vertex_count), WEFT_OK);
    assert_true(tree.node_count > 20 && tree.node_count < 400);
    double arm = 0.0, low = 0.0;
    for (int n = 0; n < tree.node_count; n++)
    {
        vec3 p = tree.place[n];
        bool on_trunk = hypot(p.x, p.z) < 0.08,
             on_arm = hypot(p.y - 0.2, p.z) < 0.03; // at its ends it is a ring's side
        assert_true(on_trunk || on_arm);
        arm = fmax(arm, p.x);
        low = fmin(low, p.y);
    }
    assert_true(arm > 0.57 && low < -0.27);
    // All of it hangs together.
    int* part = calloc((size_t)tree.node_count, sizeof(int));
    for (int round = 0, changed = 1; changed; round++)
    {
        changed = round == 0;
        part[0] = 1;
        for (int k = 0; k < tree.link_count; k++)
        {
            int *a = &part[tree.link[2 * k]], *b = &part[tree.link[2 * k + 1]];
            changed = changed || *a != *b;
            *a = *b = *a || *b;
        }
    }
    for (int n = 0; n < tree.node_count; n++)
    {
        assert_int_equal(part[n], 1);
    }
    free(part);
    body_tree_finish(&tree);
    free(m);
}

// ---- walls

// A tube open at both ends holds what is in it, up to the lids, lets a thin limb through them and no thick one; turned
// inside out it is the same.
static void tube_has_two_openings(void** state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++)
    {
        maker* m = maker_create();
        maker_tube(m, v3(0, 0, 0), v3(0.4, 0, 0), 0.05, 24, 20, false);
        for (int t = 0; t < m->triangle_count && turned; t++)
        {
            int swap = m->triangle[3 * t];
            m->triangle[3 * t] = m->triangle[3 * t + 1];
            m->triangle[3 * t + 1] = swap;
        }
        mesh tube = {.vertex_count = m->vertex_count, .triangle_count = m->triangle_count, .triangle = m->triangle};
        dress_cloth cloth = {&tube, m->x};
        walls w;
        assert_int_equal(walls_create(&w, &cloth, 1), WEFT_OK);
        assert_int_equal(w.opening_count, 2);
        for (int k = 0; k < 2; k++)
        {
            const opening* o = &w.openings[k];
            double side = o->middle.x > 0.2 ? 1.0 : -1.0;
            assert_true(fabs(o->length - 2.0 * PI * 0.05) < 0.01 && o->out.x * side > 0.99);
        }
        assert_true(walls_hold(&w, 0, v3(0.01, 0.02, 0)) && walls_hold(&w, 0, v3(0.39, 0, 0.02)));
        assert_true(!walls_hold(&w, 0, v3(-0.01, 0, 0)) && !walls_hold(&w, 0, v3(0.2, 0.06, 0)));
        assert_true(walls_hit(&w, v3(0.2, 0, 0), v3(0.2, 0.1, 0)) && !walls_hit(&w, v3(0.2, 0, 0), v3(0.6, 0, 0)));
        assert_true(walls_bar(&w, v3(0.2, 0, 0), v3(0.6, 0, 0), 0.1) &&
                    !walls_bar(&w, v3(0.2, 0, 0), v3(0.6, 0, 0), 0.04));
        walls_finish(&w);
        free(m);
    }
}

// In a tube with a bend the way keeps to the middle.
static void way_keeps_to_the_middle(void** state)
{
    (void)state;
    maker* m = maker_create();
    for (int k = 0; k <= 40; k++)
    {
        double a = 0.5 * PI * k / 40;
        vec3 middle = v3(0.3 * sin(a), 0.3 - 0.3 * cos(a), 0), out = v3(sin(a), -cos(a), 0);
        for (int j = 0; j < 16; j++)
        {
            double b = 2.0 * PI * j / 16;
            maker_vertex(m, v3_madd(v3_madd(middle, 0.05 * cos(b), out), 0.05 * sin(b), v3(0, 0, 1)));
            int one = 16 * k + j, next = 16 * k + (j + 1) % 16;
            k > 0 ? (maker_triangle(m, one - 16, next - 16, one), maker_triangle(m, next - 16, next, one)) : (void)0;
        }
    }
    mesh tube = {.vertex_count = m->vertex_count, .triangle_count = m->triangle_count, .triangle = m->triangle};
    dress_cloth cloth = {&tube, m->x};
    walls w;
    assert_int_equal(walls_create(&w, &cloth, 1), WEFT_OK);
    const opening* to = &w.openings[w.openings[0].middle.x > w.openings[1].middle.x ? 0 : 1];
    thread_way way = {0};
    const unsigned char inside = 1;
    bool found = false;
    assert_int_equal(thread_add(&way, v3(0.02, 0.01, 0)), WEFT_OK);
    assert_int_equal(walls_find_way(&w, to, &inside, &way, &found), WEFT_OK);
    assert_true(found && way.count > 5);
    for (int k = 0; k < way.count; k++)
    {
        vec3 p = way.point[k];
        double off = hypot(hypot(p.x, p.y - 0.3) - 0.3, p.z);
        assert_true(off < 0.03); // of 0.05
        assert_true(k == 0 || !walls_hit(&w, way.point[k - 1], way.point[k]));
    }
    assert_true(v3_length(v3_sub(way.point[way.count - 1], to->middle)) < 1e-9);
    mem_free(way.point);
    walls_finish(&w);
    free(m);
}

// ---- arms and sleeves

// Pairs of a shirt and a body that is so thin.
static int count_pairs(const maker* shirt, const maker* body, const vec3* core, double thin)
{
    vec3 *a = calloc((size_t)shirt->vertex_count, sizeof(vec3)), *b = calloc((size_t)body->vertex_count, sizeof(vec3));
    for (int i = 0; i < shirt->vertex_count; i++)
    {
        a[i] = v3_round(shirt->x[i]);
    }
    for (int i = 0; i < body->vertex_count; i++)
    {
        b[i] = v3_round(v3_madd(body->x[i], thin, v3_sub(core[i], body->x[i])));
    }
    weft_inspect_body bodies[2] = {
        {.vertex_count = shirt->vertex_count, .triangle_count = shirt->triangle_count, .triangles = shirt->triangle},
        {.obstacle = 1,
         .vertex_count = body->vertex_count,
         .triangle_count = body->triangle_count,
         .triangles = body->triangle}};
    weft_inspect_def def = weft_inspect_def_default();
    def.worker_count = 1;
    def.crossings_only = 1;
    def.pair_limit = 100000;
    weft_inspector* inspector;
    weft_inspection found;
    assert_int_equal(weft_inspector_create(&def, bodies, 2, &inspector, NULL), WEFT_OK);
    const vec3* x[2] = {a, b};
    assert_int_equal(weft_inspector_frame(inspector, x, &found, NULL), WEFT_OK);
    int count = 0;
    for (int k = 0; k < found.pair_count; k++)
    {
        count += found.pairs[k].body[1] == 1;
    }
    weft_inspector_destroy(inspector);
    free(a);
    free(b);
    return count;
}

// A thin trunk that goes up through the neck, and arms that hang by so many degrees.
static maker* make_body(double degrees)
{
    maker* m = maker_create();
    double c = cos(degrees * PI / 180.0), s = sin(degrees * PI / 180.0);
    maker_tube(m, v3(0, -0.2, 0), v3(0, 0.6, 0), 0.06, 24, 60, true);
    maker_tube(m, v3(0.03, 0.35, 0), v3(0.03 + 0.5 * c, 0.35 - 0.5 * s, 0), 0.03, 12, 60, true);
    maker_tube(m, v3(-0.03, 0.35, 0), v3(-0.03 - 0.5 * c, 0.35 - 0.5 * s, 0), 0.03, 12, 60, true);
    return m;
}

static void arms_are_led_through_sleeves(void** state)
{
    (void)state;
    maker *body = make_body(ARMS), *shirt = maker_create();
    maker_shirt(shirt, v3(0.01, 0.03, 0), 1.0, 0.06);
    vec3* core = calloc((size_t)body->vertex_count, sizeof(vec3));
    assert_int_equal(core_find(body->triangle, body->triangle_count, body->x, body->vertex_count, core), WEFT_OK);
    assert_true(count_pairs(shirt, body, core, 0.97) > 0);
    mesh cloth_mesh = {
        .vertex_count = shirt->vertex_count, .triangle_count = shirt->triangle_count, .triangle = shirt->triangle};
    dress_cloth cloth = {&cloth_mesh, shirt->x};
    thread_case all = {body->triangle, body->triangle_count, body->vertex_count, body->x, &cloth, 1};
    bool threaded = false;
    assert_int_equal(core_thread(&all, core, &threaded), WEFT_OK);
    assert_true(threaded);
    assert_int_equal(count_pairs(shirt, body, core, 0.97), 0);
    // Hands are beyond the cuffs, at x of 0.3 and more.
    double left = 0.0, right = 0.0;
    for (int i = 0; i < body->vertex_count; i++)
    {
        left = fmin(left, core[i].x);
        right = fmax(right, core[i].x);
    }
    assert_true(left < -0.3 && right > 0.32);
    free(core);
    free(body);
    free(shirt);
}

// In a run that settles: apart within half a second, and the axis of each arm goes through its cuff, which is 14 cm
// wide.
static void arms_end_in_sleeves(void** state)
{
    (void)state;
    maker_write(make_body(ARMS), "body.obj");
    write_shirt("shirt.obj", v3(0.01, 0.03, 0), 1.0, 0.06);
    static const char scene[] =
        "{\"time_step\": 0.005, \"steps_per_frame\": 10, \"frames\": 12, \"initial_contact\": \"settle\", "
        "\"cloth\": [{\"name\": \"shirt\", \"mesh\": {\"obj\": \"shirt.obj\"}}], "
        "\"obstacles\": [{\"name\": \"body\", \"mesh\": {\"obj\": \"body.obj\"}}]}";
    scene_write_bytes(scene_path("arms.json"), scene, strlen(scene));
    assert_int_equal(shell("\"$WEFT\" run arms.json -o arms --force --threads 2 > out 2> err"), 0);
    assert_int_equal(shell("\"$WEFT\" inspect arms > table"), 0);
    assert_int_equal(shell("test $(sed -n 's/.*is apart since step \\([0-9]*\\).*/\\1/p' err) -le 100"), 0);
    assert_int_equal(shell("\"$WEFT\" export arms --to obj -o objs --force > out 2> err"), 0);
    static const char axis[] =
        "ls objs/shirt.*.obj | tail -1 | xargs cat | grep '^v ' > now; grep '^v ' shirt.obj > was; "
        "paste -d ' ' was now | awk '{s = $2 > 0 ? 1 : -1; if (s * $2 - s * 0.01 > 0.29) {k = s > 0; x[k] += s * $6; "
        "y[k] += $7; z[k] += $8; n[k]++}} END {bad = 0; for (k = 0; k < 2; k++) {X = x[k] / n[k] - 0.03; Y = y[k] / "
        "n[k] - 0.35; Z = z[k] / n[k]; c = cos(40 * 3.14159265 / 180); t = sin(40 * 3.14159265 / 180); off = X * t + "
        "Y * c; if (off * off + Z * Z > 0.0025) bad++} exit bad > 0}'";
    assert_int_equal(shell(axis), 0);
    assert_int_equal(shell("\"$WEFT\" dress shirt.obj --body body.obj -o worn --force > out 2> err"), 0);
    assert_int_equal(shell("\"$WEFT\" inspect worn > table"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limbs_are_lines_that_meet), cmocka_unit_test(tube_has_two_openings),
        cmocka_unit_test(way_keeps_to_the_middle),   cmocka_unit_test(arms_are_led_through_sleeves),
        cmocka_unit_test(arms_end_in_sleeves),
    };
    return cmocka_run_group_tests(tests, scene_folder_make, scene_folder_remove);
}
