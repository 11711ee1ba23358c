// The real command, run in a folder of its own, and what tests of its manners ask of its answer.
#ifndef WEFT_TEST_COMMON_MANNERS_H
#define WEFT_TEST_COMMON_MANNERS_H

#include <stdbool.h>
#include <stddef.h>

enum
{
    PATH_BYTES = 512,
    TEXT_BYTES = 1 << 16
};

extern char manners_folder[256]; // the current one of every command
int manners_make_folder(void** unused);
int manners_remove_folder(void** unused);

// ---- running

typedef enum outlet
{
    OUTLET_FILE,
    OUTLET_CLOSED,      // standard output is closed
    OUTLET_BROKEN_PIPE, // its reader is gone
    OUTLET_FULL         // /dev/full
} outlet;

typedef struct setting
{
    outlet out;
    long file_limit; // bytes a file may have; 0: no limit
} setting;

typedef struct answer
{
    int code; // exit status, or minus the signal
    char out[TEXT_BYTES], err[TEXT_BYTES];
} answer;

extern answer manners_last;

int manners_run(const char* line); // words apart by single blanks; a word may hold none. The exit status
int manners_run_with(setting s, const char* line);

// ---- judging

void manners_assert_code(const char* line, int expected); // of the last answer
void manners_assert_says(const char* line, const char* text, const char* word);
// The last line on standard error is a sentence with `word` in it; nothing is on standard output.
void manners_refuses(const char* line, int code, const char* word);
// One object {"error":{"file","line","message"}} and nothing else.
void manners_refuses_json(const char* line, int code, const char* word);

// ---- files of the folder

char* manners_path(const char* name, char* path); // path is [PATH_BYTES]
bool manners_exists(const char* name);
void manners_put_bytes(const char* name, const char* text, size_t size);
void manners_put(const char* name, const char* text);
void manners_read(const char* path, char* text); // whole; text is [TEXT_BYTES]
void manners_assert_no_temporaries(const char* name);
int manners_check_run(const char* name); // complete frames, all readable and finite; no temporary file beside them

#endif
