// Names of bodies: they become file names, and no two bodies share one.
#include <ctype.h>
#include <string.h>

#include "sim/sim.h"

static bool name_is_taken(const weft_sim* sim, const char* name)
{
    bool taken = false;
    for (int k = 0; k < sim->body_count; k++)
    {
        taken = taken || strcmp(sim->bodies[k].name, name) == 0;
    }
    for (int k = 0; k < sim->obstacle_count; k++)
    {
        taken = taken || strcmp(sim->obstacles[k].name, name) == 0;
    }
    return taken;
}

// Letters, digits, '-', '_', '.', not starting with a dot; NAME.motion.pc2 is a file of the obstacle NAME.
static bool name_is_good(const char* name)
{
    static const char reserved[] = ".motion";
    size_t length = strlen(name);
    bool good = length > 0 && name[0] != '.' && length <= 100;
    for (const char* c = name; *c; c++)
    {
        good = good && (isalnum((unsigned char)*c) || strchr("-_.", *c));
    }
    return good && (length < sizeof(reserved) || strcmp(name + length - strlen(reserved), reserved) != 0);
}

weft_status name_take(const weft_sim* sim, const char* name, const char* prefix, char** out, weft_error* error)
{
    char automatic[32];
    if (!name)
    {
        int count = strcmp(prefix, "obstacle") != 0 ? sim->body_count : sim->obstacle_count;
        snprintf(automatic, sizeof(automatic), "%s%d", prefix, count + 1);
        name = automatic;
    }
    if (!name_is_good(name))
    {
        return error_set(
            error, WEFT_BAD_INPUT, NULL, 0,
            "%s `%.120s`: a name takes letters, digits, '-', '_' and '.', 100 at most, no dot first and no "
            ".motion last: it becomes a file name",
            prefix, name);
    }
    if (name_is_taken(sim, name))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: another body has this name; give each its own",
                         prefix, name);
    }
    *out = mem_strdup(name);
    return *out ? WEFT_OK : WEFT_NO_MEMORY;
}
