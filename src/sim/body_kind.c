// Kinds of bodies by name, and the models that serve them: a model says of which forms of mesh it makes elements.
#include "sim/body_kind.h"

#include <string.h>

#include "sim/sim.h"

const body_kind* body_kind_find(const char* name)
{
    const body_kind* const* kind = body_table;
    while (*kind && name && strcmp((*kind)->name, name) != 0)
    {
        kind++;
    }
    return *kind;
}

int body_kind_count(void)
{
    int count = 0;
    while (body_table[count])
    {
        count++;
    }
    return count;
}

const cloth_model* model_for_form(mesh_form form)
{
    const cloth_model* const* model = model_table;
    while (*model && !cloth_model_serves(*model, form))
    {
        model++;
    }
    return *model;
}

weft_status model_suits(const body* b, weft_error* error)
{
    static const char* const parts[MESH_FORM_COUNT] = {[MESH_SHEET] = "triangles", [MESH_LINES] = "lines", [MESH_SOLID] = "tetrahedra"};
    if (cloth_model_serves(b->model, b->kind->form))
    {
        return WEFT_OK;
    }
    const cloth_model* other = model_for_form(b->kind->form);
    return error_set(error, WEFT_UNSUPPORTED, NULL, 0, "%s `%s`: the model `%s` makes no elements of %s%s%s%s",
                     b->kind->name, b->name, b->model->name, parts[b->kind->form],
                     other ? "; take `" : ", and no other model does", other ? other->name : "", other ? "`" : "");
}
