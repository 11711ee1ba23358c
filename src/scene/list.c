// weft_list: one way to the names of every table.
#include "material/catalogue.h"
#include "material/material.h"
#include "scene/scene_list.h"
#include "sim/body_kind.h"
#include "solve/solve.h"
#include "step/step.h"
#include "weft/weft.h"

typedef struct name_row
{
    const char *name, *summary;
} name_row;

static const name_row formats[] = {
    {"pc2", "point cache of a run, positions a frame"},
    {"obj", "meshes read and written: topology and rest shape"},
    {"jsonl", "stats of a run, a JSON object a step"},
    {"png", "pictures"},
    {"mp4", "films, through ffmpeg"},
    {"html", "pages of `weft view`: animation, curves and numbers in one file"},
    {"mtx", "linear systems, Matrix Market"},
    {"weftsys", "linear systems, binary"},
};

static weft_status row_at(const name_row* rows, size_t count, int index, const char** name, const char** summary)
{
    if (index < 0 || (size_t)index >= count)
    {
        return WEFT_NOT_FOUND;
    }
    *name = rows[index].name;
    *summary = rows[index].summary;
    return WEFT_OK;
}

static weft_status method_at(int index, const char** name, const char** summary)
{
    const method_row* row = method_table;
    for (; row->method && index > 0; row++, index--)
    {
    }
    if (index != 0 || !row->method)
    {
        return WEFT_NOT_FOUND;
    }
    *name = row->method->name;
    *summary = row->method->summary;
    return WEFT_OK;
}

static weft_status model_at(int index, const char** name, const char** summary)
{
    const cloth_model* const* model = model_table;
    for (; *model && index > 0; model++, index--)
    {
    }
    if (index != 0 || !*model)
    {
        return WEFT_NOT_FOUND;
    }
    *name = (*model)->name;
    *summary = (*model)->summary;
    return WEFT_OK;
}

static weft_status body_at(int index, const char** name, const char** summary)
{
    if (index < 0 || index >= body_kind_count())
    {
        return WEFT_NOT_FOUND;
    }
    *name = body_table[index]->name;
    *summary = body_table[index]->summary;
    return WEFT_OK;
}

static weft_status solver_at(int index, const char** name, const char** summary)
{
    int count;
    const linear_solver* const* solvers = linear_solvers(&count);
    if (index < 0 || index >= count)
    {
        return WEFT_NOT_FOUND;
    }
    *name = solvers[index]->name;
    *summary = solvers[index]->summary;
    return WEFT_OK;
}

static weft_status preconditioner_at(int index, const char** name, const char** summary)
{
    int count;
    const preconditioner_row* rows = cg_preconditioners(&count);
    if (index < 0 || index >= count)
    {
        return WEFT_NOT_FOUND;
    }
    *name = rows[index].name;
    *summary = rows[index].summary;
    return WEFT_OK;
}

static weft_status material_at(int index, const char** name, const char** summary)
{
    int count;
    const catalogue_row* rows = catalogue_rows(&count);
    if (index < 0 || index >= count)
    {
        return WEFT_NOT_FOUND;
    }
    *name = rows[index].name;
    *summary = rows[index].summary;
    return WEFT_OK;
}

static weft_status scene_at(int index, const char** name, const char** summary)
{
    if (index < 0 || index >= scene_list_count())
    {
        return WEFT_NOT_FOUND;
    }
    *name = scene_list_name(index);
    *summary = scene_list_summary(index);
    return WEFT_OK;
}

weft_status weft_list(weft_list_kind kind, int index, const char** name, const char** summary)
{
    const char *no_name, *no_summary;
    name = name ? name : &no_name;
    summary = summary ? summary : &no_summary;
    switch (kind)
    {
    case WEFT_LIST_METHODS:
        return method_at(index, name, summary);
    case WEFT_LIST_SOLVERS:
        return solver_at(index, name, summary);
    case WEFT_LIST_MODELS:
        return model_at(index, name, summary);
    case WEFT_LIST_MATERIALS:
        return material_at(index, name, summary);
    case WEFT_LIST_SCENES:
        return scene_at(index, name, summary);
    case WEFT_LIST_FORMATS:
        return row_at(formats, sizeof(formats) / sizeof(formats[0]), index, name, summary);
    case WEFT_LIST_BODIES:
        return body_at(index, name, summary);
    case WEFT_LIST_PRECONDITIONERS:
        return preconditioner_at(index, name, summary);
    }
    return WEFT_NOT_FOUND;
}
