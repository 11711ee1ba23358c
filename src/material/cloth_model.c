// Models of cloth by name, and what they can be asked for.
#include <string.h>

#include "material/material.h"

const cloth_model* cloth_model_find(const char* name)
{
    const cloth_model* const* m = model_table;
    while (*m && strcmp((*m)->name, name) != 0)
    {
        m++;
    }
    return *m;
}

bool cloth_model_bending(const cloth_model* m, const char* word, const char** out)
{
    const char* const* own = m->bendings;
    while (word && own && *own && strcmp(*own, word) != 0)
    {
        own++;
    }
    *out = own ? *own : NULL;
    return !word || *out;
}
