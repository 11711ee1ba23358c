// Text files line by line, and their numbers.
#define _POSIX_C_SOURCE 200809L
#include "cache/system_file.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum
{
    BUFFER_SIZE = 1 << 20 // a line must fit
};

weft_status text_file_refuse(const text_file* text, const char* format, ...)
{
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(text->error, WEFT_BAD_INPUT, text->path, text->line, "%s", message);
}

weft_status text_file_open(text_file* text, const char* path, weft_error* error)
{
    *text = (text_file){.path = path, .error = error};
    text->stream = file_stream(path, FILE_TO_READ);
    if (!text->stream)
    {
        return file_read_error(error, path, "cannot open");
    }
    struct stat info;
    if (fstat(fileno(text->stream), &info) != 0 || !S_ISREG(info.st_mode))
    {
        text_file_close(text);
        return error_set(error, WEFT_BAD_INPUT, path, 0, "this is not a regular file");
    }
    text->size = info.st_size;
    text->capacity = info.st_size < BUFFER_SIZE ? (size_t)info.st_size + 1 : BUFFER_SIZE;
    text->buffer = mem_raw(text->capacity + 1, 1);
    if (!text->buffer)
    {
        text_file_close(text);
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to read");
    }
    return WEFT_OK;
}

void text_file_close(text_file* text)
{
    if (text->stream)
    {
        fclose(text->stream);
    }
    mem_free(text->buffer);
    text->stream = NULL;
    text->buffer = NULL;
}

// Moves what is left to the front and reads on; false at the end of the file.
static bool text_file_fill(text_file* text)
{
    size_t left = text->end - text->begin;
    memmove(text->buffer, text->buffer + text->begin, left);
    text->begin = 0;
    text->end = left;
    size_t got = fread(text->buffer + left, 1, text->capacity - left, text->stream);
    text->end += got;
    return got > 0;
}

weft_status text_file_next(text_file* text, char** begin, char** end)
{
    *begin = *end = NULL;
    char* newline = text->end > text->begin ? memchr(text->buffer + text->begin, '\n', text->end - text->begin) : NULL;
    while (!newline)
    {
        size_t searched = text->end - text->begin;
        if (searched == text->capacity)
        {
            text->line++;
            return text_file_refuse(text, "the line is longer than %d bytes; this is no Matrix Market file",
                                    BUFFER_SIZE);
        }
        if (!text_file_fill(text))
        {
            break;
        }
        newline = memchr(text->buffer + searched, '\n', text->end - searched);
    }
    if (ferror(text->stream))
    {
        return error_set(text->error, WEFT_IO, text->path, text->line, "reading failed");
    }
    if (!newline && text->begin == text->end)
    {
        return WEFT_OK;
    }
    text->line++;
    *begin = text->buffer + text->begin;
    *end = newline ? newline : text->buffer + text->end;
    text->begin = newline ? (size_t)(newline - text->buffer) + 1 : text->end;
    if (*end > *begin && (*end)[-1] == '\r')
    {
        (*end)--;
    }
    **end = '\0';
    return WEFT_OK;
}

static const char* skip_blanks(const char* s)
{
    while (*s == ' ' || *s == '\t')
    {
        s++;
    }
    return s;
}

// A number ends with its line or a blank.
static bool is_number_end(char c)
{
    return c == '\0' || c == ' ' || c == '\t';
}

bool text_parse_count(const char** cursor, int64_t* out)
{
    const char* s = skip_blanks(*cursor);
    const char* first = s;
    int64_t value = 0;
    for (; *s >= '0' && *s <= '9' && s - first < 18; s++)
    {
        value = 10 * value + (*s - '0');
    }
    if (s == first || !is_number_end(*s))
    {
        return false;
    }
    *out = value;
    *cursor = s;
    return true;
}

bool text_parse_number(const char** cursor, double* out)
{
    const char* s = skip_blanks(*cursor);
    if (decimal_is_not_finite(s))
    {
        *out = NAN;
        *cursor = s + strcspn(s, " \t");
        return true;
    }
    if (!decimal_parse(&s, out) || !is_number_end(*s))
    {
        return false;
    }
    *cursor = s;
    return true;
}
