#define _GNU_SOURCE
#include "common.h"

#include <ftw.h>
#include <stdio.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

double test_random(uint64_t* counter, double low, double high)
{
    return low + (high - low) * random_unit(20261115, (*counter)++);
}

vec3 test_random_vec(uint64_t* counter, double size)
{
    vec3 v;
    v.x = test_random(counter, -size, size);
    v.y = test_random(counter, -size, size);
    v.z = test_random(counter, -size, size);
    return v;
}

void test_eigenvalues(double* a, int n, double* values)
{
    for (int sweep = 0; sweep < 60; sweep++)
    {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < n * n; i++)
        {
            all += a[i] * a[i];
            off += i / n != i % n ? a[i] * a[i] : 0.0;
        }
        if (off <= 1e-30 * all)
        {
            break;
        }
        for (int p = 0; p < n; p++)
        {
            for (int q = p + 1; q < n; q++)
            {
                if (a[p * n + q] == 0.0)
                {
                    continue;
                }
                double theta = 0.5 * (a[q * n + q] - a[p * n + p]) / a[p * n + q];
                double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < n; k++)
                {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++)
                {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
            }
        }
    }
    for (int i = 0; i < n; i++)
    {
        values[i] = a[i * n + i];
    }
}

const char* test_folder(char* path)
{
    const char* base = getenv("TMPDIR");
    snprintf(path, 256, "%s/weft test \u00fc-XXXXXX", base && base[0] ? base : "/tmp");
    return mkdtemp(path);
}

static int remove_entry(const char* path, const struct stat* info, int type, struct FTW* ftw)
{
    (void)info;
    (void)type;
    (void)ftw;
    return remove(path);
}

void test_folder_remove(const char* path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int test_shell(const char* folder, const char* line)
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
    {
        if ((!folder || chdir(folder) == 0) && setenv("WEFT", WEFT_COMMAND, 1) == 0)
        {
            execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        }
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void* ledger_alloc(size_t size, size_t alignment, void* user)
{
    test_ledger* l = user;
    l->made++;
    if (l->fail_at > 0 && (l->made == l->fail_at || (l->fail_on && l->made > l->fail_at)))
    {
        return NULL;
    }
    l->live++;
    void* pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    l->bytes += malloc_usable_size(pointer);
    l->bytes_most = l->bytes > l->bytes_most ? l->bytes : l->bytes_most;
    return pointer;
}

static void ledger_free(void* pointer, void* user)
{
    test_ledger* l = user;
    l->live -= pointer != NULL;
    l->bytes -= malloc_usable_size(pointer);
    free(pointer);
}

void test_ledger_open(test_ledger* ledger)
{
    weft_set_allocator(&(weft_allocator){ledger_alloc, ledger_free, ledger});
}

void test_ledger_close(void)
{
    weft_set_allocator(NULL);
}
