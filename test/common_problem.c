// S A x = S b, (I - S) x = (I - S) z is solved on an orthonormal basis Q of the free directions,
// Q^T A Q y = Q^T (b - A (I - S) z), by Cholesky over the envelope in long double.
#include "common_problem.h"

#include "common.h"

#include <stdlib.h>
#include <string.h>

void problem_alloc(problem* p, int n, const int* pairs, int pair_count)
{
    *p = (problem){.n = n};
    element_list list = {pair_count, 2, pairs};
    assert_int_equal(bsr_pattern_create(n, &list, 1, &p->pattern), WEFT_OK);
    p->values = MEM_NEW(9 * (size_t)p->pattern.block_count, double);
    p->b = MEM_NEW(n, vec3);
    p->z = MEM_NEW(n, vec3);
    p->given = MEM_NEW(3 * (size_t)n, vec3);
    p->given_count = MEM_NEW(n, int);
    p->filter = MEM_NEW(n, filter_record);
    p->basis = MEM_NEW(3 * (size_t)n, vec3);
    p->basis_count = MEM_NEW(n, int);
    assert_true(p->values && p->b && p->z && p->given && p->given_count && p->filter && p->basis && p->basis_count);
}

void problem_finish(problem* p)
{
    bsr_pattern_finish(&p->pattern);
    void* arrays[] = {p->values, p->b, p->z, p->given, p->given_count, p->filter, p->basis, p->basis_count};
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++)
    {
        mem_free(arrays[k]);
    }
}

linear_system problem_system(const problem* p)
{
    return (linear_system){.A = {&p->pattern, p->values},
                           .b = p->b,
                           .z = p->z,
                           .filter = p->filter,
                           .filter_count = p->filter_count,
                           .pattern_version = 1};
}

// What is left of `a` beside `count` orthonormal vectors, twice over; its length before scaling to 1.
static double orthogonal_part(vec3* a, const vec3* q, int count)
{
    double length = 0.0;
    for (int pass = 0; pass < 2; pass++)
    {
        for (int k = 0; k < count; k++)
        {
            *a = v3_madd(*a, -v3_dot(*a, q[k]), q[k]);
        }
        length = pass == 0 ? v3_length(*a) : length;
        *a = v3_normalize(*a);
    }
    return length;
}

// The free directions of a vertex: an orthonormal basis of what is orthogonal to the given ones.
int problem_free_basis(const vec3* given, int given_count, vec3* basis)
{
    vec3 q[6];
    int count = 0;
    for (int k = 0; k < given_count; k++)
    {
        q[count] = v3_normalize(given[k]);
        orthogonal_part(&q[count], q, count);
        count++;
    }
    int fixed = count;
    while (count < 3)
    {
        // Of the three axes the one that is farthest from what is there.
        vec3 best = v3(0, 0, 0);
        double longest = -1.0;
        for (int axis = 0; axis < 3; axis++)
        {
            vec3 e = v3(axis == 0, axis == 1, axis == 2);
            double length = orthogonal_part(&e, q, count);
            best = length > longest ? e : best;
            longest = fmax(longest, length);
        }
        q[count++] = best;
    }
    memcpy(basis, q + fixed, (size_t)(3 - fixed) * sizeof(vec3));
    return 3 - fixed;
}

// Vertices constrained in 0, 1, 2 and 3 directions, which are neither orthogonal nor of length 1. Vertex 0 stays free.
static void problem_constrain(problem* p, uint64_t* random)
{
    p->filter_count = 0;
    for (int i = 0; i < p->n; i++)
    {
        int count = i == 0 ? 0 : i < 4 ? i : (int)test_random(random, 0, 4);
        vec3* d = p->given + 3 * i;
        do
        {
            for (int k = 0; k < count; k++)
            {
                d[k] = v3_scale(test_random(random, 0.1, 10.0), test_random_vec(random, 1.0));
            }
        } while (count == 3 &&
                 fabs(v3_dot(v3_normalize(d[0]), v3_cross(v3_normalize(d[1]), v3_normalize(d[2])))) < 0.1);
        p->given_count[i] = count;
        p->basis_count[i] = problem_free_basis(d, count, p->basis + 3 * i);
        if (count > 0)
        {
            p->filter[p->filter_count++] = filter_record_make(i, d, count);
        }
    }
}

static void problem_fill_vectors(problem* p, uint64_t* random)
{
    for (int i = 0; i < p->n; i++)
    {
        p->b[i] = test_random_vec(random, 1.0);
        p->z[i] = test_random_vec(random, 1.0);
    }
}

// A full matrix with eigenvalues from 1 down to 1 / condition in even ratios, turned by random reflections.
void problem_random(problem* p, int n, double condition, uint64_t* random)
{
    int pair_count = n * (n - 1) / 2, size = 3 * n, at = 0;
    int* pairs = calloc(2 * (size_t)pair_count, sizeof(int));
    for (int i = 0; i < n; i++)
    {
        for (int j = i + 1; j < n; j++)
        {
            pairs[at++] = i;
            pairs[at++] = j;
        }
    }
    problem_alloc(p, n, pairs, pair_count);
    free(pairs);
    double* A = calloc((size_t)size * (size_t)size, sizeof(double));
    double* u = malloc((size_t)size * sizeof(double));
    double* Au = malloc((size_t)size * sizeof(double));
    for (int i = 0; i < size; i++)
    {
        A[i * size + i] = pow(condition, -(double)i / (size - 1));
    }
    // A <- H A H with H = I - 2 u u^T / (u . u)
    for (int turn = 0; turn < 12; turn++)
    {
        double uu = 0.0, uAu = 0.0;
        for (int i = 0; i < size; i++)
        {
            u[i] = test_random(random, -1, 1);
            uu += u[i] * u[i];
        }
        for (int i = 0; i < size; i++)
        {
            Au[i] = 0.0;
            for (int j = 0; j < size; j++)
            {
                Au[i] += A[i * size + j] * u[j];
            }
            uAu += u[i] * Au[i];
        }
        for (int i = 0; i < size; i++)
        {
            for (int j = 0; j < size; j++)
            {
                A[i * size + j] += -2.0 * (u[i] * Au[j] + Au[i] * u[j]) / uu + 4.0 * uAu * u[i] * u[j] / (uu * uu);
            }
        }
    }
    for (int i = 0; i < size; i++)
    {
        for (int j = 0; j < size; j++)
        {
            double value = 0.5 * (A[i * size + j] + A[j * size + i]);
            int slot = bsr_pattern_find(&p->pattern, i / 3, j / 3);
            p->values[9 * slot + 3 * (i % 3) + j % 3] = value;
        }
    }
    free(A);
    free(u);
    free(Au);
    problem_constrain(p, random);
    problem_fill_vectors(p, random);
}

// A chain in which each vertex is tied to the next two by random semidefinite blocks, and to its place by `hold`. The
// eigenvalues lie between hold and hold + 8.
void problem_chain(problem* p, int n, double hold, uint64_t* random)
{
    int* pairs = calloc(4 * (size_t)n, sizeof(int));
    int pair_count = 0;
    for (int i = 0; i < n; i++)
    {
        for (int j = i + 1; j < n && j <= i + 2; j++)
        {
            pairs[2 * pair_count] = i;
            pairs[2 * pair_count++ + 1] = j;
        }
    }
    problem_alloc(p, n, pairs, pair_count);
    for (int i = 0; i < n; i++)
    {
        for (int k = 0; k < 3; k++)
        {
            p->values[9 * p->pattern.diagonal[i] + 4 * k] = hold;
        }
    }
    for (int pair = 0; pair < pair_count; pair++)
    {
        int i = pairs[2 * pair], j = pairs[2 * pair + 1];
        vec3 d = v3_normalize(test_random_vec(random, 1.0));
        mat3 outer = m3_outer(d, d);
        for (int k = 0; k < 9; k++)
        {
            double value = 0.5 * outer.m[k] + (k % 4 == 0 ? 0.5 : 0.0);
            p->values[9 * p->pattern.diagonal[i] + k] += value;
            p->values[9 * p->pattern.diagonal[j] + k] += value;
            p->values[9 * bsr_pattern_find(&p->pattern, i, j) + k] -= value;
            p->values[9 * bsr_pattern_find(&p->pattern, j, i) + k] -= value;
        }
    }
    free(pairs);
    problem_constrain(p, random);
    problem_fill_vectors(p, random);
}

// ---- the direct solve

// (I - S) z of a vertex: z less its part in the free directions.
vec3 problem_prescribed(const problem* p, int i)
{
    vec3 held = p->z[i];
    for (int k = 0; k < p->basis_count[i]; k++)
    {
        held = v3_madd(held, -v3_dot(p->basis[3 * i + k], p->z[i]), p->basis[3 * i + k]);
    }
    return p->basis_count[i] == 3 ? v3(0, 0, 0) : held;
}

void problem_multiply(const problem* p, const vec3* x, vec3* y)
{
    for (int i = 0; i < p->n; i++)
    {
        long double sum[3] = {0};
        for (int s = p->pattern.row_start[i]; s < p->pattern.row_start[i + 1]; s++)
        {
            const double* a = p->values + 9 * (size_t)s;
            vec3 v = x[p->pattern.column[s]];
            for (int r = 0; r < 3; r++)
            {
                sum[r] +=
                    (long double)a[3 * r] * v.x + (long double)a[3 * r + 1] * v.y + (long double)a[3 * r + 2] * v.z;
            }
        }
        y[i] = v3((double)sum[0], (double)sum[1], (double)sum[2]);
    }
}

// Lower triangle by rows, each from its first entry that is not zero; Cholesky keeps that envelope.
typedef struct envelope
{
    int size;
    int* first;    // [size] column
    size_t* start; // [size] of the row in a
    long double* a;
    int* unknown; // [n + 1] first unknown of a vertex
} envelope;

static void envelope_init(envelope* e, const problem* p)
{
    e->unknown = malloc(((size_t)p->n + 1) * sizeof(int));
    e->unknown[0] = 0;
    for (int i = 0; i < p->n; i++)
    {
        e->unknown[i + 1] = e->unknown[i] + p->basis_count[i];
    }
    e->size = e->unknown[p->n];
    e->first = malloc(((size_t)e->size + 1) * sizeof(int));
    e->start = malloc(((size_t)e->size + 1) * sizeof(size_t));
    size_t total = 0;
    for (int i = 0; i < p->n; i++)
    {
        for (int u = e->unknown[i]; u < e->unknown[i + 1]; u++)
        {
            e->first[u] = e->unknown[p->pattern.column[p->pattern.row_start[i]]];
            e->start[u] = total;
            total += (size_t)(u - e->first[u] + 1);
        }
    }
    e->a = calloc(total + 1, sizeof(long double));
    assert_non_null(e->a);
}

static void envelope_finish(envelope* e)
{
    free(e->first);
    free(e->start);
    free(e->a);
    free(e->unknown);
}

static long double* envelope_at(const envelope* e, int row, int column)
{
    return &e->a[e->start[row] + (size_t)(column - e->first[row])];
}

// Q^T A Q
static void envelope_fill(envelope* e, const problem* p)
{
    for (int i = 0; i < p->n; i++)
    {
        for (int s = p->pattern.row_start[i]; s < p->pattern.row_start[i + 1] && p->pattern.column[s] <= i; s++)
        {
            int j = p->pattern.column[s];
            for (int r = 0; r < p->basis_count[i]; r++)
            {
                for (int c = 0; c < p->basis_count[j]; c++)
                {
                    int row = e->unknown[i] + r, column = e->unknown[j] + c;
                    const double *q = &p->basis[3 * i + r].x, *t = &p->basis[3 * j + c].x;
                    for (int k = 0; k < 9 && column <= row; k++)
                    {
                        *envelope_at(e, row, column) += (long double)q[k / 3] * p->values[9 * (size_t)s + k] * t[k % 3];
                    }
                }
            }
        }
    }
}

static void envelope_factor(envelope* e)
{
    for (int i = 0; i < e->size; i++)
    {
        for (int j = e->first[i]; j <= i; j++)
        {
            int from = int_max(e->first[i], e->first[j]);
            long double sum = *envelope_at(e, i, j);
            for (int k = from; k < j; k++)
            {
                sum -= *envelope_at(e, i, k) * *envelope_at(e, j, k);
            }
            assert_true(i != j || sum > 0.0L);
            *envelope_at(e, i, j) = i == j ? sqrtl(sum) : sum / *envelope_at(e, j, j);
        }
    }
}

static void envelope_solve(const envelope* e, long double* y)
{
    for (int i = 0; i < e->size; i++)
    {
        for (int k = e->first[i]; k < i; k++)
        {
            y[i] -= *envelope_at(e, i, k) * y[k];
        }
        y[i] /= *envelope_at(e, i, i);
    }
    for (int i = e->size - 1; i >= 0; i--)
    {
        y[i] /= *envelope_at(e, i, i);
        for (int k = e->first[i]; k < i; k++)
        {
            y[k] -= *envelope_at(e, i, k) * y[i];
        }
    }
}

// x, and in held (I - S) z.
void problem_reference(const problem* p, vec3* x, vec3* held)
{
    envelope e;
    envelope_init(&e, p);
    envelope_fill(&e, p);
    envelope_factor(&e);
    vec3* Ah = malloc((size_t)p->n * sizeof(vec3));
    long double* y = calloc((size_t)e.size + 1, sizeof(long double));
    for (int i = 0; i < p->n; i++)
    {
        held[i] = problem_prescribed(p, i);
    }
    problem_multiply(p, held, Ah);
    for (int i = 0; i < p->n; i++)
    {
        for (int k = 0; k < p->basis_count[i]; k++)
        {
            const vec3* q = &p->basis[3 * i + k];
            y[e.unknown[i] + k] = (long double)q->x * (p->b[i].x - (long double)Ah[i].x) +
                                  (long double)q->y * (p->b[i].y - (long double)Ah[i].y) +
                                  (long double)q->z * (p->b[i].z - (long double)Ah[i].z);
        }
    }
    envelope_solve(&e, y);
    for (int i = 0; i < p->n; i++)
    {
        x[i] = held[i];
        for (int k = 0; k < p->basis_count[i]; k++)
        {
            x[i] = v3_madd(x[i], (double)y[e.unknown[i] + k], p->basis[3 * i + k]);
        }
    }
    free(Ah);
    free(y);
    envelope_finish(&e);
}

double problem_energy_norm(const problem* p, const vec3* a, const vec3* minus)
{
    vec3* d = MEM_NEW(p->n, vec3);
    vec3* Ad = MEM_NEW(p->n, vec3);
    for (int i = 0; i < p->n; i++)
    {
        d[i] = v3_sub(a[i], minus[i]);
    }
    problem_multiply(p, d, Ad);
    double sum = 0.0;
    for (int i = 0; i < p->n; i++)
    {
        sum += v3_dot(d[i], Ad[i]);
    }
    mem_free(d);
    mem_free(Ad);
    return sqrt(fmax(sum, 0.0));
}
