// The kinds `connection` and `arc`: exact forces for tests, which are slack, what may be explicit, and connections as
// models add them.
#include "material/connection.h"

#include "material/criterion.h"

KERNELS_DECLARE(element_kernels, connection_kernels);
KERNELS_DECLARE(element_kernels, arc_kernels);

// Force pull n on vertex 0 and its derivative: `along` n n^T + pull / l (I - n n^T).
static void exact_pair(vec3 d, double pull, double along, double* force, double* jacobian)
{
    double length = v3_length(d), across = pull / length;
    const double n[3] = {d.x / length, d.y / length, d.z / length};
    for (int r = 0; r < 6; r++)
    {
        force[r] = (r < 3 ? pull : -pull) * n[r % 3];
        for (int c = 0; c < 6; c++)
        {
            double value = (along - across) * n[r % 3] * n[c % 3] + (r % 3 == c % 3 ? across : 0.0);
            jacobian[6 * r + c] = (r < 3) == (c < 3) ? -value : value;
        }
    }
}

static void connection_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    vec3 d = v3_sub(x[1], x[0]);
    double extension = v3_length(d) - rest[CONNECTION_LENGTH];
    double k = rest[CONNECTION_SLACK] > 0.5 && extension <= 0.0 ? 0.0 : rest[CONNECTION_STIFFNESS];
    exact_pair(d, k * extension, k, force, jacobian);
}

static void arc_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    vec3 d = v3_sub(x[1], x[0]);
    double L = rest[ARC_LENGTH], length = v3_length(d), s = length / L;
    double pull = s < rest[ARC_TURN] ? rest[ARC_FORCE] * arc_f(s) : rest[ARC_START] * (length - L);
    double along = s < rest[ARC_TURN] ? rest[ARC_FORCE] / L * arc_slope(s) : rest[ARC_START];
    exact_pair(d, s < 1.0 ? pull : 0.0, s < 1.0 ? along : 0.0, force, jacobian);
}

static double length_of(const element_context* context, int e)
{
    const int* v = context->group->vertices + 2 * (size_t)e;
    return v3_length(v3_sub(context->motion->x[v[1]], context->motion->x[v[0]]));
}

// Of [[B, -B], [-B, B]] against the two masses, with 1 the largest eigenvalue of B.
static double inverse_masses(const element_context* context, const double* mass_share, int e)
{
    const int* v = context->group->vertices + 2 * (size_t)e;
    return 1.0 / mass_share[v[0]] + 1.0 / mass_share[v[1]];
}

// n . dv, m/s
static double rate_of(const element_context* context, int e, double length)
{
    const element_motion* m = context->motion;
    const int* v = context->group->vertices + 2 * (size_t)e;
    vec3 d = v3_sub(m->x[v[1]], m->x[v[0]]), dv = v3_sub(m->v[v[1]], m->v[v[0]]);
    return length > 0.0 ? v3_dot(d, dv) / length : 0.0;
}

static bool connection_is_slack(const element_context* context, int e)
{
    const element_motion* m = context->motion;
    const double* rest = context->group->rest + CONNECTION_STRIDE * (size_t)e;
    double L = rest[CONNECTION_LENGTH], length = length_of(context, e);
    if (!(rest[CONNECTION_SLACK] > 0.5) || length > LENGTH_ROUNDED * L)
    {
        return false;
    }
    return !(m->ahead && !m->x_last && length + m->h * rate_of(context, e, length) > AHEAD_STRETCH * L);
}

static void connection_slack(const element_context* context, int begin, int end, uint8_t* out)
{
    for (int e = begin; e < end; e++)
    {
        out[e - begin] = connection_is_slack(context, e);
    }
}

// A damper that does not act counts as if it did: it may at any time in the step.
static void connection_criterion(const element_context* context, const double* mass_share, int begin, int end,
                                 double (*out)[2])
{
    for (int e = begin; e < end; e++)
    {
        const double* rest = context->group->rest + CONNECTION_STRIDE * (size_t)e;
        double w = inverse_masses(context, mass_share, e);
        out[e - begin][0] = rest[CONNECTION_STIFFNESS] * w;
        out[e - begin][1] = (int)rest[CONNECTION_FORM] == DAMPER_NONE ? 0.0 : rest[CONNECTION_DAMPING] * w;
    }
}

static element_role connection_role_of(const element_group* group, int e)
{
    return element_role_of_spring((spring_role)group->rest[CONNECTION_STRIDE * (size_t)e + CONNECTION_ROLE]);
}

static void arc_slack(const element_context* context, int begin, int end, uint8_t* out)
{
    for (int e = begin; e < end; e++)
    {
        double L = context->group->rest[ARC_STRIDE * (size_t)e + ARC_LENGTH];
        out[e - begin] = !(length_of(context, e) < LENGTH_ROUNDED * L);
    }
}

// The blocks are along n n^T alone, with the stiffness at this length.
static void arc_criterion(const element_context* context, const double* mass_share, int begin, int end,
                          double (*out)[2])
{
    for (int e = begin; e < end; e++)
    {
        const double* rest = context->group->rest + ARC_STRIDE * (size_t)e;
        double start = arc_start_of(rest, context->group->vertices + 2 * (size_t)e, context->motion);
        double turn = arc_turn_of(rest, start);
        double s = length_of(context, e) / rest[ARC_LENGTH];
        double along = s < turn ? rest[ARC_FORCE] / rest[ARC_LENGTH] * arc_slope(s) : s < LENGTH_ROUNDED ? start : 0.0;
        double w = along * inverse_masses(context, mass_share, e);
        out[e - begin][0] = w;
        out[e - begin][1] = (int)rest[ARC_FORM] == DAMPER_NONE ? 0.0 : rest[ARC_DAMPING] * w;
    }
}

const element_kind kind_connection = {
    .name = "connection",
    .arity = 2,
    .rest_stride = CONNECTION_STRIDE,
    .kernels = KERNELS_OF(connection_kernels),
    .exact = connection_exact,
    .explicit_criterion = connection_criterion,
    .slack = connection_slack,
    .role_of = connection_role_of,
};

const element_kind kind_arc = {
    .name = "arc",
    .arity = 2,
    .rest_stride = ARC_STRIDE,
    .kernels = KERNELS_OF(arc_kernels),
    .exact = arc_exact,
    .explicit_criterion = arc_criterion,
    .slack = arc_slack,
    .role = ROLE_BEND,
};

void connection_add(element_group* group, const connection* c)
{
    int e = group->count++;
    double* rest = group->rest + CONNECTION_STRIDE * (size_t)e;
    group->vertices[2 * e] = c->a;
    group->vertices[2 * e + 1] = c->b;
    rest[CONNECTION_STIFFNESS] = c->stiffness;
    rest[CONNECTION_LENGTH] = c->length;
    rest[CONNECTION_DAMPING] = c->damping;
    rest[CONNECTION_ROLE] = c->role;
    rest[CONNECTION_FORM] = c->damper;
    rest[CONNECTION_SLACK] = c->slack;
}

void arc_add(element_group* group, const arc* it)
{
    int e = group->count++;
    double* rest = group->rest + ARC_STRIDE * (size_t)e;
    group->vertices[2 * e] = it->a;
    group->vertices[2 * e + 1] = it->b;
    rest[ARC_FORCE] = 4.0 * it->rigidity / (it->length * it->length);
    rest[ARC_LENGTH] = it->length;
    rest[ARC_START] = it->start;
    rest[ARC_TURN] = arc_turn(rest[ARC_FORCE], it->length, it->start);
    rest[ARC_DAMPING] = it->damping;
    rest[ARC_FORM] = it->damper;
}
