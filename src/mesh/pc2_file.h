// PC2 point caches: a 32-byte header and float32 xyz samples, little-endian. A file can be read while it grows and
// after its writer was killed at any instant: a sample counts when the header says so and the file holds all of it.
#ifndef WEFT_PC2_H
#define WEFT_PC2_H

#include "core/core.h"
#include "math/vec.h"

typedef struct pc2 pc2;

// A new, empty file; one that is there is emptied. point_count is at least 1, start the frame of the first sample.
weft_status pc2_create(const char* path, int point_count, float start, pc2** out, weft_error* error);
// For reading only.
weft_status pc2_open(const char* path, pc2** out, weft_error* error);
// To go on writing: BAD_INPUT when the file is no PC2 or has another number of points. Cuts off an unfinished sample.
weft_status pc2_open_append(const char* path, int point_count, pc2** out, weft_error* error);
// NULL is fine. Says what the system could only say now.
weft_status pc2_close(pc2* cache, weft_error* error);

int pc2_point_count(const pc2* cache);
int pc2_sample_count(const pc2* cache); // complete ones, when it was opened or last appended to or cut
float pc2_start_frame(const pc2* cache); // what the header says
int pc2_stated_count(const pc2* cache); // what the header says, when it was opened; more than there are: it was cut

// sample is [point_count]. Its bytes are written first, then the count; on failure the file is as before.
weft_status pc2_append(pc2* cache, const vec3* sample, weft_error* error);
// Keeps the first sample_count samples (no more than there are).
weft_status pc2_cut(pc2* cache, int sample_count, weft_error* error);
// out is [point_count].
weft_status pc2_read(const pc2* cache, int sample, vec3* out, weft_error* error);
// Points [first, first + count) of a sample; out is [count].
weft_status pc2_read_points(const pc2* cache, int sample, int first, int count, vec3* out, weft_error* error);

#endif
