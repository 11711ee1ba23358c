// The colour map, and its legend: a bar with a title and numbers, drawn onto the finished picture.
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

// The shortest decimals that tell the legend's ticks apart.
static void format_tick(double value, double step, char* out, size_t size)
{
    int decimals = step > 0.0 && isfinite(step) ? (int)fmin(9.0, fmax(0.0, ceil(-log10(step) - 1e-9))) : 0;
    for (int extra = 0; extra < 2; extra++)
    {
        double shifted = step * pow(10.0, decimals);
        decimals += fabs(shifted - floor(shifted + 0.5)) > 1e-6 * shifted;
    }
    print_text(out, size, "%.*f", decimals, value);
}

void legend_draw(const weft_view* view, uint8_t* rgb, int width, int height)
{
    enum
    {
        TICKS = 5
    };
    const weft_color ink = {0.22f, 0.24f, 0.27f};
    weft_canvas c = {rgb, width, height};
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
        weft_canvas_text(&c, label, (weft_vec2){left + bar_width + 5.0 * unit, y + 3.0 * unit}, 6.0 * unit, ink);
    }
    if (weft_canvas_text_width(view->legend, 6.0 * unit) < width)
    {
        weft_canvas_text(&c, view->legend, (weft_vec2){left, top - 9.0 * unit}, 6.0 * unit, ink);
    }
}
