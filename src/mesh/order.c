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
    KEY_BITS = 3 * AXIS_BITS
};

struct order_item
{
    uint64_t key; // place along the curve
    int index;
};

// Skilling's axes-to-transpose for three axes, in place.
static void hilbert_transpose(uint32_t x[3])
{
    for (uint32_t q = 1u << (AXIS_BITS - 1); q > 1; q >>= 1)
    {
        uint32_t p = q - 1;
        for (int i = 0; i < 3; i++)
        {
            uint32_t swap = x[i] & q ? 0 : (x[0] ^ x[i]) & p;
            x[0] ^= x[i] & q ? p : swap;
            x[i] ^= swap;
        }
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t gray = 0;
    for (uint32_t q = 1u << (AXIS_BITS - 1); q > 1; q >>= 1)
    {
        gray ^= x[2] & q ? q - 1 : 0;
    }
    for (int i = 0; i < 3; i++)
    {
        x[i] ^= gray;
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
    for (int v = 0; v < count; v++)
    {
        vec3 p = position[v];
        uint32_t x[3] = {quantize(p.x, low.x, scale), quantize(p.y, low.y, scale), quantize(p.z, low.z, scale)};
        hilbert_transpose(x);
        items[v] = (order_item){spread_bits(x[0]) << 2 | spread_bits(x[1]) << 1 | spread_bits(x[2]), v};
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
