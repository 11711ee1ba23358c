#include "common_batch.h"

static double product_of(const element_shape* shape, const element_batch* batch, int a, int b, int number, int lane)
{
    double sum = 0.0;
    for (int m = 0; m < int_min(shape->factor_count[a], shape->factor_count[b]); m++)
    {
        sum += batch->weight[lane] * batch->factor[a][m][number / 3][lane] * batch->factor[b][m][number % 3][lane];
    }
    return sum;
}

void test_batch_blocks(const element_shape* shape, int arity, element_batch* batch)
{
    const element_batch given = *batch;
    for (int a = 0; a < arity && shape->form != FORM_BLOCKS; a++)
    {
        for (int k = 0; k < (arity - a) * 9 * BATCH; k++)
        {
            int b = a + k / (9 * BATCH), number = k / BATCH % 9, lane = k % BATCH;
            batch->block[pair_index(arity, a, b)][number][lane] = shape->form == FORM_ONE_BLOCK
                                                                      ? given.block[0][number][lane]
                                                                      : product_of(shape, &given, a, b, number, lane);
        }
    }
}
