/* Only the public headers, in C17: a triangle falls. */
#include <stdio.h>

#include "weft/cache.h"
#include "weft/render.h"
#include "weft/scene.h"
#include "weft/solver.h"
#include "weft/weft.h"

int stranger_cpp(void);

/* Names that the library has inside as well; neither must meet the other. */
int mem_alloc, workers_create, decimal_parse;
int error_set(void);

int error_set(void)
{
    return 7 + mem_alloc + workers_create + decimal_parse;
}

static int falls(void)
{
    weft_sim_def def = weft_sim_def_default();
    weft_sim* sim = NULL;
    weft_cloth_def cloth = weft_cloth_def_default();
    const weft_vec3 positions[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    const int faces[] = {0, 2, 1};
    cloth.positions = positions;
    cloth.vertex_count = 3;
    cloth.face_vertices = faces;
    cloth.face_count = 1;
    weft_vec3 x[3];
    if (weft_sim_create(&def, &sim, NULL) != WEFT_OK || weft_sim_add_cloth(sim, &cloth, NULL, NULL) != WEFT_OK ||
        weft_sim_step(sim, NULL, NULL) != WEFT_OK)
    {
        return 0;
    }
    weft_sim_positions(sim, 0, x);
    weft_sim_destroy(sim);
    return x[1].y < 0 && x[1].y > -1e-3;
}

int main(void)
{
    int good = falls() && error_set() == 7 && stranger_cpp();
    printf("strangers: %s\n", good ? "fine" : "broken");
    return good ? 0 : 1;
}
