// How a run is packed into a page. The reader is viewer/src/unpack.js; docs/view.md describes the format.
//
// A page holds packets, each compressed and written as base64: for every run the meshes, scene.json, the columns of
// stats.jsonl, and one packet a frame. Numbers for vertices (coordinates, strain, contact, fields) are channels of
// 16-bit whole numbers, predicted from the frames before and from neighbours; what the prediction leaves is stored in
// planes of bytes.
#ifndef WEFT_PACKING_H
#define WEFT_PACKING_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/cache.h"

enum
{
    QUANTUM_MAX = 65534,              // largest number of a channel
    QUANTUM_NONE = 65535,             // stands for a value that is not finite
    STRAIN_LEVELS = 255,              // strain is stored as the root of its share of the run's largest
    CONTACT_THICKNESSES_PERCENT = 150 // features nearer than this share of the thickness touch
};

// ---- bytes that grow; failed stays set once there was no memory
typedef struct packet
{
    uint8_t* bytes;
    int used, capacity;
    bool failed;
} packet;

void packet_byte(packet* p, uint8_t value);
void packet_bytes(packet* p, const void* bytes, size_t size);
void packet_count(packet* p, uint32_t value);             // 7 bits a byte, low ones first
void packet_difference(packet* p, int value, int before); // signed, as a count: 0, -1, 1, -2, ...
void packet_float(packet* p, float value);                // little-endian
void packet_finish(packet* p);

// Compresses a packet (zlib format) and appends it to a text as base64. False: no memory.
bool packet_compress(const packet* p, packet* text);

// ---- the way through a mesh: each vertex follows neighbours that came before it
typedef struct mesh_order
{
    int count;
    int* vertex;  // [count] by place
    int* parents; // [3 * count] by place: vertices a, b, c; the guess is a + b - c. -1: there is none before it
} mesh_order;

weft_status mesh_order_make(int vertex_count, const int* triangles, int triangle_count, mesh_order* out);
void mesh_order_finish(mesh_order* order); // all zero is fine

// ---- channels
typedef struct channel
{
    uint16_t *now, *before, *before2; // [capacity] by vertex: this frame, the one before, the one before that
    int history;                      // frames before this one that are known: 0, 1, 2
} channel;

weft_status channel_make(channel* c, int capacity);
void channel_finish(channel* c);
// Packs `now` by the prediction that leaves least, and makes it the frame before.
void channel_pack(channel* c, const mesh_order* order, packet* out);
// A new topology: history follows origin, [vertex_count]. Before `now` is filled.
void channel_follow(channel* c, const int* origin, int vertex_count);

// ---- meshes
void topology_pack(const weft_cache_body* body, packet* out);
void elements_pack(const weft_cache_elements* elements, packet* out);

// ---- stats.jsonl as columns of numbers: `time`, `iterations`, `energy.kinetic`, ...; lists count as their lengths
typedef struct stats_columns
{
    char** names; // [column_count]
    int column_count, column_capacity;
    float** values; // [column_count][row_capacity] NaN: the line does not have it
    int row_count, row_capacity;
    int damaged; // lines that are no JSON object
} stats_columns;

// A file that is not there gives none. Fails only for want of memory or when reading does.
weft_status stats_columns_read(const char* path, stats_columns* out, weft_error* error);
void stats_columns_pack(const stats_columns* stats, packet* out);
void stats_columns_finish(stats_columns* stats);

// ---- contact: which vertices of cloth are near another body or another part of the cloth
typedef struct contact_marker contact_marker;

// thickness is [body_count] m. worker_count as weft_collider_def has it.
weft_status contact_marker_create(weft_cache* cache, const double* thickness, int worker_count, contact_marker** out,
                                  weft_error* error);
void contact_marker_destroy(contact_marker* marker);
// positions[k] is that of body k in that frame; marks[k] is [vertex_count] of its topology, 0 or 1. A frame with values
// that are not finite, or with more pairs than can be looked at, has no marks.
weft_status contact_marker_frame(contact_marker* marker, int frame, const vec3* const* positions, uint8_t** marks,
                                 weft_error* error);

// ---- one run
typedef struct field_range
{
    float low, high; // finite values of all frames; low > high: there are none
} field_range;

typedef struct body_survey
{
    vec3 corner, size;               // of the box of all frames
    double quantum;                  // m; above 0
    int vertex_capacity;             // most of all its topologies
    double strain_max, strain_usual; // cloth: largest, and the largest 99th percentile of a frame
    double speed_usual;              // m/s
    field_range* fields;             // [field count]
} body_survey;

typedef struct run
{
    const char* dir;
    char* name; // for people
    weft_cache* cache;
    int frame_count, body_count;
    body_survey* bodies; // [body_count]
    char* scene;         // text of scene.json, NULL: none
    size_t scene_size;
    double* thickness; // [body_count] m
    stats_columns stats;
    vec3** positions; // [body_count] scratch
    uint8_t** marks;  // [body_count] scratch
} run;

// Called after each frame of each of the two ways through a run; NULL function: none.
typedef struct progress
{
    void (*function)(void* context, int done, int total);
    void* context;
    int done, total;
} progress;

weft_status run_open(run* r, const char* dir, weft_error* error);
weft_status run_survey(run* r, progress* p, weft_error* error);
void run_finish(run* r);

// Packs the frames of a run in order. Each call fills `out` with the next one.
typedef struct run_packer run_packer;
weft_status run_packer_create(run* r, int worker_count, run_packer** out, weft_error* error);
weft_status run_packer_frame(run_packer* packer, int frame, packet* out, weft_error* error);
void run_packer_destroy(run_packer* packer); // NULL is fine
// Whether a frame's packet has the values of a field: constant ones only come with a new topology.
bool field_is_packed(const weft_cache* cache, int body, int field, int frame);

#endif
