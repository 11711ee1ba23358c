// Bodies inside others, as weft_inspector_frame finds them, against an oracle in GMP that floods pieces, checks every
// edge and counts along random rays: solids, hollow bodies, rooms, cloth in cloth, in any place, and rays through a
// lattice.
#include "common.h"

#ifndef WEFT_GMP

static void test_skipped(void** state)
{
    (void)state;
    print_message("GMP is not there: the exact oracle of inspections is skipped\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include "inspect_scene.h"

// ---- nested bodies

static void part_append(part* p, const vec3* x, int vertices, const int* triangles, int count, bool inward)
{
    for (int k = 0; k < 3 * count; k++)
    {
        int corner = inward ? k - k % 3 + 2 - k % 3 : k;
        p->triangle[3 * p->triangle_count + k] = p->vertex_count + triangles[corner];
    }
    memcpy(p->x + p->vertex_count, x, (size_t)vertices * sizeof(vec3));
    p->vertex_count += vertices;
    p->triangle_count += count;
}

// Corners of a box, a tetrahedron, an octahedron; a sheet of two triangles. Faces look outward.
static void part_append_shape(part* p, int shape, vec3 center, double size, bool inward)
{
    static const vec3 box[8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    static const int box_faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                      1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    static const vec3 tetrahedron[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const int tetrahedron_faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    static const vec3 octahedron[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    static const int octahedron_faces[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    static const vec3 sheet[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    static const int sheet_faces[6] = {0, 1, 2, 0, 2, 3};
    static const struct
    {
        const vec3* x;
        int vertices;
        const int* faces;
        int count;
    } shapes[4] = {{box, 8, box_faces, 12},
                   {tetrahedron, 4, tetrahedron_faces, 4},
                   {octahedron, 6, octahedron_faces, 8},
                   {sheet, 4, sheet_faces, 2}};
    vec3 x[8];
    for (int k = 0; k < shapes[shape].vertices; k++)
    {
        x[k] = v3_madd(center, size, shapes[shape].x[k]);
    }
    part_append(p, x, shapes[shape].vertices, shapes[shape].faces, shapes[shape].count, inward);
}

// Pieces of a part: number of each triangle, by flooding.
static int part_pieces(const part* p, int* piece)
{
    int count = 0;
    for (int t = 0; t < p->triangle_count; t++)
    {
        piece[t] = -1;
    }
    for (int t = 0; t < p->triangle_count; t++)
    {
        if (piece[t] >= 0)
        {
            continue;
        }
        piece[t] = count++;
        for (bool grown = true; grown;)
        {
            grown = false;
            for (int k = 0; k < 9 * p->triangle_count * p->triangle_count; k++)
            {
                int i = k / 9 / p->triangle_count, j = k / 9 % p->triangle_count;
                if (piece[i] == piece[t] && piece[j] < 0 &&
                    p->triangle[3 * i + k % 9 / 3] == p->triangle[3 * j + k % 3])
                {
                    piece[j] = piece[t];
                    grown = true;
                }
            }
        }
    }
    return count;
}

static bool piece_is_closed(const part* p, const int* piece, int number)
{
    for (int s = 0; s < 3 * p->triangle_count; s++)
    {
        const int* c = p->triangle + s - s % 3;
        int a = c[(s + 1) % 3], b = c[(s + 2) % 3], same = 0, opposite = 0;
        for (int r = 0; r < 3 * p->triangle_count && piece[s / 3] == number; r++)
        {
            const int* d = p->triangle + r - r % 3;
            same += d[(r + 1) % 3] == a && d[(r + 2) % 3] == b;
            opposite += d[(r + 1) % 3] == b && d[(r + 2) % 3] == a;
        }
        if (piece[s / 3] == number && (same != 1 || opposite != 1))
        {
            return false;
        }
    }
    return true;
}

// Volumes of these solids are far from zero, so that long doubles are enough for the oracle.
static bool piece_looks_outward(const part* p, const int* piece, int number)
{
    long double sum = 0.0L;
    vec3 o = p->x[0];
    for (int t = 0; t < p->triangle_count; t++)
    {
        vec3 x[3];
        part_corners(p, t, x);
        sum += piece[t] == number ? v3_dot(v3_sub(x[0], o), v3_cross(v3_sub(x[1], o), v3_sub(x[2], o))) : 0.0;
    }
    return sum > 0.0L;
}

// 1, 0, -1: how the ray from p towards q passes a triangle; 2: it meets an edge.
static int oracle_ray(vec3 p, vec3 q, const vec3* t)
{
    int s[3];
    for (int k = 0; k < 3; k++)
    {
        s[k] = oracle_volume(p, q, t[k], t[(k + 1) % 3]);
    }
    int end = oracle_volume(t[0], t[1], t[2], q), start = oracle_volume(t[0], t[1], t[2], p);
    if (start * end >= 0)
    {
        return start != 0 && end == 0 ? 2 : 0; // q is farther than anything, p on no triangle
    }
    if (s[0] == s[1] && s[1] == s[2] && s[0] != 0)
    {
        return end > 0 ? 1 : -1;
    }
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0) ? 2 : 0;
}

typedef struct solids
{
    int piece[TRIANGLES_MAX], count;
    bool closed[TRIANGLES_MAX], solid[TRIANGLES_MAX];
} solids;

static solids part_solids(const part* p)
{
    solids s;
    s.count = part_pieces(p, s.piece);
    for (int k = 0; k < s.count; k++)
    {
        s.closed[k] = piece_is_closed(p, s.piece, k);
        s.solid[k] = s.closed[k] && piece_looks_outward(p, s.piece, k);
    }
    return s;
}

// Winding numbers of a piece and of its whole body; false: the ray was no good.
static bool oracle_winding(const part* p, const solids* s, int number, int except, vec3 from, vec3 to, int* of_piece,
                           int* of_body)
{
    *of_piece = *of_body = 0;
    for (int t = 0; t < p->triangle_count; t++)
    {
        if (!s->closed[s->piece[t]] || s->piece[t] == except)
        {
            continue;
        }
        vec3 x[3];
        part_corners(p, t, x);
        int ray = oracle_ray(from, to, x);
        if (ray == 2)
        {
            return false;
        }
        *of_body += ray;
        *of_piece += s->piece[t] == number ? ray : 0;
    }
    return true;
}

static bool oracle_on_surface(const part* p, const solids* s, int except, vec3 v)
{
    for (int t = 0; t < p->triangle_count; t++)
    {
        vec3 x[3];
        bool touch = false;
        part_corners(p, t, x);
        if (s->closed[s->piece[t]] && s->piece[t] != except)
        {
            oracle_meet(&v, 1, x, 3, &touch);
        }
        if (touch)
        {
            return true;
        }
    }
    return false;
}

static bool oracle_inside(const part* p, const solids* s, int number, int except, vec3 v, uint64_t* n)
{
    if (oracle_on_surface(p, s, except, v))
    {
        return false;
    }
    double far = 0.0;
    for (int k = 0; k < p->vertex_count; k++)
    {
        far = fmax(far, v3_length(v3_sub(p->x[k], v)));
    }
    for (int tries = 0; tries < 1000; tries++)
    {
        vec3 d = v3_normalize(test_random_vec(n, 1.0));
        int of_piece, of_body;
        if (oracle_winding(p, s, number, except, v, v3_madd(v, 64.0 * far, d), &of_piece, &of_body))
        {
            return of_piece > 0 && of_body > 0;
        }
    }
    fail_msg("no ray is good");
    return false;
}

// Pieces of `inner` nested in pieces of `outer`, which may be the same part.
static int oracle_nested(const part* inner, const part* outer, uint64_t* n)
{
    solids in = part_solids(inner), out = part_solids(outer);
    int count = 0;
    for (int k = 0; k < in.count * out.count && !inner->obstacle; k++)
    {
        int i = k / out.count, j = k % out.count;
        bool may_be = out.solid[j] && (inner != outer || i != j) && (outer->obstacle || in.solid[i]);
        bool crosses = false, inside = false, touch = false;
        for (int s = 0; s < inner->triangle_count && may_be; s++)
        {
            for (int t = 0; t < outer->triangle_count && in.piece[s] == i; t++)
            {
                crosses |= out.piece[t] == j && oracle_crosses(inner, s, outer, t, &touch);
            }
        }
        for (int c = 0; c < 3 * inner->triangle_count && may_be && !crosses && !inside; c++)
        {
            inside |= in.piece[c / 3] == i &&
                      oracle_inside(outer, &out, j, inner == outer ? i : -1, inner->x[inner->triangle[c]], n);
        }
        count += inside;
    }
    return count;
}

static small_scene plant_nested(uint64_t* n)
{
    small_scene s = {.expected = -1};
    part *in = &s.body[0], *out = &s.body[1];
    int shape = (int)whole(n, 0, 3);
    bool inward = test_random(n, 0, 1) < 0.15;
    vec3 off = v3(whole(n, -12, 12), whole(n, -12, 12), whole(n, -12, 12));
    off = test_random(n, 0, 1) < 0.4 ? v3_scale(0.25, off) : off;
    out->obstacle = test_random(n, 0, 1) < 0.6;
    part_append_shape(out, (int)whole(n, 0, 2), v3(0, 0, 0), 12.0, test_random(n, 0, 1) < 0.15);
    if (test_random(n, 0, 1) < 0.3) // a hollow body
    {
        part_append_shape(out, 0, v3(0, 0, 0), 3.0, true);
        shape = 1;
    }
    part_append_shape(in, shape, off, whole(n, 1, 3), inward);
    if (test_random(n, 0, 1) < 0.3) // a second piece of the same body
    {
        part_append_shape(in, 2, off, test_random(n, 0, 1) < 0.5 ? 8.0 : 0.25, false);
    }
    return s;
}

static void test_nested(void** state)
{
    (void)state;
    uint64_t n = 2000000;
    int nested = 0, clean = 0, same_body = 0;
    for (int k = 0; k < 1000; k++)
    {
        small_scene s = plant_nested(&n);
        place(&s, (placement)(k % PLACE_COUNT), &n);
        const part *in = &s.body[0], *out = &s.body[1];
        int own = oracle_nested(in, in, &n) + oracle_nested(out, out, &n);
        int expected = oracle_nested(in, out, &n) + oracle_nested(out, in, &n) + own;
        weft_inspection found;
        scene_inspect(&s, &found);
        if (found.nested != expected)
        {
            fail_msg("placement %d: %d nested, oracle %d", k, (int)found.nested, expected);
        }
        nested += expected > 0;
        clean += found.crossings == 0;
        same_body += own > 0;
    }
    assert_true(nested > 200 && clean > 200 && same_body > 20);
}

// Rays through corners, along edges and in faces of a lattice: a point is inside or not, whatever the ray meets.
static void test_nested_lattice(void** state)
{
    (void)state;
    uint64_t n = 3000000;
    int nested = 0;
    for (int k = 0; k < 1000; k++)
    {
        small_scene s = {.expected = -1};
        s.body[1].obstacle = 1;
        part_append_shape(&s.body[1], k % 3, v3(0, 0, 0), 2.0, false);
        vec3 p = v3(whole(&n, -3, 3), whole(&n, -3, 3), whole(&n, -3, 3));
        vec3 q = v3(whole(&n, -1, 1), whole(&n, -1, 1), whole(&n, -1, 1));
        vec3 r = v3(whole(&n, -1, 1), whole(&n, -1, 1), whole(&n, -1, 1));
        const vec3 x[3] = {p, v3_madd(p, 0.25, q), v3_madd(p, 0.25, r)}; // inside, outside, through, or touching
        s.body[0] = part_of_triangles(x, 1);
        weft_inspection found;
        scene_inspect(&s, &found);
        int expected = oracle_nested(&s.body[0], &s.body[1], &n);
        assert_int_equal(found.nested, expected);
        nested += expected;
    }
    assert_true(nested > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nested), cmocka_unit_test(test_nested_lattice)};
    return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}

#endif
