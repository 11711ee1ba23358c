#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_system.h"
#include "weft/scene.h"
#include "weft/weft.h"

// ---- where systems come from

static weft_system* sim_system(weft_sim* sim, int steps)
{
    weft_system* system = NULL;
    weft_error error = {0};
    for (int k = 0; k < steps; k++)
    {
        assert_int_equal(weft_sim_step(sim, NULL, &error), WEFT_OK);
    }
    assert_int_equal(weft_sim_system(sim, &system, &error), WEFT_OK);
    weft_sim_destroy(sim);
    return system;
}

weft_system* test_scene_system(const char* name, const char* const* overrides, int override_count, int steps)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    if (weft_scene_load(name, overrides, override_count, &scene, &error) != WEFT_OK ||
        weft_scene_create_sim(scene, 1, &sim, &error) != WEFT_OK)
    {
        fail_msg("%s", error.message);
    }
    weft_scene_destroy(scene);
    return sim_system(sim, steps);
}

weft_system* test_triangle_system(void)
{
    weft_sim_def def = weft_sim_def_default();
    weft_cloth_def cloth = weft_cloth_def_default();
    vec3 positions[3] = {{0, 0, 0}, {0.1, 0, 0.01}, {0.02, 0.08, 0}};
    int face[3] = {0, 1, 2};
    cloth.positions = positions;
    cloth.vertex_count = 3;
    cloth.face_vertices = face;
    cloth.face_count = 1;
    weft_sim* sim = NULL;
    assert_int_equal(weft_sim_create(&def, &sim, NULL), WEFT_OK);
    assert_int_equal(weft_sim_add_cloth(sim, &cloth, NULL, NULL), WEFT_OK);
    return sim_system(sim, 1);
}

static weft_system* empty_system(int n, int blocks)
{
    weft_system* s = MEM_NEW(1, weft_system);
    s->pattern = (bsr_pattern){n, blocks, MEM_NEW(n + 1, int), MEM_NEW(blocks, int), MEM_NEW(n, int)};
    s->values = MEM_NEW(9 * (size_t)blocks, double);
    s->b = MEM_NEW(n, vec3);
    s->z = MEM_NEW(n, vec3);
    s->positions = MEM_NEW(n, vec3);
    return s;
}

static void add_block(weft_system* s, int i, int j, double scale, const double* block)
{
    double* to = s->values + 9 * (size_t)bsr_pattern_find(&s->pattern, i, j);
    for (int k = 0; k < 9; k++)
    {
        to[k] += scale * block[k];
    }
}

int test_sheet_pairs(int side, int* pairs)
{
    static const int steps[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    int count = 0;
    for (int i = 0; i < side * side; i++)
    {
        for (int k = 0; k < 4; k++)
        {
            int column = i % side + steps[k][0], row = i / side + steps[k][1];
            if (column >= 0 && column < side && row < side)
            {
                pairs[2 * count] = i;
                pairs[2 * count++ + 1] = row * side + column;
            }
        }
    }
    return count;
}

weft_system* test_sheet_system(int side, double stretch)
{
    const double mass = 0.1, bed = 1.0;
    vec3 u = v3_normalize(v3(2, 1, -1)), v = v3_normalize(v3_cross(u, v3(0.3, 1, 0.7)));
    int n = side * side, *pairs = calloc(8 * (size_t)n, sizeof(int));
    element_list list = {test_sheet_pairs(side, pairs), 2, pairs};
    bsr_pattern pattern;
    assert_int_equal(bsr_pattern_create(n, &list, 1, &pattern), WEFT_OK);
    weft_system* s = empty_system(n, pattern.block_count);
    bsr_pattern_finish(&s->pattern);
    s->pattern = pattern;
    for (int i = 0; i < n; i++)
    {
        s->positions[i] = v3_add(v3_scale(i % side, u), v3_scale((double)(i / side), v));
        s->b[i] = v3(1, 1, 1);
        add_block(s, i, i, mass, m3_diagonal(1.0).m);
    }
    for (int k = 0; k < list.count; k++)
    {
        int i = pairs[2 * k], j = pairs[2 * k + 1];
        vec3 d = v3_normalize(v3_sub(s->positions[j], s->positions[i]));
        mat3 block = m3_outer(d, d);
        for (int e = 0; e < 9; e++)
        {
            block.m[e] = stretch * block.m[e] + (e % 4 == 0 ? bed : 0.0);
        }
        add_block(s, i, i, 1.0, block.m);
        add_block(s, j, j, 1.0, block.m);
        add_block(s, i, j, -1.0, block.m);
        add_block(s, j, i, -1.0, block.m);
    }
    free(pairs);
    return s;
}

weft_system* test_lonely_system(int count, uint64_t* random)
{
    weft_system* s = empty_system(count, count);
    for (int i = 0; i < count; i++)
    {
        s->pattern.row_start[i + 1] = i + 1;
        s->pattern.column[i] = s->pattern.diagonal[i] = i;
        s->positions[i] = test_random_vec(random, 1.0);
        s->b[i] = test_random_vec(random, 1.0);
        vec3 d = test_random_vec(random, 1.0);
        add_block(s, i, i, 1.0, m3_outer(d, d).m);
        add_block(s, i, i, 0.1, m3_diagonal(1.0).m);
    }
    return s;
}

// Copies part `p` into s from row `row` and slot `slot` on.
static void join_part(weft_system* s, const weft_system* p, int row, int slot)
{
    const bsr_pattern* from = &p->pattern;
    for (int i = 0; i < from->row_count; i++)
    {
        s->pattern.row_start[row + i + 1] = slot + from->row_start[i + 1];
        s->pattern.diagonal[row + i] = slot + from->diagonal[i];
        s->b[row + i] = p->b[i];
        s->z[row + i] = p->z ? p->z[i] : v3(0, 0, 0);
        s->positions[row + i] = p->positions[i];
    }
    for (int k = 0; k < from->block_count; k++)
    {
        s->pattern.column[slot + k] = row + from->column[k];
    }
    memcpy(s->values + 9 * (size_t)slot, p->values, 9 * (size_t)from->block_count * sizeof(double));
    for (int k = 0; k < p->filter_count && s->filter; k++)
    {
        s->filter[s->filter_count] = p->filter[k];
        s->filter[s->filter_count++].vertex += row;
    }
}

weft_system* test_join_systems(weft_system** parts, int count)
{
    int rows = 0, slots = 0, filters = 0;
    for (int k = 0; k < count; k++)
    {
        rows += parts[k]->pattern.row_count;
        slots += parts[k]->pattern.block_count;
        filters += parts[k]->filter_count;
    }
    weft_system* s = empty_system(rows, slots);
    s->filter = MEM_NEW(filters, filter_record);
    rows = slots = 0;
    for (int k = 0; k < count; k++)
    {
        join_part(s, parts[k], rows, slots);
        rows += parts[k]->pattern.row_count;
        slots += parts[k]->pattern.block_count;
        weft_system_destroy(parts[k]);
    }
    return s;
}

void test_constrain(weft_system* s, double share, int directions, uint64_t* random)
{
    int n = s->pattern.row_count;
    mem_free(s->filter);
    s->filter = MEM_NEW(n, filter_record);
    s->filter_count = 0;
    s->z = s->z ? s->z : MEM_NEW(n, vec3);
    for (int i = 0; i < n; i++)
    {
        s->b[i] = test_random_vec(random, s->values[9 * (size_t)s->pattern.diagonal[i]]);
        s->z[i] = test_random_vec(random, 1.0);
        vec3 d[3];
        do
        {
            for (int k = 0; k < 3; k++)
            {
                d[k] = v3_normalize(test_random_vec(random, 1.0));
            }
        } while (fabs(v3_dot(d[0], v3_cross(d[1], d[2]))) < 0.1);
        int count = directions ? directions : 1 + (int)test_random(random, 0, 3);
        if (test_random(random, 0, 1) < share)
        {
            s->filter[s->filter_count++] = filter_record_make(i, d, count);
        }
    }
}

// ---- what an iterate is worth

void test_multiply(const weft_system* s, const vec3* x, vec3* y)
{
    for (int i = 0; i < s->pattern.row_count; i++)
    {
        y[i] = v3(0, 0, 0);
        for (int slot = s->pattern.row_start[i]; slot < s->pattern.row_start[i + 1]; slot++)
        {
            y[i] = v3_add(y[i], m3_mul_v(s->values + 9 * (size_t)slot, x[s->pattern.column[slot]]));
        }
    }
}

double test_energy_distance(const weft_system* s, const vec3* x, const vec3* y)
{
    int n = s->pattern.row_count;
    vec3* e = calloc((size_t)n, sizeof(vec3));
    vec3* Ae = malloc((size_t)n * sizeof(vec3));
    double sum = 0.0;
    for (int i = 0; i < n; i++)
    {
        e[i] = v3_sub(x[i], y[i]);
    }
    test_multiply(s, e, Ae);
    for (int i = 0; i < n; i++)
    {
        sum += v3_dot(e[i], Ae[i]);
    }
    free(e);
    free(Ae);
    return sqrt(fmax(sum, 0.0));
}

// S of each vertex as a dense matrix of blocks [9 * n].
static double* projections(const weft_system* s)
{
    int n = s->pattern.row_count;
    double* S = calloc(9 * (size_t)n, sizeof(double));
    for (int i = 0; i < n; i++)
    {
        S[9 * i] = S[9 * i + 4] = S[9 * i + 8] = 1.0;
    }
    for (int k = 0; k < s->filter_count; k++)
    {
        const filter_record* r = &s->filter[k];
        for (int d = 0; d < r->direction_count; d++)
        {
            mat3 outer = m3_outer(r->direction[d], r->direction[d]);
            for (int e = 0; e < 9; e++)
            {
                S[9 * r->vertex + e] -= outer.m[e];
            }
        }
    }
    return S;
}

// Block `slot`, in row i, of S A S + trace(A_ii) / 3 (I - S).
static void prefilter_block_of(const weft_system* s, const double* S, int i, int slot, double* out)
{
    int j = s->pattern.column[slot];
    const double* a = s->values + 9 * (size_t)slot;
    double sigma = i == j ? (a[0] + a[4] + a[8]) / 3.0 : 0.0;
    mat3 m = m3_mul(m3_mul(S + 9 * i, a).m, S + 9 * j);
    for (int e = 0; e < 9; e++)
    {
        out[e] = m.m[e] + sigma * ((e % 4 == 0 ? 1.0 : 0.0) - S[9 * i + e]);
    }
}

void test_dense_matrix(const weft_system* s, bool prefiltered, double* a)
{
    int n = s->pattern.row_count, size = 3 * n;
    double* S = projections(s);
    memset(a, 0, (size_t)size * (size_t)size * sizeof(double));
    for (int i = 0; i < n; i++)
    {
        for (int slot = s->pattern.row_start[i]; slot < s->pattern.row_start[i + 1]; slot++)
        {
            int j = s->pattern.column[slot];
            double m[9];
            memcpy(m, s->values + 9 * (size_t)slot, sizeof(m));
            if (prefiltered)
            {
                prefilter_block_of(s, S, i, slot, m);
            }
            for (int e = 0; e < 9; e++)
            {
                a[(3 * i + e / 3) * size + 3 * j + e % 3] = m[e];
            }
        }
    }
    free(S);
}

weft_system* test_prefiltered_system(const weft_system* s)
{
    int n = s->pattern.row_count;
    weft_system* out = empty_system(n, s->pattern.block_count);
    linear_system view = system_view(s, 0);
    double* S = projections(s);
    vec3* x = calloc((size_t)n, sizeof(vec3));
    join_part(out, s, 0, 0);
    filter_prescribed(&view, x);
    test_multiply(s, x, out->b);
    for (int i = 0; i < n; i++)
    {
        out->b[i] = m3_mul_v(S + 9 * i, v3_sub(s->b[i], out->b[i]));
        for (int slot = s->pattern.row_start[i]; slot < s->pattern.row_start[i + 1]; slot++)
        {
            prefilter_block_of(s, S, i, slot, out->values + 9 * (size_t)slot);
        }
    }
    free(S);
    free(x);
    return out;
}

// y <- L^-T L^-1 y, a = L L^T is overwritten by L.
static void dense_cholesky(long double* a, long double* y, int size)
{
    for (int j = 0; j < size; j++)
    {
        for (int i = j; i < size; i++)
        {
            long double sum = a[i * size + j];
            for (int k = 0; k < j; k++)
            {
                sum -= a[i * size + k] * a[j * size + k];
            }
            a[i * size + j] = i == j ? sqrtl(sum) : sum / a[j * size + j];
        }
    }
    for (int i = 0; i < size; i++)
    {
        for (int k = 0; k < i; k++)
        {
            y[i] -= a[i * size + k] * y[k];
        }
        y[i] /= a[i * size + i];
    }
    for (int i = size - 1; i >= 0; i--)
    {
        for (int k = i + 1; k < size; k++)
        {
            y[i] -= a[k * size + i] * y[k];
        }
        y[i] /= a[i * size + i];
    }
}

// M y = S (b - A (I - S) z), x = (I - S) z + S y.
void test_dense_solution(const weft_system* s, vec3* x)
{
    int n = s->pattern.row_count, size = 3 * n;
    double* m = malloc((size_t)size * (size_t)size * sizeof(double));
    long double* a = malloc((size_t)size * (size_t)size * sizeof(long double));
    long double* y = malloc((size_t)size * sizeof(long double));
    double* S = projections(s);
    vec3* Ax = malloc((size_t)n * sizeof(vec3));
    test_dense_matrix(s, true, m);
    for (int k = 0; k < size * size; k++)
    {
        a[k] = m[k];
    }
    for (int i = 0; i < n; i++)
    {
        vec3 z = s->z ? s->z[i] : v3(0, 0, 0);
        x[i] = v3_sub(z, m3_mul_v(S + 9 * i, z));
    }
    test_multiply(s, x, Ax);
    for (int i = 0; i < n; i++)
    {
        vec3 r = m3_mul_v(S + 9 * i, v3_sub(s->b[i], Ax[i]));
        y[3 * i] = r.x;
        y[3 * i + 1] = r.y;
        y[3 * i + 2] = r.z;
    }
    dense_cholesky(a, y, size);
    for (int i = 0; i < n; i++)
    {
        vec3 yi = v3((double)y[3 * i], (double)y[3 * i + 1], (double)y[3 * i + 2]);
        x[i] = v3_add(x[i], m3_mul_v(S + 9 * i, yi));
    }
    free(m);
    free(a);
    free(y);
    free(S);
    free(Ax);
}
