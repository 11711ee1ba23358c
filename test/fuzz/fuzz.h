// What the fuzzers share. Each fuzz_NAME.c defines fuzz_NAME, which reads some bytes as one kind of file and must come
// back: with sanitizers nothing may be reported, and what it asks of memory fails beyond a quota. As programs they are
// driven by libFuzzer (script/campaign); test_fuzz.c runs their corpora and all that was found once.
#ifndef WEFT_FUZZ_H
#define WEFT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef int fuzz_fn(const uint8_t* data, size_t size);
fuzz_fn fuzz_scene, fuzz_obj, fuzz_pc2, fuzz_checkpoint, fuzz_mtx, fuzz_weftsys, fuzz_ccd, fuzz_gltf, fuzz_pattern,
    fuzz_tets, fuzz_abc, fuzz_csv, fuzz_folder;

// A folder of this process in memory (/dev/shm) or $TMPDIR; made by the first call, empty after fuzz_done.
const char* fuzz_folder_path(void);
// Writes a file into it; its path, until the next call.
const char* fuzz_put(const char* name, const void* data, size_t size);

// Between both, allocations of the library fail beyond the quota; what it leaves is a leak that ends the process.
void fuzz_begin(void);
void fuzz_end(void);
void fuzz_keep(void); // what is held now may stay behind the end: the next inputs need it, too
void fuzz_remove_files(void);

// Reads what was put as a linear system, a.weftsys or a.mtx and its parts.
void fuzz_read_system(void);

// Runs a subcommand with its words on nobody's screen.
typedef int fuzz_command_fn(int argc, char** argv);
void fuzz_command(fuzz_command_fn* command, int argc, char** argv);

#endif
