// The text of a sheet as laboratories save it: UTF-8 with or without its mark, UTF-16 with one (Excel's "Unicode text"),
// or single bytes of Windows; lines that end in LF, CR LF or CR. What comes out is UTF-8, in which blanks of every width
// are blanks and minus signs are hyphens. Spreadsheets and other files that are no text are refused.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fit.h"

enum
{
    SIZE_MAX_BYTES = 64 << 20,
    GROWN = 3 // bytes of UTF-8 for each that came, at most
};

typedef enum encoding
{
    ENCODING_UTF8,
    ENCODING_BYTES, // Windows 1252, but for its signs in 0x80 to 0x9f
    ENCODING_UTF16_LOW,
    ENCODING_UTF16_HIGH
} encoding;

// The character at `at`, and how many bytes it has; 0: it is none.
static int decode(const unsigned char* at, size_t left, encoding e, unsigned* out)
{
    if (e == ENCODING_BYTES)
    {
        *out = at[0] >= 0x80 && at[0] < 0xa0 ? '?' : at[0];
        return 1;
    }
    if (e != ENCODING_UTF8)
    {
        *out = left < 2 ? '?' : e == ENCODING_UTF16_LOW ? at[0] | at[1] << 8 : at[0] << 8 | at[1];
        return left < 2 ? 1 : 2;
    }
    int count = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : (at[0] & 0xf8) == 0xf0 ? 4 : 0;
    *out = count == 1 ? at[0] : count == 2 ? at[0] & 0x1fu : count == 3 ? at[0] & 0xfu : at[0] & 0x7u;
    for (int k = 1; k < count; k++)
    {
        if ((size_t)k >= left || (at[k] & 0xc0) != 0x80)
        {
            return 0;
        }
        *out = *out << 6 | (at[k] & 0x3fu);
    }
    return count;
}

static size_t encode(unsigned code, char* out)
{
    bool blank = code == 0xa0 || (code >= 0x2000 && code <= 0x200a) || code == 0x202f || code == 0x3000;
    bool minus = code >= 0x2010 && code <= 0x2015;
    code = blank ? ' ' : minus || code == 0x2212 ? '-' : code > 0xffff ? 0xfffd : code;
    if (code == 0xfeff) // a mark of order
    {
        return 0;
    }
    if (code < 0x80)
    {
        out[0] = (char)code;
        return 1;
    }
    int more = code < 0x800 ? 1 : 2;
    out[0] = (char)((more == 1 ? 0xc0 : 0xe0) | code >> 6 * more);
    for (int k = 1; k <= more; k++)
    {
        out[k] = (char)(0x80 | (code >> 6 * (more - k) & 0x3f));
    }
    return (size_t)more + 1;
}

static encoding encoding_of(const unsigned char* bytes, size_t size)
{
    if (size >= 2 && (bytes[0] == 0xff || bytes[0] == 0xfe) && bytes[0] + bytes[1] == 0xff + 0xfe)
    {
        return bytes[0] == 0xff ? ENCODING_UTF16_LOW : ENCODING_UTF16_HIGH;
    }
    unsigned code;
    for (size_t at = 0; at < size;)
    {
        int count = decode(bytes + at, size - at, ENCODING_UTF8, &code);
        if (count == 0)
        {
            return ENCODING_BYTES;
        }
        at += (size_t)count;
    }
    return ENCODING_UTF8;
}

static weft_status convert(const fit_sheet* sheet, const unsigned char* bytes, size_t size, fit_text* out,
                           weft_error* error)
{
    if (size >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "\xd0\xcf\x11\xe0", 4) == 0))
    {
        return fit_fail(error, sheet, 0, "is a spreadsheet; save it as CSV");
    }
    encoding e = encoding_of(bytes, size);
    size_t used = 0;
    int line = 1;
    for (size_t at = 0; at < size;)
    {
        unsigned code = 0;
        at += (size_t)decode(bytes + at, size - at, e, &code);
        line += code == '\n';
        if (code == 0)
        {
            return fit_fail(error, sheet, line, "holds bytes of zero and is no text; save the sheet as CSV");
        }
        used += encode(code, out->bytes + used);
    }
    out->bytes[used] = 0;
    return WEFT_OK;
}

weft_status fit_text_read(const fit_sheet* sheet, fit_text* out, weft_error* error)
{
    *out = (fit_text){0};
    // A named pipe or a device would be waited for, or read, for ever.
    struct stat found;
    if (stat(sheet->file, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
    {
        return fit_fail(error, sheet, 0, "cannot be read: it is no ordinary file; write the sheet to one");
    }
    FILE* in = fopen(sheet->file, "rb");
    if (!in)
    {
        return fit_fail(error, sheet, 0, "cannot be read: %s", strerror(errno));
    }
    size_t room = 1 << 16, size = 0;
    unsigned char* bytes = malloc(room);
    for (size_t got = 1; bytes && got > 0 && size < SIZE_MAX_BYTES; size += got)
    {
        if (size == room)
        {
            unsigned char* more = realloc(bytes, 2 * room);
            more ? (void)0 : free(bytes);
            bytes = more;
            room *= 2;
        }
        got = bytes ? fread(bytes + size, 1, room - size, in) : 0;
    }
    out->bytes = bytes ? malloc(GROWN * size + 1) : NULL;
    weft_status status = WEFT_OK;
    if (ferror(in))
    {
        status = fit_fail(error, sheet, 0, "cannot be read: %s", strerror(errno));
    }
    else if (!out->bytes)
    {
        status = fit_fail(error, sheet, 0, "there is no memory for it");
        error->status = status = WEFT_NO_MEMORY;
    }
    else if (size >= SIZE_MAX_BYTES)
    {
        status = fit_fail(error, sheet, 0, "has more than %d MiB: no sheet of measurements has", SIZE_MAX_BYTES >> 20);
    }
    status = status == WEFT_OK ? convert(sheet, bytes, size, out, error) : status;
    out->next = out->bytes;
    fclose(in);
    free(bytes);
    return status;
}

char* fit_text_line(fit_text* t)
{
    if (!*t->next)
    {
        return NULL;
    }
    char *line = t->next, *end = line + strcspn(line, "\r\n");
    t->next = end + (end[0] == '\r' && end[1] == '\n' ? 2 : *end != 0);
    *end = 0;
    return line;
}

void fit_text_free(fit_text* t)
{
    free(t->bytes);
    *t = (fit_text){0};
}
