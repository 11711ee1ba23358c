// A world whose model was mended after a tear (mend.h): its arrays grow, the state's new vertices start as what they
// were torn off from, and methods mend what they keep; those that cannot prepare anew.
#include "step/mend.h"

#include <string.h>

enum
{
    SPARE = 8 // as array_grow has it
};

static bool vectors_grow(vec3** x, int before, int count, const int* from)
{
    bool ok = array_grow((void**)x, (size_t)before, (size_t)(before + count), sizeof(vec3));
    for (int k = 0; k < count && ok; k++)
    {
        (*x)[before + k] = (*x)[from[k]];
    }
    return ok;
}

weft_status state_mend(state* s, int count, const int* from)
{
    int before = s->vertex_count;
    contact_state* c = &s->contact;
    bool ok = vectors_grow(&s->x, before, count, from) && vectors_grow(&s->v, before, count, from) &&
              vectors_grow(&s->acceleration, before, count, from) &&
              vectors_grow(&s->earlier[0], before, count, from) && vectors_grow(&s->earlier[1], before, count, from);
    for (int k = 0; k < s->history_count && ok; k++)
    {
        ok = vectors_grow(&s->history[k].x, before, count, from) && vectors_grow(&s->history[k].v, before, count, from);
    }
    ok = ok && array_grow((void**)&c->memory, (size_t)before, (size_t)(before + count), sizeof(contact_memory));
    for (int k = 0; k < count && ok; k++)
    {
        c->memory[before + k] = c->memory[from[k]];
    }
    // What was torn off is as unsettled or squeezed as what it was a part of.
    int marks = c->marks.count;
    for (int k = 0; k < marks && ok; k++)
    {
        for (int n = 0; n < count && ok; n++)
        {
            squeeze_mark mark = c->marks.item[k];
            mark.vertex = before + n;
            ok = from[n] != c->marks.item[k].vertex || marks_add(&c->marks, mark) == WEFT_OK;
        }
    }
    c->marks.count = ok ? c->marks.count : marks;
    marks_sort(&c->marks);
    // Arrays may be longer than they say: nothing is lost where one could not grow.
    s->vertex_count = c->vertex_count = ok ? before + count : before;
    c->bond_count = 0; // features are numbered anew
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

// ---- methods

static weft_status settle(world* w, method_object* o)
{
    w->running = o->method;
    w->data = o->data;
    return o->method && o->method->settle ? o->method->settle(w, o->data) : WEFT_OK;
}

weft_status world_settle(world* w)
{
    TRY(settle(w, &w->method));
    return settle(w, &w->fallback);
}

static weft_status mend_method(world* w, method_object* o, const mend* m)
{
    if (!o->method || !o->method->mend)
    {
        return o->method ? method_object_begin(o, o->method, w) : WEFT_OK;
    }
    w->running = o->method;
    w->data = o->data;
    return o->method->mend(w, o->data, m);
}

// ---- scratch

static void flags_drop(world* w)
{
    for (int g = 0; w->flags && g < w->model->groups.count; g++)
    {
        mem_free(w->flags[g]);
    }
    mem_free(w->flags);
    w->flags = NULL;
}

// Each assembly writes all of them.
static bool values_grow(world* w)
{
    size_t count = 9 * (size_t)w->model->assembler.pattern.block_count;
    if (!mem_has_room(w->values, count, sizeof(double)))
    {
        mem_free(w->values);
        w->values = mem_raw(count + count / SPARE, sizeof(double));
    }
    return w->values != NULL;
}

static bool scratch_grow_all(world* w, int before)
{
    const model* m = w->model;
    size_t n = (size_t)m->vertex_count, old = (size_t)before;
    vec3** vectors[] = {&w->rhs, &w->rhs_start, &w->z, &w->dv, &w->x_next, &w->v_next, &w->expected};
    bool ok = true;
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); k++)
    {
        ok = array_grow((void**)vectors[k], old, n, sizeof(vec3)) && ok;
    }
    ok = array_grow((void**)&w->filter, old + 1, n + 1, sizeof(filter_record)) && ok;
    ok = array_grow((void**)&w->pins, old + 1, n + 1, sizeof(filter_record)) && ok;
    ok = array_grow((void**)&w->held, old + 1, n + 1, sizeof(int)) && ok;
    ok = values_grow(w) && ok;
    int chunks = 1;
    for (int g = 0; g < m->groups.count; g++)
    {
        chunks = int_max(chunks, element_energy_chunks(&m->groups.list[g]));
    }
    mem_free(w->partial);
    w->partial = MEM_NEW(chunks, energy_sums);
    return ok && w->partial;
}

weft_status world_mend(world* w, const mend* m)
{
    flags_drop(w);
    w->filter_hash = 0;
    TRY(scratch_grow_all(w, m->before) ? WEFT_OK : WEFT_NO_MEMORY);
    TRY(state_mend(&w->saved, m->count, m->from));
    TRY(mend_method(w, &w->method, m));
    return mend_method(w, &w->fallback, m);
}
