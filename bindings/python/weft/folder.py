"""Run folders: from a scene to files, and from files to arrays."""
import base64
import ctypes
import json
import os
import tempfile

import numpy as np

from . import _arrays, _c
from ._library import InputError, NotFoundError, assign, call, check, check_threads, lib, needed
from .simulation import Scene, Simulation, _stats

_MODES = {None: _c.WEFT_CACHE_NEW, "force": _c.WEFT_CACHE_FORCE, "resume": _c.WEFT_CACHE_RESUME}


def run(scene, folder, *, set=None, frames=None, threads=0, mode=None, progress=None):  # noqa: A002
    """Runs a scene (file, name or dict) into a folder, as `weft run` does, to the same bits; returns the Run.

    `mode` is None (a folder with a run is refused), "force" or "resume"; `progress(step, steps, stats)` is called after each step, and
    ends the run where it returns something true: what is finished stays, and "resume" goes on."""
    if mode not in _MODES:
        raise InputError(f"mode {mode!r}: None, 'force' or 'resume' is needed")
    check_threads(threads)
    changes = dict(set or {})
    if frames is not None:
        changes["frames"] = frames
    loaded = Scene(scene, changes)
    resume = mode == "resume" and lib.weft_cache_has_checkpoint(needed(folder, "folder"))
    handle = ctypes.POINTER(_c.weft_sim)()
    make = lib.weft_scene_build_sim if resume else lib.weft_scene_create_sim
    call(make, loaded._scene, threads, ctypes.byref(handle))
    sim = Simulation.__new__(Simulation)
    sim._start(None, handle)
    writer = ctypes.POINTER(_c.weft_cache_writer)()
    call(lib.weft_cache_writer_create, needed(folder, "folder"), _MODES[mode], lib.weft_scene_json(loaded._scene), loaded.steps_per_frame,
         handle, ctypes.byref(writer))
    try:
        steps = loaded.frames * loaded.steps_per_frame
        stats, error = _c.weft_step_stats(), _c.weft_error()
        while sim.step_count < steps:
            check(lib.weft_sim_step(handle, ctypes.byref(stats), ctypes.byref(error)), error)
            call(lib.weft_cache_writer_step, writer, handle, ctypes.byref(stats))
            if progress and progress(sim.step_count, steps, _stats(stats)):
                break
    finally:
        problem = _c.weft_error()
        status = lib.weft_cache_writer_destroy(writer, ctypes.byref(problem))
        sim.close()
    check(status, problem)
    return Run(folder)


class Run:
    """A run's folder: positions of every frame, the numbers of every step."""

    def __init__(self, folder):
        self._cache = ctypes.POINTER(_c.weft_cache)()
        call(lib.weft_cache_open, needed(folder, "folder"), ctypes.byref(self._cache))
        self.folder = os.fspath(folder)

    def __del__(self):
        if getattr(self, "_cache", None):
            lib.weft_cache_close(self._cache)
            self._cache = None

    @property
    def frame_count(self):
        return lib.weft_cache_frame_count(self._cache)

    @property
    def frame_rate(self):
        """frames a second"""
        return lib.weft_cache_frame_rate(self._cache)

    @property
    def bodies(self):
        """Names of cloths and obstacles."""
        return [lib.weft_cache_body_at(self._cache, k).contents.name.decode()
                for k in range(lib.weft_cache_body_count(self._cache))]

    def _body(self, body):
        names = self.bodies
        if isinstance(body, str):
            if body not in names:
                raise NotFoundError(f"there is no body {body!r}: {', '.join(names)}")
            return names.index(body)
        if not 0 <= body < len(names):
            raise NotFoundError(f"there is no body {body}: {', '.join(names)}")
        return body

    def _frame(self, frame):
        count = self.frame_count
        if not -count <= frame < count:
            raise NotFoundError(f"there is no frame {frame}: the run has {count}")
        return frame % count

    def _topology(self, body, frame):
        return lib.weft_cache_topology_at(self._cache, body, lib.weft_cache_topology_of(self._cache, body, frame)).contents

    def positions(self, body=0, frame=-1):
        """[n, 3] m."""
        body, frame = self._body(body), self._frame(frame)
        out = np.empty((self._topology(body, frame).vertex_count, 3))
        call(lib.weft_cache_read_frame, self._cache, body, frame, _arrays.vec3_pointer(out))
        return out

    def triangles(self, body=0, frame=-1):
        """[n, 3] vertices, as simulated; a cloth that tears has others in later frames."""
        mesh = self._topology(self._body(body), self._frame(frame))
        return np.ctypeslib.as_array(mesh.triangles, (3 * mesh.triangle_count,)).reshape(-1, 3).copy() \
            if mesh.triangle_count else np.zeros((0, 3), dtype=np.int32)

    @property
    def stats(self):
        """A dict a step, as stats.jsonl has them."""
        with open(os.path.join(self.folder, "stats.jsonl"), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]

    def export(self, format, target, **choices):  # noqa: A002
        """For other programs: "abc", "pc2", "mdd", "obj", "ply", "vtp", "gltf", "usda", "usdc", "usdz"; choices are first, last, every, up, force."""
        d = lib.weft_export_def_default()
        d.format = needed(format, "format")
        for name, value in choices.items():
            if name not in ("first", "last", "every", "frame_rate", "up", "force"):
                raise NotFoundError(f"an export has no {name!r}: first, last, every, frame_rate, up, force")
            if name == "up":
                axis = needed(value, "up")
                if axis not in (b"y", b"z"):
                    raise InputError(f"up: 'y' or 'z' is needed, not {value!r:.80}")
                d.up = axis
            else:
                assign(d, dict(d._fields_), name, value)
        call(lib.weft_export, self._cache, ctypes.byref(d), needed(target, "target"), None)
        return os.fspath(target)


class Page:
    """The page of `weft view`: shows itself in a notebook, or is written to a file."""

    def __init__(self, html):
        self.html = html

    def _repr_html_(self):
        data = base64.b64encode(self.html).decode()
        return f'<iframe src="data:text/html;base64,{data}" width="100%" height="640" style="border:0"></iframe>'


def view(*runs, path=None):
    """A page with animation, curves and numbers of one or more runs (Run or folder): to look at in a notebook, or written to `path`."""
    if not runs:
        raise InputError("view: one run at least is needed")
    folders = [needed(run.folder if isinstance(run, Run) else run, "run") for run in runs]
    page = lib.weft_view_page_default()
    page.dirs, page.dir_count = (ctypes.c_char_p * len(folders))(*folders), len(folders)
    with tempfile.TemporaryDirectory() as scratch:
        target = path or os.path.join(scratch, "view.html")
        call(lib.weft_view_write, ctypes.byref(page), needed(target, "path"))
        with open(target, "rb") as file:
            return Page(file.read())
