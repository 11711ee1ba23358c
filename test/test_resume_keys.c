// Every key of the scene schema against --resume: a run is begun, then resumed with another value of the key, which
// must be refused unless the key cannot change a result. The keys come from the schema itself: one without a row here
// fails the test, so that nobody can add a key and forget the fingerprint.
#include "common.h"

#include <stdlib.h>
#include <string.h>

#include "common_run.h"
#include "common_scene.h"
#include "common_settings.h"
#include "core/core.h"
#include "scene/tree.h"
#include "weft/cache.h"

// ---- scenes

// Most keys need nothing but a sheet.
static const char plain[] = "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"solver\": \"mpcg\", " CLOTH
                            ", \"pins\": [{\"where\": {\"corner\": \"top-left\"}}]}]}";

// Three sheets over a large one, every shape far below them, multigrid, wind.
static const char rich[] =
    "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"solver\": \"sa-ppcg\", \"air\": {\"wind\": [1, 0, "
    "0]}, \"cloth\": [{\"name\": \"a\", \"mesh\": {\"grid\": {\"cells\": 3, \"tessellation\": \"irregular\"}}, "
    "\"pins\": "
    "[{\"where\": {\"edge\": \"top\"}, \"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 0.1, 0], \"angle\": "
    "9}], "
    "\"axis\": [0, 1, 0]}], \"forces\": [{\"where\": {\"edge\": \"top\"}, \"force\": [0, 0, 0.01]}]}, {\"name\": "
    "\"b\", "
    "\"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.3}}, \"transform\": {\"translate\": [0, 0.01, 0]}}, {\"name\": "
    "\"c\", \"mesh\": {\"grid\": {\"cells\": 2, \"size\": 0.2}}, \"transform\": {\"translate\": [0, 0.02, 0]}, "
    "\"pins\": [{\"where\": "
    "{\"vertices\": [0]}, \"samples\": {\"positions\": [-0.1, 0.02, 0.1, -0.1, 0.021, 0.1], \"rate\": 10}}]}, "
    "{\"name\": \"d\", \"mesh\": {\"grid\": {\"cells\": 3}}, \"transform\": {\"translate\": [0, 0.03, 0]}}], \"ties\": "
    "[{\"cloth\": \"b\", \"to\": \"a\", \"where\": {\"edge\": \"top\"}}], \"contact\": {\"exclude\": [{\"pair\": "
    "[\"a\", "
    "\"ball\"], \"where\": {\"edge\": \"top\"}}]}, \"obstacles\": [{\"shape\": {\"plane\": {\"point\": [0, -9, 0]}}}, "
    "{\"name\": \"ball\", \"shape\": {\"sphere\": {\"center\": [0, -5, 0], \"radius\": 0.5, \"segments\": 2}}, "
    "\"motion\": {\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 0.1, 0], \"angle\": 9}], \"axis\": [0, 1, "
    "0]}}, {\"name\": \"crate\", \"shape\": {\"box\": {\"center\": [3, -5, 0], \"size\": 1}}}, {\"shape\": "
    "{\"cylinder\": {\"from\": [5, -5, 0], \"to\": [5, -4, 0], \"radius\": 0.2, \"segments\": 5}}}, {\"shape\": "
    "{\"capsule\": {\"from\": [7, -5, 0], \"to\": [7, -4, 0], \"radius\": 0.2, \"segments\": 4}}}, {\"shape\": "
    "{\"torus\": {\"center\": [9, -5, 0], \"radius\": 0.5, \"tube\": 0.2, \"segments\": 5}}}]}";

// What files hold: a sheet of two panels in an OBJ file with a vt map, bodies that deform.
static const char files[] =
    "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"cloth\": [{\"name\": \"sheet\", \"mesh\": "
    "{\"obj\": "
    "\"sheet.obj\", \"object\": \"front\"}, \"rest\": \"uv\", \"material\": {\"young_modulus\": 1e6, "
    "\"poisson_ratio\": "
    "0.3, \"thickness\": 0.001, \"volume_density\": 300}}, {\"name\": \"button\", \"mesh\": {\"obj\": "
    "\"button.obj\"}}], \"obstacles\": [{\"name\": \"panel\", \"mesh\": {\"obj\": "
    "\"sheet.obj\", \"object\": \"front\"}, \"transform\": {\"translate\": [0, -5, 0]}}, {\"name\": \"swims\", "
    "\"mesh\": "
    "{\"obj\": \"walk_0.obj\"}, \"transform\": {\"translate\": [0, -7, 0]}, \"deform\": {\"pc2\": \"swim.pc2\", "
    "\"rate\": 10}}, {\"name\": \"walks\", \"mesh\": {\"obj\": \"walk_0.obj\"}, \"transform\": {\"translate\": [0, -9, "
    "0]}, \"deform\": {\"obj_sequence\": \"walk_%d.obj\", \"first\": 0, \"last\": 2, \"rate\": 10}}, "
    "{\"name\": \"dances\", \"mesh\": {\"gltf\": \"dance.gltf\"}, \"transform\": {\"translate\": [0, -12, 0]}, "
    "\"deform\": {\"animation\": 0}}]}";

// Strands and solids, far from each other.
static const char objects[] =
    "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"strands\": [{\"name\": \"hair\", \"mesh\": "
    "{\"brush\": {\"count\": [2, 2], \"vertices\": 3}}}, {\"name\": \"cord\", \"mesh\": {\"obj\": \"cord.obj\", "
    "\"object\": \"front\"}, \"transform\": {\"translate\": [1, 0, 0]}}], \"volumes\": [{\"name\": \"box\", \"mesh\": "
    "{\"solid\": {\"box\": {\"size\": 0.1, \"cells\": 1}}}, \"transform\": {\"translate\": [2, 0, 0]}}, {\"name\": "
    "\"bar\", \"mesh\": {\"solid\": {\"bar\": {\"size\": [0.2, 0.1], \"cells\": 2}}}, \"transform\": {\"translate\": "
    "[3, "
    "0, 0]}}, {\"name\": \"ball\", \"mesh\": {\"solid\": {\"ball\": {\"radius\": 0.1, \"cells\": 1}}}, \"transform\": "
    "{\"translate\": [4, 0, 0]}}, {\"name\": \"read\", \"mesh\": {\"tets\": \"one.node\"}, \"transform\": "
    "{\"translate\": "
    "[5, 0, 0]}}, {\"name\": \"shell\", \"mesh\": {\"obj\": \"solid.obj\"}, \"transform\": {\"translate\": [8, 0, "
    "0]}}]}";

// Models of springs.
static const char springs[] = "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"model\": "
                              "{\"name\": \"choi-ko\"}, " CLOTH "}]}";

// A sheet whose corners are sewn, and one from a pattern.
static const char sewn[] =
    "{\"time_step\": 0.01, \"steps_per_frame\": 1, \"frames\": 1, \"contact\": {\"enabled\": false}, " CLOTH
    ", \"stitch\": {\"pairs\": [[0, 3]]}}, {\"name\": \"cut\", \"mesh\": {\"pattern\": \"square.json\", \"edge\": "
    "0.3}}]}";

static const char* const scenes[] = {plain, rich, files, objects, springs, sewn};

enum
{
    PLAIN,
    RICH,
    FILES,
    OBJECTS,
    SPRINGS,
    SEWN,
    SCENE_COUNT
};

// ---- a change for every key

typedef struct change
{
    const char* key;      // of the schema, without the indices of lists
    int scene;            // that is changed
    const char* override; // as --set takes it
    const char* harmless; // why the value cannot change a result; NULL: it can
} change;

// A "where" that was the top edge.
#define SELECTION(key, path)                                                                                           \
    {key ".where", RICH, path ".where={\"edge\": \"left\"}", NULL},                                                    \
        {key ".where.vertices", RICH, path ".where={\"vertices\": [0]}", NULL},                                        \
        {key ".where.box", RICH, path ".where={\"box\": {\"min\": [-1, -1, -1], \"max\": [1, 1, 1]}}", NULL},          \
        {key ".where.box.min", RICH, path ".where={\"box\": {\"min\": [0, -1, -1], \"max\": [1, 1, 1]}}", NULL},       \
        {key ".where.box.max", RICH, path ".where={\"box\": {\"min\": [-1, -1, -1], \"max\": [0, 1, 1]}}", NULL},      \
        {key ".where.edge", RICH, path ".where.edge=bottom", NULL},                                                    \
        {key ".where.corner", RICH, path ".where={\"corner\": \"bottom-left\"}", NULL},                                \
    {                                                                                                                  \
        key ".where.nearest", RICH, path ".where={\"nearest\": [0, 0, 0]}", NULL                                       \
    }

// A path and an axis.
#define MOTION(key, path)                                                                                              \
    {key ".path", RICH, path ".path=[{\"time\": 0}]", NULL}, {key ".path.time", RICH, path ".path.1.time=2", NULL},    \
        {key ".path.offset", RICH, path ".path.1.offset=[0, 0.2, 0]", NULL},                                           \
        {key ".path.angle", RICH, path ".path.1.angle=8", NULL}, {key ".axis", RICH, path ".axis=[0, 0, 1]", NULL},    \
    {                                                                                                                  \
        key ".center", RICH, path ".center=[1, 0, 0]", NULL                                                            \
    }

#define REGION(where) "cloth.0.regions=[{\"where\": " where ", \"material\": {\"shear\": 7}}]"

#define BAND(where, scale, stiffness)                                                                                  \
    "cloth.0.bands=[{\"where\": " where ", \"rest_scale\": " scale ", \"stiffness\": " stiffness "}]"
#define FOLD_AT(where) "cloth.0.folds=[{\"where\": " where ", \"rest_angle\": 50}]"
#define FOLD(angle) "cloth.0.folds=[{\"where\": {\"vertices\": [5, 6]}, \"rest_angle\": " angle "}]"

#define OF_FACE(values) "cloth.0.regions=[{\"faces\": [9, 10, 11, 12], \"material\": {" values "}}]"
#define BULK(young, poisson, thick, density)                                                                           \
    "\"young_modulus\": " #young ", \"poisson_ratio\": " #poisson ", \"thickness\": " #thick                           \
    ", \"volume_density\": " #density

static const change changes[] = {
    {"$schema", PLAIN, "$schema=other.json", "editors read it"},
    {"description", PLAIN, "description=Other words.", "people read it"},
    {"frames", PLAIN, "frames=3", "a run goes on to any number of frames"},
    {"initial_contact", PLAIN, "initial_contact=resolve", "how the run started is over: its checkpoint has the state"},
    {"layers", PLAIN, "layers=[]", "likewise"},
    {"time_step", PLAIN, "time_step=0.02", NULL},
    {"steps_per_frame", PLAIN, "steps_per_frame=2", NULL},
    {"gravity", PLAIN, "gravity=[0, -9.8, 0]", NULL},
    {"method", PLAIN, "method=newton", NULL},
    {"kernels", PLAIN, "kernels=base", NULL},
    {"solver", PLAIN, "solver=cholesky", NULL},
    {"solver.name", PLAIN, "solver.name=diag-pcg", NULL},
    {"solver.preconditioner", PLAIN, "solver.preconditioner=diagonal", NULL},
    {"solver.variant", PLAIN, "solver.variant=original", NULL},
    {"solver.tolerance", PLAIN, "solver.tolerance=1e-6", NULL},
    {"solver.max_iterations", PLAIN, "solver.max_iterations=50", NULL},
    {"solver.sa", RICH, "solver.sa={\"degree\": 3}", NULL},
    {"solver.sa.theta", RICH, "solver.sa.theta=0.3", NULL},
    {"solver.sa.distance", RICH, "solver.sa.distance=1", NULL},
    {"solver.sa.vectors", RICH, "solver.sa.vectors=3", NULL},
    {"solver.sa.relax", RICH, "solver.sa.relax=2", NULL},
    {"solver.sa.filter", RICH, "solver.sa.filter=0.1", NULL},
    {"solver.sa.lanczos", RICH, "solver.sa.lanczos=12", NULL},
    {"solver.sa.margin", RICH, "solver.sa.margin=1.2", NULL},
    {"solver.sa.degree", RICH, "solver.sa.degree=3", NULL},
    {"solver.sa.lower", RICH, "solver.sa.lower=0.1", NULL},
    {"solver.sa.coarsest", RICH, "solver.sa.coarsest=100", NULL},
    {"solver.sa.precision", RICH, "solver.sa.precision=64", NULL},
    {"solver.sa.reuse", RICH, "solver.sa.reuse=0", NULL},
    {"solver.sa.smoother", RICH, "solver.sa.smoother=2", NULL},
    {"solver.sa", PLAIN, "solver.sa.degree=3", "mpcg has no multigrid"},
    {"step_control", PLAIN, "step_control={\"max_halvings\": 4}", NULL},
    {"step_control.max_halvings", PLAIN, "step_control.max_halvings=5", NULL},
    {"step_control.max_stretch", PLAIN, "step_control.max_stretch=1.5", NULL},
    {"step_control.max_strain", PLAIN, "step_control.max_strain=0.1", NULL},
    {"air", PLAIN, "air={}", NULL},
    {"air.density", RICH, "air.density=1", NULL},
    {"air.drag", RICH, "air.drag=0.5", NULL},
    {"air.friction", RICH, "air.friction=0.5", NULL},
    {"air.wind", RICH, "air.wind=[1, 0, 1]", NULL},
    {"air.gust", RICH, "air.gust=0.5", NULL},
    {"air.gust_period", RICH, "air.gust_period=2", NULL},
    {"air.slip", RICH, "air.slip=0.5", NULL},
    {"air.gust_length", RICH, "air.gust_length=2", NULL},
    {"model", PLAIN, "model={\"bending\": \"hinge\"}", NULL},
    {"model.bending", PLAIN, "model.bending=hinge", NULL},
    {"model.name", PLAIN, "model.name=hooke", NULL},
    {"model.damper", SPRINGS, "model.damper=plain", NULL},
    {"model.damper_stretch", SPRINGS, "model.damper_stretch=1", NULL},
    {"model.damper_shear", SPRINGS, "model.damper_shear=1", NULL},
    {"model.bend_start", SPRINGS, "model.bend_start=1", NULL},
    {"cloth.model.name", PLAIN, "cloth.0.model.name=hooke", NULL},
    {"contact", PLAIN, "contact={\"friction\": 0.9}", NULL},
    {"contact.enabled", PLAIN, "contact.enabled=false", NULL},
    {"contact.friction", PLAIN, "contact.friction=0.5", NULL},
    {"contact.friction.static", PLAIN, "contact.friction={\"static\": 0.4, \"kinetic\": 0.3}", NULL},
    {"contact.friction.kinetic", PLAIN, "contact.friction={\"static\": 0.3, \"kinetic\": 0.2}", NULL},
    {"contact.thickness", PLAIN, "contact.thickness=0.002", NULL},
    {"contact.particles", PLAIN, "contact.particles={}", NULL},
    {"contact.particles.distance", PLAIN, "contact.particles.distance=0.5", NULL},
    {"contact.particles.stiffness", PLAIN, "contact.particles.stiffness=10", NULL},
    {"contact.particles.damping", PLAIN, "contact.particles.damping=0.1", NULL},
    {"contact.exclude", RICH, "contact.exclude=[]", NULL},
    {"contact.exclude.pair", RICH, "contact.exclude.0.pair=[\"a\", \"crate\"]", NULL},
    SELECTION("contact.exclude", "contact.exclude.0"),
    {"contact.exclude.where.object", FILES,
     "contact.exclude=[{\"pair\": [\"sheet\", \"panel\"], \"where\": {\"object\": \"front\"}}]", NULL},

    {"cloth", PLAIN, "cloth=[{\"mesh\": {\"grid\": {\"cells\": 4}}}, {\"mesh\": {\"grid\": {\"cells\": 4}}}]", NULL},
    {"cloth.name", PLAIN, "cloth.0.name=other", NULL},
    {"cloth.mesh", PLAIN, "cloth.0.mesh={\"grid\": {\"cells\": 5}}", NULL},
    {"cloth.mesh.grid", PLAIN, "cloth.0.mesh.grid={\"cells\": 3}", NULL},
    {"cloth.mesh.grid.size", PLAIN, "cloth.0.mesh.grid.size=2", NULL},
    {"cloth.mesh.grid.cells", PLAIN, "cloth.0.mesh.grid.cells=2", NULL},
    {"cloth.mesh.grid.tessellation", PLAIN, "cloth.0.mesh.grid.tessellation=irregular", NULL},
    {"cloth.mesh.grid.faces", PLAIN, "cloth.0.mesh.grid.faces=quads", NULL},
    {"cloth.mesh.grid.plane", PLAIN, "cloth.0.mesh.grid.plane=xy", NULL},
    {"cloth.mesh.grid.shape", PLAIN, "cloth.0.mesh.grid.shape=l", NULL},
    {"cloth.mesh.grid.flare", PLAIN,
     "cloth=[{\"mesh\": {\"grid\": {\"cells\": 4, \"shape\": \"tube\", \"flare\": 0.5}}}]", NULL},
    {"cloth.mesh.grid.seed", RICH, "cloth.0.mesh.grid.seed=2", NULL},
    {"cloth.mesh.obj", FILES, "cloth.0.mesh.obj=other.obj", NULL},
    {"cloth.mesh.object", FILES, "cloth.0.mesh.object=null", NULL},
    {"cloth.mesh.scale", FILES, "cloth.0.mesh.scale=2", NULL},
    {"cloth.mesh.weld", FILES, "cloth.0.mesh.weld=0.01", NULL},
    {"cloth.rest", FILES, "cloth.0.rest=shape", NULL},
    {"cloth.uv_scale", FILES, "cloth.0.uv_scale=2", NULL},
    {"cloth.warp", PLAIN, "cloth.0.warp=[0, 0, 1]", NULL},
    {"cloth.material", PLAIN, "cloth.0.material=silk", NULL},
    {"cloth.material.base", PLAIN, "cloth.0.material.base=denim", NULL},
    {"cloth.material.density", PLAIN, "cloth.0.material.density=0.2", NULL},
    {"cloth.material.stretch_warp", PLAIN, "cloth.0.material.stretch_warp=4000", NULL},
    {"cloth.material.stretch_weft", PLAIN, "cloth.0.material.stretch_weft=4000", NULL},
    {"cloth.material.shear", PLAIN, "cloth.0.material.shear=400", NULL},
    {"cloth.material.bending", PLAIN, "cloth.0.material.bending=2e-5", NULL},
    {"cloth.material.damping", PLAIN, "cloth.0.material.damping=2e-3", NULL},
    {"cloth.material.bending.warp", PLAIN, "cloth.0.material={\"bending\": {\"warp\": 2e-5}}", NULL},
    {"cloth.material.bending.weft", PLAIN, "cloth.0.material={\"bending\": {\"warp\": 1e-5, \"weft\": 2e-5}}", NULL},
    {"cloth.material.bending.bias", PLAIN, "cloth.0.material={\"bending\": {\"warp\": 1e-5, \"bias\": 1.5e-5}}", NULL},
    {"cloth.material.bending.curvature", PLAIN, "cloth.0.material={\"bending\": {\"warp\": 1e-5, \"curvature\": 50, \"beyond\": 0.5}}", NULL},
    {"cloth.material.bending.beyond", PLAIN, "cloth.0.material={\"bending\": {\"warp\": 1e-5, \"curvature\": 50, \"beyond\": 0.2}}", NULL},
    {"cloth.material.stretch_warp.soft", PLAIN, "cloth.0.material={\"stretch_warp\": {\"soft\": 4000, \"knee\": 0.01, \"stiff\": 9000}}", NULL},
    {"cloth.material.stretch_warp.knee", PLAIN, "cloth.0.material={\"stretch_warp\": {\"soft\": 5000, \"knee\": 0.02, \"stiff\": 9000}}", NULL},
    {"cloth.material.stretch_warp.stiff", PLAIN, "cloth.0.material={\"stretch_warp\": {\"soft\": 5000, \"knee\": 0.01, \"stiff\": 8000}}", NULL},
    {"cloth.material.stretch_weft.soft", PLAIN, "cloth.0.material={\"stretch_weft\": {\"soft\": 4000, \"knee\": 0.01, \"stiff\": 9000}}", NULL},
    {"cloth.material.stretch_weft.knee", PLAIN, "cloth.0.material={\"stretch_weft\": {\"soft\": 5000, \"knee\": 0.02, \"stiff\": 9000}}", NULL},
    {"cloth.material.stretch_weft.stiff", PLAIN, "cloth.0.material={\"stretch_weft\": {\"soft\": 5000, \"knee\": 0.01, \"stiff\": 8000}}", NULL},
    {"cloth.material.strain_limit", PLAIN, "cloth.0.material={\"strain_limit\": 0.05}", NULL},
    {"cloth.material.crease", PLAIN, "cloth.0.material={\"crease\": {\"curvature\": 50}}", NULL},
    {"cloth.material.crease.curvature", PLAIN, "cloth.0.material={\"crease\": {\"curvature\": 60, \"share\": 0.5}}", NULL},
    {"cloth.material.crease.share", PLAIN, "cloth.0.material={\"crease\": {\"curvature\": 50, \"share\": 0.5}}", NULL},
    {"cloth.material.young_modulus", FILES, "cloth.0.material.young_modulus=2e6", NULL},
    {"cloth.material.poisson_ratio", FILES, "cloth.0.material.poisson_ratio=0.2", NULL},
    {"cloth.material.thickness", FILES, "cloth.0.material.thickness=0.002", NULL},
    {"cloth.material.volume_density", FILES, "cloth.0.material.volume_density=400", NULL},
    {"cloth.model", PLAIN, "cloth.0.model={\"bending\": \"hinge\"}", NULL},
    {"cloth.model.damper", SPRINGS, "cloth.0.model.damper=none", NULL},
    {"cloth.model.damper_stretch", SPRINGS, "cloth.0.model.damper_stretch=1", NULL},
    {"cloth.model.damper_shear", SPRINGS, "cloth.0.model.damper_shear=1", NULL},
    {"cloth.model.bend_start", SPRINGS, "cloth.0.model.bend_start=1", NULL},
    {"cloth.model.bending", PLAIN, "cloth.0.model.bending=hinge", NULL},
    {"cloth.transform", PLAIN, "cloth.0.transform={\"translate\": [0, 1, 0]}", NULL},
    {"cloth.transform.translate", RICH, "cloth.2.transform.translate=[0.01, 0.02, 0]", NULL},
    {"cloth.transform.rotate", RICH, "cloth.2.transform.rotate=[0, 90, 0]", NULL},
    {"cloth.transform.scale", RICH, "cloth.2.transform.scale=0.5", NULL},
    {"cloth.velocity", PLAIN, "cloth.0.velocity=[0, 0, 1]", NULL},
    {"cloth.friction", PLAIN, "cloth.0.friction=0.5", NULL},
    {"cloth.friction.static", PLAIN, "cloth.0.friction={\"static\": 0.4, \"kinetic\": 0.3}", NULL},
    {"cloth.friction.kinetic", PLAIN, "cloth.0.friction={\"static\": 0.3, \"kinetic\": 0.2}", NULL},
    {"cloth.thickness", PLAIN, "cloth.0.thickness=0.002", NULL},
    {"cloth.tear", PLAIN, "cloth.0.tear=1000", NULL},
    {"cloth.settings", PLAIN, "cloth.0.settings={\"newton\": {\"iterations\": 50}}", NULL},
    {"cloth.start", PLAIN, "cloth.0.start={\"obj\": \"start.obj\"}", NULL},
    {"cloth.start.obj", PLAIN, "cloth.0.start={\"obj\": \"start.obj\"}", NULL},
    {"cloth.start.scale", PLAIN, "cloth.0.start={\"obj\": \"start.obj\", \"scale\": 2}", NULL},
    {"cloth.stitch", PLAIN, "cloth.0.stitch={\"pairs\": [[0, 3]]}", NULL},
    {"cloth.stitch.start", SEWN, "cloth.0.stitch.start=1", NULL},
    {"cloth.stitch.close", SEWN, "cloth.0.stitch.close=2", NULL},
    {"cloth.stitch.pairs", SEWN, "cloth.0.stitch.pairs=[[0, 3], [1, 2]]", NULL},
    {"cloth.mesh.pattern", SEWN, "cloth.1.mesh.pattern=larger.json", NULL},
    {"cloth.mesh.edge", SEWN, "cloth.1.mesh.edge=0.2", NULL},
    {"cloth.vertex_mass", PLAIN, "cloth.0.vertex_mass=0.01", NULL},
    {"cloth.pins", PLAIN, "cloth.0.pins=[]", NULL},
    SELECTION("cloth.pins", "cloth.0.pins.0"),
    {"cloth.pins.where.seam", SEWN, "cloth.1.pins=[{\"where\": {\"seam\": [\"p\", 0]}}]", NULL},
    {"contact.exclude.where.seam", SEWN,
     "contact.exclude=[{\"pair\": [\"cut\", \"cloth1\"], \"where\": {\"seam\": [\"p\", 0]}}]", NULL},
    {"cloth.forces.where.seam", SEWN,
     "cloth.1.forces=[{\"where\": {\"seam\": [\"p\", 0]}, \"force\": [1, 0, 0]}]", NULL},
    {"ties.where.seam", SEWN,
     "ties=[{\"cloth\": \"cut\", \"to\": \"cloth1\", \"where\": {\"seam\": [\"p\", 0]}}]", NULL},
    {"cloth.pins.where.object", FILES, "cloth.0.pins=[{\"where\": {\"object\": \"front\"}}]", NULL},
    {"cloth.pins.fix", PLAIN, "cloth.0.pins.0.fix={\"line\": [0, 1, 0]}", NULL},
    {"cloth.pins.fix.line", PLAIN, "cloth.0.pins.0.fix={\"line\": [0, 0, 1]}", NULL},
    {"cloth.pins.fix.plane", PLAIN, "cloth.0.pins.0.fix={\"plane\": [0, 1, 0]}", NULL},
    MOTION("cloth.pins", "cloth.0.pins.0"),
    {"cloth.pins.release", PLAIN, "cloth.0.pins.0.release=1", NULL},
    {"cloth.pins.follow", RICH, "cloth.0.pins.0.follow=ball", NULL},
    {"cloth.pins.weights", PLAIN, "cloth.0.pins.0.weights=0.5", NULL},
    {"cloth.pins.fade", PLAIN, "cloth.0.pins.0.fade=0.3", NULL},
    {"cloth.pins.stiffness", PLAIN, "cloth.0.pins=[{\"where\": {\"vertices\": [0]}, \"weights\": 0.5, \"stiffness\": 100}]", NULL},
    {"cloth.pins.samples", RICH, "cloth.2.pins.0.samples={\"positions\": [-0.1, 0.02, 0.1]}", NULL},
    {"cloth.pins.samples.positions", RICH, "cloth.2.pins.0.samples.positions=[-0.1, 0.02, 0.1, -0.1, 0.022, 0.1]",
     NULL},
    {"cloth.pins.samples.pc2", RICH, "cloth.2.pins.0.samples={\"pc2\": \"nine.pc2\", \"rate\": 10}", NULL},
    {"cloth.pins.samples.rate", RICH, "cloth.2.pins.0.samples.rate=20", NULL},
    {"cloth.pins.samples.start", RICH, "cloth.2.pins.0.samples.start=1", NULL},
    {"cloth.bands", PLAIN, BAND("{\"edge\": \"top\"}", "0.8", "20"), NULL},
    {"cloth.bands.rest_scale", PLAIN, BAND("{\"edge\": \"top\"}", "0.7", "20"), NULL},
    {"cloth.bands.stiffness", PLAIN, BAND("{\"edge\": \"top\"}", "0.8", "30"), NULL},
    {"cloth.folds", PLAIN, FOLD("90"), NULL},
    {"cloth.folds.rest_angle", PLAIN, FOLD("-30"), NULL},
    {"cloth.bands.where", PLAIN, BAND("{\"edge\": \"all\"}", "0.8", "20"), NULL},
    {"cloth.bands.where.vertices", PLAIN, BAND("{\"vertices\": [5, 6, 7]}", "0.8", "20"), NULL},
    {"cloth.bands.where.box", PLAIN, BAND("{\"box\": {\"min\": [-2, -1, -1], \"max\": [2, 1, 1]}}", "0.8", "20"), NULL},
    {"cloth.bands.where.box.min", PLAIN, BAND("{\"box\": {\"min\": [0, -1, -1], \"max\": [2, 1, 1]}}", "0.8", "20"), NULL},
    {"cloth.bands.where.box.max", PLAIN, BAND("{\"box\": {\"min\": [-2, -1, -1], \"max\": [0, 1, 1]}}", "0.8", "20"), NULL},
    {"cloth.bands.where.edge", PLAIN, BAND("{\"edge\": \"left\"}", "0.8", "20"), NULL},
    {"cloth.bands.where.object", FILES, "cloth.0.bands=[{\"where\": {\"object\": \"front\"}, \"rest_scale\": 0.8}]", NULL},
    {"cloth.bands.where.seam", SEWN, "cloth.1.bands=[{\"where\": {\"seam\": [\"p\", 1]}, \"rest_scale\": 0.8}]", NULL},
    {"cloth.folds.where", PLAIN, FOLD_AT("{\"edge\": \"all\"}"), NULL},
    {"cloth.folds.where.vertices", PLAIN, FOLD_AT("{\"vertices\": [5, 6, 7]}"), NULL},
    {"cloth.folds.where.box", PLAIN, FOLD_AT("{\"box\": {\"min\": [-2, -1, -1], \"max\": [2, 1, 1]}}"), NULL},
    {"cloth.folds.where.box.min", PLAIN, FOLD_AT("{\"box\": {\"min\": [0, -1, -1], \"max\": [2, 1, 1]}}"), NULL},
    {"cloth.folds.where.box.max", PLAIN, FOLD_AT("{\"box\": {\"min\": [-2, -1, -1], \"max\": [0, 1, 1]}}"), NULL},
    {"cloth.folds.where.edge", PLAIN, FOLD_AT("{\"edge\": \"all\"}"), NULL},
    {"cloth.folds.where.object", FILES, "cloth.0.folds=[{\"where\": {\"object\": \"front\"}, \"rest_angle\": 50}]", NULL},
    {"cloth.folds.where.seam", SEWN, "cloth.1.folds=[{\"where\": {\"seam\": [\"p\", 1]}, \"rest_angle\": 50}]", NULL},
    {"cloth.regions", PLAIN, "cloth.0.regions=[{\"faces\": [0], \"material\": \"denim\"}]", NULL},
    {"cloth.regions.faces", PLAIN, "cloth.0.regions=[{\"faces\": [0, 1], \"material\": \"denim\"}]", NULL},
    {"cloth.regions.object", FILES, "cloth.0.regions=[{\"object\": \"front\", \"material\": \"denim\"}]", NULL},
    {"cloth.regions.where", PLAIN, REGION("{\"vertices\": [0, 1, 5, 6]}"), NULL},
    {"cloth.regions.where.vertices", PLAIN, REGION("{\"vertices\": [0, 1, 2, 5, 6, 7]}"), NULL},
    {"cloth.regions.where.box", PLAIN, REGION("{\"box\": {\"min\": [-1, -1, -1], \"max\": [1, 1, 1]}}"), NULL},
    {"cloth.regions.where.box.min", PLAIN, REGION("{\"box\": {\"min\": [-2, -2, -2], \"max\": [1, 1, 1]}}"), NULL},
    {"cloth.regions.where.box.max", PLAIN, REGION("{\"box\": {\"min\": [-1, -1, -1], \"max\": [2, 2, 2]}}"), NULL},
    {"cloth.regions.material", PLAIN, "cloth.0.regions=[{\"faces\": [0], \"material\": \"silk\"}]", NULL},
    {"cloth.regions.material.base", PLAIN, OF_FACE("\"base\": \"denim\""), NULL},
    {"cloth.regions.material.density", PLAIN, OF_FACE("\"density\": 0.2"), NULL},
    {"cloth.regions.material.stretch_warp", PLAIN, OF_FACE("\"stretch_warp\": 4000"), NULL},
    {"cloth.regions.material.stretch_weft", PLAIN, OF_FACE("\"stretch_weft\": 4000"), NULL},
    {"cloth.regions.material.shear", PLAIN, OF_FACE("\"shear\": 400"), NULL},
    {"cloth.regions.material.bending", PLAIN, OF_FACE("\"bending\": 2e-5"), NULL},
    {"cloth.regions.material.damping", PLAIN, OF_FACE("\"damping\": 2e-3"), NULL},
    {"cloth.regions.material.bending.warp", PLAIN, OF_FACE("\"bending\": {\"warp\": 2e-5}"), NULL},
    {"cloth.regions.material.bending.weft", PLAIN, OF_FACE("\"bending\": {\"warp\": 1e-5, \"weft\": 2e-5}"), NULL},
    {"cloth.regions.material.bending.bias", PLAIN, OF_FACE("\"bending\": {\"warp\": 1e-5, \"bias\": 1.5e-5}"), NULL},
    {"cloth.regions.material.bending.curvature", PLAIN, OF_FACE("\"bending\": {\"warp\": 1e-5, \"curvature\": 50, \"beyond\": 0.5}"), NULL},
    {"cloth.regions.material.bending.beyond", PLAIN, OF_FACE("\"bending\": {\"warp\": 1e-5, \"curvature\": 50, \"beyond\": 0.2}"), NULL},
    {"cloth.regions.material.stretch_warp.soft", PLAIN, OF_FACE("\"stretch_warp\": {\"soft\": 4000, \"knee\": 0.01, \"stiff\": 9000}"), NULL},
    {"cloth.regions.material.stretch_warp.knee", PLAIN, OF_FACE("\"stretch_warp\": {\"soft\": 5000, \"knee\": 0.02, \"stiff\": 9000}"), NULL},
    {"cloth.regions.material.stretch_warp.stiff", PLAIN, OF_FACE("\"stretch_warp\": {\"soft\": 5000, \"knee\": 0.01, \"stiff\": 8000}"), NULL},
    {"cloth.regions.material.stretch_weft.soft", PLAIN, OF_FACE("\"stretch_weft\": {\"soft\": 4000, \"knee\": 0.01, \"stiff\": 9000}"), NULL},
    {"cloth.regions.material.stretch_weft.knee", PLAIN, OF_FACE("\"stretch_weft\": {\"soft\": 5000, \"knee\": 0.02, \"stiff\": 9000}"), NULL},
    {"cloth.regions.material.stretch_weft.stiff", PLAIN, OF_FACE("\"stretch_weft\": {\"soft\": 5000, \"knee\": 0.01, \"stiff\": 8000}"), NULL},
    {"cloth.regions.material.strain_limit", PLAIN, OF_FACE("\"strain_limit\": 0.05"), NULL},
    {"cloth.regions.material.crease", PLAIN, OF_FACE("\"crease\": {\"curvature\": 50}"), NULL},
    {"cloth.regions.material.crease.curvature", PLAIN, OF_FACE("\"crease\": {\"curvature\": 60, \"share\": 0.5}"), NULL},
    {"cloth.regions.material.crease.share", PLAIN, OF_FACE("\"crease\": {\"curvature\": 50, \"share\": 0.5}"), NULL},
    {"cloth.regions.material.young_modulus", PLAIN, OF_FACE(BULK(2e6, 0.3, 0.001, 300)), NULL},
    {"cloth.regions.material.poisson_ratio", PLAIN, OF_FACE(BULK(1e6, 0.2, 0.001, 300)), NULL},
    {"cloth.regions.material.thickness", PLAIN, OF_FACE(BULK(1e6, 0.3, 0.002, 300)), NULL},
    {"cloth.regions.material.volume_density", PLAIN, OF_FACE(BULK(1e6, 0.3, 0.001, 400)), NULL},
    {"cloth.forces", PLAIN, "cloth.0.forces=[{\"where\": {\"edge\": \"top\"}, \"force\": [0, 0, 0.1]}]", NULL},
    SELECTION("cloth.forces", "cloth.0.forces.0"),
    {"cloth.forces.where.object", FILES, "cloth.0.forces=[{\"where\": {\"object\": \"front\"}, \"force\": [1, 0, 0]}]",
     NULL},
    {"cloth.forces.force", RICH, "cloth.0.forces.0.force=[0, 0, 0.02]", NULL},

    {"strands", OBJECTS, "strands=[{\"mesh\": {\"brush\": {}}}]", NULL},
    {"strands.radius", OBJECTS, "strands.0.radius=0.002", NULL},
    {"strands.material", OBJECTS, "strands.0.material={\"density\": 0.1}", NULL},
    {"strands.material.density", OBJECTS, "strands.0.material.density=0.1", NULL},
    {"strands.material.stretch", OBJECTS, "strands.0.material.stretch=10", NULL},
    {"strands.material.bending", OBJECTS, "strands.0.material.bending=1", NULL},
    {"strands.material.damping", OBJECTS, "strands.0.material.damping=1", NULL},
    {"strands.mesh", OBJECTS, "strands.0.mesh={\"brush\": {}}", NULL},
    {"strands.mesh.brush", OBJECTS, "strands.0.mesh.brush={\"length\": 0.2}", NULL},
    {"strands.mesh.brush.size", OBJECTS, "strands.0.mesh.brush.size=[0.1, 0.2]", NULL},
    {"strands.mesh.brush.count", OBJECTS, "strands.0.mesh.brush.count=[1, 3]", NULL},
    {"strands.mesh.brush.vertices", OBJECTS, "strands.0.mesh.brush.vertices=4", NULL},
    {"strands.mesh.brush.length", OBJECTS, "strands.0.mesh.brush.length=0.2", NULL},
    {"strands.mesh.brush.spread", OBJECTS, "strands.0.mesh.brush.spread=0.1", NULL},
    {"strands.mesh.obj", OBJECTS, "strands.1.mesh.obj=rope.obj", NULL},
    {"strands.mesh.object", OBJECTS, "strands.1.mesh.object=null", NULL},
    {"strands.mesh.scale", OBJECTS, "strands.1.mesh.scale=2", NULL},
    {"strands.mesh.weld", OBJECTS, "strands.1.mesh.weld=0.01", NULL},

    {"volumes", OBJECTS, "volumes=[{\"mesh\": {\"solid\": {\"box\": {\"size\": 1}}}}]", NULL},
    {"volumes.thickness", OBJECTS, "volumes.0.thickness=0.002", NULL},
    {"volumes.material", OBJECTS, "volumes.0.material={\"density\": 10}", NULL},
    {"volumes.material.density", OBJECTS, "volumes.0.material.density=10", NULL},
    {"volumes.material.young_modulus", OBJECTS, "volumes.0.material.young_modulus=10", NULL},
    {"volumes.material.damping", OBJECTS, "volumes.0.material.damping=1", NULL},
    {"volumes.mesh", OBJECTS, "volumes.0.mesh={\"tets\": \"one.node\"}", NULL},
    {"volumes.mesh.obj", OBJECTS, "volumes.4.mesh.obj=body.obj", NULL},
    {"volumes.mesh.object", OBJECTS, "volumes.4.mesh.object=null", "null is the only value"},
    {"volumes.mesh.weld", OBJECTS, "volumes.4.mesh.weld=0", "0 is the only value"},
    {"volumes.mesh.scale", OBJECTS, "volumes.3.mesh.scale=2", NULL},
    {"volumes.mesh.tets", OBJECTS, "volumes.3.mesh.tets=other.node", NULL},
    {"volumes.mesh.solid", OBJECTS, "volumes.0.mesh.solid={\"box\": {\"size\": 0.2}}", NULL},
    {"volumes.mesh.solid.box", OBJECTS, "volumes.0.mesh.solid.box={\"size\": 0.2}", NULL},
    {"volumes.mesh.solid.box.size", OBJECTS, "volumes.0.mesh.solid.box.size=[0.1, 0.1, 0.2]", NULL},
    {"volumes.mesh.solid.box.cells", OBJECTS, "volumes.0.mesh.solid.box.cells=2", NULL},
    {"volumes.mesh.solid.bar", OBJECTS, "volumes.1.mesh.solid.bar={\"size\": [0.3, 0.1]}", NULL},
    {"volumes.mesh.solid.bar.size", OBJECTS, "volumes.1.mesh.solid.bar.size=[0.3, 0.1]", NULL},
    {"volumes.mesh.solid.bar.cells", OBJECTS, "volumes.1.mesh.solid.bar.cells=[2, 2]", NULL},
    {"volumes.mesh.solid.ball", OBJECTS, "volumes.2.mesh.solid.ball={\"radius\": 0.2}", NULL},
    {"volumes.mesh.solid.ball.radius", OBJECTS, "volumes.2.mesh.solid.ball.radius=0.2", NULL},
    {"volumes.mesh.solid.ball.cells", OBJECTS, "volumes.2.mesh.solid.ball.cells=2", NULL},

    {"ties", RICH, "ties=[]", NULL},
    {"ties.cloth", RICH, "ties.0.cloth=c", NULL},
    {"ties.to", RICH, "ties.0.to=d", NULL},
    SELECTION("ties", "ties.0"),
    {"ties.where.object", FILES, "ties=[{\"cloth\": \"button\", \"to\": \"sheet\", \"where\": {\"object\": \"disc\"}}]",
     NULL},
    {"ties.by", RICH, "ties.0.by=edges", NULL},

    {"obstacles", PLAIN, "obstacles=[{\"shape\": {\"plane\": {\"point\": [0, -9, 0]}}}]", NULL},
    {"obstacles.name", RICH, "obstacles.2.name=other", NULL},
    {"obstacles.shape", RICH, "obstacles.2.shape={\"box\": {\"size\": 2, \"center\": [3, -5, 0]}}", NULL},
    {"obstacles.shape.plane", RICH, "obstacles.0.shape.plane={\"point\": [0, -8, 0]}", NULL},
    {"obstacles.shape.plane.point", RICH, "obstacles.0.shape.plane.point=[0, -7, 0]", NULL},
    {"obstacles.shape.plane.normal", RICH, "obstacles.0.shape.plane.normal=[0, 0, 1]", NULL},
    {"obstacles.shape.plane.size", RICH, "obstacles.0.shape.plane.size=11", NULL},
    {"obstacles.shape.plane.segments", RICH, "obstacles.0.shape.plane.segments=2", NULL},
    {"obstacles.shape.sphere", RICH, "obstacles.1.shape.sphere={\"center\": [0, -5, 0], \"radius\": 0.6}", NULL},
    {"obstacles.shape.sphere.center", RICH, "obstacles.1.shape.sphere.center=[0, -4, 0]", NULL},
    {"obstacles.shape.sphere.radius", RICH, "obstacles.1.shape.sphere.radius=0.4", NULL},
    {"obstacles.shape.sphere.segments", RICH, "obstacles.1.shape.sphere.segments=3", NULL},
    {"obstacles.shape.box", RICH, "obstacles.2.shape.box={\"center\": [3, -5, 0], \"size\": 2}", NULL},
    {"obstacles.shape.box.center", RICH, "obstacles.2.shape.box.center=[3, -4, 0]", NULL},
    {"obstacles.shape.box.size", RICH, "obstacles.2.shape.box.size=[1, 1, 2]", NULL},
    {"obstacles.shape.box.rotate", RICH, "obstacles.2.shape.box.rotate=[0, 30, 0]", NULL},
    {"obstacles.shape.box.hole", RICH, "obstacles.2.shape.box.hole=0.2", NULL},
    {"obstacles.shape.box.segments", RICH, "obstacles.2.shape.box.segments=2", NULL},
    {"obstacles.shape.cylinder", RICH,
     "obstacles.3.shape.cylinder={\"from\": [5, -5, 0], \"to\": [5, -4, 0], \"radius\": 0.1}", NULL},
    {"obstacles.shape.cylinder.from", RICH, "obstacles.3.shape.cylinder.from=[5, -6, 0]", NULL},
    {"obstacles.shape.cylinder.to", RICH, "obstacles.3.shape.cylinder.to=[5, -3, 0]", NULL},
    {"obstacles.shape.cylinder.radius", RICH, "obstacles.3.shape.cylinder.radius=0.3", NULL},
    {"obstacles.shape.cylinder.segments", RICH, "obstacles.3.shape.cylinder.segments=6", NULL},
    {"obstacles.shape.capsule", RICH,
     "obstacles.4.shape.capsule={\"from\": [7, -5, 0], \"to\": [7, -4, 0], \"radius\": 0.1}", NULL},
    {"obstacles.shape.capsule.from", RICH, "obstacles.4.shape.capsule.from=[7, -6, 0]", NULL},
    {"obstacles.shape.capsule.to", RICH, "obstacles.4.shape.capsule.to=[7, -3, 0]", NULL},
    {"obstacles.shape.capsule.radius", RICH, "obstacles.4.shape.capsule.radius=0.3", NULL},
    {"obstacles.shape.capsule.segments", RICH, "obstacles.4.shape.capsule.segments=8", NULL},
    {"obstacles.shape.torus", RICH, "obstacles.5.shape.torus={\"radius\": 0.5, \"tube\": 0.2}", NULL},
    {"obstacles.shape.torus.center", RICH, "obstacles.5.shape.torus.center=[9, -4, 0]", NULL},
    {"obstacles.shape.torus.axis", RICH, "obstacles.5.shape.torus.axis=[0, 0, 1]", NULL},
    {"obstacles.shape.torus.radius", RICH, "obstacles.5.shape.torus.radius=0.6", NULL},
    {"obstacles.shape.torus.tube", RICH, "obstacles.5.shape.torus.tube=0.1", NULL},
    {"obstacles.shape.torus.segments", RICH, "obstacles.5.shape.torus.segments=6", NULL},
    {"obstacles.mesh", FILES, "obstacles.0.mesh={\"obj\": \"walk_1.obj\"}", NULL},
    {"obstacles.mesh.obj", FILES, "obstacles.0.mesh.obj=other.obj", NULL},
    {"obstacles.mesh.object", FILES, "obstacles.0.mesh.object=back", NULL},
    {"obstacles.mesh.scale", FILES, "obstacles.0.mesh.scale=2", NULL},
    {"obstacles.mesh.gltf", FILES, "obstacles.3.mesh.gltf=dance2.gltf", NULL},
    {"obstacles.mesh.abc", FILES, "obstacles.0.mesh={\"abc\": \"p.abc\"}", NULL},
    {"obstacles.mesh.weld", FILES, "obstacles.0.mesh.weld=0.01", NULL},
    {"obstacles.transform", FILES, "obstacles.0.transform={\"translate\": [0, -6, 0]}", NULL},
    {"obstacles.transform.translate", FILES, "obstacles.0.transform.translate=[1, -5, 0]", NULL},
    {"obstacles.transform.rotate", FILES, "obstacles.0.transform.rotate=[0, 30, 0]", NULL},
    {"obstacles.transform.scale", FILES, "obstacles.0.transform.scale=2", NULL},
    {"obstacles.friction", RICH, "obstacles.1.friction=0.5", NULL},
    {"obstacles.friction.static", RICH, "obstacles.1.friction={\"static\": 0.4, \"kinetic\": 0.3}", NULL},
    {"obstacles.friction.kinetic", RICH, "obstacles.1.friction={\"static\": 0.3, \"kinetic\": 0.2}", NULL},
    {"obstacles.thickness", RICH, "obstacles.1.thickness=0.002", NULL},
    {"obstacles.motion", RICH, "obstacles.2.motion={\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 1, 0]}]}",
     NULL},
    MOTION("obstacles.motion", "obstacles.1.motion"),
    {"obstacles.regions", FILES, "obstacles.0.regions=[{\"faces\": [0], \"thickness\": 0.003}]", NULL},
    {"obstacles.regions.faces", FILES, "obstacles.0.regions=[{\"faces\": [1], \"thickness\": 0.003}]", NULL},
    {"obstacles.regions.object", FILES, "obstacles.0.regions=[{\"object\": \"front\", \"thickness\": 0.003}]", NULL},
    {"obstacles.regions.where", FILES,
     "obstacles.0.regions=[{\"where\": {\"vertices\": [0, 1, 2, 3]}, \"thickness\": 0.003}]", NULL},
    {"obstacles.regions.where.vertices", FILES,
     "obstacles.0.regions=[{\"where\": {\"vertices\": [4, 5, 6, 7]}, \"thickness\": 0.003}]", NULL},
    {"obstacles.regions.where.box", FILES,
     "obstacles.0.regions=[{\"where\": {\"box\": {\"min\": [-9, -9, -9], \"max\": [9, 9, 9]}}, \"thickness\": 0.003}]",
     NULL},
    {"obstacles.regions.where.box.min", FILES,
     "obstacles.0.regions=[{\"where\": {\"box\": {\"min\": [-8, -9, -9], \"max\": [9, 9, 9]}}, \"thickness\": 0.004}]",
     NULL},
    {"obstacles.regions.where.box.max", FILES,
     "obstacles.0.regions=[{\"where\": {\"box\": {\"min\": [-9, -9, -9], \"max\": [8, 9, 9]}}, \"thickness\": 0.004}]",
     NULL},
    {"obstacles.regions.thickness", FILES, "obstacles.0.regions=[{\"faces\": [0], \"thickness\": 0.002}]", NULL},
    {"obstacles.regions.friction", FILES, "obstacles.0.regions=[{\"faces\": [0], \"friction\": 0.2}]", NULL},
    {"obstacles.regions.friction.static", FILES,
     "obstacles.0.regions=[{\"faces\": [0], \"friction\": {\"static\": 0.4, \"kinetic\": 0.2}}]", NULL},
    {"obstacles.regions.friction.kinetic", FILES,
     "obstacles.0.regions=[{\"faces\": [0], \"friction\": {\"static\": 0.4, \"kinetic\": 0.3}}]", NULL},
    {"obstacles.deform", FILES, "obstacles.1.deform={\"pc2\": \"other.pc2\"}", NULL},
    {"obstacles.deform.pc2", FILES, "obstacles.1.deform.pc2=other.pc2", NULL},
    {"obstacles.deform.rate", FILES, "obstacles.1.deform.rate=20", NULL},
    {"obstacles.deform.start", FILES, "obstacles.1.deform.start=1", NULL},
    {"obstacles.deform.speed", FILES, "obstacles.1.deform.speed=2", NULL},
    {"obstacles.deform.offset", FILES, "obstacles.1.deform.offset=0.1", NULL},
    {"obstacles.deform.loop", FILES, "obstacles.1.deform.loop=true", NULL},
    {"obstacles.deform.animation", FILES, "obstacles.3.deform.animation=1", NULL},
    {"obstacles.deform.abc", FILES,
     "obstacles.0={\"name\": \"panel\", \"mesh\": {\"abc\": \"p.abc\"}, \"transform\": {\"translate\": [0, -5, 0]}, "
     "\"deform\": {\"abc\": \"p.abc\"}}",
     NULL},
    {"obstacles.deform.obj_sequence", FILES, "obstacles.2.deform.obj_sequence=run_%d.obj", NULL},
    {"obstacles.deform.first", FILES, "obstacles.2.deform.first=1", NULL},
    {"obstacles.deform.last", FILES, "obstacles.2.deform.last=1", NULL},
};

enum
{
    CHANGE_COUNT = sizeof(changes) / sizeof(changes[0])
};

// ---- the schema

static bool has_row(const char* key)
{
    for (int k = 0; k < CHANGE_COUNT; k++)
    {
        if (strcmp(changes[k].key, key) == 0)
        {
            return true;
        }
    }
    return false;
}

// Settings of methods, and the blocks that hold them, have no rows: a loop changes each of them.
static bool is_setting(const char* key)
{
    weft_setting s;
    const char* of_body = strstr(key, ".settings."); // the same block, of one body
    key = of_body ? of_body + strlen(".settings.") : key;
    for (int k = 0; weft_setting_at(k, &s) == WEFT_OK; k++)
    {
        char path[160];
        snprintf(path, sizeof(path), "%s.%s", s.method, s.name);
        if (strcmp(key, path) == 0 || strcmp(key, s.method) == 0)
        {
            return true;
        }
    }
    return false;
}

typedef struct key_walk
{
    const tree_node* schema;
    int count;
    bool seen[CHANGE_COUNT]; // rows whose key the schema has
} key_walk;

// "#/$defs/mesh/oneOf/1"
static const tree_node* resolve(const tree_node* schema, const char* reference)
{
    const tree_node* at = schema;
    char part[64];
    for (const char* c = reference + 2; at && *c;)
    {
        size_t length = strcspn(c, "/");
        assert_true(length < sizeof(part));
        snprintf(part, sizeof(part), "%.*s", (int)length, c);
        at = at->kind == TREE_ARRAY ? tree_at(at, atoi(part)) : tree_member(at, part);
        c += length + (c[length] == '/');
    }
    assert_non_null(at);
    return at;
}

// Keys of other kinds of bodies that are cloth's, too, have one reader and one place in the fingerprint: cloth's rows
// stand for them. Meshes and materials are their own.
static bool is_shared(const char* path)
{
    char own[160];
    const char* rest = strchr(path, '.');
    bool body = strncmp(path, "strands.", 8) == 0 || strncmp(path, "volumes.", 8) == 0;
    if (!body || strncmp(rest, ".mesh", 5) == 0 || strncmp(rest, ".material", 9) == 0)
    {
        return false;
    }
    snprintf(own, sizeof(own), "cloth%s", rest);
    return has_row(own);
}

static void take_key(key_walk* w, const char* path)
{
    if (!has_row(path) && !is_setting(path) && !is_shared(path))
    {
        fail_msg("the schema has `%s`, and no row here says what --resume does when it changes", path);
    }
    w->count++;
    for (int k = 0; k < CHANGE_COUNT; k++)
    {
        w->seen[k] = w->seen[k] || strcmp(changes[k].key, path) == 0;
    }
}

static void walk(key_walk* w, const tree_node* node, const char* path)
{
    const tree_node* reference = tree_member(node, "$ref");
    const tree_node* choices = tree_member(node, "oneOf");
    const tree_node* items = tree_member(node, "items");
    const tree_node* properties = tree_member(node, "properties");
    reference ? walk(w, resolve(w->schema, reference->string), path) : (void)0;
    items ? walk(w, items, path) : (void)0;
    for (const tree_node* one = choices ? choices->first : NULL; one; one = one->next)
    {
        walk(w, one, path);
    }
    for (const tree_node* one = properties ? properties->first : NULL; one; one = one->next)
    {
        char own[160];
        snprintf(own, sizeof(own), "%s%s%s", path, path[0] ? "." : "", one->key);
        take_key(w, own);
        walk(w, one, own);
    }
}

static void test_every_key_has_a_row(void** unused)
{
    (void)unused;
    tree t = {0};
    tree_node* schema;
    char* text = scene_schema();
    assert_int_equal(tree_parse_value(&t, text, &schema), WEFT_OK);
    free(text);
    key_walk w = {.schema = schema};
    walk(&w, schema, "");
    tree_finish(&t);
    for (int k = 0; k < CHANGE_COUNT; k++)
    {
        const char* last = strrchr(changes[k].key, '.');
        last = last ? last + 1 : changes[k].key;
        if (!w.seen[k] || !strstr(changes[k].override, last))
        {
            fail_msg("the row of `%s` is about a key that the schema does not have, or sets another", changes[k].key);
        }
    }
    print_message("%d keys\n", w.count);
    assert_true(w.count > 150);
}

// ---- runs

static const char* run_folder(int scene)
{
    static const char* const names[] = {"plain-run", "rich-run", "files-run", "objects-run", "springs-run", "sewn-run"};
    return scene_path(names[scene]);
}

static weft_scene* load(int scene, const char* override)
{
    return scene_load_text(scenes[scene], &override, override != NULL);
}

static weft_status resume(const weft_scene* scene, int workers, const char* dir, weft_error* error)
{
    weft_sim* sim;
    weft_cache_writer* writer = NULL;
    weft_status status = weft_scene_build_sim(scene, workers, &sim, error);
    if (status != WEFT_OK)
    {
        fail_msg("a changed scene does not build: %s", error->message);
    }
    status = weft_cache_writer_create(dir, WEFT_CACHE_RESUME, weft_scene_json(scene), weft_scene_steps_per_frame(scene),
                                      sim, &writer, error);
    if (status == WEFT_OK)
    {
        assert_int_equal(weft_sim_step_count(sim), 1);
        status = weft_cache_writer_destroy(writer, error);
    }
    weft_sim_destroy(sim);
    return status;
}

static void begin(int scene)
{
    weft_scene* s = load(scene, NULL);
    weft_sim* sim;
    weft_cache_writer* writer;
    weft_step_stats stats;
    weft_error error;
    assert_int_equal(weft_scene_build_sim(s, 1, &sim, &error), WEFT_OK);
    assert_int_equal(
        weft_cache_writer_create(run_folder(scene), WEFT_CACHE_NEW, weft_scene_json(s), 1, sim, &writer, &error),
        WEFT_OK);
    assert_int_equal(weft_sim_step(sim, &stats, &error), WEFT_OK);
    assert_int_equal(weft_cache_writer_step(writer, sim, &stats, &error), WEFT_OK);
    assert_int_equal(weft_cache_writer_destroy(writer, &error), WEFT_OK);
    weft_sim_destroy(sim);
    weft_scene_destroy(s);
}

static void test_every_change_is_refused(void** unused)
{
    (void)unused;
    for (int k = 0; k < CHANGE_COUNT; k++)
    {
        const change* c = &changes[k];
        weft_scene* scene = load(c->scene, c->override);
        weft_error error = {0};
        weft_status status = resume(scene, 1, run_folder(c->scene), &error);
        weft_scene_destroy(scene);
        bool kernels = strcmp(c->key, "kernels") == 0;
        if (kernels && cpu_best() == CPU_BASE)
        {
            continue; // there are no others here
        }
        if (status != (c->harmless ? WEFT_OK : WEFT_BAD_INPUT))
        {
            fail_msg("%s: %s %s", c->override, c->harmless ? "refused, but" : "accepted",
                     c->harmless ? c->harmless : "by --resume");
        }
        assert_true(c->harmless || strstr(error.message, kernels ? "kernels" : "another scene"));
    }
}

static void test_every_setting_is_refused(void** unused)
{
    (void)unused;
    assert_true(settings_resume(plain) >= 2);
}

// Refusals have changed nothing, threads do not count, and the run's own scene, with its copies of all files, goes on.
static void test_the_same_scene_goes_on(void** unused)
{
    (void)unused;
    for (int k = 0; k < SCENE_COUNT; k++)
    {
        weft_error error = {0};
        weft_scene* scene = load(k, NULL);
        if (resume(scene, 3, run_folder(k), &error) != WEFT_OK)
        {
            fail_msg("%s", error.message);
        }
        weft_scene_destroy(scene);
        char own[512];
        snprintf(own, sizeof(own), "%s/scene.json", run_folder(k));
        assert_int_equal(weft_scene_load(own, NULL, 0, &scene, &error), WEFT_OK);
        weft_status status = resume(scene, 1, run_folder(k), &error);
        weft_scene_destroy(scene);
        if (status != WEFT_OK)
        {
            fail_msg("its own scene: %s", error.message);
        }
    }
}

// ---- files

// Two panels that share an edge but for a hair, and one apart.
static void write_sheet(const char* name, double width)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "v 0 0 0\nv %g 0 0\nv %g 0 1\nv 0 0 1\nv %g 0 0\nv 2 0 0\nv 2 0 1\nv %g 0 1\nv 0 3 0\nv 1 3 0\nv 1 3 1\n"
        "vt 0 0\nvt 1 0\nvt 1 1.1\nvt 0 1.1\no front\nf 1/1 4/4 3/3 2/2\nf 5/1 8/4 7/3 6/2\no back\nf 9/1 11/3 10/2\n",
        width, width, width + 1e-3, width + 1e-3);
    test_text_write(scene_folder, name, text);
}

static void write_walk(const char* name, double height)
{
    char text[256];
    snprintf(text, sizeof(text), "v 0 0 0\nv 1 0 0\nv 0 %g 1\nf 1 2 3\n", height);
    test_text_write(scene_folder, name, text);
}

// Where the grid of 4 x 4 cells may start: bent.
static void write_start(void)
{
    char text[2048];
    int used = 0;
    for (int k = 0; k < 25; k++)
    {
        double x = 0.25 * (k % 5) - 0.5, z = 0.5 - 0.25 * (k / 5);
        used += snprintf(text + used, sizeof(text) - (size_t)used, "v %g %g %g\n", x, 0.1 * x * x, z);
    }
    snprintf(text + used, sizeof(text) - (size_t)used, "f 1 2 7\n");
    test_text_write(scene_folder, "start.obj", text);
}

// Lines, and a tetrahedron as two files of points and one of corners.
static void write_objects(void)
{
    static const char points[] = "v 0 0 0\nv 1 0 0\nv 0 0 -1\nv 0 1 0\nf 1 2 3\n";
    static const char wider[] = "v 0 0 0\nv 1.2 0 0\nv 0 0 -1\nv 0 1 0\nf 1 2 3\n";
    static const char corners[] = "1 4 0\n1 1 2 3 4\n";
    const char* const texts[][2] = {
        {"cord.obj",
         "v 0 0 0\nv 0.1 0 0\nv 0.2 0 0\nv 0.2 0.001 0\nv 0.3 0 0\no front\nl 1 2 3\nl 4 5\no back\nl 1 5\n"},
        {"rope.obj", "v 0 0 0\nv 0.1 0 0\nv 0.2 0 0\nv 0.2 0.001 0\nv 0.4 0 0\no front\nl 1 2 3\nl 4 5\n"},
        {"button.obj", "v 0.3 0.05 0.3\nv 0.5 0.05 0.3\nv 0.3 0.05 0.5\no disc\nf 1 3 2\n"},
        {"square.json", "{\"pattern\": {\"panels\": {\"p\": {\"vertices\": [[0, 0], [100, 0], [100, 100], [0, 100]], "
                        "\"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, "
                        "{\"endpoints\": [3, 0]}], \"translation\": [-50, 1, 0]}}}}"},
        {"larger.json", "{\"pattern\": {\"panels\": {\"p\": {\"vertices\": [[0, 0], [120, 0], [120, 100], [0, 100]], "
                        "\"edges\": [{\"endpoints\": [0, 1]}, {\"endpoints\": [1, 2]}, {\"endpoints\": [2, 3]}, "
                        "{\"endpoints\": [3, 0]}], \"translation\": [-50, 1, 0]}}}}"},
        {"one.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 0 -1\n4 0 1 0\n"},
        {"other.node", "4 3 0 0\n1 0 0 0\n2 1.5 0 0\n3 0 0 -1\n4 0 1 0\n"},
        {"one.ele", corners},
        {"other.ele", corners},
        {"solid.obj", points},
        {"body.obj", wider},
        {"solid.ele", corners},
        {"body.ele", corners},
    };
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
    {
        test_text_write(scene_folder, texts[k][0], texts[k][1]);
    }
}

// A triangle that two animations lift by 0.1 and by 0.3 m.
static void write_dance(const char* name, double width)
{
    char text[2000];
    int size = snprintf(
        text, sizeof(text),
        "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0, \"scale\": "
        "[%g, 1, 1]}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"buffers\": "
        "[{\"byteLength\": 92, \"uri\": \"data:application/octet-stream;base64,"
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAM3MzD0AAAAAAAAAAAAAAAAAAAAAzczMPQAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAmpmZPgAAAAA=\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 92}], \"accessors\": "
        "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}, {\"bufferView\": 0, "
        "\"byteOffset\": 36, \"componentType\": 5126, \"count\": 2, \"type\": \"SCALAR\"}, {\"bufferView\": 0, "
        "\"byteOffset\": 44, \"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\"}, {\"bufferView\": 0, "
        "\"byteOffset\": 68, \"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\"}], \"animations\": "
        "[{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"translation\"}}], \"samplers\": "
        "[{\"input\": 1, \"output\": 2}]}, {\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "
        "\"translation\"}}], \"samplers\": [{\"input\": 1, \"output\": 3}]}]}",
        width);
    scene_write_bytes(scene_path(name), text, (size_t)size);
}

static int make_runs(void** state)
{
    if (scene_folder_make(state) != 0)
    {
        return -1;
    }
    write_objects();
    write_start();
    write_sheet("sheet.obj", 1.0);
    write_sheet("other.obj", 1.2);
    for (int k = 0; k < 3; k++)
    {
        char name[32];
        snprintf(name, sizeof(name), "walk_%d.obj", k);
        write_walk(name, 0.1 * k);
        snprintf(name, sizeof(name), "run_%d.obj", k);
        write_walk(name, 0.3 * k);
    }
    write_dance("dance.gltf", 1.0);
    if (test_shell(scene_folder,
                   "\"$WEFT\" run pinned --set cells=2 --frames 1 -o p >log 2>&1 && \"$WEFT\" export p --to "
                   "abc -o p.abc >log 2>&1") != 0)
    {
        return -1;
    }
    write_dance("dance2.gltf", 2.0);
    test_pc2_write(scene_folder, "swim.pc2", 3, 0.0f, 3);
    test_pc2_write(scene_folder, "other.pc2", 3, 0.0f, 4);
    test_pc2_write(scene_folder, "nine.pc2", 9, 0.0f, 2);
    for (int k = 0; k < SCENE_COUNT; k++)
    {
        begin(k);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_has_a_row),
        cmocka_unit_test(test_every_change_is_refused),
        cmocka_unit_test(test_every_setting_is_refused),
        cmocka_unit_test(test_the_same_scene_goes_on),
    };
    return cmocka_run_group_tests(tests, make_runs, scene_folder_remove);
}
