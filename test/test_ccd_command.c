// weft ccd: lines and totals against the library's own answers, the public set, and whatever can be wrong with a file
// or a command line.
#include "common.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ccd_draw.h"
#include "ccd_records.h"

enum
{
    RECORDS = 600, // more than the command reads at once
    TEXT = 65536
};

static char folder[256], output[TEXT], errors[TEXT];

static int make_folder(void** state)
{
    (void)state;
    return test_folder(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void read_text(const char* name, char* text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "r");
    text[file ? fread(text, 1, TEXT - 1, file) : 0] = 0;
    if (file)
    {
        fclose(file);
    }
}

// Exit status; what was printed is in `output` and `errors`. before: what the shell does in front, "cat q.bin |".
static int run_after(const char* before, const char* arguments)
{
    char line[4096];
    snprintf(line, sizeof(line), "%s \"$WEFT\" ccd %s 2> err.txt", before, arguments);
    int status = test_shell(folder, line);
    read_text("out.txt", output);
    read_text("err.txt", errors);
    return status;
}

static int run(const char* arguments)
{
    char line[4096];
    snprintf(line, sizeof(line), "%s > out.txt", arguments);
    return run_after("", line);
}

static void assert_says(const char* text, const char* word)
{
    if (!strstr(text, word))
    {
        fail_msg("`%s` does not say `%s`", text, word);
    }
}

static void write_bytes(const char* name, const void* bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// Records of one kind with the library's answers as their truth.
static void make_records(weft_pair_kind kind, ccd_record* records)
{
    int count = 0;
    for (uint64_t k = 0; count < RECORDS; k++)
    {
        ccd_case c = ccd_case_make(21, k);
        weft_ccd answer;
        if (c.kind != kind)
        {
            continue;
        }
        assert_int_equal(weft_ccd_query(kind, c.start, c.end, &answer), WEFT_OK);
        ccd_record* r = &records[count++];
        *r = (ccd_record){.truth = answer.collides, .low = answer.time, .high = answer.time};
        memcpy(r->start, c.start, sizeof(c.start));
        memcpy(r->end, c.end, sizeof(c.end));
    }
}

static long total(const char* name)
{
    char field[64];
    snprintf(field, sizeof(field), "\"%s\":", name);
    const char* at = strstr(output, field);
    return at ? strtol(at + strlen(field), NULL, 10) : -1;
}

// What was printed are the answers of the first `count` records and nothing else.
static void assert_answers(const ccd_record* records, int count)
{
    char* line = output;
    for (int k = 0; k < count; k++)
    {
        char* end;
        assert_int_equal(strtol(line, &end, 10), records[k].truth != 0.0);
        if (records[k].truth != 0.0)
        {
            assert_true(strtod(end, &end) == records[k].low);
        }
        assert_int_equal(*end, '\n');
        line = end + 1;
    }
    assert_int_equal(*line, 0);
}

static void lines_are_the_answers(void** state)
{
    (void)state;
    static ccd_record records[RECORDS];
    for (int kind = WEFT_VERTEX_FACE; kind <= WEFT_EDGE_EDGE; kind++)
    {
        make_records(kind, records);
        write_bytes("q.bin", records, sizeof(records));
        assert_int_equal(run(kind == WEFT_VERTEX_FACE ? "q.bin --kind vf" : "--kind=ee q.bin"), 0);
        assert_answers(records, RECORDS);
    }
}

static void totals_are_right(void** state)
{
    (void)state;
    static ccd_record records[RECORDS];
    make_records(WEFT_VERTEX_FACE, records);
    int collide = 0, late = 0, early = 0, missed = 0, made_up = 0;
    write_bytes("q.bin", records, sizeof(records));
    assert_int_equal(run("q.bin --kind vf --json"), 0);
    for (int k = 0; k < RECORDS; k++)
    {
        collide += records[k].truth != 0.0;
    }
    assert_says(output, "{\"file\":\"q.bin\",\"kind\":\"vf\",");
    assert_int_equal(total("queries"), RECORDS);
    assert_int_equal(total("collide"), collide);
    assert_int_equal(total("false_negatives") + total("false_positives") + total("late") + total("early"), 0);
    assert_true(total("slowest_query") >= 0 && total("slowest_query") < RECORDS);
    // Truths that are moved: every fourth hit is later than it says, is earlier, is none, and some misses are hits.
    for (int k = 0, hit = 0; k < RECORDS; k++)
    {
        ccd_record* r = &records[k];
        if (r->truth == 0.0)
        {
            missed += k % 2;
            *r = k % 2 ? (ccd_record){.truth = 1.0, .low = 0.5, .high = 0.5} : *r;
            if (k % 2)
            {
                weft_vec3 far = {1, 1, 1};
                r->start[0] = r->end[0] = far; // off the face of points at the origin
            }
            continue;
        }
        hit++;
        if (hit % 4 == 0 && r->low > 1e-3)
        {
            r->low = r->high = r->low - 1e-4;
            late++;
        }
        else if (hit % 4 == 1 && r->low < 0.9)
        {
            r->low = r->high = r->low + 2e-6;
            early++;
        }
        else if (hit % 4 == 2)
        {
            r->truth = 0.0;
            made_up++;
        }
    }
    write_bytes("q.bin", records, sizeof(records));
    assert_true(late > 0 && early > 0 && made_up > 0 && missed > 0);
    assert_int_equal(run("q.bin --kind vf --json"), 1);
    assert_int_equal(total("late"), late);
    assert_int_equal(total("early"), early);
    assert_int_equal(total("false_positives"), made_up);
    assert_int_equal(total("false_negatives"), missed);
    // Lines do not look at the truth.
    assert_int_equal(run("q.bin --kind vf"), 0);
}

static void public_set_passes(void** state)
{
    (void)state;
    char path[2048], line[2200];
    for (int kind = WEFT_VERTEX_FACE; kind <= WEFT_EDGE_EDGE; kind++)
    {
        if (!ccd_record_path(kind, path))
        {
            skip();
        }
        snprintf(line, sizeof(line), "'%s' --kind %s --json", path, kind == WEFT_VERTEX_FACE ? "vf" : "ee");
        assert_int_equal(run(line), 0);
        assert_int_equal(total("queries"), kind == WEFT_VERTEX_FACE ? 3085 : 4194);
        assert_int_equal(total("collide"), kind == WEFT_VERTEX_FACE ? 248 : 187);
        assert_int_equal(total("false_negatives") + total("false_positives") + total("late") + total("early"), 0);
    }
}

// ---- what is wrong with a file

// Exit status 2, with the words in the sentence and in the JSON object, and no answer beside it.
static void assert_bad(const char* arguments, const char* word)
{
    char line[512];
    assert_int_equal(run(arguments), 2);
    assert_says(errors, word);
    snprintf(line, sizeof(line), "%s --json", arguments);
    assert_int_equal(run(line), 2);
    assert_int_equal(strncmp(output, "{\"error\":{\"file\":", 17), 0);
    assert_says(output, word);
    assert_string_equal(errors, "");
}

static void bad_files_are_refused(void** state)
{
    (void)state;
    static ccd_record records[RECORDS];
    make_records(WEFT_VERTEX_FACE, records);
    write_bytes("cut.bin", records, 3 * sizeof(ccd_record) + 100);
    assert_bad("cut.bin --kind vf", "record 3 is cut: the file ends after 100 bytes of its 224 (at byte 772)");
    assert_string_equal(output + strlen(output) - 3, "}}\n");
    // The whole records before the cut are answered, and come before the sentence.
    assert_int_equal(run("cut.bin --kind vf"), 2);
    assert_answers(records, 3);
    assert_int_equal(run_after("{", "cut.bin --kind vf > out.txt 2>&1; }"), 2);
    char* sentence = strstr(output, "weft: ");
    assert_true(sentence && sentence > output);
    *sentence = 0;
    assert_answers(records, 3);
    write_bytes("empty.bin", records, 0);
    assert_bad("empty.bin --kind vf", "empty");
    assert_bad("none.bin --kind vf", "No such file");
    assert_bad(". --kind vf", "folder");
    // The same through a pipe, whose length cannot be known before.
    assert_int_equal(run_after("cat cut.bin |", "/dev/stdin --kind vf > out.txt"), 2);
    assert_says(errors, "record 3 is cut");
    assert_answers(records, 3);
    assert_int_equal(run_after("cat empty.bin |", "/dev/stdin --kind vf > out.txt"), 2);
    assert_says(errors, "empty");
    assert_int_equal(run_after("head -c 448 cut.bin |", "/dev/stdin --kind vf --json > out.txt"), 0);
    assert_int_equal(total("queries"), 2);
    if (geteuid() != 0)
    {
        char path[512];
        snprintf(path, sizeof(path), "%s/empty.bin", folder);
        chmod(path, 0);
        assert_bad("empty.bin --kind vf", "Permission denied");
    }
}

static void bad_records_are_refused(void** state)
{
    (void)state;
    static ccd_record records[RECORDS];
    const double bad[] = {2e12, 1e-31, NAN, INFINITY};
    for (int k = 0; k < 4; k++)
    {
        make_records(WEFT_EDGE_EDGE, records);
        records[300].end[2].y = bad[k];
        write_bytes("q.bin", records, sizeof(records));
        assert_int_equal(run("q.bin --kind ee"), 2);
        assert_answers(records, 300);
        assert_bad("q.bin --kind ee", "record 300 (byte 67200)");
        assert_says(output, k < 2 ? "1e-30 to 1e12" : "not finite");
    }
    // Without a truth there is nothing to compare with, but there are answers.
    make_records(WEFT_EDGE_EDGE, records);
    records[7].truth = NAN;
    write_bytes("q.bin", records, sizeof(records));
    assert_int_equal(run("q.bin --kind ee"), 0);
    assert_int_equal(run("q.bin --kind ee --json"), 2);
    assert_says(output, "record 7");
}

static void bad_command_lines_are_refused(void** state)
{
    (void)state;
    static ccd_record records[RECORDS];
    make_records(WEFT_EDGE_EDGE, records);
    write_bytes("q.bin", records, sizeof(records));
    assert_bad("q.bin", "--kind vf");
    assert_bad("--kind vf", "give the FILE");
    assert_bad("q.bin --kind xy", "`--kind` cannot be `xy`");
    assert_bad("q.bin q.bin --kind ee", "second");
    assert_bad("q.bin --kind ee --fast", "there is no option `--fast`");
    assert_int_equal(run("q.bin --kind"), 2);
    assert_int_equal(run("--help"), 0);
    assert_says(output, "weft ccd FILE.bin --kind vf|ee [--json]");
    // A disk that is full is the machine's failure.
    assert_int_equal(run_after("", "q.bin --kind ee > /dev/full"), 3);
    assert_says(errors, "cannot write");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_the_answers),   cmocka_unit_test(totals_are_right),
        cmocka_unit_test(public_set_passes),       cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(bad_records_are_refused), cmocka_unit_test(bad_command_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
