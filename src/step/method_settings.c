// Settings of time methods: numbers that a method declares in its own file and a scene chooses by the method's name,
// {"newton": {"tolerance": 1e-7}}. All of them, method by method as the table has them, have one row of values: scene
// files, their schema, fingerprints and the public interface loop over that row.
#include <math.h>
#include <string.h>

#include "step/step.h"

const method_setting* method_setting_at(int index, const time_method** method)
{
    for (const method_row* row = method_table; row->method; row++)
    {
        for (const method_setting* s = row->method->settings; s && s->name; s++)
        {
            if (index-- == 0)
            {
                *method = row->method;
                return s;
            }
        }
    }
    return NULL;
}

int method_setting_find(const char* method, const char* name)
{
    const time_method* owner;
    const method_setting* s;
    for (int k = 0; (s = method_setting_at(k, &owner)) != NULL; k++)
    {
        if (strcmp(owner->name, method) == 0 && (!name || strcmp(s->name, name) == 0))
        {
            return k;
        }
    }
    return -1;
}

int method_setting_count(const time_method* method)
{
    int count = 0;
    while (method && method->settings && method->settings[count].name)
    {
        count++;
    }
    return count;
}

bool method_setting_takes(const method_setting* s, double value)
{
    bool low = s->above ? value > s->minimum : value >= s->minimum;
    return low && value <= s->maximum && isfinite(value) && (!s->whole || value == floor(value));
}

double world_setting(const world* w, const char* name)
{
    int at = method_setting_find(w->running->name, name);
    WEFT_ASSERT(at >= 0 && at < WEFT_SETTING_MAX);
    return w->settings.method[at];
}
