// Memory behind the process-wide hooks, and the per-step arena.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/core.h"

// MemorySanitizer (script/build msan) is told which of our memory nobody has written yet. Memory that libraries without
// it fill counts as written, also where it was ours before: they would be reported for all that they do.
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <malloc.h>
#include <sanitizer/msan_interface.h>
#define MEM_UNWRITTEN(pointer, size) __msan_allocated_memory(pointer, size)
#define MEM_GIVEN_BACK(pointer) __msan_unpoison(pointer, malloc_usable_size(pointer))
const char* __msan_default_options(void);
const char* __msan_default_options(void)
{
    return "poison_in_malloc=0:poison_in_free=0";
}
#endif
#endif
#ifndef MEM_UNWRITTEN
#define MEM_UNWRITTEN(pointer, size) (void)0
#define MEM_GIVEN_BACK(pointer) (void)0
#endif

enum
{
    ALIGNMENT = 64 // a cache line, and the widest vector register
};

enum
{
    HUGE_PAGE = 1 << 21
};

// Arrays of many megabytes ask for huge pages: gathering from them misses the address cache far less.
static void* default_alloc(size_t size, size_t alignment, void* user)
{
    (void)user;
    void* pointer = NULL;
    bool huge = size >= 2 * HUGE_PAGE;
    if (posix_memalign(&pointer, huge ? HUGE_PAGE : alignment, size) != 0)
    {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (huge)
    {
        madvise(pointer, size, MADV_HUGEPAGE);
    }
#endif
    return pointer;
}

static void default_free(void* pointer, void* user)
{
    (void)user;
    MEM_GIVEN_BACK(pointer);
    free(pointer);
}

static weft_allocator allocator = {default_alloc, default_free, NULL};

void weft_set_allocator(const weft_allocator* hooks)
{
    allocator = hooks ? *hooks : (weft_allocator){default_alloc, default_free, NULL};
}

// Whole cache lines and at least 8 bytes to spare: loading a vec3 as four doubles stays inside. 0: too large.
static size_t rounded_size(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * ALIGNMENT)
    {
        return 0;
    }
    return (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

// In front of each array is a cache line that says how many bytes it has.
static void* take(size_t bytes)
{
    char* pointer = bytes ? allocator.alloc(bytes + ALIGNMENT, ALIGNMENT, allocator.user) : NULL;
    if (!pointer)
    {
        return NULL;
    }
    memcpy(pointer, &bytes, sizeof(bytes));
    return pointer + ALIGNMENT;
}

void* mem_alloc(size_t count, size_t size)
{
    size_t bytes = rounded_size(count, size);
    void* pointer = take(bytes);
    return pointer ? memset(pointer, 0, bytes) : NULL;
}

void* mem_raw(size_t count, size_t size)
{
    size_t bytes = rounded_size(count, size);
    void* pointer = take(bytes);
    if (pointer) // what is read behind the end is zero
    {
        MEM_UNWRITTEN(pointer, bytes - ALIGNMENT);
        memset((char*)pointer + bytes - ALIGNMENT, 0, ALIGNMENT);
    }
    return pointer;
}

void mem_free(void* pointer)
{
    if (pointer)
    {
        allocator.free((char*)pointer - ALIGNMENT, allocator.user);
    }
}

bool mem_has_room(const void* array, size_t count, size_t size)
{
    size_t bytes = rounded_size(count, size), has = 0;
    array ? memcpy(&has, (const char*)array - ALIGNMENT, sizeof(has)) : NULL;
    return bytes > 0 && bytes <= has;
}

bool mem_grow(void** array, int* capacity, int needed, size_t item_size)
{
    if (needed <= *capacity)
    {
        return true;
    }
    int64_t target = (int64_t)*capacity * 2;
    target = target < 16 ? 16 : target;
    target = target < needed ? needed : target;
    target = target > INT32_MAX ? INT32_MAX : target;
    void* grown = mem_alloc((size_t)target, item_size);
    if (!grown)
    {
        return false;
    }
    if (*array)
    {
        memcpy(grown, *array, (size_t)*capacity * item_size);
        mem_free(*array);
    }
    *array = grown;
    *capacity = (int)target;
    return true;
}

enum
{
    SPARE = 8 // of an array so much more is taken: what has grown will grow again
};

bool array_grow(void** array, size_t before, size_t count, size_t size)
{
    size_t kept = !*array ? 0 : before < count ? before : count;
    if (mem_has_room(*array, count, size))
    {
        memset((char*)*array + kept * size, 0, (count - kept) * size);
        return true;
    }
    void* grown = mem_alloc(count + count / SPARE, size);
    if (grown)
    {
        kept > 0 ? memcpy(grown, *array, kept * size) : NULL;
        mem_free(*array);
        *array = grown;
    }
    return grown != NULL;
}

bool array_insert(void** array, size_t at, size_t more, size_t count, size_t size)
{
    if (!array_grow(array, count, count + more, size))
    {
        return false;
    }
    char* hole = (char*)*array + at * size;
    memmove(hole + more * size, hole, (count - at) * size);
    memset(hole, 0, more * size);
    return true;
}

char* mem_strdup(const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = mem_alloc(size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

struct arena_block
{
    arena_block* next;
    size_t size, used; // bytes of data after the header
};

enum
{
    BLOCK_HEADER = (sizeof(arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
    BLOCK_MINIMUM = 1 << 16
};

static arena_block* arena_block_create(size_t size)
{
    arena_block* block = mem_alloc(size + BLOCK_HEADER, 1);
    if (block)
    {
        block->size = size;
    }
    return block;
}

void* arena_push(arena* a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * BLOCK_HEADER)
    {
        return NULL;
    }
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; // with the same room at the end as mem_alloc
    if (!a->first || a->first->size - a->first->used < bytes)
    {
        arena_block* block = arena_block_create(bytes > BLOCK_MINIMUM ? bytes : BLOCK_MINIMUM);
        if (!block)
        {
            return NULL;
        }
        block->next = a->first;
        a->first = block;
    }
    void* pointer = (char*)a->first + BLOCK_HEADER + a->first->used;
    MEM_UNWRITTEN(pointer, count * size);
    a->first->used += bytes;
    a->used += bytes;
    return pointer;
}

void arena_reset(arena* a)
{
    // Several blocks become one that is large enough for all, so that a steady load allocates no more.
    if (a->first && a->first->next)
    {
        size_t needed = a->used;
        arena_finish(a);
        a->first = arena_block_create(needed);
    }
    if (a->first)
    {
        a->first->used = 0;
    }
    a->used = 0;
}

void arena_finish(arena* a)
{
    while (a->first)
    {
        arena_block* next = a->first->next;
        mem_free(a->first);
        a->first = next;
    }
    a->used = 0;
}
