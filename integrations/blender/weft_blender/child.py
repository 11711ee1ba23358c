"""`weft` as a child process: found, asked for its names, run, watched and stopped. Knows nothing of Blender."""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from .build_scene import SceneError, crossing_faces, write_start
from .read_run import read_header

_running = set()
_lists = {}

NOT_FOUND = "the command `weft` is not found: set its path in the preferences of this add-on, or put it on the PATH"


def find_command(wish=""):
    """The path of `weft`, or None: what the preferences say, $WEFT, the PATH, the build that packed the add-on, or the one that this file lies in."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "..", "..", "..", "build", "weft")
    for candidate in (os.path.expanduser(wish), os.environ.get("WEFT", ""), shutil.which("weft"), packed_command(here), built):
        if candidate and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
        if candidate and candidate == os.path.expanduser(wish):
            return None  # one that was named and is not there is not replaced in silence
    return None


def packed_command(here):
    try:
        with open(os.path.join(here, "command.txt"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def names(command, kind):
    """[(name, summary)] of `weft list KIND`; empty without a command."""
    if not command:
        return []
    if (command, kind) not in _lists:
        try:
            done = subprocess.run([command, "list", kind], capture_output=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return []
        lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
        _lists[command, kind] = [tuple((line + "\t").split("\t")[:2]) for line in lines if line]
    return _lists[command, kind]


def _bound_to_us(words):
    """On Linux the child ends when Blender does, however that comes about."""
    setpriv = shutil.which("setpriv") if sys.platform.startswith("linux") else None
    return [setpriv, "--pdeathsig", "KILL", "--"] + words if setpriv and _setpriv_can(setpriv) else words


def _setpriv_can(setpriv, known={}):
    if setpriv not in known:
        known[setpriv] = b"--pdeathsig" in subprocess.run([setpriv, "--help"], capture_output=True, check=False).stdout
    return known[setpriv]


class Child:
    """A run under way. `poll` never waits; `stop` ends it at the end of its step, or, where that lasts, at once."""

    def __init__(self, command, scene_path, folder, bodies, settings, threads=0, resume=False):
        if not command:
            raise SceneError(NOT_FOUND)
        if not os.access(command, os.X_OK):
            raise SceneError("%s is no program" % command)
        self.folder, self.bodies, self.stopped = folder, bodies, False
        self.command, self.scene_path = command, scene_path
        self.frames, self.steps = settings.frames, settings.frames * settings.steps_per_frame
        self.out, self.log = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        words = [command, "run", scene_path, "-o", folder, "--json", "--threads", str(threads)]
        words.append("--resume" if resume else "--force")
        flags = {"creationflags": subprocess.CREATE_NO_WINDOW} if os.name == "nt" else {}
        try:
            self.process = subprocess.Popen(
                _bound_to_us(words), stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.log, **flags
            )
        except OSError as error:
            raise SceneError("%s does not start: %s" % (command, error.strerror)) from None
        _running.add(self)

    def poll(self):
        """The exit status, or None while it runs."""
        status = self.process.poll()
        if status is not None:
            _running.discard(self)
        return status

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        return self.poll() is not None

    def stop(self, patience=3.0):
        """Finished frames stay. Nothing is left running when it returns."""
        if self.poll() is not None:
            return
        self.stopped = True
        if os.name == "nt":
            self.process.terminate()
        else:
            self.process.send_signal(signal.SIGINT)
            if not self.wait(patience) and self.poll() is None:
                self.process.send_signal(signal.SIGINT)
        if not self.wait(1.0):
            self.process.kill()
            self.process.wait()
        self.poll()

    # ---- how far it is

    def frames_done(self):
        """Samples that every cloth has, less the start; -1 before there is a start."""
        counts = []
        for body in self.bodies:
            if body.role == "CLOTH":
                path = os.path.join(self.folder, body.key + ".pc2")
                try:
                    counts.append(read_header(path)[2] - 1)
                except (OSError, SceneError):
                    return -1
        return min(counts) if counts else -1

    def share_done(self):
        """0 to 1, by steps."""
        if self.steps == 0:
            return 0.0 if self.poll() is None else 1.0
        try:
            with open(os.path.join(self.folder, "stats.jsonl"), "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - 16384))
                found = re.findall(rb'^\{\s*"step":\s*(\d+)', file.read(), re.M)
        except OSError:
            found = []
        step = int(found[-1]) if found else max(0, self.frames_done()) * (self.steps // max(1, self.frames))
        return min(1.0, step / self.steps)

    # ---- what it said

    def _text(self, file):
        file.seek(0)
        return file.read().decode("utf-8", "replace")

    def notes(self):
        """Warnings of the run, a sentence each."""
        lines = [line.strip() for line in self._text(self.log).splitlines()]
        said = (line[len("weft: ") :] for line in lines if line.startswith("weft: "))
        return [self.in_words(s) for s in said if not s.startswith("stopping at the end")]

    def error(self):
        """A sentence when it failed, None when it did not."""
        status = self.poll()
        if status in (None, 0) or self.stopped:
            return None
        message = ""
        try:
            found = json.loads(self._text(self.out))["error"]
            message = found["message"]
        except (ValueError, KeyError, TypeError):
            lines = [line for line in self._text(self.log).splitlines() if line.strip()]
            message = lines[-1].strip() if lines else ""
            message = message[len("weft: ") :] if message.startswith("weft: ") else message
        if not message:
            message = "weft was ended by signal %d" % -status if status < 0 else "weft ended with exit status %d" % status
        return self.in_words(message)

    def in_words(self, message):
        """With the names that objects have in Blender."""
        where = re.search(r"\b(cloth|obstacles)\.(\d+)\b", message)
        if where:
            role = "CLOTH" if where.group(1) == "cloth" else "OBSTACLE"
            of_role = [b for b in self.bodies if b.role == role]
            if int(where.group(2)) < len(of_role):
                message = 'object "%s": %s' % (of_role[int(where.group(2))].label, message)
        for body in self.bodies:
            if body.key != body.label:
                message = re.sub(r"(?<![\w./-])%s(?![\w./-])" % re.escape(body.key), lambda _: body.label, message)
        return message

    def refused_start(self):
        return "cross" in (self.error() or "") and self.frames_done() < 0

    def crossings(self):
        """Faces that cross at the start, by the key of the body."""
        with tempfile.TemporaryDirectory(prefix="weft-start-") as folder:
            write_start(folder, self.bodies)
            words = [self.command, "inspect", folder, "--json", "--pairs", "100000"]
            done = subprocess.run(words, capture_output=True, timeout=600, check=False)
        try:
            frames = json.loads(done.stdout.decode("utf-8", "replace"))["frames"]
        except (ValueError, KeyError):
            return {}
        return crossing_faces(frames[0].get("pairs", []), self.bodies) if frames else {}


def stop_all():
    for child in list(_running):
        child.stop(1.0)


def any_running():
    return [c for c in list(_running) if c.poll() is None]


atexit.register(stop_all)
