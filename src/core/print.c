// Text with numbers in it, with a point whatever the host's locale: programs with windows set a decimal comma, and
// neither files nor messages may follow them. Whatever prints a number that is not whole goes through here.
#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/core.h"

point_locale point_locale_begin(void)
{
    point_locale p = {.own = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    p.before = p.own ? uselocale(p.own) : NULL;
    return p;
}

void point_locale_end(const point_locale* p)
{
    if (p->own)
    {
        uselocale(p->before);
        freelocale(p->own);
    }
}

int print_text_list(char* out, size_t size, const char* format, va_list arguments)
{
    point_locale p = point_locale_begin();
    int length = vsnprintf(out, size, format, arguments);
    point_locale_end(&p);
    return length;
}

int print_text(char* out, size_t size, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = print_text_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}

int print_to(FILE* file, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    point_locale p = point_locale_begin();
    int length = vfprintf(file, format, arguments);
    point_locale_end(&p);
    va_end(arguments);
    return length;
}
