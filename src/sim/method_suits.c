// Which methods can move which cloth: a method says what it needs of each element, a model which kinds of elements it
// makes. Refused when a cloth comes, so that the message has its place in the scene file; air is part of every sheet.
#include <string.h>

#include "sim/sim.h"

// The kinds that a body of this model, material and bending has: those of two triangles, of one segment or of
// one tetrahedron.
static weft_status find_kinds(const body* b, element_groups* groups)
{
    static const int triangle[] = {0, 1, 2, 1, 3, 2}, triangle_hinge[] = {0, -1, -1, -1, 0, -1};
    static const vec2 rest[] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
    static const hinge hinges[] = {{{1, 2, 0, 3}, 0, 1}};
    static const double length[] = {1.0};
    static const int tetrahedron[] = {0, 1, 2, 3};
    static const vec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    cloth_shape shape = {.triangle = triangle,
                         .rest = rest,
                         .hinges = hinges,
                         .triangle_hinge = triangle_hinge,
                         .segment = triangle,
                         .segment_rest = length,
                         .tetrahedron = tetrahedron,
                         .tetrahedron_rest = corners,
                         .material = body_material_fullest(b),
                         .bending = b->bending,
                         .connections = b->connections};
    shape.segment_count = b->kind->form == MESH_LINES;
    shape.tetrahedron_count = b->kind->form == MESH_SOLID;
    shape.triangle_count = b->kind->form == MESH_SHEET ? 2 : 0;
    shape.hinge_count = b->kind->form == MESH_SHEET;
    for (const element_kind* const* kind = b->model->kinds; *kind; kind++)
    {
        TRY(element_groups_add(groups, *kind));
    }
    TRY(b->model->append(groups, &shape));
    element_groups_drop_empty(groups);
    return WEFT_OK;
}

// The first kind that lacks something, and what; NULL: none.
static const element_kind* find_lack(const time_method* method, const element_groups* groups, const char** what)
{
    for (int g = 0; g < groups->count; g++)
    {
        *what = time_method_lacks(method, groups->list[g].kind);
        if (*what)
        {
            return groups->list[g].kind;
        }
    }
    return NULL;
}

// Names of the methods that can, with commas.
static void list_methods(const element_groups* groups, char* out, size_t size)
{
    size_t used = 0;
    const char* what;
    out[0] = '\0';
    for (const method_row* row = method_table; row->method; row++)
    {
        if (!find_lack(row->method, groups, &what) && used + strlen(row->method->name) + 3 < size)
        {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", row->method->name);
        }
    }
}

// Whether the method can move such a body with one of the words for bending that a model's default stands for.
static weft_status can_move(const time_method* method, const body* b, const cloth_model* m, bool* out)
{
    body other = *b;
    other.model = m;
    other.connections = (connection_options){m->damper, -1.0, -1.0, -1.0};
    cloth_model_bending(m, NULL, &other.bending);
    const char* const* words = cloth_model_stands_for(m, other.bending);
    weft_status status = WEFT_OK;
    *out = false;
    for (int k = 0; status == WEFT_OK && !*out && (words ? words[k] != NULL : k == 0); k++)
    {
        element_groups groups = {0};
        const char* what;
        other.bending = words ? words[k] : other.bending;
        status = find_kinds(&other, &groups);
        *out = status == WEFT_OK && groups.count > 0 && !find_lack(method, &groups, &what);
        element_groups_finish(&groups);
    }
    return status;
}

// Names of the models of which the method can move such a body, with commas.
static weft_status list_models(const time_method* method, const body* b, char* out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const cloth_model* const* m = model_table; *m; m++)
    {
        bool can = false;
        TRY(cloth_model_serves(*m, b->kind->form) ? can_move(method, b, *m, &can) : WEFT_OK);
        if (can && used + strlen((*m)->name) + 3 < size)
        {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", (*m)->name);
        }
    }
    return WEFT_OK;
}

static weft_status judge(const weft_sim* sim, const body* b, const element_groups* groups, weft_error* error)
{
    const time_method* method = sim->method->method;
    const char* what = NULL;
    const element_kind* kind = find_lack(method, groups, &what);
    if (!kind)
    {
        return WEFT_OK;
    }
    char others[256], models[256];
    list_methods(groups, others, sizeof(others));
    TRY(list_models(method, b, models, sizeof(models)));
    return error_set(error, WEFT_UNSUPPORTED, NULL, 0,
                     "%s `%s`: the method `%s` needs %s of each element, and elements `%s` of the model `%s` have "
                     "none; %s%s%s%s",
                     b->kind->name, b->name, method->name, what, kind->name, b->model->name,
                     others[0] ? "methods that can: " : "no method can move them yet", others,
                     models[0] ? "; models that it can move: " : "", models);
}

weft_status method_suits(const weft_sim* sim, const body* b, weft_error* error)
{
    element_groups groups = {0};
    weft_status status = find_kinds(b, &groups);
    if (status == WEFT_OK && sim->def.air.density > 0.0 && b->kind->form == MESH_SHEET)
    {
        status = element_groups_add(&groups, &kind_air);
    }
    status = status == WEFT_OK ? judge(sim, b, &groups, error) : status;
    element_groups_finish(&groups);
    return status;
}
