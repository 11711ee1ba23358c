// Flat drawings onto finished pixels: lines and letters with soft borders. Letters are strokes on a grid of 5 x 7
// points, so that they stay crisp at any size.
#include <string.h>

#include "render/picture.h"

enum
{
    LETTER_HEIGHT = 6 // grid steps from the baseline to the top of a letter
};

// ---- letters: pairs of digits x y (x 0..4, y 0..6 upwards) joined by lines; '/' lifts the pen
static const char* glyph_strokes(char letter)
{
    static const char* const digits[10] = {
        "103041453616050110",          "152620/1030", "05163645440040",
        "05163645443313/334241301001", "30360242",    "460603334241301001",
        "4536160501103041423303",      "064610",      "13040516364544331302011030414233",
        "0110304145361605041343",
    };
    static const char* const letters[26] = {
        "0004264440/0242",
        "00063645443303/3342413000",
        "4536160501103041",
        "00062645412000",
        "46060040/0333",
        "460600/0333",
        "45361605011030414323",
        "0006/4046/0343",
        "0006",
        "4641301001",
        "0006/460340",
        "060040",
        "0006234640",
        "00064046",
        "103041453616050110",
        "00063645443303",
        "103041453616050110/2240",
        "00063645443303/2340",
        "453616050413334241301001",
        "0646/2620",
        "060110304146",
        "062046",
        "0610243046",
        "0046/0640",
        "062346/2320",
        "06460040",
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
    case '.':
        return "0000";
    case ',':
        return "1100";
    case ':':
        return "0101/0404";
    case '-':
        return "0333";
    case '+':
        return "0343/2125";
    case '/':
        return "0046";
    case '(':
        return "16050110";
    case ')':
        return "06151100";
    case '=':
        return "0242/0444";
    case '%':
        return "0515160605/3040413130/0046";
    default:
        return "";
    }
}

// ---- pixels

void canvas_blend(const weft_canvas* c, int x, int y, weft_color color, double alpha)
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

void weft_canvas_fill(const weft_canvas* canvas, weft_color color)
{
    WEFT_ASSERT(canvas && canvas->rgb);
    for (int y = 0; y < canvas->height; y++)
    {
        for (int x = 0; x < canvas->width; x++)
        {
            canvas_blend(canvas, x, y, color, 1.0);
        }
    }
}

// ---- lines

static double segment_distance(double px, double py, const double* a, const double* b)
{
    double dx = b[0] - a[0], dy = b[1] - a[1];
    double length_sq = dx * dx + dy * dy;
    double t = length_sq > 0.0 ? ((px - a[0]) * dx + (py - a[1]) * dy) / length_sq : 0.0;
    t = fmin(1.0, fmax(0.0, t));
    return hypot(px - a[0] - t * dx, py - a[1] - t * dy);
}

// A pixel that the border crosses gets its share, to within what the distance from its middle tells. Thinner lines than
// a pixel are as wide as one and fainter.
static double line_cover(double distance, double width)
{
    double inside = 0.5 * fmax(width, 1.0) - distance + 0.5;
    return fmin(1.0, fmax(0.0, inside)) * fmin(1.0, width);
}

// The rows and columns that a line may touch, cut at the picture's border before they become whole numbers.
static int pixel_from(double at)
{
    return (int)fmax(0.0, floor(at));
}

static int pixel_to(double at, int size)
{
    return (int)fmin(size - 1.0, ceil(at));
}

void weft_canvas_line(const weft_canvas* canvas, weft_vec2 from, weft_vec2 to, double width, weft_color color)
{
    WEFT_ASSERT(canvas && canvas->rgb && width > 0.0);
    if (!isfinite(from.x) || !isfinite(from.y) || !isfinite(to.x) || !isfinite(to.y))
    {
        return;
    }
    const double a[2] = {from.x, from.y}, b[2] = {to.x, to.y}, reach = 0.5 * width + 1.0;
    int bottom = pixel_to(fmax(a[1], b[1]) + reach, canvas->height);
    int right = pixel_to(fmax(a[0], b[0]) + reach, canvas->width);
    for (int y = pixel_from(fmin(a[1], b[1]) - reach); y <= bottom; y++)
    {
        for (int x = pixel_from(fmin(a[0], b[0]) - reach); x <= right; x++)
        {
            canvas_blend(canvas, x, y, color, line_cover(segment_distance(x + 0.5, y + 0.5, a, b), width));
        }
    }
}

// ---- text

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

double weft_canvas_text_width(const char* text, double height)
{
    WEFT_ASSERT(text);
    double unit = height / LETTER_HEIGHT, width = 0.0;
    for (const char* t = text; *t; t++)
    {
        width += (glyph_width(glyph_strokes(*t)) + 2) * unit;
    }
    return width;
}

void weft_canvas_text(const weft_canvas* canvas, const char* text, weft_vec2 at, double height, weft_color color)
{
    WEFT_ASSERT(canvas && canvas->rgb && text && height > 0.0);
    const double half_stroke = 0.42, unit = height / LETTER_HEIGHT;
    double x = at.x, y = at.y;
    for (const char* t = text; *t; t++)
    {
        const char* strokes = glyph_strokes(*t);
        int width = glyph_width(strokes);
        for (int row = (int)floor(y - 7 * unit); row <= (int)ceil(y + unit); row++)
        {
            for (int column = (int)floor(x - unit); column <= (int)ceil(x + (width + 1) * unit); column++)
            {
                double distance = glyph_distance(strokes, (column + 0.5 - x) / unit, (y - row - 0.5) / unit);
                canvas_blend(canvas, column, row, color, fmin(1.0, fmax(0.0, (half_stroke - distance) * unit + 0.5)));
            }
        }
        x += (width + 2) * unit;
    }
}
