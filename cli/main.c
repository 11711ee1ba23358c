// The command `weft`: finds the subcommand.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct
{
    const char* name;
    command_fn* run;
} commands[] = {
    {"run", command_run},       {"check", command_check},       {"list", command_list},     {"render", command_render},
    {"system", command_system}, {"solve", command_solve},       {"bench", command_bench},   {"help", command_help},
    {"ccd", command_ccd},       {"inspect", command_inspect},   {"export", command_export}, {"view", command_view},
    {"dress", command_dress},   {"validate", command_validate}, {"fit", command_fit},
};

static void warn(const char* message, void* user)
{
    (void)user;
    fprintf(stderr, "weft: warning: %s\n", message);
}

static int dispatch(int argc, char** argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    {
        int status = command_help(1, argv);
        return argc < 2 ? EXIT_INPUT : status;
    }
    if (strcmp(argv[1], "--version") == 0)
    {
        printf("weft %s\n", weft_version());
        return EXIT_DONE;
    }
    for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++)
    {
        if (strcmp(argv[1], commands[k].name) != 0)
        {
            continue;
        }
        for (int i = 2; i < argc; i++)
        {
            if (strcmp(argv[i], "--help") == 0)
            {
                char* help[] = {"help", argv[1]};
                return command_help(2, help);
            }
        }
        return commands[k].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "weft: there is no command `%s`; `weft help` lists them\n", argv[1]);
    return EXIT_INPUT;
}

// A reader that has had enough (`weft ccd ... | head -1`) went away by its own will and needs no sentence.
static bool reader_is_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

// Started with standard streams closed, as daemons are, the next files would get their numbers, and what is said would
// be written into them. What stands in their place fails, as a closed stream does.
static void open_standard_streams(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
    {
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
        {
            open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY); // gets the lowest number that is free: this one
        }
    }
}

int main(int argc, char** argv)
{
    open_standard_streams();
    // A reader that goes away and a limit on file sizes are answers of the system, not the end of the run.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    weft_set_log(warn, NULL);
    int status = EXIT_DONE;
    if (argc > 1 && strcmp(argv[1], "--untrusted") == 0)
    {
        status = untrusted_begin(&argc, &argv);
    }
    status = status == EXIT_DONE ? dispatch(argc, argv) : status;
    bool answered = status == EXIT_DONE || status == EXIT_FAILED;
    if ((fflush(stdout) != 0 || ferror(stdout)) && answered)
    {
        if (!reader_is_gone())
        {
            fprintf(stderr, "weft: cannot write the output\n");
        }
        return EXIT_MACHINE;
    }
    return status;
}
