"""Random hostile scenes, each judged by how the command ends, by `weft inspect`, and by energy.

Half of them are honest: cloth as people have it, thrown at walls, balls and each other in long steps. The other half
abuses numbers: sizes, speeds, materials, pins and motions that nobody would ask for. Such a run may fail in words; it may
not abort or hang, no crossing may be unlisted, and where nothing moves or blows energy must not come from nowhere.
"""
import json, math

from .common import Answer, Part

METHODS = ["implicit-euler"] * 5 + ["newton"] * 3 + ["local-global", "pbd", "hpbd", "bdf2", "imex", "imex2", "aimex", "explicit"]
DISSIPATIVE = ("implicit-euler", "newton")  # no substep of theirs may gain more than their tables say
SECONDS = 120  # of a core


def spread(r, low, high):
    """Evenly in magnitude."""
    return math.exp(r.uniform(math.log(low), math.log(high)))


def direction(r, size):
    return [r.gauss(0, 1) * size for _ in range(3)]


def material(r, abused):
    wide = 100.0 if abused else 3.0
    stretch = 5000 * spread(r, 1 / wide, wide)
    return {"base": "cotton", "density": 0.15 * spread(r, 1 / wide, wide), "stretch_warp": stretch,
            "stretch_weft": stretch * spread(r, 0.5, 2), "shear": stretch * spread(r, 0.003, 0.5),
            "bending": 1e-5 * spread(r, 1 / wide, wide), "damping": r.choice([0, 0.001, 0.01])}


def grid(r, abused):
    size = spread(r, 0.02, 20) if abused else spread(r, 0.3, 2)
    return {"grid": {"size": [size, size * spread(r, 0.2, 5) if abused else size], "cells": r.randint(1 if abused else 4, 12),
                     "tessellation": r.choice(["regular", "irregular"])}}, size


def cloth(r, name, abused, height):
    mesh, size = grid(r, abused)
    c = {"name": name, "mesh": mesh, "material": material(r, abused),
         "transform": {"translate": [r.uniform(-0.1, 0.1), height, r.uniform(-0.1, 0.1)],
                       "rotate": [r.choice([0, 85, r.uniform(-90, 90)]), r.uniform(0, 360), 0]}}
    if r.random() < 0.4:
        c["pins"] = [{"where": {"edge": r.choice(["top", "left"])}}]
    elif r.random() < 0.7:
        c["velocity"] = direction(r, spread(r, 0.1, 100 if abused else 6))
    if abused and r.random() < 0.3 and "pins" in c:
        c["pins"][0]["axis"] = [1, 0, 0]
        c["pins"][0]["path"] = [{"time": 0}, {"time": spread(r, 0.05, 0.5), "offset": direction(r, size), "angle": r.choice([0, 90, 1440])}]
    return c, size


def obstacle(r, k, abused):
    size = spread(r, 0.01, 2) if abused else spread(r, 0.1, 0.5)
    x, y, z = r.uniform(-0.3, 0.3), r.uniform(-0.5, 0.2), r.uniform(-0.3, 0.3)
    shape = r.choice([{"sphere": {"center": [x, y, z], "radius": size}}, {"box": {"center": [x, y, z], "size": [size, size * 0.3, size]}},
                      {"capsule": {"from": [x - size, y, z], "to": [x + size, y, z], "radius": 0.2 * size}}])
    o = {"name": f"body{k}", "shape": shape}
    if r.random() < (0.5 if abused else 0.2):
        o["motion"] = {"path": [{"time": 0}, {"time": spread(r, 0.05, 0.5), "offset": direction(r, spread(r, 0.1, 3))}]}
    return o


def scene_of(r):
    abused = r.random() < 0.5
    cloths = [cloth(r, f"sheet{k}", abused, 0.7 + 0.3 * k) for k in range(r.choice([1, 1, 2]))]
    s = {"time_step": r.choice([1 / 30, 1 / 60, 1 / 120, 0.005]), "steps_per_frame": r.choice([1, 2]), "frames": r.randint(4, 12),
         "method": r.choice(METHODS), "initial_contact": r.choice(["resolve", "settle"]),
         "contact": {"thickness": spread(r, 1e-4, 0.02) if abused else spread(r, 5e-4, 4e-3), "friction": r.choice([0, 0.3, 1])},
         "cloth": [c for c, _ in cloths], "obstacles": [obstacle(r, k, abused) for k in range(r.randint(0, 3))]}
    if r.random() < 0.5:
        s["obstacles"].append({"name": "floor", "shape": {"plane": {"size": 6}}})
    if s["method"] in ("local-global", "pbd", "hpbd"):
        for c in s["cloth"]:
            c["model"] = "hooke"
    return s


def moves(scene):
    return any("motion" in o for o in scene["obstacles"]) or any("path" in p for c in scene["cloth"] for p in c.get("pins", []))


def gained(stats, scene):
    """The largest gain of energy of a step over what there was, and its step; steps that settle a start are not judged."""
    worst, at, before = 0.0, 0, None
    scale = 0.0
    for s in stats:
        e = s["energy"]
        scale = max(scale, e["kinetic"] + e["stretch"] + e["shear"] + e["bend"])
        if before is not None and scale > 0 and not s.get("unsettled") and not s.get("squeezed"):
            gain = (e["total"] - before) / scale
            worst, at = (gain, s["step"]) if gain > worst else (worst, at)
        before = None if s.get("unsettled") or s.get("squeezed") else e["total"]
    return worst, at


class Scenes(Part):
    def __init__(self, c):
        super().__init__(c, "scenes", "random hostile scenes: no abort, no hang, no unlisted crossing, no energy from nowhere")

    def case(self, k, seconds):
        scene = scene_of(self.random(k))
        path, folder = self.c.scratch / "scene.json", self.c.fresh_folder("run")
        text = json.dumps(scene, indent=1)
        path.write_text(text)
        code, said = self.c.run([self.c.weft, "run", path, "-o", folder, "--threads", 1], seconds=SECONDS)
        counts = self.state.setdefault("ends", {})
        counts[str(code)] = counts.get(str(code), 0) + 1
        self.state["note"] = "Exit statuses: " + ", ".join(f"{code}: {n}" for code, n in sorted(counts.items())) + ".\n"
        wrong = self.judge(scene, folder, code, said)
        if code == 2 and "move the bodies apart" not in said and self.c.run([self.c.weft, "check", path])[0] != 0:
            wrong = f"the scene is refused, and tests nothing: {said.strip()[-200:]}"
        return Answer(wrong, self.c.keep(f"scene-{self.c.seed}-{k}.json", text) if wrong else "")

    def judge(self, scene, folder, code, said):
        if code is None:
            return f"more than {SECONDS} s of a core"
        if code not in (0, 1, 2) or (code != 0 and "weft: " not in said):
            return f"exit {code}: {said.strip()[-200:]}"
        if not (folder / "stats.jsonl").exists():
            return ""
        code, said = self.c.run([self.c.weft, "inspect", folder, "--json"], seconds=SECONDS)
        if code not in (0, 1, 2):
            return f"inspect: exit {code}: {said.strip()[-200:]}"
        frames = json.loads(said[said.index("{"):]).get("frames", []) if "{" in said else []
        for f in frames[1:]:
            if f["crossings"] > 0 or f["nonfinite"] > 0:
                return f"frame {f['frame']}: {f['crossings']} crossings that are not listed, {f['nonfinite']} not finite"
        if scene["method"] in DISSIPATIVE and not moves(scene):
            stats = [json.loads(line) for line in (folder / "stats.jsonl").read_text().splitlines()]
            gain, step = gained(stats, scene)
            if gain > 0.05:
                return f"step {step} gains {gain:.2g} of the energy there was"
        return ""


def parts(c):
    return [Scenes(c)]
