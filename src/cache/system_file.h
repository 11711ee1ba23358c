// Linear systems as files: what the Matrix Market and the binary form share.
#ifndef WEFT_SYSTEM_FILE_H
#define WEFT_SYSTEM_FILE_H

#include "solve/system.h"

enum
{
    PATH_LIMIT = 4096
};

// PREFIX followed by ENDING; BAD_INPUT when it is too long.
weft_status system_path(const char* prefix, const char* ending, char path[PATH_LIMIT], weft_error* error);

// A text file, line by line.
typedef struct text_file
{
    FILE* stream;
    const char* path;
    weft_error* error;
    char* buffer; // [capacity + 1]
    size_t capacity;
    size_t begin, end; // of what is in the buffer and not handed out
    int64_t size;      // bytes of the file: no count in a header can be larger
    int line;          // 1-based number of the line handed out last
} text_file;

// NOT_FOUND when there is no such file.
weft_status text_file_open(text_file* text, const char* path, weft_error* error);
void text_file_close(text_file* text);
// *begin is NULL after the last line. The line is without its end and is followed by a zero byte at *end.
weft_status text_file_next(text_file* text, char** begin, char** end);
// Fills the error with the current line.
weft_status text_file_refuse(const text_file* text, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Both move *cursor past blanks and the number; false when there is none or it does not fit.
bool text_parse_count(const char** cursor, int64_t* out);
bool text_parse_number(const char** cursor, double* out); // correctly rounded; may be inf or nan

weft_status matrix_market_read(const char* prefix, weft_system* out, weft_error* error);
weft_status matrix_market_write(const weft_system* system, const char* prefix, weft_error* error);
weft_status weftsys_read(const char* path, weft_system* out, weft_error* error); // NOT_FOUND when there is none
weft_status weftsys_write(const weft_system* system, const char* path, weft_error* error);

#endif
