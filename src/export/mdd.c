// MDD point caches (LightWave): int32 frames, int32 points, a float time in seconds for each frame, then float xyz of
// every point, all big endian. One topology, the last: torn-off copies follow their origin until the split.
#include "export/export.h"

static void put_piece(void* context, const vec3* points, int begin, int count)
{
    (void)begin;
    export_put_floats_big(context, export_flat(points), 3 * (int64_t)count);
}

static weft_status put_body(export_job* job, int body, whole_file* file, weft_error* error)
{
    int points = export_last_topology(job, body)->vertex_count;
    const int head[2] = {job->frame_count, points};
    export_put_ints_big(file, head, 2);
    for (int k = 0; k < job->frame_count; k++)
    {
        double time = export_time(job, k);
        export_put_floats_big(file, &time, 1);
    }
    for (int k = 0; k < job->frame_count; k++)
    {
        TRY(export_pieces_last(job, body, k, put_piece, file, error));
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

weft_status export_mdd_file(export_job* job, const char* target, weft_error* error)
{
    return export_body_file(job, 0, put_body, target, error);
}

weft_status export_mdd(export_job* job, const char* target, weft_error* error)
{
    return export_point_caches(job, target, ".mdd", put_body, error);
}
