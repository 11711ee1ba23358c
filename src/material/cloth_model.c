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

const char* const* cloth_model_stands_for(const cloth_model* m, const char* word)
{
    return word && strcmp(word, "auto") == 0 ? m->automatic : NULL;
}

const char* const damper_names[] = {"projected", "two-sided", "plain", "none", NULL};

bool cloth_model_connections(const cloth_model* m, const weft_connections* choice, connection_options* out)
{
    *out = (connection_options){m->damper, choice->damper_stretch, choice->damper_shear, choice->bend_start};
    bool chosen =
        choice->damper || choice->damper_stretch >= 0.0 || choice->damper_shear >= 0.0 || choice->bend_start >= 0.0;
    int form = 0;
    while (choice->damper && damper_names[form] && strcmp(damper_names[form], choice->damper) != 0)
    {
        form++;
    }
    out->damper = choice->damper ? (damper_form)form : m->damper;
    return damper_names[form] && (m->connections || !chosen);
}
