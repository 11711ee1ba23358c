"""Reads an exported folder of PC2, MDD, OBJ or PLY files with Blender and compares every frame with the run.

blender --background --factory-startup --python-exit-code 1 --python check_blender.py --
    EXPORT RUN [--frames A:B] [--every N] [--fps R] [--up y|z]

Point caches move the mesh beside them through the Mesh Cache modifier, and what the dependency graph makes of it at each
frame is compared. Every OBJ file is read by both of Blender's importers: the one in C++ (bpy.ops.wm.obj_import), which
makes a mesh of each object and drops vertices that no face uses, and the older one in Python (import_scene.obj) with
"Keep Vert Order", which makes one mesh with all vertices. Needs Blender 3.4 (Debian 12: blender).
"""
import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_folder import Expected, Mesh, arguments, fail  # noqa: E402

FIRST_FRAME = 1  # as Blender's scenes have it

# ---- importers; each returns the new objects


def empty_scene():
    for group in (bpy.data.objects, bpy.data.meshes, bpy.data.materials):
        for item in list(group):
            group.remove(item)


def import_new(path, up):
    forward, upward = ("NEGATIVE_Z", "Y") if up == "y" else ("Y", "Z")
    bpy.ops.wm.obj_import(filepath=path, forward_axis=forward, up_axis=upward)
    return list(bpy.context.selected_objects)


def import_whole(path, up):
    forward, upward = ("-Z", "Y") if up == "y" else ("Y", "Z")
    bpy.ops.import_scene.obj(filepath=path, axis_forward=forward, axis_up=upward, split_mode="OFF")
    return list(bpy.context.selected_objects)


def import_ply(path, _):
    bpy.ops.import_mesh.ply(filepath=path)
    return list(bpy.context.selected_objects)


# ---- what must come out of them


class Part:
    """The faces of one object, or all of them; `vertices` are the run's numbers of those that the importer keeps."""

    def __init__(self, name, mesh, faces, vertices):
        self.name = name
        self.vertices = vertices
        number = {v: k for k, v in enumerate(vertices)}
        self.faces = [[number[v] for v in mesh.faces[f]] for f in faces]
        self.texcoords = [t for f in faces for t in mesh.face_texcoords[f]]


def used(mesh, faces):
    return sorted({v for f in faces for v in mesh.faces[f]})


def parts_of(mesh, name):
    """What import_new makes of a file with the objects of the run's mesh."""
    objects = mesh.objects_of(name)
    return [Part(o, mesh, faces, used(mesh, faces)) for o, faces in objects.items()]


def whole(mesh, name, vertices=None):
    faces = range(len(mesh.faces))
    return Part(name, mesh, faces, list(range(len(mesh.rest))) if vertices is None else vertices)


# ---- comparisons


def coordinates(mesh, matrix=None):
    return [tuple(v.co if matrix is None else matrix @ v.co) for v in mesh.vertices]


def check_positions(expected, what, item, wanted, turns):
    """In the object's own axes as in the file; in Blender's world, where z is up, wherever the importer turns."""
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = item.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    expected.compare(what, coordinates(mesh), wanted)
    if turns:
        expected.compare(what + ", in the world", coordinates(mesh, evaluated.matrix_world), wanted, "z")
    evaluated.to_mesh_clear()


def check_mesh(what, item, part):
    mesh = item.data
    if [list(p.vertices) for p in mesh.polygons] != part.faces:
        fail("%s: the faces are not those of the run" % what)
    if len(mesh.vertices) != len(part.vertices):
        fail("%s: %d vertices where the run has %d" % (what, len(mesh.vertices), len(part.vertices)))
    check_texcoords(what, mesh, part.texcoords)


def check_texcoords(what, mesh, wanted):
    layer = mesh.uv_layers.active
    if layer is None and any(wanted):
        fail("%s: texture coordinates are missing" % what)
    for corner, t in enumerate(wanted):
        if t is not None and max(abs(a - b) for a, b in zip(layer.data[corner].uv, t)) > 1e-6:
            fail("%s: corner %d has uv %s instead of %s" % (what, corner, tuple(layer.data[corner].uv), t))


def check_names(what, items, parts, names=True):
    found = [item.name for item in items]
    wanted = [part.name for part in parts]
    if len(found) != len(wanted) or (names and sorted(found) != sorted(wanted)):
        fail("%s: Blender makes the objects %s instead of %s" % (what, found, wanted))


def check_still(expected, path, importer, parts, wanted, names=True):
    """A file without a cache: every part where the run has it."""
    empty_scene()
    items = importer(path, expected.up)
    check_names(path, items, parts, names)
    by_name = {item.name: item for item in items} if names else {parts[0].name: items[0]}
    for part in parts:
        what = "%s, %s" % (path, part.name)
        check_mesh(what, by_name[part.name], part)
        check_positions(expected, what, by_name[part.name], [wanted[v] for v in part.vertices], importer != import_ply)


# ---- sequences


def frame_files(expected, body, ending):
    if body.still:
        return [(expected.frames[0], body.name + ending)]
    return [(f, "%s.%04d%s" % (body.name, f, ending)) for f in expected.frames]


def check_obj(expected, folder):
    for body in expected.run.bodies.values():
        for frame, name in frame_files(expected, body, ".obj"):
            path, mesh, points = os.path.join(folder, name), body.mesh(frame), body.positions(frame)
            check_still(expected, path, import_new, parts_of(mesh, body.name), points)
            check_still(expected, path, import_whole, [whole(mesh, name)], points, False)


def check_ply(expected, folder):
    """A PLY file has no objects, so Blender names them after the file; texture coordinates are those of vertices."""
    for body in expected.run.bodies.values():
        for frame, name in frame_files(expected, body, ".ply"):
            mesh = body.mesh(frame)
            part = whole(mesh, name[: -len(".ply")])
            if mesh.vertex_texcoords() is None:
                part.texcoords = []
            check_still(expected, os.path.join(folder, name), import_ply, [part], body.positions(frame))


# ---- point caches


def add_cache(item, path):
    cache = item.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "MDD" if path.endswith(".mdd") else "PC2"
    cache.filepath = os.path.abspath(path)
    cache.frame_start = FIRST_FRAME
    return cache


def check_playing(expected, path, item, body, vertices):
    """Frame by frame on Blender's timeline."""
    last = body.topology(expected.frames[-1])
    for k, frame in enumerate(expected.frames):
        bpy.context.scene.frame_set(FIRST_FRAME + k)
        points = body.positions_in(frame, last)
        check_positions(expected, "%s, frame %d" % (path, frame), item, [points[v] for v in vertices], True)


def check_times(expected, path, item, cache, body, vertices):
    """By the seconds that an MDD file gives its frames."""
    last = body.topology(expected.frames[-1])
    cache.play_mode, cache.time_mode = "CUSTOM", "TIME"
    for k, frame in enumerate(expected.frames):
        cache.eval_time = expected.time(k)
        bpy.context.view_layer.update()
        points = body.positions_in(frame, last)
        what = "%s at %g s" % (path, expected.time(k))
        check_positions(expected, what, item, [points[v] for v in vertices], True)


def check_cache(expected, folder, body, ending, importer, vertices):
    """Through one importer; `vertices` are those that it keeps."""
    mesh = body.mesh(expected.frames[-1])
    path = os.path.join(folder, body.name + ".obj")
    part = whole(mesh, body.name, vertices)
    check_still(expected, path, importer, [part], mesh.rest, importer == import_new)
    if body.still or len(part.vertices) != len(mesh.rest):
        return
    item = bpy.data.objects[0]
    cache = add_cache(item, os.path.join(folder, body.name + ending))
    check_playing(expected, cache.filepath, item, body, part.vertices)
    if ending == ".mdd":
        check_times(expected, cache.filepath, item, cache, body, part.vertices)


def check_caches(expected, folder, ending):
    for body in expected.run.bodies.values():
        mesh = body.mesh(expected.frames[-1])
        check_cache(expected, folder, body, ending, import_new, used(mesh, range(len(mesh.faces))))
        check_cache(expected, folder, body, ending, import_whole, None)


# ---- which format it is, and whether files are missing or too many


def format_of(folder):
    endings = {os.path.splitext(name)[1] for name in os.listdir(folder)} - {".txt"}
    for ending in (".pc2", ".mdd", ".ply"):
        if ending in endings:
            return ending
    return ".obj"


def files_of(expected, ending):
    names = ["weft-export.txt"]
    for body in expected.run.bodies.values():
        if ending in (".obj", ".ply"):
            names += [name for _, name in frame_files(expected, body, ending)]
        else:
            names += [body.name + ".obj"] + ([] if body.still else [body.name + ending])
    return sorted(names)


def main():
    options = arguments(__doc__, sys.argv[sys.argv.index("--") + 1 :])
    expected = Expected(options)
    ending = format_of(options.export)
    if sorted(os.listdir(options.export)) != files_of(expected, ending):
        fail("%s holds %s instead of %s" % (options.export, sorted(os.listdir(options.export)), files_of(expected, ending)))
    if ending == ".obj":
        check_obj(expected, options.export)
    elif ending == ".ply":
        check_ply(expected, options.export)
    else:
        check_caches(expected, options.export, ending)
    expected.passed("Blender " + bpy.app.version_string)


main()
