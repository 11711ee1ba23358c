// The arithmetic of the hierarchy in double precision.
#define REAL double
#define SA_TABLE KERNEL_NAME(sa_kernels_double)
#include "solve/sa/sa_numeric.h"
