// Connections of particle models: springs that may go slack, with a damper of one of four forms, and the bend springs
// of Choi and Ko. Layout of their rest data, and connections as models add them.
#ifndef WEFT_CONNECTION_H
#define WEFT_CONNECTION_H

#include "material/spring.h"

enum
{
    CONNECTION_STIFFNESS, // N/m
    CONNECTION_LENGTH,    // m
    CONNECTION_DAMPING,   // N s/m
    CONNECTION_ROLE,      // spring_role, for energies by name
    CONNECTION_FORM,      // damper_form
    CONNECTION_SLACK,     // 1: no force below its length, 0: it pushes, too
    CONNECTION_STRIDE
};

// The arc's force is ARC_FORCE f(s), s = |x| / L; its first part is linear, ARC_START (|x| - L), until s = ARC_TURN.
enum
{
    ARC_FORCE,   // N, 4 k / L^2 with k in N m^2: the thesis's k_s of bending
    ARC_LENGTH,  // m, L
    ARC_START,   // N/m, c_b
    ARC_TURN,    // s at which both parts meet; 0: they do not
    ARC_DAMPING, // s, times the stiffness along the spring
    ARC_FORM,    // damper_form
    ARC_STRIDE
};

// Lengths that differ by rounding are one: at its own length a connection is taut, and an arc is not bent.
#define LENGTH_ROUNDED (1.0 - 1e-10)
// A slack connection counts as taut in a linear step that would take it beyond this times its length.
#define AHEAD_STRETCH (1.0 + 2e-4)

extern const element_kind kind_connection, kind_arc;

typedef struct connection
{
    int a, b;
    double stiffness, length, damping; // N/m, m, N s/m
    spring_role role;
    damper_form damper;
    bool slack; // it goes slack
} connection;

// Of the material (`damping`, s), or as the model's options say; `whole` is 1/2 at borders, where the material's is
// half by itself.
static inline double connection_damping(const cloth_shape* shape, double damping, const connection* c, double whole)
{
    const connection_options* o = &shape->connections;
    double chosen = c->role == SPRING_STRETCH ? o->stretch_damping : c->role == SPRING_SHEAR ? o->shear_damping : -1.0;
    return o->damper == DAMPER_NONE ? 0.0 : chosen >= 0.0 ? chosen * whole : damping * c->stiffness;
}

// There is room for it.
void connection_add(element_group* group, const connection* c);

typedef struct arc
{
    int a, b;
    double rigidity; // N m^2
    double length;   // m
    double start;    // N/m
    double damping;  // s
    damper_form damper;
} arc;

void arc_add(element_group* group, const arc* it); // there is room for it

// (3.9), its derivative and its integral from 0.
static inline double arc_f(double s)
{
    return (((-11.541 * s + 34.193) * s - 39.083) * s + 23.116) * s - 9.713;
}

static inline double arc_slope(double s)
{
    return ((-46.164 * s + 102.579) * s - 78.166) * s + 23.116;
}

static inline double arc_integral(double s)
{
    return ((((-11.541 / 5 * s + 34.193 / 4) * s - 39.083 / 3) * s + 23.116 / 2) * s - 9.713) * s;
}

// Where c_b L (s - 1) = force f(s), nearest to s = 1; 0: nowhere. The difference is convex, so that Newton's iteration
// from s = 1 comes down to the root and never passes it.
static inline double arc_turn(double force, double length, double start)
{
    double s = 1.0;
    for (int turn = 0; turn < 60; turn++)
    {
        double value = start * length * (s - 1.0) - force * arc_f(s);
        double slope = start * length - force * arc_slope(s);
        double next = s - value / slope;
        if (!(slope > 0.0) || !(next > 0.0))
        {
            return 0.0;
        }
        if (!(next < s))
        {
            break;
        }
        s = next;
    }
    return s;
}

// Where bending is explicit the linear start is capped by the masses of its ends, with this share of m / h^2.
static const double arc_cap = 0.1;

static inline double arc_start_of(const double* rest, const int* vertices, const element_motion* motion)
{
    if (!motion->cap_mass)
    {
        return rest[ARC_START];
    }
    double mass = fmin(motion->cap_mass[vertices[0]], motion->cap_mass[vertices[1]]);
    return fmin(rest[ARC_START], arc_cap * mass / (motion->h * motion->h));
}

// With that start: another root only where it was capped.
static inline double arc_turn_of(const double* rest, double start)
{
    return start < rest[ARC_START] ? arc_turn(rest[ARC_FORCE], rest[ARC_LENGTH], start) : rest[ARC_TURN];
}

#endif
