// PC2 point caches: "POINTCACHE2\0", int32 version 1, int32 points, float start frame 0, float frames a sample 1, int32
// samples, then float xyz of every point, little endian. Beside each stands NAME.obj, the mesh that it moves; a body
// that stands still has no more than that. One topology, the last: torn-off copies follow their origin until the split.
#include "export/export.h"

static void put_header(whole_file* file, int points, int samples)
{
    static const char magic[12] = "POINTCACHE2";
    const int head[2] = {1, points};
    const double rate[2] = {0.0, 1.0}; // the frame rate has no place in a PC2 file
    whole_file_write(file, magic, sizeof(magic));
    export_put_ints(file, head, 2);
    export_put_floats(file, rate, 2);
    export_put_ints(file, &samples, 1);
}

static weft_status put_samples(export_job* job, int body, whole_file* file, weft_error* error)
{
    int points = export_last_topology(job, body)->vertex_count;
    put_header(file, points, job->frame_count);
    for (int k = 0; k < job->frame_count; k++)
    {
        TRY(export_positions_last(job, body, k, job->positions, error));
        export_put_floats(file, export_flat(job->positions), 3 * (int64_t)points);
        export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
    }
    return WEFT_OK;
}

static weft_status write_body(export_job* job, int body, const char* path, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    weft_status status = put_samples(job, body, &file, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

weft_status export_pc2_file(export_job* job, const char* target, weft_error* error)
{
    return write_body(job, 0, target, error);
}

weft_status export_pc2(export_job* job, const char* target, weft_error* error)
{
    for (int body = 0; body < job->body_count; body++)
    {
        char path[EXPORT_PATH];
        TRY(export_path(target, export_body_name(job, body), ".obj", path, error));
        TRY(export_mesh_write(job, body, path, error));
        if (!export_is_still(job, body))
        {
            TRY(export_path(target, export_body_name(job, body), ".pc2", path, error));
            TRY(write_body(job, body, path, error));
        }
    }
    return WEFT_OK;
}
