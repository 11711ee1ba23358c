// A program of a stranger: an installed Weft, and nothing of its tree.
#include <stdio.h>
#include <weft/scene.h>
#include <weft/weft.h>

int main(void)
{
    weft_scene* scene = NULL;
    weft_sim* sim = NULL;
    weft_error error = {0};
    const char* const small[] = {"cells=4"};
    if (weft_scene_load("hang", small, 1, &scene, &error) != WEFT_OK ||
        weft_scene_create_sim(scene, 1, &sim, &error) != WEFT_OK ||
        weft_sim_step(sim, &(weft_step_stats){0}, &error) != WEFT_OK)
    {
        return fprintf(stderr, "%s\n", error.message), 1;
    }
    printf("consumed %s, %d vertices\n", weft_version(), weft_sim_vertex_count(sim, 0));
    weft_sim_destroy(sim);
    weft_scene_destroy(scene);
    return 0;
}
