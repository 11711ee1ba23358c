// Writes what the method does with the elements of bodies, frame by frame: element_format.h. element_reader.c reads.
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "cache/element_files.h"
#include "cache/element_format.h"
#include "weft/cache.h"

// ---- what the simulation has

typedef struct own_list
{
    int count, capacity;
    int* records;          // [ELEMENTS_RECORD * count]
    unsigned char* states; // [count]
} own_list;

static void own_finish(own_list* list)
{
    mem_free(list->records);
    mem_free(list->states);
}

static bool is_told(const weft_element* e)
{
    return (e->role == WEFT_ELEMENT_STRETCH || e->role == WEFT_ELEMENT_SHEAR) &&
           (e->vertex_count == 2 || e->vertex_count == 3);
}

// A triangle's warp, weft and shear have the same vertices: warp and weft follow each other, shear is a kind of its
// own.
static int turn_of(const weft_element* e, const weft_element* last)
{
    bool second = last && last->kind == e->kind && last->vertex_count == e->vertex_count &&
                  memcmp(last->vertices, e->vertices, (size_t)e->vertex_count * sizeof(int)) == 0;
    return e->vertex_count == 2 ? 0 : e->role == WEFT_ELEMENT_SHEAR ? ELEMENTS_TURN_MAX : second;
}

// shown: the vertex of the outputs for each of the body's, of which there are `count`, from `first` on.
static void add_elements(const weft_element* all, int all_count, const int* shown, int first, int count, bool begun,
                         own_list* out)
{
    for (int k = 0; k < all_count; k++)
    {
        const weft_element* e = &all[k];
        bool mine = is_told(e);
        for (int a = 0; a < e->vertex_count && mine; a++)
        {
            int v = e->vertices[a] - first;
            mine = v >= 0 && v < count && shown[v] >= 0;
        }
        if (!mine)
        {
            continue;
        }
        int* record = out->records + ELEMENTS_RECORD * (size_t)out->count;
        for (int a = 0; a < 3; a++)
        {
            record[a] = a < e->vertex_count ? shown[e->vertices[a] - first] : -1;
        }
        record[3] = turn_of(e, k > 0 ? &all[k - 1] : NULL);
        out->states[out->count++] = begun ? (unsigned char)e->state : (unsigned char)WEFT_CACHE_ELEMENT_UNKNOWN;
    }
}

// The first vertex of the outputs that shows each of the cloth's; -1: none does.
static bool find_shown(const weft_sim* sim, int cloth, int count, int* shown)
{
    int outputs = weft_sim_output_count(sim, cloth);
    int* of = MEM_NEW(outputs + 1, int);
    for (int v = 0; v < count; v++)
    {
        shown[v] = -1;
    }
    of ? weft_sim_output_vertices(sim, cloth, of) : (void)0;
    for (int k = outputs - 1; of && k >= 0; k--)
    {
        shown[of[k]] = k;
    }
    mem_free(of);
    return of != NULL;
}

static weft_status own_make(const weft_sim* sim, int cloth, own_list* out)
{
    int total = weft_sim_elements(sim, NULL, 0), count = weft_sim_vertex_count(sim, cloth), first = 0;
    for (int k = 0; k < cloth; k++)
    {
        first += weft_sim_vertex_count(sim, k);
    }
    weft_element* all = MEM_NEW(total + 1, weft_element);
    int* shown = MEM_NEW(count + 1, int);
    *out = (own_list){.records = MEM_NEW(ELEMENTS_RECORD * ((size_t)total + 1), int),
                      .states = MEM_NEW(total + 1, unsigned char)};
    bool ok = all && shown && out->records && out->states && find_shown(sim, cloth, count, shown);
    if (ok)
    {
        weft_sim_elements(sim, all, total);
        add_elements(all, total, shown, first, count, weft_sim_step_count(sim) > 0, out);
    }
    mem_free(all);
    mem_free(shown);
    return ok ? WEFT_OK : WEFT_NO_MEMORY;
}

bool elements_vary(const weft_sim* sim)
{
    bool vary = sim->built && sim->method->method->split != NULL;
    for (int g = 0; g < sim->model.groups.count; g++)
    {
        vary = vary || sim->model.groups.list[g].kind->slack;
    }
    return vary;
}

// ---- writing

static void put_list(const own_list* list, int vertex_count, unsigned char* header, unsigned char* bytes)
{
    uint64_t hash = (uint64_t)list->count;
    for (int k = 0; k < ELEMENTS_RECORD * list->count; k++)
    {
        elements_put(bytes + 4 * (size_t)k, (uint32_t)list->records[k]);
        hash = random_bits(hash, (uint64_t)(uint32_t)list->records[k]);
    }
    memcpy(header, elements_magic, sizeof(elements_magic));
    elements_put(header + 12, (uint32_t)vertex_count);
    elements_put(header + 16, 1);
    elements_put(header + 20, (uint32_t)list->count);
    elements_put(header + 24, (uint32_t)hash);
    elements_put(header + 28, (uint32_t)(hash >> 32));
}

static weft_status make_file(const char* path, const unsigned char* header, const unsigned char* bytes,
                             const own_list* list, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    whole_file_write(&file, header, ELEMENTS_HEADER);
    whole_file_write(&file, bytes, 4 * ELEMENTS_RECORD * (size_t)list->count);
    whole_file_write(&file, list->states, (size_t)list->count);
    return whole_file_close(&file, error);
}

// The count last: a reader, or a run that is killed, meets whole samples.
static bool append_sample(FILE* file, int sample, const own_list* list)
{
    unsigned char count[4];
    size_t n = (size_t)list->count;
    elements_put(count, (uint32_t)sample + 1);
    off_t end = ELEMENTS_HEADER + (off_t)(4 * ELEMENTS_RECORD * n) + (off_t)n * sample;
    return fseeko(file, end, SEEK_SET) == 0 && fwrite(list->states, 1, n, file) == n && fflush(file) == 0 &&
           ftruncate(fileno(file), end + (off_t)n) == 0 && fseeko(file, 16, SEEK_SET) == 0 &&
           fwrite(count, 1, sizeof(count), file) == sizeof(count) && fflush(file) == 0;
}

// Nothing where the list is another one, or where the file has ended before this sample.
static weft_status append_to(const char* path, int sample, const unsigned char* header, const own_list* list,
                             weft_error* error)
{
    unsigned char there[ELEMENTS_HEADER] = {0};
    FILE* file = file_stream(path, FILE_TO_CHANGE);
    if (!file)
    {
        return file_error(error, path, "cannot go on writing");
    }
    bool good = fread(there, 1, sizeof(there), file) == sizeof(there);
    bool same = good && memcmp(there, header, 16) == 0 && memcmp(there + 20, header + 20, 12) == 0 &&
                elements_get(there + 16) >= (uint32_t)sample;
    good = good && (!same || append_sample(file, sample, list));
    good = fclose(file) == 0 && good;
    return good ? WEFT_OK : file_error(error, path, "cannot write");
}

bool elements_exist(const char* dir, const char* body)
{
    char* path = elements_path(dir, body);
    struct stat info;
    bool there = path && stat(path, &info) == 0;
    mem_free(path);
    return there;
}

weft_status elements_write(const char* dir, const weft_sim* sim, const run_body* b, int sample, weft_error* error)
{
    own_list list;
    weft_status status = own_make(sim, b->id, &list);
    unsigned char header[ELEMENTS_HEADER] = {0};
    unsigned char* bytes = status == WEFT_OK ? mem_alloc(4 * ELEMENTS_RECORD * ((size_t)list.count + 1), 1) : NULL;
    char* path = elements_path(dir, b->name);
    if (!bytes || !path)
    {
        status = error_set(error, WEFT_NO_MEMORY, dir, 0, "%s", weft_status_text(WEFT_NO_MEMORY));
    }
    else
    {
        put_list(&list, b->first_points, header, bytes);
        status =
            sample > 0 ? append_to(path, sample, header, &list, error) : make_file(path, header, bytes, &list, error);
    }
    mem_free(bytes);
    mem_free(path);
    own_finish(&list);
    return status;
}
