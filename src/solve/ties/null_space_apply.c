// Products with T and its transpose, and the orthogonal projection S = T (T^T T)^-1 T^T. They run over the members of
// ties alone, serially and in a fixed order; all other vertices have their own filter.
#include "solve/ties/null_space.h"

#include <string.h>

// ---- over members

// a in the directions that y has at member m.
static vec3 member_filter(const null_space* s, int m, vec3 a)
{
    return s->record[m] >= 0 ? m3_mul_v(s->filter[s->record[m]].S, a) : a;
}

static vec3 transposed_mul(const double* m, vec3 a)
{
    return v3(m[0] * a.x + m[3] * a.y + m[6] * a.z, m[1] * a.x + m[4] * a.y + m[7] * a.z,
              m[2] * a.x + m[5] * a.y + m[8] * a.z);
}

// out = T y over members
static void members_expand(const null_space* s, const vec3* y, vec3* out)
{
    for (int m = 0; m < s->member_count; m++)
    {
        int row = s->slave_row[m];
        if (row < 0)
        {
            out[m] = member_filter(s, m, y[m]);
            continue;
        }
        vec3 sum = v3(0, 0, 0);
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            sum = v3_add(sum, m3_mul_v(s->block + 9 * (size_t)k, y[s->column[k]]));
        }
        out[m] = sum;
    }
}

// out = T^T x over members
static void members_restrict(const null_space* s, const vec3* x, vec3* out)
{
    for (int m = 0; m < s->member_count; m++)
    {
        vec3 sum = s->slave_row[m] < 0 ? x[m] : v3(0, 0, 0);
        for (int k = s->entry_start[m]; k < s->entry_start[m + 1]; k++)
        {
            int from = s->slave[s->entry_row[k]];
            sum = v3_add(sum, transposed_mul(s->block + 9 * (size_t)s->entry[k], x[from]));
        }
        out[m] = member_filter(s, m, sum);
    }
}

static double members_dot(const null_space* s, const vec3* a, const vec3* b)
{
    double sum = 0.0;
    for (int m = 0; m < s->member_count; m++)
    {
        sum += v3_dot(a[m], b[m]);
    }
    return sum;
}

// out = M x over members
static void members_weigh(const null_space* s, const double* mass, const vec3* x, vec3* out)
{
    for (int m = 0; m < s->member_count; m++)
    {
        out[m] = mass ? v3_scale(mass[s->member[m]], x[m]) : x[m];
    }
}

// y of T^T M T y = T^T M x over members, by conjugate gradients, M the masses of all vertices or the identity: T^T T is
// the identity plus what follows it, so its condition is small, however many ties hang together. Uses all work arrays;
// y may be x.
static void members_solve(const null_space* s, const double* mass, const vec3* x, vec3* y)
{
    vec3 *u = s->work[0], *r = s->work[1], *p = s->work[2], *q = s->work[3];
    members_weigh(s, mass, x, q);
    const double enough = 1e-32 * members_dot(s, q, q); // below, r . r is rounding
    members_restrict(s, q, r);
    memcpy(p, r, (size_t)s->member_count * sizeof(vec3));
    memset(u, 0, (size_t)s->member_count * sizeof(vec3));
    double rr = members_dot(s, r, r);
    int limit = 3 * s->member_count + 20;
    for (int k = 0; k < limit && rr > enough; k++)
    {
        members_expand(s, p, y);
        members_weigh(s, mass, y, q);
        double curvature = members_dot(s, y, q);
        if (!(curvature > 0.0))
        {
            break;
        }
        members_weigh(s, mass, y, y);
        members_restrict(s, y, q);
        double alpha = rr / curvature, last = rr;
        for (int m = 0; m < s->member_count; m++)
        {
            u[m] = v3_madd(u[m], alpha, p[m]);
            // Filtered again: what rounding leaves of r outside of the space of y would stay when r itself has gone.
            r[m] = member_filter(s, m, v3_madd(r[m], -alpha, q[m]));
        }
        rr = members_dot(s, r, r);
        for (int m = 0; m < s->member_count; m++)
        {
            p[m] = v3_madd(r[m], rr / last, p[m]);
        }
    }
    memcpy(y, u, (size_t)s->member_count * sizeof(vec3));
}

// ---- over all vertices

// x = the filter of y times x at vertices that no tie names
static void filter_others(const null_space* s, vec3* x)
{
    for (int k = 0; k < s->filter_count; k++)
    {
        const filter_record* record = &s->filter[k];
        if (s->index[record->vertex] < 0)
        {
            x[record->vertex] = m3_mul_v(record->S, x[record->vertex]);
        }
    }
}

static void members_load(const null_space* s, const vec3* x, vec3* out)
{
    for (int m = 0; m < s->member_count; m++)
    {
        out[m] = x[s->member[m]];
    }
}

static void members_store(const null_space* s, const vec3* from, vec3* x)
{
    for (int m = 0; m < s->member_count; m++)
    {
        x[s->member[m]] = from[m];
    }
}

void null_space_expand(const null_space* s, vec3* x)
{
    filter_others(s, x);
    members_load(s, x, s->work[0]);
    members_expand(s, s->work[0], s->work[1]);
    members_store(s, s->work[1], x);
}

void null_space_restrict(const null_space* s, vec3* x)
{
    filter_others(s, x);
    members_load(s, x, s->work[0]);
    members_restrict(s, s->work[0], s->work[1]);
    members_store(s, s->work[1], x);
}

static void coordinates(const null_space* s, const double* mass, vec3* x)
{
    vec3* y = s->work[4];
    filter_others(s, x);
    members_load(s, x, y);
    members_solve(s, mass, y, y);
    members_store(s, y, x);
}

void null_space_coordinates(const null_space* s, vec3* x)
{
    coordinates(s, NULL, x);
}

void null_space_project(const null_space* s, vec3* x)
{
    null_space_coordinates(s, x);
    null_space_expand(s, x);
}

void null_space_project_masses(const null_space* s, const double* mass, vec3* x)
{
    coordinates(s, mass, x);
    null_space_expand(s, x);
}

// J x stays what it was whatever the accuracy of y, since T y has none of it.
void null_space_complement(const null_space* s, const linear_system* system, vec3* x)
{
    vec3 *left = s->work[5], *y = s->work[4];
    members_load(s, x, left);
    filter_complement(system, x);
    members_solve(s, NULL, left, y);
    members_expand(s, y, s->work[0]);
    for (int m = 0; m < s->member_count; m++)
    {
        left[m] = v3_sub(left[m], s->work[0][m]);
    }
    members_store(s, left, x);
}

void null_space_satisfy(const null_space* s, const linear_system* system, vec3* z)
{
    for (int row = 0, next = 0; row < s->slave_count; row++)
    {
        int vertex = s->member[s->slave[row]];
        while (next < system->filter_count && system->filter[next].vertex < vertex)
        {
            next++;
        }
        // What the filter holds stays; the rest follows the masters, whose part in z is not moved here.
        vec3 sum = s->constant[row];
        if (next < system->filter_count && system->filter[next].vertex == vertex)
        {
            vec3 free = m3_mul_v(system->filter[next].S, z[vertex]);
            sum = v3_add(sum, v3_sub(z[vertex], free));
        }
        for (int k = s->row_start[row]; k < s->row_start[row + 1]; k++)
        {
            sum = v3_add(sum, m3_mul_v(s->block + 9 * (size_t)k, z[s->member[s->column[k]]]));
        }
        z[vertex] = sum;
    }
}
