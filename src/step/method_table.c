// The table of time methods.
#include <string.h>

#include "step/step.h"

static const time_method* const methods[] = {&method_implicit_euler, &method_newton};

enum
{
    METHOD_COUNT = sizeof(methods) / sizeof(methods[0])
};

const time_method* const* time_methods(int* count)
{
    *count = METHOD_COUNT;
    return methods;
}

weft_status time_method_find(const char* name, const time_method** out, weft_error* error)
{
    const char* names[METHOD_COUNT];
    for (int k = 0; k < METHOD_COUNT; k++)
    {
        names[k] = methods[k]->name;
        if (strcmp(name, names[k]) == 0)
        {
            *out = methods[k];
            return WEFT_OK;
        }
    }
    const char* near = suggest_name(name, names, METHOD_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no method `%s`%s%s%s; see `weft list methods`", name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}
