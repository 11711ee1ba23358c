#include "bench/common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum
{
    EXIT_USAGE = 2,
    NUMBER_LIMIT = 1000000000
};

// ---- options

static void put_json_text(const char* text)
{
    for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    {
        printf(*c < 0x20 ? "\\u%04x" : *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
}

void bench_refuse(int argc, char** argv, const char* format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    bool json = false;
    for (int k = 1; k < argc; k++)
    {
        json = json || strcmp(argv[k], "--json") == 0;
    }
    if (json)
    {
        printf("{\"error\":{\"file\":\"\",\"line\":0,\"message\":\"");
        put_json_text(message);
        printf("\"}}\n");
    }
    else
    {
        fprintf(stderr, "weft bench%s%s: %s\n", argc > 0 ? " " : "", argc > 0 ? argv[0] : "", message);
    }
    exit(EXIT_USAGE);
}

// The entry of "--cells= --fresh" that argv[k] is: 0 none, 1 one without a value, 2 one with.
static int known_kind(const char* known, const char* argument)
{
    size_t length = strcspn(argument, "=");
    for (const char* at = known; *at; at += strspn(at, " "))
    {
        size_t size = strcspn(at, "= ");
        bool valued = at[size] == '=';
        if (size == length && strncmp(at, argument, length) == 0 && (valued || !argument[length]))
        {
            return valued ? 2 : 1;
        }
        at += size + valued;
    }
    return 0;
}

void bench_known(int argc, char** argv, const char* known)
{
    for (int k = 1; k < argc; k++)
    {
        int kind = strcmp(argv[k], "--json") == 0 ? 1 : known_kind(known, argv[k]);
        if (kind == 0)
        {
            bench_refuse(argc, argv, "there is no option `%s`; it takes: --json %s", argv[k], known);
        }
        k += kind == 2 && !strchr(argv[k], '=');
    }
}

// The value of the option at argv[k], NULL when that is another one.
static const char* value_at(int argc, char** argv, int k, const char* name)
{
    size_t length = strlen(name);
    if (strcmp(argv[k], name) == 0)
    {
        if (k + 1 == argc)
        {
            bench_refuse(argc, argv, "%s takes a value", name);
        }
        return argv[k + 1];
    }
    return strncmp(argv[k], name, length) == 0 && argv[k][length] == '=' ? argv[k] + length + 1 : NULL;
}

const char* bench_text(int argc, char** argv, const char* name, const char* fallback)
{
    for (int k = 1; k < argc; k++)
    {
        const char* value = value_at(argc, argv, k, name);
        if (value)
        {
            return value;
        }
    }
    return fallback;
}

// A whole number from `low` to NUMBER_LIMIT at the start of `text`; *end is what follows it.
static bool whole_number(const char* text, int low, int* out, const char** end)
{
    char* stop;
    errno = 0;
    long value = strtol(text, &stop, 10);
    *end = stop;
    *out = (int)value;
    return isdigit((unsigned char)*text) && errno == 0 && value >= low && value <= NUMBER_LIMIT;
}

static int option_from(int argc, char** argv, const char* name, int low, int fallback)
{
    const char *value = bench_text(argc, argv, name, NULL), *end;
    int number = fallback;
    if (value && (!whole_number(value, low, &number, &end) || *end))
    {
        bench_refuse(argc, argv, "%s `%s`: it takes a whole number from %d to %d", name, value, low, NUMBER_LIMIT);
    }
    return number;
}

int bench_option(int argc, char** argv, const char* name, int fallback)
{
    return option_from(argc, argv, name, 0, fallback);
}

int bench_count(int argc, char** argv, const char* name, int fallback)
{
    return option_from(argc, argv, name, 1, fallback);
}

double bench_number(int argc, char** argv, const char* name, double fallback)
{
    const char* value = bench_text(argc, argv, name, NULL);
    double number = fallback;
    const char* end = value;
    if (value && (!decimal_parse(&end, &number) || *end || !isfinite(number)))
    {
        bench_refuse(argc, argv, "%s `%s`: it takes a number, such as %g", name, value, fallback);
    }
    return number;
}

bool bench_flag(int argc, char** argv, const char* name)
{
    for (int k = 1; k < argc; k++)
    {
        if (strcmp(argv[k], name) == 0)
        {
            return true;
        }
    }
    return false;
}

int bench_texts(int argc, char** argv, const char* name, const char** out, int most)
{
    int count = 0;
    for (int k = 1; k < argc && count < most; k++)
    {
        const char* value = value_at(argc, argv, k, name);
        if (value)
        {
            out[count++] = value;
        }
    }
    return count;
}

// -1 when the text is no list.
static int read_list(const char* text, int* out, int most)
{
    int count = 0;
    for (const char* end; count < most; text = end + 1)
    {
        if (!whole_number(text, 0, &out[count++], &end) || (*end && *end != ','))
        {
            return -1;
        }
        if (!*end)
        {
            return count;
        }
    }
    return -1;
}

int bench_numbers(int argc, char** argv, const char* name, const char* fallback, int* out, int most)
{
    const char* text = bench_text(argc, argv, name, fallback);
    int count = read_list(text, out, most);
    if (count < 0)
    {
        bench_refuse(argc, argv, "%s `%s`: it takes whole numbers with commas between them, such as %s, at most %d",
                     name, text, fallback, most);
    }
    return count;
}

int bench_list(const char* text, int* out, int most)
{
    int count = read_list(text, out, most);
    if (count < 0)
    {
        bench_refuse(0, NULL, "`%s`: whole numbers with commas between them are expected, at most %d", text, most);
    }
    return count;
}

const char* bench_words(int argc, char** argv, const char* name, const char* fallback, const char* known)
{
    const char* text = bench_text(argc, argv, name, fallback);
    for (const char* at = text;; at++)
    {
        char word[64];
        int length = (int)strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", length, at);
        if (length == 0 || length >= (int)sizeof(word) || !bench_has(known, word))
        {
            bench_refuse(argc, argv, "%s `%s`: it takes words of %s with commas between them", name, text, known);
        }
        at += length;
        if (!*at)
        {
            return text;
        }
    }
}

bool bench_has(const char* list, const char* word)
{
    size_t length = strlen(word);
    for (const char* at = strstr(list, word); at; at = strstr(at + 1, word))
    {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
        {
            return true;
        }
    }
    return false;
}

int bench_failed(const char* name, weft_status status)
{
    fprintf(stderr, "weft bench %s: %s\n", name, weft_status_text(status));
    return status == WEFT_NO_MEMORY || status == WEFT_IO || status == WEFT_DISK_FULL ? 3 : 1;
}

weft_sim* bench_sim(const char* scene_name, const char* const* overrides, int override_count, int threads)
{
    weft_error error = {0};
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_status status = weft_scene_load(scene_name, overrides, override_count, &scene, &error);
    if (status == WEFT_OK)
    {
        status = weft_scene_create_sim(scene, threads, &sim, &error);
    }
    if (status == WEFT_OK)
    {
        status = sim_build(sim, &error);
    }
    weft_scene_destroy(scene);
    if (status != WEFT_OK)
    {
        fprintf(stderr, "weft bench: %s\n", error.message);
        weft_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

weft_status triad_init(triad* t)
{
    t->count = 16 << 20; // 3 x 128 MiB: beyond the caches; servers have 300 MiB
    t->a = MEM_NEW(t->count, double);
    t->b = MEM_NEW(t->count, double);
    t->c = MEM_NEW(t->count, double);
    return t->a && t->b && t->c ? WEFT_OK : WEFT_NO_MEMORY;
}

static void triad_chunk(void* context, int begin, int end)
{
    triad* t = context;
    double* restrict a = t->a, * restrict b = t->b, * restrict c = t->c;
    for (int i = begin; i < end; i++)
    {
        a[i] = b[i] + 3.0 * c[i];
    }
}

double triad_seconds(triad* t, workers* pool)
{
    double start = timer_now();
    parallel_for(pool, t->count, 1 << 16, triad_chunk, t);
    return timer_now() - start;
}

double triad_bytes(const triad* t)
{
    return 24.0 * t->count;
}

void triad_finish(triad* t)
{
    mem_free(t->a);
    mem_free(t->b);
    mem_free(t->c);
}

double floor_product(double rows, double blocks)
{
    return 76.0 * blocks + 48.0 * rows; // nine doubles and a column; p and s
}

double floor_iteration(double rows, double blocks)
{
    // Product: matrix, p, s. Update: p, s, x and r twice, P^-1, h. Direction: h, p twice. Nothing read twice.
    return floor_product(rows, blocks) + rows * (24 * 7 + 48 + 24 * 3);
}
