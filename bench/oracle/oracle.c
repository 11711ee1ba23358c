// weft-oracle: continuous collision queries by the million against an exact oracle in whole numbers of any size.
//
//     weft-oracle [--queries N] [--seed S] [--threads T] [--log FILE] [--fresh] [--json]
//
// The queries are those of test_ccd_oracle, random and degenerate, in families that take turns; the index-th query of a
// seed is the same on every machine and with any number of threads. Every answer must have the oracle's verdict and a
// time in [truth - 1e-6, truth]. Finished blocks are kept in the log (weft-bench-oracle.jsonl), from which an
// interrupted run goes on; after a change of the library it is stale, and --fresh starts over. --threads 0, the
// default, takes one a core. Exit status: 0 all are right, 1 some are not, 2 wrong command line, 3 the machine failed.
//
// A program of its own, so that the command never links GMP.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/common.h"
#include "bench/results.h"
#include "ccd_judge.h"

enum
{
    BLOCK = 100000, // queries a line of the log stands for
    CHUNK = 500     // queries that a thread takes at a time
};

typedef struct oracle_run
{
    int queries, threads;
    uint64_t seed;
    workers* pool;
    results log;
    int64_t block_begin;      // index of the block's first query
    ccd_tally* chunk_tallies; // [chunks of a block][families]
    bool* chunk_failed;       // [chunks of a block]; no memory
    ccd_tally tallies[CCD_FAMILY_MAX];
    int logged; // queries taken from the log
} oracle_run;

// ---- a block

static void ask_chunk(void* context, int begin, int end)
{
    oracle_run* run = context;
    int families = ccd_family_count(), chunk = begin / CHUNK;
    ccd_tally* tallies = run->chunk_tallies + (size_t)chunk * (size_t)families;
    for (int f = 0; f < families; f++)
    {
        ccd_tally_reset(&tallies[f]);
    }
    ccd_oracle* o = ccd_oracle_create();
    run->chunk_failed[chunk] = !o;
    for (int k = begin; k < end && o; k++)
    {
        int64_t index = run->block_begin + k;
        ccd_case c = ccd_case_make(run->seed, (uint64_t)index);
        ccd_tally_ask(&tallies[c.family], o, &c, index);
    }
    ccd_oracle_destroy(o);
}

static void block_key(const oracle_run* run, int count, int family, char key[128])
{
    snprintf(key, 128, "seed %llu queries %lld to %lld family %d %s", (unsigned long long)run->seed,
             (long long)run->block_begin, (long long)(run->block_begin + count - 1), family, ccd_family_name(family));
}

static weft_status log_block(oracle_run* run, const ccd_tally* block, int count)
{
    for (int f = 0; f < ccd_family_count(); f++)
    {
        char key[128];
        const ccd_tally* t = &block[f];
        const int64_t* v = t->verdicts;
        block_key(run, count, f, key);
        TRY(results_add(&run->log, key,
                        "\"queries\":%lld,\"collide\":%lld,\"exact\":%lld,\"excused\":%lld,\"right\":%lld,"
                        "\"missed\":%lld,\"made_up\":%lld,\"late\":%lld,\"early\":%lld,\"malformed\":%lld,"
                        "\"refused\":%lld,\"first_wrong\":%lld",
                        (long long)t->queries, (long long)t->collide, (long long)t->exact, (long long)t->excused,
                        (long long)v[CCD_RIGHT], (long long)v[CCD_MISSED], (long long)v[CCD_MADE_UP],
                        (long long)v[CCD_LATE], (long long)v[CCD_EARLY], (long long)v[CCD_MALFORMED],
                        (long long)v[CCD_REFUSED], (long long)t->first_wrong));
    }
    return WEFT_OK;
}

// False when the log does not hold all families of the block.
static bool read_block(const oracle_run* run, int count, ccd_tally* block)
{
    static const char* const names[CCD_VERDICT_COUNT] = {"right", "missed",    "made_up", "late",
                                                         "early", "malformed", "refused"};
    for (int f = 0; f < ccd_family_count(); f++)
    {
        char key[128];
        block_key(run, count, f, key);
        const char* line = results_find(&run->log, key);
        if (!line || !(results_number(line, "queries") >= 0.0))
        {
            return false;
        }
        block[f] = (ccd_tally){.queries = (int64_t)results_number(line, "queries"),
                               .collide = (int64_t)results_number(line, "collide"),
                               .exact = (int64_t)results_number(line, "exact"),
                               .excused = (int64_t)results_number(line, "excused"),
                               .first_wrong = (int64_t)results_number(line, "first_wrong")};
        for (int k = 0; k < CCD_VERDICT_COUNT; k++)
        {
            block[f].verdicts[k] = (int64_t)results_number(line, names[k]);
        }
    }
    return true;
}

static weft_status ask_block(oracle_run* run, int count, ccd_tally* block)
{
    int families = ccd_family_count();
    parallel_for(run->pool, count, CHUNK, ask_chunk, run);
    for (int f = 0; f < families; f++)
    {
        ccd_tally_reset(&block[f]);
    }
    for (int chunk = 0; chunk * CHUNK < count; chunk++)
    {
        for (int f = 0; f < families; f++)
        {
            ccd_tally_add(&block[f], &run->chunk_tallies[chunk * families + f]);
        }
        if (run->chunk_failed[chunk])
        {
            return WEFT_NO_MEMORY;
        }
    }
    return log_block(run, block, count);
}

// ---- all of them

static void show_progress(const oracle_run* run, int done)
{
    if (isatty(STDERR_FILENO))
    {
        fprintf(stderr, "\r%d of %d queries%s", done, run->queries, done == run->queries ? "\n" : "");
        fflush(stderr);
    }
}

static weft_status ask_all(oracle_run* run)
{
    ccd_tally block[CCD_FAMILY_MAX];
    for (int begin = 0; begin < run->queries; begin += BLOCK)
    {
        int count = int_min(BLOCK, run->queries - begin);
        run->block_begin = begin;
        if (read_block(run, count, block))
        {
            run->logged += count;
        }
        else
        {
            TRY(ask_block(run, count, block));
        }
        for (int f = 0; f < ccd_family_count(); f++)
        {
            ccd_tally_add(&run->tallies[f], &block[f]);
        }
        show_progress(run, begin + count);
    }
    return WEFT_OK;
}

static weft_status run_start(oracle_run* run, int argc, char** argv)
{
    size_t chunks = BLOCK / CHUNK;
    for (int f = 0; f < CCD_FAMILY_MAX; f++)
    {
        ccd_tally_reset(&run->tallies[f]);
    }
    run->chunk_tallies = MEM_NEW(chunks * (size_t)ccd_family_count(), ccd_tally);
    run->chunk_failed = MEM_NEW(chunks, bool);
    if (!run->chunk_tallies || !run->chunk_failed)
    {
        return WEFT_NO_MEMORY;
    }
    TRY(workers_create(run->threads, NULL, &run->pool));
    return results_open(&run->log, "oracle", argc, argv);
}

static void run_finish(oracle_run* run)
{
    results_close(&run->log);
    workers_destroy(run->pool);
    mem_free(run->chunk_failed);
    mem_free(run->chunk_tallies);
}

// ---- report

static void print_table(const char* name, const ccd_tally* t)
{
    const int64_t* v = t->verdicts;
    printf("%-14s %10lld %10lld %9.2f %% %7lld %7lld %7lld %7lld %7lld %7lld", name, (long long)t->queries,
           (long long)t->collide, t->queries ? 100.0 * (double)t->exact / (double)t->queries : 0.0,
           (long long)v[CCD_MISSED], (long long)v[CCD_LATE], (long long)v[CCD_EARLY], (long long)v[CCD_MADE_UP],
           (long long)t->excused, (long long)(v[CCD_MALFORMED] + v[CCD_REFUSED]));
    printf(t->first_wrong >= 0 ? "   first %lld\n" : "\n", (long long)t->first_wrong);
}

static void print_object(const char* name, const ccd_tally* t)
{
    const int64_t* v = t->verdicts;
    printf("{\"family\":\"%s\",\"queries\":%lld,\"collide\":%lld,\"exact\":%lld,\"missed\":%lld,\"late\":%lld", name,
           (long long)t->queries, (long long)t->collide, (long long)t->exact, (long long)v[CCD_MISSED],
           (long long)v[CCD_LATE]);
    printf(",\"early\":%lld,\"made_up\":%lld,\"excused\":%lld,\"malformed\":%lld,\"refused\":%lld,\"first_wrong\":",
           (long long)v[CCD_EARLY], (long long)v[CCD_MADE_UP], (long long)t->excused, (long long)v[CCD_MALFORMED],
           (long long)v[CCD_REFUSED]);
    printf(t->first_wrong >= 0 ? "%lld}" : "null}", (long long)t->first_wrong);
}

static int report(const oracle_run* run, double seconds, bool json)
{
    ccd_tally all;
    ccd_tally_reset(&all);
    if (json)
    {
        printf("{\"seed\":%llu,\"seconds\":%.6g,\"from_log\":%d,\"families\":[", (unsigned long long)run->seed, seconds,
               run->logged);
    }
    else
    {
        printf("seed %llu, %.1f s, %d queries from the log\n", (unsigned long long)run->seed, seconds, run->logged);
        printf("%-14s %10s %10s %11s %7s %7s %7s %7s %7s %7s\n", "family", "queries", "collide", "exact", "missed",
               "late", "early", "made up", "excused", "other");
    }
    for (int f = 0; f < ccd_family_count(); f++)
    {
        ccd_tally_add(&all, &run->tallies[f]);
        fputs(json && f > 0 ? "," : "", stdout);
        (json ? print_object : print_table)(ccd_family_name(f), &run->tallies[f]);
    }
    fputs(json ? "],\"all\":" : "", stdout);
    (json ? print_object : print_table)("all", &all);
    fputs(json ? "}\n" : "", stdout);
    return ccd_tally_wrong(&all) > 0 ? 1 : 0;
}

int main(int argc, char** argv)
{
    argv[0] = "weft-oracle";
    bench_known(argc, argv, "--queries= --seed= --threads= --log= --fresh");
    bool json = bench_flag(argc, argv, "--json");
    oracle_run run = {.queries = bench_count(argc, argv, "--queries", 10000000),
                      .seed = (uint64_t)bench_option(argc, argv, "--seed", 1),
                      .threads = bench_option(argc, argv, "--threads", 0)};
    run.threads = run.threads > 0 ? run.threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    double begin = timer_now();
    weft_status status = run_start(&run, argc, argv);
    status = status == WEFT_OK ? ask_all(&run) : status;
    int code = status == WEFT_OK ? report(&run, timer_now() - begin, json) : 3;
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft-oracle: %s\n", weft_status_text(status));
    }
    run_finish(&run);
    return code;
}
