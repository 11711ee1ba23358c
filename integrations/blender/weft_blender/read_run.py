"""A run's folder as docs/run-folder.md describes it, read without Blender: bodies, topologies, caches, frame rate."""
import json
import os
import struct

import numpy as np

from .build_scene import HEADER, NAMES_FILE, SceneError


class ObjMesh:
    """What Weft writes of OBJ: vertices, texture coordinates, faces, lines, names of groups and materials."""

    def __init__(self, path):
        self.points, self.texcoords = [], []
        self.faces, self.face_texcoords, self.lines = [], [], []
        self.face_materials, self.materials = [], []
        self.face_groups, self.groups = [], []
        material = group = -1
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if not words or words[0].startswith("#"):
                    continue
                kind = words[0]
                if kind == "v":
                    self.points.append((float(words[1]), float(words[2]), float(words[3])))
                elif kind == "vt":
                    self.texcoords.append((float(words[1]), float(words[2])))
                elif kind == "f":
                    corners = [w.split("/") for w in words[1:]]
                    self.faces.append([int(c[0]) - 1 for c in corners])
                    self.face_texcoords.append([int(c[1]) - 1 if len(c) > 1 and c[1] else -1 for c in corners])
                    self.face_materials.append(material)
                    self.face_groups.append(group)
                elif kind == "l":
                    self.lines.append([int(w) - 1 for w in words[1:]])
                elif kind == "usemtl":
                    material = self._number(self.materials, line)
                elif kind in ("g", "o"):
                    group = self._number(self.groups, line)

    @staticmethod
    def _number(names, line):
        name = line.strip().split(None, 1)[1] if len(line.split()) > 1 else "default"
        if name not in names:
            names.append(name)
        return names.index(name)

    @property
    def edges(self):
        return [(line[k], line[k + 1]) for line in self.lines for k in range(len(line) - 1)]


def read_header(path):
    """(points, start frame, samples) of a PC2 file; samples that the header counts are complete."""
    with open(path, "rb") as file:
        data = file.read(struct.calcsize(HEADER))
    try:
        magic, _, points, start, _, count = struct.unpack(HEADER, data)
    except struct.error:
        magic = b""
    if magic[:11] != b"POINTCACHE2":
        raise SceneError("%s is not a PC2 file" % path)
    return points, int(start), count


def read_sample(path, index):
    points, _, count = read_header(path)
    if not 0 <= index < count:
        raise SceneError("%s has %d samples, not %d" % (path, count, index + 1))
    with open(path, "rb") as file:
        file.seek(struct.calcsize(HEADER) + 12 * points * index)
        return np.frombuffer(file.read(12 * points), dtype="<f4").reshape(points, 3)


class Topology:
    """A mesh, its cache (None: it stands still), and the frames in which it is shown: [first, end), end None: to the last."""

    def __init__(self, mesh_path, cache_path, first, end=None):
        self.mesh_path, self.cache_path = mesh_path, cache_path
        self.first, self.end = first, end


class RunBody:
    def __init__(self, key, label, obstacle):
        self.key, self.label, self.obstacle = key, label, obstacle
        self.topologies = []


def _load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        raise SceneError("%s: %s" % (path, error)) from None


class Run:
    def __init__(self, folder):
        self.folder = folder
        if not os.path.isdir(folder):
            raise SceneError("%s is not a folder" % folder)
        scene_path = os.path.join(folder, "scene.json")
        self.scene = _load(scene_path) if os.path.isfile(scene_path) else None
        self.rate = 25.0
        if self.scene and "time_step" in self.scene and "steps_per_frame" in self.scene:
            self.rate = 1.0 / (self.scene["time_step"] * self.scene["steps_per_frame"])
        self.names = self._names()
        self.bodies = []
        self._find_bodies()
        if not self.bodies:
            raise SceneError("%s holds no run: there is no NAME.obj in it" % folder)
        self._changes()
        counts = [self.frame_end(b) for b in self.bodies if not b.obstacle and b.topologies[-1].cache_path]
        self.frame_count = max(counts) if counts else 1

    def _names(self):
        for folder in (self.folder, os.path.dirname(os.path.abspath(self.folder))):
            path = os.path.join(folder, NAMES_FILE)
            if os.path.isfile(path):
                names = _load(path).get("names")
                return names if isinstance(names, dict) else {}
        return {}

    def _listed(self):
        """(name, obstacle) of each body of the scene as it ran; every default is written out in it, names as well."""
        for kind in ("cloth", "strands", "volumes", "obstacles"):
            for item in self.scene.get(kind) or ():
                if isinstance(item, dict) and "name" in item:
                    yield item["name"], kind == "obstacles"

    def _find_bodies(self):
        if self.scene:
            found = list(self._listed())
        else:
            names = sorted(f[:-4] for f in os.listdir(self.folder) if f.endswith(".obj"))
            found = [(n, not os.path.isfile(os.path.join(self.folder, n + ".pc2"))) for n in names if "." not in n]
        for name, obstacle in found:
            self._add(name, name, obstacle, 0)

    def _add(self, key, stem, obstacle, first):
        path = os.path.join(self.folder, stem)
        if not os.path.isfile(path + ".obj"):
            return None
        body = RunBody(key, self.names.get(key, key), obstacle)
        body.topologies.append(Topology(path + ".obj", path + ".pc2" if os.path.isfile(path + ".pc2") else None, first))
        self.bodies.append(body)
        return body

    def _changes(self):
        """frames.jsonl: cloth that tore, bodies that came and went. A line without an end does not count."""
        path = os.path.join(self.folder, "frames.jsonl")
        if not os.path.isfile(path):
            return
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n") and line.strip()]
        by_key = {b.key: b for b in self.bodies}
        for line in lines:
            body = by_key.get(line["body"])
            if line.get("gone"):
                if body:
                    body.topologies[-1].end = line["frame"]
            elif "list" in line:
                body = body or self._add(line["body"], line["body"], line["list"] == "obstacles", line["frame"])
                if body:
                    body.topologies[0].first = line["frame"]
                    by_key[body.key] = body
            elif body:
                stem = os.path.join(self.folder, "%s.%d" % (body.key, line["topology"]))
                body.topologies[-1].end = line["frame"]
                body.topologies.append(Topology(stem + ".obj", stem + ".pc2", line["frame"]))

    @staticmethod
    def frame_end(body):
        last = body.topologies[-1]
        return last.first + read_header(last.cache_path)[2]
