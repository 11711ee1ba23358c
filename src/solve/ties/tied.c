// The reduced system of one with ties. Its matrix keeps the size and the blocks of A, so that every solver takes it as
// it is, with the paper's dummy unknowns (section 8) in the places of slaves; only rows near a tie differ from those
// of A. The element bound of the spectral radius does not hold for it, so multigrid estimates the radius.
#include "solve/ties/tied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BLOCK_MAX = 1 << 26 // of the reduced matrix, some 5 GB: one row that names many vertices fills it quadratically
};

static void tied_release(tied* t)
{
    bsr_pattern_finish(&t->pattern);
    mem_free(t->values);
    mem_free(t->changed);
    mem_free(t->start);
    mem_free(t->b);
    mem_free(t->y);
    mem_free(t->r);
    t->values = NULL;
    t->changed = NULL;
    t->start = t->b = t->y = t->r = NULL;
    t->row_count = 0;
}

void tied_finish(tied* t)
{
    if (t)
    {
        tied_release(t);
        null_space_finish(&t->space);
        mem_free(t);
    }
}

static weft_status tied_resize(tied* t, int rows)
{
    if (t->row_count == rows)
    {
        return WEFT_OK;
    }
    tied_release(t);
    t->changed = MEM_NEW(rows, bool);
    t->start = MEM_NEW(rows, vec3);
    t->b = MEM_NEW(rows, vec3);
    t->y = MEM_NEW(rows, vec3);
    t->r = MEM_NEW(rows, vec3);
    if (!t->changed || !t->start || !t->b || !t->y || !t->r)
    {
        return WEFT_NO_MEMORY;
    }
    t->row_count = rows;
    return WEFT_OK;
}

// ---- pattern

static int row_of(const null_space* s, int vertex)
{
    return s->index[vertex] >= 0 ? s->slave_row[s->index[vertex]] : -1;
}

// Rows of slaves, of what slaves follow, and of neighbours of slaves.
static void find_changed(tied* t, const bsr_pattern* p)
{
    const null_space* s = &t->space;
    memset(t->changed, 0, (size_t)p->row_count * sizeof(bool));
    for (int row = 0; row < s->slave_count; row++)
    {
        int i = s->member[s->slave[row]];
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            t->changed[p->column[slot]] = true;
        }
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            t->changed[s->member[s->column[k]]] = true;
        }
    }
}

// A list of the columns of a row of A'.
typedef struct column_list
{
    int* column;
    int count, capacity;
    int* mark; // [rows] 1 + the row that saw this column last
} column_list;

static bool list_add(column_list* list, int row, int column)
{
    if (list->mark[column] == row + 1)
    {
        return true;
    }
    list->mark[column] = row + 1;
    if (!mem_grow((void**)&list->column, &list->capacity, list->count + 1, sizeof(int)))
    {
        return false;
    }
    list->column[list->count++] = column;
    return true;
}

// Columns that row i of A brings to row j of A': those of A T.
static bool list_add_row(column_list* list, const tied* t, const bsr_pattern* p, int j, int i)
{
    const null_space* s = &t->space;
    bool good = true;
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1] && good; slot++)
    {
        int column = p->column[slot], row = row_of(s, column);
        if (row < 0)
        {
            good = list_add(list, j, column);
            continue;
        }
        for (int k = s->row_start[row]; k < s->row_start[row + 1] && good; k++)
        {
            good = list_add(list, j, s->member[s->column[k]]);
        }
    }
    return good;
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static bool list_row(column_list* list, const tied* t, const bsr_pattern* p, int j)
{
    const null_space* s = &t->space;
    int m = s->index[j];
    list->count = 0;
    bool good = list_add(list, j, j) && (row_of(s, j) >= 0 || list_add_row(list, t, p, j, j));
    for (int k = m >= 0 ? s->entry_start[m] : 0; m >= 0 && k < s->entry_start[m + 1] && good; k++)
    {
        good = list_add_row(list, t, p, j, s->member[s->slave[s->entry_row[k]]]);
    }
    if (good)
    {
        qsort(list->column, (size_t)list->count, sizeof(int), compare_int);
    }
    return good;
}

static weft_status fill_pattern(tied* t, const bsr_pattern* p, column_list* list)
{
    bsr_pattern* out = &t->pattern;
    int capacity = 0;
    for (int j = 0; j < p->row_count; j++)
    {
        const int* column = p->column + p->row_start[j];
        int count = p->row_start[j + 1] - p->row_start[j];
        if (t->changed[j])
        {
            if (!list_row(list, t, p, j))
            {
                return WEFT_NO_MEMORY;
            }
            column = list->column;
            count = list->count;
        }
        if (count > int_max(BLOCK_MAX, p->block_count) - out->block_count ||
            !mem_grow((void**)&out->column, &capacity, out->block_count + count, sizeof(int)))
        {
            return WEFT_NO_MEMORY;
        }
        memcpy(out->column + out->block_count, column, (size_t)count * sizeof(int));
        out->block_count += count;
        out->row_start[j + 1] = out->block_count;
        out->diagonal[j] = bsr_pattern_find(out, j, j);
    }
    return WEFT_OK;
}

static weft_status make_pattern(tied* t, const bsr_pattern* p)
{
    bsr_pattern_finish(&t->pattern);
    mem_free(t->values);
    t->values = NULL;
    t->pattern.row_count = p->row_count;
    t->pattern.row_start = MEM_NEW(p->row_count + 1, int);
    t->pattern.diagonal = MEM_NEW(p->row_count, int);
    column_list list = {.mark = MEM_NEW(p->row_count, int)};
    weft_status status = WEFT_NO_MEMORY;
    if (t->pattern.row_start && t->pattern.diagonal && list.mark)
    {
        find_changed(t, p);
        status = fill_pattern(t, p, &list);
    }
    mem_free(list.mark);
    mem_free(list.column);
    if (status == WEFT_OK)
    {
        t->values = mem_raw(9 * (size_t)t->pattern.block_count, sizeof(double));
        status = t->values ? WEFT_OK : WEFT_NO_MEMORY;
    }
    return status;
}

// ---- values

typedef struct reduction
{
    const tied* t;
    const bsr_matrix* A;
} reduction;

static void add_block(const tied* t, int j, int column, const double* block)
{
    double* out = t->values + 9 * (size_t)bsr_pattern_find(&t->pattern, j, column);
    for (int k = 0; k < 9; k++)
    {
        out[k] += block[k];
    }
}

// Row j of A' gets left^T times row i of A T; left is NULL for the identity.
static void add_row(const reduction* c, int j, int i, const double* left)
{
    const null_space* s = &c->t->space;
    const bsr_pattern* p = c->A->pattern;
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
    {
        mat3 a;
        memcpy(a.m, c->A->values + 9 * (size_t)slot, sizeof(a.m));
        if (left)
        {
            mat3 transposed = m3_transpose(left);
            a = m3_mul(transposed.m, a.m);
        }
        int row = row_of(s, p->column[slot]);
        if (row < 0)
        {
            add_block(c->t, j, p->column[slot], a.m);
            continue;
        }
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            mat3 product = m3_mul(a.m, s->block + 9 * (size_t)k);
            add_block(c->t, j, s->member[s->column[k]], product.m);
        }
    }
}

// The diagonal block: sigma in the directions of slaves, and symmetric to the bit.
static void finish_diagonal(const reduction* c, int j)
{
    const null_space* s = &c->t->space;
    double* m = c->t->values + 9 * (size_t)c->t->pattern.diagonal[j];
    if (row_of(s, j) >= 0)
    {
        const double* block = c->A->values + 9 * (size_t)c->A->pattern->diagonal[j];
        const double* S = s->filter[s->record[s->index[j]]].S;
        double sigma = (block[0] + block[4] + block[8]) / 3.0;
        for (int k = 0; k < 9; k++)
        {
            m[k] += sigma * ((k % 4 == 0 ? 1.0 : 0.0) - S[k]);
        }
    }
    m[1] = m[3] = 0.5 * (m[1] + m[3]);
    m[2] = m[6] = 0.5 * (m[2] + m[6]);
    m[5] = m[7] = 0.5 * (m[5] + m[7]);
}

static void fill_rows(void* context, int begin, int end)
{
    const reduction* c = context;
    const null_space* s = &c->t->space;
    const bsr_pattern *p = c->A->pattern, *out = &c->t->pattern;
    for (int j = begin; j < end; j++)
    {
        double* values = c->t->values + 9 * (size_t)out->row_start[j];
        size_t bytes = 9 * (size_t)(out->row_start[j + 1] - out->row_start[j]) * sizeof(double);
        if (!c->t->changed[j])
        {
            memcpy(values, c->A->values + 9 * (size_t)p->row_start[j], bytes);
            continue;
        }
        memset(values, 0, bytes);
        if (row_of(s, j) < 0)
        {
            add_row(c, j, j, NULL);
        }
        int m = s->index[j];
        for (int k = m >= 0 ? s->entry_start[m] : 0; m >= 0 && k < s->entry_start[m + 1]; k++)
        {
            add_row(c, j, s->member[s->slave[s->entry_row[k]]], s->block + 9 * (size_t)s->entry[k]);
        }
        finish_diagonal(c, j);
    }
}

// ---- right-hand side and first guess

static double length(const vec3* v, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(v[i], v[i]);
    }
    return sqrt(sum);
}

// r = b - A x
static void find_residual(const tied* t, const solve_options* options, const linear_system* system, const vec3* x,
                          vec3* r)
{
    bsr_multiply(options->pool, options->cpu, &system->A, x, r);
    for (int i = 0; i < t->row_count; i++)
    {
        r[i] = v3_sub(system->b[i], r[i]);
    }
}

static void find_start(const null_space* s, const linear_system* system, vec3* x)
{
    if (!system->z)
    {
        memset(x, 0, (size_t)s->row_count * sizeof(vec3));
        return;
    }
    memcpy(x, system->z, (size_t)s->row_count * sizeof(vec3));
    null_space_complement(s, system, x);
}

static void find_vectors(tied* t, const solve_options* options, const linear_system* system, const vec3* x)
{
    size_t bytes = (size_t)t->row_count * sizeof(vec3);
    find_start(&t->space, system, t->start);
    find_residual(t, options, system, t->start, t->b);
    memcpy(t->r, t->b, bytes);
    null_space_project(&t->space, t->r);
    t->reference = length(t->r, t->row_count);
    null_space_restrict(&t->space, t->b);
    memset(t->y, 0, bytes);
    if (memcmp(x, t->start, bytes) != 0)
    {
        memcpy(t->y, x, bytes);
        null_space_coordinates(&t->space, t->y);
    }
}

weft_status tied_reduce(tied* t, const solve_options* options, const linear_system* system, const vec3* x,
                        linear_system* out)
{
    bool same =
        t->values && t->outer_version == system->pattern_version && t->row_count == system->A.pattern->row_count;
    TRY(tied_resize(t, system->A.pattern->row_count));
    TRY(null_space_build(&t->space, system, NULL));
    if (!same || t->structure != t->space.structure)
    {
        TRY(make_pattern(t, system->A.pattern));
        t->outer_version = system->pattern_version;
        t->structure = t->space.structure;
        t->version++;
    }
    reduction c = {t, &system->A};
    parallel_for(options->pool, t->row_count, ROW_GRAIN, fill_rows, &c);
    find_vectors(t, options, system, x);
    // The top bit keeps its versions apart from those of systems without ties that the same solver takes.
    *out = *system;
    out->earlier[0] = NULL; // answers and looks are those of the system with its ties
    out->look = (solve_look){0};
    out->A = (bsr_matrix){&t->pattern, t->values};
    out->mirrored = false; // up to rounding
    out->b = t->b;
    out->z = NULL;
    out->filter = t->space.filter;
    out->filter_count = t->space.filter_count;
    out->ties = (tie_rows){0};
    out->element_vertices = 0;
    out->pattern_version = t->version | (uint64_t)1 << 63;
    return WEFT_OK;
}

void tied_expand(tied* t, const solve_options* options, const linear_system* system, vec3* x, weft_solve_stats* stats)
{
    null_space_expand(&t->space, t->y);
    for (int i = 0; i < t->row_count; i++)
    {
        t->y[i] = x[i] = v3_add(t->start[i], t->y[i]);
    }
    find_residual(t, options, system, t->y, t->r);
    null_space_project(&t->space, t->r);
    stats->residual2 = t->reference > 0.0 ? length(t->r, t->row_count) / t->reference : 0.0;
    stats->bytes += 76.0 * t->pattern.block_count + 5.0 * t->row_count * sizeof(vec3);
}

weft_status system_start(const linear_system* system, vec3* x)
{
    if (!system_has_ties(system))
    {
        filter_prescribed(system, x);
        return WEFT_OK;
    }
    null_space space = {0};
    weft_status status = null_space_build(&space, system, NULL);
    if (status == WEFT_OK)
    {
        find_start(&space, system, x);
    }
    null_space_finish(&space);
    return status;
}
