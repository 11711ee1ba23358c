/// A page to look at: one or more runs as one self-contained HTML file with the animation, the curves and the numbers. It opens
/// from disk in a browser and asks for nothing else. docs/view.md says what is in it.
#ifndef WEFT_VIEW_H
#define WEFT_VIEW_H

#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Start from weft_view_page_default(). All zero but the folders is fine too.
typedef struct weft_view_page
{
    const char* const* dirs; ///< [dir_count] run's folders, as weft_cache_open takes them
    int dir_count;           ///< 1 or more
    int worker_count;        ///< for the search for contacts; 0: one a core. The page is the same
    void (*progress)(void* context, int done, int total); ///< frames, of all runs; NULL: none
    void* progress_context;
} weft_view_page;

WEFT_API weft_view_page weft_view_page_default(void);

/// Writes the page whole or not at all: an older file of that name stays when it fails. The same runs give the same bytes.
/// NOT_FOUND, BAD_INPUT: a folder is not there, or its cache is damaged; IO, DISK_FULL: the disk.
WEFT_API weft_status weft_view_write(const weft_view_page* page, const char* path, weft_error* error);

#ifdef __cplusplus
}
#endif
#endif
