"""Random hostile scenes, each judged by how the command ends, by `weft inspect`, and by energy.

A quarter are honest: sheets thrown at walls, balls and each other in long steps. A quarter abuses numbers: sizes, speeds,
materials, pins and motions that nobody would ask for. The other half is dirty (dirty.py): cloth as people have it. Such a
run may fail in words; it may not abort or hang, no crossing may be unlisted, where nothing moves but cloth none may be
squeezed and energy must not come from nowhere, and a run that is stopped and resumed has the bytes of one that was not.
"""
import json, math, re, shutil

from . import dirty
from .common import Answer, Part, bytes_of

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
    """Whether something but cloth moves or pulls, so that energy may come from it."""
    return (any("motion" in o or "deform" in o for o in scene["obstacles"]) or any("path" in p for c in scene["cloth"] for p in c.get("pins", []))
            or "air" in scene or any(key in c for c in scene["cloth"] for key in ("stitch", "bands", "tear", "folds")) or "particles" in scene["contact"])


def gained(stats, lift):
    """The largest gain of energy of a step over what there was, and its step; steps that settle a start are not judged.

    Layers that start closer than their thickness are parted, which lifts the upper one in some steps: in all by no more than `lift`.
    """
    worst, at, before, scale, left = 0.0, 0, None, lift, lift
    for s in stats:
        e = s["energy"]
        scale = max(scale, e["kinetic"] + e["stretch"] + e["shear"] + e["bend"])
        judged = not s.get("unsettled") and not s.get("squeezed")
        if before is not None and scale > 0 and judged:
            rise = e["total"] - before
            lifted = min(max(rise, 0.0), left)
            left -= lifted
            worst, at = max((worst, at), ((rise - lifted) / scale, s["step"]))
        before = e["total"] if judged else None
    return worst, at


class Scenes(Part):
    def __init__(self, c):
        super().__init__(c, "scenes", "random hostile and dirty scenes: no abort, no hang, no unlisted crossing, no energy from nowhere")

    def case(self, k, seconds):
        r = self.random(k)
        place = self.c.fresh_folder("scene")
        place.mkdir()
        path, folder = place / "scene.json", self.c.fresh_folder("run")
        scene, refused = self.draw(r, path)
        wrong = refused or self.judge(r, scene, path, folder)
        if wrong:
            shutil.copytree(place, self.c.findings / f"scene-{self.c.seed}-{k}", dirs_exist_ok=True)
        return Answer(wrong, str(self.c.findings / f"scene-{self.c.seed}-{k}/scene.json") if wrong else "")

    def draw(self, r, path):
        """A scene that weft check takes, and what is wrong with those that it did not."""
        for _ in range(60):
            is_dirty = r.random() < 0.5
            scene = dirty.scene_of(r, path.parent) if is_dirty else scene_of(r)
            path.write_text(json.dumps(scene, indent=1))
            code, said = self.c.run([self.c.weft, "check", path, "--json"], seconds=SECONDS)
            if code == 0:
                self.weight = 9.81 * sum(c["mass"] for c in json.loads(said[said.index("{"):])["cloth"])
                return scene, ""
            if code != 2 or '"error"' not in said:
                return scene, f"check: exit {code}: {said.strip()[-200:]}"
            if not is_dirty and "move the bodies apart" not in said:
                return scene, f"the scene is refused, and tests nothing: {said.strip()[-200:]}"
        return scene, f"60 scenes were refused, the last: {said.strip()[-200:]}"

    def end(self, code):
        counts = self.state.setdefault("ends", {})
        counts[str(code)] = counts.get(str(code), 0) + 1
        self.state["note"] = "Exit statuses: " + ", ".join(f"{code}: {n}" for code, n in sorted(counts.items())) + ".\n"

    def judge(self, r, scene, path, folder):
        words = [self.c.weft, "run", path, "-o", folder, "--threads", 1]
        code, said = self.c.run(words, seconds=SECONDS)
        self.end(code)
        if code is None:
            return f"more than {SECONDS} s of a core"
        if code not in (0, 1, 2) or (code != 0 and "weft: " not in said):
            return f"exit {code}: {said.strip()[-200:]}"
        if not (folder / "stats.jsonl").exists():
            return ""
        stats = [json.loads(line) for line in (folder / "stats.jsonl").read_text().splitlines()]
        return self.inspected(folder) or judge_steps(scene, stats, self.weight) or (self.resumed(r, scene, words, folder) if code == 0 and r.random() < 0.2 else "")

    def inspected(self, folder):
        code, said = self.c.run([self.c.weft, "inspect", folder, "--json"], seconds=SECONDS)
        if code not in (0, 1, 2):
            return f"inspect: exit {code}: {said.strip()[-200:]}"
        frames = json.loads(said[said.index("{"):]).get("frames", []) if "{" in said else []
        for f in frames[1:]:
            if f["crossings"] > 0 or f["nonfinite"] > 0:
                return f"frame {f['frame']}: {f['crossings']} crossings that are not listed, {f['nonfinite']} not finite"
        return ""

    def resumed(self, r, scene, words, folder):
        """Stopped at a frame and gone on with, it must have the same bytes."""
        expected, words = bits_of(folder), words + ["--frames", r.randint(1, scene["frames"])]
        again = self.c.fresh_folder("again")
        words[4] = again
        code, said = self.c.run(words, seconds=SECONDS)
        stopped = words[-1]
        words[-1] = scene["frames"]
        code, said = (code, said) if code != 0 else self.c.run(words + ["--resume"], seconds=SECONDS)
        return "" if code == 0 and bits_of(again) == expected else f"stopped at frame {stopped} and resumed: exit {code}, other bytes: {said.strip()[-200:]}"


def bits_of(folder):
    """Positions as they are written, which is in floats, and energies to the last bit."""
    return bytes_of(folder), re.findall(r'"energy":{[^}]*}', (folder / "stats.jsonl").read_text())


def judge_steps(scene, stats, weight):
    """What is wrong with the steps of a run. Layers that start closer than their thickness are parted, which lifts the upper one."""
    still = not moves(scene)
    squeezed = [s["step"] for s in stats if s["squeezed"]]
    if still and squeezed and scene["initial_contact"] != "settle":
        return f"step {squeezed[0]} has squeezed pairs, where nothing but cloth moves"
    halved = scene.get("step_control", {}).get("max_halvings", 10) == 10  # who forbids shorter steps has asked for it
    if scene["method"] in DISSIPATIVE and still and halved:
        gain, step = gained(stats, weight * scene["contact"]["thickness"])
        if gain > 0.05:
            return f"step {step} gains {gain:.2g} of the energy there was"
    return ""


def parts(c):
    return [Scenes(c)]
