"""Mutations: a fault planted in a line of src/ must fail a test.

The tree is copied to build-campaign/mutants; a case changes one line there, room after room in turn, and builds and runs the tests
that stand nearest to it, one by one, until one fails. A mutant that does not build does not count, nor does one whose
object is the same, nor one whose tests take longer than SECONDS. WEFT_MUTATE, a regular expression, limits the files that
are changed. Those that live are listed: some are no faults (a larger margin, a faster way that is not taken), the
others are holes in the tests.
"""
import os, re, shutil, subprocess, time

from .common import Answer, Part

# Tests of each room, and those that see it through the command.
NEAR = {"core": "decimal|checkpoint|strangers|manners|allocation|threads|half|way_heap", "cache": "checkpoint|resume|strangers|system_file|run_bodies|topologies|element_files|pc2|toy_lines|inspect_command|coarse_view",
        "scene": "scene|gltf|pattern|pin_samples|schema", "mesh": "mesh|obj|pc2|pattern|tet_files|shape|polygon|abc", "inspect": "inspect",
        "collide": "ccd|broad|proximity|collider|winding|smooth|sift|window", "contact": "contact|squeeze|sliding|touching|particles|straight",
        "constraint": "pin|stitch|edits|soft_pins", "material": "material|hooke|choi_ko|corotated|weave|directors|damping|strain|measured|catalogue|spring_net",
        "sparse": "assembly|sa|cholesky|mpcg", "step": "time|dynamics|statics|step_control|pbd|local_global|energy|rescue", "sim": "edits|resume|clusters|tear|mend|sew|obstacle|carry|body",
        "start": "untangle|settle|dress|dirty", "export": "export", "view": "view", "render": "render|show", "solve": "solve|sa|cholesky|mpcg|ppcg|ties|filter|decomposed|auto|hierarchy"}

CHANGES = [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "), (r" && ", " || "),
           (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r"\+\+", "--"), (r"\b0\.5\b", "0.25"), (r"\btrue\b", "false"),
           (r"\bfalse\b", "true"), (r"\b1\b", "2"), (r"\b0\b", "1"), (r"!(\w)", r"\1"), (r"\bfmin\b", "fmax"), (r"\bint_max\b", "int_min")]
SECONDS = 240  # of building and running tests for a mutant
SKIPPED = re.compile(r"^\s*(//|#|\*|static const|enum|typedef|case|WEFT_ASSERT|WEFT_VALIDATE)|\"")


class Mutations(Part):
    needs = "a build (script/build)"

    def __init__(self, c):
        super().__init__(c, "mutations", "a fault planted in the source must fail a test; the share that does")
        self.tree = c.folder / "mutants"

    def prepare(self):
        for name in ("CMakeLists.txt", "CMakePresets.json", "src", "include", "cli", "bench", "validate", "test", "script", "scenes", "viewer",
                     "examples", "bindings", "integrations", "package", "man", "docs", "LICENSE", "README.md"):
            source, target = self.c.root / name, self.tree / name
            subprocess.run(["rsync", "-a", "--delete", str(source) + ("/" if source.is_dir() else ""), str(target) + ("/" if source.is_dir() else "")], check=True) \
                if shutil.which("rsync") else self.copy(source, target)
        if not (self.tree / "build/build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release", "-DWEFT_WERROR=ON"], cwd=self.tree, check=True, stdout=subprocess.DEVNULL)
        self.files = sorted(p for p in (self.tree / "src").rglob("*.c") if (p.parent.name in NEAR or p.parent.parent.name in NEAR)
                            and re.search(os.environ.get("WEFT_MUTATE", ""), str(p.relative_to(self.tree))))
        listed = subprocess.run(["ctest", "--test-dir", "build", "-N"], cwd=self.tree, capture_output=True, text=True).stdout
        self.tests = re.findall(r"Test +#\d+: (test_\w+)", listed)

    def copy(self, source, target):
        if source.is_dir():
            for path in source.rglob("*"):
                to = target / path.relative_to(source)
                if path.is_file() and (not to.exists() or to.read_bytes() != path.read_bytes()):
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, to)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)

    def choose(self, r, k):
        """(file, its text, changed text, what was changed)"""
        rooms = sorted({self.room(path) for path in self.files})
        files = [path for path in self.files if self.room(path) == rooms[k % len(rooms)]]
        while True:
            path = r.choice(files)
            lines = path.read_text().split("\n")
            n = r.randrange(len(lines))
            fitting = [] if SKIPPED.search(lines[n]) else [(old, new) for old, new in CHANGES if re.search(old, lines[n].split("//")[0])]
            if fitting:
                old, new = r.choice(fitting)
                changed = re.sub(old, new, lines[n], count=1)
                what = f"{path.relative_to(self.tree)}:{n + 1}: `{lines[n].strip()}` -> `{changed.strip()}`"
                return path, "\n".join(lines), "\n".join(lines[:n] + [changed] + lines[n + 1:]), what

    def room(self, path):
        return path.relative_to(self.tree / "src").parts[0]

    def case(self, k, seconds):
        if not hasattr(self, "files"):
            self.prepare()
        path, text, changed, what = self.choose(self.random(k), k)
        near = [t for t in self.tests if re.search(NEAR[self.room(path)], t)]
        # Those that bear the file's name come first, then the shortest.
        took = self.state.setdefault("seconds", {})
        near.sort(key=lambda t: (path.stem not in t, took.get(t, 0), t))
        counts = self.state.setdefault("counts", {"killed": 0, "lived": 0, "void": 0, "open": 0})
        failing = self.state.setdefault("failing", [])
        try:
            path.write_text(changed)
            verdict, test = self.judge(path, [t for t in near if t not in failing], min(SECONDS, max(30, seconds)))
        finally:
            path.write_text(text)
        if verdict == "killed" and not self.holds(test):
            failing.append(test)  # without any fault
            verdict = "void"
        counts[verdict] += 1
        lived = self.state.setdefault("lived", [])
        lived.append(what) if verdict == "lived" else None
        judged = counts["killed"] + counts["lived"]
        share = f"{100 * counts['killed'] / judged:.0f} %" if judged else "-"
        self.state["note"] = f"{share} of {judged} planted faults fail a test ({counts['void']} did not build or changed nothing, {counts['open']} had tests that take too long).\n\nThose that live:\n\n" + "\n".join(f"- {w}" for w in lived) + "\n"
        print(f"campaign: mutations: {verdict}: {what}; {share} of {judged}", flush=True)
        return Answer()

    def objects(self, path):
        """The bytes of what the compiler makes of a file, for each CPU kind."""
        made = sorted((self.tree / "build/CMakeFiles").rglob(f"{path.relative_to(self.tree)}.o"))
        return [p.read_bytes() for p in made]

    def built(self, *targets):
        return subprocess.run(["ninja", "-C", self.tree / "build", *targets], capture_output=True).returncode == 0

    def judge(self, path, near, seconds):
        begin, before = time.monotonic(), self.objects(path)
        if not self.built("weft") or self.objects(path) == before:
            return "void", None
        for test in near:
            start = time.monotonic()
            if start - begin > seconds:
                return "open", None
            if not self.built(test):
                return "void", None
            start = time.monotonic()
            passed = self.passes(test)
            self.state["seconds"][test] = time.monotonic() - start
            if not passed:
                return "killed", test
        return "lived", None

    def passes(self, test):
        return subprocess.run(["ctest", "--test-dir", "build", "-R", f"^{test}$", "--timeout", "300"], cwd=self.tree, capture_output=True).returncode == 0

    def holds(self, test):
        """Whether the test passes where nothing was changed; asked once of each."""
        good = self.state.setdefault("good", [])
        if test not in good:
            self.built("weft", test)
            good += [test] if self.passes(test) else []
        return test in good


def parts(c):
    return [] if c.short else [Mutations(c)]
