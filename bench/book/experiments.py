"""Experiments of the five works that are runs and pictures rather than benchmarks. Each writes pictures into its folder and returns numbers."""
import json
import math
import os
import struct


class Failed(Exception):
    pass


def _weft(context, folder, *words):
    if not context.weft([str(w) for w in words], os.path.join(folder, "said.txt"), folder):
        raise Failed("weft %s failed, see %s" % (" ".join(map(str, words[:3])), os.path.join(folder, "messages.txt")))


def _run(context, folder, scene, name, *options):
    target = os.path.join(folder, "runs", name)
    _weft(context, folder, "run", scene, "-o", target, "--force", *options)
    return target


def _picture(context, folder, run, name, *options):
    _weft(context, folder, "render", run, "-o", os.path.join(folder, name), *options)


def _scene(folder, name, scene):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1)
    return path


def _last(path):
    """Positions of the last frame of a PC2 file, as a flat list."""
    with open(path, "rb") as file:
        _, _, points, _, _, count = struct.unpack("<12siiffi", file.read(32))
        file.seek(32 + 12 * points * (count - 1))
        return struct.unpack("<%df" % (3 * points), file.read(12 * points))


def _distance(a, b):
    """Mean and largest distance of vertices."""
    each = [math.dist(a[k : k + 3], b[k : k + 3]) for k in range(0, len(a), 3)]
    return sum(each) / len(each), max(each)


def _stats(run):
    with open(os.path.join(run, "stats.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# ---- SA


def strength(context, folder, cells, frames):
    run = _run(context, folder, "re-entrant", "re-entrant", "--set", "cells=%d" % cells, "--frames", frames)
    _picture(context, folder, run, "strength.png", "--show", "strength")
    return {"pictures": ["strength.png"]}


def production(context, folder, cells, frames):
    """A skirt on a body that turns and steps, in place of the paper's dressed character: time of each solve, two solvers."""
    out = {"cells": cells, "solvers": {}}
    for solver in ("diag-pcg", "sa-ppcg"):
        run = _run(context, folder, "skirt", solver, "--set", "cells=%d" % cells, "--frames", frames, "--solver", solver)
        out["solvers"][solver] = [s["setup_s"] + s["solve_s"] for s in _stats(run)]
    _picture(context, folder, run, "skirt.png")
    with open(os.path.join(run, "skirt.obj" if os.path.exists(os.path.join(run, "skirt.obj")) else _first_obj(run)), encoding="utf-8") as file:
        out["vertices"] = sum(line.startswith("v ") for line in file)
    out["pictures"] = ["skirt.png"]
    return out


def _first_obj(run):
    with open(os.path.join(run, "scene.json"), encoding="utf-8") as file:
        return os.path.join(run, json.load(file)["cloth"][0]["name"] + ".obj")


# ---- MPCG


def _matrix(path):
    """A Matrix Market file as a list of rows."""
    with open(path, encoding="utf-8") as file:
        head = file.readline().split()
        lines = [line.split() for line in file if line.strip() and not line.startswith("%")]
    rows, columns = int(lines[0][0]), int(lines[0][1])
    out = [[0.0] * columns for _ in range(rows)]
    if head[2] == "coordinate":
        for i, j, v in lines[1:]:
            out[int(i) - 1][int(j) - 1] = float(v)
            if head[4] == "symmetric":
                out[int(j) - 1][int(i) - 1] = float(v)
    else:
        for k, (v,) in enumerate(lines[1:]):
            out[k % rows][k // rows] = float(v)
    return out


def _dense_solve(a, b):
    """Gaussian elimination with pivots: the report's np.linalg.inv."""
    n = len(b)
    m = [list(a[i]) + [b[i]] for i in range(n)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(m[r][c]))
        m[c], m[p] = m[p], m[c]
        for r in range(c + 1, n):
            f = m[r][c] / m[c][c]
            if f:
                m[r] = [x - f * y for x, y in zip(m[r], m[c])]
    x = [0.0] * n
    for r in range(n - 1, -1, -1):
        x[r] = (m[r][n] - sum(m[r][k] * x[k] for k in range(r + 1, n))) / m[r][r]
    return x


def mpcg(context, folder, steps):
    """Sections 5.1 to 5.3: the 4 x 4 sheet; the solver against a dense inverse of the same system; the mesh at 0, 0.2 and 0.4 s."""
    run = _run(context, folder, "mpcg-4x4", "mpcg-4x4")
    for frame, name in ((0, "t0.png"), (10, "t1.png"), (20, "t2.png")):
        _picture(context, folder, run, name, "--frame", frame, "--edges", "--size", "480x360")
    out = {"pictures": ["t0.png", "t1.png", "t2.png"], "steps": []}
    for step in steps:
        prefix = os.path.join(folder, "system-%d" % step)
        _weft(context, folder, "system", "mpcg-4x4", "--step", step, "-o", prefix)
        _weft(context, folder, "solve", prefix, "--solver", "mpcg", "--tolerance", "1e-12", "-o", prefix + "_x.mtx")
        a, x = _matrix(prefix + ".mtx"), [row[0] for row in _matrix(prefix + "_x.mtx")]
        b = [row[0] for row in _matrix(prefix + "_b.mtx")]
        s = _matrix(prefix + "_filter.mtx")
        held = [i for i in range(len(b)) if s[i][i % 3] == 0.0]
        for i in held:  # rows that the filter takes out: the change is what z says, here zero
            a[i], b[i] = [1.0 if j == i else 0.0 for j in range(len(b))], 0.0
        dense = _dense_solve(a, b)
        size = max(abs(v) for v in dense) or 1.0
        out["steps"].append({"step": step, "held": len(held), "largest_held": max((abs(x[i]) for i in held), default=0.0),
                             "difference": max(abs(u - v) for u, v in zip(x, dense)) / size})
    stats = _stats(run)
    out["iterations"] = [s["iterations"] for s in stats]
    out["max_stretch"] = max(s["max_stretch"] for s in stats)
    return out


# ---- LG


def turns(context, folder, cells, frames, counts):
    """Figure 4: one frame by 1, 10, 100, 1000 turns and by Newton's method."""
    runs, out = {}, {"cells": cells, "frames": frames, "rows": [], "pictures": []}
    common = ["--set", "cells=%d" % cells, "--frames", frames]
    runs["newton"] = _run(context, folder, "curtain", "newton", *common, "--method", "newton")
    for n in counts:
        runs[n] = _run(context, folder, "curtain", str(n), *common, "--set", "local-global.iterations=%d" % n, "--set", "local-global.acceleration=0")
    name = os.path.basename(_first_obj(runs["newton"]))[:-4] + ".pc2"
    exact = _last(os.path.join(runs["newton"], name))
    for key, run in runs.items():
        _picture(context, folder, run, "%s.png" % key, "--size", "480x400")
        out["pictures"].append("%s.png" % key)
        mean, most = _distance(_last(os.path.join(run, name)), exact)
        out["rows"].append({"turns": key, "mean_mm": 1e3 * mean, "largest_mm": 1e3 * most})
    return out


def impact(context, folder, cells, frames, fast, slow):
    """Figures 7 and 8: a ball strikes a hanging sheet, fast and slowly; twenty turns beside Newton."""
    out = {"cells": cells, "rows": [], "pictures": []}
    for kind, speed in (("strong", fast), ("moderate", slow)):
        reach = 0.5  # m of the ball's way; the same at both speeds
        scene = {
            "time_step": 1 / 60, "steps_per_frame": 1, "frames": max(2, round(60 * reach / speed)) + frames, "model": "hooke",
            "method": "newton",
            "cloth": [{"name": "sheet", "mesh": {"grid": {"size": 1, "cells": cells, "plane": "xy"}}, "material": {"base": "cotton", "stretch_warp": 500, "stretch_weft": 500},
                       "pins": [{"where": {"corner": ["top-left", "top-right"]}}]}],
            "obstacles": [{"name": "ball", "shape": {"sphere": {"center": [0, -0.1, -0.3], "radius": 0.15}},
                           "motion": {"path": [{"time": 0}, {"time": reach / speed, "offset": [0, 0, reach]}]}}],
        }
        path = _scene(folder, kind, scene)
        exact = _run(context, folder, path, kind + "-newton")
        ours = _run(context, folder, path, kind + "-local-global", "--method", "local-global", "--set", "local-global.iterations=20")
        for name, run in (("newton", exact), ("local-global", ours)):
            _picture(context, folder, run, "%s-%s.png" % (kind, name), "--size", "480x400")
            out["pictures"].append("%s-%s.png" % (kind, name))
        mean, most = _distance(_last(os.path.join(ours, "sheet.pc2")), _last(os.path.join(exact, "sheet.pc2")))
        bend = [_stats(run)[-1]["energy"]["bend"] for run in (exact, ours)]
        out["rows"].append({"impact": kind, "speed": speed, "mean_mm": 1e3 * mean, "largest_mm": 1e3 * most, "bend_newton": bend[0], "bend_ours": bend[1]})
    return out


# ---- the thesis


def components(context, folder, cells, frames):
    """Figures 6.4 to 6.6: components of a sheet on a table, and of one held in its middle, moments apart."""
    solver = {"name": "decomposed:mpcg", "preconditioner": "constrained", "tolerance": 1e-8}
    middle = {
        "time_step": 0.002, "steps_per_frame": 8, "frames": 3, "model": "choi-ko", "method": "aimex", "aimex": {"bend_explicit": 1}, "solver": solver,
        "contact": {"enabled": False},
        "cloth": [{"name": "sheet", "mesh": {"grid": {"size": 1, "cells": 30}}, "pins": [{"where": {"vertices": [480]}}],
                   "material": {"density": 0.3, "stretch_warp": 300, "stretch_weft": 300, "shear": 8, "bending": 1e-5, "damping": 0}}],
    }
    held = _run(context, folder, _scene(folder, "middle", middle), "middle", "--fields")
    on = _run(context, folder, "table", "table", "--set", "cells=%d" % cells, "--frames", frames, "--set", "model=choi-ko", "--method", "aimex",
              "--set", "solver=%s" % json.dumps(solver), "--fields")
    _picture(context, folder, on, "table.png", "--show", "components")
    _picture(context, folder, held, "first.png", "--show", "components", "--frame", 1)
    _picture(context, folder, held, "later.png", "--show", "components", "--frame", 3)
    counts = {}
    for name, run in (("middle", held), ("table", on)):
        counts[name] = [s["components"] for s in _stats(run)]
    return {"components": counts, "pictures": ["table.png", "first.png", "later.png"]}


# ---- HPBD


def canvases(context, folder, frames):
    run = _run(context, folder, "canvas-row", "canvas-row", "--frames", frames)
    _picture(context, folder, run, "canvas-row.png")
    rows = []
    with open(os.path.join(run, "scene.json"), encoding="utf-8") as file:
        names = [c["name"] for c in json.load(file)["cloth"]]
    for name in names:
        y = _last(os.path.join(run, name + ".pc2"))[1::3]
        rows.append({"canvas": name, "hangs": max(y) - min(y), "times": (max(y) - min(y)) / 2.52})
    return {"rows": rows, "pictures": ["canvas-row.png"]}


def torn(context, folder, cells, frames):
    run = _run(context, folder, "torn", "torn", "--frames", frames, *([] if cells is None else ["--set", "cells=%d" % cells]))
    _picture(context, folder, run, "torn.png")
    path = os.path.join(run, "frames.jsonl")
    changes = 0
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            changes = sum(len(json.loads(line).get("copies", [])) for line in file)
    return {"split_vertices": changes, "pictures": ["torn.png"]}


# function, sizes by form, what the page says was run
EXPERIMENTS = {
    "strength": (strength, {"tiny": {"cells": 8, "frames": 1}, "short": {"cells": 40, "frames": 15}, "long": {"cells": 40, "frames": 15}},
                 "weft run re-entrant, weft render --show strength"),
    "production": (production, {"tiny": {"cells": 8, "frames": 1}, "short": {"cells": 80, "frames": 20}, "long": {"cells": 240, "frames": 60}},
                   "weft run skirt --solver diag-pcg and sa-ppcg"),
    "mpcg": (mpcg, {"tiny": {"steps": [1]}, "short": {"steps": [1, 5, 10, 20]}, "long": {"steps": list(range(1, 21))}},
             "weft run mpcg-4x4, weft system, weft solve --solver mpcg"),
    "turns": (turns, {"tiny": {"cells": 8, "frames": 2, "counts": [1, 10]}, "short": {"cells": 40, "frames": 20, "counts": [1, 10, 100, 1000]},
                      "long": {"cells": 80, "frames": 20, "counts": [1, 10, 100, 1000]}}, "weft run curtain --set local-global.iterations=N"),
    "impact": (impact, {"tiny": {"cells": 6, "frames": 1, "fast": 10, "slow": 5}, "short": {"cells": 20, "frames": 6, "fast": 8, "slow": 1},
                        "long": {"cells": 60, "frames": 10, "fast": 8, "slow": 1}}, "a ball strikes a sheet: weft run by newton and local-global"),
    "components": (components, {"tiny": {"cells": 8, "frames": 1}, "short": {"cells": 30, "frames": 10}, "long": {"cells": 60, "frames": 20}},
                   "weft run --method aimex --solver decomposed:mpcg --fields, weft render --show components"),
    "canvases": (canvases, {"tiny": {"frames": 1}, "short": {"frames": 30}, "long": {"frames": 60}}, "weft run canvas-row"),
    "torn": (torn, {"tiny": {"cells": 10, "frames": 2}, "short": {"cells": None, "frames": 40}, "long": {"cells": None, "frames": 60}}, "weft run torn"),
}
