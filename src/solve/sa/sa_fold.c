// Tells folded cloth from smooth, vertex by vertex. One that is bent has a diagonal block that is stiff in every
// direction, the normal too, while many of them together still move softly: what block Jacobi does not see. Both must
// show:
//
//     bent    with C the sum of the outer products of the ways to its neighbours, and a >= b >= c its eigenvalues,
//             c / (a + b), the square of an angle; a fine flat sheet is stiff against bending, but not bent
//     stiff   the least eigenvalue of A_ii over the mass, which is what all blocks of the row add up to, since
//     stiffness
//             kills translations; a coarse or slow sheet may be bent, but its mass holds every vertex
//
// A share of vertices decides, so that a crease or a seam does not.
#include <math.h>

#include "solve/sa/sa.h"

static const double BENT = 0.003, STIFF = 40.0, SHARE = 0.1;

typedef struct symmetric3
{
    double xx, xy, xz, yy, yz, zz;
} symmetric3;

// Of the eigenvalues a >= b >= c: a b c over a b + a c + b c, which is c while it is small beside the others.
static double least_eigenvalue(const symmetric3* m, double* trace)
{
    double x = m->yy * m->zz - m->yz * m->yz, y = m->xz * m->yz - m->xy * m->zz, z = m->xy * m->yz - m->xz * m->yy;
    double minors = x + (m->xx * m->zz - m->xz * m->xz) + (m->xx * m->yy - m->xy * m->xy);
    *trace = m->xx + m->yy + m->zz;
    return minors > 1e-12 * *trace * *trace ? (m->xx * x + m->xy * y + m->xz * z) / minors : 0.0; // else all in a line
}

static void add_block(symmetric3* sum, const double* a)
{
    sum->xx += a[0];
    sum->xy += 0.5 * (a[1] + a[3]);
    sum->xz += 0.5 * (a[2] + a[6]);
    sum->yy += a[4];
    sum->yz += 0.5 * (a[5] + a[7]);
    sum->zz += a[8];
}

static bool is_bent(const linear_system* system, int i)
{
    const bsr_pattern* p = system->A.pattern;
    symmetric3 ways = {0};
    double trace;
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
    {
        vec3 d = v3_sub(system->positions[p->column[k]], system->positions[i]);
        const double outer[9] = {d.x * d.x, d.x * d.y, d.x * d.z, d.x * d.y, d.y * d.y,
                                 d.y * d.z, d.x * d.z, d.y * d.z, d.z * d.z};
        add_block(&ways, outer);
    }
    double least = least_eigenvalue(&ways, &trace);
    return least > BENT * (trace - least);
}

static bool is_stiff(const linear_system* system, int i)
{
    const bsr_pattern* p = system->A.pattern;
    symmetric3 diagonal = {0}, sum = {0};
    double trace;
    add_block(&diagonal, system->A.values + 9 * (size_t)p->diagonal[i]);
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
    {
        add_block(&sum, system->A.values + 9 * (size_t)k);
    }
    double mass = 3.0 * least_eigenvalue(&sum, &trace); // three alike give a third
    return least_eigenvalue(&diagonal, &trace) > STIFF * fmax(0.0, mass);
}

static double folded_rows(void* context, int begin, int end)
{
    const linear_system* system = context;
    double folded = 0.0;
    for (int i = begin; i < end; i++)
    {
        folded += is_bent(system, i) && is_stiff(system, i);
    }
    return folded;
}

bool sa_is_folded(const sa_hierarchy* h, const linear_system* system)
{
    int rows = system->A.pattern->row_count;
    return system->positions &&
           parallel_sum(h->pool, rows, ROW_GRAIN, folded_rows, (void*)system) > SHARE * (double)rows;
}
