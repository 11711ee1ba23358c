"""From meshes as Blender has them to a scene file of Weft, without Blender, so that it can be tested alone.

Blender's z points up and its unit is `unit` metres; Weft's y points up and its unit is a metre: (x, y, z) becomes
unit (x, z, -y). Meshes are written as OBJ files, motion as PC2 samples, both as floats: what a sample says of a
vertex at the start is what the OBJ file says, to the bit.
"""
import json
import os
import re
import struct
import unicodedata

import numpy as np

HEADER = "<12siiffi"
SCENE_FILE = "scene.json"
NAMES_FILE = "blender.json"


class SceneError(Exception):
    """What is wrong, as a sentence for the user."""


# ---- axes


def to_weft(points, unit=1.0):
    """[n, 3] in Blender's world, as floats in Weft's."""
    p = np.asarray(points, dtype=np.float64) * unit
    return np.stack((p[:, 0], p[:, 2], -p[:, 1]), axis=1).astype(np.float32)


def from_weft(points, unit=1.0):
    p = np.asarray(points, dtype=np.float64) / unit
    return np.stack((p[:, 0], -p[:, 2], p[:, 1]), axis=1).astype(np.float32)


def vector_to_weft(v):
    return [float(v[0]), float(v[2]), -float(v[1])]


# ---- names


def body_name(name):
    """Letters, digits, - and _ alone: what Weft takes, and every file system."""
    text = name.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    text = text.replace("Ä", "Ae").replace("Ö", "Oe").replace("Ü", "Ue")
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:80] or "body"


def body_names(names):
    """One for each, no two of which differ only in case."""
    taken, out = set(), []
    for name in names:
        base = text = body_name(name)
        count = 1
        while text.lower() in taken:
            count += 1
            text = "%s-%d" % (base, count)
        taken.add(text.lower())
        out.append(text)
    return out


# ---- meshes and samples


class Mesh:
    """Polygons: `corners[starts[f] : starts[f + 1]]` are the vertices of face f, `uv` has a pair for each corner."""

    def __init__(self, points, corners, starts, uv=None, face_materials=None, materials=()):
        self.points = points  # [n, 3] floats in Weft's world, m
        self.corners, self.starts, self.uv = corners, starts, uv
        self.face_materials, self.materials = face_materials, materials

    @property
    def face_count(self):
        return len(self.starts) - 1

    def triangle_faces(self):
        """The face that each triangle is of, as Weft cuts polygons: n - 2 triangles each, in order."""
        return np.repeat(np.arange(self.face_count), np.maximum(np.diff(self.starts) - 2, 0))

    def flip(self):
        """Faces look to the other side."""
        for f in range(self.face_count):
            span = slice(self.starts[f], self.starts[f + 1])
            self.corners[span] = self.corners[span][::-1].copy()
            if self.uv is not None:
                self.uv[span] = self.uv[span][::-1].copy()


def write_obj(path, mesh, name):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("o %s\n" % name)
        file.writelines("v %.9g %.9g %.9g\n" % tuple(p) for p in mesh.points.tolist())
        if mesh.uv is not None:
            file.writelines("vt %.9g %.9g\n" % tuple(t) for t in mesh.uv.tolist())
        corners = (mesh.corners + 1).tolist()
        material = None
        for f in range(mesh.face_count):
            begin, end = int(mesh.starts[f]), int(mesh.starts[f + 1])
            if mesh.materials and mesh.face_materials is not None and mesh.face_materials[f] != material:
                material = mesh.face_materials[f]
                file.write("usemtl %s\n" % mesh.materials[min(int(material), len(mesh.materials) - 1)])
            if mesh.uv is None:
                words = (str(c) for c in corners[begin:end])
            else:
                words = ("%d/%d" % (corners[k], k + 1) for k in range(begin, end))
            file.write("f " + " ".join(words) + "\n")


class Samples:
    """A PC2 file that is written sample by sample."""

    def __init__(self, path, point_count):
        self.path, self.point_count, self.count = path, point_count, 0
        self.first, self.moved = None, False
        self.file = open(path, "wb")
        self._header()

    def _header(self):
        self.file.write(struct.pack(HEADER, b"POINTCACHE2\0", 1, self.point_count, 0.0, 1.0, self.count))

    def add(self, points):
        if self.first is None:
            self.first = points
        elif not self.moved:
            self.moved = not np.array_equal(points, self.first)
        self.file.write(np.ascontiguousarray(points, dtype="<f4").tobytes())
        self.count += 1

    def close(self):
        """Whether anything moved; a file of which nothing did is not kept."""
        if self.file:
            self.file.seek(0)
            self._header()
            self.file.close()
            self.file = None
            if not self.moved:
                os.remove(self.path)
        return self.moved


# ---- the scene


class Settings:
    """Of the scene, in Weft's axes and units."""

    def __init__(self, **values):
        self.frames = 0
        self.fps = 24.0
        self.steps_per_frame = 8
        self.sample_rate = 24.0
        self.method, self.solver = "implicit-euler", "auto"
        self.gravity = [0.0, -9.81, 0.0]
        self.wind = None
        self.friction, self.thickness = 0.3, 0.001
        self.initial_contact = "refuse"
        self.extra = {}
        for key, value in values.items():
            if not hasattr(self, key):
                raise TypeError("no setting %s" % key)
            setattr(self, key, value)


class Body:
    """A cloth or an obstacle. `label` is the name that the user knows."""

    def __init__(self, role, label, key, mesh):
        self.role, self.label, self.key, self.mesh = role, label, key, mesh
        self.samples_file = None  # where its vertices are, if they move
        self.pins = {}  # vertex: weight
        self.pin_stiffness = None  # 1/s²: weights below one pull softly; None: all are held
        self.material = "cotton"
        self.rest, self.uv_scale = "shape", 1.0
        self.friction = self.thickness = None
        self.extra = {}


def parse_extra(text, what):
    """A JSON object that is put over what the panel says; empty text is an empty one."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SceneError('%s: the additional keys are not JSON (%s); for example {"friction": 0.5}' % (what, error)) from None
    if not isinstance(value, dict):
        raise SceneError('%s: the additional keys must be a JSON object; for example {"friction": 0.5}' % what)
    return value


def merge(into, extra):
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
    return into


def _common(body):
    out = {"name": body.key, "mesh": {"obj": body.key + ".obj"}}
    for key in ("friction", "thickness"):
        if getattr(body, key) is not None:
            out[key] = getattr(body, key)
    return out


def _pins(body, settings):
    if not body.pins:
        return []
    pin = {"where": {"vertices": sorted(body.pins)}}
    if body.pin_stiffness is not None:
        pin.update(weights=[body.pins[v] for v in sorted(body.pins)], stiffness=body.pin_stiffness)
    if body.samples_file:
        pin["samples"] = {"pc2": body.samples_file, "rate": settings.sample_rate}
    return [pin]


def cloth_block(body, settings):
    out = _common(body)
    out["material"] = body.material
    if body.rest == "uv":
        out.update(rest="uv", uv_scale=body.uv_scale)
    pins = _pins(body, settings)
    if pins:
        out["pins"] = pins
    return merge(out, body.extra)


def obstacle_block(body, settings):
    out = _common(body)
    if body.samples_file:
        out["deform"] = {"pc2": body.samples_file, "rate": settings.sample_rate}
    return merge(out, body.extra)


def scene_block(settings, bodies):
    """The scene as a dict; the files that it names stand beside it."""
    cloths = [b for b in bodies if b.role == "CLOTH"]
    if not cloths:
        raise SceneError("no object is cloth: select a mesh and give it the role Cloth")
    out = {
        "time_step": 1.0 / (settings.fps * settings.steps_per_frame),
        "steps_per_frame": settings.steps_per_frame,
        "frames": settings.frames,
        "gravity": settings.gravity,
        "method": settings.method,
        "solver": settings.solver,
        "initial_contact": settings.initial_contact,
        "contact": {"friction": settings.friction, "thickness": settings.thickness},
        "cloth": [cloth_block(b, settings) for b in cloths],
        "obstacles": [obstacle_block(b, settings) for b in bodies if b.role == "OBSTACLE"],
    }
    if settings.wind is not None:
        out["air"] = {"wind": settings.wind}
    return merge(out, settings.extra)


def write_scene(folder, settings, bodies, about=None):
    """Writes scene.json and the meshes; samples are there already. Returns the scene file's path."""
    for body in bodies:
        write_obj(os.path.join(folder, body.key + ".obj"), body.mesh, body.key)
    scene = scene_block(settings, bodies)
    path = os.path.join(folder, SCENE_FILE)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1, ensure_ascii=False)
    with open(os.path.join(folder, NAMES_FILE), "w", encoding="utf-8") as file:
        json.dump(dict(about or {}, names={b.key: b.label for b in bodies}), file, indent=1, ensure_ascii=False)
    return path


def write_start(folder, bodies):
    """The start as a cache of one frame, which `weft inspect` judges: cloths with a sample, obstacles without."""
    for body in bodies:
        path = os.path.join(folder, body.key)
        write_obj(path + ".obj", body.mesh, body.key)
        if body.role == "CLOTH":
            with open(path + ".pc2", "wb") as file:
                file.write(struct.pack(HEADER, b"POINTCACHE2\0", 1, len(body.mesh.points), 0.0, 1.0, 1))
                file.write(np.ascontiguousarray(body.mesh.points, dtype="<f4").tobytes())


def crossing_faces(pairs, bodies):
    """Faces of each body (by key) that `weft inspect --json` lists; None in place of a set: the body as a whole."""
    by_key = {b.key: b for b in bodies}
    out = {}
    for pair in pairs:
        for name, triangle in zip(pair["bodies"], pair.get("triangles") or ()):
            body = by_key.get(name)
            if body is not None and triangle is not None:
                of = body.mesh.triangle_faces()
                if 0 <= triangle < len(of):
                    out.setdefault(name, set()).add(int(of[triangle]))
    return out
