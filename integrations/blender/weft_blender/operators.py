"""What the buttons do. From a script operators wait until they are done (bpy.ops.weft.simulate()); from the panel they go along with Blender."""
import os
import time

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from . import child, load, sample
from .build_scene import SceneError
from .properties import command_of

TICK = 0.25  # s between looks at a run under way


def work_folder(scene):
    """Where scene and run of this .blend file are kept."""
    if scene.weft.folder:
        path = bpy.path.abspath(scene.weft.folder)
        if path.startswith("//"):
            raise SceneError("the folder %s is relative to the .blend file, which is not saved yet" % scene.weft.folder)
        return os.path.abspath(path)
    if bpy.data.is_saved:
        return os.path.splitext(bpy.path.abspath(bpy.data.filepath))[0] + "-weft"
    return os.path.join(bpy.app.tempdir, "weft")


class Session:
    """The one simulation that is under way. Objects are kept by name: undo replaces them."""

    current = None

    def __init__(self, context, resume):
        self.scene_name = context.scene.name
        self.folder = work_folder(context.scene)
        self.run_folder = os.path.join(self.folder, "run")
        self.shown = -1
        self.began = time.monotonic()
        command = command_of(context)
        if not command:
            raise SceneError(child.NOT_FOUND)
        manager = context.window_manager
        manager.progress_begin(0, 1)
        try:
            path, self.settings, self.bodies, sampled = sample.export(context, self.folder, manager.progress_update)
        finally:
            manager.progress_end()
        self.sources = {one.key: one.item.name for one in sampled if one.item.weft.role == "CLOTH"}
        self.meshes = {one.key: one.result_mesh.name for one in sampled if one.result_mesh}
        try:
            self.child = child.Child(command, path, self.run_folder, self.bodies, self.settings, context.scene.weft.threads, resume)
        except SceneError:
            self.drop_meshes()
            raise

    @property
    def scene(self):
        return bpy.data.scenes.get(self.scene_name)

    def tick(self, context):
        """Looks at the run; returns True when it has ended."""
        status = self.child.poll()
        frames = self.child.frames_done()
        scene = self.scene
        if scene:
            scene.weft.progress = 100.0 * self.child.share_done()
            scene.weft.status = "%d / %d" % (max(0, frames), self.settings.frames)
        if frames >= 0 and self.shown < 0:
            self.show_results(context)
        if frames > self.shown:
            self.shown = frames
            self.refresh(scene, frames)
        return status is not None

    def show_results(self, context):
        for key, name in self.sources.items():
            source, mesh = bpy.data.objects.get(name), bpy.data.meshes.get(self.meshes.get(key, ""))
            if source and mesh:
                load.remove_results([source])
                finishing = sample.finishing_modifiers(source)
                load.make_result(context, source, mesh, os.path.join(self.run_folder, key + ".pc2"), finishing)
                self.meshes[key] = ""

    def refresh(self, scene, frames):
        for name in self.sources.values():
            source = bpy.data.objects.get(name)
            result = load.result_of(source) if source else None
            if result:
                result.update_tag()
        if scene and scene.weft.follow and not bpy.app.background:
            scene.frame_set(scene.frame_start + max(0, frames))

    def finish(self, context):
        """Ends what is left; a sentence when it failed. Cloth that tore is loaded with all its topologies."""
        Session.current = None
        self.child.stop()
        if self.shown < 0 and self.child.frames_done() >= 0:
            self.show_results(context)
        self.drop_meshes()
        if os.path.isfile(os.path.join(self.run_folder, "frames.jsonl")):
            self.load_torn(context)
        if self.scene:
            self.scene.weft.progress = 0.0
            self.scene.weft.status = ""
        error = self.child.error()
        if error and self.child.refused_start():
            shown = self.select_crossings(context)
            error += ". %d faces that cross are selected" % shown if shown else ""
        return error

    def drop_meshes(self):
        for name in self.meshes.values():
            mesh = bpy.data.meshes.get(name) if name else None
            if mesh and mesh.users == 0:
                bpy.data.meshes.remove(mesh)

    def load_torn(self, context):
        for key, name in self.sources.items():
            source = bpy.data.objects.get(name)
            if source and os.path.isfile(os.path.join(self.run_folder, key + ".1.obj")):
                load.remove_results([source])
                for item in load.load(context, self.run_folder, set_range=False, only={key}):
                    item.weft.source = source
                load.hide(source, True)

    def select_crossings(self, context):
        """Faces that cross at the start become the selection, on the object itself or, where modifiers change its faces, on a copy."""
        total = 0
        found = self.child.crossings()
        for body in self.bodies:
            source = bpy.data.objects.get(body.label)
            if source is None or source.type != "MESH":
                continue
            faces = found.get(body.key, set())
            item = source
            if faces and len(source.data.polygons) != body.mesh.face_count:
                mesh = bpy.data.meshes.new_from_object(source.evaluated_get(context.evaluated_depsgraph_get()))
                item = bpy.data.objects.new(source.name + " (crossings)", mesh)
                item.matrix_world = source.matrix_world
                item.weft.is_result, item.weft.source = True, source
                context.scene.collection.objects.link(item)
            if faces:
                select_faces(context, item, faces)
                total += len(faces)
            item.select_set(bool(faces))
            if faces:
                context.view_layer.objects.active = item
        return total


def select_faces(context, item, faces):
    """Selected with their edges and vertices, in face mode: otherwise edit mode would drop or widen the selection."""
    mesh = item.data
    chosen = [mesh.polygons[f] for f in faces]
    vertices = {v for p in chosen for v in p.vertices}
    edges = {key for p in chosen for key in p.edge_keys}
    mesh.vertices.foreach_set("select", [v in vertices for v in range(len(mesh.vertices))])
    mesh.edges.foreach_set("select", [e.key in edges for e in mesh.edges])
    mesh.polygons.foreach_set("select", [f in faces for f in range(len(mesh.polygons))])
    mesh.update()
    context.tool_settings.mesh_select_mode = (False, False, True)


def redraw(context):
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()


class WEFT_OT_simulate(bpy.types.Operator):
    bl_idname = "weft.simulate"
    bl_label = "Simulate"
    bl_description = "Sends cloth and obstacles to Weft and plays the result while it comes"
    bl_options = {"REGISTER", "UNDO"}

    resume: BoolProperty(name="Continue", description="Go on where the last run of this scene was stopped", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return Session.current is None

    def begin(self, context):
        try:
            Session.current = Session(context, self.resume)
            return True
        except SceneError as error:
            self.report({"ERROR"}, sentence(error))
            return False

    def end(self, context):
        session = Session.current
        error = session.finish(context)
        redraw(context)
        for note in session.child.notes():
            if not error:
                self.report({"WARNING"}, sentence(note))
        if error:
            self.report({"ERROR"}, sentence(error))
            return {"CANCELLED"}
        if session.child.stopped:
            self.report({"INFO"}, "Stopped; %d frames are there. Continue goes on" % max(0, session.child.frames_done()))
            return {"FINISHED"}
        took = time.monotonic() - session.began
        passing = "" if bpy.data.is_saved or context.scene.weft.folder else ", which goes when Blender ends: save the file first, or name a folder, to keep a run"
        self.report({"INFO"}, "%d frames in %.1f s, in %s%s" % (session.settings.frames, took, session.run_folder, passing))
        return {"FINISHED"}

    def execute(self, context):
        """Waits; Ctrl-C stops the run."""
        if not self.begin(context):
            return {"CANCELLED"}
        try:
            while not Session.current.tick(context):
                time.sleep(0.05)
        except KeyboardInterrupt:
            Session.current.child.stop()
        return self.end(context)

    def invoke(self, context, _event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if not self.begin(context):
            return {"CANCELLED"}
        self.timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if Session.current is None:
            context.window_manager.event_timer_remove(self.timer)
            return {"CANCELLED"}
        done = Session.current.tick(context)
        redraw(context)
        if not done:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        return self.end(context)

    def cancel(self, _context):
        """Blender ends, or opens another file."""
        stop_session()


class WEFT_OT_stop(bpy.types.Operator):
    bl_idname = "weft.stop"
    bl_label = "Stop"
    bl_description = "Ends the simulation; finished frames stay"

    @classmethod
    def poll(cls, context):
        return Session.current is not None

    def execute(self, _context):
        Session.current.child.stop()
        return {"FINISHED"}


class WEFT_OT_write_scene(bpy.types.Operator):
    bl_idname = "weft.write_scene"
    bl_label = "Write Scene"
    bl_description = "Writes scene and samples for `weft run` without running it"

    def execute(self, context):
        try:
            path, _, _, sampled = sample.export(context, work_folder(context.scene))
        except SceneError as error:
            self.report({"ERROR"}, sentence(error))
            return {"CANCELLED"}
        for one in sampled:
            if one.result_mesh:
                bpy.data.meshes.remove(one.result_mesh)
        self.report({"INFO"}, "Written: " + path)
        return {"FINISHED"}


class WEFT_OT_clear(bpy.types.Operator):
    bl_idname = "weft.clear"
    bl_label = "Remove Results"
    bl_description = "Removes results from the scene and shows the objects again; files of the run stay"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        load.remove_results([o for o in context.scene.objects if o.weft.role == "CLOTH"])
        return {"FINISHED"}


class WEFT_OT_set_role(bpy.types.Operator):
    bl_idname = "weft.set_role"
    bl_label = "Set Role"
    bl_description = "Gives all selected objects this role"
    bl_options = {"REGISTER", "UNDO"}

    role: EnumProperty(items=[("NONE", "None", ""), ("CLOTH", "Cloth", ""), ("OBSTACLE", "Obstacle", "")])

    def execute(self, context):
        count = 0
        for item in context.selected_objects:
            if item.type == "MESH" or (self.role != "CLOTH" and item.type in sample.SURFACES):
                item.weft.role = self.role
                count += 1
        if not count:
            self.report({"ERROR"}, "Select a mesh first")
            return {"CANCELLED"}
        return {"FINISHED"}


class WEFT_OT_import_run(bpy.types.Operator):
    bl_idname = "weft.import_run"
    bl_label = "Weft Run"
    bl_description = "Loads a folder that `weft run` wrote: meshes, caches, frame rate, obstacles"
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(subtype="DIR_PATH")
    filename: StringProperty()
    obstacles: BoolProperty(name="Obstacles", default=True)
    set_range: BoolProperty(name="Frame rate and range", description="The scene takes those of the run", default=True)

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        folder = bpy.path.abspath(self.directory)
        # A folder that was clicked on but not entered is the file name here.
        inner = os.path.join(folder, self.filename) if self.filename else folder
        try:
            items = load.load(context, inner if os.path.isdir(inner) else folder, self.obstacles, self.set_range)
        except (SceneError, OSError) as error:
            self.report({"ERROR"}, sentence(error))
            return {"CANCELLED"}
        self.report({"INFO"}, "%d objects of the run are there" % len(items))
        return {"FINISHED"}


def sentence(text):
    text = str(text).strip()
    return text[:1].upper() + text[1:]


def stop_session():
    if Session.current:
        Session.current.child.stop(1.0)
        Session.current = None


@bpy.app.handlers.persistent
def before_load(*_):
    stop_session()


def menu(self, _context):
    self.layout.operator(WEFT_OT_import_run.bl_idname, text="Weft Run (folder)")


classes = (
    WEFT_OT_simulate, WEFT_OT_stop, WEFT_OT_write_scene, WEFT_OT_clear, WEFT_OT_set_role, WEFT_OT_import_run,
)  # fmt: skip


def register():
    for item in classes:
        bpy.utils.register_class(item)
    bpy.types.TOPBAR_MT_file_import.append(menu)
    bpy.app.handlers.load_pre.append(before_load)


def unregister():
    stop_session()
    bpy.app.handlers.load_pre.remove(before_load)
    bpy.types.TOPBAR_MT_file_import.remove(menu)
    for item in reversed(classes):
        bpy.utils.unregister_class(item)
