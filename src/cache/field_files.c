// Numbers for vertices beside the positions, NAME.FIELD.field: "WEFTFIELD1\0\0", int32 vertices, int32 samples, int32
// categories (0 or 1), 8 zero bytes, then float32 [sample][vertex], little endian. One sample is for every frame;
// otherwise the first is for the frame in which the body comes.
// Vertices are those of the first topology: torn-off copies show what their origin does.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/field_files.h"
#include "cache/reader.h"

enum
{
    HEADER_SIZE = 32,
    PIECE = 4096, // numbers
    FIELD_NAME_MAX = 100
};

static const char magic[12] = "WEFTFIELD1";
static const char ending[] = ".field";

// ---- bytes

static void put_u32(unsigned char* out, uint32_t value)
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = (unsigned char)(value >> (8 * k));
    }
}

static uint32_t get_u32(const unsigned char* in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static char* field_path(const char* dir, const char* body_name, const char* field_name)
{
    size_t size = strlen(dir) + strlen(body_name) + strlen(field_name) + sizeof(ending) + 3;
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s/%s.%s%s", dir, body_name, field_name, ending);
    }
    return path;
}

// ---- opening

static weft_status check_header(const unsigned char* header, int64_t size, int vertex_count, const char* path, field* f,
                                weft_error* error)
{
    static const char remedy[] = "write it again, or move it away";
    if (size < HEADER_SIZE || memcmp(header, magic, sizeof(magic)) != 0 || get_u32(header + 20) > 1)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "this is no field of a run, or its header is damaged; %s",
                         remedy);
    }
    uint32_t vertices = get_u32(header + 12), samples = get_u32(header + 16);
    if (vertices != (uint32_t)vertex_count)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0, "values for %lu vertices where the body has %d; %s",
                         (unsigned long)vertices, vertex_count, remedy);
    }
    if (samples < 1 || samples > INT32_MAX || (size - HEADER_SIZE) / 4 / vertex_count < (int64_t)samples)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the file is cut or its header damaged: it states %lu samples and holds %lld; %s",
                         (unsigned long)samples, (long long)((size - HEADER_SIZE) / 4 / vertex_count), remedy);
    }
    f->sample_count = (int)samples;
    f->view = (weft_cache_field){.name = f->name, .categories = (int)get_u32(header + 20), .constant = samples == 1};
    return WEFT_OK;
}

static weft_status open_field(const char* path, FILE** out, weft_error* error)
{
    *out = file_stream(path, FILE_TO_READ);
    return *out ? WEFT_OK : file_read_error(error, path, "cannot read");
}

static weft_status read_header(const char* path, int vertex_count, field* f, weft_error* error)
{
    FILE* file;
    TRY(open_field(path, &file, error));
    unsigned char header[HEADER_SIZE] = {0};
    size_t got = fread(header, 1, sizeof(header), file);
    struct stat info;
    int64_t size = got == HEADER_SIZE && fstat(fileno(file), &info) == 0 ? (int64_t)info.st_size : 0;
    fclose(file);
    return check_header(header, size, vertex_count, path, f, error);
}

static weft_status add_field(body* b, const char* dir, const char* name, weft_error* error)
{
    void* fields = b->fields;
    char* copy = mem_strdup(name);
    if (!copy || !mem_grow(&fields, &b->field_capacity, b->field_count + 1, sizeof(field)))
    {
        mem_free(copy);
        return reader_no_memory(dir, error);
    }
    b->fields = fields;
    field* f = &b->fields[b->field_count++];
    *f = (field){.name = copy};
    char* path = field_path(dir, b->name, name);
    weft_status status =
        path ? read_header(path, b->topologies[0].mesh.vertex_count, f, error) : reader_no_memory(dir, error);
    mem_free(path);
    return status;
}

// NAME.FIELD.field of a body that is there: the field's name has no dot, the body's may.
static weft_status take_file(weft_cache* cache, const char* file, weft_error* error)
{
    size_t length = strlen(file), end = sizeof(ending) - 1;
    if (length <= end || strcmp(file + length - end, ending) != 0)
    {
        return WEFT_OK;
    }
    char* stem = mem_strdup(file);
    if (!stem)
    {
        return reader_no_memory(cache->dir, error);
    }
    stem[length - end] = 0;
    char* dot = strrchr(stem, '.');
    weft_status status = WEFT_OK;
    for (int k = 0; k < cache->body_count && dot && dot[1] && status == WEFT_OK; k++)
    {
        *dot = 0;
        bool own = strcmp(stem, cache->bodies[k].name) == 0;
        status = own ? add_field(&cache->bodies[k], cache->dir, dot + 1, error) : WEFT_OK;
    }
    mem_free(stem);
    return status;
}

static int compare_fields(const void* a, const void* b)
{
    return strcmp(((const field*)a)->name, ((const field*)b)->name);
}

weft_status fields_load(weft_cache* cache, weft_error* error)
{
    DIR* folder = opendir(cache->dir);
    if (!folder)
    {
        return error_set(error, WEFT_IO, cache->dir, 0, "the folder of a run cannot be opened: %s", strerror(errno));
    }
    weft_status status = WEFT_OK;
    for (struct dirent* entry = readdir(folder); entry && status == WEFT_OK; entry = readdir(folder))
    {
        status = take_file(cache, entry->d_name, error);
    }
    closedir(folder);
    for (int k = 0; k < cache->body_count; k++)
    {
        body* b = &cache->bodies[k];
        if (b->field_count > 1)
        {
            qsort(b->fields, (size_t)b->field_count, sizeof(field), compare_fields);
        }
    }
    return status;
}

void fields_finish(body* b)
{
    for (int k = 0; k < b->field_count; k++)
    {
        mem_free(b->fields[k].name);
    }
    mem_free(b->fields);
}

// ---- values

static bool read_floats(FILE* file, int count, float* out)
{
    unsigned char bytes[4 * PIECE];
    for (int begin = 0; begin < count; begin += PIECE)
    {
        int size = int_min(PIECE, count - begin);
        if (fread(bytes, 4, (size_t)size, file) != (size_t)size)
        {
            return false;
        }
        for (int k = 0; k < size; k++)
        {
            uint32_t bits = get_u32(bytes + 4 * k);
            memcpy(&out[begin + k], &bits, sizeof(bits));
        }
    }
    return true;
}

// Copies stand behind the vertices that they follow.
static void follow_copies(const weft_cache* cache, int body, int frame, float* out)
{
    int last = weft_cache_topology_of(cache, body, frame);
    int done = weft_cache_topology_at(cache, body, 0)->vertex_count;
    for (int g = 1; g <= last; g++)
    {
        const weft_cache_body* topology = weft_cache_topology_at(cache, body, g);
        for (int v = done; v < topology->vertex_count; v++)
        {
            out[v] = out[topology->origin[v]];
        }
        done = topology->vertex_count;
    }
}

int weft_cache_field_count(const weft_cache* cache, int body)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count);
    return cache->bodies[body].coarse ? 0 : cache->bodies[body].field_count;
}

const weft_cache_field* weft_cache_field_at(const weft_cache* cache, int body, int field)
{
    WEFT_ASSERT(field >= 0 && field < weft_cache_field_count(cache, body));
    return &cache->bodies[body].fields[field].view;
}

weft_status weft_cache_read_field(weft_cache* cache, int body, int index, int frame, float* out, weft_error* error)
{
    WEFT_ASSERT(out && frame >= 0 && index >= 0 && index < weft_cache_field_count(cache, body));
    const field* f = &cache->bodies[body].fields[index];
    int count = weft_cache_body_at(cache, body)->vertex_count,
        sample = f->view.constant ? 0 : body_clamp(&cache->bodies[body], frame) - cache->bodies[body].from;
    char* path = field_path(cache->dir, cache->bodies[body].name, f->name);
    if (!path)
    {
        return reader_no_memory(cache->dir, error);
    }
    FILE* file = NULL;
    weft_status status =
        sample < f->sample_count
            ? open_field(path, &file, error)
            : error_set(error, WEFT_BAD_INPUT, path, 0,
                        "no values for frame %d: the file has %d samples; write it again for all frames", frame,
                        f->sample_count);
    if (file)
    {
        int64_t offset = HEADER_SIZE + 4 * (int64_t)count * sample;
        bool good = fseeko(file, (off_t)offset, SEEK_SET) == 0 && read_floats(file, count, out);
        status = good ? WEFT_OK : error_set(error, WEFT_IO, path, 0, "the file was cut short while it was read");
        fclose(file);
    }
    mem_free(path);
    if (status == WEFT_OK)
    {
        follow_copies(cache, body, frame, out);
    }
    return status;
}

// ---- writing

static void put_floats(const float* values, int count, unsigned char* bytes)
{
    for (int k = 0; k < count; k++)
    {
        uint32_t bits;
        memcpy(&bits, &values[k], sizeof(bits));
        put_u32(bytes + 4 * k, bits);
    }
}

static void write_floats(whole_file* file, const float* values, int64_t count)
{
    unsigned char bytes[4 * PIECE];
    for (int64_t begin = 0; begin < count; begin += PIECE)
    {
        int size = count - begin < PIECE ? (int)(count - begin) : PIECE;
        put_floats(values + begin, size, bytes);
        whole_file_write(file, bytes, 4 * (size_t)size);
    }
}

weft_status weft_cache_field_write(const char* dir, const char* body, const char* field, int categories,
                                   int vertex_count, int sample_count, const float* values, weft_error* error)
{
    WEFT_ASSERT(dir && body && field && values && vertex_count >= 1 && sample_count >= 1);
    size_t length = strlen(field);
    if (length == 0 || length > FIELD_NAME_MAX || strpbrk(field, "./") || strchr(body, '/'))
    {
        return error_set(error, WEFT_BAD_INPUT, dir, 0,
                         "`%.100s` cannot name a field: take 1 to %d letters without dots and slashes", field,
                         FIELD_NAME_MAX);
    }
    char* path = field_path(dir, body, field);
    whole_file file;
    weft_status status = path ? whole_file_open(&file, path, error) : reader_no_memory(dir, error);
    if (status == WEFT_OK)
    {
        unsigned char header[HEADER_SIZE] = {0};
        memcpy(header, magic, sizeof(magic));
        put_u32(header + 12, (uint32_t)vertex_count);
        put_u32(header + 16, (uint32_t)sample_count);
        put_u32(header + 20, categories != 0);
        whole_file_write(&file, header, sizeof(header));
        write_floats(&file, values, (int64_t)vertex_count * sample_count);
        status = whole_file_close(&file, error);
    }
    mem_free(path);
    return status;
}

// ---- files that grow with a run

static bool append_floats(FILE* file, const float* values, int count)
{
    unsigned char bytes[4 * PIECE];
    bool good = true;
    for (int begin = 0; begin < count && good; begin += PIECE)
    {
        int size = int_min(PIECE, count - begin);
        put_floats(values + begin, size, bytes);
        good = fwrite(bytes, 4, (size_t)size, file) == (size_t)size;
    }
    return good && fflush(file) == 0;
}

// The count last: a reader, or a run that is killed, meets whole samples.
static bool append_sample(FILE* file, int sample, int vertex_count, const float* values)
{
    unsigned char count[4];
    put_u32(count, (uint32_t)sample + 1);
    off_t end = HEADER_SIZE + 4 * (off_t)vertex_count * sample;
    return fseeko(file, end, SEEK_SET) == 0 && append_floats(file, values, vertex_count) &&
           ftruncate(fileno(file), end + 4 * (off_t)vertex_count) == 0 && fseeko(file, 16, SEEK_SET) == 0 &&
           fwrite(count, 1, sizeof(count), file) == sizeof(count) && fflush(file) == 0;
}

static weft_status append_to(const char* path, int sample, int vertex_count, const float* values, weft_error* error)
{
    field f = {0};
    TRY(read_header(path, vertex_count, &f, error));
    if (f.sample_count < sample)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "the field is shorter than the checkpoint says; start over with --force");
    }
    FILE* file = file_stream(path, FILE_TO_CHANGE);
    if (!file)
    {
        return file_error(error, path, "cannot go on writing");
    }
    bool good = append_sample(file, sample, vertex_count, values);
    good = fclose(file) == 0 && good;
    return good ? WEFT_OK : file_error(error, path, "cannot write");
}

bool field_exists(const char* dir, const char* body, const char* field)
{
    char* path = field_path(dir, body, field);
    struct stat info;
    bool there = path && stat(path, &info) == 0;
    mem_free(path);
    return there;
}

weft_status field_append(const char* dir, const char* body, const char* field, int sample, int vertex_count,
                         const float* values, weft_error* error)
{
    char* path = field_path(dir, body, field);
    weft_status status = path ? append_to(path, sample, vertex_count, values, error) : reader_no_memory(dir, error);
    mem_free(path);
    return status;
}
