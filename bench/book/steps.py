"""What script/reproduce runs: a step is one benchmark or one experiment of runs, in a folder of its own, in a tiny, short and long form.

A step that is done is not run again as long as command and program are the same. Benchmarks with a log go on where they were killed.
"""
import hashlib
import json
import os
import shutil
import subprocess
import time

from experiments import EXPERIMENTS

FORMS = ("tiny", "short", "long")


class Bench:
    """weft bench NAME with options by form (None: not in this form). `log`, `out`: it takes --log and --out."""

    def __init__(self, name, bench, tiny, short, long, log=True, out=True):
        self.name, self.bench = name, bench
        self.options = {"tiny": tiny, "short": short, "long": long}
        self.log, self.out = log, out

    def words(self, form):
        return None if self.options[form] is None else ["bench", self.bench] + self.options[form].split() + ["--json"]

    def command(self, form):
        words = self.words(form)
        return None if words is None else "weft " + " ".join(words)

    def run(self, context, folder):
        words = self.words(context.form)
        if self.log:
            words += ["--log", os.path.join(folder, "log.jsonl")]
        if self.out:
            words += ["--out", os.path.join(folder, "out")]
        return context.weft(words, os.path.join(folder, "output.json"), folder)


class Experiment:
    """Runs, pictures and comparisons that no benchmark makes: a function of experiments.py."""

    def __init__(self, name):
        self.name = name
        self.function, self.sizes, self.text = EXPERIMENTS[name]

    def command(self, form):
        return None if self.sizes[form] is None else "%s %s" % (self.text, json.dumps(self.sizes[form]))

    def run(self, context, folder):
        result = self.function(context, folder, **self.sizes[context.form])
        with open(os.path.join(folder, "output.json"), "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
        return True


STEPS = [
    Bench("sa-convergence", "sa-convergence", "--cells 8,12 --scenes pinned --tessellation regular", "--cells 30,100,200 --diag-max 200",
          "--cells 30,100,200,400,600,1000", out=False),
    Bench("sa-table1", "sa-table1", "--cells 8,12 --scenes pinned,plane --tessellation regular --steps 2",
          "--cells 30,60,100,200 --steps 10 --tessellation regular", ""),
    Bench("drop", "drop", "--cells 8 --frames 1 --tessellation regular", "--cells 30", "--cells 30,100,200", out=False),
    Experiment("strength"),
    Experiment("production"),
    Experiment("mpcg"),
    Bench("local-global-curve", "local-global", "--parts curve --cells 8 --rounds 1", "--parts curve", "--parts curve", log=False, out=False),
    Bench("local-global-match", "local-global", "--parts match --cells 8 --rounds 1", "--parts match", "--parts match", log=False, out=False),
    Bench("local-global-table", "local-global", None, "--parts table", "--parts table --rounds 12", log=False, out=False),
    Bench("local-global-stiffness", "local-global", None, "--parts stiffness", "--parts stiffness", log=False, out=False),
    Bench("local-global-resolution", "local-global", None, "--parts resolution", "--parts resolution", log=False, out=False),
    Experiment("turns"),
    Experiment("impact"),
    Bench("thesis-stability", "thesis-stability", "--sets 2 --steps 20", "--sets 60 --steps 300", "--sets 500"),
    Bench("thesis-damping", "thesis-damping", "--cells 6 --seconds 0.1", "", ""),
    Bench("thesis-aimex", "thesis-aimex", "--parts difference,speed --sets 2 --steps-max 3", "--parts difference,speed --sets 20 --steps-max 60 --after 0.4",
          "--parts stable,difference,speed --sets 500"),
    Bench("thesis-pictures", "thesis-aimex", None, "--parts pictures", "--parts pictures"),
    Bench("thesis-guess", "thesis-guess", "--share 0.002 --cells-max 8 --seconds 0.1 --rounds 1", "--share 0.008 --cells-max 40", "--share 0.2"),
    Bench("thesis-preconditioner", "thesis-preconditioner", "--share 0.004 --cells-max 8 --seconds 0.1 --rounds 1",
          "--share 0.012 --cells-max 40", "--share 0.2"),
    Bench("thesis-decomposition", "thesis-decomposition", "--share 0.004 --cells-max 8 --seconds 0.1 --rounds 1",
          "--share 0.012 --cells-max 40", "--share 0.2"),
    Bench("thesis-parallel", "thesis-decomposition", "--share 0.002 --cells-max 8 --seconds 0.1 --rounds 1 --scenes ground --threads 2",
          "--share 0.008 --cells-max 40 --scenes ground --threads 2", "--share 0.1 --scenes ground --threads 2"),
    Experiment("components"),
    Bench("thesis-total", "thesis-total", "--sizes 64 --seconds 0.03 --rounds 1 --scenes corners", "--sizes 1000 --scenes corners,sphere,ground",
          "--sizes 1000,4000,10000"),
    Bench("hpbd-figure", "hpbd", None, "--parts figure --steps 30", "--parts figure", log=False, out=False),
    Bench("hpbd-tears", "hpbd", None, "--parts tears", "--parts tears", log=False, out=False),
    Experiment("canvases"),
    Experiment("torn"),
]


class Context:
    """The program, the form, and how its commands are run."""

    def __init__(self, weft, form, folder, say):
        self.program, self.form, self.folder, self.say = weft, form, folder, say
        with open(weft, "rb") as file:
            self.hash = hashlib.sha256(file.read()).hexdigest()[:16]
        self.child = None

    def weft(self, words, output=None, folder=None):
        """Runs weft; standard output goes to a file that is there only when it ended well. True when it did."""
        folder = folder or self.folder
        part = (output or os.path.join(folder, "out.txt")) + ".part"
        with open(part, "wb") as out, open(os.path.join(folder, "messages.txt"), "ab") as log:
            self.child = subprocess.Popen([self.program] + words, stdout=out, stderr=log, stdin=subprocess.DEVNULL)
            try:
                status = self.child.wait()
            except BaseException:
                self.child.terminate()
                self.child.wait()
                raise
        if status == 0:
            os.replace(part, output or part[: -len(".part")])
        return status == 0


def step_folder(context, step):
    return os.path.join(context.folder, "steps", step.name)


def read_state(folder):
    try:
        with open(os.path.join(folder, "state.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def run_step(context, step):
    """One of "done", "kept", "not in this form", "failed"."""
    command = step.command(context.form)
    if command is None:
        return "not in this form"
    folder = step_folder(context, step)
    state = read_state(folder)
    same = state.get("command") == command and state.get("program") == context.hash
    if same and state.get("ended"):
        return "kept"
    if not same and os.path.isdir(folder):
        shutil.rmtree(folder)  # figures of another program or of another size
    os.makedirs(folder, exist_ok=True)
    state = {"command": command, "program": context.hash, "began": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
             "seconds": state.get("seconds", 0.0) if same else 0.0, "processor_s": state.get("processor_s", 0.0) if same else 0.0}
    _write_state(folder, state)
    start, used = time.monotonic(), _processor()
    good = False
    try:
        good = step.run(context, folder)
    finally:
        state["seconds"] += time.monotonic() - start
        state["processor_s"] += _processor() - used
        state["ended"] = bool(good)
        _write_state(folder, state)
    return "done" if good else "failed"


def _processor():
    """Seconds of the processor that children have taken: what a loaded machine shows as well as a quiet one."""
    t = os.times()
    return t.children_user + t.children_system


def _write_state(folder, state):
    path = os.path.join(folder, "state.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1)
    os.replace(path + ".part", path)
