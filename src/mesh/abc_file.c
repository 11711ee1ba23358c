// Alembic archives in an Ogawa container: see docs/export-alembic.md for the layout, which the writer in src/export
// follows. Blocks are read when they are needed, so that the size of a file does not matter; every place, count and
// length is checked against the file, as it is untrusted.
//
//     "Ogawa", 255 when whole, version; u64 place of the root group
//     group: u64 count, u64 children, the highest bit of which says data;  data: u64 size, bytes
#define _POSIX_C_SOURCE 200809L
#include "mesh/abc_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
    ARCHIVE_PARTS = 6,
    KEY_SIZE = 16,  // in front of a sample's bytes
    KEYS_SIZE = 32, // behind the headers of an object's children
    INLINE_META = 255,
    HEADERS_MAX = 1 << 24,  // bytes
    VISITS_MAX = 1000000,   // objects and properties: archives that name a group many times end there
    NUMBERS_MAX = 300000000 // of a sample
};

static const uint64_t data_bit = (uint64_t)1 << 63;

struct abc_file
{
    int descriptor;
    uint64_t size;
    char* path;
    weft_error* error; // of the call that is being made
    uint64_t top;
    char (*schema)[64]; // [schema_count] of the table of metadata
    int schema_count;
    abc_times* times; // [time_count]
    int time_count;
    int visits;
};

// ---- bytes

weft_status abc_wrong(const abc_file* f, const char* format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    return error_set(f->error, WEFT_BAD_INPUT, f->path, 0, "%s", message);
}

weft_status abc_no_memory(const abc_file* f)
{
    return error_set(f->error, WEFT_NO_MEMORY, f->path, 0, "there is no memory to read the file");
}

static weft_status read_at(const abc_file* f, uint64_t place, void* out, size_t size)
{
    if (place > f->size || size > f->size - place)
    {
        return abc_wrong(
            f, "the file is cut short or damaged: a block at byte %llu lies outside of its %llu bytes; export it again",
            (unsigned long long)place, (unsigned long long)f->size);
    }
    for (size_t done = 0; done < size;)
    {
        ssize_t got = pread(f->descriptor, (char*)out + done, size - done, (off_t)(place + done));
        if (got < 0 && errno == EINTR)
        {
            continue;
        }
        if (got <= 0)
        {
            return got < 0 ? file_read_error(f->error, f->path, "cannot be read")
                           : abc_wrong(f, "the file became shorter while it was read; try again");
        }
        done += (size_t)got;
    }
    return WEFT_OK;
}

static uint64_t number_of(const unsigned char* at, int size)
{
    uint64_t value = 0;
    for (int k = 0; k < size; k++)
    {
        value |= (uint64_t)at[k] << 8 * k;
    }
    return value;
}

static weft_status number_at(const abc_file* f, uint64_t place, uint64_t* out)
{
    unsigned char bytes[8] = {0};
    TRY(read_at(f, place, bytes, 8));
    *out = number_of(bytes, 8);
    return WEFT_OK;
}

// How many children a group has; one at 0 is empty.
static weft_status group_count(const abc_file* f, uint64_t group, uint64_t* out)
{
    *out = 0;
    TRY(group ? number_at(f, group, out) : WEFT_OK);
    return *out <= f->size / 8 ? WEFT_OK
                               : abc_wrong(f, "the file is damaged: a group has too many parts; export it again");
}

static weft_status child_at(const abc_file* f, uint64_t group, uint64_t index, uint64_t* out)
{
    uint64_t count;
    TRY(group_count(f, group, &count));
    return index < count ? number_at(f, group + 8 + 8 * index, out)
                         : abc_wrong(f, "the file is damaged: a group lacks a part; export it again");
}

static weft_status child_group(const abc_file* f, uint64_t group, uint64_t index, uint64_t* out)
{
    TRY(child_at(f, group, index, out));
    return *out & data_bit ? abc_wrong(f, "the file is damaged: data where a group belongs; export it again") : WEFT_OK;
}

// Where the bytes of data are, and how many.
static weft_status data_at(const abc_file* f, uint64_t child, uint64_t* place, uint64_t* size)
{
    *place = (child & ~data_bit) + 8;
    *size = 0;
    if (!(child & data_bit))
    {
        return abc_wrong(f, "the file is damaged: a group where data belong; export it again");
    }
    TRY(child != data_bit ? number_at(f, *place - 8, size) : WEFT_OK);
    return *size <= f->size ? WEFT_OK : abc_wrong(f, "the file is cut short or damaged; export it again");
}

// A header whole, with a zero behind it; mem_free'd by the caller.
typedef struct header
{
    unsigned char* bytes;
    uint64_t size, at;
} header;

static weft_status header_read(const abc_file* f, uint64_t group, uint64_t index, header* out)
{
    uint64_t child, place;
    *out = (header){0};
    TRY(child_at(f, group, index, &child));
    TRY(data_at(f, child, &place, &out->size));
    if (out->size > HEADERS_MAX)
    {
        return abc_wrong(f, "the file is damaged: a header of %llu bytes", (unsigned long long)out->size);
    }
    out->bytes = mem_alloc((size_t)out->size + 1, 1);
    return out->bytes ? read_at(f, place, out->bytes, (size_t)out->size) : abc_no_memory(f);
}

static weft_status take(const abc_file* f, header* h, uint64_t size, const unsigned char** out)
{
    if (size > h->size - h->at)
    {
        return abc_wrong(f, "the file is damaged: a header is cut; export it again");
    }
    *out = h->bytes + h->at;
    h->at += size;
    return WEFT_OK;
}

static weft_status take_number(const abc_file* f, header* h, int size, uint64_t* out)
{
    const unsigned char* bytes = NULL;
    TRY(take(f, h, (uint64_t)size, &bytes));
    *out = number_of(bytes, size);
    return WEFT_OK;
}

static weft_status take_double(const abc_file* f, header* h, double* out)
{
    uint64_t bits;
    TRY(take_number(f, h, 8, &bits));
    memcpy(out, &bits, sizeof(*out));
    return isfinite(*out) ? WEFT_OK : abc_wrong(f, "the file is damaged: a time is not finite");
}

static void copy_text(char* out, size_t room, const unsigned char* text, uint64_t size)
{
    size_t length = size < room - 1 ? (size_t)size : room - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

// "...;schema=AbcGeom_PolyMesh_v1;..."
static void schema_of(const unsigned char* text, uint64_t size, char out[64])
{
    char whole[1024];
    copy_text(whole, sizeof(whole), text, size);
    out[0] = '\0';
    const char* at = strncmp(whole, "schema=", 7) == 0 ? whole : strstr(whole, ";schema=");
    if (at)
    {
        at = strchr(at, '=') + 1;
        copy_text(out, 64, (const unsigned char*)at, strcspn(at, ";"));
    }
}

// ---- the archive

static weft_status samplings_read(abc_file* f, header* h)
{
    int capacity = 0;
    while (h->at < h->size)
    {
        uint64_t most, count;
        double cycle;
        TRY(take_number(f, h, 4, &most));
        TRY(take_double(f, h, &cycle));
        TRY(take_number(f, h, 4, &count));
        if (count == 0 || count > (h->size - h->at) / 8)
        {
            return abc_wrong(f, "the file is damaged: a time sampling of %llu times", (unsigned long long)count);
        }
        if (!mem_grow((void**)&f->times, &capacity, f->time_count + 1, sizeof(abc_times)))
        {
            return abc_no_memory(f);
        }
        abc_times* t = &f->times[f->time_count++];
        *t = (abc_times){.cycle = cycle, .time = mem_alloc((size_t)count, sizeof(double)), .count = (int)count};
        for (int k = 0; k < t->count; k++)
        {
            TRY(t->time ? take_double(f, h, &t->time[k]) : abc_no_memory(f));
        }
    }
    return WEFT_OK;
}

static weft_status table_read(abc_file* f, header* h)
{
    int capacity = 0;
    do // the first is no metadata, and not in the file
    {
        const unsigned char* text = NULL;
        uint64_t size = 0;
        if (f->schema_count > 0)
        {
            TRY(take_number(f, h, 1, &size));
            TRY(take(f, h, size, &text));
        }
        if (!mem_grow((void**)&f->schema, &capacity, f->schema_count + 1, sizeof(f->schema[0])))
        {
            return abc_no_memory(f);
        }
        schema_of(text ? text : (const unsigned char*)"", size, f->schema[f->schema_count++]);
    } while (h->at < h->size);
    return WEFT_OK;
}

static weft_status archive_read(abc_file* f)
{
    unsigned char start[16] = {0};
    uint64_t root, count;
    header h;
    if (f->size < sizeof(start))
    {
        return abc_wrong(f, "this is no Alembic file: it has %llu bytes", (unsigned long long)f->size);
    }
    TRY(read_at(f, 0, start, sizeof(start)));
    if (memcmp(start, "\x89HDF", 4) == 0)
    {
        return abc_wrong(f, "this Alembic file has the old container, HDF5; export it as Ogawa");
    }
    if (memcmp(start, "Ogawa", 5) != 0)
    {
        return abc_wrong(f, "this is no Alembic file: it does not begin with Ogawa");
    }
    if (start[5] != 255)
    {
        return abc_wrong(f, "the file is not whole: whoever wrote it did not come to the end; export it again");
    }
    root = number_of(start + 8, 8);
    TRY(group_count(f, root, &count));
    if (count < ARCHIVE_PARTS)
    {
        return abc_wrong(f, "the archive has %llu parts instead of %d; export it again", (unsigned long long)count,
                         ARCHIVE_PARTS);
    }
    TRY(child_group(f, root, 2, &f->top));
    weft_status status = header_read(f, root, 4, &h);
    status = status == WEFT_OK ? samplings_read(f, &h) : status;
    mem_free(h.bytes);
    TRY(status);
    status = header_read(f, root, 5, &h);
    status = status == WEFT_OK ? table_read(f, &h) : status;
    mem_free(h.bytes);
    return status;
}

weft_status abc_open(const char* path, abc_file** out, weft_error* error)
{
    *out = NULL;
    abc_file* f = MEM_NEW(1, abc_file);
    if (!f)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "there is no memory to read the file");
    }
    f->error = error;
    f->path = mem_strdup(path);
    f->descriptor = file_open(path, FILE_TO_READ);
    struct stat info;
    weft_status status = !f->path                      ? abc_no_memory(f)
                         : f->descriptor < 0           ? file_read_error(error, path, "cannot be opened")
                         : fstat(f->descriptor, &info) ? file_read_error(error, path, "cannot be read")
                                                       : WEFT_OK;
    f->size = status == WEFT_OK ? (uint64_t)info.st_size : 0;
    status = status == WEFT_OK ? archive_read(f) : status;
    if (status != WEFT_OK)
    {
        abc_close(f);
        return status;
    }
    *out = f;
    return WEFT_OK;
}

void abc_close(abc_file* f)
{
    if (!f)
    {
        return;
    }
    for (int k = 0; k < f->time_count; k++)
    {
        mem_free(f->times[k].time);
    }
    if (f->descriptor >= 0)
    {
        close(f->descriptor);
    }
    mem_free(f->times);
    mem_free(f->schema);
    mem_free(f->path);
    mem_free(f);
}

// ---- objects and properties

void abc_report(abc_file* f, weft_error* error)
{
    f->error = error;
}

uint64_t abc_top(const abc_file* f)
{
    return f->top;
}

static weft_status count_visit(abc_file* f)
{
    return ++f->visits <= VISITS_MAX ? WEFT_OK : abc_wrong(f, "the file has more objects and properties than are read");
}

static weft_status object_header(abc_file* f, header* h, abc_item* out)
{
    uint64_t size, meta;
    const unsigned char* text = NULL;
    TRY(take_number(f, h, 4, &size));
    TRY(take(f, h, size, &text));
    copy_text(out->name, sizeof(out->name), text, size);
    TRY(take_number(f, h, 1, &meta));
    if (meta == INLINE_META)
    {
        TRY(take_number(f, h, 4, &size));
        TRY(take(f, h, size, &text));
        schema_of(text, size, out->schema);
        return WEFT_OK;
    }
    if (meta >= (uint64_t)f->schema_count)
    {
        return abc_wrong(f, "the file is damaged: metadata %d are not in its table", (int)meta);
    }
    memcpy(out->schema, f->schema[meta], sizeof(out->schema));
    return WEFT_OK;
}

static weft_status objects_visit(abc_file* f, uint64_t object, header* h, uint64_t children, abc_visit_fn* visit,
                                 void* context)
{
    if (h->size < KEYS_SIZE)
    {
        return abc_wrong(f, "the file is damaged: an object has no keys");
    }
    h->size -= KEYS_SIZE;
    for (uint64_t k = 0; k < children; k++)
    {
        abc_item item = {0};
        TRY(count_visit(f));
        TRY(object_header(f, h, &item));
        TRY(child_group(f, object, 1 + k, &item.place));
        TRY(visit(context, &item));
    }
    return WEFT_OK;
}

weft_status abc_each_object(abc_file* f, uint64_t object, abc_visit_fn* visit, void* context)
{
    uint64_t count;
    header h;
    TRY(group_count(f, object, &count));
    if (count < 3)
    {
        return WEFT_OK; // its properties and no child
    }
    weft_status status = header_read(f, object, count - 1, &h);
    status = status == WEFT_OK ? objects_visit(f, object, &h, count - 2, visit, context) : status;
    mem_free(h.bytes);
    return status;
}

// Numbers of a property's header that are one, two or four bytes wide, as it says.
static weft_status property_numbers(const abc_file* f, header* h, uint64_t info, int size, abc_property* out)
{
    uint64_t count, first, last, sampling = 0;
    TRY(take_number(f, h, size, &count));
    first = 1;
    last = count - 1;
    if (info & 0x200)
    {
        TRY(take_number(f, h, size, &first));
        TRY(take_number(f, h, size, &last));
    }
    else if (info & 0x800)
    {
        first = last = 0;
    }
    TRY(info & 0x100 ? take_number(f, h, size, &sampling) : WEFT_OK);
    if (count > INT32_MAX / 4 || (count > 0 && (first > count || last >= count || (first > last && count > 1))) ||
        sampling >= (uint64_t)f->time_count)
    {
        return abc_wrong(f, "the file is damaged: a property of %llu samples; export it again",
                         (unsigned long long)count);
    }
    out->count = (int)count;
    out->first = count > 1 ? (int)first : 0;
    out->last = count > 1 ? (int)last : 0;
    out->sampling = (int)sampling;
    return WEFT_OK;
}

static weft_status property_header(const abc_file* f, header* h, abc_item* out)
{
    static const int sizes[] = {1, 2, 4, 4};
    uint64_t info, length;
    const unsigned char* text = NULL;
    TRY(take_number(f, h, 4, &info));
    int size = sizes[info >> 2 & 3];
    out->is_compound = (info & 3) == 0;
    if (!out->is_compound)
    {
        out->property = (abc_property){
            .is_array = (info & 3) != 1, .pod = (int)(info >> 4 & 15), .extent = (int)(info >> 12 & 255)};
        TRY(property_numbers(f, h, info, size, &out->property));
    }
    TRY(take_number(f, h, size, &length));
    TRY(take(f, h, length, &text));
    copy_text(out->name, sizeof(out->name), text, length);
    if ((info >> 20 & 255) == INLINE_META)
    {
        TRY(take_number(f, h, size, &length));
        TRY(take(f, h, length, &text));
    }
    return WEFT_OK;
}

weft_status abc_each_member(abc_file* f, uint64_t compound, abc_visit_fn* visit, void* context)
{
    uint64_t count;
    header h;
    TRY(group_count(f, compound, &count));
    if (count < 2)
    {
        return WEFT_OK;
    }
    weft_status status = header_read(f, compound, count - 1, &h);
    for (uint64_t k = 0; k + 1 < count && status == WEFT_OK; k++)
    {
        abc_item item = {0};
        status = count_visit(f);
        status = status == WEFT_OK ? property_header(f, &h, &item) : status;
        status = status == WEFT_OK ? child_group(f, compound, k, &item.place) : status;
        item.property.place = item.place;
        status = status == WEFT_OK ? visit(context, &item) : status;
    }
    mem_free(h.bytes);
    return status;
}

weft_status abc_each_property(abc_file* f, uint64_t object, abc_visit_fn* visit, void* context)
{
    uint64_t properties;
    TRY(child_group(f, object, 0, &properties));
    return abc_each_member(f, properties, visit, context);
}

// ---- samples

static double decode(const unsigned char* at, int pod)
{
    static const int sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    uint64_t bits = number_of(at, sizes[pod]);
    uint32_t narrow = (uint32_t)bits;
    float single;
    double whole;
    memcpy(&single, &narrow, sizeof(single));
    memcpy(&whole, &bits, sizeof(whole));
    switch (pod)
    {
    case 2:
        return (int8_t)bits;
    case 4:
        return (int16_t)bits;
    case 6:
        return (int32_t)bits;
    case 8:
        return (double)(int64_t)bits;
    case 10:
        return single;
    case 11:
        return whole;
    default:
        return (double)bits;
    }
}

weft_status abc_numbers(abc_file* f, const abc_property* p, int sample, double** out, int* count)
{
    static const int sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 0, 4, 8}; // halves are not read
    uint64_t child, place, size;
    int stored = p->last == 0 || sample < p->first ? 0 : int_min(sample, p->last) - p->first + 1;
    int width = p->pod < 12 ? sizes[p->pod] : 0;
    if (width == 0)
    {
        return abc_wrong(f, "a property has numbers of kind %d, which is not read; export it with floats", p->pod);
    }
    TRY(child_at(f, p->place, (uint64_t)stored * (p->is_array ? 2 : 1), &child));
    TRY(data_at(f, child, &place, &size));
    size = size >= KEY_SIZE ? size - KEY_SIZE : 0;
    if (size / (uint64_t)width > NUMBERS_MAX || place + KEY_SIZE + size > f->size)
    {
        return abc_wrong(f, "the file is cut short or damaged: a sample of %llu bytes; export it again",
                         (unsigned long long)size);
    }
    *count = (int)(size / (uint64_t)width);
    *out = mem_raw((size_t)*count + 1, sizeof(double));
    unsigned char* bytes = mem_raw((size_t)size + 1, 1);
    weft_status status = *out && bytes ? read_at(f, place + KEY_SIZE, bytes, (size_t)size) : abc_no_memory(f);
    for (int k = 0; k < *count && status == WEFT_OK; k++)
    {
        (*out)[k] = decode(bytes + (size_t)k * (size_t)width, p->pod);
    }
    mem_free(bytes);
    if (status != WEFT_OK)
    {
        mem_free(*out);
        *out = NULL;
    }
    return status;
}

double abc_time(const abc_file* f, const abc_property* p, int sample)
{
    const abc_times* t = &f->times[p->sampling];
    return t->time[sample % t->count] + (sample >= t->count ? t->cycle * (sample / t->count) : 0.0);
}

bool abc_is_even(const abc_file* f, const abc_property* p)
{
    return f->times[p->sampling].count == 1 && f->times[p->sampling].cycle > 0.0;
}
