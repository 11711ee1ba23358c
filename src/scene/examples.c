// A value for each key that people get wrong, so that an error can show what it expects. A pattern is the path of the
// value, with [] for any element of a list; "*" before it stands for any beginning.
#include <string.h>

#include "scene/scene_data.h"

static const example_row rows[] = {
    {"description", "\"a towel on a line\"", NULL},
    {"time_step", "0.002", "s"},
    {"steps_per_frame", "20", NULL},
    {"frames", "10", NULL},
    {"gravity", "[0, -9.81, 0]", "m/s^2"},
    {"gravity[]", "-9.81", "m/s^2"},
    {"method", "\"implicit-euler\"", NULL},
    {"kernels", "\"auto\"", NULL},
    {"initial_contact", "\"resolve\"", NULL},
    {"layers", "[\"skin\", \"shirt\", \"jacket\"]", NULL},
    {"solver", "\"auto\"", NULL},
    {"solver.name", "\"sa-ppcg\"", NULL},
    {"solver.tolerance", "1e-4", NULL},
    {"solver.max_iterations", "500", NULL},
    {"solver.preconditioner", "\"block\"", NULL},
    {"solver.variant", "\"original\"", NULL},
    {"solver.sa", "{\"theta\": 0.3}", NULL},
    {"step_control", "{\"max_halvings\": 10}", NULL},
    {"step_control.max_halvings", "10", NULL},
    {"step_control.max_stretch", "1.5", NULL},
    {"step_control.max_strain", "0.1", NULL},
    {"air", "{\"wind\": [1, 0, 0]}", "m/s"},
    {"air.wind", "[1, 0, 0]", "m/s"},
    {"air.density", "1.2", "kg/m^3"},
    {"*model", "\"baraff-witkin\"", NULL},
    {"*model.name", "\"baraff-witkin\"", NULL},
    {"*model.bending", "\"hinge\"", NULL},
    {"*model.damper", "\"projected\"", NULL},
    {"*model.damper_stretch", "10", "N s/m"},
    {"*model.damper_shear", "10", "N s/m"},
    {"*model.bend_start", "1", "N/m"},

    {"contact", "{\"friction\": 0.3, \"thickness\": 0.001}", NULL},
    {"contact.enabled", "false", NULL},
    {"contact.exclude", "[{\"pair\": [\"sheet\", \"ball\"]}]", NULL},
    {"contact.exclude[]", "{\"pair\": [\"sheet\", \"ball\"]}", NULL},
    {"contact.exclude[].pair[]", "\"sheet\"", "the name of a body"},
    {"contact.friction", "0.3", NULL},
    {"contact.particles", "{\"distance\": 0.6}", NULL},
    {"contact.particles.damping", "0.01", "N s/m"},
    {"contact.particles.distance", "0.6", "a share of the spacing of the mesh"},
    {"contact.particles.stiffness", "10", "N/m"},
    {"contact.thickness", "0.001", "m"},
    {"cloth[].friction", "0.3", NULL},
    {"cloth[].thickness", "0.001", "m"},
    {"obstacles[].friction", "0.3", NULL},
    {"obstacles[].thickness", "0.001", "m"},

    {"ties", "[{\"cloth\": \"patch\", \"to\": \"sheet\"}]", NULL},
    {"ties[]", "{\"cloth\": \"patch\", \"to\": \"sheet\"}", NULL},
    {"ties[].cloth", "\"patch\"", "the name of a cloth"},
    {"ties[].to", "\"sheet\"", "the name of a cloth"},
    {"ties[].by", "\"edges\"", NULL},

    {"cloth", "[{\"mesh\": {\"grid\": {\"cells\": 20}}}]", NULL},
    {"cloth[]", "{\"mesh\": {\"grid\": {\"cells\": 20}}}", NULL},
    {"cloth[].name", "\"sheet\"", NULL},
    {"cloth[].mesh", "{\"grid\": {\"cells\": 20}}", NULL},
    {"cloth[].mesh.grid", "{\"size\": [1, 1], \"cells\": 20}", NULL},
    {"cloth[].mesh.grid.size", "[1, 1]", "m"},
    {"cloth[].mesh.grid.cells", "20", NULL},
    {"cloth[].mesh.grid.tessellation", "\"irregular\"", NULL},
    {"cloth[].mesh.grid.plane", "\"xy\"", NULL},
    {"cloth[].material", "\"denim\"", NULL},
    {"cloth[].rest", "\"shape\"", NULL},
    {"cloth[].warp", "[1, 0, 0]", NULL},
    {"cloth[].velocity", "[0, 0, 1]", "m/s"},
    {"cloth[].vertex_mass", "0.001", "kg"},
    {"cloth[].tear", "100", "N/m"},
    {"cloth[].settings", "{\"hpbd\": {\"levels\": 1, \"iterations\": 5}}", NULL},
    {"cloth[].start", "{\"obj\": \"dressed.obj\"}", NULL},
    {"cloth[].stitch", "{\"close\": 1, \"pairs\": [[0, 4]]}", NULL},
    {"cloth[].pins", "[{\"where\": {\"edge\": \"top\"}}]", NULL},
    {"cloth[].pins[]", "{\"where\": {\"edge\": \"top\"}}", NULL},
    {"cloth[].pins[].fix", "\"point\"", NULL},
    {"cloth[].pins[].release", "1.5", "s"},
    {"cloth[].pins[].follow", "\"body\"", NULL},
    {"cloth[].pins[].weights", "0.5", NULL},
    {"cloth[].pins[].fade", "0.05", "m"},
    {"cloth[].pins[].stiffness", "1e4", "1/s^2"},
    {"cloth[].pins[].samples", "{\"pc2\": \"file.pc2\"}", NULL},
    {"cloth[].regions", "[{\"where\": {\"box\": {\"min\": [0, 0, 0], \"max\": [1, 1, 1]}}, \"material\": \"denim\"}]",
     NULL},
    {"cloth[].bands", "[{\"where\": {\"edge\": \"top\"}, \"rest_scale\": 0.8}]", NULL},
    {"cloth[].bands[]", "{\"where\": {\"edge\": \"top\"}, \"rest_scale\": 0.8}", NULL},
    {"cloth[].bands[].rest_scale", "0.8", NULL},
    {"cloth[].bands[].stiffness", "20", "N"},
    {"cloth[].folds", "[{\"where\": {\"edge\": \"top\"}, \"rest_angle\": 120}]", NULL},
    {"cloth[].folds[]", "{\"where\": {\"edge\": \"top\"}, \"rest_angle\": 120}", NULL},
    {"cloth[].folds[].rest_angle", "120", "degrees"},
    {"cloth[].forces", "[{\"where\": {\"edge\": \"top\"}, \"force\": [0, 0.1, 0]}]", "N a vertex"},
    {"cloth[].forces[]", "{\"where\": {\"edge\": \"top\"}, \"force\": [0, 0.1, 0]}", "N a vertex"},
    {"cloth[].forces[].force", "[0, 0.1, 0]", "N a vertex"},
    {"strands", "[{\"mesh\": {\"brush\": {\"length\": 0.1}}}]", NULL},
    {"strands[]", "{\"mesh\": {\"brush\": {\"length\": 0.1}}}", NULL},
    {"strands[].radius", "0.0005", "m"},
    {"strands[].mesh", "{\"brush\": {\"length\": 0.1}}", NULL},
    {"strands[].mesh.brush", "{\"count\": [10, 10], \"length\": 0.1}", NULL},
    {"strands[].mesh.brush.length", "0.1", "m"},
    {"strands[].material", "{\"density\": 0.005, \"stretch\": 500}", NULL},
    {"strands[].material.density", "0.005", "kg/m"},
    {"strands[].material.stretch", "500", "N"},
    {"strands[].material.bending", "1e-5", "N m^2"},
    {"volumes", "[{\"mesh\": {\"solid\": {\"ball\": {\"radius\": 0.1}}}}]", NULL},
    {"volumes[]", "{\"mesh\": {\"solid\": {\"ball\": {\"radius\": 0.1}}}}", NULL},
    {"volumes[].thickness", "0.001", "m"},
    {"volumes[].mesh", "{\"solid\": {\"ball\": {\"radius\": 0.1}}}", NULL},
    {"volumes[].mesh.solid", "{\"ball\": {\"radius\": 0.1}}", NULL},
    {"volumes[].mesh.solid.ball.radius", "0.1", "m"},
    {"volumes[].material", "{\"density\": 30, \"young_modulus\": 5e4}", NULL},
    {"volumes[].material.density", "30", "kg/m^3"},
    {"volumes[].material.young_modulus", "5e4", "Pa"},
    {"*.transform", "{\"translate\": [0, 1, 0]}", "m"},
    {"*.transform.translate", "[0, 1, 0]", "m"},
    {"*.transform.rotate", "[0, 90, 0]", "degrees"},
    {"*.transform.scale", "0.01", NULL},

    {"obstacles", "[{\"shape\": {\"sphere\": {\"radius\": 0.3}}}]", NULL},
    {"obstacles[]", "{\"shape\": {\"sphere\": {\"radius\": 0.3}}}", NULL},
    {"obstacles[].name", "\"ball\"", NULL},
    {"obstacles[].shape.sphere", "{\"center\": [0, 0, 0], \"radius\": 0.3}", "m"},
    {"obstacles[].shape.sphere.center", "[0, 0, 0]", "m"},
    {"obstacles[].shape.sphere.radius", "0.3", "m"},
    {"obstacles[].motion", "{\"path\": [{\"time\": 0}, {\"time\": 1, \"offset\": [0, 0.2, 0]}]}", NULL},

    {"*.path", "[{\"time\": 0}, {\"time\": 1, \"offset\": [0, 0.2, 0]}]", NULL},
    {"*.path[]", "{\"time\": 1, \"offset\": [0, 0.2, 0]}", NULL},
    {"*.path[].time", "1", "s"},
    {"*.path[].offset", "[0, 0.2, 0]", "m"},
    {"*.path[].angle", "90", "degrees"},
    {"*.axis", "[0, 1, 0]", NULL},
    {"*.center", "[0, 0, 0]", "m"},
    {"*.where", "{\"edge\": \"top\"}", NULL},
    {"*.where.vertices", "[0, 1, 2]", NULL},
    {"*.where.vertices[]", "0", NULL},
    {"*.where.box", "{\"min\": [-1, 0, -1], \"max\": [1, 1, 1]}", "m"},
};

const example_row* example_rows(int* count)
{
    *count = (int)(sizeof(rows) / sizeof(rows[0]));
    return rows;
}

// The path of a node as patterns write it; cut when it does not fit.
static size_t put_pattern(const tree_node* node, char* out, size_t size)
{
    if (!node->parent)
    {
        out[0] = '\0';
        return 0;
    }
    size_t used = put_pattern(node->parent, out, size);
    if (used < size)
    {
        int length = node->key ? snprintf(out + used, size - used, "%s%.60s", used > 0 ? "." : "", node->key)
                               : snprintf(out + used, size - used, "[]");
        used += (size_t)length;
    }
    return used;
}

static bool matches(const char* pattern, const char* path)
{
    size_t length = strlen(path), wanted = strlen(pattern) - (pattern[0] == '*');
    return pattern[0] == '*' ? length >= wanted && strcmp(path + length - wanted, pattern + 1) == 0
                             : strcmp(path, pattern) == 0;
}

bool example_find(const tree_node* node, example* out)
{
    char path[256];
    put_pattern(node, path, sizeof(path));
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
    {
        if (matches(rows[k].pattern, path))
        {
            snprintf(out->text, sizeof(out->text), "%s", rows[k].example);
            out->unit = rows[k].unit;
            return true;
        }
    }
    return scene_method_example(path, out);
}
