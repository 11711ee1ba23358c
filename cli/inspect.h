// What the files of `weft inspect` share.
#ifndef WEFT_CLI_INSPECT_H
#define WEFT_CLI_INSPECT_H

#include <stdbool.h>

#include "weft/cache.h"
#include "weft/inspect.h"

// One listed pair, so that it is found by its face.
typedef struct squeezed_key
{
    int face_body, face[3]; // vertices ascending
    int edge_body, edge[2];
} squeezed_key;

// Pairs that the run has listed as squeezed, and scratch of a frame.
typedef struct squeezed_lists
{
    const weft_cache* cache;
    weft_cache_squeezed* list;
    squeezed_key* keys;    // [key_capacity]
    weft_crossing* others; // [other_capacity] crossings that the list does not explain
    int key_capacity, other_capacity;
} squeezed_lists;

bool squeezed_any(const squeezed_lists* s, int first, int last); // in these frames
// Takes crossings that a listed pair explains out of `found`, which must list all of them, and counts them.
weft_status squeezed_part(squeezed_lists* s, int frame, weft_inspection* found, int64_t* squeezed, weft_error* error);
void squeezed_close(squeezed_lists* s); // zeroed is fine

#endif
