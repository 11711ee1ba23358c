// The one file that knows PETSc.
//
// Preconditioners get the matrix as AIJ with block size 3, since in 3.18 neither GAMG nor ML takes BAIJ; the products
// of CG itself get it as BAIJ, which is some 5 % faster in all.
#define _POSIX_C_SOURCE 200809L
#include "bench/peers/petsc.h"

#include <petscksp.h>
#include <string.h>
#include <time.h>

#include "solve/prefilter.h"

struct petsc_problem
{
    const problem* of;
    Mat M, blocks; // AIJ and BAIJ
    Vec b, x;
    Vec* kernel;        // [of->kernel_count] orthonormal
    Vec whole;          // x on rank 0
    VecScatter collect; // x to whole
};

// ---- ranks

bool petsc_start(void)
{
    return PetscInitialize(NULL, NULL, NULL, NULL) == 0;
}

void petsc_end(void)
{
    PetscFinalize();
}

int petsc_rank(void)
{
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    return rank;
}

int petsc_rank_count(void)
{
    int count = 1;
    MPI_Comm_size(PETSC_COMM_WORLD, &count);
    return count;
}

const char* petsc_version_text(void)
{
    static char text[16];
    snprintf(text, sizeof(text), "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
    return text;
}

double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Blocking calls of MPI wait at full speed, which would take a core from the threads of rank 0.
int petsc_meet(int value)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibcast(&value, 1, MPI_INT, 0, PETSC_COMM_WORLD, &request);
    for (;;)
    {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
        {
            return value;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// ---- the problem

// Rows [first, last) of the vertices that are not fixed.
static PetscErrorCode fill_matrix(const problem* p, Mat M, int first, int last)
{
    const bsr_pattern* pattern = p->view.A.pattern;
    PetscFunctionBeginUser;
    for (PetscInt row = first; row < last; row++)
    {
        int i = p->vertex[row];
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            double buffer[9];
            PetscInt column = p->place[pattern->column[slot]];
            const double* block = prefilter_block(&p->view, p->index, slot, i, buffer);
            if (column >= 0)
            {
                PetscCall(MatSetValuesBlocked(M, 1, &row, 1, &column, block, INSERT_VALUES));
            }
        }
    }
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode reserve_matrix(const problem* p, Mat M, int first, int last)
{
    const bsr_pattern* pattern = p->view.A.pattern;
    PetscInt *inside, *outside;
    PetscFunctionBeginUser;
    PetscCall(PetscCalloc2(last - first, &inside, last - first, &outside));
    for (int row = first; row < last; row++)
    {
        int i = p->vertex[row];
        for (int slot = pattern->row_start[i]; slot < pattern->row_start[i + 1]; slot++)
        {
            int column = p->place[pattern->column[slot]];
            inside[row - first] += column >= first && column < last;
            outside[row - first] += column >= 0 && (column < first || column >= last);
        }
    }
    PetscCall(MatXAIJSetPreallocation(M, 3, inside, outside, NULL, NULL));
    PetscCall(PetscFree2(inside, outside));
    PetscFunctionReturn(0);
}

static PetscErrorCode fill_vector(const problem* p, Vec v, const vec3* values)
{
    PetscInt first, last;
    PetscScalar* local;
    PetscFunctionBeginUser;
    PetscCall(VecGetOwnershipRange(v, &first, &last));
    PetscCall(VecGetArrayWrite(v, &local));
    for (PetscInt k = first / 3; k < last / 3; k++)
    {
        memcpy(local + 3 * k - first, &values[p->vertex[k]], sizeof(vec3));
    }
    PetscCall(VecRestoreArrayWrite(v, &local));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_kernel(petsc_problem* out)
{
    const problem* p = out->of;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicateVecs(out->b, p->kernel_count, &out->kernel));
    for (int k = 0; k < p->kernel_count; k++)
    {
        PetscCall(VecSetBlockSize(out->kernel[k], 3));
        PetscCall(fill_vector(p, out->kernel[k], (const vec3*)p->kernel + (size_t)p->rows * (size_t)k));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_problem(petsc_problem* out)
{
    const problem* p = out->of;
    PetscFunctionBeginUser;
    PetscInt local = PETSC_DECIDE, all = p->free_count;
    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &all));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &out->M));
    PetscCall(MatSetSizes(out->M, 3 * local, 3 * local, 3 * all, 3 * all));
    PetscCall(MatSetType(out->M, MATAIJ));
    PetscCall(MatSetBlockSize(out->M, 3));
    PetscInt first = 0;
    PetscCallMPI(MPI_Exscan(&local, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(reserve_matrix(p, out->M, first, first + local));
    PetscCall(fill_matrix(p, out->M, first, first + local));
    PetscCall(MatSetOption(out->M, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(out->M, MAT_SPD, PETSC_TRUE));
    PetscCall(MatConvert(out->M, MATBAIJ, MAT_INITIAL_MATRIX, &out->blocks));
    PetscCall(MatCreateVecs(out->M, &out->x, &out->b));
    PetscCall(fill_vector(p, out->b, p->rhs));
    PetscCall(make_kernel(out));
    PetscCall(VecScatterCreateToZero(out->x, &out->collect, &out->whole));
    PetscFunctionReturn(0);
}

petsc_problem* petsc_problem_create(const problem* p)
{
    petsc_problem* out = MEM_NEW(1, petsc_problem);
    if (!out)
    {
        return NULL;
    }
    *out = (petsc_problem){.of = p};
    if (make_problem(out) != 0)
    {
        petsc_problem_destroy(out);
        return NULL;
    }
    return out;
}

void petsc_problem_destroy(petsc_problem* p)
{
    if (p)
    {
        MatDestroy(&p->M);
        MatDestroy(&p->blocks);
        VecDestroyVecs(p->of->kernel_count, &p->kernel);
        VecDestroy(&p->b);
        VecDestroy(&p->x);
        VecDestroy(&p->whole);
        VecScatterDestroy(&p->collect);
        mem_free(p);
    }
}

// ---- solving

// The first vectors of the near kernel, as many as the option of ours says.
static PetscErrorCode set_kernel(petsc_problem* p)
{
    MatNullSpace space;
    PetscInt count = p->of->kernel_count;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-near_kernel", &count, NULL));
    count = count < 0 ? 0 : count < p->of->kernel_count ? count : p->of->kernel_count;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, p->kernel, &space));
    PetscCall(MatSetNearNullSpace(p->M, count > 0 ? space : NULL));
    PetscCall(MatNullSpaceDestroy(&space));
    PetscFunctionReturn(0);
}

// Inverted diagonals stay with the matrix from one solver to the next; assembling it again forgets them.
static PetscErrorCode make_cold(petsc_problem* p)
{
    PetscFunctionBeginUser;
    PetscCall(set_kernel(p));
    PetscCall(MatAssemblyBegin(p->M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(p->M, MAT_FINAL_ASSEMBLY));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscFunctionReturn(0);
}

static PetscErrorCode collect_solution(petsc_problem* p, vec3* x)
{
    PetscFunctionBeginUser;
    PetscCall(VecScatterBegin(p->collect, p->x, p->whole, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(p->collect, p->x, p->whole, INSERT_VALUES, SCATTER_FORWARD));
    if (petsc_rank() == 0)
    {
        const problem* of = p->of;
        const PetscScalar* y;
        PetscCall(VecGetArrayRead(p->whole, &y));
        memset(x, 0, (size_t)of->rows * sizeof(vec3));
        for (int k = 0; k < of->free_count; k++)
        {
            memcpy(&x[of->vertex[k]], y + 3 * k, sizeof(vec3));
        }
        PetscCall(VecRestoreArrayRead(p->whole, &y));
        filter_apply(&of->view, x);
        for (int i = 0; i < of->rows; i++)
        {
            x[i] = v3_add(x[i], of->start[i]);
        }
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode count_levels(KSP solver, int* out)
{
    PC pc;
    PetscBool has = PETSC_FALSE;
    PetscInt count = 0;
    PetscFunctionBeginUser;
    PetscCall(KSPGetPC(solver, &pc));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &has, PCMG, PCGAMG, PCML, ""));
    if (has)
    {
        PetscCall(PCMGGetLevels(pc, &count));
    }
    *out = (int)count;
    PetscFunctionReturn(0);
}

static PetscErrorCode run_solver(petsc_problem* p, stop_norm norm, double tolerance, peer_run* out)
{
    KSP solver;
    KSPConvergedReason reason;
    PetscInt iterations;
    PetscFunctionBeginUser;
    PetscCall(make_cold(p));
    double begin = timer_now(), cpu = cpu_now();
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPSetOperators(solver, p->blocks, p->M));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSetNormType(solver, norm == STOP_TWO_NORM ? KSP_NORM_UNPRECONDITIONED : KSP_NORM_NATURAL));
    PetscCall(KSPSetTolerances(solver, tolerance, 1e-300, PETSC_DEFAULT, 20000));
    PetscCall(KSPSetUp(solver));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    double middle = timer_now();
    PetscCall(KSPSolve(solver, p->b, p->x));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    out->setup_s = middle - begin;
    out->solve_s = timer_now() - middle;
    cpu = cpu_now() - cpu;
    PetscCallMPI(MPI_Allreduce(&cpu, &out->cpu_s, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(KSPGetConvergedReason(solver, &reason));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(count_levels(solver, &out->level_count));
    out->converged = reason > 0;
    out->iterations = (int)iterations;
    PetscCall(KSPDestroy(&solver));
    PetscFunctionReturn(0);
}

// An option that nothing asked for is most likely misspelt.
static PetscErrorCode find_unused(PetscOptions database, peer_run* out)
{
    PetscInt count;
    char **names, **values;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsLeftGet(database, &count, &names, &values));
    snprintf(out->unused, sizeof(out->unused), "%s", count > 0 ? names[0] : "");
    PetscCall(PetscOptionsLeftRestore(database, &count, &names, &values));
    PetscFunctionReturn(0);
}

bool petsc_solve(petsc_problem* p, const char* options, stop_norm norm, double tolerance, vec3* x, peer_run* out)
{
    PetscOptions database = NULL;
    *out = (peer_run){0};
    bool good = PetscOptionsCreate(&database) == 0 && PetscOptionsInsertString(database, options) == 0 &&
                PetscOptionsPush(database) == 0;
    if (good)
    {
        good =
            run_solver(p, norm, tolerance, out) == 0 && collect_solution(p, x) == 0 && find_unused(database, out) == 0;
        PetscOptionsPop();
    }
    PetscOptionsDestroy(&database);
    return good;
}
