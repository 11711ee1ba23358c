#include "bench/peers/problem.h"

#include <math.h>
#include <string.h>

#include "solve/prefilter.h"

enum
{
    RIGID_COUNT = 6,
    TRANSLATION_COUNT = 3
};

// ---- vectors of 3 n numbers

static double dot(const vec3* x, const vec3* y, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
    {
        sum += v3_dot(x[i], y[i]);
    }
    return sum;
}

// r = S (b - A x)
static void residual(const problem* p, const vec3* x, vec3* r)
{
    bsr_multiply(NULL, cpu_best(), &p->view.A, x, r);
    for (int i = 0; i < p->rows; i++)
    {
        r[i] = v3_sub(p->view.b[i], r[i]);
    }
    filter_apply(&p->view, r);
}

// ---- near kernel

// Rigid motion `k` of a point: translations, then rotations about the centre.
static vec3 rigid_motion(int k, vec3 d)
{
    const vec3 motions[RIGID_COUNT] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -d.z, d.y}, {d.z, 0, -d.x}, {-d.y, d.x, 0}};
    return motions[k];
}

static void fill_rigid(const problem* p, int k, vec3* column)
{
    const vec3* positions = p->view.positions;
    vec3 centre = {0, 0, 0};
    for (int i = 0; i < p->rows && positions; i++)
    {
        centre = v3_add(centre, v3_scale(1.0 / p->rows, positions[i]));
    }
    for (int i = 0; i < p->rows; i++)
    {
        column[i] = rigid_motion(k, positions ? v3_sub(positions[i], centre) : centre);
    }
}

// Column `k` as the files say it, without what constraints forbid.
static void fill_column(const problem* p, int k, vec3* column)
{
    if (p->view.kernel)
    {
        memcpy(column, p->view.kernel + 3 * (size_t)p->rows * (size_t)k, (size_t)p->rows * sizeof(vec3));
    }
    else
    {
        fill_rigid(p, k, column);
    }
    filter_apply(&p->view, column);
}

// Orthogonal to the columns before it, twice for the rounding, and of length one. False: nothing new is left of it.
static bool orthonormalize(const problem* p, vec3* column)
{
    double before = sqrt(dot(column, column, p->rows));
    for (int k = 0; k < 2 * p->kernel_count; k++)
    {
        const vec3* other = (const vec3*)p->kernel + (size_t)p->rows * (size_t)(k % p->kernel_count);
        double share = dot(column, other, p->rows);
        for (int i = 0; i < p->rows; i++)
        {
            column[i] = v3_sub(column[i], v3_scale(share, other[i]));
        }
    }
    double length = sqrt(dot(column, column, p->rows));
    for (int i = 0; i < p->rows && length > 0.0; i++)
    {
        column[i] = v3_scale(1.0 / length, column[i]);
    }
    return length > 1e-8 * before;
}

static weft_status make_kernel(problem* p)
{
    int count = p->view.kernel ? p->view.kernel_count : p->view.positions ? RIGID_COUNT : TRANSLATION_COUNT;
    p->kernel = MEM_NEW(3 * (size_t)p->rows * (size_t)count, double);
    for (int k = 0; k < count && p->kernel; k++)
    {
        vec3* column = (vec3*)p->kernel + (size_t)p->rows * (size_t)p->kernel_count;
        fill_column(p, k, column);
        p->kernel_count += orthonormalize(p, column);
    }
    return p->kernel ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- making

static void number_free(problem* p)
{
    for (int i = 0; i < p->rows; i++)
    {
        bool fixed = p->index[i] >= 0 && p->view.filter[p->index[i]].direction_count == 3;
        p->place[i] = fixed ? -1 : p->free_count;
        p->vertex[p->free_count] = i;
        p->free_count += !fixed;
    }
}

static weft_status make_arrays(problem* p)
{
    p->index = MEM_NEW(p->rows, int);
    p->place = MEM_NEW(p->rows, int);
    p->vertex = MEM_NEW(p->rows, int);
    p->start = MEM_NEW(p->rows, vec3);
    p->rhs = MEM_NEW(p->rows, vec3);
    p->work = MEM_NEW(2 * (size_t)p->rows, vec3);
    if (!p->index || !p->place || !p->vertex || !p->start || !p->rhs || !p->work)
    {
        return WEFT_NO_MEMORY;
    }
    prefilter_index(&p->view, p->index);
    number_free(p);
    filter_prescribed(&p->view, p->start);
    residual(p, p->start, p->rhs);
    return make_kernel(p);
}

weft_status problem_read(problem* p, const char* prefix, weft_error* error)
{
    *p = (problem){0};
    TRY(weft_system_read(prefix, &p->system, error));
    p->view = system_view(p->system, 0);
    p->rows = weft_system_vertex_count(p->system);
    weft_status status = make_arrays(p);
    return status == WEFT_OK ? status : error_set(error, status, prefix, 0, "no memory for %d vertices", p->rows);
}

weft_status problem_solve_tightly(problem* p, weft_error* error)
{
    weft_solver_def def = weft_solver_def_default();
    weft_solver* solver = NULL;
    def.solver = "cholesky";
    def.tolerance = 1e-11;
    def.worker_count = 0;
    TRY(weft_solver_create(&def, &solver, error));
    p->exact = MEM_NEW(p->rows, vec3);
    weft_status status = p->exact ? weft_solver_solve(solver, p->system, p->exact, NULL) : WEFT_NO_MEMORY;
    weft_solver_destroy(solver);
    return status == WEFT_OK ? status
                             : error_set(error, status, NULL, 0, "the tight solve to compare with failed: %s",
                                         weft_status_text(status));
}

void problem_finish(problem* p)
{
    weft_system_destroy(p->system);
    mem_free(p->index);
    mem_free(p->place);
    mem_free(p->vertex);
    mem_free(p->start);
    mem_free(p->rhs);
    mem_free(p->kernel);
    mem_free(p->exact);
    mem_free(p->work);
    *p = (problem){0};
}

// ---- measures

double problem_residual2(const problem* p, const vec3* x)
{
    residual(p, x, p->work);
    double start = dot(p->rhs, p->rhs, p->rows);
    return start > 0.0 ? sqrt(dot(p->work, p->work, p->rows) / start) : 0.0;
}

static double energy_distance(const problem* p, const vec3* x, const vec3* y)
{
    vec3 *e = p->work, *Ae = p->work + p->rows;
    for (int i = 0; i < p->rows; i++)
    {
        e[i] = v3_sub(x[i], y[i]);
    }
    bsr_multiply(NULL, cpu_best(), &p->view.A, e, Ae);
    return sqrt(fmax(dot(e, Ae, p->rows), 0.0));
}

double problem_energy_error(const problem* p, const vec3* x)
{
    return p->exact ? energy_distance(p, x, p->exact) / energy_distance(p, p->start, p->exact) : NAN;
}
