// Touching as a linear program: there are weights >= 0 with
//   vertex-face   sum x_i f_i = v,             sum x_i = 1
//   edge-edge     sum x_i p_i - sum y_j q_j = 0, sum x_i = 1, sum y_j = 1
// and if there are any, then some that use linearly independent columns alone (Caratheodory). So each subset of the
// columns is tried by Gaussian elimination in fractions. Slow and without a thought about geometry: it checks the
// oracle, whose thoughts could be wrong in the same way as the library's.
#include "ccd_static.h"

#include <gmp.h>

enum
{
    ROWS = 5,
    COLUMNS = 5 // four points and the right-hand side
};

typedef struct program
{
    mpq_t a[ROWS][COLUMNS]; // the last column is the right-hand side
    int rows, columns;      // without it
} program;

static double coordinate(const weft_vec3* p, int axis)
{
    return axis == 0 ? p->x : axis == 1 ? p->y : p->z;
}

// out = start + t (end - start)
static void set_position(mpq_t out, const weft_vec3* start, const weft_vec3* end, int axis, const mpq_t t)
{
    mpq_t from;
    mpq_init(from);
    mpq_set_d(from, coordinate(start, axis));
    mpq_set_d(out, coordinate(end, axis));
    mpq_sub(out, out, from);
    mpq_mul(out, out, t);
    mpq_add(out, out, from);
    mpq_clear(from);
}

static void program_init(program* p, weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4],
                         const mpq_t t)
{
    bool face = kind == WEFT_VERTEX_FACE;
    p->rows = face ? 4 : 5;
    p->columns = face ? 3 : 4;
    for (int i = 0; i < ROWS; i++)
    {
        for (int j = 0; j < COLUMNS; j++)
        {
            mpq_init(p->a[i][j]);
        }
    }
    for (int k = 0; k < 3; k++)
    {
        for (int j = 0; j < p->columns; j++)
        {
            int point = face ? j + 1 : j;
            set_position(p->a[k][j], &start[point], &end[point], k, t);
            if (!face && j >= 2)
            {
                mpq_neg(p->a[k][j], p->a[k][j]);
            }
        }
        if (face)
        {
            set_position(p->a[k][p->columns], &start[0], &end[0], k, t);
        }
    }
    for (int j = 0; j < p->columns; j++)
    {
        mpq_set_si(p->a[!face && j >= 2 ? 4 : 3][j], 1, 1);
    }
    mpq_set_si(p->a[3][p->columns], 1, 1);
    if (!face)
    {
        mpq_set_si(p->a[4][p->columns], 1, 1);
    }
}

static void program_clear(program* p)
{
    for (int i = 0; i < ROWS; i++)
    {
        for (int j = 0; j < COLUMNS; j++)
        {
            mpq_clear(p->a[i][j]);
        }
    }
}

// The columns of a subset, packed, then the right-hand side. out is initialized.
static void program_pick(program* out, const program* p, unsigned subset)
{
    out->rows = p->rows;
    out->columns = 0;
    for (int j = 0; j <= p->columns; j++)
    {
        bool last = j == p->columns;
        for (int i = 0; (last || (subset >> j & 1)) && i < p->rows; i++)
        {
            mpq_set(out->a[i][out->columns], p->a[i][j]);
        }
        out->columns += !last && (subset >> j & 1);
    }
}

// Row i minus the multiple of the pivot's row that clears column j.
static void clear_entry(program* p, int i, int pivot, int j, mpq_t scratch[2])
{
    mpq_div(scratch[0], p->a[i][j], p->a[pivot][j]);
    for (int k = j; k <= p->columns; k++)
    {
        mpq_mul(scratch[1], scratch[0], p->a[pivot][k]);
        mpq_sub(p->a[i][k], p->a[i][k], scratch[1]);
    }
}

// Whether the columns are independent, and the one solution exists and is nowhere negative. Destroys p.
static bool has_weights(program* p, mpq_t scratch[2])
{
    for (int j = 0; j < p->columns; j++)
    {
        int pivot = j;
        while (pivot < p->rows && mpq_sgn(p->a[pivot][j]) == 0)
        {
            pivot++;
        }
        if (pivot == p->rows)
        {
            return false;
        }
        for (int k = 0; k <= p->columns && pivot != j; k++)
        {
            mpq_swap(p->a[pivot][k], p->a[j][k]);
        }
        for (int i = 0; i < p->rows; i++)
        {
            if (i != j && mpq_sgn(p->a[i][j]) != 0)
            {
                clear_entry(p, i, j, j, scratch);
            }
        }
    }
    for (int i = 0; i < p->rows; i++)
    {
        int right = mpq_sgn(p->a[i][p->columns]);
        if (i < p->columns ? right * mpq_sgn(p->a[i][i]) < 0 : right != 0)
        {
            return false;
        }
    }
    return true;
}

bool ccd_touches_at(weft_pair_kind kind, const weft_vec3 start[4], const weft_vec3 end[4], long numerator,
                    unsigned long denominator)
{
    mpq_t t, scratch[2];
    mpq_init(t);
    mpq_init(scratch[0]);
    mpq_init(scratch[1]);
    mpq_set_si(t, numerator, denominator);
    mpq_canonicalize(t);
    program whole, part;
    program_init(&whole, kind, start, end, t);
    program_init(&part, kind, start, end, t);
    bool touches = false;
    for (unsigned subset = 1; subset < 1u << whole.columns && !touches; subset++)
    {
        program_pick(&part, &whole, subset);
        touches = has_weights(&part, scratch);
    }
    program_clear(&whole);
    program_clear(&part);
    mpq_clear(t);
    mpq_clear(scratch[0]);
    mpq_clear(scratch[1]);
    return touches;
}
