#include "bench/csr.h"

#include <string.h>

#include "solve/prefilter.h"

void csr_finish(csr* A)
{
    mem_free(A->start);
    mem_free(A->column);
    mem_free(A->value);
    *A = (csr){0};
}

weft_status csr_alloc(csr* A, int rows, int columns, int capacity)
{
    *A = (csr){rows, columns, MEM_NEW(rows + 1, int), MEM_NEW(int_max(capacity, 1), int),
               MEM_NEW(int_max(capacity, 1), double)};
    return A->start && A->column && A->value ? WEFT_OK : WEFT_NO_MEMORY;
}

void csr_append(csr* A, int row, int column, double value)
{
    int at = A->start[row + 1]++;
    A->column[at] = column;
    A->value[at] = value;
}

void csr_begin_row(csr* A, int row)
{
    A->start[row + 1] = A->start[row];
}

void csr_apply(const csr* A, const double* x, double* y)
{
    for (int i = 0; i < A->rows; i++)
    {
        double sum = 0.0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++)
        {
            sum += A->value[k] * x[A->column[k]];
        }
        y[i] = sum;
    }
}

void csr_add_transposed(const csr* A, const double* x, double* y)
{
    for (int i = 0; i < A->rows; i++)
    {
        for (int k = A->start[i]; k < A->start[i + 1]; k++)
        {
            y[A->column[k]] += A->value[k] * x[i];
        }
    }
}

weft_status csr_transpose(const csr* A, csr* out)
{
    TRY(csr_alloc(out, A->columns, A->rows, A->start[A->rows]));
    for (int k = 0; k < A->start[A->rows]; k++)
    {
        out->start[A->column[k] + 1]++;
    }
    for (int i = 0; i < out->rows; i++)
    {
        out->start[i + 1] += out->start[i];
    }
    for (int i = 0; i < A->rows; i++)
    {
        for (int k = A->start[i]; k < A->start[i + 1]; k++)
        {
            int at = out->start[A->column[k]]++;
            out->column[at] = i;
            out->value[at] = A->value[k];
        }
    }
    memmove(out->start + 1, out->start, (size_t)out->rows * sizeof(int));
    out->start[0] = 0;
    return WEFT_OK;
}

// Row i of A B; place[column] is where the row holds that column, or a place before `begin`. Without C only counts.
static int product_row(const csr* A, const csr* B, int i, int* place, int begin, csr* C)
{
    int end = begin;
    for (int k = A->start[i]; k < A->start[i + 1]; k++)
    {
        int j = A->column[k];
        for (int m = B->start[j]; m < B->start[j + 1]; m++)
        {
            int column = B->column[m];
            if (place[column] < begin)
            {
                place[column] = end++;
                if (C)
                {
                    C->column[place[column]] = column;
                }
            }
            if (C)
            {
                C->value[place[column]] += A->value[k] * B->value[m];
            }
        }
    }
    return end;
}

static int product_size(const csr* A, const csr* B, int* place)
{
    int count = 0;
    for (int i = 0; i < A->rows; i++)
    {
        count = product_row(A, B, i, place, count, NULL);
    }
    return count;
}

static void clear_places(int* place, int count)
{
    for (int k = 0; k < count; k++)
    {
        place[k] = -1;
    }
}

weft_status csr_multiply(const csr* A, const csr* B, csr* C)
{
    *C = (csr){0};
    int* place = MEM_NEW(B->columns + 1, int);
    weft_status status = place ? WEFT_OK : WEFT_NO_MEMORY;
    if (place)
    {
        clear_places(place, B->columns);
        status = csr_alloc(C, A->rows, B->columns, product_size(A, B, place));
    }
    if (status == WEFT_OK)
    {
        clear_places(place, B->columns);
        for (int i = 0; i < A->rows; i++)
        {
            C->start[i + 1] = product_row(A, B, i, place, C->start[i], C);
        }
    }
    mem_free(place);
    return status;
}

// ---- a filtered system

// The prefiltered matrix, unknown after unknown; zeros are left out.
static weft_status take_matrix(const linear_system* s, const int* index, bool coupled, csr* A)
{
    const bsr_pattern* pattern = s->A.pattern;
    int n = pattern->row_count;
    TRY(csr_alloc(A, 3 * n, 3 * n, 9 * pattern->block_count));
    for (int row = 0; row < 3 * n; row++)
    {
        int p = row / n, i = row % n;
        csr_begin_row(A, row);
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            double buffer[9];
            const double* block = prefilter_block(s, index, slot, i, buffer);
            for (int q = 0; q < 3; q++)
            {
                if ((coupled || q == p) && block[3 * p + q] != 0.0)
                {
                    csr_append(A, row, q * n + pattern->column[slot], block[3 * p + q]);
                }
            }
        }
    }
    return WEFT_OK;
}

// S (b - A (I - S) z), unknown after unknown. x and r are scratch.
static void take_right_side(const linear_system* s, vec3* x, vec3* r, double* out)
{
    const bsr_pattern* pattern = s->A.pattern;
    int n = pattern->row_count;
    memset(x, 0, (size_t)n * sizeof(vec3));
    filter_prescribed(s, x);
    for (int i = 0; i < n; i++)
    {
        r[i] = s->b[i];
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            r[i] = v3_sub(r[i], m3_mul_v(s->A.values + 9 * (size_t)slot, x[pattern->column[slot]]));
        }
    }
    filter_apply(s, r);
    for (int i = 0; i < n; i++)
    {
        out[i] = r[i].x;
        out[n + i] = r[i].y;
        out[2 * n + i] = r[i].z;
    }
}

weft_status csr_take_system(const linear_system* system, bool coupled, csr* A, double* b)
{
    int n = system->A.pattern->row_count;
    int* index = MEM_NEW(n, int);
    vec3 *x = MEM_NEW(n, vec3), *r = MEM_NEW(n, vec3);
    weft_status status = index && x && r ? WEFT_OK : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        prefilter_index(system, index);
        take_right_side(system, x, r, b);
        status = take_matrix(system, index, coupled, A);
    }
    mem_free(index);
    mem_free(x);
    mem_free(r);
    return status;
}
