// Systems in binary. The mark at the beginning and the size that the header states are put right, so that what is behind
// them is reached: a stranger can do that as well.
#include "fuzz/fuzz.h"

#include <string.h>

enum
{
    SIZE_AT = 48, // in the header of weftsys.c
    LONGEST = 1 << 16
};

int fuzz_weftsys(const uint8_t* data, size_t size)
{
    static uint8_t bytes[LONGEST];
    static const char mark[] = "WEFTSYS\1\4\3\2\1";
    size = size < LONGEST ? size : LONGEST;
    memcpy(bytes, data, size);
    if (size >= 64)
    {
        int64_t stated = (int64_t)size;
        memcpy(bytes, mark, sizeof(mark) - 1);
        memcpy(bytes + SIZE_AT, &stated, sizeof(stated));
    }
    fuzz_put("a.weftsys", bytes, size);
    fuzz_read_system();
    return 0;
}
