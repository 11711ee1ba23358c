/// A run's animation in the formats of other programs.
#ifndef WEFT_EXPORT_H
#define WEFT_EXPORT_H

#include "weft/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from weft_export_def_default(); format is then all that must be set.
typedef struct weft_export_def
{
    const char* format;        ///< as weft_export_format_name says
    const char* const* bodies; ///< [body_count] names; NULL: all
    int body_count;
    int first, last;   ///< frames; last -1: the last one that is complete
    int every;         ///< 1: each frame, 2: each second one, ...
    double frame_rate; ///< frames a second of the export; 0: the run's divided by every, so that motion keeps its speed
    int start;         ///< number of the first exported frame, which file names, time codes and times go by; -1: the run's, so that parts of
                       ///< a run can be joined
    double scale;      ///< by which lengths are multiplied: 1: metres
    int plain;         ///< 1: positions and mesh alone; no normals, velocities and fields
    char up;           ///< 'y' as simulated, or 'z': x, -z, y
    int force;         ///< 1: a folder that an export made before is replaced
    /// Called after each frame; an answer other than 0 stops the export: CANCELLED. NULL: none.
    int (*progress)(void* context, int done, int total);
    void* progress_context;
    uint32_t cookie; ///< proves that the default was used; do not set
} weft_export_def;

/// What was written.
typedef struct weft_export_stats
{
    int bodies, frames, files;
    int64_t bytes;
} weft_export_stats;

WEFT_API weft_export_def weft_export_def_default(void);
/// Formats by index from 0; NULL after the last.
WEFT_API const char* weft_export_format_name(int index);
WEFT_API const char* weft_export_format_summary(int index);
/// How names of its files end: ".abc".
WEFT_API const char* weft_export_format_ending(int index);
/// 1: the target is a folder, as the format is a file a body or a frame; 0: it is one file.
WEFT_API int weft_export_format_is_folder(int index);
/// Writes the target whole or not at all. Where the format's target is a folder and `target` has the format's ending, one file is
/// written, which must then be able to hold all that was chosen. stats may be NULL. BAD_INPUT: the cache is damaged or the def
/// asks for what is not there, or the target ends as files of another format do; UNSUPPORTED: the format cannot hold it;
/// EXISTS: the target is a folder that is not empty, or a file of a run; IO, DISK_FULL: the disk.
WEFT_API weft_status weft_export(weft_cache* cache, const weft_export_def* def, const char* target,
                                 weft_export_stats* stats, weft_error* error);

#ifdef __cplusplus
}
#endif
#endif
