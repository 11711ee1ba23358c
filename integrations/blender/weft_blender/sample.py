"""Blender's scene to Weft's: evaluated meshes at the first frame, and where their vertices are in each sample after it.

Everything is taken from evaluated objects in the world: parents, constraints, drivers, armatures, shape keys and modifiers are in it.
"""
import os
from contextlib import contextmanager

import bpy
import numpy as np

from . import build_scene
from .build_scene import Body, Mesh, Samples, SceneError, Settings

FINISHING = {"SUBSURF", "SOLIDIFY", "BEVEL", "EDGE_SPLIT", "WEIGHTED_NORMAL"}
SURFACES = {"MESH", "CURVE", "SURFACE", "META", "FONT"}


def finishing_modifiers(item):
    """Those at the end of the stack that are for looks."""
    found = []
    if item.type == "MESH" and item.weft.finish and item.weft.role == "CLOTH":
        for modifier in reversed(item.modifiers):
            if modifier.type not in FINISHING:
                break
            found.append(modifier)
    return found[::-1]


def participants(context):
    context.view_layer.update()  # after removals by scripts its list has holes
    items = [o for o in context.view_layer.objects if o and o.weft.role != "NONE" and not o.weft.is_result]
    for item in items:
        if item.type not in SURFACES or (item.weft.role == "CLOTH" and item.type != "MESH"):
            raise SceneError('"%s" is no mesh and cannot be %s' % (item.name, item.weft.role.lower()))
        if item.mode == "EDIT":
            raise SceneError('"%s" is being edited: leave edit mode first' % item.name)
    if not any(o.weft.role == "CLOTH" for o in items):
        raise SceneError("no object is cloth: select a mesh and give it the role Cloth")
    return items


@contextmanager
def prepared(context, items):
    """Objects are evaluated only while they are shown; modifiers that finish are off. The frame comes back, too."""
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    hidden = [(o, o.hide_viewport, o.hide_get()) for o in items]
    off = [m for o in items for m in finishing_modifiers(o) if m.show_viewport]
    try:
        for item, _, _ in hidden:
            item.hide_viewport = False
            item.hide_set(False)
        for modifier in off:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in off:
            modifier.show_viewport = True
        for item, disabled, eye in hidden:
            item.hide_viewport = disabled
            item.hide_set(eye)
        scene.frame_set(frame, subframe=subframe)


# ---- one object


def _get(collection, name, kind, width=1):
    out = np.empty(len(collection) * width, dtype=kind)
    collection.foreach_get(name, out)
    return out


class Sampled:
    """An object that takes part."""

    def __init__(self, item, key, unit):
        self.item, self.key, self.unit = item, key, unit
        self.kept = None  # vertices that faces use; None: all
        self.vertex_count = 0
        self.result_mesh = None  # of cloth: what the result is made of

    def _mesh(self, graph):
        evaluated = self.item.evaluated_get(graph)
        return evaluated, evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=graph)

    def _world(self, evaluated, mesh):
        matrix = np.array(evaluated.matrix_world, dtype=np.float64)
        points = _get(mesh.vertices, "co", np.float32, 3).reshape(-1, 3).astype(np.float64)
        if self.kept is not None:
            points = points[self.kept]
        points = points @ matrix[:3, :3].T + matrix[:3, 3]
        if not np.isfinite(points).all():
            raise SceneError('"%s" has vertices at no finite place' % self.item.name)
        return points, np.linalg.det(matrix[:3, :3]) < 0

    def start(self, graph):
        """The mesh at the first frame, as a body."""
        evaluated, mesh = self._mesh(graph)
        if mesh is None or len(mesh.polygons) == 0:
            raise SceneError('"%s" has no faces' % self.item.name)
        self.vertex_count = len(mesh.vertices)
        corners = _get(mesh.loops, "vertex_index", np.int32)
        starts = np.append(_get(mesh.polygons, "loop_start", np.int32), len(corners)).astype(np.int64)
        used = np.zeros(self.vertex_count, dtype=bool)
        used[corners] = True
        if not used.all():
            self.kept = np.flatnonzero(used)
            corners = (np.cumsum(used) - 1)[corners]
        points, mirrored = self._world(evaluated, mesh)
        layer = mesh.uv_layers.active
        uv = _get(layer.data, "uv", np.float32, 2).reshape(-1, 2) if layer else None
        materials = [slot.material.name.replace(" ", "_") if slot.material else "none" for slot in self.item.material_slots]
        faces = _get(mesh.polygons, "material_index", np.int32)
        body = Body(self.item.weft.role, self.item.name, self.key, Mesh(build_scene.to_weft(points, self.unit), corners, starts, uv, faces, materials))
        if self.item.weft.role == "CLOTH":
            self._cloth(body, mesh, layer)
            self._keep_mesh(evaluated, graph, points, used, mirrored)
        if mirrored:
            body.mesh.flip()
        evaluated.to_mesh_clear()
        self._contact(body)
        return body

    def _cloth(self, body, mesh, layer):
        settings = self.item.weft
        body.material = settings.material.strip() or "cotton"
        body.rest, body.uv_scale = settings.rest, settings.uv_scale
        if settings.rest == "uv" and layer is None:
            raise SceneError('"%s" rests as its UV map says, but has none' % self.item.name)
        if settings.pin_group:
            body.pins = self._pins(mesh)
            body.pin_stiffness = settings.pin_stiffness if settings.pin_soft else None
        body.extra = build_scene.parse_extra(settings.extra, '"%s"' % self.item.name)

    def _contact(self, body):
        settings = self.item.weft
        if settings.use_contact:
            body.friction, body.thickness = settings.friction, settings.thickness
        if body.role == "OBSTACLE":
            body.extra = build_scene.parse_extra(settings.extra, '"%s"' % self.item.name)

    def _pins(self, mesh):
        settings, name = self.item.weft, self.item.weft.pin_group
        group = self.item.vertex_groups.get(name)
        if group is None:
            raise SceneError('"%s" has no vertex group "%s" to be pinned' % (self.item.name, name))
        index = group.index
        numbers = range(self.vertex_count) if self.kept is None else self.kept
        least = 0.0 if settings.pin_soft else settings.pin_threshold
        pins = {}
        for k, v in enumerate(numbers):
            for entry in mesh.vertices[int(v)].groups:
                if entry.group == index and entry.weight >= least and entry.weight > 0.0:
                    pins[k] = min(1.0, entry.weight)
        if not pins:
            raise SceneError(
                '"%s": no vertex of the group "%s" has a weight %s' % (self.item.name, name, "of %g or more" % least if least else "above 0")
            )
        return pins

    def _keep_mesh(self, evaluated, graph, points, used, mirrored):
        """What the result will be made of: the mesh in the world, in metres, with all that it carries."""
        mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=graph)
        if not used.all():
            import bmesh

            work = bmesh.new()
            work.from_mesh(mesh)
            work.verts.ensure_lookup_table()
            bmesh.ops.delete(work, geom=[work.verts[int(v)] for v in np.flatnonzero(~used)], context="VERTS")
            work.to_mesh(mesh)
            work.free()
        mesh.vertices.foreach_set("co", (points * self.unit).astype(np.float32).ravel())
        if mirrored:
            mesh.flip_normals()
        mesh.update()
        self.result_mesh = mesh

    def positions(self, graph, frame):
        evaluated, mesh = self._mesh(graph)
        if mesh is None or len(mesh.vertices) != self.vertex_count:
            count = 0 if mesh is None else len(mesh.vertices)
            raise SceneError(
                '"%s" has %d vertices in frame %g and %d at the start: a modifier changes its mesh from frame to frame'
                % (self.item.name, count, frame, self.vertex_count)
            )
        points, _ = self._world(evaluated, mesh)
        evaluated.to_mesh_clear()
        return build_scene.to_weft(points, self.unit)


# ---- the scene


def frame_rate(scene):
    return scene.render.fps / scene.render.fps_base


def settings_of(scene):
    weft = scene.weft
    if scene.frame_end < scene.frame_start:
        raise SceneError("the scene ends before it starts: look at its frame range")
    gravity = build_scene.vector_to_weft(scene.gravity) if scene.use_gravity else [0.0, 0.0, 0.0]
    rate = frame_rate(scene)
    return Settings(
        frames=scene.frame_end - scene.frame_start,
        fps=rate,
        steps_per_frame=weft.steps,
        sample_rate=rate * weft.samples,
        method=weft.method.strip() or "implicit-euler",
        solver=weft.solver.strip() or "auto",
        gravity=gravity,
        wind=build_scene.vector_to_weft(weft.wind) if weft.use_air else None,
        friction=weft.friction,
        thickness=weft.thickness,
        initial_contact=weft.start,
        extra=build_scene.parse_extra(weft.extra, "the scene"),
    )


def _sample_frames(context, settings, sampled, writers, say):
    """Every sample of everything in one pass over the timeline."""
    scene = context.scene
    per_frame = scene.weft.samples
    total = settings.frames * per_frame
    for k in range(total + 1):
        frame, part = divmod(k, per_frame)
        scene.frame_set(scene.frame_start + frame, subframe=part / per_frame)
        graph = context.evaluated_depsgraph_get()
        for one, writer in zip(sampled, writers):
            if writer is not None:
                writer.add(one.positions(graph, scene.frame_start + k / per_frame))
        say(k / max(1, total))


def export(context, folder, say=lambda share: None):
    """Writes the scene into `folder`. Returns (path of the scene file, settings, bodies, sampled objects)."""
    scene = context.scene
    settings = settings_of(scene)
    items = participants(context)
    unit = scene.unit_settings.scale_length if scene.unit_settings.system != "NONE" else 1.0
    keys = build_scene.body_names([o.name for o in items])
    sampled = [Sampled(o, key, unit) for o, key in zip(items, keys)]
    writers = []
    try:
        with prepared(context, items):
            scene.frame_set(scene.frame_start)
            graph = context.evaluated_depsgraph_get()
            bodies = [one.start(graph) for one in sampled]
            os.makedirs(folder, exist_ok=True)
            for body in bodies:
                moves = body.role == "OBSTACLE" or body.pins
                path = os.path.join(folder, body.key + ".pc2")
                writers.append(Samples(path, len(body.mesh.points)) if moves else None)
            _sample_frames(context, settings, sampled, writers, say)
        for body, writer in zip(bodies, writers):
            if writer is not None and writer.close():
                body.samples_file = body.key + ".pc2"
        about = {"frame_start": scene.frame_start, "unit": unit}
        return build_scene.write_scene(folder, settings, bodies, about), settings, bodies, sampled
    except (SceneError, OSError) as error:
        for one in sampled:
            if one.result_mesh:
                bpy.data.meshes.remove(one.result_mesh)
        if isinstance(error, SceneError):
            raise
        raise SceneError("%s cannot be written: %s" % (error.filename or folder, error.strerror)) from None
    finally:
        for writer in writers:
            if writer is not None:
                writer.close()
