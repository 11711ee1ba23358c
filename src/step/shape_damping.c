// Damping that keeps rigid motion; see shape_damping.h.
#include "step/shape_damping.h"

#include "math/eigen3.h"

// A moment of inertia below this share of all of them is none: a straight strand does not turn about itself.
static const double moment_min = 1e-13;

// All that is joined with a vertex goes behind it. Returns the end of the piece.
static int gather_piece(shape_damping* s, const bsr_pattern* pattern, uint8_t* seen, int begin)
{
    int end = begin + 1;
    for (int at = begin; at < end; at++)
    {
        int i = s->vertex[at];
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            int j = pattern->column[slot];
            if (!seen[j])
            {
                seen[j] = 1;
                s->vertex[end++] = j;
            }
        }
    }
    return end;
}

void shape_damping_finish(shape_damping* s)
{
    mem_free(s->start);
    mem_free(s->vertex);
    *s = (shape_damping){0};
}

weft_status shape_damping_create(shape_damping* s, const bsr_pattern* pattern)
{
    int n = pattern->row_count, end = 0;
    uint8_t* seen = MEM_NEW(n, uint8_t);
    *s = (shape_damping){.start = MEM_NEW(n + 1, int), .vertex = MEM_NEW(n, int)};
    if (!seen || !s->start || !s->vertex)
    {
        mem_free(seen);
        shape_damping_finish(s);
        return WEFT_NO_MEMORY;
    }
    for (int i = 0; i < n; i++)
    {
        if (!seen[i])
        {
            seen[i] = 1;
            s->vertex[end] = i;
            end = gather_piece(s, pattern, seen, end);
            s->start[++s->piece_count] = end;
        }
    }
    mem_free(seen);
    return WEFT_OK;
}

// ---- a piece

typedef struct rigid_motion
{
    vec3 centre, v, turn; // m, m/s, 1/s
} rigid_motion;

typedef struct damping_context
{
    const shape_damping* pieces;
    const double* mass;
    const vec3* x;
    double fade;
    vec3* v;
} damping_context;

// The rotation with the angular momentum L, of moments J.
static vec3 turn_of(double J[3][3], vec3 L)
{
    double V[3][3], trace = J[0][0] + J[1][1] + J[2][2];
    vec3 turn = v3(0, 0, 0);
    eigen3(J, V);
    for (int k = 0; k < 3; k++)
    {
        vec3 axis = v3(V[0][k], V[1][k], V[2][k]);
        if (J[k][k] > moment_min * trace)
        {
            turn = v3_madd(turn, v3_dot(axis, L) / J[k][k], axis);
        }
    }
    return turn;
}

static rigid_motion motion_of(const damping_context* c, const int* vertex, int count)
{
    rigid_motion m = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double mass = 0.0, J[3][3] = {{0}};
    for (int k = 0; k < count; k++)
    {
        int i = vertex[k];
        mass += c->mass[i];
        m.centre = v3_madd(m.centre, c->mass[i], c->x[i]);
        m.v = v3_madd(m.v, c->mass[i], c->v[i]);
    }
    m.centre = v3_scale(1.0 / mass, m.centre);
    m.v = v3_scale(1.0 / mass, m.v);
    vec3 L = v3(0, 0, 0);
    for (int k = 0; k < count; k++)
    {
        int i = vertex[k];
        vec3 r = v3_sub(c->x[i], m.centre);
        const double arm[3] = {r.x, r.y, r.z};
        L = v3_madd(L, c->mass[i], v3_cross(r, v3_sub(c->v[i], m.v)));
        for (int a = 0; a < 9; a++)
        {
            double square = a / 3 == a % 3 ? v3_dot(r, r) : 0.0;
            J[a / 3][a % 3] += c->mass[i] * (square - arm[a / 3] * arm[a % 3]);
        }
    }
    m.turn = turn_of(J, L);
    return m;
}

static void damp_pieces(void* context, int begin, int end)
{
    const damping_context* c = context;
    for (int p = begin; p < end; p++)
    {
        const int* vertex = c->pieces->vertex + c->pieces->start[p];
        int count = c->pieces->start[p + 1] - c->pieces->start[p];
        rigid_motion m = motion_of(c, vertex, count);
        for (int k = 0; k < count; k++)
        {
            int i = vertex[k];
            vec3 rigid = v3_add(m.v, v3_cross(m.turn, v3_sub(c->x[i], m.centre)));
            c->v[i] = v3_madd(rigid, c->fade, v3_sub(c->v[i], rigid));
        }
    }
}

void shape_damping_apply(const shape_damping* s, workers* pool, const double* mass, const vec3* x, double fade, vec3* v)
{
    damping_context c = {s, mass, x, fade, v};
    parallel_for(pool, s->piece_count, 1, damp_pieces, &c);
}
