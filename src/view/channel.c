// Channels: one 16-bit number for each vertex and frame. The guess in time is nothing, the frame before, or 2 x1 - x2;
// what it leaves is guessed in space: nothing, a neighbour, or the parallelogram's corner. All sums are taken modulo
// 2^16, so that no prediction can lose anything. Of the nine ways the one with the fewest bits is taken.
#include "view/packing.h"

enum
{
    TIME_MODES = 3,
    SPACE_MODES = 3,
    LOW_ONLY = 16 // flag: there is no plane of high bytes, all are zero
};

weft_status channel_make(channel* c, int capacity)
{
    *c = (channel){.now = MEM_NEW(capacity, uint16_t),
                   .before = MEM_NEW(capacity, uint16_t),
                   .before2 = MEM_NEW(capacity, uint16_t)};
    return c->now && c->before && c->before2 ? WEFT_OK : WEFT_NO_MEMORY;
}

void channel_finish(channel* c)
{
    mem_free(c->now);
    mem_free(c->before);
    mem_free(c->before2);
    *c = (channel){0};
}

// `now` is free between two frames.
static void follow(uint16_t** values, uint16_t** scratch, const int* origin, int vertex_count)
{
    for (int v = 0; v < vertex_count; v++)
    {
        (*scratch)[v] = (*values)[origin[v]];
    }
    uint16_t* old = *values;
    *values = *scratch;
    *scratch = old;
}

void channel_follow(channel* c, const int* origin, int vertex_count)
{
    follow(&c->before, &c->now, origin, vertex_count);
    follow(&c->before2, &c->now, origin, vertex_count);
}

// ---- prediction

static uint16_t after_time(const channel* c, int v, int mode)
{
    uint16_t guess = mode == 0 ? 0 : mode == 1 ? c->before[v] : (uint16_t)(2 * c->before[v] - c->before2[v]);
    return (uint16_t)(c->now[v] - guess);
}

// What is left at a place of the order, with signs folded in: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static uint16_t residual(const channel* c, const mesh_order* order, int place, int mode)
{
    int time = mode % TIME_MODES, space = mode / TIME_MODES;
    const int* parents = order->parents + 3 * (size_t)place;
    uint16_t left = after_time(c, order->vertex[place], time);
    if (space > 0 && parents[0] >= 0)
    {
        left = (uint16_t)(left - after_time(c, parents[0], time));
    }
    if (space == 2 && parents[0] >= 0)
    {
        left = (uint16_t)(left - after_time(c, parents[1], time) + after_time(c, parents[2], time));
    }
    int sign = (int16_t)left;
    return (uint16_t)(sign < 0 ? -2 * sign - 1 : 2 * sign);
}

static int bit_length(uint16_t value)
{
    return value == 0 ? 0 : 32 - __builtin_clz(value);
}

static int64_t mode_cost(const channel* c, const mesh_order* order, int mode)
{
    int64_t bits = 0;
    for (int place = 0; place < order->count; place++)
    {
        bits += bit_length(residual(c, order, place, mode));
    }
    return bits;
}

static int best_mode(const channel* c, const mesh_order* order)
{
    int best = 0;
    int64_t least = INT64_MAX;
    for (int mode = 0; mode < TIME_MODES * SPACE_MODES; mode++)
    {
        if (mode % TIME_MODES > c->history)
        {
            continue;
        }
        int64_t cost = mode_cost(c, order, mode);
        if (cost < least)
        {
            least = cost;
            best = mode;
        }
    }
    return best;
}

// ---- packing

static void pack_plane(const channel* c, const mesh_order* order, int mode, int shift, packet* out)
{
    for (int place = 0; place < order->count; place++)
    {
        packet_byte(out, (uint8_t)(residual(c, order, place, mode) >> shift));
    }
}

static bool needs_high(const channel* c, const mesh_order* order, int mode)
{
    for (int place = 0; place < order->count; place++)
    {
        if (residual(c, order, place, mode) > 255)
        {
            return true;
        }
    }
    return false;
}

void channel_pack(channel* c, const mesh_order* order, packet* out)
{
    int mode = best_mode(c, order);
    bool high = needs_high(c, order, mode);
    packet_byte(out, (uint8_t)(mode | (high ? 0 : LOW_ONLY)));
    pack_plane(c, order, mode, 0, out);
    if (high)
    {
        pack_plane(c, order, mode, 8, out);
    }
    uint16_t* oldest = c->before2;
    c->before2 = c->before;
    c->before = c->now;
    c->now = oldest;
    c->history = int_min(c->history + 1, 2);
}
