"""A run's folder, read without Weft, for the checks of exports: what each frame must hold.

docs/run-folder.md describes the files. Options that the checks share are those of `weft export`.
"""
import argparse
import json
import math
import os
import struct
import sys


class Mesh:
    """One topology of a body: faces as given, with the texture coordinate of each corner (None: it has none)."""

    def __init__(self, path):
        self.rest, self.texcoords, self.faces, self.face_texcoords, self.objects = [], [], [], [], []
        self.lines = []
        # Names of each face, by layer; None: it has none.
        self.names = {"object": [], "group": [], "material": []}
        name = None
        now = dict.fromkeys(self.names)
        words_of = {"o": "object", "g": "group", "usemtl": "material"}
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if not words:
                    continue
                if words[0] in words_of:
                    now[words_of[words[0]]] = line.strip()[len(words[0]) :].strip()
                if words[0] == "v":
                    self.rest.append(tuple(float(w) for w in words[1:4]))
                elif words[0] == "vt":
                    self.texcoords.append(tuple(float(w) for w in words[1:3]))
                elif words[0] == "o":
                    name = line.strip()[1:].strip()
                elif words[0] == "f":
                    self.add_face(words[1:])
                    self.objects.append(name)
                    for layer, names in self.names.items():
                        names.append(now[layer])
                elif words[0] == "l":
                    self.lines.append([int(word) - 1 for word in words[1:]])

    def add_face(self, words):
        corners = [word.split("/") for word in words]
        self.faces.append([int(c[0]) - 1 for c in corners])
        self.face_texcoords.append([self.texcoords[int(c[1]) - 1] if len(c) > 1 and c[1] else None for c in corners])

    def objects_of(self, name):
        """Names and the faces of each; one with the body's name where the file has none."""
        found = {}
        for face, item in enumerate(self.objects):
            found.setdefault(item or name, []).append(face)
        return found

    def vertex_texcoords(self):
        """By vertex, where faces use them; None where a vertex has two or a corner has none."""
        found = {}
        for face, texcoords in zip(self.faces, self.face_texcoords):
            for v, t in zip(face, texcoords):
                if t is None or found.setdefault(v, t) != t:
                    return None
        return found


class Samples:
    """NAME.pc2."""

    def __init__(self, path):
        self.file = open(path, "rb")
        magic, _, self.points, start, _, self.count = struct.unpack("<12siiffi", self.file.read(32))
        assert magic == b"POINTCACHE2\0", path
        self.start = int(start)

    def frame(self, frame):
        self.file.seek(32 + 12 * self.points * (frame - self.start))
        numbers = struct.unpack("<%df" % (3 * self.points), self.file.read(12 * self.points))
        return [numbers[3 * k : 3 * k + 3] for k in range(self.points)]


class Body:
    def __init__(self, folder, name):
        self.name = name
        self.meshes = [Mesh(os.path.join(folder, name + ".obj"))]
        self.starts = [0]
        self.copies = [[]]
        cache = os.path.join(folder, name + ".pc2")
        self.still = not os.path.exists(cache)
        self.samples = [] if self.still else [Samples(cache)]

    def add_topology(self, folder, change):
        name = os.path.join(folder, "%s.%d" % (self.name, change["topology"]))
        self.meshes.append(Mesh(name + ".obj"))
        self.samples.append(Samples(name + ".pc2"))
        self.samples[-1].start = change["frame"]
        self.starts.append(change["frame"])
        self.copies.append(change["copies"])

    def topology(self, frame):
        return max(k for k, start in enumerate(self.starts) if start <= frame)

    def mesh(self, frame):
        return self.meshes[self.topology(frame)]

    def positions(self, frame):
        return self.meshes[0].rest if self.still else self.samples[self.topology(frame)].frame(frame)

    def positions_in(self, frame, topology):
        """In a later topology: copies lie where their origins do."""
        points = list(self.positions(frame))
        for k in range(self.topology(frame) + 1, topology + 1):
            points += [points[origin] for origin in self.copies[k]]
        return points


class Run:
    def __init__(self, folder):
        names = sorted(f[:-4] for f in os.listdir(folder) if f.endswith(".obj"))
        changes = []
        if os.path.exists(os.path.join(folder, "frames.jsonl")):
            with open(os.path.join(folder, "frames.jsonl"), encoding="utf-8") as file:
                changes = [json.loads(line) for line in file if line.strip()]
        torn = {"%s.%d" % (c["body"], c["topology"]) for c in changes}
        self.bodies = {name: Body(folder, name) for name in names if name not in torn}
        for change in changes:
            self.bodies[change["body"]].add_topology(folder, change)
        self.frame_count = min(
            max(s.start + s.count for s in b.samples) for b in self.bodies.values() if not b.still
        )
        self.frame_rate = self.read_rate(os.path.join(folder, "scene.json"))

    @staticmethod
    def read_rate(path):
        if not os.path.exists(path):
            return 25.0
        with open(path, encoding="utf-8") as file:
            scene = json.load(file)
        return 1.0 / (scene["time_step"] * scene["steps_per_frame"])


def arguments(text, words=None):
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("export", help="the exported file or folder")
    parser.add_argument("run", help="the folder of the run")
    parser.add_argument("--frames", default=":", help="A:B, as weft export took it")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--fps", type=float)
    parser.add_argument("--up", default="y")
    return parser.parse_args(words)


class Expected:
    """What an export of the run must hold."""

    def __init__(self, options):
        self.run = Run(options.run)
        first, _, last = options.frames.partition(":")
        self.frames = list(range(int(first or 0), int(last or self.run.frame_count - 1) + 1, options.every))
        self.fps = options.fps or self.run.frame_rate / options.every
        self.every = options.every
        self.up = options.up
        corners = [p for b in self.run.bodies.values() for f in self.frames for p in b.positions(f)]
        low = [min(p[a] for p in corners) for a in range(3)]
        high = [max(p[a] for p in corners) for a in range(3)]
        self.size = math.dist(low, high)
        self.worst = 0.0

    def time(self, k):
        """Seconds of the k-th exported frame: its number in the run by the numbers a second."""
        return self.frames[k] / (self.fps * self.every)

    def compare(self, what, found, wanted, up=None):
        """Positions, to 1e-6 of the size of the scene; `up` where it is not that of the export."""
        if (up or self.up) == "z":
            wanted = [(x, -z, y) for x, y, z in wanted]
        if len(found) != len(wanted):
            fail("%s: %d vertices where the run has %d" % (what, len(found), len(wanted)))
        for v, (a, b) in enumerate(zip(found, wanted)):
            distance = math.dist(a, b)
            self.worst = max(self.worst, distance)
            if not distance <= 1e-6 * self.size:
                fail("%s: vertex %d lies at %s, in the run at %s" % (what, v, tuple(a), tuple(b)))

    def passed(self, reader):
        mapped = any(m.texcoords for b in self.run.bodies.values() for m in b.meshes)
        print(
            "checked: %s, %s and positions of %d bodies in %d frames, largest deviation %.2g m, %.2g of the scene's size"
            % (
                reader,
                "faces, vt" if mapped else "faces",
                len(self.run.bodies),
                len(self.frames),
                self.worst,
                self.worst / self.size,
            )
        )


def fail(message):
    sys.exit("failed: " + message)
