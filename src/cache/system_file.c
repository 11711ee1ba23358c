// The public calls that read and write linear systems.
#include "cache/system_file.h"

weft_status system_path(const char* prefix, const char* ending, char path[PATH_LIMIT], weft_error* error)
{
    int length = snprintf(path, PATH_LIMIT, "%s%s", prefix, ending);
    if (length < 0 || length >= PATH_LIMIT - 8)
    {
        return error_set(error, WEFT_BAD_INPUT, prefix, 0, "the path is too long; use a shorter prefix");
    }
    return WEFT_OK;
}

static weft_status system_read_any(const char* prefix, weft_system* out, weft_error* error)
{
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".weftsys", path, error));
    weft_status status = weftsys_read(path, out, error);
    if (status != WEFT_NOT_FOUND)
    {
        return status;
    }
    status = matrix_market_read(prefix, out, error);
    if (status == WEFT_NOT_FOUND)
    {
        return error_set(error, status, prefix, 0,
                         "there is neither %s.weftsys nor %s.mtx; give the path without its ending", prefix, prefix);
    }
    return status;
}

weft_status weft_system_read(const char* prefix, weft_system** out, weft_error* error)
{
    WEFT_ASSERT(prefix && out);
    *out = NULL;
    weft_system* system = MEM_NEW(1, weft_system);
    if (!system)
    {
        return error_set(error, WEFT_NO_MEMORY, prefix, 0, "no memory");
    }
    weft_status status = system_read_any(prefix, system, error);
    if (status != WEFT_OK)
    {
        weft_system_destroy(system);
        return status;
    }
    *out = system;
    return WEFT_OK;
}

weft_status weft_system_write(const weft_system* system, const char* prefix, int binary, weft_error* error)
{
    WEFT_ASSERT(system && prefix);
    if (!binary)
    {
        return matrix_market_write(system, prefix, error);
    }
    char path[PATH_LIMIT];
    TRY(system_path(prefix, ".weftsys", path, error));
    return weftsys_write(system, path, error);
}
