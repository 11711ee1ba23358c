// `weft render -o FILE.mp4`: a film of all frames of a run, through ffmpeg.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/render.h"

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

// ---- the finished file

// Size of the box at hand and its name; 0 when no whole box begins here.
static uint64_t box_read(FILE* file, uint64_t left, char name[4])
{
    unsigned char head[16];
    if (fread(head, 1, 8, file) != 8)
    {
        return 0;
    }
    memcpy(name, head + 4, 4);
    uint64_t size = (uint64_t)head[0] << 24 | (uint64_t)head[1] << 16 | (uint64_t)head[2] << 8 | head[3];
    size_t used = 8;
    if (size == 1) // 64 bits follow
    {
        used = fread(head + 8, 1, 8, file) == 8 ? 16 : 0;
        for (size_t k = 8; k < used; k++)
        {
            size = (k == 8 ? 0 : size << 8) | head[k];
        }
    }
    else if (size == 0) // to the end of the file
    {
        size = left;
    }
    return used > 0 && size >= used && size <= left ? size : 0;
}

// Versions of ffmpeg end well although the disk was full. The boxes of a film fill its file, and `moov` is one of them.
static bool film_is_whole(const char* path)
{
    FILE* file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0)
    {
        if (file)
        {
            fclose(file);
        }
        return false;
    }
    bool indexed = false;
    uint64_t at = 0, end = (uint64_t)info.st_size;
    while (at < end)
    {
        char name[4] = "";
        uint64_t size = fseeko(file, (off_t)at, SEEK_SET) == 0 ? box_read(file, end - at, name) : 0;
        if (size == 0)
        {
            break;
        }
        indexed = indexed || memcmp(name, "moov", 4) == 0;
        at += size;
    }
    fclose(file);
    return at == end && indexed;
}

// Renames what ffmpeg has made, when it is a film.
static int film_put_in_place(const char* temporary, const char* target)
{
    if (!film_is_whole(temporary))
    {
        unlink(temporary);
        return report_machine(target, "ffmpeg has not written the whole film, is the disk full? Free some space, then "
                                      "try again; an earlier film is as it was");
    }
    if (rename(temporary, target) != 0)
    {
        int reason = errno;
        unlink(temporary);
        return report_machine(target, "the film cannot be put in place: %s", strerror(reason));
    }
    printf("%s\n", target);
    return EXIT_DONE;
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
        return render_report(WEFT_CANCELLED, &error);
    }
    if (status != WEFT_OK)
    {
        unlink(temporary);
        return render_report(status, &error);
    }
    if (!encoded)
    {
        unlink(temporary);
        return report_machine(o->output, "ffmpeg failed, its message is above; no film was written");
    }
    return film_put_in_place(temporary, o->output);
}

int render_film(picture* p, const render_options* o)
{
    // ffmpeg reads `file:` as a plain path, whatever characters follow.
    static const char protocol[] = "file:";
    size_t size = sizeof(protocol) + strlen(o->output) + sizeof(".tmp");
    char* name = malloc(size);
    if (!name)
    {
        return render_report(WEFT_NO_MEMORY, &(weft_error){0});
    }
    snprintf(name, size, "%s%s.tmp", protocol, o->output);
    struct sigaction action = {.sa_handler = request_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    unlink(name + strlen(protocol)); // what a killed film has left
    int code = render_film_into(p, o, name + strlen(protocol), name);
    free(name);
    return code;
}
