// stats.jsonl as columns. Every number of a line is one, by its key, or `object.key` one level down; lists count as
// their lengths. So that whatever a method counts becomes a curve without anything being written here. The file may be
// cut or written by hand: lines that are no objects are counted and left out.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/tree.h"
#include "view/packing.h"

enum
{
    LINE_BYTES = 1 << 26, // a longer line is damaged
    COLUMNS_MAX = 256
};

void stats_columns_finish(stats_columns* stats)
{
    for (int k = 0; k < stats->column_count; k++)
    {
        mem_free(stats->names[k]);
        mem_free(stats->values[k]);
    }
    mem_free(stats->names);
    mem_free(stats->values);
    *stats = (stats_columns){0};
}

void stats_columns_pack(const stats_columns* stats, packet* out)
{
    for (int k = 0; k < stats->column_count; k++)
    {
        for (int row = 0; row < stats->row_count; row++)
        {
            packet_float(out, stats->values[k][row]);
        }
    }
}

// ---- columns

static int column_find(const stats_columns* s, const char* name)
{
    for (int k = 0; k < s->column_count; k++)
    {
        if (strcmp(s->names[k], name) == 0)
        {
            return k;
        }
    }
    return -1;
}

static weft_status column_add(stats_columns* s, const char* name)
{
    if (!s->names)
    {
        s->names = MEM_NEW(COLUMNS_MAX, char*);
        s->values = MEM_NEW(COLUMNS_MAX, float*);
    }
    char* copy = mem_strdup(name);
    float* values = MEM_NEW(s->row_capacity, float);
    if (!s->names || !s->values || !copy || !values)
    {
        mem_free(copy);
        mem_free(values);
        return WEFT_NO_MEMORY;
    }
    for (int row = 0; row < s->row_capacity; row++)
    {
        values[row] = NAN;
    }
    s->names[s->column_count] = copy;
    s->values[s->column_count++] = values;
    return WEFT_OK;
}

static weft_status rows_reserve(stats_columns* s)
{
    if (s->row_count < s->row_capacity)
    {
        return WEFT_OK;
    }
    int capacity = int_max(256, 2 * s->row_capacity);
    for (int k = 0; k < s->column_count; k++)
    {
        float* values = MEM_NEW(capacity, float);
        if (!values)
        {
            return WEFT_NO_MEMORY;
        }
        memcpy(values, s->values[k], (size_t)s->row_count * sizeof(float));
        for (int row = s->row_count; row < capacity; row++)
        {
            values[row] = NAN;
        }
        mem_free(s->values[k]);
        s->values[k] = values;
    }
    s->row_capacity = capacity;
    return WEFT_OK;
}

static weft_status take_number(stats_columns* s, const char* name, double value)
{
    int k = column_find(s, name);
    if (k < 0 && s->column_count == COLUMNS_MAX)
    {
        return WEFT_OK;
    }
    if (k < 0)
    {
        TRY(column_add(s, name));
        k = s->column_count - 1;
    }
    s->values[k][s->row_count] = (float)value;
    return WEFT_OK;
}

// ---- lines

static weft_status take_object(stats_columns* s, const tree_node* object, const char* prefix)
{
    for (const tree_node* node = object->first; node; node = node->next)
    {
        char name[128];
        int length = snprintf(name, sizeof(name), "%s%s%s", prefix, prefix[0] ? "." : "", node->key);
        if (length >= (int)sizeof(name))
        {
            continue;
        }
        if (node->kind == TREE_NUMBER || node->kind == TREE_ARRAY)
        {
            TRY(take_number(s, name, node->kind == TREE_NUMBER ? node->number : node->child_count));
        }
        else if (node->kind == TREE_OBJECT && !prefix[0])
        {
            TRY(take_object(s, node, name));
        }
    }
    return WEFT_OK;
}

static weft_status take_line(stats_columns* s, char* line, size_t size)
{
    tree t = {0};
    tree_node* root = NULL;
    weft_status status = tree_parse(&t, "", line, size, &root, NULL);
    if (status == WEFT_OK)
    {
        status = rows_reserve(s);
        status = status == WEFT_OK ? take_object(s, root, "") : status;
        s->row_count++;
    }
    else if (status != WEFT_NO_MEMORY)
    {
        s->damaged++;
        status = WEFT_OK;
    }
    tree_finish(&t);
    return status;
}

// ---- the file

typedef struct line_buffer
{
    char* text;
    int used, capacity;
    bool too_long;
} line_buffer;

static weft_status line_end(line_buffer* line, stats_columns* s)
{
    weft_status status = WEFT_OK;
    if (line->too_long)
    {
        s->damaged++;
    }
    else if (line->used > 0)
    {
        line->text[line->used] = '\0';
        status = take_line(s, line->text, (size_t)line->used);
    }
    line->used = 0;
    line->too_long = false;
    return status;
}

static weft_status line_take(line_buffer* line, const char* bytes, size_t size, stats_columns* s)
{
    for (size_t k = 0; k < size; k++)
    {
        if (bytes[k] == '\n')
        {
            TRY(line_end(line, s));
            continue;
        }
        line->too_long = line->too_long || line->used >= LINE_BYTES;
        if (line->too_long)
        {
            continue;
        }
        if (!mem_grow((void**)&line->text, &line->capacity, line->used + 2, 1))
        {
            return WEFT_NO_MEMORY;
        }
        line->text[line->used++] = bytes[k];
    }
    return WEFT_OK;
}

static weft_status read_lines(FILE* file, stats_columns* s)
{
    static const size_t block = 1 << 16;
    line_buffer line = {0};
    char* bytes = mem_raw(block, 1);
    weft_status status = bytes ? WEFT_OK : WEFT_NO_MEMORY;
    for (size_t got = 1; status == WEFT_OK && got > 0;)
    {
        got = fread(bytes, 1, block, file);
        status = line_take(&line, bytes, got, s);
    }
    // A last line without an end may still be written: it is not damaged.
    int damaged = s->damaged;
    status = status == WEFT_OK ? line_end(&line, s) : status;
    s->damaged = damaged;
    mem_free(bytes);
    mem_free(line.text);
    return status;
}

weft_status stats_columns_read(const char* path, stats_columns* out, weft_error* error)
{
    *out = (stats_columns){0};
    FILE* file = file_stream(path, FILE_TO_READ);
    if (!file)
    {
        return errno == ENOENT ? WEFT_OK : file_error(error, path, "cannot read");
    }
    weft_status status = read_lines(file, out);
    bool broken = ferror(file) != 0;
    fclose(file);
    if (broken || status != WEFT_OK)
    {
        stats_columns_finish(out);
        return broken ? error_set(error, WEFT_IO, path, 0, "reading failed")
                      : error_set(error, status, path, 0, "no memory to read the stats");
    }
    return WEFT_OK;
}
