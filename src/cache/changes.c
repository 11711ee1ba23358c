// See changes.h. With scene_file.c and squeezed.c the only file of this room that touches jansson.
#define _POSIX_C_SOURCE 200809L
#include "cache/changes.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

static const char expected[] = "{\"frame\": 12, \"body\": \"sheet\", \"topology\": 1, \"copies\": [17, 17, 4]}";

static bool int_of(const json_t* value, int least, int* out)
{
    bool good = json_is_integer(value) && json_integer_value(value) >= least && json_integer_value(value) < INT32_MAX;
    *out = good ? (int)json_integer_value(value) : -1;
    return good;
}

static bool copies_of(const json_t* list, topology_change* out)
{
    size_t count = json_array_size(list);
    bool good = json_is_array(list) && count < INT32_MAX / 8;
    for (size_t k = 0; k < count && good; k++)
    {
        good = int_of(json_array_get(list, k), 0, &out->copies[k]);
    }
    out->copy_count = (int)count;
    return good;
}

static weft_status take_line(topology_changes* c, const char* text, size_t length, int line, weft_error* error)
{
    json_error_t reason = {0};
    json_t* object = json_loadb(text, length, 0, &reason);
    const json_t* list = json_object_get(object, "copies");
    const char* name = json_string_value(json_object_get(object, "body"));
    void* items = c->items;
    bool room = mem_grow(&items, &c->capacity, c->count + 1, sizeof(topology_change));
    c->items = items;
    topology_change change = {.line = line};
    change.body = mem_strdup(name ? name : "");
    change.copies = MEM_NEW(json_array_size(list) + 1, int);
    room = room && change.body && change.copies;
    bool good = name && room && int_of(json_object_get(object, "frame"), 1, &change.frame) &&
                int_of(json_object_get(object, "topology"), 1, &change.topology) && copies_of(list, &change);
    json_decref(object);
    if (good)
    {
        c->items[c->count++] = change;
        return WEFT_OK;
    }
    mem_free(change.body);
    mem_free(change.copies);
    return !room ? error_set(error, WEFT_NO_MEMORY, c->path, line, "no memory to read the line")
                 : error_set(
                       error, WEFT_BAD_INPUT, c->path, line,
                       "this is no line like %s with frame and topology from 1%s%.100s; copy the folder again, or run "
                       "the scene again",
                       expected, object ? "" : ": ", object ? "" : reason.text);
}

static weft_status take_text(topology_changes* c, const char* text, size_t size, weft_error* error)
{
    int line = 1;
    const char *begin = text, *end;
    for (; (end = memchr(begin, '\n', (size_t)(text + size - begin))) != NULL; begin = end + 1)
    {
        TRY(take_line(c, begin, (size_t)(end - begin), line++, error));
    }
    return WEFT_OK;
}

static weft_status take_file(topology_changes* c, FILE* file, size_t size, weft_error* error)
{
    char* text = mem_raw(size + 1, 1);
    if (!text)
    {
        return error_set(error, WEFT_NO_MEMORY, c->path, 0, "no memory to read the file");
    }
    size = fread(text, 1, size, file);
    weft_status status = take_text(c, text, size, error);
    mem_free(text);
    return status;
}

static char* path_of(const char* dir)
{
    size_t size = strlen(dir) + sizeof("/frames.jsonl");
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s/frames.jsonl", dir);
    }
    return path;
}

weft_status topology_changes_read(const char* dir, topology_changes* out, weft_error* error)
{
    *out = (topology_changes){.path = path_of(dir)};
    if (!out->path)
    {
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to open the run");
    }
    struct stat info;
    if (stat(out->path, &info) != 0)
    {
        return WEFT_OK;
    }
    FILE* file = S_ISREG(info.st_mode) ? fopen(out->path, "rb") : NULL;
    weft_status status = WEFT_OK;
    if (!file)
    {
        status = S_ISREG(info.st_mode) ? error_set(error, WEFT_IO, out->path, 0, "cannot read: %s", strerror(errno))
                                       : error_set(error, WEFT_BAD_INPUT, out->path, 0,
                                                   "this is no ordinary file; a list of topologies was expected");
    }
    else
    {
        status = take_file(out, file, (size_t)info.st_size, error);
        fclose(file);
    }
    if (status != WEFT_OK)
    {
        topology_changes_finish(out);
    }
    return status;
}

void topology_changes_finish(topology_changes* c)
{
    for (int k = 0; k < c->count; k++)
    {
        mem_free(c->items[k].body);
        mem_free(c->items[k].copies);
    }
    mem_free(c->items);
    mem_free(c->path);
    *c = (topology_changes){0};
}

bool topology_changes_name(const topology_changes* c, const char* name)
{
    for (int k = 0; k < c->count; k++)
    {
        const topology_change* change = &c->items[k];
        size_t length = strlen(change->body);
        char number[16];
        snprintf(number, sizeof(number), ".%d", change->topology);
        if (strncmp(name, change->body, length) == 0 && strcmp(name + length, number) == 0)
        {
            return true;
        }
    }
    return false;
}
