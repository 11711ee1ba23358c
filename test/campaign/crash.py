"""Kills, failing system calls and failing allocations.

strace kills the command at the n-th call of a kind, or makes that call fail; a small library that is loaded first makes
the n-th allocation fail. In each case the command may say no, in words and with one of its exit statuses, but no signal
may end it that it was not sent, and the run must then go on to the bytes of one that was never disturbed.
"""
import collections, os, re, shutil, subprocess

from .common import Answer, Part, bytes_of

SCENES = [("hang", "cells=4", "steps_per_frame=2"), ("ball", "cells=5", "steps_per_frame=2")]
FRAMES = 3
# Not brk, whose failure the system tells in another way than strace does.
WRITING = ("openat", "write", "pwrite64", "rename", "ftruncate", "fsync", "unlink", "mkdir", "close")
READING = ("read", "pread64", "newfstatat", "lseek", "fcntl", "flock", "getdents64", "mmap", "munmap")
ERRORS = {"openat": ("EMFILE", "ENOSPC", "EACCES", "EINTR"), "write": ("ENOSPC", "EIO", "EINTR"), "pwrite64": ("ENOSPC", "EIO", "EINTR"),
          "rename": ("EIO", "EACCES"), "ftruncate": ("EIO", "EFBIG"), "fsync": ("EIO", "ENOSPC"), "unlink": ("EACCES",), "mkdir": ("ENOSPC",),
          "close": ("EIO",), "read": ("EIO", "EINTR"), "mmap": ("ENOMEM",), "flock": ("ENOLCK", "EINTR")}


def run_words(c, which, folder, *more):
    name, *changes = SCENES[which]
    words = [c.weft, "run", name, "--frames", FRAMES, "--threads", 1, "-o", folder]
    for change in changes:
        words += ["--set", change]
    return words + list(more)


class Disturbed(Part):
    needs = "strace (script/setup test)"

    def __init__(self, c, name, summary):
        super().__init__(c, name, summary)
        self.cases, self.expected = None, {}

    def ready(self):
        return shutil.which("strace") is not None

    def calls(self, which, resumed):
        """How many calls of each kind the command makes."""
        folder = self.c.fresh_folder("counted")
        words = run_words(self.c, which, folder)
        if resumed:
            self.c.run(run_words(self.c, which, folder, "--frames", 1))
            words += ["--resume"]
        log = self.c.scratch / "calls"
        self.c.run(["strace", "-f", "-qq", "-o", log, "-e", "trace=" + ",".join(f"?{s}" for s in WRITING + READING)] + words)
        found = collections.Counter(re.findall(r"^\d+ +(\w+)\(", log.read_text(errors="replace"), re.M))
        if which not in self.expected:
            whole = self.c.fresh_folder("whole")
            self.c.run(run_words(self.c, which, whole))
            self.expected[which] = bytes_of(whole)
        return found

    def disturb(self, which, resumed, inject):
        """Runs with the disturbance; (exit status, words, folder)."""
        folder = self.c.fresh_folder("disturbed")
        words = run_words(self.c, which, folder)
        if resumed:
            self.c.run(run_words(self.c, which, folder, "--frames", 1))
            words += ["--resume"]
        code, text = self.c.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={inject}"] + words)
        return code, text, folder

    def goes_on(self, which, folder):
        """What is wrong with how the run goes on; nothing is right."""
        there = (folder / "checkpoint.weft").exists()
        code, text = self.c.run(run_words(self.c, which, folder, "--resume"))
        if code == 2 and not there:
            code, text = self.c.run(run_words(self.c, which, folder, "--force"))
        if code != 0:
            return f"does not go on: exit {code}: {text.strip()[-200:]}"
        left = [p.name for p in folder.iterdir() if p.name.endswith(".tmp")]
        if left:
            return f"leaves {left}"
        return "" if bytes_of(folder) == self.expected[which] else "goes on to other bytes"


class Kills(Disturbed):
    def case(self, k, seconds):
        if self.cases is None:
            self.cases = [(which, resumed, call, n + 1) for which in range(len(SCENES)) for resumed in (False, True)
                          for call, count in sorted(self.calls(which, resumed).items()) if call in WRITING for n in range(count)]
            self.random(-1).shuffle(self.cases)
        if k >= len(self.cases):
            return None
        which, resumed, call, n = self.cases[k]
        _, _, folder = self.disturb(which, resumed, f"{call}:signal=KILL:when={n}")
        wrong = self.goes_on(which, folder)
        return Answer(wrong and f"{SCENES[which][0]}{' resumed' if resumed else ''}, killed at {call} {n}: {wrong}")


class Faults(Disturbed):
    def case(self, k, seconds):
        if self.cases is None:
            self.cases = [(which, resumed, call, n + 1, error) for which in range(len(SCENES)) for resumed in (False, True)
                          for call, count in sorted(self.calls(which, resumed).items()) for n in range(count)
                          for error in ERRORS.get(call, ("EIO",))]
            self.random(-1).shuffle(self.cases)
        if k >= len(self.cases):
            return None
        which, resumed, call, n, error = self.cases[k]
        code, text, folder = self.disturb(which, resumed, f"{call}:error={error}:when={n}")
        wrong = self.judge(which, code, text, folder)
        return Answer(wrong and f"{SCENES[which][0]}{' resumed' if resumed else ''}, {call} {n} fails with {error}: {wrong}")

    def judge(self, which, code, text, folder):
        if code == 127 and "shared libraries" in text or code == 127 and "cannot" in text:
            return ""  # the loader's own calls
        if code == 0:
            return "" if bytes_of(folder) == self.expected[which] else "exit 0 and other bytes"
        if code not in (1, 2, 3) or "weft: " not in text:
            return f"exit {code}: {text.strip()[-200:]}"
        return self.goes_on(which, folder)


class Allocations(Part):
    needs = "a C compiler"

    def __init__(self, c):
        super().__init__(c, "allocations", "every allocation of a run, an export, a page and an inspection fails once")
        self.cases = None

    def prepare(self):
        self.library = self.c.scratch / "failing.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, self.c.root / "test/campaign/failing.c"], check=True)
        self.kept = self.c.scratch / "kept"
        self.c.run(run_words(self.c, 1, self.kept))
        out = self.c.scratch / "out"
        self.lines = [run_words(self.c, 1, out, "--force"), run_words(self.c, 0, out, "--force", "--set", "solver=sa-ppcg"),
                      [self.c.weft, "view", self.kept, "-o", f"{out}.html"], [self.c.weft, "inspect", self.kept, "--json"]]
        self.lines += [[self.c.weft, "export", self.kept, "--to", kind, "-o", f"{out}.{kind}"] for kind in ("gltf", "usda", "abc", "ply")]
        self.cases = []
        for line in range(len(self.lines)):
            count = self.c.scratch / "count"
            self.c.run(self.lines[line], env={"LD_PRELOAD": str(self.library), "WEFT_COUNT": str(count)})
            self.cases += [(line, n + 1) for n in range(int(count.read_text()))]
        self.random(-1).shuffle(self.cases)

    def case(self, k, seconds):
        self.prepare() if self.cases is None else None
        if k >= len(self.cases):
            return None
        line, n = self.cases[k]
        shutil.rmtree(self.c.scratch / "out", ignore_errors=True)
        code, text = self.c.run(self.lines[line], env={"LD_PRELOAD": str(self.library), "WEFT_FAIL_AT": str(n)}, memory=0)
        loader = code == -6 and "dispatch" in text or code == 127  # libglvnd and the loader, before main
        good = code in (0, 1, 2, 3) or loader
        words = " ".join(str(w) for w in self.lines[line][1:3])
        return Answer("" if good else f"`weft {words}`, allocation {n} fails: exit {code}: {text.strip()[-200:]}")


def parts(c):
    return [Kills(c, "kills", "killed at every call that writes, then resumed: the bytes of an undisturbed run"),
            Faults(c, "faults", "every system call of a run with checkpoints fails once"), Allocations(c)]
