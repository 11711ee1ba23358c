// A heap of ways: the shortest first, ties by number, so that the order is one.
#ifndef WEFT_WAY_HEAP_H
#define WEFT_WAY_HEAP_H

#include "core/core.h"

typedef struct way
{
    double distance;
    int vertex;
} way;

typedef struct way_heap
{
    way* item; // [count]
    int count, capacity;
} way_heap;

weft_status way_heap_push(way_heap* heap, way item);
way way_heap_pop(way_heap* heap);     // of one that holds something
void way_heap_finish(way_heap* heap); // zeroed is fine

#endif
