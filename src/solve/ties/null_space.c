// A sparse basis of the null space of filters and ties, by elimination.
//
// The SA paper (section 8) asks for the orthogonal projection S onto the null space and leaves open how ties that span
// vertices are projected. An orthonormal basis of the rows of a group of ties is dense: a patch that is sewn on along
// 400 vertices is one group of some 1000, and S A S then couples each of them, and each of their neighbours, with all
// the others. Instead each independent row is solved for one of its unknowns, as one eliminates it by hand: the tied
// vertex follows the corners of its face. T^T A T has new blocks only where a slave's neighbours meet its masters,
// however many ties hang together, and it is the matrix V^T A V of the paper's equation (6) in another basis V of the
// same space: the solution of the constrained problem does not depend on the basis.
//
// Rows are taken in their order. What earlier rows decided is put in; what is left decides whether the row is
// independent. The pivot is the unknown that the fewest rows name among those that are not small: that keeps T sparse
// and its entries of the size of 1. Vertices with a filter count in a frame of their own, in which filtered directions
// are known and drop out. Serial, in a fixed order: ties are few.
#include "solve/ties/null_space.h"

#include <stdlib.h>
#include <string.h>

// Of a row, relative to its largest entry: what counts as nothing left. Edges of a patch over edges of a sheet leave one
// rounding in 1e8 of rows that say nothing new, and 1e-3 of those that do; taken for news it turned two sheets in free
// fall at 3 m/s.
static const double DEPENDENT = 1e-5;
static const double NEGLIGIBLE = 1e-15;   // likewise of an entry
static const double PIVOT_AT_LEAST = 0.3; // of the largest entry of the row

struct tie_expression
{
    int coordinate; // the slave
    int first, count;
    double constant;
};

typedef struct frame
{
    int held; // so many axes are filtered
    vec3 axis[3];
} frame;

typedef struct elimination
{
    null_space* s;
    const linear_system* system;
    const double* rhs;
    frame* frames;  // [member_count]
    int* uses;      // [3 * member_count] rows that name the coordinate
    int* solved_by; // [3 * member_count] expression of the coordinate, -1: none

    // The row at work: its values, those that are listed, and its right-hand side.
    double* value; // [3 * member_count] zero where not listed
    bool* listed;
    int* list;
    int list_count;
    double constant;

    int expression_count, term_count;
} elimination;

// ---- members and frames

static double component(vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

static frame frame_of(const filter_record* record)
{
    frame f = {0, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (!record)
    {
        return f;
    }
    f.held = record->direction_count;
    vec3 a = f.axis[0] = record->direction[0];
    if (f.held == 1)
    {
        // The axis that is least along a gives the second.
        double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
        vec3 other = x <= y && x <= z ? v3(1, 0, 0) : y <= z ? v3(0, 1, 0) : v3(0, 0, 1);
        f.axis[1] = v3_normalize(v3_cross(a, other));
    }
    else
    {
        f.axis[1] = record->direction[1];
    }
    f.axis[2] = v3_normalize(v3_cross(a, f.axis[1]));
    return f;
}

static bool find_members(null_space* s, const linear_system* system)
{
    const tie_rows* ties = &system->ties;
    s->row_count = system->A.pattern->row_count;
    s->index = ARENA_NEW(&s->memory, s->row_count, int);
    if (!s->index)
    {
        return false;
    }
    for (int i = 0; i < s->row_count; i++)
    {
        s->index[i] = -1;
    }
    s->member_count = 0;
    for (int k = 0; k < ties->start[ties->count]; k++)
    {
        int vertex = ties->unknown[k] / 3;
        s->member_count += s->index[vertex] < 0;
        s->index[vertex] = 0;
    }
    s->member = ARENA_NEW(&s->memory, s->member_count, int);
    s->record = ARENA_NEW(&s->memory, s->member_count, int);
    s->slave_row = ARENA_NEW(&s->memory, s->member_count, int);
    s->entry_start = ARENA_NEW(&s->memory, s->member_count + 1, int);
    if (!s->member || !s->record || !s->slave_row || !s->entry_start)
    {
        return false;
    }
    for (int i = 0, next = 0; i < s->row_count; i++)
    {
        if (s->index[i] == 0)
        {
            s->index[i] = next;
            s->member[next++] = i;
        }
    }
    return true;
}

static bool elimination_begin(elimination* e)
{
    null_space* s = e->s;
    arena* memory = &s->memory;
    size_t count = (size_t)s->member_count, coordinates = 3 * count;
    e->frames = ARENA_NEW(memory, count, frame);
    e->uses = ARENA_NEW(memory, coordinates, int);
    e->solved_by = ARENA_NEW(memory, coordinates, int);
    e->value = ARENA_NEW(memory, coordinates, double);
    e->listed = ARENA_NEW(memory, coordinates, bool);
    e->list = ARENA_NEW(memory, coordinates, int);
    bool good = e->frames && e->uses && e->solved_by && e->value && e->listed && e->list;
    for (int k = 0; good && k < 6; k++)
    {
        s->work[k] = ARENA_NEW(memory, count, vec3);
        good = s->work[k] != NULL;
    }
    if (!good)
    {
        return false;
    }
    for (size_t k = 0; k < coordinates; k++)
    {
        e->uses[k] = 0;
        e->solved_by[k] = -1;
        e->value[k] = 0.0;
        e->listed[k] = false;
    }
    int next = 0;
    for (int m = 0; m < s->member_count; m++)
    {
        const linear_system* system = e->system;
        while (next < system->filter_count && system->filter[next].vertex < s->member[m])
        {
            next++;
        }
        bool held = next < system->filter_count && system->filter[next].vertex == s->member[m];
        e->frames[m] = frame_of(held ? &system->filter[next] : NULL);
    }
    return true;
}

// ---- one row

static void row_add(elimination* e, int coordinate, double value)
{
    if (!e->listed[coordinate])
    {
        e->listed[coordinate] = true;
        e->list[e->list_count++] = coordinate;
    }
    e->value[coordinate] += value;
}

static void row_clear(elimination* e)
{
    for (int k = 0; k < e->list_count; k++)
    {
        e->value[e->list[k]] = 0.0;
        e->listed[e->list[k]] = false;
    }
    e->list_count = 0;
    e->constant = 0.0;
}

// Row r of J in the frames, filtered directions moved to the right-hand side; returns its largest entry as given.
static double row_load(elimination* e, int r)
{
    const tie_rows* ties = &e->system->ties;
    double largest = 0.0;
    e->constant = e->rhs ? e->rhs[r] : 0.0;
    for (int k = ties->start[r]; k < ties->start[r + 1]; k++)
    {
        int vertex = ties->unknown[k] / 3, axis = ties->unknown[k] % 3;
        int m = e->s->index[vertex];
        const frame* f = &e->frames[m];
        largest = fmax(largest, fabs(ties->value[k]));
        for (int a = 0; a < 3; a++)
        {
            double value = component(f->axis[a], axis) * ties->value[k];
            if (value == 0.0)
            {
                continue;
            }
            if (a >= f->held)
            {
                row_add(e, 3 * m + a, value);
            }
            else if (e->rhs && e->system->z)
            {
                e->constant -= value * v3_dot(f->axis[a], e->system->z[vertex]);
            }
        }
    }
    return largest;
}

// Puts in what expressions say of the unknowns they solve for. One can bring in an unknown that a later one solves
// for, so this is repeated until there is none.
static void row_substitute(elimination* e)
{
    for (bool found = true; found;)
    {
        found = false;
        for (int k = 0; k < e->list_count; k++)
        {
            int coordinate = e->list[k];
            double value = e->value[coordinate];
            if (value == 0.0 || e->solved_by[coordinate] < 0)
            {
                continue;
            }
            found = true;
            const tie_expression* x = &e->s->expressions[e->solved_by[coordinate]];
            e->value[coordinate] = 0.0;
            for (int t = x->first; t < x->first + x->count; t++)
            {
                row_add(e, e->s->terms[t].coordinate, value * e->s->terms[t].factor);
            }
            e->constant -= value * x->constant;
        }
    }
}

static double row_largest(const elimination* e)
{
    double largest = 0.0;
    for (int k = 0; k < e->list_count; k++)
    {
        largest = fmax(largest, fabs(e->value[e->list[k]]));
    }
    return largest;
}

// Fewest uses, then largest, then first.
static int row_pivot(const elimination* e, double largest)
{
    int best = -1;
    for (int k = 0; k < e->list_count; k++)
    {
        int c = e->list[k];
        double size = fabs(e->value[c]);
        if (size < PIVOT_AT_LEAST * largest)
        {
            continue;
        }
        double best_size = best >= 0 ? fabs(e->value[best]) : 0.0;
        bool better = best < 0 || e->uses[c] < e->uses[best] ||
                      (e->uses[c] == e->uses[best] && (size > best_size || (size == best_size && c < best)));
        best = better ? c : best;
    }
    return best;
}

static int compare_term(const void* a, const void* b)
{
    int x = ((const tie_term*)a)->coordinate, y = ((const tie_term*)b)->coordinate;
    return (x > y) - (x < y);
}

// The row at work, times `scale` and without `pivot`, as the terms of an expression.
static bool row_store(elimination* e, tie_expression* x, int pivot, double scale, double least)
{
    null_space* s = e->s;
    x->first = e->term_count;
    for (int k = 0; k < e->list_count; k++)
    {
        int c = e->list[k];
        if (c == pivot || !(fabs(e->value[c]) > least))
        {
            continue;
        }
        if (!mem_grow((void**)&s->terms, &s->term_capacity, e->term_count + 1, sizeof(tie_term)))
        {
            return false;
        }
        s->terms[e->term_count++] = (tie_term){c, scale * e->value[c]};
    }
    x->count = e->term_count - x->first;
    if (x->count > 0)
    {
        qsort(s->terms + x->first, (size_t)x->count, sizeof(tie_term), compare_term);
    }
    return true;
}

// ---- elimination

static void count_uses(elimination* e)
{
    for (int r = 0; r < e->system->ties.count; r++)
    {
        row_load(e, r);
        for (int k = 0; k < e->list_count; k++)
        {
            e->uses[e->list[k]]++;
        }
        row_clear(e);
    }
}

static bool solve_row(elimination* e, int r)
{
    null_space* s = e->s;
    double given = row_load(e, r);
    row_substitute(e);
    double largest = row_largest(e);
    bool good = true;
    if (largest > DEPENDENT * given)
    {
        int pivot = row_pivot(e, largest);
        good =
            mem_grow((void**)&s->expressions, &s->expression_capacity, e->expression_count + 1, sizeof(tie_expression));
        if (good)
        {
            double scale = -1.0 / e->value[pivot];
            tie_expression* x = &s->expressions[e->expression_count];
            *x = (tie_expression){.coordinate = pivot, .constant = -scale * e->constant};
            good = row_store(e, x, pivot, scale, NEGLIGIBLE * largest);
            e->solved_by[pivot] = e->expression_count++;
        }
    }
    row_clear(e);
    return good;
}

// Expressions name unknowns that later ones solve for. Backwards, so that what is put in is final.
static bool finish_expressions(elimination* e)
{
    bool good = true;
    for (int k = e->expression_count - 1; k >= 0 && good; k--)
    {
        tie_expression* x = &e->s->expressions[k];
        bool final = true;
        for (int t = x->first; t < x->first + x->count; t++)
        {
            row_add(e, e->s->terms[t].coordinate, e->s->terms[t].factor);
            final = final && e->solved_by[e->s->terms[t].coordinate] < 0;
        }
        if (!final)
        {
            e->constant = -x->constant;
            row_substitute(e);
            x->constant = -e->constant;
            good = row_store(e, x, -1, 1.0, NEGLIGIBLE * row_largest(e));
        }
        row_clear(e);
    }
    return good;
}

static bool eliminate(elimination* e)
{
    bool good = true;
    count_uses(e);
    for (int r = 0; r < e->system->ties.count && good; r++)
    {
        good = solve_row(e, r);
    }
    return good && finish_expressions(e);
}

// ---- T and the filter of y

static bool is_slave(const elimination* e, int m)
{
    const int* by = e->solved_by + 3 * (size_t)m;
    return by[0] >= 0 || by[1] >= 0 || by[2] >= 0;
}

// Whether a direction of member m is left to it.
static bool is_master(const elimination* e, int m)
{
    for (int a = e->frames[m].held; a < 3; a++)
    {
        if (e->solved_by[3 * m + a] < 0)
        {
            return true;
        }
    }
    return false;
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Lists in e->list the members that row m of T names, sorted; returns their number.
static int list_columns(elimination* e, int m)
{
    int count = 0;
    if (is_master(e, m))
    {
        e->listed[m] = true;
        e->list[count++] = m;
    }
    for (int a = 0; a < 3; a++)
    {
        int by = e->solved_by[3 * m + a];
        const tie_expression* x = by >= 0 ? &e->s->expressions[by] : NULL;
        for (int t = 0; x && t < x->count; t++)
        {
            int column = e->s->terms[x->first + t].coordinate / 3;
            if (!e->listed[column])
            {
                e->listed[column] = true;
                e->list[count++] = column;
            }
        }
    }
    for (int k = 0; k < count; k++)
    {
        e->listed[e->list[k]] = false;
    }
    qsort(e->list, (size_t)count, sizeof(int), compare_int);
    return count;
}

static void add_outer(double* block, double factor, vec3 a, vec3 b)
{
    mat3 outer = m3_outer(a, b);
    for (int k = 0; k < 9; k++)
    {
        block[k] += factor * outer.m[k];
    }
}

static int find_column(const null_space* s, int row, int member)
{
    const int* begin = s->column + s->row_start[row];
    size_t count = (size_t)(s->row_start[row + 1] - s->row_start[row]);
    return (int)((const int*)bsearch(&member, begin, count, sizeof(int), compare_int) - s->column);
}

// Row `row` of T: what is left of the member's own directions, and its slave directions as their expressions.
static void fill_row(elimination* e, int row)
{
    null_space* s = e->s;
    int m = s->slave[row], begin = s->row_start[row], count = s->row_start[row + 1] - begin;
    const frame* f = &e->frames[m];
    memset(s->block + 9 * (size_t)begin, 0, 9 * (size_t)count * sizeof(double));
    s->constant[row] = v3(0, 0, 0);
    for (int a = f->held; a < 3; a++)
    {
        int by = e->solved_by[3 * m + a];
        if (by < 0)
        {
            add_outer(s->block + 9 * (size_t)find_column(s, row, m), 1.0, f->axis[a], f->axis[a]);
            continue;
        }
        const tie_expression* x = &s->expressions[by];
        for (int t = x->first; t < x->first + x->count; t++)
        {
            int c = s->terms[t].coordinate;
            add_outer(s->block + 9 * (size_t)find_column(s, row, c / 3), s->terms[t].factor, f->axis[a],
                      e->frames[c / 3].axis[c % 3]);
        }
        s->constant[row] = v3_madd(s->constant[row], x->constant, f->axis[a]);
    }
}

static bool make_rows(elimination* e)
{
    null_space* s = e->s;
    arena* memory = &s->memory;
    s->slave_count = 0;
    for (int m = 0; m < s->member_count; m++)
    {
        s->slave_row[m] = is_slave(e, m) ? s->slave_count++ : -1;
    }
    s->slave = ARENA_NEW(memory, s->slave_count, int);
    s->row_start = ARENA_NEW(memory, s->slave_count + 1, int);
    s->constant = ARENA_NEW(memory, s->slave_count, vec3);
    if (!s->slave || !s->row_start || !s->constant)
    {
        return false;
    }
    s->row_start[0] = 0;
    for (int m = 0; m < s->member_count; m++)
    {
        int row = s->slave_row[m];
        if (row >= 0)
        {
            s->slave[row] = m;
            s->row_start[row + 1] = s->row_start[row] + list_columns(e, m);
        }
    }
    int entries = s->row_start[s->slave_count];
    s->column = ARENA_NEW(memory, entries, int);
    s->block = ARENA_NEW(memory, 9 * (size_t)entries, double);
    s->entry = ARENA_NEW(memory, entries, int);
    s->entry_row = ARENA_NEW(memory, entries, int);
    if (!s->column || !s->block || !s->entry || !s->entry_row)
    {
        return false;
    }
    for (int row = 0; row < s->slave_count; row++)
    {
        int count = list_columns(e, s->slave[row]);
        memcpy(s->column + s->row_start[row], e->list, (size_t)count * sizeof(int));
        fill_row(e, row);
    }
    return true;
}

static void make_columns(null_space* s)
{
    int* start = s->entry_start;
    memset(start, 0, ((size_t)s->member_count + 1) * sizeof(int));
    for (int k = 0; k < s->row_start[s->slave_count]; k++)
    {
        start[s->column[k] + 1]++;
    }
    for (int m = 0; m < s->member_count; m++)
    {
        start[m + 1] += start[m];
    }
    // Filling moves each start to the next; then they are moved back.
    for (int row = 0; row < s->slave_count; row++)
    {
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            int place = start[s->column[k]]++;
            s->entry[place] = k;
            s->entry_row[place] = row;
        }
    }
    for (int m = s->member_count; m > 0; m--)
    {
        start[m] = start[m - 1];
    }
    start[0] = 0;
}

static filter_record member_record(const elimination* e, int m)
{
    const frame* f = &e->frames[m];
    vec3 directions[3];
    int count = 0;
    for (int a = 0; a < 3; a++)
    {
        if (a < f->held || e->solved_by[3 * m + a] >= 0)
        {
            directions[count++] = f->axis[a];
        }
    }
    return filter_record_make(e->s->member[m], directions, count);
}

// The system's records and those of slaves, merged by vertex.
static bool make_filter(elimination* e)
{
    null_space* s = e->s;
    const linear_system* system = e->system;
    s->filter = ARENA_NEW(&s->memory, system->filter_count + s->slave_count, filter_record);
    if (!s->filter)
    {
        return false;
    }
    int out = 0, next = 0;
    for (int row = 0; row <= s->slave_count; row++)
    {
        int vertex = row < s->slave_count ? s->member[s->slave[row]] : s->row_count;
        while (next < system->filter_count && system->filter[next].vertex < vertex)
        {
            s->filter[out++] = system->filter[next++];
        }
        next += next < system->filter_count && system->filter[next].vertex == vertex;
        if (row < s->slave_count)
        {
            s->filter[out++] = member_record(e, s->slave[row]);
        }
    }
    s->filter_count = out;
    for (int m = 0, k = 0; m < s->member_count; m++)
    {
        while (k < out && s->filter[k].vertex < s->member[m])
        {
            k++;
        }
        s->record[m] = k < out && s->filter[k].vertex == s->member[m] ? k : -1;
    }
    return true;
}

static void make_structure(null_space* s)
{
    uint64_t hash = random_bits((uint64_t)s->filter_count, (uint64_t)s->slave_count);
    for (int k = 0; k < s->filter_count; k++)
    {
        hash = random_bits(hash, (uint64_t)s->filter[k].vertex * 4 + (uint64_t)s->filter[k].direction_count);
    }
    for (int row = 0; row < s->slave_count; row++)
    {
        hash = random_bits(hash, (uint64_t)s->member[s->slave[row]]);
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            hash = random_bits(hash, (uint64_t)s->member[s->column[k]]);
        }
    }
    s->structure = hash;
}

weft_status null_space_build(null_space* s, const linear_system* system, const double* rhs)
{
    WEFT_ASSERT(system->ties.count > 0); // rows may be empty, all of them
    arena_reset(&s->memory);
    elimination e = {.s = s, .system = system, .rhs = rhs};
    if (!find_members(s, system) || !elimination_begin(&e) || !eliminate(&e) || !make_rows(&e) || !make_filter(&e))
    {
        return WEFT_NO_MEMORY;
    }
    make_columns(s);
    make_structure(s);
    return WEFT_OK;
}

void null_space_finish(null_space* s)
{
    arena_finish(&s->memory);
    mem_free(s->expressions);
    mem_free(s->terms);
    *s = (null_space){0};
}
