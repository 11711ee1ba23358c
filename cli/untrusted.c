// weft --untrusted: a command on files from strangers, kept by the kernel to what it needs.
//
//     files       Landlock: read what lies beneath the folders of the files that the command line names, and the
//                 system's libraries; write beneath what -o or --out names, and nothing else; no links, devices, pipes
//     calls       seccomp: no other program, no network, no other process
//     memory      RLIMIT_AS
//     time        RLIMIT_CPU, over all threads; the command then ends with exit status 3, and what is finished is whole
//     files' size RLIMIT_FSIZE
//
// All is decided before a byte of a stranger's is read, and nothing can be taken back afterwards. Where the kernel
// lacks one of them the command is refused: half a fence is none. What it does not keep from: answers that are wrong, a
// disk that many runs fill, what other programs do with the files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#if defined(__linux__) && __has_include(<linux/landlock.h>)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define HAS_FENCE
#endif

enum
{
    MEMORY_GIB = 4,
    SECONDS = 600,
    FILE_GIB = 4
};

static int refuse(const char* what)
{
    fprintf(stderr, "weft: --untrusted: %s: %s; use a container or a virtual machine instead\n", what, strerror(errno));
    return EXIT_MACHINE;
}

// ---- time, memory, sizes

static void time_is_over(int signal_number)
{
    static const char text[] = "weft: --untrusted: the processor time that it may take is over (--seconds)\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(EXIT_MACHINE);
}

static bool limit(int what, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    bool ok = getrlimit(what, &now) == 0;
    now.rlim_max = now.rlim_max < hard ? now.rlim_max : hard; // what is stricter stays
    now.rlim_cur = now.rlim_max < soft ? now.rlim_max : soft;
    return ok && setrlimit(what, &now) == 0;
}

static int set_limits(int memory_gib, int seconds)
{
    rlim_t memory = (rlim_t)memory_gib << 30, file = (rlim_t)FILE_GIB << 30;
    signal(SIGXCPU, time_is_over);
    bool ok = limit(RLIMIT_AS, memory, memory) && limit(RLIMIT_CPU, (rlim_t)seconds, (rlim_t)seconds + 5) &&
              limit(RLIMIT_FSIZE, file, file) && limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_NOFILE, 256, 256);
    return ok ? EXIT_DONE : refuse("limits cannot be set");
}

#ifdef HAS_FENCE

// ---- files

// Rights as the first Landlock had them, and those that came later: what is handled and not granted is denied.
static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writing = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                                LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_DIR;
static const uint64_t first_rights = (1ull << 13) - 1, refer = 1ull << 13, truncate_right = 1ull << 14;

typedef struct fence
{
    int ruleset;
    uint64_t handled;
} fence;

static bool allow(const fence* f, const char* path, uint64_t rights)
{
    struct stat info;
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
    {
        return true; // what is not there needs no gate
    }
    bool folder = fstat(place, &info) == 0 && S_ISDIR(info.st_mode);
    uint64_t of_files = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | truncate_right;
    struct landlock_path_beneath_attr rule = {rights & f->handled & (folder ? ~0ull : of_files), place};
    bool ok = syscall(SYS_landlock_add_rule, f->ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(place);
    return ok;
}

// What a word of the command line names: a folder itself, else the folder of the file.
static bool allow_around(const fence* f, const char* word, uint64_t rights)
{
    struct stat info;
    char copy[4096];
    if (stat(word, &info) == 0 && S_ISDIR(info.st_mode))
    {
        return allow(f, word, rights);
    }
    snprintf(copy, sizeof(copy), "%s", word);
    return allow(f, dirname(copy), rights);
}

static bool allow_words(const fence* f, int argc, char** argv)
{
    bool ok = true, folder = strcmp(argv[0], "run") == 0 || strcmp(argv[0], "dress") == 0;
    for (int k = 1; k < argc && ok; k++)
    {
        const char* value = strchr(argv[k], '=');
        bool joined = strncmp(argv[k], "-o=", 3) == 0 || strncmp(argv[k], "--out=", 6) == 0;
        bool out = joined || (k + 1 < argc && (strcmp(argv[k], "-o") == 0 || strcmp(argv[k], "--out") == 0));
        if (!out)
        {
            const char* word = argv[k][0] == '-' && value ? value + 1 : argv[k];
            ok = access(word, F_OK) != 0 || allow_around(f, word, reading);
            continue;
        }
        const char* target = joined ? value + 1 : argv[++k];
        folder ? (void)mkdir(target, 0777) : (void)0; // what is wrong with it is said by who opens it
        ok = allow_around(f, target, writing | truncate_right);
    }
    return ok;
}

static int fence_files(int argc, char** argv)
{
    static const char* const system_places[] = {"/usr/lib",
                                                "/usr/lib64",
                                                "/lib",
                                                "/lib64",
                                                "/usr/local/lib",
                                                "/usr/share/glvnd",
                                                "/usr/share/drirc.d",
                                                "/sys/devices/system/cpu",
                                                "/dev/dri",
                                                "/dev/urandom"};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
    {
        return refuse("this kernel has no Landlock, which keeps files apart");
    }
    fence f = {.handled = first_rights | (version >= 2 ? refer : 0) | (version >= 3 ? truncate_right : 0)};
    struct landlock_ruleset_attr attributes = {.handled_access_fs = f.handled};
    f.ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    bool ok = f.ruleset >= 0 && allow(&f, "/dev/null", reading | LANDLOCK_ACCESS_FS_WRITE_FILE);
    for (size_t k = 0; k < sizeof(system_places) / sizeof(system_places[0]) && ok; k++)
    {
        ok = allow(&f, system_places[k], reading);
    }
    ok = ok && allow_words(&f, argc, argv) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_landlock_restrict_self, f.ruleset, 0) == 0;
    f.ruleset >= 0 ? close(f.ruleset) : 0;
    return ok ? EXIT_DONE : refuse("files cannot be kept apart");
}

// ---- calls

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static int fence_calls(void)
{
#ifdef OWN_ARCHITECTURE
    static const uint32_t denied[] = {SYS_execve,
                                      SYS_execveat,
                                      SYS_socket,
                                      SYS_ptrace,
                                      SYS_kill,
                                      SYS_process_vm_readv,
                                      SYS_process_vm_writev,
                                      SYS_io_uring_setup,
                                      SYS_bpf,
                                      SYS_perf_event_open,
                                      SYS_userfaultfd,
                                      SYS_keyctl,
                                      SYS_mount,
                                      SYS_unshare};
    enum
    {
        DENIED = sizeof(denied) / sizeof(denied[0]),
        HEAD = 5
    };
    struct sock_filter code[HEAD + DENIED + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), // calls by the numbers of another machine
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1u << 30, DENIED + 1, 0), // x32's numbers
    };
    for (int k = 0; k < DENIED; k++)
    {
        code[HEAD + k] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[k], (uint8_t)(DENIED - k), 0);
    }
    code[HEAD + DENIED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[HEAD + DENIED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {HEAD + DENIED + 2, code};
    bool ok = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    return ok ? EXIT_DONE : refuse("calls cannot be kept away");
#else
    errno = ENOSYS;
    return refuse("nobody has told which calls to keep away on this machine");
#endif
}

#else

static int fence_files(int argc, char** argv)
{
    (void)argc, (void)argv;
    errno = ENOSYS;
    return refuse("this build has no Landlock, which keeps files apart");
}

static int fence_calls(void)
{
    return EXIT_DONE;
}

#endif

// ---- the whole

int untrusted_begin(int* argc, char*** argv)
{
    int memory = MEMORY_GIB, seconds = SECONDS, used = 2;
    for (; used + 1 < *argc && (*argv)[used][0] == '-'; used += 2)
    {
        const char *name = (*argv)[used], *value = (*argv)[used + 1];
        bool is_memory = strcmp(name, "--memory") == 0, is_time = strcmp(name, "--seconds") == 0;
        if (!is_memory && !is_time)
        {
            break;
        }
        if (!parse_int(value, 1, is_memory ? 4096 : 10000000, is_memory ? &memory : &seconds))
        {
            fprintf(stderr, "weft: --untrusted: %s `%s`: expected a whole number of %s\n", name, value,
                    is_memory ? "GiB" : "seconds");
            return EXIT_INPUT;
        }
    }
    if (used >= *argc || (*argv)[used][0] == '-')
    {
        fprintf(stderr,
                "weft: --untrusted [--memory GIB] [--seconds N] COMMAND ...: which command? `weft help` lists them\n");
        return EXIT_INPUT;
    }
    (*argv)[used - 1] = (*argv)[0];
    *argc -= used - 1;
    *argv += used - 1;
    int status = set_limits(memory, seconds);
    status = status == EXIT_DONE ? fence_files(*argc - 1, *argv + 1) : status;
    return status == EXIT_DONE ? fence_calls() : status;
}
