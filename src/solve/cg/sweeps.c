// Order, structure and numbers of the preconditioners that sweep (sweeps.h).
//
// Incomplete Cholesky (Meijerink and van der Vorst 1977) by blocks: with W = L D,
//
//     W_ij = M_ij - sum over k of W_ik L_jk^T,   L_ij = W_ij D_j^-1,   D_i = M_ii - sum over j of L_ij W_ij^T,
//
// k before j, in both rows. Cloth matrices are no M-matrices, so a pivot may lose its definiteness: M_ii is then taken
// as (1 + shift) M_ii everywhere (Manteuffel 1980) and the factorisation made again, with four times the shift each
// time. The shift that served is tried first the next time.
#include "solve/cg/sweeps.h"

#include <math.h>
#include <string.h>

#include "solve/prefilter.h"

enum
{
    TRIES = 8,
    LOWER_MAX = 128 // entries of a row that a factorisation looks at; a row with more leaves its others as they are
};

static const double SHIFT_FIRST = 1e-3, SHIFT_GROWTH = 4.0;
static const double WEAK = 1e4; // a pivot that is so much softer than its block in some direction is as bad as none

KERNELS_CHOICE(sweep_kernels)

// ---- memory

void sweeps_finish(sweeps* s)
{
    void* owned[] = {s->colour,       s->stamp,      s->chunk,       s->colour_start, s->lower_start,
                     s->lower_column, s->lower_slot, s->upper_start, s->upper_column, s->upper_place,
                     s->lower,        s->upper,      s->pivot};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    *s = (sweeps){0};
}

static weft_status reserve_rows(sweeps* s, int rows)
{
    if (rows <= s->row_capacity)
    {
        return WEFT_OK;
    }
    double shift = s->shift;
    sweeps_finish(s);
    int chunks = rows / SWEEP_CHUNK + 1;
    s->shift = shift;
    s->colour = MEM_NEW(chunks, int);
    s->stamp = MEM_NEW(chunks + 1, int);
    s->chunk = MEM_NEW(chunks, int);
    s->colour_start = MEM_NEW(chunks + 1, int);
    s->lower_start = MEM_NEW(rows + 1, int);
    s->upper_start = MEM_NEW(rows + 1, int);
    s->pivot = MEM_NEW(9 * (size_t)rows, double);
    if (!s->colour || !s->stamp || !s->chunk || !s->colour_start || !s->lower_start || !s->upper_start || !s->pivot)
    {
        return WEFT_NO_MEMORY;
    }
    s->row_capacity = rows;
    return WEFT_OK;
}

// Contacts come and go, so there is some to spare.
static weft_status reserve_entries(sweeps* s, int count)
{
    if (count <= s->entry_capacity)
    {
        return WEFT_OK;
    }
    void** owned[] = {(void**)&s->lower_column, (void**)&s->lower_slot, (void**)&s->upper_column,
                      (void**)&s->upper_place,  (void**)&s->lower,      (void**)&s->upper};
    s->entry_capacity = 0;
    size_t room = (size_t)count + (size_t)count / 8;
    bool good = true;
    for (int k = 0; k < 6; k++)
    {
        mem_free(*owned[k]);
        *owned[k] = mem_raw(room, k < 4 ? sizeof(int) : 9 * sizeof(double));
        good = good && *owned[k];
    }
    s->entry_capacity = good ? (int)room : 0;
    return good ? WEFT_OK : WEFT_NO_MEMORY;
}

double sweeps_bytes(const sweeps* s)
{
    return 160.0 * s->entry_capacity + 80.0 * s->row_capacity;
}

// ---- order

// The first colour that no neighbour before it has.
static int free_colour(sweeps* s, const bsr_pattern* p, int chunk)
{
    int begin = chunk * SWEEP_CHUNK, end = int_min(begin + SWEEP_CHUNK, p->row_count);
    for (int k = p->row_start[begin]; k < p->row_start[end]; k++)
    {
        int other = p->column[k] / SWEEP_CHUNK;
        if (other < chunk)
        {
            s->stamp[s->colour[other]] = chunk + 1;
        }
    }
    int colour = 0;
    while (s->stamp[colour] == chunk + 1)
    {
        colour++;
    }
    return colour;
}

static void make_order(sweeps* s, const bsr_pattern* p)
{
    s->chunk_count = (p->row_count + SWEEP_CHUNK - 1) / SWEEP_CHUNK;
    s->colour_count = 0;
    memset(s->stamp, 0, ((size_t)s->chunk_count + 1) * sizeof(int));
    for (int c = 0; c < s->chunk_count; c++)
    {
        s->colour[c] = free_colour(s, p, c);
        s->colour_count = int_max(s->colour_count, s->colour[c] + 1);
    }
    int at = 0;
    for (int colour = 0; colour < s->colour_count; colour++)
    {
        s->colour_start[colour] = at;
        for (int c = 0; c < s->chunk_count; c++)
        {
            if (s->colour[c] == colour)
            {
                s->chunk[at++] = c;
            }
        }
    }
    s->colour_start[s->colour_count] = at;
}

// Where a row stands: of two rows the one with the smaller number comes first.
static inline int64_t rank_of(const sweeps* s, int row)
{
    return (int64_t)s->colour[row / SWEEP_CHUNK] << 32 | row;
}

// ---- structure

static void count_rows(sweeps* s, const bsr_pattern* p)
{
    s->lower_start[0] = s->upper_start[0] = 0;
    for (int i = 0; i < p->row_count; i++)
    {
        int64_t rank = rank_of(s, i);
        int lower = 0;
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        {
            lower += rank_of(s, p->column[k]) < rank;
        }
        s->lower_start[i + 1] = s->lower_start[i] + lower;
        s->upper_start[i + 1] = s->upper_start[i] + p->row_start[i + 1] - p->row_start[i] - 1 - lower;
    }
}

// Columns before a row, sorted by their rank.
static void list_lower(sweeps* s, const bsr_pattern* p, int i)
{
    int64_t rank = rank_of(s, i);
    int first = s->lower_start[i], end = first;
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
    {
        int64_t other = rank_of(s, p->column[k]);
        if (other >= rank)
        {
            continue;
        }
        int at = end++;
        for (; at > first && rank_of(s, s->lower_column[at - 1]) > other; at--)
        {
            s->lower_column[at] = s->lower_column[at - 1];
            s->lower_slot[at] = s->lower_slot[at - 1];
        }
        s->lower_column[at] = p->column[k];
        s->lower_slot[at] = k;
    }
}

// The transpose of `lower`. upper_start is moved on while it is filled, and back.
static void list_upper(sweeps* s)
{
    for (int i = 0; i < s->row_count; i++)
    {
        for (int k = s->lower_start[i]; k < s->lower_start[i + 1]; k++)
        {
            int at = s->upper_start[s->lower_column[k]]++;
            s->upper_column[at] = i;
            s->upper_place[at] = k;
        }
    }
    memmove(s->upper_start + 1, s->upper_start, (size_t)s->row_count * sizeof(int));
    s->upper_start[0] = 0;
}

weft_status sweeps_analyze(sweeps* s, const linear_system* system)
{
    const bsr_pattern* p = system->A.pattern;
    TRY(reserve_rows(s, p->row_count));
    s->row_count = p->row_count;
    make_order(s, p);
    count_rows(s, p);
    TRY(reserve_entries(s, s->lower_start[p->row_count] + 1));
    for (int i = 0; i < p->row_count; i++)
    {
        list_lower(s, p, i);
    }
    list_upper(s);
    return WEFT_OK;
}

// ---- passes

typedef struct sweep_pass
{
    sweeps* s;
    const linear_system* system;
    const int* index;
    const sweep_kernels* kernels;
    const vec3* r;
    vec3* h;
    int first;    // chunk of this colour
    double shift; // of the factorisation at hand
} sweep_pass;

static void chunk_rows(const sweep_pass* a, int at, int* begin, int* end)
{
    *begin = a->s->chunk[a->first + at] * SWEEP_CHUNK;
    *end = int_min(*begin + SWEEP_CHUNK, a->s->row_count);
}

// L^T by rows, from L.
static void transpose_rows(void* context, int begin, int end)
{
    const sweeps* s = ((const sweep_pass*)context)->s;
    for (int k = s->upper_start[begin]; k < s->upper_start[end]; k++)
    {
        mat3 turned = m3_transpose(s->lower + 9 * (size_t)s->upper_place[k]);
        memcpy(s->upper + 9 * (size_t)k, turned.m, sizeof(turned.m));
    }
}

// ---- SSOR

static double invert_rows(void* context, int begin, int end)
{
    const sweep_pass* a = context;
    double bad = 0.0, buffer[9];
    for (int i = begin; i < end; i++)
    {
        int slot = a->system->A.pattern->diagonal[i];
        bad += !m3_invert_spd(prefilter_block(a->system, a->index, slot, i, buffer), a->s->pivot + 9 * (size_t)i);
    }
    return bad;
}

static void scale_rows(void* context, int begin, int end)
{
    const sweep_pass* a = context;
    const sweeps* s = a->s;
    double buffer[9];
    for (int i = begin; i < end; i++)
    {
        for (int k = s->lower_start[i]; k < s->lower_start[i + 1]; k++)
        {
            const double* block = prefilter_block(a->system, a->index, s->lower_slot[k], i, buffer);
            mat3 product = m3_mul(block, s->pivot + 9 * (size_t)s->lower_column[k]);
            memcpy(s->lower + 9 * (size_t)k, product.m, sizeof(product.m));
        }
    }
}

weft_status sweeps_factor_ssor(sweeps* s, const solve_options* options, const linear_system* system, const int* index)
{
    sweep_pass a = {.s = s, .system = system, .index = index};
    if (parallel_sum(options->pool, s->row_count, ROW_GRAIN, invert_rows, &a) > 0.0)
    {
        return WEFT_NOT_DEFINITE;
    }
    parallel_for(options->pool, s->row_count, ROW_GRAIN, scale_rows, &a);
    parallel_for(options->pool, s->row_count, ROW_GRAIN, transpose_rows, &a);
    return WEFT_OK;
}

// ---- incomplete Cholesky

// out -= a b^T
static inline void subtract_turned(double* restrict out, const double* restrict a, const double* restrict b)
{
    for (int row = 0; row < 3; row++)
    {
        for (int column = 0; column < 3; column++)
        {
            out[3 * row + column] -=
                a[3 * row] * b[3 * column] + a[3 * row + 1] * b[3 * column + 1] + a[3 * row + 2] * b[3 * column + 2];
        }
    }
}

// W_ij less what rows i and j have in common before j. `at` entries of row i are done; `work` holds their W.
static void subtract_shared(const sweeps* s, int i, int at, double (*work)[9])
{
    int first = s->lower_start[i], j = s->lower_column[first + at];
    int b = s->lower_start[j], end = s->lower_start[j + 1];
    for (int a = 0; a < at && b < end; b++)
    {
        int64_t wanted = rank_of(s, s->lower_column[b]);
        while (a < at && rank_of(s, s->lower_column[first + a]) < wanted)
        {
            a++;
        }
        if (a < at && s->lower_column[first + a] == s->lower_column[b])
        {
            subtract_turned(work[at], work[a], s->lower + 9 * (size_t)b);
        }
    }
}

// Whether D, given its inverse, has kept something of the block that it came from in all directions.
static bool pivot_stands(const double* block, const double* inverse)
{
    double trace = 0.0;
    for (int k = 0; k < 9; k++)
    {
        trace += block[k] * inverse[k]; // both are symmetric
    }
    return trace < WEAK; // false for what is not finite
}

// Row i of L and its pivot; false: the pivot broke down.
static bool factor_row(const sweep_pass* a, int i)
{
    sweeps* s = a->s;
    double work[LOWER_MAX][9], buffer[9], pivot[9];
    int first = s->lower_start[i], count = s->lower_start[i + 1] - first;
    const double* diagonal = prefilter_block(a->system, a->index, a->system->A.pattern->diagonal[i], i, buffer);
    for (int k = 0; k < 9; k++)
    {
        pivot[k] = (1.0 + a->shift) * diagonal[k];
    }
    for (int at = 0; at < count; at++)
    {
        double* L = s->lower + 9 * (size_t)(first + at);
        if (at >= LOWER_MAX)
        {
            memset(L, 0, 9 * sizeof(double)); // a row like that is not worth more
            continue;
        }
        double other[9];
        memcpy(work[at], prefilter_block(a->system, a->index, s->lower_slot[first + at], i, other), sizeof(work[at]));
        subtract_shared(s, i, at, work);
        mat3 scaled = m3_mul(work[at], s->pivot + 9 * (size_t)s->lower_column[first + at]);
        memcpy(L, scaled.m, sizeof(scaled.m));
        subtract_turned(pivot, L, work[at]);
    }
    double* out = s->pivot + 9 * (size_t)i;
    pivot[1] = pivot[3] = 0.5 * (pivot[1] + pivot[3]);
    pivot[2] = pivot[6] = 0.5 * (pivot[2] + pivot[6]);
    pivot[5] = pivot[7] = 0.5 * (pivot[5] + pivot[7]);
    return m3_invert_spd(pivot, out) && pivot_stands(diagonal, out);
}

// Breakdowns of one colour; a chunk stops at its first one.
static double factor_chunks(void* context, int from, int to)
{
    const sweep_pass* a = context;
    double broken = 0.0;
    for (int at = from; at < to; at++)
    {
        int begin, end;
        chunk_rows(a, at, &begin, &end);
        bool good = true;
        for (int i = begin; i < end && good; i++)
        {
            good = factor_row(a, i);
        }
        broken += !good;
    }
    return broken;
}

static bool factor_all(sweep_pass* a, workers* pool)
{
    const sweeps* s = a->s;
    double broken = 0.0;
    for (int colour = 0; colour < s->colour_count && broken == 0.0; colour++)
    {
        a->first = s->colour_start[colour];
        broken = parallel_sum(pool, s->colour_start[colour + 1] - a->first, 1, factor_chunks, a);
    }
    return broken == 0.0;
}

weft_status sweeps_factor_ic(sweeps* s, const solve_options* options, const linear_system* system, const int* index)
{
    sweep_pass a = {.s = s, .system = system, .index = index, .shift = s->shift};
    s->breakdowns = 0;
    for (int attempt = 0; attempt < TRIES; attempt++)
    {
        if (factor_all(&a, options->pool))
        {
            s->shift = a.shift;
            parallel_for(options->pool, s->row_count, ROW_GRAIN, transpose_rows, &a);
            return WEFT_OK;
        }
        s->breakdowns++;
        a.shift = a.shift > 0.0 ? SHIFT_GROWTH * a.shift : SHIFT_FIRST;
    }
    // What no shift helps: SSOR has no pivots that could break, unless the matrix itself is at fault.
    return sweeps_factor_ssor(s, options, system, index);
}

// ---- apply

static void forward_chunks(void* context, int from, int to)
{
    const sweep_pass* a = context;
    for (int at = from; at < to; at++)
    {
        int begin, end;
        chunk_rows(a, at, &begin, &end);
        a->kernels->forward(a->s, a->r, a->h, begin, end);
    }
}

static void backward_chunks(void* context, int from, int to)
{
    const sweep_pass* a = context;
    for (int at = from; at < to; at++)
    {
        int begin, end;
        chunk_rows(a, at, &begin, &end);
        a->kernels->backward(a->s, a->h, begin, end);
    }
}

void sweeps_apply(const sweeps* s, workers* pool, cpu_kind cpu, const vec3* r, vec3* h)
{
    sweep_pass a = {.s = (sweeps*)s, .kernels = sweep_kernels_for(cpu), .r = r, .h = h};
    for (int colour = 0; colour < s->colour_count; colour++)
    {
        a.first = s->colour_start[colour];
        parallel_for(pool, s->colour_start[colour + 1] - a.first, 1, forward_chunks, &a);
    }
    for (int colour = s->colour_count - 1; colour >= 0; colour--)
    {
        a.first = s->colour_start[colour];
        parallel_for(pool, s->colour_start[colour + 1] - a.first, 1, backward_chunks, &a);
    }
}
