// Systems in binary; a small one that is read is solved as well.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "weft/solver.h"

int fuzz_weftsys(const uint8_t* data, size_t size)
{
    fuzz_put("a.weftsys", data, size);
    char prefix[512];
    snprintf(prefix, sizeof(prefix), "%s/a", fuzz_folder_path());
    fuzz_begin();
    weft_system* system = NULL;
    weft_error error;
    weft_system_read(prefix, &system, &error);
    weft_system_destroy(system);
    fuzz_end();
    return 0;
}
