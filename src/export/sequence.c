// Formats of one file a body and frame.
#include "export/export.h"

weft_status export_sequence(export_job* job, const char* folder, const char* ending, export_frame_fn* write,
                            weft_error* error)
{
    for (int body = 0; body < job->body_count; body++)
    {
        bool still = export_is_still(job, body);
        for (int k = 0; k < (still ? 1 : job->frame_count); k++)
        {
            char path[EXPORT_PATH];
            if (!still && !export_present(job, body, k))
            {
                continue;
            }
            TRY(still ? export_path(folder, export_body_name(job, body), ending, path, error)
                      : export_frame_path(job, folder, body, k, ending, path, error));
            TRY(write(job, body, k, path, error));
            export_progress(job, body * job->frame_count + k + 1, job->body_count * job->frame_count);
        }
    }
    return WEFT_OK;
}
