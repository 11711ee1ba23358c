// weft ccd: continuous collision queries from a file of records, answered one a line, or held against the truth in
// them.
//
// A record is 28 little-endian doubles: 12 coordinates of the four points at t = 0, 12 at t = 1, then the truth (1 or
// 0), lower and upper bound of the first time of contact, and the smallest distance over the step. Records are counted
// from 0. Files are streamed: memory does not grow with them.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "weft/collide.h"

enum
{
    RECORD_BYTES = 224,
    BLOCK = 256 // records read at once
};

// How far a time may lie before the truth.
static const double slack = 1e-6;

typedef struct ccd_record
{
    weft_vec3 start[4], end[4];
    double truth, low, high, distance;
} ccd_record;

typedef struct ccd_command
{
    const char* path;
    weft_pair_kind kind;
    const char* kind_name; // NULL: not given
    bool json;
} ccd_command;

typedef struct ccd_totals
{
    long queries, collide, exact;
    long false_negatives, false_positives;
    long late, early; // after the upper bound; more than the slack before the lower one
    double seconds, slowest;
    long slowest_query;
} ccd_totals;

// ---- command line

static int read_options(int argc, char** argv, ccd_command* c)
{
    // Known before anything can be wrong, so that every error has the right form.
    for (int k = 1; k < argc; k++)
    {
        c->json = c->json || strcmp(argv[k], "--json") == 0;
    }
    option_scan scan = {.command = "ccd", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        if (!scan.name && c->path)
        {
            return report_usage("ccd", c->json, "one FILE at a time: `%s` is the second", scan.value);
        }
        if (!scan.name)
        {
            c->path = scan.value;
        }
        else if (option_is(&scan, "--kind"))
        {
            c->kind_name = option_value(&scan);
            bool edges = c->kind_name && strcmp(c->kind_name, "ee") == 0;
            if (!edges && (!c->kind_name || strcmp(c->kind_name, "vf") != 0))
            {
                return report_usage("ccd", c->json,
                                    "`--kind` cannot be `%s`: it is `vf` (vertex-face) or `ee` "
                                    "(edge-edge)",
                                    c->kind_name ? c->kind_name : "");
            }
            c->kind = edges ? WEFT_EDGE_EDGE : WEFT_VERTEX_FACE;
        }
        else if (!option_is(&scan, "--json"))
        {
            return report_usage("ccd", c->json, "there is no option `%s`", scan.name);
        }
    }
    if (!c->path)
    {
        return report_usage("ccd", c->json, "give the FILE of records");
    }
    return c->kind_name ? EXIT_DONE
                        : report_usage("ccd", c->json, "say with `--kind vf` or `--kind ee` what the records are");
}

// ---- errors

static weft_status refuse(weft_error* error, const ccd_command* c, weft_status status)
{
    error->status = status;
    snprintf(error->file, sizeof(error->file), "%s", c->path);
    return status;
}

// A file that ends inside a record.
static weft_status refuse_cut(weft_error* error, const ccd_command* c, long records, long bytes)
{
    snprintf(error->message, sizeof(error->message),
             "record %ld is cut: the file ends after %ld bytes of its %d (at byte %ld); a record is 28 doubles",
             records, bytes, RECORD_BYTES, records * RECORD_BYTES + bytes);
    return refuse(error, c, WEFT_BAD_INPUT);
}

static weft_status refuse_empty(weft_error* error, const ccd_command* c)
{
    snprintf(error->message, sizeof(error->message), "the file is empty; a record is 28 doubles (%d bytes)",
             RECORD_BYTES);
    return refuse(error, c, WEFT_BAD_INPUT);
}

static weft_status refuse_record(weft_error* error, const ccd_command* c, long number, weft_status status)
{
    const char* why =
        status == WEFT_NOT_FINITE
            ? "has a coordinate that is not finite"
            : "has a coordinate out of range: 0, or of size 1e-30 to 1e12, is what can be decided; change "
              "the unit";
    bool input = status == WEFT_NOT_FINITE || status == WEFT_BAD_INPUT;
    snprintf(error->message, sizeof(error->message), "record %ld (byte %ld) %s", number, number * RECORD_BYTES,
             input ? why : weft_status_text(status));
    return refuse(error, c, input ? WEFT_BAD_INPUT : status);
}

static weft_status refuse_truth(weft_error* error, const ccd_command* c, long number)
{
    snprintf(
        error->message, sizeof(error->message),
        "record %ld (byte %ld) has no truth to compare with: 1 or 0, then two times, in its doubles 25 to 27; leave "
        "--json out to have the answers alone",
        number, number * RECORD_BYTES);
    return refuse(error, c, WEFT_BAD_INPUT);
}

// ---- the file

static weft_status open_file(const ccd_command* c, FILE** file, weft_error* error)
{
    struct stat info;
    *file = fopen(c->path, "rb");
    if (!*file || fstat(fileno(*file), &info) != 0)
    {
        weft_status status = errno == ENOENT ? WEFT_NOT_FOUND : WEFT_BAD_INPUT;
        snprintf(error->message, sizeof(error->message), "cannot be read: %s", strerror(errno));
        return refuse(error, c, status);
    }
    if (S_ISDIR(info.st_mode))
    {
        snprintf(error->message, sizeof(error->message), "is a folder; give a file of records");
        return refuse(error, c, WEFT_BAD_INPUT);
    }
    return WEFT_OK;
}

// ---- queries

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool truth_is_sound(const ccd_record* r)
{
    bool verdict = r->truth == 0.0 || r->truth == 1.0;
    return verdict && (r->truth == 0.0 || (r->low <= r->high && r->low >= 0.0 && r->high <= 1.0));
}

static void hold_against_truth(ccd_totals* t, const ccd_record* r, const weft_ccd* answer)
{
    bool truth = r->truth != 0.0, says = answer->collides != 0;
    t->false_negatives += truth && !says;
    t->false_positives += says && !truth;
    t->late += truth && says && answer->time > r->high;
    t->early += truth && says && answer->time < r->low - slack;
}

static void put_line(const weft_ccd* answer)
{
    if (answer->collides)
    {
        printf("1 %.17g\n", answer->time);
    }
    else
    {
        puts("0");
    }
}

static weft_status ask(const ccd_command* c, const ccd_record* r, ccd_totals* t, weft_error* error)
{
    weft_ccd answer;
    double begin = now();
    weft_status status = weft_ccd_query(c->kind, r->start, r->end, &answer);
    double seconds = now() - begin;
    if (status != WEFT_OK)
    {
        return refuse_record(error, c, t->queries, status);
    }
    if (c->json && !truth_is_sound(r))
    {
        return refuse_truth(error, c, t->queries);
    }
    if (c->json)
    {
        hold_against_truth(t, r, &answer);
    }
    else
    {
        put_line(&answer);
    }
    if (seconds > t->slowest || t->queries == 0)
    {
        t->slowest = seconds;
        t->slowest_query = t->queries;
    }
    t->seconds += seconds;
    t->collide += answer.collides;
    t->exact += answer.exact;
    t->queries++;
    return WEFT_OK;
}

static weft_status ask_all(const ccd_command* c, FILE* file, ccd_totals* t, weft_error* error)
{
    _Static_assert(sizeof(ccd_record) == RECORD_BYTES, "records are read as they lie");
    ccd_record block[BLOCK];
    size_t got;
    // A reader that went away ends the work; main tells.
    while (!ferror(stdout) && (got = fread(block, 1, sizeof(block), file)) > 0)
    {
        size_t whole = got / RECORD_BYTES;
        for (size_t k = 0; k < whole; k++)
        {
            weft_status status = ask(c, &block[k], t, error);
            if (status != WEFT_OK)
            {
                return status;
            }
        }
        if (got % RECORD_BYTES != 0 && !ferror(file))
        {
            return refuse_cut(error, c, t->queries, (long)(got % RECORD_BYTES));
        }
    }
    if (ferror(file))
    {
        snprintf(error->message, sizeof(error->message), "cannot be read on after record %ld: %s", t->queries,
                 strerror(errno));
        return refuse(error, c, WEFT_IO);
    }
    return t->queries > 0 || ferror(stdout) ? WEFT_OK : refuse_empty(error, c);
}

static void put_totals(const ccd_command* c, const ccd_totals* t)
{
    printf("{\"file\":");
    put_json_string(c->path);
    printf(",\"kind\":\"%s\",\"queries\":%ld,\"collide\":%ld", c->kind_name, t->queries, t->collide);
    printf(",\"false_negatives\":%ld,\"false_positives\":%ld", t->false_negatives, t->false_positives);
    printf(",\"late\":%ld,\"early\":%ld,\"exact\":%ld", t->late, t->early, t->exact);
    printf(",\"seconds\":%.9g,\"mean_s\":%.9g,\"slowest_s\":%.9g", t->seconds, t->seconds / (double)t->queries,
           t->slowest);
    printf(",\"slowest_query\":%ld}\n", t->slowest_query);
}

int command_ccd(int argc, char** argv)
{
    ccd_command c = {0};
    int code = read_options(argc, argv, &c);
    if (code != EXIT_DONE)
    {
        return code;
    }
    FILE* file = NULL;
    ccd_totals totals = {0};
    weft_error error = {0};
    weft_status status = open_file(&c, &file, &error);
    if (status == WEFT_OK)
    {
        status = ask_all(&c, file, &totals, &error);
    }
    if (file)
    {
        fclose(file);
    }
    if (status != WEFT_OK)
    {
        fflush(stdout); // the answers before the error, also where both go to one file
        return report_error(&error, c.json);
    }
    if (c.json)
    {
        put_totals(&c, &totals);
    }
    return totals.false_negatives + totals.late > 0 ? EXIT_FAILED : EXIT_DONE;
}
