// weft ccd: records of collisions, of both kinds.
#include "fuzz/fuzz.h"

#include <string.h>

#include "cli/cli.h"

int fuzz_ccd(const uint8_t* data, size_t size)
{
    char path[512];
    strcpy(path, fuzz_put("a.bin", data, size));
    char* line[] = {"ccd", path, "--kind", size / 8 & 1 ? "vf" : "ee", "--json"};
    fuzz_begin();
    fuzz_command(command_ccd, 5, line);
    fuzz_end();
    return 0;
}
