// NAME.connections.elements: "WEFTELEMS1\0\0", int32 vertices, int32 samples, int32 elements, 8 bytes of a hash of the
// list, then the list, int32 [element][4]: vertices a, b, c (c -1: a connection between a and b) and the place among
// the elements of one triangle, then the samples, a byte an element: 0 implicit, 1 explicit, 2 slack, 3 not known.
// Little endian. Elements of stretch and shear between two or three vertices; bending, air and solids are left out.
//
// Vertices are those of the first topology. The list is what it was in the first sample: where it is another one, as
// after a tear, the file ends, and states are not known from there on.
#ifndef WEFT_ELEMENT_FORMAT_H
#define WEFT_ELEMENT_FORMAT_H

#include <string.h>

#include "core/core.h"

enum
{
    ELEMENTS_HEADER = 32,
    ELEMENTS_RECORD = 4, // numbers an element
    ELEMENTS_TURN_MAX = 2
};

static const char elements_magic[12] = "WEFTELEMS1";
static const char elements_ending[] = ".connections.elements";

static inline void elements_put(unsigned char* out, uint32_t value)
{
    for (int k = 0; k < 4; k++)
    {
        out[k] = (unsigned char)(value >> (8 * k));
    }
}

static inline uint32_t elements_get(const unsigned char* in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

// NULL: no memory.
static inline char* elements_path(const char* dir, const char* body)
{
    size_t size = strlen(dir) + strlen(body) + sizeof(elements_ending) + 2;
    char* path = mem_alloc(size, 1);
    if (path)
    {
        snprintf(path, size, "%s/%s%s", dir, body, elements_ending);
    }
    return path;
}

#endif
