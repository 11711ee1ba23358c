// weft --untrusted: files beside those that are named are read, and no others; what -o names is written, and nothing
// else; no other program starts; time and memory end in words. Skipped where the kernel has no Landlock.
#define _GNU_SOURCE
#include "common.h"
#include "common_manners.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fenced(void)
{
    manners_run("--untrusted list methods");
    if (manners_last.code == 3 && strstr(manners_last.err, "Landlock"))
    {
        return false;
    }
    assert_int_equal(manners_last.code, 0);
    return true;
}

static void make_folder(const char* name)
{
    char path[PATH_BYTES];
    assert_int_equal(mkdir(manners_path(name, path), 0777), 0);
}

static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n";

static void files_are_kept_apart(void** unused)
{
    (void)unused;
    if (!fenced())
    {
        skip();
    }
    make_folder("in");
    make_folder("in/parts");
    make_folder("away");
    manners_put("in/parts/mesh.obj", square);
    manners_put("away/mesh.obj", square);
    manners_put("in/good.json", "{\"frames\": 1, \"cloth\": [{\"mesh\": {\"obj\": \"parts/mesh.obj\"}}]}");
    manners_put("in/bad.json", "{\"frames\": 1, \"cloth\": [{\"mesh\": {\"obj\": \"../away/mesh.obj\"}}]}");
    manners_put("in/linked.json", "{\"frames\": 1, \"cloth\": [{\"mesh\": {\"obj\": \"parts/link.obj\"}}]}");
    char path[PATH_BYTES];
    assert_int_equal(symlink("../../away/mesh.obj", manners_path("in/parts/link.obj", path)), 0);
    // Each of them runs where nothing is fenced.
    assert_int_equal(manners_run("run in/bad.json -o free"), 0);
    assert_int_equal(manners_run("run in/linked.json -o free --force"), 0);
    assert_int_equal(manners_run("--untrusted run in/good.json -o out"), 0);
    assert_int_equal(manners_check_run("out"), 2);
    assert_int_equal(manners_run("--untrusted run out/scene.json -o out --resume --frames 2"), 0);
    manners_run("--untrusted run in/bad.json -o out2");
    manners_assert_says("bad.json", manners_last.err, "Permission denied");
    manners_run("--untrusted run in/linked.json -o out2");
    manners_assert_says("linked.json", manners_last.err, "Permission denied");
    // What -o does not name is not written.
    assert_int_equal(manners_run("--untrusted run in/good.json"), 3);
    assert_false(manners_exists("good-run"));
    make_folder("pages");
    assert_int_equal(manners_run("--untrusted view out -o pages/page.html"), 0);
    assert_true(manners_exists("pages/page.html"));
    assert_int_equal(manners_run("--untrusted view out"), 3);
    assert_false(manners_exists("out/view.html"));
    assert_int_equal(manners_run("--untrusted inspect out"), 0);
    assert_int_equal(manners_run("--untrusted export out --to gltf -o pages/run.glb"), 0);
}

static void limits_end_in_words(void** unused)
{
    (void)unused;
    if (!fenced())
    {
        skip();
    }
    manners_refuses("--untrusted --memory 1 run pinned --set cells=3000 -o large", 3, "memory");
    assert_int_equal(manners_run("--untrusted --seconds 1 run sphere --set cells=150 --threads 1 -o long"), 3);
    manners_assert_says("--seconds 1", manners_last.err, "processor time");
    manners_refuses("--untrusted --seconds none run hang -o x", 2, "seconds");
    manners_refuses("--untrusted --memory 2", 2, "which command");
    manners_refuses("--untrusted", 2, "which command");
    // A film needs another program.
    assert_int_equal(manners_run("run hang --set cells=2 --frames 1 -o film"), 0);
    assert_int_equal(manners_run("--untrusted render film -o film.mp4"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_kept_apart), cmocka_unit_test(limits_end_in_words)};
    return cmocka_run_group_tests(tests, manners_make_folder, manners_remove_folder);
}
