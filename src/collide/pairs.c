// The search for pairs: chunks of queries walk the tree in parallel, then all finds are put in order.
//
// A query's pairs are all found by its own walk, one after the other, so that sorting by (first, second) needs no sort
// of all pairs: the numbers found by each query give the places, and each query's few seconds are sorted among
// themselves. What is found waits on pages of a pool. A page is claimed by whoever needs one; which it is does not
// matter, as chunks know their own. A pool that is too small stops the search, grows and starts it over, up to the
// limit of pairs; in a steady scene that does not happen. Nothing is allocated inside a parallel loop.
#include <limits.h>
#include <string.h>

#include "collide/broad.h"

enum
{
    CHUNK_LEVEL = 2,    // a chunk is a query node of this level: 8^3 queries
    LIST_SIZE = 16384,  // ints of scratch on the stack of a chunk
    TESTS_A_PAIR = 4,   // limit of tests, of eight boxes each, for each pair of the limit
    TESTS_A_QUERY = 256 // and for each query
};

// ---- the definition

double_box feature_box(const vec3* start, const vec3* end, const int* vertex, int count)
{
    double_box box;
    for (int k = 0; k < 3; k++)
    {
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < count; c++)
        {
            double x = (&start[vertex[c]].x)[k], y = (&end[vertex[c]].x)[k];
            double less = x < y ? x : y, more = x < y ? y : x;
            low = less < low ? less : low;
            high = more > high ? more : high;
        }
        box.low[k] = low;
        box.high[k] = high;
    }
    return box;
}

bool boxes_near(const double_box* a, const double_box* b, double margin)
{
    bool near = true;
    for (int k = 0; k < 3; k++)
    {
        near = near && b->low[k] - a->high[k] <= margin && a->low[k] - b->high[k] <= margin;
    }
    return near;
}

bool boxes_near_apart(const double_box a[2], const double_box b[2], double margin)
{
    bool meet = true;
    for (int k = 0; k < 3; k++)
    {
        meet = meet && (b[0].low[k] - a[0].high[k] <= margin || b[1].low[k] - a[1].high[k] <= margin);
        meet = meet && (a[0].low[k] - b[0].high[k] <= margin || a[1].low[k] - b[1].high[k] <= margin);
    }
    return meet;
}

// ---- scratch

bool scratch_grow(void** array, int* capacity, int needed, size_t item_size)
{
    if (needed <= *capacity && *array)
    {
        return true;
    }
    mem_free(*array);
    int64_t target = (int64_t)needed + needed / 4 + 16;
    *capacity = target > INT_MAX - 1 ? INT_MAX - 1 : (int)target;
    *array = mem_raw((size_t)*capacity + 1, item_size);
    *capacity = *array ? *capacity : 0;
    return *array != NULL;
}

static bool pool_grow(page_pool* pool, int page_count)
{
    mem_free(pool->items);
    mem_free(pool->used);
    mem_free(pool->next);
    pool->items = mem_raw((size_t)page_count * PAGE_SIZE + RANK_MAX, sizeof(int)); // ranks read whole vectors
    pool->used = mem_raw((size_t)page_count, sizeof(int));
    pool->next = mem_raw((size_t)page_count, sizeof(int));
    bool room = pool->items && pool->used && pool->next;
    pool->page_count = room ? page_count : 0;
    return room;
}

void pair_finder_finish(pair_finder* finder)
{
    mem_free(finder->pages.items);
    mem_free(finder->pages.used);
    mem_free(finder->pages.next);
    mem_free(finder->found);
    mem_free(finder->offset);
    mem_free(finder->chunks);
    mem_free(finder->list);
    *finder = (pair_finder){0};
}

static int chunk_count(const pair_search* search)
{
    const bvh* queries = search->walk.queries;
    return queries->level_count && search->walk.targets->level_count ? queries->level_size[search->walk.level] : 0;
}

static weft_status finder_prepare(pair_finder* finder, pair_search* search)
{
    const bvh* queries = search->walk.queries;
    search->walk.level = int_max(0, int_min(CHUNK_LEVEL, queries->level_count - 1));
    int chunks = chunk_count(search), both = finder->found_capacity;
    bool room = scratch_grow((void**)&finder->chunks, &finder->chunk_capacity, chunks, sizeof(walk_chunk)) &&
                scratch_grow((void**)&finder->offset, &both, queries->count, sizeof(int)) &&
                scratch_grow((void**)&finder->found, &finder->found_capacity, queries->count, sizeof(int));
    if (room && finder->pages.page_count < chunks + 1)
    {
        room = pool_grow(&finder->pages, chunks + queries->count / (PAGE_SIZE / 8) + 1);
    }
    search->walk.pool = &finder->pages;
    search->walk.found = finder->found;
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- walking

typedef struct walk_context
{
    const pair_search* search;
    pair_finder* finder;
} walk_context;

static void walk_chunks(void* context, int begin, int end)
{
    walk_context* c = context;
    int list[LIST_SIZE];
    for (int k = begin; k < end; k++)
    {
        if (!atomic_load_explicit(&c->finder->pages.stop, memory_order_relaxed))
        {
            c->search->kernels->walk(&c->search->walk, k, &c->finder->chunks[k], list, LIST_SIZE);
        }
    }
}

// Chunks that were crowded, with room for lists of everything: something among their queries reaches a large part of
// the scene.
static weft_status walk_crowded(pair_finder* finder, pair_search* search)
{
    const bvh* targets = search->walk.targets;
    for (int k = 0; k < chunk_count(search) && !finder->pages.stop; k++)
    {
        if (!finder->chunks[k].crowded)
        {
            continue;
        }
        // Lists of all levels, and blocks of the lowest with their boxes.
        int needed = 2 * targets->node_count + 16 * targets->level_size[0] + 64 * BVH_LEVELS;
        if (!scratch_grow((void**)&finder->list, &finder->list_capacity, needed, sizeof(int)))
        {
            return WEFT_NO_MEMORY;
        }
        search->kernels->walk(&search->walk, k, &finder->chunks[k], finder->list, finder->list_capacity);
    }
    return WEFT_OK;
}

static weft_status too_many(const pair_search* search, weft_error* error)
{
    const char* kind = search->walk.ascending ? "edge-edge" : "vertex-face";
    return error_set(error, WEFT_BAD_INPUT, NULL, 0,
                     "there are more than %d %s pairs whose boxes are at most %g m apart, or nearly so many tests: "
                     "look for features that lie on top of each other, take a smaller margin, or raise pair_limit",
                     search->pair_limit, kind, search->walk.margin);
}

// Pages for the next try: twice as many, or as many as the chunks that were walked make one expect of all. How many
// those were depends on threads; what is found does not.
static int64_t pages_wanted(const pair_finder* finder, int chunks)
{
    int walked = 0;
    for (int k = 0; k < chunks; k++)
    {
        walked += finder->chunks[k].walked;
    }
    int64_t pages = finder->pages.page_count, expected = pages * chunks / int_max(1, walked);
    return expected > 2 * pages ? expected : 2 * pages;
}

weft_status pairs_walk(pair_finder* finder, pair_search* search, weft_error* error)
{
    TRY(finder_prepare(finder, search));
    int chunks = chunk_count(search);
    page_pool* pool = &finder->pages;
    int64_t most = (int64_t)search->pair_limit / (PAGE_SIZE - BVH_WIDTH) + 2 * (int64_t)chunks + 1;
    pool->test_limit =
        (long long)TESTS_A_PAIR * search->pair_limit + (long long)TESTS_A_QUERY * search->walk.queries->count;
    walk_context context = {search, finder};
    if (search->walk.queries->held < search->walk.queries->count) // nobody walks for the others
    {
        memset(finder->found, 0, (size_t)search->walk.queries->count * sizeof(int));
    }
    for (;;)
    {
        pool->claimed = 0;
        pool->tests = 0;
        pool->stop = false;
        memset(finder->chunks, 0, (size_t)chunks * sizeof(walk_chunk));
        parallel_for(search->pool, chunks, 1, walk_chunks, &context);
        TRY(walk_crowded(finder, search));
        if (!pool->stop)
        {
            return WEFT_OK;
        }
        if (pool->tests > pool->test_limit || pool->page_count >= most)
        {
            return too_many(search, error);
        }
        int64_t grown = pages_wanted(finder, chunks);
        if (!pool_grow(pool, (int)(grown < most ? grown : most)))
        {
            return WEFT_NO_MEMORY;
        }
    }
}

// ---- sorting

// offset[q] is where the pairs of query q start; offset[count] is the number of all. False when there are too many.
static bool sum_found(const int* found, int count, int limit, int* offset)
{
    int64_t sum = 0;
    for (int q = 0; q < count; q++)
    {
        offset[q] = (int)sum;
        sum += found[q];
        if (sum > limit)
        {
            return false;
        }
    }
    offset[count] = (int)sum;
    return true;
}

// Where a chunk's finds are read next.
typedef struct walk_reader
{
    int page, at;
} walk_reader;

// Merges neighbouring sorted runs of `run` numbers; which of two is smaller cannot be guessed, so nothing branches on
// it.
static void merge_runs(const int* from, int* to, int count, int run)
{
    for (int begin = 0; begin < count; begin += 2 * run)
    {
        int middle = int_min(begin + run, count), end = int_min(middle + run, count);
        int a = begin, b = middle, out = begin;
        while (a < middle && b < end)
        {
            int x = from[a], y = from[b], first = x < y;
            to[out++] = first ? x : y;
            a += first;
            b += !first;
        }
        memcpy(to + out, from + a, (size_t)(middle - a) * sizeof(int));
        memcpy(to + out + (middle - a), from + b, (size_t)(end - b) * sizeof(int));
    }
}

// Runs of RANK_MAX numbers in place, by ranks.
static void sort_runs(const broad_kernels* kernels, int* second, int count)
{
    int run[RANK_MAX];
    weft_pair sorted[RANK_MAX];
    for (int begin = 0; begin < count; begin += RANK_MAX)
    {
        int size = int_min(RANK_MAX, count - begin);
        memset(run, 0, sizeof(run));
        memcpy(run, second + begin, (size_t)size * sizeof(int));
        kernels->rank(run, size, 0, sorted);
        for (int k = 0; k < size; k++)
        {
            second[begin + k] = sorted[k].second;
        }
    }
}

// What does not lie on one page or is too long for ranks alone. The seconds go to the upper half of their own places
// and are merged from half to half. Spreading them to pairs overwrites none that is still to be read: forwards from the
// upper half, backwards from the lower.
static void sort_from_pages(const broad_kernels* kernels, const page_pool* pool, walk_reader* reader, int first,
                            weft_pair* pairs, int count)
{
    int *lower = (int*)pairs, *upper = lower + count, *now = upper;
    for (int done = 0, part; done < count; done += part, reader->at += part)
    {
        if (reader->at == pool->used[reader->page])
        {
            reader->page = pool->next[reader->page];
            reader->at = 0;
        }
        part = int_min(count - done, pool->used[reader->page] - reader->at);
        memcpy(upper + done, pool->items + (size_t)reader->page * PAGE_SIZE + reader->at, (size_t)part * sizeof(int));
    }
    sort_runs(kernels, upper, count);
    for (int64_t run = RANK_MAX; run < count; run *= 2)
    {
        int* next = now == upper ? lower : upper;
        merge_runs(now, next, count, (int)run);
        now = next;
    }
    for (int k = 0; k < count && now == upper; k++)
    {
        pairs[k] = (weft_pair){first, upper[k]};
    }
    for (int k = count - 1; k >= 0 && now == lower; k--)
    {
        pairs[k] = (weft_pair){first, lower[k]};
    }
}

typedef struct sort_context
{
    const broad_kernels* kernels;
    const pair_finder* finder;
    const broad_walk* walk;
    weft_pair* out;
} sort_context;

// Reads what chunks left on their pages, query by query.
static void sort_chunks(void* context, int begin, int end)
{
    sort_context* s = context;
    const bvh* queries = s->walk->queries;
    const page_pool* pool = &s->finder->pages;
    int chunk_size = BVH_WIDTH << 3 * s->walk->level;
    for (int chunk = begin; chunk < end; chunk++)
    {
        walk_reader reader = {s->finder->chunks[chunk].first_page, 0};
        int first = chunk * chunk_size, last = int_min(queries->held - first, chunk_size) + first;
        for (int k = first; k < last; k++)
        {
            int id = queries->id[k], count = id < 0 ? 0 : s->finder->found[id];
            weft_pair* pairs = s->out + s->finder->offset[id];
            if (count > 0 && count <= RANK_MAX && count <= pool->used[reader.page] - reader.at)
            {
                s->kernels->rank(pool->items + (size_t)reader.page * PAGE_SIZE + reader.at, count, id, pairs);
                reader.at += count;
            }
            else if (count > 0)
            {
                sort_from_pages(s->kernels, pool, &reader, id, pairs, count);
            }
        }
    }
}

weft_status pairs_sort(pair_finder* finder, const pair_search* search, pair_list* out, weft_error* error)
{
    int chunks = chunk_count(search);
    out->count = 0;
    if (chunks == 0)
    {
        return WEFT_OK;
    }
    int count = search->walk.queries->count;
    if (!sum_found(finder->found, count, search->pair_limit, finder->offset))
    {
        return too_many(search, error);
    }
    if (!scratch_grow((void**)&out->pair, &out->capacity, finder->offset[count], sizeof(weft_pair)))
    {
        return WEFT_NO_MEMORY;
    }
    sort_context s = {search->kernels, finder, &search->walk, out->pair};
    parallel_for(search->pool, chunks, 1, sort_chunks, &s);
    out->count = finder->offset[count];
    return WEFT_OK;
}
