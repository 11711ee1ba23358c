"""What the panels show: of each object its role, of the scene how it is simulated, of the add-on where `weft` is."""
import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from . import child


def command_of(context):
    addon = context.preferences.addons.get(__package__)
    wish = addon.preferences.command if addon else ""
    return child.find_command(bpy.path.abspath(wish) if wish else "")


def _search(kind):
    """Suggestions for a text field: names with what they mean. Texts, so that files stay readable when lists change."""

    def suggest(_self, context, typed):
        return [name for name, _ in child.names(command_of(context), kind) if typed.lower() in name]

    return suggest


def _groups(self, _context, typed):
    return [g.name for g in self.id_data.vertex_groups if typed.lower() in g.name.lower()]


class WeftObject(bpy.types.PropertyGroup):
    role: EnumProperty(
        name="Role",
        items=[
            ("NONE", "None", "Not simulated"),
            ("CLOTH", "Cloth", "Simulated as cloth, as the object stands in the first frame"),
            ("OBSTACLE", "Obstacle", "Cloth collides with it; its motion and deformation are sampled"),
        ],
        default="NONE",
    )
    material: StringProperty(name="Fabric", description="A name from `weft list materials`", default="cotton", search=_search("materials"))
    pin_group: StringProperty(
        name="Pins",
        description="Vertices of this group are held. They follow what moves the object: keys, parents, armatures, hooks",
        search=_groups,
    )
    pin_threshold: FloatProperty(name="Held from", description="Weight from which on a vertex of the group is held", default=0.5, min=0.0, max=1.0)
    pin_soft: BoolProperty(name="Soft", description="Weights between 0 and 1 pull vertices softly to where the group moves, instead of holding or leaving them")
    pin_stiffness: FloatProperty(
        name="Pull", description="How hard a weight of one half pulls, 1/s²: of the mass, so that the mesh does not matter", default=1e4, min=0.0, soft_max=1e6
    )
    rest: EnumProperty(
        name="Rest",
        items=[
            ("shape", "As it stands", "The mesh as it is in the first frame has no tension"),
            ("uv", "UV map", "The active UV map is the cut pattern"),
        ],
    )
    uv_scale: FloatProperty(name="Metres a unit", description="Length of one unit of the UV map, m", default=1.0, min=1e-4, soft_max=10.0)
    finish: BoolProperty(
        name="Finish later",
        description="Subdivision, Solidify and Bevel at the end of the stack are not simulated but put on the result",
        default=True,
    )
    use_contact: BoolProperty(name="Own contact", description="Instead of those of the scene")
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, soft_max=1.0)
    thickness: FloatProperty(name="Thickness", description="Distance that cloth keeps, m", default=0.001, min=1e-5, soft_max=0.02, precision=4)
    extra: StringProperty(
        name="More keys",
        description='JSON that is put over what the panel says, as docs/scene-reference.md has it: {"tear": 500}',
    )
    # Of results: what they came from.
    source: PointerProperty(type=bpy.types.Object)
    is_result: BoolProperty()


class WeftScene(bpy.types.PropertyGroup):
    method: StringProperty(name="Method", description="A name from `weft list methods`", default="implicit-euler", search=_search("methods"))
    solver: StringProperty(name="Solver", description="A name from `weft list solvers`", default="auto", search=_search("solvers"))
    steps: IntProperty(name="Steps a frame", description="Shorter steps are more exact and damp less", default=8, min=1, soft_max=50, max=10000)
    samples: IntProperty(name="Samples a frame", description="How often a frame moving objects are looked at", default=2, min=1, max=64)
    friction: FloatProperty(name="Friction", default=0.3, min=0.0, soft_max=1.0)
    thickness: FloatProperty(name="Thickness", description="Distance that cloth keeps, m", default=0.001, min=1e-5, soft_max=0.02, precision=4)
    start: EnumProperty(
        name="Crossing start",
        items=[
            ("refuse", "Refuse", "What crosses is shown as selected faces"),
            ("resolve", "Untangle", "Cloth is untangled before the first frame"),
            ("settle", "Settle", "The simulation starts anyway and parts what crosses"),
        ],
    )
    use_air: BoolProperty(name="Air", description="Drag and wind")
    wind: FloatVectorProperty(name="Wind", description="m/s, along Blender's axes", size=3)
    folder: StringProperty(
        name="Folder",
        description="Where scene and run are kept; empty: beside the .blend file, or a temporary one while that is not saved",
        subtype="DIR_PATH",
    )
    threads: IntProperty(name="Threads", description="0: one a core", default=0, min=0, max=256)
    follow: BoolProperty(name="Follow", description="The timeline goes along with the frames that are done")
    extra: StringProperty(
        name="More keys",
        description='JSON that is put over what the panel says, as docs/scene-reference.md has it: {"model": "choi-ko"}',
    )
    progress: FloatProperty(name="Progress", subtype="PERCENTAGE", min=0.0, max=100.0, options={"SKIP_SAVE"})
    status: StringProperty(options={"SKIP_SAVE"})


class WeftPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    command: StringProperty(
        name="Command", description="Path of the program weft; empty: $WEFT, the one on the PATH, or the build that packed the add-on", subtype="FILE_PATH"
    )

    def draw(self, context):
        self.layout.prop(self, "command")
        found = command_of(context)
        self.layout.label(text="found: " + found if found else child.NOT_FOUND, icon="CHECKMARK" if found else "ERROR")


classes = (WeftObject, WeftScene, WeftPreferences)


def register():
    for item in classes:
        bpy.utils.register_class(item)
    bpy.types.Object.weft = PointerProperty(type=WeftObject)
    bpy.types.Scene.weft = PointerProperty(type=WeftScene)


def unregister():
    del bpy.types.Scene.weft
    del bpy.types.Object.weft
    for item in reversed(classes):
        bpy.utils.unregister_class(item)
