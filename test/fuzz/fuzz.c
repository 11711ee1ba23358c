// See fuzz.h.
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft/solver.h"
#include "weft/types.h"

enum
{
    HEAD = 64, // bytes before each block: its size, with the alignment kept
    QUOTA = 96 << 20
};

static char folder[256];
static size_t held, block_count, kept_count; // bytes, blocks; blocks that may stay

// ---- memory

static void* take(size_t size, size_t alignment, void* user)
{
    (void)user;
    (void)alignment; // HEAD
    if (size > QUOTA || held + size > QUOTA)
    {
        return NULL;
    }
    void* made;
    if (posix_memalign(&made, HEAD, size + HEAD) != 0)
    {
        return NULL;
    }
    unsigned char* block = made;
    memcpy(block, &size, sizeof(size));
    __atomic_add_fetch(&held, size, __ATOMIC_RELAXED);
    __atomic_add_fetch(&block_count, 1, __ATOMIC_RELAXED);
    return block + HEAD;
}

static void give(void* pointer, void* user)
{
    (void)user;
    if (!pointer)
    {
        return;
    }
    size_t size;
    memcpy(&size, (unsigned char*)pointer - HEAD, sizeof(size));
    __atomic_sub_fetch(&held, size, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&block_count, 1, __ATOMIC_RELAXED);
    free((unsigned char*)pointer - HEAD);
}

void fuzz_begin(void)
{
    weft_set_allocator(&(weft_allocator){.alloc = take, .free = give});
    weft_set_log(NULL, NULL);
}

void fuzz_keep(void)
{
    kept_count = block_count;
}

void fuzz_end(void)
{
    if (block_count > kept_count)
    {
        fprintf(stderr, "fuzz: %zu blocks of %zu bytes were not given back\n", block_count, held);
        abort();
    }
    kept_count = block_count;
    kept_count == 0 ? weft_set_allocator(NULL) : (void)0; // what is kept goes back to where it came from
}

// ---- files

static void remove_folder(void)
{
    fuzz_remove_files();
    rmdir(folder);
}

const char* fuzz_folder_path(void)
{
    if (!folder[0])
    {
        const char* other = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "/dev/shm/weft-fuzz-XXXXXX");
        if (!mkdtemp(folder))
        {
            snprintf(folder, sizeof(folder), "%s/weft-fuzz-XXXXXX", other ? other : "/tmp");
            if (!mkdtemp(folder))
            {
                perror("fuzz: no folder can be made");
                exit(1);
            }
        }
        atexit(remove_folder);
    }
    return folder;
}

const char* fuzz_put(const char* name, const void* data, size_t size)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder_path(), name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0)
    {
        perror(path);
        exit(1);
    }
    return path;
}

void fuzz_remove_files(void)
{
    DIR* open_folder = folder[0] ? opendir(folder) : NULL;
    for (struct dirent* entry; open_folder && (entry = readdir(open_folder));)
    {
        unlinkat(dirfd(open_folder), entry->d_name, 0);
    }
    open_folder ? (void)closedir(open_folder) : (void)0;
}

// ---- commands

void fuzz_command(fuzz_command_fn* command, int argc, char** argv)
{
    fflush(NULL);
    int kept[2] = {dup(1), dup(2)}, nobody = open("/dev/null", O_WRONLY);
    dup2(nobody, 1);
    bool quiet = getenv("WEFT_FUZZ_LOUD") == NULL;
    quiet ? dup2(nobody, 2) : 0;
    command(argc, argv);
    fflush(NULL);
    for (int k = 0; k < 2; k++)
    {
        dup2(kept[k], k + 1);
        close(kept[k]);
    }
    close(nobody);
}

// ---- readers that two formats share

void fuzz_read_system(void)
{
    char prefix[512];
    snprintf(prefix, sizeof(prefix), "%s/a", fuzz_folder_path());
    fuzz_begin();
    weft_system* system = NULL;
    weft_error error;
    weft_system_read(prefix, &system, &error);
    weft_system_destroy(system);
    fuzz_end();
}
