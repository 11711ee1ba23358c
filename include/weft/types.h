/// Types that every part of the public interface shares: status, error, vectors, hooks.
///
/// A caller that breaks the contract of a call (NULL where the header does not allow it, a def that was not made by its default
/// function, an id that was never given out, a body added after the first step) ends the process: one sentence on standard
/// error, then abort(), in release builds too. Only a library that is built with WEFT_STRIP defined leaves these checks out;
/// what happens then is undefined. Everything else that can be wrong is a weft_status. Pointers may be NULL where it is said,
/// and a weft_error* always.
#ifndef WEFT_TYPES_H
#define WEFT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#define WEFT_VERSION_STRING "0.1.0"

/// What a call answers. The list is the one place where a status and its sentence are written.
#define WEFT_STATUS_LIST(X)                                                \
    X(OK, "done")                                                          \
    X(BAD_INPUT, "the input is wrong")                                     \
    X(NOT_FOUND, "there is no such name or file")                          \
    X(UNSUPPORTED, "this combination or build does not support it")        \
    X(NO_MEMORY, "out of memory")                                          \
    X(IO, "reading or writing failed")                                     \
    X(DISK_FULL, "the disk is full")                                       \
    X(NOT_DEFINITE, "the matrix is not positive definite")                 \
    X(NOT_CONVERGED, "the iteration did not reach its tolerance")          \
    X(NOT_FINITE, "a value is not finite")                                 \
    X(EXISTS, "the target exists already")                                 \
    X(CANCELLED, "stopped on request")

typedef enum weft_status
{
#define X(name, text) WEFT_##name,
    WEFT_STATUS_LIST(X)
#undef X
} weft_status;

WEFT_API const char* weft_status_text(weft_status status); ///< one sentence, never NULL

/// Where and why an input or a step was refused. Fill-in is optional everywhere: NULL is fine.
typedef struct weft_error
{
    weft_status status;
    char file[512];     ///< empty when no file is concerned
    int line, column;   ///< 1-based; 0 when unknown
    char message[1024]; ///< what is wrong and what to do
} weft_error;

typedef struct weft_vec2
{
    double x, y;
} weft_vec2;

typedef struct weft_vec3
{
    double x, y, z;
} weft_vec3;

/// Two points of a cloth that are sewn to each other: each is vertex[0], or with vertex[1] from 0 on the point of the edge
/// between both that has the ratio of the way from the first to the second.
typedef struct weft_thread
{
    int vertex[2][2]; ///< of each end; the second is -1 for a vertex
    double ratio[2];  ///< 0 to 1; 0 for a vertex
} weft_thread;

/// Names that faces of a mesh have, such as materials.
typedef struct weft_names
{
    const char* const* names; ///< [count]
    int count;                ///< 0: none
    const int* faces;         ///< [face_count] index into the names, -1: none; NULL: none has one
} weft_names;

/// What a mesh has for other programs: a run's files and exports carry it, nothing that is simulated depends on it. Zero: nothing.
typedef struct weft_labels
{
    weft_names objects, groups, materials; ///< `o`, `g` and `usemtl` of OBJ files
    const char* const* libraries;          ///< [library_count] names of material libraries, as `mtllib` has them
    int library_count;
    const weft_vec2* texcoords;            ///< [texcoord_count] as `vt` has them; NULL: none
    int texcoord_count;
    const int* face_texcoords;             ///< [corners of all faces] index into the texture coordinates, -1: none; NULL: none has one
    const int* face_outputs;               ///< [corners of all faces] which of the outputs is at a corner: it shows the corner's vertex.
                                           ///< NULL: the first that does
} weft_labels;

/// Process-wide memory hooks; set once, before anything else. alloc returns NULL when there is none.
typedef struct weft_allocator
{
    void* (*alloc)(size_t size, size_t alignment, void* user);
    void (*free)(void* pointer, void* user);
    void* user;
} weft_allocator;

WEFT_API void weft_set_allocator(const weft_allocator* hooks); ///< NULL restores the C library's

/// Process-wide log hook for warnings that have no caller to go to; the default drops them.
typedef void weft_log_fn(const char* message, void* user);
WEFT_API void weft_set_log(weft_log_fn* log, void* user); ///< NULL drops

/// Lets the host run Weft's parallel loops on its own threads: call fn(context, k) once for every k in
/// [0, count), in any order, on any thread, and return when all are done.
typedef struct weft_task_hooks
{
    void (*run)(int count, void (*fn)(void* context, int index), void* context, void* user);
    void* user;
} weft_task_hooks;

WEFT_API const char* weft_version(void);

#ifdef __cplusplus
}
#endif
#endif
