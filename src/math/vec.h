// Three-vectors, 3 x 3 matrices (row-major double[9] where they live in arrays) and counter-based random numbers.
#ifndef WEFT_VEC_H
#define WEFT_VEC_H

#include <math.h>
#include <stdint.h>

#include "weft/types.h"

#define PI 3.14159265358979323846

typedef weft_vec2 vec2;
typedef weft_vec3 vec3;

typedef struct mat3
{
    double m[9]; // row-major
} mat3;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){x, y, z};
}

static inline vec3 v3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 v3_sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 v3_scale(double s, vec3 a)
{
    return (vec3){s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline vec3 v3_madd(vec3 a, double s, vec3 b)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double v3_length(vec3 a)
{
    return sqrt(v3_dot(a, a));
}

// Zero stays zero.
static inline vec3 v3_normalize(vec3 a)
{
    double length = v3_length(a);
    return length > 0.0 ? v3_scale(1.0 / length, a) : a;
}

// To the nearest float. The volatile is needed: gcc 12.2 at -O2 turns the pair of conversions of two neighbours into
// nothing when it puts them into one vector.
static inline double round_to_float(double x)
{
    volatile float rounded = (float)x;
    return rounded;
}

static inline vec3 v3_round(vec3 a)
{
    return (vec3){round_to_float(a.x), round_to_float(a.y), round_to_float(a.z)};
}

static inline int v3_is_finite(vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline mat3 m3_diagonal(double d)
{
    return (mat3){{d, 0, 0, 0, d, 0, 0, 0, d}};
}

static inline mat3 m3_outer(vec3 a, vec3 b)
{
    return (mat3){{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
}

static inline vec3 m3_mul_v(const double* m, vec3 a)
{
    return (vec3){m[0] * a.x + m[1] * a.y + m[2] * a.z, m[3] * a.x + m[4] * a.y + m[5] * a.z,
                  m[6] * a.x + m[7] * a.y + m[8] * a.z};
}

static inline mat3 m3_mul(const double* a, const double* b)
{
    mat3 c;
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            c.m[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    return c;
}

static inline mat3 m3_transpose(const double* a)
{
    return (mat3){{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}};
}

static inline double m3_determinant(const double* a)
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

// Inverse of a symmetric positive definite matrix; false when a pivot is not positive.
static inline int m3_invert_spd(const double* a, double* out)
{
    double c00 = a[4] * a[8] - a[5] * a[5];
    double c01 = a[2] * a[5] - a[1] * a[8];
    double c02 = a[1] * a[5] - a[2] * a[4];
    double determinant = a[0] * c00 + a[1] * c01 + a[2] * c02;
    if (!(a[0] > 0.0) || !(a[0] * a[4] - a[1] * a[1] > 0.0) || !(determinant > 0.0))
    {
        return 0;
    }
    double s = 1.0 / determinant;
    out[0] = s * c00;
    out[1] = out[3] = s * c01;
    out[2] = out[6] = s * c02;
    out[4] = s * (a[0] * a[8] - a[2] * a[2]);
    out[5] = out[7] = s * (a[1] * a[2] - a[0] * a[5]);
    out[8] = s * (a[0] * a[4] - a[1] * a[1]);
    return 1;
}

// Counter-based random numbers: the value depends on (seed, index) alone, never on who asks first.
static inline uint64_t random_bits(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u + 0x8CB92BA72F3D8DD7u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 27);
}

// Uniform in [0, 1).
static inline double random_unit(uint64_t seed, uint64_t index)
{
    return (double)(random_bits(seed, index) >> 11) * 0x1p-53;
}

#endif
