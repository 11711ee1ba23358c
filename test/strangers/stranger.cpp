// Only the public headers, in C++: names can be listed.
#include "weft/cache.h"
#include "weft/render.h"
#include "weft/scene.h"
#include "weft/solver.h"
#include "weft/weft.h"

extern "C" int stranger_cpp(void);

extern "C" int stranger_cpp(void)
{
    const char* name = nullptr;
    const char* summary = nullptr;
    return weft_list(WEFT_LIST_METHODS, 0, &name, &summary) == WEFT_OK && name && summary;
}
