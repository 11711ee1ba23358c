"""A simulation from arrays or from a scene, stepped by hand."""
import ctypes
import dataclasses
import json
import math

import numpy as np

from . import _arrays, _c
from ._library import InputError, NotFoundError, assign, call, check, check_threads, lib, needed, text

_FIX = {"point": _c.WEFT_FIX_POINT, "line": _c.WEFT_FIX_LINE, "plane": _c.WEFT_FIX_PLANE}


@dataclasses.dataclass
class Pin:
    """Vertices that are held: where they are, along `keys` [(time, offset, angle)], by `samples` [k, n, 3], or beside an obstacle."""

    vertices: object
    fix: str = "point"                 #: "point", "line" (free along `direction`), "plane" (free across it)
    direction: object = (0.0, 1.0, 0.0)
    keys: object = ()                  #: (time in s, offset in m, angle in degrees) each
    axis: object = (0.0, 0.0, 0.0)
    center: object = (0.0, 0.0, 0.0)
    release: float = math.inf          #: s; from then on the pin is gone
    samples: object = None             #: [k, n, 3] m
    rate: float = 25.0                 #: samples a second
    start: float = 0.0                 #: s, of the first sample
    follow: str = None                 #: name of an obstacle whose nearest faces the vertices follow
    weights: object = None             #: [n] from 0, free, to 1, held; None: all are held
    stiffness: float = 1e4             #: 1/s^2, of weights in between


def _keys(keys, what):
    try:
        rows = [tuple(key) + (0.0,) * (3 - len(tuple(key))) for key in keys]
        return (_c.weft_pin_key * max(1, len(rows)))(
            *[_c.weft_pin_key(t, _arrays.vec3(offset, what), math.radians(angle)) for t, offset, angle in rows])
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"{what}: (time in s, offset in m) or (time, offset, angle in degrees) is needed, not {keys!r:.80}") from None


def _pin(pin, vertex_count, keep):
    if not isinstance(pin, Pin):
        pin = Pin(pin)
    if pin.fix not in _FIX:
        raise NotFoundError(f"fix {pin.fix!r}: point, line or plane is needed")
    vertices = _arrays.integers(pin.vertices, "pin", vertex_count)
    c = lib.weft_pin_default()
    c.vertices, c.vertex_count, c.fix = _arrays.int_pointer(vertices), len(vertices), _FIX[pin.fix]
    c.direction, c.axis, c.center = (_arrays.vec3(v, "pin") for v in (pin.direction, pin.axis, pin.center))
    keys = _keys(pin.keys, "key of a pin")
    known = dict(_c.weft_pin._fields_)
    c.keys, c.key_count = ctypes.cast(keys, ctypes.POINTER(_c.weft_pin_key)), len(list(pin.keys))
    assign(c, known, "release", pin.release)
    c.keys = c.keys if c.key_count else None
    c.follow = text(pin.follow)
    if pin.weights is not None:
        weights = _arrays.doubles(pin.weights, "weights of a pin")
        if weights.shape != (len(vertices),):
            raise InputError(f"weights of a pin: {len(vertices)} numbers are needed, not {weights.shape}")
        c.weights = weights.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        keep.append(weights)
    assign(c, known, "stiffness", pin.stiffness)
    if pin.samples is not None:
        samples = _samples(pin.samples, len(vertices), "samples of a pin")
        c.samples, c.sample_count = _arrays.vec3_pointer(samples), len(samples)
        assign(c, known, "sample_rate", pin.rate)
        assign(c, known, "sample_start", pin.start)
        keep.append(samples)
    keep += [vertices, keys]
    return c


def _samples(samples, count, what):
    array = _arrays.doubles(samples, what)
    if array.ndim != 3 or array.shape[1:] != (count, 3):
        raise InputError(f"{what}: an array of shape (samples, {count}, 3) is needed, not {array.shape}")
    return array


def material(name="cotton", **numbers):
    """A fabric of the catalogue, with some of its numbers replaced: material("linen", bending=2e-5)."""
    found = _c.weft_material()
    call(lib.weft_material_find, needed(name, "material"), ctypes.byref(found))
    known = dict(_c.weft_material._fields_)
    for key, value in numbers.items():
        if key not in known:
            raise NotFoundError(f"a material has no {key!r}: {', '.join(known)}")
        assign(found, known, key, value)
    return found


def _material(value):
    if isinstance(value, _c.weft_material):
        return value
    if isinstance(value, dict):
        return material(value.get("base", "cotton"), **{k: v for k, v in value.items() if k != "base"})
    return material(value)


@dataclasses.dataclass
class Arrays:
    """Where the simulation keeps its state: not copied, in its own order, until the next step or edit."""

    positions: np.ndarray   #: [n, 3] m, of all cloths
    velocities: np.ndarray  #: [n, 3] m/s
    places: list            #: places[cloth][k] is where vertex k of that cloth is


def _plain(value):
    """A struct, an array or a pointer of ctypes as Python has it."""
    if isinstance(value, ctypes.Structure):
        return {name: _plain(getattr(value, name)) for name, _ in value._fields_}
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if isinstance(value, ctypes.Array) else value


def _stats(c):
    """weft_step_stats as a dict: counters and stages by name, pairs as lists."""
    skipped = ("counters", "counter_count", "stage_name", "stage_s", "stage_count", "squeezed_pairs", "unsettled_pairs")
    stats = {name: _plain(getattr(c, name)) for name, _ in c._fields_ if name not in skipped}
    stats.update({c.counters[k].name.decode(): c.counters[k].value for k in range(c.counter_count)})
    stats["stages"] = {c.stage_name[k].decode(): c.stage_s[k] for k in range(c.stage_count)}
    for name in ("squeezed", "unsettled"):
        pairs = getattr(c, name + "_pairs")
        stats[name] = [{k: list(getattr(pairs[i], k)) for k in ("body", "edge", "face")} for i in range(stats[name])]
    return stats


class Simulation:
    """Cloth and obstacles, and a clock.

    >>> sim = weft.Simulation(time_step=1 / 120)
    >>> sheet = sim.add_cloth(positions, quads, material="linen", pins=[[0, 30]])
    >>> for _ in range(120): stats = sim.step()
    >>> sim.positions(sheet)

    Keywords are the fields of weft_sim_def (docs/api.md): gravity, time_step, method, solver, tolerance, contact, friction, ...; a dict by
    a method's name holds its settings (newton={"tolerance": 1e-7}), `sa` those of multigrid, `air` those of the air.
    """

    def __init__(self, threads=0, **settings):
        check_threads(threads)
        d = lib.weft_sim_def_default()
        d.worker_count = threads
        for name, value in settings.items():
            self._set(d, name, value)
        self._start(d, ctypes.POINTER(_c.weft_sim)())

    @classmethod
    def from_scene(cls, scene, set=None, threads=0):  # noqa: A002 (as the command says it)
        """Of a scene file, the name of a scene that ships, or a dict; `set` replaces values by path: {"cells": 50}."""
        loaded = Scene(scene, set)
        self = cls.__new__(cls)
        self._start(None, loaded.create(threads))
        self.scene = loaded
        return self

    def _start(self, definition, handle):
        self._sim, self._keep, self._watch, self.scene = handle, [], None, None
        if definition is not None:
            call(lib.weft_sim_create, ctypes.byref(definition), ctypes.byref(self._sim))

    @staticmethod
    def _set(d, name, value):
        known = dict(d._fields_)
        if name == "sa":
            if not isinstance(value, dict):
                raise InputError(f"sa: a dict of settings is needed, not {value!r:.80}")
            for key, number in value.items():
                call(lib.weft_sa_set, ctypes.byref(d.sa), needed(key, "sa"), number)
        elif name == "air":
            if not isinstance(value, dict):
                raise InputError(f"air: a dict of settings is needed, not {value!r:.80}")
            unknown = [key for key in value if not hasattr(d.air, key)]
            if unknown:
                raise NotFoundError(f"air has no {unknown[0]!r}: {', '.join(f for f, _ in d.air._fields_)}")
            for key, number in value.items():
                if key == "wind":
                    d.air.wind = _arrays.vec3(number, "wind")
                else:
                    assign(d.air, dict(d.air._fields_), key, number)
        elif isinstance(value, dict) and name not in known:
            for key, number in value.items():
                call(lib.weft_sim_def_set, ctypes.byref(d), text(name), needed(key, name), number)
        elif name not in known or name in ("cookie", "tasks", "settings", "worker_count"):
            raise NotFoundError(f"a simulation has no setting {name!r}: " +
                                ", ".join(k for k in known if k not in ("cookie", "tasks", "settings", "worker_count")))
        elif known[name] is _c.weft_vec3:
            setattr(d, name, _arrays.vec3(value, name))
        else:
            assign(d, known, name, value)

    def close(self):
        """Frees it; happens by itself when nothing refers to it any more."""
        if getattr(self, "_sim", None):
            lib.weft_sim_destroy(self._sim)
            self._sim = None

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def _handle(self):
        if not self._sim:
            raise InputError("the simulation was closed")
        return self._sim

    def _cloth(self, cloth):
        if not isinstance(cloth, (int, np.integer)) or not 0 <= cloth < lib.weft_sim_cloth_count(self._handle) \
                or not lib.weft_sim_has_cloth(self._handle, cloth):
            raise NotFoundError(f"there is no cloth {cloth!r}: cloths are {list(self.cloths())}")
        return int(cloth)

    def _obstacle(self, obstacle):
        if not isinstance(obstacle, (int, np.integer)) or not lib.weft_sim_has_obstacle(self._handle, obstacle):
            raise NotFoundError(f"there is no obstacle {obstacle!r}: there are {lib.weft_sim_obstacle_count(self._handle)}")
        return int(obstacle)

    # ---- bodies

    def add_cloth(self, positions, faces=None, *, material="cotton", pins=(), name=None, rest_positions=None,
                  velocities=None, tetrahedra=None, **fields):
        """Adds a sheet (polygons), or by `kind` another body; returns its number. `fields` are others of weft_cloth_def: model, friction,
        thickness, tear, vertex_mass, warp, kind, bending."""
        x = _arrays.points(positions, "positions")
        if faces is None and tetrahedra is None:
            raise InputError("a body needs faces (of strands: lines) or tetrahedra")
        d, keep = lib.weft_cloth_def_default(), [x]
        d.positions, d.vertex_count, d.material = _arrays.vec3_pointer(x), len(x), _material(material)
        d.name = text(name)
        if faces is not None:
            start, corners = _arrays.faces(faces, "faces", len(x))
            d.face_start, d.face_vertices, d.face_count = _arrays.int_pointer(start), _arrays.int_pointer(corners), len(start) - 1
            keep += [start, corners]
        if tetrahedra is not None:
            tets = _arrays.integers(tetrahedra, "tetrahedra", len(x), 4)
            d.tetrahedra, d.tetrahedron_count = _arrays.int_pointer(tets), len(tets) // 4
            keep.append(tets)
        for field, array in (("rest_positions", rest_positions), ("velocities", velocities)):
            if array is not None:
                keep.append(_arrays.points(array, field, len(x)))
                setattr(d, field, _arrays.vec3_pointer(keep[-1]))
        held = [_pin(pin, len(x), keep) for pin in pins]
        array = (_c.weft_pin * max(1, len(held)))(*held)
        d.pins, d.pin_count = ctypes.cast(array, ctypes.POINTER(_c.weft_pin)), len(held)
        known = dict(d._fields_)
        for key, value in fields.items():
            if known.get(key) not in (ctypes.c_char_p, ctypes.c_double, _c.weft_vec3):
                raise NotFoundError(f"a cloth has no {key!r}")
            if known[key] is _c.weft_vec3:
                setattr(d, key, _arrays.vec3(value, key))
            else:
                assign(d, known, key, value)
        number = ctypes.c_int(-1)
        call(lib.weft_sim_add_cloth, self._handle, ctypes.byref(d), ctypes.byref(number))
        return number.value

    def add_obstacle(self, positions, faces, *, name=None, keys=(), axis=(0, 0, 0), center=(0, 0, 0), samples=None, rate=25.0,
                     start=0.0, friction=None, static_friction=None, thickness=None):
        """Adds a body that cloth does not move: still, moved by `keys` as of pins, or deforming by `samples` [k, n, 3]."""
        x = _arrays.points(positions, "positions")
        d = lib.weft_obstacle_def_default()
        first, corners = _arrays.faces(faces, "faces", len(x))
        d.name, d.positions, d.vertex_count = text(name), _arrays.vec3_pointer(x), len(x)
        d.face_start, d.face_vertices, d.face_count = _arrays.int_pointer(first), _arrays.int_pointer(corners), len(first) - 1
        for field, value in (("friction", friction), ("static_friction", static_friction), ("thickness", thickness)):
            if value is not None:
                assign(d, dict(d._fields_), field, value)
        moved = _keys(keys, "key of an obstacle")
        d.key_count = len(list(keys))
        d.keys = ctypes.cast(moved, ctypes.POINTER(_c.weft_pin_key)) if d.key_count else None
        d.axis, d.center = _arrays.vec3(axis, "axis"), _arrays.vec3(center, "center")
        if samples is not None:
            array = _samples(samples, len(x), "samples of an obstacle")
            d.samples, d.sample_count, d.sample_rate, d.sample_start = _arrays.vec3_pointer(array), len(array), rate, start
        number = ctypes.c_int(-1)
        call(lib.weft_sim_add_obstacle, self._handle, ctypes.byref(d), ctypes.byref(number))
        return number.value

    def cloths(self):
        """Names of the cloths by number; removed ones are not in it."""
        count = lib.weft_sim_cloth_count(self._handle)
        return {k: lib.weft_sim_cloth_name(self._handle, k).decode() for k in range(count)
                if lib.weft_sim_has_cloth(self._handle, k)}

    def obstacles(self):
        """Names of the obstacles by number."""
        count = lib.weft_sim_obstacle_count(self._handle)
        return {k: lib.weft_sim_obstacle_name(self._handle, k).decode() for k in range(count)
                if lib.weft_sim_has_obstacle(self._handle, k)}

    # ---- stepping and looking

    def step(self, watch=None):
        """One time step; returns its numbers as a dict, with the names of stats.jsonl. `watch(progress)` is called on the way, and ends the
        step with Cancelled when it returns something true. What it raises is raised here."""
        raised = []

        def look(_, progress):
            try:
                return 1 if watch(_plain(progress.contents)) else 0
            except BaseException as problem:  # it must not pass through C
                raised.append(problem)
                return 1

        hook = _c.weft_progress_fn(look) if watch else ctypes.cast(None, _c.weft_progress_fn)
        lib.weft_sim_watch(self._handle, hook, None)
        stats, error = _c.weft_step_stats(), _c.weft_error()
        status = lib.weft_sim_step(self._handle, ctypes.byref(stats), ctypes.byref(error))
        lib.weft_sim_watch(self._handle, ctypes.cast(None, _c.weft_progress_fn), None)
        if raised:
            raise raised[0]
        check(status, error)
        return _stats(stats)

    def positions(self, cloth=0):
        """A copy [n, 3] in metres, in your order of vertices."""
        return self._copy(lib.weft_sim_positions, cloth)

    def velocities(self, cloth=0):
        """A copy [n, 3] in m/s, in your order of vertices."""
        return self._copy(lib.weft_sim_velocities, cloth)

    def mass(self, cloth=0):
        """kg, of what moves; before the first step, too."""
        out = ctypes.c_double()
        check(lib.weft_sim_mass(self._handle, self._cloth(cloth), ctypes.byref(out)))
        return out.value

    def _copy(self, function, cloth):
        out = np.empty((lib.weft_sim_output_count(self._handle, self._cloth(cloth)), 3))
        function(self._handle, cloth, _arrays.vec3_pointer(out))
        return out

    def borrow(self):
        """The state where it is kept, as read-only views: nothing is copied. They change with the next step or edit; then borrow again."""
        c = _c.weft_sim_arrays()
        call(lib.weft_sim_borrow, self._handle, ctypes.byref(c))
        places = []
        for cloth in range(lib.weft_sim_cloth_count(self._handle)):
            place = np.empty(lib.weft_sim_vertex_count(self._handle, cloth), dtype=np.int32)
            lib.weft_sim_places(self._handle, cloth, _arrays.int_pointer(place))
            places.append(place)
        return Arrays(_arrays.borrowed(c.positions, c.vertex_count, self), _arrays.borrowed(c.velocities, c.vertex_count, self),
                      places)

    def triangles(self, cloth=0):
        """[n, 3] vertices of the cloth, as it collides and is drawn."""
        out = np.empty((lib.weft_sim_triangle_count(self._handle, self._cloth(cloth)), 3), dtype=np.int32)
        lib.weft_sim_triangles(self._handle, cloth, _arrays.int_pointer(out))
        return out

    def obstacle_positions(self, obstacle=0, time=None):
        """[n, 3] m, at a time in s; now, where none is given."""
        if time is not None and not math.isfinite(time):
            raise InputError("time: a finite number of seconds is needed")
        out = np.empty((lib.weft_sim_obstacle_vertex_count(self._handle, self._obstacle(obstacle)), 3))
        call(lib.weft_sim_obstacle_positions, self._handle, obstacle, self.time if time is None else time,
             _arrays.vec3_pointer(out))
        return out

    @property
    def time(self):
        """s"""
        return lib.weft_sim_time(self._handle)

    @property
    def step_count(self):
        return lib.weft_sim_step_count(self._handle)

    @property
    def energy(self):
        """kinetic, stretch, shear, bend, gravity, total in J."""
        return _plain(lib.weft_sim_energy(self._handle))

    def checkpoint(self):
        """Forgets what only saves time, as a run's folder makes it do at the end of each frame: then steps by hand have the bits of a run."""
        lib.weft_sim_checkpoint(self._handle)

    # ---- edits: between steps

    def set_state(self, cloth=0, positions=None, velocities=None):
        """Replaces positions (m) or velocities (m/s) of a cloth."""
        count = lib.weft_sim_vertex_count(self._handle, self._cloth(cloth))
        x = None if positions is None else _arrays.points(positions, "positions", count)
        v = None if velocities is None else _arrays.points(velocities, "velocities", count)
        check(lib.weft_sim_set_state(self._handle, cloth, _arrays.vec3_pointer(x), _arrays.vec3_pointer(v)))

    def set_gravity(self, gravity):
        """m/s^2"""
        call(lib.weft_sim_set_gravity, self._handle, _arrays.vec3(gravity, "gravity"))

    def set_air(self, **air):
        """All of the air: density, drag, friction, wind, gust, ...; without any it is gone."""
        d = lib.weft_sim_def_default()
        self._set(d, "air", air)
        call(lib.weft_sim_set_wind, self._handle, ctypes.byref(d.air))

    def set_material(self, value, cloth=0):
        """A name, a dict or material(...)."""
        call(lib.weft_sim_set_material, self._handle, self._cloth(cloth), ctypes.byref(_material(value)))

    def pin(self, pin, cloth=0):
        """Pins vertices where they are now (a Pin, or their numbers); returns the pin's number."""
        keep, number = [], ctypes.c_int()
        c = _pin(pin, lib.weft_sim_vertex_count(self._handle, self._cloth(cloth)), keep)
        call(lib.weft_sim_pin, self._handle, cloth, ctypes.byref(c), ctypes.byref(number))
        return number.value

    def move(self, pin, targets):
        """Takes the vertices of a pin to `targets` [n, 3] within the next step."""
        count = lib.weft_sim_pin_vertices(self._handle, pin, None, ctypes.byref(ctypes.POINTER(ctypes.c_int)()))
        if count == 0:
            raise NotFoundError(f"there is no pin {pin!r}, or it was let go")
        x = _arrays.points(targets, "targets", count)
        call(lib.weft_sim_move, self._handle, pin, _arrays.vec3_pointer(x))

    def unpin(self, pin):
        """Lets a pin go."""
        call(lib.weft_sim_unpin, self._handle, pin)

    def pins(self, cloth=0):
        """Numbers of the pins that the cloth came with; 0 for those that were let go."""
        return [lib.weft_sim_cloth_pin(self._handle, cloth, k)
                for k in range(lib.weft_sim_cloth_pin_count(self._handle, self._cloth(cloth)))]

    def remove_cloth(self, cloth):
        call(lib.weft_sim_remove_cloth, self._handle, self._cloth(cloth))

    def remove_obstacle(self, obstacle):
        call(lib.weft_sim_remove_obstacle, self._handle, self._obstacle(obstacle))

    def system(self):
        """The linear system that the next step would solve first, as a weft.System."""
        from .solver import System
        handle = ctypes.POINTER(_c.weft_system)()
        call(lib.weft_sim_system, self._handle, ctypes.byref(handle))
        return System._of(handle)


class Scene:
    """A scene that was read and checked: of a file, a name that ships, or a dict."""

    def __init__(self, scene, set=None):  # noqa: A002
        changes = [f"{path}={value if isinstance(value, str) else json.dumps(value)}" for path, value in (set or {}).items()]
        array = (ctypes.c_char_p * max(1, len(changes)))(*[text(c) for c in changes])
        self._scene = ctypes.POINTER(_c.weft_scene)()
        if isinstance(scene, dict):
            call(lib.weft_scene_parse, b"scene.json", json.dumps(scene).encode(), array, len(changes), ctypes.byref(self._scene))
        else:
            call(lib.weft_scene_load, needed(scene, "scene"), array, len(changes), ctypes.byref(self._scene))

    def __del__(self):
        if getattr(self, "_scene", None):
            lib.weft_scene_destroy(self._scene)
            self._scene = None

    def create(self, threads):
        check_threads(threads)
        handle = ctypes.POINTER(_c.weft_sim)()
        call(lib.weft_scene_create_sim, self._scene, threads, ctypes.byref(handle))
        return handle

    @property
    def frames(self):
        return lib.weft_scene_frames(self._scene)

    @property
    def steps_per_frame(self):
        return lib.weft_scene_steps_per_frame(self._scene)

    @property
    def json(self):
        """Every default written out, as a dict."""
        return json.loads(lib.weft_scene_json(self._scene))
