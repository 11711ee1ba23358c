// PREFIX.weftsys: a linear system in binary, little-endian, read at the speed of the disk.
//
//     header (64 bytes): "WEFTSYS", 1, byte order 0x01020304, flags, vertices, blocks, filter records, kernel vectors,
//     size, rows and entries of ties (int32) row_start, columns (int32), padded to 8 bytes; values; b; z; filter
//     records; kernel; positions (doubles); of ties where each row begins and unknowns (int32), padded; values
//
// A filter record is vertex and number of directions (int32 each), three directions and S. The size in the header and
// that of the file must be what the counts say, before anything is allocated.
#define _POSIX_C_SOURCE 200809L
#include "cache/system_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum
{
    HAS_Z = 1,
    HAS_POSITIONS = 2,
    BYTE_ORDER_MARK = 0x01020304,
    RECORD_DOUBLES = 19 // one for the two integers, nine for the directions, nine for S
};

static const char MAGIC[8] = {'W', 'E', 'F', 'T', 'S', 'Y', 'S', 1};

typedef struct weftsys_header
{
    char magic[8];
    uint32_t byte_order, flags;
    int64_t vertices, blocks, records, kernels, size;
    int32_t tie_rows, tie_entries;
} weftsys_header;

_Static_assert(sizeof(weftsys_header) == 64, "the header is part of the format");

// Both integer arrays, filled up to whole doubles.
static int64_t weftsys_index_bytes(const weftsys_header* h)
{
    return (h->vertices + 1 + h->blocks + 1) / 2 * 8;
}

// Likewise of the ties.
static int64_t weftsys_tie_bytes(const weftsys_header* h)
{
    return h->tie_rows > 0 ? ((int64_t)h->tie_rows + 1 + h->tie_entries + 1) / 2 * 8 : 0;
}

// Size of the file in bytes; counts have been limited, so nothing overflows.
static int64_t weftsys_size(const weftsys_header* h)
{
    int64_t vectors = 1 + (h->flags & HAS_Z ? 1 : 0) + (h->flags & HAS_POSITIONS ? 1 : 0) + h->kernels;
    int64_t doubles = 9 * h->blocks + 3 * h->vertices * vectors + RECORD_DOUBLES * h->records + h->tie_entries;
    return (int64_t)sizeof(*h) + weftsys_index_bytes(h) + weftsys_tie_bytes(h) + 8 * doubles;
}

typedef struct weftsys_reader
{
    FILE* stream;
    const char* path;
    weft_error* error;
} weftsys_reader;

static weft_status weftsys_refuse(const weftsys_reader* r, const char* reason)
{
    return error_set(r->error, WEFT_BAD_INPUT, r->path, 0, "%s", reason);
}

static weft_status weftsys_read_header(weftsys_reader* r, weftsys_header* h)
{
    struct stat info;
    if (fstat(fileno(r->stream), &info) != 0 || !S_ISREG(info.st_mode))
    {
        return weftsys_refuse(r, "this is not a regular file");
    }
    if (fread(h, sizeof(*h), 1, r->stream) != 1 || memcmp(h->magic, MAGIC, sizeof(MAGIC)) != 0)
    {
        return weftsys_refuse(r, "this is no weftsys file of version 1; write it again with `weft system --binary`");
    }
    if (h->byte_order != BYTE_ORDER_MARK)
    {
        return weftsys_refuse(r, "the file comes from a machine with another byte order; use Matrix Market files");
    }
    bool good = h->vertices >= 1 && h->vertices <= INT32_MAX / 3 && h->blocks >= 1 && h->blocks <= INT32_MAX &&
                h->records >= 0 && h->records <= h->vertices && h->kernels >= 0 && h->kernels <= 1000 &&
                h->tie_rows >= 0 && h->tie_entries >= 0 && (h->tie_rows > 0 || h->tie_entries == 0) &&
                h->flags <= (HAS_Z | HAS_POSITIONS);
    if (!good)
    {
        return weftsys_refuse(r, "the counts in the header are impossible; write the file again");
    }
    if (h->size != weftsys_size(h) || h->size != info.st_size)
    {
        return error_set(r->error, WEFT_BAD_INPUT, r->path, 0,
                         "the file has %lld bytes but its header asks for %lld: it was cut or damaged; write it again",
                         (long long)info.st_size, (long long)weftsys_size(h));
    }
    return WEFT_OK;
}

// Allocates *out and reads `count` items of `size` bytes.
static weft_status weftsys_read_array(weftsys_reader* r, size_t count, size_t size, void** out)
{
    *out = mem_alloc(count, size);
    if (!*out)
    {
        return error_set(r->error, WEFT_NO_MEMORY, r->path, 0, "no memory for %zu bytes", count * size);
    }
    return fread(*out, size, count, r->stream) == count ? WEFT_OK : weftsys_refuse(r, "the file ends too early");
}

static weft_status weftsys_read_pattern(weftsys_reader* r, const weftsys_header* h, bsr_pattern* p)
{
    size_t rows = (size_t)h->vertices, blocks = (size_t)h->blocks;
    p->row_count = (int)rows;
    p->block_count = (int)blocks;
    TRY(weftsys_read_array(r, rows + 1, sizeof(int), (void**)&p->row_start));
    TRY(weftsys_read_array(r, blocks, sizeof(int), (void**)&p->column));
    char padding[8];
    size_t rest = (size_t)weftsys_index_bytes(h) - (rows + 1 + blocks) * sizeof(int);
    if (fread(padding, 1, rest, r->stream) != rest)
    {
        return weftsys_refuse(r, "the file ends too early");
    }
    bool good = p->row_start[0] == 0 && p->row_start[rows] == p->block_count;
    for (size_t i = 0; good && i < rows; i++)
    {
        good = p->row_start[i] <= p->row_start[i + 1] && p->row_start[i + 1] <= p->block_count;
        for (int slot = p->row_start[i]; good && slot < p->row_start[i + 1]; slot++)
        {
            bool increases = slot == p->row_start[i] || p->column[slot - 1] < p->column[slot];
            good = increases && p->column[slot] >= 0 && p->column[slot] < p->row_count;
        }
    }
    return good ? WEFT_OK : weftsys_refuse(r, "the rows of the matrix are damaged; write the file again");
}

static weft_status weftsys_check_values(weftsys_reader* r, const double* values, size_t count, const char* name)
{
    int64_t bad = values ? system_find_not_finite(values, count) : -1;
    return bad < 0
               ? WEFT_OK
               : error_set(r->error, WEFT_BAD_INPUT, r->path, 0, "%s holds %g at index %lld; all values must be finite",
                           name, values[bad], (long long)bad);
}

static weft_status weftsys_read_records(weftsys_reader* r, const weftsys_header* h, weft_system* system)
{
    if (h->records == 0)
    {
        return WEFT_OK;
    }
    system->filter = MEM_NEW(h->records, filter_record);
    if (!system->filter)
    {
        return error_set(r->error, WEFT_NO_MEMORY, r->path, 0, "no memory for the filter");
    }
    int last = -1;
    for (int64_t k = 0; k < h->records; k++)
    {
        int32_t numbers[2];
        double values[RECORD_DOUBLES - 1];
        if (fread(numbers, sizeof(numbers), 1, r->stream) != 1 || fread(values, sizeof(values), 1, r->stream) != 1)
        {
            return weftsys_refuse(r, "the file ends too early");
        }
        // What the projection says must be what the record says.
        filter_record* record = &system->filter[k];
        bool good = numbers[0] > last && numbers[0] < system->pattern.row_count &&
                    system_find_not_finite(values, RECORD_DOUBLES - 1) < 0 &&
                    filter_record_from_projection(numbers[0], values + 9, record) &&
                    record->direction_count == numbers[1] && numbers[1] > 0;
        if (!good)
        {
            return weftsys_refuse(r, "a filter record is damaged; write the file again");
        }
        memcpy(record->direction, values, 9 * sizeof(double));
        memcpy(record->S, values + 9, 9 * sizeof(double));
        filter_record again = filter_record_make(numbers[0], record->direction, numbers[1]);
        for (int e = 0; e < 9; e++)
        {
            if (!(fabs(again.S[e] - record->S[e]) <= 1e-6))
            {
                return weftsys_refuse(r, "a filter record is damaged; write the file again");
            }
        }
        last = numbers[0];
    }
    system->filter_count = (int)h->records;
    return WEFT_OK;
}

static weft_status weftsys_read_vectors(weftsys_reader* r, const weftsys_header* h, weft_system* system)
{
    size_t n = (size_t)h->vertices;
    TRY(weftsys_read_array(r, n, sizeof(vec3), (void**)&system->b));
    TRY(weftsys_check_values(r, &system->b->x, 3 * n, "b"));
    if (h->flags & HAS_Z)
    {
        TRY(weftsys_read_array(r, n, sizeof(vec3), (void**)&system->z));
        TRY(weftsys_check_values(r, &system->z->x, 3 * n, "z"));
    }
    TRY(weftsys_read_records(r, h, system));
    if (h->kernels > 0)
    {
        system->kernel_count = (int)h->kernels;
        TRY(weftsys_read_array(r, 3 * n * (size_t)h->kernels, sizeof(double), (void**)&system->kernel));
        TRY(weftsys_check_values(r, system->kernel, 3 * n * (size_t)h->kernels, "the kernel"));
    }
    if (h->flags & HAS_POSITIONS)
    {
        TRY(weftsys_read_array(r, n, sizeof(vec3), (void**)&system->positions));
        TRY(weftsys_check_values(r, &system->positions->x, 3 * n, "the positions"));
    }
    return WEFT_OK;
}

static weft_status weftsys_take_ties(weftsys_reader* r, const weftsys_header* h, weft_system* system,
                                     const int* numbers, const double* value)
{
    bool good = numbers[0] == 0 && numbers[h->tie_rows] == h->tie_entries;
    for (int k = 0; k < h->tie_rows && good; k++)
    {
        good = numbers[k] <= numbers[k + 1];
    }
    int64_t bad;
    weft_status status =
        good ? system_set_ties(system, h->tie_rows, numbers, numbers + h->tie_rows + 1, value, &bad) : WEFT_BAD_INPUT;
    return status == WEFT_BAD_INPUT ? weftsys_refuse(r, "the ties are damaged; write the file again")
           : status != WEFT_OK      ? error_set(r->error, status, r->path, 0, "no memory for the ties")
                                    : WEFT_OK;
}

static weft_status weftsys_read_ties(weftsys_reader* r, const weftsys_header* h, weft_system* system)
{
    if (h->tie_rows == 0)
    {
        return WEFT_OK;
    }
    int* numbers = NULL;
    double* value = NULL;
    weft_status status =
        weftsys_read_array(r, (size_t)weftsys_tie_bytes(h) / sizeof(int), sizeof(int), (void**)&numbers);
    if (status == WEFT_OK)
    {
        status = weftsys_read_array(r, (size_t)h->tie_entries, sizeof(double), (void**)&value);
    }
    if (status == WEFT_OK)
    {
        status = weftsys_take_ties(r, h, system, numbers, value);
    }
    mem_free(numbers);
    mem_free(value);
    return status;
}

static weft_status weftsys_read_all(weftsys_reader* r, weft_system* system)
{
    weftsys_header h;
    TRY(weftsys_read_header(r, &h));
    TRY(weftsys_read_pattern(r, &h, &system->pattern));
    TRY(weftsys_read_array(r, 9 * (size_t)h.blocks, sizeof(double), (void**)&system->values));
    int duplicate;
    if (system_sort_rows(system, &duplicate) != WEFT_OK)
    {
        return error_set(r->error, WEFT_NO_MEMORY, r->path, 0, "no memory");
    }
    system_fault fault = system_check_matrix(system);
    TRY(system_fault_report(&fault, r->path, 0, r->error));
    TRY(weftsys_read_vectors(r, &h, system));
    return weftsys_read_ties(r, &h, system);
}

weft_status weftsys_read(const char* path, weft_system* out, weft_error* error)
{
    weftsys_reader r = {file_stream(path, FILE_TO_READ), path, error};
    if (!r.stream)
    {
        return file_read_error(error, path, "cannot open");
    }
    weft_status status = weftsys_read_all(&r, out);
    fclose(r.stream);
    return status;
}

static void weftsys_write_records(whole_file* file, const weft_system* system)
{
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* record = &system->filter[k];
        int32_t numbers[2] = {record->vertex, record->direction_count};
        whole_file_write(file, numbers, sizeof(numbers));
        whole_file_write(file, record->direction, 9 * sizeof(double));
        whole_file_write(file, record->S, 9 * sizeof(double));
    }
}

static void weftsys_write_ties(whole_file* file, const weftsys_header* h, const weft_system* system)
{
    if (h->tie_rows == 0)
    {
        return;
    }
    const char padding[8] = {0};
    size_t rows = (size_t)h->tie_rows, entries = (size_t)h->tie_entries;
    whole_file_write(file, system->tie_start, (rows + 1) * sizeof(int));
    whole_file_write(file, system->tie_unknown, entries * sizeof(int));
    whole_file_write(file, padding, (size_t)weftsys_tie_bytes(h) - (rows + 1 + entries) * sizeof(int));
    whole_file_write(file, system->tie_value, entries * sizeof(double));
}

weft_status weftsys_write(const weft_system* system, const char* path, weft_error* error)
{
    const bsr_pattern* p = &system->pattern;
    size_t n = (size_t)p->row_count, blocks = (size_t)p->block_count;
    weftsys_header h = {
        .byte_order = BYTE_ORDER_MARK,
        .flags = (system->z ? HAS_Z : 0u) | (system->positions ? HAS_POSITIONS : 0u),
        .vertices = p->row_count,
        .blocks = p->block_count,
        .records = system->filter_count,
        .kernels = system->kernel_count,
        .tie_rows = system->tie_count,
        .tie_entries = system->tie_count > 0 ? system->tie_start[system->tie_count] : 0,
    };
    memcpy(h.magic, MAGIC, sizeof(MAGIC));
    h.size = weftsys_size(&h);
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    const char padding[8] = {0};
    whole_file_write(&file, &h, sizeof(h));
    whole_file_write(&file, p->row_start, (n + 1) * sizeof(int));
    whole_file_write(&file, p->column, blocks * sizeof(int));
    whole_file_write(&file, padding, (size_t)weftsys_index_bytes(&h) - (n + 1 + blocks) * sizeof(int));
    whole_file_write(&file, system->values, 9 * blocks * sizeof(double));
    whole_file_write(&file, system->b, n * sizeof(vec3));
    whole_file_write(&file, system->z, system->z ? n * sizeof(vec3) : 0);
    weftsys_write_records(&file, system);
    whole_file_write(&file, system->kernel, 3 * n * (size_t)system->kernel_count * sizeof(double));
    whole_file_write(&file, system->positions, system->positions ? n * sizeof(vec3) : 0);
    weftsys_write_ties(&file, &h, system);
    return whole_file_close(&file, error);
}
