// The heavy elastica by shooting from its free end, where it is straight.
//
// With s from the tip and phi = 90 degrees - theta: phi'' = gamma s sin(phi), phi'(0) = 0, and at the clamp phi(1) = 90
// degrees. A limp strip hangs almost straight, phi(0) ~ exp(-2/3 sqrt(gamma)), so that the logarithm of phi(0) is what
// is bisected: shooting from the clamp would lose the tip in rounding.
#include "validate/elastica.h"

#include <math.h>

static const double half_pi = 1.57079632679489661923;

typedef struct arc
{
    double phi, turn, down, along; // angle to the vertical, its rate, and what the strip has run so far
} arc;

static arc rate(double gamma, double s, arc y)
{
    return (arc){y.turn, gamma * s * sin(y.phi), cos(y.phi), sin(y.phi)};
}

static arc arc_add(arc a, double h, arc b)
{
    return (arc){a.phi + h * b.phi, a.turn + h * b.turn, a.down + h * b.down, a.along + h * b.along};
}

// Runge and Kutta's fourth order from tip to clamp.
static arc shoot(double gamma, double phi)
{
    enum
    {
        STEPS = 2000
    };
    const double h = 1.0 / STEPS;
    arc y = {.phi = phi};
    for (int k = 0; k < STEPS; k++)
    {
        double s = k * h;
        arc a = rate(gamma, s, y), b = rate(gamma, s + 0.5 * h, arc_add(y, 0.5 * h, a));
        arc c = rate(gamma, s + 0.5 * h, arc_add(y, 0.5 * h, b)), d = rate(gamma, s + h, arc_add(y, h, c));
        y = arc_add(arc_add(arc_add(arc_add(y, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
    }
    return y;
}

elastica elastica_solve(double gamma)
{
    double low = -60.0, high = log(half_pi);
    for (int k = 0; k < 100; k++)
    {
        double middle = 0.5 * (low + high);
        *(shoot(gamma, exp(middle)).phi < half_pi ? &low : &high) = middle;
    }
    arc y = shoot(gamma, exp(0.5 * (low + high)));
    return (elastica){.drop = y.down, .reach = y.along};
}

double elastica_gamma(double drop_over_reach)
{
    double low = log(1e-6), high = log(1e4);
    for (int k = 0; k < 60; k++)
    {
        double middle = 0.5 * (low + high);
        elastica e = elastica_solve(exp(middle));
        *(e.drop / e.reach < drop_over_reach ? &low : &high) = middle;
    }
    return exp(0.5 * (low + high));
}

// Irvine's elastic catenary, lengths over that of the chain, forces over its weight: a pull h at the lowest point gives
//     span = 2 (h load / 2 + h asinh(1 / (2 h))),   sag = load / 8 + h (sqrt(1 + 1 / (4 h^2)) - 1)
// The span grows with h, which is bisected by its logarithm.
double catenary_sag(double span, double load)
{
    double low = log(1e-6), high = log(1e6);
    for (int k = 0; k < 100; k++)
    {
        double middle = 0.5 * (low + high), h = exp(middle);
        *(h * load + 2.0 * h * asinh(0.5 / h) < span ? &low : &high) = middle;
    }
    double h = exp(0.5 * (low + high));
    return 0.125 * load + h * (sqrt(1.0 + 0.25 / (h * h)) - 1.0);
}

double bessel_j0(double x)
{
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 60; k++)
    {
        term *= -0.25 * x * x / ((double)k * k);
        sum += term;
    }
    return sum;
}
