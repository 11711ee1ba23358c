#define _GNU_SOURCE
#include "common_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "common_run.h"

char export_folder[256], export_run[512];

int export_folder_make(void** state)
{
    (void)state;
    test_folder(export_folder);
    assert_int_equal(chdir(export_folder), 0);
    snprintf(export_run, sizeof(export_run), "%s/run", export_folder);
    test_run_write(export_run, true);
    return 0;
}

int export_folder_remove(void** state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    test_folder_remove(export_folder);
    return 0;
}

// ---- running

int export_with(const char* before, const char* words)
{
    char line[2048];
    snprintf(line, sizeof(line), "%s \"$WEFT\" export %s > .out 2> .err", before, words);
    return test_shell(NULL, line);
}

void export_well(const char* words)
{
    if (export_with("", words) != 0)
    {
        size_t size;
        fail_msg("export %s: %s", words, test_file_read(".err", &size));
    }
}

bool said(const char* file, const char* words)
{
    size_t size;
    char* text = test_file_read(file, &size);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

void refused(int code, const char* words, const char* says)
{
    int got = export_with("", words);
    if (got != code || !said(".err", says))
    {
        size_t size;
        fail_msg("export %s: exit %d, %s", words, got, test_file_read(".err", &size));
    }
}

bool exists(const char* path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

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

shape read_obj(const char* path)
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

shape read_ply(const char* path)
{
    size_t size;
    char* text = test_file_read(path, &size);
    shape s = {0};
    assert_non_null(after(text, "format binary_little_endian 1.0"));
    s.points = atoi(after(text, "element vertex "));
    s.faces = atoi(after(text, "element face "));
    s.maps = after(text, "property float s\nproperty float t\n") ? s.points : 0;
    sscanf(after(text, "comment object "), "%100s", s.objects);
    // Behind the corners: texture coordinates of corners, and the number of the object.
    bool corners = after(text, "property list uchar float texcoord\n");
    int names = (after(text, "property int object\n") != NULL) + (after(text, "property int group\n") != NULL) +
                (after(text, "property int material\n") != NULL);
    assert_false(corners && s.maps);
    int fields = after(text, "property float stretch\n") != NULL;
    const char* at = after(text, "end_header\n");
    for (int v = 0; v < s.points; v++, at += 4 * fields)
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
        if (corners)
        {
            assert_int_equal(*at, 2 * s.corners[face]);
            at += 1 + 4 * *at;
        }
        at += 4 * names;
    }
    assert_int_equal(at - text, size);
    free(text);
    return s;
}

// ---- what is expected

void same_point(const double x[3], weft_vec3 wanted, bool up_z)
{
    wanted = up_z ? (weft_vec3){wanted.x, -wanted.z, wanted.y} : wanted;
    double apart = fmax(fabs(x[0] - wanted.x), fmax(fabs(x[1] - wanted.y), fabs(x[2] - wanted.z)));
    if (!(apart <= 1e-6 * 2.0)) // the sheet is 2 m long
    {
        fail_msg("%.9g %.9g %.9g is %g from %.9g %.9g %.9g", x[0], x[1], x[2], apart, wanted.x, wanted.y, wanted.z);
    }
}

void same_frame(const shape* s, int frame, bool up_z)
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

void same_pc2(const char* path, choice c)
{
    size_t size;
    char* bytes = test_file_read(path, &size);
    int points = test_run_vertices(c.first + c.every * (c.frames - 1), true);
    assert_int_equal(size, 32 + 12 * points * c.frames);
    assert_memory_equal(bytes, "POINTCACHE2", 12);
    assert_int_equal(int_at(bytes + 12, false), 1);
    assert_int_equal(int_at(bytes + 16, false), points);
    assert_true(float_at(bytes + 20, false) == (float)c.first && float_at(bytes + 24, false) == (float)c.every);
    assert_int_equal(int_at(bytes + 28, false), c.frames);
    same_samples(bytes + 32, false, c);
    free(bytes);
}

void same_mdd(const char* path, choice c, double rate)
{
    size_t size;
    char* bytes = test_file_read(path, &size);
    int points = test_run_vertices(c.first + c.every * (c.frames - 1), true);
    assert_int_equal(size, 8 + 4 * c.frames + 12 * points * c.frames);
    assert_int_equal(int_at(bytes, true), c.frames);
    assert_int_equal(int_at(bytes + 4, true), points);
    for (int k = 0; k < c.frames; k++)
    {
        assert_true(fabs((double)float_at(bytes + 8 + 4 * k, true) - (c.first + k * c.every) / (rate * c.every)) < 1e-6);
    }
    same_samples(bytes + 8 + 4 * c.frames, true, c);
    free(bytes);
}

const choice export_all = {.every = 1, .frames = TORN_FRAMES};
