"""Writes a folder as a run's that has what exports must keep: quads, a pentagon, vt with and without seams, corners
without vt, a name with spaces, a body of two objects, a vertex that no face uses, a body that stands still; with --torn
also a cloth whose topology changes.

python3 make_run.py [--torn] DIR
"""
import json
import math
import os
import struct
import sys

FRAMES = 6
CELLS = 4


def place(frame, u, v):
    return (u - 0.5, 0.3 * math.sin(3 * u + 0.4 * frame) + 0.02 * frame * frame, v - 0.5 + 0.05 * frame * v)


def write_cache(path, first, samples):
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(samples[0]), float(first), 1.0, len(samples)))
        for sample in samples:
            for point in sample:
                file.write(struct.pack("<3f", *point))


def write_mesh(path, points, texcoords, faces, objects=None):
    """`objects` names an object at the face that it begins with."""
    with open(path, "w", encoding="utf-8") as file:
        for p in points:
            file.write("v %.17g %.17g %.17g\n" % p)
        for t in texcoords:
            file.write("vt %.17g %.17g\n" % t)
        for k, face in enumerate(faces):
            if k in (objects or {}):
                file.write("o %s\n" % objects[k])
            file.write("f " + " ".join("%d/%d" % (v + 1, t + 1) if t >= 0 else "%d" % (v + 1) for v, t in face) + "\n")


def grid():
    """Quads; the left and right halves have texture coordinates of their own."""
    n = CELLS + 1
    uv = [(i / CELLS, j / CELLS) for j in range(n) for i in range(n)]
    texcoords = [(0.4 * u, v) for u, v in uv] + [(0.5 + 0.4 * u, v) for u, v in uv]
    faces = []
    for j in range(CELLS):
        for i in range(CELLS):
            corners = [j * n + i, j * n + i + 1, (j + 1) * n + i + 1, (j + 1) * n + i]
            shift = 0 if i < CELLS // 2 else n * n
            faces.append([(v, v + shift) for v in corners])
    return uv, texcoords, faces


def write_sheet(folder):
    uv, texcoords, faces = grid()
    faces[0] = [(v, -1) for v, _ in faces[0]]  # a face without vt
    frames = [[place(f, u, v) for u, v in uv] for f in range(FRAMES)]
    write_mesh(os.path.join(folder, "my sheet.obj"), frames[0], texcoords, faces)
    write_cache(os.path.join(folder, "my sheet.pc2"), 0, frames)


def write_flag(folder):
    """No seams."""
    uv, _, faces = grid()
    frames = [[(x, y + 1.0, z) for x, y, z in (place(-f, u, v) for u, v in uv)] for f in range(FRAMES)]
    faces = [[(v, v) for v, _ in face] for face in faces]
    write_mesh(os.path.join(folder, "flag.obj"), frames[0], uv, faces)
    write_cache(os.path.join(folder, "flag.pc2"), 0, frames)


def write_suit(folder):
    """Two objects that share a column of vertices, and a vertex of neither."""
    uv, _, faces = grid()
    uv.insert(7, (0.5, 2.0))
    faces = [[(v + (v >= 7), v + (v >= 7)) for v, _ in face] for face in faces]
    faces = sorted(faces, key=lambda face: uv[face[0][0]][0] >= 0.5)
    frames = [[(x - 2.0, y, z) for x, y, z in (place(2 * f, u, v) for u, v in uv)] for f in range(FRAMES)]
    write_mesh(os.path.join(folder, "suit.obj"), frames[0], uv, faces, {0: "coat", len(faces) // 2: "long trousers"})
    write_cache(os.path.join(folder, "suit.pc2"), 0, frames)


def write_block(folder):
    ring = [(math.cos(2 * math.pi * k / 5), math.sin(2 * math.pi * k / 5)) for k in range(5)]
    points = [(0.2 * x, -0.6, 0.2 * y) for x, y in ring] + [(0.2 * x, -0.4, 0.2 * y) for x, y in ring]
    faces = [[(k, -1) for k in range(5)], [(9 - k, -1) for k in range(5)]]
    faces += [[(k, -1), (k + 5, -1), ((k + 1) % 5 + 5, -1), ((k + 1) % 5, -1)] for k in range(5)]
    write_mesh(os.path.join(folder, "block.obj"), points, [], faces)


def write_torn(folder):
    """At frame 2 the middle column splits from the front edge to the middle, at frame 4 wholly."""
    uv, texcoords, faces = grid()
    n, middle = CELLS + 1, CELLS // 2
    copies = {2: [j * n + middle for j in range(middle)], 4: [j * n + middle for j in range(middle, n)]}
    origin = list(range(n * n))

    def frame(f):
        shift = [0.0] * (n * n) + [0.03 * f] * (len(origin) - n * n)
        return [(x + s + 2.0, y, z) for s, (x, y, z) in zip(shift, (place(f, *uv[o]) for o in origin))]

    lines = []
    for topology, (begin, end) in enumerate([(0, 2), (2, 4), (4, FRAMES)]):
        if topology > 0:
            new = {o: len(origin) + k for k, o in enumerate(copies[begin])}
            origin += copies[begin]
            for k, face in enumerate(faces):
                if k % CELLS >= middle:
                    faces[k] = [(new.get(v, v), t) for v, t in face]
            lines.append({"frame": begin, "body": "torn", "topology": topology, "copies": copies[begin]})
        name = os.path.join(folder, "torn" if topology == 0 else "torn.%d" % topology)
        write_mesh(name + ".obj", frame(0), texcoords, faces)
        write_cache(name + ".pc2", begin, [frame(f) for f in range(begin, end)])
    with open(os.path.join(folder, "frames.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def main():
    folder = sys.argv[-1]
    os.makedirs(folder, exist_ok=True)
    write_sheet(folder)
    write_flag(folder)
    write_suit(folder)
    write_block(folder)
    if "--torn" in sys.argv:
        write_torn(folder)


main()
