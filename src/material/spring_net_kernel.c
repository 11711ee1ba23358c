// Forces of springs by vertex (spring_net.h), compiled once for each CPU kind.
#include "material/spring_net.h"
#include "math/wide_vec.h"

typedef double quad __attribute__((vector_size(32)));

// x, y, z and what lies behind.
WIDE_INLINE quad quad_load(const vec3* p)
{
    quad a;
    memcpy(&a, p, sizeof(a));
    return a;
}

// Lane k is x[at[k]]: eight loads and a transposition.
WIDE_INLINE wvec wv_take(const vec3* x, const int* at)
{
    wide pair[4];
    for (int k = 0; k < 4; k++)
    {
        pair[k] = __builtin_shufflevector(quad_load(&x[at[k]]), quad_load(&x[at[k + 4]]), 0, 1, 2, 3, 4, 5, 6, 7);
    }
    wide xz01 = __builtin_shufflevector(pair[0], pair[1], 0, 8, 2, 10, 4, 12, 6, 14);
    wide xz23 = __builtin_shufflevector(pair[2], pair[3], 0, 8, 2, 10, 4, 12, 6, 14);
    wide y01 = __builtin_shufflevector(pair[0], pair[1], 1, 9, 3, 11, 5, 13, 7, 15);
    wide y23 = __builtin_shufflevector(pair[2], pair[3], 1, 9, 3, 11, 5, 13, 7, 15);
    return (wvec){__builtin_shufflevector(xz01, xz23, 0, 1, 8, 9, 4, 5, 12, 13),
                  __builtin_shufflevector(y01, y23, 0, 1, 8, 9, 4, 5, 12, 13),
                  __builtin_shufflevector(xz01, xz23, 2, 3, 10, 11, 6, 7, 14, 15)};
}

// A spring without length: the direction is that of the last state, or none.
static vec3 lost_force(const spring_net* net, const vec3* x_last, int i, int at)
{
    vec3 d = v3_sub(x_last[net->other[at]], x_last[i]);
    double length = v3_length(d);
    return length > 1e-150 ? v3_scale(-net->stiffness[at] * net->length[at] / length, d) : v3(0, 0, 0);
}

static void add_lost(const spring_net* net, const vec3* x, const vec3* x_last, int slice, vec3* out)
{
    for (int at = SLICE * net->start[slice]; at < SLICE * net->start[slice + 1]; at++)
    {
        int i = SLICE * slice + at % SLICE;
        if (net->stiffness[at] > 0.0 && !(v3_length(v3_sub(x[net->other[at]], x[i])) > 1e-150))
        {
            out[i] = v3_add(out[i], lost_force(net, x_last, i, at));
        }
    }
}

WIDE_INLINE void add_lanes(wvec f, vec3* out, int count)
{
    double lanes[3][WIDE];
    wide_store(lanes[0], f.x);
    wide_store(lanes[1], f.y);
    wide_store(lanes[2], f.z);
    for (int k = 0; k < count; k++)
    {
        out[k] = v3_add(out[k], v3(lanes[0][k], lanes[1][k], lanes[2][k]));
    }
}

static double pull(const spring_net* net, const vec3* x, const vec3* x_last, vec3* out, int begin, int end)
{
    wide energy = wide_set(0.0);
    for (int slice = begin / SLICE; SLICE * slice < end; slice++)
    {
        int first = SLICE * slice, count = net->vertex_count - first, own[SLICE];
        for (int k = 0; k < SLICE; k++)
        {
            own[k] = k < count ? first + k : first;
        }
        wvec here = wv_take(x, own), f = {wide_set(0.0), wide_set(0.0), wide_set(0.0)};
        wide_mask lost = {0};
        for (int at = SLICE * net->start[slice]; at < SLICE * net->start[slice + 1]; at += SLICE)
        {
            wide k = wide_load(net->stiffness + at), rest = wide_load(net->length + at);
            wvec d = wv_sub(wv_take(x, net->other + at), here);
            wide length = wide_sqrt(wv_dot(d, d)), longer = length - rest;
            lost |= (k > 0.0) & ~(length > 1e-150);
            f = wv_madd(f, k * longer * wide_safe_inverse(length), d);
            energy += k * longer * longer;
        }
        add_lanes(f, out + first, count < SLICE ? count : SLICE);
        int64_t any = 0;
        for (int k = 0; k < SLICE; k++)
        {
            any |= lost[k];
        }
        if (any)
        {
            add_lost(net, x, x_last, slice, out);
        }
    }
    return 0.25 * wide_sum(energy);
}

extern const spring_net_kernels KERNEL_NAME(spring_net_kernels);
const spring_net_kernels KERNEL_NAME(spring_net_kernels) = {pull};
