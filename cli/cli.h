// What the subcommands share. They see only the public headers, as any stranger would.
#ifndef WEFT_CLI_H
#define WEFT_CLI_H

#include <stdbool.h>

#include "weft/scene.h"

enum
{
    EXIT_DONE = 0,
    EXIT_FAILED = 1,  // the simulation, solve or inspection failed
    EXIT_INPUT = 2,   // the input or the command line is wrong
    EXIT_MACHINE = 3, // disk full, no memory
    OVERRIDES_MAX = 256
};

// argv[0] is the subcommand's name.
typedef int command_fn(int argc, char** argv);
command_fn command_run, command_check, command_list, command_render, command_system, command_solve, command_ccd,
    command_inspect, command_export, command_view, command_bench, command_validate, command_fit, command_dress,
    command_help;

// weft --untrusted [--memory GIB] [--seconds N] COMMAND ...: takes these words away and keeps the process to what COMMAND
// needs, for good. Not EXIT_DONE: it cannot, and has said why.
int untrusted_begin(int* argc, char*** argv);

// The exit status for a failure.
int exit_code(weft_status status);
// Prints "weft: FILE:LINE: message" to standard error, or with json {"error":...} to standard output; returns the exit
// status.
int report_error(const weft_error* error, bool json);
// A mistake on the command line: says what and where help is, returns 2.
int report_usage(const char* command, bool json, const char* format, ...) __attribute__((format(printf, 3, 4)));
// A value that an option does not take; expected says what it does.
int report_value(const char* command, bool json, const char* name, const char* value, const char* expected);
// Says on standard error what untangling has done; nothing when there was nothing to do.
void report_untangling(const weft_sim* sim, const weft_untangling* done);
void report_unsettled(const weft_sim* sim, const weft_squeezed* pairs, int pair_count); // lines: which bodies, and where
// A JSON string with quotes and escapes.
void put_json_string(const char* text);

// ---- options: --name VALUE, --name=VALUE or a bare --name
typedef struct option_scan
{
    const char* command;
    int argc;
    char** argv;
    int at;            // next argument
    const char* name;  // the option at hand ("--frames", "-o"), or NULL for a plain argument
    const char* value; // its value after "=", or the plain argument
} option_scan;

// Steps to the next argument; false at the end. "--" ends the options.
bool option_next(option_scan* scan);
bool option_is(const option_scan* scan, const char* name);
// The value of the option at hand, from "=" or the next argument; NULL when there is none. `-o --name` has none.
const char* option_value(option_scan* scan);
// Whole number in [low, high]; false when it is not.
bool parse_int(const char* text, int low, int high, int* out);
bool parse_double(const char* text, double* out);

#endif
