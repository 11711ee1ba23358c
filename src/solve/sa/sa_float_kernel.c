// The arithmetic of the hierarchy in single precision.
#define REAL float
#define SA_TABLE KERNEL_NAME(sa_kernels_float)
#include "solve/sa/sa_numeric.h"
#include "solve/sa/sa_packed.h"

#include "solve/sa/sa_incomplete_passes.h"
