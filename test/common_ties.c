#include "common_ties.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "common_dense.h"
#include "common_system.h"

// ---- rows

static void tie_table_add(tie_table* r, int unknown, double value)
{
    for (int k = r->start[r->count]; k < r->entry_count; k++)
    {
        if (r->unknown[k] == unknown)
        {
            r->value[k] += value;
            return;
        }
    }
    r->unknown[r->entry_count] = unknown;
    r->value[r->entry_count++] = value;
}

static void tie_table_end(tie_table* r)
{
    r->start[++r->count] = r->entry_count;
}

void tie_table_tie(tie_table* r, const int* vertices, const double* weights, int count)
{
    for (int axis = 0; axis < 3; axis++)
    {
        for (int k = 0; k < count; k++)
        {
            tie_table_add(r, 3 * vertices[k] + axis, weights[k]);
        }
        tie_table_end(r);
    }
}

static int random_index(uint64_t* random, int n)
{
    int k = (int)test_random(random, 0, n);
    return k < n ? k : n - 1;
}

void tie_table_random(tie_table* r, int n, int faces, int edges, int general, uint64_t* random)
{
    *r = (tie_table){0};
    for (int k = 0; k < faces + edges; k++)
    {
        int v[4], unique = 0;
        while (unique < 4)
        {
            v[unique] = random_index(random, n);
            bool fresh = true;
            for (int j = 0; j < unique; j++)
            {
                fresh = fresh && v[j] != v[unique];
            }
            unique += fresh;
        }
        double s = test_random(random, 0, 1), t = test_random(random, 0, 1 - (k < faces ? s : 0));
        double face[4] = {1, -s, -t, s + t - 1}, edge[4] = {1 - s, s, t - 1, -t};
        tie_table_tie(r, v, k < faces ? face : edge, 4);
    }
    for (int k = 0; k < general; k++)
    {
        for (int e = 0; e < 6; e++)
        {
            tie_table_add(r, random_index(random, 3 * n), test_random(random, -3, 3));
        }
        tie_table_end(r);
    }
}

void tie_table_repeat(tie_table* r)
{
    int first = r->start[0], second = r->start[1], third = r->start[2];
    for (int k = first; k < second; k++)
    {
        tie_table_add(r, r->unknown[k], -2.5 * r->value[k]);
    }
    tie_table_end(r);
    for (int k = first; k < third; k++)
    {
        tie_table_add(r, r->unknown[k], r->value[k]);
    }
    tie_table_end(r);
    tie_table_end(r);
}

void tie_table_set(weft_system* s, const tie_table* r)
{
    mem_free(s->tie_start);
    mem_free(s->tie_unknown);
    mem_free(s->tie_value);
    s->tie_start = s->tie_unknown = NULL;
    s->tie_value = NULL;
    s->tie_count = 0;
    int64_t bad;
    if (r->count > 0)
    {
        assert_int_equal(system_set_ties(s, r->count, r->start, r->unknown, r->value, &bad), WEFT_OK);
    }
}

// ---- the truth

static void orthonormalise(long double* q, int* rank, int size, long double* row)
{
    long double given = 0.0L;
    for (int k = 0; k < size; k++)
    {
        given += row[k] * row[k];
    }
    for (int pass = 0; pass < 2; pass++)
    {
        for (int j = 0; j < *rank; j++)
        {
            long double dot = 0.0L;
            for (int k = 0; k < size; k++)
            {
                dot += row[k] * q[j * size + k];
            }
            for (int k = 0; k < size; k++)
            {
                row[k] -= dot * q[j * size + k];
            }
        }
    }
    long double left = 0.0L;
    for (int k = 0; k < size; k++)
    {
        left += row[k] * row[k];
    }
    if (left > 1e-20L * given && given > 0.0L)
    {
        for (int k = 0; k < size; k++)
        {
            q[*rank * size + k] = row[k] / sqrtl(left);
        }
        (*rank)++;
    }
}

tie_truth tie_truth_of(const weft_system* s)
{
    int size = 3 * s->pattern.row_count;
    long double* q = calloc((size_t)size * (size_t)size, sizeof(long double));
    long double* row = calloc((size_t)size, sizeof(long double));
    tie_truth t = {size, calloc((size_t)size * (size_t)size, sizeof(long double)), 0};
    for (int k = 0; k < s->filter_count; k++)
    {
        for (int d = 0; d < s->filter[k].direction_count; d++)
        {
            memset(row, 0, (size_t)size * sizeof(long double));
            row[3 * s->filter[k].vertex] = s->filter[k].direction[d].x;
            row[3 * s->filter[k].vertex + 1] = s->filter[k].direction[d].y;
            row[3 * s->filter[k].vertex + 2] = s->filter[k].direction[d].z;
            orthonormalise(q, &t.rank, size, row);
        }
    }
    for (int r = 0; r < s->tie_count; r++)
    {
        memset(row, 0, (size_t)size * sizeof(long double));
        for (int k = s->tie_start[r]; k < s->tie_start[r + 1]; k++)
        {
            row[s->tie_unknown[k]] = s->tie_value[k];
        }
        orthonormalise(q, &t.rank, size, row);
    }
    for (int i = 0; i < size; i++)
    {
        for (int j = 0; j < size; j++)
        {
            long double sum = i == j;
            for (int k = 0; k < t.rank; k++)
            {
                sum -= q[k * size + i] * q[k * size + j];
            }
            t.S[i * size + j] = sum;
        }
    }
    free(q);
    free(row);
    return t;
}

void tie_truth_solve(const tie_truth* t, const weft_system* s, vec3* x, vec3* start)
{
    int size = t->size;
    size_t square = (size_t)size * (size_t)size;
    double* A = malloc(square * sizeof(double));
    long double *a = calloc(square, sizeof(long double)), *m = calloc(square, sizeof(long double));
    long double *z = calloc((size_t)size, sizeof(long double)), *y = calloc((size_t)size, sizeof(long double));
    test_dense_matrix(s, false, A);
    for (size_t k = 0; k < square; k++)
    {
        a[k] = A[k];
    }
    // z <- (I - S) z, y <- S (b - A z)
    for (int k = 0; k < size; k++)
    {
        y[k] = z[k] = s->z ? (&s->z[0].x)[k] : 0.0;
    }
    test_dense_apply(t->S, y, size);
    for (int k = 0; k < size; k++)
    {
        z[k] -= y[k];
        y[k] = z[k];
    }
    test_dense_apply(a, y, size);
    for (int k = 0; k < size; k++)
    {
        y[k] = (&s->b[0].x)[k] - y[k];
    }
    test_dense_apply(t->S, y, size);
    // m <- S A S + I - S
    long double* left = malloc(square * sizeof(long double));
    test_dense_product(t->S, a, left, size);
    test_dense_product(left, t->S, m, size);
    for (size_t k = 0; k < square; k++)
    {
        m[k] += (k % ((size_t)size + 1) == 0 ? 1.0L : 0.0L) - t->S[k];
    }
    test_dense_solve_definite(m, y, size);
    test_dense_apply(t->S, y, size);
    for (int k = 0; k < size; k++)
    {
        (&x[0].x)[k] = (double)(z[k] + y[k]);
        (&start[0].x)[k] = (double)z[k];
    }
    free(A);
    free(a);
    free(m);
    free(z);
    free(y);
    free(left);
}
