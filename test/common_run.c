#define _GNU_SOURCE
#include "common_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

static const char scene_text[] = "{\"time_step\": 0.01, \"steps_per_frame\": 5, \"cloth\": [{\"name\": \"sheet\"}],\n"
                                 " \"obstacles\": [{\"name\": \"ball\"}]}\n";
static const char corners[] = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\n";
static const char map[] = "vt 0 0\nvt 0.5 0\nvt 0.5 0.5\nvt 0 0.5\nvt 0.5 0.5\nvt 1 0.5\nvt 1 1\nvt 0.5 1\n";
static const char ball_text[] = "v 0 -2 0\nv 1 -2 0\nv 0 -2 1\nv 0.25 -1 0.25\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";

void test_file_write(const char* dir, const char* name, const void* bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

void test_text_write(const char* dir, const char* name, const char* text)
{
    test_file_write(dir, name, text, strlen(text));
}

void test_file_cut(const char* dir, const char* name, long less)
{
    char path[512];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - less), 0);
}

char* test_file_read(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    if (!file)
    {
        fail_msg("%s is not there", path);
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char* bytes = calloc((size_t)length + 1, 1);
    *size = fread(bytes, 1, (size_t)length, file);
    fclose(file);
    return bytes;
}

int test_run_vertices(int frame, bool torn)
{
    return !torn || frame < TORN_FIRST ? 6 : frame < TORN_SECOND ? 8 : 9;
}

weft_vec3 test_run_point(int frame, int vertex)
{
    static const double place[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {1.1, 0}, {1.1, 1}, {1.05, 0.1}};
    int at = vertex % 9;
    return (weft_vec3){place[at][0] + 0.013 * frame, place[at][1] - 0.1 * frame, 1e-3 * (frame + 1) * (vertex + 2)};
}

int test_run_origin(int vertex, int frame)
{
    vertex = vertex == 8 && frame < TORN_SECOND ? 6 : vertex;
    vertex = vertex == 6 && frame < TORN_FIRST ? 1 : vertex;
    return vertex == 7 && frame < TORN_FIRST ? 4 : vertex;
}

void test_pc2_write(const char* dir, const char* name, int points, float start, int samples)
{
    size_t size = 32 + 12 * (size_t)points * (size_t)samples;
    char* bytes = calloc(size, 1);
    float rate = 1.0f;
    int version = 1;
    memcpy(bytes, "POINTCACHE2", 12);
    memcpy(bytes + 12, &version, 4);
    memcpy(bytes + 16, &points, 4);
    memcpy(bytes + 20, &start, 4);
    memcpy(bytes + 24, &rate, 4);
    memcpy(bytes + 28, &samples, 4);
    for (int s = 0; s < samples; s++)
    {
        for (int v = 0; v < points; v++)
        {
            weft_vec3 x = test_run_point((int)start + s, v);
            float values[3] = {(float)x.x, (float)x.y, (float)x.z};
            memcpy(bytes + 32 + 12 * ((size_t)s * (size_t)points + (size_t)v), values, 12);
        }
    }
    test_file_write(dir, name, bytes, size);
    free(bytes);
}

static void write_mesh(const char* dir, const char* name, const char* more, const char* faces)
{
    char text[1024];
    snprintf(text, sizeof(text), "%s%s%so sheet\n%s", corners, more, map, faces);
    test_text_write(dir, name, text);
}

void test_run_write(const char* dir, bool torn)
{
    mkdir(dir, 0777);
    test_text_write(dir, "scene.json", scene_text);
    test_text_write(dir, "ball.obj", ball_text);
    write_mesh(dir, "sheet.obj", "", "f 1/1 2/2 5/3 4/4\nf 2/5 3/6 6/7 5/8\n");
    test_pc2_write(dir, "sheet.pc2", 6, 0.0f, torn ? TORN_FIRST : TORN_FRAMES);
    if (!torn)
    {
        return;
    }
    write_mesh(dir, "sheet.1.obj", "v 1 0 0\nv 1 1 0\n", "f 1/1 2/2 5/3 4/4\nf 7/5 3/6 6/7 8/8\n");
    test_pc2_write(dir, "sheet.1.pc2", 8, (float)TORN_FIRST, TORN_SECOND - TORN_FIRST);
    write_mesh(dir, "sheet.2.obj", "v 1 0 0\nv 1 1 0\nv 1 0 0\n", "f 1/1 2/2 5/3 4/4\nf 7/5 3/6 6/7\nf 9/5 6/7 8/8\n");
    test_pc2_write(dir, "sheet.2.pc2", 9, (float)TORN_SECOND, TORN_FRAMES - TORN_SECOND);
    test_text_write(dir, "frames.jsonl",
                    "{\"frame\": 2, \"body\": \"sheet\", \"topology\": 1, \"copies\": [1, 4]}\n"
                    "{\"frame\": 3, \"body\": \"sheet\", \"topology\": 2, \"copies\": [6]}\n");
}
