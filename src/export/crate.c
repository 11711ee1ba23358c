// The container of crate files (OpenUSD's usdc), by the layout that OpenUSD's crateFile.cpp describes. At the start the
// mark PXR-USDC, the version and the place of the table of contents; then values, in the order in which they come; then
// the sections:
//
//   TOKENS     every word once           STRINGS  tokens of strings
//   FIELDS     a token and a value each  FIELDSETS  fields of each spec, -1 behind them
//   PATHS      the tree, depth first: index, token (negative: of a property), and where the next sibling is
//   SPECS      path, set of fields and type of every prim and property
#define _POSIX_C_SOURCE 200809L
#include "export/crate.h"

#include <string.h>

enum
{
    HEAD_SIZE = 88,
    SECTIONS = 6
};

// ---- bytes

void crate_put(crate* c, const void* bytes, size_t size)
{
    whole_file_write(c->file, bytes, size);
    c->size += (int64_t)size;
}

void crate_put_ints(crate* c, const int* values, int64_t count)
{
    export_put_ints(c->file, values, count);
    c->size += count * (int64_t)sizeof(int);
}

void crate_put_floats(crate* c, const double* values, int64_t count)
{
    export_put_floats(c->file, values, count);
    c->size += count * (int64_t)sizeof(float);
}

void crate_put_words(crate* c, const uint64_t* values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
    {
        unsigned char bytes[8];
        for (int b = 0; b < 8; b++)
        {
            bytes[b] = (unsigned char)(values[k] >> 8 * b);
        }
        crate_put(c, bytes, sizeof(bytes));
    }
}

void crate_put_doubles(crate* c, const double* values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
    {
        uint64_t word;
        memcpy(&word, &values[k], sizeof(word));
        crate_put_words(c, &word, 1);
    }
}

static void put_count(crate* c, uint64_t count)
{
    crate_put_words(c, &count, 1);
}

void crate_align(crate* c)
{
    static const char zeros[8] = {0};
    crate_put(c, zeros, (size_t)(-c->size & 7));
}

// ---- lists, tokens, strings

void crate_push(crate* c, crate_list* list, int value)
{
    if (!mem_grow((void**)&list->at, &list->capacity, list->count + 1, sizeof(int)))
    {
        c->no_memory = true;
        return;
    }
    list->at[list->count++] = value;
}

void crate_list_finish(crate_list* list)
{
    mem_free(list->at);
    *list = (crate_list){0};
}

static const char* word_of(const crate* c, int token)
{
    return c->words + c->token.at[token];
}

// The slot of a word: that which has it, or is free.
static int* find_slot(const crate* c, const char* words)
{
    uint64_t mask = (uint64_t)c->slot.count - 1, at = hash_bytes(0, words, strlen(words)) & mask;
    while (c->slot.at[at] > 0 && strcmp(word_of(c, c->slot.at[at] - 1), words) != 0)
    {
        at = (at + 1) & mask;
    }
    return &c->slot.at[at];
}

// Twice as many slots as tokens at least.
static bool make_slots(crate* c)
{
    if (c->slot.count > 2 * c->token.count)
    {
        return true;
    }
    int count = int_max(256, 2 * c->slot.count);
    int* slots = MEM_NEW(count, int);
    if (!slots)
    {
        c->no_memory = true;
        return false;
    }
    mem_free(c->slot.at);
    c->slot = (crate_list){.at = slots, .count = count};
    for (int token = 0; token < c->token.count; token++)
    {
        *find_slot(c, word_of(c, token)) = token + 1;
    }
    return true;
}

int crate_token(crate* c, const char* words)
{
    int size = (int)strlen(words) + 1;
    if (!make_slots(c))
    {
        return 0;
    }
    int* slot = find_slot(c, words);
    if (*slot > 0)
    {
        return *slot - 1;
    }
    int token = c->token.count;
    if (!mem_grow((void**)&c->words, &c->words_capacity, c->words_size + size, 1))
    {
        c->no_memory = true;
        return 0;
    }
    memcpy(c->words + c->words_size, words, (size_t)size);
    crate_push(c, &c->token, c->words_size);
    if (c->token.count == token)
    {
        return 0;
    }
    c->words_size += size;
    *slot = token + 1;
    return token;
}

int crate_string(crate* c, const char* words)
{
    char* clean = MEM_NEW(strlen(words) + 5, char);
    if (!clean)
    {
        c->no_memory = true;
        return 0;
    }
    export_text_clean(words, clean);
    int token = crate_token(c, clean);
    mem_free(clean);
    crate_push(c, &c->string, token);
    return c->string.count - 1;
}

// ---- fields, paths, specs

void crate_field(crate* c, const char* name, uint64_t value)
{
    int field = c->field.count;
    if (!mem_grow((void**)&c->value, &c->value_capacity, field + 1, sizeof(uint64_t)))
    {
        c->no_memory = true;
        return;
    }
    c->value[field] = value;
    crate_push(c, &c->field, crate_token(c, name));
    crate_push(c, &c->set, field);
}

// The set of the spec begins behind that of the last one.
void crate_spec(crate* c, int path, crate_spec_type type)
{
    int first = c->set.count;
    while (first > 0 && c->set.at[first - 1] >= 0)
    {
        first--;
    }
    crate_push(c, &c->set, -1);
    crate_push(c, &c->spec, path);
    crate_push(c, &c->spec, first);
    crate_push(c, &c->spec, (int)type);
}

int crate_child(crate* c, int parent, const char* name, bool property)
{
    int token = crate_token(c, name);
    for (int k = c->path_count > 0 ? c->path[parent].child : -1; k >= 0; k = c->path[k].next)
    {
        if (c->path[k].token == token && c->path[k].property == property)
        {
            return k;
        }
    }
    int path = c->path_count;
    if (!mem_grow((void**)&c->path, &c->path_capacity, path + 1, sizeof(crate_path)))
    {
        c->no_memory = true;
        return 0;
    }
    c->path[path] = (crate_path){.token = token, .child = -1, .last_child = -1, .next = -1, .property = property};
    c->path_count++;
    if (path > 0)
    {
        crate_path* up = &c->path[parent];
        up->child = up->child < 0 ? path : up->child;
        up->last_child >= 0 ? (void)(c->path[up->last_child].next = path) : (void)0;
        up->last_child = path;
    }
    return path;
}

// ---- sections

static void put_packed(crate* c, unsigned char* packed, size_t size)
{
    if (!packed)
    {
        c->no_memory = true;
        return;
    }
    put_count(c, size);
    crate_put(c, packed, size);
    mem_free(packed);
}

static void put_ints(crate* c, const int* values, int count)
{
    size_t size = 0;
    unsigned char* packed = crate_pack_ints(values, count, &size);
    put_packed(c, packed, size);
}

static void put_tokens(crate* c)
{
    size_t size = 0;
    put_count(c, (uint64_t)c->token.count);
    put_count(c, (uint64_t)c->words_size);
    unsigned char* packed = crate_pack_bytes(c->words, (size_t)c->words_size, &size);
    put_packed(c, packed, size);
}

static void put_strings(crate* c)
{
    put_count(c, (uint64_t)c->string.count);
    crate_put_ints(c, c->string.at, c->string.count);
}

static void put_fields(crate* c)
{
    size_t count = (size_t)c->field.count, size = 0;
    put_count(c, count);
    put_ints(c, c->field.at, c->field.count);
    unsigned char* bytes = MEM_NEW(8 * count + 1, unsigned char);
    for (size_t k = 0; k < 8 * count && bytes; k++)
    {
        bytes[k] = (unsigned char)(c->value[k / 8] >> 8 * (k % 8));
    }
    unsigned char* packed = bytes ? crate_pack_bytes(bytes, 8 * count, &size) : NULL;
    put_packed(c, packed, size);
    mem_free(bytes);
}

static void put_sets(crate* c)
{
    put_count(c, (uint64_t)c->set.count);
    put_ints(c, c->set.at, c->set.count);
}

// The tree as three lists, each node behind its parent.
typedef struct path_lists
{
    crate_list index, token, jump;
} path_lists;

// Jumps: -2 neither child nor sibling, -1 a child alone, 0 a sibling alone, else how far behind the sibling is.
static void list_paths(crate* c, int path, path_lists* out)
{
    for (; path >= 0; path = c->path[path].next)
    {
        const crate_path* p = &c->path[path];
        int place = out->index.count;
        crate_push(c, &out->index, path);
        crate_push(c, &out->token, p->property ? -p->token : p->token);
        crate_push(c, &out->jump, p->next >= 0 ? 0 : -2);
        if (c->no_memory)
        {
            return;
        }
        if (p->child >= 0)
        {
            list_paths(c, p->child, out);
            out->jump.at[place] = p->next >= 0 ? out->index.count - place : -1;
        }
    }
}

static void put_paths(crate* c)
{
    path_lists lists = {0};
    list_paths(c, 0, &lists);
    put_count(c, (uint64_t)c->path_count);
    put_count(c, (uint64_t)lists.index.count);
    put_ints(c, lists.index.at, lists.index.count);
    put_ints(c, lists.token.at, lists.token.count);
    put_ints(c, lists.jump.at, lists.jump.count);
    crate_list_finish(&lists.index);
    crate_list_finish(&lists.token);
    crate_list_finish(&lists.jump);
}

static void put_specs(crate* c)
{
    int count = c->spec.count / 3;
    int* column = MEM_NEW(int_max(count, 1), int);
    put_count(c, (uint64_t)count);
    for (int k = 0; k < 3 && column; k++)
    {
        for (int s = 0; s < count; s++)
        {
            column[s] = c->spec.at[3 * s + k];
        }
        put_ints(c, column, count);
    }
    c->no_memory |= column == NULL;
    mem_free(column);
}

// ---- the file

static void put_head(crate* c, int64_t contents)
{
    static const unsigned char mark[16] = {'P', 'X', 'R', '-', 'U', 'S', 'D', 'C', 0, 8, 0};
    const uint64_t rest[9] = {(uint64_t)contents};
    crate_put(c, mark, sizeof(mark));
    crate_put_words(c, rest, 9);
}

void crate_begin(crate* c, whole_file* file, int64_t start)
{
    *c = (crate){.file = file, .start = start};
    put_head(c, 0);
}

weft_status crate_end(crate* c, const char* target, weft_error* error)
{
    static const struct
    {
        char name[16];
        void (*put)(crate* c);
    } sections[SECTIONS] = {{"TOKENS", put_tokens},  {"STRINGS", put_strings}, {"FIELDS", put_fields},
                            {"FIELDSETS", put_sets}, {"PATHS", put_paths},     {"SPECS", put_specs}};
    uint64_t place[SECTIONS][2];
    for (int k = 0; k < SECTIONS && !c->no_memory; k++)
    {
        crate_align(c);
        place[k][0] = (uint64_t)c->size;
        sections[k].put(c);
        place[k][1] = (uint64_t)c->size - place[k][0];
    }
    if (c->no_memory)
    {
        return error_set(error, WEFT_NO_MEMORY, NULL, 0, "no memory to write the file");
    }
    int64_t contents = c->size;
    put_count(c, SECTIONS);
    for (int k = 0; k < SECTIONS; k++)
    {
        crate_put(c, sections[k].name, sizeof(sections[k].name));
        crate_put_words(c, place[k], 2);
    }
    int64_t size = c->size;
    if (fseeko(c->file->stream, (off_t)c->start, SEEK_SET) != 0)
    {
        return file_error(error, target, "cannot write");
    }
    put_head(c, contents);
    c->size = size;
    return fseeko(c->file->stream, 0, SEEK_END) == 0 ? WEFT_OK : file_error(error, target, "cannot write");
}

void crate_finish(crate* c)
{
    crate_list* const lists[] = {&c->token, &c->slot, &c->string, &c->field, &c->set, &c->spec};
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
    {
        crate_list_finish(lists[k]);
    }
    mem_free(c->words);
    mem_free(c->value);
    mem_free(c->path);
}
