// What the fuzzers start from (test/fuzz/corpus) and what they have found (test/fuzz/cases), read once each by every
// reader's own fuzzer: none may crash, hang or keep memory. With sanitizers it says more (script/build asan).
#include "common.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "fuzz/fuzz.h"

static const struct
{
    const char* name;
    fuzz_fn* run;
} fuzzers[] = {{"scene", fuzz_scene},  {"obj", fuzz_obj},   {"pc2", fuzz_pc2}, {"checkpoint", fuzz_checkpoint},
               {"mtx", fuzz_mtx},      {"csv", fuzz_csv},   {"ccd", fuzz_ccd}, {"weftsys", fuzz_weftsys},
               {"gltf", fuzz_gltf},    {"tets", fuzz_tets}, {"abc", fuzz_abc}, {"pattern", fuzz_pattern},
               {"folder", fuzz_folder}};

enum
{
    FUZZERS = sizeof(fuzzers) / sizeof(fuzzers[0]),
    LONGEST = 300 // s, of any file, on a machine that others use, too
};

static int run_folder(int which, const char* kind)
{
    char path[1024];
    snprintf(path, sizeof(path), WEFT_SOURCE_DIR "/test/fuzz/%s/%s", kind, fuzzers[which].name);
    DIR* folder = opendir(path);
    int count = 0;
    for (struct dirent* entry; folder && (entry = readdir(folder));)
    {
        void* bytes;
        size_t size;
        if (entry->d_name[0] == '.')
        {
            continue;
        }
        snprintf(path, sizeof(path), WEFT_SOURCE_DIR "/test/fuzz/%s/%s/%s", kind, fuzzers[which].name, entry->d_name);
        assert_int_equal(file_read(path, &bytes, &size, NULL), WEFT_OK);
        uint8_t* exact = malloc(size ? size : 1); // no spare bytes behind
        memcpy(exact, bytes, size);
        mem_free(bytes);
        alarm(LONGEST);
        fuzzers[which].run(exact, size);
        alarm(0);
        free(exact);
        count++;
    }
    folder ? closedir(folder) : 0;
    return count;
}

static void corpora_are_read(void** unused)
{
    (void)unused;
    for (int k = 0; k < FUZZERS; k++)
    {
        assert_true(run_folder(k, "corpus") > 0);
    }
}

static void findings_stay_mended(void** unused)
{
    (void)unused;
    int count = 0;
    for (int k = 0; k < FUZZERS; k++)
    {
        count += run_folder(k, "cases");
    }
    print_message("%d files that were found once\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(corpora_are_read), cmocka_unit_test(findings_stay_mended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
