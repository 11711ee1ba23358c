// The fabrics that have a name.
#ifndef WEFT_CATALOGUE_H
#define WEFT_CATALOGUE_H

#include "weft/weft.h"

typedef struct catalogue_row
{
    const char* name;
    const char* summary; // what it is and where its figures come from
    weft_material material;
    weft_material_sources sources;
} catalogue_row;

// All rows, in the order of `weft list materials`.
const catalogue_row* catalogue_rows(int* count);

#endif
