#include "bench/page.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "core/core.h"

// ---- tables

void grid_put(text_grid* g, int row, int* column, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->cell[row][*column], GRID_TEXT, format, arguments);
    va_end(arguments);
    (*column)++;
}

void grid_put_number(text_grid* g, int row, int* column, double value)
{
    if (isnan(value))
    {
        grid_put(g, row, column, "-");
        return;
    }
    int digits = value >= 100.0 ? 0 : value >= 10.0 ? 1 : value >= 1.0 ? 2 : 3;
    grid_put(g, row, column, "%.*f", digits, value);
}

void grid_put_count(text_grid* g, int row, int* column, int value)
{
    int millions = value / 1000000, thousands = value / 1000 % 1000, ones = value % 1000;
    if (millions > 0)
    {
        grid_put(g, row, column, "%d,%03d,%03d", millions, thousands, ones);
    }
    else if (thousands > 0)
    {
        grid_put(g, row, column, "%d,%03d", thousands, ones);
    }
    else
    {
        grid_put(g, row, column, "%d", ones);
    }
}

void grid_print(const text_grid* g, FILE* out)
{
    int width[GRID_COLUMNS] = {0};
    for (int k = 0; k < g->row_count * g->column_count; k++)
    {
        int c = k % g->column_count;
        width[c] = int_max(width[c], (int)strlen(g->cell[k / g->column_count][c]));
    }
    fprintf(out, "  %s\n", g->title);
    for (int r = 0; r < g->row_count; r++)
    {
        fprintf(out, "  ");
        for (int c = 0; c < g->column_count; c++)
        {
            fprintf(out, "%*s%s", width[c], g->cell[r][c], c + 1 < g->column_count ? "  " : "\n");
        }
    }
}

void grid_write(const text_grid* g, FILE* out)
{
    fputs("<div class=\"wide\"><table>", out);
    for (int r = 0; r < g->row_count; r++)
    {
        fputs("<tr>", out);
        for (int c = 0; c < g->column_count; c++)
        {
            const char* text = g->cell[r][c];
            const char* class = strstr(text, "MISSED") ? "missed" : strstr(text, "met") ? "met" : "plain";
            fprintf(out, r == 0 ? "<th class=\"%s\">" : "<td class=\"%s\">", r == 0 ? "head" : class);
            page_escape(out, text);
            fputs(r == 0 ? "</th>" : "</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

// ---- text

void page_print(FILE* out, const char* sentence)
{
    enum
    {
        WIDTH = 120
    };
    int at = 0;
    while (*sentence)
    {
        int length = (int)strcspn(sentence, " ");
        bool wrap = at > 0 && at + length + 1 > WIDTH;
        fprintf(out, wrap ? "\n%.*s" : at > 0 ? " %.*s" : "%.*s", length, sentence);
        at = wrap || at == 0 ? length : at + length + 1;
        sentence += length + (sentence[length] == ' ');
    }
    fputs("\n", out);
}

void page_escape(FILE* out, const char* text)
{
    for (; *text; text++)
    {
        if (*text == '&' || *text == '<')
        {
            fputs(*text == '&' ? "&amp;" : "&lt;", out);
        }
        else
        {
            fputc(*text, out);
        }
    }
}

void page_text(FILE* out, const char* element, const char* text)
{
    fprintf(out, "<%s>", element);
    page_escape(out, text);
    fprintf(out, "</%s>\n", element);
}

void page_begin(FILE* out, const char* title)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width\">\n<title>",
          out);
    page_escape(out, title);
    fputs("</title>\n<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;"
          "margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}table{border-collapse:collapse;"
          "font-variant-numeric:tabular-nums;font-size:13px}th,td{padding:.2rem .6rem;text-align:right;"
          "white-space:nowrap}th{border-bottom:1px solid #8886}.wide{overflow-x:auto;margin:.5rem 0 1rem}"
          ".missed{color:#b3261e;font-weight:600}.met{color:#1a7f4b}small{display:block}"
          "svg{margin:1rem 0;height:auto;display:block}"
          "@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#15181c}.missed{color:#ff8f87}"
          ".met{color:#6fd39c}}</style></head><body>\n",
          out);
    page_text(out, "h1", title);
}

void page_end(FILE* out)
{
    fputs("</body></html>\n", out);
}

// ---- files

weft_status page_file(const char* folder, const char* name, page_writer* write, const void* context)
{
    char path[2048];
    weft_error error = {0};
    whole_file file;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    {
        fprintf(stderr, "weft: cannot make the folder `%s`\n", folder);
        return WEFT_IO;
    }
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    weft_status status = whole_file_open(&file, path, &error);
    if (status == WEFT_OK)
    {
        write(context, file.stream);
        status = whole_file_close(&file, &error);
    }
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft: %s: %s\n", path, error.message);
    }
    return status;
}
