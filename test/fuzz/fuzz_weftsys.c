// Systems in binary.
#include "fuzz/fuzz.h"

int fuzz_weftsys(const uint8_t* data, size_t size)
{
    fuzz_put("a.weftsys", data, size);
    fuzz_read_system();
    return 0;
}
