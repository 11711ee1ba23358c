// Gradients of faces, what they have in common in a cell, and which cells agree with those around: smooth.c.
#include <math.h>

#include "collide/box8.h"
#include "collide/broad.h"

// Columns of [x1 - x0, x2 - x0] times the inverse at rest.
WIDE_INLINE void gradient_of(const vec3* x, const int* v, const double* inverse, double out[6])
{
    const double *a = &x[v[0]].x, *b = &x[v[1]].x, *c = &x[v[2]].x;
    for (int k = 0; k < 3; k++)
    {
        double d = b[k] - a[k], e = c[k] - a[k];
        out[k] = d * inverse[0] + e * inverse[2];
        out[k + 3] = d * inverse[1] + e * inverse[3];
    }
}

static void faces(smooth_map* m, const vec3* start, const vec3* end, int begin, int last)
{
    for (int f = begin; f < last; f++)
    {
        double from[6], to[6], sum = 0.0;
        gradient_of(start, m->corner + 3 * (size_t)f, m->inverse + 4 * (size_t)f, from);
        gradient_of(end, m->corner + 3 * (size_t)f, m->inverse + 4 * (size_t)f, to);
        for (int k = 0; k < 6; k++)
        {
            m->gradient[f][k] = (float)from[k];
            sum += (to[k] - from[k]) * (to[k] - from[k]);
        }
        m->drift[f] = (float)sqrt(sum);
    }
}

// ---- cells

#define MOST 1000.0f // of a gradient: what is stretched so far is not trusted to floats

// Two unit vectors at a right angle, nearly along the columns.
WIDE_INLINE void frame_of(const float f[6], float out[6])
{
    float a = 0.0f, b = 0.0f, sum[3], difference[3], s = 0.0f, d = 0.0f;
    for (int k = 0; k < 3; k++)
    {
        a += f[k] * f[k];
        b += f[k + 3] * f[k + 3];
    }
    a = 1.0f / sqrtf(a);
    b = 1.0f / sqrtf(b);
    for (int k = 0; k < 3; k++)
    {
        sum[k] = f[k] * a + f[k + 3] * b;
        difference[k] = f[k] * a - f[k + 3] * b;
        s += sum[k] * sum[k];
        d += difference[k] * difference[k];
    }
    s = sqrtf(0.5f) / sqrtf(s);
    d = sqrtf(0.5f) / sqrtf(d);
    for (int k = 0; k < 3; k++)
    {
        out[k] = s * sum[k] + d * difference[k];
        out[k + 3] = s * sum[k] - d * difference[k];
    }
}

// An upper bound of the root of y from 0 to 1, by tangents.
WIDE_INLINE float8 root_above(float8 y)
{
    const float at[5] = {0.03f, 0.1f, 0.25f, 0.5f, 0.9f};
    float8 out = y * (0.5f / at[0]) + float8_set(0.5f * at[0]);
    for (int k = 1; k < 5; k++)
    {
        float8 other = y * (0.5f / at[k]) + float8_set(0.5f * at[k]);
        out = -float8_max(-out, -other);
    }
    return out;
}

// Lanes of the eight cells from `at` on that are smooth as seen in a frame with this normal: the least eigenvalue of
// the symmetric part of (frame^T mean), less what their faces are off the mean, is large enough. What is off across a
// cell's own plane counts by the sine of the angle between the planes. What is not a number does not agree.
WIDE_INLINE unsigned agreeing(const smooth_map* m, const float frame[6], const float normal[3], int at)
{
    float8 product[2][2];
    for (int i = 0; i < 2; i++)
    {
        for (int j = 0; j < 2; j++)
        {
            product[i][j] = frame[3 * i] * float8_load(m->mean[3 * j] + at) +
                            frame[3 * i + 1] * float8_load(m->mean[3 * j + 1] + at) +
                            frame[3 * i + 2] * float8_load(m->mean[3 * j + 2] + at);
        }
    }
    float8 cosine = normal[0] * float8_load(m->normal[0] + at) + normal[1] * float8_load(m->normal[1] + at) +
                    normal[2] * float8_load(m->normal[2] + at);
    float8 sine = root_above(float8_max(float8_set(0.0f), float8_set(1.0f) - cosine * cosine));
    float8 half = 0.5f * (product[0][0] + product[1][1]), turn = 0.5f * (product[0][0] - product[1][1]),
           shear = 0.5f * (product[0][1] + product[1][0]);
    float8 left = half - float8_load(m->spread + at) - sine * float8_load(m->lean + at) - float8_set(m->least);
    int8 fit = (left > float8_set(0.0f)) & (half < float8_set(MOST));
    return int8_bits(fit & (left * left > turn * turn + shear * shear));
}

WIDE_INLINE void normal_of(const float r[6], float out[3])
{
    out[0] = r[1] * r[5] - r[2] * r[4];
    out[1] = r[2] * r[3] - r[0] * r[5];
    out[2] = r[0] * r[4] - r[1] * r[3];
}

// The larger; what is not a number stays.
WIDE_INLINE float most_of(float so_far, float next)
{
    return next <= so_far ? so_far : next;
}

static void measure_cell(smooth_map* m, int cell)
{
    const int *face = m->cell_face + m->cell_start[cell], count = m->cell_start[cell + 1] - m->cell_start[cell];
    float mean[6] = {0}, frame[6], normal[3], spread = 0.0f, lean = 0.0f;
    for (int f = 0; f < count; f++)
    {
        for (int j = 0; j < 6; j++)
        {
            mean[j] += m->gradient[face[f]][j];
        }
    }
    for (int j = 0; j < 6; j++)
    {
        mean[j] *= 1.0f / (float)count;
        m->mean[j][cell] = mean[j];
    }
    frame_of(mean, frame);
    normal_of(frame, normal);
    for (int f = 0; f < count; f++)
    {
        const float* g = m->gradient[face[f]];
        float sum = 0.0f, across[2];
        for (int i = 0; i < 2; i++)
        {
            float d[3] = {g[3 * i] - mean[3 * i], g[3 * i + 1] - mean[3 * i + 1], g[3 * i + 2] - mean[3 * i + 2]};
            across[i] = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
            for (int j = 0; j < 3; j++)
            {
                float inside = d[j] - across[i] * normal[j];
                sum += inside * inside;
            }
        }
        spread = most_of(spread, sqrtf(sum) + m->drift[face[f]]);
        lean = most_of(lean, sqrtf(across[0] * across[0] + across[1] * across[1]));
    }
    for (int j = 0; j < 3; j++)
    {
        m->normal[j][cell] = normal[j];
    }
    m->spread[cell] = spread < 1.0f && lean < MOST ? spread : INFINITY;
    m->lean[cell] = lean;
}

static void cells(smooth_map* m, int begin, int end)
{
    for (int k = begin; k < end; k++)
    {
        if (m->sound[m->live[k]]) // else it is never smooth
        {
            measure_cell(m, m->live[k]);
        }
    }
}

static void windows(smooth_map* m, int begin, int end)
{
    for (int k = begin; k < end; k++)
    {
        int cell = m->live[k], stride = m->stride_of[k];
        uint64_t bits = 0;
        if (m->spread[cell] < INFINITY)
        {
            float mean[6], frame[6], normal[3];
            for (int j = 0; j < 6; j++)
            {
                mean[j] = m->mean[j][cell];
            }
            frame_of(mean, frame);
            normal_of(frame, normal);
            for (int row = 0; row < SMOOTH_WINDOW; row++)
            {
                int at = cell + (row - SMOOTH_BEHIND) * stride - SMOOTH_BEHIND;
                bits |= (uint64_t)agreeing(m, frame, normal, at) << SMOOTH_WINDOW * row;
            }
        }
        m->window[cell] = bits;
    }
}

extern const smooth_kernels KERNEL_NAME(smooth_kernels);
const smooth_kernels KERNEL_NAME(smooth_kernels) = {faces, cells, windows};
