// Systems in a poor order: shuffled ones have the answers and aggregates of the sheet that they come from, and two
// shuffles the same bits, as both are solved in the order of the positions.
#include "common.h"

#include <math.h>
#include <string.h>

#include "common_system.h"
#include "solve/renumber.h"

enum
{
    SIDE = 50
};

static void shuffle(int* old_of_new, int n, uint64_t* random)
{
    for (int k = 0; k < n; k++)
    {
        int other = (int)test_random(random, 0.0, k + 1.0);
        old_of_new[k] = old_of_new[other];
        old_of_new[other] = k;
    }
}

// The system with row `old_of_new[i]` as row i; its ties too.
static weft_system* shuffled(const weft_system* s, const int* old_of_new)
{
    const bsr_pattern* p = &s->pattern;
    int n = p->row_count, blocks = p->block_count, ties = s->tie_count > 0 ? s->tie_start[s->tie_count] : 0;
    int *new_of_old = MEM_NEW(n, int), *start = MEM_NEW(n + 1, int), *column = MEM_NEW(blocks, int);
    int* unknown = MEM_NEW(ties + 1, int);
    vec3 *b = MEM_NEW(n, vec3), *z = MEM_NEW(n, vec3), *positions = MEM_NEW(n, vec3);
    double *values = MEM_NEW(9 * (size_t)blocks, double), *filter = MEM_NEW(9 * (size_t)n, double);
    double* kernel = MEM_NEW(3 * (size_t)n * (size_t)(s->kernel_count + 1), double);
    for (int i = 0; i < n; i++)
    {
        int old = old_of_new[i], first = p->row_start[old], count = p->row_start[old + 1] - first;
        new_of_old[old] = i;
        start[i + 1] = start[i] + count;
        memcpy(values + 9 * (size_t)start[i], s->values + 9 * (size_t)first, 9 * (size_t)count * sizeof(double));
        b[i] = s->b[old];
        z[i] = s->z ? s->z[old] : v3(0, 0, 0);
        positions[i] = s->positions[old];
        for (int k = 0; k < 9; k++)
        {
            filter[9 * i + k] = k % 4 == 0;
        }
        for (int c = 0; c < s->kernel_count; c++)
        {
            memcpy(kernel + 3 * ((size_t)n * c + i), s->kernel + 3 * ((size_t)n * c + old), sizeof(vec3));
        }
    }
    for (int i = 0; i < n; i++)
    {
        for (int k = start[i]; k < start[i + 1]; k++)
        {
            column[k] = new_of_old[p->column[p->row_start[old_of_new[i]] + k - start[i]]];
        }
    }
    for (int k = 0; k < s->filter_count; k++)
    {
        memcpy(filter + 9 * (size_t)new_of_old[s->filter[k].vertex], s->filter[k].S, 9 * sizeof(double));
    }
    for (int k = 0; k < ties; k++)
    {
        unknown[k] = 3 * new_of_old[s->tie_unknown[k] / 3] + s->tie_unknown[k] % 3;
    }
    weft_system_def def = {.vertex_count = n,
                           .row_start = start,
                           .column = column,
                           .values = values,
                           .b = b,
                           .z = z,
                           .filter = filter,
                           .positions = positions,
                           .kernel = s->kernel_count > 0 ? kernel : NULL,
                           .kernel_count = s->kernel_count,
                           .tie_count = s->tie_count,
                           .tie_start = ties > 0 ? s->tie_start : NULL,
                           .tie_unknown = unknown,
                           .tie_value = s->tie_value};
    weft_system* out = NULL;
    assert_int_equal(weft_system_create(&def, &out, NULL), WEFT_OK);
    void* owned[] = {new_of_old, start, column, unknown, b, z, positions, values, filter, kernel};
    for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++)
    {
        mem_free(owned[k]);
    }
    return out;
}

// What one solver object says of two systems, in the order of the sheet.
typedef struct answers
{
    vec3* x[2];
    int* aggregate;
    int aggregate_count;
} answers;

static answers answers_of(const char* name, double tolerance, weft_system* const* systems, const int* old_of_new)
{
    int n = systems[0]->pattern.row_count;
    weft_solver_def def = weft_solver_def_default();
    weft_solver* solver = NULL;
    def.solver = name;
    def.tolerance = tolerance;
    assert_int_equal(weft_solver_create(&def, &solver, NULL), WEFT_OK);
    answers out = {.aggregate = MEM_NEW(n, int), .aggregate_count = -1};
    vec3* x = MEM_NEW(n, vec3);
    int* aggregate = MEM_NEW(n, int);
    for (int k = 0; k < 2; k++)
    {
        weft_solve_stats stats;
        assert_int_equal(weft_solver_solve(solver, systems[k], x, &stats), WEFT_OK);
        out.x[k] = MEM_NEW(n, vec3);
        for (int i = 0; i < n; i++)
        {
            out.x[k][old_of_new ? old_of_new[i] : i] = x[i];
        }
    }
    weft_status status = weft_solver_aggregates(solver, 0, aggregate, &out.aggregate_count);
    assert_true(status == WEFT_OK || strncmp(name, "sa-", 3) != 0);
    for (int i = 0; i < n && status == WEFT_OK; i++)
    {
        out.aggregate[old_of_new ? old_of_new[i] : i] = aggregate[i];
    }
    mem_free(x);
    mem_free(aggregate);
    weft_solver_destroy(solver);
    return out;
}

static void answers_finish(answers* a)
{
    mem_free(a->x[0]);
    mem_free(a->x[1]);
    mem_free(a->aggregate);
}

static double distance(const vec3* a, const vec3* b, int n)
{
    double sum = 0.0, all = 0.0;
    for (int i = 0; i < n; i++)
    {
        vec3 d = v3_sub(a[i], b[i]);
        sum += v3_dot(d, d);
        all += v3_dot(b[i], b[i]);
    }
    return sqrt(sum / all);
}

// A sheet, and the next one of its animation: other constraints, and a contact between vertices far apart.
static void make_sheets(weft_system* out[2])
{
    uint64_t random = 7;
    for (int k = 0; k < 2; k++)
    {
        out[k] = test_sheet_system(SIDE, 300.0);
        uint64_t own = random + (uint64_t)k;
        test_constrain(out[k], 0.02, 0, &own);
    }
}

static void test_shuffled(void** state)
{
    (void)state;
    weft_system* sheet[2];
    make_sheets(sheet);
    int n = SIDE * SIDE, *order[2] = {MEM_NEW(n, int), MEM_NEW(n, int)};
    weft_system* mixed[2][2];
    uint64_t random = 11;
    for (int k = 0; k < 2; k++)
    {
        shuffle(order[k], n, &random);
        mixed[k][0] = shuffled(sheet[0], order[k]);
        mixed[k][1] = shuffled(sheet[1], order[k]);
        renumbering r = {0};
        renumbering_decide(&r, mixed[k][0]);
        assert_non_null(r.old_of_new);
        renumbering_finish(&r);
    }
    const char* const names[] = {"sa-ppcg", "diag-pcg", "cholesky"};
    for (int k = 0; k < 3; k++)
    {
        answers plain = answers_of(names[k], 1e-11, sheet, NULL);
        answers one = answers_of(names[k], 1e-11, mixed[0], order[0]);
        answers other = answers_of(names[k], 1e-11, mixed[1], order[1]);
        for (int j = 0; j < 2; j++)
        {
            assert_true(distance(one.x[j], plain.x[j], n) < 1e-8);
            assert_memory_equal(one.x[j], other.x[j], (size_t)n * sizeof(vec3));
        }
        assert_int_equal(one.aggregate_count, other.aggregate_count);
        assert_memory_equal(one.aggregate, other.aggregate, (size_t)n * sizeof(int));
        answers_finish(&plain);
        answers_finish(&one);
        answers_finish(&other);
    }
    for (int k = 0; k < 2; k++)
    {
        weft_system_destroy(sheet[k]);
        weft_system_destroy(mixed[k][0]);
        weft_system_destroy(mixed[k][1]);
        mem_free(order[k]);
    }
}

// Ties and a kernel of one's own go along.
static void test_ties_and_kernel(void** state)
{
    (void)state;
    weft_system *sheet[2], *mixed[2];
    make_sheets(sheet);
    int n = SIDE * SIDE, *order = MEM_NEW(n, int);
    const int start[] = {0, 2, 4}, unknown[] = {3 * 70 + 1, 3 * 1500 + 1, 3 * 200, 3 * 900 + 2};
    const double value[] = {1.0, -1.0, 1.0, -0.5};
    uint64_t random = 5;
    shuffle(order, n, &random);
    for (int k = 0; k < 2; k++)
    {
        int64_t bad;
        assert_int_equal(system_set_ties(sheet[k], 2, start, unknown, value, &bad), WEFT_OK);
        sheet[k]->kernel_count = 4;
        sheet[k]->kernel = MEM_NEW(12 * (size_t)n, double);
        for (int i = 0; i < 12 * n; i++)
        {
            sheet[k]->kernel[i] = i / (3 * n) < 3 ? i % 3 == i / (3 * n) : test_random(&random, -1.0, 1.0);
        }
        mixed[k] = shuffled(sheet[k], order);
    }
    answers plain = answers_of("sa-ppcg", 1e-11, sheet, NULL), other = answers_of("sa-ppcg", 1e-11, mixed, order);
    for (int k = 0; k < 2; k++)
    {
        assert_true(distance(other.x[k], plain.x[k], n) < 1e-8);
        weft_system_destroy(sheet[k]);
        weft_system_destroy(mixed[k]);
    }
    answers_finish(&plain);
    answers_finish(&other);
    mem_free(order);
}

static void test_good_orders_stay(void** state)
{
    (void)state;
    const int sides[] = {SIDE, 300}; // by rows: chunks of the larger one hold less than two
    for (int k = 0; k < 2; k++)
    {
        weft_system* sheet = test_sheet_system(sides[k], 300.0);
        renumbering r = {0};
        renumbering_decide(&r, sheet);
        assert_null(r.old_of_new);
        renumbering_finish(&r);
        weft_system_destroy(sheet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffled),
        cmocka_unit_test(test_ties_and_kernel),
        cmocka_unit_test(test_good_orders_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
