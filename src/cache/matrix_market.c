// Reads linear systems from sets of Matrix Market files (Boisvert, Pozo, Remington 1996): PREFIX.mtx and beside it
// PREFIX_b, _z, _filter, _ties, _kernel, _xyz, all optional. Arrays go column after column, indices count from 1.
//
// No count in a header is believed before the size of the file allows it, so a short file cannot ask for much memory.
#define _GNU_SOURCE
#include "cache/system_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct matrix_header
{
    bool array, symmetric;
    int64_t rows, columns;
    int64_t entries; // of a coordinate file
} matrix_header;

// Scalar entries of a coordinate file, indices from 0.
typedef struct matrix_entries
{
    int64_t count;
    int *row, *column; // [count]
    double* value;     // [count]
} matrix_entries;

static void matrix_entries_finish(matrix_entries* e)
{
    mem_free(e->row);
    mem_free(e->column);
    mem_free(e->value);
    *e = (matrix_entries){0};
}

static weft_status read_banner(text_file* text, matrix_header* header)
{
    char *line, *end;
    TRY(text_file_next(text, &line, &end));
    char word[5][32] = {{0}};
    int words = line ? sscanf(line, "%31s %31s %31s %31s %31s", word[0], word[1], word[2], word[3], word[4]) : 0;
    if (words < 1 || strcasecmp(word[0], "%%MatrixMarket") != 0)
    {
        text->line = 1;
        return text_file_refuse(text, "this is no Matrix Market file: the first line must begin with %%%%MatrixMarket");
    }
    bool known = words == 5 && strcasecmp(word[1], "matrix") == 0 &&
                 (strcasecmp(word[2], "coordinate") == 0 || strcasecmp(word[2], "array") == 0) &&
                 (strcasecmp(word[3], "real") == 0 || strcasecmp(word[3], "integer") == 0) &&
                 (strcasecmp(word[4], "general") == 0 || strcasecmp(word[4], "symmetric") == 0);
    if (!known)
    {
        return text_file_refuse(text, "expected `matrix`, `coordinate` or `array`, `real` or `integer`, `general` or "
                                      "`symmetric` after %%%%MatrixMarket");
    }
    header->array = strcasecmp(word[2], "array") == 0;
    header->symmetric = strcasecmp(word[4], "symmetric") == 0;
    if (header->array && header->symmetric)
    {
        return text_file_refuse(text, "a symmetric array is not supported; write it as `general`");
    }
    return WEFT_OK;
}

// The next line that is neither a comment nor blank; *line is NULL at the end.
static weft_status next_data_line(text_file* text, const char** line, const char** end)
{
    for (;;)
    {
        char *begin, *stop;
        TRY(text_file_next(text, &begin, &stop));
        *line = begin;
        *end = stop;
        if (!begin)
        {
            return WEFT_OK;
        }
        const char* s = begin;
        while (*s == ' ' || *s == '\t')
        {
            s++;
        }
        if (*s != '%' && s != stop)
        {
            return WEFT_OK;
        }
    }
}

static bool only_blanks(const char* s, const char* end)
{
    while (*s == ' ' || *s == '\t')
    {
        s++;
    }
    return s == end;
}

static weft_status read_sizes(text_file* text, matrix_header* header)
{
    const char *line, *end;
    TRY(next_data_line(text, &line, &end));
    if (!line)
    {
        return text_file_refuse(text, "the file ends before its size line");
    }
    bool good = text_parse_count(&line, &header->rows) && text_parse_count(&line, &header->columns) &&
                (header->array || text_parse_count(&line, &header->entries)) && only_blanks(line, end);
    if (!good)
    {
        return text_file_refuse(text, header->array ? "expected two counts: rows and columns"
                                                    : "expected three counts: rows, columns and entries");
    }
    if (header->rows > INT32_MAX || header->columns > INT32_MAX)
    {
        return text_file_refuse(text, "%lld x %lld is too large: at most %d rows and columns", (long long)header->rows,
                                (long long)header->columns, INT32_MAX);
    }
    // The shortest entry takes six bytes ("1 1 1" and a line end), the shortest number of an array two.
    int64_t needed = header->array ? header->rows * header->columns : header->entries;
    int64_t room = text->size / (header->array ? 2 : 6) + 1;
    if (needed > room)
    {
        return text_file_refuse(text,
                                "the file is too short for the %lld entries that this line promises: it was cut "
                                "or the count is wrong",
                                (long long)needed);
    }
    return WEFT_OK;
}

static weft_status read_entry(text_file* text, const matrix_header* header, matrix_entries* e)
{
    const char *line, *end;
    TRY(next_data_line(text, &line, &end));
    if (!line)
    {
        return text_file_refuse(text, "the file ends after %lld of %lld entries: it was cut", (long long)e->count,
                                (long long)header->entries);
    }
    int64_t row, column;
    double value;
    if (!text_parse_count(&line, &row) || !text_parse_count(&line, &column) || !text_parse_number(&line, &value) ||
        !only_blanks(line, end))
    {
        return text_file_refuse(text, "expected `row column value`");
    }
    if (row < 1 || row > header->rows || column < 1 || column > header->columns)
    {
        return text_file_refuse(text, "entry (%lld, %lld) is outside of the %lld x %lld matrix; indices count from 1",
                                (long long)row, (long long)column, (long long)header->rows, (long long)header->columns);
    }
    if (header->symmetric && row < column)
    {
        return text_file_refuse(text,
                                "entry (%lld, %lld) is above the diagonal; a symmetric file holds the lower "
                                "triangle only",
                                (long long)row, (long long)column);
    }
    if (!isfinite(value))
    {
        return text_file_refuse(text, "the value is not finite; all values must be");
    }
    e->row[e->count] = (int)row - 1;
    e->column[e->count] = (int)column - 1;
    e->value[e->count] = value;
    e->count++;
    return WEFT_OK;
}

static weft_status expect_end(text_file* text)
{
    const char *line, *end;
    TRY(next_data_line(text, &line, &end));
    return line ? text_file_refuse(text, "there is more than the size line promises; correct the count") : WEFT_OK;
}

static weft_status check_matrix_header(text_file* text, const matrix_header* header)
{
    if (header->array)
    {
        return text_file_refuse(text, "the matrix must be in `coordinate` form, not `array`");
    }
    if (header->rows != header->columns || header->rows % 3 != 0 || header->rows == 0)
    {
        return text_file_refuse(text, "the matrix is %lld x %lld; it must be square with three rows a vertex",
                                (long long)header->rows, (long long)header->columns);
    }
    if (header->entries < header->rows)
    {
        return text_file_refuse(text, "%lld entries cannot fill the diagonal of %lld rows", (long long)header->entries,
                                (long long)header->rows);
    }
    return WEFT_OK;
}

// The entries that follow a header.
static weft_status read_entries(text_file* text, const matrix_header* header, matrix_entries* e)
{
    e->row = MEM_NEW(header->entries, int);
    e->column = MEM_NEW(header->entries, int);
    e->value = MEM_NEW(header->entries, double);
    if (!e->row || !e->column || !e->value)
    {
        return error_set(text->error, WEFT_NO_MEMORY, text->path, text->line, "no memory for %lld entries",
                         (long long)header->entries);
    }
    while (e->count < header->entries)
    {
        TRY(read_entry(text, header, e));
    }
    return expect_end(text);
}

static weft_status read_matrix_text(text_file* text, matrix_header* header, matrix_entries* e)
{
    TRY(read_banner(text, header));
    TRY(read_sizes(text, header));
    TRY(check_matrix_header(text, header));
    return read_entries(text, header, e);
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Block columns of each block row, both triangles and the diagonal, with repetitions.
typedef struct row_lists
{
    size_t* start; // [rows + 1]
    int* column;
    int* mark; // [rows] row that saw this column last
} row_lists;

static void row_lists_finish(row_lists* lists)
{
    mem_free(lists->start);
    mem_free(lists->column);
    mem_free(lists->mark);
}

static bool row_lists_fill(row_lists* lists, int rows, const matrix_entries* e)
{
    *lists = (row_lists){.start = MEM_NEW(rows + 2, size_t), .mark = MEM_NEW(rows, int)};
    if (!lists->start || !lists->mark)
    {
        return false;
    }
    // Counts are kept two places up, so that after the sums place i + 1 is where row i fills next.
    size_t* next = lists->start + 1;
    for (int i = 0; i < rows; i++)
    {
        next[i + 1] = 1;
        lists->mark[i] = -1;
    }
    for (int64_t k = 0; k < e->count; k++)
    {
        int i = e->row[k] / 3, j = e->column[k] / 3;
        next[i + 1] += i != j;
        next[j + 1] += i != j;
    }
    for (int i = 0; i < rows; i++)
    {
        next[i + 1] += next[i];
    }
    lists->column = MEM_NEW(next[rows], int);
    if (!lists->column)
    {
        return false;
    }
    for (int i = 0; i < rows; i++)
    {
        lists->column[next[i]++] = i;
    }
    for (int64_t k = 0; k < e->count; k++)
    {
        int i = e->row[k] / 3, j = e->column[k] / 3;
        if (i != j)
        {
            lists->column[next[i]++] = j;
            lists->column[next[j]++] = i;
        }
    }
    return true;
}

// Each list sorted and without repetitions, in place; returns the number of blocks. start[i] stays where list i begins.
static int64_t row_lists_reduce(row_lists* lists, int rows, int* count)
{
    int64_t total = 0;
    for (int i = 0; i < rows; i++)
    {
        int* list = lists->column + lists->start[i];
        size_t length = lists->start[i + 1] - lists->start[i];
        int kept = 0;
        bool sorted = true;
        for (size_t k = 0; k < length; k++)
        {
            int column = list[k];
            if (lists->mark[column] != i)
            {
                lists->mark[column] = i;
                sorted = sorted && (kept == 0 || list[kept - 1] < column);
                list[kept++] = column;
            }
        }
        if (!sorted)
        {
            qsort(list, (size_t)kept, sizeof(int), compare_int);
        }
        count[i] = kept;
        total += kept;
    }
    return total;
}

static weft_status make_pattern(int rows, const matrix_entries* e, bsr_pattern* p)
{
    row_lists lists = {0};
    weft_status status = WEFT_NO_MEMORY;
    p->row_count = rows;
    p->row_start = MEM_NEW(rows + 1, int);
    p->diagonal = MEM_NEW(rows, int);
    if (!p->row_start || !p->diagonal || !row_lists_fill(&lists, rows, e))
    {
        goto cleanup;
    }
    int64_t blocks = row_lists_reduce(&lists, rows, p->row_start + 1);
    p->column = blocks <= INT32_MAX ? MEM_NEW(blocks, int) : NULL;
    if (!p->column)
    {
        goto cleanup;
    }
    p->block_count = (int)blocks;
    for (int i = 0; i < rows; i++)
    {
        int kept = p->row_start[i + 1];
        memcpy(p->column + p->row_start[i], lists.column + lists.start[i], (size_t)kept * sizeof(int));
        p->row_start[i + 1] = p->row_start[i] + kept;
        p->diagonal[i] = bsr_pattern_find(p, i, i);
    }
    status = WEFT_OK;
cleanup:
    row_lists_finish(&lists);
    return status;
}

// Puts one entry in its place; false when the place is taken.
static bool put_entry(const weft_system* system, unsigned short* taken, int row, int column, double value)
{
    int slot = bsr_pattern_find(&system->pattern, row / 3, column / 3);
    int place = 3 * (row % 3) + column % 3;
    if (taken[slot] & (1u << place))
    {
        return false;
    }
    taken[slot] = (unsigned short)(taken[slot] | (1u << place));
    system->values[9 * (size_t)slot + (size_t)place] = value;
    return true;
}

// *repeated is the index of an entry that was given before, -1: none.
static weft_status put_entries(weft_system* system, const matrix_header* header, const matrix_entries* e,
                               int64_t* repeated)
{
    *repeated = -1;
    unsigned short* taken = MEM_NEW(system->pattern.block_count, unsigned short);
    system->values = MEM_NEW(9 * (size_t)system->pattern.block_count, double);
    if (!taken || !system->values)
    {
        mem_free(taken);
        return WEFT_NO_MEMORY;
    }
    for (int64_t k = 0; k < e->count && *repeated < 0; k++)
    {
        int row = e->row[k], column = e->column[k];
        bool fresh = put_entry(system, taken, row, column, e->value[k]);
        if (fresh && header->symmetric && row != column)
        {
            put_entry(system, taken, column, row, e->value[k]);
        }
        *repeated = fresh ? -1 : k;
    }
    mem_free(taken);
    return WEFT_OK;
}

// Only for messages: the line of the last entry with these indices, 0 when none is there.
static int find_entry_line(const char* path, int row, int column)
{
    text_file text;
    matrix_header header = {0};
    int found = 0;
    if (text_file_open(&text, path, NULL) != WEFT_OK)
    {
        return 0;
    }
    const char *line, *end;
    if (read_banner(&text, &header) == WEFT_OK && read_sizes(&text, &header) == WEFT_OK)
    {
        int64_t i, j;
        while (next_data_line(&text, &line, &end) == WEFT_OK && line && text_parse_count(&line, &i) &&
               text_parse_count(&line, &j))
        {
            bool same = i == row + 1 && j == column + 1;
            bool mirrored = header.symmetric && i == column + 1 && j == row + 1;
            found = same || mirrored ? text.line : found;
        }
    }
    text_file_close(&text);
    return found;
}

static weft_status build_matrix(const char* path, const matrix_header* header, const matrix_entries* e,
                                weft_system* system, weft_error* error)
{
    int64_t repeated = -1;
    weft_status status = make_pattern((int)(header->rows / 3), e, &system->pattern);
    if (status == WEFT_OK)
    {
        status = put_entries(system, header, e, &repeated);
    }
    if (status != WEFT_OK)
    {
        return error_set(error, status, path, 0, "no memory for a matrix of %lld rows", (long long)header->rows);
    }
    if (repeated >= 0)
    {
        int row = e->row[repeated], column = e->column[repeated];
        return error_set(error, WEFT_BAD_INPUT, path, find_entry_line(path, row, column),
                         "entry (%d, %d) is given twice; sum up repeated entries first", row + 1, column + 1);
    }
    system_fault fault = system_check_matrix(system);
    if (fault.kind != FAULT_NONE)
    {
        return system_fault_report(&fault, path, find_entry_line(path, fault.row, fault.column), error);
    }
    return WEFT_OK;
}

static weft_status read_matrix(const char* prefix, weft_system* system, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".mtx", path, error));
    text_file text;
    TRY(text_file_open(&text, path, error));
    matrix_header header = {0};
    matrix_entries entries = {0};
    weft_status status = read_matrix_text(&text, &header, &entries);
    text_file_close(&text);
    if (status == WEFT_OK)
    {
        status = build_matrix(path, &header, &entries, system, error);
    }
    matrix_entries_finish(&entries);
    return status;
}

// What an array file must look like, and what it held.
typedef struct array_request
{
    const char* ending;
    int64_t rows;
    int64_t columns;   // 0: any number from 1 to 1000
    const char* shape; // in words, for messages
    double* values;    // column after column; NULL when there is no such file
    int64_t columns_read;
} array_request;

static weft_status read_array_values(text_file* text, const matrix_header* header, double* values)
{
    int64_t count = header->rows * header->columns, done = 0;
    const char *line = NULL, *end = NULL;
    while (done < count)
    {
        TRY(next_data_line(text, &line, &end));
        if (!line)
        {
            return text_file_refuse(text, "the file ends after %lld of %lld numbers: it was cut", (long long)done,
                                    (long long)count);
        }
        while (!only_blanks(line, end))
        {
            double value;
            if (done == count || !text_parse_number(&line, &value))
            {
                return text_file_refuse(text, done == count ? "there is more than the size line promises"
                                                            : "expected a number");
            }
            if (!isfinite(value))
            {
                return text_file_refuse(text, "the value is not finite; all values must be");
            }
            values[done++] = value;
        }
    }
    return expect_end(text);
}

static weft_status read_array_text(text_file* text, array_request* request)
{
    matrix_header header = {0};
    TRY(read_banner(text, &header));
    TRY(read_sizes(text, &header));
    bool columns_good =
        request->columns > 0 ? header.columns == request->columns : header.columns >= 1 && header.columns <= 1000;
    if (!header.array || header.rows != request->rows || !columns_good)
    {
        return text_file_refuse(text, "expected an array of %s = %lld rows", request->shape, (long long)request->rows);
    }
    request->columns_read = header.columns;
    request->values = MEM_NEW(header.rows * header.columns, double);
    if (!request->values)
    {
        return error_set(text->error, WEFT_NO_MEMORY, text->path, text->line, "no memory for the array");
    }
    return read_array_values(text, &header, request->values);
}

// A file that is not there leaves values NULL and is fine.
static weft_status read_array(const char* prefix, array_request* request, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, request->ending, path, error));
    text_file text;
    weft_status status = text_file_open(&text, path, error);
    if (status != WEFT_OK)
    {
        return status == WEFT_NOT_FOUND ? WEFT_OK : status;
    }
    status = read_array_text(&text, request);
    text_file_close(&text);
    if (status != WEFT_OK)
    {
        mem_free(request->values);
        request->values = NULL;
    }
    return status;
}

static weft_status read_vector(const char* prefix, const char* ending, int rows, vec3** out, weft_error* error)
{
    array_request request = {.ending = ending, .rows = 3 * (int64_t)rows, .columns = 1, .shape = "one column and 3n"};
    TRY(read_array(prefix, &request, error));
    *out = (vec3*)request.values;
    return WEFT_OK;
}

static weft_status read_filter(const char* prefix, weft_system* system, weft_error* error)
{
    size_t n = 3 * (size_t)system->pattern.row_count;
    array_request request = {
        .ending = "_filter.mtx", .rows = (int64_t)n, .columns = 3, .shape = "three columns and 3n"};
    TRY(read_array(prefix, &request, error));
    if (!request.values)
    {
        return WEFT_OK;
    }
    int bad = -1;
    weft_status status = WEFT_NO_MEMORY;
    double* S = MEM_NEW(3 * n, double);
    if (S)
    {
        for (size_t row = 0; row < n; row++)
        {
            for (size_t column = 0; column < 3; column++)
            {
                S[3 * row + column] = request.values[column * n + row];
            }
        }
        status = system_set_filter(system, S, &bad);
    }
    mem_free(S);
    mem_free(request.values);
    if (status == WEFT_OK)
    {
        return WEFT_OK;
    }
    char path[PATH_LIMIT];
    TRY(system_path(prefix, "_filter.mtx", path, error));
    return error_set(error, status, path, 0,
                     bad >= 0 ? "rows %d to %d are no orthogonal projection: S = S^T = S S must hold to 1e-6"
                              : "no memory for the filter",
                     3 * bad + 1, 3 * bad + 3);
}

static weft_status read_positions(const char* prefix, weft_system* system, weft_error* error)
{
    size_t n = (size_t)system->pattern.row_count;
    array_request request = {.ending = "_xyz.mtx", .rows = (int64_t)n, .columns = 3, .shape = "three columns and n"};
    TRY(read_array(prefix, &request, error));
    if (!request.values)
    {
        return WEFT_OK;
    }
    system->positions = MEM_NEW(n, vec3);
    for (size_t i = 0; system->positions && i < n; i++)
    {
        system->positions[i] = v3(request.values[i], request.values[n + i], request.values[2 * n + i]);
    }
    mem_free(request.values);
    return system->positions ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, prefix, 0, "no memory for the positions");
}

static weft_status read_kernel(const char* prefix, weft_system* system, weft_error* error)
{
    array_request request = {.ending = "_kernel.mtx",
                             .rows = 3 * (int64_t)system->pattern.row_count,
                             .shape = "at most 1000 columns and 3n"};
    TRY(read_array(prefix, &request, error));
    system->kernel = request.values;
    system->kernel_count = (int)request.columns_read;
    return WEFT_OK;
}

static weft_status read_ties_text(text_file* text, int rows, matrix_header* header, matrix_entries* e)
{
    TRY(read_banner(text, header));
    if (header->array || header->symmetric)
    {
        return text_file_refuse(text, "ties must be in `coordinate` form and `general`");
    }
    TRY(read_sizes(text, header));
    if (header->columns != 3 * (int64_t)rows)
    {
        return text_file_refuse(text, "the ties have %lld columns; there must be one for each of the %lld unknowns",
                                (long long)header->columns, 3 * (long long)rows);
    }
    if (header->rows > header->entries && header->rows > header->columns)
    {
        return text_file_refuse(text, "%lld ties with %lld entries: leave out rows without entries",
                                (long long)header->rows, (long long)header->entries);
    }
    return read_entries(text, header, e);
}

// Entries in any order become rows.
static weft_status build_ties(const char* path, const matrix_header* header, const matrix_entries* e,
                              weft_system* system, weft_error* error)
{
    int rows = (int)header->rows;
    int* start = MEM_NEW((size_t)rows + 2, int);
    int* unknown = MEM_NEW(e->count, int);
    double* value = MEM_NEW(e->count, double);
    int64_t bad = -1;
    weft_status status = WEFT_NO_MEMORY;
    if (start && unknown && value)
    {
        // Counts are kept two places up, so that after the sums place r + 1 is where row r fills next.
        for (int64_t k = 0; k < e->count; k++)
        {
            start[e->row[k] + 2]++;
        }
        for (int r = 0; r < rows; r++)
        {
            start[r + 2] += start[r + 1];
        }
        for (int64_t k = 0; k < e->count; k++)
        {
            int place = start[e->row[k] + 1]++;
            unknown[place] = e->column[k];
            value[place] = e->value[k];
        }
        status = system_set_ties(system, rows, start, unknown, value, &bad);
    }
    // Indices and values have been checked: what is left is an entry that is there twice.
    if (bad >= 0)
    {
        int row = 0;
        while (start[row + 1] <= bad)
        {
            row++;
        }
        int column = system->tie_unknown[bad];
        error_set(error, status, path, find_entry_line(path, row, column),
                  "entry (%d, %d) is given twice; sum up repeated entries first", row + 1, column + 1);
    }
    else if (status != WEFT_OK)
    {
        error_set(error, status, path, 0, "no memory for %d ties", rows);
    }
    mem_free(start);
    mem_free(unknown);
    mem_free(value);
    return status;
}

static weft_status read_ties(const char* prefix, weft_system* system, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, "_ties.mtx", path, error));
    text_file text;
    weft_status status = text_file_open(&text, path, error);
    if (status != WEFT_OK)
    {
        return status == WEFT_NOT_FOUND ? WEFT_OK : status;
    }
    matrix_header header = {0};
    matrix_entries entries = {0};
    status = read_ties_text(&text, system->pattern.row_count, &header, &entries);
    text_file_close(&text);
    if (status == WEFT_OK && header.rows > 0)
    {
        status = build_ties(path, &header, &entries, system, error);
    }
    matrix_entries_finish(&entries);
    return status;
}

weft_status matrix_market_read(const char* prefix, weft_system* out, weft_error* error)
{
    TRY(read_matrix(prefix, out, error));
    TRY(read_vector(prefix, "_b.mtx", out->pattern.row_count, &out->b, error));
    TRY(read_vector(prefix, "_z.mtx", out->pattern.row_count, &out->z, error));
    TRY(read_filter(prefix, out, error));
    TRY(read_ties(prefix, out, error));
    TRY(read_kernel(prefix, out, error));
    TRY(read_positions(prefix, out, error));
    weft_status status = system_default_b(out);
    return status == WEFT_OK ? WEFT_OK : error_set(error, status, prefix, 0, "no memory for the right-hand side");
}
