// Settings of multigrid by name: defaults, ranges, and what `sa.NAME=VALUE` sets.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "solve/sa/sa.h"

// The defaults are what `weft bench sa-choices` measures best over its scenes: docs/performance.md.
weft_sa_def sa_default(void)
{
    return (weft_sa_def){.theta = 0.48,
                         .distance = 2,
                         .vectors = 6,
                         .relax = 1,
                         .filter = 0.15,
                         .lanczos = 10,
                         .margin = 1.1,
                         .degree = 2,
                         .lower = 0.06,
                         .coarsest = 600,
                         .precision = 0,
                         .reuse = 1,
                         .smoother = 0};
}

typedef struct sa_field
{
    const char* name;
    size_t offset;
    bool whole; // int, else double
    double least, most;
    double step; // allowed values are least + k * step; 0: all
} sa_field;

#define FIELD(name, whole, least, most, step)                                                                          \
    {                                                                                                                  \
#name, offsetof(weft_sa_def, name), whole, least, most, step                                                   \
    }
static const sa_field fields[] = {
    FIELD(theta, false, 0.0, 0.95, 0.0), FIELD(distance, true, 1, 2, 1),       FIELD(vectors, true, 3, 6, 3),
    FIELD(relax, true, 0, 10, 1),        FIELD(filter, false, 0.0, 0.95, 0.0), FIELD(lanczos, true, 0, 100, 1),
    FIELD(margin, false, 1.0, 4.0, 0.0), FIELD(degree, true, 1, 10, 1),        FIELD(lower, false, 0.001, 0.9, 0.0),
    FIELD(coarsest, true, 3, 100000, 1), FIELD(precision, true, 0, 64, 16),    FIELD(reuse, true, 0, 1, 1),
    FIELD(smoother, true, 0, 2, 1),
};

enum
{
    FIELD_COUNT = sizeof(fields) / sizeof(fields[0])
};

static double field_get(const weft_sa_def* sa, const sa_field* f)
{
    const char* at = (const char*)sa + f->offset;
    return f->whole ? (double)*(const int*)at : *(const double*)at;
}

static weft_status field_check(const sa_field* f, double value, weft_error* error)
{
    bool bits = f->offset == offsetof(weft_sa_def, precision);
    if (bits && value == 48.0)
    {
        value = NAN; // a multiple of 16, and no precision
    }
    if (value >= f->least && value <= f->most && (f->step == 0.0 || fmod(value - f->least, f->step) == 0.0))
    {
        return WEFT_OK;
    }
    if (bits)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "sa.precision must be 16, 32 or 64, or 0: 16 or 32 by size");
    }
    if (f->step > 1.0)
    {
        return error_set(error, WEFT_BAD_INPUT, NULL, 0, "sa.%s is %g; it must be %g or %g", f->name, value, f->least,
                         f->most);
    }
    return error_set(error, WEFT_BAD_INPUT, NULL, 0, "sa.%s is %g; it must be %s %g to %g", f->name, value,
                     f->whole ? "a whole number," : "a number,", f->least, f->most);
}

weft_status sa_check(const weft_sa_def* sa, weft_error* error)
{
    for (int k = 0; k < FIELD_COUNT; k++)
    {
        TRY(field_check(&fields[k], field_get(sa, &fields[k]), error));
    }
    return WEFT_OK;
}

weft_status weft_sa_get(const weft_sa_def* sa, int index, const char** name, double* value)
{
    WEFT_ASSERT(sa && name && value && index >= 0);
    if (index >= FIELD_COUNT)
    {
        return WEFT_NOT_FOUND;
    }
    *name = fields[index].name;
    *value = field_get(sa, &fields[index]);
    return WEFT_OK;
}

weft_status weft_sa_set(weft_sa_def* sa, const char* name, double value, weft_error* error)
{
    WEFT_ASSERT(sa && name);
    const char* names[FIELD_COUNT];
    for (int k = 0; k < FIELD_COUNT; k++)
    {
        const sa_field* f = &fields[k];
        names[k] = f->name;
        if (strcmp(name, f->name) == 0)
        {
            TRY(field_check(f, value, error));
            char* at = (char*)sa + f->offset;
            f->whole ? (void)(*(int*)at = (int)value) : (void)(*(double*)at = value);
            return WEFT_OK;
        }
    }
    const char* near = suggest_name(name, names, FIELD_COUNT);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no setting `sa.%s`%s%s%s", name,
                     near ? "; did you mean `sa." : "", near ? near : "", near ? "`?" : "");
}
