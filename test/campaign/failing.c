// Loaded before a command (LD_PRELOAD): its allocation number $WEFT_FAIL_AT, from 1, fails, once. Without that number,
// how many there were goes into the file $WEFT_COUNT.
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* pointer, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static atomic_long made;
static long fail_at = -1; // -1: not asked yet

static int fails(void)
{
    if (fail_at < 0)
    {
        const char* text = getenv("WEFT_FAIL_AT");
        fail_at = text ? atol(text) : 0;
    }
    return atomic_fetch_add(&made, 1) + 1 == fail_at;
}

void* malloc(size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __libc_malloc(size);
}

void* calloc(size_t count, size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __libc_calloc(count, size);
}

void* realloc(void* pointer, size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __libc_realloc(pointer, size);
}

int posix_memalign(void** out, size_t alignment, size_t size)
{
    *out = fails() ? NULL : __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}

__attribute__((destructor)) static void count(void)
{
    const char* path = getenv("WEFT_COUNT");
    long total = atomic_load(&made);
    FILE* file = path ? fopen(path, "w") : NULL;
    if (file)
    {
        fprintf(file, "%ld\n", total);
        fclose(file);
    }
}
