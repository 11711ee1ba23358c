// The page: the viewer (viewer/, bundled when Weft is built) with the runs in its middle. First comes what the page
// must know of them, as JSON, then the packets, each in an element of its own: `weft-RUN-meshes`, `-elements` where
// there are any, `-scene`, `-stats`,
// and
// `-0`, `-1`, ... for the frames.
#include <string.h>

#include "scene/embedded.h"
#include "scene/json_writer.h"
#include "view/packing.h"
#include "weft/render.h"
#include "weft/view.h"
#include "weft/weft.h"

extern const embedded_file embedded_pages[]; // view.html

static const char mark[] = "<!--weft-runs-->"; // where the runs go

enum
{
    MAP_STEPS = 32 // of the colour map
};

// ---- what the page must know

static void describe_topologies(writer* w, const run* r, int b)
{
    write_open(w, "topologies", "[");
    int first = 0;
    for (int t = 0; t < weft_cache_topology_count(r->cache, b); t++)
    {
        const weft_cache_body* body = weft_cache_topology_at(r->cache, b, t);
        while (first < r->frame_count && weft_cache_topology_of(r->cache, b, first) < t)
        {
            first++;
        }
        write_open(w, NULL, "{");
        write_number(w, "first", first);
        write_number(w, "vertices", body->vertex_count);
        write_number(w, "triangles", body->triangle_count);
        write_number(w, "segments", body->segment_count);
        write_number(w, "faces", body->face_count);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void describe_fields(writer* w, const run* r, int b)
{
    write_open(w, "fields", "[");
    for (int f = 0; f < weft_cache_field_count(r->cache, b); f++)
    {
        const weft_cache_field* field = weft_cache_field_at(r->cache, b, f);
        field_range range = r->bodies[b].fields[f];
        bool empty = !(range.low <= range.high);
        write_open(w, NULL, "{");
        write_text(w, "name", field->name);
        write_truth(w, "categories", field->categories != 0);
        write_truth(w, "constant", field->constant != 0);
        write_number(w, "low", empty ? 0.0 : range.low);
        write_number(w, "high", empty ? 0.0 : range.high);
        write_close(w, "}");
    }
    write_close(w, "]");
}

static void describe_body(writer* w, const run* r, int b)
{
    const weft_cache_body* body = weft_cache_body_at(r->cache, b);
    const body_survey* s = &r->bodies[b];
    write_open(w, NULL, "{");
    write_text(w, "name", body->name);
    write_truth(w, "obstacle", body->obstacle != 0);
    write_truth(w, "still", body->still != 0);
    write_number(w, "from", body->from);
    write_number(w, "until", body->until < r->frame_count ? body->until : r->frame_count);
    write_vec3(w, "corner", s->corner);
    write_vec3(w, "size", s->size);
    write_number(w, "quantum", s->quantum);
    write_number(w, "strainMax", s->strain_max);
    write_number(w, "strainUsual", s->strain_usual);
    write_number(w, "speedUsual", s->speed_usual);
    describe_topologies(w, r, b);
    describe_fields(w, r, b);
    const weft_cache_elements* elements = weft_cache_elements_of(r->cache, b);
    write_number(w, "elements", elements ? elements->count : 0);
    write_close(w, "}");
}

static void describe_run(writer* w, const run* r)
{
    write_open(w, NULL, "{");
    write_text(w, "name", r->name);
    write_text(w, "dir", r->dir);
    write_number(w, "frames", r->frame_count);
    write_number(w, "rate", weft_cache_frame_rate(r->cache));
    write_truth(w, "scene", r->scene != NULL);
    write_number(w, "steps", r->stats.row_count);
    write_number(w, "damagedLines", r->stats.damaged);
    write_open(w, "columns", "[");
    for (int k = 0; k < r->stats.column_count; k++)
    {
        write_text(w, NULL, r->stats.names[k]);
    }
    write_close(w, "]");
    write_open(w, "bodies", "[");
    for (int b = 0; b < r->body_count; b++)
    {
        describe_body(w, r, b);
    }
    write_close(w, "]");
    write_close(w, "}");
}

static void describe(writer* w, const run* runs, int run_count)
{
    write_open(w, NULL, "{");
    write_text(w, "version", weft_version());
    write_number(w, "strainLevels", STRAIN_LEVELS);
    write_open(w, "colorMap", "[");
    for (int k = 0; k < MAP_STEPS; k++)
    {
        weft_color c = weft_color_map(k / (MAP_STEPS - 1.0));
        write_vec3(w, NULL, (vec3){floor(255.0 * c.r + 0.5), floor(255.0 * c.g + 0.5), floor(255.0 * c.b + 0.5)});
    }
    write_close(w, "]");
    write_open(w, "runs", "[");
    for (int k = 0; k < run_count; k++)
    {
        describe_run(w, &runs[k]);
    }
    write_close(w, "]");
    write_close(w, "}");
}

// ---- writing

static void put(whole_file* file, const char* text)
{
    whole_file_write(file, text, strlen(text));
}

// `<` only stands in strings, and there could end the element.
static void put_json(whole_file* file, const char* text)
{
    for (const char* less = strchr(text, '<'); less; less = strchr(text, '<'))
    {
        whole_file_write(file, text, (size_t)(less - text));
        put(file, "\\u003c");
        text = less + 1;
    }
    put(file, text);
}

static weft_status put_packet(whole_file* file, int run, const char* name, packet* p, weft_error* error)
{
    packet text = {0};
    bool done = packet_compress(p, &text);
    if (done)
    {
        char head[128];
        snprintf(head, sizeof(head), "<script type=\"text/plain\" id=\"weft-%d-%s\">", run, name);
        put(file, head);
        whole_file_write(file, text.bytes, (size_t)text.used);
        put(file, "</script>\n");
    }
    packet_finish(&text);
    p->used = 0;
    return done ? WEFT_OK : error_set(error, WEFT_NO_MEMORY, file->path, 0, "no memory to compress the run");
}

static weft_status put_run_data(whole_file* file, int index, run* r, packet* p, weft_error* error)
{
    for (int b = 0; b < r->body_count; b++)
    {
        for (int t = 0; t < weft_cache_topology_count(r->cache, b); t++)
        {
            topology_pack(weft_cache_topology_at(r->cache, b, t), p);
        }
    }
    TRY(put_packet(file, index, "meshes", p, error));
    for (int b = 0; b < r->body_count; b++)
    {
        const weft_cache_elements* elements = weft_cache_elements_of(r->cache, b);
        elements ? elements_pack(elements, p) : (void)0;
    }
    TRY(p->used > 0 ? put_packet(file, index, "elements", p, error) : WEFT_OK);
    if (r->scene)
    {
        packet_bytes(p, r->scene, r->scene_size);
        TRY(put_packet(file, index, "scene", p, error));
    }
    stats_columns_pack(&r->stats, p);
    return put_packet(file, index, "stats", p, error);
}

static weft_status put_frames(whole_file* file, int index, run_packer* packer, run* r, packet* p, progress* progress,
                              weft_error* error)
{
    for (int frame = 0; frame < r->frame_count; frame++)
    {
        char name[24];
        snprintf(name, sizeof(name), "%d", frame);
        TRY(run_packer_frame(packer, frame, p, error));
        TRY(put_packet(file, index, name, p, error));
        if (ferror(file->stream))
        {
            return WEFT_OK; // closing says so
        }
        if (progress->function)
        {
            progress->function(progress->context, ++progress->done, progress->total);
        }
    }
    return WEFT_OK;
}

static weft_status put_run(whole_file* file, int index, run* r, int worker_count, progress* progress, weft_error* error)
{
    packet p = {0};
    run_packer* packer = NULL;
    weft_status status = put_run_data(file, index, r, &p, error);
    status = status == WEFT_OK ? run_packer_create(r, worker_count, &packer, error) : status;
    status = status == WEFT_OK ? put_frames(file, index, packer, r, &p, progress, error) : status;
    run_packer_destroy(packer);
    packet_finish(&p);
    return status;
}

static weft_status put_page(whole_file* file, const weft_view_page* page, run* runs, progress* progress,
                            weft_error* error)
{
    const char* text = embedded_pages[0].text;
    const char* middle = strstr(text, mark);
    WEFT_ASSERT(middle);
    writer w = {0};
    describe(&w, runs, page->dir_count);
    if (w.failed)
    {
        mem_free(w.text);
        return error_set(error, WEFT_NO_MEMORY, file->path, 0, "no memory to describe the runs");
    }
    whole_file_write(file, text, (size_t)(middle - text));
    put(file, "<script type=\"application/json\" id=\"weft-runs\">");
    put_json(file, w.text);
    put(file, "</script>\n");
    mem_free(w.text);
    for (int k = 0; k < page->dir_count; k++)
    {
        TRY(put_run(file, k, &runs[k], page->worker_count, progress, error));
    }
    put(file, middle + strlen(mark));
    return WEFT_OK;
}

// ---- the public interface

weft_view_page weft_view_page_default(void)
{
    return (weft_view_page){0};
}

static weft_status open_runs(const weft_view_page* page, run* runs, progress* progress, weft_error* error)
{
    for (int k = 0; k < page->dir_count; k++)
    {
        TRY(run_open(&runs[k], page->dirs[k], error));
        progress->total += 2 * runs[k].frame_count;
    }
    for (int k = 0; k < page->dir_count; k++)
    {
        TRY(run_survey(&runs[k], progress, error));
    }
    return WEFT_OK;
}

static weft_status write_runs(const weft_view_page* page, run* runs, const char* path, weft_error* error)
{
    progress progress = {.function = page->progress, .context = page->progress_context};
    TRY(open_runs(page, runs, &progress, error));
    whole_file* file = MEM_NEW(1, whole_file);
    if (!file)
    {
        return error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to write the page");
    }
    weft_status status = whole_file_open(file, path, error);
    if (status == WEFT_OK)
    {
        status = put_page(file, page, runs, &progress, error);
        if (status == WEFT_OK)
        {
            status = whole_file_close(file, error);
        }
        else
        {
            whole_file_abandon(file);
        }
    }
    mem_free(file);
    return status;
}

weft_status weft_view_write(const weft_view_page* page, const char* path, weft_error* error)
{
    WEFT_ASSERT(page && path && page->dirs && page->dir_count > 0 && page->worker_count >= 0);
    run* runs = MEM_NEW(page->dir_count, run);
    weft_status status = runs ? write_runs(page, runs, path, error)
                              : error_set(error, WEFT_NO_MEMORY, path, 0, "no memory to open the runs");
    for (int k = 0; runs && k < page->dir_count; k++)
    {
        run_finish(&runs[k]);
    }
    mem_free(runs);
    return status;
}
