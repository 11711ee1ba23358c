// The table of kinds of bodies. The first is the default.
#include "sim/body_kind.h"

extern const body_kind body_kind_cloth;

const body_kind* const body_table[] = {&body_kind_cloth, NULL};
