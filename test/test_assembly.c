// Assembly of elements of every form over several chunks of rows: the sum that is stated in sparse.h, symmetric to the
// bit, and the same bits from every CPU kind and any number of threads.
#include "common.h"
#include "common_batch.h"

#include <stdlib.h>
#include <string.h>

enum
{
    ROWS = 3 * ROW_GRAIN + 17,
    ELEMENTS = 2 * ROWS,
    GROUPS = 4
};

// Numbers of an element, made up from its index: what matters is that each lane gets its own.
static double number_of(int group, int e, int k)
{
    return random_unit(77 + (uint64_t)group, (uint64_t)e * 512 + (uint64_t)k) - 0.5;
}

typedef struct made_up
{
    int group;
    element_shape shape;
} made_up;

static void fill(const made_up* m, const int* elements, element_batch* out)
{
    double* numbers = &out->block[0][0][0];
    for (int k = 0; k < (ARITY_MAX * 3 + PAIR_MAX * 9) * BATCH; k++)
    {
        int value = k / BATCH, lane = k % BATCH;
        double number = number_of(m->group, elements[lane], value);
        value < ARITY_MAX * 3 ? (out->rhs[value / 3][value % 3][lane] = number)
                              : (numbers[k - ARITY_MAX * 3 * BATCH] = number);
    }
}

static void evaluate(const void* context, const int* elements, element_batch* out)
{
    fill(context, elements, out);
}

// Vertices near each other, over borders of chunks too; every seventh element holds one of them twice.
static void make_vertices(int group, int arity, int* vertices)
{
    for (int e = 0; e < ELEMENTS; e++)
    {
        int first = (int)((int64_t)e * (ROWS - 60) / ELEMENTS);
        int* vertex = vertices + e * arity;
        for (int a = 0; a < arity; a++)
        {
            vertex[a] = first + a * 10 + (int)(10 * (number_of(group, e, 400 + a) + 0.5));
        }
        int swap = e % arity, kept = vertex[0];
        vertex[0] = vertex[swap];
        vertex[swap] = kept;
        vertex[arity - 1] = e % 7 == 0 ? vertex[0] : vertex[arity - 1];
    }
}

typedef struct scene
{
    element_list lists[GROUPS];
    made_up groups[GROUPS];
    element_evaluator evaluators[GROUPS];
    uint8_t flags[ELEMENTS];
    assembler assembler;
    double mass[ROWS];
    vec3 start[ROWS];
    double* values;
    vec3 rhs[ROWS];
} scene;

static scene* scene_create(void)
{
    static const int arity[GROUPS] = {3, 6, 4, 3};
    static const element_shape shape[GROUPS] = {{.form = FORM_BLOCKS},
                                                {FORM_FACTORS, {3, 3, 3, 1, 2, 3}},
                                                {FORM_FACTORS, {1, 1, 1, 1}},
                                                {.form = FORM_ONE_BLOCK}};
    scene* s = calloc(1, sizeof(scene));
    for (int g = 0; g < GROUPS; g++)
    {
        int* vertices = calloc((size_t)(ELEMENTS * arity[g]), sizeof(int));
        make_vertices(g, arity[g], vertices);
        s->lists[g] = (element_list){ELEMENTS, arity[g], vertices};
        s->groups[g] = (made_up){g, shape[g]};
        s->evaluators[g] = (element_evaluator){.evaluate = evaluate, .context = &s->groups[g], .shape = shape[g]};
    }
    for (int e = 0; e < ELEMENTS; e++)
    {
        s->flags[e] = e % 5 == 0 || (e > 900 && e < 1500);
    }
    s->evaluators[1].choice = (element_choice){s->flags, 1, 0};
    for (int i = 0; i < ROWS; i++)
    {
        s->mass[i] = 1.0 + number_of(GROUPS, i, 0);
        s->start[i] = v3(number_of(GROUPS, i, 1), number_of(GROUPS, i, 2), number_of(GROUPS, i, 3));
    }
    assert_int_equal(assembler_create(ROWS, s->lists, GROUPS, &s->assembler), WEFT_OK);
    s->values = mem_alloc((size_t)s->assembler.pattern.block_count, 9 * sizeof(double));
    return s;
}

static void scene_destroy(scene* s)
{
    for (int g = 0; g < GROUPS; g++)
    {
        free((void*)s->lists[g].vertices);
    }
    assembler_finish(&s->assembler);
    mem_free(s->values);
    free(s);
}

// What was there before must not matter.
static void assemble(scene* s, workers* pool, cpu_kind cpu)
{
    assembly_target target = {s->values, s->rhs, s->mass, s->start};
    memset(s->values, 0x7f, (size_t)s->assembler.pattern.block_count * 9 * sizeof(double));
    assembler_run(&s->assembler, s->evaluators, pool, cpu, &target);
}

static double* block_at(const scene* s, double* values, int row, int column)
{
    return values + 9 * (size_t)bsr_pattern_find(&s->assembler.pattern, row, column);
}

static void add_element(const scene* s, int g, int e, double* values, vec3* rhs)
{
    int elements[BATCH] = {e, e, e, e, e, e, e, e}, arity = s->lists[g].arity;
    const int* vertex = s->lists[g].vertices + e * arity;
    element_batch batch;
    fill(&s->groups[g], elements, &batch);
    test_batch_blocks(&s->groups[g].shape, arity, &batch);
    for (int a = 0; a < arity; a++)
    {
        rhs[vertex[a]] = v3_add(rhs[vertex[a]], v3(batch.rhs[a][0][0], batch.rhs[a][1][0], batch.rhs[a][2][0]));
        for (int k = 0; k < 9 * arity; k++)
        {
            int b = k / 9, r = k % 9 / 3, c = k % 3;
            bool above = a <= b;
            int pair = above ? pair_index(arity, a, b) : pair_index(arity, b, a);
            block_at(s, values, vertex[a], vertex[b])[k % 9] += batch.block[pair][above ? 3 * r + c : 3 * c + r][0];
        }
    }
}

static void test_sum(void** unused)
{
    (void)unused;
    scene* s = scene_create();
    size_t count = 9 * (size_t)s->assembler.pattern.block_count;
    double* values = calloc(count, sizeof(double));
    vec3* rhs = malloc(sizeof(s->start));
    memcpy(rhs, s->start, sizeof(s->start));
    for (int i = 0; i < ROWS; i++)
    {
        double* diagonal = block_at(s, values, i, i);
        diagonal[0] = diagonal[4] = diagonal[8] = s->mass[i];
    }
    for (int g = 0; g < GROUPS; g++)
    {
        for (int e = 0; e < ELEMENTS; e++)
        {
            g != 1 || !s->flags[e] ? add_element(s, g, e, values, rhs) : (void)0;
        }
    }
    assemble(s, NULL, cpu_best());
    for (size_t k = 0; k < count; k++)
    {
        assert_true(fabs(values[k] - s->values[k]) <= 1e-13);
    }
    for (int i = 0; i < ROWS; i++)
    {
        assert_true(v3_length(v3_sub(rhs[i], s->rhs[i])) <= 1e-13);
    }
    free(values);
    free(rhs);
    scene_destroy(s);
}

static void test_symmetric(void** unused)
{
    (void)unused;
    scene* s = scene_create();
    const bsr_pattern* p = &s->assembler.pattern;
    assemble(s, NULL, cpu_best());
    for (int i = 0; i < ROWS; i++)
    {
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        {
            const double* other = block_at(s, s->values, p->column[k], i);
            for (int c = 0; c < 9 && p->column[k] != i; c++)
            {
                assert_true(s->values[9 * k + c] == other[3 * (c % 3) + c / 3]);
            }
        }
    }
    scene_destroy(s);
}

static void test_same_bits(void** unused)
{
    (void)unused;
    scene* s = scene_create();
    size_t size = (size_t)s->assembler.pattern.block_count * 9 * sizeof(double);
    double* values = malloc(size);
    vec3* rhs = malloc(sizeof(s->rhs));
    assemble(s, NULL, CPU_BASE);
    memcpy(values, s->values, size);
    memcpy(rhs, s->rhs, sizeof(s->rhs));
    for (int threads = 1; threads <= 4; threads++)
    {
        workers* pool = NULL;
        assert_int_equal(workers_create(threads, NULL, &pool), WEFT_OK);
        for (int cpu = CPU_BASE; cpu <= (int)cpu_best(); cpu++)
        {
            assemble(s, pool, (cpu_kind)cpu);
            assert_memory_equal(values, s->values, size);
            assert_memory_equal(rhs, s->rhs, sizeof(s->rhs));
        }
        workers_destroy(pool);
    }
    free(values);
    free(rhs);
    scene_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_symmetric),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
