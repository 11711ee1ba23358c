// Writing JSON.
#ifndef WEFT_JSON_WRITER_H
#define WEFT_JSON_WRITER_H

#include "core/core.h"
#include "math/vec.h"

typedef struct writer
{
    char* text;
    int used, capacity;
    int depth;    // of the brackets that are open
    bool pending; // the next value needs a comma before it
    bool failed;  // no memory
} writer;

void write_raw(writer* w, const char* text);
// Starts a new line with a key; NULL in lists.
void write_key(writer* w, const char* key);
void write_open(writer* w, const char* key, const char* bracket);
void write_close(writer* w, const char* bracket);
void write_number(writer* w, const char* key, double value);
void write_truth(writer* w, const char* key, bool value);
void write_text(writer* w, const char* key, const char* value); // NULL: null
void write_numbers(writer* w, const char* key, const double* values, int count);
void write_vec3(writer* w, const char* key, vec3 v);
// "where": {"vertices": [...]}, ascending; of a welded mesh by the first that each was given as.
void write_where(writer* w, const int* weld, const int* vertices, int count);

#endif
