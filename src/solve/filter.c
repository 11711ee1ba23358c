// The filter S of Baraff and Witkin (1998, section 5.2): block diagonal, for each constrained vertex the projection
// onto the directions in which it is free.
#include "solve/solve.h"

#include <string.h>

// S = I - sum of d d^T; with three directions exactly zero, because their outer products add up to I only nearly.
static void filter_fill_projection(filter_record* record)
{
    memset(record->S, 0, sizeof(record->S));
    if (record->direction_count == 3)
    {
        return;
    }
    record->S[0] = record->S[4] = record->S[8] = 1.0;
    for (int k = 0; k < record->direction_count; k++)
    {
        mat3 outer = m3_outer(record->direction[k], record->direction[k]);
        for (int e = 0; e < 9; e++)
        {
            record->S[e] -= outer.m[e];
        }
    }
}

filter_record filter_record_make(int vertex, const vec3* directions, int count)
{
    const double dependent = 1e-8; // what is left of a unit direction counts only above it
    filter_record record;
    memset(&record, 0, sizeof(record));
    record.vertex = vertex;
    for (int k = 0; k < count && record.direction_count < 3; k++)
    {
        // Twice, because one pass leaves rounding errors that are large where little is left of the direction.
        vec3 d = v3_normalize(directions[k]);
        for (int pass = 0; pass < 2; pass++)
        {
            for (int j = 0; j < record.direction_count; j++)
            {
                d = v3_madd(d, -v3_dot(d, record.direction[j]), record.direction[j]);
            }
            double length = v3_length(d);
            if (!(length > (pass == 0 ? dependent : 0.5)))
            {
                d = v3(0, 0, 0);
                break;
            }
            d = v3_scale(1.0 / length, d);
        }
        if (v3_dot(d, d) > 0.0)
        {
            record.direction[record.direction_count++] = d;
        }
    }
    filter_fill_projection(&record);
    return record;
}

// S must be symmetric, S S = S, to 1e-6.
static bool filter_is_projection(const double* S)
{
    const double slack = 1e-6;
    mat3 square = m3_mul(S, S);
    mat3 transposed = m3_transpose(S);
    for (int k = 0; k < 9; k++)
    {
        if (!(fabs(square.m[k] - S[k]) <= slack) || !(fabs(transposed.m[k] - S[k]) <= slack))
        {
            return false;
        }
    }
    return true;
}

// A projection that is exact up to rounding keeps its bits, so that what is written is what was read.
static void filter_keep_bits(filter_record* record, const double* S)
{
    const double rounding = 1e-14;
    for (int k = 0; k < 9; k++)
    {
        if (!(fabs(record->S[k] - S[k]) <= rounding) || S[k] != S[k % 3 * 3 + k / 3])
        {
            return;
        }
    }
    if (record->direction_count < 3)
    {
        memcpy(record->S, S, sizeof(record->S));
    }
}

bool filter_record_from_projection(int vertex, const double* S, filter_record* out)
{
    memset(out, 0, sizeof(*out));
    out->vertex = vertex;
    if (!filter_is_projection(S))
    {
        return false;
    }
    // The rank of I - S is its trace. Its longest columns first: each then leaves a well-sized rest.
    int count = (int)lround(3.0 - (S[0] + S[4] + S[8]));
    mat3 rest;
    for (int k = 0; k < 9; k++)
    {
        rest.m[k] = (k % 4 == 0 ? 1.0 : 0.0) - S[k];
    }
    vec3 directions[3];
    for (int found = 0; found < count; found++)
    {
        int longest = 0;
        vec3 columns[3];
        for (int j = 0; j < 3; j++)
        {
            columns[j] = v3(rest.m[j], rest.m[3 + j], rest.m[6 + j]);
            longest = v3_length(columns[j]) > v3_length(columns[longest]) ? j : longest;
        }
        vec3 d = v3_normalize(columns[longest]);
        directions[found] = d;
        mat3 outer = m3_outer(d, d);
        for (int k = 0; k < 9; k++)
        {
            rest.m[k] -= outer.m[k];
        }
    }
    *out = filter_record_make(vertex, directions, count);
    filter_keep_bits(out, S);
    return out->direction_count == count;
}

void filter_apply(const linear_system* system, vec3* x)
{
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* record = &system->filter[k];
        x[record->vertex] = m3_mul_v(record->S, x[record->vertex]);
    }
}

// (I - S) a as the sum over the directions, which keeps what lies along them free of cancellation.
static vec3 filter_constrained_part(const filter_record* record, vec3 a)
{
    if (record->direction_count == 3)
    {
        return a;
    }
    vec3 sum = v3(0, 0, 0);
    for (int k = 0; k < record->direction_count; k++)
    {
        sum = v3_madd(sum, v3_dot(record->direction[k], a), record->direction[k]);
    }
    return sum;
}

void filter_complement(const linear_system* system, vec3* x)
{
    int row = 0;
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* record = &system->filter[k];
        for (; row < record->vertex; row++)
        {
            x[row] = v3(0, 0, 0);
        }
        x[row] = filter_constrained_part(record, x[row]);
        row++;
    }
    for (; row < system->A.pattern->row_count; row++)
    {
        x[row] = v3(0, 0, 0);
    }
}

void filter_prescribed(const linear_system* system, vec3* x)
{
    memset(x, 0, (size_t)system->A.pattern->row_count * sizeof(*x));
    if (!system->z)
    {
        return;
    }
    for (int k = 0; k < system->filter_count; k++)
    {
        const filter_record* record = &system->filter[k];
        x[record->vertex] = filter_constrained_part(record, system->z[record->vertex]);
    }
}

bool vector_is_zero(const vec3* v, int count)
{
    for (int i = 0; i < count; i++)
    {
        if (v[i].x != 0.0 || v[i].y != 0.0 || v[i].z != 0.0)
        {
            return false;
        }
    }
    return true;
}
