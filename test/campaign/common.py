"""What the parts of script/campaign share: their state, running the command, and the report."""
import dataclasses, fcntl, hashlib, json, os, pathlib, random, resource, shutil, signal, subprocess, sys, tempfile


@dataclasses.dataclass
class Answer:
    """What a case says; without a finding it held."""
    finding: str = ""
    file: str = ""
    executions: int = 1


class Part:
    """A sequence of cases: case(k, seconds) is an Answer, or None behind the last one."""
    needs = ""
    stops_at_findings = False  # it would find the same again and again
    blocked = False

    def __init__(self, campaign, name, summary):
        self.c, self.name, self.summary, self.state = campaign, name, summary, None

    def ready(self):
        return True

    def random(self, k):
        return random.Random(f"{self.c.seed} {self.name} {k}")


class Campaign:
    def __init__(self, root, seed, short, fresh):
        self.root, self.seed, self.short = root, seed, short
        self.weft = os.environ.get("WEFT", str(root / "build/weft"))
        # A short one is a test: it starts anew each time and leaves nothing but its report.
        self.folder = pathlib.Path(self.weft).resolve().parent / "campaign" if short else root / "build-campaign"
        if fresh or short:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.findings = self.folder / "findings"
        self.findings.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"campaign: another one runs in {self.folder}")
        path = self.folder / "state.json"
        self.state = json.loads(path.read_text()) if path.exists() else {}

    def __enter__(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="weft-campaign-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def state_of(self, name):
        return self.state.setdefault(name, {"next": 0, "executions": 0, "findings": []})

    def save(self):
        path = self.folder / "state.json"
        path.with_suffix(".new").write_text(json.dumps(self.state, indent=1))
        os.replace(path.with_suffix(".new"), path)

    def report(self, parts):
        lines = ["# Campaign", "", f"Seed {self.seed}; {self.weft}", "", "| part | cases | executions | findings |", "|---|---|---|---|"]
        for name, s in self.state.items():
            whole = " (all)" if s.get("whole") else ""
            lines.append(f"| {name} | {s['next']}{whole} | {s['executions']} | {len(s['findings'])} |")
        for name, s in self.state.items():
            lines += [f"\n## {name}\n"] if s["findings"] or s.get("note") else []
            lines += [s["note"]] if s.get("note") else []
            lines += [f"- case {f['case']}: {f['what']}" + (f" (`{f['file']}`)" if f["file"] else "") for f in s["findings"]]
        (self.folder / "report.md").write_text("\n".join(lines) + "\n")

    # ---- running

    def keep(self, name, text):
        """A file of a finding."""
        path = self.findings / name
        path.write_text(text)
        return str(path)

    def run(self, words, seconds=60, memory=4 << 30, env=None):
        """(exit status or minus the signal, what it said); None: it ran out of time, of a core or by the clock."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            memory and resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            done = subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=10 * seconds, preexec_fn=limit,
                                  env={**os.environ, **(env or {})})
        except subprocess.TimeoutExpired:
            return None, "no end"
        text = done.stdout.decode(errors="replace")
        return (None if done.returncode == -signal.SIGXCPU else done.returncode), text

    def fresh_folder(self, name):
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        return path


def bytes_of(folder, kinds=(".obj", ".pc2", ".ele")):
    """A hash of a run's results, which are the same on every run; stats hold times and are left out."""
    h = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in kinds:
            h.update(path.name.encode() + b"\0" + path.read_bytes())
    return h.hexdigest()
