"""The add-on in Blender without a window, end to end. Run by script/test-integrations:

    blender --background --factory-startup --python-exit-code 1 --python check_addon.py -- ADDON.zip WEFT FOLDER [PICTURE.png|--long]

With --long it simulates without an end, to be killed.

Installs the zip as the preferences do, builds a scene by script (a grid that hangs by a vertex group from a moving armature, under a
parent that is turned and scaled, in another unit; a body that an armature bends), simulates it through the add-on, and compares in each frame
the result with the run's files, the pins with the armature, and the run's body with Blender's. Then what users do wrong, cancelling, tearing, and loading.
"""
import math
import os
import sys
import time

import bpy
import numpy as np
from mathutils import Matrix, Vector

ZIP, WEFT, FOLDER = (os.path.abspath(p) for p in sys.argv[sys.argv.index("--") + 1 :][:3])
PICTURE = (sys.argv[sys.argv.index("--") + 4 :] or [None])[0]
os.makedirs(FOLDER, exist_ok=True)
worst = 0.0


def fail(text):
    sys.stdout.flush()
    sys.stderr.flush()
    print("failed: " + text, flush=True)
    os._exit(1)


def install():
    bpy.ops.preferences.addon_install(filepath=ZIP)
    bpy.ops.preferences.addon_enable(module="weft_blender")
    bpy.context.preferences.addons["weft_blender"].preferences.command = WEFT
    import weft_blender

    if "weft_blender" not in weft_blender.__file__:
        fail("the add-on is not the one of the zip")


def empty(unit=1.0):
    for scene_items in (bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.collections):
        for item in list(scene_items):
            scene_items.remove(item)
    scene = bpy.context.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = "METRIC", unit
    scene.render.fps, scene.render.fps_base = 25, 1.0
    scene.frame_start, scene.frame_end = 3, 11
    scene.weft.steps, scene.weft.samples, scene.weft.threads = 4, 2, 1
    scene.weft.start, scene.weft.extra = "refuse", ""
    scene.frame_set(3)
    return scene


def link(item):
    bpy.context.scene.collection.objects.link(item)
    return item


def select(item):
    for other in bpy.context.view_layer.objects:
        other.select_set(other == item)
    bpy.context.view_layer.objects.active = item


def world(item):
    """Vertices of the evaluated object in the world, as doubles."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = item.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    return points.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def close(what, found, wanted, size):
    global worst
    if found.shape != wanted.shape:
        fail("%s: %d vertices instead of %d" % (what, len(found), len(wanted)))
    off = float(np.abs(found - wanted).max()) / size
    worst = max(worst, off)
    if not off <= 1e-6:
        fail("%s: off by %g of the size" % (what, off))


def run_points(run, key, frame, unit):
    """Straight from the file: what docs/run-folder.md says, in Blender's axes and unit."""
    path = os.path.join(run, key + ".pc2")
    with open(path, "rb") as file:
        data = file.read()
    points = int.from_bytes(data[16:20], "little")
    floats = np.frombuffer(data, dtype="<f4", count=3 * points, offset=32 + 12 * points * frame).reshape(-1, 3)
    return np.stack((floats[:, 0], -floats[:, 2], floats[:, 1]), axis=1).astype(np.float64) / unit


# ---- the scene of the proof


def add_armature(name, head, tail, frames, turn, move):
    """One bone that is turned and moved between the frames."""
    armature = link(bpy.data.objects.new(name, bpy.data.armatures.new(name)))
    select(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("bone")
    bone.head, bone.tail = head, tail
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = armature.pose.bones["bone"]
    pose.rotation_mode = "XYZ"
    for frame, share in zip(frames, (0.0, 1.0)):
        pose.rotation_euler = [share * a for a in turn]
        pose.location = [share * a for a in move]
        pose.keyframe_insert("rotation_euler", frame=frame)
        pose.keyframe_insert("location", frame=frame)
    return armature


def bind(item, armature, vertices):
    item.vertex_groups.new(name="bone").add(vertices, 1.0, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = armature


def add_sheet(unit):
    """Quads and a pentagon, a loose vertex, a UV map, a material, below Armature and Subdivision, mirrored by a negative scale."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=1.0 / unit, enter_editmode=False)
    sheet = bpy.context.object
    sheet.name = "Tüch Nº 1"
    sheet.data.vertices.add(1)
    sheet.data.vertices[-1].co = (5.0, 5.0, 5.0)
    sheet.data.materials.append(bpy.data.materials.new("red wool"))
    top = [v.index for v in sheet.data.vertices if abs(v.co.y - 0.5 / unit) < 1e-5]
    group = sheet.vertex_groups.new(name="held ü")
    group.add(top, 1.0, "REPLACE")
    group.add([0, 1], 0.3, "REPLACE")  # below the threshold
    bind(sheet, add_armature("rail", (0, 0, 0), (0, 0, 1.0 / unit), (3, 11), (0.2, 0.0, 0.3), (0.0, 0.1 / unit, 0.0)), top)
    sheet.modifiers.new("finish", "SUBSURF").levels = 1
    parent = link(bpy.data.objects.new("parent", None))
    parent.matrix_world = Matrix.Rotation(0.5, 4, "X") @ Matrix.Rotation(0.3, 4, "Z")
    parent.scale = (1.2, 1.2, 1.2)
    sheet.parent = parent
    sheet.scale = (-1.0, 1.0, 1.0)
    sheet.location = (0, 0, 0.8 / unit)
    sheet.weft.role, sheet.weft.material, sheet.weft.pin_group = "CLOTH", "linen", "held ü"
    return sheet


def add_body(unit):
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.25 / unit)
    body = bpy.context.object
    body.name = "Körper.001"
    body.location = (0.0, -0.2 / unit, 0.3 / unit)
    upper = [v.index for v in body.data.vertices if v.co.z > 0]
    bind(body, add_armature("spine", (0, 0, 0), (0, 0, 0.25 / unit), (3, 9), (0.6, 0, 0), (0, 0, 0)), upper)
    body.weft.role = "OBSTACLE"
    return body


def check_end_to_end():
    unit = 0.5
    scene = empty(unit)
    sheet, body = add_sheet(unit), add_body(unit)
    scene.weft.folder = os.path.join(FOLDER, "ein Ördner")
    if bpy.ops.weft.simulate() != {"FINISHED"}:
        fail("the simulation did not finish")
    run = os.path.join(FOLDER, "ein Ördner", "run")
    result = next(o for o in bpy.data.objects if o.weft.is_result)
    kinds = [m.type for m in result.modifiers]
    if kinds != ["MESH_CACHE", "SUBSURF"]:
        fail("the result has the modifiers %s" % kinds)
    if not sheet.hide_get() or not sheet.hide_render or sheet.modifiers["finish"].show_viewport is not True:
        fail("the sheet is not hidden, or its modifiers are not as they were")
    if scene.frame_current != 3:
        fail("the frame did not come back")
    result.modifiers["finish"].show_viewport = False
    sheet.modifiers["finish"].show_viewport = False
    sheet.hide_set(False)
    held = [v.index for v in sheet.data.vertices for g in v.groups if g.group == 0 and g.weight > 0.5]
    moved = 0.0
    for frame in range(9):
        scene.frame_set(3 + frame)
        name = "frame %d" % frame
        found = world(result)
        close(name + ", cloth", found, run_points(run, "Tuech-No-1", frame, unit), 3.0)
        close(name + ", pins", found[held], world(sheet)[held], 3.0)
        close(name + ", body", world(body), run_points(run, "Koerper-001", frame, unit), 3.0)
        moved = max(moved, float(np.abs(found - world(sheet)[:-1]).max()))
    if moved < 0.05:
        fail("nothing fell: %g" % moved)
    check_carried(sheet, result)
    result.modifiers["finish"].show_viewport = True
    sheet.modifiers["finish"].show_viewport = True
    sheet.hide_set(True)
    return scene, result, run


def check_carried(sheet, result):
    """Faces look the way that they did in the world; UV maps and materials belong to the same corners."""
    if result.data.materials[0] != sheet.data.materials[0] or len(result.data.polygons) != len(sheet.data.polygons):
        fail("materials or faces were lost")

    def corners(mesh):
        layer = mesh.uv_layers.active.data
        return {(p.index, mesh.loops[k].vertex_index): tuple(layer[k].uv) for p in mesh.polygons for k in p.loop_indices}

    if corners(sheet.data) != corners(result.data):
        fail("the UV map is not that of the sheet")
    # A mirrored object keeps the side that its faces show.
    bpy.context.scene.frame_set(3)
    modifier = sheet.modifiers["Armature"]
    modifier.show_viewport = False
    matrix = sheet.matrix_world
    a, b, c = (np.array(matrix @ sheet.data.vertices[v].co) for v in sheet.data.polygons[70].vertices[:3])
    modifier.show_viewport = True
    wanted = -np.cross(b - a, c - a)  # what Blender shows of a mirrored one
    if np.dot(wanted, np.array(result.data.polygons[70].normal)) <= 0:
        fail("faces of the mirrored sheet look the other way")


def render(scene):
    scene.frame_set(11)
    camera = link(bpy.data.objects.new("camera", bpy.data.cameras.new("camera")))
    place = Vector((6.0, 5.5, 0.8))
    camera.location, camera.rotation_euler = place, (Vector((0.0, -0.2, 0.9)) - place).to_track_quat("-Z", "Y").to_euler()
    scene.camera = camera
    light = link(bpy.data.objects.new("light", bpy.data.lights.new("light", "SUN")))
    light.data.energy, light.rotation_euler = 4.0, (Vector((-5.0, -3.0, -4.0))).to_track_quat("-Z", "Y").to_euler()
    bpy.data.materials["red wool"].diffuse_color = (0.8, 0.1, 0.1, 1)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.device = 8, False, "CPU"
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 320, 240, 100
    scene.render.filepath = PICTURE
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(PICTURE)
    pixels = np.array(image.pixels[:]).reshape(-1, 4)[:, :3]
    if pixels.std() < 0.01:
        fail("the picture is empty")


def check_loading(run):
    """The folder alone, in a scene with another rate and unit."""
    unit = 2.0
    scene = empty(unit)
    scene.render.fps = 60
    if bpy.ops.weft.import_run(directory=run) != {"FINISHED"}:
        fail("the run was not loaded")
    if scene.render.fps / scene.render.fps_base != 25.0 or (scene.frame_start, scene.frame_end) != (3, 11):
        fail("frame rate or range are not the run's")
    if sorted(o.name for o in bpy.data.objects) != ["Körper.001", "Tüch Nº 1"]:
        fail("names: %s" % [o.name for o in bpy.data.objects])
    for frame in (0, 4, 8):
        scene.frame_set(3 + frame)
        for label, key in (("Körper.001", "Koerper-001"), ("Tüch Nº 1", "Tuech-No-1")):
            close("loaded, frame %d" % frame, world(bpy.data.objects[label]), run_points(run, key, frame, unit), 3.0)
    from weft_blender import read_run

    sent = read_run.ObjMesh(os.path.join(os.path.dirname(run), "Tuech-No-1.obj"))
    mesh = bpy.data.objects["Tüch Nº 1"].data
    wanted = [sent.texcoords[t] for face in sent.face_texcoords for t in face]
    if not mesh.uv_layers or not mesh.materials or mesh.materials[0].name != "red_wool":
        fail("the loaded cloth has lost its UV map or its material")
    for corner, t in enumerate(wanted):
        if max(abs(a - b) for a, b in zip(mesh.uv_layers[0].data[corner].uv, t)) > 1e-6:
            fail("corner %d of the loaded cloth has another place in the UV map" % corner)


# ---- what goes wrong


def refused(words, **options):
    try:
        bpy.ops.weft.simulate(**options)
    except RuntimeError as error:
        for word in words:
            if word not in str(error):
                fail("the message lacks `%s`: %s" % (word, error))
        return str(error)
    fail("it was not refused: %s" % words)


def check_errors():
    scene = empty()
    scene.weft.folder = os.path.join(FOLDER, "errors")
    refused(["No object is cloth"])
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=1.0)
    sheet = bpy.context.object
    sheet.name = "mein Tuch"
    sheet.weft.role = "CLOTH"
    sheet.weft.material = "coton"
    refused(["mein Tuch", "coton", "cotton"])
    sheet.weft.material = "cotton"
    sheet.weft.pin_group = "nobody"
    refused(["mein Tuch", "nobody"])
    sheet.weft.pin_group = ""
    sheet.weft.extra = "{"
    refused(["not JSON"])
    sheet.weft.extra = ""
    scene.weft.method = "magic"
    refused(["magic"])
    scene.weft.method = "implicit-euler"
    preferences = bpy.context.preferences.addons["weft_blender"].preferences
    preferences.command = "/nowhere/weft"
    refused(["not found"])
    preferences.command = WEFT
    sheet.weft.pin_group = sheet.vertex_groups.new(name="all").name
    sheet.vertex_groups["all"].add(range(len(sheet.data.vertices)), 1.0, "REPLACE")
    build = sheet.modifiers.new("build", "BUILD")
    build.frame_start, build.frame_duration = -100, 300
    refused(["mein Tuch", "vertices in frame"])
    sheet.modifiers.clear()
    sheet.weft.pin_group = ""
    if [m for m in bpy.data.meshes if m.users == 0]:
        fail("meshes are left behind")
    return sheet


def check_crossings(sheet):
    """A sheet that a ball pierces."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=6, radius=0.2)
    ball = bpy.context.object
    ball.location = (0.03, 0.05, 0.1)
    ball.weft.role = "OBSTACLE"
    refused(["cross", "selected"])
    chosen = [p.index for p in sheet.data.polygons if p.select]
    if not 0 < len(chosen) < len(sheet.data.polygons):
        fail("%d faces of the sheet are selected" % len(chosen))
    for index in chosen:
        nearest = min((sheet.data.vertices[v].co - ball.location).length for v in sheet.data.polygons[index].vertices)
        if nearest > 0.5:
            fail("face %d is selected, far from the ball" % index)
    select(sheet)
    bpy.ops.object.mode_set(mode="EDIT")
    import bmesh

    edited = [f.index for f in bmesh.from_edit_mesh(sheet.data).faces if f.select]
    refused(["being edited"])
    bpy.ops.object.mode_set(mode="OBJECT")
    if edited != chosen:
        fail("in edit mode %s are selected, not %s" % (edited, chosen))
    bpy.data.objects.remove(ball)
    return len(chosen)


def processes(folder):
    """Of this user, with the folder in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/cmdline" % name, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if folder.encode() in b" ".join(words) and b"run" in words:
                found.append(int(name))
    return found


def check_stopping(sheet):
    """Stopped while it runs: frames stay, nothing runs on, Continue goes on; a run while one is under way is not started."""
    from weft_blender import child, operators

    scene = bpy.context.scene
    scene.frame_end = 3 + 200
    scene.weft.folder = os.path.join(FOLDER, "stopped")
    sheet.weft.pin_group = sheet.vertex_groups.new(name="pins").name
    sheet.vertex_groups["pins"].add([0, 5], 1.0, "REPLACE")
    session = operators.Session(bpy.context, False)
    operators.Session.current = session
    if bpy.ops.weft.simulate.poll():
        fail("a second simulation could be started")
    deadline = time.monotonic() + 60
    while session.child.frames_done() < 2 and not session.tick(bpy.context) and time.monotonic() < deadline:
        time.sleep(0.02)
    if not child.any_running() or not processes(session.run_folder):
        fail("the run is not under way: %s" % session.child.error())
    session.tick(bpy.context)
    result = next(o for o in bpy.data.objects if o.weft.is_result)
    scene.frame_set(4)
    close("while it runs", world(result), run_points(session.run_folder, "mein-Tuch", 1, 1.0), 1.0)
    bpy.ops.weft.stop()
    if processes(session.run_folder) or child.any_running():
        fail("something is left running")
    session.tick(bpy.context)
    if session.finish(bpy.context):
        fail("stopping is no error")
    done = session.child.frames_done()
    if not 2 <= done < 200:
        fail("%d frames are there after stopping" % done)
    scene.frame_end = 3 + done + 2
    if bpy.ops.weft.simulate(resume=True) != {"FINISHED"}:
        fail("it does not go on")
    scene.frame_set(scene.frame_end)
    close("continued", world(load_result()), run_points(session.run_folder, "mein-Tuch", done + 2, 1.0), 1.0)
    # A step that never ends does not answer: it is killed.
    words = operators.Session(bpy.context, False)
    words.child.stop(0.0)
    if processes(words.run_folder):
        fail("something is left running after stopping at once")
    words.finish(bpy.context)


def check_soft_pins(sheet):
    """Every vertex at a weight of one half: all sag by g / stiffness."""
    scene = bpy.context.scene
    scene.frame_end = 3 + 12
    scene.weft.folder = os.path.join(FOLDER, "soft")
    sheet.vertex_groups["pins"].add(range(len(sheet.data.vertices)), 0.5, "REPLACE")
    sheet.weft.pin_soft, sheet.weft.pin_stiffness = True, 2000.0
    if bpy.ops.weft.simulate() != {"FINISHED"}:
        fail("soft pins did not finish")
    scene.frame_set(3)
    before = world(load_result())
    scene.frame_set(scene.frame_end)
    sag = (before - world(load_result()))[:, 2]
    if np.abs(sag - 9.81 / 2000.0).max() > 2e-4:
        fail("soft pins sag by %g to %g m" % (sag.min(), sag.max()))


def load_result():
    return next(o for o in bpy.data.objects if o.weft.is_result and o.visible_get())


def check_tearing():
    """Topologies are shown one after the other."""
    scene = empty()
    scene.frame_end = 3 + 8
    scene.weft.folder = ""  # the file is not saved: Blender's temporary folder
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=1.0)
    sheet = bpy.context.object
    sheet.rotation_euler = (math.pi / 2, 0, 0)
    sheet.name = "banner"
    group = sheet.vertex_groups.new(name="top")
    group.add([v.index for v in sheet.data.vertices if v.co.y > 0.49], 1.0, "REPLACE")
    sheet.weft.role, sheet.weft.pin_group, sheet.weft.extra = "CLOTH", "top", '{"tear": 0.4}'
    if bpy.ops.weft.simulate() != {"FINISHED"}:
        fail("the cloth that tears did not finish")
    shown = [o for o in bpy.data.objects if o.weft.is_result]
    if len(shown) < 2:
        fail("nothing tore")
    for frame in (0, 8):
        scene.frame_set(3 + frame)
        visible = [o.name for o in shown if o.visible_get()]
        if len(visible) != 1:
            fail("frame %d shows %s" % (frame, visible))
    return len(shown)


def simulate_for_ever():
    scene = empty()
    scene.frame_end = 100000
    scene.weft.folder = FOLDER
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=1.0)
    bpy.context.object.weft.role = "CLOTH"
    bpy.ops.weft.simulate()


def main():
    install()
    if PICTURE == "--long":
        simulate_for_ever()
    scene, _, run = check_end_to_end()
    if PICTURE:
        render(scene)
    check_loading(run)
    sheet = check_errors()
    crossing = check_crossings(sheet)
    check_stopping(sheet)
    check_soft_pins(sheet)
    topologies = check_tearing()
    bpy.ops.preferences.addon_disable(module="weft_blender")
    print(
        "checked: Blender %s, 9 frames of cloth, pins and body, largest deviation %.2g of the scene's size; %d crossing faces selected; "
        "stopped and continued; soft pins; %d topologies" % (bpy.app.version_string, worst, crossing, topologies),
        flush=True,
    )


try:
    main()
except SystemExit:
    raise
except BaseException:
    import traceback

    traceback.print_exc()
    fail("an exception")
