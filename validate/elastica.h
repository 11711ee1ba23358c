// Closed forms that are solved rather than written: the heavy elastica, the catenary.
#ifndef WEFT_ELASTICA_H
#define WEFT_ELASTICA_H

typedef struct elastica
{
    double drop, reach; // of the tip below and beside the clamp, of a strip of length 1
} elastica;

// A strip clamped level, under its weight: theta'' = -gamma (1 - s) cos(theta), theta(0) = 0, theta'(1) = 0.
elastica elastica_solve(double gamma);
// The gamma at which drop over reach is this.
double elastica_gamma(double drop_over_reach);
// Sag of an elastic chain of length 1 between level supports that are `span` apart (below 1). load is its weight over
// its stiffness, 0 of one that does not stretch.
double catenary_sag(double span, double load);
// Bessel's function of order 0, for arguments up to some 10.
double bessel_j0(double x);

#endif
