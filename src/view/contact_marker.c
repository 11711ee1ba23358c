// Contact for the eye: a vertex of cloth is marked where a feature that it belongs to is nearer than one and a half
// thicknesses to another body, or to a part of its own cloth that is not next to it at rest. Nearness is that of
// weft_collider_near; fine meshes have features within a thickness of each other by being neighbours, which the rest
// shape tells apart.
#include <string.h>

#include "view/packing.h"
#include "weft/collide.h"

struct contact_marker
{
    weft_cache* cache;
    const double* thickness; // [body_count]
    double reach;            // m, of the thickest body
    int body_count, worker_count;
    int* topology;           // [body_count] that the collider was made for; -1: none yet
    uint8_t* present;        // [body_count] likewise: whether the body is there
    int* offset;             // [body_count + 1] first vertex of each body
    weft_collider* collider; // NULL: there is nothing to look for
    vec3 *rest, *positions;  // [offset[body_count]]
    int* body;               // [offset[body_count]]
};

static const double reach_share = CONTACT_THICKNESSES_PERCENT / 100.0;

static void marker_drop(contact_marker* m)
{
    weft_collider_destroy(m->collider);
    mem_free(m->rest);
    mem_free(m->positions);
    mem_free(m->body);
    m->collider = NULL;
    m->rest = m->positions = NULL;
    m->body = NULL;
}

void contact_marker_destroy(contact_marker* m)
{
    if (m)
    {
        marker_drop(m);
        mem_free(m->topology);
        mem_free(m->present);
        mem_free(m->offset);
        mem_free(m);
    }
}

weft_status contact_marker_create(weft_cache* cache, const double* thickness, int worker_count, contact_marker** out,
                                  weft_error* error)
{
    int count = weft_cache_body_count(cache);
    contact_marker* m = MEM_NEW(1, contact_marker);
    *out = m;
    if (!m || !(m->topology = MEM_NEW(count, int)) || !(m->present = MEM_NEW(count, uint8_t)) ||
        !(m->offset = MEM_NEW((size_t)count + 1, int)))
    {
        contact_marker_destroy(m);
        *out = NULL;
        return error_set(error, WEFT_NO_MEMORY, "", 0, "no memory to look for contacts");
    }
    m->cache = cache;
    m->thickness = thickness;
    m->body_count = count;
    m->worker_count = worker_count;
    for (int b = 0; b < count; b++)
    {
        m->topology[b] = -1;
        m->reach = fmax(m->reach, reach_share * thickness[b]);
    }
    return WEFT_OK;
}

// ---- the collider of a topology

// All triangles with three different corners, in the numbers of the whole scene. Returns how many; out may be NULL.
static int gather_triangles(const contact_marker* m, int* out)
{
    int count = 0;
    for (int b = 0; b < m->body_count; b++)
    {
        const weft_cache_body* body = weft_cache_topology_at(m->cache, b, m->topology[b]);
        for (int t = 0; t < body->triangle_count && m->present[b]; t++)
        {
            const int* c = body->triangles + 3 * (size_t)t;
            if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            {
                continue;
            }
            for (int k = 0; k < 3 && out; k++)
            {
                out[3 * (size_t)count + k] = m->offset[b] + c[k];
            }
            count++;
        }
    }
    return count;
}

// Likewise the segments of lines.
static int gather_segments(const contact_marker* m, int* out)
{
    int count = 0;
    for (int b = 0; b < m->body_count; b++)
    {
        const weft_cache_body* body = weft_cache_topology_at(m->cache, b, m->topology[b]);
        for (int s = 0; s < body->segment_count && m->present[b]; s++)
        {
            const int* v = body->segments + 2 * (size_t)s;
            for (int k = 0; k < 2 && out && v[0] != v[1]; k++)
            {
                out[2 * (size_t)count + k] = m->offset[b] + v[k];
            }
            count += v[0] != v[1];
        }
    }
    return count;
}

static bool marker_allocate(contact_marker* m)
{
    int total = m->offset[m->body_count];
    m->rest = MEM_NEW(total, vec3);
    m->positions = MEM_NEW(total, vec3);
    m->body = MEM_NEW(total, int);
    return m->rest && m->positions && m->body;
}

static void marker_fill(contact_marker* m, uint8_t* passive)
{
    for (int b = 0; b < m->body_count; b++)
    {
        const weft_cache_body* body = weft_cache_topology_at(m->cache, b, m->topology[b]);
        passive[b] = body->obstacle != 0;
        memcpy(m->rest + m->offset[b], body->rest, (size_t)body->vertex_count * sizeof(vec3));
        for (int v = 0; v < body->vertex_count; v++)
        {
            m->body[m->offset[b] + v] = b;
        }
    }
}

static weft_status marker_build(contact_marker* m, weft_error* error)
{
    int count = gather_triangles(m, NULL), segment_count = gather_segments(m, NULL);
    int* triangles = MEM_NEW(3 * (size_t)count, int);
    int* segments = MEM_NEW(2 * (size_t)segment_count, int);
    uint8_t* passive = MEM_NEW(m->body_count, uint8_t);
    weft_status status = WEFT_NO_MEMORY;
    if (triangles && segments && passive && marker_allocate(m))
    {
        gather_triangles(m, triangles);
        gather_segments(m, segments);
        marker_fill(m, passive);
        weft_collider_def def = weft_collider_def_default();
        def.vertex_count = m->offset[m->body_count];
        def.triangles = triangles;
        def.triangle_count = count;
        def.edges = segments;
        def.edge_count = segment_count;
        def.body = m->body;
        def.body_count = m->body_count;
        def.passive = passive;
        def.worker_count = m->worker_count;
        status = weft_collider_create(&def, &m->collider, error);
    }
    else
    {
        error_set(error, status, "", 0, "no memory to look for contacts");
    }
    mem_free(triangles);
    mem_free(segments);
    mem_free(passive);
    return status;
}

static weft_status marker_follow(contact_marker* m, int frame, weft_error* error)
{
    bool same = m->topology[0] >= 0;
    for (int b = 0; b < m->body_count; b++)
    {
        int topology = weft_cache_topology_of(m->cache, b, frame);
        uint8_t present = weft_cache_present(m->cache, b, frame) != 0;
        same = same && m->topology[b] == topology && m->present[b] == present;
        m->topology[b] = topology;
        m->present[b] = present;
        m->offset[b + 1] = m->offset[b] + weft_cache_topology_at(m->cache, b, topology)->vertex_count;
    }
    if (same)
    {
        return WEFT_OK;
    }
    marker_drop(m);
    return marker_build(m, error);
}

// ---- marks

static bool pair_touches(const contact_marker* m, const weft_near* near)
{
    int first = m->body[near->vertex[0]];
    int second = m->body[near->vertex[near->kind == WEFT_EDGE_EDGE ? 2 : 1]];
    double reach = reach_share * fmax(m->thickness[first], m->thickness[second]);
    if (near->distance > reach || first != second)
    {
        return near->distance <= reach;
    }
    vec3 apart = {0};
    for (int k = 0; k < 4; k++)
    {
        apart = v3_madd(apart, near->weight[k], m->rest[near->vertex[k]]);
    }
    return v3_length(apart) > 2.0 * reach;
}

static void pair_mark(const contact_marker* m, const weft_near* near, uint8_t** marks)
{
    for (int k = 0; k < 4; k++)
    {
        int v = near->vertex[k], b = m->body[v];
        if (fabs(near->weight[k]) > 1e-9)
        {
            marks[b][v - m->offset[b]] = 1;
        }
    }
}

weft_status contact_marker_frame(contact_marker* m, int frame, const vec3* const* positions, uint8_t** marks,
                                 weft_error* error)
{
    TRY(marker_follow(m, frame, error));
    for (int b = 0; b < m->body_count; b++)
    {
        int count = m->offset[b + 1] - m->offset[b];
        memset(marks[b], 0, (size_t)count);
        memcpy(m->positions + m->offset[b], positions[b], (size_t)count * sizeof(vec3));
    }
    const weft_near* near = NULL;
    int count = 0;
    weft_status status = weft_collider_update(m->collider, m->positions, m->positions, m->reach, error);
    status = status == WEFT_OK ? weft_collider_near(m->collider, m->reach, &near, &count, error) : status;
    if (status == WEFT_NOT_FINITE || status == WEFT_BAD_INPUT)
    {
        return WEFT_OK; // values that are not finite, or heaps beyond all limits: the rest of the page is still of use
    }
    for (int k = 0; k < count && status == WEFT_OK; k++)
    {
        if (pair_touches(m, &near[k]))
        {
            pair_mark(m, &near[k], marks);
        }
    }
    return status;
}
