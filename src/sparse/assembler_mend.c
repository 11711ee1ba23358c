// An assembler after a few of its elements have changed (sparse.h). Lists of the chunks that these touch, or touched,
// and the rows of their vertices are made anew; places of all other elements follow the rows before them. Both cost
// what they copy: no element but those is looked up.
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse.h"

typedef struct row_set
{
    int row;
    int* column; // [count]
    int count, capacity;
} row_set;

typedef struct mender
{
    assembler* a;
    const element_list* lists;
    const list_change* changes;
    int chunk_count;
    uint8_t* chunk; // [chunk_count] 1: rows of it change
    int* set_of;    // [row_count] its place in sets, -1: it stays
    row_set* sets;  // [set_count] ascending
    int set_count, set_capacity;
    assembler fresh;
} mender;

static int chunks_of(int row_count)
{
    return row_count > 0 ? (row_count - 1) / ROW_GRAIN + 1 : 0;
}

// ---- what changes

static weft_status mark_row(mender* m, int row)
{
    if (m->set_of[row] >= 0)
    {
        return WEFT_OK;
    }
    if (!mem_grow((void**)&m->sets, &m->set_capacity, m->set_count + 1, sizeof(row_set)))
    {
        return WEFT_NO_MEMORY;
    }
    m->set_of[row] = m->set_count;
    m->sets[m->set_count++] = (row_set){.row = row};
    m->chunk[row / ROW_GRAIN] = 1;
    return WEFT_OK;
}

static int compare_rows(const void* a, const void* b)
{
    return ((const row_set*)a)->row - ((const row_set*)b)->row;
}

static weft_status mark_all(mender* m)
{
    for (int g = 0; g < m->a->group_count; g++)
    {
        const list_change* c = &m->changes[g];
        int arity = m->lists[g].arity;
        for (int k = 0; k < c->count * arity; k++)
        {
            int e = c->element[k / arity];
            TRY(e < c->before ? mark_row(m, c->was[k]) : WEFT_OK);
            TRY(e < m->lists[g].count ? mark_row(m, m->lists[g].vertices[e * arity + k % arity]) : WEFT_OK);
        }
    }
    for (int i = m->a->pattern.row_count; i < m->fresh.pattern.row_count; i++)
    {
        TRY(mark_row(m, i));
    }
    qsort(m->sets, (size_t)m->set_count, sizeof(row_set), compare_rows);
    for (int k = 0; k < m->set_count; k++)
    {
        m->set_of[m->sets[k].row] = k;
    }
    return WEFT_OK;
}

// ---- lists of chunks

static bool touches(const element_list* list, int e, int chunk)
{
    bool found = false;
    for (int a = 0; a < list->arity; a++)
    {
        found = found || list->vertices[(size_t)e * (size_t)list->arity + (size_t)a] / ROW_GRAIN == chunk;
    }
    return found;
}

// Elements [from, end) of the old lists, with their places.
static int copy_elements(const assembly_group* old, assembly_group* to, int from, int end, int at)
{
    size_t pairs = (size_t)pair_count(old->list.arity), count = (size_t)(end - from);
    memcpy(to->chunk_element + at, old->chunk_element + from, count * sizeof(int));
    memcpy(to->place + pairs * (size_t)at, old->place + pairs * (size_t)from, pairs * count * sizeof(int));
    return (int)count;
}

// The first of the ascending elements [from, end) that is not below e.
static int place_at(const int* element, int from, int end, int e)
{
    while (from < end)
    {
        int middle = from + (end - from) / 2;
        element[middle] < e ? (void)(from = middle + 1) : (void)(end = middle);
    }
    return from;
}

// Kept and changed elements of one chunk, merged; places of the kept go along. Returns how many there are.
static int merge_chunk(const mender* m, int g, int chunk, int at)
{
    const assembly_group* old = &m->a->groups[g];
    assembly_group* to = &m->fresh.groups[g];
    const list_change* c = &m->changes[g];
    bool had = chunk < chunks_of(m->a->pattern.row_count);
    int from = had ? old->chunk_start[chunk] : 0, end = had ? old->chunk_start[chunk + 1] : 0, first = at;
    for (int k = 0; k < c->count; k++)
    {
        int e = c->element[k], until = place_at(old->chunk_element, from, end, e);
        at += copy_elements(old, to, from, until, at);
        from = until + (until < end && old->chunk_element[until] == e);
        if (e < m->lists[g].count && touches(&m->lists[g], e, chunk))
        {
            to->chunk_element[at++] = e;
        }
    }
    return at + copy_elements(old, to, from, end, at) - first;
}

static int copy_chunk(const mender* m, int g, int chunk, int at)
{
    const assembly_group* old = &m->a->groups[g];
    return copy_elements(old, &m->fresh.groups[g], old->chunk_start[chunk], old->chunk_start[chunk + 1], at);
}

static weft_status make_lists(mender* m, int g)
{
    const assembly_group* old = &m->a->groups[g];
    assembly_group* to = &m->fresh.groups[g];
    to->list = m->lists[g];
    int before = old->chunk_start[chunks_of(m->a->pattern.row_count)];
    size_t room = (size_t)before + (size_t)m->changes[g].count * (size_t)old->list.arity + 1;
    to->chunk_start = MEM_NEW(m->chunk_count + 1, int);
    to->chunk_element = mem_raw(room, sizeof(int));
    to->place = mem_raw(room * (size_t)pair_count(old->list.arity), sizeof(int));
    if (!to->chunk_start || !to->chunk_element || !to->place)
    {
        return WEFT_NO_MEMORY;
    }
    for (int chunk = 0, at = 0; chunk < m->chunk_count; chunk++)
    {
        at += m->chunk[chunk] ? merge_chunk(m, g, chunk, at) : copy_chunk(m, g, chunk, at);
        to->chunk_start[chunk + 1] = at;
    }
    return WEFT_OK;
}

// ---- rows

static weft_status set_add(row_set* s, int column)
{
    for (int k = 0; k < s->count; k++)
    {
        if (s->column[k] == column)
        {
            return WEFT_OK;
        }
    }
    if (!mem_grow((void**)&s->column, &s->capacity, s->count + 1, sizeof(int)))
    {
        return WEFT_NO_MEMORY;
    }
    s->column[s->count++] = column;
    return WEFT_OK;
}

static weft_status gather_rows(mender* m, int g, int chunk)
{
    const assembly_group* group = &m->fresh.groups[g];
    int arity = group->list.arity;
    for (int k = group->chunk_start[chunk]; k < group->chunk_start[chunk + 1]; k++)
    {
        const int* v = group->list.vertices + (size_t)group->chunk_element[k] * (size_t)arity;
        for (int a = 0; a < arity; a++)
        {
            int set = m->set_of[v[a]];
            for (int b = 0; b < arity && set >= 0 && v[a] / ROW_GRAIN == chunk; b++)
            {
                TRY(set_add(&m->sets[set], v[b]));
            }
        }
    }
    return WEFT_OK;
}

static int compare_ints(const void* a, const void* b)
{
    int p = *(const int*)a, q = *(const int*)b;
    return (p > q) - (p < q);
}

static weft_status make_rows(mender* m)
{
    for (int k = 0; k < m->set_count; k++)
    {
        TRY(set_add(&m->sets[k], m->sets[k].row));
    }
    for (int chunk = 0; chunk < m->chunk_count; chunk++)
    {
        for (int g = 0; g < m->a->group_count && m->chunk[chunk]; g++)
        {
            TRY(gather_rows(m, g, chunk));
        }
    }
    for (int k = 0; k < m->set_count; k++)
    {
        qsort(m->sets[k].column, (size_t)m->sets[k].count, sizeof(int), compare_ints);
    }
    return WEFT_OK;
}

// Rows up to the next one that is made anew.
static void copy_rows(const bsr_pattern* old, bsr_pattern* to, int first, int end)
{
    if (first >= end)
    {
        return;
    }
    int from = old->row_start[first], count = old->row_start[end] - from, shift = to->block_count - from;
    memcpy(to->column + to->block_count, old->column + from, (size_t)count * sizeof(int));
    for (int i = first; i < end; i++)
    {
        to->row_start[i + 1] = old->row_start[i + 1] + shift;
        to->diagonal[i] = old->diagonal[i] + shift;
    }
    to->block_count += count;
}

static weft_status make_pattern(mender* m)
{
    const bsr_pattern* old = &m->a->pattern;
    bsr_pattern* to = &m->fresh.pattern;
    size_t room = (size_t)old->block_count + 1;
    for (int k = 0; k < m->set_count; k++)
    {
        room += (size_t)m->sets[k].count;
    }
    to->row_start = MEM_NEW(to->row_count + 1, int);
    to->diagonal = MEM_NEW(to->row_count, int);
    to->column = mem_raw(room, sizeof(int));
    if (!to->row_start || !to->diagonal || !to->column || room > INT32_MAX)
    {
        return WEFT_NO_MEMORY;
    }
    int row = 0;
    for (int k = 0; k < m->set_count; k++)
    {
        const row_set* s = &m->sets[k];
        copy_rows(old, to, row, s->row);
        memcpy(to->column + to->block_count, s->column, (size_t)s->count * sizeof(int));
        to->block_count += s->count;
        row = s->row + 1;
        to->row_start[row] = to->block_count;
        to->diagonal[s->row] = bsr_pattern_find(to, s->row, s->row);
    }
    row < to->row_count ? copy_rows(old, to, row, to->row_count) : (void)0;
    return WEFT_OK;
}

// ---- places

// By how much the rows of a chunk have moved within it, in places; PLACE_NONE: what they hold is looked up.
static void find_shifts(const mender* m, int chunk, int* shift)
{
    const int *old = m->a->pattern.row_start, *to = m->fresh.pattern.row_start, first = chunk * ROW_GRAIN;
    int end = int_min(ROW_GRAIN, m->fresh.pattern.row_count - first);
    for (int k = 0; k < end; k++)
    {
        shift[k] = m->set_of[first + k] >= 0 ? PLACE_NONE
                                             : 9 * ((to[first + k] - to[first]) - (old[first + k] - old[first]));
    }
}

static void place_element(const mender* m, const assembly_group* group, int chunk, int k, const int* shift)
{
    int arity = group->list.arity;
    const int* v = group->list.vertices + (size_t)group->chunk_element[k] * (size_t)arity;
    int* place = group->place + (size_t)k * (size_t)pair_count(arity);
    for (int a = 0; a < arity; a++)
    {
        for (int b = a; b < arity; b++, place++)
        {
            int row = int_min(v[a], v[b]) - chunk * ROW_GRAIN;
            if (row < 0 || row >= ROW_GRAIN)
            {
                *place = PLACE_NONE; // another chunk's
                continue;
            }
            *place = shift[row] == PLACE_NONE ? assembly_place(&m->fresh.pattern, v, a, b, chunk) : *place + shift[row];
        }
    }
}

// Of the elements of chunks that rows of change, those of a changed row are looked up, and others follow their row.
static void make_places(const mender* m)
{
    int shift[ROW_GRAIN];
    for (int chunk = 0; chunk < m->chunk_count; chunk++)
    {
        m->chunk[chunk] ? find_shifts(m, chunk, shift) : (void)0;
        for (int g = 0; g < m->a->group_count && m->chunk[chunk]; g++)
        {
            const assembly_group* group = &m->fresh.groups[g];
            for (int k = group->chunk_start[chunk]; k < group->chunk_start[chunk + 1]; k++)
            {
                place_element(m, group, chunk, k, shift);
            }
        }
    }
}

static weft_status mend_all(mender* m, int row_count)
{
    m->chunk_count = chunks_of(row_count);
    m->chunk = MEM_NEW(m->chunk_count, uint8_t);
    m->set_of = MEM_NEW(row_count, int);
    m->fresh.groups = MEM_NEW(m->a->group_count, assembly_group);
    m->fresh.group_count = m->a->group_count;
    m->fresh.pattern.row_count = row_count;
    if (!m->chunk || !m->set_of || !m->fresh.groups)
    {
        return WEFT_NO_MEMORY;
    }
    memset(m->set_of, -1, (size_t)row_count * sizeof(int));
    TRY(mark_all(m));
    for (int g = 0; g < m->a->group_count; g++)
    {
        TRY(make_lists(m, g));
    }
    TRY(make_rows(m));
    TRY(make_pattern(m));
    make_places(m);
    m->fresh.mirror_of = assembly_mirrors(&m->fresh.pattern);
    return m->fresh.mirror_of ? WEFT_OK : WEFT_NO_MEMORY;
}

weft_status assembler_mend(assembler* a, int row_count, const element_list* lists, const list_change* changes)
{
    mender m = {.a = a, .lists = lists, .changes = changes};
    weft_status status = mend_all(&m, row_count);
    assembler drop = status == WEFT_OK ? *a : m.fresh;
    *a = status == WEFT_OK ? m.fresh : *a;
    assembler_finish(&drop);
    for (int k = 0; k < m.set_count; k++)
    {
        mem_free(m.sets[k].column);
    }
    mem_free(m.sets);
    mem_free(m.set_of);
    mem_free(m.chunk);
    return status;
}
