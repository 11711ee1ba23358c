// Kept for writer.c: files that are written whole or not at all are declared in core.h.
#ifndef WEFT_WHOLE_FILE_H
#define WEFT_WHOLE_FILE_H

#include "core/core.h"

#endif
