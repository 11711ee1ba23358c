// Which measurements are taken: every experiment, at three resolutions, on regular and irregular meshes; with all
// methods, each experiment at its coarsest resolution; with an OBJ file, once, as fine as the file is.
#include "validate/validate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static weft_status fail(weft_error* error, weft_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

static weft_status fail(weft_error* error, weft_status status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *error = (weft_error){.status = status};
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return status;
}

bool measurement_is_broken(const measurement* m)
{
    const point* worst = result_worst(&m->result);
    // Written so that NaN is broken.
    return m->finest && (m->result.failure[0] || !worst || !(fabs(worst->deviation) <= m->experiment->bound));
}

static bool is_file(const char* mesh)
{
    return mesh && strcmp(mesh, "regular") != 0 && strcmp(mesh, "irregular") != 0;
}

// ---- the plan

static weft_status plan_add(validation* v, const measurement* m, weft_error* error)
{
    measurement* list = realloc(v->list, (size_t)(v->count + 1) * sizeof(measurement));
    if (!list)
    {
        return fail(error, WEFT_NO_MEMORY, "no memory for the measurements");
    }
    v->list = list;
    v->list[v->count++] = *m;
    return WEFT_OK;
}

static bool is_chosen(const validate_options* o, const experiment* e)
{
    const char* name = e->name;
    size_t length = strlen(name);
    for (const char* at = o->experiments; at && *at; at += strcspn(at, ","), at += *at == ',')
    {
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
        {
            return true;
        }
    }
    return !o->experiments && !e->is_long;
}

// All names of the list exist.
static weft_status check_names(const validate_options* o, weft_error* error)
{
    for (const char* at = o->experiments; at && *at; at += strcspn(at, ","), at += *at == ',')
    {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)fmin(63.0, (double)strcspn(at, ",")), at);
        if (!experiment_find(name))
        {
            return fail(error, WEFT_BAD_INPUT, "there is no experiment `%s`; `weft validate --list` names them", name);
        }
    }
    return WEFT_OK;
}

static weft_status plan_experiment(validation* v, const experiment* e, const char* method, bool all, weft_error* error)
{
    static const char* const meshes[] = {"regular", "irregular"};
    const validate_options* o = v->options;
    bool one = all || o->cells > 0 || is_file(o->mesh);
    int mesh_count = o->mesh || all ? 1 : 2;
    weft_status status = WEFT_OK;
    for (int k = 0; k < mesh_count * (one ? 1 : RESOLUTIONS) && status == WEFT_OK; k++)
    {
        int level = one ? 0 : k % RESOLUTIONS;
        measurement m = {.experiment = e, .method = method, .finest = one || level == RESOLUTIONS - 1};
        m.mesh = o->mesh ? o->mesh : meshes[one ? k : k / RESOLUTIONS];
        m.cells = o->cells > 0 ? o->cells : e->cells[level];
        status = plan_add(v, &m, error);
    }
    return status;
}

static weft_status plan(validation* v, weft_error* error)
{
    const validate_options* o = v->options;
    bool all = o->method && strcmp(o->method, "all") == 0;
    const char* method = o->method ? o->method : weft_sim_def_default().method;
    weft_status status = check_names(o, error);
    for (int m = 0; status == WEFT_OK; m++)
    {
        if (all && weft_list(WEFT_LIST_METHODS, m, &method, NULL) != WEFT_OK)
        {
            break;
        }
        for (int e = 0; e < experiment_count && status == WEFT_OK; e++)
        {
            if (is_chosen(o, experiments[e]))
            {
                status = plan_experiment(v, experiments[e], method, all, error);
            }
        }
        if (!all)
        {
            break;
        }
    }
    return status;
}

// ---- measuring

typedef struct watch
{
    const validation* v;
    const measurement* m;
} watch;

static void show(void* user, int step)
{
    const watch* w = user;
    if (step % 10 == 0)
    {
        fprintf(stderr, "\r\033[K%d of %d: %s, %s, %s, %d cells, step %d", (int)(w->m - w->v->list) + 1, w->v->count,
                w->m->experiment->name, w->m->method, w->m->mesh, w->m->cells, step);
    }
}

static void measure(validation* v, measurement* m, const trial* base, int triangles)
{
    const validate_options* o = v->options;
    watch w = {v, m};
    trial t = *base;
    t.method = m->method;
    t.mesh = m->mesh;
    t.progress = o->progress ? show : NULL;
    t.user = &w;
    t.cells = m->cells;
    m->fresh = true;
    if (triangles > 0 && m->experiment->grid_only)
    {
        result_fail(&m->result, "an OBJ file cannot stand for its specimen");
        return;
    }
    m->experiment->measure(&t, &m->result);
}

// What has no closed form is held against the first of its experiment in this run, whichever run measured it.
static void hold_against_first(validation* v, measurement* m)
{
    const measurement* first = v->list;
    while (first->experiment != m->experiment || first->result.failure[0])
    {
        if (first++ == m)
        {
            return;
        }
    }
    for (int k = 0; k < m->result.count && m->result.mean != 0.0; k++)
    {
        point* p = &m->result.points[k];
        if (!isnan(p->closed))
        {
            p->closed = first->result.mean;
            p->deviation = (p->ours - p->closed) / 100.0;
        }
    }
}

static weft_status measure_all(validation* v, const trial* base, int triangles, weft_error* error)
{
    const validate_options* o = v->options;
    weft_status status = WEFT_OK;
    int taken = 0;
    for (int k = 0; k < v->count && status == WEFT_OK; k++)
    {
        measurement* m = &v->list[k];
        if (triangles > 0)
        {
            // As many cells along it as a grid with triangles of that size has.
            m->cells =
                (int)fmax(2.0, base->mesh_size[0] / sqrt(2.0 * base->mesh_size[0] * base->mesh_size[1] / triangles));
        }
        bool old = measured_find(v, m);
        taken += old;
        old ? (void)0 : measure(v, m, base, triangles);
        hold_against_first(v, m);
        if (!old && o->out && (status = measured_write(v)) != WEFT_OK)
        {
            fail(error, status, "what is measured could not be written to `%s`", o->out);
        }
    }
    if (o->progress)
    {
        fputs("\r\033[K", stderr);
    }
    if (taken > 0)
    {
        fprintf(stderr, "weft: %d of %d measurements are those of %s/measured.txt\n", taken, v->count, o->out);
    }
    return status;
}

// The names that a scene takes from the command line, before anything is measured.
static weft_status check_scene(const validate_options* o, const trial* t, weft_error* error)
{
    char text[512];
    bool all = o->method && strcmp(o->method, "all") == 0;
    weft_scene* scene = NULL;
    if ((o->method && strchr(o->method, '"')) || (o->model && strchr(o->model, '"')) ||
        (o->bending && strchr(o->bending, '"')))
    {
        return fail(error, WEFT_BAD_INPUT, "names of methods, models and bendings have no quotes");
    }
    snprintf(text, sizeof(text),
             "{\"cloth\": [{\"mesh\": {\"grid\": {\"cells\": 2}}}], \"method\": \"%.60s\", \"model\": {\"name\": "
             "\"%.60s\"%s%.60s%s}}",
             all || !o->method ? weft_sim_def_default().method : o->method, o->model ? o->model : "baraff-witkin",
             o->bending ? ", \"bending\": \"" : "", o->bending ? o->bending : "", o->bending ? "\"" : "");
    weft_status status = weft_scene_parse("validate", text, t->overrides, t->override_count, &scene, error);
    weft_scene_destroy(scene);
    return status;
}

weft_status validate_run(const validate_options* o, int* broken, weft_error* error)
{
    validation v = {.options = o};
    trial base = {.model = o->model,
                  .bending = o->bending,
                  .material_name = o->material,
                  .threads = o->threads,
                  .overrides = o->overrides,
                  .override_count = o->override_count};
    int triangles = 0;
    *broken = 0;
    weft_status status = weft_material_find(o->material, &v.material, error);
    status = status == WEFT_OK ? check_scene(o, &base, error) : status;
    base.material = v.material;
    if (status == WEFT_OK && is_file(o->mesh) && !flat_mesh_read(o->mesh, &base, &triangles, error))
    {
        status = error->status;
    }
    status = status == WEFT_OK ? plan(&v, error) : status;
    status = status == WEFT_OK && o->resume ? measured_read(&v, error) : status;
    status = status == WEFT_OK ? measure_all(&v, &base, triangles, error) : status;
    for (int k = 0; k < v.count && status == WEFT_OK; k++)
    {
        *broken += measurement_is_broken(&v.list[k]);
    }
    if (status == WEFT_OK)
    {
        bool all = o->method && strcmp(o->method, "all") == 0;
        (o->json ? report_json : all ? report_methods : report_table)(&v);
        status = o->out ? report_page(&v) : WEFT_OK;
        if (status != WEFT_OK)
        {
            fail(error, status, "the page could not be written to `%s`", o->out);
        }
    }
    measured_free(&v);
    free(v.list);
    return status;
}
