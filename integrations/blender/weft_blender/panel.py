"""The sidebar of the 3D view, tab Weft."""
import bpy

from . import child
from .operators import Session
from .properties import command_of


class WEFT_PT_main(bpy.types.Panel):
    bl_label = "Weft"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Weft"

    def draw(self, context):
        layout, weft = self.layout, context.scene.weft
        if not command_of(context):
            box = layout.box()
            box.label(text="`weft` is not found:", icon="ERROR")
            box.label(text="set its path in the add-on's preferences")
        if Session.current:
            row = layout.row(align=True)
            if hasattr(row, "progress"):  # Blender 4.0
                row.progress(factor=weft.progress / 100.0, text=weft.status)
            else:
                row.prop(weft, "progress", text=weft.status, slider=True)
            row.operator("weft.stop", text="", icon="CANCEL")
        else:
            row = layout.row(align=True)
            row.operator("weft.simulate", icon="PLAY")
            row.operator("weft.simulate", text="Continue").resume = True
        row = layout.row(align=True)
        row.operator("weft.import_run", text="Load a Run", icon="IMPORT")
        row.operator("weft.clear", text="Remove Results", icon="X")


class WEFT_PT_object(bpy.types.Panel):
    bl_label = "Object"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Weft"
    bl_parent_id = "WEFT_PT_main"

    def draw(self, context):
        layout = self.layout
        row = layout.row(align=True)
        for role in ("CLOTH", "OBSTACLE", "NONE"):
            row.operator("weft.set_role", text=role.capitalize()).role = role
        item = context.object
        if item is None:
            layout.label(text="no object is active")
            return
        layout.use_property_split = True
        settings = item.weft
        layout.label(text="%s: %s" % (item.name, settings.role.lower()))
        if settings.role == "CLOTH":
            layout.prop(settings, "material")
            layout.prop(settings, "pin_group")
            if settings.pin_group:
                layout.prop(settings, "pin_soft")
                layout.prop(settings, "pin_stiffness" if settings.pin_soft else "pin_threshold")
            layout.prop(settings, "rest")
            if settings.rest == "uv":
                layout.prop(settings, "uv_scale")
            layout.prop(settings, "finish")
        if settings.role != "NONE":
            layout.prop(settings, "use_contact")
            if settings.use_contact:
                layout.prop(settings, "friction")
                layout.prop(settings, "thickness")
            layout.prop(settings, "extra")


class WEFT_PT_scene(bpy.types.Panel):
    bl_label = "Simulation"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Weft"
    bl_parent_id = "WEFT_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, weft = self.layout, context.scene.weft
        layout.use_property_split = True
        summaries = dict(child.names(command_of(context), "methods"))
        layout.prop(weft, "method")
        if summaries.get(weft.method):
            layout.label(text=summaries[weft.method])
        for name in ("solver", "steps", "samples", "friction", "thickness", "start", "use_air"):
            layout.prop(weft, name)
        if weft.use_air:
            layout.prop(weft, "wind")
        for name in ("threads", "follow", "folder", "extra"):
            layout.prop(weft, name)
        layout.operator("weft.write_scene")


classes = (WEFT_PT_main, WEFT_PT_object, WEFT_PT_scene)


def register():
    for item in classes:
        bpy.utils.register_class(item)


def unregister():
    for item in reversed(classes):
        bpy.utils.unregister_class(item)
