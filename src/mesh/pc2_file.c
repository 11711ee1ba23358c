// PC2 files: "POINTCACHE2\0", int32 version 1, int32 points, float start frame, float sample rate (frames a sample),
// int32 samples, then the samples. The count is written after the bytes of its sample and lowered before a file is cut,
// so that a reader or a resumed run never counts a sample that is not there. Nothing is forced to the disk: the order
// holds against a killed process, not against a power cut.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mesh/pc2_file.h"

enum
{
    HEADER_SIZE = 32, // bytes
    POINTS_AT = 16,   // byte offsets in the header
    START_AT = 20,
    SAMPLES_AT = 28,
    POINT_SIZE = 12, // bytes
    CHUNK_POINTS = 4096
};

static const char pc2_magic[12] = "POINTCACHE2";

struct pc2
{
    int file; // descriptor
    int point_count;
    int sample_count; // complete
    int stated_count; // by the header, when it was opened
    float start;      // frame, likewise
    char* path;       // for messages
};

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

static void put_float(unsigned char* out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_u32(out, bits);
}

static float get_float(const unsigned char* in)
{
    uint32_t bits = get_u32(in);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void pack_points(const vec3* points, int count, unsigned char* out)
{
    for (int k = 0; k < count; k++)
    {
        put_float(out + POINT_SIZE * k, (float)points[k].x);
        put_float(out + POINT_SIZE * k + 4, (float)points[k].y);
        put_float(out + POINT_SIZE * k + 8, (float)points[k].z);
    }
}

static void unpack_points(const unsigned char* in, int count, vec3* points)
{
    for (int k = 0; k < count; k++)
    {
        const unsigned char* p = in + POINT_SIZE * k;
        points[k] = v3(get_float(p), get_float(p + 4), get_float(p + 8));
    }
}

// ---- system calls, with whatever they leave undone

static weft_status file_failed(const char* path, const char* what, weft_error* error)
{
    int code = errno;
    bool full = code == ENOSPC || code == EDQUOT;
    weft_status status = full                                ? WEFT_DISK_FULL
                         : code == ENOENT                    ? WEFT_NOT_FOUND
                         : code == ENOTSUP || code == EISDIR ? WEFT_BAD_INPUT
                                                             : WEFT_IO;
    return error_set(error, status, path, 0, "%s: %s", what, file_reason(code));
}

static bool write_all(int file, const unsigned char* bytes, size_t size, off_t offset)
{
    while (size > 0)
    {
        ssize_t done = pwrite(file, bytes, size, offset);
        if (done < 0 && errno == EINTR)
        {
            continue;
        }
        if (done <= 0)
        {
            errno = done == 0 ? ENOSPC : errno; // a write that takes nothing and gives no reason
            return false;
        }
        bytes += done;
        size -= (size_t)done;
        offset += done;
    }
    return true;
}

// The number of bytes read: less than size only at the end of the file; -1 on failure.
static ssize_t read_all(int file, unsigned char* bytes, size_t size, off_t offset)
{
    size_t total = 0;
    while (total < size)
    {
        ssize_t done = pread(file, bytes + total, size - total, offset + (off_t)total);
        if (done < 0 && errno == EINTR)
        {
            continue;
        }
        if (done < 0)
        {
            return -1;
        }
        if (done == 0)
        {
            break;
        }
        total += (size_t)done;
    }
    return (ssize_t)total;
}

static bool truncate_to(int file, off_t size)
{
    int result;
    do
    {
        result = ftruncate(file, size);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

static int64_t sample_size(const pc2* cache)
{
    return (int64_t)POINT_SIZE * cache->point_count;
}

static off_t sample_at(const pc2* cache, int sample)
{
    return (off_t)(HEADER_SIZE + sample * sample_size(cache));
}

// ---- opening

static weft_status pc2_new(const char* path, file_use use, pc2** out, weft_error* error)
{
    pc2* cache = MEM_NEW(1, pc2);
    char* copy = mem_strdup(path);
    if (!cache || !copy)
    {
        mem_free(cache);
        mem_free(copy);
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to open a point cache");
    }
    cache->path = copy;
    cache->file = file_open(path, use);
    if (cache->file < 0)
    {
        weft_status status = file_failed(path, "the point cache cannot be opened", error);
        mem_free(cache->path);
        mem_free(cache);
        return status;
    }
    *out = cache;
    return WEFT_OK;
}

weft_status pc2_create(const char* path, int point_count, float start, pc2** out, weft_error* error)
{
    WEFT_ASSERT(path && out && point_count >= 1);
    pc2* cache = NULL;
    TRY(pc2_new(path, FILE_TO_MAKE, &cache, error));
    cache->point_count = point_count;
    cache->start = start;

    unsigned char header[HEADER_SIZE] = {0};
    memcpy(header, pc2_magic, sizeof(pc2_magic));
    put_u32(header + 12, 1);
    put_u32(header + POINTS_AT, (uint32_t)point_count);
    put_float(header + START_AT, start);
    put_float(header + 24, 1.0f);
    put_u32(header + SAMPLES_AT, 0);
    if (!write_all(cache->file, header, sizeof(header), 0))
    {
        weft_status status = file_failed(path, "the point cache cannot be written", error);
        pc2_close(cache, NULL);
        return status;
    }
    *out = cache;
    return WEFT_OK;
}

// Points and complete samples from the header and the file's size.
static weft_status pc2_read_header(pc2* cache, weft_error* error)
{
    struct stat info;
    if (fstat(cache->file, &info) != 0)
    {
        return file_failed(cache->path, "the point cache cannot be read", error);
    }
    unsigned char header[HEADER_SIZE];
    ssize_t got = read_all(cache->file, header, sizeof(header), 0);
    if (got < 0)
    {
        return file_failed(cache->path, "the point cache cannot be read", error);
    }
    if (got < HEADER_SIZE || memcmp(header, pc2_magic, sizeof(pc2_magic)) != 0 || get_u32(header + 12) != 1)
    {
        return error_set(
            error, WEFT_BAD_INPUT, cache->path, 0,
            "this is not a PC2 file of version 1, or its header is cut short; export it or run the scene again");
    }
    uint32_t points = get_u32(header + POINTS_AT), samples = get_u32(header + SAMPLES_AT);
    if (points < 1 || points > INT32_MAX || samples > INT32_MAX)
    {
        return error_set(
            error, WEFT_BAD_INPUT, cache->path, 0,
            "the PC2 header is damaged: it states %ld points and %ld samples; export it or run the scene again",
            (long)(int32_t)points, (long)(int32_t)samples);
    }
    cache->point_count = (int)points;
    int64_t held = ((int64_t)info.st_size - HEADER_SIZE) / sample_size(cache);
    cache->sample_count = held < (int64_t)samples ? (int)held : (int)samples;
    cache->stated_count = (int)samples;
    cache->start = get_float(header + START_AT);
    return WEFT_OK;
}

weft_status pc2_open(const char* path, pc2** out, weft_error* error)
{
    WEFT_ASSERT(path && out);
    pc2* cache = NULL;
    TRY(pc2_new(path, FILE_TO_READ, &cache, error));
    weft_status status = pc2_read_header(cache, error);
    if (status != WEFT_OK)
    {
        pc2_close(cache, NULL);
        return status;
    }
    *out = cache;
    return WEFT_OK;
}

weft_status pc2_open_append(const char* path, int point_count, pc2** out, weft_error* error)
{
    WEFT_ASSERT(path && out && point_count >= 1);
    pc2* cache = NULL;
    TRY(pc2_new(path, FILE_TO_CHANGE, &cache, error));
    weft_status status = pc2_read_header(cache, error);
    if (status == WEFT_OK && cache->point_count != point_count)
    {
        status = error_set(error, WEFT_BAD_INPUT, path, 0, "the point cache has %d points where the mesh has %d",
                           cache->point_count, point_count);
    }
    if (status == WEFT_OK)
    {
        status = pc2_cut(cache, cache->sample_count, error);
    }
    if (status != WEFT_OK)
    {
        pc2_close(cache, NULL);
        return status;
    }
    *out = cache;
    return WEFT_OK;
}

weft_status pc2_close(pc2* cache, weft_error* error)
{
    if (!cache)
    {
        return WEFT_OK;
    }
    weft_status status = WEFT_OK;
    if (close(cache->file) != 0 && errno != EINTR)
    {
        status = file_failed(cache->path, "the point cache cannot be written", error);
    }
    mem_free(cache->path);
    mem_free(cache);
    return status;
}

int pc2_point_count(const pc2* cache)
{
    return cache->point_count;
}

int pc2_sample_count(const pc2* cache)
{
    return cache->sample_count;
}

float pc2_start_frame(const pc2* cache)
{
    return cache->start;
}

int pc2_stated_count(const pc2* cache)
{
    return cache->stated_count;
}

// ---- samples

static bool pc2_write_count(pc2* cache, int sample_count)
{
    unsigned char bytes[4];
    put_u32(bytes, (uint32_t)sample_count);
    return write_all(cache->file, bytes, sizeof(bytes), SAMPLES_AT);
}

static bool pc2_write_sample(pc2* cache, const vec3* sample)
{
    unsigned char chunk[POINT_SIZE * CHUNK_POINTS];
    off_t offset = sample_at(cache, cache->sample_count);
    for (int begin = 0; begin < cache->point_count; begin += CHUNK_POINTS)
    {
        int count = int_min(CHUNK_POINTS, cache->point_count - begin);
        pack_points(sample + begin, count, chunk);
        if (!write_all(cache->file, chunk, (size_t)count * POINT_SIZE, offset))
        {
            return false;
        }
        offset += (off_t)count * POINT_SIZE;
    }
    return true;
}

weft_status pc2_append(pc2* cache, const vec3* sample, weft_error* error)
{
    WEFT_ASSERT(cache && sample);
    if (cache->sample_count == INT32_MAX)
    {
        return error_set(error, WEFT_UNSUPPORTED, cache->path, 0, "a PC2 file cannot hold more samples");
    }
    if (!pc2_write_sample(cache, sample) || !pc2_write_count(cache, cache->sample_count + 1))
    {
        weft_status status = file_failed(cache->path, "a frame cannot be written", error);
        // The count may be half written: put both back, as far as the system still lets us.
        pc2_write_count(cache, cache->sample_count);
        truncate_to(cache->file, sample_at(cache, cache->sample_count));
        return status;
    }
    cache->sample_count++;
    return WEFT_OK;
}

weft_status pc2_cut(pc2* cache, int sample_count, weft_error* error)
{
    WEFT_ASSERT(cache && sample_count >= 0 && sample_count <= cache->sample_count);
    if (!pc2_write_count(cache, sample_count))
    {
        return file_failed(cache->path, "the point cache cannot be cut", error);
    }
    cache->sample_count = sample_count;
    if (!truncate_to(cache->file, sample_at(cache, sample_count)))
    {
        return file_failed(cache->path, "the point cache cannot be cut", error);
    }
    return WEFT_OK;
}

weft_status pc2_read_points(const pc2* cache, int sample, int first, int count, vec3* out, weft_error* error)
{
    WEFT_ASSERT(cache && out && sample >= 0 && sample < cache->sample_count);
    WEFT_ASSERT(first >= 0 && count >= 0 && count <= cache->point_count - first);
    unsigned char chunk[POINT_SIZE * CHUNK_POINTS];
    off_t offset = sample_at(cache, sample) + (off_t)first * POINT_SIZE;
    for (int begin = 0; begin < count; begin += CHUNK_POINTS)
    {
        int size = int_min(CHUNK_POINTS, count - begin);
        ssize_t got = read_all(cache->file, chunk, (size_t)size * POINT_SIZE, offset);
        if (got < 0)
        {
            return file_failed(cache->path, "a frame cannot be read", error);
        }
        if (got < (ssize_t)size * POINT_SIZE)
        {
            return error_set(error, WEFT_IO, cache->path, 0, "the file was cut short while it was read");
        }
        unpack_points(chunk, size, out + begin);
        offset += (off_t)size * POINT_SIZE;
    }
    return WEFT_OK;
}

weft_status pc2_read(const pc2* cache, int sample, vec3* out, weft_error* error)
{
    return pc2_read_points(cache, sample, 0, cache->point_count, out, error);
}
