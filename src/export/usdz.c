// A USD package: a zip archive, nothing packed, of one layer, run.usdc, whose bytes begin at a multiple of 64, as the
// specification of usdz wants it, so that programs read it where it is. Its sizes have 32 bits.
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "export/usd.h"

enum
{
    HEAD = 30,      // bytes of a local header
    DIRECTORY = 46, // and of one in the directory
    START = 64,     // of the layer
    FILLER = 0x1986 // what the extra field that fills the header is called
};

static const char layer_name[] = "run.usdc";
static const int64_t size_max = 0xffffffff - 4096;

// ---- little-endian fields of a record

typedef struct record
{
    unsigned char bytes[128];
    size_t size;
} record;

static void add(record* r, uint32_t value, int size)
{
    for (int k = 0; k < size; k++)
    {
        r->bytes[r->size++] = (unsigned char)(value >> 8 * k);
    }
}

static void add_name(record* r)
{
    memcpy(r->bytes + r->size, layer_name, strlen(layer_name));
    r->size += strlen(layer_name);
}

// Version, flags, method; midnight of the first of January 1980, as the same run gives the same bytes; check, sizes.
static void add_common(record* r, uint32_t check, uint32_t size)
{
    add(r, 10, 2);
    add(r, 0, 2);
    add(r, 0, 2);
    add(r, 0, 2);
    add(r, 0x21, 2);
    add(r, check, 4);
    add(r, size, 4);
    add(r, size, 4);
    add(r, (uint32_t)strlen(layer_name), 2);
}

static void put_head(whole_file* file, uint32_t check, uint32_t size)
{
    record r = {.size = 0};
    uint32_t filler = START - HEAD - (uint32_t)strlen(layer_name);
    add(&r, 0x04034b50, 4);
    add_common(&r, check, size);
    add(&r, filler, 2);
    add_name(&r);
    add(&r, FILLER, 2);
    add(&r, filler - 4, 2);
    whole_file_write(file, r.bytes, START);
}

static void put_directory(whole_file* file, uint32_t check, uint32_t size)
{
    record r = {.size = 0};
    add(&r, 0x02014b50, 4);
    add(&r, 10, 2);
    add_common(&r, check, size);
    add(&r, 0, 2); // extra field
    add(&r, 0, 2); // comment
    add(&r, 0, 2); // disk
    add(&r, 0, 2); // attributes
    add(&r, 0, 4); // and those of a system
    add(&r, 0, 4); // place of the header
    add_name(&r);
    add(&r, 0x06054b50, 4);
    add(&r, 0, 4); // disks
    add(&r, 1, 2); // entries here, and in all
    add(&r, 1, 2);
    add(&r, DIRECTORY + (uint32_t)strlen(layer_name), 4);
    add(&r, START + size, 4);
    add(&r, 0, 2); // comment
    whole_file_write(file, r.bytes, r.size);
}

// ---- the check sum of zip archives: CRC-32, polynomial 0xedb88320, of what is in the file behind the header

static void make_table(uint32_t table[256])
{
    for (uint32_t k = 0; k < 256; k++)
    {
        uint32_t value = k;
        for (int bit = 0; bit < 8; bit++)
        {
            value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
        }
        table[k] = value;
    }
}

static weft_status find_check(const whole_file* file, const char* target, uint32_t* out, weft_error* error)
{
    FILE* stream = fflush(file->stream) == 0 ? file_stream(file->temporary, FILE_TO_READ) : NULL;
    if (!stream)
    {
        return file_error(error, target, "cannot write");
    }
    uint32_t table[256], check = 0xffffffff;
    unsigned char piece[1 << 16];
    make_table(table);
    bool good = fseeko(stream, START, SEEK_SET) == 0;
    for (size_t got = 1; good && got > 0;)
    {
        got = fread(piece, 1, sizeof(piece), stream);
        for (size_t k = 0; k < got; k++)
        {
            check = table[(check ^ piece[k]) & 255] ^ check >> 8;
        }
    }
    good = good && !ferror(stream);
    fclose(stream);
    *out = ~check;
    return good ? WEFT_OK : file_error(error, target, "cannot read back");
}

// ---- the package

static weft_status put_package(export_job* job, whole_file* file, const char* target, weft_error* error)
{
    uint32_t check = 0;
    put_head(file, 0, 0);
    TRY(usdc_write(job, file, START, target, error));
    int64_t size = (int64_t)ftello(file->stream) - START;
    if (size > size_max)
    {
        return error_set(error, WEFT_BAD_INPUT, target, 0,
                         "the layer would have %.1f GB, and a usdz holds 4.29 GB at most; take --every, --frames or "
                         "--plain, or --to usdc",
                         1e-9 * (double)size);
    }
    TRY(find_check(file, target, &check, error));
    put_directory(file, check, (uint32_t)size);
    if (fseeko(file->stream, 0, SEEK_SET) != 0)
    {
        return file_error(error, target, "cannot write");
    }
    put_head(file, check, (uint32_t)size);
    return WEFT_OK;
}

weft_status export_usdz(export_job* job, const char* target, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, target, error));
    weft_status status = put_package(job, &file, target, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}
