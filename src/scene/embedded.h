// Files that are compiled into the library: shipped scenes (NAME.json) and the schema (schema.json).
#ifndef WEFT_EMBEDDED_H
#define WEFT_EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file
{
    const char* name; // file name without folder
    const char* text; // zero-terminated
    size_t size;
} embedded_file;

extern const embedded_file embedded_files[]; // ends with a NULL name

#endif
