// Fields that grow with a run; weft/cache.h has those that are written whole, cache/reader.h reads.
#ifndef WEFT_FIELDS_H
#define WEFT_FIELDS_H

#include "core/core.h"

bool field_exists(const char* dir, const char* body, const char* field);
// A sample, behind those before it; what the file has beyond is cut off. The file is there: weft_cache_field_write made
// it with sample 0.
weft_status field_append(const char* dir, const char* body, const char* field, int sample, int vertex_count,
                         const float* values, weft_error* error);

#endif
