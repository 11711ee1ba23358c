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

// Lanes of the eight cells from `at` on whose smallest eigenvalue of the symmetric part of (frame^T mean), less their
// spread, is large enough. What is not a number is not.
WIDE_INLINE unsigned agreeing(const smooth_map* m, const float frame[6], int at)
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
    float8 half = 0.5f * (product[0][0] + product[1][1]), turn = 0.5f * (product[0][0] - product[1][1]),
           shear = 0.5f * (product[0][1] + product[1][0]);
    float8 left = half - float8_load(m->spread + at) - float8_set(SMOOTH_LEAST);
    int8 fit = (left > float8_set(0.0f)) & (half < float8_set(MOST));
    return int8_bits(fit & (left * left > turn * turn + shear * shear));
}

// Likewise of one cell, as it sees itself.
WIDE_INLINE bool agrees(const float frame[6], const float mean[6], float spread)
{
    float p[2][2];
    for (int i = 0; i < 2; i++)
    {
        for (int j = 0; j < 2; j++)
        {
            p[i][j] = frame[3 * i] * mean[3 * j] + frame[3 * i + 1] * mean[3 * j + 1] + frame[3 * i + 2] * mean[3 * j + 2];
        }
    }
    float half = 0.5f * (p[0][0] + p[1][1]), turn = 0.5f * (p[0][0] - p[1][1]), shear = 0.5f * (p[0][1] + p[1][0]);
    float left = half - spread - SMOOTH_LEAST;
    return left > 0.0f && half < MOST && left * left > turn * turn + shear * shear;
}

static void cells(smooth_map* m, int begin, int end)
{
    for (int k = begin; k < end; k++)
    {
        int cell = m->live[k], first = m->cell_start[cell], last = m->cell_start[cell + 1];
        float mean[6] = {0}, spread = m->sound[cell] ? 0.0f : INFINITY;
        for (int f = first; f < last && m->sound[cell]; f++)
        {
            for (int j = 0; j < 6; j++)
            {
                mean[j] += m->gradient[m->cell_face[f]][j];
            }
        }
        for (int j = 0; j < 6; j++)
        {
            mean[j] *= 1.0f / (float)(last - first);
            m->mean[j][cell] = mean[j];
        }
        for (int f = first; f < last && m->sound[cell]; f++)
        {
            const float* g = m->gradient[m->cell_face[f]];
            float sum = 0.0f;
            for (int j = 0; j < 6; j++)
            {
                sum += (g[j] - mean[j]) * (g[j] - mean[j]);
            }
            float off = sqrtf(sum) + m->drift[m->cell_face[f]];
            spread = off <= spread ? spread : off; // what is not a number goes on
        }
        float frame[6];
        frame_of(mean, frame);
        m->spread[cell] = agrees(frame, mean, spread) ? spread : INFINITY;
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
            float mean[6], frame[6];
            for (int j = 0; j < 6; j++)
            {
                mean[j] = m->mean[j][cell];
            }
            frame_of(mean, frame);
            for (int row = 0; row < SMOOTH_WINDOW; row++)
            {
                int at = cell + (row - SMOOTH_BEHIND) * stride - SMOOTH_BEHIND;
                bits |= (uint64_t)agreeing(m, frame, at) << SMOOTH_WINDOW * row;
            }
        }
        m->window[cell] = bits;
    }
}

extern const smooth_kernels KERNEL_NAME(smooth_kernels);
const smooth_kernels KERNEL_NAME(smooth_kernels) = {faces, cells, windows};
