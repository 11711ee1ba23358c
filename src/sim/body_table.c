// The table of kinds of bodies. The first is the default.
#include "sim/body_kind.h"

extern const body_kind body_kind_cloth, body_kind_strands, body_kind_volumes;

const body_kind* const body_table[] = {&body_kind_cloth, &body_kind_strands, &body_kind_volumes, NULL};
