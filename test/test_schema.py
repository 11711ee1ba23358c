"""Holds scenes/schema.json against the scenes that ship, the examples of the scene reference, and wrong scenes.

Usage: test_schema.py [WEFT]   with the command WEFT, `weft check` must agree on every case.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOTH = {"mesh": {"grid": {"cells": 4}}}


def blank_comments(text):
    """Turns comments into spaces, as the loader does; strings are left alone."""
    pattern = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
    return pattern.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)


def cloth(**keys):
    return {"cloth": [dict(CLOTH, **keys)]}


def grid(**keys):
    return {"cloth": [{"mesh": {"grid": keys}}]}


def pin(**keys):
    return cloth(pins=[dict({"where": {"edge": "top"}}, **keys)])


def obstacle(**keys):
    return scene(obstacles=[keys])


def shape(name, **keys):
    return obstacle(shape={name: keys})


def strands(**keys):
    return {"strands": [dict({"mesh": {"brush": {"count": [2, 1], "vertices": 3}}}, **keys)]}


def solid(**shape):
    return {"volumes": [{"mesh": {"solid": shape}}]}


def exclude(*items):
    return scene(obstacles=[{"name": "ball", "shape": {"sphere": {"radius": 1}}}], contact={"exclude": list(items)})


def scene(**keys):
    # Far from all obstacles: a scene that starts with a crossing is refused.
    away = dict(CLOTH, transform={"translate": [0, 50, 0]}) if keys.get("obstacles") else CLOTH
    return dict({"cloth": [away]}, **keys)


GOOD = [
    strands(material={"density": 0.01, "stretch": 10, "bending": 0, "damping": 0}, radius=0.001),
    strands(mesh={"brush": {"size": [0.1, 0.2], "count": [1, 3], "vertices": 2, "length": 1, "spread": 0.5}}),
    strands(pins=[{"where": {"edge": "all"}}], model="hooke", vertex_mass=0.1),
    solid(box={"size": [1, 2, 3], "cells": [1, 2, 3]}),
    solid(bar={"size": [1, 0.1], "cells": 5}),
    solid(ball={"radius": 0.1}),
    {"volumes": [{"mesh": {"solid": {"box": {"size": 1, "cells": 1}}}, "thickness": 0.002,
                  "material": {"density": 1, "young_modulus": 0, "damping": 0}}]},
    scene(),
    scene(solver={"name": "mpcg", "preconditioner": None, "tolerance": 1e-8, "max_iterations": 10}),
    scene(solver={"name": "sa-ppcg", "sa": {"theta": 0.3, "degree": 3}}),
    scene(solver={"sa": {}}),
    scene(solver="cholesky", newton={"tolerance": 1e-9, "iterations": 3}, step_control={"max_halvings": 0}),
    scene(air={"wind": [1, 0, 0]}, model={"bending": "hinge"}, obstacles=[], frames=0, kernels="auto"),
    scene(model="baraff-witkin", description="x", **{"$schema": "schema.json"}),
    grid(size=2, cells=[3, 4], tessellation="irregular", faces="quads", plane="xy", shape="rectangle", seed=3),
    cloth(material="denim", warp=[0, 0, 1], velocity=[0, 1, 0], vertex_mass=0.1, rest="shape", uv_scale=2),
    cloth(material={"base": "silk", "bending": 1e-4}, transform={"translate": [1, 2, 3], "rotate": [0, 0, 90], "scale": 2}),
    cloth(material={"young_modulus": 1e6, "poisson_ratio": 0.3, "thickness": 1e-3, "volume_density": 300}),
    cloth(material={"young_modulus": 1e6, "poisson_ratio": 0.3, "thickness": 1e-3, "density": 0.3}),
    cloth(forces=[{"where": {"nearest": [0, 0, 0]}, "force": [0, 0, 1]}]),
    pin(fix="point", release=None),
    pin(fix={"line": [0, 1, 0]}, release=1),
    pin(fix={"plane": [0, 1, 0]}, path=[{"time": 0}, {"time": 1, "offset": [0, 1, 0], "angle": 3}], axis=[0, 1, 0]),
    pin(where={"vertices": [0]}, samples={"positions": [0, 1, 2, 3, 4, 5], "rate": 10, "start": -1}),
    cloth(mesh={"obj": "shirt.obj", "weld": 0}, pins=[{"where": {"vertices": [1]}, "samples": {"pc2": "shirt.pc2"}}]),
    pin(follow=None),
    pin(where={"edge": ["left", "right"]}),
    pin(where={"corner": "top-left"}),
    pin(where={"vertices": [0, 3]}),
    pin(where={"box": {"min": [-1, -1, -1], "max": [1, 1, 1]}}),
    shape("plane"),
    shape("plane", point=[0, 1, 0], normal=[1, 1, 0], size=3, segments=4),
    shape("sphere", center=[0, 1, 0], radius=0.3, segments=5),
    shape("box", size=1),
    shape("box", center=[0, 1, 0], size=[1, 2, 3], rotate=[1, 2, 3], hole=0.5, segments=2),
    shape("cylinder", **{"from": [0, 0, 0], "to": [0, 1, 0], "radius": 0.1, "segments": 3}),
    shape("capsule", **{"from": [0, 0, 0], "to": [0, 1, 0], "radius": 0.1}),
    shape("torus", center=[0, 0, 0], axis=[1, 0, 0], radius=0.3, tube=0.1, segments=12),
    obstacle(name="ball", shape={"sphere": {"radius": 1}}, friction=0, thickness=1e-4,
             motion={"path": [{"time": 0}, {"time": 1, "offset": [0, 1, 0], "angle": 90}], "axis": [0, 1, 0], "center": [0, 0, 0]}),
    obstacle(mesh={"obj": "shirt.obj", "scale": 0.01}, transform={"rotate": [0, 90, 0]}, motion={}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"obj_sequence": "shirt_%02d.obj", "first": 1, "last": 1, "rate": 10, "start": -1}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"pc2": "shirt.pc2", "rate": 10}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"pc2": "shirt.pc2", "speed": 2, "offset": 0, "loop": True}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"pc2": "shirt.pc2", "loop": 1}),
    obstacle(mesh={"gltf": "body.gltf"}),
    obstacle(mesh={"gltf": "body.gltf"}, regions=[{"object": "leg", "friction": 0.1}, {"faces": [0], "thickness": 0.01}]),
    obstacle(shape={"plane": {}}, regions=[{"where": {"box": {"min": [-9, -9, -9], "max": [9, 9, 9]}}, "friction": None}]),
    obstacle(mesh={"gltf": "body.gltf", "object": "leg", "scale": 2}, deform={"animation": "turn", "loop": True, "rate": 1000}),
    obstacle(mesh={"gltf": "body.gltf", "object": None}, deform={"animation": 0, "speed": 0.5, "offset": 0.1, "start": 1}),
    exclude(),
    exclude({"pair": ["cloth1", "ball"]}, {"pair": ["cloth1", "cloth1"], "where": {"edge": "top"}}),
    scene(contact={}),
    scene(ties=[]),
    scene(ties=[{"cloth": "cloth1", "to": "cloth1", "where": {"corner": "top-left"}, "by": "vertices"}]),
]

BAD = [
    strands(thickness=0.1),
    strands(radius=0),
    strands(warp=[1, 0, 0]),
    strands(material="denim"),
    strands(material={"shear": 1}),
    strands(material={"density": 0}),
    strands(mesh={"grid": {}}),
    strands(mesh={"brush": {"vertices": 1}}),
    strands(mesh={"brush": {"count": 3}}),
    strands(mesh={}),
    {"strands": [{}]},
    solid(),
    solid(box={}),
    solid(box={"size": 0}),
    solid(bar={"size": 1}),
    solid(ball={"radius": 0.1, "cells": 0}),
    solid(ball={"radius": 0.1}, box={"size": 1}),
    solid(cone={}),
    {"volumes": [{"mesh": {"tets": "body.stl"}}]},
    {"volumes": [{"mesh": {"solid": {"ball": {"radius": 1}}}, "radius": 1}]},
    {"volumes": [{"mesh": {"solid": {"ball": {"radius": 1}}}, "material": {"bending": 1}}]},
    cloth(radius=0.1),
    cloth(mesh={"brush": {}}),
    cloth(mesh={"solid": {"ball": {"radius": 1}}}),
    [],
    {},
    {"cloth": []},
    {"cloth": {}},
    {"cloth": [{}]},
    scene(time_stp=1),
    scene(time_step=0),
    scene(time_step="1"),
    scene(frames=1.5),
    scene(frames=-1),
    scene(steps_per_frame=0),
    scene(gravity=[1, 2]),
    scene(gravity=9.81),
    scene(method=3),
    scene(solver=3),
    scene(solver={"tolerance": 0}),
    scene(solver={"tolerence": 1e-3}),
    scene(solver={"sa": 3}),
    scene(solver={"sa": {"thetta": 0.3}}),
    scene(solver={"sa": {"theta": "0.3"}}),
    scene(newton={"iterations": 0}),
    scene(step_control={"max_halvings": 11}),
    scene(step_control={"max_stretch": 1}),
    scene(air={"drag": -1}),
    scene(air={"gust_period": 0}),
    scene(model={"bending": "hing"}),
    scene(kernels="sse"),
    scene(obstacles=[{}]),
    cloth(name="a/b"),
    cloth(name=""),
    cloth(rest="flat"),
    cloth(warp=[1, 0]),
    cloth(uv_scale=0),
    cloth(vertex_mass=-1),
    cloth(transform={"scale": 0}),
    cloth(material="coton"),
    cloth(material={"base": "coton"}),
    cloth(material={"density": 0}),
    cloth(material={"shear": -1}),
    cloth(material={"young_modulus": 1e6}),
    cloth(material={"young_modulus": 1e6, "poisson_ratio": 0.3, "thickness": 1e-3}),
    cloth(material={"volume_density": 300}),
    {"cloth": [{"mesh": {}}]},
    {"cloth": [{"mesh": {"grid": {}, "obj": "a.obj"}}]},
    {"cloth": [{"mesh": {"grid": {}, "weld": 1}}]},
    {"cloth": [{"mesh": {"obj": ""}}]},
    grid(cells=0),
    grid(cells=[3]),
    grid(cells=2.5),
    grid(size=0),
    grid(size=[1, -1]),
    grid(plane="yz"),
    grid(seed=-1),
    grid(shape="u"),
    cloth(pins=[{}]),
    cloth(pins={}),
    pin(where={}),
    pin(where={"edge": "top", "vertices": [1]}),
    pin(where={"edge": "tpo"}),
    pin(where={"edge": []}),
    pin(where={"corner": "top"}),
    pin(where={"vertices": [-1]}),
    pin(where={"vertices": []}),
    pin(where={"box": {"min": [0, 0, 0]}}),
    pin(fix="line"),
    pin(fix={}),
    pin(fix={"line": [0, 1, 0], "plane": [0, 1, 0]}),
    pin(path=[{}]),
    pin(path=[{"time": -1}]),
    pin(release=-1),
    pin(follow=1),
    pin(where={"vertices": [0]}, samples={"positions": [0, 1, 2]}, follow="ball"),
    pin(where={"vertices": [0]}, samples={}),
    pin(where={"vertices": [0]}, samples={"positions": []}),
    pin(where={"vertices": [0]}, samples={"positions": [0, 1, "2"]}),
    pin(where={"vertices": [0]}, samples={"positions": [0, 1, 2], "rate": 0}),
    pin(where={"vertices": [0]}, samples={"positions": [0, 1, 2], "pc2": "shirt.pc2"}),
    cloth(forces=[{"where": {"edge": "top"}}]),
    cloth(forces=[{"force": [0, 0, 1]}]),
    scene(obstacles={}),
    obstacle(shape={}),
    obstacle(shape={"plane": {}, "sphere": {"radius": 1}}),
    obstacle(shape={"cone": {}}),
    obstacle(shape={"plane": {}}, mesh={"obj": "shirt.obj"}),
    obstacle(shape={"plane": {}}, transform={}),
    obstacle(shape={"plane": {}}, deform={"pc2": "shirt.pc2"}),
    obstacle(shape={"plane": {}}, friction=-1),
    obstacle(shape={"plane": {}}, thickness=-1),
    obstacle(shape={"plane": {}}, name="a b"),
    obstacle(shape={"plane": {}}, motion={"keys": []}),
    obstacle(shape={"plane": {}}, motion=[]),
    obstacle(mesh={"grid": {}}),
    obstacle(mesh={}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={}),
    obstacle(mesh={"gltf": "body.gltf", "weld": 0.1}),
    obstacle(mesh={"gltf": "body.gltf"}, regions=[{"object": "leg"}]),
    obstacle(mesh={"gltf": "body.gltf"}, regions=[{"friction": 0.1}]),
    obstacle(mesh={"gltf": "body.gltf"}, regions=[{"faces": [0], "object": "leg", "friction": 0.1}]),
    obstacle(mesh={"gltf": "body.gltf", "obj": "shirt.obj"}),
    obstacle(mesh={"gltf": "body.gltf"}, deform={"animation": True}),
    obstacle(mesh={"gltf": "body.gltf"}, deform={"animation": 0, "loop": 2}),
    obstacle(mesh={"gltf": "body.gltf"}, deform={"animation": 0, "offset": -1}),
    obstacle(mesh={"gltf": "body.gltf"}, deform={"animation": 0, "speed": 0}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"pc2": "shirt.pc2", "first": 1}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"pc2": "shirt.pc2", "rate": 0}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"obj_sequence": "shirt_%02d.obj"}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"obj_sequence": "shirt.obj", "first": 1, "last": 1}),
    obstacle(mesh={"obj": "shirt.obj"}, deform={"obj_sequence": "%s%d.obj", "first": 1, "last": 1}),
    shape("plane", size=0),
    shape("plane", normal=[0, 1]),
    shape("sphere"),
    shape("sphere", radius=0),
    shape("sphere", radius=1, segments=0),
    shape("sphere", radius=1, segments=1.5),
    shape("sphere", radius=1, segments=100000),
    shape("box"),
    shape("box", size=[1, 0, 1]),
    shape("box", size=[1, 1]),
    shape("box", size=1, hole=-1),
    shape("cylinder", **{"from": [0, 0, 0], "radius": 0.1}),
    shape("cylinder", **{"from": [0, 0, 0], "to": [0, 1, 0], "radius": 0.1, "segments": 2}),
    shape("capsule", **{"from": [0, 0, 0], "to": [0, 1, 0]}),
    shape("torus", radius=1),
    shape("torus", radius=1, tube=-0.1),
    scene(contact=[]),
    scene(ties={}),
    scene(ties=[{"cloth": "cloth1"}]),
    scene(ties=[{"cloth": "cloth1", "to": "cloth1", "by": "faces"}]),
    scene(ties=[{"cloth": "cloth1", "to": "cloth1", "where": "top"}]),
    scene(contact={"excluded": []}),
    exclude({}),
    exclude({"pair": ["cloth1"]}),
    exclude({"pair": "cloth1"}),
    exclude({"pair": ["cloth1", "ball"], "where": {}}),
]


# A triangle that an animation lifts.
BODY = {
    "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "leg"}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "buffers": [{"byteLength": 92, "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAzczMPQAAAAAAAAAAAAAAAAAAAAAAAAAAmpmZPgAAAAA="}],
    "bufferViews": [{"buffer": 0, "byteLength": 92}],
    "accessors": [{"bufferView": 0, "byteOffset": at, "componentType": 5126, "count": count, "type": kind}
                  for at, count, kind in ((0, 3, "VEC3"), (36, 2, "SCALAR"), (44, 2, "VEC3"))],
    "animations": [{"name": "turn", "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}],
                    "samplers": [{"input": 1, "output": 2}]}],
}


def multigrid(schema):
    """Every setting of multigrid at its limits, and beyond them."""
    good, bad = [], []
    for name, limits in schema["$defs"]["sa"]["properties"].items():
        values = limits.get("enum") or [limits["minimum"], limits["maximum"]]
        good += [scene(solver={"sa": {name: value}}) for value in values]
        bad += [scene(solver={"sa": {name: value}}) for value in (min(values) - 1e-3, max(values) + 1e-3, None)]
        if limits.get("type") != "number":
            bad.append(scene(solver={"sa": {name: min(values) + 0.5}}))
    return good, bad


def multigrid_failures(weft, schema):
    """The settings and defaults that a run writes are those of the schema."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "scene.json").write_text(json.dumps(scene()))
        command = [weft, "run", "scene.json", "-o", "out", "--frames", "0"]
        subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=True)
        written = json.loads((pathlib.Path(folder) / "out" / "scene.json").read_text())["solver"]["sa"]
    named = {name: limits["default"] for name, limits in schema["$defs"]["sa"]["properties"].items()}
    if written != named:
        print("multigrid: a run writes %s, the schema says %s" % (written, named))
    return written != named


def names(weft, kind):
    lines = subprocess.run([weft, "list", kind], capture_output=True, timeout=60, check=True, text=True).stdout
    return [line.split("\t")[0] for line in lines.splitlines()]


def table_failures(weft, validator):
    """Every method and model that the command lists is a name for the schema, and goes with at least one of the other."""
    failures = 0
    methods, models = names(weft, "methods"), names(weft, "models")
    pairs = [(method, model, scene(method=method, model=model)) for method in methods for model in models]
    suits = [(method, model) for method, model, document in pairs
             if validator.is_valid(document) and weft_accepts(weft, document)]
    for name in methods + models:
        if not any(name in pair for pair in suits):
            failures += 1
            print("tables: `%s` is listed, and no scene with it is accepted" % name)
    return failures


def examples():
    """The whole scenes among the examples of the scene reference."""
    text = (ROOT / "docs" / "scene-reference.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```json\n(.*?)^```", text, re.S | re.M)
    return [json.loads(blank_comments(block)) for block in blocks if re.search('"(cloth|strands|volumes)"', block)]


def weft_accepts(weft, document):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "shirt.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n")
        shutil.copy(pathlib.Path(folder) / "shirt.obj", pathlib.Path(folder) / "shirt_01.obj")
        (pathlib.Path(folder) / "body.gltf").write_text(json.dumps(BODY))
        (pathlib.Path(folder) / "shirt.pc2").write_bytes(
            b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 3, 0.0, 1.0, 1) + struct.pack("<9f", *range(9)))
        path = pathlib.Path(folder) / "scene.json"
        path.write_text(json.dumps(document))
        result = subprocess.run([weft, "check", str(path)], capture_output=True, timeout=60, check=False)
        if result.returncode not in (0, 2):
            raise AssertionError("weft check ended with %d: %s" % (result.returncode, result.stderr))
        return result.returncode == 0


def main():
    weft = sys.argv[1] if len(sys.argv) > 1 else None
    # A command knows the settings of its own methods; without one it is the file that editors read.
    text = subprocess.run([weft, "check", "--schema"], capture_output=True, timeout=60, check=True).stdout.decode() \
        if weft else (ROOT / "scenes" / "schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = multigrid_failures(weft, schema) + table_failures(weft, validator) if weft else 0
    good, bad = multigrid(schema)
    shipped = sorted(p for p in (ROOT / "scenes").glob("*.json") if p.name != "schema.json")
    cases = [(p.name, json.loads(blank_comments(p.read_text(encoding="utf-8"))), True) for p in shipped]
    cases += [("example %d" % k, document, True) for k, document in enumerate(examples())]
    cases += [("good %d" % k, document, True) for k, document in enumerate(GOOD + good)]
    cases += [("bad %d" % k, document, False) for k, document in enumerate(BAD + bad)]
    for name, document, good in cases:
        errors = [error.message for error in validator.iter_errors(document)]
        if (not errors) != good:
            failures += 1
            print("schema: %s: %s: %s" % (name, json.dumps(document)[:200], errors or "should have been refused"))
        if weft and weft_accepts(weft, document) != good:
            failures += 1
            print("weft check: %s: %s: not as the schema says" % (name, json.dumps(document)[:200]))
    print("%d cases, %d failures" % (len(cases), failures))
    return 1 if failures or len(shipped) < 7 else 0


if __name__ == "__main__":
    sys.exit(main())
