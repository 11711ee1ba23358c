// The spring kind: exact forces for tests, the constant bound of its stiffness for local/global methods, and springs as
// models add them.
#include "material/constraints.h"
#include "material/spring.h"

#include <string.h>

#include "material/criterion.h"

KERNELS_DECLARE(element_kernels, spring_kernels);

static void spring_exact(const double* rest, const vec3* x, double* force, double* jacobian)
{
    vec3 d = v3_sub(x[1], x[0]);
    double k = rest[SPRING_STIFFNESS], length = v3_length(d), across = k * (1.0 - rest[SPRING_LENGTH] / length);
    const double n[3] = {d.x / length, d.y / length, d.z / length};
    for (int r = 0; r < 6; r++)
    {
        double sign = r < 3 ? 1.0 : -1.0;
        force[r] = sign * k * (length - rest[SPRING_LENGTH]) * n[r % 3];
        for (int c = 0; c < 6; c++)
        {
            double value = (k - across) * n[r % 3] * n[c % 3] + (r % 3 == c % 3 ? across : 0.0);
            jacobian[6 * r + c] = (r < 3) == (c < 3) ? -value : value;
        }
    }
}

// k (h^2 + beta h) |x1 - x0 - d|^2 / 2, with |d| = (h L + beta l_last) / (h + beta).
static void spring_rows(const element_group* group, int e, double h, double* weight, double* S)
{
    const double* rest = group->rest + SPRING_STRIDE * (size_t)e;
    weight[0] = rest[SPRING_STIFFNESS] * (h * h + rest[SPRING_DAMPING] * h);
    S[0] = -1.0;
    S[1] = 1.0;
}

static const element_projection projection = {1, spring_rows};

const element_kind kind_spring = {
    .name = "spring",
    .arity = 2,
    .rest_stride = SPRING_STRIDE,
    .kernels = KERNELS_OF(spring_kernels),
    .exact = spring_exact,
    .projection = &projection,
    .constraint = spring_constraint,
    .constraint_damping = SPRING_DAMPING,
    .explicit_criterion = spring_criterion,
    .role_of = spring_role_of,
};

void spring_add(element_group* group, int a, int b, double stiffness, double length, double damping, spring_role role)
{
    int e = group->count++;
    double* rest = group->rest + SPRING_STRIDE * (size_t)e;
    group->vertices[2 * e] = a;
    group->vertices[2 * e + 1] = b;
    rest[SPRING_STIFFNESS] = stiffness;
    rest[SPRING_LENGTH] = length;
    rest[SPRING_DAMPING] = damping;
    rest[SPRING_ROLE] = role;
}

double spring_bending(double rigidity, double s1, double s2, double fold)
{
    static const double agreed = 0.5; // rad
    // A fold shortens the spring by its square times this; from `fold` to fold + agreed by agreed (2 fold + agreed).
    double shortened = s1 * s2 / (2.0 * (s1 + s2)), spacing = 0.5 * (s1 + s2), per_angle = 2.0 * fold + agreed;
    return rigidity / (spacing * per_angle * per_angle * shortened * shortened);
}
