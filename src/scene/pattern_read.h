// Sewing patterns as files.
#ifndef WEFT_PATTERN_READ_H
#define WEFT_PATTERN_READ_H

#include "mesh/sewing_pattern.h"

// GarmentCode's JSON. Errors name file and line.
weft_status pattern_read(const char* path, sewing_pattern* out, weft_error* error);

#endif
