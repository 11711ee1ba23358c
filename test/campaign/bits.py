"""The same bytes whatever the machine does: threads, compilers, each kind of kernels with itself."""
import pathlib, shutil, subprocess

from .common import Answer, Part, bytes_of

SCENES = ["ball", "skirt", "ring", "stack", "twist", "sphere", "drop-vertical", "two-corners", "flag", "curtain", "canvas",
          "torn", "brush", "bar", "jelly", "patch", "gown", "banner", "towel", "sponge"]
METHODS = [None, None, "newton", "bdf2", "imex2", "aimex"]
KINDS = ["base", "avx2", "avx512"]


def line_of(r, c, folder):
    scene = r.choice(SCENES)
    words = [c.weft, "run", scene, "--frames", 1 if c.short else 2, "-o", folder, "--force"]
    cells = r.choice([8, 10, 13])
    probe = [c.weft, "check", scene, "--set", f"cells={cells}"]
    words += ["--set", f"cells={cells}"] if c.run(probe)[0] == 0 else []
    method = r.choice(METHODS)
    words += ["--method", method] if method and c.run([c.weft, "check", scene, "--set", f"method={method}"])[0] == 0 else []
    return words


def shown(words):
    return " ".join(str(w) for w in words[1:] if not isinstance(w, pathlib.Path))


class Threads(Part):
    def __init__(self, c):
        super().__init__(c, "bits", "the same bytes on any number of threads, for each kind of kernels")

    def case(self, k, seconds):
        r, folder = self.random(k), self.c.fresh_folder("bits")
        words = line_of(r, self.c, folder) + ["--set", f"kernels={r.choice(KINDS)}"]
        code, said = self.c.run(words + ["--threads", 1], seconds=300)
        if code != 0:
            kind_is_missing = code == 2 and "kernels" in said
            return Answer("" if kind_is_missing or code == 1 else f"`weft {shown(words)}`: exit {code}: {said.strip()[-200:]}")
        expected = bytes_of(folder)
        for threads in (2, r.choice([3, 5, 8, 13])):
            code, said = self.c.run(words + ["--threads", threads], seconds=300)
            if code != 0 or bytes_of(folder) != expected:
                return Answer(f"`weft {shown(words)}`: other bytes on {threads} threads, exit {code}")
        return Answer(executions=3)


class Compilers(Part):
    needs = "clang-14"

    def __init__(self, c):
        super().__init__(c, "compilers", "the same bytes from gcc and from clang")
        self.build = c.folder / "clang"

    def ready(self):
        if not (self.build / "weft").exists() and shutil.which("clang-14"):
            subprocess.run(["cmake", "-S", self.c.root, "-B", self.build, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang-14", "-DWEFT_TESTS=OFF",
                            "-DCMAKE_CXX_COMPILER=clang++-14"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run(["ninja", "-C", self.build, "weft"], check=False, stdout=subprocess.DEVNULL)
        return (self.build / "weft").exists()

    def case(self, k, seconds):
        r, folder = self.random(k), self.c.fresh_folder("bits")
        words = line_of(r, self.c, folder) + ["--set", f"kernels={r.choice(KINDS)}", "--threads", 1]
        code, said = self.c.run(words, seconds=300)
        expected = bytes_of(folder) if code == 0 else None
        other, said = self.c.run([self.build / "weft"] + words[1:], seconds=300)
        same = code == other and (code != 0 or bytes_of(folder) == expected)
        return Answer("" if same else f"`weft {shown(words)}`: clang's differ, exit {code} and {other}: {said.strip()[-200:]}", executions=2)


def parts(c):
    return [Threads(c)] + ([] if c.short else [Compilers(c)])
