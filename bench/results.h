// A results log that survives being killed: one JSON object a line, a line a finished case, flushed at once. A case is
// known by its key, which names everything that its figures depend on; a benchmark skips cases that the log holds.
// After a change of the library's code the log is stale: --fresh starts over.
#ifndef WEFT_BENCH_RESULTS_H
#define WEFT_BENCH_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "weft/types.h"

typedef struct results
{
    FILE* file;
    char** lines; // [count] without the line's end
    int count, capacity;
    char path[512];
} results;

// Reads weft-bench-NAME.jsonl of the current folder or --log FILE, and opens it to append. --fresh empties it first.
weft_status results_open(results* r, const char* name, int argc, char** argv);
// The line of the newest case with this key, or NULL. Lives as long as the log.
const char* results_find(const results* r, const char* key);
// Appends {"key":KEY,FIELDS}; fields is a format as printf takes it, `"iterations":%d,...`.
weft_status results_add(results* r, const char* key, const char* fields, ...) __attribute__((format(printf, 3, 4)));
void results_close(results* r);

// A number of a line; NaN when it is not there or null. line may be NULL.
double results_number(const char* line, const char* field);
// Room for a number in JSON, which has no NaN: prints it, or null, into out, and returns out.
const char* results_json(double value, char out[32]);

#endif
