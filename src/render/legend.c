// The colour map, and its legend: a bar with a title and numbers, drawn onto the finished picture. Letters are strokes
// on a grid of 5 x 7 points, so that they stay crisp at any size.
#include <string.h>

#include "render/picture.h"

// ---- the colour map: viridis at eleven even steps, linear in between
weft_color weft_color_map(double t)
{
    static const unsigned char stops[11][3] = {
        {68, 1, 84},    {72, 36, 117},  {65, 68, 135},  {53, 95, 141},  {42, 120, 142}, {33, 145, 140},
        {34, 168, 132}, {68, 191, 112}, {122, 209, 81}, {189, 223, 38}, {253, 231, 37},
    };
    double at = 10.0 * fmin(1.0, fmax(0.0, t)); // a NaN becomes the low end
    int k = int_min(9, (int)at);
    float f = (float)(at - k);
    float c[3];
    for (int i = 0; i < 3; i++)
    {
        c[i] = ((1.0f - f) * stops[k][i] + f * stops[k + 1][i]) / 255.0f;
    }
    return (weft_color){c[0], c[1], c[2]};
}

// ---- letters: pairs of digits x y (x 0..4, y 0..6 upwards) joined by lines; '/' lifts the pen
static const char* glyph_strokes(char letter)
{
    static const char* const digits[10] = {
        "103041453616050110",
        "152620/1030",
        "05163645440040",
        "05163645443313/334241301001",
        "30360242",
        "460603334241301001",
        "4536160501103041423303",
        "064610",
        "13040516364544331302011030414233",
        "0110304145361605041343",
    };
    static const char* const letters[26] = {
        "0004264440/0242",       "00063645443303/3342413000", "4536160501103041",   "00062645412000",
        "46060040/0333",         "460600/0333",               "45361605011030414323", "0006/4046/0343",
        "0006",                  "4641301001",                "0006/460340",        "060040",
        "0006234640",            "00064046",                  "103041453616050110", "00063645443303",
        "103041453616050110/2240", "00063645443303/2340",     "453616050413334241301001", "0646/2620",
        "060110304146",          "062046",                    "0610243046",         "0046/0640",
        "062346/2320",           "06460040",
    };
    if (letter >= '0' && letter <= '9')
    {
        return digits[letter - '0'];
    }
    if (letter >= 'A' && letter <= 'Z')
    {
        return letters[letter - 'A'];
    }
    if (letter >= 'a' && letter <= 'z')
    {
        return letters[letter - 'a'];
    }
    switch (letter)
    {
    case '.': return "0000";
    case ',': return "1000";
    case ':': return "0101/0404";
    case '-': return "0333";
    case '+': return "0343/2125";
    case '/': return "0046";
    case '(': return "16050110";
    case ')': return "06151100";
    case '=': return "0242/0444";
    case '%': return "0515160605/3040413130/0046";
    default: return "";
    }
}

typedef struct canvas
{
    uint8_t* rgb; // [3 * width * height]
    int width, height;
} canvas;

static void canvas_blend(const canvas* c, int x, int y, weft_color color, double alpha)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height || alpha <= 0.0)
    {
        return;
    }
    uint8_t* pixel = c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
    const float target[3] = {color.r, color.g, color.b};
    for (int k = 0; k < 3; k++)
    {
        pixel[k] = (uint8_t)(pixel[k] + alpha * (255.0 * target[k] - pixel[k]) + 0.5);
    }
}

static double segment_distance(double px, double py, const double* a, const double* b)
{
    double dx = b[0] - a[0], dy = b[1] - a[1];
    double length_sq = dx * dx + dy * dy;
    double t = length_sq > 0.0 ? ((px - a[0]) * dx + (py - a[1]) * dy) / length_sq : 0.0;
    t = fmin(1.0, fmax(0.0, t));
    return hypot(px - a[0] - t * dx, py - a[1] - t * dy);
}

// Distance from a point to the nearest stroke, in grid units.
static double glyph_distance(const char* strokes, double px, double py)
{
    double best = 1e300, last[2] = {0, 0};
    bool down = false;
    for (const char* s = strokes; *s; s++)
    {
        if (*s == '/')
        {
            down = false;
            continue;
        }
        double point[2] = {s[0] - '0', s[1] - '0'};
        s++;
        if (down)
        {
            best = fmin(best, segment_distance(px, py, last, point));
        }
        memcpy(last, point, sizeof(last));
        down = true;
    }
    return best;
}

static int glyph_width(const char* strokes)
{
    int width = *strokes ? 0 : 2;
    for (const char* s = strokes; *s; s++)
    {
        if (*s != '/')
        {
            width = int_max(width, *s - '0');
            s++;
        }
    }
    return width;
}

static double text_width(const char* text, double unit)
{
    double width = 0.0;
    for (const char* t = text; *t; t++)
    {
        width += (glyph_width(glyph_strokes(*t)) + 2) * unit;
    }
    return width;
}

// x, y: the left end of the baseline; unit: pixels a grid step.
static void draw_text(const canvas* c, const char* text, double x, double y, double unit, weft_color color)
{
    const double half_stroke = 0.42;
    for (const char* t = text; *t; t++)
    {
        const char* strokes = glyph_strokes(*t);
        int width = glyph_width(strokes);
        for (int row = (int)floor(y - 7 * unit); row <= (int)ceil(y + unit); row++)
        {
            for (int column = (int)floor(x - unit); column <= (int)ceil(x + (width + 1) * unit); column++)
            {
                double distance = glyph_distance(strokes, (column + 0.5 - x) / unit, (y - row - 0.5) / unit);
                canvas_blend(c, column, row, color, fmin(1.0, fmax(0.0, (half_stroke - distance) * unit + 0.5)));
            }
        }
        x += (width + 2) * unit;
    }
}

// The shortest decimals that tell the legend's ticks apart.
static void format_tick(double value, double step, char* out, size_t size)
{
    int decimals = step > 0.0 && isfinite(step) ? (int)fmin(9.0, fmax(0.0, ceil(-log10(step) - 1e-9))) : 0;
    for (int extra = 0; extra < 2; extra++)
    {
        double shifted = step * pow(10.0, decimals);
        decimals += fabs(shifted - floor(shifted + 0.5)) > 1e-6 * shifted;
    }
    snprintf(out, size, "%.*f", decimals, value);
}

void legend_draw(const weft_view* view, uint8_t* rgb, int width, int height)
{
    enum
    {
        TICKS = 5
    };
    const weft_color ink = {0.22f, 0.24f, 0.27f};
    canvas c = {rgb, width, height};
    double unit = fmax(0.9, int_min(width, height) / 420.0);
    double bar_width = 9.0 * unit, bar_height = 0.42 * height;
    double left = 0.035 * int_min(width, height), top = 0.5 * (height - bar_height);

    // The bar, light end up, with a thin frame.
    for (int row = (int)(top - unit); row < (int)(top + bar_height + unit); row++)
    {
        for (int column = (int)(left - unit); column < (int)(left + bar_width + unit); column++)
        {
            bool inside = row >= (int)top && row < (int)(top + bar_height) && column >= (int)left &&
                          column < (int)(left + bar_width);
            weft_color color = inside ? weft_color_map(1.0 - (row + 0.5 - top) / bar_height) : (weft_color){1, 1, 1};
            canvas_blend(&c, column, row, color, inside ? 1.0 : 0.55);
        }
    }

    // Numbers at even heights, the title above.
    double low = view->scalar_min * view->legend_scale, high = view->scalar_max * view->legend_scale;
    for (int k = 0; k < TICKS; k++)
    {
        char label[512]; // any double fits
        format_tick(low + (high - low) * k / (TICKS - 1), fabs(high - low) / (TICKS - 1), label, sizeof(label));
        double y = top + bar_height * (1.0 - (double)k / (TICKS - 1));
        draw_text(&c, label, left + bar_width + 5.0 * unit, y + 3.0 * unit, unit, ink);
    }
    if (text_width(view->legend, unit) < width)
    {
        draw_text(&c, view->legend, left, top - 9.0 * unit, unit, ink);
    }
}
