// `weft render`: a picture of one frame of a run, or a film of all of them through ffmpeg.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "weft/cache.h"
#include "weft/render.h"

enum
{
    SIZE_LIMIT = 16384,      // pixels a side
    FINE_TRIANGLES = 500000, // more are drawn with fewer samples a pixel, in half the time
    FRAMING_FRAMES = 24      // frames that a picture's framing looks at; a film looks at all
};

typedef struct render_options
{
    const char* dir;
    const char* output; // NULL: DIR/frame-KKKK.png
    int frame;          // -1: the last
    int width, height;
    bool edges, strain, ground, film;
    bool has_camera, has_target;
    weft_vec3 camera, target;
    double fov; // rad; 0: the default
} render_options;

// The run, and room for one frame of it.
typedef struct picture
{
    weft_cache* cache;
    int body_count, frame_count;
    weft_render_mesh* meshes; // [body_count]
    weft_vec3** positions;    // [body_count][vertex_count]
    double** strain;          // [body_count][vertex_count], or entries NULL
    double* sorted;           // [vertices of all bodies], or NULL: room to rank the strain
    char legend[64];
    weft_view view;
    weft_renderer* renderer;
    uint8_t* rgb; // [3 * width * height]
} picture;

// ---- messages

static int report(weft_status status, weft_error* error)
{
    error->status = status;
    if (!error->message[0])
    {
        snprintf(error->message, sizeof(error->message), "%s", weft_status_text(status));
    }
    return report_error(error, false);
}

// What the machine could not do, apart from the library.
static int report_machine(const char* file, const char* format, ...) __attribute__((format(printf, 2, 3)));

static int report_machine(const char* file, const char* format, ...)
{
    weft_error error = {.status = WEFT_IO};
    snprintf(error.file, sizeof(error.file), "%s", file);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof(error.message), format, arguments);
    va_end(arguments);
    report_error(&error, false);
    return EXIT_MACHINE;
}

// ---- options

static bool ends_with(const char* text, const char* ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length > end && strcmp(text + length - end, ending) == 0;
}

static bool parse_point(const char* text, weft_vec3* out)
{
    double values[3];
    for (int k = 0; k < 3; k++)
    {
        char* end;
        values[k] = strtod(text, &end);
        if (end == text || *end != (k < 2 ? ',' : '\0') || !isfinite(values[k]))
        {
            return false;
        }
        text = end + 1;
    }
    *out = (weft_vec3){values[0], values[1], values[2]};
    return true;
}

static bool parse_size(const char* text, int* width, int* height)
{
    char first[16];
    const char* cross = strchr(text, 'x');
    if (!cross || (size_t)(cross - text) >= sizeof(first))
    {
        return false;
    }
    memcpy(first, text, (size_t)(cross - text));
    first[cross - text] = '\0';
    return parse_int(first, 16, SIZE_LIMIT, width) && parse_int(cross + 1, 16, SIZE_LIMIT, height);
}

static bool parse_degrees(const char* text, double* radians)
{
    double degrees;
    if (!parse_double(text, &degrees) || !(degrees >= 1.0 && degrees <= 170.0))
    {
        return false;
    }
    *radians = degrees * 3.14159265358979323846 / 180.0;
    return true;
}

static bool set_output(render_options* o, const char* value)
{
    o->output = value;
    o->film = ends_with(value, ".mp4");
    return o->film || ends_with(value, ".png");
}

// Options that take a value; each knows what it expects.
typedef enum valued
{
    OPTION_OUTPUT,
    OPTION_FRAME,
    OPTION_SIZE,
    OPTION_SHOW,
    OPTION_CAMERA,
    OPTION_TARGET,
    OPTION_FOV,
    OPTION_COUNT
} valued;

static const struct
{
    const char *name, *expected;
} valued_options[OPTION_COUNT] = {
    [OPTION_OUTPUT] = {"-o", "a name that ends in .png or .mp4"},
    [OPTION_FRAME] = {"--frame", "a frame's number, from 0"},
    [OPTION_SIZE] = {"--size", "WxH in pixels, like 1280x720, each from 16 to 16384"},
    [OPTION_SHOW] = {"--show", "`strain`"},
    [OPTION_CAMERA] = {"--camera", "x,y,z in metres"},
    [OPTION_TARGET] = {"--target", "x,y,z in metres"},
    [OPTION_FOV] = {"--fov", "degrees from 1 to 170"},
};

static bool option_set(render_options* o, valued option, const char* value)
{
    switch (option)
    {
    case OPTION_OUTPUT:
        return set_output(o, value);
    case OPTION_FRAME:
        return parse_int(value, 0, INT32_MAX - 1, &o->frame);
    case OPTION_SIZE:
        return parse_size(value, &o->width, &o->height);
    case OPTION_SHOW:
        return o->strain = strcmp(value, "strain") == 0;
    case OPTION_CAMERA:
        return o->has_camera = parse_point(value, &o->camera);
    case OPTION_TARGET:
        return o->has_target = parse_point(value, &o->target);
    case OPTION_FOV:
        return parse_degrees(value, &o->fov);
    default:
        return false;
    }
}

static valued option_find(const option_scan* scan)
{
    valued option = 0;
    while (option < OPTION_COUNT && !option_is(scan, valued_options[option].name))
    {
        option++;
    }
    return option;
}

// One word of the command line, or an option and its value.
static int parse_one(option_scan* scan, render_options* o)
{
    if (!scan->name)
    {
        if (o->dir)
        {
            return report_usage("render", false, "one folder was expected, %s is a second one", scan->value);
        }
        o->dir = scan->value;
        return EXIT_DONE;
    }
    o->edges = o->edges || option_is(scan, "--edges");
    o->ground = o->ground && !option_is(scan, "--no-ground");
    if (option_is(scan, "--edges") || option_is(scan, "--no-ground"))
    {
        return EXIT_DONE;
    }
    valued option = option_find(scan);
    if (option == OPTION_COUNT)
    {
        return report_usage("render", false, "unknown option %s", scan->name);
    }
    const char* value = option_value(scan);
    if (!value || !option_set(o, option, value))
    {
        return report_usage("render", false, "%s needs %s", valued_options[option].name,
                            valued_options[option].expected);
    }
    return EXIT_DONE;
}

static int parse_options(int argc, char** argv, render_options* o)
{
    *o = (render_options){.frame = -1, .width = 1280, .height = 720, .ground = true};
    option_scan scan = {.command = "render", .argc = argc, .argv = argv, .at = 1};
    while (option_next(&scan))
    {
        int code = parse_one(&scan, o);
        if (code != EXIT_DONE)
        {
            return code;
        }
    }
    if (!o->dir)
    {
        return report_usage("render", false, "the folder of a run was expected");
    }
    if (o->film && o->frame >= 0)
    {
        return report_usage("render", false, "--frame makes a picture, %s a film of all frames: give one of them",
                            o->output);
    }
    return EXIT_DONE;
}

// ---- the run

static weft_status picture_allocate(picture* p, const render_options* o)
{
    p->meshes = calloc((size_t)p->body_count, sizeof(*p->meshes));
    p->positions = calloc((size_t)p->body_count, sizeof(*p->positions));
    p->strain = calloc((size_t)p->body_count, sizeof(*p->strain));
    p->rgb = malloc(3 * (size_t)o->width * (size_t)o->height);
    if (!p->meshes || !p->positions || !p->strain || !p->rgb)
    {
        return WEFT_NO_MEMORY;
    }
    size_t vertices = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        const weft_cache_body* body = weft_cache_body_at(p->cache, k);
        size_t count = (size_t)body->vertex_count;
        vertices += count;
        p->positions[k] = malloc((count + 1) * sizeof(weft_vec3));
        p->strain[k] = o->strain ? malloc((count + 1) * sizeof(double)) : NULL;
        if (!p->positions[k] || (o->strain && !p->strain[k]))
        {
            return WEFT_NO_MEMORY;
        }
        weft_render_mesh mesh = weft_render_mesh_default();
        weft_render_mesh_palette(&mesh, k);
        mesh.positions = p->positions[k];
        mesh.vertex_count = body->vertex_count;
        mesh.triangles = body->triangles;
        mesh.triangle_count = body->triangle_count;
        mesh.scalars = p->strain[k];
        if (o->edges)
        {
            mesh.face_start = body->face_start;
            mesh.face_vertices = body->face_vertices;
            mesh.face_count = body->face_count;
        }
        p->meshes[k] = mesh;
    }
    p->sorted = o->strain ? malloc((vertices + 1) * sizeof(double)) : NULL;
    return p->sorted || !o->strain ? WEFT_OK : WEFT_NO_MEMORY;
}

static void picture_finish(picture* p)
{
    for (int k = 0; k < p->body_count; k++)
    {
        free(p->positions ? p->positions[k] : NULL);
        free(p->strain ? p->strain[k] : NULL);
    }
    free(p->meshes);
    free(p->positions);
    free(p->strain);
    free(p->sorted);
    free(p->rgb);
    weft_renderer_destroy(p->renderer);
    weft_cache_close(p->cache);
}

static weft_status picture_load(picture* p, int frame, weft_error* error)
{
    for (int k = 0; k < p->body_count; k++)
    {
        weft_status status = weft_cache_read_frame(p->cache, k, frame, p->positions[k], error);
        const weft_cache_body* body = weft_cache_body_at(p->cache, k);
        if (status == WEFT_OK && p->strain[k])
        {
            status = weft_render_strain(body->rest, p->positions[k], body->vertex_count, body->triangles,
                                        body->triangle_count, p->strain[k]);
        }
        if (status != WEFT_OK)
        {
            return status;
        }
    }
    return WEFT_OK;
}

static int compare_doubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The largest strain, and the one that a hundredth of the vertices exceed: a few at a pin shall not darken the rest.
static void picture_rank_strain(const picture* p, double* most, double* usual)
{
    size_t count = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        for (int v = 0; p->strain[k] && v < p->meshes[k].vertex_count; v++)
        {
            if (isfinite(p->strain[k][v]))
            {
                p->sorted[count++] = p->strain[k][v];
            }
        }
    }
    if (count > 0)
    {
        qsort(p->sorted, count, sizeof(double), compare_doubles);
        *most = fmax(*most, p->sorted[count - 1]);
        *usual = fmax(*usual, p->sorted[(count - 1) - (count - 1) / 100]);
    }
}

// The next round number whose quarters are short too.
static double round_up(double value)
{
    double unit = pow(10.0, floor(log10(fmax(value, 1e-5))));
    const double steps[] = {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
    int k = 0;
    while (k < 10 && steps[k] * unit < value * (1.0 - 1e-9))
    {
        k++;
    }
    return steps[k] * unit;
}

// ---- the view

// The box of the run: of all frames for a film; for a picture of evenly spread ones, always the same, and its own.
static weft_status picture_survey(picture* p, const render_options* o, int frame, weft_box* box, weft_error* error)
{
    int looks = o->film || p->frame_count < FRAMING_FRAMES ? p->frame_count : FRAMING_FRAMES;
    *box = weft_box_empty();
    double most = 0.0, usual = 0.0; // strain
    for (int look = 0; look <= looks; look++)
    {
        bool own = look == looks; // last, so that its positions are the ones that stay loaded
        int at = own ? frame : looks > 1 ? (int)((int64_t)look * (p->frame_count - 1) / (looks - 1)) : 0;
        weft_status status = picture_load(p, at, error);
        if (status != WEFT_OK)
        {
            return status;
        }
        for (int k = 0; k < p->body_count; k++)
        {
            weft_box_add(box, p->positions[k], p->meshes[k].vertex_count);
        }
        if (o->strain && (o->film || own))
        {
            picture_rank_strain(p, &most, &usual);
        }
    }
    p->view.scalar_max = round_up(usual);
    bool capped = most > p->view.scalar_max;
    snprintf(p->legend, sizeof(p->legend), capped ? "STRAIN %% (MAX %.3g)" : "STRAIN %%", 100.0 * most);
    return WEFT_OK;
}

static void picture_aim(picture* p, const render_options* o, const weft_box* box)
{
    weft_view* view = &p->view;
    view->fov = o->fov > 0.0 ? o->fov : view->fov;
    weft_view_frame(view, box, (double)o->width / o->height);
    view->eye = o->has_camera ? o->camera : view->eye;
    view->target = o->has_target ? o->target : view->target;
    view->ground = o->ground;
    view->legend = o->strain ? p->legend : NULL;
    view->legend_scale = 100.0;
}

// ---- a picture

static int64_t picture_triangles(const picture* p)
{
    int64_t sum = 0;
    for (int k = 0; k < p->body_count; k++)
    {
        sum += p->meshes[k].triangle_count;
    }
    return sum;
}

static weft_status picture_draw(picture* p, weft_error* error)
{
    return weft_renderer_draw(p->renderer, &p->view, p->meshes, p->body_count, p->rgb, error);
}

static int render_picture(picture* p, const render_options* o, int frame)
{
    size_t size = strlen(o->dir) + 64;
    char* name = malloc(size);
    if (!name)
    {
        return report(WEFT_NO_MEMORY, &(weft_error){0});
    }
    snprintf(name, size, "%s/frame-%04d.png", o->dir, frame);
    const char* path = o->output ? o->output : name;
    weft_error error = {0};
    weft_status status = picture_draw(p, &error);
    if (status == WEFT_OK)
    {
        status = weft_png_write(path, p->rgb, o->width, o->height, &error);
    }
    int code = status == WEFT_OK ? EXIT_DONE : report(status, &error);
    if (code == EXIT_DONE)
    {
        printf("%s\n", path);
    }
    free(name);
    return code;
}

// ---- a film

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

typedef struct encoder
{
    pid_t process;
    int input; // descriptor
} encoder;

// Starts ffmpeg with raw frames on its standard input. 0 or an errno. The command ignores SIGPIPE, ffmpeg shall not.
static int encoder_start(encoder* e, const render_options* o, double rate, const char* file)
{
    char size[32], frames[32];
    snprintf(size, sizeof(size), "%dx%d", o->width, o->height);
    snprintf(frames, sizeof(frames), "%.9g", rate);
    // clang-format off
    const char* const words[] = {
        "ffmpeg", "-hide_banner", "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", frames, "-i", "pipe:0",
        "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:v", "libx264", "-crf", "16",
        "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
        "-movflags", "+faststart", "-f", "mp4", file, NULL,
    };
    // clang-format on
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
    {
        return errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(&e->process, "ffmpeg", &actions, &attributes, (char* const*)(uintptr_t)words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    e->input = ends[1];
    if (code != 0)
    {
        close(ends[1]);
    }
    return code;
}

static bool encoder_write(const encoder* e, const uint8_t* bytes, size_t size)
{
    while (size > 0)
    {
        ssize_t done = write(e->input, bytes, size);
        if (done < 0 && errno == EINTR && !stop_requested)
        {
            continue;
        }
        if (done <= 0)
        {
            return false;
        }
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

// Whether it ended well. One that was to stop is ended at once: what it wrote is thrown away.
static bool encoder_finish(const encoder* e)
{
    close(e->input);
    int state = 0;
    for (;;)
    {
        if (stop_requested)
        {
            kill(e->process, SIGKILL);
        }
        if (waitpid(e->process, &state, 0) >= 0)
        {
            return WIFEXITED(state) && WEXITSTATUS(state) == 0;
        }
        if (errno != EINTR)
        {
            return false;
        }
    }
}

static void show_progress(int done, int count)
{
    if (isatty(STDERR_FILENO))
    {
        fprintf(stderr, "\rframe %d of %d%s", done, count, done == count ? "\n" : "");
        fflush(stderr);
    }
}

static weft_status film_send(picture* p, const encoder* e, const render_options* o, weft_error* error)
{
    for (int frame = 0; frame < p->frame_count && !stop_requested; frame++)
    {
        weft_status status = picture_load(p, frame, error);
        status = status == WEFT_OK ? picture_draw(p, error) : status;
        if (status != WEFT_OK)
        {
            return status;
        }
        if (!encoder_write(e, p->rgb, 3 * (size_t)o->width * (size_t)o->height))
        {
            return WEFT_OK; // ffmpeg is gone; its exit status tells
        }
        show_progress(frame + 1, p->frame_count);
    }
    return WEFT_OK;
}

// Draws and encodes into a file beside the target; renames it when all went well.
static int render_film_into(picture* p, const render_options* o, const char* temporary, const char* protocol_name)
{
    encoder e;
    int code = encoder_start(&e, o, weft_cache_frame_rate(p->cache), protocol_name);
    if (code != 0)
    {
        return code == ENOENT ? report_machine(o->output, "films are made by ffmpeg, which is not there; install the "
                                                          "Debian package ffmpeg, or give -o FILE.png")
                              : report_machine(o->output, "ffmpeg cannot be started: %s", strerror(code));
    }
    weft_error error = {0};
    weft_status status = film_send(p, &e, o, &error);
    bool encoded = encoder_finish(&e);
    if (stop_requested)
    {
        unlink(temporary);
        fputs(isatty(STDERR_FILENO) ? "\n" : "", stderr); // ends the line of the progress
        snprintf(error.file, sizeof(error.file), "%s", o->output);
        snprintf(error.message, sizeof(error.message), "stopped on request; no film was written");
        return report(WEFT_CANCELLED, &error);
    }
    if (status != WEFT_OK)
    {
        unlink(temporary);
        return report(status, &error);
    }
    if (!encoded)
    {
        unlink(temporary);
        return report_machine(o->output, "ffmpeg failed, its message is above; no film was written");
    }
    if (rename(temporary, o->output) != 0)
    {
        int reason = errno;
        unlink(temporary);
        return report_machine(o->output, "the film cannot be put in place: %s", strerror(reason));
    }
    printf("%s\n", o->output);
    return EXIT_DONE;
}

static int render_film(picture* p, const render_options* o)
{
    // ffmpeg reads `file:` as a plain path, whatever characters follow.
    static const char protocol[] = "file:";
    size_t size = strlen(o->output) + 64;
    char* name = malloc(size);
    if (!name)
    {
        return report(WEFT_NO_MEMORY, &(weft_error){0});
    }
    snprintf(name, size, "%s%s.tmp%ld", protocol, o->output, (long)getpid());
    struct sigaction action = {.sa_handler = request_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int code = render_film_into(p, o, name + strlen(protocol), name);
    free(name);
    return code;
}

// ---- the command

// A scene or a name that is no folder: say what makes the folder.
static void explain_missing_run(const char* dir, weft_error* error)
{
    size_t used = strlen(error->message), room = sizeof(error->message) - used;
    if (ends_with(dir, ".json"))
    {
        const char* slash = strrchr(dir, '/');
        const char* name = slash ? slash + 1 : dir;
        snprintf(error->message + used, room,
                 "; this is a scene: run it first, `weft run %.200s`, then `weft render %.*s-run`", dir,
                 (int)strnlen(name, 200) - (int)strlen(".json"), name);
        return;
    }
    snprintf(error->message + used, room, "; run the scene first, `weft run SCENE`, then `weft render SCENE-run`");
}

static int render_run(picture* p, render_options* o)
{
    weft_error error = {0};
    weft_status status = weft_cache_open(o->dir, &p->cache, &error);
    if (status != WEFT_OK)
    {
        struct stat info;
        if (stat(o->dir, &info) != 0 || !S_ISDIR(info.st_mode))
        {
            explain_missing_run(o->dir, &error);
        }
        return report(status, &error);
    }
    p->frame_count = weft_cache_frame_count(p->cache);
    if (p->frame_count == 0)
    {
        snprintf(error.message, sizeof(error.message), "no frame of %s is finished yet; try again later", o->dir);
        return report(WEFT_BAD_INPUT, &error);
    }
    int frame = o->frame >= 0 ? o->frame : p->frame_count - 1;
    if (frame >= p->frame_count)
    {
        return report_usage("render", false, "--frame %d: %s has the frames 0 to %d", frame, o->dir,
                            p->frame_count - 1);
    }
    // The film's format halves the colours both ways.
    o->width += o->film ? o->width % 2 : 0;
    o->height += o->film ? o->height % 2 : 0;

    p->body_count = weft_cache_body_count(p->cache);
    p->view = weft_view_default();
    weft_box box;
    status = picture_allocate(p, o);
    status = status == WEFT_OK ? picture_survey(p, o, frame, &box, &error) : status;
    if (status != WEFT_OK)
    {
        return report(status, &error);
    }
    picture_aim(p, o, &box);
    int supersample = o->film || picture_triangles(p) > FINE_TRIANGLES ? 1 : 2;
    status = weft_renderer_create(o->width, o->height, supersample, &p->renderer, &error);
    if (status != WEFT_OK)
    {
        report(status, &error);
        return status == WEFT_BAD_INPUT ? EXIT_INPUT : EXIT_MACHINE; // no driver: the machine's fault, not the caller's
    }
    return o->film ? render_film(p, o) : render_picture(p, o, frame);
}

int command_render(int argc, char** argv)
{
    render_options options;
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_DONE)
    {
        return code;
    }
    picture p = {0};
    code = render_run(&p, &options);
    picture_finish(&p);
    return code;
}
