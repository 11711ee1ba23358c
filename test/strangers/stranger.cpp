// Only the public headers, in C++: names and settings of multigrid can be listed.
#include "weft/cache.h"
#include "weft/export.h"
#include "weft/collide.h"
#include "weft/inspect.h"
#include "weft/render.h"
#include "weft/scene.h"
#include "weft/solver.h"
#include "weft/view.h"
#include "weft/weft.h"

extern "C" int stranger_cpp(void);

extern "C" int stranger_cpp(void)
{
    const char* name = nullptr;
    const char* summary = nullptr;
    const weft_solver_def def = weft_solver_def_default();
    double value = -1.0;
    int count = 0;
    while (weft_sa_get(&def.sa, count, &name, &value) == WEFT_OK)
    {
        count++;
    }
    const weft_vec3 still[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    weft_ccd ccd;
    if (weft_ccd_query(WEFT_VERTEX_FACE, still, still, &ccd) != WEFT_OK || ccd.collides)
    {
        return 0;
    }
    return count > 0 && name && value >= 0.0 && weft_list(WEFT_LIST_METHODS, 0, &name, &summary) == WEFT_OK && name &&
           summary;
}
