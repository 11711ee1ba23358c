// A set of integers that is filled and emptied in time linear in what it holds.
#ifndef WEFT_INT_SET_H
#define WEFT_INT_SET_H

#include "core/core.h"

enum
{
    SET_SMALL = 24, // so many are in the list only, the others in the slots too
    SET_RECENT = 64
};

typedef struct int_set
{
    int* slot; // [slots] value + 1, 0: empty; at most half full
    int slots; // a power of two
    int* list; // [capacity] what is in it
    int count, capacity;
    bool failed;
    int recent[SET_RECENT]; // value + 1 of what was added last among those with the same low bits
} int_set;

void int_set_insert(int_set* set, int value);

// What is added must not be negative. Neighbouring rows bring the same numbers again and again.
static inline void int_set_add(int_set* set, int value)
{
    int* recent = &set->recent[(unsigned)value % SET_RECENT];
    if (*recent != value + 1)
    {
        *recent = value + 1;
        int_set_insert(set, value);
    }
}

void int_set_clear(int_set* set);
void int_set_finish(int_set* set);
void sort_ints(int* list, int count);

#endif
