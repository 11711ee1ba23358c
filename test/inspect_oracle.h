// An oracle for inspections that shares nothing with them: integers of GMP and an exact simplex method. Two convex
// hulls have relative interiors that meet exactly when positive weights of their points give a common point, that is,
// when the largest t with weights >= t, both adding up to 1, is positive. Included by tests that link GMP.
#ifndef WEFT_TEST_INSPECT_ORACLE_H
#define WEFT_TEST_INSPECT_ORACLE_H

#include <gmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"

// ---- points as integers

enum
{
    ORACLE_POINTS = 64, // in one question
    ORACLE_SHIFT = 1100 // coordinates times 2^1100 are integers
};

static mpz_t oracle_point[ORACLE_POINTS][3];

static inline void oracle_open(void)
{
    for (int k = 0; k < 3 * ORACLE_POINTS; k++)
    {
        mpz_init(oracle_point[k / 3][k % 3]);
    }
}

static inline void oracle_close(void)
{
    for (int k = 0; k < 3 * ORACLE_POINTS; k++)
    {
        mpz_clear(oracle_point[k / 3][k % 3]);
    }
}

static inline void oracle_set_coordinate(mpz_t out, double x)
{
    mpq_t q;
    mpq_init(q);
    mpq_set_d(q, x);
    mpq_mul_2exp(q, q, ORACLE_SHIFT);
    mpz_set(out, mpq_numref(q));
    mpq_clear(q);
}

// All of one question at once, so that the common power of two can be taken out.
static inline void oracle_set_points(const vec3* x, int count)
{
    mp_bitcnt_t shift = 2 * ORACLE_SHIFT;
    for (int k = 0; k < count; k++)
    {
        oracle_set_coordinate(oracle_point[k][0], x[k].x);
        oracle_set_coordinate(oracle_point[k][1], x[k].y);
        oracle_set_coordinate(oracle_point[k][2], x[k].z);
        for (int i = 0; i < 3; i++)
        {
            if (mpz_sgn(oracle_point[k][i]) != 0 && mpz_scan1(oracle_point[k][i], 0) < shift)
            {
                shift = mpz_scan1(oracle_point[k][i], 0);
            }
        }
    }
    for (int k = 0; k < 3 * count; k++)
    {
        mpz_tdiv_q_2exp(oracle_point[k / 3][k % 3], oracle_point[k / 3][k % 3], shift);
    }
}

// ---- the simplex method, in integers over one denominator (Edmonds), with Bland's rule

enum
{
    LP_ROWS = 5,
    LP_COLUMNS = 8 // up to six weights, t, the right-hand side
};

typedef struct lp
{
    mpz_t a[LP_ROWS + 1][LP_COLUMNS]; // the last row is the objective
    mpz_t denominator;
    int basis[LP_ROWS]; // -1: artificial
    bool dropped[LP_ROWS];
    int columns; // without the right-hand side
} lp;

static inline void lp_pivot(lp* p, int row, int column)
{
    mpz_t pivot, scratch;
    mpz_inits(pivot, scratch, NULL);
    mpz_set(pivot, p->a[row][column]);
    for (int r = 0; r <= LP_ROWS; r++)
    {
        mpz_t factor;
        mpz_init_set(factor, p->a[r][column]);
        for (int c = 0; c < LP_COLUMNS && r != row; c++)
        {
            mpz_mul(p->a[r][c], p->a[r][c], pivot);
            mpz_mul(scratch, factor, p->a[row][c]);
            mpz_sub(p->a[r][c], p->a[r][c], scratch);
            mpz_divexact(p->a[r][c], p->a[r][c], p->denominator);
        }
        mpz_clear(factor);
    }
    mpz_set(p->denominator, pivot);
    p->basis[row] = column;
    mpz_clears(pivot, scratch, NULL);
}

// The row that leaves when a column enters; -1: none.
static inline int lp_leaving(const lp* p, int column)
{
    int best = -1;
    mpz_t left, right;
    mpz_inits(left, right, NULL);
    for (int r = 0; r < LP_ROWS; r++)
    {
        if (p->dropped[r] || mpz_sgn(p->a[r][column]) <= 0)
        {
            continue;
        }
        int order = -1;
        if (best >= 0)
        {
            mpz_mul(left, p->a[r][LP_COLUMNS - 1], p->a[best][column]);
            mpz_mul(right, p->a[best][LP_COLUMNS - 1], p->a[r][column]);
            order = mpz_cmp(left, right);
            order = order == 0 ? (p->basis[r] < p->basis[best] ? -1 : 1) : order;
        }
        best = order < 0 ? r : best;
    }
    mpz_clears(left, right, NULL);
    return best;
}

static inline int lp_entering(const lp* p)
{
    for (int c = 0; c < p->columns; c++)
    {
        if (mpz_sgn(p->a[LP_ROWS][c]) < 0)
        {
            return c;
        }
    }
    return -1;
}

// Artificial variables of value zero leave the basis; rows without anything else are dropped.
static inline void lp_drive_out(lp* p)
{
    for (int r = 0; r < LP_ROWS; r++)
    {
        int column = 0;
        while (p->basis[r] < 0 && column < p->columns && mpz_sgn(p->a[r][column]) == 0)
        {
            column++;
        }
        if (p->basis[r] >= 0)
        {
            continue;
        }
        p->dropped[r] = column == p->columns;
        if (p->dropped[r])
        {
            continue;
        }
        bool negative = mpz_sgn(p->a[r][column]) < 0;
        for (int c = 0; c < LP_COLUMNS && negative; c++)
        {
            mpz_neg(p->a[r][c], p->a[r][c]);
        }
        lp_pivot(p, r, column);
    }
}

static inline bool lp_feasible(lp* p)
{
    for (int c = 0; c < LP_COLUMNS; c++)
    {
        mpz_set_si(p->a[LP_ROWS][c], 0);
        for (int r = 0; r < LP_ROWS; r++)
        {
            mpz_sub(p->a[LP_ROWS][c], p->a[LP_ROWS][c], p->a[r][c]);
        }
    }
    for (int c = lp_entering(p); c >= 0; c = lp_entering(p))
    {
        lp_pivot(p, lp_leaving(p, c), c);
    }
    return mpz_sgn(p->a[LP_ROWS][LP_COLUMNS - 1]) == 0;
}

static inline bool lp_t_positive(const lp* p)
{
    for (int r = 0; r < LP_ROWS; r++)
    {
        if (!p->dropped[r] && p->basis[r] == p->columns - 1)
        {
            return mpz_sgn(p->a[r][LP_COLUMNS - 1]) > 0;
        }
    }
    return false;
}

// Maximises t, the last column, from a feasible basis; true as soon as it is positive.
static inline bool lp_can_be_positive(lp* p)
{
    lp_drive_out(p);
    int t = p->columns - 1;
    for (int c = 0; c < LP_COLUMNS; c++)
    {
        mpz_set_si(p->a[LP_ROWS][c], 0);
    }
    mpz_neg(p->a[LP_ROWS][t], p->denominator);
    for (int r = 0; r < LP_ROWS; r++)
    {
        for (int c = 0; c < LP_COLUMNS && !p->dropped[r] && p->basis[r] == t; c++)
        {
            mpz_add(p->a[LP_ROWS][c], p->a[LP_ROWS][c], p->a[r][c]);
        }
    }
    for (int c = lp_entering(p); c >= 0 && !lp_t_positive(p); c = lp_entering(p))
    {
        lp_pivot(p, lp_leaving(p, c), c);
    }
    return lp_t_positive(p);
}

// a and b are indices of oracle_point. *touch: the closed hulls meet. Returns whether relative interiors do.
static inline bool oracle_meet_indexed(const int* a, int count_a, const int* b, int count_b, bool* touch)
{
    lp p = {.columns = count_a + count_b + 1};
    mpz_init_set_si(p.denominator, 1);
    for (int k = 0; k < (LP_ROWS + 1) * LP_COLUMNS; k++)
    {
        mpz_init(p.a[k / LP_COLUMNS][k % LP_COLUMNS]);
    }
    int t = p.columns - 1;
    for (int k = 0; k < t; k++)
    {
        bool first = k < count_a;
        const mpz_t* x = (const mpz_t*)oracle_point[first ? a[k] : b[k - count_a]];
        for (int i = 0; i < 3; i++)
        {
            mpz_set(p.a[i][k], x[i]);
            if (!first)
            {
                mpz_neg(p.a[i][k], p.a[i][k]);
            }
            mpz_add(p.a[i][t], p.a[i][t], p.a[i][k]);
        }
        mpz_set_si(p.a[first ? 3 : 4][k], 1);
    }
    mpz_set_si(p.a[3][t], count_a);
    mpz_set_si(p.a[4][t], count_b);
    mpz_set_si(p.a[3][LP_COLUMNS - 1], 1);
    mpz_set_si(p.a[4][LP_COLUMNS - 1], 1);
    for (int r = 0; r < LP_ROWS; r++)
    {
        p.basis[r] = -1;
    }
    *touch = lp_feasible(&p);
    bool meet = *touch && lp_can_be_positive(&p);
    mpz_clear(p.denominator);
    for (int k = 0; k < (LP_ROWS + 1) * LP_COLUMNS; k++)
    {
        mpz_clear(p.a[k / LP_COLUMNS][k % LP_COLUMNS]);
    }
    return meet;
}

static inline bool oracle_meet(const vec3* a, int count_a, const vec3* b, int count_b, bool* touch)
{
    static const int index[6] = {0, 1, 2, 3, 4, 5};
    vec3 x[6];
    memcpy(x, a, (size_t)count_a * sizeof(vec3));
    memcpy(x + count_a, b, (size_t)count_b * sizeof(vec3));
    oracle_set_points(x, count_a + count_b);
    return oracle_meet_indexed(index, count_a, index + count_a, count_b, touch);
}

// ---- determinants

// Sign of ((b - a) x (c - a)) . (d - a).
static inline int oracle_volume(vec3 a, vec3 b, vec3 c, vec3 d)
{
    const vec3 x[4] = {a, b, c, d};
    oracle_set_points(x, 4);
    mpz_t m[3][3], sum, term;
    mpz_inits(sum, term, NULL);
    for (int k = 0; k < 9; k++)
    {
        mpz_init(m[k / 3][k % 3]);
        mpz_sub(m[k / 3][k % 3], oracle_point[k / 3 + 1][k % 3], oracle_point[0][k % 3]);
    }
    for (int k = 0; k < 3; k++)
    {
        mpz_mul(term, m[0][k], m[1][(k + 1) % 3]);
        mpz_mul(term, term, m[2][(k + 2) % 3]);
        mpz_add(sum, sum, term);
        mpz_mul(term, m[0][k], m[1][(k + 2) % 3]);
        mpz_mul(term, term, m[2][(k + 1) % 3]);
        mpz_sub(sum, sum, term);
    }
    int sign = mpz_sgn(sum);
    for (int k = 0; k < 9; k++)
    {
        mpz_clear(m[k / 3][k % 3]);
    }
    mpz_clears(sum, term, NULL);
    return sign;
}

// Sign of the component `axis` of (b - a) x (d - c).
static inline int oracle_cross(int axis, vec3 a, vec3 b, vec3 c, vec3 d)
{
    const vec3 x[4] = {a, b, c, d};
    oracle_set_points(x, 4);
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    mpz_t u, v, left, right;
    mpz_inits(u, v, left, right, NULL);
    mpz_sub(u, oracle_point[1][i], oracle_point[0][i]);
    mpz_sub(v, oracle_point[3][j], oracle_point[2][j]);
    mpz_mul(left, u, v);
    mpz_sub(u, oracle_point[1][j], oracle_point[0][j]);
    mpz_sub(v, oracle_point[3][i], oracle_point[2][i]);
    mpz_mul(right, u, v);
    int sign = mpz_cmp(left, right);
    mpz_clears(u, v, left, right, NULL);
    return sign < 0 ? -1 : sign > 0;
}

#endif
