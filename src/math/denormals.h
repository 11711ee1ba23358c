// Numbers below the normal range of floats, out of the way.
#ifndef WEFT_DENORMALS_H
#define WEFT_DENORMALS_H

// Nearly flat cloth has entries at rounding level, whose products are below the range of normal floats; each costs a
// hundred cycles. While it is on they count as zero. What is computed meanwhile must be in a function that is not
// inlined.
static inline unsigned flush_denormals(void)
{
#ifdef __SSE2__
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static inline void restore_denormals(unsigned before)
{
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(before);
#else
    (void)before;
#endif
}

#endif
