// Linear systems from arrays: copied, sorted, checked. A matrix that passes has finite symmetric values and a positive
// diagonal, so that solvers need not ask again.
#include "solve/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ASYMMETRY = 1e-9; // of sqrt(a_ii a_jj), which bounds a_ij in a positive definite matrix

linear_system system_view(const weft_system* system, uint64_t pattern_version)
{
    return (linear_system){
        .A = {&system->pattern, system->values},
        .b = system->b,
        .z = system->z,
        .filter = system->filter,
        .filter_count = system->filter_count,
        .ties = {system->tie_count, system->tie_start, system->tie_unknown, system->tie_value},
        .positions = system->positions,
        .kernel = system->kernel,
        .kernel_count = system->kernel_count,
        .element_vertices = system->element_vertices,
        .pattern_version = pattern_version,
    };
}

void weft_system_destroy(weft_system* system)
{
    if (!system)
    {
        return;
    }
    bsr_pattern_finish(&system->pattern);
    mem_free(system->values);
    mem_free(system->b);
    mem_free(system->z);
    mem_free(system->filter);
    mem_free(system->tie_start);
    mem_free(system->tie_unknown);
    mem_free(system->tie_value);
    mem_free(system->kernel);
    mem_free(system->positions);
    mem_free(system);
}

int weft_system_vertex_count(const weft_system* system)
{
    WEFT_ASSERT(system);
    return system->pattern.row_count;
}

int weft_system_tie_count(const weft_system* system)
{
    WEFT_ASSERT(system);
    return system->tie_count;
}

static bool row_is_sorted(const int* column, int count)
{
    for (int k = 1; k < count; k++)
    {
        if (column[k - 1] >= column[k])
        {
            return false;
        }
    }
    return true;
}

typedef struct column_slot
{
    int column, slot;
} column_slot;

static int compare_column(const void* a, const void* b)
{
    int x = ((const column_slot*)a)->column, y = ((const column_slot*)b)->column;
    return (x > y) - (x < y);
}

// Sorts one row through a copy; false without memory.
static bool row_sort(int* column, double* values, int count)
{
    column_slot* order = MEM_NEW(count, column_slot);
    double* copy = MEM_NEW(9 * (size_t)count, double);
    bool done = order && copy;
    if (done)
    {
        memcpy(copy, values, 9 * (size_t)count * sizeof(double));
        for (int k = 0; k < count; k++)
        {
            order[k] = (column_slot){column[k], k};
        }
        qsort(order, (size_t)count, sizeof(*order), compare_column);
        for (int k = 0; k < count; k++)
        {
            column[k] = order[k].column;
            memcpy(values + 9 * (size_t)k, copy + 9 * (size_t)order[k].slot, 9 * sizeof(double));
        }
    }
    mem_free(order);
    mem_free(copy);
    return done;
}

weft_status system_sort_rows(weft_system* system, int* duplicate)
{
    bsr_pattern* p = &system->pattern;
    *duplicate = -1;
    mem_free(p->diagonal);
    p->diagonal = MEM_NEW(p->row_count, int);
    if (!p->diagonal)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < p->row_count; i++)
    {
        int* column = p->column + p->row_start[i];
        int count = p->row_start[i + 1] - p->row_start[i];
        if (!row_is_sorted(column, count))
        {
            if (!row_sort(column, system->values + 9 * (size_t)p->row_start[i], count))
            {
                return WEFT_NO_MEMORY;
            }
            if (!row_is_sorted(column, count))
            {
                *duplicate = i;
                return WEFT_BAD_INPUT;
            }
        }
        p->diagonal[i] = bsr_pattern_find(p, i, i);
    }
    return WEFT_OK;
}

weft_status system_default_b(weft_system* system)
{
    if (system->b)
    {
        return WEFT_OK;
    }
    system->b = MEM_NEW(system->pattern.row_count, vec3);
    if (!system->b)
    {
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < system->pattern.row_count; i++)
    {
        system->b[i] = v3(1.0, 1.0, 1.0);
    }
    return WEFT_OK;
}

weft_status system_set_filter(weft_system* system, const double* S, int* bad)
{
    *bad = -1;
    int capacity = 0;
    for (int i = 0; i < system->pattern.row_count; i++)
    {
        filter_record record;
        if (!filter_record_from_projection(i, S + 9 * (size_t)i, &record))
        {
            *bad = i;
            return WEFT_BAD_INPUT;
        }
        if (record.direction_count == 0)
        {
            continue;
        }
        if (!mem_grow((void**)&system->filter, &capacity, system->filter_count + 1, sizeof(filter_record)))
        {
            return WEFT_NO_MEMORY;
        }
        system->filter[system->filter_count++] = record;
    }
    return WEFT_OK;
}

typedef struct tie_entry
{
    int unknown;
    double value;
} tie_entry;

static int compare_tie(const void* a, const void* b)
{
    int x = ((const tie_entry*)a)->unknown, y = ((const tie_entry*)b)->unknown;
    return (x > y) - (x < y);
}

// Sorts one row of ties through a copy; false without memory.
static bool sort_ties(int* unknown, double* value, int count)
{
    if (row_is_sorted(unknown, count))
    {
        return true;
    }
    tie_entry* copy = MEM_NEW(count, tie_entry);
    if (!copy)
    {
        return false;
    }
    for (int k = 0; k < count; k++)
    {
        copy[k] = (tie_entry){unknown[k], value[k]};
    }
    qsort(copy, (size_t)count, sizeof(*copy), compare_tie);
    for (int k = 0; k < count; k++)
    {
        unknown[k] = copy[k].unknown;
        value[k] = copy[k].value;
    }
    mem_free(copy);
    return true;
}

weft_status system_set_ties(weft_system* system, int count, const int* start, const int* unknown, const double* value,
                            int64_t* bad)
{
    *bad = -1;
    size_t entries = (size_t)start[count];
    system->tie_start = MEM_NEW(count + 1, int);
    system->tie_unknown = MEM_NEW(entries, int);
    system->tie_value = MEM_NEW(entries, double);
    if (!system->tie_start || !system->tie_unknown || !system->tie_value)
    {
        return WEFT_NO_MEMORY;
    }
    system->tie_count = count;
    memcpy(system->tie_start, start, ((size_t)count + 1) * sizeof(int));
    for (size_t k = 0; k < entries; k++)
    {
        system->tie_unknown[k] = unknown[k];
        system->tie_value[k] = value[k];
        if (unknown[k] < 0 || unknown[k] / 3 >= system->pattern.row_count || !isfinite(value[k]))
        {
            *bad = (int64_t)k;
            return WEFT_BAD_INPUT;
        }
    }
    for (int r = 0; r < count; r++)
    {
        int* row = system->tie_unknown + start[r];
        int length = start[r + 1] - start[r];
        if (!sort_ties(row, system->tie_value + start[r], length))
        {
            return WEFT_NO_MEMORY;
        }
        for (int k = 1; k < length; k++)
        {
            if (row[k - 1] == row[k])
            {
                *bad = start[r] + k;
                return WEFT_BAD_INPUT;
            }
        }
    }
    return WEFT_OK;
}

static system_fault fault_at(system_fault_kind kind, int row, int column, double value, double mirror)
{
    return (system_fault){kind, row, column, value, mirror};
}

static system_fault diagonal_find_fault(const weft_system* system, int vertex)
{
    int slot = system->pattern.diagonal[vertex];
    for (int d = 0; d < 3; d++)
    {
        double value = slot >= 0 ? system->values[9 * (size_t)slot + 4 * (size_t)d] : 0.0;
        if (!(value > 0.0) || !isfinite(value))
        {
            bool finite = isfinite(value);
            return fault_at(finite ? FAULT_DIAGONAL : FAULT_NOT_FINITE, 3 * vertex + d, 3 * vertex + d, value, value);
        }
    }
    return (system_fault){0};
}

// Block (i, slot) against its mirror image; every pair is looked at from both sides, so a missing image is found too.
static system_fault block_find_fault(const weft_system* system, int i, int slot)
{
    const bsr_pattern* p = &system->pattern;
    int j = p->column[slot];
    int image = bsr_pattern_find(p, j, i);
    const double* block = system->values + 9 * (size_t)slot;
    const double* mirror = image >= 0 ? system->values + 9 * (size_t)image : NULL;
    const double* row_diagonal = system->values + 9 * (size_t)p->diagonal[i];
    const double* column_diagonal = system->values + 9 * (size_t)p->diagonal[j];
    for (int a = 0; a < 3; a++)
    {
        for (int b = 0; b < 3; b++)
        {
            double value = block[3 * a + b], other = mirror ? mirror[3 * b + a] : 0.0;
            if (!isfinite(value))
            {
                return fault_at(FAULT_NOT_FINITE, 3 * i + a, 3 * j + b, value, other);
            }
            double scale = sqrt(row_diagonal[4 * a]) * sqrt(column_diagonal[4 * b]);
            if (!(fabs(value - other) <= ASYMMETRY * scale) && isfinite(other))
            {
                return fault_at(FAULT_ASYMMETRIC, 3 * i + a, 3 * j + b, value, other);
            }
        }
    }
    return (system_fault){0};
}

static void drop_lopsided(weft_system* system)
{
    bsr_pattern* p = &system->pattern;
    bool all = true;
    for (int i = 0; i < p->row_count && all; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1] && all; slot++)
        {
            all = bsr_pattern_find(p, p->column[slot], i) >= 0;
        }
    }
    // Blocks to drop are marked first: looking for images needs the whole pattern.
    for (int i = 0; i < p->row_count && !all; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            system->values[9 * (size_t)slot] =
                bsr_pattern_find(p, p->column[slot], i) >= 0 ? system->values[9 * (size_t)slot] : NAN;
        }
    }
    int kept = 0, begin = 0;
    for (int i = 0; i < p->row_count && !all; i++)
    {
        int end = p->row_start[i + 1];
        for (int slot = begin; slot < end; slot++)
        {
            if (!isnan(system->values[9 * (size_t)slot]))
            {
                p->column[kept] = p->column[slot];
                memmove(system->values + 9 * (size_t)kept, system->values + 9 * (size_t)slot, 9 * sizeof(double));
                p->diagonal[i] = p->column[kept] == i ? kept : p->diagonal[i];
                kept++;
            }
        }
        begin = end;
        p->row_start[i + 1] = kept;
    }
    p->block_count = all ? p->block_count : kept;
}

system_fault system_check_matrix(weft_system* system)
{
    const bsr_pattern* p = &system->pattern;
    for (int i = 0; i < p->row_count; i++)
    {
        system_fault fault = diagonal_find_fault(system, i);
        if (fault.kind != FAULT_NONE)
        {
            return fault;
        }
    }
    for (int i = 0; i < p->row_count; i++)
    {
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            system_fault fault = block_find_fault(system, i, slot);
            if (fault.kind != FAULT_NONE)
            {
                return fault;
            }
        }
    }
    drop_lopsided(system);
    return (system_fault){0};
}

weft_status system_fault_report(const system_fault* fault, const char* file, int line, weft_error* error)
{
    int row = fault->row + 1, column = fault->column + 1;
    switch (fault->kind)
    {
    case FAULT_NONE:
        return WEFT_OK;
    case FAULT_NOT_FINITE:
        return error_set(error, WEFT_BAD_INPUT, file, line,
                         "entry (%d, %d) of the matrix is %g; all values must be finite", row, column, fault->value);
    case FAULT_DIAGONAL:
        return error_set(error, WEFT_BAD_INPUT, file, line,
                         "the diagonal of row %d is %g; a positive definite matrix has positive diagonals only: "
                         "give a vertex without mass a mass, or leave it out",
                         row, fault->value);
    case FAULT_ASYMMETRIC:
        break;
    }
    return error_set(error, WEFT_BAD_INPUT, file, line,
                     "the matrix is not symmetric: entry (%d, %d) is %.17g but (%d, %d) is %.17g; symmetrise it first",
                     row, column, fault->value, column, row, fault->mirror);
}

int64_t system_find_not_finite(const double* values, size_t count)
{
    for (size_t k = 0; k < count; k++)
    {
        if (!isfinite(values[k]))
        {
            return (int64_t)k;
        }
    }
    return -1;
}

static weft_status def_check_pattern(const weft_system_def* def, weft_error* error)
{
    int n = def->vertex_count;
    if (def->element_vertices < 0 || def->kernel_count < 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                         "element_vertices is %d and kernel_count %d; none may be negative", def->element_vertices,
                         def->kernel_count);
    }
    if (def->row_start[0] != 0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "row_start[0] is %d; it must be 0", def->row_start[0]);
    }
    for (int i = 0; i < n; i++) // all of them first: `column` is as long as the last says
    {
        if (def->row_start[i + 1] < def->row_start[i])
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "row_start decreases at row %d; it must not", i);
        }
    }
    for (int i = 0; i < n; i++)
    {
        for (int slot = def->row_start[i]; slot < def->row_start[i + 1]; slot++)
        {
            if (def->column[slot] < 0 || def->column[slot] >= n)
            {
                return error_set(error, WEFT_BAD_INPUT, NULL, 0, "row %d names column %d; columns go from 0 to %d", i,
                                 def->column[slot], n - 1);
            }
        }
    }
    return WEFT_OK;
}

// A copy of `count` items; NULL in gives NULL out and is fine.
static bool copy_array(const void* from, size_t count, size_t size, void** out)
{
    *out = NULL;
    if (!from)
    {
        return true;
    }
    *out = mem_alloc(count, size);
    if (*out)
    {
        memcpy(*out, from, count * size);
    }
    return *out != NULL;
}

static bool def_copy(const weft_system_def* def, weft_system* s)
{
    size_t n = (size_t)def->vertex_count;
    size_t blocks = (size_t)def->row_start[n];
    s->pattern.row_count = def->vertex_count;
    s->pattern.block_count = (int)blocks;
    s->kernel_count = def->kernel ? def->kernel_count : 0;
    s->element_vertices = def->element_vertices;
    return copy_array(def->row_start, n + 1, sizeof(int), (void**)&s->pattern.row_start) &&
           copy_array(def->column, blocks, sizeof(int), (void**)&s->pattern.column) &&
           copy_array(def->values, 9 * blocks, sizeof(double), (void**)&s->values) &&
           copy_array(def->b, n, sizeof(vec3), (void**)&s->b) && copy_array(def->z, n, sizeof(vec3), (void**)&s->z) &&
           copy_array(def->positions, n, sizeof(vec3), (void**)&s->positions) &&
           copy_array(s->kernel_count > 0 ? def->kernel : NULL, 3 * n * (size_t)s->kernel_count, sizeof(double),
                      (void**)&s->kernel);
}

static weft_status def_check_vectors(const weft_system* s, weft_error* error)
{
    size_t n = 3 * (size_t)s->pattern.row_count;
    const struct
    {
        const char* name;
        const double* values;
        size_t count;
    } vectors[] = {{"b", &s->b->x, n},
                   {"z", s->z ? &s->z->x : NULL, n},
                   {"positions", s->positions ? &s->positions->x : NULL, n},
                   {"kernel", s->kernel, n * (size_t)s->kernel_count}};
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); k++)
    {
        int64_t bad = vectors[k].values ? system_find_not_finite(vectors[k].values, vectors[k].count) : -1;
        if (bad >= 0)
        {
            return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s holds %g at index %lld; all values must be finite",
                             vectors[k].name, vectors[k].values[bad], (long long)bad);
        }
    }
    return WEFT_OK;
}

static weft_status def_set_ties(const weft_system_def* def, weft_system* s, weft_error* error)
{
    if (!def->tie_start || def->tie_count <= 0)
    {
        return def->tie_count < 0 ? error_set(error, WEFT_BAD_INPUT, NULL, 0,
                                              "tie_count is %d; it must not be negative", def->tie_count)
                                  : WEFT_OK;
    }
    bool increases = def->tie_start[0] == 0;
    for (int r = 0; r < def->tie_count && increases; r++)
    {
        increases = def->tie_start[r] <= def->tie_start[r + 1];
    }
    if (!increases)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "tie_start must begin with 0 and not decrease");
    }
    int64_t bad;
    weft_status status = system_set_ties(s, def->tie_count, def->tie_start, def->tie_unknown, def->tie_value, &bad);
    return status == WEFT_OK
               ? WEFT_OK
               : error_set(error, status, NULL, 0,
                           bad >= 0 ? "entry %lld of the ties is wrong: unknowns go from 0 to 3 n - 1, none twice in a "
                                      "row, and values must be finite"
                                    : "no memory for the ties (%lld)",
                           (long long)bad);
}

static weft_status system_build(const weft_system_def* def, weft_system* s, weft_error* error)
{
    TRY(def_check_pattern(def, error));
    if (!def_copy(def, s) || system_default_b(s) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory for a system of %d vertices", def->vertex_count);
    }
    int bad;
    weft_status status = system_sort_rows(s, &bad);
    if (status != WEFT_OK)
    {
        return error_set(error, status, NULL, 0, bad >= 0 ? "row %d names a column twice" : "no memory to sort rows",
                         bad);
    }
    system_fault fault = system_check_matrix(s);
    TRY(system_fault_report(&fault, NULL, 0, error));
    TRY(def_check_vectors(s, error));
    TRY(def_set_ties(def, s, error));
    if (def->filter)
    {
        status = system_set_filter(s, def->filter, &bad);
        if (status != WEFT_OK)
        {
            return error_set(error, status, NULL, 0,
                             bad >= 0 ? "filter block %d is no orthogonal projection: S = S^T = S S must hold to 1e-6"
                                      : "no memory for the filter",
                             bad);
        }
    }
    return WEFT_OK;
}

weft_status weft_system_create(const weft_system_def* def, weft_system** out, weft_error* error)
{
    WEFT_ASSERT(def && out && def->row_start && (def->column || def->vertex_count == 0));
    WEFT_ASSERT(def->values || def->vertex_count == 0);
    *out = NULL;
    if (def->vertex_count < 1 || def->vertex_count > INT32_MAX / 3)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "a system of %d vertices: there must be 1 to %d",
                         def->vertex_count, INT32_MAX / 3);
    }
    weft_system* system = MEM_NEW(1, weft_system);
    if (!system)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory");
    }
    weft_status status = system_build(def, system, error);
    if (status != WEFT_OK)
    {
        weft_system_destroy(system);
        return status;
    }
    *out = system;
    return WEFT_OK;
}
