// A binary heap in an array.
#include "core/way_heap.h"

static bool is_nearer(way a, way b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.vertex < b.vertex;
}

weft_status way_heap_push(way_heap* heap, way item)
{
    if (!mem_grow((void**)&heap->item, &heap->capacity, heap->count + 1, sizeof(way)))
    {
        return WEFT_NO_MEMORY;
    }
    int k = heap->count++;
    for (; k > 0 && is_nearer(item, heap->item[(k - 1) / 2]); k = (k - 1) / 2)
    {
        heap->item[k] = heap->item[(k - 1) / 2];
    }
    heap->item[k] = item;
    return WEFT_OK;
}

way way_heap_pop(way_heap* heap)
{
    way first = heap->item[0], last = heap->item[--heap->count];
    int k = 0;
    for (;;)
    {
        int child = 2 * k + 1;
        if (child >= heap->count)
        {
            break;
        }
        child += child + 1 < heap->count && is_nearer(heap->item[child + 1], heap->item[child]);
        if (!is_nearer(heap->item[child], last))
        {
            break;
        }
        heap->item[k] = heap->item[child];
        k = child;
    }
    heap->item[k] = last;
    return first;
}

void way_heap_finish(way_heap* heap)
{
    mem_free(heap->item);
    *heap = (way_heap){0};
}
