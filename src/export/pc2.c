// PC2 point caches: "POINTCACHE2\0", int32 version 1, int32 points, float start frame, float frames a sample, int32
// samples, then float xyz of every point, little endian. One topology, the last: torn-off copies follow their origin
// until the split. The frame rate has no place in it.
#include "export/export.h"

static void put_header(const export_job* job, whole_file* file, int points)
{
    static const char magic[12] = "POINTCACHE2";
    const int head[2] = {1, points};
    const double range[2] = {export_number(job, 0), job->def->every};
    whole_file_write(file, magic, sizeof(magic));
    export_put_ints(file, head, 2);
    export_put_floats(file, range, 2);
    export_put_ints(file, &job->frame_count, 1);
}

static void put_piece(void* context, const vec3* points, int begin, int count)
{
    (void)begin;
    export_put_floats(context, export_flat(points), 3 * (int64_t)count);
}

static weft_status put_body(export_job* job, int body, whole_file* file, weft_error* error)
{
    int points = export_last_topology(job, body)->vertex_count;
    put_header(job, file, points);
    for (int k = 0; k < job->frame_count; k++)
    {
        TRY(export_pieces_last(job, body, k, put_piece, file, error));
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

weft_status export_pc2_file(export_job* job, const char* target, weft_error* error)
{
    return export_body_file(job, 0, put_body, target, error);
}

weft_status export_pc2(export_job* job, const char* target, weft_error* error)
{
    return export_point_caches(job, target, ".pc2", put_body, error);
}
