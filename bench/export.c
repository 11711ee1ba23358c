// weft bench export: what it takes to write a frame of a million vertices in each binary format, beside copying the
// same files in the same run. Both end with everything on the disk (fsync). Memory is what an export holds at most
// beyond the open run. The run is a grid of quads with a vt map, written for the purpose; opening it (OBJ text) is
// timed apart. Options: --cells N (1000: 1,002,001 vertices), --frames N (1), --rounds N (3), --dir DIR (the current
// folder: a folder in it is made and removed).
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/common.h"
#include "export/export.h"
#include "mesh/pc2_file.h"

enum
{
    PATH_BYTES = 1024,
    COPY_BYTES = 1 << 20
};

typedef struct export_bench
{
    char dir[PATH_BYTES], run[PATH_BYTES];
    int cells, frames, rounds;
    weft_cache* cache;
    double open_s;
    bool json;
} export_bench;

typedef struct export_row
{
    double export_s, copy_s; // the best of all rounds
    int64_t bytes, memory;
} export_row;

// ---- memory

typedef struct ledger
{
    int64_t held, most; // bytes
} ledger;

static void* ledger_alloc(size_t size, size_t alignment, void* user)
{
    ledger* l = user;
    void* pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    l->held += (int64_t)malloc_usable_size(pointer);
    l->most = l->held > l->most ? l->held : l->most;
    return pointer;
}

static void ledger_free(void* pointer, void* user)
{
    ledger* l = user;
    l->held -= (int64_t)malloc_usable_size(pointer);
    free(pointer);
}

static ledger memory;

// ---- the run

static weft_status write_mesh(const char* path, const mesh* m, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    for (int v = 0; v < m->vertex_count; v++)
    {
        vec3 x = m->position[v];
        fprintf(file.stream, "v %.17g %.17g %.17g\n", x.x, x.y, x.z);
    }
    for (int v = 0; v < m->vertex_count; v++)
    {
        fprintf(file.stream, "vt %.9g %.9g\n", m->position[v].x, m->position[v].z);
    }
    for (int face = 0; face < m->face_count; face++)
    {
        fputc('f', file.stream);
        for (int k = m->face_start[face]; k < m->face_start[face + 1]; k++)
        {
            fprintf(file.stream, " %d/%d", m->face_vertex[k] + 1, m->face_vertex[k] + 1);
        }
        fputc('\n', file.stream);
    }
    return whole_file_close(&file, error);
}

static weft_status write_samples(const char* path, mesh* m, int frames, weft_error* error)
{
    pc2* cache = NULL;
    TRY(pc2_create(path, m->vertex_count, 0.0f, &cache, error));
    weft_status status = WEFT_OK;
    for (int frame = 0; frame < frames && status == WEFT_OK; frame++)
    {
        for (int v = 0; v < m->vertex_count; v++)
        {
            m->position[v].y = 0.1 * sin(7.0 * m->position[v].x + 0.3 * frame) * cos(5.0 * m->position[v].z);
        }
        status = pc2_append(cache, m->position, error);
    }
    weft_status closed = pc2_close(cache, error);
    return status == WEFT_OK ? closed : status;
}

static weft_status write_run(const export_bench* b, weft_error* error)
{
    char path[PATH_BYTES + 32];
    grid_options grid = {.size_u = 1.0, .size_v = 1.0, .cells_u = b->cells, .cells_v = b->cells, .quads = true};
    mesh m = {0};
    weft_status status = mesh_from_grid(&grid, &m, error);
    snprintf(path, sizeof(path), "%s/sheet.obj", b->run);
    status = status == WEFT_OK ? write_mesh(path, &m, error) : status;
    snprintf(path, sizeof(path), "%s/sheet.pc2", b->run);
    status = status == WEFT_OK ? write_samples(path, &m, b->frames, error) : status;
    mesh_finish(&m);
    return status;
}

static weft_status open_run(export_bench* b, weft_error* error)
{
    if (mkdir(b->dir, 0777) != 0 || mkdir(b->run, 0777) != 0)
    {
        return file_error(error, b->dir, "the folder cannot be made");
    }
    TRY(write_run(b, error));
    double start = timer_now();
    TRY(weft_cache_open(b->run, &b->cache, error));
    b->open_s = timer_now() - start;
    return WEFT_OK;
}

// ---- copying

static weft_status copy_bytes(int from, int to, const char* path, weft_error* error)
{
    char* piece = mem_raw(COPY_BYTES, 1);
    if (!piece)
    {
        return WEFT_NO_MEMORY;
    }
    ssize_t got;
    bool good = true;
    while ((got = read(from, piece, COPY_BYTES)) > 0 && good)
    {
        good = write(to, piece, (size_t)got) == got;
    }
    good = good && got == 0 && fsync(to) == 0;
    mem_free(piece);
    return good ? WEFT_OK : file_error(error, path, "cannot copy");
}

static weft_status copy_file(const char* source, const char* target, weft_error* error)
{
    int from = open(source, O_RDONLY), to = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    weft_status status =
        from >= 0 && to >= 0 ? copy_bytes(from, to, target, error) : file_error(error, target, "cannot copy");
    if (from >= 0)
    {
        close(from);
    }
    if (to >= 0)
    {
        close(to);
    }
    return status;
}

// Files of a flat folder.
static weft_status copy_folder(const char* source, const char* target, weft_error* error)
{
    if (mkdir(target, 0777) != 0)
    {
        return file_error(error, target, "the folder cannot be made");
    }
    DIR* folder = opendir(source);
    weft_status status = folder ? WEFT_OK : file_error(error, source, "cannot read");
    for (struct dirent* entry = folder ? readdir(folder) : NULL; entry && status == WEFT_OK; entry = readdir(folder))
    {
        char from[2 * PATH_BYTES], to[2 * PATH_BYTES];
        snprintf(from, sizeof(from), "%s/%.255s", source, entry->d_name);
        snprintf(to, sizeof(to), "%s/%.255s", target, entry->d_name);
        status = entry->d_name[0] == '.' ? WEFT_OK : copy_file(from, to, error);
    }
    if (folder)
    {
        closedir(folder);
    }
    return status;
}

static void remove_all(const char* path)
{
    DIR* folder = opendir(path);
    for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
    {
        char inner[2 * PATH_BYTES];
        snprintf(inner, sizeof(inner), "%s/%.255s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        {
            remove_all(inner);
        }
    }
    if (folder)
    {
        closedir(folder);
    }
    remove(path);
}

// ---- measuring

static weft_status measure_once(export_bench* b, const export_format* format, const char* target, export_row* row,
                                weft_error* error)
{
    char copy[PATH_BYTES + 32];
    weft_export_def def = weft_export_def_default();
    def.plain = 1;
    weft_export_stats stats;
    def.format = format->name;
    int64_t before = memory.held;
    memory.most = before;
    double start = timer_now();
    TRY(weft_export(b->cache, &def, target, &stats, error));
    double middle = timer_now();
    row->memory = memory.most - before;
    row->bytes = stats.bytes;
    struct stat info;
    snprintf(copy, sizeof(copy), "%s/copy", b->dir);
    bool folder = stat(target, &info) == 0 && S_ISDIR(info.st_mode);
    double again = timer_now();
    weft_status status = folder ? copy_folder(target, copy, error) : copy_file(target, copy, error);
    double end = timer_now();
    remove_all(copy);
    remove_all(target);
    row->export_s = fmin(row->export_s, middle - start);
    row->copy_s = fmin(row->copy_s, end - again);
    return status;
}

static void print_row(const export_bench* b, const char* format, const char* kind, const export_row* r, bool first)
{
    if (b->json)
    {
        printf("%s{\"format\":\"%s\",\"target\":\"%s\",\"bytes\":%lld,\"export_s\":%.4g,\"copy_s\":%.4g,\"ratio\":%.4g,"
               "\"memory\":%lld}",
               first ? "" : ",\n", format, kind, (long long)r->bytes, r->export_s, r->copy_s, r->copy_s / r->export_s,
               (long long)r->memory);
        return;
    }
    printf("%-6s %-7s %9.1f %9.3f %9.0f %9.3f %9.0f %9.2f %9.1f\n", format, kind, 1e-6 * (double)r->bytes, r->export_s,
           1e-6 * (double)r->bytes / r->export_s, r->copy_s, 1e-6 * (double)r->bytes / r->copy_s,
           r->copy_s / r->export_s, 1e-6 * (double)r->memory);
}

static weft_status measure(export_bench* b, const export_format* format, bool one_file, bool first, weft_error* error)
{
    char target[PATH_BYTES + 32];
    snprintf(target, sizeof(target), "%s/export%s", b->dir, one_file ? format->ending : "");
    export_row row = {1e9, 1e9, 0, 0};
    for (int round = 0; round < b->rounds; round++)
    {
        TRY(measure_once(b, format, target, &row, error));
    }
    print_row(b, format->name, one_file ? "file" : "folder", &row, first);
    return WEFT_OK;
}

// Binary formats as one file, where they can be, and as a folder, where their files are several (text among them).
static weft_status measure_all(export_bench* b, weft_error* error)
{
    bool first = true;
    for (int k = 0; export_format_at(k); k++)
    {
        const export_format* format = export_format_at(k);
        bool one_file = !format->folder || (format->run_file && (!format->file_is_frame || b->frames == 1));
        if (format->binary && one_file)
        {
            TRY(measure(b, format, true, first, error));
            first = false;
        }
        if (format->binary && format->folder)
        {
            TRY(measure(b, format, false, first, error));
            first = false;
        }
    }
    return WEFT_OK;
}

static void print_head(const export_bench* b)
{
    int vertices = weft_cache_body_at(b->cache, 0)->vertex_count;
    if (b->json)
    {
        printf("{\"benchmark\":\"export\",\"vertices\":%d,\"frames\":%d,\"rounds\":%d,\"open_s\":%.4g,\"rows\":[\n",
               vertices, b->frames, b->rounds, b->open_s);
        return;
    }
    printf("export of %d frame%s of %d vertices in quads, best of %d rounds; opening the run took %.2f s\n", b->frames,
           b->frames == 1 ? "" : "s", vertices, b->rounds, b->open_s);
    printf("format target         MB  export s      MB/s    copy s      MB/s     ratio memory MB\n");
}

static int run(int argc, char** argv, bool json)
{
    bench_known(argc, argv, "--cells= --frames= --rounds= --dir=");
    export_bench b = {.cells = bench_count(argc, argv, "--cells", 1000),
                      .frames = bench_count(argc, argv, "--frames", 1),
                      .rounds = bench_count(argc, argv, "--rounds", 3),
                      .json = json};
    const char* dir = bench_text(argc, argv, "--dir", ".");
    if (strlen(dir) > PATH_BYTES / 2)
    {
        bench_refuse(argc, argv, "--dir: the path is too long");
    }
    snprintf(b.dir, sizeof(b.dir), "%s/weft-bench-export-%ld", dir, (long)getpid());
    snprintf(b.run, sizeof(b.run), "%.900s/run", b.dir);
    weft_set_allocator(&(weft_allocator){ledger_alloc, ledger_free, &memory});
    weft_error error = {0};
    weft_status status = open_run(&b, &error);
    if (status == WEFT_OK)
    {
        print_head(&b);
        status = measure_all(&b, &error);
        fputs(json ? "]}\n" : "", stdout);
    }
    weft_cache_close(b.cache);
    weft_set_allocator(NULL);
    remove_all(b.dir);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft: %s: %s\n", error.file, error.message);
    }
    return status == WEFT_OK ? 0 : bench_failed("export", status);
}

const benchmark bench_export = {"export", "binary exports of a million vertices against copying the same files", run};
