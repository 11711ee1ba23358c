// A way inside of garments to one of their openings: the cheapest through cells of a grid (Dijkstra's search, led by
// the straight distance, as Hart, Nilsson and Raphael 1968), where a metre near cloth costs more; then drawn smooth.
#include <string.h>

#include "core/way_heap.h"
#include "start/dress_walls.h"

enum
{
    CELLS = 180,         // over the diagonal of all garments
    ROOM_CELLS = 10,     // so far from cloth a way costs its length
    DEAREST = 100,       // times its length, at most
    MARGIN = 3,          // cells around the garments
    CELLS_MAX = 8000000, // of the grid
    ROUNDS = 30          // of smoothing
};

static const double goal_cells = 1.8; // from the middle of the opening: it is reached

typedef struct grid
{
    walls* walls;
    const unsigned char* inside; // [garment_count]
    vec3 low, goal;
    double size, room; // m
    int count[3];
    float* clear;        // [cells] m, to the cloth; negative: not known yet
    double* way;         // [cells]
    int* from;           // [cells]
    unsigned char* done; // [cells]
    way_heap heap;
} grid;

static void grid_finish(grid* g)
{
    mem_free(g->clear);
    mem_free(g->way);
    mem_free(g->from);
    mem_free(g->done);
    way_heap_finish(&g->heap);
}

static int cell_count(const grid* g)
{
    return g->count[0] * g->count[1] * g->count[2];
}

// *made: the garments have a size.
static weft_status grid_create(grid* g, walls* w, const unsigned char* inside, vec3 goal, bool* made)
{
    vec3 span = v3_sub(w->high, w->low);
    *g = (grid){.walls = w, .inside = inside, .goal = goal, .size = v3_length(span) / CELLS};
    g->room = ROOM_CELLS * g->size;
    g->low = v3_sub(w->low, v3_scale(MARGIN * g->size, v3(1, 1, 1)));
    const double spans[3] = {span.x, span.y, span.z};
    double all = 1.0;
    for (int k = 0; k < 3; k++)
    {
        g->count[k] = g->size > 0.0 ? (int)(spans[k] / g->size) + 2 * MARGIN + 1 : 0;
        all *= g->count[k];
    }
    *made = all > 0.0 && all < CELLS_MAX;
    if (!*made)
    {
        return WEFT_OK;
    }
    size_t n = (size_t)cell_count(g);
    g->clear = MEM_NEW(n, float);
    g->way = MEM_NEW(n, double);
    g->from = MEM_NEW(n, int);
    g->done = MEM_NEW(n, unsigned char);
    for (size_t k = 0; k < n && g->clear && g->way; k++)
    {
        g->clear[k] = -1.0f;
        g->way[k] = INFINITY;
    }
    return g->clear && g->way && g->from && g->done ? WEFT_OK : WEFT_NO_MEMORY;
}

static vec3 middle_of(const grid* g, int cell)
{
    int i = cell % g->count[0], j = cell / g->count[0] % g->count[1], k = cell / (g->count[0] * g->count[1]);
    return v3_madd(g->low, g->size, v3(i + 0.5, j + 0.5, k + 0.5));
}

static double room_at(const grid* g, vec3 p)
{
    return triangle_tree_nearest(&g->walls->cloth, g->walls->x, p, g->room).distance;
}

static double clear_at(grid* g, int cell)
{
    if (g->clear[cell] < 0.0f)
    {
        g->clear[cell] = (float)room_at(g, middle_of(g, cell));
    }
    return g->clear[cell];
}

static weft_status reach(grid* g, int cell, double way_there, int from)
{
    if (!(way_there < g->way[cell]))
    {
        return WEFT_OK;
    }
    g->way[cell] = way_there;
    g->from[cell] = from;
    return way_heap_push(&g->heap, (way){way_there + v3_length(v3_sub(middle_of(g, cell), g->goal)), cell});
}

// The cell beside another; -1: there is none.
static int beside(const grid* g, int cell, int step)
{
    const int now[3] = {cell % g->count[0], cell / g->count[0] % g->count[1], cell / (g->count[0] * g->count[1])};
    const int move[3] = {step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1};
    bool may = true;
    for (int k = 0; k < 3; k++)
    {
        may = may && now[k] + move[k] >= 0 && now[k] + move[k] < g->count[k];
    }
    return may ? cell + move[0] + g->count[0] * (move[1] + g->count[1] * move[2]) : -1;
}

static double price(const grid* g, double clear)
{
    double share = g->room / fmax(clear, 1e-3 * g->room);
    return fmin(fmax(share * share, 1.0), DEAREST);
}

static weft_status step_from(grid* g, int cell)
{
    double here = clear_at(g, cell);
    for (int step = 0; step < 27; step++)
    {
        int next = step == 13 ? -1 : beside(g, cell, step);
        if (next < 0 || g->done[next])
        {
            continue;
        }
        vec3 a = middle_of(g, cell), b = middle_of(g, next);
        double there = clear_at(g, next), length = v3_length(v3_sub(b, a));
        // What is inside stays so as long as no lid is passed: winding numbers of all cells took most of the time.
        bool free = (here + there > length || !walls_hit(g->walls, a, b)) && !walls_left(g->walls, a, b, g->inside);
        TRY(free ? reach(g, next, g->way[cell] + length * price(g, fmin(here, there)), cell) : WEFT_OK);
    }
    return WEFT_OK;
}

// The cells around a point that it sees are where the search begins.
static weft_status begin(grid* g, vec3 p)
{
    const vec3 at = v3_scale(1.0 / g->size, v3_sub(p, g->low));
    int i = (int)at.x, j = (int)at.y, k = (int)at.z;
    if (!(at.x >= 0.0 && at.y >= 0.0 && at.z >= 0.0 && i < g->count[0] && j < g->count[1] && k < g->count[2]))
    {
        return WEFT_OK;
    }
    int cell = i + g->count[0] * (j + g->count[1] * k);
    for (int step = 0; step < 27; step++)
    {
        int next = beside(g, cell, step);
        bool sees = next >= 0 && !walls_hit(g->walls, p, middle_of(g, next)) &&
                    !walls_left(g->walls, p, middle_of(g, next), g->inside);
        TRY(sees ? reach(g, next, v3_length(v3_sub(middle_of(g, next), p)), -1) : WEFT_OK);
    }
    return WEFT_OK;
}

static weft_status search(grid* g, int* out)
{
    *out = -1;
    while (g->heap.count > 0 && *out < 0)
    {
        int cell = way_heap_pop(&g->heap).vertex;
        if (g->done[cell])
        {
            continue;
        }
        g->done[cell] = 1;
        vec3 p = middle_of(g, cell);
        bool there = v3_length(v3_sub(p, g->goal)) < goal_cells * g->size && !walls_hit(g->walls, p, g->goal);
        *out = there ? cell : -1;
        TRY(there ? WEFT_OK : step_from(g, cell));
    }
    return WEFT_OK;
}

weft_status thread_add(thread_way* way, vec3 point)
{
    TRY(mem_grow((void**)&way->point, &way->capacity, way->count + 1, sizeof(vec3)) ? WEFT_OK : WEFT_NO_MEMORY);
    way->point[way->count++] = point;
    return WEFT_OK;
}

static weft_status take_way(grid* g, int cell, thread_way* way)
{
    int first = way->count;
    for (int k = cell; k >= 0; k = g->from[k])
    {
        TRY(thread_add(way, middle_of(g, k)));
    }
    for (int a = first, b = way->count - 1; a < b; a++, b--)
    {
        vec3 swap = way->point[a];
        way->point[a] = way->point[b];
        way->point[b] = swap;
    }
    return thread_add(way, g->goal);
}

// Points go to the middle of their neighbours where that is no nearer to cloth, or far from it.
static void draw_smooth(const grid* g, vec3* p, int count)
{
    for (int round = 0; round < ROUNDS; round++)
    {
        for (int k = 1; k + 1 < count; k++)
        {
            vec3 to = v3_scale(0.5, v3_add(p[k - 1], p[k + 1]));
            bool room = room_at(g, to) >= fmin(room_at(g, p[k]), 0.7 * g->room);
            bool free = room && !walls_hit(g->walls, p[k - 1], to) && !walls_hit(g->walls, to, p[k + 1]) &&
                        !walls_left(g->walls, p[k - 1], to, g->inside);
            p[k] = free ? to : p[k];
        }
    }
}

weft_status walls_find_way(walls* w, const opening* to, const unsigned char* inside, thread_way* way, bool* found)
{
    grid g;
    bool made;
    int cell = -1, first = way->count - 1;
    weft_status status = grid_create(&g, w, inside, to->middle, &made);
    status = status == WEFT_OK && made ? begin(&g, way->point[first]) : status;
    status = status == WEFT_OK && made ? search(&g, &cell) : status;
    *found = cell >= 0;
    status = status == WEFT_OK && *found ? take_way(&g, cell, way) : status;
    status == WEFT_OK&&* found ? draw_smooth(&g, way->point + first, way->count - first) : (void)0;
    grid_finish(&g);
    return status;
}
