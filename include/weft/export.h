/// A run's animation in the formats of other programs.
#ifndef WEFT_EXPORT_H
#define WEFT_EXPORT_H

#include "weft/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_export_def
{
    const char* format;        ///< as weft_export_format_name says
    const char* const* bodies; ///< [body_count] names; NULL: all
    int body_count;
    int first, last;           ///< frames; last -1: the last one that is complete
    int every;                 ///< 1: each frame
    double frame_rate;         ///< frames a second; 0: the run's
    char up;                   ///< 'y' as simulated, or 'z': x, -z, y
    void (*progress)(void* context, int done, int total); ///< frames; NULL: none
    void* progress_context;
} weft_export_def;

WEFT_API weft_export_def weft_export_def_default(void);
/// Formats by index from 0; NULL after the last.
WEFT_API const char* weft_export_format_name(int index);
WEFT_API const char* weft_export_format_summary(int index);
/// What the command proposes as target: `NAME.abc`, or a folder where the format is a file a body or a frame.
WEFT_API int weft_export_format_is_folder(int index);
/// Writes the target whole or not at all. BAD_INPUT: the cache is damaged or the def is wrong; UNSUPPORTED: the format cannot
/// hold it; IO, DISK_FULL: the disk.
WEFT_API weft_status weft_export(weft_cache* cache, const weft_export_def* def, const char* target, weft_error* error);

#ifdef __cplusplus
}
#endif
#endif
