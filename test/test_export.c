// weft export: files are read back by small readers of their own, for every choice of frames, bodies and axes, with
// quads, vt and topologies that change; then the manners of every format in the table: full disk, no folder, cut
// caches, killed and stopped exports leave nothing half under the final name.
#define _GNU_SOURCE
#include "common.h"
#include "common_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/export.h"

enum
{
    POINTS_MAX = 16,
    MANY_FRAMES = 3000
};

static char folder[256], run[512];

static int make_folder(void** state)
{
    (void)state;
    test_folder(folder);
    assert_int_equal(chdir(folder), 0);
    snprintf(run, sizeof(run), "%s/run", folder);
    test_run_write(run, true);
    return 0;
}

static int remove_folder(void** state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    test_folder_remove(folder);
    return 0;
}

// ---- running

static int shell(const char* line)
{
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int export_with(const char* before, const char* words)
{
    char line[2048];
    snprintf(line, sizeof(line), "%s %s export %s > .out 2> .err", before, WEFT_COMMAND, words);
    return shell(line);
}

static void export_well(const char* words)
{
    if (export_with("", words) != 0)
    {
        size_t size;
        fail_msg("export %s: %s", words, test_file_read(".err", &size));
    }
}

static bool said(const char* file, const char* words)
{
    size_t size;
    char* text = test_file_read(file, &size);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static void refused(int code, const char* words, const char* says)
{
    int got = export_with("", words);
    if (got != code || !said(".err", says))
    {
        size_t size;
        fail_msg("export %s: exit %d, %s", words, got, test_file_read(".err", &size));
    }
}

static bool exists(const char* path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

// ---- readers

typedef struct shape
{
    int points, faces, maps;
    double x[POINTS_MAX][3], st[POINTS_MAX][2];
    int corners[POINTS_MAX], face[POINTS_MAX][4], map[POINTS_MAX][4]; // map: 1-based, 0: none
    char objects[128];                                                // names of `o` lines with blanks behind
} shape;

static void read_obj_face(shape* s, char* text)
{
    int* corners = &s->corners[s->faces];
    for (char* word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
    {
        char* slash = strchr(word, '/');
        s->face[s->faces][*corners] = atoi(word) - 1;
        s->map[s->faces][(*corners)++] = slash ? atoi(slash + 1) : 0;
    }
    s->faces++;
}

static shape read_obj(const char* path)
{
    shape s = {0};
    char line[256];
    FILE* file = fopen(path, "r");
    if (!file)
    {
        fail_msg("%s is not there", path);
    }
    while (fgets(line, sizeof(line), file))
    {
        if (strncmp(line, "v ", 2) == 0)
        {
            double* x = s.x[s.points++];
            assert_int_equal(sscanf(line + 2, "%lf %lf %lf", &x[0], &x[1], &x[2]), 3);
        }
        else if (strncmp(line, "vt ", 3) == 0)
        {
            double* st = s.st[s.maps++];
            assert_int_equal(sscanf(line + 3, "%lf %lf", &st[0], &st[1]), 2);
        }
        else if (strncmp(line, "f ", 2) == 0)
        {
            read_obj_face(&s, line + 2);
        }
        else if (strncmp(line, "o ", 2) == 0)
        {
            line[strcspn(line, "\n")] = ' ';
            strcat(s.objects, line + 2);
        }
    }
    fclose(file);
    return s;
}

static const char* after(const char* text, const char* words)
{
    const char* at = strstr(text, words);
    return at ? at + strlen(words) : NULL;
}

static float float_at(const char* bytes, bool big)
{
    unsigned char order[4];
    float value;
    for (int k = 0; k < 4; k++)
    {
        order[k] = (unsigned char)bytes[big ? 3 - k : k];
    }
    memcpy(&value, order, 4);
    return value;
}

static int int_at(const char* bytes, bool big)
{
    float bits = float_at(bytes, big);
    int value;
    memcpy(&value, &bits, 4);
    return value;
}

static shape read_ply(const char* path)
{
    size_t size;
    char* text = test_file_read(path, &size);
    shape s = {0};
    assert_non_null(after(text, "format binary_little_endian 1.0"));
    s.points = atoi(after(text, "element vertex "));
    s.faces = atoi(after(text, "element face "));
    s.maps = after(text, "property float s\nproperty float t\n") ? s.points : 0;
    sscanf(after(text, "comment object "), "%100s", s.objects);
    const char* at = after(text, "end_header\n");
    for (int v = 0; v < s.points; v++)
    {
        for (int k = 0; k < (s.maps ? 5 : 3); k++, at += 4)
        {
            *(k < 3 ? &s.x[v][k] : &s.st[v][k - 3]) = (double)float_at(at, false);
        }
    }
    for (int face = 0; face < s.faces; face++)
    {
        s.corners[face] = *at++;
        for (int k = 0; k < s.corners[face]; k++, at += 4)
        {
            s.face[face][k] = int_at(at, false);
        }
    }
    assert_int_equal(at - text, size);
    free(text);
    return s;
}

// ---- what is expected

typedef struct choice
{
    int first, every, frames; // of the run, of the export
    bool up_z;
} choice;

static void same_point(const double x[3], weft_vec3 wanted, bool up_z)
{
    wanted = up_z ? (weft_vec3){wanted.x, -wanted.z, wanted.y} : wanted;
    double apart = fmax(fabs(x[0] - wanted.x), fmax(fabs(x[1] - wanted.y), fabs(x[2] - wanted.z)));
    if (!(apart <= 1e-6 * 2.0)) // the sheet is 2 m long
    {
        fail_msg("%.9g %.9g %.9g is %g from %.9g %.9g %.9g", x[0], x[1], x[2], apart, wanted.x, wanted.y, wanted.z);
    }
}

static void same_frame(const shape* s, int frame, bool up_z)
{
    assert_int_equal(s->points, test_run_vertices(frame, true));
    for (int v = 0; v < s->points; v++)
    {
        same_point(s->x[v], test_run_point(frame, v), up_z);
    }
    const int torn[3][3] = {{6, 2, 5}, {8, 5, 7}};
    const int whole[2][4] = {{0, 1, 4, 3}, {1, 2, 5, 4}}, parted[4] = {6, 2, 5, 7};
    assert_int_equal(s->faces, frame < TORN_SECOND ? 2 : 3);
    assert_int_equal(s->corners[0], 4);
    assert_memory_equal(s->face[0], whole[0], sizeof(whole[0]));
    assert_int_equal(s->corners[1], frame < TORN_SECOND ? 4 : 3);
    assert_memory_equal(s->face[1], frame < TORN_FIRST ? whole[1] : frame < TORN_SECOND ? parted : torn[0], 12);
    assert_memory_equal(s->face[s->faces - 1],
                        frame < TORN_FIRST    ? whole[1]
                        : frame < TORN_SECOND ? parted
                                              : torn[1],
                        12);
}

// Samples of a point cache in the last topology.
static void same_samples(const char* bytes, bool big, choice c)
{
    int points = test_run_vertices(c.first + c.every * (c.frames - 1), true);
    for (int k = 0; k < c.frames; k++)
    {
        int frame = c.first + k * c.every;
        for (int v = 0; v < points; v++, bytes += 12)
        {
            double x[3] = {(double)float_at(bytes, big), (double)float_at(bytes + 4, big),
                           (double)float_at(bytes + 8, big)};
            same_point(x, test_run_point(frame, test_run_origin(v, frame)), c.up_z);
        }
    }
}

static void same_pc2(const char* path, choice c)
{
    size_t size;
    char* bytes = test_file_read(path, &size);
    int points = test_run_vertices(c.first + c.every * (c.frames - 1), true);
    assert_int_equal(size, 32 + 12 * points * c.frames);
    assert_memory_equal(bytes, "POINTCACHE2", 12);
    assert_int_equal(int_at(bytes + 12, false), 1);
    assert_int_equal(int_at(bytes + 16, false), points);
    assert_true(float_at(bytes + 20, false) == 0.0f && float_at(bytes + 24, false) == 1.0f);
    assert_int_equal(int_at(bytes + 28, false), c.frames);
    same_samples(bytes + 32, false, c);
    free(bytes);
}

static void same_mdd(const char* path, choice c, double rate)
{
    size_t size;
    char* bytes = test_file_read(path, &size);
    int points = test_run_vertices(c.first + c.every * (c.frames - 1), true);
    assert_int_equal(size, 8 + 4 * c.frames + 12 * points * c.frames);
    assert_int_equal(int_at(bytes, true), c.frames);
    assert_int_equal(int_at(bytes + 4, true), points);
    for (int k = 0; k < c.frames; k++)
    {
        assert_true(fabs((double)float_at(bytes + 8 + 4 * k, true) - k / rate) < 1e-6);
    }
    same_samples(bytes + 8 + 4 * c.frames, true, c);
    free(bytes);
}

// ---- formats

static const choice all = {.every = 1, .frames = TORN_FRAMES};

static void point_caches_follow_the_last_topology(void** state)
{
    (void)state;
    export_well("run --to pc2");
    assert_true(said(".out", "run-pc2: 5 frames of 2 bodies, 3 files, "));
    same_pc2("run-pc2/sheet.pc2", all);
    export_well("run --to mdd -o m");
    same_mdd("m/sheet.mdd", all, 20.0);
    const char* const meshes[] = {"run-pc2/sheet.obj", "m/sheet.obj"};
    for (int k = 0; k < 2; k++)
    {
        shape mesh = read_obj(meshes[k]);
        assert_int_equal(mesh.points, 9);
        assert_int_equal(mesh.faces, 3);
        assert_int_equal(mesh.corners[0], 4);
        assert_string_equal(mesh.objects, "sheet ");
    }
    // The ball stands still: the mesh says where, and there is no cache.
    shape ball = read_obj("run-pc2/ball.obj");
    assert_int_equal(ball.points, 4);
    assert_true(ball.x[3][1] == -1.0);
    assert_false(exists("run-pc2/ball.pc2"));
    // What was exported is a folder that Weft reads.
    assert_int_equal(shell(WEFT_COMMAND " inspect run-pc2 > .out"), 0);
}

static void sequences_have_each_frames_topology(void** state)
{
    (void)state;
    export_well("run --to obj -o o");
    export_well("run --to ply -o p");
    for (int frame = 0; frame < TORN_FRAMES; frame++)
    {
        char path[64];
        snprintf(path, sizeof(path), "o/sheet.%04d.obj", frame);
        shape s = read_obj(path);
        same_frame(&s, frame, false);
        assert_int_equal(s.maps, 8);
        assert_true(s.st[6][0] == 1.0 && s.st[6][1] == 1.0);
        assert_int_equal(s.map[0][2], 3);
        assert_int_equal(s.map[1][0], 5);
        assert_string_equal(s.objects, "sheet ");
        snprintf(path, sizeof(path), "p/sheet.%04d.ply", frame);
        s = read_ply(path);
        same_frame(&s, frame, false);
        assert_int_equal(s.maps, frame < TORN_FIRST ? 0 : 8 + (frame >= TORN_SECOND)); // the seam is gone with the tear
        assert_string_equal(s.objects, "sheet");
    }
    assert_int_equal(read_obj("o/ball.obj").faces, 4);
    assert_int_equal(read_ply("p/ball.ply").faces, 4);
    assert_int_equal(read_ply("p/ball.ply").maps, 0);
}

static void ply_has_the_map_of_vertices(void** state)
{
    (void)state;
    export_well("run --to ply -o p");
    shape s = read_ply("p/sheet.0002.ply");
    const double wanted[8][2] = {{0, 0}, {0.5, 0}, {1, 0.5}, {0, 0.5}, {0.5, 0.5}, {1, 1}, {0.5, 0.5}, {0.5, 1}};
    assert_memory_equal(s.st, wanted, sizeof(wanted));
}

static void a_vertex_without_faces_leaves_the_map_of_the_others(void** state)
{
    (void)state;
    assert_int_equal(mkdir("loose", 0777), 0);
    test_text_write("loose", "sheet.obj",
                    "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 1 1 0\nvt 0.25 0.25\nvt 1 0.25\nvt 1 1\nf 1/1 3/2 4/3\n");
    test_pc2_write("loose", "sheet.pc2", 4, 0.0f, 2);
    export_well("loose --to ply -o p");
    shape s = read_ply("p/sheet.0001.ply");
    const double wanted[4][2] = {{0.25, 0.25}, {0, 0}, {1, 0.25}, {1, 1}};
    assert_int_equal(s.maps, 4);
    assert_memory_equal(s.st, wanted, sizeof(wanted));
}

static void frames_rate_and_axes_are_chosen(void** state)
{
    (void)state;
    export_well("run --to mdd --frames 0:4 --every 2 -o a --body sheet");
    same_mdd("a/sheet.mdd", (choice){0, 2, 3, false}, 10.0);
    export_well("run --to mdd --frames 1:2 --fps 24 --up z -o b --body sheet");
    same_mdd("b/sheet.mdd", (choice){1, 1, 2, true}, 24.0);
    export_well("run --to pc2 --frames 3: -o c --up=z --body=sheet");
    same_pc2("c/sheet.pc2", (choice){3, 1, 2, true});
    export_well("run --to pc2 --frames :1 -o d.pc2 --body sheet");
    same_pc2("d.pc2", (choice){0, 1, 2, false});
    export_well("run --to obj --frames 1:4 --every 2 --up z -o e");
    shape s = read_obj("e/sheet.0003.obj");
    same_frame(&s, 3, true);
    assert_true(exists("e/sheet.0001.obj") && !exists("e/sheet.0002.obj") && !exists("e/sheet.0004.obj"));
    s = read_obj("e/ball.obj");
    same_point(s.x[3], (weft_vec3){0.25, -1, 0.25}, true);
    export_well("run --to ply --frames 2 --up z --body sheet -o f.ply");
    s = read_ply("f.ply");
    same_frame(&s, 2, true);
}

static void bodies_are_chosen(void** state)
{
    (void)state;
    export_well("run --to obj --body ball -o a");
    assert_true(exists("a/ball.obj") && !exists("a/sheet.0000.obj"));
    export_well("run --to pc2 --body ball --body sheet --body ball -o b");
    assert_true(said(".out", "of 2 bodies"));
    refused(2, "run --to obj --body shet -o c", "did you mean `sheet`");
    refused(2, "run --to pc2 -o c.pc2", "choose it with --body");
    refused(2, "run --to obj --body sheet -o c.obj", "--frames K:K");
    assert_false(exists("c") || exists("c.pc2") || exists("c.obj"));
}

static void objects_keep_their_names(void** state)
{
    (void)state;
    assert_int_equal(mkdir("two", 0777), 0);
    test_text_write("two", "coat.obj",
                    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nv 2 2 0\no left sleeve\nf 1 2 3\no right\nf 4 5 6\n");
    test_pc2_write("two", "coat.pc2", 6, 0.0f, 2);
    export_well("two --to obj -o out");
    assert_string_equal(read_obj("out/coat.0001.obj").objects, "left sleeve right ");
    export_well("two --to pc2 -o cache");
    assert_string_equal(read_obj("cache/coat.obj").objects, "coat ");
}

static void wrong_words_are_answered(void** state)
{
    (void)state;
    refused(2, "run --to pc3", "pc2");
    refused(2, "run", "--to");
    refused(2, "--to pc2", "folder of a run");
    refused(2, "run --to pc2 --frames 3:2", "--frames");
    refused(2, "run --to pc2 --frames 2:9", "no frame 9");
    refused(2, "run --to pc2 --frames 7:", "no frame 7");
    refused(2, "run --to pc2 --every 0", "--every");
    refused(2, "run --to pc2 --fps -1", "--fps");
    refused(2, "run --to pc2 --fps 0", "--fps");
    refused(2, "run --to pc2 --up x", "y or z");
    refused(2, "run --to pc2 --colour red", "no option `--colour`");
    refused(2, "run --to pc2 -o", "lacks its value");
    refused(2, "run --to pc2 -o --force", "-o lacks its value");
    assert_false(exists("--force"));
    refused(2, "run --to glb", "did you mean `--to gltf`?");
    refused(2, "run --to alembic", "`--to abc`");
    refused(2, "run --to usd", "`--to usda`");
    refused(2, "run --to VTK", "`--to vtp`");
    refused(2, "run --to PC2", "`--to pc2`");
    refused(2, "run other --to pc2", "one folder at a time");
    refused(2, "nothing --to pc2", "nothing");
    assert_int_equal(export_with("", "run --to pc2 --frames 2:9 --json"), 2);
    assert_true(said(".out", "{\"error\":{\"file\":\"run\",\"line\":0,\"message\":\"there is no frame 9"));
    assert_false(exists("run-pc2"));
    export_well("run --to pc2 --json");
    assert_true(
        said(".out", "{\"target\":\"run-pc2\",\"format\":\"pc2\",\"frames\":5,\"bodies\":2,\"files\":3,\"bytes\":"));
    assert_int_equal(shell(WEFT_COMMAND " list formats > .out"), 0);
    assert_true(said(".out", "mdd\texport: "));
    assert_int_equal(shell(WEFT_COMMAND " export --help > .out"), 0);
    assert_true(said(".out", "weft export hang-run --to "));
}

// ---- targets

static void targets_are_not_lost(void** state)
{
    (void)state;
    export_well("run --to pc2 -o t");
    refused(2, "run --to pc2 -o t", "--force");
    export_well("run --to obj -o t --force");
    assert_true(exists("t/sheet.0000.obj") && !exists("t/sheet.pc2"));
    assert_false(exists("t.weft-tmp") || exists("t.weft-old"));
    test_text_write("t", "notes.txt", "mine");
    refused(2, "run --to pc2 -o t/ --force", "notes.txt");
    assert_true(exists("t/notes.txt") && exists("t/sheet.0000.obj"));
    // Folders and files that no export made.
    assert_int_equal(mkdir("empty", 0777), 0);
    export_well("run --to pc2 -o empty/");
    same_pc2("empty/sheet.pc2", all);
    refused(2, "run --to pc2 -o run --force", "folder of a run");
    refused(2, "run --to pc2 --body sheet -o run/sheet.pc2", "folder of a run");
    test_text_write(".", "file", "mine");
    refused(2, "run --to pc2 -o file --force", "no folder");
    assert_true(said("file", "mine"));
    // A file is replaced.
    test_text_write(".", "old.pc2", "older");
    export_well("run --to pc2 --body sheet -o old.pc2");
    same_pc2("old.pc2", all);
}

static void endings_fit_the_format(void** state)
{
    (void)state;
    static const char* const wrong[][2] = {
        {"run --to usda -o x.glb", "ends in .usda, not in .glb: give another name, or --to gltf"},
        {"run --to gltf -o x.gltf", "ends in .glb, not in .gltf"},
        {"run --to abc -o x.JSON", "ends in .abc"},
        {"run --to usda -o x.usdc", "ends in .usda"},
        {"run --to pc2 -o x.glb", "writes a folder: give the name of one, without .glb, or --to gltf"},
        {"run --to pc2 -o x.Obj", "without .Obj, or --to obj"},
        {"run --to vtp -o run.pvd", "without .pvd"},
        {"run --to obj --body sheet --frames 1 -o x.ply", "or --to ply"},
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++)
    {
        refused(2, wrong[k][0], wrong[k][1]);
    }
    assert_int_equal(shell("ls | grep -q '^x\\.\\|pvd'"), 1);
    export_well("run --to pc2 --body sheet -o sheet.PC2");
    same_pc2("sheet.PC2", all);
    export_well("run --to gltf -o x.GLB");
    export_well("run --to usda -o x.usd");
    export_well("run --to usda -o v1.2");
    export_well("run --to obj -o v1.3");
    // A folder may be called anything.
    assert_int_equal(mkdir("x.ply", 0777), 0);
    export_well("run --to obj -o x.ply");
    assert_true(exists("x.ply/sheet.0000.obj"));
}

// Whichever run it is: the one that is exported, or another.
static void files_of_runs_are_not_replaced(void** state)
{
    (void)state;
    assert_int_equal(mkdir("other", 0777), 0);
    test_text_write("other", "run.lock", "");
    static const char* const held[] = {"coat.obj", "coat.pc2", "coat.PC2", "notes"};
    for (size_t k = 0; k < sizeof(held) / sizeof(held[0]); k++)
    {
        test_text_write("other", held[k], "mine");
    }
    refused(2, "run --to obj --frames 1 --body sheet -o other/coat.obj", "choose another name");
    refused(2, "run --to pc2 --body sheet -o other/coat.pc2", "choose another name");
    refused(2, "run --to pc2 --body sheet -o other/../other/coat.PC2", "choose another name");
    refused(2, "run --to gltf -o other/notes", "choose another name");
    assert_int_equal(export_with("cd other &&", "../run --to pc2 --body sheet -o coat.pc2"), 2);
    for (size_t k = 0; k < sizeof(held) / sizeof(held[0]); k++)
    {
        char path[64];
        snprintf(path, sizeof(path), "other/%s", held[k]);
        assert_true(said(path, "mine"));
    }
    refused(2, "run --to pc2 -o other", "folder of a run");
    refused(2, "run --to pc2 -o other --force", "folder of a run");
    // An earlier export may lie there.
    export_well("run --to gltf -o other/x.glb");
    export_well("run --to gltf -o other/x.glb");
    export_well("run --to gltf -o run/x.glb");
    export_well("run --to gltf -o run/x.glb");
}

static void leftovers_of_a_kill_are_replaced(void** state)
{
    (void)state;
    assert_int_equal(mkdir("t.weft-tmp", 0777), 0);
    test_text_write("t.weft-tmp", "sheet.pc2.tmp", "half");
    export_well("run --to pc2 -o t");
    assert_false(exists("t.weft-tmp") || exists("t/sheet.pc2.tmp"));
}

// ---- manners of every format

static const char* target_of(int format, char out[64])
{
    bool is_folder = weft_export_format_is_folder(format) != 0;
    snprintf(out, 64, "target%s", is_folder ? "" : weft_export_format_ending(format));
    return out;
}

// Nothing of the target's name, half or whole.
static void nothing_left(const char* format)
{
    DIR* here = opendir(".");
    for (struct dirent* entry = readdir(here); entry; entry = readdir(here))
    {
        if (strncmp(entry->d_name, "target", 6) == 0)
        {
            fail_msg("%s leaves %s", format, entry->d_name);
        }
    }
    closedir(here);
}

static void no_disk_no_target(void** state)
{
    (void)state;
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        // As on a full disk, writes fail beyond some bytes.
        assert_int_equal(export_with("ulimit -f 0;", words), 3);
        nothing_left(format);
        snprintf(words, sizeof(words), "run --to %s -o none/%s", format, target);
        refused(3, words, "folder exists and may be written to");
        snprintf(words, sizeof(words), "run --to %s -o /proc/%s", format, target);
        refused(3, words, "/proc/target");
    }
}

// A real full file system, where tests may mount one.
static void full_file_system(void** state)
{
    (void)state;
    assert_int_equal(mkdir("disk", 0777), 0);
    if (shell("unshare -rm mount -t tmpfs -o size=16k none disk 2> .err") != 0)
    {
        skip();
    }
    test_pc2_write(run, "sheet.2.pc2", 9, (float)TORN_SECOND, 2000);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char line[2048], target[64];
        snprintf(
            line, sizeof(line),
            "unshare -rm sh -c 'mount -t tmpfs -o size=16k none disk; %s export run --to %s -o disk/%s > .out 2> .err; "
            "echo $? > .code; ls disk > .left'",
            WEFT_COMMAND, weft_export_format_name(k), target_of(k, target));
        assert_int_equal(shell(line), 0);
        assert_true(said(".code", "3\n"));
        assert_true(said(".err", "No space left on device"));
        assert_false(said(".left", "target"));
    }
}

static void earlier_targets_survive_a_full_disk(void** state)
{
    (void)state;
    export_well("run --to pc2 --body sheet -o target.pc2");
    export_well("run --to obj -o target");
    assert_int_equal(export_with("ulimit -f 0;", "run --to pc2 --body sheet --up z -o target.pc2"), 3);
    assert_int_equal(export_with("ulimit -f 0;", "run --to obj --up z --force -o target"), 3);
    same_pc2("target.pc2", all);
    shape s = read_obj("target/sheet.0001.obj");
    same_frame(&s, 1, false);
    assert_false(exists("target.weft-tmp") || exists("target.pc2.tmp"));
}

static void folders_that_may_not_be_written(void** state)
{
    (void)state;
    if (geteuid() == 0)
    {
        skip();
    }
    assert_int_equal(mkdir("locked", 0555), 0);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        snprintf(words, sizeof(words), "run --to %s -o locked/%s", weft_export_format_name(k), target_of(k, target));
        refused(3, words, "Permission denied");
    }
}

static void cut_caches_are_refused(void** state)
{
    (void)state;
    test_file_cut(run, "sheet.2.pc2", 5);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        refused(2, words, "sheet.2.pc2: the file is cut");
        nothing_left(format);
        // What is there can be had.
        snprintf(words, sizeof(words), "run --to %s -o %s --frames :3", format, target);
        export_well(words);
        test_folder_remove(target);
    }
}

static void values_that_are_not_finite_are_refused(void** state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof(path), "%s/sheet.1.pc2", run);
    FILE* file = fopen(path, "r+b");
    const unsigned char nan_bytes[4] = {0, 0, 0xc0, 0x7f};
    fseek(file, 32 + 12 * 3 + 4, SEEK_SET);
    fwrite(nan_bytes, 1, 4, file);
    fclose(file);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char words[256], target[64];
        const char* format = weft_export_format_name(k);
        snprintf(words, sizeof(words), "run --to %s -o %s", format, target_of(k, target));
        refused(2, words, "vertex 3 of `sheet` is not finite in frame 2");
        nothing_left(format);
    }
}

static void write_long_run(void)
{
    assert_int_equal(mkdir("long", 0777), 0);
    test_text_write("long", "sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    test_pc2_write("long", "sheet.pc2", 3, 0.0f, MANY_FRAMES);
}

// Starts an export of many frames and sends the signal as soon as something is under way. Its exit status, minus a
// signal.
static int interrupted(int format, int signal_number)
{
    char target[64], half[80];
    target_of(format, target);
    snprintf(half, sizeof(half), "%s%s", target, weft_export_format_is_folder(format) ? ".weft-tmp" : ".tmp");
    pid_t child = fork();
    if (child == 0)
    {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        execl(WEFT_COMMAND, "weft", "export", "long", "--to", weft_export_format_name(format), "-o", target,
              (char*)NULL);
        _exit(127);
    }
    int status = 0;
    while (!exists(half) && waitpid(child, &status, WNOHANG) == 0)
    {
    }
    kill(child, signal_number);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void killed_exports_leave_no_target(void** state)
{
    (void)state;
    write_long_run();
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64], words[256];
        const char* format = weft_export_format_name(k);
        target_of(k, target);
        int code = interrupted(k, SIGKILL);
        if (code == 0)
        {
            print_message("%s was done before it was killed\n", format);
        }
        else
        {
            assert_int_equal(code, -SIGKILL);
            assert_false(exists(target));
        }
        snprintf(words, sizeof(words), "long --to %s -o %s --frames :9 --force", format, target);
        export_well(words);
        test_folder_remove(target);
        nothing_left(format);
        code = interrupted(k, SIGINT);
        if (code != 0)
        {
            assert_int_equal(code, 1);
            nothing_left(format);
        }
        test_folder_remove(target);
    }
}

// ---- the library

static int count_calls(void* context, int done, int total)
{
    assert_true(done >= 1 && done <= total);
    return ++*(int*)context >= 3;
}

static void progress_may_stop_it(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(run, &cache, NULL), WEFT_OK);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64];
        int calls = 0;
        weft_export_def def = weft_export_def_default();
        def.format = weft_export_format_name(k);
        def.progress = count_calls;
        def.progress_context = &calls;
        assert_int_equal(weft_export(cache, &def, target_of(k, target), NULL, NULL), WEFT_CANCELLED);
        assert_int_equal(calls, 3);
        nothing_left(def.format);
    }
    weft_cache_close(cache);
}

static void memory_may_end_anywhere(void** state)
{
    (void)state;
    weft_cache* cache = NULL;
    assert_int_equal(weft_cache_open(run, &cache, NULL), WEFT_OK);
    for (int k = 0; weft_export_format_name(k); k++)
    {
        char target[64];
        weft_status status = WEFT_NO_MEMORY;
        for (int at = 1; status == WEFT_NO_MEMORY; at++)
        {
            test_ledger ledger = {.fail_at = at, .fail_on = 1};
            weft_export_def def = weft_export_def_default();
            def.format = weft_export_format_name(k);
            def.force = 1;
            test_ledger_open(&ledger);
            status = weft_export(cache, &def, target_of(k, target), NULL, NULL);
            test_ledger_close();
            // The point cache that is open belongs to the reader.
            assert_true(ledger.live <= 2);
            assert_true(status == WEFT_OK || (status == WEFT_NO_MEMORY && !exists(target)));
        }
        test_folder_remove(target);
    }
    test_ledger ledger = {0};
    test_ledger_open(&ledger);
    weft_cache_close(cache);
    test_ledger_close();
}

// Text of numbers against the C library's.
static void numbers_come_back(void** state)
{
    (void)state;
    whole_file file;
    uint64_t counter = 0;
    static double values[40000];
    static export_text text;
    text.file = &file;
    assert_int_equal(whole_file_open(&file, "numbers", NULL), WEFT_OK);
    int count = 0;
    const double fixed[] = {0.0, -0.0, 1.0,   -1.0,  0.1,   9.99999999999, 0.99999999999, 1e-5,  9.9999999999e-6,
                            1e9, 1e10, 123.0, 1e-29, 1e-31, 3.4e38,        -2.5,          1e-30, 999999999.6};
    for (size_t k = 0; k < sizeof(fixed) / sizeof(fixed[0]); k++)
    {
        values[count++] = fixed[k];
    }
    while (count < 40000)
    {
        double size = pow(10.0, test_random(&counter, -12.0, 12.0));
        values[count++] = (double)(float)(test_random(&counter, -1.0, 1.0) * size);
    }
    for (int k = 0; k < count; k++)
    {
        export_text_number(&text, values[k]);
        export_text_put(&text, "\n");
    }
    export_text_flush(&text);
    assert_int_equal(whole_file_close(&file, NULL), WEFT_OK);
    FILE* in = fopen("numbers", "r");
    for (int k = 0; k < count; k++)
    {
        char line[64];
        assert_non_null(fgets(line, sizeof(line), in));
        double got = strtod(line, NULL), wanted = fabs(values[k]) < 1e-30 ? 0.0 : values[k];
        if (fabs(got - wanted) > 5.1e-9 * fabs(wanted) || ((float)wanted == wanted && (float)got != (float)wanted))
        {
            fail_msg("%.17g became %s", values[k], line);
        }
    }
    fclose(in);
}

static void benchmark_measures_every_binary_format(void** state)
{
    (void)state;
    assert_int_equal(shell(WEFT_COMMAND " bench export --cells 10 --rounds 1 --json > .out"), 0);
    for (int k = 0; export_format_at(k); k++)
    {
        char words[64];
        snprintf(words, sizeof(words), "{\"format\":\"%s\",\"target\":", export_format_at(k)->name);
        assert_true(said(".out", words) == export_format_at(k)->binary);
    }
    assert_true(said(".out", "\"vertices\":121,"));
    assert_int_equal(shell("ls | grep -q weft-bench"), 1);
    assert_int_equal(shell(WEFT_COMMAND " bench export --dir none > .out 2> .err"), 3);
    assert_true(said(".err", "folder exists"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        T(point_caches_follow_the_last_topology),
        T(sequences_have_each_frames_topology),
        T(ply_has_the_map_of_vertices),
        T(a_vertex_without_faces_leaves_the_map_of_the_others),
        T(frames_rate_and_axes_are_chosen),
        T(bodies_are_chosen),
        T(objects_keep_their_names),
        T(wrong_words_are_answered),
        T(targets_are_not_lost),
        T(endings_fit_the_format),
        T(files_of_runs_are_not_replaced),
        T(leftovers_of_a_kill_are_replaced),
        T(no_disk_no_target),
        T(full_file_system),
        T(earlier_targets_survive_a_full_disk),
        T(folders_that_may_not_be_written),
        T(cut_caches_are_refused),
        T(values_that_are_not_finite_are_refused),
        T(killed_exports_leave_no_target),
        T(progress_may_stop_it),
        T(memory_may_end_anywhere),
        T(numbers_come_back),
        T(benchmark_measures_every_binary_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
