// The first way through a run: what must be known before the first frame is packed. Boxes and the size of a quantum,
// the largest strain and what is usual of strain and speed, the ranges of fields; and from scene.json the thickness of
// bodies.
#define _XOPEN_SOURCE 700
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scene/tree.h"
#include "view/packing.h"
#include "weft/render.h"

static const double default_thickness = 1e-3; // m

// What the survey of one body needs.
typedef struct surveyor
{
    run* r;
    int body, capacity;
    vec3 *now, *before; // [capacity]
    double* numbers;    // [capacity]
    float* field;       // [capacity]
    weft_box box;
} surveyor;

// ---- opening

static char* path_in(const char* dir, const char* file)
{
    size_t size = strlen(dir) + strlen(file) + 2;
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s/%s", dir, file);
    }
    return path;
}

// The folder's own name; that of `.` and `..` is asked of the system.
static char* name_of(const char* dir)
{
    char real[PATH_MAX];
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
    {
        length--;
    }
    const char* text = dir;
    if ((length >= 1 && dir[length - 1] == '.') && realpath(dir, real))
    {
        text = real;
        length = strlen(real);
    }
    size_t begin = length;
    while (begin > 0 && text[begin - 1] != '/')
    {
        begin--;
    }
    char* name = mem_alloc(length - begin + 1, 1);
    if (name)
    {
        memcpy(name, text + begin, length - begin);
    }
    return name;
}

static void read_thickness(run* r, const tree_node* root, const char* list)
{
    const tree_node* bodies = tree_member(root, list);
    for (const tree_node* node = bodies ? bodies->first : NULL; node; node = node->next)
    {
        const tree_node* name = node->kind == TREE_OBJECT ? tree_member(node, "name") : NULL;
        const tree_node* radius = node->kind == TREE_OBJECT ? tree_member(node, "radius") : NULL; // of strands
        const tree_node* value = radius || node->kind != TREE_OBJECT ? radius : tree_member(node, "thickness");
        bool good = name && name->kind == TREE_STRING && value && value->kind == TREE_NUMBER && value->number > 0.0;
        for (int b = 0; b < r->body_count && good; b++)
        {
            if (strcmp(weft_cache_body_at(r->cache, b)->name, name->string) == 0)
            {
                r->thickness[b] = radius ? 2.0 * value->number : value->number;
            }
        }
    }
}

// A folder without scene.json is fine.
static weft_status read_scene(run* r, weft_error* error)
{
    char* path = path_in(r->dir, "scene.json");
    if (!path)
    {
        return error_set(error, WEFT_NO_MEMORY, r->dir, 0, "no memory to read the run");
    }
    weft_status status = text_read(path, &r->scene, &r->scene_size, error);
    mem_free(path);
    if (status != WEFT_OK)
    {
        r->scene = NULL;
        return status == WEFT_NOT_FOUND ? WEFT_OK : status;
    }
    char* copy = mem_alloc(r->scene_size + 1, 1);
    if (!copy)
    {
        return error_set(error, WEFT_NO_MEMORY, r->dir, 0, "no memory to read the run");
    }
    memcpy(copy, r->scene, r->scene_size);
    tree t = {0};
    tree_node* root = NULL;
    if (tree_parse(&t, r->dir, copy, r->scene_size, &root, NULL) == WEFT_OK)
    {
        const char *kind, *summary;
        for (int k = 0; weft_list(WEFT_LIST_BODIES, k, &kind, &summary) == WEFT_OK; k++)
        {
            read_thickness(r, root, kind);
        }
        read_thickness(r, root, "obstacles");
    }
    tree_finish(&t);
    mem_free(copy);
    return WEFT_OK;
}

static int most_vertices(const weft_cache* cache, int body)
{
    int most = 0;
    for (int t = 0; t < weft_cache_topology_count(cache, body); t++)
    {
        most = int_max(most, weft_cache_topology_at(cache, body, t)->vertex_count);
    }
    return most;
}

static weft_status run_allocate(run* r, weft_error* error)
{
    r->name = name_of(r->dir);
    r->bodies = MEM_NEW(r->body_count, body_survey);
    r->thickness = MEM_NEW(r->body_count, double);
    r->positions = MEM_NEW(r->body_count, vec3*);
    r->marks = MEM_NEW(r->body_count, uint8_t*);
    bool ok = r->name && r->bodies && r->thickness && r->positions && r->marks;
    for (int b = 0; b < r->body_count && ok; b++)
    {
        body_survey* s = &r->bodies[b];
        s->vertex_capacity = most_vertices(r->cache, b);
        s->fields = MEM_NEW(weft_cache_field_count(r->cache, b), field_range);
        double thickness = weft_cache_body_at(r->cache, b)->thickness; // a scene that was written by hand may not say
        r->thickness[b] = thickness > 0.0 ? thickness : default_thickness;
        r->positions[b] = MEM_NEW(s->vertex_capacity, vec3);
        r->marks[b] = MEM_NEW(s->vertex_capacity, uint8_t);
        ok = s->fields && r->positions[b] && r->marks[b];
    }
    return ok ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, r->dir, 0, "no memory to read the run");
}

weft_status run_open(run* r, const char* dir, weft_error* error)
{
    *r = (run){.dir = dir};
    TRY(weft_cache_open(dir, &r->cache, error));
    TRY(weft_cache_check_bodies(dir, r->cache, error));
    TRY(weft_cache_check_samples(dir, r->cache, error));
    r->frame_count = weft_cache_frame_count(r->cache);
    r->body_count = weft_cache_body_count(r->cache);
    if (r->frame_count == 0)
    {
        return error_set(error, WEFT_BAD_INPUT, dir, 0, "no frame of this run is finished yet; try again later");
    }
    TRY(run_allocate(r, error));
    TRY(read_scene(r, error));
    char* path = path_in(dir, "stats.jsonl");
    weft_status status = path ? stats_columns_read(path, &r->stats, error)
                              : error_set(error, WEFT_NO_MEMORY, dir, 0, "no memory to read the run");
    mem_free(path);
    return status;
}

void run_finish(run* r)
{
    for (int b = 0; b < r->body_count; b++)
    {
        mem_free(r->bodies ? r->bodies[b].fields : NULL);
        mem_free(r->positions ? r->positions[b] : NULL);
        mem_free(r->marks ? r->marks[b] : NULL);
    }
    mem_free(r->name);
    mem_free(r->bodies);
    mem_free(r->thickness);
    mem_free(r->positions);
    mem_free(r->marks);
    mem_free(r->scene);
    stats_columns_finish(&r->stats);
    weft_cache_close(r->cache);
    *r = (run){0};
}

// ---- what is usual

static int compare_numbers(const void* left, const void* right)
{
    double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

// Raises *usual to the 99th percentile of the finite numbers; their order is lost.
static void raise_usual(double* numbers, int count, double* usual)
{
    int kept = 0;
    for (int k = 0; k < count; k++)
    {
        if (isfinite(numbers[k]))
        {
            numbers[kept++] = numbers[k];
        }
    }
    if (kept > 0)
    {
        qsort(numbers, (size_t)kept, sizeof(double), compare_numbers);
        *usual = fmax(*usual, numbers[kept - 1 - (kept - 1) / 100]);
    }
}

static weft_status survey_strain(surveyor* s, const weft_cache_body* body)
{
    body_survey* out = &s->r->bodies[s->body];
    TRY(weft_render_strain(body->rest, s->now, body->vertex_count, body->triangles, body->triangle_count, s->numbers));
    for (int v = 0; v < body->vertex_count; v++)
    {
        if (isfinite(s->numbers[v]))
        {
            out->strain_max = fmax(out->strain_max, s->numbers[v]);
        }
    }
    raise_usual(s->numbers, body->vertex_count, &out->strain_usual);
    return WEFT_OK;
}

static void survey_speed(surveyor* s, int vertex_count)
{
    double rate = weft_cache_frame_rate(s->r->cache);
    for (int v = 0; v < vertex_count; v++)
    {
        s->numbers[v] = rate * v3_length(v3_sub(s->now[v], s->before[v]));
    }
    raise_usual(s->numbers, vertex_count, &s->r->bodies[s->body].speed_usual);
}

static weft_status survey_fields(surveyor* s, int frame, int vertex_count, weft_error* error)
{
    for (int f = 0; f < weft_cache_field_count(s->r->cache, s->body); f++)
    {
        if (!field_is_packed(s->r->cache, s->body, f, frame))
        {
            continue;
        }
        TRY(weft_cache_read_field(s->r->cache, s->body, f, frame, s->field, error));
        field_range* range = &s->r->bodies[s->body].fields[f];
        for (int v = 0; v < vertex_count; v++)
        {
            if (isfinite(s->field[v]))
            {
                range->low = fminf(range->low, s->field[v]);
                range->high = fmaxf(range->high, s->field[v]);
            }
        }
    }
    return WEFT_OK;
}

// ---- a body

static weft_status survey_frame(surveyor* s, int frame, weft_error* error)
{
    weft_cache* cache = s->r->cache;
    int topology = weft_cache_topology_of(cache, s->body, frame);
    const weft_cache_body* body = weft_cache_topology_at(cache, s->body, topology);
    TRY(weft_cache_read_frame(cache, s->body, frame, s->now, error));
    weft_box_add_triangles(&s->box, s->now, body->triangles, body->triangle_count);
    weft_box_add(&s->box, s->now, body->triangle_count > 0 ? 0 : body->vertex_count);
    if (!body->obstacle && survey_strain(s, body) != WEFT_OK)
    {
        return error_set(error, WEFT_NO_MEMORY, s->r->dir, 0, "no memory to measure the strain");
    }
    TRY(survey_fields(s, frame, body->vertex_count, error));
    // Where the topology changes, the first vertices are those of the one before.
    if (frame > 0 && !body->obstacle)
    {
        int before = weft_cache_topology_of(cache, s->body, frame - 1);
        survey_speed(s, int_min(body->vertex_count, weft_cache_topology_at(cache, s->body, before)->vertex_count));
    }
    vec3* old = s->before;
    s->before = s->now;
    s->now = old;
    return WEFT_OK;
}

// The largest side of the box is cut into as many quanta as there are numbers.
static void survey_box(body_survey* out, const weft_box* box)
{
    bool empty = !(box->min.x <= box->max.x);
    vec3 size = empty ? (vec3){0} : v3_sub(box->max, box->min);
    out->corner = empty ? (vec3){0} : box->min;
    out->size = size;
    out->quantum = fmax(fmax(size.x, fmax(size.y, size.z)) / QUANTUM_MAX, 1e-30);
}

static weft_status survey_body(surveyor* s, progress* p, weft_error* error)
{
    run* r = s->r;
    for (int f = 0; f < weft_cache_field_count(r->cache, s->body); f++)
    {
        r->bodies[s->body].fields[f] = (field_range){FLT_MAX, -FLT_MAX};
    }
    s->box = weft_box_empty();
    bool still = weft_cache_body_at(r->cache, s->body)->still;
    for (int frame = 0; frame < (still ? 1 : r->frame_count); frame++)
    {
        TRY(survey_frame(s, frame, error));
        if (s->body == 0 && p->function)
        {
            p->function(p->context, ++p->done, p->total);
        }
    }
    survey_box(&r->bodies[s->body], &s->box);
    return WEFT_OK;
}

weft_status run_survey(run* r, progress* p, weft_error* error)
{
    weft_status status = WEFT_OK;
    for (int b = 0; b < r->body_count && status == WEFT_OK; b++)
    {
        int capacity = r->bodies[b].vertex_capacity;
        surveyor s = {.r = r,
                      .body = b,
                      .capacity = capacity,
                      .now = MEM_NEW(capacity, vec3),
                      .before = MEM_NEW(capacity, vec3),
                      .numbers = MEM_NEW(capacity, double),
                      .field = MEM_NEW(capacity, float)};
        status = s.now && s.before && s.numbers && s.field
                     ? survey_body(&s, p, error)
                     : error_set(error, WEFT_NO_MEMORY, r->dir, 0, "no memory to look through the run");
        mem_free(s.now);
        mem_free(s.before);
        mem_free(s.numbers);
        mem_free(s.field);
    }
    return status;
}
