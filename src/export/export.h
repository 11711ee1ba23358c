// One file a format; all of them get the same job: bodies, frames and axes are chosen already.
#ifndef WEFT_EXPORT_ROOM_H
#define WEFT_EXPORT_ROOM_H

#include "core/core.h"
#include "math/vec.h"
#include "weft/export.h"

typedef struct export_job
{
    weft_cache* cache;
    const weft_export_def* def;
    int body_count;
    int* body; // [body_count] as the cache counts
    int frame_count;
    double frame_rate;
    vec3* scratch; // [vertices of the largest topology]
} export_job;

// Frame of the run that is frame k of the export.
int export_frame(const export_job* job, int k);
double export_time(const export_job* job, int k); // seconds from the first exported frame
// The topology of a body in an exported frame, and the last one that is exported.
const weft_cache_body* export_topology(const export_job* job, int body, int k);
const weft_cache_body* export_last_topology(const export_job* job, int body);
bool export_changes(const export_job* job, int body); // the topology does, within the exported frames
// Positions of an exported frame, turned to the wanted axes: in its own topology; or in the last one, where each torn-off
// copy follows its origin until the split. Out is [vertex_count of that topology].
weft_status export_positions(export_job* job, int body, int k, vec3* out, weft_error* error);
weft_status export_positions_last(export_job* job, int body, int k, vec3* out, weft_error* error);
vec3 export_turn(const export_job* job, vec3 x);
void export_progress(const export_job* job, int done, int total);

typedef weft_status export_fn(export_job* job, const char* target, weft_error* error);

typedef struct export_format
{
    const char *name, *summary;
    bool folder; // the target is a folder that appears whole; run gets the name of a temporary one
    export_fn* run;
} export_format;

export_fn export_pc2, export_mdd, export_obj, export_ply, export_abc, export_vtp, export_gltf, export_usda;

#endif
