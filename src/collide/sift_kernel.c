// Of candidates, those that one direction does not tell apart, for one CPU kind.
//
// The direction d runs from the middle of the second feature to that of the first, at the start. Where the first lies
// beyond the second along d by more than `least`, at the start and at the end, it does so in between, as points move on
// straight lines. Neighbours in a sheet, of which boxes meet, are mostly told apart by that.
//
// Four doubles at once: the fourth is the next number in memory and counts nothing. Sums are in another order than
// elsewhere: `least` has to be larger by more than rounding than what must not be lost.
#include "collide/broad.h"
#include "math/wide.h"

typedef double double4 __attribute__((vector_size(32)));
typedef int64_t mask4 __attribute__((vector_size(32)));

WIDE_INLINE double4 load4(const vec3* x)
{
    double4 a;
    memcpy(&a, x, sizeof(a));
    return a;
}

// The products of d with four points.
WIDE_INLINE double4 dots(double4 d, const double4 x[4])
{
    double4 p[4];
    for (int k = 0; k < 4; k++)
    {
        p[k] = d * x[k];
    }
    double4 a = __builtin_shufflevector(p[0], p[1], 0, 4, 2, 6) + __builtin_shufflevector(p[0], p[1], 1, 5, 3, 7);
    double4 b = __builtin_shufflevector(p[2], p[3], 0, 4, 2, 6) + __builtin_shufflevector(p[2], p[3], 1, 5, 3, 7);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

WIDE_INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

WIDE_INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

// How far the first feature is beyond the second along d.
WIDE_INLINE double gap_of(double4 d, const double4 x[4], bool edges)
{
    double4 at = dots(d, x);
    double high = larger(at[2], at[3]);
    return edges ? smaller(at[0], at[1]) - high : at[0] - larger(at[1], high);
}

WIDE_INLINE bool is_apart(const vec3* start, const vec3* end, const int vertex[4], bool edges, double least_sq)
{
    const mask4 three = {-1, -1, -1, 0};
    double4 a[4], b[4];
    for (int k = 0; k < 4; k++)
    {
        a[k] = load4(start + vertex[k]);
        b[k] = load4(end + vertex[k]);
    }
    double4 d = edges ? (a[0] + a[1]) - (a[2] + a[3]) : 3.0 * a[0] - (a[1] + a[2] + a[3]);
    d = (double4)((mask4)d & three);
    double gap = smaller(gap_of(d, a, edges), gap_of(d, b, edges));
    return gap > 0.0 && gap * gap > least_sq * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

WIDE_INLINE int sift_some(const sift_job* job, const weft_pair* pair, int count, weft_pair* out, bool edges)
{
    int kept = 0;
    double least_sq = job->least * job->least;
    for (int k = 0; k < count; k++)
    {
        const int* second = job->corner + (edges ? 2 : 3) * (size_t)pair[k].second;
        int vertex[4] = {pair[k].first, second[0], second[1], second[edges ? 1 : 2]};
        if (edges)
        {
            const int* first = job->corner + 2 * (size_t)pair[k].first;
            vertex[0] = first[0];
            vertex[1] = first[1];
            vertex[2] = second[0];
        }
        out[kept] = pair[k];
        kept += !is_apart(job->start, job->end, vertex, edges, least_sq);
    }
    return kept;
}

static int sift(const sift_job* job, const weft_pair* pair, int count, weft_pair* out)
{
    return job->kind == WEFT_EDGE_EDGE ? sift_some(job, pair, count, out, true)
                                       : sift_some(job, pair, count, out, false);
}

extern sift_fn* const KERNEL_NAME(sift_kernel);
sift_fn* const KERNEL_NAME(sift_kernel) = sift;
