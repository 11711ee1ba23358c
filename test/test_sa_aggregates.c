// Strength of connection against eigenvalues in long double, and aggregates: disjoint, connected, whole balls, and in
// parallel the same as one after the other.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sa.h"

// ---- strength

typedef long double matrix3[9];

static void multiply3(const matrix3 a, const matrix3 b, matrix3 out)
{
    for (int k = 0; k < 9; k++)
    {
        out[k] = a[k / 3 * 3] * b[k % 3] + a[k / 3 * 3 + 1] * b[3 + k % 3] + a[k / 3 * 3 + 2] * b[6 + k % 3];
    }
}

static long double determinant3(const matrix3 a)
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static void invert3(const matrix3 a, matrix3 out)
{
    long double d = determinant3(a);
    for (int k = 0; k < 9; k++)
    {
        int r = k % 3, c = k / 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        out[k] = (a[3 * r1 + c1] * a[3 * r2 + c2] - a[3 * r1 + c2] * a[3 * r2 + c1]) / d;
    }
}

// a^-1/2 by the iteration of Denman and Beavers.
static void inverse_root3(const matrix3 a, matrix3 out)
{
    matrix3 y, z = {1, 0, 0, 0, 1, 0, 0, 0, 1}, inverse_y, inverse_z;
    memcpy(y, a, sizeof(y));
    for (int round = 0; round < 60; round++)
    {
        invert3(y, inverse_y);
        invert3(z, inverse_z);
        for (int k = 0; k < 9; k++)
        {
            y[k] = 0.5L * (y[k] + inverse_z[k]);
            z[k] = 0.5L * (z[k] + inverse_y[k]);
        }
    }
    memcpy(out, z, sizeof(z));
}

// Largest |lambda| of lambda^3 - t lambda^2 + c lambda - d: a real root by bisection, then those of the rest.
static double radius3(const matrix3 m)
{
    long double t = m[0] + m[4] + m[8], d = determinant3(m);
    long double c = m[0] * m[4] - m[1] * m[3] + m[0] * m[8] - m[2] * m[6] + m[4] * m[8] - m[5] * m[7];
    long double high = 1.0L + fabsl(t) + fabsl(c) + fabsl(d), low = -high;
    for (int round = 0; round < 200; round++)
    {
        long double x = 0.5L * (low + high);
        *(((x - t) * x + c) * x - d > 0.0L ? &high : &low) = x;
    }
    long double p = t - low, q = c - low * p; // lambda^2 - p lambda + q
    long double square = 0.25L * p * p - q;
    long double other = square < 0.0L ? sqrtl(fmaxl(q, 0.0L)) : 0.5L * fabsl(p) + sqrtl(square);
    return (double)fmaxl(fabsl(low), other);
}

static double exact_strength(const sa_hierarchy* h, int i, int slot)
{
    const sa_level* l = &h->levels[0];
    int diagonal[2] = {l->pattern.diagonal[i], l->pattern.diagonal[l->pattern.column[slot]]};
    matrix3 block, a, root[2], t, m;
    for (int k = 0; k < 9; k++)
    {
        block[k] = test_sa_real(h, l->A, 9 * (size_t)slot + (size_t)k);
    }
    for (int side = 0; side < 2; side++)
    {
        for (int k = 0; k < 9; k++)
        {
            a[k] = test_sa_real(h, l->A, 9 * (size_t)diagonal[side] + (size_t)k);
        }
        inverse_root3(a, root[side]);
    }
    multiply3(root[0], block, t);
    multiply3(t, root[1], m);
    return radius3(m);
}

static void test_strength(void** unused)
{
    (void)unused;
    uint64_t random = 0;
    double low = 1.0, high = 1.0;
    for (int turn = 0; turn < 24; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        const sa_level* l = &h.levels[0];
        float* rho = calloc((size_t)l->pattern.block_count, sizeof(float));
        assert_int_equal(sa_strength(&h, l, rho), WEFT_OK);
        for (int i = 0; i < l->rows; i++)
        {
            for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
            {
                int j = l->pattern.column[slot];
                assert_true(rho[slot] == rho[bsr_pattern_find(&l->pattern, j, i)]);
                if (j == i)
                {
                    assert_true(rho[slot] == 0.0f);
                    continue;
                }
                // What is far below the strongest may vanish: it is never strong.
                double exact = exact_strength(&h, i, slot), found = (double)rho[slot];
                assert_true(found <= 1.1 * exact + 0.005 && found >= (1.0 - 1e-6) * exact - 0.005);
                if (exact > 0.05)
                {
                    low = fmin(low, found / exact);
                    high = fmax(high, found / exact);
                }
            }
        }
        free(rho);
        sa_finish(&h);
        weft_system_destroy(system);
    }
    print_message("          radius over exact: %.7f to %.3f\n", low, high);
    assert_true(low > 1.0 - 1e-6 && high < 1.1);
}

// ---- aggregates

// Distances from a node, at most `most`; -1: farther.
static void distances_from(const sa_graph* g, int rows, int from, int most, int* distance)
{
    for (int i = 0; i < rows; i++)
    {
        distance[i] = i == from ? 0 : -1;
    }
    for (int d = 0; d < most; d++)
    {
        for (int i = 0; i < rows; i++)
        {
            for (int k = g->row_start[i]; k < g->row_start[i + 1] && distance[i] == d; k++)
            {
                distance[g->column[k]] = distance[g->column[k]] < 0 ? d + 1 : distance[g->column[k]];
            }
        }
    }
}

static bool ball_is_inside(const sa_graph* g, int rows, int root, int distance, const int* aggregate, int* scratch)
{
    distances_from(g, rows, root, distance, scratch);
    for (int i = 0; i < rows; i++)
    {
        if (scratch[i] >= 0 && aggregate[i] != aggregate[root])
        {
            return false;
        }
    }
    return true;
}

// Number of nodes of root's aggregate that paths within it reach.
static int reached_inside(const sa_graph* g, int rows, int root, const int* aggregate, int* seen)
{
    int count = 1;
    memset(seen, 0, (size_t)rows * sizeof(int));
    seen[root] = 1;
    for (bool moved = true; moved;)
    {
        moved = false;
        for (int i = 0; i < rows; i++)
        {
            for (int k = g->row_start[i]; k < g->row_start[i + 1] && seen[i]; k++)
            {
                int j = g->column[k];
                if (!seen[j] && aggregate[j] == aggregate[root])
                {
                    seen[j] = 1;
                    count++;
                    moved = true;
                }
            }
        }
    }
    return count;
}

static void check_graph(const sa_graph* g, int rows, const unsigned char* special)
{
    for (int i = 0; i < rows; i++)
    {
        assert_true(special[i] == (g->row_start[i] == g->row_start[i + 1]));
        for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
        {
            int j = g->column[k], image = -1;
            for (int m = g->row_start[j]; m < g->row_start[j + 1]; m++)
            {
                image = g->column[m] == i ? m : image;
            }
            assert_true(j != i && image >= 0 && g->weight[image] == g->weight[k]);
        }
    }
}

// Algorithms 1 and 2, one node after the other in the order of the priorities.
static int reference_aggregates(const sa_graph* g, int rows, const unsigned char* special, int distance, int tile_rows,
                                int* aggregate)
{
    int count = (rows + tile_rows - 1) / tile_rows;
    int* tiles = calloc((size_t)count, sizeof(int));
    for (int k = 0; k < count; k++)
    {
        tiles[k] = k;
    }
    qsort(tiles, (size_t)count, sizeof(int), sa_tile_compare);
    int found = sa_aggregate_serially(g, rows, special, distance, tiles, tile_rows, aggregate);
    free(tiles);
    return found;
}

// Each node that is not special is in one aggregate; each aggregate is connected and holds the whole ball of a root.
static void check_aggregates(workers* pool, const sa_graph* g, int rows, const unsigned char* special, int distance,
                             int tile_rows)
{
    int *aggregate = calloc((size_t)rows, sizeof(int)), *scratch = calloc((size_t)rows, sizeof(int));
    int count = sa_aggregate(pool, g, rows, special, distance, tile_rows, aggregate);
    assert_int_equal(count, reference_aggregates(g, rows, special, distance, tile_rows, scratch));
    assert_memory_equal(aggregate, scratch, (size_t)rows * sizeof(int));
    for (int i = 0; i < rows; i++)
    {
        assert_true(special[i] ? aggregate[i] == -1 : aggregate[i] >= 0 && aggregate[i] < count);
    }
    for (int a = 0; a < count; a++)
    {
        int size = 0, member = -1;
        bool rooted = false;
        for (int i = 0; i < rows; i++)
        {
            if (aggregate[i] == a)
            {
                size++;
                member = i;
                rooted = rooted || ball_is_inside(g, rows, i, distance, aggregate, scratch);
            }
        }
        assert_true(size >= 2 && rooted);
        assert_int_equal(reached_inside(g, rows, member, aggregate, scratch), size);
    }
    free(aggregate);
    free(scratch);
}

static void test_aggregates(void** unused)
{
    (void)unused;
    uint64_t random = 100000;
    const double thetas[] = {0.0, 0.25, 0.48, 0.9};
    workers* pool = NULL;
    assert_int_equal(workers_create(3, NULL, &pool), WEFT_OK);
    for (int turn = 0; turn < 40; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        for (int k = 0; k < h.level_count; k++)
        {
            const sa_level* l = &h.levels[k];
            float* rho = calloc((size_t)l->pattern.block_count, sizeof(float));
            unsigned char* special = calloc((size_t)l->rows, 1);
            sa_graph g = {0};
            assert_int_equal(sa_strength(&h, l, rho), WEFT_OK);
            assert_int_equal(sa_strong_graph(&h, l, rho, thetas[turn % 4], &g, special), WEFT_OK);
            check_graph(&g, l->rows, special);
            static const int tiles[] = {1, 5, 17, SA_TILE};
            check_aggregates(pool, &g, l->rows, special, 1, tiles[turn % 4]);
            check_aggregates(pool, &g, l->rows, special, 2, tiles[turn / 4 % 4]);
            sa_graph_finish(&g);
            free(rho);
            free(special);
        }
        sa_finish(&h);
        weft_system_destroy(system);
    }
    workers_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strength),
        cmocka_unit_test(test_aggregates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
