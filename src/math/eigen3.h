// Eigenvalues of symmetric 3 x 3 matrices.
#ifndef WEFT_EIGEN3_H
#define WEFT_EIGEN3_H

#include <math.h>
#include <string.h>

// Eigenvalues and vectors (columns of V) of a symmetric 3 x 3 matrix by cyclic Jacobi rotations. The
// values are left on the diagonal of A.
static inline void eigen3(double A[3][3], double V[3][3])
{
    memset(V, 0, 9 * sizeof(double));
    V[0][0] = V[1][1] = V[2][2] = 1.0;
    double scale = fabs(A[0][0]) + fabs(A[1][1]) + fabs(A[2][2]);
    for (int sweep = 0; sweep < 30; sweep++)
    {
        if (fabs(A[0][1]) + fabs(A[0][2]) + fabs(A[1][2]) <= 1e-16 * scale)
        {
            return;
        }
        for (int p = 0; p < 2; p++)
        {
            for (int q = p + 1; q < 3; q++)
            {
                if (fabs(A[p][q]) <= 1e-300)
                {
                    continue;
                }
                double theta = 0.5 * (A[q][q] - A[p][p]) / A[p][q];
                double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++)
                {
                    double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++)
                {
                    double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                    double a = V[k][p], b = V[k][q];
                    V[k][p] = c * a - s * b;
                    V[k][q] = s * a + c * b;
                }
            }
        }
    }
}

#endif
