// A run folder that comes from a stranger, and a host that is strange: nothing outside the folder changes through links
// in it, pipes in place of files make no command wait, closed standard streams leave the files whole, and a host's
// decimal comma stays out of them.
#define _GNU_SOURCE
#include "common.h"
#include "common_manners.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/cache.h"
#include "weft/scene.h"
#include "weft/solver.h"

static const char run[] = "run hang --set cells=4 --frames 1 -o ";

static int run_in(const char* folder, const char* more)
{
    char line[256];
    snprintf(line, sizeof(line), "%s%s%s", run, folder, more);
    return manners_run(line);
}

static void link_to(const char* target, const char* name)
{
    char path[PATH_BYTES];
    assert_int_equal(symlink(target, manners_path(name, path)), 0);
}

static void expect_text(const char* name, const char* text)
{
    char path[PATH_BYTES], found[TEXT_BYTES];
    manners_read(manners_path(name, path), found);
    assert_string_equal(found, text);
}

static void make_folder(const char* name)
{
    char path[PATH_BYTES];
    assert_int_equal(mkdir(manners_path(name, path), 0777), 0);
}

// Names that only Weft uses are replaced; files that a user could have moved elsewhere are refused.
static void test_links(void** unused)
{
    (void)unused;
    make_folder("links");
    manners_put("precious", "precious\n");
    static const char* const files[] = {"run.lock", "stats.jsonl", "sheet.pc2"};
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
    {
        char name[64];
        snprintf(name, sizeof(name), "links/%zu", k);
        assert_int_equal(run_in(name, ""), 0);
        snprintf(name, sizeof(name), "links/%zu/%s", k, files[k]);
        char path[PATH_BYTES];
        assert_int_equal(unlink(manners_path(name, path)), 0);
        link_to("../../precious", name);
        snprintf(name, sizeof(name), "links/%zu", k);
        // --force removes what an earlier run has left, links as such; what is still there is refused.
        if (run_in(name, " --force") != 0)
        {
            assert_int_equal(manners_last.code, 3);
            manners_assert_says(files[k], manners_last.err, "this is a symbolic link");
        }
        expect_text("precious", "precious\n");
    }
    make_folder("links/new");
    link_to("../../nowhere", "links/new/sheet.pc2");
    assert_int_not_equal(run_in("links/new", ""), 0);
    assert_false(manners_exists("nowhere"));
}

static void test_links_of_temporaries(void** unused)
{
    (void)unused;
    manners_put("precious", "precious\n");
    make_folder("temporaries");
    static const char* const files[] = {"scene.json.tmp", "checkpoint.weft.tmp", "sheet.obj.tmp"};
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
    {
        char name[64];
        snprintf(name, sizeof(name), "temporaries/%s", files[k]);
        link_to("../precious", name);
    }
    assert_int_equal(run_in("temporaries", ""), 0);
    link_to("../precious", "temporaries/view.html.tmp");
    assert_int_equal(manners_run("view temporaries"), 0);
    expect_text("precious", "precious\n");
    assert_int_equal(manners_check_run("temporaries"), 2);
}

static void test_link_on_resume(void** unused)
{
    (void)unused;
    char path[PATH_BYTES], longer[TEXT_BYTES];
    assert_int_equal(run_in("resumed", ""), 0);
    manners_read(manners_path("resumed/stats.jsonl", path), longer);
    strcat(longer, "and more\n");
    manners_put("outside.jsonl", longer);
    assert_int_equal(unlink(path), 0);
    link_to("../outside.jsonl", "resumed/stats.jsonl");
    assert_int_equal(run_in("resumed", " --resume"), 3);
    expect_text("outside.jsonl", longer);
}

static void put_pipe(const char* name)
{
    char path[PATH_BYTES];
    unlink(manners_path(name, path));
    assert_int_equal(mkfifo(path, 0666), 0);
}

// A command that waits is ended by common_manners.c with a signal.
static void test_pipes(void** unused)
{
    (void)unused;
    char path[PATH_BYTES];
    assert_int_equal(run_in("pipes", ""), 0);
    put_pipe("pipes/stats.jsonl");
    assert_true(manners_run("inspect pipes") >= 0);
    assert_true(manners_run("view pipes -o page.html") >= 0);
    assert_int_equal(run_in("pipes", " --resume"), 3);
    assert_int_equal(unlink(manners_path("pipes/stats.jsonl", path)), 0);
    put_pipe("pipes/checkpoint.weft");
    assert_int_equal(run_in("pipes", " --resume"), 2);
    assert_int_equal(run_in("other", ""), 0);
    put_pipe("other/checkpoint.weft.tmp");
    put_pipe("other/view.html.tmp");
    assert_int_equal(run_in("other", " --force"), 0);
    assert_int_equal(manners_run("view other"), 0);
    put_pipe("system.mtx");
    assert_int_equal(manners_run("solve system --solver cholesky"), 2);
    assert_int_equal(unlink(manners_path("system.mtx", path)), 0);
    put_pipe("system.weftsys");
    assert_int_equal(manners_run("solve system --solver cholesky"), 2);
}

// Descriptor 2 must not become stats.jsonl: the words of a signal would go there.
static void test_closed_streams(void** unused)
{
    (void)unused;
    char path[PATH_BYTES], text[TEXT_BYTES];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
    {
        close(0);
        close(1);
        close(2);
        if (chdir(manners_folder) == 0)
        {
            execl(WEFT_COMMAND, "weft", "run", "hang", "--set", "cells=8", "--set", "steps_per_frame=1", "--frames",
                  "100000", "-o", "closed", (char*)NULL);
        }
        _exit(127);
    }
    for (int wait_ms = 0; !manners_exists("closed/stats.jsonl") && wait_ms < 20000; wait_ms += 10)
    {
        usleep(10000);
    }
    kill(child, SIGTERM);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 127);
    manners_read(manners_path("closed/stats.jsonl", path), text);
    assert_null(strstr(text, "stopping"));
}

static bool take_comma(void)
{
    static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "xx_XX.UTF-8"};
    char path[PATH_BYTES];
    if (test_shell(manners_folder, "localedef -i de_DE -f UTF-8 ./xx_XX.UTF-8 >/dev/null 2>&1") == 0)
    {
        setenv("LOCPATH", manners_path("", path), 1);
    }
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
    {
        if (setlocale(LC_ALL, names[k]))
        {
            return true;
        }
    }
    return false;
}

static weft_status run_a_step(const char* dir, weft_error* error)
{
    static const char* const smaller[] = {"cells=3"};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    weft_step_stats stats;
    weft_status status = weft_scene_load("hang", smaller, 1, &scene, error);
    status = status == WEFT_OK ? weft_scene_create_sim(scene, 1, &sim, error) : status;
    status = status == WEFT_OK ? weft_cache_writer_create(dir, WEFT_CACHE_FORCE, weft_scene_json(scene),
                                                          weft_scene_steps_per_frame(scene), sim, &writer, error)
                               : status;
    status = status == WEFT_OK ? weft_sim_step(sim, &stats, error) : status;
    status = status == WEFT_OK ? weft_cache_writer_step(writer, sim, &stats, error) : status;
    weft_cache_writer_destroy(writer, NULL);
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return status;
}

static void test_decimal_comma(void** unused)
{
    (void)unused;
    char dir[PATH_BYTES], path[PATH_BYTES], number[16], text[TEXT_BYTES];
    bool found = take_comma();
    snprintf(number, sizeof(number), "%.1f", 1.5);
    found = found && strcmp(number, "1,5") == 0;
    weft_error error = {0};
    weft_status status = run_a_step(manners_path("comma", dir), &error);
    const double half = 1.5;
    int rows[3] = {0, 1, 1}, column[1] = {0};
    double values[9] = {half, 0, 0, 0, half, 0, 0, 0, -half};
    weft_error refused = {0};
    weft_system* system = NULL;
    weft_system_create(&(weft_system_def){.vertex_count = 1, .row_start = rows, .column = column, .values = values},
                       &system, &refused);
    weft_system_destroy(system);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, WEFT_OK);
    assert_non_null(strstr(refused.message, "-1.5"));
    manners_read(manners_path("comma/sheet.obj", path), text);
    assert_non_null(strstr(text, "\nv "));
    assert_null(strchr(strstr(text, "\nv "), ','));
    manners_read(manners_path("comma/stats.jsonl", path), text);
    assert_null(strstr(text, "0,0"));
    assert_non_null(strstr(text, "\"time\":0."));
    if (!found)
    {
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),          cmocka_unit_test(test_links_of_temporaries),
        cmocka_unit_test(test_link_on_resume), cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_closed_streams), cmocka_unit_test(test_decimal_comma),
    };
    return cmocka_run_group_tests(tests, manners_make_folder, manners_remove_folder);
}
