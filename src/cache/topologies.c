// The meshes of a body and their samples: NAME.obj and NAME.pc2, and for a cloth that tears NAME.G.obj and NAME.G.pc2
// from the frame on that frames.jsonl says. A topology has the vertices of the one before, and then its copies. A
// body's frames end where a file holds fewer samples than the topology lasts. One that comes begins with the frame that
// the list says, one that goes has no more samples from that frame on.
#include <string.h>

#include "cache/reader.h"

// ---- one topology

static weft_status load_mesh(topology* t, const char* path, weft_error* error)
{
    obj_options options = {.any_form = true, .keep_given = true};
    mesh* m = &t->mesh;
    TRY(mesh_from_obj(path, &options, m, error));
    // Whoever simulated it found it good enough: inspection and pictures take what cloth could not have, too.
    TRY(mesh_split(m, error));
    for (int k = 0; k < 3 * m->triangle_count && m->same; k++)
    {
        m->triangle[k] = m->same[m->triangle[k]];
    }
    for (int k = 0; k < 2 * m->segment_count && m->same; k++)
    {
        m->segment[k] = m->same[m->segment[k]];
    }
    return WEFT_OK;
}

static const char* obj_name(const topology* t)
{
    const char* slash = t->mesh.file ? strrchr(t->mesh.file, '/') : NULL;
    return slash ? slash + 1 : "the OBJ file";
}

static weft_status check_samples(const topology* t, const pc2* samples, const char* path, weft_error* error)
{
    if (pc2_point_count(samples) != t->mesh.vertex_count)
    {
        return error_set(error, WEFT_BAD_INPUT, path, 0,
                         "%d points where %s has %d vertices: the files are not of one mesh; write both again, "
                         "of one run or in one export",
                         pc2_point_count(samples), obj_name(t), t->mesh.vertex_count);
    }
    if (t->start > 0 && pc2_start_frame(samples) != (float)t->start)
    {
        return error_set(
            error, WEFT_BAD_INPUT, path, 0,
            "its header starts at frame %g, where frames.jsonl starts this topology at frame %d: the files are "
            "not of one run; copy the whole folder again",
            (double)pc2_start_frame(samples), t->start);
    }
    return WEFT_OK;
}

static weft_status load_samples(topology* t, const char* path, weft_error* error)
{
    pc2* samples = NULL;
    TRY(pc2_open(path, &samples, error));
    t->sample_count = pc2_sample_count(samples);
    weft_status status = check_samples(t, samples, path, error);
    pc2_close(samples, NULL);
    return status;
}

static weft_status load_files(body* b, int index, const char* dir, weft_error* error)
{
    topology* t = &b->topologies[index];
    char* obj = topology_path(dir, b->name, index, ".obj");
    char* points = topology_path(dir, b->name, index, ".pc2");
    weft_status status = obj && points ? WEFT_OK : reader_no_memory(dir, error);
    status = status == WEFT_OK ? load_mesh(t, obj, error) : status;
    status = status == WEFT_OK && !b->still ? load_samples(t, points, error) : status;
    mem_free(obj);
    mem_free(points);
    return status;
}

static void make_view(body* b, topology* t)
{
    weft_labels labels = mesh_labels(&t->mesh);
    t->view = (weft_cache_body){
        .name = b->name,
        .obstacle = b->obstacle,
        .still = b->still,
        .solid = b->solid,
        .thickness = b->thickness,
        .from = b->from,
        .until = b->until,
        .vertex_count = t->mesh.vertex_count,
        .rest = t->mesh.position,
        .face_count = t->mesh.face_count,
        .face_start = t->mesh.face_start,
        .face_vertices = t->mesh.face_vertex,
        .triangle_count = t->mesh.triangle_count,
        .triangles = t->mesh.triangle,
        .triangle_corners = t->mesh.triangle_corner,
        .lines = t->mesh.form == MESH_LINES,
        .segment_count = t->mesh.segment_count,
        .segments = t->mesh.segment,
        .texcoord_count = t->mesh.texcoord_count,
        .texcoords = t->mesh.texcoord ? &t->mesh.texcoord->x : NULL,
        .face_texcoords = t->mesh.face_texcoord,
        .origin = t->origin,
        .same = t->mesh.same,
        .objects = labels.objects,
        .groups = labels.groups,
        .materials = labels.materials,
        .libraries = labels.libraries,
        .library_count = labels.library_count,
    };
}

// ---- changes

static weft_status check_change(const topology_changes* list, const topology_change* change, const topology* before,
                                int index, weft_error* error)
{
    if (change->topology != index || change->frame <= before->start)
    {
        return error_set(
            error, WEFT_BAD_INPUT, list->path, change->line,
            "topology %d of `%.100s` from frame %d on follows topology %d from frame %d on: both must grow, "
            "topologies one by one; copy the folder again, or run the scene again",
            change->topology, change->body, change->frame, index - 1, before->start);
    }
    for (int k = 0; k < change->copy_count; k++)
    {
        if (change->copies[k] >= before->mesh.vertex_count)
        {
            return error_set(
                error, WEFT_BAD_INPUT, list->path, change->line,
                "a copy of vertex %d, where topology %d of `%.100s` has %d vertices; copy the folder again, or "
                "run the scene again",
                change->copies[k], index - 1, change->body, before->mesh.vertex_count);
        }
    }
    return WEFT_OK;
}

static weft_status follow_origins(const topology_changes* list, const topology_change* change, const topology* before,
                                  topology* t, weft_error* error)
{
    int kept = before->mesh.vertex_count, count = t->mesh.vertex_count;
    if ((int64_t)kept + change->copy_count != count)
    {
        return error_set(
            error, WEFT_BAD_INPUT, list->path, change->line,
            "%d vertices and %d copies make no %d, which %.200s has: the files are not of one run; copy the "
            "whole folder again",
            kept, change->copy_count, count, obj_name(t));
    }
    t->origin = mem_raw((size_t)count, sizeof(int));
    if (!t->origin)
    {
        return reader_no_memory(list->path, error);
    }
    for (int v = 0; v < count; v++)
    {
        t->origin[v] = v < kept ? v : change->copies[v - kept];
    }
    return WEFT_OK;
}

// A polygon is cut as it was before the tear, which is how it is simulated: of equally long diagonals the one at its
// lowest vertex is taken, and that may be the one that was torn off. Not of meshes that another program has changed.
static void keep_cuts(const mesh* before, const int* origin, mesh* m)
{
    bool same = before->face_count == m->face_count && before->triangle_count == m->triangle_count &&
                memcmp(before->face_start, m->face_start, ((size_t)m->face_count + 1) * sizeof(int)) == 0;
    for (int k = 0; same && k < m->face_start[m->face_count]; k++)
    {
        same = origin[m->face_vertex[k]] == before->face_vertex[k];
    }
    for (int k = 0; same && k < 3 * m->triangle_count; k++)
    {
        int corner = before->triangle_corner[k], vertex = m->face_vertex[corner];
        m->triangle_corner[k] = corner;
        m->triangle[k] = m->same ? m->same[vertex] : vertex;
        m->triangle_face[k / 3] = before->triangle_face[k / 3];
    }
}

// The line that lists a topology tells more than a file that is not there.
static weft_status load_change(body* b, const char* dir, const topology_changes* list, const topology_change* change,
                               weft_error* error)
{
    int index = b->topology_count;
    topology *before = &b->topologies[index - 1], *t = &b->topologies[index];
    TRY(check_change(list, change, before, index, error));
    t->start = change->frame;
    b->topology_count++; // from here on it is to be finished
    weft_status status = load_files(b, index, dir, error);
    if (status == WEFT_NOT_FOUND)
    {
        return error_set(
            error, WEFT_BAD_INPUT, list->path, change->line,
            "the folder lacks %.100s.%d.obj or %.100s.%d.pc2, the topology from frame %d on; copy the whole "
            "folder, or run the scene again",
            b->name, index, b->name, index, change->frame);
    }
    TRY(status);
    TRY(follow_origins(list, change, before, t, error));
    keep_cuts(&before->mesh, t->origin, &t->mesh);
    make_view(b, t);
    return WEFT_OK;
}

// ---- a body

static int count_frames(const body* b)
{
    for (int g = 0; g < b->topology_count; g++)
    {
        const topology* t = &b->topologies[g];
        bool last = g + 1 == b->topology_count;
        if (last || t->sample_count < t[1].start - t->start)
        {
            int end = t->sample_count > INT32_MAX - t->start ? INT32_MAX : t->start + t->sample_count;
            return last && end >= b->until ? INT32_MAX : end;
        }
    }
    return 0;
}

// When the body is there. It comes before all else, and nothing follows when it goes.
static weft_status take_stay(body* b, const topology_changes* changes, weft_error* error)
{
    b->until = INT32_MAX;
    int earlier = 0;
    for (int k = 0; k < changes->count; k++)
    {
        const topology_change* change = &changes->items[k];
        if (strcmp(change->body, b->name) != 0)
        {
            continue;
        }
        bool comes = change->kind == CHANGE_COMES, goes = change->kind == CHANGE_GOES;
        if (b->until != INT32_MAX || (comes && earlier > 0) || (goes && change->frame <= b->from))
        {
            return error_set(error, WEFT_BAD_INPUT, changes->path, change->line,
                             "`%.100s` %s at frame %d, after what lines before say of it: a body comes once, and goes "
                             "once, later; copy the folder again, or run the scene again",
                             b->name,
                             comes  ? "comes"
                             : goes ? "goes"
                                    : "tears",
                             change->frame);
        }
        b->from = comes ? change->frame : b->from;
        b->until = goes ? change->frame : b->until;
        earlier++;
    }
    return WEFT_OK;
}

static weft_status load_changes(body* b, const char* dir, const topology_changes* changes, weft_error* error)
{
    for (int k = 0; k < changes->count; k++)
    {
        const topology_change* change = &changes->items[k];
        if (change->kind != CHANGE_TEARS || strcmp(change->body, b->name) != 0)
        {
            continue;
        }
        if (b->still)
        {
            return error_set(error, WEFT_BAD_INPUT, changes->path, change->line,
                             "`%.100s` has no %.100s.pc2: a body that stands still has one topology", b->name, b->name);
        }
        TRY(load_change(b, dir, changes, change, error));
    }
    return WEFT_OK;
}

weft_status topologies_load(body* b, const char* dir, const topology_changes* changes, weft_error* error)
{
    int most = 1;
    for (int k = 0; k < changes->count; k++)
    {
        most += strcmp(changes->items[k].body, b->name) == 0;
    }
    b->topologies = MEM_NEW(most, topology);
    if (!b->topologies)
    {
        return reader_no_memory(dir, error);
    }
    b->topology_count = 1;
    TRY(take_stay(b, changes, error));
    b->topologies[0].start = b->from;
    TRY(load_files(b, 0, dir, error));
    make_view(b, &b->topologies[0]);
    TRY(load_changes(b, dir, changes, error));
    b->frame_count = count_frames(b);
    return WEFT_OK;
}

void topologies_finish(body* b)
{
    for (int g = 0; g < b->topology_count; g++)
    {
        mesh_finish(&b->topologies[g].mesh);
        mem_free(b->topologies[g].origin);
    }
    mem_free(b->topologies);
    pc2_close(b->samples, NULL);
}

// ---- positions

int body_clamp(const body* b, int frame)
{
    return int_max(b->from, int_min(frame, b->until - 1));
}

int topology_of(const body* b, int frame)
{
    int low = 0, high = b->topology_count; // of the last that starts at the frame or before
    while (high - low > 1)
    {
        int middle = low + (high - low) / 2;
        b->topologies[middle].start <= frame ? (low = middle) : (high = middle);
    }
    return low;
}

static weft_status open_samples(body* b, const char* dir, int index, weft_error* error)
{
    if (b->samples && b->open == index)
    {
        return WEFT_OK;
    }
    pc2_close(b->samples, NULL);
    b->samples = NULL;
    char* path = topology_path(dir, b->name, index, ".pc2");
    weft_status status = path ? pc2_open(path, &b->samples, error) : reader_no_memory(dir, error);
    mem_free(path);
    b->open = index;
    return status;
}

weft_status topologies_read(body* b, const char* dir, int frame, int first, int count, vec3* out, weft_error* error)
{
    frame = body_clamp(b, frame);
    int index = topology_of(b, frame);
    const topology* t = &b->topologies[index];
    WEFT_ASSERT(first >= 0 && first <= t->mesh.vertex_count && count <= t->mesh.vertex_count - first);
    count = count < 0 ? t->mesh.vertex_count - first : count;
    if (b->still)
    {
        memcpy(out, t->mesh.position + first, (size_t)count * sizeof(vec3));
        return WEFT_OK;
    }
    TRY(open_samples(b, dir, index, error));
    int sample = frame - t->start;
    if (pc2_point_count(b->samples) != t->mesh.vertex_count || sample >= pc2_sample_count(b->samples))
    {
        return error_set(error, WEFT_IO, dir, 0, "the point cache of `%.100s` was cut or replaced while it was read",
                         b->name);
    }
    return pc2_read_points(b->samples, sample, first, count, out, error);
}

// ---- the public interface

int weft_cache_topology_count(const weft_cache* cache, int body)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count);
    return cache->bodies[body].coarse ? 1 : cache->bodies[body].topology_count;
}

const weft_cache_body* weft_cache_topology_at(const weft_cache* cache, int body, int topology)
{
    WEFT_ASSERT(topology >= 0 && topology < weft_cache_topology_count(cache, body));
    const struct body* b = &cache->bodies[body];
    return b->coarse ? &b->coarse->view : &b->topologies[topology].view;
}

int weft_cache_topology_of(const weft_cache* cache, int body, int frame)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count && frame >= 0);
    return cache->bodies[body].coarse ? 0 : topology_of(&cache->bodies[body], frame);
}

int weft_cache_topology_start(const weft_cache* cache, int body, int topology)
{
    WEFT_ASSERT(topology >= 0 && topology < weft_cache_topology_count(cache, body));
    return cache->bodies[body].topologies[topology].start;
}

int weft_cache_present(const weft_cache* cache, int body, int frame)
{
    WEFT_ASSERT(cache && body >= 0 && body < cache->body_count && frame >= 0);
    return body_clamp(&cache->bodies[body], frame) == frame;
}
