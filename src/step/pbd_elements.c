// Elements that are no springs, as constraints: a group at a time, by colour, eight abreast. With W the inverse masses
// and J the gradients of an element's rows,
//
//     (J W J^T + S) dlambda = -(C + S lambda),    S = compliance / h^2,    dx = W J^T dlambda
//
// which takes the rows of an element together: a membrane's three fight when they go one by one. Dampers act on
// velocities, as those of links: C is then J v, and S compliance / (h damping).
#include <string.h>

#include "material/spring.h"
#include "step/pbd.h"

enum
{
    ELEMENT_GRAIN = 64 // elements a chunk
};

static int rows_of(const element_kind* kind)
{
    return kind->constraint_rows > 0 ? kind->constraint_rows : 1;
}

weft_status element_sweep_create(element_sweep* s, const element_group* group, int vertex_count)
{
    const element_kind* kind = group->kind;
    *s = (element_sweep){.group = group, .rows = rows_of(kind)};
    int* colour = MEM_NEW(group->count, int);
    s->order = MEM_NEW(group->count, int);
    s->lambda = MEM_NEW((size_t)s->rows * (size_t)group->count, double);
    bool ok = colour && s->order && s->lambda;
    s->colour_count = ok ? colour_elements(group->vertices, kind->arity, group->count, vertex_count, colour) : -1;
    s->colour = s->colour_count >= 0 ? MEM_NEW(s->colour_count + 1, int) : NULL;
    if (s->colour)
    {
        colour_sort(colour, group->count, s->colour_count, s->order, s->colour);
        s->capacity = group->count;
        s->colour_capacity = s->colour_count + 1;
        s->lambda_capacity = s->rows * group->count;
    }
    mem_free(colour);
    return s->colour ? WEFT_OK : WEFT_NO_MEMORY;
}

void element_sweep_finish(element_sweep* s)
{
    mem_free(s->colour);
    mem_free(s->order);
    mem_free(s->lambda);
    *s = (element_sweep){0};
}

typedef struct sweep_context
{
    element_sweep* s;
    const link_rule* rule;
    const double* inv_mass;
    vec3 *x, *v; // v is NULL: positions are projected
    int first;   // of the colour
    bool remember;
} sweep_context;

static void batch_take(const sweep_context* c, int at, int count, int* elements, constraint_batch* out)
{
    // A kind may look at velocities, too; a constraint has nothing of them.
    element_motion motion = {.x = c->x, .v = c->v ? c->v : c->x, .h = c->rule->h};
    element_context context = {c->s->group, &motion};
    for (int k = 0; k < BATCH; k++)
    {
        elements[k] = c->s->order[at + (k < count ? k : 0)];
    }
    c->s->group->kind->constraint(&context, elements, out);
}

// ---- sweeps

// Solves the symmetric system of n rows; a row without a pivot gets zero.
static void solve_small(double A[3][3], double* b, int n)
{
    for (int p = 0; p < n; p++)
    {
        double inverse = A[p][p] > 0.0 ? 1.0 / A[p][p] : 0.0;
        for (int r = p + 1; r < n; r++)
        {
            double factor = A[r][p] * inverse;
            for (int q = p + 1; q < n; q++)
            {
                A[r][q] -= factor * A[p][q];
            }
            b[r] -= factor * b[p];
        }
    }
    for (int p = n - 1; p >= 0; p--)
    {
        for (int q = p + 1; q < n; q++)
        {
            b[p] -= A[p][q] * b[q];
        }
        b[p] = A[p][p] > 0.0 ? b[p] / A[p][p] : 0.0;
    }
}

static vec3 gradient_of(const constraint_batch* row, int vertex, int lane)
{
    return v3(row->gradient[vertex][0][lane], row->gradient[vertex][1][lane], row->gradient[vertex][2][lane]);
}

static double damping_of(const element_group* group, int e)
{
    const element_kind* kind = group->kind;
    size_t first = (size_t)e * (size_t)kind->rest_stride;
    return kind->constraint_damping > 0 ? group->rest[first + (size_t)kind->constraint_damping] : 0.0;
}

// J W J^T of one element.
static void weigh(const sweep_context* c, const constraint_batch* out, int lane, const int* vertex, double A[3][3])
{
    for (int r = 0; r < c->s->rows; r++)
    {
        for (int a = 0; a < c->s->group->kind->arity; a++)
        {
            vec3 g = v3_scale(c->inv_mass[vertex[a]], gradient_of(&out[r], a, lane));
            for (int q = 0; q < c->s->rows; q++)
            {
                A[r][q] += v3_dot(g, gradient_of(&out[q], a, lane));
            }
        }
    }
}

static double rate_of(const sweep_context* c, const constraint_batch* row, int lane, const int* vertex)
{
    double rate = 0.0;
    for (int a = 0; a < c->s->group->kind->arity; a++)
    {
        rate += v3_dot(gradient_of(row, a, lane), c->v[vertex[a]]);
    }
    return rate;
}

// S of a row; infinite: the row is none.
static double soft_of(const sweep_context* c, const constraint_batch* row, int lane, int e, double weight)
{
    double h = c->rule->h, share = c->s->group->kind->arity > 3 ? c->rule->k_bend : c->rule->k;
    if (c->v)
    {
        return row->compliance[lane] / (h * damping_of(c->s->group, e));
    }
    return c->rule->legacy ? weight * (1.0 / share - 1.0) : row->compliance[lane] / (h * h);
}

// The least height of a triangle, squared, but at least a tenth of its shortest side: what has collapsed may open.
static double triangle_least_sq(const vec3* x, const int* v)
{
    const double least = 0.01;
    vec3 a = v3_sub(x[v[1]], x[v[0]]), b = v3_sub(x[v[2]], x[v[0]]), c = v3_sub(b, a), n = v3_cross(a, b);
    double a_sq = v3_dot(a, a), b_sq = v3_dot(b, b), c_sq = v3_dot(c, c);
    double longest_sq = fmax(a_sq, fmax(b_sq, c_sq)), shortest_sq = fmin(a_sq, fmin(b_sq, c_sq));
    return longest_sq > 0.0 ? fmax(v3_dot(n, n) / longest_sq, least * shortest_sq) : 0.0;
}

static bool is_slender(const element_sweep* s, const int* v)
{
    return s->slender && s->group->kind->arity == 3 && (s->slender[v[0]] || s->slender[v[1]] || s->slender[v[2]]);
}

// A fold is a line only near where it is: a projection that asks for more than a part of what the element measures is
// shortened to that. Without it stiff folds that are far off throw cloth apart, farther each time, and triangles that
// are nearly flat throw their tips by the length of their sides.
static void keep_near(const sweep_context* c, const constraint_batch* out, int lane, const int* vertex, double* b)
{
    int arity = c->s->group->kind->arity;
    const double part = arity > 3 ? 0.25 : 1.0;
    double nearest_sq = INFINITY, farthest_sq = 0.0;
    for (int a = 0; a < arity; a++)
    {
        vec3 move = v3(0, 0, 0), d = v3_sub(c->x[vertex[a]], c->x[vertex[(a + 1) % arity]]);
        for (int r = 0; r < c->s->rows; r++)
        {
            move = v3_madd(move, b[r] * c->inv_mass[vertex[a]], gradient_of(&out[r], a, lane));
        }
        nearest_sq = fmin(nearest_sq, v3_dot(d, d));
        farthest_sq = fmax(farthest_sq, v3_dot(move, move));
    }
    nearest_sq = is_slender(c->s, vertex) ? triangle_least_sq(c->x, vertex) : nearest_sq;
    double share = part * sqrt(nearest_sq / farthest_sq);
    for (int r = 0; r < c->s->rows && share < 1.0; r++)
    {
        b[r] *= share;
    }
}

static void project_lane(const sweep_context* c, const constraint_batch* out, int lane, int e)
{
    int rows = c->s->rows, arity = c->s->group->kind->arity;
    const int* vertex = c->s->group->vertices + (size_t)arity * (size_t)e;
    double* lambda = c->s->lambda + (size_t)rows * (size_t)e;
    double A[3][3] = {{0}}, b[3];
    weigh(c, out, lane, vertex, A);
    for (int r = 0; r < rows; r++)
    {
        double value = c->v ? rate_of(c, &out[r], lane, vertex) : out[r].value[lane];
        double soft = soft_of(c, &out[r], lane, e, A[r][r]);
        bool lives = isfinite(soft);
        for (int q = 0; q < rows && !lives; q++)
        {
            A[r][q] = A[q][r] = 0.0;
        }
        b[r] = lives ? -(value + (c->remember ? soft * lambda[r] : 0.0)) : 0.0;
        A[r][r] += lives ? soft : 1.0;
    }
    solve_small(A, b, rows);
    arity > 2 && !c->v ? keep_near(c, out, lane, vertex, b) : (void)0;
    for (int r = 0; r < rows; r++)
    {
        lambda[r] += c->v ? 0.0 : b[r];
        for (int a = 0; a < arity; a++)
        {
            vec3* to = c->v ? &c->v[vertex[a]] : &c->x[vertex[a]];
            *to = v3_madd(*to, b[r] * c->inv_mass[vertex[a]], gradient_of(&out[r], a, lane));
        }
    }
}

static void sweep_chunk(void* context, int begin, int end)
{
    const sweep_context* c = context;
    constraint_batch out[CONSTRAINT_ROWS_MAX];
    int elements[BATCH];
    for (int at = c->first + begin; at < c->first + end; at += BATCH)
    {
        int count = int_min(BATCH, c->first + end - at);
        batch_take(c, at, count, elements, out);
        for (int k = 0; k < count; k++)
        {
            project_lane(c, out, k, elements[k]);
        }
    }
}

static void by_colour(element_sweep* s, const link_sweep* how, sweep_context* c)
{
    for (int k = 0; k < s->colour_count; k++)
    {
        int colour = how->backward ? s->colour_count - 1 - k : k;
        c->first = s->colour[colour];
        parallel_for(how->pool, s->colour[colour + 1] - c->first, ELEMENT_GRAIN, sweep_chunk, c);
    }
}

void element_sweep_begin(element_sweep* s)
{
    memset(s->lambda, 0, (size_t)s->rows * (size_t)s->group->count * sizeof(double));
}

void element_sweep_run(element_sweep* s, const link_sweep* how, const link_rule* rule, const double* inv_mass, vec3* x)
{
    sweep_context c = {s, rule, inv_mass, x, NULL, 0, how->remember};
    by_colour(s, how, &c);
}

void element_sweep_damp(element_sweep* s, const link_sweep* how, const link_rule* rule, const double* inv_mass, vec3* x,
                        vec3* v)
{
    bool damped = false;
    for (int e = 0; e < s->group->count && !damped; e++)
    {
        damped = damping_of(s->group, e) > 0.0;
    }
    sweep_context c = {s, rule, inv_mass, x, v, 0, false};
    damped ? by_colour(s, how, &c) : (void)0;
}
