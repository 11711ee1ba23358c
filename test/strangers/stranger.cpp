// Only the public headers, in C++: names and settings of multigrid can be listed.
#include "weft/cache.h"
#include "weft/inspect.h"
#include "weft/render.h"
#include "weft/scene.h"
#include "weft/solver.h"
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
    return count > 0 && name && value > 0.0 && weft_list(WEFT_LIST_METHODS, 0, &name, &summary) == WEFT_OK && name &&
           summary;
}
