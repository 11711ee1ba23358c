// Status texts, errors, the log hook, name suggestions, version, CPU kind.
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/core.h"

const char* weft_status_text(weft_status status)
{
    static const char* const texts[] = {
#define X(name, text) text,
        WEFT_STATUS_LIST(X)
#undef X
    };
    size_t count = sizeof(texts) / sizeof(texts[0]);
    return (size_t)status < count ? texts[status] : "an unknown status";
}

const char* weft_version(void)
{
    return WEFT_VERSION_STRING;
}

void assert_failed(const char* condition, const char* file, int line)
{
    fprintf(stderr, "weft: a caller broke the contract `%s` (%s:%d)\n", condition, file, line);
    abort();
}

weft_status error_set(weft_error* error, weft_status status, const char* file, int line, const char* format, ...)
{
    if (!error)
    {
        return status;
    }
    error->status = status;
    error->line = line;
    error->column = 0;
    snprintf(error->file, sizeof(error->file), "%s", file ? file : "");
    va_list arguments;
    va_start(arguments, format);
    print_text_list(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return status;
}

static weft_log_fn* log_hook;
static void* log_user;

void weft_set_log(weft_log_fn* log, void* user)
{
    log_hook = log;
    log_user = user;
}

void log_warning(const char* format, ...)
{
    if (!log_hook)
    {
        return;
    }
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    print_text_list(message, sizeof(message), format, arguments);
    va_end(arguments);
    log_hook(message, log_user);
}

enum
{
    WORD_MIN = 3, // shorter ones are near to anything
    WORD_MAX = 63
};

// Levenshtein distance of words of at most WORD_MAX letters.
static int edit_distance(const char* a, const char* b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > WORD_MAX || nb > WORD_MAX)
    {
        return WORD_MAX;
    }
    int row[WORD_MAX + 1];
    for (size_t j = 0; j <= nb; j++)
    {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= na; i++)
    {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++)
        {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = int_min(replaced, 1 + int_min(row[j], row[j - 1]));
        }
    }
    return row[nb];
}

const char* suggest_name(const char* word, const char* const* names, int count)
{
    const char* best = NULL;
    int length = (int)strlen(word), best_distance = int_max(2, length / 3) + 1;
    for (int k = 0; k < count && length >= WORD_MIN; k++)
    {
        int distance = edit_distance(word, names[k]);
        // A distance as long as either word has nothing of it left.
        if (distance < int_min(best_distance, int_min(length, (int)strlen(names[k]))))
        {
            best = names[k];
            best_distance = distance;
        }
    }
    return best;
}

static const char* const cpu_names[CPU_KIND_COUNT] = {"base", "avx2", "avx512"};

#if defined(__x86_64__)
// clang 14 does not take "f16c" for __builtin_cpu_supports.
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

cpu_kind cpu_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    {
        return CPU_AVX512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
    {
        return CPU_AVX2;
    }
#endif
    return CPU_BASE;
}

const char* cpu_kind_name(cpu_kind kind)
{
    WEFT_ASSERT(kind >= 0 && kind < CPU_KIND_COUNT);
    return cpu_names[kind];
}

bool cpu_kind_parse(const char* name, cpu_kind* out)
{
    *out = cpu_best();
    if (!name || strcmp(name, "auto") == 0)
    {
        return true;
    }
    for (int kind = CPU_BASE; kind <= (int)cpu_best(); kind++)
    {
        if (strcmp(name, cpu_names[kind]) == 0)
        {
            *out = (cpu_kind)kind;
            return true;
        }
    }
    return false;
}
