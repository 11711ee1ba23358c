// Of obstacles, what is near: a small cloth over a large body need not look at all of the body, and several of them,
// each stepped with a collider of its own, must not.
//
// Two obstacles are no pair, so that only those features of obstacles count that can come near something that moves.
// These are chosen now and then: a window around all that moves, with room to spare, and the features of obstacles that
// are in it or could be, had each vertex moved by `pad`. The trees hold them and what moves. The choice lasts until
// something that moves comes nearer to the window's border than the margin, or a vertex of an obstacle is farther than
// `pad` from where it was. No pair depends on that: what is left out is farther apart than the margin.
#include <string.h>

#include "collide/broad.h"

static const double room_share = 0.5; // of the size of what moves, that the window is larger on each side
static const double room_margins = 4.0;
static const double rounding = 1e-9;

static bool is_passive(const weft_collider* c, int vertex)
{
    return c->rules.passive[c->rules.body[vertex]];
}

weft_status window_init(weft_collider* c)
{
    int passive = 0;
    for (int v = 0; v < c->vertex_count && c->rules.body; v++)
    {
        passive += is_passive(c, v);
    }
    near_window* w = &c->window;
    w->used = passive > c->vertex_count - passive && passive < c->vertex_count;
    if (!w->used)
    {
        return WEFT_OK;
    }
    w->chosen_at = MEM_NEW(c->vertex_count, vec3);
    w->vertex = MEM_NEW(c->vertex_count, int);
    w->marked = MEM_NEW(c->vertex_count, uint8_t);
    bool room = w->chosen_at && w->vertex && w->marked;
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        bvh* tree = &c->tree[kind];
        tree->chosen = MEM_NEW(tree->count, int);
        room = room && tree->chosen;
    }
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}

void window_finish(near_window* w)
{
    mem_free(w->chosen_at);
    mem_free(w->vertex);
    mem_free(w->marked);
    *w = (near_window){0};
}

static void box_join(double_box* box, vec3 x)
{
    const double at[3] = {x.x, x.y, x.z};
    for (int k = 0; k < 3; k++)
    {
        box->low[k] = at[k] < box->low[k] ? at[k] : box->low[k];
        box->high[k] = at[k] > box->high[k] ? at[k] : box->high[k];
    }
}

static double farthest(vec3 a, vec3 b)
{
    return fmax(fabs(a.x - b.x), fmax(fabs(a.y - b.y), fabs(a.z - b.z)));
}

void window_follow(weft_collider* c)
{
    double_box* box = &c->window.moving;
    *box = (double_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int v = 0; v < c->vertex_count; v++)
    {
        if (!is_passive(c, v))
        {
            box_join(box, c->start[v]);
            box_join(box, c->end[v]);
        }
    }
}

bool window_covers(const near_window* w, const double_box* box, double margin)
{
    bool inside = w->valid;
    for (int k = 0; k < 3; k++)
    {
        inside = inside && box->low[k] - margin >= w->inside.low[k] && box->high[k] + margin <= w->inside.high[k];
    }
    return inside;
}

static bool is_within(vec3 a, vec3 b, double most)
{
    return fabs(a.x - b.x) <= most && fabs(a.y - b.y) <= most && fabs(a.z - b.z) <= most;
}

bool window_left(const weft_collider* c, int begin, int end, const vec3* from, const vec3* to)
{
    const near_window* w = &c->window;
    for (int v = begin; v < end; v++)
    {
        // What is not finite has left, too.
        if (is_passive(c, v) &&
            !(is_within(from[v], w->chosen_at[v], w->pad) && is_within(to[v], w->chosen_at[v], w->pad)))
        {
            return true;
        }
    }
    return false;
}

// ---- choosing

// The window around what moves, and how far obstacles may go.
static void place(weft_collider* c, double margin)
{
    near_window* w = &c->window;
    double size = 0.0, way = 0.0;
    window_follow(c);
    for (int k = 0; k < 3; k++)
    {
        size = fmax(size, w->moving.high[k] - w->moving.low[k]);
    }
    for (int v = 0; v < c->vertex_count; v++)
    {
        if (is_passive(c, v))
        {
            w->chosen_at[v] = c->start[v];
            way = fmax(way, farthest(c->start[v], c->end[v]));
        }
    }
    double room = room_share * size + room_margins * margin;
    w->pad = room + way;
    for (int k = 0; k < 3; k++)
    {
        w->inside.low[k] = w->moving.low[k] - margin - room;
        w->inside.high[k] = w->moving.high[k] + margin + room;
    }
}

static bool is_chosen(const weft_collider* c, const int* corner, int count)
{
    const near_window* w = &c->window;
    if (!is_passive(c, corner[0]))
    {
        return true;
    }
    double_box box = feature_box(c->start, c->start, corner, count);
    return boxes_near(&box, &w->inside, w->pad * (1.0 + rounding));
}

static void choose_features(weft_collider* c, bvh* tree)
{
    tree->chosen_count = 0;
    for (int f = 0; f < tree->count; f++)
    {
        const int* corner = tree->corner + (size_t)f * (size_t)tree->arity;
        if (is_chosen(c, corner, tree->arity))
        {
            tree->chosen[tree->chosen_count++] = f;
            for (int k = 0; k < tree->arity; k++)
            {
                c->window.marked[corner[k]] = 1;
            }
        }
    }
}

void window_choose(weft_collider* c, double margin)
{
    near_window* w = &c->window;
    place(c, margin);
    memset(w->marked, 0, (size_t)c->vertex_count);
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
    {
        choose_features(c, &c->tree[kind]);
    }
    w->vertex_count = 0;
    for (int v = 0; v < c->vertex_count; v++)
    {
        if (w->marked[v])
        {
            w->vertex[w->vertex_count++] = v;
        }
    }
    w->valid = true;
}
