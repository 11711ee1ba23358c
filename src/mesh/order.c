// Vertices along a Hilbert curve, so that neighbours in space are neighbours in memory.
//
// 21 bits a coordinate, scaled by the longest side of the bounding box; the curve's index by Skilling's transform
// ("Programming the Hilbert curve", AIP 2004); a stable radix sort, so that ties keep the given order.
#include "mesh/mesh_inside.h"

enum
{
    AXIS_BITS = 21,
    AXIS_MAX = (1 << AXIS_BITS) - 1,
    RADIX_BITS = 11,
    RADIX_SIZE = 1 << RADIX_BITS,
    KEY_BITS = 3 * AXIS_BITS,
    LANES = 16
};

struct order_item
{
    uint64_t key; // place along the curve
    int index;
};

// Skilling's axes-to-transpose for three axes, in place, of many points side by side: what depends on a bit is masked
// by it, so that a compiler takes several points at once.
static void hilbert_transpose(uint32_t x[3][LANES])
{
    for (int bit = AXIS_BITS - 1; bit > 0; bit--)
    {
        uint32_t p = (1u << bit) - 1;
        for (int i = 0; i < 3; i++)
        {
            for (int k = 0; k < LANES; k++)
            {
                uint32_t set = 0u - (x[i][k] >> bit & 1u);
                uint32_t swap = (x[0][k] ^ x[i][k]) & p & ~set;
                x[0][k] ^= (p & set) | swap;
                x[i][k] ^= swap;
            }
        }
    }
    uint32_t gray[LANES] = {0};
    for (int k = 0; k < LANES; k++)
    {
        x[1][k] ^= x[0][k];
        x[2][k] ^= x[1][k];
    }
    for (int bit = AXIS_BITS - 1; bit > 0; bit--)
    {
        for (int k = 0; k < LANES; k++)
        {
            gray[k] ^= (0u - (x[2][k] >> bit & 1u)) & ((1u << bit) - 1);
        }
    }
    for (int i = 0; i < 3; i++)
    {
        for (int k = 0; k < LANES; k++)
        {
            x[i][k] ^= gray[k];
        }
    }
}

// Spreads 21 bits to every third place.
static uint64_t spread_bits(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffffu;
    x = (x | x << 16) & 0x001f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

// Not-a-number and what rounds beyond the box end at its sides.
static uint32_t quantize(double x, double low, double scale)
{
    return (uint32_t)fmax(0.0, fmin((x - low) * scale, AXIS_MAX));
}

static void order_keys(const vec3* position, int count, order_item* items)
{
    vec3 low = position[0], high = position[0];
    for (int v = 1; v < count; v++)
    {
        vec3 x = position[v];
        low = v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    double extent = fmax(high.x - low.x, fmax(high.y - low.y, high.z - low.z));
    double scale = extent > 0.0 ? AXIS_MAX / extent : 0.0;
    for (int first = 0; first < count; first += LANES)
    {
        int here = count - first < LANES ? count - first : LANES;
        uint32_t x[3][LANES] = {{0}};
        for (int k = 0; k < here; k++)
        {
            vec3 p = position[first + k];
            x[0][k] = quantize(p.x, low.x, scale);
            x[1][k] = quantize(p.y, low.y, scale);
            x[2][k] = quantize(p.z, low.z, scale);
        }
        hilbert_transpose(x);
        for (int k = 0; k < here; k++)
        {
            uint64_t key = spread_bits(x[0][k]) << 2 | spread_bits(x[1][k]) << 1 | spread_bits(x[2][k]);
            items[first + k] = (order_item){key, first + k};
        }
    }
}

// One stable pass by the digit at `shift`.
static void radix_pass(const order_item* from, order_item* to, int count, int shift)
{
    int start[RADIX_SIZE] = {0};
    for (int k = 0; k < count; k++)
    {
        start[from[k].key >> shift & (RADIX_SIZE - 1)]++;
    }
    int sum = 0;
    for (int digit = 0; digit < RADIX_SIZE; digit++)
    {
        int here = start[digit];
        start[digit] = sum;
        sum += here;
    }
    for (int k = 0; k < count; k++)
    {
        to[start[from[k].key >> shift & (RADIX_SIZE - 1)]++] = from[k];
    }
}

bool order_reserve(order_scratch* s, int count)
{
    if (count > s->capacity)
    {
        order_finish(s);
        s->item[0] = MEM_NEW(count, order_item);
        s->item[1] = MEM_NEW(count, order_item);
        s->capacity = s->item[0] && s->item[1] ? count : 0;
    }
    return count <= s->capacity;
}

void order_finish(order_scratch* s)
{
    mem_free(s->item[0]);
    mem_free(s->item[1]);
    *s = (order_scratch){0};
}

void order_along_curve(const vec3* position, int count, order_scratch* s, int* new_of_old)
{
    order_item *items = s->item[0], *spare = s->item[1];
    count > 0 ? order_keys(position, count, items) : (void)0;
    for (int shift = 0; shift < KEY_BITS; shift += RADIX_BITS)
    {
        radix_pass(items, spare, count, shift);
        order_item* sorted = spare;
        spare = items;
        items = sorted;
    }
    for (int k = 0; k < count; k++)
    {
        new_of_old[items[k].index] = k;
    }
}

weft_status mesh_order(const vec3* position, int count, int* new_of_old)
{
    order_scratch s = {0};
    bool room = order_reserve(&s, count);
    room ? order_along_curve(position, count, &s, new_of_old) : (void)0;
    order_finish(&s);
    return room ? WEFT_OK : WEFT_NO_MEMORY;
}
