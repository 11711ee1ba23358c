"""Fuzzers: build-fuzz/fuzz_NAME on the corpus in the tree and what earlier calls found new."""
import re, shutil, subprocess

from .common import Answer, Part

# Bytes of an input at most, and seconds that one may take: a whole folder is more than a PC2 header.
SIZES = {"folder": 16384, "gltf": 8192, "abc": 16384, "checkpoint": 8192, "scene": 2048}
TIMEOUTS = {"folder": 60, "scene": 30}


class Fuzzer(Part):
    needs = "clang-14 with libclang-rt-14-dev (script/setup campaign)"
    stops_at_findings = True

    def __init__(self, c, name):
        super().__init__(c, f"fuzz-{name}", f"random bytes as {name} (test/fuzz/fuzz_{name}.c)")
        self.kind = name
        self.program = c.root / "build-fuzz" / f"fuzz_{name}"

    def ready(self):
        if not self.program.exists() and shutil.which("clang-14"):
            subprocess.run([self.c.root / "script/build", "fuzz"], check=False, stdout=subprocess.DEVNULL)
        return self.program.exists()

    def case(self, k, seconds):
        """A stretch of a minute at most; libFuzzer ends it at the first finding."""
        tree = self.c.root / "test/fuzz"
        corpus = self.c.folder / "corpus" / self.kind
        corpus.mkdir(parents=True, exist_ok=True)
        words = [self.program, f"-seed={self.c.seed + k + 1}", f"-max_total_time={max(2, int(min(seconds, 60)))}",
                 f"-max_len={SIZES.get(self.kind, 4096)}", f"-timeout={TIMEOUTS.get(self.kind, 10)}", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={self.c.findings}/{self.kind}-", "-verbosity=1", "-reload=0"]
        dictionary = tree / f"{self.kind}.dict"
        words += [f"-dict={dictionary}"] if dictionary.exists() else []
        words += [corpus] + [p for p in (tree / "corpus" / self.kind, tree / "cases" / self.kind) if p.is_dir()]
        code, text = self.c.run(words, seconds=400, memory=0, env={"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
                                                                  "UBSAN_OPTIONS": "print_stacktrace=1"})
        count = re.search(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)", text, re.M)
        executions = int(count[1] if isinstance(count, re.Match) else count[-1] if count else 0)
        if code == 0:
            return Answer(executions=executions)
        artifact = re.search(r"Test unit written to (\S+)", text)
        what = re.search(r"(SUMMARY: .*|fuzz: \d+ blocks.*|runtime error: .*|ALARM: .*)", text)
        log = self.c.keep(f"{self.kind}-{k}.log", text[-20000:])
        return Answer(what[1] if what else f"exit {code}", artifact[1] if artifact else log, executions)


def parts(c):
    names = sorted(p.stem[len("fuzz_"):] for p in (c.root / "test/fuzz").glob("fuzz_*.c"))
    return [Fuzzer(c, name) for name in names]
