// Systems as Matrix Market files: up to seven files behind each other, each after a line "%%% ENDING".
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

static const char* const endings[] = {".mtx",        "_b.mtx",   "_z.mtx",   "_filter.mtx",
                                      "_kernel.mtx", "_xyz.mtx", "_ties.mtx"};

int fuzz_mtx(const uint8_t* data, size_t size)
{
    const uint8_t *at = data, *end = data + size;
    for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]) && at < end; k++)
    {
        const uint8_t* next = memmem(at, (size_t)(end - at), "\n%%%\n", 5);
        char name[32];
        snprintf(name, sizeof(name), "a%s", endings[k]);
        size_t length = (size_t)((next ? next + 1 : end) - at);
        length > 0 ? (void)fuzz_put(name, at, length) : (void)0;
        at = next ? next + 5 : end;
    }
    fuzz_read_system();
    fuzz_remove_files();
    return 0;
}
