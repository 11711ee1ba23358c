#include "common_dense.h"

#include <stdlib.h>
#include <string.h>

#include "common.h"

void test_dense_apply(const long double* m, long double* x, int size)
{
    long double* y = calloc((size_t)size, sizeof(long double));
    for (int i = 0; i < size; i++)
    {
        for (int j = 0; j < size; j++)
        {
            y[i] += m[i * size + j] * x[j];
        }
    }
    memcpy(x, y, (size_t)size * sizeof(long double));
    free(y);
}

void test_dense_product(const long double* a, const long double* b, long double* out, int size)
{
    memset(out, 0, (size_t)size * (size_t)size * sizeof(long double));
    for (int i = 0; i < size; i++)
    {
        for (int k = 0; k < size; k++)
        {
            for (int j = 0; j < size; j++)
            {
                out[i * size + j] += a[i * size + k] * b[k * size + j];
            }
        }
    }
}

static void swap_rows(long double* a, long double* y, int size, int i, int j)
{
    for (int k = 0; k < size; k++)
    {
        long double t = a[i * size + k];
        a[i * size + k] = a[j * size + k];
        a[j * size + k] = t;
    }
    long double t = y[i];
    y[i] = y[j];
    y[j] = t;
}

// Column k below the diagonal becomes zero.
static void clear_column(long double* a, long double* y, int size, int k)
{
    for (int i = k + 1; i < size; i++)
    {
        long double factor = a[i * size + k] / a[k * size + k];
        for (int j = k; j < size && factor != 0.0L; j++)
        {
            a[i * size + j] -= factor * a[k * size + j];
        }
        y[i] -= factor * y[k];
    }
}

// a is upper triangular.
static void solve_back(const long double* a, long double* y, int size)
{
    for (int i = size - 1; i >= 0; i--)
    {
        for (int j = i + 1; j < size; j++)
        {
            y[i] -= a[i * size + j] * y[j];
        }
        y[i] /= a[i * size + i];
    }
}

void test_dense_solve(long double* a, long double* y, int size)
{
    for (int k = 0; k < size; k++)
    {
        int pivot = k;
        for (int i = k + 1; i < size; i++)
        {
            pivot = fabsl(a[i * size + k]) > fabsl(a[pivot * size + k]) ? i : pivot;
        }
        swap_rows(a, y, size, k, pivot);
        assert_true(a[k * size + k] != 0.0L);
        clear_column(a, y, size, k);
    }
    solve_back(a, y, size);
}

void test_dense_solve_definite(long double* a, long double* y, int size)
{
    for (int k = 0; k < size; k++)
    {
        assert_true(a[k * size + k] > 0.0L);
        clear_column(a, y, size, k);
    }
    solve_back(a, y, size);
}
