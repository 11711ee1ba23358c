// The arithmetic of the hierarchy, for one CPU kind and one precision. Included by sa_float_kernel.c and
// sa_double_kernel.c, which define REAL and SA_TABLE.
//
// Functions take block sizes as constants where they are 3 or 6, so that loops unroll; other sizes run through the same
// code. A row of blocks times a vector is summed entry by entry and reduced at the end of the row: each block is
// one stream of products, whatever its shape.
#include "math/denormals.h"
#include <math.h>

#include "math/wide.h"
#include "solve/prefilter.h"
#include "solve/sa/sa.h"

typedef REAL r4 __attribute__((vector_size(4 * sizeof(REAL))));
typedef REAL r8 __attribute__((vector_size(8 * sizeof(REAL))));

enum
{
    B_MAX = SA_KERNEL_MAX
};

WIDE_INLINE r4 load4(const REAL* p)
{
    r4 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE r8 load8(const REAL* p)
{
    r8 a;
    memcpy(&a, p, sizeof(a));
    return a;
}

WIDE_INLINE void store4(REAL* p, r4 a)
{
    memcpy(p, &a, sizeof(a));
}

WIDE_INLINE void store8(REAL* p, r8 a)
{
    memcpy(p, &a, sizeof(a));
}

// Calls fn with the constants that a level's blocks have.
#define BY_BLOCK(fn, B, ...)                                                                                           \
    switch (B)                                                                                                         \
    {                                                                                                                  \
    case 3:                                                                                                            \
        fn(3, __VA_ARGS__);                                                                                            \
        break;                                                                                                         \
    case 6:                                                                                                            \
        fn(6, __VA_ARGS__);                                                                                            \
        break;                                                                                                         \
    default:                                                                                                           \
        fn(B, __VA_ARGS__);                                                                                            \
    }
#define BY_BLOCKS(fn, B, K, ...)                                                                                       \
    if ((B) == 3 && (K) == 6)                                                                                          \
    {                                                                                                                  \
        fn(3, 6, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else if ((B) == 6 && (K) == 6)                                                                                     \
    {                                                                                                                  \
        fn(6, 6, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else if ((B) == 3 && (K) == 3)                                                                                     \
    {                                                                                                                  \
        fn(3, 3, __VA_ARGS__);                                                                                         \
    }                                                                                                                  \
    else                                                                                                               \
    {                                                                                                                  \
        fn(B, K, __VA_ARGS__);                                                                                         \
    }

// The system's block of the finest level, filtered where it is constrained.
static inline const double* source_block(const sa_load* s, int i, int slot, double* buffer)
{
    const bsr_matrix* A = &s->system->A;
    bool filtered = s->index && (s->index[i] >= 0 || s->index[A->pattern->column[slot]] >= 0);
    return filtered ? prefilter_block(s->system, s->index, slot, i, buffer) : A->values + 9 * (size_t)slot;
}

// A block of a level's matrix: where it lies, or, when the finest level has no copy in this precision, in buffer.
WIDE_INLINE const REAL* block_of(const int B, const sa_level* l, int i, int slot, REAL* buffer)
{
    if (B != 3 || l->A)
    {
        return (const REAL*)l->A + (size_t)(B * B) * (size_t)slot;
    }
    double filtered[9];
    const double* block = source_block(l->source, i, slot, filtered);
    for (int k = 0; k < 9; k++)
    {
        buffer[k] = (REAL)(l->source->scale * block[k]);
    }
    return buffer;
}

// Rows of B x K blocks in scratch memory lie in whole vectors, filled up with zeros.
#define STRIDE(K) ((K) == 6 ? 8 : (K) == 3 ? 4 : (K))

#include "solve/sa/sa_passes.h"
#include "solve/sa/sa_products.h"

extern const sa_kernels SA_TABLE;
const sa_kernels SA_TABLE = {.real_size = sizeof(REAL),
                             .load = load,
                             .reload = reload,
                             .invert = invert,
                             .relax = relax,
                             .smooth = smooth,
                             .galerkin = galerkin,
                             .mirror = mirror,
                             .first = first,
                             .step = step,
                             .residual = residual,
                             .restrict_to = restrict_to,
                             .prolong = prolong,
                             .lanczos_multiply = lanczos_multiply,
                             .lanczos_scale = lanczos_scale};
