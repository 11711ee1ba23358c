// The parts of the multigrid, on many small systems of every kind: tentative and smoothed interpolation, coarse
// matrices, spectral radii, the symmetry of the cycle, the prefiltered matrix. Aggregates have their own file.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_sa.h"
#include "solve/prefilter.h"

// What rounding may do, relative.
static double slack(const sa_hierarchy* h)
{
    return h->precision == 32 ? 1e-5 : 1e-12;
}

// The largest of each precision, to be told.
typedef struct largest
{
    double value[2];
} largest;

static void check_small(largest* w, const sa_hierarchy* h, double value)
{
    assert_true(value <= slack(h));
    double* place = &w->value[h->precision == 64];
    *place = fmax(*place, value);
}

static void report(const char* what, const largest* w)
{
    print_message("          %s: %.2g in float, %.2g in double\n", what, w->value[0], w->value[1]);
}

// ---- interpolation

// Columns of Q within one aggregate are orthonormal, but for dropped ones, which are zero.
static void check_orthonormal(const sa_hierarchy* h, int k, largest* w)
{
    const sa_level *l = &h->levels[k], *coarse = l + 1;
    int B = l->block, K = l->coarse_block;
    double* gram = calloc((size_t)(coarse->rows * K * K), sizeof(double));
    for (int i = 0; i < l->rows; i++)
    {
        for (int r = 0; r < B; r++)
        {
            for (int e = 0; e < K * K; e++)
            {
                size_t row = (size_t)(K * (B * i + r));
                double p = test_sa_real(h, l->Q, row + (size_t)(e / K)),
                       q = test_sa_real(h, l->Q, row + (size_t)(e % K));
                assert_true(l->aggregate[i] >= 0 || (p == 0.0 && q == 0.0));
                if (l->aggregate[i] >= 0)
                {
                    gram[l->aggregate[i] * K * K + e] += p * q;
                }
            }
        }
    }
    for (int e = 0; e < coarse->rows * K * K; e++)
    {
        int column = e / (K * K) * K + e / K % K;
        bool dropped = coarse->dropped[column] || coarse->dropped[e / (K * K) * K + e % K];
        bool one = e / K % K == e % K && !dropped;
        assert_true(!dropped || gram[e] == 0.0);
        check_small(w, h, fabs(gram[e] - (one ? 1.0 : 0.0)));
    }
    free(gram);
}

// Row r of node i of the near kernel, zero on special nodes, which have no part below.
static double kernel_at(const sa_level* l, int i, int r, int c)
{
    return l->aggregate[i] < 0 ? 0.0 : l->kernel[l->coarse_block * (l->block * i + r) + c];
}

static double kernel_size(const sa_level* l)
{
    double most = 0.0;
    for (int k = 0; k < l->rows * l->block * l->coarse_block; k++)
    {
        most = fmax(most, fabs(l->kernel[k]));
    }
    return most;
}

// K = Q R, row by row; R is the near kernel of the next level.
static void check_factors(const sa_hierarchy* h, int k, largest* w)
{
    const sa_level* l = &h->levels[k];
    int B = l->block, K = l->coarse_block;
    double size = kernel_size(l);
    for (int e = 0; e < l->rows * B * K; e++)
    {
        int i = e / (B * K), r = e / K % B, c = e % K;
        double sum = 0.0;
        for (int m = 0; m < K && l->aggregate[i] >= 0; m++)
        {
            sum +=
                test_sa_real(h, l->Q, (size_t)(K * (B * i + r) + m)) * l[1].kernel[K * (K * l->aggregate[i] + m) + c];
        }
        check_small(w, h, fabs(sum - kernel_at(l, i, r, c)) / size);
    }
}

// Which slots smooth the interpolation: all, or on the finest level those above the filter and the diagonal.
static unsigned char* smoothing_slots(const sa_hierarchy* h, const sa_level* l)
{
    unsigned char* takes = calloc((size_t)l->pattern.block_count, 1);
    float* rho = calloc((size_t)l->pattern.block_count, sizeof(float));
    unsigned char* special = calloc((size_t)l->rows, 1);
    sa_graph graph = {0};
    assert_int_equal(sa_strength(h, l, rho), WEFT_OK);
    assert_int_equal(sa_strong_graph(h, l, rho, h->settings.filter, &graph, special), WEFT_OK);
    for (int i = 0; i < l->rows; i++)
    {
        for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
        {
            takes[slot] = h->settings.filter == 0.0 || l != h->levels || l->pattern.column[slot] == i;
            for (int k = graph.row_start[i]; k < graph.row_start[i + 1]; k++)
            {
                takes[slot] = takes[slot] || graph.column[k] == l->pattern.column[slot];
            }
        }
    }
    sa_graph_finish(&graph);
    free(rho);
    free(special);
    return takes;
}

// (D^-1 A K)(i, r, c); what the filter drops acts on the node's own kernel.
static double smoothed_at(const sa_hierarchy* h, const sa_level* l, const unsigned char* takes, int i, int r, int c)
{
    int B = l->block;
    double sum = 0.0;
    for (int slot = l->pattern.row_start[i]; slot < l->pattern.row_start[i + 1]; slot++)
    {
        for (int e = 0; e < B * B; e++)
        {
            sum += test_sa_real(h, l->inverse, (size_t)(B * (B * i + r) + e / B)) *
                   test_sa_real(h, l->A, (size_t)(B * B) * (size_t)slot + (size_t)e) *
                   kernel_at(l, takes[slot] ? l->pattern.column[slot] : i, e % B, c);
        }
    }
    return sum;
}

// P K_c = (I - omega D^-1 A) K on all rows that are not special; those have no block at all.
static void check_smoothed(const sa_hierarchy* h, int k, largest* w)
{
    const sa_level* l = &h->levels[k];
    int B = l->block, K = l->coarse_block;
    double size = kernel_size(l), omega = 4.0 / 3.0 / l->radius;
    unsigned char* takes = smoothing_slots(h, l);
    for (int i = 0; i < l->rows; i++)
    {
        assert_true(l->aggregate[i] >= 0 || l->P_start[i] == l->P_start[i + 1]);
        for (int e = 0; e < B * K && l->aggregate[i] >= 0; e++)
        {
            int r = e / K, c = e % K;
            double sum = 0.0;
            for (int s = l->P_start[i]; s < l->P_start[i + 1]; s++)
            {
                for (int m = 0; m < K; m++)
                {
                    sum += test_sa_real(h, l->P, (size_t)(B * K * s + K * r + m)) *
                           l[1].kernel[K * (K * l->P_column[s] + m) + c];
                }
            }
            double expected = kernel_at(l, i, r, c) - omega * smoothed_at(h, l, takes, i, r, c);
            check_small(w, h, fabs(sum - expected) / size);
        }
    }
    free(takes);
}

// A_c = P^T A P by dense loops, and symmetric to the bit. Dropped unknowns have a diagonal of their own.
static void check_coarse(const sa_hierarchy* h, int k, largest* w)
{
    const sa_level *l = &h->levels[k], *coarse = l + 1;
    int B = l->block, K = l->coarse_block, fine = l->rows * B, size = coarse->rows * K;
    long double* P = calloc((size_t)fine * (size_t)size, sizeof(long double));
    long double* AP = calloc((size_t)fine * (size_t)size, sizeof(long double));
    long double* C = calloc((size_t)size * (size_t)size, sizeof(long double));
    double most = 0.0; // of A: what is left after cancellation has its rounding
    for (int i = 0; i < l->rows; i++)
    {
        for (int e = l->P_start[i] * B * K; e < l->P_start[i + 1] * B * K; e++)
        {
            P[(i * B + e / K % B) * size + l->P_column[e / (B * K)] * K + e % K] = test_sa_real(h, l->P, (size_t)e);
        }
    }
    for (int i = 0; i < l->rows; i++)
    {
        for (int e = l->pattern.row_start[i] * B * B; e < l->pattern.row_start[i + 1] * B * B; e++)
        {
            int row = i * B + e / B % B, column = l->pattern.column[e / (B * B)] * B + e % B;
            most = fmax(most, fabs(test_sa_real(h, l->A, (size_t)e)));
            for (int c = 0; c < size; c++)
            {
                AP[row * size + c] += test_sa_real(h, l->A, (size_t)e) * P[column * size + c];
            }
        }
    }
    for (int row = 0; row < fine; row++)
    {
        for (int r = 0; r < size; r++)
        {
            for (int c = 0; c < size && P[row * size + r] != 0.0L; c++)
            {
                C[r * size + c] += P[row * size + r] * AP[row * size + c];
            }
        }
    }
    for (int I = 0; I < coarse->rows; I++)
    {
        for (int e = coarse->pattern.row_start[I] * K * K; e < coarse->pattern.row_start[I + 1] * K * K; e++)
        {
            int J = coarse->pattern.column[e / (K * K)], r = e / K % K, c = e % K;
            double value = test_sa_real(h, coarse->A, (size_t)e);
            size_t image = (size_t)(bsr_pattern_find(&coarse->pattern, J, I) * K * K + c * K + r);
            assert_true(value == test_sa_real(h, coarse->A, image));
            if (coarse->dropped[I * K + r] && I == J && r == c)
            {
                assert_true(value > 0.0 && C[(I * K + r) * size + J * K + c] == 0.0L);
            }
            else
            {
                check_small(w, h, (double)fabsl(value - C[(I * K + r) * size + J * K + c]) / most);
            }
            C[(I * K + r) * size + J * K + c] = 0.0L;
        }
    }
    // Nothing is left where the pattern has no block.
    for (int e = 0; e < size * size; e++)
    {
        assert_true(C[e] == 0.0L);
    }
    free(P);
    free(AP);
    free(C);
}

static void test_interpolation(void** unused)
{
    (void)unused;
    uint64_t random = 200000;
    largest orthonormal = {0}, factors = {0}, smoothed = {0}, coarse = {0};
    int levels = 0, dropped = 0, special = 0;
    for (int turn = 0; turn < SYSTEMS; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        for (int k = 0; k + 1 < h.level_count; k++, levels++)
        {
            check_orthonormal(&h, k, &orthonormal);
            check_coarse(&h, k, &coarse);
            // The near kernel of a level that is not the last has been relaxed since.
            if (settings.relax == 0 || k + 2 == h.level_count)
            {
                check_factors(&h, k, &factors);
                check_smoothed(&h, k, &smoothed);
            }
            for (int e = 0; e < h.levels[k + 1].rows * h.levels[k + 1].block; e++)
            {
                dropped += h.levels[k + 1].dropped[e];
            }
            for (int i = 0; i < h.levels[k].rows; i++)
            {
                special += h.levels[k].aggregate[i] < 0;
            }
        }
        sa_finish(&h);
        weft_system_destroy(system);
    }
    print_message("          %d levels, %d dropped columns, %d special nodes\n", levels, dropped, special);
    report("P_hat^T P_hat - I", &orthonormal);
    report("K - P_hat R", &factors);
    report("P K_c - (I - omega D^-1 A) K", &smoothed);
    report("A_c - P^T A P", &coarse);
    assert_true(levels > SYSTEMS && dropped > 0 && special > 0);
}

// Aggregates whose near kernel has less than full rank: pairs of vertices, lines, vertices that slide along lines.
static void test_rank_deficient(void** unused)
{
    (void)unused;
    uint64_t random = 300000;
    largest orthonormal = {0}, factors = {0};
    for (int turn = 0; turn < 12; turn++)
    {
        weft_system* parts[40];
        for (int k = 0; k < 40; k++)
        {
            parts[k] = turn % 3 == 2 ? test_sheet_system(3, STRETCH) : test_sheet_system(2, STRETCH);
        }
        weft_system* system = test_join_systems(parts, 40);
        // 0: all on one line, where no rotation about it moves anything; 1, 2: on lines along which alone they slide.
        for (int i = 0; i < system->pattern.row_count && turn % 3 == 0; i++)
        {
            system->positions[i] = v3(0.1 * i, 0.2 * i, -0.3 * i);
        }
        test_constrain(system, turn % 3 == 0 ? 0.0 : 1.0, 2, &random);
        weft_sa_def settings = test_sa_settings(turn);
        settings.relax = 0;
        settings.vectors = 6;
        settings.theta = 0.0;
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        assert_true(h.level_count > 1);
        check_orthonormal(&h, 0, &orthonormal);
        check_factors(&h, 0, &factors);
        int kept = 0;
        for (int e = 0; e < 6 * h.levels[1].rows; e++)
        {
            kept += !h.levels[1].dropped[e];
        }
        // A line has five motions, the points of a sheet of 3 x 3 on lines of their own no more than nine.
        assert_true(kept <= (turn % 3 == 0 ? 5 : turn % 3 == 1 ? 4 : 6) * h.levels[1].rows);
        sa_finish(&h);
        weft_system_destroy(system);
    }
    report("P_hat^T P_hat - I", &orthonormal);
    report("K - P_hat R", &factors);
}

// ---- the cycle

static double dot(const vec3* a, const vec3* b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(a[i], b[i]);
    }
    return sum;
}

// (V u, v) = (u, V v) and (V u, u) > 0 for the cycle that starts at this level, which has 3 x 3 blocks.
static void check_cycle_to(sa_hierarchy* h, int level, uint64_t* random, double limit, largest* w)
{
    sa_hierarchy tail = *h;
    tail.level_count -= level;
    memmove(tail.levels, tail.levels + level, (size_t)tail.level_count * sizeof(sa_level));
    int n = tail.levels[0].rows;
    vec3* v[4];
    for (int k = 0; k < 4; k++)
    {
        v[k] = MEM_NEW(n, vec3);
        for (int i = 0; i < n && k < 2; i++)
        {
            v[k][i] = test_random_vec(random, 1.0);
        }
    }
    sa_start(&tail, v[0]);
    sa_cycle(&tail, v[0], v[2]);
    sa_cycle(&tail, v[1], v[3]);
    double uu = dot(v[2], v[0], n), vv = dot(v[3], v[1], n);
    assert_true(uu > 0.0 && vv > 0.0);
    double asymmetry = fabs(dot(v[2], v[1], n) - dot(v[3], v[0], n)) / sqrt(uu * vv);
    limit > 0.0 ? assert_true(asymmetry < limit) : check_small(w, h, asymmetry);
    for (int k = 0; k < 4; k++)
    {
        mem_free(v[k]);
    }
}

static void check_cycle(sa_hierarchy* h, int level, uint64_t* random, largest* w)
{
    check_cycle_to(h, level, random, 0.0, w);
}

static void test_cycle(void** unused)
{
    (void)unused;
    uint64_t random = 400000;
    largest w = {0};
    int cycles = 0;
    for (int turn = 0; turn < SYSTEMS; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        settings.degree = 1 + turn % 4;
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        for (int k = 0; k < h.level_count && h.levels[k].block == 3; k++)
        {
            for (int repeat = 0; repeat < 3; repeat++, cycles++)
            {
                check_cycle(&h, k, &random, &w);
            }
        }
        sa_finish(&h);
        weft_system_destroy(system);
    }
    print_message("          %d pairs of cycles on %d systems\n", cycles, SYSTEMS);
    report("asymmetry", &w);
}

// ---- 16 bits

// The largest error of the packed matrix against R A R in double, of R D R against one, and of R^-1 R.
static void check_packed(const sa_hierarchy* h, const weft_system* system, double* entry, double* diagonal)
{
    const sa_level* l = &h->levels[0];
    weft_system* filtered = test_prefiltered_system(system);
    const bsr_pattern* p = &filtered->pattern;
    for (int i = 0; i < l->rows; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            int j = p->column[slot];
            for (int e = 0; e < 9; e++)
            {
                double sum = 0.0, one = 0.0;
                for (int k = 0; k < 9; k++)
                {
                    sum += (double)l->root[9 * i + e / 3 * 3 + k / 3] * h->matrix_scale *
                           filtered->values[9 * slot + k] * (double)l->root[9 * j + k % 3 * 3 + e % 3];
                }
                for (int k = 0; k < 3; k++)
                {
                    one += (double)l->root[9 * i + e / 3 * 3 + k] * (double)l->unroot[9 * i + 3 * k + e % 3];
                }
                double stored = l->packed[9 * bsr_pattern_find(&l->pattern, i, j) + e] / 16384.0;
                *entry = fmax(*entry, fabs(stored - sum));
                *diagonal = i == j ? fmax(*diagonal, fmax(fabs(stored - sum), fabs(one - (e % 4 == 0)))) : *diagonal;
            }
        }
    }
    weft_system_destroy(filtered);
}

// The matrix, and that the cycle stays symmetric and definite, as far as 16 bits go.
static void test_packed(void** unused)
{
    (void)unused;
    uint64_t random = 450000;
    double entry = 0.0, diagonal = 0.0;
    int packed = 0;
    for (int turn = 0; turn < SYSTEMS; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        settings.precision = 16;
        settings.degree = 1 + turn % 4;
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        if (h.packed)
        {
            packed++;
            check_packed(&h, system, &entry, &diagonal);
            largest w = {0};
            for (int repeat = 0; repeat < 3; repeat++)
            {
                check_cycle_to(&h, 0, &random, 1e-3, &w);
            }
        }
        sa_finish(&h);
        weft_system_destroy(system);
    }
    print_message("          %d packed, entries off by %.1e, diagonal and R^-1 R by %.1e\n", packed, entry, diagonal);
    assert_true(packed > SYSTEMS / 2 && entry < 3.2e-5 && diagonal < 3e-6);
}

// ---- spectral radii

// Whether a symmetric matrix is positive definite, by Cholesky; it is destroyed.
static bool is_definite(long double* a, int size)
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
            if (i == j && !(sum > 0.0L))
            {
                return false;
            }
            a[i * size + j] = i == j ? sqrtl(sum) : sum / a[j * size + j];
        }
    }
    return true;
}

// radius D - A is positive definite when the radius is above all eigenvalues of D^-1 A.
static bool radius_holds(const sa_hierarchy* h, const sa_level* l, double radius)
{
    int B = l->block, size = l->rows * B;
    long double* a = calloc((size_t)size * (size_t)size, sizeof(long double));
    for (int i = 0; i < l->rows; i++)
    {
        for (int e = l->pattern.row_start[i] * B * B; e < l->pattern.row_start[i + 1] * B * B; e++)
        {
            int j = l->pattern.column[e / (B * B)];
            a[(i * B + e / B % B) * size + j * B + e % B] =
                (i == j ? radius - 1.0 : -1.0) * test_sa_real(h, l->A, (size_t)e);
        }
    }
    bool holds = is_definite(a, size);
    free(a);
    return holds;
}

// The estimate with its margin, on all levels but the last, is above the truth and not far above.
static void test_radius(void** unused)
{
    (void)unused;
    uint64_t random = 500000;
    int levels = 0;
    double tightest = 0.0;
    for (int turn = 0; turn < SYSTEMS; turn++)
    {
        weft_system* system = test_sa_system(turn, &random);
        weft_sa_def settings = test_sa_settings(turn);
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        for (int k = 0; k + 1 < h.level_count; k++)
        {
            const sa_level* l = &h.levels[k];
            if (l->rows * l->block > 300)
            {
                continue;
            }
            assert_true(radius_holds(&h, l, l->radius));
            assert_false(radius_holds(&h, l, l->radius / 1.25));
            // By how much the estimate is above.
            double low = 0.8, high = 1.0;
            for (int round = 0; round < 6; round++)
            {
                double middle = 0.5 * (low + high);
                *(radius_holds(&h, l, middle * l->radius) ? &high : &low) = middle;
            }
            tightest = fmax(tightest, low);
            levels++;
        }
        sa_finish(&h);
        weft_system_destroy(system);
    }
    print_message("          %d levels; the truth is at most %.3f of the estimate with its margin\n", levels, tightest);
}

// ---- the prefiltered matrix

// Symmetric, positive definite, and its spectrum within that of A.
static void test_prefiltered_spectrum(void** unused)
{
    (void)unused;
    uint64_t random = 600000;
    for (int turn = 0; turn < 8; turn++)
    {
        weft_system* system = turn == 7 ? test_sheet_system(10, STRETCH) : test_sheet_system(4 + turn % 4, STRETCH);
        test_constrain(system, 0.1 * turn, turn % 4, &random);
        linear_system view = system_view(system, 1);
        int n = system->pattern.row_count, size = 3 * n;
        double* a = calloc((size_t)size * (size_t)size, sizeof(double));
        double* m = calloc((size_t)size * (size_t)size, sizeof(double));
        double* own = calloc((size_t)size * (size_t)size, sizeof(double));
        double *values = calloc((size_t)size, sizeof(double)), *filtered = calloc((size_t)size, sizeof(double));
        int* index = calloc((size_t)n, sizeof(int));
        prefilter_index(&view, index);
        for (int i = 0; i < n; i++)
        {
            for (int slot = system->pattern.row_start[i]; slot < system->pattern.row_start[i + 1]; slot++)
            {
                double buffer[9];
                const double* block = prefilter_block(&view, index, slot, i, buffer);
                for (int e = 0; e < 9; e++)
                {
                    m[(3 * i + e / 3) * size + 3 * system->pattern.column[slot] + e % 3] = block[e];
                }
            }
        }
        test_dense_matrix(system, false, a);
        test_dense_matrix(system, true, own);
        for (int e = 0; e < size * size; e++)
        {
            assert_true(fabs(m[e] - own[e]) <= 1e-11 * 1e3 &&
                        fabs(m[e] - m[e % size * size + e / size]) <= 1e-11 * 1e3);
        }
        test_eigenvalues(a, size, values);
        test_eigenvalues(m, size, filtered);
        double low = values[0], high = values[0];
        for (int e = 0; e < size; e++)
        {
            low = fmin(low, values[e]);
            high = fmax(high, values[e]);
        }
        for (int e = 0; e < size; e++)
        {
            assert_true(filtered[e] >= low * (1.0 - 1e-9) && filtered[e] <= high * (1.0 + 1e-9) && low > 0.0);
        }
        free(a);
        free(m);
        free(own);
        free(values);
        free(filtered);
        free(index);
        weft_system_destroy(system);
    }
}

// ---- size

// With the defaults the matrices of all levels together are at most 1.6 times the finest.
static void test_operator_complexity(void** unused)
{
    (void)unused;
    static const char* const scenes[] = {"pinned", "drooping", "re-entrant"};
    for (int k = 0; k < 6; k++)
    {
        const char* overrides[] = {"cells=100", k % 2 ? "tessellation=irregular" : "tessellation=regular"};
        weft_system* system = test_scene_system(scenes[k / 2], overrides, 2, 1);
        weft_sa_def settings = sa_default();
        weft_solve_stats stats = {0};
        sa_hierarchy h;
        test_sa_build(&h, system, &settings);
        sa_stats(&h, &stats);
        print_message("          %s, %s: %.3f on %d levels\n", scenes[k / 2], overrides[1] + 13,
                      stats.operator_complexity, stats.level_count);
        assert_true(stats.operator_complexity <= 1.6);
        sa_finish(&h);
        weft_system_destroy(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_rank_deficient),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_radius),
        cmocka_unit_test(test_prefiltered_spectrum),
        cmocka_unit_test(test_operator_complexity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
