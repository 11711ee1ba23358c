// Tetrahedra of the model `corotated`. With F the deformation gradient and R the rotation that is nearest to it, a
// tetrahedron of volume V has
//
//     E = V/2 Y |F - R|^2
//
// the squared distance from the rotations, which is the sum of squares of the singular values less 1, the least of them
// negative where the tetrahedron is inside out: it is turned back. Y is Young's modulus; nothing contracts across.
//
// Singular values by Jacobi's rotations of F^T F = V s^2 V^T (McAdams et al. 2011), eight tetrahedra abreast. One that
// is done is turned no more, so that its bits are its own, whoever goes beside it. U comes from F V, its last column
// from the other two, so that R = U V^T is a rotation to rounding, and what is flat has one, too.
//
// Forces and energies want R alone. Newton's iteration for it, X <- (X + X^-T) / 2 from F (Higham 1986), has no roots
// and takes four or five turns for what is not far from a rotation; what is nearly flat or inside out is left to the
// singular values.
//
// Damping over a step and the clamped Hessian are those of triangles (strain_kernel.c): the latter has the eigenvalues
// 1, but for turning in each of the three planes 1 - 2 / (s_i + s_j).
#include "material/corotated.h"
#include "math/wide_vec.h"

enum
{
    SWEEPS = 8,    // of Jacobi, at most: five bring any matrix to rounding, as far as was seen
    TURNS_MAX = 16 // of Newton: a matrix that is taken to it needs eleven at most
};

typedef struct columns
{
    wvec c[3];
} columns;

typedef struct singular
{
    columns U, V;
    wide s[3]; // the last one is the least, and may be negative
} singular;

// ---- singular values

WIDE_INLINE int any(wide_mask which)
{
    int64_t sum = 0;
    for (int k = 0; k < WIDE; k++)
    {
        sum |= which[k];
    }
    return sum != 0;
}

// A rotation in the plane of i and j that makes A_ij zero; k is the third. Returns which lanes had more than `little`
// there: others stay as they are.
WIDE_INLINE wide_mask jacobi_turn(wide A[3][3], columns* V, int i, int j, wide little)
{
    int k = 3 - i - j;
    wide_mask some = wide_abs(A[i][j]) > little;
    wide d = A[j][j] - A[i][i], b = 2.0 * A[i][j];
    wide below = wide_abs(d) + wide_sqrt(d * d + b * b);
    wide t = wide_select(some, b * wide_safe_inverse(below), wide_set(0.0));
    t = wide_select(d < 0.0, -t, t);
    wide c = 1.0 / wide_sqrt(1.0 + t * t), s = c * t;
    A[i][i] -= t * A[i][j];
    A[j][j] += t * A[i][j];
    wide ki = A[k][i], kj = A[k][j];
    A[k][i] = A[i][k] = c * ki - s * kj;
    A[k][j] = A[j][k] = s * ki + c * kj;
    A[i][j] = A[j][i] = wide_select(some, wide_set(0.0), A[i][j]);
    wvec vi = V->c[i], vj = V->c[j];
    V->c[i] = wv_madd(wv_scale(c, vi), -s, vj);
    V->c[j] = wv_madd(wv_scale(c, vj), s, vi);
    return some;
}

// Puts the larger one first; a quarter turn, so that V stays a rotation.
WIDE_INLINE void sort_pair(wide* length, columns* V, int i, int j)
{
    wide_mask wrong = length[i] < length[j];
    wvec vi = V->c[i], vj = V->c[j];
    wide li = length[i], lj = length[j];
    V->c[i] = wv_select(wrong, vj, vi);
    V->c[j] = wv_select(wrong, wv_scale(wide_set(-1.0), vi), vj);
    length[i] = wide_select(wrong, lj, li);
    length[j] = wide_select(wrong, li, lj);
}

WIDE_INLINE columns right_vectors(const columns* F)
{
    wide one = wide_set(1.0), zero = wide_set(0.0), A[3][3], length[3];
    columns V = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    for (int k = 0; k < 9; k++)
    {
        A[k / 3][k % 3] = wv_dot(F->c[k / 3], F->c[k % 3]);
    }
    wide little = 1e-17 * (A[0][0] + A[1][1] + A[2][2]);
    for (int sweep = 0, going = 1; sweep < SWEEPS && going; sweep++)
    {
        wide_mask some = jacobi_turn(A, &V, 0, 1, little);
        some |= jacobi_turn(A, &V, 0, 2, little);
        some |= jacobi_turn(A, &V, 1, 2, little);
        going = any(some);
    }
    for (int k = 0; k < 3; k++)
    {
        length[k] = A[k][k];
    }
    sort_pair(length, &V, 0, 1);
    sort_pair(length, &V, 1, 2);
    sort_pair(length, &V, 0, 1);
    return V;
}

WIDE_INLINE wvec times(const columns* F, wvec a)
{
    return wv_madd(wv_madd(wv_scale(a.x, F->c[0]), a.y, F->c[1]), a.z, F->c[2]);
}

// a as a unit vector, or another one where it is lost beside `scale`.
WIDE_INLINE wvec unit_or(wvec a, wide scale, wvec other)
{
    wide length = wide_sqrt(wv_dot(a, a));
    return wv_select(length > 1e-14 * scale, wv_scale(wide_safe_inverse(length), a), other);
}

WIDE_INLINE singular singular_of(const columns* F)
{
    singular d = {.V = right_vectors(F)};
    wvec a = times(F, d.V.c[0]), b = times(F, d.V.c[1]);
    wide zero = wide_set(0.0), size = wide_sqrt(wv_dot(a, a));
    d.U.c[0] = unit_or(a, zero, (wvec){wide_set(1.0), zero, zero});
    b = wv_madd(b, -wv_dot(d.U.c[0], b), d.U.c[0]);
    d.U.c[1] = unit_or(b, size, wv_across(d.U.c[0]));
    d.U.c[2] = wv_cross(d.U.c[0], d.U.c[1]);
    for (int k = 0; k < 3; k++)
    {
        d.s[k] = wv_dot(d.U.c[k], times(F, d.V.c[k]));
    }
    return d;
}

// sum of s_k U_k V_k^T
WIDE_INLINE columns compose(const columns* U, const columns* V, const wide* s)
{
    columns out;
    for (int j = 0; j < 3; j++)
    {
        out.c[j] = (wvec){wide_set(0.0), wide_set(0.0), wide_set(0.0)};
        for (int k = 0; k < 3; k++)
        {
            wide v = j == 0 ? V->c[k].x : j == 1 ? V->c[k].y : V->c[k].z;
            out.c[j] = wv_madd(out.c[j], s ? s[k] * v : v, U->c[k]);
        }
    }
    return out;
}

WIDE_INLINE columns product(const columns* A, const columns* B)
{
    return (columns){{times(A, B->c[0]), times(A, B->c[1]), times(A, B->c[2])}};
}

WIDE_INLINE wide square_of_difference(const columns* A, const columns* B)
{
    wide sum = wide_set(0.0);
    for (int k = 0; k < 3; k++)
    {
        wvec d = wv_sub(A->c[k], B->c[k]);
        sum += wv_dot(d, d);
    }
    return sum;
}

// ---- rotations

static __attribute__((noinline)) void rotation_by_singular(const columns* F, columns* out)
{
    singular d = singular_of(F);
    *out = compose(&d.U, &d.V, NULL);
}

// (X + X^-T) / 2.
WIDE_INLINE columns newton_turn(const columns* X)
{
    columns cofactor = {{wv_cross(X->c[1], X->c[2]), wv_cross(X->c[2], X->c[0]), wv_cross(X->c[0], X->c[1])}}, out;
    wide share = 0.5 / wv_dot(X->c[0], cofactor.c[0]);
    for (int k = 0; k < 3; k++)
    {
        out.c[k] = wv_madd(wv_scale(wide_set(0.5), X->c[k]), share, cofactor.c[k]);
    }
    return out;
}

// The rotation that is nearest to F. A lane that has come to rest stays as it is.
WIDE_INLINE columns rotation_of(const columns* F)
{
    const double flat = 0.01, rest = 1e-16; // of the determinant at size 1; of a square: what follows is rounding
    wide size_sq = wv_dot(F->c[0], F->c[0]) + wv_dot(F->c[1], F->c[1]) + wv_dot(F->c[2], F->c[2]);
    wide scale = wide_safe_inverse(wide_sqrt(size_sq * wide_set(1.0 / 3.0)));
    columns X = {{wv_scale(scale, F->c[0]), wv_scale(scale, F->c[1]), wv_scale(scale, F->c[2])}}, R;
    wide_mask fine = wv_dot(X.c[0], wv_cross(X.c[1], X.c[2])) > flat, going = fine;
    any(~fine) ? rotation_by_singular(F, &R) : (void)(R = X);
    for (int turn = 0; turn < TURNS_MAX && any(going); turn++)
    {
        columns next = newton_turn(&X);
        wide_mask still = going & (square_of_difference(&next, &X) > rest);
        for (int k = 0; k < 3; k++)
        {
            X.c[k] = wv_select(going, next.c[k], X.c[k]);
        }
        going = still;
    }
    for (int k = 0; k < 3; k++)
    {
        R.c[k] = wv_select(fine, X.c[k], R.c[k]);
    }
    return R;
}

// R^T F, which is symmetric but for rounding.
WIDE_INLINE columns stretch_of(const columns* R, const columns* F)
{
    wide C[3][3];
    for (int i = 0; i < 3; i++)
    {
        for (int j = i; j < 3; j++)
        {
            C[i][j] = C[j][i] = 0.5 * (wv_dot(R->c[i], F->c[j]) + wv_dot(R->c[j], F->c[i]));
        }
    }
    return (columns){{{C[0][0], C[1][0], C[2][0]}, {C[0][1], C[1][1], C[2][1]}, {C[0][2], C[1][2], C[2][2]}}};
}

// The largest eigenvalue of a symmetric C: q + 2 p x with q the mean of all, 6 p^2 = |C - q I|^2, and x the largest
// root of 4 x^3 - 3 x = r. That of |r| is alone and found by Newton from above; of a negative r it is minus the least
// one, and the largest follows.
WIDE_INLINE wide largest_of(const columns* C)
{
    wide q = (C->c[0].x + C->c[1].y + C->c[2].z) * wide_set(1.0 / 3.0);
    columns D = *C;
    D.c[0].x -= q;
    D.c[1].y -= q;
    D.c[2].z -= q;
    wide p =
        wide_sqrt((wv_dot(D.c[0], D.c[0]) + wv_dot(D.c[1], D.c[1]) + wv_dot(D.c[2], D.c[2])) * wide_set(1.0 / 6.0));
    wide inverse = wide_safe_inverse(p),
         r = 0.5 * wv_dot(D.c[0], wv_cross(D.c[1], D.c[2])) * inverse * inverse * inverse;
    wide wanted = wide_min(wide_abs(r), wide_set(1.0)), x = wide_set(1.0);
    for (int turn = 0; turn < 5; turn++)
    {
        x -= (4.0 * x * x * x - 3.0 * x - wanted) / (12.0 * x * x - 3.0);
    }
    wide other = 0.5 * (x + wide_sqrt(wide_max(wide_set(0.0), 3.0 - 3.0 * x * x)));
    return q + 2.0 * p * wide_select(r < 0.0, other, x);
}

// ---- one tetrahedron

typedef struct block
{
    wvec g[4]; // 1/m, gradients of the shape functions
    wide k;    // J
    wide damping;
    bool damped; // some lane is
} block;

WIDE_INLINE block block_load(const element_group* group, const int* elements)
{
    const double* rest = group->rest;
    block e = {.k = wide_gather(rest, BLOCK_STRIDE, BLOCK_STIFFNESS, elements),
               .damping = wide_gather(rest, BLOCK_STRIDE, BLOCK_DAMPING, elements)};
    e.g[0] = (wvec){wide_set(0.0), wide_set(0.0), wide_set(0.0)};
    for (int a = 1; a < 4; a++)
    {
        e.g[a] = (wvec){wide_gather(rest, BLOCK_STRIDE, BLOCK_INVERSE + 3 * a - 3, elements),
                        wide_gather(rest, BLOCK_STRIDE, BLOCK_INVERSE + 3 * a - 2, elements),
                        wide_gather(rest, BLOCK_STRIDE, BLOCK_INVERSE + 3 * a - 1, elements)};
        e.g[0] = wv_sub(e.g[0], e.g[a]);
    }
    for (int k = 0; k < WIDE; k++)
    {
        e.damped = e.damped || e.damping[k] > 0.0;
    }
    return e;
}

WIDE_INLINE columns columns_of(const block* e, const vec3* x, const int* vertices, const int* elements)
{
    wvec x0 = wv_gather(x, vertices, 4, 0, elements), zero = {wide_set(0.0), wide_set(0.0), wide_set(0.0)};
    columns F = {{zero, zero, zero}};
    for (int a = 1; a < 4; a++)
    {
        wvec d = wv_sub(wv_gather(x, vertices, 4, a, elements), x0);
        F.c[0] = wv_madd(F.c[0], e->g[a].x, d);
        F.c[1] = wv_madd(F.c[1], e->g[a].y, d);
        F.c[2] = wv_madd(F.c[2], e->g[a].z, d);
    }
    return F;
}

// The stretch of the last state, and C' = (h + beta C) / (h + beta).
WIDE_INLINE columns target_of(const block* e, const columns* last, wide h, columns* C)
{
    columns R = rotation_of(last);
    *C = stretch_of(&R, last);
    wide inverse = 1.0 / (h + e->damping), share = e->damping * inverse, one = h * inverse;
    columns T = {{wv_scale(share, C->c[0]), wv_scale(share, C->c[1]), wv_scale(share, C->c[2])}};
    T.c[0].x += one;
    T.c[1].y += one;
    T.c[2].z += one;
    return T;
}

// dE/dF with damping over a step from the last state.
WIDE_INLINE columns stress_from_last(const block* e, const columns* F, const columns* last, double h)
{
    columns C, T = target_of(e, last, wide_set(h), &C), G = product(F, &T), R = rotation_of(&G), d = product(&R, &T);
    wide k = e->k * (1.0 + e->damping * wide_set(1.0 / h));
    return (columns){{wv_scale(k, wv_sub(F->c[0], d.c[0])), wv_scale(k, wv_sub(F->c[1], d.c[1])),
                      wv_scale(k, wv_sub(F->c[2], d.c[2]))}};
}

WIDE_INLINE columns stress_of(const block* e, const columns* F, const columns* R)
{
    return (columns){{wv_scale(e->k, wv_sub(F->c[0], R->c[0])), wv_scale(e->k, wv_sub(F->c[1], R->c[1])),
                      wv_scale(e->k, wv_sub(F->c[2], R->c[2]))}};
}

// U^T F' V of a rate: what is along the singular directions.
WIDE_INLINE void rate_in_frame(const singular* d, const columns* rate, wide out[3][3])
{
    for (int k = 0; k < 9; k++)
    {
        out[k / 3][k % 3] = wv_dot(d->U.c[k / 3], times(rate, d->V.c[k % 3]));
    }
}

// From the frame of singular directions: U M V^T, added with a weight.
WIDE_INLINE void add_from_frame(const singular* d, wide M[3][3], wide weight, columns* out)
{
    for (int i = 0; i < 3; i++)
    {
        wvec row = {wide_set(0.0), wide_set(0.0), wide_set(0.0)};
        for (int j = 0; j < 3; j++)
        {
            row = wv_madd(row, M[i][j], d->V.c[j]);
        }
        out->c[0] = wv_madd(out->c[0], weight * row.x, d->U.c[i]);
        out->c[1] = wv_madd(out->c[1], weight * row.y, d->U.c[i]);
        out->c[2] = wv_madd(out->c[2], weight * row.z, d->U.c[i]);
    }
}

// R times the rate of C = R^T F: the rate less the turn.
WIDE_INLINE void add_damping(const block* e, const singular* d, wide G[3][3], columns* stress)
{
    wide M[3][3];
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            wide sum = d->s[i] + d->s[j];
            wide turn = wide_select(sum > 1e-3, (G[i][j] - G[j][i]) / wide_max(sum, wide_set(1e-3)), wide_set(0.0));
            M[i][j] = G[i][j] - turn * d->s[j];
        }
    }
    add_from_frame(d, M, e->k * e->damping, stress);
}

// The clamped share of a turn in the plane of i and j.
WIDE_INLINE wide turn_share(const singular* d, int i, int j)
{
    return 2.0 / wide_max(d->s[i] + d->s[j], wide_set(2.0));
}

// h K v, with the clamped K.
WIDE_INLINE void add_stiff(const block* e, const singular* d, wide G[3][3], double h, columns* stress)
{
    wide M[3][3];
    for (int i = 0; i < 3; i++)
    {
        for (int j = 0; j < 3; j++)
        {
            M[i][j] = i == j ? G[i][j] : G[i][j] - 0.5 * turn_share(d, i, j) * (G[i][j] - G[j][i]);
        }
    }
    add_from_frame(d, M, h * e->k, stress);
}

WIDE_INLINE void put_forces(const block* e, const columns* stress, wide scale, double (*out)[3][BATCH])
{
    for (int a = 0; a < 4; a++)
    {
        wvec f = wv_scale(scale, times(stress, e->g[a]));
        wide_store(out[a][0], f.x);
        wide_store(out[a][1], f.y);
        wide_store(out[a][2], f.z);
    }
}

static void force(const void* context, const int* elements, double (*out)[3][BATCH])
{
    const element_context* ctx = context;
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    block e = block_load(ctx->group, elements);
    columns F = columns_of(&e, m->x, vertices, elements), stress;
    if (m->x_last && e.damped)
    {
        columns last = columns_of(&e, m->x_last, vertices, elements);
        stress = stress_from_last(&e, &F, &last, m->h);
    }
    else if (e.damped)
    {
        wide G[3][3];
        singular d = singular_of(&F);
        columns R = compose(&d.U, &d.V, NULL), rate = columns_of(&e, m->v, vertices, elements);
        stress = stress_of(&e, &F, &R);
        rate_in_frame(&d, &rate, G);
        add_damping(&e, &d, G, &stress);
    }
    else
    {
        columns R = rotation_of(&F);
        stress = stress_of(&e, &F, &R);
    }
    put_forces(&e, &stress, wide_set(-1.0), out);
}

// Damping counts for changes of C alone: turns have none of it.
WIDE_INLINE void put_blocks(const block* e, const singular* d, double h, element_batch* out)
{
    static const int plane[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    wide k = wide_set(h * h) * e->k, kd = wide_set(h) * e->damping * e->k, weight[3], q[3][4][3];
    for (int p = 0; p < 3; p++)
    {
        int i = plane[p][0], j = plane[p][1];
        weight[p] = 0.5 * (k * turn_share(d, i, j) + kd);
        for (int a = 0; a < 4; a++)
        {
            wide ai = wv_dot(d->V.c[i], e->g[a]), aj = wv_dot(d->V.c[j], e->g[a]);
            wvec t = wv_madd(wv_scale(aj, d->U.c[i]), -ai, d->U.c[j]);
            q[p][a][0] = t.x;
            q[p][a][1] = t.y;
            q[p][a][2] = t.z;
        }
    }
    for (int a = 0; a < 4; a++)
    {
        for (int b = a; b < 4; b++)
        {
            wide diagonal = (k + kd) * wv_dot(e->g[a], e->g[b]);
            for (int r = 0; r < 9; r++)
            {
                wide value = r / 3 == r % 3 ? diagonal : wide_set(0.0);
                for (int p = 0; p < 3; p++)
                {
                    value -= weight[p] * (q[p][a][r / 3] * q[p][b][r % 3]);
                }
                wide_store(out->block[pair_index(4, a, b)][r], value);
            }
        }
    }
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    const element_context* ctx = context;
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    block e = block_load(ctx->group, elements);
    columns F = columns_of(&e, m->x, vertices, elements), stress;
    singular d = singular_of(&F);
    if (m->x_last && e.damped)
    {
        columns last = columns_of(&e, m->x_last, vertices, elements);
        stress = stress_from_last(&e, &F, &last, m->h);
    }
    else
    {
        columns R = compose(&d.U, &d.V, NULL);
        stress = stress_of(&e, &F, &R);
    }
    if (!m->x_last)
    {
        wide G[3][3];
        columns rate = columns_of(&e, m->v, vertices, elements);
        rate_in_frame(&d, &rate, G);
        add_damping(&e, &d, G, &stress);
        add_stiff(&e, &d, G, m->h, &stress);
    }
    put_forces(&e, &stress, wide_set(-m->h), out->rhs);
    put_blocks(&e, &d, m->h, out);
}

// ---- energies

// Elastic energy and what the damping of a step adds, both at the rotation that is best for their sum.
WIDE_INLINE void add_damped(const block* e, const columns* F, const columns* last, double h, wide counted,
                            energy_sums* sums)
{
    columns C, T = target_of(e, last, wide_set(h), &C), G = product(F, &T), R = rotation_of(&G), d = product(&R, &C);
    wide half = 0.5 * e->k * counted, share = e->damping * wide_set(1.0 / h);
    sums->stretch += wide_sum(half * square_of_difference(F, &R));
    sums->dissipation += wide_sum(half * share * square_of_difference(F, &d));
}

WIDE_INLINE void add_elastic(const block* e, const columns* F, wide counted, energy_sums* sums)
{
    columns R = rotation_of(F), C = stretch_of(&R, F);
    wide largest = largest_of(&C);
    sums->stretch += wide_sum(counted * (0.5 * e->k * square_of_difference(F, &R)));
    for (int k = 0; k < WIDE; k++)
    {
        sums->max_stretch = largest[k] > sums->max_stretch ? largest[k] : sums->max_stretch;
    }
}

// Over a step with damping it is the sum of both that counts: nobody asks how far it is stretched on the way.
static void energy(const element_context* ctx, int begin, int end, energy_sums* sums)
{
    const element_motion* m = ctx->motion;
    const int* vertices = ctx->group->vertices;
    for (int first = begin; first < end; first += WIDE)
    {
        int elements[WIDE];
        wide counted;
        for (int k = 0; k < WIDE; k++)
        {
            elements[k] = int_min(first + k, end - 1);
            counted[k] = first + k < end ? 1.0 : 0.0;
        }
        block e = block_load(ctx->group, elements);
        columns F = columns_of(&e, m->x, vertices, elements);
        if (m->x_last && e.damped)
        {
            columns last = columns_of(&e, m->x_last, vertices, elements);
            add_damped(&e, &F, &last, m->h, counted, sums);
        }
        else
        {
            add_elastic(&e, &F, counted, sums);
        }
    }
}

extern const element_kernels KERNEL_NAME(block_kernels);
const element_kernels KERNEL_NAME(block_kernels) = {evaluate, energy, force, NULL};
