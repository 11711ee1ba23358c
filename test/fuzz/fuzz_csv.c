// weft fit: measurements as CSV.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

int fuzz_csv(const uint8_t* data, size_t size)
{
    char path[512], out[512];
    strcpy(path, fuzz_put("a.csv", data, size));
    snprintf(out, sizeof(out), "%s/material.json", fuzz_folder_path());
    char* line[] = {"fit", path, "-o", out};
    fuzz_begin();
    fuzz_command(command_fit, 4, line);
    fuzz_end();
    return 0;
}
