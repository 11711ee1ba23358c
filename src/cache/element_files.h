// What the method does with each element of a body, frame by frame: NAME.connections.elements (docs/run-folder.md).
// cache/reader.h reads.
#ifndef WEFT_ELEMENT_FILES_H
#define WEFT_ELEMENT_FILES_H

#include "cache/run_bodies.h"

// Whether there is anything to tell: a method that splits, or elements that go slack.
bool elements_vary(const weft_sim* sim);
bool elements_exist(const char* dir, const char* body);
// The sample of the frame that the simulation is in: sample 0 makes the file, later ones come behind those before, and
// what the file has beyond is cut off. A body whose elements are others by now (it tore) gets no more.
weft_status elements_write(const char* dir, const weft_sim* sim, const run_body* b, int sample, weft_error* error);

#endif
