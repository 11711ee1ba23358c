// Text files line by line, in bounded memory: only regular files, so that a folder, a pipe or a device is refused with
// a sentence instead of an endless wait.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/mesh_inside.h"

enum
{
    BLOCK_SIZE = 1 << 16,
    LINE_MAX_SIZE = 1 << 26 // with continuations; what is longer is no text
};

static weft_status text_check_kind(const char* path, int descriptor, weft_error* error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
    {
        return error_set(error, WEFT_IO, path, 0, "cannot be read: %s", strerror(errno));
    }
    if (S_ISDIR(info.st_mode))
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "is a folder: name a file inside it");
    }
    if (!S_ISREG(info.st_mode))
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "is not a regular file (a pipe, socket or device): write its content to a file and name that");
    }
    return WEFT_OK;
}

// Moves the unread part to the front and reads on behind it; one byte stays free for a terminating zero.
static weft_status text_fill(text_lines* lines, weft_error* error)
{
    int kept = lines->end - lines->begin;
    if (kept > 0)
    {
        memmove(lines->buffer, lines->buffer + lines->begin, (size_t)kept);
    }
    lines->begin = 0;
    lines->end = kept;
    if (kept >= LINE_MAX_SIZE)
    {
        return error_set(error, WEFT_BAD_INPUT, lines->path, lines->next_number,
                         "the line is longer than %d bytes: this is not an OBJ text file", LINE_MAX_SIZE);
    }
    if (lines->capacity - kept < BLOCK_SIZE / 2 + 1)
    {
        void* buffer = lines->buffer;
        bool grown = mem_grow(&buffer, &lines->capacity, lines->capacity + BLOCK_SIZE, 1);
        lines->buffer = buffer;
        if (!grown)
        {
            return error_set(error, WEFT_NO_MEMORY, lines->path, lines->next_number, "out of memory in a long line");
        }
    }
    ssize_t got;
    do
    {
        got = read(lines->descriptor, lines->buffer + kept, (size_t)(lines->capacity - kept - 1));
    } while (got < 0 && errno == EINTR);
    if (got < 0)
    {
        return error_set(error, WEFT_IO, lines->path, lines->next_number, "reading failed: %s", strerror(errno));
    }
    lines->end += (int)got;
    lines->at_end = got == 0;
    return WEFT_OK;
}

// Looks at the first bytes: encoding, byte order mark, kind of line ends.
static weft_status text_check_start(text_lines* lines, weft_error* error)
{
    const unsigned char* b = (const unsigned char*)lines->buffer;
    int count = lines->end;
    if (count == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, lines->path, 0, "is empty: export the mesh again");
    }
    bool marked = count >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff));
    bool paired = count >= 4 && ((!b[0] && b[1] && !b[2] && b[3]) || (b[0] && !b[1] && b[2] && !b[3]));
    if (marked || paired)
    {
        return error_set(error, WEFT_BAD_INPUT, lines->path, 1, "is UTF-16 text: save it as UTF-8");
    }
    if (count >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf)
    {
        lines->begin = 3;
    }
    bool only_cr = !memchr(b, '\n', (size_t)count) && memchr(b, '\r', (size_t)count);
    lines->terminator = only_cr ? '\r' : '\n';
    return WEFT_OK;
}

weft_status text_lines_open(const char* path, text_lines* out, weft_error* error)
{
    *out = (text_lines){.path = path, .descriptor = -1, .next_number = 1};
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    out->descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (out->descriptor < 0)
    {
        weft_status status = errno == ENOENT || errno == ENOTDIR ? WEFT_NOT_FOUND : WEFT_IO;
        return error_set(error, status, path, 0, "cannot be opened: %s", strerror(errno));
    }
    weft_status status = text_check_kind(path, out->descriptor, error);
    status = status == WEFT_OK ? text_fill(out, error) : status;
    status = status == WEFT_OK ? text_check_start(out, error) : status;
    if (status != WEFT_OK)
    {
        text_lines_close(out);
    }
    return status;
}

void text_lines_close(text_lines* lines)
{
    if (lines->descriptor >= 0)
    {
        close(lines->descriptor);
    }
    mem_free(lines->buffer);
    lines->descriptor = -1;
    lines->buffer = NULL;
}

static bool text_is_comment(const char* line, const char* end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
    {
        line++;
    }
    return line < end && *line == '#';
}

// A backslash before the line end (at `end`) is blanked out together with it; true when there was one.
static bool text_join(char* line, char* end)
{
    char* last = end;
    while (last > line && (last[-1] == '\r' || last[-1] == '\n'))
    {
        last--;
    }
    if (last == line || last[-1] != '\\' || text_is_comment(line, last))
    {
        return false;
    }
    memset(last - 1, ' ', (size_t)(end - last + 2));
    return true;
}

// Finds the end of the line that starts at `begin`, reading on and joining where needed. At the file's end the line
// ends with the file.
static weft_status text_find_end(text_lines* lines, char** out_end, weft_error* error)
{
    int scanned = 0; // bytes of this line that hold no line end
    for (;;)
    {
        char* from = lines->buffer + lines->begin + scanned;
        int left = lines->end - lines->begin - scanned;
        char* found = memchr(from, lines->terminator, (size_t)left);
        if (found && text_join(lines->buffer + lines->begin, found))
        {
            scanned = (int)(found - lines->buffer) - lines->begin;
            lines->next_number += lines->next_number < INT32_MAX;
            continue;
        }
        if (found || lines->at_end)
        {
            *out_end = found ? found : lines->buffer + lines->end;
            if (!found)
            {
                text_join(lines->buffer + lines->begin, *out_end); // with nothing: the backslash is just dropped
            }
            return WEFT_OK;
        }
        scanned += left;
        TRY(text_fill(lines, error));
    }
}

weft_status text_lines_next(text_lines* lines, char** out, weft_error* error)
{
    *out = NULL;
    lines->line_number = lines->next_number;
    char* end;
    TRY(text_find_end(lines, &end, error));
    char* line = lines->buffer + lines->begin;
    if (line == lines->buffer + lines->end)
    {
        return WEFT_OK;
    }
    if (memchr(line, 0, (size_t)(end - line)))
    {
        return error_set(error, WEFT_BAD_INPUT, lines->path, lines->line_number,
                         "holds zero bytes, so it is binary data or UTF-16 text: export an OBJ file as UTF-8 text");
    }
    *end = 0;
    lines->begin = (int)(end - lines->buffer) + 1;
    lines->begin = int_min(lines->begin, lines->end); // the last line may lack its line end
    lines->next_number += lines->next_number < INT32_MAX;
    *out = line;
    return WEFT_OK;
}
