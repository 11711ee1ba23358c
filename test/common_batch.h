// Element batches block by block, whatever form their kind hands them out in.
#ifndef WEFT_TEST_COMMON_BATCH_H
#define WEFT_TEST_COMMON_BATCH_H

#include "sparse/sparse.h"

// Of an element with `arity` vertices: batch->block becomes all of its blocks.
void test_batch_blocks(const element_shape* shape, int arity, element_batch* batch);

#endif
