// Kinds of bodies that are simulated: a row of a table each, which scene files, the command and tests loop over.
//
// A kind has a form of mesh, and most rooms go by that alone: of a sheet the triangles get elements, collide, and are
// drawn and written as f lines; of lines it is the segments, and l lines. A kind adds what two bodies of one form may
// differ in.
#ifndef WEFT_BODY_KIND_H
#define WEFT_BODY_KIND_H

#include "material/material.h"
#include "mesh/mesh.h"

enum
{
    BODY_KINDS_MAX = 16
};

typedef struct body body;

// A key of the material of a kind, and which number of weft_material it is.
typedef struct material_key
{
    const char *key, *unit;
    size_t offset; // in weft_material
    bool above;    // zero is none
} material_key;

typedef struct body_kind
{
    const char* name;    // of its list in scene files; start of names that nobody gave; messages begin with it
    const char* summary; // one line for `weft list bodies`
    mesh_form form;
    const char* density;               // what a material's density is of it, with its unit
    double density_max;                // beyond it a note asks whether the unit is right; 0: that of cloth
    const material_key* material_keys; // end with a NULL; NULL: fabrics, and the keys of cloth
    weft_material material;            // the default, where it has keys
    bool has_radius;                   // scene files give its radius, half of the thickness
    // Splits the faces as given and checks what simulation asks of them.
    weft_status (*prepare)(mesh* rest, weft_error* error);
    // Adds what density makes of each vertex: mass is [scene vertices], kg.
    void (*add_masses)(const body* b, double* mass);
} body_kind;

extern const body_kind* const body_table[]; // ends with NULL; the first is the default

const body_kind* body_kind_find(const char* name); // the default for NULL; NULL: there is none
int body_kind_count(void);

// The first model of the table that makes elements of a form; NULL: none.
const cloth_model* model_for_form(mesh_form form);

#endif
