// Time methods as the rest of Weft sees them: found by name, checked against element kinds, with what they keep and
// count.
#include <string.h>

#include "step/step.h"

enum
{
    NAMES_MAX = 64 // methods that a suggestion looks at
};

weft_status time_method_find(const char* name, const method_row** out, weft_error* error)
{
    const char* names[NAMES_MAX];
    int count = 0;
    for (const method_row* row = method_table; row->method; row++)
    {
        if (strcmp(name, row->method->name) == 0)
        {
            *out = row;
            return WEFT_OK;
        }
        names[count] = row->method->name;
        count = int_min(count + 1, NAMES_MAX - 1);
    }
    const char* near = suggest_name(name, names, count);
    return error_set(error, WEFT_NOT_FOUND, NULL, 0, "there is no method `%s`%s%s%s; see `weft list methods`", name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

// ---- what a method keeps

weft_status method_object_begin(method_object* o, const time_method* method, world* w)
{
    method_object_finish(o);
    if (!method)
    {
        return WEFT_OK;
    }
    o->method = method;
    o->data = mem_alloc(1, method->data_size > 0 ? method->data_size : 1);
    if (!o->data)
    {
        return WEFT_NO_MEMORY;
    }
    return method->prepare ? method->prepare(w, o->data) : WEFT_OK;
}

void method_object_forget(method_object* o)
{
    if (o->method && o->method->forget)
    {
        o->method->forget(o->data);
    }
}

void method_object_finish(method_object* o)
{
    if (o->data && o->method->finish)
    {
        o->method->finish(o->data);
    }
    mem_free(o->data);
    *o = (method_object){0};
}

weft_status world_first_system(world* w)
{
    w->running = w->method.method;
    w->data = w->method.data;
    return w->running->first_system(w);
}

// ---- what it counts

// -1: it is not counted.
static int counter_find(const weft_step_stats* stats, const char* name)
{
    int k = 0;
    while (k < stats->counter_count && strcmp(stats->counters[k].name, name) != 0)
    {
        k++;
    }
    return k < stats->counter_count ? k : -1;
}

void counters_begin(world* w)
{
    weft_step_stats* stats = w->stats;
    const time_method* methods[] = {w->method.method, w->fallback.method};
    for (int m = 0; m < 2; m++)
    {
        const char* const* name = methods[m] ? methods[m]->counters : NULL;
        for (; name && *name && stats->counter_count < WEFT_COUNTER_MAX; name++)
        {
            if (counter_find(stats, *name) < 0)
            {
                stats->counters[stats->counter_count++] = (weft_counter){*name, 0.0};
            }
        }
    }
}

void world_count(world* w, const char* name, double amount)
{
    int k = counter_find(w->stats, name);
    WEFT_VALIDATE(k >= 0);
    if (k >= 0)
    {
        w->stats->counters[k].value += amount;
    }
}

double weft_step_counter(const weft_step_stats* stats, const char* name)
{
    WEFT_ASSERT(stats && name);
    int k = counter_find(stats, name);
    return k >= 0 ? stats->counters[k].value : 0.0;
}

// ---- what it needs

static unsigned offers(const element_kind* kind)
{
    const element_kernels* kernels = kind->kernels[CPU_BASE];
    unsigned bits = kernels->force ? NEEDS_FORCE : 0;
    bits |= kernels->evaluate && kernels->energy ? NEEDS_MATRIX : 0;
    bits |= kind->projection || (kind->is_load && kernels->force) ? NEEDS_PROJECT : 0;
    bits |= kind->constraint || (kind->is_load && kernels->force) ? NEEDS_CONSTRAINT : 0;
    return bits;
}

const char* time_method_lacks(const time_method* method, const element_kind* kind)
{
    static const struct
    {
        unsigned bit;
        const char* what;
    } rows[] = {{NEEDS_FORCE, "a force"},
                {NEEDS_MATRIX, "a part in a linear system"},
                {NEEDS_PROJECT, "a projection"},
                {NEEDS_CONSTRAINT, "a constraint"}};
    unsigned missing = method->needs & ~offers(kind);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
    {
        if (missing & rows[k].bit)
        {
            return rows[k].what;
        }
    }
    return NULL;
}
