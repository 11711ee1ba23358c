// Sums element blocks into a block sparse matrix and element vectors into a right-hand side (see sparse.h).
#include <string.h>

#include "sparse/sparse.h"

static int chunk_count_of(int row_count)
{
    return row_count > 0 ? (row_count - 1) / ROW_GRAIN + 1 : 0;
}

// Calls visit for every chunk that element e touches, each once.
static void element_chunks(const element_list* list, int e, void (*visit)(void* context, int chunk, int e),
                           void* context)
{
    const int* vertex = list->vertices + (size_t)e * (size_t)list->arity;
    for (int a = 0; a < list->arity; a++)
    {
        int chunk = vertex[a] / ROW_GRAIN;
        bool seen = false;
        for (int b = 0; b < a && !seen; b++)
        {
            seen = vertex[b] / ROW_GRAIN == chunk;
        }
        if (!seen)
        {
            visit(context, chunk, e);
        }
    }
}

static void count_visit(void* context, int chunk, int e)
{
    (void)e;
    ((assembly_group*)context)->chunk_start[chunk + 1]++;
}

typedef struct fill_context
{
    assembly_group* group;
    int* next; // [chunk_count]
} fill_context;

static void fill_visit(void* context, int chunk, int e)
{
    fill_context* fill = context;
    fill->group->chunk_element[fill->next[chunk]++] = e;
}

static weft_status group_find_chunks(assembly_group* group, int row_count)
{
    int chunk_count = chunk_count_of(row_count);
    group->chunk_start = MEM_NEW(chunk_count + 1, int);
    if (!group->chunk_start)
    {
        return WEFT_NO_MEMORY;
    }
    for (int e = 0; e < group->list.count; e++)
    {
        element_chunks(&group->list, e, count_visit, group);
    }
    fill_context fill = {group, MEM_NEW(chunk_count + 1, int)};
    for (int c = 0; c < chunk_count; c++)
    {
        group->chunk_start[c + 1] += group->chunk_start[c];
    }
    group->chunk_element = MEM_NEW(group->chunk_start[chunk_count], int);
    if (!fill.next || !group->chunk_element)
    {
        mem_free(fill.next);
        return WEFT_NO_MEMORY;
    }
    memcpy(fill.next, group->chunk_start, (size_t)chunk_count * sizeof(int));
    for (int e = 0; e < group->list.count; e++)
    {
        element_chunks(&group->list, e, fill_visit, &fill);
    }
    mem_free(fill.next);
    return WEFT_OK;
}

int assembly_place(const bsr_pattern* pattern, const int* vertex, int a, int b, int chunk)
{
    bool flip = vertex[a] > vertex[b];
    int row = vertex[flip ? b : a], column = vertex[flip ? a : b];
    if (row / ROW_GRAIN != chunk)
    {
        return PLACE_NONE;
    }
    int slot = bsr_pattern_find(pattern, row, column) - pattern->row_start[chunk * ROW_GRAIN];
    WEFT_VALIDATE(slot < PLACE_FLIP / 9);
    return 9 * slot + (flip ? PLACE_FLIP : 0) + (row == column && a != b ? PLACE_TWICE : 0);
}

static weft_status group_find_places(assembly_group* group, const bsr_pattern* pattern)
{
    int arity = group->list.arity, chunk_count = chunk_count_of(pattern->row_count);
    size_t pairs = (size_t)pair_count(arity);
    group->place = MEM_NEW((size_t)group->chunk_start[chunk_count] * pairs, int);
    if (!group->place)
    {
        return WEFT_NO_MEMORY;
    }
    for (int chunk = 0; chunk < chunk_count; chunk++)
    {
        for (int k = group->chunk_start[chunk]; k < group->chunk_start[chunk + 1]; k++)
        {
            const int* vertex = group->list.vertices + (size_t)group->chunk_element[k] * (size_t)arity;
            int* place = group->place + (size_t)k * pairs;
            for (int a = 0; a < arity; a++)
            {
                for (int b = a; b < arity; b++)
                {
                    *place++ = assembly_place(pattern, vertex, a, b, chunk);
                }
            }
        }
    }
    return WEFT_OK;
}

int* assembly_mirrors(const bsr_pattern* p)
{
    int* mirror_of = MEM_NEW(p->block_count, int);
    int* next = MEM_NEW(p->row_count, int); // next slot above the diagonal of each row
    if (!mirror_of || !next)
    {
        mem_free(next);
        mem_free(mirror_of);
        return NULL;
    }
    for (int i = 0; i < p->row_count; i++)
    {
        next[i] = p->diagonal[i] + 1;
    }
    // Rows in order meet the columns above the diagonal of every other row in order too.
    for (int i = 0; i < p->row_count; i++)
    {
        for (int k = p->row_start[i]; k < p->diagonal[i]; k++)
        {
            mirror_of[k] = next[p->column[k]]++;
            WEFT_VALIDATE(p->column[mirror_of[k]] == i);
        }
    }
    mem_free(next);
    return mirror_of;
}

weft_status assembler_create(int row_count, const element_list* lists, int list_count, assembler* out)
{
    if (list_count > GROUP_MAX)
    {
        *out = (assembler){0};
        return WEFT_UNSUPPORTED;
    }
    *out = (assembler){.groups = MEM_NEW(list_count, assembly_group), .group_count = list_count};
    weft_status status = out->groups ? bsr_pattern_create(row_count, lists, list_count, &out->pattern) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        out->mirror_of = assembly_mirrors(&out->pattern);
        status = out->mirror_of ? WEFT_OK : WEFT_NO_MEMORY;
    }
    for (int g = 0; g < list_count && status == WEFT_OK; g++)
    {
        out->groups[g].list = lists[g];
        status = group_find_chunks(&out->groups[g], row_count);
        if (status == WEFT_OK)
        {
            status = group_find_places(&out->groups[g], &out->pattern);
        }
    }
    if (status != WEFT_OK)
    {
        assembler_finish(out);
    }
    return status;
}

void assembler_finish(assembler* a)
{
    for (int g = 0; g < a->group_count && a->groups; g++)
    {
        mem_free(a->groups[g].place);
        mem_free(a->groups[g].chunk_start);
        mem_free(a->groups[g].chunk_element);
    }
    mem_free(a->groups);
    mem_free(a->mirror_of);
    bsr_pattern_finish(&a->pattern);
    *a = (assembler){0};
}

typedef struct run_context run_context;
struct run_context
{
    const assembler* assembler;
    const element_evaluator* evaluators;
    const assembly_target* target;
    const sparse_kernels* kernels; // assembler_run only
    // What becomes of some elements of group g, for rows [begin, end).
    void (*take)(const run_context* run, int g, const element_lanes* lanes, int begin, int end);
};

// Blocks below the diagonal wait for the mirror.
static void rows_start(const bsr_pattern* pattern, const assembly_target* target, int begin, int end)
{
    for (int i = begin; i < end; i++)
    {
        size_t first = (size_t)pattern->diagonal[i], count = (size_t)pattern->row_start[i + 1] - first;
        double* diagonal = target->values + 9 * first;
        memset(diagonal, 0, 9 * count * sizeof(double));
        diagonal[0] = diagonal[4] = diagonal[8] = target->mass[i];
        target->rhs[i] = target->rhs_start[i];
    }
}

// Where a chunk stands in the elements of one group.
typedef struct group_range
{
    int first, next, last;
    double done; // the share of them, 1 when there are none
} group_range;

static void range_count(group_range* r)
{
    r->done = r->last > r->first ? (double)(r->next - r->first) / (double)(r->last - r->first) : 1.0;
}

static const int no_place[PAIR_MAX] = {[0 ... PAIR_MAX - 1] = PLACE_NONE};

// Asks for where the group's next turn goes: its own stream of memory, with those of other groups' turns between.
static void bring_places_near(const assembly_group* group, const group_range* range)
{
    size_t pairs = (size_t)pair_count(group->list.arity);
    const char* place = (const char*)(group->place + (size_t)range->next * pairs);
    size_t bytes = (size_t)int_min(BATCH, range->last - range->next) * pairs * sizeof(int);
    for (size_t k = 0; k < bytes; k += 64)
    {
        __builtin_prefetch(place + k);
    }
}

// The next elements that take part, none when there are no more.
static void next_lanes(const run_context* run, int g, group_range* range, element_lanes* out)
{
    const assembly_group* group = &run->assembler->groups[g];
    const element_choice* choice = &run->evaluators[g].choice;
    size_t pairs = (size_t)pair_count(group->list.arity);
    int count = 0;
    for (; count < BATCH && range->next < range->last; range->next++)
    {
        int e = group->chunk_element[range->next];
        out->element[count] = e;
        out->place[count] = group->place + (size_t)range->next * pairs;
        count += element_chosen(choice, e);
    }
    for (int lane = count; lane < BATCH && count > 0; lane++)
    {
        out->element[lane] = out->element[count - 1];
        out->place[lane] = no_place;
    }
    out->count = count;
}

// Groups take turns by the share that they have done: all of them run through the vertices in the same direction, so
// the rows that one has brought near are there for the next. -1: all are done.
static int most_behind(const group_range* ranges, int count)
{
    int behind = -1;
    double least = 1.0;
    for (int g = 0; g < count; g++)
    {
        if (ranges[g].done < least)
        {
            least = ranges[g].done;
            behind = g;
        }
    }
    return behind;
}

static void run_elements(const run_context* run, int begin, int end)
{
    group_range ranges[GROUP_MAX];
    int group_count = run->assembler->group_count;
    for (int g = 0; g < group_count; g++)
    {
        const int* start = run->assembler->groups[g].chunk_start + begin / ROW_GRAIN;
        ranges[g] = (group_range){.first = start[0], .next = start[0], .last = start[1]};
        range_count(&ranges[g]);
    }
    for (int g; (g = most_behind(ranges, group_count)) >= 0;)
    {
        element_lanes lanes;
        next_lanes(run, g, &ranges[g], &lanes);
        bring_places_near(&run->assembler->groups[g], &ranges[g]);
        range_count(&ranges[g]);
        if (lanes.count > 0)
        {
            run->take(run, g, &lanes, begin, end);
        }
    }
}

static void take_blocks(const run_context* run, int g, const element_lanes* lanes, int begin, int end)
{
    element_batch batch;
    const element_evaluator* evaluator = &run->evaluators[g];
    if (!evaluator->evaluate)
    {
        return;
    }
    const element_list* list = &run->assembler->groups[g].list;
    const assembly_target* target = run->target;
    double* values = target->values + 9 * (size_t)run->assembler->pattern.row_start[begin];
    evaluator->evaluate(evaluator->context, lanes->element, &batch);
    run->kernels->scatter_vectors(list, lanes, &batch, target->rhs, begin, end);
    run->kernels->scatter(list->arity, &evaluator->shape, lanes, &batch, values);
}

static void run_chunk(void* context, int begin, int end)
{
    run_context* run = context;
    rows_start(&run->assembler->pattern, run->target, begin, end);
    run_elements(run, begin, end);
    run->kernels->mirror(&run->assembler->pattern, run->assembler->mirror_of, run->target->values, begin, end, true);
}

static void mirror_chunk(void* context, int begin, int end)
{
    run_context* run = context;
    run->kernels->mirror(&run->assembler->pattern, run->assembler->mirror_of, run->target->values, begin, end, false);
}

void assembler_run(const assembler* a, const element_evaluator* evaluators, workers* pool, cpu_kind cpu,
                   const assembly_target* target)
{
    run_context run = {a, evaluators, target, sparse_kernels_for(cpu), take_blocks};
    parallel_for(pool, a->pattern.row_count, ROW_GRAIN, run_chunk, &run);
    parallel_for(pool, a->pattern.row_count, ROW_GRAIN, mirror_chunk, &run);
}

// ---- vectors alone

static void take_vectors(const run_context* run, int g, const element_lanes* lanes, int begin, int end)
{
    double vectors[ARITY_MAX][3][BATCH] __attribute__((aligned(64)));
    const element_list* list = &run->assembler->groups[g].list;
    if (!run->evaluators[g].force)
    {
        return;
    }
    run->evaluators[g].force(run->evaluators[g].context, lanes->element, vectors);
    for (int a = 0; a < list->arity; a++)
    {
        for (int lane = 0; lane < lanes->count; lane++)
        {
            int i = list->vertices[(size_t)lanes->element[lane] * (size_t)list->arity + (size_t)a];
            if (i >= begin && i < end)
            {
                vec3 f = v3(vectors[a][0][lane], vectors[a][1][lane], vectors[a][2][lane]);
                run->target->rhs[i] = v3_add(run->target->rhs[i], f);
            }
        }
    }
}

static void gather_chunk(void* context, int begin, int end)
{
    run_context* run = context;
    const assembly_target* target = run->target;
    if (target->rhs != target->rhs_start)
    {
        memcpy(target->rhs + begin, target->rhs_start + begin, (size_t)(end - begin) * sizeof(vec3));
    }
    run_elements(run, begin, end);
}

void assembler_gather(const assembler* a, const element_evaluator* evaluators, workers* pool, const vec3* rhs_start,
                      vec3* rhs)
{
    assembly_target target = {.rhs = rhs, .rhs_start = rhs_start};
    run_context run = {a, evaluators, &target, NULL, take_vectors};
    parallel_for(pool, a->pattern.row_count, ROW_GRAIN, gather_chunk, &run);
}
