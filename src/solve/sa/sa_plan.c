// What of a hierarchy outlives a checkpoint: its decisions, not its numbers. A full setup takes as long as seven
// refreshes, and most of that goes into deciding: strengths, aggregates, fill, shifts. So a checkpoint keeps
//
//     of each level   the aggregates and the structure of the interpolation
//     of the factor   clusters, pairs of fill, shifts, what Lanczos found last
//     of the solver   how many iterations its solves took
//
// and the next solve makes everything else anew from today's matrix, in a run that goes on as in one that was resumed.
// What a file says is checked before it is believed; the pattern of the matrix is not known here, and nothing below
// depends on it.
#include <math.h>
#include <string.h>

#include "solve/cg/cg.h"
#include "solve/sa/sa.h"

static const section_shape head_shape = {"multigrid", 2, sizeof(sa_plan_head), 1};
static const section_shape lists_shape = {"multigrid-lists", 1, sizeof(int32_t), -1};
static const section_shape reals_shape = {"multigrid-reals", 1, sizeof(float), -1};

void sa_plan_finish(sa_plan* plan)
{
    if (plan)
    {
        mem_free(plan->lists);
        mem_free(plan->reals);
        mem_free(plan);
    }
}

static sa_plan* plan_new(const sa_plan_head* head, size_t list_count, size_t real_count)
{
    sa_plan* plan = MEM_NEW(1, sa_plan);
    if (!plan)
    {
        return NULL;
    }
    *plan = (sa_plan){*head, MEM_NEW(list_count + 1, int32_t), MEM_NEW(real_count + 1, float), list_count, real_count};
    if (!plan->lists || !plan->reals)
    {
        sa_plan_finish(plan);
        return NULL;
    }
    return plan;
}

// ---- from a hierarchy

static size_t list_count_of(const sa_hierarchy* h)
{
    size_t count = 0;
    for (int k = 0; k + 1 < h->level_count; k++)
    {
        const sa_level* l = &h->levels[k];
        count += 2 * (size_t)l->rows + 1 + (size_t)l->P_start[l->rows];
    }
    const sa_incomplete* f = h->levels[0].incomplete;
    return count + (f ? 2 * (size_t)h->levels[0].rows + 1 + (size_t)f->fill_start[h->levels[0].rows] : 0);
}

static int32_t* append(int32_t* to, const int* from, size_t count)
{
    memcpy(to, from, count * sizeof(int32_t));
    return to + count;
}

sa_plan* sa_plan_make(const sa_hierarchy* h, const sa_plan_head* counts)
{
    const sa_level* finest = &h->levels[0];
    const sa_incomplete* f = finest->incomplete;
    size_t rows = (size_t)finest->rows;
    sa_plan_head head = *counts;
    head.level_count = h->level_count;
    head.kernel_block = finest->coarse_block;
    head.packed = h->packed;
    head.folded = h->folded;
    head.insist = h->insist;
    head.direct = h->direct;
    head.prefilter = h->prefilter;
    head.cluster_count = f ? f->cluster_count : 0;
    head.radius = finest->radius;
    head.incomplete_radius = f ? finest->incomplete_radius : 0.0;
    for (int k = 0; k < h->level_count; k++)
    {
        head.rows[k] = h->levels[k].rows;
    }
    sa_plan* plan = plan_new(&head, list_count_of(h), f ? 4 * rows : 3 * rows);
    int32_t* to = plan ? plan->lists : NULL;
    for (int k = 0; to && k + 1 < h->level_count; k++)
    {
        const sa_level* l = &h->levels[k];
        to = append(to, l->aggregate, (size_t)l->rows);
        to = append(to, l->P_start, (size_t)l->rows + 1);
        to = append(to, l->P_column, (size_t)l->P_start[l->rows]);
    }
    if (to && f)
    {
        to = append(to, f->cluster, rows);
        to = append(to, f->fill_start, rows + 1);
        append(to, f->fill, (size_t)f->fill_start[rows]);
        memcpy(plan->reals + 3 * rows, f->shift, rows * sizeof(float));
    }
    to ? (void)memcpy(plan->reals, finest->top, 3 * rows * sizeof(float)) : (void)0;
    return plan;
}

// ---- to and from a file

void sa_plan_save(const sa_plan* plan, section_writer* out)
{
    section_put(out, head_shape.name, head_shape.version, sizeof(plan->head), 1, &plan->head);
    section_put(out, lists_shape.name, lists_shape.version, sizeof(int32_t), plan->list_count, plan->lists);
    section_put(out, reals_shape.name, reals_shape.version, sizeof(float), plan->real_count, plan->reals);
}

// Lists that are still to be looked at.
typedef struct list_reader
{
    const int32_t* at;
    size_t left;
} list_reader;

static const int32_t* take(list_reader* r, size_t count)
{
    const int32_t* list = count <= r->left ? r->at : NULL;
    r->at += list ? count : 0;
    r->left -= list ? count : 0;
    return list;
}

static bool in_range(const int32_t* list, size_t count, int least, int end)
{
    bool good = list != NULL;
    for (size_t k = 0; good && k < count; k++)
    {
        good = list[k] >= least && list[k] < end;
    }
    return good;
}

// Starts of lists that follow each other; at most `row_max` in one, -1: any number.
static bool are_starts(const int32_t* start, int rows, int row_max)
{
    bool good = start && start[0] == 0;
    for (int i = 0; good && i < rows; i++)
    {
        good = start[i + 1] >= start[i] && (row_max < 0 || start[i + 1] - start[i] <= row_max);
    }
    return good;
}

// A row is empty without an aggregate, else it increases and has it.
static bool is_row(const int32_t* column, int count, int aggregate)
{
    bool own = false, good = true;
    for (int k = 0; k < count; k++)
    {
        own = own || column[k] == aggregate;
        good = good && (k == 0 || column[k] > column[k - 1]);
    }
    return good && (aggregate < 0 ? count == 0 : own);
}

static bool has_members(const int32_t* aggregate, int rows, int coarse_rows)
{
    unsigned char* seen = MEM_NEW(coarse_rows, unsigned char);
    int count = 0;
    for (int i = 0; seen && i < rows; i++)
    {
        if (aggregate[i] >= 0 && !seen[aggregate[i]])
        {
            seen[aggregate[i]] = 1;
            count++;
        }
    }
    mem_free(seen);
    return count == coarse_rows;
}

static bool level_is_sound(list_reader* r, int rows, int coarse_rows)
{
    const int32_t *aggregate = take(r, (size_t)rows), *start = take(r, (size_t)rows + 1);
    if (!in_range(aggregate, (size_t)rows, -1, coarse_rows) || !are_starts(start, rows, SA_P_ROW_MAX))
    {
        return false;
    }
    const int32_t* column = take(r, (size_t)start[rows]);
    bool good = in_range(column, (size_t)start[rows], 0, coarse_rows) && has_members(aggregate, rows, coarse_rows);
    for (int i = 0; good && i < rows; i++)
    {
        good = is_row(column + start[i], start[i + 1] - start[i], aggregate[i]);
    }
    return good;
}

static bool factor_is_sound(const sa_plan* plan, list_reader* r)
{
    int rows = plan->head.rows[0];
    const int32_t *cluster = take(r, (size_t)rows), *start = take(r, (size_t)rows + 1);
    if (!in_range(cluster, (size_t)rows, 0, plan->head.cluster_count) || !are_starts(start, rows, -1))
    {
        return false;
    }
    bool good = in_range(take(r, (size_t)start[rows]), (size_t)start[rows], 0, rows) &&
                plan->head.cluster_count <= rows && isfinite(plan->head.incomplete_radius) &&
                plan->head.incomplete_radius > 0.0;
    for (size_t k = 3 * (size_t)rows; good && k < 4 * (size_t)rows; k++)
    {
        good = plan->reals[k] > 0.0F;
    }
    return good;
}

static bool reals_are_sound(const sa_plan* plan)
{
    size_t rows = (size_t)plan->head.rows[0];
    bool good = plan->real_count == (plan->head.cluster_count > 0 ? 4 * rows : 3 * rows);
    for (size_t k = 0; good && k < plan->real_count; k++)
    {
        good = isfinite(plan->reals[k]);
    }
    return good;
}

static bool head_is_sound(const sa_plan_head* h)
{
    const int32_t flags[] = {h->packed, h->folded, h->insist, h->direct, h->prefilter, h->refuted};
    const int32_t counts[] = {h->cluster_count, h->first_iterations, h->last_iterations,
                              h->lost,          h->patience,         h->smooth_iterations};
    bool good = in_range(flags, sizeof(flags) / sizeof(*flags), 0, 2) &&
                in_range(counts, sizeof(counts) / sizeof(*counts), 0, INT32_MAX) && h->level_count > 1 &&
                h->level_count <= WEFT_LEVEL_MAX && h->kernel_block > 0 && h->kernel_block <= SA_KERNEL_MAX &&
                h->kernel_block % 3 == 0 && isfinite(h->radius) && h->radius > 0.0 && h->patience <= SA_COUNT_MAX &&
                h->lost <= SA_COUNT_MAX;
    cg_memory known = {h->ratio, h->energy, h->reckoned, h->pause, h->wait};
    good = good && cg_memory_is_sound(&known);
    for (int k = 0; good && k < h->level_count; k++)
    {
        good = h->rows[k] > 0 && h->rows[k] < INT32_MAX / (SA_KERNEL_MAX * SA_KERNEL_MAX);
    }
    return good;
}

static bool plan_is_sound(const sa_plan* plan)
{
    const sa_plan_head* h = &plan->head;
    list_reader r = {plan->lists, plan->list_count};
    bool good = head_is_sound(h);
    for (int k = 0; good && k + 1 < h->level_count; k++)
    {
        good = level_is_sound(&r, h->rows[k], h->rows[k + 1]);
    }
    good = good && reals_are_sound(plan) && (h->cluster_count == 0 || factor_is_sound(plan, &r));
    return good && r.left == 0;
}

weft_status sa_plan_load(sa_plan** out, sections* from, weft_error* error)
{
    const section *head, *lists, *reals;
    *out = NULL;
    TRY(sections_take(from, &head_shape, &head, error));
    TRY(sections_take(from, &lists_shape, &lists, error));
    TRY(sections_take(from, &reals_shape, &reals, error));
    if (!head && !lists && !reals)
    {
        return WEFT_OK;
    }
    if (!head || !lists || !reals)
    {
        return sections_cannot_be(from, "a part of what multigrid keeps", error);
    }
    sa_plan* plan = plan_new(head->items, lists->count, reals->count);
    if (!plan)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    memcpy(plan->lists, lists->items, lists->count * sizeof(int32_t));
    memcpy(plan->reals, reals->items, reals->count * sizeof(float));
    if (!plan_is_sound(plan))
    {
        sa_plan_finish(plan);
        return sections_cannot_be(from, "levels of multigrid that do not fit together", error);
    }
    *out = plan;
    return WEFT_OK;
}

// ---- to a hierarchy, which a refresh has to fill

static int* keep_list(sa_hierarchy* h, list_reader* r, size_t count)
{
    int* list = sa_ints_new(h, count + 1);
    const int32_t* from = take(r, count);
    list ? (void)memcpy(list, from, count * sizeof(int)) : (void)0;
    return list;
}

static weft_status restore_level(sa_hierarchy* h, sa_level* l, int coarse_rows, list_reader* r)
{
    size_t rows = (size_t)l->rows;
    l->coarse_rows = coarse_rows;
    l->aggregate = keep_list(h, r, rows);
    l->P_start = keep_list(h, r, rows + 1);
    l->P_column = l->P_start ? keep_list(h, r, (size_t)l->P_start[rows]) : NULL;
    if (!l->aggregate || !l->P_column)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(sa_transpose_P(h, l));
    return sa_alloc_P(h, l);
}

static weft_status restore_factor(sa_hierarchy* h, sa_level* l, const sa_plan* plan, list_reader* r)
{
    size_t rows = (size_t)l->rows;
    const int32_t *cluster = take(r, rows), *start = take(r, rows + 1), *fill = take(r, (size_t)start[rows]);
    l->incomplete_radius = plan->head.incomplete_radius;
    sa_factor_plan factor = {cluster, plan->head.cluster_count, start, fill, plan->reals + 3 * rows};
    return sa_incomplete_restore(h, l, &factor);
}

// A packed level does without; one that is not there is made when it is needed.
static void drop_inverse(sa_hierarchy* h, sa_level* l)
{
    h->bytes -= ((size_t)l->rows * 9 + SA_PAD) * sa_real_size(h);
    mem_free(l->inverse);
    l->inverse = NULL;
}

weft_status sa_plan_restore(const sa_plan* plan, sa_hierarchy* h)
{
    const sa_plan_head* head = &plan->head;
    list_reader r = {plan->lists, plan->list_count};
    sa_finish(h);
    h->precision = 32;
    h->packed = head->packed;
    h->folded = head->folded;
    h->insist = head->insist;
    h->prefilter = head->prefilter;
    h->direct = head->direct;
    h->vector_scale = 1.0;
    for (int k = 0; k < head->level_count; k++)
    {
        sa_level* l = &h->levels[h->level_count++];
        int K = head->kernel_block;
        *l = (sa_level){.rows = head->rows[k], .block = k == 0 ? 3 : K, .coarse_block = K};
        TRY(sa_alloc_level(h, l));
        k == 0 && h->packed ? drop_inverse(h, l) : (void)0;
        TRY(k + 1 < head->level_count ? restore_level(h, l, head->rows[k + 1], &r) : WEFT_OK);
    }
    h->levels[0].radius = head->radius;
    memcpy(h->levels[0].top, plan->reals, 3 * (size_t)head->rows[0] * sizeof(float));
    return head->cluster_count > 0 ? restore_factor(h, &h->levels[0], plan, &r) : WEFT_OK;
}
