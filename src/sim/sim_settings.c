// Settings of methods in a weft_sim_def: named, set and checked.
#include <string.h>

#include "sim/sim.h"

void sim_settings_default(weft_sim_def* def)
{
    const time_method* method;
    const method_setting* s;
    for (int k = 0; (s = method_setting_at(k, &method)) != NULL; k++)
    {
        WEFT_ASSERT(k < WEFT_SETTING_MAX);
        def->settings[k] = s->value;
    }
}

static weft_status wrong_value(const time_method* method, const method_setting* s, double value, weft_error* error)
{
    char most[48] = "";
    if (s->maximum < HUGE_VAL)
    {
        print_text(most, sizeof(most), " and at most %g", s->maximum);
    }
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "%s of the method %s is %g: it is %s%s %g%s%s%s", s->name,
                     method->name, value, s->whole ? "a whole number, " : "", s->above ? "above" : "at least",
                     s->minimum, most, s->unit ? ", " : "", s->unit ? s->unit : "");
}

weft_status sim_settings_check(const weft_sim_def* def, weft_error* error)
{
    const time_method* method;
    const method_setting* s;
    for (int k = 0; (s = method_setting_at(k, &method)) != NULL; k++)
    {
        if (!method_setting_takes(s, def->settings[k]))
        {
            return wrong_value(method, s, def->settings[k], error);
        }
    }
    return WEFT_OK;
}

weft_status weft_setting_at(int index, weft_setting* out)
{
    WEFT_ASSERT(out && index >= 0);
    const time_method* method;
    const method_setting* s = method_setting_at(index, &method);
    if (!s)
    {
        return WEFT_NOT_FOUND;
    }
    *out = (weft_setting){.method = method->name,
                          .name = s->name,
                          .unit = s->unit,
                          .summary = s->summary,
                          .whole = s->whole,
                          .value = s->value,
                          .minimum = s->minimum,
                          .maximum = s->maximum,
                          .above = s->above};
    return WEFT_OK;
}

weft_status weft_sim_def_set(weft_sim_def* def, const char* method, const char* setting, double value,
                             weft_error* error)
{
    WEFT_ASSERT(def && method && setting);
    int at = method_setting_find(method, setting);
    if (at < 0)
    {
        return error_set(error, WEFT_NOT_FOUND, NULL, 0,
                         "there is no setting `%.60s` of a method `%.60s`; weft_setting_at names them", setting,
                         method);
    }
    const time_method* owner;
    const method_setting* s = method_setting_at(at, &owner);
    TRY(method_setting_takes(s, value) ? WEFT_OK : wrong_value(owner, s, value, error));
    def->settings[at] = value;
    return WEFT_OK;
}

double weft_sim_def_get(const weft_sim_def* def, const char* method, const char* setting)
{
    WEFT_ASSERT(def && method && setting);
    int at = method_setting_find(method, setting);
    return at < 0 ? NAN : def->settings[at];
}
