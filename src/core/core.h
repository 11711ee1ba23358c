// The ground floor: memory, arena, parallel loops, errors, log, numbers, files, time, CPU kind. Knows nothing of cloth.
#ifndef WEFT_CORE_H
#define WEFT_CORE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weft/types.h"

// A caller's mistake. Kept in every build but a release that defines WEFT_STRIP.
#ifdef WEFT_STRIP
#define WEFT_ASSERT(condition) ((void)0)
#else
void assert_failed(const char* condition, const char* file, int line);
#define WEFT_ASSERT(condition) ((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))
#endif

// Our own bug: slow checks of whole structures, debug builds only.
#ifdef WEFT_DEBUG
#define WEFT_VALIDATE(condition) WEFT_ASSERT(condition)
#else
#define WEFT_VALIDATE(condition) ((void)0)
#endif

// Early return of a failing status.
#define TRY(call)                                                                                                      \
    do                                                                                                                 \
    {                                                                                                                  \
        weft_status try_status_ = (call);                                                                              \
        if (try_status_ != WEFT_OK)                                                                                    \
        {                                                                                                              \
            return try_status_;                                                                                        \
        }                                                                                                              \
    } while (0)

// ---- memory: zeroed, 64-byte aligned; NULL when there is none or count * size overflows
void* mem_alloc(size_t count, size_t size);
void* mem_raw(size_t count, size_t size); // not zeroed: for large arrays that are filled in parallel, thread by thread
void mem_free(void* pointer);             // NULL is fine
bool mem_has_room(const void* array, size_t count, size_t size); // whether mem_alloc's array is as long; NULL: no
// An array with room for more items, and some to spare; what it had stays, what comes is zero. It may be NULL.
bool array_grow(void** array, size_t before, size_t count, size_t size);
// Likewise, with `more` items in front of item `at` of `count`.
bool array_insert(void** array, size_t at, size_t more, size_t count, size_t size);
#define MEM_NEW(count, type) ((type*)mem_alloc((size_t)(count), sizeof(type)))

// Grows *array (may be NULL) to hold at least `needed` items, doubling; contents are kept.
bool mem_grow(void** array, int* capacity, int needed, size_t item_size);

// Copies a string; NULL when there is no memory.
char* mem_strdup(const char* text);

// ---- arena: scratch that lives until the next reset. Grows when it must, then stays that size.
typedef struct arena_block arena_block;
typedef struct arena
{
    arena_block* first; // newest block; after a reset one block holds what was needed at most
    size_t used;        // bytes handed out since the last reset
} arena;

void* arena_push(arena* a, size_t count, size_t size); // not zeroed, 64-byte aligned; NULL: no memory
void arena_reset(arena* a);
void arena_finish(arena* a);
#define ARENA_NEW(a, count, type) ((type*)arena_push((a), (size_t)(count), sizeof(type)))

// ---- parallel loops
// [0, count) is cut into chunks of `grain` (the last may be shorter): chunks follow from the sizes alone, so
// that results do not depend on the number of threads. Nested calls run inline. A NULL pool runs serially.
typedef struct workers workers;
typedef void parallel_fn(void* context, int begin, int end);
typedef double parallel_sum_fn(void* context, int begin, int end);

weft_status workers_create(int count, const weft_task_hooks* hooks, workers** out); // count 1: no threads
void workers_destroy(workers* pool);
int workers_count(const workers* pool);
// How many of them take part in loops from now on, the caller counted: for pools that are larger than their loops are
// long. Between loops, by the caller alone; a pool of the host's threads and NULL stay as they are.
void workers_limit(workers* pool, int count);
void parallel_for(workers* pool, int count, int grain, parallel_fn* fn, void* context);
// The sum of fn over the chunks, added in chunk order.
double parallel_sum(workers* pool, int count, int grain, parallel_sum_fn* fn, void* context);

// ---- errors and log
// Fills error (may be NULL) and returns status, so that a caller can `return error_set(...)`.
weft_status error_set(weft_error* error, weft_status status, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
void log_warning(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Closest of `count` names by edit distance, NULL when none is near or the word has fewer than three letters: for "did
// you mean".
const char* suggest_name(const char* word, const char* const* names, int count);

// ---- decimal numbers
// Reads one, correctly rounded, whatever the locale. *cursor moves behind it. False when there is none. Overflow gives
// an infinity. "nan", "inf" and hexadecimal numbers are not numbers here.
bool decimal_parse(const char** cursor, double* out);
// Whether a word is what other programs write for a value that is not finite: nan, -inf, 1.#IND.
bool decimal_is_not_finite(const char* word);

// ---- text with numbers, with a point whatever the host's locale
int print_to(FILE* file, const char* format, ...) __attribute__((format(printf, 2, 3)));
int print_text(char* out, size_t size, const char* format, ...) __attribute__((format(printf, 3, 4))); // as snprintf
int print_text_list(char* out, size_t size, const char* format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

// Around many of them: the calling thread's locale is C's in between.
typedef struct point_locale
{
    void *own, *before; // own is NULL where there is none: nothing has changed
} point_locale;

point_locale point_locale_begin(void);
void point_locale_end(const point_locale* p);

// ---- files
typedef enum file_use
{
    FILE_TO_READ,    // links are followed
    FILE_TO_MAKE,    // empty; one that is there is cut
    FILE_TO_REPLACE, // what is there under this name is removed first: names that nobody but Weft uses
    FILE_TO_CHANGE,  // it is there
    FILE_TO_EXTEND   // at its end; made where there is none
} file_use;

// A descriptor of a plain file, -1 with errno otherwise; never waits, never writes through a link.
int file_open(const char* path, file_use use);
FILE* file_stream(const char* path, file_use use); // NULL with errno
const char* file_reason(int code);                 // errno in words
// The status and sentence of errno for a file that was to be read: NOT_FOUND, BAD_INPUT (no plain file) or IO.
weft_status file_read_error(weft_error* error, const char* path, const char* action);

// ---- files that are written whole or not at all
typedef struct whole_file
{
    FILE* stream; // write to it; errors may be looked at only at the end
    char path[4096];
    char temporary[4100];
} whole_file;

weft_status whole_file_open(whole_file* file, const char* path, weft_error* error);
void whole_file_write(whole_file* file, const void* bytes, size_t size); // bytes may be NULL when size is 0
// Flushes, syncs and renames; on any failure the temporary file is removed and an older target stays.
weft_status whole_file_close(whole_file* file, weft_error* error);
void whole_file_abandon(whole_file* file);

// The status and sentence of errno for a path: DISK_FULL, NO_MEMORY or IO.
weft_status file_error(weft_error* error, const char* path, const char* action);

// All bytes of a plain file; *out is mem_free'd by the caller. NOT_FOUND: there is none. BAD_INPUT: a folder, pipe or
// device.
weft_status file_read(const char* path, void** out, size_t* size, weft_error* error);

// ---- hash: chunks of a multiple of 8 bytes give the same as all at once
uint64_t hash_bytes(uint64_t hash, const void* data, size_t size);

// ---- time: wall clock in seconds. Only ever reported, never decides anything.
double timer_now(void);

// ---- CPU kind: which build of the wide kernels runs. Ordered: a later kind includes the earlier.
typedef enum cpu_kind
{
    CPU_BASE,
    CPU_AVX2,   // AVX2 and FMA
    CPU_AVX512, // AVX-512 F, DQ, VL
    CPU_KIND_COUNT
} cpu_kind;

// Tables of kernels that a *_kernel.c defines as KERNEL_NAME(name), one for each CPU kind of the build.
#ifdef WEFT_X86_KERNELS
#define KERNELS_DECLARE(type, name) extern const type name##_base, name##_avx2, name##_avx512
#define KERNELS_OF(name)                                                                                               \
    {                                                                                                                  \
        &name##_base, &name##_avx2, &name##_avx512                                                                     \
    }
#else
#define KERNELS_DECLARE(type, name) extern const type name##_base
#define KERNELS_OF(name)                                                                                               \
    {                                                                                                                  \
        &name##_base, &name##_base, &name##_base                                                                       \
    }
#endif
// Defines TYPE_for, which gives the table of that type for a CPU kind.
#define KERNELS_CHOICE(type)                                                                                           \
    KERNELS_DECLARE(type, type);                                                                                       \
    const type* type##_for(cpu_kind cpu)                                                                               \
    {                                                                                                                  \
        static const type* const table[CPU_KIND_COUNT] = KERNELS_OF(type);                                             \
        return table[cpu];                                                                                             \
    }

cpu_kind cpu_best(void);
const char* cpu_kind_name(cpu_kind kind); // "base", "avx2", "avx512"
// "auto" or NULL: the best. False when the name is unknown or this CPU cannot run it.
bool cpu_kind_parse(const char* name, cpu_kind* out);

static inline int int_min(int a, int b)
{
    return a < b ? a : b;
}

static inline int int_max(int a, int b)
{
    return a > b ? a : b;
}

// ---- texts of files

bool text_is_utf8(const char* text);
void text_from_latin1(const char* text, char* out); // as UTF-8; out has room for twice the bytes and one more

#endif
