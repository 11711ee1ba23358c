// Writes linear systems as sets of Matrix Market files. Values have 17 digits, which bring the same bits back.
#define _GNU_SOURCE
#include "cache/system_file.h"

#include <string.h>

static bool is_symmetric_to_the_bit(const weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            int image = bsr_pattern_find(p, p->column[slot], i);
            for (int k = 0; k < 9; k++)
            {
                double value = system->values[9 * (size_t)slot + (size_t)k];
                if (image < 0 || value != system->values[9 * (size_t)image + (size_t)(k % 3 * 3 + k / 3)])
                {
                    return false;
                }
            }
        }
    }
    return true;
}

// Entries of one block that the file holds: all, or those on and below the diagonal. Only counts when out is NULL.
static int write_block(FILE* out, const weft_system* system, int i, int slot, bool symmetric)
{
    int j = system->pattern.column[slot], count = 0;
    for (int a = 0; a < 3; a++)
    {
        for (int b = 0; b < 3; b++)
        {
            if (symmetric && 3 * j + b > 3 * i + a)
            {
                continue;
            }
            count++;
            if (out)
            {
                fprintf(out, "%d %d %.17g\n", 3 * i + a + 1, 3 * j + b + 1,
                        system->values[9 * (size_t)slot + (size_t)(3 * a + b)]);
            }
        }
    }
    return count;
}

static int64_t write_blocks(FILE* out, const weft_system* system, bool symmetric)
{
    int64_t count = 0;
    for (int i = 0; i < system->pattern.row_count; i++)
    {
        for (int slot = system->pattern.row_start[i]; slot < system->pattern.row_start[i + 1]; slot++)
        {
            count += write_block(out, system, i, slot, symmetric);
        }
    }
    return count;
}

static weft_status write_matrix(const weft_system* system, const char* prefix, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".mtx", path, error));
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    bool symmetric = is_symmetric_to_the_bit(system);
    int n = 3 * system->pattern.row_count;
    fprintf(file.stream, "%%%%MatrixMarket matrix coordinate real %s\n", symmetric ? "symmetric" : "general");
    fprintf(file.stream, "%d %d %lld\n", n, n, (long long)write_blocks(NULL, system, symmetric));
    write_blocks(file.stream, system, symmetric);
    return whole_file_close(&file, error);
}

// values[row * row_stride + column * column_stride] for each column, row after row.
typedef struct array_view
{
    const double* values;
    int64_t rows, columns;
    size_t row_stride, column_stride;
} array_view;

static weft_status write_array(const char* path, const array_view* view, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    fprintf(file.stream, "%%%%MatrixMarket matrix array real general\n%lld %lld\n", (long long)view->rows,
            (long long)view->columns);
    for (int64_t column = 0; column < view->columns; column++)
    {
        for (int64_t row = 0; row < view->rows; row++)
        {
            fprintf(file.stream, "%.17g\n",
                    view->values[(size_t)row * view->row_stride + (size_t)column * view->column_stride]);
        }
    }
    return whole_file_close(&file, error);
}

// Writes PREFIX + ending, or removes one that an earlier system left there when there is nothing to say.
static weft_status write_array_beside(const char* prefix, const char* ending, const array_view* view, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ending, path, error));
    if (!view->values)
    {
        remove(path);
        return WEFT_OK;
    }
    return write_array(path, view, error);
}

static weft_status write_filter(const weft_system* system, const char* prefix, weft_error* error)
{
    size_t n = (size_t)system->pattern.row_count;
    array_view view = {NULL, 3 * (int64_t)n, 3, 3, 1};
    if (system->filter_count == 0)
    {
        return write_array_beside(prefix, "_filter.mtx", &view, error);
    }
    double* S = MEM_NEW(9 * n, double);
    if (!S)
    {
        return error_set(error, WEFT_NO_MEMORY, prefix, 0, "no memory for the filter");
    }
    for (size_t i = 0; i < n; i++)
    {
        S[9 * i] = S[9 * i + 4] = S[9 * i + 8] = 1.0;
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        memcpy(S + 9 * (size_t)system->filter[k].vertex, system->filter[k].S, 9 * sizeof(double));
    }
    view.values = S;
    weft_status status = write_array_beside(prefix, "_filter.mtx", &view, error);
    mem_free(S);
    return status;
}

// J of J x = J z, row after row.
static weft_status write_ties(const weft_system* system, const char* prefix, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, "_ties.mtx", path, error));
    if (system->tie_count == 0)
    {
        remove(path);
        return WEFT_OK;
    }
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    fprintf(file.stream, "%%%%MatrixMarket matrix coordinate real general\n%d %lld %d\n", system->tie_count,
            3 * (long long)system->pattern.row_count, system->tie_start[system->tie_count]);
    for (int r = 0; r < system->tie_count; r++)
    {
        for (int k = system->tie_start[r]; k < system->tie_start[r + 1]; k++)
        {
            fprintf(file.stream, "%d %d %.17g\n", r + 1, system->tie_unknown[k] + 1, system->tie_value[k]);
        }
    }
    return whole_file_close(&file, error);
}

static weft_status write_set(const weft_system* system, const char* prefix, weft_error* error)
{
    int64_t n = system->pattern.row_count;
    const double* z = system->z ? &system->z->x : NULL;
    const double* positions = system->positions ? &system->positions->x : NULL;
    array_view b_view = {&system->b->x, 3 * n, 1, 1, 0}, z_view = {z, 3 * n, 1, 1, 0};
    array_view kernel_view = {system->kernel, 3 * n, system->kernel_count, 1, 3 * (size_t)n};
    array_view position_view = {positions, n, 3, 3, 1};
    TRY(write_array_beside(prefix, "_b.mtx", &b_view, error));
    TRY(write_array_beside(prefix, "_z.mtx", &z_view, error));
    TRY(write_filter(system, prefix, error));
    TRY(write_ties(system, prefix, error));
    TRY(write_array_beside(prefix, "_kernel.mtx", &kernel_view, error));
    TRY(write_array_beside(prefix, "_xyz.mtx", &position_view, error));
    return write_matrix(system, prefix, error);
}

weft_status matrix_market_write(const weft_system* system, const char* prefix, weft_error* error)
{
    point_locale locale = point_locale_begin();
    if (!locale.own)
    {
        return error_set(error, WEFT_NO_MEMORY, prefix, 0, "no memory to write");
    }
    weft_status status = write_set(system, prefix, error);
    point_locale_end(&locale);
    return status;
}

weft_status weft_vector_write(const weft_vec3* x, int vertex_count, const char* path, weft_error* error)
{
    WEFT_ASSERT(x && vertex_count >= 0 && path);
    point_locale locale = point_locale_begin();
    if (!locale.own)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to write");
    }
    array_view view = {&x->x, 3 * (int64_t)vertex_count, 1, 1, 0};
    weft_status status = write_array(path, &view, error);
    point_locale_end(&locale);
    return status;
}
