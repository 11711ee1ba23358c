"""Weft in Blender: load runs, send scenes. docs/blender.md of Weft says how to use it."""
bl_info = {
    "name": "Weft cloth",
    "description": "Cloth simulation by Weft: send meshes and armatures, play the result while it is computed, load runs",
    "author": "Weft",
    "version": (1, 0, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Weft; File > Import",
    "category": "Physics",
}

try:
    import bpy  # noqa: F401
except ImportError:
    bpy = None  # build_scene, read_run and child need no Blender

if bpy is not None:
    from . import operators, panel, properties

    _parts = (properties, operators, panel)

    def register():
        for part in _parts:
            part.register()

    def unregister():
        for part in reversed(_parts):
            part.unregister()
