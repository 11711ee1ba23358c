// weft run: from a scene to a run's folder, with a progress bar, step by step, nothing lost.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/cache.h"
#include "weft/scene.h"

typedef struct run_options
{
    const char* scene;
    char dir[4096];
    int frames; // -1: what the scene says
    int threads;
    weft_cache_mode mode;
    bool json, fields;
    const char* overrides[OVERRIDES_MAX];
    char method[128], solver[128], frame_override[64];
    int override_count;
} run_options;

static const double stretch_doubtful = 1.5; // no fabric does this without tearing

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    static const char text[] = "\nweft: stopping at the end of this step; once more stops now\n";
    (void)signal_number;
    stop_requested = 1;
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
}

static bool add_override(run_options* o, const char* text)
{
    if (o->override_count >= OVERRIDES_MAX)
    {
        return false;
    }
    o->overrides[o->override_count++] = text;
    return true;
}

static int read_options(int argc, char** argv, run_options* o)
{
    *o = (run_options){.frames = -1};
    option_scan scan = {.command = "run", .argc = argc, .argv = argv, .at = 1};
    for (int i = 1; i < argc; i++)
    {
        o->json = o->json || strcmp(argv[i], "--json") == 0;
    }
    while (option_next(&scan))
    {
        if (!scan.name)
        {
            if (o->scene)
            {
                return report_usage("run", o->json, "one scene at a time: `%s` and `%s`", o->scene, scan.value);
            }
            o->scene = scan.value;
        }
        else if (option_is(&scan, "--resume") || option_is(&scan, "--force"))
        {
            weft_cache_mode mode = option_is(&scan, "--resume") ? WEFT_CACHE_RESUME : WEFT_CACHE_FORCE;
            if (o->mode != WEFT_CACHE_NEW && o->mode != mode)
            {
                return report_usage("run", o->json, "--resume goes on with a run, --force replaces it: take one");
            }
            o->mode = mode;
        }
        else if (option_is(&scan, "--fields"))
        {
            o->fields = true;
        }
        else if (option_is(&scan, "--json"))
        {
            continue;
        }
        else
        {
            const char* name = scan.name;
            const char* value = option_value(&scan);
            if (!value)
            {
                return report_usage("run", o->json, "unknown option `%s`, or its value is missing", name);
            }
            bool good = true;
            const char* expected = "a short text; a run takes at most 256 changes";
            if (strcmp(name, "-o") == 0)
            {
                good = value[0] && snprintf(o->dir, sizeof(o->dir), "%s", value) < (int)sizeof(o->dir);
                expected = "the name of a folder";
            }
            else if (strcmp(name, "--frames") == 0)
            {
                good = parse_int(value, 0, 1000000000, &o->frames);
                snprintf(o->frame_override, sizeof(o->frame_override), "frames=%d", o->frames);
                good = good && add_override(o, o->frame_override);
                expected = "a whole number from 0 to 1000000000";
            }
            else if (strcmp(name, "--threads") == 0)
            {
                good = parse_int(value, 0, 256, &o->threads);
                expected = "a whole number from 0 (one a core) to 256";
            }
            else if (strcmp(name, "--set") == 0)
            {
                good = add_override(o, value);
            }
            else if (strcmp(name, "--method") == 0)
            {
                good = snprintf(o->method, sizeof(o->method), "method=%s", value) < (int)sizeof(o->method) &&
                       add_override(o, o->method);
            }
            else if (strcmp(name, "--solver") == 0)
            {
                good = snprintf(o->solver, sizeof(o->solver), "solver.name=%s", value) < (int)sizeof(o->solver) &&
                       add_override(o, o->solver);
            }
            else
            {
                return report_usage("run", o->json, "unknown option `%s`", name);
            }
            if (!good)
            {
                return report_value("run", o->json, name, value, expected);
            }
        }
    }
    return o->scene ? EXIT_DONE
                    : report_usage("run", o->json, "which scene? give a file or a name from `weft list scenes`");
}

// ---- progress: one line on a terminal, nothing elsewhere

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(const weft_step_stats* s, int64_t done, int64_t total, int steps_per_frame, double start,
                          int64_t first)
{
    static double last;
    double time = now();
    if (!isatty(STDERR_FILENO) || (time - last < 0.1 && done != total))
    {
        return;
    }
    last = time;
    enum
    {
        WIDTH = 30
    };
    char bar[WIDTH + 1];
    int filled = total > 0 ? (int)(done * WIDTH / total) : WIDTH;
    for (int k = 0; k < WIDTH; k++)
    {
        bar[k] = k < filled ? '#' : '.';
    }
    bar[WIDTH] = 0;
    double left = done > first ? (time - start) * (double)(total - done) / (double)(done - first) : 0.0;
    fprintf(stderr, "\r\033[K[%s] frame %lld/%lld  step %lld  %d iterations  %.0f s left", bar,
            (long long)(done / steps_per_frame), (long long)(total / steps_per_frame), (long long)done, s->iterations,
            left);
    if (s->unsettled > 0)
    {
        fprintf(stderr, "  %d pairs of the start left", s->unsettled);
    }
    if (done == total)
    {
        fputc('\n', stderr);
    }
    fflush(stderr);
}

// Inside a step that takes longer than a second: what it is doing. A signal stops it there.
static int look_inside(void* user, const weft_progress* p)
{
    const double* start = user;
    static double last;
    double time = now();
    if (isatty(STDERR_FILENO) && time - *start > 1.0 && time - last > 0.2)
    {
        last = time;
        fprintf(stderr, "\r\033[Kstep %lld: %.0f %%, %s, %d substeps, %d rejected, %d solves, %.0f s",
                (long long)p->step, 100.0 * p->done, p->stage, p->substeps, p->rejected, p->solves, time - *start);
        fflush(stderr);
    }
    return stop_requested;
}

// Untangling a start that crosses, from a second on: how many crossings are left. A signal stops it.
static int look_at_start(void* user, const weft_progress* p)
{
    const double* start = user;
    static double last;
    double time = now();
    if (isatty(STDERR_FILENO) && time - *start > 1.0 && time - last > 0.2)
    {
        last = time;
        fprintf(stderr, "\r\033[Kuntangling: round %d, %d crossings left, %.0f s", p->rounds + 1, p->crossings,
                time - *start);
        fflush(stderr);
    }
    return stop_requested;
}

static weft_status start_scene(const weft_scene* scene, weft_sim* sim, weft_untangling* out, weft_error* error)
{
    double start = now();
    weft_sim_watch(sim, look_at_start, &start);
    weft_status status = weft_scene_start(scene, sim, out, error);
    weft_sim_watch(sim, NULL, NULL);
    if (isatty(STDERR_FILENO) && now() - start > 1.0)
    {
        fputs("\r\033[K", stderr);
    }
    return status;
}

typedef struct totals
{
    int64_t iterations, solves, substeps, rejected, forced, overstretched;
    double step_s;
    double max_stretch;
    int64_t squeezed_steps; // with pairs that bodies or pins have closed on
    int unsettled;          // pairs of the start that the last step has left
    const weft_squeezed* unsettled_pairs; // [unsettled]
    int64_t settled_step;   // after which there are none
    const char* solver;     // of the last solve
} totals;

static weft_status stopped(const weft_sim* sim, weft_error* error)
{
    error->status = WEFT_CANCELLED;
    snprintf(error->message, sizeof(error->message),
             "stopped after step %lld; `--resume` goes on from the last whole frame",
             (long long)weft_sim_step_count(sim));
    return WEFT_CANCELLED;
}

// Steps to the end. A signal stops at once, with all that is finished on disk.
static weft_status run_steps(weft_sim* sim, weft_cache_writer* writer, int64_t total, int steps_per_frame, totals* sum,
                             weft_error* error)
{
    double start = now(), step_start = start;
    int64_t first = weft_sim_step_count(sim);
    weft_sim_watch(sim, look_inside, &step_start);
    show_progress(&(weft_step_stats){0}, first, total, steps_per_frame, start, first);
    while (weft_sim_step_count(sim) < total)
    {
        step_start = now();
        weft_step_stats stats;
        weft_status status = stop_requested ? WEFT_CANCELLED : weft_sim_step(sim, &stats, error);
        if (status == WEFT_CANCELLED)
        {
            return stopped(sim, error);
        }
        if (status == WEFT_OK)
        {
            status = weft_cache_writer_step(writer, sim, &stats, error);
        }
        if (status != WEFT_OK)
        {
            return status;
        }
        sum->iterations += stats.iterations;
        sum->solves += stats.solves;
        sum->solver = stats.solver;
        sum->squeezed_steps += stats.squeezed > 0;
        sum->unsettled = stats.unsettled;
        sum->unsettled_pairs = stats.unsettled_pairs;
        sum->settled_step = stats.unsettled > 0 ? stats.step + 1 : sum->settled_step;
        sum->max_stretch = stats.max_stretch > sum->max_stretch ? stats.max_stretch : sum->max_stretch;
        sum->substeps += stats.substeps;
        sum->rejected += stats.rejected;
        sum->forced += stats.forced;
        sum->overstretched += stats.overstretched > 0;
        sum->step_s += stats.step_s;
        show_progress(&stats, weft_sim_step_count(sim), total, steps_per_frame, start, first);
    }
    return WEFT_OK;
}

static void print_summary(const run_options* o, const weft_scene* scene, weft_sim* sim, int64_t first,
                          const totals* sum)
{
    int64_t steps = weft_sim_step_count(sim) - first;
    weft_energy e = weft_sim_energy(sim);
    int frames = (int)(weft_sim_step_count(sim) / weft_scene_steps_per_frame(scene));
    if (o->json)
    {
        printf("{\"scene\":");
        put_json_string(weft_scene_name(scene));
        printf(",\"dir\":");
        put_json_string(o->dir);
        printf(",\"vertices\":%d,\"frames\":%d,\"steps\":%lld,\"substeps\":%lld,\"rejected\":%lld,\"iterations\":%lld,"
               "\"solver\":\"%s\",\"max_stretch\":%.6g,\"step_s\":%.6g,\"energy\":%.17g,\"kernels\":\"%s\"}\n",
               weft_sim_vertex_count(sim, -1), frames, (long long)steps, (long long)sum->substeps,
               (long long)sum->rejected, (long long)sum->iterations, sum->solver ? sum->solver : "", sum->max_stretch,
               sum->step_s, e.total, weft_sim_kernels(sim));
        return;
    }
    printf("%s: %d vertices, %d frames, %lld steps in %.2f s", weft_scene_name(scene), weft_sim_vertex_count(sim, -1),
           frames, (long long)steps, sum->step_s);
    if (steps > 0)
    {
        printf(" (%.1f ms a step%s%s", 1e3 * sum->step_s / (double)steps, sum->solver[0] ? ", " : "", sum->solver);
        if (sum->iterations > 0)
        {
            printf(", %.1f iterations a step", (double)sum->iterations / (double)steps);
        }
        printf(")");
    }
    if (sum->rejected > 0)
    {
        printf(", %lld substeps rejected", (long long)sum->rejected);
    }
    if (sum->forced > 0)
    {
        printf(", %lld forced: see `forced` in stats.jsonl", (long long)sum->forced);
    }
    if (sum->overstretched > 0)
    {
        printf(", %lld steps with threads beyond their strain limit: see `overstretched` in stats.jsonl",
               (long long)sum->overstretched);
    }
    if (steps == 0 && frames > weft_scene_frames(scene))
    {
        printf("; the run has more frames than the %d asked for", weft_scene_frames(scene));
    }
    const char* quote = strpbrk(o->dir, " \t") ? "\"" : ""; // the line is there to be copied
    printf("\ncache in %s; `weft render %s%s%s` makes a picture\n", o->dir, quote, o->dir, quote);
}

static weft_status run_scene(run_options* o, weft_scene* scene, weft_error* error)
{
    weft_sim* sim = NULL;
    weft_cache_writer* writer = NULL;
    totals sum = {0};
    weft_untangling untangled = {0};
    weft_status status = weft_scene_build_sim(scene, o->threads, &sim, error);
    // A checkpoint has the state: what was untangled at the start is not untangled again.
    if (status == WEFT_OK && !(o->mode == WEFT_CACHE_RESUME && weft_cache_has_checkpoint(o->dir)))
    {
        status = start_scene(scene, sim, &untangled, error);
        status == WEFT_OK ? report_untangling(sim, &untangled) : (void)0;
    }
    int steps_per_frame = weft_scene_steps_per_frame(scene);
    if (status == WEFT_OK)
    {
        status =
            weft_cache_writer_create(o->dir, o->mode, weft_scene_json(scene), steps_per_frame, sim, &writer, error);
    }
    if (status == WEFT_OK && o->fields)
    {
        status = weft_cache_writer_fields(writer, sim, error);
        if (status == WEFT_OK && !weft_cache_writer_has_fields(writer))
        {
            fprintf(
                stderr,
                "weft: note: --fields writes nothing, as neither solver nor method has any: --solver sa-ppcg has\n");
        }
    }
    if (status == WEFT_OK)
    {
        int64_t first = weft_sim_step_count(sim), total = (int64_t)weft_scene_frames(scene) * steps_per_frame;
        status = run_steps(sim, writer, total, steps_per_frame, &sum, error);
        weft_error close_error = {0};
        weft_status closed = weft_cache_writer_destroy(writer, &close_error);
        if (status == WEFT_OK && closed != WEFT_OK)
        {
            *error = close_error;
            status = closed;
        }
        if (status == WEFT_OK)
        {
            print_summary(o, scene, sim, first, &sum);
        }
        if (status == WEFT_OK && sum.max_stretch > stretch_doubtful)
        {
            fprintf(stderr,
                    "weft: warning: the cloth was stretched to %.3g times its length: do pins or bodies move too far, "
                    "or is the material too soft for its weight?\n",
                    sum.max_stretch);
        }
        if (status == WEFT_OK && sum.squeezed_steps > 0)
        {
            fprintf(
                stderr,
                "weft: warning: bodies or pins have closed on the cloth in %lld steps: `squeezed` in stats.jsonl lists "
                "the pairs\n",
                (long long)sum.squeezed_steps);
        }
        if (status == WEFT_OK && sum.unsettled > 0)
        {
            fprintf(
                stderr,
                "weft: warning: %d pairs of the start are not apart yet: `unsettled` in stats.jsonl lists them; give "
                "the scene more frames, or look at them with `weft render %s --show crossings`\n",
                sum.unsettled, o->dir);
            report_unsettled(sim, sum.unsettled_pairs, sum.unsettled);
        }
        else if (status == WEFT_OK && sum.settled_step > 0)
        {
            fprintf(stderr, "weft: note: all that crossed at the start is apart since step %lld\n",
                    (long long)sum.settled_step);
        }
    }
    weft_sim_destroy(sim);
    return status;
}

int command_run(int argc, char** argv)
{
    static run_options o;
    int usage = read_options(argc, argv, &o);
    if (usage != EXIT_DONE)
    {
        return usage;
    }
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_status status = weft_scene_load(o.scene, o.overrides, o.override_count, &scene, &error);
    if (status == WEFT_OK)
    {
        for (int k = 0; weft_scene_warning(scene, k); k++)
        {
            fprintf(stderr, "weft: note: %s\n", weft_scene_warning(scene, k));
        }
        const char* own = strrchr(o.scene, '/');
        if (!o.dir[0] && o.mode == WEFT_CACHE_RESUME && own && strcmp(own, "/scene.json") == 0)
        {
            snprintf(o.dir, sizeof(o.dir), "%.*s", (int)(own - o.scene),
                     o.scene); // a run's own scene goes on in its folder
        }
        if (!o.dir[0])
        {
            snprintf(o.dir, sizeof(o.dir), "%s-run", weft_scene_name(scene));
        }
        // A second signal ends at once: a step can be long.
        struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESETHAND};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = run_scene(&o, scene, &error);
    }
    weft_scene_destroy(scene);
    error.status = status;
    return status == WEFT_OK ? EXIT_DONE : report_error(&error, o.json);
}
