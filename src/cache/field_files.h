// Fields that grow with a run; weft/cache.h has those that are written whole, cache/reader.h reads.
#ifndef WEFT_FIELDS_H
#define WEFT_FIELDS_H

#include "core/core.h"

bool field_exists(const char* dir, const char* body, const char* field);
// The sample of a frame, behind those of the frames before it; what the file has beyond is cut off. The file is there:
// weft_cache_field_write made it with frame 0.
weft_status field_append(const char* dir, const char* body, const char* field, int frame, int vertex_count,
                         const float* values, weft_error* error);

#endif
