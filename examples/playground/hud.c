// Text and bars over the picture: Weft's own letters, white on nothing, behind them a dark pane.
#include <stdlib.h>
#include <string.h>

#include "playground.h"

static const weft_color white = {1.0f, 1.0f, 1.0f}, grey = {0.72f, 0.76f, 0.80f}, green = {0.45f, 0.85f, 0.55f},
                        red = {1.0f, 0.52f, 0.35f};

typedef struct pen
{
    const weft_canvas* canvas;
    double x, y, height;
} pen;

static void write_line(pen* p, double height, weft_color color, const char* text)
{
    p->y += 1.75 * height;
    weft_canvas_text(p->canvas, text, (weft_vec2){p->x, p->y}, height, color);
}

// The mean over the last steps that were made.
static double mean_ms(const picture* p)
{
    double sum = 0.0;
    int count = 0;
    for (int k = HISTORY - 30; k < HISTORY; k++)
    {
        sum += p->step_ms[k];
        count += p->step_ms[k] > 0.0;
    }
    return count > 0 ? sum / count : 0.0;
}

// A column a step; the line is the time that a step has.
static void draw_bars(pen* p, const picture* seen, double width)
{
    double budget = 1e3 * seen->time_step, tall = 34.0, base = p->y + tall + 12.0, step = width / HISTORY;
    for (int k = 0; k < HISTORY; k++)
    {
        double part = fmin(seen->step_ms[k] / fmax(budget, 1e-9), 1.6) / 1.6;
        weft_vec2 from = {p->x + step * (k + 0.5), base}, to = {from.x, base - tall * part};
        if (part > 0.0)
        {
            weft_canvas_line(p->canvas, from, to, step * 0.8, seen->step_ms[k] > budget ? red : green);
        }
    }
    double y = base - tall / 1.6;
    weft_canvas_line(p->canvas, (weft_vec2){p->x, y}, (weft_vec2){p->x + width, y}, 1.0, grey);
    p->y = base;
}

static void write_numbers(pen* p, const picture* seen)
{
    char text[160];
    double ms = mean_ms(seen), budget = 1e3 * seen->time_step;
    write_line(p, 17.0, white, seen->scene);
    if (strcmp(seen->method, "local-global") == 0)
    {
        snprintf(text, sizeof(text), "%s, %d iterations", seen->method, seen->iterations);
    }
    else
    {
        snprintf(text, sizeof(text), "%s", seen->method);
    }
    write_line(p, 11.0, white, text);
    snprintf(text, sizeof(text), "%d vertices, %d contacts", seen->vertex_count, seen->contacts);
    write_line(p, 11.0, grey, text);
    p->y += 5.0;
    snprintf(text, sizeof(text), "%.1f ms a step", ms);
    write_line(p, 17.0, ms > budget ? red : green, text);
    snprintf(text, sizeof(text), ms > budget ? "%.1f ms too long" : "%.1f ms of %.1f left over", fabs(budget - ms),
             budget);
    write_line(p, 11.0, grey, text);
    draw_bars(p, seen, 262.0);
    snprintf(text, sizeof(text), "time %.1f s, speed %.0f %%%s", seen->time, 100.0 * seen->speed,
             seen->paused ? ", paused" : "");
    write_line(p, 11.0, seen->paused || seen->speed < 0.9 ? red : grey, text);
}

static void write_help(pen* p)
{
    static const char* const lines[] = {
        "left drag: pull",
        "right drag: turn,  wheel: zoom",
        "1 - 9: scenes,  R: again",
        "M: method,  I / K: iterations",
        "P: pin what you hold,  U: unpin all",
        "W: wind,  G: gravity",
        "space: pause,  N: one step",
        "S: save a picture,  H: this help",
    };
    p->y += 6.0;
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++)
    {
        write_line(p, 9.5, grey, lines[k]);
    }
}

static void write_message(pen* p, const char* message)
{
    char line[44];
    for (size_t at = 0; at < strlen(message) && at < 4 * (sizeof(line) - 1); at += sizeof(line) - 1)
    {
        snprintf(line, sizeof(line), "%s", message + at);
        write_line(p, 8.5, red, line);
    }
}

static void resize(hud* h, int width, int height)
{
    if (h->width != width || h->height != height)
    {
        hud_finish(h);
        h->width = width, h->height = height;
        h->rgb = grab_memory(3 * (size_t)width * (size_t)height, 1);
        h->rgba = grab_memory(4 * (size_t)width * (size_t)height, 1);
    }
}

void hud_draw(hud* h, int width, int height, const picture* p, bool help)
{
    resize(h, width, height);
    weft_canvas canvas = {h->rgb, width, height};
    pen at = {&canvas, 18.0, 8.0, 0.0};
    weft_canvas_fill(&canvas, (weft_color){0});
    write_numbers(&at, p);
    help ? write_help(&at) : (void)0;
    p->message[0] ? write_message(&at, p->message) : (void)0;
    int bottom = (int)at.y + 16;
    for (int k = 0; k < width * height; k++)
    {
        uint8_t *to = h->rgba + 4 * (size_t)k, *from = h->rgb + 3 * (size_t)k;
        int most = from[0] > from[1] ? from[0] : from[1], pane = k / width < bottom ? 130 : 0;
        most = from[2] > most ? from[2] : most;
        // Letters over the pane, with colours that are multiplied by the cover already.
        to[0] = from[0], to[1] = from[1], to[2] = from[2];
        to[3] = (uint8_t)(most + pane * (255 - most) / 255);
    }
}

void hud_finish(hud* h)
{
    free(h->rgb);
    free(h->rgba);
    *h = (hud){0};
}
