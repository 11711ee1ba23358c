"""Writes a garment with a uv map, two groups and materials and an open seam, from the T-shirt of the public test data, and a
scene that welds and drapes it beside a body that turns: python3 make_garment.py TSHIRT.obj FOLDER
"""
import os
import sys


def main():
    source, folder = sys.argv[1:]
    vertices, texcoords, faces = [], [], []
    with open(source, encoding="utf-8") as file:
        for line in file:
            word = line.split(" ", 1)[0]
            if word in ("v", "vt"):
                (vertices if word == "v" else texcoords).append(line)
            elif word == "f":
                faces.append([corner.split("/")[:2] for corner in line.split()[1:]])
    x = [float(line.split()[1]) for line in vertices]
    sides = [[], []]
    for face in faces:
        sides[sum(x[int(v) - 1] for v, _ in face) >= 0].append(face)
    used = [{int(v) for face in side for v, _ in face} for side in sides]
    copies = {v: len(vertices) + 1 + k for k, v in enumerate(sorted(used[0] & used[1]))}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "garment.obj"), "w", encoding="utf-8") as out:
        out.write("mtllib two parts.mtl\n" + "".join(vertices) + "".join(vertices[v - 1] for v in sorted(copies)))
        out.write("".join(texcoords) + "o shirt\n")
        for names, side, own in zip((("left", "denim blue"), ("right", "lace")), sides, ({}, copies)):
            out.write("g %s\nusemtl %s\n" % names)
            for face in side:
                out.write("f %s\n" % " ".join("%d/%s" % (own.get(int(v), int(v)), t) for v, t in face))
    with open(os.path.join(folder, "box.obj"), "w", encoding="utf-8") as out:
        out.write("v 0 -5 0\nv 1 -5 0\nv 1 -5 1\nv 0 -5 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl red\ng floor\nf 1/1 2/2 3/3 4/4\n")
    with open(os.path.join(folder, "scene.json"), "w", encoding="utf-8") as out:
        out.write(
            '{"frames": 4, "time_step": 0.01, "steps_per_frame": 2,\n'
            ' "cloth": [{"name": "shirt", "mesh": {"obj": "garment.obj", "scale": 0.1, "weld": 1e-6}, "thickness": 0.0003}],\n'
            ' "obstacles": [{"name": "box", "mesh": {"obj": "box.obj"}, "motion": {"axis": [0, 1, 0], "path": [{"time": 0},\n'
            '   {"time": 1, "offset": [0, 1, 0], "angle": 90}]}}]}\n'
        )


main()
