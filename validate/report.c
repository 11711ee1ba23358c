// What `weft validate` prints: a table of measurements, a table of methods by experiments, or all of it as JSON.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/validate.h"

static void print_head(const validation* v)
{
    const weft_material* m = &v->material;
    printf("material %s: %g kg/m^2, stretch %g and %g N/m, shear %g N/m, bending %g N m\n", v->options->material,
           m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending);
    for (int k = 0; k < v->options->override_count; k++)
    {
        printf("the scenes, but not the closed forms, have %s\n", v->options->overrides[k]);
    }
}

// The mesh as a word: of a file its name without folders.
static const char* mesh_word(const measurement* m)
{
    const char* slash = strrchr(m->mesh, '/');
    return slash ? slash + 1 : m->mesh;
}

static const char* verdict(const measurement* m)
{
    return measurement_is_broken(m) ? "BROKEN" : m->finest ? "holds" : "";
}

static void print_row(const measurement* m)
{
    const point* worst = result_worst(&m->result);
    char bound[32] = "";
    if (m->finest)
    {
        snprintf(bound, sizeof(bound), "%g %%", 100.0 * m->experiment->bound);
    }
    printf("%-16s %-10.20s %5d", m->experiment->name, mesh_word(m), m->cells);
    if (worst)
    {
        printf(" %10.4g %12.6g %12.6g %10.3f %% %8s %-6s %6d", worst->x, worst->ours, worst->closed,
               100.0 * worst->deviation, bound, verdict(m), m->result.steps);
    }
    else
    {
        printf(" %10s %12s %12s %12s %8s %-6s %6d", "-", "-", "-", "-", bound, verdict(m), m->result.steps);
    }
    puts("");
    if (m->result.failure[0])
    {
        printf("    %s\n", m->result.failure);
    }
    if (m->result.note[0])
    {
        printf("    %s\n", m->result.note);
    }
    if (m->result.forced > 0)
    {
        printf("    %d substeps stand although they were judged wrong\n", m->result.forced);
    }
    if (m->result.taken_over > 0)
    {
        printf("    `newton` took over in %d steps\n", m->result.taken_over);
    }
}

// Every experiment with its closed form and the point that is farthest off at each resolution.
void report_table(const validation* v)
{
    print_head(v);
    printf("method %s\n\n%-16s %-10s %5s %10s %12s %12s %12s %8s %-6s %6s\n", v->count ? v->list[0].method : "",
           "experiment", "mesh", "cells", "worst at", "ours", "closed form", "deviation", "bound", "", "steps");
    int broken = 0;
    for (int k = 0; k < v->count; k++)
    {
        print_row(&v->list[k]);
        broken += measurement_is_broken(&v->list[k]);
    }
    printf("\n%d of %d measurements, %d bounds broken\n", v->count, v->count, broken);
}

static const measurement* find(const validation* v, const char* method, const experiment* e)
{
    for (int k = 0; k < v->count; k++)
    {
        if (v->list[k].method == method && v->list[k].experiment == e)
        {
            return &v->list[k];
        }
    }
    return NULL;
}

// Whether it is the first of its method, or of its experiment.
static bool is_first(const validation* v, int k, bool by_method)
{
    for (int i = 0; i < k; i++)
    {
        if (by_method ? v->list[i].method == v->list[k].method : v->list[i].experiment == v->list[k].experiment)
        {
            return false;
        }
    }
    return true;
}

static void print_cell(const measurement* m)
{
    const point* worst = m ? result_worst(&m->result) : NULL;
    char text[32] = "-";
    if (m && m->result.failure[0])
    {
        snprintf(text, sizeof(text), "%s", m->result.refused ? "refused" : "failed");
    }
    else if (worst)
    {
        double percent = 100.0 * worst->deviation;
        snprintf(text, sizeof(text), fabs(percent) < 1000.0 ? "%.2f%s" : "%.2g%s", percent,
                 measurement_is_broken(m) ? " !" : "");
    }
    printf(" %14s", text);
}

static void print_reasons(const measurement* m)
{
    const result* r = &m->result;
    if (r->note[0])
    {
        printf("%s, %s: %s\n", m->method, m->experiment->name, r->note);
    }
    if (!r->failure[0] && r->taken_over == 0 && r->forced == 0)
    {
        return;
    }
    printf("%s, %s:%s%s", m->method, m->experiment->name, r->failure[0] ? " " : "", r->failure);
    if (r->taken_over > 0)
    {
        printf("%s `newton` took over in %d of %d steps", r->failure[0] ? ";" : "", r->taken_over, r->steps);
    }
    if (r->forced > 0)
    {
        bool first = !r->failure[0] && r->taken_over == 0;
        printf("%s %d substeps stand although they were judged wrong", first ? "" : ";", r->forced);
    }
    puts("");
}

void report_methods(const validation* v)
{
    print_head(v);
    printf("largest deviation in %%, each experiment at its coarsest resolution; `!`: beyond the bound\n\n%-16s %8s",
           "experiment", "bound");
    for (int k = 0; k < v->count; k++)
    {
        is_first(v, k, true) ? (void)printf(" %14s", v->list[k].method) : (void)0;
    }
    puts("");
    for (int e = 0; e < v->count; e++)
    {
        if (!is_first(v, e, false))
        {
            continue;
        }
        printf("%-16s %6g %%", v->list[e].experiment->name, 100.0 * v->list[e].experiment->bound);
        for (int k = 0; k < v->count; k++)
        {
            if (is_first(v, k, true))
            {
                print_cell(find(v, v->list[k].method, v->list[e].experiment));
            }
        }
        puts("");
    }
    puts("");
    for (int k = 0; k < v->count; k++)
    {
        print_reasons(&v->list[k]);
    }
}

// ---- JSON

static void put_string(const char* text)
{
    putchar('"');
    for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    {
        printf(*c == '"' || *c == '\\' ? "\\%c" : *c < 0x20 ? "\\u%04x" : "%c", *c);
    }
    putchar('"');
}

static void put_number(const char* name, double value)
{
    printf(isfinite(value) ? "\"%s\":%.17g" : "\"%s\":null", name, value);
}

static void put_measurement(const measurement* m)
{
    const point* worst = result_worst(&m->result);
    printf("{\"experiment\":\"%s\",\"method\":\"%s\",\"mesh\":", m->experiment->name, m->method);
    put_string(m->mesh);
    printf(",\"cells\":%d,\"steps\":%d,\"forced\":%d,\"taken_over\":%d,\"bound\":%g,\"judged\":%s,\"holds\":%s,",
           m->cells, m->result.steps, m->result.forced, m->result.taken_over, m->experiment->bound,
           m->finest ? "true" : "false", measurement_is_broken(m) ? "false" : "true");
    put_number("deviation", worst ? worst->deviation : NAN);
    printf(",\"failure\":");
    m->result.failure[0] ? put_string(m->result.failure) : (void)fputs("null", stdout);
    printf(",\"refused\":%s", m->result.refused ? "true" : "false");
    printf(",\"note\":");
    m->result.note[0] ? put_string(m->result.note) : (void)fputs("null", stdout);
    if (m->result.published[1] > 0.0)
    {
        printf(",\"published\":[%g,%g],\"inside\":%s", m->result.published[0], m->result.published[1],
               result_is_inside(&m->result) ? "true" : "false");
    }
    printf(",\"points\":[");
    for (int k = 0; k < m->result.count; k++)
    {
        const point* p = &m->result.points[k];
        fputs(k ? ",{" : "{", stdout);
        put_number("x", p->x);
        putchar(',');
        put_number("ours", p->ours);
        putchar(',');
        put_number("closed", p->closed);
        putchar(',');
        put_number("deviation", p->deviation);
        putchar('}');
    }
    printf("]}");
}

void report_json(const validation* v)
{
    const weft_material* m = &v->material;
    int broken = 0;
    printf("{\"material\":{\"name\":\"%s\",\"density\":%.17g,\"stretch_warp\":%.17g,\"stretch_weft\":%.17g,\"shear\":%."
           "17g,"
           "\"bending\":%.17g},\"measurements\":[",
           v->options->material, m->density, m->stretch_warp, m->stretch_weft, m->shear, m->bending);
    for (int k = 0; k < v->count; k++)
    {
        fputs(k ? ",\n" : "\n", stdout);
        put_measurement(&v->list[k]);
        broken += measurement_is_broken(&v->list[k]);
    }
    printf("],\"broken\":%d}\n", broken);
}
