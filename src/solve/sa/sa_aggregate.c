// Aggregates (section 5): which nodes belong together.
//
// Repairs to the printed algorithms: a root must be free itself; leftovers join round by round until none is left.
#include <string.h>

#include "solve/sa/int_set.h"
#include "solve/sa/sa.h"

// Whether node i and all that it reaches in `distance` steps are free.
static bool ball_is_free(const sa_graph* g, const int* aggregate, int i, int distance)
{
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        int j = g->column[k];
        if (aggregate[j] >= 0 || (distance > 1 && !ball_is_free(g, aggregate, j, distance - 1)))
        {
            return false;
        }
    }
    return aggregate[i] < 0;
}

// Gives the free nodes of the ball to an aggregate.
static void ball_take(const sa_graph* g, int* aggregate, int i, int distance, int to)
{
    aggregate[i] = aggregate[i] < 0 ? to : aggregate[i];
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        int j = g->column[k];
        aggregate[j] = aggregate[j] < 0 ? to : aggregate[j];
        if (distance > 1 && aggregate[j] == to)
        {
            ball_take(g, aggregate, j, distance - 1, to);
        }
    }
}

// The aggregate that a free node is most strongly connected to, among those of the last round; -1: none.
static int nearest_aggregate(const sa_graph* g, const int* aggregate, int i)
{
    int best = -1;
    float most = -1.0f;
    for (int k = g->row_start[i]; k < g->row_start[i + 1]; k++)
    {
        if (aggregate[g->column[k]] >= 0 && g->weight[k] > most)
        {
            most = g->weight[k];
            best = aggregate[g->column[k]];
        }
    }
    return best;
}

// Algorithm 1 for the nodes [begin, end): whole balls of free nodes, known by their roots. Special nodes have no
// connections and are stepped over.
static void take_balls(const sa_graph* g, const unsigned char* special, int distance, int begin, int end,
                       int* aggregate)
{
    for (int i = begin; i < end; i++)
    {
        if (!special[i] && ball_is_free(g, aggregate, i, distance))
        {
            ball_take(g, aggregate, i, distance, i);
        }
    }
}

typedef struct join_pass
{
    const sa_graph* graph;
    const unsigned char* special;
    int *aggregate, *next;
} join_pass;

static double join_rows(void* context, int begin, int end)
{
    join_pass* c = context;
    double moved = 0.0;
    for (int i = begin; i < end; i++)
    {
        bool left = c->aggregate[i] < 0 && !c->special[i];
        c->next[i] = left ? nearest_aggregate(c->graph, c->aggregate, i) : c->aggregate[i];
        moved += left && c->next[i] >= 0;
    }
    return moved;
}

static void join_end(void* context, int begin, int end)
{
    join_pass* c = context;
    memcpy(c->aggregate + begin, c->next + begin, (size_t)(end - begin) * sizeof(int));
}

// Algorithm 2, in its second form: each node that is left joins the aggregate it is most strongly connected to. Rounds
// look at the round before, so that the order of nodes does not matter. Nothing is left over: the first node of each
// connected part has a free ball around it, and rounds reach the rest of the part.
static bool join_leftovers(workers* pool, const sa_graph* g, int rows, const unsigned char* special, int* aggregate)
{
    join_pass c = {g, special, aggregate, MEM_NEW(rows, int)};
    if (!c.next)
    {
        return false;
    }
    while (parallel_sum(pool, rows, ROW_GRAIN, join_rows, &c) > 0.0)
    {
        parallel_for(pool, rows, ROW_GRAIN, join_end, &c);
    }
    mem_free(c.next);
    return true;
}

// From roots to numbers, in the order of the roots: neighbours on this level stay neighbours on the next.
static int number_aggregates(int rows, int* aggregate)
{
    int count = 0;
    int* number = MEM_NEW(rows, int);
    for (int i = 0; i < rows && number; i++)
    {
        number[i] = aggregate[i] == i ? count++ : 0;
    }
    for (int i = 0; i < rows && number; i++)
    {
        aggregate[i] = aggregate[i] >= 0 ? number[aggregate[i]] : -1;
    }
    mem_free(number);
    return number ? count : -1;
}

static void clear_aggregates(int rows, int* aggregate)
{
    for (int i = 0; i < rows; i++)
    {
        aggregate[i] = -1;
    }
}

int sa_aggregate_serially(const sa_graph* g, int rows, const unsigned char* special, int distance, const int* tiles,
                          int tile_rows, int* aggregate)
{
    clear_aggregates(rows, aggregate);
    for (int k = 0; k * tile_rows < rows; k++)
    {
        int begin = (tiles ? tiles[k] : k) * tile_rows;
        take_balls(g, special, distance, begin, int_min(begin + tile_rows, rows), aggregate);
    }
    return join_leftovers(NULL, g, rows, special, aggregate) ? number_aggregates(rows, aggregate) : -1;
}

// ---- in parallel
//
// Nodes are taken in an order of priorities that no thread can change: tiles of consecutive nodes in the order of a
// hash, inside a tile one after the other. A tile may start when all tiles of higher priority that its balls could
// touch are done, so the outcome is that of the serial algorithm in that order.

typedef struct tile
{
    int* rivals; // tiles within twice the distance
    int rival_count;
    bool done;
} tile;

typedef struct tiling
{
    const sa_graph* graph;
    const unsigned char* special;
    int rows, distance, tile_rows, count;
    tile* tiles;
    int* ready;
    int* aggregate;
} tiling;

static uint32_t tile_priority(int k)
{
    uint32_t x = (uint32_t)k * 2654435769u; // one to one, so no two tiles are equal
    return x ^ x >> 15;
}

int sa_tile_compare(const void* a, const void* b)
{
    uint32_t x = tile_priority(*(const int*)a), y = tile_priority(*(const int*)b);
    return (x > y) - (x < y);
}

// All tiles that a walk of so many steps from this one can reach.
static double find_rivals(void* context, int begin, int end)
{
    tiling* c = context;
    const sa_graph* g = c->graph;
    int first = begin * c->tile_rows, last = int_min(end * c->tile_rows, c->rows); // one tile a call
    int_set seen = {0}, tiles = {0};
    for (int step = 0, from = 0; step < 2 * c->distance && !seen.failed; step++)
    {
        int count = step == 0 ? last - first : seen.count;
        for (int k = from; k < count; k++)
        {
            int i = step == 0 ? first + k : seen.list[k];
            for (int s = g->row_start[i]; s < g->row_start[i + 1]; s++)
            {
                int j = g->column[s];
                if (j < first || j >= last)
                {
                    int_set_add(&seen, j);
                    int_set_add(&tiles, j / c->tile_rows);
                }
            }
        }
        from = step == 0 ? 0 : count;
    }
    int_set_finish(&seen);
    bool failed = seen.failed || tiles.failed;
    c->tiles[begin] = (tile){tiles.list, tiles.count, false};
    tiles.list = NULL;
    int_set_finish(&tiles);
    return failed ? 1.0 : 0.0;
}

static void take_tiles(void* context, int begin, int end)
{
    tiling* c = context;
    for (int k = begin; k < end; k++)
    {
        int first = c->ready[k] * c->tile_rows;
        take_balls(c->graph, c->special, c->distance, first, int_min(first + c->tile_rows, c->rows), c->aggregate);
    }
}

static bool is_ready(const tiling* c, int k)
{
    for (int r = 0; r < c->tiles[k].rival_count; r++)
    {
        int rival = c->tiles[k].rivals[r];
        if (!c->tiles[rival].done && tile_priority(rival) < tile_priority(k))
        {
            return false;
        }
    }
    return !c->tiles[k].done;
}

static void take_in_rounds(workers* pool, tiling* c)
{
    for (int done = 0; done < c->count;)
    {
        int count = 0;
        for (int k = 0; k < c->count; k++)
        {
            if (is_ready(c, k))
            {
                c->ready[count++] = k;
            }
        }
        parallel_for(pool, count, 1, take_tiles, c);
        for (int k = 0; k < count; k++)
        {
            c->tiles[c->ready[k]].done = true;
        }
        done += count;
    }
}

int sa_aggregate(workers* pool, const sa_graph* g, int rows, const unsigned char* special, int distance, int tile_rows,
                 int* aggregate)
{
    int count = (rows + tile_rows - 1) / tile_rows;
    tiling c = {g, special, rows, distance, tile_rows, count, MEM_NEW(count, tile), MEM_NEW(count, int), aggregate};
    clear_aggregates(rows, aggregate);
    bool done = c.tiles && c.ready && parallel_sum(pool, count, 1, find_rivals, &c) == 0.0;
    if (done)
    {
        take_in_rounds(pool, &c);
        done = join_leftovers(pool, g, rows, special, aggregate);
    }
    for (int k = 0; k < count && c.tiles; k++)
    {
        mem_free(c.tiles[k].rivals);
    }
    mem_free(c.tiles);
    mem_free(c.ready);
    return done ? number_aggregates(rows, aggregate) : -1;
}
