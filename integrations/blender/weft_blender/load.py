"""A run's folder into Blender: meshes with Mesh Cache modifiers. What is there of a run that goes on plays; the modifier opens the file anew for each frame.

Weft's y is up: the modifier turns the axes of the cache, the mesh is turned when it is made. Objects carry the scale from metres to the scene's unit.
"""
import os

import bpy
from mathutils import Matrix

from . import build_scene, read_run
from .build_scene import SceneError

CACHE_NAME = "Weft"


def unit_of(scene):
    return scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0


def add_cache(item, path, frame_start, frame_scale=1.0):
    cache = item.modifiers.new(CACHE_NAME, "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = bpy.path.relpath(path) if bpy.data.is_saved and _same_drive(path) else path
    cache.interpolation = "LINEAR"
    cache.time_mode = "FRAME"
    cache.play_mode = "SCENE"
    cache.forward_axis, cache.up_axis = "POS_Z", "NEG_Y"  # (x, y, z) of the file becomes (x, -z, y)
    cache.frame_start, cache.frame_scale = frame_start, frame_scale
    return cache


def _same_drive(path):
    return os.path.splitdrive(path)[0] == os.path.splitdrive(bpy.data.filepath)[0]


def make_mesh(name, obj):
    """From what a run's OBJ file holds, turned to z up."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(build_scene.from_weft(obj.points).tolist() if obj.points else [], obj.edges, obj.faces)
    if any(t >= 0 for face in obj.face_texcoords for t in face):
        layer = mesh.uv_layers.new(name="UVMap")
        flat = [obj.texcoords[t] if t >= 0 else (0.0, 0.0) for face in obj.face_texcoords for t in face]
        layer.data.foreach_set("uv", [c for t in flat for c in t])
    for material in obj.materials:
        mesh.materials.append(bpy.data.materials.get(material) or bpy.data.materials.new(material))
    if obj.materials:
        mesh.polygons.foreach_set("material_index", [max(0, m) for m in obj.face_materials])
    mesh.polygons.foreach_set("use_smooth", [True] * len(obj.faces))
    mesh.update()
    return mesh


def _groups(item, obj):
    """Names of faces as vertex groups, where there are several."""
    if len(obj.groups) < 2:
        return
    members = {}
    for face, group in zip(obj.faces, obj.face_groups):
        if group >= 0:
            members.setdefault(group, set()).update(face)
    for group, vertices in sorted(members.items()):
        item.vertex_groups.new(name=obj.groups[group]).add(sorted(vertices), 1.0, "REPLACE")


def _show_between(item, first, end):
    """Keys that show the object from frame `first` on, and not from `end` on; None: no such limit."""
    keys = [(end - 1, False)] if first is None else [(first - 1, True), (first, False)]
    if end is not None:
        keys.append((end, True))
    for frame, hide in keys:
        item.hide_viewport = item.hide_render = hide
        item.keyframe_insert("hide_viewport", frame=frame)
        item.keyframe_insert("hide_render", frame=frame)


def _add_topology(scene, collection, body, index, frame_start, frame_scale):
    topology = body.topologies[index]
    name = body.label if index == 0 else "%s.%d" % (body.label, index)
    obj = read_run.ObjMesh(topology.mesh_path)
    mesh = make_mesh(name, obj)
    item = bpy.data.objects.new(name, mesh)
    collection.objects.link(item)
    item.matrix_world = Matrix.Scale(1.0 / unit_of(scene), 4)
    item.weft.is_result = True
    _groups(item, obj)
    if topology.cache_path:
        points, _, _ = read_run.read_header(topology.cache_path)
        if points != len(mesh.vertices):
            raise SceneError("%s has %d points, its mesh %d vertices" % (topology.cache_path, points, len(mesh.vertices)))
        add_cache(item, topology.cache_path, frame_start + topology.first / frame_scale, frame_scale)
    if topology.first > 0 or topology.end is not None:
        first = frame_start + topology.first / frame_scale if topology.first > 0 else None
        end = frame_start + topology.end / frame_scale if topology.end is not None else None
        _show_between(item, first, end)
    return item


def set_rate(scene, rate):
    scene.render.fps = max(1, round(rate))
    scene.render.fps_base = scene.render.fps / rate


def load(context, folder, obstacles=True, set_range=True, only=None):
    """All bodies of a run (or those whose keys `only` has), in a collection of their own. Returns the objects."""
    run = read_run.Run(folder)
    scene = context.scene
    if set_range:
        set_rate(scene, run.rate)
    frame_scale = run.rate / (scene.render.fps / scene.render.fps_base)
    if abs(frame_scale - 1.0) < 1e-4:
        frame_scale = 1.0
    name = os.path.basename(os.path.abspath(folder)) or "weft"
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    items = []
    for body in run.bodies:
        if (only is None and (obstacles or not body.obstacle)) or (only is not None and body.key in only):
            for index in range(len(body.topologies)):
                items.append(_add_topology(scene, collection, body, index, scene.frame_start, frame_scale))
    if set_range:
        scene.frame_end = scene.frame_start + max(0, run.frame_count - 1)
    return items


# ---- results of what was sent


def _copy_modifier(item, source):
    copy = item.modifiers.new(source.name, source.type)
    for prop in source.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in ("name", "type"):
            try:
                setattr(copy, prop.identifier, getattr(source, prop.identifier))
            except (AttributeError, TypeError, ValueError):
                pass
    return copy


def result_of(source):
    return next((o for o in bpy.data.objects if o.weft.is_result and o.weft.source == source), None)


def remove_results(sources):
    for source in sources:
        while True:
            old = result_of(source)
            if old is None:
                break
            mesh = old.data
            bpy.data.objects.remove(old)
            if mesh and mesh.users == 0:
                bpy.data.meshes.remove(mesh)
        hide(source, False)


def hide(item, hidden):
    """With the eye, so that armatures and samples still see it, and from renders."""
    item.hide_render = hidden
    if item.name in bpy.context.view_layer.objects:
        item.hide_set(hidden)


def make_result(context, source, mesh, cache_path, finishing):
    """The cloth as it was simulated, with materials, UV maps, vertex groups and finishing modifiers of the source."""
    scene = context.scene
    item = source.copy()
    item.name = source.name + " (Weft)"
    item.animation_data_clear()
    item.constraints.clear()
    item.modifiers.clear()
    item.parent = None
    item.data = mesh
    mesh.name = item.name
    item.weft.role, item.weft.is_result, item.weft.source = "NONE", True, source
    collection = source.users_collection[0] if source.users_collection else scene.collection
    collection.objects.link(item)
    item.matrix_world = Matrix.Scale(1.0 / unit_of(scene), 4)
    add_cache(item, cache_path, scene.frame_start)
    for modifier in finishing:
        _copy_modifier(item, modifier)
    item.hide_viewport = False
    item.hide_render = source.hide_render
    hide(source, True)
    return item
