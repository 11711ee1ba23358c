// Finished measurements as a file, so that a long validation goes on where it ended: DIR/measured.txt, written anew
// after each one. Words and numbers by line; numbers as C's %a, so that what is read is what was measured, to the bit.
#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/page.h"
#include "weft/weft.h"

enum
{
    LINE_SIZE = 4096
};

static const char head[] = "weft validation 1";

// What all measurements of a file have in common.
static void settings_line(const validation* v, char* out, size_t size)
{
    const validate_options* o = v->options;
    const weft_material* m = &v->material;
    int length = snprintf(out, size, "%s %.17g %.17g %.17g %.17g %.17g %.17g, model %s, bending %s", o->material,
                          m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending, m->damping,
                          o->model ? o->model : "-", o->bending ? o->bending : "-");
    for (int k = 0; k < o->override_count && length < (int)size; k++)
    {
        length += snprintf(out + length, size - (size_t)length, ", %s", o->overrides[k]);
    }
    // Lines end where the file's do.
    for (char* c = out; *c; c++)
    {
        *c = *c == '\n' || *c == '\r' ? ' ' : *c;
    }
}

// ---- writing

static void put_text(FILE* out, const char* key, const char* text)
{
    fprintf(out, "%s ", key);
    for (; *text; text++)
    {
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
    fputc('\n', out);
}

static void write_one(FILE* out, const measurement* m)
{
    const result* r = &m->result;
    fprintf(out, "experiment %s\nmethod %s\ncells %d\n", m->experiment->name, m->method, m->cells);
    put_text(out, "mesh", m->mesh);
    fprintf(out, "counts %d %d %d %d %d\n", r->steps, r->substeps, r->forced, r->taken_over, r->refused);
    for (int k = 0; k < r->count; k++)
    {
        const point* p = &r->points[k];
        fprintf(out, "point %a %a %a %a\n", p->x, p->ours, p->closed, p->deviation);
    }
    fprintf(out, "published %a %a %a\n", r->published[0], r->published[1], r->mean);
    for (int k = 0; k < r->outline_count; k++)
    {
        fprintf(out, "outline %a %a\n", (double)r->outline[k][0], (double)r->outline[k][1]);
    }
    r->note[0] ? put_text(out, "note", r->note) : (void)0;
    r->failure[0] ? put_text(out, "failure", r->failure) : (void)0;
    fputs("end\n", out);
}

static void write_all(const void* context, FILE* out)
{
    const validation* v = context;
    char line[LINE_SIZE];
    settings_line(v, line, sizeof(line));
    fprintf(out, "%s\nsettings %s\n", head, line);
    for (int k = 0; k < v->kept_count; k++)
    {
        write_one(out, &v->kept[k]);
    }
    for (int k = 0; k < v->count; k++)
    {
        v->list[k].fresh ? write_one(out, &v->list[k]) : (void)0;
    }
}

weft_status measured_write(const validation* v)
{
    return page_file(v->options->out, "measured.txt", write_all, v);
}

// ---- reading

// What stands behind a key; NULL: the line has another one.
static const char* behind(const char* line, const char* key)
{
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

// A line of a measurement. False: none of its keys, or not with its values.
static bool take_line(const char* line, measurement* m)
{
    result* r = &m->result;
    const char* at;
    int i;
    if ((at = behind(line, "point")))
    {
        point* p = &r->points[r->count];
        return r->count < POINT_MAX && sscanf(at, "%la %la %la %la", &p->x, &p->ours, &p->closed, &p->deviation) == 4 &&
               ++r->count > 0;
    }
    if ((at = behind(line, "outline")))
    {
        i = r->outline_count;
        return i < OUTLINE_MAX && sscanf(at, "%a %a", &r->outline[i][0], &r->outline[i][1]) == 2 &&
               ++r->outline_count > 0;
    }
    if ((at = behind(line, "counts")))
    {
        bool good = sscanf(at, "%d %d %d %d %d", &r->steps, &r->substeps, &r->forced, &r->taken_over, &i) == 5;
        r->refused = good && i != 0;
        return good;
    }
    if ((at = behind(line, "published")))
    {
        return sscanf(at, "%la %la %la", &r->published[0], &r->published[1], &r->mean) == 3;
    }
    if ((at = behind(line, "cells")))
    {
        return sscanf(at, "%d", &m->cells) == 1;
    }
    if ((at = behind(line, "note")) || (at = behind(line, "failure")))
    {
        snprintf(line[0] == 'n' ? r->note : r->failure, REASON_SIZE, "%.*s", REASON_SIZE - 1, at);
        return true;
    }
    return false;
}

// Names live as long as the tables that have them: of methods and of experiments; the mesh as what is kept.
static bool take_name(const char* line, measurement* m)
{
    const char *at, *name;
    if ((at = behind(line, "experiment")))
    {
        m->experiment = experiment_find(at);
        return true;
    }
    if ((at = behind(line, "mesh")))
    {
        free(m->mesh_kept);
        m->mesh_kept = malloc(strlen(at) + 1);
        m->mesh = m->mesh_kept ? strcpy(m->mesh_kept, at) : NULL;
        return m->mesh_kept != NULL;
    }
    if ((at = behind(line, "method")))
    {
        for (int k = 0; weft_list(WEFT_LIST_METHODS, k, &name, NULL) == WEFT_OK; k++)
        {
            m->method = strcmp(name, at) == 0 ? name : m->method;
        }
        return true;
    }
    return false;
}

// Takes over what is whole; of experiments or methods that are no more nothing is left.
static bool keep(validation* v, measurement* m)
{
    bool whole = m->experiment && m->method && m->mesh;
    measurement* list = whole ? realloc(v->kept, (size_t)(v->kept_count + 1) * sizeof(measurement)) : v->kept;
    if (whole && list)
    {
        v->kept = list;
        v->kept[v->kept_count++] = *m;
    }
    else
    {
        free(m->mesh_kept);
    }
    *m = (measurement){0};
    return !whole || list;
}

static weft_status refuse(weft_error* error, const char* path, int line, weft_status status, const char* message)
{
    *error = (weft_error){.status = status, .line = line};
    snprintf(error->file, sizeof(error->file), "%s", path);
    snprintf(error->message, sizeof(error->message), "%s", message);
    return status;
}

static bool read_line(FILE* file, char* line)
{
    bool good = fgets(line, LINE_SIZE, file) != NULL;
    line[good ? strcspn(line, "\n") : 0] = '\0';
    return good;
}

weft_status measured_read(validation* v, weft_error* error)
{
    char path[2048], line[LINE_SIZE], expected[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/measured.txt", v->options->out);
    FILE* file = fopen(path, "r");
    if (!file)
    {
        return WEFT_OK; // nothing was measured yet
    }
    settings_line(v, expected, sizeof(expected));
    weft_status status = WEFT_OK;
    measurement m = {0};
    int number = 2;
    if (!read_line(file, line) || strcmp(line, head) != 0)
    {
        status = refuse(error, path, 1, WEFT_BAD_INPUT, "is no list of measurements of `weft validate`");
    }
    else if (!read_line(file, line) || !behind(line, "settings") || strcmp(behind(line, "settings"), expected) != 0)
    {
        status = refuse(error, path, 2, WEFT_BAD_INPUT,
                        "holds measurements of another material, model, bending or --set: take another folder, or "
                        "leave out --resume");
    }
    while (status == WEFT_OK && read_line(file, line))
    {
        number++;
        bool good = strcmp(line, "end") == 0 ? keep(v, &m) : take_name(line, &m) || take_line(line, &m);
        status = good ? WEFT_OK : refuse(error, path, number, WEFT_BAD_INPUT, "is no line of a measurement");
    }
    free(m.mesh_kept);
    fclose(file);
    return status;
}

bool measured_find(const validation* v, measurement* m)
{
    for (int k = 0; k < v->kept_count; k++)
    {
        const measurement* old = &v->kept[k];
        if (old->experiment == m->experiment && strcmp(old->method, m->method) == 0 &&
            strcmp(old->mesh, m->mesh) == 0 && old->cells == m->cells)
        {
            m->result = old->result;
            return true;
        }
    }
    return false;
}

void measured_free(validation* v)
{
    for (int k = 0; k < v->kept_count; k++)
    {
        free(v->kept[k].mesh_kept);
    }
    free(v->kept);
    v->kept = NULL;
    v->kept_count = 0;
}
