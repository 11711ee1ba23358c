// See changes.h. With scene_file.c and squeezed.c the only file of this room that touches jansson.
#define _POSIX_C_SOURCE 200809L
#include "cache/changes.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char expected[] = "{\"frame\": 12, \"body\": \"sheet\", \"topology\": 1, \"copies\": [17, 17, 4]}";
const char change_obstacles[] = "obstacles";

char* topology_path(const char* dir, const char* name, int topology, const char* ending)
{
    size_t size = strlen(dir) + strlen(name) + strlen(ending) + 16;
    char* path = mem_alloc(size, 1);
    if (path && topology > 0)
    {
        snprintf(path, size, "%s/%s.%d%s", dir, name, topology, ending);
    }
    else if (path)
    {
        snprintf(path, size, "%s/%s%s", dir, name, ending);
    }
    return path;
}

// ---- a line

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

static void change_finish(topology_change* change)
{
    mem_free(change->body);
    mem_free(change->list);
    mem_free(change->copies);
}

static bool coming_of(const json_t* object, topology_change* out)
{
    const json_t* thickness = json_object_get(object, "thickness");
    out->kind = CHANGE_COMES;
    out->thickness = json_number_value(thickness);
    return out->list && int_of(json_object_get(object, "id"), 0, &out->id) && json_is_number(thickness) &&
           out->thickness >= 0.0 && isfinite(out->thickness) && out->topology == 0;
}

// A line that comes has a list, one that goes says so, one that tears has copies.
static bool change_of(const json_t* object, topology_change* out)
{
    const json_t *list = json_object_get(object, "list"), *gone = json_object_get(object, "gone");
    out->kind = gone ? CHANGE_GOES : CHANGE_TEARS;
    bool tears = !gone && !list;
    if (!int_of(json_object_get(object, "frame"), tears ? 1 : 0, &out->frame) || strchr(out->body, '/'))
    {
        return false;
    }
    if (gone)
    {
        return json_is_true(gone);
    }
    return int_of(json_object_get(object, "topology"), tears ? 1 : 0, &out->topology) &&
           (tears ? copies_of(json_object_get(object, "copies"), out) : coming_of(object, out));
}

static weft_status take_line(topology_changes* c, const char* text, size_t length, topology_change change,
                             weft_error* error)
{
    json_error_t reason = {0};
    json_t* object = json_loadb(text, length, 0, &reason);
    const char* name = json_string_value(json_object_get(object, "body"));
    const char* list = json_string_value(json_object_get(object, "list"));
    void* items = c->items;
    bool room = mem_grow(&items, &c->capacity, c->count + 1, sizeof(topology_change));
    c->items = items;
    change.body = mem_strdup(name ? name : "");
    change.list = list ? mem_strdup(list) : NULL;
    change.copies = MEM_NEW(json_array_size(json_object_get(object, "copies")) + 1, int);
    room = room && change.body && change.copies && (change.list || !list);
    bool good = name && room && change_of(object, &change);
    json_decref(object);
    if (good)
    {
        c->items[c->count++] = change;
        return WEFT_OK;
    }
    change_finish(&change);
    return !room ? error_set(error, WEFT_NO_MEMORY, c->path, change.line, "no memory to read the line")
                 : error_set(
                       error, WEFT_BAD_INPUT, c->path, change.line,
                       "this is no line like %s with frame and topology from 1%s%.100s; copy the folder again, or run "
                       "the scene again",
                       expected, object ? "" : ": ", object ? "" : reason.text);
}

// ---- the file

static weft_status take_text(topology_changes* c, const char* text, size_t size, weft_error* error)
{
    int line = 1;
    const char *begin = text, *end;
    for (; (end = memchr(begin, '\n', (size_t)(text + size - begin))) != NULL; begin = end + 1)
    {
        topology_change change = {.line = line++, .at = (size_t)(begin - text)};
        TRY(take_line(c, begin, (size_t)(end - begin), change, error));
    }
    c->size = (size_t)(begin - text);
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

weft_status topology_changes_read(const char* dir, topology_changes* out, weft_error* error)
{
    *out = (topology_changes){.path = topology_path(dir, "frames", 0, ".jsonl")};
    if (!out->path)
    {
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to open the run");
    }
    struct stat info;
    if (stat(out->path, &info) != 0)
    {
        return WEFT_OK;
    }
    FILE* file = S_ISREG(info.st_mode) ? file_stream(out->path, FILE_TO_READ) : NULL;
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
        change_finish(&c->items[k]);
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
        if (change->kind == CHANGE_TEARS && strncmp(name, change->body, length) == 0 &&
            strcmp(name + length, number) == 0)
        {
            return true;
        }
    }
    return false;
}

const topology_change* topology_changes_coming(const topology_changes* c, const char* body)
{
    for (int k = 0; k < c->count; k++)
    {
        if (c->items[k].kind == CHANGE_COMES && strcmp(c->items[k].body, body) == 0)
        {
            return &c->items[k];
        }
    }
    return NULL;
}

bool topology_changes_never(const topology_changes* c, const char* body)
{
    for (int k = 0; k < c->count; k++)
    {
        if (c->items[k].kind == CHANGE_GOES && c->items[k].frame == 0 && strcmp(c->items[k].body, body) == 0)
        {
            return true;
        }
    }
    return false;
}

// ---- writing

// Names of bodies and of kinds are letters, digits, '-', '_' and '.'.
static void put_change(FILE* f, const topology_change* change)
{
    fprintf(f, "{\"frame\": %d, \"body\": \"%s\", ", change->frame, change->body);
    switch (change->kind)
    {
    case CHANGE_COMES:
        print_to(f, "\"topology\": 0, \"list\": \"%s\", \"id\": %d, \"thickness\": %.17g}\n", change->list, change->id,
                 change->thickness);
        break;
    case CHANGE_GOES:
        fputs("\"gone\": true}\n", f);
        break;
    case CHANGE_TEARS:
        fprintf(f, "\"topology\": %d, \"copies\": [", change->topology);
        for (int k = 0; k < change->copy_count; k++)
        {
            fprintf(f, "%s%d", k > 0 ? ", " : "", change->copies[k]);
        }
        fputs("]}\n", f);
        break;
    }
}

// False with errno: it could not be cut.
static bool cut_back(const char* path, int64_t size)
{
    int descriptor = file_open(path, FILE_TO_CHANGE);
    bool cut = descriptor >= 0 && ftruncate(descriptor, (off_t)size) == 0;
    int code = errno;
    if (descriptor >= 0)
    {
        close(descriptor);
    }
    errno = code;
    return cut;
}

weft_status topology_changes_append(const char* dir, const topology_change* change, weft_error* error)
{
    char* path = topology_path(dir, "frames", 0, ".jsonl");
    FILE* file = path ? file_stream(path, FILE_TO_EXTEND) : NULL;
    weft_status status = WEFT_OK;
    if (!path)
    {
        return error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to write the list of topologies");
    }
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (file)
    {
        put_change(file, change);
    }
    if (!file || fclose(file) != 0)
    {
        status = file_error(error, path, "cannot write");
        // Half a line at most was written: without it the file is good to go on with.
        status = end >= 0 && !cut_back(path, end) ? WEFT_IO : status;
    }
    mem_free(path);
    return status;
}

weft_status topology_changes_cut(const topology_changes* c, int last_frame, weft_error* error)
{
    for (int k = 0; k < c->count; k++)
    {
        if (c->items[k].frame > last_frame)
        {
            return cut_back(c->path, (int64_t)c->items[k].at) ? WEFT_OK : file_error(error, c->path, "cannot cut back");
        }
    }
    return cut_back(c->path, (int64_t)c->size) || errno == ENOENT ? WEFT_OK
                                                                  : file_error(error, c->path, "cannot cut back");
}
