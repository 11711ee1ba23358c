"""Dirty scenes: cloth as people have it, with all that goes wrong in it.

A scene is a place (a body that deforms and presses its arm into its side, a tessellated slope, stairs, a tray of shapes, thin
air), one to four cloths (sheets, tubes around the body, stacks of layers, meshes with slivers, wrinkled or crossing starts),
a way to step (every method, solver, model, long steps), and up to three of the things that people add: rails and pins
that jump, soft pins, limits of strain, creases, knees, tears, bands, folds, regions, stitches, ties, wind, strands, solids.
Meshes and motions are files beside the scene. What no method takes together `weft check` refuses, and is drawn again.
"""
import math, struct

SOLVERS = ["auto"] * 4 + ["cholesky", "diag-pcg", "diag-ppcg", "sa-pcg", "sa-ppcg", "decomposed:auto", "decomposed:sa-ppcg"]
PRECONDITIONERS = ["none", "diagonal", "block", "constrained", "ssor", "ic"]
METHODS = ["implicit-euler"] * 8 + ["newton"] * 3 + ["local-global"] * 4 + ["pbd"] * 2 + ["hpbd"] * 3 + ["bdf2", "imex", "imex2", "aimex", "aimex2", "explicit"]
MODELS = [None] * 5 + ["hooke", "choi-ko", "corotated", {"name": "baraff-witkin", "bending": "hinge"}, {"name": "baraff-witkin", "bending": "exact"}]
FABRICS = ["cotton", "cotton-soft", "wool", "wool-lycra", "polyester", "interlock", "denim", "silk", "linen", "canvas", "leather"]


def spread(r, low, high):
    """Evenly in magnitude."""
    return math.exp(r.uniform(math.log(low), math.log(high)))


def turned(p, axis, angle):
    """About a coordinate axis."""
    c, s, i, j = math.cos(angle), math.sin(angle), (axis + 1) % 3, (axis + 2) % 3
    q = list(p)
    q[i], q[j] = c * p[i] - s * p[j], s * p[i] + c * p[j]
    return q


# ---- files


def write_obj(path, vertices, faces):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices] + ["f " + " ".join(str(k + 1) for k in f) for f in faces]
    path.write_text("\n".join(lines) + "\n")
    return path.name


def write_pc2(path, samples):
    head = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(samples[0]), 0, 1, len(samples))
    path.write_bytes(head + b"".join(struct.pack("<3f", *p) for sample in samples for p in sample))
    return path.name


def capsule(low, high, radius, rings, sides):
    """A closed tube along y with round ends: vertices, faces."""
    rows, faces = [], []
    for k in range(rings + 1):
        t = k / rings
        end = math.sqrt(max(0.0, 1 - (2 * max(0.0, abs(t - 0.5) - 0.3) / 0.4) ** 2 * 0.99))
        rows.append([(radius * end * math.cos(2 * math.pi * s / sides), low + t * (high - low), radius * end * math.sin(2 * math.pi * s / sides)) for s in range(sides)])
    vertices = [p for row in rows for p in row] + [(0, low - 0.1 * radius, 0), (0, high + 0.1 * radius, 0)]
    at = lambda k, s: k * sides + s % sides
    for s in range(sides):
        faces += [(at(k, s), at(k + 1, s), at(k + 1, s + 1), at(k, s + 1)) for k in range(rings)]
        faces += [(at(0, s), at(0, s + 1), len(vertices) - 2), (at(rings, s + 1), at(rings, s), len(vertices) - 1)]
    return vertices, faces


def sheet(n, m, size, height):
    """A grid of quads in xz: vertices, faces."""
    vertices = [[size * (i / n - 0.5), height, size * (j / m - 0.5)] for j in range(m + 1) for i in range(n + 1)]
    at = lambda i, j: j * (n + 1) + i
    return vertices, [(at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)) for j in range(m) for i in range(n)]


# ---- places: obstacles, and where cloth goes: (height, what it is put around)


def body(r, s, folder):
    """A torso with an arm that swings down until it is in its side, and up again; samples as captured, with noise and jumps."""
    radius, sides, rings = r.uniform(0.1, 0.2), r.randint(8, 16), r.randint(6, 10)
    torso, faces = capsule(0, 0.7, radius, rings, sides)
    arm, more = capsule(0, 0.5, 0.35 * radius, rings, max(6, sides // 2))
    faces = faces + [tuple(k + len(torso) for k in f) for f in more]
    swing, sway, noise, count = r.uniform(1.0, 3.0), r.uniform(0, 0.6), r.choice([0, 0, 1e-4, 2e-3]), r.randint(3, 12)
    jump = (r.randrange(count), [r.gauss(0, 0.1) for _ in range(3)]) if r.random() < 0.2 else (-1, [0, 0, 0])
    samples = []
    for k in range(count):
        down = swing * (0.5 - 0.5 * math.cos(2 * math.pi * k / max(1, count - 1)))
        points = []
        for p in torso:
            points.append(turned(p, 2, sway * p[1] * math.sin(1.3 * k)))
        for p in arm:  # from the shoulder sideways, then down
            q = turned(p, 2, -math.pi / 2 - down)
            points.append(turned([q[0] + 0.8 * radius, q[1] + 0.55, q[2]], 2, sway * 0.55 * math.sin(1.3 * k)))
        off = jump[1] if k == jump[0] else [0, 0, 0]
        samples.append([[c + o + r.gauss(0, 1) * noise for c, o in zip(p, off)] for p in points])
    o = {"name": "body", "mesh": {"obj": write_obj(folder / "body.obj", samples[0], faces)},
         "deform": {"pc2": write_pc2(folder / "body.pc2", samples), "rate": r.choice([12, 24, 30, 60]), "loop": r.random() < 0.3}}
    s["obstacles"].append(o)
    return 0.75, 2 * math.pi * radius


def slope(r, s, folder):
    n = r.randint(3, 20)
    vertices, faces = sheet(n, n, 3, 0)
    angle, rough = math.radians(r.choice([0, 10, 25, 45, 60])), r.choice([0, 0, 1e-3, 0.02])
    vertices = [turned([x, r.uniform(0, rough), z], 2, -angle) for x, _, z in vertices]
    s["obstacles"].append({"name": "slope", "mesh": {"obj": write_obj(folder / "slope.obj", vertices, faces)}, "friction": r.choice([0, 0.1, 0.5, 1])})
    return r.choice([0.002, 0.05, 0.4]) + 0.9 * math.tan(angle), 0


def stairs(r, s, folder):
    profile, step = [], r.uniform(0.05, 0.2)
    for k in range(8):
        profile += [(k * step, -k * step), ((k + 1) * step, -k * step)]
    wide = r.randint(1, 6)
    vertices = [[x - 4 * step, y, 2 * (j / wide) - 1] for j in range(wide + 1) for x, y in profile]
    at = lambda i, j: j * len(profile) + i
    faces = [(at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)) for j in range(wide) for i in range(len(profile) - 1)]
    s["obstacles"].append({"name": "stairs", "mesh": {"obj": write_obj(folder / "stairs.obj", vertices, faces)}, "friction": r.choice([0, 0.3])})
    return r.uniform(0.05, 0.4), 0


def shapes(r, s, folder):
    for k in range(r.randint(1, 3)):
        size, at = spread(r, 0.03, 0.4), [r.uniform(-0.3, 0.3), r.uniform(-0.4, 0.1), r.uniform(-0.3, 0.3)]
        shape = r.choice([{"sphere": {"center": at, "radius": size, "segments": r.choice([2, 5, 12])}}, {"box": {"center": at, "size": [size, 0.2 * size, size], "rotate": [r.uniform(0, 90), 0, 20]}},
                          {"cylinder": {"from": at, "to": [at[0] + size, at[1] + size, at[2]], "radius": 0.2 * size, "segments": r.choice([5, 24])}},
                          {"torus": {"center": at, "radius": size, "tube": 0.3 * size, "segments": 16}}])
        o = {"name": f"shape{k}", "shape": shape}
        if r.random() < 0.4:
            o["motion"] = {"path": path_of(r, spread(r, 0.05, 1), 2), "axis": [0, 1, 0.2], "center": at}
        s["obstacles"].append(o)
    return r.uniform(0.3, 0.6), 0


def air(r, s, folder):
    return 1, 0


PLACES = [body, body, body, slope, slope, stairs, shapes, shapes, air]


def path_of(r, size, count):
    """Keys of a motion, some of them jumps."""
    keys, time = [{"time": 0}], 0.0
    for _ in range(count):
        time += spread(r, 1e-4, 0.01) if r.random() < 0.25 else spread(r, 0.03, 0.4)
        keys.append({"time": time, "offset": [r.gauss(0, size) for _ in range(3)], "angle": r.choice([0, 0, 30, -400])})
    return keys


# ---- cloths


def material(r):
    if r.random() < 0.4:
        return {"base": r.choice(FABRICS)}
    stretch = 5000 * spread(r, 0.03, 10)
    return {"base": "cotton", "density": 0.15 * spread(r, 0.2, 4), "stretch_warp": stretch, "stretch_weft": stretch * spread(r, 0.3, 3),
            "shear": stretch * spread(r, 0.003, 0.5), "bending": 1e-5 * spread(r, 0.01, 100), "damping": r.choice([0, 1e-4, 1e-3, 1e-2])}


def grid(r, size):
    cells = r.randint(3, 14)
    return {"grid": {"size": size, "cells": cells + cells % 2, "tessellation": r.choice(["regular", "irregular"]), "seed": r.randint(1, 99),
                     "faces": r.choice(["triangles", "quads"]), "shape": r.choice(["rectangle", "rectangle", "l"])}}


def slivers(r, folder, name, size):
    """A mesh as scanned: vertices almost upon one another, triangles like needles, polygons, any order."""
    n, m = r.randint(4, 12), r.randint(4, 12)
    vertices, faces = sheet(n, m, size, 0)
    for _ in range(r.randint(1, n)):
        a = r.randrange(len(vertices) - 1)
        near, other = spread(r, 1e-4, 0.3), a + 1 if (a + 1) % (n + 1) else a - 1
        vertices[a] = [q + near * (p - q) for p, q in zip(vertices[a], vertices[other])]
    faces = [part for f in faces for part in ([f] if r.random() < 0.3 else [(f[0], f[1], f[2]), (f[0], f[2], f[3])] if r.random() < 0.5 else [(f[0], f[1], f[3]), (f[1], f[2], f[3])])]
    order = list(range(len(vertices)))
    r.shuffle(order)
    place = {v: k for k, v in enumerate(order)}
    return {"obj": write_obj(folder / f"{name}.in.obj", [vertices[v] for v in order], [tuple(place[v] for v in f) for f in faces])}


def wrinkled(r, folder, name, size, height):
    """A rest shape and a start with waves and noise, which may cross itself."""
    n = r.randint(5, 14)
    vertices, faces = sheet(n, n, size, 0)
    waves, high, noise, narrow = r.randint(1, 4), r.uniform(0, 0.12) * size, r.choice([0, 0.1, 0.5]) * size / n, r.uniform(0.6, 1)
    start = [[narrow * x + r.gauss(0, noise), height + 0.1 * size + high * math.sin(waves * 6.28 * x / size + z) + r.gauss(0, noise), z + r.gauss(0, noise)] for x, _, z in vertices]
    return {"obj": write_obj(folder / f"{name}.in.obj", vertices, faces)}, {"obj": write_obj(folder / f"{name}.start.obj", start, faces)}


def cloths(r, folder, height, around):
    out, size = [], spread(r, 0.2, 1.2)
    for k in range(r.choice([1, 1, 1, 2, 2, 3, 4])):
        name = f"cloth{k}"
        c = {"name": name, "material": material(r), "transform": {"translate": [r.uniform(-0.05, 0.05), height, r.uniform(-0.05, 0.05)], "rotate": [0, r.choice([0, r.uniform(0, 360)]), 0]}}
        kind = r.random()
        if around and kind < 0.6:
            loose = r.choice([0.9, 1.05, 1.2, 1.5]) + 0.1 * k
            c["mesh"] = {"grid": {"size": [around * loose, r.uniform(0.2, 0.6)], "cells": r.randint(10, 18), "shape": "tube", "plane": "xy", "tessellation": r.choice(["regular", "irregular"])}}
            c["transform"]["translate"] = [0, r.uniform(0.25, 0.5), 0]
            c["warp"] = [0, 1, 0]
        elif kind < 0.75:
            c["mesh"] = slivers(r, folder, name, size)
        elif kind < 0.9:
            c["mesh"], c["start"] = wrinkled(r, folder, name, size, height)
            del c["transform"]
        else:
            c["mesh"] = grid(r, size)
            c["transform"]["rotate"][0] = r.choice([0, 0, 90, r.uniform(-90, 90)])
        if r.random() < 0.5:
            c["velocity"] = [0, -spread(r, 0.3, 5), 0]
        out.append(c)
        height += r.choice([2e-4, 1e-3, 5e-3, 0.1])  # layers
    return out


# ---- what people add: each takes the scene and may change one cloth


def edge_of(r, c):
    """Which vertices, of any mesh."""
    g = c["mesh"].get("grid")
    if g:
        return {"edge": r.choice(["top", "bottom"] if g.get("shape") == "tube" else ["top", "bottom", "left", "right"])}
    return {"vertices": sorted(r.sample(range(16), r.randint(1, 6)))}


def add_pins(r, s, c, folder):
    pin = {"where": edge_of(r, c)}
    kind = r.random()
    if kind < 0.3:
        pin["fix"] = r.choice([{"line": [1, 0.3, 0]}, {"plane": [0, 1, 0.2]}, {"line": [0, 1, 0]}])
    elif kind < 0.6:
        pin["weights"], pin["stiffness"] = r.choice([0.1, 0.5, 0.9, 0.999]), spread(r, 1e2, 1e6)
    elif kind < 0.7:
        pin["fade"] = r.uniform(0.05, 0.3)
    if r.random() < 0.6:
        pin |= {"path": path_of(r, spread(r, 0.01, 0.4), r.randint(1, 4)), "axis": [0.1, 1, 0], "center": [0, 0.5, 0]}
    elif s["obstacles"] and r.random() < 0.5:
        pin["follow"] = s["obstacles"][0]["name"]
    if r.random() < 0.3:
        pin["release"] = r.uniform(0.01, 0.3)
    c.setdefault("pins", []).append(pin)


def add_limit(r, s, c, folder):
    c["material"]["strain_limit"] = r.choice([0.01, 0.05, 0.2])


def add_crease(r, s, c, folder):
    c["material"]["crease"] = {"curvature": spread(r, 1, 100), "share": r.uniform(0.2, 1)}


def add_knee(r, s, c, folder):
    k = spread(r, 100, 2000)
    c["material"]["stretch_warp"] = {"soft": k, "knee": r.uniform(0, 0.1), "stiff": k * spread(r, 1, 30)}


def add_direction(r, s, c, folder):
    c["material"]["bending"] = {"warp": 1e-5 * spread(r, 0.3, 10), "weft": 1e-5 * spread(r, 0.3, 10)}


def add_tear(r, s, c, folder):
    c["tear"] = spread(r, 5, 500)


def add_band(r, s, c, folder):
    c["bands"] = [{"where": {"edge": "all"}, "rest_scale": r.uniform(0.4, 1.1), "stiffness": spread(r, 1, 100)}]


def add_fold(r, s, c, folder):
    x = r.uniform(-0.1, 0.1)
    c["folds"] = [{"where": {"box": {"min": [x - 0.1, -9, -9], "max": [x + 0.1, 9, 9]}}, "rest_angle": r.uniform(-170, 170)}]


def add_region(r, s, c, folder):
    c["regions"] = [{"where": {"box": {"min": [-9, -9, -9], "max": [0.02, 9, 9]}}, "material": {"base": r.choice(FABRICS)}}]


def add_stitch(r, s, c, folder):
    g = c["mesh"].get("grid")
    if g and g.get("shape") != "tube" and "stitch" not in c:  # the left border to the right one: rolled up while it runs
        n = g["cells"] + 1
        c["mesh"]["grid"] = g | {"shape": "rectangle", "cells": [n - 1, n - 1]}
        c["stitch"] = {"start": 0, "close": r.choice([0.02, 0.1, 0.5]), "pairs": [[j * n, j * n + n - 1] for j in range(n)]}


def add_tie(r, s, c, folder):
    height = c.get("transform", {}).get("translate", [0, 1, 0])[1]
    gap = max(r.choice([1e-4, 2e-3]), 0.025 * s["contact"]["thickness"])  # closer than a fiftieth it lies upon the cloth, and contact leaves it alone
    patch = {"name": "patch", "mesh": {"grid": {"size": 0.08, "cells": r.randint(2, 4)}}, "material": {"base": "denim"}, "transform": {"translate": [0, height + gap, 0]}}
    s["cloth"].append(patch)
    s["ties"] = [{"cloth": "patch", "to": c["name"], "by": r.choice(["vertices", "edges"])}]


def add_wind(r, s, c, folder):
    s["air"] = {"wind": [r.gauss(0, spread(r, 1, 30)) for _ in range(3)], "gust": r.choice([0, 0.5])}


def add_strands(r, s, c, folder):
    s["strands"] = [{"name": "hair", "mesh": {"brush": {"size": 0.1, "count": [r.randint(1, 4), r.randint(1, 3)], "vertices": r.randint(2, 10), "length": r.uniform(0.05, 0.4)}},
                     "transform": {"translate": [0, 1.2, 0]}, "pins": [{"where": {"nearest": [0, 1.2, 0]}}]}]


def add_solid(r, s, c, folder):
    solid = r.choice([{"box": {"size": r.uniform(0.05, 0.3), "cells": r.randint(1, 3)}}, {"ball": {"radius": r.uniform(0.04, 0.15), "cells": 2}}])
    s["volumes"] = [{"name": "solid", "mesh": {"solid": solid}, "transform": {"translate": [r.uniform(-0.2, 0.2), 1.6, 0]}, "velocity": [0, -spread(r, 0.1, 5), 0]}]


def add_speed(r, s, c, folder):
    c["velocity"] = [r.gauss(0, spread(r, 0.3, 10)) for _ in range(3)]


def add_particles(r, s, c, folder):
    s["contact"]["particles"] = {}


ADDED = [add_pins] * 6 + [add_limit, add_limit, add_crease, add_crease, add_knee, add_direction, add_tear, add_tear, add_band, add_fold, add_region, add_stitch, add_stitch,
                          add_tie, add_wind, add_wind, add_strands, add_solid, add_speed, add_speed, add_particles]


def way(r):
    """How it is stepped."""
    time_step, a_frame = r.choice([1 / 24, 1 / 30, 1 / 30, 1 / 60, 1 / 60, 1 / 120, 0.005, 0.002]), r.choice([1, 1, 1, 2, 4])
    steps = min(60, r.uniform(0.2, 0.8) / time_step)
    s = {"time_step": time_step, "steps_per_frame": a_frame, "frames": max(2, round(steps / a_frame)),
         "method": r.choice(METHODS), "solver": {"name": r.choice(SOLVERS), "tolerance": r.choice([1e-2, 1e-4, 1e-4, 1e-8])}}
    if r.random() < 0.15:
        s["solver"] |= {"name": "mpcg", "preconditioner": r.choice(PRECONDITIONERS)}
    model = r.choice(MODELS)
    s |= {"model": model} if model else {}
    s |= r.choice([{}, {}, {"local-global": {"iterations": r.choice([1, 5, 20]), "acceleration": r.randint(0, 3), "collision": r.randint(0, 1), "newton": r.choice([0, 0, 2])}},
                   {"pbd": {"iterations": r.randint(1, 4), "substeps": r.choice([0, 1, 5]), "limits": r.randint(0, 1)}}, {"hpbd": {"hierarchy": r.randint(0, 1), "cycle": r.randint(0, 1), "limits": r.randint(0, 1)}},
                   {"newton": {"hessian": 1}}, {"step_control": {"max_halvings": r.choice([0, 2, 10]), "max_strain": r.choice([0, 0.1])}}])
    return s


def scene_of(r, folder):
    """A scene, its files written into the folder; weft check may still refuse it."""
    s = way(r) | {"obstacles": [], "initial_contact": r.choice(["refuse", "resolve", "settle", "settle"]),
                  "contact": {"thickness": spread(r, 3e-4, 0.01), "friction": r.choice([0, 0.3, {"static": 0.6, "kinetic": 0.2}, 1])}}
    height, around = r.choice(PLACES)(r, s, folder)
    s["cloth"] = cloths(r, folder, height, around)
    for add in r.sample(ADDED, r.choice([0, 1, 1, 2, 2, 3])):
        add(r, s, r.choice(s["cloth"]), folder)
    if s["initial_contact"] == "settle" and len(s["cloth"]) > 1 and r.random() < 0.4:
        s["layers"] = [c["name"] for c in s["cloth"]]
    if r.random() < 0.5:
        s["obstacles"].append({"name": "floor", "shape": {"plane": {"point": [0, -0.5, 0], "size": 6, "segments": r.choice([1, 7])}}})
    return s
