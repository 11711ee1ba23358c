// Components of a linear system (Boxerman's thesis, chapter 6): the graph of blocks of A that are not zero falls apart
// where connections are explicit or inactive, which leave nothing but zeros, and where vertices are held in all
// directions: those are dead ends, whose motion is known and goes to the right-hand sides of their neighbours,
//
//     b_i' = b_i - sum over held j of A_ij z_j.
//
// A block counts as zero when all its nine numbers, and those of its mirror image, are. Ties are gone by then: what
// they couple has blocks in the reduced matrix (tied.c), so that they keep components together.
#include "solve/parts/decomposed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/prefilter.h"

enum
{
    UNSEEN = -2,
    HELD = -1,
    SMALL_SHARE = 8 // a system is left whole unless more than one row in so many is outside of its largest component
};

// ---- memory

void parting_finish(parting* s)
{
    void* owned[] = {s->tree,   s->component, s->queue,     s->size,      s->part_of, s->member,   s->local,
                     s->record, s->parts,     s->keep,      s->row_start, s->column,  s->diagonal, s->values,
                     s->b,      s->z,         s->positions, s->x,         s->filter,  s->kernel};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    *s = (parting){0};
}

// Room for rows, for the search alone.
static weft_status reserve_rows(parting* s, int rows)
{
    if (rows <= s->row_capacity)
    {
        return WEFT_OK;
    }
    bool join = s->join;
    parting_finish(s);
    s->join = join;
    s->component = MEM_NEW(rows, int);
    s->queue = MEM_NEW(rows, int);
    s->tree = MEM_NEW(3 * (size_t)rows, int);
    if (!s->component || !s->queue || !s->tree)
    {
        return WEFT_NO_MEMORY;
    }
    s->row_capacity = rows;
    return WEFT_OK;
}

// Room for parts, where there are any. Numbers of rows stay; those of blocks come and go with contacts.
static weft_status reserve_parts(parting* s, int blocks)
{
    size_t rows = (size_t)s->row_capacity;
    if (!s->size)
    {
        s->part_of = MEM_NEW(rows, int);
        s->member = MEM_NEW(rows, int);
        s->local = MEM_NEW(rows, int);
        s->record = MEM_NEW(rows, int);
        s->row_start = MEM_NEW(2 * rows + 1, int);
        s->diagonal = MEM_NEW(rows, int);
        s->b = MEM_NEW(rows, vec3);
        s->z = MEM_NEW(rows, vec3);
        s->positions = MEM_NEW(rows, vec3);
        s->x = MEM_NEW(2 * rows, vec3);
        s->size = MEM_NEW(rows, int);
    }
    bool good = s->part_of && s->member && s->local && s->record && s->row_start && s->diagonal && s->b && s->z &&
                s->positions && s->x && s->size;
    if (good && blocks > s->block_capacity)
    {
        int room = blocks + blocks / 8;
        mem_free(s->keep);
        mem_free(s->column);
        mem_free(s->values);
        s->keep = mem_raw((size_t)room, 1);
        s->column = mem_raw((size_t)room, sizeof(int));
        s->values = mem_raw((size_t)room, 9 * sizeof(double));
        s->block_capacity = s->keep && s->column && s->values ? room : 0;
    }
    return good && blocks <= s->block_capacity ? WEFT_OK : WEFT_NO_MEMORY;
}

double parting_bytes(const parting* s)
{
    double rows = s->row_capacity;
    return 20.0 * rows + (s->size ? rows * (8.0 * sizeof(int) + 5.0 * sizeof(vec3)) : 0.0) + 77.0 * s->block_capacity +
           (double)s->filter_capacity * sizeof(filter_record) + (double)s->kernel_capacity * sizeof(double);
}

// ---- components

// 0 or -0 in all its places: mostly the first tells, else bits without signs.
static inline bool block_is_zero(const double* block)
{
    if (block[0] != 0.0)
    {
        return false;
    }
    uint64_t v[9];
    memcpy(v, block, sizeof(v));
    uint64_t any = (v[0] | v[1]) | (v[2] | v[3]) | (v[4] | v[5]) | (v[6] | v[7]) | v[8];
    return any << 1 == 0;
}

// A matrix from a file may be symmetric only nearly; a block counts when either of the two does.
static bool is_coupled(const linear_system* system, int slot, int i, int j)
{
    bool is = !block_is_zero(system->A.values + 9 * (size_t)slot);
    if (is || system->mirrored)
    {
        return is;
    }
    int mirror = bsr_pattern_find(system->A.pattern, j, i);
    return mirror >= 0 && !block_is_zero(system->A.values + 9 * (size_t)mirror);
}

// All that hangs together with `seed`; returns the number of rows. `left` are those not seen yet: without any there is
// nothing more to look for.
static int flood(parting* s, const linear_system* system, int seed, int number, int left)
{
    const bsr_pattern* p = system->A.pattern;
    int head = 0, tail = 0;
    s->queue[tail++] = seed;
    s->component[seed] = number;
    while (head < tail && tail < left)
    {
        int i = s->queue[head++];
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            int j = p->column[slot];
            if (s->component[j] == UNSEEN && is_coupled(system, slot, i, j))
            {
                s->component[j] = number;
                s->queue[tail++] = j;
                memcpy(s->tree + 3 * (size_t)s->tree_count++, (const int[]){i, j, slot}, 3 * sizeof(int));
            }
        }
    }
    return tail;
}

// Most systems are one component, and mostly for the same reasons as the last: as many blocks as there are rows tell
// it.
static bool is_still_one(const parting* s, const linear_system* system, int free_rows)
{
    const bsr_pattern* p = system->A.pattern;
    bool holds = s->tree_count > 0 && s->tree_count == free_rows - 1;
    for (int k = 0; k < s->tree_count && holds; k++)
    {
        int i = s->tree[3 * k], j = s->tree[3 * k + 1], slot = s->tree[3 * k + 2];
        holds = i < p->row_count && j < p->row_count && slot >= p->row_start[i] && slot < p->row_start[i + 1] &&
                p->column[slot] == j && s->component[i] == UNSEEN && s->component[j] == UNSEEN &&
                !block_is_zero(system->A.values + 9 * (size_t)slot);
    }
    return holds;
}

static void take_all(parting* s, int free_rows)
{
    s->component_count = free_rows > 0;
    s->largest = free_rows;
    for (int i = 0; i < s->row_count; i++)
    {
        s->component[i] = s->component[i] == UNSEEN ? 0 : HELD;
    }
}

weft_status parting_find(parting* s, const linear_system* system)
{
    int rows = system->A.pattern->row_count;
    TRY(reserve_rows(s, rows));
    s->row_count = rows;
    s->held_count = s->component_count = s->largest = 0;
    for (int i = 0; i < rows; i++)
    {
        s->component[i] = UNSEEN;
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        if (system->filter[k].direction_count == 3)
        {
            s->component[system->filter[k].vertex] = HELD;
            s->held_count++;
        }
    }
    int left = rows - s->held_count;
    if (s->join || is_still_one(s, system, left))
    {
        take_all(s, left);
        return WEFT_OK;
    }
    s->tree_count = 0;
    for (int i = 0; i < rows && left > 0; i++)
    {
        if (s->component[i] == UNSEEN)
        {
            int found = flood(s, system, i, s->component_count++, left);
            s->largest = int_max(s->largest, found);
            left -= found;
        }
    }
    s->tree_count = s->component_count == 1 ? s->tree_count : 0;
    return WEFT_OK;
}

bool parting_is_whole(const parting* s)
{
    return (int64_t)SMALL_SHARE * (s->row_count - s->largest) <= s->row_count;
}

// ---- parts

static int compare_parts(const void* left, const void* right)
{
    const parting_part *a = left, *b = right;
    return a->rows != b->rows ? (a->rows < b->rows) - (a->rows > b->rows)
                              : (a->number > b->number) - (a->number < b->number);
}

static weft_status list_parts(parting* s)
{
    memset(s->size, 0, (size_t)s->component_count * sizeof(int));
    for (int i = 0; i < s->row_count; i++)
    {
        if (s->component[i] >= 0)
        {
            s->size[s->component[i]]++;
        }
    }
    s->part_count = s->single_count = 0;
    for (int c = 0; c < s->component_count; c++)
    {
        s->part_count += s->size[c] > 1;
        s->single_count += s->size[c] == 1;
        s->part_of[c] = -1;
    }
    if (!mem_grow((void**)&s->parts, &s->part_capacity, s->part_count + 1, sizeof(parting_part)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int c = 0, k = 0; c < s->component_count; c++)
    {
        if (s->size[c] > 1)
        {
            s->parts[k++] = (parting_part){.number = c, .rows = s->size[c]};
        }
    }
    qsort(s->parts, (size_t)s->part_count, sizeof(parting_part), compare_parts);
    return WEFT_OK;
}

// member and local of all rows; s->size becomes where each component goes on.
static void list_members(parting* s)
{
    int at = 0;
    for (int k = 0; k < s->part_count; k++)
    {
        s->parts[k].first = at;
        s->part_of[s->parts[k].number] = k;
        s->size[s->parts[k].number] = at;
        at += s->parts[k].rows;
    }
    for (int i = 0; i < s->row_count; i++)
    {
        int c = s->component[i];
        if (c < 0)
        {
            continue;
        }
        int k = s->part_of[c], place = k >= 0 ? s->size[c]++ : at++;
        s->member[place] = i;
        s->local[i] = k >= 0 ? place - s->parts[k].first : 0;
    }
}

typedef struct parting_pass
{
    parting* s;
    const linear_system* system;
} parting_pass;

static const parting_part* part_at(const parting* s, int place, int* number)
{
    *number = s->part_of[s->component[s->member[place]]];
    return &s->parts[*number];
}

// Which blocks are in parts, and how many a row has: into the place behind the row's own in row_start.
static void count_rows(void* context, int begin, int end)
{
    const parting_pass* a = context;
    parting* s = a->s;
    const bsr_pattern* p = a->system->A.pattern;
    for (int place = begin; place < end; place++)
    {
        int number, i = s->member[place], count = 0;
        part_at(s, place, &number);
        for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
        {
            int j = p->column[slot];
            bool same = s->component[j] == s->component[i];
            bool kept = j == i || (same && (s->join || is_coupled(a->system, slot, i, j)));
            s->keep[slot] = kept;
            count += kept;
        }
        s->row_start[place + number + 1] = count;
    }
}

static void sum_rows(parting* s)
{
    int block = 0;
    for (int k = 0; k < s->part_count; k++)
    {
        parting_part* part = &s->parts[k];
        int* start = s->row_start + part->first + k;
        start[0] = 0;
        for (int row = 0; row < part->rows; row++)
        {
            start[row + 1] += start[row];
        }
        part->block_first = block;
        part->pattern = (bsr_pattern){.row_count = part->rows,
                                      .block_count = start[part->rows],
                                      .row_start = start,
                                      .column = s->column + block,
                                      .diagonal = s->diagonal + part->first};
        block += start[part->rows];
    }
}

static vec3 z_of(const linear_system* system, int i)
{
    return system->z ? system->z[i] : v3(0, 0, 0);
}

// b less what held neighbours bring.
static vec3 right_side(const parting* s, const linear_system* system, int i)
{
    const bsr_pattern* p = system->A.pattern;
    vec3 b = system->b[i];
    for (int slot = p->row_start[i]; system->z && slot < p->row_start[i + 1]; slot++)
    {
        int j = p->column[slot];
        if (s->component[j] == HELD)
        {
            b = v3_sub(b, m3_mul_v(system->A.values + 9 * (size_t)slot, system->z[j]));
        }
    }
    return b;
}

static void fill_row(const parting_pass* a, int place)
{
    const parting* s = a->s;
    const bsr_pattern* p = a->system->A.pattern;
    int number, i = s->member[place];
    const parting_part* part = part_at(s, place, &number);
    int at = part->pattern.row_start[place - part->first];
    for (int slot = p->row_start[i]; slot < p->row_start[i + 1]; slot++)
    {
        if (s->keep[slot])
        {
            int column = part->pattern.column[at] = s->local[p->column[slot]];
            memcpy(s->values + 9 * (size_t)(part->block_first + at), a->system->A.values + 9 * (size_t)slot,
                   9 * sizeof(double));
            if (column == place - part->first)
            {
                part->pattern.diagonal[column] = at;
            }
            at++;
        }
    }
    s->b[place] = right_side(s, a->system, i);
    s->z[place] = z_of(a->system, i);
    s->positions[place] = a->system->positions ? a->system->positions[i] : v3(0, 0, 0);
}

static void fill_rows(void* context, int begin, int end)
{
    for (int place = begin; place < end; place++)
    {
        fill_row(context, place);
    }
}

// Constraints of each part, by its rows; those of single rows are looked up.
static weft_status fill_filter(parting* s, const linear_system* system)
{
    if (!mem_grow((void**)&s->filter, &s->filter_capacity, system->filter_count + 1, sizeof(filter_record)))
    {
        return WEFT_NO_MEMORY;
    }
    prefilter_index(system, s->record);
    int count = 0;
    for (int k = 0; k < s->part_count; k++)
    {
        parting_part* part = &s->parts[k];
        part->filter_first = count;
        for (int row = 0; row < part->rows; row++)
        {
            int record = s->record[s->member[part->first + row]];
            if (record >= 0)
            {
                s->filter[count] = system->filter[record];
                s->filter[count++].vertex = row;
            }
        }
        part->filter_count = count - part->filter_first;
    }
    return WEFT_OK;
}

// Column after column of each part.
static weft_status fill_kernel(parting* s, const linear_system* system)
{
    size_t count = (size_t)system->kernel_count;
    if (!system->kernel || count == 0)
    {
        return WEFT_OK;
    }
    int needed = (int)(3 * (size_t)s->row_count * count);
    if (!mem_grow((void**)&s->kernel, &s->kernel_capacity, needed, sizeof(double)))
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < s->part_count; k++)
    {
        const parting_part* part = &s->parts[k];
        double* out = s->kernel + 3 * (size_t)part->first * count;
        for (size_t c = 0; c < count; c++)
        {
            const double* from = system->kernel + 3 * (size_t)s->row_count * c;
            for (int row = 0; row < part->rows; row++, out += 3)
            {
                memcpy(out, from + 3 * (size_t)s->member[part->first + row], 3 * sizeof(double));
            }
        }
    }
    return WEFT_OK;
}

static void sign_parts(void* context, int begin, int end)
{
    parting* s = ((parting_pass*)context)->s;
    for (int k = begin; k < end; k++)
    {
        parting_part* part = &s->parts[k];
        uint64_t hash = random_bits(bsr_pattern_fingerprint(&part->pattern), (uint64_t)part->rows);
        for (int row = 0; row < part->rows; row++)
        {
            hash = random_bits(hash, (uint64_t)s->member[part->first + row]);
        }
        for (int f = 0; f < part->filter_count; f++)
        {
            const filter_record* record = &s->filter[part->filter_first + f];
            hash = random_bits(hash, (uint64_t)record->vertex << 2 | (uint64_t)record->direction_count);
        }
        part->signature = hash;
    }
}

weft_status parting_extract(parting* s, const linear_system* system, workers* pool)
{
    parting_pass a = {s, system};
    TRY(reserve_parts(s, system->A.pattern->block_count));
    TRY(list_parts(s));
    list_members(s);
    int rows = s->row_count - s->held_count - s->single_count;
    parallel_for(pool, rows, ROW_GRAIN, count_rows, &a);
    sum_rows(s);
    parallel_for(pool, rows, ROW_GRAIN, fill_rows, &a);
    TRY(fill_filter(s, system));
    TRY(fill_kernel(s, system));
    parallel_for(pool, s->part_count, 1, sign_parts, &a);
    return WEFT_OK;
}

linear_system parting_system(const parting* s, const linear_system* system, int k)
{
    const parting_part* part = &s->parts[k];
    bool kernel = system->kernel && system->kernel_count > 0;
    return (linear_system){
        .A = {&part->pattern, s->values + 9 * (size_t)part->block_first},
        .b = s->b + part->first,
        .z = system->z ? s->z + part->first : NULL,
        .filter = s->filter + part->filter_first,
        .filter_count = part->filter_count,
        .positions = system->positions ? s->positions + part->first : NULL,
        .kernel = kernel ? s->kernel + 3 * (size_t)part->first * (size_t)system->kernel_count : NULL,
        .kernel_count = system->kernel_count,
        .element_vertices = system->element_vertices,
        .pattern_version = part->signature,
    };
}

vec3* parting_x(const parting* s, int k)
{
    return s->x + s->parts[k].first + k;
}

void parting_gather(const parting* s, const vec3* x)
{
    for (int k = 0; k < s->part_count; k++)
    {
        vec3* out = parting_x(s, k);
        for (int row = 0; row < s->parts[k].rows; row++)
        {
            out[row] = x[s->member[s->parts[k].first + row]];
        }
    }
}

void parting_scatter(const parting* s, const linear_system* system, vec3* x)
{
    for (int k = 0; k < s->part_count; k++)
    {
        const vec3* from = parting_x(s, k);
        for (int row = 0; row < s->parts[k].rows; row++)
        {
            x[s->member[s->parts[k].first + row]] = from[row];
        }
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        int i = system->filter[k].vertex;
        if (s->component[i] == HELD)
        {
            x[i] = z_of(system, i);
        }
    }
}

// ---- single rows

weft_status parting_single(const parting* s, const linear_system* system, int at, vec3* x, double* residual)
{
    int i = s->member[s->row_count - s->held_count - s->single_count + at], slot = system->A.pattern->diagonal[i];
    const double* block = system->A.values + 9 * (size_t)slot;
    const filter_record* record = s->record[i] >= 0 ? &system->filter[s->record[i]] : NULL;
    double buffer[9], inverse[9];
    *residual = 0.0;
    if (!m3_invert_spd(prefilter_block(system, s->record, slot, i, buffer), inverse))
    {
        return WEFT_NOT_DEFINITE;
    }
    vec3 b = right_side(s, system, i), held = v3(0, 0, 0), y = v3(0, 0, 0);
    for (int k = 0; record && k < record->direction_count; k++)
    {
        held = v3_madd(held, v3_dot(record->direction[k], z_of(system, i)), record->direction[k]);
    }
    // Refined, because an inverse is as good as the block's condition only.
    double start = 0.0;
    for (int turn = 0; turn < 4; turn++)
    {
        vec3 r = v3_sub(b, m3_mul_v(block, v3_add(held, y)));
        r = record ? m3_mul_v(record->S, r) : r;
        double length = v3_length(r);
        start = turn == 0 ? length : start;
        *residual = start > 0.0 ? length / start : 0.0;
        if (!(length > 0.0) || turn == 3)
        {
            break;
        }
        vec3 d = m3_mul_v(inverse, r);
        y = v3_add(y, record ? m3_mul_v(record->S, d) : d);
    }
    vec3 sum = v3_add(held, y);
    bool good = isfinite(start) && v3_is_finite(sum);
    x[i] = good ? sum : v3(0, 0, 0);
    return good ? WEFT_OK : WEFT_NOT_FINITE;
}
