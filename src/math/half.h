// Numbers in 16 bits as the standard of floating point has them: five bits of exponent, ten of mantissa. For memory
// alone; arithmetic is in float. What is below the normal range (6.1e-5) becomes zero, so that these functions and the
// processor's own conversions agree with denormals on and off.
#ifndef WEFT_HALF_H
#define WEFT_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_to_float(uint16_t h)
{
    uint32_t bits = (uint32_t)(h & 0x8000) << 16;
    bits |= h & 0x7C00 ? ((uint32_t)(h & 0x7FFF) << 13) + (112U << 23) : 0;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

// To the nearest, ties to even; what is too large becomes the largest.
static inline uint16_t half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t size = bits & 0x7FFFFFFF;
    size += 0xFFF + (size >> 13 & 1); // rounds what the shift cuts off
    if (size < 113U << 23)
    {
        return sign;
    }
    size = (size - (112U << 23)) >> 13;
    return (uint16_t)(sign | (size > 0x7BFF ? 0x7BFF : size));
}

#endif
