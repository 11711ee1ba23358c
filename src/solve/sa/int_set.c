#include "solve/sa/int_set.h"

#include <string.h>

static int* int_set_place(const int_set* set, int value)
{
    unsigned mask = (unsigned)set->slots - 1, at = (unsigned)value * 2654435761u >> 8 & mask;
    while (set->slot[at] != 0 && set->slot[at] != value + 1)
    {
        at = (at + 1) & mask;
    }
    return &set->slot[at];
}

static void int_set_grow(int_set* set)
{
    int_set next = {.slots = set->slots > 0 ? 2 * set->slots : 256};
    next.slot = MEM_NEW(next.slots, int);
    set->failed =
        set->failed || !next.slot || !mem_grow((void**)&set->list, &set->capacity, next.slots / 2, sizeof(int));
    if (set->failed)
    {
        mem_free(next.slot);
        return;
    }
    for (int k = SET_SMALL; k < set->count; k++)
    {
        *int_set_place(&next, set->list[k]) = set->list[k] + 1;
    }
    mem_free(set->slot);
    set->slot = next.slot;
    set->slots = next.slots;
}

void int_set_insert(int_set* set, int value)
{
    // Most sets stay small: looking through the list is quicker than hashing.
    int small = int_min(set->count, SET_SMALL);
    for (int k = 0; k < small; k++)
    {
        if (set->list[k] == value)
        {
            return;
        }
    }
    if (2 * set->count >= set->slots && !set->failed)
    {
        int_set_grow(set);
    }
    if (set->failed)
    {
        return;
    }
    if (set->count >= SET_SMALL)
    {
        int* place = int_set_place(set, value);
        if (*place != 0)
        {
            return;
        }
        *place = value + 1;
    }
    set->list[set->count++] = value;
}

void int_set_clear(int_set* set)
{
    if (set->count > SET_SMALL)
    {
        memset(set->slot, 0, (size_t)set->slots * sizeof(int));
    }
    set->count = 0;
    memset(set->recent, 0, sizeof(set->recent));
}

void int_set_finish(int_set* set)
{
    mem_free(set->slot);
    mem_free(set->list);
}

void sort_ints(int* list, int count)
{
    for (int gap = count / 2 > 0 ? count / 2 : 1; gap > 0; gap /= 2)
    {
        for (int k = gap; k < count; k++)
        {
            int value = list[k], at = k;
            for (; at >= gap && list[at - gap] > value; at -= gap)
            {
                list[at] = list[at - gap];
            }
            list[at] = value;
        }
    }
}
