// Records are 28 little-endian doubles, read as they lie.
#include "common.h"

#include "ccd_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char* ccd_record_path(weft_pair_kind kind, char* path)
{
    const char* data = getenv("WEFT_TEST_DATA");
    snprintf(path, 2048, "%s/ccd/%s.bin", data ? data : WEFT_SOURCE_DIR "/../shared/data",
             kind == WEFT_VERTEX_FACE ? "vf" : "ee");
    if (access(path, R_OK) != 0)
    {
        print_message("skipped: %s is not there\n", path);
        return NULL;
    }
    return path;
}

int ccd_each_record(void (*visit)(void* context, weft_pair_kind kind, const ccd_record* r, int number), void* context)
{
    char path[2048];
    int total = 0;
    for (int kind = WEFT_VERTEX_FACE; kind <= WEFT_EDGE_EDGE; kind++)
    {
        FILE* file = ccd_record_path(kind, path) ? fopen(path, "rb") : NULL;
        ccd_record r;
        for (int number = 0; file && fread(&r, sizeof(r), 1, file) == 1; number++, total++)
        {
            visit(context, kind, &r, number);
        }
        if (file)
        {
            fclose(file);
        }
    }
    return total;
}
