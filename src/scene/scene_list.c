// The scenes that ship: one file in scenes/ and one row here. A test holds the summaries against the descriptions in
// the files and finds files without a row.
#include <string.h>

#include "core/core.h"
#include "scene/embedded.h"
#include "scene/scene_data.h"
#include "scene/scene_list.h"
#include "weft/scene.h"

typedef struct scene_row
{
    const char* name;
    const char* summary;
} scene_row;

static const scene_row rows[] = {
    {"pinned", "A horizontal sheet with all four edges fixed sags under its own weight."},
    {"drooping", "A horizontal sheet held by two opposite edges droops between them."},
    {"re-entrant", "A horizontal L held by the two edges of its cut-out droops on all other sides."},
    {"drop-horizontal", "A sheet falls flat on a flat box with a hole."},
    {"drop-vertical", "An upright sheet falls edge first on a flat box with a hole."},
    {"sphere", "A sheet drapes over a sphere."},
    {"table", "A tablecloth drapes over a square table."},
    {"slope", "A sheet slides down a slope, over its edge, and folds on the floor."},
    {"stack", "Five sheets drop on each other and come to rest in a stack."},
    {"ring", "A sheet is pulled by its middle through a ring."},
    {"twist", "A strip is twisted by three turns of both its ends, which are free to come closer."},
    {"skirt", "A skirt, a tube held at the waist, swings on a body of capsules that turns and steps."},
    {"ball", "A rolling ball sweeps a hanging curtain."},
    {"hang", "An upright sheet hangs from its top edge."},
    {"flag", "A flag held by its left edge flutters in a gusty wind."},
    {"two-corners", "A sheet that starts flat falls and swings from two of its corners."},
    {"canvas", "A canvas hangs from two corners in the wind."},
    {"gown", "A gown that trails on the floor, on a body of capsules that walks in a side wind."},
    {"flag-pbd", "The flag of games: position based dynamics, one step of 1/60 s a frame."},
    {"canvas-row", "Five canvases in a row."},
    {"banner", "A banner tears in its top row under its own weight."},
    {"torn", "A ball goes through a sheet that is held by its edges."},
    {"towel", "A towel held by two corners folds into swags as one corner moves to the other."},
    {"patch", "A patch of denim and a heavy button sewn on a hanging sheet swing with it."},
    {"curtain", "A curtain of springs falls and swings from two of its corners."},
    {"brush", "A brush of 105 bristles is drawn over a floor and back."},
    {"bar", "A long bar of rubber, held at both ends, sags and swings while one end is twisted."},
    {"foam-ball", "A ball of soft foam falls on a floor, flattens and jumps."},
    {"sponge", "A block of foam falls across a bar, bends over it and slides off."},
    {"jelly", "A cube of jelly wobbles on a plate that is pushed, turned and stopped."},
    {"dress", "A dress, a tube held at the chest, on a body of capsules that turns and steps."},
    {"mpcg-4x4", "A grid of 4 x 4 squares with fixed corners is pulled down at its centre by a constant force."},
};

int scene_list_count(void)
{
    return (int)(sizeof(rows) / sizeof(rows[0]));
}

const char* scene_list_name(int index)
{
    WEFT_ASSERT(index >= 0 && index < scene_list_count());
    return rows[index].name;
}

const char* scene_list_summary(int index)
{
    WEFT_ASSERT(index >= 0 && index < scene_list_count());
    return rows[index].summary;
}

static const char* embedded_text(const char* name, size_t length)
{
    for (const embedded_file* file = embedded_files; file->name; file++)
    {
        if (strncmp(file->name, name, length) == 0 && strcmp(file->name + length, ".json") == 0)
        {
            return file->text;
        }
    }
    return NULL;
}

const char* weft_scene_text(const char* name)
{
    WEFT_ASSERT(name);
    return strcmp(name, "schema") == 0 ? NULL : embedded_text(name, strlen(name));
}

size_t weft_scene_schema(char* out, size_t size)
{
    WEFT_ASSERT(out || size == 0);
    return scene_schema_write(embedded_text("schema", strlen("schema")), out, size);
}
