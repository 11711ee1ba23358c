// A table of names, each once, in order of arrival: open addressing over FNV-1a.
#include <string.h>

#include "mesh/mesh_inside.h"

static uint32_t name_hash(const char* name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
    {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash;
}

// The slot that holds the name, or the free one where it belongs.
static int name_find_slot(const name_table* table, const char* name)
{
    unsigned mask = (unsigned)table->slot_count - 1;
    unsigned k = name_hash(name) & mask;
    while (table->slot[k] >= 0 && strcmp(table->name[table->slot[k]], name) != 0)
    {
        k = (k + 1) & mask;
    }
    return (int)k;
}

// Keeps the table at most half full.
static weft_status name_make_room(name_table* table)
{
    if (table->count < table->slot_count / 2)
    {
        return WEFT_OK;
    }
    if (table->slot_count > INT32_MAX / 4)
    {
        return WEFT_NO_MEMORY;
    }
    int slot_count = int_max(2 * table->slot_count, 16);
    int* slot = MEM_NEW(slot_count, int);
    if (!slot)
    {
        return WEFT_NO_MEMORY;
    }
    memset(slot, 0xff, (size_t)slot_count * sizeof(int));
    mem_free(table->slot);
    table->slot = slot;
    table->slot_count = slot_count;
    for (int k = 0; k < table->count; k++)
    {
        slot[name_find_slot(table, table->name[k])] = k;
    }
    return WEFT_OK;
}

weft_status name_table_add(name_table* table, const char* name, int* out_index)
{
    TRY(name_make_room(table));
    int k = name_find_slot(table, name);
    if (table->slot[k] < 0)
    {
        void* names = table->name;
        bool grown = mem_grow(&names, &table->capacity, table->count + 1, sizeof(char*));
        table->name = names;
        char* copy = grown ? mem_strdup(name) : NULL;
        if (!copy)
        {
            return WEFT_NO_MEMORY;
        }
        table->name[table->count] = copy;
        table->slot[k] = table->count++;
    }
    *out_index = table->slot[k];
    return WEFT_OK;
}

void name_table_finish(name_table* table)
{
    for (int k = 0; k < table->count; k++)
    {
        mem_free(table->name[k]);
    }
    mem_free(table->name);
    mem_free(table->slot);
    *table = (name_table){0};
}
