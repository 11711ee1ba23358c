#include "bench/plot.h"

#include <math.h>

#include "bench/page.h"

enum
{
    WIDTH = 760,
    HEIGHT = 420,
    LEFT = 68,
    RIGHT = 170, // the legend stands there
    TOP = 40,
    BOTTOM = 52,
    LEGEND_STEP = 20,
    TICK_MAX = 40,
    CELL_WIDTH = 84,
    CELL_HEIGHT = 26,
    MAP_LEFT = 190,
    MAP_WIDTH = 640 // at least, for the title
};

// ---- drawing

static void write_label(FILE* out, double x, double y, const char* anchor, const char* class, const char* text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
    page_escape(out, text);
    fputs("</text>\n", out);
}

// Colours of Okabe and Ito's kind, that the colour-blind can tell apart, darker by day and lighter by night.
static void write_head(FILE* out, int width, int height, const char* title)
{
    static const char* const day[PLOT_COLOURS] = {"#1f6fc4", "#c75b00", "#1a7f4b", "#a33d8f",
                                                  "#8a6d00", "#b3261e", "#0b7c8c", "#5f6368"};
    static const char* const night[PLOT_COLOURS] = {"#7cb7ff", "#ffab61", "#6fd39c", "#e79bd6",
                                                    "#e3c34f", "#ff8f87", "#5fd4e3", "#b4b9bf"};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" class=\"plot\" role=\"img\" "
            "aria-label=\"",
            width, height, width);
    page_escape(out, title);
    fputs("\">\n<style>.plot{color:#1b1f24;background:#fff;font:12px system-ui,sans-serif;max-width:100%}"
          ".plot text{fill:currentColor}.plot .title{font-size:14px;font-weight:600}.plot .axis{stroke:currentColor;"
          "fill:none}.plot .rule{stroke:currentColor;opacity:.15}.plot .guide{stroke:currentColor;opacity:.6;"
          "stroke-dasharray:2 4}.plot .line{fill:none;stroke-width:1.8}.plot .ink{stroke:currentColor;"
          "fill:currentColor}",
          out);
    for (int k = 0; k < PLOT_COLOURS; k++)
    {
        fprintf(out, ".plot .c%d{stroke:%s;fill:%s}", k, day[k], day[k]);
    }
    fputs(".plot .line{fill:none}.plot .cell{stroke:none}@media(prefers-color-scheme:dark){.plot{color:#e6e8eb;"
          "background:#15181c}",
          out);
    for (int k = 0; k < PLOT_COLOURS; k++)
    {
        fprintf(out, ".plot .c%d{stroke:%s;fill:%s}", k, night[k], night[k]);
    }
    fputs(".plot .line{fill:none}.plot .cell{stroke:none}}</style>\n", out);
    write_label(out, width / 2.0, 22, "middle", "title", title);
}

static void class_of(int colour, char out[16])
{
    snprintf(out, 16, colour < 0 ? "ink" : "c%d", colour);
}

static void write_marker(FILE* out, double x, double y, int marker, int colour)
{
    char class[16];
    class_of(colour, class);
    switch (marker)
    {
    case 0:
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" class=\"%s\"/>", x - 3.5, y - 3.5, class);
        break;
    case 1:
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.8\" class=\"%s\"/>", x, y, class);
        break;
    case 2:
        fprintf(out, "<path d=\"M%.1f %.1fl5 5-5 5-5-5z\" class=\"%s\"/>", x, y - 5, class);
        break;
    case 3:
        fprintf(out, "<path d=\"M%.1f %.1fl5 8h-10z\" class=\"%s\"/>", x, y - 5, class);
        break;
    default:
        break;
    }
}

// ---- axes

typedef struct axis
{
    bool log;
    double low, high; // data
    double from, to;  // pixels
} axis;

static bool is_drawable(double value, bool log)
{
    return isfinite(value) && (!log || value > 0.0);
}

static double place(const axis* a, double value)
{
    double low = a->log ? log(a->low) : a->low, high = a->log ? log(a->high) : a->high;
    return a->from + (a->to - a->from) * ((a->log ? log(value) : value) - low) / (high - low);
}

// The range of all points, x or y. A linear y axis starts at zero, so that heights can be compared.
static axis range_of(const plot* p, bool y, bool log, double from, double to)
{
    axis a = {log, INFINITY, -INFINITY, from, to};
    for (int l = 0; l < p->line_count; l++)
    {
        const plot_line* line = &p->lines[l];
        for (int k = 0; k < line->count; k++)
        {
            double value = y ? line->y[k] : line->x[k];
            if (is_drawable(line->x[k], p->log_x) && is_drawable(line->y[k], p->log_y))
            {
                a.low = fmin(a.low, value);
                a.high = fmax(a.high, value);
            }
        }
    }
    if (!(a.low <= a.high))
    {
        a.low = a.high = 1.0;
    }
    if (y && is_drawable(p->y_guide, log))
    {
        a.low = fmin(a.low, p->y_guide);
        a.high = fmax(a.high, p->y_guide);
    }
    if (log)
    {
        double room = a.high > a.low ? pow(a.high / a.low, 0.05) : 2.0;
        a.low /= room;
        a.high *= room;
        return a;
    }
    a.low = y ? fmin(0.0, a.low) : a.low;
    double room = a.high > a.low ? 0.03 * (a.high - a.low) : 1.0;
    a.low -= y && a.low == 0.0 ? 0.0 : room;
    a.high += room;
    return a;
}

// Tick marks: on a log axis 1, 2 and 5 of each decade (fewer when there are many decades, more in a single one), else
// some six round numbers.
static int ticks_of(const axis* a, double out[TICK_MAX])
{
    int count = 0;
    if (a->log)
    {
        static const double parts[] = {1.0, 2.0, 5.0, 3.0, 4.0, 6.0, 8.0};
        double decades = log10(a->high / a->low);
        int part_count = decades > 3.5 ? 1 : decades > 1.2 ? 3 : 7;
        for (int d = (int)floor(log10(a->low)); d <= (int)ceil(log10(a->high)); d++)
        {
            for (int k = 0; k < part_count; k++)
            {
                double value = parts[k] * pow(10.0, d);
                if (value >= a->low && value <= a->high && count < TICK_MAX)
                {
                    out[count++] = value;
                }
            }
        }
        return count;
    }
    double rough = (a->high - a->low) / 6.0, decade = pow(10.0, floor(log10(rough)));
    double step = rough > 5.0 * decade ? 10.0 * decade : rough > 2.0 * decade ? 5.0 * decade : 2.0 * decade;
    for (double k = ceil(a->low / step); k * step <= a->high && count < TICK_MAX; k++)
    {
        out[count++] = k * step + 0.0; // no -0
    }
    return count;
}

static void tick_name(double value, char out[32])
{
    double size = fabs(value);
    double unit = size >= 1e6 ? 1e6 : size >= 1e4 ? 1e3 : 1.0;
    snprintf(out, 32, "%.4g%s", value / unit, unit == 1e6 ? "M" : unit == 1e3 ? "k" : "");
}

static void write_axes(FILE* out, const plot* p, const axis* x, const axis* y)
{
    double ticks[TICK_MAX];
    char name[32];
    int count = ticks_of(x, ticks);
    for (int k = 0; k < count; k++)
    {
        double at = place(x, ticks[k]);
        tick_name(ticks[k], name);
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" class=\"rule\"/>", at, y->from, y->to);
        write_label(out, at, y->from + 17, "middle", "tick", name);
    }
    count = ticks_of(y, ticks);
    for (int k = 0; k < count; k++)
    {
        double at = place(y, ticks[k]);
        tick_name(ticks[k], name);
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"rule\"/>", x->from, at, x->to);
        write_label(out, x->from - 7, at + 4, "end", "tick", name);
    }
    fprintf(out, "<path d=\"M%.1f %.1fV%.1fH%.1f\" class=\"axis\"/>\n", x->from, y->to, y->from, x->to);
    if (is_drawable(p->y_guide, p->log_y))
    {
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" class=\"guide\"/>\n", x->from, place(y, p->y_guide), x->to);
    }
    write_label(out, 0.5 * (x->from + x->to), HEIGHT - 12, "middle", "name", p->x_title);
    fprintf(out, "<g transform=\"translate(16 %.1f) rotate(-90)\">", 0.5 * (y->from + y->to));
    write_label(out, 0, 0, "middle", "name", p->y_title);
    fputs("</g>\n", out);
}

// ---- lines

void plot_add(plot* p, plot_line line)
{
    if (p->line_count < PLOT_LINE_MAX)
    {
        p->lines[p->line_count++] = line;
    }
}

void plot_add_key(plot* p, plot_key key)
{
    if (p->key_count < PLOT_KEY_MAX)
    {
        p->keys[p->key_count++] = key;
    }
}

static void write_line(FILE* out, const plot* p, const plot_line* line, const axis* x, const axis* y)
{
    char class[16];
    class_of(line->colour, class);
    fprintf(out, "<path class=\"line %s\"%s d=\"", class, line->dashed ? " stroke-dasharray=\"6 4\"" : "");
    bool down = false; // the pen
    for (int k = 0; k < line->count; k++)
    {
        bool drawn = is_drawable(line->x[k], p->log_x) && is_drawable(line->y[k], p->log_y);
        if (drawn)
        {
            fprintf(out, "%c%.1f %.1f", down ? 'L' : 'M', place(x, line->x[k]), place(y, line->y[k]));
        }
        down = drawn;
    }
    fputs("\"/>\n", out);
    for (int k = 0; k < line->count; k++)
    {
        if (is_drawable(line->x[k], p->log_x) && is_drawable(line->y[k], p->log_y))
        {
            write_marker(out, place(x, line->x[k]), place(y, line->y[k]), line->marker, line->colour);
        }
    }
}

static void write_legend(FILE* out, const plot* p)
{
    double left = WIDTH - RIGHT + 16;
    for (int k = 0; k < p->key_count; k++)
    {
        const plot_key* key = &p->keys[k];
        double at = TOP + 12 + LEGEND_STEP * k;
        char class[16];
        class_of(key->colour, class);
        if (key->line)
        {
            fprintf(out, "<path d=\"M%.1f %.1fh24\" class=\"line %s\"%s/>", left, at, class,
                    key->dashed ? " stroke-dasharray=\"6 4\"" : "");
        }
        write_marker(out, left + 12, at, key->marker, key->colour);
        write_label(out, left + 32, at + 4, "start", "key", key->name);
    }
}

void plot_write(const plot* p, FILE* out)
{
    axis x = range_of(p, false, p->log_x, LEFT, WIDTH - RIGHT);
    axis y = range_of(p, true, p->log_y, HEIGHT - BOTTOM, TOP);
    write_head(out, WIDTH, HEIGHT, p->title);
    write_axes(out, p, &x, &y);
    for (int k = 0; k < p->line_count; k++)
    {
        write_line(out, p, &p->lines[k], &x, &y);
    }
    write_legend(out, p);
    fputs("</svg>\n", out);
}

// ---- map

void plot_plan_write(const plot* p, double extent, FILE* out)
{
    double side = HEIGHT - TOP - LEGEND_STEP, left = 0.5 * (WIDTH - RIGHT - side);
    axis x = {false, -extent, extent, left, left + side}, y = {false, -extent, extent, TOP + side, TOP};
    write_head(out, WIDTH, HEIGHT, p->title);
    for (int k = 0; k < p->line_count; k++)
    {
        write_line(out, p, &p->lines[k], &x, &y);
    }
    write_legend(out, p);
    fputs("</svg>\n", out);
}

static void write_cell(FILE* out, double x, double y, double value)
{
    char text[32];
    if (isnan(value))
    {
        return;
    }
    // Full colour at a factor of eight; the text keeps its contrast.
    double strength = fmin(1.0, fabs(log(value)) / log(8.0));
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"3\" class=\"cell c%d\" opacity=\"%.2f\"/>",
            x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, value >= 1.0 ? 0 : 1, 0.08 + 0.45 * strength);
    snprintf(text, sizeof(text), value < 10.0 ? "%.2f" : "%.1f", value);
    write_label(out, x + 0.5 * CELL_WIDTH, y + 0.5 * CELL_HEIGHT + 4, "middle", "value", text);
}

void plot_map_write(const plot_map* m, FILE* out)
{
    int needed = MAP_LEFT + m->column_count * CELL_WIDTH + 20, width = needed > MAP_WIDTH ? needed : MAP_WIDTH;
    int top = TOP + 34;
    write_head(out, width, top + m->row_count * CELL_HEIGHT + 20, m->title);
    write_label(out, MAP_LEFT - 10, top - 8, "end", "name", m->y_title);
    write_label(out, MAP_LEFT + 0.5 * m->column_count * CELL_WIDTH, top - 26, "middle", "name", m->x_title);
    for (int c = 0; c < m->column_count; c++)
    {
        write_label(out, MAP_LEFT + (c + 0.5) * CELL_WIDTH, top - 8, "middle", "tick", m->columns[c]);
    }
    for (int r = 0; r < m->row_count; r++)
    {
        double y = top + (double)r * CELL_HEIGHT;
        write_label(out, MAP_LEFT - 10, y + 0.5 * CELL_HEIGHT + 4, "end", "tick", m->rows[r]);
        for (int c = 0; c < m->column_count; c++)
        {
            write_cell(out, MAP_LEFT + (double)c * CELL_WIDTH, y, m->values[r * m->column_count + c]);
        }
    }
    fputs("</svg>\n", out);
}
