// How a scene starts: with contact, what crosses before the first step is refused, untangled or
// left to settle, as it asks for.
#include "scene/scene_data.h"
#include "start/start.h"

weft_status weft_scene_start(const weft_scene* scene, weft_sim* sim, weft_untangling* out, weft_error* error)
{
    WEFT_ASSERT(scene && sim);
    weft_status status = WEFT_OK;
    if (scene->def.contact)
    {
        status =
            start_judge(sim, (start_way)scene->start, (start_layers){scene->layers, scene->layer_count}, out, error);
    }
    else if (out)
    {
        *out = (weft_untangling){.body = -1, .vertex = -1};
    }
    if (status != WEFT_OK)
    {
        scene_error_place(scene, scene->start_node, error);
    }
    return status;
}
