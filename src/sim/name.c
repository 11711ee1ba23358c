// Names of bodies: they become file names, and no two bodies that are there share one. A body that is removed gives its
// name back.
#include <ctype.h>
#include <string.h>

#include "sim/sim.h"

// The name of the body that is at a place, cloths and then obstacles; NULL: it was removed.
static const char* name_at(const weft_sim* sim, int index)
{
    const body* b = index < sim->body_count ? &sim->bodies[index] : NULL;
    const obstacle* o = b ? NULL : &sim->obstacles[index - sim->body_count];
    return b ? (b->removed ? NULL : b->name) : o->removed ? NULL : o->name;
}

// Whether one of the first `count` bodies has the name.
static bool name_is_taken(const weft_sim* sim, const char* name, int count)
{
    bool taken = false;
    for (int k = 0; k < count; k++)
    {
        const char* other = name_at(sim, k);
        taken = taken || (other && strcmp(other, name) == 0);
    }
    return taken;
}

bool names_differ(const weft_sim* sim)
{
    bool differ = true;
    for (int k = 0; k < sim->body_count + sim->obstacle_count; k++)
    {
        const char* name = name_at(sim, k);
        differ = differ && !(name && name_is_taken(sim, name, k));
    }
    return differ;
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
    if (!sim->edits.loading && name_is_taken(sim, name, sim->body_count + sim->obstacle_count))
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s `%s`: another body has this name; give each its own",
                         prefix, name);
    }
    *out = mem_strdup(name);
    return *out ? WEFT_OK : WEFT_NO_MEMORY;
}
