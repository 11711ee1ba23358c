// The second way through a run: frame by frame, body by body, channel by channel. A frame's packet has for every body
// (still ones in frame 0 only): x, y, z; for cloth strain and contact; then its fields, amounts as one channel,
// categories as two (low and high halves of a whole number); then a byte an element.
#include <string.h>

#include "view/packing.h"
#include "weft/render.h"

enum
{
    CHANNELS_FIXED = 5 // x, y, z, strain, contact
};

typedef struct body_packer
{
    int topology; // that order was made for; -1: none yet
    mesh_order order;
    channel* channels; // [channel_count]
    int channel_count;
    double* strain;  // [vertex_capacity]
    float* field;    // [vertex_capacity]
    uint8_t* states; // [elements]
} body_packer;

struct run_packer
{
    run* r;
    body_packer* bodies; // [body_count]
    contact_marker* marker;
};

bool field_is_packed(const weft_cache* cache, int body, int field, int frame)
{
    return !weft_cache_field_at(cache, body, field)->constant || frame == 0 ||
           weft_cache_topology_of(cache, body, frame) != weft_cache_topology_of(cache, body, frame - 1);
}

// ---- making

static weft_status body_packer_make(body_packer* p, const run* r, int body)
{
    int capacity = r->bodies[body].vertex_capacity;
    p->topology = -1;
    p->channel_count = CHANNELS_FIXED + 2 * weft_cache_field_count(r->cache, body);
    p->channels = MEM_NEW(p->channel_count, channel);
    p->strain = MEM_NEW(capacity, double);
    p->field = MEM_NEW(capacity, float);
    const weft_cache_elements* elements = weft_cache_elements_of(r->cache, body);
    p->states = MEM_NEW((elements ? elements->count : 0) + 1, uint8_t);
    if (!p->channels || !p->strain || !p->field || !p->states)
    {
        return WEFT_NO_MEMORY;
    }
    for (int k = 0; k < p->channel_count; k++)
    {
        TRY(channel_make(&p->channels[k], capacity));
    }
    return WEFT_OK;
}

static void body_packer_finish(body_packer* p)
{
    for (int k = 0; p->channels && k < p->channel_count; k++)
    {
        channel_finish(&p->channels[k]);
    }
    mesh_order_finish(&p->order);
    mem_free(p->channels);
    mem_free(p->strain);
    mem_free(p->field);
    mem_free(p->states);
}

void run_packer_destroy(run_packer* packer)
{
    if (!packer)
    {
        return;
    }
    for (int b = 0; packer->bodies && b < packer->r->body_count; b++)
    {
        body_packer_finish(&packer->bodies[b]);
    }
    contact_marker_destroy(packer->marker);
    mem_free(packer->bodies);
    mem_free(packer);
}

weft_status run_packer_create(run* r, int worker_count, run_packer** out, weft_error* error)
{
    run_packer* packer = *out = MEM_NEW(1, run_packer);
    weft_status status = packer ? WEFT_OK : WEFT_NO_MEMORY;
    if (packer)
    {
        packer->r = r;
        packer->bodies = MEM_NEW(r->body_count, body_packer);
        status = packer->bodies ? WEFT_OK : WEFT_NO_MEMORY;
    }
    for (int b = 0; b < r->body_count && status == WEFT_OK; b++)
    {
        status = body_packer_make(&packer->bodies[b], r, b);
    }
    if (status != WEFT_OK)
    {
        error_set(error, status, r->dir, 0, "no memory to pack the run");
    }
    else
    {
        status = contact_marker_create(r->cache, r->thickness, worker_count, &packer->marker, error);
    }
    if (status != WEFT_OK)
    {
        run_packer_destroy(packer);
        *out = NULL;
    }
    return status;
}

// ---- channels of a body

static uint16_t quantise(double value, double corner, double quantum)
{
    double steps = floor((value - corner) / quantum + 0.5);
    return (uint16_t)fmin(fmax(steps, 0.0), QUANTUM_MAX);
}

static void fill_positions(body_packer* p, const body_survey* s, const vec3* x, int count)
{
    channel* c = p->channels;
    for (int v = 0; v < count; v++)
    {
        bool good = isfinite(x[v].x) && isfinite(x[v].y) && isfinite(x[v].z);
        c[0].now[v] = good ? quantise(x[v].x, s->corner.x, s->quantum) : QUANTUM_NONE;
        c[1].now[v] = good ? quantise(x[v].y, s->corner.y, s->quantum) : QUANTUM_NONE;
        c[2].now[v] = good ? quantise(x[v].z, s->corner.z, s->quantum) : QUANTUM_NONE;
    }
}

// The root spends the levels where cloth is: most of it is stretched far less than the most of it.
static void fill_strain(channel* c, const double* strain, double most, int count)
{
    for (int v = 0; v < count; v++)
    {
        double share = isfinite(strain[v]) && most > 0.0 ? fmin(fmax(strain[v] / most, 0.0), 1.0) : 0.0;
        c->now[v] = (uint16_t)floor(STRAIN_LEVELS * sqrt(share) + 0.5);
    }
}

static void fill_amounts(channel* c, const float* values, field_range range, int count)
{
    double scale = range.high > range.low ? QUANTUM_MAX / ((double)range.high - range.low) : 0.0;
    for (int v = 0; v < count; v++)
    {
        c->now[v] = isfinite(values[v]) ? (uint16_t)floor(((double)values[v] - range.low) * scale + 0.5) : QUANTUM_NONE;
    }
}

static void fill_categories(channel* low, channel* high, const float* values, int count)
{
    for (int v = 0; v < count; v++)
    {
        bool good = fabsf(values[v]) < 1e9f;
        int32_t number = good ? (int32_t)floorf(values[v] + 0.5f) : INT32_MIN;
        low->now[v] = (uint16_t)((uint32_t)number & 0xffff);
        high->now[v] = (uint16_t)((uint32_t)number >> 16);
    }
}

static weft_status pack_fields(run_packer* packer, int body, int frame, packet* out, weft_error* error)
{
    body_packer* p = &packer->bodies[body];
    weft_cache* cache = packer->r->cache;
    for (int f = 0; f < weft_cache_field_count(cache, body); f++)
    {
        if (!field_is_packed(cache, body, f, frame))
        {
            continue;
        }
        channel* c = &p->channels[CHANNELS_FIXED + 2 * f];
        TRY(weft_cache_read_field(cache, body, f, frame, p->field, error));
        if (weft_cache_field_at(cache, body, f)->categories)
        {
            fill_categories(&c[0], &c[1], p->field, p->order.count);
            channel_pack(&c[0], &p->order, out);
            channel_pack(&c[1], &p->order, out);
            continue;
        }
        fill_amounts(c, p->field, packer->r->bodies[body].fields[f], p->order.count);
        channel_pack(c, &p->order, out);
    }
    return WEFT_OK;
}

// States as they are: most of them are those of the elements beside, which compression sees.
static weft_status pack_elements(run_packer* packer, int body, int frame, packet* out, weft_error* error)
{
    weft_cache* cache = packer->r->cache;
    const weft_cache_elements* elements = weft_cache_elements_of(cache, body);
    if (!elements)
    {
        return WEFT_OK;
    }
    TRY(weft_cache_read_elements(cache, body, frame, packer->bodies[body].states, error));
    packet_bytes(out, packer->bodies[body].states, (size_t)elements->count);
    return WEFT_OK;
}

// ---- bodies and frames

static weft_status body_follow(body_packer* p, const weft_cache_body* body, int topology)
{
    if (p->topology == topology)
    {
        return WEFT_OK;
    }
    for (int k = 0; k < p->channel_count && p->topology >= 0; k++)
    {
        channel_follow(&p->channels[k], body->origin, body->vertex_count);
    }
    p->topology = topology;
    mesh_order_finish(&p->order);
    return mesh_order_make(body->vertex_count, body->triangles, body->triangle_count, &p->order);
}

static weft_status pack_cloth(run_packer* packer, int b, const weft_cache_body* body, packet* out)
{
    body_packer* p = &packer->bodies[b];
    run* r = packer->r;
    TRY(weft_render_strain(body->rest, r->positions[b], body->vertex_count, body->triangles, body->triangle_count,
                           p->strain));
    fill_strain(&p->channels[3], p->strain, r->bodies[b].strain_max, body->vertex_count);
    channel_pack(&p->channels[3], &p->order, out);
    for (int v = 0; v < body->vertex_count; v++)
    {
        p->channels[4].now[v] = r->marks[b][v];
    }
    channel_pack(&p->channels[4], &p->order, out);
    return WEFT_OK;
}

static weft_status pack_body(run_packer* packer, int b, int frame, packet* out, weft_error* error)
{
    run* r = packer->r;
    body_packer* p = &packer->bodies[b];
    int topology = weft_cache_topology_of(r->cache, b, frame);
    const weft_cache_body* body = weft_cache_topology_at(r->cache, b, topology);
    weft_status status = body_follow(p, body, topology);
    if (status == WEFT_OK)
    {
        fill_positions(p, &r->bodies[b], r->positions[b], body->vertex_count);
        for (int axis = 0; axis < 3; axis++)
        {
            channel_pack(&p->channels[axis], &p->order, out);
        }
        status = body->obstacle ? WEFT_OK : pack_cloth(packer, b, body, out);
    }
    if (status != WEFT_OK)
    {
        return error_set(error, status, r->dir, 0, "no memory to pack the run");
    }
    TRY(pack_fields(packer, b, frame, out, error));
    return pack_elements(packer, b, frame, out, error);
}

weft_status run_packer_frame(run_packer* packer, int frame, packet* out, weft_error* error)
{
    run* r = packer->r;
    for (int b = 0; b < r->body_count; b++)
    {
        TRY(weft_cache_read_frame(r->cache, b, frame, r->positions[b], error));
    }
    TRY(contact_marker_frame(packer->marker, frame, (const vec3* const*)r->positions, r->marks, error));
    for (int b = 0; b < r->body_count; b++)
    {
        if (frame == 0 || !weft_cache_body_at(r->cache, b)->still)
        {
            TRY(pack_body(packer, b, frame, out, error));
        }
    }
    return out->failed ? error_set(error, WEFT_NO_MEMORY, r->dir, 0, "no memory to pack the run") : WEFT_OK;
}
