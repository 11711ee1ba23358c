// What PC2 and MDD share: a file for each body that moves, and beside it NAME.obj, the mesh that it moves.
#include "export/export.h"

weft_status export_body_file(export_job* job, int body, export_body_fn* put, const char* path, weft_error* error)
{
    whole_file file;
    TRY(whole_file_open(&file, path, error));
    weft_status status = put(job, body, &file, error);
    if (status != WEFT_OK)
    {
        whole_file_abandon(&file);
        return status;
    }
    return whole_file_close(&file, error);
}

weft_status export_point_caches(export_job* job, const char* folder, const char* ending, export_body_fn* put,
                                weft_error* error)
{
    for (int body = 0; body < job->body_count; body++)
    {
        char path[EXPORT_PATH];
        TRY(export_path(folder, export_body_name(job, body), ".obj", path, error));
        TRY(export_mesh_write(job, body, path, error));
        if (!export_is_still(job, body))
        {
            TRY(export_path(folder, export_body_name(job, body), ending, path, error));
            TRY(export_body_file(job, body, put, path, error));
        }
    }
    return WEFT_OK;
}
