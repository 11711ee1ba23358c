// weft bench sa-map: from which size on does sa-ppcg win over diag-pcg? The paper (section 11.3) names 25,000 vertices
// for its own setting and says that small time steps, soft materials, large masses and modest accuracy favour Diag-PCG,
// without showing it. Here time step, stiffness (stretch and shear), density and tolerance are changed one at a time.
//
// Times are medians of setup and solve over consecutive steps of the animation, both solvers on the same systems,
// sa-ppcg living through them, without its first and full setup; a cold sa-ppcg beside it. The size at which the ratio
// of times passes one is found on straight lines in the logarithms of ratio and vertices. Can be killed and called
// again: finished solves are in the log. Options: --cells LIST (30,50,70,100,140,200), --scene NAME (pinned),
// --tessellation regular|irregular, --parameters LIST (h,stiffness,density,tolerance), --steps N (7, the first not
// counted), --from K (10), --out DIR (CSV, SVG, page), those of sa_systems.h but for --step, --rounds, --keep and
// --energy-max, those of results.h.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/page.h"
#include "bench/plot.h"
#include "bench/sa_animation.h"

enum
{
    SIZE_MAX_COUNT = 12,
    FACTOR_MAX = 6,
    SETTING_MAX = 32,
    OVERRIDES = 3,
    ENTRANT_SA = 0,
    ENTRANT_COLD,
    ENTRANT_DIAG,
    ENTRANT_COUNT
};

typedef enum parameter
{
    PARAMETER_H,
    PARAMETER_STIFFNESS,
    PARAMETER_DENSITY,
    PARAMETER_TOLERANCE,
    PARAMETER_COUNT
} parameter;

static const struct
{
    const char *name, *unit;
    double factors[FACTOR_MAX]; // of the scene's or the command line's value; 0 ends them
} parameters[PARAMETER_COUNT] = {
    {"h", "s", {0.25, 0.5, 2.5, 5.0}},
    {"stiffness", "N/m", {0.05, 0.3, 3.0, 10.0}},
    {"density", "kg/m^2", {0.3, 3.0}},
    {"tolerance", "", {1e3, 1e2, 1e1, 1e-1, 1e-3}},
};

// One setting at all sizes.
typedef struct setting
{
    int parameter; // -1: nothing is changed
    double factor;
    char name[64];
    char overrides[OVERRIDES][96];
    int override_count;
    sa_animation animations[SIZE_MAX_COUNT];
    double sa[SIZE_MAX_COUNT], cold[SIZE_MAX_COUNT], diag[SIZE_MAX_COUNT]; // median seconds
    double warm_ratio[SIZE_MAX_COUNT], cold_ratio[SIZE_MAX_COUNT];         // diag-pcg's time over sa-ppcg's
    double sa_iterations[SIZE_MAX_COUNT], diag_iterations[SIZE_MAX_COUNT];
} setting;

typedef struct map
{
    sa_options options;
    results log;
    const char *scene, *parameters, *out;
    bool irregular;
    int cells[SIZE_MAX_COUNT], size_count, steps, from;
    int vertices[SIZE_MAX_COUNT];
    double base[PARAMETER_COUNT]; // stiffness: that of stretch along the warp
    double stretch_weft, shear;
    setting* settings; // [setting_count]
    int setting_count;
} map;

// ---- settings

static weft_status read_base(map* m)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_scene_cloth cloth;
    weft_status status = weft_scene_load(m->scene, m->options.overrides, m->options.override_count, &scene, &error);
    status = status == WEFT_OK ? weft_scene_cloth_at(scene, 0, &cloth) : status;
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench sa-map: %s\n", error.message);
        weft_scene_destroy(scene);
        return status;
    }
    m->base[PARAMETER_H] = weft_scene_sim_def(scene)->time_step;
    m->base[PARAMETER_STIFFNESS] = cloth.material.stretch_warp;
    m->base[PARAMETER_DENSITY] = cloth.material.density;
    m->base[PARAMETER_TOLERANCE] = m->options.def.tolerance;
    m->stretch_weft = cloth.material.stretch_weft;
    m->shear = cloth.material.shear;
    weft_scene_destroy(scene);
    return WEFT_OK;
}

static void override(setting* s, const char* path, double value)
{
    snprintf(s->overrides[s->override_count++], sizeof(s->overrides[0]), "%s=%.9g", path, value);
}

static void set_overrides(const map* m, setting* s)
{
    double f = s->factor;
    switch (s->parameter)
    {
    case PARAMETER_H:
        override(s, "time_step", f * m->base[PARAMETER_H]);
        break;
    case PARAMETER_STIFFNESS:
        override(s, "cloth.0.material.stretch_warp", f * m->base[PARAMETER_STIFFNESS]);
        override(s, "cloth.0.material.stretch_weft", f * m->stretch_weft);
        override(s, "cloth.0.material.shear", f * m->shear);
        break;
    case PARAMETER_DENSITY:
        override(s, "cloth.0.material.density", f * m->base[PARAMETER_DENSITY]);
        break;
    default:
        break; // the tolerance is the solver's, and not that of the simulation
    }
}

static void add_entrant(const map* m, sa_animation* a, int which, const setting* s)
{
    static const char* const solvers[ENTRANT_COUNT] = {"sa-ppcg", "sa-ppcg", "diag-pcg"};
    static const char* const names[ENTRANT_COUNT] = {"sa-ppcg", "sa-ppcg cold", "diag-pcg"};
    sa_entrant* e = &a->entrants[which];
    *e = (sa_entrant){.name = names[which], .def = m->options.def, .samples = a->count};
    e->def.solver = solvers[which];
    e->def.tolerance *= s->parameter == PARAMETER_TOLERANCE ? s->factor : 1.0;
    e->memory = which == ENTRANT_SA ? SA_MEMORY_ALL : SA_MEMORY_NONE;
    e->cold = which == ENTRANT_COLD;
}

static void add_setting(map* m, int parameter, double factor)
{
    setting* s = &m->settings[m->setting_count++];
    *s = (setting){.parameter = parameter, .factor = factor, .name = "as it is"};
    if (parameter >= 0)
    {
        const char* unit = parameters[parameter].unit;
        snprintf(s->name, sizeof(s->name), "%s %.5g%s%s", parameters[parameter].name, factor * m->base[parameter],
                 unit[0] ? " " : "", unit);
    }
    set_overrides(m, s);
    for (int size = 0; size < m->size_count; size++)
    {
        sa_animation* a = &s->animations[size];
        a->c = sa_case_make(&m->options, m->scene, m->cells[size], m->irregular);
        a->c.step = m->from;
        a->count = m->steps;
        a->entrant_count = ENTRANT_COUNT;
        for (int k = 0; k < s->override_count; k++)
        {
            sa_case_override(&a->c, s->overrides[k]);
        }
        for (int k = 0; k < ENTRANT_COUNT; k++)
        {
            add_entrant(m, a, k, s);
        }
        m->vertices[size] = sa_case_vertices(&a->c);
    }
}

// Ordered by parameter, and by value with the scene's own among them.
static void add_settings(map* m)
{
    add_setting(m, -1, 1.0);
    for (int p = 0; p < PARAMETER_COUNT; p++)
    {
        for (int k = 0;
             k < FACTOR_MAX && parameters[p].factors[k] > 0.0 && bench_has(m->parameters, parameters[p].name); k++)
        {
            add_setting(m, p, parameters[p].factors[k]);
        }
    }
}

// ---- measuring

static weft_status measure(map* m)
{
    weft_status status = WEFT_OK;
    for (int size = 0; size < m->size_count; size++)
    {
        for (int k = 0; k < m->setting_count && status == WEFT_OK; k++)
        {
            status = sa_animation_run(&m->settings[k].animations[size], &m->options, &m->log);
        }
    }
    return status;
}

// Over the steps after the first, which sets multigrid up from nothing. A solve of a small system takes a millisecond,
// and one that met another process is no measure: the median.
static double later_seconds(const sa_course* c, int entrant)
{
    return sa_course_spread(c, entrant, "seconds", 1).median;
}

static weft_status fill(map* m)
{
    for (int k = 0; k < m->setting_count * m->size_count; k++)
    {
        setting* s = &m->settings[k / m->size_count];
        int size = k % m->size_count;
        sa_course c;
        TRY(sa_course_init(&c, &s->animations[size], &m->log));
        s->sa[size] = later_seconds(&c, ENTRANT_SA);
        s->cold[size] = later_seconds(&c, ENTRANT_COLD);
        s->diag[size] = later_seconds(&c, ENTRANT_DIAG);
        s->warm_ratio[size] = s->diag[size] / s->sa[size];
        s->cold_ratio[size] = s->diag[size] / s->cold[size];
        s->sa_iterations[size] = sa_course_spread(&c, ENTRANT_SA, "iterations", 1).mean;
        s->diag_iterations[size] = sa_course_spread(&c, ENTRANT_DIAG, "iterations", 1).mean;
        sa_course_finish(&c);
    }
    return WEFT_OK;
}

// ---- where the ratio passes one

typedef struct crossing
{
    double vertices; // NaN: not known at all
    int side;        // -1: it wins at the smallest size already; 1: not yet at the largest, `vertices` is extrapolated
} crossing;

// Beyond this size sa-ppcg wins at every size that was measured.
static crossing find_crossing(const map* m, const double* ratio)
{
    int first = m->size_count; // the first size of those
    while (first > 0 && ratio[first - 1] >= 1.0)
    {
        first--;
    }
    if (first == 0)
    {
        return (crossing){m->vertices[0], -1};
    }
    int side = first == m->size_count ? 1 : 0;
    int high = side > 0 ? first - 1 : first, low = high - 1;
    if (low < 0)
    {
        return (crossing){NAN, side};
    }
    double x0 = log(m->vertices[low]), x1 = log(m->vertices[high]), y0 = log(ratio[low]), y1 = log(ratio[high]);
    return (crossing){y1 > y0 ? exp(x0 - y0 * (x1 - x0) / (y1 - y0)) : NAN, side};
}

// Two digits; what is beyond the sizes is said to be.
static void put_crossing(const map* m, text_grid* g, int row, int* column, crossing c)
{
    char about[32] = "";
    if (isfinite(c.vertices) && c.vertices < 1e9)
    {
        double unit = pow(10.0, floor(log10(c.vertices)) - 1.0);
        snprintf(about, sizeof(about), "%.0f", unit * round(c.vertices / unit));
    }
    if (c.side < 0)
    {
        grid_put(g, row, column, "below %d", m->vertices[0]);
    }
    else if (c.side > 0)
    {
        grid_put(g, row, column, about[0] ? "beyond (some %s)" : "beyond%s", about);
    }
    else
    {
        grid_put(g, row, column, "%s", about[0] ? about : "-");
    }
}

// ---- text

static void say_notes(const map* m, void (*say)(FILE*, const char*), FILE* out)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "%s, %s: diag-pcg's time of setup and solve over sa-ppcg's, medians of steps %d to %d. As it is: cotton, hinge "
        "bending, h %g s, stretch %g and %g, shear %g N/m, density %g kg/m^2, tolerance %g; %d threads. One thing "
        "changed at a time; stiffness is that of stretch (the value shown is along the warp) and shear.",
        m->scene, m->irregular ? "irregular" : "regular", m->from + 1, m->from + m->steps - 1, m->base[PARAMETER_H],
        m->base[PARAMETER_STIFFNESS], m->stretch_weft, m->shear, m->base[PARAMETER_DENSITY],
        m->base[PARAMETER_TOLERANCE], m->options.threads);
    say(out, text);
    say(out, "from, cold from: vertices from which sa-ppcg wins, with what it keeps from step to step (after its first "
             "setup) and from nothing each time. The paper names some 25,000, from nothing each time.");
}

static void fill_grid(const map* m, text_grid* g)
{
    int c = 0;
    *g = (text_grid){.title = "speed-up by vertices", .row_count = 1};
    grid_put(g, 0, &c, "changed");
    for (int size = 0; size < m->size_count; size++)
    {
        grid_put_count(g, 0, &c, m->vertices[size]);
    }
    grid_put(g, 0, &c, "from");
    grid_put(g, 0, &c, "cold from");
    g->column_count = c;
    for (int k = 0; k < m->setting_count && g->row_count < GRID_ROWS; k++)
    {
        const setting* s = &m->settings[k];
        int row = g->row_count++;
        c = 0;
        grid_put(g, row, &c, "%s", s->name);
        for (int size = 0; size < m->size_count; size++)
        {
            grid_put_number(g, row, &c, s->warm_ratio[size]);
        }
        put_crossing(m, g, row, &c, find_crossing(m, s->warm_ratio));
        put_crossing(m, g, row, &c, find_crossing(m, s->cold_ratio));
    }
}

static void print_sentence(FILE* out, const char* sentence)
{
    page_print(out, sentence);
}

static void print_table(const map* m)
{
    text_grid grid;
    printf("sa-map\n");
    say_notes(m, print_sentence, stdout);
    printf("\n");
    fill_grid(m, &grid);
    grid_print(&grid, stdout);
}

static void print_crossing_json(const char* name, crossing c)
{
    static const char* const sides[] = {"below", "within", "beyond"};
    char text[32];
    printf(",\"%s\":{\"vertices\":%s,\"where\":\"%s\"}", name, results_json(c.vertices, text), sides[c.side + 1]);
}

static void print_json(const map* m)
{
    printf("{\"benchmark\":\"sa-map\",\"scene\":\"%s\",\"tessellation\":\"%s\",\"threads\":%d,\"settings\":[", m->scene,
           m->irregular ? "irregular" : "regular", m->options.threads);
    for (int k = 0; k < m->setting_count; k++)
    {
        const setting* s = &m->settings[k];
        printf("%s\n{\"name\":\"%s\",\"parameter\":\"%s\",\"factor\":%g", k > 0 ? "," : "", s->name,
               s->parameter >= 0 ? parameters[s->parameter].name : "", s->factor);
        print_crossing_json("from", find_crossing(m, s->warm_ratio));
        print_crossing_json("cold_from", find_crossing(m, s->cold_ratio));
        printf(",\"sizes\":[");
        for (int size = 0; size < m->size_count; size++)
        {
            char t[2][32];
            printf("%s{\"vertices\":%d,\"ratio\":%s,\"cold_ratio\":%s}", size > 0 ? "," : "", m->vertices[size],
                   results_json(s->warm_ratio[size], t[0]), results_json(s->cold_ratio[size], t[1]));
        }
        printf("]}");
    }
    printf("]}\n");
}

// ---- files

static void write_csv(const void* context, FILE* out)
{
    const map* m = context;
    fputs("setting,parameter,factor,cells,vertices,sa_ppcg_s,sa_ppcg_cold_s,diag_pcg_s,sa_ppcg_iterations,"
          "diag_pcg_iterations,ratio,cold_ratio\n",
          out);
    for (int k = 0; k < m->setting_count * m->size_count; k++)
    {
        const setting* s = &m->settings[k / m->size_count];
        int n = k % m->size_count;
        fprintf(out, "%s,%s,%g,%d,%d", s->name, s->parameter >= 0 ? parameters[s->parameter].name : "", s->factor,
                m->cells[n], m->vertices[n]);
        const double values[] = {
            s->sa[n],         s->cold[n],      s->diag[n], s->sa_iterations[n], s->diag_iterations[n],
            s->warm_ratio[n], s->cold_ratio[n]};
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
        {
            fprintf(out, isnan(values[v]) ? "," : ",%.6g", values[v]);
        }
        fputs("\n", out);
    }
}

static void write_map(const map* m, bool cold, FILE* out)
{
    const char *rows[SETTING_MAX], *columns[SIZE_MAX_COUNT];
    text_grid heads = {0};
    double values[SETTING_MAX * SIZE_MAX_COUNT];
    for (int c = 0; c < m->size_count;)
    {
        columns[c] = heads.cell[0][c];
        grid_put_count(&heads, 0, &c, m->vertices[c]);
    }
    for (int k = 0; k < m->setting_count * m->size_count; k++)
    {
        const setting* s = &m->settings[k / m->size_count];
        rows[k / m->size_count] = s->name;
        values[k] = (cold ? s->cold_ratio : s->warm_ratio)[k % m->size_count];
    }
    plot_map p = {.title = cold ? "diag-pcg's time over that of sa-ppcg from nothing"
                                : "diag-pcg's time over that of sa-ppcg with reuse",
                  .x_title = "vertices",
                  .y_title = "changed",
                  .columns = columns,
                  .rows = rows,
                  .column_count = m->size_count,
                  .row_count = m->setting_count,
                  .values = values};
    plot_map_write(&p, out);
}

static void write_warm_map(const void* context, FILE* out)
{
    write_map(context, false, out);
}

static void write_cold_map(const void* context, FILE* out)
{
    write_map(context, true, out);
}

// The size from which sa-ppcg wins over the factor of each parameter, the scene's own value at one. Points outside the
// measured sizes are left out.
static void write_sizes(const void* context, FILE* out)
{
    const map* m = context;
    double x[2][PARAMETER_COUNT][FACTOR_MAX + 1], y[2][PARAMETER_COUNT][FACTOR_MAX + 1];
    plot p = {.title = "Vertices from which sa-ppcg wins",
              .x_title = "factor on the value of the scene",
              .y_title = "vertices",
              .log_x = true,
              .log_y = true,
              .y_guide = NAN};
    for (int k = 0; k < 2 * PARAMETER_COUNT; k++)
    {
        int parameter = k / 2, cold = k % 2, count = 0;
        double *px = x[cold][parameter], *py = y[cold][parameter];
        for (int s = 0; s < m->setting_count; s++)
        {
            const setting* at = &m->settings[s];
            if (at->parameter != parameter && at->parameter >= 0)
            {
                continue;
            }
            crossing c = find_crossing(m, cold ? at->cold_ratio : at->warm_ratio);
            // Sorted by the factor: the scene's own comes first in the list and belongs among them.
            int to = count++;
            for (; to > 0 && at->factor < px[to - 1]; to--)
            {
                px[to] = px[to - 1];
                py[to] = py[to - 1];
            }
            px[to] = at->factor;
            py[to] = c.side == 0 ? c.vertices : NAN;
        }
        if (count > 1)
        {
            plot_add(&p, (plot_line){px, py, count, parameter, parameter, cold});
        }
        if (count > 1 && !cold)
        {
            plot_add_key(&p, (plot_key){parameters[parameter].name, parameter, parameter, false, true});
        }
    }
    plot_add_key(&p, (plot_key){"reused", -1, -1, false, true});
    plot_add_key(&p, (plot_key){"cold", -1, -1, true, true});
    plot_write(&p, out);
}

static void write_paragraph(FILE* out, const char* sentence)
{
    page_text(out, "p", sentence);
}

static void write_page(const void* context, FILE* out)
{
    const map* m = context;
    text_grid grid;
    page_begin(out, "From which size on multigrid wins");
    say_notes(m, write_paragraph, out);
    fill_grid(m, &grid);
    grid_write(&grid, out);
    write_sizes(m, out);
    write_warm_map(m, out);
    write_cold_map(m, out);
    page_end(out);
}

static weft_status write_files(const map* m)
{
    TRY(page_file(m->out, "map.csv", write_csv, m));
    TRY(page_file(m->out, "map.svg", write_warm_map, m));
    TRY(page_file(m->out, "map-cold.svg", write_cold_map, m));
    TRY(page_file(m->out, "map-sizes.svg", write_sizes, m));
    return page_file(m->out, "index.html", write_page, m);
}

// ---- command

static void read_options(int argc, char** argv, map* m)
{
    static const char all[] = "h,stiffness,density,tolerance";
    bench_known(
        argc, argv,
        "--threads= --tolerance= --set= --log= --fresh --cells= --scene= --tessellation= --parameters= --steps= "
        "--from= --out=");
    m->scene = bench_words(argc, argv, "--scene", "pinned", "pinned,drooping,re-entrant");
    m->irregular = bench_has(bench_words(argc, argv, "--tessellation", "regular", "regular,irregular"), "irregular");
    m->parameters = bench_words(argc, argv, "--parameters", all, all);
    m->size_count = bench_numbers(argc, argv, "--cells", "30,50,70,100,140,200", m->cells, SIZE_MAX_COUNT);
    m->steps = bench_count(argc, argv, "--steps", 7);
    m->from = bench_count(argc, argv, "--from", 10);
    m->out = bench_text(argc, argv, "--out", NULL);
    if (strchr(m->scene, ','))
    {
        bench_refuse(argc, argv, "--scene `%s`: one scene at a time", m->scene);
    }
    if (m->steps < 2)
    {
        bench_refuse(argc, argv, "--steps %d: the first is not counted, so it takes at least 2", m->steps);
    }
    for (int k = 0; k < m->size_count; k++)
    {
        if (m->cells[k] < 2 || (k > 0 && m->cells[k] <= m->cells[k - 1]))
        {
            bench_refuse(argc, argv, "--cells: sizes must grow, from 2 cells a side on");
        }
    }
}

static int run(int argc, char** argv, bool json)
{
    map m = {0};
    read_options(argc, argv, &m);
    if (sa_options_read(argc, argv, &m.options) != WEFT_OK || read_base(&m) != WEFT_OK)
    {
        return 2;
    }
    m.settings = MEM_NEW(SETTING_MAX, setting);
    weft_status status = m.settings ? results_open(&m.log, "sa-map", argc, argv) : WEFT_NO_MEMORY;
    if (status == WEFT_OK)
    {
        add_settings(&m);
        status = measure(&m);
    }
    status = status == WEFT_OK ? fill(&m) : status;
    if (status == WEFT_OK)
    {
        json ? print_json(&m) : print_table(&m);
        status = m.out ? write_files(&m) : WEFT_OK;
    }
    mem_free(m.settings);
    results_close(&m.log);
    return status == WEFT_OK ? 0 : bench_failed("sa-map", status);
}

const benchmark bench_sa_map = {"sa-map",
                                "from which size on multigrid wins, over time step, stiffness, mass, tolerance", run};
